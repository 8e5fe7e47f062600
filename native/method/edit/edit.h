/* EDIT: a finished motion, pulled by handles (methods, section 5). Handles say where means of places are to be at moments; the edit is the
   one that needs the least forces over all time. */
#ifndef SN_METHOD_EDIT_EDIT_H
#define SN_METHOD_EDIT_EDIT_H

#include "method/edit/body.h"
#include "method/edit/kernel.h"

/* One place at one moment. Arrays must stay until the call that they are given to returns. */
typedef struct SnEditHandle {
    double time;           /* s */
    const double *shown;   /* vertices x 3: its shape at that moment without the edit */
    const double *patch;   /* vertices: what is pulled, a mean of vertices that adds up to 1 */
    const double *point;   /* vertices: what is to land, likewise */
    double target[3];      /* where, world metres */
    double direction[3];   /* not 0: only along this unit vector; 0: in all three */
    int is_bound;          /* along its direction it may be farther than its target: it is held from one side, as by a floor */
    double give;           /* 0: it is to land. Else, if any of a solve has some, all yield: this fraction of a pull it misses by, alone */
} SnEditHandle;

typedef struct SnEditSettings {
    int rounds;       /* of Newton, at most */
    double tolerance; /* fraction of size: how far from its target a handle may end */
    int goes_on;      /* from the edit of the last call, if all of its handles are there */
    int is_quick;     /* handles of the last call whose target stays, at other moments than those that move, are taken as linear: as while
                         one is dragged */
    int is_steady;    /* where handles yield: those along a direction, contacts, are linearised once a call; who asks looks what came of it */
} SnEditSettings;
SnEditSettings sn_edit_settings_default(void);

typedef struct SnEditReport {
    int rounds;
    double missed; /* m: the largest distance of a handle from its target */
    size_t shapes; /* of the basis */
} SnEditReport;

typedef struct SnEdit SnEdit;

SnStatus sn_edit_create(SnContext *context, const SnEditBodyDef *def, SnEdit **edit);
void sn_edit_destroy(SnEdit *edit);

/* Finds the edit of these handles. `missed` (count, m): how far each ended from its target. Depends on the handles alone unless it goes on. */
SnStatus sn_edit_solve(SnContext *context, SnEdit *edit, const SnEditMotion *motion, const SnEditSettings *settings, size_t count,
                       const SnEditHandle *handles, double *missed, SnEditReport *report);

/* result (vertices x 3): the edited shape of a moment that is shown so. To the bit as shown where there is no edit. */
SnStatus sn_edit_frame(SnContext *context, SnEdit *edit, double time, const double *shown, double *result);

/* p (vertices x 3): the same before it is turned with the shown cage, in rest axes. */
SnStatus sn_edit_field(SnContext *context, SnEdit *edit, double time, double *p);

/* squared (at most `room`): eigenvalues of the basis, rad²/s². Returns how many there are. */
size_t sn_edit_frequencies(const SnEdit *edit, size_t room, double *squared);

#endif
