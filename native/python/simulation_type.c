/* Simulation, the base of what can be advanced, and Ensemble: several of them as bodies of one world. They hold no state of their own:
   positions and velocities come in and go out. */
#include "python/simulation.h"

#include "base/memory.h"
#include "python/errors.h"

#include <string.h>

static PyTypeObject *simulation_type; /* set once when the module is made */

PyTypeObject *sn_simulation_type(void)
{
    return simulation_type;
}

static const SnSimulationKind *kind_of(PyObject *simulation)
{
    return ((SnSimulation *)simulation)->kind;
}

/* Advances `count` simulations together, without Python. */
static SnStatus advance_all(SnContext *context, SnEnsemble *ensemble, size_t count, PyObject **simulations, SnMove *moves,
                            SnState *states, SnStepReport *report)
{
    for (size_t k = 0; k < count; k++) {
        kind_of(simulations[k])->lead(simulations[k], moves + k);
        states[k] = moves[k].state;
    }
    SnStatus status = SN_OK;
    size_t repaired = 0;
    int kept = 1;
    SN_TRY(sn_ensemble_advance(context, ensemble, states, report));
    for (size_t k = 0; k < count; k++) {
        kind_of(simulations[k])->finish(simulations[k], moves + k);
        repaired += moves[k].repaired;
    }
    if (repaired > 0) { /* what touches on the way there stays as it was */
        SN_TRY(sn_ensemble_prove(context, ensemble, states, &kept));
    }
    for (size_t k = 0; k < count; k++) {
        moves[k].repaired = kept ? moves[k].repaired : 0;
    }
cleanup:
    return status;
}

static PyObject *numbers_of(const SnMove *move, const SnStepReport *report)
{
    return Py_BuildValue("iiiinn", report->rounds, report->unconverged, report->fallbacks, report->steps,
                         (Py_ssize_t)move->inverted, (Py_ssize_t)move->repaired);
}

/* The monitor at the end of a tuple of arguments that may hold one, and the tuple without it (new). */
static PyObject *split_monitor(PyObject *arguments, PyObject **monitor, SnContext *own, SnContext **context)
{
    Py_ssize_t count = PyTuple_Size(arguments);
    PyObject *last = count > 0 ? PyTuple_GetItem(arguments, count - 1) : Py_None;
    int has_monitor = count > 0 && sn_monitor_type_check(last);
    *monitor = has_monitor ? last : Py_None;
    *context = sn_monitor_context(*monitor, own);
    return *context == NULL ? NULL : PyTuple_GetSlice(arguments, 0, has_monitor ? count - 1 : count);
}

PyObject *sn_simulation_advance(PyObject *self, PyObject *arguments)
{
    SnMove move = {0};
    SnStepReport report = {0};
    SnContext own, *context;
    SnState state;
    PyObject *monitor, *given = split_monitor(arguments, &monitor, &own, &context);
    int opened = given != NULL ? kind_of(self)->open(self, given, &move) : -1;
    Py_XDECREF(given);
    if (opened < 0) {
        return NULL;
    }
    SnStatus status;
    Py_BEGIN_ALLOW_THREADS
    status = advance_all(context, ((SnSimulation *)self)->alone, 1, &self, &move, &state, &report);
    Py_END_ALLOW_THREADS
    sn_arrays_close(move.array_count, move.arrays);
    return sn_errors_check(status, context) < 0 ? NULL : numbers_of(&move, &report);
}

typedef struct Ensemble {
    PyObject_HEAD
    size_t count;
    PyObject **simulations; /* owned references */
    SnMove *moves;
    SnState *states;
    SnEnsemble *ensemble;
    PyObject *contact;      /* owned reference; null: nothing touches */
} Ensemble;

static void ensemble_dealloc(PyObject *object)
{
    Ensemble *self = (Ensemble *)object;
    if (self->contact != NULL) {
        sn_contact_type_detach(self->contact);
        Py_DECREF(self->contact);
    }
    sn_ensemble_destroy(self->ensemble);
    for (size_t k = 0; k < self->count; k++) {
        Py_XDECREF(self->simulations[k]);
    }
    sn_release(self->simulations);
    sn_release(self->moves);
    sn_release(self->states);
    sn_type_free(object);
}

/* Takes the simulations of a list, and makes one world of them. */
static SnStatus ensemble_fill(SnContext *context, Ensemble *self, PyObject *list, size_t count)
{
    SnStatus status = SN_OK;
    SnMember *members = NULL;
    SN_TRY_NEW(context, self->simulations, count, PyObject *);
    SN_TRY_NEW(context, self->moves, count, SnMove);
    SN_TRY_NEW(context, self->states, count, SnState);
    SN_TRY_NEW(context, members, count, SnMember);
    for (size_t k = 0; k < count; k++) {
        self->simulations[k] = Py_NewRef(PyList_GetItem(list, (Py_ssize_t)k));
        members[k] = kind_of(self->simulations[k])->member(self->simulations[k]);
    }
    Py_BEGIN_ALLOW_THREADS
    status = sn_ensemble_create(context, count, members, &self->ensemble);
    Py_END_ALLOW_THREADS
    self->count = count;
cleanup:
    sn_release(members);
    return status;
}

/* Ensemble(simulations, contact=None) */
static PyObject *ensemble_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"simulations", "contact", NULL};
    PyObject *list, *contact = Py_None;
    SnContext context;
    sn_context_init(&context);
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|O:Ensemble", names, &list, &contact) ||
        (!Py_IsNone(contact) && sn_contact_type_check(contact) < 0)) {
        return NULL;
    }
    Py_ssize_t count = PyList_Check(list) ? PyList_Size(list) : 0;
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject *simulation = PyList_GetItem(list, k);
        for (Py_ssize_t before = 0; before < k; before++) {
            count = PyList_GetItem(list, before) == simulation ? 0 : count;
        }
        count = PyObject_TypeCheck(simulation, (PyTypeObject *)simulation_type) ? count : 0;
    }
    if (count == 0) {
        PyErr_SetString(PyExc_TypeError, "an ensemble is made of a list of simulations, each of them once");
        return NULL;
    }
    Ensemble *self = (Ensemble *)sn_type_new(type);
    if (self != NULL && sn_errors_check(ensemble_fill(&context, self, list, (size_t)count), &context) < 0) {
        Py_CLEAR(self);
    }
    if (self != NULL && !Py_IsNone(contact)) {
        if (sn_contact_type_attach(contact, self->ensemble) < 0) {
            Py_CLEAR(self);
        } else {
            self->contact = Py_NewRef(contact);
        }
    }
    return (PyObject *)self;
}

static PyObject *all_numbers(const Ensemble *self, const SnStepReport *report)
{
    PyObject *result = PyList_New((Py_ssize_t)self->count);
    for (size_t k = 0; k < self->count && result != NULL; k++) {
        PyObject *numbers = numbers_of(self->moves + k, report);
        if (numbers == NULL || PyList_SetItem(result, (Py_ssize_t)k, numbers) < 0) {
            Py_CLEAR(result);
        }
    }
    return result;
}

/* advance(moves, monitor=None) -> [numbers, ...]: a tuple of arguments for each simulation. */
static PyObject *ensemble_advance(PyObject *object, PyObject *arguments)
{
    Ensemble *self = (Ensemble *)object;
    PyObject *list, *monitor = Py_None, *result = NULL;
    SnStepReport report = {0};
    SnContext own, *context;
    size_t opened = 0;
    if (!PyArg_ParseTuple(arguments, "O|O:advance", &list, &monitor) || (context = sn_monitor_context(monitor, &own)) == NULL) {
        return NULL;
    }
    if (!PyList_Check(list) || PyList_Size(list) != (Py_ssize_t)self->count) {
        PyErr_SetString(PyExc_TypeError, "an ensemble advances by a list of as many moves as it has simulations");
        return NULL;
    }
    while (opened < self->count) {
        self->moves[opened] = (SnMove){0};
        PyObject *move = PyList_GetItem(list, (Py_ssize_t)opened), *simulation = self->simulations[opened];
        if (!PyTuple_Check(move)) {
            PyErr_SetString(PyExc_TypeError, "a move is a tuple of arguments");
            break;
        }
        if (kind_of(simulation)->open(simulation, move, self->moves + opened) < 0) {
            break;
        }
        opened++;
    }
    if (opened == self->count && (self->contact == NULL || sn_contact_type_begin(self->contact, context) == 0)) {
        SnStatus status;
        Py_BEGIN_ALLOW_THREADS
        status = advance_all(context, self->ensemble, self->count, self->simulations, self->moves, self->states, &report);
        if (self->contact != NULL) {
            status = sn_contact_type_end(self->contact, context, status);
        }
        Py_END_ALLOW_THREADS
        if (sn_errors_check(status, context) >= 0) {
            result = all_numbers(self, &report);
        }
    }
    for (size_t k = 0; k < opened; k++) {
        sn_arrays_close(self->moves[k].array_count, self->moves[k].arrays);
    }
    if (self->contact != NULL) {
        sn_contact_type_close(self->contact);
    }
    return result;
}

static PyObject *ensemble_substeps(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(sn_ensemble_substeps(((Ensemble *)self)->ensemble));
}

static int add_ensemble(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"advance", ensemble_advance, METH_VARARGS,
         "advance(moves, monitor=None) -> [numbers, ...]: one interval, in place; a tuple of arguments for each simulation."},
        {NULL, NULL, 0, NULL},
    };
    static PyGetSetDef getters[] = {{"substeps", ensemble_substeps, NULL, "Of an interval.", NULL}, {NULL, NULL, NULL, NULL, NULL}};
    static PyType_Slot slots[] = {
        {Py_tp_doc, "Ensemble(simulations, contact=None): several simulations as bodies of one world, and what they meet."},
        {Py_tp_new, ensemble_new},
        {Py_tp_dealloc, ensemble_dealloc},
        {Py_tp_methods, methods},
        {Py_tp_getset, getters},
        {0, NULL},
    };
    static PyType_Spec spec = {"sinew._native.Ensemble", sizeof(Ensemble), 0, Py_TPFLAGS_DEFAULT, slots};
    return sn_type_add(module, &spec, NULL) != NULL ? 0 : -1;
}

static PyObject *simulation_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)type, (void)arguments, (void)keywords;
    PyErr_SetString(PyExc_TypeError, "a simulation is made by its method");
    return NULL;
}

int sn_simulation_type_add(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"advance", sn_simulation_advance, METH_VARARGS,
         "advance(*move[, monitor]) -> (rounds, unconverged, fallbacks, substeps, inverted, repaired): one interval, in place."},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_doc, "What can be advanced, alone or in an ensemble."},
        {Py_tp_new, simulation_new},
        {Py_tp_methods, methods},
        {0, NULL},
    };
    static PyType_Spec spec = {"sinew._native.Simulation", sizeof(SnSimulation), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    simulation_type = sn_type_add(module, &spec, NULL);
    return simulation_type != NULL ? add_ensemble(module) : -1;
}
