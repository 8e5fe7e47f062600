/* With F = U diag(s) Vᵀ and b_i the gradient of shape function i, let c_i = Vᵀ b_i. The force on vertex i is
   volume U (stress * c_i); the stiffness block (i, j) is volume U B Uᵀ with
   B_aa = stretch_aa c_i[a] c_j[a] + sum over b != a of p_ab c_i[b] c_j[b],  B_ab = stretch_ab c_i[a] c_j[b] + q_ab c_i[b] c_j[a],
   p = (shear + twist)/2, q = (shear - twist)/2. Clamping shear and twist at zero and projecting the 3x3 `stretch` makes the
   whole Hessian positive semi-definite, so no 9x9 or 12x12 matrix is ever decomposed. */
#include "energy/tet_elements.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "energy/tet_batch.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#define CHUNK SN_TERM_CHUNK /* a multiple of SN_LANES */
#define SIDE_KEPT 0.1 /* of its volume at the start of a step a tet keeps that may not turn inside out */
/* Stretches of a pose between these are followed by the rest shape as they are. Flatter tets, and those inside out, are followed too,
   but weigh less, the flatter they are: else they would be as stiff as they are thin. Beyond the last two a force is left over. */
#define STRETCH_MIN 0.3
#define STRETCH_MAX 3.0
#define STRETCH_FLAT 0.05
#define STRETCH_LONG 20.0

#define INLINE SN_BATCH_INLINE

SnStatus sn_tet_elements_init(SnContext *context, const SnTetMesh *mesh, const SnDensity *energy, SnTetElements *elements)
{
    SnStatus status = SN_OK;
    size_t count = mesh->tet_count;
    memset(elements, 0, sizeof *elements);
    elements->count = count;
    elements->tets = mesh->tets;
    elements->energy = energy;
    SN_TRY_NEW(context, elements->inverse_rest, 9 * count, double);
    SN_TRY_NEW(context, elements->volume, count, double);
    SN_TRY_NEW(context, elements->mu, count, double);
    SN_TRY_NEW(context, elements->lambda, count, double);
    for (size_t e = 0; e < count; e++) {
        double edges[9], inverse[9] = {0};
        sn_mat3_edges(mesh->positions, mesh->tets + 4 * e, edges);
        double determinant = sn_mat3_inverse(edges, inverse);
        if (!(determinant > 0.0)) {
            status = sn_context_fail(context, SN_BAD_INPUT, "Tet %zu of the cage has no volume: build the cage again.", e);
            goto cleanup;
        }
        elements->volume[e] = determinant / 6.0;
        for (int k = 0; k < 9; k++) {
            elements->inverse_rest[(size_t)k * count + e] = inverse[k];
        }
    }
cleanup:
    if (status != SN_OK) {
        sn_tet_elements_clear(elements);
    }
    return status;
}

void sn_tet_elements_clear(SnTetElements *elements)
{
    sn_release(elements->inverse_rest);
    sn_release(elements->volume);
    sn_release(elements->mu);
    sn_release(elements->lambda);
    memset(elements, 0, sizeof *elements);
}

void sn_tet_elements_set_material(SnTetElements *elements, size_t tet, double young, double poisson)
{
    elements->mu[tet] = young / (2.0 * (1.0 + poisson));
    elements->lambda[tet] = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
}

typedef struct Batch {
    SnTetBatch lanes;
    SnLanes b[9]; /* inverse rest matrix */
    SnLanes f[9]; /* deformation gradient */
    SnLanes mu, lambda;
} Batch;

INLINE void load_batch(const SnTetElements *elements, const double *rest, const double *positions, size_t begin, size_t end,
                              Batch *batch)
{
    sn_tet_batch_open(begin, end, &batch->lanes);
    for (int lane = 0; lane < SN_LANES; lane++) {
        batch->mu[lane] = elements->mu[batch->lanes.tet[lane]];
        batch->lambda[lane] = elements->lambda[batch->lanes.tet[lane]];
    }
    sn_tet_batch_load(rest, elements->count, &batch->lanes, batch->b);
    sn_tet_batch_gradients(elements->tets, &batch->lanes, (const SnLanes *)batch->b, positions, batch->f);
}

/* Density of the energy and, with `stress`, its derivative by F: straight from F where the energy can, else by its stretches. */
INLINE void batch_stress(const SnDensity *energy, const Batch *batch, SnLanes density, SnLanes stress[9])
{
    SnLanes u[9], sigma[3], v[9];
    SnStretchDerivatives d;
    if (energy->direct((const SnLanes *)batch->f, batch->mu, batch->lambda, density, stress)) {
        return;
    }
    sn_batch3_svd((const SnLanes *)batch->f, u, sigma, v);
    energy->density((const SnLanes *)sigma, batch->mu, batch->lambda, density);
    energy->derivatives((const SnLanes *)sigma, batch->mu, batch->lambda, &d);
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 3; column++) {
            for (int lane = 0; lane < SN_LANES; lane++) {
                stress[3 * row + column][lane] = u[3 * row][lane] * d.stress[0][lane] * v[3 * column][lane] +
                                                 u[3 * row + 1][lane] * d.stress[1][lane] * v[3 * column + 1][lane] +
                                                 u[3 * row + 2][lane] * d.stress[2][lane] * v[3 * column + 2][lane];
            }
        }
    }
}

/* Lamé parameters of the damping in each lane. */
INLINE void damping_moduli(const SnViscosity *viscosity, const Batch *batch, SnLanes mu, SnLanes lambda)
{
    for (int lane = 0; lane < SN_LANES; lane++) {
        double factor = viscosity->factor * (viscosity->scale != NULL ? viscosity->scale[batch->lanes.tet[lane]] : 1.0);
        mu[lane] = factor * batch->mu[lane];
        lambda[lane] = factor * batch->lambda[lane];
    }
}

/* Adds density and stress of the damping: with e = sym(Rᵀ (F - C)), mu |e|² + lambda/2 (tr e)² and R (2 mu e + lambda tr e). */
INLINE void add_damping_stress(const SnViscosity *viscosity, size_t count, const Batch *batch, SnLanes density, SnLanes stress[9])
{
    SnLanes r[9], c[9], mu, lambda;
    sn_tet_batch_load(viscosity->rotations, count, &batch->lanes, r);
    sn_tet_batch_load(viscosity->centre, count, &batch->lanes, c);
    damping_moduli(viscosity, batch, mu, lambda);
    for (int i = 0; i < SN_LANES; i++) {
        double m[9], e[6];
        for (int k = 0; k < 9; k++) {
            m[k] = batch->f[k][i] - c[k][i];
        }
#define ENTRY(row, column) (r[row][i] * m[column] + r[3 + (row)][i] * m[3 + (column)] + r[6 + (row)][i] * m[6 + (column)])
        e[0] = ENTRY(0, 0);
        e[1] = ENTRY(1, 1);
        e[2] = ENTRY(2, 2);
        e[3] = 0.5 * (ENTRY(1, 2) + ENTRY(2, 1));
        e[4] = 0.5 * (ENTRY(0, 2) + ENTRY(2, 0));
        e[5] = 0.5 * (ENTRY(0, 1) + ENTRY(1, 0));
#undef ENTRY
        double trace = e[0] + e[1] + e[2];
        double squares = e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + 2.0 * (e[3] * e[3] + e[4] * e[4] + e[5] * e[5]);
        density[i] += mu[i] * squares + 0.5 * lambda[i] * trace * trace;
        double pressure = lambda[i] * trace, twice = 2.0 * mu[i];
        for (int row = 0; row < 3; row++) {
            double x = r[3 * row][i], y = r[3 * row + 1][i], z = r[3 * row + 2][i];
            stress[3 * row][i] += pressure * x + twice * (x * e[0] + y * e[5] + z * e[4]);
            stress[3 * row + 1][i] += pressure * y + twice * (x * e[5] + y * e[1] + z * e[3]);
            stress[3 * row + 2][i] += pressure * z + twice * (x * e[4] + y * e[3] + z * e[2]);
        }
    }
}

typedef struct EnergyJob {
    const SnTetElements *elements;
    const double *rest, *positions;
    const SnViscosity *viscosity;
    double *partial, *gradients;
} EnergyJob;

static void sum_energy(void *data, size_t chunk, size_t begin, size_t end)
{
    EnergyJob *job = data;
    const double *volumes = job->elements->volume;
    double sum = 0.0;
    for (size_t first = begin; first < end; first += SN_LANES) {
        Batch batch;
        SnLanes density, stress[9], gradient[12], volume;
        load_batch(job->elements, job->rest, job->positions, first, end, &batch);
        batch_stress(job->elements->energy, &batch, density, stress);
        if (job->viscosity != NULL) {
            add_damping_stress(job->viscosity, job->elements->count, &batch, density, stress);
        }
        for (int lane = 0; lane < SN_LANES; lane++) {
            volume[lane] = volumes[batch.lanes.tet[lane]];
        }
        for (int lane = 0; lane < batch.lanes.used; lane++) {
            sum += density[lane] * volume[lane];
        }
        if (job->gradients == NULL) {
            continue;
        }
        /* volume P b_i on vertex i + 1, minus their sum on vertex 0 */
        for (int row = 0; row < 3; row++) {
            for (int lane = 0; lane < SN_LANES; lane++) {
                double x = volume[lane] * stress[3 * row][lane], y = volume[lane] * stress[3 * row + 1][lane];
                double z = volume[lane] * stress[3 * row + 2][lane];
                double one = x * batch.b[0][lane] + y * batch.b[1][lane] + z * batch.b[2][lane];
                double two = x * batch.b[3][lane] + y * batch.b[4][lane] + z * batch.b[5][lane];
                double three = x * batch.b[6][lane] + y * batch.b[7][lane] + z * batch.b[8][lane];
                gradient[row][lane] = -one - two - three;
                gradient[3 + row][lane] = one;
                gradient[6 + row][lane] = two;
                gradient[9 + row][lane] = three;
            }
        }
        for (int lane = 0; lane < batch.lanes.used; lane++) {
            double *out = job->gradients + 12 * batch.lanes.tet[lane];
            for (int k = 0; k < 12; k++) {
                out[k] = gradient[k][lane];
            }
        }
    }
    if (job->partial != NULL) {
        job->partial[chunk] = sum;
    }
}

size_t sn_tet_elements_partial_count(const SnTetElements *elements)
{
    return sn_parallel_chunk_count(elements->count, CHUNK);
}

double sn_tet_elements_energy(const SnTetElements *elements, const double *rest, const double *positions, double *partial)
{
    return sn_tet_elements_energy_gradient(elements, rest, positions, partial, NULL);
}

double sn_tet_elements_energy_gradient(const SnTetElements *elements, const double *rest, const double *positions, double *partial,
                                       double *gradients)
{
    return sn_tet_elements_damped_energy(elements, rest, NULL, positions, partial, gradients);
}

double sn_tet_elements_damped_energy(const SnTetElements *elements, const double *rest, const SnViscosity *viscosity,
                                     const double *positions, double *partial, double *gradients)
{
    EnergyJob job = {elements, rest, positions, viscosity, partial, gradients};
    double sum = 0.0;
    sn_parallel_for(elements->count, CHUNK, sum_energy, &job);
    for (size_t chunk = 0; chunk < sn_tet_elements_partial_count(elements); chunk++) {
        sum += partial[chunk];
    }
    return sum;
}

/* c[i] = Vᵀ b_i for the vertices 1..3; vertex 0 is minus their sum. Row i of the inverse rest matrix is the gradient of vertex i + 1. */
INLINE void rotate_gradients(const Batch *batch, const SnLanes v[9], SnLanes c[3][3])
{
    for (int i = 0; i < 3; i++) {
        for (int a = 0; a < 3; a++) {
            for (int lane = 0; lane < SN_LANES; lane++) {
                c[i][a][lane] = v[a][lane] * batch->b[3 * i][lane] + v[3 + a][lane] * batch->b[3 * i + 1][lane] +
                                v[6 + a][lane] * batch->b[3 * i + 2][lane];
            }
        }
    }
}

INLINE void batch_gradients(const SnLanes u[9], const SnLanes c[3][3], const SnLanes stress[3], SnLanes gradient[4][3])
{
    for (int row = 0; row < 3; row++) {
        for (int i = 0; i < 3; i++) {
            for (int lane = 0; lane < SN_LANES; lane++) {
                gradient[i + 1][row][lane] = u[3 * row][lane] * stress[0][lane] * c[i][0][lane] +
                                             u[3 * row + 1][lane] * stress[1][lane] * c[i][1][lane] +
                                             u[3 * row + 2][lane] * stress[2][lane] * c[i][2][lane];
            }
        }
        for (int lane = 0; lane < SN_LANES; lane++) {
            gradient[0][row][lane] = -gradient[1][row][lane] - gradient[2][row][lane] - gradient[3][row][lane];
        }
    }
}

/* Block (i, j) of vertices 1..3: U B Uᵀ. `stretch` is projected, p and q as in the comment at the top. */
INLINE void batch_block(const SnLanes u[9], const SnLanes ci[3], const SnLanes cj[3], const SnLanes stretch[6],
                               const SnLanes p[3], const SnLanes q[3], SnLanes block[9])
{
    SnLanes b[9], ub[9];
    for (int lane = 0; lane < SN_LANES; lane++) {
        double xx = ci[0][lane] * cj[0][lane], yy = ci[1][lane] * cj[1][lane], zz = ci[2][lane] * cj[2][lane];
        double xy = ci[0][lane] * cj[1][lane], yx = ci[1][lane] * cj[0][lane];
        double xz = ci[0][lane] * cj[2][lane], zx = ci[2][lane] * cj[0][lane];
        double yz = ci[1][lane] * cj[2][lane], zy = ci[2][lane] * cj[1][lane];
        b[0][lane] = stretch[0][lane] * xx + p[2][lane] * yy + p[1][lane] * zz;
        b[4][lane] = stretch[1][lane] * yy + p[2][lane] * xx + p[0][lane] * zz;
        b[8][lane] = stretch[2][lane] * zz + p[1][lane] * xx + p[0][lane] * yy;
        b[1][lane] = stretch[5][lane] * xy + q[2][lane] * yx;
        b[3][lane] = stretch[5][lane] * yx + q[2][lane] * xy;
        b[2][lane] = stretch[4][lane] * xz + q[1][lane] * zx;
        b[6][lane] = stretch[4][lane] * zx + q[1][lane] * xz;
        b[5][lane] = stretch[3][lane] * yz + q[0][lane] * zy;
        b[7][lane] = stretch[3][lane] * zy + q[0][lane] * yz;
    }
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 3; column++) {
            for (int lane = 0; lane < SN_LANES; lane++) {
                ub[3 * row + column][lane] = u[3 * row][lane] * b[column][lane] + u[3 * row + 1][lane] * b[3 + column][lane] +
                                             u[3 * row + 2][lane] * b[6 + column][lane];
            }
        }
    }
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 3; column++) {
            for (int lane = 0; lane < SN_LANES; lane++) {
                block[3 * row + column][lane] = ub[3 * row][lane] * u[3 * column][lane] +
                                                ub[3 * row + 1][lane] * u[3 * column + 1][lane] +
                                                ub[3 * row + 2][lane] * u[3 * column + 2][lane];
            }
        }
    }
}

/* Places of the blocks of vertices (i+1, j+1), j <= i, and of (i+1, 0). */
static const int BLOCK[3][3] = {{2, 0, 0}, {4, 5, 0}, {7, 8, 9}};
static const int FIRST_BLOCK[3] = {1, 3, 6};

/* Adds the damping to the blocks of vertices 1..3: with g_i = R b_i, mu (b_i·b_j I + g_j g_iᵀ) + lambda g_i g_jᵀ. */
INLINE void add_damping_blocks(const SnViscosity *viscosity, size_t count, const Batch *batch, SnLanes blocks[SN_TET_BLOCKS][9])
{
    SnLanes r[9], mu, lambda;
    sn_tet_batch_load(viscosity->rotations, count, &batch->lanes, r);
    damping_moduli(viscosity, batch, mu, lambda);
    for (int lane = 0; lane < SN_LANES; lane++) {
        double g[3][3];
        for (int k = 0; k < 9; k++) {
            int i = 3 * (k / 3), j = 3 * (k % 3);
            g[k / 3][k % 3] = r[j][lane] * batch->b[i][lane] + r[j + 1][lane] * batch->b[i + 1][lane] +
                              r[j + 2][lane] * batch->b[i + 2][lane];
        }
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j <= i; j++) {
                double product = batch->b[3 * i][lane] * batch->b[3 * j][lane] + batch->b[3 * i + 1][lane] * batch->b[3 * j + 1][lane] +
                                 batch->b[3 * i + 2][lane] * batch->b[3 * j + 2][lane];
                for (int k = 0; k < 9; k++) {
                    blocks[BLOCK[i][j]][k][lane] += mu[lane] * ((k % 4 == 0 ? product : 0.0) + g[j][k / 3] * g[i][k % 3]) +
                                                    lambda[lane] * g[i][k / 3] * g[j][k % 3];
                }
            }
        }
    }
}

/* The blocks of vertices 1..3. */
INLINE void batch_stiffness(const SnLanes u[9], const SnLanes c[3][3], const SnLanes stretch[6], const SnLanes p[3],
                                   const SnLanes q[3], SnLanes blocks[SN_TET_BLOCKS][9])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j <= i; j++) {
            batch_block(u, c[i], c[j], stretch, p, q, blocks[BLOCK[i][j]]);
        }
    }
}

/* The blocks of vertex 0: minus the sums of rows, because rigid shifts cost nothing. */
INLINE void complete_blocks(SnLanes blocks[SN_TET_BLOCKS][9])
{
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 9; k++) {
            int transposed = 3 * (k % 3) + k / 3;
            for (int lane = 0; lane < SN_LANES; lane++) {
                double sum = 0.0;
                for (int j = 0; j < 3; j++) {
                    sum += j <= i ? blocks[BLOCK[i][j]][k][lane] : blocks[BLOCK[j][i]][transposed][lane];
                }
                blocks[FIRST_BLOCK[i]][k][lane] = -sum;
            }
        }
    }
    for (int k = 0; k < 9; k++) {
        for (int lane = 0; lane < SN_LANES; lane++) {
            blocks[0][k][lane] = -blocks[1][k][lane] - blocks[3][k][lane] - blocks[6][k][lane];
        }
    }
}

typedef struct DerivativeJob {
    const SnTetElements *elements;
    const double *rest, *positions;
    const SnViscosity *viscosity;
    double *gradients, *stiffness;
} DerivativeJob;

static void compute_derivatives(void *data, size_t chunk, size_t begin, size_t end)
{
    DerivativeJob *job = data;
    (void)chunk;
    for (size_t start = begin; start < end; start += SN_LANES) {
        Batch batch;
        SnLanes u[9], sigma[3], v[9], c[3][3], gradient[4][3];
        SnStretchDerivatives d;
        load_batch(job->elements, job->rest, job->positions, start, end, &batch);
        sn_batch3_svd((const SnLanes *)batch.f, u, sigma, v);
        job->elements->energy->derivatives((const SnLanes *)sigma, batch.mu, batch.lambda, &d);
        rotate_gradients(&batch, (const SnLanes *)v, c);
        batch_gradients((const SnLanes *)u, (const SnLanes(*)[3])c, (const SnLanes *)d.stress, gradient);
        for (int lane = 0; lane < batch.lanes.used && job->gradients != NULL; lane++) {
            double volume = job->elements->volume[batch.lanes.tet[lane]];
            double *out = job->gradients + 12 * batch.lanes.tet[lane];
            for (int k = 0; k < 12; k++) {
                out[k] = volume * gradient[k / 3][k % 3][lane];
            }
        }
        SnLanes p[3], q[3], blocks[SN_TET_BLOCKS][9];
        sn_batch3_project_psd(d.stretch);
        for (int k = 0; k < 3; k++) {
            for (int lane = 0; lane < SN_LANES; lane++) {
                double shear = d.shear[k][lane] > 0.0 ? d.shear[k][lane] : 0.0;
                double twist = d.twist[k][lane] > 0.0 ? d.twist[k][lane] : 0.0;
                p[k][lane] = 0.5 * (shear + twist);
                q[k][lane] = 0.5 * (shear - twist);
            }
        }
        batch_stiffness((const SnLanes *)u, (const SnLanes(*)[3])c, (const SnLanes *)d.stretch, (const SnLanes *)p,
                        (const SnLanes *)q, blocks);
        if (job->viscosity != NULL) {
            add_damping_blocks(job->viscosity, job->elements->count, &batch, blocks);
        }
        complete_blocks(blocks);
        for (int lane = 0; lane < batch.lanes.used; lane++) {
            double volume = job->elements->volume[batch.lanes.tet[lane]];
            double *out = job->stiffness + SN_TET_STIFFNESS * batch.lanes.tet[lane];
            for (int k = 0; k < SN_TET_STIFFNESS; k++) {
                out[k] = volume * blocks[k / 9][k % 9][lane];
            }
        }
    }
}

void sn_tet_elements_derivatives(const SnTetElements *elements, const double *rest, const double *positions,
                                 double *gradients, double *stiffness)
{
    DerivativeJob job = {elements, rest, positions, NULL, gradients, stiffness};
    EnergyJob gradient_alone = {elements, rest, positions, NULL, NULL, gradients};
    if (stiffness == NULL) {
        sn_parallel_for(elements->count, CHUNK, sum_energy, &gradient_alone);
    } else {
        sn_parallel_for(elements->count, CHUNK, compute_derivatives, &job);
    }
}

void sn_tet_elements_damped_stiffness(const SnTetElements *elements, const double *rest, const SnViscosity *viscosity,
                                      const double *positions, double *stiffness)
{
    DerivativeJob job = {elements, rest, positions, viscosity, NULL, stiffness};
    sn_parallel_for(elements->count, CHUNK, compute_derivatives, &job);
}

typedef struct GradientJob {
    const SnTetElements *elements;
    const double *rest, *positions;
    double *out;
    int rotations_alone;
} GradientJob;

static void compute_gradients(void *data, size_t chunk, size_t begin, size_t end)
{
    GradientJob *job = data;
    (void)chunk;
    for (size_t start = begin; start < end; start += SN_LANES) {
        Batch batch;
        SnLanes rotation[9], stretch[6];
        load_batch(job->elements, job->rest, job->positions, start, end, &batch);
        if (job->rotations_alone) {
            sn_batch3_polar((const SnLanes *)batch.f, rotation, stretch);
        }
        for (size_t k = 0; k < 9; k++) {
            memcpy(job->out + k * job->elements->count + start, job->rotations_alone ? rotation[k] : batch.f[k],
                   (size_t)batch.lanes.used * sizeof(double));
        }
    }
}

void sn_tet_elements_gradients(const SnTetElements *elements, const double *rest, const double *positions, double *gradients)
{
    GradientJob job = {elements, rest, positions, gradients, 0};
    sn_parallel_for(elements->count, CHUNK, compute_gradients, &job);
}

void sn_tet_elements_rotations(const SnTetElements *elements, const double *rest, const double *positions, double *rotations)
{
    GradientJob job = {elements, rest, positions, rotations, 1};
    sn_parallel_for(elements->count, CHUNK, compute_gradients, &job);
}

typedef struct PoseJob {
    const SnTetElements *elements;
    const double *pose;
    double keep;
    const double *keep_scale;
    double *rest, *volume;
    double *left_over;
    atomic_size_t clamped;
} PoseJob;

/* Whether all symmetric matrices (xx, yy, zz, yz, xz, xy) are positive definite after `sign` times them minus `least`. */
INLINE int all_above(double sign, double least, const SnLanes s[6])
{
    double worst = 1.0;
    for (int i = 0; i < SN_LANES; i++) {
        double a = sign * s[0][i] - least, b = sign * s[1][i] - least, c = sign * s[2][i] - least;
        double x = sign * s[3][i], y = sign * s[4][i], z = sign * s[5][i], minor = a * b - z * z;
        double whole = c * minor - a * x * x - b * y * y + 2.0 * x * y * z;
        double lane = a > 0.0 && minor > 0.0 && whole > 0.0 ? 1.0 : 0.0;
        worst = lane < worst ? lane : worst;
    }
    return worst > 0.0;
}

/* inverse = ((1 - keep) I + keep S)⁻¹ from the polar decomposition, where no stretch is to be clamped: much faster than the singular
   values. Returns whether that is so. */
INLINE int unclamped_inverse(const Batch *batch, const SnLanes keep, SnLanes inverse[9])
{
    SnLanes rotation[9], s[6];
    sn_batch3_polar((const SnLanes *)batch->f, rotation, s);
    if (!all_above(1.0, STRETCH_MIN, (const SnLanes *)s) || !all_above(-1.0, -STRETCH_MAX, (const SnLanes *)s)) {
        return 0;
    }
    for (int i = 0; i < SN_LANES; i++) {
        double a = 1.0 + keep[i] * (s[0][i] - 1.0), b = 1.0 + keep[i] * (s[1][i] - 1.0), c = 1.0 + keep[i] * (s[2][i] - 1.0);
        double x = keep[i] * s[3][i], y = keep[i] * s[4][i], z = keep[i] * s[5][i];
        double xx = b * c - x * x, xy = x * y - z * c, xz = z * x - b * y;
        double scale = 1.0 / (a * xx + z * xy + y * xz);
        inverse[0][i] = scale * xx;
        inverse[1][i] = inverse[3][i] = scale * xy;
        inverse[2][i] = inverse[6][i] = scale * xz;
        inverse[4][i] = scale * (a * c - y * y);
        inverse[5][i] = inverse[7][i] = scale * (y * z - a * x);
        inverse[8][i] = scale * (a * b - z * z);
    }
    return 1;
}

/* The same from the signed singular values, clamped; `outside` is 1 where one had to be, and `weight` is what of its volume a tet has. */
INLINE void clamped_inverse(const Batch *batch, const SnLanes keep, SnLanes inverse[9], SnLanes weight, SnLanes outside)
{
    SnLanes u[9], sigma[3], v[9], scale[3];
    sn_batch3_svd((const SnLanes *)batch->f, u, sigma, v);
    for (int lane = 0; lane < SN_LANES; lane++) {
        outside[lane] = 0.0;
        weight[lane] = 1.0;
        for (int k = 0; k < 3; k++) {
            double stretch = 1.0 + keep[lane] * (sigma[k][lane] - 1.0), length = fabs(stretch);
            double clamped = fmin(fmax(length, STRETCH_FLAT), STRETCH_LONG), flat = fmin(clamped / STRETCH_MIN, 1.0);
            outside[lane] = clamped != length ? 1.0 : outside[lane];
            weight[lane] *= flat * flat;
            scale[k][lane] = 1.0 / copysign(clamped, stretch);
        }
    }
    for (int k = 0; k < 9; k++) {
        int i = 3 * (k / 3), j = 3 * (k % 3);
        for (int lane = 0; lane < SN_LANES; lane++) {
            inverse[k][lane] = v[i][lane] * scale[0][lane] * v[j][lane] + v[i + 1][lane] * scale[1][lane] * v[j + 1][lane] +
                               v[i + 2][lane] * scale[2][lane] * v[j + 2][lane];
        }
    }
}

static void follow_pose(void *data, size_t chunk, size_t begin, size_t end)
{
    PoseJob *job = data;
    size_t count = job->elements->count, clamped = 0;
    (void)chunk;
    for (size_t start = begin; start < end; start += SN_LANES) {
        Batch batch;
        SnLanes keep, inverse[9], weight, outside = {0.0};
        load_batch(job->elements, job->elements->inverse_rest, job->pose, start, end, &batch);
        for (int lane = 0; lane < SN_LANES; lane++) {
            keep[lane] = job->keep * job->keep_scale[batch.lanes.tet[lane]];
            weight[lane] = 1.0;
        }
        if (!unclamped_inverse(&batch, keep, inverse)) {
            clamped_inverse(&batch, keep, inverse, weight, outside);
        }
        for (int lane = 0; lane < batch.lanes.used; lane++) {
            size_t tet = batch.lanes.tet[lane];
            clamped += outside[lane] > 0.0;
            job->volume[tet] = weight[lane] * job->elements->volume[tet];
            job->left_over[tet] = weight[lane] * outside[lane] * keep[lane];
        }
        for (int k = 0; k < 9; k++) {
            int i = 3 * (k / 3), j = k % 3;
            for (int lane = 0; lane < batch.lanes.used; lane++) {
                job->rest[(size_t)k * count + batch.lanes.tet[lane]] = batch.b[i][lane] * inverse[j][lane] +
                                                                 batch.b[i + 1][lane] * inverse[3 + j][lane] +
                                                                 batch.b[i + 2][lane] * inverse[6 + j][lane];
            }
        }
    }
    atomic_fetch_add(&job->clamped, clamped);
}

size_t sn_tet_elements_pose_rest(const SnTetElements *elements, const double *pose, double keep, const double *scale, double *rest,
                                 double *volume, double *left_over)
{
    PoseJob job = {.elements = elements, .pose = pose,     .keep = keep,          .keep_scale = scale,
                   .rest = rest,         .volume = volume, .left_over = left_over};
    sn_parallel_for(elements->count, CHUNK, follow_pose, &job);
    return atomic_load(&job.clamped);
}

size_t sn_tet_elements_inverted(const SnTetElements *elements, const double *positions, double *smallest)
{
    size_t inverted = 0;
    *smallest = INFINITY;
    for (size_t e = 0; e < elements->count; e++) {
        double edges[9];
        sn_mat3_edges(positions, elements->tets + 4 * e, edges);
        double determinant = sn_mat3_determinant(edges) / (6.0 * elements->volume[e]);
        inverted += determinant < 0.0;
        *smallest = fmin(*smallest, determinant);
    }
    return inverted;
}

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
        sn_parallel_for(job.elements->count, CHUNK, find_reach, &job);
    }
    return atomic_load(&job.least);
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
    .rounding = term_rounding,
};

SnTerm sn_tet_elements_term(const SnTetElements *elements)
{
    return (SnTerm){&TETS, elements, {elements->count, TETS.corners, elements->tets, 0}};
}
