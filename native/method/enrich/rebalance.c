/* Every tet takes a gradient between that of the simulated and that of the fitted cage (dynamics/turns), and the warp finds positions.
   Gradients alone leave a region where it swung to: weights near 1 hold it at its place too. */
#include "method/enrich/rebalance.h"

#include "base/memory.h"
#include "dynamics/turns.h"
#include "dynamics/warp.h"
#include "dynamics/weights.h"
#include "math/mat3.h"
#include "method/enrich/flesh.h"

#include <math.h>
#include <string.h>

#define HOLDS 0.6  /* weights above this hold places, those of 1 exactly */
#define REACH 0.1  /* of size: a region of that length is held half by a weight in the middle of these */
#define STRONGEST 1e9

struct SnRebalance {
    const SnTetMesh *cage;
    const SnEmbedding *embedding;
    SnWarp *warp;
    SnTurns *turns;
    double *vertex_weights; /* cage vertices */
    double *tet_weights;    /* tets */
    double *hold;           /* cage vertices: how strongly each is held at its place, 1/m² */
    double size;            /* m */
    double held_strength;   /* that `hold` was made for; negative: none */
    double *missing;        /* tets x 9 */
};

void sn_rebalance_destroy(SnRebalance *r)
{
    if (r == NULL) {
        return;
    }
    sn_turns_destroy(r->turns);
    sn_warp_destroy(r->warp);
    sn_release(r->vertex_weights);
    sn_release(r->tet_weights);
    sn_release(r->hold);
    sn_release(r->missing);
    sn_release(r);
}

/* What follows from new weights. */
static void average_weights(SnRebalance *r)
{
    r->held_strength = -1.0;
    for (size_t e = 0; e < r->cage->tet_count; e++) {
        const int32_t *tet = r->cage->tets + 4 * e;
        const double *w = r->vertex_weights;
        r->tet_weights[e] = 0.25 * (w[tet[0]] + w[tet[1]] + w[tet[2]] + w[tet[3]]);
    }
}

SnStatus sn_rebalance_create(SnContext *context, const SnCagedBody *body, const SnEnrichPaint *paint, SnRebalance **out)
{
    SnStatus status = SN_OK;
    SnRebalance *r = NULL;
    const SnTetMesh *cage = body->cage;
    double *weights = NULL;
    unsigned char *followed = NULL;
    *out = NULL;
    sn_context_stage(context, "Preparing the way back", 3);
    SN_TRY_NEW(context, r, 1, SnRebalance);
    r->cage = cage;
    r->embedding = body->embedding;
    SN_TRY_NEW(context, weights, cage->vertex_count, double);
    SN_TRY_NEW(context, followed, cage->vertex_count, unsigned char);
    SN_TRY(sn_flesh_weights(context, body, paint, weights, followed));
    SN_TRY(sn_context_advance(context, 1));
    SN_TRY(sn_warp_create(context, cage, followed, &r->warp));
    SN_TRY(sn_context_advance(context, 2));
    SN_TRY(sn_turns_create(context, cage, sn_warp_elements(r->warp), followed, &r->turns));
    SN_TRY_NEW(context, r->vertex_weights, cage->vertex_count, double);
    SN_TRY_NEW(context, r->tet_weights, cage->tet_count, double);
    SN_TRY_NEW(context, r->hold, cage->vertex_count, double);
    SN_TRY_NEW(context, r->missing, 9 * cage->tet_count, double);
    for (size_t v = 0; v < cage->vertex_count; v++) {
        r->vertex_weights[v] = 1.0;
    }
    average_weights(r);
    r->size = sn_tet_mesh_longest_side(cage);
    *out = r;
cleanup:
    sn_release(weights);
    sn_release(followed);
    if (status != SN_OK) {
        sn_rebalance_destroy(r);
    }
    return status;
}

SnStatus sn_rebalance_set_weights(SnContext *context, SnRebalance *r, const double *areas, const double *weights)
{
    SnStatus status = SN_OK;
    sn_context_stage(context, "Spreading the weights", 1);
    SN_TRY(sn_weights_over_cage(context, r->cage, r->embedding, areas, weights, NULL, r->vertex_weights));
    average_weights(r);
cleanup:
    return status;
}

static SnStatus hold_places(SnContext *context, SnRebalance *r, double strength)
{
    int any = 0, before = 0;
    if (strength == r->held_strength) {
        return SN_OK;
    }
    for (size_t v = 0; v < r->cage->vertex_count; v++) {
        double part = (strength * r->vertex_weights[v] - HOLDS) / (1.0 - HOLDS);
        before |= r->hold[v] > 0.0;
        r->hold[v] = part <= 0.0 ? 0.0 : fmin(tan(0.5 * SN_PI * fmin(part, 1.0)), STRONGEST) / (REACH * REACH * r->size * r->size);
        r->hold[v] = part >= 1.0 ? STRONGEST / (REACH * REACH * r->size * r->size) : r->hold[v];
        any |= r->hold[v] > 0.0;
    }
    SnStatus status = any || before ? sn_warp_hold(context, r->warp, r->hold) : SN_OK;
    r->held_strength = status == SN_OK ? strength : -1.0;
    return status;
}

SnStatus sn_rebalance_frame(SnContext *context, SnRebalance *r, const double *fitted, const double *simulated, double strength,
                            double *result)
{
    SnStatus status = SN_OK;
    sn_context_stage(context, "Drawing back", 2);
    SN_TRY(sn_context_look(context));
    SN_TRY(hold_places(context, r, strength));
    SN_TRY(sn_context_advance(context, 1));
    for (size_t k = 0; k < 3 * r->cage->vertex_count; k++) {
        double weight = strength * r->vertex_weights[k / 3];
        double between = simulated[k] + weight * (fitted[k] - simulated[k]);
        result[k] = weight <= 0.0 ? simulated[k] : (weight >= 1.0 ? fitted[k] : between);
    }
    sn_turns_between(r->turns, fitted, simulated, r->tet_weights, strength, result, r->missing);
    SN_TRY(sn_warp_correct(context, r->warp, r->missing, result));
    for (size_t k = 0; k < 3 * r->cage->vertex_count; k++) {
        result[k] = strength * r->vertex_weights[k / 3] >= 1.0 ? fitted[k] : result[k]; /* to the bit */
    }
cleanup:
    return status;
}
