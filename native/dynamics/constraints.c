#include "dynamics/constraints.h"

#include "base/memory.h"

#include <string.h>

#define IMPOSE_ROUNDS 2 /* the second one takes away what rounding left of the first */

SnStatus sn_constraints_init(SnContext *context, const SnAssembly *assembly, const double *mass, SnRows *rows,
                             SnConstraints *constraints)
{
    SnStatus status = SN_OK;
    *constraints = (SnConstraints){.rows = *rows, .vertex = assembly->vertex, .unknown = assembly->unknown, .unknown_count = assembly->unknown_count};
    *rows = (SnRows){.is_alike = rows->is_alike};
    SN_TRY_NEW(context, constraints->inverse_mass, assembly->unknown_count, double);
    for (size_t k = 0; k < assembly->unknown_count; k++) {
        constraints->inverse_mass[k] = 1.0 / mass[assembly->vertex[k]];
    }
    SN_TRY(sn_rows_renumber(context, &constraints->rows, assembly->unknown, &constraints->free_rows));
    SN_TRY(sn_row_factor_init(context, &constraints->free_rows, assembly->unknown_count, constraints->inverse_mass,
                              &constraints->factor));
    constraints->size = sn_rows_size(&constraints->rows);
cleanup:
    if (status != SN_OK) {
        sn_constraints_clear(constraints);
    }
    return status;
}

void sn_constraints_clear(SnConstraints *constraints)
{
    sn_rows_clear(&constraints->rows);
    sn_rows_clear(&constraints->free_rows);
    sn_row_factor_clear(&constraints->factor);
    sn_release(constraints->inverse_mass);
    memset(constraints, 0, sizeof *constraints);
}

SnStatus sn_constraints_release(SnContext *context, SnConstraints *c, const unsigned char *off)
{
    SnStatus status = SN_OK;
    SnRows *rows = &c->free_rows;
    sn_rows_empty(rows);
    SN_TRY(sn_rows_renumber(context, &c->rows, c->unknown, rows));
    for (size_t r = 0; r < rows->count; r++) { /* without a weight a row depends on nothing, and nothing on it */
        size_t width = rows->is_alike ? 1 : 3, begin = width * (size_t)rows->start[r], end = width * (size_t)rows->start[r + 1];
        memset(rows->weights + begin, 0, (off[r] ? end - begin : 0) * sizeof *rows->weights);
    }
    sn_row_factor_clear(&c->factor);
    SN_TRY(sn_row_factor_init(context, rows, c->unknown_count, c->inverse_mass, &c->factor));
cleanup:
    return status;
}

/* values (vertices x 3, or unknowns x 3 where `vertex` is null) += scale M⁻¹ Cᵀ λ */
static void shift(const SnConstraints *c, const int32_t *vertex, double scale, const double *lambda, double *values)
{
    const SnRows *rows = &c->free_rows;
    for (size_t r = 0; r < rows->count; r++) {
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            size_t unknown = (size_t)rows->points[k], at = vertex != NULL ? (size_t)vertex[unknown] : unknown;
            for (size_t a = 0; a < 3; a++) {
                double load = rows->is_alike ? rows->weights[k] * lambda[3 * r + a] : rows->weights[3 * (size_t)k + a] * lambda[r];
                values[3 * at + a] += scale * c->inverse_mass[unknown] * load;
            }
        }
    }
}

void sn_constraints_impose(const SnConstraints *c, const double *targets, double *work, double *values)
{
    for (int round = 0; round < IMPOSE_ROUNDS && c->size > 0; round++) {
        sn_rows_apply(&c->rows, values, work);
        for (size_t k = 0; k < c->size; k++) {
            work[k] = targets[k] - work[k];
        }
        sn_row_factor_solve(&c->factor, work);
        shift(c, c->vertex, 1.0, work, values);
    }
}

void sn_constraints_project_step(const SnConstraints *c, double *work, double *step)
{
    sn_rows_apply(&c->free_rows, step, work);
    sn_row_factor_solve(&c->factor, work);
    shift(c, NULL, -1.0, work, step);
}

void sn_constraints_project_slope(const SnConstraints *c, double *work, double *slope)
{
    const SnRows *rows = &c->free_rows;
    memset(work, 0, c->size * sizeof *work);
    for (size_t r = 0; r < rows->count; r++) { /* C M⁻¹ slope */
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            const double *at = slope + 3 * (size_t)rows->points[k];
            double inverse = c->inverse_mass[rows->points[k]];
            for (size_t a = 0; a < 3; a++) {
                double weight = rows->is_alike ? rows->weights[k] : rows->weights[3 * (size_t)k + a];
                work[rows->is_alike ? 3 * r + a : r] += inverse * weight * at[a];
            }
        }
    }
    sn_row_factor_solve(&c->factor, work);
    for (size_t k = 0; k < c->size; k++) {
        work[k] = -work[k];
    }
    sn_rows_spread(rows, work, slope);
}
