#include "method/enrich/flesh.h"

#include "base/memory.h"
#include "dynamics/weights.h"
#include "math/mat3.h"
#include "method/enrich/calibration.h"
#include "method/enrich/transition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STRONGEST 0.999 /* driven vertices stay below this: tan grows without bound */
/* Flesh that is thin on what holds it would have to be so soft for Jiggle that it folds: an acceleration as lively characters have
   (1/s², times the body's size) may strain it by so much as the settings say. */
#define TYPICAL_PUSH 5.0
/* Flesh that is made firmer for that answers a push within a frame, which pops: it is calmed by this power of how much firmer it is, so
   that its answer takes about as long as a swing begins. */
#define CALMED 0.6
#define MOST_CALMED 10.0 /* times as firm: above, the answer is too small to be seen */
#define SOFTEST_SHARE 0.05 /* of the flesh: so much may give way more than Jiggle says, where all of it is one material */
#define BONE 1000.0     /* times as stiff as the flesh around it */
/* What is thinner than its cells bends too stiffly, for a tet has one strain only: by 1 + LOCKING (cell / thickness)², as measured on
   sheets and rods of the lattice. */
#define LOCKING 0.7

SnStatus sn_flesh_weights(SnContext *context, const SnCagedBody *body, const SnEnrichPaint *paint, double *weights,
                          unsigned char *followed)
{
    SnStatus status = SN_OK;
    const SnTetMesh *cage = body->cage;
    double *known = NULL;
    SN_TRY_NEW(context, known, cage->vertex_count, double);
    SN_TRY(sn_weights_from_surface(context, cage, body->embedding, body->areas, paint->follow, weights, known, followed));
    sn_weights_add_own(cage, paint->cage_follow, weights, known, followed);
    for (size_t v = 0; v < cage->vertex_count; v++) {
        weights[v] = followed[v] ? 1.0 : weights[v];
    }
    SN_TRY(sn_weights_spread(context, cage, known, weights));
    for (size_t v = 0; v < cage->vertex_count; v++) {
        followed[v] |= known[v] == 0.0 && weights[v] >= SN_FLESH_ENCLOSED;
        weights[v] = followed[v] ? 1.0 : fmin(weights[v], STRONGEST);
    }
cleanup:
    sn_release(known);
    return status;
}

double sn_flesh_drive_ratio(double painted, double balance)
{
    double weight = pow(painted, balance);
    return weight > 0.0 ? tan(0.5 * SN_PI * fmin(weight, STRONGEST)) : 0.0;
}

/* share (tets): how much of the modulus of its flesh a tet has. Strain is the same all over a tet, so what it resists with is the flesh in
   it, no more; where that bends too stiffly, less. */
static void find_shares(const SnCagedBody *body, double *share)
{
    for (size_t e = 0; e < body->cage->tet_count; e++) {
        share[e] = 1.0;
        if (body->fill != NULL) {
            double slender = sn_tet_mesh_cell(body->cage, e) / body->thickness[e];
            share[e] = body->fill[e] / (1.0 + LOCKING * slender * slender);
        }
    }
}

typedef struct Swing {
    double squared_frequency, strain, volume;
} Swing;

static int compare_swings(const void *left, const void *right)
{
    double a = ((const Swing *)left)->squared_frequency, b = ((const Swing *)right)->squared_frequency;
    return (a > b) - (a < b);
}

/* Gives all tets what the calibration found for those that give way most, but for a few. */
static SnStatus take_softest(SnContext *context, const SnTetMesh *cage, const unsigned char *followed, SnCalibration *found)
{
    SnStatus status = SN_OK;
    Swing *swings = NULL;
    size_t count = 0, chosen = 0;
    double total = 0.0, sum = 0.0;
    SN_TRY_NEW(context, swings, cage->tet_count, Swing);
    for (size_t e = 0; e < cage->tet_count; e++) {
        const int32_t *tet = cage->tets + 4 * e;
        if (!(followed[tet[0]] && followed[tet[1]] && followed[tet[2]] && followed[tet[3]])) {
            swings[count] = (Swing){found->squared_frequency[e], found->strain[e], sn_tet_mesh_volume(cage, cage->positions, e)};
            total += swings[count++].volume;
        }
    }
    if (count == 0) {
        goto cleanup;
    }
    qsort(swings, count, sizeof *swings, compare_swings);
    while (chosen + 1 < count && sum + swings[chosen].volume < SOFTEST_SHARE * total) {
        sum += swings[chosen++].volume;
    }
    for (size_t e = 0; e < cage->tet_count; e++) {
        found->squared_frequency[e] = swings[chosen].squared_frequency;
        found->strain[e] = swings[chosen].strain;
    }
cleanup:
    sn_release(swings);
    return status;
}

/* Young's modulus of every tet, and the frequency that driving and substeps are measured by; mass and shares are there. */
static SnStatus choose_modulus(SnContext *context, const SnTetMesh *cage, const SnEnrichSettings *settings, const double *weights,
                               const unsigned char *followed, SnFleshMaterial *material)
{
    SnStatus status = SN_OK;
    SnCalibration found = {0};
    double *drive = NULL, *firmness = NULL, *nothing = NULL;
    unsigned char *nobody = NULL;
    double omega = 2.0 * SN_PI * settings->jiggle, push = TYPICAL_PUSH * settings->size;
    SN_TRY_NEW(context, drive, cage->vertex_count, double);
    if (settings->animated && memchr(followed, 0, cage->vertex_count) == NULL) { /* all of it lets go later: as a body that nothing holds */
        SN_TRY_NEW(context, nothing, cage->vertex_count, double);
        SN_TRY_NEW(context, nobody, cage->vertex_count, unsigned char);
        weights = nothing;
        followed = nobody;
    }
    for (size_t v = 0; v < cage->vertex_count; v++) {
        drive[v] = sn_flesh_drive_ratio(weights[v], 1.0); /* as painted: balance must change the motion, not the flesh */
    }
    SN_TRY_NEW(context, firmness, cage->tet_count, double);
    SN_TRY(sn_transition_firmness(context, cage, followed, settings->transition, firmness));
    for (size_t e = 0; e < cage->tet_count; e++) {
        firmness[e] *= material->share[e];
    }
    SnCalibrationDef def = {.mesh = cage, .poisson = settings->poisson, .density = settings->density, .mass = material->mass,
                            .firmness = firmness, .weights = weights, .drive = drive, .followed = followed};
    SN_TRY(sn_calibration_run(context, &def, &found));
    if (settings->one_material) {
        SN_TRY(take_softest(context, cage, followed, &found));
    }
    for (size_t e = 0; e < cage->tet_count; e++) {
        double wanted = omega * omega / found.squared_frequency[e], firmer = fmax(1.0, push * found.strain[e] / settings->most_strain / wanted);
        material->young[e] = firmness[e] * (settings->young > 0.0 ? settings->young : firmer * wanted);
        material->calm[e] = settings->young > 0.0 ? 1.0 : pow(fmin(firmer, MOST_CALMED), CALMED);
    }
    material->frequency = settings->young > 0.0 ? sqrt(settings->young * found.main_frequency) / (2.0 * SN_PI) : settings->jiggle;
    material->regions = found.region_count;
cleanup:
    sn_calibration_clear(&found);
    sn_release(drive);
    sn_release(firmness);
    sn_release(nothing);
    sn_release(nobody);
    return status;
}

/* Each scale (cage vertices; tets) is painted^w: 1 where nothing is painted, `painted` where the weight w is 1. */
static SnStatus find_scales(SnContext *context, const SnCagedBody *body, const double *weights, double painted, double *vertices,
                            double *tets)
{
    SnStatus status = SN_OK;
    const SnTetMesh *cage = body->cage;
    if (weights == NULL) {
        memset(vertices, 0, cage->vertex_count * sizeof *vertices);
        memset(tets, 0, cage->tet_count * sizeof *tets);
    } else {
        SN_TRY(sn_weights_of_region(context, cage, body->embedding, body->areas, weights, vertices, tets));
    }
    for (size_t v = 0; v < cage->vertex_count; v++) {
        vertices[v] = pow(painted, vertices[v]);
    }
    for (size_t e = 0; e < cage->tet_count; e++) {
        tets[e] = pow(painted, tets[e]);
    }
cleanup:
    return status;
}

/* Painted stiffness and density, over what Jiggle asks for: they are to be seen, so Jiggle does not make up for them. */
static SnStatus scale_material(SnContext *context, const SnCagedBody *body, const SnEnrichPaint *paint, const SnEnrichSettings *settings,
                               double *young, double *mass)
{
    SnStatus status = SN_OK;
    const SnTetMesh *cage = body->cage;
    double *vertices = NULL, *tets = NULL;
    SN_TRY_NEW(context, vertices, cage->vertex_count, double);
    SN_TRY_NEW(context, tets, cage->tet_count, double);
    SN_TRY(find_scales(context, body, paint->density, settings->density_painted, vertices, tets));
    for (size_t e = 0; e < cage->tet_count; e++) {
        tets[e] *= body->fill != NULL ? body->fill[e] : 1.0;
    }
    sn_tet_mesh_lumped_mass(cage, settings->density, tets, mass);
    SN_TRY(find_scales(context, body, paint->stiffness, settings->stiffness_painted, vertices, tets));
    for (size_t e = 0; e < cage->tet_count; e++) {
        young[e] *= tets[e];
    }
    if (paint->bone != NULL) {
        SN_TRY(sn_weights_of_region(context, cage, body->embedding, body->areas, paint->bone, vertices, tets));
        for (size_t e = 0; e < cage->tet_count; e++) {
            young[e] *= tets[e] >= 0.5 ? BONE : 1.0;
        }
    }
cleanup:
    sn_release(vertices);
    sn_release(tets);
    return status;
}

SnStatus sn_flesh_material(SnContext *context, const SnCagedBody *body, const SnEnrichPaint *paint, const SnEnrichSettings *settings,
                           const double *weights, const unsigned char *followed, SnFleshMaterial *material)
{
    SnStatus status = SN_OK;
    *material = (SnFleshMaterial){0};
    SN_TRY_NEW(context, material->young, body->cage->tet_count, double);
    SN_TRY_NEW(context, material->mass, body->cage->vertex_count, double);
    SN_TRY_NEW(context, material->share, body->cage->tet_count, double);
    SN_TRY_NEW(context, material->calm, body->cage->tet_count, double);
    find_shares(body, material->share);
    sn_tet_mesh_lumped_mass(body->cage, settings->density, body->fill, material->mass);
    SN_TRY(choose_modulus(context, body->cage, settings, weights, followed, material));
    SN_TRY(scale_material(context, body, paint, settings, material->young, material->mass));
cleanup:
    if (status != SN_OK) {
        sn_flesh_material_clear(material);
    }
    return status;
}

void sn_flesh_material_clear(SnFleshMaterial *material)
{
    sn_release(material->young);
    sn_release(material->mass);
    sn_release(material->share);
    sn_release(material->calm);
    *material = (SnFleshMaterial){0};
}

SnStatus sn_flesh_world(SnContext *context, const SnEnrichSettings *settings, const SnTetMesh *cage, const double *young,
                        const double *mass, const unsigned char *fixed, SnTetElements *tets, SnWorld *world)
{
    SnStatus status = SN_OK;
    SN_TRY(sn_tet_elements_init_moving(context, cage, fixed, settings->energy, tets));
    sn_tet_elements_set_materials(tets, young, settings->poisson);
    SnTerm term = sn_tet_elements_term(tets);
    SnWorldDef def = {.vertex_count = cage->vertex_count, .mass = mass, .fixed = fixed, .term_count = 1, .terms = &term};
    SN_TRY(sn_world_init(context, &def, world));
cleanup:
    return status;
}

SnStatus sn_flesh_regions(SnContext *context, const SnCagedBody *body, const SnEnrichPaint *paint, const SnEnrichSettings *settings,
                          const SnTetElements *moving, SnWorld *world, SnKeepPose *keep_pose)
{
    SnStatus status = SN_OK;
    double *vertices = NULL, *tets = NULL, kept = settings->keep_pose_painted;
    SN_TRY_NEW(context, vertices, body->cage->vertex_count, double);
    SN_TRY_NEW(context, tets, body->cage->tet_count, double);
    SN_TRY(find_scales(context, body, paint->damping, settings->damping_painted, vertices, tets));
    memcpy(world->drag, vertices, world->vertex_count * sizeof *vertices);
    for (size_t e = 0; e < moving->count; e++) {
        world->damping_scale[0][e] = tets[moving->sources[e]];
    }
    if (paint->keep_pose != NULL) { /* it may be painted 0, so its scale goes straight to it */
        SN_TRY(sn_weights_of_region(context, body->cage, body->embedding, body->areas, paint->keep_pose, vertices, tets));
        for (size_t v = 0; v < world->vertex_count; v++) {
            keep_pose->scale[v] = 1.0 + vertices[v] * (kept - 1.0);
        }
        for (size_t e = 0; e < moving->count; e++) {
            keep_pose->tet_scale[e] = 1.0 + tets[moving->sources[e]] * (kept - 1.0);
        }
    }
cleanup:
    sn_release(vertices);
    sn_release(tets);
    return status;
}
