#include "contact/ccd.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <string.h>

#define MOST_ROUNDS 64
#define GAP_KEPT 0.1      /* of the wanted gap, ... */
#define DISTANCE_KEPT 0.9 /* ... or of the distance at the start, where that is less: stays proved */
#define ARRIVED 0.01      /* so near to what is kept, relative to it, an advance has come to its end */
#define BEFORE 0.98       /* of its time: where a hit is looked at */
#define PAIRS_PER_CHUNK 512

/* How long, from now, every corner of the first side (`count` of the four) stays more than `kept` ahead of every corner of the second. */
static double time_along(int count, const double x[4][3], const double v[4][3], const double n[3], double kept)
{
    double least = INFINITY, height[4], speed[4];
    for (int i = 0; i < 4; i++) {
        height[i] = sn_dot3(n, x[i]);
        speed[i] = sn_dot3(n, v[i]);
    }
    for (int i = 0; i < count; i++) {
        for (int j = count; j < 4; j++) {
            double ahead = height[i] - height[j] - kept, closing = speed[j] - speed[i];
            if (ahead <= 0.0) {
                return 0.0;
            }
            least = closing > 0.0 ? sn_least(least, ahead / closing) : least;
        }
    }
    return least;
}

static double largest_relative_speed(int count, const double v[4][3])
{
    double largest = 0.0;
    for (int i = 0; i < count; i++) {
        for (int j = count; j < 4; j++) {
            largest = sn_largest(largest, sn_distance_squared(v[i], v[j]));
        }
    }
    return sqrt(largest);
}

double sn_ccd_pair(int edges, const double x[4][3], const double y[4][3], double gap, int *rounds)
{
    int count = edges ? 2 : 1, round, close = 1;
    double v[4][3], now[4][3], n[3], time = 0.0, kept = 0.0;
    sn_middles(count, x, n);
    if (sn_is_ahead(sn_least(sn_ahead_along(count, n, x), sn_ahead_along(count, n, y)), n, GAP_KEPT * gap)) { /* affine in time */
        if (rounds != NULL) {
            *rounds = 0;
        }
        return SN_CCD_FREE;
    }
    for (int axis = 0; axis < 3; axis++) { /* what all four do together brings nothing nearer */
        double mean = 0.0;
        for (int i = 0; i < 4; i++) {
            v[i][axis] = y[i][axis] - x[i][axis];
            mean += 0.25 * v[i][axis];
        }
        for (int i = 0; i < 4; i++) {
            v[i][axis] -= mean;
        }
    }
    double speed = largest_relative_speed(count, v);
    for (round = 1; close <= MOST_ROUNDS; round++) {
        for (int i = 0; i < 4; i++) {
            for (int axis = 0; axis < 3; axis++) {
                now[i][axis] = x[i][axis] + time * v[i][axis];
            }
        }
        SnNearest nearest = edges ? sn_nearest_edges(now) : sn_nearest_point_triangle(now);
        double distance = sn_nearest_normal(&nearest, n);
        close += distance < SN_NEAR * gap; /* what never comes near is always free, so it need not be looked at */
        kept = round == 1 ? sn_least(GAP_KEPT * gap, DISTANCE_KEPT * distance) : kept;
        if (distance - kept <= ARRIVED * kept) {
            break;
        }
        double straight = speed > 0.0 ? (distance - kept) / speed : INFINITY;
        time += sn_largest(straight, time_along(count, now, v, n, kept));
        if (time >= 1.0) {
            time = SN_CCD_FREE;
            break;
        }
    }
    if (rounds != NULL) {
        *rounds = round;
    }
    return time;
}

/* All pairs */

typedef struct Detection {
    const SnCandidates *candidates;
    const double *from, *to;
    double *times; /* of those that are watched */
    long *rounds;  /* per chunk */
} Detection;

static void detect_pairs(void *data, size_t chunk, size_t begin, size_t end)
{
    const Detection *detection = data;
    detection->rounds[chunk] = 0;
    for (size_t i = begin; i < end; i++) {
        int edges, rounds = 0;
        double x[4][3], y[4][3];
        const SnPair *pair = sn_candidates_at(detection->candidates, detection->candidates->watched[i], &edges);
        detection->times[i] = SN_CCD_FREE;
        if (!pair->exempt && pair->gap > 0.0) {
            sn_gather_points(pair->points, detection->from, x);
            sn_gather_points(pair->points, detection->to, y);
            detection->times[i] = sn_ccd_pair(edges, x, y, pair->gap, &rounds);
        }
        detection->rounds[chunk] += rounds;
    }
}

static SnHit look_at_hit(const Detection *detection, size_t index)
{
    SnHit hit = {.time = detection->times[index]};
    double x[4][3], y[4][3];
    int32_t place = detection->candidates->watched[index];
    const SnPair *pair = sn_candidates_at(detection->candidates, place, &hit.edges);
    hit.pair = hit.edges ? place - (int32_t)detection->candidates->point_triangles.count : place;
    sn_gather_points(pair->points, detection->from, x);
    sn_gather_points(pair->points, detection->to, y);
    for (int i = 0; i < 4; i++) {
        for (int axis = 0; axis < 3; axis++) {
            x[i][axis] += BEFORE * hit.time * (y[i][axis] - x[i][axis]);
        }
    }
    SnNearest nearest = hit.edges ? sn_nearest_edges(x) : sn_nearest_point_triangle(x);
    hit.distance = sn_nearest_normal(&nearest, hit.n);
    memcpy(hit.c, nearest.c, sizeof hit.c);
    return hit;
}

SnStatus sn_ccd_find(SnContext *context, const SnCandidates *candidates, const double *from, const double *to, SnHits *hits)
{
    SnStatus status = SN_OK;
    size_t count = candidates->watched_count, hit_count = 0;
    size_t chunks = sn_parallel_chunk_count(count, PAIRS_PER_CHUNK);
    hits->count = 0;
    hits->rounds = 0;
    hits->time = SN_CCD_FREE;
    SN_TRY(sn_context_look(context));
    SN_TRY_ROOM(context, hits->times, count, hits->time_capacity);
    SN_TRY_ROOM(context, hits->chunk_rounds, chunks, hits->chunk_capacity);
    Detection detection = {candidates, from, to, hits->times, hits->chunk_rounds};
    sn_parallel_for(count, PAIRS_PER_CHUNK, detect_pairs, &detection);
    for (size_t i = 0; i < count; i++) {
        hit_count += hits->times[i] < SN_CCD_FREE;
        hits->time = sn_least(hits->time, hits->times[i]);
    }
    for (size_t i = 0; i < chunks; i++) {
        hits->rounds += hits->chunk_rounds[i];
    }
    SN_TRY_ROOM(context, hits->hits, hit_count, hits->capacity);
    for (size_t i = 0; i < count && hits->count < hit_count; i++) {
        if (hits->times[i] < SN_CCD_FREE) {
            hits->hits[hits->count++] = look_at_hit(&detection, i);
        }
    }
cleanup:
    return status;
}

void sn_hits_clear(SnHits *hits)
{
    sn_release(hits->hits);
    sn_release(hits->times);
    sn_release(hits->chunk_rounds);
    *hits = (SnHits){0};
}
