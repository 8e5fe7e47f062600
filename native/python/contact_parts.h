/* What a Contact is put together from: surfaces and the ways that they are led, its state as bytes, its report. */
#ifndef SN_PYTHON_CONTACT_PARTS_H
#define SN_PYTHON_CONTACT_PARTS_H

#include "python/types.h"

#include "dynamics/colliders.h"
#include "python/arrays.h"

#define SN_SURFACE_ARRAYS 6
#define SN_WAY_ARRAYS 4

typedef struct SnContactSurface {
    SnArray arrays[SN_SURFACE_ARRAYS]; /* open as long as it lives */
    SnArray way[SN_WAY_ARRAYS];        /* where it goes in the interval that is led; open until the ensemble has advanced */
    PyObject *cage;                    /* a reference: whose embedding it is; null: the simulation's own */
    double *friction;                  /* where none is told; owned */
    SnCollider collider;
    int self_collision, body_collision;
    int is_absent;                     /* a member that does not collide */
    int is_active;                     /* in the interval that is led */
} SnContactSurface;

/* What a member or an obstacle is, from its dict; a member may be None. -1 with an exception; what is open then is closed by `clear`. */
int sn_contact_surface_read(SnContext *context, PyObject *dict, size_t member, int is_obstacle, double friction, SnContactSurface *surface);
void sn_contact_surface_clear(SnContactSurface *surface);

/* Whether an obstacle meets a member: all of them, if it names none. */
int sn_contact_surface_meets(const SnContactSurface *obstacle, size_t member);

/* Opens where a surface goes in an interval. -1 with an exception. */
int sn_contact_surface_lead(SnContactSurface *surface, PyObject *tuple, SnInputCurve *curve);
void sn_contact_surface_close_way(SnContactSurface *surface);

/* What a contact carries from one interval to the next, as bytes; `is_active` says whether there was any. Null bytes: that of a start. */
PyObject *sn_contact_state_save(const SnContact *contact, int is_active);
SnStatus sn_contact_state_restore(SnContext *context, SnContact *contact, PyObject *bytes);

/* The report of an interval as a dict: numbers, and contacts as arrays in bytes. */
PyObject *sn_contact_report_build(SnColliders *colliders, int was_active, size_t crossings);

#endif
