/* Continuous detection: whether pairs stay apart while their points go straight from one place to another (methods, A7).

   Conservative advance with a certificate. From a moment at which the sides are d apart along n, they stay farther apart than p for at
   least  (d - p) / V,  V the largest relative speed of a corner of one side against one of the other; and as long as every corner of
   one side is more than p ahead of every corner of the other along n, which is affine in time and so known without looking. The larger of both is
   the next moment. What is proved is that the distance never falls below p on the way to the time that is returned:
   p = min(0.1 gap, 0.9 of the distance at the start). */
#ifndef SN_CONTACT_CCD_H
#define SN_CONTACT_CCD_H

#include "contact/candidates.h"
#include "contact/distance.h"

#define SN_CCD_FREE 2.0 /* the time of a pair that does not touch before 1 */

/* The time up to which one pair is proved apart, or SN_CCD_FREE. x and y: its four points at 0 and 1. `edges`: it is EE. `rounds` (may be
   null) receives how often the distance was evaluated. */
double sn_ccd_pair(int edges, const double x[4][3], const double y[4][3], double gap, int *rounds);

/* A pair that does not stay apart. */
typedef struct SnHit {
    int edges;      /* which list, ... */
    int32_t pair;   /* ... and where in it */
    double time;    /* up to here it is proved apart, 0..1 */
    double n[3];    /* at 0.98 of that time: unit, towards the first side; zero for sides that touch from the start */
    double c[4];
    double distance;
} SnHit;

typedef struct SnHits {
    double time; /* of the first, or SN_CCD_FREE */
    size_t count, capacity;
    SnHit *hits; /* PT before EE, by their place in the list; owned */
    long rounds; /* evaluations of distance */
    /* inside */
    size_t time_capacity, chunk_capacity;
    double *times;
    long *chunk_rounds;
} SnHits;

/* All candidates that are not exempt, from `from` to `to` (points x 3), which sn_candidates_find must have been asked for. A zeroed SnHits
   is an empty one; what it has grown to serves again. Looks at the cancel flag. */
SnStatus sn_ccd_find(SnContext *context, const SnCandidates *candidates, const double *from, const double *to, SnHits *hits);
void sn_hits_clear(SnHits *hits);

#endif
