/* Arrays cross the border through the buffer protocol: contiguous, of the exact type and shape, checked with a sentence. A call lists what
   it takes in a table, opens all of it at once and closes it at once. */
#ifndef SN_PYTHON_ARRAYS_H
#define SN_PYTHON_ARRAYS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>

typedef enum SnArrayUse {
    SN_ARRAY_READ,         /* finite numbers */
    SN_ARRAY_READ_WITH_NAN, /* any numbers: NaN has a meaning */
    SN_ARRAY_WRITE,        /* the caller's array is written to */
} SnArrayUse;

typedef struct SnArray {
    const char *name;
    char kind;                /* 'd': float64, 'i': int32 */
    Py_ssize_t rows, columns; /* rows < 0: any number, told after opening; columns 1 accepts a flat array too */
    SnArrayUse use;
    int is_optional;          /* None, or nothing, leaves `data` null */
    PyObject *object;         /* borrowed; what was given */
    void *data;               /* while open; float64 or int32 */
    Py_buffer view;
    int is_open;
} SnArray;

/* Opens all of them. Returns 0, or -1 with a TypeError or BadInput set; then none is open. */
int sn_arrays_open(size_t count, SnArray *arrays);
void sn_arrays_close(size_t count, SnArray *arrays);

/* The objects of a dict, by the arrays' names; a name that no array has is a BadInput. `what` names the dict in sentences. */
int sn_arrays_from_dict(PyObject *dict, const char *what, size_t count, SnArray *arrays);

#define SN_COUNT(table) (sizeof(table) / sizeof *(table))

#endif
