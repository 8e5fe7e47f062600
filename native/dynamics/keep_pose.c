#include "dynamics/keep_pose.h"

#include "base/memory.h"

#include <string.h>

SnStatus sn_keep_pose_init(SnContext *context, const SnTetElements *elements, size_t vertex_count, double keep, SnKeepPose *keep_pose)
{
    SnStatus status = SN_OK;
    memset(keep_pose, 0, sizeof *keep_pose);
    keep_pose->elements = elements;
    keep_pose->vertex_count = vertex_count;
    keep_pose->keep = keep;
    SN_TRY_NEW(context, keep_pose->scale, vertex_count, double);
    SN_TRY_NEW(context, keep_pose->tet_scale, elements->count, double);
    SN_TRY_NEW(context, keep_pose->rest, 9 * elements->count, double);
    SN_TRY_NEW(context, keep_pose->volume, elements->count, double);
    SN_TRY_NEW(context, keep_pose->left_over, elements->count, double);
    SN_TRY_NEW(context, keep_pose->gradients, 12 * elements->count, double);
    SN_TRY_NEW(context, keep_pose->held, 3 * vertex_count, double);
    SN_TRY_NEW(context, keep_pose->prepared, 3 * vertex_count, double);
    for (size_t v = 0; v < vertex_count; v++) {
        keep_pose->scale[v] = 1.0;
    }
    for (size_t e = 0; e < elements->count; e++) {
        keep_pose->tet_scale[e] = 1.0;
    }
cleanup:
    if (status != SN_OK) {
        sn_keep_pose_clear(keep_pose);
    }
    return status;
}

void sn_keep_pose_clear(SnKeepPose *keep_pose)
{
    sn_release(keep_pose->scale);
    sn_release(keep_pose->tet_scale);
    sn_release(keep_pose->rest);
    sn_release(keep_pose->volume);
    sn_release(keep_pose->left_over);
    sn_release(keep_pose->gradients);
    sn_release(keep_pose->held);
    sn_release(keep_pose->prepared);
    memset(keep_pose, 0, sizeof *keep_pose);
}

void sn_keep_pose_forget(SnKeepPose *keep_pose)
{
    keep_pose->has_prepared = 0;
}

void sn_keep_pose_prepare(SnKeepPose *keep_pose, const double *pose)
{
    size_t bytes = 3 * keep_pose->vertex_count * sizeof *pose;
    if (keep_pose->has_prepared && memcmp(keep_pose->prepared, pose, bytes) == 0) { /* a step begins where the one before ended */
        return;
    }
    keep_pose->clamped = 0;
    keep_pose->input.rest = keep_pose->input.volume = NULL;
    if (keep_pose->keep > 0.0) {
        keep_pose->clamped = sn_tet_elements_pose_rest(keep_pose->elements, pose, keep_pose->keep, keep_pose->tet_scale, keep_pose->rest,
                                                       keep_pose->volume, keep_pose->left_over);
        keep_pose->input.rest = keep_pose->rest;
        keep_pose->input.volume = keep_pose->volume;
    }
    memcpy(keep_pose->prepared, pose, bytes);
    keep_pose->has_prepared = 1;
}

void sn_keep_pose_hold(SnKeepPose *keep_pose, const double *pose, double *loads)
{
    SnTetElements own = *keep_pose->elements;
    const SnTetElements *elements = &own;
    size_t n = 3 * keep_pose->vertex_count;
    if (keep_pose->clamped == 0) {
        return;
    }
    own.mu = keep_pose->input.mu != NULL ? (double *)keep_pose->input.mu : own.mu;
    own.lambda = keep_pose->input.lambda != NULL ? (double *)keep_pose->input.lambda : own.lambda;
    sn_tet_elements_derivatives(elements, keep_pose->rest, pose, keep_pose->gradients, NULL);
    memset(keep_pose->held, 0, n * sizeof *keep_pose->held);
    for (size_t k = 0; k < 12 * elements->count; k++) {
        keep_pose->held[3 * (size_t)elements->tets[k / 3] + k % 3] += keep_pose->gradients[k] * keep_pose->left_over[k / 12];
    }
    for (size_t k = 0; k < n; k++) {
        loads[k] += keep_pose->held[k];
    }
}
