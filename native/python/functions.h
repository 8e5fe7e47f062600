/* The plain functions of the module. */
#ifndef SN_PYTHON_FUNCTIONS_H
#define SN_PYTHON_FUNCTIONS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

PyObject *sn_function_vertex_areas(PyObject *module, PyObject *arguments);
PyObject *sn_function_surface_distance(PyObject *module, PyObject *arguments);
PyObject *sn_function_apply_detail(PyObject *module, PyObject *arguments);
PyObject *sn_function_cage_weights(PyObject *module, PyObject *arguments);
PyObject *sn_function_spread_weights(PyObject *module, PyObject *arguments);
PyObject *sn_function_mend_tets(PyObject *module, PyObject *arguments);
PyObject *sn_function_regions_of(PyObject *module, PyObject *arguments);
PyObject *sn_function_crossings(PyObject *module, PyObject *arguments);
PyObject *sn_function_pair_distances(PyObject *module, PyObject *arguments);
PyObject *sn_function_pair_times(PyObject *module, PyObject *arguments);
PyObject *sn_function_set_threads(PyObject *module, PyObject *count);
PyObject *sn_function_info(PyObject *module, PyObject *unused);

#endif
