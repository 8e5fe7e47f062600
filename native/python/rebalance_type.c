/* Rebalance: a finished simulation drawn back to its input. */
#include "python/types.h"

#include "method/enrich/rebalance.h"
#include "python/arrays.h"
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

/* Rebalance(cage, areas, follow, cage_follow=None, monitor=None) */
static PyObject *rebalance_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"cage", "areas", "follow", "cage_follow", "monitor", NULL};
    PyObject *cage, *monitor = Py_None;
    SnArray arrays[] = {{.name = "areas", .kind = 'd', .columns = 1},
                        {.name = "the follow weights", .kind = 'd', .columns = 1},
                        {.name = "cage_follow", .kind = 'd', .columns = 1, .use = SN_ARRAY_READ_WITH_NAN, .is_optional = 1}};
    SnContext own, *context;
    Rebalance *self = NULL;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOO|OO:Rebalance", names, &cage, &arrays[0].object, &arrays[1].object,
                                     &arrays[2].object, &monitor) ||
        (context = sn_monitor_context(monitor, &own)) == NULL || sn_cage_type_check(cage) < 0) {
        return NULL;
    }
    arrays[0].rows = arrays[1].rows = (Py_ssize_t)sn_cage_type_embedding(cage)->vertex_count;
    arrays[2].rows = (Py_ssize_t)sn_cage_type_mesh(cage)->vertex_count;
    if (sn_arrays_open(SN_COUNT(arrays), arrays) < 0) {
        return NULL;
    }
    self = (Rebalance *)sn_type_new(type);
    if (self != NULL) {
        SnCagedBody body = {.cage = sn_cage_type_mesh(cage), .embedding = sn_cage_type_embedding(cage), .areas = arrays[0].data};
        SnEnrichPaint paint = {.follow = arrays[1].data, .cage_follow = arrays[2].data};
        SnStatus status;
        self->cage = Py_NewRef(cage);
        Py_BEGIN_ALLOW_THREADS
        status = sn_rebalance_create(context, &body, &paint, &self->rebalance);
        Py_END_ALLOW_THREADS
        if (sn_errors_check(status, context) < 0) {
            Py_CLEAR(self);
        }
    }
    sn_arrays_close(SN_COUNT(arrays), arrays);
    return (PyObject *)self;
}

/* set_weights(areas, weights, monitor=None) */
static PyObject *rebalance_set_weights(PyObject *object, PyObject *arguments)
{
    Rebalance *self = (Rebalance *)object;
    Py_ssize_t count = (Py_ssize_t)sn_cage_type_embedding(self->cage)->vertex_count;
    SnArray arrays[] = {{.name = "areas", .kind = 'd', .rows = count, .columns = 1},
                        {.name = "the weights", .kind = 'd', .rows = count, .columns = 1}};
    PyObject *monitor = Py_None;
    SnContext own, *context;
    SnStatus status;
    if (!PyArg_ParseTuple(arguments, "OO|O:set_weights", &arrays[0].object, &arrays[1].object, &monitor) ||
        (context = sn_monitor_context(monitor, &own)) == NULL || sn_arrays_open(SN_COUNT(arrays), arrays) < 0) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    status = sn_rebalance_set_weights(context, self->rebalance, arrays[0].data, arrays[1].data);
    Py_END_ALLOW_THREADS
    sn_arrays_close(SN_COUNT(arrays), arrays);
    return sn_errors_none(status, context);
}

/* frame(fitted, simulated, strength, result, monitor=None) */
static PyObject *rebalance_frame(PyObject *object, PyObject *arguments)
{
    Rebalance *self = (Rebalance *)object;
    Py_ssize_t count = (Py_ssize_t)sn_cage_type_mesh(self->cage)->vertex_count;
    SnArray arrays[] = {{.name = "fitted", .kind = 'd', .rows = count, .columns = 3},
                        {.name = "simulated", .kind = 'd', .rows = count, .columns = 3},
                        {.name = "result", .kind = 'd', .rows = count, .columns = 3, .use = SN_ARRAY_WRITE}};
    double strength;
    PyObject *monitor = Py_None;
    SnContext own, *context;
    SnStatus status;
    if (!PyArg_ParseTuple(arguments, "OOdO|O:frame", &arrays[0].object, &arrays[1].object, &strength, &arrays[2].object, &monitor) ||
        (context = sn_monitor_context(monitor, &own)) == NULL) {
        return NULL;
    }
    if (!(strength >= 0.0 && strength <= 1.0)) {
        sn_errors_set(SN_BAD_INPUT, "The strength must lie between 0 (simulated) and 1 (input).");
        return NULL;
    }
    if (sn_arrays_open(SN_COUNT(arrays), arrays) < 0) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    status = sn_rebalance_frame(context, self->rebalance, arrays[0].data, arrays[1].data, strength, arrays[2].data);
    Py_END_ALLOW_THREADS
    sn_arrays_close(SN_COUNT(arrays), arrays);
    return sn_errors_none(status, context);
}

int sn_rebalance_type_add(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"set_weights", rebalance_set_weights, METH_VARARGS,
         "set_weights(areas, weights, monitor=None): 0 keeps the simulation, 1 takes the input; 1 everywhere until set."},
        {"frame", rebalance_frame, METH_VARARGS,
         "frame(fitted, simulated, strength, result, monitor=None): the cage between the two; strength multiplies the weights."},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_doc, "Rebalance(cage, areas, follow, cage_follow=None, monitor=None): draws a finished simulation back to its input, without a new one."},
        {Py_tp_new, rebalance_new},
        {Py_tp_dealloc, rebalance_dealloc},
        {Py_tp_methods, methods},
        {0, NULL},
    };
    static PyType_Spec spec = {"sinew._native.Rebalance", sizeof(Rebalance), 0, Py_TPFLAGS_DEFAULT, slots};
    return sn_type_add(module, &spec, NULL) != NULL ? 0 : -1;
}
