/* Edits: the kernel in time, the warp with its derivative, and where handles land. */
#include "cancel.h"
#include "scenes.h"

#include "base/parallel.h"
#include "method/edit/edit.h"
#include "method/edit/pose.h"

/* A bar of cells of 0.1 m along x, shown bent; held at its end, or by nothing; full, or a thin shell around it. */
typedef enum Kind { HELD, LOOSE, SHELL, KINDS } Kind;

typedef struct Bar {
    SnContext context;
    SnTetMesh cage;
    SnTetBoundary skin; /* of a shell */
    SnTriMesh surface;
    double give;        /* of handles */
    size_t n; /* vertices */
    double *young, *mass, *shown, *patch, *point, *p, *result;
    unsigned char *fixed;
    SnEditBodyDef def;
} Bar;

static void bar_init(Bar *bar, Kind kind, double angle)
{
    memset(bar, 0, sizeof *bar);
    SnContext *context = &bar->context;
    sn_context_init(context);
    bar->cage = scene_box(context, 10, 2, 2, 0.1);
    bar->n = bar->cage.vertex_count;
    bar->young = SN_NEW(context, bar->cage.tet_count, double);
    bar->mass = SN_NEW(context, bar->n, double);
    bar->shown = SN_NEW(context, 3 * bar->n, double);
    bar->patch = SN_NEW(context, bar->n, double);
    bar->point = SN_NEW(context, bar->n, double);
    bar->p = SN_NEW(context, 3 * bar->n, double);
    bar->result = SN_NEW(context, 3 * bar->n, double);
    bar->fixed = SN_NEW(context, bar->n, unsigned char);
    double sum = 0.0, farthest = 0.0;
    size_t tip = 0;
    for (size_t v = 0; v < bar->n; v++) {
        const double *x = bar->cage.positions + 3 * v;
        double radius = angle > 0.0 ? 1.0 / angle - (x[2] - 0.1) : 0.0;
        bar->shown[3 * v] = angle > 0.0 ? radius * sin(angle * x[0]) : x[0];
        bar->shown[3 * v + 1] = x[1];
        bar->shown[3 * v + 2] = angle > 0.0 ? 1.0 / angle - radius * cos(angle * x[0]) : x[2];
        bar->fixed[v] = kind != LOOSE && x[0] == 0.0;
        bar->patch[v] = x[0] > 0.85 ? 1.0 : 0.0;
        sum += bar->patch[v];
        if (x[0] + 0.1 * x[1] > farthest) {
            farthest = x[0] + 0.1 * x[1];
            tip = v;
        }
    }
    for (size_t v = 0; v < bar->n; v++) {
        bar->patch[v] /= sum;
    }
    bar->point[tip] = 1.0;
    for (size_t e = 0; e < bar->cage.tet_count; e++) {
        bar->young[e] = 1e5;
    }
    sn_tet_mesh_lumped_mass(&bar->cage, 1000.0, NULL, bar->mass);
    bar->def = (SnEditBodyDef){.cage = &bar->cage, .energy = &sn_density_neo_hookean, .young = bar->young, .poisson = 0.4, .mass = bar->mass,
                               .fixed = bar->fixed, .hold = 2.0};
    if (kind == SHELL) {
        CHECK(sn_tet_mesh_boundary(context, &bar->cage, &bar->skin) == SN_OK);
        bar->surface = (SnTriMesh){bar->n, bar->skin.face_count, bar->cage.positions, bar->skin.faces};
        for (size_t v = 0; v < bar->n; v++) {
            const double *x = bar->cage.positions + 3 * v;
            bar->fixed[v] |= fabs(x[1] - 0.1) < 1e-9 && fabs(x[2] - 0.1) < 1e-9 && x[0] < 0.95; /* on no face */
        }
        bar->def.cage = NULL;
        bar->def.surface = &bar->surface;
        bar->def.stretch = 100.0;
        bar->def.bend = 0.1;
    }
}

static void bar_clear(Bar *bar)
{
    double *arrays[] = {bar->young, bar->mass, bar->shown, bar->patch, bar->point, bar->p, bar->result};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        sn_release(arrays[k]);
    }
    sn_release(bar->fixed);
    sn_tet_boundary_clear(&bar->skin);
    sn_tet_mesh_clear(&bar->cage);
}

/* A wild edit that leaves fixed vertices alone. */
static void shake(Bar *bar, double strength)
{
    uint64_t random = 5;
    for (size_t k = 0; k < 3 * bar->n; k++) {
        const double *x = bar->cage.positions + k - k % 3;
        bar->p[k] = bar->fixed[k / 3] ? 0.0 : strength * (sin(3.0 * x[0] + (double)(k % 3)) * x[0] + 0.02 * scene_signed(&random));
    }
}

static double place(const Bar *bar, const double *weights, const double *positions, size_t axis)
{
    double sum = 0.0;
    for (size_t v = 0; v < bar->n; v++) {
        sum += weights[v] * positions[3 * v + axis];
    }
    return sum;
}

static void a_lever_tells_how_far_the_warp_moves_a_mean_of_places(void)
{
    for (Kind kind = HELD; kind < KINDS; kind++) {
        Bar bar;
        SnEditBody body;
        SnEditPose pose;
        double offset[3];
        bar_init(&bar, kind, 2.0);
        shake(&bar, 0.3);
        CHECK(sn_edit_body_init(&bar.context, &bar.def, &body) == SN_OK);
        CHECK(sn_edit_pose_init(&bar.context, &body, &pose) == SN_OK);
        double *lever = SN_NEW(&bar.context, sn_edit_body_lever_size(&body), double);
        CHECK(sn_edit_body_lever(&bar.context, &body, bar.patch, lever) == SN_OK);
        sn_edit_pose_set(&pose, bar.shown);
        sn_edit_pose_measure(&pose, bar.p, lever, offset);
        CHECK(sn_edit_pose_warp(&bar.context, &pose, bar.p, bar.result) == SN_OK);
        for (size_t a = 0; a < 3; a++) {
            CHECK(fabs(offset[a]) > 1e-3);
            CHECK_NEAR(place(&bar, bar.patch, bar.result, a) - place(&bar, bar.patch, bar.shown, a), offset[a], 1e-10);
        }
        sn_release(lever);
        sn_edit_pose_clear(&pose);
        sn_edit_body_clear(&body);
        bar_clear(&bar);
    }
}

static void rows_are_the_derivative_of_what_is_measured(void)
{
    for (Kind kind = HELD; kind < KINDS; kind++) {
        Bar bar;
        SnEditBody body;
        SnEditPose pose;
        double before[3], after[3];
        uint64_t random = 11;
        bar_init(&bar, kind, 3.0);
        shake(&bar, 0.5);
        CHECK(sn_edit_body_init(&bar.context, &bar.def, &body) == SN_OK);
        CHECK(sn_edit_pose_init(&bar.context, &body, &pose) == SN_OK);
        size_t width = 3 * body.world.assembly.unknown_count;
        double *lever = SN_NEW(&bar.context, sn_edit_body_lever_size(&body), double), *rows = SN_NEW(&bar.context, 3 * width, double);
        double *way = SN_NEW(&bar.context, 3 * bar.n, double), h = 1e-6;
        CHECK(sn_edit_body_lever(&bar.context, &body, bar.patch, lever) == SN_OK);
        sn_edit_pose_set(&pose, bar.shown);
        sn_edit_pose_rows(&pose, bar.p, lever, rows);
        for (size_t k = 0; k < 3 * bar.n; k++) {
            way[k] = bar.fixed[k / 3] ? 0.0 : scene_signed(&random);
            bar.p[k] -= h * way[k];
        }
        sn_edit_pose_measure(&pose, bar.p, lever, before);
        for (size_t k = 0; k < 3 * bar.n; k++) {
            bar.p[k] += 2.0 * h * way[k];
        }
        sn_edit_pose_measure(&pose, bar.p, lever, after);
        for (size_t d = 0; d < 3; d++) {
            double told = 0.0;
            for (size_t k = 0; k < width; k++) {
                told += rows[d * width + k] * way[3 * (size_t)body.world.assembly.vertex[k / 3] + k % 3];
            }
            CHECK(fabs(told) > 1e-4);
            CHECK_NEAR((after[d] - before[d]) / (2.0 * h), told, 1e-8);
        }
        sn_release(lever);
        sn_release(rows);
        sn_release(way);
        sn_edit_pose_clear(&pose);
        sn_edit_body_clear(&body);
        bar_clear(&bar);
    }
}

static void derivatives_of_the_kernel_are_those_of_differences(void)
{
    const double ratios[] = {0.02, 0.3, 0.999999, 1.0, 1.000001, 1.5, 40.0};
    for (size_t r = 0; r < sizeof ratios / sizeof *ratios; r++) {
        for (double tau = -1.0; tau < 1.0; tau += 0.113) {
            double omega = 12.0, h = 1e-5, low[3], at[3], high[3];
            sn_edit_kernel_free(omega, ratios[r], tau - h, low);
            sn_edit_kernel_free(omega, ratios[r], tau, at);
            sn_edit_kernel_free(omega, ratios[r], tau + h, high);
            if (fabs(tau) > 2.0 * h) {
                CHECK_NEAR((high[0] - low[0]) / (2.0 * h), at[1], 1e-6 * omega);
                CHECK_NEAR((high[1] - low[1]) / (2.0 * h), at[2], 4e-3 * omega * omega);
            }
            /* both sides of the critical ratio meet */
            sn_edit_kernel_free(omega, ratios[r] * (1.0 + 1e-13), tau, high);
            CHECK_NEAR(high[0], at[0], 1e-11);
            CHECK_NEAR(high[2], at[2], 1e-10 * omega * omega);
        }
    }
}

/* Two handles at two moments, and what is drawn at a third. */
static SnStatus edit_bar(SnContext *context, Bar *bar, SnEdit *edit, const double offset[3], double *missed, SnEditReport *report)
{
    SnStatus status = SN_OK;
    SnEditMotion motion = sn_edit_motion_default();
    SnEditSettings settings = sn_edit_settings_default();
    SnEditHandle handles[2];
    for (size_t h = 0; h < 2; h++) {
        handles[h] = (SnEditHandle){.time = 1.0 + 0.3 * (double)h, .shown = bar->shown, .patch = bar->patch, .point = bar->point,
                                    .give = bar->give};
        for (size_t a = 0; a < 3; a++) {
            handles[h].target[a] = place(bar, bar->point, bar->shown, a) + (h == 0 ? offset[a] : 0.0);
        }
    }
    motion.span = (SnEditSpan){.has_begin = 1, .has_end = 1, .begin = 0.0, .end = 3.0};
    SN_TRY(sn_edit_solve(context, edit, &motion, &settings, 2, handles, missed, report));
    SN_TRY(sn_edit_frame(context, edit, 1.1, bar->shown, bar->result));
cleanup:
    return status;
}

static void handles_land_and_no_edit_keeps_the_bits(void)
{
    Bar bar;
    SnEdit *edit;
    SnEditReport report;
    double missed[2], offset[3] = {-0.1, 0.3, 0.05}, none[3] = {0};
    bar_init(&bar, HELD, 2.0);
    CHECK(sn_edit_create(&bar.context, &bar.def, &edit) == SN_OK);
    CHECK(edit_bar(&bar.context, &bar, edit, none, missed, &report) == SN_OK);
    CHECK(report.rounds == 0 && scene_same_bits(bar.result, bar.shown, 3 * bar.n));
    CHECK(edit_bar(&bar.context, &bar, edit, offset, missed, &report) == SN_OK);
    CHECK(report.missed < 1e-5 && report.rounds <= 10 && report.shapes == 12); /* both are on one shape */
    CHECK(scene_distance(bar.result, bar.shown, 3 * bar.n) > 0.05);
    double *first = scene_copy(&bar.context, bar.result, 3 * bar.n);
    for (int threads = 1; threads <= 4; threads *= 2) {
        SnEdit *again;
        sn_parallel_set_thread_count(threads);
        CHECK(sn_edit_create(&bar.context, &bar.def, &again) == SN_OK);
        CHECK(edit_bar(&bar.context, &bar, again, offset, missed, &report) == SN_OK);
        CHECK(scene_same_bits(bar.result, first, 3 * bar.n));
        sn_edit_destroy(again);
    }
    sn_parallel_set_thread_count(0);
    CHECK(sn_edit_frame(&bar.context, edit, 0.0, bar.shown, bar.result) == SN_OK); /* the end of the range, ... */
    CHECK(scene_same_bits(bar.result, bar.shown, 3 * bar.n));
    CHECK(sn_edit_frame(&bar.context, edit, 5.0, bar.shown, bar.result) == SN_OK); /* ... and beyond the other */
    CHECK(scene_same_bits(bar.result, bar.shown, 3 * bar.n));
    sn_release(first);
    sn_edit_destroy(edit);
    bar_clear(&bar);
}

/* A pull, and one that holds it from one side: along `push`, or not at all where the pull goes that way itself. */
static void a_bound_pushes_and_never_draws(void)
{
    Bar bar;
    SnEdit *edit;
    SnEditReport report;
    SnEditMotion motion = sn_edit_motion_default();
    SnEditSettings settings = sn_edit_settings_default();
    double missed[2], at[3], *alone;
    bar_init(&bar, HELD, 0.0);
    CHECK(sn_edit_create(&bar.context, &bar.def, &edit) == SN_OK);
    SnEditHandle handles[2] = {{.time = 1.0, .shown = bar.shown, .patch = bar.patch, .point = bar.point}};
    for (size_t a = 0; a < 3; a++) {
        at[a] = place(&bar, bar.point, bar.shown, a);
        handles[0].target[a] = at[a] + (a == 1 ? 0.1 : 0.0);
    }
    CHECK(sn_edit_solve(&bar.context, edit, &motion, &settings, 1, handles, missed, &report) == SN_OK);
    CHECK(sn_edit_frame(&bar.context, edit, 1.2, bar.shown, bar.result) == SN_OK);
    alone = scene_copy(&bar.context, bar.result, 3 * bar.n);
    double reached = place(&bar, bar.point, alone, 1);
    for (int side = 0; side < 2; side++) {
        /* a little later: at least a third of that, which is no bound at all, and at least the double */
        double wanted = side == 0 ? (2.0 * at[1] + reached) / 3.0 : 2.0 * reached - at[1];
        handles[1] = (SnEditHandle){.time = 1.2, .shown = bar.shown, .patch = bar.point, .point = bar.point,
                                    .target = {0.0, wanted, 0.0}, .direction = {0.0, 1.0, 0.0}, .is_bound = 1};
        CHECK(sn_edit_solve(&bar.context, edit, &motion, &settings, 2, handles, missed, &report) == SN_OK);
        CHECK(sn_edit_frame(&bar.context, edit, 1.2, bar.shown, bar.result) == SN_OK);
        CHECK_NEAR(place(&bar, bar.point, bar.result, 1), side == 0 ? reached : wanted, side == 0 ? 2e-3 : 1e-4);
        CHECK(report.missed < 1e-4);
    }
    sn_release(alone);
    sn_edit_destroy(edit);
    bar_clear(&bar);
}

/* Rows with springs: one alone misses by what it gives, one that is passed already does nothing, two at odds meet where their springs
   are even, and none draws that only may push. */
static void rows_that_give_meet_where_their_springs_are_even(void)
{
    Bar bar;
    SnEdit *edit;
    SnEditReport report;
    SnEditMotion motion = sn_edit_motion_default();
    SnEditSettings settings = sn_edit_settings_default();
    double missed[3], at[3];
    bar_init(&bar, HELD, 0.0);
    CHECK(sn_edit_create(&bar.context, &bar.def, &edit) == SN_OK);
    SnEditHandle handles[3];
    for (size_t h = 0; h < 3; h++) {
        handles[h] = (SnEditHandle){.time = 1.0, .shown = bar.shown, .patch = bar.point, .point = bar.point, .give = 0.25};
        handles[h].direction[1] = 1.0;
        for (size_t a = 0; a < 3; a++) {
            at[a] = place(&bar, bar.point, bar.shown, a);
            handles[h].target[a] = at[a];
        }
    }
    handles[0].target[1] += 1e-3;
    handles[1].target[1] -= 1e-3;
    handles[2].target[1] -= 1e-3;
    handles[2].is_bound = 1;
    for (size_t count = 1; count <= 2; count++) {
        CHECK(sn_edit_solve(&bar.context, edit, &motion, &settings, count, handles, missed, &report) == SN_OK);
        CHECK_NEAR(missed[0], count == 1 ? 0.2e-3 : 1e-3, 1e-6);
    }
    handles[1] = handles[2];
    CHECK(sn_edit_solve(&bar.context, edit, &motion, &settings, 2, handles, missed, &report) == SN_OK);
    CHECK_NEAR(missed[0], 0.2e-3, 1e-6);
    CHECK(missed[1] == 0.0);
    handles[1].target[1] += 4e-3; /* it pushes farther than the other pulls */
    CHECK(sn_edit_solve(&bar.context, edit, &motion, &settings, 2, handles, missed, &report) == SN_OK);
    CHECK(sn_edit_frame(&bar.context, edit, 1.0, bar.shown, bar.result) == SN_OK);
    double reached = place(&bar, bar.point, bar.result, 1) - at[1]; /* (1e-3 + 3e-3) / (2 + 0.25) */
    CHECK_NEAR(reached, 4e-3 / 2.25, 2e-5);
    sn_edit_destroy(edit);
    bar_clear(&bar);
}

static void a_handle_on_what_follows_is_told(void)
{
    Bar bar;
    SnEdit *edit;
    SnEditReport report;
    double missed[2], offset[3] = {0.1, 0.0, 0.0};
    bar_init(&bar, HELD, 0.0);
    for (size_t v = 0; v < bar.n; v++) {
        bar.patch[v] = bar.point[v] = bar.fixed[v] ? 1.0 / 9.0 : 0.0;
    }
    CHECK(sn_edit_create(&bar.context, &bar.def, &edit) == SN_OK);
    CHECK(edit_bar(&bar.context, &bar, edit, offset, missed, &report) == SN_BAD_INPUT);
    sn_edit_destroy(edit);
    memset(bar.fixed, 1, bar.n);
    CHECK(sn_edit_create(&bar.context, &bar.def, &edit) == SN_BAD_INPUT && edit == NULL);
    bar_clear(&bar);
}

static void fail_each_allocation(Kind kind, double give)
{
    double missed[2], offset[3] = {0.0, 0.1, 0.0};
    int done = 0;
    for (long n = 0; !done && n < 400; n++) {
        Bar bar;
        SnEdit *edit = NULL;
        SnEditReport report;
        bar_init(&bar, kind, 1.0);
        bar.give = give;
        bar.context.allocations_until_failure = n;
        SnStatus status = sn_edit_create(&bar.context, &bar.def, &edit);
        if (status == SN_OK) {
            status = edit_bar(&bar.context, &bar, edit, offset, missed, &report);
        }
        done = status == SN_OK;
        CHECK(done || status == SN_OUT_OF_MEMORY);
        bar.context.allocations_until_failure = -1;
        if (!done && edit != NULL) { /* it goes on as if nothing had been */
            CHECK(edit_bar(&bar.context, &bar, edit, offset, missed, &report) == SN_OK && report.missed < (give > 0.0 ? 1e-3 : 1e-4));
        }
        sn_edit_destroy(edit);
        bar_clear(&bar);
    }
    CHECK(done);
}

static void every_failing_allocation_is_told_and_leaks_nothing(void)
{
    fail_each_allocation(HELD, 0.0);
    fail_each_allocation(HELD, 1e-4);
    fail_each_allocation(SHELL, 0.0);
}

typedef struct Pulled {
    Bar bar;
    SnEdit *edit; /* null: it is made */
} Pulled;

static SnStatus make_or_pull(SnContext *context, void *data)
{
    Pulled *pulled = data;
    SnEdit *edit = pulled->edit;
    SnEditReport report;
    double missed[2], offset[3] = {0.0, 0.1, 0.0};
    SnStatus status = edit == NULL ? sn_edit_create(context, &pulled->bar.def, &edit) : SN_OK;
    if (pulled->edit == NULL) {
        CHECK((edit != NULL) == (status == SN_OK));
        sn_edit_destroy(edit);
        return status;
    }
    status = edit_bar(context, &pulled->bar, edit, offset, missed, &report);
    CHECK(status != SN_OK || report.missed < 1e-4);
    return status;
}

static void an_edit_can_be_cancelled_and_pulled_again(void)
{
    for (Kind kind = HELD; kind <= SHELL; kind++) {
        Pulled pulled = {.edit = NULL};
        bar_init(&pulled.bar, kind, 1.0);
        cancel_at_every_look("making", make_or_pull, &pulled, 3, "Preparing the edit");
        CHECK(sn_edit_create(&pulled.bar.context, &pulled.bar.def, &pulled.edit) == SN_OK);
        cancel_at_every_look("pulling", make_or_pull, &pulled, 3, "Finding shapes");
        sn_edit_destroy(pulled.edit);
        bar_clear(&pulled.bar);
    }
}

int main(void)
{
    an_edit_can_be_cancelled_and_pulled_again();
    derivatives_of_the_kernel_are_those_of_differences();
    a_lever_tells_how_far_the_warp_moves_a_mean_of_places();
    rows_are_the_derivative_of_what_is_measured();
    handles_land_and_no_edit_keeps_the_bits();
    a_bound_pushes_and_never_draws();
    rows_that_give_meet_where_their_springs_are_even();
    a_handle_on_what_follows_is_told();
    every_failing_allocation_is_told_and_leaks_nothing();
    return CHECK_RESULT();
}
