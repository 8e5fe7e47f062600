/* One stage of a step: asked of the drivers, guessed, minimised, and balanced where nothing holds a body. */
#include "dynamics/stepper.h"

#include "base/memory.h"
#include "dynamics/plane_groups.h"

#include <math.h>
#include <string.h>

/* Asks the drivers for a moment; it is not damped yet. */
static SnStatus prepare_moment(SnContext *context, SnStepper *s, const SnDriver *drivers, double fraction)
{
    SnStatus status = SN_OK;
    const SnWorld *world = s->world;
    for (size_t b = 0; b < world->body_count; b++) {
        SN_TRY(drivers[b].prepare(context, drivers[b].self, world, world->bodies + b, fraction, &s->stage));
    }
    for (size_t t = 0; t < world->term_count; t++) {
        s->inputs[t] = (SnTermInput){.data = s->stage.inputs[t], .inner = s->inner[t]};
    }
cleanup:
    return status;
}

SnStatus sn_stepper_prepare_start(SnContext *context, SnStepper *s, const SnDriver *drivers, double fraction, double loaded, double material)
{
    s->stage.material = material;
    s->stage.varies = s->stage.has_changed = 0;
    s->stage.pose = s->pose_begin;
    s->stage.pose_velocity = s->pose_velocity_begin;
    s->stage.shift = s->shift_begin;
    s->stage.loaded = loaded;
    return prepare_moment(context, s, drivers, fraction);
}

SnStatus sn_stepper_prepare_stage(SnContext *context, SnStepper *s, const SnDriver *drivers, double fraction)
{
    s->stage.pose = s->pose;
    s->stage.pose_velocity = s->pose_velocity;
    s->stage.shift = s->shift;
    s->stage.loaded = fraction;
    SnStatus status = prepare_moment(context, s, drivers, fraction);
    if (s->bounds != NULL) {
        sn_row_bounds_aim(s->bounds, &s->stage, (fraction - s->begin) * s->interval);
    }
    for (size_t k = 0; k < 3 * s->world->vertex_count; k++) {
        s->offset[k] += s->shift[k];
        s->pose_offset[k] += s->shift[k];
        s->predicted[k] += s->shift[k];
    }
    return status;
}

/* Damping by βK times `rate`, turned as `positions` and relative to `centre`. */
static void set_damping(SnStepper *s, double rate, const double *positions, const double *centre)
{
    const SnWorld *world = s->world;
    for (size_t t = 0; t < world->term_count; t++) {
        const SnTerm *term = world->terms + t;
        s->inputs[t].damping = (SnDamping){0};
        if (world->damping[t] > 0.0) {
            size_t first = 3 * term->stencils.first;
            term->kind->damp(term->elements, s->inputs + t, positions + first, centre + first, s->damping_shape[t]);
            s->inputs[t].damping = (SnDamping){rate * world->damping[t], world->damping_scale[t], s->damping_shape[t]};
        }
    }
}

void sn_stepper_evaluate_force(SnStepper *s, const double *positions, double *force)
{
    const SnWorld *world = s->world;
    for (size_t t = 0; t < world->term_count; t++) {
        s->inputs[t].damping = (SnDamping){0};
    }
    (void)sn_terms_value(world->term_count, world->terms, s->inputs, positions, s->energies, s->element_gradients);
    sn_assembly_gather_gradient(&world->assembly, s->element_gradients, force);
    for (size_t k = 0; k < 3 * world->vertex_count; k++) {
        force[k] = s->stage.loads[k] - force[k] + s->stage.drive[k / 3] * (s->stage.pose[k] - positions[k]);
    }
    (void)sn_springs_pull(&world->springs, s->stage.spring_targets, positions, s->pull);
    sn_rows_spread(&world->springs.rows, s->pull, force);
}

void sn_stepper_evaluate_start(SnStepper *s, const SnState *state)
{
    const SnWorld *world = s->world;
    for (size_t k = 0; k < 3 * world->vertex_count; k++) { /* the state a second ago, had the velocities been those relative to the input */
        double velocity = state->velocities[k] - s->pose_velocity_begin[k];
        s->centre[k] = state->positions[k] - (world->fixed[k / 3] ? 0.0 : velocity);
    }
    set_damping(s, 1.0, state->positions, s->centre);
    (void)sn_terms_value(world->term_count, world->terms, s->inputs, state->positions, s->energies, s->element_gradients);
    sn_assembly_gather_gradient(&world->assembly, s->element_gradients, s->force);
    for (size_t k = 0; k < 3 * world->vertex_count; k++) {
        double drag = world->drag[k / 3] * world->mass[k / 3] + s->stage.drag[k / 3];
        s->force[k] = s->stage.loads[k] - s->force[k] + s->stage.drive[k / 3] * (s->pose_begin[k] - state->positions[k]) -
                      drag * (state->velocities[k] - s->pose_velocity_begin[k]);
    }
    (void)sn_springs_pull(&world->springs, s->stage.spring_targets, state->positions, s->pull);
    sn_rows_spread(&world->springs.rows, s->pull, s->force);
}

/* Whether nothing holds a body: no vertex is fixed, no row holds, no spring. */
static int is_free(const SnWorld *world, const SnBody *body)
{
    return body->row_count == 0 && body->spring_count == 0 && memchr(world->fixed + body->first_vertex, 1, body->vertex_count) == NULL;
}

/* A free body feels no elastic force, and none of its damping, as a whole: the shift that balances what is left of the other forces
   is known exactly, so momentum is kept to the last digits whatever the tolerance. It only lowers the energy. Bodies that press on each other
   are shifted as one, which changes nothing between them; where something holds one of them, nothing is to be balanced. */
static void balance_free_bodies(const SnStepper *s, const SnPlanes *planes, double *positions)
{
    const SnWorld *world = s->world;
    for (size_t b = 0; b < world->body_count; b++) {
        s->groups[b] = (int32_t)b;
    }
    if (planes != NULL) {
        sn_plane_groups(s->world, planes, s->groups);
    }
    for (size_t g = 0; g < world->body_count; g++) {
        double total = 0.0, force[3] = {0};
        int free = 1;
        for (size_t b = g; b < world->body_count && free; b++) {
            const SnBody *body = world->bodies + b;
            free = s->groups[b] != (int32_t)g ? 1 : is_free(world, body);
            for (size_t v = body->first_vertex; v < body->first_vertex + body->vertex_count && s->groups[b] == (int32_t)g; v++) {
                total += s->diagonal[v];
                for (size_t a = 0; a < 3; a++) {
                    force[a] += s->stage.loads[3 * v + a] - s->diagonal[v] * (positions[3 * v + a] - s->targets[3 * v + a]);
                }
            }
        }
        for (size_t b = g; b < world->body_count && free && s->groups[b] >= 0; b++) {
            const SnBody *body = world->bodies + b;
            for (size_t k = 3 * body->first_vertex; k < 3 * (body->first_vertex + body->vertex_count) && s->groups[b] == (int32_t)g; k++) {
                positions[k] += force[k % 3] / total;
            }
        }
    }
}

void sn_stepper_impose_rows(SnStepper *s, const double *targets, double *values)
{
    const SnConstraints *constraints = s->bounds != NULL ? sn_row_bounds_held(s->bounds) : &s->world->constraints;
    sn_constraints_impose(constraints, targets, s->row_work, values);
}

SnStatus sn_stepper_bound_rows(SnContext *context, SnStepper *s, double begin, double interval, double h, const SnState *state)
{
    SnStatus status = SN_OK;
    int any = 0;
    s->begin = begin;
    s->interval = interval;
    for (size_t k = 0; k < s->world->constraints.size && s->bounds == NULL; k++) {
        any |= s->stage.row_most[k] > 0.0;
    }
    if (any) {
        SN_TRY(sn_row_bounds_create(context, s->world, &s->bounds));
    }
    if (s->bounds != NULL && sn_row_bounds_begin(s->bounds, &s->stage, h, state->positions)) {
        SN_TRY(sn_row_bounds_tell(context, s->bounds, s->newton));
    }
cleanup:
    return status;
}

/* Diagonal, targets and the centre of damping of a stage of length τ; fixed vertices of `positions` go where the input has them. */
static void set_targets(SnStepper *s, double tau, double *positions)
{
    const SnWorld *world = s->world;
    for (size_t v = 0; v < world->vertex_count; v++) {
        double inertia = world->mass[v] / (tau * tau), drive = s->stage.drive[v];
        double drag = (world->drag[v] * world->mass[v] + s->stage.drag[v]) / tau;
        s->diagonal[v] = inertia + drag + drive;
        for (size_t a = 0; a < 3; a++) {
            size_t k = 3 * v + a;
            s->centre[k] = s->offset[k] + (s->pose[k] - s->pose_offset[k]);
            if (world->fixed[v]) { /* it may weigh nothing */
                positions[k] = s->centre[k] = s->targets[k] = s->pose[k];
                continue;
            }
            s->targets[k] = (inertia * s->predicted[k] + drag * s->centre[k] + drive * s->pose[k]) / s->diagonal[v];
        }
    }
}

/* The minimisation of a stage: what it minimises, and what came of it. With `start` the result never has a higher energy than free
   vertices that stay there: where the guess led into a worse minimum, it is sought from there. */
typedef struct Minimum {
    SnStepper *s;
    SnObjective objective;
    SnNewtonSettings newton;
    const double *start;
    double share; /* forces of rows count so many times: as those of contact do, they are not in the force that a step starts with */
    SnNewtonReport rounds;
} Minimum;

/* Rows that pull with more than they may let go, and others come back, until none does. */
static SnStatus minimise_bounded(SnContext *context, Minimum *m, const SnNewtonSettings *newton, double *positions)
{
    SnStatus status = SN_OK;
    SnStepper *s = m->s;
    int again = s->bounds != NULL;
    if (again) {
        sn_row_bounds_count_anew(s->bounds);
    }
    do {
        if (s->bounds != NULL) {
            m->objective.loads = sn_row_bounds_load(s->bounds, &s->stage, m->share);
        }
        SN_TRY(sn_newton_minimise(context, s->newton, &m->objective, newton, positions, &m->rounds));
        if (again) {
            again = sn_row_bounds_review(s->bounds, &s->stage, m->share, sn_newton_pulls(s->newton), positions);
        }
        if (again) {
            SN_TRY(sn_row_bounds_tell(context, s->bounds, s->newton));
            sn_stepper_impose_rows(s, s->stage.row_targets, positions);
        }
    } while (again);
cleanup:
    return status;
}

static SnStatus minimise(SnContext *context, void *self, SnPlanes *planes, int first, double tolerance, double *positions)
{
    SnStatus status = SN_OK;
    Minimum *m = self;
    SnStepper *s = m->s;
    const SnWorld *world = s->world;
    size_t n = 3 * world->vertex_count;
    SnNewtonSettings newton = m->newton;
    newton.step_tolerance = fmax(newton.step_tolerance, tolerance);
    m->objective.planes = planes;
    SN_TRY(minimise_bounded(context, m, &newton, positions));
    if (m->start != NULL && first && !m->newton.single_full_step) {
        for (size_t k = 0; k < n; k++) {
            s->stage_positions[k] = world->fixed[k / 3] ? s->pose[k] : m->start[k];
        }
        sn_stepper_impose_rows(s, s->stage.row_targets, s->stage_positions);
        if (!(m->rounds.value <= sn_newton_value(s->newton, &m->objective, s->stage_positions))) {
            memcpy(positions, s->stage_positions, n * sizeof *positions);
            SN_TRY(minimise_bounded(context, m, &newton, positions));
        }
    }
    if (planes != NULL) { /* forces that belong to the result */
        (void)sn_planes_value(planes, &world->assembly, positions, NULL);
    }
    balance_free_bodies(s, planes, positions);
    sn_stepper_impose_rows(s, s->stage.row_targets, positions); /* to the last digits */
cleanup:
    return status;
}

static const double *find_hardness(void *self, const double *positions)
{
    const Minimum *m = self;
    return sn_newton_hardness(m->s->newton, &m->objective, positions);
}

/* An impact is over at once, however little of its stage there is: a body that is pressed has the velocity of its way, else one part of a step
   after the other would be spent on what comes faster than it gives way. */
static void go_along(const SnStepper *s, const SnPlanes *planes, double seconds, const double *positions, double *velocities)
{
    for (const SnBody *body = s->world->bodies; body < s->world->bodies + s->world->body_count; body++) {
        size_t first = body->first_vertex, last = first + body->vertex_count;
        int is_pressed = 0;
        for (const SnPlane *plane = planes->planes; plane < planes->planes + planes->count; plane++) {
            for (int32_t k = plane->row.begin; k < plane->row.end && plane->force > 0.0; k++) {
                size_t v = (size_t)s->world->assembly.vertex[planes->unknowns[k]];
                is_pressed |= v >= first && v < last;
            }
        }
        for (size_t k = 3 * first; k < 3 * last && is_pressed; k++) {
            velocities[k] = s->world->fixed[k / 3] ? velocities[k] : (positions[k] - s->offset[k]) / seconds;
        }
    }
}

SnStatus sn_stepper_solve_stage(SnContext *context, SnStepper *s, const SnStageSolve *stage, double *positions, double *velocities,
                                SnStepReport *report, double *reached)
{
    SnStatus status = SN_OK;
    const SnWorld *world = s->world;
    double tau = stage->tau;
    set_targets(s, tau, positions);
    set_damping(s, 1.0 / tau, positions, s->centre);
    Minimum minimum = {
        .s = s,
        .objective = {.inputs = s->inputs, .scale = 1.0, .diagonal = s->diagonal, .targets = s->targets, .loads = s->stage.loads,
                      .spring_targets = s->stage.spring_targets},
        .newton = {.max_rounds = s->settings.newton_rounds > 0 ? s->settings.newton_rounds : SN_STEPPER_ROUNDS,
                   .single_full_step = s->settings.newton_rounds == 1,
                   .step_tolerance = (s->settings.scheme == SN_SCHEME_TR_BDF2 ? 0.5 : 1.0) * s->settings.step_tolerance}, /* shared by the stages */
        .start = stage->may_stay ? stage->start : NULL,
        .share = stage->share,
    };
    if (s->factor_tau != tau) {
        sn_newton_forget(s->newton);
        s->factor_tau = tau;
    }
    sn_stepper_impose_rows(s, s->stage.row_targets, positions);
    *reached = 1.0;
    if (s->contact == NULL) {
        SN_TRY(minimise(context, &minimum, NULL, 1, 0.0, positions));
    } else {
        SnContactStage contact = {.fraction = stage->fraction, .pose = s->pose, .start = stage->start, .length = stage->length,
                                  .part = s->part, .share = stage->share,
                                  .from_stage = stage->from_stage, .from_begin = stage->from_begin, .self = &minimum,
                                  .minimise = minimise, .hardness = find_hardness};
        SN_TRY(sn_contact_solve(context, s->contact, &contact, positions, reached));
    }
    report->rounds += minimum.rounds.rounds;
    report->factorizations += minimum.rounds.factorizations;
    report->unconverged += !minimum.rounds.converged && s->settings.newton_rounds == 0;
    /* Of a part of a stage there is as much of what has no inertia; and forces have acted for that part alone, so velocities are on their way to
       those of its end: with all of the change, every part of a step would throw bodies by all of its forces. */
    for (size_t k = 0; k < 3 * world->vertex_count; k++) {
        double before = (s->predicted[k] - s->offset[k]) / tau;
        s->offset[k] -= (1.0 - *reached) * (s->shift[k] - s->shift_begin[k]);
        double moved = (positions[k] - s->offset[k]) / tau + (1.0 - *reached) * before;
        velocities[k] = world->fixed[k / 3] ? s->pose_velocity[k] : moved;
    }
    if (*reached < 1.0 && *reached > SN_STEPPER_NO_PART && minimum.objective.planes != NULL) {
        go_along(s, minimum.objective.planes, *reached * tau, positions, velocities);
    }
    sn_stepper_impose_rows(s, s->stage.row_rates, velocities);
cleanup:
    return status;
}

void sn_stepper_guess_stage(const SnStepper *s, const SnState *state, double coast, double *positions)
{
    coast = s->settings.newton_rounds == 1 ? 0.0 : coast;
    /* implicit Euler moves by its new velocity; TR-BDF2 gains nothing */
    double bend = s->settings.scheme == SN_SCHEME_IMPLICIT_EULER && s->has_acceleration ? coast * coast : 0.0;
    for (size_t k = 0; k < 3 * s->world->vertex_count; k++) {
        positions[k] = state->positions[k] + (s->pose[k] - s->pose_begin[k]) +
                       coast * (state->velocities[k] - s->pose_velocity_begin[k]) + bend * s->expected[k];
    }
}
