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
#include "math/border.h"
#include "math/dense_panel.h"
#include "math/fronts.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

struct SnMultifrontal {
    SnFrontPlan plan;
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
    sn_front_plan_clear(&m->plan);
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

/* Takes the shape, whatever comes of it. */
static SnStatus create(SnContext *context, const SnBlockPattern *pattern, SnSupernodes shape, int has_border, SnMultifrontal **out)
{
    SnStatus status = SN_OK;
    SnMultifrontal *m = SN_NEW(context, 1, SnMultifrontal);
    *out = NULL;
    if (m == NULL) {
        sn_supernodes_clear(&shape);
        return SN_OUT_OF_MEMORY;
    }
    size_t count = shape.count, rows = shape.row_start[count];
    SN_TRY(sn_front_plan_init(context, pattern, shape, &m->plan));
    const SnFrontPlan *plan = &m->plan;
    SN_TRY_NEW(context, m->updates, plan->updates + SN_PANEL_SLACK, float);
    SN_TRY_NEW(context, m->factor, plan->panels, float);
    SN_TRY_NEW(context, m->rounded, plan->rounded + SN_ROUNDED_BLOCK / 2 * plan->highest, int32_t);
    SN_TRY_NEW(context, m->inverse, plan->inverses, float);
    SN_TRY_NEW(context, m->scale, plan->shape.size + SN_ROUNDED_BLOCK, float);
    SN_TRY_NEW(context, m->vectors, rows + count * SN_VECTOR_SLACK, float);
    SN_TRY_NEW(context, m->diagonal, plan->shape.size, float);
    SN_TRY_NEW(context, m->solution, plan->shape.size, float);
    if (has_border) {
        const SnFront *last = plan->fronts + count - 1;
        SN_TRY_NEW(context, m->border, last->width * last->height, float);
        SN_TRY_NEW(context, m->right, last->width, float);
    }
    *out = m;
cleanup:
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
    for (size_t k = 0; k < m->plan.shape.count; k++) {
        double width = (double)m->plan.fronts[k].width, height = (double)m->plan.fronts[k].height;
        *products += width * height * (height - width) + width * width * width / 3.0;
        *entries += width * height;
    }
}

/* Adds columns begin..end-1 of a child's update matrix into `to`, the column of the parent's front where they go at row 0, run by run. */
static void extend_add(const SnMultifrontal *m, const SnFront *child, size_t begin, size_t end, size_t first_column, size_t ld,
                              float *to)
{
    size_t below = child->height - child->width;
    const int32_t *relative = m->plan.relative + child->relative, *run = m->plan.run + child->relative;
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
    const SnFront *front = m->plan.fronts + k;
    size_t column = (size_t)m->plan.shape.column_start[k];
    return (SnRoundedPanel){front->height, front->width, m->inverse + front->inverse, m->scale + column, m->rounded + front->rounded};
}

static int is_border(const SnMultifrontal *m, size_t front)
{
    return m->border != NULL && front + 1 == m->plan.shape.count;
}

static void factorize_front(SnMultifrontal *m, size_t index)
{
    const SnFront *front = m->plan.fronts + index;
    float *panel = m->factor + front->panel, *update = m->updates + front->update;
    memset(panel, 0, front->height * front->width * sizeof *panel);
    for (size_t e = front->entry_begin; e < front->entry_end; e++) {
        panel[m->plan.entry_place[e]] = (float)m->values[m->plan.entry_value[e]];
    }
    float *diagonal = m->diagonal + m->plan.shape.column_start[index];
    for (size_t j = 0; j < front->width; j++) {
        diagonal[j] = panel[j * front->height + j];
    }
    for (int32_t k = front->first_child; k >= 0; k = m->plan.fronts[k].next_sibling) {
        const SnFront *child = m->plan.fronts + k;
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
    for (int32_t k = front->first_child; k >= 0; k = m->plan.fronts[k].next_sibling) {
        const SnFront *child = m->plan.fronts + k;
        extend_add(m, child, child->shared, child->height - child->width, front->width, front->height - front->width,
                   update - front->width);
    }
}

static void factorize_task(void *data, size_t task)
{
    SnMultifrontal *m = data;
    for (size_t k = m->plan.tasks[task].first; k <= m->plan.tasks[task].last; k++) {
        factorize_front(m, k);
    }
}

int sn_multifrontal_factorize(SnMultifrontal *m, const double *values)
{
    m->values = values;
    atomic_store(&m->replaced, 0);
    sn_parallel_upwards(&m->plan.forest, factorize_task, m);
    return atomic_load(&m->replaced);
}

float *sn_multifrontal_open_border(SnMultifrontal *m)
{
    const SnFront *front = m->plan.fronts + m->plan.shape.count - 1;
    float *panel = m->factor + front->panel;
    memcpy(panel, m->border, front->width * front->height * sizeof *panel);
    return panel;
}

int sn_multifrontal_close_border(SnMultifrontal *m)
{
    size_t last = m->plan.shape.count - 1;
    const SnFront *front = m->plan.fronts + last;
    float *panel = m->factor + front->panel, *diagonal = m->vectors + front->vector;
    for (size_t j = 0; j < front->width; j++) { /* with what was added */
        size_t place = j * front->height + j;
        diagonal[j] = m->diagonal[(size_t)m->plan.shape.column_start[last] + j] + (panel[place] - m->border[place]);
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
    const SnFront *front = m->plan.fronts + k;
    float *x = m->vectors + front->vector;
    memcpy(x, m->solution + m->plan.shape.column_start[k], front->width * sizeof *x);
    memset(x + front->width, 0, (front->height - front->width) * sizeof *x);
    for (int32_t child = front->first_child; child >= 0; child = m->plan.fronts[child].next_sibling) {
        const SnFront *c = m->plan.fronts + child;
        const float *from = m->vectors + c->vector + c->width;
        const int32_t *relative = m->plan.relative + c->relative;
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
    for (size_t k = m->plan.tasks[task].first; k <= m->plan.tasks[task].last; k++) {
        forward_front(m, k);
    }
}

static void backward_task(void *data, size_t task)
{
    SnMultifrontal *m = data;
    for (size_t k = m->plan.tasks[task].last + 1; k-- > m->plan.tasks[task].first;) {
        const SnFront *front = m->plan.fronts + k;
        const int32_t *rows = m->plan.shape.rows + front->rows;
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
        memcpy(m->solution + m->plan.shape.column_start[k], x, front->width * sizeof *x);
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
    double scale = m->right_scale = find_scale(m->plan.shape.size, b);
    m->roughly = roughly;
    for (size_t k = 0; k < m->plan.shape.size; k++) {
        m->solution[k] = (float)(b[m->plan.shape.order[k]] / scale);
    }
    sn_parallel_upwards(&m->plan.forest, forward_task, m);
    sn_parallel_downwards(&m->plan.forest, backward_task, m);
    for (size_t k = 0; k < m->plan.shape.size; k++) {
        x[m->plan.shape.order[k]] = scale * (double)m->solution[k];
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
