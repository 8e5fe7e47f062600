/* With K₁ at unit modulus and y_d the sag under a unit acceleration along d, the Rayleigh quotient of the sag,
   sum m y·1 / sum m |y|², is close to the lowest frequency squared. It tells the regions apart and gives a first modulus.
   Then the moduli are refined together, with e the modulus over (2πJ)² and t the drive over mass and (2πJ)²: the shape
   z = A⁻¹ M A⁻¹ M 1 that a load on a region makes, A = sum e K₁ + M t, should swing at eigenvalue 1, which gives the modulus of that
   region from  e zᵀK₁z (its tets) + zᵀKz (the others) + zᵀM t z = zᵀM z,  region by region, a few times over. */
#include "method/enrich/calibration.h"

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
#define MODULUS_ROUNDS 3
#define HALF (0.5 - 1e-9) /* what is painted exactly 1/2 counts as held, whatever rounding did to it */
/* Refining changes a modulus by these factors at most. Where the drive alone would swing as fast as Jiggle, flesh still needs its
   stiffness, or it folds. */
#define MODULUS_LOWER 0.5
#define MODULUS_UPPER 4.0
#define RIGID_MODES 6
#define MOST_MODES 24
#define COSTS_NOTHING 1e-12 /* of the mean stiffness over mass: a mode below it is a hinge, not a swing */
#define STEPS (3 + MODULUS_ROUNDS) /* of the progress: what nothing holds, the body, its soft parts, rounds of refining */
#define UNHELD (-1)

typedef struct Calibration {
    const SnTetMesh *mesh;
    const double *mass;
    double poisson, density;
    const double *firmness; /* tets, or null: factor of the modulus, within a region too */
    double *sag;            /* vertices x 3 directions x 3 components */
    double *sag_length;     /* vertices */
    int32_t *label;         /* vertices: component, or -1 */
    int32_t *queue;         /* vertices */
    unsigned char *fixed;   /* vertices */
    unsigned char *marked;  /* vertices */
    SnAssembly topology;    /* vertex -> tets of the whole mesh */
    int32_t *region;        /* tets: UNHELD, then one number for each part that hangs together, then for each soft one on them */
    int32_t *vertex_region; /* vertices, the same */
    double *modulus;        /* tets: Young's modulus over (2πJ)² */
    double *strain;         /* tets: of its region, at unit modulus, under a unit acceleration */
    double *first_modulus;  /* tets: the same before refining */
} Calibration;

/* The world of unit modulus in which only vertices with fixed[v] == 0 move. */
static SnStatus unit_world(SnContext *context, const Calibration *c, SnWorld *world)
{
    SnStatus status = SN_OK;
    double *young = NULL;
    SN_TRY_NEW(context, young, c->mesh->tet_count, double);
    for (size_t e = 0; e < c->mesh->tet_count; e++) {
        young[e] = c->firmness != NULL ? c->firmness[e] : 1.0;
    }
    SnWorldDef def = {.vertex_count = c->mesh->vertex_count,
                      .mass = c->mass,
                      .fixed = c->fixed,
                      .mesh = c->mesh,
                      .energy = &sn_density_neo_hookean,
                      .young = young,
                      .poisson = c->poisson};
    SN_TRY(sn_world_init(context, &def, world));
cleanup:
    sn_release(young);
    return status;
}

/* Fills sag and sag_length of the moving vertices. */
static SnStatus solve_sag(SnContext *context, Calibration *c)
{
    SnStatus status = SN_OK;
    SnWorld world = {0};
    SnLinearSolver *solver = NULL;
    double *values = NULL, *load = NULL;
    SN_TRY(unit_world(context, c, &world));
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

/* Strain of the marked vertices' flesh, root of its mean square: at unit modulus its energy is the work of the load. */
static double mean_strain(const Calibration *c)
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

/* The marked vertices and the tets at them become a region. */
static void assign_marked(Calibration *c, int32_t region, double modulus, double strain)
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
static SnStatus free_frequency(SnContext *context, Calibration *c, double *frequency)
{
    SnStatus status = SN_OK;
    SnWorld world = {0};
    double *values = NULL, *masses = NULL, modes[MOST_MODES], stiffness = 0.0, mass = 0.0;
    for (size_t v = 0; v < c->mesh->vertex_count; v++) {
        c->fixed[v] = !c->marked[v];
    }
    SN_TRY(unit_world(context, c, &world));
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

/* Marks in `soft` those of the marked vertices that sag far more than half of their mass does, in any direction of the load: an ear
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

/* Components that nothing holds: marks them one by one, finds their first mode, and takes them out of `fixed`'s motion. */
static SnStatus calibrate_unheld(SnContext *context, Calibration *c, const unsigned char *held, unsigned char *whole,
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
        assign_marked(c, UNHELD, 1.0 / frequency, 0.0);
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
static void spread_parts(Calibration *c, const unsigned char *out, int32_t *part)
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

/* The parts of what moves that hang together, each by its own sag: an ear is as lively as the tail, however much softer that would be
   of the same flesh. What is less than a part is of that beside it. `soft` receives what sags far more than the rest of its part. */
static SnStatus calibrate_parts(SnContext *context, Calibration *c, const unsigned char *out, unsigned char *soft, double *largest_mass,
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

/* The soft parts: each sags far more than the median and is calibrated with the rest held. `soft[v]` marks them. */
static SnStatus calibrate_soft(SnContext *context, Calibration *c, const unsigned char *held, const unsigned char *soft,
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
        SN_TRY(solve_sag(context, c));
        double frequency = quotient(c);
        if (frequency > 0.0) {
            assign_marked(c, (*regions)++, 1.0 / frequency, mean_strain(c));
        }
    }
cleanup:
    sn_release(label);
    return status;
}

/* The whole body with its drive, only followed vertices fixed. */
typedef struct Driven {
    SnWorld world;
    SnLinearSolver *solver;
    const double *drive;
    double *unit;   /* element blocks at unit modulus */
    double *scaled; /* the same with the moduli of the moment */
    double *values; /* A */
    double *shape;  /* unknowns x 3 */
} Driven;

static SnStatus driven_init(SnContext *context, Calibration *c, const double *drive, const unsigned char *followed, Driven *driven)
{
    SnStatus status = SN_OK;
    for (size_t v = 0; v < c->mesh->vertex_count; v++) {
        c->fixed[v] = followed[v] || c->vertex_region[v] == UNHELD;
    }
    SN_TRY(unit_world(context, c, &driven->world));
    const SnWorld *world = &driven->world;
    driven->drive = drive;
    SN_TRY_NEW(context, driven->values, world->assembly.pattern.value_count, double);
    SN_TRY_NEW(context, driven->unit, SN_TET_STIFFNESS * world->tet_count, double);
    SN_TRY_NEW(context, driven->scaled, SN_TET_STIFFNESS * world->tet_count, double);
    SN_TRY_NEW(context, driven->shape, 3 * world->assembly.unknown_count, double);
    SN_TRY(sn_modes_stiffness(context, world, c->mesh->positions, driven->unit, driven->values));
    SN_TRY(sn_linear_solver_create(context, &world->assembly.pattern, &driven->solver));
cleanup:
    return status;
}

static void driven_clear(Driven *driven)
{
    sn_linear_solver_destroy(driven->solver);
    sn_world_clear(&driven->world);
    sn_release(driven->unit);
    sn_release(driven->scaled);
    sn_release(driven->values);
    sn_release(driven->shape);
}

/* zᵀ K₁ z of one tet for the shape z. */
static double element_energy(const Driven *driven, size_t e)
{
    const SnAssembly *assembly = &driven->world.assembly;
    const double *block = driven->unit + SN_TET_STIFFNESS * e;
    double corner[4][3] = {{0}}, sum = 0.0;
    for (size_t i = 0; i < 4; i++) {
        int32_t unknown = assembly->unknown[driven->world.tets[4 * e + i]];
        if (unknown >= 0) {
            memcpy(corner[i], driven->shape + 3 * (size_t)unknown, sizeof corner[i]);
        }
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j <= i; j++, block += 9) {
            double term = 0.0;
            for (int k = 0; k < 9; k++) {
                term += corner[i][k / 3] * block[k] * corner[j][k % 3];
            }
            sum += i == j ? term : 2.0 * term;
        }
    }
    return sum;
}

/* A new modulus for one region, with all others as they are. */
static SnStatus refine_region(SnContext *context, Calibration *c, Driven *driven, int32_t region)
{
    SnStatus status = SN_OK;
    const SnWorld *world = &driven->world;
    const SnAssembly *assembly = &world->assembly;
    size_t n = 3 * assembly->unknown_count;
    double inside = 0.0, outside = 0.0, driving = 0.0, inertia = 0.0, first = 0.0;
    for (size_t e = 0; e < world->tet_count; e++) {
        for (size_t k = 0; k < SN_TET_STIFFNESS; k++) {
            driven->scaled[SN_TET_STIFFNESS * e + k] =
                c->modulus[world->source_tets[e]] * driven->unit[SN_TET_STIFFNESS * e + k];
        }
    }
    sn_assembly_gather_stiffness(assembly, driven->scaled, driven->values);
    for (size_t k = 0; k < n; k++) {
        size_t v = (size_t)assembly->vertex[k / 3];
        driven->values[assembly->pattern.value_start[k]] += c->mass[v] * driven->drive[v];
    }
    SN_TRY(sn_linear_solver_factorize(context, driven->solver, driven->values));
    for (size_t d = 0; d < 3; d++) {
        for (size_t k = 0; k < n; k++) {
            size_t v = (size_t)assembly->vertex[k / 3];
            driven->shape[k] = k % 3 == d && c->vertex_region[v] == region ? c->mass[v] : 0.0;
        }
        SN_TRY(sn_linear_solver_solve(context, driven->solver, driven->shape, driven->shape));
        for (size_t k = 0; k < n; k++) {
            driven->shape[k] *= c->mass[assembly->vertex[k / 3]];
        }
        SN_TRY(sn_linear_solver_solve(context, driven->solver, driven->shape, driven->shape));
        for (size_t k = 0; k < n; k++) {
            size_t v = (size_t)assembly->vertex[k / 3];
            double moved = c->mass[v] * driven->shape[k] * driven->shape[k];
            inertia += moved;
            driving += moved * driven->drive[v];
        }
        for (size_t e = 0; e < world->tet_count; e++) {
            size_t source = (size_t)world->source_tets[e];
            double energy = element_energy(driven, e);
            if (c->region[source] == region) {
                inside += energy;
                first = c->first_modulus[source];
            } else {
                outside += c->modulus[source] * energy;
            }
        }
    }
    if (inside > 0.0) {
        double found = (inertia - driving - outside) / inside;
        double modulus = fmin(fmax(found, first * MODULUS_LOWER), first * MODULUS_UPPER);
        for (size_t e = 0; e < c->mesh->tet_count; e++) {
            c->modulus[e] = c->region[e] == region ? modulus : c->modulus[e];
        }
    }
cleanup:
    return status;
}

static SnStatus refine(SnContext *context, Calibration *c, const double *drive, const unsigned char *followed, int32_t regions)
{
    SnStatus status = SN_OK;
    Driven driven = {0};
    SN_TRY(driven_init(context, c, drive, followed, &driven));
    for (int round = 0; round < MODULUS_ROUNDS; round++) {
        SN_TRY(sn_context_advance(context, 3 + round));
        for (int32_t region = 0; region < regions; region++) {
            SN_TRY(sn_context_look(context));
            SN_TRY(refine_region(context, c, &driven, region));
        }
    }
cleanup:
    driven_clear(&driven);
    return status;
}

SnStatus sn_calibration_run(SnContext *context, const SnTetMesh *mesh, double poisson, double density, const double *firmness,
                            const double *mass, const double *weights, const double *drive, const unsigned char *followed,
                            double *unit_frequency, double *unit_strain, double *main_frequency, int *region_count)
{
    SnStatus status = SN_OK;
    size_t n = mesh->vertex_count;
    Calibration c = {.mesh = mesh, .mass = mass, .poisson = poisson, .density = density, .firmness = firmness, .modulus = unit_frequency,
                     .strain = unit_strain};
    unsigned char *held = NULL, *whole = NULL, *soft = NULL;
    double largest_mass = 0.0, moving_mass = 0.0;
    int unheld = 0;
    int32_t regions = 0;
    *main_frequency = 1.0;
    sn_context_stage(context, "Tuning the flesh", STEPS);
    SN_TRY_NEW(context, c.sag, 9 * n, double);
    SN_TRY_NEW(context, c.sag_length, n, double);
    SN_TRY_NEW(context, c.label, n, int32_t);
    SN_TRY_NEW(context, c.queue, n, int32_t);
    SN_TRY_NEW(context, c.fixed, n, unsigned char);
    SN_TRY_NEW(context, c.marked, n, unsigned char);
    SN_TRY_NEW(context, c.region, mesh->tet_count, int32_t);
    SN_TRY_NEW(context, c.vertex_region, n, int32_t);
    SN_TRY_NEW(context, c.first_modulus, mesh->tet_count, double);
    SN_TRY_NEW(context, held, n, unsigned char);
    SN_TRY_NEW(context, whole, n, unsigned char);
    SN_TRY_NEW(context, soft, n, unsigned char);
    for (size_t v = 0; v < n; v++) {
        held[v] = weights[v] >= HALF;
    }
    SN_TRY(sn_assembly_init(context, n, 1, &(SnStencils){mesh->tet_count, 4, mesh->tets, 0}, whole, &c.topology));
    SN_TRY(calibrate_unheld(context, &c, held, whole, &largest_mass, main_frequency, &unheld));

    for (size_t v = 0; v < n; v++) {
        c.fixed[v] = held[v] || whole[v];
        moving_mass += c.fixed[v] ? 0.0 : mass[v];
    }
    if (moving_mass > 0.0) {
        SN_TRY(sn_context_advance(context, 1));
        SN_TRY(solve_sag(context, &c));
        SN_TRY(calibrate_parts(context, &c, whole, soft, &largest_mass, main_frequency, &regions));
        SN_TRY(sn_context_advance(context, 2));
        SN_TRY(calibrate_soft(context, &c, held, soft, &regions));
        memcpy(c.first_modulus, c.modulus, mesh->tet_count * sizeof *c.modulus);
        SN_TRY(refine(context, &c, drive, followed, regions));
    }
    *region_count = unheld + regions;
    for (size_t e = 0; e < mesh->tet_count; e++) {
        /* tets that cannot move take the main value: a modulus that is never felt */
        unit_frequency[e] = c.modulus[e] > 0.0 ? 1.0 / c.modulus[e] : *main_frequency;
    }
cleanup:
    sn_assembly_clear(&c.topology);
    sn_release(c.sag);
    sn_release(c.sag_length);
    sn_release(c.label);
    sn_release(c.queue);
    sn_release(c.fixed);
    sn_release(c.marked);
    sn_release(c.region);
    sn_release(c.vertex_region);
    sn_release(c.first_modulus);
    sn_release(held);
    sn_release(whole);
    sn_release(soft);
    return status;
}
