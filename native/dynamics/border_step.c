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
    void *const blocks[] = {step->order, step->number, step->pieces, step->sizes, step->joins,
                            step->panel, step->work,  step->vector, step->solved, step->diagonal, step->numbers};
    sn_part_matrix_clear(&step->matrix);
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
    const int32_t *number; /* of the border: which each is among the points of the matrix */
    size_t size;           /* of the matrix */
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

static size_t number_of(const Task *task, int32_t unknown)
{
    int32_t place = task->border->place[unknown];
    return (size_t)(task->number != NULL ? task->number[place] : place);
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
        const double *at = u + 3 * number_of(task, unknown), *r = rotation_of(task, unknown);
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
        double *at = sum + 3 * number_of(task, unknown), weight = scale * task->planes->weights[k];
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

/* matrix += Wᵀ B W, the lower triangle: `factor` of the step's, or a dense one. */
static void add_block(const Task *task, const SnPlanes *planes, const SnPlane *plane, float *dense)
{
    const SnPartMatrix *parts = dense == NULL ? &task->step->matrix : NULL;
    double block[9];
    for (int32_t i = plane->row.begin; i < plane->row.end; i++) {
        for (int32_t j = plane->row.begin; j < plane->row.end; j++) {
            int32_t row = planes->unknowns[i], column = planes->unknowns[j];
            size_t at = 3 * number_of(task, row), across = 3 * number_of(task, column);
            if (at < across) {
                continue;
            }
            turn_block(planes->weights[i] * planes->weights[j], rotation_of(task, row), plane->block, rotation_of(task, column), block);
            float *to = parts == NULL ? dense + across * task->size + at : parts->factor + sn_part_matrix_place(parts, at, across);
            size_t height = parts == NULL ? task->size : sn_part_matrix_height(parts, across);
            for (size_t k = 0; k < 9; k++) {
                to[k % 3 * height + k / 3] += (float)block[k];
            }
        }
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
    SnPartMatrix *matrix = &step->matrix;
    double largest = 0.0;
    memcpy(matrix->factor, matrix->values, matrix->panel[matrix->count] * sizeof *matrix->factor);
    for (const SnPlane *plane = task->planes->planes; plane < task->planes->planes + task->planes->count; plane++) {
        if (plane->is_inside && (plane->pressed || plane->grip > 0.0)) {
            add_block(task, task->planes, plane, NULL);
        }
    }
    (void)sn_part_matrix_factorize(matrix); /* lost pivots are replaced, and the move is a shorter one */
    for (size_t k = 0; k < task->size; k++) {
        largest = fmax(largest, fabs(step->residual[k]));
    }
    double scale = largest > 0.0 ? largest : 1.0;
    for (size_t k = 0; k < task->size; k++) {
        step->solved[k] = (float)(step->residual[k] / scale);
    }
    sn_part_matrix_solve(matrix, step->solved);
    for (size_t k = 0; k < task->size; k++) {
        step->move[k] = scale * (double)step->solved[k];
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
        sn_part_matrix_multiply(&step->matrix, step->move, step->product_move);
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

#define UNTOUCHED -1 /* marks of points of the border: no plane hangs on them, ... */
#define OWN 0         /* ... planes that hang on nothing but their piece do, ... */
#define MUTUAL 1      /* ... or some that hang on other pieces too */

static int32_t piece_of(const SnBorder *border, int32_t place)
{
    return border->pieces != NULL ? border->pieces[place] : 0;
}

/* Marks the points of the border that planes hang on, and planes that hang on nothing else. */
static void mark_touched(const Task *task, int32_t *marks)
{
    const SnBorder *border = task->border;
    memset(marks, 0xff, border->count * sizeof *marks);
    for (SnPlane *plane = task->planes->planes; plane < task->planes->planes + task->planes->count; plane++) {
        const int32_t *unknowns = task->planes->unknowns;
        int32_t mark = OWN;
        plane->is_inside = is_inside(task, plane);
        for (int32_t k = plane->row.begin; k < plane->row.end && plane->is_inside; k++) {
            if (piece_of(border, border->place[unknowns[k]]) != piece_of(border, border->place[unknowns[plane->row.begin]])) {
                mark = MUTUAL;
            }
        }
        for (int32_t k = plane->row.begin; k < plane->row.end && plane->is_inside; k++) {
            int32_t *at = marks + border->place[unknowns[k]];
            *at = *at > mark ? *at : mark;
        }
    }
}

/* Which part of the matrix a touched point is in: of each piece those that touch no other one, and those that do. */
static size_t part_of(const SnBorder *border, int32_t place, int32_t mark)
{
    return 2 * (size_t)piece_of(border, place) + (mark == MUTUAL);
}

/* The matrix of the touched points: of each piece all have entries in common, of others those that planes hang on together. */
static SnStatus shape_matrix(SnContext *context, const Task *task, const int32_t *marks)
{
    SnStatus status = SN_OK;
    SnBorderStep *step = task->step;
    const SnBorder *border = task->border;
    const int32_t *unknowns = task->planes->unknowns;
    size_t count = 2 * step->piece_count;
    SN_TRY_ROOM(context, step->sizes, count, step->sizes_room);
    SN_TRY_ROOM(context, step->joins, count * count, step->joins_room);
    memset(step->sizes, 0, count * sizeof *step->sizes);
    memset(step->joins, 0, count * count);
    for (size_t k = 0; k < border->count; k++) {
        if (marks[k] != UNTOUCHED) {
            step->sizes[part_of(border, (int32_t)k, marks[k])] += 3;
        }
    }
    for (size_t p = 0; p < count; p++) {
        step->joins[p * count + (p ^ 1)] = 1;
    }
    for (const SnPlane *plane = task->planes->planes; plane < task->planes->planes + task->planes->count; plane++) {
        for (int32_t i = plane->row.begin; i < plane->row.end && plane->is_inside; i++) {
            for (int32_t j = plane->row.begin; j < i; j++) {
                int32_t a = border->place[unknowns[i]], b = border->place[unknowns[j]];
                if (piece_of(border, a) != piece_of(border, b)) {
                    size_t p = part_of(border, a, marks[a]), q = part_of(border, b, marks[b]);
                    step->joins[p * count + q] = step->joins[q * count + p] = 1;
                }
            }
        }
    }
    SN_TRY(sn_part_matrix_shape(context, &step->matrix, count, step->sizes, step->joins));
    size_t *next = step->matrix.start;
    for (size_t k = 0; k < border->count; k++) {
        if (marks[k] != UNTOUCHED) {
            size_t *at = next + part_of(border, (int32_t)k, marks[k]);
            step->number[k] = (int32_t)(*at / 3);
            *at += 3;
        } else {
            step->number[k] = -1;
        }
    }
cleanup:
    return status;
}

/* Puts the points of the border piece by piece, those that nothing touches first. */
static void order_pieces(SnBorderStep *step, const SnBorder *border)
{
    size_t next = 0, panel = 0, most = 0;
    for (size_t p = 0; p < step->piece_count; p++) {
        step->pieces[p] = (SnBorderPiece){0};
    }
    for (size_t k = 0; k < border->count; k++) {
        SnBorderPiece *piece = step->pieces + piece_of(border, (int32_t)k);
        piece->count++;
        piece->untouched += step->number[k] < 0;
    }
    for (size_t p = 0; p < step->piece_count; p++) {
        SnBorderPiece *piece = step->pieces + p;
        size_t touched = 3 * (piece->count - piece->untouched);
        piece->first = piece->next[0] = next;
        piece->next[1] = next + piece->untouched;
        piece->panel = panel;
        next += piece->count;
        panel += 9 * piece->count * piece->untouched;
        most = touched > most ? touched : most;
    }
    for (size_t k = 0; k < border->count; k++) {
        SnBorderPiece *piece = step->pieces + piece_of(border, (int32_t)k);
        step->order[piece->next[step->number[k] >= 0]++] = (int32_t)k;
    }
    step->panel_size = panel;
    step->most_touched = most;
}

/* Which points of the border planes hang on, and where they are in the matrix. */
static SnStatus list_touched(SnContext *context, SnBorderStep *step, const SnBorder *border, SnPlanes *planes)
{
    SnStatus status = SN_OK;
    Task task = {.step = step, .border = border, .planes = planes};
    SN_TRY_ROOM(context, step->order, border->count, step->order_room);
    SN_TRY_ROOM(context, step->number, border->count, step->number_room);
    step->piece_count = 1;
    for (size_t k = 0; k < border->count; k++) {
        size_t pieces = (size_t)piece_of(border, (int32_t)k) + 1;
        step->piece_count = pieces > step->piece_count ? pieces : step->piece_count;
    }
    SN_TRY_ROOM(context, step->pieces, step->piece_count, step->pieces_room);
    mark_touched(&task, step->order);
    SN_TRY(shape_matrix(context, &task, step->order));
    order_pieces(step, border);
    step->count = border->count;
cleanup:
    return status;
}

/* Eliminates the points of a piece of the border that nothing touches. */
static void eliminate_piece(SnBorderStep *step, const SnBorderPiece *piece, const float *border)
{
    size_t size = 3 * step->count, n = 3 * piece->count, width = 3 * piece->untouched, touched = n - width;
    const int32_t *order = step->order + piece->first;
    SnPartMatrix *matrix = &step->matrix;
    float *panel = step->panel + piece->panel;
    for (size_t j = 0; j < width; j++) {
        size_t column = 3 * (size_t)order[j / 3] + j % 3;
        for (size_t i = j; i < n; i++) {
            size_t row = 3 * (size_t)order[i / 3] + i % 3;
            panel[j * n + i] = row >= column ? border[column * size + row] : border[row * size + column];
        }
        step->diagonal[j] = border[column * size + column];
    }
    (void)sn_panel_factorize(n, width, step->diagonal, panel);
    sn_panel_update(n, width, panel, step->work);
    for (size_t j = width; j < n; j++) {
        size_t column = 3 * (size_t)order[j / 3] + j % 3, across = 3 * (size_t)step->number[order[j / 3]] + j % 3;
        for (size_t i = j; i < n; i++) {
            size_t row = 3 * (size_t)order[i / 3] + i % 3, down = 3 * (size_t)step->number[order[i / 3]] + i % 3;
            float entry = row >= column ? border[column * size + row] : border[row * size + column];
            size_t place = down >= across ? sn_part_matrix_place(matrix, down, across) : sn_part_matrix_place(matrix, across, down);
            matrix->values[place] = step->work[(j - width) * touched + i - width] + entry;
        }
    }
}

/* Eliminates all of the border that nothing touches. */
static SnStatus eliminate(SnContext *context, SnBorderStep *step, const float *border)
{
    SnStatus status = SN_OK;
    size_t n = 3 * step->count, touched = step->matrix.size, most = step->most_touched;
    SN_TRY_ROOM(context, step->panel, step->panel_size + SN_PANEL_SLACK, step->panel_room);
    SN_TRY_ROOM(context, step->work, most * most + SN_PANEL_SLACK, step->work_room);
    SN_TRY_ROOM(context, step->vector, n + SN_VECTOR_SLACK, step->vector_room);
    SN_TRY_ROOM(context, step->solved, touched, step->solved_room);
    SN_TRY_ROOM(context, step->diagonal, n, step->diagonal_room);
    SN_TRY_ROOM(context, step->numbers, 6 * touched, step->numbers_room);
    double **arrays[] = {&step->right, &step->u, &step->move, &step->product, &step->product_move, &step->residual};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        *arrays[k] = step->numbers + touched * k;
    }
    for (size_t p = 0; p < step->piece_count; p++) {
        eliminate_piece(step, step->pieces + p, border);
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
    for (size_t k = 0; k < 3 * step->count; k++) {
        step->vector[k] = x[3 * (size_t)step->order[k / 3] + k % 3];
    }
    for (const SnBorderPiece *piece = step->pieces; piece < step->pieces + step->piece_count; piece++) {
        sn_panel_forward(3 * piece->count, 3 * piece->untouched, step->panel + piece->panel, step->vector + 3 * piece->first);
    }
    for (size_t k = 0; k < 3 * step->count; k++) {
        int32_t number = step->number[step->order[k / 3]];
        if (number >= 0) {
            step->right[3 * (size_t)number + k % 3] = scale * (double)step->vector[k];
        }
    }
    minimise(task);
    for (size_t k = 0; k < 3 * step->count; k++) {
        int32_t number = step->number[step->order[k / 3]];
        if (number >= 0) {
            step->vector[k] = (float)(step->u[3 * (size_t)number + k % 3] / scale);
        }
    }
    for (const SnBorderPiece *piece = step->pieces; piece < step->pieces + step->piece_count; piece++) {
        sn_panel_backward(3 * piece->count, 3 * piece->untouched, step->panel + piece->panel, step->vector + 3 * piece->first);
    }
    for (size_t k = 0; k < 3 * step->count; k++) {
        x[3 * (size_t)step->order[k / 3] + k % 3] = step->vector[k];
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
    Task task = {step, border, planes, step->number, step->matrix.size};
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
