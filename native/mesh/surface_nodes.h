/* The lattice points at the boundary of an envelope: where it cuts their edges, and which of them move onto it. */
#ifndef SN_MESH_SURFACE_NODES_H
#define SN_MESH_SURFACE_NODES_H

#include "mesh/envelope.h"

typedef enum SnSide {
    SN_SIDE_OUTSIDE = 0,
    SN_SIDE_INSIDE = 1,
    SN_SIDE_BOUNDARY = 2, /* moved onto the boundary */
} SnSide;

typedef struct SnSurfaceNodes {
    const SnLattice *lattice;
    uint8_t *sides;     /* per lattice point, an SnSide; owned */
    int32_t *slots;     /* per lattice point: its node, or -1; owned */
    size_t node_count;
    int32_t *points;    /* node_count: lattice points; owned */
    double *cuts;       /* node_count x 14: fraction of the edge from the node to the cut, negative: no cut; owned */
    double *positions;  /* node_count x 3, lattice coordinates, after moving; owned */
} SnSurfaceNodes;

/* Finds the cuts and moves points. The cuts that remain between an inside and an outside point keep the distance from
   both ends that the stencils need. */
SnStatus sn_surface_nodes_build(SnContext *context, const SnEnvelope *envelope, const SnDistanceField *field,
                                SnSurfaceNodes *nodes);
void sn_surface_nodes_clear(SnSurfaceNodes *nodes);

/* Moves points and tidies cuts, given sides, slots, points, cuts and positions. For tests with cuts of their own. */
void sn_surface_nodes_settle(const SnDistanceField *field, SnSurfaceNodes *nodes);

#endif
