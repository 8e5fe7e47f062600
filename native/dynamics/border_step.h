/* The step of bodies that touch. With the elastic part of an energy taken as quadratic, all else can be eliminated but the border that the planes
   hang on (math/border.h); what is left there,

     1/2 uᵀ S u - bᵀ u + planes(w + W u),

   is convex and small, and is minimised as it is: which planes press, and which of them slide, is found there, round after round on a
   small dense matrix, and not by steps of the whole. So a step of the whole is one of its elastic part alone. */
#ifndef SN_DYNAMICS_BORDER_STEP_H
#define SN_DYNAMICS_BORDER_STEP_H

#include "dynamics/planes.h"
#include "math/multifrontal.h"

/* Where the border is. Arrays are not owned. */
typedef struct SnBorder {
    size_t count;            /* points, */
    const int32_t *place;    /* unknowns: each one's among them, or -1 */
    const double *rotations; /* unknowns x 9: how the body has turned since the factor was made; null: it has not */
} SnBorder;

/* Points of the border that no plane hangs on are eliminated too, once for all steps with the same planes. */
typedef struct SnBorderStep {
    int is_known;      /* what was eliminated last is that of the factor in hand */
    size_t count, touched; /* points of the border, and those that planes hang on */
    int32_t *order;    /* border: the others first; owned, as all arrays */
    int32_t *place;    /* border: where each is among the touched, or -1 */
    float *panel;      /* the factor of the others, 3 count x 3 (count - touched) */
    float *matrix;     /* S, 3 touched square, the lower triangle column by column; ... */
    float *work;       /* ... and with the planes */
    float *vector, *diagonal; /* 3 count */
    double *right, *u, *move, *product, *product_move, *residual; /* 3 touched */
    size_t order_room, place_room, panel_room, matrix_room, work_room, vector_room, diagonal_room, numbers_room;
    double *numbers;
    long rounds;       /* of Newton on the border, since it was made */
} SnBorderStep;

void sn_border_step_clear(SnBorderStep *step); /* a zeroed one is empty */

/* Other planes, or another factor. */
void sn_border_step_forget(SnBorderStep *step);

/* x = the step from the right side b (unknowns x 3), which has the forces of the planes where they were linearised in it. They are marked as
   they press where the step ends. `roughly`: see sn_multifrontal_solve_roughly. */
SnStatus sn_border_step_find(SnContext *context, SnBorderStep *step, SnMultifrontal *factor, const SnBorder *border, SnPlanes *planes,
                             int roughly, const double *b, double *x);

/* Adds the planes, as they were linearised last, to the factor's border, which is open. */
void sn_border_step_stiffen(const SnBorder *border, const SnPlanes *planes, float *matrix);

#endif
