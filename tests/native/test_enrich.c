/* The methods: fit, enrich and detail of a small ball. */
#include "scenes.h"
#include "shapes.h"

#include "dynamics/fit.h"
#include "mesh/cage.h"
#include "mesh/detail.h"
#include "method/enrich/enrich.h"

static const SnInterpolation LINEAR = SN_INTERPOLATION_LINEAR, PHONG = SN_INTERPOLATION_PHONG;

typedef struct Ball {
    SnContext context;
    Shape shape;
    SnTetMesh cage;
    SnEmbedding embedding;
    double *areas, *follow;
    size_t n, t; /* 3 x cage vertices, 3 x surface vertices */
} Ball;

/* A ball of 1 m. */
static void ball_init(Ball *b)
{
    const double centre[3] = {0.1, 0.2, 0.3};
    SnCageSettings settings = sn_cage_settings_default();
    settings.resolution = 6;
    sn_context_init(&b->context);
    b->shape = shape_sphere(&b->context, 10, 0.5, centre, 1.0);
    SnTriMesh mesh = shape_mesh(&b->shape);
    CHECK(sn_cage_build(&b->context, &mesh, &settings, &b->cage, &b->embedding) == SN_OK);
    b->areas = SN_NEW(&b->context, mesh.vertex_count, double);
    b->follow = SN_NEW(&b->context, mesh.vertex_count, double);
    CHECK(sn_tri_mesh_vertex_areas(&b->context, &mesh, b->areas) == SN_OK);
    b->n = 3 * b->cage.vertex_count;
    b->t = 3 * mesh.vertex_count;
}

static void ball_clear(Ball *b)
{
    shape_clear(&b->shape);
    sn_tet_mesh_clear(&b->cage);
    sn_embedding_clear(&b->embedding);
    sn_release(b->areas);
    sn_release(b->follow);
}

/* The cage or the surface, turned around z, moved, and with `bulge` deformed. The caller releases it. */
static double *posed(Ball *b, const double *from, size_t count, double turn, double shift, double bulge)
{
    double *pose = SN_NEW(&b->context, count, double);
    for (size_t v = 0; v < count / 3; v++) {
        double x = from[3 * v], y = from[3 * v + 1], z = from[3 * v + 2];
        x *= 1.0 + bulge * z;
        pose[3 * v] = cos(turn) * x - sin(turn) * y + shift;
        pose[3 * v + 1] = sin(turn) * x + cos(turn) * y;
        pose[3 * v + 2] = z * (1.0 - 0.3 * bulge);
    }
    return pose;
}

static SnFit *fit_new(Ball *b)
{
    SnFit *fit;
    SnFitSettings settings = sn_fit_settings_default();
    CHECK(sn_fit_create(&b->context, &b->cage, &b->embedding, b->areas, &settings, &fit) == SN_OK);
    return fit;
}

static void rigid_motion_is_fitted_exactly(void)
{
    Ball b;
    SnFitReport report;
    ball_init(&b);
    SnFit *fit = fit_new(&b);
    double *surface = posed(&b, b.shape.positions, b.t, 2.5, 100.0, 0.0);
    double *expected = posed(&b, b.cage.positions, b.n, 2.5, 100.0, 0.0);
    double *positions = scene_copy(&b.context, b.cage.positions, b.n);
    CHECK(sn_fit_frame(&b.context, fit, surface, 0, NULL, positions, &report) == SN_OK);
    CHECK(scene_distance(positions, expected, b.n) < 1e-9 && report.rms < 1e-9 && report.max < 1e-9 && report.inverted == 0);
    memcpy(positions, b.cage.positions, b.n * sizeof(double)); /* with a guess from far away too */
    CHECK(sn_fit_frame(&b.context, fit, surface, 1, NULL, positions, &report) == SN_OK);
    CHECK(scene_distance(positions, expected, b.n) < 1e-9);
    sn_release(surface);
    sn_release(expected);
    sn_release(positions);
    sn_fit_destroy(fit);
    sn_fit_destroy(NULL);
    ball_clear(&b);
}

static void bulge_is_fitted_closely_and_with_the_same_bits_each_time(void)
{
    Ball b;
    SnFitReport report, again;
    ball_init(&b);
    SnFit *fit = fit_new(&b), *other = fit_new(&b);
    double *surface = posed(&b, b.shape.positions, b.t, 1.0, 0.3, 0.5), *positions = SN_NEW(&b.context, b.n, double);
    CHECK(sn_fit_frame(&b.context, fit, surface, 0, NULL, positions, &report) == SN_OK);
    CHECK(report.rms < 0.003 && report.max < 0.02 && report.rms > 0.0 && report.rms <= report.max && report.inverted == 0);
    double *interpolated = SN_NEW(&b.context, b.t, double), *repeated = SN_NEW(&b.context, b.n, double);
    sn_embedding_apply(&b.embedding, &b.cage, positions, interpolated);
    CHECK(scene_distance(interpolated, surface, b.t) <= report.max + 1e-12); /* the report tells the truth */
    /* a used solver and a new one, the same frame after the same guess */
    CHECK(sn_fit_frame(&b.context, other, surface, 0, NULL, repeated, &again) == SN_OK);
    CHECK(scene_same_bits(positions, repeated, b.n));
    double *next = posed(&b, b.shape.positions, b.t, 1.1, 0.4, 0.6);
    CHECK(sn_fit_frame(&b.context, fit, surface, 1, NULL, positions, &report) == SN_OK);
    memcpy(positions, repeated, b.n * sizeof(double));
    CHECK(sn_fit_frame(&b.context, fit, next, 1, NULL, positions, &report) == SN_OK);
    CHECK(sn_fit_frame(&b.context, other, next, 1, NULL, repeated, &again) == SN_OK);
    CHECK(scene_same_bits(positions, repeated, b.n));
    CHECK(report.rms < 0.004);
    sn_release(surface);
    sn_release(next);
    sn_release(positions);
    sn_release(interpolated);
    sn_release(repeated);
    sn_fit_destroy(fit);
    sn_fit_destroy(other);
    ball_clear(&b);
}

/* Motion that goes on is fitted in fewer rounds, to the same cage; a frame that stands still after it is not missed. */
static void guess_goes_on_as_the_last_two_frames_did(void)
{
    Ball b;
    SnFitReport report[5];
    double *fits[5];
    ball_init(&b);
    SnFit *fit = fit_new(&b);
    static const double BULGES[5] = {0.0, 0.3, 0.6, 0.6, 0.0}; /* then the same with no frame before the last */
    for (int k = 0; k < 5; k++) {
        double *surface = posed(&b, b.shape.positions, b.t, 0.05 * (k < 4 ? k : 2), 0.1, BULGES[k < 4 ? k : 2]);
        const double *last = k == 4 ? fits[1] : k > 0 ? fits[k - 1] : b.cage.positions;
        fits[k] = scene_copy(&b.context, last, b.n);
        CHECK(sn_fit_frame(&b.context, fit, surface, k > 0, k == 2 || k == 3 ? fits[k - 2] : NULL, fits[k], report + k) == SN_OK);
        sn_release(surface);
    }
    CHECK(report[2].rounds < report[4].rounds);
    CHECK(scene_distance(fits[2], fits[4], b.n) < 1e-4);
    double *turned = posed(&b, fits[2], b.n, 0.05, 0.0, 0.0); /* about z, like the frame: the shift of 0.1 turns along */
    for (size_t v = 0; v < b.n / 3; v++) {
        turned[3 * v] += 0.1 - 0.1 * cos(0.05);
        turned[3 * v + 1] -= 0.1 * sin(0.05);
    }
    CHECK(scene_distance(fits[3], turned, b.n) < 1e-4);
    sn_release(turned);
    for (int k = 0; k < 5; k++) {
        sn_release(fits[k]);
    }
    sn_fit_destroy(fit);
    ball_clear(&b);
}

static void senseless_frames_neither_break_nor_hang_a_fit(void)
{
    Ball b;
    SnFitReport report;
    ball_init(&b);
    SnFit *fit = fit_new(&b);
    double *surface = scene_copy(&b.context, b.shape.positions, b.t), *positions = SN_NEW(&b.context, b.n, double);
    uint64_t random = 1;
    for (int trial = 0; trial < 4; trial++) {
        for (size_t k = 0; k < b.t; k++) { /* a point, a plane, a reflection, noise */
            double x = b.shape.positions[k];
            const double frame[4] = {1.0, k % 3 == 2 ? 0.0 : x, k % 3 == 0 ? -x : x, scene_signed(&random)};
            surface[k] = frame[trial];
        }
        CHECK(sn_fit_frame(&b.context, fit, surface, 1 - trial % 2, NULL, positions, &report) == SN_OK);
        CHECK(scene_distance(positions, b.shape.positions, 3) < 10.0 && isfinite(report.rms) && report.max < 3.0);
    }
    surface[7] = NAN;
    CHECK(sn_fit_frame(&b.context, fit, surface, 0, NULL, positions, &report) == SN_NUMERIC_FAILURE);
    CHECK(b.context.message[0] != '\0');
    CHECK(sn_fit_frame(&b.context, fit, b.shape.positions, 0, NULL, positions, &report) == SN_OK); /* and it lives on */
    CHECK(report.rms < 1e-6);
    sn_release(surface);
    sn_release(positions);
    sn_fit_destroy(fit);
    ball_clear(&b);
}

static void surface_without_weight_leaves_the_cage_at_rest(void)
{
    Ball b;
    SnFitReport report;
    ball_init(&b);
    memset(b.areas, 0, b.shape.vertex_count * sizeof *b.areas);
    SnFit *fit = fit_new(&b);
    double *surface = posed(&b, b.shape.positions, b.t, 1.0, 0.3, 0.5), *positions = SN_NEW(&b.context, b.n, double);
    CHECK(sn_fit_frame(&b.context, fit, surface, 0, NULL, positions, &report) == SN_OK);
    CHECK(scene_distance(positions, b.cage.positions, b.n) < 1e-9);
    sn_release(surface);
    sn_release(positions);
    sn_fit_destroy(fit);
    ball_clear(&b);
}

/* Advances one interval of a pose that turns and bulges. The caller clears the state and releases the end. */
static SnState one_frame(Ball *b, const SnEnrichSettings *settings, SnEnrichSummary *summary, double **end)
{
    SnEnrich *enrich;
    SnState state;
    SnStepReport report = {0};
    size_t repaired = 99;
    double *begin = posed(b, b->cage.positions, b->n, 0.0, 0.0, 0.0), *after = posed(b, b->cage.positions, b->n, 0.3, 0.5, 0.3);
    *end = posed(b, b->cage.positions, b->n, 0.1, 0.1, 0.1);
    SnEnrichPaint paint = {.follow = b->follow};
    SnCagedBody body = {.cage = &b->cage, .embedding = &b->embedding, .areas = b->areas};
    CHECK(sn_enrich_create(&b->context, &body, &paint, settings, &enrich) == SN_OK);
    CHECK(sn_state_init(&b->context, b->cage.vertex_count, &state) == SN_OK);
    memcpy(state.positions, begin, b->n * sizeof(double));
    SnInputCurve curve = {b->cage.vertex_count, NULL, begin, *end, after, settings->interval, NULL};
    sn_input_curve_evaluate(&curve, 0.0, NULL, state.velocities);
    CHECK(sn_enrich_advance(&b->context, enrich, &curve, &state, &report, &repaired) == SN_OK);
    CHECK(repaired == 0 && report.unconverged == 0);
    const double *weights = sn_enrich_cage_weights(enrich);
    const SnWorld *world = sn_enrich_world(enrich);
    int consistent = 1;
    for (size_t v = 0; v < b->cage.vertex_count; v++) {
        consistent &= weights[v] >= 0.0 && weights[v] <= 1.0 && (weights[v] == 1.0) == (world->fixed[v] != 0);
    }
    CHECK(consistent);
    *summary = sn_enrich_summary(enrich);
    sn_enrich_destroy(enrich);
    sn_release(begin);
    sn_release(after);
    return state;
}

static void everything_followed_is_the_input_to_the_bit(void)
{
    Ball b;
    SnEnrichSummary summary;
    double *end;
    SnEnrichSettings settings = sn_enrich_settings_default();
    ball_init(&b);
    for (size_t v = 0; v < b.shape.vertex_count; v++) {
        b.follow[v] = 1.0;
    }
    SnState state = one_frame(&b, &settings, &summary, &end);
    size_t inside = b.cage.vertex_count - summary.followed_vertices; /* vertices of tets without surface */
    CHECK(summary.followed_vertices > b.cage.vertex_count / 2);
    double *result = SN_NEW(&b.context, b.t, double), *input = posed(&b, b.shape.positions, b.t, 0.1, 0.1, 0.1);
    CHECK(sn_detail_apply(&b.context, &b.cage, &b.embedding, end, state.positions, input, LINEAR, result) == SN_OK);
    CHECK(scene_same_bits(result, input, b.t));
    CHECK(inside == 0 || scene_distance(state.positions, end, b.n) < 0.05);
    sn_state_clear(&state);
    sn_release(end);
    sn_release(result);
    sn_release(input);
    ball_clear(&b);
}

/* A cage whose every vertex is followed leaves nothing to simulate. */
static void cage_without_free_vertices_is_carried_along(void)
{
    Ball b;
    SnEnrichSummary summary;
    double *end;
    SnEnrichSettings settings = sn_enrich_settings_default();
    sn_context_init(&b.context);
    b.cage = scene_box(&b.context, 2, 1, 1, 0.5);
    b.shape = shape_new(&b.context, b.cage.vertex_count, 0);
    memcpy(b.shape.positions, b.cage.positions, 3 * b.cage.vertex_count * sizeof(double));
    b.n = b.t = 3 * b.cage.vertex_count;
    b.areas = SN_NEW(&b.context, b.cage.vertex_count, double);
    b.follow = SN_NEW(&b.context, b.cage.vertex_count, double);
    for (size_t v = 0; v < b.cage.vertex_count; v++) {
        b.areas[v] = b.follow[v] = 1.0;
    }
    CHECK(sn_embedding_build(&b.context, &b.cage, b.cage.vertex_count, b.cage.positions, &b.embedding) == SN_OK);
    SnState state = one_frame(&b, &settings, &summary, &end);
    CHECK(summary.followed_vertices == b.cage.vertex_count && summary.free_tets == 0 && summary.regions == 0);
    CHECK(scene_same_bits(state.positions, end, b.n));
    sn_state_clear(&state);
    sn_release(end);
    ball_clear(&b);
}

static void nothing_followed_still_swings(void)
{
    Ball b;
    SnEnrichSummary summary;
    double *end;
    SnEnrichSettings settings = sn_enrich_settings_default();
    ball_init(&b);
    SnState state = one_frame(&b, &settings, &summary, &end);
    CHECK(summary.followed_vertices == 0 && summary.regions == 1 && summary.free_tets == b.cage.tet_count);
    CHECK(isfinite(summary.young_max) && summary.young_min > 0.0 && summary.young_min <= summary.young_max);
    CHECK(summary.frequency == settings.jiggle && summary.substeps >= 1);
    double moved = scene_distance(state.positions, end, b.n);
    CHECK(moved > 1e-4 && moved < 0.5);
    sn_state_clear(&state);
    sn_release(end);
    ball_clear(&b);
}

static void half_followed_is_exact_there_and_free_elsewhere(void)
{
    for (int scheme = 0; scheme < 2; scheme++) {
        Ball b;
        SnEnrichSummary summary;
        double *end;
        SnEnrichSettings settings = sn_enrich_settings_default();
        settings.scheme = scheme ? SN_SCHEME_IMPLICIT_EULER : SN_SCHEME_TR_BDF2;
        settings.newton_rounds = scheme;
        ball_init(&b);
        for (size_t v = 0; v < b.shape.vertex_count; v++) {
            double z = b.shape.positions[3 * v + 2];
            b.follow[v] = z < 0.2 ? 1.0 : z < 0.4 ? 0.5 : 0.0;
        }
        SnState state = one_frame(&b, &settings, &summary, &end);
        CHECK(summary.followed_vertices > 0 && summary.free_tets > 0 && summary.free_tets <= b.cage.tet_count);
        double *result = SN_NEW(&b.context, b.t, double), *input = posed(&b, b.shape.positions, b.t, 0.1, 0.1, 0.1);
        CHECK(sn_detail_apply(&b.context, &b.cage, &b.embedding, end, state.positions, input, scheme ? PHONG : LINEAR, result) ==
              SN_OK);
        int exact = 1;
        double furthest = 0.0;
        for (size_t k = 0; k < b.t; k++) {
            exact &= b.follow[k / 3] < 1.0 || result[k] == input[k];
            furthest = fmax(furthest, fabs(result[k] - input[k]));
        }
        CHECK(exact);
        CHECK(furthest > 1e-3 && furthest < 0.3);
        sn_state_clear(&state);
        sn_release(end);
        sn_release(result);
        sn_release(input);
        ball_clear(&b);
    }
}

static void young_given_by_hand_is_used(void)
{
    Ball b;
    SnEnrich *enrich;
    SnEnrichSettings settings = sn_enrich_settings_default();
    ball_init(&b);
    settings.young = 12345.0;
    settings.damping_mass = 0.5;
    settings.damping_stiffness = 0.01;
    settings.substeps = 7;
    SnEnrichPaint paint = {.follow = b.follow};
    SnCagedBody body = {.cage = &b.cage, .embedding = &b.embedding, .areas = b.areas};
    CHECK(sn_enrich_create(&b.context, &body, &paint, &settings, &enrich) == SN_OK);
    SnEnrichSummary summary = sn_enrich_summary(enrich);
    CHECK(summary.young_min == 12345.0 && summary.young_max == 12345.0 && summary.substeps == 7);
    CHECK(sn_enrich_world(enrich)->drag[0] == 0.5 && sn_enrich_world(enrich)->damping[0] == 0.01);
    CHECK(summary.frequency > 0.5 && summary.frequency < 20.0); /* about sqrt(E / rho) / size */
    sn_enrich_destroy(enrich);
    sn_enrich_destroy(NULL);
    ball_clear(&b);
}

static void detail_is_the_identity_where_nothing_was_added(SnInterpolation how)
{
    Ball b;
    uint64_t random = 1;
    ball_init(&b);
    double *fitted = SN_NEW(&b.context, b.n, double), *input = SN_NEW(&b.context, b.t, double);
    double *result = SN_NEW(&b.context, b.t, double);
    for (int trial = 0; trial < 3; trial++) { /* a bad fit, a flat one, one that is a point */
        for (size_t k = 0; k < b.n; k++) {
            fitted[k] = trial == 0 ? scene_signed(&random) : trial == 1 && k % 3 ? b.cage.positions[k] : 0.0;
        }
        for (size_t k = 0; k < b.t; k++) {
            input[k] = 100.0 * scene_signed(&random);
        }
        CHECK(sn_detail_apply(&b.context, &b.cage, &b.embedding, fitted, fitted, input, how, result) == SN_OK);
        CHECK(scene_same_bits(result, input, b.t));
    }
    sn_release(fitted);
    sn_release(input);
    sn_release(result);
    ball_clear(&b);
}

static void detail_turns_with_the_cage_and_is_left_out_on_demand(SnInterpolation how)
{
    Ball b;
    ball_init(&b);
    double *fitted = posed(&b, b.cage.positions, b.n, 0.0, 0.0, 0.0), *turned = posed(&b, b.cage.positions, b.n, 1.2, 2.0, 0.0);
    double *input = scene_copy(&b.context, b.shape.positions, b.t), *result = SN_NEW(&b.context, b.t, double);
    for (size_t k = 0; k < b.t; k++) {
        input[k] += 0.05 * sin((double)k); /* what the cage cannot carry */
    }
    double *expected = posed(&b, input, b.t, 1.2, 2.0, 0.0);
    CHECK(sn_detail_apply(&b.context, &b.cage, &b.embedding, fitted, turned, input, how, result) == SN_OK);
    CHECK(scene_distance(result, expected, b.t) < 1e-12);
    CHECK(sn_detail_apply(&b.context, &b.cage, &b.embedding, fitted, turned, NULL, how, result) == SN_OK);
    sn_embedding_apply(&b.embedding, &b.cage, turned, expected);
    CHECK(scene_distance(result, expected, b.t) < 1e-12);
    sn_release(fitted);
    sn_release(turned);
    sn_release(input);
    sn_release(expected);
    sn_release(result);
    ball_clear(&b);
}

static void detail_stays_bounded_on_flat_fits(SnInterpolation how)
{
    Ball b;
    uint64_t random = 2;
    ball_init(&b);
    double *fitted = scene_copy(&b.context, b.cage.positions, b.n), *simulated = scene_copy(&b.context, b.cage.positions, b.n);
    double *result = SN_NEW(&b.context, b.t, double);
    for (int flat = 0; flat < 2; flat++) { /* half of the cage, then all of it */
        for (size_t k = 2; k < b.n; k += 3) {
            fitted[k] = flat || fitted[k] > 0.3 ? 0.3 : fitted[k];
        }
        for (size_t k = 0; k < b.n; k++) {
            simulated[k] = fitted[k] + 0.05 * scene_signed(&random);
        }
        CHECK(sn_detail_apply(&b.context, &b.cage, &b.embedding, fitted, simulated, b.shape.positions, how, result) == SN_OK);
        CHECK(scene_distance(result, b.shape.positions, b.t) < 4.0);
    }
    sn_release(fitted);
    sn_release(simulated);
    sn_release(result);
    ball_clear(&b);
}

/* A block bent quadratically: vertices inside are where the field has them, not on the flat of a tet. */
static void phong_is_right_for_quadratic_motion(void)
{
    SnContext context;
    SnEmbedding embedding = {0};
    enum { POINTS = 200 };
    double points[3 * POINTS], input[3 * POINTS], result[3 * POINTS], error[2] = {0};
    uint64_t random = 5;
    sn_context_init(&context);
    SnTetMesh cage = scene_box(&context, 5, 5, 5, 0.2);
    for (size_t k = 0; k < 3 * POINTS; k++) { /* in the inner cells, whose vertices know their neighbours on all sides */
        points[k] = 0.4 + 0.2 * check_random(&random);
    }
    CHECK(sn_embedding_build(&context, &cage, POINTS, points, &embedding) == SN_OK);
    double *bent = scene_copy(&context, cage.positions, 3 * cage.vertex_count);
    for (size_t v = 0; v < cage.vertex_count; v++) {
        const double *x = cage.positions + 3 * v;
        bent[3 * v + 2] += 0.3 * x[0] * x[0] - 0.2 * x[0] * x[1];
    }
    memcpy(input, points, sizeof input);
    for (int how = 0; how < 2; how++) {
        CHECK(sn_detail_apply(&context, &cage, &embedding, cage.positions, bent, input, how ? PHONG : LINEAR, result) == SN_OK);
        for (size_t k = 0; k < POINTS; k++) {
            const double *x = points + 3 * k;
            double expected = x[2] + 0.3 * x[0] * x[0] - 0.2 * x[0] * x[1];
            error[how] = fmax(error[how], fabs(result[3 * k + 2] - expected));
        }
    }
    printf("  quadratic motion: linear off by %.2g, Phong by %.2g\n", error[0], error[1]);
    CHECK(error[0] > 1e-3 && error[1] < 1e-12);
    sn_release(bent);
    sn_embedding_clear(&embedding);
    sn_tet_mesh_clear(&cage);
}

int main(void)
{
    rigid_motion_is_fitted_exactly();
    bulge_is_fitted_closely_and_with_the_same_bits_each_time();
    guess_goes_on_as_the_last_two_frames_did();
    senseless_frames_neither_break_nor_hang_a_fit();
    surface_without_weight_leaves_the_cage_at_rest();
    everything_followed_is_the_input_to_the_bit();
    cage_without_free_vertices_is_carried_along();
    nothing_followed_still_swings();
    half_followed_is_exact_there_and_free_elsewhere();
    young_given_by_hand_is_used();
    detail_is_the_identity_where_nothing_was_added(LINEAR);
    detail_is_the_identity_where_nothing_was_added(PHONG);
    detail_turns_with_the_cage_and_is_left_out_on_demand(LINEAR);
    detail_turns_with_the_cage_and_is_left_out_on_demand(PHONG);
    detail_stays_bounded_on_flat_fits(LINEAR);
    detail_stays_bounded_on_flat_fits(PHONG);
    phong_is_right_for_quadratic_motion();
    return CHECK_RESULT();
}
