/* Dense single-precision kernels of the multifrontal factorization. Matrices are column-major and need no padding, but their memory
   must be readable SN_PANEL_SLACK floats past the end: tiles are loaded whole. */
#ifndef SN_MATH_DENSE_PANEL_H
#define SN_MATH_DENSE_PANEL_H

#include <stddef.h>
#include <stdint.h>

#define SN_PANEL_SLACK 64
#define SN_VECTOR_SLACK 16
#define SN_ROUNDED_BLOCK 8

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

/* A factorized panel in 16 bits: half as much to read in a solution, which does little else. L[i, j] is scale[j] times the lower
   (j even) or upper (odd) half of pairs[i, j / 2]; of the triangles on the diagonal, SN_ROUNDED_BLOCK wide, there is the inverse
   instead, so that no entry of a solution waits for the one before. */
typedef struct SnRoundedPanel {
    size_t height, width;
    float *inverse; /* width, rounded up to blocks, x SN_ROUNDED_BLOCK */
    float *scale;   /* width; SN_ROUNDED_BLOCK more are read */
    int32_t *pairs; /* height x half the width, rounded up; half a block more is read */
} SnRoundedPanel;

void sn_panel_round(const SnRoundedPanel *panel, const float *exact);

/* The same as sn_panel_forward. Behind x is room for SN_VECTOR_SLACK more, where anything may be left. */
void sn_rounded_forward(const SnRoundedPanel *panel, float *x);

/* The same as sn_panel_backward. Behind x are SN_VECTOR_SLACK zeros. */
void sn_rounded_backward(const SnRoundedPanel *panel, float *x);

#endif
