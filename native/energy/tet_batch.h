/* Tets in batches of SN_LANES, for loops that the compiler vectorises over the lanes. */
#ifndef SN_ENERGY_TET_BATCH_H
#define SN_ENERGY_TET_BATCH_H

#include "math/batch3.h"
#include "math/mat3.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SN_BATCH_INLINE static inline __attribute__((always_inline))

/* The last batch repeats its last tet in the lanes that are left over. */
typedef struct SnTetBatch {
    size_t tet[SN_LANES];
    int used;
} SnTetBatch;

SN_BATCH_INLINE void sn_tet_batch_open(size_t begin, size_t end, SnTetBatch *batch)
{
    batch->used = end - begin < SN_LANES ? (int)(end - begin) : SN_LANES;
    for (int lane = 0; lane < SN_LANES; lane++) {
        batch->tet[lane] = begin + (size_t)(lane < batch->used ? lane : batch->used - 1);
    }
}

/* The nine components of a batch's tets, from an array 9 x count. */
SN_BATCH_INLINE void sn_tet_batch_load(const double *from, size_t count, const SnTetBatch *batch, SnLanes out[9])
{
    for (size_t k = 0; k < 9; k++) {
        if (batch->used == SN_LANES) {
            memcpy(out[k], from + k * count + batch->tet[0], sizeof out[k]);
            continue;
        }
        for (int lane = 0; lane < SN_LANES; lane++) {
            out[k][lane] = from[k * count + batch->tet[lane]];
        }
    }
}

/* out = a b, row-major; `out` may be `a`. */
SN_BATCH_INLINE void sn_tet_batch_multiply(const SnLanes a[9], const SnLanes b[9], SnLanes out[9])
{
    for (int row = 0; row < 3; row++) {
        for (int lane = 0; lane < SN_LANES; lane++) {
            double x = a[3 * row][lane], y = a[3 * row + 1][lane], z = a[3 * row + 2][lane];
            for (int column = 0; column < 3; column++) {
                out[3 * row + column][lane] = x * b[column][lane] + y * b[3 + column][lane] + z * b[6 + column][lane];
            }
        }
    }
}

/* Deformation gradients f of a batch's tets (count x 4 vertices), `rest` being their inverse rest matrices. */
SN_BATCH_INLINE void sn_tet_batch_gradients(const int32_t *tets, const SnTetBatch *batch, const SnLanes rest[9], const double *positions,
                                            SnLanes f[9])
{
    for (int lane = 0; lane < SN_LANES; lane++) {
        double edges[9];
        sn_mat3_edges(positions, tets + 4 * batch->tet[lane], edges);
        for (int k = 0; k < 9; k++) {
            f[k][lane] = edges[k];
        }
    }
    sn_tet_batch_multiply((const SnLanes *)f, rest, f);
}

#endif
