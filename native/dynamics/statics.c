#include "dynamics/statics.h"

#include "base/memory.h"

#include <string.h>

SnStatus sn_statics_solve(SnContext *context, const SnWorld *world, const double *loads, const SnStaticsSettings *settings,
                          double *positions, SnNewtonReport *report)
{
    SnStatus status = SN_OK;
    SnNewton *newton = NULL;
    double *zeros = NULL, *targets = NULL;
    sn_context_stage(context, "Settling", 1);
    SN_TRY(sn_newton_create(context, world->term_count, world->terms, &world->assembly, &newton));
    SN_TRY_NEW(context, zeros, world->vertex_count, double);
    SN_TRY_NEW(context, targets, 3 * world->vertex_count, double);
    memcpy(targets, positions, 3 * world->vertex_count * sizeof *positions);
    SnObjective objective = {
        .scale = 1.0,
        .diagonal = zeros,
        .targets = targets,
        .loads = loads,
    };
    SnNewtonSettings rounds = {.max_rounds = settings->max_rounds, .step_tolerance = settings->step_tolerance};
    SN_TRY(sn_newton_minimise(context, newton, &objective, &rounds, positions, report));
cleanup:
    sn_newton_destroy(newton);
    sn_release(zeros);
    sn_release(targets);
    return status;
}

void sn_statics_weight(const SnWorld *world, const double gravity[3], double *loads)
{
    for (size_t k = 0; k < 3 * world->vertex_count; k++) {
        loads[k] = world->mass[k / 3] * gravity[k % 3];
    }
}
