/* Tets in lanes with what every energy of them begins with: their deformation gradients. Inside energy/ alone. */
#ifndef SN_ENERGY_TET_STRAIN_H
#define SN_ENERGY_TET_STRAIN_H

#include "energy/tet_batch.h"
#include "energy/tet_elements.h"

#define SN_TET_CHUNK SN_TERM_CHUNK /* a multiple of SN_LANES */

typedef struct SnTetStrain {
    SnTetBatch lanes;
    SnLanes b[9]; /* inverse rest matrix */
    SnLanes f[9]; /* deformation gradient */
    SnLanes mu, lambda;
} SnTetStrain;

SN_BATCH_INLINE void sn_tet_strain_load(const SnTetElements *elements, const double *rest, const double *positions, size_t begin,
                                        size_t end, SnTetStrain *batch)
{
    sn_tet_batch_open(begin, end, &batch->lanes);
    for (int lane = 0; lane < SN_LANES; lane++) {
        batch->mu[lane] = elements->mu[batch->lanes.tet[lane]];
        batch->lambda[lane] = elements->lambda[batch->lanes.tet[lane]];
    }
    sn_tet_batch_load(rest, elements->count, &batch->lanes, batch->b);
    sn_tet_batch_gradients(elements->tets, &batch->lanes, (const SnLanes *)batch->b, positions, batch->f);
}

#endif
