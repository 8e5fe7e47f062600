/* What is kept of handles while they are on the same shapes: how places answer, and the shapes that edits are made of. */
#ifndef SN_METHOD_EDIT_ANCHORS_H
#define SN_METHOD_EDIT_ANCHORS_H

#include "method/edit/basis.h"
#include "method/edit/edit.h"
#include "method/edit/pose.h"

/* How a mean of places answers (sn_edit_body_lever): the same at all moments. */
typedef struct SnEditLever {
    uint64_t key;   /* of its weights */
    double *values; /* owned */
    int is_used;
} SnEditLever;

typedef struct SnEditAnchor {
    uint64_t key;                            /* of all that it depends on */
    const double *patch_lever, *point_lever; /* of what is pulled, and of what is to land */
    double *rows;                            /* rows of the handle x width, where they were found last; owned */
    double constant[3];                      /* its place along them is this plus rows times p, near there */
    double target[3];                        /* that of the last call */
    int is_known;                            /* whether these are set */
    int is_used;
} SnEditAnchor;

typedef struct SnEditAnchors {
    SnEditBody *body;
    SnEditPose pose;
    SnEditBasis basis;
    SnEditAnchor *all;
    size_t count, room;
    SnEditLever *levers; /* of all anchors */
    size_t lever_count, lever_room;
    uint64_t *order;    /* keys of the handles that the basis is of, ... */
    size_t *ends;       /* ... and how many vectors it had after each */
    size_t order_count;
    double *p;          /* vertices x 3, scratch ... */
    double *rows;       /* ... and 3 x width */
} SnEditAnchors;

SnStatus sn_edit_anchors_init(SnContext *context, SnEditBody *body, SnEditAnchors *anchors);
void sn_edit_anchors_clear(SnEditAnchors *anchors);

/* Anchors and shapes of these handles, in their order; others go. `kept`: so many of the first were those of the last call, and what the
   basis had of them stays. */
SnStatus sn_edit_anchors_take(SnContext *context, SnEditAnchors *anchors, size_t count, const SnEditHandle *handles, size_t *kept);

/* That of handle h of the last call. */
SnEditAnchor *sn_edit_anchors_find(const SnEditAnchors *anchors, size_t h);

/* The rows of a handle at the edit p. */
void sn_edit_anchors_linearise(SnEditAnchors *anchors, const SnEditHandle *handle, SnEditAnchor *anchor, const double *p);

/* Where its point is by the edit p. */
void sn_edit_anchors_place(SnEditAnchors *anchors, const SnEditHandle *handle, const SnEditAnchor *anchor, const double *p, double place[3]);

/* 3, or 1 where a handle has a direction. */
size_t sn_edit_handle_rows(const SnEditHandle *handle);

#endif
