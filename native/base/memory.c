#if defined(__linux__)
#define _DEFAULT_SOURCE /* madvise */
#endif
#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#define HUGE_PAGE ((size_t)1 << 21)

static int allocation_must_fail(SnContext *context)
{
    if (context->allocations_until_failure < 0) {
        return 0;
    }
    if (context->allocations_until_failure == 0) {
        return 1;
    }
    context->allocations_until_failure--;
    return 0;
}

static void report_failure(SnContext *context, size_t count, size_t size)
{
    double megabytes = (double)count * (double)size / 1e6;
    (void)sn_context_fail(context, SN_OUT_OF_MEMORY,
                          "Out of memory (%.0f MB more were needed): lower the resolution or close other programs.",
                          megabytes);
}

/* Large arrays in large pages: reading a factor that no cache holds is then up to twice as fast. Only a hint. */
static void prefer_huge_pages(void *block, size_t bytes)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    uintptr_t begin = ((uintptr_t)block + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1), end = ((uintptr_t)block + bytes) & ~(HUGE_PAGE - 1);
    if (block != NULL && begin < end) {
        (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
    }
#else
    (void)block, (void)bytes;
#endif
}

void *sn_allocate(SnContext *context, size_t count, size_t size)
{
    void *block = NULL;
    if (!allocation_must_fail(context) && count <= SIZE_MAX / size) {
        block = calloc(count ? count : 1, size);
        prefer_huge_pages(block, count * size);
    }
    if (block == NULL) {
        report_failure(context, count, size);
    }
    return block;
}

void *sn_reallocate(SnContext *context, void *block, size_t count, size_t size)
{
    void *larger = NULL;
    if (!allocation_must_fail(context) && count <= SIZE_MAX / size) {
        larger = realloc(block, (count ? count : 1) * size);
    }
    if (larger == NULL) {
        report_failure(context, count, size);
    }
    return larger;
}

void *sn_make_room(SnContext *context, void *block, size_t wanted, size_t size, size_t *capacity)
{
    if (block != NULL && wanted <= *capacity) {
        return block;
    }
    size_t larger = wanted + wanted / 4;
    void *grown = sn_reallocate(context, block, larger, size);
    *capacity = grown == NULL ? *capacity : larger;
    return grown;
}

void sn_release(void *block)
{
    free(block);
}
