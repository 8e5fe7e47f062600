#include "contact/calm.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "mesh/geometry.h"

#include <string.h>

#define SHRUNK 0.7     /* of distances at rest: what is shorter than that is not calm */
static const double levels[SN_CALM_LEVELS] = {SHRUNK, 0.8, 0.9};

#define BESIDE 2.0     /* longest edges: patches that are farther apart at rest are not beside each other */
#define ENOUGH 2.0     /* times as calm as need be: nobody asks for more */
#define PAIRS_PER_CHUNK 4
#define MOST_JOINED 256 /* points around a triangle; more of them than that, and it is not calm */

typedef struct Task {
    const SnSurfacePatches *patches;
    const SnPairing *pairing;
    const double *boxes;   /* triangles x 6, at rest */
    const double *lengths; /* triangles: the longest edge, and ... */
    const double *around;  /* ... the longest at its points */
    SnCalmPair *pairs;
} Task;

static double box_distance(const double a[6], const double b[6])
{
    double sum = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        double gap = sn_largest(sn_largest(a[axis] - b[3 + axis], b[axis] - a[3 + axis]), 0.0);
        sum += gap * gap;
    }
    return sqrt(sum);
}

/* How far two triangles are apart at least: as their boxes, or along the line between their middles. */
static double triangles_distance(const SnSurface *surface, size_t a, size_t b, double boxes)
{
    const int32_t *own = surface->triangles + 3 * a, *other = surface->triangles + 3 * b;
    double n[3] = {0.0, 0.0, 0.0}, low = INFINITY, high = -INFINITY;
    for (int k = 0; k < 3; k++) {
        for (int axis = 0; axis < 3; axis++) {
            n[axis] += surface->rest[3 * (size_t)own[k] + (size_t)axis] - surface->rest[3 * (size_t)other[k] + (size_t)axis];
        }
    }
    for (int k = 0; k < 3; k++) {
        low = sn_least(low, sn_dot3(n, surface->rest + 3 * (size_t)own[k]));
        high = sn_largest(high, sn_dot3(n, surface->rest + 3 * (size_t)other[k]));
    }
    return sn_largest(boxes, low > high ? (low - high) / sn_length(n) : 0.0);
}

/* The points of a triangle and those joined to them; -1: too many. */
static int list_joined(const SnSurface *surface, size_t triangle, int32_t points[MOST_JOINED])
{
    int count = 0;
    for (size_t k = 0; k < 3; k++) {
        int32_t point = surface->triangles[3 * triangle + k];
        int32_t begin = surface->point_starts[point], own = surface->point_starts[point + 1] - begin;
        if (count + own + 1 > MOST_JOINED) {
            return -1;
        }
        points[count++] = point;
        memcpy(points + count, surface->point_points + begin, (size_t)own * sizeof *points);
        count += own;
    }
    return count;
}

/* Of the points of a triangle: 0: none is among `points`; 1: one is; 2: one is a point of the other triangle itself. */
static int find_joint(const int32_t *triangle, const int32_t *other, int count, const int32_t *points)
{
    int joint = 0;
    for (int k = 0; k < 3; k++) {
        int shared = (triangle[k] == other[0]) | (triangle[k] == other[1]) | (triangle[k] == other[2]), joined = 0;
        for (int i = 0; i < count; i++) {
            joined |= points[i] == triangle[k];
        }
        joint = shared ? 2 : joint == 0 ? joined : joint;
    }
    return joint;
}

/* What pairs of two triangles that are joined bear: the least of all, and of what is there. */
static void find_bend(const Task *task, size_t a, size_t b, double length, double bend[SN_CALM_LEVELS])
{
    const SnSurface *surface = task->patches->surface;
    const size_t both[2] = {a, b};
    for (int k = 0; k < 15; k++) {
        int is_edges = k >= 6, side = k / 3 % 2;
        size_t own = is_edges ? a : both[side], other = is_edges ? b : both[1 - side], i = (size_t)(is_edges ? (k - 6) / 3 : k % 3);
        int is_owned = is_edges ? surface->owned[a] >> (3 + i) & surface->owned[b] >> (3 + (k - 6) % 3) & 1 : surface->owned[own] >> i & 1;
        if (!is_owned) {
            continue;
        }
        int32_t first = is_edges ? surface->triangle_edges[3 * a + i] : surface->triangles[3 * own + i];
        int32_t second = is_edges ? surface->triangle_edges[3 * b + (size_t)((k - 6) % 3)] : (int32_t)other;
        SnPair pair = sn_pairing_make(task->pairing, is_edges, first, second);
        int shared = 0;
        for (int p = 0; p < 16; p++) {
            shared |= p % 4 > p / 4 && pair.points[p / 4] == pair.points[p % 4];
        }
        if (!shared && pair.limit > 0.0) {
            double far = 0.0, near = SN_NEAR * pair.limit;
            for (int level = 0; level < SN_CALM_LEVELS; level++) { /* what is farther is not the least */
                far = sn_largest(far, (near + bend[level] * length) / levels[level]);
            }
            double d = sn_pair_distance_or(&pair, is_edges, surface->rest, far);
            for (int level = 0; level < SN_CALM_LEVELS; level++) {
                bend[level] = sn_least(bend[level], length > 0.0 ? (levels[level] * d - near) / length : -1.0);
            }
        }
    }
}

static void find_pair(const Task *task, SnCalmPair *pair)
{
    const SnSurfacePatches *patches = task->patches;
    const SnPatch *one = patches->patches + pair->one, *other = patches->patches + pair->other;
    pair->apart = pair->bend[0] = pair->bend[1] = pair->bend[2] = INFINITY;
    pair->near = SN_NEAR * (one->thickness + other->thickness + task->pairing->gap);
    for (size_t i = one->first_triangle; i < one->first_triangle + one->triangle_count; i++) {
        int32_t points[MOST_JOINED];
        size_t a = (size_t)patches->triangles[i];
        int count = list_joined(patches->surface, a, points);
        for (size_t j = one == other ? i + 1 : other->first_triangle; j < other->first_triangle + other->triangle_count; j++) {
            size_t b = (size_t)patches->triangles[j];
            const int32_t *corners = patches->surface->triangles;
            double distance = box_distance(task->boxes + 6 * a, task->boxes + 6 * b);
            if (distance >= pair->apart && distance > task->around[a]) {
                continue; /* too far to be joined, and not the least */
            }
            int joint = count < 0 ? 0 : find_joint(corners + 3 * b, corners + 3 * a, count, points);
            if (joint == 0) {
                pair->apart = sn_least(pair->apart, triangles_distance(patches->surface, a, b, distance));
            } else {
                double length = task->lengths[a] + task->lengths[b] + (joint == 1 ? task->around[a] : 0.0);
                find_bend(task, a < b ? a : b, a < b ? b : a, length, pair->bend);
            }
        }
    }
}

static void find_pairs(void *data, size_t chunk, size_t begin, size_t end)
{
    const Task *task = data;
    (void)chunk;
    for (size_t k = begin; k < end; k++) {
        find_pair(task, task->pairs + k);
    }
}

/* The longest edge of each triangle, and the longest at its points. */
static SnStatus find_lengths(SnContext *context, const SnSurface *surface, double *lengths, double *around)
{
    SnStatus status = SN_OK;
    double *at_points = NULL;
    SN_TRY_NEW(context, at_points, surface->point_count, double);
    for (size_t e = 0; e < surface->edge_count; e++) {
        const int32_t *ends = surface->edges + 2 * e;
        double length = sqrt(sn_distance_squared(surface->rest + 3 * (size_t)ends[0], surface->rest + 3 * (size_t)ends[1]));
        for (int k = 0; k < 2; k++) {
            at_points[ends[k]] = sn_largest(at_points[ends[k]], length);
        }
        for (int32_t k = surface->edge_triangle_starts[e]; k < surface->edge_triangle_starts[e + 1]; k++) {
            lengths[surface->edge_triangles[k]] = sn_largest(lengths[surface->edge_triangles[k]], length);
        }
    }
    for (size_t i = 0; i < 3 * surface->triangle_count; i++) {
        around[i / 3] = sn_largest(around[i / 3], at_points[surface->triangles[i]]);
    }
cleanup:
    sn_release(at_points);
    return status;
}

/* Patches of one body that are beside each other at rest. */
static SnStatus list_pairs(SnContext *context, const SnSurfacePatches *patches, const double *around, SnCalm *calm)
{
    SnStatus status = SN_OK;
    for (size_t a = 0; a < patches->count; a++) {
        double reach = 0.0;
        for (size_t i = patches->patches[a].first_triangle; i < patches->patches[a].first_triangle + patches->patches[a].triangle_count; i++) {
            reach = sn_largest(reach, BESIDE * around[patches->triangles[i]]);
        }
        for (size_t b = a; b < patches->count; b++) {
            int beside = patches->patches[a].body == patches->patches[b].body &&
                         box_distance(calm->drift.references[a].box, calm->drift.references[b].box) <= reach;
            calm->places[a * patches->count + b] = beside ? (int32_t)calm->count : -1;
            if (beside) {
                SN_TRY_ROOM(context, calm->pairs, calm->count + 1, calm->capacity);
                calm->pairs[calm->count++] = (SnCalmPair){.one = (int32_t)a, .other = (int32_t)b, .reach = reach};
            }
        }
    }
cleanup:
    return status;
}

SnStatus sn_calm_init(SnContext *context, const SnSurfacePatches *patches, const SnPairing *pairing, SnCalm *calm)
{
    SnStatus status = SN_OK;
    const SnSurface *surface = patches->surface;
    double *boxes = NULL, *lengths = NULL, *around = NULL;
    *calm = (SnCalm){0};
    SN_TRY(sn_drift_init(context, patches, 1, &calm->drift));
    SN_TRY_NEW(context, calm->places, patches->count * patches->count, int32_t);
    SN_TRY_NEW(context, boxes, 6 * surface->triangle_count, double);
    SN_TRY_NEW(context, lengths, surface->triangle_count, double);
    SN_TRY_NEW(context, around, surface->triangle_count, double);
    sn_drift_refer(&calm->drift, surface->rest);
    for (size_t t = 0; t < surface->triangle_count; t++) {
        sn_surface_triangle_box(surface, surface->rest, t, boxes + 6 * t);
    }
    SN_TRY(find_lengths(context, surface, lengths, around));
    SN_TRY(list_pairs(context, patches, around, calm));
    Task task = {patches, pairing, boxes, lengths, around, calm->pairs};
    sn_parallel_for(calm->count, PAIRS_PER_CHUNK, find_pairs, &task);
cleanup:
    sn_release(boxes);
    sn_release(lengths);
    sn_release(around);
    if (status != SN_OK) {
        sn_calm_clear(calm);
    }
    return status;
}

void sn_calm_clear(SnCalm *calm)
{
    sn_drift_clear(&calm->drift);
    sn_release(calm->pairs);
    sn_release(calm->places);
    *calm = (SnCalm){0};
}

void sn_calm_go(SnCalm *calm, const SnWay *way)
{
    sn_drift_go(&calm->drift, way);
    sn_drift_place_all(&calm->drift);
}

/* How many times `used` there is. */
static double share(double available, double used)
{
    return available <= 0.0 ? 0.0 : used > 0.0 ? available / used : INFINITY;
}

static double find_ease(const SnCalmPair *pair, const SnDriftBound *bound)
{
    int level = -1;
    while (level + 1 < SN_CALM_LEVELS && bound->shrink >= levels[level + 1]) {
        level++;
    }
    if (level < 0) {
        return 0.0;
    }
    double ease = share(pair->bend[level], bound->bend);
    ease = sn_least(ease, share(bound->shrink * sn_least(pair->apart, pair->reach) - pair->near, bound->stray));
    return sn_least(ease, share(bound->shrink * pair->reach - pair->near, bound->stray_beyond));
}

double sn_calm_ease(SnCalm *calm, size_t one, size_t other)
{
    int32_t place = calm->places[one * calm->drift.patches->count + other];
    double ease = 0.0;
    for (int closely = 0; closely < 2 && place >= 0 && ease < ENOUGH; closely++) {
        const SnCalmPair *pair = calm->pairs + place;
        SnDriftBound bound = sn_drift_bound(&calm->drift, one, other, closely ? pair->reach : -1.0);
        ease = sn_largest(ease, find_ease(pair, &bound));
    }
    return ease;
}
