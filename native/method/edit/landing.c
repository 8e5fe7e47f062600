#include "method/edit/landing.h"

#include "base/memory.h"
#include "math/eigensolver.h"
#include "math/vector.h"

#include <math.h>
#include <string.h>

#define CUT 1e-10 /* of the largest eigenvalue: below it handles say the same */
#define HALVINGS 6
#define LEAST_ROUNDS 3

/* Everything that Newton works on. */
typedef struct Landing {
    size_t handles, modes, rows; /* of all handles */
    const SnEditHandle *given;
    SnEditAnchors *own;
    const SnEditAnchor **anchors; /* handles */
    double *parts;        /* modes */
    size_t *first;        /* handles + 1: their rows */
    double *kernels;      /* handles x handles x modes */
    double *impulses;     /* handles x modes: Y that is being tried, ... */
    double *next;         /* ... and that of Newton's full step */
    double *z;            /* handles x modes: the edit at their moments */
    double *residual;     /* rows: target minus place */
    double *amplitudes;   /* rows x modes: A */
    double *matrix;       /* rows x rows: S */
    double *values, *right, *multipliers; /* rows */
} Landing;

static void landing_clear(Landing *l)
{
    double *arrays[] = {l->kernels, l->impulses, l->next, l->z, l->residual, l->amplitudes, l->matrix, l->values, l->right, l->multipliers, l->parts};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        sn_release(arrays[k]);
    }
    sn_release(l->anchors);
    sn_release(l->first);
}

static SnStatus landing_init(SnContext *context, SnEditAnchors *anchors, const SnEditKernel *kernels, size_t count,
                             const SnEditHandle *handles, Landing *l)
{
    SnStatus status = SN_OK;
    *l = (Landing){.handles = count, .modes = anchors->basis.count, .given = handles, .own = anchors};
    SN_TRY_NEW(context, l->anchors, count, const SnEditAnchor *);
    SN_TRY_NEW(context, l->parts, l->modes, double);
    SN_TRY_NEW(context, l->first, count + 1, size_t);
    for (size_t h = 0; h < count; h++) {
        l->anchors[h] = sn_edit_anchors_find(anchors, h);
        l->first[h + 1] = l->first[h] + sn_edit_handle_rows(handles + h);
    }
    l->rows = l->first[count];
    SN_TRY_NEW(context, l->kernels, count * count * l->modes, double);
    SN_TRY_NEW(context, l->impulses, count * l->modes, double);
    SN_TRY_NEW(context, l->next, count * l->modes, double);
    SN_TRY_NEW(context, l->z, count * l->modes, double);
    SN_TRY_NEW(context, l->residual, l->rows, double);
    SN_TRY_NEW(context, l->amplitudes, (l->rows + 2) * l->modes, double);
    SN_TRY_NEW(context, l->matrix, l->rows * l->rows, double);
    SN_TRY_NEW(context, l->values, l->rows, double);
    SN_TRY_NEW(context, l->right, l->rows, double);
    SN_TRY_NEW(context, l->multipliers, l->rows, double);
    for (size_t a = 0; a < count; a++) {
        for (size_t b = 0; b < count; b++) {
            for (size_t j = 0; j < l->modes; j++) {
                double *at = l->kernels + (a * count + b) * l->modes + j;
                *at = b < a ? l->kernels[(b * count + a) * l->modes + j]
                            : sn_edit_kernel_value(kernels + j, handles[a].time, handles[b].time);
            }
        }
    }
cleanup:
    return status;
}

/* The edit at the moment of a handle, by impulses: into the landing's z and the anchors' p. */
static void expand_at(Landing *l, const double *impulses, size_t h)
{
    double *z = l->z + h * l->modes;
    memset(z, 0, l->modes * sizeof *z);
    for (size_t g = 0; g < l->handles; g++) {
        const double *kernel = l->kernels + (h * l->handles + g) * l->modes, *impulse = impulses + g * l->modes;
        for (size_t j = 0; j < l->modes; j++) {
            z[j] += kernel[j] * impulse[j];
        }
    }
    sn_edit_basis_expand(&l->own->basis, z, l->parts, l->own->p);
}

/* How far all handles are from their targets, in the sum; residuals, and `missed` of each. */
static double measure(Landing *l, const double *impulses, double *missed)
{
    double sum = 0.0;
    size_t vertices = l->own->body->cage->vertex_count;
    for (size_t h = 0; h < l->handles; h++) {
        const SnEditHandle *handle = l->given + h;
        double offset[3], left[3], *residual = l->residual + l->first[h];
        expand_at(l, impulses, h);
        sn_edit_pose_set(&l->own->pose, handle->shown);
        sn_edit_pose_measure(&l->own->pose, l->own->p, l->anchors[h]->point_lever, offset);
        for (size_t a = 0; a < 3; a++) {
            double place = 0.0;
            for (size_t v = 0; v < vertices; v++) {
                place += handle->point[v] != 0.0 ? handle->point[v] * handle->shown[3 * v + a] : 0.0;
            }
            left[a] = handle->target[a] - place - offset[a];
        }
        if (sn_edit_handle_rows(handle) == 1) {
            residual[0] = sn_vector_dot(3, handle->direction, left);
            missed[h] = fabs(residual[0]);
        } else {
            memcpy(residual, left, sizeof left);
            missed[h] = sqrt(sn_vector_dot(3, left, left));
        }
        sum += missed[h] * missed[h];
    }
    return sqrt(sum);
}

/* The rows of every handle at the present edit. */
static void linearise(Landing *l, const double *impulses)
{
    for (size_t h = 0; h < l->handles; h++) {
        expand_at(l, impulses, h);
        sn_edit_anchors_rows(l->own, l->given + h, l->anchors[h], l->own->p);
        sn_edit_basis_project(&l->own->basis, l->first[h + 1] - l->first[h], l->own->rows, l->parts, l->amplitudes + l->first[h] * l->modes);
    }
}

/* S μ = residual + A z, by eigenvectors; what handles say alike is said once. `next` receives the impulses: those of the least edit that
   lands, as far as rows tell, or of the least change of the `present` one (S μ = residual). */
static SnStatus find_impulses(SnContext *context, Landing *l, const double *present)
{
    SnStatus status = SN_OK;
    size_t rows = l->rows, modes = l->modes;
    for (size_t g = 0; g < l->handles; g++) {
        for (size_t h = 0; h < l->handles; h++) {
            const double *kernel = l->kernels + (g * l->handles + h) * modes;
            for (size_t a = l->first[g]; a < l->first[g + 1]; a++) {
                for (size_t b = l->first[h]; b < l->first[h + 1]; b++) {
                    double sum = 0.0;
                    for (size_t j = 0; j < modes; j++) {
                        sum += l->amplitudes[a * modes + j] * l->amplitudes[b * modes + j] * kernel[j];
                    }
                    l->matrix[a * rows + b] = sum;
                }
            }
        }
        for (size_t a = l->first[g]; a < l->first[g + 1]; a++) {
            double reached = present != NULL ? 0.0 : sn_vector_dot(modes, l->amplitudes + a * modes, l->z + g * modes);
            l->right[a] = l->residual[a] + reached;
        }
    }
    SN_TRY(sn_eigensolver_dense(context, rows, l->matrix, l->values));
    memset(l->multipliers, 0, rows * sizeof *l->multipliers);
    for (size_t k = 0; k < rows; k++) {
        if (l->values[k] > CUT * l->values[rows - 1]) {
            double part = sn_vector_dot(rows, l->matrix + k * rows, l->right) / l->values[k];
            sn_vector_add(rows, part, l->matrix + k * rows, l->multipliers);
        }
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
        }
        is_straight |= step < 1.0;
        SN_TRY(sn_context_look(context));
    }
cleanup:
    return status;
}

SnStatus sn_edit_land(SnContext *context, SnEditAnchors *anchors, const SnEditKernel *kernels, const SnEditSettings *settings, size_t count,
                      const SnEditHandle *handles, double *impulses, double *missed, SnEditReport *report)
{
    SnStatus status = SN_OK;
    Landing landing = {0};
    SN_TRY(landing_init(context, anchors, kernels, count, handles, &landing));
    SN_TRY(land(context, settings, &landing, impulses, missed, report));
    for (size_t h = 0; h < count; h++) {
        report->missed = fmax(report->missed, missed[h]);
    }
cleanup:
    landing_clear(&landing);
    return status;
}
