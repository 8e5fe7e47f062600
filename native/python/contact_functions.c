/* What contact finds out about meshes: where they run through each other, and how far pairs are and stay apart. */
#include "python/functions.h"

#include "base/memory.h"
#include "contact/ccd.h"
#include "contact/intersections.h"
#include "python/arrays.h"
#include "python/errors.h"
#include "python/types.h"

#include <string.h>

#define CROSSING_WIDTH 5 /* mesh and both points of the edge, mesh and number of the triangle */

typedef struct Meshes {
    size_t count;
    SnArray *arrays;      /* points and triangles of each; owned */
    SnSurfacePart *parts; /* owned */
    size_t open_count;    /* of the arrays */
} Meshes;

static void meshes_close(Meshes *meshes)
{
    sn_arrays_close(meshes->open_count, meshes->arrays);
    sn_release(meshes->arrays);
    sn_release(meshes->parts);
}

/* 0, or -1 with an exception; closed by meshes_close in either case. */
static int meshes_open(SnContext *context, PyObject *list, Meshes *meshes)
{
    if (!PyList_Check(list)) {
        PyErr_SetString(PyExc_TypeError, "meshes must be a list of (points, triangles)");
        return -1;
    }
    meshes->count = (size_t)PyList_Size(list);
    meshes->arrays = SN_NEW(context, 2 * meshes->count, SnArray);
    meshes->parts = SN_NEW(context, meshes->count, SnSurfacePart);
    if (meshes->arrays == NULL || meshes->parts == NULL) {
        return sn_errors_check(SN_OUT_OF_MEMORY, context);
    }
    for (size_t i = 0; i < meshes->count; i++) {
        SnArray *both = meshes->arrays + 2 * i;
        PyObject *mesh = PyList_GetItem(list, (Py_ssize_t)i);
        both[0] = (SnArray){.name = "points", .kind = 'd', .rows = -1, .columns = 3};
        both[1] = (SnArray){.name = "triangles", .kind = 'i', .rows = -1, .columns = 3};
        if (mesh == NULL || !PyTuple_Check(mesh)) {
            PyErr_SetString(PyExc_TypeError, "meshes must be a list of (points, triangles)");
            return -1;
        }
        if (!PyArg_ParseTuple(mesh, "OO;a mesh is (points, triangles)", &both[0].object, &both[1].object) || sn_arrays_open(2, both) < 0) {
            return -1;
        }
        meshes->open_count += 2;
        meshes->parts[i] = (SnSurfacePart){.point_count = (size_t)both[0].rows,
                                           .triangle_count = (size_t)both[1].rows,
                                           .rest = both[0].data,
                                           .triangles = both[1].data};
    }
    return 0;
}

static SnStatus find_crossings(SnContext *context, const Meshes *meshes, int own, SnSurface *surface, SnCrossings *crossings)
{
    SnStatus status = SN_OK;
    SN_TRY(sn_surface_init(context, meshes->count, meshes->parts, 0, surface));
    for (size_t b = 0; b < surface->body_count; b++) {
        sn_surface_set_meets(surface, b, b, own);
    }
    sn_context_stage(context, "Looking for crossings", 1);
    SN_TRY(sn_crossings_init(context, surface, crossings));
    SN_TRY(sn_crossings_find(context, crossings, surface->rest, 1));
cleanup:
    return status;
}

static PyObject *list_crossings(const SnSurface *surface, const SnCrossings *crossings)
{
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(CROSSING_WIDTH * crossings->count * sizeof(int32_t)));
    char *out = bytes != NULL ? PyBytes_AsString(bytes) : NULL;
    for (size_t i = 0; i < crossings->count && out != NULL; i++) {
        const SnCrossing *crossing = crossings->crossings + i;
        const int32_t *edge = surface->edges + 2 * (size_t)crossing->edge, *corners = surface->triangles + 3 * (size_t)crossing->triangle;
        int32_t mesh = surface->point_bodies[edge[0]], first = (int32_t)surface->bodies[mesh].first_point;
        const int32_t row[CROSSING_WIDTH] = {mesh, edge[0] - first, edge[1] - first, surface->point_bodies[corners[0]],
                                             surface->numbers[crossing->triangle]};
        memcpy(out + i * sizeof row, row, sizeof row);
    }
    return bytes;
}

/* crossings(meshes, own=True, monitor=None) -> bytes */
PyObject *sn_function_crossings(PyObject *module, PyObject *arguments)
{
    PyObject *list, *monitor = Py_None, *result = NULL;
    SnContext own_context, *context;
    Meshes meshes = {0};
    SnSurface surface = {0};
    SnCrossings crossings = {0};
    int own = 1;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O|pO:crossings", &list, &own, &monitor) ||
        (context = sn_monitor_context(monitor, &own_context)) == NULL) {
        return NULL;
    }
    if (meshes_open(context, list, &meshes) == 0) {
        SnStatus status;
        Py_BEGIN_ALLOW_THREADS
        status = find_crossings(context, &meshes, own, &surface, &crossings);
        Py_END_ALLOW_THREADS
        result = sn_errors_check(status, context) < 0 ? NULL : list_crossings(&surface, &crossings);
    }
    sn_crossings_clear(&crossings);
    sn_surface_clear(&surface);
    meshes_close(&meshes);
    return result;
}

/* pair_distances(points, edges, distances) */
PyObject *sn_function_pair_distances(PyObject *module, PyObject *arguments)
{
    SnArray arrays[] = {{.name = "points", .kind = 'd', .rows = -1, .columns = 12},
                        {.name = "distances", .kind = 'd', .columns = 1, .use = SN_ARRAY_WRITE}};
    int edges;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OpO:pair_distances", &arrays[0].object, &edges, &arrays[1].object) || sn_arrays_open(1, arrays) < 0) {
        return NULL;
    }
    arrays[1].rows = arrays[0].rows;
    if (sn_arrays_open(1, arrays + 1) < 0) {
        sn_arrays_close(1, arrays);
        return NULL;
    }
    const double(*x)[4][3] = arrays[0].data;
    double *distances = arrays[1].data;
    for (Py_ssize_t i = 0; i < arrays[0].rows; i++) {
        distances[i] = sqrt(edges ? sn_nearest_edges(x[i]).squared : sn_nearest_point_triangle(x[i]).squared);
    }
    sn_arrays_close(SN_COUNT(arrays), arrays);
    Py_RETURN_NONE;
}

/* pair_times(begin, end, edges, gap, times) */
PyObject *sn_function_pair_times(PyObject *module, PyObject *arguments)
{
    SnArray arrays[] = {{.name = "begin", .kind = 'd', .rows = -1, .columns = 12},
                        {.name = "end", .kind = 'd', .columns = 12},
                        {.name = "times", .kind = 'd', .columns = 1, .use = SN_ARRAY_WRITE}};
    double gap;
    int edges;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOpdO:pair_times", &arrays[0].object, &arrays[1].object, &edges, &gap, &arrays[2].object) ||
        sn_arrays_open(1, arrays) < 0) {
        return NULL;
    }
    arrays[1].rows = arrays[2].rows = arrays[0].rows;
    if (sn_arrays_open(2, arrays + 1) < 0) {
        sn_arrays_close(1, arrays);
        return NULL;
    }
    const double(*x)[4][3] = arrays[0].data, (*y)[4][3] = arrays[1].data;
    double *times = arrays[2].data;
    for (Py_ssize_t i = 0; i < arrays[0].rows; i++) {
        times[i] = sn_ccd_pair(edges, x[i], y[i], gap, NULL);
    }
    sn_arrays_close(SN_COUNT(arrays), arrays);
    Py_RETURN_NONE;
}
