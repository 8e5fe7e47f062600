#include "dynamics/newton.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

#define LINE_SEARCH_HALVINGS 30
#define SUFFICIENT_DECREASE 1e-4
/* A kept factor shortens the step of each round by a constant; above this constant a fresh one pays. */
#define WORST_CONTRACTION 0.35

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
    int has_factor;            /* a factor of an earlier matrix is at hand */
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

/* residual = -dE/dx over the unknowns; with `hessian` also values = projected Hessian. */
static void linearise(SnNewton *newton, const SnObjective *objective, const double *x, int hessian)
{
    const SnAssembly *assembly = newton->assembly;
    const SnBlockPattern *pattern = &assembly->pattern;
    sn_tet_elements_derivatives(newton->elements, objective->rest, x, newton->element_gradients,
                                hessian ? newton->element_stiffness : NULL);
    sn_assembly_gather_gradient(assembly, newton->element_gradients, newton->gradient);
    if (objective->matrix != NULL) {
        multiply_matrix(newton, objective, x);
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
        }
    }
    if (!hessian) {
        return;
    }
    sn_assembly_gather_stiffness(assembly, newton->element_stiffness, newton->values);
    for (size_t k = 0; k < pattern->value_count; k++) {
        newton->values[k] = objective->elastic_scale * newton->values[k] + (objective->matrix ? objective->matrix[k] : 0.0);
    }
    for (size_t k = 0; k < 3 * assembly->unknown_count; k++) {
        newton->values[pattern->value_start[k]] += objective->diagonal[assembly->vertex[k / 3]];
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

void sn_newton_forget(SnNewton *newton)
{
    newton->has_factor = 0;
}

/* step = H⁻¹ residual, with a fresh factor or the kept one. */
static SnStatus find_step(SnContext *context, SnNewton *newton, const SnObjective *objective, const double *positions, int fresh,
                          SnNewtonReport *report)
{
    SnStatus status = SN_OK;
    linearise(newton, objective, positions, fresh);
    if (fresh) {
        newton->has_factor = 0;
        SN_TRY(sn_linear_solver_factorize(context, newton->solver, newton->values));
        newton->has_factor = 1;
        report->factorizations++;
    }
    SN_TRY(sn_linear_solver_solve(context, newton->solver, newton->residual, newton->step));
    report->rounds++;
cleanup:
    return status;
}

/* Backtracks until E has decreased enough; trial holds the accepted positions. Returns the accepted length, 0 for none. */
static double search_line(SnNewton *newton, const SnObjective *objective, const double *positions, double decrease, double *value)
{
    double length = 1.0;
    for (int halving = 0; halving < LINE_SEARCH_HALVINGS; halving++) {
        take_step(newton, positions, length);
        double trial_value = sn_newton_value(newton, objective, newton->trial);
        double noise = 1e-14 * (fabs(*value) + fabs(trial_value));
        if (trial_value <= *value - SUFFICIENT_DECREASE * length * decrease + noise) {
            *value = trial_value;
            return length;
        }
        length *= 0.5;
    }
    return 0.0;
}

SnStatus sn_newton_minimise(SnContext *context, SnNewton *newton, const SnObjective *objective,
                            const SnNewtonSettings *settings, double *positions, SnNewtonReport *report)
{
    SnStatus status = SN_OK;
    const SnAssembly *assembly = newton->assembly;
    size_t bytes = 3 * assembly->vertex_count * sizeof *positions;
    report->converged = 0;
    if (assembly->unknown_count == 0) {
        report->converged = 1;
        return SN_OK;
    }
    double value = settings->single_full_step ? 0.0 : sn_newton_value(newton, objective, positions);
    double move_before = INFINITY, value_before = value;
    int fresh = !newton->has_factor || settings->single_full_step;
    for (int round = 0; round < settings->max_rounds && !report->converged; round++) {
        SN_TRY(find_step(context, newton, objective, positions, fresh, report));
        double decrease = 0.0;
        for (size_t k = 0; k < 3 * assembly->unknown_count; k++) {
            decrease += newton->step[k] * newton->residual[k];
        }
        if (!isfinite(decrease)) {
            status = sn_context_fail(context, SN_NUMERIC_FAILURE,
                                     "The simulation left the range of numbers: check the input for huge coordinates.");
            goto cleanup;
        }
        double move = take_step(newton, positions, 1.0);
        double contraction = move / move_before;
        report->last_step = move;
        if (settings->single_full_step) {
            memcpy(positions, newton->trial, bytes);
            continue;
        }
        /* a short step is the last one, once it is known that the steps after it are shorter still: its gain drowns in the
           rounding of E, so it needs no search */
        if (move <= settings->step_tolerance && (fresh || contraction < WORST_CONTRACTION || move <= 0.01 * settings->step_tolerance)) {
            if (sn_newton_value(newton, objective, newton->trial) <= value) {
                memcpy(positions, newton->trial, bytes);
            }
            report->converged = 1;
            break;
        }
        double length = search_line(newton, objective, positions, decrease, &value);
        if (length == 0.0) {
            if (fresh) {
                break; /* no descent left: this is as low as rounding allows */
            }
            fresh = 1;
            continue;
        }
        memcpy(positions, newton->trial, bytes);
        if (decrease <= settings->energy_tolerance || decrease <= settings->gain_tolerance * (value_before - value)) {
            report->converged = 1;
        }
        fresh = length < 1.0 || (!fresh && contraction > WORST_CONTRACTION && isfinite(move_before));
        move_before = length * move;
    }
cleanup:
    return status;
}
