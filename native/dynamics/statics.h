/* Equilibrium without inertia: where a world comes to rest at one moment of its input. */
#ifndef SN_DYNAMICS_STATICS_H
#define SN_DYNAMICS_STATICS_H

#include "dynamics/newton.h"
#include "dynamics/stage.h"

typedef struct SnStaticsSettings {
    int max_rounds;
    double step_tolerance; /* metres */
} SnStaticsSettings;

/* Where the world comes to rest with its input at `fraction`, as its drivers (one a body) have it there: moves `positions` (vertices x 3)
   to the minimum of elastic and driving energy minus the work of loads that Newton finds from there. Fixed vertices go to the pose, and
   rows take their targets. What nothing holds does not fall: loads act on it only as far as they strain it. `inner`: what its terms carry
   (SnState); null: as built. Adds to `report`. */
SnStatus sn_statics_settle(SnContext *context, const SnWorld *world, const SnDriver *drivers, double fraction,
                           const SnStaticsSettings *settings, const double *inner, double *positions, SnNewtonReport *report);

/* Not at rest, but with the same left of all forces as the world has at `from` (vertices x 3) where its input begins: moves `positions` to
   where that is so at the end of the input, as in dynamic rebalancing. Adds to `report`. */
SnStatus sn_statics_carry(SnContext *context, const SnWorld *world, const SnDriver *drivers, const SnStaticsSettings *settings,
                          const double *from, double *positions, SnNewtonReport *report);

/* The same as sn_statics_settle for loads (vertices x 3, N) alone, with elements as built and fixed vertices where they are. */
SnStatus sn_statics_solve(SnContext *context, const SnWorld *world, const double *loads, const SnStaticsSettings *settings,
                          double *positions, SnNewtonReport *report);

/* loads (vertices x 3) = the weight of every vertex under gravity (m/s²). */
void sn_statics_weight(const SnWorld *world, const double gravity[3], double *loads);

#endif
