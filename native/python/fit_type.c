/* Fit: fits a cage to surface frames. */
#include "python/types.h"

#include "dynamics/fit.h"
#include "python/arrays.h"
#include "python/errors.h"
#include "python/options.h"

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

static const SnOption OPTIONS[] = {
    {"smoothing", SN_OPTION_DOUBLE, offsetof(SnFitSettings, smoothing), NULL},
    {"size", SN_OPTION_DOUBLE, offsetof(SnFitSettings, size), NULL},
    {"unfold", SN_OPTION_BOOL, offsetof(SnFitSettings, unfold), NULL},
};

/* Fit(cage, areas, settings) */
static PyObject *fit_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"cage", "areas", "settings", NULL};
    PyObject *cage, *given;
    SnFitSettings settings = sn_fit_settings_default();
    SnArray areas = {.name = "areas", .kind = 'd', .columns = 1};
    SnContext context;
    Fit *self = NULL;
    sn_context_init(&context);
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOO:Fit", names, &cage, &areas.object, &given) ||
        sn_cage_type_check(cage) < 0 || sn_options_read(given, "Fit", SN_COUNT(OPTIONS), OPTIONS, &settings) < 0) {
        return NULL;
    }
    const SnEmbedding *embedding = sn_cage_type_embedding(cage);
    areas.rows = (Py_ssize_t)embedding->vertex_count;
    if (sn_arrays_open(1, &areas) < 0) {
        return NULL;
    }
    self = (Fit *)sn_type_new(type);
    if (self != NULL) {
        SnStatus status;
        self->cage = Py_NewRef(cage);
        Py_BEGIN_ALLOW_THREADS
        status = sn_fit_create(&context, sn_cage_type_mesh(cage), embedding, areas.data, &settings, &self->fit);
        Py_END_ALLOW_THREADS
        if (sn_errors_check(status, &context) < 0) {
            Py_CLEAR(self);
        }
    }
    sn_arrays_close(1, &areas);
    return (PyObject *)self;
}

/* frame(surface, has_guess, positions, before=None, monitor=None) -> (rms, max, rounds, inverted): see sn_fit_frame. */
static PyObject *fit_frame(PyObject *object, PyObject *arguments)
{
    Fit *self = (Fit *)object;
    Py_ssize_t bound = (Py_ssize_t)sn_cage_type_embedding(self->cage)->vertex_count;
    Py_ssize_t vertices = (Py_ssize_t)sn_cage_type_mesh(self->cage)->vertex_count;
    SnArray arrays[] = {{.name = "the surface", .kind = 'd', .rows = bound, .columns = 3},
                        {.name = "positions", .kind = 'd', .rows = vertices, .columns = 3, .use = SN_ARRAY_WRITE},
                        {.name = "before", .kind = 'd', .rows = vertices, .columns = 3, .is_optional = 1}};
    PyObject *monitor = Py_None;
    int has_guess;
    SnFitReport report = {0};
    SnContext own, *context;
    SnStatus status;
    if (!PyArg_ParseTuple(arguments, "OpO|OO:frame", &arrays[0].object, &has_guess, &arrays[1].object, &arrays[2].object, &monitor) ||
        (context = sn_monitor_context(monitor, &own)) == NULL || sn_arrays_open(SN_COUNT(arrays), arrays) < 0) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    status = sn_fit_frame(context, self->fit, arrays[0].data, has_guess, arrays[2].data, arrays[1].data, &report);
    Py_END_ALLOW_THREADS
    sn_arrays_close(SN_COUNT(arrays), arrays);
    if (sn_errors_check(status, context) < 0) {
        return NULL;
    }
    return Py_BuildValue("ddin", report.rms, report.max, report.rounds, (Py_ssize_t)report.inverted);
}

int sn_fit_type_add(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"frame", fit_frame, METH_VARARGS,
         "frame(surface, has_guess, positions, before=None, monitor=None) -> (rms, max, rounds, inverted). `positions` holds the fit of the "
         "frame before, if there is one, and `before` that of the one before it; receives the fit."},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_doc, "Fit(cage, areas, settings): fits the cage to surface frames."},
        {Py_tp_new, fit_new},
        {Py_tp_dealloc, fit_dealloc},
        {Py_tp_methods, methods},
        {0, NULL},
    };
    static PyType_Spec spec = {"sinew._native.Fit", sizeof(Fit), 0, Py_TPFLAGS_DEFAULT, slots};
    return sn_type_add(module, &spec, NULL) != NULL ? 0 : -1;
}
