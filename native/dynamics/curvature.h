/* What the last steps of a minimisation tell about the Hessian (L-BFGS): pairs of a move and the change of the gradient along it. They
   correct the solutions of a factor that belongs to an earlier shape, so that the factor can be kept for many steps. */
#ifndef SN_DYNAMICS_CURVATURE_H
#define SN_DYNAMICS_CURVATURE_H

#include "base/context.h"

#define SN_CURVATURE_PAIRS 8

typedef struct SnCurvature {
    size_t count;                      /* scalars in a vector */
    int used, next;                    /* pairs at hand, place of the next one */
    double *move[SN_CURVATURE_PAIRS];  /* owned */
    double *change[SN_CURVATURE_PAIRS]; /* owned */
    double product[SN_CURVATURE_PAIRS]; /* move·change > 0 */
} SnCurvature;

SnStatus sn_curvature_init(SnContext *context, size_t count, SnCurvature *curvature);
void sn_curvature_clear(SnCurvature *curvature);
void sn_curvature_forget(SnCurvature *curvature);

/* Records the move `length * step` that turned the residual (minus the gradient) `before` into `after`. Pairs without positive
   curvature are left out: they would make the correction indefinite. */
void sn_curvature_record(SnCurvature *curvature, double length, const double *step, const double *before, const double *after);

/* The two halves of the two-loop recursion: `vector` starts as the residual, is taken through `before`, solved with the factor, and
   taken through `after`; it ends as the step. */
typedef struct SnCurvatureWeights {
    double weight[SN_CURVATURE_PAIRS];
} SnCurvatureWeights;
void sn_curvature_before(const SnCurvature *curvature, double *vector, SnCurvatureWeights *weights);
void sn_curvature_after(const SnCurvature *curvature, double *vector, const SnCurvatureWeights *weights);

#endif
