/* Symbolic Cholesky factorization over points, for an order that is given. The column of a point has as rows its later neighbours and those
   of its children, the columns whose first row it is:

     rows(j) = later neighbours of j  ∪  rows(children of j) \ {j},     parent(j) = first of rows(j)

   The border is one node, the root, whatever of it a column reaches. Columns are then put in postorder, the child with most rows next to its parent;
   runs in which each is the parent of the one before become panels, and small panels are merged with the next where that adds few zeros.

   A column whose rows are those of a child but for itself (in a panel nearly all are) shares the child's list: memory is that of panels. */
#include "math/border.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Panels of so many points are merged where at most such a part of them becomes zeros: a little more fill for larger dense blocks. */
static const struct {
    size_t points;
    double zeros;
} MERGED[] = {{5, 1.0}, {16, 0.8}, {42, 0.1}, {SIZE_MAX, 0.05}};

/* Columns are counted in the given order, with the border behind: `inner` of them, then the border's. */
typedef struct Columns {
    size_t count, inner;
    int32_t first_row;      /* points from there on are rows that hold: no panel has points of both kinds */
    int32_t *point;        /* count: which point a column is */
    int32_t *column;       /* points: the inverse */
    int32_t *later_start, *later; /* later neighbours of each column */
    size_t *rows;          /* inner: place of its rows in `pool`, rising; the child's plus one where they are shared */
    int32_t *row_count;    /* inner */
    int32_t *parent;       /* inner; `inner` for the border, -1: none */
    int32_t *first_child, *next_sibling; /* inner + 1; inner */
    int32_t *mark;         /* count: the column that it was seen for last */
    int32_t *pool;
    size_t pool_count, pool_room;
} Columns;

static void clear_columns(Columns *c)
{
    sn_release(c->point);
    sn_release(c->column);
    sn_release(c->later_start);
    sn_release(c->later);
    sn_release(c->rows);
    sn_release(c->row_count);
    sn_release(c->parent);
    sn_release(c->first_child);
    sn_release(c->next_sibling);
    sn_release(c->mark);
    sn_release(c->pool);
}

static SnStatus number_columns(SnContext *context, const SnBlockPattern *pattern, const int32_t *order, size_t border_count,
                               const int32_t *border, Columns *c)
{
    SnStatus status = SN_OK;
    size_t next = 0;
    c->count = pattern->size;
    c->inner = pattern->size - border_count;
    c->first_row = (int32_t)(pattern->size - pattern->row_count);
    SN_TRY_NEW(context, c->point, c->count, int32_t);
    SN_TRY_NEW(context, c->column, c->count, int32_t);
    memset(c->column, 0xff, c->count * sizeof *c->column);
    for (size_t k = 0; k < border_count; k++) {
        c->point[c->inner + k] = border[k];
        c->column[border[k]] = (int32_t)(c->inner + k);
    }
    for (size_t k = 0; k < c->count; k++) {
        if (c->column[order[k]] < 0) {
            c->point[next] = order[k];
            c->column[order[k]] = (int32_t)next++;
        }
    }
cleanup:
    return status;
}

static SnStatus find_later(SnContext *context, const SnBlockPattern *pattern, Columns *c)
{
    SnStatus status = SN_OK;
    SN_TRY_NEW(context, c->later_start, c->count + 2, int32_t);
    SN_TRY_NEW(context, c->later, pattern->block_count, int32_t);
    for (int fill = 0; fill < 2; fill++) { /* counted two further on, so that filling moves the starts to their place */
        for (size_t block = 0; block < pattern->block_count; block++) {
            int32_t a = c->column[pattern->rows[block]], b = c->column[pattern->columns[block]];
            int32_t first = a < b ? a : b, last = a < b ? b : a;
            if (a != b && fill) {
                c->later[c->later_start[first + 1]++] = last;
            } else if (a != b) {
                c->later_start[first + 2]++;
            }
        }
        for (size_t k = 0; k < c->count && !fill; k++) {
            c->later_start[k + 2] += c->later_start[k + 1];
        }
    }
cleanup:
    return status;
}

static int compare(const void *left, const void *right)
{
    int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

static void take_row(Columns *c, int32_t column, int32_t row)
{
    if (c->mark[row] != column) {
        c->mark[row] = column;
        c->pool[c->pool_count++] = row;
    }
}

/* The rows of a column, whose children are known. */
static SnStatus find_rows(SnContext *context, Columns *c, int32_t j)
{
    SnStatus status = SN_OK;
    int32_t longest = -1;
    size_t begin = c->pool_count, most = (size_t)(c->later_start[j + 1] - c->later_start[j]);
    for (int32_t k = c->first_child[j]; k >= 0; k = c->next_sibling[k]) {
        longest = longest < 0 || c->row_count[k] > c->row_count[longest] ? k : longest;
        most += (size_t)c->row_count[k];
    }
    SN_TRY_ROOM(context, c->pool, begin + most, c->pool_room);
    c->mark[j] = j;
    for (int32_t k = c->later_start[j]; k < c->later_start[j + 1]; k++) {
        take_row(c, j, c->later[k]);
    }
    for (int32_t k = c->first_child[j]; k >= 0; k = c->next_sibling[k]) {
        for (int32_t i = 0; i < c->row_count[k]; i++) {
            take_row(c, j, c->pool[c->rows[k] + (size_t)i]);
        }
    }
    c->row_count[j] = (int32_t)(c->pool_count - begin);
    if (longest >= 0 && c->row_count[longest] == c->row_count[j] + 1) {
        c->pool_count = begin;
        c->rows[j] = c->rows[longest] + 1;
    } else {
        c->rows[j] = begin;
        qsort(c->pool + begin, c->pool_count - begin, sizeof *c->pool, compare);
    }
    c->parent[j] = -1;
    if (c->row_count[j] > 0) {
        int32_t first = c->pool[c->rows[j]];
        c->parent[j] = first < (int32_t)c->inner ? first : (int32_t)c->inner;
        c->next_sibling[j] = c->first_child[c->parent[j]];
        c->first_child[c->parent[j]] = j;
    }
cleanup:
    return status;
}

static SnStatus find_columns(SnContext *context, Columns *c)
{
    SnStatus status = SN_OK;
    SN_TRY_NEW(context, c->rows, c->inner, size_t);
    SN_TRY_NEW(context, c->row_count, c->inner, int32_t);
    SN_TRY_NEW(context, c->parent, c->inner, int32_t);
    SN_TRY_NEW(context, c->first_child, c->inner + 1, int32_t);
    SN_TRY_NEW(context, c->next_sibling, c->inner, int32_t);
    SN_TRY_NEW(context, c->mark, c->count, int32_t);
    memset(c->first_child, 0xff, (c->inner + 1) * sizeof *c->first_child);
    memset(c->mark, 0xff, c->count * sizeof *c->mark);
    for (size_t j = 0; j < c->inner; j++) {
        SN_TRY(find_rows(context, c, (int32_t)j));
    }
cleanup:
    return status;
}

/* Puts the child with most rows at the end of each list, so that it comes right before its parent. */
static void sort_children(Columns *c)
{
    for (size_t j = 0; j <= c->inner; j++) {
        int32_t longest = -1, before = -1, before_longest = -1, last = -1;
        for (int32_t k = c->first_child[j]; k >= 0; before = k, k = c->next_sibling[k]) {
            if (longest < 0 || c->row_count[k] > c->row_count[longest]) {
                longest = k;
                before_longest = before;
            }
            last = k;
        }
        if (longest >= 0 && longest != last) {
            *(before_longest < 0 ? c->first_child + j : c->next_sibling + before_longest) = c->next_sibling[longest];
            c->next_sibling[last] = longest;
            c->next_sibling[longest] = -1;
        }
    }
}

/* sequence (inner): columns in postorder. `stack`: room for as many. What the border does not reach comes first. */
static void put_in_postorder(const Columns *c, int32_t *stack, int32_t *sequence)
{
    size_t next = 0;
    for (int reached = 0; reached < 2; reached++) {
        for (size_t root = 0; root < c->inner; root++) {
            if (reached ? c->parent[root] != (int32_t)c->inner : c->parent[root] != -1) {
                continue;
            }
            size_t depth = 0;
            int32_t k = (int32_t)root;
            for (;;) {
                while (c->first_child[k] >= 0) {
                    stack[depth++] = k;
                    k = c->first_child[k];
                }
                sequence[next++] = k;
                while (depth > 0 && c->next_sibling[k] < 0) {
                    k = stack[--depth];
                    sequence[next++] = k;
                }
                if (depth == 0) {
                    break;
                }
                k = c->next_sibling[k];
            }
        }
    }
}

/* A panel: columns first..last of the sequence. */
typedef struct Panel {
    size_t first, last;
    double zeros; /* of its entries, in blocks */
} Panel;

static int is_row(const Columns *c, int32_t column)
{
    return c->point[column] >= c->first_row;
}

/* Whether the panel before is merged with this one, whose last column is the parent of all. */
static int is_merged(const Columns *c, const int32_t *sequence, const Panel *before, const Panel *panel, double *zeros)
{
    double own = (double)(before->last - before->first + 1), width = (double)(panel->last - panel->first + 1);
    double below = c->row_count[sequence[panel->last]], below_before = c->row_count[sequence[before->last]];
    double all = own + width, entries = 0.5 * all * (all + 1.0) + all * below;
    *zeros = before->zeros + panel->zeros + own * (width + below - below_before);
    size_t k = 0;
    while ((size_t)all > MERGED[k].points) {
        k++;
    }
    return *zeros <= MERGED[k].zeros * entries && is_row(c, sequence[before->last]) == is_row(c, sequence[panel->last]);
}

/* Returns how many panels the columns fall into. */
static size_t find_panels(const Columns *c, const int32_t *sequence, const int32_t *place, Panel *panels)
{
    size_t count = 0;
    for (size_t k = 0; k < c->inner; k++) {
        Panel panel = {k, k, 0.0};
        double zeros;
        while (count > 0) { /* is the panel before one whose parent is in this one? */
            const Panel *before = panels + count - 1;
            int32_t parent = c->parent[sequence[before->last]];
            if (parent < 0 || parent == (int32_t)c->inner || (size_t)place[parent] > k || !is_merged(c, sequence, before, &panel, &zeros)) {
                break;
            }
            panel.first = before->first;
            panel.zeros = zeros;
            count--;
        }
        panels[count++] = panel;
    }
    return count;
}

/* Writes points down as three scalars each. */
static void write_points(size_t count, const int32_t *points, int32_t *scalars)
{
    for (size_t k = 0; k < 3 * count; k++) {
        scalars[k] = (int32_t)(3 * (size_t)points[k / 3] + k % 3);
    }
}

static SnStatus write_shape(SnContext *context, const Columns *c, int32_t *sequence, int32_t *place, size_t panel_count, const Panel *panels,
                            SnSupernodes *shape)
{
    SnStatus status = SN_OK;
    size_t border = c->count - c->inner, rows = border;
    for (size_t p = 0; p < panel_count; p++) {
        rows += panels[p].last - panels[p].first + 1 + (size_t)c->row_count[sequence[panels[p].last]];
    }
    *shape = (SnSupernodes){.size = 3 * c->count, .count = panel_count + (border > 0)};
    SN_TRY_NEW(context, shape->order, shape->size, int32_t);
    SN_TRY_NEW(context, shape->column_start, shape->count + 1, int32_t);
    SN_TRY_NEW(context, shape->row_start, shape->count + 1, size_t);
    SN_TRY_NEW(context, shape->rows, 3 * rows, int32_t);
    size_t at = 0;
    for (size_t p = 0; p < shape->count; p++) {
        size_t first = p < panel_count ? panels[p].first : c->inner, last = p < panel_count ? panels[p].last : c->count - 1;
        shape->column_start[p] = (int32_t)(3 * first);
        shape->row_start[p] = at;
        for (size_t k = first; k <= last; k++, at += 3) {
            int32_t column = (int32_t)k;
            write_points(1, &column, shape->rows + at);
        }
        for (int32_t k = 0; p < panel_count && k < c->row_count[sequence[last]]; k++, at += 3) {
            int32_t row = c->pool[c->rows[sequence[last]] + (size_t)k];
            write_points(1, row < (int32_t)c->inner ? place + row : &row, shape->rows + at);
        }
    }
    shape->column_start[shape->count] = (int32_t)shape->size;
    shape->row_start[shape->count] = at;
    for (size_t k = 0; k < c->count; k++) {
        write_points(1, c->point + (k < c->inner ? (size_t)sequence[k] : k), shape->order + 3 * k);
    }
cleanup:
    return status;
}

SnStatus sn_border_shape(SnContext *context, const SnBlockPattern *pattern, const int32_t *order, size_t border_count,
                         const int32_t *border, SnSupernodes *shape)
{
    SnStatus status = SN_OK;
    Columns c = {0};
    Panel *panels = NULL;
    int32_t *sequence = NULL, *place = NULL;
    *shape = (SnSupernodes){0};
    SN_TRY(number_columns(context, pattern, order, border_count, border, &c));
    SN_TRY(find_later(context, pattern, &c));
    SN_TRY(find_columns(context, &c));
    SN_TRY_NEW(context, sequence, c.inner, int32_t);
    SN_TRY_NEW(context, place, c.inner, int32_t);
    SN_TRY_NEW(context, panels, c.inner, Panel);
    sort_children(&c);
    put_in_postorder(&c, place, sequence);
    for (size_t k = 0; k < c.inner; k++) {
        place[sequence[k]] = (int32_t)k;
    }
    size_t panel_count = find_panels(&c, sequence, place, panels);
    SN_TRY(write_shape(context, &c, sequence, place, panel_count, panels, shape));
cleanup:
    clear_columns(&c);
    sn_release(panels);
    sn_release(sequence);
    sn_release(place);
    if (status != SN_OK) {
        sn_supernodes_clear(shape);
    }
    return status;
}
