#include "contact/surface_patches.h"

#include "base/memory.h"
#include "mesh/box_tree.h"
#include "mesh/geometry.h"

#define LEAST_PER_PATCH 40 /* triangles: the smaller a patch, the less it bends, ... */
#define MOST_PATCHES 512   /* ... and the more of them there are */

/* Cuts the tree of a body's triangles into subtrees of at most `most`; only counts them until there is room. */
static size_t cut(const SnBoxTree *tree, size_t body, size_t most, size_t number, SnSurfacePatches *patches)
{
    size_t first_triangle = patches->surface->bodies[body].first_triangle;
    for (size_t at = 0; (at = sn_box_tree_part(tree, most, at)) < tree->node_count; at = (size_t)tree->nodes[at].next, number++) {
        const SnBoxTreeNode *node = tree->nodes + at;
        for (int32_t i = node->begin; i < node->end && patches->patches != NULL; i++) {
            patches->triangle_patches[first_triangle + (size_t)tree->items[i]] = (int32_t)number;
            patches->triangles[first_triangle + (size_t)i] = (int32_t)first_triangle + tree->items[i];
        }
        if (patches->patches != NULL) {
            patches->patches[number] = (SnPatch){.body = body, .kinematic = 1, .first_triangle = first_triangle + (size_t)node->begin,
                                                 .triangle_count = (size_t)(node->end - node->begin)};
        }
    }
    return number;
}

void sn_surface_triangle_box(const SnSurface *surface, const double *q, size_t t, double box[6])
{
    const int32_t *corners = surface->triangles + 3 * t;
    for (size_t axis = 0; axis < 3; axis++) {
        double a = q[3 * (size_t)corners[0] + axis], b = q[3 * (size_t)corners[1] + axis], c = q[3 * (size_t)corners[2] + axis];
        box[axis] = sn_least(a, sn_least(b, c));
        box[3 + axis] = sn_largest(a, sn_largest(b, c));
    }
}

static SnStatus find_patches(SnContext *context, SnSurfacePatches *patches)
{
    SnStatus status = SN_OK;
    const SnSurface *surface = patches->surface;
    size_t most = surface->triangle_count / MOST_PATCHES > LEAST_PER_PATCH ? surface->triangle_count / MOST_PATCHES : LEAST_PER_PATCH;
    SnBoxTree *trees = NULL;
    double *boxes = NULL;
    SN_TRY_NEW(context, trees, surface->body_count, SnBoxTree);
    SN_TRY_NEW(context, boxes, 6 * surface->triangle_count, double);
    for (size_t t = 0; t < surface->triangle_count; t++) {
        sn_surface_triangle_box(surface, surface->rest, t, boxes + 6 * t);
    }
    for (size_t b = 0; b < surface->body_count; b++) {
        const SnSurfaceBody *body = surface->bodies + b;
        SN_TRY(sn_box_tree_build(context, body->triangle_count, boxes + 6 * body->first_triangle, trees + b));
        patches->count = cut(trees + b, b, most, patches->count, patches);
    }
    SN_TRY_NEW(context, patches->patches, patches->count, SnPatch);
    size_t number = 0;
    for (size_t b = 0; b < surface->body_count; b++) {
        number = cut(trees + b, b, most, number, patches);
    }
cleanup:
    for (size_t b = 0; trees != NULL && b < surface->body_count; b++) {
        sn_box_tree_clear(trees + b);
    }
    sn_release(trees);
    sn_release(boxes);
    return status;
}

/* The points of each patch once. */
static SnStatus list_points(SnContext *context, SnSurfacePatches *patches)
{
    SnStatus status = SN_OK;
    const SnSurface *surface = patches->surface;
    int32_t *seen = NULL; /* the last patch that has it, from 1 */
    SN_TRY_NEW(context, patches->points, 3 * surface->triangle_count, int32_t);
    SN_TRY_NEW(context, seen, surface->point_count, int32_t);
    for (size_t p = 0; p < patches->count; p++) {
        SnPatch *patch = patches->patches + p;
        patch->first = patches->point_count;
        for (size_t i = 3 * patch->first_triangle; i < 3 * (patch->first_triangle + patch->triangle_count); i++) {
            const int32_t *corners = surface->triangles + 3 * (size_t)patches->triangles[i / 3];
            const double *a = surface->rest + 3 * (size_t)corners[i % 3], *b = surface->rest + 3 * (size_t)corners[(i + 1) % 3];
            patch->edge_length += sqrt(sn_distance_squared(a, b)) / (3.0 * (double)patch->triangle_count);
        }
        for (size_t i = 3 * patch->first_triangle; i < 3 * (patch->first_triangle + patch->triangle_count); i++) {
            int32_t point = surface->triangles[3 * (size_t)patches->triangles[i / 3] + i % 3];
            if (seen[point] != (int32_t)p + 1) {
                seen[point] = (int32_t)p + 1;
                patch->kinematic &= surface->kinematic[point];
                patch->thickness = sn_largest(patch->thickness, surface->thickness[point]);
                patches->points[patches->point_count++] = point;
            }
        }
        patch->count = patches->point_count - patch->first;
    }
cleanup:
    sn_release(seen);
    return status;
}

typedef struct EdgeList {
    SnSurfacePatches *patches;
    size_t capacity;
    int32_t *seen; /* edges: the last patch that has it, from 1 */
} EdgeList;

/* Adds the edges of the triangles at a point that the patch does not have; of those that end there, or all. */
static SnStatus add_edges(SnContext *context, EdgeList *list, int32_t patch, int32_t point, int all)
{
    SnStatus status = SN_OK;
    const SnSurface *surface = list->patches->surface;
    for (int32_t k = surface->point_triangle_starts[point]; k < surface->point_triangle_starts[point + 1]; k++) {
        for (size_t side = 0; side < 3; side++) {
            int32_t edge = surface->triangle_edges[3 * (size_t)surface->point_triangles[k] + side];
            const int32_t *ends = surface->edges + 2 * (size_t)edge;
            if ((all || ends[0] == point || ends[1] == point) && list->seen[edge] != patch + 1) {
                list->seen[edge] = patch + 1;
                SN_TRY_ROOM(context, list->patches->edges, list->patches->edge_count + 1, list->capacity);
                list->patches->edges[list->patches->edge_count++] = edge;
            }
        }
    }
cleanup:
    return status;
}

/* The edges at the points of each patch once, and then those around. */
static SnStatus list_edges(SnContext *context, SnSurfacePatches *patches)
{
    SnStatus status = SN_OK;
    const SnSurface *surface = patches->surface;
    EdgeList list = {patches, 0, NULL};
    SN_TRY_NEW(context, list.seen, surface->edge_count, int32_t);
    for (size_t p = 0; p < patches->count; p++) {
        SnPatch *patch = patches->patches + p;
        patch->first_edge = patches->edge_count;
        for (size_t i = patch->first; i < patch->first + patch->count; i++) {
            SN_TRY(add_edges(context, &list, (int32_t)p, patches->points[i], 0));
        }
        patch->edge_count = patches->edge_count - patch->first_edge;
        for (size_t i = patch->first; i < patch->first + patch->count; i++) {
            int32_t point = patches->points[i];
            for (int32_t k = surface->point_starts[point]; k < surface->point_starts[point + 1]; k++) {
                SN_TRY(add_edges(context, &list, (int32_t)p, surface->point_points[k], 1));
            }
        }
        patch->wide_count = patches->edge_count - patch->first_edge;
    }
cleanup:
    sn_release(list.seen);
    return status;
}

SnStatus sn_surface_patches_init(SnContext *context, const SnSurface *surface, SnSurfacePatches *patches)
{
    SnStatus status = SN_OK;
    *patches = (SnSurfacePatches){.surface = surface};
    SN_TRY_NEW(context, patches->triangle_patches, surface->triangle_count, int32_t);
    SN_TRY_NEW(context, patches->triangles, surface->triangle_count, int32_t);
    SN_TRY(find_patches(context, patches));
    SN_TRY(list_points(context, patches));
    SN_TRY(list_edges(context, patches));
cleanup:
    if (status != SN_OK) {
        sn_surface_patches_clear(patches);
    }
    return status;
}

void sn_surface_patches_clear(SnSurfacePatches *patches)
{
    void *const blocks[] = {patches->patches, patches->triangle_patches, patches->triangles, patches->points, patches->edges};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        sn_release(blocks[i]);
    }
    *patches = (SnSurfacePatches){0};
}
