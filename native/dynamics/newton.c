#include "dynamics/newton.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

#define LINE_SEARCH_HALVINGS 30
#define SUFFICIENT_DECREASE 1e-4

struct SnNewton {
    const SnTetElements *elements;
    const SnAssembly *assembly;
    SnLinearSolver *solver;
    double *element_gradients; /* tets x 12 */
    double *element_stiffness; /* tets x SN_TET_STIFFNESS */
    double *partial;           /* energies of chunks */
    double *gradient;          /* vertices x 3: elastic gradient */
    double *values;            /* the Hessian */
    double *residual, *step;   /* unknowns x 3 */
    double *offset, *product;  /* unknowns x 3: x - c and B (x - c) */
    double *trial;             /* vertices x 3 */
};

SnStatus sn_newton_create(SnContext *context, const SnTetElements *elements, const SnAssembly *assembly, SnNewton **out)
{
    SnStatus status = SN_OK;
    SnNewton *newton = NULL;
    size_t unknowns = assembly->unknown_count, vertices = assembly->vertex_count;
    *out = NULL;
    SN_TRY_NEW(context, newton, 1, SnNewton);
    newton->elements = elements;
    newton->assembly = assembly;
    SN_TRY_NEW(context, newton->element_gradients, 12 * elements->count, double);
    SN_TRY_NEW(context, newton->element_stiffness, SN_TET_STIFFNESS * elements->count, double);
    SN_TRY_NEW(context, newton->partial, sn_tet_elements_partial_count(elements), double);
    SN_TRY_NEW(context, newton->gradient, 3 * vertices, double);
    SN_TRY_NEW(context, newton->values, assembly->pattern.value_count, double);
    SN_TRY_NEW(context, newton->residual, 3 * unknowns, double);
    SN_TRY_NEW(context, newton->step, 3 * unknowns, double);
    SN_TRY_NEW(context, newton->offset, 3 * unknowns, double);
    SN_TRY_NEW(context, newton->product, 3 * unknowns, double);
    SN_TRY_NEW(context, newton->trial, 3 * vertices, double);
    if (unknowns > 0) {
        SN_TRY(sn_linear_solver_create(context, &assembly->pattern, &newton->solver));
    }
    *out = newton;
cleanup:
    if (status != SN_OK) {
        sn_newton_destroy(newton);
    }
    return status;
}

void sn_newton_destroy(SnNewton *newton)
{
    if (newton == NULL) {
        return;
    }
    sn_linear_solver_destroy(newton->solver);
    sn_release(newton->element_gradients);
    sn_release(newton->element_stiffness);
    sn_release(newton->partial);
    sn_release(newton->gradient);
    sn_release(newton->values);
    sn_release(newton->residual);
    sn_release(newton->step);
    sn_release(newton->offset);
    sn_release(newton->product);
    sn_release(newton->trial);
    sn_release(newton);
}

/* product = B (x - c) over the unknowns. */
static void multiply_matrix(SnNewton *newton, const SnObjective *objective, const double *x)
{
    const SnAssembly *assembly = newton->assembly;
    for (size_t k = 0; k < assembly->unknown_count; k++) {
        size_t v = (size_t)assembly->vertex[k];
        for (size_t a = 0; a < 3; a++) {
            newton->offset[3 * k + a] = x[3 * v + a] - objective->centre[3 * v + a];
        }
    }
    sn_block_matrix_multiply(&assembly->pattern, objective->matrix, newton->offset, newton->product);
}

double sn_newton_value(SnNewton *newton, const SnObjective *objective, const double *x)
{
    const SnAssembly *assembly = newton->assembly;
    double sum = objective->elastic_scale *
                 sn_tet_elements_energy(newton->elements, objective->rest, x, newton->partial);
    for (size_t k = 0; k < assembly->unknown_count; k++) {
        size_t v = (size_t)assembly->vertex[k];
        for (size_t a = 0; a < 3; a++) {
            double distance = x[3 * v + a] - objective->targets[3 * v + a];
            sum += 0.5 * objective->diagonal[v] * distance * distance;
            if (objective->loads != NULL) {
                sum -= objective->loads[3 * v + a] * distance;
            }
        }
    }
    if (objective->matrix != NULL) {
        multiply_matrix(newton, objective, x);
        for (size_t k = 0; k < 3 * assembly->unknown_count; k++) {
            sum += 0.5 * newton->offset[k] * newton->product[k];
        }
    }
    return sum;
}

/* residual = -dE/dx over the unknowns; values = projected Hessian. */
static void linearise(SnNewton *newton, const SnObjective *objective, const double *x)
{
    const SnAssembly *assembly = newton->assembly;
    const SnBlockPattern *pattern = &assembly->pattern;
    sn_tet_elements_derivatives(newton->elements, objective->rest, x, newton->element_gradients, newton->element_stiffness);
    sn_assembly_gather_gradient(assembly, newton->element_gradients, newton->gradient);
    sn_assembly_gather_stiffness(assembly, newton->element_stiffness, newton->values);
    for (size_t k = 0; k < pattern->value_count; k++) {
        newton->values[k] *= objective->elastic_scale;
    }
    if (objective->matrix != NULL) {
        multiply_matrix(newton, objective, x);
        for (size_t k = 0; k < pattern->value_count; k++) {
            newton->values[k] += objective->matrix[k];
        }
    }
    for (size_t k = 0; k < assembly->unknown_count; k++) {
        size_t v = (size_t)assembly->vertex[k];
        for (size_t a = 0; a < 3; a++) {
            double slope = objective->elastic_scale * newton->gradient[3 * v + a] +
                           objective->diagonal[v] * (x[3 * v + a] - objective->targets[3 * v + a]);
            if (objective->loads != NULL) {
                slope -= objective->loads[3 * v + a];
            }
            if (objective->matrix != NULL) {
                slope += newton->product[3 * k + a];
            }
            newton->residual[3 * k + a] = -slope;
            newton->values[pattern->value_start[3 * k + a]] += objective->diagonal[v];
        }
    }
}

/* trial = x + length * step; returns the longest move of a vertex. */
static double take_step(SnNewton *newton, const double *x, double length)
{
    const SnAssembly *assembly = newton->assembly;
    double longest = 0.0;
    memcpy(newton->trial, x, 3 * assembly->vertex_count * sizeof *x);
    for (size_t k = 0; k < assembly->unknown_count; k++) {
        double squared = 0.0;
        for (size_t a = 0; a < 3; a++) {
            double move = length * newton->step[3 * k + a];
            newton->trial[3 * (size_t)assembly->vertex[k] + a] += move;
            squared += move * move;
        }
        longest = fmax(longest, squared);
    }
    return sqrt(longest);
}

SnStatus sn_newton_minimise(SnContext *context, SnNewton *newton, const SnObjective *objective,
                            const SnNewtonSettings *settings, double *positions, SnNewtonReport *report)
{
    SnStatus status = SN_OK;
    const SnAssembly *assembly = newton->assembly;
    size_t bytes = 3 * assembly->vertex_count * sizeof *positions;
    if (assembly->unknown_count == 0) {
        report->converged = 1;
        return SN_OK;
    }
    double value = settings->single_full_step ? 0.0 : sn_newton_value(newton, objective, positions);
    report->converged = 0;
    for (int round = 0; round < settings->max_rounds && !report->converged; round++) {
        linearise(newton, objective, positions);
        SN_TRY(sn_linear_solver_factorize(context, newton->solver, newton->values));
        SN_TRY(sn_linear_solver_solve(context, newton->solver, newton->residual, newton->step));
        report->rounds++;
        report->factorizations++;
        double decrease = 0.0;
        for (size_t k = 0; k < 3 * assembly->unknown_count; k++) {
            decrease += newton->step[k] * newton->residual[k];
        }
        if (!isfinite(decrease)) {
            status = sn_context_fail(context, SN_NUMERIC_FAILURE,
                                     "The simulation left the range of numbers: check the input for huge coordinates.");
            goto cleanup;
        }
        if (settings->single_full_step) {
            report->last_step = take_step(newton, positions, 1.0);
            memcpy(positions, newton->trial, bytes);
            continue;
        }
        double length = 1.0;
        int accepted = 0;
        /* a short full step is the last one: Newton is quadratic there, and its gain drowns in the rounding of E */
        double full_move = take_step(newton, positions, 1.0);
        if (full_move <= settings->step_tolerance) {
            double trial_value = sn_newton_value(newton, objective, newton->trial);
            if (trial_value <= value) {
                memcpy(positions, newton->trial, bytes);
            }
            report->last_step = full_move;
            report->converged = 1;
            break;
        }
        for (int halving = 0; halving < LINE_SEARCH_HALVINGS && !accepted; halving++) {
            double move = take_step(newton, positions, length);
            double trial_value = sn_newton_value(newton, objective, newton->trial);
            double noise = 1e-14 * (fabs(value) + fabs(trial_value));
            accepted = trial_value <= value - SUFFICIENT_DECREASE * length * decrease + noise;
            if (accepted) {
                report->last_step = move;
                value = trial_value;
                memcpy(positions, newton->trial, bytes);
            }
            length *= 0.5;
        }
        if (!accepted) {
            break; /* no descent left: this is as low as rounding allows */
        }
    }
cleanup:
    return status;
}
