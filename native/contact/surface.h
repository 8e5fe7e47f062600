/* Everything that can touch, as one set of points: bodies and obstacles one after the other. What moves is a plain array `q` (points x 3)
   of the caller; what a surface knows of it is constant: triangles, edges, who lies beside whom, thickness, what each point hangs on.

   Vertices and edges belong to several triangles; each is *owned* by the first of them. So a search that finds pairs of triangles
   whose boxes meet asks each pair of a vertex and a triangle, and of two edges, once. */
#ifndef SN_CONTACT_SURFACE_H
#define SN_CONTACT_SURFACE_H

#include "base/context.h"

#include <stdint.h>

#define SN_SURFACE_GROUPS 32

/* One body or obstacle, as the caller has it. Null means what the comment says. */
typedef struct SnSurfacePart {
    size_t point_count, triangle_count;
    const double *rest;             /* points x 3, metres: what is near there is not pushed apart farther than that */
    const int32_t *triangles;       /* triangles x 3, counted from the part's first point; those with a point twice are left out */
    const int32_t *corners;         /* points x 4: the world's vertices that carry a point; null: none do, as for an obstacle */
    const double *weights;          /* points x 4, sum 1 */
    const unsigned char *fixed;     /* points x 4: corners that go where the input goes; null: none */
    const unsigned char *kinematic; /* points: it goes where the input goes; null: none of a body, all of an obstacle */
    const double *thickness;        /* points, metres; null: 0 */
    const double *friction;         /* points; null: 0 */
    const uint32_t *groups;         /* points: a bit for each group that it is in; null: none */
} SnSurfacePart;

/* Ranges of one part. */
typedef struct SnSurfaceBody {
    size_t first_point, point_count;
    size_t first_triangle, triangle_count;
    size_t first_edge, edge_count;
    int moves;   /* some point is not kinematic */
    int outward; /* 1: closed, with normals that point out of it; -1: closed and inside out; 0: open */
} SnSurfaceBody;

/* All arrays are owned. Lists of neighbours are ascending: those of i lie from starts[i] to starts[i + 1] - 1. */
typedef struct SnSurface {
    size_t point_count, triangle_count, edge_count, body_count;
    SnSurfaceBody *bodies;
    int32_t *triangles;      /* x 3 */
    int32_t *numbers;        /* triangles: the number of each in its part */
    int32_t *triangle_edges; /* x 3: edge k joins corners k and k + 1 */
    unsigned char *owned;    /* triangles: bit k is set for a corner k, bit 3 + k for an edge k, that it owns */
    int32_t *edges;          /* x 2, ascending */
    int32_t *edge_triangle_starts, *edge_triangles;
    int32_t *point_starts, *point_points; /* joined by an edge */
    int32_t *point_triangle_starts, *point_triangles;
    int32_t *point_bodies;
    double *rest;      /* x 3 */
    int32_t *corners;  /* x 4; -1: none */
    double *weights;   /* x 4 */
    unsigned char *fixed; /* x 4: corners that follow the input */
    unsigned char *kinematic;
    double *thickness, *friction;
    uint32_t *groups;
    /* May be changed between steps: */
    unsigned char *active; /* bodies; all at first */
    unsigned char *meets;  /* bodies x bodies, symmetric: whether the two (or a body with itself) may touch; all at first */
    uint32_t ignored[SN_SURFACE_GROUPS]; /* bit h of ignored[g]: what is whole in group g does not touch what is whole in group h */
} SnSurface;

/* Refuses numbers that are not finite and indices out of range, each with its sentence. `world_count`: vertices that corners may name.
   Parts without triangles are bodies that nothing touches. */
SnStatus sn_surface_init(SnContext *context, size_t part_count, const SnSurfacePart *parts, size_t world_count, SnSurface *surface);
void sn_surface_clear(SnSurface *surface);

/* Both ways. */
void sn_surface_ignore(SnSurface *surface, int group, int other);
void sn_surface_set_meets(SnSurface *surface, size_t body, size_t other, int meets);

/* Whether two sides, of `count` and `other_count` points, are whole in groups that ignore each other. */
static inline int sn_surface_ignores(const SnSurface *surface, int count, const int32_t *points, int other_count, const int32_t *other)
{
    uint32_t groups = UINT32_MAX, other_groups = UINT32_MAX;
    for (int i = 0; i < count; i++) {
        groups &= surface->groups[points[i]];
    }
    for (int j = 0; j < other_count && groups != 0; j++) {
        other_groups &= surface->groups[other[j]];
    }
    for (int g = 0; groups != 0; g++, groups >>= 1) {
        if (groups & 1 && surface->ignored[g] & other_groups) {
            return 1;
        }
    }
    return 0;
}

#endif
