/* The pairs of a surface that may come near each other: vertices against triangles (PT) and edges against edges (EE).

   A search goes over the boxes of triangles, swept along straight moves, one tree a body (mesh/box_pairs.h). It is asked with a
   margin, and its answer is kept until points have gone so far beyond their boxes that the margin is eaten up; what a body does as a
   whole is no move of one of its points against another. So most questions look at nothing.

   The list holds more pairs than are near. Its order is that of bodies, then triangles, and depends on neither trees nor margins
   nor threads: what a caller takes out of it by distance is the same, in the same order, whenever the search was. */
#ifndef SN_CONTACT_CANDIDATES_H
#define SN_CONTACT_CANDIDATES_H

#include "contact/trees.h"

#define SN_NEAR 1.5 /* times the wanted gap: pairs nearer than that are always on the list */

#define SN_EXEMPT 1
#define SN_LINGERING 2
#define SN_CAUGHT 3

typedef struct SnPair {
    int32_t points[4];   /* vertex, triangle's corners; or both edges' ends */
    int32_t elements[2]; /* vertex and triangle; or two edges */
    double limit;        /* thickness of both sides and g0, within a body at most half the distance at rest */
    double gap;          /* wanted: `limit`, or less in Keep Input; 0: the pair is passed over */
    int exempt;          /* as contact/tangles.h says, 0 when found. SN_EXEMPT: the pair is passed over; SN_LINGERING and
                            SN_CAUGHT: it is pushed apart, but detection passes it over */
} SnPair;

typedef struct SnPairList {
    size_t count, capacity;
    SnPair *pairs; /* owned */
} SnPairList;

typedef struct SnCandidatesDef {
    double gap;          /* g0, metres; more than 0 */
    const double *input; /* points x 3, or null: see sn_candidates_keep_input */
} SnCandidatesDef;

typedef struct SnBodyMove SnBodyMove;

typedef struct SnCandidates {
    const SnSurface *surface;
    SnCandidatesDef def;
    SnPairList point_triangles, edges;
    long searches; /* since the start */
    /* inside: what candidates.c works with */
    double margin;        /* of the last search */
    double largest_gap, edge_length; /* the latter the mean at rest */
    int is_valid;         /* a search has been */
    SnTrees trees;        /* over swept boxes with thickness and gap */
    SnBodyMove *moves;    /* bodies; owned */
    double *boxes;        /* points x 6: swept, of the last search; owned */
    size_t mask_capacity;
    uint16_t *masks;      /* which of the 6 + 9 pairs of two triangles meet; owned */
    size_t *chunk_counts; /* owned */
    double *chunk_values; /* owned */
    size_t chunk_capacity;
} SnCandidates;

/* The surface must outlive it. */
SnStatus sn_candidates_init(SnContext *context, const SnSurface *surface, const SnCandidatesDef *def, SnCandidates *candidates);
void sn_candidates_clear(SnCandidates *candidates);

/* Makes sure that the lists hold every pair that comes nearer than SN_NEAR times its gap while all points go straight from `from` to
   `to` (points x 3; both may be the same). No pairs of two kinematic sides, of sides that share a point, of ignored groups, of bodies that do
   not meet; none nearer at rest than a thousandth of g0 (seams). *searched (may be null) tells whether the lists are new: then
   `exempt` is to be set again. */
SnStatus sn_candidates_find(SnContext *context, SnCandidates *candidates, const double *from, const double *to, int *searched);

/* Keep Input: no pair wants a larger gap than it has in `input` (points x 3; null: none; read again by each search), and one that is
   nearer there than a thousandth of g0 wants none. The distance is that of the features, without a sign: what is tangled in the input is
   for contact/tangles.h. */
void sn_candidates_keep_input(SnCandidates *candidates, const double *input);

/* To be called when something but positions changed: active, meets, ignored. */
void sn_candidates_forget(SnCandidates *candidates);

#endif
