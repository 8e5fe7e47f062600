/* What a stepper holds: made, released, forgotten. */
#include "dynamics/stepper.h"

#include "base/memory.h"

#include <string.h>

/* All arrays but those of terms, with their sizes: made and released in one place. */
#define ARRAYS_MOST 34
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
                    {&s->stage.row_most, rows},
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
    sn_row_bounds_destroy(s->bounds);
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

double sn_stepper_error(const SnStepper *s)
{
    return s->error;
}
