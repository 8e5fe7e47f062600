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
#include "dynamics/time_step.h"

#include "base/memory.h"
#include "dynamics/plane_groups.h"

#include <math.h>
#include <string.h>

#define MAX_ROUNDS 60
#define TRANSPORT_TOLERANCE 0.1 /* of that of a step: what is off adds up over many */
#define TRANSPORT_HOLD 1e-12    /* of the inertia in a step: what keeps a body in place that nothing holds */
#define TRANSPORT_SWING 2.0     /* times as far as a vertex is from the input, and ... */
#define TRANSPORT_FAR 0.01      /* ... of the size of the body farther than that no transport takes it */
#define PARTS_MOST 100 /* of a step that something is in the way of: the last goes through with it */
#define NO_PART 1e-9   /* of a step: nothing of it was done */
/* The energy bound of a step is an estimate where the input bends within it: this fraction of the input's own kinetic energy is
   let pass, and this much of the energy itself, because TR-BDF2 keeps that of a large free swing only to its order. */
#define INPUT_SLACK 0.01
#define ENERGY_SLACK 0.02

struct SnStepper {
    const SnWorld *world;
    SnStepSettings settings;
    SnNewton *newton;
    SnNewton *transport;               /* of the same without inertia; made when a material changes for the first time */
    double *element_gradients;
    double *energies;                  /* of chunks of elements */
    SnStage stage;                     /* the moment prepared last; its poses are one of the next two pairs */
    double *pose, *pose_velocity;      /* ū, v̄ at the end of the stage */
    double *pose_begin, *pose_velocity_begin; /* at the start of the step */
    double *shift, *shift_begin;       /* E at both */
    SnTermInput inputs[SN_TERMS_MOST]; /* of the stage, with the damping in it */
    const double *inner[SN_TERMS_MOST]; /* what the state carries for each term; null: nothing */
    double *damping_shape[SN_TERMS_MOST]; /* see SnDamping */
    double *force;                     /* F_n */
    double *offset, *predicted;        /* p, x̂ */
    double *pose_offset;               /* p̄: the same of the input */
    double *diagonal, *targets, *centre;
    double *stage_positions, *stage_velocities; /* x_a, v_a */
    double *positions, *velocities;    /* result of the step, copied to the state on success */
    double *row_work;                  /* values of the exact rows, and ... */
    double *pull;                      /* ... of the springs */
    double *kept_positions, *kept_velocities; /* of a step that some of several bodies retake */
    unsigned char *risen;              /* bodies whose energy rose in it */
    int32_t *groups;                   /* bodies: see sn_plane_groups */
    double *acceleration;              /* of the last step, relative to the input */
    double *expected;                  /* what it is to be in the next one if it goes on changing as it did */
    double *moved;                     /* where a transport has taken the start of the step */
    double *stored;                    /* bodies: energy over the input before it */
    int has_acceleration;
    SnContact *contact;                /* or null; not owned */
    double part;                       /* of what was asked for, that the step in hand is */
    double factor_tau;                 /* stage length that Newton's factor belongs to; 0: none */
};

/* All arrays but those of terms, with their sizes: made and released in one place. */
#define ARRAYS_MOST 33
typedef struct Array {
    double **at;
    size_t count;
} Array;

static size_t list_arrays(SnStepper *s, Array arrays[ARRAYS_MOST])
{
    const SnWorld *world = s->world;
    size_t vertices = world->vertex_count, n = 3 * vertices, rows = world->constraints.size;
    Array list[] = {{&s->element_gradients, 3 * sn_terms_corner_count(world->term_count, world->terms)},
                    {&s->energies, sn_terms_partial_count(world->term_count, world->terms)},
                    {&s->stage.drive, vertices},
                    {&s->stage.drag, vertices},
                    {&s->stage.loads, n},
                    {&s->stage.row_targets, rows},
                    {&s->stage.row_rates, rows},
                    {&s->row_work, rows},
                    {&s->stage.spring_targets, world->springs.size},
                    {&s->pull, world->springs.size},
                    {&s->pose, n},
                    {&s->pose_velocity, n},
                    {&s->pose_begin, n},
                    {&s->pose_velocity_begin, n},
                    {&s->shift, n},
                    {&s->shift_begin, n},
                    {&s->force, n},
                    {&s->offset, n},
                    {&s->predicted, n},
                    {&s->pose_offset, n},
                    {&s->diagonal, vertices},
                    {&s->targets, n},
                    {&s->centre, n},
                    {&s->stage_positions, n},
                    {&s->stage_velocities, n},
                    {&s->positions, n},
                    {&s->velocities, n},
                    {&s->kept_positions, world->body_count > 1 ? n : 0},
                    {&s->kept_velocities, world->body_count > 1 ? n : 0},
                    {&s->acceleration, n},
                    {&s->moved, n},
                    {&s->stored, world->body_count},
                    {&s->expected, n}};
    _Static_assert(sizeof list / sizeof *list <= ARRAYS_MOST, "there is room for all");
    memcpy(arrays, list, sizeof list);
    return sizeof list / sizeof *list;
}

/* What is free must weigh something: it has nothing else that keeps a step finite. */
static SnStatus check_masses(SnContext *context, const SnWorld *world)
{
    for (size_t v = 0; v < world->vertex_count; v++) {
        if (!world->fixed[v] && !(world->mass[v] > 0.0)) {
            return sn_context_fail(context, SN_BAD_INPUT, "Vertex %zu weighs nothing: raise the density, or remove loose vertices.", v);
        }
    }
    return SN_OK;
}

SnStatus sn_stepper_create(SnContext *context, const SnWorld *world, const SnStepSettings *settings, SnStepper **out)
{
    SnStatus status = SN_OK;
    SnStepper *s = NULL;
    Array arrays[ARRAYS_MOST];
    *out = NULL;
    SN_TRY(check_masses(context, world));
    SN_TRY_NEW(context, s, 1, SnStepper);
    s->world = world;
    s->settings = *settings;
    SN_TRY(sn_newton_create(context, world->term_count, world->terms, &world->assembly, &s->newton));
    SN_TRY(sn_newton_constrain(context, s->newton, &world->constraints, &world->springs));
    for (size_t t = 0; t < world->term_count; t++) {
        SN_TRY_NEW(context, s->damping_shape[t], (size_t)world->terms[t].kind->damping_size * world->terms[t].stencils.count, double);
    }
    SN_TRY_NEW(context, s->risen, world->body_count, unsigned char);
    SN_TRY_NEW(context, s->groups, world->body_count, int32_t);
    size_t count = list_arrays(s, arrays);
    for (size_t k = 0; k < count; k++) {
        SN_TRY_NEW(context, *arrays[k].at, arrays[k].count, double);
    }
    *out = s;
cleanup:
    if (status != SN_OK) {
        sn_stepper_destroy(s);
    }
    return status;
}

void sn_stepper_destroy(SnStepper *s)
{
    Array arrays[ARRAYS_MOST];
    if (s == NULL) {
        return;
    }
    sn_newton_destroy(s->newton);
    sn_newton_destroy(s->transport);
    size_t count = list_arrays(s, arrays);
    for (size_t k = 0; k < count; k++) {
        sn_release(*arrays[k].at);
    }
    for (size_t t = 0; t < SN_TERMS_MOST; t++) {
        sn_release(s->damping_shape[t]);
    }
    sn_release(s->risen);
    sn_release(s->groups);
    sn_release(s);
}

void sn_stepper_collide(SnStepper *s, SnContact *contact)
{
    s->contact = contact;
}

void sn_stepper_forget(SnStepper *s)
{
    s->factor_tau = 0.0;
    s->has_acceleration = 0;
    if (s->transport != NULL) {
        sn_newton_forget(s->transport);
    }
    if (s->contact != NULL) {
        sn_contact_forget(s->contact);
    }
}

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

/* The start of a step, with the material of another moment. */
static SnStatus prepare_start(SnContext *context, SnStepper *s, const SnDriver *drivers, double fraction, double material)
{
    s->stage.material = material;
    s->stage.varies = s->stage.has_changed = 0;
    s->stage.pose = s->pose_begin;
    s->stage.pose_velocity = s->pose_velocity_begin;
    s->stage.shift = s->shift_begin;
    return prepare_moment(context, s, drivers, fraction);
}

/* The end of a stage, whose offsets and prediction are those of y: what has no inertia takes them along. */
static SnStatus prepare_stage(SnContext *context, SnStepper *s, const SnDriver *drivers, double fraction)
{
    s->stage.pose = s->pose;
    s->stage.pose_velocity = s->pose_velocity;
    s->stage.shift = s->shift;
    SnStatus status = prepare_moment(context, s, drivers, fraction);
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

/* What is left of all forces but inertia and damping, with the input prepared last. */
static void evaluate_force(SnStepper *s, const double *positions, double *force)
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

/* F at the start of the step, from state and input alone: what TR-BDF2 builds on. */
static void evaluate_start(SnStepper *s, const SnState *state)
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

static void impose_rows(SnStepper *s, const double *targets, double *values)
{
    sn_constraints_impose(&s->world->constraints, targets, s->row_work, values);
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
    SnNewtonReport rounds;
} Minimum;

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
    SN_TRY(sn_newton_minimise(context, s->newton, &m->objective, &newton, positions, &m->rounds));
    if (m->start != NULL && first && !m->newton.single_full_step) {
        for (size_t k = 0; k < n; k++) {
            s->stage_positions[k] = world->fixed[k / 3] ? s->pose[k] : m->start[k];
        }
        impose_rows(s, s->stage.row_targets, s->stage_positions);
        if (!(m->rounds.value <= sn_newton_value(s->newton, &m->objective, s->stage_positions))) {
            memcpy(positions, s->stage_positions, n * sizeof *positions);
            SN_TRY(sn_newton_minimise(context, s->newton, &m->objective, &newton, positions, &m->rounds));
        }
    }
    if (planes != NULL) { /* forces that belong to the result */
        (void)sn_planes_value(planes, &world->assembly, positions, NULL);
    }
    balance_free_bodies(s, planes, positions);
    impose_rows(s, s->stage.row_targets, positions); /* to the last digits */
cleanup:
    return status;
}

static const double *find_hardness(void *self, const double *positions)
{
    const Minimum *m = self;
    return sn_newton_hardness(m->s->newton, &m->objective, positions);
}

/* A stage of a scheme: its length τ, and what contact has to know of it (dynamics/contact.h). */
typedef struct Stage {
    double tau, fraction;
    const double *start; /* where the stage starts, ... */
    int may_stay;        /* ... which is no worse a place than any other: see Minimum */
    double length, share, from_stage, from_begin;
} Stage;

/* Solves the stage that was prepared last, from offset p and prediction x̂ and the guess in `positions`. `reached`: how much of it, if
   something is in the way. */
static SnStatus solve_stage(SnContext *context, SnStepper *s, const Stage *stage, double *positions, double *velocities,
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
        .newton = {.max_rounds = s->settings.newton_rounds > 0 ? s->settings.newton_rounds : MAX_ROUNDS,
                   .single_full_step = s->settings.newton_rounds == 1,
                   .step_tolerance = (s->settings.scheme == SN_SCHEME_TR_BDF2 ? 0.5 : 1.0) * s->settings.step_tolerance}, /* shared by the stages */
        .start = stage->may_stay ? stage->start : NULL,
    };
    if (s->factor_tau != tau) {
        sn_newton_forget(s->newton);
        s->factor_tau = tau;
    }
    impose_rows(s, s->stage.row_targets, positions);
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
    for (size_t k = 0; k < 3 * world->vertex_count && *reached < 1.0; k++) { /* as much of what has no inertia */
        s->offset[k] -= (1.0 - *reached) * (s->shift[k] - s->shift_begin[k]);
    }
    for (size_t k = 0; k < 3 * world->vertex_count; k++) {
        double moved = *reached > NO_PART ? (positions[k] - s->offset[k]) / (*reached * tau) : (s->predicted[k] - s->offset[k]) / tau;
        velocities[k] = world->fixed[k / 3] ? s->pose_velocity[k] : moved;
    }
    impose_rows(s, s->stage.row_rates, velocities);
cleanup:
    return status;
}

/* The guess of the stage prepared last: the state carried along by the input, and for `coast` seconds by its own motion relative to it,
   which goes on changing as in the last step. A single round is to linearise at the start of the step: it does not coast. */
static void guess_stage(const SnStepper *s, const SnState *state, double coast, double *positions)
{
    coast = s->settings.newton_rounds == 1 ? 0.0 : coast;
    /* implicit Euler moves by its new velocity; TR-BDF2 gains nothing */
    double bend = s->settings.scheme == SN_SCHEME_IMPLICIT_EULER && s->has_acceleration ? coast * coast : 0.0;
    for (size_t k = 0; k < 3 * s->world->vertex_count; k++) {
        positions[k] = state->positions[k] + (s->pose[k] - s->pose_begin[k]) +
                       coast * (state->velocities[k] - s->pose_velocity_begin[k]) + bend * s->expected[k];
    }
}

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
    SN_TRY(prepare_stage(context, s, drivers, end));
    guess_stage(s, state, h, s->positions);
    Stage stage = {.tau = h, .fraction = end, .start = state->positions, .may_stay = 1, .length = h, .share = 1.0, .from_begin = 1.0};
    SN_TRY(solve_stage(context, s, &stage, s->positions, s->velocities, report, reached));
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
    evaluate_start(s, state);
    for (size_t k = 0; k < n; k++) {
        double acceleration = s->world->fixed[k / 3] ? 0.0 : s->force[k] / s->world->mass[k / 3];
        s->offset[k] = state->positions[k] - s->shift_begin[k] + tau * state->velocities[k];
        s->pose_offset[k] = s->pose_begin[k] - s->shift_begin[k] + tau * s->pose_velocity_begin[k];
        s->predicted[k] = s->offset[k] + tau * (state->velocities[k] + tau * acceleration);
    }
    double middle = begin + 2.0 * theta * (end - begin);
    Stage first = {.tau = tau, .fraction = middle, .start = state->positions, .length = 2.0 * tau, .share = 2.0,
                   .from_begin = 1.0};
    SN_TRY(prepare_stage(context, s, drivers, middle));
    guess_stage(s, state, 2.0 * tau, s->stage_positions);
    SN_TRY(solve_stage(context, s, &first, s->stage_positions, s->stage_velocities, report, reached));
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
    SN_TRY(prepare_stage(context, s, drivers, end));
    for (size_t k = 0; k < n; k++) {
        s->positions[k] += s->pose[k];
    }
    Stage second = {.tau = tau, .fraction = end, .start = s->stage_positions, .length = tau, .share = 1.0, .from_stage = c1, .from_begin = -c0};
    SN_TRY(solve_stage(context, s, &second, s->positions, s->velocities, report, reached));
cleanup:
    return status;
}

/* Elastic and driving energy of a body for the pose prepared last: never negative. */
static double stored_energy(SnStepper *s, const SnBody *body, const double *positions)
{
    const SnWorld *world = s->world;
    SnTermInput inputs[SN_TERMS_MOST];
    for (size_t t = 0; t < body->term_count; t++) { /* not damped */
        const SnTermInput *input = s->inputs + body->first_term + t;
        inputs[t] = (SnTermInput){.data = input->data, .inner = input->inner};
    }
    double sum = sn_terms_value(body->term_count, world->terms + body->first_term, inputs, positions, s->energies, NULL);
    for (size_t v = body->first_vertex; v < body->first_vertex + body->vertex_count; v++) {
        for (size_t k = 3 * v; k < 3 * v + 3 && !world->fixed[v]; k++) {
            double distance = positions[k] - s->stage.pose[k];
            sum += 0.5 * s->stage.drive[v] * distance * distance;
        }
    }
    size_t place = sn_rows_place(&world->springs.rows, body->first_spring);
    SnSprings springs = {.rows = sn_rows_part(&world->springs.rows, body->first_spring, body->spring_count)};
    springs.size = sn_rows_size(&springs.rows);
    return sum + sn_springs_pull(&springs, s->stage.spring_targets + place, positions, s->pull + place);
}

/* Work of the loads on free vertices of a body that go from one place to another. */
static double work_of_loads(const SnStepper *s, const SnBody *body, const double *from, const double *to)
{
    double sum = 0.0;
    for (size_t v = body->first_vertex; v < body->first_vertex + body->vertex_count; v++) {
        for (size_t a = 3 * v; a < 3 * v + 3 && !s->world->fixed[v]; a++) {
            sum += s->stage.loads[a] * (to[a] - from[a]);
        }
    }
    return sum;
}

/* Mass norm of the difference of two velocity fields over the free vertices of a body; no second one counts as zero. */
static double mass_norm(const SnWorld *world, const SnBody *body, const double *left, const double *right)
{
    double sum = 0.0;
    for (size_t v = body->first_vertex; v < body->first_vertex + body->vertex_count; v++) {
        for (size_t a = 0; a < 3 && !world->fixed[v]; a++) {
            double difference = left[3 * v + a] - (right ? right[3 * v + a] : 0.0);
            sum += world->mass[v] * difference * difference;
        }
    }
    return sqrt(sum);
}

/* By how much the energy of a body relative to the input rose beyond what the input can have brought in: negative if it did not. Seen from
   the moving input, its acceleration adds at most |Δv̄| to the velocity, and its deformation changes the potential of the offsets that were there.
   The pose prepared last must be that of the end of the step; `carried`: the state at its start, carried along to it. */
static double find_excess(SnStepper *s, const SnBody *body, const SnState *state, const double *carried)
{
    const SnWorld *world = s->world;
    double speed_begin = mass_norm(world, body, state->velocities, s->pose_velocity_begin);
    double speed_end = mass_norm(world, body, s->velocities, s->pose_velocity);
    double speed_added = mass_norm(world, body, s->pose_velocity, s->pose_velocity_begin);
    double stored_end = stored_energy(s, body, s->positions), stored_begin = stored_energy(s, body, carried);
    double kinetic_begin = 0.5 * (speed_begin + speed_added) * (speed_begin + speed_added);
    double input_speed = fmax(mass_norm(world, body, s->pose_velocity, NULL), mass_norm(world, body, s->pose_velocity_begin, NULL));
    double slack = ENERGY_SLACK * (kinetic_begin + stored_begin) + INPUT_SLACK * 0.5 * input_speed * input_speed;
    double bound = kinetic_begin + stored_begin + work_of_loads(s, body, carried, s->positions);
    return 0.5 * speed_end * speed_end + stored_end - (bound + slack + 10.0 * sn_newton_rounding(s->newton));
}

/* Marks the bodies whose energy rose in the step. Returns how many. Bodies that touch pass energy on: there the sum counts, with what
   moving sides have done, for all of them. */
static size_t find_risen(SnStepper *s, const SnState *state)
{
    const SnWorld *world = s->world;
    size_t found = 0;
    int together = s->contact != NULL && sn_contact_presses(s->contact);
    double sum = together ? -(1.0 + ENERGY_SLACK) * fmax(sn_contact_work(s->contact), 0.0) : 0.0;
    for (size_t k = 0; k < 3 * world->vertex_count; k++) {
        s->stage_positions[k] = s->pose[k] + (state->positions[k] - s->pose_begin[k]);
    }
    for (size_t b = 0; b < world->body_count; b++) {
        double excess = find_excess(s, world->bodies + b, state, s->stage_positions);
        s->risen[b] = (unsigned char)!(excess <= 0.0);
        sum += excess;
        found += s->risen[b];
    }
    if (together) {
        found = !(sum <= 0.0) ? world->body_count : 0;
        memset(s->risen, found > 0, world->body_count);
    }
    return found;
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

/* Energy over the input: 0 in the pose. */
static double offset_energy(SnStepper *s, const SnBody *body, const double *positions)
{
    return stored_energy(s, body, positions) - stored_energy(s, body, s->stage.pose);
}

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
    double after = offset_energy(s, body, to), allowed = fmax(s->stored[body - s->world->bodies], 0.0);
    allowed += fmax(work_of_loads(s, body, from, to), 0.0);
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
    SnNewtonSettings newton = {.max_rounds = MAX_ROUNDS, .step_tolerance = TRANSPORT_TOLERANCE * s->settings.step_tolerance};
    SN_TRY(sn_newton_minimise(context, s->transport, &objective, &newton, positions, &rounds));
    report->rounds += rounds.rounds;
    report->factorizations += rounds.factorizations;
    *converged = rounds.converged;
cleanup:
    return status;
}

/* Where a step starts from whose material is another at its end: the force is kept, not the place. The start must have been prepared with the old
   material, and is with the new one afterwards. `from`: the state, or that which was moved. */
static SnStatus transport(SnContext *context, SnStepper *s, const SnDriver *drivers, double begin, double end, double h, const SnState *state,
                          SnState *from, SnStepReport *report)
{
    SnStatus status = SN_OK;
    const SnWorld *world = s->world;
    size_t n = 3 * world->vertex_count;
    int converged, is_free = 1;
    evaluate_force(s, state->positions, s->force);
    for (size_t b = 0; b < world->body_count; b++) {
        s->stored[b] = offset_energy(s, world->bodies + b, state->positions);
    }
    SN_TRY(prepare_start(context, s, drivers, begin, end));
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

/* The end of a step with the old expression, its rest shape and material: the new head alone. s->pose, the pose of
   the end before, is that. */
static SnStatus prepare_old_expression(SnContext *context, SnStepper *s, const SnDriver *drivers, double begin)
{
    SnStatus status = SN_OK;
    const SnWorld *world = s->world;
    for (size_t k = 0; k < 3 * world->vertex_count; k++) {
        s->pose[k] -= s->shift[k] - s->shift_begin[k];
    }
    SN_TRY(prepare_start(context, s, drivers, begin, begin));
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
    guess_stage(s, state, h, positions);
    Stage stage = {.tau = h, .fraction = end, .start = state->positions, .length = h, .share = 1.0, .from_begin = 1.0};
    SN_TRY(solve_stage(context, s, &stage, positions, velocities, report, &reached));
    evaluate_force(s, positions, force);
cleanup:
    return status;
}

/* Dynamic rebalancing. Forces are those of the step with the old expression, mixed with those of an ordinary one as far as expressions are to have
   inertia; positions are where the new expression has them. */
static SnStatus rebalance(SnContext *context, SnStepper *s, const SnDriver *drivers, double begin, double end, double h, const SnState *state,
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
    SN_TRY(prepare_stage(context, s, drivers, end));
    SN_TRY(prepare_old_expression(context, s, drivers, begin));
    SN_TRY(step_towards(context, s, end, h, state, s->positions, s->velocities, s->force, report));
    for (size_t k = 0; k < n; k++) {
        s->positions[k] += s->shift[k] - s->shift_begin[k];
    }
    s->stage.material = end;
    SN_TRY(prepare_stage(context, s, drivers, end));
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
    impose_rows(s, s->stage.row_targets, s->positions);
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

/* One step; where something is in the way it ends there: `reached` of it is done. `is_rest`: it is what was left of one. */
static SnStatus step(SnContext *context, SnStepper *s, const SnDriver *drivers, SnScheme scheme, double begin, double end, double interval,
                     int is_rest, SnState *into, SnStepReport *report, double *reached)
{
    SnStatus status = SN_OK;
    SnState from = *into;
    const SnState *state = &from;
    double h = (end - begin) * interval;
    SN_TRY(prepare_start(context, s, drivers, begin, is_rest ? end : begin));
    if (s->contact != NULL) {
        SN_TRY(sn_contact_begin_step(context, s->contact, begin, s->pose_begin, state->positions));
    }
    if (s->stage.varies && !is_rest && s->settings.expression == SN_EXPRESSION_VARIABLE) {
        SN_TRY(transport(context, s, drivers, begin, end, h, into, &from, report));
    }
    if (s->settings.expression == SN_EXPRESSION_REBALANCED) {
        SN_TRY(rebalance(context, s, drivers, begin, end, h, state, report));
        *reached = 1.0;
    } else if (scheme == SN_SCHEME_TR_BDF2) {
        SN_TRY(tr_bdf2(context, s, drivers, begin, end, h, state, report, reached));
        if (*reached < 1.0) {
            memset(s->risen, 1, s->world->body_count);
        }
        if (*reached < 1.0 || find_risen(s, state) > 0) {
            report->fallbacks++;
            SN_TRY(retake(context, s, drivers, end, h, state, report, reached));
        }
    } else {
        SN_TRY(implicit_euler(context, s, drivers, end, h, state, report, reached));
    }
    h *= fmax(*reached, NO_PART);
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
        if (s->contact != NULL) {
            sn_contact_let_go(s->contact, parts == PARTS_MOST);
        }
        s->part = (end - begin) / whole;
        SN_TRY(sn_context_look(context));
        SN_TRY(step(context, s, drivers, scheme, begin, end, interval, parts > 1, state, report, &reached));
        begin += reached * (end - begin);
        scheme = SN_SCHEME_IMPLICIT_EULER;
    }
cleanup:
    return status;
}
