#include "dynamics/embedded_skin.h"

#include "base/memory.h"
#include "math/mat3.h"

#include <string.h>

SnStatus sn_embedded_skin_init(SnContext *context, const SnTetMesh *cage, const SnEmbedding *embedding, SnEmbeddedSkin *skin)
{
    SnStatus status = SN_OK;
    *skin = (SnEmbeddedSkin){.interpolation = SN_INTERPOLATION_PHONG};
    SN_TRY(sn_detail_map_init(context, cage, embedding, &skin->map));
    SN_TRY_NEW(context, skin->pose, 3 * cage->vertex_count, double);
    SN_TRY_NEW(context, skin->input, 3 * embedding->vertex_count, double);
cleanup:
    if (status != SN_OK) {
        sn_embedded_skin_clear(skin);
    }
    return status;
}

void sn_embedded_skin_clear(SnEmbeddedSkin *skin)
{
    sn_detail_map_clear(&skin->map);
    sn_release(skin->pose);
    sn_release(skin->input);
    memset(skin, 0, sizeof *skin);
}

/* At the start of an interval the positions are those that were exported, and who follows is told by their bits, as it was there. Later they
   are a guess, which may lie on the input to the bit where the result will not. */
static void freeze(void *self, double fraction, const double *pose, const double *positions)
{
    SnEmbeddedSkin *skin = self;
    memcpy(skin->pose, pose, 3 * skin->map.cage->vertex_count * sizeof *pose);
    sn_input_curve_evaluate(&skin->surface, fraction, skin->input, NULL);
    sn_detail_map_freeze(&skin->map, skin->pose, positions, skin->input, skin->interpolation, fraction > 0.0 ? skin->held : NULL);
}

static void place(void *self, const double *positions, double *points)
{
    sn_detail_map_place(&((SnEmbeddedSkin *)self)->map, positions, points);
}

/* What pushes a point pushes the corners of its tet, by its place in the fitted one: as if all of the tet moved with one gradient. */
static size_t find_row(void *self, size_t point, int32_t *vertices, double *weights)
{
    const SnDetailMap *map = &((SnEmbeddedSkin *)self)->map;
    size_t tet = (size_t)map->embedding->tets[point];
    const int32_t *corners = map->cage->tets + 4 * tet;
    const double *inverse = map->inverses + 9 * tet, *w = map->embedding->weights + 4 * point;
    double off[3];
    memcpy(vertices, corners, 4 * sizeof *vertices);
    memcpy(weights, w, 4 * sizeof *weights);
    for (size_t a = 0; a < 3; a++) {
        off[a] = map->input[3 * point + a];
        for (size_t i = 0; i < 4; i++) {
            off[a] -= w[i] * map->fitted[3 * (size_t)corners[i] + a];
        }
    }
    for (size_t edge = 0; edge < 3 && map->volumes[tet] > 0.0; edge++) {
        double more = sn_dot3(off, inverse + 3 * edge);
        weights[edge + 1] += more;
        weights[0] -= more;
    }
    return 4;
}

SnSkin sn_embedded_skin(SnEmbeddedSkin *skin, size_t first_vertex)
{
    return (SnSkin){skin, first_vertex, freeze, place, find_row};
}
