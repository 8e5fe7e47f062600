#include "method/tracks/air.h"

#include "math/mat3.h"

#include <math.h>

#define ALONG 0.05 /* c: friction along a surface, as a part of the drag across it */

/* How fast air goes past a triangle. */
static void find_flow(const SnAir *air, const int32_t *corner, const double *velocities, double flow[3])
{
    for (size_t a = 0; a < 3; a++) {
        flow[a] = 0.0;
        for (size_t i = 0; i < 3; i++) {
            size_t k = 3 * (size_t)corner[i] + a;
            flow[a] += ((air->wind != NULL ? air->wind[k] : 0.0) - velocities[k]) / 3.0;
        }
    }
}

void sn_air_push(const SnAir *air, const SnSail *sail, const double *positions, const double *velocities, double step, double *acceleration)
{
    for (size_t t = 0; t < sail->count && air->density > 0.0; t++) {
        const int32_t *corner = sail->triangles + 3 * t;
        const double *x0 = positions + 3 * (size_t)corner[0], *x1 = positions + 3 * (size_t)corner[1], *x2 = positions + 3 * (size_t)corner[2];
        double first[3], second[3], normal[3], flow[3];
        for (size_t a = 0; a < 3; a++) {
            first[a] = x1[a] - x0[a];
            second[a] = x2[a] - x0[a];
        }
        sn_cross3(first, second, normal);
        double doubled = sqrt(sn_dot3(normal, normal));
        if (!(doubled > 0.0 && sail->weight[t] > 0.0)) {
            continue;
        }
        find_flow(air, corner, velocities, flow);
        double across = sn_dot3(flow, normal) / doubled, speed = sqrt(sn_dot3(flow, flow));
        /* dv/dt = -k v², for a while: v / (1 + k v t) */
        double k = 0.25 * air->density * doubled / sail->weight[t];
        double stop = k * fabs(across) / (1.0 + step * k * fabs(across)), slow = ALONG * k * speed / (1.0 + step * ALONG * k * speed);
        for (size_t i = 0; i < 3; i++) {
            double share = sail->weight[t] / (3.0 * sail->mass[corner[i]]);
            for (size_t a = 0; a < 3; a++) {
                double out = across * normal[a] / doubled;
                acceleration[3 * (size_t)corner[i] + a] += share * (stop * out + slow * (flow[a] - out));
            }
        }
    }
}
