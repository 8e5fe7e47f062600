#include "dynamics/saddle.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GIVES_WAY 1e-4 /* of what its points would by themselves: single precision has it as nothing, and a row whose points are all in a border, eliminated
                          before them, is no stiffer than that allows */

SnStatus sn_saddle_init(SnContext *context, const SnBlockPattern *pattern, const SnConstraints *constraints, SnSaddle *saddle)
{
    SnStatus status = SN_OK;
    const SnRows *rows = &constraints->free_rows;
    size_t entries = rows->count > 0 ? (size_t)rows->start[rows->count] : 0, size = pattern->size + rows->count, count = 0;
    int64_t *couples = NULL;
    *saddle = (SnSaddle){0};
    SN_TRY_NEW(context, couples, entries + rows->count, int64_t);
    SN_TRY_NEW(context, saddle->place, pattern->block_count, int32_t);
    SN_TRY_NEW(context, saddle->entry_block, entries, int32_t);
    for (size_t r = 0; r < rows->count; r++) {
        int64_t node = (int64_t)(pattern->size + r);
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            couples[count++] = rows->points[k] * (int64_t)size + node;
        }
        couples[count++] = node * (int64_t)size + node;
    }
    qsort(couples, count, sizeof *couples, sn_block_pattern_compare);
    SN_TRY(sn_block_pattern_extend(context, pattern, rows->count, count, couples, &saddle->pattern, saddle->place));
    for (size_t r = 0; r < rows->count; r++) {
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            saddle->entry_block[k] = sn_block_pattern_find(&saddle->pattern, (int32_t)(pattern->size + r), rows->points[k]);
        }
    }
    SN_TRY_NEW(context, saddle->values, saddle->pattern.value_count, double);
cleanup:
    sn_release(couples);
    if (status != SN_OK) {
        sn_saddle_clear(saddle);
    }
    return status;
}

void sn_saddle_clear(SnSaddle *saddle)
{
    sn_block_pattern_clear(&saddle->pattern);
    sn_release(saddle->place);
    sn_release(saddle->entry_block);
    sn_release(saddle->values);
    *saddle = (SnSaddle){0};
}

void sn_saddle_fill(SnSaddle *saddle, const SnBlockPattern *pattern, const SnConstraints *constraints, const double *values, const double *hardness)
{
    const SnRows *rows = &constraints->free_rows;
    const SnBlockPattern *own = &saddle->pattern;
    sn_block_pattern_carry(pattern, own, saddle->place, values, saddle->values);
    for (size_t r = 0; r < rows->count; r++) {
        double gives = 0.0, most = 0.0;
        int holds = constraints->factor.inverse_pivots[r] > 0.0; /* and says what no other does */
        for (int32_t k = rows->start[r]; k < rows->start[r + 1] && holds; k++) {
            double weight = rows->weights[k], h = hardness[rows->points[k]];
            gives += weight * weight / h;
            most = fmax(most, fabs(weight) / h);
        }
        double scale = most > 0.0 ? 1.0 / most : 0.0; /* no entry is larger, and hardly one much smaller, than what it stands beside in the factor */
        for (int32_t k = rows->start[r]; k < rows->start[r + 1] && holds; k++) {
            for (int a = 0; a < 3; a++) {
                saddle->values[sn_block_pattern_value(own, saddle->entry_block[k], a, a)] = scale * rows->weights[k];
            }
        }
        size_t node = pattern->size + r;
        for (size_t a = 0; a < 3; a++) {
            saddle->values[own->value_start[3 * node + a]] = gives > 0.0 ? -GIVES_WAY * scale * scale * gives : -1.0;
        }
    }
}
