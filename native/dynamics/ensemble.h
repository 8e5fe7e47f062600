/* Simulations that advance together: the bodies of one world, with one substep, each with its own state. A method's simulation alone is an
   ensemble of one, so there is one loop over substeps for all. */
#ifndef SN_DYNAMICS_ENSEMBLE_H
#define SN_DYNAMICS_ENSEMBLE_H

#include "dynamics/time_step.h"
#include "mesh/embedding.h"

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
    /* Its surface, for contact: what the cage, whose vertices are the world's, carries; null: the vertices themselves are its points. */
    const SnTetMesh *cage;
    const SnEmbedding *embedding;
    const unsigned char *held; /* vertices that are where the input has them at the end of the substep in hand; null: the fixed ones */
} SnMember;

typedef struct SnEnsemble SnEnsemble;

/* Members have one interval and one scheme; the finest substep and the smallest tolerance of them counts for all. */
SnStatus sn_ensemble_create(SnContext *context, size_t count, const SnMember *members, SnEnsemble **ensemble);
void sn_ensemble_destroy(SnEnsemble *ensemble);
int sn_ensemble_substeps(const SnEnsemble *ensemble);
size_t sn_ensemble_size(const SnEnsemble *ensemble);
const SnWorld *sn_ensemble_world(const SnEnsemble *ensemble);
const SnMember *sn_ensemble_member(const SnEnsemble *ensemble, size_t member, size_t *first_vertex); /* of it in the world */

/* From now on its members keep apart as the contact, which is of its world and must outlive it, has it; null: they do not. */
SnStatus sn_ensemble_collide(SnContext *context, SnEnsemble *ensemble, SnContact *contact);

/* Advances the members' states by one interval. It starts with a fresh factor, so that each is a checkpoint. On failure, a cancelled one
   too, states are to be thrown away. */
SnStatus sn_ensemble_advance(SnContext *context, SnEnsemble *ensemble, SnState *states, SnStepReport *report);

/* After it, where something else has changed the states: takes them back where they touch on the way there. `kept`: whether they stayed. */
SnStatus sn_ensemble_prove(SnContext *context, SnEnsemble *ensemble, SnState *states, int *kept);

#endif
