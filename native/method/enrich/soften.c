/* Each region is softened until its slowest swing would have the frequency of Jiggle if its neighbours kept still. They do not: what is
   then slowest of all is made firmer where it strains the flesh, a few times over. */
#include "method/enrich/soften.h"

#include "base/memory.h"
#include "math/mat3.h"
#include "method/enrich/average_mode.h"
#include "method/enrich/averages.h"
#include "method/enrich/flesh.h"

#include <math.h>
#include <string.h>

#define SOFTEST 0.005 /* of its stiffness is left to flesh whose averages follow, ... */
#define FIRMEST 20.0  /* ... and so many times as firm it may be */
#define ROUNDS 4      /* of making firmer */

/* How much softer flesh must be for the slowest swing that the averages leave to have the frequency of Jiggle. `energy` (cage
   vertices) receives where that swing strains the flesh. */
static SnStatus find_softness(SnContext *context, const SnSoftening *softening, const SnWorld *world, double *energy, double *softness)
{
    SnStatus status = SN_OK;
    double elastic, driven, omega = 2.0 * SN_PI * softening->settings->jiggle;
    SN_TRY(sn_average_mode_find(context, world, softening->drive, softening->cage->positions, &elastic, &driven, energy));
    *softness = fmax((omega * omega - driven) / fmax(elastic, 1e-300), SOFTEST);
    *softness = *softness > FIRMEST ? 1.0 : *softness; /* it only turns, which no stiffness quickens */
cleanup:
    return status;
}

/* The same for one region, with all others where the input has them. `held` and `energy` (cage vertices) are scratch. */
static SnStatus find_region_softness(SnContext *context, const SnSoftening *softening, const SnWorld *world, int32_t region,
                                     const double *young, unsigned char *held, double *energy, double *softness)
{
    SnStatus status = SN_OK;
    const SnTetMesh *cage = softening->cage;
    SnTetElements tets = {0};
    SnWorld part = {0};
    *softness = 1.0;
    for (size_t v = 0; v < cage->vertex_count; v++) {
        held[v] = world->fixed[v] || softening->regions[v] != region;
    }
    if (memchr(held, 0, cage->vertex_count) == NULL) {
        goto cleanup;
    }
    SN_TRY(sn_flesh_world(context, softening->settings, cage, young, world->mass, held, &tets, &part));
    SN_TRY(sn_averages_constrain(context, softening->regions, &part));
    SN_TRY(find_softness(context, softening, &part, energy, softness));
cleanup:
    sn_world_clear(&part);
    sn_tet_elements_clear(&tets);
    return status;
}

/* Multiplies the modulus of each region by softness[region]; tets between regions take the mean. */
static void soften(const SnSoftening *softening, const double *softness, SnTetElements *tets, double *young)
{
    for (size_t e = 0; e < tets->count; e++) {
        size_t source = (size_t)tets->sources[e];
        double sum = 0.0;
        for (size_t i = 0; i < 4; i++) {
            int32_t region = softening->regions[softening->cage->tets[4 * source + i]];
            sum += region >= 0 ? 0.25 * log(softness[region]) : 0.0;
        }
        young[source] *= exp(sum);
        sn_tet_elements_set_material(tets, e, young[source], softening->settings->poisson);
    }
}

/* softness[region] = how much firmer each is to be made for a swing that needs `all` and strains the flesh by `energy`: by its share in
   that of the most strained. `strained` (regions) is scratch. */
static void share_softness(const SnSoftening *softening, const double *energy, double all, int32_t count, double *strained,
                           double *softness)
{
    double most = 0.0;
    memset(strained, 0, (size_t)count * sizeof *strained);
    for (size_t v = 0; v < softening->cage->vertex_count; v++) {
        if (softening->regions[v] >= 0) {
            strained[softening->regions[v]] += energy[v];
        }
    }
    for (int32_t region = 0; region < count; region++) {
        most = fmax(most, strained[region]);
    }
    for (int32_t region = 0; region < count; region++) {
        softness[region] = most > 0.0 ? pow(all, fmax(strained[region], 0.0) / most) : all;
    }
}

SnStatus sn_soften_regions(SnContext *context, const SnSoftening *softening, const SnWorld *world, SnTetElements *tets, double *young)
{
    SnStatus status = SN_OK;
    size_t vertices = softening->cage->vertex_count;
    double *energy = NULL, *softness = NULL, *strained = NULL;
    unsigned char *held = NULL;
    int32_t count = 0;
    if (softening->settings->young > 0.0 || world->constraints.size == 0) {
        return SN_OK;
    }
    for (size_t v = 0; v < vertices; v++) {
        count = softening->regions[v] >= count ? softening->regions[v] + 1 : count;
    }
    SN_TRY_NEW(context, energy, vertices, double);
    SN_TRY_NEW(context, softness, count, double);
    SN_TRY_NEW(context, strained, count, double);
    SN_TRY_NEW(context, held, vertices, unsigned char);
    sn_context_stage(context, "Tuning averages", count + ROUNDS);
    for (int32_t region = 0; region < count; region++) {
        SN_TRY(sn_context_advance(context, region));
        SN_TRY(find_region_softness(context, softening, world, region, young, held, energy, softness + region));
    }
    soften(softening, softness, tets, young);
    for (int round = 0; round < ROUNDS; round++) {
        double all;
        SN_TRY(sn_context_advance(context, count + round));
        SN_TRY(find_softness(context, softening, world, energy, &all));
        share_softness(softening, energy, all, count, strained, softness);
        soften(softening, softness, tets, young);
    }
cleanup:
    sn_release(energy);
    sn_release(softness);
    sn_release(strained);
    sn_release(held);
    return status;
}
