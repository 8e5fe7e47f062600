#include "math/part_matrix.h"

#include "base/memory.h"
#include "math/dense_panel.h"

#include <string.h>

void sn_part_matrix_clear(SnPartMatrix *m)
{
    void *const blocks[] = {m->start,  m->first,  m->panel,    m->height, m->row,    m->part,
                            m->values, m->factor, m->diagonal, m->vector, m->update, m->joins};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
        sn_release(blocks[k]);
    }
    *m = (SnPartMatrix){0};
}

static size_t width_of(const SnPartMatrix *m, size_t part)
{
    return m->first[part + 1] - m->first[part];
}

/* Row of `part` in the panel of the column `of`, or -1. */
static int32_t row_of(const SnPartMatrix *m, size_t of, size_t part)
{
    return m->row[of * m->count + part];
}

/* start[p]: when part p is eliminated, each time the one that reaches least; `joins` gets what that joins. */
static void find_order(SnPartMatrix *m, const size_t *sizes)
{
    size_t count = m->count;
    memset(m->start, 0xff, count * sizeof *m->start);
    for (size_t next = 0; next < count; next++) {
        size_t best = count, least = SIZE_MAX;
        for (size_t p = 0; p < count; p++) {
            size_t reached = 0;
            for (size_t q = 0; q < count && m->start[p] == SIZE_MAX; q++) {
                reached += q != p && m->joins[p * count + q] && m->start[q] == SIZE_MAX ? sizes[q] : 0;
            }
            if (m->start[p] == SIZE_MAX && reached < least) {
                best = p;
                least = reached;
            }
        }
        m->start[best] = next;
        for (size_t p = 0; p < count; p++) {
            for (size_t q = 0; q < count && m->start[p] == SIZE_MAX && m->joins[best * count + p]; q++) {
                m->joins[p * count + q] |= m->start[q] == SIZE_MAX && m->joins[best * count + q];
            }
        }
    }
}

SnStatus sn_part_matrix_shape(SnContext *context, SnPartMatrix *m, size_t count, const size_t *sizes, const unsigned char *joins)
{
    SnStatus status = SN_OK;
    size_t highest = 0, most = 0;
    m->count = count;
    m->size = 0;
    SN_TRY_ROOM(context, m->start, count, m->start_room);
    SN_TRY_ROOM(context, m->first, count + 1, m->first_room);
    SN_TRY_ROOM(context, m->panel, count + 1, m->panel_room);
    SN_TRY_ROOM(context, m->height, count, m->height_room);
    SN_TRY_ROOM(context, m->row, count * count, m->row_room);
    SN_TRY_ROOM(context, m->joins, count * count, m->joins_room);
    memcpy(m->joins, joins, count * count);
    find_order(m, sizes);
    for (size_t p = 0; p < count; p++) { /* the sizes, as they are eliminated */
        m->height[m->start[p]] = sizes[p];
    }
    for (size_t k = 0; k < count; k++) {
        m->first[k] = m->size;
        m->size += m->height[k];
    }
    m->first[count] = m->size;
    memset(m->row, 0xff, count * count * sizeof *m->row);
    for (size_t p = 0; p < count; p++) {
        for (size_t q = 0; q < count; q++) {
            if (p == q || (m->joins[p * count + q] && m->start[q] > m->start[p])) {
                m->row[m->start[p] * count + m->start[q]] = 0;
            }
        }
    }
    m->panel[0] = 0;
    for (size_t k = 0; k < count; k++) {
        size_t rows = 0;
        for (size_t i = k; i < count; i++) {
            if (row_of(m, k, i) == 0) {
                m->row[k * count + i] = (int32_t)rows;
                rows += width_of(m, i);
            }
        }
        m->height[k] = rows;
        m->panel[k + 1] = m->panel[k] + rows * width_of(m, k);
        size_t below = rows - width_of(m, k);
        highest = rows > highest ? rows : highest;
        most = below > most ? below : most;
    }
    SN_TRY_ROOM(context, m->part, m->size, m->part_room);
    SN_TRY_ROOM(context, m->values, m->panel[count] + SN_PANEL_SLACK, m->values_room);
    SN_TRY_ROOM(context, m->factor, m->panel[count] + SN_PANEL_SLACK, m->factor_room);
    SN_TRY_ROOM(context, m->diagonal, m->size, m->diagonal_room);
    SN_TRY_ROOM(context, m->vector, highest + SN_VECTOR_SLACK, m->vector_room);
    SN_TRY_ROOM(context, m->update, most * most + SN_PANEL_SLACK, m->update_room);
    memset(m->values, 0, m->panel[count] * sizeof *m->values);
    for (size_t k = 0; k < count; k++) {
        for (size_t i = m->first[k]; i < m->first[k + 1]; i++) {
            m->part[i] = (int32_t)k;
        }
    }
    for (size_t p = 0; p < count; p++) {
        m->start[p] = m->first[m->start[p]];
    }
cleanup:
    return status;
}

void sn_part_matrix_multiply(const SnPartMatrix *m, const double *x, double *product)
{
    memset(product, 0, m->size * sizeof *product);
    for (size_t k = 0; k < m->count; k++) {
        for (size_t j = m->first[k]; j < m->first[k + 1]; j++) {
            const float *column = m->values + m->panel[k] + (j - m->first[k]) * m->height[k];
            double at = x[j], sum = (double)column[j - m->first[k]] * at;
            for (size_t p = k; p < m->count; p++) {
                if (row_of(m, k, p) < 0) {
                    continue;
                }
                const float *rows = column + row_of(m, k, p);
                for (size_t i = p == k ? j + 1 : m->first[p]; i < m->first[p + 1]; i++) {
                    product[i] += (double)rows[i - m->first[p]] * at;
                    sum += (double)rows[i - m->first[p]] * x[i];
                }
            }
            product[j] += sum;
        }
    }
}

/* Adds what the elimination of a part leaves of the parts that it reaches. */
static void pass_on(SnPartMatrix *m, size_t k)
{
    size_t width = width_of(m, k), below = m->height[k] - width;
    for (size_t p = k + 1; p < m->count; p++) {
        for (size_t q = p; q < m->count && row_of(m, k, p) >= 0; q++) {
            if (row_of(m, k, q) < 0) {
                continue;
            }
            for (size_t j = 0; j < width_of(m, p); j++) {
                const float *from = m->update + ((size_t)row_of(m, k, p) - width + j) * below + (size_t)row_of(m, k, q) - width;
                float *to = m->factor + m->panel[p] + j * m->height[p] + row_of(m, p, q);
                for (size_t i = q == p ? j : 0; i < width_of(m, q); i++) {
                    to[i] += from[i];
                }
            }
        }
    }
}

int sn_part_matrix_factorize(SnPartMatrix *m)
{
    int replaced = 0;
    for (size_t i = 0; i < m->size; i++) {
        m->diagonal[i] = m->factor[sn_part_matrix_place(m, i, i)];
    }
    for (size_t k = 0; k < m->count; k++) {
        float *panel = m->factor + m->panel[k];
        replaced += sn_panel_factorize(m->height[k], width_of(m, k), m->diagonal + m->first[k], panel);
        if (m->height[k] > width_of(m, k)) {
            sn_panel_update(m->height[k], width_of(m, k), panel, m->update);
            pass_on(m, k);
        }
    }
    return replaced;
}

/* The entries of x that a panel is about, taken out of it, or put back. */
static void carry(SnPartMatrix *m, size_t k, int back, float *x)
{
    for (size_t p = k; p < m->count; p++) {
        if (row_of(m, k, p) >= 0) {
            float *own = m->vector + row_of(m, k, p), *all = x + m->first[p];
            memcpy(back ? all : own, back ? own : all, width_of(m, p) * sizeof *x);
        }
    }
}

void sn_part_matrix_solve(SnPartMatrix *m, float *x)
{
    for (size_t k = 0; k < m->count; k++) {
        carry(m, k, 0, x);
        sn_panel_forward(m->height[k], width_of(m, k), m->factor + m->panel[k], m->vector);
        carry(m, k, 1, x);
    }
    for (size_t k = m->count; k-- > 0;) {
        carry(m, k, 0, x);
        sn_panel_backward(m->height[k], width_of(m, k), m->factor + m->panel[k], m->vector);
        carry(m, k, 1, x);
    }
}
