#include "dynamics/ensemble.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

#define FINEST 4       /* parts of a substep, at most */
#define COARSER 0.125  /* of what is too rough: twice as long a step, whose error is eight times as large, will do */
#define IMPACT 10.0    /* times as rough, where something presses: speeds jump there, in steps of any length */
#define WILD 100.0     /* times too rough: nothing swings so. Long steps calm what is torn out of its shape, short ones would have it fly */

struct SnEnsemble {
    size_t count;
    SnMember *members;
    SnWorld joined;       /* of several members */
    const SnWorld *world; /* that, or the only member's own */
    SnDriver *drivers;    /* one a body */
    SnState state;        /* of the joined world; the only member's own serves by itself */
    SnState *own;         /* members: their parts of it */
    SnStepper *stepper;
    SnContact *contact;   /* or null; not owned */
    SnState ended;        /* of the world, how the last interval ended; only with contact */
    double *changed;      /* vertices x 3 of the world; only with contact */
    SnState before;       /* of the world, before the step in hand; only where steps may be too rough */
    double rough;         /* see SnStepSettings */
    int substeps;
};

static SnStatus check_members(SnContext *context, size_t count, const SnMember *members)
{
    for (size_t m = 1; m < count; m++) {
        if (members[m].interval != members[0].interval) {
            return sn_context_fail(context, SN_BAD_INPUT,
                                   "Setups that are simulated together need the same frame rate and samples a frame: make them equal.");
        }
        if (members[m].step.scheme != members[0].step.scheme || members[m].step.newton_rounds != members[0].step.newton_rounds) {
            return sn_context_fail(context, SN_BAD_INPUT,
                                   "Setups that are simulated together need the same integrator and Newton rounds: make them equal.");
        }
        if (members[m].step.expression != members[0].step.expression || members[m].step.inertia != members[0].step.inertia) {
            return sn_context_fail(context, SN_BAD_INPUT,
                                   "Setups that are simulated together need the same way of leaving out expressions: make them equal.");
        }
    }
    return SN_OK;
}

/* One world of all members, a state of it, and what of it is whose. */
static SnStatus join(SnContext *context, SnEnsemble *ensemble)
{
    SnStatus status = SN_OK;
    const SnWorld **worlds = NULL;
    SN_TRY_NEW(context, worlds, ensemble->count, const SnWorld *);
    for (size_t m = 0; m < ensemble->count; m++) {
        worlds[m] = ensemble->members[m].world;
    }
    SN_TRY(sn_world_join(context, ensemble->count, worlds, &ensemble->joined));
    ensemble->world = &ensemble->joined;
    SN_TRY(sn_state_init(context, ensemble->joined.vertex_count, &ensemble->state));
    SN_TRY_NEW(context, ensemble->state.inner, sn_world_inner_count(&ensemble->joined), double);
    for (size_t m = 0, first = 0, inner = 0; m < ensemble->count; m++) {
        ensemble->own[m] = (SnState){.positions = ensemble->state.positions + first,
                                     .velocities = ensemble->state.velocities + first,
                                     .inner = ensemble->state.inner + inner};
        first += 3 * worlds[m]->vertex_count;
        inner += sn_world_inner_count(worlds[m]);
    }
cleanup:
    sn_release(worlds);
    return status;
}

SnStatus sn_ensemble_create(SnContext *context, size_t count, const SnMember *members, SnEnsemble **out)
{
    SnStatus status = SN_OK;
    SnEnsemble *ensemble = NULL;
    SnStepSettings step = members[0].step;
    size_t bodies = 0;
    *out = NULL;
    SN_TRY(check_members(context, count, members));
    SN_TRY_NEW(context, ensemble, 1, SnEnsemble);
    SN_TRY_NEW(context, ensemble->members, count, SnMember);
    SN_TRY_NEW(context, ensemble->own, count, SnState);
    memcpy(ensemble->members, members, count * sizeof *members);
    ensemble->count = count;
    ensemble->world = members[0].world;
    if (count > 1) {
        SN_TRY(join(context, ensemble));
    }
    SN_TRY_NEW(context, ensemble->drivers, ensemble->world->body_count, SnDriver);
    for (size_t m = 0; m < count; m++) {
        step.step_tolerance = fmin(step.step_tolerance, members[m].step.step_tolerance);
        step.rough = members[m].step.rough > 0.0 ? fmin(step.rough > 0.0 ? step.rough : INFINITY, members[m].step.rough) : step.rough;
        ensemble->substeps = members[m].substeps > ensemble->substeps ? members[m].substeps : ensemble->substeps;
        for (size_t b = 0; b < members[m].world->body_count; b++) {
            ensemble->drivers[bodies++] = members[m].drivers[b];
        }
    }
    ensemble->rough = step.rough;
    if (step.rough > 0.0) {
        SN_TRY(sn_state_init(context, ensemble->world->vertex_count, &ensemble->before));
        SN_TRY_NEW(context, ensemble->before.inner, sn_world_inner_count(ensemble->world), double);
    }
    SN_TRY(sn_stepper_create(context, ensemble->world, &step, &ensemble->stepper));
    *out = ensemble;
cleanup:
    if (status != SN_OK) {
        sn_ensemble_destroy(ensemble);
    }
    return status;
}

void sn_ensemble_destroy(SnEnsemble *ensemble)
{
    if (ensemble == NULL) {
        return;
    }
    sn_stepper_destroy(ensemble->stepper);
    sn_state_clear(&ensemble->state);
    sn_state_clear(&ensemble->ended);
    sn_state_clear(&ensemble->before);
    sn_release(ensemble->changed);
    sn_world_clear(&ensemble->joined);
    sn_release(ensemble->members);
    sn_release(ensemble->drivers);
    sn_release(ensemble->own);
    sn_release(ensemble);
}

int sn_ensemble_substeps(const SnEnsemble *ensemble)
{
    return ensemble->substeps;
}

size_t sn_ensemble_size(const SnEnsemble *ensemble)
{
    return ensemble->count;
}

const SnWorld *sn_ensemble_world(const SnEnsemble *ensemble)
{
    return ensemble->world;
}

const SnMember *sn_ensemble_member(const SnEnsemble *ensemble, size_t member, size_t *first_vertex)
{
    *first_vertex = 0;
    for (size_t m = 0; m < member; m++) {
        *first_vertex += ensemble->members[m].world->vertex_count;
    }
    return ensemble->members + member;
}

SnStatus sn_ensemble_collide(SnContext *context, SnEnsemble *ensemble, SnContact *contact)
{
    SnStatus status = SN_OK;
    if (contact != NULL && ensemble->changed == NULL) {
        SN_TRY(sn_state_init(context, ensemble->world->vertex_count, &ensemble->ended));
        SN_TRY_NEW(context, ensemble->changed, 3 * ensemble->world->vertex_count, double);
    }
    ensemble->contact = contact;
    sn_stepper_collide(ensemble->stepper, contact);
cleanup:
    return status;
}

/* One step, and what members do around it. If it `may_be_cut` and `is_rough`, nothing was done. */
static SnStatus take_step(SnContext *context, SnEnsemble *ensemble, double begin, double end, int may_be_cut, SnState *state, SnState *own,
                          SnStepReport *report, int *is_rough)
{
    SnStatus status = SN_OK;
    SnState before = {ensemble->before.positions, ensemble->before.velocities, state->inner != NULL ? ensemble->before.inner : NULL};
    for (size_t m = 0; m < ensemble->count; m++) {
        if (ensemble->members[m].begin_substep != NULL) {
            ensemble->members[m].begin_substep(ensemble->members[m].self, end);
        }
    }
    if (may_be_cut) {
        sn_state_copy(ensemble->world, state, &before);
    }
    SN_TRY(sn_stepper_step(context, ensemble->stepper, ensemble->drivers, begin, end, ensemble->members[0].interval, state, report));
    double error = sn_stepper_error(ensemble->stepper);
    double impact = ensemble->contact != NULL && sn_contact_presses(ensemble->contact) ? IMPACT : 1.0;
    *is_rough = may_be_cut && error > impact * ensemble->rough && error < WILD * ensemble->rough;
    if (*is_rough) {
        sn_state_copy(ensemble->world, &before, state);
        if (ensemble->contact != NULL) {
            sn_contact_retake(ensemble->contact);
        }
        goto cleanup;
    }
    report->steps++;
    for (size_t m = 0; m < ensemble->count; m++) {
        if (ensemble->members[m].end_substep != NULL) {
            ensemble->members[m].end_substep(ensemble->members[m].self, end, own + m);
        }
    }
cleanup:
    return status;
}

/* All steps of an interval, counted in parts of a substep: each is a whole one, unless that is too rough. */
static SnStatus take_steps(SnContext *context, SnEnsemble *ensemble, SnState *state, SnState *own, SnStepReport *report)
{
    SnStatus status = SN_OK;
    int count = FINEST * ensemble->substeps, length = FINEST;
    for (int at = 0; at < count;) {
        int is_rough = 0;
        SN_TRY(sn_context_advance(context, at / FINEST));
        SN_TRY(take_step(context, ensemble, (double)at / count, (double)(at + length) / count, ensemble->rough > 0.0 && length > 1, state, own, report,
                         &is_rough));
        if (is_rough) {
            length /= 2;
            continue;
        }
        at += length;
        int is_calm = sn_stepper_error(ensemble->stepper) < COARSER * ensemble->rough;
        length *= length < FINEST && at % (2 * length) == 0 && is_calm ? 2 : 1;
    }
cleanup:
    return status;
}

SnStatus sn_ensemble_advance(SnContext *context, SnEnsemble *ensemble, SnState *states, SnStepReport *report)
{
    SnStatus status = SN_OK;
    int alone = ensemble->count == 1;
    SnState *state = alone ? states : &ensemble->state, *own = alone ? states : ensemble->own;
    for (size_t m = 0; m < ensemble->count && !alone; m++) {
        sn_state_copy(ensemble->members[m].world, states + m, own + m);
    }
    sn_context_stage(context, "Simulating", ensemble->substeps);
    sn_stepper_forget(ensemble->stepper);
    SN_TRY(take_steps(context, ensemble, state, own, report));
    if (ensemble->contact != NULL) {
        size_t bytes = 3 * ensemble->world->vertex_count * sizeof(double);
        memcpy(ensemble->ended.positions, state->positions, bytes);
        memcpy(ensemble->ended.velocities, state->velocities, bytes);
    }
    for (size_t m = 0; m < ensemble->count && !alone; m++) {
        sn_state_copy(ensemble->members[m].world, own + m, states + m);
    }
cleanup:
    return status;
}

SnStatus sn_ensemble_prove(SnContext *context, SnEnsemble *ensemble, SnState *states, int *kept)
{
    SnStatus status = SN_OK;
    size_t first = 0;
    *kept = 1;
    if (ensemble->contact == NULL) {
        goto cleanup;
    }
    for (size_t m = 0; m < ensemble->count; m++) {
        size_t count = 3 * ensemble->members[m].world->vertex_count;
        memcpy(ensemble->changed + first, states[m].positions, count * sizeof(double));
        first += count;
    }
    SN_TRY(sn_contact_prove(context, ensemble->contact, ensemble->changed, kept));
    first = 0;
    for (size_t m = 0; m < ensemble->count && !*kept; m++) {
        size_t count = 3 * ensemble->members[m].world->vertex_count;
        memcpy(states[m].positions, ensemble->ended.positions + first, count * sizeof(double));
        memcpy(states[m].velocities, ensemble->ended.velocities + first, count * sizeof(double));
        first += count;
    }
cleanup:
    return status;
}
