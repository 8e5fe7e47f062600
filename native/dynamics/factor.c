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

   What touches is stiff, and another part of it presses in every round: the corners of its planes come last in the factor (a border,
   math/border.h), so that the elastic part is kept and only what is left of it there, with the planes as they press now and turned back with the
   body, is factorized in each round. Where they have too many corners for that, beside what a factorization of all takes (cloth in folds, nearly all of
   which touches), planes are part of the matrix, which is made anew whenever others press; its pattern then has the pairs of corners that no
   element joins as well (dynamics/joined.h). An exact factor of the last resort takes those as what is at least as stiff.

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
     any                | not refused, but other planes press than | 0 | kept
     no                 | refused     | -                         | fresh
     yes, single        | refused     | -                         | fresh and exact
     yes, exact         | refused     | -                         | kept: there is no descent left */
#include "dynamics/factor.h"

#include "base/memory.h"
#include "dynamics/joined.h"
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
#define BORDER_MOST 400      /* points: from there on a border costs as much as a factorization of all */
#define BORDER_WITH_RING 250 /* points: a border of less takes neighbours in, which may be touched next */
#define BORDER_SHARE 1.0     /* of the products of a factorization: what a border may take, ... */
#define BORDER_TRIED 40      /* ... and with fewer points it always may */
#define PRODUCTS_OF_FACTORIZATION 12.0 /* measured: that are as fast as reading one entry of the factor in a solution */

struct SnFactor {
    const SnAssembly *assembly;
    SnLinearSolver *exact;     /* the last resort */
    SnMultifrontal *quick;     /* single precision, several times as fast */
    SnMultifrontal *bordered;  /* the same with a border; null: none was needed yet */
    SnJoined joined;           /* the same with what touches in its pattern */
    int is_exact, is_bordered, is_joined; /* which of them holds the factor */
    double products;           /* that a factorization by `quick` takes */
    size_t border_count;
    int32_t *border;           /* unknowns: the points of the border, rising, ... */
    int32_t *border_place;     /* unknowns: ... and where each is among them, or -1 */
    unsigned char *border_marks; /* unknowns */
    int grows_border, grows_joined; /* a new one takes the last one in: what touched once may do so again */
    int is_open;               /* the border is to be closed before the next solution */
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
    SnPlanes *planes;          /* what touches in the minimisation in hand; or null */
    int is_touched;            /* the factor holds planes, for good */
    int has_moved;             /* other planes press than in the round before: no fault of the factor */
    double *hardness;          /* unknowns: mean diagonals of the last Hessian */
    int has_hardness;
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
static int count_refresh_cost(SnFactor *factor, double round_work, double hessian_work)
{
    double entries;
    sn_multifrontal_work(factor->quick, &factor->products, &entries);
    double cost = (factor->products / PRODUCTS_OF_FACTORIZATION + hessian_work) / (entries + round_work);
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
    SN_TRY_NEW(context, factor->hardness, assembly->unknown_count, double);
    SN_TRY_NEW(context, factor->border, assembly->unknown_count, int32_t);
    SN_TRY_NEW(context, factor->border_place, assembly->unknown_count, int32_t);
    SN_TRY_NEW(context, factor->border_marks, assembly->unknown_count, unsigned char);
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
    sn_multifrontal_destroy(factor->bordered);
    sn_joined_clear(&factor->joined);
    sn_linear_solver_destroy(factor->exact);
    sn_lbfgs_clear(&factor->secants);
    sn_response_clear(&factor->response);
    sn_rows_clear(&factor->rows);
    sn_release(factor->row_work);
    sn_release(factor->values);
    sn_release(factor->positions);
    sn_release(factor->rotations);
    sn_release(factor->hardness);
    sn_release(factor->border);
    sn_release(factor->border_place);
    sn_release(factor->border_marks);
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
    factor->is_made = factor->grows_border = factor->grows_joined = 0;
    factor->has_hardness = 0;
}

const double *sn_factor_hardness(const SnFactor *factor)
{
    return factor->has_hardness ? factor->hardness : NULL;
}

void sn_factor_find_hardness(SnFactor *factor)
{
    const int32_t *start = factor->assembly->pattern.value_start;
    for (size_t k = 0; k < factor->assembly->unknown_count; k++) {
        const double *v = factor->values;
        factor->hardness[k] = (v[start[3 * k]] + v[start[3 * k + 1]] + v[start[3 * k + 2]]) / 3.0;
    }
    factor->has_hardness = 1;
}

/* Whether a plane has a part in the Hessian. */
static int counts(const SnPlane *plane)
{
    return plane->pressed || plane->grip > 0.0;
}

/* Whether any plane does; *covered: whether the corners of all that do are in the border. */
static int any_counts(const SnFactor *factor, int *covered)
{
    const SnPlanes *planes = factor->planes;
    int any = 0;
    *covered = 1;
    for (const SnPlane *plane = planes->planes; plane < planes->planes + planes->count; plane++) {
        for (int32_t k = plane->corners.begin; k < plane->corners.end && counts(plane); k++) {
            *covered &= factor->bordered != NULL && factor->border_place[planes->unknowns[k]] >= 0;
            any = 1;
        }
    }
    return any;
}

SnStatus sn_factor_touch(SnContext *context, SnFactor *factor)
{
    int covered, any = any_counts(factor, &covered);
    (void)context;
    factor->has_moved = factor->planes->changed;
    if (factor->has_moved) { /* secants of others say nothing */
        sn_lbfgs_forget(&factor->secants);
    }
    factor->is_stale |= factor->is_bordered ? !covered : factor->is_touched ? factor->planes->changed : any;
    factor->planes->changed = 0;
    factor->is_open = 1;
    return SN_OK;
}

void sn_factor_begin(SnFactor *factor, const double *positions, SnPlanes *planes, int exactly)
{
    factor->planes = planes;
    factor->round = 0;
    factor->is_fresh = factor->is_own = 0;
    factor->wants_exact = exactly;
    factor->wants_response = exactly || (factor->springs != NULL && factor->answers_springs); /* no projection stands in for springs */
    factor->is_stale = exactly || !factor->is_made || factor->charge > factor->refresh_cost || (factor->is_touched && planes == NULL);
    factor->is_open = 1;
    factor->has_moved = 0;
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

/* Marks the points that share an element with one that is marked. Returns how many are. */
static size_t mark_ring(SnFactor *factor)
{
    const SnBlockPattern *pattern = &factor->assembly->pattern;
    size_t count = 0;
    for (size_t k = 0; k < pattern->block_count; k++) {
        unsigned char *row = factor->border_marks + pattern->rows[k], *column = factor->border_marks + pattern->columns[k];
        *row |= *column & 1 ? 2 : 0;
        *column |= *row & 1 ? 2 : 0;
    }
    for (size_t k = 0; k < factor->assembly->unknown_count; k++) {
        count += factor->border_marks[k] != 0;
    }
    return count;
}

/* Marks the corners of all planes; returns how many points they are. Those of the last border, where it is to grow, are marked too. */
static size_t mark_corners(SnFactor *factor)
{
    const SnPlanes *planes = factor->planes;
    size_t count = 0;
    for (size_t k = 0; k < factor->assembly->unknown_count; k++) {
        factor->border_marks[k] = factor->grows_border && factor->bordered != NULL && factor->border_place[k] >= 0 ? 4 : 0;
    }
    for (const SnPlane *plane = planes->planes; plane < planes->planes + planes->count; plane++) {
        for (int32_t k = plane->corners.begin; k < plane->corners.end; k++) {
            count += !(factor->border_marks[planes->unknowns[k]] & 1);
            factor->border_marks[planes->unknowns[k]] |= 1;
        }
    }
    return count;
}

/* How many points a border may have beside a factorization of so many products. */
static size_t border_most(double products)
{
    size_t most = (size_t)cbrt(BORDER_SHARE * products / 9.0); /* (3 x points)³ / 3 */
    return most > BORDER_MOST ? BORDER_MOST : most < BORDER_TRIED ? BORDER_TRIED : most;
}

/* Makes the border of the corners that are marked, of at most so many points; one that is there already serves again. */
static SnStatus make_border(SnContext *context, SnFactor *factor, size_t corners, size_t most)
{
    SnStatus status = SN_OK;
    size_t unknowns = factor->assembly->unknown_count, count = 0, ring = most < BORDER_WITH_RING ? most : BORDER_WITH_RING;
    int same = factor->bordered != NULL, least = !(corners < ring && mark_ring(factor) <= ring);
    for (size_t k = 0; k < unknowns; k++) {
        int inside = least ? factor->border_marks[k] & 1 : factor->border_marks[k] != 0;
        same &= (factor->border_place[k] >= 0) == inside;
        factor->border_place[k] = inside ? (int32_t)count : -1;
        if (inside) {
            factor->border[count++] = (int32_t)k;
        }
    }
    factor->grows_border = 1;
    factor->is_bordered = 1;
    if (!same) {
        sn_multifrontal_destroy(factor->bordered);
        factor->bordered = NULL;
        factor->border_count = count;
        SN_TRY(sn_multifrontal_create_bordered(context, &factor->assembly->pattern, factor->exact, count, factor->border, &factor->bordered));
    }
cleanup:
    return status;
}

/* What touches comes into a border, or into the pattern of the whole, whichever takes less. */
static SnStatus take_planes_in(SnContext *context, SnFactor *factor)
{
    SnStatus status = SN_OK;
    size_t corners = mark_corners(factor), most = border_most(factor->products);
    if (corners > most) {
        SN_TRY(sn_joined_reach(context, &factor->joined, factor->assembly, factor->exact, factor->planes, factor->grows_joined));
        factor->grows_joined = 1;
        most = border_most(factor->joined.products);
        factor->is_joined = corners > most;
    }
    if (!factor->is_joined) {
        SN_TRY(make_border(context, factor, corners, most));
    }
cleanup:
    return status;
}

/* block = weight Rᵀ B Q, turned back by the rotations of two points; null: they have not turned. */
static void turn_block(double weight, const double *r, const double *b, const double *q, double block[9])
{
    double half[9];
    for (int i = 0; i < 9; i++) {
        half[i] = r == NULL ? b[i] : r[i / 3] * b[i % 3] + r[3 + i / 3] * b[3 + i % 3] + r[6 + i / 3] * b[6 + i % 3];
    }
    for (int i = 0; i < 9; i++) {
        const double *row = half + 3 * (i / 3);
        block[i] = weight * (q == NULL ? half[i] : row[0] * q[i % 3] + row[1] * q[3 + i % 3] + row[2] * q[6 + i % 3]);
    }
}

/* Adds a plane to the border. */
static void add_plane(const SnFactor *factor, const SnPlane *plane, float *border)
{
    const SnPlanes *planes = factor->planes;
    size_t height = 3 * factor->border_count;
    double block[9];
    for (int32_t i = plane->corners.begin; i < plane->corners.end; i++) {
        for (int32_t j = plane->corners.begin; j < plane->corners.end; j++) {
            int32_t row = planes->unknowns[i], column = planes->unknowns[j];
            size_t at = 3 * (size_t)factor->border_place[row], across = 3 * (size_t)factor->border_place[column];
            if (at < across) {
                continue;
            }
            turn_block(planes->weights[i] * planes->weights[j], factor->has_turned ? factor->rotations + 9 * (size_t)row : NULL,
                       plane->block, factor->has_turned ? factor->rotations + 9 * (size_t)column : NULL, block);
            for (size_t k = 0; k < 9; k++) {
                border[(across + k % 3) * height + at + k / 3] += (float)block[k];
            }
        }
    }
}

/* Closes the border with the planes as they are linearised. Returns whether digits were lost. */
static int close_border(SnFactor *factor)
{
    float *border = sn_multifrontal_open_border(factor->bordered);
    size_t count = factor->planes != NULL ? factor->planes->count : 0;
    for (size_t k = 0; k < count; k++) {
        if (counts(factor->planes->planes + k)) {
            add_plane(factor, factor->planes->planes + k, border);
        }
    }
    factor->is_open = 0;
    factor->response.is_known = 0;
    return sn_multifrontal_close_border(factor->bordered) > 0;
}

SnStatus sn_factor_refresh(SnContext *context, SnFactor *factor, const double *positions)
{
    SnStatus status = SN_OK;
    int covered, touched = factor->planes != NULL && any_counts(factor, &covered);
    factor->is_made = factor->is_touched = factor->is_bordered = factor->is_joined = factor->has_turned = 0;
    sn_factor_find_hardness(factor);
    if (factor->springs != NULL && !factor->answers_springs) { /* stiffer than they are, and secants learn the rest */
        sn_springs_majorise(factor->springs, &factor->assembly->pattern, factor->values);
    }
    factor->wants_exact |= factor->is_own && factor->charge > HOPELESS && !touched;
    factor->is_exact = factor->wants_exact;
    if (touched && !factor->is_exact) {
        SN_TRY(take_planes_in(context, factor));
    }
    if (factor->is_bordered) {
        factor->is_exact = sn_multifrontal_factorize(factor->bordered, factor->values) > 0 || close_border(factor);
    } else if (factor->is_joined) {
        factor->is_exact = sn_joined_factorize(&factor->joined, factor->assembly, factor->planes, factor->values) > 0;
    } else if (!factor->is_exact) {
        factor->is_exact = sn_multifrontal_factorize(factor->quick, factor->values) > 0; /* lost digits */
    }
    if (factor->is_exact) {
        factor->is_bordered = factor->is_joined = 0;
        if (touched) {
            sn_planes_stiffen(factor->planes, &factor->assembly->pattern, factor->values);
        }
        SN_TRY(sn_linear_solver_factorize(context, factor->exact, factor->values));
    }
    factor->is_touched = touched && !factor->is_bordered;
    factor->response.is_known = 0;
    sn_lbfgs_forget(&factor->secants);
    memcpy(factor->positions, positions, 3 * factor->assembly->vertex_count * sizeof *positions);
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
    SnMultifrontal *quick = factor->is_bordered ? factor->bordered : factor->is_joined ? factor->joined.factor : factor->quick;
    (roughly ? sn_multifrontal_solve_roughly : sn_multifrontal_solve)(quick, vector, vector);
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
    if (factor->is_bordered && factor->is_open) { /* lost pivots are replaced, and the step is a shorter one */
        (void)close_border(factor);
    }
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
        factor->charge += outcome == SN_STEP_CAPPED || factor->has_moved ? 0 : (factor->round >= FRESH_ROUNDS) + 2 * hindered;
        factor->is_stale = (factor->is_fresh && hindered && !factor->has_moved) || factor->charge > (factor->is_own ? HOPELESS : factor->refresh_cost);
    }
    factor->is_fresh = 0;
    factor->round++;
}
