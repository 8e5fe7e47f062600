/* Arrays cross the border through the buffer protocol: contiguous, of the exact type and shape, checked with a sentence. */
#ifndef SN_PYTHON_BUFFERS_H
#define SN_PYTHON_BUFFERS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>

typedef struct SnBuffer {
    Py_buffer view;
    Py_ssize_t rows;
    int open;
} SnBuffer;

/* `columns` 1 accepts a flat array too. `rows` < 0 accepts any number. Returns 0, or -1 with a TypeError or BadInput set. */
int sn_buffer_read_doubles(PyObject *object, const char *name, Py_ssize_t rows, Py_ssize_t columns, SnBuffer *buffer);
int sn_buffer_write_doubles(PyObject *object, const char *name, Py_ssize_t rows, Py_ssize_t columns, SnBuffer *buffer);
int sn_buffer_read_ints(PyObject *object, const char *name, Py_ssize_t rows, Py_ssize_t columns, SnBuffer *buffer);
int sn_buffer_write_ints(PyObject *object, const char *name, Py_ssize_t rows, Py_ssize_t columns, SnBuffer *buffer);
void sn_buffer_close(SnBuffer *buffer);

/* All values finite; otherwise BadInput that names the row. */
int sn_buffer_check_finite(const SnBuffer *buffer, const char *name, Py_ssize_t columns);

#endif
