#include "dynamics/rotations.h"

#include "base/parallel.h"
#include "math/batch3.h"

#include <string.h>

#define CHUNK ((size_t)512) /* a multiple of SN_LANES */
#define DETERMINED 1e-6     /* areas beside squared lengths: neighbours on one line, or none, do not tell a rotation */

/* rotations[i] += d d₀ᵀ over the edges d from i to its neighbours. */
static void sum_edges(const SnAssembly *assembly, const double *from, const double *to, double *sums)
{
    const SnBlockPattern *pattern = &assembly->pattern;
    memset(sums, 0, 9 * assembly->unknown_count * sizeof *sums);
    for (size_t block = 0; block < pattern->block_count; block++) {
        size_t row = (size_t)pattern->rows[block], column = (size_t)pattern->columns[block];
        size_t a = 3 * (size_t)assembly->vertex[row], b = 3 * (size_t)assembly->vertex[column];
        for (size_t k = 0; k < 9 && row != column; k++) {
            double product = (to[a + k / 3] - to[b + k / 3]) * (from[a + k % 3] - from[b + k % 3]);
            sums[9 * row + k] += product;
            sums[9 * column + k] += product;
        }
    }
}

typedef struct PolarJob {
    double *matrices;
} PolarJob;

/* The rotation of the polar decomposition takes each matrix's place. */
static void take_polar(void *data, size_t chunk, size_t begin, size_t end)
{
    PolarJob *job = data;
    (void)chunk;
    for (size_t first = begin; first < end; first += SN_LANES) {
        SnLanes f[9], rotation[9], stretch[6];
        size_t used = end - first < SN_LANES ? end - first : SN_LANES;
        for (size_t lane = 0; lane < SN_LANES; lane++) {
            const double *matrix = job->matrices + 9 * (first + (lane < used ? lane : used - 1));
            for (int k = 0; k < 9; k++) {
                f[k][lane] = matrix[k];
            }
        }
        sn_batch3_polar((const SnLanes *)f, rotation, stretch);
        for (size_t lane = 0; lane < used; lane++) {
            double *matrix = job->matrices + 9 * (first + lane), cofactor[9], length = 0.0, area = 0.0;
            SN_COFACTOR(f, lane, cofactor)
            for (int k = 0; k < 9; k++) {
                length += f[k][lane] * f[k][lane];
                area += cofactor[k] * cofactor[k];
            }
            int known = area > DETERMINED * DETERMINED * length * length;
            for (int k = 0; k < 9; k++) {
                matrix[k] = known ? rotation[k][lane] : (k % 4 == 0 ? 1.0 : 0.0);
            }
        }
    }
}

void sn_rotations_between(const SnAssembly *assembly, const double *from, const double *to, double *rotations)
{
    PolarJob job = {rotations};
    sum_edges(assembly, from, to, rotations);
    sn_parallel_for(assembly->unknown_count, CHUNK, take_polar, &job);
}

void sn_rotations_apply(size_t count, const double *rotations, int back, double *vector)
{
    for (size_t i = 0; i < count; i++) {
        const double *r = rotations + 9 * i;
        double *p = vector + 3 * i, x = p[0], y = p[1], z = p[2];
        p[0] = back ? r[0] * x + r[3] * y + r[6] * z : r[0] * x + r[1] * y + r[2] * z;
        p[1] = back ? r[1] * x + r[4] * y + r[7] * z : r[3] * x + r[4] * y + r[5] * z;
        p[2] = back ? r[2] * x + r[5] * y + r[8] * z : r[6] * x + r[7] * y + r[8] * z;
    }
}
