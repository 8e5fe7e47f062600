/* H⁻¹ as well as it is known: one factor of the Hessian, kept over rounds and steps while it serves. It turns with the body, secants
   (L-BFGS) and rows correct its solutions, and counted work decides when a fresh one pays. Never a clock: same bits on any machine. */
#ifndef SN_DYNAMICS_FACTOR_H
#define SN_DYNAMICS_FACTOR_H

#include "dynamics/assembly.h"
#include "dynamics/constraints.h"
#include "dynamics/planes.h"
#include "dynamics/springs.h"

typedef struct SnFactor SnFactor;

/* What became of a step, from which the factor is judged. */
typedef enum SnStepOutcome {
    SN_STEP_FULL,
    SN_STEP_CAPPED,    /* by what it may reach: no sign of a bad factor */
    SN_STEP_SHORTENED, /* by the energy */
    SN_STEP_REFUSED    /* no length of it lowers the energy */
} SnStepOutcome;

/* `round_work`, `hessian_work`: what a round and a Hessian cost beside it, in entries of a factor read in a solution (SnTermKind). The
   assembly must outlive the factor. */
SnStatus sn_factor_create(SnContext *context, const SnAssembly *assembly, double round_work, double hessian_work, SnFactor **factor);
void sn_factor_destroy(SnFactor *factor);

/* From now on all steps leave the rows of `constraints` as they are, and the stiffness of `springs` is added to every Hessian. Both must
   outlive the factor; called once, right after it was created. */
SnStatus sn_factor_constrain(SnContext *context, SnFactor *factor, const SnConstraints *constraints, const SnSprings *springs);

/* Its constraints hold other rows than before, as many. */
SnStatus sn_factor_reconstrain(SnContext *context, SnFactor *factor, const SnConstraints *constraints);

/* What is at hand serves no longer: another objective, or a result that must not depend on what was solved before. */
void sn_factor_forget(SnFactor *factor);

/* A minimisation starts at `positions` (vertices x 3), where `planes` (or null) touch, whose stiffness is part of every Hessian. With
   `exactly` it takes a fresh, exact factor with its response to the rows. */
void sn_factor_begin(SnFactor *factor, const double *positions, SnPlanes *planes, int exactly);

/* Before each step while planes touch: they were linearised anew. */
SnStatus sn_factor_touch(SnContext *context, SnFactor *factor);

/* Whether a fresh factor is due before the next step; then the caller writes the Hessian into `values` (the assembly's pattern) and calls
   refresh with the positions that it belongs to. */
int sn_factor_is_stale(const SnFactor *factor);
double *sn_factor_values(SnFactor *factor);
SnStatus sn_factor_refresh(SnContext *context, SnFactor *factor, const double *positions);

/* The mean diagonal of each unknown's block in the last Hessian of the caller (unknowns); null: there is none since `forget`. */
const double *sn_factor_hardness(const SnFactor *factor);
void sn_factor_find_hardness(SnFactor *factor); /* of what the caller has written into `values` */

/* Whether it was made for the step in hand. */
int sn_factor_is_fresh(const SnFactor *factor);

/* step = H⁻¹ residual; both unknowns x 3. */
SnStatus sn_factor_solve(SnContext *context, SnFactor *factor, const double *residual, double *step);

/* The move `length * step` turned the residual `before` into `after`. */
void sn_factor_learn(SnFactor *factor, double length, const double *step, const double *before, const double *after);

/* Ends a round: is the factor worth keeping? */
void sn_factor_judge(SnFactor *factor, SnStepOutcome outcome);

#endif
