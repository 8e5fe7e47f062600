/* C takes the means: row 3r + a holds the shares of region r in component a. Steps are projected by Π = I - 1 C, which shifts whole
   regions, slopes by Πᵀ. The exact step within the constraints is H⁻¹(r - Cᵀλ) with C H⁻¹(r - Cᵀλ) = 0. */
#include "dynamics/averages.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

SnStatus sn_averages_init(SnContext *context, const SnAssembly *assembly, const double *mass, const int32_t *regions,
                          SnAverages *averages)
{
    SnStatus status = SN_OK;
    double *total = NULL;
    int32_t *number = NULL, most = -1;
    for (size_t v = 0; v < assembly->vertex_count; v++) {
        most = regions[v] > most ? regions[v] : most;
    }
    if (most >= SN_AVERAGES_MOST) {
        return sn_context_fail(context, SN_BAD_INPUT, "There are more than %d regions whose average is to follow: ask for fewer.",
                               SN_AVERAGES_MOST);
    }
    averages->unknown_count = assembly->unknown_count;
    SN_TRY_NEW(context, averages->vertex, assembly->unknown_count, int32_t);
    SN_TRY_NEW(context, averages->region, assembly->unknown_count, int32_t);
    SN_TRY_NEW(context, averages->share, assembly->unknown_count, double);
    SN_TRY_NEW(context, total, most + 1, double);
    SN_TRY_NEW(context, number, most + 1, int32_t);
    for (size_t k = 0; k < assembly->unknown_count; k++) {
        int32_t region = regions[assembly->vertex[k]];
        if (region >= 0) {
            total[region] += mass[assembly->vertex[k]];
        }
    }
    for (int32_t region = 0; region <= most; region++) {
        number[region] = total[region] > 0.0 ? (int32_t)averages->region_count++ : -1;
    }
    for (size_t k = 0; k < assembly->unknown_count; k++) {
        int32_t region = regions[assembly->vertex[k]];
        averages->vertex[k] = assembly->vertex[k];
        averages->region[k] = region >= 0 ? number[region] : -1;
        averages->share[k] = averages->region[k] >= 0 ? mass[assembly->vertex[k]] / total[region] : 0.0;
    }
cleanup:
    sn_release(total);
    sn_release(number);
    if (status != SN_OK) {
        sn_averages_clear(averages);
    }
    return status;
}

void sn_averages_clear(SnAverages *averages)
{
    sn_release(averages->vertex);
    sn_release(averages->region);
    sn_release(averages->share);
    memset(averages, 0, sizeof *averages);
}

/* means = C step */
static void take_means(const SnAverages *averages, const double *step, double *means)
{
    memset(means, 0, 3 * averages->region_count * sizeof *means);
    for (size_t k = 0; k < averages->unknown_count; k++) {
        for (size_t a = 0; a < 3 && averages->region[k] >= 0; a++) {
            means[3 * (size_t)averages->region[k] + a] += averages->share[k] * step[3 * k + a];
        }
    }
}

void sn_averages_impose(const SnAverages *averages, const double *input, double *values)
{
    double shift[3 * SN_AVERAGES_MOST] = {0};
    for (int pass = 0; pass < 2 && averages->region_count > 0; pass++) {
        for (size_t k = 0; k < averages->unknown_count; k++) {
            for (size_t a = 0; a < 3 && averages->region[k] >= 0; a++) {
                size_t at = 3 * (size_t)averages->vertex[k] + a, row = 3 * (size_t)averages->region[k] + a;
                if (pass == 0) {
                    shift[row] += averages->share[k] * (input[at] - values[at]);
                } else {
                    values[at] += shift[row];
                }
            }
        }
    }
}

void sn_averages_project_step(const SnAverages *averages, double *step)
{
    double means[3 * SN_AVERAGES_MOST];
    take_means(averages, step, means);
    for (size_t k = 0; k < averages->unknown_count; k++) {
        for (size_t a = 0; a < 3 && averages->region[k] >= 0; a++) {
            step[3 * k + a] -= means[3 * (size_t)averages->region[k] + a];
        }
    }
}

void sn_averages_project_slope(const SnAverages *averages, double *slope)
{
    double sums[3 * SN_AVERAGES_MOST] = {0};
    for (int pass = 0; pass < 2; pass++) {
        for (size_t k = 0; k < averages->unknown_count; k++) {
            for (size_t a = 0; a < 3 && averages->region[k] >= 0; a++) {
                double *sum = sums + 3 * (size_t)averages->region[k] + a;
                if (pass == 0) {
                    *sum += slope[3 * k + a];
                } else {
                    slope[3 * k + a] -= averages->share[k] * *sum;
                }
            }
        }
    }
}

SnStatus sn_average_response_init(SnContext *context, const SnAverages *averages, SnAverageResponse *response)
{
    SnStatus status = SN_OK;
    response->averages = averages;
    response->size = 3 * averages->region_count;
    SN_TRY_NEW(context, response->columns, 3 * averages->unknown_count * response->size, double);
    SN_TRY_NEW(context, response->schur, response->size * response->size, double);
    SN_TRY_NEW(context, response->means, response->size, double);
cleanup:
    if (status != SN_OK) {
        sn_average_response_clear(response);
    }
    return status;
}

void sn_average_response_clear(SnAverageResponse *response)
{
    sn_release(response->columns);
    sn_release(response->schur);
    sn_release(response->means);
    memset(response, 0, sizeof *response);
}

static double *column_of(const SnAverageResponse *response, size_t k)
{
    return response->columns + 3 * response->averages->unknown_count * k;
}

double *sn_average_response_load(SnAverageResponse *response, size_t k)
{
    const SnAverages *averages = response->averages;
    double *column = column_of(response, k);
    for (size_t i = 0; i < 3 * averages->unknown_count; i++) {
        column[i] = averages->region[i / 3] == (int32_t)(k / 3) && i % 3 == k % 3 ? averages->share[i / 3] : 0.0;
    }
    return column;
}

void sn_average_response_finish(SnAverageResponse *response)
{
    size_t n = response->size;
    double *s = response->schur;
    for (size_t k = 0; k < n; k++) {
        take_means(response->averages, column_of(response, k), s + n * k);
    }
    response->is_known = 1;
    for (size_t i = 0; i < n && response->is_known; i++) { /* Cholesky, row by row in the lower triangle */
        for (size_t j = 0; j <= i; j++) {
            double sum = 0.5 * (s[n * i + j] + (j < i ? s[n * j + i] : s[n * i + j]));
            for (size_t k = 0; k < j; k++) {
                sum -= s[n * i + k] * s[n * j + k];
            }
            response->is_known &= i != j || sum > 0.0;
            s[n * i + j] = i == j ? sqrt(fmax(sum, 0.0)) : sum / s[n * j + j];
        }
    }
}

void sn_average_response_correct(SnAverageResponse *response, double *step)
{
    size_t n = response->size, unknowns = 3 * response->averages->unknown_count;
    const double *s = response->schur;
    double *load = response->means;
    if (!response->is_known) { /* the projection alone has to do */
        return;
    }
    take_means(response->averages, step, load);
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
