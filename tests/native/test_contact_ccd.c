/* Continuous detection against roots of the volume that four points span, found without looking at distances. */
#include "contact.h"

#include "base/parallel.h"

#include <stdlib.h>

#define GAP 0.01
#define SWEEPS 6000

static void at_time(const double x[4][3], const double y[4][3], double time, double out[4][3])
{
    for (int i = 0; i < 12; i++) {
        out[i / 3][i % 3] = x[i / 3][i % 3] + time * (y[i / 3][i % 3] - x[i / 3][i % 3]);
    }
}

static double volume_at(const double x[4][3], const double y[4][3], double time)
{
    double p[4][3];
    at_time(x, y, time, p);
    return sn_volume_six(p[0], p[1], p[2], p[3]);
}

/* Whether two flat-lying sides overlap: by signs of areas, seen along the axis that leaves most of them. */
static double area(const double *a, const double *b, const double *c, int u, int v)
{
    return (b[u] - a[u]) * (c[v] - a[v]) - (b[v] - a[v]) * (c[u] - a[u]);
}

static int overlaps(int edges, const double p[4][3])
{
    int best = 0;
    double most = -1.0;
    for (int axis = 0; axis < 3; axis++) {
        int u = (axis + 1) % 3, v = (axis + 2) % 3;
        double size = edges ? fabs(area(p[0], p[1], p[2], u, v)) + fabs(area(p[0], p[1], p[3], u, v))
                            : fabs(area(p[1], p[2], p[3], u, v));
        if (size > most) {
            most = size;
            best = axis;
        }
    }
    int u = (best + 1) % 3, v = (best + 2) % 3;
    if (edges) {
        return area(p[0], p[1], p[2], u, v) * area(p[0], p[1], p[3], u, v) <= 0.0 &&
               area(p[2], p[3], p[0], u, v) * area(p[2], p[3], p[1], u, v) <= 0.0;
    }
    double a = area(p[1], p[2], p[0], u, v), b = area(p[2], p[3], p[0], u, v), c = area(p[3], p[1], p[0], u, v);
    return (a >= 0.0 && b >= 0.0 && c >= 0.0) || (a <= 0.0 && b <= 0.0 && c <= 0.0);
}

/* The first time at which they touch, or 2. */
static double first_touch(int edges, const double x[4][3], const double y[4][3])
{
    const int pieces = 600;
    double before = volume_at(x, y, 0.0);
    for (int i = 1; i <= pieces; i++) {
        double low = (i - 1.0) / pieces, high = (double)i / pieces, after = volume_at(x, y, high);
        if (before * after <= 0.0) {
            double p[4][3], sign = before;
            for (int k = 0; k < 60; k++) {
                double middle = 0.5 * (low + high);
                if (volume_at(x, y, middle) * sign > 0.0) {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            at_time(x, y, low, p);
            if (overlaps(edges, p)) {
                return low;
            }
        }
        before = after;
    }
    return SN_CCD_FREE;
}

static double distance_of(int edges, const double p[4][3])
{
    return sqrt(edges ? sn_nearest_edges(p).squared : sn_nearest_point_triangle(p).squared);
}

/* kind 0: anything; 1: a small start distance and large moves; 2: slides along; 3: far away and together; 4: turns about itself */
static void random_sweep(int kind, uint64_t *seed, double x[4][3], double y[4][3])
{
    double together[3] = {contact_signed(seed), contact_signed(seed), contact_signed(seed)};
    for (int i = 0; i < 4; i++) {
        for (int axis = 0; axis < 3; axis++) {
            x[i][axis] = contact_signed(seed) * (kind == 2 && axis == 2 ? 0.01 : 1.0);
            double move = contact_signed(seed) * (kind == 1 ? 3.0 : kind == 2 && axis == 2 ? 0.01 : 1.0);
            y[i][axis] = kind == 4 ? -x[i][axis] + 0.1 * move
                                   : x[i][axis] + move * (kind == 3 ? 0.05 : 1.0) + (kind == 3 ? 1000.0 * together[axis] : 0.0);
        }
    }
}

static void no_touch_is_missed_and_no_time_is_late(void)
{
    uint64_t seed = 11;
    size_t missed = 0, late = 0, touching = 0, unproved = 0, early = 0, capped = 0, hits = 0;
    long rounds = 0;
    for (int i = 0; i < SWEEPS; i++) {
        double x[4][3], y[4][3], p[4][3];
        int edges = i % 2, own;
        random_sweep(i / 2 % 5, &seed, x, y);
        double start = distance_of(edges, x), kept = fmin(0.1 * GAP, 0.9 * start);
        double truth = first_touch(edges, x, y), time = sn_ccd_pair(edges, x, y, GAP, &own);
        rounds += own;
        touching += truth < SN_CCD_FREE;
        missed += truth < SN_CCD_FREE && time >= SN_CCD_FREE;
        late += truth < SN_CCD_FREE && time > truth;
        for (int k = 0; k <= 200; k++) { /* what is proved holds */
            at_time(x, y, fmin(time, 1.0) * k / 200.0, p);
            unproved += distance_of(edges, p) < kept * (1.0 - 1e-9) - 1e-12;
        }
        if (time < SN_CCD_FREE) { /* and it stops only where it must */
            at_time(x, y, time, p);
            hits++;
            capped += own >= 64;
            early += own < 64 && distance_of(edges, p) > 1.011 * kept + 1e-12;
        }
    }
    printf("  %d sweeps, %zu touch, %zu hits, %.2f evaluations each, %zu at the cap\n", SWEEPS, touching, hits,
           (double)rounds / SWEEPS, capped);
    CHECK(missed == 0 && late == 0 && unproved == 0 && early == 0);
    CHECK(touching > 500 && hits < touching + touching / 5 && capped * 100 < hits);
    CHECK((double)rounds / SWEEPS < 4.0);
}

static void a_start_nearer_than_what_is_kept_may_part_but_not_come_nearer(void)
{
    double x[4][3] = {{0.2, 0.2, 1e-5}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, y[4][3];
    int rounds;
    memcpy(y, x, sizeof x);
    y[0][2] = 1.0;
    CHECK(sn_ccd_pair(0, x, y, GAP, &rounds) >= SN_CCD_FREE && rounds == 1);
    y[0][2] = -1.0;
    double time = sn_ccd_pair(0, x, y, GAP, NULL);
    CHECK(time > 0.0 && time < 0.11 * 1e-5);
    memcpy(y, x, sizeof x);
    y[0][0] = 0.6; /* slides */
    CHECK(sn_ccd_pair(0, x, y, GAP, &rounds) >= SN_CCD_FREE && rounds == 1);
    memcpy(y, x, sizeof x);
    CHECK(sn_ccd_pair(0, x, y, GAP, &rounds) >= SN_CCD_FREE && rounds == 1); /* nothing moves */
    x[0][2] = y[0][2] = 0.0;
    CHECK(sn_ccd_pair(0, x, y, GAP, NULL) <= 0.0); /* what touches is never free */
}

typedef struct Fall {
    Shape ball, plate;
    unsigned char *free_points;
    SnSurface surface;
    SnCandidates candidates;
    double *from, *to;
} Fall;

static void fall_make(SnContext *context, Fall *fall)
{
    static const double origin[3] = {-2, -2, 0}, u[3] = {1, 0, 0}, v[3] = {0, 1, 0};
    *fall = (Fall){.ball = contact_ball(context, 8, 1.0, 0.01, 0.02, 1.3), .plate = shape_plate(context, 20, 4.0, origin, u, v)};
    fall->free_points = SN_NEW(context, fall->ball.vertex_count, unsigned char);
    SnSurfacePart parts[2] = {contact_part(&fall->ball, fall->free_points, NULL), contact_part(&fall->plate, NULL, NULL)};
    SnCandidatesDef def = {.gap = GAP};
    CHECK(sn_surface_init(context, 2, parts, 0, &fall->surface) == SN_OK);
    fall->from = SN_NEW(context, 3 * fall->surface.point_count, double);
    fall->to = SN_NEW(context, 3 * fall->surface.point_count, double);
    memcpy(fall->from, fall->surface.rest, 3 * fall->surface.point_count * sizeof(double));
    memcpy(fall->to, fall->from, 3 * fall->surface.point_count * sizeof(double));
    for (size_t p = 0; p < fall->ball.vertex_count; p++) {
        fall->to[3 * p + 2] -= 20.0; /* right through */
    }
    CHECK(sn_candidates_init(context, &fall->surface, &def, &fall->candidates) == SN_OK);
}

static void fall_clear(Fall *fall)
{
    sn_candidates_clear(&fall->candidates);
    sn_surface_clear(&fall->surface);
    shape_clear(&fall->ball);
    shape_clear(&fall->plate);
    sn_release(fall->free_points);
    sn_release(fall->from);
    sn_release(fall->to);
}

static void a_ball_that_falls_through_a_plate_hits_it_in_time(SnContext *context)
{
    Fall fall;
    SnHits hits = {0}, again = {0};
    double lowest = INFINITY;
    size_t wrong = 0;
    fall_make(context, &fall);
    for (size_t p = 0; p < fall.ball.vertex_count; p++) {
        lowest = fmin(lowest, fall.from[3 * p + 2]);
    }
    CHECK(sn_candidates_find(context, &fall.candidates, fall.from, fall.to, NULL) == SN_OK);
    CHECK(sn_ccd_find(context, &fall.candidates, fall.from, fall.to, &hits) == SN_OK);
    CHECK_NEAR(hits.time, (lowest - 0.1 * GAP) / 20.0, 1e-5);
    CHECK(hits.count > fall.ball.vertex_count); /* every vertex comes through */
    for (size_t i = 0; i < hits.count; i++) {
        const SnHit *hit = hits.hits + i;
        double sum = hit->c[0] + hit->c[1] + hit->c[2] + hit->c[3];
        wrong += fabs(sum) > 1e-14 || fabs(sn_length(hit->n) - 1.0) > 1e-12 || !(hit->distance > 0.0);
        wrong += i > 0 && (hit->edges < hit[-1].edges || (hit->edges == hit[-1].edges && hit->pair <= hit[-1].pair));
        /* over the inside of the plate the way out is up, for whoever is first */
        const SnPair *pair = (hit->edges ? fall.candidates.edges.pairs : fall.candidates.point_triangles.pairs) + hit->pair;
        int ball_first = fall.surface.point_bodies[pair->points[0]] == 0;
        int inside = hit->c[1] < 0.0 && hit->c[2] < 0.0 && hit->c[3] < 0.0;
        wrong += !hit->edges && ball_first && (inside ? hit->n[2] < 1.0 - 1e-12 : hit->n[2] < 0.9);
    }
    CHECK(wrong == 0);
    for (int threads = 1; threads <= 4; threads *= 2) {
        sn_parallel_set_thread_count(threads);
        CHECK(sn_ccd_find(context, &fall.candidates, fall.from, fall.to, &again) == SN_OK);
        CHECK(again.count == hits.count && again.rounds == hits.rounds && memcmp(&again.time, &hits.time, sizeof again.time) == 0);
        CHECK(memcmp(again.hits, hits.hits, hits.count * sizeof(SnHit)) == 0);
    }
    sn_parallel_set_thread_count(0);
    for (size_t i = 0; i < hits.count; i++) { /* what is exempt, or wants no gap, is passed over */
        SnPair *pair = (hits.hits[i].edges ? fall.candidates.edges.pairs : fall.candidates.point_triangles.pairs) + hits.hits[i].pair;
        pair->exempt = i % 2 == 0;
        pair->gap = i % 2 == 1 ? 0.0 : pair->gap;
    }
    CHECK(sn_ccd_find(context, &fall.candidates, fall.from, fall.to, &again) == SN_OK && again.count == 0);
    CHECK(again.time >= SN_CCD_FREE);
    sn_hits_clear(&hits);
    sn_hits_clear(&again);
    fall_clear(&fall);
}

static void failing_allocations_and_cancelling_are_answered(void)
{
    SnContext context;
    int finished = 0;
    long n = 0;
    Fall fall;
    sn_context_init(&context);
    fall_make(&context, &fall);
    CHECK(sn_candidates_find(&context, &fall.candidates, fall.from, fall.to, NULL) == SN_OK);
    for (; !finished && n < 20; n++) {
        SnHits hits = {0};
        context.allocations_until_failure = n;
        SnStatus status = sn_ccd_find(&context, &fall.candidates, fall.from, fall.to, &hits);
        finished = status == SN_OK;
        CHECK(finished || (status == SN_OUT_OF_MEMORY && hits.count == 0));
        if (finished) { /* a second time it has all it needs */
            context.allocations_until_failure = 0;
            CHECK(sn_ccd_find(&context, &fall.candidates, fall.from, fall.to, &hits) == SN_OK);
        }
        sn_hits_clear(&hits);
    }
    CHECK(finished && n > 2);
    SnHits hits = {0};
    sn_context_init(&context);
    sn_context_cancel(&context);
    CHECK(sn_ccd_find(&context, &fall.candidates, fall.from, fall.to, &hits) == SN_CANCELLED);
    sn_hits_clear(&hits);
    fall_clear(&fall);
}

int main(void)
{
    SnContext context;
    sn_context_init(&context);
    no_touch_is_missed_and_no_time_is_late();
    a_start_nearer_than_what_is_kept_may_part_but_not_come_nearer();
    a_ball_that_falls_through_a_plate_hits_it_in_time(&context);
    failing_allocations_and_cancelling_are_answered();
    return CHECK_RESULT();
}
