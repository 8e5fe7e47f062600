/* Monitor: watch and cancel native work from another thread. */
#include "python/types.h"

#include "python/errors.h"

typedef struct Monitor {
    PyObject_HEAD
    SnContext context;
} Monitor;

static PyTypeObject *monitor_type; /* set once when the module is made */

static PyObject *monitor_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)arguments, (void)keywords;
    Monitor *self = (Monitor *)sn_type_new(type);
    if (self != NULL) {
        sn_context_init(&self->context);
    }
    return (PyObject *)self;
}

static PyObject *monitor_cancel(PyObject *self, PyObject *unused)
{
    (void)unused;
    sn_context_cancel(&((Monitor *)self)->context);
    Py_RETURN_NONE;
}

static PyObject *monitor_progress(PyObject *self, PyObject *unused)
{
    SnContext *context = &((Monitor *)self)->context;
    (void)unused;
    return Py_BuildValue("sll", atomic_load(&context->stage), atomic_load(&context->done), atomic_load(&context->total));
}

/* check(): raises Cancelled once somebody asked to stop; for work that is not native. */
static PyObject *monitor_check(PyObject *self, PyObject *unused)
{
    SnContext *context = &((Monitor *)self)->context;
    (void)unused;
    if (sn_errors_check(sn_context_advance(context, atomic_load(&context->done)), context) < 0) {
        return NULL;
    }
    return Py_NewRef(Py_None);
}

int sn_monitor_type_check(PyObject *object)
{
    return PyObject_TypeCheck(object, monitor_type);
}

SnContext *sn_monitor_context(PyObject *monitor, SnContext *own)
{
    if (monitor == NULL || Py_IsNone(monitor)) {
        sn_context_init(own);
        return own;
    }
    if (!PyObject_TypeCheck(monitor, monitor_type)) {
        PyErr_SetString(PyExc_TypeError, "monitor must be a Monitor or None");
        return NULL;
    }
    return &((Monitor *)monitor)->context;
}

int sn_monitor_type_add(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"cancel", monitor_cancel, METH_NOARGS, "Ask the work that uses this monitor to stop; may be called from any thread."},
        {"check", monitor_check, METH_NOARGS, "Raise Cancelled if the work was asked to stop."},
        {"progress", monitor_progress, METH_NOARGS, "(stage, done, total) of the work that uses this monitor."},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_doc, "Watches and cancels native work."},
        {Py_tp_new, monitor_new},
        {Py_tp_dealloc, sn_type_free},
        {Py_tp_methods, methods},
        {0, NULL},
    };
    static PyType_Spec spec = {"sinew._native.Monitor", sizeof(Monitor), 0, Py_TPFLAGS_DEFAULT, slots};
    monitor_type = sn_type_add(module, &spec, NULL);
    return monitor_type != NULL ? 0 : -1;
}
