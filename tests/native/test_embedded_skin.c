/* The surface of a cage as contact sees it: where it is, how it goes with the cage, and that it is what is exported. */
#include "scenes.h"

#include "dynamics/embedded_skin.h"

#define POINTS 80

/* A bar whose first end is held, with a bumpy surface in and a little outside of it, on the way between two frames. */
typedef struct Skinned {
    SnContext context;
    SnTetMesh cage;
    SnEmbedding embedding;
    SnEmbeddedSkin skin;
    SnSkin hung;
    size_t n;
    unsigned char *held;
    double *poses[4], *surfaces[4]; /* before, begin, end, after */
    double *pose, *positions, *points, *shown;
} Skinned;

static void skinned_init(Skinned *s, SnInterpolation interpolation)
{
    uint64_t random = 5;
    double rest[3 * POINTS];
    memset(s, 0, sizeof *s);
    sn_context_init(&s->context);
    s->cage = scene_box(&s->context, 6, 2, 2, 0.1);
    s->n = 3 * s->cage.vertex_count;
    for (size_t k = 0; k < 3 * POINTS; k++) {
        rest[k] = (k % 3 == 0 ? 0.6 : 0.2) * (1.1 * check_random(&random) - 0.05);
    }
    CHECK(sn_embedding_build(&s->context, &s->cage, POINTS, rest, &s->embedding) == SN_OK);
    CHECK(sn_embedded_skin_init(&s->context, &s->cage, &s->embedding, &s->skin) == SN_OK);
    s->held = SN_NEW(&s->context, s->cage.vertex_count, unsigned char);
    for (size_t v = 0; v < s->cage.vertex_count; v++) {
        s->held[v] = s->cage.positions[3 * v] < 0.15;
    }
    for (size_t f = 0; f < 4; f++) {
        s->poses[f] = SN_NEW(&s->context, s->n, double);
        s->surfaces[f] = SN_NEW(&s->context, 3 * POINTS, double);
        for (size_t k = 0; k < s->n; k++) {
            const double *x = s->cage.positions + k - k % 3;
            s->poses[f][k] = x[k % 3] + 0.003 * scene_signed(&random) + (k % 3 == 2 ? 0.3 * (double)f * x[0] * x[0] : 0.0);
        }
        sn_embedding_apply(&s->embedding, &s->cage, s->poses[f], s->surfaces[f]);
        for (size_t k = 0; k < 3 * POINTS; k++) {
            s->surfaces[f][k] += 0.01 * scene_signed(&random);
        }
    }
    s->pose = SN_NEW(&s->context, s->n, double);
    s->positions = SN_NEW(&s->context, s->n, double);
    s->points = SN_NEW(&s->context, 3 * POINTS, double);
    s->shown = SN_NEW(&s->context, 3 * POINTS, double);
    s->skin.surface = (SnInputCurve){POINTS, s->surfaces[0], s->surfaces[1], s->surfaces[2], s->surfaces[3], 1.0 / 24.0, NULL};
    s->skin.held = s->held;
    s->skin.interpolation = interpolation;
    s->hung = sn_embedded_skin(&s->skin, 0);
}

static void skinned_clear(Skinned *s)
{
    double *arrays[] = {s->pose, s->positions, s->points, s->shown};
    for (size_t f = 0; f < 4; f++) {
        sn_release(s->poses[f]);
        sn_release(s->surfaces[f]);
        sn_release(arrays[f]);
    }
    sn_release(s->held);
    sn_embedded_skin_clear(&s->skin);
    sn_embedding_clear(&s->embedding);
    sn_tet_mesh_clear(&s->cage);
}

/* The pose at a moment, and a cage that is bent away from it but where it is held. */
static void go_to(Skinned *s, double fraction, double bend)
{
    uint64_t random = 11;
    SnInputCurve curve = {s->cage.vertex_count, s->poses[0], s->poses[1], s->poses[2], s->poses[3], 1.0 / 24.0, NULL};
    sn_input_curve_evaluate(&curve, fraction, s->pose, NULL);
    for (size_t k = 0; k < s->n; k++) {
        double x = s->cage.positions[k - k % 3], off = bend * ((k % 3 == 1 ? x * x : 0.0) + 0.02 * scene_signed(&random));
        s->positions[k] = s->held[k / 3] ? s->pose[k] : s->pose[k] + off;
    }
}

/* At a frame the points are what is exported: frozen at it, and frozen somewhere else on the way to it, the input itself among that; and bent so
   far that gradients are clamped. */
static void points_are_what_is_exported(SnInterpolation how, double fraction, double frozen_bend, double bend)
{
    Skinned s;
    skinned_init(&s, how);
    int frame = fraction == 0.0 ? 1 : 2;
    go_to(&s, fraction, frozen_bend);
    s.hung.freeze(s.hung.self, fraction, s.pose, s.positions);
    go_to(&s, fraction, bend);
    s.hung.place(s.hung.self, s.positions, s.points);
    CHECK(sn_detail_apply(&s.context, &s.cage, &s.embedding, s.poses[frame], s.positions, s.surfaces[frame], how, s.shown) == SN_OK);
    CHECK(scene_distance(s.points, s.shown, 3 * POINTS) < 1e-14);
    CHECK(scene_distance(s.points, s.surfaces[frame], 3 * POINTS) > 0.05); /* they moved */
    skinned_clear(&s);
}

/* Rows are the derivatives of the points wherever the cage moves with one gradient: what they push is what moves. */
static void rows_are_derivatives(SnInterpolation how)
{
    Skinned s;
    uint64_t random = 9;
    skinned_init(&s, how);
    int32_t *vertices = SN_NEW(&s.context, SN_SKIN_ROW_MOST, int32_t);
    double *weights = SN_NEW(&s.context, SN_SKIN_ROW_MOST, double), *there = SN_NEW(&s.context, 3 * POINTS, double);
    double *moved = SN_NEW(&s.context, s.n, double), gradient[9], shift[3], largest = 0.0, sums = 0.0, extrapolated = 0.0;
    memset(s.held, 0, s.cage.vertex_count);
    go_to(&s, 0.6, 0.05);
    s.hung.freeze(s.hung.self, 0.6, s.pose, s.positions);
    s.hung.place(s.hung.self, s.positions, s.points);
    for (size_t k = 0; k < 9; k++) {
        gradient[k] = 0.3 * scene_signed(&random);
        shift[k % 3] = 0.1 * scene_signed(&random);
    }
    for (size_t k = 0; k < s.n; k++) {
        const double *x = s.pose + k - k % 3, *g = gradient + 3 * (k % 3);
        moved[k] = s.positions[k] + g[0] * x[0] + g[1] * x[1] + g[2] * x[2] + shift[k % 3];
    }
    s.hung.place(s.hung.self, moved, there);
    for (size_t p = 0; p < POINTS; p++) {
        size_t count = s.hung.row(s.hung.self, p, vertices, weights);
        double sum = 0.0;
        for (size_t a = 0; a < 3; a++) {
            double way = 0.0;
            for (size_t k = 0; k < count; k++) {
                size_t at = 3 * (size_t)vertices[k] + a;
                way += weights[k] * (moved[at] - s.positions[at]);
                sum += a == 0 ? weights[k] : 0.0;
                extrapolated = fmin(extrapolated, weights[k]);
            }
            largest = fmax(largest, fabs(way - (there[3 * p + a] - s.points[3 * p + a])));
        }
        sums = fmax(sums, fabs(sum - 1.0));
    }
    CHECK_NEAR(largest, 0.0, 1e-13);
    CHECK_NEAR(sums, 0.0, 1e-13);  /* a shift is a shift, so momentum is kept */
    CHECK(extrapolated < -0.01);   /* detail lies outside of its tet */
    sn_release(vertices);
    sn_release(weights);
    sn_release(there);
    sn_release(moved);
    skinned_clear(&s);
}

/* A straight move of the cage is a straight move of the points. */
static void straight_stays_straight(SnInterpolation how)
{
    Skinned s;
    skinned_init(&s, how);
    double *end = SN_NEW(&s.context, s.n, double), *middle = SN_NEW(&s.context, s.n, double);
    double *points = SN_NEW(&s.context, 3 * POINTS, double);
    go_to(&s, 0.4, 0.5);
    memcpy(end, s.positions, s.n * sizeof *end);
    go_to(&s, 0.4, -0.1);
    s.hung.freeze(s.hung.self, 0.4, s.pose, s.positions);
    s.hung.place(s.hung.self, s.positions, s.points);
    s.hung.place(s.hung.self, end, s.shown);
    CHECK(scene_distance(s.points, s.shown, 3 * POINTS) > 0.05);
    for (size_t k = 0; k < s.n; k++) {
        middle[k] = 0.7 * s.positions[k] + 0.3 * end[k];
    }
    s.hung.place(s.hung.self, middle, points);
    for (size_t k = 0; k < 3 * POINTS; k++) {
        CHECK_NEAR(points[k], 0.7 * s.points[k] + 0.3 * s.shown[k], 1e-14);
    }
    sn_release(end);
    sn_release(middle);
    sn_release(points);
    skinned_clear(&s);
}

int main(void)
{
    const SnInterpolation ways[2] = {SN_INTERPOLATION_LINEAR, SN_INTERPOLATION_PHONG};
    for (int k = 0; k < 2; k++) {
        points_are_what_is_exported(ways[k], 0.0, 0.3, 0.3);
        points_are_what_is_exported(ways[k], 1.0, 0.3, 0.3);
        points_are_what_is_exported(ways[k], 1.0, 0.0, 0.3);
        points_are_what_is_exported(ways[k], 1.0, 0.3, 8.0); /* clamped there, and not where it was frozen */
        points_are_what_is_exported(ways[k], 1.0, 8.0, 0.3);
        rows_are_derivatives(ways[k]);
        straight_stays_straight(ways[k]);
    }
    return CHECK_RESULT();
}
