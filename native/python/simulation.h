/* What the types of simulations share. Their instances begin with an SnSimulation, and their types are subclasses of Simulation: so an
   Ensemble can advance several of any kind as bodies of one world. */
#ifndef SN_PYTHON_SIMULATION_H
#define SN_PYTHON_SIMULATION_H

#include "python/types.h"

#include "dynamics/ensemble.h"
#include "dynamics/input_curve.h"
#include "python/arrays.h"

#define SN_MOVE_ARRAYS 10

/* One interval of a simulation: its arrays while they are open, its state in them, and what came of it. */
typedef struct SnMove {
    SnArray arrays[SN_MOVE_ARRAYS];
    size_t array_count;
    SnInputCurve curve, light; /* the second is the part of the first that has no inertia, where it has one */
    SnState state;
    const double *firmness;    /* 2 x tets of the cage: factors of the stiffness at begin and end; null: 1 */
    const double *push;        /* vertices x 3, m/s²: of outer forces; null: none */
    size_t inverted, repaired; /* tets */
} SnMove;

typedef struct SnSimulationKind {
    /* Opens the arrays of a move, given the arguments of `advance` without its monitor. -1 with an exception set; then none is open. */
    int (*open)(PyObject *self, PyObject *arguments, SnMove *move);
    SnMember (*member)(PyObject *self);
    /* Before and after the ensemble advances, without Python. */
    void (*lead)(PyObject *self, SnMove *move);
    void (*finish)(PyObject *self, SnMove *move);
} SnSimulationKind;

typedef struct SnSimulation {
    PyObject_HEAD
    const SnSimulationKind *kind;
    SnEnsemble *alone; /* this simulation with no other; the method's */
} SnSimulation;

/* The base type, to be added before those that have it. */
int sn_simulation_type_add(PyObject *module);
PyTypeObject *sn_simulation_type(void); /* borrowed */

/* advance(*move[, monitor]): one interval of a simulation alone, in place. Its numbers. */
PyObject *sn_simulation_advance(PyObject *self, PyObject *arguments);

#endif
