/* How an edit of one mode spreads in time (methods, section 5, "Closed form"): the Green's function of ½∫(z̈ + d ż + λ z)² dt, which is the
   covariance of a damped oscillator. Continuous in time: no frame rate, nothing that grows with length. */
#ifndef SN_METHOD_EDIT_KERNEL_H
#define SN_METHOD_EDIT_KERNEL_H

#include <stddef.h>

/* Times that an edit is confined to, seconds. */
typedef struct SnEditSpan {
    int has_begin, has_end; /* there edit and its velocity are zero, and beyond it there is none */
    double begin, end;
    double period;          /* of a loop; 0: none. A loop has no ends */
} SnEditSpan;

/* How edits swing. */
typedef struct SnEditMotion {
    double drag, damping; /* Rayleigh alpha (1/s) and beta (s) */
    double wiggle;        /* 1: as damped, 0: hardly overshoots */
    double spread;        /* times as long in time */
    double smoothness;    /* s⁴: greater than 0 takes the energy (10) of smooth edits, without swings, in place of forces */
    SnEditSpan span;
} SnEditMotion;
SnEditMotion sn_edit_motion_default(void);

/* Of one mode. */
typedef struct SnEditKernel {
    double omega, ratio; /* angular frequency (rad/s) and damping ratio of the oscillator */
    double scale;        /* c: variance */
    SnEditSpan span;
    int condition_count; /* 0, 2 or 4: zero edit and velocity at the ends */
    double inverse[16];  /* of their covariance */
} SnEditKernel;

/* `squared`: eigenvalue λ of the mode, rad²/s², positive. */
SnEditKernel sn_edit_kernel(double squared, const SnEditMotion *motion);

/* values: k, k', k'' at a distance in time, of an oscillator; k(0) = 1. */
void sn_edit_kernel_free(double omega, double ratio, double distance, double values[3]);

/* c k̃(t, s): what a unit impulse at time s does at time t. 0 outside the span. */
double sn_edit_kernel_value(const SnEditKernel *kernel, double t, double s);

#endif
