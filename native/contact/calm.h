/* Patches of a body that are so little bent since rest that nothing of them can be near what it was not: neighbours on a surface are most
   of what lies beside each other, and nearly all that a search would find where nothing touches.

   Two sorts of pairs, each with its bound (contact/drift.h). What is joined by an edge, or shares a point, is d apart at rest and has a path
   of length l along the surface: it stays apart while  shrink d - bend l  is more than near. What is not joined is farther apart, and is
   kept by how far both patches stray. The least of both over all pairs of two patches is found once, at rest. */
#ifndef SN_CONTACT_CALM_H
#define SN_CONTACT_CALM_H

#include "contact/drift.h"
#include "contact/pairing.h"

#define SN_CALM_LEVELS 3

/* Two patches that lie beside each other at rest. */
typedef struct SnCalmPair {
    int32_t one, other;
    double bend[SN_CALM_LEVELS]; /* that pairs which are joined bear, where distances have shrunk no farther than levels say, */
    double apart; /* and how far apart the others are, metres */
    double near;  /* what counts as such, at most */
    double reach; /* beyond which a patch is not beside the other */
} SnCalmPair;

typedef struct SnCalm {
    SnDrift drift; /* from rest */
    size_t count, capacity;
    SnCalmPair *pairs;  /* owned */
    int32_t *places;    /* patches x patches, first <= second: where in `pairs`; -1: nowhere; owned */
} SnCalm;

/* What `pairing` says of gaps is all that is read of it. Surface and patches must outlive it. */
SnStatus sn_calm_init(SnContext *context, const SnSurfacePatches *patches, const SnPairing *pairing, SnCalm *calm);
void sn_calm_clear(SnCalm *calm);

void sn_calm_go(SnCalm *calm, const SnWay *way);

/* How calm two patches (first <= second) are on the way: 1 or more: no pair of them comes near; less: some may. */
double sn_calm_ease(SnCalm *calm, size_t one, size_t other);

#endif
