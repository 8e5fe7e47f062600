/* A small whole run for the tests of memory and threads: a ball is caged, bound, fitted to two frames, simulated and drawn. */
#ifndef SN_TESTS_RUN_H
#define SN_TESTS_RUN_H

#include "scenes.h"
#include "shapes.h"

#include "dynamics/fit.h"
#include "mesh/cage.h"
#include "mesh/detail.h"
#include "method/enrich/enrich.h"

typedef struct Run {
    Shape ball;
    int resolution, fit_rounds; /* of the cage; for each frame. Small ones to start with */
    SnEnrichSettings settings;
    double *areas, *follow, *frames[2], *result; /* frames and result: surfaces */
    SnTetMesh cage;
    SnEmbedding embedding;
    /* from open to close */
    SnFit *fit;
    SnEnrich *enrich;
    SnState state;
    double *fitted[2];
} Run;

/* With `held` the lower part follows; otherwise nothing does. */
static inline void run_init(SnContext *context, int held, Run *run)
{
    const double centre[3] = {0.0, 0.0, 0.0};
    *run = (Run){
        .ball = shape_sphere(context, 3, 0.5, centre, 1.0),
        .resolution = 2,
        .fit_rounds = 1,
        .settings = sn_enrich_settings_default(),
    };
    size_t count = run->ball.vertex_count;
    run->settings.substeps = 1;
    run->areas = SN_NEW(context, count, double);
    run->follow = SN_NEW(context, count, double);
    run->result = SN_NEW(context, 3 * count, double);
    for (size_t f = 0; f < 2; f++) {
        run->frames[f] = scene_copy(context, run->ball.positions, 3 * count);
        for (size_t v = 0; v < count; v++) {
            double *x = run->frames[f] + 3 * v;
            run->follow[v] = held && x[2] < -0.3 ? 1.0 : held && x[2] < 0.0 ? 0.3 : 0.0;
            x[0] += 0.1 * (double)f * (1.0 + x[2] * x[2]);
        }
    }
}

static inline void run_clear(Run *run)
{
    shape_clear(&run->ball);
    sn_embedding_clear(&run->embedding);
    sn_tet_mesh_clear(&run->cage);
    sn_release(run->areas);
    sn_release(run->follow);
    sn_release(run->result);
    sn_release(run->frames[0]);
    sn_release(run->frames[1]);
}

/* Cage and embedding, which live on until the run is cleared. */
static inline SnStatus run_build(SnContext *context, Run *run)
{
    SnStatus status = SN_OK;
    SnTriMesh mesh = shape_mesh(&run->ball);
    SnCageSettings settings = sn_cage_settings_default();
    settings.resolution = run->resolution;
    settings.separate_parts = 1;
    SN_TRY(sn_tri_mesh_vertex_areas(context, &mesh, run->areas));
    SN_TRY(sn_cage_build(context, &mesh, &settings, &run->cage, &run->embedding));
    sn_embedding_clear(&run->embedding); /* binding to a cage from elsewhere allocates too */
    SN_TRY(sn_embedding_build(context, &run->cage, mesh.vertex_count, mesh.positions, &run->embedding));
cleanup:
    if (status != SN_OK) {
        sn_embedding_clear(&run->embedding);
        sn_tet_mesh_clear(&run->cage);
    }
    return status;
}

/* Everything that frames need. `run_close` is due whatever the status. */
static inline SnStatus run_open(SnContext *context, Run *run)
{
    SnStatus status = SN_OK;
    SnFitSettings settings = sn_fit_settings_default();
    size_t n = 3 * run->cage.vertex_count;
    settings.max_rounds = run->fit_rounds;
    settings.unfold = 1;
    SN_TRY(sn_fit_create(context, &run->cage, &run->embedding, run->areas, &settings, &run->fit));
    SnEnrichPaint paint = {.follow = run->follow};
    SnCagedBody body = {.cage = &run->cage, .embedding = &run->embedding, .areas = run->areas};
    SN_TRY(sn_enrich_create(context, &body, &paint, &run->settings, &run->enrich));
    SN_TRY(sn_state_init(context, run->cage.vertex_count, &run->state));
    SN_TRY_NEW(context, run->fitted[0], n, double);
    SN_TRY_NEW(context, run->fitted[1], n, double);
cleanup:
    return status;
}

static inline void run_close(Run *run)
{
    sn_state_clear(&run->state);
    sn_enrich_destroy(run->enrich);
    sn_fit_destroy(run->fit);
    sn_release(run->fitted[0]);
    sn_release(run->fitted[1]);
    run->enrich = NULL;
    run->fit = NULL;
    run->fitted[0] = run->fitted[1] = NULL;
}

/* Fits both frames and simulates from the first, at rest, to the second. */
static inline SnStatus run_frame(SnContext *context, Run *run)
{
    SnStatus status = SN_OK;
    SnFitReport fit_report;
    SnStepReport step_report = {0};
    size_t repaired, bytes = 3 * run->cage.vertex_count * sizeof(double);
    SN_TRY(sn_fit_frame(context, run->fit, run->frames[0], 0, NULL, run->fitted[0], &fit_report));
    memcpy(run->fitted[1], run->fitted[0], bytes);
    SN_TRY(sn_fit_frame(context, run->fit, run->frames[1], 1, run->fitted[0], run->fitted[1], &fit_report));
    memcpy(run->state.positions, run->fitted[0], bytes);
    memset(run->state.velocities, 0, bytes);
    SnInputCurve curve = {run->cage.vertex_count, NULL, run->fitted[0], run->fitted[1], NULL, run->settings.interval, NULL};
    SN_TRY(sn_enrich_advance(context, run->enrich, &curve, &run->state, &step_report, &repaired));
cleanup:
    return status;
}

static inline SnStatus run_draw(SnContext *context, Run *run)
{
    return sn_detail_apply(context, &run->cage, &run->embedding, run->fitted[1], run->state.positions, run->frames[1],
                           SN_INTERPOLATION_LINEAR, run->result);
}

/* From the cage to the result. */
static inline SnStatus run_simulate(SnContext *context, Run *run)
{
    SnStatus status = SN_OK;
    SN_TRY(run_open(context, run));
    SN_TRY(run_frame(context, run));
    SN_TRY(run_draw(context, run));
cleanup:
    run_close(run);
    return status;
}

#endif
