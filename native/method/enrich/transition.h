/* A soft transition between what follows exactly and what is free. Clamped flesh bends sharpest where it is held: the slope of its motion
   jumps there from nothing to the most. Flesh that grows firm towards the border, as 1/distance, has a motion that leaves it as the
   square of the distance, without a jump. */
#ifndef SN_METHOD_ENRICH_TRANSITION_H
#define SN_METHOD_ENRICH_TRANSITION_H

#include "mesh/tet_mesh.h"

/* firmness (tets): the factor of Young's modulus, width / distance through the flesh from the nearest vertex with followed[v] != 0, at
   least 1. `width` in metres; 0: 1 everywhere. */
SnStatus sn_transition_firmness(SnContext *context, const SnTetMesh *cage, const unsigned char *followed, double width,
                                double *firmness);

#endif
