#include "contact/candidates.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "contact/distance.h"

#include <string.h>

#define POINTS_PER_CHUNK 4096
#define PAIRS_PER_CHUNK 1024
#define PATCHES_PER_CHUNK 16
#define ROWS_PER_CHUNK 256
#define ASKED_GAPS 2.0     /* the margin of a patch is at least so many gaps, if ... */
#define WIDEST 0.25        /* ... such a part of its edges is as much, which it is at most: where triangles are fine, wider would be all around */
#define LEAST_WIDE 0.015625
#define SHORT_LIVED 1      /* questions that a search has answered: the next one asks for less, ... */
#define LONG_LIVED 16      /* ... or for more */

#define EASY 1.5           /* times as calm as need be: patches that are not searched */

#define FAR (-1)   /* patches that were too far apart at the last search to have pairs */
#define NEVER (-2) /* patches that have none, whatever they do */

/* Two patches that have pairs, or were as near as that. */
struct SnPatchPair {
    int32_t one, other;
    size_t first, count; /* of its pairs, in `slack` */
    float least;         /* slack */
    double need;         /* pairs of less slack may come near on the way */
};

/* Patches */

static double patch_reach(const SnCandidates *candidates, const SnPatch *patch)
{
    return SN_NEAR * (patch->thickness + 0.5 * candidates->def.gap);
}

/* How far apart, along an axis, boxes of two patches may be to be on the lists. */
static double pair_margin(const SnCandidates *candidates, size_t one, size_t other)
{
    return candidates->margins[one] + candidates->margins[other];
}

typedef struct Bounds {
    SnCandidates *candidates;
    const double *from, *to;
} Bounds;

static void bound_patches(void *data, size_t chunk, size_t begin, size_t end)
{
    const Bounds *bounds = data;
    SnCandidates *candidates = bounds->candidates;
    (void)chunk;
    for (size_t p = begin; p < end; p++) {
        const SnPatch *patch = candidates->patches.patches + p;
        double *box = candidates->patch_boxes + 6 * p, reach = patch_reach(candidates, patch);
        double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, sum = 0.0;
        for (size_t i = patch->first; i < patch->first + patch->count; i++) {
            size_t k = 3 * (size_t)candidates->patches.points[i];
            for (size_t axis = 0; axis < 3; axis++) {
                double a = bounds->from[k + axis], b = bounds->to[k + axis];
                low[axis] = sn_least(low[axis], sn_least(a, b));
                high[axis] = sn_largest(high[axis], sn_largest(a, b));
                sum += a + b;
            }
        }
        for (int axis = 0; axis < 3; axis++) { /* what is not a number is everywhere */
            box[axis] = isfinite(sum) ? low[axis] - reach : -INFINITY;
            box[3 + axis] = isfinite(sum) ? high[axis] + reach : INFINITY;
        }
        candidates->excess[p] = -1.0;
    }
}

static int boxes_meet(const double a[6], const double b[6], double margin)
{
    return (a[0] - margin <= b[3]) & (a[1] - margin <= b[4]) & (a[2] - margin <= b[5]) & (b[0] - margin <= a[3]) &
           (b[1] - margin <= a[4]) & (b[2] - margin <= a[5]);
}

/* How far the points of a patch left the boxes of the last search, along an axis. */
static double patch_excess(SnCandidates *candidates, size_t number, const double *from, const double *to)
{
    const SnPatch *patch = candidates->patches.patches + number;
    double *excess = candidates->excess + number;
    if (*excess >= 0.0) {
        return *excess;
    }
    *excess = 0.0;
    for (size_t i = patch->first; i < patch->first + patch->count; i++) {
        size_t p = (size_t)candidates->patches.points[i];
        const double *box = candidates->boxes + 6 * p;
        for (size_t axis = 0; axis < 3; axis++) {
            double a = from[3 * p + axis], b = to[3 * p + axis];
            *excess = sn_largest(*excess, sn_largest(box[axis] - sn_least(a, b), sn_largest(a, b) - box[3 + axis]));
        }
    }
    return *excess;
}

/* Whether the lists still hold all that may come near of two patches, and which of their pairs have enough slack: none on the lists that
   had `need`, none beside the lists, which had the margin. */
static int patches_drift(SnCandidates *candidates, SnPatchPair *pair)
{
    const SnPatch *one = candidates->patches.patches + pair->one, *other = candidates->patches.patches + pair->other;
    const SnPatchReference *references = candidates->drift.references;
    double near = patch_reach(candidates, one) + patch_reach(candidates, other);
    double margin = pair_margin(candidates, (size_t)pair->one, (size_t)pair->other);
    double reach = margin + near + sn_largest(references[pair->one].extent, references[pair->other].extent);
    SnDriftBound bound = sn_drift_bound(&candidates->drift, (size_t)pair->one, (size_t)pair->other, reach);
    pair->need = bound.shrink > 0.0 ? (bound.stray + (1.0 - bound.shrink) * near) / bound.shrink : INFINITY;
    return pair->need <= margin && bound.shrink * reach - bound.stray_beyond >= near;
}

static int patches_hold(SnCandidates *candidates, SnPatchPair *pair, const double *from, const double *to)
{
    return patches_drift(candidates, pair) ||
           patch_excess(candidates, (size_t)pair->one, from, to) + patch_excess(candidates, (size_t)pair->other, from, to) <=
               pair_margin(candidates, (size_t)pair->one, (size_t)pair->other);
}

/* Whether the lists of the last search still hold what is asked for. What is not a number never does. */
static int is_still_valid(SnCandidates *candidates, const double *from, const double *to)
{
    size_t count = candidates->patches.count;
    for (size_t a = 0; a < count; a++) {
        for (size_t b = a; b < count; b++) {
            if (candidates->meetings[a * count + b] == FAR &&
                boxes_meet(candidates->patch_boxes + 6 * a, candidates->patch_boxes + 6 * b, 0.0) &&
                sn_calm_ease(&candidates->calm, a, b) < 1.0) {
                return 0;
            }
        }
    }
    int valid = 1;
    for (size_t k = 0; k < candidates->patch_pair_count && valid; k++) {
        SnPatchPair *pair = candidates->patch_pairs + k;
        int apart = !boxes_meet(candidates->patch_boxes + 6 * (size_t)pair->one, candidates->patch_boxes + 6 * (size_t)pair->other, 0.0);
        pair->need = 0.0;
        valid = apart || sn_calm_ease(&candidates->calm, (size_t)pair->one, (size_t)pair->other) >= 1.0 ||
                patches_hold(candidates, pair, from, to);
    }
    return valid;
}

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
            *meeting = ever ? FAR : NEVER;
            if (ever && boxes_meet(candidates->patch_boxes + 6 * a, candidates->patch_boxes + 6 * b, pair_margin(candidates, a, b)) &&
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

/* Slack */

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
        double near = SN_NEAR * pair->limit, margin = pair_margin(candidates, (size_t)patches->one, (size_t)patches->other);
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

/* Watches the pairs whose slack is used up. */
static void watch(SnCandidates *candidates)
{
    size_t count = candidates->point_triangles.count + candidates->edges.count, flagged = 0;
    candidates->watched_count = 0;
    for (const SnPatchPair *pair = candidates->patch_pairs; pair < candidates->patch_pairs + candidates->patch_pair_count; pair++) {
        for (size_t i = pair->first; i < pair->first + pair->count && (double)pair->least < pair->need; i++) {
            int used_up = (double)candidates->slack[i] < pair->need;
            candidates->flags[candidates->places[i]] = (unsigned char)used_up;
            flagged += (size_t)used_up;
        }
    }
    for (size_t i = 0; i < count && flagged > 0; i++) {
        candidates->watched[candidates->watched_count] = (int32_t)i;
        candidates->watched_count += candidates->flags[i];
    }
    if (flagged > 0) {
        memset(candidates->flags, 0, count);
    }
}

/* Search */

typedef struct Sweep {
    SnCandidates *candidates;
    const double *from, *to;
} Sweep;

static SnPairing pairing_of(const SnCandidates *candidates)
{
    return (SnPairing){candidates->surface, candidates->boxes, candidates->def.gap, candidates->def.input};
}

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
        if (patches_drift(candidates, pair)) {
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
    SnPairing pairing = pairing_of(candidates);
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
    Meeting meeting = {candidates, &candidates->found, pairing_of(candidates), candidates->chunk_counts};
    sn_parallel_for(rows, ROWS_PER_CHUNK, mask_rows, &meeting);
    SN_TRY(place_chunks(context, candidates, chunks, meeting.counts));
    sn_parallel_for(rows, ROWS_PER_CHUNK, expand_rows, &meeting);
    drop_pairs(&candidates->point_triangles);
    drop_pairs(&candidates->edges);
cleanup:
    return status;
}

/* Fills the lists, with what they had slack for at the end of the way. */
static SnStatus search(SnContext *context, SnCandidates *candidates, const SnWay *way)
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

/* The number of some positions: what is known keeps its own. `kept`: which of both must stay known, -1: none. Returns which is known now. */
static int number_positions(SnCandidates *candidates, const double *q, int kept)
{
    size_t bytes = 3 * candidates->surface->point_count * sizeof *q;
    for (int k = 0; k < 2; k++) {
        if (candidates->numbers[k] != 0 && memcmp(candidates->known[k], q, bytes) == 0) {
            return k;
        }
    }
    int k = kept < 0 ? 0 : 1 - kept;
    memcpy(candidates->known[k], q, bytes);
    candidates->numbers[k] = ++candidates->last_number;
    return k;
}

SnStatus sn_candidates_find(SnContext *context, SnCandidates *candidates, const double *from, const double *to, int *searched)
{
    SnStatus status = SN_OK;
    Bounds bounds = {candidates, from, to};
    int begin = number_positions(candidates, from, -1), end = number_positions(candidates, to, begin);
    SnWay way = {{from, to}, {candidates->numbers[begin], candidates->numbers[end]}};
    sn_calm_go(&candidates->calm, &way);
    sn_drift_go(&candidates->drift, &way);
    sn_parallel_for(candidates->patches.count, PATCHES_PER_CHUNK, bound_patches, &bounds);
    int valid = candidates->is_valid && is_still_valid(candidates, from, to);
    if (searched != NULL) {
        *searched = !valid;
    }
    if (!valid) {
        SN_TRY(search(context, candidates, &way));
    }
    candidates->asked++;
    watch(candidates);
cleanup:
    return status;
}

void sn_candidates_keep_input(SnCandidates *candidates, const double *input)
{
    SnPairList *lists[2] = {&candidates->point_triangles, &candidates->edges};
    candidates->def.input = input;
    SnPairing pairing = pairing_of(candidates);
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < lists[k]->count; i++) {
            sn_pairing_keep_input(&pairing, k, lists[k]->pairs + i);
        }
    }
}

void sn_candidates_forget(SnCandidates *candidates)
{
    candidates->is_valid = 0;
}

static SnStatus allocate(SnContext *context, SnCandidates *candidates)
{
    SnStatus status = SN_OK;
    size_t patches = candidates->patches.count;
    for (int k = 0; k < 2; k++) {
        SN_TRY_NEW(context, candidates->known[k], 3 * candidates->surface->point_count, double);
    }
    SN_TRY_NEW(context, candidates->boxes, 6 * candidates->surface->point_count, double);
    SN_TRY_NEW(context, candidates->triangle_boxes, 6 * candidates->surface->triangle_count, double);
    SN_TRY_NEW(context, candidates->patch_boxes, 6 * patches, double);
    SN_TRY_NEW(context, candidates->excess, patches, double);
    SN_TRY_NEW(context, candidates->margins, patches, double);
    SN_TRY_NEW(context, candidates->meetings, patches * patches, int32_t); /* a search fills it */
    SN_TRY_NEW(context, candidates->flags, candidates->surface->point_count, unsigned char);
    candidates->flag_capacity = candidates->surface->point_count;
cleanup:
    return status;
}

SnStatus sn_candidates_init(SnContext *context, const SnSurface *surface, const SnCandidatesDef *def, SnCandidates *candidates)
{
    SnStatus status = SN_OK;
    double thickness = 0.0;
    *candidates = (SnCandidates){.surface = surface, .def = *def};
    if (!(def->gap > 0.0 && isfinite(def->gap))) {
        SN_TRY(sn_context_fail(context, SN_BAD_INPUT, "The gap of contact is %g: give more than 0.", def->gap));
    }
    SN_TRY(sn_surface_patches_init(context, surface, &candidates->patches));
    SnPairing pairing = pairing_of(candidates);
    pairing.input = NULL;
    SN_TRY(sn_calm_init(context, &candidates->patches, &pairing, &candidates->calm));
    SN_TRY(sn_drift_init(context, &candidates->patches, 0, &candidates->drift));
    SN_TRY(allocate(context, candidates));
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
    void *const blocks[] = {candidates->boxes, candidates->patch_boxes, candidates->excess, candidates->meetings, candidates->patch_pairs,
                            candidates->slack, candidates->groups, candidates->flags, candidates->watched, candidates->masks,
                            candidates->chunk_counts, candidates->point_triangles.pairs, candidates->edges.pairs,
                            candidates->known[0], candidates->known[1], candidates->patch_list, candidates->triangle_boxes, candidates->margins};
    sn_patch_search_clear(&candidates->found);
    sn_surface_patches_clear(&candidates->patches);
    sn_calm_clear(&candidates->calm);
    sn_drift_clear(&candidates->drift);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        sn_release(blocks[i]);
    }
    *candidates = (SnCandidates){0};
}
