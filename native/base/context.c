#include "base/context.h"

#include <stdarg.h>
#include <stdio.h>

void sn_context_init(SnContext *context)
{
    context->message[0] = '\0';
    atomic_init(&context->stage, "");
    atomic_init(&context->done, 0);
    atomic_init(&context->total, 0);
    atomic_init(&context->cancelled, 0);
    context->allocations_until_failure = -1;
    context->looks_until_cancelled = -1;
}

SnStatus sn_context_fail(SnContext *context, SnStatus status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(context->message, sizeof context->message, format, arguments);
    va_end(arguments);
    return status;
}

void sn_context_stage(SnContext *context, const char *stage, long total)
{
    atomic_store(&context->done, 0);
    atomic_store(&context->total, total);
    atomic_store(&context->stage, stage);
}

SnStatus sn_context_look(SnContext *context)
{
    if (context->looks_until_cancelled == 0) {
        sn_context_cancel(context);
    }
    context->looks_until_cancelled -= context->looks_until_cancelled > 0;
    if (atomic_load(&context->cancelled)) {
        return sn_context_fail(context, SN_CANCELLED, "Cancelled.");
    }
    return SN_OK;
}

SnStatus sn_context_advance(SnContext *context, long done)
{
    atomic_store(&context->done, done);
    return sn_context_look(context);
}

void sn_context_cancel(SnContext *context)
{
    atomic_store(&context->cancelled, 1);
}
