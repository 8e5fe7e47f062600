/* The Python types of the module, one file each. Each function adds its type to the module: 0, or -1 with an exception set. */
#ifndef SN_PYTHON_TYPES_H
#define SN_PYTHON_TYPES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "base/context.h"
#include "dynamics/ensemble.h"
#include "mesh/embedding.h"
#include "mesh/tet_mesh.h"

int sn_monitor_type_add(PyObject *module);
int sn_cage_type_add(PyObject *module);
int sn_fit_type_add(PyObject *module);
int sn_enrich_type_add(PyObject *module);
int sn_tracks_type_add(PyObject *module);
int sn_rebalance_type_add(PyObject *module);
int sn_edit_type_add(PyObject *module);
int sn_world_type_add(PyObject *module);
int sn_contact_type_add(PyObject *module);

int sn_monitor_type_check(PyObject *object); /* whether it is a Monitor */

/* The context of a Monitor, or `own` (initialised) for None. Null with an exception for anything else. */
SnContext *sn_monitor_context(PyObject *monitor, SnContext *own);

/* What the other types need of a Cage. Cages are immutable; keep a reference while using these. */
int sn_cage_type_check(PyObject *object);
const SnTetMesh *sn_cage_type_mesh(PyObject *cage);
const SnEmbedding *sn_cage_type_embedding(PyObject *cage);

/* What a name stands for, into a field: `const SnDensity *`, SnScheme, SnInterpolation. -1 with an exception for an unknown one. (See SnOption.) */
int sn_density_choose(const char *name, void *field);
int sn_scheme_choose(const char *name, void *field);
int sn_interpolation_choose(const char *name, void *field);

/* What an Ensemble needs of a Contact, which belongs to one at a time. `attach` and `begin` (before each interval): 0, or -1 with an exception
   set; `end` comes after the interval, however it went. */
int sn_contact_type_check(PyObject *object);
int sn_contact_type_attach(PyObject *contact, SnEnsemble *ensemble);
void sn_contact_type_detach(PyObject *contact);
int sn_contact_type_begin(PyObject *contact, SnContext *context);
SnStatus sn_contact_type_end(PyObject *contact, SnContext *context, SnStatus status); /* without Python */
void sn_contact_type_close(PyObject *contact);

/* Makes a type of a spec, a subclass of `base` if that is not null, and adds it to the module under the last part of its name. Null with an exception
   set; else a reference that is kept as long as the module. */
PyTypeObject *sn_type_add(PyObject *module, PyType_Spec *spec, PyTypeObject *base);

/* Allocates an instance of a type created from a spec; zeroed. */
PyObject *sn_type_new(PyTypeObject *type);

/* Frees an instance: releases the memory and the reference to its heap type. */
void sn_type_free(PyObject *self);

#endif
