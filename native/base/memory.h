/* Every allocation of the core goes through here, so that a test can fail the n-th one. */
#ifndef SN_BASE_MEMORY_H
#define SN_BASE_MEMORY_H

#include "base/context.h"

/* Zeroed memory for `count` items of `size` bytes, or null with the out-of-memory sentence written.
   Zero items give a valid, releasable pointer. */
void *sn_allocate(SnContext *context, size_t count, size_t size);

/* Resizes to `count` items; contents are kept, new items are not zeroed. On failure null, the old block stays. */
void *sn_reallocate(SnContext *context, void *block, size_t count, size_t size);

/* The block with room for `wanted` items and some more, so that what grows little by little is seldom moved; null, and the block as it
   was, where there is no memory. */
void *sn_make_room(SnContext *context, void *block, size_t wanted, size_t size, size_t *capacity);

/* Accepts null. */
void sn_release(void *block);

#define SN_NEW(context, count, Type) ((Type *)sn_allocate((context), (size_t)(count), sizeof(Type)))

/* Allocates into `pointer`, or leaves through the cleanup label (see SN_TRY). */
#define SN_TRY_NEW(context, pointer, count, Type)        \
    do {                                                 \
        (pointer) = SN_NEW((context), (count), Type);    \
        if ((pointer) == NULL) {                         \
            status = SN_OUT_OF_MEMORY;                   \
            goto cleanup;                                \
        }                                                \
    } while (0)

/* Makes room in `block` for `wanted` items, or leaves through the cleanup label. */
#define SN_TRY_ROOM(context, block, wanted, capacity)                                           \
    do {                                                                                        \
        void *room = sn_make_room((context), (block), (wanted), sizeof *(block), &(capacity));  \
        if (room == NULL) {                                                                     \
            status = SN_OUT_OF_MEMORY;                                                          \
            goto cleanup;                                                                       \
        }                                                                                       \
        (block) = room;                                                                         \
    } while (0)

#endif
