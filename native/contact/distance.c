#include "contact/distance.h"

#define LEAST_SINE_SQUARED 1e-16 /* below it two edges are parallel, and a triangle is a line */

/* The point p against the segment a, b: indices into x. Keeps the nearer one. `sign` is 1 where p is on the first side. */
static void try_segment(const double x[4][3], int p, int a, int b, double sign, SnNearest *best)
{
    double ab[3], ap[3], w[3];
    sn_subtract(x[b], x[a], ab);
    sn_subtract(x[p], x[a], ap);
    double along = sn_dot3(ap, ab), length = sn_dot3(ab, ab);
    double t = length > 0.0 ? along / length : 0.0;
    t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    if (t < 1.0) {
        for (int axis = 0; axis < 3; axis++) {
            w[axis] = ap[axis] - t * ab[axis];
        }
    } else {
        sn_subtract(x[p], x[b], w);
    }
    double squared = sn_dot3(w, w);
    if (squared < best->squared) {
        *best = (SnNearest){.squared = squared};
        best->c[p] = sign;
        best->c[a] = -sign * (1.0 - t);
        best->c[b] = -sign * t;
        best->feature = 1 << p | (t < 1.0) << a | (t > 0.0) << b;
        for (int axis = 0; axis < 3; axis++) {
            best->w[axis] = sign * w[axis];
        }
    }
}

/* The feet are where the common normal n of both sides says: w = n (n·r) / n·n. */
static SnNearest nearest_along(const double n[3], const double r[3], double c0, double c1, double c2, double c3)
{
    double area = sn_dot3(n, n), scale = sn_dot3(n, r) / area;
    return (SnNearest){.squared = scale * scale * area,
                       .w = {scale * n[0], scale * n[1], scale * n[2]},
                       .c = {c0, c1, c2, c3},
                       .feature = SN_FEATURE_INSIDE};
}

SnNearest sn_nearest_point_triangle(const double x[4][3])
{
    double ab[3], ac[3], ap[3], n[3], side[3];
    sn_subtract(x[2], x[1], ab);
    sn_subtract(x[3], x[1], ac);
    sn_subtract(x[0], x[1], ap);
    sn_cross3(ab, ac, n);
    double area = sn_dot3(n, n);
    if (area > LEAST_SINE_SQUARED * sn_dot3(ab, ab) * sn_dot3(ac, ac)) {
        sn_cross3(ap, ac, side);
        double v = sn_dot3(side, n) / area;
        sn_cross3(ab, ap, side);
        double w = sn_dot3(side, n) / area, u = 1.0 - v - w;
        if (u > 0.0 && v > 0.0 && w > 0.0) {
            return nearest_along(n, ap, 1.0, -u, -v, -w);
        }
    }
    SnNearest best = {.squared = INFINITY};
    try_segment(x, 0, 1, 2, 1.0, &best);
    try_segment(x, 0, 2, 3, 1.0, &best);
    try_segment(x, 0, 3, 1, 1.0, &best);
    return best;
}

SnNearest sn_nearest_edges(const double x[4][3])
{
    double a[3], b[3], r[3], n[3];
    sn_subtract(x[1], x[0], a);
    sn_subtract(x[3], x[2], b);
    sn_subtract(x[0], x[2], r);
    sn_cross3(a, b, n);
    double area = sn_dot3(n, n), aa = sn_dot3(a, a), bb = sn_dot3(b, b);
    if (area > LEAST_SINE_SQUARED * aa * bb) {
        double ab = sn_dot3(a, b), ar = sn_dot3(a, r), br = sn_dot3(b, r);
        double s = (ab * br - bb * ar) / area, t = (aa * br - ab * ar) / area;
        if (s > 0.0 && s < 1.0 && t > 0.0 && t < 1.0) {
            return nearest_along(n, r, 1.0 - s, s, -(1.0 - t), -t);
        }
    }
    SnNearest best = {.squared = INFINITY};
    try_segment(x, 0, 2, 3, 1.0, &best);
    try_segment(x, 1, 2, 3, 1.0, &best);
    try_segment(x, 2, 0, 1, -1.0, &best);
    try_segment(x, 3, 0, 1, -1.0, &best);
    return best;
}
