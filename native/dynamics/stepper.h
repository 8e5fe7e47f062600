/* What the files of a step share, and nobody else includes: the stepper (stepper.c), a stage of it (step_stage.c), its energy (step_energy.c), what is done
   where the material changes (transport.c). The schemes and the loop are in time_step.c, which has the equations and their symbols. */
#ifndef SN_DYNAMICS_STEPPER_H
#define SN_DYNAMICS_STEPPER_H

#include "dynamics/row_bounds.h"
#include "dynamics/time_step.h"

#define SN_STEPPER_ROUNDS 60    /* of Newton, at most */
#define SN_STEPPER_NO_PART 1e-9 /* of a step: nothing of it was done */

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
    double error;                      /* of the last step, metres */
    double begin, interval;            /* of the step in hand: the fraction where it starts, s */
    SnRowBounds *bounds;               /* of the exact rows; null: none has had one yet */
    SnContact *contact;                /* or null; not owned */
    double part;                       /* of what was asked for, that the step in hand is */
    double factor_tau;                 /* stage length that Newton's factor belongs to; 0: none */
};

/* A stage to be solved: its length τ, and what contact has to know of it (dynamics/contact.h). */
typedef struct SnStageSolve {
    double tau, fraction;
    const double *start; /* where the stage starts, ... */
    int may_stay;        /* ... which is no worse a place than any other: the result never has a higher energy than free vertices that stay there */
    double length, share, from_stage, from_begin;
} SnStageSolve;

/* The start of a step, with the loads and the material of other moments. */
SnStatus sn_stepper_prepare_start(SnContext *context, SnStepper *stepper, const SnDriver *drivers, double fraction, double loaded, double material);

/* The end of a stage, whose offsets and prediction are those of y: what has no inertia takes them along. */
SnStatus sn_stepper_prepare_stage(SnContext *context, SnStepper *stepper, const SnDriver *drivers, double fraction);

/* What is left of all forces but inertia and damping, with the input prepared last. */
void sn_stepper_evaluate_force(SnStepper *stepper, const double *positions, double *force);

/* F at the start of the step, from state and input alone: what TR-BDF2 builds on. */
void sn_stepper_evaluate_start(SnStepper *stepper, const SnState *state);

/* Which rows have let go where a step starts, as it has been prepared: those that the state is off of. */
SnStatus sn_stepper_bound_rows(SnContext *context, SnStepper *stepper, double begin, double interval, double h, const SnState *state);

/* Rows that hold exactly, to the last digits. */
void sn_stepper_impose_rows(SnStepper *stepper, const double *targets, double *values);

/* The guess of the stage prepared last: the state carried along by the input, and for `coast` seconds by its own motion relative to it,
   which goes on changing as in the last step. A single round is to linearise at the start of the step: it does not coast. */
void sn_stepper_guess_stage(const SnStepper *stepper, const SnState *state, double coast, double *positions);

/* Solves the stage that was prepared last, from offset p and prediction x̂ and the guess in `positions`. `reached`: how much of it, if
   something is in the way. */
SnStatus sn_stepper_solve_stage(SnContext *context, SnStepper *stepper, const SnStageSolve *stage, double *positions, double *velocities,
                                SnStepReport *report, double *reached);

/* Elastic and driving energy of a body over the input prepared last: 0 in its pose. */
double sn_stepper_offset_energy(SnStepper *stepper, const SnBody *body, const double *positions);

/* Work of the loads on free vertices of a body that go from one place to another. */
double sn_stepper_work_of_loads(const SnStepper *stepper, const SnBody *body, const double *from, const double *to);

/* Marks the bodies whose energy rose in the step. Returns how many. Bodies that touch pass energy on: there the sum counts, with what
   moving sides have done, for all of them. */
size_t sn_stepper_find_risen(SnStepper *stepper, const SnState *state);

/* Where a step from fraction `begin` to `end`, h seconds, starts from whose material is another at its end: the force is kept, not the place. The start must
   have been prepared with the old material, and is with the new one afterwards. `from`: the state, or that which was moved. */
SnStatus sn_stepper_transport(SnContext *context, SnStepper *stepper, const SnDriver *drivers, double begin, double end, double h, const SnState *state,
                              SnState *from, SnStepReport *report);

/* A step by dynamic rebalancing. Forces are those of the step with the old expression, mixed with those of an ordinary one as far as expressions are to
   have inertia; positions are where the new expression has them. */
SnStatus sn_stepper_rebalance(SnContext *context, SnStepper *stepper, const SnDriver *drivers, double begin, double end, double h, const SnState *state,
                              SnStepReport *report);

#endif
