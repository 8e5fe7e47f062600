/* The way out of a tangle: each point that was cut off is led through the nearest triangle of the other region. */
#ifndef SN_CONTACT_CURES_H
#define SN_CONTACT_CURES_H

#include "contact/tangles.h"

/* Finds the cures of what is tangled at q (points x 3), where the crossings are those of q. */
SnStatus sn_tangles_find_cures(SnContext *context, SnTangles *tangles, const double *q);

/* Adds the way out of what is cut off as touches, whose distance is negative until they are out. No gap is wanted beyond that
   in `input` (points x 3; null: none). */
SnStatus sn_tangles_add_cures(SnContext *context, const SnTangles *tangles, const SnCandidates *candidates, const double *q,
                              const double *input, SnTouches *touches);

#endif
