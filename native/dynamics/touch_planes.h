/* From touches (contact/near.h) to planes (dynamics/planes.h): a touch is weights over points, a plane a row over unknowns. */
#ifndef SN_DYNAMICS_TOUCH_PLANES_H
#define SN_DYNAMICS_TOUCH_PLANES_H

#include "contact/near.h"
#include "dynamics/planes.h"
#include "dynamics/skin.h"

/* Rows of points are asked for once while skins are frozen, and kept. */
typedef struct SnTouchRows {
    const SnSurface *surface;
    const SnSkin *skins;        /* bodies of the surface */
    const SnAssembly *assembly;
    int32_t *starts, *counts;   /* points: their entries; starts -1: not asked for; owned */
    int32_t *unknowns;          /* entries: -1 where the vertex is fixed; owned */
    double *weights;            /* owned */
    size_t entry_count, entry_room;
    int32_t *vertices;          /* room for one row; owned */
    double *row;
    double *sums;               /* unknowns: zero between uses; owned */
    int32_t *summed;            /* which of them are not */
    unsigned char *is_summed;
    size_t summed_count;
    double summed_all;          /* of what was summed, with no sign */
} SnTouchRows;

SnStatus sn_touch_rows_init(SnContext *context, const SnSurface *surface, const SnSkin *skins, const SnAssembly *assembly,
                            SnTouchRows *rows);
void sn_touch_rows_clear(SnTouchRows *rows);

/* The skins were frozen anew. */
void sn_touch_rows_forget(SnTouchRows *rows);

/* The moment that planes are made for. */
typedef struct SnTouchMoment {
    const double *positions; /* vertices x 3, ... */
    const double *points;    /* ... and x 3: where they have the points */
    const double *offset;    /* points x 3: where friction counts from */
    const double *hardness;  /* unknowns, N/m */
    double most_gain;        /* metres: the gap that is wanted is not larger than the distance by more than this */
} SnTouchMoment;

/* One plane for each touch; those that nothing free moves have no rows and never press. `forces`: what each presses with, N; `holds` (x 3): how
   friction holds it. */
SnStatus sn_touch_planes_build(SnContext *context, SnTouchRows *rows, const SnTouches *touches, const double *forces, const double *holds,
                               const SnTouchMoment *moment, SnPlanes *planes);

/* The multipliers of a plane, from what its touch presses with and how friction holds it: along the plane, and no more than it bears. */
void sn_touch_press(SnPlane *plane, double friction, double force, const double hold[3]);

/* The coefficient of friction of a touch. */
double sn_touch_friction(const SnSurface *surface, const SnTouch *touch);

#endif
