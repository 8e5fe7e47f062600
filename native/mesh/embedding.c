#include "mesh/embedding.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "mesh/box_tree.h"
#include "mesh/geometry.h"

#define POINTS_PER_CHUNK 256
#define ROUNDING 1e-9 /* weights this far below zero still count as inside */

typedef struct Binding {
    const SnTetMesh *cage;
    const double *positions; /* of the points */
    SnTetBoundary boundary;
    SnBoxTree tets;
    SnBoxTree faces;
    SnEmbedding *embedding;
    size_t first;
} Binding;

static const double *cage_position(const SnTetMesh *cage, int32_t vertex)
{
    return cage->positions + 3 * (size_t)vertex;
}

/* Barycentric weights of point in one tet; their sum is 1 also where they extrapolate. */
static void find_weights(const SnTetMesh *cage, int32_t tet, const double point[3], double weights[4])
{
    const int32_t *corners = cage->tets + 4 * (size_t)tet;
    const double *a = cage_position(cage, corners[0]), *b = cage_position(cage, corners[1]);
    const double *c = cage_position(cage, corners[2]), *d = cage_position(cage, corners[3]);
    double volume = sn_volume_six(a, b, c, d);
    weights[1] = sn_volume_six(a, point, c, d) / volume;
    weights[2] = sn_volume_six(a, b, point, d) / volume;
    weights[3] = sn_volume_six(a, b, c, point) / volume;
    weights[0] = 1.0 - weights[1] - weights[2] - weights[3];
}

static double least(const double weights[4])
{
    return sn_least(sn_least(weights[0], weights[1]), sn_least(weights[2], weights[3]));
}

typedef struct Containing {
    const Binding *binding;
    const double *point;
    int32_t tet;   /* that holds the point most deeply, or -1 */
    double weight; /* the least of its four */
} Containing;

static int holds_point(void *data, const SnBoxTree *tree, size_t node)
{
    const Containing *search = data;
    return sn_box_tree_node_distance(tree->nodes + node, search->point) <= 0.0;
}

static void try_tet(void *data, int32_t tet, int32_t place)
{
    Containing *search = data;
    double weights[4];
    (void)place;
    find_weights(search->binding->cage, tet, search->point, weights);
    if (least(weights) > search->weight) {
        search->weight = least(weights);
        search->tet = tet;
    }
}

static int32_t find_containing_tet(const Binding *binding, const double point[3])
{
    Containing search = {binding, point, -1, -ROUNDING};
    sn_box_tree_visit(&binding->tets, holds_point, try_tet, &search);
    return search.tet;
}

static double face_distance(const void *data, int32_t item, const double point[3])
{
    const Binding *binding = data;
    const int32_t *corners = binding->boundary.faces + 3 * (size_t)item;
    return sn_triangle_distance_squared(point, cage_position(binding->cage, corners[0]),
                                        cage_position(binding->cage, corners[1]), cage_position(binding->cage, corners[2]));
}

static void bind_points(void *data, size_t chunk, size_t begin, size_t end)
{
    const Binding *binding = data;
    (void)chunk;
    for (size_t i = binding->first + begin; i < binding->first + end; i++) {
        const double *point = binding->positions + 3 * i;
        int32_t tet = find_containing_tet(binding, point);
        if (tet < 0) {
            double squared = INFINITY;
            tet = binding->boundary.tets[sn_box_tree_nearest(&binding->faces, point, face_distance, binding, &squared)];
        }
        binding->embedding->tets[i] = tet;
        find_weights(binding->cage, tet, point, binding->embedding->weights + 4 * i);
    }
}

/* A tree over groups of `size` cage vertices each. */
static SnStatus build_tree(SnContext *context, const SnTetMesh *cage, size_t count, size_t size, const int32_t *corners,
                           SnBoxTree *tree)
{
    SnStatus status = SN_OK;
    double *boxes = NULL;
    SN_TRY_NEW(context, boxes, 6 * count, double);
    for (size_t i = 0; i < count; i++) {
        for (size_t axis = 0; axis < 3; axis++) {
            double low = INFINITY, high = -INFINITY;
            for (size_t j = 0; j < size; j++) {
                double x = cage_position(cage, corners[size * i + j])[axis];
                low = sn_least(low, x);
                high = sn_largest(high, x);
            }
            boxes[6 * i + axis] = low;
            boxes[6 * i + 3 + axis] = high;
        }
    }
    SN_TRY(sn_box_tree_build(context, count, boxes, tree));
cleanup:
    sn_release(boxes);
    return status;
}

static SnStatus bind_all(SnContext *context, const SnTetMesh *cage, size_t vertex_count, const double *positions,
                         SnEmbedding *embedding)
{
    SnStatus status = SN_OK;
    Binding binding = {.cage = cage, .positions = positions, .embedding = embedding};
    size_t batch = 64 * POINTS_PER_CHUNK;
    for (size_t i = 0; i < 3 * vertex_count; i++) {
        if (!isfinite(positions[i])) {
            SN_TRY(sn_context_fail(context, SN_BAD_INPUT,
                                   "Vertex %zu is not at a finite place (NaN or infinite): delete or repair it.", i / 3));
        }
    }
    SN_TRY_NEW(context, embedding->tets, vertex_count, int32_t);
    SN_TRY_NEW(context, embedding->weights, 4 * vertex_count, double);
    embedding->vertex_count = vertex_count;
    sn_context_stage(context, "Binding the surface", (long)vertex_count);
    SN_TRY(sn_context_look(context));
    SN_TRY(sn_tet_mesh_boundary(context, cage, &binding.boundary));
    SN_TRY(sn_context_look(context));
    SN_TRY(build_tree(context, cage, cage->tet_count, 4, cage->tets, &binding.tets));
    SN_TRY(build_tree(context, cage, binding.boundary.face_count, 3, binding.boundary.faces, &binding.faces));
    for (; binding.first < vertex_count; binding.first += batch) {
        size_t left = vertex_count - binding.first;
        SN_TRY(sn_context_advance(context, (long)binding.first));
        sn_parallel_for(left < batch ? left : batch, POINTS_PER_CHUNK, bind_points, &binding);
    }
cleanup:
    sn_tet_boundary_clear(&binding.boundary);
    sn_box_tree_clear(&binding.tets);
    sn_box_tree_clear(&binding.faces);
    if (status != SN_OK) {
        sn_embedding_clear(embedding);
    }
    return status;
}

SnStatus sn_embedding_build(SnContext *context, const SnTetMesh *cage, size_t vertex_count, const double *positions,
                            SnEmbedding *embedding)
{
    *embedding = (SnEmbedding){0};
    SnStatus status = sn_tet_mesh_check(context, cage);
    return status == SN_OK ? bind_all(context, cage, vertex_count, positions, embedding) : status;
}

SnStatus sn_embedding_build_in_pose(SnContext *context, const SnTetMesh *cage, const double *cage_positions, size_t vertex_count,
                                    const double *positions, SnEmbedding *embedding)
{
    SnTetMesh posed = *cage;
    posed.positions = (double *)(uintptr_t)cage_positions; /* only read */
    *embedding = (SnEmbedding){0};
    SnStatus status = bind_all(context, &posed, vertex_count, positions, embedding);
    for (size_t i = 0; i < embedding->vertex_count; i++) {
        double *weights = embedding->weights + 4 * i, sum = 0.0;
        for (int j = 0; j < 4; j++) {
            weights[j] = weights[j] > 0.0 && isfinite(weights[j]) ? weights[j] : 0.0;
            sum += weights[j];
        }
        for (int j = 0; j < 4; j++) {
            weights[j] = sum > 0.0 ? weights[j] / sum : 0.25; /* a flat tet gives no weights */
        }
    }
    return status;
}

void sn_embedding_clear(SnEmbedding *embedding)
{
    sn_release(embedding->tets);
    sn_release(embedding->weights);
    *embedding = (SnEmbedding){0};
}

typedef struct Application {
    const SnEmbedding *embedding;
    const SnTetMesh *cage;
    const double *values;
    double *surface;
} Application;

static void apply_points(void *data, size_t chunk, size_t begin, size_t end)
{
    const Application *application = data;
    (void)chunk;
    for (size_t i = begin; i < end; i++) {
        const int32_t *corners = application->cage->tets + 4 * (size_t)application->embedding->tets[i];
        const double *weights = application->embedding->weights + 4 * i;
        for (size_t axis = 0; axis < 3; axis++) {
            double sum = 0.0;
            for (size_t j = 0; j < 4; j++) {
                sum += weights[j] * application->values[3 * (size_t)corners[j] + axis];
            }
            application->surface[3 * i + axis] = sum;
        }
    }
}

void sn_embedding_apply(const SnEmbedding *embedding, const SnTetMesh *cage, const double *cage_values, double *surface)
{
    Application application = {embedding, cage, cage_values, surface};
    sn_parallel_for(embedding->vertex_count, 4096, apply_points, &application);
}
