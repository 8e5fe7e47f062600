/* Direct solution of symmetric positive definite block systems: analyse once, factorize when the values change, solve
   often. The only file that names CHOLMOD is linear_solver.c. */
#ifndef SN_MATH_LINEAR_SOLVER_H
#define SN_MATH_LINEAR_SOLVER_H

#include "math/block_matrix.h"

typedef struct SnLinearSolver SnLinearSolver;

/* Symbolic analysis. The pattern must outlive the solver. */
SnStatus sn_linear_solver_create(SnContext *context, const SnBlockPattern *pattern, SnLinearSolver **solver);

/* The same for a matrix with one scalar per point that acts on x, y and z alike, as a Laplacian does: `values` are then one for each
   block of the pattern, and b and x stay size x 3. A ninth of the memory and a third of the work. */
SnStatus sn_linear_solver_create_scalar(SnContext *context, const SnBlockPattern *pattern, SnLinearSolver **solver);
void sn_linear_solver_destroy(SnLinearSolver *solver);

/* Numeric factorization. A matrix that is not positive definite (rounding, a singular system) is factorized with the smallest
   sufficient multiple of its diagonal added; `sn_linear_solver_shift` tells which. */
SnStatus sn_linear_solver_factorize(SnContext *context, SnLinearSolver *solver, const double *values);

/* x = A⁻¹ b, both size x 3; x and b may be the same array. */
SnStatus sn_linear_solver_solve(SnContext *context, SnLinearSolver *solver, const double *b, double *x);

/* The same of several right sides at once (count x size x 3), which takes half the time of one after the other. Not for a scalar matrix. */
SnStatus sn_linear_solver_solve_all(SnContext *context, SnLinearSolver *solver, size_t count, const double *b, double *x);

/* The shape of the factor, for factorizations of our own: dense panels of columns ("supernodes") that share their rows below. */
typedef struct SnSupernodes {
    size_t size;           /* columns: 3 x points */
    size_t count;          /* panels */
    int32_t *order;        /* size: column k of the factor is scalar order[k] of the matrix; owned */
    int32_t *column_start; /* count + 1; owned */
    size_t *row_start;     /* count + 1; owned */
    int32_t *rows;         /* rising; the first of a panel are its own columns; owned */
} SnSupernodes;

SnStatus sn_linear_solver_supernodes(SnContext *context, const SnLinearSolver *solver, SnSupernodes *supernodes);
void sn_supernodes_clear(SnSupernodes *supernodes);

/* Relative diagonal shift of the last factorization, 0 when none was needed. */
double sn_linear_solver_shift(const SnLinearSolver *solver);

/* Name and version of the library in use, for reports and the import check. */
const char *sn_linear_solver_library(int version[3]);

/* The file that it was loaded from, "" where the system cannot tell. */
const char *sn_linear_solver_file(void);

#endif
