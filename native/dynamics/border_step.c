#include "dynamics/border_step.h"

#include "base/memory.h"
#include "math/dense_panel.h"
#include "math/vector.h"

#include <math.h>
#include <string.h>

#define ROUNDS 30      /* of Newton on the border */
#define TRIALS 12      /* of a search along one of its steps */
#define FLAT 0.3       /* of the slope at the start: such a place is good enough to go on from */
#define NO_GAIN 1e-6   /* of all that was gained: less than that is nothing more */
#define SLIDING 1e-3   /* the same where planes slide, whose friction turns with the way */

void sn_border_step_clear(SnBorderStep *step)
{
    void *const blocks[] = {step->order, step->place, step->panel, step->matrix, step->work, step->vector, step->diagonal, step->numbers};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
        sn_release(blocks[k]);
    }
    *step = (SnBorderStep){0};
}

void sn_border_step_forget(SnBorderStep *step)
{
    step->is_known = 0;
}

/* Planes that hang on points of the border, as the step sees them. */
typedef struct Task {
    SnBorderStep *step;
    const SnBorder *border;
    SnPlanes *planes;
    const int32_t *place; /* of the border: where each is among the points of the matrix */
    size_t size;          /* of the matrix */
} Task;

/* Planes that hang on something outside of the border are left out: they did not press. */
static int is_inside(const Task *task, const SnPlane *plane)
{
    for (int32_t k = plane->row.begin; k < plane->row.end; k++) {
        if (task->border->place[task->planes->unknowns[k]] < 0) {
            return 0;
        }
    }
    return plane->row.begin < plane->row.end;
}

static size_t place_of(const Task *task, int32_t unknown)
{
    int32_t place = task->border->place[unknown];
    return (size_t)(task->place != NULL ? task->place[place] : place);
}

static const double *rotation_of(const Task *task, int32_t unknown)
{
    return task->border->rotations != NULL ? task->border->rotations + 9 * (size_t)unknown : NULL;
}

/* w += W u, the border's moves turned as the body is. */
static void add_way(const Task *task, const SnPlane *plane, const double *u, double w[3])
{
    for (int32_t k = plane->row.begin; k < plane->row.end; k++) {
        int32_t unknown = task->planes->unknowns[k];
        const double *at = u + 3 * place_of(task, unknown), *r = rotation_of(task, unknown);
        double weight = task->planes->weights[k];
        for (int a = 0; a < 3; a++) {
            w[a] += weight * (r == NULL ? at[a] : r[3 * a] * at[0] + r[3 * a + 1] * at[1] + r[3 * a + 2] * at[2]);
        }
    }
}

/* sum += scale Wᵀ pull. */
static void add_pull(const Task *task, const SnPlane *plane, double scale, const double pull[3], double *sum)
{
    for (int32_t k = plane->row.begin; k < plane->row.end; k++) {
        int32_t unknown = task->planes->unknowns[k];
        double *at = sum + 3 * place_of(task, unknown), weight = scale * task->planes->weights[k];
        const double *r = rotation_of(task, unknown);
        for (int a = 0; a < 3; a++) {
            at[a] += weight * (r == NULL ? pull[a] : r[a] * pull[0] + r[3 + a] * pull[1] + r[6 + a] * pull[2]);
        }
    }
}

/* block = weight Rᵀ B Q, turned back by the rotations of two points; null: they have not turned. */
static void turn_block(double weight, const double *r, const double *b, const double *q, double block[9])
{
    double half[9];
    for (int i = 0; i < 9; i++) {
        half[i] = r == NULL ? b[i] : r[i / 3] * b[i % 3] + r[3 + i / 3] * b[3 + i % 3] + r[6 + i / 3] * b[6 + i % 3];
    }
    for (int i = 0; i < 9; i++) {
        const double *row = half + 3 * (i / 3);
        block[i] = weight * (q == NULL ? half[i] : row[0] * q[i % 3] + row[1] * q[3 + i % 3] + row[2] * q[6 + i % 3]);
    }
}

/* matrix += Wᵀ B W, the lower triangle. */
static void add_block(const Task *task, const SnPlanes *planes, const SnPlane *plane, float *matrix)
{
    double block[9];
    for (int32_t i = plane->row.begin; i < plane->row.end; i++) {
        for (int32_t j = plane->row.begin; j < plane->row.end; j++) {
            int32_t row = planes->unknowns[i], column = planes->unknowns[j];
            size_t at = 3 * place_of(task, row), across = 3 * place_of(task, column);
            if (at < across) {
                continue;
            }
            turn_block(planes->weights[i] * planes->weights[j], rotation_of(task, row), plane->block, rotation_of(task, column), block);
            for (size_t k = 0; k < 9; k++) {
                matrix[(across + k % 3) * task->size + at + k / 3] += (float)block[k];
            }
        }
    }
}

/* product = S x by the lower triangle, column by column. */
static void multiply(const Task *task, const double *x, double *product)
{
    const float *matrix = task->step->matrix;
    size_t n = task->size;
    memset(product, 0, n * sizeof *product);
    for (size_t j = 0; j < n; j++) {
        const float *column = matrix + j * n;
        double at = x[j], sum = (double)column[j] * at;
        for (size_t i = j + 1; i < n; i++) {
            product[i] += (double)column[i] * at;
            sum += (double)column[i] * x[i];
        }
        product[j] += sum;
    }
}

/* Linearises the planes at u. Returns how many press or slide otherwise than before; *slide: whether some slide. The slope of all is left in
   the residual. */
static size_t linearise(const Task *task, int *slide)
{
    SnBorderStep *step = task->step;
    size_t changed = 0;
    *slide = 0;
    for (size_t k = 0; k < task->size; k++) {
        step->residual[k] = step->right[k] - step->product[k];
    }
    for (SnPlane *plane = task->planes->planes; plane < task->planes->planes + task->planes->count; plane++) {
        int pressed = plane->pressed, slid = plane->slid;
        double pull[3];
        if (!plane->is_inside) {
            continue;
        }
        memcpy(plane->at, plane->place, sizeof plane->at);
        add_way(task, plane, step->u, plane->at);
        sn_plane_linearise(plane, plane->at, pull);
        add_pull(task, plane, 1.0, pull, step->residual);
        changed += pressed != plane->pressed || slid != plane->slid;
        *slide |= plane->slid;
    }
    return changed;
}

/* move = (S + Wᵀ B W)⁻¹ residual */
static void find_move(const Task *task)
{
    SnBorderStep *step = task->step;
    size_t n = task->size;
    double largest = 0.0;
    memcpy(step->work, step->matrix, n * n * sizeof *step->work);
    for (const SnPlane *plane = task->planes->planes; plane < task->planes->planes + task->planes->count; plane++) {
        if (plane->is_inside && (plane->pressed || plane->grip > 0.0)) {
            add_block(task, task->planes, plane, step->work);
        }
    }
    for (size_t k = 0; k < n; k++) {
        step->diagonal[k] = step->work[k * n + k];
        largest = fmax(largest, fabs(step->residual[k]));
    }
    (void)sn_panel_factorize(n, n, step->diagonal, step->work); /* lost pivots are replaced, and the move is a shorter one */
    double scale = largest > 0.0 ? largest : 1.0;
    for (size_t k = 0; k < n; k++) {
        step->vector[k] = (float)(step->residual[k] / scale);
    }
    sn_panel_forward(n, n, step->work, step->vector);
    sn_panel_backward(n, n, step->work, step->vector);
    for (size_t k = 0; k < n; k++) {
        step->move[k] = scale * (double)step->vector[k];
    }
    step->rounds++;
}

/* The slope along the move, `length` of it ahead. */
static double find_slope(const Task *task, double length)
{
    const SnBorderStep *step = task->step;
    double slope = 0.0;
    for (size_t k = 0; k < task->size; k++) {
        slope += step->move[k] * (step->product[k] + length * step->product_move[k] - step->right[k]);
    }
    for (SnPlane *plane = task->planes->planes; plane < task->planes->planes + task->planes->count; plane++) {
        if (plane->is_inside) {
            double w[3], pull[3];
            for (int a = 0; a < 3; a++) {
                w[a] = plane->at[a] + length * plane->way[a];
            }
            sn_plane_pull(plane, w, pull);
            slope -= pull[0] * plane->way[0] + pull[1] * plane->way[1] + pull[2] * plane->way[2];
        }
    }
    return slope;
}

/* How far along the move it goes down, nearly: all is convex. */
static double search(const Task *task, double slope)
{
    double low = 0.0, at_low = slope, high = 1.0, at_high = find_slope(task, 1.0);
    for (int trial = 0; at_high > -FLAT * slope && trial < TRIALS; trial++) {
        double length = low + (high - low) * at_low / (at_low - at_high);
        length = fmin(fmax(length, low + 0.1 * (high - low)), high - 0.1 * (high - low));
        double at = find_slope(task, length);
        if (fabs(at) <= -FLAT * slope) {
            return length;
        }
        if (at < 0.0) {
            low = length;
            at_low = at;
        } else {
            high = length;
            at_high = at;
        }
    }
    return at_high > -FLAT * slope ? low : high;
}

/* u = the least of the energy on the touched points, from the right side that is in hand; planes have their pull in it. */
static void minimise(const Task *task)
{
    SnBorderStep *step = task->step;
    double gained = 0.0;
    int slide;
    memset(step->u, 0, task->size * sizeof *step->u);
    memset(step->product, 0, task->size * sizeof *step->product);
    for (SnPlane *plane = task->planes->planes; plane < task->planes->planes + task->planes->count; plane++) {
        double pull[3];
        if (plane->is_inside) {
            sn_plane_pull(plane, plane->place, pull);
            add_pull(task, plane, -1.0, pull, step->right);
        }
    }
    (void)linearise(task, &slide);
    for (int round = 0; round < ROUNDS; round++) {
        find_move(task);
        double slope = -sn_vector_dot(task->size, step->residual, step->move);
        if (!(slope < -NO_GAIN * gained)) {
            break;
        }
        multiply(task, step->move, step->product_move);
        for (SnPlane *plane = task->planes->planes; plane < task->planes->planes + task->planes->count; plane++) {
            memset(plane->way, 0, sizeof plane->way);
            if (plane->is_inside) {
                add_way(task, plane, step->move, plane->way);
            }
        }
        double length = search(task, slope);
        sn_vector_add(task->size, length, step->move, step->u);
        sn_vector_add(task->size, length, step->product_move, step->product);
        gained -= 0.5 * length * slope;
        size_t changed = linearise(task, &slide);
        if (length == 1.0 && changed == 0 && (!slide || -slope < SLIDING * gained)) {
            break;
        }
    }
}

/* Which points of the border planes hang on, and which planes hang on nothing else. */
static SnStatus list_touched(SnContext *context, SnBorderStep *step, const SnBorder *border, SnPlanes *planes)
{
    SnStatus status = SN_OK;
    size_t next = 0;
    Task task = {.step = step, .border = border, .planes = planes};
    SN_TRY_ROOM(context, step->order, border->count, step->order_room);
    SN_TRY_ROOM(context, step->place, border->count, step->place_room);
    step->count = border->count;
    step->touched = 0;
    memset(step->place, 0xff, border->count * sizeof *step->place);
    for (SnPlane *plane = planes->planes; plane < planes->planes + planes->count; plane++) {
        plane->is_inside = is_inside(&task, plane);
        for (int32_t k = plane->row.begin; k < plane->row.end && plane->is_inside; k++) {
            step->place[border->place[planes->unknowns[k]]] = 0;
        }
    }
    for (int is_touched = 0; is_touched < 2; is_touched++) {
        for (size_t k = 0; k < border->count; k++) {
            if ((step->place[k] >= 0) == is_touched) {
                step->order[next++] = (int32_t)k;
                step->place[k] = is_touched ? (int32_t)step->touched++ : -1;
            }
        }
    }
cleanup:
    return status;
}

/* Eliminates the other points of the border. */
static SnStatus eliminate(SnContext *context, SnBorderStep *step, const float *border)
{
    SnStatus status = SN_OK;
    size_t n = 3 * step->count, touched = 3 * step->touched, width = n - touched;
    SN_TRY_ROOM(context, step->panel, n * width + SN_PANEL_SLACK, step->panel_room);
    SN_TRY_ROOM(context, step->matrix, touched * touched + SN_PANEL_SLACK, step->matrix_room);
    SN_TRY_ROOM(context, step->work, touched * touched + SN_PANEL_SLACK, step->work_room);
    SN_TRY_ROOM(context, step->vector, n + SN_VECTOR_SLACK, step->vector_room);
    SN_TRY_ROOM(context, step->diagonal, n, step->diagonal_room);
    SN_TRY_ROOM(context, step->numbers, 6 * touched, step->numbers_room);
    double **arrays[] = {&step->right, &step->u, &step->move, &step->product, &step->product_move, &step->residual};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        *arrays[k] = step->numbers + touched * k;
    }
    memset(step->matrix, 0, touched * touched * sizeof *step->matrix);
    for (size_t j = 0; j < n; j++) {
        size_t column = 3 * (size_t)step->order[j / 3] + j % 3;
        for (size_t i = j; i < n; i++) {
            size_t row = 3 * (size_t)step->order[i / 3] + i % 3;
            float entry = row >= column ? border[column * n + row] : border[row * n + column];
            if (j < width) {
                step->panel[j * n + i] = entry;
            } else {
                step->work[(j - width) * touched + i - width] = entry;
            }
        }
        step->diagonal[j] = border[column * n + column];
    }
    (void)sn_panel_factorize(n, width, step->diagonal, step->panel);
    sn_panel_update(n, width, step->panel, step->matrix);
    for (size_t j = 0; j < touched; j++) {
        for (size_t i = j; i < touched; i++) {
            step->matrix[j * touched + i] += step->work[j * touched + i];
        }
    }
    step->is_known = 1;
cleanup:
    return status;
}

/* The border's part of a solution: `x` has the right side, over `scale`, and then the solution. */
static void solve_border(void *data, double scale, float *x)
{
    const Task *task = data;
    SnBorderStep *step = task->step;
    size_t n = 3 * step->count, width = n - task->size;
    float *vector = step->vector;
    for (size_t k = 0; k < n; k++) {
        vector[k] = x[3 * (size_t)step->order[k / 3] + k % 3];
    }
    sn_panel_forward(n, width, step->panel, vector);
    for (size_t k = 0; k < task->size; k++) {
        step->right[k] = scale * (double)vector[width + k];
    }
    memcpy(x, vector, width * sizeof *x);
    minimise(task);
    memcpy(vector, x, width * sizeof *x);
    for (size_t k = 0; k < task->size; k++) {
        vector[width + k] = (float)(step->u[k] / scale);
    }
    sn_panel_backward(n, width, step->panel, vector);
    for (size_t k = 0; k < n; k++) {
        x[3 * (size_t)step->order[k / 3] + k % 3] = vector[k];
    }
}

SnStatus sn_border_step_find(SnContext *context, SnBorderStep *step, SnMultifrontal *factor, const SnBorder *border, SnPlanes *planes,
                             int roughly, const double *b, double *x)
{
    SnStatus status = SN_OK;
    if (!step->is_known) {
        SN_TRY(list_touched(context, step, border, planes));
        SN_TRY(eliminate(context, step, sn_multifrontal_border(factor)));
    }
    Task task = {step, border, planes, step->place, 3 * step->touched};
    sn_multifrontal_solve_around(factor, roughly, b, solve_border, &task, x);
cleanup:
    return status;
}

void sn_border_step_stiffen(const SnBorder *border, const SnPlanes *planes, float *matrix)
{
    Task task = {.border = border, .size = 3 * border->count};
    for (const SnPlane *plane = planes->planes; plane < planes->planes + planes->count; plane++) {
        if (plane->is_inside && (plane->pressed || plane->grip > 0.0)) {
            add_block(&task, planes, plane, matrix);
        }
    }
}
