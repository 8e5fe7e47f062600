/* ENRICH: the constrained simulation of a fitted cage. Surface weights become followed and driven cage vertices, artist's units
   become a material, and each frame is advanced in substeps along the input. */
#ifndef SN_METHOD_ENRICH_ENRICH_H
#define SN_METHOD_ENRICH_ENRICH_H

#include "dynamics/ensemble.h"
#include "dynamics/input_driver.h"
#include "mesh/embedding.h"

#define SN_ENRICH_SOUND_VOLUME 0.1 /* of its rest volume: a fitted tet below it is as good as inside out already */
#define SN_ENRICH_STEP_ANGLE 0.55 /* radians of the jiggle's phase in one automatic substep: 1 % in frequency with TR-BDF2 */

typedef struct SnEnrichSettings {
    double jiggle;            /* Hz */
    double settle;            /* seconds until the envelope falls to 5 % */
    double young;             /* Pa; 0: from jiggle */
    double poisson;
    double density;           /* kg/m³ */
    double damping_mass;      /* Rayleigh alpha, 1/s; used with young > 0 */
    double damping_stiffness; /* Rayleigh beta, s; used with young > 0 */
    int one_material;         /* all flesh is as stiff as that which gives way most must be for Jiggle: what is thin on bone swings less and
                                 faster, as on a face; 0: every part swings at Jiggle */
    int free_body;            /* nothing holds it: it flies without drag, and nothing limits how far */
    double keep_pose;         /* 0..1 */
    double balance;           /* zeta > 0: weights are taken to this power */
    double most_strain;       /* root of its mean square that a lively push may cause: flesh too thin for it is firmer than Jiggle says */
    double transition;        /* metres over which flesh is firmer beside what follows exactly; 0: as painted */
    double gravity[3];        /* m/s² */
    double interval;          /* seconds between two input frames */
    double size;              /* metres */
    int substeps;             /* per interval; 0: automatic */
    int newton_rounds;        /* 0: until converged */
    double tolerance;         /* fraction of size: how far from its minimum a stage of a step may stop */
    SnScheme scheme;
    SnExpression expression;  /* how what has no inertia is left out of a step */
    double expression_inertia; /* see SnStepSettings; for the change of variable the curve says it */
    const SnDensity *energy;
    double tighten;           /* flesh is so many times firmer, beside what it is, where the pose strains it by SN_TIGHTEN_STRAIN or more */
    int animated;             /* follow weights change: sn_enrich_follow tells them before each interval */
    /* What multiplies stiffness, damping, density and Keep Pose where their regions are painted 1. */
    double stiffness_painted, damping_painted, density_painted, keep_pose_painted;
} SnEnrichSettings;

/* What the artist painted, on the surface vertices unless said; null is nothing. */
typedef struct SnEnrichPaint {
    const double *follow;      /* 1 follows exactly, 0 is free; never null */
    const double *cage_follow; /* cage vertices: the same from inside; NaN where the surface decides */
    const double *stiffness, *damping, *density, *keep_pose; /* 0..1 */
    const double *bone;        /* from 1/2 on: as stiff as a bone */
    const int32_t *averages;   /* cage vertices: region whose average follows the input exactly, negative for none */
} SnEnrichPaint;

SnEnrichSettings sn_enrich_settings_default(void);

/* The cage with the surface that it carries. */
typedef struct SnCagedBody {
    const SnTetMesh *cage;
    const SnEmbedding *embedding;
    const double *areas;     /* surface vertices: their weight */
    const double *fill;      /* tets: how much of each the body fills, 0..1, and ... */
    const double *thickness; /* ... how thick it is there, metres (see mesh/fill.h); null: all are full */
} SnCagedBody;

typedef struct SnEnrichSummary {
    size_t followed_vertices;
    size_t free_tets;
    int substeps;
    int regions;
    double young_min, young_max; /* Pa, over tets that can move */
    double frequency;            /* Hz of the main region */
} SnEnrichSummary;

typedef struct SnEnrich SnEnrich;

/* Cage and embedding must outlive it; the rest is copied. */
SnStatus sn_enrich_create(SnContext *context, const SnCagedBody *body, const SnEnrichPaint *paint, const SnEnrichSettings *settings,
                          SnEnrich **enrich);
void sn_enrich_destroy(SnEnrich *enrich);
SnEnrichSummary sn_enrich_summary(const SnEnrich *enrich);

/* Acceleration (cage vertices x 3, m/s²) of outer forces beside gravity, from now on; null is none. */
void sn_enrich_push(SnEnrich *enrich, const double *acceleration);

/* Factors of the stiffness (tets of the cage) at the begin and the end of the next interval, linear in between, within SN_FIRMNESS_LEAST and
   SN_FIRMNESS_MOST; null: 1. An interval begins with the factors that the one before ended with. */
void sn_enrich_firm(SnEnrich *enrich, const double *begin, const double *end);

/* The follow weights (surface vertices) at the begin and the end of the next interval; `animated` must be set. */
SnStatus sn_enrich_follow(SnContext *context, SnEnrich *enrich, const double *begin, const double *end);

/* Weights of the cage vertices (0..1, 1 = followed), for pictures and tests. */
const double *sn_enrich_cage_weights(const SnEnrich *enrich);
const SnWorld *sn_enrich_world(const SnEnrich *enrich);
const SnTetElements *sn_enrich_tets(const SnEnrich *enrich); /* of the world */

/* Moves `positions` (cage vertices x 3) from a start to where the flesh comes to rest in a pose (cage vertices x 3) that stands still, under
   gravity and the push. Of animated weights, and of factors of the stiffness, those at the begin of the interval count. */
SnStatus sn_enrich_settle(SnContext *context, SnEnrich *enrich, const double *pose, double *positions, SnNewtonReport *report);

/* Moves `positions` to where the flesh has the same left of all forces in a pose as it has at `from` in the pose `before`: where it is then,
   was the pose another (cage vertices x 3, all). Factors of the stiffness are those of the begin for `before`, of the end for the pose. */
SnStatus sn_enrich_carry(SnContext *context, SnEnrich *enrich, const double *before, const double *from, const double *pose,
                         double *positions, SnNewtonReport *report);

/* Advances the state by one interval of the curve, in substeps. A tet that comes out inside out although its fitted shape is sound
   is drawn back towards that shape; `repaired` counts those. Alone it is the whole of it; among others it is `lead`, the ensemble's
   advance, and `finish`. */
void sn_enrich_lead(SnEnrich *enrich, const SnInputCurve *curve); /* which stays until the end of the interval */
SnMember sn_enrich_member(SnEnrich *enrich);
SnEnsemble *sn_enrich_alone(SnEnrich *enrich);                    /* of it and no other */
size_t sn_enrich_finish(SnEnrich *enrich, SnState *state);        /* how many tets were repaired */
SnStatus sn_enrich_advance(SnContext *context, SnEnrich *enrich, const SnInputCurve *curve, SnState *state, SnStepReport *report,
                           size_t *repaired);

#endif
