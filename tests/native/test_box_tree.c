/* The box tree and its pairs against looking at everything, before and after the items move. */
#include "check.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "mesh/box_pairs.h"

#include <string.h>

/* Boxes of up to `size` in a unit cube, some of them points, some in the same place, one as large as the cube. */
static double *random_boxes(SnContext *context, size_t count, double size, uint64_t seed)
{
    double *boxes = SN_NEW(context, 6 * count, double);
    for (size_t i = 0; i < count && boxes != NULL; i++) {
        for (size_t axis = 0; axis < 3; axis++) {
            double low = check_random(&seed), extent = i % 7 == 3 ? 0.0 : size * check_random(&seed);
            boxes[6 * i + axis] = i % 11 == 5 ? boxes[6 * (i - 1) + axis] : low;
            boxes[6 * i + 3 + axis] = i % 11 == 5 ? boxes[6 * (i - 1) + 3 + axis] : low + extent;
        }
    }
    for (size_t axis = 0; axis < 3 && count > 20; axis++) {
        boxes[6 * 20 + axis] = 0.0;
        boxes[6 * 20 + 3 + axis] = 1.0;
    }
    return boxes;
}

/* Every box goes its own way. */
static void move_boxes(size_t count, double distance, uint64_t seed, double *boxes)
{
    for (size_t i = 0; i < 3 * count; i++) {
        double move = distance * (check_random(&seed) - 0.5);
        boxes[6 * (i / 3) + i % 3] += move;
        boxes[6 * (i / 3) + 3 + i % 3] += move;
    }
}

static int boxes_meet(const double *a, const double *b, double margin)
{
    for (int axis = 0; axis < 3; axis++) {
        if (a[axis] - margin > b[3 + axis] || b[axis] - margin > a[3 + axis]) {
            return 0;
        }
    }
    return 1;
}

/* Every item is in one leaf, and every node has the smallest box that holds its items. */
static void check_tree(const SnBoxTree *tree, const double *boxes)
{
    uint8_t seen[4096] = {0};
    size_t wrong = 0, in_leaves = 0;
    for (size_t i = 0; i < tree->node_count; i++) {
        const SnBoxTreeNode *node = tree->nodes + i;
        double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
        for (int32_t place = node->begin; place < node->end; place++) {
            const double *box = boxes + 6 * (size_t)tree->items[place];
            in_leaves += node->right == 0;
            wrong += node->right == 0 && seen[tree->items[place]]++ > 0;
            for (int axis = 0; axis < 3; axis++) {
                low[axis] = fmin(low[axis], box[axis]);
                high[axis] = fmax(high[axis], box[3 + axis]);
            }
        }
        wrong += memcmp(low, node->low, sizeof low) != 0 || memcmp(high, node->high, sizeof high) != 0;
        wrong += node->right == 0 ? (size_t)node->next != i + 1 : (size_t)tree->nodes[i + 1].next != (size_t)node->right;
    }
    CHECK(wrong == 0 && in_leaves == tree->item_count);
}

/* A walk with a box. */
typedef struct Walk {
    const double *boxes, *box;
    int32_t last;
    size_t nodes, found, unordered;
    uint8_t met[4096];
} Walk;

static int enter(void *data, const SnBoxTree *tree, size_t node)
{
    Walk *walk = data;
    double box[6];
    memcpy(box, tree->nodes[node].low, 3 * sizeof *box);
    memcpy(box + 3, tree->nodes[node].high, 3 * sizeof *box);
    walk->nodes++;
    return boxes_meet(box, walk->box, 0.0);
}

static void meet(void *data, int32_t item, int32_t place)
{
    Walk *walk = data;
    walk->unordered += place <= walk->last;
    walk->last = place;
    walk->met[item] = boxes_meet(walk->boxes + 6 * (size_t)item, walk->box, 0.0) != 0;
}

static void check_walk(const SnBoxTree *tree, const double *boxes, const double *box)
{
    Walk walk = {.boxes = boxes, .box = box, .last = -1};
    size_t wrong = 0;
    sn_box_tree_visit(tree, enter, meet, &walk);
    for (size_t i = 0; i < tree->item_count; i++) {
        wrong += walk.met[i] != (boxes_meet(boxes + 6 * i, box, 0.0) != 0);
    }
    CHECK(wrong == 0 && walk.unordered == 0 && walk.nodes <= tree->node_count);
}

static double box_distance(const void *data, int32_t item, const double point[3])
{
    const double *box = (const double *)data + 6 * (size_t)item;
    double sum = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        double d = fmax(0.0, fmax(box[axis] - point[axis], point[axis] - box[3 + axis]));
        sum += d * d;
    }
    return sum;
}

static void check_nearest(const SnBoxTree *tree, const double *boxes, const double point[3])
{
    double squared = 0.01, nearest = 0.01;
    int32_t found = sn_box_tree_nearest(tree, point, box_distance, boxes, &squared);
    for (size_t i = 0; i < tree->item_count; i++) {
        nearest = fmin(nearest, box_distance(boxes, (int32_t)i, point));
    }
    CHECK(squared <= nearest && nearest <= squared);
    CHECK(found < 0 ? nearest >= 0.01 : box_distance(boxes, found, point) <= nearest);
}

/* other: null for a tree with itself. */
static size_t check_pairs(const SnBoxPairs *pairs, size_t count, const double *boxes, size_t other_count, const double *other,
                          double margin)
{
    size_t wrong = 0, at = 0;
    for (size_t i = 0; i < count; i++) {
        wrong += pairs->starts[i] != at;
        for (size_t j = other == NULL ? i + 1 : 0; j < other_count; j++) {
            if (boxes_meet(boxes + 6 * i, (other == NULL ? boxes : other) + 6 * j, margin)) {
                wrong += at >= pairs->count || pairs->others[at] != (int32_t)j;
                at++;
            }
        }
    }
    CHECK(wrong == 0 && at == pairs->count && pairs->starts[count] == at);
    return at;
}

static void every_question_is_answered_as_by_looking_at_everything(SnContext *context)
{
    static const size_t COUNTS[] = {1, 2, 4, 5, 9, 64, 300, 1500};
    SnBoxPairs pairs = {0};
    for (size_t c = 0; c < sizeof COUNTS / sizeof *COUNTS; c++) {
        size_t count = COUNTS[c], other_count = COUNTS[(c + 3) % 8];
        double *boxes = random_boxes(context, count, 0.1, c), *other_boxes = random_boxes(context, other_count, 0.2, c + 99);
        SnBoxTree tree, other;
        CHECK(sn_box_tree_build(context, count, boxes, &tree) == SN_OK);
        CHECK(sn_box_tree_build(context, other_count, other_boxes, &other) == SN_OK);
        for (int move = 0; move < 3; move++) { /* as built; moved a little; far */
            if (move > 0) {
                move_boxes(count, move == 1 ? 0.05 : 0.6, c + 50, boxes);
                sn_box_tree_refit(&tree, boxes);
            }
            check_tree(&tree, boxes);
            for (size_t i = 0; i < other_count && i < 40; i++) {
                check_walk(&tree, boxes, other_boxes + 6 * i);
                check_nearest(&tree, boxes, other_boxes + 6 * i);
            }
            for (int wide = 0; wide < 2; wide++) {
                double margin = wide ? 0.03 : 0.0;
                CHECK(sn_box_pairs_find(context, &tree, boxes, &other, other_boxes, margin, &pairs) == SN_OK);
                size_t found = check_pairs(&pairs, count, boxes, other_count, other_boxes, margin);
                CHECK(count < 300 || other_count < 9 || found > 50);
                CHECK(sn_box_pairs_find_own(context, &tree, boxes, margin, &pairs) == SN_OK);
                found = check_pairs(&pairs, count, boxes, count, NULL, margin);
                CHECK(count < 300 || found > 20);
            }
        }
        sn_box_tree_clear(&tree);
        sn_box_tree_clear(&other);
        sn_release(boxes);
        sn_release(other_boxes);
    }
    sn_box_pairs_clear(&pairs);
}

static void an_empty_tree_answers_with_none(SnContext *context)
{
    const double box[6] = {0.0, 0.0, 0.0, 1.0, 1.0, 1.0};
    SnBoxTree none, one;
    SnBoxPairs pairs = {0};
    double squared = INFINITY;
    CHECK(sn_box_tree_build(context, 0, box, &none) == SN_OK);
    CHECK(sn_box_tree_build(context, 1, box, &one) == SN_OK);
    sn_box_tree_refit(&none, box);
    CHECK(sn_box_tree_nearest(&none, box, box_distance, box, &squared) == -1);
    check_walk(&none, box, box);
    CHECK(sn_box_pairs_find(context, &none, box, &one, box, 0.0, &pairs) == SN_OK && pairs.count == 0 && pairs.starts[0] == 0);
    CHECK(sn_box_pairs_find(context, &one, box, &none, box, 0.0, &pairs) == SN_OK && pairs.count == 0 && pairs.starts[1] == 0);
    CHECK(sn_box_pairs_find_own(context, &none, box, 0.0, &pairs) == SN_OK && pairs.count == 0);
    CHECK(sn_box_pairs_find_own(context, &one, box, 0.0, &pairs) == SN_OK && pairs.count == 0);
    sn_box_pairs_clear(&pairs);
    sn_box_tree_clear(&none);
    sn_box_tree_clear(&one);
}

/* A sheet of quads, like a surface: each box meets its neighbours, so the nodes looked at grow with the items and no faster. */
static double *sheet_boxes(SnContext *context, size_t side)
{
    double *boxes = SN_NEW(context, 6 * side * side, double);
    for (size_t i = 0; i < side * side && boxes != NULL; i++) {
        double low[3] = {(double)(i % side), (double)(i / side), 2.0 * sin(0.1 * (double)(i % side))};
        for (size_t axis = 0; axis < 3; axis++) {
            boxes[6 * i + axis] = low[axis];
            boxes[6 * i + 3 + axis] = low[axis] + (axis == 2 ? 0.3 : 1.0);
        }
    }
    return boxes;
}

static void a_refitted_tree_gives_the_pairs_of_a_new_one_and_counts_what_it_costs(SnContext *context)
{
    size_t side = 120, count = side * side;
    double *boxes = sheet_boxes(context, side);
    SnBoxTree tree, anew;
    SnBoxPairs pairs = {0}, other = {0};
    CHECK(sn_box_tree_build(context, count, boxes, &tree) == SN_OK);
    CHECK(sn_box_pairs_find_own(context, &tree, boxes, 0.0, &pairs) == SN_OK);
    CHECK(pairs.count > 3 * count && pairs.count < 5 * count);
    CHECK(pairs.visits < 25 * (long)count); /* it has count² / 2 pairs to choose from */
    long before = pairs.visits;
    move_boxes(count, 8.0, 1, boxes);
    sn_box_tree_refit(&tree, boxes);
    CHECK(sn_box_tree_build(context, count, boxes, &anew) == SN_OK);
    CHECK(sn_box_pairs_find_own(context, &tree, boxes, 0.0, &pairs) == SN_OK);
    CHECK(sn_box_pairs_find_own(context, &anew, boxes, 0.0, &other) == SN_OK);
    CHECK(pairs.visits > 3 * before / 2 && other.visits < pairs.visits);
    CHECK(pairs.count == other.count && memcmp(pairs.starts, other.starts, (count + 1) * sizeof *pairs.starts) == 0);
    CHECK(memcmp(pairs.others, other.others, pairs.count * sizeof *pairs.others) == 0);
    sn_box_pairs_clear(&pairs);
    sn_box_pairs_clear(&other);
    sn_box_tree_clear(&tree);
    sn_box_tree_clear(&anew);
    sn_release(boxes);
}

static void same_bits_on_any_number_of_threads(SnContext *context)
{
    size_t side = 130, count = side * side;
    double *boxes = sheet_boxes(context, side);
    SnBoxTree trees[3];
    SnBoxPairs pairs[3] = {{0}};
    for (int i = 0; i < 3; i++) {
        double *moved = sheet_boxes(context, side);
        sn_parallel_set_thread_count(1 << i);
        CHECK(sn_box_tree_build(context, count, boxes, trees + i) == SN_OK);
        move_boxes(count, 1.0, 5, moved);
        sn_box_tree_refit(trees + i, moved);
        CHECK(sn_box_pairs_find_own(context, trees + i, moved, 0.1, pairs + i) == SN_OK);
        sn_release(moved);
    }
    sn_parallel_set_thread_count(0);
    for (int i = 1; i < 3; i++) {
        CHECK(trees[0].node_count == trees[i].node_count);
        CHECK(memcmp(trees[0].nodes, trees[i].nodes, trees[0].node_count * sizeof *trees[0].nodes) == 0);
        CHECK(pairs[0].count == pairs[i].count && pairs[0].visits == pairs[i].visits);
        CHECK(memcmp(pairs[0].others, pairs[i].others, pairs[0].count * sizeof *pairs[0].others) == 0);
        CHECK(memcmp(pairs[0].starts, pairs[i].starts, (count + 1) * sizeof *pairs[0].starts) == 0);
    }
    for (int i = 0; i < 3; i++) {
        sn_box_tree_clear(trees + i);
        sn_box_pairs_clear(pairs + i);
    }
    sn_release(boxes);
}

static void failing_memory_leaves_nothing_behind_and_asking_again_needs_none(SnContext *context)
{
    SnBoxTree tree;
    SnBoxPairs pairs = {0};
    double *boxes = random_boxes(context, 900, 0.1, 3);
    SnStatus status = SN_OUT_OF_MEMORY;
    long failing = 0;
    CHECK(sn_box_tree_build(context, 900, boxes, &tree) == SN_OK);
    for (; status != SN_OK && failing < 200; failing++) {
        context->allocations_until_failure = failing;
        status = sn_box_pairs_find_own(context, &tree, boxes, 0.0, &pairs);
        CHECK(status == SN_OK || (status == SN_OUT_OF_MEMORY && pairs.count == 0 && pairs.starts == NULL && pairs.tasks == NULL));
    }
    CHECK(status == SN_OK && failing > 5);
    size_t found = pairs.count;
    context->allocations_until_failure = 0;
    CHECK(sn_box_pairs_find_own(context, &tree, boxes, 0.0, &pairs) == SN_OK && pairs.count == found);
    context->allocations_until_failure = -1;
    sn_box_pairs_clear(&pairs);
    sn_box_tree_clear(&tree);
    sn_release(boxes);
}

/* Each item lies in one of them, and they follow each other. */
static void parts_hold_all_items_once_and_no_more_than_asked(SnContext *context)
{
    static const size_t MOST[] = {1, 4, 7, 40, 899, 900, 5000};
    SnBoxTree tree;
    double *boxes = random_boxes(context, 900, 0.1, 11);
    CHECK(sn_box_tree_build(context, 900, boxes, &tree) == SN_OK);
    for (size_t k = 0; k < sizeof MOST / sizeof *MOST; k++) {
        int32_t reached = 0;
        size_t parts = 0;
        for (size_t at = 0; (at = sn_box_tree_part(&tree, MOST[k], at)) < tree.node_count; at = (size_t)tree.nodes[at].next, parts++) {
            const SnBoxTreeNode *node = tree.nodes + at;
            CHECK(node->begin == reached && ((size_t)(node->end - node->begin) <= MOST[k] || node->right == 0));
            reached = node->end;
        }
        CHECK(reached == 900 && (MOST[k] < 900 ? parts >= 900 / MOST[k] / 4 && parts > 1 : parts == 1));
    }
    CHECK(sn_box_tree_part(&(SnBoxTree){0}, 4, 0) == 0);
    sn_box_tree_clear(&tree);
    sn_release(boxes);
}

int main(void)
{
    SnContext context;
    sn_context_init(&context);
    every_question_is_answered_as_by_looking_at_everything(&context);
    an_empty_tree_answers_with_none(&context);
    parts_hold_all_items_once_and_no_more_than_asked(&context);
    a_refitted_tree_gives_the_pairs_of_a_new_one_and_counts_what_it_costs(&context);
    same_bits_on_any_number_of_threads(&context);
    failing_memory_leaves_nothing_behind_and_asking_again_needs_none(&context);
    return CHECK_RESULT();
}
