/* What paint and artist's units make of a cage: which vertices follow, how strongly the others are driven, and what its tets are of. */
#ifndef SN_METHOD_ENRICH_FLESH_H
#define SN_METHOD_ENRICH_FLESH_H

#include "method/enrich/enrich.h"

#define SN_FLESH_ENCLOSED 0.98 /* flesh inside, with this much of what follows exactly around it, follows too */

/* Weights of the cage vertices, which must come zeroed, as `followed` must: 1 where followed, else less. */
SnStatus sn_flesh_weights(SnContext *context, const SnCagedBody *body, const SnEnrichPaint *paint, double *weights,
                          unsigned char *followed);

/* Driving stiffness over mass and squared angular frequency: 0 for weight 0, growing without bound towards 1. */
double sn_flesh_drive_ratio(double weight, double balance);

/* What the flesh is of. Arrays are owned. */
typedef struct SnFleshMaterial {
    double *young;    /* tets, Pa; of a partly filled one what its whole volume is to have */
    double *mass;     /* cage vertices, kg */
    double *share;    /* tets: how much of the flesh's own modulus each has */
    double *calm;     /* tets: how many times as much each is damped as flesh that swings with Jiggle */
    double frequency; /* Hz, that driving and substeps are measured by */
    int regions;
} SnFleshMaterial;

/* `weights` and `followed` are those of sn_flesh_weights. The caller clears it. */
SnStatus sn_flesh_material(SnContext *context, const SnCagedBody *body, const SnEnrichPaint *paint, const SnEnrichSettings *settings,
                           const double *weights, const unsigned char *followed, SnFleshMaterial *material);
void sn_flesh_material_clear(SnFleshMaterial *material);

/* A world of the tets of the cage that move where these vertices are `fixed`. */
SnStatus sn_flesh_world(SnContext *context, const SnEnrichSettings *settings, const SnTetMesh *cage, const double *young,
                        const double *mass, const unsigned char *fixed, SnTetElements *tets, SnWorld *world);

/* Painted damping and Keep Pose: the scales of both, and of the drag in its place. `moving` are the world's tets. */
SnStatus sn_flesh_regions(SnContext *context, const SnCagedBody *body, const SnEnrichPaint *paint, const SnEnrichSettings *settings,
                          const SnTetElements *moving, SnWorld *world, SnKeepPose *keep_pose);

#endif
