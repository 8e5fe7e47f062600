/* Rows that hold exactly, C x = c, met by projection in the mass metric: of all motions that meet them the one that moves least mass. With
   P = I - M⁻¹Cᵀ (C M⁻¹Cᵀ)⁻¹ C, steps are projected by P and slopes by Pᵀ. For averages of regions that share no vertex M⁻¹Cᵀ (C M⁻¹Cᵀ)⁻¹
   is one on each region: they are shifted as a whole. */
#ifndef SN_DYNAMICS_CONSTRAINTS_H
#define SN_DYNAMICS_CONSTRAINTS_H

#include "dynamics/assembly.h"
#include "math/row_factor.h"

typedef struct SnConstraints {
    size_t size;           /* values of all rows; 0: nothing is constrained */
    SnRows rows;           /* over the vertices; owned */
    SnRows free_rows;      /* over the unknowns: a fixed vertex cannot be moved; owned */
    SnRowFactor factor;    /* of C M⁻¹ Cᵀ; its `dependent` names rows that repeat what those before them say, or that hold nothing */
    const int32_t *vertex; /* unknowns: their vertices; the assembly's, ... */
    const int32_t *unknown; /* ... as is this: vertices, -1 where fixed */
    double *inverse_mass;  /* unknowns, 1/kg; owned */
    size_t unknown_count;
} SnConstraints;

/* Takes the exact rows (over vertices), emptying `rows`. `mass` (vertices, kg) is copied; the assembly must outlive the constraints. */
SnStatus sn_constraints_init(SnContext *context, const SnAssembly *assembly, const double *mass, SnRows *rows,
                             SnConstraints *constraints);
void sn_constraints_clear(SnConstraints *constraints);

/* From now on rows with `off` (one a row) hold nothing, and the others hold. Whoever has copied `free_rows` must do so again. */
SnStatus sn_constraints_release(SnContext *context, SnConstraints *constraints, const unsigned char *off);

/* Moves the free vertices of `values` (vertices x 3) so that C values = targets (size). `work`, here and below, has room for `size` values. */
void sn_constraints_impose(const SnConstraints *constraints, const double *targets, double *work, double *values);

/* The part of a step that leaves C x as it is, and the part of a slope that such steps feel; both unknowns x 3. */
void sn_constraints_project_step(const SnConstraints *constraints, double *work, double *step);
void sn_constraints_project_slope(const SnConstraints *constraints, double *work, double *slope);

#endif
