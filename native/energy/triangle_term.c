/* F = [x1 - x0, x2 - x0] B (3x2) = sum of s_i u_i v_iᵀ, and with n = u_1 x u_2 the energy of a triangle is
     area (mu sum (s_i - 1)² + lambda/2 (s_1 + s_2 - 2)²),     g_i = 2 mu (s_i - 1) + lambda (s_1 + s_2 - 2),
   its stress P = sum g_i u_i v_iᵀ. In the axes u, v the Hessian falls apart: stretches [2 mu + lambda, lambda; ...], flip 2 mu, twist
   (g_1 + g_2)/(s_1 + s_2) and out of plane g_i/s_i. The last three are negative under compression (that is buckling) and clamped.
   A thread along w adds area a/2 (|F w| - 1)², the limit area k/3L max(0, s_i - 1 - L)³ with k = STIFFER (2 mu + lambda).
   Triangles are computed in batches, over whose lanes the compiler vectorises. */
#include "energy/triangles.h"

#include "base/parallel.h"
#include "energy/tet_batch.h"

#include <math.h>

#define CORNERS 3
#define BLOCKS 6
#define DAMPING_SIZE 12     /* R and C, 3x2 row-major each; component by component over the triangles */
#define THINNEST 1e-3       /* stretches below this count as this where they divide */
#define STIFFER 100.0       /* beyond the limit */
#define INLINE SN_BATCH_INLINE

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

/* Triangles at a stage; the last batch repeats its last one in the lanes that are left over. */
typedef struct Batch {
    size_t triangle[SN_LANES];
    int used;
    SnLanes b[4];            /* row i: gradient of corner i + 1 */
    SnLanes f[6];            /* deformation gradient, 3x2 row-major */
    SnLanes mu, lambda;      /* times the area */
    SnLanes warp[2], stiff[2]; /* of threads: direction of the warp; stiffness of both, times the area */
} Batch;

/* f = [x1 - x0, x2 - x0] b */
INLINE void deform(const Job *job, const double *x, const Batch *batch, SnLanes f[6])
{
    SnLanes edges[6];
    for (int lane = 0; lane < SN_LANES; lane++) {
        const int32_t *corner = job->triangles->vertices + 3 * batch->triangle[lane];
        const double *zero = x + 3 * (size_t)corner[0], *one = x + 3 * (size_t)corner[1], *two = x + 3 * (size_t)corner[2];
        for (int a = 0; a < 3; a++) {
            edges[2 * a][lane] = one[a] - zero[a];
            edges[2 * a + 1][lane] = two[a] - zero[a];
        }
    }
    for (int a = 0; a < 3; a++) {
        for (int lane = 0; lane < SN_LANES; lane++) {
            double first = edges[2 * a][lane], second = edges[2 * a + 1][lane];
            f[2 * a][lane] = first * batch->b[0][lane] + second * batch->b[2][lane];
            f[2 * a + 1][lane] = first * batch->b[1][lane] + second * batch->b[3][lane];
        }
    }
}

INLINE void open_batch(const Job *job, size_t begin, size_t end, Batch *batch)
{
    const double *threads = job->triangles->threads;
    batch->used = end - begin < SN_LANES ? (int)(end - begin) : SN_LANES;
    for (int lane = 0; lane < SN_LANES; lane++) {
        size_t t = begin + (size_t)(lane < batch->used ? lane : batch->used - 1);
        batch->triangle[lane] = t;
        for (size_t k = 0; k < 4; k++) {
            batch->b[k][lane] = job->rest[4 * t + k];
        }
        batch->mu[lane] = job->area[t] * job->mu[t];
        batch->lambda[lane] = job->area[t] * job->lambda[t];
        for (size_t k = 0; k < 2 && threads != NULL; k++) {
            batch->warp[k][lane] = threads[4 * t + k];
            batch->stiff[k][lane] = job->area[t] * threads[4 * t + 2 + k];
        }
    }
    deform(job, job->positions, batch, batch->f);
}

/* f = sum of s_i u_i v_iᵀ, s_1 >= s_2 >= 0. */
typedef struct Axes {
    SnLanes s[2], u[2][3], v[2]; /* v: the first; the second is across it, (-v[1], v[0]) */
} Axes;

/* Of a symmetric 2x2 matrix the axis of its larger stretch: half the angle of (a - b, 2 c), by roots alone. */
INLINE void find_axis(const SnLanes f[6], SnLanes v[2])
{
    for (int i = 0; i < SN_LANES; i++) {
        double difference = f[0][i] * f[0][i] + f[2][i] * f[2][i] + f[4][i] * f[4][i] -
                            (f[1][i] * f[1][i] + f[3][i] * f[3][i] + f[5][i] * f[5][i]);
        double mixed = 2.0 * (f[0][i] * f[1][i] + f[2][i] * f[3][i] + f[4][i] * f[5][i]);
        double length = sqrt(difference * difference + mixed * mixed), scale = length > 0.0 ? 1.0 / length : 0.0;
        double cosine = length > 0.0 ? difference * scale : 1.0, large = sqrt(0.5 + 0.5 * fabs(cosine)), small = 0.5 * mixed * scale / large;
        v[0][i] = cosine >= 0.0 ? large : fabs(small);
        v[1][i] = cosine >= 0.0 ? small : (mixed < 0.0 ? -large : large);
    }
}

INLINE void find_axes(const SnLanes f[6], Axes *axes)
{
    find_axis(f, axes->v);
    for (int i = 0; i < SN_LANES; i++) {
        double x = axes->v[0][i], y = axes->v[1][i];
        double one[3] = {f[0][i] * x + f[1][i] * y, f[2][i] * x + f[3][i] * y, f[4][i] * x + f[5][i] * y};
        double two[3] = {f[1][i] * x - f[0][i] * y, f[3][i] * x - f[2][i] * y, f[5][i] * x - f[4][i] * y};
        double s = sqrt(one[0] * one[0] + one[1] * one[1] + one[2] * one[2]);
        axes->s[0][i] = s;
        axes->s[1][i] = sqrt(two[0] * two[0] + two[1] * two[1] + two[2] * two[2]);
        double scale = s > 0.0 ? 1.0 / s : 0.0, u[3] = {s > 0.0 ? one[0] * scale : 1.0, one[1] * scale, one[2] * scale};
        double along = u[0] * two[0] + u[1] * two[1] + u[2] * two[2];
        double w[3] = {two[0] - along * u[0], two[1] - along * u[1], two[2] - along * u[2]};
        /* a triangle that has collapsed to a line leaves u_2 open: anything across, here u_1 x e with e the axis that it leans least to */
        double least[3] = {fabs(u[0]) <= fabs(u[1]) && fabs(u[0]) <= fabs(u[2]), 0.0, 0.0};
        least[1] = least[0] == 0.0 && fabs(u[1]) <= fabs(u[2]) ? 1.0 : 0.0;
        least[2] = 1.0 - least[0] - least[1];
        double cross[3] = {u[1] * least[2] - u[2] * least[1], u[2] * least[0] - u[0] * least[2], u[0] * least[1] - u[1] * least[0]};
        double length = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
        int flat = length <= 1e-12 * s || !(length > 0.0);
        double size = flat ? sqrt(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]) : length, inverse = 1.0 / size;
        for (int a = 0; a < 3; a++) {
            axes->u[0][a][i] = u[a];
            axes->u[1][a][i] = inverse * (flat ? cross[a] : w[a]);
        }
    }
}

/* g_i, and what a triangle has of energy by its stretches. */
INLINE void find_stress(const Batch *batch, double limit, const Axes *axes, SnLanes energy, SnLanes g[2])
{
    for (int i = 0; i < SN_LANES; i++) {
        double d0 = axes->s[0][i] - 1.0, d1 = axes->s[1][i] - 1.0, mu = batch->mu[i], lambda = batch->lambda[i];
        energy[i] = mu * (d0 * d0 + d1 * d1) + 0.5 * lambda * (d0 + d1) * (d0 + d1);
        g[0][i] = 2.0 * mu * d0 + lambda * (d0 + d1);
        g[1][i] = 2.0 * mu * d1 + lambda * (d0 + d1);
    }
    for (int k = 0; k < 2 && limit > 0.0; k++) {
        for (int i = 0; i < SN_LANES; i++) {
            double over = axes->s[k][i] - 1.0 - limit, k0 = STIFFER * (2.0 * batch->mu[i] + batch->lambda[i]) / limit;
            over = over > 0.0 ? over : 0.0;
            energy[i] += k0 / 3.0 * over * over * over;
            g[k][i] += k0 * over * over;
        }
    }
}

/* Of the thread along w: F w, its length, and what w is. */
INLINE void find_thread(const Batch *batch, int weft, const SnLanes f[6], SnLanes w[2], SnLanes y[3], SnLanes length)
{
    for (int i = 0; i < SN_LANES; i++) {
        w[0][i] = weft ? -batch->warp[1][i] : batch->warp[0][i];
        w[1][i] = weft ? batch->warp[0][i] : batch->warp[1][i];
        double sum = 0.0;
        for (int a = 0; a < 3; a++) {
            y[a][i] = f[2 * a][i] * w[0][i] + f[2 * a + 1][i] * w[1][i];
            sum += y[a][i] * y[a][i];
        }
        length[i] = sqrt(sum);
    }
}

INLINE void add_threads(const Batch *batch, SnLanes energy, SnLanes p[6])
{
    SnLanes w[2], y[3], length;
    for (int k = 0; k < 2; k++) {
        find_thread(batch, k, batch->f, w, y, length);
        for (int i = 0; i < SN_LANES; i++) {
            double stretch = length[i] - 1.0, pull = batch->stiff[k][i] * stretch / (length[i] > THINNEST ? length[i] : THINNEST);
            energy[i] += 0.5 * batch->stiff[k][i] * stretch * stretch;
            for (int a = 0; a < 3; a++) {
                p[2 * a][i] += pull * y[a][i] * w[0][i];
                p[2 * a + 1][i] += pull * y[a][i] * w[1][i];
            }
        }
    }
}

INLINE void load_damping(const Job *job, const Batch *batch, SnLanes r[6], SnLanes c[6], SnLanes factor)
{
    const SnDamping *damping = &job->input->damping;
    size_t count = job->triangles->count;
    for (size_t k = 0; k < 6; k++) {
        for (int lane = 0; lane < SN_LANES; lane++) {
            r[k][lane] = damping->shape[k * count + batch->triangle[lane]];
            c[k][lane] = damping->shape[(k + 6) * count + batch->triangle[lane]];
        }
    }
    for (int lane = 0; lane < SN_LANES; lane++) {
        factor[lane] = damping->factor * (damping->scale != NULL ? damping->scale[batch->triangle[lane]] : 1.0);
    }
}

/* Energy and P of the damping, with e = sym(Rᵀ (F - C)): mu |e|² + lambda/2 (tr e)² and R (2 mu e + lambda tr e); a thread has the strain
   (R w)·(F - C) w. */
INLINE void add_damping(const Job *job, const Batch *batch, SnLanes energy, SnLanes p[6])
{
    SnLanes r[6], c[6], factor;
    load_damping(job, batch, r, c, factor);
    for (int i = 0; i < SN_LANES; i++) {
        double m[6], mu = factor[i] * batch->mu[i], lambda = factor[i] * batch->lambda[i];
        for (int k = 0; k < 6; k++) {
            m[k] = batch->f[k][i] - c[k][i];
        }
        double xx = r[0][i] * m[0] + r[2][i] * m[2] + r[4][i] * m[4], yy = r[1][i] * m[1] + r[3][i] * m[3] + r[5][i] * m[5];
        double xy = 0.5 * (r[0][i] * m[1] + r[2][i] * m[3] + r[4][i] * m[5] + r[1][i] * m[0] + r[3][i] * m[2] + r[5][i] * m[4]);
        double trace = xx + yy;
        energy[i] += mu * (xx * xx + yy * yy + 2.0 * xy * xy) + 0.5 * lambda * trace * trace;
        for (int a = 0; a < 3; a++) {
            double x = r[2 * a][i], y = r[2 * a + 1][i];
            p[2 * a][i] += lambda * trace * x + 2.0 * mu * (x * xx + y * xy);
            p[2 * a + 1][i] += lambda * trace * y + 2.0 * mu * (x * xy + y * yy);
        }
    }
    for (int k = 0; k < 2 && job->triangles->threads != NULL; k++) {
        for (int i = 0; i < SN_LANES; i++) {
            double w[2] = {k == 0 ? batch->warp[0][i] : -batch->warp[1][i], k == 0 ? batch->warp[1][i] : batch->warp[0][i]};
            double line[3], strain = 0.0, stiff = factor[i] * batch->stiff[k][i];
            for (int a = 0; a < 3; a++) {
                line[a] = r[2 * a][i] * w[0] + r[2 * a + 1][i] * w[1];
                strain += line[a] * ((batch->f[2 * a][i] - c[2 * a][i]) * w[0] + (batch->f[2 * a + 1][i] - c[2 * a + 1][i]) * w[1]);
            }
            energy[i] += 0.5 * stiff * strain * strain;
            for (int a = 0; a < 3; a++) {
                p[2 * a][i] += stiff * strain * line[a] * w[0];
                p[2 * a + 1][i] += stiff * strain * line[a] * w[1];
            }
        }
    }
}

INLINE void write_gradients(const Batch *batch, const SnLanes p[6], double *gradients)
{
    SnLanes g[6];
    for (int a = 0; a < 3; a++) {
        for (int i = 0; i < SN_LANES; i++) {
            g[a][i] = p[2 * a][i] * batch->b[0][i] + p[2 * a + 1][i] * batch->b[1][i];
            g[3 + a][i] = p[2 * a][i] * batch->b[2][i] + p[2 * a + 1][i] * batch->b[3][i];
        }
    }
    for (int lane = 0; lane < batch->used; lane++) {
        double *out = gradients + 9 * batch->triangle[lane];
        for (int a = 0; a < 3; a++) {
            out[a] = -g[a][lane] - g[3 + a][lane];
            out[3 + a] = g[a][lane];
            out[6 + a] = g[3 + a][lane];
        }
    }
}

static void sum_energy(void *data, size_t chunk, size_t begin, size_t end)
{
    const Job *job = data;
    double sum = 0.0;
    for (size_t first = begin; first < end; first += SN_LANES) {
        Batch batch;
        Axes axes;
        SnLanes energy, g[2], p[6];
        open_batch(job, first, end, &batch);
        find_axes((const SnLanes *)batch.f, &axes);
        find_stress(&batch, job->triangles->limit, &axes, energy, g);
        for (int a = 0; a < 3; a++) {
            for (int i = 0; i < SN_LANES; i++) {
                double x = g[0][i] * axes.u[0][a][i], y = g[1][i] * axes.u[1][a][i];
                p[2 * a][i] = x * axes.v[0][i] - y * axes.v[1][i];
                p[2 * a + 1][i] = x * axes.v[1][i] + y * axes.v[0][i];
            }
        }
        if (job->triangles->threads != NULL) {
            add_threads(&batch, energy, p);
        }
        if (job->input->damping.factor > 0.0) {
            add_damping(job, &batch, energy, p);
        }
        for (int lane = 0; lane < batch.used; lane++) {
            sum += energy[lane];
        }
        if (job->gradients != NULL) {
            write_gradients(&batch, (const SnLanes *)p, job->gradients);
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
    SnLanes stretch[2], coupled; /* of a stretch, and between the two */
    SnLanes p, q;                /* (flip ± twist) / 2 */
    SnLanes out[2];              /* out of the plane */
} Moduli;

INLINE void find_moduli(const Batch *batch, double limit, const Axes *axes, Moduli *m)
{
    SnLanes g[2], energy;
    find_stress(batch, limit, axes, energy, g);
    for (int i = 0; i < SN_LANES; i++) {
        double s0 = axes->s[0][i], s1 = axes->s[1][i], flip = 2.0 * batch->mu[i], pull = g[0][i] + g[1][i], sum = s0 + s1;
        double twist = (pull > 0.0 ? pull : 0.0) / (sum > THINNEST ? sum : THINNEST);
        m->p[i] = 0.5 * (flip + twist);
        m->q[i] = 0.5 * (flip - twist);
        m->coupled[i] = batch->lambda[i];
        m->stretch[0][i] = m->stretch[1][i] = flip + batch->lambda[i];
        m->out[0][i] = (g[0][i] > 0.0 ? g[0][i] : 0.0) / (s0 > THINNEST ? s0 : THINNEST);
        m->out[1][i] = (g[1][i] > 0.0 ? g[1][i] : 0.0) / (s1 > THINNEST ? s1 : THINNEST);
    }
    /* beyond the limit the flip is the difference of both pulls over that of the stretches: no less than where they are alike */
    for (int k = 0; k < 2 && limit > 0.0; k++) {
        for (int i = 0; i < SN_LANES; i++) {
            double over = axes->s[k][i] - 1.0 - limit, k0 = STIFFER * (2.0 * batch->mu[i] + batch->lambda[i]) / limit;
            over = over > 0.0 ? over : 0.0;
            m->stretch[k][i] += 2.0 * k0 * over;
            m->p[i] += 0.5 * k0 * over;
            m->q[i] += 0.5 * k0 * over;
        }
    }
}

/* block = U L Uᵀ of corners whose gradients are k and l in the axes v. */
INLINE void fill_block(const Axes *axes, const SnLanes n[3], const Moduli *m, const SnLanes k[2], const SnLanes l[2], SnLanes block[9])
{
    SnLanes l00, l01, l10, l11, l22;
    for (int i = 0; i < SN_LANES; i++) {
        double xx = k[0][i] * l[0][i], yy = k[1][i] * l[1][i], xy = k[0][i] * l[1][i], yx = k[1][i] * l[0][i];
        l00[i] = m->stretch[0][i] * xx + m->p[i] * yy;
        l11[i] = m->stretch[1][i] * yy + m->p[i] * xx;
        l22[i] = m->out[0][i] * xx + m->out[1][i] * yy;
        l01[i] = m->coupled[i] * xy + m->q[i] * yx;
        l10[i] = m->coupled[i] * yx + m->q[i] * xy;
    }
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 3; column++) {
            for (int i = 0; i < SN_LANES; i++) {
                double x = axes->u[0][row][i], y = axes->u[1][row][i], z = n[row][i];
                block[3 * row + column][i] = (x * l00[i] + y * l10[i]) * axes->u[0][column][i] +
                                             (x * l01[i] + y * l11[i]) * axes->u[1][column][i] + z * l22[i] * n[column][i];
            }
        }
    }
}

/* A thread of a batch: its direction at rest, as it lies now, and as it lies in the axes of the damping. */
typedef struct Thread {
    SnLanes w[2], y[3], length, line[3], damped;
} Thread;

INLINE void open_thread(const Batch *batch, int weft, const SnLanes r[6], const SnLanes factor, Thread *thread)
{
    find_thread(batch, weft, (const SnLanes *)batch->f, thread->w, thread->y, thread->length);
    for (int i = 0; i < SN_LANES; i++) {
        thread->damped[i] = factor[i] * batch->stiff[weft][i];
        for (int a = 0; a < 3; a++) {
            thread->line[a][i] = r[2 * a][i] * thread->w[0][i] + r[2 * a + 1][i] * thread->w[1][i];
        }
    }
}

/* Its share of the block of two corners: its stretch, and out of its line where it is pulled; and its damping. */
INLINE void add_thread_block(const Thread *thread, const SnLanes stiff, const SnLanes k[2], const SnLanes l[2], SnLanes block[9])
{
    SnLanes share, across, along;
    for (int i = 0; i < SN_LANES; i++) {
        double length = thread->length[i] > THINNEST ? thread->length[i] : THINNEST, slack = 1.0 - 1.0 / length;
        share[i] = (k[0][i] * thread->w[0][i] + k[1][i] * thread->w[1][i]) * (l[0][i] * thread->w[0][i] + l[1][i] * thread->w[1][i]);
        across[i] = stiff[i] * (slack > 0.0 ? slack : 0.0);
        along[i] = (stiff[i] - across[i]) / (length * length);
    }
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 3; column++) {
            for (int i = 0; i < SN_LANES; i++) {
                double out = row == column ? across[i] : 0.0;
                block[3 * row + column][i] += share[i] * (out + along[i] * thread->y[row][i] * thread->y[column][i] +
                                                          thread->damped[i] * thread->line[row][i] * thread->line[column][i]);
            }
        }
    }
}

/* With g_k = R b_k, mu (b_k·b_l R Rᵀ + g_l g_kᵀ) + lambda g_k g_lᵀ. */
INLINE void add_damping_block(const Batch *batch, const SnLanes r[6], const SnLanes factor, const SnLanes k[2], const SnLanes l[2], SnLanes block[9])
{
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 3; column++) {
            for (int i = 0; i < SN_LANES; i++) {
                double mu = factor[i] * batch->mu[i], lambda = factor[i] * batch->lambda[i];
                double product = k[0][i] * l[0][i] + k[1][i] * l[1][i];
                double x = r[2 * row][i], y = r[2 * row + 1][i], across = r[2 * column][i], along = r[2 * column + 1][i];
                double k_row = x * k[0][i] + y * k[1][i], k_column = across * k[0][i] + along * k[1][i];
                double l_row = x * l[0][i] + y * l[1][i], l_column = across * l[0][i] + along * l[1][i];
                block[3 * row + column][i] += mu * (product * (x * across + y * along) + l_row * k_column) + lambda * k_row * l_column;
            }
        }
    }
}

static void compute_stiffness(void *data, size_t chunk, size_t begin, size_t end)
{
    const Job *job = data;
    int is_woven = job->triangles->threads != NULL, is_damped = job->input->damping.factor > 0.0;
    (void)chunk;
    for (size_t first = begin; first < end; first += SN_LANES) {
        Batch batch;
        Axes axes;
        Moduli moduli;
        Thread threads[2];
        SnLanes n[3], b[CORNERS][2], c[CORNERS][2], r[6] = {{0}}, centre[6], factor = {0}, block[9];
        open_batch(job, first, end, &batch);
        find_axes((const SnLanes *)batch.f, &axes);
        find_moduli(&batch, job->triangles->limit, &axes, &moduli);
        for (int i = 0; i < SN_LANES; i++) {
            for (int a = 0; a < 3; a++) {
                int p = (a + 1) % 3, q = (a + 2) % 3;
                n[a][i] = axes.u[0][p][i] * axes.u[1][q][i] - axes.u[0][q][i] * axes.u[1][p][i];
            }
            for (int k = 0; k < 2; k++) {
                b[1][k][i] = batch.b[k][i];
                b[2][k][i] = batch.b[2 + k][i];
                b[0][k][i] = -b[1][k][i] - b[2][k][i];
            }
            for (int k = 0; k < CORNERS; k++) {
                c[k][0][i] = axes.v[0][i] * b[k][0][i] + axes.v[1][i] * b[k][1][i];
                c[k][1][i] = axes.v[0][i] * b[k][1][i] - axes.v[1][i] * b[k][0][i];
            }
        }
        if (is_damped) {
            load_damping(job, &batch, r, centre, factor);
        }
        for (int k = 0; k < 2 && is_woven; k++) {
            open_thread(&batch, k, (const SnLanes *)r, factor, threads + k);
        }
        size_t at = 0;
        for (int k = 0; k < CORNERS; k++) {
            for (int l = 0; l <= k; l++, at += 9) {
                fill_block(&axes, (const SnLanes *)n, &moduli, (const SnLanes *)c[k], (const SnLanes *)c[l], block);
                for (int thread = 0; thread < 2 && is_woven; thread++) {
                    add_thread_block(threads + thread, batch.stiff[thread], (const SnLanes *)b[k], (const SnLanes *)b[l], block);
                }
                if (is_damped) {
                    add_damping_block(&batch, (const SnLanes *)r, factor, (const SnLanes *)b[k], (const SnLanes *)b[l], block);
                }
                for (int lane = 0; lane < batch.used; lane++) {
                    double *out = job->blocks + 9 * BLOCKS * batch.triangle[lane] + at;
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
    sn_parallel_for(job.triangles->count, SN_TERM_CHUNK, compute_stiffness, &job);
}

static void compute_damping(void *data, size_t chunk, size_t begin, size_t end)
{
    const Job *job = data;
    size_t count = job->triangles->count;
    (void)chunk;
    for (size_t first = begin; first < end; first += SN_LANES) {
        Batch batch;
        Axes axes;
        SnLanes r[6], f[6];
        open_batch(job, first, end, &batch);
        find_axes((const SnLanes *)batch.f, &axes);
        for (int a = 0; a < 3; a++) {
            for (int i = 0; i < SN_LANES; i++) {
                r[2 * a][i] = axes.u[0][a][i] * axes.v[0][i] - axes.u[1][a][i] * axes.v[1][i];
                r[2 * a + 1][i] = axes.u[0][a][i] * axes.v[1][i] + axes.u[1][a][i] * axes.v[0][i];
            }
        }
        deform(job, job->centre, &batch, f);
        for (size_t k = 0; k < 6; k++) {
            for (int lane = 0; lane < batch.used; lane++) {
                job->shape[k * count + batch.triangle[lane]] = r[k][lane];
                job->shape[(k + 6) * count + batch.triangle[lane]] = f[k][lane];
            }
        }
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
        double threads = triangles->threads != NULL ? triangles->threads[4 * t + 2] + triangles->threads[4 * t + 3] : 0.0;
        sum += 1e-16 * (2.0 * triangles->mu[t] + triangles->lambda[t] + threads) * triangles->area[t];
    }
    return sum;
}

static const SnTermKind TRIANGLES = {
    .name = "triangles",
    .corners = CORNERS,
    .damping_size = DAMPING_SIZE,
    .round_work = 400.0,
    .hessian_work = 1000.0,
    .value = term_value,
    .stiffness = term_stiffness,
    .damp = term_damp,
    .rounding = term_rounding,
};

SnTerm sn_triangles_term(const SnTriangles *triangles)
{
    return (SnTerm){&TRIANGLES, triangles, {triangles->count, CORNERS, triangles->vertices, 0}};
}
