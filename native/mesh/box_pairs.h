/* The items of two box trees, or of one and itself, whose boxes meet: what contact looks at more closely. */
#ifndef SN_MESH_BOX_PAIRS_H
#define SN_MESH_BOX_PAIRS_H

#include "mesh/box_tree.h"

/* Pairs of items, kept from one question to the next: what it has grown to serves again, so that asking anew allocates nothing. */
typedef struct SnBoxPairs {
    size_t count;
    size_t *starts;  /* items of the first tree + 1; owned */
    int32_t *others; /* count: those of item i of the first tree are others[starts[i]..starts[i+1]-1], ascending; owned */
    long visits;     /* pairs of nodes that were looked at: it grows as a refitted tree gets worse */
    /* inside: what box_pairs.c works with */
    size_t task_count, start_capacity, column_capacity, other_capacity, sorted_capacity;
    size_t *columns;          /* like `starts`, of the second tree; owned */
    int32_t *sorted;          /* count: first items by their second ones; owned */
    struct SnBoxTask *tasks;  /* owned */
} SnBoxPairs;

/* A zeroed SnBoxPairs is an empty one. */
void sn_box_pairs_clear(SnBoxPairs *pairs);

/* Finds the items of two trees whose boxes are no farther apart than `margin` along every axis. The boxes (item_count x 6) are
   those that the tree was built of or last fitted to. The order depends on neither tree: a new one and a refitted one, on any
   number of threads, give the same. On failure `pairs` is empty. */
SnStatus sn_box_pairs_find(SnContext *context, const SnBoxTree *tree, const double *boxes, const SnBoxTree *other,
                           const double *other_boxes, double margin, SnBoxPairs *pairs);

/* The same of a tree with itself: each pair once, under its smaller item; no item is a pair with itself. */
SnStatus sn_box_pairs_find_own(SnContext *context, const SnBoxTree *tree, const double *boxes, double margin, SnBoxPairs *pairs);

#endif
