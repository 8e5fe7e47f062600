/* Fit: fits a cage to surface frames. */
#include "python/types.h"

#include "method/fit.h"
#include "python/buffers.h"
#include "python/errors.h"

typedef struct Fit {
    PyObject_HEAD
    PyObject *cage;
    SnFit *fit;
} Fit;

static void fit_dealloc(PyObject *object)
{
    Fit *self = (Fit *)object;
    sn_fit_destroy(self->fit);
    Py_XDECREF(self->cage);
    sn_type_free(object);
}

/* Fit(cage, areas, smoothing, size, energy) */
static PyObject *fit_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"cage", "areas", "smoothing", "size", "energy", NULL};
    PyObject *cage, *area_object;
    const char *energy_name;
    SnFitSettings settings = sn_fit_settings_default();
    SnBuffer areas = {0};
    SnContext context;
    Fit *self = NULL;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOdds:Fit", names, &cage, &area_object, &settings.smoothing,
                                     &settings.size, &energy_name)) {
        return NULL;
    }
    settings.energy = sn_energy_by_name(energy_name);
    if (settings.energy == NULL || sn_cage_type_check(cage) < 0) {
        return NULL;
    }
    const SnEmbedding *embedding = sn_cage_type_embedding(cage);
    if (sn_buffer_read_doubles(area_object, "areas", (Py_ssize_t)embedding->vertex_count, 1, &areas) < 0) {
        return NULL;
    }
    self = (Fit *)sn_type_new(type);
    if (self != NULL) {
        SnStatus status;
        sn_context_init(&context);
        Py_INCREF(cage);
        self->cage = cage;
        Py_BEGIN_ALLOW_THREADS
        status = sn_fit_create(&context, sn_cage_type_mesh(cage), embedding, areas.view.buf, &settings, &self->fit);
        Py_END_ALLOW_THREADS
        if (sn_errors_check(status, &context) < 0) {
            Py_CLEAR(self);
        }
    }
    sn_buffer_close(&areas);
    return (PyObject *)self;
}

/* frame(surface, first, positions, before=None) -> (rms, max, rounds, inverted); positions hold the fit of the frame before and
   receive this one; `before` is the one before that. */
static PyObject *fit_frame(PyObject *object, PyObject *arguments)
{
    Fit *self = (Fit *)object;
    PyObject *surface_object, *position_object, *before_object = Py_None, *result = NULL;
    int first;
    SnBuffer surface = {0}, positions = {0}, before = {0};
    SnFitReport report = {0};
    SnContext context;
    if (!PyArg_ParseTuple(arguments, "OpO|O:frame", &surface_object, &first, &position_object, &before_object)) {
        return NULL;
    }
    sn_context_init(&context);
    Py_ssize_t vertices = (Py_ssize_t)sn_cage_type_mesh(self->cage)->vertex_count;
    if (sn_buffer_read_doubles(surface_object, "surface", (Py_ssize_t)sn_cage_type_embedding(self->cage)->vertex_count, 3,
                               &surface) == 0 &&
        sn_buffer_check_finite(&surface, "the surface", 3) == 0 &&
        (before_object == Py_None || sn_buffer_read_doubles(before_object, "before", vertices, 3, &before) == 0) &&
        sn_buffer_write_doubles(position_object, "positions", vertices, 3, &positions) == 0) {
        SnStatus status;
        Py_BEGIN_ALLOW_THREADS
        status = sn_fit_frame(&context, self->fit, surface.view.buf, first, before.view.buf, positions.view.buf, &report);
        Py_END_ALLOW_THREADS
        if (sn_errors_check(status, &context) == 0) {
            result = Py_BuildValue("ddin", report.rms, report.max, report.rounds, (Py_ssize_t)report.inverted);
        }
    }
    sn_buffer_close(&surface);
    sn_buffer_close(&positions);
    sn_buffer_close(&before);
    return result;
}

int sn_fit_type_add(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"frame", fit_frame, METH_VARARGS,
         "frame(surface, first, positions, before=None) -> (rms, max, rounds, inverted). `positions` holds the fit of the frame before "
         "(`before`: of the one before that) and receives this one."},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_doc, "Fit(cage, areas, smoothing, size, energy): fits the cage to surface frames."},
        {Py_tp_new, fit_new},
        {Py_tp_dealloc, fit_dealloc},
        {Py_tp_methods, methods},
        {0, NULL},
    };
    static PyType_Spec spec = {"sinew._native.Fit", sizeof(Fit), 0, Py_TPFLAGS_DEFAULT, slots};
    PyObject *type = PyType_FromSpec(&spec);
    return type == NULL ? -1 : PyModule_AddObjectRef(module, "Fit", type);
}
