#include "dynamics/statics.h"

#include "base/memory.h"
#include "dynamics/modes.h"
#include "mesh/union_find.h"

#include <string.h>

#define ANCHOR 1e-6 /* of its stiffness at rest: what keeps a loose vertex from drifting by rounding, too weak to strain anything */

/* Marks in `held` (vertices, at the root of each part that stencils join) parts with a fixed, driven or constrained vertex. */
static void find_held(const SnWorld *world, const SnStage *stage, int32_t *parents, unsigned char *held)
{
    const SnRows *holding[2] = {&world->constraints.rows, &world->springs.rows};
    sn_union_find_init(world->vertex_count, parents);
    for (size_t t = 0; t < world->term_count; t++) {
        const SnStencils *stencils = &world->terms[t].stencils;
        size_t corners = (size_t)stencils->corners;
        for (size_t k = 0; k < stencils->count * corners; k++) {
            int32_t first = (int32_t)stencils->first;
            sn_union_find_join(parents, first + stencils->vertices[k - k % corners], first + stencils->vertices[k]);
        }
    }
    for (size_t v = 0; v < world->vertex_count; v++) {
        held[sn_union_find_root(parents, (int32_t)v)] |= world->fixed[v] || stage->drive[v] > 0.0;
    }
    for (int r = 0; r < 2; r++) {
        const SnRows *rows = holding[r];
        for (size_t k = 0; k < (rows->count > 0 ? (size_t)rows->start[rows->count] : 0); k++) {
            held[sn_union_find_root(parents, rows->points[k])] = 1;
        }
    }
}

/* Nothing says where a part is that nothing holds: takes from its loads what would move it as a whole, and draws it to where it starts, by
   so little that its shape does not feel it. */
static SnStatus keep_in_place(SnContext *context, const SnWorld *world, const SnStage *stage, const double *positions)
{
    SnStatus status = SN_OK;
    const SnAssembly *assembly = &world->assembly;
    int32_t *parents = NULL;
    unsigned char *held = NULL;
    double *sums = NULL; /* vertices x 4: force and mass of a part, at its root */
    double *stiffness = NULL;
    SN_TRY_NEW(context, parents, world->vertex_count, int32_t);
    SN_TRY_NEW(context, held, world->vertex_count, unsigned char);
    SN_TRY_NEW(context, sums, 4 * world->vertex_count, double);
    find_held(world, stage, parents, held);
    for (size_t v = 0; v < world->vertex_count; v++) {
        double *sum = sums + 4 * (size_t)sn_union_find_root(parents, (int32_t)v);
        sum[3] += world->mass[v];
        for (size_t a = 0; a < 3; a++) {
            sum[a] += stage->loads[3 * v + a];
        }
    }
    for (size_t v = 0; v < world->vertex_count; v++) {
        size_t root = (size_t)sn_union_find_root(parents, (int32_t)v);
        for (size_t a = 0; a < 3 && !held[root] && sums[4 * root + 3] > 0.0; a++) {
            stage->loads[3 * v + a] -= world->mass[v] / sums[4 * root + 3] * sums[4 * root + a];
        }
    }
    SN_TRY_NEW(context, stiffness, assembly->pattern.value_count, double);
    SN_TRY(sn_modes_stiffness(context, world, positions, NULL, stiffness));
    for (size_t k = 0; k < assembly->unknown_count; k++) {
        size_t v = (size_t)assembly->vertex[k];
        if (!held[sn_union_find_root(parents, (int32_t)v)]) {
            stage->drive[v] = ANCHOR * stiffness[assembly->pattern.value_start[3 * k]];
            memcpy(stage->pose + 3 * v, positions + 3 * v, 3 * sizeof *positions);
        }
    }
cleanup:
    sn_release(stiffness);
    sn_release(parents);
    sn_release(held);
    sn_release(sums);
    return status;
}

/* The stage's own arrays; its positions are moved. */
static SnStatus solve_stage(SnContext *context, const SnWorld *world, const SnStage *stage, const SnStaticsSettings *settings,
                            double *positions, SnNewtonReport *report)
{
    SnStatus status = SN_OK;
    SnNewton *newton = NULL;
    SnTermInput inputs[SN_TERMS_MOST] = {0};
    double *work = NULL;
    SN_TRY(sn_newton_create(context, world->term_count, world->terms, &world->assembly, &newton));
    SN_TRY(sn_newton_constrain(context, newton, &world->constraints, &world->springs));
    SN_TRY_NEW(context, work, world->constraints.size, double);
    for (size_t k = 0; k < 3 * world->vertex_count; k++) {
        positions[k] = world->fixed[k / 3] ? stage->pose[k] : positions[k];
    }
    sn_constraints_impose(&world->constraints, stage->row_targets, work, positions);
    SN_TRY(keep_in_place(context, world, stage, positions));
    for (size_t t = 0; t < world->term_count; t++) {
        inputs[t].data = stage->inputs[t];
    }
    SnObjective objective = {
        .inputs = inputs,
        .scale = 1.0,
        .diagonal = stage->drive,
        .targets = stage->pose,
        .loads = stage->loads,
        .spring_targets = stage->spring_targets,
    };
    SnNewtonSettings rounds = {.max_rounds = settings->max_rounds, .step_tolerance = settings->step_tolerance};
    SN_TRY(sn_newton_minimise(context, newton, &objective, &rounds, positions, report));
cleanup:
    sn_newton_destroy(newton);
    sn_release(work);
    return status;
}

static SnStatus stage_init(SnContext *context, const SnWorld *world, SnStage *stage)
{
    SnStatus status = SN_OK;
    *stage = (SnStage){0};
    sn_context_stage(context, "Settling", 1);
    SN_TRY_NEW(context, stage->pose, 3 * world->vertex_count, double);
    SN_TRY_NEW(context, stage->pose_velocity, 3 * world->vertex_count, double);
    SN_TRY_NEW(context, stage->drive, world->vertex_count, double);
    SN_TRY_NEW(context, stage->drag, world->vertex_count, double);
    SN_TRY_NEW(context, stage->loads, 3 * world->vertex_count, double);
    SN_TRY_NEW(context, stage->row_targets, world->constraints.size, double);
    SN_TRY_NEW(context, stage->row_rates, world->constraints.size, double);
    SN_TRY_NEW(context, stage->spring_targets, world->springs.size, double);
cleanup:
    return status;
}

static void stage_clear(SnStage *stage)
{
    sn_release(stage->pose);
    sn_release(stage->pose_velocity);
    sn_release(stage->drive);
    sn_release(stage->drag);
    sn_release(stage->loads);
    sn_release(stage->row_targets);
    sn_release(stage->row_rates);
    sn_release(stage->spring_targets);
}

SnStatus sn_statics_settle(SnContext *context, const SnWorld *world, const SnDriver *drivers, double fraction,
                           const SnStaticsSettings *settings, double *positions, SnNewtonReport *report)
{
    SnStatus status = SN_OK;
    SnStage stage;
    SN_TRY(stage_init(context, world, &stage));
    for (size_t b = 0; b < world->body_count; b++) {
        SN_TRY(drivers[b].prepare(context, drivers[b].self, world, world->bodies + b, fraction, &stage));
    }
    SN_TRY(solve_stage(context, world, &stage, settings, positions, report));
cleanup:
    stage_clear(&stage);
    return status;
}

SnStatus sn_statics_solve(SnContext *context, const SnWorld *world, const double *loads, const SnStaticsSettings *settings,
                          double *positions, SnNewtonReport *report)
{
    SnStatus status = SN_OK;
    SnStage stage;
    SN_TRY(stage_init(context, world, &stage));
    memcpy(stage.pose, positions, 3 * world->vertex_count * sizeof *positions);
    memcpy(stage.loads, loads, 3 * world->vertex_count * sizeof *loads);
    sn_rows_apply(&world->constraints.rows, positions, stage.row_targets);
    sn_rows_apply(&world->springs.rows, positions, stage.spring_targets);
    SN_TRY(solve_stage(context, world, &stage, settings, positions, report));
cleanup:
    stage_clear(&stage);
    return status;
}

void sn_statics_weight(const SnWorld *world, const double gravity[3], double *loads)
{
    for (size_t k = 0; k < 3 * world->vertex_count; k++) {
        loads[k] = world->mass[k / 3] * gravity[k % 3];
    }
}
