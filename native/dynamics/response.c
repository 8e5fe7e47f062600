#include "dynamics/response.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

#define DEPENDENT 1e-12 /* of the diagonal: what rounding may leave of a pivot */

SnStatus sn_response_init(SnContext *context, const SnRows *rows, size_t unknown_count, SnResponse *response)
{
    SnStatus status = SN_OK;
    size_t size = sn_rows_size(rows);
    *response = (SnResponse){.rows = rows, .unknown_count = unknown_count, .size = size <= SN_RESPONSE_MOST ? size : 0};
    SN_TRY_NEW(context, response->columns, 3 * unknown_count * response->size, double);
    SN_TRY_NEW(context, response->schur, response->size * response->size, double);
    SN_TRY_NEW(context, response->loads, response->size, double);
cleanup:
    if (status != SN_OK) {
        sn_response_clear(response);
    }
    return status;
}

void sn_response_clear(SnResponse *response)
{
    sn_release(response->columns);
    sn_release(response->schur);
    sn_release(response->loads);
    memset(response, 0, sizeof *response);
}

static double *column_of(const SnResponse *response, size_t k)
{
    return response->columns + 3 * response->unknown_count * k;
}

double *sn_response_load(SnResponse *response, size_t k)
{
    double *column = column_of(response, k);
    memset(column, 0, 3 * response->unknown_count * sizeof *column);
    memset(response->loads, 0, response->size * sizeof *response->loads);
    response->loads[k] = 1.0;
    sn_rows_spread(response->rows, response->loads, column);
    return column;
}

void sn_response_finish(SnResponse *response)
{
    size_t n = response->size;
    double *s = response->schur;
    for (size_t k = 0; k < n; k++) {
        sn_rows_apply(response->rows, column_of(response, k), s + n * k);
        s[n * k + k] += 1.0 / response->rows->stiffness[response->rows->is_alike ? k / 3 : k]; /* 0 for exact rows */
    }
    for (size_t i = 0; i < n; i++) { /* Cholesky, row by row in the lower triangle */
        double whole = s[n * i + i];
        for (size_t j = 0; j <= i; j++) {
            double sum = 0.5 * (s[n * i + j] + (j < i ? s[n * j + i] : s[n * i + j]));
            for (size_t k = 0; k < j; k++) {
                sum -= s[n * i + k] * s[n * j + k];
            }
            /* a row that says nothing new takes no load */
            s[n * i + j] = i > j ? sum / s[n * j + j] : (sum > DEPENDENT * whole ? sqrt(sum) : INFINITY);
        }
    }
    response->is_known = 1;
}

void sn_response_correct(SnResponse *response, double *step)
{
    size_t n = response->size, unknowns = 3 * response->unknown_count;
    const double *s = response->schur;
    double *load = response->loads;
    if (!response->is_known) { /* a projection alone has to do */
        return;
    }
    sn_rows_apply(response->rows, step, load);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++) {
            load[i] -= s[n * i + k] * load[k];
        }
        load[i] /= s[n * i + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++) {
            load[i] -= s[n * k + i] * load[k];
        }
        load[i] /= s[n * i + i];
    }
    for (size_t k = 0; k < n; k++) {
        const double *column = column_of(response, k);
        for (size_t i = 0; i < unknowns; i++) {
            step[i] -= load[k] * column[i];
        }
    }
}
