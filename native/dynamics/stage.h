/* What a method tells the stepper: where its input is, what loads and drives its body, what the exact rows are to be, and the inputs of
   its terms (rest shape, material). It is asked at the start of a step and at the end of each stage, body by body: every body of a world
   has its driver, and all of them share one substep. */
#ifndef SN_DYNAMICS_STAGE_H
#define SN_DYNAMICS_STAGE_H

#include "dynamics/world.h"

/* One moment. Arrays are over the whole world and the stepper's; a driver fills in what belongs to its body. */
typedef struct SnStage {
    double *pose, *pose_velocity; /* vertices x 3, m and m/s: fixed vertices are there, and others are compared with it */
    double *shift;                /* vertices x 3, m: how far the part of it that has no inertia has moved; 0 until a driver sets it. Velocities,
                                     the pose's and the state's, are those of positions less the shift */
    double *drive;                /* vertices, N/m: what draws them to the pose, ... */
    double *drag;                 /* ... and N s/m: their velocities to its own, beside the drag of the world */
    double *loads;                /* vertices x 3, N */
    double *row_targets, *row_rates; /* values of the exact rows, and their velocities */
    double *row_most;                /* values of the exact rows, m/s²: what they may give the mass that they hold, beyond which they let go; 0: any */
    double *spring_targets;          /* values of the springs' rows */
    double loaded;                   /* the fraction whose loads count: that of the moment, but where a step takes apart what the input does */
    double material;                 /* the fraction of the interval whose material counts: it is the same in all stages of a step */
    int varies, has_changed;         /* set by drivers: the material may change within the interval; it is another than when they were last asked */
    const void *inputs[SN_TERMS_MOST]; /* one a term: SnTetInput, ...; null: as built. To stay as they are until the next stage */
} SnStage;

typedef struct SnDriver {
    void *self;
    SnStatus (*prepare)(SnContext *context, void *self, const SnWorld *world, const SnBody *body, double fraction, SnStage *stage);
} SnDriver;

#endif
