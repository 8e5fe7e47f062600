/* Every long call looks at the wish to cancel, again and again, tells how far it is, and can be called anew after it was cancelled. */
#include "run.h"

#include "dynamics/modes.h"
#include "dynamics/statics.h"

/* A whole call; it leaves nothing behind but what it was asked for. */
typedef SnStatus (*Call)(SnContext *context, Run *run);

static SnStatus fit_frame(SnContext *context, Run *run)
{
    SnFitReport report;
    return sn_fit_frame(context, run->fit, run->frames[1], 0, NULL, run->fitted[0], &report);
}

static SnStatus advance(SnContext *context, Run *run)
{
    SnStepReport report = {0};
    size_t repaired;
    SnInputCurve curve = {run->cage.vertex_count, NULL, run->cage.positions, run->cage.positions, NULL, run->settings.interval, NULL};
    memcpy(run->state.positions, run->cage.positions, 3 * run->cage.vertex_count * sizeof(double));
    return sn_enrich_advance(context, run->enrich, &curve, &run->state, &report, &repaired);
}

/* With averages, and a part that nothing holds. */
static SnStatus calibrate(SnContext *context, Run *run)
{
    SnEnrich *enrich = NULL;
    int32_t *regions = SN_NEW(context, run->cage.vertex_count, int32_t);
    SnEnrichPaint paint = {.follow = run->follow, .averages = regions};
    SnCagedBody body = {.cage = &run->cage, .embedding = &run->embedding, .areas = run->areas};
    SnStatus status = sn_enrich_create(context, &body, &paint, &run->settings, &enrich);
    sn_enrich_destroy(enrich);
    sn_release(regions);
    return status;
}

static SnStatus vibrate(SnContext *context, Run *run)
{
    double squared[3];
    return sn_modes_find(context, sn_enrich_world(run->enrich), run->cage.positions, 3, squared, NULL);
}

static SnStatus settle(SnContext *context, Run *run)
{
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

/* Cancelled at its first look, its second, ... until it comes through. */
static void cancel_at_every_look(const char *name, Call call, Run *run, long least_looks)
{
    SnContext context;
    long looks = 0;
    for (;; looks++) {
        sn_context_init(&context);
        context.looks_until_cancelled = looks;
        SnStatus status = call(&context, run);
        if (status == SN_OK) {
            break;
        }
        CHECK(status == SN_CANCELLED && strlen(context.message) > 0);
        if (looks > 5000) {
            break;
        }
    }
    CHECK(strlen(atomic_load(&context.stage)) > 0 && atomic_load(&context.total) > 0);
    CHECK(atomic_load(&context.done) <= atomic_load(&context.total));
    if (!CHECK(looks >= least_looks && looks < 5000)) {
        printf("  %s looked %ld times\n", name, looks);
    }
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
        cancel_at_every_look("fit", fit_frame, &run, 5); /* once a round */
        cancel_at_every_look("advance", advance, &run, 8);
        cancel_at_every_look("calibration", calibrate, &run, 6);
        cancel_at_every_look("modes", vibrate, &run, 10);
        if (held) {
            cancel_at_every_look("statics", settle, &run, 1);
        }
        run_close(&run);
        run_clear(&run);
    }
    return CHECK_RESULT();
}
