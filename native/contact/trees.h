/* One box tree a body over the triangles of a surface, and which triangles' boxes meet. Trees are refitted when their boxes have moved, and built
   anew when a search looked at half as many nodes more than after they were built: a count, no clock. */
#ifndef SN_CONTACT_TREES_H
#define SN_CONTACT_TREES_H

#include "contact/surface.h"
#include "mesh/box_pairs.h"

typedef struct SnBodyTree SnBodyTree;

typedef struct SnTrees {
    const SnSurface *surface;
    double *boxes;       /* triangles x 6: low, high; the caller writes them before sn_trees_fit; owned */
    long visits, builds; /* counts since the start: pairs of tree nodes looked at, trees built */
    /* inside */
    SnBodyTree *bodies;  /* owned */
    SnBoxPairs found;
} SnTrees;

/* The surface must outlive it. */
SnStatus sn_trees_init(SnContext *context, const SnSurface *surface, SnTrees *trees);
void sn_trees_clear(SnTrees *trees);

/* Brings the trees to the boxes. */
SnStatus sn_trees_fit(SnContext *context, SnTrees *trees);

/* Whether two bodies, or one with itself, are to be looked at: both active, and they may touch. `still`: also where nothing moves by itself. */
int sn_trees_bodies_meet(const SnSurface *surface, size_t body, size_t other, int still);

/* The triangles of `body` and `other` whose boxes meet: found->starts and others count from each body's first triangle. */
typedef SnStatus (*SnBodiesFunction)(SnContext *context, void *data, size_t body, size_t other, const SnBoxPairs *found);

/* Calls `function` for every two bodies of which any boxes are no farther apart than `margin`, by ascending numbers, and for each with
   itself. Looks at the cancel flag. */
SnStatus sn_trees_meet(SnContext *context, SnTrees *trees, double margin, int still, SnBodiesFunction function, void *data);

/* The nearest triangle of a body, as sn_box_tree_nearest tells it: counted from the body's first, in boxes that were fitted last. */
int32_t sn_trees_nearest(const SnTrees *trees, size_t body, const double point[3], SnItemDistance distance, const void *data,
                         double *distance_squared);

#endif
