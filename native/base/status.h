/* What a fallible function returns. The sentence that explains it is in the context. */
#ifndef SN_BASE_STATUS_H
#define SN_BASE_STATUS_H

typedef enum SnStatus {
    SN_OK = 0,
    SN_BAD_INPUT,       /* the caller gave something unusable; the sentence says what to do */
    SN_OUT_OF_MEMORY,
    SN_CANCELLED,
    SN_NUMERIC_FAILURE, /* no finite answer could be found */
    SN_STATUS_COUNT
} SnStatus;

/* Leave the function through its cleanup label when `call` fails.
   Expects a local `SnStatus status` and a label `cleanup`. */
#define SN_TRY(call)                     \
    do {                                 \
        status = (call);                 \
        if (status != SN_OK) {           \
            goto cleanup;                \
        }                                \
    } while (0)

#endif
