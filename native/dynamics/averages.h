/* Averages as constraints (methods, section 2, "Weak constraints", on a solid): the mean place of each region of vertices, weighted by
   mass, is where the input has it, and only the rest moves freely. Regions do not overlap, and followed vertices belong to none. */
#ifndef SN_DYNAMICS_AVERAGES_H
#define SN_DYNAMICS_AVERAGES_H

#include "dynamics/assembly.h"

#define SN_AVERAGES_MOST 256 /* regions */

typedef struct SnAverages {
    size_t region_count;  /* 0: nothing is constrained */
    size_t unknown_count;
    int32_t *vertex;      /* unknowns: its vertex; owned */
    int32_t *region;      /* unknowns: its region, or -1; owned */
    double *share;        /* unknowns: its mass over that of its region; owned */
} SnAverages;

/* `regions` (vertices): the region of each, negative for none. Regions without a free vertex are left out. `averages`
   comes empty. */
SnStatus sn_averages_init(SnContext *context, const SnAssembly *assembly, const double *mass, const int32_t *regions,
                          SnAverages *averages);
void sn_averages_clear(SnAverages *averages);

/* Shifts each region so that its mean is that of `input`; both vertices x 3. */
void sn_averages_impose(const SnAverages *averages, const double *input, double *values);

/* The part of a step that leaves the means alone, and the part of a slope that such steps feel; both unknowns x 3. */
void sn_averages_project_step(const SnAverages *averages, double *step);
void sn_averages_project_slope(const SnAverages *averages, double *slope);

/* How the body gives way to a load on each mean, which corrects the solutions of a factor. Memory is allocated once. */
typedef struct SnAverageResponse {
    const SnAverages *averages;
    size_t size;     /* 3 x regions */
    int is_known;    /* for the factor at hand; without it `correct` does nothing */
    double *columns; /* size x 3 unknowns: H⁻¹Cᵀ; owned */
    double *schur;   /* size x size: Cholesky factor of C H⁻¹Cᵀ; owned */
    double *means;   /* size; owned */
} SnAverageResponse;

/* `averages` must outlive the response. */
SnStatus sn_average_response_init(SnContext *context, const SnAverages *averages, SnAverageResponse *response);
void sn_average_response_clear(SnAverageResponse *response);

/* After a new factor: the load of each k below `size`, to be solved in place; then finish. */
double *sn_average_response_load(SnAverageResponse *response, size_t k);
void sn_average_response_finish(SnAverageResponse *response);

/* From H⁻¹ r to the solution that keeps the means: step -= H⁻¹Cᵀ (C H⁻¹Cᵀ)⁻¹ C step. */
void sn_average_response_correct(SnAverageResponse *response, double *step);

#endif
