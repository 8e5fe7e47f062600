/* Small vectors and distances for the mesh layer. Points are arrays of 3. */
#ifndef SN_MESH_GEOMETRY_H
#define SN_MESH_GEOMETRY_H

#include "math/mat3.h"

#include <stdint.h>

/* fmin and fmax are calls, for the sake of NaN; these are not. */
static inline double sn_least(double a, double b)
{
    return a < b ? a : b;
}

static inline double sn_largest(double a, double b)
{
    return a > b ? a : b;
}

static inline void sn_subtract(const double a[3], const double b[3], double out[3])
{
    out[0] = a[0] - b[0];
    out[1] = a[1] - b[1];
    out[2] = a[2] - b[2];
}

static inline double sn_length(const double a[3])
{
    return sqrt(sn_dot3(a, a));
}

static inline double sn_distance_squared(const double a[3], const double b[3])
{
    double d[3];
    sn_subtract(a, b, d);
    return sn_dot3(d, d);
}

/* The area of a triangle given by its corners (9), and its normal, twice as long as that. */
static inline double sn_triangle_area(const double *corners, double normal[3])
{
    double ab[3], ac[3];
    sn_subtract(corners + 3, corners, ab);
    sn_subtract(corners + 6, corners, ac);
    sn_cross3(ab, ac, normal);
    return 0.5 * sn_length(normal);
}

/* Six times the signed volume of the tet a, b, c, d. */
static inline double sn_volume_six(const double a[3], const double b[3], const double c[3], const double d[3])
{
    double u[3], v[3], w[3], n[3];
    sn_subtract(b, a, u);
    sn_subtract(c, a, v);
    sn_subtract(d, a, w);
    sn_cross3(u, v, n);
    return sn_dot3(n, w);
}

/* Squared distance from point to the segment a, b, which may be a single point. */
static inline double sn_segment_distance_squared(const double point[3], const double a[3], const double b[3])
{
    double ab[3], ap[3];
    sn_subtract(b, a, ab);
    sn_subtract(point, a, ap);
    double length = sn_dot3(ab, ab);
    double t = length > 0.0 ? sn_dot3(ap, ab) / length : 0.0;
    t = t < 0.0 ? 0.0 : (t > 1.0 ? 1.0 : t);
    double d[3] = {ap[0] - t * ab[0], ap[1] - t * ab[1], ap[2] - t * ab[2]};
    return sn_dot3(d, d);
}

/* Squared distance from point to the triangle a, b, c; a degenerate triangle counts as its edges. */
static inline double sn_triangle_distance_squared(const double point[3], const double a[3], const double b[3],
                                                  const double c[3])
{
    double ab[3], ac[3], ap[3], n[3], q[3];
    sn_subtract(b, a, ab);
    sn_subtract(c, a, ac);
    sn_subtract(point, a, ap);
    sn_cross3(ab, ac, n);
    double area = sn_dot3(n, n);
    double longest = sn_largest(sn_dot3(ab, ab), sn_dot3(ac, ac));
    if (area > 1e-24 * longest * longest) {
        /* Over the triangle's inside the plane is nearest. */
        sn_cross3(ap, ac, q);
        double v = sn_dot3(q, n);
        sn_cross3(ab, ap, q);
        double w = sn_dot3(q, n);
        if (v >= 0.0 && w >= 0.0 && v + w <= area) {
            double height = sn_dot3(ap, n);
            return height * height / area;
        }
    }
    double first = sn_segment_distance_squared(point, a, b);
    double second = sn_segment_distance_squared(point, b, c);
    double third = sn_segment_distance_squared(point, c, a);
    return sn_least(first, sn_least(second, third));
}

/* Weights of the corners x (9) of a triangle at the place nearest to a point. */
static inline void sn_triangle_nearest_weights(const double *x, const double point[3], double weights[3])
{
    double ab[3], ac[3], ap[3], n[3], q[3], nearest = INFINITY;
    sn_subtract(x + 3, x, ab);
    sn_subtract(x + 6, x, ac);
    sn_subtract(point, x, ap);
    sn_cross3(ab, ac, n);
    double area = sn_dot3(n, n);
    if (area > 0.0) {
        sn_cross3(ap, ac, q);
        double v = sn_dot3(q, n) / area;
        sn_cross3(ab, ap, q);
        double w = sn_dot3(q, n) / area;
        if (v >= 0.0 && w >= 0.0 && v + w <= 1.0) {
            weights[0] = 1.0 - v - w, weights[1] = v, weights[2] = w;
            return;
        }
    }
    for (int i = 0; i < 3; i++) {
        const double *a = x + 3 * i, *b = x + 3 * ((i + 1) % 3);
        double along[3], away[3];
        sn_subtract(b, a, along);
        sn_subtract(point, a, away);
        double length = sn_dot3(along, along), t = length > 0.0 ? sn_dot3(away, along) / length : 0.0;
        t = t < 0.0 ? 0.0 : (t > 1.0 ? 1.0 : t);
        for (int axis = 0; axis < 3; axis++) {
            away[axis] -= t * along[axis];
        }
        if (sn_dot3(away, away) < nearest) {
            nearest = sn_dot3(away, away);
            weights[i] = 1.0 - t, weights[(i + 1) % 3] = t, weights[(i + 2) % 3] = 0.0;
        }
    }
}

#endif
