/* A surface in patches: triangles that lie together at rest, whose moves are told together (contact/drift.h). */
#ifndef SN_CONTACT_SURFACE_PATCHES_H
#define SN_CONTACT_SURFACE_PATCHES_H

#include "contact/surface.h"

typedef struct SnPatch {
    size_t body;
    size_t first_triangle, triangle_count; /* in `triangles` */
    size_t first, count;                   /* of its points, in `points` */
    size_t first_edge, edge_count;         /* in `edges`: that end at one of its points, ... */
    size_t wide_count;                     /* ... and with those of all triangles at what they join to */
    int kinematic;                         /* all points are */
    double thickness;                      /* the largest */
    double edge_length;                    /* mean over its triangles, at rest */
} SnPatch;

typedef struct SnSurfacePatches {
    const SnSurface *surface;
    size_t count, point_count, edge_count;
    SnPatch *patches;          /* by body; owned, as the rest */
    int32_t *triangle_patches; /* triangles: which it belongs to */
    int32_t *triangles;        /* by patch; those that follow one another lie together */
    int32_t *points, *edges;   /* by patch: one may be in several */
} SnSurfacePatches;

/* The surface must outlive it. */
SnStatus sn_surface_patches_init(SnContext *context, const SnSurface *surface, SnSurfacePatches *patches);
void sn_surface_patches_clear(SnSurfacePatches *patches);

/* The box (low, high) of a triangle at q (points x 3). */
void sn_surface_triangle_box(const SnSurface *surface, const double *q, size_t triangle, double box[6]);

#endif
