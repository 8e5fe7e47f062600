#include "mesh/cage.h"

#include "base/memory.h"
#include "mesh/geometry.h"
#include "mesh/split.h"
#include "mesh/stuffing.h"

#define LARGEST_OFFSET 4.0 /* cells */
#define CLOUD_CELL 2.0     /* mean spacings of a point cloud */
#define LARGEST_MARGIN 1.0 /* cells: pieces that are connected this near to a tet are one there, whatever the offset */
#define MARGIN_BEYOND 0.1  /* cells: a little beyond the offset they are one there too */
#define BAND_BEYOND 0.1    /* cells: distances are known a little beyond the offset */

SnCageSettings sn_cage_settings_default(void)
{
    return (SnCageSettings){.resolution = 24, .offset = SN_ENVELOPE_LEAST_OFFSET};
}

static SnStatus check_settings(SnContext *context, const SnCageSettings *settings)
{
    if (settings->resolution < 2 || settings->resolution > 256) {
        return sn_context_fail(context, SN_BAD_INPUT, "Resolution is %d: choose one from 2 to 256.", settings->resolution);
    }
    if (!(settings->offset >= SN_ENVELOPE_LEAST_OFFSET && settings->offset <= LARGEST_OFFSET)) {
        return sn_context_fail(context, SN_BAD_INPUT, "The cage's offset is %g cells: choose one from %g to %g.",
                               settings->offset, SN_ENVELOPE_LEAST_OFFSET, LARGEST_OFFSET);
    }
    return SN_OK;
}

/* A cloud of points holds together only where cells are larger than the gaps between points. */
static SnStatus enlarge_cell(SnContext *context, const SnTriMesh *mesh, double *cell)
{
    SnStatus status = SN_OK;
    double *areas = NULL, sum = 0.0;
    SN_TRY_NEW(context, areas, mesh->vertex_count, double);
    SN_TRY(sn_tri_mesh_vertex_areas(context, mesh, areas));
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        sum += sqrt(areas[i]);
    }
    *cell = fmax(*cell, CLOUD_CELL * sum / (double)mesh->vertex_count);
cleanup:
    sn_release(areas);
    return status;
}

/* Edge of a cube. Where all points coincide, or differ by no more than rounding, any small cage will do. */
static SnStatus choose_cell(SnContext *context, const SnTriMesh *mesh, int resolution, double *cell)
{
    double low[3], high[3], magnitude = 0.0;
    sn_tri_mesh_bounds(mesh, low, high);
    for (int axis = 0; axis < 3; axis++) {
        magnitude = fmax(magnitude, fmax(fabs(low[axis]), fabs(high[axis])));
    }
    double size = sn_tri_mesh_size(mesh);
    if (size < 1e-9 * magnitude || size < 1e-30) {
        size = magnitude > 1e-20 ? 1e-3 * magnitude : 1.0;
    }
    *cell = size / resolution;
    return mesh->triangle_count > 0 ? SN_OK : enlarge_cell(context, mesh, cell);
}

SnStatus sn_cage_build(SnContext *context, const SnTriMesh *mesh, const SnCageSettings *settings, SnTetMesh *cage,
                       SnEmbedding *embedding)
{
    SnStatus status = SN_OK;
    SnLattice lattice;
    SnSoup soup = {0};
    SnDistanceField field = {0};
    SnEnvelope envelope = {0};
    SnShells shells = {0};
    double low[3], high[3], cell;
    *cage = (SnTetMesh){0};
    *embedding = (SnEmbedding){0};
    SN_TRY(check_settings(context, settings));
    SN_TRY(sn_tri_mesh_check(context, mesh));
    sn_tri_mesh_bounds(mesh, low, high);
    SN_TRY(choose_cell(context, mesh, settings->resolution, &cell));
    sn_lattice_init(low, high, cell, settings->offset, &lattice);
    SN_TRY(sn_soup_build(context, mesh, &lattice, &soup));
    SN_TRY(sn_distance_field_build(context, &lattice, &soup, settings->offset + BAND_BEYOND, &field));
    SN_TRY(sn_envelope_build(context, mesh, &lattice, &soup, &field, settings->offset, &envelope));
    SN_TRY(sn_stuffing_build(context, &envelope, &field, cage));
    SN_TRY(sn_embedding_build(context, cage, mesh->vertex_count, mesh->positions, embedding));
    if (settings->separate_parts) {
        double margin = fmin(settings->offset + MARGIN_BEYOND, LARGEST_MARGIN);
        SN_TRY(sn_shells_build(context, mesh, &lattice, 1.0 + 2.0 * settings->offset, &shells));
        SN_TRY(sn_split_apply(context, &shells, &lattice, mesh->positions, margin, cage, embedding));
    }
cleanup:
    sn_shells_clear(&shells);
    sn_envelope_clear(&envelope);
    sn_distance_field_clear(&field);
    sn_soup_clear(&soup);
    if (status != SN_OK) {
        sn_tet_mesh_clear(cage);
        sn_embedding_clear(embedding);
    }
    return status;
}
