/* Inverse caging: the cage whose interpolation comes closest to a surface frame (methods, eq. 1). */
#ifndef SN_METHOD_FIT_H
#define SN_METHOD_FIT_H

#include "dynamics/newton.h"
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

/* `positions` (cage vertices x 3) holds the fit of the frame before and receives the fit. `before`: the fit of the frame before that
   one, from which the guess is extrapolated; or null. With `first` there is no guess: the fit starts from the rest shape, very
   stiff, and is softened step by step. */
SnStatus sn_fit_frame(SnContext *context, SnFit *fit, const double *surface, int first, const double *before, double *positions,
                      SnFitReport *report);

#endif
