/* The slowest swing of a body whose averages follow. The more of them there are, the less can swing and the faster it does: Jiggle has
   to know. */
#ifndef SN_METHOD_ENRICH_AVERAGE_MODE_H
#define SN_METHOD_ENRICH_AVERAGE_MODE_H

#include "dynamics/world.h"

/* For the slowest shape z that keeps the averages of the world, at rest: `elastic` = zᵀKz / zᵀMz and `driven` = zᵀWz / zᵀMz, rad²/s².
   `drive` (vertices, N/m) is W; `rest`: vertices x 3. Nearly 0 where the averages leave a rigid motion free. `energy` (vertices): how they share in zᵀKz. */
SnStatus sn_average_mode_find(SnContext *context, const SnWorld *world, const double *drive, const double *rest, double *elastic,
                              double *driven, double *energy);

#endif
