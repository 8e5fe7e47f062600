/* World: the bare engine under the methods, for engineers and for the tests against other solvers. Tets with one material, some
   vertices fixed; energy, statics, frequencies and time steps. It holds no state: positions and velocities come in and go out. */
#include "python/types.h"

#include "base/memory.h"
#include "dynamics/modes.h"
#include "dynamics/statics.h"
#include "dynamics/time_step.h"
#include "python/buffers.h"
#include "python/errors.h"

#include <string.h>

typedef struct World {
    PyObject_HEAD
    SnTetMesh mesh;
    SnWorld world;
} World;

static void world_dealloc(PyObject *object)
{
    World *self = (World *)object;
    sn_world_clear(&self->world);
    sn_tet_mesh_clear(&self->mesh);
    sn_type_free(object);
}

static SnStatus fill_world(SnContext *context, const SnBuffer *vertices, const SnBuffer *tets, const SnBuffer *fixed,
                           const SnEnergy *energy, double young, double poisson, double density, World *self)
{
    SnStatus status = SN_OK;
    double *moduli = NULL, *mass = NULL;
    unsigned char *held = NULL;
    SN_TRY(sn_tet_mesh_init(context, (size_t)vertices->rows, (size_t)tets->rows, &self->mesh));
    memcpy(self->mesh.positions, vertices->view.buf, (size_t)vertices->view.len);
    memcpy(self->mesh.tets, tets->view.buf, (size_t)tets->view.len);
    SN_TRY(sn_tet_mesh_check(context, &self->mesh));
    SN_TRY_NEW(context, moduli, self->mesh.tet_count, double);
    SN_TRY_NEW(context, mass, self->mesh.vertex_count, double);
    SN_TRY_NEW(context, held, self->mesh.vertex_count, unsigned char);
    for (size_t e = 0; e < self->mesh.tet_count; e++) {
        moduli[e] = young;
    }
    for (size_t v = 0; v < self->mesh.vertex_count; v++) {
        held[v] = ((const int32_t *)fixed->view.buf)[v] != 0;
    }
    sn_world_lumped_mass(&self->mesh, density, NULL, mass);
    SnWorldDef def = {.vertex_count = self->mesh.vertex_count,
                      .mass = mass,
                      .fixed = held,
                      .mesh = &self->mesh,
                      .energy = energy,
                      .young = moduli,
                      .poisson = poisson};
    SN_TRY(sn_world_init(context, &def, &self->world));
cleanup:
    sn_release(moduli);
    sn_release(mass);
    sn_release(held);
    return status;
}

static PyObject *world_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"vertices", "tets", "fixed", "young", "poisson", "density", "energy", "gravity",
                            "damping_mass", "damping_stiffness", NULL};
    PyObject *objects[3];
    double young, poisson, density, gravity[3] = {0}, alpha = 0.0, beta = 0.0;
    const char *energy_name;
    SnBuffer vertices = {0}, tets = {0}, fixed = {0};
    SnContext context;
    World *self = NULL;
    sn_context_init(&context);
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOOddds|(ddd)dd:World", names, &objects[0], &objects[1], &objects[2],
                                     &young, &poisson, &density, &energy_name, &gravity[0], &gravity[1], &gravity[2], &alpha,
                                     &beta)) {
        return NULL;
    }
    const SnEnergy *energy = sn_energy_by_name(energy_name);
    if (energy != NULL && sn_buffer_read_doubles(objects[0], "vertices", -1, 3, &vertices) == 0 &&
        sn_buffer_read_ints(objects[1], "tets", -1, 4, &tets) == 0 &&
        sn_buffer_read_ints(objects[2], "fixed", vertices.rows, 1, &fixed) == 0) {
        self = (World *)sn_type_new(type);
    }
    if (self != NULL) {
        SnStatus status = fill_world(&context, &vertices, &tets, &fixed, energy, young, poisson, density, self);
        memcpy(self->world.gravity, gravity, sizeof gravity);
        self->world.damping_mass = alpha;
        self->world.damping_stiffness = beta;
        if (sn_errors_check(status, &context) < 0) {
            Py_CLEAR(self);
        }
    }
    sn_buffer_close(&vertices);
    sn_buffer_close(&tets);
    sn_buffer_close(&fixed);
    return (PyObject *)self;
}

/* Per tet gradients and stiffness into the caller's arrays; the total energy. */
static SnStatus evaluate(SnContext *context, const SnWorld *world, const double *positions, double *gradients, double *stiffness,
                         double *energy)
{
    SnStatus status = SN_OK;
    double *partial = NULL;
    SN_TRY_NEW(context, partial, sn_tet_elements_partial_count(world->elements), double);
    *energy = sn_tet_elements_energy(world->elements, world->elements->inverse_rest, positions, partial);
    sn_tet_elements_derivatives(world->elements, world->elements->inverse_rest, positions, gradients, stiffness);
cleanup:
    sn_release(partial);
    return status;
}

/* evaluate(positions, gradients, stiffness) -> energy */
static PyObject *world_evaluate(PyObject *object, PyObject *arguments)
{
    World *self = (World *)object;
    PyObject *objects[3], *result = NULL;
    SnBuffer positions = {0}, gradients = {0}, stiffness = {0};
    Py_ssize_t tets = (Py_ssize_t)self->world.tet_count;
    SnContext context;
    double energy = 0.0;
    sn_context_init(&context);
    if (!PyArg_ParseTuple(arguments, "OOO:evaluate", &objects[0], &objects[1], &objects[2])) {
        return NULL;
    }
    if (sn_buffer_read_doubles(objects[0], "positions", (Py_ssize_t)self->mesh.vertex_count, 3, &positions) == 0 &&
        sn_buffer_write_doubles(objects[1], "gradients", tets, 12, &gradients) == 0 &&
        sn_buffer_write_doubles(objects[2], "stiffness", tets, SN_TET_STIFFNESS, &stiffness) == 0 &&
        sn_errors_check(evaluate(&context, &self->world, positions.view.buf, gradients.view.buf, stiffness.view.buf, &energy),
                        &context) == 0) {
        result = PyFloat_FromDouble(energy);
    }
    sn_buffer_close(&positions);
    sn_buffer_close(&gradients);
    sn_buffer_close(&stiffness);
    return result;
}

/* Static equilibrium under gravity. */
static SnStatus settle(SnContext *context, const SnWorld *world, const SnStaticsSettings *settings, double *positions,
                       SnNewtonReport *report)
{
    double *loads = SN_NEW(context, 3 * world->vertex_count, double);
    if (loads == NULL) {
        return SN_OUT_OF_MEMORY;
    }
    sn_statics_weight(world, loads);
    SnStatus status = sn_statics_solve(context, world, loads, settings, positions, report);
    sn_release(loads);
    return status;
}

/* settle(positions, tolerance, max_rounds) -> (rounds, converged) */
static PyObject *world_settle(PyObject *object, PyObject *arguments)
{
    World *self = (World *)object;
    PyObject *position_object, *result = NULL;
    SnStaticsSettings settings = {0};
    SnBuffer positions = {0};
    SnNewtonReport report = {0};
    SnContext context;
    sn_context_init(&context);
    if (!PyArg_ParseTuple(arguments, "Odi:settle", &position_object, &settings.step_tolerance, &settings.max_rounds)) {
        return NULL;
    }
    if (sn_buffer_write_doubles(position_object, "positions", (Py_ssize_t)self->mesh.vertex_count, 3, &positions) == 0) {
        SnStatus status;
        Py_BEGIN_ALLOW_THREADS
        status = settle(&context, &self->world, &settings, positions.view.buf, &report);
        Py_END_ALLOW_THREADS
        if (sn_errors_check(status, &context) == 0) {
            result = Py_BuildValue("ii", report.rounds, report.converged);
        }
    }
    sn_buffer_close(&positions);
    return result;
}

/* frequencies(out): the lowest squared angular frequencies. */
static PyObject *world_frequencies(PyObject *object, PyObject *out)
{
    World *self = (World *)object;
    PyObject *result = NULL;
    SnBuffer eigenvalues = {0};
    SnContext context;
    sn_context_init(&context);
    if (sn_buffer_write_doubles(out, "out", -1, 1, &eigenvalues) == 0 &&
        sn_errors_check(sn_modes_find(&context, &self->world, self->mesh.positions, (int)eigenvalues.rows, eigenvalues.view.buf, NULL),
                        &context) == 0) {
        result = Py_None;
        Py_INCREF(result);
    }
    sn_buffer_close(&eigenvalues);
    return result;
}

static SnStatus run_steps(SnContext *context, const SnWorld *world, const SnStepSettings *settings, const SnInputCurve *curve,
                          int count, SnState *state, SnStepReport *report)
{
    SnStatus status = SN_OK;
    SnStepper *stepper = NULL;
    SN_TRY(sn_stepper_create(context, world, settings, &stepper));
    for (int k = 0; k < count; k++) {
        SN_TRY(sn_stepper_step(context, stepper, curve, 0.0, 1.0, state, report));
    }
cleanup:
    sn_stepper_destroy(stepper);
    return status;
}

/* step(positions, velocities, interval, count, scheme, newton_rounds, tolerance) -> (rounds, fallbacks). Fixed vertices stay at rest. */
static PyObject *world_step(PyObject *object, PyObject *arguments)
{
    World *self = (World *)object;
    PyObject *position_object, *velocity_object, *result = NULL;
    SnBuffer positions = {0}, velocities = {0};
    SnInputCurve curve = {
        .vertex_count = self->mesh.vertex_count, .begin = self->mesh.positions, .end = self->mesh.positions};
    SnStepSettings settings = {0};
    SnStepReport report = {0};
    const char *scheme;
    int count;
    SnContext context;
    sn_context_init(&context);
    if (!PyArg_ParseTuple(arguments, "OOdisid:step", &position_object, &velocity_object, &curve.interval, &count, &scheme,
                          &settings.newton_rounds, &settings.step_tolerance) ||
        sn_scheme_by_name(scheme, &settings.scheme) < 0) {
        return NULL;
    }
    if (sn_buffer_write_doubles(position_object, "positions", (Py_ssize_t)self->mesh.vertex_count, 3, &positions) == 0 &&
        sn_buffer_write_doubles(velocity_object, "velocities", (Py_ssize_t)self->mesh.vertex_count, 3, &velocities) == 0) {
        SnState state = {positions.view.buf, velocities.view.buf};
        SnStatus status;
        Py_BEGIN_ALLOW_THREADS
        status = run_steps(&context, &self->world, &settings, &curve, count, &state, &report);
        Py_END_ALLOW_THREADS
        if (sn_errors_check(status, &context) == 0) {
            result = Py_BuildValue("ii", report.rounds, report.fallbacks);
        }
    }
    sn_buffer_close(&positions);
    sn_buffer_close(&velocities);
    return result;
}

/* masses(out): the lumped mass of every vertex, kg. */
static PyObject *world_masses(PyObject *object, PyObject *out)
{
    World *self = (World *)object;
    SnBuffer masses = {0};
    if (sn_buffer_write_doubles(out, "out", (Py_ssize_t)self->mesh.vertex_count, 1, &masses) < 0) {
        return NULL;
    }
    memcpy(masses.view.buf, self->world.mass, (size_t)masses.view.len);
    sn_buffer_close(&masses);
    Py_RETURN_NONE;
}

int sn_world_type_add(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"evaluate", world_evaluate, METH_VARARGS,
         "evaluate(positions, gradients, stiffness) -> energy; per tet 12 gradient values and 10 projected 3x3 blocks."},
        {"settle", world_settle, METH_VARARGS, "settle(positions, tolerance, max_rounds) -> (rounds, converged): statics."},
        {"frequencies", world_frequencies, METH_O, "frequencies(out): lowest squared angular frequencies at rest, rad²/s²."},
        {"step", world_step, METH_VARARGS,
         "step(positions, velocities, interval, count, scheme, newton_rounds, tolerance) -> (rounds, fallbacks)"},
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
    PyObject *type = PyType_FromSpec(&spec);
    return type == NULL ? -1 : PyModule_AddObjectRef(module, "World", type);
}
