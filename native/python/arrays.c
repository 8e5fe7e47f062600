#include "python/arrays.h"

#include "python/errors.h"
#include "python/options.h"

#include <math.h>
#include <string.h>

/* Native 64-bit float or 32-bit integer, however the producer spells it. */
static int matches_format(const Py_buffer *view, char kind)
{
    const char *format = view->format ? view->format : "B";
    if (*format == '@' || *format == '=' || *format == '<') {
        format++;
    }
    if (kind == 'd') {
        return strcmp(format, "d") == 0 && view->itemsize == sizeof(double);
    }
    return (strcmp(format, "i") == 0 || strcmp(format, "l") == 0) && view->itemsize == sizeof(int32_t);
}

static int check_finite(const SnArray *array)
{
    const double *values = array->data;
    for (Py_ssize_t k = 0; array->kind == 'd' && k < array->rows * array->columns; k++) {
        if (!isfinite(values[k])) {
            sn_errors_set(SN_BAD_INPUT, "Row %zd of %s is not a finite number: repair the input.", k / array->columns, array->name);
            return -1;
        }
    }
    return 0;
}

static int open_array(SnArray *array)
{
    int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (array->use == SN_ARRAY_WRITE ? PyBUF_WRITABLE : 0);
    const Py_buffer *view = &array->view;
    array->data = NULL;
    array->is_open = 0;
    if (array->is_optional && (array->object == NULL || Py_IsNone(array->object))) {
        return 0;
    }
    if (array->object == NULL) {
        PyErr_Format(PyExc_TypeError, "%s is missing", array->name);
        return -1;
    }
    if (PyObject_GetBuffer(array->object, &array->view, flags) < 0) {
        return -1;
    }
    array->is_open = 1;
    int matches = (view->ndim == 1 && array->columns == 1) || (view->ndim == 2 && view->shape[1] == array->columns);
    if (!matches_format(view, array->kind)) {
        PyErr_Format(PyExc_TypeError, "%s must be a C-contiguous array of %s", array->name, array->kind == 'd' ? "float64" : "int32");
        return -1;
    }
    if (!matches || (array->rows >= 0 && view->shape[0] != array->rows)) {
        if (array->rows >= 0) {
            sn_errors_set(SN_BAD_INPUT, "%s has the wrong shape: give an array of %zd x %zd.", array->name, array->rows,
                          array->columns);
        } else {
            sn_errors_set(SN_BAD_INPUT, "%s has the wrong shape: give rows of %zd values.", array->name, array->columns);
        }
        return -1;
    }
    array->rows = view->shape[0];
    array->data = view->buf;
    return array->use == SN_ARRAY_READ ? check_finite(array) : 0;
}

int sn_arrays_open(size_t count, SnArray *arrays)
{
    for (size_t k = 0; k < count; k++) {
        if (open_array(arrays + k) < 0) {
            sn_arrays_close(k + 1, arrays);
            return -1;
        }
    }
    return 0;
}

void sn_arrays_close(size_t count, SnArray *arrays)
{
    for (size_t k = 0; k < count; k++) {
        if (arrays[k].is_open) {
            PyBuffer_Release(&arrays[k].view);
            arrays[k].is_open = 0;
        }
    }
}

int sn_arrays_from_dict(PyObject *dict, const char *what, size_t count, SnArray *arrays)
{
    const char *names[SN_OPTIONS_MOST] = {NULL};
    for (size_t k = 0; k < count; k++) {
        names[k] = arrays[k].name;
    }
    if (sn_options_check_names(dict, what, count, names) < 0) {
        return -1;
    }
    for (size_t k = 0; k < count; k++) {
        arrays[k].object = PyDict_GetItemString(dict, arrays[k].name);
    }
    return 0;
}
