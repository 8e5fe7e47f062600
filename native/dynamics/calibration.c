/* With K₁ at unit modulus and y_d the sag under a unit acceleration along d, the Rayleigh quotient of the sag,
   sum m y·1 / sum m |y|², is close to the lowest frequency squared. It tells the regions apart and gives a first modulus.
   Then, with e the modulus over (2πJ)² and t the drive over mass and (2πJ)², A = e K₁ + M t should have its lowest eigenvalue at 1:
   one inverse iteration z = A⁻¹ M y sharpens the shape, and e follows from  e zᵀK₁z + zᵀM t z = zᵀM z,  a few times over. */
#include "dynamics/calibration.h"

#include "base/memory.h"
#include "math/eigensolver.h"
#include "math/linear_solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SOFT_FACTOR 3.0     /* sags this much more than the median: a region of its own */
#define SOFT_RINGS 2
#define SOFT_MIN_VERTICES 6 /* smaller ones are noise of the lattice */
#define MODULUS_ROUNDS 3
#define MODULUS_RANGE 5.0   /* the drive may lower the modulus by this factor at most: it must not take over altogether */

typedef struct Calibration {
    const SnTetMesh *mesh;
    const double *mass;
    const double *drive;
    const unsigned char *followed;
    double poisson;
    double *sag;            /* vertices x 3 directions x 3 components */
    double *sag_length;     /* vertices */
    int32_t *label;         /* vertices: component, or -1 */
    int32_t *queue;         /* vertices */
    unsigned char *fixed;   /* vertices */
    unsigned char *marked;  /* vertices */
    SnAssembly topology;    /* vertex -> tets of the whole mesh */
    double *frequency;      /* tets: output */
} Calibration;

/* The world of unit modulus in which only vertices with fixed[v] == 0 move, and its stiffness at rest. */
static SnStatus unit_stiffness(SnContext *context, Calibration *c, SnWorld *world, double **values)
{
    SnStatus status = SN_OK;
    double *young = NULL, *gradients = NULL, *stiffness = NULL;
    *values = NULL;
    SN_TRY_NEW(context, young, c->mesh->tet_count, double);
    for (size_t e = 0; e < c->mesh->tet_count; e++) {
        young[e] = 1.0;
    }
    SN_TRY(sn_world_init(context, c->mesh, &sn_energy_neo_hookean, young, c->poisson, c->mass, c->fixed, world));
    SN_TRY_NEW(context, gradients, 12 * world->tet_count, double);
    SN_TRY_NEW(context, stiffness, SN_TET_STIFFNESS * world->tet_count, double);
    SN_TRY_NEW(context, *values, world->assembly.pattern.value_count, double);
    sn_tet_elements_derivatives(&world->elements, world->elements.inverse_rest, c->mesh->positions, gradients, stiffness);
    sn_assembly_gather_stiffness(&world->assembly, stiffness, *values);
cleanup:
    sn_release(young);
    sn_release(gradients);
    sn_release(stiffness);
    return status;
}

/* Fills sag and sag_length of the moving vertices. */
static SnStatus solve_sag(SnContext *context, Calibration *c)
{
    SnStatus status = SN_OK;
    SnWorld world = {0};
    SnLinearSolver *solver = NULL;
    double *values = NULL, *load = NULL;
    SN_TRY(unit_stiffness(context, c, &world, &values));
    const SnAssembly *assembly = &world.assembly;
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
    sn_release(values);
    sn_release(load);
    return status;
}

/* Rayleigh quotient over the vertices with marked[v] != 0. */
static double quotient(const Calibration *c)
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

/* Modulus over (2πJ)² with which the marked vertices, driven, swing at J; `first` is the one without drive. Everything that is not
   marked is held. */
static SnStatus driven_modulus(SnContext *context, Calibration *c, double first, double *modulus)
{
    SnStatus status = SN_OK;
    SnWorld world = {0};
    SnLinearSolver *solver = NULL;
    double *unit = NULL, *values = NULL, *sag = NULL, *shape = NULL;
    *modulus = first;
    for (size_t v = 0; v < c->mesh->vertex_count; v++) {
        c->fixed[v] = !c->marked[v] || c->followed[v];
    }
    SN_TRY(unit_stiffness(context, c, &world, &unit));
    const SnAssembly *assembly = &world.assembly;
    const SnBlockPattern *pattern = &assembly->pattern;
    size_t n = 3 * assembly->unknown_count;
    SN_TRY_NEW(context, values, pattern->value_count, double);
    SN_TRY_NEW(context, sag, n, double);
    SN_TRY_NEW(context, shape, n, double);
    SN_TRY(sn_linear_solver_create(context, pattern, &solver));
    for (int round = 0; round < MODULUS_ROUNDS; round++) {
        double stiffness = 0.0, driven = 0.0, inertia = 0.0;
        for (size_t k = 0; k < pattern->value_count; k++) {
            values[k] = *modulus * unit[k];
        }
        for (size_t k = 0; k < n; k++) {
            size_t v = (size_t)assembly->vertex[k / 3];
            values[pattern->value_start[k]] += c->mass[v] * c->drive[v];
        }
        SN_TRY(sn_linear_solver_factorize(context, solver, values));
        for (size_t d = 0; d < 3; d++) {
            for (size_t k = 0; k < n; k++) {
                sag[k] = k % 3 == d ? c->mass[assembly->vertex[k / 3]] : 0.0;
            }
            SN_TRY(sn_linear_solver_solve(context, solver, sag, sag));
            for (size_t k = 0; k < n; k++) {
                shape[k] = c->mass[assembly->vertex[k / 3]] * sag[k];
            }
            SN_TRY(sn_linear_solver_solve(context, solver, shape, shape));
            for (size_t k = 0; k < n; k++) {
                size_t v = (size_t)assembly->vertex[k / 3];
                double pushed = c->mass[v] * c->drive[v] * shape[k] * shape[k];
                driven += pushed;
                stiffness += c->mass[v] * sag[k] * shape[k] - pushed; /* zᵀ A z = zᵀ M y */
                inertia += c->mass[v] * shape[k] * shape[k];
            }
        }
        double found = stiffness > 0.0 ? *modulus * (inertia - driven) / stiffness : first;
        *modulus = fmin(fmax(found, first / MODULUS_RANGE), first * MODULUS_RANGE);
    }
cleanup:
    sn_linear_solver_destroy(solver);
    sn_world_clear(&world);
    sn_release(unit);
    sn_release(values);
    sn_release(sag);
    sn_release(shape);
    return status;
}

/* Labels connected components (through tets) of the vertices with wanted[v] == value. Returns their number. */
static int32_t label_components(Calibration *c, const unsigned char *wanted, unsigned char value)
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
static void grow_marked(Calibration *c, const unsigned char *held)
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

static void assign_marked(Calibration *c, double frequency)
{
    for (size_t e = 0; e < c->mesh->tet_count; e++) {
        const int32_t *tet = c->mesh->tets + 4 * e;
        if (c->marked[tet[0]] || c->marked[tet[1]] || c->marked[tet[2]] || c->marked[tet[3]]) {
            c->frequency[e] = frequency;
        }
    }
}

/* First non-rigid mode of the marked vertices, which nothing holds. */
static SnStatus free_frequency(SnContext *context, Calibration *c, double *frequency)
{
    SnStatus status = SN_OK;
    SnWorld world = {0};
    double *values = NULL, *masses = NULL, modes[7];
    for (size_t v = 0; v < c->mesh->vertex_count; v++) {
        c->fixed[v] = !c->marked[v];
    }
    SN_TRY(unit_stiffness(context, c, &world, &values));
    SN_TRY_NEW(context, masses, world.assembly.unknown_count, double);
    for (size_t k = 0; k < world.assembly.unknown_count; k++) {
        masses[k] = c->mass[world.assembly.vertex[k]];
    }
    SN_TRY(sn_eigensolver_lowest(context, &world.assembly.pattern, values, masses, 7, modes, NULL));
    *frequency = modes[6];
cleanup:
    sn_world_clear(&world);
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

static double sag_along(const Calibration *c, size_t vertex, size_t direction)
{
    const double *y = c->sag + 9 * vertex + 3 * direction;
    return sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
}

/* Marks in `soft` the moving vertices that sag far more than half of the moving mass does, in any direction of the load: an ear
   gives way across its sheet, however much the head below it nods along. */
static SnStatus find_soft(SnContext *context, const Calibration *c, unsigned char *soft)
{
    MassAt *sorted = SN_NEW(context, c->mesh->vertex_count, MassAt);
    if (sorted == NULL) {
        return SN_OUT_OF_MEMORY;
    }
    for (size_t d = 0; d < 3; d++) {
        size_t count = 0;
        double total = 0.0, below = 0.0, median = 0.0;
        for (size_t v = 0; v < c->mesh->vertex_count; v++) {
            if (!c->fixed[v]) {
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
            soft[v] |= !c->fixed[v] && sag_along(c, v, d) > SOFT_FACTOR * median;
        }
    }
    sn_release(sorted);
    return SN_OK;
}

/* Components that nothing holds: marks them one by one, finds their first mode, and takes them out of `fixed`'s motion. */
static SnStatus calibrate_unheld(SnContext *context, Calibration *c, const unsigned char *held, unsigned char *whole,
                                 double *largest_mass, double *main_frequency, int *regions)
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
        for (size_t v = 0; v < c->mesh->vertex_count; v++) {
            c->marked[v] = c->label[v] == component;
            mass += c->marked[v] ? c->mass[v] : 0.0;
        }
        SN_TRY(free_frequency(context, c, &frequency));
        assign_marked(c, frequency);
        (*regions)++;
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

/* The soft parts: each sags far more than the median and is calibrated with the rest held. `soft[v]` marks them. */
static SnStatus calibrate_soft(SnContext *context, Calibration *c, const unsigned char *held, const unsigned char *soft,
                               int *regions)
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
        for (int ring = 0; ring < SOFT_RINGS; ring++) {
            grow_marked(c, held);
        }
        for (size_t v = 0; v < c->mesh->vertex_count; v++) {
            c->fixed[v] = !c->marked[v];
        }
        SN_TRY(solve_sag(context, c));
        double frequency = quotient(c), modulus;
        if (frequency > 0.0) {
            SN_TRY(driven_modulus(context, c, 1.0 / frequency, &modulus));
            assign_marked(c, 1.0 / modulus);
            (*regions)++;
        }
    }
cleanup:
    sn_release(label);
    return status;
}

SnStatus sn_calibration_run(SnContext *context, const SnTetMesh *mesh, double poisson, const double *mass, const double *weights,
                            const double *drive, const unsigned char *followed, double *unit_frequency,
                            double *main_frequency, int *region_count)
{
    SnStatus status = SN_OK;
    size_t n = mesh->vertex_count;
    Calibration c = {
        .mesh = mesh, .mass = mass, .drive = drive, .followed = followed, .poisson = poisson, .frequency = unit_frequency};
    unsigned char *held = NULL, *whole = NULL, *soft = NULL;
    double largest_mass = 0.0, moving_mass = 0.0, modulus;
    *main_frequency = 1.0;
    *region_count = 0;
    SN_TRY_NEW(context, c.sag, 9 * n, double);
    SN_TRY_NEW(context, c.sag_length, n, double);
    SN_TRY_NEW(context, c.label, n, int32_t);
    SN_TRY_NEW(context, c.queue, n, int32_t);
    SN_TRY_NEW(context, c.fixed, n, unsigned char);
    SN_TRY_NEW(context, c.marked, n, unsigned char);
    SN_TRY_NEW(context, held, n, unsigned char);
    SN_TRY_NEW(context, whole, n, unsigned char);
    SN_TRY_NEW(context, soft, n, unsigned char);
    for (size_t v = 0; v < n; v++) {
        held[v] = weights[v] >= 0.5;
    }
    SN_TRY(sn_assembly_init(context, n, mesh->tet_count, mesh->tets, whole, &c.topology));
    SN_TRY(calibrate_unheld(context, &c, held, whole, &largest_mass, main_frequency, region_count));

    for (size_t v = 0; v < n; v++) {
        c.fixed[v] = held[v] || whole[v];
        moving_mass += c.fixed[v] ? 0.0 : mass[v];
    }
    if (moving_mass > 0.0) {
        SN_TRY(solve_sag(context, &c));
        SN_TRY(find_soft(context, &c, soft));
        for (size_t v = 0; v < n; v++) {
            c.marked[v] = !c.fixed[v] && !soft[v];
        }
        double frequency = quotient(&c);
        if (moving_mass >= largest_mass) {
            *main_frequency = frequency;
        }
        for (size_t v = 0; v < n; v++) {
            c.marked[v] = !whole[v] && !soft[v];
        }
        SN_TRY(driven_modulus(context, &c, 1.0 / frequency, &modulus));
        for (size_t v = 0; v < n; v++) {
            c.marked[v] = !whole[v];
        }
        assign_marked(&c, 1.0 / modulus);
        (*region_count)++;
        SN_TRY(calibrate_soft(context, &c, held, soft, region_count));
    }
    /* tets that cannot move take the main value: a modulus that is never felt */
    for (size_t e = 0; e < mesh->tet_count; e++) {
        if (!(unit_frequency[e] > 0.0)) {
            unit_frequency[e] = *main_frequency;
        }
    }
cleanup:
    sn_assembly_clear(&c.topology);
    sn_release(c.sag);
    sn_release(c.sag_length);
    sn_release(c.label);
    sn_release(c.queue);
    sn_release(c.fixed);
    sn_release(c.marked);
    sn_release(held);
    sn_release(whole);
    sn_release(soft);
    return status;
}
