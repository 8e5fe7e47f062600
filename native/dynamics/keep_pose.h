/* Keep Pose (methods, section 1): the rest shape follows the input, so that a held pose settles back onto it and flesh shows motion alone.
   A part that a driver switches on. */
#ifndef SN_DYNAMICS_KEEP_POSE_H
#define SN_DYNAMICS_KEEP_POSE_H

#include "energy/tet_elements.h"

typedef struct SnKeepPose {
    const SnTetElements *elements;
    size_t vertex_count; /* of the body */
    double keep;          /* 0..1 */
    double *scale;        /* the body's vertices: what multiplies it from place to place, 1 until set; owned */
    double *tet_scale;    /* tets: the same; owned */
    SnTetInput input;     /* for the pose prepared last: the input of the stage; who knows of a material sets that in it */
    /* Its own: */
    double *rest;         /* 9 x tets */
    double *volume;       /* tets, m³ */
    double *left_over;    /* tets: how much of the pose's force is still to be held */
    double *gradients;    /* tets x 12 */
    double *held;         /* the body's vertices x 3 */
    double *prepared;     /* the body's vertices x 3: the pose that `rest` belongs to ... */
    int has_prepared;     /* ... if any */
    size_t clamped;       /* tets whose pose it does not reach */
} SnKeepPose;

/* For the tets of a body, over its own vertices. The elements must outlive it. */
SnStatus sn_keep_pose_init(SnContext *context, const SnTetElements *elements, size_t vertex_count, double keep, SnKeepPose *keep_pose);
void sn_keep_pose_clear(SnKeepPose *keep_pose);

/* `input` for a pose (the body's vertices x 3); at hand where it is that of the last call. To be told to forget it where keep or scales have changed. */
void sn_keep_pose_prepare(SnKeepPose *keep_pose, const double *pose);
void sn_keep_pose_forget(SnKeepPose *keep_pose);

/* Adds the loads (the body's vertices x 3) that hold tets at the pose which the rest shape does not reach. */
void sn_keep_pose_hold(SnKeepPose *keep_pose, const double *pose, double *loads);

#endif
