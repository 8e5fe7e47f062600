/* A matrix in parts is solved as the dense one that it is, whatever its parts reach. */
#include "check.h"

#include "base/memory.h"
#include "math/part_matrix.h"

#include <math.h>
#include <string.h>

#define PARTS 7

/* Parts of 0 to 12 unknowns; a tenth of the pairs of parts, half of them, or all are joined. */
static void solutions_are_those_of_the_dense_matrix(void)
{
    SnContext context;
    SnPartMatrix matrix = {0};
    uint64_t random = 5;
    sn_context_init(&context);
    for (int run = 0; run < 30; run++) {
        const double shares[3] = {0.1, 0.5, 1.0};
        size_t sizes[PARTS], n = 0;
        unsigned char joins[PARTS * PARTS] = {0};
        for (size_t p = 0; p < PARTS; p++) {
            sizes[p] = (size_t)(13.0 * check_random(&random));
            n += sizes[p];
            for (size_t q = 0; q < p; q++) {
                joins[p * PARTS + q] = joins[q * PARTS + p] = check_random(&random) < shares[run % 3];
            }
        }
        CHECK(sn_part_matrix_shape(&context, &matrix, PARTS, sizes, joins) == SN_OK);
        CHECK(matrix.size == n);
        double *dense = SN_NEW(&context, n * n, double), *x = SN_NEW(&context, n, double), *product = SN_NEW(&context, n, double);
        float *solved = SN_NEW(&context, n, float);
        for (size_t p = 0; p < PARTS; p++) {
            for (size_t q = 0; q < PARTS; q++) {
                for (size_t i = matrix.start[p]; i < matrix.start[p] + sizes[p]; i++) {
                    for (size_t j = matrix.start[q]; j <= i && j < matrix.start[q] + sizes[q]; j++) {
                        if (p != q && !joins[p * PARTS + q]) {
                            continue;
                        }
                        float entry = (float)(i == j ? (double)n + 1.0 : 2.0 * check_random(&random) - 1.0);
                        matrix.values[sn_part_matrix_place(&matrix, i, j)] = entry;
                        dense[i * n + j] = dense[j * n + i] = (double)entry;
                    }
                }
            }
        }
        memcpy(matrix.factor, matrix.values, matrix.panel[matrix.count] * sizeof *matrix.factor);
        CHECK(sn_part_matrix_factorize(&matrix) == 0);
        for (size_t i = 0; i < n; i++) {
            solved[i] = (float)(2.0 * check_random(&random) - 1.0);
            product[i] = (double)solved[i];
        }
        sn_part_matrix_solve(&matrix, solved);
        double off = 0.0;
        for (size_t i = 0; i < n; i++) {
            double sum = 0.0;
            x[i] = (double)solved[i];
            for (size_t j = 0; j < n; j++) {
                sum += dense[i * n + j] * (double)solved[j];
            }
            off = fmax(off, fabs(sum - product[i]));
        }
        CHECK(off < 1e-5);
        sn_part_matrix_multiply(&matrix, x, product);
        for (size_t i = 0; i < n; i++) {
            double sum = 0.0;
            for (size_t j = 0; j < n; j++) {
                sum += dense[i * n + j] * x[j];
            }
            CHECK(fabs(sum - product[i]) < 1e-13);
        }
        sn_release(dense);
        sn_release(x);
        sn_release(product);
        sn_release(solved);
    }
    sn_part_matrix_clear(&matrix);
}

/* Bodies in a row, numbered anyhow: each panel has its own rows and those of one neighbour, but the last. */
static void a_chain_fills_nothing(void)
{
    SnContext context;
    SnPartMatrix matrix = {0};
    size_t sizes[PARTS];
    unsigned char joins[PARTS * PARTS] = {0};
    sn_context_init(&context);
    for (size_t k = 0; k < PARTS; k++) {
        size_t p = 3 * k % PARTS, q = 3 * (k + 1) % PARTS;
        sizes[k] = 10;
        joins[p * PARTS + q] = joins[q * PARTS + p] = k + 1 < PARTS;
    }
    CHECK(sn_part_matrix_shape(&context, &matrix, PARTS, sizes, joins) == SN_OK);
    CHECK(matrix.panel[PARTS] == 10 * 10 * PARTS + 10 * 10 * (PARTS - 1));
    sn_part_matrix_clear(&matrix);
}

int main(void)
{
    solutions_are_those_of_the_dense_matrix();
    a_chain_fills_nothing();
    return CHECK_RESULT();
}
