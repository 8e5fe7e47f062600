/* Contact: what it costs where nothing is near, what a body of 20,000 tets costs that meets itself, and its parts on 41,000 triangles. */
#ifndef SN_BENCHMARK_TOUCH_H
#define SN_BENCHMARK_TOUCH_H

#include "arena.h"

#include "contact/intersections.h"

#include <stdlib.h>

/* A creature that swings, or that is let fall on a floor. */
static void touch_open(Arena *arena, int cells, double young, int contact_off, int falls)
{
    arena_init(arena);
    arena->gravity[2] = falls ? -9.81 : 0.0;
    arena->friction = 0.4;
    arena->contact_off = contact_off;
    arena->tolerance = 1e-6;
    arena->bodies[arena->body_count++] = scene_from(&arena->context, body_mesh(&arena->context, creature_has, cells), 0, young, &sn_density_neo_hookean);
    if (falls) {
        arena_floor(arena, 10, 4.0, 0.0);
    }
    arena_open(arena);
    if (!falls) {
        body_motion(arena->bodies, 1.0, &arena->state);
    }
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Nothing touches: contact on has the bits of contact off, and costs little. */
static void bench_nothing_near(SnContext *context)
{
    enum { STEPS = 40 };
    double seconds[2];
    double *end = NULL;
    for (int off = 1; off >= 0; off--) {
        Arena arena;
        touch_open(&arena, CREATURE_20K, 1e6, off, 0);
        size_t n = 3 * arena.world.vertex_count;
        CHECK(arena_step(&arena, 1.0 / 60.0)); /* the first one allocates */
        double start = now();
        for (int k = 0; k < STEPS; k++) {
            CHECK(arena_step(&arena, 1.0 / 60.0));
        }
        seconds[off] = now() - start;
        if (off) {
            end = scene_copy(context, arena.state.positions, n);
        } else {
            CHECK(memcmp(end, arena.state.positions, n * sizeof *end) == 0);
        }
        arena_clear(&arena);
    }
    row("contact_nothing_near", 1e3 * seconds[0] / STEPS, 1e3 * seconds[1] / STEPS, "ms a step");
    sn_release(end);
}

/* It comes down on its legs, which spread and bend; a frame is three steps. */
static void bench_self(void)
{
    enum { STEPS = 30 };
    Arena arena;
    double rounds[STEPS], ccds[STEPS], planes = 0.0, total = 0.0;
    touch_open(&arena, CREATURE_20K, 1e5, 0, 1);
    sn_world_damp(&arena.world, 0.0, 0.003);
    int touched = 0;
    for (int k = 0; k < STEPS; k++) {
        int before = arena.report.rounds;
        SnContactReport report = sn_contact_report(arena.contact);
        double start = now();
        CHECK(arena_step(&arena, 1.0 / 72.0));
        double seconds = now() - start;
        SnContactReport after = sn_contact_report(arena.contact);
        if (after.stages > report.stages) {
            double stages = (double)(after.stages - report.stages);
            total += seconds;
            rounds[touched] = (arena.report.rounds - before) / stages;
            ccds[touched++] = (double)(after.ccds - report.ccds) / stages;
            planes = fmax(planes, (double)after.planes);
        }
    }
    qsort(rounds, (size_t)touched, sizeof *rounds, compare_doubles);
    qsort(ccds, (size_t)touched, sizeof *ccds, compare_doubles);
    CHECK(touched > STEPS / 4);
    row("contact_self_20k", 3.0 * total / touched, 0.12, "s/frame");
    row("contact_self_20k_planes", planes, 0.0, "at most");
    row("contact_rounds", rounds[touched / 2], 12.0, "a stage");
    row("contact_rounds_worst", rounds[touched - 1], 30.0, "a stage");
    row("contact_ccds", ccds[touched / 2], 2.0, "a stage");
    row("contact_ccds_worst", ccds[touched - 1], 6.0, "a stage");
    arena_clear(&arena);
}

/* Two rough sheets of 20,000 triangles each, next to each other, one of which passes the other at a slant. */
static void bench_parts(SnContext *context)
{
    enum { N = 101 };
    const double origins[2][3] = {{0.0, 0.0, 0.0}, {0.003, 0.004, 0.012}}, u[3] = {1.0, 0.0, 0.0}, v[3] = {0.0, 1.0, 0.0};
    uint64_t random = 5;
    SnSurface surface;
    SnSurfacePart parts[2] = {{0}};
    Shape sheets[2];
    for (int s = 0; s < 2; s++) {
        sheets[s] = shape_plate(context, N, 1.0, origins[s], u, v);
        for (size_t k = 0; k < sheets[s].vertex_count; k++) {
            for (size_t a = 0; a < 3; a++) {
                sheets[s].positions[3 * k + a] += 0.002 * check_random(&random);
            }
        }
    }
    size_t points = sheets[0].vertex_count;
    int32_t *corners = SN_NEW(context, 4 * points, int32_t);
    double *weights = SN_NEW(context, 4 * points, double);
    unsigned char *kinematic = SN_NEW(context, points, unsigned char);
    for (size_t k = 0; k < 4 * points; k++) {
        corners[k] = (int32_t)(k / 4);
        weights[k] = k % 4 == 0;
    }
    parts[0] = (SnSurfacePart){.point_count = points, .triangle_count = sheets[0].triangle_count, .rest = sheets[0].positions,
                               .triangles = sheets[0].triangles, .corners = corners, .weights = weights, .kinematic = kinematic};
    parts[1] = (SnSurfacePart){.point_count = points, .triangle_count = sheets[1].triangle_count, .rest = sheets[1].positions,
                               .triangles = sheets[1].triangles};
    CHECK(sn_surface_init(context, 2, parts, points, &surface) == SN_OK);
    double *from = SN_NEW(context, 6 * points, double), *to = SN_NEW(context, 6 * points, double);
    for (size_t k = 0; k < 6 * points; k++) {
        from[k] = sheets[k >= 3 * points].positions[k % (3 * points)];
        to[k] = from[k] + (k < 3 * points ? (k % 3 == 2 ? 0.009 : 0.001) : 0.0);
    }
    SnCandidates candidates;
    SnCandidatesDef def = {.gap = 2e-4};
    SnHits hits = {0};
    SnCrossings crossings;
    double seconds;
    CHECK(sn_candidates_init(context, &surface, &def, &candidates) == SN_OK && sn_crossings_init(context, &surface, &crossings) == SN_OK);
    BEST(seconds, 5, (sn_candidates_forget(&candidates), CHECK(sn_candidates_find(context, &candidates, from, to, NULL) == SN_OK)));
    row("contact_broad_41k", 1e3 * seconds, 12.0, "ms");
    row("contact_candidates_41k", (double)(candidates.point_triangles.count + candidates.edges.count), 0.0, "pairs");
    BEST(seconds, 5, CHECK(sn_ccd_find(context, &candidates, from, to, &hits) == SN_OK));
    row("contact_ccd_41k", 1e3 * seconds, 4.0, "ms");
    BEST(seconds, 5, CHECK(sn_crossings_find(context, &crossings, to, 0) == SN_OK));
    row("contact_test_41k", 1e3 * seconds, 12.0, "ms");
    sn_crossings_clear(&crossings);
    sn_hits_clear(&hits);
    sn_candidates_clear(&candidates);
    sn_surface_clear(&surface);
    sn_release(from);
    sn_release(to);
    sn_release(corners);
    sn_release(weights);
    sn_release(kinematic);
    shape_clear(sheets);
    shape_clear(sheets + 1);
}

static void bench_contact(SnContext *context)
{
    bench_parts(context);
    bench_nothing_near(context);
    bench_self();
}

#endif
