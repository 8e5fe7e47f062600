/* Cage: a tet mesh around a surface, and the interpolation that carries the surface. Immutable. */
#include "python/types.h"

#include "base/memory.h"
#include "mesh/cage.h"
#include "mesh/fill.h"
#include "python/arrays.h"
#include "python/errors.h"

#include <string.h>

typedef struct Cage {
    PyObject_HEAD
    SnTetMesh mesh;
    SnEmbedding embedding;
} Cage;

static PyTypeObject *cage_type; /* set once when the module is made */

static void cage_dealloc(PyObject *object)
{
    Cage *self = (Cage *)object;
    sn_tet_mesh_clear(&self->mesh);
    sn_embedding_clear(&self->embedding);
    sn_type_free(object);
}

/* Cage(rest, triangles, resolution, separate_parts, monitor=None) */
static PyObject *cage_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"rest", "triangles", "resolution", "separate_parts", "monitor", NULL};
    SnArray arrays[] = {{.name = "rest", .kind = 'd', .rows = -1, .columns = 3, .use = SN_ARRAY_READ_WITH_NAN},
                        {.name = "triangles", .kind = 'i', .rows = -1, .columns = 3}};
    PyObject *monitor = Py_None;
    SnContext own, *context;
    Cage *self = NULL;
    SnCageSettings settings = sn_cage_settings_default();
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOip|O:Cage", names, &arrays[0].object, &arrays[1].object,
                                     &settings.resolution, &settings.separate_parts, &monitor) ||
        (context = sn_monitor_context(monitor, &own)) == NULL || sn_arrays_open(SN_COUNT(arrays), arrays) < 0) {
        return NULL;
    }
    self = (Cage *)sn_type_new(type);
    if (self != NULL) {
        SnTriMesh mesh = {(size_t)arrays[0].rows, (size_t)arrays[1].rows, arrays[0].data, arrays[1].data};
        SnStatus status;
        Py_BEGIN_ALLOW_THREADS
        status = sn_tri_mesh_check(context, &mesh); /* it names what is not finite */
        if (status == SN_OK) {
            status = sn_cage_build(context, &mesh, &settings, &self->mesh, &self->embedding);
        }
        Py_END_ALLOW_THREADS
        if (sn_errors_check(status, context) < 0) {
            Py_CLEAR(self);
        }
    }
    sn_arrays_close(SN_COUNT(arrays), arrays);
    return (PyObject *)self;
}

/* A cage as four arrays: its vertices and tets, and what binds the surface to it. */
enum { VERTICES, TETS, BINDING, WEIGHTS, ARRAYS };

static void list_arrays(Py_ssize_t vertices, Py_ssize_t tets, Py_ssize_t bound, SnArrayUse use, SnArray arrays[ARRAYS])
{
    arrays[VERTICES] = (SnArray){.name = "vertices", .kind = 'd', .rows = vertices, .columns = 3, .use = use};
    arrays[TETS] = (SnArray){.name = "tets", .kind = 'i', .rows = tets, .columns = 4, .use = use};
    arrays[BINDING] = (SnArray){.name = "binding", .kind = 'i', .rows = bound, .columns = 1, .use = use};
    arrays[WEIGHTS] = (SnArray){.name = "weights", .kind = 'd', .rows = bound, .columns = 4, .use = use};
}

static SnStatus copy_arrays(SnContext *context, const SnArray arrays[ARRAYS], Cage *self)
{
    SnStatus status = SN_OK;
    size_t bound = (size_t)arrays[BINDING].rows, tet_count = (size_t)arrays[TETS].rows;
    if (arrays[WEIGHTS].rows != arrays[BINDING].rows) {
        return sn_context_fail(context, SN_BAD_INPUT, "weights has the wrong shape: give an array of %zu x 4.", bound);
    }
    SN_TRY(sn_tet_mesh_init(context, (size_t)arrays[VERTICES].rows, tet_count, &self->mesh));
    memcpy(self->mesh.positions, arrays[VERTICES].data, 3 * self->mesh.vertex_count * sizeof(double));
    memcpy(self->mesh.tets, arrays[TETS].data, 4 * tet_count * sizeof(int32_t));
    SN_TRY(sn_tet_mesh_check(context, &self->mesh));
    SN_TRY_NEW(context, self->embedding.tets, bound, int32_t);
    SN_TRY_NEW(context, self->embedding.weights, 4 * bound, double);
    self->embedding.vertex_count = bound;
    memcpy(self->embedding.tets, arrays[BINDING].data, bound * sizeof(int32_t));
    memcpy(self->embedding.weights, arrays[WEIGHTS].data, 4 * bound * sizeof(double));
    for (size_t s = 0; s < bound; s++) {
        if (self->embedding.tets[s] < 0 || (size_t)self->embedding.tets[s] >= tet_count) {
            status = sn_context_fail(context, SN_BAD_INPUT, "Surface vertex %zu is bound to a tet that is not there: bake again.", s);
            goto cleanup;
        }
    }
cleanup:
    return status;
}

/* Cage.restore(vertices, tets, binding, weights) */
static PyObject *cage_restore(PyObject *type, PyObject *arguments)
{
    SnArray arrays[ARRAYS];
    SnContext context;
    Cage *self = NULL;
    sn_context_init(&context);
    list_arrays(-1, -1, -1, SN_ARRAY_READ, arrays);
    if (!PyArg_ParseTuple(arguments, "OOOO:restore", &arrays[VERTICES].object, &arrays[TETS].object, &arrays[BINDING].object,
                          &arrays[WEIGHTS].object) ||
        sn_arrays_open(ARRAYS, arrays) < 0) {
        return NULL;
    }
    self = (Cage *)sn_type_new((PyTypeObject *)type);
    if (self != NULL && sn_errors_check(copy_arrays(&context, arrays, self), &context) < 0) {
        Py_CLEAR(self);
    }
    sn_arrays_close(ARRAYS, arrays);
    return (PyObject *)self;
}

/* read(vertices, tets, binding, weights): fills the arrays. */
static PyObject *cage_read(PyObject *object, PyObject *arguments)
{
    Cage *self = (Cage *)object;
    SnArray arrays[ARRAYS];
    size_t bound = self->embedding.vertex_count;
    list_arrays((Py_ssize_t)self->mesh.vertex_count, (Py_ssize_t)self->mesh.tet_count, (Py_ssize_t)bound, SN_ARRAY_WRITE, arrays);
    if (!PyArg_ParseTuple(arguments, "OOOO:read", &arrays[VERTICES].object, &arrays[TETS].object, &arrays[BINDING].object,
                          &arrays[WEIGHTS].object) ||
        sn_arrays_open(ARRAYS, arrays) < 0) {
        return NULL;
    }
    memcpy(arrays[VERTICES].data, self->mesh.positions, 3 * self->mesh.vertex_count * sizeof(double));
    memcpy(arrays[TETS].data, self->mesh.tets, 4 * self->mesh.tet_count * sizeof(int32_t));
    memcpy(arrays[BINDING].data, self->embedding.tets, bound * sizeof(int32_t));
    memcpy(arrays[WEIGHTS].data, self->embedding.weights, 4 * bound * sizeof(double));
    sn_arrays_close(ARRAYS, arrays);
    Py_RETURN_NONE;
}

/* interpolate(cage_values, surface): surface = C cage_values. */
static PyObject *cage_interpolate(PyObject *object, PyObject *arguments)
{
    Cage *self = (Cage *)object;
    SnArray arrays[] = {{.name = "cage values", .kind = 'd', .columns = 3, .use = SN_ARRAY_READ_WITH_NAN},
                        {.name = "surface", .kind = 'd', .columns = 3, .use = SN_ARRAY_WRITE}};
    arrays[0].rows = (Py_ssize_t)self->mesh.vertex_count;
    arrays[1].rows = (Py_ssize_t)self->embedding.vertex_count;
    if (!PyArg_ParseTuple(arguments, "OO:interpolate", &arrays[0].object, &arrays[1].object) ||
        sn_arrays_open(SN_COUNT(arrays), arrays) < 0) {
        return NULL;
    }
    sn_embedding_apply(&self->embedding, &self->mesh, arrays[0].data, arrays[1].data);
    sn_arrays_close(SN_COUNT(arrays), arrays);
    Py_RETURN_NONE;
}

/* bind(cage_positions, points, binding, weights): what carries other points, with the cage in that pose. */
static PyObject *cage_bind(PyObject *object, PyObject *arguments)
{
    Cage *self = (Cage *)object;
    enum { POSE, POINTS, BOUND, SHARES, COUNT };
    SnArray arrays[COUNT] = {{.name = "cage positions", .kind = 'd', .columns = 3},
                             {.name = "points", .kind = 'd', .rows = -1, .columns = 3},
                             {.name = "binding", .kind = 'i', .rows = -1, .columns = 1, .use = SN_ARRAY_WRITE},
                             {.name = "weights", .kind = 'd', .rows = -1, .columns = 4, .use = SN_ARRAY_WRITE}};
    SnEmbedding embedding = {0};
    SnContext context;
    SnStatus status = SN_OK;
    sn_context_init(&context);
    arrays[POSE].rows = (Py_ssize_t)self->mesh.vertex_count;
    if (!PyArg_ParseTuple(arguments, "OOOO:bind", &arrays[POSE].object, &arrays[POINTS].object, &arrays[BOUND].object,
                          &arrays[SHARES].object) ||
        sn_arrays_open(COUNT, arrays) < 0) {
        return NULL;
    }
    size_t points = (size_t)arrays[POINTS].rows;
    if (arrays[BOUND].rows != arrays[POINTS].rows || arrays[SHARES].rows != arrays[POINTS].rows) {
        status = sn_context_fail(&context, SN_BAD_INPUT, "binding and weights have the wrong shape: give a row for each point.");
    } else {
        Py_BEGIN_ALLOW_THREADS
        status = sn_embedding_build_in_pose(&context, &self->mesh, arrays[POSE].data, points, arrays[POINTS].data, &embedding);
        Py_END_ALLOW_THREADS
    }
    if (status == SN_OK) {
        memcpy(arrays[BOUND].data, embedding.tets, points * sizeof(int32_t));
        memcpy(arrays[SHARES].data, embedding.weights, 4 * points * sizeof(double));
    }
    sn_embedding_clear(&embedding);
    sn_arrays_close(COUNT, arrays);
    return sn_errors_none(status, &context);
}

/* fill(rest, triangles, fill, thickness, monitor=None): how much of the body lies in each tet, and how thick it is there. */
static PyObject *cage_fill(PyObject *object, PyObject *arguments)
{
    Cage *self = (Cage *)object;
    Py_ssize_t tets = (Py_ssize_t)self->mesh.tet_count, bound = (Py_ssize_t)self->embedding.vertex_count;
    SnArray arrays[] = {{.name = "rest", .kind = 'd', .rows = bound, .columns = 3, .use = SN_ARRAY_READ_WITH_NAN},
                        {.name = "triangles", .kind = 'i', .rows = -1, .columns = 3},
                        {.name = "fill", .kind = 'd', .rows = tets, .columns = 1, .use = SN_ARRAY_WRITE},
                        {.name = "thickness", .kind = 'd', .rows = tets, .columns = 1, .use = SN_ARRAY_WRITE}};
    PyObject *monitor = Py_None;
    SnContext own, *context;
    SnStatus status;
    if (!PyArg_ParseTuple(arguments, "OOOO|O:fill", &arrays[0].object, &arrays[1].object, &arrays[2].object, &arrays[3].object,
                          &monitor) ||
        (context = sn_monitor_context(monitor, &own)) == NULL || sn_arrays_open(SN_COUNT(arrays), arrays) < 0) {
        return NULL;
    }
    SnTriMesh mesh = {(size_t)arrays[0].rows, (size_t)arrays[1].rows, arrays[0].data, arrays[1].data};
    Py_BEGIN_ALLOW_THREADS
    status = sn_tri_mesh_check(context, &mesh); /* it names what is not finite */
    if (status == SN_OK) {
        status = sn_fill_measure(context, &mesh, &self->mesh, &self->embedding, arrays[2].data, arrays[3].data);
    }
    Py_END_ALLOW_THREADS
    sn_arrays_close(SN_COUNT(arrays), arrays);
    return sn_errors_none(status, context);
}

static PyObject *cage_counts(PyObject *object, PyObject *unused)
{
    Cage *self = (Cage *)object;
    (void)unused;
    return Py_BuildValue("nnn", (Py_ssize_t)self->mesh.vertex_count, (Py_ssize_t)self->mesh.tet_count,
                         (Py_ssize_t)self->embedding.vertex_count);
}

static PyObject *cage_min_dihedral(PyObject *object, PyObject *unused)
{
    (void)unused;
    return PyFloat_FromDouble(sn_tet_mesh_min_dihedral(&((Cage *)object)->mesh));
}

int sn_cage_type_check(PyObject *object)
{
    if (!PyObject_TypeCheck(object, cage_type)) {
        PyErr_SetString(PyExc_TypeError, "a Cage is expected");
        return -1;
    }
    return 0;
}

const SnTetMesh *sn_cage_type_mesh(PyObject *cage)
{
    return &((Cage *)cage)->mesh;
}

const SnEmbedding *sn_cage_type_embedding(PyObject *cage)
{
    return &((Cage *)cage)->embedding;
}

int sn_cage_type_add(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"restore", cage_restore, METH_VARARGS | METH_CLASS, "restore(vertices, tets, binding, weights): a cage from its arrays."},
        {"read", cage_read, METH_VARARGS, "read(vertices, tets, binding, weights): fill the arrays."},
        {"interpolate", cage_interpolate, METH_VARARGS, "interpolate(cage_values, surface): surface = C cage_values."},
        {"bind", cage_bind, METH_VARARGS, "bind(cage_positions, points, binding, weights): what carries other points in that pose."},
        {"counts", cage_counts, METH_NOARGS, "(cage vertices, tets, surface vertices)"},
        {"fill", cage_fill, METH_VARARGS,
         "fill(rest, triangles, fill, thickness, monitor=None): how much of the body lies in each tet, and how thick it is there."},
        {"min_dihedral", cage_min_dihedral, METH_NOARGS, "Smallest dihedral angle of the tets, degrees."},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_doc, "Cage(rest, triangles, resolution, separate_parts, monitor=None): tets around a surface."},
        {Py_tp_new, cage_new},
        {Py_tp_dealloc, cage_dealloc},
        {Py_tp_methods, methods},
        {0, NULL},
    };
    static PyType_Spec spec = {"sinew._native.Cage", sizeof(Cage), 0, Py_TPFLAGS_DEFAULT, slots};
    cage_type = sn_type_add(module, &spec, NULL);
    return cage_type != NULL ? 0 : -1;
}
