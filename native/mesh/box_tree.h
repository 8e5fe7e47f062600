/* A tree of axis-aligned boxes over items of any kind: the nearest item, and a walk that looks only where it must
   (pairs of items: box_pairs.h). Nodes lie in the order of a walk, left before right:

              0                  nodes   0 1 2 3 4 5 6
            /   \                next    7 4 3 4 7 6 7     the node after all that lies below
           1     4               items   0 1 2 3 | 4 5 6 7     every node's items lie side by side
          / \   / \
         2   3 5   6

   so a walk goes on at node + 1 to look below and at `next` to pass by, and needs no stack. */
#ifndef SN_MESH_BOX_TREE_H
#define SN_MESH_BOX_TREE_H

#include "base/context.h"

#include <stdint.h>

typedef struct SnBoxTreeNode {
    double low[3];
    double high[3];
    int32_t begin; /* items[begin..end-1] lie below this node */
    int32_t end;
    int32_t right; /* the left child is the next node; 0: a leaf */
    int32_t next;  /* the node after all that lie below this one */
} SnBoxTreeNode;

typedef struct SnBoxTree {
    size_t item_count;
    size_t node_count;
    SnBoxTreeNode *nodes; /* root first; owned */
    int32_t *items;       /* item_count; owned */
} SnBoxTree;

/* boxes: item_count x 6 (low, high). No items give a tree that answers every question with "none". */
SnStatus sn_box_tree_build(SnContext *context, size_t item_count, const double *boxes, SnBoxTree *tree);
void sn_box_tree_clear(SnBoxTree *tree);

/* Gives the nodes the boxes of items that have moved (item_count x 6). What lies below a node stays the same, so the tree
   answers as rightly as a new one, and more slowly the farther its items went from each other. */
void sn_box_tree_refit(SnBoxTree *tree, const double *boxes);

/* Smallest squared distance from point to the node's box. */
double sn_box_tree_node_distance(const SnBoxTreeNode *node, const double point[3]);

/* Squared distance from point to one item; larger than every limit to skip the item. */
typedef double (*SnItemDistance)(const void *data, int32_t item, const double point[3]);

/* The nearest item with a squared distance below *distance_squared, which receives it; -1 when there is none. */
int32_t sn_box_tree_nearest(const SnBoxTree *tree, const double point[3], SnItemDistance distance, const void *data,
                            double *distance_squared);

/* Whether a walk looks below a node (of tree->nodes). */
typedef int (*SnNodeVisit)(void *data, const SnBoxTree *tree, size_t node);
/* An item of a leaf that the walk looked into; `place`: where it lies in tree->items. */
typedef void (*SnItemVisit)(void *data, int32_t item, int32_t place);

/* Walks the tree, by ascending place. Here, so that a compiler sees both functions: a call for every node would cost more than
   what it does. */
static inline void sn_box_tree_visit(const SnBoxTree *tree, SnNodeVisit enter, SnItemVisit meet, void *data)
{
    for (size_t at = 0; at < tree->node_count;) {
        const SnBoxTreeNode *node = tree->nodes + at;
        if (!enter(data, tree, at)) {
            at = (size_t)node->next;
            continue;
        }
        for (int32_t place = node->begin; place < node->end && node->right == 0; place++) {
            meet(data, tree->items[place], place);
        }
        at++;
    }
}

/* Cuts the tree into subtrees of at most `most` items, or leaves: the first of them from node `at` on, tree->node_count where there is
   none; the next is found from its `next` on. */
static inline size_t sn_box_tree_part(const SnBoxTree *tree, size_t most, size_t at)
{
    while (at < tree->node_count && (size_t)(tree->nodes[at].end - tree->nodes[at].begin) > most && tree->nodes[at].right != 0) {
        at++;
    }
    return at;
}

#endif
