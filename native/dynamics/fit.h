/* Inverse caging: the cage whose interpolation comes closest to a surface frame (methods, eq. 1). Its elastic energy is that of a body as
   rigid as possible (energy/as_rigid.c), so that one factor of one matrix serves all rounds of all frames. */
#ifndef SN_DYNAMICS_FIT_H
#define SN_DYNAMICS_FIT_H

#include "base/context.h"
#include "mesh/embedding.h"
#include "mesh/tet_mesh.h"

typedef struct SnFitSettings {
    double smoothing; /* k·Young as a fraction of size: the wavelength below which the fit is smooth */
    double size;      /* metres */
    int max_rounds;
    double tolerance; /* fraction of size: the root mean square of the moves of a round that is the last one */
    int unfold;       /* tets that come out inside out are turned right, as far as it goes */
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

/* `positions` (cage vertices x 3) holds the fit of the frame before, with `has_guess`, and receives the fit. `before`: the fit of the frame
   before that one, from which the guess is extrapolated; or null. With no guess the search starts from the rest shape and takes its time.
   The result depends on these arguments alone, and its bits not on the number of threads. */
SnStatus sn_fit_frame(SnContext *context, SnFit *fit, const double *surface, int has_guess, const double *before, double *positions,
                      SnFitReport *report);

#endif
