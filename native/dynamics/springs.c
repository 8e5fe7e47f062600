#include "dynamics/springs.h"

#include <math.h>
#include <string.h>

SnStatus sn_springs_init(SnContext *context, const SnAssembly *assembly, SnRows *rows, SnSprings *springs)
{
    SnStatus status = SN_OK;
    memset(springs, 0, sizeof *springs);
    for (size_t r = 0; r < rows->count; r++) {
        if (!isfinite(rows->stiffness[r]) || rows->stiffness[r] < 0.0) {
            return sn_context_fail(context, SN_BAD_INPUT, "Spring %zu has a stiffness of %g: give a finite one, or hold it exactly.", r,
                                   rows->stiffness[r]);
        }
    }
    springs->rows = *rows;
    *rows = (SnRows){.is_alike = rows->is_alike};
    SN_TRY(sn_rows_renumber(context, &springs->rows, assembly->unknown, &springs->free_rows));
    springs->size = sn_rows_size(&springs->rows);
cleanup:
    if (status != SN_OK) {
        sn_springs_clear(springs);
    }
    return status;
}

void sn_springs_clear(SnSprings *springs)
{
    sn_rows_clear(&springs->rows);
    sn_rows_clear(&springs->free_rows);
    memset(springs, 0, sizeof *springs);
}

double sn_springs_pull(const SnSprings *springs, const double *targets, const double *x, double *pull)
{
    size_t values = springs->rows.is_alike ? 3 : 1;
    double sum = 0.0;
    sn_rows_apply(&springs->rows, x, pull);
    for (size_t k = 0; k < springs->size; k++) {
        double stiffness = springs->rows.stiffness[k / values], off = pull[k] - targets[k];
        sum += 0.5 * stiffness * off * off;
        pull[k] = -stiffness * off;
    }
    return sum;
}

/* How much of an entry of a row there is, in the direction that has most of it. */
static double size_of_entry(const SnRows *rows, size_t k)
{
    const double *w = rows->weights + 3 * k;
    return rows->is_alike ? fabs(rows->weights[k]) : sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
}

void sn_springs_majorise(const SnSprings *springs, const SnBlockPattern *pattern, double *values)
{
    const SnRows *rows = &springs->free_rows; /* k g gᵀ <= k Σ|g_j| diag |g_i| */
    for (size_t r = 0; r < rows->count; r++) {
        double sum = 0.0;
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            sum += size_of_entry(rows, (size_t)k);
        }
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            for (size_t a = 0; a < 3; a++) {
                size_t column = 3 * (size_t)rows->points[k] + a;
                values[pattern->value_start[column]] += rows->stiffness[r] * sum * size_of_entry(rows, (size_t)k);
            }
        }
    }
}
