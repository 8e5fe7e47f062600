#include "python/errors.h"

#include <stdarg.h>

/* Exceptions belong to the interpreter, which outlives every call: the only state of the module. Set once by use_errors. */
static PyObject *classes[SN_STATUS_COUNT];

PyObject *sn_errors_use(PyObject *module, PyObject *arguments)
{
    PyObject *given[SN_STATUS_COUNT] = {NULL};
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOO:use_errors", &given[SN_BAD_INPUT], &given[SN_OUT_OF_MEMORY], &given[SN_CANCELLED],
                          &given[SN_NUMERIC_FAILURE])) {
        return NULL;
    }
    for (int status = SN_OK + 1; status < SN_STATUS_COUNT; status++) {
        if (!PyExceptionClass_Check(given[status])) {
            PyErr_SetString(PyExc_TypeError, "use_errors takes four exception classes");
            return NULL;
        }
    }
    for (int status = SN_OK + 1; status < SN_STATUS_COUNT; status++) {
        Py_XDECREF(classes[status]);
        Py_INCREF(given[status]);
        classes[status] = given[status];
    }
    Py_RETURN_NONE;
}

static PyObject *class_of(SnStatus status)
{
    return classes[status] ? classes[status] : PyExc_RuntimeError;
}

void sn_errors_set(SnStatus status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    PyErr_FormatV(class_of(status), format, arguments);
    va_end(arguments);
}

int sn_errors_check(SnStatus status, const SnContext *context)
{
    if (status == SN_OK) {
        return 0;
    }
    PyErr_SetString(class_of(status), context->message);
    return -1;
}

PyObject *sn_errors_none(SnStatus status, const SnContext *context)
{
    return sn_errors_check(status, context) < 0 ? NULL : Py_NewRef(Py_None);
}
