#include "check.h"
#include "shapes.h"

#include <string.h>

static void bad_input_is_answered_with_a_sentence(void)
{
    SnContext context;
    double positions[9] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0};
    int32_t triangle[3] = {0, 1, 2};
    SnTriMesh mesh = {3, 1, positions, triangle};
    sn_context_init(&context);
    CHECK(sn_tri_mesh_check(&context, &mesh) == SN_OK);

    positions[4] = NAN;
    CHECK(sn_tri_mesh_check(&context, &mesh) == SN_BAD_INPUT);
    CHECK(strstr(context.message, "Vertex 1") != NULL);
    positions[4] = -INFINITY;
    CHECK(sn_tri_mesh_check(&context, &mesh) == SN_BAD_INPUT);
    positions[4] = 1e200;
    CHECK(sn_tri_mesh_check(&context, &mesh) == SN_BAD_INPUT);
    positions[4] = 0.0;

    triangle[2] = 3;
    CHECK(sn_tri_mesh_check(&context, &mesh) == SN_BAD_INPUT);
    CHECK(strstr(context.message, "vertex 3") != NULL);
    triangle[2] = -1;
    CHECK(sn_tri_mesh_check(&context, &mesh) == SN_BAD_INPUT);

    mesh.vertex_count = mesh.triangle_count = 0;
    CHECK(sn_tri_mesh_check(&context, &mesh) == SN_BAD_INPUT);
    CHECK(strstr(context.message, "no vertices") != NULL);
}

static void size_is_the_longest_side(void)
{
    const double positions[6] = {-1.0, 2.0, 5.0, 1.0, -3.0, 5.5};
    SnTriMesh mesh = {2, 0, positions, NULL};
    CHECK_NEAR(sn_tri_mesh_size(&mesh), 5.0, 0.0);
}

static void vertex_areas_sum_to_the_surface(void)
{
    SnContext context;
    const double center[3] = {1.0, 2.0, 3.0};
    sn_context_init(&context);
    Shape shape = shape_sphere(&context, 40, 2.0, center, 1.0);
    SnTriMesh mesh = shape_mesh(&shape);
    double *areas = SN_NEW(&context, shape.vertex_count, double), sum = 0.0, least = INFINITY;
    CHECK(sn_tri_mesh_vertex_areas(&context, &mesh, areas) == SN_OK);
    for (size_t i = 0; i < shape.vertex_count; i++) {
        sum += areas[i];
        least = fmin(least, areas[i]);
    }
    CHECK_NEAR(sum / (16.0 * SHAPE_PI), 1.0, 0.01);
    CHECK(least > 0.0);
    sn_release(areas);
    shape_clear(&shape);
}

static void loose_vertices_count_by_their_spacing(void)
{
    SnContext context;
    /* Two coincident points, one at distance 0.1, and a triangle of collinear points far away. */
    const double positions[18] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 5.0, 0.0, 0.0, 6.0, 0.0, 0.0, 7.0, 0.0, 0.0};
    const int32_t flat[3] = {3, 4, 5};
    SnTriMesh mesh = {6, 1, positions, flat};
    double areas[6];
    sn_context_init(&context);
    CHECK(sn_tri_mesh_vertex_areas(&context, &mesh, areas) == SN_OK);
    CHECK_NEAR(areas[0], 0.01, 1e-12);
    CHECK_NEAR(areas[1], 0.01, 1e-12);
    CHECK_NEAR(areas[2], 0.01, 1e-12);
    CHECK_NEAR(areas[4], 1.0, 1e-12);

    /* All in one place: nothing to measure, and no failure. */
    const double together[6] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    SnTriMesh point = {2, 0, together, NULL};
    CHECK(sn_tri_mesh_vertex_areas(&context, &point, areas) == SN_OK);
    CHECK_NEAR(areas[0], 0.0, 0.0);
}

static void a_stray_vertex_does_not_outweigh_the_surface(void)
{
    SnContext context;
    const double positions[12] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 900.0, 0.0, 0.0};
    const int32_t triangle[3] = {0, 1, 2};
    SnTriMesh mesh = {4, 1, positions, triangle};
    double areas[4];
    sn_context_init(&context);
    CHECK(sn_tri_mesh_vertex_areas(&context, &mesh, areas) == SN_OK);
    CHECK_NEAR(areas[0], 1.0 / 6.0, 1e-15);
    CHECK_NEAR(areas[3], 1.0 / 6.0, 1e-15);
}

int main(void)
{
    bad_input_is_answered_with_a_sentence();
    size_is_the_longest_side();
    vertex_areas_sum_to_the_surface();
    loose_vertices_count_by_their_spacing();
    a_stray_vertex_does_not_outweigh_the_surface();
    return CHECK_RESULT();
}
