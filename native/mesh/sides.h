/* The sides of triangles, sorted so that those that are one edge lie together: neighbours, hinges and edges come from them. */
#ifndef SN_MESH_SIDES_H
#define SN_MESH_SIDES_H

#include <stddef.h>
#include <stdint.h>

typedef struct SnSide {
    int32_t low, high; /* its ends */
    int32_t slot;      /* 3 * triangle + whatever tells which side of it */
} SnSide;

static inline SnSide sn_side(int32_t a, int32_t b, size_t slot)
{
    return (SnSide){a < b ? a : b, a < b ? b : a, (int32_t)slot};
}

static inline int sn_sides_are_one(const SnSide *a, const SnSide *b)
{
    return a->low == b->low && a->high == b->high;
}

/* By their ends, those that are one by their slots. */
void sn_sides_sort(size_t count, SnSide *sides);

#endif
