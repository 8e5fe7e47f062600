/* Painted weights of a surface on the cage that carries it (methods, section 1, "Balance"). */
#ifndef SN_DYNAMICS_WEIGHTS_H
#define SN_DYNAMICS_WEIGHTS_H

#include "mesh/embedding.h"

#define SN_WEIGHT_EXACT 0.9999 /* a surface weight from here on is 1 */

/* weights (cage vertices): mean of the surface vertices that each cage vertex carries, weighted by their area and its share in them.
   known (cage vertices): the sum of those, 0 where there is none. followed (cage vertices): whether one of the tets around it holds a
   surface vertex of weight 1. `surface` (surface vertices) may hold NaN where nothing is painted. All three outputs must come zeroed. */
SnStatus sn_weights_from_surface(SnContext *context, const SnTetMesh *cage, const SnEmbedding *embedding, const double *areas,
                                 const double *surface, double *weights, double *known, unsigned char *followed);

/* Fills in the weights of vertices with known[v] == 0 by a Laplace solve over the graph of the tets. They lie between the smallest and
   the largest known one; a part with no known vertex at all gets 0. */
SnStatus sn_weights_spread(SnContext *context, const SnTetMesh *cage, const double *known, double *weights);

/* Adds what is known of the cage's own vertices (`own`, NaN where nothing is; null: of none), but where the surface says that it
   follows. */
void sn_weights_add_own(const SnTetMesh *cage, const double *own, double *weights, double *known, unsigned char *followed);

/* weights (cage vertices, all of them): the three above after each other. `own` may be `weights`. */
SnStatus sn_weights_over_cage(SnContext *context, const SnTetMesh *cage, const SnEmbedding *embedding, const double *areas,
                              const double *surface, const double *own, double *weights);

/* What is painted on the surface (surface vertices, 0..1), on the cage vertices and, as their mean, on the tets. */
SnStatus sn_weights_of_region(SnContext *context, const SnTetMesh *cage, const SnEmbedding *embedding, const double *areas,
                              const double *surface, double *vertices, double *tets);

#endif
