#include "contact/near.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)1024)
#define LEAN 1e-3    /* sine of the angle at which a neighbour counts as leaning nearer */
#define INSIDE 1e-3  /* of an edge: feet nearer to its end are that end's */
#define BEFORE 0.98   /* of its time: where a hit is looked at, see SnHit */
#define FAINTEST 1e-3 /* weight of edges below which they say nothing */

void sn_touches_clear(SnTouches *touches)
{
    sn_release(touches->touches);
    sn_release(touches->flags);
    memset(touches, 0, sizeof *touches);
}

static SnStatus reserve(SnContext *context, SnTouches *touches, size_t more)
{
    if (touches->count + more > touches->capacity) {
        size_t capacity = 2 * (touches->count + more);
        SnTouch *grown = sn_reallocate(context, touches->touches, capacity, sizeof *grown);
        if (grown == NULL) {
            return SN_OUT_OF_MEMORY;
        }
        touches->touches = grown;
        touches->capacity = capacity;
    }
    return SN_OK;
}

static void sort2(int32_t *a, int32_t *b)
{
    if (*b < *a) {
        int32_t kept = *a;
        *a = *b;
        *b = kept;
    }
}

/* The key of the features that the weights rest on. */
static void set_key(SnTouch *touch)
{
    int32_t sides[2][3];
    int counts[2] = {0}, first = touch->edges ? 2 : 1;
    for (int i = 0; i < 4; i++) {
        int side = i >= first;
        if (touch->c[i] != 0.0) {
            sides[side][counts[side]++] = touch->points[i];
        }
    }
    for (int side = 0; side < 2; side++) {
        for (int k = 1; k < counts[side]; k++) {
            for (int j = k; j > 0; j--) {
                sort2(&sides[side][j - 1], &sides[side][j]);
            }
        }
    }
    int swapped = counts[1] < counts[0] || (counts[0] == counts[1] && sides[1][0] < sides[0][0]);
    int32_t *key = touch->key;
    *key++ = 4 * counts[swapped] + counts[!swapped];
    for (int side = 0; side < 2; side++) {
        int from = side ^ swapped;
        for (int k = 0; k < counts[from]; k++) {
            *key++ = sides[from][k];
        }
    }
    while (key < touch->key + 5) {
        *key++ = -1;
    }
}

int sn_touch_compare(const void *left, const void *right)
{
    const int32_t *a = ((const SnTouch *)left)->key, *b = ((const SnTouch *)right)->key;
    for (int k = 0; k < 5; k++) {
        if (a[k] != b[k]) {
            return a[k] < b[k] ? -1 : 1;
        }
    }
    return 0;
}

static const SnPair *find_pair(const SnCandidates *candidates, int edges, int32_t pair)
{
    return (edges ? candidates->edges.pairs : candidates->point_triangles.pairs) + pair;
}

/* Points on their way: at `time` from one place to another; `to` null: they stand. */
typedef struct Moment {
    const double *from, *to;
    double time;
} Moment;

static inline void find_point(const Moment *moment, int32_t point, double x[3])
{
    for (size_t k = 3 * (size_t)point, a = 0; a < 3; a++, k++) {
        x[a] = moment->from[k] + (moment->to != NULL ? moment->time * (moment->to[k] - moment->from[k]) : 0.0);
    }
}

static inline void find_difference(const Moment *moment, int32_t point, int32_t origin, double d[3])
{
    double x[3], o[3];
    find_point(moment, point, x);
    find_point(moment, origin, o);
    sn_subtract(x, o, d);
}

/* Whether some neighbour of a point leans along `n` by less than nothing, or than `play`. */
static int point_leans(const SnSurface *surface, const Moment *q, int32_t point, const double n[3], double sign, double play)
{
    for (int32_t k = surface->point_starts[point]; k < surface->point_starts[point + 1]; k++) {
        double d[3];
        find_difference(q, surface->point_points[k], point, d);
        if (sign * sn_dot3(n, d) < -fmax(LEAN * sqrt(sn_dot3(d, d)), play)) {
            return 1;
        }
    }
    return 0;
}

/* The same for the triangles at an edge. */
static int edge_leans(const SnSurface *surface, const Moment *q, int32_t edge, const double n[3], double sign, double play)
{
    const int32_t *ends = surface->edges + 2 * (size_t)edge;
    double along[3];
    find_difference(q, ends[1], ends[0], along);
    double squared = sn_dot3(along, along);
    for (int32_t k = surface->edge_triangle_starts[edge]; k < surface->edge_triangle_starts[edge + 1]; k++) {
        const int32_t *triangle = surface->triangles + 3 * (size_t)surface->edge_triangles[k];
        int32_t third = triangle[0] + triangle[1] + triangle[2] - ends[0] - ends[1];
        double inward[3];
        find_difference(q, third, ends[0], inward);
        double part = squared > 0.0 ? sn_dot3(inward, along) / squared : 0.0;
        for (int a = 0; a < 3; a++) {
            inward[a] -= part * along[a];
        }
        if (sign * sn_dot3(n, inward) < -fmax(LEAN * sqrt(sn_dot3(inward, inward)), play)) {
            return 1;
        }
    }
    return 0;
}

/* The edge of a triangle between two of its corners. */
static int32_t find_edge(const SnSurface *surface, int32_t triangle, int32_t a, int32_t b)
{
    for (int k = 0; k < 3; k++) {
        int32_t edge = surface->triangle_edges[3 * (size_t)triangle + (size_t)k];
        const int32_t *ends = surface->edges + 2 * (size_t)edge;
        if ((ends[0] == a && ends[1] == b) || (ends[0] == b && ends[1] == a)) {
            return edge;
        }
    }
    return -1;
}

/* Whether the feature of a triangle that a foot rests on is the nearest around. */
static int foot_is_lowest(const SnSurface *surface, const Moment *q, const SnPair *pair, const SnTouch *touch)
{
    int32_t corners[3];
    int count = 0;
    for (int i = 1; i < 4; i++) {
        if (touch->c[i] != 0.0) {
            corners[count++] = pair->points[i];
        }
    }
    if (count == 1) {
        return !point_leans(surface, q, corners[0], touch->n, -1.0, 0.0);
    }
    if (count == 2) {
        int32_t edge = find_edge(surface, pair->elements[1], corners[0], corners[1]);
        return edge < 0 || !edge_leans(surface, q, edge, touch->n, -1.0, 0.0);
    }
    return 1;
}

/* Whether both feet of edges are inside of them. */
static int crosses(const SnTouch *touch)
{
    return fmin(fabs(touch->c[0]), fabs(touch->c[1])) > INSIDE && fmin(fabs(touch->c[2]), fabs(touch->c[3])) > INSIDE;
}

/* Whether the distance of a pair is a local minimum on both sides, but for some play. */
static int is_lowest(const SnSurface *surface, const Moment *q, const SnPair *pair, const SnTouch *touch, double play)
{
    if (touch->edges) {
        return crosses(touch) && !edge_leans(surface, q, pair->elements[0], touch->n, 1.0, play) &&
               !edge_leans(surface, q, pair->elements[1], touch->n, -1.0, play);
    }
    return !point_leans(surface, q, pair->points[0], touch->n, 1.0, play) && foot_is_lowest(surface, q, pair, touch);
}

/* Whether a pair of a tangle is where it should be: in front of the triangle, or both edges in front of each other, of closed bodies. */
static int is_in_front(const SnSurface *surface, const double *q, const SnPair *pair, const SnTouch *touch)
{
    double front[2] = {0.0, 0.0};
    for (int side = touch->edges ? 0 : 1; side < 2; side++) {
        int outward = surface->bodies[surface->point_bodies[pair->points[3 * side]]].outward;
        int32_t begin = touch->edges ? surface->edge_triangle_starts[pair->elements[side]] : 0;
        int32_t end = touch->edges ? surface->edge_triangle_starts[pair->elements[side] + 1] : 1;
        for (int32_t k = begin; k < end; k++) {
            const int32_t *t = surface->triangles + 3 * (size_t)(touch->edges ? surface->edge_triangles[k] : pair->elements[1]);
            double u[3], v[3], normal[3];
            sn_subtract(q + 3 * (size_t)t[1], q + 3 * (size_t)t[0], u);
            sn_subtract(q + 3 * (size_t)t[2], q + 3 * (size_t)t[0], v);
            sn_cross3(u, v, normal);
            double length = sn_length(normal);
            front[side] += length > 0.0 ? (side ? outward : -outward) * sn_dot3(normal, touch->n) / length : 0.0;
        }
    }
    return front[1] > 0.0 && (front[0] > 0.0 || !touch->edges);
}

/* Touches of an earlier moment, and what each pressed with. */
typedef struct Pressed {
    const SnTouches *touches;
    const double *forces;
} Pressed;

/* Whether a pair has pressed, with both feet inside of what they rest on: its direction is the surfaces' own. */
static int has_pressed(const Pressed *pressed, SnTouch *touch)
{
    const SnTouches *touches = pressed->touches;
    int inside = touch->edges ? crosses(touch) : touch->c[1] != 0.0 && touch->c[2] != 0.0 && touch->c[3] != 0.0;
    if (!inside || touches->count == 0 || pressed->forces == NULL) {
        return 0;
    }
    set_key(touch);
    const SnTouch *found = bsearch(touch, touches->touches, touches->count, sizeof *touch, sn_touch_compare);
    return found != NULL && pressed->forces[found - touches->touches] > 0.0;
}

/* Looks at a candidate: 1 where it touches. */
static int look(const SnCandidates *candidates, const Pressed *pressed, int32_t place, const double *q, SnTouch *touch)
{
    const SnSurface *surface = candidates->surface;
    int edges;
    const SnPair *pair = sn_candidates_at(candidates, place, &edges);
    double x[4][3], reach = SN_NEAR * pair->gap;
    if (pair->gap <= 0.0) {
        return 0;
    }
    sn_gather_points(pair->points, q, x);
    double middles[3];
    sn_middles(edges ? 2 : 1, (const double(*)[3])x, middles);
    if (sn_is_ahead(sn_ahead_along(edges ? 2 : 1, middles, (const double(*)[3])x), middles, reach)) {
        return 0;
    }
    SnNearest nearest = edges ? sn_nearest_edges(x) : sn_nearest_point_triangle(x);
    if (!(nearest.squared < reach * reach) || nearest.squared == 0.0) {
        return 0;
    }
    *touch = (SnTouch){.gap = pair->gap, .weight = 1.0, .edges = edges, .is_wish = pair->exempt == SN_CAUGHT || pair->exempt == SN_EXEMPT};
    touch->pair = edges ? place - (int32_t)candidates->point_triangles.count : place;
    memcpy(touch->points, pair->points, sizeof touch->points);
    memcpy(touch->c, nearest.c, sizeof touch->c);
    touch->distance = sn_nearest_normal(&nearest, touch->n);
    touch->weight = edges ? sn_edges_weight(x) : 1.0;
    Moment now = {q, NULL, 0.0};
    int is_near = touch->weight > FAINTEST && (is_lowest(surface, &now, pair, touch, 0.0) ||
                                               (has_pressed(pressed, touch) && is_lowest(surface, &now, pair, touch, touch->distance)));
    return is_near && (pair->exempt != SN_EXEMPT || is_in_front(surface, q, pair, touch));
}

typedef struct LookJob {
    const SnCandidates *candidates;
    Pressed pressed;
    const double *q;
    unsigned char *flags;
} LookJob;

static void look_at_some(void *data, size_t chunk, size_t begin, size_t end)
{
    const LookJob *job = data;
    SnTouch touch;
    (void)chunk;
    for (size_t k = begin; k < end; k++) {
        job->flags[k] = (unsigned char)look(job->candidates, &job->pressed, job->candidates->watched[k], job->q, &touch);
    }
}

/* Sorted, and each feature once: the first of equals stays. */
static void sort_touches(SnTouches *touches)
{
    size_t kept = 0;
    if (touches->count == 0) {
        return;
    }
    qsort(touches->touches, touches->count, sizeof *touches->touches, sn_touch_compare);
    for (size_t k = 0; k < touches->count; k++) {
        if (kept == 0 || sn_touch_compare(touches->touches + kept - 1, touches->touches + k) != 0) {
            touches->touches[kept++] = touches->touches[k];
        }
    }
    touches->count = kept;
}

SnStatus sn_near_find(SnContext *context, const SnCandidates *candidates, const double *q, const SnTouches *before, const double *forces,
                      SnTouches *touches)
{
    SnStatus status = SN_OK;
    size_t count = candidates->watched_count;
    touches->count = 0;
    SN_TRY_ROOM(context, touches->flags, count, touches->flag_capacity);
    LookJob job = {candidates, {before, forces}, q, touches->flags};
    sn_parallel_for(count, CHUNK, look_at_some, &job);
    for (size_t k = 0; k < count; k++) {
        if (touches->flags[k]) {
            SN_TRY(reserve(context, touches, 1));
            (void)look(candidates, &job.pressed, candidates->watched[k], q, touches->touches + touches->count);
            set_key(touches->touches + touches->count++);
        }
    }
    sort_touches(touches);
cleanup:
    return status;
}

SnStatus sn_near_add_hits(SnContext *context, const SnCandidates *candidates, const SnHits *hits, const double *from, const double *to,
                          SnTouches *touches)
{
    SnStatus status = reserve(context, touches, hits->count);
    if (status != SN_OK || hits->count == 0) {
        return status;
    }
    /* in front, so that of equals they are the first: room is made by moving the others up */
    size_t added = 0;
    memmove(touches->touches + hits->count, touches->touches, touches->count * sizeof *touches->touches);
    for (size_t k = 0; k < hits->count; k++) {
        const SnHit *hit = hits->hits + k;
        const SnPair *pair = find_pair(candidates, hit->edges, hit->pair);
        SnTouch touch = {.distance = hit->distance, .gap = pair->gap, .weight = 1.0, .edges = hit->edges, .pair = hit->pair};
        if (sn_dot3(hit->n, hit->n) == 0.0) {
            continue;
        }
        memcpy(touch.points, pair->points, sizeof touch.points);
        memcpy(touch.c, hit->c, sizeof touch.c);
        memcpy(touch.n, hit->n, sizeof touch.n);
        if (hit->time > hits->time && !is_lowest(candidates->surface, &(Moment){from, to, BEFORE * hit->time}, pair, &touch, 0.0)) {
            continue;
        }
        set_key(&touch);
        SnTouch *old = bsearch(&touch, touches->touches + hits->count, touches->count, sizeof touch, sn_touch_compare);
        if (old != NULL) {
            *old = touch;
        } else {
            touches->touches[added++] = touch;
        }
    }
    memmove(touches->touches + added, touches->touches + hits->count, touches->count * sizeof *touches->touches);
    touches->count += added;
    sort_touches(touches);
    return SN_OK;
}

SnStatus sn_near_add(SnContext *context, const SnTouch *touch, SnTouches *touches)
{
    SnStatus status = reserve(context, touches, 1);
    if (status == SN_OK) {
        touches->touches[touches->count] = *touch;
        set_key(touches->touches + touches->count++);
    }
    return status;
}

void sn_near_sort(SnTouches *touches)
{
    sort_touches(touches);
}

SnStatus sn_near_keep(SnContext *context, const SnTouches *earlier, SnTouches *touches)
{
    size_t count = touches->count;
    SnStatus status = reserve(context, touches, earlier->count);
    if (status != SN_OK) {
        return status;
    }
    for (size_t k = 0; k < earlier->count; k++) { /* there is room, so no pointer is null */
        if (bsearch(earlier->touches + k, touches->touches, count, sizeof *touches->touches, sn_touch_compare) == NULL) {
            touches->touches[touches->count++] = earlier->touches[k];
        }
    }
    sort_touches(touches);
    return SN_OK;
}
