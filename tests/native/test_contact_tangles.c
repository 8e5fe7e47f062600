/* What is tangled from the start: found, let be, led out, and held again when it is apart (methods, A10). */
#include "arena.h"
#include "contact.h"

#include "base/parallel.h"
#include "contact/cures.h"

#include <stdlib.h>

static const double NOWHERE[3] = {0.0, 0.0, 0.0};
static const int CUBE[3] = {3, 3, 3};

static size_t count_crossings(Arena *arena)
{
    SnCrossings crossings;
    CHECK(sn_crossings_init(&arena->context, &arena->surface, &crossings) == SN_OK);
    CHECK(sn_crossings_find(&arena->context, &crossings, sn_contact_points(arena->contact), 0) == SN_OK);
    size_t count = crossings.count;
    sn_crossings_clear(&crossings);
    return count;
}

/* Those of one body with others. */
static size_t count_crossings_of(Arena *arena, int32_t body)
{
    SnCrossings crossings;
    size_t count = 0;
    CHECK(sn_crossings_init(&arena->context, &arena->surface, &crossings) == SN_OK);
    CHECK(sn_crossings_find(&arena->context, &crossings, sn_contact_points(arena->contact), 0) == SN_OK);
    for (size_t i = 0; i < crossings.count; i++) {
        count += arena->surface.point_bodies[arena->surface.edges[2 * (size_t)crossings.crossings[i].edge]] == body ||
                 arena->surface.point_bodies[arena->surface.triangles[3 * (size_t)crossings.crossings[i].triangle]] == body;
    }
    sn_crossings_clear(&crossings);
    return count;
}

static void show(Arena *arena, int step)
{
    if (getenv("SHOW") != NULL) {
        const SnTangles *tangles = sn_contact_tangles(arena->contact);
        SnContactReport r = sn_contact_report(arena->contact);
        printf("%3d crossings %zu tangles %zu regions %zu lingering %zu cures %zu planes %zu rounds %ld ccds %ld partial %ld pinched %ld |", step,
               count_crossings(arena), tangles->now.tangle_count, tangles->now.count, tangles->lingering_count, tangles->cure_count,
               r.planes, r.rounds, r.ccds, r.partial_steps, r.pinched);
        for (size_t b = 0; b < arena->body_count && b < 3; b++) {
            double x[3], v[3];
            arena_mean(arena, b, arena->state.positions, x);
            arena_mean(arena, b, arena->state.velocities, v);
            printf(" %.4f %.4f %.4f, %.3f %.3f %.3f;", x[0], x[1], x[2], v[0], v[1], v[2]);
        }
        printf("\n");
    }
}

/* Regions */

/* Surfaces without a world: what is found in them. */
typedef struct Heap {
    Shape shapes[2];
    size_t count;
    unsigned char *free_points;
    SnSurface surface;
    SnCandidates candidates;
    SnTangles tangles;
} Heap;

static void heap_make(SnContext *context, size_t count, Shape first, Shape second, Heap *heap)
{
    *heap = (Heap){.shapes = {first, second}, .count = count};
    heap->free_points = SN_NEW(context, first.vertex_count + second.vertex_count, unsigned char);
    SnSurfacePart parts[2] = {contact_part(heap->shapes, heap->free_points, NULL), contact_part(heap->shapes + 1, heap->free_points, NULL)};
    CHECK(sn_surface_init(context, count, parts, 0, &heap->surface) == SN_OK);
    SnCandidatesDef def = {.gap = 1e-3};
    CHECK(sn_candidates_init(context, &heap->surface, &def, &heap->candidates) == SN_OK);
    CHECK(sn_tangles_init(context, &heap->surface, &heap->tangles) == SN_OK);
}

static void heap_clear(Heap *heap)
{
    sn_tangles_clear(&heap->tangles);
    sn_candidates_clear(&heap->candidates);
    sn_surface_clear(&heap->surface);
    shape_clear(heap->shapes);
    shape_clear(heap->shapes + 1);
    sn_release(heap->free_points);
}

/* How a point is marked: 0 in no region, 1 on the rim, 2 cut off. */
static int mark_of(const SnTangles *tangles, size_t point)
{
    int mark = 0;
    for (int32_t i = tangles->now.starts[point]; i < tangles->now.starts[point + 1]; i++) {
        int own = 1 + (tangles->now.points[i].mark & 1);
        mark = own > mark ? own : mark;
    }
    return mark;
}

/* Whether a point is inside a body: the solid angles of its triangles (van Oosterom, Strackee 1983). */
static int is_inside(const SnSurface *surface, const SnSurfaceBody *body, const double *point)
{
    double sum = 0.0;
    for (size_t t = body->first_triangle; t < body->first_triangle + body->triangle_count; t++) {
        double x[3][3], length[3], n[3];
        for (size_t k = 0; k < 3; k++) {
            sn_subtract(surface->rest + 3 * (size_t)surface->triangles[3 * t + k], point, x[k]);
            length[k] = sn_length(x[k]);
        }
        sn_cross3(x[1], x[2], n);
        sum += atan2(sn_dot3(x[0], n), length[0] * length[1] * length[2] + sn_dot3(x[0], x[1]) * length[2] +
                                           sn_dot3(x[1], x[2]) * length[0] + sn_dot3(x[2], x[0]) * length[1]);
    }
    return sum > SCENE_PI;
}

/* Two balls: cut off is what lies inside the other one, however much of it that is, and every pair that crosses is exempt. */
static void of_closed_bodies_is_cut_off_what_is_inside(SnContext *context)
{
    const double distances[4] = {1.55, 1.2, 0.8, 0.5};
    for (int k = 0; k < 4; k++) {
        Heap heap;
        heap_make(context, 2, contact_ball(context, 7, 1.0, 0.0, 0.0, 0.0), contact_ball(context, 5, 0.6, distances[k], 0.03, 0.02), &heap);
        const SnSurface *surface = &heap.surface;
        CHECK(sn_tangles_find(context, &heap.tangles, &heap.candidates, surface->rest, NULL) == SN_OK);
        size_t wrong = 0, inside = 0, small = 0, exempt = 0;
        for (size_t p = 0; p < surface->point_count; p++) {
            const SnSurfaceBody *other = surface->bodies + 1 - surface->point_bodies[p];
            int truth = is_inside(surface, other, surface->rest + 3 * p);
            wrong += truth != (mark_of(&heap.tangles, p) == 2);
            inside += (size_t)truth;
            small += truth && surface->point_bodies[p] == 1;
        }
        CHECK(wrong == 0 && inside > 0 && heap.tangles.now.tangle_count == 1);
        CHECK((k == 3) == (small > heap.shapes[1].vertex_count / 2)); /* and be it the larger side */
        for (size_t i = 0; i < heap.candidates.point_triangles.count; i++) {
            const SnPair *pair = heap.candidates.point_triangles.pairs + i;
            int joined = surface->point_bodies[pair->points[0]] != surface->point_bodies[pair->points[1]];
            exempt += (size_t)pair->exempt;
            wrong += pair->exempt && !joined;
            wrong += joined && mark_of(&heap.tangles, (size_t)pair->points[0]) == 2 && mark_of(&heap.tangles, (size_t)pair->points[1]) == 2 &&
                     !pair->exempt;
        }
        CHECK(wrong == 0 && exempt > 0);
        heap_clear(&heap);
    }
}

/* The way out of a ball leads to the nearest place of its surface. */
static void cures_lead_out_by_the_nearest_triangle(SnContext *context)
{
    Heap heap;
    heap_make(context, 2, contact_ball(context, 6, 1.0, 0.0, 0.0, 0.0), contact_ball(context, 6, 1.0, 1.8, 0.03, 0.02), &heap);
    const SnSurface *surface = &heap.surface;
    SnTouches touches = {0};
    CHECK(sn_tangles_find(context, &heap.tangles, &heap.candidates, surface->rest, NULL) == SN_OK);
    CHECK(sn_tangles_add_cures(context, &heap.tangles, &heap.candidates, surface->rest, NULL, &touches) == SN_OK);
    CHECK(touches.count == heap.tangles.cure_count && touches.count > 4);
    for (size_t k = 0; k < touches.count; k++) {
        const SnTouch *touch = touches.touches + k;
        const SnSurfaceBody *other = surface->bodies + surface->point_bodies[touch->points[1]];
        double nearest = INFINITY, sum = 0.0;
        for (size_t t = other->first_triangle; t < other->first_triangle + other->triangle_count; t++) {
            const int32_t *c = surface->triangles + 3 * t;
            nearest = fmin(nearest, sn_triangle_distance_squared(surface->rest + 3 * (size_t)touch->points[0], surface->rest + 3 * (size_t)c[0],
                                                                 surface->rest + 3 * (size_t)c[1], surface->rest + 3 * (size_t)c[2]));
        }
        for (int i = 0; i < 4; i++) {
            sum += touch->c[i];
        }
        CHECK_NEAR(touch->distance, -sqrt(nearest), 1e-12);
        CHECK(fabs(sum) < 1e-14 && touch->is_wish && touch->pair < 0 && touch->gap == 1e-3);
        CHECK((touch->n[0] > 0.0) == (surface->point_bodies[touch->points[1]] == 0)); /* out of the other ball */
    }
    sn_touches_clear(&touches);
    heap_clear(&heap);
}

/* Sheets: a contour from border to border cuts off the smaller side, one that ends in the middle nothing. */
static void of_sheets_is_cut_off_the_smaller_side(SnContext *context)
{
    const double x[3] = {1.0, 0.0, 0.0}, y[3] = {0.0, 1.0, 0.0}, z[3] = {0.0, 0.0, 1.0};
    const double low[3] = {-1.01, -0.97, 0.013}, across[3] = {0.43, -1.7, -1.2}, short_of[3] = {0.43, 0.11, -1.2};
    for (int ends = 0; ends < 2; ends++) {
        Heap heap;
        heap_make(context, 2, shape_plate(context, 10, 2.0, low, x, y),
                  ends ? shape_plate(context, 12, 2.4, short_of, y, z) : shape_plate(context, 14, 3.5, across, y, z), &heap);
        const SnSurface *surface = &heap.surface;
        CHECK(sn_tangles_find(context, &heap.tangles, &heap.candidates, surface->rest, NULL) == SN_OK);
        size_t wrong = 0, cut = 0, rim = 0;
        for (size_t p = 0; p < heap.shapes[0].vertex_count; p++) {
            const double *at = surface->rest + 3 * p;
            int mark = mark_of(&heap.tangles, p);
            cut += mark == 2;
            rim += mark == 1;
            wrong += ends ? mark == 2 : (mark == 2) != (at[0] > 0.43);
            wrong += mark == 1 && fabs(at[0] - 0.43) > 0.2 * (ends ? 3.0 : 1.01); /* triangles of the contour, and two rings */
        }
        CHECK(wrong == 0 && rim > 0 && (cut > 0) == !ends && heap.tangles.now.tangle_count == 1);
        CHECK((heap.tangles.cure_count > 0) == !ends);
        heap_clear(&heap);
    }
}

/* A point that went through the middle of a triangle: no vertex of the other side is cut off, but the pair is exempt. */
static void a_spike_through_one_triangle_is_exempt(SnContext *context)
{
    Heap heap;
    Shape spike = shape_new(context, 4, 4);
    const double points[12] = {0.1, 0.1, -0.2, 0.05, 0.0, 1.0, 0.2, 0.05, 1.0, 0.1, 0.25, 1.0};
    const int32_t triangles[12] = {0, 2, 1, 0, 3, 2, 0, 1, 3, 1, 2, 3};
    const double origin[3] = {-1.0, -0.7, 0.0}, x[3] = {1.0, 0.0, 0.0}, y[3] = {0.0, 1.0, 0.0};
    memcpy(spike.positions, points, sizeof points);
    memcpy(spike.triangles, triangles, sizeof triangles);
    heap_make(context, 2, spike, shape_plate(context, 1, 2.0, origin, x, y), &heap);
    CHECK(sn_tangles_find(context, &heap.tangles, &heap.candidates, heap.surface.rest, NULL) == SN_OK);
    size_t held = 0;
    CHECK(heap.tangles.now.crossing_count == 3 && mark_of(&heap.tangles, 0) == 2 && mark_of(&heap.tangles, 1) == 1);
    for (size_t i = 0; i < heap.candidates.point_triangles.count; i++) {
        const SnPair *pair = heap.candidates.point_triangles.pairs + i;
        held += pair->points[0] == 0 && !pair->exempt;
    }
    CHECK(held == 0);
    heap_clear(&heap);
}

/* A bar that is bent by more than a full turn, its ends in each other: the body with itself. */
static void a_body_in_itself_is_cut_off_too(SnContext *context)
{
    Heap heap;
    SnTetMesh bar = scene_box(context, 24, 2, 2, 0.1);
    SnTetBoundary faces = {0};
    CHECK(sn_tet_mesh_boundary(context, &bar, &faces) == SN_OK);
    Shape shape = shape_new(context, bar.vertex_count, faces.face_count);
    memcpy(shape.positions, bar.positions, 3 * bar.vertex_count * sizeof(double));
    memcpy(shape.triangles, faces.faces, 3 * faces.face_count * sizeof(int32_t));
    heap_make(context, 1, shape, (Shape){0}, &heap);
    CHECK(heap.tangles.rest.count == 0);
    double *bent = scene_copy(context, bar.positions, 3 * bar.vertex_count), turn = 2.15 * SCENE_PI / 2.4;
    for (size_t v = 0; v < bar.vertex_count; v++) { /* like a spring that is pressed: the ends overlap by a part of their height */
        double angle = turn * bar.positions[3 * v], radius = 0.6 - bar.positions[3 * v + 1] + 0.02 * bar.positions[3 * v];
        bent[3 * v] = radius * cos(angle);
        bent[3 * v + 1] = radius * sin(angle);
        bent[3 * v + 2] = bar.positions[3 * v + 2] + 0.13 / 2.4 * bar.positions[3 * v];
    }
    CHECK(sn_tangles_find(context, &heap.tangles, &heap.candidates, bent, NULL) == SN_OK);
    size_t cut = 0, wrong = 0;
    for (size_t v = 0; v < bar.vertex_count; v++) {
        double along = bar.positions[3 * v];
        int mark = mark_of(&heap.tangles, v);
        cut += mark == 2;
        wrong += mark == 2 && along > 0.4 && along < 2.0;
    }
    CHECK(heap.tangles.now.tangle_count >= 1 && cut > 0 && wrong == 0 && heap.tangles.cure_count > 0);
    sn_release(bent);
    sn_tet_boundary_clear(&faces);
    sn_tet_mesh_clear(&bar);
    heap_clear(&heap);
}

/* Ignored groups run through each other unseen. */
static void what_ignores_each_other_is_no_tangle(SnContext *context)
{
    Heap heap;
    heap_make(context, 2, contact_ball(context, 4, 1.0, 0.0, 0.0, 0.0), contact_ball(context, 4, 1.0, 1.5, 0.03, 0.02), &heap);
    for (size_t p = 0; p < heap.surface.point_count; p++) {
        heap.surface.groups[p] = 1u << heap.surface.point_bodies[p];
    }
    CHECK(sn_tangles_find(context, &heap.tangles, &heap.candidates, heap.surface.rest, NULL) == SN_OK);
    CHECK(heap.tangles.now.count > 0);
    sn_surface_ignore(&heap.surface, 0, 1);
    sn_candidates_forget(&heap.candidates);
    CHECK(sn_tangles_find(context, &heap.tangles, &heap.candidates, heap.surface.rest, NULL) == SN_OK);
    CHECK(heap.tangles.now.count == 0 && heap.tangles.cure_count == 0);
    heap_clear(&heap);
}

/* Apart by less than half the gap a pair lingers: pushed, but not held up. Then it is as any other. */
static void what_was_tangled_lingers_until_it_is_apart(SnContext *context)
{
    Heap heap;
    heap_make(context, 2, contact_ball(context, 4, 1.0, 0.0, 0.0, 0.0), contact_ball(context, 4, 1.0, 1.95, 0.0, 0.0), &heap);
    size_t n = 3 * heap.surface.point_count, first = 3 * heap.shapes[0].vertex_count;
    double *q = scene_copy(context, heap.surface.rest, n);
    const double gaps[3] = {2e-4, 4e-4, 6e-4};
    CHECK(sn_tangles_find(context, &heap.tangles, &heap.candidates, q, NULL) == SN_OK);
    CHECK(heap.tangles.now.count > 0 && heap.tangles.lingering_count == 0);
    for (int k = 0; k < 3; k++) {
        for (size_t i = first; i < n; i += 3) {
            q[i] = heap.surface.rest[i] + 0.05 + gaps[k];
        }
        size_t count = sn_tangles_state_count(&heap.tangles), lingering = 0, exempt = 0;
        int32_t *state = SN_NEW(context, count, int32_t);
        SnTangles again;
        sn_tangles_save(&heap.tangles, state);
        CHECK(sn_tangles_find(context, &heap.tangles, &heap.candidates, q, NULL) == SN_OK);
        for (size_t i = 0; i < heap.candidates.point_triangles.count; i++) {
            lingering += heap.candidates.point_triangles.pairs[i].exempt == SN_LINGERING;
            exempt += heap.candidates.point_triangles.pairs[i].exempt == SN_EXEMPT;
        }
        CHECK(heap.tangles.now.count == 0 && exempt == 0 && (lingering > 0) == (k < 2) && (heap.tangles.lingering_count > 0) == (k < 2));
        /* and so from a checkpoint */
        CHECK(sn_tangles_init(context, &heap.surface, &again) == SN_OK && sn_tangles_restore(context, &again, count, state) == SN_OK);
        sn_candidates_forget(&heap.candidates);
        CHECK(sn_tangles_find(context, &again, &heap.candidates, q, NULL) == SN_OK);
        CHECK(again.lingering_count == heap.tangles.lingering_count);
        CHECK(again.lingering_count == 0 || memcmp(again.lingering, heap.tangles.lingering, again.lingering_count * sizeof *again.lingering) == 0);
        CHECK(sn_tangles_restore(context, &again, count - 1, state) == SN_BAD_INPUT);
        sn_tangles_clear(&again);
        sn_release(state);
    }
    sn_release(q);
    heap_clear(&heap);
}

/* Worlds */

/* Two blocks, the second on the first and a part of its height in it, for half a second. */
static void part_blocks(double overlap, Arena *arena)
{
    arena_init(arena);
    memcpy(arena->gravity, NOWHERE, sizeof arena->gravity);
    arena->separate = 0.3; /* their size, in a second */
    const double below[3] = {0.0, 0.0, 0.0}, above[3] = {0.037, 0.021, 0.3 * (1.0 - overlap)};
    arena_box(arena, CUBE, 0.1, below, 1e5);
    arena_box(arena, CUBE, 0.1, above, 1e5);
    arena_open(arena);
    sn_world_damp(&arena->world, 0.0, 0.005);
    for (int k = 0; k < 30; k++) {
        arena_step(arena, 1.0 / 60.0);
        show(arena, k);
    }
}

static void blocks_in_each_other_part_and_are_held_again(void)
{
    const double overlaps[2] = {0.1, 0.3};
    for (int k = 0; k < 2; k++) {
        Arena arena;
        double velocity[3];
        part_blocks(overlaps[k], &arena);
        CHECK(count_crossings(&arena) == 0 && !sn_tangles_any(sn_contact_tangles(arena.contact)));
        arena_mean(&arena, 1, arena.state.velocities, velocity);
        CHECK(sqrt(sn_dot3(velocity, velocity)) <= 0.3); /* no faster than they are to part */
        arena_throw(&arena, 1, (const double[3]){0.0, 0.0, -2.0});
        for (int step = 0; step < 15; step++) {
            arena_step(&arena, 1.0 / 60.0);
            show(&arena, step);
        }
        CHECK(count_crossings(&arena) == 0 && !sn_tangles_any(sn_contact_tangles(arena.contact)));
        arena_mean(&arena, 0, arena.state.velocities, velocity);
        CHECK(velocity[2] < -0.5); /* it was hit */
        arena_clear(&arena);
    }
}

/* However deep: nothing is refused, nothing explodes; what is still in each other is told. */
static void blocks_deep_in_each_other_are_told(void)
{
    const double overlaps[3] = {0.67, 0.9, 0.99};
    for (int k = 0; k < 3; k++) {
        Arena arena;
        part_blocks(overlaps[k], &arena);
        size_t told = 0;
        unsigned char *flags = SN_NEW(&arena.context, arena.surface.point_count, unsigned char);
        sn_tangles_show(sn_contact_tangles(arena.contact), flags);
        for (size_t p = 0; p < arena.surface.point_count; p++) {
            told += flags[p] == SN_POINT_TANGLED;
        }
        CHECK(count_crossings(&arena) == 0 || told > 0);
        for (size_t i = 0; i < 3 * arena.world.vertex_count; i++) {
            CHECK(fabs(arena.state.positions[i]) < 1.5 && fabs(arena.state.velocities[i]) < 2.0);
        }
        sn_release(flags);
        arena_clear(&arena);
    }
}

/* A block between two plates that come to `least` apart and go away again, each a quarter of a second. */
static void press(double least, double side, Arena *arena, long *pinched, size_t *crossed)
{
    arena_init(arena);
    memcpy(arena->gravity, NOWHERE, sizeof arena->gravity);
    arena->separate = 0.3;
    const double x[3] = {1.0, 0.0, 0.0}, y[3] = {0.0, 1.0, 0.0};
    arena_box(arena, CUBE, 0.1, (const double[3]){-0.15, -0.15, -0.15}, 1e4);
    for (int k = 0; k < 2; k++) {
        const double origin[3] = {-0.5 * side, -0.513 * side, k ? 0.16 : -0.16};
        arena_obstacle(arena, shape_plate(&arena->context, 5, side, origin, k ? x : y, k ? y : x));
    }
    arena_open(arena);
    sn_world_damp(&arena->world, 1.0, 0.01);
    *pinched = 0;
    *crossed = 0;
    for (int k = 0; k < 45; k++) {
        double height = 0.16 + (0.5 * least - 0.16) * fmax(0.0, 1.0 - fabs((k - 14.0) / 15.0));
        for (size_t o = 0; o < 2; o++) {
            for (size_t v = 0; v < arena->obstacles[o].vertex_count; v++) {
                arena->obstacle_end[o][3 * v + 2] = o ? height : -height;
            }
        }
        sn_stepper_forget(arena->stepper);
        arena_step(arena, 1.0 / 60.0);
        show(arena, k);
        *pinched += sn_contact_report(arena->contact).pinched;
        size_t crossings = count_crossings(arena);
        *crossed = crossings > *crossed ? crossings : *crossed;
    }
}

static void a_press_lets_go_only_when_nothing_is_left_between(void)
{
    const double leasts[4] = {0.15, 0.03, 0.0005, -0.1};
    for (int k = CHECK_IS_SLOW ? 3 : 0; k < 4; k++) {
        Arena arena;
        long pinched;
        size_t crossed;
        press(leasts[k], 2.0, &arena, &pinched, &crossed);
        CHECK((pinched > 0) == (k > 1) && (crossed > 0) == (k > 1));
        CHECK(count_crossings(&arena) == 0 && sn_contact_exempt_count(arena.contact) == 0); /* and out of it again */
        for (size_t i = 0; i < 3 * arena.world.vertex_count; i++) {
            CHECK(fabs(arena.state.positions[i]) < 0.5 && fabs(arena.state.velocities[i]) < 1.0);
        }
        arena_clear(&arena);
    }
}

/* A soft block between two that follow the input, which has them meet and part. How far they are off the input at most, and at the end. */
static double pinch(int soft, int strict, long *pinched, size_t *crossed, double *left)
{
    Arena arena;
    arena_init(&arena);
    memcpy(arena.gravity, NOWHERE, sizeof arena.gravity);
    arena.soft_collider = soft;
    arena.strict = strict;
    double *pose[2][2], off = 0.0;
    arena_box(&arena, (const int[3]){2, 2, 1}, 0.1, (const double[3]){0.0, 0.0, 0.0}, 1e4);
    for (int k = 0; k < 2; k++) {
        arena_box(&arena, (const int[3]){3, 3, 2}, 0.1, (const double[3]){-0.05, -0.06, k ? 0.11 : -0.21}, 1e5);
        arena_hold(&arena, 2, k ? 0.0 : -0.15, k ? 0.25 : 0.0);
        for (int i = 0; i < 2; i++) {
            pose[k][i] = scene_copy(&arena.context, arena.bodies[1 + k].mesh.positions, 3 * arena.bodies[1 + k].mesh.vertex_count);
        }
    }
    arena_open(&arena);
    sn_world_damp(&arena.world, 1.0, 0.01);
    *pinched = 0;
    *crossed = 0;
    for (int step = 0; step < 24; step++) {
        double move = step < 10 ? 0.008 : step < 14 ? 0.0 : -0.008;
        for (int k = 0; k < 2; k++) {
            for (size_t v = 0; v < arena.bodies[1 + k].mesh.vertex_count; v++) {
                pose[k][0][3 * v + 2] = pose[k][1][3 * v + 2];
                pose[k][1][3 * v + 2] += k ? -move : move;
            }
            arena.curves[1 + k].begin = pose[k][0];
            arena.curves[1 + k].end = pose[k][1];
        }
        sn_stepper_forget(arena.stepper);
        arena_step(&arena, 1.0 / 60.0);
        show(&arena, step);
        size_t own = count_crossings_of(&arena, 0);
        *pinched += sn_contact_report(arena.contact).pinched;
        *crossed = own > *crossed ? own : *crossed;
        *left = 0.0;
        for (int k = 0; k < 2; k++) {
            size_t first = 3 * arena.world.bodies[1 + k].first_vertex;
            for (size_t i = 0; i < 3 * arena.world.bodies[1 + k].vertex_count; i++) {
                double own_off = fabs(arena.state.positions[first + i] - pose[k][1][i]);
                *left = arena.world.fixed[(first + i) / 3] ? fmax(*left, own_off) : *left;
            }
        }
        off = fmax(off, *left);
    }
    for (int i = 0; i < 4; i++) {
        sn_release(pose[i / 2][i % 2]);
    }
    arena_clear(&arena);
    return off;
}

static void what_follows_the_input_gives_way_only_with_soft_collider(void)
{
    long pinched;
    size_t crossed;
    double left, off = pinch(0, 0, &pinched, &crossed, &left);
    CHECK(off == 0.0 && pinched > 0 && crossed > 0);
    for (int strict = 0; strict < 2; strict++) {
        off = pinch(1 - strict, strict, &pinched, &crossed, &left);
        CHECK(off > 1e-3 && off < 0.05 && pinched == 0 && crossed == 0 && left < 1e-3 * off);
    }
}

/* Two bars, held at their ends, that lie `apart` from each other (less than nothing: in each other). How far the farthest vertex is from
   where the input has it after some frames, and how much is in each other. */
static double rest_in_pose(double apart, int keep_input, double thrown, size_t *crossings)
{
    Arena arena;
    arena_init(&arena);
    memcpy(arena.gravity, NOWHERE, sizeof arena.gravity);
    arena.keep_input = keep_input;
    for (int k = 0; k < 2; k++) {
        arena_box(&arena, (const int[3]){6, 2, 2}, 0.1, (const double[3]){0.013 * k, 0.021 * k, k * (0.2 + apart)}, 1e5);
        arena_hold(&arena, 0, -1.0, 0.1);
        arena_hold(&arena, 0, 0.5, 1.0);
    }
    arena_open(&arena);
    sn_world_damp(&arena.world, 2.0, 0.02);
    double *pose = scene_copy(&arena.context, arena.state.positions, 3 * arena.world.vertex_count), farthest = 0.0;
    for (size_t v = 0; v < arena.world.vertex_count; v++) {
        arena.state.velocities[3 * v + 2] += arena.world.fixed[v] ? 0.0 : v < arena.world.bodies[1].first_vertex ? thrown : -thrown;
    }
    *crossings = 0;
    for (int k = 0; k < 20; k++) {
        sn_stepper_forget(arena.stepper);
        arena_step(&arena, 1.0 / 60.0);
        show(&arena, k);
        size_t own = count_crossings(&arena);
        *crossings = own > *crossings ? own : *crossings;
    }
    for (size_t i = 0; i < 3 * arena.world.vertex_count; i++) {
        farthest = fmax(farthest, fabs(arena.state.positions[i] - pose[i]));
    }
    sn_release(pose);
    arena_clear(&arena);
    return farthest;
}

static void keep_input_adds_nothing_where_nothing_moves(void)
{
    const double apart[3] = {2e-4, -2e-3, -0.05};
    for (int k = CHECK_IS_SLOW; k < 3 - CHECK_IS_SLOW; k++) {
        size_t crossings;
        double kept = rest_in_pose(apart[k], 1, 0.0, &crossings);
        CHECK(kept < 1e-9 && (crossings > 0) == (k > 0));
        double pushed = rest_in_pose(apart[k], 0, 0.0, &crossings);
        CHECK(pushed > 1e-4); /* which is what it would be otherwise */
    }
    size_t crossings;
    (void)rest_in_pose(2e-4, 1, 1.0, &crossings); /* what the input has apart stays apart */
    CHECK(crossings == 0);
}

/* Two bars with ends that both follow the input, and that the input moves into each other: nothing free is near, and nothing is changed. */
static void what_follows_on_both_sides_is_left_alone(void)
{
    double *ends[2];
    size_t n = 0;
    for (int off = 0; off < 2; off++) {
        Arena arena;
        arena_init(&arena);
        arena.contact_off = off;
        double *pose[2][2];
        for (int k = 0; k < 2; k++) {
            arena_box(&arena, (const int[3]){4, 2, 2}, 0.1, (const double[3]){k ? -0.41 : 0.0, 0.013 * k, 0.021 * k}, 1e5);
            arena_hold(&arena, 0, -0.22, 0.22);
            for (int i = 0; i < 2; i++) {
                pose[k][i] = scene_copy(&arena.context, arena.bodies[k].mesh.positions, 3 * arena.bodies[k].mesh.vertex_count);
            }
        }
        arena_open(&arena);
        size_t crossings = 0;
        for (int step = 0; step < 10; step++) {
            for (int k = 0; k < 2; k++) {
                for (size_t v = 0; v < arena.bodies[k].mesh.vertex_count; v++) {
                    pose[k][0][3 * v] = pose[k][1][3 * v];
                    pose[k][1][3 * v] += k ? 0.01 : -0.01;
                }
                arena.curves[k].begin = pose[k][0];
                arena.curves[k].end = pose[k][1];
            }
            sn_stepper_forget(arena.stepper);
            arena_step(&arena, 1.0 / 60.0);
            crossings = off ? 1 : count_crossings(&arena);
        }
        CHECK(crossings > 0);
        n = 3 * arena.world.vertex_count;
        ends[off] = scene_copy(&arena.context, arena.state.positions, n);
        for (int i = 0; i < 4; i++) {
            sn_release(pose[i / 2][i % 2]);
        }
        arena_clear(&arena);
    }
    CHECK(memcmp(ends[0], ends[1], n * sizeof(double)) == 0);
    sn_release(ends[0]);
    sn_release(ends[1]);
}

static int has_no_slit(int x, int y, int z)
{
    (void)y;
    return x < 2 || z != 1;
}

/* A body with a slit as thin as a tenth of the gap: nothing presses at rest, and it opens as if nothing were there. */
static void lips_that_are_closed_at_rest_open_freely(void)
{
    double *ends[2], wide = 0.0, off_by = 0.0;
    size_t n = 0, crossings = 0;
    for (int off = 0; off < 2; off++) {
        Arena arena;
        arena_init(&arena);
        memcpy(arena.gravity, NOWHERE, sizeof arena.gravity);
        arena.contact_off = off;
        SnTetMesh mesh = scene_cells(&arena.context, (const int[3]){5, 2, 3}, (const double[3]){0.5, 0.2, 0.3}, has_no_slit);
        for (size_t v = 0; v < mesh.vertex_count; v++) {
            double *z = mesh.positions + 3 * v + 2;
            *z = *z < 0.15 ? (*z > 0.05 ? 0.1 : 0.0) : *z > 0.25 ? 0.2001 : 0.1001;
        }
        arena.bodies[arena.body_count++] = scene_from(&arena.context, mesh, 1, 1e5, &sn_density_neo_hookean);
        arena_open(&arena);
        n = 3 * arena.world.vertex_count;
        arena_step(&arena, 1.0 / 120.0);
        for (size_t i = 0; i < n; i++) {
            off_by = fmax(off_by, fabs(arena.state.positions[i] - arena.bodies[0].mesh.positions[i]));
        }
        CHECK(off_by < 1e-9);
        for (size_t v = 0; v < arena.world.vertex_count; v++) {
            double *x = arena.state.positions + 3 * v;
            arena.state.velocities[3 * v + 2] = arena.world.fixed[v] ? 0.0 : 0.5 * x[0] * (x[2] > 0.1 + 5e-5 ? 1.0 : -1.0);
        }
        for (int k = 0; k < 6; k++) {
            arena_step(&arena, 1.0 / 120.0);
            show(&arena, k);
            crossings += off ? 0 : count_crossings(&arena);
        }
        ends[off] = scene_copy(&arena.context, arena.state.positions, n);
        arena_clear(&arena);
    }
    for (size_t i = 0; i < n; i++) {
        off_by = fmax(off_by, fabs(ends[0][i] - ends[1][i]));
        wide = i % 3 == 2 ? fmax(wide, ends[0][i] - 0.2001) : wide;
    }
    CHECK(off_by < 1e-3 * wide && wide > 5e-3 && crossings == 0);
    sn_release(ends[0]);
    sn_release(ends[1]);
}

/* Blocks that part, frame by frame; from `cut` on in another world, with what is exempt if that was `saved`. Positions at the end, and how
   much is exempt then. */
static double *part_in_two(int frames, int cut, int saved, size_t *n)
{
    Arena arenas[2];
    int last = cut < frames;
    for (int k = 0; k < 2; k++) {
        arena_init(arenas + k);
        memcpy(arenas[k].gravity, NOWHERE, sizeof arenas[k].gravity);
        arena_box(arenas + k, CUBE, 0.1, NOWHERE, 1e5);
        arenas[k].separate = 0.03;
        arena_box(arenas + k, CUBE, 0.1, (const double[3]){0.037, 0.021, 0.2998}, 1e5);
        arena_floor(arenas + k, 2, 2.0, -1e-3);
        arena_open(arenas + k);
    }
    *n = 3 * arenas[0].world.vertex_count;
    for (int k = 0; k < frames; k++) {
        if (k == cut) {
            size_t count = sn_contact_exempt_count(arenas[0].contact), pressing = sn_contact_pressing(arenas[0].contact);
            int32_t *state = SN_NEW(&arenas[0].context, count, int32_t), *keys = SN_NEW(&arenas[0].context, 5 * pressing, int32_t);
            double *forces = SN_NEW(&arenas[0].context, pressing, double), *holds = SN_NEW(&arenas[0].context, 3 * pressing, double);
            sn_contact_save_exempt(arenas[0].contact, state);
            sn_contact_save(arenas[0].contact, keys, forces, holds);
            memcpy(arenas[1].state.positions, arenas[0].state.positions, *n * sizeof(double));
            memcpy(arenas[1].state.velocities, arenas[0].state.velocities, *n * sizeof(double));
            CHECK(sn_contact_restore(&arenas[1].context, arenas[1].contact, pressing, keys, forces, holds) == SN_OK);
            CHECK(sn_contact_restore_exempt(&arenas[1].context, arenas[1].contact, saved ? count : 0, state) == SN_OK);
            sn_release(state);
            sn_release(keys);
            sn_release(forces);
            sn_release(holds);
        }
        sn_stepper_forget(arenas[k >= cut].stepper);
        arena_step(arenas + (k >= cut), 1.0 / 240.0);
        show(arenas + (k >= cut), k);
    }
    double *end = SN_NEW(&arenas[last].context, *n + 1, double);
    memcpy(end, arenas[last].state.positions, *n * sizeof *end);
    end[(*n)++] = (double)sn_contact_exempt_count(arenas[last].contact);
    arena_clear(arenas);
    arena_clear(arenas + 1);
    return end;
}

static void a_checkpoint_knows_what_is_exempt(void)
{
    enum { FRAMES = 5 };
    size_t n, differ = 0;
    double *whole = part_in_two(FRAMES, FRAMES, 1, &n);
    for (int cut = 1; cut < FRAMES; cut++) {
        for (int saved = 0; saved < 2; saved++) {
            double *other = part_in_two(FRAMES, cut, saved, &n);
            int same = memcmp(whole, other, n * sizeof *other) == 0;
            CHECK(same || !saved);
            differ += !same;
            sn_release(other);
        }
    }
    CHECK(whole[n - 1] > 10.0 && differ > 0); /* it matters */
    sn_release(whole);
}

int main(int count, char **names)
{
    SnContext context;
    sn_context_init(&context);
    static const struct {
        const char *name;
        void (*look)(SnContext *context);
        void (*test)(void);
    } TESTS[] = {
        {"closed", of_closed_bodies_is_cut_off_what_is_inside, NULL},
        {"cures", cures_lead_out_by_the_nearest_triangle, NULL},
        {"sheets", of_sheets_is_cut_off_the_smaller_side, NULL},
        {"spike", a_spike_through_one_triangle_is_exempt, NULL},
        {"self", a_body_in_itself_is_cut_off_too, NULL},
        {"ignored", what_ignores_each_other_is_no_tangle, NULL},
        {"lingering", what_was_tangled_lingers_until_it_is_apart, NULL},
        {"blocks", NULL, blocks_in_each_other_part_and_are_held_again},
        {"checkpoint", NULL, a_checkpoint_knows_what_is_exempt},
        {"press", NULL, a_press_lets_go_only_when_nothing_is_left_between},
        {"soft", NULL, what_follows_the_input_gives_way_only_with_soft_collider},
        {"keep", NULL, keep_input_adds_nothing_where_nothing_moves},
        {"armpit", NULL, what_follows_on_both_sides_is_left_alone},
        {"lips", NULL, lips_that_are_closed_at_rest_open_freely},
        {"deep", NULL, blocks_deep_in_each_other_are_told},
    };
    sn_parallel_set_thread_count(1); /* scenes are tiny: on a busy machine threads would wait for each other at every step */
    for (size_t k = 0; k < sizeof TESTS / sizeof *TESTS; k++) {
        if (count < 2 || strcmp(names[1], TESTS[k].name) == 0) {
            TESTS[k].look != NULL ? TESTS[k].look(&context) : TESTS[k].test();
        }
    }
    return CHECK_RESULT();
}
