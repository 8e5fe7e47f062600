/* The one table from status to exception. The classes live in Python (sinew.core.base.errors), so that code without the native module
   can catch them too. */
#ifndef SN_PYTHON_ERRORS_H
#define SN_PYTHON_ERRORS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "base/context.h"

/* use_errors(bad_input, out_of_memory, cancelled, numeric_failure): the package hands its classes over at import. */
PyObject *sn_errors_use(PyObject *module, PyObject *arguments);

/* Sets the exception for a status with a printf-style sentence (PyErr_Format's conversions). */
void sn_errors_set(SnStatus status, const char *format, ...);

/* 0 for SN_OK; otherwise sets the exception with the context's sentence and returns -1. */
int sn_errors_check(SnStatus status, const SnContext *context);

/* None for SN_OK; otherwise null, with that exception. */
PyObject *sn_errors_none(SnStatus status, const SnContext *context);

#endif
