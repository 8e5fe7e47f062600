/* What runs through each other already (methods, A10): found, let be until it is apart, and led out where that can be told.

   Edges that cross triangles form contours. A contour cuts both surfaces that it runs on; what it cuts off is found by flooding from it: of a
   surface that meets a closed body what lies within that, else the smaller side; where it cuts nothing off (it ends inside a
   surface), two rings around it. Together with the triangles that it runs over these are the two regions of a tangle:

          surface 1  ───────╮           i: cut off, led back through the other region
                       r i  │ r         r: the rim, triangles that the contour runs over
     surface 2   ────x──────x────       x: the contour
                   r    i     r

   Pairs between both regions are exempt: nothing keeps them apart. Regions are found anew before every step while there are any, so a
   contour that wanders takes them along. Pairs that were exempt and are in no region any more, and pairs that were caught between two
   sides that follow the input, *linger*: they are pushed apart but not held up, until they are apart by half their gap.

   All lists are sorted and depend on positions and on what was exempt before alone. */
#ifndef SN_CONTACT_TANGLES_H
#define SN_CONTACT_TANGLES_H

#include "contact/near.h"
#include "contact/regions.h"

typedef struct SnLingering {
    int32_t points[4]; /* as in SnPair */
    int32_t kind;      /* 1: edges; 2: it was caught */
} SnLingering;

/* A point that was cut off, and the triangle that it is led through. */
typedef struct SnCure {
    int32_t point, triangle;
    double side; /* 1: along the triangle's normal, -1: against it */
} SnCure;

typedef struct SnTangles {
    const SnSurface *surface;
    SnRegions now;      /* as found last */
    SnRegions input;    /* Keep Input: those of the input, exempt as long as that has them */
    SnRegions ahead[2]; /* the same where the last stages of this step lead */
    SnRegions rest;     /* of each body with itself at rest: what was made so is not led out of itself */
    size_t lingering_count, lingering_capacity;
    SnLingering *lingering; /* by points; owned */
    size_t cure_count, cure_capacity;
    SnCure *cures;      /* by point, then tangle; owned */
    SnContours contours;
    /* inside */
    double edge_length; /* mean at rest */
    size_t next_capacity;
    SnLingering *next_lingering; /* those to come; owned */
} SnTangles;

/* The surface must outlive it. */
SnStatus sn_tangles_init(SnContext *context, const SnSurface *surface, SnTangles *tangles);
void sn_tangles_clear(SnTangles *tangles);

/* Whether something is exempt. */
int sn_tangles_any(const SnTangles *tangles);

/* Finds what is tangled at q (points x 3), and in the input (points x 3; null: that does not matter), and sets `exempt` of all
   candidates, which it brings to q where anything is. */
SnStatus sn_tangles_find(SnContext *context, SnTangles *tangles, SnCandidates *candidates, const double *q, const double *input);

/* Keep Input: what comes to be tangled in the input by the end of a stage, where that is `input`, is exempt too, until tangles are found
   anew. */
SnStatus sn_tangles_look_ahead(SnContext *context, SnTangles *tangles, SnCandidates *candidates, const double *input);

/* Sets `exempt` of candidates that were searched for anew. */
void sn_tangles_mark(const SnTangles *tangles, SnCandidates *candidates);

/* A pair of the candidates that is caught lingers from now on. */
SnStatus sn_tangles_let_go(SnContext *context, SnTangles *tangles, SnCandidates *candidates, int edges, int32_t pair);

/* What a tangled point is told as: bits of `flags` (points). */
#define SN_POINT_TANGLED 1 /* in a region, or just out of it */
#define SN_POINT_CAUGHT 2  /* of a lingering pair that was caught */
void sn_tangles_show(const SnTangles *tangles, unsigned char *flags);

/* All that the next step has to know, as numbers. */
size_t sn_tangles_state_count(const SnTangles *tangles);
void sn_tangles_save(const SnTangles *tangles, int32_t *state);
SnStatus sn_tangles_restore(SnContext *context, SnTangles *tangles, size_t count, const int32_t *state);

#endif
