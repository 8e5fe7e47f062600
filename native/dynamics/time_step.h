/* One step of a world, as its drivers move it. The scheme is a choice: implicit Euler as in the paper, and TR-BDF2, second order and
   almost free of numerical damping (methods, "Integrator"). Both are minimisations of an incremental potential. */
#ifndef SN_DYNAMICS_TIME_STEP_H
#define SN_DYNAMICS_TIME_STEP_H

#include "dynamics/contact.h"
#include "dynamics/newton.h"
#include "dynamics/stage.h"

typedef enum SnScheme { SN_SCHEME_TR_BDF2, SN_SCHEME_IMPLICIT_EULER } SnScheme;

/* How the part of the input that has no inertia is left out of a step (methods, section 4): by a change of variable, one solve a stage; or as in the
   paper, by dynamic rebalancing: an implicit Euler step with the old expression, and a static solve that carries its force over to the new one. */
typedef enum SnExpression { SN_EXPRESSION_VARIABLE, SN_EXPRESSION_REBALANCED } SnExpression;

typedef struct SnStepSettings {
    SnScheme scheme;
    SnExpression expression;
    double inertia;        /* 0..1, of what is rebalanced: how much of an ordinary step there is in it */
    int newton_rounds;     /* 0: until converged; 1: a single undamped round, as printed */
    double step_tolerance; /* metres */
    double rough;          /* metres: a step of TR-BDF2 whose own error is larger somewhere is too long for how the bodies move; 0: none is */
} SnStepSettings;

typedef struct SnStepReport {
    int steps;
    int rounds;      /* Newton rounds */
    int factorizations;
    int unconverged; /* minimisations that used up their rounds */
    int fallbacks;   /* TR-BDF2 steps retaken by implicit Euler because their energy rose without cause */
} SnStepReport;

typedef struct SnStepper SnStepper;

/* Scratch memory and factorization for a world, which must outlive the stepper. */
SnStatus sn_stepper_create(SnContext *context, const SnWorld *world, const SnStepSettings *settings, SnStepper **stepper);
void sn_stepper_destroy(SnStepper *stepper);

/* From now on what touches stays apart. The contact is of the same world and must outlive the stepper; null: nothing touches. */
void sn_stepper_collide(SnStepper *stepper, SnContact *contact);

/* How far the last step is off, where that is most, metres: what a scheme of third order would add to it. 0 of implicit Euler. */
double sn_stepper_error(const SnStepper *stepper);

/* Makes the next step independent of the steps before it, to the bit: the checkpoint of a state. Steps in between share a factor. */
void sn_stepper_forget(SnStepper *stepper);

/* Advances the state from fraction `begin` to fraction `end` of an interval (seconds) that the drivers, one a body, count by. On failure
   the state is as it was. */
SnStatus sn_stepper_step(SnContext *context, SnStepper *stepper, const SnDriver *drivers, double begin, double end, double interval,
                         SnState *state, SnStepReport *report);

#endif
