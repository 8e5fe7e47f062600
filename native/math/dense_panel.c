/* One tile of two registers x 6 does all the work: its twelve accumulators stay in registers (there are at least 16), and because panels
   are column-major, both of its operands are read in runs, with no packing. */
#include "math/dense_panel.h"

#include "math/batch3.h"

#include <math.h>

/* a product and a sum in one instruction: twice as fast, and rounding does not matter to a preconditioner */
#pragma GCC optimize("fp-contract=fast")

#define ROWS SN_FLOATS
#define COLUMNS 6
#define STEPS 32766.0f /* of a rounded entry, either way */
#define AHEAD 2048 /* words: what a solution reads is asked for at least as much earlier */
#define BLOCK SN_ROUNDED_BLOCK
#define LOST 3e-6f /* a pivot that has lost all its digits: what is left of its diagonal is rounding */

_Static_assert(2 * ROWS <= SN_PANEL_SLACK && BLOCK <= SN_VECTOR_SLACK, "tiles are read whole");

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

/* All tiles from row `begin` to `end` of one block of columns: c is at row `begin`, column 0 of the block. */
INLINE void subtract_rows(int overwrite, size_t depth, size_t ld, const float *a, const float *b, size_t rows, size_t columns, size_t ldc,
                          float *c)
{
    size_t i = 0;
    for (; i + ROWS < rows; i += 2 * ROWS) {
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

int sn_panel_factorize(size_t height, size_t width, const float *diagonal, float *panel)
{
    int replaced = 0;
    for (size_t j = 0; j < width; j += COLUMNS) {
        size_t columns = at_most(width - j, COLUMNS);
        subtract_rows(0, j, height, panel + j, panel + j, height - j, columns, height, panel + j * height + j);
        float *square = panel + j * height + j, inverse[COLUMNS];
        replaced += factorize_square(columns, height, diagonal + j, square, inverse);
        solve_rows(columns, height, square, inverse, height - j - columns, square + columns);
    }
    return replaced;
}

void sn_panel_update(size_t height, size_t width, const float *panel, float *update)
{
    size_t below = height - width;
    const float *rows = panel + width;
    for (size_t j = 0; j < below; j += COLUMNS) {
        subtract_rows(1, width, height, rows + j, rows + j, below - j, at_most(below - j, COLUMNS), below, update + j * below + j);
    }
}

void sn_panel_forward(size_t height, size_t width, const float *panel, float *x)
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

void sn_panel_backward(size_t height, size_t width, const float *panel, float *x)
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

/* Inverse (column-major, zero beyond `columns`) of the triangle at the top of a block of columns. */
INLINE void invert_triangle(size_t columns, size_t ld, const float *l, float inverse[BLOCK * BLOCK])
{
    for (size_t j = 0; j < BLOCK; j++) {
        for (size_t i = 0; i < BLOCK; i++) {
            float sum = i == j ? 1.0f : 0.0f;
            for (size_t k = j; k < i && i < columns; k++) {
                sum -= l[k * ld + i] * inverse[j * BLOCK + k];
            }
            inverse[j * BLOCK + i] = i >= j && i < columns ? sum / l[i * ld + i] : 0.0f;
        }
    }
}

typedef int32_t RowBits __attribute__((vector_size(ROWS * sizeof(int32_t)), aligned(sizeof(int32_t))));

/* The largest magnitude from row `begin` to `end` of a column. */
INLINE float largest_entry(size_t begin, size_t end, const float *column)
{
    Rows most = {0.0f};
    float largest = 0.0f;
    for (; begin + ROWS <= end; begin += ROWS) {
        Rows size = (Rows)((RowBits) * (const Rows *)(column + begin) & INT32_MAX);
        RowBits larger = size > most;
        most = (Rows)((larger & (RowBits)size) | (~larger & (RowBits)most));
    }
    for (; begin < end; begin++) {
        largest = fabsf(column[begin]) > largest ? fabsf(column[begin]) : largest;
    }
    for (int lane = 0; lane < ROWS; lane++) {
        largest = most[lane] > largest ? most[lane] : largest;
    }
    return largest;
}

void sn_panel_round(const SnRoundedPanel *panel, const float *exact)
{
    size_t height = panel->height, width = panel->width;
    for (size_t j = 0; j < width; j++) {
        size_t first = j / BLOCK * BLOCK, below = at_most(first + BLOCK, width);
        const float *column = exact + j * height;
        if (j == first) {
            invert_triangle(below - first, height, column + j, panel->inverse + first * BLOCK);
        }
        float largest = largest_entry(below, height, column), up = largest > 0.0f ? STEPS / largest : 0.0f;
        uint32_t *to = (uint32_t *)panel->pairs + j / 2 * height;
        panel->scale[j] = largest / STEPS;
        for (size_t i = below; i < height; i++) { /* made positive for a while: cutting off then rounds, and what is no number becomes one */
            float shifted = up * column[i] + (STEPS + 1.5f);
            shifted = shifted > 0.0f ? shifted : 0.0f;
            shifted = shifted < 2.0f * STEPS + 2.0f ? shifted : 2.0f * STEPS + 2.0f;
            uint32_t rounded = (uint32_t)((int32_t)shifted - (int32_t)(STEPS + 1.0f));
            to[i] = j % 2 == 0 ? rounded & 0xffff : to[i] | rounded << 16;
        }
    }
}

typedef float Eight __attribute__((vector_size(BLOCK * sizeof(float)), aligned(sizeof(float))));
typedef int32_t EightWords __attribute__((vector_size(BLOCK * sizeof(int32_t)), aligned(sizeof(int32_t))));

/* Macros, because the compiler would take functions apart for the baseline before it inlines them. */
#define LEFT_OF(pairs, Floats) __builtin_convertvector((pairs) << 16 >> 16, Floats)
#define RIGHT_OF(pairs, Floats) __builtin_convertvector((pairs) >> 16, Floats)

/* out = the sum of each of eight vectors: neighbours, then pairs, then halves. */
#define SUM_EACH(v, out)                                                                              \
    do {                                                                                              \
        Eight pair_[4], four_[2];                                                                     \
        for (int k_ = 0; k_ < 4; k_++) {                                                              \
            Eight a_ = (v)[2 * k_], b_ = (v)[2 * k_ + 1];                                             \
            pair_[k_] = __builtin_shufflevector(a_, b_, 0, 8, 2, 10, 4, 12, 6, 14) +                  \
                        __builtin_shufflevector(a_, b_, 1, 9, 3, 11, 5, 13, 7, 15);                   \
        }                                                                                             \
        for (int k_ = 0; k_ < 2; k_++) {                                                              \
            Eight a_ = pair_[2 * k_], b_ = pair_[2 * k_ + 1];                                         \
            four_[k_] = __builtin_shufflevector(a_, b_, 0, 1, 8, 9, 4, 5, 12, 13) +                   \
                        __builtin_shufflevector(a_, b_, 2, 3, 10, 11, 6, 7, 14, 15);                  \
        }                                                                                             \
        (out) = __builtin_shufflevector(four_[0], four_[1], 0, 1, 2, 3, 8, 9, 10, 11) +               \
                __builtin_shufflevector(four_[0], four_[1], 4, 5, 6, 7, 12, 13, 14, 15);              \
    } while (0)

/* As much of a block as one register holds, so that the sums of all eight columns stay in registers. */
#define PART (SN_FLOATS < BLOCK ? SN_FLOATS : BLOCK)
typedef float Part __attribute__((vector_size(PART * sizeof(float)), aligned(sizeof(float))));
typedef int32_t PartWords __attribute__((vector_size(PART * sizeof(int32_t)), aligned(sizeof(int32_t))));

#if PART == BLOCK
#define SUM_PARTS(v, out) SUM_EACH(v, out)
#else
#define SUM_PARTS(v, out)                                                                                               \
    do {                                                                                                                \
        Part half_[2];                                                                                                  \
        for (int h_ = 0; h_ < 2; h_++) {                                                                                \
            Part a_ = (v)[4 * h_], b_ = (v)[4 * h_ + 1], c_ = (v)[4 * h_ + 2], d_ = (v)[4 * h_ + 3];                    \
            Part ab_ = __builtin_shufflevector(a_, b_, 0, 4, 2, 6) + __builtin_shufflevector(a_, b_, 1, 5, 3, 7);       \
            Part cd_ = __builtin_shufflevector(c_, d_, 0, 4, 2, 6) + __builtin_shufflevector(c_, d_, 1, 5, 3, 7);       \
            half_[h_] = __builtin_shufflevector(ab_, cd_, 0, 1, 4, 5) + __builtin_shufflevector(ab_, cd_, 2, 3, 6, 7);  \
        }                                                                                                               \
        (out) = __builtin_shufflevector(half_[0], half_[1], 0, 1, 2, 3, 4, 5, 6, 7);                                    \
    } while (0)
#endif

/* How many words before their use entries are asked for: some blocks, because within one they are not read in order. */
INLINE size_t blocks_ahead(size_t height)
{
    size_t block = BLOCK / 2 * height;
    return (AHEAD + block - 1) / block * block;
}

/* Blocks of columns, the last one filled up with what comes next in memory: its solution there is zero. */
void sn_rounded_forward(const SnRoundedPanel *panel, float *x)
{
    size_t height = panel->height, width = panel->width, ahead = blocks_ahead(height);
    for (size_t j = 0; j < width; j += BLOCK) {
        size_t columns = at_most(width - j, BLOCK);
        const int32_t *pairs = panel->pairs + j / 2 * height;
        const Eight *inverse = (const Eight *)(panel->inverse + j * BLOCK);
        Eight one = inverse[0] * x[j], two = inverse[1] * x[j + 1];
        for (size_t k = 2; k < BLOCK; k += 2) {
            one += inverse[k] * x[j + k];
            two += inverse[k + 1] * x[j + k + 1];
        }
        Eight solved = one + two, scaled = solved * *(const Eight *)(panel->scale + j);
        for (size_t k = 0; k < columns; k++) {
            x[j + k] = solved[k];
        }
        for (size_t i = j + columns; i < height; i += BLOCK) {
            Eight rest = *(const Eight *)(x + i);
            __builtin_prefetch(pairs + BLOCK / 2 * i + ahead, 0, 2);
            __builtin_prefetch(pairs + BLOCK / 2 * i + ahead + 16, 0, 2);
            for (size_t k = 0; k < BLOCK / 2; k++) {
                EightWords both = *(const EightWords *)(pairs + k * height + i);
                rest -= LEFT_OF(both, Eight) * scaled[2 * k];
                rest -= RIGHT_OF(both, Eight) * scaled[2 * k + 1];
            }
            *(Eight *)(x + i) = rest;
        }
    }
}

void sn_rounded_backward(const SnRoundedPanel *panel, float *x)
{
    size_t height = panel->height, width = panel->width, ahead = blocks_ahead(height);
    for (size_t j = (width + BLOCK - 1) / BLOCK * BLOCK; j > 0;) {
        j -= BLOCK;
        size_t columns = at_most(width - j, BLOCK);
        const int32_t *pairs = panel->pairs + j / 2 * height;
        const Eight *inverse = (const Eight *)(panel->inverse + j * BLOCK);
        Part parts[BLOCK] = {{0.0f}};
        Eight products[BLOCK], sum, solved;
        for (size_t i = j + columns; i < height; i += PART) {
            Part here = *(const Part *)(x + i);
            __builtin_prefetch(pairs + BLOCK / 2 * i - ahead, 0, 2);
            __builtin_prefetch(pairs + BLOCK / 2 * i - ahead + 16, 0, 2);
            for (size_t k = 0; k < BLOCK / 2; k++) {
                PartWords both = *(const PartWords *)(pairs + k * height + i);
                parts[2 * k] += LEFT_OF(both, Part) * here;
                parts[2 * k + 1] += RIGHT_OF(both, Part) * here;
            }
        }
        SUM_PARTS(parts, sum);
        sum = *(const Eight *)(x + j) - *(const Eight *)(panel->scale + j) * sum;
        for (size_t k = 0; k < BLOCK; k++) {
            products[k] = inverse[k] * sum;
        }
        SUM_EACH(products, solved);
        for (size_t k = 0; k < columns; k++) {
            x[j + k] = solved[k];
        }
    }
}
