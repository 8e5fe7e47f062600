/* How much of each tet the body fills, and how thick it is there. */
#include "check.h"
#include "shapes.h"

#include "mesh/cage.h"
#include "mesh/fill.h"
#include "mesh/geometry.h"

typedef struct Filled {
    SnTetMesh cage;
    SnEmbedding embedding;
    double *fill, *thickness;
    double volume, cage_volume; /* of the flesh, and of all tets */
} Filled;

static Filled filled(SnContext *context, const Shape *shape, int resolution, int separate)
{
    Filled body = {0};
    SnTriMesh mesh = shape_mesh(shape);
    SnCageSettings settings = sn_cage_settings_default();
    settings.resolution = resolution;
    settings.separate_parts = separate;
    CHECK(sn_cage_build(context, &mesh, &settings, &body.cage, &body.embedding) == SN_OK);
    body.fill = SN_NEW(context, body.cage.tet_count, double);
    body.thickness = SN_NEW(context, body.cage.tet_count, double);
    CHECK(sn_fill_measure(context, &mesh, &body.cage, &body.embedding, body.fill, body.thickness) == SN_OK);
    int sound = 1;
    for (size_t e = 0; e < body.cage.tet_count; e++) {
        double volume = sn_tet_mesh_volume(&body.cage, body.cage.positions, e);
        sound &= body.fill[e] >= SN_FILL_LEAST && body.fill[e] <= 1.0 && body.thickness[e] > 0.0;
        body.volume += body.fill[e] > SN_FILL_LEAST ? body.fill[e] * volume : 0.0;
        body.cage_volume += volume;
    }
    CHECK(sound);
    return body;
}

static void filled_clear(Filled *body)
{
    sn_tet_mesh_clear(&body->cage);
    sn_embedding_clear(&body->embedding);
    sn_release(body->fill);
    sn_release(body->thickness);
}

/* A box of that size, each side 2 n² triangles, turned about two axes. */
static Shape box_shape(SnContext *context, const double size[3], int n, double angle)
{
    Shape shape = shape_new(context, 0, 0);
    for (int side = 0; side < 6; side++) {
        int a = side / 2, b = (a + 1) % 3, c = (a + 2) % 3;
        double origin[3] = {0}, u[3] = {0}, v[3] = {0};
        origin[a] = side % 2 ? size[a] : 0.0;
        u[side % 2 ? b : c] = size[side % 2 ? b : c]; /* seen from outside, counter-clockwise */
        v[side % 2 ? c : b] = size[side % 2 ? c : b];
        shape = shape_join(context, shape, shape_plate(context, n, 1.0, origin, u, v));
    }
    for (size_t i = 0; i < shape.vertex_count; i++) {
        double *x = shape.positions + 3 * i, c = cos(angle), s = sin(angle);
        double y[3] = {c * x[0] - s * x[1], s * x[0] + c * x[1], x[2]};
        x[0] = y[0], x[1] = c * y[1] - s * y[2], x[2] = s * y[1] + c * y[2];
    }
    return shape;
}

/* The volume is that of the body, however coarse the cage and however the body lies in it. */
static void the_volume_is_that_of_the_body(SnContext *context)
{
    const double centre[3] = {0.1, 0.2, 0.3};
    for (int resolution = 6; resolution <= 24; resolution += 9) {
        Shape ball = shape_sphere(context, 24, 1.0, centre, 1.0);
        Filled body = filled(context, &ball, resolution, 1);
        CHECK_NEAR(body.volume, 4.0 / 3.0 * SHAPE_PI * 0.993, 0.05); /* the ball has corners */
        CHECK(body.cage_volume > 1.1 * body.volume);
        filled_clear(&body);
        shape_clear(&ball);
        for (int turned = 0; turned < 2; turned++) {
            const double size[3] = {1.0, 0.4, 0.06};
            Shape plate = box_shape(context, size, 8, turned ? 0.6 : 0.0);
            body = filled(context, &plate, resolution, 1);
            CHECK_NEAR(body.volume, 1.0 * 0.4 * 0.06, 0.001);
            filled_clear(&body);
            shape_clear(&plate);
        }
    }
}

/* Of a sheet at any angle; deep in a body it is no less than a cell or two. */
static void the_thickness_is_that_of_a_sheet_at_any_angle(SnContext *context)
{
    const double angles[3] = {0.0, 0.3, SHAPE_PI / 4.0}, size[3] = {1.0, 0.4, 0.06}, centre[3] = {0};
    for (int k = 0; k < 3; k++) {
        Shape plate = box_shape(context, size, 8, angles[k]);
        Filled body = filled(context, &plate, 12, 1);
        size_t right = 0;
        for (size_t e = 0; e < body.cage.tet_count; e++) {
            right += body.thickness[e] > 0.85 * size[2] && body.thickness[e] < 1.4 * size[2];
        }
        CHECK((double)right > 0.97 * (double)body.cage.tet_count); /* at its corners it is thinner */
        filled_clear(&body);
        shape_clear(&plate);
    }
    Shape ball = shape_sphere(context, 24, 1.0, centre, 1.0);
    Filled body = filled(context, &ball, 12, 1);
    for (size_t e = 0; e < body.cage.tet_count; e++) {
        const double *x = body.cage.positions + 3 * (size_t)body.cage.tets[4 * e];
        CHECK(sn_length(x) > 0.5 || body.thickness[e] > 1.0);
    }
    filled_clear(&body);
    shape_clear(&ball);
}

/* A hole in the surface leaves the body filled; a flat sheet and a cloud of points have no inside, and fill their cage. */
static void bodies_with_holes_are_filled_and_sheets_fill_their_cage(SnContext *context)
{
    const double centre[3] = {0}, origin[3] = {0}, u[3] = {1.0, 0.0, 0.0}, v[3] = {0.0, 0.8, 0.6};
    Shape whole = shape_sphere(context, 24, 1.0, centre, 1.0), open = shape_sphere(context, 24, 1.0, centre, 0.8);
    Filled body = filled(context, &whole, 12, 1), holed = filled(context, &open, 12, 1);
    CHECK(fabs(holed.volume / body.volume - 1.0) < 0.08);
    filled_clear(&body);
    filled_clear(&holed);
    shape_clear(&open);

    Shape sheet = shape_plate(context, 12, 1.0, origin, u, v);
    body = filled(context, &sheet, 12, 1);
    CHECK(fabs(body.volume / body.cage_volume - 1.0) < 1e-12);
    filled_clear(&body);
    shape_clear(&sheet);

    whole.triangle_count = 0;
    body = filled(context, &whole, 12, 1);
    CHECK(fabs(body.volume / body.cage_volume - 1.0) < 1e-12);
    filled_clear(&body);
    shape_clear(&whole);
}

static void missing_memory_is_told_and_nothing_leaks(SnContext *context)
{
    const double centre[3] = {0};
    Shape ball = shape_sphere(context, 8, 1.0, centre, 0.8);
    Filled body = filled(context, &ball, 6, 0);
    SnTriMesh mesh = shape_mesh(&ball);
    SnStatus status = SN_OUT_OF_MEMORY;
    long n = 0;
    for (; status == SN_OUT_OF_MEMORY && n < 1000; n++) {
        SnContext poor;
        sn_context_init(&poor);
        poor.allocations_until_failure = n;
        status = sn_fill_measure(&poor, &mesh, &body.cage, &body.embedding, body.fill, body.thickness);
    }
    CHECK(status == SN_OK && n > 10);
    filled_clear(&body);
    shape_clear(&ball);
}

int main(void)
{
    SnContext context;
    sn_context_init(&context);
    the_volume_is_that_of_the_body(&context);
    the_thickness_is_that_of_a_sheet_at_any_angle(&context);
    bodies_with_holes_are_filled_and_sheets_fill_their_cage(&context);
    missing_memory_is_told_and_nothing_leaks(&context);
    return CHECK_RESULT();
}
