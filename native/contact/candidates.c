#include "contact/candidates.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "contact/distance.h"

#include <string.h>

#define POINTS_PER_CHUNK 4096
#define ROWS_PER_CHUNK 256      /* triangles of the first tree */
#define LEAST_GAP 1e-3          /* of g0: nearer at rest, a pair is one place of a mesh that is cut there */
#define ROUNDING 1e-9           /* of a distance that is to be kept: what is there already presses on nothing */
#define ASKED_GAPS 4.0          /* the margin is at least so many gaps, ... */
#define ASKED_MOTIONS 2.0       /* ... and so many times what points move, ... */
#define WIDEST 0.25             /* ... where that is less than such a part of an edge */

/* Of a body since the last search, metres along an axis: the mean move of its points, the most that one left its box. */
struct SnBodyMove {
    double mean[3], own_excess, excess;
};

/* Moves */

typedef struct Moves {
    const SnCandidates *candidates;
    const double *from, *to;
    size_t first;
    const double *mean;
    double *chunks; /* per chunk: 3 sums, or two excesses */
} Moves;

static void add_moves(void *data, size_t chunk, size_t begin, size_t end)
{
    const Moves *moves = data;
    double sum[3] = {0.0, 0.0, 0.0};
    for (size_t p = moves->first + begin; p < moves->first + end; p++) {
        const double *box = moves->candidates->boxes + 6 * p;
        for (size_t axis = 0; axis < 3; axis++) {
            sum[axis] += 0.5 * (moves->from[3 * p + axis] + moves->to[3 * p + axis] - box[axis] - box[3 + axis]);
        }
    }
    memcpy(moves->chunks + 3 * chunk, sum, sizeof sum);
}

static double larger(double a, double b, double c)
{
    return sn_largest(a, sn_largest(b, c));
}

static void find_excess(void *data, size_t chunk, size_t begin, size_t end)
{
    const Moves *moves = data;
    double excess = 0.0, own = 0.0;
    for (size_t p = moves->first + begin; p < moves->first + end; p++) {
        const double *box = moves->candidates->boxes + 6 * p;
        for (size_t axis = 0; axis < 3; axis++) {
            double a = moves->from[3 * p + axis], b = moves->to[3 * p + axis], mean = moves->mean[axis];
            double low = sn_least(a, b) - box[axis], high = sn_largest(a, b) - box[3 + axis];
            excess = larger(excess, -low, high);
            own = larger(own, mean - low, high - mean);
        }
    }
    moves->chunks[3 * chunk] = excess;
    moves->chunks[3 * chunk + 1] = own;
}

/* How far the points of a body went beyond the boxes of the last search. Those of a body without triangles do not count. */
static void measure_body(SnCandidates *candidates, size_t number, const double *from, const double *to)
{
    const SnSurfaceBody *body = candidates->surface->bodies + number;
    SnBodyMove *move = candidates->moves + number;
    Moves moves = {candidates, from, to, body->first_point, move->mean, candidates->chunk_values};
    size_t chunks = sn_parallel_chunk_count(body->point_count, POINTS_PER_CHUNK);
    memset(move->mean, 0, sizeof move->mean);
    move->excess = move->own_excess = 0.0;
    if (body->triangle_count == 0) {
        return;
    }
    sn_parallel_for(body->point_count, POINTS_PER_CHUNK, add_moves, &moves);
    for (size_t i = 0; i < 3 * chunks; i++) {
        move->mean[i % 3] += moves.chunks[i] / (double)body->point_count;
    }
    sn_parallel_for(body->point_count, POINTS_PER_CHUNK, find_excess, &moves);
    for (size_t i = 0; i < chunks; i++) {
        move->excess = sn_largest(move->excess, moves.chunks[3 * i]);
        move->own_excess = sn_largest(move->own_excess, moves.chunks[3 * i + 1]);
    }
}

/* Whether the lists of the last search still hold what is asked for. What is not a number never does. */
static int is_still_valid(SnCandidates *candidates, const double *from, const double *to)
{
    const SnSurface *surface = candidates->surface;
    int valid = candidates->is_valid;
    for (size_t b = 0; b < surface->body_count && candidates->is_valid; b++) {
        measure_body(candidates, b, from, to);
    }
    for (size_t a = 0; a < surface->body_count && valid; a++) {
        for (size_t b = a; b < surface->body_count; b++) {
            const SnBodyMove *one = candidates->moves + a, *two = candidates->moves + b;
            double eaten = a == b ? 2.0 * one->own_excess : one->excess + two->excess;
            valid &= !sn_trees_bodies_meet(surface, a, b, 0) || eaten <= candidates->margin;
        }
    }
    return valid;
}

/* Boxes */

typedef struct Sweep {
    SnCandidates *candidates;
    const double *from, *to;
} Sweep;

static void sweep_points(void *data, size_t chunk, size_t begin, size_t end)
{
    const Sweep *sweep = data;
    (void)chunk;
    for (size_t i = 3 * begin; i < 3 * end; i++) {
        double *box = sweep->candidates->boxes + 6 * (i / 3) + i % 3;
        box[0] = sn_least(sweep->from[i], sweep->to[i]);
        box[3] = sn_largest(sweep->from[i], sweep->to[i]);
    }
}

/* The box of some points, larger by the thickness and half the gap that a side brings to a pair, and by how near "near" is. */
static void bound_points(const SnCandidates *candidates, int count, const int32_t *points, double low[3], double high[3])
{
    double thickness = 0.0;
    for (int k = 0; k < count; k++) {
        const double *box = candidates->boxes + 6 * (size_t)points[k];
        for (int axis = 0; axis < 3; axis++) {
            low[axis] = k == 0 ? box[axis] : sn_least(low[axis], box[axis]);
            high[axis] = k == 0 ? box[3 + axis] : sn_largest(high[axis], box[3 + axis]);
        }
        thickness = sn_largest(thickness, candidates->surface->thickness[points[k]]);
    }
    double reach = SN_NEAR * (thickness + 0.5 * candidates->def.gap);
    for (int axis = 0; axis < 3; axis++) {
        low[axis] -= reach;
        high[axis] += reach;
    }
}

static void bound_triangles(void *data, size_t chunk, size_t begin, size_t end)
{
    const Sweep *sweep = data;
    (void)chunk;
    for (size_t t = begin; t < end; t++) {
        double *box = sweep->candidates->trees.boxes + 6 * t;
        bound_points(sweep->candidates, 3, sweep->candidates->surface->triangles + 3 * t, box, box + 3);
    }
}

/* Wide enough for moves like those since the last search. */
static void choose_margin(SnCandidates *candidates)
{
    double motion = 0.0, least = ASKED_GAPS * candidates->largest_gap;
    for (size_t b = 0; b < candidates->surface->body_count && candidates->is_valid; b++) {
        motion = sn_largest(motion, candidates->moves[b].own_excess);
    }
    double wide = ASKED_MOTIONS * motion; /* what moves farther than that will be searched for again whatever the margin */
    candidates->margin = sn_largest(least, wide <= WIDEST * candidates->edge_length ? wide : 0.0);
}

/* Pairs */

typedef struct Meeting {
    SnCandidates *candidates;
    const SnBoxPairs *found;
    size_t first[2]; /* triangles of both bodies */
    size_t *counts; /* per chunk of rows: PT and EE */
} Meeting;

static int boxes_meet(const double low[3], const double high[3], const double other_low[3], const double other_high[3], double margin)
{
    return (low[0] - margin <= other_high[0]) & (low[1] - margin <= other_high[1]) & (low[2] - margin <= other_high[2]) &
           (other_low[0] - margin <= high[0]) & (other_low[1] - margin <= high[1]) & (other_low[2] - margin <= high[2]);
}

/* Whether two sides, of `count` and `other_count` points, may touch at all. */
static int sides_may_touch(const SnSurface *surface, int count, const int32_t *points, int other_count, const int32_t *other)
{
    int kinematic = 1, shared = 0;
    for (int i = 0; i < count; i++) {
        kinematic &= surface->kinematic[points[i]];
        for (int j = 0; j < other_count; j++) {
            shared |= points[i] == other[j];
        }
    }
    for (int j = 0; j < other_count; j++) {
        kinematic &= surface->kinematic[other[j]];
    }
    return !kinematic && !shared && !sn_surface_ignores(surface, count, points, other_count, other);
}

static int sides_meet(const SnCandidates *candidates, int count, const int32_t *points, int other_count, const int32_t *other)
{
    double low[3], high[3], other_low[3], other_high[3];
    if (!sides_may_touch(candidates->surface, count, points, other_count, other)) {
        return 0;
    }
    bound_points(candidates, count, points, low, high);
    bound_points(candidates, other_count, other, other_low, other_high);
    return boxes_meet(low, high, other_low, other_high, candidates->margin);
}

/* Bits 0 to 2: corners of the first triangle against the second; 3 to 5: the reverse; 6 + 3 i + j: edge i against edge j. */
static unsigned pair_triangles(const SnCandidates *candidates, size_t a, size_t b)
{
    const SnSurface *surface = candidates->surface;
    const size_t both[2] = {a, b};
    unsigned mask = 0;
    for (unsigned side = 0; side < 2; side++) {
        size_t own = both[side], other = both[1 - side];
        for (unsigned k = 0; k < 3; k++) {
            if (surface->owned[own] >> k & 1 &&
                sides_meet(candidates, 1, surface->triangles + 3 * own + k, 3, surface->triangles + 3 * other)) {
                mask |= 1u << (3 * side + k);
            }
        }
    }
    for (unsigned i = 0; i < 3; i++) {
        const int32_t *edge = surface->edges + 2 * (size_t)surface->triangle_edges[3 * a + i];
        for (unsigned j = 0; j < 3 && surface->owned[a] >> (3 + i) & 1; j++) {
            const int32_t *other = surface->edges + 2 * (size_t)surface->triangle_edges[3 * b + j];
            if (surface->owned[b] >> (3 + j) & 1 && sides_meet(candidates, 2, edge, 2, other)) {
                mask |= 1u << (6 + 3 * i + j);
            }
        }
    }
    return mask;
}

static size_t count_bits(unsigned mask)
{
    size_t count = 0;
    for (; mask != 0; mask &= mask - 1) {
        count++;
    }
    return count;
}

static void mask_rows(void *data, size_t chunk, size_t begin, size_t end)
{
    const Meeting *meeting = data;
    SnCandidates *candidates = meeting->candidates;
    const SnBoxPairs *found = meeting->found;
    size_t counts[2] = {0, 0};
    for (size_t row = begin; row < end; row++) {
        for (size_t i = found->starts[row]; i < found->starts[row + 1]; i++) {
            unsigned mask = pair_triangles(candidates, meeting->first[0] + row, meeting->first[1] + (size_t)found->others[i]);
            candidates->masks[i] = (uint16_t)mask;
            counts[0] += count_bits(mask & 63);
            counts[1] += count_bits(mask >> 6);
        }
    }
    memcpy(meeting->counts + 2 * chunk, counts, sizeof counts);
}

static double side_thickness(const SnSurface *surface, int count, const int32_t *points)
{
    double thickness = 0.0;
    for (int i = 0; i < count; i++) {
        thickness = sn_largest(thickness, surface->thickness[points[i]]);
    }
    return thickness;
}

static double pair_distance(const SnPair *pair, int is_edges, const double *q)
{
    double x[4][3];
    sn_gather_points(pair->points, q, x);
    return sqrt(is_edges ? sn_nearest_edges(x).squared : sn_nearest_point_triangle(x).squared);
}

static void keep_input(SnPair *pair, int is_edges, const SnCandidatesDef *def)
{
    double distance = def->input ? pair_distance(pair, is_edges, def->input) : INFINITY;
    pair->gap = distance < LEAST_GAP * def->gap ? 0.0 : sn_least(pair->limit, (1.0 - ROUNDING) * distance);
}

/* limit 0: the pair is none. */
static SnPair make_pair(const SnCandidates *candidates, int is_edges, int32_t first, int32_t second)
{
    const SnSurface *surface = candidates->surface;
    SnPair pair = {.elements = {first, second}};
    if (is_edges) {
        memcpy(pair.points, surface->edges + 2 * (size_t)first, 2 * sizeof(int32_t));
        memcpy(pair.points + 2, surface->edges + 2 * (size_t)second, 2 * sizeof(int32_t));
    } else {
        pair.points[0] = first;
        memcpy(pair.points + 1, surface->triangles + 3 * (size_t)second, 3 * sizeof(int32_t));
    }
    int count = is_edges ? 2 : 1;
    pair.limit = side_thickness(surface, count, pair.points) + side_thickness(surface, 4 - count, pair.points + count) +
                 candidates->def.gap;
    if (surface->point_bodies[pair.points[0]] == surface->point_bodies[pair.points[3]]) {
        double distance = pair_distance(&pair, is_edges, surface->rest);
        pair.limit = distance < LEAST_GAP * candidates->def.gap ? 0.0 : sn_least(pair.limit, 0.5 * distance);
    }
    keep_input(&pair, is_edges, &candidates->def);
    return pair;
}

static void expand_rows(void *data, size_t chunk, size_t begin, size_t end)
{
    const Meeting *meeting = data;
    SnCandidates *candidates = meeting->candidates;
    const SnSurface *surface = candidates->surface;
    const SnBoxPairs *found = meeting->found;
    SnPair *points = candidates->point_triangles.pairs + meeting->counts[2 * chunk];
    SnPair *edges = candidates->edges.pairs + meeting->counts[2 * chunk + 1];
    for (size_t row = begin; row < end; row++) {
        for (size_t i = found->starts[row]; i < found->starts[row + 1]; i++) {
            size_t a = meeting->first[0] + row, b = meeting->first[1] + (size_t)found->others[i];
            for (unsigned bit = 0, mask = candidates->masks[i]; mask >> bit != 0; bit++) {
                if (!(mask >> bit & 1)) {
                    continue;
                }
                if (bit < 6) {
                    size_t own = bit < 3 ? a : b, other = bit < 3 ? b : a;
                    *points++ = make_pair(candidates, 0, surface->triangles[3 * own + bit % 3], (int32_t)other);
                } else {
                    unsigned first = (bit - 6) / 3, second = (bit - 6) % 3;
                    *edges++ = make_pair(candidates, 1, surface->triangle_edges[3 * a + first], surface->triangle_edges[3 * b + second]);
                }
            }
        }
    }
}

/* Counts become the places where each chunk writes; the lists grow by their sums. */
static SnStatus place_chunks(SnContext *context, SnCandidates *candidates, size_t chunk_count, size_t *counts)
{
    SnStatus status = SN_OK;
    SnPairList *lists[2] = {&candidates->point_triangles, &candidates->edges};
    for (size_t k = 0; k < 2; k++) {
        size_t sum = lists[k]->count;
        for (size_t chunk = 0; chunk < chunk_count; chunk++) {
            size_t own = counts[2 * chunk + k];
            counts[2 * chunk + k] = sum;
            sum += own;
        }
        SN_TRY_ROOM(context, lists[k]->pairs, sum, lists[k]->capacity);
        lists[k]->count = sum;
    }
cleanup:
    return status;
}

/* Takes out, from `begin` on, the pairs that are none. */
static void drop_pairs(size_t begin, SnPairList *list)
{
    size_t kept = begin;
    for (size_t i = begin; i < list->count; i++) {
        if (list->pairs[i].limit > 0.0) {
            list->pairs[kept++] = list->pairs[i];
        }
    }
    list->count = kept;
}

/* Adds the pairs of two bodies, or of one with itself. */
static SnStatus add_bodies(SnContext *context, void *data, size_t body, size_t other, const SnBoxPairs *found)
{
    SnStatus status = SN_OK;
    SnCandidates *candidates = data;
    const SnSurfaceBody *one = candidates->surface->bodies + body, *two = candidates->surface->bodies + other;
    size_t points = candidates->point_triangles.count, edges = candidates->edges.count;
    size_t chunks = sn_parallel_chunk_count(one->triangle_count, ROWS_PER_CHUNK);
    SN_TRY_ROOM(context, candidates->masks, found->count, candidates->mask_capacity);
    SN_TRY_ROOM(context, candidates->chunk_counts, 2 * chunks, candidates->chunk_capacity);
    Meeting meeting = {candidates, found, {one->first_triangle, two->first_triangle}, candidates->chunk_counts};
    sn_parallel_for(one->triangle_count, ROWS_PER_CHUNK, mask_rows, &meeting);
    SN_TRY(place_chunks(context, candidates, chunks, meeting.counts));
    sn_parallel_for(one->triangle_count, ROWS_PER_CHUNK, expand_rows, &meeting);
    drop_pairs(points, &candidates->point_triangles);
    drop_pairs(edges, &candidates->edges);
cleanup:
    return status;
}

SnStatus sn_candidates_find(SnContext *context, SnCandidates *candidates, const double *from, const double *to, int *searched)
{
    SnStatus status = SN_OK;
    const SnSurface *surface = candidates->surface;
    Sweep sweep = {candidates, from, to};
    int valid = is_still_valid(candidates, from, to);
    if (searched != NULL) {
        *searched = !valid;
    }
    if (valid) {
        return SN_OK;
    }
    choose_margin(candidates);
    candidates->is_valid = 0;
    candidates->searches++;
    sn_parallel_for(surface->point_count, POINTS_PER_CHUNK, sweep_points, &sweep);
    sn_parallel_for(surface->triangle_count, POINTS_PER_CHUNK, bound_triangles, &sweep);
    candidates->point_triangles.count = candidates->edges.count = 0;
    SN_TRY(sn_trees_fit(context, &candidates->trees));
    SN_TRY(sn_trees_meet(context, &candidates->trees, candidates->margin, 0, add_bodies, candidates));
    candidates->is_valid = 1;
cleanup:
    return status;
}

void sn_candidates_keep_input(SnCandidates *candidates, const double *input)
{
    SnPairList *lists[2] = {&candidates->point_triangles, &candidates->edges};
    candidates->def.input = input;
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < lists[k]->count; i++) {
            keep_input(lists[k]->pairs + i, k, &candidates->def);
        }
    }
}

void sn_candidates_forget(SnCandidates *candidates)
{
    candidates->is_valid = 0;
}

SnStatus sn_candidates_init(SnContext *context, const SnSurface *surface, const SnCandidatesDef *def, SnCandidates *candidates)
{
    SnStatus status = SN_OK;
    double thickness = 0.0;
    *candidates = (SnCandidates){.surface = surface, .def = *def};
    if (!(def->gap > 0.0 && isfinite(def->gap))) {
        SN_TRY(sn_context_fail(context, SN_BAD_INPUT, "The gap of contact is %g: give more than 0.", def->gap));
    }
    SN_TRY(sn_trees_init(context, surface, &candidates->trees));
    SN_TRY_NEW(context, candidates->moves, surface->body_count, SnBodyMove);
    SN_TRY_NEW(context, candidates->boxes, 6 * surface->point_count, double);
    SN_TRY_NEW(context, candidates->chunk_values, 3 * sn_parallel_chunk_count(surface->point_count + 1, POINTS_PER_CHUNK), double);
    for (size_t p = 0; p < surface->point_count; p++) {
        thickness = sn_largest(thickness, surface->thickness[p]);
    }
    candidates->largest_gap = 2.0 * thickness + def->gap;
    for (size_t e = 0; e < surface->edge_count; e++) {
        const int32_t *edge = surface->edges + 2 * e;
        candidates->edge_length += sqrt(sn_distance_squared(surface->rest + 3 * (size_t)edge[0], surface->rest + 3 * (size_t)edge[1])) /
                                   (double)surface->edge_count;
    }
cleanup:
    if (status != SN_OK) {
        sn_candidates_clear(candidates);
    }
    return status;
}

void sn_candidates_clear(SnCandidates *candidates)
{
    sn_trees_clear(&candidates->trees);
    sn_release(candidates->moves);
    sn_release(candidates->boxes);
    sn_release(candidates->masks);
    sn_release(candidates->chunk_counts);
    sn_release(candidates->chunk_values);
    sn_release(candidates->point_triangles.pairs);
    sn_release(candidates->edges.pairs);
    *candidates = (SnCandidates){0};
}
