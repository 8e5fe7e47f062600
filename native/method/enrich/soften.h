/* Averages that follow leave only the quicker swings: flesh is softened, region by region, until the slowest has the frequency of Jiggle. */
#ifndef SN_METHOD_ENRICH_SOFTEN_H
#define SN_METHOD_ENRICH_SOFTEN_H

#include "method/enrich/enrich.h"

typedef struct SnSoftening {
    const SnEnrichSettings *settings;
    const SnTetMesh *cage;
    const int32_t *regions; /* cage vertices: see method/enrich/averages.h, which has constrained the world by them */
    const double *drive;    /* cage vertices, N/m */
} SnSoftening;

/* Changes `young` (tets of the cage, Pa) and the material of the world's tets. What is of a real material stays as it is. */
SnStatus sn_soften_regions(SnContext *context, const SnSoftening *softening, const SnWorld *world, SnTetElements *tets, double *young);

#endif
