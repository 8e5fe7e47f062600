/* A symmetric positive definite matrix in single precision whose unknowns fall into parts, most of which know nothing of each other: bodies in
   a pile. Each part is one dense panel: its columns, and below them the rows of the later parts that it reaches, those included that its
   elimination joins to it. With one part it is a dense matrix.

   Parts are eliminated in an order of little fill, and unknowns are numbered in it: the caller's part p has those from start[p] on. */
#ifndef SN_MATH_PART_MATRIX_H
#define SN_MATH_PART_MATRIX_H

#include "base/context.h"

#include <stdint.h>

typedef struct SnPartMatrix {
    size_t count, size; /* parts; unknowns */
    size_t *start;      /* count: of the caller's parts; owned, as all arrays */
    /* In the order of elimination: */
    size_t *first;      /* count + 1: the unknowns of each */
    size_t *panel;      /* count + 1: where its panel is in `values`, column by column */
    size_t *height;     /* count */
    int32_t *row;       /* count x count: where in the panel of the first the rows of the second are, or -1 */
    int32_t *part;      /* size: which one each unknown is in */
    float *values;      /* the lower triangle */
    float *factor;      /* the same of what is to be factorized, and then its factor */
    float *diagonal, *vector, *update;
    unsigned char *joins;
    size_t start_room, first_room, panel_room, height_room, row_room, part_room, values_room, factor_room, diagonal_room, vector_room,
        update_room, joins_room;
} SnPartMatrix;

void sn_part_matrix_clear(SnPartMatrix *matrix); /* a zeroed one is empty */

/* Of so many parts with so many unknowns each, all values 0; joins (count x count, both ways): which of them have entries in common. */
SnStatus sn_part_matrix_shape(SnContext *context, SnPartMatrix *matrix, size_t count, const size_t *sizes, const unsigned char *joins);

/* Where the entry of a row and a column, that are joined and row >= column, is in `values` and in `factor`; one column on it is `height` further. */
static inline size_t sn_part_matrix_place(const SnPartMatrix *m, size_t row, size_t column)
{
    size_t across = (size_t)m->part[column], down = (size_t)m->part[row];
    return m->panel[across] + (column - m->first[across]) * m->height[across] + (size_t)m->row[across * m->count + down] + row - m->first[down];
}

static inline size_t sn_part_matrix_height(const SnPartMatrix *m, size_t column)
{
    return m->height[m->part[column]];
}

/* product = A x by `values`. */
void sn_part_matrix_multiply(const SnPartMatrix *matrix, const double *x, double *product);

/* `factor`, which has the values of a matrix, becomes its Cholesky factor. Returns how many pivots rounding has eaten up: they are replaced by
   those of the matrix. */
int sn_part_matrix_factorize(SnPartMatrix *matrix);

/* x = A⁻¹ x by the factor. */
void sn_part_matrix_solve(SnPartMatrix *matrix, float *x);

#endif
