#include "math/vector.h"

#include "math/registers.h"

#define STRIDE 16 /* sums side by side, whatever the registers are: the bits are the same on all */
#define REGISTERS (STRIDE / SN_DOUBLES)

typedef double Doubles __attribute__((vector_size(SN_REGISTER_BYTES), aligned(sizeof(double))));

double sn_vector_dot(size_t count, const double *a, const double *b)
{
    Doubles sums[REGISTERS] = {{0.0}};
    double sum = 0.0;
    size_t k = 0;
    for (; k + STRIDE <= count; k += STRIDE) {
        for (size_t r = 0; r < REGISTERS; r++) {
            sums[r] += *(const Doubles *)(a + k + r * SN_DOUBLES) * *(const Doubles *)(b + k + r * SN_DOUBLES);
        }
    }
    for (; k < count; k++) {
        sum += a[k] * b[k];
    }
    for (size_t lane = 0; lane < STRIDE; lane++) {
        sum += sums[lane / SN_DOUBLES][lane % SN_DOUBLES];
    }
    return sum;
}

void sn_vector_add(size_t count, double scale, const double *x, double *y)
{
    for (size_t k = 0; k < count; k++) {
        y[k] += scale * x[k];
    }
}
