/* Edit: a finished motion, pulled by handles. */
#include "python/types.h"

#include "base/memory.h"
#include "method/edit/edit.h"
#include "python/arrays.h"
#include "python/errors.h"
#include "python/options.h"

#include <math.h>
#include <string.h>

typedef struct Edit {
    PyObject_HEAD
    PyObject *cage;      /* null: a shell, ... */
    double *positions;   /* ... and its surface */
    int32_t *triangles;
    SnTriMesh surface;
    size_t vertex_count;
    SnEdit *edit;
} Edit;

typedef struct BodySettings {
    const SnDensity *energy;
    double poisson, hold, stretch, bend;
} BodySettings;

#define BODY_OPTION(name, kind, choose) {#name, kind, offsetof(BodySettings, name), choose}
static const SnOption BODY_OPTIONS[] = {
    BODY_OPTION(energy, SN_OPTION_NAME, sn_density_choose),
    BODY_OPTION(poisson, SN_OPTION_DOUBLE, NULL),
    BODY_OPTION(hold, SN_OPTION_DOUBLE, NULL),
    BODY_OPTION(stretch, SN_OPTION_DOUBLE, NULL),
    BODY_OPTION(bend, SN_OPTION_DOUBLE, NULL),
};

/* A span tells its ends by their being there: NaN is none. */
typedef struct MotionSettings {
    SnEditMotion motion;
    double begin, end;
    SnEditSettings landing;
} MotionSettings;

#define MOTION_OPTION(name, field, kind) {name, kind, offsetof(MotionSettings, field), NULL}
static const SnOption MOTION_OPTIONS[] = {
    MOTION_OPTION("drag", motion.drag, SN_OPTION_DOUBLE),
    MOTION_OPTION("damping", motion.damping, SN_OPTION_DOUBLE),
    MOTION_OPTION("wiggle", motion.wiggle, SN_OPTION_DOUBLE),
    MOTION_OPTION("spread", motion.spread, SN_OPTION_DOUBLE),
    MOTION_OPTION("smoothness", motion.smoothness, SN_OPTION_DOUBLE),
    MOTION_OPTION("begin", begin, SN_OPTION_DOUBLE),
    MOTION_OPTION("end", end, SN_OPTION_DOUBLE),
    MOTION_OPTION("period", motion.span.period, SN_OPTION_DOUBLE),
    MOTION_OPTION("rounds", landing.rounds, SN_OPTION_INT),
    MOTION_OPTION("tolerance", landing.tolerance, SN_OPTION_DOUBLE),
    MOTION_OPTION("goes_on", landing.goes_on, SN_OPTION_BOOL),
    MOTION_OPTION("is_quick", landing.is_quick, SN_OPTION_BOOL),
    MOTION_OPTION("is_steady", landing.is_steady, SN_OPTION_BOOL),
};

static int read_motion(PyObject *dict, MotionSettings *s)
{
    *s = (MotionSettings){.motion = sn_edit_motion_default(), .begin = NAN, .end = NAN, .landing = sn_edit_settings_default()};
    if (sn_options_read(dict, "Edit", SN_COUNT(MOTION_OPTIONS), MOTION_OPTIONS, s) < 0) {
        return -1;
    }
    SnEditMotion *m = &s->motion;
    m->span.has_begin = !isnan(s->begin);
    m->span.has_end = !isnan(s->end);
    m->span.begin = s->begin;
    m->span.end = s->end;
    if (!(m->drag >= 0.0 && m->damping > 0.0 && m->wiggle >= 0.0 && m->wiggle <= 1.0 && m->spread > 0.0 && m->smoothness >= 0.0 &&
          m->span.period >= 0.0) || (m->span.has_begin && m->span.has_end && !(m->span.begin < m->span.end))) {
        sn_errors_set(SN_BAD_INPUT, "Edits need damping and spread above 0, wiggle between 0 and 1, and a range that ends after it begins.");
        return -1;
    }
    return 0;
}

static void edit_dealloc(PyObject *object)
{
    Edit *self = (Edit *)object;
    sn_edit_destroy(self->edit);
    Py_XDECREF(self->cage);
    sn_release(self->positions);
    sn_release(self->triangles);
    sn_type_free(object);
}

/* `def` knows the shape; a: young (of a cage), mass, drive, fixed. */
static SnStatus create(SnContext *context, Edit *self, SnEditBodyDef *def, const SnArray *a)
{
    SnStatus status = SN_OK;
    unsigned char *fixed = NULL;
    SN_TRY_NEW(context, fixed, self->vertex_count, unsigned char);
    for (size_t v = 0; v < self->vertex_count; v++) {
        fixed[v] = ((const int32_t *)a[3].data)[v] != 0;
    }
    def->young = a[0].data;
    def->mass = a[1].data;
    def->drive = a[2].data;
    def->fixed = fixed;
    SN_TRY(sn_edit_create(context, def, &self->edit));
cleanup:
    sn_release(fixed);
    return status;
}

/* Of an object whose shape is known. */
static int fill(Edit *self, SnContext *context, const BodySettings *settings, SnEditBodyDef *def, PyObject *body, size_t tets)
{
    SnArray a[] = {{.name = "young", .kind = 'd', .columns = 1, .is_optional = tets == 0},
                   {.name = "mass", .kind = 'd', .columns = 1},
                   {.name = "drive", .kind = 'd', .columns = 1, .is_optional = 1},
                   {.name = "fixed", .kind = 'i', .columns = 1}};
    SnStatus status;
    a[0].rows = (Py_ssize_t)tets;
    a[1].rows = a[2].rows = a[3].rows = (Py_ssize_t)self->vertex_count;
    if (sn_arrays_from_dict(body, "The body of Edit", SN_COUNT(a), a) < 0 || sn_arrays_open(SN_COUNT(a), a) < 0) {
        return -1;
    }
    def->energy = settings->energy;
    def->poisson = settings->poisson;
    def->hold = settings->hold;
    def->stretch = settings->stretch;
    def->bend = settings->bend;
    Py_BEGIN_ALLOW_THREADS
    status = create(context, self, def, a);
    Py_END_ALLOW_THREADS
    sn_arrays_close(SN_COUNT(a), a);
    return sn_errors_check(status, context);
}

static int read_body(PyObject *options, BodySettings *settings)
{
    *settings = (BodySettings){.energy = &sn_density_neo_hookean, .poisson = 0.4, .hold = 2.0, .stretch = 1500.0, .bend = 1e-5};
    if (sn_options_read(options, "Edit", SN_COUNT(BODY_OPTIONS), BODY_OPTIONS, settings) < 0) {
        return -1;
    }
    if (!(settings->hold > 0.0 && settings->stretch > 0.0 && settings->bend >= 0.0)) {
        sn_errors_set(SN_BAD_INPUT, "What is edited needs a hold and a stretch above 0.");
        return -1;
    }
    return 0;
}

/* Edit(cage, settings, body, monitor=None); body: young, mass, drive, fixed */
static PyObject *edit_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"cage", "settings", "body", "monitor", NULL};
    BodySettings settings;
    PyObject *cage, *options, *body, *monitor = Py_None;
    SnContext own, *context;
    Edit *self = NULL;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOO|O:Edit", names, &cage, &options, &body, &monitor) ||
        (context = sn_monitor_context(monitor, &own)) == NULL || sn_cage_type_check(cage) < 0 || read_body(options, &settings) < 0 ||
        (self = (Edit *)sn_type_new(type)) == NULL) {
        return NULL;
    }
    const SnTetMesh *mesh = sn_cage_type_mesh(cage);
    SnEditBodyDef def = {.cage = mesh};
    self->cage = Py_NewRef(cage);
    self->vertex_count = mesh->vertex_count;
    if (fill(self, context, &settings, &def, body, mesh->tet_count) < 0) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

/* Copies of the arrays of a surface (vertices, triangles), which are checked. */
static int take_surface(Edit *self, SnContext *context, const SnArray *a)
{
    self->vertex_count = (size_t)a[0].rows;
    self->positions = SN_NEW(context, 3 * self->vertex_count, double);
    self->triangles = SN_NEW(context, 3 * (size_t)a[1].rows, int32_t);
    if (self->positions == NULL || self->triangles == NULL) {
        return sn_errors_check(SN_OUT_OF_MEMORY, context);
    }
    memcpy(self->positions, a[0].data, 3 * self->vertex_count * sizeof *self->positions);
    memcpy(self->triangles, a[1].data, 3 * (size_t)a[1].rows * sizeof *self->triangles);
    self->surface = (SnTriMesh){self->vertex_count, (size_t)a[1].rows, self->positions, self->triangles};
    return sn_errors_check(sn_tri_mesh_check(context, &self->surface), context);
}

/* shell(vertices, triangles, settings, body, monitor=None) -> Edit; body: mass, drive, fixed */
static PyObject *edit_shell(PyObject *type, PyObject *arguments)
{
    SnArray a[] = {{.name = "vertices", .kind = 'd', .rows = -1, .columns = 3}, {.name = "triangles", .kind = 'i', .rows = -1, .columns = 3}};
    BodySettings settings;
    PyObject *options, *body, *monitor = Py_None;
    SnContext own, *context;
    Edit *self = NULL;
    if (!PyArg_ParseTuple(arguments, "OOOO|O:shell", &a[0].object, &a[1].object, &options, &body, &monitor) ||
        (context = sn_monitor_context(monitor, &own)) == NULL || read_body(options, &settings) < 0 || sn_arrays_open(SN_COUNT(a), a) < 0) {
        return NULL;
    }
    if ((self = (Edit *)sn_type_new((PyTypeObject *)type)) != NULL && take_surface(self, context, a) < 0) {
        Py_CLEAR(self);
    }
    sn_arrays_close(SN_COUNT(a), a);
    if (self != NULL) {
        SnEditBodyDef def = {.surface = &self->surface};
        if (fill(self, context, &settings, &def, body, 0) < 0) {
            Py_CLEAR(self);
        }
    }
    return (PyObject *)self;
}

static SnStatus solve(SnContext *context, SnEdit *edit, const MotionSettings *s, const SnArray *a, SnEditReport *report)
{
    SnStatus status = SN_OK;
    SnEditHandle *handles = NULL;
    size_t count = (size_t)a[0].rows, vertices = (size_t)a[2].columns;
    SN_TRY_NEW(context, handles, count, SnEditHandle);
    for (size_t h = 0; h < count; h++) {
        handles[h] = (SnEditHandle){.time = ((const double *)a[0].data)[h],
                                    .shown = (const double *)a[1].data + 3 * vertices * h,
                                    .patch = (const double *)a[2].data + vertices * h,
                                    .point = (const double *)a[3].data + vertices * h};
        memcpy(handles[h].target, (const double *)a[4].data + 3 * h, sizeof handles[h].target);
        memcpy(handles[h].direction, (const double *)a[5].data + 3 * h, sizeof handles[h].direction);
        handles[h].is_bound = ((const int32_t *)a[6].data)[h] != 0;
        handles[h].give = ((const double *)a[7].data)[h];
    }
    SN_TRY(sn_edit_solve(context, edit, &s->motion, &s->landing, count, handles, a[8].data, report));
cleanup:
    sn_release(handles);
    return status;
}

/* solve(settings, times, shown, patches, points, targets, directions, bounds, give, missed, monitor=None) -> (rounds, missed, shapes) */
static PyObject *edit_solve(PyObject *object, PyObject *arguments)
{
    Edit *self = (Edit *)object;
    Py_ssize_t vertices = (Py_ssize_t)self->vertex_count;
    SnArray a[] = {{.name = "times", .kind = 'd', .rows = -1, .columns = 1},
                   {.name = "shown", .kind = 'd', .rows = -1, .columns = 3 * vertices},
                   {.name = "patches", .kind = 'd', .rows = -1, .columns = vertices},
                   {.name = "points", .kind = 'd', .rows = -1, .columns = vertices},
                   {.name = "targets", .kind = 'd', .rows = -1, .columns = 3},
                   {.name = "directions", .kind = 'd', .rows = -1, .columns = 3},
                   {.name = "bounds", .kind = 'i', .rows = -1, .columns = 1},
                   {.name = "give", .kind = 'd', .rows = -1, .columns = 1},
                   {.name = "missed", .kind = 'd', .rows = -1, .columns = 1, .use = SN_ARRAY_WRITE}};
    PyObject *options, *monitor = Py_None;
    MotionSettings settings;
    SnEditReport report = {0};
    SnContext own, *context;
    SnStatus status;
    if (!PyArg_ParseTuple(arguments, "OOOOOOOOOO|O:solve", &options, &a[0].object, &a[1].object, &a[2].object, &a[3].object, &a[4].object,
                          &a[5].object, &a[6].object, &a[7].object, &a[8].object, &monitor) ||
        (context = sn_monitor_context(monitor, &own)) == NULL || read_motion(options, &settings) < 0 ||
        sn_arrays_open(SN_COUNT(a), a) < 0) {
        return NULL;
    }
    for (size_t k = 1; k < SN_COUNT(a); k++) {
        if (a[k].rows != a[0].rows) {
            sn_errors_set(SN_BAD_INPUT, "%s has the wrong shape: give one for each time.", a[k].name);
            sn_arrays_close(SN_COUNT(a), a);
            return NULL;
        }
    }
    Py_BEGIN_ALLOW_THREADS
    status = solve(context, self->edit, &settings, a, &report);
    Py_END_ALLOW_THREADS
    sn_arrays_close(SN_COUNT(a), a);
    return sn_errors_check(status, context) < 0 ? NULL : Py_BuildValue("idn", report.rounds, report.missed, (Py_ssize_t)report.shapes);
}

/* frame(time, shown, result) */
static PyObject *edit_frame(PyObject *object, PyObject *arguments)
{
    Edit *self = (Edit *)object;
    Py_ssize_t vertices = (Py_ssize_t)self->vertex_count;
    SnArray a[] = {{.name = "shown", .kind = 'd', .rows = vertices, .columns = 3},
                   {.name = "result", .kind = 'd', .rows = vertices, .columns = 3, .use = SN_ARRAY_WRITE}};
    double time;
    SnContext context;
    SnStatus status;
    sn_context_init(&context);
    if (!PyArg_ParseTuple(arguments, "dOO:frame", &time, &a[0].object, &a[1].object) || sn_arrays_open(SN_COUNT(a), a) < 0) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    status = sn_edit_frame(&context, self->edit, time, a[0].data, a[1].data);
    Py_END_ALLOW_THREADS
    sn_arrays_close(SN_COUNT(a), a);
    return sn_errors_none(status, &context);
}

/* field(time, result) */
static PyObject *edit_field(PyObject *object, PyObject *arguments)
{
    Edit *self = (Edit *)object;
    SnArray result = {.name = "result", .kind = 'd', .columns = 3, .use = SN_ARRAY_WRITE};
    double time;
    SnContext context;
    sn_context_init(&context);
    result.rows = (Py_ssize_t)self->vertex_count;
    if (!PyArg_ParseTuple(arguments, "dO:field", &time, &result.object) || sn_arrays_open(1, &result) < 0) {
        return NULL;
    }
    SnStatus status = sn_edit_field(&context, self->edit, time, result.data);
    sn_arrays_close(1, &result);
    return sn_errors_none(status, &context);
}

/* frequencies(squared) -> count */
static PyObject *edit_frequencies(PyObject *object, PyObject *out)
{
    SnArray squared = {.name = "squared", .kind = 'd', .rows = -1, .columns = 1, .use = SN_ARRAY_WRITE, .object = out};
    if (sn_arrays_open(1, &squared) < 0) {
        return NULL;
    }
    size_t count = sn_edit_frequencies(((Edit *)object)->edit, (size_t)squared.rows, squared.data);
    sn_arrays_close(1, &squared);
    return PyLong_FromSize_t(count);
}

/* kernel(omega, ratio, distances, values): k, k', k'' of an oscillator. */
static PyObject *edit_kernel(PyObject *unused, PyObject *arguments)
{
    SnArray a[] = {{.name = "distances", .kind = 'd', .rows = -1, .columns = 1},
                   {.name = "values", .kind = 'd', .rows = -1, .columns = 3, .use = SN_ARRAY_WRITE}};
    double omega, ratio;
    (void)unused;
    if (!PyArg_ParseTuple(arguments, "ddOO:kernel", &omega, &ratio, &a[0].object, &a[1].object) || sn_arrays_open(SN_COUNT(a), a) < 0) {
        return NULL;
    }
    for (Py_ssize_t k = 0; k < a[0].rows && k < a[1].rows; k++) {
        sn_edit_kernel_free(omega, ratio, ((const double *)a[0].data)[k], (double *)a[1].data + 3 * k);
    }
    sn_arrays_close(SN_COUNT(a), a);
    Py_RETURN_NONE;
}

/* green(settings, squared, times, values): what an impulse at times[:, 1] does at times[:, 0] to a mode. */
static PyObject *edit_green(PyObject *unused, PyObject *arguments)
{
    SnArray a[] = {{.name = "times", .kind = 'd', .rows = -1, .columns = 2},
                   {.name = "values", .kind = 'd', .rows = -1, .columns = 1, .use = SN_ARRAY_WRITE}};
    PyObject *options;
    MotionSettings settings;
    double squared;
    (void)unused;
    if (!PyArg_ParseTuple(arguments, "OdOO:green", &options, &squared, &a[0].object, &a[1].object) || read_motion(options, &settings) < 0 ||
        sn_arrays_open(SN_COUNT(a), a) < 0) {
        return NULL;
    }
    SnEditKernel kernel = sn_edit_kernel(squared, &settings.motion);
    for (Py_ssize_t k = 0; k < a[0].rows && k < a[1].rows; k++) {
        const double *pair = (const double *)a[0].data + 2 * k;
        ((double *)a[1].data)[k] = sn_edit_kernel_value(&kernel, pair[0], pair[1]);
    }
    sn_arrays_close(SN_COUNT(a), a);
    Py_RETURN_NONE;
}

int sn_edit_type_add(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"shell", edit_shell, METH_VARARGS | METH_CLASS,
         "shell(vertices, triangles, settings, body, monitor=None) -> Edit: of the motion of a thin shell."},
        {"solve", edit_solve, METH_VARARGS,
         "solve(settings, times, shown, patches, points, targets, directions, bounds, give, missed, monitor=None) -> (rounds, missed, shapes)."},
        {"frame", edit_frame, METH_VARARGS, "frame(time, shown, result): the edited cage of a moment that is shown so."},
        {"field", edit_field, METH_VARARGS, "field(time, result): the edit of a moment, in rest axes."},
        {"frequencies", edit_frequencies, METH_O, "frequencies(squared) -> count: eigenvalues of the basis."},
        {"kernel", edit_kernel, METH_VARARGS | METH_STATIC, "kernel(omega, ratio, distances, values): k, k', k'' of an oscillator."},
        {"green", edit_green, METH_VARARGS | METH_STATIC, "green(settings, squared, times, values): Green's function of a mode."},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_doc, "Edit(cage, settings, body, monitor=None): a finished motion, pulled by handles."},
        {Py_tp_new, edit_new},
        {Py_tp_dealloc, edit_dealloc},
        {Py_tp_methods, methods},
        {0, NULL},
    };
    static PyType_Spec spec = {"sinew._native.Edit", sizeof(Edit), 0, Py_TPFLAGS_DEFAULT, slots};
    PyTypeObject *type = sn_type_add(module, &spec, NULL);
    return type != NULL ? sn_options_add((PyObject *)type, SN_COUNT(MOTION_OPTIONS), MOTION_OPTIONS) : -1;
}
