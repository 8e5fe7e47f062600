/* Small vibrations about a shape: the stiffness of a world there, and its lowest modes. */
#ifndef SN_DYNAMICS_MODES_H
#define SN_DYNAMICS_MODES_H

#include "dynamics/world.h"

/* values (the assembly's pattern) = projected stiffness at `positions` (vertices x 3). `blocks` (those of the world's
   terms, see energy/term.h) receives that of each element; may be null. */
SnStatus sn_modes_stiffness(SnContext *context, const SnWorld *world, const double *positions, double *blocks, double *values);

/* The `count` lowest squared angular frequencies (rad²/s²), rising, of small swings about `positions`, with their shapes `vectors`
   (count x 3 unknowns, rows normalised to xᵀ M x = 1; may be null). Of a body that nothing holds the first six are rigid and 0. */
SnStatus sn_modes_find(SnContext *context, const SnWorld *world, const double *positions, int count, double *squared, double *vectors);

#endif
