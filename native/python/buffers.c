#include "python/buffers.h"

#include "python/errors.h"

#include <math.h>
#include <string.h>

/* Native 64-bit float or 32-bit integer, however the producer spells it. */
static int format_matches(const Py_buffer *view, char kind)
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

static int open_buffer(PyObject *object, const char *name, char kind, int flags, Py_ssize_t rows, Py_ssize_t columns,
                       SnBuffer *buffer)
{
    buffer->open = 0;
    if (PyObject_GetBuffer(object, &buffer->view, flags) < 0) {
        return -1;
    }
    const Py_buffer *view = &buffer->view;
    buffer->open = 1;
    int flat = view->ndim == 1 && columns == 1;
    int matches = flat || (view->ndim == 2 && view->shape[1] == columns);
    if (!format_matches(view, kind)) {
        PyErr_Format(PyExc_TypeError, "%s must be a C-contiguous array of %s", name, kind == 'd' ? "float64" : "int32");
    } else if (!matches || (rows >= 0 && view->shape[0] != rows)) {
        if (rows >= 0) {
            sn_errors_set(SN_BAD_INPUT, "%s has the wrong shape: give an array of %zd x %zd.", name, rows, columns);
        } else {
            sn_errors_set(SN_BAD_INPUT, "%s has the wrong shape: give rows of %zd values.", name, columns);
        }
    } else {
        buffer->rows = view->shape[0];
        return 0;
    }
    sn_buffer_close(buffer);
    return -1;
}

int sn_buffer_read_doubles(PyObject *object, const char *name, Py_ssize_t rows, Py_ssize_t columns, SnBuffer *buffer)
{
    return open_buffer(object, name, 'd', PyBUF_C_CONTIGUOUS | PyBUF_FORMAT, rows, columns, buffer);
}

int sn_buffer_write_doubles(PyObject *object, const char *name, Py_ssize_t rows, Py_ssize_t columns, SnBuffer *buffer)
{
    return open_buffer(object, name, 'd', PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | PyBUF_WRITABLE, rows, columns, buffer);
}

int sn_buffer_read_ints(PyObject *object, const char *name, Py_ssize_t rows, Py_ssize_t columns, SnBuffer *buffer)
{
    return open_buffer(object, name, 'i', PyBUF_C_CONTIGUOUS | PyBUF_FORMAT, rows, columns, buffer);
}

int sn_buffer_write_ints(PyObject *object, const char *name, Py_ssize_t rows, Py_ssize_t columns, SnBuffer *buffer)
{
    return open_buffer(object, name, 'i', PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | PyBUF_WRITABLE, rows, columns, buffer);
}

void sn_buffer_close(SnBuffer *buffer)
{
    if (buffer->open) {
        PyBuffer_Release(&buffer->view);
        buffer->open = 0;
    }
}

int sn_buffer_check_finite(const SnBuffer *buffer, const char *name, Py_ssize_t columns)
{
    const double *values = buffer->view.buf;
    for (Py_ssize_t k = 0; k < buffer->rows * columns; k++) {
        if (!isfinite(values[k])) {
            sn_errors_set(SN_BAD_INPUT, "Row %zd of %s is not a finite number: repair the input.", k / columns, name);
            return -1;
        }
    }
    return 0;
}
