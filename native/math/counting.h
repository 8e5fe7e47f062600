/* Sorting by counting. */
#ifndef SN_MATH_COUNTING_H
#define SN_MATH_COUNTING_H

#include <stddef.h>

/* Counts in starts[1..count] become places, moved by one: filling row i moves starts[i + 1] to its end, and starts[i] is its own place then. */
static inline void sn_starts_of_counts(size_t count, size_t *starts)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        size_t own = starts[i + 1];
        starts[i + 1] = sum;
        sum += own;
    }
}

#endif
