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

   Exact rows that act on x, y and z alike are nodes of H₀ (dynamics/saddle.h) and need no response; it is for springs, for rows of other kinds, and for
   the exact factor, which has no such nodes.

   What touches is stiff, and another part of it presses in every round: the points of its planes come last in the factor (a border,
   math/border.h), so that the elastic part is kept, and what presses is found on the border alone (dynamics/border_step.h); secants wait
   meanwhile. Bodies that only touch are pieces of it, each of which is dense by itself. Where planes have too many points for that, beside what a factorization of all takes (cloth in folds, nearly all of which
   touches), they are part of the matrix, which is made anew whenever others press; its pattern then has the pairs of points that no element
   joins as well (dynamics/joined.h). An exact factor of the last resort takes those as what is at least as stiff.

   H₀⁻¹ is `quick` (math/multifrontal: single precision, and half of that for a factor of another shape), or `exact` (CHOLMOD) where
   single precision loses digits or has not been enough.

   When is it made anew? A minimisation with a fresh factor takes about FRESH_ROUNDS rounds. Rounds beyond are charged to a kept factor, a
   step that the energy shortened counts twice, over all minimisations since it was made; where the charge exceeds what a fresh one costs
   (refresh_cost, in rounds), a fresh one pays. A fresh one that is charged more than HOPELESS is not exact enough: the next is exact, unless rows
   are nodes: an exact one takes a solution for each value of a row, and is made only where a step was refused or digits were lost.

     made for this step | step was    | charge                    | next round
     -------------------+-------------+---------------------------+----------------------------------------------
     any                | full        | 1 after FRESH_ROUNDS      | kept, unless charged too much
     any                | capped      | 0: `reach` is not its fault| kept
     no                 | shortened   | 2, and as above           | kept, unless charged too much
     yes                | shortened   | 2, and as above           | fresh: the Hessian has changed on the way
     any                | not refused, but other planes press in the matrix | 0 | kept
     no                 | refused     | -                         | fresh
     yes, single        | refused     | -                         | fresh and exact
     yes, exact         | refused     | -                         | kept: there is no descent left */
#include "dynamics/factor.h"

#include "base/memory.h"
#include "dynamics/border_step.h"
#include "dynamics/joined.h"
#include "dynamics/lbfgs.h"
#include "dynamics/response.h"
#include "dynamics/rotations.h"
#include "dynamics/saddle.h"
#include "math/linear_solver.h"
#include "math/multifrontal.h"
#include "mesh/union_find.h"

#include <math.h>
#include <string.h>

#define FRESH_ROUNDS 4
#define HOPELESS 12
#define MOST_REFRESH_COST 30 /* within the rounds of a step there must be room for the other resorts */
#define BORDER_MOST 400      /* points of one piece: from there on a border costs as much as a factorization of all */
#define BORDER_IN_ALL 800    /* points of all pieces: what lies between them costs memory */
#define BORDER_PIECES 64     /* with more of them it is taken as one */
#define BORDER_WITH_MORE 250 /* points: a border of less takes in what may be touched next */
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
    SnSaddle saddle;           /* what they factorize, ... */
    int has_saddle;            /* ... if rows are nodes of it */
    double round_work, hessian_work;
    size_t border_count;
    int32_t *border;           /* unknowns: the points of the border, rising, ... */
    int32_t *border_place;     /* unknowns: ... and where each is among them, or -1 */
    unsigned char *border_marks; /* unknowns */
    int32_t *pieces;           /* unknowns: the first of the piece that each is in; no element and no row joins two of them */
    int32_t *piece_marks;      /* unknowns: of the first of a piece, how many of its points have a mark, or its number on the border */
    int32_t *border_pieces;    /* border: the piece of each, as numbers from 0 on */
    int is_parted;             /* the border has several pieces, but not too many */
    int grows_border, grows_joined; /* a new one takes the last one in: what touched once may do so again */
    int is_open;               /* the border is to be closed before the next solution */
    SnBorderStep border_step;
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
static int count_refresh_cost(SnFactor *factor)
{
    double entries;
    sn_multifrontal_work(factor->quick, &factor->products, &entries);
    double cost = (factor->products / PRODUCTS_OF_FACTORIZATION + factor->hessian_work) / (entries + factor->round_work);
    return (int)fmin(cost, MOST_REFRESH_COST);
}

/* pieces[k]: the first of all unknowns that elements join to k. */
static void find_pieces(const SnBlockPattern *pattern, int32_t *pieces)
{
    sn_union_find_init(pattern->size, pieces);
    for (size_t k = 0; k < pattern->block_count; k++) {
        sn_union_find_join(pieces, pattern->rows[k], pattern->columns[k]);
    }
    for (size_t k = 0; k < pattern->size; k++) {
        pieces[k] = sn_union_find_root(pieces, (int32_t)k);
    }
}

SnStatus sn_factor_create(SnContext *context, const SnAssembly *assembly, double round_work, double hessian_work, SnFactor **out)
{
    SnStatus status = SN_OK;
    SnFactor *factor = NULL;
    *out = NULL;
    SN_TRY_NEW(context, factor, 1, SnFactor);
    factor->assembly = assembly;
    factor->round_work = round_work;
    factor->hessian_work = hessian_work;
    SN_TRY_NEW(context, factor->values, assembly->pattern.value_count, double);
    SN_TRY_NEW(context, factor->positions, 3 * assembly->vertex_count, double);
    SN_TRY_NEW(context, factor->rotations, 9 * assembly->unknown_count, double);
    SN_TRY_NEW(context, factor->hardness, assembly->unknown_count, double);
    SN_TRY_NEW(context, factor->border, assembly->unknown_count, int32_t);
    SN_TRY_NEW(context, factor->border_place, assembly->unknown_count, int32_t);
    SN_TRY_NEW(context, factor->border_marks, assembly->unknown_count, unsigned char);
    SN_TRY_NEW(context, factor->border_pieces, assembly->unknown_count, int32_t);
    SN_TRY_NEW(context, factor->pieces, assembly->unknown_count, int32_t);
    SN_TRY_NEW(context, factor->piece_marks, assembly->unknown_count, int32_t);
    find_pieces(&assembly->pattern, factor->pieces);
    SN_TRY(sn_lbfgs_init(context, 3 * assembly->unknown_count, &factor->secants));
    if (assembly->unknown_count > 0) {
        SN_TRY(sn_linear_solver_create(context, &assembly->pattern, &factor->exact));
        SN_TRY(sn_multifrontal_create(context, &assembly->pattern, factor->exact, &factor->quick));
        factor->refresh_cost = count_refresh_cost(factor);
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
    sn_border_step_clear(&factor->border_step);
    sn_joined_clear(&factor->joined);
    sn_saddle_clear(&factor->saddle);
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
    sn_release(factor->border_pieces);
    sn_release(factor->pieces);
    sn_release(factor->piece_marks);
    sn_release(factor);
}

/* Their rows, and those of the springs where all are few enough. */
static SnStatus take_rows(SnContext *context, SnFactor *factor, const SnConstraints *constraints)
{
    SnStatus status = SN_OK;
    factor->constraints = constraints->size > 0 ? constraints : NULL;
    sn_rows_empty(&factor->rows);
    SN_TRY(sn_rows_append(context, &constraints->free_rows, 0, &factor->rows));
    if (factor->answers_springs && factor->springs != NULL) {
        SN_TRY(sn_rows_append(context, &factor->springs->free_rows, 0, &factor->rows));
    }
cleanup:
    return status;
}

/* Rows become nodes of what is factorized. */
static SnStatus take_nodes(SnContext *context, SnFactor *factor)
{
    SnStatus status = SN_OK;
    SN_TRY(sn_saddle_init(context, &factor->assembly->pattern, factor->constraints, &factor->saddle));
    sn_multifrontal_destroy(factor->quick);
    factor->quick = NULL;
    SN_TRY(sn_multifrontal_create_bordered(context, &factor->saddle.pattern, factor->exact, 0, NULL, &factor->quick));
    sn_release(factor->pieces);
    factor->pieces = NULL;
    SN_TRY_NEW(context, factor->pieces, factor->saddle.pattern.size, int32_t);
    find_pieces(&factor->saddle.pattern, factor->pieces); /* a row may join several */
    factor->refresh_cost = count_refresh_cost(factor);
    factor->has_saddle = 1;
cleanup:
    return status;
}

SnStatus sn_factor_constrain(SnContext *context, SnFactor *factor, const SnConstraints *constraints, const SnSprings *springs)
{
    SnStatus status = SN_OK;
    const SnRows *exact = &constraints->free_rows, *soft = &springs->free_rows;
    factor->springs = springs->size > 0 ? springs : NULL;
    SN_TRY_NEW(context, factor->row_work, constraints->size, double);
    factor->rows.is_alike = (exact->is_alike || exact->count == 0) && (soft->is_alike || soft->count == 0);
    factor->answers_springs = sn_rows_size(exact) + sn_rows_size(soft) <= SN_RESPONSE_MOST;
    SN_TRY(take_rows(context, factor, constraints));
    SN_TRY(sn_response_init(context, &factor->rows, factor->assembly->unknown_count, &factor->response));
    int is_answered = factor->springs != NULL && factor->answers_springs; /* springs and rows are answered together */
    if (factor->constraints != NULL && exact->is_alike && !is_answered && factor->assembly->unknown_count > 0) {
        SN_TRY(take_nodes(context, factor));
    }
cleanup:
    return status;
}

SnStatus sn_factor_reconstrain(SnContext *context, SnFactor *factor, const SnConstraints *constraints)
{
    factor->response.is_known = 0;
    factor->is_made = factor->is_made && !factor->has_saddle;
    sn_lbfgs_forget(&factor->secants);
    return take_rows(context, factor, constraints);
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

/* Whether any plane does; *covered: whether the points of all that do are in the border. */
static int any_counts(const SnFactor *factor, int *covered)
{
    const SnPlanes *planes = factor->planes;
    int any = 0;
    *covered = 1;
    for (const SnPlane *plane = planes->planes; plane < planes->planes + planes->count; plane++) {
        for (int32_t k = plane->row.begin; k < plane->row.end && counts(plane); k++) {
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
    factor->has_moved = factor->planes->changed && !factor->is_bordered;
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
    sn_border_step_forget(&factor->border_step);
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

#define TOUCHED 1 /* marks of points for a border: by planes, ... */
#define RING 2    /* ... that share an element with one that is, ... */
#define KEPT 4    /* ... that were in the border before */

/* Marks the points of all planes. Those of the last border, where it is to grow, are marked too. */
static void mark_touched(SnFactor *factor)
{
    const SnPlanes *planes = factor->planes;
    for (size_t k = 0; k < factor->assembly->unknown_count; k++) {
        factor->border_marks[k] = factor->grows_border && factor->bordered != NULL && factor->border_place[k] >= 0 ? KEPT : 0;
    }
    for (const SnPlane *plane = planes->planes; plane < planes->planes + planes->count; plane++) {
        for (int32_t k = plane->row.begin; k < plane->row.end; k++) {
            factor->border_marks[planes->unknowns[k]] |= TOUCHED;
        }
    }
}

/* How large a border of all points with one of the marks would be: as many points as one piece has that takes as long. */
static double border_size(SnFactor *factor, int marks)
{
    size_t unknowns = factor->assembly->unknown_count, all = 0, pieces = 0;
    double cubes = 0.0;
    memset(factor->piece_marks, 0, unknowns * sizeof *factor->piece_marks);
    for (size_t k = 0; k < unknowns; k++) {
        factor->piece_marks[factor->pieces[k]] += (factor->border_marks[k] & marks) != 0;
    }
    for (size_t k = 0; k < unknowns; k++) {
        double count = factor->piece_marks[k];
        pieces += count > 0.0;
        all += (size_t)count;
        cubes += count * count * count;
    }
    return pieces > BORDER_PIECES || all > BORDER_IN_ALL ? (double)all : cbrt(cubes);
}

static void mark_ring(SnFactor *factor)
{
    const SnBlockPattern *pattern = &factor->assembly->pattern;
    for (size_t k = 0; k < pattern->block_count; k++) {
        unsigned char *row = factor->border_marks + pattern->rows[k], *column = factor->border_marks + pattern->columns[k];
        *row |= *column & TOUCHED ? RING : 0;
        *column |= *row & TOUCHED ? RING : 0;
    }
}

/* Takes in those with a mark, where there is room for all of them: they may be touched next. */
static void take_in(SnFactor *factor, int mark, double most)
{
    if (border_size(factor, mark | TOUCHED) > most) {
        return;
    }
    for (size_t k = 0; k < factor->assembly->unknown_count; k++) {
        factor->border_marks[k] |= factor->border_marks[k] & mark ? TOUCHED : 0;
    }
}

/* How large a border may be beside a factorization of so many products. */
static double border_most(double products)
{
    return fmax(BORDER_TRIED, fmin(BORDER_MOST, floor(cbrt(BORDER_SHARE * products / 9.0)))); /* (3 x points)³ / 3 */
}

/* What is factorized, the exact factor apart: H, or with rows as nodes. */
static const SnBlockPattern *factorized_pattern(const SnFactor *factor)
{
    return factor->has_saddle ? &factor->saddle.pattern : &factor->assembly->pattern;
}

static const double *factorized_values(SnFactor *factor)
{
    if (!factor->has_saddle) {
        return factor->values;
    }
    sn_saddle_fill(&factor->saddle, &factor->assembly->pattern, factor->constraints, factor->values, factor->hardness);
    return factor->saddle.values;
}

/* Numbers the pieces of the border. */
static void number_pieces(SnFactor *factor)
{
    int32_t count = 0;
    memset(factor->piece_marks, 0xff, factor->assembly->unknown_count * sizeof *factor->piece_marks);
    for (size_t k = 0; k < factor->border_count; k++) {
        int32_t *number = factor->piece_marks + factor->pieces[factor->border[k]];
        *number = *number < 0 ? count++ : *number;
        factor->border_pieces[k] = *number;
    }
    factor->is_parted = count > 1 && count <= BORDER_PIECES;
}

/* Makes the border of the points that are marked, and of others as long as it is not too large; one that is there already serves again. */
static SnStatus make_border(SnContext *context, SnFactor *factor, double most)
{
    SnStatus status = SN_OK;
    size_t unknowns = factor->assembly->unknown_count, count = 0;
    int same = factor->bordered != NULL;
    most = fmin(most, BORDER_WITH_MORE);
    mark_ring(factor);
    take_in(factor, KEPT, most);
    take_in(factor, RING, most);
    for (size_t k = 0; k < unknowns; k++) {
        int inside = factor->border_marks[k] & TOUCHED;
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
        number_pieces(factor);
        SN_TRY(sn_multifrontal_create_bordered(context, factorized_pattern(factor), factor->exact, count, factor->border, &factor->bordered));
    }
cleanup:
    return status;
}

/* What touches comes into a border, or into the pattern of the whole, whichever takes less. */
static SnStatus take_planes_in(SnContext *context, SnFactor *factor)
{
    SnStatus status = SN_OK;
    mark_touched(factor);
    double touched = border_size(factor, TOUCHED), most = border_most(factor->products);
    if (touched > most) {
        SN_TRY(sn_joined_reach(context, &factor->joined, factorized_pattern(factor), factor->exact, factor->planes, factor->grows_joined));
        factor->grows_joined = 1;
        most = border_most(factor->joined.products);
        factor->is_joined = touched > most;
    }
    if (!factor->is_joined) {
        SN_TRY(make_border(context, factor, most));
    }
cleanup:
    return status;
}

/* Closes the border without planes. Returns whether digits were lost. */
static int close_border(SnFactor *factor)
{
    (void)sn_multifrontal_open_border(factor->bordered);
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
    factor->wants_exact |= factor->is_own && factor->charge > HOPELESS && !touched && !factor->has_saddle;
    factor->is_exact = factor->wants_exact;
    if (touched && !factor->is_exact) {
        SN_TRY(take_planes_in(context, factor));
    }
    if (factor->is_bordered) {
        sn_border_step_forget(&factor->border_step);
        factor->is_exact = sn_multifrontal_factorize(factor->bordered, factorized_values(factor)) > 0 || close_border(factor);
    } else if (factor->is_joined) {
        factor->is_exact = sn_joined_factorize(&factor->joined, factorized_pattern(factor), factor->planes, factorized_values(factor)) > 0;
    } else if (!factor->is_exact) {
        factor->is_exact = sn_multifrontal_factorize(factor->quick, factorized_values(factor)) > 0; /* lost digits */
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

/* Whether rows are met by the response to them, not by the factor itself. */
static int is_answering(const SnFactor *factor)
{
    return factor->response.size > 0 && (factor->is_exact || !factor->has_saddle);
}

/* Whether planes have a say that is found on the border. */
static int is_around(const SnFactor *factor)
{
    return factor->is_bordered && factor->planes != NULL;
}

SnStatus sn_factor_solve(SnContext *context, SnFactor *factor, const double *residual, double *step)
{
    SnStatus status = SN_OK;
    SnLbfgsWeights weights = {0};
    size_t unknowns = factor->assembly->unknown_count;
    memcpy(step, residual, 3 * unknowns * sizeof *step);
    if (is_around(factor)) { /* which knows no secants */
        sn_lbfgs_forget(&factor->secants);
    } else if (factor->is_bordered && factor->is_open) {
        (void)close_border(factor); /* lost pivots are replaced, and the step is a shorter one */
    }
    sn_lbfgs_before(&factor->secants, step, &weights);
    if (factor->has_turned) {
        sn_rotations_apply(unknowns, factor->rotations, 1, step);
    }
    /* a factor of an earlier shape is further off than its copy in 16 bits is from it */
    if (is_around(factor)) {
        const int32_t *pieces = factor->is_parted ? factor->border_pieces : NULL;
        SnBorder border = {factor->border_count, factor->border_place, pieces, factor->has_turned ? factor->rotations : NULL};
        SN_TRY(sn_border_step_find(context, &factor->border_step, factor->bordered, &border, factor->planes, factor->has_turned, step, step));
        factor->response.is_known = 0;
        if (factor->wants_response && is_answering(factor)) { /* it answers with the planes as they press then */
            sn_border_step_stiffen(&border, factor->planes, sn_multifrontal_open_border(factor->bordered));
            (void)sn_multifrontal_close_border(factor->bordered);
        }
    } else {
        SN_TRY(apply(context, factor, factor->has_turned, step));
    }
    if (factor->wants_response && is_answering(factor) && !factor->response.is_known) {
        SN_TRY(find_response(context, factor));
    }
    if (is_answering(factor)) {
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
    if (!is_around(factor)) {
        sn_lbfgs_record(&factor->secants, length, step, before, after);
    }
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
