/* The lists of pairs against looking at every pair, at the start, after moves and over kept lists. */
#include "contact.h"

#include "base/parallel.h"

#include <stdlib.h>

#define GAP 0.01

/* Two balls and a plate as obstacle; some of the first ball's points are kinematic. */
typedef struct Scene {
    Shape shapes[3];
    unsigned char *kinematic[3];
    uint32_t *groups;
    double *thickness;
    SnSurface surface;
    double *from, *to;
    size_t n; /* coordinates */
} Scene;

static Scene scene_make(SnContext *context)
{
    static const double origin[3] = {-1.5, -1.5, -0.97}, u[3] = {1, 0, 0}, v[3] = {0, 1, 0};
    Scene scene = {.shapes = {contact_ball(context, 5, 1.0, 0, 0, 0), contact_ball(context, 4, 0.7, 0.3, 0.2, 1.63),
                              shape_plate(context, 6, 3.0, origin, u, v)}};
    SnSurfacePart parts[3];
    scene.thickness = SN_NEW(context, scene.shapes[0].vertex_count, double);
    scene.groups = SN_NEW(context, scene.shapes[0].vertex_count, uint32_t);
    for (int b = 0; b < 3; b++) {
        size_t count = scene.shapes[b].vertex_count;
        scene.kinematic[b] = SN_NEW(context, count, unsigned char);
        memset(scene.kinematic[b], b == 2, count);
        parts[b] = contact_part(scene.shapes + b, scene.kinematic[b], NULL);
    }
    for (size_t p = 0; p < scene.shapes[0].vertex_count; p++) {
        scene.kinematic[0][p] = scene.shapes[0].positions[3 * p] < -0.5;
        scene.thickness[p] = scene.shapes[0].positions[3 * p + 2] > 0.0 ? 0.02 : 0.0;
        scene.groups[p] = scene.shapes[0].positions[3 * p + 1] > 0.0 ? 2 : 4;
    }
    parts[0].thickness = scene.thickness;
    parts[0].groups = scene.groups;
    CHECK(sn_surface_init(context, 3, parts, 0, &scene.surface) == SN_OK);
    scene.n = 3 * scene.surface.point_count;
    scene.from = SN_NEW(context, scene.n, double);
    scene.to = SN_NEW(context, scene.n, double);
    memcpy(scene.from, scene.surface.rest, scene.n * sizeof(double));
    memcpy(scene.to, scene.surface.rest, scene.n * sizeof(double));
    return scene;
}

static void scene_clear(Scene *scene)
{
    for (int b = 0; b < 3; b++) {
        shape_clear(scene->shapes + b);
        sn_release(scene->kinematic[b]);
    }
    sn_release(scene->thickness);
    sn_release(scene->groups);
    sn_release(scene->from);
    sn_release(scene->to);
    sn_surface_clear(&scene->surface);
}

/* Bodies go and turn as a whole, and every point goes a little by itself. */
static void scene_move(Scene *scene, double far, double little, uint64_t *seed)
{
    memcpy(scene->from, scene->to, scene->n * sizeof(double));
    for (size_t b = 0; b < 2; b++) {
        const SnSurfaceBody *body = scene->surface.bodies + b;
        double shift[3] = {far * contact_signed(seed), far * contact_signed(seed), far * contact_signed(seed)};
        double turn = far * contact_signed(seed);
        for (size_t p = body->first_point; p < body->first_point + body->point_count; p++) {
            double *x = scene->to + 3 * p, y = x[1];
            x[1] += turn * x[2];
            x[2] -= turn * y;
            for (int axis = 0; axis < 3; axis++) {
                x[axis] += shift[axis] + little * contact_signed(seed);
            }
        }
    }
}

static double distance_at(const SnPair *pair, int edges, const Scene *scene, double time)
{
    double x[4][3], y[4][3];
    sn_gather_points(pair->points, scene->from, x);
    sn_gather_points(pair->points, scene->to, y);
    for (int i = 0; i < 12; i++) {
        x[i / 3][i % 3] += time * (y[i / 3][i % 3] - x[i / 3][i % 3]);
    }
    return sqrt(edges ? sn_nearest_edges(x).squared : sn_nearest_point_triangle(x).squared);
}

/* Whether there is an axis along which the ways of both sides are `within` apart: then nobody need look. */
static int stays_away(const SnPair *pair, int edges, const Scene *scene, double within)
{
    for (size_t axis = 0; axis < 3; axis++) {
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (int i = 0; i < 4; i++) {
            int side = i >= (edges ? 2 : 1);
            size_t at = 3 * (size_t)pair->points[i] + axis;
            low[side] = fmin(low[side], fmin(scene->from[at], scene->to[at]));
            high[side] = fmax(high[side], fmax(scene->from[at], scene->to[at]));
        }
        if (low[0] - high[1] > within || low[1] - high[0] > within) {
            return 1;
        }
    }
    return 0;
}

static int comes_near(const SnPair *pair, int edges, const Scene *scene, double within)
{
    for (int i = 0; i <= 8 && !stays_away(pair, edges, scene, within); i++) {
        if (distance_at(pair, edges, scene, i / 8.0) < within) {
            return 1;
        }
    }
    return 0;
}

static int compare_pairs(const void *a, const void *b)
{
    return memcmp(((const SnPair *)a)->elements, ((const SnPair *)b)->elements, 2 * sizeof(int32_t));
}

static SnPairList sorted_copy(const SnPairList *list)
{
    SnPairList copy = {list->count, list->count, malloc((list->count + 1) * sizeof(SnPair))};
    memcpy(copy.pairs, list->pairs, list->count * sizeof(SnPair));
    qsort(copy.pairs, copy.count, sizeof(SnPair), compare_pairs);
    return copy;
}

/* By the rules alone: what may touch. */
static int may_touch(const SnSurface *surface, const SnPair *pair, int edges)
{
    int sides = edges ? 2 : 1, kinematic = 1;
    uint32_t groups[2] = {UINT32_MAX, UINT32_MAX};
    for (int i = 0; i < 4; i++) {
        kinematic &= surface->kinematic[pair->points[i]];
        groups[i >= sides] &= surface->groups[pair->points[i]];
        for (int j = i + 1; j < 4; j++) {
            if (pair->points[i] == pair->points[j]) {
                return 0;
            }
        }
    }
    for (int g = 0; g < SN_SURFACE_GROUPS; g++) {
        for (int h = 0; h < SN_SURFACE_GROUPS; h++) {
            if (groups[0] >> g & 1 && groups[1] >> h & 1 && surface->ignored[g] >> h & 1) {
                return 0;
            }
        }
    }
    int32_t a = surface->point_bodies[pair->points[0]], b = surface->point_bodies[pair->points[3]];
    return !kinematic && surface->active[a] && surface->active[b] &&
           surface->meets[(size_t)a * surface->body_count + (size_t)b];
}

/* The pairs of one list that are watched. */
static SnPairList watched_copy(const SnCandidates *candidates, int edges)
{
    SnPairList list = {.pairs = calloc(candidates->watched_count + 1, sizeof(SnPair))};
    for (size_t i = 0; i < candidates->watched_count; i++) {
        int is_edges;
        const SnPair *pair = sn_candidates_at(candidates, candidates->watched[i], &is_edges);
        CHECK(i == 0 || candidates->watched[i - 1] < candidates->watched[i]);
        if (is_edges == edges) {
            list.pairs[list.count++] = *pair;
        }
    }
    SnPairList sorted = sorted_copy(&list);
    free(list.pairs);
    return sorted;
}

/* Every pair that comes near is on the list once, and watched; none is on it that may not. Returns how many come near. */
static size_t check_lists(const Scene *scene, const SnCandidates *candidates, int edges)
{
    const SnSurface *surface = &scene->surface;
    SnPairList list = sorted_copy(edges ? &candidates->edges : &candidates->point_triangles), watched = watched_copy(candidates, edges);
    size_t near = 0, missing = 0, twice = 0, wrong = 0, same_side = 0;
    for (size_t i = 0; i < list.count; i++) {
        twice += i > 0 && compare_pairs(list.pairs + i - 1, list.pairs + i) == 0;
        wrong += !may_touch(surface, list.pairs + i, edges) || !(list.pairs[i].limit > 0.0) || list.pairs[i].exempt;
        if (edges) {
            SnPair turned = {.elements = {list.pairs[i].elements[1], list.pairs[i].elements[0]}};
            same_side += bsearch(&turned, list.pairs, list.count, sizeof turned, compare_pairs) != NULL;
        }
    }
    size_t firsts = edges ? surface->edge_count : surface->point_count, seconds = edges ? surface->edge_count : surface->triangle_count;
    for (size_t a = 0; a < firsts; a++) {
        for (size_t b = edges ? a + 1 : 0; b < seconds; b++) {
            SnPair pair = {.elements = {(int32_t)a, (int32_t)b}}, turned = {.elements = {(int32_t)b, (int32_t)a}};
            pair.points[0] = edges ? surface->edges[2 * a] : (int32_t)a;
            pair.points[1] = edges ? surface->edges[2 * a + 1] : surface->triangles[3 * b];
            pair.points[2] = edges ? surface->edges[2 * b] : surface->triangles[3 * b + 1];
            pair.points[3] = edges ? surface->edges[2 * b + 1] : surface->triangles[3 * b + 2];
            if (!may_touch(surface, &pair, edges)) {
                continue;
            }
            double thick[2] = {0.0, 0.0};
            for (int i = 0; i < 4; i++) {
                int side = i >= (edges ? 2 : 1);
                thick[side] = fmax(thick[side], surface->thickness[pair.points[i]]);
            }
            double limit = GAP + thick[0] + thick[1];
            if (surface->point_bodies[pair.points[0]] == surface->point_bodies[pair.points[3]]) {
                double rest = sn_pair_distance(&pair, edges, surface->rest);
                limit = rest < 1e-3 * GAP ? 0.0 : fmin(limit, 0.5 * rest);
            }
            if (limit <= 0.0 || !comes_near(&pair, edges, scene, SN_NEAR * limit)) {
                continue;
            }
            near++;
            const SnPair *found = bsearch(&pair, list.pairs, list.count, sizeof pair, compare_pairs);
            found = found == NULL && edges ? bsearch(&turned, list.pairs, list.count, sizeof pair, compare_pairs) : found;
            missing += found == NULL;
            missing += bsearch(&pair, watched.pairs, watched.count, sizeof pair, compare_pairs) == NULL &&
                       (!edges || bsearch(&turned, watched.pairs, watched.count, sizeof pair, compare_pairs) == NULL);
            if (found != NULL && surface->point_bodies[pair.points[0]] != surface->point_bodies[pair.points[3]]) {
                wrong += fabs(found->limit - (GAP + thick[0] + thick[1])) > 1e-15;
            } else if (found != NULL) {
                double x[4][3];
                sn_gather_points(pair.points, surface->rest, x);
                double rest = sqrt(edges ? sn_nearest_edges(x).squared : sn_nearest_point_triangle(x).squared);
                wrong += found->limit > 0.5 * rest + 1e-15;
            }
        }
    }
    CHECK(missing == 0 && twice == 0 && wrong == 0 && same_side == 0);
    free(list.pairs);
    free(watched.pairs);
    return near;
}

static void everything_that_comes_near_is_found_once(SnContext *context)
{
    Scene scene = scene_make(context);
    SnCandidates candidates;
    SnCandidatesDef def = {.gap = GAP};
    uint64_t seed = 5;
    size_t near = 0;
    CHECK(sn_candidates_init(context, &scene.surface, &def, &candidates) == SN_OK);
    for (int round = 0; round < 14; round++) {
        int searched;
        if (round == 8) {
            sn_surface_ignore(&scene.surface, 1, 2);
            sn_candidates_forget(&candidates);
        } else if (round == 10) {
            sn_surface_set_meets(&scene.surface, 0, 1, 0);
            sn_candidates_forget(&candidates);
        } else if (round == 12) {
            scene.surface.active[0] = 0;
            sn_candidates_forget(&candidates);
        }
        CHECK(sn_candidates_find(context, &candidates, scene.from, scene.to, &searched) == SN_OK);
        CHECK(round > 0 || searched);
        near += check_lists(&scene, &candidates, 0) + check_lists(&scene, &candidates, 1);
        scene_move(&scene, round % 3 == 2 ? 0.1 : 0.002, round % 3 == 2 ? 0.05 : 0.002, &seed);
    }
    CHECK(near > 500 && candidates.searches < 14);
    sn_candidates_clear(&candidates);
    scene_clear(&scene);
}

/* What is nearer than `within` now, in the order of the list. */
static size_t gather_near(const Scene *scene, const SnPairList *list, int edges, double within, SnPair *near)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (distance_at(list->pairs + i, edges, scene, 1.0) < within) {
            near[count++] = list->pairs[i];
        }
    }
    return count;
}

static void what_is_near_comes_in_the_same_order_from_kept_and_new_lists(SnContext *context)
{
    Scene scene = scene_make(context);
    SnCandidatesDef def = {.gap = GAP};
    SnCandidates kept;
    uint64_t seed = 9;
    size_t compared = 0, different = 0;
    CHECK(sn_candidates_init(context, &scene.surface, &def, &kept) == SN_OK);
    for (int round = 0; round < 12; round++) {
        SnCandidates fresh;
        SnPair *near[2];
        sn_parallel_set_thread_count(1 + round % 4);
        CHECK(sn_candidates_find(context, &kept, scene.from, scene.to, NULL) == SN_OK);
        CHECK(sn_candidates_init(context, &scene.surface, &def, &fresh) == SN_OK);
        CHECK(sn_candidates_find(context, &fresh, scene.to, scene.to, NULL) == SN_OK);
        for (int edges = 0; edges < 2; edges++) {
            size_t counts[2];
            for (int k = 0; k < 2; k++) {
                const SnCandidates *candidates = k == 0 ? &kept : &fresh;
                const SnPairList *list = edges ? &candidates->edges : &candidates->point_triangles;
                near[k] = calloc(list->count + 1, sizeof(SnPair));
                counts[k] = gather_near(&scene, list, edges, SN_NEAR * GAP, near[k]);
            }
            different += counts[0] != counts[1];
            for (size_t i = 0; i < counts[0] && counts[0] == counts[1]; i++) {
                const SnPair *a = near[0] + i, *b = near[1] + i;
                different += memcmp(a->elements, b->elements, sizeof a->elements) != 0 ||
                             memcmp(a->points, b->points, sizeof a->points) != 0 || a->limit < b->limit || a->limit > b->limit;
            }
            compared += counts[0];
            free(near[0]);
            free(near[1]);
        }
        sn_candidates_clear(&fresh);
        scene_move(&scene, 0.01, 0.003, &seed);
    }
    sn_parallel_set_thread_count(0);
    CHECK(different == 0 && compared > 100);
    sn_candidates_clear(&kept);
    scene_clear(&scene);
}

static void a_body_that_moves_as_a_whole_asks_nothing_of_itself(SnContext *context)
{
    Scene scene = scene_make(context);
    SnCandidatesDef def = {.gap = GAP};
    SnCandidates candidates;
    sn_surface_set_meets(&scene.surface, 0, 1, 0);
    sn_surface_set_meets(&scene.surface, 0, 2, 0);
    sn_surface_set_meets(&scene.surface, 1, 2, 0);
    CHECK(sn_candidates_init(context, &scene.surface, &def, &candidates) == SN_OK);
    for (int round = 0; round < 5; round++) {
        memcpy(scene.from, scene.to, scene.n * sizeof(double));
        for (size_t i = 0; i < scene.n; i++) {
            scene.to[i] += i < 3 * scene.surface.bodies[0].point_count ? 5.0 : -3.0;
        }
        CHECK(sn_candidates_find(context, &candidates, scene.to, scene.to, NULL) == SN_OK);
    }
    CHECK(candidates.searches == 1);
    scene.to[0] += 1.0;
    CHECK(sn_candidates_find(context, &candidates, scene.to, scene.to, NULL) == SN_OK);
    CHECK(candidates.searches == 2);
    sn_candidates_clear(&candidates);
    scene_clear(&scene);
}

static void keep_input_wants_no_more_than_the_input_has(SnContext *context)
{
    Scene scene = scene_make(context);
    SnCandidatesDef def = {.gap = 0.1};
    SnCandidates candidates;
    CHECK(sn_candidates_init(context, &scene.surface, &def, &candidates) == SN_OK);
    CHECK(sn_candidates_find(context, &candidates, scene.to, scene.to, NULL) == SN_OK);
    for (int kept = 0; kept < 2; kept++) {
        size_t more = 0, wrong = 0;
        sn_candidates_keep_input(&candidates, kept ? scene.to : NULL);
        for (int edges = 0; edges < 2; edges++) {
            const SnPairList *list = edges ? &candidates.edges : &candidates.point_triangles;
            for (size_t i = 0; i < list->count; i++) {
                double distance = distance_at(list->pairs + i, edges, &scene, 1.0);
                more += list->pairs[i].gap > 0.0 && list->pairs[i].gap >= distance; /* less by a billionth: at the input nothing presses */
                wrong += fabs(list->pairs[i].gap - (kept ? fmin((1.0 - 1e-9) * distance, list->pairs[i].limit) : list->pairs[i].limit)) > 1e-12;
            }
        }
        CHECK(wrong == 0 && (kept ? more == 0 : more > 10));
    }
    sn_candidates_clear(&candidates);
    scene_clear(&scene);
}

static void seams_are_no_pairs(SnContext *context)
{
    static const double centre[3] = {0, 0, 0};
    Shape ball = shape_sphere(context, 6, 1.0, centre, 1.0); /* its seam and poles are split */
    unsigned char *free_points = SN_NEW(context, ball.vertex_count, unsigned char);
    SnSurfacePart part = contact_part(&ball, free_points, NULL);
    SnSurface surface;
    SnCandidates candidates;
    SnCandidatesDef def = {.gap = GAP};
    size_t touching = 0;
    CHECK(sn_surface_init(context, 1, &part, 0, &surface) == SN_OK);
    CHECK(sn_candidates_init(context, &surface, &def, &candidates) == SN_OK);
    CHECK(sn_candidates_find(context, &candidates, ball.positions, ball.positions, NULL) == SN_OK);
    for (size_t i = 0; i < candidates.point_triangles.count; i++) {
        double x[4][3];
        sn_gather_points(candidates.point_triangles.pairs[i].points, ball.positions, x);
        touching += sn_nearest_point_triangle(x).squared < 1e-12;
    }
    CHECK(touching == 0);
    sn_candidates_clear(&candidates);
    sn_surface_clear(&surface);
    sn_release(free_points);
    shape_clear(&ball);
}

/* How many pairs there are of a ball in one cell of a cage, of size 1, when it is pressed flat; `hangs`: on the cell's corners. */
static size_t count_flat(SnContext *context, double radius, int hangs)
{
    Shape ball = contact_ball(context, 4, radius, 0, 0, 0);
    size_t count = ball.vertex_count;
    unsigned char *free_points = SN_NEW(context, count, unsigned char);
    int32_t *corners = SN_NEW(context, 4 * count, int32_t);
    double *weights = SN_NEW(context, 4 * count, double), *flat = SN_NEW(context, 3 * count, double);
    for (size_t p = 0; p < count; p++) {
        double rest = 1.0;
        for (size_t a = 0; a < 3; a++) {
            double x = ball.positions[3 * p + a];
            corners[4 * p + a] = (int32_t)a;
            weights[4 * p + a] = x;
            rest -= x;
            flat[3 * p + a] = a == 2 ? 0.01 * x : x;
        }
        corners[4 * p + 3] = 3;
        weights[4 * p + 3] = rest;
    }
    SnSurfacePart part = contact_part(&ball, free_points, NULL);
    part.corners = hangs ? corners : NULL;
    part.weights = hangs ? weights : NULL;
    SnSurface surface;
    SnCandidates candidates;
    SnCandidatesDef def = {.gap = 0.1 * radius};
    CHECK(sn_surface_init(context, 1, &part, 4, &surface) == SN_OK);
    CHECK(sn_candidates_init(context, &surface, &def, &candidates) == SN_OK);
    CHECK(sn_candidates_find(context, &candidates, flat, flat, NULL) == SN_OK);
    size_t found = candidates.point_triangles.count + candidates.edges.count;
    sn_candidates_clear(&candidates);
    sn_surface_clear(&surface);
    void *const blocks[] = {free_points, corners, weights, flat};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        sn_release(blocks[i]);
    }
    shape_clear(&ball);
    return found;
}

static void what_one_cell_moves_alike_is_no_pair(SnContext *context)
{
    CHECK(count_flat(context, 0.02, 0) > 100);
    CHECK(count_flat(context, 0.02, 1) == 0);
    CHECK(count_flat(context, 0.5, 1) > 100);
}

/* A small ball of fine triangles beside a large one of coarse ones, both squeezed: what is far for its triangles is on no list. */
static void where_triangles_are_fine_lists_are_short(SnContext *context)
{
    Shape both = shape_join(context, contact_ball(context, 12, 1.0, 0, 0, 0), contact_ball(context, 6, 0.02, 1.5, 0, 0));
    unsigned char *free_points = SN_NEW(context, both.vertex_count, unsigned char);
    SnSurfacePart part = contact_part(&both, free_points, NULL);
    SnSurface surface;
    SnCandidates candidates;
    SnCandidatesDef def = {.gap = 1e-4};
    double *squeezed = SN_NEW(context, 3 * both.vertex_count, double);
    for (size_t k = 0; k < 3 * both.vertex_count; k++) {
        squeezed[k] = both.positions[k] * (k % 3 == 2 ? 0.3 : 1.0);
    }
    CHECK(sn_surface_init(context, 1, &part, 0, &surface) == SN_OK);
    CHECK(sn_candidates_init(context, &surface, &def, &candidates) == SN_OK);
    CHECK(sn_candidates_find(context, &candidates, squeezed, squeezed, NULL) == SN_OK);
    size_t found = candidates.point_triangles.count + candidates.edges.count;
    CHECK(found > surface.triangle_count && found < 40 * surface.triangle_count);
    sn_candidates_clear(&candidates);
    sn_surface_clear(&surface);
    sn_release(free_points);
    sn_release(squeezed);
    shape_clear(&both);
}

static SnStatus count_found(SnContext *context, void *data, size_t body, size_t other, const SnBoxPairs *found)
{
    (void)context, (void)body, (void)other;
    *(size_t *)data += found->count;
    return SN_OK;
}

static size_t search_trees(SnContext *context, const Scene *scene, SnTrees *trees)
{
    size_t count = 0;
    for (size_t t = 0; t < scene->surface.triangle_count; t++) {
        sn_surface_triangle_box(&scene->surface, scene->to, t, trees->boxes + 6 * t);
    }
    CHECK(sn_trees_fit(context, trees) == SN_OK && sn_trees_meet(context, trees, GAP, 0, count_found, &count) == SN_OK);
    return count;
}

static void trees_are_refitted_and_built_anew_when_they_got_worse(SnContext *context)
{
    Scene scene = scene_make(context);
    SnTrees trees, fresh;
    uint64_t seed = 3;
    CHECK(sn_trees_init(context, &scene.surface, &trees) == SN_OK);
    for (int round = 0; round < 6; round++) {
        CHECK(search_trees(context, &scene, &trees) > 0);
    }
    CHECK(trees.builds == 3);
    for (int round = 0; round < 4; round++) {
        scene_move(&scene, 0.0, 2.0, &seed); /* all in a heap */
        CHECK(sn_trees_init(context, &scene.surface, &fresh) == SN_OK);
        CHECK(search_trees(context, &scene, &trees) == search_trees(context, &scene, &fresh));
        sn_trees_clear(&fresh);
    }
    CHECK(trees.builds > 3);
    sn_trees_clear(&trees);
    scene_clear(&scene);
}

static void every_failing_allocation_is_answered(void)
{
    SnContext context;
    int finished = 0;
    long n = 0;
    sn_context_init(&context);
    Scene scene = scene_make(&context);
    SnCandidatesDef def = {.gap = GAP};
    for (; !finished && n < 1000; n++) {
        SnCandidates candidates;
        context.allocations_until_failure = n;
        SnStatus status = sn_candidates_init(&context, &scene.surface, &def, &candidates);
        if (status == SN_OK) {
            status = sn_candidates_find(&context, &candidates, scene.from, scene.to, NULL);
        }
        finished = status == SN_OK;
        CHECK(finished || status == SN_OUT_OF_MEMORY);
        sn_candidates_clear(&candidates);
    }
    CHECK(finished && n > 10);
    context.allocations_until_failure = -1;
    SnCandidates candidates;
    def.gap = 0.0;
    CHECK(sn_candidates_init(&context, &scene.surface, &def, &candidates) == SN_BAD_INPUT);
    def.gap = GAP;
    CHECK(sn_candidates_init(&context, &scene.surface, &def, &candidates) == SN_OK);
    sn_context_cancel(&context);
    CHECK(sn_candidates_find(&context, &candidates, scene.from, scene.to, NULL) == SN_CANCELLED);
    sn_context_init(&context);
    CHECK(sn_candidates_find(&context, &candidates, scene.from, scene.to, NULL) == SN_OK); /* and it goes on */
    context.allocations_until_failure = 0;
    sn_candidates_forget(&candidates);
    CHECK(sn_candidates_find(&context, &candidates, scene.from, scene.to, NULL) == SN_OK); /* a second search has all it needs */
    sn_candidates_clear(&candidates);
    scene_clear(&scene);
}

int main(void)
{
    SnContext context;
    sn_context_init(&context);
    everything_that_comes_near_is_found_once(&context);
    what_is_near_comes_in_the_same_order_from_kept_and_new_lists(&context);
    a_body_that_moves_as_a_whole_asks_nothing_of_itself(&context);
    keep_input_wants_no_more_than_the_input_has(&context);
    seams_are_no_pairs(&context);
    what_one_cell_moves_alike_is_no_pair(&context);
    where_triangles_are_fine_lists_are_short(&context);
    trees_are_refitted_and_built_anew_when_they_got_worse(&context);
    every_failing_allocation_is_answered();
    return CHECK_RESULT();
}
