/* A tree of axis-aligned boxes over items of any kind: nearest item, items at a point, sums over far groups. */
#ifndef SN_MESH_BOX_TREE_H
#define SN_MESH_BOX_TREE_H

#include "base/context.h"

#include <stdint.h>

#define SN_BOX_TREE_DEPTH 64 /* of any traversal stack: the tree is balanced, so depth is below 34 */

typedef struct SnBoxTreeNode {
    double low[3];
    double high[3];
    int32_t begin; /* items[begin..end-1] lie below this node */
    int32_t end;
    int32_t right; /* the left child is the next node; 0: a leaf */
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

/* Squared distance from point to one item; larger than every limit to skip the item. */
typedef double (*SnItemDistance)(const void *data, int32_t item, const double point[3]);

/* The nearest item with a squared distance below *distance_squared, which receives it; -1 when there is none. */
int32_t sn_box_tree_nearest(const SnBoxTree *tree, const double point[3], SnItemDistance distance, const void *data,
                            double *distance_squared);

/* Smallest squared distance from point to the node's box. */
double sn_box_tree_node_distance(const SnBoxTreeNode *node, const double point[3]);

#endif
