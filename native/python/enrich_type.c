/* Enrich: the simulation of a fitted cage. It holds no state of its own: positions and velocities come in and go out. */
#include "python/simulation.h"

#include "base/memory.h"
#include "math/mat3.h"
#include "method/enrich/enrich.h"
#include "method/enrich/flesh.h"
#include "python/errors.h"
#include "python/options.h"

#include <string.h>


typedef struct Enrich {
    SnSimulation base;
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

static int choose_expression(const char *name, void *field)
{
    int rebalances = strcmp(name, "rebalanced") == 0;
    if (!rebalances && strcmp(name, "variable") != 0) {
        sn_errors_set(SN_BAD_INPUT, "There is no expression \"%s\": use variable or rebalanced.", name);
        return -1;
    }
    *(SnExpression *)field = rebalances ? SN_EXPRESSION_REBALANCED : SN_EXPRESSION_VARIABLE;
    return 0;
}

#define OPTION(name, kind, choose) {#name, kind, offsetof(SnEnrichSettings, name), choose}
static const SnOption OPTIONS[] = {
    OPTION(jiggle, SN_OPTION_DOUBLE, NULL),
    OPTION(settle, SN_OPTION_DOUBLE, NULL),
    OPTION(young, SN_OPTION_DOUBLE, NULL),
    OPTION(poisson, SN_OPTION_DOUBLE, NULL),
    OPTION(density, SN_OPTION_DOUBLE, NULL),
    OPTION(damping_mass, SN_OPTION_DOUBLE, NULL),
    OPTION(damping_stiffness, SN_OPTION_DOUBLE, NULL),
    OPTION(keep_pose, SN_OPTION_DOUBLE, NULL),
    OPTION(balance, SN_OPTION_DOUBLE, NULL),
    OPTION(transition, SN_OPTION_DOUBLE, NULL),
    OPTION(gravity, SN_OPTION_VECTOR, NULL),
    OPTION(interval, SN_OPTION_DOUBLE, NULL),
    OPTION(size, SN_OPTION_DOUBLE, NULL),
    OPTION(substeps, SN_OPTION_INT, NULL),
    OPTION(newton_rounds, SN_OPTION_INT, NULL),
    OPTION(tolerance, SN_OPTION_DOUBLE, NULL),
    OPTION(scheme, SN_OPTION_NAME, sn_scheme_choose),
    OPTION(expression, SN_OPTION_NAME, choose_expression),
    OPTION(expression_inertia, SN_OPTION_DOUBLE, NULL),
    OPTION(energy, SN_OPTION_NAME, sn_density_choose),
    OPTION(tighten, SN_OPTION_DOUBLE, NULL),
    OPTION(animated, SN_OPTION_BOOL, NULL),
    OPTION(one_material, SN_OPTION_BOOL, NULL),
    OPTION(free_body, SN_OPTION_BOOL, NULL),
    OPTION(stiffness_painted, SN_OPTION_DOUBLE, NULL),
    OPTION(damping_painted, SN_OPTION_DOUBLE, NULL),
    OPTION(density_painted, SN_OPTION_DOUBLE, NULL),
    OPTION(keep_pose_painted, SN_OPTION_DOUBLE, NULL),
};

/* (before, begin, end, after, positions, velocities, acceleration=None, inner=None, light=None, firmness=None) */
static int enrich_open(PyObject *object, PyObject *arguments, SnMove *move)
{
    Enrich *self = (Enrich *)object;
    enum { BEFORE, BEGIN, END, AFTER, POSITIONS, VELOCITIES, ACCELERATION, INNER, LIGHT, FIRMNESS, ARRAYS };
    Py_ssize_t vertices = (Py_ssize_t)sn_cage_type_mesh(self->cage)->vertex_count;
    const SnArray table[ARRAYS] = {
        [BEFORE] = {.name = "before", .is_optional = 1},
        [BEGIN] = {.name = "begin"},
        [END] = {.name = "end"},
        [AFTER] = {.name = "after", .is_optional = 1},
        [POSITIONS] = {.name = "positions", .use = SN_ARRAY_WRITE},
        [VELOCITIES] = {.name = "velocities", .use = SN_ARRAY_WRITE},
        [ACCELERATION] = {.name = "acceleration", .is_optional = 1},
        [INNER] = {.name = "inner", .use = SN_ARRAY_WRITE, .is_optional = 1},
        [LIGHT] = {.name = "light", .is_optional = 1}, /* at before, begin, end, after */
        [FIRMNESS] = {.name = "firmness", .is_optional = 1}, /* at begin, end */
    };
    SnArray *a = memcpy(move->arrays, table, sizeof table);
    for (int k = 0; k < ARRAYS; k++) {
        a[k].kind = 'd';
        a[k].rows = k == INNER ? (Py_ssize_t)sn_world_inner_count(sn_enrich_world(self->enrich)) : k == LIGHT ? 4 * vertices : vertices;
        a[k].columns = k == INNER ? 1 : 3;
    }
    a[FIRMNESS].rows = 2;
    a[FIRMNESS].columns = (Py_ssize_t)sn_cage_type_mesh(self->cage)->tet_count;
    if (!PyArg_ParseTuple(arguments, "OOOOOO|OOOO:advance", &a[BEFORE].object, &a[BEGIN].object, &a[END].object, &a[AFTER].object,
                          &a[POSITIONS].object, &a[VELOCITIES].object, &a[ACCELERATION].object, &a[INNER].object,
                          &a[LIGHT].object, &a[FIRMNESS].object) ||
        sn_arrays_open(ARRAYS, a) < 0) {
        return -1;
    }
    move->array_count = ARRAYS;
    move->curve = (SnInputCurve){(size_t)vertices, a[BEFORE].data, a[BEGIN].data, a[END].data, a[AFTER].data, self->interval, NULL};
    if (a[LIGHT].data != NULL) {
        const double *light = a[LIGHT].data;
        size_t n = 3 * (size_t)vertices;
        move->light = (SnInputCurve){(size_t)vertices, a[BEFORE].data ? light : NULL, light + n, light + 2 * n,
                                     a[AFTER].data ? light + 3 * n : NULL, self->interval, NULL};
        move->curve.light = &move->light;
    }
    move->state = (SnState){.positions = a[POSITIONS].data, .velocities = a[VELOCITIES].data, .inner = a[INNER].data};
    move->push = a[ACCELERATION].data;
    move->firmness = a[FIRMNESS].data;
    return 0;
}

static SnMember enrich_member(PyObject *self)
{
    return sn_enrich_member(((Enrich *)self)->enrich);
}

/* Of two rows with a factor for each tet. */
static const double *second_half(PyObject *self, const double *firmness)
{
    return firmness != NULL ? firmness + sn_cage_type_mesh(((Enrich *)self)->cage)->tet_count : NULL;
}

static void enrich_lead(PyObject *self, SnMove *move)
{
    sn_enrich_push(((Enrich *)self)->enrich, move->push);
    sn_enrich_firm(((Enrich *)self)->enrich, move->firmness, second_half(self, move->firmness));
    sn_enrich_lead(((Enrich *)self)->enrich, &move->curve);
}

static void enrich_finish(PyObject *self, SnMove *move)
{
    SnEnrich *enrich = ((Enrich *)self)->enrich;
    double smallest;
    move->repaired = sn_enrich_finish(enrich, &move->state);
    move->inverted = sn_tet_elements_inverted(sn_enrich_tets(enrich), move->state.positions, &smallest);
}

static const SnSimulationKind KIND = {enrich_open, enrich_member, enrich_lead, enrich_finish};

/* What a body and its paint are told by. */
enum { FOLLOW, CAGE_FOLLOW, STIFFNESS, DAMPING, DENSITY, KEEP_POSE, BONE, AVERAGES, FILL, THICKNESS, AREAS, BODY_ARRAYS };

/* Opens them: `painted` is a dict, `areas` beside it. -1 with an exception set; then none is open. */
static int open_body(PyObject *cage, PyObject *areas, PyObject *painted, SnArray a[BODY_ARRAYS], SnCagedBody *body, SnEnrichPaint *paint)
{
    const SnArray table[BODY_ARRAYS] = {
        [FOLLOW] = {.name = "follow"},
        [CAGE_FOLLOW] = {.name = "cage_follow", .use = SN_ARRAY_READ_WITH_NAN, .is_optional = 1}, /* NaN: the surface decides */
        [STIFFNESS] = {.name = "stiffness", .is_optional = 1},
        [DAMPING] = {.name = "damping", .is_optional = 1},
        [DENSITY] = {.name = "density", .is_optional = 1},
        [KEEP_POSE] = {.name = "keep_pose", .is_optional = 1},
        [BONE] = {.name = "bone", .is_optional = 1},
        [AVERAGES] = {.name = "averages", .is_optional = 1},
        [FILL] = {.name = "fill", .is_optional = 1},
        [THICKNESS] = {.name = "thickness", .is_optional = 1},
        [AREAS] = {.name = "areas"},
    };
    memcpy(a, table, sizeof table);
    if (sn_cage_type_check(cage) < 0 || sn_arrays_from_dict(painted, "The paint of Enrich", AREAS, a) < 0) {
        return -1;
    }
    const SnTetMesh *mesh = sn_cage_type_mesh(cage);
    const SnEmbedding *embedding = sn_cage_type_embedding(cage);
    a[AREAS].object = areas;
    for (int k = 0; k < BODY_ARRAYS; k++) {
        a[k].kind = k == AVERAGES ? 'i' : 'd';
        a[k].columns = 1;
        a[k].rows = k == CAGE_FOLLOW || k == AVERAGES ? (Py_ssize_t)mesh->vertex_count
                    : k == FILL || k == THICKNESS     ? (Py_ssize_t)mesh->tet_count
                                                      : (Py_ssize_t)embedding->vertex_count;
    }
    if (sn_arrays_open(BODY_ARRAYS, a) < 0) {
        return -1;
    }
    *body = (SnCagedBody){mesh, embedding, a[AREAS].data, a[FILL].data, a[THICKNESS].data};
    *paint = (SnEnrichPaint){.follow = a[FOLLOW].data,
                             .cage_follow = a[CAGE_FOLLOW].data,
                             .stiffness = a[STIFFNESS].data,
                             .damping = a[DAMPING].data,
                             .density = a[DENSITY].data,
                             .keep_pose = a[KEEP_POSE].data,
                             .bone = a[BONE].data,
                             .averages = a[AVERAGES].data};
    if ((body->fill == NULL) != (body->thickness == NULL)) {
        PyErr_SetString(PyExc_TypeError, "fill and thickness come together");
        sn_arrays_close(BODY_ARRAYS, a);
        return -1;
    }
    return 0;
}

/* Enrich(cage, areas, settings, paint, monitor=None) */
static PyObject *enrich_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"cage", "areas", "settings", "paint", "monitor", NULL};
    SnArray a[BODY_ARRAYS];
    PyObject *cage, *areas, *settings, *painted, *monitor = Py_None;
    SnEnrichSettings s = sn_enrich_settings_default();
    SnCagedBody body;
    SnEnrichPaint paint;
    SnContext own, *context;
    Enrich *self = NULL;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOOO|O:Enrich", names, &cage, &areas, &settings, &painted, &monitor) ||
        (context = sn_monitor_context(monitor, &own)) == NULL || sn_cage_type_check(cage) < 0 ||
        sn_options_read(settings, "Enrich", SN_COUNT(OPTIONS), OPTIONS, &s) < 0 ||
        open_body(cage, areas, painted, a, &body, &paint) < 0) {
        return NULL;
    }
    if ((self = (Enrich *)sn_type_new(type)) != NULL) {
        SnStatus status;
        self->cage = Py_NewRef(cage);
        self->interval = s.interval;
        self->animated = s.animated;
        Py_BEGIN_ALLOW_THREADS
        status = sn_enrich_create(context, &body, &paint, &s, &self->enrich);
        self->base.kind = &KIND;
        self->base.alone = status == SN_OK ? sn_enrich_alone(self->enrich) : NULL;
        Py_END_ALLOW_THREADS
        if (sn_errors_check(status, context) < 0) {
            Py_CLEAR(self);
        }
    }
    sn_arrays_close(BODY_ARRAYS, a);
    return (PyObject *)self;
}

#define PULLED_STRAIN 0.1 /* flesh of an edit: a pull bends it more than any push shakes it, and is to take what is around along */

/* Into the caller's arrays: young, mass, drive, fixed. */
static SnStatus find_material(SnContext *context, const SnCagedBody *body, const SnEnrichPaint *paint, const SnEnrichSettings *settings,
                              const SnArray *out, double *frequency)
{
    SnStatus status = SN_OK;
    size_t count = body->cage->vertex_count;
    double *weights = NULL, *drive = out[2].data;
    unsigned char *followed = NULL;
    SnFleshMaterial material = {0};
    SN_TRY_NEW(context, weights, count, double);
    SN_TRY_NEW(context, followed, count, unsigned char);
    SN_TRY(sn_flesh_weights(context, body, paint, weights, followed));
    SN_TRY(sn_flesh_material(context, body, paint, settings, weights, followed, &material));
    *frequency = material.frequency;
    memcpy(out[0].data, material.young, body->cage->tet_count * sizeof *material.young);
    memcpy(out[1].data, material.mass, count * sizeof *material.mass);
    for (size_t v = 0; v < count; v++) {
        double omega = 2.0 * SN_PI * *frequency;
        drive[v] = followed[v] ? 0.0 : material.mass[v] * omega * omega * sn_flesh_drive_ratio(weights[v], settings->balance);
        ((int32_t *)out[3].data)[v] = followed[v];
    }
cleanup:
    sn_flesh_material_clear(&material);
    sn_release(weights);
    sn_release(followed);
    return status;
}

/* material(cage, areas, settings, paint, young, mass, drive, fixed, monitor=None) -> frequency */
static PyObject *enrich_material(PyObject *unused, PyObject *arguments)
{
    SnArray a[BODY_ARRAYS], out[] = {{.name = "young", .kind = 'd', .columns = 1, .use = SN_ARRAY_WRITE},
                                     {.name = "mass", .kind = 'd', .columns = 1, .use = SN_ARRAY_WRITE},
                                     {.name = "drive", .kind = 'd', .columns = 1, .use = SN_ARRAY_WRITE},
                                     {.name = "fixed", .kind = 'i', .columns = 1, .use = SN_ARRAY_WRITE}};
    PyObject *cage, *areas, *settings, *painted, *monitor = Py_None;
    SnEnrichSettings s = sn_enrich_settings_default();
    SnCagedBody body;
    SnEnrichPaint paint;
    SnContext own, *context;
    SnStatus status;
    double frequency = 0.0;
    (void)unused;
    if (!PyArg_ParseTuple(arguments, "OOOOOOOO|O:material", &cage, &areas, &settings, &painted, &out[0].object, &out[1].object,
                          &out[2].object, &out[3].object, &monitor) ||
        (context = sn_monitor_context(monitor, &own)) == NULL || sn_options_read(settings, "Enrich", SN_COUNT(OPTIONS), OPTIONS, &s) < 0 ||
        open_body(cage, areas, painted, a, &body, &paint) < 0) {
        return NULL;
    }
    for (size_t k = 0; k < SN_COUNT(out); k++) {
        out[k].rows = (Py_ssize_t)(k == 0 ? body.cage->tet_count : body.cage->vertex_count);
    }
    if (sn_arrays_open(SN_COUNT(out), out) < 0) {
        sn_arrays_close(BODY_ARRAYS, a);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    s.most_strain = PULLED_STRAIN;
    status = find_material(context, &body, &paint, &s, out, &frequency);
    Py_END_ALLOW_THREADS
    sn_arrays_close(SN_COUNT(out), out);
    sn_arrays_close(BODY_ARRAYS, a);
    return sn_errors_check(status, context) < 0 ? NULL : PyFloat_FromDouble(frequency);
}

/* settle(pose, positions, acceleration=None, monitor=None, firmness=None) -> (rounds, converged) */
static PyObject *enrich_settle(PyObject *object, PyObject *arguments)
{
    Enrich *self = (Enrich *)object;
    Py_ssize_t vertices = (Py_ssize_t)sn_cage_type_mesh(self->cage)->vertex_count;
    SnArray arrays[] = {{.name = "pose", .kind = 'd', .rows = vertices, .columns = 3},
                        {.name = "positions", .kind = 'd', .rows = vertices, .columns = 3, .use = SN_ARRAY_WRITE},
                        {.name = "acceleration", .kind = 'd', .rows = vertices, .columns = 3, .is_optional = 1},
                        {.name = "firmness", .kind = 'd', .columns = 1, .is_optional = 1}};
    PyObject *monitor = Py_None;
    SnNewtonReport report = {0};
    SnContext own, *context;
    SnStatus status;
    arrays[3].rows = (Py_ssize_t)sn_cage_type_mesh(self->cage)->tet_count;
    if (!PyArg_ParseTuple(arguments, "OO|OOO:settle", &arrays[0].object, &arrays[1].object, &arrays[2].object, &monitor,
                          &arrays[3].object) ||
        (context = sn_monitor_context(monitor, &own)) == NULL || sn_arrays_open(SN_COUNT(arrays), arrays) < 0) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    sn_enrich_push(self->enrich, arrays[2].data);
    sn_enrich_firm(self->enrich, arrays[3].data, arrays[3].data);
    status = sn_enrich_settle(context, self->enrich, arrays[0].data, arrays[1].data, &report);
    Py_END_ALLOW_THREADS
    sn_arrays_close(SN_COUNT(arrays), arrays);
    return sn_errors_check(status, context) < 0 ? NULL : Py_BuildValue("ii", report.rounds, report.converged);
}

/* carry(before, from, pose, positions, monitor=None) -> (rounds, converged) */
static PyObject *enrich_carry(PyObject *object, PyObject *arguments)
{
    Enrich *self = (Enrich *)object;
    Py_ssize_t vertices = (Py_ssize_t)sn_cage_type_mesh(self->cage)->vertex_count;
    SnArray arrays[] = {{.name = "before", .kind = 'd', .rows = vertices, .columns = 3},
                        {.name = "from", .kind = 'd', .rows = vertices, .columns = 3},
                        {.name = "pose", .kind = 'd', .rows = vertices, .columns = 3},
                        {.name = "positions", .kind = 'd', .rows = vertices, .columns = 3, .use = SN_ARRAY_WRITE}};
    PyObject *monitor = Py_None;
    SnNewtonReport report = {0};
    SnContext own, *context;
    SnStatus status;
    if (!PyArg_ParseTuple(arguments, "OOOO|O:carry", &arrays[0].object, &arrays[1].object, &arrays[2].object, &arrays[3].object, &monitor) ||
        (context = sn_monitor_context(monitor, &own)) == NULL || sn_arrays_open(SN_COUNT(arrays), arrays) < 0) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    sn_enrich_push(self->enrich, NULL);
    sn_enrich_firm(self->enrich, NULL, NULL);
    status = sn_enrich_carry(context, self->enrich, arrays[0].data, arrays[1].data, arrays[2].data, arrays[3].data, &report);
    Py_END_ALLOW_THREADS
    sn_arrays_close(SN_COUNT(arrays), arrays);
    return sn_errors_check(status, context) < 0 ? NULL : Py_BuildValue("ii", report.rounds, report.converged);
}

/* follow(begin, end): animated weights of the surface vertices for the next interval. */
static PyObject *enrich_follow(PyObject *object, PyObject *arguments)
{
    Enrich *self = (Enrich *)object;
    Py_ssize_t count = (Py_ssize_t)sn_cage_type_embedding(self->cage)->vertex_count;
    SnArray arrays[] = {{.name = "begin", .kind = 'd', .rows = count, .columns = 1},
                        {.name = "end", .kind = 'd', .rows = count, .columns = 1}};
    SnContext context;
    SnStatus status;
    sn_context_init(&context);
    if (!self->animated) {
        PyErr_SetString(PyExc_TypeError, "the weights of this simulation are not animated");
        return NULL;
    }
    if (!PyArg_ParseTuple(arguments, "OO:follow", &arrays[0].object, &arrays[1].object) ||
        sn_arrays_open(SN_COUNT(arrays), arrays) < 0) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    status = sn_enrich_follow(&context, self->enrich, arrays[0].data, arrays[1].data);
    Py_END_ALLOW_THREADS
    sn_arrays_close(SN_COUNT(arrays), arrays);
    return sn_errors_none(status, &context);
}

/* cage_weights(out): the weight of every cage vertex. */
static PyObject *enrich_cage_weights(PyObject *object, PyObject *out)
{
    Enrich *self = (Enrich *)object;
    SnArray weights = {.name = "weights", .kind = 'd', .columns = 1, .use = SN_ARRAY_WRITE, .object = out};
    weights.rows = (Py_ssize_t)sn_cage_type_mesh(self->cage)->vertex_count;
    if (sn_arrays_open(1, &weights) < 0) {
        return NULL;
    }
    memcpy(weights.data, sn_enrich_cage_weights(self->enrich), (size_t)weights.rows * sizeof(double));
    sn_arrays_close(1, &weights);
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
        {"settle", enrich_settle, METH_VARARGS,
         "settle(pose, positions, acceleration=None, monitor=None, firmness=None) -> (rounds, converged): at rest in a pose that stands still."},
        {"carry", enrich_carry, METH_VARARGS,
         "carry(before, from, pose, positions, monitor=None) -> (rounds, converged): with the same left of all forces in another pose."},
        {"follow", enrich_follow, METH_VARARGS, "follow(begin, end): animated weights of the surface vertices for the next interval."},
        {"material", enrich_material, METH_VARARGS | METH_STATIC,
         "material(cage, areas, settings, paint, young, mass, drive, fixed, monitor=None) -> frequency: what flesh is made of."},
        {"cage_weights", enrich_cage_weights, METH_O, "cage_weights(out): the weight of every cage vertex."},
        {"summary", enrich_summary, METH_NOARGS, "Numbers about material, followed vertices and substeps."},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_doc, "Enrich(cage, areas, settings, paint, monitor=None): the constrained simulation of a fitted cage."},
        {Py_tp_new, enrich_new},
        {Py_tp_dealloc, enrich_dealloc},
        {Py_tp_methods, methods},
        {0, NULL},
    };
    static PyType_Spec spec = {"sinew._native.Enrich", sizeof(Enrich), 0, Py_TPFLAGS_DEFAULT, slots};
    PyTypeObject *type = sn_type_add(module, &spec, sn_simulation_type());
    return type != NULL ? sn_options_add((PyObject *)type, SN_COUNT(OPTIONS), OPTIONS) : -1;
}
