/* Lowest vibration modes K x = lambda M x with a lumped mass. The only file that names ARPACK and LAPACK is eigensolver.c. */
#ifndef SN_MATH_EIGENSOLVER_H
#define SN_MATH_EIGENSOLVER_H

#include "math/block_matrix.h"

/* The `count` smallest eigenvalues, rising, of the positive semi-definite K (values on the pattern) and the masses of its points
   (pattern->size, all positive). `vectors` (count x 3 size, rows normalised to xᵀ M x = 1) may be null.
   At most 3 size - 1 eigenvalues can be asked for. */
SnStatus sn_eigensolver_lowest(SnContext *context, const SnBlockPattern *pattern, const double *values, const double *masses,
                               int count, double *eigenvalues, double *vectors);

/* All eigenvalues, rising, of a dense symmetric matrix (size x size), whose rows become the eigenvectors, of length 1. */
SnStatus sn_eigensolver_dense(SnContext *context, size_t size, double *matrix, double *eigenvalues);

#endif
