/* What finding pairs is made of: candidates.c knows whether the lists still hold, candidates_search.c fills them. */
#ifndef SN_CONTACT_CANDIDATES_PARTS_H
#define SN_CONTACT_CANDIDATES_PARTS_H

#include "contact/candidates.h"
#include "contact/distance.h"

#define SN_PATCHES_FAR (-1)   /* patches that were too far apart at the last search to have pairs */
#define SN_PATCHES_NEVER (-2) /* patches that have none, whatever they do */

/* Two patches that have pairs, or were as near as that. */
struct SnPatchPair {
    int32_t one, other;
    size_t first, count; /* of its pairs, in `slack` */
    float least;         /* slack */
    double need;         /* pairs of less slack may come near on the way */
};

static inline double sn_patch_reach(const SnCandidates *candidates, const SnPatch *patch)
{
    return SN_NEAR * (patch->thickness + 0.5 * candidates->def.gap);
}

/* How far apart, along an axis, boxes of two patches may be to be on the lists. */
static inline double sn_patch_margin(const SnCandidates *candidates, size_t one, size_t other)
{
    return candidates->margins[one] + candidates->margins[other];
}

static inline int sn_patch_boxes_meet(const double a[6], const double b[6], double margin)
{
    return (a[0] - margin <= b[3]) & (a[1] - margin <= b[4]) & (a[2] - margin <= b[5]) & (b[0] - margin <= a[3]) &
           (b[1] - margin <= a[4]) & (b[2] - margin <= a[5]);
}

static inline SnPairing sn_candidates_pairing(const SnCandidates *candidates)
{
    return (SnPairing){candidates->surface, candidates->boxes, candidates->def.gap, candidates->def.input};
}

/* Whether the lists still hold all that may come near of two patches, and which of their pairs have enough slack: none on the lists that
   had `need`, none beside the lists, which had the margin. */
int sn_patches_drift(SnCandidates *candidates, SnPatchPair *pair);

/* Fills the lists, with what they had slack for at the end of the way. */
SnStatus sn_candidates_search(SnContext *context, SnCandidates *candidates, const SnWay *way);

#endif
