/* Whether the energy of a step rose beyond what its input can have brought in. */
#include "dynamics/stepper.h"

#include <math.h>
#include <string.h>

/* The energy bound of a step is an estimate where the input bends within it: this fraction of the input's own kinetic energy is
   let pass, and this much of the energy itself, because TR-BDF2 keeps that of a large free swing only to its order. */
#define INPUT_SLACK 0.01
#define ENERGY_SLACK 0.02

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
    if (s->bounds != NULL) {
        sum += sn_row_bounds_energy(s->bounds, &s->stage, body, positions);
    }
    return sum + sn_springs_pull(&springs, s->stage.spring_targets + place, positions, s->pull + place);
}

double sn_stepper_work_of_loads(const SnStepper *s, const SnBody *body, const double *from, const double *to)
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
    double bound = kinetic_begin + stored_begin + sn_stepper_work_of_loads(s, body, carried, s->positions);
    return 0.5 * speed_end * speed_end + stored_end - (bound + slack + 10.0 * sn_newton_rounding(s->newton));
}

size_t sn_stepper_find_risen(SnStepper *s, const SnState *state)
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

double sn_stepper_offset_energy(SnStepper *s, const SnBody *body, const double *positions)
{
    return stored_energy(s, body, positions) - stored_energy(s, body, s->stage.pose);
}
