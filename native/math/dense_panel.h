/* Dense single-precision kernels of the multifrontal factorization. Matrices are column-major and need no padding, but their memory
   must be readable SN_PANEL_SLACK floats past the end: tiles are loaded whole. */
#ifndef SN_MATH_DENSE_PANEL_H
#define SN_MATH_DENSE_PANEL_H

#include <stddef.h>

#define SN_PANEL_SLACK 64

/* Factorizes the first `width` columns of a symmetric matrix, given as the panel (height x width) of its lower triangle, in place. A
   pivot that rounding has eaten up is replaced by `diagonal` (width), that of the whole matrix: the factor then belongs to a
   stiffer matrix, and stays positive definite. Returns how many were replaced. */
int sn_panel_factorize(size_t height, size_t width, const float *diagonal, float *panel);

/* update (height - width square, lower triangle) = -L21 L21ᵀ of a factorized panel. */
void sn_panel_update(size_t height, size_t width, const float *panel, float *update);

/* x (height): the first `width` entries are solved with L11, the others reduced by L21 times those. */
void sn_panel_forward(size_t height, size_t width, const float *panel, float *x);

/* x (height): the first `width` entries become L11⁻ᵀ (x1 - L21ᵀ x2). */
void sn_panel_backward(size_t height, size_t width, const float *panel, float *x);

#endif
