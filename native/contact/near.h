/* Which candidates touch: those nearer than SN_NEAR times their gap, once for each pair of features, that are a local minimum of the distance
   on both sides (methods, A3). A vertex over the inside of a triangle whose neighbour leans nearer touches nothing: the neighbour
   does, or an edge. Without that test what slides over a flat, triangulated floor stumbles over its inner edges. What has pressed is let off it as
   long as its neighbours are in front of what it presses on: vertices of a side that lies flat would press by turns else, each sinking until
   it is the nearest and throwing its neighbours up, and what is to stick would walk down its slope. */
#ifndef SN_CONTACT_NEAR_H
#define SN_CONTACT_NEAR_H

#include "contact/ccd.h"

/* What touches what, as a pair of features. */
typedef struct SnTouch {
    int32_t key[5];     /* points of both features: 1 + 1, 1 + 2, 1 + 3 or 2 + 2; then the points, -1 for none. Equal: the same pair */
    int32_t points[4];  /* as in SnPair */
    double c[4], n[3];  /* see contact/distance.h; n is unit, towards the first side */
    double distance, gap;
    double weight;      /* 0..1: of edges that are nearly parallel less */
    int edges;          /* which list of the candidates, ... */
    int32_t pair;       /* ... and where in it */
    int is_wish;        /* it leads out of a tangle, or apart what is caught (contact/tangles.h): no multiplier, no friction */
} SnTouch;

typedef struct SnTouches {
    size_t count, capacity;
    SnTouch *touches; /* by their keys; owned */
    /* inside */
    size_t flag_capacity;
    unsigned char *flags;
} SnTouches;

void sn_touches_clear(SnTouches *touches);

/* All that touch at q (points x 3), for which the candidates were found; `before` and `forces`: what touched a moment ago, and what it pressed
   with. A zeroed SnTouches is an empty one. */
SnStatus sn_near_find(SnContext *context, const SnCandidates *candidates, const double *q, const SnTouches *before, const double *forces,
                      SnTouches *touches);

/* Adds those of continuous detection from one place to another (points x 3), as they are shortly before they would pass through: the
   first, and others that are such a minimum then. Those that are there already are replaced. */
SnStatus sn_near_add_hits(SnContext *context, const SnCandidates *candidates, const SnHits *hits, const double *from, const double *to,
                          SnTouches *touches);

/* Adds one; its key is set. They are to be sorted when all are there: of equals the first stays. */
SnStatus sn_near_add(SnContext *context, const SnTouch *touch, SnTouches *touches);
void sn_near_sort(SnTouches *touches);

/* Adds touches of an earlier moment that are not there any more. */
SnStatus sn_near_keep(SnContext *context, const SnTouches *earlier, SnTouches *touches);

int sn_touch_compare(const void *left, const void *right); /* by key, for qsort and bsearch */

#endif
