/* sinew._native: the method table, nothing more. */
#include "python/types.h"

#include "contact/surface.h"
#include "dynamics/weights.h"
#include "energy/term.h"
#include "method/enrich/enrich.h"
#include "python/errors.h"
#include "python/functions.h"
#include "python/simulation.h"

static PyMethodDef functions[] = {
    {"use_errors", sn_errors_use, METH_VARARGS, "use_errors(bad_input, out_of_memory, cancelled, numeric_failure)"},
    {"vertex_areas", sn_function_vertex_areas, METH_VARARGS, "vertex_areas(positions, triangles, areas, monitor=None) -> size of the mesh"},
    {"surface_distance", sn_function_surface_distance, METH_VARARGS,
     "surface_distance(positions, triangles, points, distances, nearest, monitor=None): of points from a surface, and the triangle nearest to each"},
    {"apply_detail", sn_function_apply_detail, METH_VARARGS,
     "apply_detail(cage, fitted, simulated, input or None, \"linear\" or \"phong\", result): the surface of a simulated cage"},
    {"cage_weights", sn_function_cage_weights, METH_VARARGS,
     "cage_weights(cage, areas, follow, cage_follow or None, result, monitor=None): the follow weights of cage vertices as the simulation has them"},
    {"spread_weights", sn_function_spread_weights, METH_VARARGS,
     "spread_weights(cage, areas, weights, inside, monitor=None): from weights of the surface and of cage vertices, NaN where nothing is "
     "painted, to all cage vertices"},
    {"mend_tets", sn_function_mend_tets, METH_VARARGS,
     "mend_tets(positions, tets, leashes, goal, rounds, monitor=None): moves vertices until no tet has a smaller angle"},
    {"regions_of", sn_function_regions_of, METH_VARARGS,
     "regions_of(poses, vertices, triangles, count, compact, rounds, regions, monitor=None) -> how many there are: connected patches"},
    {"crossings", sn_function_crossings, METH_VARARGS,
     "crossings(meshes, own=True, monitor=None) -> bytes: the edges of (points, triangles) that run through triangles"},
    {"pair_distances", sn_function_pair_distances, METH_VARARGS,
     "pair_distances(points, edges, distances): between a point and a triangle, or between two edges"},
    {"pair_times", sn_function_pair_times, METH_VARARGS,
     "pair_times(begin, end, edges, gap, times): up to which such pairs are proved apart on a straight way, 2 for all of it"},
    {"set_threads", sn_function_set_threads, METH_O, "set_threads(count): 0 for as many as there are cores"},
    {"info", sn_function_info, METH_NOARGS, "Versions of the module and of the solver in use"},
    {NULL, NULL, 0, NULL},
};

/* Numbers that both sides reckon with. */
static int add_constants(PyObject *module)
{
    const struct {
        const char *name;
        double value;
    } constants[] = {
        {"SOUND_VOLUME", SN_ENRICH_SOUND_VOLUME},
        {"STEP_ANGLE", SN_ENRICH_STEP_ANGLE},
        {"SURFACE_GROUPS", SN_SURFACE_GROUPS},
        {"TERMS_MOST", SN_TERMS_MOST},
        {"WEIGHT_EXACT", SN_WEIGHT_EXACT},
    };
    for (size_t k = 0; k < sizeof constants / sizeof *constants; k++) {
        PyObject *value = PyFloat_FromDouble(constants[k].value);
        int added = value != NULL ? PyModule_AddObjectRef(module, constants[k].name, value) : -1;
        Py_XDECREF(value);
        if (added < 0) {
            return -1;
        }
    }
    return 0;
}

static int fill_module(PyObject *module)
{
    return PyModule_AddStringConstant(module, "__version__", SN_VERSION) < 0 || sn_monitor_type_add(module) < 0 ||
                   sn_cage_type_add(module) < 0 || sn_fit_type_add(module) < 0 || sn_simulation_type_add(module) < 0 || sn_enrich_type_add(module) < 0 ||
                   sn_tracks_type_add(module) < 0 || sn_rebalance_type_add(module) < 0 || sn_edit_type_add(module) < 0 ||
                   sn_world_type_add(module) < 0 || sn_contact_type_add(module) < 0 || add_constants(module) < 0
               ? -1
               : 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, fill_module},
    {0, NULL},
};

static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "sinew._native",
    .m_doc = "The simulation core of Sinew.",
    .m_size = 0,
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&definition);
}
