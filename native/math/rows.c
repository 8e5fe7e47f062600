#include "math/rows.h"

#include "base/memory.h"

#include <string.h>

static size_t weights_of_entry(const SnRows *rows)
{
    return rows->is_alike ? 1 : 3;
}

/* Room for one more row with so many entries. */
static SnStatus make_room(SnContext *context, SnRows *rows, size_t entry_count)
{
    size_t used = rows->count > 0 ? (size_t)rows->start[rows->count] : 0;
    void *grown;
    if (rows->count + 1 > rows->row_room) {
        size_t room = 2 * rows->count + 4;
        if ((grown = sn_reallocate(context, rows->start, room + 1, sizeof *rows->start)) == NULL) {
            return SN_OUT_OF_MEMORY;
        }
        rows->start = grown;
        if ((grown = sn_reallocate(context, rows->stiffness, room, sizeof *rows->stiffness)) == NULL) {
            return SN_OUT_OF_MEMORY;
        }
        rows->stiffness = grown;
        rows->row_room = room;
    }
    if (used + entry_count > rows->entry_room) {
        size_t room = 2 * (used + entry_count);
        if (room > INT32_MAX) {
            return sn_context_fail(context, SN_BAD_INPUT, "There are too many constrained points: ask for fewer or smaller regions.");
        }
        if ((grown = sn_reallocate(context, rows->points, room, sizeof *rows->points)) == NULL) {
            return SN_OUT_OF_MEMORY;
        }
        rows->points = grown;
        if ((grown = sn_reallocate(context, rows->weights, room * weights_of_entry(rows), sizeof *rows->weights)) == NULL) {
            return SN_OUT_OF_MEMORY;
        }
        rows->weights = grown;
        rows->entry_room = room;
    }
    return SN_OK;
}

SnStatus sn_rows_add(SnContext *context, SnRows *rows, size_t entry_count, const int32_t *points, const double *weights,
                     double stiffness)
{
    SnStatus status = make_room(context, rows, entry_count);
    if (status != SN_OK) {
        return status;
    }
    rows->start[0] = 0;
    size_t first = (size_t)rows->start[rows->count], per_entry = weights_of_entry(rows);
    if (entry_count > 0) {
        memcpy(rows->points + first, points, entry_count * sizeof *points);
        memcpy(rows->weights + first * per_entry, weights, entry_count * per_entry * sizeof *weights);
    }
    rows->stiffness[rows->count++] = stiffness;
    rows->start[rows->count] = (int32_t)(first + entry_count);
    return SN_OK;
}

void sn_rows_empty(SnRows *rows)
{
    rows->count = 0;
}

void sn_rows_clear(SnRows *rows)
{
    sn_release(rows->start);
    sn_release(rows->points);
    sn_release(rows->weights);
    sn_release(rows->stiffness);
    *rows = (SnRows){.is_alike = rows->is_alike};
}

size_t sn_rows_size(const SnRows *rows)
{
    return sn_rows_place(rows, rows->count);
}

SnRows sn_rows_part(const SnRows *rows, size_t first, size_t count)
{
    SnRows part = *rows;
    part.count = count;
    if (count > 0) {
        part.start += first;
        part.stiffness += first;
    }
    return part;
}

size_t sn_rows_place(const SnRows *rows, size_t first)
{
    return rows->is_alike ? 3 * first : first;
}

void sn_rows_apply(const SnRows *rows, const double *x, double *values)
{
    for (size_t r = 0; r < rows->count; r++) {
        double sum[3] = {0};
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            const double *at = x + 3 * (size_t)rows->points[k];
            if (rows->is_alike) {
                for (int a = 0; a < 3; a++) {
                    sum[a] += rows->weights[k] * at[a];
                }
            } else {
                const double *w = rows->weights + 3 * (size_t)k;
                sum[0] += w[0] * at[0] + w[1] * at[1] + w[2] * at[2];
            }
        }
        memcpy(values + (rows->is_alike ? 3 * r : r), sum, (rows->is_alike ? 3 : 1) * sizeof *sum);
    }
}

void sn_rows_spread(const SnRows *rows, const double *values, double *x)
{
    for (size_t r = 0; r < rows->count; r++) {
        const double *value = values + (rows->is_alike ? 3 * r : r);
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            double *at = x + 3 * (size_t)rows->points[k];
            for (int a = 0; a < 3; a++) {
                at[a] += rows->is_alike ? rows->weights[k] * value[a] : rows->weights[3 * (size_t)k + (size_t)a] * value[0];
            }
        }
    }
}

SnStatus sn_rows_append(SnContext *context, const SnRows *others, int32_t first, SnRows *rows)
{
    SnStatus status = SN_OK;
    int splits = others->is_alike && !rows->is_alike;
    size_t entries = others->count > 0 ? (size_t)others->start[others->count] : 0;
    int32_t *points = NULL;
    double *weights = NULL; /* of one axis, where each row becomes three */
    SN_TRY_NEW(context, points, entries, int32_t);
    SN_TRY_NEW(context, weights, splits ? 3 * entries : 0, double);
    for (size_t k = 0; k < entries; k++) {
        points[k] = others->points[k] + first;
    }
    for (size_t r = 0; r < others->count; r++) {
        size_t begin = (size_t)others->start[r], end = (size_t)others->start[r + 1];
        for (size_t axis = 0; axis < (splits ? 3u : 1u); axis++) {
            for (size_t k = 3 * begin; splits && k < 3 * end; k++) {
                weights[k] = k % 3 == axis ? others->weights[k / 3] : 0.0;
            }
            const double *own = splits ? weights + 3 * begin : others->weights + weights_of_entry(others) * begin;
            SN_TRY(sn_rows_add(context, rows, end - begin, points + begin, own, others->stiffness[r]));
        }
    }
cleanup:
    sn_release(points);
    sn_release(weights);
    return status;
}

SnStatus sn_rows_renumber(SnContext *context, const SnRows *rows, const int32_t *number, SnRows *out)
{
    SnStatus status = SN_OK;
    size_t per_entry = weights_of_entry(rows), longest = 0;
    int32_t *points = NULL;
    double *weights = NULL;
    for (size_t r = 0; r < rows->count; r++) {
        size_t length = (size_t)(rows->start[r + 1] - rows->start[r]);
        longest = length > longest ? length : longest;
    }
    SN_TRY_NEW(context, points, longest, int32_t);
    SN_TRY_NEW(context, weights, longest * per_entry, double);
    out->is_alike = rows->is_alike;
    for (size_t r = 0; r < rows->count; r++) {
        size_t found = 0;
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            int32_t point = number[rows->points[k]];
            if (point >= 0) {
                memcpy(weights + found * per_entry, rows->weights + (size_t)k * per_entry, per_entry * sizeof *weights);
                points[found++] = point;
            }
        }
        SN_TRY(sn_rows_add(context, out, found, points, weights, rows->stiffness[r]));
    }
cleanup:
    sn_release(points);
    sn_release(weights);
    if (status != SN_OK) {
        sn_rows_clear(out);
    }
    return status;
}
