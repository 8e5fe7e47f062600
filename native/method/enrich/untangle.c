#include "method/enrich/untangle.h"

#include "base/memory.h"
#include "math/mat3.h"
#include "method/enrich/enrich.h"

#include <string.h>

#define MEND 0.25 /* of the way that a tangled vertex is off is undone in a frame: several frames mend it, and nothing jumps */

SnStatus sn_untangle_init(SnContext *context, const SnTetElements *tets, size_t vertex_count, SnUntangle *untangle)
{
    SnStatus status = SN_OK;
    *untangle = (SnUntangle){.tets = tets, .vertex_count = vertex_count};
    SN_TRY_NEW(context, untangle->tangled, vertex_count, unsigned char);
    SN_TRY_NEW(context, untangle->around, 4 * vertex_count, double);
cleanup:
    if (status != SN_OK) {
        sn_untangle_clear(untangle);
    }
    return status;
}

void sn_untangle_clear(SnUntangle *untangle)
{
    sn_release(untangle->tangled);
    sn_release(untangle->around);
    *untangle = (SnUntangle){0};
}

/* Signed volume of a tet over its volume at rest. */
static double relative_volume(const SnTetElements *tets, size_t tet, const double *positions)
{
    double edges[9];
    sn_mat3_edges(positions, tets->tets + 4 * tet, edges);
    return sn_mat3_determinant(edges) / (6.0 * tets->volume[tet]);
}

/* Marks the corners of tets that are inside out while the pose has them sound. Returns how many there are. */
static size_t find_tangled(SnUntangle *untangle, const double *pose, const double *positions)
{
    const SnTetElements *tets = untangle->tets;
    size_t found = 0;
    memset(untangle->tangled, 0, untangle->vertex_count);
    for (size_t e = 0; e < tets->count; e++) {
        if (relative_volume(tets, e, positions) < 0.0 && relative_volume(tets, e, pose) > SN_ENRICH_SOUND_VOLUME) {
            for (size_t i = 0; i < 4; i++) {
                untangle->tangled[tets->tets[4 * e + i]] = 1;
            }
            found++;
        }
    }
    return found;
}

/* Draws the offset from the input at marked vertices a part of the way to the mean of those around: what is offset evenly has the shape
   that it has in the input. */
static void even_out(SnUntangle *untangle, const unsigned char *const held[2], const double *input, double *values)
{
    memset(untangle->around, 0, 4 * untangle->vertex_count * sizeof *untangle->around);
    for (size_t e = 0; e < untangle->tets->count; e++) {
        const int32_t *tet = untangle->tets->tets + 4 * e;
        double sum[3] = {0};
        for (int i = 0; i < 4; i++) {
            for (size_t a = 0; a < 3; a++) {
                sum[a] += values[3 * (size_t)tet[i] + a] - input[3 * (size_t)tet[i] + a];
            }
        }
        for (int i = 0; i < 4; i++) {
            double *at = untangle->around + 4 * (size_t)tet[i];
            for (size_t a = 0; a < 3; a++) {
                at[a] += sum[a] - (values[3 * (size_t)tet[i] + a] - input[3 * (size_t)tet[i] + a]);
            }
            at[3] += 3.0;
        }
    }
    for (size_t k = 0; k < 3 * untangle->vertex_count; k++) {
        int is_held = (held[0] != NULL && held[0][k / 3]) || (held[1] != NULL && held[1][k / 3]);
        if (untangle->tangled[k / 3] && !is_held) {
            double mean = untangle->around[4 * (k / 3) + k % 3] / untangle->around[4 * (k / 3) + 3];
            values[k] += MEND * (input[k] + mean - values[k]);
        }
    }
}

size_t sn_untangle(SnUntangle *untangle, const unsigned char *const held[2], const double *pose, const double *pose_velocity,
                   SnState *state)
{
    size_t found = find_tangled(untangle, pose, state->positions);
    if (found > 0) {
        even_out(untangle, held, pose, state->positions);
        even_out(untangle, held, pose_velocity, state->velocities);
    }
    return found;
}
