#include "method/edit/edit.h"

#include "base/memory.h"
#include "method/edit/landing.h"
#include "method/edit/yielding.h"

#include <math.h>
#include <string.h>

struct SnEdit {
    SnEditBody body;
    SnEditAnchors anchors;
    size_t count;          /* handles */
    double *times;         /* count */
    double *impulses;      /* count x modes ... */
    double *forces;        /* ... and as amplitudes of shapes */
    SnEditKernel *kernels; /* modes */
    size_t mode_count;
    double *z, *parts;     /* modes, scratch */
    int is_none;           /* there is no edit */
};

SnEditSettings sn_edit_settings_default(void)
{
    return (SnEditSettings){.rounds = 20, .tolerance = 1e-5};
}

void sn_edit_destroy(SnEdit *edit)
{
    if (edit == NULL) {
        return;
    }
    sn_edit_anchors_clear(&edit->anchors);
    sn_edit_body_clear(&edit->body);
    sn_release(edit->times);
    sn_release(edit->impulses);
    sn_release(edit->forces);
    sn_release(edit->kernels);
    sn_release(edit->z);
    sn_release(edit->parts);
    sn_release(edit);
}

SnStatus sn_edit_create(SnContext *context, const SnEditBodyDef *def, SnEdit **out)
{
    SnStatus status = SN_OK;
    SnEdit *edit = NULL;
    *out = NULL;
    SN_TRY_NEW(context, edit, 1, SnEdit);
    edit->is_none = 1;
    SN_TRY(sn_edit_body_init(context, def, &edit->body));
    SN_TRY(sn_edit_anchors_init(context, &edit->body, &edit->anchors));
    *out = edit;
cleanup:
    if (status != SN_OK) {
        sn_edit_destroy(edit);
    }
    return status;
}

/* Room for another number of handles and modes; the first `kept` handles go on pulling as they did. */
static SnStatus resize(SnContext *context, SnEdit *edit, size_t count, size_t kept)
{
    SnStatus status = SN_OK;
    size_t modes = edit->anchors.basis.count, before = edit->mode_count;
    double *forces = edit->forces;
    double **arrays[] = {&edit->times, &edit->impulses, &edit->z, &edit->parts, &edit->forces};
    size_t lengths[] = {count, count * modes, modes, modes, count * modes};
    edit->forces = NULL;
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        sn_release(*arrays[k]);
        *arrays[k] = NULL;
        SN_TRY_NEW(context, *arrays[k], lengths[k], double);
    }
    sn_release(edit->kernels);
    edit->kernels = NULL;
    SN_TRY_NEW(context, edit->kernels, modes, SnEditKernel);
    for (size_t h = 0; h < kept; h++) {
        memcpy(edit->forces + h * modes, forces + h * before, (before < modes ? before : modes) * sizeof *forces);
        sn_edit_basis_to_modes(&edit->anchors.basis, edit->forces + h * modes, edit->impulses + h * modes);
    }
    edit->count = count;
    edit->mode_count = modes;
cleanup:
    sn_release(forces);
    if (status != SN_OK) {
        edit->count = edit->mode_count = 0;
        edit->anchors.order_count = 0;
    }
    return status;
}

SnStatus sn_edit_solve(SnContext *context, SnEdit *edit, const SnEditMotion *motion, const SnEditSettings *settings, size_t count,
                       const SnEditHandle *handles, double *missed, SnEditReport *report)
{
    SnStatus status = SN_OK;
    size_t kept = 0, before = edit->count;
    int yields = 0;
    *report = (SnEditReport){0};
    edit->is_none = 1;
    if (count == 0) {
        return SN_OK;
    }
    edit->count = 0; /* until all is found */
    SN_TRY(sn_edit_anchors_take(context, &edit->anchors, count, handles, &kept));
    /* what is left of an edit without one of its handles is no beginning: close ones pull against each other */
    kept = settings->goes_on && kept == before ? kept : 0;
    SN_TRY(resize(context, edit, count, kept));
    for (size_t h = 0; h < count; h++) {
        edit->times[h] = handles[h].time;
        yields |= handles[h].give > 0.0;
    }
    for (size_t j = 0; j < edit->mode_count; j++) {
        edit->kernels[j] = sn_edit_kernel(edit->anchors.basis.squared[j], motion);
    }
    SN_TRY((yields ? sn_edit_yield : sn_edit_land)(context, &edit->anchors, edit->kernels, settings, count, settings->is_quick ? kept : 0, handles,
                                                   edit->impulses, missed, report));
    for (size_t h = 0; h < count; h++) {
        report->missed = fmax(report->missed, missed[h]);
        memcpy(sn_edit_anchors_find(&edit->anchors, h)->target, handles[h].target, sizeof handles[h].target);
        sn_edit_basis_to_shapes(&edit->anchors.basis, edit->impulses + h * edit->mode_count, edit->forces + h * edit->mode_count);
    }
    for (size_t k = 0; k < count * edit->mode_count; k++) {
        edit->is_none &= edit->impulses[k] == 0.0;
    }
    report->shapes = edit->mode_count;
cleanup:
    return status;
}

SnStatus sn_edit_field(SnContext *context, SnEdit *edit, double time, double *p)
{
    int any = 0;
    (void)context;
    memset(p, 0, 3 * edit->body.vertex_count * sizeof *p);
    if (edit->is_none) {
        return SN_OK;
    }
    for (size_t j = 0; j < edit->mode_count; j++) {
        double sum = 0.0;
        for (size_t h = 0; h < edit->count; h++) {
            sum += sn_edit_kernel_value(edit->kernels + j, time, edit->times[h]) * edit->impulses[h * edit->mode_count + j];
        }
        edit->z[j] = sum;
        any |= sum != 0.0;
    }
    if (any) {
        sn_edit_basis_expand(&edit->anchors.basis, edit->z, edit->parts, p);
    }
    return SN_OK;
}

SnStatus sn_edit_frame(SnContext *context, SnEdit *edit, double time, const double *shown, double *result)
{
    SnStatus status = SN_OK;
    size_t count = 3 * edit->body.vertex_count;
    int any = 0;
    SN_TRY(sn_edit_field(context, edit, time, edit->anchors.p));
    for (size_t k = 0; k < count; k++) {
        any |= edit->anchors.p[k] != 0.0;
    }
    if (!any) {
        memcpy(result, shown, count * sizeof *shown);
        return SN_OK;
    }
    sn_edit_pose_set(&edit->anchors.pose, shown);
    SN_TRY(sn_edit_pose_warp(context, &edit->anchors.pose, edit->anchors.p, result));
cleanup:
    return status;
}

size_t sn_edit_frequencies(const SnEdit *edit, size_t room, double *squared)
{
    for (size_t j = 0; j < edit->mode_count && j < room; j++) {
        squared[j] = edit->anchors.basis.squared[j];
    }
    return edit->mode_count;
}
