/* ENRICH: the constrained simulation of a fitted cage. Surface weights become followed and driven cage vertices, artist's units
   become a material, and each frame is advanced in substeps along the input. */
#ifndef SN_METHOD_ENRICH_H
#define SN_METHOD_ENRICH_H

#include "dynamics/time_step.h"
#include "mesh/embedding.h"

typedef struct SnEnrichSettings {
    double jiggle;            /* Hz */
    double settle;            /* seconds until the envelope falls to 5 % */
    double young;             /* Pa; 0: from jiggle */
    double poisson;
    double density;           /* kg/m³ */
    double damping_mass;      /* Rayleigh alpha, 1/s; used with young > 0 */
    double damping_stiffness; /* Rayleigh beta, s; used with young > 0 */
    double keep_pose;         /* 0..1 */
    double balance;           /* zeta > 0: weights are taken to this power */
    double gravity[3];        /* m/s² */
    double interval;          /* seconds between two input frames */
    double size;              /* metres */
    int substeps;             /* per interval; 0: automatic */
    int newton_rounds;        /* 0: until converged */
    SnScheme scheme;
    const SnEnergy *energy;
} SnEnrichSettings;

SnEnrichSettings sn_enrich_settings_default(void);

typedef struct SnEnrichSummary {
    size_t followed_vertices;
    size_t free_tets;
    int substeps;
    int regions;
    double young_min, young_max; /* Pa, over tets that can move */
    double frequency;            /* Hz of the main region */
} SnEnrichSummary;

typedef struct SnEnrich SnEnrich;

/* `follow` (surface vertices): 1 follows exactly, 0 is free. `areas` weigh the surface vertices. Cage must outlive it. */
SnStatus sn_enrich_create(SnContext *context, const SnTetMesh *cage, const SnEmbedding *embedding, const double *areas,
                          const double *follow, const SnEnrichSettings *settings, SnEnrich **enrich);
void sn_enrich_destroy(SnEnrich *enrich);
SnEnrichSummary sn_enrich_summary(const SnEnrich *enrich);

/* Weights of the cage vertices (0..1, 1 = followed), for pictures and tests. */
const double *sn_enrich_cage_weights(const SnEnrich *enrich);
const SnWorld *sn_enrich_world(const SnEnrich *enrich);

/* Advances the state by one interval of the curve, in substeps. A tet that comes out inside out although its fitted shape is sound
   is drawn back towards that shape; `repaired` counts those. */
SnStatus sn_enrich_advance(SnContext *context, SnEnrich *enrich, const SnInputCurve *curve, SnState *state, SnStepReport *report,
                           size_t *repaired);

#endif
