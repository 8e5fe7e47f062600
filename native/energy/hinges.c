/* With e = x1 - x0 of length l, n1 = e x (x2 - x0), n2 = (x3 - x0) x e and m = n / |n|²,
     d theta / d x2 = -l m1,   d x3 = -l m2,
     d x0 = -((x2 - x1)·ê) m1 - ((x3 - x1)·ê) m2,   d x1 = ((x2 - x0)·ê) m1 + ((x3 - x0)·ê) m2.
   The Hessian is that of Gauss and Newton, k (d theta)(d theta)ᵀ: exact at the rest angle, never indefinite, and as quick in practice as
   the exact one. Damping resists the rate of theta, linear in the positions with the slopes of the shape that the stage should end in. */
#include "energy/hinges.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "math/mat3.h"
#include "mesh/geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CORNERS 4
#define BLOCKS 10
#define DAMPING_SIZE 13      /* slopes of the angle, and their product with the centre */
#define COLLAPSED 1e-3       /* of a triangle's rest area */

/* An edge of a triangle, its lower vertex first. */
typedef struct Side {
    int32_t low, high, opposite, triangle;
} Side;

static int compare_sides(const void *left, const void *right)
{
    const Side *a = left, *b = right;
    if (a->low != b->low) {
        return a->low < b->low ? -1 : 1;
    }
    if (a->high != b->high) {
        return a->high < b->high ? -1 : 1;
    }
    return (a->triangle > b->triangle) - (a->triangle < b->triangle);
}

static int are_joined(const Side *a, const Side *b)
{
    return a->low == b->low && a->high == b->high;
}

static void subtract(const double *x, int32_t from, int32_t to, double out[3])
{
    for (int a = 0; a < 3; a++) {
        out[a] = x[3 * to + a] - x[3 * from + a];
    }
}

static void find_normals(const int32_t *corner, const double *x, double e[3], double n1[3], double n2[3])
{
    double second[3], third[3];
    subtract(x, corner[0], corner[1], e);
    subtract(x, corner[0], corner[2], second);
    subtract(x, corner[0], corner[3], third);
    sn_cross3(e, second, n1);
    sn_cross3(third, e, n2);
}

static double find_angle(const double e[3], const double n1[3], const double n2[3])
{
    double across[3], length = sqrt(sn_dot3(e, e));
    sn_cross3(n1, n2, across);
    return atan2(length > 0.0 ? sn_dot3(across, e) / length : 0.0, sn_dot3(n1, n2));
}

static SnStatus find_hinges(SnContext *context, size_t triangle_count, const int32_t *triangles, SnHinges *hinges)
{
    SnStatus status = SN_OK;
    Side *sides = NULL;
    size_t count = 3 * triangle_count;
    SN_TRY_NEW(context, sides, count, Side);
    for (size_t k = 0; k < count; k++) {
        const int32_t *corner = triangles + 3 * (k / 3);
        int32_t a = corner[k % 3], b = corner[(k + 1) % 3];
        sides[k] = (Side){a < b ? a : b, a < b ? b : a, corner[(k + 2) % 3], (int32_t)(k / 3)};
    }
    qsort(sides, count, sizeof *sides, compare_sides);
    for (size_t k = 1; k < count; k++) {
        hinges->count += (size_t)are_joined(sides + k - 1, sides + k);
    }
    SN_TRY_NEW(context, hinges->vertices, CORNERS * hinges->count, int32_t);
    for (size_t k = 1, h = 0; k < count; k++) {
        if (are_joined(sides + k - 1, sides + k)) {
            int32_t corners[CORNERS] = {sides[k].low, sides[k].high, sides[k - 1].opposite, sides[k].opposite};
            memcpy(hinges->vertices + CORNERS * h++, corners, sizeof corners);
        }
    }
cleanup:
    sn_release(sides);
    return status;
}

SnStatus sn_hinges_init(SnContext *context, size_t triangle_count, const int32_t *triangles, const double *rest, SnHinges *hinges)
{
    SnStatus status = SN_OK;
    memset(hinges, 0, sizeof *hinges);
    SN_TRY(find_hinges(context, triangle_count, triangles, hinges));
    SN_TRY_NEW(context, hinges->rest_angle, hinges->count, double);
    SN_TRY_NEW(context, hinges->slenderness, hinges->count, double);
    SN_TRY_NEW(context, hinges->stiffness, hinges->count, double);
    SN_TRY_NEW(context, hinges->bend, hinges->count, double);
    SN_TRY_NEW(context, hinges->yield, hinges->count, double);
    SN_TRY_NEW(context, hinges->least_area, hinges->count, double);
    for (size_t h = 0; h < hinges->count; h++) {
        const int32_t *corner = hinges->vertices + CORNERS * h;
        double e[3], n1[3], n2[3];
        find_normals(corner, rest, e, n1, n2);
        double first = 0.5 * sqrt(sn_dot3(n1, n1)), second = 0.5 * sqrt(sn_dot3(n2, n2));
        if (!(first > 0.0 && second > 0.0)) {
            status = sn_context_fail(context, SN_BAD_INPUT,
                                     "A triangle at vertices %d and %d has no area: dissolve it or merge its vertices.", (int)corner[0],
                                     (int)corner[1]);
            goto cleanup;
        }
        hinges->rest_angle[h] = find_angle(e, n1, n2);
        hinges->slenderness[h] = sn_dot3(e, e) / (first + second);
        hinges->bend[h] = 0.5 * sqrt(sn_dot3(e, e)) / (first + second);
        hinges->yield[h] = INFINITY;
        hinges->least_area[h] = COLLAPSED * fmin(first, second);
    }
cleanup:
    if (status != SN_OK) {
        sn_hinges_clear(hinges);
    }
    return status;
}

void sn_hinges_clear(SnHinges *hinges)
{
    sn_release(hinges->vertices);
    sn_release(hinges->rest_angle);
    sn_release(hinges->slenderness);
    sn_release(hinges->stiffness);
    sn_release(hinges->bend);
    sn_release(hinges->yield);
    sn_release(hinges->least_area);
    memset(hinges, 0, sizeof *hinges);
}

void sn_hinges_set_material(SnHinges *hinges, size_t hinge, double young, double poisson, double thickness)
{
    double plate = young * thickness * thickness * thickness / (12.0 * (1.0 - poisson * poisson));
    hinges->stiffness[hinge] = plate * hinges->slenderness[hinge];
}

/* The angle and its slopes (corner major) at positions x. */
static double find_slopes(const SnHinges *hinges, size_t h, const double *x, double slopes[12])
{
    const int32_t *corner = hinges->vertices + CORNERS * h;
    double e[3], n1[3], n2[3], second[3], third[3], least = 4.0 * hinges->least_area[h] * hinges->least_area[h];
    find_normals(corner, x, e, n1, n2);
    double length = sqrt(sn_dot3(e, e)), scale = length > 0.0 ? 1.0 / length : 0.0;
    double one = 1.0 / fmax(sn_dot3(n1, n1), least), two = 1.0 / fmax(sn_dot3(n2, n2), least);
    subtract(x, corner[0], corner[2], second);
    subtract(x, corner[0], corner[3], third);
    double along2 = scale * sn_dot3(second, e), along3 = scale * sn_dot3(third, e); /* of x2 and x3 from x0, along the edge */
    for (int a = 0; a < 3; a++) {
        double m1 = one * n1[a], m2 = two * n2[a];
        slopes[a] = (length - along2) * m1 + (length - along3) * m2;
        slopes[3 + a] = along2 * m1 + along3 * m2;
        slopes[6 + a] = -length * m1;
        slopes[9 + a] = -length * m2;
    }
    return find_angle(e, n1, n2);
}

/* slopes · x, from the first corner, so that it keeps its digits far from the origin. */
static double change_along(const int32_t *corner, const double *x, const double slopes[12])
{
    double sum = 0.0;
    for (int i = 1; i < CORNERS; i++) {
        double from_first[3];
        subtract(x, corner[0], corner[i], from_first);
        sum += sn_dot3(slopes + 3 * i, from_first);
    }
    return sum;
}

typedef struct Job {
    const SnHinges *hinges;
    const SnDamping *damping;
    const double *rest_angle, *stiffness;
    const double *positions, *centre;
    double *partial, *gradients, *blocks, *shape;
} Job;

static Job make_job(const void *elements, const SnTermInput *input, const double *positions)
{
    static const SnHingeInput AS_BUILT;
    const SnHinges *hinges = elements;
    const SnHingeInput *own = input->data ? input->data : &AS_BUILT;
    return (Job){.hinges = hinges,
                 .damping = &input->damping,
                 .rest_angle = own->rest_angle ? own->rest_angle : (input->inner ? input->inner : hinges->rest_angle),
                 .stiffness = own->stiffness ? own->stiffness : hinges->stiffness,
                 .positions = positions};
}

static double damping_stiffness(const Job *job, size_t h)
{
    return job->damping->factor * (job->damping->scale ? job->damping->scale[h] : 1.0) * job->stiffness[h];
}

/* To (-pi, pi]. */
static double wrap(double angle)
{
    return angle - 2.0 * SN_PI * ceil((angle - SN_PI) / (2.0 * SN_PI));
}

static void sum_energy(void *data, size_t chunk, size_t begin, size_t end)
{
    const Job *job = data;
    double sum = 0.0;
    for (size_t h = begin; h < end; h++) {
        double slopes[12], bent = wrap(find_slopes(job->hinges, h, job->positions, slopes) - job->rest_angle[h]);
        double moment = job->stiffness[h] * bent;
        sum += 0.5 * moment * bent;
        for (int k = 0; k < 12; k++) {
            slopes[k] *= moment;
        }
        if (job->damping->factor > 0.0) {
            const double *shape = job->damping->shape + DAMPING_SIZE * h;
            double change = change_along(job->hinges->vertices + CORNERS * h, job->positions, shape) - shape[12];
            double resisted = damping_stiffness(job, h) * change;
            sum += 0.5 * resisted * change;
            for (int k = 0; k < 12; k++) {
                slopes[k] += resisted * shape[k];
            }
        }
        if (job->gradients != NULL) {
            memcpy(job->gradients + 12 * h, slopes, sizeof slopes);
        }
    }
    job->partial[chunk] = sum;
}

static double term_value(const void *elements, const SnTermInput *input, const double *positions, double *partial, double *gradients)
{
    Job job = make_job(elements, input, positions);
    double sum = 0.0;
    job.partial = partial;
    job.gradients = gradients;
    sn_parallel_for(job.hinges->count, SN_TERM_CHUNK, sum_energy, &job);
    for (size_t chunk = 0; chunk < sn_parallel_chunk_count(job.hinges->count, SN_TERM_CHUNK); chunk++) {
        sum += partial[chunk];
    }
    return sum;
}

/* blocks += k slopes slopesᵀ */
static void add_blocks(double k, const double slopes[12], double *block)
{
    for (int i = 0; i < CORNERS; i++) {
        for (int j = 0; j <= i; j++, block += 9) {
            for (int a = 0; a < 9; a++) {
                block[a] += k * slopes[3 * i + a / 3] * slopes[3 * j + a % 3];
            }
        }
    }
}

static void compute_stiffness(void *data, size_t chunk, size_t begin, size_t end)
{
    const Job *job = data;
    (void)chunk;
    for (size_t h = begin; h < end; h++) {
        double slopes[12], *block = job->blocks + 9 * BLOCKS * h;
        find_slopes(job->hinges, h, job->positions, slopes);
        memset(block, 0, 9 * BLOCKS * sizeof *block);
        add_blocks(job->stiffness[h], slopes, block);
        if (job->damping->factor > 0.0) {
            add_blocks(damping_stiffness(job, h), job->damping->shape + DAMPING_SIZE * h, block);
        }
    }
}

static void term_stiffness(const void *elements, const SnTermInput *input, const double *positions, double *blocks)
{
    Job job = make_job(elements, input, positions);
    job.blocks = blocks;
    sn_parallel_for(job.hinges->count, SN_TERM_CHUNK, compute_stiffness, &job);
}

static void compute_damping(void *data, size_t chunk, size_t begin, size_t end)
{
    const Job *job = data;
    (void)chunk;
    for (size_t h = begin; h < end; h++) {
        double *shape = job->shape + DAMPING_SIZE * h;
        find_slopes(job->hinges, h, job->positions, shape);
        shape[12] = change_along(job->hinges->vertices + CORNERS * h, job->centre, shape);
    }
}

static void term_damp(const void *elements, const SnTermInput *input, const double *like, const double *centre, double *shape)
{
    Job job = make_job(elements, input, like);
    job.centre = centre;
    job.shape = shape;
    sn_parallel_for(job.hinges->count, SN_TERM_CHUNK, compute_damping, &job);
}

static void term_begin(const void *elements, double *inner)
{
    const SnHinges *hinges = elements;
    for (size_t h = 0; h < hinges->count; h++) {
        inner[h] = hinges->rest_angle[h];
    }
}

/* Plasticity (methods, "Shell"): the rest angle follows until the yield alone is left. */
static void term_flow(const void *elements, const SnTermInput *input, const double *positions, double *inner)
{
    const SnHinges *hinges = elements;
    (void)input;
    for (size_t h = 0; h < hinges->count; h++) {
        double e[3], n1[3], n2[3];
        find_normals(hinges->vertices + CORNERS * h, positions, e, n1, n2);
        double bent = wrap(find_angle(e, n1, n2) - inner[h]), beyond = fabs(bent) - hinges->yield[h] / hinges->bend[h];
        if (beyond > 0.0) {
            inner[h] += copysign(beyond, bent);
        }
    }
}

static double term_rounding(const void *elements)
{
    const SnHinges *hinges = elements;
    double sum = 0.0;
    for (size_t h = 0; h < hinges->count; h++) {
        sum += 1e-16 * hinges->stiffness[h];
    }
    return sum;
}

static const SnTermKind HINGES = {
    .name = "hinges",
    .corners = CORNERS,
    .damping_size = DAMPING_SIZE,
    .inner_size = 1,
    .round_work = 600.0,
    .hessian_work = 1100.0,
    .value = term_value,
    .stiffness = term_stiffness,
    .damp = term_damp,
    .begin = term_begin,
    .flow = term_flow,
    .rounding = term_rounding,
};

SnTerm sn_hinges_term(const SnHinges *hinges)
{
    return (SnTerm){&HINGES, hinges, {hinges->count, CORNERS, hinges->vertices, 0}};
}

void sn_hinges_angles(const SnHinges *hinges, const double *positions, double *angles)
{
    for (size_t h = 0; h < hinges->count; h++) {
        double e[3], n1[3], n2[3];
        find_normals(hinges->vertices + CORNERS * h, positions, e, n1, n2);
        angles[h] = find_angle(e, n1, n2);
    }
}
