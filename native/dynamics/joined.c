#include "dynamics/joined.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define KEPT 2 /* times as many couples as are asked for: more are no longer kept */

void sn_joined_clear(SnJoined *joined)
{
    sn_multifrontal_destroy(joined->factor);
    sn_block_pattern_clear(&joined->pattern);
    sn_release(joined->place);
    sn_release(joined->values);
    sn_release(joined->couples);
    sn_release(joined->asked);
    sn_release(joined->all);
    memset(joined, 0, sizeof *joined);
}

/* The couples of all planes, rising, each once, without those that the pattern has. */
static SnStatus ask(SnContext *context, SnJoined *joined, const SnBlockPattern *pattern, const SnPlanes *planes)
{
    SnStatus status = SN_OK;
    int64_t size = (int64_t)pattern->size;
    size_t most = 0, count = 0, unique = 0;
    for (const SnPlane *plane = planes->planes; plane < planes->planes + planes->count; plane++) {
        size_t corners = (size_t)(plane->row.end - plane->row.begin);
        most += corners * corners / 2;
    }
    SN_TRY_ROOM(context, joined->asked, most, joined->asked_room);
    for (const SnPlane *plane = planes->planes; plane < planes->planes + planes->count; plane++) {
        for (int32_t i = plane->row.begin; i < plane->row.end; i++) {
            for (int32_t j = plane->row.begin; j < i; j++) {
                int32_t a = planes->unknowns[i], b = planes->unknowns[j], row = a > b ? a : b, column = a > b ? b : a;
                if (sn_block_pattern_find(pattern, row, column) < 0) {
                    joined->asked[count++] = column * size + row;
                }
            }
        }
    }
    qsort(joined->asked, count, sizeof *joined->asked, sn_block_pattern_compare);
    for (size_t k = 0; k < count; k++) {
        if (k == 0 || joined->asked[k] != joined->asked[k - 1]) {
            joined->asked[unique++] = joined->asked[k];
        }
    }
    joined->asked_count = unique;
cleanup:
    return status;
}

/* `all` = those asked for and those at hand; returns how many. */
static size_t merge(SnJoined *joined)
{
    size_t count = 0, i = 0, j = 0;
    while (i < joined->asked_count || j < joined->couple_count) {
        int first = j == joined->couple_count || (i < joined->asked_count && joined->asked[i] <= joined->couples[j]);
        int64_t key = first ? joined->asked[i] : joined->couples[j];
        i += i < joined->asked_count && joined->asked[i] == key;
        j += j < joined->couple_count && joined->couples[j] == key;
        joined->all[count++] = key;
    }
    return count;
}

static SnStatus rebuild(SnContext *context, SnJoined *joined, const SnBlockPattern *pattern, const SnLinearSolver *solver)
{
    SnStatus status = SN_OK;
    double entries;
    sn_multifrontal_destroy(joined->factor);
    joined->factor = NULL;
    sn_block_pattern_clear(&joined->pattern);
    sn_release(joined->values);
    joined->values = NULL;
    if (joined->place == NULL) {
        SN_TRY_NEW(context, joined->place, pattern->block_count, int32_t);
    }
    SN_TRY(sn_block_pattern_extend(context, pattern, 0, joined->couple_count, joined->couples, &joined->pattern, joined->place));
    SN_TRY_NEW(context, joined->values, joined->pattern.value_count, double);
    SN_TRY(sn_multifrontal_create_bordered(context, &joined->pattern, solver, 0, NULL, &joined->factor));
    sn_multifrontal_work(joined->factor, &joined->products, &entries);
cleanup:
    return status;
}

SnStatus sn_joined_reach(SnContext *context, SnJoined *joined, const SnBlockPattern *pattern, const SnLinearSolver *solver, const SnPlanes *planes,
                         int grows)
{
    SnStatus status = SN_OK;
    SN_TRY(ask(context, joined, pattern, planes));
    SN_TRY_ROOM(context, joined->all, joined->asked_count + joined->couple_count, joined->all_room);
    size_t count = merge(joined);
    int same = joined->factor != NULL && count == joined->couple_count && (grows || count == joined->asked_count);
    if (same) {
        return SN_OK;
    }
    int keeps = grows && count <= KEPT * joined->asked_count;
    joined->couple_count = keeps ? count : joined->asked_count;
    SN_TRY_ROOM(context, joined->couples, joined->couple_count, joined->couple_room);
    memcpy(joined->couples, keeps ? joined->all : joined->asked, joined->couple_count * sizeof *joined->couples);
    SN_TRY(rebuild(context, joined, pattern, solver));
cleanup:
    return status;
}

int sn_joined_factorize(SnJoined *joined, const SnBlockPattern *pattern, const SnPlanes *planes, const double *values)
{
    sn_block_pattern_carry(pattern, &joined->pattern, joined->place, values, joined->values);
    sn_planes_stiffen(planes, &joined->pattern, joined->values);
    return sn_multifrontal_factorize(joined->factor, joined->values);
}
