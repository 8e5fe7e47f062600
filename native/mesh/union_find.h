/* Sets that grow together: items 0..count-1, each with a parent in its set. The smallest item of a set is its root, whatever the
   order in which items were joined, so that sets are met, and numbered, in the order of their first items. */
#ifndef SN_MESH_UNION_FIND_H
#define SN_MESH_UNION_FIND_H

#include <stddef.h>
#include <stdint.h>

/* Every item is a set of its own. */
static inline void sn_union_find_init(size_t count, int32_t *parents)
{
    for (size_t i = 0; i < count; i++) {
        parents[i] = (int32_t)i;
    }
}

/* The root of an item's set; makes the way there shorter. */
static inline int32_t sn_union_find_root(int32_t *parents, int32_t item)
{
    while (parents[item] != item) {
        parents[item] = parents[parents[item]];
        item = parents[item];
    }
    return item;
}

static inline void sn_union_find_join(int32_t *parents, int32_t a, int32_t b)
{
    a = sn_union_find_root(parents, a);
    b = sn_union_find_root(parents, b);
    parents[a > b ? a : b] = a > b ? b : a;
}

#endif
