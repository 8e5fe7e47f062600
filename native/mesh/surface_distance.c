#include "mesh/surface_distance.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "mesh/box_tree.h"
#include "mesh/geometry.h"

#define POINTS_PER_CHUNK 256
#define CHUNKS_PER_BATCH 64 /* between two looks at the cancel flag */

typedef struct Search {
    const SnTriMesh *mesh;
    SnBoxTree tree;
    const double *points;
    double *distances;
    int32_t *triangles;
    size_t first;
} Search;

static double triangle_distance(const void *data, int32_t item, const double point[3])
{
    const SnTriMesh *mesh = data;
    const int32_t *corner = mesh->triangles + 3 * (size_t)item;
    return sn_triangle_distance_squared(point, mesh->positions + 3 * (size_t)corner[0], mesh->positions + 3 * (size_t)corner[1],
                                        mesh->positions + 3 * (size_t)corner[2]);
}

/* Neighbours in the list are mostly neighbours in space: what was nearest to the last one is a good first guess. */
static void search_points(void *data, size_t chunk, size_t begin, size_t end)
{
    Search *search = data;
    int32_t last = -1;
    (void)chunk;
    for (size_t i = search->first + begin; i < search->first + end; i++) {
        const double *point = search->points + 3 * i;
        double squared = last < 0 ? INFINITY : triangle_distance(search->mesh, last, point);
        int32_t nearer = sn_box_tree_nearest(&search->tree, point, triangle_distance, search->mesh, &squared);
        last = nearer < 0 ? last : nearer;
        search->distances[i] = sqrt(squared);
        search->triangles[i] = last;
    }
}

static void box_triangles(const SnTriMesh *mesh, double *boxes)
{
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        for (int axis = 0; axis < 3; axis++) {
            double a = mesh->positions[3 * (size_t)mesh->triangles[3 * t] + (size_t)axis];
            double b = mesh->positions[3 * (size_t)mesh->triangles[3 * t + 1] + (size_t)axis];
            double c = mesh->positions[3 * (size_t)mesh->triangles[3 * t + 2] + (size_t)axis];
            boxes[6 * t + (size_t)axis] = sn_least(a, sn_least(b, c));
            boxes[6 * t + 3 + (size_t)axis] = sn_largest(a, sn_largest(b, c));
        }
    }
}

SnStatus sn_surface_distance(SnContext *context, const SnTriMesh *mesh, size_t point_count, const double *points,
                             double *distances, int32_t *triangles)
{
    SnStatus status = SN_OK;
    Search search = {.mesh = mesh, .points = points, .distances = distances, .triangles = triangles};
    size_t batch = POINTS_PER_CHUNK * CHUNKS_PER_BATCH;
    double *boxes = NULL;
    sn_context_stage(context, "Measuring distances", (long)point_count);
    SN_TRY(sn_context_look(context));
    SN_TRY_NEW(context, boxes, 6 * mesh->triangle_count, double);
    box_triangles(mesh, boxes);
    SN_TRY(sn_box_tree_build(context, mesh->triangle_count, boxes, &search.tree));
    for (; search.first < point_count; search.first += batch) {
        size_t left = point_count - search.first;
        SN_TRY(sn_context_advance(context, (long)search.first));
        sn_parallel_for(left < batch ? left : batch, POINTS_PER_CHUNK, search_points, &search);
    }
cleanup:
    sn_box_tree_clear(&search.tree);
    sn_release(boxes);
    return status;
}
