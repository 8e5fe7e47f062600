/* With F = U diag(s) Vᵀ and b_i the gradient of shape function i, let c_i = Vᵀ b_i. The force on vertex i is
   volume U (stress * c_i); the stiffness block (i, j) is volume U B Uᵀ with
   B_aa = stretch_aa c_i[a] c_j[a] + sum over b != a of p_ab c_i[b] c_j[b],  B_ab = stretch_ab c_i[a] c_j[b] + q_ab c_i[b] c_j[a],
   p = (shear + twist)/2, q = (shear - twist)/2. Clamping shear and twist at zero and projecting the 3x3 `stretch` makes the
   whole Hessian positive semi-definite, so no 9x9 or 12x12 matrix is ever decomposed. */
#include "base/parallel.h"
#include "energy/tet_strain.h"

#include <string.h>

#define INLINE SN_BATCH_INLINE

/* Density of the energy and, with `stress`, its derivative by F: straight from F where the energy can, else by its stretches. */
INLINE void batch_stress(const SnDensity *energy, const SnTetStrain *batch, SnLanes density, SnLanes stress[9])
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
INLINE void damping_moduli(const SnViscosity *viscosity, const SnTetStrain *batch, SnLanes mu, SnLanes lambda)
{
    for (int lane = 0; lane < SN_LANES; lane++) {
        double factor = viscosity->factor * (viscosity->scale != NULL ? viscosity->scale[batch->lanes.tet[lane]] : 1.0);
        mu[lane] = factor * batch->mu[lane];
        lambda[lane] = factor * batch->lambda[lane];
    }
}

/* Adds density and stress of the damping: with e = sym(Rᵀ (F - C)), mu |e|² + lambda/2 (tr e)² and R (2 mu e + lambda tr e). */
INLINE void add_damping_stress(const SnViscosity *viscosity, size_t count, const SnTetStrain *batch, SnLanes density, SnLanes stress[9])
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
        SnTetStrain batch;
        SnLanes density, stress[9], gradient[12], volume;
        sn_tet_strain_load(job->elements, job->rest, job->positions, first, end, &batch);
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
    return sn_parallel_chunk_count(elements->count, SN_TET_CHUNK);
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
    sn_parallel_for(elements->count, SN_TET_CHUNK, sum_energy, &job);
    for (size_t chunk = 0; chunk < sn_tet_elements_partial_count(elements); chunk++) {
        sum += partial[chunk];
    }
    return sum;
}

/* c[i] = Vᵀ b_i for the vertices 1..3; vertex 0 is minus their sum. Row i of the inverse rest matrix is the gradient of vertex i + 1. */
INLINE void rotate_gradients(const SnTetStrain *batch, const SnLanes v[9], SnLanes c[3][3])
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
INLINE void add_damping_blocks(const SnViscosity *viscosity, size_t count, const SnTetStrain *batch, SnLanes blocks[SN_TET_BLOCKS][9])
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
        SnTetStrain batch;
        SnLanes u[9], sigma[3], v[9], c[3][3], gradient[4][3];
        SnStretchDerivatives d;
        sn_tet_strain_load(job->elements, job->rest, job->positions, start, end, &batch);
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
        sn_parallel_for(elements->count, SN_TET_CHUNK, sum_energy, &gradient_alone);
    } else {
        sn_parallel_for(elements->count, SN_TET_CHUNK, compute_derivatives, &job);
    }
}

void sn_tet_elements_damped_stiffness(const SnTetElements *elements, const double *rest, const SnViscosity *viscosity,
                                      const double *positions, double *stiffness)
{
    DerivativeJob job = {elements, rest, positions, viscosity, NULL, stiffness};
    sn_parallel_for(elements->count, SN_TET_CHUNK, compute_derivatives, &job);
}
