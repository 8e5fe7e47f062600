/* Dense vectors. Sums run in a fixed order of several lanes: the same bits everywhere, and a loop that vectorises. */
#ifndef SN_MATH_VECTOR_H
#define SN_MATH_VECTOR_H

#include <stddef.h>

double sn_vector_dot(size_t count, const double *a, const double *b);

/* y += scale x */
void sn_vector_add(size_t count, double scale, const double *x, double *y);

#endif
