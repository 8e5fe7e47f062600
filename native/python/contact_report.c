/* The report of a contact: how much work an interval was, where and how hard surfaces press, and where they are let overlap. */
#include "python/contact_parts.h"

#include "base/memory.h"
#include "python/errors.h"

#include <string.h>

/* Contacts that press, as arrays. */
typedef struct Pressed {
    PyObject *points, *normals, *forces, *surfaces;
} Pressed;

static void pressed_clear(Pressed *pressed)
{
    Py_XDECREF(pressed->points);
    Py_XDECREF(pressed->normals);
    Py_XDECREF(pressed->forces);
    Py_XDECREF(pressed->surfaces);
}

/* Halfway between the two sides of a touch. */
static void place_touch(const SnTouch *touch, const double *q, double place[3])
{
    memset(place, 0, 3 * sizeof *place);
    for (int i = 0; i < 4; i++) {
        int is_first = i < (touch->edges ? 2 : 1);
        for (size_t a = 0; a < 3; a++) {
            place[a] += 0.5 * (is_first ? touch->c[i] : -touch->c[i]) * q[3 * (size_t)touch->points[i] + a];
        }
    }
}

/* -1 with an exception. */
static int find_pressed(SnColliders *colliders, int was_active, Pressed *pressed)
{
    const SnSurface *surface = sn_colliders_surface(colliders);
    const SnContact *contact = sn_colliders_contact(colliders);
    const double *forces, *q = sn_contact_points(contact);
    const SnTouches *touches = sn_contact_touches(contact, &forces);
    size_t count = 0;
    for (size_t k = 0; was_active && k < touches->count; k++) {
        count += forces[k] > 0.0;
    }
    pressed->points = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(3 * count * sizeof(double)));
    pressed->normals = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(3 * count * sizeof(double)));
    pressed->forces = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(count * sizeof(double)));
    pressed->surfaces = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(2 * count * sizeof(int32_t)));
    if (pressed->points == NULL || pressed->normals == NULL || pressed->forces == NULL || pressed->surfaces == NULL) {
        return -1;
    }
    char *points = PyBytes_AsString(pressed->points), *normals = PyBytes_AsString(pressed->normals);
    char *strengths = PyBytes_AsString(pressed->forces), *sides = PyBytes_AsString(pressed->surfaces);
    for (size_t k = 0, at = 0; count > 0 && k < touches->count; k++) {
        const SnTouch *touch = touches->touches + k;
        if (forces[k] > 0.0) {
            double place[3];
            int32_t both[2] = {surface->point_bodies[touch->points[0]], surface->point_bodies[touch->points[3]]};
            place_touch(touch, q, place);
            memcpy(points + at * sizeof place, place, sizeof place);
            memcpy(normals + at * sizeof touch->n, touch->n, sizeof touch->n);
            memcpy(strengths + at * sizeof *forces, forces + k, sizeof *forces);
            memcpy(sides + at * sizeof both, both, sizeof both);
            at++;
        }
    }
    return 0;
}

/* Where surfaces are let overlap: points in bytes, and their surface twice each. -1 with an exception. */
static int find_exempt(SnColliders *colliders, int was_active, PyObject **points, PyObject **sides)
{
    const SnSurface *surface = sn_colliders_surface(colliders);
    const SnContact *contact = sn_colliders_contact(colliders);
    const double *q = sn_contact_points(contact);
    SnContext context;
    sn_context_init(&context);
    unsigned char *flags = SN_NEW(&context, surface->point_count, unsigned char);
    size_t count = 0;
    if (flags == NULL) {
        return sn_errors_check(SN_OUT_OF_MEMORY, &context);
    }
    if (was_active) {
        sn_tangles_show(sn_contact_tangles(contact), flags);
    }
    for (size_t p = 0; p < surface->point_count; p++) {
        count += flags[p] != 0;
    }
    *points = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(3 * count * sizeof *q));
    *sides = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(2 * count * sizeof(int32_t)));
    for (size_t p = 0, at = 0; *points != NULL && *sides != NULL && p < surface->point_count; p++) {
        if (flags[p] != 0) {
            const int32_t both[2] = {surface->point_bodies[p], surface->point_bodies[p]};
            memcpy(PyBytes_AsString(*points) + 3 * at * sizeof *q, q + 3 * p, 3 * sizeof *q);
            memcpy(PyBytes_AsString(*sides) + at * sizeof both, both, sizeof both);
            at++;
        }
    }
    sn_release(flags);
    return *points != NULL && *sides != NULL ? 0 : -1;
}

PyObject *sn_contact_report_build(SnColliders *colliders, int was_active, size_t crossings)
{
    Pressed pressed = {0};
    PyObject *result = NULL, *points = NULL, *sides = NULL;
    const SnContact *contact = sn_colliders_contact(colliders);
    SnContactReport report = was_active ? sn_contact_report(contact) : (SnContactReport){0};
    size_t exempt = was_active ? sn_contact_tangles(contact)->now.tangle_count : 0;
    if (find_pressed(colliders, was_active, &pressed) == 0 && find_exempt(colliders, was_active, &points, &sides) == 0) {
        result = Py_BuildValue("{s:n,s:l,s:l,s:l,s:l,s:n,s:l,s:n,s:O,s:O,s:O,s:O,s:O,s:O}", "planes", (Py_ssize_t)report.planes, "stages",
                               report.stages, "rounds", report.rounds, "ccds", report.ccds, "partial_steps", report.partial_steps, "exempt",
                               (Py_ssize_t)exempt, "pinched", report.pinched, "intersections", (Py_ssize_t)crossings, "points",
                               pressed.points, "normals", pressed.normals, "forces", pressed.forces, "surfaces", pressed.surfaces,
                               "exempt_points", points, "exempt_surfaces", sides);
    }
    Py_XDECREF(points);
    Py_XDECREF(sides);
    pressed_clear(&pressed);
    return result;
}
