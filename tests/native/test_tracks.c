/* A shell that follows a guide on average: pins and means hold, loads stretch it as theory says, its undeformed shape can be changed. */
#include "cancel.h"
#include "sheets.h"

#include "mesh/cluster.h"
#include "method/tracks/tracks.h"

static const SheetMaterial CLOTH = {.young = 1e6, .poisson = 0.0, .density = 300.0, .thickness = 1e-3};

typedef struct Tracked {
    SnContext context;
    Sheet sheet;
    double *stretch, *bend, *weight, *follow, *warp, *inner;
    SnTracks *tracks;
} Tracked;

static double *constant(SnContext *context, size_t count, double value)
{
    double *array = SN_NEW(context, count, double);
    for (size_t k = 0; k < count; k++) {
        array[k] = value;
    }
    return array;
}

/* A strip with its first column pinned, unless it is free, and `regions` means along it; `turn`: its warp against its length, NAN: it has none. */
static void open_woven(Tracked *t, int columns, int rows, int regions, double turn, int is_free, double poisson, SnTracksSettings settings)
{
    SnRows means = {.is_alike = 1};
    sn_context_init(&t->context);
    t->sheet = sheet_strip(&t->context, columns, rows, 0.1, 0.0, CLOTH);
    size_t count = t->sheet.vertex_count;
    t->stretch = constant(&t->context, count, CLOTH.young * CLOTH.thickness);
    t->bend = constant(&t->context, count, 1e-3);
    t->weight = constant(&t->context, count, CLOTH.density * CLOTH.thickness);
    t->follow = constant(&t->context, count, 0.0);
    for (int j = 0; j <= rows && !is_free; j++) {
        t->follow[j] = 1.0;
    }
    t->warp = constant(&t->context, 3 * t->sheet.triangle_count, 0.0);
    for (size_t k = 0; k < t->sheet.triangle_count; k++) {
        t->warp[3 * k] = cos(turn);
        t->warp[3 * k + 1] = sin(turn);
    }
    for (int r = 0; r < regions; r++) {
        size_t first = count * (size_t)r / (size_t)regions, end = count * (size_t)(r + 1) / (size_t)regions;
        int32_t *points = SN_NEW(&t->context, end - first, int32_t);
        double *weights = constant(&t->context, end - first, 1.0 / (double)(end - first));
        for (size_t k = first; k < end; k++) {
            points[k - first] = (int32_t)k;
        }
        CHECK(sn_rows_add(&t->context, &means, end - first, points, weights, INFINITY) == SN_OK);
        sn_release(points);
        sn_release(weights);
    }
    SnShell shell = {.vertex_count = count,
                     .triangle_count = t->sheet.triangle_count,
                     .triangles = t->sheet.triangles,
                     .rest = t->sheet.positions,
                     .stretch = t->stretch,
                     .bend = t->bend,
                     .weight = t->weight,
                     .follow = t->follow,
                     .warp = isnan(turn) ? NULL : t->warp};
    settings.poisson = poisson;
    CHECK(sn_tracks_create(&t->context, &shell, &settings, &means, &t->tracks) == SN_OK);
    t->inner = SN_NEW(&t->context, sn_world_inner_count(sn_tracks_world(t->tracks)), double);
    sn_tracks_begin(t->tracks, t->inner);
    sn_rows_clear(&means);
}

static void open_strip(Tracked *t, int columns, int rows, int regions, SnTracksSettings settings)
{
    open_woven(t, columns, rows, regions, NAN, 0, CLOTH.poisson, settings);
}

static void close_strip(Tracked *t)
{
    sn_tracks_destroy(t->tracks);
    sheet_clear(&t->sheet);
    sn_release(t->stretch);
    sn_release(t->bend);
    sn_release(t->weight);
    sn_release(t->follow);
    sn_release(t->warp);
    sn_release(t->inner);
}

/* A guide that waves and travels. */
static void pose_at(const Tracked *t, double time, double *pose)
{
    for (size_t v = 0; v < t->sheet.vertex_count; v++) {
        const double *x = t->sheet.positions + 3 * v;
        pose[3 * v] = x[0] + 0.1 * sin(5.0 * time);
        pose[3 * v + 1] = x[1];
        pose[3 * v + 2] = x[2] + 0.05 * sin(7.0 * time + 3.0 * x[0]);
    }
}

/* `targets`: the guide says where means are, in place of the input. */
static void run_guided(SnScheme scheme, int with_targets)
{
    Tracked t;
    SnTracksSettings settings = sn_tracks_settings_default();
    settings.scheme = scheme;
    settings.substeps = 4;
    open_strip(&t, 12, 4, 5, settings);
    size_t count = 3 * t.sheet.vertex_count;
    double *poses[4], means[4][15], found[15], *positions = scene_copy(&t.context, t.sheet.positions, count);
    double *velocities = constant(&t.context, count, 0.0), off = 0.0;
    SnState state = {.positions = positions, .velocities = velocities, .inner = t.inner};
    const SnRows *rows = &sn_tracks_world(t.tracks)->constraints.rows;
    for (int k = 0; k < 4; k++) {
        poses[k] = SN_NEW(&t.context, count, double);
    }
    for (int frame = 0; frame < 6; frame++) {
        SnStepReport report = {0};
        for (int k = 0; k < 4; k++) {
            pose_at(&t, (frame + k - 1) / 24.0, poses[k]);
            sn_rows_apply(rows, poses[k], means[k]);
            for (size_t r = 0; r < 5; r++) {
                means[k][3 * r + 1] += with_targets ? 0.02 * frame + 0.02 * k : 0.0;
            }
        }
        SnInputCurve curve = {t.sheet.vertex_count, poses[0], poses[1], poses[2], poses[3], 1.0 / 24.0, NULL};
        SnInputCurve targets = {5, means[0], means[1], means[2], means[3], 1.0 / 24.0, NULL};
        sn_tracks_lead(t.tracks, &curve, with_targets ? &targets : NULL, &state);
        CHECK(sn_ensemble_advance(&t.context, sn_tracks_alone(t.tracks), &state, &report) == SN_OK);
        sn_rows_apply(rows, positions, found);
        for (size_t k = 0; k < 15; k++) {
            CHECK_NEAR(found[k], means[2][k], 1e-12);
        }
        for (size_t k = 0; k < count; k++) {
            if (t.follow[k / 3] == 1.0) {
                CHECK(positions[k] == poses[2][k]);
            }
            off = fmax(off, fabs(positions[k] - poses[2][k]));
        }
    }
    CHECK(off > 1e-3 && off < 0.5); /* it is not the guide, nor far from it */
    for (int k = 0; k < 4; k++) {
        sn_release(poses[k]);
    }
    sn_release(positions);
    sn_release(velocities);
    close_strip(&t);
}

static void means_and_pins_hold_exactly_while_the_rest_is_free(void)
{
    run_guided(SN_SCHEME_TR_BDF2, 0);
    run_guided(SN_SCHEME_IMPLICIT_EULER, 0);
    run_guided(SN_SCHEME_TR_BDF2, 1);
}

/* A free strip without weight, whose one mean is torn away at `pull` m/s² for four frames and then goes on as fast as it is. `most`: the setting.
   Writes where it is and how fast after `frames`, and how far the mean is off then. */
static double tear(SnScheme scheme, double most, double pull, int frames, Tracked *t, double *positions, double *velocities)
{
    SnTracksSettings settings = sn_tracks_settings_default();
    settings.scheme = scheme;
    settings.most_pull = most;
    settings.gravity[2] = settings.drag = 0.0;
    settings.substeps = 4;
    settings.interval = 1.0 / 240.0;
    open_woven(t, 6, 2, 1, NAN, 1, 0.3, settings);
    size_t count = 3 * t->sheet.vertex_count;
    const double dt = settings.interval;
    double *poses[4];
    SnState state = {.positions = positions, .velocities = velocities, .inner = t->inner};
    memcpy(positions, t->sheet.positions, count * sizeof *positions);
    memset(velocities, 0, count * sizeof *velocities);
    for (int k = 0; k < 4; k++) {
        poses[k] = SN_NEW(&t->context, count, double);
    }
    for (int frame = 0; frame < frames; frame++) {
        SnStepReport report = {0};
        for (int k = 0; k < 4; k++) {
            double time = fmax(0.0, (frame + k - 1) * dt), turn = fmin(time, 4.0 * dt);
            double way = 0.5 * pull * turn * turn + pull * turn * (time - turn);
            for (size_t c = 0; c < count; c++) {
                poses[k][c] = t->sheet.positions[c] + (c % 3 == 0 ? way : 0.0);
            }
        }
        SnInputCurve curve = {t->sheet.vertex_count, poses[0], poses[1], poses[2], poses[3], settings.interval, NULL};
        sn_tracks_lead(t->tracks, &curve, NULL, &state);
        CHECK(sn_ensemble_advance(&t->context, sn_tracks_alone(t->tracks), &state, &report) == SN_OK);
        CHECK(report.unconverged == 0 && report.fallbacks == 0);
    }
    double means[2][3];
    const SnRows *rows = &sn_tracks_world(t->tracks)->constraints.rows;
    sn_rows_apply(rows, poses[2], means[0]);
    sn_rows_apply(rows, positions, means[1]);
    for (int k = 0; k < 4; k++) {
        sn_release(poses[k]);
    }
    return means[0][0] - means[1][0];
}

/* Of what is torn away faster, the momentum is that of the bound; it comes in without shooting past, and holds again. */
static void a_mean_pulls_with_no_more_than_it_may(void)
{
    const double most = 200.0, pull = 1000.0, time = 4.0 / 240.0;
    for (int s = 0; s < 2; s++) {
        SnScheme scheme = s == 0 ? SN_SCHEME_TR_BDF2 : SN_SCHEME_IMPLICIT_EULER;
        double positions[300], velocities[300], momentum = 0.0, inverse = 0.0, before = INFINITY;
        Tracked t;
        double off = tear(scheme, most, pull, 4, &t, positions, velocities);
        const SnWorld *world = sn_tracks_world(t.tracks);
        size_t count = t.sheet.vertex_count;
        for (size_t v = 0; v < count; v++) {
            momentum += world->mass[v] * velocities[3 * v];
            inverse += 1.0 / (world->mass[v] * (double)count * (double)count);
        }
        CHECK_NEAR(momentum * inverse, most * time, 1e-6 * most * time);
        CHECK_NEAR(off, 0.5 * (pull - most) * time * time, 0.1 * off); /* the edge weighs less, and comes sooner */
        close_strip(&t);
        for (int frames = 24; frames < 70; frames += 5) { /* it has turned round, and comes */
            off = tear(scheme, most, pull, 4 + frames, &t, positions, velocities);
            CHECK(off > -1e-12 && off < before);
            before = fmax(off, 1e-12);
            close_strip(&t);
        }
        CHECK_NEAR(off, 0.0, 1e-12);
        CHECK_NEAR(tear(scheme, 0.0, pull, 4, &t, positions, velocities), 0.0, 1e-12); /* without a bound it is never off */
        close_strip(&t);
    }
}

/* A bound that is not reached changes nothing, to the bit. */
static void a_bound_that_is_not_reached_is_none(void)
{
    double positions[2][300], velocities[2][300];
    size_t bytes = 0;
    for (int k = 0; k < 2; k++) {
        Tracked t;
        (void)tear(SN_SCHEME_TR_BDF2, k == 0 ? 0.0 : 30000.0, 1000.0, 8, &t, positions[k], velocities[k]);
        bytes = 3 * t.sheet.vertex_count * sizeof(double);
        close_strip(&t);
    }
    CHECK(memcmp(positions[0], positions[1], bytes) == 0 && memcmp(velocities[0], velocities[1], bytes) == 0);
}

/* By how much a strip that hangs along its length is longer, over rho g L² / 2 E. */
static double hang(SnTracksSettings settings, double turn)
{
    Tracked t;
    settings.gravity[0] = 9.81;
    settings.gravity[2] = 0.0;
    settings.tolerance = 1e-9;
    open_woven(&t, 20, 3, 0, turn, 0, CLOTH.poisson, settings);
    size_t count = 3 * t.sheet.vertex_count;
    double *positions = scene_copy(&t.context, t.sheet.positions, count), longest = 0.0, length = 0.0;
    SnNewtonReport report = {0};
    CHECK(sn_tracks_settle(&t.context, t.tracks, t.sheet.positions, NULL, t.inner, positions, &report) == SN_OK);
    for (size_t v = 0; v < t.sheet.vertex_count; v++) {
        length = fmax(length, t.sheet.positions[3 * v]);
        longest = fmax(longest, positions[3 * v]);
    }
    CHECK(report.converged);
    sn_release(positions);
    close_strip(&t);
    return (longest - length) / (CLOTH.density * 9.81 * length * length / (2.0 * CLOTH.young));
}

static void a_hanging_strip_stretches_by_its_weight(void)
{
    CHECK_NEAR(hang(sn_tracks_settings_default(), NAN), 1.0, 3e-2); /* half a column's weight hangs at the pins */
}

/* Along the warp as stiff as it is said to be, along the weft as much less, and between them it shears. */
static void threads_bear_what_they_are_said_to(void)
{
    SnTracksSettings settings = sn_tracks_settings_default();
    settings.shear = 0.1;
    settings.weft = 0.25;
    CHECK_NEAR(hang(settings, 0.0), 1.0, 3e-2);
    CHECK_NEAR(hang(settings, 0.5 * 3.14159265358979), 4.0, 12e-2);
    settings.weft = 1.0;
    double across = hang(settings, 0.25 * 3.14159265358979); /* 1/E = (1/4) (1/along + 1/across + 1/G - 2 nu/E), G = 0.1 E / 2 */
    CHECK(across > 3.0 && across < 5.6);
    settings.shear = 1.0;
    CHECK_NEAR(hang(settings, 0.6), 1.0, 3e-2);
}

/* What is so soft that it would be several times as long stops a little beyond its limit. */
static void a_limit_holds_what_is_too_soft(void)
{
    SnTracksSettings settings = sn_tracks_settings_default();
    double strain = CLOTH.density * 9.81 * 20.0 * 0.1 * sqrt(0.75) / CLOTH.young; /* at the pins, without it */
    settings.limit = 0.1 * strain;
    double held = hang(settings, NAN);
    CHECK(held > 0.1 && held < 0.2 * 1.5); /* the mean strain is half of that at the pins; below the limit all is as it was */
}

/* A sheet that falls flat comes to the speed at which the air bears its weight; without air it would be far faster. */
static void air_bears_what_falls_flat(void)
{
    double speeds[2], terminal = sqrt(2.0 * CLOTH.density * CLOTH.thickness * 9.81 / 1.2);
    for (int is_there = 0; is_there < 2; is_there++) {
        Tracked t;
        SnTracksSettings settings = sn_tracks_settings_default();
        settings.air = is_there ? 1.2 : 0.0;
        settings.drag = 0.0;
        settings.substeps = 4;
        open_woven(&t, 6, 6, 0, NAN, 1, 0.3, settings);
        size_t count = 3 * t.sheet.vertex_count;
        double *positions = scene_copy(&t.context, t.sheet.positions, count), *velocities = constant(&t.context, count, 0.0);
        SnState state = {positions, velocities, t.inner};
        SnInputCurve curve = {t.sheet.vertex_count, NULL, t.sheet.positions, t.sheet.positions, NULL, 1.0 / 24.0, NULL};
        SnStepReport report = {0};
        for (int frame = 0; frame < 24; frame++) {
            sn_tracks_lead(t.tracks, &curve, NULL, &state);
            CHECK(sn_ensemble_advance(&t.context, sn_tracks_alone(t.tracks), &state, &report) == SN_OK);
        }
        speeds[is_there] = -velocities[count / 6 * 3 + 2];
        sn_release(positions);
        sn_release(velocities);
        close_strip(&t);
    }
    CHECK_NEAR(speeds[0], 9.81, 0.01);
    CHECK_NEAR(speeds[1], terminal, 0.03 * terminal); /* drag is a mean over a substep, as of what only slows down */
}

/* Wind takes a free sheet along, never faster than itself, however light it is. */
static void wind_takes_along_and_no_faster(void)
{
    Tracked t;
    SnTracksSettings settings = sn_tracks_settings_default();
    settings.air = 1.2;
    settings.drag = 0.0;
    settings.substeps = 1; /* the coarsest of steps */
    settings.gravity[2] = 0.0;
    open_woven(&t, 6, 6, 0, NAN, 1, 0.3, settings);
    size_t count = 3 * t.sheet.vertex_count;
    double *positions = scene_copy(&t.context, t.sheet.positions, count), *velocities = constant(&t.context, count, 0.0);
    double *wind = constant(&t.context, count, 0.0), before = 0.0;
    for (size_t k = 2; k < count; k += 3) {
        wind[k] = 40.0;
    }
    SnState state = {positions, velocities, t.inner};
    SnInputCurve curve = {t.sheet.vertex_count, NULL, t.sheet.positions, t.sheet.positions, NULL, 1.0 / 24.0, NULL};
    SnStepReport report = {0};
    sn_tracks_blow(t.tracks, wind);
    for (int frame = 0; frame < 12; frame++) {
        sn_tracks_lead(t.tracks, &curve, NULL, &state);
        CHECK(sn_ensemble_advance(&t.context, sn_tracks_alone(t.tracks), &state, &report) == SN_OK);
        double mean = 0.0, mass = 0.0;
        for (size_t v = 0; v < t.sheet.vertex_count; v++) {
            mean += t.sheet.mass[v] * velocities[3 * v + 2];
            mass += t.sheet.mass[v];
        }
        mean /= mass;
        CHECK(mean > before && mean < 40.0);
        before = mean;
    }
    CHECK(before > 30.0);
    sn_release(positions);
    sn_release(velocities);
    sn_release(wind);
    close_strip(&t);
}

/* An undeformed shape of ridges makes ridges of a flat strip. */
static void another_undeformed_shape_shapes_it(void)
{
    Tracked t;
    SnTracksSettings settings = sn_tracks_settings_default();
    settings.gravity[2] = 0.0;
    open_strip(&t, 12, 3, 0, settings);
    size_t count = 3 * t.sheet.vertex_count;
    double *positions = scene_copy(&t.context, t.sheet.positions, count), *ridges = scene_copy(&t.context, t.sheet.positions, count);
    for (size_t v = 0; v < t.sheet.vertex_count; v++) {
        ridges[3 * v + 2] = (v / 4) % 2 ? 0.03 : 0.0;
        positions[3 * v + 2] += (v / 4) % 2 ? 1e-4 : 0.0;
    }
    CHECK(sn_tracks_reshape(&t.context, t.tracks, ridges, ridges) == SN_OK);
    SnNewtonReport report = {0};
    CHECK(sn_tracks_settle(&t.context, t.tracks, ridges, NULL, t.inner, positions, &report) == SN_OK);
    double *bent = SN_NEW(&t.context, t.sheet.hinges.count, double), *wanted = SN_NEW(&t.context, t.sheet.hinges.count, double), most = 0.0;
    sn_hinges_angles(&t.sheet.hinges, positions, bent); /* angles alone: pinned along a line, all of it may still turn */
    sn_hinges_angles(&t.sheet.hinges, ridges, wanted);
    for (size_t h = 0; h < t.sheet.hinges.count; h++) {
        CHECK_NEAR(bent[h], wanted[h], 1e-5);
        most = fmax(most, fabs(wanted[h]));
    }
    CHECK(most > 0.3 && report.converged);
    sn_release(bent);
    sn_release(wanted);
    sn_release(positions);
    sn_release(ridges);
    close_strip(&t);
}

static void regions_are_connected_all_used_and_the_same_twice(void)
{
    SnContext context;
    sn_context_init(&context);
    Sheet sheet = sheet_strip(&context, 16, 12, 0.1, 0.02, CLOTH);
    size_t count = sheet.triangle_count, found, again;
    int32_t *regions = SN_NEW(&context, count, int32_t), *twice = SN_NEW(&context, count, int32_t);
    SnClusterDef def = {.vertex_count = sheet.vertex_count,
                        .triangle_count = count,
                        .pose_count = 1,
                        .triangles = sheet.triangles,
                        .poses = sheet.positions,
                        .region_count = 9,
                        .compact = 0.5,
                        .rounds = 30};
    CHECK(sn_cluster_find(&context, &def, regions, &found) == SN_OK && sn_cluster_find(&context, &def, twice, &again) == SN_OK);
    CHECK(found == 9 && again == 9 && memcmp(regions, twice, count * sizeof *regions) == 0);
    /* from the first triangle of a region on, all of it is reached through sides */
    for (int32_t r = 0; r < 9; r++) {
        size_t members = 0, reached = 0;
        unsigned char *in = SN_NEW(&context, count, unsigned char);
        for (size_t t = 0; t < count; t++) {
            members += regions[t] == r;
            if (regions[t] == r && reached == 0) {
                in[t] = 1;
                reached = 1;
            }
        }
        for (int grew = 1; grew;) {
            grew = 0;
            for (size_t t = 0; t < count; t++) {
                for (size_t u = 0; u < count && regions[t] == r && !in[t]; u++) {
                    int shared = 0;
                    for (int i = 0; i < 9; i++) {
                        shared += sheet.triangles[3 * t + (size_t)(i / 3)] == sheet.triangles[3 * u + (size_t)(i % 3)];
                    }
                    if (in[u] && shared == 2) {
                        in[t] = 1;
                        reached++;
                        grew = 1;
                    }
                }
            }
        }
        CHECK(members > 0 && reached == members);
        sn_release(in);
    }
    sn_release(regions);
    sn_release(twice);
    sheet_clear(&sheet);
}

static void pieces_that_touch_nothing_have_regions_of_their_own(void)
{
    SnContext context;
    sn_context_init(&context);
    const double positions[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 5, 0, 0, 6, 0, 0, 5, 1, 0};
    const int32_t triangles[6] = {0, 1, 2, 3, 4, 5};
    int32_t regions[2];
    size_t found;
    SnClusterDef def = {6, 2, 1, triangles, positions, 1, 1.0, 10};
    CHECK(sn_cluster_find(&context, &def, regions, &found) == SN_OK);
    CHECK(found == 2 && regions[0] != regions[1]);
}

static SnStatus settle(SnContext *context, void *data)
{
    Tracked *t = data;
    SnNewtonReport report = {0};
    double *positions = scene_copy(&t->context, t->sheet.positions, 3 * t->sheet.vertex_count);
    SnStatus status = sn_tracks_settle(context, t->tracks, t->sheet.positions, NULL, t->inner, positions, &report);
    CHECK(status != SN_OK || positions[3 * t->sheet.vertex_count - 1] < -1e-3);
    sn_release(positions);
    return status;
}

static SnStatus find_regions(SnContext *context, void *data)
{
    Tracked *t = data;
    size_t found;
    int32_t *regions = SN_NEW(&t->context, t->sheet.triangle_count, int32_t);
    SnClusterDef def = {.vertex_count = t->sheet.vertex_count, .triangle_count = t->sheet.triangle_count, .pose_count = 1,
                        .triangles = t->sheet.triangles, .poses = t->sheet.positions, .region_count = 4, .compact = 0.5, .rounds = 30};
    SnStatus status = sn_cluster_find(context, &def, regions, &found);
    sn_release(regions);
    return status;
}

static void long_calls_can_be_cancelled_and_called_again(void)
{
    Tracked t;
    SnTracksSettings settings = sn_tracks_settings_default();
    settings.gravity[2] = -9.81;
    open_strip(&t, 8, 2, 0, settings);
    cancel_at_every_look("settle", settle, &t, 3, "Settling");
    cancel_at_every_look("regions", find_regions, &t, 5, "Finding regions");
    close_strip(&t);
}

int main(void)
{
    long_calls_can_be_cancelled_and_called_again();
    means_and_pins_hold_exactly_while_the_rest_is_free();
    a_mean_pulls_with_no_more_than_it_may();
    a_bound_that_is_not_reached_is_none();
    a_hanging_strip_stretches_by_its_weight();
    threads_bear_what_they_are_said_to();
    a_limit_holds_what_is_too_soft();
    air_bears_what_falls_flat();
    wind_takes_along_and_no_faster();
    another_undeformed_shape_shapes_it();
    regions_are_connected_all_used_and_the_same_twice();
    pieces_that_touch_nothing_have_regions_of_their_own();
    return CHECK_RESULT();
}
