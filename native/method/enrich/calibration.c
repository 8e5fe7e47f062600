/* With K₁ at unit modulus and y_d the sag under a unit acceleration along d, the Rayleigh quotient of the sag,
   sum m y·1 / sum m |y|², is close to the lowest frequency squared. It tells the regions apart and gives a first modulus.
   Then the moduli are refined together, with e the modulus over (2πJ)² and t the drive over mass and (2πJ)²: the shape
   z = A⁻¹ M A⁻¹ M 1 that a load on a region makes, A = sum e K₁ + M t, should swing at eigenvalue 1, which gives the modulus of that
   region from  e zᵀK₁z (its tets) + zᵀKz (the others) + zᵀM t z = zᵀM z,  region by region, a few times over. */
#include "method/enrich/calibration_parts.h"

#include "base/memory.h"

#include <string.h>

#define HALF (0.5 - 1e-9) /* what is painted exactly 1/2 counts as held, whatever rounding did to it */
#define STEPS (3 + SN_CALIBRATION_ROUNDS) /* of the progress: what nothing holds, the body, its soft parts, rounds of refining */

SnStatus sn_calibration_world(SnContext *context, const SnCalibration *c, SnWorld *world)
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

SnStatus sn_calibration_run(SnContext *context, const SnTetMesh *mesh, double poisson, double density, const double *firmness,
                            const double *mass, const double *weights, const double *drive, const unsigned char *followed,
                            double *unit_frequency, double *unit_strain, double *main_frequency, int *region_count)
{
    SnStatus status = SN_OK;
    size_t n = mesh->vertex_count;
    SnCalibration c = {.mesh = mesh, .mass = mass, .poisson = poisson, .density = density, .firmness = firmness, .modulus = unit_frequency,
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
    SN_TRY(sn_calibration_unheld(context, &c, held, whole, &largest_mass, main_frequency, &unheld));

    for (size_t v = 0; v < n; v++) {
        c.fixed[v] = held[v] || whole[v];
        moving_mass += c.fixed[v] ? 0.0 : mass[v];
    }
    if (moving_mass > 0.0) {
        SN_TRY(sn_context_advance(context, 1));
        SN_TRY(sn_calibration_sag(context, &c));
        SN_TRY(sn_calibration_parts(context, &c, whole, soft, &largest_mass, main_frequency, &regions));
        SN_TRY(sn_context_advance(context, 2));
        SN_TRY(sn_calibration_soft(context, &c, held, soft, &regions));
        memcpy(c.first_modulus, c.modulus, mesh->tet_count * sizeof *c.modulus);
        SN_TRY(sn_calibration_refine(context, &c, drive, followed, regions));
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
