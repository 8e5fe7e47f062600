#include "math/vector.h"

#include "math/batch3.h"

#define STRIDE 16

double sn_vector_dot(size_t count, const double *a, const double *b)
{
    double lanes[STRIDE] = {0}, sum = 0.0;
    size_t k = 0;
    for (; k + STRIDE <= count; k += STRIDE) {
        for (size_t lane = 0; lane < STRIDE; lane++) {
            lanes[lane] += a[k + lane] * b[k + lane];
        }
    }
    for (; k < count; k++) {
        sum += a[k] * b[k];
    }
    for (size_t lane = 0; lane < STRIDE; lane++) {
        sum += lanes[lane];
    }
    return sum;
}

void sn_vector_add(size_t count, double scale, const double *x, double *y)
{
    for (size_t k = 0; k < count; k++) {
        y[k] += scale * x[k];
    }
}
