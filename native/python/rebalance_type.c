/* Rebalance: a finished simulation drawn back to its input. */
#include "python/types.h"

#include "method/enrich/rebalance.h"
#include "python/buffers.h"
#include "python/errors.h"

typedef struct Rebalance {
    PyObject_HEAD
    PyObject *cage;
    SnRebalance *rebalance;
} Rebalance;

static void rebalance_dealloc(PyObject *object)
{
    Rebalance *self = (Rebalance *)object;
    sn_rebalance_destroy(self->rebalance);
    Py_XDECREF(self->cage);
    sn_type_free(object);
}

/* Opens areas and another array of the surface's vertices. */
static int open_surface(PyObject *cage, PyObject *area_object, PyObject *object, const char *name, SnBuffer *areas, SnBuffer *buffer)
{
    Py_ssize_t count = (Py_ssize_t)sn_cage_type_embedding(cage)->vertex_count;
    return sn_buffer_read_doubles(area_object, "areas", count, 1, areas) < 0 ||
                   sn_buffer_read_doubles(object, name, count, 1, buffer) < 0 || sn_buffer_check_finite(buffer, name, 1) < 0
               ? -1
               : 0;
}

/* Rebalance(cage, areas, follow) */
static PyObject *rebalance_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"cage", "areas", "follow", NULL};
    PyObject *cage, *area_object, *follow_object;
    SnBuffer areas = {0}, follow = {0};
    SnContext context;
    Rebalance *self = NULL;
    sn_context_init(&context);
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOO:Rebalance", names, &cage, &area_object, &follow_object) ||
        sn_cage_type_check(cage) < 0) {
        return NULL;
    }
    if (open_surface(cage, area_object, follow_object, "the follow weights", &areas, &follow) == 0) {
        self = (Rebalance *)sn_type_new(type);
    }
    if (self != NULL) {
        SnStatus status;
        Py_INCREF(cage);
        self->cage = cage;
        Py_BEGIN_ALLOW_THREADS
        status = sn_rebalance_create(&context, sn_cage_type_mesh(cage), sn_cage_type_embedding(cage), areas.view.buf, follow.view.buf,
                                     &self->rebalance);
        Py_END_ALLOW_THREADS
        if (sn_errors_check(status, &context) < 0) {
            Py_CLEAR(self);
        }
    }
    sn_buffer_close(&areas);
    sn_buffer_close(&follow);
    return (PyObject *)self;
}

/* set_weights(areas, weights) */
static PyObject *rebalance_set_weights(PyObject *object, PyObject *arguments)
{
    Rebalance *self = (Rebalance *)object;
    PyObject *area_object, *weight_object, *result = NULL;
    SnBuffer areas = {0}, weights = {0};
    SnContext context;
    sn_context_init(&context);
    if (!PyArg_ParseTuple(arguments, "OO:set_weights", &area_object, &weight_object)) {
        return NULL;
    }
    if (open_surface(self->cage, area_object, weight_object, "the weights", &areas, &weights) == 0) {
        SnStatus status;
        Py_BEGIN_ALLOW_THREADS
        status = sn_rebalance_set_weights(&context, self->rebalance, areas.view.buf, weights.view.buf);
        Py_END_ALLOW_THREADS
        if (sn_errors_check(status, &context) == 0) {
            result = Py_None;
            Py_INCREF(result);
        }
    }
    sn_buffer_close(&areas);
    sn_buffer_close(&weights);
    return result;
}

/* frame(fitted, simulated, strength, result) */
static PyObject *rebalance_frame(PyObject *object, PyObject *arguments)
{
    Rebalance *self = (Rebalance *)object;
    PyObject *objects[3], *result = NULL;
    SnBuffer fitted = {0}, simulated = {0}, out = {0};
    Py_ssize_t vertices = (Py_ssize_t)sn_cage_type_mesh(self->cage)->vertex_count;
    double strength;
    SnContext context;
    sn_context_init(&context);
    if (!PyArg_ParseTuple(arguments, "OOdO:frame", &objects[0], &objects[1], &strength, &objects[2])) {
        return NULL;
    }
    if (!(strength >= 0.0 && strength <= 1.0)) {
        sn_errors_set(SN_BAD_INPUT, "The strength must lie between 0 (simulated) and 1 (input).");
        return NULL;
    }
    if (sn_buffer_read_doubles(objects[0], "fitted", vertices, 3, &fitted) == 0 &&
        sn_buffer_check_finite(&fitted, "fitted", 3) == 0 &&
        sn_buffer_read_doubles(objects[1], "simulated", vertices, 3, &simulated) == 0 &&
        sn_buffer_check_finite(&simulated, "simulated", 3) == 0 &&
        sn_buffer_write_doubles(objects[2], "result", vertices, 3, &out) == 0) {
        SnStatus status;
        Py_BEGIN_ALLOW_THREADS
        status = sn_rebalance_frame(&context, self->rebalance, fitted.view.buf, simulated.view.buf, strength, out.view.buf);
        Py_END_ALLOW_THREADS
        if (sn_errors_check(status, &context) == 0) {
            result = Py_None;
            Py_INCREF(result);
        }
    }
    sn_buffer_close(&fitted);
    sn_buffer_close(&simulated);
    sn_buffer_close(&out);
    return result;
}

int sn_rebalance_type_add(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"set_weights", rebalance_set_weights, METH_VARARGS,
         "set_weights(areas, weights): 0 keeps the simulation, 1 takes the input; 1 everywhere until set."},
        {"frame", rebalance_frame, METH_VARARGS,
         "frame(fitted, simulated, strength, result): the cage between the two; strength multiplies the weights."},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_doc, "Rebalance(cage, areas, follow): draws a finished simulation back to its input, without a new one."},
        {Py_tp_new, rebalance_new},
        {Py_tp_dealloc, rebalance_dealloc},
        {Py_tp_methods, methods},
        {0, NULL},
    };
    static PyType_Spec spec = {"sinew._native.Rebalance", sizeof(Rebalance), 0, Py_TPFLAGS_DEFAULT, slots};
    PyObject *type = PyType_FromSpec(&spec);
    return type == NULL ? -1 : PyModule_AddObjectRef(module, "Rebalance", type);
}
