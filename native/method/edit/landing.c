#include "method/edit/landing.h"

#include "base/memory.h"
#include "math/eigensolver.h"
#include "math/vector.h"
#include "method/edit/rows.h"

#include <math.h>
#include <string.h>

#define CUT 1e-10 /* of the largest eigenvalue: below it handles say the same */
#define HALVINGS 6
#define LEAST_ROUNDS 3
#define MOST_CHANGES 100 /* of rows that hold from one side */

/* What Newton works on beside its rows. */
typedef struct Landing {
    SnEditRows rows;
    double *impulses;    /* handles x modes: Y that is being tried, ... */
    double *next;        /* ... and that of Newton's full step */
    double *few;         /* rows x rows: S of the rows that hold, then its eigenvectors */
    double *values, *right, *multipliers; /* rows */
    double *total;       /* rows: multipliers of the present edit, by and large */
    unsigned char *is_off; /* rows: holds from one side, and nothing is there */
    size_t *held;        /* rows: those that hold */
} Landing;

static void landing_clear(Landing *l)
{
    void *arrays[] = {l->impulses, l->next, l->few, l->values, l->right, l->multipliers, l->total, l->is_off, l->held};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        sn_release(arrays[k]);
    }
    sn_edit_rows_clear(&l->rows);
}

static SnStatus landing_init(SnContext *context, Landing *l)
{
    SnStatus status = SN_OK;
    size_t size = l->rows.handles * l->rows.modes, rows = l->rows.rows;
    double **arrays[] = {&l->impulses, &l->next, &l->few, &l->values, &l->right, &l->multipliers, &l->total};
    size_t lengths[] = {size, size, rows * rows, rows, rows, rows, rows};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        SN_TRY_NEW(context, *arrays[k], lengths[k], double);
    }
    SN_TRY_NEW(context, l->is_off, rows, unsigned char);
    SN_TRY_NEW(context, l->held, rows, size_t);
cleanup:
    return status;
}

/* Multipliers of the rows that are not off, by eigenvectors; what handles say alike is said once. */
static SnStatus solve_held(SnContext *context, Landing *l)
{
    SnStatus status = SN_OK;
    const SnEditRows *rows = &l->rows;
    size_t count = 0;
    for (size_t a = 0; a < rows->rows; a++) {
        if (!l->is_off[a]) {
            l->held[count++] = a;
        }
    }
    memset(l->multipliers, 0, rows->rows * sizeof *l->multipliers);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            l->few[i * count + j] = rows->matrix[l->held[i] * rows->rows + l->held[j]];
        }
    }
    SN_TRY(sn_eigensolver_dense(context, count, l->few, l->values));
    for (size_t k = 0; k < count; k++) {
        if (l->values[k] > CUT * l->values[count - 1]) {
            double sum = 0.0;
            for (size_t i = 0; i < count; i++) {
                sum += l->few[k * count + i] * l->right[l->held[i]];
            }
            for (size_t i = 0; i < count; i++) {
                l->multipliers[l->held[i]] += sum / l->values[k] * l->few[k * count + i];
            }
        }
    }
cleanup:
    return status;
}

/* The bound row that is to change: of those that hold the one that draws most, or else of those that are off the one that is passed
   most; -1: none. */
static long find_change(const Landing *l)
{
    const SnEditRows *rows = &l->rows;
    double worst = 0.0;
    long found = -1;
    for (size_t h = 0; h < rows->handles; h++) {
        size_t a = rows->first[h];
        double draws = -(l->total[a] + l->multipliers[a]) * rows->matrix[a * rows->rows + a];
        if (rows->given[h].is_bound && !l->is_off[a] && draws > worst) {
            worst = draws;
            found = (long)a;
        }
    }
    worst = 1e-9 * rows->own->body->size;
    for (size_t h = 0; h < rows->handles && found < 0; h++) {
        size_t a = rows->first[h];
        if (rows->given[h].is_bound && l->is_off[a]) {
            double passed = l->right[a] - sn_vector_dot(rows->rows, rows->matrix + a * rows->rows, l->multipliers);
            if (passed > worst) {
                worst = passed;
                found = (long)a;
            }
        }
    }
    return found;
}

/* S μ = residual + A z. `next` receives the impulses: those of the least edit that lands, as far as rows tell, or of the least change of
   the `present` one (S μ = residual). */
static SnStatus find_impulses(SnContext *context, Landing *l, const double *present)
{
    SnStatus status = SN_OK;
    const SnEditRows *rows = &l->rows;
    size_t modes = rows->modes;
    if (present == NULL) {
        memset(l->total, 0, rows->rows * sizeof *l->total);
    }
    for (size_t h = 0; h < rows->handles; h++) {
        for (size_t a = rows->first[h]; a < rows->first[h + 1]; a++) {
            l->right[a] = rows->residual[a] + (present != NULL ? 0.0 : sn_edit_rows_reached(rows, h, a));
            /* one that lets go takes back what it did; one that never held does nothing */
            l->is_off[a] = rows->given[h].is_bound && rows->residual[a] < 0.0 && l->total[a] == 0.0;
        }
    }
    for (int change = 0; change < MOST_CHANGES; change++) {
        SN_TRY(solve_held(context, l));
        long a = find_change(l);
        if (a < 0) {
            break;
        }
        l->is_off[a] = !l->is_off[a];
    }
    memset(l->next, 0, rows->handles * modes * sizeof *l->next);
    if (present != NULL) {
        memcpy(l->next, present, rows->handles * modes * sizeof *l->next);
    }
    for (size_t h = 0; h < rows->handles; h++) {
        for (size_t a = rows->first[h]; a < rows->first[h + 1]; a++) {
            sn_vector_add(modes, l->multipliers[a], rows->amplitudes + a * modes, l->next + h * modes);
        }
    }
cleanup:
    return status;
}

/* Newton with backtracking on the distance: a few rounds towards the least edit, then straight to the targets, which takes fewer. */
static SnStatus land(SnContext *context, const SnEditSettings *settings, Landing *l, double *impulses, double *missed, SnEditReport *report)
{
    SnStatus status = SN_OK;
    size_t size = l->rows.handles * l->rows.modes;
    double wanted = settings->tolerance * l->rows.own->body->size, distance = sn_edit_rows_measure(&l->rows, impulses, missed);
    int is_straight = 0;
    while (report->rounds < settings->rounds && distance > wanted) {
        double step = 1.0, best = distance;
        sn_edit_rows_linearise(&l->rows);
        SN_TRY(find_impulses(context, l, is_straight || report->rounds >= LEAST_ROUNDS ? impulses : NULL));
        for (int half = 0; half <= HALVINGS; half++, step *= 0.5) {
            for (size_t k = 0; k < size; k++) {
                l->impulses[k] = impulses[k] + step * (l->next[k] - impulses[k]);
            }
            distance = sn_edit_rows_measure(&l->rows, l->impulses, missed);
            if (distance < best) {
                break;
            }
        }
        report->rounds++;
        if (!(distance < best)) {
            distance = sn_edit_rows_measure(&l->rows, impulses, missed);
            if (is_straight) {
                break;
            }
        } else {
            memcpy(impulses, l->impulses, size * sizeof *impulses);
            sn_vector_add(l->rows.rows, step, l->multipliers, l->total);
        }
        is_straight |= step < 1.0;
        SN_TRY(sn_context_look(context));
    }
cleanup:
    return status;
}

SnStatus sn_edit_land(SnContext *context, SnEditAnchors *anchors, const SnEditKernel *kernels, const SnEditSettings *settings, size_t count,
                      size_t kept, const SnEditHandle *handles, double *impulses, double *missed, SnEditReport *report)
{
    SnStatus status = SN_OK;
    Landing landing = {0};
    SN_TRY(sn_edit_rows_init(context, anchors, kernels, count, kept, handles, &landing.rows));
    SN_TRY(landing_init(context, &landing));
    SN_TRY(land(context, settings, &landing, impulses, missed, report));
cleanup:
    landing_clear(&landing);
    return status;
}
