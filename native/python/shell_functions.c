/* Functions over thin surfaces. */
#include "python/functions.h"

#include "mesh/cluster.h"
#include "python/arrays.h"
#include "python/errors.h"
#include "python/types.h"

/* regions_of(poses, vertices, triangles, count, compact, rounds, regions, monitor=None) -> how many there are */
PyObject *sn_function_regions_of(PyObject *module, PyObject *arguments)
{
    SnArray a[] = {{.name = "poses", .kind = 'd', .rows = -1, .columns = 3},
                   {.name = "triangles", .kind = 'i', .rows = -1, .columns = 3},
                   {.name = "regions", .kind = 'i', .rows = -1, .columns = 1, .use = SN_ARRAY_WRITE}};
    SnClusterDef def = {0};
    PyObject *monitor = Py_None;
    SnContext own, *context;
    SnStatus status = SN_OK;
    Py_ssize_t vertices, count;
    size_t found = 0;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OnOndiO|O:regions_of", &a[0].object, &vertices, &a[1].object, &count, &def.compact, &def.rounds,
                          &a[2].object, &monitor) ||
        (context = sn_monitor_context(monitor, &own)) == NULL || sn_arrays_open(SN_COUNT(a), a) < 0) {
        return NULL;
    }
    int is_sound = vertices > 0 && a[0].rows > 0 && a[0].rows % vertices == 0 && a[1].rows > 0 && a[2].rows == a[1].rows && count > 0;
    const int32_t *corner = a[1].data;
    for (Py_ssize_t k = 0; k < 3 * a[1].rows && is_sound; k++) {
        is_sound = corner[k] >= 0 && corner[k] < vertices;
    }
    if (is_sound) {
        def.vertex_count = (size_t)vertices;
        def.pose_count = (size_t)(a[0].rows / vertices);
        def.triangle_count = (size_t)a[1].rows;
        def.triangles = a[1].data;
        def.poses = a[0].data;
        def.region_count = (size_t)(count < a[1].rows ? count : a[1].rows);
        Py_BEGIN_ALLOW_THREADS
        status = sn_cluster_find(context, &def, a[2].data, &found);
        Py_END_ALLOW_THREADS
    }
    sn_arrays_close(SN_COUNT(a), a);
    if (!is_sound) {
        PyErr_SetString(PyExc_TypeError, "regions are found on poses of vertices, with triangles over them and room for each");
        return NULL;
    }
    return sn_errors_check(status, context) < 0 ? NULL : PyLong_FromSize_t(found);
}
