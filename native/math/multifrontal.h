/* Cholesky factorization of a block matrix in single precision, on all threads: several times as fast as the direct solver, and exact
   enough to precondition. Each supernode is a dense front; fronts of disjoint subtrees are independent, so subtrees run side by side.
   Every front adds up its children in a fixed order: the bits do not depend on the number of threads. */
#ifndef SN_MATH_MULTIFRONTAL_H
#define SN_MATH_MULTIFRONTAL_H

#include "math/linear_solver.h"

typedef struct SnMultifrontal SnMultifrontal;

/* The shape is that of the solver's factor. All memory is allocated here. */
SnStatus sn_multifrontal_create(SnContext *context, const SnBlockPattern *pattern, const SnLinearSolver *solver,
                                SnMultifrontal **multifrontal);

/* The same with a border (math/border.h): points, each once and in any order, that come last. Its factorizations leave it open. Of the pattern the
   solver knows the points before its rows that hold; these come right after the last of their points that is not of the border. */
SnStatus sn_multifrontal_create_bordered(SnContext *context, const SnBlockPattern *pattern, const SnLinearSolver *solver,
                                         size_t border_count, const int32_t *border, SnMultifrontal **multifrontal);
void sn_multifrontal_destroy(SnMultifrontal *multifrontal);

/* What it takes: multiplications of a factorization, entries read by a solution (twice). */
void sn_multifrontal_work(const SnMultifrontal *multifrontal, double *products, double *entries);

/* Values on the pattern, finite. Returns how many pivots rounding has eaten up: with any at all the factor is that of a stiffer
   matrix, and the direct solver is the better choice. */
int sn_multifrontal_factorize(SnMultifrontal *multifrontal, const double *values);

/* After a factorization, as often as wanted and before any solution: `open` gives what is left of the matrix on the border, 3 x border_count
   square, column by column, of which the lower triangle counts; what is added to it is added to the matrix. `close` factorizes it and
   returns how many pivots were eaten up. */
float *sn_multifrontal_open_border(SnMultifrontal *multifrontal);
int sn_multifrontal_close_border(SnMultifrontal *multifrontal);

/* The matrix that `open` gives a copy of. */
const float *sn_multifrontal_border(const SnMultifrontal *multifrontal);

/* A solution in which the caller solves on the border: `x` is the right side that is left there, over `scale`, in the order in which the
   border was given, and becomes the solution, over `scale` too. */
typedef void (*SnBorderFunction)(void *data, double scale, float *x);
void sn_multifrontal_solve_around(SnMultifrontal *multifrontal, int roughly, const double *b, SnBorderFunction function, void *data, double *x);

/* x ≈ A⁻¹ b, to single precision; both pattern->size x 3 without rows that hold, where b is 0; may be the same array. */
void sn_multifrontal_solve(SnMultifrontal *multifrontal, const double *b, double *x);

/* The same by the factor in 16 bits: still symmetric and positive definite, to some three digits, and twice as fast, more where no
   cache holds the factor. As good for a step that others follow. */
void sn_multifrontal_solve_roughly(SnMultifrontal *multifrontal, const double *b, double *x);

#endif
