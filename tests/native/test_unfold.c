/* What a fit has left folded is turned right, near there alone and not at the price of the surface. */
#include "cancel.h"
#include "shapes.h"

#include "dynamics/unfold.h"
#include "mesh/cage.h"
#include "mesh/geometry.h"

#include <string.h>

#define STIFFNESS 2e-3 /* metres: as a fit of a ball of 1 m has it */

typedef struct Ball {
    SnContext context;
    Shape shape;
    SnTetMesh cage;
    SnEmbedding embedding;
    SnTetElements elements;
    double *areas;
    SnUnfold *unfold;
} Ball;

static void ball_init(Ball *ball)
{
    const double centre[3] = {0.3, -0.2, 0.1};
    SnCageSettings settings = {.resolution = 8, .offset = 0.5};
    *ball = (Ball){0};
    sn_context_init(&ball->context);
    ball->shape = shape_sphere(&ball->context, 16, 0.5, centre, 1.0);
    SnTriMesh mesh = shape_mesh(&ball->shape);
    ball->areas = SN_NEW(&ball->context, mesh.vertex_count, double);
    CHECK(sn_tri_mesh_vertex_areas(&ball->context, &mesh, ball->areas) == SN_OK);
    CHECK(sn_cage_build(&ball->context, &mesh, &settings, &ball->cage, &ball->embedding) == SN_OK);
    CHECK(sn_tet_elements_init(&ball->context, &ball->cage, &sn_density_as_rigid, &ball->elements) == SN_OK);
    for (size_t e = 0; e < ball->cage.tet_count; e++) {
        sn_tet_elements_set_material(&ball->elements, e, 0.7, 0.0);
    }
    CHECK(sn_unfold_create(&ball->context, &ball->cage, &ball->elements, &ball->embedding, ball->areas, STIFFNESS, &ball->unfold) == SN_OK);
}

static void ball_clear(Ball *ball)
{
    sn_unfold_destroy(ball->unfold);
    sn_tet_elements_clear(&ball->elements);
    sn_embedding_clear(&ball->embedding);
    sn_tet_mesh_clear(&ball->cage);
    shape_clear(&ball->shape);
    sn_release(ball->areas);
}

static double *copy_of_cage(Ball *ball)
{
    double *x = SN_NEW(&ball->context, 3 * ball->cage.vertex_count, double);
    memcpy(x, ball->cage.positions, 3 * ball->cage.vertex_count * sizeof *x);
    return x;
}

static size_t count_inverted(const Ball *ball, const double *x)
{
    double smallest;
    return sn_tet_elements_inverted(&ball->elements, x, &smallest);
}

static double farthest_off(Ball *ball, const double *x, const double *surface)
{
    double farthest = 0.0, *at = SN_NEW(&ball->context, 3 * ball->shape.vertex_count, double);
    sn_embedding_apply(&ball->embedding, &ball->cage, x, at);
    for (size_t s = 0; s < ball->shape.vertex_count; s++) {
        farthest = fmax(farthest, sqrt(sn_distance_squared(at + 3 * s, surface + 3 * s)));
    }
    sn_release(at);
    return farthest;
}

/* Pushes vertices across the face opposite, in tets `every` apart. */
static void fold(const Ball *ball, size_t every, double *x)
{
    for (size_t e = 0; e < ball->cage.tet_count; e += every) {
        const int32_t *t = ball->cage.tets + 4 * e;
        for (size_t a = 0; a < 3; a++) {
            double middle = (x[3 * (size_t)t[0] + a] + x[3 * (size_t)t[1] + a] + x[3 * (size_t)t[2] + a]) / 3.0;
            x[3 * (size_t)t[3] + a] += 1.6 * (middle - x[3 * (size_t)t[3] + a]);
        }
    }
}

static void test_folds_are_undone(void)
{
    Ball ball;
    ball_init(&ball);
    double *x = copy_of_cage(&ball);
    fold(&ball, ball.cage.tet_count / 6, x);
    double *folded = SN_NEW(&ball.context, 3 * ball.cage.vertex_count, double);
    memcpy(folded, x, 3 * ball.cage.vertex_count * sizeof *x);
    CHECK(count_inverted(&ball, x) > 20);
    CHECK(sn_unfold_fit(&ball.context, ball.unfold, ball.shape.positions, x) == SN_OK);
    CHECK(count_inverted(&ball, x) == 0);
    CHECK(farthest_off(&ball, x, ball.shape.positions) < 0.5 * farthest_off(&ball, folded, ball.shape.positions));
    size_t kept = 0;
    for (size_t k = 0; k < ball.cage.vertex_count; k++) {
        kept += memcmp(x + 3 * k, folded + 3 * k, 3 * sizeof *x) == 0;
    }
    CHECK(kept > ball.cage.vertex_count / 4); /* what is far from all of them */
    sn_release(folded);
    sn_release(x);
    ball_clear(&ball);
}

static void test_what_is_sound_keeps_its_bits(void)
{
    Ball ball;
    ball_init(&ball);
    double *x = copy_of_cage(&ball);
    for (size_t k = 0; k < 3 * ball.cage.vertex_count; k++) {
        x[k] *= k % 3 == 0 ? 0.2 : 1.3; /* squeezed, and off the surface */
    }
    double *before = SN_NEW(&ball.context, 3 * ball.cage.vertex_count, double);
    memcpy(before, x, 3 * ball.cage.vertex_count * sizeof *x);
    CHECK(sn_unfold_fit(&ball.context, ball.unfold, ball.shape.positions, x) == SN_OK);
    CHECK(memcmp(before, x, 3 * ball.cage.vertex_count * sizeof *x) == 0);
    sn_release(before);
    sn_release(x);
    ball_clear(&ball);
}

/* A surface that is inside out itself can have no sound cage: nothing flies off for it. */
static void test_a_folded_surface_tears_nothing_away(void)
{
    Ball ball;
    ball_init(&ball);
    double cell = sn_tet_mesh_cell(&ball.cage, 0), *x = copy_of_cage(&ball), *surface = ball.shape.positions;
    for (size_t k = 2; k < 3 * ball.shape.vertex_count; k += 3) {
        surface[k] = surface[k] > 0.4 ? 0.8 - surface[k] : surface[k];
    }
    for (size_t k = 2; k < 3 * ball.cage.vertex_count; k += 3) {
        x[k] = x[k] > 0.4 ? 0.8 - x[k] : x[k];
    }
    double *before = SN_NEW(&ball.context, 3 * ball.cage.vertex_count, double);
    memcpy(before, x, 3 * ball.cage.vertex_count * sizeof *x);
    size_t inverted = count_inverted(&ball, x);
    CHECK(inverted > 50);
    CHECK(sn_unfold_fit(&ball.context, ball.unfold, surface, x) == SN_OK);
    CHECK(count_inverted(&ball, x) <= inverted);
    for (size_t k = 0; k < ball.cage.vertex_count; k++) {
        CHECK(sqrt(sn_distance_squared(x + 3 * k, before + 3 * k)) < 2.0 * cell);
    }
    sn_release(before);
    sn_release(x);
    ball_clear(&ball);
}

static SnStatus unfold(SnContext *context, void *data)
{
    Ball *ball = data;
    double *x = copy_of_cage(ball);
    fold(ball, ball->cage.tet_count / 6, x);
    sn_context_stage(context, "Fitting the cage", 1); /* it is a part of other work */
    SnStatus status = sn_unfold_fit(context, ball->unfold, ball->shape.positions, x);
    CHECK(status != SN_OK || count_inverted(ball, x) == 0);
    sn_release(x);
    return status;
}

static void test_it_can_be_cancelled_and_called_again(void)
{
    Ball ball;
    ball_init(&ball);
    cancel_at_every_look("unfold", unfold, &ball, 1, "Fitting the cage");
    ball_clear(&ball);
}

int main(void)
{
    test_it_can_be_cancelled_and_called_again();
    test_folds_are_undone();
    test_what_is_sound_keeps_its_bits();
    test_a_folded_surface_tears_nothing_away();
    return CHECK_RESULT();
}
