/* An edit in one shown frame (methods, section 5, "Warp by product"). The edit p is told in rest axes; with R̄ the rotation of a cell there,
   F̄ its gradient and ω, ε the turn and strain of ∇p, the gradient wished for is  R̄ exp(ω) E(ε) R̄ᵀ F̄.  E(ε) = I + ε + ε²/2 is exp(ε) to
   second order, and positive definite for every ε: no wish is inside out. */
#ifndef SN_METHOD_EDIT_POSE_H
#define SN_METHOD_EDIT_POSE_H

#include "method/edit/body.h"

typedef struct SnEditPose {
    SnEditBody *body;
    double *shown;     /* vertices x 3 */
    double *gradients; /* cells x 9, row-major: F̄ ... */
    double *rotations; /* ... and R̄; of a cell that is flat or inside out that of the nearest sound one */
    double *scratch;   /* 9 x cells, then cells x 9 ... */
    double *changes;   /* ... and then cells x 27, how places answer to gradients of the edit: the same memory */
    double *partial;   /* chunks x 3 */
    int32_t *queue;    /* cells */
    double *wished;    /* vertices x 3: the edit ... */
    double *missing;   /* ... for which cells wish so much more (x 9) ... */
    double *shifts;    /* ... and move so far (x 3) */
    int is_set, is_wished;
} SnEditPose;

SnStatus sn_edit_pose_init(SnContext *context, SnEditBody *body, SnEditPose *pose);
void sn_edit_pose_clear(SnEditPose *pose);

/* The shape as it is shown (vertices x 3). At hand where it is that of the last call. */
void sn_edit_pose_set(SnEditPose *pose, const double *shown);

/* offset: how far the edit p (vertices x 3) moves what a lever was made for. */
void sn_edit_pose_measure(SnEditPose *pose, const double *p, const double *lever, double offset[3]);

/* rows (3 x 3 unknowns): derivative of that offset by p, at p. */
void sn_edit_pose_rows(SnEditPose *pose, const double *p, const double *lever, double *rows);

/* result (vertices x 3) = the edited shape; the shown one to the bit where p is 0. */
SnStatus sn_edit_pose_warp(SnContext *context, SnEditPose *pose, const double *p, double *result);

#endif
