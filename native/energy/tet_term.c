/* Tets as a kind of term (energy/term.h): what a stage brings in, and how far a step may go before one turns inside out. */
#include "base/parallel.h"
#include "energy/tet_strain.h"

#include <math.h>
#include <stdatomic.h>

#define SIDE_KEPT 0.1 /* of its volume at the start of a step a tet keeps that may not turn inside out */

/* The elements with what a stage changes of them, and its damping (null: none); the arrays are read alone. */
typedef struct StageElements {
    SnTetElements elements;
    const double *rest;
    SnViscosity viscosity;
    const SnViscosity *damping;
} StageElements;

static void apply_input(const SnTetElements *elements, const SnTermInput *input, StageElements *stage)
{
    static const SnTetInput AS_BUILT;
    const SnTetInput *own = input->data ? input->data : &AS_BUILT;
    stage->elements = *elements;
    stage->rest = own->rest ? own->rest : elements->inverse_rest;
    stage->elements.volume = own->volume ? (double *)own->volume : elements->volume;
    stage->elements.mu = own->mu ? (double *)own->mu : elements->mu;
    stage->elements.lambda = own->lambda ? (double *)own->lambda : elements->lambda;
    stage->viscosity = (SnViscosity){input->damping.factor, input->damping.scale, input->damping.shape,
                                     input->damping.shape ? input->damping.shape + 9 * elements->count : NULL};
    stage->damping = input->damping.factor > 0.0 ? &stage->viscosity : NULL;
}

static double term_value(const void *elements, const SnTermInput *input, const double *positions, double *partial, double *gradients)
{
    StageElements stage;
    apply_input(elements, input, &stage);
    return sn_tet_elements_damped_energy(&stage.elements, stage.rest, stage.damping, positions, partial, gradients);
}

static void term_stiffness(const void *elements, const SnTermInput *input, const double *positions, double *blocks)
{
    StageElements stage;
    apply_input(elements, input, &stage);
    sn_tet_elements_damped_stiffness(&stage.elements, stage.rest, stage.damping, positions, blocks);
}

static void term_damp(const void *elements, const SnTermInput *input, const double *like, const double *centre, double *shape)
{
    StageElements stage;
    apply_input(elements, input, &stage);
    sn_tet_elements_rotations(&stage.elements, stage.rest, like, shape);
    sn_tet_elements_gradients(&stage.elements, stage.rest, centre, shape + 9 * stage.elements.count);
}

typedef struct ReachJob {
    const SnTetElements *elements;
    const double *from, *to;
    _Atomic double least; /* the smallest of all: the same in any order */
} ReachJob;

/* det(A + s B) = c0 + c1 s + c2 s² + c3 s³ is at least c0 and what of the others is negative: monotone, so halving finds where a tenth of
   c0 is left. */
static double reach_of(const double a[9], const double b[9])
{
    double c[4] = {sn_mat3_determinant(a), 0.0, 0.0, sn_mat3_determinant(b)}, low = 0.0, high = 1.0;
    for (int column = 0; column < 3; column++) { /* one column of B in A, and one of A in B */
        double one[9], two[9];
        for (int k = 0; k < 9; k++) {
            one[k] = k % 3 == column ? b[k] : a[k];
            two[k] = k % 3 == column ? a[k] : b[k];
        }
        c[1] += sn_mat3_determinant(one);
        c[2] += sn_mat3_determinant(two);
    }
    double x = fmin(c[1], 0.0), y = fmin(c[2], 0.0), z = fmin(c[3], 0.0), spare = (1.0 - SIDE_KEPT) * c[0];
    if (!(c[0] > 0.0) || spare + x + y + z >= 0.0) { /* inside out already, or never */
        return 1.0;
    }
    for (int k = 0; k < 40; k++) {
        double middle = 0.5 * (low + high);
        *(spare + middle * (x + middle * (y + middle * z)) >= 0.0 ? &low : &high) = middle;
    }
    return low;
}

static void find_reach(void *data, size_t chunk, size_t begin, size_t end)
{
    ReachJob *job = data;
    double least = 1.0;
    (void)chunk;
    for (size_t e = begin; e < end; e++) {
        double from[9], move[9];
        sn_mat3_edges(job->from, job->elements->tets + 4 * e, from);
        sn_mat3_edges(job->to, job->elements->tets + 4 * e, move);
        for (int k = 0; k < 9; k++) {
            move[k] -= from[k];
        }
        least = fmin(least, reach_of(from, move));
    }
    double before = atomic_load(&job->least);
    while (least < before && !atomic_compare_exchange_weak(&job->least, &before, least)) {
    }
}

static double term_reach(const void *elements, const SnTermInput *input, const double *from, const double *to)
{
    const SnTetInput *own = input->data;
    ReachJob job = {.elements = elements, .from = from, .to = to, .least = 1.0};
    if (own != NULL && own->keeps_sides) {
        sn_parallel_for(job.elements->count, SN_TET_CHUNK, find_reach, &job);
    }
    return atomic_load(&job.least);
}

static int term_turned(const void *data, const double *from, const double *to)
{
    const SnTetElements *elements = data;
    for (size_t e = 0; e < elements->count; e++) {
        double before[9], after[9];
        sn_mat3_edges(from, elements->tets + 4 * e, before);
        sn_mat3_edges(to, elements->tets + 4 * e, after);
        if (sn_mat3_determinant(before) > 0.0 && !(sn_mat3_determinant(after) > 0.0)) {
            return 1;
        }
    }
    return 0;
}

static double term_rounding(const void *data)
{
    const SnTetElements *elements = data;
    double sum = 0.0;
    for (size_t e = 0; e < elements->count; e++) {
        sum += 1e-16 * (2.0 * elements->mu[e] + elements->lambda[e]) * elements->volume[e];
    }
    return sum;
}

static const SnTermKind TETS = {
    .name = "tets",
    .corners = 4,
    .damping_size = 18,
    .round_work = 400.0,
    .hessian_work = 2000.0,
    .value = term_value,
    .stiffness = term_stiffness,
    .damp = term_damp,
    .reach = term_reach,
    .turned = term_turned,
    .rounding = term_rounding,
};

SnTerm sn_tet_elements_term(const SnTetElements *elements)
{
    return (SnTerm){&TETS, elements, {elements->count, TETS.corners, elements->tets, 0}};
}
