#include "dynamics/newton.h"

#include "base/memory.h"
#include "dynamics/lbfgs.h"
#include "dynamics/response.h"
#include "dynamics/rotations.h"
#include "math/multifrontal.h"
#include "math/vector.h"

#include <math.h>
#include <string.h>

#define LINE_SEARCH_TRIALS 40
#define SUFFICIENT_DECREASE 1e-4
#define SLOPE_LEFT 0.9 /* of the slope at the start: what a step may leave where the energy itself is lost in rounding */
/* A minimisation with a fresh factor takes about FRESH_ROUNDS rounds, and making it costs as much as some further ones (refresh_cost).
   Rounds beyond the former are counted against a kept factor, over minimisations; where they exceed the latter, a fresh one pays. A
   fresh one that takes as many as HOPELESS beyond is not exact enough. */
#define FRESH_ROUNDS 4
#define HOPELESS 12
#define MOST_REFRESH_COST 30 /* within the rounds of a step there must be room for the other resorts */
/* Measured, in units of reading one entry of the factor in a solution: */
#define PRODUCTS_OF_FACTORIZATION 12.0 /* that are as fast */
#define NO_NUMBERS "The simulation left the range of numbers: check the input for huge coordinates."
#define WORST_CONTRACTION 0.5 /* of moves from round to round, for a short move to be trusted as the last one */

struct SnNewton {
    size_t term_count;
    SnTerm terms[SN_TERMS_MOST];
    const SnAssembly *assembly;
    SnLinearSolver *solver;    /* exact, the last resort */
    SnMultifrontal *quick;     /* single precision, several times as fast */
    int is_exact;              /* which of them holds the factor */
    double *element_gradients; /* corners of all terms x 3 */
    double *element_stiffness; /* blocks of all terms x 9 */
    double *partial;           /* energies of chunks */
    double *gradient;          /* vertices x 3: of the terms */
    double *values;            /* the Hessian */
    double *residual, *step;   /* unknowns x 3 */
    double *trial_residual;    /* unknowns x 3 */
    double *offset, *product;  /* unknowns x 3: x - c and B (x - c) */
    double *trial;             /* vertices x 3 */
    double rounding;           /* of the terms, J */
    SnLbfgs lbfgs;
    const SnConstraints *constraints; /* or null */
    double *row_work;          /* values of their rows */
    SnResponse response;       /* of the factor to them */
    int has_factor;            /* a factor of an earlier matrix is at hand */
    double *factor_positions;  /* vertices x 3: where it was made */
    double *rotations;         /* unknowns x 9: how the body has turned since ... */
    int has_turned;            /* ... if it has */
    int excess;                /* rounds that a fresh factor would have spared so far */
    int refresh_cost;          /* as many rounds as a fresh factor costs */
};

/* By counting, never by a clock: the larger the body, the dearer is a factorization beside a round. */
static int count_refresh_cost(const SnNewton *newton)
{
    double products, entries, hessian = 0.0, round = 0.0;
    sn_multifrontal_work(newton->quick, &products, &entries);
    for (size_t t = 0; t < newton->term_count; t++) {
        hessian += newton->terms[t].kind->hessian_work * (double)newton->terms[t].stencils.count;
        round += newton->terms[t].kind->round_work * (double)newton->terms[t].stencils.count;
    }
    double cost = (products / PRODUCTS_OF_FACTORIZATION + hessian) / (entries + round);
    return (int)fmin(cost, MOST_REFRESH_COST);
}

SnStatus sn_newton_create(SnContext *context, size_t term_count, const SnTerm *terms, const SnAssembly *assembly, SnNewton **out)
{
    SnStatus status = SN_OK;
    SnNewton *newton = NULL;
    size_t unknowns = assembly->unknown_count, vertices = assembly->vertex_count;
    *out = NULL;
    SN_TRY_NEW(context, newton, 1, SnNewton);
    newton->term_count = term_count;
    memcpy(newton->terms, terms, term_count * sizeof *terms);
    newton->assembly = assembly;
    SN_TRY_NEW(context, newton->element_gradients, 3 * sn_terms_corner_count(term_count, terms), double);
    SN_TRY_NEW(context, newton->element_stiffness, 9 * sn_terms_block_count(term_count, terms), double);
    SN_TRY_NEW(context, newton->partial, sn_terms_partial_count(term_count, terms), double);
    SN_TRY_NEW(context, newton->gradient, 3 * vertices, double);
    SN_TRY_NEW(context, newton->values, assembly->pattern.value_count, double);
    SN_TRY_NEW(context, newton->residual, 3 * unknowns, double);
    SN_TRY_NEW(context, newton->step, 3 * unknowns, double);
    SN_TRY_NEW(context, newton->trial_residual, 3 * unknowns, double);
    SN_TRY_NEW(context, newton->offset, 3 * unknowns, double);
    SN_TRY_NEW(context, newton->product, 3 * unknowns, double);
    SN_TRY_NEW(context, newton->trial, 3 * vertices, double);
    SN_TRY_NEW(context, newton->factor_positions, 3 * vertices, double);
    SN_TRY_NEW(context, newton->rotations, 9 * unknowns, double);
    SN_TRY(sn_lbfgs_init(context, 3 * unknowns, &newton->lbfgs));
    for (size_t t = 0; t < term_count; t++) {
        newton->rounding += terms[t].kind->rounding(terms[t].elements);
    }
    if (unknowns > 0) {
        SN_TRY(sn_linear_solver_create(context, &assembly->pattern, &newton->solver));
        SN_TRY(sn_multifrontal_create(context, &assembly->pattern, newton->solver, &newton->quick));
        newton->refresh_cost = count_refresh_cost(newton);
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
    sn_multifrontal_destroy(newton->quick);
    sn_linear_solver_destroy(newton->solver);
    sn_release(newton->element_gradients);
    sn_release(newton->element_stiffness);
    sn_release(newton->partial);
    sn_release(newton->gradient);
    sn_release(newton->values);
    sn_release(newton->residual);
    sn_release(newton->step);
    sn_release(newton->trial_residual);
    sn_lbfgs_clear(&newton->lbfgs);
    sn_response_clear(&newton->response);
    sn_release(newton->row_work);
    sn_release(newton->offset);
    sn_release(newton->product);
    sn_release(newton->trial);
    sn_release(newton->factor_positions);
    sn_release(newton->rotations);
    sn_release(newton);
}

SnStatus sn_newton_constrain(SnContext *context, SnNewton *newton, const SnConstraints *constraints)
{
    SnStatus status = SN_OK;
    if (constraints->size > 0) {
        newton->constraints = constraints;
        SN_TRY_NEW(context, newton->row_work, constraints->size, double);
        SN_TRY(sn_response_init(context, &constraints->free_rows, constraints->unknown_count, &newton->response));
    }
cleanup:
    return status;
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

/* E(x); with `residual` also -dE/dx over the unknowns, as far as the constraints let it be felt. */
static double evaluate(SnNewton *newton, const SnObjective *objective, const double *x, double *residual)
{
    const SnAssembly *assembly = newton->assembly;
    double sum = objective->scale * sn_terms_value(newton->term_count, newton->terms, objective->inputs, x, newton->partial,
                                                   residual ? newton->element_gradients : NULL);
    if (residual != NULL) {
        sn_assembly_gather_gradient(assembly, newton->element_gradients, newton->gradient);
    }
    if (objective->matrix != NULL) {
        multiply_matrix(newton, objective, x);
        sum += 0.5 * sn_vector_dot(3 * assembly->unknown_count, newton->offset, newton->product);
    }
    for (size_t k = 0; k < assembly->unknown_count; k++) {
        size_t v = (size_t)assembly->vertex[k];
        for (size_t a = 0; a < 3; a++) {
            double distance = x[3 * v + a] - objective->targets[3 * v + a];
            double load = objective->loads != NULL ? objective->loads[3 * v + a] : 0.0;
            sum += (0.5 * objective->diagonal[v] * distance - load) * distance;
            if (residual != NULL) {
                double slope = objective->scale * newton->gradient[3 * v + a] + objective->diagonal[v] * distance - load;
                residual[3 * k + a] = -slope - (objective->matrix != NULL ? newton->product[3 * k + a] : 0.0);
            }
        }
    }
    if (residual != NULL && newton->constraints != NULL) {
        sn_constraints_project_slope(newton->constraints, newton->row_work, residual);
    }
    return sum;
}

double sn_newton_value(SnNewton *newton, const SnObjective *objective, const double *x)
{
    return evaluate(newton, objective, x, NULL);
}

double sn_newton_rounding(const SnNewton *newton)
{
    return newton->rounding;
}

/* values = projected Hessian at x */
static void assemble_hessian(SnNewton *newton, const SnObjective *objective, const double *x)
{
    const SnAssembly *assembly = newton->assembly;
    const SnBlockPattern *pattern = &assembly->pattern;
    sn_terms_stiffness(newton->term_count, newton->terms, objective->inputs, x, newton->element_stiffness);
    sn_assembly_gather_stiffness(assembly, newton->element_stiffness, newton->values);
    for (size_t k = 0; k < pattern->value_count; k++) {
        newton->values[k] = objective->scale * newton->values[k] + (objective->matrix ? objective->matrix[k] : 0.0);
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

/* vector = H⁻¹ vector, by the factor at hand */
static SnStatus solve_factor(SnContext *context, SnNewton *newton, int roughly, double *vector)
{
    if (newton->is_exact) {
        return sn_linear_solver_solve(context, newton->solver, vector, vector);
    }
    (roughly ? sn_multifrontal_solve_roughly : sn_multifrontal_solve)(newton->quick, vector, vector);
    return SN_OK;
}

/* While inertia rules, projected steps are as good as exact ones: the response, three solutions a region, waits until it is needed. */
static SnStatus refresh_response(SnContext *context, SnNewton *newton)
{
    SnStatus status = SN_OK;
    for (size_t k = 0; k < newton->response.size; k++) {
        SN_TRY(solve_factor(context, newton, 0, sn_response_load(&newton->response, k)));
    }
    sn_response_finish(&newton->response);
cleanup:
    return status;
}

/* The matrix at `positions`, factorized in single precision, or exactly where that was asked for or where digits are lost. */
static SnStatus refresh_factor(SnContext *context, SnNewton *newton, const SnObjective *objective, const double *positions, int exact,
                               SnNewtonReport *report)
{
    SnStatus status = SN_OK;
    newton->has_factor = 0;
    assemble_hessian(newton, objective, positions);
    newton->is_exact = exact || sn_multifrontal_factorize(newton->quick, newton->values) > 0;
    if (newton->is_exact) {
        SN_TRY(sn_linear_solver_factorize(context, newton->solver, newton->values));
    }
    newton->response.is_known = 0;
    sn_lbfgs_forget(&newton->lbfgs);
    memcpy(newton->factor_positions, positions, 3 * newton->assembly->vertex_count * sizeof *positions);
    newton->has_factor = 1;
    newton->has_turned = 0;
    newton->excess = 0;
    report->factorizations++;
cleanup:
    return status;
}

/* step = H⁻¹ residual by the factor at hand and the curvature seen since. */
static SnStatus find_step(SnContext *context, SnNewton *newton)
{
    SnStatus status = SN_OK;
    SnLbfgsWeights weights;
    memcpy(newton->step, newton->residual, 3 * newton->assembly->unknown_count * sizeof *newton->step);
    sn_lbfgs_before(&newton->lbfgs, newton->step, &weights);
    if (newton->has_turned) {
        sn_rotations_apply(newton->assembly->unknown_count, newton->rotations, 1, newton->step);
    }
    /* a factor of an earlier shape is further off than its copy in 16 bits is from it */
    SN_TRY(solve_factor(context, newton, newton->has_turned, newton->step));
    if (newton->response.size > 0) {
        sn_response_correct(&newton->response, newton->step);
    }
    if (newton->has_turned) {
        sn_rotations_apply(newton->assembly->unknown_count, newton->rotations, 0, newton->step);
    }
    if (newton->constraints != NULL) { /* rounding, and regions that do not turn as one */
        sn_constraints_project_step(newton->constraints, newton->row_work, newton->step);
    }
    sn_lbfgs_after(&newton->lbfgs, newton->step, &weights);
cleanup:
    return status;
}

/* Shortens the step until E has decreased enough; trial and trial_residual hold the accepted point, `value` its E. Returns the
   accepted length, 0 for none. Near the minimum the decrease drowns in the rounding of E: there the slope decides, which keeps its
   digits. */
static double search_line(SnNewton *newton, const SnObjective *objective, const double *positions, double decrease, double *value)
{
    size_t count = 3 * newton->assembly->unknown_count;
    double length = 1.0, rounding = objective->scale * newton->rounding;
    for (int k = 0; k < LINE_SEARCH_TRIALS; k++) {
        take_step(newton, positions, length);
        double trial_value = evaluate(newton, objective, newton->trial, newton->trial_residual);
        double change = trial_value - *value, noise = rounding + 1e-15 * (fabs(*value) + fabs(trial_value));
        int lower = change <= -SUFFICIENT_DECREASE * length * decrease;
        if (!lower && change <= noise) {
            lower = fabs(sn_vector_dot(count, newton->trial_residual, newton->step)) <= SLOPE_LEFT * decrease;
        }
        if (lower) {
            *value = trial_value;
            return length;
        }
        /* the minimum of the parabola through both values with the slope at the start */
        double parabola = 0.5 * length * length * decrease / (change + length * decrease);
        length = parabola > 0.1 * length && parabola < 0.5 * length ? parabola : (parabola <= 0.1 * length ? 0.1 : 0.5) * length;
    }
    return 0.0;
}

/* One undamped Newton round. */
static SnStatus take_full_step(SnContext *context, SnNewton *newton, const SnObjective *objective, double *positions,
                               SnNewtonReport *report)
{
    SnStatus status = SN_OK;
    (void)evaluate(newton, objective, positions, newton->residual);
    SN_TRY(refresh_factor(context, newton, objective, positions, 1, report));
    SN_TRY(refresh_response(context, newton));
    SN_TRY(find_step(context, newton));
    report->rounds++;
    report->last_step = take_step(newton, positions, 1.0);
    if (!isfinite(sn_vector_dot(3 * newton->assembly->unknown_count, newton->step, newton->step))) {
        status = sn_context_fail(context, SN_NUMERIC_FAILURE, NO_NUMBERS);
        goto cleanup;
    }
    memcpy(positions, newton->trial, 3 * newton->assembly->vertex_count * sizeof *positions);
cleanup:
    return status;
}

SnStatus sn_newton_minimise(SnContext *context, SnNewton *newton, const SnObjective *objective,
                            const SnNewtonSettings *settings, double *positions, SnNewtonReport *report)
{
    SnStatus status = SN_OK;
    const SnAssembly *assembly = newton->assembly;
    size_t count = 3 * assembly->unknown_count;
    report->converged = assembly->unknown_count == 0;
    if (report->converged) {
        return SN_OK;
    }
    if (settings->single_full_step) {
        return take_full_step(context, newton, objective, positions, report);
    }
    double value = evaluate(newton, objective, positions, newton->residual), value_before = value, move_before = INFINITY;
    double lost = 1e3 * objective->scale * newton->rounding; /* J: smaller decreases are lost in rounding */
    int stale = !newton->has_factor || newton->excess > newton->refresh_cost;
    if (!stale) {
        sn_rotations_between(assembly, newton->factor_positions, positions, newton->rotations);
        newton->has_turned = 1;
    }
    int exact = 0;  /* single precision has not been enough */
    int labours = 0; /* projected steps have not been enough */
    for (int round = 0, made_at = -1; round < settings->max_rounds && !report->converged; round++) {
        int fresh = stale;
        if (fresh) {
            exact |= made_at >= 0 && newton->excess > HOPELESS;
            SN_TRY(refresh_factor(context, newton, objective, positions, exact, report));
            made_at = round;
        }
        if (labours && newton->response.size > 0 && !newton->response.is_known) {
            SN_TRY(refresh_response(context, newton));
        }
        SN_TRY(find_step(context, newton));
        report->rounds++;
        double decrease = sn_vector_dot(count, newton->step, newton->residual);
        if (!isfinite(decrease) || !isfinite(value)) {
            status = sn_context_fail(context, SN_NUMERIC_FAILURE, NO_NUMBERS);
            goto cleanup;
        }
        double move = take_step(newton, positions, 1.0), contraction = move / move_before;
        double length = search_line(newton, objective, positions, decrease, &value);
        report->last_step = move;
        labours |= length < 1.0 || round >= 2 * FRESH_ROUNDS;
        if (length == 0.0) {
            stale = !fresh || !newton->is_exact;
            exact |= fresh;
            if (!stale) { /* no descent left: this is as low as rounding allows */
                report->converged = decrease <= lost || move <= settings->step_tolerance;
                break;
            }
            continue;
        }
        memcpy(positions, newton->trial, 3 * assembly->vertex_count * sizeof *positions);
        if (decrease > lost) { /* a move in the noise says nothing about the Hessian */
            sn_lbfgs_record(&newton->lbfgs, length, newton->step, newton->residual, newton->trial_residual);
        }
        double *swap = newton->residual;
        newton->residual = newton->trial_residual;
        newton->trial_residual = swap;
        /* the moves to come shrink like the last ones: their sum is what is left */
        double left = isfinite(move_before) && contraction < 1.0 ? move * contraction / (1.0 - contraction) : INFINITY;
        double tolerance = settings->step_tolerance;
        int steady = contraction < WORST_CONTRACTION;
        int short_move = move <= tolerance && (fresh || steady || move <= 0.01 * tolerance);
        if (length == 1.0 && (short_move || (steady && left <= tolerance))) {
            report->converged = 1;
        }
        if (decrease <= settings->energy_tolerance || decrease <= settings->gain_tolerance * (value_before - value)) {
            report->converged = 1;
        }
        newton->excess += (round >= FRESH_ROUNDS) + 2 * (length < 1.0);
        stale = (fresh && length < 1.0) || newton->excess > (made_at < 0 ? newton->refresh_cost : HOPELESS);
        move_before = length * move;
    }
    report->value = value;
cleanup:
    return status;
}
