/* The nearest points of a vertex and a triangle, and of two edges (methods, A2). A pair is four points, those of its first side before
   those of its second: (vertex; triangle) or (edge; edge). What lies between the feet is  w = sum c_i q_i,  with weights c that sum to 0:
   (1, -b0, -b1, -b2) or (1 - s, s, -(1 - t), -t). The gradient of the distance is c (x) w / |w|, exactly: the feet need no derivative. */
#ifndef SN_CONTACT_DISTANCE_H
#define SN_CONTACT_DISTANCE_H

#include "mesh/geometry.h"

#include <stddef.h>

typedef struct SnNearest {
    double squared; /* of the distance */
    double w[3];    /* from the foot on the second side to that on the first */
    double c[4];
    int feature;    /* bit i is set where the foot rests on point i: all four over the inside of a triangle, or of both edges */
} SnNearest;

#define SN_FEATURE_INSIDE 15
#define SN_EDGES_PARALLEL 1e-3 /* squared sine between edges below which their weight falls */

/* x: the four points. Degenerate triangles and edges count as the edges and points that they are. */
SnNearest sn_nearest_point_triangle(const double x[4][3]);
SnNearest sn_nearest_edges(const double x[4][3]);

/* What a pair of edges counts: 1, falling to 0 as they become parallel, where vertices against edges say all there is to say. */
static inline double sn_edges_weight(const double x[4][3])
{
    double a[3], b[3], n[3];
    sn_subtract(x[1], x[0], a);
    sn_subtract(x[3], x[2], b);
    sn_cross3(a, b, n);
    double scale = SN_EDGES_PARALLEL * sn_dot3(a, a) * sn_dot3(b, b), area = sn_dot3(n, n);
    double r = scale > 0.0 ? area / scale : 0.0;
    return r < 1.0 ? r * (2.0 - r) : 1.0;
}

/* The unit vector along w, and its length, which is returned; zero where the sides touch. */
static inline double sn_nearest_normal(const SnNearest *nearest, double n[3])
{
    double distance = sqrt(nearest->squared), inverse = distance > 0.0 ? 1.0 / distance : 0.0;
    for (int axis = 0; axis < 3; axis++) {
        n[axis] = inverse * nearest->w[axis];
    }
    return distance;
}

/* The four points of a pair out of all. */
static inline void sn_gather_points(const int32_t points[4], const double *q, double x[4][3])
{
    for (int i = 0; i < 4; i++) {
        const double *from = q + 3 * (size_t)points[i];
        x[i][0] = from[0];
        x[i][1] = from[1];
        x[i][2] = from[2];
    }
}

/* Along the line from the middle of the second side to that of the first (`count` of the four points): n, not of unit length, and by how much the
   corners of the first side are all ahead of those of the second at x, times |n|. Where that is more than |n| times a distance, the
   sides are farther apart than it: most pairs are told so, without finding what is nearest. */
static inline void sn_middles(int count, const double x[4][3], double n[3])
{
    for (int axis = 0; axis < 3; axis++) {
        n[axis] = count == 2 ? 0.5 * (x[0][axis] + x[1][axis] - x[2][axis] - x[3][axis])
                             : x[0][axis] - (x[1][axis] + x[2][axis] + x[3][axis]) * (1.0 / 3.0);
    }
}

static inline double sn_ahead_along(int count, const double n[3], const double x[4][3])
{
    double h[4] = {sn_dot3(n, x[0]), sn_dot3(n, x[1]), sn_dot3(n, x[2]), sn_dot3(n, x[3])};
    double behind = sn_largest(h[2], h[3]);
    return count == 2 ? sn_least(h[0], h[1]) - behind : h[0] - sn_largest(h[1], behind);
}

static inline int sn_is_ahead(double ahead, const double n[3], double distance)
{
    return ahead > 0.0 && ahead * ahead > distance * distance * sn_dot3(n, n);
}

#endif
