#include "mesh/sides.h"

#include <stdlib.h>

static int compare(const void *left, const void *right)
{
    const SnSide *a = left, *b = right;
    if (a->low != b->low) {
        return a->low < b->low ? -1 : 1;
    }
    if (a->high != b->high) {
        return a->high < b->high ? -1 : 1;
    }
    return (a->slot > b->slot) - (a->slot < b->slot);
}

void sn_sides_sort(size_t count, SnSide *sides)
{
    qsort(sides, count, sizeof *sides, compare);
}
