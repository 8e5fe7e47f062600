/* Every long call looks at the wish to cancel, again and again, tells how far it is, and can be called anew after it was cancelled. */
#include "cancel.h"
#include "run.h"

#include "dynamics/modes.h"
#include "dynamics/statics.h"

static SnStatus fit_frame(SnContext *context, void *data)
{
    Run *run = data;
    SnFitReport report;
    return sn_fit_frame(context, run->fit, run->frames[1], 0, NULL, run->fitted[0], &report);
}

static SnStatus advance(SnContext *context, void *data)
{
    Run *run = data;
    SnStepReport report = {0};
    size_t repaired;
    SnInputCurve curve = {run->cage.vertex_count, NULL, run->cage.positions, run->cage.positions, NULL, run->settings.interval, NULL};
    memcpy(run->state.positions, run->cage.positions, 3 * run->cage.vertex_count * sizeof(double));
    return sn_enrich_advance(context, run->enrich, &curve, &run->state, &report, &repaired);
}

/* With averages, and a part that nothing holds. */
static SnStatus calibrate(SnContext *context, void *data)
{
    Run *run = data;
    SnEnrich *enrich = NULL;
    int32_t *regions = SN_NEW(context, run->cage.vertex_count, int32_t);
    SnEnrichPaint paint = {.follow = run->follow, .averages = regions};
    SnCagedBody body = {.cage = &run->cage, .embedding = &run->embedding, .areas = run->areas};
    SnStatus status = sn_enrich_create(context, &body, &paint, &run->settings, &enrich);
    sn_enrich_destroy(enrich);
    sn_release(regions);
    return status;
}

static SnStatus vibrate(SnContext *context, void *data)
{
    Run *run = data;
    double squared[3];
    return sn_modes_find(context, sn_enrich_world(run->enrich), run->cage.positions, 3, squared, NULL);
}

static SnStatus settle(SnContext *context, void *data)
{
    Run *run = data;
    const SnWorld *world = sn_enrich_world(run->enrich);
    SnStaticsSettings settings = {.max_rounds = 20, .step_tolerance = 1e-9};
    SnNewtonReport report = {0};
    double *loads = SN_NEW(context, 3 * world->vertex_count, double);
    double *positions = scene_copy(context, run->cage.positions, 3 * run->cage.vertex_count);
    sn_statics_weight(world, (const double[3]){0.0, 0.0, -9.81}, loads);
    SnStatus status = sn_statics_solve(context, world, loads, &settings, positions, &report);
    sn_release(loads);
    sn_release(positions);
    return status;
}

int main(void)
{
    for (int held = 0; held < 2; held++) {
        SnContext context;
        Run run;
        sn_context_init(&context);
        run_init(&context, held, &run);
        run.settings.substeps = 4;
        run.fit_rounds = 5;
        CHECK(run_build(&context, &run) == SN_OK && run_open(&context, &run) == SN_OK);
        cancel_at_every_look("fit", fit_frame, &run, 5, NULL); /* once a round */
        cancel_at_every_look("advance", advance, &run, 8, NULL);
        cancel_at_every_look("calibration", calibrate, &run, 6, NULL);
        cancel_at_every_look("modes", vibrate, &run, 10, NULL);
        if (held) {
            cancel_at_every_look("statics", settle, &run, 1, NULL);
        }
        run_close(&run);
        run_clear(&run);
    }
    return CHECK_RESULT();
}
