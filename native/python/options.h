/* Settings cross the border in a dict, read by a table: one line for each field of a settings struct. */
#ifndef SN_PYTHON_OPTIONS_H
#define SN_PYTHON_OPTIONS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define SN_OPTIONS_MOST 64

typedef enum SnOptionKind {
    SN_OPTION_DOUBLE,
    SN_OPTION_VECTOR, /* three doubles */
    SN_OPTION_INT,
    SN_OPTION_BOOL,   /* an int, 0 or 1 */
    SN_OPTION_NAME,   /* by `choose` */
} SnOptionKind;

typedef struct SnOption {
    const char *name;
    SnOptionKind kind;
    size_t offset;                                 /* of the field in its struct */
    int (*choose)(const char *name, void *field);  /* writes what a name stands for; -1 with an exception for an unknown one */
} SnOption;

/* Fields that the dict does not name keep their values. Returns 0, or -1 with an exception set; an unknown name is a BadInput that tells
   the nearest one. `what` names the dict in sentences. */
int sn_options_read(PyObject *dict, const char *what, size_t count, const SnOption *options, void *settings);

/* Gives a type the attribute `options`, the names of its table: so Python can tell which settings it takes. */
int sn_options_add(PyObject *type, size_t count, const SnOption *options);

/* Whether the dict has these names only. */
int sn_options_check_names(PyObject *dict, const char *what, size_t count, const char *const *names);

#endif
