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

   Rows that hold, [H Cᵀ; C -δ], are points with a negative diagonal and fronts of their own. There -A = L Lᵀ is factorized, what goes up to the parent
   is added in place of subtracted, and between the way up and the way down a solution changes its sign.

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
    size_t given;         /* scalars of the matrix that are not of rows that hold */
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
    m->given = 3 * (pattern->size - pattern->row_count);
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

/* The order of the solver's points, with rows that hold right after the last of theirs that is inside of the border. */
static SnStatus order_points(SnContext *context, const SnBlockPattern *pattern, const SnSupernodes *shape, size_t border_count,
                             const int32_t *border, int32_t **order)
{
    SnStatus status = SN_OK;
    size_t points = pattern->size - pattern->row_count, next = 0;
    int32_t *place = NULL, *first = NULL, *following = NULL; /* of each point in the solver's order, -1: of the border; rows after each place, as lists */
    SN_TRY_NEW(context, *order, pattern->size, int32_t);
    SN_TRY_NEW(context, place, pattern->size, int32_t);
    SN_TRY_NEW(context, first, points + 1, int32_t);
    SN_TRY_NEW(context, following, pattern->size, int32_t);
    for (size_t k = 0; k < points; k++) {
        place[shape->order[3 * k] / 3] = (int32_t)k;
    }
    for (size_t k = 0; k < border_count; k++) {
        place[border[k]] = -1;
    }
    memset(place + points, 0xff, pattern->row_count * sizeof *place);
    memset(first, 0xff, (points + 1) * sizeof *first);
    for (size_t b = 0; b < pattern->block_count; b++) {
        int32_t row = pattern->rows[b], column = pattern->columns[b];
        if (row >= (int32_t)points && column < (int32_t)points && place[column] > place[row]) {
            place[row] = place[column];
        }
    }
    for (size_t row = pattern->size; row-- > points;) {
        following[row] = first[place[row] + 1];
        first[place[row] + 1] = (int32_t)row;
    }
    for (size_t k = 0; k <= points; k++) {
        if (k > 0) {
            (*order)[next++] = shape->order[3 * (k - 1)] / 3;
        }
        for (int32_t row = first[k]; row >= 0; row = following[row]) {
            (*order)[next++] = row;
        }
    }
cleanup:
    sn_release(place);
    sn_release(first);
    sn_release(following);
    return status;
}

SnStatus sn_multifrontal_create_bordered(SnContext *context, const SnBlockPattern *pattern, const SnLinearSolver *solver,
                                         size_t border_count, const int32_t *border, SnMultifrontal **out)
{
    SnStatus status = SN_OK;
    SnSupernodes shape = {0}, bordered;
    int32_t *order = NULL;
    *out = NULL;
    SN_TRY(sn_linear_solver_supernodes(context, solver, &shape));
    SN_TRY(order_points(context, pattern, &shape, border_count, border, &order));
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

/* Whether a front is of rows that hold. */
static int is_negative(const SnMultifrontal *m, size_t front)
{
    return (size_t)m->plan.shape.order[m->plan.shape.column_start[front]] >= m->given;
}

static void negate(size_t count, float *values)
{
    for (size_t k = 0; k < count; k++) {
        values[k] = -values[k];
    }
}

static void factorize_front(SnMultifrontal *m, size_t index)
{
    const SnFront *front = m->plan.fronts + index;
    float *panel = m->factor + front->panel, *update = m->updates + front->update;
    size_t below = front->height - front->width;
    int negative = is_negative(m, index);
    memset(panel, 0, front->height * front->width * sizeof *panel);
    for (size_t e = front->entry_begin; e < front->entry_end; e++) {
        panel[m->plan.entry_place[e]] = (float)m->values[m->plan.entry_value[e]];
    }
    float *diagonal = m->diagonal + m->plan.shape.column_start[index];
    for (size_t j = 0; j < front->width; j++) {
        diagonal[j] = fabsf(panel[j * front->height + j]);
    }
    for (int32_t k = front->first_child; k >= 0; k = m->plan.fronts[k].next_sibling) {
        const SnFront *child = m->plan.fronts + k;
        extend_add(m, child, 0, child->shared, 0, front->height, panel);
    }
    if (is_border(m, index)) { /* left open */
        memcpy(m->border, panel, front->width * front->height * sizeof *panel);
        return;
    }
    negate(negative ? front->width * front->height : 0, panel);
    int replaced = sn_panel_factorize(front->height, front->width, diagonal, panel);
    if (replaced > 0 && !negative) { /* a row that says nothing new holds less */
        atomic_fetch_add(&m->replaced, replaced);
    }
    SnRoundedPanel rounded = rounded_panel(m, index);
    sn_panel_round(&rounded, panel);
    sn_panel_update(front->height, front->width, panel, update);
    negate(negative ? below * below : 0, update);
    for (int32_t k = front->first_child; k >= 0; k = m->plan.fronts[k].next_sibling) {
        const SnFront *child = m->plan.fronts + k;
        extend_add(m, child, child->shared, child->height - child->width, front->width, below, update - front->width);
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
    negate(is_negative(m, k) ? front->width : 0, x);
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
    double scale = m->right_scale = find_scale(m->given, b);
    m->roughly = roughly;
    for (size_t k = 0; k < m->plan.shape.size; k++) {
        size_t at = (size_t)m->plan.shape.order[k];
        m->solution[k] = at < m->given ? (float)(b[at] / scale) : 0.0f;
    }
    sn_parallel_upwards(&m->plan.forest, forward_task, m);
    sn_parallel_downwards(&m->plan.forest, backward_task, m);
    for (size_t k = 0; k < m->plan.shape.size; k++) {
        size_t at = (size_t)m->plan.shape.order[k];
        if (at < m->given) {
            x[at] = scale * (double)m->solution[k];
        }
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
