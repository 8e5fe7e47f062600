/* Rows that hold as nodes of the factor: the matrix [H Cᵀ; C -δ], whose solutions leave C x as it is. A row comes after the last of its points, so that
   it costs next to nothing where rows are of regions, and as many as are wanted (math/multifrontal.c). */
#ifndef SN_DYNAMICS_SADDLE_H
#define SN_DYNAMICS_SADDLE_H

#include "dynamics/constraints.h"

typedef struct SnSaddle {
    SnBlockPattern pattern; /* that of H, and the rows; owned, as all arrays */
    int32_t *place;         /* where each block of H is in it */
    int32_t *entry_block;   /* entries of the rows: their blocks */
    double *values;
} SnSaddle;

/* Of rows that act on x, y and z alike: the constraints' over the unknowns. `pattern`: that of H. */
SnStatus sn_saddle_init(SnContext *context, const SnBlockPattern *pattern, const SnConstraints *constraints, SnSaddle *saddle);
void sn_saddle_clear(SnSaddle *saddle);

/* From the values of H, and its mean diagonals (unknowns); rows hold as the constraints have them now. */
void sn_saddle_fill(SnSaddle *saddle, const SnBlockPattern *pattern, const SnConstraints *constraints, const double *values, const double *hardness);

#endif
