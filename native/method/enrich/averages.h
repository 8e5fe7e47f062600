/* Averages as constraints (methods, section 2, "Weak constraints", on a solid): the mean place of each region of vertices, weighted by
   mass, is where the input has it, and only the rest moves freely. Regions do not overlap, and fixed vertices belong to none. */
#ifndef SN_METHOD_ENRICH_AVERAGES_H
#define SN_METHOD_ENRICH_AVERAGES_H

#include "dynamics/world.h"

/* Constrains the world by a row for each region. `regions` (vertices): the region of each, negative for none. Regions without a free
   vertex are left out. To be called once, before a stepper is made. */
SnStatus sn_averages_constrain(SnContext *context, const int32_t *regions, SnWorld *world);

#endif
