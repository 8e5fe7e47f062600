/* Touches with what each presses with, N, without the share of a stage, and how friction holds it: what one stage hands on to the next. */
#ifndef SN_DYNAMICS_PRESSING_H
#define SN_DYNAMICS_PRESSING_H

#include "contact/near.h"

/* A zeroed one is empty; memory grows as needed and is kept. */
typedef struct SnPressing {
    SnTouches touches;
    double *forces, *holds; /* touches; x 3; owned */
    size_t room, hold_room;
} SnPressing;

void sn_pressing_clear(SnPressing *pressing);
SnStatus sn_pressing_copy(SnContext *context, const SnPressing *from, SnPressing *to);

/* What the touches in `now` press with: `share` times what was known, or nothing. */
SnStatus sn_pressing_find(SnContext *context, const SnPressing *known, double share, SnPressing *now);

/* What stops a body within a small part of a step is a large force for a short time: a whole step begins with what does the same in it. */
void sn_pressing_spread(SnPressing *pressing, double part);

/* Those that press: how many, their keys (x 5, rising), forces and holds (x 3). */
size_t sn_pressing_count(const SnPressing *pressing);
void sn_pressing_save(const SnPressing *pressing, int32_t *keys, double *forces, double *holds);
SnStatus sn_pressing_restore(SnContext *context, size_t count, const int32_t *keys, const double *forces, const double *holds,
                             SnPressing *pressing);

#endif
