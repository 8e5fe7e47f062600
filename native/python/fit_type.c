/* Fit: fits a cage to surface frames. */
#include "python/types.h"

#include "dynamics/fit.h"
#include "python/buffers.h"
#include "python/errors.h"

typedef struct Fit {
    PyObject_HEAD
    PyObject *cage;
    SnFit *fit;
    SnFit *twin; /* for the second frame of a pair; made with the first pair */
} Fit;

static void fit_dealloc(PyObject *object)
{
    Fit *self = (Fit *)object;
    sn_fit_destroy(self->fit);
    sn_fit_destroy(self->twin);
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

/* Checks and opens a surface frame of this fit. */
static int open_surface(const Fit *self, PyObject *object, SnBuffer *surface)
{
    Py_ssize_t vertices = (Py_ssize_t)sn_cage_type_embedding(self->cage)->vertex_count;
    return sn_buffer_read_doubles(object, "surface", vertices, 3, surface) == 0 &&
           sn_buffer_check_finite(surface, "the surface", 3) == 0;
}

static PyObject *report_tuple(const SnFitReport *report)
{
    return Py_BuildValue("ddin", report->rms, report->max, report->rounds, (Py_ssize_t)report->inverted);
}

/* frame(surface, ahead, positions, before=None) -> (rms, max, rounds, inverted): see sn_fit_frame. */
static PyObject *fit_frame(PyObject *object, PyObject *arguments)
{
    Fit *self = (Fit *)object;
    PyObject *surface_object, *position_object, *before_object = Py_None, *result = NULL;
    int ahead;
    SnBuffer surface = {0}, positions = {0}, before = {0};
    SnFitReport report = {0};
    SnContext context;
    if (!PyArg_ParseTuple(arguments, "OiO|O:frame", &surface_object, &ahead, &position_object, &before_object)) {
        return NULL;
    }
    sn_context_init(&context);
    Py_ssize_t vertices = (Py_ssize_t)sn_cage_type_mesh(self->cage)->vertex_count;
    if (open_surface(self, surface_object, &surface) &&
        (before_object == Py_None || sn_buffer_read_doubles(before_object, "before", vertices, 3, &before) == 0) &&
        sn_buffer_write_doubles(position_object, "positions", vertices, 3, &positions) == 0) {
        SnStatus status;
        Py_BEGIN_ALLOW_THREADS
        status = sn_fit_frame(&context, self->fit, surface.view.buf, ahead, before.view.buf, positions.view.buf, &report);
        Py_END_ALLOW_THREADS
        if (sn_errors_check(status, &context) == 0) {
            result = report_tuple(&report);
        }
    }
    sn_buffer_close(&surface);
    sn_buffer_close(&positions);
    sn_buffer_close(&before);
    return result;
}

/* pair(surface, surface, positions, positions, before) -> both reports: see sn_fit_pair. */
static PyObject *fit_pair(PyObject *object, PyObject *arguments)
{
    Fit *self = (Fit *)object;
    PyObject *surface_objects[2], *position_objects[2], *before_object, *result = NULL;
    SnBuffer surfaces[2] = {0}, positions[2] = {0}, before = {0};
    SnFitReport reports[2] = {{0}};
    SnContext context;
    if (!PyArg_ParseTuple(arguments, "OOOOO:pair", surface_objects, surface_objects + 1, position_objects, position_objects + 1,
                          &before_object)) {
        return NULL;
    }
    sn_context_init(&context);
    Py_ssize_t vertices = (Py_ssize_t)sn_cage_type_mesh(self->cage)->vertex_count;
    if (open_surface(self, surface_objects[0], surfaces) && open_surface(self, surface_objects[1], surfaces + 1) &&
        sn_buffer_read_doubles(before_object, "before", vertices, 3, &before) == 0 &&
        sn_buffer_write_doubles(position_objects[0], "positions", vertices, 3, positions) == 0 &&
        sn_buffer_write_doubles(position_objects[1], "positions", vertices, 3, positions + 1) == 0) {
        SnStatus status;
        Py_BEGIN_ALLOW_THREADS
        status = self->twin == NULL ? sn_fit_twin(&context, self->fit, &self->twin) : SN_OK;
        if (status == SN_OK) {
            status = sn_fit_pair(&context, (SnFit *const[2]){self->fit, self->twin},
                                 (const double *const[2]){surfaces[0].view.buf, surfaces[1].view.buf}, before.view.buf,
                                 (double *const[2]){positions[0].view.buf, positions[1].view.buf}, reports);
        }
        Py_END_ALLOW_THREADS
        if (sn_errors_check(status, &context) == 0) {
            result = Py_BuildValue("NN", report_tuple(reports), report_tuple(reports + 1));
        }
    }
    for (int k = 0; k < 2; k++) {
        sn_buffer_close(surfaces + k);
        sn_buffer_close(positions + k);
    }
    sn_buffer_close(&before);
    return result;
}

int sn_fit_type_add(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"frame", fit_frame, METH_VARARGS,
         "frame(surface, ahead, positions, before=None) -> (rms, max, rounds, inverted). `positions` holds the fit of the frame that "
         "many frames before (0: none), `before` that of the one before it; receives the fit."},
        {"pair", fit_pair, METH_VARARGS,
         "pair(surface, surface, positions, positions, before) -> both reports. Two frames in a row at once; both `positions` hold the "
         "fit of the frame before them and receive their fits."},
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
