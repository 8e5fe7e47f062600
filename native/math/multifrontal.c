/* The columns of the factor L fall into supernodes, runs of columns with the same rows below; one supernode is one front. Nested
   dissection has ordered the unknowns, so fronts form a tree: a separator stands above the two halves that it parts, and neither half
   knows of the other.

        front 2: the separator             a front, `width` columns of its own:          its update matrix, (height - width)²,
          /            \                                                                  goes up to the parent, row by row where
      front 0        front 1                   width                                     `relative` says:
      (left)         (right)                 +-------+
                                             | \  L  |  width     own rows                    parent's panel
     postorder: 0, 1, 2, ...                 |   \   |                                        +-----+---------+
     children before parents                 +-------+---------+                         --->  | +   |         |
                                             |   L   | update  |  height - width              |     |   +     |
                                             |       |         |  rows that ancestors own     +-----+---------+
                                             +-------+---------+

   Factorizing a front: matrix values of its columns (entry_value -> entry_place) and the update matrices of its children are added into
   it, always in the same order; the dense kernel (dense_panel.c) takes the Cholesky factor of its own columns and subtracts L Lᵀ from the
   update matrix. Solving runs up the tree (L y = b) and down again (Lᵀ x = y), with a vector of `height` for each front in place of the
   update matrix. Consecutive rows stay consecutive in the parent mostly, so `run` counts how many may be added at one go.

   Work is cut by counted operations: a subtree of at most 1/SUBTREE_SHARE of the whole is one task, run by one thread with a stack of its
   own for update matrices (a child's is released when its parent has taken it); every front above is a task of its own with an update
   matrix of its own, and starts when its children have ended. Who runs a task changes nothing in it: same bits on any number of threads.

   With a border the last front is its own, and a factorization ends before it: the panel as its children have left it is kept (`border`),
   and closing the border takes its Cholesky factor after something was added.

   Beside the factor in single precision lies a copy in 16 bits with inverted triangles (SnRoundedPanel), read by rough solutions: those
   are bound by memory. Pivots that rounding has eaten up are replaced and counted: the caller then takes the exact solver. */
#include "math/multifrontal.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "math/batch3.h"
#include "math/border.h"
#include "math/dense_panel.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#define SMALL_WORK 1e7 /* operations: a millisecond */
#define SUBTREE_SHARE 16 /* a subtree of at most this part of the work is one task */

typedef struct Front {
    size_t width, height;
    size_t panel;      /* place of its panel (height x width) in `factor` */
    size_t update;     /* place of its update matrix in `updates` */
    size_t rows;       /* place of its rows in shape.rows */
    size_t rounded;    /* place of its rounded panel in `rounded` ... */
    size_t inverse;    /* ... and of the inverse triangles that belong to it in `inverse` */
    size_t vector;     /* place of its vector in `vectors` */
    size_t relative;   /* place of its map into the parent in `relative` and `run`: height - width numbers */
    size_t shared;     /* how many of its lower rows are columns of the parent */
    int32_t parent;    /* front; -1: root */
    int32_t first_child, next_sibling;
    size_t entry_begin, entry_end; /* matrix values in its columns */
} Front;

/* Fronts first..last in postorder; `last` is the top of the subtree. */
typedef struct Task {
    size_t first, last;
} Task;

struct SnMultifrontal {
    const SnBlockPattern *pattern;
    SnSupernodes shape;
    Front *fronts;
    int32_t *relative;    /* row in the parent's front of each lower row ... */
    int32_t *run;         /* ... and how many from there on are neighbours in both */
    int32_t *entry_value; /* which value of the matrix ... */
    int32_t *entry_place; /* ... goes to which place of the panel */
    Task *tasks;
    int32_t *first_child, *next_sibling; /* of tasks */
    SnForest forest;
    float *factor, *updates;
    float *diagonal;      /* of the matrix, in the order of the factor */
    int32_t *rounded;     /* the factor in 16 bits ... */
    float *inverse, *scale; /* ... see SnRoundedPanel */
    float *vectors;       /* one of `height` and some slack per front */
    float *solution;      /* in the order of the factor */
    float *border;        /* the last panel before it is factorized; null: there is no border */
    float *right;         /* the right side of it */
    SnBorderFunction function; /* that solves on it, with its data, in the solution at hand; or null */
    void *data;
    double right_scale;   /* of the solution at hand */
    const double *values; /* of the factorization under way */
    int roughly;          /* the solution under way takes the factor in 16 bits */
    atomic_int replaced;
};

void sn_multifrontal_destroy(SnMultifrontal *m)
{
    if (m == NULL) {
        return;
    }
    sn_supernodes_clear(&m->shape);
    sn_release(m->fronts);
    sn_release(m->relative);
    sn_release(m->run);
    sn_release(m->entry_value);
    sn_release(m->entry_place);
    sn_release(m->tasks);
    sn_release(m->first_child);
    sn_release(m->next_sibling);
    sn_release(m->factor);
    sn_release(m->updates);
    sn_release(m->diagonal);
    sn_release(m->inverse);
    sn_release(m->scale);
    sn_release(m->rounded);
    sn_release(m->vectors);
    sn_release(m->solution);
    sn_release(m->border);
    sn_release(m->right);
    sn_release(m);
}

/* Floats of a front's panel, with what its tiles read past the end: another front's panel may be in the making there. */
static size_t panel_size(const Front *front)
{
    return front->height * front->width + SN_PANEL_SLACK;
}

/* Words of a front's rounded panel. */
static size_t rounded_size(const Front *front)
{
    return front->height * ((front->width + 1) / 2);
}

/* Floats of the inverse triangles of a front. */
static size_t inverse_size(const Front *front)
{
    return (front->width + SN_ROUNDED_BLOCK - 1) / SN_ROUNDED_BLOCK * SN_ROUNDED_BLOCK * SN_ROUNDED_BLOCK;
}

/* Sizes, the tree, and the map of each front's lower rows into its parent. `front_of`: column -> front. */
static void shape_fronts(SnMultifrontal *m, int32_t *front_of)
{
    const SnSupernodes *shape = &m->shape;
    size_t panel = 0, relative = 0, rounded = 0, inverse = 0;
    for (size_t k = 0; k < shape->count; k++) {
        Front *front = m->fronts + k;
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
        for (int32_t column = shape->column_start[k]; column < shape->column_start[k + 1]; column++) {
            front_of[column] = (int32_t)k;
        }
    }
    for (size_t k = shape->count; k-- > 0;) { /* backwards, so that children come out in rising order */
        Front *front = m->fronts + k;
        const int32_t *rows = shape->rows + front->rows;
        front->parent = front->height > front->width ? front_of[rows[front->width]] : -1;
        if (front->parent < 0) {
            continue;
        }
        Front *parent = m->fronts + front->parent;
        const int32_t *parent_rows = shape->rows + parent->rows;
        front->next_sibling = parent->first_child;
        parent->first_child = (int32_t)k;
        size_t at = 0;
        for (size_t i = front->width; i < front->height; i++) {
            while (parent_rows[at] != rows[i]) {
                at++;
            }
            m->relative[front->relative + i - front->width] = (int32_t)at;
            front->shared += at < parent->width;
        }
        int32_t *place = m->relative + front->relative, *run = m->run + front->relative;
        for (size_t i = front->height - front->width; i-- > 0;) {
            int joined = i + 1 < front->height - front->width && place[i + 1] == place[i] + 1;
            run[i] = joined ? run[i + 1] + 1 : 1;
        }
    }
}

/* Place of `row` in the panel of a front, by bisection of its rows. */
static size_t find_row(const SnMultifrontal *m, const Front *front, int32_t row)
{
    const int32_t *rows = m->shape.rows + front->rows;
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
static void place_entries(SnMultifrontal *m, const int32_t *inverse, const int32_t *front_of, int fill)
{
    const SnBlockPattern *pattern = m->pattern;
    for (size_t column = 0; column < 3 * pattern->size; column++) {
        for (int32_t k = pattern->value_start[column]; k < pattern->value_start[column + 1]; k++) {
            int32_t a = inverse[column], b = inverse[pattern->value_rows[k]];
            int32_t left = a < b ? a : b, lower = a < b ? b : a;
            Front *front = m->fronts + front_of[left];
            if (fill) {
                size_t place = (size_t)(left - m->shape.column_start[front_of[left]]) * front->height + find_row(m, front, lower);
                m->entry_value[front->entry_end] = k;
                m->entry_place[front->entry_end] = (int32_t)place;
            }
            front->entry_end++;
        }
    }
}

static SnStatus find_entries(SnContext *context, SnMultifrontal *m, const int32_t *front_of)
{
    SnStatus status = SN_OK;
    int32_t *inverse = NULL;
    size_t next = 0;
    SN_TRY_NEW(context, inverse, m->shape.size, int32_t);
    SN_TRY_NEW(context, m->entry_value, m->pattern->value_count, int32_t);
    SN_TRY_NEW(context, m->entry_place, m->pattern->value_count, int32_t);
    for (size_t k = 0; k < m->shape.size; k++) {
        inverse[m->shape.order[k]] = (int32_t)k;
    }
    place_entries(m, inverse, front_of, 0);
    for (size_t k = 0; k < m->shape.count; k++) {
        size_t count = m->fronts[k].entry_end;
        m->fronts[k].entry_begin = m->fronts[k].entry_end = next;
        next += count;
    }
    place_entries(m, inverse, front_of, 1);
cleanup:
    sn_release(inverse);
    return status;
}

static double front_work(const Front *front)
{
    return (double)front->width * (double)front->height * (double)front->height;
}

/* Floats of a front's update matrix. */
static size_t update_size(const Front *front)
{
    return (front->height - front->width) * (front->height - front->width);
}

/* Gives each update matrix of a task the lowest place from `base` on where no other one lies that its parent has not taken yet. That of
   the top, which outlives the task, comes behind all others. `live`: room for all fronts. Returns the end. */
static size_t place_updates(SnMultifrontal *m, const Task *task, size_t base, int32_t *live)
{
    size_t live_count = 0, end = base;
    for (size_t k = task->first; k < task->last; k++) {
        size_t size = update_size(m->fronts + k), place = base, at = 0;
        for (; at < live_count && m->fronts[live[at]].update < place + size; at++) {
            place = m->fronts[live[at]].update + update_size(m->fronts + live[at]);
        }
        memmove(live + at + 1, live + at, (live_count - at) * sizeof *live);
        live[at] = (int32_t)k;
        live_count++;
        m->fronts[k].update = place;
        end = place + size > end ? place + size : end;
        size_t kept = 0;
        for (size_t i = 0; i < live_count; i++) {
            live[kept] = live[i];
            kept += m->fronts[live[i]].parent != (int32_t)k;
        }
        live_count = kept;
    }
    m->fronts[task->last].update = end;
    return end + update_size(m->fronts + task->last);
}

/* Cuts the tree into tasks and lays out the update matrices. Returns how many floats they need. */
static size_t plan_tasks(SnMultifrontal *m, double *work, int32_t *task_of, int32_t *live)
{
    size_t count = m->shape.count, task_count = 0, next = 0;
    double total = 0.0;
    for (size_t k = 0; k < count; k++) {
        work[k] += front_work(m->fronts + k);
        total += front_work(m->fronts + k);
        if (m->fronts[k].parent >= 0) {
            work[m->fronts[k].parent] += work[k];
        }
    }
    size_t first = 0;
    for (size_t k = 0; k < count; k++) {
        Front *front = m->fronts + k;
        int small = work[k] <= total / SUBTREE_SHARE;
        int top = !small || front->parent < 0 || work[front->parent] > total / SUBTREE_SHARE;
        if (top) {
            m->tasks[task_count] = (Task){small ? first : k, k};
            for (size_t below = m->tasks[task_count].first; below <= k; below++) {
                task_of[below] = (int32_t)task_count;
            }
            task_count++;
            first = k + 1;
        }
    }
    for (size_t t = 0; t < task_count; t++) {
        next = place_updates(m, m->tasks + t, next, live);
    }
    m->forest.count = task_count;
    for (size_t t = 0; t <= task_count; t++) {
        m->first_child[t] = -1;
    }
    for (size_t t = task_count; t-- > 0;) {
        int32_t parent = m->fronts[m->tasks[t].last].parent;
        size_t above = parent < 0 ? task_count : (size_t)task_of[parent];
        m->next_sibling[t] = m->first_child[above];
        m->first_child[above] = (int32_t)t;
    }
    m->forest.serial = total < SMALL_WORK;
    m->forest.first_child = m->first_child;
    m->forest.next_sibling = m->next_sibling;
    return next;
}

/* Takes the shape, whatever comes of it. */
static SnStatus create(SnContext *context, const SnBlockPattern *pattern, SnSupernodes shape, int has_border, SnMultifrontal **out)
{
    SnStatus status = SN_OK;
    SnMultifrontal *m = SN_NEW(context, 1, SnMultifrontal);
    int32_t *front_of = NULL, *live = NULL, *task_of = NULL;
    double *work = NULL;
    size_t panels = 0, rounded = 0, inverses = 0, highest = 0;
    *out = NULL;
    if (m == NULL) {
        sn_supernodes_clear(&shape);
        return SN_OUT_OF_MEMORY;
    }
    m->pattern = pattern;
    m->shape = shape;
    size_t count = m->shape.count;
    SN_TRY_NEW(context, m->fronts, count, Front);
    SN_TRY_NEW(context, front_of, m->shape.size, int32_t);
    SN_TRY_NEW(context, m->relative, m->shape.row_start[count], int32_t);
    SN_TRY_NEW(context, m->run, m->shape.row_start[count], int32_t);
    shape_fronts(m, front_of);
    for (size_t k = 0; k < count; k++) {
        panels += panel_size(m->fronts + k);
        rounded += rounded_size(m->fronts + k);
        inverses += inverse_size(m->fronts + k);
        highest = m->fronts[k].height > highest ? m->fronts[k].height : highest;
    }
    SN_TRY(find_entries(context, m, front_of));
    SN_TRY_NEW(context, m->tasks, count, Task);
    SN_TRY_NEW(context, m->first_child, count + 1, int32_t);
    SN_TRY_NEW(context, m->next_sibling, count, int32_t);
    SN_TRY_NEW(context, work, count, double);
    SN_TRY_NEW(context, task_of, count, int32_t);
    SN_TRY_NEW(context, live, count + 1, int32_t);
    SN_TRY_NEW(context, m->updates, plan_tasks(m, work, task_of, live) + SN_PANEL_SLACK, float);
    SN_TRY_NEW(context, m->factor, panels, float);
    SN_TRY_NEW(context, m->rounded, rounded + SN_ROUNDED_BLOCK / 2 * highest, int32_t);
    SN_TRY_NEW(context, m->inverse, inverses, float);
    SN_TRY_NEW(context, m->scale, m->shape.size + SN_ROUNDED_BLOCK, float);
    SN_TRY_NEW(context, m->vectors, m->shape.row_start[count] + count * SN_VECTOR_SLACK, float);
    SN_TRY_NEW(context, m->diagonal, m->shape.size, float);
    SN_TRY_NEW(context, m->solution, m->shape.size, float);
    if (has_border) {
        SN_TRY_NEW(context, m->border, m->fronts[count - 1].width * m->fronts[count - 1].height, float);
        SN_TRY_NEW(context, m->right, m->fronts[count - 1].width, float);
    }
    *out = m;
cleanup:
    sn_release(front_of);
    sn_release(live);
    sn_release(task_of);
    sn_release(work);
    if (status != SN_OK) {
        sn_multifrontal_destroy(m);
    }
    return status;
}

SnStatus sn_multifrontal_create(SnContext *context, const SnBlockPattern *pattern, const SnLinearSolver *solver,
                                SnMultifrontal **out)
{
    SnSupernodes shape;
    *out = NULL;
    SnStatus status = sn_linear_solver_supernodes(context, solver, &shape);
    return status == SN_OK ? create(context, pattern, shape, 0, out) : status;
}

SnStatus sn_multifrontal_create_bordered(SnContext *context, const SnBlockPattern *pattern, const SnLinearSolver *solver,
                                         size_t border_count, const int32_t *border, SnMultifrontal **out)
{
    SnStatus status = SN_OK;
    SnSupernodes shape = {0}, bordered;
    int32_t *order = NULL;
    *out = NULL;
    SN_TRY(sn_linear_solver_supernodes(context, solver, &shape));
    SN_TRY_NEW(context, order, pattern->size, int32_t);
    for (size_t k = 0; k < pattern->size; k++) {
        order[k] = shape.order[3 * k] / 3;
    }
    SN_TRY(sn_border_shape(context, pattern, order, border_count, border, &bordered));
    SN_TRY(create(context, pattern, bordered, border_count > 0, out));
cleanup:
    sn_release(order);
    sn_supernodes_clear(&shape);
    return status;
}

void sn_multifrontal_work(const SnMultifrontal *m, double *products, double *entries)
{
    *products = *entries = 0.0;
    for (size_t k = 0; k < m->shape.count; k++) {
        double width = (double)m->fronts[k].width, height = (double)m->fronts[k].height;
        *products += width * height * (height - width) + width * width * width / 3.0;
        *entries += width * height;
    }
}

/* Adds columns begin..end-1 of a child's update matrix into `to`, the column of the parent's front where they go at row 0, run by run. */
static void extend_add(const SnMultifrontal *m, const Front *child, size_t begin, size_t end, size_t first_column, size_t ld,
                              float *to)
{
    size_t below = child->height - child->width;
    const int32_t *relative = m->relative + child->relative, *run = m->run + child->relative;
    for (size_t j = begin; j < end; j++) {
        float *column = to + ((size_t)relative[j] - first_column) * ld;
        const float *from = m->updates + child->update + j * below;
        for (size_t i = j; i < below; i += (size_t)run[i]) {
            float *target = column + relative[i];
            for (int32_t k = 0; k < run[i]; k++) {
                target[k] += from[i + (size_t)k];
            }
        }
    }
}

static SnRoundedPanel rounded_panel(const SnMultifrontal *m, size_t k)
{
    const Front *front = m->fronts + k;
    size_t column = (size_t)m->shape.column_start[k];
    return (SnRoundedPanel){front->height, front->width, m->inverse + front->inverse, m->scale + column, m->rounded + front->rounded};
}

static int is_border(const SnMultifrontal *m, size_t front)
{
    return m->border != NULL && front + 1 == m->shape.count;
}

static void factorize_front(SnMultifrontal *m, size_t index)
{
    const Front *front = m->fronts + index;
    float *panel = m->factor + front->panel, *update = m->updates + front->update;
    memset(panel, 0, front->height * front->width * sizeof *panel);
    for (size_t e = front->entry_begin; e < front->entry_end; e++) {
        panel[m->entry_place[e]] = (float)m->values[m->entry_value[e]];
    }
    float *diagonal = m->diagonal + m->shape.column_start[index];
    for (size_t j = 0; j < front->width; j++) {
        diagonal[j] = panel[j * front->height + j];
    }
    for (int32_t k = front->first_child; k >= 0; k = m->fronts[k].next_sibling) {
        const Front *child = m->fronts + k;
        extend_add(m, child, 0, child->shared, 0, front->height, panel);
    }
    if (is_border(m, index)) { /* left open */
        memcpy(m->border, panel, front->width * front->height * sizeof *panel);
        return;
    }
    int replaced = sn_panel_factorize(front->height, front->width, diagonal, panel);
    if (replaced > 0) {
        atomic_fetch_add(&m->replaced, replaced);
    }
    SnRoundedPanel rounded = rounded_panel(m, index);
    sn_panel_round(&rounded, panel);
    sn_panel_update(front->height, front->width, panel, update);
    for (int32_t k = front->first_child; k >= 0; k = m->fronts[k].next_sibling) {
        const Front *child = m->fronts + k;
        extend_add(m, child, child->shared, child->height - child->width, front->width, front->height - front->width,
                   update - front->width);
    }
}

static void factorize_task(void *data, size_t task)
{
    SnMultifrontal *m = data;
    for (size_t k = m->tasks[task].first; k <= m->tasks[task].last; k++) {
        factorize_front(m, k);
    }
}

int sn_multifrontal_factorize(SnMultifrontal *m, const double *values)
{
    m->values = values;
    atomic_store(&m->replaced, 0);
    sn_parallel_upwards(&m->forest, factorize_task, m);
    return atomic_load(&m->replaced);
}

float *sn_multifrontal_open_border(SnMultifrontal *m)
{
    const Front *front = m->fronts + m->shape.count - 1;
    float *panel = m->factor + front->panel;
    memcpy(panel, m->border, front->width * front->height * sizeof *panel);
    return panel;
}

int sn_multifrontal_close_border(SnMultifrontal *m)
{
    size_t last = m->shape.count - 1;
    const Front *front = m->fronts + last;
    float *panel = m->factor + front->panel, *diagonal = m->vectors + front->vector;
    for (size_t j = 0; j < front->width; j++) { /* with what was added */
        size_t place = j * front->height + j;
        diagonal[j] = m->diagonal[(size_t)m->shape.column_start[last] + j] + (panel[place] - m->border[place]);
    }
    return sn_panel_factorize(front->height, front->width, diagonal, panel);
}

const float *sn_multifrontal_border(const SnMultifrontal *m)
{
    return m->border;
}

/* The vector of a front collects its own entries and what its children leave for them. */
static void forward_front(SnMultifrontal *m, size_t k)
{
    const Front *front = m->fronts + k;
    float *x = m->vectors + front->vector;
    memcpy(x, m->solution + m->shape.column_start[k], front->width * sizeof *x);
    memset(x + front->width, 0, (front->height - front->width) * sizeof *x);
    for (int32_t child = front->first_child; child >= 0; child = m->fronts[child].next_sibling) {
        const Front *c = m->fronts + child;
        const float *from = m->vectors + c->vector + c->width;
        const int32_t *relative = m->relative + c->relative;
        for (size_t i = 0; i < c->height - c->width; i++) {
            x[relative[i]] += from[i];
        }
    }
    if (is_border(m, k) && m->function != NULL) {
        return; /* on the way back */
    }
    if (m->roughly && !is_border(m, k)) {
        SnRoundedPanel rounded = rounded_panel(m, k);
        sn_rounded_forward(&rounded, x);
    } else {
        sn_panel_forward(front->height, front->width, m->factor + front->panel, x);
    }
}

static void forward_task(void *data, size_t task)
{
    SnMultifrontal *m = data;
    for (size_t k = m->tasks[task].first; k <= m->tasks[task].last; k++) {
        forward_front(m, k);
    }
}

static void backward_task(void *data, size_t task)
{
    SnMultifrontal *m = data;
    for (size_t k = m->tasks[task].last + 1; k-- > m->tasks[task].first;) {
        const Front *front = m->fronts + k;
        const int32_t *rows = m->shape.rows + front->rows;
        float *x = m->vectors + front->vector;
        for (size_t i = front->width; i < front->height; i++) {
            x[i] = m->solution[rows[i]];
        }
        if (is_border(m, k) && m->function != NULL) {
            memcpy(m->right, x, front->width * sizeof *x);
            m->function(m->data, m->right_scale, m->right);
            memcpy(x, m->right, front->width * sizeof *x);
        } else if (m->roughly && !is_border(m, k)) {
            SnRoundedPanel rounded = rounded_panel(m, k);
            memset(x + front->height, 0, SN_VECTOR_SLACK * sizeof *x);
            sn_rounded_backward(&rounded, x);
        } else {
            sn_panel_backward(front->height, front->width, m->factor + front->panel, x);
        }
        memcpy(m->solution + m->shape.column_start[k], x, front->width * sizeof *x);
    }
}

/* So that tiny and huge right sides keep within the range of single precision. */
static double find_scale(size_t count, const double *b)
{
    double largest = 0.0;
    for (size_t k = 0; k < count; k++) {
        largest = fabs(b[k]) > largest ? fabs(b[k]) : largest;
    }
    return largest > 0.0 ? largest : 1.0;
}

static void solve(SnMultifrontal *m, int roughly, const double *b, double *x)
{
    double scale = m->right_scale = find_scale(m->shape.size, b);
    m->roughly = roughly;
    for (size_t k = 0; k < m->shape.size; k++) {
        m->solution[k] = (float)(b[m->shape.order[k]] / scale);
    }
    sn_parallel_upwards(&m->forest, forward_task, m);
    sn_parallel_downwards(&m->forest, backward_task, m);
    for (size_t k = 0; k < m->shape.size; k++) {
        x[m->shape.order[k]] = scale * (double)m->solution[k];
    }
}

void sn_multifrontal_solve(SnMultifrontal *m, const double *b, double *x)
{
    solve(m, 0, b, x);
}

void sn_multifrontal_solve_roughly(SnMultifrontal *m, const double *b, double *x)
{
    solve(m, 1, b, x);
}

void sn_multifrontal_solve_around(SnMultifrontal *m, int roughly, const double *b, SnBorderFunction function, void *data, double *x)
{
    m->function = function;
    m->data = data;
    solve(m, roughly, b, x);
    m->function = NULL;
}
