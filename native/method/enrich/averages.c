#include "method/enrich/averages.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

SnStatus sn_averages_constrain(SnContext *context, const int32_t *regions, SnWorld *world)
{
    SnStatus status = SN_OK;
    const SnAssembly *assembly = &world->assembly;
    SnRows rows = {.is_alike = 1};
    int32_t *points = NULL, *next = NULL, most = -1;
    double *weights = NULL;
    for (size_t v = 0; v < assembly->vertex_count; v++) {
        most = regions[v] > most ? regions[v] : most;
    }
    SN_TRY_NEW(context, points, assembly->unknown_count, int32_t);
    SN_TRY_NEW(context, weights, assembly->unknown_count, double);
    SN_TRY_NEW(context, next, most + 2, int32_t);
    for (size_t k = 0; k < assembly->unknown_count; k++) { /* vertices sorted by region */
        int32_t region = regions[assembly->vertex[k]];
        next[region >= 0 ? region + 1 : 0] += region >= 0;
    }
    for (int32_t region = 0; region <= most; region++) {
        next[region + 1] += next[region];
    }
    for (size_t k = 0; k < assembly->unknown_count; k++) {
        int32_t region = regions[assembly->vertex[k]];
        if (region >= 0) {
            points[next[region]++] = assembly->vertex[k];
        }
    }
    for (int32_t region = 0, first = 0; region <= most; first = next[region++]) {
        double total = 0.0;
        for (int32_t k = first; k < next[region]; k++) {
            total += world->mass[points[k]];
        }
        for (int32_t k = first; k < next[region]; k++) {
            weights[k] = world->mass[points[k]] / total;
        }
        if (next[region] > first) {
            SN_TRY(sn_rows_add(context, &rows, (size_t)(next[region] - first), points + first, weights + first, INFINITY));
        }
    }
    SN_TRY(sn_world_constrain(context, &rows, world));
cleanup:
    sn_rows_clear(&rows);
    sn_release(points);
    sn_release(weights);
    sn_release(next);
    return status;
}
