/* How much acceleration flesh can bear: what holds it off farther than flesh of its depth gives way is not felt. */
#ifndef SN_METHOD_ENRICH_LIMIT_H
#define SN_METHOD_ENRICH_LIMIT_H

#include "dynamics/world.h"
#include "mesh/tet_mesh.h"

/* `most` (vertices, m/s²): the acceleration that, if it lasted, would hold a vertex off by what flesh of its depth gives way. Depth is
   how much free flesh lies between it and what follows exactly, `size` (m) where nothing does: flesh of weight w (0..1) counts 1 - w
   of its length. Infinite where a vertex follows, and where nothing keeps it from going off. `drive` (vertices, N/m) draws to the
   input; the world is made of the mesh, at rest. */
SnStatus sn_limit_find(SnContext *context, const SnWorld *world, const SnTetMesh *mesh, const double *drive, const double *weights,
                       double size, double *most);

#endif
