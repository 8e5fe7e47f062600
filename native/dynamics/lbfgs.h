/* L-BFGS: what the last steps of a minimisation tell about the Hessian, as pairs of a move and the change of the gradient along it. They
   correct the solutions of a factor that belongs to an earlier shape, so that the factor can be kept for many steps. */
#ifndef SN_DYNAMICS_LBFGS_H
#define SN_DYNAMICS_LBFGS_H

#include "base/context.h"

#define SN_LBFGS_PAIRS 8

typedef struct SnLbfgs {
    size_t count;                      /* scalars in a vector */
    int used, next;                    /* pairs at hand, place of the next one */
    double *move[SN_LBFGS_PAIRS];  /* owned */
    double *change[SN_LBFGS_PAIRS]; /* owned */
    double product[SN_LBFGS_PAIRS]; /* move·change > 0 */
} SnLbfgs;

SnStatus sn_lbfgs_init(SnContext *context, size_t count, SnLbfgs *lbfgs);
void sn_lbfgs_clear(SnLbfgs *lbfgs);
void sn_lbfgs_forget(SnLbfgs *lbfgs);

/* Records the move `length * step` that turned the residual (minus the gradient) `before` into `after`. Pairs without positive
   curvature are left out: they would make the correction indefinite. */
void sn_lbfgs_record(SnLbfgs *lbfgs, double length, const double *step, const double *before, const double *after);

/* The two halves of the two-loop recursion: `vector` starts as the residual, is taken through `before`, solved with the factor, and
   taken through `after`; it ends as the step. */
typedef struct SnLbfgsWeights {
    double weight[SN_LBFGS_PAIRS];
} SnLbfgsWeights;
void sn_lbfgs_before(const SnLbfgs *lbfgs, double *vector, SnLbfgsWeights *weights);
void sn_lbfgs_after(const SnLbfgs *lbfgs, double *vector, const SnLbfgsWeights *weights);

#endif
