/* How a surface has moved since a reference, patch by patch: what tells, without looking at a pair, that it is still apart.

   Each patch is compared with its reference by an affine map, x = m + A (r - c) + e, |e| <= stray, A = Q + S with Q a turn and |S| the
   strain. On a straight way between two places, two points of one patch that were d apart are then at least

     (cos(turn / 2) - strain) d  -  2 stray

   apart: however far and fast the body goes, turns and stretches, only what is bent within a patch counts. For points of two patches,
   the difference of both maps where the second one lies is added. Along an edge of length l the map is off by at most  bend l: what is
   joined by few edges has a closer bound in that. Any map gives a bound; a good fit gives a close one. */
#ifndef SN_CONTACT_DRIFT_H
#define SN_CONTACT_DRIFT_H

#include "contact/surface_patches.h"

/* A straight way of all points (x 3), from q[0] to q[1]. The same positions have the same number, more than 0, and others another. */
typedef struct SnWay {
    const double *q[2];
    long numbers[2];
} SnWay;

typedef struct SnPatchReference {
    double centre[3], box[6];
    double extent;            /* the largest of a triangle along an axis */
    double inverse[9], thin;  /* of its moments, and what is added to them */
} SnPatchReference;

/* Where a patch is. */
typedef struct SnPatchPlace {
    long number;                     /* of the positions */
    double mean[3], map[9], turn[9]; /* m, A, Q */
    double strain, stray, bend;
    double wide_bend;                /* of the edges around it too; negative until it is asked for */
} SnPatchPlace;

typedef struct SnDrift {
    const SnSurfacePatches *patches;
    SnPatchReference *references; /* patches; owned, as the rest */
    double *points;               /* of the patches, x 3: their reference, less the centre */
    double *edges;                /* of the patches, x 4: theirs, and 1 / length; null: none are looked at */
    SnPatchPlace *places[2];      /* patches: at two positions, ... */
    long numbers[2];              /* ... which are these */
    SnWay way;
    int slots[2];                 /* which of `places` each end of the way has */
} SnDrift;

/* The patches must outlive it. `bends`: whether edges are looked at. */
SnStatus sn_drift_init(SnContext *context, const SnSurfacePatches *patches, int bends, SnDrift *drift);
void sn_drift_clear(SnDrift *drift);

/* Makes q (points x 3) the reference. */
void sn_drift_refer(SnDrift *drift, const double *q);

/* The way that is asked about. Its positions must stay until the last question about it; patches are looked at when they are asked for,
   or all at once, on several threads. */
void sn_drift_go(SnDrift *drift, const SnWay *way);
void sn_drift_place_all(SnDrift *drift);

/* Of points p of one patch and q of another (or the same) that were d apart: they stay at least  shrink d - stray  apart, where q lay no
   farther than `reach` beyond the box of the first patch along an axis, or p likewise; and  shrink d - stray_beyond  anywhere; and
   shrink d - bend l  where l is the length of a path of one edge at each patch and one that joins both, at most. What is not finite gives
   no bound: shrink 0. A negative reach: a quick answer, which may be less close, and has stray_beyond for both. */
typedef struct SnDriftBound {
    double shrink, stray, stray_beyond, bend;
} SnDriftBound;
SnDriftBound sn_drift_bound(SnDrift *drift, size_t patch, size_t other, double reach);

#endif
