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

SnStatus sn_calibration_world(SnContext *context, const SnCalibrationWork *c, SnTetElements *tets, SnWorld *world)
{
    SnStatus status = SN_OK;
    SN_TRY(sn_tet_elements_init_moving(context, c->mesh, c->fixed, &sn_density_neo_hookean, tets));
    for (size_t e = 0; e < tets->count; e++) {
        sn_tet_elements_set_material(tets, e, c->firmness != NULL ? c->firmness[tets->sources[e]] : 1.0, c->poisson);
    }
    SnTerm term = sn_tet_elements_term(tets);
    SnWorldDef def = {.vertex_count = c->mesh->vertex_count, .mass = c->mass, .fixed = c->fixed, .term_count = 1, .terms = &term};
    SN_TRY(sn_world_init(context, &def, world));
cleanup:
    return status;
}

/* Which tets make which region, and the modulus of each. */
static SnStatus find_moduli(SnContext *context, const SnCalibrationDef *def, SnCalibrationWork *c, SnCalibration *found)
{
    SnStatus status = SN_OK;
    size_t n = def->mesh->vertex_count;
    unsigned char *held = NULL, *whole = NULL, *soft = NULL;
    double largest_mass = 0.0, moving_mass = 0.0;
    int32_t regions = 0;
    SN_TRY_NEW(context, held, n, unsigned char);
    SN_TRY_NEW(context, whole, n, unsigned char);
    SN_TRY_NEW(context, soft, n, unsigned char);
    for (size_t v = 0; v < n; v++) {
        held[v] = def->weights[v] >= HALF;
    }
    SN_TRY(sn_assembly_init(context, n, 1, &(SnStencils){def->mesh->tet_count, 4, def->mesh->tets, 0}, whole, &c->topology));
    SN_TRY(sn_calibration_unheld(context, c, held, whole, &largest_mass, &found->main_frequency, &found->region_count));
    for (size_t v = 0; v < n; v++) {
        c->fixed[v] = held[v] || whole[v];
        moving_mass += c->fixed[v] ? 0.0 : def->mass[v];
    }
    if (moving_mass > 0.0) {
        SN_TRY(sn_context_advance(context, 1));
        SN_TRY(sn_calibration_sag(context, c));
        SN_TRY(sn_calibration_parts(context, c, whole, soft, &largest_mass, &found->main_frequency, &regions));
        SN_TRY(sn_context_advance(context, 2));
        SN_TRY(sn_calibration_soft(context, c, held, soft, &regions));
        memcpy(c->first_modulus, c->modulus, def->mesh->tet_count * sizeof *c->modulus);
        SN_TRY(sn_calibration_refine(context, c, def->drive, def->followed, regions));
    }
    found->region_count += regions;
cleanup:
    sn_release(held);
    sn_release(whole);
    sn_release(soft);
    return status;
}

SnStatus sn_calibration_run(SnContext *context, const SnCalibrationDef *def, SnCalibration *calibration)
{
    SnStatus status = SN_OK;
    size_t n = def->mesh->vertex_count, tets = def->mesh->tet_count;
    SnCalibrationWork c = {.mesh = def->mesh, .mass = def->mass, .poisson = def->poisson, .density = def->density, .firmness = def->firmness};
    *calibration = (SnCalibration){.main_frequency = 1.0};
    sn_context_stage(context, "Tuning the flesh", STEPS);
    SN_TRY_NEW(context, calibration->squared_frequency, tets, double);
    SN_TRY_NEW(context, calibration->strain, tets, double);
    c.strain = calibration->strain;
    SN_TRY_NEW(context, c.sag, 9 * n, double);
    SN_TRY_NEW(context, c.sag_length, n, double);
    SN_TRY_NEW(context, c.label, n, int32_t);
    SN_TRY_NEW(context, c.queue, n, int32_t);
    SN_TRY_NEW(context, c.fixed, n, unsigned char);
    SN_TRY_NEW(context, c.marked, n, unsigned char);
    SN_TRY_NEW(context, c.region, tets, int32_t);
    SN_TRY_NEW(context, c.vertex_region, n, int32_t);
    SN_TRY_NEW(context, c.modulus, tets, double);
    SN_TRY_NEW(context, c.first_modulus, tets, double);
    SN_TRY(find_moduli(context, def, &c, calibration));
    for (size_t e = 0; e < tets; e++) {
        /* tets that cannot move take the main value: a modulus that is never felt */
        calibration->squared_frequency[e] = c.modulus[e] > 0.0 ? 1.0 / c.modulus[e] : calibration->main_frequency;
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
    sn_release(c.modulus);
    sn_release(c.first_modulus);
    if (status != SN_OK) {
        sn_calibration_clear(calibration);
    }
    return status;
}

void sn_calibration_clear(SnCalibration *calibration)
{
    sn_release(calibration->squared_frequency);
    sn_release(calibration->strain);
    *calibration = (SnCalibration){0};
}
