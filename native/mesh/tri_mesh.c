#include "mesh/tri_mesh.h"

#include "base/memory.h"
#include "mesh/box_tree.h"
#include "mesh/geometry.h"

#define VERTICES_PER_LOOK 4096 /* at the cancel flag */

/* Beyond this, products of a few coordinates overflow. */
#define LARGEST_COORDINATE 1e30

SnStatus sn_tri_mesh_check(SnContext *context, const SnTriMesh *mesh)
{
    if (mesh->vertex_count == 0) {
        return sn_context_fail(context, SN_BAD_INPUT, "The mesh has no vertices: choose an object with geometry.");
    }
    if (mesh->vertex_count > INT32_MAX / 16 || mesh->triangle_count > INT32_MAX / 16) {
        return sn_context_fail(context, SN_BAD_INPUT, "The mesh is too large (%zu vertices, %zu triangles): reduce it first.",
                               mesh->vertex_count, mesh->triangle_count);
    }
    for (size_t i = 0; i < 3 * mesh->vertex_count; i++) {
        if (!isfinite(mesh->positions[i])) {
            return sn_context_fail(context, SN_BAD_INPUT,
                                   "Vertex %zu is not at a finite place (NaN or infinite): delete or repair it.", i / 3);
        }
        if (fabs(mesh->positions[i]) > LARGEST_COORDINATE) {
            return sn_context_fail(context, SN_BAD_INPUT, "Vertex %zu is too far away (%g m): scale the object down.", i / 3,
                                   mesh->positions[i]);
        }
    }
    for (size_t i = 0; i < 3 * mesh->triangle_count; i++) {
        if (mesh->triangles[i] < 0 || (size_t)mesh->triangles[i] >= mesh->vertex_count) {
            return sn_context_fail(context, SN_BAD_INPUT,
                                   "Triangle %zu names vertex %ld, but the mesh has %zu vertices: repair the mesh.", i / 3,
                                   (long)mesh->triangles[i], mesh->vertex_count);
        }
    }
    return SN_OK;
}

void sn_tri_mesh_bounds(const SnTriMesh *mesh, double low[3], double high[3])
{
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = high[axis] = mesh->vertex_count ? mesh->positions[axis] : 0.0;
    }
    for (size_t i = 0; i < 3 * mesh->vertex_count; i++) {
        low[i % 3] = fmin(low[i % 3], mesh->positions[i]);
        high[i % 3] = fmax(high[i % 3], mesh->positions[i]);
    }
}

double sn_tri_mesh_size(const SnTriMesh *mesh)
{
    double low[3], high[3];
    sn_tri_mesh_bounds(mesh, low, high);
    return fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2]));
}

/* Twice the area of a triangle, or 0 when rounding is all there is to it. */
static double double_area(const SnTriMesh *mesh, size_t triangle)
{
    const int32_t *corners = mesh->triangles + 3 * triangle;
    double u[3], v[3], n[3];
    sn_subtract(mesh->positions + 3 * (size_t)corners[1], mesh->positions + 3 * (size_t)corners[0], u);
    sn_subtract(mesh->positions + 3 * (size_t)corners[2], mesh->positions + 3 * (size_t)corners[0], v);
    sn_cross3(u, v, n);
    double longest = fmax(sn_dot3(u, u), sn_dot3(v, v));
    double area = sn_length(n);
    return area > 1e-12 * longest ? area : 0.0;
}

/* Coincident vertices are no neighbours: they would make the spacing zero. */
static double spacing_distance(const void *data, int32_t item, const double point[3])
{
    const double *positions = data;
    double d = sn_distance_squared(positions + 3 * (size_t)item, point);
    return d > 0.0 ? d : INFINITY;
}

static SnStatus loose_areas(SnContext *context, const SnTriMesh *mesh, double largest, double *areas)
{
    SnStatus status = SN_OK;
    double *boxes = NULL;
    SnBoxTree tree = {0};
    SN_TRY_NEW(context, boxes, 6 * mesh->vertex_count, double);
    for (size_t i = 0; i < 6 * mesh->vertex_count; i++) {
        boxes[i] = mesh->positions[3 * (i / 6) + i % 3];
    }
    SN_TRY(sn_box_tree_build(context, mesh->vertex_count, boxes, &tree));
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        if (i % VERTICES_PER_LOOK == 0) {
            SN_TRY(sn_context_look(context));
        }
        if (areas[i] > 0.0) {
            continue;
        }
        double squared = INFINITY;
        (void)sn_box_tree_nearest(&tree, mesh->positions + 3 * i, spacing_distance, mesh->positions, &squared);
        areas[i] = isfinite(squared) ? fmin(squared, largest) : 0.0;
    }
cleanup:
    sn_release(boxes);
    sn_box_tree_clear(&tree);
    return status;
}

SnStatus sn_tri_mesh_vertex_areas(SnContext *context, const SnTriMesh *mesh, double *areas)
{
    SnStatus status = SN_OK;
    double sum = 0.0;
    size_t covered = 0;
    SN_TRY(sn_context_look(context));
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        areas[i] = 0.0;
    }
    for (size_t triangle = 0; triangle < mesh->triangle_count; triangle++) {
        double area = double_area(mesh, triangle);
        for (size_t i = 0; i < 3; i++) {
            areas[mesh->triangles[3 * triangle + i]] += area / 6.0;
        }
    }
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        sum += areas[i];
        covered += areas[i] > 0.0;
    }
    if (covered < mesh->vertex_count) { /* one stray vertex far away must not outweigh the surface */
        SN_TRY(loose_areas(context, mesh, covered ? sum / (double)covered : INFINITY, areas));
    }
cleanup:
    return status;
}
