/* The driver of a body that follows an input curve: fixed vertices and the means of rows are there, gravity and a push act on all others,
   springs may draw them to it, and Keep Pose may have the rest shape follow it. */
#ifndef SN_DYNAMICS_INPUT_DRIVER_H
#define SN_DYNAMICS_INPUT_DRIVER_H

#include "dynamics/firmness.h"
#include "dynamics/input_curve.h"
#include "dynamics/keep_pose.h"
#include "dynamics/stage.h"

/* Arrays are over the body's own vertices, and not owned. */
typedef struct SnInputDriver {
    const SnInputCurve *curve;
    double gravity[3];      /* m/s² */
    const double *push;     /* vertices x 3, m/s²: of outer forces beside gravity; null: none */
    const double *drive;    /* vertices, N/m; null: none */
    const double *drag;     /* vertices, N s/m: of what drives them; null: none */
    const double *most;     /* vertices, m/s²: of the input's acceleration about so much is felt at most, the rest carries the body along;
                               null: all of it */
    SnKeepPose *keep_pose;  /* of the body's first term; null: none */
    SnFirmness *firmness;   /* of the same, with Keep Pose (of 0 perhaps); null: stiffness as built */
} SnInputDriver;

/* `driver` must stay while it is in use. */
SnDriver sn_input_driver(SnInputDriver *driver);

#endif
