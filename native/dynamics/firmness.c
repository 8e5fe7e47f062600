#include "dynamics/firmness.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

SnStatus sn_firmness_init(SnContext *context, const SnTetElements *elements, size_t vertex_count, double tighten, SnFirmness *firmness)
{
    SnStatus status = SN_OK;
    memset(firmness, 0, sizeof *firmness);
    firmness->elements = elements;
    firmness->tighten = tighten;
    SN_TRY_NEW(context, firmness->mu, elements->count, double);
    SN_TRY_NEW(context, firmness->lambda, elements->count, double);
    SN_TRY_NEW(context, firmness->begin, elements->count, double);
    SN_TRY_NEW(context, firmness->end, elements->count, double);
    SN_TRY_NEW(context, firmness->factor, elements->count, double);
    SN_TRY_NEW(context, firmness->strain, elements->count, double);
    SN_TRY_NEW(context, firmness->pose, 3 * vertex_count, double);
    sn_firmness_lead(firmness, NULL, NULL, NULL);
cleanup:
    if (status != SN_OK) {
        sn_firmness_clear(firmness);
    }
    return status;
}

void sn_firmness_clear(SnFirmness *firmness)
{
    double *arrays[] = {firmness->mu,     firmness->lambda, firmness->begin, firmness->end,
                        firmness->factor, firmness->strain, firmness->pose};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        sn_release(arrays[k]);
    }
    memset(firmness, 0, sizeof *firmness);
}

static double clamp(double factor)
{
    return fmin(fmax(factor, SN_FIRMNESS_LEAST), SN_FIRMNESS_MOST);
}

void sn_firmness_lead(SnFirmness *firmness, const int32_t *sources, const double *begin, const double *end)
{
    size_t count = firmness->elements->count;
    firmness->is_given = begin != NULL;
    for (size_t e = 0; e < count; e++) {
        firmness->begin[e] = begin != NULL ? clamp(begin[sources[e]]) : 1.0;
        firmness->end[e] = end != NULL ? clamp(end[sources[e]]) : 1.0;
    }
    firmness->is_level = memcmp(firmness->begin, firmness->end, count * sizeof *begin) == 0;
    firmness->has_prepared = 0;
}

int sn_firmness_acts(const SnFirmness *firmness)
{
    return firmness->is_given || firmness->tighten > 0.0;
}

int sn_firmness_varies(const SnFirmness *firmness)
{
    return !firmness->is_level || firmness->tighten > 0.0;
}

int sn_firmness_prepare(SnFirmness *firmness, const SnInputCurve *curve, double fraction)
{
    const SnTetElements *elements = firmness->elements;
    int changed = 0;
    if (firmness->has_prepared && firmness->fraction == fraction) {
        return 0;
    }
    if (firmness->tighten > 0.0) {
        sn_input_curve_evaluate(curve, fraction, firmness->pose, NULL);
        sn_tet_elements_strains(elements, firmness->pose, firmness->strain);
    }
    for (size_t e = 0; e < elements->count; e++) {
        double given = firmness->begin[e] + fraction * (firmness->end[e] - firmness->begin[e]);
        double tightened = firmness->tighten > 0.0 ? 1.0 + firmness->tighten * fmin(firmness->strain[e] / SN_TIGHTEN_STRAIN, 1.0) : 1.0;
        double factor = clamp(given * tightened);
        changed |= !firmness->has_prepared || factor != firmness->factor[e];
        firmness->factor[e] = factor;
        firmness->mu[e] = factor * elements->mu[e];
        firmness->lambda[e] = factor * elements->lambda[e];
    }
    firmness->fraction = fraction;
    firmness->has_prepared = 1;
    return changed;
}
