#include "python/functions.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "dynamics/weights.h"
#include "energy/density.h"
#include "math/linear_solver.h"
#include "mesh/detail.h"
#include "mesh/mend.h"
#include "mesh/surface_distance.h"
#include "mesh/tri_mesh.h"
#include "method/enrich/flesh.h"
#include "python/arrays.h"
#include "python/errors.h"
#include "python/types.h"

#include <math.h>
#include <string.h>

int sn_density_choose(const char *name, void *field)
{
    static const SnDensity *const energies[] = {&sn_density_neo_hookean, &sn_density_stvk};
    for (size_t k = 0; k < SN_COUNT(energies); k++) {
        if (strcmp(energies[k]->name, name) == 0) {
            *(const SnDensity **)field = energies[k];
            return 0;
        }
    }
    sn_errors_set(SN_BAD_INPUT, "There is no energy \"%s\": use neo_hookean or stvk.", name);
    return -1;
}

int sn_scheme_choose(const char *name, void *field)
{
    if (strcmp(name, "tr_bdf2") == 0) {
        *(SnScheme *)field = SN_SCHEME_TR_BDF2;
    } else if (strcmp(name, "implicit_euler") == 0) {
        *(SnScheme *)field = SN_SCHEME_IMPLICIT_EULER;
    } else {
        sn_errors_set(SN_BAD_INPUT, "There is no scheme \"%s\": use tr_bdf2 or implicit_euler.", name);
        return -1;
    }
    return 0;
}

/* vertex_areas(positions, triangles, areas, monitor=None) -> size of the mesh */
PyObject *sn_function_vertex_areas(PyObject *module, PyObject *arguments)
{
    SnArray arrays[] = {{.name = "positions", .kind = 'd', .rows = -1, .columns = 3, .use = SN_ARRAY_READ_WITH_NAN},
                        {.name = "triangles", .kind = 'i', .rows = -1, .columns = 3},
                        {.name = "areas", .kind = 'd', .rows = -1, .columns = 1, .use = SN_ARRAY_WRITE}};
    PyObject *monitor = Py_None;
    SnContext own, *context;
    double size = 0.0;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOO|O:vertex_areas", &arrays[0].object, &arrays[1].object, &arrays[2].object, &monitor) ||
        (context = sn_monitor_context(monitor, &own)) == NULL ||
        sn_arrays_open(SN_COUNT(arrays), arrays) < 0) {
        return NULL;
    }
    SnTriMesh mesh = {(size_t)arrays[0].rows, (size_t)arrays[1].rows, arrays[0].data, arrays[1].data};
    SnStatus status = sn_tri_mesh_check(context, &mesh); /* it names what is not finite */
    if (arrays[2].rows != arrays[0].rows) {
        status = sn_context_fail(context, SN_BAD_INPUT, "areas has the wrong shape: give one for each vertex.");
    }
    if (status == SN_OK) {
        sn_context_stage(context, "Measuring the surface", 1);
        Py_BEGIN_ALLOW_THREADS
        status = sn_tri_mesh_vertex_areas(context, &mesh, arrays[2].data);
        size = sn_tri_mesh_size(&mesh);
        Py_END_ALLOW_THREADS
    }
    sn_arrays_close(SN_COUNT(arrays), arrays);
    return sn_errors_check(status, context) < 0 ? NULL : PyFloat_FromDouble(size);
}

/* surface_distance(positions, triangles, points, distances, nearest, monitor=None) */
PyObject *sn_function_surface_distance(PyObject *module, PyObject *arguments)
{
    SnArray arrays[] = {{.name = "positions", .kind = 'd', .rows = -1, .columns = 3},
                        {.name = "triangles", .kind = 'i', .rows = -1, .columns = 3},
                        {.name = "points", .kind = 'd', .rows = -1, .columns = 3},
                        {.name = "distances", .kind = 'd', .rows = -1, .columns = 1, .use = SN_ARRAY_WRITE},
                        {.name = "nearest", .kind = 'i', .rows = -1, .columns = 1, .use = SN_ARRAY_WRITE}};
    PyObject *monitor = Py_None;
    SnContext own, *context;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOOO|O:surface_distance", &arrays[0].object, &arrays[1].object, &arrays[2].object,
                          &arrays[3].object, &arrays[4].object, &monitor) ||
        (context = sn_monitor_context(monitor, &own)) == NULL ||
        sn_arrays_open(SN_COUNT(arrays), arrays) < 0) {
        return NULL;
    }
    SnTriMesh mesh = {(size_t)arrays[0].rows, (size_t)arrays[1].rows, arrays[0].data, arrays[1].data};
    SnStatus status = sn_tri_mesh_check(context, &mesh);
    if (arrays[3].rows != arrays[2].rows || arrays[4].rows != arrays[2].rows) {
        status = sn_context_fail(context, SN_BAD_INPUT, "distances or nearest has the wrong shape: give one for each point.");
    }
    if (status == SN_OK) {
        Py_BEGIN_ALLOW_THREADS
        status = sn_surface_distance(context, &mesh, (size_t)arrays[2].rows, arrays[2].data, arrays[3].data, arrays[4].data);
        Py_END_ALLOW_THREADS
    }
    sn_arrays_close(SN_COUNT(arrays), arrays);
    return sn_errors_none(status, context);
}

int sn_interpolation_choose(const char *name, void *field)
{
    SnInterpolation *interpolation = field;
    if (strcmp(name, "phong") != 0 && strcmp(name, "linear") != 0) {
        sn_errors_set(SN_BAD_INPUT, "There is no interpolation \"%s\": use linear or phong.", name);
        return -1;
    }
    *interpolation = strcmp(name, "phong") == 0 ? SN_INTERPOLATION_PHONG : SN_INTERPOLATION_LINEAR;
    return 0;
}

/* apply_detail(cage, fitted, simulated, input or None, interpolation, result) */
PyObject *sn_function_apply_detail(PyObject *module, PyObject *arguments)
{
    SnArray arrays[] = {{.name = "fitted", .kind = 'd', .columns = 3},
                        {.name = "simulated", .kind = 'd', .columns = 3},
                        {.name = "input", .kind = 'd', .columns = 3, .is_optional = 1},
                        {.name = "result", .kind = 'd', .columns = 3, .use = SN_ARRAY_WRITE}};
    PyObject *cage;
    const char *name;
    SnInterpolation interpolation;
    SnContext context;
    SnStatus status;
    (void)module;
    sn_context_init(&context);
    if (!PyArg_ParseTuple(arguments, "OOOOsO:apply_detail", &cage, &arrays[0].object, &arrays[1].object, &arrays[2].object, &name,
                          &arrays[3].object) ||
        sn_cage_type_check(cage) < 0 || sn_interpolation_choose(name, &interpolation) < 0) {
        return NULL;
    }
    const SnTetMesh *mesh = sn_cage_type_mesh(cage);
    const SnEmbedding *embedding = sn_cage_type_embedding(cage);
    arrays[0].rows = arrays[1].rows = (Py_ssize_t)mesh->vertex_count;
    arrays[2].rows = arrays[3].rows = (Py_ssize_t)embedding->vertex_count;
    if (sn_arrays_open(SN_COUNT(arrays), arrays) < 0) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    status = sn_detail_apply(&context, mesh, embedding, arrays[0].data, arrays[1].data, arrays[2].data, interpolation,
                             arrays[3].data);
    Py_END_ALLOW_THREADS
    sn_arrays_close(SN_COUNT(arrays), arrays);
    return sn_errors_none(status, &context);
}

static SnStatus find_cage_weights(SnContext *context, const SnCagedBody *body, const SnEnrichPaint *paint, double *weights)
{
    unsigned char *followed = SN_NEW(context, body->cage->vertex_count, unsigned char);
    if (followed == NULL) {
        return SN_OUT_OF_MEMORY;
    }
    memset(weights, 0, body->cage->vertex_count * sizeof *weights);
    SnStatus status = sn_flesh_weights(context, body, paint, weights, followed);
    sn_release(followed);
    return status;
}

/* cage_weights(cage, areas, follow, cage_follow or None, result, monitor=None) */
PyObject *sn_function_cage_weights(PyObject *module, PyObject *arguments)
{
    SnArray arrays[] = {{.name = "areas", .kind = 'd', .columns = 1},
                        {.name = "follow", .kind = 'd', .columns = 1},
                        {.name = "cage_follow", .kind = 'd', .columns = 1, .use = SN_ARRAY_READ_WITH_NAN, .is_optional = 1},
                        {.name = "result", .kind = 'd', .columns = 1, .use = SN_ARRAY_WRITE}};
    PyObject *cage, *monitor = Py_None;
    SnContext own, *context;
    SnStatus status;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOOO|O:cage_weights", &cage, &arrays[0].object, &arrays[1].object, &arrays[2].object,
                          &arrays[3].object, &monitor) ||
        (context = sn_monitor_context(monitor, &own)) == NULL ||
        sn_cage_type_check(cage) < 0) {
        return NULL;
    }
    SnCagedBody body = {.cage = sn_cage_type_mesh(cage), .embedding = sn_cage_type_embedding(cage)};
    arrays[0].rows = arrays[1].rows = (Py_ssize_t)body.embedding->vertex_count;
    arrays[2].rows = arrays[3].rows = (Py_ssize_t)body.cage->vertex_count;
    if (sn_arrays_open(SN_COUNT(arrays), arrays) < 0) {
        return NULL;
    }
    body.areas = arrays[0].data;
    SnEnrichPaint paint = {.follow = arrays[1].data, .cage_follow = arrays[2].data};
    sn_context_stage(context, "Spreading the weights", 1);
    Py_BEGIN_ALLOW_THREADS
    status = find_cage_weights(context, &body, &paint, arrays[3].data);
    Py_END_ALLOW_THREADS
    sn_arrays_close(SN_COUNT(arrays), arrays);
    return sn_errors_none(status, context);
}

/* spread_weights(cage, areas, weights, inside, monitor=None) */
PyObject *sn_function_spread_weights(PyObject *module, PyObject *arguments)
{
    SnArray arrays[] = {{.name = "areas", .kind = 'd', .columns = 1},
                        {.name = "weights", .kind = 'd', .columns = 1, .use = SN_ARRAY_READ_WITH_NAN},
                        {.name = "result", .kind = 'd', .columns = 1, .use = SN_ARRAY_WRITE}};
    PyObject *cage, *monitor = Py_None;
    SnContext own, *context;
    SnStatus status;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOO|O:spread_weights", &cage, &arrays[0].object, &arrays[1].object, &arrays[2].object, &monitor) ||
        (context = sn_monitor_context(monitor, &own)) == NULL ||
        sn_cage_type_check(cage) < 0) {
        return NULL;
    }
    const SnTetMesh *mesh = sn_cage_type_mesh(cage);
    const SnEmbedding *embedding = sn_cage_type_embedding(cage);
    arrays[0].rows = arrays[1].rows = (Py_ssize_t)embedding->vertex_count;
    arrays[2].rows = (Py_ssize_t)mesh->vertex_count;
    if (sn_arrays_open(SN_COUNT(arrays), arrays) < 0) {
        return NULL;
    }
    sn_context_stage(context, "Spreading the weights", 1);
    Py_BEGIN_ALLOW_THREADS
    status = sn_weights_over_cage(context, mesh, embedding, arrays[0].data, arrays[1].data, arrays[2].data, arrays[2].data);
    Py_END_ALLOW_THREADS
    sn_arrays_close(SN_COUNT(arrays), arrays);
    return sn_errors_none(status, context);
}

/* mend_tets(positions, tets, leashes, goal, rounds, monitor=None) */
PyObject *sn_function_mend_tets(PyObject *module, PyObject *arguments)
{
    SnArray arrays[] = {{.name = "positions", .kind = 'd', .rows = -1, .columns = 3, .use = SN_ARRAY_WRITE},
                        {.name = "tets", .kind = 'i', .rows = -1, .columns = 4},
                        {.name = "leashes", .kind = 'd', .rows = -1, .columns = 1, .use = SN_ARRAY_READ_WITH_NAN}};
    PyObject *monitor = Py_None;
    SnContext own, *context;
    SnStatus status = SN_OK;
    SnMendDef def = sn_mend_def_default();
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOdi|O:mend_tets", &arrays[0].object, &arrays[1].object, &arrays[2].object, &def.goal,
                          &def.rounds, &monitor) ||
        (context = sn_monitor_context(monitor, &own)) == NULL || sn_arrays_open(SN_COUNT(arrays), arrays) < 0) {
        return NULL;
    }
    def.vertex_count = (size_t)arrays[0].rows;
    def.tet_count = (size_t)arrays[1].rows;
    def.tets = arrays[1].data;
    def.leashes = arrays[2].data;
    if (arrays[2].rows != arrays[0].rows) {
        status = sn_context_fail(context, SN_BAD_INPUT, "leashes has the wrong shape: give one for each vertex.");
    } else {
        Py_BEGIN_ALLOW_THREADS
        status = sn_mend_tets(context, &def, arrays[0].data);
        Py_END_ALLOW_THREADS
    }
    sn_arrays_close(SN_COUNT(arrays), arrays);
    return sn_errors_none(status, context);
}

PyObject *sn_function_set_threads(PyObject *module, PyObject *count)
{
    long threads = PyLong_AsLong(count);
    (void)module;
    if (threads == -1 && PyErr_Occurred()) {
        return NULL;
    }
    sn_parallel_set_thread_count((int)threads);
    Py_RETURN_NONE;
}

PyObject *sn_function_info(PyObject *module, PyObject *unused)
{
    int version[3] = {0};
    const char *library = sn_linear_solver_library(version);
    (void)module, (void)unused;
    return Py_BuildValue("{s:s,s:s,s:s,s:(iii),s:s,s:i}", "version", SN_VERSION, "instructions", SN_INSTRUCTIONS, "solver", library,
                         "solver_version", version[0], version[1], version[2], "solver_file", sn_linear_solver_file(), "threads",
                         sn_parallel_thread_count());
}
