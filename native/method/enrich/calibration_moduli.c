/* Moduli of regions, refined together: the shape that a load on a region makes is to swing as fast as Jiggle says, with what drives it in place. */
#include "method/enrich/calibration_parts.h"

#include "base/memory.h"
#include "dynamics/modes.h"
#include "math/linear_solver.h"

#include <math.h>
#include <string.h>

/* Refining changes a modulus by these factors at most. Where the drive alone would swing as fast as Jiggle, flesh still needs its
   stiffness, or it folds. */
#define MODULUS_LOWER 0.5
#define MODULUS_UPPER 4.0

/* The whole body with its drive, only followed vertices fixed. */
typedef struct Driven {
    SnTetElements tets;
    SnWorld world;
    SnLinearSolver *solver;
    const double *drive;
    double *unit;   /* element blocks at unit modulus */
    double *scaled; /* the same with the moduli of the moment */
    double *values; /* A */
    double *shape;  /* unknowns x 3 */
} Driven;

static SnStatus driven_init(SnContext *context, SnCalibrationWork *c, const double *drive, const unsigned char *followed, Driven *driven)
{
    SnStatus status = SN_OK;
    for (size_t v = 0; v < c->mesh->vertex_count; v++) {
        c->fixed[v] = followed[v] || c->vertex_region[v] == SN_CALIBRATION_UNHELD;
    }
    SN_TRY(sn_calibration_world(context, c, &driven->tets, &driven->world));
    const SnWorld *world = &driven->world;
    driven->drive = drive;
    SN_TRY_NEW(context, driven->values, world->assembly.pattern.value_count, double);
    SN_TRY_NEW(context, driven->unit, SN_TET_STIFFNESS * driven->tets.count, double);
    SN_TRY_NEW(context, driven->scaled, SN_TET_STIFFNESS * driven->tets.count, double);
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
    sn_tet_elements_clear(&driven->tets);
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
        int32_t unknown = assembly->unknown[driven->tets.tets[4 * e + i]];
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
static SnStatus refine_region(SnContext *context, SnCalibrationWork *c, Driven *driven, int32_t region)
{
    SnStatus status = SN_OK;
    const SnAssembly *assembly = &driven->world.assembly;
    size_t n = 3 * assembly->unknown_count;
    double inside = 0.0, outside = 0.0, driving = 0.0, inertia = 0.0, first = 0.0;
    for (size_t e = 0; e < driven->tets.count; e++) {
        for (size_t k = 0; k < SN_TET_STIFFNESS; k++) {
            driven->scaled[SN_TET_STIFFNESS * e + k] =
                c->modulus[driven->tets.sources[e]] * driven->unit[SN_TET_STIFFNESS * e + k];
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
        for (size_t e = 0; e < driven->tets.count; e++) {
            size_t source = (size_t)driven->tets.sources[e];
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

SnStatus sn_calibration_refine(SnContext *context, SnCalibrationWork *c, const double *drive, const unsigned char *followed, int32_t regions)
{
    SnStatus status = SN_OK;
    Driven driven = {0};
    SN_TRY(driven_init(context, c, drive, followed, &driven));
    for (int round = 0; round < SN_CALIBRATION_ROUNDS; round++) {
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
