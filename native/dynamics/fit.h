/* Inverse caging: the cage whose interpolation comes closest to a surface frame (methods, eq. 1). */
#ifndef SN_DYNAMICS_FIT_H
#define SN_DYNAMICS_FIT_H

#include "dynamics/newton.h"
#include "energy/tet_elements.h"
#include "mesh/embedding.h"

typedef struct SnFitSettings {
    double smoothing; /* k·Young as a fraction of size: the wavelength below which the fit is smooth */
    double size;      /* metres */
    double poisson;
    const SnEnergy *energy;
    int max_rounds;
    double tolerance; /* fraction of size: how far from the minimum the search may stop */
} SnFitSettings;

SnFitSettings sn_fit_settings_default(void);

typedef struct SnFitReport {
    double rms, max; /* distance of the interpolated cage from the surface, metres */
    int rounds;
    size_t inverted; /* fitted tets turned inside out */
} SnFitReport;

typedef struct SnFit SnFit;

/* `areas` (one per surface vertex, m²) weighs the surface; zero leaves a vertex out and lets elasticity complete it.
   Cage and embedding must outlive the fit. */
SnStatus sn_fit_create(SnContext *context, const SnTetMesh *cage, const SnEmbedding *embedding, const double *areas,
                       const SnFitSettings *settings, SnFit **fit);
void sn_fit_destroy(SnFit *fit);

/* Another one for the same cage and settings, to work at the same time. */
SnStatus sn_fit_twin(SnContext *context, const SnFit *fit, SnFit **twin);

/* `positions` (cage vertices x 3) holds the fit of an earlier frame, this one is `ahead` frames after it, and receives the fit.
   `before`: the fit of the frame before the earlier one, from which the guess is extrapolated; or null. Where `ahead` is 0 there is no
   guess: the fit starts from the rest shape, very stiff, and is softened step by step. */
SnStatus sn_fit_frame(SnContext *context, SnFit *fit, const double *surface, int ahead, const double *before, double *positions,
                      SnFitReport *report);

/* Two frames at once, each on a thread of its own: faster than both threads on one frame, and much faster on a busy machine, where
   threads wait for each other at every step. Both `positions` hold the fit of the frame before the first of them. The results are those
   of sn_fit_frame with 1 and 2 frames ahead, to the bit. */
SnStatus sn_fit_pair(SnContext *context, SnFit *const fits[2], const double *const surfaces[2], const double *before,
                     double *const positions[2], SnFitReport reports[2]);

#endif
