/* Isosurface stuffing (Labelle and Shewchuk 2007, uniform case): fills an envelope with well-shaped tets. Lattice
   points that the boundary passes closely are moved onto it; the lattice tets that it still cuts are
   replaced from a fixed set of stencils. Dihedral angles stay above 10.7 degrees whatever the envelope. */
#ifndef SN_MESH_STUFFING_H
#define SN_MESH_STUFFING_H

#include "mesh/surface_nodes.h"
#include "mesh/tet_mesh.h"

#define SN_STUFFING_LARGEST 5000000 /* tets */

/* Fills the body that the nodes bound with tets into `cage` (metres), which the caller clears. */
SnStatus sn_stuffing_fill(SnContext *context, const SnSurfaceNodes *nodes, SnTetMesh *cage);

/* Both steps: nodes, then tets. Two lattice points of the body that share a lattice
   edge are joined in the cage; moving points onto the boundary neither joins nor parts anything. */
SnStatus sn_stuffing_build(SnContext *context, const SnEnvelope *envelope, const SnDistanceField *field, SnTetMesh *cage);

#endif
