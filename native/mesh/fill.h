/* How much of the body lies in each tet of its cage. A cage is larger than the body: half a cell all around, and more where the
   body is thinner than a cell. What such a tet weighs, and how it resists, is measured here, for composite cells (Nesme et al. 2009). */
#ifndef SN_MESH_FILL_H
#define SN_MESH_FILL_H

#include "mesh/embedding.h"
#include "mesh/tri_mesh.h"

#define SN_FILL_LEAST 0.02 /* of a tet counts as filled: what is empty must still hold together */

/* `fill` (tets) receives the filled share of each tet's volume, SN_FILL_LEAST..1, and `thickness` (tets) how thick the body is
   there, metres: of a sheet or a rod its thickness, else as far as lines along the axes run inside, or the size of the body. Where
   parts have tets of their own in one place, each tet counts only its own part. A body without an inside (a sheet, a cloud of
   points) fills its cage. The embedding binds the vertices of `mesh`. */
SnStatus sn_fill_measure(SnContext *context, const SnTriMesh *mesh, const SnTetMesh *cage, const SnEmbedding *embedding, double *fill,
                         double *thickness);

#endif
