/* With e = x1 - x0 of length l, n1 = e x (x2 - x0), n2 = (x3 - x0) x e and m = n / |n|²,
     d theta / d x2 = -l m1,   d x3 = -l m2,
     d x0 = -((x2 - x1)·ê) m1 - ((x3 - x1)·ê) m2,   d x1 = ((x2 - x0)·ê) m1 + ((x3 - x0)·ê) m2.
   The Hessian is that of Gauss and Newton, k (d theta)(d theta)ᵀ: exact at the rest angle, never indefinite, and as quick in practice as
   the exact one. Damping resists the rate of theta, linear in the positions with the slopes of the shape that the stage should end in.
   Hinges are computed in batches, over whose lanes the compiler vectorises. */
#include "energy/hinges.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "energy/tet_batch.h"
#include "mesh/geometry.h"
#include "mesh/sides.h"

#include <math.h>
#include <string.h>

#define CORNERS 4
#define BLOCKS 10
#define DAMPING_SIZE 13      /* slopes of the angle, and their product with the centre; component by component over the hinges */
#define INNER_SIZE 2         /* creases of all hinges, then how many times as stiff as built each is */
#define STIFFEST 100.0       /* of these */
#define INLINE SN_BATCH_INLINE
#define COLLAPSED 1e-3       /* of a triangle's rest area */

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

/* The slot of a side is the corner opposite. */
static SnStatus find_hinges(SnContext *context, size_t triangle_count, const int32_t *triangles, SnHinges *hinges)
{
    SnStatus status = SN_OK;
    SnSide *sides = NULL;
    size_t count = 3 * triangle_count;
    SN_TRY_NEW(context, sides, count, SnSide);
    for (size_t k = 0; k < count; k++) {
        const int32_t *corner = triangles + 3 * (k / 3);
        sides[k] = sn_side(corner[(k + 1) % 3], corner[(k + 2) % 3], k);
    }
    sn_sides_sort(count, sides);
    for (size_t k = 1; k < count; k++) {
        hinges->count += (size_t)sn_sides_are_one(sides + k - 1, sides + k);
    }
    SN_TRY_NEW(context, hinges->vertices, CORNERS * hinges->count, int32_t);
    SN_TRY_NEW(context, hinges->triangles, 2 * hinges->count, int32_t);
    for (size_t k = 1, h = 0; k < count; k++) {
        if (sn_sides_are_one(sides + k - 1, sides + k)) {
            int32_t corners[CORNERS] = {sides[k].low, sides[k].high, triangles[sides[k - 1].slot], triangles[sides[k].slot]};
            hinges->triangles[2 * h] = sides[k - 1].slot / 3;
            hinges->triangles[2 * h + 1] = sides[k].slot / 3;
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
    sn_release(hinges->triangles);
    sn_release(hinges->rest_angle);
    sn_release(hinges->slenderness);
    sn_release(hinges->stiffness);
    sn_release(hinges->bend);
    sn_release(hinges->yield);
    sn_release(hinges->least_area);
    memset(hinges, 0, sizeof *hinges);
}

void sn_hinges_set_plate(SnHinges *hinges, size_t hinge, double plate)
{
    hinges->stiffness[hinge] = plate * hinges->slenderness[hinge];
}

void sn_hinges_set_material(SnHinges *hinges, size_t hinge, double young, double poisson, double thickness)
{
    sn_hinges_set_plate(hinges, hinge, young * thickness * thickness * thickness / (12.0 * (1.0 - poisson * poisson)));
}

typedef struct Job {
    const SnHinges *hinges;
    const SnDamping *damping;
    const double *rest_angle, *stiffness;
    const double *crease, *firmer; /* what the state carries; null: as built */
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
                 .rest_angle = own->rest_angle ? own->rest_angle : hinges->rest_angle,
                 .stiffness = own->stiffness ? own->stiffness : hinges->stiffness,
                 .crease = input->inner,
                 .firmer = input->inner ? input->inner + hinges->count : NULL,
                 .positions = positions};
}

/* Hinges at a stage; the last batch repeats its last one in the lanes that are left over. */
typedef struct Batch {
    size_t hinge[SN_LANES];
    int used;
    SnLanes stiffness;
    SnLanes rest;       /* angle, with its crease */
    SnLanes damping;    /* N m s / s: stiffness of the damping; 0 without */
    SnLanes angle;
    SnLanes slopes[12]; /* of the angle, corner major */
} Batch;

/* atan2 by halving the range twice and a rational function (as Cephes has it), so that lanes go together; exact to the last digits. */
INLINE double arc(double y, double x)
{
    double high = fabs(x) > fabs(y) ? fabs(x) : fabs(y), low = fabs(x) > fabs(y) ? fabs(y) : fabs(x);
    int is_large = low > 0.41421356237309503 * high; /* tan(pi/8) */
    double over = is_large ? low - high : low, under = is_large ? low + high : high;
    double t = over / (under > 0.0 ? under : 1.0), z = t * t;
    double p = (((-8.750608600031904122785e-1 * z - 1.615753718733365076637e1) * z - 7.500855792314704667340e1) * z -
                1.228866684490136173410e2) * z - 6.485021904942025371773e1;
    double q = ((((z + 2.485846490142306297962e1) * z + 1.650270098316988542046e2) * z + 4.328810604912902668951e2) * z +
                4.853903996359136964868e2) * z + 1.945506571482613964425e2;
    double angle = t * (z * p / q) + t + (is_large ? 0.25 * SN_PI : 0.0);
    angle = fabs(y) > fabs(x) ? 0.5 * SN_PI - angle : angle;
    angle = x < 0.0 ? SN_PI - angle : angle;
    return y < 0.0 ? -angle : angle;
}

/* Angle and slopes at positions x. */
INLINE void find_slopes(const SnHinges *hinges, const double *x, Batch *batch)
{
    SnLanes e[3], a[3], b[3], least;
    for (int lane = 0; lane < SN_LANES; lane++) {
        const int32_t *corner = hinges->vertices + CORNERS * batch->hinge[lane];
        const double *zero = x + 3 * (size_t)corner[0], *one = x + 3 * (size_t)corner[1];
        const double *two = x + 3 * (size_t)corner[2], *three = x + 3 * (size_t)corner[3];
        for (int axis = 0; axis < 3; axis++) {
            e[axis][lane] = one[axis] - zero[axis];
            a[axis][lane] = two[axis] - zero[axis];
            b[axis][lane] = three[axis] - zero[axis];
        }
        least[lane] = 2.0 * hinges->least_area[batch->hinge[lane]];
    }
    for (int i = 0; i < SN_LANES; i++) {
        double n1[3] = {e[1][i] * a[2][i] - e[2][i] * a[1][i], e[2][i] * a[0][i] - e[0][i] * a[2][i], e[0][i] * a[1][i] - e[1][i] * a[0][i]};
        double n2[3] = {b[1][i] * e[2][i] - b[2][i] * e[1][i], b[2][i] * e[0][i] - b[0][i] * e[2][i], b[0][i] * e[1][i] - b[1][i] * e[0][i]};
        double length = sqrt(e[0][i] * e[0][i] + e[1][i] * e[1][i] + e[2][i] * e[2][i]), scale = length > 0.0 ? 1.0 / length : 0.0;
        double across = (n1[1] * n2[2] - n1[2] * n2[1]) * e[0][i] + (n1[2] * n2[0] - n1[0] * n2[2]) * e[1][i] +
                        (n1[0] * n2[1] - n1[1] * n2[0]) * e[2][i];
        double square1 = n1[0] * n1[0] + n1[1] * n1[1] + n1[2] * n1[2], square2 = n2[0] * n2[0] + n2[1] * n2[1] + n2[2] * n2[2];
        double smallest = least[i] * least[i];
        double one = 1.0 / (square1 > smallest ? square1 : smallest), two = 1.0 / (square2 > smallest ? square2 : smallest);
        double along2 = scale * (a[0][i] * e[0][i] + a[1][i] * e[1][i] + a[2][i] * e[2][i]); /* of x2 and x3 from x0, along the edge */
        double along3 = scale * (b[0][i] * e[0][i] + b[1][i] * e[1][i] + b[2][i] * e[2][i]);
        batch->angle[i] = arc(across * scale, n1[0] * n2[0] + n1[1] * n2[1] + n1[2] * n2[2]);
        for (int axis = 0; axis < 3; axis++) {
            double m1 = one * n1[axis], m2 = two * n2[axis];
            batch->slopes[axis][i] = (length - along2) * m1 + (length - along3) * m2;
            batch->slopes[3 + axis][i] = along2 * m1 + along3 * m2;
            batch->slopes[6 + axis][i] = -length * m1;
            batch->slopes[9 + axis][i] = -length * m2;
        }
    }
}

INLINE void open_batch(const Job *job, size_t begin, size_t end, Batch *batch)
{
    const SnDamping *damping = job->damping;
    batch->used = end - begin < SN_LANES ? (int)(end - begin) : SN_LANES;
    for (int lane = 0; lane < SN_LANES; lane++) {
        size_t h = begin + (size_t)(lane < batch->used ? lane : batch->used - 1);
        batch->hinge[lane] = h;
        batch->stiffness[lane] = job->stiffness[h] * (job->firmer != NULL ? job->firmer[h] : 1.0);
        batch->rest[lane] = job->rest_angle[h] + (job->crease != NULL ? job->crease[h] : 0.0);
        batch->damping[lane] = damping->factor * (damping->scale != NULL ? damping->scale[h] : 1.0) * job->stiffness[h];
    }
    find_slopes(job->hinges, job->positions, batch);
}

/* How far it is bent from its rest angle, which may be outside of (-pi, pi]: by less than half a turn. */
INLINE double wrap(double angle)
{
    angle = angle > 2.0 * SN_PI ? angle - 2.0 * SN_PI : angle <= -2.0 * SN_PI ? angle + 2.0 * SN_PI : angle;
    return angle > SN_PI ? angle - 2.0 * SN_PI : angle <= -SN_PI ? angle + 2.0 * SN_PI : angle;
}

/* slopes · x, from the first corner, so that it keeps its digits far from the origin. */
INLINE void change_along(const SnHinges *hinges, const Batch *batch, const double *x, const SnLanes slopes[12], SnLanes change)
{
    SnLanes from_first[9];
    for (int lane = 0; lane < SN_LANES; lane++) {
        const int32_t *corner = hinges->vertices + CORNERS * batch->hinge[lane];
        for (int k = 0; k < 9; k++) {
            from_first[k][lane] = x[3 * (size_t)corner[1 + k / 3] + (size_t)(k % 3)] - x[3 * (size_t)corner[0] + (size_t)(k % 3)];
        }
    }
    for (int i = 0; i < SN_LANES; i++) {
        double sum = 0.0;
        for (int k = 0; k < 9; k++) {
            sum += slopes[3 + k][i] * from_first[k][i];
        }
        change[i] = sum;
    }
}

INLINE void load_shape(const Job *job, const Batch *batch, SnLanes shape[DAMPING_SIZE])
{
    for (size_t k = 0; k < DAMPING_SIZE; k++) {
        for (int lane = 0; lane < SN_LANES; lane++) {
            shape[k][lane] = job->damping->shape[k * job->hinges->count + batch->hinge[lane]];
        }
    }
}

static void sum_energy(void *data, size_t chunk, size_t begin, size_t end)
{
    const Job *job = data;
    double sum = 0.0;
    for (size_t first = begin; first < end; first += SN_LANES) {
        Batch batch;
        SnLanes energy, gradient[12];
        open_batch(job, first, end, &batch);
        for (int i = 0; i < SN_LANES; i++) {
            double bent = wrap(batch.angle[i] - batch.rest[i]), moment = batch.stiffness[i] * bent;
            energy[i] = 0.5 * moment * bent;
            for (int k = 0; k < 12; k++) {
                gradient[k][i] = moment * batch.slopes[k][i];
            }
        }
        if (job->damping->factor > 0.0) {
            SnLanes shape[DAMPING_SIZE], change;
            load_shape(job, &batch, shape);
            change_along(job->hinges, &batch, job->positions, (const SnLanes *)shape, change);
            for (int i = 0; i < SN_LANES; i++) {
                double rate = change[i] - shape[12][i], resisted = batch.damping[i] * rate;
                energy[i] += 0.5 * resisted * rate;
                for (int k = 0; k < 12; k++) {
                    gradient[k][i] += resisted * shape[k][i];
                }
            }
        }
        for (int lane = 0; lane < batch.used; lane++) {
            sum += energy[lane];
            for (int k = 0; k < 12 && job->gradients != NULL; k++) {
                job->gradients[12 * batch.hinge[lane] + (size_t)k] = gradient[k][lane];
            }
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

/* Blocks of k slopes slopesᵀ, and the same of the damping. */
static void compute_stiffness(void *data, size_t chunk, size_t begin, size_t end)
{
    const Job *job = data;
    int is_damped = job->damping->factor > 0.0;
    (void)chunk;
    for (size_t first = begin; first < end; first += SN_LANES) {
        Batch batch;
        SnLanes shape[DAMPING_SIZE], block[9];
        open_batch(job, first, end, &batch);
        if (is_damped) {
            load_shape(job, &batch, shape);
        }
        size_t at = 0;
        for (int k = 0; k < CORNERS; k++) {
            for (int l = 0; l <= k; l++, at += 9) {
                for (int a = 0; a < 9; a++) {
                    const double *row = batch.slopes[3 * k + a / 3], *column = batch.slopes[3 * l + a % 3];
                    for (int i = 0; i < SN_LANES; i++) {
                        block[a][i] = batch.stiffness[i] * row[i] * column[i];
                    }
                    for (int i = 0; i < SN_LANES && is_damped; i++) {
                        block[a][i] += batch.damping[i] * shape[3 * k + a / 3][i] * shape[3 * l + a % 3][i];
                    }
                }
                for (int lane = 0; lane < batch.used; lane++) {
                    double *out = job->blocks + 9 * BLOCKS * batch.hinge[lane] + at;
                    for (int a = 0; a < 9; a++) {
                        out[a] = block[a][lane];
                    }
                }
            }
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
    size_t count = job->hinges->count;
    (void)chunk;
    for (size_t first = begin; first < end; first += SN_LANES) {
        Batch batch;
        SnLanes change;
        open_batch(job, first, end, &batch);
        change_along(job->hinges, &batch, job->centre, (const SnLanes *)batch.slopes, change);
        for (int lane = 0; lane < batch.used; lane++) {
            for (size_t k = 0; k < 12; k++) {
                job->shape[k * count + batch.hinge[lane]] = batch.slopes[k][lane];
            }
            job->shape[12 * count + batch.hinge[lane]] = change[lane];
        }
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
        inner[h] = 0.0;
        inner[hinges->count + h] = 1.0;
    }
}

/* Plasticity (methods, "Shell"): the crease follows until the yield alone is left, and what gives way hardens. */
static void term_flow(const void *elements, const SnTermInput *input, const double *positions, double *inner)
{
    Job job = make_job(elements, input, positions);
    const SnHinges *hinges = job.hinges;
    double *firmer = inner + hinges->count;
    for (size_t h = 0; h < hinges->count; h++) {
        double e[3], n1[3], n2[3];
        if (!isfinite(hinges->yield[h])) {
            continue;
        }
        find_normals(hinges->vertices + CORNERS * h, positions, e, n1, n2);
        double bent = wrap(find_angle(e, n1, n2) - job.rest_angle[h] - inner[h]), beyond = fabs(bent) - hinges->yield[h] / hinges->bend[h];
        if (beyond > 0.0) {
            inner[h] = wrap(inner[h] + copysign(beyond, bent));
            firmer[h] = fmin(firmer[h] * exp(hinges->hardening * beyond * hinges->bend[h]), STIFFEST);
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
    .inner_size = INNER_SIZE,
    .round_work = 250.0,
    .hessian_work = 700.0,
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
