/* Parts of a body that are near each other but not connected (an arm beside the torso, two fingers) lie in the same
   tets. Here such a tet is doubled, one copy for each piece of the body in it, and copies in neighbouring tets share the
   corners of their common face exactly when their pieces are connected there (Nesme et al. 2009). Pieces are told apart by the
   surface, not by gaps, so lips that touch come apart too. Copies have the shape of their tet, so angles and volumes stay. */
#ifndef SN_MESH_SPLIT_H
#define SN_MESH_SPLIT_H

#include "mesh/embedding.h"
#include "mesh/shells.h"

/* Replaces `cage` by the split one, and binds each vertex of `embedding` (built on `cage`; positions: vertex_count x 3,
   metres) to the copy that holds its own piece. Pieces of one tet that are connected within `margin` cells of it
   count as one. A cage without near parts comes out with the same bits. On failure both stay as they were. */
SnStatus sn_split_apply(SnContext *context, const SnShells *shells, const SnLattice *lattice, const double *positions,
                        double margin, SnTetMesh *cage, SnEmbedding *embedding);

#endif
