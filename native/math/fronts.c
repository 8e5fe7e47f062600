#include "math/fronts.h"

#include "base/memory.h"
#include "math/dense_panel.h"

#include <string.h>

#define SMALL_WORK 1e7 /* operations: a millisecond */
#define SUBTREE_SHARE 16 /* a subtree of at most this part of the work is one task */

/* Floats of a front's panel, with what its tiles read past the end: another front's panel may be in the making there. */
static size_t panel_size(const SnFront *front)
{
    return front->height * front->width + SN_PANEL_SLACK;
}

/* Words of a front's rounded panel. */
static size_t rounded_size(const SnFront *front)
{
    return front->height * ((front->width + 1) / 2);
}

/* Floats of the inverse triangles of a front. */
static size_t inverse_size(const SnFront *front)
{
    return (front->width + SN_ROUNDED_BLOCK - 1) / SN_ROUNDED_BLOCK * SN_ROUNDED_BLOCK * SN_ROUNDED_BLOCK;
}

/* Sizes, the tree, and the map of each front's lower rows into its parent. `front_of`: column -> front. */
static void shape_fronts(SnFrontPlan *plan, int32_t *front_of)
{
    const SnSupernodes *shape = &plan->shape;
    size_t panel = 0, relative = 0, rounded = 0, inverse = 0;
    for (size_t k = 0; k < shape->count; k++) {
        SnFront *front = plan->fronts + k;
        front->width = (size_t)(shape->column_start[k + 1] - shape->column_start[k]);
        front->height = shape->row_start[k + 1] - shape->row_start[k];
        front->rows = shape->row_start[k];
        front->vector = shape->row_start[k] + k * SN_VECTOR_SLACK;
        front->panel = panel;
        front->relative = relative;
        front->rounded = rounded;
        front->inverse = inverse;
        front->first_child = front->next_sibling = -1;
        panel += panel_size(front);
        rounded += rounded_size(front);
        inverse += inverse_size(front);
        relative += front->height - front->width;
        plan->highest = front->height > plan->highest ? front->height : plan->highest;
        for (int32_t column = shape->column_start[k]; column < shape->column_start[k + 1]; column++) {
            front_of[column] = (int32_t)k;
        }
    }
    plan->panels = panel;
    plan->rounded = rounded;
    plan->inverses = inverse;
    for (size_t k = shape->count; k-- > 0;) { /* backwards, so that children come out in rising order */
        SnFront *front = plan->fronts + k;
        const int32_t *rows = shape->rows + front->rows;
        front->parent = front->height > front->width ? front_of[rows[front->width]] : -1;
        if (front->parent < 0) {
            continue;
        }
        SnFront *parent = plan->fronts + front->parent;
        const int32_t *parent_rows = shape->rows + parent->rows;
        front->next_sibling = parent->first_child;
        parent->first_child = (int32_t)k;
        size_t at = 0;
        for (size_t i = front->width; i < front->height; i++) {
            while (parent_rows[at] != rows[i]) {
                at++;
            }
            plan->relative[front->relative + i - front->width] = (int32_t)at;
            front->shared += at < parent->width;
        }
        int32_t *place = plan->relative + front->relative, *run = plan->run + front->relative;
        for (size_t i = front->height - front->width; i-- > 0;) {
            int joined = i + 1 < front->height - front->width && place[i + 1] == place[i] + 1;
            run[i] = joined ? run[i + 1] + 1 : 1;
        }
    }
}

/* Place of `row` in the panel of a front, by bisection of its rows. */
static size_t find_row(const SnFrontPlan *plan, const SnFront *front, int32_t row)
{
    const int32_t *rows = plan->shape.rows + front->rows;
    size_t low = 0, high = front->height - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (rows[middle] < row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Calls for each value of the matrix: counts it in its front (fill == 0), or writes down where it goes. */
static void place_entries(SnFrontPlan *plan, const SnBlockPattern *pattern, const int32_t *inverse, const int32_t *front_of, int fill)
{
    for (size_t column = 0; column < 3 * pattern->size; column++) {
        for (int32_t k = pattern->value_start[column]; k < pattern->value_start[column + 1]; k++) {
            int32_t a = inverse[column], b = inverse[pattern->value_rows[k]];
            int32_t left = a < b ? a : b, lower = a < b ? b : a;
            SnFront *front = plan->fronts + front_of[left];
            if (fill) {
                size_t place = (size_t)(left - plan->shape.column_start[front_of[left]]) * front->height + find_row(plan, front, lower);
                plan->entry_value[front->entry_end] = k;
                plan->entry_place[front->entry_end] = (int32_t)place;
            }
            front->entry_end++;
        }
    }
}

static SnStatus find_entries(SnContext *context, SnFrontPlan *plan, const SnBlockPattern *pattern, const int32_t *front_of)
{
    SnStatus status = SN_OK;
    int32_t *inverse = NULL;
    size_t next = 0;
    SN_TRY_NEW(context, inverse, plan->shape.size, int32_t);
    SN_TRY_NEW(context, plan->entry_value, pattern->value_count, int32_t);
    SN_TRY_NEW(context, plan->entry_place, pattern->value_count, int32_t);
    for (size_t k = 0; k < plan->shape.size; k++) {
        inverse[plan->shape.order[k]] = (int32_t)k;
    }
    place_entries(plan, pattern, inverse, front_of, 0);
    for (size_t k = 0; k < plan->shape.count; k++) {
        size_t count = plan->fronts[k].entry_end;
        plan->fronts[k].entry_begin = plan->fronts[k].entry_end = next;
        next += count;
    }
    place_entries(plan, pattern, inverse, front_of, 1);
cleanup:
    sn_release(inverse);
    return status;
}

static double front_work(const SnFront *front)
{
    return (double)front->width * (double)front->height * (double)front->height;
}

/* Floats of a front's update matrix. */
static size_t update_size(const SnFront *front)
{
    return (front->height - front->width) * (front->height - front->width);
}

/* Gives each update matrix of a task the lowest place from `base` on where no other one lies that its parent has not taken yet. That of
   the top, which outlives the task, comes behind all others. `live`: room for all fronts. Returns the end. */
static size_t place_updates(SnFrontPlan *plan, const SnFrontTask *task, size_t base, int32_t *live)
{
    size_t live_count = 0, end = base;
    for (size_t k = task->first; k < task->last; k++) {
        size_t size = update_size(plan->fronts + k), place = base, at = 0;
        for (; at < live_count && plan->fronts[live[at]].update < place + size; at++) {
            place = plan->fronts[live[at]].update + update_size(plan->fronts + live[at]);
        }
        memmove(live + at + 1, live + at, (live_count - at) * sizeof *live);
        live[at] = (int32_t)k;
        live_count++;
        plan->fronts[k].update = place;
        end = place + size > end ? place + size : end;
        size_t kept = 0;
        for (size_t i = 0; i < live_count; i++) {
            live[kept] = live[i];
            kept += plan->fronts[live[i]].parent != (int32_t)k;
        }
        live_count = kept;
    }
    plan->fronts[task->last].update = end;
    return end + update_size(plan->fronts + task->last);
}

/* Cuts the tree into tasks and lays out the update matrices. Returns how many floats they need. */
static size_t plan_tasks(SnFrontPlan *plan, double *work, int32_t *task_of, int32_t *live)
{
    size_t count = plan->shape.count, task_count = 0, next = 0;
    double total = 0.0;
    for (size_t k = 0; k < count; k++) {
        work[k] += front_work(plan->fronts + k);
        total += front_work(plan->fronts + k);
        if (plan->fronts[k].parent >= 0) {
            work[plan->fronts[k].parent] += work[k];
        }
    }
    size_t first = 0;
    for (size_t k = 0; k < count; k++) {
        SnFront *front = plan->fronts + k;
        int small = work[k] <= total / SUBTREE_SHARE;
        int top = !small || front->parent < 0 || work[front->parent] > total / SUBTREE_SHARE;
        if (top) {
            plan->tasks[task_count] = (SnFrontTask){small ? first : k, k};
            for (size_t below = plan->tasks[task_count].first; below <= k; below++) {
                task_of[below] = (int32_t)task_count;
            }
            task_count++;
            first = k + 1;
        }
    }
    for (size_t t = 0; t < task_count; t++) {
        next = place_updates(plan, plan->tasks + t, next, live);
    }
    plan->forest.count = task_count;
    for (size_t t = 0; t <= task_count; t++) {
        plan->first_child[t] = -1;
    }
    for (size_t t = task_count; t-- > 0;) {
        int32_t parent = plan->fronts[plan->tasks[t].last].parent;
        size_t above = parent < 0 ? task_count : (size_t)task_of[parent];
        plan->next_sibling[t] = plan->first_child[above];
        plan->first_child[above] = (int32_t)t;
    }
    plan->forest.serial = total < SMALL_WORK;
    plan->forest.first_child = plan->first_child;
    plan->forest.next_sibling = plan->next_sibling;
    return next;
}

SnStatus sn_front_plan_init(SnContext *context, const SnBlockPattern *pattern, SnSupernodes shape, SnFrontPlan *plan)
{
    SnStatus status = SN_OK;
    size_t count = shape.count;
    int32_t *front_of = NULL, *live = NULL, *task_of = NULL;
    double *work = NULL;
    *plan = (SnFrontPlan){.shape = shape};
    SN_TRY_NEW(context, plan->fronts, count, SnFront);
    SN_TRY_NEW(context, front_of, shape.size, int32_t);
    SN_TRY_NEW(context, plan->relative, shape.row_start[count], int32_t);
    SN_TRY_NEW(context, plan->run, shape.row_start[count], int32_t);
    shape_fronts(plan, front_of);
    SN_TRY(find_entries(context, plan, pattern, front_of));
    SN_TRY_NEW(context, plan->tasks, count, SnFrontTask);
    SN_TRY_NEW(context, plan->first_child, count + 1, int32_t);
    SN_TRY_NEW(context, plan->next_sibling, count, int32_t);
    SN_TRY_NEW(context, work, count, double);
    SN_TRY_NEW(context, task_of, count, int32_t);
    SN_TRY_NEW(context, live, count + 1, int32_t);
    plan->updates = plan_tasks(plan, work, task_of, live);
cleanup:
    sn_release(front_of);
    sn_release(live);
    sn_release(task_of);
    sn_release(work);
    if (status != SN_OK) {
        sn_front_plan_clear(plan);
    }
    return status;
}

void sn_front_plan_clear(SnFrontPlan *plan)
{
    sn_supernodes_clear(&plan->shape);
    sn_release(plan->fronts);
    sn_release(plan->relative);
    sn_release(plan->run);
    sn_release(plan->entry_value);
    sn_release(plan->entry_place);
    sn_release(plan->tasks);
    sn_release(plan->first_child);
    sn_release(plan->next_sibling);
    *plan = (SnFrontPlan){0};
}
