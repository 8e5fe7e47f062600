/* What all types of the module are made, instantiated and freed by. */
#include "python/types.h"

#include <string.h>

PyTypeObject *sn_type_add(PyObject *module, PyType_Spec *spec, PyTypeObject *base)
{
    PyObject *bases = base != NULL ? PyTuple_Pack(1, base) : NULL, *type = NULL;
    if (base == NULL || bases != NULL) {
        type = PyType_FromSpecWithBases(spec, bases);
    }
    Py_XDECREF(bases);
    if (type != NULL && PyModule_AddObjectRef(module, strrchr(spec->name, '.') + 1, type) < 0) {
        Py_CLEAR(type);
    }
    return (PyTypeObject *)type;
}

PyObject *sn_type_new(PyTypeObject *type)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return allocate(type, 0);
}

void sn_type_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}
