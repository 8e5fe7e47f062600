/* Flesh whose stiffness changes (methods, section 4 "Materials"): factors of mu and lambda that are told for both ends of an interval, and
   Tighten, which makes flesh firmer the more its pose is strained. A part that a driver switches on. */
#ifndef SN_DYNAMICS_FIRMNESS_H
#define SN_DYNAMICS_FIRMNESS_H

#include "dynamics/input_curve.h"
#include "energy/tet_elements.h"

#define SN_FIRMNESS_LEAST 0.1 /* of all factors of a tet together */
#define SN_FIRMNESS_MOST 20.0
#define SN_TIGHTEN_STRAIN 0.3 /* |S - I|: from there on flesh is as tight as it gets */

typedef struct SnFirmness {
    const SnTetElements *elements;
    double tighten;       /* 0: not by the pose; 1: up to twice as firm */
    double *mu, *lambda;  /* tets, Pa: of the moment prepared last; owned */
    int is_given;         /* factors were told for this interval, ... */
    int is_level;         /* ... and are the same at both ends */
    /* Its own: */
    double *begin, *end;  /* tets */
    double *factor;       /* tets: of the moment prepared last, ... */
    double fraction;      /* ... which was this one, ... */
    int has_prepared;     /* ... if any */
    double *pose;         /* the body's vertices x 3 */
    double *strain;       /* tets */
} SnFirmness;

/* For the tets of a body, over its own vertices. The elements must outlive it. */
SnStatus sn_firmness_init(SnContext *context, const SnTetElements *elements, size_t vertex_count, double tighten, SnFirmness *firmness);
void sn_firmness_clear(SnFirmness *firmness);

/* The factors of the next interval, linear in between: those of each tet stand at its place in `sources`. Null: 1 everywhere. */
void sn_firmness_lead(SnFirmness *firmness, const int32_t *sources, const double *begin, const double *end);

/* Whether mu and lambda may be others than those that the elements were built with, and whether they may change within the interval. */
int sn_firmness_acts(const SnFirmness *firmness);
int sn_firmness_varies(const SnFirmness *firmness);

/* mu and lambda at a fraction of the interval of a curve; at hand where it is that of the last call. Returns whether they have changed. */
int sn_firmness_prepare(SnFirmness *firmness, const SnInputCurve *curve, double fraction);

#endif
