#include "method/edit/yielding.h"

#include "base/memory.h"
#include "math/vector.h"
#include "method/edit/rows.h"

#include <math.h>
#include <string.h>

#define LEAST_GIVE 1e-9
#define LEAST_ANSWER 1e-6 /* of the largest: what moves less is not asked for more */
#define HALVINGS 8
#define CALM 1e-7 /* of the whole: less than that is no gain */

/* What Gauss-Newton works on beside its rows. */
typedef struct Yielding {
    SnEditRows rows;
    double *give;        /* rows: of their springs, metres an impulse */
    unsigned char *is_off; /* rows: holds from one side, and nothing is there */
    size_t *held;        /* rows: those that are not off */
    double *few;         /* rows x rows: of those, then its factor */
    double *right, *part, *multipliers; /* rows */
    double *impulses, *next; /* handles x modes */
} Yielding;

static void yielding_clear(Yielding *y)
{
    void *arrays[] = {y->give, y->is_off, y->held, y->few, y->right, y->part, y->multipliers, y->impulses, y->next};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        sn_release(arrays[k]);
    }
    sn_edit_rows_clear(&y->rows);
}

static SnStatus yielding_init(SnContext *context, Yielding *y)
{
    SnStatus status = SN_OK;
    size_t size = y->rows.handles * y->rows.modes, rows = y->rows.rows;
    double **arrays[] = {&y->give, &y->few, &y->right, &y->part, &y->multipliers, &y->impulses, &y->next};
    size_t lengths[] = {rows, rows * rows, rows, rows, rows, size, size};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        SN_TRY_NEW(context, *arrays[k], lengths[k], double);
    }
    SN_TRY_NEW(context, y->is_off, rows, unsigned char);
    SN_TRY_NEW(context, y->held, rows, size_t);
cleanup:
    return status;
}

/* The springs of all rows, by what an impulse of each does to itself. */
static void find_give(Yielding *y)
{
    const SnEditRows *rows = &y->rows;
    double most = 0.0;
    for (size_t a = 0; a < rows->rows; a++) {
        most = fmax(most, rows->matrix[a * rows->rows + a]);
    }
    for (size_t h = 0; h < rows->handles; h++) {
        double answer = 0.0;
        for (size_t a = rows->first[h]; a < rows->first[h + 1]; a++) {
            answer = fmax(answer, rows->matrix[a * rows->rows + a]);
        }
        for (size_t a = rows->first[h]; a < rows->first[h + 1]; a++) {
            y->give[a] = fmax(rows->given[h].give, LEAST_GIVE) * fmax(answer, LEAST_ANSWER * most);
        }
    }
}

/* What the rows that were measured last cost, with the forces of the edit. */
static double find_cost(const Yielding *y, const double *impulses)
{
    const SnEditRows *rows = &y->rows;
    double sum = sn_edit_rows_energy(rows, impulses);
    for (size_t h = 0; h < rows->handles; h++) {
        for (size_t a = rows->first[h]; a < rows->first[h + 1]; a++) {
            if (!rows->given[h].is_bound || rows->residual[a] > 0.0) {
                sum += rows->residual[a] * rows->residual[a] / y->give[a];
            }
        }
    }
    return 0.5 * sum;
}

/* Cholesky in place, and the solution; the matrix is positive definite by its springs. */
static void solve_few(size_t count, double *matrix, double *values)
{
    for (size_t k = 0; k < count; k++) {
        double *row = matrix + k * count;
        for (size_t i = 0; i < k; i++) {
            row[i] = (row[i] - sn_vector_dot(i, row, matrix + i * count)) / matrix[i * count + i];
        }
        double pivot = row[k] - sn_vector_dot(k, row, row);
        row[k] = sqrt(pivot > 1e-14 * row[k] ? pivot : 1e-14 * row[k]);
        values[k] = (values[k] - sn_vector_dot(k, row, values)) / row[k];
    }
    for (size_t k = count; k-- > 0;) {
        values[k] /= matrix[k * count + k];
        for (size_t i = 0; i < k; i++) {
            values[i] -= matrix[k * count + i] * values[k];
        }
    }
}

/* Multipliers of the rows that are not off. */
static void solve_held(Yielding *y)
{
    size_t count = 0, rows = y->rows.rows;
    memset(y->multipliers, 0, rows * sizeof *y->multipliers);
    for (size_t a = 0; a < rows; a++) {
        if (!y->is_off[a]) {
            y->held[count++] = a;
        }
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            y->few[i * count + j] = y->rows.matrix[y->held[i] * rows + y->held[j]];
        }
        y->few[i * count + i] += y->give[y->held[i]];
        y->part[i] = y->right[y->held[i]];
    }
    solve_few(count, y->few, y->part);
    for (size_t i = 0; i < count; i++) {
        y->multipliers[y->held[i]] = y->part[i];
    }
}

/* The bound row that is to change: of those that hold the one that draws most, or else of those that are off the one that is passed
   most; -1: none. */
static long find_change(const Yielding *y)
{
    const SnEditRows *rows = &y->rows;
    double worst = 0.0;
    long found = -1;
    for (size_t h = 0; h < rows->handles; h++) {
        size_t a = rows->first[h];
        double draws = -y->multipliers[a] * rows->matrix[a * rows->rows + a];
        if (rows->given[h].is_bound && !y->is_off[a] && draws > worst) {
            worst = draws;
            found = (long)a;
        }
    }
    worst = 1e-9 * rows->own->body->size;
    for (size_t h = 0; h < rows->handles && found < 0; h++) {
        size_t a = rows->first[h];
        if (rows->given[h].is_bound && y->is_off[a]) {
            double passed = y->right[a] - sn_vector_dot(rows->rows, rows->matrix + a * rows->rows, y->multipliers);
            if (passed > worst) {
                worst = passed;
                found = (long)a;
            }
        }
    }
    return found;
}

/* (S + give) μ = residual + A z, μ >= 0 where a row holds from one side: impulses of the least edit, as far as rows tell. */
static void find_impulses(Yielding *y)
{
    const SnEditRows *rows = &y->rows;
    size_t modes = rows->modes;
    for (size_t h = 0; h < rows->handles; h++) {
        for (size_t a = rows->first[h]; a < rows->first[h + 1]; a++) {
            y->right[a] = rows->residual[a] + sn_edit_rows_reached(rows, h, a);
            y->is_off[a] = rows->given[h].is_bound && rows->residual[a] < 0.0;
        }
    }
    for (size_t change = 0; change <= 2 * rows->rows; change++) {
        solve_held(y);
        long a = find_change(y);
        if (a < 0) {
            break;
        }
        y->is_off[a] = !y->is_off[a];
    }
    memset(y->next, 0, rows->handles * modes * sizeof *y->next);
    for (size_t h = 0; h < rows->handles; h++) {
        for (size_t a = rows->first[h]; a < rows->first[h + 1]; a++) {
            sn_vector_add(modes, y->multipliers[a], rows->amplitudes + a * modes, y->next + h * modes);
        }
    }
}

/* Gauss-Newton with backtracking on the cost. */
static SnStatus yield(SnContext *context, const SnEditSettings *settings, Yielding *y, double *impulses, double *missed, SnEditReport *report)
{
    SnStatus status = SN_OK;
    size_t size = y->rows.handles * y->rows.modes;
    sn_edit_rows_measure(&y->rows, impulses, missed);
    for (int is_better = 1; is_better && report->rounds < settings->rounds; report->rounds++) {
        double step = 1.0;
        sn_edit_rows_linearise(&y->rows);
        if (report->rounds == 0) {
            find_give(y);
            if (settings->is_steady) {
                sn_edit_rows_keep_directions(&y->rows);
                sn_edit_rows_measure(&y->rows, impulses, missed);
            }
        }
        double before = find_cost(y, impulses);
        find_impulses(y);
        is_better = 0;
        for (int half = 0; half <= HALVINGS && !is_better; half++, step *= 0.5) {
            for (size_t k = 0; k < size; k++) {
                y->impulses[k] = impulses[k] + step * (y->next[k] - impulses[k]);
            }
            sn_edit_rows_measure(&y->rows, y->impulses, missed);
            is_better = find_cost(y, y->impulses) < (1.0 - CALM) * before;
        }
        if (is_better) {
            memcpy(impulses, y->impulses, size * sizeof *impulses);
        } else {
            sn_edit_rows_measure(&y->rows, impulses, missed);
        }
        SN_TRY(sn_context_look(context));
    }
cleanup:
    return status;
}

SnStatus sn_edit_yield(SnContext *context, SnEditAnchors *anchors, const SnEditKernel *kernels, const SnEditSettings *settings, size_t count,
                       size_t kept, const SnEditHandle *handles, double *impulses, double *missed, SnEditReport *report)
{
    SnStatus status = SN_OK;
    Yielding yielding = {0};
    SN_TRY(sn_edit_rows_init(context, anchors, kernels, count, kept, handles, &yielding.rows));
    SN_TRY(yielding_init(context, &yielding));
    SN_TRY(yield(context, settings, &yielding, impulses, missed, report));
cleanup:
    yielding_clear(&yielding);
    return status;
}
