/* What is caught: pairs that stop every move, round after round, because what lies between two sides that follow the input has nowhere to go
   (methods, A10). They are let go: pushed apart from then on, but not held up, until they are apart (contact/tangles.h). */
#ifndef SN_DYNAMICS_PINCHES_H
#define SN_DYNAMICS_PINCHES_H

#include "contact/tangles.h"
#include "dynamics/planes.h"

typedef struct SnBlocked {
    int32_t points[4];
    int32_t edges;
    int32_t rounds; /* running */
} SnBlocked;

/* Pairs that stopped the last detection. A zeroed one is empty. */
typedef struct SnPinches {
    size_t count, capacity, before_count, before_capacity;
    SnBlocked *blocked, *before; /* in the order of hits; owned */
} SnPinches;
void sn_pinches_clear(SnPinches *pinches);

/* Which pairs are let go, besides never one that has not stopped SN_PINCH_ROUNDS detections running. */
typedef enum SnPatience {
    SN_PATIENCE_CAUGHT,    /* with a side that follows the input, between it and another plane that presses against it, or hardly free at all */
    SN_PATIENCE_KINEMATIC, /* any with such a side */
    SN_PATIENCE_ANY,
    SN_PATIENCE_NONE       /* all that hit, at once: something must give */
} SnPatience;
#define SN_PINCH_ROUNDS 3
#define SN_PINCH_PART 1e-3 /* of its way: a pair that ends it before that stops it */

/* Soft Collider: vertices that follow the input exactly, and of them those that give way, of this world. */
typedef struct SnSoftened {
    const unsigned char *fixed; /* vertices */
    unsigned char *soft;        /* vertices; null: none ever does */
} SnSoftened;

/* A new stage. */
void sn_pinches_forget(SnPinches *pinches);

/* After a detection, in which the planes of the touches press as they do: lets go what is caught. *gone: how many pairs. Where that can be,
   what follows the input is softened instead, once, and the pair has its rounds again. */
SnStatus sn_pinches_look(SnContext *context, SnPinches *pinches, const SnHits *hits, const SnTouches *touches, const SnPlanes *planes,
                         SnPatience patience, const SnSoftened *softened, SnTangles *tangles, SnCandidates *candidates, size_t *gone);

#endif
