#include "method/edit/rows.h"

#include "base/memory.h"
#include "math/vector.h"

#include <math.h>
#include <string.h>

void sn_edit_rows_clear(SnEditRows *rows)
{
    void *arrays[] = {rows->anchors, rows->is_linear, rows->first, rows->moment, rows->order, rows->kernels, rows->z, rows->parts,
                      rows->places, rows->residual, rows->amplitudes, rows->matrix};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        sn_release(arrays[k]);
    }
    *rows = (SnEditRows){0};
}

/* Whether a handle of before is where it was asked to be then. */
static int is_moved(const SnEditHandle *handle, const SnEditAnchor *anchor)
{
    return !anchor->is_known || memcmp(handle->target, anchor->target, sizeof anchor->target) != 0;
}

/* Handles that stay where they are, while others are moved at other moments, need not be looked at. */
static void choose_linear(SnEditRows *rows, size_t kept)
{
    for (size_t h = 0; h < kept; h++) {
        rows->is_linear[h] = 1;
        for (size_t g = 0; g < rows->handles; g++) {
            if (rows->given[g].time == rows->given[h].time && (g >= kept || is_moved(rows->given + g, rows->anchors[g]))) {
                rows->is_linear[h] = 0;
            }
        }
    }
}

/* Contacts share their moments, so these are told apart first. */
static SnStatus find_kernels(SnContext *context, const SnEditKernel *kernels, SnEditRows *rows)
{
    SnStatus status = SN_OK;
    double *times = NULL;
    size_t ordered = 0;
    SN_TRY_NEW(context, times, rows->handles, double);
    for (size_t h = 0; h < rows->handles; h++) {
        size_t m = 0;
        while (m < rows->moments && times[m] != rows->given[h].time) {
            m++;
        }
        times[m] = rows->given[h].time;
        rows->moment[h] = m;
        rows->moments += m == rows->moments;
    }
    for (size_t m = 0; m < rows->moments; m++) {
        for (size_t h = 0; h < rows->handles; h++) {
            if (rows->moment[h] == m) {
                rows->order[ordered++] = h;
            }
        }
    }
    SN_TRY_NEW(context, rows->kernels, rows->moments * rows->moments * rows->modes, double);
    for (size_t a = 0; a < rows->moments; a++) {
        for (size_t b = 0; b < rows->moments; b++) {
            double *at = rows->kernels + (a * rows->moments + b) * rows->modes;
            for (size_t j = 0; j < rows->modes && b >= a; j++) {
                at[j] = sn_edit_kernel_value(kernels + j, times[a], times[b]);
            }
            if (b < a) {
                memcpy(at, rows->kernels + (b * rows->moments + a) * rows->modes, rows->modes * sizeof *at);
            }
        }
    }
cleanup:
    sn_release(times);
    return status;
}

SnStatus sn_edit_rows_init(SnContext *context, SnEditAnchors *anchors, const SnEditKernel *kernels, size_t count, size_t kept,
                           const SnEditHandle *handles, SnEditRows *rows)
{
    SnStatus status = SN_OK;
    *rows = (SnEditRows){.handles = count, .modes = anchors->basis.count, .given = handles, .own = anchors};
    SN_TRY_NEW(context, rows->anchors, count, SnEditAnchor *);
    SN_TRY_NEW(context, rows->is_linear, count, unsigned char);
    SN_TRY_NEW(context, rows->first, count + 1, size_t);
    for (size_t h = 0; h < count; h++) {
        rows->anchors[h] = sn_edit_anchors_find(anchors, h);
        rows->first[h + 1] = rows->first[h] + sn_edit_handle_rows(handles + h);
    }
    choose_linear(rows, kept);
    rows->rows = rows->first[count];
    SN_TRY_NEW(context, rows->moment, count, size_t);
    SN_TRY_NEW(context, rows->order, count, size_t);
    SN_TRY(find_kernels(context, kernels, rows));
    SN_TRY_NEW(context, rows->z, rows->moments * rows->modes, double);
    SN_TRY_NEW(context, rows->parts, rows->modes, double);
    SN_TRY_NEW(context, rows->places, rows->rows, double);
    SN_TRY_NEW(context, rows->residual, rows->rows, double);
    SN_TRY_NEW(context, rows->amplitudes, rows->rows * rows->modes, double);
    SN_TRY_NEW(context, rows->matrix, rows->rows * rows->rows, double);
    for (size_t h = 0; h < count; h++) {
        if (rows->is_linear[h]) {
            sn_edit_basis_project(&anchors->basis, rows->first[h + 1] - rows->first[h], rows->anchors[h]->rows, rows->parts,
                                  rows->amplitudes + rows->first[h] * rows->modes);
        }
    }
cleanup:
    if (status != SN_OK) {
        sn_edit_rows_clear(rows);
    }
    return status;
}

/* What an impulse at the moment b does at the moment a (modes). */
static const double *kernel_of(const SnEditRows *rows, size_t a, size_t b)
{
    return rows->kernels + (a * rows->moments + b) * rows->modes;
}

/* The edit at all moments. */
static void find_z(SnEditRows *rows, const double *impulses)
{
    memset(rows->z, 0, rows->moments * rows->modes * sizeof *rows->z);
    for (size_t m = 0; m < rows->moments; m++) {
        double *z = rows->z + m * rows->modes;
        for (size_t g = 0; g < rows->handles; g++) {
            const double *kernel = kernel_of(rows, m, rows->moment[g]), *impulse = impulses + g * rows->modes;
            for (size_t j = 0; j < rows->modes; j++) {
                z[j] += kernel[j] * impulse[j];
            }
        }
    }
}

static const double *z_of(const SnEditRows *rows, size_t h)
{
    return rows->z + rows->moment[h] * rows->modes;
}

double sn_edit_rows_reached(const SnEditRows *rows, size_t h, size_t a)
{
    return sn_vector_dot(rows->modes, rows->amplitudes + a * rows->modes, z_of(rows, h));
}

double sn_edit_rows_energy(const SnEditRows *rows, const double *impulses)
{
    double sum = 0.0;
    for (size_t h = 0; h < rows->handles; h++) {
        sum += sn_vector_dot(rows->modes, impulses + h * rows->modes, z_of(rows, h));
    }
    return sum;
}

/* Expands the edit at the moment of a handle into the anchors' p, where it is not that of the one before it. */
static void expand(SnEditRows *rows, size_t h, size_t *expanded)
{
    if (*expanded != rows->moment[h]) {
        sn_edit_basis_expand(&rows->own->basis, z_of(rows, h), rows->parts, rows->own->p);
        *expanded = rows->moment[h];
    }
}

/* Where a handle is along its rows. */
static void find_place(SnEditRows *rows, size_t h, size_t *expanded)
{
    const SnEditHandle *handle = rows->given + h;
    size_t count = rows->first[h + 1] - rows->first[h];
    double *place = rows->places + rows->first[h], all[3];
    if (rows->is_linear[h]) {
        for (size_t a = 0; a < count; a++) {
            place[a] = rows->anchors[h]->constant[a] + sn_edit_rows_reached(rows, h, rows->first[h] + a);
        }
        return;
    }
    expand(rows, h, expanded);
    sn_edit_anchors_place(rows->own, handle, rows->anchors[h], rows->own->p, all);
    if (count == 1) {
        place[0] = sn_vector_dot(3, handle->direction, all);
    } else {
        memcpy(place, all, sizeof all);
    }
}

double sn_edit_rows_measure(SnEditRows *rows, const double *impulses, double *missed)
{
    double sum = 0.0;
    size_t expanded = rows->moments;
    find_z(rows, impulses);
    for (size_t k = 0; k < rows->handles; k++) {
        find_place(rows, rows->order[k], &expanded);
    }
    for (size_t h = 0; h < rows->handles; h++) {
        const SnEditHandle *handle = rows->given + h;
        const double *place = rows->places + rows->first[h];
        double *residual = rows->residual + rows->first[h], square = 0.0;
        size_t count = rows->first[h + 1] - rows->first[h];
        for (size_t a = 0; a < count; a++) {
            residual[a] = (count == 1 ? sn_vector_dot(3, handle->direction, handle->target) : handle->target[a]) - place[a];
            square += handle->is_bound && residual[a] < 0.0 ? 0.0 : residual[a] * residual[a];
        }
        missed[h] = sqrt(square);
        sum += square;
    }
    return sqrt(sum);
}

static void fill_matrix(SnEditRows *rows)
{
    size_t modes = rows->modes;
    for (size_t g = 0; g < rows->handles; g++) {
        for (size_t h = 0; h <= g; h++) {
            const double *kernel = kernel_of(rows, rows->moment[g], rows->moment[h]);
            for (size_t a = rows->first[g]; a < rows->first[g + 1]; a++) {
                for (size_t b = rows->first[h]; b < rows->first[h + 1]; b++) {
                    double sum = 0.0;
                    for (size_t j = 0; j < modes; j++) {
                        sum += rows->amplitudes[a * modes + j] * rows->amplitudes[b * modes + j] * kernel[j];
                    }
                    rows->matrix[a * rows->rows + b] = rows->matrix[b * rows->rows + a] = sum;
                }
            }
        }
    }
}

void sn_edit_rows_linearise(SnEditRows *rows)
{
    size_t expanded = rows->moments;
    for (size_t k = 0; k < rows->handles; k++) {
        size_t h = rows->order[k], first = rows->first[h], count = rows->first[h + 1] - first;
        SnEditAnchor *anchor = rows->anchors[h];
        if (rows->is_linear[h]) {
            continue;
        }
        expand(rows, h, &expanded);
        sn_edit_anchors_linearise(rows->own, rows->given + h, anchor, rows->own->p);
        sn_edit_basis_project(&rows->own->basis, count, anchor->rows, rows->parts, rows->amplitudes + first * rows->modes);
        for (size_t a = 0; a < count; a++) {
            anchor->constant[a] = rows->places[first + a] - sn_edit_rows_reached(rows, h, first + a);
        }
        anchor->is_known = 1;
    }
    fill_matrix(rows);
}

void sn_edit_rows_keep_directions(SnEditRows *rows)
{
    for (size_t h = 0; h < rows->handles; h++) {
        rows->is_linear[h] |= rows->first[h + 1] - rows->first[h] == 1;
    }
}
