/* Simulations that advance together: the bodies of one world, with one substep, each with its own state. A method's simulation alone is an
   ensemble of one, so there is one loop over substeps for all. */
#ifndef SN_DYNAMICS_ENSEMBLE_H
#define SN_DYNAMICS_ENSEMBLE_H

#include "dynamics/time_step.h"

/* What a method brings into an ensemble; all of it must outlive that. */
typedef struct SnMember {
    const SnWorld *world;
    const SnDriver *drivers; /* one a body of its world, set up for the interval in hand before the ensemble advances */
    SnStepSettings step;
    int substeps;            /* that it needs in an interval */
    double interval;         /* seconds */
    void *self;
    /* Before and after the substep that ends at a fraction of the interval; `state` is its own. Null: nothing to do. */
    void (*begin_substep)(void *self, double end);
    void (*end_substep)(void *self, double end, SnState *state);
} SnMember;

typedef struct SnEnsemble SnEnsemble;

/* Members have one interval and one scheme; the finest substep and the smallest tolerance of them counts for all. */
SnStatus sn_ensemble_create(SnContext *context, size_t count, const SnMember *members, SnEnsemble **ensemble);
void sn_ensemble_destroy(SnEnsemble *ensemble);
int sn_ensemble_substeps(const SnEnsemble *ensemble);

/* Advances the members' states by one interval. It starts with a fresh factor, so that each is a checkpoint. On failure, a cancelled one
   too, states are to be thrown away. */
SnStatus sn_ensemble_advance(SnContext *context, SnEnsemble *ensemble, SnState *states, SnStepReport *report);

#endif
