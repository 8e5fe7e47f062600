/* Whether the lists of the last search still hold: patches drift, and what they had of slack is used up. Where they do not, candidates_search.c
   fills them anew. */
#include "contact/candidates_parts.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <string.h>

#define PATCHES_PER_CHUNK 16

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
        double *box = candidates->patch_boxes + 6 * p, reach = sn_patch_reach(candidates, patch);
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

int sn_patches_drift(SnCandidates *candidates, SnPatchPair *pair)
{
    const SnPatch *one = candidates->patches.patches + pair->one, *other = candidates->patches.patches + pair->other;
    const SnPatchReference *references = candidates->drift.references;
    double near = sn_patch_reach(candidates, one) + sn_patch_reach(candidates, other);
    double margin = sn_patch_margin(candidates, (size_t)pair->one, (size_t)pair->other);
    double reach = margin + near + sn_largest(references[pair->one].extent, references[pair->other].extent);
    SnDriftBound bound = sn_drift_bound(&candidates->drift, (size_t)pair->one, (size_t)pair->other, reach);
    pair->need = bound.shrink > 0.0 ? (bound.stray + (1.0 - bound.shrink) * near) / bound.shrink : INFINITY;
    return pair->need <= margin && bound.shrink * reach - bound.stray_beyond >= near;
}

static int patches_hold(SnCandidates *candidates, SnPatchPair *pair, const double *from, const double *to)
{
    return sn_patches_drift(candidates, pair) ||
           patch_excess(candidates, (size_t)pair->one, from, to) + patch_excess(candidates, (size_t)pair->other, from, to) <=
               sn_patch_margin(candidates, (size_t)pair->one, (size_t)pair->other);
}

/* Whether the lists of the last search still hold what is asked for. What is not a number never does. */
static int is_still_valid(SnCandidates *candidates, const double *from, const double *to)
{
    size_t count = candidates->patches.count;
    for (size_t a = 0; a < count; a++) {
        for (size_t b = a; b < count; b++) {
            if (candidates->meetings[a * count + b] == SN_PATCHES_FAR &&
                sn_patch_boxes_meet(candidates->patch_boxes + 6 * a, candidates->patch_boxes + 6 * b, 0.0) &&
                sn_calm_ease(&candidates->calm, a, b) < 1.0) {
                return 0;
            }
        }
    }
    int valid = 1;
    for (size_t k = 0; k < candidates->patch_pair_count && valid; k++) {
        SnPatchPair *pair = candidates->patch_pairs + k;
        int apart = !sn_patch_boxes_meet(candidates->patch_boxes + 6 * (size_t)pair->one, candidates->patch_boxes + 6 * (size_t)pair->other, 0.0);
        pair->need = 0.0;
        valid = apart || sn_calm_ease(&candidates->calm, (size_t)pair->one, (size_t)pair->other) >= 1.0 ||
                patches_hold(candidates, pair, from, to);
    }
    return valid;
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
        SN_TRY(sn_candidates_search(context, candidates, &way));
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
    SnPairing pairing = sn_candidates_pairing(candidates);
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
    SnPairing pairing = sn_candidates_pairing(candidates);
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
