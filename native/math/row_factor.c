/* Sparse L D Lᵀ, row by row (as in Davis, Algorithm 849): row k of L has entries on the way from each neighbour of k up the elimination
   tree. The tree and the counts come first, with no values; then the values fill what was counted. */
#include "math/row_factor.h"

#include "base/memory.h"

#include <string.h>

#define DEPENDENT 1e-10 /* of the diagonal: what rounding leaves of a pivot */

/* What a factorization works in. */
typedef struct Work {
    const SnRows *rows;
    const double *diagonal;
    int32_t *users_start, *users, *entries; /* of each point: the rows that use it, and by which entry */
    int32_t *parent;                        /* the elimination tree; -1: a root */
    int32_t *seen, *marked;                 /* neighbours of a row; marked[i] == k: i is one of row k */
    int32_t *way, *path, *visited;          /* rows of the tree on the way from those; visited[i] == k + 1: i is one for row k */
    size_t *filled;                         /* end of what a column of L holds so far */
    double *sums;
} Work;

static SnStatus work_init(SnContext *context, const SnRows *rows, size_t point_count, const double *diagonal, Work *work)
{
    SnStatus status = SN_OK;
    size_t entries = rows->count > 0 ? (size_t)rows->start[rows->count] : 0;
    *work = (Work){.rows = rows, .diagonal = diagonal};
    SN_TRY_NEW(context, work->users_start, point_count + 1, int32_t);
    SN_TRY_NEW(context, work->users, entries, int32_t);
    SN_TRY_NEW(context, work->entries, entries, int32_t);
    SN_TRY_NEW(context, work->parent, rows->count, int32_t);
    SN_TRY_NEW(context, work->seen, rows->count, int32_t);
    SN_TRY_NEW(context, work->marked, rows->count, int32_t);
    SN_TRY_NEW(context, work->way, rows->count, int32_t);
    SN_TRY_NEW(context, work->path, rows->count, int32_t);
    SN_TRY_NEW(context, work->visited, rows->count, int32_t);
    SN_TRY_NEW(context, work->filled, rows->count, size_t);
    SN_TRY_NEW(context, work->sums, rows->count, double);
    for (size_t k = 0; k < entries; k++) {
        work->users_start[rows->points[k] + 1]++;
    }
    for (size_t p = 0; p < point_count; p++) {
        work->users_start[p + 1] += work->users_start[p];
    }
    for (size_t r = rows->count; r-- > 0;) { /* from behind, so that each list is filled from its end */
        for (int32_t k = rows->start[r + 1]; k-- > rows->start[r];) {
            int32_t at = --work->users_start[rows->points[k] + 1];
            work->users[at] = (int32_t)r;
            work->entries[at] = k;
        }
    }
    /* users_start[p + 1] is now where the list of p begins */
    memmove(work->users_start, work->users_start + 1, point_count * sizeof *work->users_start);
    work->users_start[point_count] = (int32_t)entries;
cleanup:
    return status;
}

static void work_clear(Work *work)
{
    sn_release(work->users_start);
    sn_release(work->users);
    sn_release(work->entries);
    sn_release(work->parent);
    sn_release(work->marked);
    sn_release(work->visited);
    sn_release(work->seen);
    sn_release(work->way);
    sn_release(work->path);
    sn_release(work->filled);
    sn_release(work->sums);
}

/* sums[i] = row i of C D Cᵀ in column k, for i <= k; `seen` lists where it is not zero. Returns how many those are. */
static size_t find_column(Work *work, int32_t k)
{
    const SnRows *rows = work->rows;
    size_t found = 0;
    for (int32_t at = rows->start[k]; at < rows->start[k + 1]; at++) {
        int32_t point = rows->points[at];
        for (int32_t u = work->users_start[point]; u < work->users_start[point + 1] && work->users[u] <= k; u++) {
            int32_t i = work->users[u], other = work->entries[u];
            const double *a = rows->weights + (rows->is_alike ? (size_t)at : 3 * (size_t)at);
            const double *b = rows->weights + (rows->is_alike ? (size_t)other : 3 * (size_t)other);
            double product = rows->is_alike ? a[0] * b[0] : a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
            if (work->marked[i] != k) {
                work->marked[i] = k;
                work->seen[found++] = i;
            }
            work->sums[i] += product * work->diagonal[point];
        }
    }
    return found;
}

/* The rows of L that row k has entries in, in the order in which they are to be used. Returns where in `way` they begin. */
static size_t find_way(Work *work, int32_t k, size_t found)
{
    size_t top = work->rows->count;
    work->visited[k] = k + 1;
    for (size_t n = 0; n < found; n++) {
        size_t length = 0;
        for (int32_t i = work->seen[n]; work->visited[i] != k + 1; i = work->parent[i]) {
            if (work->parent[i] < 0) {
                work->parent[i] = k;
            }
            work->path[length++] = i;
            work->visited[i] = k + 1;
        }
        while (length > 0) {
            work->way[--top] = work->path[--length];
        }
    }
    return top;
}

SnStatus sn_row_factor_init(SnContext *context, const SnRows *rows, size_t point_count, const double *diagonal, SnRowFactor *factor)
{
    SnStatus status = SN_OK;
    size_t n = rows->count;
    Work work = {0};
    *factor = (SnRowFactor){.count = n, .width = rows->is_alike ? 3 : 1};
    SN_TRY(work_init(context, rows, point_count, diagonal, &work));
    SN_TRY_NEW(context, factor->start, n + 1, size_t);
    SN_TRY_NEW(context, factor->inverse_pivots, n, double);
    SN_TRY_NEW(context, factor->dependent, n, int32_t);
    for (size_t k = 0; k < n; k++) {
        work.parent[k] = work.marked[k] = -1;
    }
    for (int32_t k = 0; k < (int32_t)n; k++) { /* count what each column of L will hold */
        size_t found = find_column(&work, k);
        for (size_t at = find_way(&work, k, found); at < n; at++) {
            factor->start[work.way[at] + 1]++;
        }
        for (size_t at = 0; at < found; at++) {
            work.sums[work.seen[at]] = 0.0;
        }
    }
    for (size_t k = 0; k < n; k++) {
        factor->start[k + 1] += factor->start[k];
        work.filled[k] = factor->start[k];
        work.marked[k] = -1;
        work.visited[k] = 0;
    }
    SN_TRY_NEW(context, factor->rows, factor->start[n], int32_t);
    SN_TRY_NEW(context, factor->values, factor->start[n], double);
    for (int32_t k = 0; k < (int32_t)n; k++) {
        size_t found = find_column(&work, k), top = find_way(&work, k, found);
        double pivot = work.sums[k], whole = pivot;
        work.sums[k] = 0.0;
        for (size_t at = top; at < n; at++) {
            int32_t i = work.way[at];
            double left = work.sums[i], entry = left * factor->inverse_pivots[i];
            work.sums[i] = 0.0;
            for (size_t p = factor->start[i]; p < work.filled[i]; p++) {
                work.sums[factor->rows[p]] -= factor->values[p] * left;
            }
            pivot -= entry * left;
            factor->rows[work.filled[i]] = k;
            factor->values[work.filled[i]++] = entry;
        }
        if (pivot <= DEPENDENT * whole) {
            factor->dependent[factor->dependent_count++] = k;
        } else {
            factor->inverse_pivots[k] = 1.0 / pivot;
        }
    }
cleanup:
    work_clear(&work);
    if (status != SN_OK) {
        sn_row_factor_clear(factor);
    }
    return status;
}

void sn_row_factor_clear(SnRowFactor *factor)
{
    sn_release(factor->start);
    sn_release(factor->rows);
    sn_release(factor->values);
    sn_release(factor->inverse_pivots);
    sn_release(factor->dependent);
    memset(factor, 0, sizeof *factor);
}

void sn_row_factor_solve(const SnRowFactor *factor, double *values)
{
    size_t width = (size_t)factor->width;
    for (size_t k = 0; k < factor->count; k++) {
        for (size_t p = factor->start[k]; p < factor->start[k + 1]; p++) {
            for (size_t a = 0; a < width; a++) {
                values[width * (size_t)factor->rows[p] + a] -= factor->values[p] * values[width * k + a];
            }
        }
    }
    for (size_t k = factor->count; k-- > 0;) {
        for (size_t a = 0; a < width; a++) {
            values[width * k + a] *= factor->inverse_pivots[k];
        }
        for (size_t p = factor->start[k]; p < factor->start[k + 1]; p++) {
            for (size_t a = 0; a < width; a++) {
                values[width * k + a] -= factor->values[p] * values[width * (size_t)factor->rows[p] + a];
            }
        }
    }
}
