/* Equilibrium without inertia: where a world comes to rest. */
#ifndef SN_DYNAMICS_STATICS_H
#define SN_DYNAMICS_STATICS_H

#include "dynamics/newton.h"
#include "dynamics/world.h"

typedef struct SnStaticsSettings {
    int max_rounds;
    double step_tolerance; /* metres */
} SnStaticsSettings;

/* Moves the free vertices of `positions` (vertices x 3) to the minimum of its energies minus the work of `loads` (vertices x 3, N)
   that Newton finds from there. Fixed vertices stay. Adds to `report`. */
SnStatus sn_statics_solve(SnContext *context, const SnWorld *world, const double *loads, const SnStaticsSettings *settings,
                          double *positions, SnNewtonReport *report);

/* loads (vertices x 3) = the weight of every vertex under gravity (m/s²). */
void sn_statics_weight(const SnWorld *world, const double gravity[3], double *loads);

#endif
