/* A search: which patches may have pairs, the triangles of these that come near, the pairs of their points and edges, and what slack each
   has. */
#include "contact/candidates_parts.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <string.h>

#define POINTS_PER_CHUNK 4096
#define PAIRS_PER_CHUNK 1024
#define ROWS_PER_CHUNK 256
#define ASKED_GAPS 2.0     /* the margin of a patch is at least so many gaps, if ... */
#define WIDEST 0.25        /* ... such a part of its edges is as much, which it is at most: where triangles are fine, wider would be all around */
#define LEAST_WIDE 0.015625
#define SHORT_LIVED 1      /* questions that a search has answered: the next one asks for less, ... */
#define LONG_LIVED 16      /* ... or for more */
#define EASY 1.5           /* times as calm as need be: patches that are not searched */

/* Lists the patches that the search may find pairs of. */
static SnStatus meet_patches(SnContext *context, SnCandidates *candidates)
{
    SnStatus status = SN_OK;
    size_t count = candidates->patches.count;
    candidates->patch_pair_count = 0;
    for (size_t a = 0; a < count; a++) {
        const SnPatch *one = candidates->patches.patches + a;
        for (size_t b = a; b < count; b++) {
            const SnPatch *other = candidates->patches.patches + b;
            int32_t *meeting = candidates->meetings + a * count + b;
            int ever = !(one->kinematic && other->kinematic) && sn_trees_bodies_meet(candidates->surface, one->body, other->body, 0);
            *meeting = ever ? SN_PATCHES_FAR : SN_PATCHES_NEVER;
            if (ever && sn_patch_boxes_meet(candidates->patch_boxes + 6 * a, candidates->patch_boxes + 6 * b, sn_patch_margin(candidates, a, b)) &&
                sn_calm_ease(&candidates->calm, a, b) < EASY) {
                *meeting = (int32_t)candidates->patch_pair_count;
                SN_TRY_ROOM(context, candidates->patch_pairs, candidates->patch_pair_count + 1, candidates->patch_pair_capacity);
                SN_TRY_ROOM(context, candidates->patch_list, candidates->patch_pair_count + 1, candidates->patch_list_capacity);
                candidates->patch_list[candidates->patch_pair_count][0] = (int32_t)a;
                candidates->patch_list[candidates->patch_pair_count][1] = (int32_t)b;
                candidates->patch_pairs[candidates->patch_pair_count++] = (SnPatchPair){.one = (int32_t)a, .other = (int32_t)b};
            }
        }
    }
cleanup:
    return status;
}

typedef struct Slack {
    SnCandidates *candidates;
    const double *q;
} Slack;

static int32_t patch_of(const SnCandidates *candidates, int is_edge, int32_t element)
{
    const SnSurface *surface = candidates->surface; /* the first triangle at a point or an edge owns it */
    int32_t triangle = is_edge ? surface->edge_triangles[surface->edge_triangle_starts[element]]
                               : surface->point_triangles[surface->point_triangle_starts[element]];
    return candidates->patches.triangle_patches[triangle];
}

static void find_groups(void *data, size_t chunk, size_t begin, size_t end)
{
    const SnCandidates *candidates = ((const Slack *)data)->candidates;
    (void)chunk;
    for (size_t i = begin; i < end; i++) {
        int edges;
        const SnPair *pair = sn_candidates_at(candidates, (int32_t)i, &edges);
        int32_t a = patch_of(candidates, edges, pair->elements[0]);
        int32_t b = edges ? patch_of(candidates, 1, pair->elements[1]) : candidates->patches.triangle_patches[pair->elements[1]];
        size_t low = (size_t)(a < b ? a : b), high = (size_t)(a < b ? b : a);
        candidates->groups[i] = candidates->meetings[low * candidates->patches.count + high];
    }
}

static void find_slack(void *data, size_t chunk, size_t begin, size_t end)
{
    const Slack *slack = data;
    SnCandidates *candidates = slack->candidates;
    (void)chunk;
    for (size_t i = begin; i < end; i++) {
        int edges;
        const SnPair *pair = sn_candidates_at(candidates, candidates->places[i], &edges);
        const SnPatchPair *patches = candidates->patch_pairs + candidates->groups[candidates->places[i]];
        double near = SN_NEAR * pair->limit, margin = sn_patch_margin(candidates, (size_t)patches->one, (size_t)patches->other);
        double apart = sn_pair_distance_or(pair, edges, slack->q, near + margin) - near;
        candidates->slack[i] = (float)(apart > 0.0 ? (1.0 - 1e-6) * apart : 0.0); /* rounded down */
    }
}

/* Sorts the pairs by their patches, with how far they are apart at q. */
static SnStatus order_pairs(SnContext *context, SnCandidates *candidates, const double *q)
{
    SnStatus status = SN_OK;
    size_t count = candidates->point_triangles.count + candidates->edges.count, sum = 0;
    Slack slack = {candidates, q};
    SN_TRY_ROOM(context, candidates->slack, count, candidates->slack_capacity);
    SN_TRY_ROOM(context, candidates->groups, 2 * count, candidates->group_capacity);
    if (count > candidates->flag_capacity) {
        sn_release(candidates->flags);
        candidates->flag_capacity = 0;
        SN_TRY_NEW(context, candidates->flags, 2 * count, unsigned char);
        candidates->flag_capacity = 2 * count;
    }
    SN_TRY_ROOM(context, candidates->watched, count, candidates->watched_capacity);
    candidates->places = candidates->groups + count;
    sn_parallel_for(count, PAIRS_PER_CHUNK, find_groups, &slack);
    for (size_t i = 0; i < count; i++) {
        candidates->patch_pairs[candidates->groups[i]].count++;
    }
    for (size_t k = 0; k < candidates->patch_pair_count; k++) {
        candidates->patch_pairs[k].first = sum;
        sum += candidates->patch_pairs[k].count;
        candidates->patch_pairs[k].count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        SnPatchPair *pair = candidates->patch_pairs + candidates->groups[i];
        candidates->places[pair->first + pair->count++] = (int32_t)i;
    }
    sn_parallel_for(count, PAIRS_PER_CHUNK, find_slack, &slack);
    for (size_t k = 0; k < candidates->patch_pair_count; k++) {
        SnPatchPair *pair = candidates->patch_pairs + k;
        pair->least = INFINITY;
        for (size_t i = pair->first; i < pair->first + pair->count; i++) {
            pair->least = candidates->slack[i] < pair->least ? candidates->slack[i] : pair->least;
        }
    }
cleanup:
    return status;
}

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
        int is_swept = sweep->candidates->flags[i / 3];
        box[0] = is_swept ? sn_least(sweep->from[i], sweep->to[i]) : sweep->to[i];
        box[3] = is_swept ? sn_largest(sweep->from[i], sweep->to[i]) : sweep->to[i];
    }
}

/* The points of patches whose drift on the way alone is more than the margin are looked for on all of it; others where it ends. */
static void choose_swept(SnCandidates *candidates)
{
    for (size_t k = 0; k < candidates->patch_pair_count; k++) {
        SnPatchPair *pair = candidates->patch_pairs + k;
        const size_t both[2] = {(size_t)pair->one, (size_t)pair->other};
        if (sn_patches_drift(candidates, pair)) {
            continue;
        }
        for (int side = 0; side < 2; side++) {
            const SnPatch *patch = candidates->patches.patches + both[side];
            for (size_t i = patch->first; i < patch->first + patch->count; i++) {
                candidates->flags[candidates->patches.points[i]] = 1;
            }
        }
    }
}

static double triangle_margin(const SnCandidates *candidates, size_t triangle)
{
    return candidates->margins[candidates->patches.triangle_patches[triangle]];
}

static void bound_triangles(void *data, size_t chunk, size_t begin, size_t end)
{
    SnCandidates *candidates = ((const Sweep *)data)->candidates;
    SnPairing pairing = sn_candidates_pairing(candidates);
    (void)chunk;
    for (size_t t = begin; t < end; t++) {
        double *box = candidates->triangle_boxes + 6 * t;
        sn_pairing_bound(&pairing, t, box);
        for (size_t axis = 0; axis < 3; axis++) {
            box[axis] -= triangle_margin(candidates, t);
            box[3 + axis] += triangle_margin(candidates, t);
        }
    }
}

/* A search that did not last was too wide for its price, one that lasted may be wider. */
static void choose_margins(SnCandidates *candidates)
{
    double least = ASKED_GAPS * candidates->largest_gap;
    double wanted = candidates->searches == 0             ? 1.0
                    : candidates->asked <= SHORT_LIVED ? 0.5 * candidates->wide
                    : candidates->asked >= LONG_LIVED  ? 2.0 * candidates->wide
                                                       : candidates->wide;
    candidates->wide = sn_least(sn_largest(wanted, LEAST_WIDE), 1.0);
    for (size_t p = 0; p < candidates->patches.count; p++) {
        double most = WIDEST * candidates->patches.patches[p].edge_length;
        candidates->margins[p] = sn_largest(candidates->wide * most, sn_least(least, most));
    }
    candidates->asked = 0;
}

typedef struct Meeting {
    SnCandidates *candidates;
    const SnPatchSearch *found;
    SnPairing pairing;
    size_t *counts; /* per chunk of rows: PT and EE */
} Meeting;

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
    const SnPatchSearch *found = meeting->found;
    size_t counts[2] = {0, 0};
    for (size_t row = begin; row < end; row++) {
        SnPairingSide one, other;
        if (found->starts[row] < found->starts[row + 1]) {
            sn_pairing_side(&meeting->pairing, row, triangle_margin(meeting->candidates, row), &one);
        }
        for (size_t i = found->starts[row]; i < found->starts[row + 1]; i++) {
            size_t second = (size_t)found->others[i];
            sn_pairing_side(&meeting->pairing, second, triangle_margin(meeting->candidates, second), &other);
            unsigned mask = sn_pairing_meet(&meeting->pairing, &one, &other);
            meeting->candidates->masks[i] = (uint16_t)mask;
            counts[0] += count_bits(mask & 63);
            counts[1] += count_bits(mask >> 6);
        }
    }
    memcpy(meeting->counts + 2 * chunk, counts, sizeof counts);
}

static void expand_rows(void *data, size_t chunk, size_t begin, size_t end)
{
    const Meeting *meeting = data;
    SnCandidates *candidates = meeting->candidates;
    const SnSurface *surface = candidates->surface;
    const SnPatchSearch *found = meeting->found;
    SnPair *points = candidates->point_triangles.pairs + meeting->counts[2 * chunk];
    SnPair *edges = candidates->edges.pairs + meeting->counts[2 * chunk + 1];
    for (size_t row = begin; row < end; row++) {
        for (size_t i = found->starts[row]; i < found->starts[row + 1]; i++) {
            size_t a = row, b = (size_t)found->others[i];
            for (unsigned bit = 0, mask = candidates->masks[i]; mask >> bit != 0; bit++) {
                if (!(mask >> bit & 1)) {
                    continue;
                }
                if (bit < 6) {
                    size_t own = bit < 3 ? a : b, other = bit < 3 ? b : a;
                    *points++ = sn_pairing_make(&meeting->pairing, 0, surface->triangles[3 * own + bit % 3], (int32_t)other);
                } else {
                    unsigned first = (bit - 6) / 3, second = (bit - 6) % 3;
                    *edges++ = sn_pairing_make(&meeting->pairing, 1, surface->triangle_edges[3 * a + first],
                                               surface->triangle_edges[3 * b + second]);
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

/* Takes out the pairs that are none. */
static void drop_pairs(SnPairList *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (list->pairs[i].limit > 0.0) {
            if (kept < i) {
                list->pairs[kept] = list->pairs[i];
            }
            kept++;
        }
    }
    list->count = kept;
}

/* The pairs of all triangles that were found. */
static SnStatus make_pairs(SnContext *context, SnCandidates *candidates)
{
    SnStatus status = SN_OK;
    size_t rows = candidates->surface->triangle_count, chunks = sn_parallel_chunk_count(rows, ROWS_PER_CHUNK);
    SN_TRY_ROOM(context, candidates->masks, candidates->found.count, candidates->mask_capacity);
    SN_TRY_ROOM(context, candidates->chunk_counts, 2 * chunks, candidates->chunk_capacity);
    Meeting meeting = {candidates, &candidates->found, sn_candidates_pairing(candidates), candidates->chunk_counts};
    sn_parallel_for(rows, ROWS_PER_CHUNK, mask_rows, &meeting);
    SN_TRY(place_chunks(context, candidates, chunks, meeting.counts));
    sn_parallel_for(rows, ROWS_PER_CHUNK, expand_rows, &meeting);
    drop_pairs(&candidates->point_triangles);
    drop_pairs(&candidates->edges);
cleanup:
    return status;
}

SnStatus sn_candidates_search(SnContext *context, SnCandidates *candidates, const SnWay *way)
{
    SnStatus status = SN_OK;
    const SnSurface *surface = candidates->surface;
    const double *from = way->q[0], *to = way->q[1];
    Sweep sweep = {candidates, from, to};
    candidates->is_valid = 0;
    choose_margins(candidates);
    candidates->searches++;
    candidates->point_triangles.count = candidates->edges.count = candidates->watched_count = 0;
    SN_TRY(meet_patches(context, candidates));
    sn_drift_refer(&candidates->drift, to);
    sn_drift_go(&candidates->drift, way);
    choose_swept(candidates);
    sn_parallel_for(surface->point_count, POINTS_PER_CHUNK, sweep_points, &sweep);
    memset(candidates->flags, 0, surface->point_count);
    sn_parallel_for(surface->triangle_count, POINTS_PER_CHUNK, bound_triangles, &sweep);
    SN_TRY(sn_context_look(context));
    SN_TRY(sn_patch_search(context, &candidates->patches, candidates->triangle_boxes, candidates->patch_pair_count,
                           (const int32_t(*)[2])candidates->patch_list, &candidates->found));
    SN_TRY(make_pairs(context, candidates));
    SN_TRY(order_pairs(context, candidates, to));
    candidates->is_valid = 1;
cleanup:
    return status;
}
