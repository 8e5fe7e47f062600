/* Sparse linear rows C over points: averages, handles, the normals of what touches. Each row has a stiffness or holds exactly; rows may
   share points. What their targets are is not said here: those come from whoever knows them. */
#ifndef SN_MATH_ROWS_H
#define SN_MATH_ROWS_H

#include "base/context.h"

#include <stdint.h>

typedef struct SnRows {
    int is_alike;       /* rows act on x, y and z alike: one weight an entry and three values a row; otherwise three and one */
    size_t count;       /* rows */
    int32_t *start;     /* count + 1: entries of each row, 0 first; owned, as all of these, and null while there are none */
    int32_t *points;    /* entries: rising in each row is not asked for, but no point twice */
    double *weights;    /* entries, or entries x 3 */
    double *stiffness;  /* count, N/m; INFINITY: the row holds exactly */
    size_t row_room, entry_room;
} SnRows;

/* An empty set of rows is {.is_alike = ...}. Adds a row; memory grows as needed. On failure the rows are as they were. */
SnStatus sn_rows_add(SnContext *context, SnRows *rows, size_t entry_count, const int32_t *points, const double *weights,
                     double stiffness);

/* Takes all rows out and keeps their memory. */
void sn_rows_empty(SnRows *rows);
void sn_rows_clear(SnRows *rows);

/* Values of all rows: 3 or 1 for each. */
size_t sn_rows_size(const SnRows *rows);

/* Some rows in a row, to be looked at while the others stay; their values are those from sn_rows_place(rows, first) on. */
SnRows sn_rows_part(const SnRows *rows, size_t first, size_t count);
size_t sn_rows_place(const SnRows *rows, size_t first);

/* values (size) = C x (points x 3) */
void sn_rows_apply(const SnRows *rows, const double *x, double *values);

/* x (points x 3) += Cᵀ values (size) */
void sn_rows_spread(const SnRows *rows, const double *values, double *x);

/* Adds copies of other rows, whose points count from `first` on. Rows that act on x, y and z alike become three each where `rows` are not
   of that kind; the reverse is not asked for. */
SnStatus sn_rows_append(SnContext *context, const SnRows *others, int32_t first, SnRows *rows);

/* The same rows over other points: entry p becomes number[p], or is left out where that is negative. `out` comes empty. */
SnStatus sn_rows_renumber(SnContext *context, const SnRows *rows, const int32_t *number, SnRows *out);

#endif
