/* A symmetric sparse matrix of 3x3 blocks over points. The pattern is fixed; the values are the lower triangle in compressed
   scalar columns, the form that the linear solver takes without a copy. */
#ifndef SN_MATH_BLOCK_MATRIX_H
#define SN_MATH_BLOCK_MATRIX_H

#include "base/context.h"

#include <stdint.h>

typedef struct SnBlockPattern {
    size_t size;           /* blocks per side */
    size_t row_count;      /* the last so many of them are rows that hold, [H Cᵀ; C -δ]: their diagonal is negative */
    size_t block_count;    /* blocks in the lower triangle, diagonal included */
    int32_t *column_start; /* size + 1: blocks of each block column; owned */
    int32_t *rows;         /* block_count: rising in each column, the diagonal first; owned */
    int32_t *columns;      /* block_count; owned */
    size_t value_count;    /* scalars in the lower triangle */
    int32_t *value_start;  /* 3 * size + 1: scalar columns; owned */
    int32_t *value_rows;   /* value_count: scalar row of each value; owned */
} SnBlockPattern;

/* Elements of one shape: what each of them couples. */
typedef struct SnStencils {
    size_t count;
    int corners;             /* of each */
    const int32_t *vertices; /* count x corners; not owned */
    size_t first;            /* what their numbers count from: 0 unless they are one body's among others */
} SnStencils;

/* `lists`: list_count lists of elements; `unknown[v]`: index of the unknown of vertex v, or -1 when it is eliminated.
   Two unknowns of one element get a block. `size` unknowns in all. */
SnStatus sn_block_pattern_init(SnContext *context, size_t list_count, const SnStencils *lists, const int32_t *unknown,
                               size_t size, SnBlockPattern *pattern);
void sn_block_pattern_clear(SnBlockPattern *pattern);

/* The same pattern with so many rows behind it and further blocks: couples row >= column, as keys column * size + row by the new size, rising, each once;
   rows that are added need their diagonal among them. `place` (block_count) receives where each block of the pattern is in it. */
SnStatus sn_block_pattern_extend(SnContext *context, const SnBlockPattern *pattern, size_t row_count, size_t couple_count, const int64_t *couples,
                                 SnBlockPattern *extended, int32_t *place);

/* Values on a pattern as values on one that was extended from it; the further blocks are zero. */
void sn_block_pattern_carry(const SnBlockPattern *pattern, const SnBlockPattern *extended, const int32_t *place, const double *values,
                            double *carried);

/* Which of two couples comes first, for qsort. */
int sn_block_pattern_compare(const void *left, const void *right);

/* Index of the block at (row, column), row >= column; -1 when the pattern has none. */
int32_t sn_block_pattern_find(const SnBlockPattern *pattern, int32_t row, int32_t column);

/* Position in the value array of scalar (i, j) of a block; in a diagonal block i >= j. */
static inline int32_t sn_block_pattern_value(const SnBlockPattern *pattern, int32_t block, int i, int j)
{
    int32_t column = pattern->columns[block];
    int32_t place = block - pattern->column_start[column];
    int32_t start = pattern->value_start[3 * column + j];
    return place == 0 ? start + i - j : start + 3 - j + 3 * (place - 1) + i;
}

/* y = A x, both 3 * size. */
void sn_block_matrix_multiply(const SnBlockPattern *pattern, const double *values, const double *x, double *y);

/* The same for a matrix with one scalar a block (block_count), that acts on x, y and z alike. */
void sn_block_matrix_multiply_scalar(const SnBlockPattern *pattern, const double *values, const double *x, double *y);

#endif
