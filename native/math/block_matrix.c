#include "math/block_matrix.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

int sn_block_pattern_compare(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Room for the keys of all lists with repetitions: each pair of corners, and the diagonal. */
static size_t count_keys(size_t list_count, const SnStencils *lists, size_t size)
{
    size_t count = size;
    for (size_t t = 0; t < list_count; t++) {
        count += lists[t].count * (size_t)(lists[t].corners * (lists[t].corners - 1) / 2);
    }
    return count;
}

/* Sorted unique keys column * size + row of all lower blocks. Returns how many. */
static size_t collect_keys(size_t list_count, const SnStencils *lists, const int32_t *unknown, size_t size, int64_t *keys)
{
    size_t filled = 0;
    for (size_t i = 0; i < size; i++) {
        keys[filled++] = (int64_t)(i * size + i);
    }
    for (const SnStencils *list = lists; list < lists + list_count; list++) {
        const int32_t *own = unknown + list->first;
        for (size_t e = 0; e < list->count; e++) {
            const int32_t *corners = list->vertices + e * (size_t)list->corners;
            for (int a = 0; a < list->corners; a++) {
                for (int b = a + 1; b < list->corners; b++) {
                    int64_t i = own[corners[a]], j = own[corners[b]];
                    if (i >= 0 && j >= 0) {
                        int64_t row = i > j ? i : j, column = i > j ? j : i;
                        keys[filled++] = column * (int64_t)size + row;
                    }
                }
            }
        }
    }
    qsort(keys, filled, sizeof *keys, sn_block_pattern_compare);
    size_t unique = 0;
    for (size_t k = 0; k < filled; k++) {
        if (k == 0 || keys[k] != keys[k - 1]) {
            keys[unique++] = keys[k];
        }
    }
    return unique;
}

static void fill_scalar_columns(SnBlockPattern *pattern)
{
    int32_t next = 0;
    for (size_t column = 0; column < pattern->size; column++) {
        for (int j = 0; j < 3; j++) {
            pattern->value_start[3 * column + (size_t)j] = next;
            for (int32_t block = pattern->column_start[column]; block < pattern->column_start[column + 1]; block++) {
                int first = pattern->rows[block] == (int32_t)column ? j : 0;
                for (int i = first; i < 3; i++) {
                    pattern->value_rows[next++] = 3 * pattern->rows[block] + i;
                }
            }
        }
    }
    pattern->value_start[3 * pattern->size] = next;
}

/* Room for the blocks, and then what follows from their sorted keys. */
static SnStatus fill_pattern(SnContext *context, size_t size, size_t blocks, const int64_t *keys, SnBlockPattern *pattern)
{
    SnStatus status = SN_OK;
    *pattern = (SnBlockPattern){.size = size};
    if (blocks > INT32_MAX / 9) {
        status = sn_context_fail(context, SN_BAD_INPUT, "The cage is too large to solve: lower the resolution.");
        goto cleanup;
    }
    pattern->block_count = blocks;
    pattern->value_count = 9 * blocks - 3 * size;
    SN_TRY_NEW(context, pattern->column_start, size + 1, int32_t);
    SN_TRY_NEW(context, pattern->rows, blocks, int32_t);
    SN_TRY_NEW(context, pattern->columns, blocks, int32_t);
    SN_TRY_NEW(context, pattern->value_start, 3 * size + 1, int32_t);
    SN_TRY_NEW(context, pattern->value_rows, pattern->value_count, int32_t);
    for (size_t k = 0; k < blocks; k++) {
        pattern->columns[k] = (int32_t)(keys[k] / (int64_t)size);
        pattern->rows[k] = (int32_t)(keys[k] % (int64_t)size);
        pattern->column_start[pattern->columns[k] + 1] = (int32_t)k + 1;
    }
    fill_scalar_columns(pattern);
cleanup:
    if (status != SN_OK) {
        sn_block_pattern_clear(pattern);
    }
    return status;
}

SnStatus sn_block_pattern_init(SnContext *context, size_t list_count, const SnStencils *lists, const int32_t *unknown,
                               size_t size, SnBlockPattern *pattern)
{
    SnStatus status = SN_OK;
    int64_t *keys = NULL;
    *pattern = (SnBlockPattern){0};
    SN_TRY_NEW(context, keys, count_keys(list_count, lists, size), int64_t);
    SN_TRY(fill_pattern(context, size, collect_keys(list_count, lists, unknown, size, keys), keys, pattern));
cleanup:
    sn_release(keys);
    return status;
}

SnStatus sn_block_pattern_extend(SnContext *context, const SnBlockPattern *pattern, size_t row_count, size_t couple_count, const int64_t *couples,
                                 SnBlockPattern *extended, int32_t *place)
{
    SnStatus status = SN_OK;
    int64_t *keys = NULL;
    size_t filled = 0, next = 0, size = pattern->size + row_count;
    *extended = (SnBlockPattern){0};
    SN_TRY_NEW(context, keys, pattern->block_count + couple_count, int64_t);
    for (size_t k = 0; k < pattern->block_count; k++) {
        int64_t key = pattern->columns[k] * (int64_t)size + pattern->rows[k];
        while (next < couple_count && couples[next] < key) {
            keys[filled++] = couples[next++];
        }
        next += next < couple_count && couples[next] == key;
        place[k] = (int32_t)filled;
        keys[filled++] = key;
    }
    while (next < couple_count) {
        keys[filled++] = couples[next++];
    }
    SN_TRY(fill_pattern(context, size, filled, keys, extended));
    extended->row_count = pattern->row_count + row_count;
cleanup:
    sn_release(keys);
    return status;
}

void sn_block_pattern_carry(const SnBlockPattern *pattern, const SnBlockPattern *extended, const int32_t *place, const double *values,
                            double *carried)
{
    memset(carried, 0, extended->value_count * sizeof *carried);
    for (size_t block = 0; block < pattern->block_count; block++) {
        int diagonal = pattern->rows[block] == pattern->columns[block];
        for (int j = 0; j < 3; j++) {
            int first = diagonal ? j : 0;
            int32_t from = sn_block_pattern_value(pattern, (int32_t)block, first, j), to = sn_block_pattern_value(extended, place[block], first, j);
            for (int i = 0; i < 3 - first; i++) { /* a column of a block lies together */
                carried[to + i] = values[from + i];
            }
        }
    }
}

void sn_block_pattern_clear(SnBlockPattern *pattern)
{
    sn_release(pattern->column_start);
    sn_release(pattern->rows);
    sn_release(pattern->columns);
    sn_release(pattern->value_start);
    sn_release(pattern->value_rows);
    memset(pattern, 0, sizeof *pattern);
}

int32_t sn_block_pattern_find(const SnBlockPattern *pattern, int32_t row, int32_t column)
{
    int32_t low = pattern->column_start[column], high = pattern->column_start[column + 1] - 1;
    while (low <= high) {
        int32_t middle = low + (high - low) / 2;
        if (pattern->rows[middle] == row) {
            return middle;
        }
        if (pattern->rows[middle] < row) {
            low = middle + 1;
        } else {
            high = middle - 1;
        }
    }
    return -1;
}

void sn_block_matrix_multiply(const SnBlockPattern *pattern, const double *values, const double *x, double *y)
{
    memset(y, 0, 3 * pattern->size * sizeof *y);
    for (size_t column = 0; column < 3 * pattern->size; column++) {
        double at_column = x[column];
        double sum = 0.0;
        int32_t k = pattern->value_start[column];
        y[column] += values[k] * at_column; /* the diagonal comes first */
        for (k++; k < pattern->value_start[column + 1]; k++) {
            int32_t row = pattern->value_rows[k];
            y[row] += values[k] * at_column;
            sum += values[k] * x[row];
        }
        y[column] += sum;
    }
}

void sn_block_matrix_multiply_scalar(const SnBlockPattern *pattern, const double *values, const double *x, double *y)
{
    memset(y, 0, 3 * pattern->size * sizeof *y);
    for (size_t b = 0; b < pattern->block_count; b++) {
        size_t row = 3 * (size_t)pattern->rows[b], column = 3 * (size_t)pattern->columns[b];
        for (size_t a = 0; a < 3; a++) {
            y[row + a] += values[b] * x[column + a];
            y[column + a] += row != column ? values[b] * x[row + a] : 0.0;
        }
    }
}
