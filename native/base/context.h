/* The context travels through every fallible call. It carries the error sentence out, the progress of long
   work to a watching thread, and that thread's wish to cancel in. One context serves one working thread. */
#ifndef SN_BASE_CONTEXT_H
#define SN_BASE_CONTEXT_H

#include "base/status.h"

#include <stdatomic.h>
#include <stddef.h>

#define SN_MESSAGE_SIZE 512

typedef struct SnContext {
    char message[SN_MESSAGE_SIZE]; /* one sentence for an artist; valid after a failure */
    _Atomic(const char *) stage;   /* static string */
    atomic_long done;
    atomic_long total;
    atomic_int cancelled;
    long allocations_until_failure; /* tests fail the n-th allocation; negative: never */
    long looks_until_cancelled;     /* tests cancel at the n-th look; negative: never */
} SnContext;

void sn_context_init(SnContext *context);

#if defined(__GNUC__)
#define SN_PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#else
#define SN_PRINTF_LIKE(text, first)
#endif

/* Writes the sentence and returns `status`, so that a failing site is one line. */
SnStatus sn_context_fail(SnContext *context, SnStatus status, const char *format, ...) SN_PRINTF_LIKE(3, 4);

/* Starts a stage of `total` steps. `stage` must be a static string. */
void sn_context_stage(SnContext *context, const char *stage, long total);

/* SN_CANCELLED (with its sentence) once the watcher asked for it: what every long loop looks at. */
SnStatus sn_context_look(SnContext *context);

/* Records progress, and looks. */
SnStatus sn_context_advance(SnContext *context, long done);

/* May be called from another thread. */
void sn_context_cancel(SnContext *context);

#endif
