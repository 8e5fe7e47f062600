/* Cage: a tet mesh around a surface, and the interpolation that carries the surface. Immutable. */
#include "python/types.h"

#include "base/memory.h"
#include "mesh/cage.h"
#include "mesh/fill.h"
#include "python/buffers.h"
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
    PyObject *rest_object, *triangle_object, *monitor = Py_None;
    SnBuffer rest = {0}, triangles = {0};
    SnContext own, *context;
    Cage *self = NULL;
    SnCageSettings settings = sn_cage_settings_default();
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOip|O:Cage", names, &rest_object, &triangle_object,
                                     &settings.resolution, &settings.separate_parts, &monitor)) {
        return NULL;
    }
    context = sn_monitor_context(monitor, &own);
    if (context == NULL || sn_buffer_read_doubles(rest_object, "rest", -1, 3, &rest) < 0 ||
        sn_buffer_read_ints(triangle_object, "triangles", -1, 3, &triangles) < 0) {
        goto done;
    }
    self = (Cage *)sn_type_new(type);
    if (self == NULL) {
        goto done;
    }
    SnTriMesh mesh = {(size_t)rest.rows, (size_t)triangles.rows, rest.view.buf, triangles.view.buf};
    SnStatus status;
    Py_BEGIN_ALLOW_THREADS
    status = sn_tri_mesh_check(context, &mesh);
    if (status == SN_OK) {
        status = sn_cage_build(context, &mesh, &settings, &self->mesh, &self->embedding);
    }
    Py_END_ALLOW_THREADS
    if (sn_errors_check(status, context) < 0) {
        Py_CLEAR(self);
    }
done:
    sn_buffer_close(&rest);
    sn_buffer_close(&triangles);
    return (PyObject *)self;
}

static SnStatus copy_arrays(SnContext *context, const SnBuffer *vertices, const SnBuffer *tets, const SnBuffer *binding,
                            const SnBuffer *weights, Cage *self)
{
    SnStatus status = SN_OK;
    size_t bound = (size_t)binding->rows, tet_count = (size_t)tets->rows;
    SN_TRY(sn_tet_mesh_init(context, (size_t)vertices->rows, tet_count, &self->mesh));
    memcpy(self->mesh.positions, vertices->view.buf, (size_t)vertices->view.len);
    memcpy(self->mesh.tets, tets->view.buf, (size_t)tets->view.len);
    SN_TRY(sn_tet_mesh_check(context, &self->mesh));
    SN_TRY_NEW(context, self->embedding.tets, bound, int32_t);
    SN_TRY_NEW(context, self->embedding.weights, 4 * bound, double);
    self->embedding.vertex_count = bound;
    memcpy(self->embedding.tets, binding->view.buf, (size_t)binding->view.len);
    memcpy(self->embedding.weights, weights->view.buf, (size_t)weights->view.len);
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
    PyObject *objects[4];
    SnBuffer vertices = {0}, tets = {0}, binding = {0}, weights = {0};
    SnContext context;
    Cage *self = NULL;
    sn_context_init(&context);
    if (!PyArg_ParseTuple(arguments, "OOOO:restore", &objects[0], &objects[1], &objects[2], &objects[3])) {
        return NULL;
    }
    if (sn_buffer_read_doubles(objects[0], "vertices", -1, 3, &vertices) < 0 ||
        sn_buffer_check_finite(&vertices, "vertices", 3) < 0 || sn_buffer_read_ints(objects[1], "tets", -1, 4, &tets) < 0 ||
        sn_buffer_read_ints(objects[2], "binding", -1, 1, &binding) < 0 ||
        sn_buffer_read_doubles(objects[3], "weights", binding.rows, 4, &weights) < 0 ||
        sn_buffer_check_finite(&weights, "weights", 4) < 0) {
        goto done;
    }
    self = (Cage *)sn_type_new((PyTypeObject *)type);
    if (self != NULL && sn_errors_check(copy_arrays(&context, &vertices, &tets, &binding, &weights, self), &context) < 0) {
        Py_CLEAR(self);
    }
done:
    sn_buffer_close(&vertices);
    sn_buffer_close(&tets);
    sn_buffer_close(&binding);
    sn_buffer_close(&weights);
    return (PyObject *)self;
}

/* read(vertices, tets, binding, weights): fills the arrays. */
static PyObject *cage_read(PyObject *object, PyObject *arguments)
{
    Cage *self = (Cage *)object;
    PyObject *objects[4], *result = NULL;
    SnBuffer vertices = {0}, tets = {0}, binding = {0}, weights = {0};
    Py_ssize_t bound = (Py_ssize_t)self->embedding.vertex_count;
    if (!PyArg_ParseTuple(arguments, "OOOO:read", &objects[0], &objects[1], &objects[2], &objects[3])) {
        return NULL;
    }
    if (sn_buffer_write_doubles(objects[0], "vertices", (Py_ssize_t)self->mesh.vertex_count, 3, &vertices) == 0 &&
        sn_buffer_write_ints(objects[1], "tets", (Py_ssize_t)self->mesh.tet_count, 4, &tets) == 0 &&
        sn_buffer_write_ints(objects[2], "binding", bound, 1, &binding) == 0 &&
        sn_buffer_write_doubles(objects[3], "weights", bound, 4, &weights) == 0) {
        memcpy(vertices.view.buf, self->mesh.positions, (size_t)vertices.view.len);
        memcpy(tets.view.buf, self->mesh.tets, (size_t)tets.view.len);
        memcpy(binding.view.buf, self->embedding.tets, (size_t)binding.view.len);
        memcpy(weights.view.buf, self->embedding.weights, (size_t)weights.view.len);
        result = Py_None;
        Py_INCREF(result);
    }
    sn_buffer_close(&vertices);
    sn_buffer_close(&tets);
    sn_buffer_close(&binding);
    sn_buffer_close(&weights);
    return result;
}

/* interpolate(cage_values, surface): surface = C cage_values. */
static PyObject *cage_interpolate(PyObject *object, PyObject *arguments)
{
    Cage *self = (Cage *)object;
    PyObject *from_object, *to_object, *result = NULL;
    SnBuffer from = {0}, to = {0};
    if (!PyArg_ParseTuple(arguments, "OO:interpolate", &from_object, &to_object)) {
        return NULL;
    }
    if (sn_buffer_read_doubles(from_object, "cage values", (Py_ssize_t)self->mesh.vertex_count, 3, &from) == 0 &&
        sn_buffer_write_doubles(to_object, "surface", (Py_ssize_t)self->embedding.vertex_count, 3, &to) == 0) {
        sn_embedding_apply(&self->embedding, &self->mesh, from.view.buf, to.view.buf);
        result = Py_None;
        Py_INCREF(result);
    }
    sn_buffer_close(&from);
    sn_buffer_close(&to);
    return result;
}

/* bind(cage_positions, points, binding, weights): what carries other points, with the cage in that pose. */
static PyObject *cage_bind(PyObject *object, PyObject *arguments)
{
    Cage *self = (Cage *)object;
    PyObject *objects[4], *result = NULL;
    SnBuffer pose = {0}, points = {0}, binding = {0}, weights = {0};
    SnEmbedding embedding = {0};
    SnContext context;
    sn_context_init(&context);
    if (!PyArg_ParseTuple(arguments, "OOOO:bind", &objects[0], &objects[1], &objects[2], &objects[3])) {
        return NULL;
    }
    if (sn_buffer_read_doubles(objects[0], "cage positions", (Py_ssize_t)self->mesh.vertex_count, 3, &pose) == 0 &&
        sn_buffer_read_doubles(objects[1], "points", -1, 3, &points) == 0 &&
        sn_buffer_write_ints(objects[2], "binding", points.rows, 1, &binding) == 0 &&
        sn_buffer_write_doubles(objects[3], "weights", points.rows, 4, &weights) == 0) {
        SnStatus status;
        Py_BEGIN_ALLOW_THREADS
        status = sn_embedding_build_in_pose(&context, &self->mesh, pose.view.buf, (size_t)points.rows, points.view.buf, &embedding);
        Py_END_ALLOW_THREADS
        if (sn_errors_check(status, &context) == 0) {
            memcpy(binding.view.buf, embedding.tets, (size_t)binding.view.len);
            memcpy(weights.view.buf, embedding.weights, (size_t)weights.view.len);
            result = Py_None;
            Py_INCREF(result);
        }
    }
    sn_embedding_clear(&embedding);
    sn_buffer_close(&pose);
    sn_buffer_close(&points);
    sn_buffer_close(&binding);
    sn_buffer_close(&weights);
    return result;
}

/* fill(rest, triangles, fill, thickness, monitor=None): how much of the body lies in each tet, and how thick it is there. */
static PyObject *cage_fill(PyObject *object, PyObject *arguments)
{
    Cage *self = (Cage *)object;
    PyObject *objects[4], *monitor = Py_None, *result = NULL;
    SnBuffer rest = {0}, triangles = {0}, fill = {0}, thickness = {0};
    Py_ssize_t tets = (Py_ssize_t)self->mesh.tet_count;
    SnContext own, *context;
    if (!PyArg_ParseTuple(arguments, "OOOO|O:fill", &objects[0], &objects[1], &objects[2], &objects[3], &monitor)) {
        return NULL;
    }
    context = sn_monitor_context(monitor, &own);
    if (context != NULL && sn_buffer_read_doubles(objects[0], "rest", (Py_ssize_t)self->embedding.vertex_count, 3, &rest) == 0 &&
        sn_buffer_read_ints(objects[1], "triangles", -1, 3, &triangles) == 0 &&
        sn_buffer_write_doubles(objects[2], "fill", tets, 1, &fill) == 0 &&
        sn_buffer_write_doubles(objects[3], "thickness", tets, 1, &thickness) == 0) {
        SnTriMesh mesh = {(size_t)rest.rows, (size_t)triangles.rows, rest.view.buf, triangles.view.buf};
        SnStatus status;
        Py_BEGIN_ALLOW_THREADS
        status = sn_tri_mesh_check(context, &mesh);
        if (status == SN_OK) {
            status = sn_fill_measure(context, &mesh, &self->mesh, &self->embedding, fill.view.buf, thickness.view.buf);
        }
        Py_END_ALLOW_THREADS
        if (sn_errors_check(status, context) == 0) {
            result = Py_NewRef(Py_None);
        }
    }
    sn_buffer_close(&rest);
    sn_buffer_close(&triangles);
    sn_buffer_close(&fill);
    sn_buffer_close(&thickness);
    return result;
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
    PyObject *type = PyType_FromSpec(&spec);
    if (type == NULL) {
        return -1;
    }
    cage_type = (PyTypeObject *)type;
    return PyModule_AddObjectRef(module, "Cage", type);
}
