/* Enrich: the simulation of a fitted cage. It holds no state of its own: positions and velocities come in and go out. */
#include "python/types.h"

#include "base/memory.h"
#include "method/enrich/enrich.h"
#include "python/buffers.h"
#include "python/errors.h"

#include <string.h>

#define REGIONS 5 /* stiffness, damping, density, Keep Pose, bone */

typedef struct Enrich {
    PyObject_HEAD
    PyObject *cage;
    SnEnrich *enrich;
    double interval;
    int animated;
} Enrich;

static void enrich_dealloc(PyObject *object)
{
    Enrich *self = (Enrich *)object;
    sn_enrich_destroy(self->enrich);
    Py_XDECREF(self->cage);
    sn_type_free(object);
}

/* Opens an array of finite numbers; None leaves the pointer null. */
static int open_optional(PyObject *object, const char *name, Py_ssize_t rows, Py_ssize_t columns, SnBuffer *buffer,
                         const double **values)
{
    *values = NULL;
    if (Py_IsNone(object)) {
        return 0;
    }
    if (sn_buffer_read_doubles(object, name, rows, columns, buffer) < 0 ||
        sn_buffer_check_finite(buffer, name, columns) < 0) {
        return -1;
    }
    *values = buffer->view.buf;
    return 0;
}

static PyObject *enrich_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"cage",     "areas",     "follow",  "jiggle",        "settle",  "young",
                            "poisson",  "density",   "damping_mass", "damping_stiffness", "keep_pose", "balance", "transition",
                            "gravity",  "interval",  "size",    "substeps",      "newton_rounds", "scheme",
                            "energy",   "monitor",   "cage_follow", "regions",   "painted", "animated", "averages", "fill", "thickness", NULL};
    PyObject *cage, *area_object, *follow_object, *monitor = Py_None, *cage_follow = Py_None, *averages = Py_None, *fill_object = Py_None, *thickness_object = Py_None;
    PyObject *regions[REGIONS] = {Py_None, Py_None, Py_None, Py_None, Py_None};
    const char *scheme_name = "tr_bdf2", *energy_name = "neo_hookean";
    SnEnrichSettings s = sn_enrich_settings_default();
    SnBuffer areas = {0}, follow = {0}, inside = {0}, painted[REGIONS] = {0}, averaged = {0}, fill = {0}, thickness = {0};
    SnEnrichPaint paint = {0};
    SnContext own, *context;
    Enrich *self = NULL;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOO|$dddddddddd(ddd)ddiissOO(OOOOO)(dddd)pOOO:Enrich", names, &cage, &area_object,
                                     &follow_object, &s.jiggle, &s.settle, &s.young, &s.poisson, &s.density, &s.damping_mass,
                                     &s.damping_stiffness, &s.keep_pose, &s.balance, &s.transition, &s.gravity[0], &s.gravity[1], &s.gravity[2],
                                     &s.interval, &s.size, &s.substeps, &s.newton_rounds, &scheme_name, &energy_name, &monitor, &cage_follow,
                                     &regions[0], &regions[1], &regions[2], &regions[3], &regions[4], &s.stiffness_painted,
                                     &s.damping_painted, &s.density_painted, &s.keep_pose_painted, &s.animated, &averages, &fill_object, &thickness_object)) {
        return NULL;
    }
    context = sn_monitor_context(monitor, &own);
    s.energy = sn_energy_by_name(energy_name);
    if (context == NULL || s.energy == NULL || sn_scheme_by_name(scheme_name, &s.scheme) < 0 || sn_cage_type_check(cage) < 0) {
        return NULL;
    }
    const SnEmbedding *embedding = sn_cage_type_embedding(cage);
    if (sn_buffer_read_doubles(area_object, "areas", (Py_ssize_t)embedding->vertex_count, 1, &areas) < 0 ||
        sn_buffer_read_doubles(follow_object, "follow", (Py_ssize_t)embedding->vertex_count, 1, &follow) < 0 ||
        sn_buffer_check_finite(&follow, "the follow weights", 1) < 0) {
        goto done;
    }
    const double **places[REGIONS] = {&paint.stiffness, &paint.damping, &paint.density, &paint.keep_pose, &paint.bone};
    for (int k = 0; k < REGIONS; k++) {
        if (open_optional(regions[k], "a painted region", (Py_ssize_t)embedding->vertex_count, 1, &painted[k], places[k]) < 0) {
            goto done;
        }
    }
    if (!Py_IsNone(cage_follow)) {
        Py_ssize_t vertices = (Py_ssize_t)sn_cage_type_mesh(cage)->vertex_count;
        if (sn_buffer_read_doubles(cage_follow, "cage_follow", vertices, 1, &inside) < 0) { /* NaN: the surface decides */
            goto done;
        }
        paint.cage_follow = inside.view.buf;
    }
    if (!Py_IsNone(averages)) {
        if (sn_buffer_read_ints(averages, "averages", (Py_ssize_t)sn_cage_type_mesh(cage)->vertex_count, 1, &averaged) < 0) {
            goto done;
        }
        paint.averages = averaged.view.buf;
    }
    paint.follow = follow.view.buf;
    SnBody body = {.cage = sn_cage_type_mesh(cage), .embedding = embedding, .areas = areas.view.buf};
    Py_ssize_t tets = (Py_ssize_t)body.cage->tet_count;
    if (open_optional(fill_object, "fill", tets, 1, &fill, &body.fill) < 0 ||
        open_optional(thickness_object, "thickness", tets, 1, &thickness, &body.thickness) < 0) {
        goto done;
    }
    if ((body.fill == NULL) != (body.thickness == NULL)) {
        PyErr_SetString(PyExc_TypeError, "fill and thickness come together");
        goto done;
    }
    self = (Enrich *)sn_type_new(type);
    if (self != NULL) {
        SnStatus status;
        Py_INCREF(cage);
        self->cage = cage;
        self->interval = s.interval;
        self->animated = s.animated;
        Py_BEGIN_ALLOW_THREADS
        status = sn_enrich_create(context, &body, &paint, &s, &self->enrich);
        Py_END_ALLOW_THREADS
        if (sn_errors_check(status, context) < 0) {
            Py_CLEAR(self);
        }
    }
done:
    sn_buffer_close(&areas);
    sn_buffer_close(&follow);
    sn_buffer_close(&inside);
    sn_buffer_close(&averaged);
    sn_buffer_close(&fill);
    sn_buffer_close(&thickness);
    for (int k = 0; k < REGIONS; k++) {
        sn_buffer_close(&painted[k]);
    }
    return (PyObject *)self;
}

/* advance(before, begin, end, after, positions, velocities, acceleration=None) ->
   (rounds, unconverged, fallbacks, inverted, repaired) */
static PyObject *enrich_advance(PyObject *object, PyObject *arguments)
{
    Enrich *self = (Enrich *)object;
    PyObject *frames[4], *position_object, *velocity_object, *pushed = Py_None, *result = NULL;
    SnBuffer buffers[4] = {0}, positions = {0}, velocities = {0}, push = {0};
    const double *acceleration;
    Py_ssize_t vertices = (Py_ssize_t)sn_cage_type_mesh(self->cage)->vertex_count;
    SnInputCurve curve = {.vertex_count = (size_t)vertices, .interval = self->interval};
    SnStepReport report = {0};
    SnContext context;
    sn_context_init(&context);
    if (!PyArg_ParseTuple(arguments, "OOOOOO|O:advance", &frames[0], &frames[1], &frames[2], &frames[3], &position_object,
                          &velocity_object, &pushed)) {
        return NULL;
    }
    if (open_optional(frames[0], "before", vertices, 3, &buffers[0], &curve.before) == 0 &&
        open_optional(frames[1], "begin", vertices, 3, &buffers[1], &curve.begin) == 0 &&
        open_optional(frames[2], "end", vertices, 3, &buffers[2], &curve.end) == 0 &&
        open_optional(frames[3], "after", vertices, 3, &buffers[3], &curve.after) == 0 &&
        open_optional(pushed, "acceleration", vertices, 3, &push, &acceleration) == 0 &&
        sn_buffer_write_doubles(position_object, "positions", vertices, 3, &positions) == 0 &&
        sn_buffer_write_doubles(velocity_object, "velocities", vertices, 3, &velocities) == 0) {
        if (curve.begin == NULL || curve.end == NULL) {
            PyErr_SetString(PyExc_TypeError, "begin and end must be arrays");
        } else {
            SnState state = {positions.view.buf, velocities.view.buf};
            size_t inverted = 0, repaired = 0;
            double smallest;
            SnStatus status;
            Py_BEGIN_ALLOW_THREADS
            sn_enrich_push(self->enrich, acceleration);
            status = sn_enrich_advance(&context, self->enrich, &curve, &state, &report, &repaired);
            inverted = sn_tet_elements_inverted(sn_enrich_world(self->enrich)->elements, state.positions, &smallest);
            Py_END_ALLOW_THREADS
            if (sn_errors_check(status, &context) == 0) {
                result = Py_BuildValue("iiinn", report.rounds, report.unconverged, report.fallbacks, (Py_ssize_t)inverted,
                                       (Py_ssize_t)repaired);
            }
        }
    }
    for (int k = 0; k < 4; k++) {
        sn_buffer_close(&buffers[k]);
    }
    sn_buffer_close(&push);
    sn_buffer_close(&positions);
    sn_buffer_close(&velocities);
    return result;
}

/* follow(begin, end): animated weights of the surface vertices for the next interval. */
static PyObject *enrich_follow(PyObject *object, PyObject *arguments)
{
    Enrich *self = (Enrich *)object;
    PyObject *begin_object, *end_object, *result = NULL;
    SnBuffer begin = {0}, end = {0};
    Py_ssize_t vertices = (Py_ssize_t)sn_cage_type_embedding(self->cage)->vertex_count;
    SnContext context;
    sn_context_init(&context);
    if (!PyArg_ParseTuple(arguments, "OO:follow", &begin_object, &end_object)) {
        return NULL;
    }
    if (!self->animated) {
        PyErr_SetString(PyExc_TypeError, "the weights of this simulation are not animated");
        return NULL;
    }
    if (sn_buffer_read_doubles(begin_object, "begin", vertices, 1, &begin) == 0 &&
        sn_buffer_check_finite(&begin, "the follow weights", 1) == 0 &&
        sn_buffer_read_doubles(end_object, "end", vertices, 1, &end) == 0 &&
        sn_buffer_check_finite(&end, "the follow weights", 1) == 0) {
        SnStatus status;
        Py_BEGIN_ALLOW_THREADS
        status = sn_enrich_follow(&context, self->enrich, begin.view.buf, end.view.buf);
        Py_END_ALLOW_THREADS
        if (sn_errors_check(status, &context) == 0) {
            result = Py_NewRef(Py_None);
        }
    }
    sn_buffer_close(&begin);
    sn_buffer_close(&end);
    return result;
}

/* cage_weights(out): the weight of every cage vertex. */
static PyObject *enrich_cage_weights(PyObject *object, PyObject *out)
{
    Enrich *self = (Enrich *)object;
    SnBuffer weights = {0};
    if (sn_buffer_write_doubles(out, "weights", (Py_ssize_t)sn_cage_type_mesh(self->cage)->vertex_count, 1, &weights) < 0) {
        return NULL;
    }
    memcpy(weights.view.buf, sn_enrich_cage_weights(self->enrich), (size_t)weights.view.len);
    sn_buffer_close(&weights);
    Py_RETURN_NONE;
}

static PyObject *enrich_summary(PyObject *object, PyObject *unused)
{
    SnEnrichSummary s = sn_enrich_summary(((Enrich *)object)->enrich);
    (void)unused;
    return Py_BuildValue("{s:n,s:n,s:i,s:i,s:d,s:d,s:d}", "followed_vertices", (Py_ssize_t)s.followed_vertices, "free_tets",
                         (Py_ssize_t)s.free_tets, "substeps", s.substeps, "regions", s.regions, "young_min", s.young_min,
                         "young_max", s.young_max, "frequency", s.frequency);
}

int sn_enrich_type_add(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"advance", enrich_advance, METH_VARARGS,
         "advance(before, begin, end, after, positions, velocities, acceleration=None) -> (rounds, unconverged, fallbacks, inverted, "
         "repaired): one interval, in place."},
        {"follow", enrich_follow, METH_VARARGS, "follow(begin, end): animated weights of the surface vertices for the next interval."},
        {"cage_weights", enrich_cage_weights, METH_O, "cage_weights(out): the weight of every cage vertex."},
        {"summary", enrich_summary, METH_NOARGS, "Numbers about material, followed vertices and substeps."},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_doc, "Enrich(cage, areas, follow, *, ...): the constrained simulation of a fitted cage."},
        {Py_tp_new, enrich_new},
        {Py_tp_dealloc, enrich_dealloc},
        {Py_tp_methods, methods},
        {0, NULL},
    };
    static PyType_Spec spec = {"sinew._native.Enrich", sizeof(Enrich), 0, Py_TPFLAGS_DEFAULT, slots};
    PyObject *type = PyType_FromSpec(&spec);
    return type == NULL ? -1 : PyModule_AddObjectRef(module, "Enrich", type);
}
