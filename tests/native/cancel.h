/* Cancelling a call at every place where it looks. */
#ifndef SN_TESTS_CANCEL_H
#define SN_TESTS_CANCEL_H

#include "check.h"

#include "base/context.h"

#include <string.h>

#define CANCEL_MOST_LOOKS 5000

/* Cancelled at its first look, its second (sanitized: its fourth), ... until it comes through: it must look so often at least, then be in a stage (null: any)
   that it is through with or in. What a call has made it must have cleared. */
static inline void cancel_at_every_look(const char *name, SnStatus (*call)(SnContext *context, void *data), void *data, long least_looks,
                                        const char *stage)
{
    SnContext context;
    SnStatus status = SN_CANCELLED;
    long looks = -1;
    while (status == SN_CANCELLED && looks < CANCEL_MOST_LOOKS) {
        looks += CHECK_IS_SLOW ? 3 : 1;
        sn_context_init(&context);
        context.looks_until_cancelled = looks;
        status = call(&context, data);
        CHECK(status == SN_OK || (status == SN_CANCELLED && strlen(context.message) > 0));
    }
    const char *ended = atomic_load(&context.stage);
    long done = atomic_load(&context.done), total = atomic_load(&context.total);
    if (!CHECK(status == SN_OK && looks >= least_looks && (stage != NULL ? strcmp(ended, stage) == 0 : strlen(ended) > 0))) {
        printf("  %s looked %ld times, ended in \"%s\"\n", name, looks, ended);
    }
    CHECK(total > 0 && done >= 0 && done <= total);
}

#endif
