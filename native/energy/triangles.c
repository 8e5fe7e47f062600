/* F = [x1 - x0, x2 - x0] B (3x2) = sum of s_i u_i v_iᵀ, and with n = u_1 x u_2 the energy of a triangle is
     area (mu sum (s_i - 1)² + lambda/2 (s_1 + s_2 - 2)²),     g_i = 2 mu (s_i - 1) + lambda (s_1 + s_2 - 2),
   its stress P = sum g_i u_i v_iᵀ. In the axes u, v the Hessian falls apart: stretches [2 mu + lambda, lambda; ...], flip 2 mu, twist
   (g_1 + g_2)/(s_1 + s_2) and out of plane g_i/s_i. The last three are negative under compression (that is buckling) and clamped. */
#include "energy/triangles.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "math/mat3.h"

#include <math.h>
#include <string.h>

#define CORNERS 3
#define BLOCKS 6
#define DAMPING_SIZE 12     /* R and C, 3x2 row-major each */
#define THINNEST 1e-3       /* stretches below this count as this where they divide */

SnStatus sn_triangles_init(SnContext *context, size_t count, const int32_t *vertices, const double *rest, SnTriangles *triangles)
{
    SnStatus status = SN_OK;
    memset(triangles, 0, sizeof *triangles);
    triangles->count = count;
    triangles->vertices = vertices;
    SN_TRY_NEW(context, triangles->inverse_rest, 4 * count, double);
    SN_TRY_NEW(context, triangles->area, count, double);
    SN_TRY_NEW(context, triangles->mu, count, double);
    SN_TRY_NEW(context, triangles->lambda, count, double);
    for (size_t t = 0; t < count; t++) {
        const int32_t *corner = vertices + 3 * t;
        double first[3], second[3], normal[3];
        for (int a = 0; a < 3; a++) {
            first[a] = rest[3 * corner[1] + a] - rest[3 * corner[0] + a];
            second[a] = rest[3 * corner[2] + a] - rest[3 * corner[0] + a];
        }
        sn_cross3(first, second, normal);
        double length = sqrt(sn_dot3(first, first)), doubled = sqrt(sn_dot3(normal, normal));
        if (!(doubled > 0.0)) {
            status = sn_context_fail(context, SN_BAD_INPUT, "Triangle %zu of the mesh has no area: dissolve it or merge its vertices.", t);
            goto cleanup;
        }
        /* rest edges in the plane: (length, 0) and (along, height) */
        double along = sn_dot3(first, second) / length, height = doubled / length, *b = triangles->inverse_rest + 4 * t;
        b[0] = 1.0 / length, b[1] = -along / doubled;
        b[2] = 0.0, b[3] = 1.0 / height;
        triangles->area[t] = 0.5 * doubled;
    }
cleanup:
    if (status != SN_OK) {
        sn_triangles_clear(triangles);
    }
    return status;
}

void sn_triangles_clear(SnTriangles *triangles)
{
    sn_release(triangles->inverse_rest);
    sn_release(triangles->area);
    sn_release(triangles->mu);
    sn_release(triangles->lambda);
    memset(triangles, 0, sizeof *triangles);
}

void sn_triangles_set_material(SnTriangles *triangles, size_t triangle, double young, double poisson, double thickness)
{
    triangles->mu[triangle] = thickness * young / (2.0 * (1.0 + poisson));
    triangles->lambda[triangle] = thickness * young * poisson / (1.0 - poisson * poisson);
}

/* One triangle at a stage. */
typedef struct Triangle {
    double b[2][2];    /* row i: gradient of corner i + 1 */
    double f[3][2];    /* deformation gradient */
    double mu, lambda; /* times the area */
    double damping;    /* factor of both for the damping; 0: none */
    const double *r, *c; /* axes and centre of the damping, 3x2 */
} Triangle;

typedef struct Job {
    const SnTriangles *triangles;
    const SnTermInput *input;
    const double *rest, *area, *mu, *lambda;
    const double *positions, *centre;
    double *partial, *gradients, *blocks, *shape;
} Job;

static Job make_job(const void *elements, const SnTermInput *input, const double *positions)
{
    static const SnTriangleInput AS_BUILT;
    const SnTriangles *triangles = elements;
    const SnTriangleInput *own = input->data ? input->data : &AS_BUILT;
    return (Job){.triangles = triangles,
                 .input = input,
                 .rest = own->rest ? own->rest : triangles->inverse_rest,
                 .area = own->area ? own->area : triangles->area,
                 .mu = own->mu ? own->mu : triangles->mu,
                 .lambda = own->lambda ? own->lambda : triangles->lambda,
                 .positions = positions};
}

/* f = [x1 - x0, x2 - x0] b */
static void deform(const int32_t *corner, const double *x, const double b[2][2], double f[3][2])
{
    for (int a = 0; a < 3; a++) {
        double first = x[3 * corner[1] + a] - x[3 * corner[0] + a], second = x[3 * corner[2] + a] - x[3 * corner[0] + a];
        f[a][0] = first * b[0][0] + second * b[1][0];
        f[a][1] = first * b[0][1] + second * b[1][1];
    }
}

static Triangle load_triangle(const Job *job, size_t t)
{
    const SnDamping *damping = &job->input->damping;
    Triangle one = {.mu = job->area[t] * job->mu[t], .lambda = job->area[t] * job->lambda[t]};
    memcpy(one.b, job->rest + 4 * t, sizeof one.b);
    deform(job->triangles->vertices + 3 * t, job->positions, (const double(*)[2])one.b, one.f);
    if (damping->factor > 0.0) {
        one.damping = damping->factor * (damping->scale ? damping->scale[t] : 1.0);
        one.r = damping->shape + DAMPING_SIZE * t;
        one.c = one.r + 6;
    }
    return one;
}

/* f = sum of s_i u_i v_iᵀ, s_i >= 0; u holds n = u_1 x u_2 as its third. */
typedef struct Axes {
    double s[2], u[3][3], v[2][2];
} Axes;

/* A unit vector across `u`. */
static void find_across(const double u[3], double out[3])
{
    double least[3] = {0};
    int a = fabs(u[0]) < fabs(u[1]) ? 0 : 1;
    least[fabs(u[2]) < fabs(u[a]) ? 2 : a] = 1.0;
    sn_cross3(u, least, out);
    double length = sqrt(sn_dot3(out, out));
    for (a = 0; a < 3; a++) {
        out[a] /= length;
    }
}

static Axes find_axes(const double f[3][2])
{
    Axes axes = {.u = {{1.0, 0.0, 0.0}}};
    double c00 = 0.0, c11 = 0.0, c01 = 0.0, along = 0.0;
    for (int a = 0; a < 3; a++) {
        c00 += f[a][0] * f[a][0];
        c11 += f[a][1] * f[a][1];
        c01 += f[a][0] * f[a][1];
    }
    double angle = 0.5 * atan2(2.0 * c01, c00 - c11);
    axes.v[0][0] = axes.v[1][1] = cos(angle);
    axes.v[0][1] = sin(angle);
    axes.v[1][0] = -axes.v[0][1];
    double image[2][3];
    for (int i = 0; i < 2; i++) {
        for (int a = 0; a < 3; a++) {
            image[i][a] = f[a][0] * axes.v[i][0] + f[a][1] * axes.v[i][1];
        }
        axes.s[i] = sqrt(sn_dot3(image[i], image[i]));
    }
    for (int a = 0; a < 3 && axes.s[0] > 0.0; a++) {
        axes.u[0][a] = image[0][a] / axes.s[0];
    }
    /* a triangle that has collapsed to a line leaves u_2 open */
    along = sn_dot3(axes.u[0], image[1]);
    for (int a = 0; a < 3; a++) {
        image[1][a] -= along * axes.u[0][a];
    }
    double length = sqrt(sn_dot3(image[1], image[1]));
    if (length > 1e-12 * axes.s[0]) {
        for (int a = 0; a < 3; a++) {
            axes.u[1][a] = image[1][a] / length;
        }
    } else {
        find_across(axes.u[0], axes.u[1]);
    }
    sn_cross3(axes.u[0], axes.u[1], axes.u[2]);
    return axes;
}

static void find_stress(const Triangle *one, const double s[2], double g[2])
{
    double sum = one->lambda * (s[0] + s[1] - 2.0);
    g[0] = 2.0 * one->mu * (s[0] - 1.0) + sum;
    g[1] = 2.0 * one->mu * (s[1] - 1.0) + sum;
}

/* Energy and P of the damping, with e = sym(Rᵀ (F - C)): mu |e|² + lambda/2 (tr e)² and R (2 mu e + lambda tr e). */
static double add_damping(const Triangle *one, double p[3][2])
{
    double m[2][2] = {{0}};
    for (int a = 0; a < 3; a++) {
        for (int k = 0; k < 4; k++) {
            m[k / 2][k % 2] += one->r[2 * a + k / 2] * (one->f[a][k % 2] - one->c[2 * a + k % 2]);
        }
    }
    double mu = one->damping * one->mu, lambda = one->damping * one->lambda;
    double shear = 0.5 * (m[0][1] + m[1][0]), trace = m[0][0] + m[1][1];
    for (int a = 0; a < 3; a++) {
        double x = one->r[2 * a], y = one->r[2 * a + 1];
        p[a][0] += lambda * trace * x + 2.0 * mu * (x * m[0][0] + y * shear);
        p[a][1] += lambda * trace * y + 2.0 * mu * (x * shear + y * m[1][1]);
    }
    return mu * (m[0][0] * m[0][0] + m[1][1] * m[1][1] + 2.0 * shear * shear) + 0.5 * lambda * trace * trace;
}

static void sum_energy(void *data, size_t chunk, size_t begin, size_t end)
{
    const Job *job = data;
    double sum = 0.0;
    for (size_t t = begin; t < end; t++) {
        Triangle one = load_triangle(job, t);
        Axes axes = find_axes((const double(*)[2])one.f);
        double g[2], p[3][2], d0 = axes.s[0] - 1.0, d1 = axes.s[1] - 1.0;
        find_stress(&one, axes.s, g);
        sum += one.mu * (d0 * d0 + d1 * d1) + 0.5 * one.lambda * (d0 + d1) * (d0 + d1);
        for (int a = 0; a < 3; a++) {
            for (int k = 0; k < 2; k++) {
                p[a][k] = g[0] * axes.u[0][a] * axes.v[0][k] + g[1] * axes.u[1][a] * axes.v[1][k];
            }
        }
        sum += one.damping > 0.0 ? add_damping(&one, p) : 0.0;
        for (int a = 0; a < 3 && job->gradients != NULL; a++) {
            double *out = job->gradients + 9 * t + a;
            out[3] = p[a][0] * one.b[0][0] + p[a][1] * one.b[0][1];
            out[6] = p[a][0] * one.b[1][0] + p[a][1] * one.b[1][1];
            out[0] = -out[3] - out[6];
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
    sn_parallel_for(job.triangles->count, SN_TERM_CHUNK, sum_energy, &job);
    for (size_t chunk = 0; chunk < sn_parallel_chunk_count(job.triangles->count, SN_TERM_CHUNK); chunk++) {
        sum += partial[chunk];
    }
    return sum;
}

/* The clamped Hessian in the axes of a triangle. */
typedef struct Moduli {
    double stretch, coupled; /* of a stretch, and between the two */
    double p, q;             /* (flip ± twist) / 2 */
    double out[2];           /* out of the plane */
} Moduli;

static Moduli find_moduli(const Triangle *one, const double s[2])
{
    double g[2], flip = 2.0 * one->mu;
    find_stress(one, s, g);
    double twist = fmax(g[0] + g[1], 0.0) / fmax(s[0] + s[1], THINNEST);
    return (Moduli){.stretch = 2.0 * one->mu + one->lambda,
                    .coupled = one->lambda,
                    .p = 0.5 * (flip + twist),
                    .q = 0.5 * (flip - twist),
                    .out = {fmax(g[0], 0.0) / fmax(s[0], THINNEST), fmax(g[1], 0.0) / fmax(s[1], THINNEST)}};
}

/* block = U L Uᵀ of corners whose gradients are k and l in the axes v. */
static void fill_block(const Axes *axes, const Moduli *m, const double k[2], const double l[2], double block[9])
{
    double xx = k[0] * l[0], yy = k[1] * l[1], xy = k[0] * l[1], yx = k[1] * l[0];
    double l00 = m->stretch * xx + m->p * yy, l11 = m->stretch * yy + m->p * xx, l22 = m->out[0] * xx + m->out[1] * yy;
    double l01 = m->coupled * xy + m->q * yx, l10 = m->coupled * yx + m->q * xy;
    for (int row = 0; row < 3; row++) {
        double x = axes->u[0][row], y = axes->u[1][row], z = axes->u[2][row];
        for (int column = 0; column < 3; column++) {
            block[3 * row + column] = (x * l00 + y * l10) * axes->u[0][column] + (x * l01 + y * l11) * axes->u[1][column] +
                                      z * l22 * axes->u[2][column];
        }
    }
}

/* With g_k = R b_k, mu (b_k·b_l R Rᵀ + g_l g_kᵀ) + lambda g_k g_lᵀ. */
static void add_damping_block(const Triangle *one, const double k[2], const double l[2], double block[9])
{
    double mu = one->damping * one->mu, lambda = one->damping * one->lambda, product = k[0] * l[0] + k[1] * l[1], gk[3], gl[3];
    for (int a = 0; a < 3; a++) {
        gk[a] = one->r[2 * a] * k[0] + one->r[2 * a + 1] * k[1];
        gl[a] = one->r[2 * a] * l[0] + one->r[2 * a + 1] * l[1];
    }
    for (int i = 0; i < 9; i++) {
        const double *row = one->r + 2 * (i / 3), *column = one->r + 2 * (i % 3);
        block[i] += mu * (product * (row[0] * column[0] + row[1] * column[1]) + gl[i / 3] * gk[i % 3]) + lambda * gk[i / 3] * gl[i % 3];
    }
}

static void compute_stiffness(void *data, size_t chunk, size_t begin, size_t end)
{
    const Job *job = data;
    (void)chunk;
    for (size_t t = begin; t < end; t++) {
        Triangle one = load_triangle(job, t);
        Axes axes = find_axes((const double(*)[2])one.f);
        Moduli moduli = find_moduli(&one, axes.s);
        double b[CORNERS][2], c[CORNERS][2], *block = job->blocks + 9 * BLOCKS * t;
        for (int k = 0; k < 2; k++) {
            b[1][k] = one.b[0][k];
            b[2][k] = one.b[1][k];
            b[0][k] = -b[1][k] - b[2][k];
        }
        for (int k = 0; k < 2 * CORNERS; k++) {
            c[k / 2][k % 2] = axes.v[k % 2][0] * b[k / 2][0] + axes.v[k % 2][1] * b[k / 2][1];
        }
        for (int i = 0; i < CORNERS; i++) {
            for (int j = 0; j <= i; j++, block += 9) {
                fill_block(&axes, &moduli, c[i], c[j], block);
                if (one.damping > 0.0) {
                    add_damping_block(&one, b[i], b[j], block);
                }
            }
        }
    }
}

static void term_stiffness(const void *elements, const SnTermInput *input, const double *positions, double *blocks)
{
    Job job = make_job(elements, input, positions);
    job.blocks = blocks;
    sn_parallel_for(job.triangles->count, SN_TERM_CHUNK, compute_stiffness, &job);
}

static void compute_damping(void *data, size_t chunk, size_t begin, size_t end)
{
    const Job *job = data;
    (void)chunk;
    for (size_t t = begin; t < end; t++) {
        double b[2][2], f[3][2], *out = job->shape + DAMPING_SIZE * t;
        memcpy(b, job->rest + 4 * t, sizeof b);
        deform(job->triangles->vertices + 3 * t, job->positions, (const double(*)[2])b, f);
        Axes axes = find_axes((const double(*)[2])f);
        for (int k = 0; k < 6; k++) {
            out[k] = axes.u[0][k / 2] * axes.v[0][k % 2] + axes.u[1][k / 2] * axes.v[1][k % 2];
        }
        deform(job->triangles->vertices + 3 * t, job->centre, (const double(*)[2])b, f);
        memcpy(out + 6, f, sizeof f);
    }
}

static void term_damp(const void *elements, const SnTermInput *input, const double *like, const double *centre, double *shape)
{
    Job job = make_job(elements, input, like);
    job.centre = centre;
    job.shape = shape;
    sn_parallel_for(job.triangles->count, SN_TERM_CHUNK, compute_damping, &job);
}

static double term_rounding(const void *elements)
{
    const SnTriangles *triangles = elements;
    double sum = 0.0;
    for (size_t t = 0; t < triangles->count; t++) {
        sum += 1e-16 * (2.0 * triangles->mu[t] + triangles->lambda[t]) * triangles->area[t];
    }
    return sum;
}

static const SnTermKind TRIANGLES = {
    .name = "triangles",
    .corners = CORNERS,
    .damping_size = DAMPING_SIZE,
    .round_work = 1300.0,
    .hessian_work = 1800.0,
    .value = term_value,
    .stiffness = term_stiffness,
    .damp = term_damp,
    .rounding = term_rounding,
};

SnTerm sn_triangles_term(const SnTriangles *triangles)
{
    return (SnTerm){&TRIANGLES, triangles, {triangles->count, CORNERS, triangles->vertices, 0}};
}
