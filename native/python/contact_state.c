/* The state of a contact as bytes: how many pairs press, how many numbers tell what is exempt; of the pairs how hard each presses, how friction
   holds it, and its key; then those numbers. */
#include "python/contact_parts.h"

#include "base/memory.h"
#include "python/errors.h"

#include <string.h>

enum { KEY = 5, HOLD = 3 }; /* see dynamics/contact.h */

typedef struct State {
    uint64_t count, exempt_count;
    double *forces, *holds;
    int32_t *keys, *exempt;
} State;

static void state_clear(State *state)
{
    sn_release(state->forces);
    sn_release(state->holds);
    sn_release(state->keys);
    sn_release(state->exempt);
}

/* Room for what its counts say. */
static SnStatus state_init(SnContext *context, State *state)
{
    SnStatus status = SN_OK;
    SN_TRY_NEW(context, state->forces, state->count, double);
    SN_TRY_NEW(context, state->holds, HOLD * state->count, double);
    SN_TRY_NEW(context, state->keys, KEY * state->count, int32_t);
    SN_TRY_NEW(context, state->exempt, state->exempt_count, int32_t);
cleanup:
    return status;
}

/* Copies it out to bytes, or in from them; returns how many they are. Null: only counts. */
static size_t copy_state(State *state, char *bytes, int out)
{
    struct {
        void *data;
        size_t size;
    } parts[] = {{&state->count, sizeof state->count},
                 {&state->exempt_count, sizeof state->exempt_count},
                 {state->forces, state->count * sizeof *state->forces},
                 {state->holds, HOLD * state->count * sizeof *state->holds},
                 {state->keys, KEY * state->count * sizeof *state->keys},
                 {state->exempt, state->exempt_count * sizeof *state->exempt}};
    size_t size = 0;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        if (bytes != NULL && parts[k].size > 0 && out) {
            memcpy(bytes + size, parts[k].data, parts[k].size);
        } else if (bytes != NULL && parts[k].size > 0) {
            memcpy(parts[k].data, bytes + size, parts[k].size);
        }
        size += parts[k].size;
    }
    return size;
}

SnStatus sn_contact_state_restore(SnContext *context, SnContact *contact, PyObject *object)
{
    SnStatus status = SN_OK;
    State state = {0};
    char *bytes = object != NULL ? PyBytes_AsString(object) : NULL;
    size_t size = object != NULL ? (size_t)PyBytes_Size(object) : 0;
    if (bytes != NULL && size >= 2 * sizeof(uint64_t)) {
        memcpy(&state.count, bytes, sizeof state.count);
        memcpy(&state.exempt_count, bytes + sizeof state.count, sizeof state.exempt_count);
    }
    if (bytes != NULL && (state.count > size || state.exempt_count > size || copy_state(&state, NULL, 0) != size)) {
        state = (State){0};
        status = sn_context_fail(context, SN_BAD_INPUT, "The contacts of the checkpoint are damaged: bake again from the start.");
        goto cleanup;
    }
    SN_TRY(state_init(context, &state));
    if (bytes != NULL) {
        (void)copy_state(&state, bytes, 0);
    }
    SN_TRY(sn_contact_restore(context, contact, state.count, state.keys, state.forces, state.holds));
    SN_TRY(sn_contact_restore_exempt(context, contact, state.exempt_count, state.exempt));
cleanup:
    state_clear(&state);
    return status;
}

PyObject *sn_contact_state_save(const SnContact *contact, int is_active)
{
    SnContext context;
    State state = {0};
    PyObject *bytes = NULL;
    if (is_active) {
        state.count = sn_contact_pressing(contact);
        state.exempt_count = sn_contact_exempt_count(contact);
    }
    sn_context_init(&context);
    if (sn_errors_check(state_init(&context, &state), &context) == 0 &&
        (bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)copy_state(&state, NULL, 1))) != NULL) {
        if (state.count > 0) {
            sn_contact_save(contact, state.keys, state.forces, state.holds);
        }
        if (state.exempt_count > 0) {
            sn_contact_save_exempt(contact, state.exempt);
        }
        (void)copy_state(&state, PyBytes_AsString(bytes), 1);
    }
    state_clear(&state);
    return bytes;
}
