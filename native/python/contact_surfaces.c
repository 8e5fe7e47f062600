/* Surfaces of a contact: what members and obstacles are, and where they go. */
#include "python/contact_parts.h"

#include "base/memory.h"
#include "python/errors.h"
#include "python/options.h"

#include <string.h>

/* What a surface is told by, in this order. */
enum { REST, TRIANGLES, THICKNESS, FRICTION, GROUPS, MEMBERS };
enum { BEFORE, BEGIN, END, AFTER };

/* A truth of a dict, or `value`. -1 with an exception. */
static int read_flag(PyObject *dict, const char *name, int value)
{
    PyObject *found = PyDict_GetItemString(dict, name);
    return found != NULL ? PyObject_IsTrue(found) : value;
}

static int read_interpolation(PyObject *dict, SnInterpolation *interpolation)
{
    PyObject *found = PyDict_GetItemString(dict, "interpolation");
    PyObject *bytes = found != NULL ? PyUnicode_AsUTF8String(found) : NULL;
    if (found == NULL) {
        return 0;
    }
    int result = bytes != NULL ? sn_interpolation_choose(PyBytes_AsString(bytes), interpolation) : -1;
    Py_XDECREF(bytes);
    return result;
}

int sn_contact_surface_read(SnContext *context, PyObject *dict, size_t member, int is_obstacle, double friction, SnContactSurface *surface)
{
    static const char *const names[] = {"rest",    "triangles", "thickness",     "friction",       "groups",
                                        "members", "cage",      "interpolation", "self_collision", "body_collision"};
    const SnArray table[SN_SURFACE_ARRAYS] = {
        [REST] = {.name = names[REST], .kind = 'd', .rows = -1, .columns = 3},
        [TRIANGLES] = {.name = names[TRIANGLES], .kind = 'i', .rows = -1, .columns = 3},
        [THICKNESS] = {.name = names[THICKNESS], .kind = 'd', .columns = 1, .is_optional = 1},
        [FRICTION] = {.name = names[FRICTION], .kind = 'd', .columns = 1, .is_optional = 1},
        [GROUPS] = {.name = names[GROUPS], .kind = 'i', .columns = 1, .is_optional = 1},
        [MEMBERS] = {.name = names[MEMBERS], .kind = 'i', .rows = -1, .columns = 1, .is_optional = 1},
    };
    SnArray *a = memcpy(surface->arrays, table, sizeof table);
    if (Py_IsNone(dict) && !is_obstacle) { /* it has no surface here */
        surface->is_absent = 1;
        surface->collider = (SnCollider){.is_obstacle = 1};
        return 0;
    }
    if (sn_options_check_names(dict, is_obstacle ? "An obstacle" : "A member", SN_COUNT(names), names) < 0) {
        return -1;
    }
    for (size_t k = 0; k < SN_SURFACE_ARRAYS; k++) {
        a[k].object = PyDict_GetItemString(dict, names[k]);
    }
    if (sn_arrays_open(1, a) < 0) {
        return -1;
    }
    a[THICKNESS].rows = a[FRICTION].rows = a[GROUPS].rows = a[REST].rows;
    if (sn_arrays_open(SN_SURFACE_ARRAYS - 1, a + 1) < 0) {
        return -1;
    }
    PyObject *cage = PyDict_GetItemString(dict, "cage");
    if (cage != NULL && !Py_IsNone(cage)) {
        if (sn_cage_type_check(cage) < 0) {
            return -1;
        }
        surface->cage = Py_NewRef(cage);
    }
    surface->self_collision = read_flag(dict, "self_collision", 1);
    surface->body_collision = read_flag(dict, "body_collision", 1);
    surface->collider = (SnCollider){.is_obstacle = is_obstacle, .member = member, .interpolation = SN_INTERPOLATION_PHONG};
    if (surface->self_collision < 0 || surface->body_collision < 0 || read_interpolation(dict, &surface->collider.interpolation) < 0) {
        return -1;
    }
    size_t points = (size_t)a[REST].rows;
    if (a[FRICTION].data == NULL) {
        surface->friction = SN_NEW(context, points, double);
        if (surface->friction == NULL) {
            return sn_errors_check(SN_OUT_OF_MEMORY, context);
        }
        for (size_t k = 0; k < points; k++) {
            surface->friction[k] = friction;
        }
    }
    surface->collider.embedding = surface->cage != NULL ? sn_cage_type_embedding(surface->cage) : NULL;
    surface->collider.part = (SnSurfacePart){.point_count = points,
                                             .triangle_count = (size_t)a[TRIANGLES].rows,
                                             .rest = a[REST].data,
                                             .triangles = a[TRIANGLES].data,
                                             .thickness = a[THICKNESS].data,
                                             .friction = a[FRICTION].data != NULL ? a[FRICTION].data : surface->friction,
                                             .groups = a[GROUPS].data};
    return 0;
}

void sn_contact_surface_clear(SnContactSurface *surface)
{
    sn_contact_surface_close_way(surface);
    sn_arrays_close(SN_SURFACE_ARRAYS, surface->arrays);
    Py_CLEAR(surface->cage);
    sn_release(surface->friction);
    surface->friction = NULL;
}

int sn_contact_surface_meets(const SnContactSurface *obstacle, size_t member)
{
    const SnArray *named = obstacle->arrays + MEMBERS;
    int found = named->data == NULL;
    for (Py_ssize_t k = 0; named->data != NULL && k < named->rows; k++) {
        found |= ((const int32_t *)named->data)[k] == (int32_t)member;
    }
    return found;
}

int sn_contact_surface_lead(SnContactSurface *surface, PyObject *tuple, SnInputCurve *curve)
{
    SnArray *way = surface->way;
    Py_ssize_t points = (Py_ssize_t)surface->collider.part.point_count;
    static const char *const names[SN_WAY_ARRAYS] = {"before", "begin", "end", "after"};
    *curve = (SnInputCurve){.vertex_count = (size_t)points, .interval = 1.0};
    if (surface->is_absent) {
        return 0;
    }
    for (int k = 0; k < SN_WAY_ARRAYS; k++) {
        way[k] = (SnArray){.name = names[k], .kind = 'd', .rows = points, .columns = 3, .is_optional = k == BEFORE || k == AFTER};
    }
    int parsed = surface->collider.is_obstacle
                     ? PyTuple_Check(tuple) && PyArg_ParseTuple(tuple, "OO;an obstacle goes from begin to end", &way[BEGIN].object, &way[END].object)
                     : PyTuple_Check(tuple) && PyArg_ParseTuple(tuple, "OOOO;a surface is led by before, begin, end and after", &way[BEFORE].object,
                                                                &way[BEGIN].object, &way[END].object, &way[AFTER].object);
    if (!parsed) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_TypeError, "surfaces and obstacles are led by tuples of arrays");
        }
        return -1;
    }
    if (sn_arrays_open(SN_WAY_ARRAYS, way) < 0) {
        return -1;
    }
    *curve = (SnInputCurve){(size_t)points, way[BEFORE].data, way[BEGIN].data, way[END].data, way[AFTER].data, 1.0, NULL};
    return 0;
}

void sn_contact_surface_close_way(SnContactSurface *surface)
{
    sn_arrays_close(SN_WAY_ARRAYS, surface->way);
}
