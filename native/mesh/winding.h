/* The generalized winding number of an oriented piece of surface: the share of all directions in which it covers the
   view from a point. Near 1 (or -1) inside a body, even one with holes; near 0 outside; at most 1/2 beside a flat sheet. */
#ifndef SN_MESH_WINDING_H
#define SN_MESH_WINDING_H

#include "mesh/box_tree.h"

/* A group of triangles seen from far away. */
typedef struct SnDipole {
    double center[3];
    double normal[3]; /* sum of area times normal */
    double radius;    /* of a ball around center that holds the group */
} SnDipole;

typedef struct SnWinding {
    SnBoxTree tree;    /* owned */
    double *corners;   /* triangle_count x 9; owned */
    SnDipole *dipoles; /* per node of the tree; owned */
} SnWinding;

/* corners: triangle_count x 9, any unit; copied. */
SnStatus sn_winding_build(SnContext *context, size_t triangle_count, const double *corners, SnWinding *winding);
void sn_winding_clear(SnWinding *winding);

/* Far groups count as dipoles: the error is a few hundredths, enough for a vote at 1/2. */
double sn_winding_number(const SnWinding *winding, const double point[3]);

#endif
