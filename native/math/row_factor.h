/* C D Cᵀ of sparse rows and a diagonal D over their points, factorized: what a projection onto the rows divides by. Its pivots tell which
   rows say nothing that those before them have not said. */
#ifndef SN_MATH_ROW_FACTOR_H
#define SN_MATH_ROW_FACTOR_H

#include "math/rows.h"

typedef struct SnRowFactor {
    size_t count;            /* rows */
    int width;               /* right sides of each: as many as a row has values */
    size_t *start;           /* count + 1: columns of L below its unit diagonal; owned */
    int32_t *rows;           /* owned */
    double *values;          /* owned */
    double *inverse_pivots;  /* count; 0: the row depends on those before it; owned */
    size_t dependent_count;
    int32_t *dependent;      /* those rows, rising; owned */
} SnRowFactor;

/* `diagonal` (points): not negative. Fill depends on the order of the rows: neighbours beside each other are best. */
SnStatus sn_row_factor_init(SnContext *context, const SnRows *rows, size_t point_count, const double *diagonal, SnRowFactor *factor);
void sn_row_factor_clear(SnRowFactor *factor);

/* values (size of the rows) = (C D Cᵀ)⁻¹ values, with 0 for dependent rows: then the others are met, and these too where their right
   sides agree. */
void sn_row_factor_solve(const SnRowFactor *factor, double *values);

#endif
