/* Contact of a world: its surface, what of it touches, and the way past it. All that moves vertices of a world with contact goes through
   sn_contact_solve: from a safe place to a minimum, and only as far as continuous detection proves it free (methods, A5).

     planes = what is near the safe place, what the guess would hit
     +-> minimise with these planes, roughly until all of the way is free     the caller's: Newton, and what it does afterwards
     |   forces become multipliers
     |   detection from the safe place to there; kinematic points go along
     |   the safe place moves as far as is proved
     +-- until all of the way is: what was hit is a plane too; after ROUNDS the stage ends on its way */
#ifndef SN_DYNAMICS_CONTACT_H
#define SN_DYNAMICS_CONTACT_H

#include "contact/tangles.h"
#include "dynamics/planes.h"
#include "dynamics/skin.h"
#include "dynamics/world.h"

typedef struct SnContactSettings {
    double gap;      /* metres, more than 0 */
    double separate; /* m/s: what is nearer than its gap is driven apart no faster */
    int keep_input;
    int soft_collider; /* vertices that follow the input give way where something is caught between them; obstacles do not */
    int strict;        /* the same; only what no giving way has freed is let go */
} SnContactSettings;

typedef struct SnContactReport {
    long stages, rounds, ccds; /* stages with planes, minimisations in them, detections */
    long partial_steps;
    long pinched;              /* pairs that were let go */
    size_t crossings, tangles, tangled; /* edges through triangles, contours of them, and points in their regions, at most */
    size_t planes;             /* of the last stage */
} SnContactReport;

typedef struct SnContact SnContact;

/* World, surface and what the skins (one a body of the surface, in its order) point to must outlive it. */
SnStatus sn_contact_create(SnContext *context, const SnWorld *world, const SnSurface *surface, const SnSkin *skins,
                           const SnContactSettings *settings, SnContact **contact);
void sn_contact_destroy(SnContact *contact);

/* A stage as the stepper has it. */
typedef struct SnContactStage {
    double fraction;          /* where it ends, for the skins */
    const double *pose;       /* vertices x 3 there */
    const double *start;      /* vertices x 3: where the safe place is */
    double length;            /* seconds that points take from where friction counts from */
    double part;              /* of a whole step, 0..1: what is left of one has forces that mean nothing to the next */
    double share;             /* forces count so many times: 2 in a trapezoidal stage, which takes the mean with nothing at its start */
    double from_stage, from_begin; /* what friction counts from: so much of the points after the last stage, and of those before the step */
    void *self;
    /* Moves `positions` to the minimum with the planes (null: nothing touches). `first`: it is the first time in this stage. `tolerance`,
       metres: so much is enough, however close the stage is to be in the end. */
    SnStatus (*minimise)(SnContext *context, void *self, SnPlanes *planes, int first, double tolerance, double *positions);
    /* N/m: the stiffness of each unknown. */
    const double *(*hardness)(void *self, const double *positions);
} SnContactStage;

/* A new interval: nothing is known of where points are. */
void sn_contact_forget(SnContact *contact);

/* Before each step: the points where it starts (fraction, pose and positions, vertices x 3). */
SnStatus sn_contact_begin_step(SnContext *context, SnContact *contact, double fraction, const double *pose, const double *positions);

/* Back to where the step began, to take it anew. */
void sn_contact_retake(SnContact *contact);

/* With 1 nothing stops the stages that follow: pairs that would are let go, counted, and exempt until they are apart. The last resort, for
   what is caught between sides that give no way. */
void sn_contact_let_go(SnContact *contact, int lets_go);

/* Solves a stage. `positions`: the guess, then the result. `reached`: 1, or how much of the stage was done: `positions` are there then. */
SnStatus sn_contact_solve(SnContext *context, SnContact *contact, const SnContactStage *stage, double *positions, double *reached);

/* Whether something pressed in the step so far, and what moving obstacles and followed points have done to the rest, J. */
int sn_contact_presses(const SnContact *contact);
double sn_contact_work(const SnContact *contact);

/* The way from where the step began to other positions than were solved for: 1 if it is free, and they are the safe place from now on. */
SnStatus sn_contact_prove(SnContext *context, SnContact *contact, const double *positions, int *is_free);

/* What a checkpoint holds beside the state, between two intervals: which pairs press, by the keys of their touches (x 5, rising), how
   hard, and how friction holds them (x 3), N. With that, and sn_stepper_forget at the start of every interval, a run that goes on from a
   checkpoint has the same bits. */
size_t sn_contact_pressing(const SnContact *contact); /* how many do */
void sn_contact_save(const SnContact *contact, int32_t *keys, double *forces, double *holds);
SnStatus sn_contact_restore(SnContext *context, SnContact *contact, size_t count, const int32_t *keys, const double *forces,
                            const double *holds);

/* The same for what is exempt, as numbers; none where nothing is. */
size_t sn_contact_exempt_count(const SnContact *contact);
void sn_contact_save_exempt(const SnContact *contact, int32_t *state);
SnStatus sn_contact_restore_exempt(SnContext *context, SnContact *contact, size_t count, const int32_t *state);

SnContactReport sn_contact_report(const SnContact *contact);
const SnCandidates *sn_contact_candidates(const SnContact *contact);
const SnTangles *sn_contact_tangles(const SnContact *contact); /* as the last step began */
const double *sn_contact_points(const SnContact *contact); /* x 3: the safe place */
const SnTouches *sn_contact_touches(const SnContact *contact, const double **forces); /* of the last stage; forces, N */

#endif
