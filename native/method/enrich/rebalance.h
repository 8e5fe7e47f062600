/* Balance after the simulation (methods, section 1): between the simulated and the fitted cage, tet by tet, turned and stretched rather
   than mixed, so that a half-way bend is a bend of half the angle. It does not see contact. */
#ifndef SN_METHOD_ENRICH_REBALANCE_H
#define SN_METHOD_ENRICH_REBALANCE_H

#include "method/enrich/enrich.h"

typedef struct SnRebalance SnRebalance;

/* Follow weights in the paint (`follow`, `cage_follow`) are those of the simulation: what it followed stays where it is, on the surface
   and inside. Weights are 1 everywhere until they are set. Cage and embedding must outlive it. */
SnStatus sn_rebalance_create(SnContext *context, const SnCagedBody *body, const SnEnrichPaint *paint, SnRebalance **rebalance);
void sn_rebalance_destroy(SnRebalance *rebalance);

/* `weights` (surface vertices): 0 keeps the simulation, 1 takes the fitted shape, and its place: what was far from it is drawn there
   on the last part of the way. */
SnStatus sn_rebalance_set_weights(SnContext *context, SnRebalance *rebalance, const double *areas, const double *weights);

/* Cages are cage vertices x 3. `strength` (0..1) multiplies the weights. Where all of these are 0 the result has the bits of `simulated`,
   where all are 1 those of `fitted`. Allocates nothing once a frame of that strength was made; same bits on
   any number of threads. */
SnStatus sn_rebalance_frame(SnContext *context, SnRebalance *rebalance, const double *fitted, const double *simulated, double strength,
                            double *result);

#endif
