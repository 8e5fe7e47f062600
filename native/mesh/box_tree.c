#include "mesh/box_tree.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "mesh/geometry.h"

#include <string.h>

#define LEAF_SIZE 4
#define DEPTH 64 /* of the stack of a search: the tree is balanced, so depth is below 34 */
#define NODES_PER_CHUNK 1024

typedef struct Builder {
    SnBoxTree *tree;
    const double *boxes;
} Builder;

static double box_center(const Builder *builder, int32_t item, int axis)
{
    const double *box = builder->boxes + 6 * (size_t)item;
    return 0.5 * (box[axis] + box[3 + axis]);
}

/* A total order, so that the tree never depends on how the items arrived at a split. */
static int comes_before(const Builder *builder, int axis, double center, int32_t item, int32_t other)
{
    double other_center = box_center(builder, other, axis);
    return center < other_center || (center <= other_center && item < other);
}

/* Partial sort of items begin..end-1 so that the middle one is in its place (quickselect). */
static void select_middle(const Builder *builder, int axis, int32_t begin, int32_t end, int32_t middle)
{
    int32_t *items = builder->tree->items;
    int32_t low = begin, high = end - 1;
    while (low < high) {
        int32_t pivot = items[low + (high - low) / 2];
        double center = box_center(builder, pivot, axis);
        int32_t i = low, j = high;
        while (i <= j) {
            while (items[i] != pivot && !comes_before(builder, axis, center, pivot, items[i])) {
                i++;
            }
            while (items[j] != pivot && comes_before(builder, axis, center, pivot, items[j])) {
                j--;
            }
            if (i <= j) {
                int32_t swap = items[i];
                items[i++] = items[j];
                items[j--] = swap;
            }
        }
        if (middle <= j) {
            high = j;
        } else if (middle >= i) {
            low = i;
        } else {
            return;
        }
    }
}

static void bound_node(const Builder *builder, SnBoxTreeNode *node, double center_low[3], double center_high[3])
{
    for (int axis = 0; axis < 3; axis++) {
        node->low[axis] = center_low[axis] = INFINITY;
        node->high[axis] = center_high[axis] = -INFINITY;
    }
    for (int32_t i = node->begin; i < node->end; i++) {
        int32_t item = builder->tree->items[i];
        const double *box = builder->boxes + 6 * (size_t)item;
        for (int axis = 0; axis < 3; axis++) {
            double center = box_center(builder, item, axis);
            node->low[axis] = sn_least(node->low[axis], box[axis]);
            node->high[axis] = sn_largest(node->high[axis], box[3 + axis]);
            center_low[axis] = sn_least(center_low[axis], center);
            center_high[axis] = sn_largest(center_high[axis], center);
        }
    }
}

static void build_node(Builder *builder, int32_t begin, int32_t end)
{
    SnBoxTree *tree = builder->tree;
    size_t index = tree->node_count++;
    SnBoxTreeNode *node = tree->nodes + index;
    double center_low[3], center_high[3];
    node->begin = begin;
    node->end = end;
    node->right = 0;
    bound_node(builder, node, center_low, center_high);
    node->next = (int32_t)tree->node_count;
    if (end - begin <= LEAF_SIZE) {
        return;
    }
    int longest = 0;
    for (int axis = 1; axis < 3; axis++) {
        if (center_high[axis] - center_low[axis] > center_high[longest] - center_low[longest]) {
            longest = axis;
        }
    }
    int32_t middle = begin + (end - begin) / 2;
    select_middle(builder, longest, begin, end, middle);
    build_node(builder, begin, middle);
    node->right = (int32_t)tree->node_count;
    build_node(builder, middle, end);
    node->next = (int32_t)tree->node_count;
}

SnStatus sn_box_tree_build(SnContext *context, size_t item_count, const double *boxes, SnBoxTree *tree)
{
    SnStatus status = SN_OK;
    Builder builder = {tree, boxes};
    *tree = (SnBoxTree){0};
    if (item_count > INT32_MAX / 2) {
        return sn_context_fail(context, SN_BAD_INPUT, "The mesh is too large (%zu faces): reduce it first.", item_count);
    }
    SN_TRY_NEW(context, tree->items, item_count, int32_t);
    SN_TRY_NEW(context, tree->nodes, 2 * item_count, SnBoxTreeNode); /* a binary tree has fewer than 2n nodes */
    tree->item_count = item_count;
    for (size_t i = 0; i < item_count; i++) {
        tree->items[i] = (int32_t)i;
    }
    if (item_count > 0) {
        build_node(&builder, 0, (int32_t)item_count);
    }
cleanup:
    if (status != SN_OK) {
        sn_box_tree_clear(tree);
    }
    return status;
}

void sn_box_tree_clear(SnBoxTree *tree)
{
    sn_release(tree->nodes);
    sn_release(tree->items);
    *tree = (SnBoxTree){0};
}

static void join_boxes(const double low[3], const double high[3], SnBoxTreeNode *node)
{
    for (int axis = 0; axis < 3; axis++) {
        node->low[axis] = sn_least(node->low[axis], low[axis]);
        node->high[axis] = sn_largest(node->high[axis], high[axis]);
    }
}

typedef struct Refit {
    SnBoxTree *tree;
    const double *boxes;
} Refit;

static void refit_leaves(void *data, size_t chunk, size_t begin, size_t end)
{
    const Refit *refit = data;
    (void)chunk;
    for (size_t i = begin; i < end; i++) {
        SnBoxTreeNode *node = refit->tree->nodes + i;
        for (int32_t place = node->begin; place < node->end && node->right == 0; place++) {
            const double *box = refit->boxes + 6 * (size_t)refit->tree->items[place];
            if (place == node->begin) {
                memcpy(node->low, box, sizeof node->low);
                memcpy(node->high, box + 3, sizeof node->high);
            } else {
                join_boxes(box, box + 3, node);
            }
        }
    }
}

void sn_box_tree_refit(SnBoxTree *tree, const double *boxes)
{
    Refit refit = {tree, boxes};
    sn_parallel_for(tree->node_count, NODES_PER_CHUNK, refit_leaves, &refit);
    for (size_t i = tree->node_count; i-- > 0;) { /* children come after their parents */
        SnBoxTreeNode *node = tree->nodes + i;
        if (node->right != 0) {
            const SnBoxTreeNode *left = node + 1, *right = tree->nodes + node->right;
            memcpy(node->low, left->low, sizeof node->low);
            memcpy(node->high, left->high, sizeof node->high);
            join_boxes(right->low, right->high, node);
        }
    }
}

double sn_box_tree_node_distance(const SnBoxTreeNode *node, const double point[3])
{
    double sum = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        double below = node->low[axis] - point[axis], above = point[axis] - node->high[axis];
        double d = below > above ? below : above;
        sum += d > 0.0 ? d * d : 0.0;
    }
    return sum;
}

int32_t sn_box_tree_nearest(const SnBoxTree *tree, const double point[3], SnItemDistance distance, const void *data,
                            double *distance_squared)
{
    int32_t stack[DEPTH];
    double stack_distance[DEPTH];
    int depth = 0;
    int32_t nearest = -1;
    if (tree->node_count == 0) {
        return -1;
    }
    stack[depth] = 0;
    stack_distance[depth++] = sn_box_tree_node_distance(tree->nodes, point);
    while (depth > 0) {
        depth--;
        if (stack_distance[depth] >= *distance_squared) {
            continue;
        }
        const SnBoxTreeNode *node = tree->nodes + stack[depth];
        if (node->right == 0) {
            for (int32_t i = node->begin; i < node->end; i++) {
                double d = distance(data, tree->items[i], point);
                if (d < *distance_squared) {
                    *distance_squared = d;
                    nearest = tree->items[i];
                }
            }
            continue;
        }
        int32_t left = stack[depth] + 1, right = node->right;
        double left_distance = sn_box_tree_node_distance(tree->nodes + left, point);
        double right_distance = sn_box_tree_node_distance(tree->nodes + right, point);
        int left_first = left_distance <= right_distance;
        /* The nearer child lies on top of the stack. */
        stack[depth] = left_first ? right : left;
        stack_distance[depth++] = left_first ? right_distance : left_distance;
        stack[depth] = left_first ? left : right;
        stack_distance[depth++] = left_first ? left_distance : right_distance;
    }
    return nearest;
}
