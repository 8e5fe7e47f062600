#include "method/edit/landing.h"

#include "base/memory.h"
#include "math/eigensolver.h"
#include "math/vector.h"

#include <math.h>
#include <string.h>

#define CUT 1e-10 /* of the largest eigenvalue: below it handles say the same */
#define HALVINGS 6
#define LEAST_ROUNDS 3
#define MOST_CHANGES 100 /* of rows that hold from one side */

/* Everything that Newton works on. */
typedef struct Landing {
    size_t handles, modes, rows; /* of all handles */
    const SnEditHandle *given;
    SnEditAnchors *own;
    SnEditAnchor **anchors;      /* handles */
    unsigned char *is_linear;    /* handles: taken as they were linearised last */
    unsigned char *is_off;       /* rows: holds from one side, and nothing is there */
    double *parts;        /* modes */
    size_t *first;        /* handles + 1: their rows */
    size_t moments;       /* different times of handles */
    size_t *moment;       /* handles: which is theirs */
    double *kernels;      /* moments x moments x modes */
    double *impulses;     /* handles x modes: Y that is being tried, ... */
    double *next;         /* ... and that of Newton's full step */
    double *z;            /* handles x modes: the edit at their moments */
    double *places;       /* rows: where handles are along their rows */
    double *residual;     /* rows: target minus place */
    double *amplitudes;   /* rows x modes: A */
    double *matrix;       /* rows x rows: S */
    double *few;          /* rows x rows: of the rows that hold, then its eigenvectors */
    double *values, *right, *part; /* rows */
    double *multipliers;  /* rows: of Newton's full step */
    double *total;        /* rows: of the present edit, by and large */
    size_t *held;         /* rows: those that hold */
} Landing;

static void landing_clear(Landing *l)
{
    void *arrays[] = {l->anchors, l->is_linear, l->is_off, l->parts, l->first, l->moment, l->kernels, l->impulses, l->next, l->z, l->places, l->residual,
                      l->amplitudes, l->matrix, l->few, l->values, l->right, l->part, l->multipliers, l->total, l->held};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        sn_release(arrays[k]);
    }
}

/* Whether a handle of before is where it was asked to be then. */
static int is_moved(const SnEditHandle *handle, const SnEditAnchor *anchor)
{
    return !anchor->is_known || memcmp(handle->target, anchor->target, sizeof anchor->target) != 0;
}

/* Handles that stay where they are, while others are moved at other moments, need not be looked at. */
static void choose_linear(Landing *l, size_t kept)
{
    for (size_t h = 0; h < kept; h++) {
        l->is_linear[h] = 1;
        for (size_t g = 0; g < l->handles; g++) {
            if (l->given[g].time == l->given[h].time && (g >= kept || is_moved(l->given + g, l->anchors[g]))) {
                l->is_linear[h] = 0;
            }
        }
    }
}

/* What an impulse of handle g does at the moment of handle h (modes). */
static const double *kernel_of(const Landing *l, size_t h, size_t g)
{
    return l->kernels + (l->moment[h] * l->moments + l->moment[g]) * l->modes;
}

/* Contacts share their moments, so these are told apart first. */
static SnStatus find_kernels(SnContext *context, const SnEditKernel *kernels, Landing *l)
{
    SnStatus status = SN_OK;
    double *times = NULL;
    SN_TRY_NEW(context, times, l->handles, double);
    for (size_t h = 0; h < l->handles; h++) {
        size_t m = 0;
        while (m < l->moments && times[m] != l->given[h].time) {
            m++;
        }
        times[m] = l->given[h].time;
        l->moment[h] = m;
        l->moments += m == l->moments;
    }
    SN_TRY_NEW(context, l->kernels, l->moments * l->moments * l->modes, double);
    for (size_t a = 0; a < l->moments; a++) {
        for (size_t b = 0; b < l->moments; b++) {
            double *at = l->kernels + (a * l->moments + b) * l->modes;
            for (size_t j = 0; j < l->modes && b >= a; j++) {
                at[j] = sn_edit_kernel_value(kernels + j, times[a], times[b]);
            }
            if (b < a) {
                memcpy(at, l->kernels + (b * l->moments + a) * l->modes, l->modes * sizeof *at);
            }
        }
    }
cleanup:
    sn_release(times);
    return status;
}

static SnStatus landing_init(SnContext *context, SnEditAnchors *anchors, const SnEditKernel *kernels, size_t count, size_t kept,
                             const SnEditHandle *handles, Landing *l)
{
    SnStatus status = SN_OK;
    *l = (Landing){.handles = count, .modes = anchors->basis.count, .given = handles, .own = anchors};
    SN_TRY_NEW(context, l->anchors, count, SnEditAnchor *);
    SN_TRY_NEW(context, l->is_linear, count, unsigned char);
    SN_TRY_NEW(context, l->parts, l->modes, double);
    SN_TRY_NEW(context, l->first, count + 1, size_t);
    for (size_t h = 0; h < count; h++) {
        l->anchors[h] = sn_edit_anchors_find(anchors, h);
        l->first[h + 1] = l->first[h] + sn_edit_handle_rows(handles + h);
    }
    choose_linear(l, kept);
    l->rows = l->first[count];
    SN_TRY_NEW(context, l->is_off, l->rows, unsigned char);
    SN_TRY_NEW(context, l->held, l->rows, size_t);
    SN_TRY_NEW(context, l->moment, count, size_t);
    SN_TRY(find_kernels(context, kernels, l));
    SN_TRY_NEW(context, l->impulses, count * l->modes, double);
    SN_TRY_NEW(context, l->next, count * l->modes, double);
    SN_TRY_NEW(context, l->z, count * l->modes, double);
    SN_TRY_NEW(context, l->amplitudes, l->rows * l->modes, double);
    SN_TRY_NEW(context, l->matrix, l->rows * l->rows, double);
    SN_TRY_NEW(context, l->few, l->rows * l->rows, double);
    double **arrays[] = {&l->places, &l->residual, &l->values, &l->right, &l->part, &l->multipliers, &l->total};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        SN_TRY_NEW(context, *arrays[k], l->rows, double);
    }
    for (size_t h = 0; h < count; h++) {
        if (l->is_linear[h]) {
            sn_edit_basis_project(&anchors->basis, l->first[h + 1] - l->first[h], l->anchors[h]->rows, l->parts, l->amplitudes + l->first[h] * l->modes);
        }
    }
cleanup:
    return status;
}

/* The edit at the moment of a handle, by impulses, into the landing's z. */
static double *find_z(Landing *l, const double *impulses, size_t h)
{
    double *z = l->z + h * l->modes;
    memset(z, 0, l->modes * sizeof *z);
    for (size_t g = 0; g < l->handles; g++) {
        const double *kernel = kernel_of(l, h, g), *impulse = impulses + g * l->modes;
        for (size_t j = 0; j < l->modes; j++) {
            z[j] += kernel[j] * impulse[j];
        }
    }
    return z;
}

/* Where a handle is along its rows, by the edit at its moment. */
static void find_place(Landing *l, size_t h, const double *z, double *place)
{
    const SnEditHandle *handle = l->given + h;
    size_t rows = l->first[h + 1] - l->first[h];
    double all[3];
    if (l->is_linear[h]) {
        for (size_t a = 0; a < rows; a++) {
            place[a] = l->anchors[h]->constant[a] + sn_vector_dot(l->modes, l->amplitudes + (l->first[h] + a) * l->modes, z);
        }
        return;
    }
    sn_edit_basis_expand(&l->own->basis, z, l->parts, l->own->p);
    sn_edit_anchors_place(l->own, handle, l->anchors[h], l->own->p, all);
    if (rows == 1) {
        place[0] = sn_vector_dot(3, handle->direction, all);
    } else {
        memcpy(place, all, sizeof all);
    }
}

/* How far all handles are from their targets, in the sum; residuals, and `missed` of each. */
static double measure(Landing *l, const double *impulses, double *missed)
{
    double sum = 0.0;
    for (size_t h = 0; h < l->handles; h++) {
        const SnEditHandle *handle = l->given + h;
        double *place = l->places + l->first[h], *residual = l->residual + l->first[h], square = 0.0;
        size_t rows = l->first[h + 1] - l->first[h];
        find_place(l, h, find_z(l, impulses, h), place);
        for (size_t a = 0; a < rows; a++) {
            residual[a] = (rows == 1 ? sn_vector_dot(3, handle->direction, handle->target) : handle->target[a]) - place[a];
            square += handle->is_bound && residual[a] < 0.0 ? 0.0 : residual[a] * residual[a];
        }
        missed[h] = sqrt(square);
        sum += square;
    }
    return sqrt(sum);
}

/* The rows of every handle at the present edit, which was measured. */
static void linearise(Landing *l, const double *impulses)
{
    for (size_t h = 0; h < l->handles; h++) {
        SnEditAnchor *anchor = l->anchors[h];
        size_t rows = l->first[h + 1] - l->first[h];
        double *amplitudes = l->amplitudes + l->first[h] * l->modes, *z = find_z(l, impulses, h);
        if (l->is_linear[h]) {
            continue;
        }
        sn_edit_basis_expand(&l->own->basis, z, l->parts, l->own->p);
        sn_edit_anchors_linearise(l->own, l->given + h, anchor, l->own->p);
        sn_edit_basis_project(&l->own->basis, rows, anchor->rows, l->parts, amplitudes);
        for (size_t a = 0; a < rows; a++) {
            anchor->constant[a] = l->places[l->first[h] + a] - sn_vector_dot(l->modes, amplitudes + a * l->modes, z);
        }
        anchor->is_known = 1;
    }
}

static void fill_matrix(Landing *l)
{
    for (size_t g = 0; g < l->handles; g++) {
        for (size_t h = 0; h <= g; h++) {
            const double *kernel = kernel_of(l, g, h);
            for (size_t a = l->first[g]; a < l->first[g + 1]; a++) {
                for (size_t b = l->first[h]; b < l->first[h + 1]; b++) {
                    double sum = 0.0;
                    for (size_t j = 0; j < l->modes; j++) {
                        sum += l->amplitudes[a * l->modes + j] * l->amplitudes[b * l->modes + j] * kernel[j];
                    }
                    l->matrix[a * l->rows + b] = l->matrix[b * l->rows + a] = sum;
                }
            }
        }
    }
}

/* Multipliers of the rows that are not off, by eigenvectors; what handles say alike is said once. */
static SnStatus solve_held(SnContext *context, Landing *l)
{
    SnStatus status = SN_OK;
    size_t count = 0;
    for (size_t a = 0; a < l->rows; a++) {
        if (!l->is_off[a]) {
            l->held[count++] = a;
        }
    }
    memset(l->multipliers, 0, l->rows * sizeof *l->multipliers);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            l->few[i * count + j] = l->matrix[l->held[i] * l->rows + l->held[j]];
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
   most; -1: none. `before` (rows): multipliers that these are added to. */
static long find_change(const Landing *l, const double *before)
{
    double worst = 0.0;
    long found = -1;
    for (size_t h = 0; h < l->handles; h++) {
        size_t a = l->first[h];
        double draws = -(before[a] + l->multipliers[a]) * l->matrix[a * l->rows + a];
        if (l->given[h].is_bound && !l->is_off[a] && draws > worst) {
            worst = draws;
            found = (long)a;
        }
    }
    worst = 1e-9 * l->own->body->size;
    for (size_t h = 0; h < l->handles && found < 0; h++) {
        size_t a = l->first[h];
        if (l->given[h].is_bound && l->is_off[a]) {
            double passed = l->right[a] - sn_vector_dot(l->rows, l->matrix + a * l->rows, l->multipliers);
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
    size_t modes = l->modes;
    fill_matrix(l);
    if (present == NULL) {
        memset(l->total, 0, l->rows * sizeof *l->total);
    }
    for (size_t h = 0; h < l->handles; h++) {
        for (size_t a = l->first[h]; a < l->first[h + 1]; a++) {
            double reached = present != NULL ? 0.0 : sn_vector_dot(modes, l->amplitudes + a * modes, l->z + h * modes);
            l->right[a] = l->residual[a] + reached;
            /* one that lets go takes back what it did; one that never held does nothing */
            l->is_off[a] = l->given[h].is_bound && l->residual[a] < 0.0 && l->total[a] == 0.0;
        }
    }
    for (int change = 0; change < MOST_CHANGES; change++) {
        SN_TRY(solve_held(context, l));
        long a = find_change(l, l->total);
        if (a < 0) {
            break;
        }
        l->is_off[a] = !l->is_off[a];
    }
    memset(l->next, 0, l->handles * modes * sizeof *l->next);
    if (present != NULL) {
        memcpy(l->next, present, l->handles * modes * sizeof *l->next);
    }
    for (size_t h = 0; h < l->handles; h++) {
        for (size_t a = l->first[h]; a < l->first[h + 1]; a++) {
            sn_vector_add(modes, l->multipliers[a], l->amplitudes + a * modes, l->next + h * modes);
        }
    }
cleanup:
    return status;
}
/* Newton with backtracking on the distance: a few rounds towards the least edit, then straight to the targets, which takes fewer. */
static SnStatus land(SnContext *context, const SnEditSettings *settings, Landing *l, double *impulses, double *missed, SnEditReport *report)
{
    SnStatus status = SN_OK;
    size_t size = l->handles * l->modes;
    double wanted = settings->tolerance * l->own->body->size, distance = measure(l, impulses, missed);
    int is_straight = 0;
    while (report->rounds < settings->rounds && distance > wanted) {
        double step = 1.0, best = distance;
        linearise(l, impulses);
        SN_TRY(find_impulses(context, l, is_straight || report->rounds >= LEAST_ROUNDS ? impulses : NULL));
        for (int half = 0; half <= HALVINGS; half++, step *= 0.5) {
            for (size_t k = 0; k < size; k++) {
                l->impulses[k] = impulses[k] + step * (l->next[k] - impulses[k]);
            }
            distance = measure(l, l->impulses, missed);
            if (distance < best) {
                break;
            }
        }
        report->rounds++;
        if (!(distance < best)) {
            distance = measure(l, impulses, missed);
            if (is_straight) {
                break;
            }
        } else {
            memcpy(impulses, l->impulses, size * sizeof *l->impulses);
            for (size_t a = 0; a < l->rows; a++) {
                l->total[a] += step * l->multipliers[a];
            }
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
    SN_TRY(landing_init(context, anchors, kernels, count, kept, handles, &landing));
    SN_TRY(land(context, settings, &landing, impulses, missed, report));
    for (size_t h = 0; h < count; h++) {
        report->missed = fmax(report->missed, missed[h]);
        memcpy(landing.anchors[h]->target, handles[h].target, sizeof handles[h].target);
    }
cleanup:
    landing_clear(&landing);
    return status;
}
