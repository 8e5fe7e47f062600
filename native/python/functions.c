#include "python/functions.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "dynamics/weights.h"
#include "energy/energy.h"
#include "math/linear_solver.h"
#include "mesh/detail.h"
#include "mesh/mend.h"
#include "mesh/tri_mesh.h"
#include "python/buffers.h"
#include "python/errors.h"
#include "python/types.h"

#include <math.h>
#include <string.h>

const SnEnergy *sn_energy_by_name(const char *name)
{
    static const SnEnergy *const energies[] = {&sn_energy_neo_hookean, &sn_energy_stvk};
    for (size_t k = 0; k < sizeof energies / sizeof *energies; k++) {
        if (strcmp(energies[k]->name, name) == 0) {
            return energies[k];
        }
    }
    sn_errors_set(SN_BAD_INPUT, "There is no energy \"%s\": use neo_hookean or stvk.", name);
    return NULL;
}

int sn_scheme_by_name(const char *name, SnScheme *scheme)
{
    if (strcmp(name, "tr_bdf2") == 0) {
        *scheme = SN_SCHEME_TR_BDF2;
    } else if (strcmp(name, "implicit_euler") == 0) {
        *scheme = SN_SCHEME_IMPLICIT_EULER;
    } else {
        sn_errors_set(SN_BAD_INPUT, "There is no scheme \"%s\": use tr_bdf2 or implicit_euler.", name);
        return -1;
    }
    return 0;
}

/* vertex_areas(positions, triangles, areas) -> size of the mesh */
PyObject *sn_function_vertex_areas(PyObject *module, PyObject *arguments)
{
    PyObject *objects[3], *result = NULL;
    SnBuffer positions = {0}, triangles = {0}, areas = {0};
    SnContext context;
    (void)module;
    sn_context_init(&context);
    if (!PyArg_ParseTuple(arguments, "OOO:vertex_areas", &objects[0], &objects[1], &objects[2])) {
        return NULL;
    }
    if (sn_buffer_read_doubles(objects[0], "positions", -1, 3, &positions) == 0 &&
        sn_buffer_read_ints(objects[1], "triangles", -1, 3, &triangles) == 0 &&
        sn_buffer_write_doubles(objects[2], "areas", positions.rows, 1, &areas) == 0) {
        SnTriMesh mesh = {(size_t)positions.rows, (size_t)triangles.rows, positions.view.buf, triangles.view.buf};
        SnStatus status = sn_tri_mesh_check(&context, &mesh);
        if (status == SN_OK) {
            status = sn_tri_mesh_vertex_areas(&context, &mesh, areas.view.buf);
        }
        if (sn_errors_check(status, &context) == 0) {
            result = PyFloat_FromDouble(sn_tri_mesh_size(&mesh));
        }
    }
    sn_buffer_close(&positions);
    sn_buffer_close(&triangles);
    sn_buffer_close(&areas);
    return result;
}

/* apply_detail(cage, fitted, simulated, input or None, interpolation, result) */
PyObject *sn_function_apply_detail(PyObject *module, PyObject *arguments)
{
    PyObject *cage, *objects[4], *result = NULL;
    const char *interpolation;
    SnBuffer fitted = {0}, simulated = {0}, input = {0}, out = {0};
    SnContext context;
    (void)module;
    sn_context_init(&context);
    if (!PyArg_ParseTuple(arguments, "OOOOsO:apply_detail", &cage, &objects[0], &objects[1], &objects[2], &interpolation,
                          &objects[3]) ||
        sn_cage_type_check(cage) < 0) {
        return NULL;
    }
    const SnTetMesh *mesh = sn_cage_type_mesh(cage);
    const SnEmbedding *embedding = sn_cage_type_embedding(cage);
    Py_ssize_t vertices = (Py_ssize_t)mesh->vertex_count, surface = (Py_ssize_t)embedding->vertex_count;
    if (sn_buffer_read_doubles(objects[0], "fitted", vertices, 3, &fitted) == 0 &&
        sn_buffer_read_doubles(objects[1], "simulated", vertices, 3, &simulated) == 0 &&
        (Py_IsNone(objects[2]) || sn_buffer_read_doubles(objects[2], "input", surface, 3, &input) == 0) &&
        sn_buffer_write_doubles(objects[3], "result", surface, 3, &out) == 0) {
        SnStatus status;
        Py_BEGIN_ALLOW_THREADS
        status = sn_detail_apply(&context, mesh, embedding, fitted.view.buf, simulated.view.buf,
                                 input.open ? input.view.buf : NULL,
                                 strcmp(interpolation, "phong") == 0 ? SN_INTERPOLATION_PHONG : SN_INTERPOLATION_LINEAR,
                                 out.view.buf);
        Py_END_ALLOW_THREADS
        if (sn_errors_check(status, &context) == 0) {
            result = Py_None;
            Py_INCREF(result);
        }
    }
    sn_buffer_close(&fitted);
    sn_buffer_close(&simulated);
    sn_buffer_close(&input);
    sn_buffer_close(&out);
    return result;
}

/* weights: on entry what is known of the cage's own vertices, NaN where nothing is. */
static SnStatus spread_over_cage(SnContext *context, const SnTetMesh *cage, const SnEmbedding *embedding, const double *areas,
                                 const double *surface, double *weights)
{
    SnStatus status = SN_OK;
    double *known = NULL, *inside = NULL;
    unsigned char *followed = NULL;
    SN_TRY_NEW(context, known, cage->vertex_count, double);
    SN_TRY_NEW(context, inside, cage->vertex_count, double);
    SN_TRY_NEW(context, followed, cage->vertex_count, unsigned char);
    memcpy(inside, weights, cage->vertex_count * sizeof *weights);
    memset(weights, 0, cage->vertex_count * sizeof *weights);
    SN_TRY(sn_weights_from_surface(context, cage, embedding, areas, surface, weights, known, followed));
    for (size_t v = 0; v < cage->vertex_count; v++) {
        if (!isnan(inside[v]) && !followed[v]) {
            weights[v] = inside[v];
            known[v] = 1.0;
        }
    }
    SN_TRY(sn_weights_spread(context, cage, known, weights));
cleanup:
    sn_release(known);
    sn_release(inside);
    sn_release(followed);
    return status;
}

/* spread_weights(cage, areas, weights, inside) */
PyObject *sn_function_spread_weights(PyObject *module, PyObject *arguments)
{
    PyObject *cage, *objects[3], *result = NULL;
    SnBuffer areas = {0}, weights = {0}, out = {0};
    SnContext context;
    (void)module;
    sn_context_init(&context);
    if (!PyArg_ParseTuple(arguments, "OOOO:spread_weights", &cage, &objects[0], &objects[1], &objects[2]) ||
        sn_cage_type_check(cage) < 0) {
        return NULL;
    }
    const SnTetMesh *mesh = sn_cage_type_mesh(cage);
    const SnEmbedding *embedding = sn_cage_type_embedding(cage);
    Py_ssize_t surface = (Py_ssize_t)embedding->vertex_count;
    if (sn_buffer_read_doubles(objects[0], "areas", surface, 1, &areas) == 0 &&
        sn_buffer_read_doubles(objects[1], "weights", surface, 1, &weights) == 0 &&
        sn_buffer_write_doubles(objects[2], "result", (Py_ssize_t)mesh->vertex_count, 1, &out) == 0) {
        SnStatus status;
        Py_BEGIN_ALLOW_THREADS
        status = spread_over_cage(&context, mesh, embedding, areas.view.buf, weights.view.buf, out.view.buf);
        Py_END_ALLOW_THREADS
        if (sn_errors_check(status, &context) == 0) {
            result = Py_None;
            Py_INCREF(result);
        }
    }
    sn_buffer_close(&areas);
    sn_buffer_close(&weights);
    sn_buffer_close(&out);
    return result;
}

/* mend_tets(positions, tets, leashes, goal, rounds, monitor=None) */
PyObject *sn_function_mend_tets(PyObject *module, PyObject *arguments)
{
    PyObject *objects[3], *monitor = Py_None, *result = NULL;
    SnBuffer positions = {0}, tets = {0}, leashes = {0};
    SnContext own, *context;
    SnMendDef def = sn_mend_def_default();
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOdi|O:mend_tets", &objects[0], &objects[1], &objects[2], &def.goal, &def.rounds, &monitor)) {
        return NULL;
    }
    context = sn_monitor_context(monitor, &own);
    if (context != NULL && sn_buffer_write_doubles(objects[0], "positions", -1, 3, &positions) == 0 &&
        sn_buffer_read_ints(objects[1], "tets", -1, 4, &tets) == 0 &&
        sn_buffer_read_doubles(objects[2], "leashes", positions.rows, 1, &leashes) == 0) {
        SnStatus status;
        def.vertex_count = (size_t)positions.rows;
        def.tet_count = (size_t)tets.rows;
        def.tets = tets.view.buf;
        def.leashes = leashes.view.buf;
        Py_BEGIN_ALLOW_THREADS
        status = sn_mend_tets(context, &def, positions.view.buf);
        Py_END_ALLOW_THREADS
        if (sn_errors_check(status, context) == 0) {
            result = Py_NewRef(Py_None);
        }
    }
    sn_buffer_close(&positions);
    sn_buffer_close(&tets);
    sn_buffer_close(&leashes);
    return result;
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
