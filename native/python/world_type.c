/* World: the bare engine under the methods, for engineers and for the tests against other solvers. Tets with one material, some
   vertices fixed; energy, statics, frequencies and time steps. It holds no state: positions and velocities come in and go out. */
#include "python/types.h"

#include "base/memory.h"
#include "dynamics/input_driver.h"
#include "dynamics/modes.h"
#include "dynamics/statics.h"
#include "dynamics/time_step.h"
#include "python/arrays.h"
#include "python/errors.h"

#include <string.h>

typedef struct World {
    PyObject_HEAD
    SnTetMesh mesh;
    SnTetElements tets;
    SnWorld world;
    double gravity[3];
} World;

static void world_dealloc(PyObject *object)
{
    World *self = (World *)object;
    sn_world_clear(&self->world);
    sn_tet_elements_clear(&self->tets);
    sn_tet_mesh_clear(&self->mesh);
    sn_type_free(object);
}

static SnStatus fill_world(SnContext *context, const SnArray *vertices, const SnArray *tets, const SnArray *fixed,
                           const SnDensity *energy, double young, double poisson, double density, World *self)
{
    SnStatus status = SN_OK;
    double *mass = NULL;
    unsigned char *held = NULL;
    SN_TRY(sn_tet_mesh_init(context, (size_t)vertices->rows, (size_t)tets->rows, &self->mesh));
    memcpy(self->mesh.positions, vertices->data, 3 * (size_t)vertices->rows * sizeof(double));
    memcpy(self->mesh.tets, tets->data, 4 * (size_t)tets->rows * sizeof(int32_t));
    SN_TRY(sn_tet_mesh_check(context, &self->mesh));
    SN_TRY_NEW(context, mass, self->mesh.vertex_count, double);
    SN_TRY_NEW(context, held, self->mesh.vertex_count, unsigned char);
    for (size_t v = 0; v < self->mesh.vertex_count; v++) {
        held[v] = ((const int32_t *)fixed->data)[v] != 0;
    }
    sn_tet_mesh_lumped_mass(&self->mesh, density, NULL, mass);
    SN_TRY(sn_tet_elements_init_moving(context, &self->mesh, held, energy, &self->tets));
    for (size_t e = 0; e < self->tets.count; e++) {
        sn_tet_elements_set_material(&self->tets, e, young, poisson);
    }
    SnTerm term = sn_tet_elements_term(&self->tets);
    SnWorldDef def = {.vertex_count = self->mesh.vertex_count, .mass = mass, .fixed = held, .term_count = 1, .terms = &term};
    SN_TRY(sn_world_init(context, &def, &self->world));
cleanup:
    sn_release(mass);
    sn_release(held);
    return status;
}

static PyObject *world_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"vertices", "tets", "fixed", "young", "poisson", "density", "energy", "gravity",
                            "damping_mass", "damping_stiffness", NULL};
    SnArray arrays[] = {{.name = "vertices", .kind = 'd', .rows = -1, .columns = 3},
                        {.name = "tets", .kind = 'i', .rows = -1, .columns = 4},
                        {.name = "fixed", .kind = 'i', .rows = -1, .columns = 1}};
    double young, poisson, density, gravity[3] = {0}, alpha = 0.0, beta = 0.0;
    const char *energy_name;
    const SnDensity *energy;
    SnContext context;
    World *self = NULL;
    sn_context_init(&context);
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOOddds|(ddd)dd:World", names, &arrays[0].object, &arrays[1].object,
                                     &arrays[2].object, &young, &poisson, &density, &energy_name, &gravity[0], &gravity[1],
                                     &gravity[2], &alpha, &beta) ||
        sn_density_choose(energy_name, &energy) < 0 || sn_arrays_open(SN_COUNT(arrays), arrays) < 0) {
        return NULL;
    }
    if (arrays[2].rows != arrays[0].rows) {
        sn_errors_set(SN_BAD_INPUT, "fixed has the wrong shape: give one for each vertex.");
    } else if ((self = (World *)sn_type_new(type)) != NULL) {
        SnStatus status = fill_world(&context, arrays, arrays + 1, arrays + 2, energy, young, poisson, density, self);
        memcpy(self->gravity, gravity, sizeof gravity);
        sn_world_damp(&self->world, alpha, beta);
        if (sn_errors_check(status, &context) < 0) {
            Py_CLEAR(self);
        }
    }
    sn_arrays_close(SN_COUNT(arrays), arrays);
    return (PyObject *)self;
}

/* Per tet gradients and stiffness into the caller's arrays; the total energy. */
static SnStatus evaluate(SnContext *context, const SnTetElements *tets, const double *positions, double *gradients, double *stiffness,
                         double *energy)
{
    SnStatus status = SN_OK;
    double *partial = NULL;
    SN_TRY_NEW(context, partial, sn_tet_elements_partial_count(tets), double);
    *energy = sn_tet_elements_energy(tets, tets->inverse_rest, positions, partial);
    sn_tet_elements_derivatives(tets, tets->inverse_rest, positions, gradients, stiffness);
cleanup:
    sn_release(partial);
    return status;
}

/* evaluate(positions, gradients, stiffness) -> energy */
static PyObject *world_evaluate(PyObject *object, PyObject *arguments)
{
    World *self = (World *)object;
    Py_ssize_t vertices = (Py_ssize_t)self->mesh.vertex_count, tets = (Py_ssize_t)self->tets.count;
    SnArray arrays[] = {{.name = "positions", .kind = 'd', .rows = vertices, .columns = 3},
                        {.name = "gradients", .kind = 'd', .rows = tets, .columns = 12, .use = SN_ARRAY_WRITE},
                        {.name = "stiffness", .kind = 'd', .rows = tets, .columns = SN_TET_STIFFNESS, .use = SN_ARRAY_WRITE}};
    SnContext context;
    double energy = 0.0;
    sn_context_init(&context);
    if (!PyArg_ParseTuple(arguments, "OOO:evaluate", &arrays[0].object, &arrays[1].object, &arrays[2].object) ||
        sn_arrays_open(SN_COUNT(arrays), arrays) < 0) {
        return NULL;
    }
    SnStatus status = evaluate(&context, &self->tets, arrays[0].data, arrays[1].data, arrays[2].data, &energy);
    sn_arrays_close(SN_COUNT(arrays), arrays);
    return sn_errors_check(status, &context) < 0 ? NULL : PyFloat_FromDouble(energy);
}

/* Static equilibrium under gravity. */
static SnStatus settle(SnContext *context, const SnWorld *world, const double gravity[3], const SnStaticsSettings *settings,
                       double *positions, SnNewtonReport *report)
{
    double *loads = SN_NEW(context, 3 * world->vertex_count, double);
    if (loads == NULL) {
        return SN_OUT_OF_MEMORY;
    }
    sn_statics_weight(world, gravity, loads);
    SnStatus status = sn_statics_solve(context, world, loads, settings, positions, report);
    sn_release(loads);
    return status;
}

/* settle(positions, tolerance, max_rounds, monitor=None) -> (rounds, converged) */
static PyObject *world_settle(PyObject *object, PyObject *arguments)
{
    World *self = (World *)object;
    SnArray positions = {.name = "positions", .kind = 'd', .columns = 3, .use = SN_ARRAY_WRITE};
    PyObject *monitor = Py_None;
    SnStaticsSettings settings = {0};
    SnNewtonReport report = {0};
    SnContext own, *context;
    SnStatus status;
    positions.rows = (Py_ssize_t)self->mesh.vertex_count;
    if (!PyArg_ParseTuple(arguments, "Odi|O:settle", &positions.object, &settings.step_tolerance, &settings.max_rounds, &monitor) ||
        (context = sn_monitor_context(monitor, &own)) == NULL || sn_arrays_open(1, &positions) < 0) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    status = settle(context, &self->world, self->gravity, &settings, positions.data, &report);
    Py_END_ALLOW_THREADS
    sn_arrays_close(1, &positions);
    return sn_errors_check(status, context) < 0 ? NULL : Py_BuildValue("ii", report.rounds, report.converged);
}

/* frequencies(out, monitor=None): the lowest squared angular frequencies. */
static PyObject *world_frequencies(PyObject *object, PyObject *arguments)
{
    World *self = (World *)object;
    SnArray squared = {.name = "out", .kind = 'd', .rows = -1, .columns = 1, .use = SN_ARRAY_WRITE};
    PyObject *monitor = Py_None;
    SnContext own, *context;
    SnStatus status;
    if (!PyArg_ParseTuple(arguments, "O|O:frequencies", &squared.object, &monitor) ||
        (context = sn_monitor_context(monitor, &own)) == NULL || sn_arrays_open(1, &squared) < 0) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    status = sn_modes_find(context, &self->world, self->mesh.positions, (int)squared.rows, squared.data, NULL);
    Py_END_ALLOW_THREADS
    sn_arrays_close(1, &squared);
    return sn_errors_none(status, context);
}

static SnStatus run_steps(SnContext *context, const SnWorld *world, const SnStepSettings *settings, SnInputDriver *input,
                          int count, SnState *state, SnStepReport *report)
{
    SnStatus status = SN_OK;
    SnStepper *stepper = NULL;
    SnDriver driver = sn_input_driver(input);
    sn_context_stage(context, "Simulating", count);
    SN_TRY(sn_stepper_create(context, world, settings, &stepper));
    for (int k = 0; k < count; k++) {
        SN_TRY(sn_context_advance(context, k));
        SN_TRY(sn_stepper_step(context, stepper, &driver, 0.0, 1.0, input->curve->interval, state, report));
    }
cleanup:
    sn_stepper_destroy(stepper);
    return status;
}

/* step(positions, velocities, interval, count, scheme, newton_rounds, tolerance, monitor=None) -> (rounds, fallbacks). Fixed vertices
   stay at rest. */
static PyObject *world_step(PyObject *object, PyObject *arguments)
{
    World *self = (World *)object;
    Py_ssize_t vertices = (Py_ssize_t)self->mesh.vertex_count;
    SnArray arrays[] = {{.name = "positions", .kind = 'd', .rows = vertices, .columns = 3, .use = SN_ARRAY_WRITE},
                        {.name = "velocities", .kind = 'd', .rows = vertices, .columns = 3, .use = SN_ARRAY_WRITE}};
    PyObject *monitor = Py_None;
    SnInputCurve curve = {
        .vertex_count = self->mesh.vertex_count, .begin = self->mesh.positions, .end = self->mesh.positions};
    SnStepSettings settings = {0};
    SnStepReport report = {0};
    const char *scheme;
    int count;
    SnContext own, *context;
    SnStatus status;
    if (!PyArg_ParseTuple(arguments, "OOdisid|O:step", &arrays[0].object, &arrays[1].object, &curve.interval, &count, &scheme,
                          &settings.newton_rounds, &settings.step_tolerance, &monitor) ||
        (context = sn_monitor_context(monitor, &own)) == NULL || sn_scheme_choose(scheme, &settings.scheme) < 0 ||
        sn_arrays_open(SN_COUNT(arrays), arrays) < 0) {
        return NULL;
    }
    SnState state = {.positions = arrays[0].data, .velocities = arrays[1].data};
    SnInputDriver input = {.curve = &curve, .gravity = {self->gravity[0], self->gravity[1], self->gravity[2]}};
    Py_BEGIN_ALLOW_THREADS
    status = run_steps(context, &self->world, &settings, &input, count, &state, &report);
    Py_END_ALLOW_THREADS
    sn_arrays_close(SN_COUNT(arrays), arrays);
    return sn_errors_check(status, context) < 0 ? NULL : Py_BuildValue("ii", report.rounds, report.fallbacks);
}

/* masses(out): the lumped mass of every vertex, kg. */
static PyObject *world_masses(PyObject *object, PyObject *out)
{
    World *self = (World *)object;
    SnArray masses = {.name = "out", .kind = 'd', .columns = 1, .use = SN_ARRAY_WRITE, .object = out};
    masses.rows = (Py_ssize_t)self->mesh.vertex_count;
    if (sn_arrays_open(1, &masses) < 0) {
        return NULL;
    }
    memcpy(masses.data, self->world.mass, (size_t)masses.rows * sizeof(double));
    sn_arrays_close(1, &masses);
    Py_RETURN_NONE;
}

int sn_world_type_add(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"evaluate", world_evaluate, METH_VARARGS,
         "evaluate(positions, gradients, stiffness) -> energy; per tet 12 gradient values and 10 projected 3x3 blocks."},
        {"settle", world_settle, METH_VARARGS, "settle(positions, tolerance, max_rounds, monitor=None) -> (rounds, converged): statics."},
        {"frequencies", world_frequencies, METH_VARARGS, "frequencies(out, monitor=None): lowest squared angular frequencies at rest, rad²/s²."},
        {"step", world_step, METH_VARARGS,
         "step(positions, velocities, interval, count, scheme, newton_rounds, tolerance, monitor=None) -> (rounds, fallbacks)"},
        {"masses", world_masses, METH_O, "masses(out): the lumped mass of every vertex."},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_doc, "World(vertices, tets, fixed, young, poisson, density, energy, gravity, damping_mass, damping_stiffness)"},
        {Py_tp_new, world_new},
        {Py_tp_dealloc, world_dealloc},
        {Py_tp_methods, methods},
        {0, NULL},
    };
    static PyType_Spec spec = {"sinew._native.World", sizeof(World), 0, Py_TPFLAGS_DEFAULT, slots};
    return sn_type_add(module, &spec, NULL) != NULL ? 0 : -1;
}
