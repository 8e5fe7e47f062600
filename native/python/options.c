#include "python/options.h"

#include "python/errors.h"

#include <string.h>

#define LONGEST 40 /* names that are compared letter by letter */

/* How many letters must be changed, added or left out to make one name of the other. */
static size_t distance(const char *a, const char *b)
{
    size_t row[LONGEST + 1], length = strlen(b);
    if (strlen(a) > LONGEST || length > LONGEST) {
        return LONGEST;
    }
    for (size_t j = 0; j <= length; j++) {
        row[j] = j;
    }
    for (size_t i = 1; *a != '\0'; i++, a++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            size_t changed = corner + (*a != b[j - 1]), fewer = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            corner = row[j];
            row[j] = changed < fewer ? changed : fewer;
        }
    }
    return row[length];
}

int sn_options_check_names(PyObject *dict, const char *what, size_t count, const char *const *names)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    if (!PyDict_Check(dict)) {
        PyErr_Format(PyExc_TypeError, "%s must be a dict", what);
        return -1;
    }
    while (PyDict_Next(dict, &at, &key, &value)) {
        PyObject *text = PyObject_Str(key);
        PyObject *bytes = text != NULL ? PyUnicode_AsUTF8String(text) : NULL;
        const char *name = bytes != NULL ? PyBytes_AsString(bytes) : NULL;
        size_t nearest = 0;
        int is_known = 0;
        for (size_t k = 0; name != NULL && k < count; k++) {
            is_known |= strcmp(name, names[k]) == 0;
            nearest = distance(name, names[k]) < distance(name, names[nearest]) ? k : nearest;
        }
        if (name != NULL && !is_known) {
            sn_errors_set(SN_BAD_INPUT, "%s has no \"%s\": did you mean \"%s\"?", what, name, names[nearest]);
        }
        Py_XDECREF(text);
        Py_XDECREF(bytes);
        if (!is_known) {
            return -1;
        }
    }
    return 0;
}

static int read_vector(PyObject *value, double *field)
{
    PyObject *items = PySequence_Tuple(value);
    int length_is_right = items != NULL && PyTuple_Size(items) == 3;
    if (items != NULL && !length_is_right) {
        PyErr_SetString(PyExc_TypeError, "three numbers are expected");
    }
    for (Py_ssize_t a = 0; length_is_right && a < 3; a++) {
        field[a] = PyFloat_AsDouble(PyTuple_GetItem(items, a));
    }
    Py_XDECREF(items);
    return PyErr_Occurred() ? -1 : 0;
}

static int read_name(PyObject *value, const SnOption *option, void *field)
{
    PyObject *bytes = PyUnicode_AsUTF8String(value);
    int result = bytes != NULL ? option->choose(PyBytes_AsString(bytes), field) : -1;
    Py_XDECREF(bytes);
    return result;
}

static int read_option(PyObject *value, const SnOption *option, void *field)
{
    long number;
    switch (option->kind) {
    case SN_OPTION_DOUBLE:
        *(double *)field = PyFloat_AsDouble(value);
        return PyErr_Occurred() ? -1 : 0;
    case SN_OPTION_VECTOR:
        return read_vector(value, field);
    case SN_OPTION_INT:
        number = PyLong_AsLong(value);
        *(int *)field = (int)number;
        return PyErr_Occurred() ? -1 : 0;
    case SN_OPTION_BOOL:
        *(int *)field = PyObject_IsTrue(value);
        return *(int *)field < 0 ? -1 : 0;
    case SN_OPTION_NAME:
        return read_name(value, option, field);
    }
    return -1;
}

int sn_options_read(PyObject *dict, const char *what, size_t count, const SnOption *options, void *settings)
{
    const char *names[SN_OPTIONS_MOST] = {NULL};
    for (size_t k = 0; k < count; k++) {
        names[k] = options[k].name;
    }
    if (sn_options_check_names(dict, what, count, names) < 0) {
        return -1;
    }
    for (size_t k = 0; k < count; k++) {
        PyObject *value = PyDict_GetItemString(dict, options[k].name);
        if (value != NULL && read_option(value, options + k, (char *)settings + options[k].offset) < 0) {
            return -1;
        }
    }
    return 0;
}

int sn_options_add(PyObject *type, size_t count, const SnOption *options)
{
    PyObject *names = PyTuple_New((Py_ssize_t)count);
    for (size_t k = 0; names != NULL && k < count; k++) {
        PyObject *name = PyUnicode_FromString(options[k].name);
        if (name == NULL || PyTuple_SetItem(names, (Py_ssize_t)k, name) < 0) {
            Py_CLEAR(names);
        }
    }
    int result = names != NULL ? PyObject_SetAttrString(type, "options", names) : -1;
    Py_XDECREF(names);
    return result;
}
