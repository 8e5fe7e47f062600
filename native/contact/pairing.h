/* Which vertices, edges and triangles of two triangles whose boxes meet are candidates, and what gap a pair of them wants. */
#ifndef SN_CONTACT_PAIRING_H
#define SN_CONTACT_PAIRING_H

#include "contact/surface.h"

#define SN_NEAR 1.5 /* times the wanted gap: pairs nearer than that are always on the list */

typedef struct SnPair {
    int32_t points[4];   /* vertex, triangle's corners; or both edges' ends */
    int32_t elements[2]; /* vertex and triangle; or two edges */
    double limit;        /* thickness of both sides and g0, within a body at most half the distance at rest */
    double gap;          /* wanted: `limit`, or less in Keep Input; 0: the pair is passed over */
    int exempt;          /* as contact/tangles.h says, 0 when found. SN_EXEMPT: the pair is passed over; SN_LINGERING and
                            SN_CAUGHT: it is pushed apart, but detection passes it over */
} SnPair;

#define SN_EXEMPT 1
#define SN_LINGERING 2
#define SN_CAUGHT 3

/* What pairs are made by. */
typedef struct SnPairing {
    const SnSurface *surface;
    const double *boxes; /* points x 6: swept */
    double gap;          /* g0, metres; more than 0 */
    const double *input; /* points x 3, or null: see sn_candidates_keep_input */
} SnPairing;

/* The box of a triangle (low, high), larger by the thickness and half the gap that a side brings to a pair, and by how near "near" is. */
void sn_pairing_bound(const SnPairing *pairing, size_t triangle, double box[6]);

/* A triangle with the boxes of its parts, as it is laid against others. */
typedef struct SnPairingSide {
    size_t triangle;
    const int32_t *points;
    double corners[3][6], edges[3][6], box[6];
    int kinematic; /* bits of its points that are */
    int grouped;   /* some are in a group */
} SnPairingSide;
void sn_pairing_side(const SnPairing *pairing, size_t triangle, double margin, SnPairingSide *side); /* `margin`: around its boxes */

/* Bits 0 to 2: corners of the first triangle against the second; 3 to 5: the reverse; 6 + 3 i + j: edge i against edge j. */
unsigned sn_pairing_meet(const SnPairing *pairing, const SnPairingSide *a, const SnPairingSide *b);

/* A pair of a vertex and a triangle, or of two edges. limit 0: it is none: a seam, or sides that one cell of a cage moves alike. */
SnPair sn_pairing_make(const SnPairing *pairing, int is_edges, int32_t first, int32_t second);

/* Sets the gap of a pair from its limit and the input. */
void sn_pairing_keep_input(const SnPairing *pairing, int is_edges, SnPair *pair);

/* How far apart the sides of a pair are at q (points x 3). */
double sn_pair_distance(const SnPair *pair, int is_edges, const double *q);

/* At most as far, and exact where that is less than `enough`. */
double sn_pair_distance_or(const SnPair *pair, int is_edges, const double *q, double enough);

#endif
