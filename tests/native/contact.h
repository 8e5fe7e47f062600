/* Surfaces and moves for the tests of contact. */
#ifndef SN_TESTS_CONTACT_H
#define SN_TESTS_CONTACT_H

#include "check.h"
#include "shapes.h"

#include "contact/ccd.h"

#include <string.h>

static inline double contact_signed(uint64_t *seed)
{
    return 2.0 * check_random(seed) - 1.0;
}

/* A ball without seams: a cube of n x n x 6 quads blown up. */
static inline Shape contact_ball(SnContext *context, int n, double radius, double x, double y, double z)
{
    const double centre[3] = {x, y, z};
    Shape shape = shape_new(context, (size_t)(6 * n * n + 2), (size_t)(12 * n * n));
    int32_t *index = SN_NEW(context, (n + 1) * (n + 1) * (n + 1), int32_t);
    int32_t next = 0;
    for (int i = 0; i < (n + 1) * (n + 1) * (n + 1); i++) {
        const int at[3] = {i % (n + 1), i / (n + 1) % (n + 1), i / (n + 1) / (n + 1)};
        double p[3], length = 0.0;
        int on_side = 0;
        for (int axis = 0; axis < 3; axis++) {
            on_side |= at[axis] == 0 || at[axis] == n;
            p[axis] = tan(0.25 * SHAPE_PI * (2.0 * at[axis] / n - 1.0));
            length += p[axis] * p[axis];
        }
        index[i] = on_side ? next : -1;
        for (int axis = 0; axis < 3 && on_side; axis++) {
            shape.positions[3 * next + axis] = centre[axis] + radius * p[axis] / sqrt(length);
        }
        next += on_side;
    }
    size_t t = 0;
    for (int axis = 0; axis < 3; axis++) {
        for (int side = 0; side < 2; side++) {
            for (int k = 0; k < n * n; k++) {
                int32_t quad[4];
                for (int c = 0; c < 4; c++) {
                    int at[3];
                    at[axis] = side * n;
                    at[(axis + 1) % 3] = k % n + (c == 1 || c == 2);
                    at[(axis + 2) % 3] = k / n + (c >= 2);
                    quad[c] = index[at[0] + (n + 1) * (at[1] + (n + 1) * at[2])];
                }
                const int32_t order[6] = {quad[0], quad[side ? 1 : 2], quad[side ? 2 : 1], quad[0], quad[side ? 2 : 3], quad[side ? 3 : 2]};
                memcpy(shape.triangles + 3 * t, order, sizeof order);
                t += 2;
            }
        }
    }
    sn_release(index);
    return shape;
}

/* A part that moves freely: each point hangs on world vertices of its own. */
static inline SnSurfacePart contact_part(const Shape *shape, const unsigned char *kinematic, const double *thickness)
{
    return (SnSurfacePart){.point_count = shape->vertex_count,
                           .triangle_count = shape->triangle_count,
                           .rest = shape->positions,
                           .triangles = shape->triangles,
                           .kinematic = kinematic,
                           .thickness = thickness};
}

#endif
