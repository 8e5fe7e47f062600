/* The shape of a factor (SnSupernodes) in which some points come last, as one panel: the border. What is left of the matrix there when all
   else is eliminated can be added to and factorized again and again, while the rest of the factor is kept. */
#ifndef SN_MATH_BORDER_H
#define SN_MATH_BORDER_H

#include "math/linear_solver.h"

/* `order`: all points of the pattern in an order of little fill, which what is not of the border keeps in essence; `border`: points, each once.
   The last panel is the border, in its order; there is one even where nothing else reaches it. Rows that hold have panels of their own. */
SnStatus sn_border_shape(SnContext *context, const SnBlockPattern *pattern, const int32_t *order, size_t border_count,
                         const int32_t *border, SnSupernodes *shape);

#endif
