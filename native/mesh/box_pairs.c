#include "mesh/box_pairs.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "math/counting.h"

#include <string.h>

#define MOST_TASKS 256    /* subtrees whose pairs are found by themselves */
#define LEAST_PER_TASK 64 /* items */

/* The pairs of one subtree of the first tree. */
typedef struct SnBoxTask {
    int32_t node;
    int waiting; /* to be run, for the first time or once again with more room */
    long visits;
    size_t found, capacity; /* pairs */
    int32_t (*pairs)[2];    /* capacity; owned */
} SnBoxTask;

typedef struct Question {
    const SnBoxTree *trees[2];
    const double *boxes[2];
    double margin;
    int itself; /* both trees are one */
    SnBoxPairs *pairs;
} Question;

static int boxes_meet(const double *low, const double *high, const double *other_low, const double *other_high, double margin)
{
    return (low[0] - margin <= other_high[0]) & (low[1] - margin <= other_high[1]) & (low[2] - margin <= other_high[2]) &
           (other_low[0] - margin <= high[0]) & (other_low[1] - margin <= high[1]) & (other_low[2] - margin <= high[2]);
}

static void pair_leaves(const Question *question, const SnBoxTreeNode *node, const SnBoxTreeNode *other, SnBoxTask *task)
{
    for (int32_t i = node->begin; i < node->end; i++) {
        int32_t item = question->trees[0]->items[i];
        const double *box = question->boxes[0] + 6 * (size_t)item;
        for (int32_t j = question->itself && other->begin <= i ? i + 1 : other->begin; j < other->end; j++) {
            int32_t other_item = question->trees[1]->items[j];
            const double *other_box = question->boxes[1] + 6 * (size_t)other_item;
            if (!boxes_meet(box, box + 3, other_box, other_box + 3, question->margin)) {
                continue;
            }
            if (task->found < task->capacity) {
                int turned = question->itself && item > other_item;
                task->pairs[task->found][0] = turned ? other_item : item;
                task->pairs[task->found][1] = turned ? item : other_item;
            }
            task->found++;
        }
    }
}

/* Goes down in both trees at once, always in the node that holds more. Of a tree and itself only what comes later in the tree. */
static void pair_nodes(const Question *question, int32_t at, int32_t other_at, SnBoxTask *task)
{
    const SnBoxTreeNode *node = question->trees[0]->nodes + at, *other = question->trees[1]->nodes + other_at;
    task->visits++;
    if ((question->itself && other->end <= node->begin) ||
        !boxes_meet(node->low, node->high, other->low, other->high, question->margin)) {
        return;
    }
    if (node->right == 0 && other->right == 0) {
        pair_leaves(question, node, other, task);
    } else if (other->right == 0 || (node->right != 0 && node->end - node->begin >= other->end - other->begin)) {
        pair_nodes(question, at + 1, other_at, task);
        pair_nodes(question, node->right, other_at, task);
    } else {
        pair_nodes(question, at, other_at + 1, task);
        pair_nodes(question, at, other->right, task);
    }
}

static void run_tasks(void *data, size_t chunk, size_t begin, size_t end)
{
    const Question *question = data;
    (void)chunk;
    for (size_t i = begin; i < end; i++) {
        SnBoxTask *task = question->pairs->tasks + i;
        if (task->waiting) {
            task->visits = 0;
            task->found = 0;
            pair_nodes(question, task->node, 0, task);
        }
    }
}

/* Cuts the first tree into subtrees, the same whatever the number of threads; none where the other tree is empty. */
static void make_tasks(const SnBoxTree *tree, size_t other_count, SnBoxPairs *pairs)
{
    size_t most = 2 * tree->item_count / MOST_TASKS;
    most = most > LEAST_PER_TASK ? most : LEAST_PER_TASK;
    pairs->task_count = 0;
    size_t at = other_count > 0 ? sn_box_tree_part(tree, most, 0) : tree->node_count;
    for (; at < tree->node_count; at = sn_box_tree_part(tree, most, (size_t)tree->nodes[at].next)) {
        SnBoxTask *task = pairs->tasks + pairs->task_count++; /* it keeps its room */
        task->node = (int32_t)at;
        task->waiting = 1;
    }
}

/* Runs all tasks; those that found more than they have room for get it, and run again. */
static SnStatus find_pairs(SnContext *context, Question *question)
{
    SnStatus status = SN_OK;
    SnBoxPairs *pairs = question->pairs;
    for (size_t waiting = pairs->task_count; waiting > 0;) {
        sn_parallel_for(pairs->task_count, 1, run_tasks, question);
        waiting = 0;
        for (size_t i = 0; i < pairs->task_count; i++) {
            SnBoxTask *task = pairs->tasks + i;
            task->waiting = task->found > task->capacity;
            if (task->waiting) {
                SN_TRY_ROOM(context, task->pairs, task->found, task->capacity);
                waiting++;
            }
        }
    }
cleanup:
    return status;
}

/* Sorts by the second item, and then by the first, which keeps the second ones in order. */
static void sort_pairs(size_t item_count, size_t other_count, SnBoxPairs *pairs)
{
    memset(pairs->starts, 0, (item_count + 1) * sizeof *pairs->starts);
    memset(pairs->columns, 0, (other_count + 1) * sizeof *pairs->columns);
    for (size_t i = 0; i < pairs->task_count; i++) {
        for (size_t j = 0; j < pairs->tasks[i].found; j++) {
            pairs->starts[pairs->tasks[i].pairs[j][0] + 1]++;
            pairs->columns[pairs->tasks[i].pairs[j][1] + 1]++;
        }
    }
    sn_starts_of_counts(item_count, pairs->starts);
    sn_starts_of_counts(other_count, pairs->columns);
    for (size_t i = 0; i < pairs->task_count; i++) {
        for (size_t j = 0; j < pairs->tasks[i].found; j++) {
            pairs->sorted[pairs->columns[pairs->tasks[i].pairs[j][1] + 1]++] = pairs->tasks[i].pairs[j][0];
        }
    }
    for (size_t other = 0; other < other_count; other++) {
        for (size_t i = pairs->columns[other]; i < pairs->columns[other + 1]; i++) {
            pairs->others[pairs->starts[pairs->sorted[i] + 1]++] = (int32_t)other;
        }
    }
}

static SnStatus answer(SnContext *context, Question *question)
{
    SnStatus status = SN_OK;
    SnBoxPairs *pairs = question->pairs;
    size_t item_count = question->trees[0]->item_count, other_count = question->trees[1]->item_count;
    pairs->count = 0;
    pairs->visits = 0;
    if (pairs->tasks == NULL) {
        SN_TRY_NEW(context, pairs->tasks, MOST_TASKS, SnBoxTask);
    }
    make_tasks(question->trees[0], other_count, pairs);
    SN_TRY(find_pairs(context, question));
    for (size_t i = 0; i < pairs->task_count; i++) {
        pairs->count += pairs->tasks[i].found;
        pairs->visits += pairs->tasks[i].visits;
    }
    SN_TRY_ROOM(context, pairs->starts, item_count + 1, pairs->start_capacity);
    SN_TRY_ROOM(context, pairs->columns, other_count + 1, pairs->column_capacity);
    SN_TRY_ROOM(context, pairs->others, pairs->count, pairs->other_capacity);
    SN_TRY_ROOM(context, pairs->sorted, pairs->count, pairs->sorted_capacity);
    sort_pairs(item_count, other_count, pairs);
cleanup:
    if (status != SN_OK) {
        sn_box_pairs_clear(pairs);
    }
    return status;
}

SnStatus sn_box_pairs_find(SnContext *context, const SnBoxTree *tree, const double *boxes, const SnBoxTree *other,
                           const double *other_boxes, double margin, SnBoxPairs *pairs)
{
    return answer(context, &(Question){{tree, other}, {boxes, other_boxes}, margin, 0, pairs});
}

SnStatus sn_box_pairs_find_own(SnContext *context, const SnBoxTree *tree, const double *boxes, double margin, SnBoxPairs *pairs)
{
    return answer(context, &(Question){{tree, tree}, {boxes, boxes}, margin, 1, pairs});
}

void sn_box_pairs_clear(SnBoxPairs *pairs)
{
    for (size_t i = 0; i < MOST_TASKS && pairs->tasks != NULL; i++) {
        sn_release(pairs->tasks[i].pairs);
    }
    sn_release(pairs->tasks);
    sn_release(pairs->starts);
    sn_release(pairs->columns);
    sn_release(pairs->others);
    sn_release(pairs->sorted);
    *pairs = (SnBoxPairs){0};
}
