/* The step of bodies that touch. With the elastic part of an energy taken as quadratic, all else can be eliminated but the border that the planes
   hang on (math/border.h); what is left there,

     1/2 uᵀ S u - bᵀ u + planes(w + W u),

   is convex and small, and is minimised as it is: which planes press, and which of them slide, is found there, round after round on a
   small matrix (math/part_matrix.h: dense in each piece of the body), and not by steps of the whole. So a step of the whole is one of its elastic
   part alone. */
#ifndef SN_DYNAMICS_BORDER_STEP_H
#define SN_DYNAMICS_BORDER_STEP_H

#include "dynamics/planes.h"
#include "math/multifrontal.h"
#include "math/part_matrix.h"

/* Where the border is. Arrays are not owned. */
typedef struct SnBorder {
    size_t count;            /* points, */
    const int32_t *place;    /* unknowns: each one's among them, or -1 */
    const int32_t *pieces;   /* count: which piece of the body each is in, no element joins two of them; null: all in one */
    const double *rotations; /* unknowns x 9: how the body has turned since the factor was made; null: it has not */
} SnBorder;

/* A piece of the border: bodies that only touch are one each. */
typedef struct SnBorderPiece {
    size_t first, count;  /* of `order` */
    size_t untouched;     /* so many come first */
    size_t panel;         /* where the factor of those begins: 3 count x 3 untouched */
    size_t next[2];
} SnBorderPiece;

/* Points of the border that no plane hangs on are eliminated too, once for all steps with the same planes. */
typedef struct SnBorderStep {
    int is_known;      /* what was eliminated last is that of the factor in hand */
    size_t count;      /* points of the border */
    size_t piece_count, panel_size, most_touched;
    SnBorderPiece *pieces; /* owned, as all arrays */
    int32_t *order;    /* border: piece by piece, in each those first that no plane hangs on */
    int32_t *number;   /* border: which each is among the points of the matrix, or -1 */
    float *panel;      /* the factors of the others */
    SnPartMatrix matrix; /* S, and with the planes */
    size_t *sizes;
    unsigned char *joins; /* of its parts */
    float *work;       /* of one piece: what is left of its touched points */
    float *vector, *diagonal, *solved; /* 3 count; 3 touched */
    double *right, *u, *move, *product, *product_move, *residual; /* 3 touched */
    size_t pieces_room, order_room, number_room, panel_room, sizes_room, joins_room, work_room, vector_room, diagonal_room, solved_room,
        numbers_room;
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
