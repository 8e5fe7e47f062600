#include "dynamics/pressing.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE 0.5       /* of a step: as good as one */

void sn_pressing_clear(SnPressing *pressing)
{
    sn_touches_clear(&pressing->touches);
    sn_release(pressing->forces);
    sn_release(pressing->holds);
    *pressing = (SnPressing){0};
}

/* Room for what the touches press with. */
static SnStatus reserve(SnContext *context, SnPressing *pressing)
{
    SnStatus status = SN_OK;
    SN_TRY_ROOM(context, pressing->forces, pressing->touches.count, pressing->room);
    SN_TRY_ROOM(context, pressing->holds, 3 * pressing->touches.count, pressing->hold_room);
cleanup:
    return status;
}

SnStatus sn_pressing_copy(SnContext *context, const SnPressing *from, SnPressing *to)
{
    SnStatus status = SN_OK;
    to->touches.count = 0;
    SN_TRY(sn_near_keep(context, &from->touches, &to->touches));
    SN_TRY(reserve(context, to));
    if (to->touches.count > 0) {
        memcpy(to->forces, from->forces, to->touches.count * sizeof *to->forces);
        memcpy(to->holds, from->holds, 3 * to->touches.count * sizeof *to->holds);
    }
cleanup:
    return status;
}

SnStatus sn_pressing_find(SnContext *context, const SnPressing *known, double share, SnPressing *now)
{
    SnStatus status = reserve(context, now);
    for (size_t k = 0; k < now->touches.count && status == SN_OK; k++) {
        const SnTouch *found = known->touches.count == 0 ? NULL
                                                         : bsearch(now->touches.touches + k, known->touches.touches, known->touches.count,
                                                                   sizeof *found, sn_touch_compare);
        size_t at = found != NULL ? (size_t)(found - known->touches.touches) : 0;
        now->forces[k] = found != NULL ? share * known->forces[at] : 0.0;
        for (size_t a = 0; a < 3; a++) {
            now->holds[3 * k + a] = found != NULL ? share * known->holds[3 * at + a] : 0.0;
        }
    }
    return status;
}

void sn_pressing_spread(SnPressing *pressing, double part)
{
    for (size_t k = 0; k < pressing->touches.count && part < WHOLE; k++) {
        pressing->forces[k] *= part;
        for (size_t a = 0; a < 3; a++) {
            pressing->holds[3 * k + a] *= part;
        }
    }
}

size_t sn_pressing_count(const SnPressing *pressing)
{
    size_t count = 0;
    for (size_t k = 0; k < pressing->touches.count; k++) {
        count += pressing->forces[k] > 0.0;
    }
    return count;
}

void sn_pressing_save(const SnPressing *pressing, int32_t *keys, double *forces, double *holds)
{
    for (size_t k = 0; k < pressing->touches.count; k++) {
        if (pressing->forces[k] > 0.0) {
            memcpy(keys, pressing->touches.touches[k].key, sizeof pressing->touches.touches[k].key);
            memcpy(holds, pressing->holds + 3 * k, 3 * sizeof *holds);
            keys += sizeof pressing->touches.touches[k].key / sizeof *keys;
            holds += 3;
            *forces++ = pressing->forces[k];
        }
    }
}

SnStatus sn_pressing_restore(SnContext *context, size_t count, const int32_t *keys, const double *forces, const double *holds,
                             SnPressing *pressing)
{
    SnStatus status = SN_OK;
    SnPressing read = {0};
    SnTouches *touches = &read.touches;
    SN_TRY_ROOM(context, touches->touches, count, touches->capacity);
    for (; touches->count < count; touches->count++) {
        SnTouch *touch = touches->touches + touches->count;
        const double *hold = holds + 3 * touches->count, force = forces[touches->count];
        *touch = (SnTouch){0};
        memcpy(touch->key, keys + 5 * touches->count, sizeof touch->key);
        int rises = touches->count == 0 || sn_touch_compare(touch - 1, touch) < 0;
        if (!rises || !(force > 0.0) || !isfinite(force) || !isfinite(hold[0] + hold[1] + hold[2])) {
            status = sn_context_fail(context, SN_BAD_INPUT, "The contacts of the checkpoint are damaged: bake again from the start.");
            goto cleanup;
        }
    }
    SN_TRY(reserve(context, &read));
    if (count > 0) {
        memcpy(read.forces, forces, count * sizeof *forces);
        memcpy(read.holds, holds, 3 * count * sizeof *holds);
    }
    SN_TRY(sn_pressing_copy(context, &read, pressing));
cleanup:
    sn_pressing_clear(&read);
    return status;
}
