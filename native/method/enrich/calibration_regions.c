/* Regions that swing by themselves, told apart by how they sag, and a first modulus for each. */
#include "method/enrich/calibration_parts.h"

#include "base/memory.h"
#include "dynamics/modes.h"
#include "math/eigensolver.h"
#include "math/linear_solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SOFT_FACTOR 3.0     /* sags this much more than the median: a region of its own */
#define SOFT_RINGS 2
#define SOFT_MIN_VERTICES 6 /* smaller ones are noise of the lattice */
#define RIGID_MODES 6
#define MOST_MODES 24
#define COSTS_NOTHING 1e-12 /* of the mean stiffness over mass: a mode below it is a hinge, not a swing */

SnStatus sn_calibration_sag(SnContext *context, SnCalibrationWork *c)
{
    SnStatus status = SN_OK;
    SnTetElements tets = {0};
    SnWorld world = {0};
    SnLinearSolver *solver = NULL;
    double *values = NULL, *load = NULL;
    SN_TRY(sn_calibration_world(context, c, &tets, &world));
    const SnAssembly *assembly = &world.assembly;
    SN_TRY_NEW(context, values, assembly->pattern.value_count, double);
    SN_TRY(sn_modes_stiffness(context, &world, c->mesh->positions, NULL, values));
    SN_TRY_NEW(context, load, 3 * assembly->unknown_count, double);
    SN_TRY(sn_linear_solver_create(context, &assembly->pattern, &solver));
    SN_TRY(sn_linear_solver_factorize(context, solver, values));
    for (size_t d = 0; d < 3; d++) {
        for (size_t k = 0; k < assembly->unknown_count; k++) {
            for (size_t a = 0; a < 3; a++) {
                load[3 * k + a] = a == d ? c->mass[assembly->vertex[k]] : 0.0;
            }
        }
        SN_TRY(sn_linear_solver_solve(context, solver, load, load));
        for (size_t k = 0; k < assembly->unknown_count; k++) {
            memcpy(c->sag + 9 * (size_t)assembly->vertex[k] + 3 * d, load + 3 * k, 3 * sizeof *load);
        }
    }
    for (size_t k = 0; k < assembly->unknown_count; k++) {
        size_t v = (size_t)assembly->vertex[k];
        double sum = 0.0;
        for (size_t i = 0; i < 9; i++) {
            sum += c->sag[9 * v + i] * c->sag[9 * v + i];
        }
        c->sag_length[v] = sqrt(sum);
    }
cleanup:
    sn_linear_solver_destroy(solver);
    sn_world_clear(&world);
    sn_tet_elements_clear(&tets);
    sn_release(values);
    sn_release(load);
    return status;
}

/* Rayleigh quotient over the vertices with marked[v] != 0. */
static double quotient(const SnCalibrationWork *c)
{
    double along = 0.0, squared = 0.0;
    for (size_t v = 0; v < c->mesh->vertex_count; v++) {
        if (c->marked[v]) {
            const double *y = c->sag + 9 * v;
            along += c->mass[v] * (y[0] + y[4] + y[8]);
            squared += c->mass[v] * c->sag_length[v] * c->sag_length[v];
        }
    }
    return squared > 0.0 ? along / squared : 0.0;
}

/* Strain of the marked vertices' flesh, root of its mean square: at unit modulus its energy is the work of the load. */
static double mean_strain(const SnCalibrationWork *c)
{
    double work = 0.0, volume = 0.0;
    for (size_t v = 0; v < c->mesh->vertex_count; v++) {
        if (c->marked[v]) {
            const double *y = c->sag + 9 * v;
            work += c->mass[v] * (y[0] + y[4] + y[8]) / 3.0;
            volume += c->mass[v] / c->density;
        }
    }
    return volume > 0.0 ? sqrt(fmax(work, 0.0) / volume) : 0.0;
}

/* Labels connected components (through tets) of the vertices with wanted[v] == value. Returns their number. */
static int32_t label_components(SnCalibrationWork *c, const unsigned char *wanted, unsigned char value)
{
    int32_t components = 0;
    for (size_t v = 0; v < c->mesh->vertex_count; v++) {
        c->label[v] = -1;
    }
    for (size_t seed = 0; seed < c->mesh->vertex_count; seed++) {
        if (wanted[seed] != value || c->label[seed] >= 0) {
            continue;
        }
        size_t head = 0, tail = 0;
        c->queue[tail++] = (int32_t)seed;
        c->label[seed] = components;
        while (head < tail) {
            int32_t v = c->queue[head++];
            for (int32_t k = c->topology.vertex_start[v]; k < c->topology.vertex_start[v + 1]; k++) {
                const int32_t *tet = c->mesh->tets + 4 * (c->topology.vertex_source[k] / 4);
                for (int i = 0; i < 4; i++) {
                    if (wanted[tet[i]] == value && c->label[tet[i]] < 0) {
                        c->label[tet[i]] = components;
                        c->queue[tail++] = tet[i];
                    }
                }
            }
        }
        components++;
    }
    return components;
}

/* Grows marked[] by a ring of tets; vertices that may not move stay out. */
static void grow_marked(SnCalibrationWork *c, const unsigned char *held)
{
    size_t found = 0;
    for (size_t v = 0; v < c->mesh->vertex_count; v++) {
        int beside = 0;
        for (int32_t k = c->topology.vertex_start[v]; k < c->topology.vertex_start[v + 1] && !beside; k++) {
            const int32_t *tet = c->mesh->tets + 4 * (c->topology.vertex_source[k] / 4);
            beside = c->marked[tet[0]] || c->marked[tet[1]] || c->marked[tet[2]] || c->marked[tet[3]];
        }
        if (beside && !c->marked[v] && !held[v]) {
            c->queue[found++] = (int32_t)v;
        }
    }
    for (size_t k = 0; k < found; k++) {
        c->marked[c->queue[k]] = 1;
    }
}

/* The marked vertices and the tets at them become a region. */
static void assign_marked(SnCalibrationWork *c, int32_t region, double modulus, double strain)
{
    for (size_t e = 0; e < c->mesh->tet_count; e++) {
        const int32_t *tet = c->mesh->tets + 4 * e;
        if (c->marked[tet[0]] || c->marked[tet[1]] || c->marked[tet[2]] || c->marked[tet[3]]) {
            c->region[e] = region;
            c->modulus[e] = modulus;
            c->strain[e] = strain;
        }
    }
    for (size_t v = 0; v < c->mesh->vertex_count; v++) {
        c->vertex_region[v] = c->marked[v] ? region : c->vertex_region[v];
    }
}

/* First mode of the marked vertices, which nothing holds, that is neither rigid nor that of a hinge. */
static SnStatus free_frequency(SnContext *context, SnCalibrationWork *c, double *frequency)
{
    SnStatus status = SN_OK;
    SnTetElements tets = {0};
    SnWorld world = {0};
    double *values = NULL, *masses = NULL, modes[MOST_MODES], stiffness = 0.0, mass = 0.0;
    for (size_t v = 0; v < c->mesh->vertex_count; v++) {
        c->fixed[v] = !c->marked[v];
    }
    SN_TRY(sn_calibration_world(context, c, &tets, &world));
    const SnBlockPattern *pattern = &world.assembly.pattern;
    SN_TRY_NEW(context, values, pattern->value_count, double);
    SN_TRY(sn_modes_stiffness(context, &world, c->mesh->positions, NULL, values));
    SN_TRY_NEW(context, masses, pattern->size, double);
    for (size_t k = 0; k < pattern->size; k++) {
        masses[k] = c->mass[world.assembly.vertex[k]];
        stiffness += values[pattern->value_start[3 * k]];
        mass += masses[k];
    }
    int mode = RIGID_MODES, most = 3 * pattern->size > MOST_MODES ? MOST_MODES : (int)(3 * pattern->size) - 1;
    SN_TRY(sn_eigensolver_lowest(context, pattern, values, masses, RIGID_MODES + 1, modes, NULL));
    if (modes[mode] <= COSTS_NOTHING * stiffness / mass) {
        SN_TRY(sn_eigensolver_lowest(context, pattern, values, masses, most, modes, NULL));
        while (mode + 1 < most && modes[mode] <= COSTS_NOTHING * stiffness / mass) {
            mode++;
        }
    }
    *frequency = fmax(modes[mode], COSTS_NOTHING * stiffness / mass);
cleanup:
    sn_world_clear(&world);
    sn_tet_elements_clear(&tets);
    sn_release(values);
    sn_release(masses);
    return status;
}

typedef struct MassAt {
    double sag, mass;
} MassAt;

static int compare_sag(const void *left, const void *right)
{
    double a = ((const MassAt *)left)->sag, b = ((const MassAt *)right)->sag;
    return (a > b) - (a < b);
}

static double sag_along(const SnCalibrationWork *c, size_t vertex, size_t direction)
{
    const double *y = c->sag + 9 * vertex + 3 * direction;
    return sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
}

/* Marks in `soft` those of the marked vertices that sag far more than half of their mass does, in any direction of the load: an ear
   gives way across its sheet, however much the head below it nods along. */
static SnStatus find_soft(SnContext *context, const SnCalibrationWork *c, unsigned char *soft)
{
    MassAt *sorted = SN_NEW(context, c->mesh->vertex_count, MassAt);
    if (sorted == NULL) {
        return SN_OUT_OF_MEMORY;
    }
    for (size_t d = 0; d < 3; d++) {
        size_t count = 0;
        double total = 0.0, below = 0.0, median = 0.0;
        for (size_t v = 0; v < c->mesh->vertex_count; v++) {
            if (c->marked[v]) {
                sorted[count++] = (MassAt){sag_along(c, v, d), c->mass[v]};
                total += c->mass[v];
            }
        }
        qsort(sorted, count, sizeof *sorted, compare_sag);
        for (size_t k = 0; k < count && below < 0.5 * total; k++) {
            below += sorted[k].mass;
            median = sorted[k].sag;
        }
        for (size_t v = 0; v < c->mesh->vertex_count; v++) {
            soft[v] |= c->marked[v] && sag_along(c, v, d) > SOFT_FACTOR * median;
        }
    }
    sn_release(sorted);
    return SN_OK;
}

SnStatus sn_calibration_unheld(SnContext *context, SnCalibrationWork *c, const unsigned char *held, unsigned char *whole,
                               double *largest_mass, double *main_frequency, int *unheld)
{
    SnStatus status = SN_OK;
    unsigned char *has_held = NULL;
    int32_t components = label_components(c, whole, 0);
    SN_TRY_NEW(context, has_held, components, unsigned char);
    for (size_t v = 0; v < c->mesh->vertex_count; v++) {
        has_held[c->label[v]] |= held[v];
    }
    for (int32_t component = 0; component < components; component++) {
        if (has_held[component]) {
            continue;
        }
        double frequency = 0.0, mass = 0.0;
        SN_TRY(sn_context_look(context));
        for (size_t v = 0; v < c->mesh->vertex_count; v++) {
            c->marked[v] = c->label[v] == component;
            mass += c->marked[v] ? c->mass[v] : 0.0;
        }
        SN_TRY(free_frequency(context, c, &frequency));
        assign_marked(c, SN_CALIBRATION_UNHELD, 1.0 / frequency, 0.0);
        (*unheld)++;
        if (mass > *largest_mass) {
            *largest_mass = mass;
            *main_frequency = frequency;
        }
    }
    /* from here on these count as held */
    for (size_t v = 0; v < c->mesh->vertex_count; v++) {
        whole[v] = !has_held[c->label[v]];
    }
cleanup:
    sn_release(has_held);
    return status;
}

/* The part of a vertex goes on to those beside it that have none and are not held for good, until all have one. */
static void spread_parts(SnCalibrationWork *c, const unsigned char *out, int32_t *part)
{
    size_t head = 0, tail = 0;
    for (size_t v = 0; v < c->mesh->vertex_count; v++) {
        if (part[v] >= 0) {
            c->queue[tail++] = (int32_t)v;
        }
    }
    while (head < tail) {
        int32_t v = c->queue[head++];
        for (int32_t k = c->topology.vertex_start[v]; k < c->topology.vertex_start[v + 1]; k++) {
            const int32_t *tet = c->mesh->tets + 4 * (c->topology.vertex_source[k] / 4);
            for (int i = 0; i < 4; i++) {
                if (part[tet[i]] < 0 && !out[tet[i]]) {
                    part[tet[i]] = part[v];
                    c->queue[tail++] = tet[i];
                }
            }
        }
    }
}

SnStatus sn_calibration_parts(SnContext *context, SnCalibrationWork *c, const unsigned char *out, unsigned char *soft, double *largest_mass,
                              double *main_frequency, int32_t *parts)
{
    SnStatus status = SN_OK;
    int32_t *part = NULL, *count = NULL, components = label_components(c, c->fixed, 0);
    SN_TRY_NEW(context, part, c->mesh->vertex_count, int32_t);
    SN_TRY_NEW(context, count, components, int32_t);
    memcpy(part, c->label, c->mesh->vertex_count * sizeof *part);
    int32_t most = 0;
    for (size_t v = 0; v < c->mesh->vertex_count; v++) {
        if (part[v] >= 0) {
            most = ++count[part[v]] > count[most] ? part[v] : most;
        }
    }
    for (size_t v = 0; v < c->mesh->vertex_count; v++) {
        int crumb = part[v] >= 0 && part[v] != most && count[part[v]] < SOFT_MIN_VERTICES;
        part[v] = crumb ? -1 : part[v];
    }
    spread_parts(c, out, part);
    for (int32_t component = 0; component < components; component++) {
        double mass = 0.0;
        size_t firm = 0;
        if (component != most && count[component] < SOFT_MIN_VERTICES) {
            continue;
        }
        SN_TRY(sn_context_look(context));
        for (size_t v = 0; v < c->mesh->vertex_count; v++) {
            c->marked[v] = part[v] == component && !c->fixed[v];
            mass += c->marked[v] ? c->mass[v] : 0.0;
        }
        SN_TRY(find_soft(context, c, soft));
        for (size_t v = 0; v < c->mesh->vertex_count; v++) {
            firm += c->marked[v] && !soft[v];
        }
        for (size_t v = 0; v < c->mesh->vertex_count; v++) { /* soft all over: then that is the part */
            soft[v] &= firm > 0 || !c->marked[v];
            c->marked[v] &= !soft[v];
        }
        double frequency = quotient(c), strain = mean_strain(c);
        if (mass >= *largest_mass) {
            *largest_mass = mass;
            *main_frequency = frequency;
        }
        for (size_t v = 0; v < c->mesh->vertex_count; v++) {
            c->marked[v] = part[v] == component;
        }
        assign_marked(c, (*parts)++, 1.0 / frequency, strain);
    }
cleanup:
    sn_release(part);
    sn_release(count);
    return status;
}

SnStatus sn_calibration_soft(SnContext *context, SnCalibrationWork *c, const unsigned char *held, const unsigned char *soft,
                             int32_t *regions)
{
    SnStatus status = SN_OK;
    int32_t *label = NULL;
    int32_t components = label_components(c, soft, 1);
    SN_TRY_NEW(context, label, c->mesh->vertex_count, int32_t);
    memcpy(label, c->label, c->mesh->vertex_count * sizeof *label);
    for (int32_t component = 0; component < components; component++) {
        size_t vertices = 0;
        for (size_t v = 0; v < c->mesh->vertex_count; v++) {
            c->marked[v] = label[v] == component;
            vertices += c->marked[v];
        }
        if (vertices < SOFT_MIN_VERTICES) {
            continue;
        }
        SN_TRY(sn_context_look(context));
        for (int ring = 0; ring < SOFT_RINGS; ring++) {
            grow_marked(c, held);
        }
        for (size_t v = 0; v < c->mesh->vertex_count; v++) {
            c->fixed[v] = !c->marked[v];
        }
        SN_TRY(sn_calibration_sag(context, c));
        double frequency = quotient(c);
        if (frequency > 0.0) {
            assign_marked(c, (*regions)++, 1.0 / frequency, mean_strain(c));
        }
    }
cleanup:
    sn_release(label);
    return status;
}
