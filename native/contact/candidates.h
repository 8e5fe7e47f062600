/* The pairs of a surface that may come near each other: vertices against triangles (PT) and edges against edges (EE).

   A search goes over the boxes of triangles, swept along straight moves, patch by patch (contact/patch_search.h). It is asked with a
   margin, and its answer is kept as long as no two patches of the surface have come nearer to each other than that (contact/drift.h):
   what a body does as a whole, and what only turns or stretches a patch, is no move of one of its points against another. Patches that
   are hardly bent since rest are not searched at all (contact/calm.h). Of the pairs on the lists those are *watched* that may come near on
   the way that was asked for last. So most questions look at no pair.

   The lists hold more pairs than are near. Their order is that of triangles, and depends on neither patches nor margins
   nor threads: what a caller takes out of them by distance is the same, in the same order, whenever the search was. */
#ifndef SN_CONTACT_CANDIDATES_H
#define SN_CONTACT_CANDIDATES_H

#include "contact/calm.h"
#include "contact/patch_search.h"
#include "contact/trees.h"

typedef struct SnPairList {
    size_t count, capacity;
    SnPair *pairs; /* owned */
} SnPairList;

typedef struct SnCandidatesDef {
    double gap;          /* g0, metres; more than 0 */
    const double *input; /* points x 3, or null: see sn_candidates_keep_input */
} SnCandidatesDef;

typedef struct SnPatchPair SnPatchPair;

typedef struct SnCandidates {
    const SnSurface *surface;
    SnCandidatesDef def;
    SnPairList point_triangles, edges;
    size_t watched_count;
    int32_t *watched; /* ascending: places in the list of PT, and behind those, counted on, in that of EE; owned */
    long searches;    /* since the start */
    /* inside: what candidates.c works with */
    double wide;          /* of what margins may be, those of the last search are so much, ... */
    double *margins;      /* ... at each patch: two patches are asked for with the sum of both */
    long asked;           /* how often, since it */
    double largest_gap, edge_length; /* the latter the mean at rest */
    int is_valid;         /* a search has been */
    double *triangle_boxes; /* x 6: swept, with thickness and gap */
    SnPatchSearch found;
    SnSurfacePatches patches;
    SnCalm calm;          /* since rest */
    SnDrift drift;        /* since the last search */
    double *known[2];     /* points x 3: positions that were asked about last; owned, as the rest */
    long numbers[2], last_number; /* theirs, and the last that was given */
    double *boxes;        /* points x 6: swept, of the last search */
    double *patch_boxes;  /* patches x 6: of the way that is asked about, with thickness and gap */
    double *excess;       /* patches: how far points left their boxes, negative until it is asked for */
    int32_t *meetings;    /* patches x patches, first <= second: their place in patch_pairs; FAR, or NEVER */
    size_t patch_pair_count, patch_pair_capacity;
    SnPatchPair *patch_pairs;
    int32_t (*patch_list)[2]; /* patch_pairs: both patches */
    size_t patch_list_capacity;
    size_t slack_capacity, group_capacity, flag_capacity, watched_capacity;
    float *slack;         /* of pairs, by patch pair: how far they were apart beyond what is near, ... */
    int32_t *places;      /* ... and where they are on the lists */
    int32_t *groups;      /* pairs: their patch pair */
    unsigned char *flags; /* pairs: watched; 0 between uses */
    size_t mask_capacity;
    uint16_t *masks;      /* which of the 6 + 9 pairs of two triangles meet */
    size_t *chunk_counts;
    size_t chunk_capacity;
} SnCandidates;

/* The surface must outlive it. */
SnStatus sn_candidates_init(SnContext *context, const SnSurface *surface, const SnCandidatesDef *def, SnCandidates *candidates);
void sn_candidates_clear(SnCandidates *candidates);

/* Makes sure that the lists hold, and `watched` has, every pair that comes nearer than SN_NEAR times its gap while all points go straight from
   `from` to `to` (points x 3; both may be the same). No pairs of two kinematic sides, of sides that share a point, of ignored groups, of
   bodies that do not meet; none nearer at rest than a thousandth of g0 (seams). *searched (may be null) tells whether the lists are new:
   then `exempt` is to be set again. */
SnStatus sn_candidates_find(SnContext *context, SnCandidates *candidates, const double *from, const double *to, int *searched);

/* The pair at a place of `watched`. */
static inline const SnPair *sn_candidates_at(const SnCandidates *candidates, int32_t place, int *edges)
{
    size_t count = candidates->point_triangles.count;
    *edges = (size_t)place >= count;
    return *edges ? candidates->edges.pairs + ((size_t)place - count) : candidates->point_triangles.pairs + place;
}

/* Keep Input: no pair wants a larger gap than it has in `input` (points x 3; null: none; read again by each search), and one that is
   nearer there than a thousandth of g0 wants none. The distance is that of the features, without a sign: what is tangled in the input is
   for contact/tangles.h. */
void sn_candidates_keep_input(SnCandidates *candidates, const double *input);

/* To be called when something but positions changed: active, meets, ignored. */
void sn_candidates_forget(SnCandidates *candidates);

#endif
