#include "method/enrich/transition.h"

#include "base/memory.h"

#include <math.h>

#define FIRMEST 50.0 /* tets that touch the border lie at no distance from it */

static double edge_length(const SnTetMesh *cage, int32_t from, int32_t to)
{
    double squared = 0.0;
    for (size_t a = 0; a < 3; a++) {
        double difference = cage->positions[3 * (size_t)from + a] - cage->positions[3 * (size_t)to + a];
        squared += difference * difference;
    }
    return sqrt(squared);
}

/* distance (vertices): along edges from the nearest followed vertex, as far as it is below `width`. */
static void find_distances(const SnTetMesh *cage, const unsigned char *followed, double width, double *distance)
{
    for (size_t v = 0; v < cage->vertex_count; v++) {
        distance[v] = followed[v] ? 0.0 : INFINITY;
    }
    for (int changed = 1; changed;) { /* a sweep for each ring of tets, or fewer: the band is narrow */
        changed = 0;
        for (size_t e = 0; e < cage->tet_count; e++) {
            const int32_t *tet = cage->tets + 4 * e;
            for (int i = 0; i < 4; i++) {
                for (int j = 0; j < 4 && distance[tet[i]] < width; j++) {
                    double through = distance[tet[i]] + edge_length(cage, tet[i], tet[j]);
                    if (through < distance[tet[j]]) {
                        distance[tet[j]] = through;
                        changed = 1;
                    }
                }
            }
        }
    }
}

SnStatus sn_transition_firmness(SnContext *context, const SnTetMesh *cage, const unsigned char *followed, double width,
                                double *firmness)
{
    SnStatus status = SN_OK;
    double *distance = NULL;
    SN_TRY_NEW(context, distance, cage->vertex_count, double);
    find_distances(cage, followed, width, distance);
    for (size_t e = 0; e < cage->tet_count; e++) {
        double mean = 0.0;
        for (size_t i = 0; i < 4; i++) {
            mean += 0.25 * fmin(distance[cage->tets[4 * e + i]], width);
        }
        firmness[e] = mean < width ? fmin(width / mean, FIRMEST) : 1.0;
    }
cleanup:
    sn_release(distance);
    return status;
}
