/* Turns right what a fit has left inside out. Where flesh is squeezed flat at rest, as behind closed lips, folding a tet costs next to
   nothing, and no surface asks it to lie otherwise. Only the vertices around such tets move, and only as far as it takes. */
#ifndef SN_DYNAMICS_UNFOLD_H
#define SN_DYNAMICS_UNFOLD_H

#include "energy/tet_elements.h"
#include "mesh/embedding.h"

typedef struct SnUnfold SnUnfold;

/* `stiffness`: of the elastic energy beside the surface's squared distance, as in a fit (metres); `areas`: one per surface vertex. All
   of them must outlive it. */
SnStatus sn_unfold_create(SnContext *context, const SnTetMesh *cage, const SnTetElements *elements, const SnEmbedding *embedding,
                          const double *areas, double stiffness, SnUnfold **unfold);
void sn_unfold_destroy(SnUnfold *unfold);

/* `positions` (cage vertices x 3) is a fit of `surface`. Bits do not depend on the number of threads. */
SnStatus sn_unfold_fit(SnContext *context, SnUnfold *unfold, const double *surface, double *positions);

#endif
