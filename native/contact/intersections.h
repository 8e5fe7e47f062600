/* Where a surface runs through itself or through another: edges that cross triangles.

   Sides of planes are exact (contact/orientation.h). Where four points lie in one plane, exactly, it is as if every closed body were smaller by a
   billionth: so a box that stands on the ground, or on another box, does not cross it. Where that does not tell either, a point lies
   in front of a triangle, and a line runs past an edge on one side for both triangles at it. Sides that share a point do not cross. */
#ifndef SN_CONTACT_INTERSECTIONS_H
#define SN_CONTACT_INTERSECTIONS_H

#include "contact/trees.h"

typedef struct SnCrossing {
    int32_t edge, triangle;
    double along;      /* where on the edge, 0..1 from its first point */
    double weights[3]; /* and where in the triangle */
    int kinematic;     /* all five points are: the input has it so */
} SnCrossing;

typedef struct SnCrossings {
    size_t count, capacity;
    SnCrossing *crossings; /* by edge, then triangle; owned */
    /* inside */
    SnTrees trees;
    const double *q;
    size_t mask_capacity;
    unsigned char *masks; /* owned */
} SnCrossings;

/* The surface must outlive it. */
SnStatus sn_crossings_init(SnContext *context, const SnSurface *surface, SnCrossings *crossings);
void sn_crossings_clear(SnCrossings *crossings);

/* All of them at positions q (points x 3), of active bodies that may touch; `still`: also of bodies that both follow the input. Ignored groups
   do not matter here. On failure there are none. */
SnStatus sn_crossings_find(SnContext *context, SnCrossings *crossings, const double *q, int still);

/* Whether an edge of the surface crosses a triangle of it. */
int sn_edge_crosses_triangle(const SnSurface *surface, int32_t edge, int32_t triangle, const double *q);

#endif
