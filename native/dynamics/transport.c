/* Where the material changes within a step: its start goes to where the new material has the force of the old one. And where the rest shape does,
   as in the paper: dynamic rebalancing. */
#include "dynamics/stepper.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

#define TRANSPORT_TOLERANCE 0.1 /* of that of a step: what is off adds up over many */
#define TRANSPORT_HOLD 1e-12    /* of the inertia in a step: what keeps a body in place that nothing holds */
#define TRANSPORT_SWING 2.0     /* times as far as a vertex is from the input, and ... */
#define TRANSPORT_FAR 0.01      /* ... of the size of the body farther than that no transport takes it */

/* Whether a body may start where a transport has taken it: no tet turned inside out on the way, and nothing went far. Loads that do not give
   way buckle what is soft. */
static int is_sound_transport(const SnStepper *s, const SnBody *body, const double *from, const double *to)
{
    const SnWorld *world = s->world;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, size = 0.0;
    for (size_t v = body->first_vertex; v < body->first_vertex + body->vertex_count; v++) {
        for (size_t a = 0; a < 3; a++) {
            low[a] = fmin(low[a], s->stage.pose[3 * v + a]);
            high[a] = fmax(high[a], s->stage.pose[3 * v + a]);
        }
    }
    for (size_t a = 0; a < 3; a++) {
        size = fmax(size, high[a] - low[a]);
    }
    for (size_t v = body->first_vertex; v < body->first_vertex + body->vertex_count; v++) {
        double moved = 0.0, offset = 0.0;
        for (size_t k = 3 * v; k < 3 * v + 3; k++) {
            moved += (to[k] - from[k]) * (to[k] - from[k]);
            offset += (from[k] - s->stage.pose[k]) * (from[k] - s->stage.pose[k]);
        }
        if (!(sqrt(moved) <= TRANSPORT_SWING * sqrt(offset) + TRANSPORT_FAR * size)) {
            return 0;
        }
    }
    for (size_t t = body->first_term; t < body->first_term + body->term_count; t++) {
        const SnTerm *term = world->terms + t;
        size_t first = 3 * term->stencils.first;
        if (term->kind->turned != NULL && term->kind->turned(term->elements, from + first, to + first)) {
            return 0;
        }
    }
    return 1;
}

/* Stiffness that swings in time with flesh would feed its motion. So a transport brings no more energy over the input than loads have worked:
   else offsets are scaled down. */
static void keep_energy(SnStepper *s, const SnBody *body, const double *from, double *to)
{
    double after = sn_stepper_offset_energy(s, body, to), allowed = fmax(s->stored[body - s->world->bodies], 0.0);
    allowed += fmax(sn_stepper_work_of_loads(s, body, from, to), 0.0);
    double scale = after > allowed ? sqrt(allowed / after) : 1.0;
    for (size_t v = body->first_vertex; v < body->first_vertex + body->vertex_count && scale < 1.0; v++) {
        for (size_t k = 3 * v; k < 3 * v + 3 && !s->world->fixed[v]; k++) {
            to[k] = s->pose_begin[k] + scale * (to[k] - s->pose_begin[k]);
        }
    }
}

/* Newton of the transport, made where there is none. */
static SnStatus open_transport(SnContext *context, SnStepper *s)
{
    SnStatus status = SN_OK;
    if (s->transport == NULL) {
        SN_TRY(sn_newton_create(context, s->world->term_count, s->world->terms, &s->world->assembly, &s->transport));
        SN_TRY(sn_newton_constrain(context, s->transport, &s->world->constraints, &s->world->springs));
    }
cleanup:
    return status;
}

/* Moves `positions` to where what is left of all forces but inertia and damping is `force`, with the input prepared last. `converged`: whether it
   got there. */
static SnStatus balance_force(SnContext *context, SnStepper *s, double h, const double *force, double *positions, SnStepReport *report,
                              int *converged)
{
    SnStatus status = SN_OK;
    const SnWorld *world = s->world;
    SnNewtonReport rounds = {0};
    SN_TRY(open_transport(context, s));
    for (size_t k = 0; k < 3 * world->vertex_count; k++) {
        double hold = TRANSPORT_HOLD * world->mass[k / 3] / (h * h), drive = s->stage.drive[k / 3];
        s->diagonal[k / 3] = hold + drive;
        s->targets[k] = hold + drive > 0.0 ? (hold * positions[k] + drive * s->stage.pose[k]) / (hold + drive) : s->stage.pose[k];
        s->offset[k] = s->stage.loads[k] - force[k];
    }
    SnObjective objective = {.inputs = s->inputs, .scale = 1.0, .diagonal = s->diagonal, .targets = s->targets, .loads = s->offset,
                             .spring_targets = s->stage.spring_targets};
    SnNewtonSettings newton = {.max_rounds = SN_STEPPER_ROUNDS, .step_tolerance = TRANSPORT_TOLERANCE * s->settings.step_tolerance};
    SN_TRY(sn_newton_minimise(context, s->transport, &objective, &newton, positions, &rounds));
    report->rounds += rounds.rounds;
    report->factorizations += rounds.factorizations;
    *converged = rounds.converged;
cleanup:
    return status;
}

SnStatus sn_stepper_transport(SnContext *context, SnStepper *s, const SnDriver *drivers, double begin, double end, double h, const SnState *state,
                              SnState *from, SnStepReport *report)
{
    SnStatus status = SN_OK;
    const SnWorld *world = s->world;
    size_t n = 3 * world->vertex_count;
    int converged, is_free = 1;
    sn_stepper_evaluate_force(s, state->positions, s->force);
    for (size_t b = 0; b < world->body_count; b++) {
        s->stored[b] = sn_stepper_offset_energy(s, world->bodies + b, state->positions);
    }
    SN_TRY(sn_stepper_prepare_start(context, s, drivers, begin, begin, end));
    if (!s->stage.has_changed) {
        goto cleanup;
    }
    memcpy(s->moved, state->positions, n * sizeof *s->moved);
    SN_TRY(balance_force(context, s, h, s->force, s->moved, report, &converged));
    for (size_t b = 0; b < world->body_count; b++) {
        const SnBody *body = world->bodies + b;
        if (!converged || !is_sound_transport(s, body, state->positions, s->moved)) {
            memcpy(s->moved + 3 * body->first_vertex, state->positions + 3 * body->first_vertex, 3 * body->vertex_count * sizeof *s->moved);
        }
        keep_energy(s, body, state->positions, s->moved);
    }
    if (s->contact != NULL) {
        SN_TRY(sn_contact_prove(context, s->contact, s->moved, &is_free));
        SN_TRY(sn_contact_begin_step(context, s->contact, begin, s->pose_begin, is_free ? s->moved : state->positions));
    }
    from->positions = is_free ? s->moved : state->positions;
cleanup:
    return status;
}

/* The end of a step with the old expression, its rest shape and material: the new head, and its loads, alone. s->pose, the pose of
   the end before, is that. */
static SnStatus prepare_old_expression(SnContext *context, SnStepper *s, const SnDriver *drivers, double begin, double end)
{
    SnStatus status = SN_OK;
    const SnWorld *world = s->world;
    for (size_t k = 0; k < 3 * world->vertex_count; k++) {
        s->pose[k] -= s->shift[k] - s->shift_begin[k];
    }
    SN_TRY(sn_stepper_prepare_start(context, s, drivers, begin, end, begin));
    s->stage.pose = s->pose;
    sn_rows_apply(&world->constraints.rows, s->pose, s->stage.row_targets);
    sn_rows_apply(&world->constraints.rows, s->pose_velocity, s->stage.row_rates);
    sn_rows_apply(&world->springs.rows, s->pose, s->stage.spring_targets);
cleanup:
    return status;
}

/* An implicit Euler step to the pose prepared last, as if it were all that the input has done; `force` is what is left there of all others. */
static SnStatus step_towards(SnContext *context, SnStepper *s, double end, double h, const SnState *state, double *positions, double *velocities,
                             double *force, SnStepReport *report)
{
    SnStatus status = SN_OK;
    double reached;
    for (size_t k = 0; k < 3 * s->world->vertex_count; k++) {
        s->offset[k] = state->positions[k];
        s->pose_offset[k] = s->pose_begin[k];
        s->predicted[k] = s->offset[k] + h * state->velocities[k];
    }
    sn_stepper_guess_stage(s, state, h, positions);
    SnStageSolve stage = {.tau = h, .fraction = end, .start = state->positions, .length = h, .share = 1.0, .from_begin = 1.0};
    SN_TRY(sn_stepper_solve_stage(context, s, &stage, positions, velocities, report, &reached));
    sn_stepper_evaluate_force(s, positions, force);
cleanup:
    return status;
}

SnStatus sn_stepper_rebalance(SnContext *context, SnStepper *s, const SnDriver *drivers, double begin, double end, double h, const SnState *state,
                              SnStepReport *report)
{
    SnStatus status = SN_OK;
    size_t n = 3 * s->world->vertex_count;
    double inertia = s->settings.inertia;
    int converged;
    if (s->contact != NULL) {
        status = sn_context_fail(context, SN_BAD_INPUT, "Rebalanced expressions do not collide: choose the change of variable.");
        goto cleanup;
    }
    SN_TRY(sn_stepper_prepare_stage(context, s, drivers, end));
    SN_TRY(prepare_old_expression(context, s, drivers, begin, end));
    SN_TRY(step_towards(context, s, end, h, state, s->positions, s->velocities, s->force, report));
    for (size_t k = 0; k < n; k++) {
        s->positions[k] += s->shift[k] - s->shift_begin[k];
    }
    s->stage.material = end;
    SN_TRY(sn_stepper_prepare_stage(context, s, drivers, end));
    if (inertia > 0.0) {
        SN_TRY(step_towards(context, s, end, h, state, s->stage_positions, s->stage_velocities, s->expected, report));
        for (size_t k = 0; k < n; k++) {
            s->positions[k] += inertia * (s->stage_positions[k] - s->positions[k]);
            s->velocities[k] += inertia * (s->stage_velocities[k] - s->velocities[k]);
            s->force[k] += inertia * (s->expected[k] - s->force[k]);
        }
    }
    for (size_t k = 0; k < n; k++) {
        s->positions[k] = s->world->fixed[k / 3] ? s->pose[k] : s->positions[k];
    }
    sn_stepper_impose_rows(s, s->stage.row_targets, s->positions);
    memcpy(s->moved, s->positions, n * sizeof *s->moved);
    SN_TRY(balance_force(context, s, h, s->force, s->positions, report, &converged));
    report->unconverged += !converged;
    for (size_t b = 0; b < s->world->body_count; b++) { /* else it is left where the new expression carries it */
        const SnBody *body = s->world->bodies + b;
        size_t first = 3 * body->first_vertex;
        if (!converged || !is_sound_transport(s, body, s->moved, s->positions)) {
            memcpy(s->positions + first, s->moved + first, 3 * body->vertex_count * sizeof *s->moved);
        }
    }
cleanup:
    return status;
}
