/* Tracks: a thin shell that follows a guide on average. It holds no state: positions, velocities and what hinges carry come in and go out. */
#include "python/simulation.h"

#include "base/memory.h"
#include "method/tracks/tracks.h"
#include "python/errors.h"
#include "python/options.h"

#include <stddef.h>
#include <string.h>

typedef struct Tracks {
    SnSimulation base;
    SnTracks *tracks;
    size_t vertex_count, row_count;
    double interval;
    SnInputCurve targets; /* of the move in hand, as the next */
    const double *wind;
} Tracks;

#define OPTION(field, kind, choose) {#field, kind, offsetof(SnTracksSettings, field), choose}
static const SnOption OPTIONS[] = {
    OPTION(poisson, SN_OPTION_DOUBLE, NULL),
    OPTION(weft, SN_OPTION_DOUBLE, NULL),
    OPTION(weft_bend, SN_OPTION_DOUBLE, NULL),
    OPTION(shear, SN_OPTION_DOUBLE, NULL),
    OPTION(limit, SN_OPTION_DOUBLE, NULL),
    OPTION(hardening, SN_OPTION_DOUBLE, NULL),
    OPTION(air, SN_OPTION_DOUBLE, NULL),
    OPTION(drag, SN_OPTION_DOUBLE, NULL),
    OPTION(damping, SN_OPTION_DOUBLE, NULL),
    OPTION(hold, SN_OPTION_DOUBLE, NULL),
    OPTION(most_pull, SN_OPTION_DOUBLE, NULL),
    OPTION(gravity, SN_OPTION_VECTOR, NULL),
    OPTION(interval, SN_OPTION_DOUBLE, NULL),
    OPTION(size, SN_OPTION_DOUBLE, NULL),
    OPTION(substeps, SN_OPTION_INT, NULL),
    OPTION(newton_rounds, SN_OPTION_INT, NULL),
    OPTION(tolerance, SN_OPTION_DOUBLE, NULL),
    OPTION(scheme, SN_OPTION_NAME, sn_scheme_choose),
};

enum { BEFORE, BEGIN, END, AFTER, POSITIONS, VELOCITIES, INNER, ACCELERATION, WIND, TARGETS, MOVE_ARRAYS };

/* (before, begin, end, after, positions, velocities, inner, acceleration=None, wind=None, targets=None); targets: 4 x rows of means, before .. after,
   NaN where a frame is missing. */
static int tracks_open(PyObject *object, PyObject *arguments, SnMove *move)
{
    Tracks *self = (Tracks *)object;
    Py_ssize_t vertices = (Py_ssize_t)self->vertex_count;
    const SnArray table[MOVE_ARRAYS] = {
        [BEFORE] = {.name = "before", .is_optional = 1},
        [BEGIN] = {.name = "begin"},
        [END] = {.name = "end"},
        [AFTER] = {.name = "after", .is_optional = 1},
        [POSITIONS] = {.name = "positions", .use = SN_ARRAY_WRITE},
        [VELOCITIES] = {.name = "velocities", .use = SN_ARRAY_WRITE},
        [INNER] = {.name = "inner", .use = SN_ARRAY_WRITE},
        [ACCELERATION] = {.name = "acceleration", .is_optional = 1},
        [WIND] = {.name = "wind", .is_optional = 1},
        [TARGETS] = {.name = "targets", .is_optional = 1},
    };
    SnArray *a = memcpy(move->arrays, table, sizeof table);
    for (int k = 0; k < MOVE_ARRAYS; k++) {
        a[k].kind = 'd';
        a[k].columns = k == INNER ? 1 : 3;
        a[k].rows = k == INNER     ? (Py_ssize_t)sn_world_inner_count(sn_tracks_world(self->tracks))
                    : k == TARGETS ? 4 * (Py_ssize_t)self->row_count
                                   : vertices;
    }
    if (!PyArg_ParseTuple(arguments, "OOOOOOO|OOO:advance", &a[BEFORE].object, &a[BEGIN].object, &a[END].object, &a[AFTER].object,
                          &a[POSITIONS].object, &a[VELOCITIES].object, &a[INNER].object, &a[ACCELERATION].object, &a[WIND].object, &a[TARGETS].object) ||
        sn_arrays_open(MOVE_ARRAYS, a) < 0) {
        return -1;
    }
    move->array_count = MOVE_ARRAYS;
    move->curve = (SnInputCurve){self->vertex_count, a[BEFORE].data, a[BEGIN].data, a[END].data, a[AFTER].data, self->interval, NULL};
    move->state = (SnState){.positions = a[POSITIONS].data, .velocities = a[VELOCITIES].data, .inner = a[INNER].data};
    move->push = a[ACCELERATION].data;
    self->wind = a[WIND].data;
    const double *means = a[TARGETS].data;
    size_t row = 3 * self->row_count;
    self->targets = (SnInputCurve){.interval = self->interval};
    if (means != NULL && row > 0) { /* what the input's neighbours are missing, the guide's are too */
        self->targets = (SnInputCurve){self->row_count,       a[BEFORE].data != NULL ? means : NULL,           means + row, means + 2 * row,
                                       a[AFTER].data != NULL ? means + 3 * row : NULL, self->interval, NULL};
    }
    return 0;
}

static SnMember tracks_member(PyObject *self)
{
    return sn_tracks_member(((Tracks *)self)->tracks);
}

static void tracks_lead(PyObject *object, SnMove *move)
{
    Tracks *self = (Tracks *)object;
    sn_tracks_push(self->tracks, move->push);
    sn_tracks_blow(self->tracks, self->wind);
    sn_tracks_lead(self->tracks, &move->curve, self->targets.begin != NULL ? &self->targets : NULL, &move->state);
}

static void tracks_finish(PyObject *object, SnMove *move)
{
    (void)move;
    sn_tracks_lead(((Tracks *)object)->tracks, NULL, NULL, NULL);
}

static const SnSimulationKind KIND = {tracks_open, tracks_member, tracks_lead, tracks_finish};

/* Exact rows from start (rows + 1), points and weights (entries). */
static SnStatus fill_rows(SnContext *context, const SnArray *start, const SnArray *points, const SnArray *weights, size_t vertex_count,
                          SnRows *rows)
{
    SnStatus status = SN_OK;
    const int32_t *first = start->data, *point = points->data;
    for (Py_ssize_t k = 0; start->data != NULL && k + 1 < start->rows; k++) {
        int is_sound = first[k] >= 0 && first[k] < first[k + 1] && first[k + 1] <= points->rows;
        for (int32_t e = first[k]; is_sound && e < first[k + 1]; e++) {
            is_sound = point[e] >= 0 && (size_t)point[e] < vertex_count;
        }
        if (!is_sound) {
            return sn_context_fail(context, SN_BAD_INPUT, "Row %d of the guide has no entries, or some of no vertex.", (int)k);
        }
        SN_TRY(sn_rows_add(context, rows, (size_t)(first[k + 1] - first[k]), point + first[k], (const double *)weights->data + first[k],
                           INFINITY));
    }
cleanup:
    return status;
}

static const char *const SHELL[] = {"triangles", "rest", "stretch", "bend", "weight", "yield", "calm", "follow", "warp",
                                    "row_start", "row_points", "row_weights"};
enum { TRIANGLES, REST, STRETCH, BEND, WEIGHT, YIELD, CALM, FOLLOW, WARP, ROW_START, ROW_POINTS, ROW_WEIGHTS, SHELL_ARRAYS };

/* The arrays of a shell in two goes: how many vertices there are is told by the rest shape. */
static int open_shell(PyObject *dict, SnArray a[SHELL_ARRAYS])
{
    for (int k = 0; k < SHELL_ARRAYS; k++) {
        int is_index = k == TRIANGLES || k == ROW_START || k == ROW_POINTS;
        a[k] = (SnArray){.name = SHELL[k],
                         .kind = is_index ? 'i' : 'd',
                         .rows = -1,
                         .columns = k == TRIANGLES || k == REST || k == WARP ? 3 : 1,
                         .is_optional = k >= YIELD,
                         .use = k == YIELD ? SN_ARRAY_READ_WITH_NAN : SN_ARRAY_READ};
    }
    if (sn_arrays_from_dict(dict, "A shell", SHELL_ARRAYS, a) < 0 || sn_arrays_open(SHELL_ARRAYS, a) < 0) {
        return -1;
    }
    int are_alike = a[WARP].data == NULL || a[WARP].rows == a[TRIANGLES].rows;
    are_alike &= (a[ROW_START].data == NULL) == (a[ROW_POINTS].data == NULL) && (a[ROW_START].data == NULL) == (a[ROW_WEIGHTS].data == NULL);
    are_alike &= a[ROW_POINTS].data == NULL || a[ROW_POINTS].rows == a[ROW_WEIGHTS].rows;
    for (int k = STRETCH; k <= FOLLOW; k++) {
        are_alike &= a[k].data == NULL || a[k].rows == a[REST].rows;
    }
    if (!are_alike) {
        PyErr_SetString(PyExc_TypeError, "the arrays of a shell are of different lengths");
        sn_arrays_close(SHELL_ARRAYS, a);
        return -1;
    }
    const int32_t *corner = a[TRIANGLES].data;
    for (Py_ssize_t k = 0; k < 3 * a[TRIANGLES].rows; k++) {
        if (corner[k] < 0 || corner[k] >= a[REST].rows) {
            PyErr_SetString(PyExc_TypeError, "a triangle of the shell has no such vertex");
            sn_arrays_close(SHELL_ARRAYS, a);
            return -1;
        }
    }
    return 0;
}

/* Tracks(shell, settings, monitor=None) */
static PyObject *tracks_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"shell", "settings", "monitor", NULL};
    SnArray a[SHELL_ARRAYS];
    SnTracksSettings s = sn_tracks_settings_default();
    SnRows rows = {.is_alike = 1};
    PyObject *dict, *settings, *monitor = Py_None;
    SnContext own, *context;
    Tracks *self = NULL;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OO|O:Tracks", names, &dict, &settings, &monitor) ||
        (context = sn_monitor_context(monitor, &own)) == NULL || sn_options_read(settings, "Tracks", SN_COUNT(OPTIONS), OPTIONS, &s) < 0 ||
        open_shell(dict, a) < 0) {
        return NULL;
    }
    SnShell shell = {.vertex_count = (size_t)a[REST].rows,
                     .triangle_count = (size_t)a[TRIANGLES].rows,
                     .triangles = a[TRIANGLES].data,
                     .rest = a[REST].data,
                     .stretch = a[STRETCH].data,
                     .bend = a[BEND].data,
                     .weight = a[WEIGHT].data,
                     .yield = a[YIELD].data,
                     .calm = a[CALM].data,
                     .warp = a[WARP].data,
                     .follow = a[FOLLOW].data};
    if ((self = (Tracks *)sn_type_new(type)) != NULL) {
        SnStatus status;
        self->vertex_count = shell.vertex_count;
        self->row_count = a[ROW_START].data != NULL && a[ROW_START].rows > 0 ? (size_t)a[ROW_START].rows - 1 : 0;
        self->interval = s.interval;
        Py_BEGIN_ALLOW_THREADS
        status = fill_rows(context, a + ROW_START, a + ROW_POINTS, a + ROW_WEIGHTS, shell.vertex_count, &rows);
        if (status == SN_OK) {
            status = sn_tracks_create(context, &shell, &s, &rows, &self->tracks);
        }
        Py_END_ALLOW_THREADS
        self->base.kind = &KIND;
        self->base.alone = status == SN_OK ? sn_tracks_alone(self->tracks) : NULL;
        if (sn_errors_check(status, context) < 0) {
            Py_CLEAR(self);
        }
    }
    sn_rows_clear(&rows);
    sn_arrays_close(SHELL_ARRAYS, a);
    return (PyObject *)self;
}

static void tracks_dealloc(PyObject *object)
{
    sn_tracks_destroy(((Tracks *)object)->tracks);
    sn_type_free(object);
}

/* begin(inner): what hinges carry at the beginning. */
static PyObject *tracks_begin(PyObject *object, PyObject *out)
{
    Tracks *self = (Tracks *)object;
    SnArray inner = {.name = "inner", .kind = 'd', .columns = 1, .use = SN_ARRAY_WRITE, .object = out};
    inner.rows = (Py_ssize_t)sn_world_inner_count(sn_tracks_world(self->tracks));
    if (sn_arrays_open(1, &inner) < 0) {
        return NULL;
    }
    sn_tracks_begin(self->tracks, inner.data);
    sn_arrays_close(1, &inner);
    Py_RETURN_NONE;
}

/* reshape(begin, end): the undeformed shape at the ends of the next interval, or None twice. */
static PyObject *tracks_reshape(PyObject *object, PyObject *arguments)
{
    Tracks *self = (Tracks *)object;
    Py_ssize_t count = (Py_ssize_t)self->vertex_count;
    SnArray a[] = {{.name = "begin", .kind = 'd', .rows = count, .columns = 3, .is_optional = 1},
                   {.name = "end", .kind = 'd', .rows = count, .columns = 3, .is_optional = 1}};
    SnContext context;
    sn_context_init(&context);
    if (!PyArg_ParseTuple(arguments, "OO:reshape", &a[0].object, &a[1].object) || sn_arrays_open(SN_COUNT(a), a) < 0) {
        return NULL;
    }
    SnStatus status = sn_tracks_reshape(&context, self->tracks, a[0].data, a[1].data);
    sn_arrays_close(SN_COUNT(a), a);
    return sn_errors_none(status, &context);
}

/* settle(pose, targets, inner, positions, acceleration=None, monitor=None) -> (rounds, converged) */
static PyObject *tracks_settle(PyObject *object, PyObject *arguments)
{
    Tracks *self = (Tracks *)object;
    Py_ssize_t count = (Py_ssize_t)self->vertex_count;
    SnArray a[] = {{.name = "pose", .kind = 'd', .rows = count, .columns = 3},
                   {.name = "targets", .kind = 'd', .rows = (Py_ssize_t)self->row_count, .columns = 3, .is_optional = 1},
                   {.name = "inner", .kind = 'd', .rows = (Py_ssize_t)sn_world_inner_count(sn_tracks_world(self->tracks)), .columns = 1},
                   {.name = "positions", .kind = 'd', .rows = count, .columns = 3, .use = SN_ARRAY_WRITE},
                   {.name = "acceleration", .kind = 'd', .rows = count, .columns = 3, .is_optional = 1}};
    PyObject *monitor = Py_None;
    SnNewtonReport report = {0};
    SnContext own, *context;
    SnStatus status;
    if (!PyArg_ParseTuple(arguments, "OOOO|OO:settle", &a[0].object, &a[1].object, &a[2].object, &a[3].object, &a[4].object, &monitor) ||
        (context = sn_monitor_context(monitor, &own)) == NULL || sn_arrays_open(SN_COUNT(a), a) < 0) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    sn_tracks_push(self->tracks, a[4].data);
    status = sn_tracks_settle(context, self->tracks, a[0].data, a[1].data, a[2].data, a[3].data, &report);
    Py_END_ALLOW_THREADS
    sn_arrays_close(SN_COUNT(a), a);
    return sn_errors_check(status, context) < 0 ? NULL : Py_BuildValue("ii", report.rounds, report.converged);
}

static PyObject *tracks_summary(PyObject *object, PyObject *unused)
{
    const Tracks *self = (Tracks *)object;
    SnTracksSummary s = sn_tracks_summary(self->tracks);
    size_t count;
    const int32_t *dependent = sn_tracks_dependent(self->tracks, &count);
    PyObject *named = PyList_New((Py_ssize_t)count);
    (void)unused;
    for (size_t k = 0; k < count && named != NULL; k++) {
        PyObject *row = PyLong_FromLong(dependent[k]);
        if (row == NULL || PyList_SetItem(named, (Py_ssize_t)k, row) < 0) {
            Py_CLEAR(named);
        }
    }
    return named == NULL ? NULL
                         : Py_BuildValue("{s:n,s:n,s:n,s:n,s:N,s:i,s:d}", "followed_vertices", (Py_ssize_t)s.followed_vertices, "hinges",
                                         (Py_ssize_t)s.hinges, "inner", (Py_ssize_t)sn_world_inner_count(sn_tracks_world(self->tracks)), "rows", (Py_ssize_t)s.rows, "dependent_rows", named, "substeps", s.substeps,
                                         "mass", s.mass);
}

int sn_tracks_type_add(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"begin", tracks_begin, METH_O, "begin(inner): what hinges carry at the beginning."},
        {"reshape", tracks_reshape, METH_VARARGS, "reshape(begin, end): the undeformed shape at the ends of the next interval."},
        {"settle", tracks_settle, METH_VARARGS,
         "settle(pose, targets, inner, positions, acceleration=None, monitor=None) -> (rounds, converged): at rest in a pose that stands still."},
        {"summary", tracks_summary, METH_NOARGS, "Numbers about mass, followed vertices, rows and substeps."},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_doc, "Tracks(shell, settings, monitor=None): a thin shell that follows a guide on average."},
        {Py_tp_new, tracks_new},
        {Py_tp_dealloc, tracks_dealloc},
        {Py_tp_methods, methods},
        {0, NULL},
    };
    static PyType_Spec spec = {"sinew._native.Tracks", sizeof(Tracks), 0, Py_TPFLAGS_DEFAULT, slots};
    PyTypeObject *type = sn_type_add(module, &spec, sn_simulation_type());
    return type != NULL ? sn_options_add((PyObject *)type, SN_COUNT(OPTIONS), OPTIONS) : -1;
}
