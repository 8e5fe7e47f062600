#include "check.h"
#include "shapes.h"

#include "mesh/cage.h"
#include "mesh/embedding.h"

#include <string.h>

static SnTetMesh sphere_cage(SnContext *context, Shape *shape)
{
    const double center[3] = {0.5, 0.0, -0.5};
    SnTetMesh cage;
    SnCageSettings settings = sn_cage_settings_default();
    settings.resolution = 8;
    *shape = shape_sphere(context, 16, 1.0, center, 1.0);
    SnTriMesh mesh = shape_mesh(shape);
    SnEmbedding own;
    CHECK(sn_cage_build(context, &mesh, &settings, &cage, &own) == SN_OK);
    sn_embedding_clear(&own);
    return cage;
}

static void surface_lies_inside_and_is_reproduced(void)
{
    SnContext context;
    Shape shape;
    SnEmbedding embedding;
    double worst = 0.0, least = 1.0;
    sn_context_init(&context);
    SnTetMesh cage = sphere_cage(&context, &shape);
    CHECK(sn_embedding_build(&context, &cage, shape.vertex_count, shape.positions, &embedding) == SN_OK);
    CHECK(embedding.vertex_count == shape.vertex_count);
    double *surface = SN_NEW(&context, 3 * shape.vertex_count, double);
    sn_embedding_apply(&embedding, &cage, cage.positions, surface);
    for (size_t i = 0; i < 3 * shape.vertex_count; i++) {
        worst = fmax(worst, fabs(surface[i] - shape.positions[i]));
    }
    CHECK(worst < 1e-13);
    for (size_t i = 0; i < shape.vertex_count; i++) {
        const double *w = embedding.weights + 4 * i;
        CHECK(embedding.tets[i] >= 0 && (size_t)embedding.tets[i] < cage.tet_count);
        CHECK_NEAR(w[0] + w[1] + w[2] + w[3], 1.0, 1e-12);
        least = fmin(least, fmin(fmin(w[0], w[1]), fmin(w[2], w[3])));
    }
    CHECK(least > -1e-9);

    /* An affine motion of the cage is an affine motion of the surface. */
    double *moved = SN_NEW(&context, 3 * cage.vertex_count, double);
    for (size_t i = 0; i < cage.vertex_count; i++) {
        const double *x = cage.positions + 3 * i;
        moved[3 * i] = 2.0 * x[0] + x[1] + 1.0;
        moved[3 * i + 1] = x[1] - 3.0 * x[2];
        moved[3 * i + 2] = 0.5 * x[2] + x[0];
    }
    sn_embedding_apply(&embedding, &cage, moved, surface);
    worst = 0.0;
    for (size_t i = 0; i < shape.vertex_count; i++) {
        const double *x = shape.positions + 3 * i, *y = surface + 3 * i;
        worst = fmax(worst, fabs(y[0] - (2.0 * x[0] + x[1] + 1.0)));
        worst = fmax(worst, fabs(y[1] - (x[1] - 3.0 * x[2])));
        worst = fmax(worst, fabs(y[2] - (0.5 * x[2] + x[0])));
    }
    CHECK(worst < 1e-12);
    sn_release(moved);
    sn_release(surface);
    sn_embedding_clear(&embedding);
    sn_tet_mesh_clear(&cage);
    shape_clear(&shape);
}

static void points_outside_extrapolate_from_the_nearest_face(void)
{
    SnContext context;
    SnEmbedding embedding;
    SnTetMesh cage;
    static const double CORNERS[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -1};
    static const int32_t TETS[8] = {0, 1, 2, 3, 0, 2, 1, 4};
    const double points[9] = {0.2, 0.2, 2.0, 0.2, 0.2, -2.0, 10.0, 0.1, 0.5};
    double surface[9];
    sn_context_init(&context);
    CHECK(sn_tet_mesh_init(&context, 5, 2, &cage) == SN_OK);
    memcpy(cage.positions, CORNERS, sizeof CORNERS);
    memcpy(cage.tets, TETS, sizeof TETS);
    CHECK(sn_embedding_build(&context, &cage, 3, points, &embedding) == SN_OK);
    CHECK(embedding.tets[0] == 0);
    CHECK(embedding.tets[1] == 1);
    sn_embedding_apply(&embedding, &cage, cage.positions, surface);
    for (int i = 0; i < 9; i++) {
        CHECK_NEAR(surface[i], points[i], 1e-12);
    }
    sn_embedding_clear(&embedding);

    const double broken[3] = {0.0, NAN, 0.0};
    CHECK(sn_embedding_build(&context, &cage, 1, broken, &embedding) == SN_BAD_INPUT);
    sn_tet_mesh_clear(&cage);
    CHECK(sn_embedding_build(&context, &cage, 3, points, &embedding) == SN_BAD_INPUT);
}

static void points_hold_on_to_a_deformed_cage(void)
{
    SnContext context;
    SnEmbedding embedding;
    SnTetMesh cage;
    static const double CORNERS[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -1};
    static const int32_t TETS[8] = {0, 1, 2, 3, 0, 2, 1, 4};
    /* shifted by 5; the second tet is flat, which the rest shape may not be */
    static const double POSE[15] = {5, 0, 0, 6, 0, 0, 5, 1, 0, 5, 0, 1, 5.2, 0.2, 0};
    const double points[9] = {5.1, 0.1, 0.2, 5.2, 0.2, -2.0, 5.0, 0.0, 3.0};
    double surface[9];
    sn_context_init(&context);
    CHECK(sn_tet_mesh_init(&context, 5, 2, &cage) == SN_OK);
    memcpy(cage.positions, CORNERS, sizeof CORNERS);
    memcpy(cage.tets, TETS, sizeof TETS);
    CHECK(sn_embedding_build_in_pose(&context, &cage, POSE, 3, points, &embedding) == SN_OK);
    for (int i = 0; i < 12; i++) {
        CHECK(embedding.weights[i] >= 0.0 && embedding.weights[i] <= 1.0);
    }
    sn_embedding_apply(&embedding, &cage, POSE, surface);
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(surface[i], points[i], 1e-12); /* inside: reproduced */
    }
    CHECK_NEAR(surface[8], 1.0, 1e-12); /* above the tip: held there */
    CHECK_NEAR(surface[6], 5.0, 1e-12);
    CHECK(fabs(surface[5]) < 1e-12); /* below: held by the flat tet */
    sn_embedding_clear(&embedding);
    sn_tet_mesh_clear(&cage);
}

static void failing_memory_leaves_nothing_behind(void)
{
    SnContext context;
    Shape shape;
    SnEmbedding embedding;
    sn_context_init(&context);
    SnTetMesh cage = sphere_cage(&context, &shape);
    SnStatus status = SN_OUT_OF_MEMORY;
    long failing = 0;
    for (; status != SN_OK && failing < 100; failing++) {
        context.allocations_until_failure = failing;
        status = sn_embedding_build(&context, &cage, shape.vertex_count, shape.positions, &embedding);
        CHECK(status == SN_OK || (status == SN_OUT_OF_MEMORY && embedding.tets == NULL && embedding.weights == NULL));
    }
    CHECK(status == SN_OK && failing > 5);
    sn_embedding_clear(&embedding);
    context.allocations_until_failure = -1;
    sn_context_cancel(&context);
    CHECK(sn_embedding_build(&context, &cage, shape.vertex_count, shape.positions, &embedding) == SN_CANCELLED);
    sn_tet_mesh_clear(&cage);
    shape_clear(&shape);
}

int main(void)
{
    surface_lies_inside_and_is_reproduced();
    points_outside_extrapolate_from_the_nearest_face();
    points_hold_on_to_a_deformed_cage();
    failing_memory_leaves_nothing_behind();
    return CHECK_RESULT();
}
