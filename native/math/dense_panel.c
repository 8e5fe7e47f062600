/* One tile of 16 x 6 does all the work: its accumulators stay in registers, and because panels are column-major, both of its
   operands are read in runs, with no packing. */
#include "math/dense_panel.h"

#include "math/batch3.h"

#include <math.h>

/* a product and a sum in one instruction: twice as fast, and rounding does not matter to a preconditioner */
#pragma GCC optimize("fp-contract=fast")

#define ROWS 16
#define COLUMNS 6
#define LOST 3e-6f /* a pivot that has lost all its digits: what is left of its diagonal is rounding */

typedef float Rows __attribute__((vector_size(ROWS * sizeof(float)), aligned(sizeof(float))));

#define INLINE static inline __attribute__((always_inline))

/* c (rows x columns of it, leading dimension ldc), or zero with `overwrite`, -= sum over k < depth of a[:, k] b[:, k]ᵀ; a and b have leading dimension `ld`.
   `stack` tiles (a constant) on top of each other share the loads of b. */
INLINE void subtract_tile(int stack, int overwrite, size_t depth, size_t ld, const float *a, const float *b, size_t rows, size_t columns, size_t ldc,
                          float *c)
{
    Rows sum[COLUMNS][2];
    for (int j = 0; j < COLUMNS; j++) {
        sum[j][0] = sum[j][1] = (Rows){0.0f};
    }
    for (size_t k = 0; k < depth; k++, a += ld, b += ld) {
        for (int j = 0; j < COLUMNS; j++) {
            for (int s = 0; s < stack; s++) {
                sum[j][s] += ((const Rows *)a)[s] * b[j];
            }
        }
    }
    for (size_t j = 0; j < columns; j++, c += ldc) {
        if (rows == (size_t)stack * ROWS) {
            for (int s = 0; s < stack; s++) {
                ((Rows *)c)[s] = overwrite ? -sum[j][s] : ((Rows *)c)[s] - sum[j][s];
            }
        } else {
            const float *sums = (const float *)sum[j];
            for (size_t i = 0; i < rows; i++) {
                c[i] = (overwrite ? 0.0f : c[i]) - sums[i];
            }
        }
    }
}

/* All tiles from row `begin` to `end` of one block of columns: c is at row `begin`, column 0 of the block. Registers of 64 bytes are
   many enough for two tiles at once. */
INLINE void subtract_rows(int wide, int overwrite, size_t depth, size_t ld, const float *a, const float *b, size_t rows, size_t columns, size_t ldc,
                          float *c)
{
    size_t i = 0;
    for (; wide && i + ROWS < rows; i += 2 * ROWS) {
        subtract_tile(2, overwrite, depth, ld, a + i, b, rows - i < 2 * ROWS ? rows - i : 2 * ROWS, columns, ldc, c + i);
    }
    for (; i < rows; i += ROWS) {
        subtract_tile(1, overwrite, depth, ld, a + i, b, rows - i < ROWS ? rows - i : ROWS, columns, ldc, c + i);
    }
}

INLINE size_t at_most(size_t value, size_t limit)
{
    return value < limit ? value : limit;
}

/* Cholesky of the square at the top of a block of columns whose earlier columns are already subtracted. */
INLINE int factorize_square(size_t columns, size_t ld, const float *diagonal, float *a, float inverse[COLUMNS])
{
    int replaced = 0;
    for (size_t j = 0; j < columns; j++) {
        for (size_t i = j; i < columns; i++) {
            for (size_t k = 0; k < j; k++) {
                a[j * ld + i] -= a[k * ld + i] * a[k * ld + j];
            }
        }
        int lost = !(a[j * ld + j] > LOST * diagonal[j]);
        float pivot = sqrtf(lost ? diagonal[j] : a[j * ld + j]);
        replaced += lost;
        a[j * ld + j] = pivot;
        inverse[j] = 1.0f / pivot;
        for (size_t i = j + 1; i < columns; i++) {
            a[j * ld + i] *= inverse[j];
        }
    }
    return replaced;
}

/* The rows below the square `l`, `rows` of them at `a`: a <- a L⁻ᵀ. */
INLINE void solve_rows(size_t columns, size_t ld, const float *l, const float inverse[COLUMNS], size_t rows, float *a)
{
    size_t i = 0;
    for (; columns == COLUMNS && i + ROWS <= rows; i += ROWS) {
        Rows x[COLUMNS];
        for (int j = 0; j < COLUMNS; j++) {
            x[j] = *(const Rows *)(a + (size_t)j * ld + i);
            for (int k = 0; k < j; k++) {
                x[j] -= x[k] * l[(size_t)k * ld + (size_t)j];
            }
            x[j] *= inverse[j];
            *(Rows *)(a + (size_t)j * ld + i) = x[j];
        }
    }
    for (; i < rows; i++) {
        for (size_t j = 0; j < columns; j++) {
            float value = a[j * ld + i];
            for (size_t k = 0; k < j; k++) {
                value -= a[k * ld + i] * l[k * ld + j];
            }
            a[j * ld + i] = value * inverse[j];
        }
    }
}

SN_HOT int sn_panel_factorize(size_t height, size_t width, const float *diagonal, float *panel)
{
    int replaced = 0, wide = SN_HAS_WIDE_REGISTERS;
    for (size_t j = 0; j < width; j += COLUMNS) {
        size_t columns = at_most(width - j, COLUMNS);
        subtract_rows(wide, 0, j, height, panel + j, panel + j, height - j, columns, height, panel + j * height + j);
        float *square = panel + j * height + j, inverse[COLUMNS];
        replaced += factorize_square(columns, height, diagonal + j, square, inverse);
        solve_rows(columns, height, square, inverse, height - j - columns, square + columns);
    }
    return replaced;
}

SN_HOT void sn_panel_update(size_t height, size_t width, const float *panel, float *update)
{
    size_t below = height - width;
    const float *rows = panel + width;
    int wide = SN_HAS_WIDE_REGISTERS;
    for (size_t j = 0; j < below; j += COLUMNS) {
        subtract_rows(wide, 1, width, height, rows + j, rows + j, below - j, at_most(below - j, COLUMNS), below, update + j * below + j);
    }
}

SN_HOT void sn_panel_forward(size_t height, size_t width, const float *panel, float *x)
{
    for (size_t j = 0; j < width; j++) {
        const float *column = panel + j * height;
        float solved = x[j] / column[j];
        x[j] = solved;
        for (size_t i = j + 1; i < height; i++) {
            x[i] -= column[i] * solved;
        }
    }
}

/* Sums of the products of x with four columns from row `begin` on. */
INLINE void dot_columns(size_t begin, size_t end, size_t height, const float *columns, const float *x, float out[4])
{
    Rows sum[4] = {{0.0f}};
    size_t i = begin;
    for (; i + ROWS <= end; i += ROWS) {
        Rows at = *(const Rows *)(x + i);
        for (size_t k = 0; k < 4; k++) {
            sum[k] += at * *(const Rows *)(columns + k * height + i);
        }
    }
    for (size_t k = 0; k < 4; k++) {
        out[k] = 0.0f;
        for (int lane = 0; lane < ROWS; lane++) {
            out[k] += sum[k][lane];
        }
        for (size_t rest = i; rest < end; rest++) {
            out[k] += x[rest] * columns[k * height + rest];
        }
    }
}

SN_HOT void sn_panel_backward(size_t height, size_t width, const float *panel, float *x)
{
    size_t j = width;
    for (; j % 4 != 0; j--) {
        const float *column = panel + (j - 1) * height;
        float value = x[j - 1];
        for (size_t i = j; i < height; i++) {
            value -= column[i] * x[i];
        }
        x[j - 1] = value / column[j - 1];
    }
    for (; j > 0; j -= 4) {
        const float *columns = panel + (j - 4) * height;
        float sums[4];
        dot_columns(j, height, height, columns, x, sums);
        for (size_t k = 4; k-- > 0;) {
            const float *column = columns + k * height;
            float value = x[j - 4 + k] - sums[k];
            for (size_t i = k + 1; i < 4; i++) {
                value -= column[j - 4 + i] * x[j - 4 + i];
            }
            x[j - 4 + k] = value / column[j - 4 + k];
        }
    }
}
