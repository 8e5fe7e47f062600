#include "contact/tangles.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "contact/cures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define APART 0.5 /* of its gap: what lingers is held again */
#define PAIRS_PER_CHUNK 1024

/* Exempt pairs */

static int compare_lingering(const void *a, const void *b)
{
    const SnLingering *left = a, *right = b;
    for (int k = 0; k < 4; k++) {
        if (left->points[k] != right->points[k]) {
            return left->points[k] < right->points[k] ? -1 : 1;
        }
    }
    return (left->kind & 1) - (right->kind & 1);
}

static SnLingering lingering_pair(const SnPair *pair, int edges, int caught)
{
    SnLingering key = {.kind = edges | caught << 1};
    memcpy(key.points, pair->points, sizeof key.points);
    return key;
}

static const SnLingering *find_lingering(const SnTangles *tangles, const SnPair *pair, int edges)
{
    SnLingering key = lingering_pair(pair, edges, 0);
    return tangles->lingering_count == 0
               ? NULL
               : bsearch(&key, tangles->lingering, tangles->lingering_count, sizeof key, compare_lingering);
}

static int find_exempt(const SnTangles *tangles, const SnPair *pair, int edges)
{
    int first = edges ? 2 : 1;
    const SnRegions *regions[] = {&tangles->now, &tangles->input, tangles->ahead, tangles->ahead + 1};
    for (size_t k = 0; k < sizeof regions / sizeof *regions; k++) {
        if (regions[k]->count > 0 && sn_regions_join(regions[k], first, pair->points, 4 - first, pair->points + first)) {
            return SN_EXEMPT;
        }
    }
    const SnLingering *lingering = find_lingering(tangles, pair, edges);
    return lingering == NULL ? 0 : lingering->kind >> 1 ? SN_CAUGHT : SN_LINGERING;
}

typedef struct Marking {
    const SnTangles *tangles;
    SnPair *pairs;
    int edges;
} Marking;

static void mark_pairs(void *data, size_t chunk, size_t begin, size_t end)
{
    const Marking *marking = data;
    (void)chunk;
    for (size_t i = begin; i < end; i++) {
        marking->pairs[i].exempt = find_exempt(marking->tangles, marking->pairs + i, marking->edges);
    }
}

static int is_ahead(const SnTangles *tangles)
{
    return tangles->ahead[0].count > 0 || tangles->ahead[1].count > 0;
}

int sn_tangles_any(const SnTangles *tangles)
{
    return tangles->now.count > 0 || tangles->input.count > 0 || is_ahead(tangles) || tangles->lingering_count > 0;
}

static void mark(const SnTangles *tangles, SnCandidates *candidates)
{
    SnPairList *lists[2] = {&candidates->point_triangles, &candidates->edges};
    for (int edges = 0; edges < 2; edges++) {
        Marking marking = {tangles, lists[edges]->pairs, edges};
        sn_parallel_for(lists[edges]->count, PAIRS_PER_CHUNK, mark_pairs, &marking);
    }
}

void sn_tangles_mark(const SnTangles *tangles, SnCandidates *candidates)
{
    if (sn_tangles_any(tangles)) {
        mark(tangles, candidates);
    }
}

/* What was exempt, and is in no region now, lingers until it is apart. The candidates are marked as it was. */
static SnStatus keep_lingering(SnContext *context, SnTangles *tangles, const SnCandidates *candidates, const double *q)
{
    SnStatus status = SN_OK;
    const SnPairList *lists[2] = {&candidates->point_triangles, &candidates->edges};
    size_t count = 0;
    for (int edges = 0; edges < 2; edges++) {
        int first = edges ? 2 : 1;
        for (size_t i = 0; i < lists[edges]->count; i++) {
            const SnPair *pair = lists[edges]->pairs + i;
            double x[4][3], apart = APART * pair->gap;
            if (!pair->exempt || sn_regions_join(&tangles->now, first, pair->points, 4 - first, pair->points + first)) {
                continue;
            }
            sn_gather_points(pair->points, q, x);
            if ((edges ? sn_nearest_edges(x) : sn_nearest_point_triangle(x)).squared < apart * apart) {
                const SnLingering *before = find_lingering(tangles, pair, edges);
                SN_TRY_ROOM(context, tangles->next_lingering, count + 1, tangles->next_capacity);
                tangles->next_lingering[count++] = lingering_pair(pair, edges, before != NULL && before->kind >> 1);
            }
        }
    }
    if (count > 0) {
        qsort(tangles->next_lingering, count, sizeof *tangles->next_lingering, compare_lingering);
    }
    SnLingering *lingering = tangles->lingering;
    size_t capacity = tangles->lingering_capacity;
    tangles->lingering = tangles->next_lingering;
    tangles->lingering_capacity = tangles->next_capacity;
    tangles->lingering_count = count;
    tangles->next_lingering = lingering;
    tangles->next_capacity = capacity;
cleanup:
    return status;
}

SnStatus sn_tangles_let_go(SnContext *context, SnTangles *tangles, SnCandidates *candidates, int edges, int32_t place)
{
    SnStatus status = SN_OK;
    SnPair *pair = (edges ? candidates->edges.pairs : candidates->point_triangles.pairs) + place;
    SN_TRY_ROOM(context, tangles->lingering, tangles->lingering_count + 1, tangles->lingering_capacity);
    tangles->lingering[tangles->lingering_count++] = lingering_pair(pair, edges, 1);
    qsort(tangles->lingering, tangles->lingering_count, sizeof *tangles->lingering, compare_lingering);
    pair->exempt = SN_CAUGHT;
cleanup:
    return status;
}

/* The regions of the input (null: none), which are the same whatever was before. */
static SnStatus find_input(SnContext *context, SnTangles *tangles, const double *input, SnRegions *regions)
{
    SnStatus status = SN_OK;
    tangles->contours.crossings.count = 0;
    if (input != NULL) {
        SN_TRY(sn_contours_cross(context, &tangles->contours, input, 0));
    }
    if (tangles->contours.crossings.count > 0 || regions->count > 0) {
        SN_TRY(sn_regions_find(context, &tangles->contours, input, regions));
    }
cleanup:
    return status;
}

SnStatus sn_tangles_look_ahead(SnContext *context, SnTangles *tangles, SnCandidates *candidates, const double *input)
{
    SnStatus status = SN_OK;
    SnRegions before = tangles->ahead[0]; /* what a stage has led into, the next may lead out of */
    tangles->ahead[0] = tangles->ahead[1];
    tangles->ahead[1] = before;
    SN_TRY(find_input(context, tangles, input, tangles->ahead));
    sn_tangles_mark(tangles, candidates);
cleanup:
    return status;
}

SnStatus sn_tangles_find(SnContext *context, SnTangles *tangles, SnCandidates *candidates, const double *q, const double *input)
{
    SnStatus status = SN_OK;
    for (int k = 0; k < 2; k++) {
        SN_TRY(find_input(context, tangles, NULL, tangles->ahead + k));
    }
    SN_TRY(find_input(context, tangles, NULL, &tangles->input));
    SN_TRY(sn_contours_cross(context, &tangles->contours, q, 0));
    if (tangles->contours.crossings.count == 0 && !sn_tangles_any(tangles)) {
        SN_TRY(find_input(context, tangles, input, &tangles->input));
        if (tangles->input.count > 0) {
            SN_TRY(sn_candidates_find(context, candidates, q, q, NULL));
            mark(tangles, candidates);
        }
        return SN_OK;
    }
    SN_TRY(sn_candidates_find(context, candidates, q, q, NULL));
    mark(tangles, candidates);
    SN_TRY(sn_regions_find(context, &tangles->contours, q, &tangles->now));
    SN_TRY(keep_lingering(context, tangles, candidates, q));
    SN_TRY(sn_tangles_find_cures(context, tangles, q)); /* while crossings and trees are those of q */
    SN_TRY(find_input(context, tangles, input, &tangles->input));
    mark(tangles, candidates);
cleanup:
    return status;
}

void sn_tangles_show(const SnTangles *tangles, unsigned char *flags)
{
    memset(flags, 0, tangles->surface->point_count);
    for (size_t i = 0; i < tangles->now.count; i++) {
        flags[tangles->now.points[i].point] |= SN_POINT_TANGLED;
    }
    for (size_t i = 0; i < tangles->lingering_count; i++) {
        for (int k = 0; k < 4; k++) {
            flags[tangles->lingering[i].points[k]] |= tangles->lingering[i].kind >> 1 ? SN_POINT_CAUGHT : SN_POINT_TANGLED;
        }
    }
}

/* State: counts of regions' points and of lingering pairs, then both. */

size_t sn_tangles_state_count(const SnTangles *tangles)
{
    return 2 + 2 * tangles->now.count + 5 * tangles->lingering_count;
}

void sn_tangles_save(const SnTangles *tangles, int32_t *state)
{
    *state++ = (int32_t)tangles->now.count;
    *state++ = (int32_t)tangles->lingering_count;
    for (size_t i = 0; i < tangles->now.count; i++) {
        *state++ = tangles->now.points[i].point;
        *state++ = tangles->now.points[i].mark;
    }
    for (size_t i = 0; i < tangles->lingering_count; i++) {
        memcpy(state, tangles->lingering[i].points, 4 * sizeof *state);
        state[4] = tangles->lingering[i].kind;
        state += 5;
    }
}

SnStatus sn_tangles_restore(SnContext *context, SnTangles *tangles, size_t count, const int32_t *state)
{
    SnStatus status = SN_OK;
    const int32_t points = (int32_t)tangles->surface->point_count;
    size_t marks = count >= 2 && state[0] >= 0 ? (size_t)state[0] : 0, pairs = count >= 2 && state[1] >= 0 ? (size_t)state[1] : 0;
    int fits = count >= 2 && count == 2 + 2 * marks + 5 * pairs;
    const int32_t *at = state + 2;
    for (size_t i = 0; fits && i < marks; i++) {
        fits &= at[2 * i] >= 0 && at[2 * i] < points && at[2 * i + 1] >= 0;
    }
    for (size_t i = 0; fits && i < 5 * pairs; i++) {
        fits &= at[2 * marks + i] >= 0 && at[2 * marks + i] < (i % 5 < 4 ? points : 4);
    }
    if (!fits) {
        SN_TRY(sn_context_fail(context, SN_BAD_INPUT, "What was let go in a collision does not fit this mesh: bake again."));
    }
    tangles->now.count = tangles->now.tangle_count = tangles->lingering_count = tangles->cure_count = 0;
    for (size_t i = 0; i < marks; i++, at += 2) {
        SN_TRY(sn_regions_add(context, &tangles->now, at[0], at[1] >> 2, at[1] >> 1 & 1, at[1] & 1));
    }
    sn_regions_order(tangles->surface->point_count, &tangles->now);
    SN_TRY_ROOM(context, tangles->lingering, pairs, tangles->lingering_capacity);
    for (; tangles->lingering_count < pairs; at += 5) {
        SnLingering *pair = tangles->lingering + tangles->lingering_count++;
        memcpy(pair->points, at, sizeof pair->points);
        pair->kind = at[4];
    }
cleanup:
    return status;
}

SnStatus sn_tangles_init(SnContext *context, const SnSurface *surface, SnTangles *tangles)
{
    SnStatus status = SN_OK;
    *tangles = (SnTangles){.surface = surface};
    SN_TRY(sn_contours_init(context, surface, &tangles->contours));
    SN_TRY_NEW(context, tangles->now.starts, surface->point_count + 1, int32_t);
    SN_TRY_NEW(context, tangles->input.starts, surface->point_count + 1, int32_t);
    for (int k = 0; k < 2; k++) {
        SN_TRY_NEW(context, tangles->ahead[k].starts, surface->point_count + 1, int32_t);
    }
    SN_TRY_NEW(context, tangles->rest.starts, surface->point_count + 1, int32_t);
    for (size_t e = 0; e < surface->edge_count; e++) {
        const int32_t *edge = surface->edges + 2 * e;
        double squared = sn_distance_squared(surface->rest + 3 * (size_t)edge[0], surface->rest + 3 * (size_t)edge[1]);
        tangles->edge_length += sqrt(squared) / (double)surface->edge_count;
    }
    SN_TRY(sn_contours_cross(context, &tangles->contours, surface->rest, 1));
    SN_TRY(sn_regions_find(context, &tangles->contours, surface->rest, &tangles->rest));
    tangles->contours.crossings.count = 0;
cleanup:
    if (status != SN_OK) {
        sn_tangles_clear(tangles);
    }
    return status;
}

void sn_tangles_clear(SnTangles *tangles)
{
    sn_regions_clear(&tangles->now);
    sn_regions_clear(&tangles->input);
    sn_regions_clear(tangles->ahead);
    sn_regions_clear(tangles->ahead + 1);
    sn_regions_clear(&tangles->rest);
    sn_contours_clear(&tangles->contours);
    sn_release(tangles->lingering);
    sn_release(tangles->next_lingering);
    sn_release(tangles->cures);
    *tangles = (SnTangles){0};
}
