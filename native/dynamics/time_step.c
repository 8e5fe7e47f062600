/* Each stage solves  M (v - v̂)/τ + D (v - v̄) = F(x)  with  v = (x - p)/τ,  that is the minimum of
     |x - x̂|²_M / 2τ² + |x - p - (ū - p̄)|²_D / 2τ + |x - ū|²_W / 2 + Psi(x) - f·x,     x̂ = p + τ v̂.
   Implicit Euler: τ = h, p = x_n, v̂ = v_n. TR-BDF2 (methods, section 1): τ = (1 - 1/√2) h;
     stage 1 ends at t + 2τ: p = x_n + τ v_n, v̂ = v_n + τ M⁻¹ F_n;
     stage 2 ends at t + h:  p = c₁ x_a - c₀ x_n, v̂ = c₁ v_a - c₀ v_n.
   Where a part E(t) of the input has no inertia (the stage's shift), the schemes are those of y = x - E, whose velocity is the state's: p is
   made of y, and E at the end of the stage is added to it.
   Damping takes the input's velocity as (ū - p̄)/τ, p̄ made of the input as p is of the state: flesh that moves with the input then
   feels none, where the exact v̄ would pull it off by what the scheme leaves of the input's curve.
   Materials are those of the end of the step in all of its stages. Where that is another than at its start, the step starts where the new material
   has the force of the old one (transport): under a load flesh keeps to its static curve, and is not left there to swing.
   D = αM + βK, α the drag of each vertex and β the damping of each element, where K is the stiffness of small strains, turned as the shape that the stage
   is expected to end in (SnViscosity): with the shape at the start of the step the scheme would be of first order. */
#include "dynamics/stepper.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

#define PARTS_MOST 100 /* of a step that something is in the way of: the last goes through with it, ... */
#define PART_LEAST 1e-6 /* ... and so does one that is so little of it: what only comes nearer its end by less and less never gets there */

/* 1/2 |Δv|²_M + potential at the end is at most kinetic energy + potential at the start + what moving the fixed vertices adds. */
static SnStatus implicit_euler(SnContext *context, SnStepper *s, const SnDriver *drivers, double end, double h, const SnState *state,
                               SnStepReport *report, double *reached)
{
    SnStatus status = SN_OK;
    for (size_t k = 0; k < 3 * s->world->vertex_count; k++) {
        s->offset[k] = state->positions[k] - s->shift_begin[k];
        s->pose_offset[k] = s->pose_begin[k] - s->shift_begin[k];
        s->predicted[k] = s->offset[k] + h * state->velocities[k];
    }
    SN_TRY(sn_stepper_prepare_stage(context, s, drivers, end));
    sn_stepper_guess_stage(s, state, h, s->positions);
    SnStageSolve stage = {.tau = h, .fraction = end, .start = state->positions, .may_stay = 1, .length = h, .share = 1.0, .from_begin = 1.0};
    SN_TRY(sn_stepper_solve_stage(context, s, &stage, s->positions, s->velocities, report, reached));
cleanup:
    return status;
}

static SnStatus tr_bdf2(SnContext *context, SnStepper *s, const SnDriver *drivers, double begin, double end, double h,
                        const SnState *state, SnStepReport *report, double *reached)
{
    SnStatus status = SN_OK;
    const double theta = 1.0 - 1.0 / sqrt(2.0), c1 = 0.5 * (1.0 + sqrt(2.0)), c0 = c1 - 1.0;
    double tau = theta * h, coast = s->settings.newton_rounds == 1 ? 0.0 : (h - 2.0 * tau);
    size_t n = 3 * s->world->vertex_count;
    sn_stepper_evaluate_start(s, state);
    for (size_t k = 0; k < n; k++) {
        double acceleration = s->world->fixed[k / 3] ? 0.0 : s->force[k] / s->world->mass[k / 3];
        s->offset[k] = state->positions[k] - s->shift_begin[k] + tau * state->velocities[k];
        s->pose_offset[k] = s->pose_begin[k] - s->shift_begin[k] + tau * s->pose_velocity_begin[k];
        s->predicted[k] = s->offset[k] + tau * (state->velocities[k] + tau * acceleration);
    }
    double middle = begin + 2.0 * theta * (end - begin);
    SnStageSolve first = {.tau = tau, .fraction = middle, .start = state->positions, .length = 2.0 * tau, .share = 2.0,
                   .from_begin = 1.0};
    SN_TRY(sn_stepper_prepare_stage(context, s, drivers, middle));
    sn_stepper_guess_stage(s, state, 2.0 * tau, s->stage_positions);
    SN_TRY(sn_stepper_solve_stage(context, s, &first, s->stage_positions, s->stage_velocities, report, reached));
    if (*reached < 1.0) {
        return SN_OK;
    }

    /* the second stage starts where the first one is heading: its offset from the input, carried along */
    for (size_t k = 0; k < n; k++) {
        s->positions[k] = s->stage_positions[k] - s->pose[k] + coast * (s->stage_velocities[k] - s->pose_velocity[k]);
        s->offset[k] = c1 * (s->stage_positions[k] - s->shift[k]) - c0 * (state->positions[k] - s->shift_begin[k]);
        s->pose_offset[k] = c1 * (s->pose[k] - s->shift[k]) - c0 * (s->pose_begin[k] - s->shift_begin[k]);
        s->predicted[k] = s->offset[k] + tau * (c1 * s->stage_velocities[k] - c0 * state->velocities[k]);
    }
    SN_TRY(sn_stepper_prepare_stage(context, s, drivers, end));
    for (size_t k = 0; k < n; k++) {
        s->positions[k] += s->pose[k];
    }
    SnStageSolve second = {.tau = tau, .fraction = end, .start = s->stage_positions, .length = tau, .share = 1.0, .from_stage = c1, .from_begin = -c0};
    SN_TRY(sn_stepper_solve_stage(context, s, &second, s->positions, s->velocities, report, reached));
cleanup:
    return status;
}
/* Where TR-BDF2 ended, over where the scheme of third order on its three velocities would have (Hosea and Shampine 1996): the largest distance of a free
   vertex. A body that is thrown about too fast for its step is told by it: flesh folds or flips in a single stage then, and flips back in the next. */
static double local_error(const SnStepper *s, const SnState *state, double h)
{
    const double gamma = 2.0 - sqrt(2.0), k = 2.0 * h * (-3.0 * gamma * gamma + 4.0 * gamma - 2.0) / (12.0 * (2.0 - gamma));
    double most = 0.0;
    for (size_t v = 0; v < s->world->vertex_count; v++) {
        double squared = 0.0;
        for (size_t a = 3 * v; a < 3 * v + 3 && !s->world->fixed[v]; a++) {
            double error = k * (state->velocities[a] / gamma - s->stage_velocities[a] / (gamma * (1.0 - gamma)) + s->velocities[a] / (1.0 - gamma));
            squared += error * error;
        }
        most = fmax(most, squared);
    }
    return sqrt(most);
}

/* Retakes the step by implicit Euler; bodies whose energy did not rise keep the one that they took, if they keep apart so. */
static SnStatus retake(SnContext *context, SnStepper *s, const SnDriver *drivers, double end, double h, const SnState *state,
                       SnStepReport *report, double *reached)
{
    SnStatus status = SN_OK;
    const SnWorld *world = s->world;
    size_t count = 3 * world->vertex_count;
    int all = memchr(s->risen, 0, world->body_count) == NULL;
    if (!all) {
        memcpy(s->kept_positions, s->positions, count * sizeof(double));
        memcpy(s->kept_velocities, s->velocities, count * sizeof(double));
    }
    if (s->contact != NULL) {
        sn_contact_retake(s->contact);
    }
    SN_TRY(implicit_euler(context, s, drivers, end, h, state, report, reached));
    for (size_t b = 0; b < world->body_count && !all; b++) {
        if (s->risen[b]) {
            size_t first = 3 * world->bodies[b].first_vertex, own = 3 * world->bodies[b].vertex_count;
            memcpy(s->kept_positions + first, s->positions + first, own * sizeof(double));
            memcpy(s->kept_velocities + first, s->velocities + first, own * sizeof(double));
        }
    }
    if (!all && s->contact != NULL) {
        int is_free = 0;
        if (!sn_contact_presses(s->contact) && *reached == 1.0) {
            SN_TRY(sn_contact_prove(context, s->contact, s->kept_positions, &is_free));
        }
        all = !is_free;
    }
    if (!all) {
        memcpy(s->positions, s->kept_positions, count * sizeof(double));
        memcpy(s->velocities, s->kept_velocities, count * sizeof(double));
    }
cleanup:
    return status;
}

/* Where the state has what each term carries. */
static void find_inner(SnStepper *s, const SnState *state)
{
    size_t place = 0;
    for (size_t t = 0; t < s->world->term_count; t++) {
        const SnTerm *term = s->world->terms + t;
        s->inner[t] = state->inner != NULL && term->kind->inner_size > 0 ? state->inner + place : NULL;
        place += (size_t)term->kind->inner_size * term->stencils.count;
    }
}

/* The state becomes the result of the step, and what terms carry follows it. */
static void accept_step(const SnStepper *s, SnState *state)
{
    size_t bytes = 3 * s->world->vertex_count * sizeof(double);
    memcpy(state->positions, s->positions, bytes);
    memcpy(state->velocities, s->velocities, bytes);
    for (size_t t = 0; t < s->world->term_count; t++) {
        const SnTerm *term = s->world->terms + t;
        if (s->inner[t] != NULL) {
            double *inner = state->inner + (s->inner[t] - state->inner);
            term->kind->flow(term->elements, s->inputs + t, state->positions + 3 * term->stencils.first, inner);
        }
    }
}
/* One step; where something is in the way it ends there: `reached` of it is done. `is_rest`: it is what was left of one. */
static SnStatus step(SnContext *context, SnStepper *s, const SnDriver *drivers, SnScheme scheme, double begin, double end, double interval,
                     int is_rest, SnState *into, SnStepReport *report, double *reached)
{
    SnStatus status = SN_OK;
    SnState from = *into;
    const SnState *state = &from;
    double h = (end - begin) * interval;
    s->error = 0.0;
    SN_TRY(sn_stepper_prepare_start(context, s, drivers, begin, begin, is_rest ? end : begin));
    SN_TRY(sn_stepper_bound_rows(context, s, begin, interval, h, state));
    if (s->contact != NULL) {
        SN_TRY(sn_contact_begin_step(context, s->contact, begin, s->pose_begin, state->positions));
    }
    if (s->stage.varies && !is_rest && s->settings.expression == SN_EXPRESSION_VARIABLE) {
        SN_TRY(sn_stepper_transport(context, s, drivers, begin, end, h, into, &from, report));
    }
    if (s->settings.expression == SN_EXPRESSION_REBALANCED) {
        SN_TRY(sn_stepper_rebalance(context, s, drivers, begin, end, h, state, report));
        *reached = 1.0;
    } else if (scheme == SN_SCHEME_TR_BDF2) {
        SN_TRY(tr_bdf2(context, s, drivers, begin, end, h, state, report, reached));
        s->error = *reached < 1.0 ? 0.0 : local_error(s, state, h);
        if (*reached < 1.0) {
            memset(s->risen, 1, s->world->body_count);
        }
        if (*reached < 1.0 || sn_stepper_find_risen(s, state) > 0) {
            report->fallbacks++;
            SN_TRY(retake(context, s, drivers, end, h, state, report, reached));
        }
    } else {
        SN_TRY(implicit_euler(context, s, drivers, end, h, state, report, reached));
    }
    h *= fmax(*reached, SN_STEPPER_NO_PART);
    for (size_t k = 0; k < 3 * s->world->vertex_count; k++) {
        double before = state->velocities[k] - s->pose_velocity_begin[k], after = s->velocities[k] - s->pose_velocity[k];
        double acceleration = (after - before) / h;
        s->expected[k] = acceleration + (s->has_acceleration ? acceleration - s->acceleration[k] : 0.0);
        s->acceleration[k] = acceleration;
    }
    s->has_acceleration = *reached == 1.0 && s->part == 1.0; /* a part of a step says nothing about the next */
    accept_step(s, into);
cleanup:
    return status;
}

SnStatus sn_stepper_step(SnContext *context, SnStepper *s, const SnDriver *drivers, double begin, double end, double interval,
                         SnState *state, SnStepReport *report)
{
    SnStatus status = SN_OK;
    SnScheme scheme = s->settings.scheme;
    double reached = 0.0, whole = end - begin;
    find_inner(s, state);
    for (int parts = 1; reached < 1.0; parts++) { /* what is left of a step is one of its own */
        s->part = (end - begin) / whole;
        if (s->contact != NULL) {
            sn_contact_let_go(s->contact, parts == PARTS_MOST || s->part < PART_LEAST);
        }
        SN_TRY(sn_context_look(context));
        SN_TRY(step(context, s, drivers, scheme, begin, end, interval, parts > 1, state, report, &reached));
        begin += reached * (end - begin);
        scheme = SN_SCHEME_IMPLICIT_EULER;
    }
cleanup:
    return status;
}
