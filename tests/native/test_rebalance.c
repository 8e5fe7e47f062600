/* Balance after the simulation, and the Poisson solve below it. */
#include "scenes.h"

#include "base/parallel.h"
#include "dynamics/warp.h"
#include "dynamics/weights.h"
#include "math/mat3.h"
#include "method/enrich/rebalance.h"

/* A bar of cells of 0.1 m along x, each of its vertices a surface vertex of area 1, with two poses. */
typedef struct Bar {
    SnContext context;
    SnTetMesh cage;
    SnEmbedding embedding;
    double *areas, *follow, *weights, *fitted, *simulated, *result;
    size_t n; /* 3 x vertices */
    SnRebalance *rebalance;
} Bar;

static SnStatus bar_create(Bar *bar, const double *cage_follow, SnRebalance **rebalance)
{
    SnCagedBody body = {.cage = &bar->cage, .embedding = &bar->embedding, .areas = bar->areas};
    SnEnrichPaint paint = {.follow = bar->follow, .cage_follow = cage_follow};
    return sn_rebalance_create(&bar->context, &body, &paint, rebalance);
}

static void bar_init(Bar *bar, int cells, int held)
{
    memset(bar, 0, sizeof *bar);
    sn_context_init(&bar->context);
    bar->cage = scene_box(&bar->context, cells, 2, 2, 0.1);
    size_t count = bar->cage.vertex_count;
    bar->n = 3 * count;
    CHECK(sn_embedding_build(&bar->context, &bar->cage, count, bar->cage.positions, &bar->embedding) == SN_OK);
    bar->areas = SN_NEW(&bar->context, count, double);
    bar->follow = SN_NEW(&bar->context, count, double);
    bar->weights = SN_NEW(&bar->context, count, double);
    for (size_t v = 0; v < count; v++) {
        bar->areas[v] = 1.0;
        bar->follow[v] = held && bar->cage.positions[3 * v] == 0.0;
        bar->weights[v] = 1.0;
    }
    bar->fitted = scene_copy(&bar->context, bar->cage.positions, bar->n);
    bar->simulated = scene_copy(&bar->context, bar->cage.positions, bar->n);
    bar->result = SN_NEW(&bar->context, bar->n, double);
    CHECK(bar_create(bar, NULL, &bar->rebalance) == SN_OK);
}

static void bar_clear(Bar *bar)
{
    sn_rebalance_destroy(bar->rebalance);
    sn_embedding_clear(&bar->embedding);
    sn_tet_mesh_clear(&bar->cage);
    sn_release(bar->areas);
    sn_release(bar->follow);
    sn_release(bar->weights);
    sn_release(bar->fitted);
    sn_release(bar->simulated);
    sn_release(bar->result);
}

/* Bends the bar around z so that its end is turned by `angle`: the axis becomes an arc of the same length. */
static void bend(const Bar *bar, double angle, double *out)
{
    double length = bar->cage.positions[bar->n - 3];
    for (size_t v = 0; v < bar->n / 3; v++) {
        const double *x = bar->cage.positions + 3 * v;
        double at = angle * x[0] / length, radius = angle == 0.0 ? 0.0 : length / angle, across = x[1] - 0.1;
        out[3 * v] = angle == 0.0 ? x[0] : (radius - across) * sin(at);
        out[3 * v + 1] = angle == 0.0 ? x[1] : radius - (radius - across) * cos(at) + 0.1;
        out[3 * v + 2] = x[2];
    }
}

/* Turned around z by `angle`, then shifted along x. */
static void turn(const double *from, size_t n, double angle, double shift, double *out)
{
    for (size_t k = 0; k < n; k += 3) {
        double x = from[k], y = from[k + 1];
        out[k] = cos(angle) * x - sin(angle) * y + shift;
        out[k + 1] = sin(angle) * x + cos(angle) * y;
        out[k + 2] = from[k + 2];
    }
}

static void shake(uint64_t *random, size_t n, double size, double *positions)
{
    for (size_t k = 0; k < n; k++) {
        positions[k] += size * scene_signed(random);
    }
}

static double distance_between(const double *positions, size_t a, size_t b)
{
    double sum = 0.0;
    for (size_t k = 0; k < 3; k++) {
        sum += (positions[3 * a + k] - positions[3 * b + k]) * (positions[3 * a + k] - positions[3 * b + k]);
    }
    return sqrt(sum);
}

static void ends_are_the_simulated_and_the_fitted_cage_bit_for_bit(void)
{
    for (int held = 0; held < 2; held++) {
        Bar bar;
        uint64_t random = 1;
        bar_init(&bar, 6, held);
        bend(&bar, 0.3, bar.fitted);
        bend(&bar, 1.4, bar.simulated);
        shake(&random, bar.n, 0.04, bar.simulated);
        CHECK(sn_rebalance_frame(&bar.context, bar.rebalance, bar.fitted, bar.simulated, 0.0, bar.result) == SN_OK);
        CHECK(scene_same_bits(bar.result, bar.simulated, bar.n));
        CHECK(sn_rebalance_frame(&bar.context, bar.rebalance, bar.fitted, bar.simulated, 1.0, bar.result) == SN_OK);
        CHECK(scene_same_bits(bar.result, bar.fitted, bar.n));
        CHECK(sn_rebalance_frame(&bar.context, bar.rebalance, bar.fitted, bar.simulated, 0.5, bar.result) == SN_OK);
        CHECK(scene_distance(bar.result, bar.simulated, bar.n) > 0.05 && scene_distance(bar.result, bar.fitted, bar.n) > 0.05);

        /* painted weights of 1 everywhere are 1 inside too, and of 0 are 0 */
        CHECK(sn_rebalance_set_weights(&bar.context, bar.rebalance, bar.areas, bar.weights) == SN_OK);
        CHECK(sn_rebalance_frame(&bar.context, bar.rebalance, bar.fitted, bar.simulated, 1.0, bar.result) == SN_OK);
        CHECK(scene_same_bits(bar.result, bar.fitted, bar.n));
        memset(bar.weights, 0, bar.n / 3 * sizeof *bar.weights);
        CHECK(sn_rebalance_set_weights(&bar.context, bar.rebalance, bar.areas, bar.weights) == SN_OK);
        CHECK(sn_rebalance_frame(&bar.context, bar.rebalance, bar.fitted, bar.simulated, 1.0, bar.result) == SN_OK);
        CHECK(scene_same_bits(bar.result, bar.simulated, bar.n));
        bar_clear(&bar);
    }
}

/* Length of the arc through the middle of the bar's cross sections (vertices come in no simple order: found by rest position). */
static double arc_length(const Bar *bar, const double *positions, int cells)
{
    double length = 0.0;
    size_t before = 0;
    for (int i = 0; i <= cells; i++) {
        size_t here = 0;
        for (size_t v = 0; v < bar->n / 3; v++) {
            const double *x = bar->cage.positions + 3 * v;
            if (fabs(x[0] - 0.1 * i) < 1e-9 && fabs(x[1] - 0.1) < 1e-9 && fabs(x[2] - 0.1) < 1e-9) {
                here = v;
            }
        }
        length += i > 0 ? distance_between(positions, before, here) : 0.0;
        before = here;
    }
    return length;
}

static void half_of_a_bend_is_a_bend_of_half_the_angle_and_does_not_shrink(void)
{
    Bar bar;
    const int cells = 16;
    const double right_angle = 0.5 * SCENE_PI;
    bar_init(&bar, cells, 1);
    double *expected = SN_NEW(&bar.context, bar.n, double), *mixed = SN_NEW(&bar.context, bar.n, double);
    bend(&bar, right_angle, bar.simulated);
    bend(&bar, 0.5 * right_angle, expected);
    for (size_t k = 0; k < bar.n; k++) {
        mixed[k] = 0.5 * (bar.fitted[k] + bar.simulated[k]);
    }
    CHECK(sn_rebalance_frame(&bar.context, bar.rebalance, bar.fitted, bar.simulated, 0.5, bar.result) == SN_OK);
    CHECK(scene_distance(bar.result, expected, bar.n) < 0.01 * 1.6);
    CHECK(scene_distance(mixed, expected, bar.n) > 0.05 * 1.6); /* what a linear mixture would do */
    CHECK_NEAR(arc_length(&bar, bar.result, cells), 1.6, 0.003 * 1.6);
    CHECK(arc_length(&bar, mixed, cells) < 0.94 * 1.6);
    sn_release(expected);
    sn_release(mixed);
    bar_clear(&bar);
}

static void a_bend_past_half_a_turn_comes_back_the_way_it_went(void)
{
    Bar bar;
    bar_init(&bar, 24, 1);
    double *expected = SN_NEW(&bar.context, bar.n, double);
    bend(&bar, 1.5 * SCENE_PI, bar.simulated); /* beyond half a turn at its end: by itself the log would go the other way round */
    bend(&bar, 0.75 * SCENE_PI, expected);
    CHECK(sn_rebalance_frame(&bar.context, bar.rebalance, bar.fitted, bar.simulated, 0.5, bar.result) == SN_OK);
    CHECK(scene_distance(bar.result, expected, bar.n) < 0.03 * 2.4);
    sn_release(expected);
    bar_clear(&bar);
}

static void rigid_motions_of_both_cages_move_the_result_with_them(void)
{
    Bar bar;
    uint64_t random = 5;
    bar_init(&bar, 5, 1);
    double *fitted = SN_NEW(&bar.context, bar.n, double), *simulated = SN_NEW(&bar.context, bar.n, double);
    double *moved = SN_NEW(&bar.context, bar.n, double), *expected = SN_NEW(&bar.context, bar.n, double);
    bend(&bar, 0.8, bar.simulated);
    shake(&random, bar.n, 0.01, bar.simulated);
    CHECK(sn_rebalance_frame(&bar.context, bar.rebalance, bar.fitted, bar.simulated, 0.4, bar.result) == SN_OK);
    turn(bar.fitted, bar.n, 2.2, 3.0, fitted);
    turn(bar.simulated, bar.n, 2.2, 3.0, simulated);
    turn(bar.result, bar.n, 2.2, 3.0, expected);
    CHECK(sn_rebalance_frame(&bar.context, bar.rebalance, fitted, simulated, 0.4, moved) == SN_OK);
    CHECK(scene_distance(moved, expected, bar.n) < 1e-12);
    sn_release(fitted);
    sn_release(simulated);
    sn_release(moved);
    sn_release(expected);
    bar_clear(&bar);
}

static void a_turned_body_that_follows_nothing_turns_half_way_about_the_mean_centroid(void)
{
    Bar bar;
    bar_init(&bar, 4, 0);
    double *expected = SN_NEW(&bar.context, bar.n, double), shift[3] = {0};
    turn(bar.fitted, bar.n, 1.0, 5.0, bar.simulated);
    turn(bar.fitted, bar.n, 0.5, 0.0, expected);
    CHECK(sn_rebalance_frame(&bar.context, bar.rebalance, bar.fitted, bar.simulated, 0.5, bar.result) == SN_OK);
    /* the right shape, wherever it is ... */
    for (size_t k = 0; k < bar.n; k++) {
        shift[k % 3] += (bar.result[k] - expected[k]) / ((double)bar.n / 3.0);
    }
    for (size_t k = 0; k < bar.n; k++) {
        expected[k] += shift[k % 3];
    }
    CHECK(scene_distance(bar.result, expected, bar.n) < 1e-12);
    /* ... and its centroid, that of the box, half way between the two */
    double from[3] = {0.2, 0.1, 0.1}, to[3], centre[3] = {0};
    turn(from, 3, 1.0, 5.0, to);
    for (size_t k = 0; k < bar.n; k++) { /* the box is symmetric, so the mean of the vertices is its centroid */
        centre[k % 3] += bar.result[k] / ((double)bar.n / 3.0);
    }
    for (int a = 0; a < 3; a++) {
        CHECK_NEAR(centre[a], 0.5 * (from[a] + to[a]), 1e-12);
    }
    sn_release(expected);
    bar_clear(&bar);
}

static void what_is_followed_stays_and_what_is_painted_takes_the_place_of_the_input(void)
{
    Bar bar;
    uint64_t random = 3;
    bar_init(&bar, 8, 1);
    bend(&bar, 1.0, bar.simulated);
    shake(&random, bar.n, 0.01, bar.simulated);
    for (size_t v = 0; v < bar.n / 3; v++) {
        bar.weights[v] = bar.cage.positions[3 * v] > 0.45; /* the outer half */
        if (bar.cage.positions[3 * v] < 0.05) {
            memcpy(bar.simulated + 3 * v, bar.fitted + 3 * v, 3 * sizeof(double));
        }
    }
    CHECK(sn_rebalance_set_weights(&bar.context, bar.rebalance, bar.areas, bar.weights) == SN_OK);
    CHECK(sn_rebalance_frame(&bar.context, bar.rebalance, bar.fitted, bar.simulated, 1.0, bar.result) == SN_OK);
    double inner = 0.0, was = 0.0, far;
    int kept = 1;
    for (size_t e = 0; e < bar.cage.tet_count; e++) {
        const int32_t *tet = bar.cage.tets + 4 * e;
        for (int i = 1; i < 4; i++) {
            size_t a = (size_t)tet[0], b = (size_t)tet[i];
            double least = fmin(bar.cage.positions[3 * a], bar.cage.positions[3 * b]);
            double most = fmax(bar.cage.positions[3 * a], bar.cage.positions[3 * b]);
            double now = distance_between(bar.result, a, b);
            if (most < 0.25) {
                inner = fmax(inner, fabs(now - distance_between(bar.simulated, a, b)));
            } else if (least > 0.65) {
                was = fmax(was, fabs(distance_between(bar.simulated, a, b) - distance_between(bar.fitted, a, b)));
            }
        }
    }
    for (size_t v = 0; v < bar.n / 3; v++) {
        int held = bar.follow[v] > 0.0 || bar.cage.positions[3 * v] > 0.65;
        kept &= !held || scene_same_bits(bar.result + 3 * v, bar.fitted + 3 * v, 3);
    }
    far = scene_distance(bar.simulated, bar.fitted, bar.n);
    CHECK(kept);
    CHECK(far > 0.2 && was > 0.01);
    CHECK(inner < 0.03); /* the free half keeps its shape as far as its ends allow */
    bar_clear(&bar);
}

/* Up to where weights hold places nothing changes, and on to 1 a painted region moves steadily towards its place. */
static void a_slider_draws_a_painted_region_to_its_place_without_a_jump(void)
{
    Bar bar;
    bar_init(&bar, 8, 1);
    bend(&bar, 0.6, bar.simulated);
    for (size_t v = 0; v < bar.n / 3; v++) {
        bar.weights[v] = bar.cage.positions[3 * v] > 0.45;
    }
    CHECK(sn_rebalance_set_weights(&bar.context, bar.rebalance, bar.areas, bar.weights) == SN_OK);
    double before = INFINITY, largest = 0.0;
    for (int step = 0; step <= 50; step++) {
        CHECK(sn_rebalance_frame(&bar.context, bar.rebalance, bar.fitted, bar.simulated, 0.02 * step, bar.result) == SN_OK);
        double far = 0.0;
        for (size_t k = 0; k < bar.n; k++) {
            far = bar.cage.positions[3 * (k / 3)] > 0.65 ? fmax(far, fabs(bar.result[k] - bar.fitted[k])) : far;
        }
        CHECK(far <= before + 1e-9);
        largest = step > 0 ? fmax(largest, before - far) : 0.0;
        before = far;
    }
    CHECK(before == 0.0 && largest < 0.04);
    bar_clear(&bar);
}

static void flat_inverted_and_wild_tets_stay_finite_and_bounded(void)
{
    Bar bar;
    uint64_t random = 8;
    bar_init(&bar, 6, 1);
    for (int wild = 0; wild < 20; wild++) {
        memcpy(bar.fitted, bar.cage.positions, bar.n * sizeof *bar.fitted);
        memcpy(bar.simulated, bar.cage.positions, bar.n * sizeof *bar.simulated);
        shake(&random, bar.n, 0.1 * wild / 4.0, bar.fitted); /* up to many times the size of a tet */
        shake(&random, bar.n, 0.1 * wild / 4.0, bar.simulated);
        for (size_t v = 0; v < bar.n / 3; v++) {
            bar.fitted[3 * v + 2] = wild % 3 == 0 ? 0.05 : bar.fitted[3 * v + 2]; /* all of it flat */
        }
        for (int step = 1; step < 4; step++) {
            double largest = 0.0;
            CHECK(sn_rebalance_frame(&bar.context, bar.rebalance, bar.fitted, bar.simulated, 0.25 * step, bar.result) == SN_OK);
            for (size_t k = 0; k < bar.n; k++) {
                largest = fabs(bar.result[k]) <= largest ? largest : fabs(bar.result[k]);
            }
            CHECK(isfinite(largest) && largest < 10.0);
        }
    }
    bar_clear(&bar);
}

static void threads_change_no_bit(void)
{
    Bar bar;
    uint64_t random = 4;
    bar_init(&bar, 60, 1);
    double *other = SN_NEW(&bar.context, bar.n, double);
    bend(&bar, 2.0, bar.simulated);
    shake(&random, bar.n, 0.02, bar.simulated);
    CHECK(sn_rebalance_frame(&bar.context, bar.rebalance, bar.fitted, bar.simulated, 0.3, bar.result) == SN_OK);
    sn_parallel_set_thread_count(1);
    CHECK(sn_rebalance_frame(&bar.context, bar.rebalance, bar.fitted, bar.simulated, 0.3, other) == SN_OK);
    sn_parallel_set_thread_count(0);
    CHECK(scene_same_bits(bar.result, other, bar.n));
    sn_release(other);
    bar_clear(&bar);
}

static void every_failing_allocation_is_told_and_leaks_nothing(void)
{
    Bar bar;
    bar_init(&bar, 2, 1);
    SnStatus status = SN_OUT_OF_MEMORY;
    for (long n = 0; status != SN_OK && n < 1000; n++) {
        SnRebalance *rebalance = NULL;
        bar.context.allocations_until_failure = n;
        status = bar_create(&bar, NULL, &rebalance);
        CHECK(status == SN_OK || (status == SN_OUT_OF_MEMORY && rebalance == NULL && bar.context.message[0] != '\0'));
        sn_rebalance_destroy(rebalance);
    }
    CHECK(status == SN_OK);
    status = SN_OUT_OF_MEMORY;
    for (long n = 0; status != SN_OK && n < 1000; n++) {
        bar.context.allocations_until_failure = n;
        status = sn_rebalance_set_weights(&bar.context, bar.rebalance, bar.areas, bar.weights);
        CHECK(status == SN_OK || status == SN_OUT_OF_MEMORY);
    }
    CHECK(status == SN_OK);
    bar.context.allocations_until_failure = 0; /* a frame allocates nothing */
    CHECK(sn_rebalance_frame(&bar.context, bar.rebalance, bar.fitted, bar.simulated, 0.5, bar.result) == SN_OK);
    bar.context.allocations_until_failure = -1;
    bar_clear(&bar);
}

static void spread_weights_rise_evenly_between_the_ends_of_a_bar(void)
{
    Bar bar;
    bar_init(&bar, 10, 0);
    double *weights = SN_NEW(&bar.context, bar.n / 3, double), *known = SN_NEW(&bar.context, bar.n / 3, double), worst = 0.0;
    for (size_t v = 0; v < bar.n / 3; v++) {
        double x = bar.cage.positions[3 * v];
        known[v] = x < 0.05 || x > 0.95;
        weights[v] = x > 0.95 ? 0.8 : (x < 0.05 ? 0.2 : 7.0);
    }
    CHECK(sn_weights_spread(&bar.context, &bar.cage, known, weights) == SN_OK);
    for (size_t v = 0; v < bar.n / 3; v++) {
        worst = fmax(worst, fabs(weights[v] - 0.2 - 0.6 * bar.cage.positions[3 * v]));
    }
    CHECK_NEAR(worst, 0.0, 0.06); /* the graph of the tets is not quite even */
    worst = 0.0;
    memset(known, 0, bar.n / 3 * sizeof *known);
    CHECK(sn_weights_spread(&bar.context, &bar.cage, known, weights) == SN_OK); /* nothing is known: free */
    for (size_t v = 0; v < bar.n / 3; v++) {
        worst = fmax(worst, weights[v]);
    }
    CHECK(worst == 0.0);
    sn_release(weights);
    sn_release(known);
    bar_clear(&bar);
}

/* What is told of the cage's own vertices counts, but where the surface says that it follows; what is cancelled leaves all as it was. */
static void own_weights_count_but_where_the_surface_follows(void)
{
    Bar bar;
    bar_init(&bar, 10, 1);
    size_t count = bar.n / 3, told = 0;
    double *own = SN_NEW(&bar.context, count, double), *weights = SN_NEW(&bar.context, count, double), *given;
    for (size_t v = 0; v < count; v++) {
        double x = bar.cage.positions[3 * v];
        bar.follow[v] = x == 0.0 ? 1.0 : NAN;
        own[v] = x == 0.0 ? 0.1 : x > 0.95 ? 0.3 : NAN;
    }
    given = scene_copy(&bar.context, own, count);
    CHECK(sn_weights_over_cage(&bar.context, &bar.cage, &bar.embedding, bar.areas, bar.follow, own, weights) == SN_OK);
    bar.context.looks_until_cancelled = 0;
    CHECK(sn_weights_over_cage(&bar.context, &bar.cage, &bar.embedding, bar.areas, bar.follow, own, own) == SN_CANCELLED);
    CHECK(memcmp(own, given, count * sizeof *own) == 0);
    sn_context_init(&bar.context);
    CHECK(sn_weights_over_cage(&bar.context, &bar.cage, &bar.embedding, bar.areas, bar.follow, own, own) == SN_OK);
    CHECK(scene_same_bits(own, weights, count)); /* in place too */
    for (size_t v = 0; v < count; v++) {
        double x = bar.cage.positions[3 * v];
        CHECK(x == 0.0 ? weights[v] == 1.0 : x > 0.95 ? weights[v] == 0.3 : weights[v] > 0.3 && weights[v] < 1.0);
        told += x > 0.95;
    }
    CHECK(told > 0);
    sn_release(own);
    sn_release(given);
    sn_release(weights);
    bar_clear(&bar);
}

static void a_warp_finds_the_positions_that_its_gradients_came_from(void)
{
    Bar bar;
    uint64_t random = 9;
    bar_init(&bar, 5, 0);
    unsigned char *fixed = SN_NEW(&bar.context, bar.n / 3, unsigned char);
    double *missing = SN_NEW(&bar.context, 9 * bar.cage.tet_count, double);
    SnWarp *warp;
    fixed[7] = 1;
    CHECK(sn_warp_create(&bar.context, &bar.cage, fixed, &warp) == SN_OK);
    shake(&random, bar.n, 0.1, bar.simulated);
    memcpy(bar.simulated + 21, bar.fitted + 21, 3 * sizeof(double));
    const SnTetElements *elements = sn_warp_elements(warp);
    for (size_t e = 0; e < bar.cage.tet_count; e++) {
        double wished[9], now[9], inverse[9];
        for (size_t k = 0; k < 9; k++) {
            inverse[k] = elements->inverse_rest[k * elements->count + e];
        }
        sn_mat3_edges(bar.simulated, bar.cage.tets + 4 * e, wished);
        sn_mat3_edges(bar.fitted, bar.cage.tets + 4 * e, now);
        for (size_t k = 0; k < 9; k++) {
            wished[k] -= now[k];
        }
        sn_mat3_multiply(wished, inverse, missing + 9 * e);
    }
    CHECK(sn_warp_correct(&bar.context, warp, missing, bar.fitted) == SN_OK);
    CHECK(scene_distance(bar.fitted, bar.simulated, bar.n) < 1e-12);
    sn_warp_destroy(warp);
    sn_release(fixed);
    sn_release(missing);
    bar_clear(&bar);
}

/* A core that follows inside, as bones do, stays where it is although nothing of the surface follows. */
static void what_follows_inside_stays(void)
{
    Bar bar;
    SnRebalance *rebalance = NULL;
    bar_init(&bar, 10, 0);
    double *cage_follow = SN_NEW(&bar.context, bar.n / 3, double), moved = 0.0;
    for (size_t v = 0; v < bar.n / 3; v++) {
        cage_follow[v] = bar.cage.positions[3 * v] < 0.35 ? 1.0 : NAN;
    }
    CHECK(bar_create(&bar, cage_follow, &rebalance) == SN_OK);
    bend(&bar, 1.0, bar.simulated);
    for (size_t k = 0; k < bar.n; k++) {
        bar.simulated[k] = cage_follow[k / 3] == 1.0 ? bar.fitted[k] : bar.simulated[k];
    }
    CHECK(sn_rebalance_frame(&bar.context, rebalance, bar.fitted, bar.simulated, 0.5, bar.result) == SN_OK);
    for (size_t k = 0; k < bar.n; k++) {
        CHECK(cage_follow[k / 3] != 1.0 || bar.result[k] == bar.fitted[k]);
    }
    CHECK(sn_rebalance_frame(&bar.context, bar.rebalance, bar.fitted, bar.simulated, 0.5, bar.result) == SN_OK);
    for (size_t k = 0; k < bar.n; k++) { /* which nothing else makes it do */
        moved = cage_follow[k / 3] == 1.0 ? fmax(moved, fabs(bar.result[k] - bar.fitted[k])) : moved;
    }
    CHECK(moved > 1e-3);
    sn_rebalance_destroy(rebalance);
    sn_release(cage_follow);
    bar_clear(&bar);
}

int main(void)
{
    ends_are_the_simulated_and_the_fitted_cage_bit_for_bit();
    half_of_a_bend_is_a_bend_of_half_the_angle_and_does_not_shrink();
    a_bend_past_half_a_turn_comes_back_the_way_it_went();
    rigid_motions_of_both_cages_move_the_result_with_them();
    a_turned_body_that_follows_nothing_turns_half_way_about_the_mean_centroid();
    what_is_followed_stays_and_what_is_painted_takes_the_place_of_the_input();
    a_slider_draws_a_painted_region_to_its_place_without_a_jump();
    flat_inverted_and_wild_tets_stay_finite_and_bounded();
    threads_change_no_bit();
    every_failing_allocation_is_told_and_leaks_nothing();
    spread_weights_rise_evenly_between_the_ends_of_a_bar();
    own_weights_count_but_where_the_surface_follows();
    a_warp_finds_the_positions_that_its_gradients_came_from();
    what_follows_inside_stays();
    return CHECK_RESULT();
}
