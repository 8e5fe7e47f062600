#include "dynamics/statics.h"

#include "base/memory.h"
#include "dynamics/modes.h"
#include "math/mat3.h"
#include "mesh/union_find.h"

#include <string.h>

#define GRIP 1e-6   /* how evenly rows must feel a part, for it to be held by them in all three directions */
#define ANCHOR 1e-6 /* of its stiffness at rest: what keeps a loose vertex from drifting by rounding, too weak to strain anything */

/* Parts that stencils join, and what says where each of them is; what is of a part stands at its root. */
typedef struct Parts {
    int32_t *parents;    /* vertices */
    unsigned char *held; /* vertices */
    double *sums;        /* vertices x 4: force and mass */
    double *grips;       /* vertices x 9: sum of g gᵀ, g the way in which rows feel it move as a whole */
} Parts;

/* Adds what a row feels of each part that moves as a whole. */
static void add_grips(const SnRows *rows, Parts *parts)
{
    for (size_t r = 0; r < rows->count; r++) {
        double felt[3] = {0};
        int32_t root = -1;
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            root = sn_union_find_root(parts->parents, rows->points[k]); /* a row's points are one body's, and mostly one part's */
            for (size_t a = 0; a < 3; a++) {
                felt[a] += rows->is_alike ? rows->weights[k] : rows->weights[3 * (size_t)k + a];
            }
        }
        for (size_t k = 0; k < 9 && root >= 0 && rows->stiffness[r] > 0.0; k++) {
            double both = rows->is_alike ? (k / 3 == k % 3 ? felt[0] * felt[0] : 0.0) : felt[k / 3] * felt[k % 3];
            parts->grips[9 * (size_t)root + k] += both;
        }
    }
}

/* A part is held by a fixed or driven vertex, or by rows that feel it whichever way it goes. */
static void find_held(const SnWorld *world, const SnStage *stage, Parts *parts)
{
    sn_union_find_init(world->vertex_count, parts->parents);
    for (size_t t = 0; t < world->term_count; t++) {
        const SnStencils *stencils = &world->terms[t].stencils;
        size_t corners = (size_t)stencils->corners;
        int32_t first = (int32_t)stencils->first;
        for (size_t k = 0; k < stencils->count * corners; k++) {
            sn_union_find_join(parts->parents, first + stencils->vertices[k - k % corners], first + stencils->vertices[k]);
        }
    }
    add_grips(&world->constraints.rows, parts);
    add_grips(&world->springs.rows, parts);
    for (size_t v = 0; v < world->vertex_count; v++) {
        const double *grip = parts->grips + 9 * v;
        double trace = grip[0] + grip[4] + grip[8];
        parts->held[v] = sn_mat3_determinant(grip) > GRIP * trace * trace * trace;
    }
    for (size_t v = 0; v < world->vertex_count; v++) {
        parts->held[sn_union_find_root(parts->parents, (int32_t)v)] |= world->fixed[v] || stage->drive[v] > 0.0;
    }
}

/* Nothing says where a part is that nothing holds: takes from its loads what would move it as a whole, and draws it to where it starts, by
   so little that its shape does not feel it. */
static SnStatus keep_in_place(SnContext *context, const SnWorld *world, const SnStage *stage, const double *positions)
{
    SnStatus status = SN_OK;
    const SnAssembly *assembly = &world->assembly;
    Parts parts = {0};
    double *stiffness = NULL;
    SN_TRY_NEW(context, parts.parents, world->vertex_count, int32_t);
    SN_TRY_NEW(context, parts.held, world->vertex_count, unsigned char);
    SN_TRY_NEW(context, parts.sums, 4 * world->vertex_count, double);
    SN_TRY_NEW(context, parts.grips, 9 * world->vertex_count, double);
    find_held(world, stage, &parts);
    for (size_t v = 0; v < world->vertex_count; v++) {
        double *sum = parts.sums + 4 * (size_t)sn_union_find_root(parts.parents, (int32_t)v);
        sum[3] += world->mass[v];
        for (size_t a = 0; a < 3; a++) {
            sum[a] += stage->loads[3 * v + a];
        }
    }
    for (size_t v = 0; v < world->vertex_count; v++) {
        size_t root = (size_t)sn_union_find_root(parts.parents, (int32_t)v);
        const double *sum = parts.sums + 4 * root;
        for (size_t a = 0; a < 3 && !parts.held[root] && sum[3] > 0.0; a++) {
            stage->loads[3 * v + a] -= world->mass[v] / sum[3] * sum[a];
        }
    }
    SN_TRY_NEW(context, stiffness, assembly->pattern.value_count, double);
    SN_TRY(sn_modes_stiffness(context, world, positions, NULL, stiffness));
    for (size_t k = 0; k < assembly->unknown_count; k++) {
        size_t v = (size_t)assembly->vertex[k];
        if (!parts.held[sn_union_find_root(parts.parents, (int32_t)v)]) {
            stage->drive[v] = ANCHOR * stiffness[assembly->pattern.value_start[3 * k]];
            memcpy(stage->pose + 3 * v, positions + 3 * v, 3 * sizeof *positions);
        }
    }
cleanup:
    sn_release(stiffness);
    sn_release(parts.parents);
    sn_release(parts.held);
    sn_release(parts.sums);
    sn_release(parts.grips);
    return status;
}

static void fill_inputs(const SnWorld *world, const SnStage *stage, const double *inner, SnTermInput *inputs)
{
    for (size_t t = 0, place = 0; t < world->term_count; t++) {
        size_t size = (size_t)world->terms[t].kind->inner_size * world->terms[t].stencils.count;
        inputs[t] = (SnTermInput){.data = stage->inputs[t], .inner = inner != NULL && size > 0 ? inner + place : NULL};
        place += size;
    }
}

/* The stage's own arrays; its positions are moved. */
static SnStatus solve_stage(SnContext *context, const SnWorld *world, const SnStage *stage, const SnStaticsSettings *settings,
                            const double *inner, double *positions, SnNewtonReport *report)
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
    fill_inputs(world, stage, inner, inputs);
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
    SN_TRY_NEW(context, stage->shift, 3 * world->vertex_count, double);
    SN_TRY_NEW(context, stage->drive, world->vertex_count, double);
    SN_TRY_NEW(context, stage->drag, world->vertex_count, double);
    SN_TRY_NEW(context, stage->loads, 3 * world->vertex_count, double);
    SN_TRY_NEW(context, stage->row_targets, world->constraints.size, double);
    SN_TRY_NEW(context, stage->row_rates, world->constraints.size, double);
    SN_TRY_NEW(context, stage->row_most, world->constraints.size, double);
    SN_TRY_NEW(context, stage->spring_targets, world->springs.size, double);
cleanup:
    return status;
}

static void stage_clear(SnStage *stage)
{
    sn_release(stage->pose);
    sn_release(stage->pose_velocity);
    sn_release(stage->shift);
    sn_release(stage->drive);
    sn_release(stage->drag);
    sn_release(stage->loads);
    sn_release(stage->row_targets);
    sn_release(stage->row_rates);
    sn_release(stage->row_most);
    sn_release(stage->spring_targets);
}

static SnStatus prepare(SnContext *context, const SnWorld *world, const SnDriver *drivers, double fraction, SnStage *stage)
{
    SnStatus status = SN_OK;
    stage->material = stage->loaded = fraction;
    for (size_t b = 0; b < world->body_count; b++) {
        SN_TRY(drivers[b].prepare(context, drivers[b].self, world, world->bodies + b, fraction, stage));
    }
cleanup:
    return status;
}

SnStatus sn_statics_settle(SnContext *context, const SnWorld *world, const SnDriver *drivers, double fraction,
                           const SnStaticsSettings *settings, const double *inner, double *positions, SnNewtonReport *report)
{
    SnStatus status = SN_OK;
    SnStage stage;
    SN_TRY(stage_init(context, world, &stage));
    SN_TRY(prepare(context, world, drivers, fraction, &stage));
    SN_TRY(solve_stage(context, world, &stage, settings, inner, positions, report));
cleanup:
    stage_clear(&stage);
    return status;
}

/* force (vertices x 3, N) = what is left of all forces at one moment. */
static SnStatus left_of_forces(SnContext *context, const SnWorld *world, const SnStage *stage, const double *positions, double *force)
{
    SnStatus status = SN_OK;
    SnTermInput inputs[SN_TERMS_MOST] = {0};
    double *partial = NULL, *gradients = NULL, *pull = NULL;
    SN_TRY_NEW(context, partial, sn_terms_partial_count(world->term_count, world->terms), double);
    SN_TRY_NEW(context, gradients, 3 * sn_terms_corner_count(world->term_count, world->terms), double);
    SN_TRY_NEW(context, pull, world->springs.size, double);
    fill_inputs(world, stage, NULL, inputs);
    (void)sn_terms_value(world->term_count, world->terms, inputs, positions, partial, gradients);
    sn_assembly_gather_gradient(&world->assembly, gradients, force);
    for (size_t k = 0; k < 3 * world->vertex_count; k++) {
        force[k] = stage->loads[k] - force[k] + stage->drive[k / 3] * (stage->pose[k] - positions[k]);
    }
    (void)sn_springs_pull(&world->springs, stage->spring_targets, positions, pull);
    sn_rows_spread(&world->springs.rows, pull, force);
cleanup:
    sn_release(partial);
    sn_release(gradients);
    sn_release(pull);
    return status;
}

SnStatus sn_statics_carry(SnContext *context, const SnWorld *world, const SnDriver *drivers, const SnStaticsSettings *settings,
                          const double *from, double *positions, SnNewtonReport *report)
{
    SnStatus status = SN_OK;
    SnStage stage;
    double *force = NULL;
    SN_TRY(stage_init(context, world, &stage));
    SN_TRY_NEW(context, force, 3 * world->vertex_count, double);
    SN_TRY(prepare(context, world, drivers, 0.0, &stage));
    SN_TRY(left_of_forces(context, world, &stage, from, force));
    SN_TRY(prepare(context, world, drivers, 1.0, &stage));
    for (size_t k = 0; k < 3 * world->vertex_count; k++) {
        stage.loads[k] -= force[k];
    }
    SN_TRY(solve_stage(context, world, &stage, settings, NULL, positions, report));
cleanup:
    sn_release(force);
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
    SN_TRY(solve_stage(context, world, &stage, settings, NULL, positions, report));
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
