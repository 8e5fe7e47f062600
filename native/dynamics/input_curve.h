/* The input between two frames: a C¹ (Catmull-Rom) curve through the fitted cages, one frame of look-ahead. */
#ifndef SN_DYNAMICS_INPUT_CURVE_H
#define SN_DYNAMICS_INPUT_CURVE_H

#include <stddef.h>

typedef struct SnInputCurve {
    size_t vertex_count;
    const double *before;    /* fitted cage of the frame before, or null at a start or a cut */
    const double *begin, *end; /* of the two frames; vertex_count x 3 */
    const double *after;     /* of the frame after, or null at an end or a cut */
    double interval;         /* seconds between two frames */
    const struct SnInputCurve *light; /* the part of it that moves without inertia (expressions, methods section 4): a curve of displacements
                                         over the same frames, of which differences alone matter; null: none */
} SnInputCurve;

/* Pose (m) and velocity (m/s) at fraction 0..1 of the interval; each vertex_count x 3, either may be null.
   At 0 and 1 the pose is `begin` and `end` to the bit. */
void sn_input_curve_evaluate(const SnInputCurve *curve, double fraction, double *pose, double *velocity);

/* The same with the velocity of what has inertia alone; `shift` (vertex_count x 3, m) is where the part without has moved to. */
void sn_input_curve_follow(const SnInputCurve *curve, double fraction, double *pose, double *velocity, double *shift);

/* Acceleration (m/s²) of one vertex there, of what has inertia. */
void sn_input_curve_accelerate(const SnInputCurve *curve, double fraction, size_t vertex, double acceleration[3]);

/* The same as frames tell it: from that at one frame evenly to that at the next. The curve's own swings about it, for it must go
   through frames with an even speed. */
void sn_input_curve_press(const SnInputCurve *curve, double fraction, size_t vertex, double acceleration[3]);

#endif
