/* Obstacles as they come: without faces, flat, inside out, open, in loose triangles, equal to the body. A block falls on each; no step
   fails. What has an upper side holds it up, whichever way its normals point. */
#include "arena.h"
#include "contact.h"

#include "base/parallel.h"

static const int CUBE[3] = {2, 2, 2};

/* Drops a block onto the obstacle. Returns how high its lowest vertex is after a while. */
static double drop_on(Shape obstacle, double *largest, size_t *crossings)
{
    Arena arena;
    arena_init(&arena);
    arena_box(&arena, CUBE, 0.1, (const double[3]){-0.11, -0.09, 0.01}, 1e5);
    (void)arena_obstacle(&arena, obstacle);
    arena_open(&arena);
    sn_world_damp(&arena.world, 1.0, 0.02);
    for (int k = 0; k < 25; k++) {
        sn_stepper_forget(arena.stepper);
        arena_step(&arena, 1.0 / 60.0);
    }
    *largest = 0.0;
    for (size_t k = 0; k < 3 * arena.world.vertex_count; k++) {
        *largest = fmax(*largest, fabs(arena.state.positions[k]));
    }
    SnCrossings found;
    CHECK(sn_crossings_init(&arena.context, &arena.surface, &found) == SN_OK);
    CHECK(sn_crossings_find(&arena.context, &found, sn_contact_points(arena.contact), 0) == SN_OK);
    *crossings = found.count;
    sn_crossings_clear(&found);
    double lowest = arena_lowest(&arena, 0, 2);
    arena_clear(&arena);
    return lowest;
}

static void turn_inside_out(Shape *shape)
{
    for (size_t t = 0; t < shape->triangle_count; t++) {
        int32_t kept = shape->triangles[3 * t];
        shape->triangles[3 * t] = shape->triangles[3 * t + 1];
        shape->triangles[3 * t + 1] = kept;
    }
}

/* Every triangle with points of its own. */
static Shape take_apart(SnContext *context, Shape shape)
{
    Shape loose = shape_new(context, 3 * shape.triangle_count, shape.triangle_count);
    for (size_t i = 0; i < 3 * shape.triangle_count; i++) {
        memcpy(loose.positions + 3 * i, shape.positions + 3 * (size_t)shape.triangles[i], 3 * sizeof(double));
        loose.triangles[i] = (int32_t)i;
    }
    shape_clear(&shape);
    return loose;
}

static void what_has_an_upper_side_holds(SnContext *context)
{
    const double origin[3] = {-1.0, -1.03, 0.0}, x[3] = {1.0, 0.0, 0.0}, y[3] = {0.0, 1.0, 0.0};
    for (int kind = 0; kind < 5; kind++) {
        double largest;
        size_t crossings;
        Shape shape = kind < 3 ? shape_plate(context, 6, 2.0, origin, x, y) : contact_ball(context, 5, 1.0, 0.0, 0.0, -1.0);
        if (kind == 1 || kind == 4) {
            turn_inside_out(&shape);
        }
        shape = kind == 2 ? take_apart(context, shape) : shape;
        double lowest = drop_on(shape, &largest, &crossings);
        CHECK(lowest > (kind < 3 ? 0.0 : -0.05) && largest < 0.5 && crossings == 0);
    }
}

static void what_is_nothing_is_passed_by(SnContext *context)
{
    const double still = 0.5 * 9.81 * 25.0 * 25.0 / 3600.0; /* fallen freely */
    for (int kind = 0; kind < 3; kind++) {
        double largest;
        size_t crossings;
        Shape shape = kind == 0 ? shape_new(context, 5, 0) : shape_new(context, kind == 1 ? 3 : 0, kind == 1 ? 1 : 0);
        for (size_t i = 0; kind == 1 && i < 3; i++) {
            shape.triangles[i] = 0; /* one point, three times */
        }
        CHECK(drop_on(shape, &largest, &crossings) < -0.5 * still);
    }
}

/* A triangle that is a line, a ball pressed flat, and thousands of triangles that hang together nowhere: nothing fails. */
static void what_is_hardly_there_stops_nothing(SnContext *context)
{
    uint64_t seed = 4;
    for (int kind = 0; kind < 3; kind++) {
        double largest;
        size_t crossings;
        Shape shape = kind == 0 ? shape_new(context, 3, 1) : kind == 1 ? contact_ball(context, 4, 0.6, 0.0, 0.0, 0.0) : shape_new(context, 6000, 2000);
        for (size_t i = 0; kind == 0 && i < 3; i++) {
            shape.positions[3 * i] = (double)i - 1.0;
            shape.triangles[i] = (int32_t)i;
        }
        for (size_t v = 0; kind == 1 && v < shape.vertex_count; v++) {
            shape.positions[3 * v + 2] = 0.0;
        }
        for (size_t i = 0; kind == 2 && i < 18000; i++) {
            double base = i % 9 < 3 ? contact_signed(&seed) * (i % 3 == 2 ? 0.2 : 1.0) - (i % 3 == 2 ? 0.3 : 0.0) : shape.positions[i - 3 - i % 9 / 6 * 3];
            shape.positions[i] = i % 9 < 3 ? base : base + 0.05 * contact_signed(&seed);
            shape.triangles[i % 6000] = (int32_t)(i % 6000);
        }
        (void)drop_on(shape, &largest, &crossings);
        CHECK(largest < 2.0);
    }
}

/* The surface of the body itself as an obstacle that stands still: all of it is in itself. */
static void a_body_in_a_copy_of_itself_is_finite(SnContext *context)
{
    SnTetMesh mesh = scene_box(context, CUBE[0], CUBE[1], CUBE[2], 0.1);
    SnTetBoundary faces = {0};
    double largest;
    size_t crossings;
    CHECK(sn_tet_mesh_boundary(context, &mesh, &faces) == SN_OK);
    Shape shape = shape_new(context, mesh.vertex_count, faces.face_count);
    for (size_t k = 0; k < 3 * mesh.vertex_count; k++) {
        const double at[3] = {-0.11, -0.09, 0.01};
        shape.positions[k] = mesh.positions[k] + at[k % 3];
    }
    memcpy(shape.triangles, faces.faces, 3 * faces.face_count * sizeof(int32_t));
    (void)drop_on(shape, &largest, &crossings);
    CHECK(largest < 2.0);
    sn_tet_boundary_clear(&faces);
    sn_tet_mesh_clear(&mesh);
}

int main(void)
{
    SnContext context;
    sn_context_init(&context);
    sn_parallel_set_thread_count(1);
    what_has_an_upper_side_holds(&context);
    what_is_nothing_is_passed_by(&context);
    what_is_hardly_there_stops_nothing(&context);
    a_body_in_a_copy_of_itself_is_finite(&context);
    return CHECK_RESULT();
}
