/* A factor whose pattern has the couples of planes too: pairs of unknowns that touch and that no element joins. Where what touches is much of
   the body, as in cloth that lies in folds, a factorization of all is cheaper than one of a border (dynamics/factor.c). */
#ifndef SN_DYNAMICS_JOINED_H
#define SN_DYNAMICS_JOINED_H

#include "dynamics/planes.h"
#include "math/multifrontal.h"

typedef struct SnJoined {
    SnMultifrontal *factor;  /* null: there is none yet */
    double products;         /* that a factorization takes */
    SnBlockPattern pattern;  /* that without, and the couples; owned, as all arrays */
    int32_t *place;          /* where each block of that without is in it */
    double *values;
    int64_t *couples, *asked, *all; /* keys of blocks, rising: that it has, of the planes at hand, room for both */
    size_t couple_count, asked_count, couple_room, asked_room, all_room;
} SnJoined;

void sn_joined_clear(SnJoined *joined);

/* Makes sure that the pattern has all that the planes couple, in the order of the solver, which is of the same points. With `grows` couples of before stay
   as long as they are not many more: those may touch again. */
SnStatus sn_joined_reach(SnContext *context, SnJoined *joined, const SnBlockPattern *pattern, const SnLinearSolver *solver, const SnPlanes *planes,
                         int grows);

/* Factorizes the values (on the pattern without couples) with the planes as they are linearised. Returns how many pivots were lost. */
int sn_joined_factorize(SnJoined *joined, const SnBlockPattern *pattern, const SnPlanes *planes, const double *values);

#endif
