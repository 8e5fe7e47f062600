/* A minimisation goes round this loop until it has arrived:

     factor stale? Hessian, factorize  ->  step = H⁻¹ residual  ->  what may it reach?  ->  search along it  ->  accept, learn, judge

     the step was | because                                         | the minimisation
     -------------+-------------------------------------------------+---------------------------------------------------------------
     full         | E fell as foretold                              | has arrived where moves die out, or gain too little
     capped       | a term lets it go so far and no farther         | goes on; has arrived where it gains too little
     shortened    | E rose on the way                               | goes on; has arrived where it gains too little
     refused      | no length of it lowers E, as far as E has digits| goes on with a fresh factor; after a fresh and exact one it ends,
                  |                                                 | arrived if what was promised is lost in rounding or too short

   What this means for the factor at hand is in factor.c. */
#include "dynamics/newton.h"

#include "base/memory.h"
#include "dynamics/factor.h"
#include "math/vector.h"

#include <math.h>
#include <string.h>

#define LINE_SEARCH_TRIALS 40
#define SUFFICIENT_DECREASE 1e-4
#define SLOPE_LEFT 0.9 /* of the slope at the start: what a step may leave where the energy itself is lost in rounding */
#define NO_NUMBERS "The simulation left the range of numbers: check the input for huge coordinates."
#define NO_MOVE 0.1 /* of the tolerance: what presses has been found where moves are as short as this */
#define WORST_CONTRACTION 0.5 /* of moves from round to round, for a short move to be trusted as the last one */

struct SnNewton {
    size_t term_count;
    SnTerm terms[SN_TERMS_MOST];
    const SnAssembly *assembly;
    SnFactor *factor;
    const SnConstraints *constraints; /* or null */
    double *row_work;          /* values of their rows */
    const SnSprings *springs;  /* or null */
    double *pull;              /* values of their rows */
    double *element_gradients; /* corners of all terms x 3 */
    double *element_stiffness; /* blocks of all terms x 9 */
    double *partial;           /* energies of chunks */
    double *gradient;          /* vertices x 3: of the terms */
    double *residual, *step;   /* unknowns x 3 */
    double *trial_residual;    /* unknowns x 3 */
    double *offset, *product;  /* unknowns x 3: x - c and B (x - c) */
    double *trial;             /* vertices x 3 */
    double rounding;           /* of the terms, J */
};

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
    SN_TRY_NEW(context, newton->residual, 3 * unknowns, double);
    SN_TRY_NEW(context, newton->step, 3 * unknowns, double);
    SN_TRY_NEW(context, newton->trial_residual, 3 * unknowns, double);
    SN_TRY_NEW(context, newton->offset, 3 * unknowns, double);
    SN_TRY_NEW(context, newton->product, 3 * unknowns, double);
    SN_TRY_NEW(context, newton->trial, 3 * vertices, double);
    double round_work = 0.0, hessian_work = 0.0;
    for (size_t t = 0; t < term_count; t++) {
        newton->rounding += terms[t].kind->rounding(terms[t].elements);
        round_work += terms[t].kind->round_work * (double)terms[t].stencils.count;
        hessian_work += terms[t].kind->hessian_work * (double)terms[t].stencils.count;
    }
    SN_TRY(sn_factor_create(context, assembly, round_work, hessian_work, &newton->factor));
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
    sn_factor_destroy(newton->factor);
    double *arrays[] = {newton->row_work, newton->pull, newton->element_gradients, newton->element_stiffness, newton->partial, newton->gradient,
                        newton->residual, newton->step,              newton->trial_residual,    newton->offset,  newton->product,
                        newton->trial};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        sn_release(arrays[k]);
    }
    sn_release(newton);
}

SnStatus sn_newton_constrain(SnContext *context, SnNewton *newton, const SnConstraints *constraints, const SnSprings *springs)
{
    SnStatus status = SN_OK;
    newton->constraints = constraints->size > 0 ? constraints : NULL;
    newton->springs = springs->size > 0 ? springs : NULL;
    SN_TRY_NEW(context, newton->row_work, constraints->size, double);
    SN_TRY_NEW(context, newton->pull, springs->size, double);
    SN_TRY(sn_factor_constrain(context, newton->factor, constraints, springs));
cleanup:
    return status;
}

SnStatus sn_newton_reconstrain(SnContext *context, SnNewton *newton, const SnConstraints *constraints)
{
    newton->constraints = constraints->size > 0 ? constraints : NULL;
    return sn_factor_reconstrain(context, newton->factor, constraints);
}

const double *sn_newton_pulls(const SnNewton *newton)
{
    return newton->row_work; /* a projected slope leaves there what was taken from it */
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
    if (newton->springs != NULL) {
        sum += sn_springs_pull(newton->springs, objective->spring_targets, x, newton->pull);
    }
    if (residual != NULL && newton->springs != NULL) {
        sn_rows_spread(&newton->springs->free_rows, newton->pull, residual);
    }
    if (objective->planes != NULL) {
        sum += sn_planes_value(objective->planes, assembly, x, residual);
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
static void assemble_hessian(SnNewton *newton, const SnObjective *objective, const double *x, double *values)
{
    const SnAssembly *assembly = newton->assembly;
    const SnBlockPattern *pattern = &assembly->pattern;
    sn_terms_stiffness(newton->term_count, newton->terms, objective->inputs, x, newton->element_stiffness);
    sn_assembly_gather_stiffness(assembly, newton->element_stiffness, values);
    for (size_t k = 0; k < pattern->value_count; k++) {
        values[k] = objective->scale * values[k] + (objective->matrix ? objective->matrix[k] : 0.0);
    }
    for (size_t k = 0; k < 3 * assembly->unknown_count; k++) {
        values[pattern->value_start[k]] += objective->diagonal[assembly->vertex[k / 3]];
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
    sn_factor_forget(newton->factor);
}

const double *sn_newton_hardness(SnNewton *newton, const SnObjective *objective, const double *positions)
{
    const double *known = sn_factor_hardness(newton->factor);
    if (known == NULL) {
        assemble_hessian(newton, objective, positions, sn_factor_values(newton->factor));
        sn_factor_find_hardness(newton->factor);
        known = sn_factor_hardness(newton->factor);
    }
    return known;
}

/* step = H⁻¹ residual at `positions`, by a fresh factor where one is due. */
static SnStatus find_step(SnContext *context, SnNewton *newton, const SnObjective *objective, const double *positions,
                          SnNewtonReport *report)
{
    SnStatus status = SN_OK;
    if (objective->planes != NULL) {
        sn_planes_linearise(objective->planes, newton->assembly, positions);
        SN_TRY(sn_factor_touch(context, newton->factor));
    }
    if (sn_factor_is_stale(newton->factor)) {
        assemble_hessian(newton, objective, positions, sn_factor_values(newton->factor));
        SN_TRY(sn_factor_refresh(context, newton->factor, positions));
        report->factorizations++;
    }
    SN_TRY(sn_factor_solve(context, newton->factor, newton->residual, newton->step));
    report->rounds++;
cleanup:
    return status;
}

/* Shortens the step from `length` on until E has decreased enough; trial and trial_residual hold the accepted point, `value` its E.
   Returns the accepted length, 0 for none. Near the minimum the decrease drowns in the rounding of E: there the slope decides, which keeps
   its digits. */
static double search_line(SnNewton *newton, const SnObjective *objective, const double *positions, double length, double decrease,
                          double *value)
{
    size_t count = 3 * newton->assembly->unknown_count;
    double rounding = objective->scale * newton->rounding;
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
    sn_factor_begin(newton->factor, positions, objective->planes, 1);
    SN_TRY(find_step(context, newton, objective, positions, report));
    report->last_step = take_step(newton, positions, 1.0);
    if (!isfinite(sn_vector_dot(3 * newton->assembly->unknown_count, newton->step, newton->step))) {
        status = sn_context_fail(context, SN_NUMERIC_FAILURE, NO_NUMBERS);
        goto cleanup;
    }
    memcpy(positions, newton->trial, 3 * newton->assembly->vertex_count * sizeof *positions);
cleanup:
    return status;
}

/* Positions and residual become those of the trial. */
static void accept_trial(SnNewton *newton, double *positions)
{
    double *residual = newton->residual;
    memcpy(positions, newton->trial, 3 * newton->assembly->vertex_count * sizeof *positions);
    newton->residual = newton->trial_residual;
    newton->trial_residual = residual;
}

/* Whether the moves still to come, which shrink like the last ones, add up to less than the tolerance. */
static int moves_die_out(double tolerance, double move, double move_before, int fresh)
{
    double contraction = move / move_before;
    double left = isfinite(move_before) && contraction < 1.0 ? move * contraction / (1.0 - contraction) : INFINITY;
    int steady = contraction < WORST_CONTRACTION;
    return (move <= tolerance && (fresh || steady || move <= 0.01 * tolerance)) || (steady && left <= tolerance);
}

SnStatus sn_newton_minimise(SnContext *context, SnNewton *newton, const SnObjective *objective,
                            const SnNewtonSettings *settings, double *positions, SnNewtonReport *report)
{
    SnStatus status = SN_OK;
    size_t count = 3 * newton->assembly->unknown_count;
    report->converged = count == 0;
    if (report->converged) {
        return SN_OK;
    }
    if (settings->single_full_step) {
        return take_full_step(context, newton, objective, positions, report);
    }
    double value = evaluate(newton, objective, positions, newton->residual), value_before = value, move_before = INFINITY;
    double lost = 1e3 * objective->scale * newton->rounding; /* J: smaller decreases are lost in rounding */
    sn_factor_begin(newton->factor, positions, objective->planes, 0);
    for (int round = 0; round < settings->max_rounds && !report->converged; round++) {
        SN_TRY(sn_context_look(context));
        SN_TRY(find_step(context, newton, objective, positions, report));
        int fresh = sn_factor_is_fresh(newton->factor);
        double decrease = sn_vector_dot(count, newton->step, newton->residual);
        if (!isfinite(decrease) || !isfinite(value)) {
            status = sn_context_fail(context, SN_NUMERIC_FAILURE, NO_NUMBERS);
            goto cleanup;
        }
        double move = take_step(newton, positions, 1.0);
        double reach = sn_terms_reach(newton->term_count, newton->terms, objective->inputs, positions, newton->trial);
        double length = search_line(newton, objective, positions, reach, decrease, &value);
        report->last_step = move;
        sn_factor_judge(newton->factor, length == 0.0    ? SN_STEP_REFUSED
                                        : length < reach ? SN_STEP_SHORTENED
                                        : length < 1.0   ? SN_STEP_CAPPED
                                                         : SN_STEP_FULL);
        if (length == 0.0) {
            if (!sn_factor_is_stale(newton->factor)) { /* no descent left: this is as low as rounding allows */
                report->converged = decrease <= lost || move <= settings->step_tolerance;
                break;
            }
            continue;
        }
        if (decrease > lost) { /* a move in the noise says nothing about the Hessian */
            sn_factor_learn(newton->factor, length, newton->step, newton->residual, newton->trial_residual);
        }
        accept_trial(newton, positions);
        report->converged = (length == 1.0 && moves_die_out(settings->step_tolerance, move, move_before, fresh)) ||
                            decrease <= settings->energy_tolerance || decrease <= settings->gain_tolerance * (value_before - value);
        if (objective->planes != NULL && move > NO_MOVE * settings->step_tolerance) {
            report->converged &= sn_planes_stand(objective->planes);
        }
        move_before = length * move;
    }
    report->value = value;
cleanup:
    return status;
}
