/* A factorization costs as much as ten or twenty rounds with one at hand, so the last one is kept as long as it serves:

     residual                                                            step
        |                                                                 ^
        v                                                                 |
     secants, newest to oldest  . . . . . . . . . . . . . . .  secants, oldest to newest     the two loops of L-BFGS: what the moves
        |                                                                 ^                  since then have shown of the Hessian
        v                                                                 |
        |                                                      projected on the rows
        v                                                                 |
     turned back, Rᵀ . . . . . . . . . . . . . . . . . . . . .  turned, R                    R: how the surroundings of each vertex
        |                                                                 ^                  have turned since the factor was made
        v                                                                 |
        +----------->  H₀⁻¹  ------------->  response to the rows  -------+                  exact steps within C p = 0

   H₀⁻¹ is `quick` (math/multifrontal: single precision, and half of that for a factor of another shape), or `exact` (CHOLMOD) where
   single precision loses digits or has not been enough.

   When is it made anew? A minimisation with a fresh factor takes about FRESH_ROUNDS rounds. Rounds beyond are charged to a kept factor, a
   step that the energy shortened counts twice, over all minimisations since it was made; where the charge exceeds what a fresh one costs
   (refresh_cost, in rounds), a fresh one pays. A fresh one that is charged more than HOPELESS is not exact enough: the next is exact.

     made for this step | step was    | charge                    | next round
     -------------------+-------------+---------------------------+----------------------------------------------
     any                | full        | 1 after FRESH_ROUNDS      | kept, unless charged too much
     any                | capped      | 0: `reach` is not its fault| kept
     no                 | shortened   | 2, and as above           | kept, unless charged too much
     yes                | shortened   | 2, and as above           | fresh: the Hessian has changed on the way
     no                 | refused     | -                         | fresh
     yes, single        | refused     | -                         | fresh and exact
     yes, exact         | refused     | -                         | kept: there is no descent left */
#include "dynamics/factor.h"

#include "base/memory.h"
#include "dynamics/lbfgs.h"
#include "dynamics/response.h"
#include "dynamics/rotations.h"
#include "math/linear_solver.h"
#include "math/multifrontal.h"

#include <math.h>
#include <string.h>

#define FRESH_ROUNDS 4
#define HOPELESS 12
#define MOST_REFRESH_COST 30 /* within the rounds of a step there must be room for the other resorts */
#define PRODUCTS_OF_FACTORIZATION 12.0 /* measured: that are as fast as reading one entry of the factor in a solution */

struct SnFactor {
    const SnAssembly *assembly;
    SnLinearSolver *exact;     /* the last resort */
    SnMultifrontal *quick;     /* single precision, several times as fast */
    int is_exact;              /* which of them holds the factor */
    int is_made;               /* a factor is at hand ... */
    double *positions;         /* vertices x 3: ... of the Hessian there */
    double *values;            /* room for the Hessian */
    double *rotations;         /* unknowns x 9: how the body has turned since ... */
    int has_turned;            /* ... if it has */
    SnLbfgs secants;
    const SnConstraints *constraints; /* or null */
    double *row_work;          /* values of their rows */
    const SnSprings *springs;  /* or null */
    SnRows rows;               /* of both, over the unknowns, or of the exact ones */
    SnResponse response;       /* of the factor to them, ... */
    int answers_springs;       /* ... springs too, where all are few enough */
    int refresh_cost;          /* as many rounds as a fresh factor costs */
    int charge;                /* rounds that a fresh factor would have spared since it was made */
    /* Of the minimisation in hand: */
    int round;
    int is_stale, is_fresh;    /* before the next step, in this one */
    int is_own;                /* made in this minimisation */
    int wants_exact;           /* single precision has not been enough */
    int wants_response;        /* projected steps have not been enough */
};

/* By counting, never by a clock: the larger the body, the dearer is a factorization beside a round. */
static int count_refresh_cost(const SnFactor *factor, double round_work, double hessian_work)
{
    double products, entries;
    sn_multifrontal_work(factor->quick, &products, &entries);
    double cost = (products / PRODUCTS_OF_FACTORIZATION + hessian_work) / (entries + round_work);
    return (int)fmin(cost, MOST_REFRESH_COST);
}

SnStatus sn_factor_create(SnContext *context, const SnAssembly *assembly, double round_work, double hessian_work, SnFactor **out)
{
    SnStatus status = SN_OK;
    SnFactor *factor = NULL;
    *out = NULL;
    SN_TRY_NEW(context, factor, 1, SnFactor);
    factor->assembly = assembly;
    SN_TRY_NEW(context, factor->values, assembly->pattern.value_count, double);
    SN_TRY_NEW(context, factor->positions, 3 * assembly->vertex_count, double);
    SN_TRY_NEW(context, factor->rotations, 9 * assembly->unknown_count, double);
    SN_TRY(sn_lbfgs_init(context, 3 * assembly->unknown_count, &factor->secants));
    if (assembly->unknown_count > 0) {
        SN_TRY(sn_linear_solver_create(context, &assembly->pattern, &factor->exact));
        SN_TRY(sn_multifrontal_create(context, &assembly->pattern, factor->exact, &factor->quick));
        factor->refresh_cost = count_refresh_cost(factor, round_work, hessian_work);
    }
    *out = factor;
cleanup:
    if (status != SN_OK) {
        sn_factor_destroy(factor);
    }
    return status;
}

void sn_factor_destroy(SnFactor *factor)
{
    if (factor == NULL) {
        return;
    }
    sn_multifrontal_destroy(factor->quick);
    sn_linear_solver_destroy(factor->exact);
    sn_lbfgs_clear(&factor->secants);
    sn_response_clear(&factor->response);
    sn_rows_clear(&factor->rows);
    sn_release(factor->row_work);
    sn_release(factor->values);
    sn_release(factor->positions);
    sn_release(factor->rotations);
    sn_release(factor);
}

SnStatus sn_factor_constrain(SnContext *context, SnFactor *factor, const SnConstraints *constraints, const SnSprings *springs)
{
    SnStatus status = SN_OK;
    const SnRows *exact = &constraints->free_rows, *soft = &springs->free_rows;
    factor->constraints = constraints->size > 0 ? constraints : NULL;
    factor->springs = springs->size > 0 ? springs : NULL;
    SN_TRY_NEW(context, factor->row_work, constraints->size, double);
    factor->rows.is_alike = (exact->is_alike || exact->count == 0) && (soft->is_alike || soft->count == 0);
    SN_TRY(sn_rows_append(context, exact, 0, &factor->rows));
    if (sn_rows_size(exact) + sn_rows_size(soft) <= SN_RESPONSE_MOST) {
        SN_TRY(sn_rows_append(context, soft, 0, &factor->rows));
        factor->answers_springs = 1;
    }
    SN_TRY(sn_response_init(context, &factor->rows, factor->assembly->unknown_count, &factor->response));
cleanup:
    return status;
}

void sn_factor_forget(SnFactor *factor)
{
    factor->is_made = 0;
}

void sn_factor_begin(SnFactor *factor, const double *positions, int exactly)
{
    factor->round = 0;
    factor->is_fresh = factor->is_own = 0;
    factor->wants_exact = exactly;
    factor->wants_response = exactly || (factor->springs != NULL && factor->answers_springs); /* no projection stands in for springs */
    factor->is_stale = exactly || !factor->is_made || factor->charge > factor->refresh_cost;
    if (!factor->is_stale) {
        sn_rotations_between(factor->assembly, factor->positions, positions, factor->rotations);
        factor->has_turned = 1;
    }
}

int sn_factor_is_stale(const SnFactor *factor)
{
    return factor->is_stale;
}

int sn_factor_is_fresh(const SnFactor *factor)
{
    return factor->is_fresh;
}

double *sn_factor_values(SnFactor *factor)
{
    return factor->values;
}

SnStatus sn_factor_refresh(SnContext *context, SnFactor *factor, const double *positions)
{
    SnStatus status = SN_OK;
    factor->is_made = 0;
    if (factor->springs != NULL && !factor->answers_springs) { /* stiffer than they are, and secants learn the rest */
        sn_springs_majorise(factor->springs, &factor->assembly->pattern, factor->values);
    }
    factor->wants_exact |= factor->is_own && factor->charge > HOPELESS;
    factor->is_exact = factor->wants_exact || sn_multifrontal_factorize(factor->quick, factor->values) > 0; /* lost digits */
    if (factor->is_exact) {
        SN_TRY(sn_linear_solver_factorize(context, factor->exact, factor->values));
    }
    factor->response.is_known = 0;
    sn_lbfgs_forget(&factor->secants);
    memcpy(factor->positions, positions, 3 * factor->assembly->vertex_count * sizeof *positions);
    factor->has_turned = 0;
    factor->charge = 0;
    factor->is_made = factor->is_own = factor->is_fresh = 1;
cleanup:
    return status;
}

/* vector = H₀⁻¹ vector */
static SnStatus apply(SnContext *context, SnFactor *factor, int roughly, double *vector)
{
    if (factor->is_exact) {
        return sn_linear_solver_solve(context, factor->exact, vector, vector);
    }
    (roughly ? sn_multifrontal_solve_roughly : sn_multifrontal_solve)(factor->quick, vector, vector);
    return SN_OK;
}

/* While inertia rules, projected steps are as good as exact ones: the response, three solutions a row, waits until it is needed. */
static SnStatus find_response(SnContext *context, SnFactor *factor)
{
    SnStatus status = SN_OK;
    for (size_t k = 0; k < factor->response.size; k++) {
        SN_TRY(apply(context, factor, 0, sn_response_load(&factor->response, k)));
    }
    sn_response_finish(&factor->response);
cleanup:
    return status;
}

SnStatus sn_factor_solve(SnContext *context, SnFactor *factor, const double *residual, double *step)
{
    SnStatus status = SN_OK;
    SnLbfgsWeights weights;
    size_t unknowns = factor->assembly->unknown_count;
    if (factor->wants_response && factor->response.size > 0 && !factor->response.is_known) {
        SN_TRY(find_response(context, factor));
    }
    memcpy(step, residual, 3 * unknowns * sizeof *step);
    sn_lbfgs_before(&factor->secants, step, &weights);
    if (factor->has_turned) {
        sn_rotations_apply(unknowns, factor->rotations, 1, step);
    }
    /* a factor of an earlier shape is further off than its copy in 16 bits is from it */
    SN_TRY(apply(context, factor, factor->has_turned, step));
    if (factor->response.size > 0) {
        sn_response_correct(&factor->response, step);
    }
    if (factor->has_turned) {
        sn_rotations_apply(unknowns, factor->rotations, 0, step);
    }
    if (factor->constraints != NULL) { /* rounding, and regions that do not turn as one */
        sn_constraints_project_step(factor->constraints, factor->row_work, step);
    }
    sn_lbfgs_after(&factor->secants, step, &weights);
cleanup:
    return status;
}

void sn_factor_learn(SnFactor *factor, double length, const double *step, const double *before, const double *after)
{
    sn_lbfgs_record(&factor->secants, length, step, before, after);
}

void sn_factor_judge(SnFactor *factor, SnStepOutcome outcome)
{
    int hindered = outcome == SN_STEP_SHORTENED || outcome == SN_STEP_REFUSED;
    factor->wants_response |= hindered || factor->round >= 2 * FRESH_ROUNDS;
    if (outcome == SN_STEP_REFUSED) {
        factor->is_stale = !factor->is_fresh || !factor->is_exact;
        factor->wants_exact |= factor->is_fresh;
    } else {
        factor->charge += outcome == SN_STEP_CAPPED ? 0 : (factor->round >= FRESH_ROUNDS) + 2 * hindered;
        factor->is_stale = (factor->is_fresh && hindered) || factor->charge > (factor->is_own ? HOPELESS : factor->refresh_cost);
    }
    factor->is_fresh = 0;
    factor->round++;
}
