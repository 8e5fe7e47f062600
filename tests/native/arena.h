/* Bodies of tets and moving obstacles in one world with contact, for the native tests of it. */
#ifndef SN_TESTS_ARENA_H
#define SN_TESTS_ARENA_H

#include "scenes.h"
#include "shapes.h"

#include "dynamics/contact.h"
#include "dynamics/ensemble.h"

#define ARENA_MOST 32

typedef struct Arena {
    SnContext context;
    size_t body_count, obstacle_count;
    Scene bodies[ARENA_MOST];
    Shape obstacles[ARENA_MOST];
    double *obstacle_end[ARENA_MOST]; /* where each goes in the next step */
    double gravity[3], gap, friction, separate;
    SnScheme scheme;
    int contact_off, keep_input, strict, soft_collider;
    double tolerance;
    SnSkin (*hang)(SnSkin plain); /* null: points of bodies are vertices */
    /* from open to close */
    SnWorld world;
    SnSurface surface;
    SnPlainSkin plain[ARENA_MOST];
    SnObstacleSkin moving[ARENA_MOST];
    int32_t *numbers, *corners;
    double *weights;
    SnContact *contact;
    SnStepper *stepper;
    SnInputCurve curves[ARENA_MOST];
    SnInputDriver inputs[ARENA_MOST];
    SnDriver drivers[ARENA_MOST];
    SnState state;
    SnStepReport report;
    SnContactReport contacts; /* summed */
} Arena;

static inline void arena_init(Arena *arena)
{
    *arena = (Arena){.gravity = {0.0, 0.0, -9.81}, .gap = 1e-3, .separate = 1.0, .scheme = SN_SCHEME_TR_BDF2, .tolerance = 1e-7};
    sn_context_init(&arena->context);
}

/* A free box of tets with its lowest corner at `at`. */
static inline Scene *arena_box(Arena *arena, const int cells[3], double cell, const double at[3], double young)
{
    Scene *body = arena->bodies + arena->body_count++;
    SnTetMesh mesh = scene_box(&arena->context, cells[0], cells[1], cells[2], cell);
    for (size_t k = 0; k < 3 * mesh.vertex_count; k++) {
        mesh.positions[k] += at[k % 3];
    }
    *body = scene_from(&arena->context, mesh, 0, young, &sn_density_neo_hookean);
    return body;
}

/* What of a body, made last, lies at low..high along an axis follows the input. */
static inline void arena_hold(Arena *arena, int axis, double low, double high)
{
    Scene *body = arena->bodies + arena->body_count - 1;
    SnTetMesh mesh = body->mesh;
    for (size_t v = 0; v < mesh.vertex_count; v++) {
        double at = mesh.positions[3 * v + (size_t)axis];
        body->fixed[v] |= at >= low && at <= high;
    }
    scene_raze(body);
    scene_build(&arena->context, 1e5, 0.3, &sn_density_neo_hookean, body);
}

/* Takes the shape. */
static inline size_t arena_obstacle(Arena *arena, Shape shape)
{
    arena->obstacles[arena->obstacle_count] = shape;
    arena->obstacle_end[arena->obstacle_count] = scene_copy(&arena->context, shape.positions, 3 * shape.vertex_count);
    return arena->obstacle_count++;
}

/* A floor of n x n quads around the origin at a height, which looks up. */
static inline size_t arena_floor(Arena *arena, int n, double side, double height)
{
    const double origin[3] = {-0.5 * side, -0.5 * side, height}, u[3] = {1.0, 0.0, 0.0}, v[3] = {0.0, 1.0, 0.0};
    return arena_obstacle(arena, shape_plate(&arena->context, n, side, origin, u, v));
}

static inline void arena_open(Arena *arena)
{
    SnContext *context = &arena->context;
    const SnWorld *worlds[ARENA_MOST];
    SnSurfacePart parts[2 * ARENA_MOST] = {{0}};
    SnSkin skins[2 * ARENA_MOST];
    SnTetBoundary faces[ARENA_MOST] = {{0}};
    double *friction[2 * ARENA_MOST];
    size_t largest = 0, first = 0, count = arena->body_count, all = count + arena->obstacle_count, vertices = 0;
    for (size_t b = 0; b < count; b++) {
        worlds[b] = &arena->bodies[b].world;
        vertices += arena->bodies[b].mesh.vertex_count;
        largest = arena->bodies[b].mesh.vertex_count > largest ? arena->bodies[b].mesh.vertex_count : largest;
    }
    CHECK(sn_world_join(context, count, worlds, &arena->world) == SN_OK);
    double *nowhere = SN_NEW(context, 3 * vertices, double);
    CHECK(sn_world_begin(context, &arena->world, nowhere, &arena->state) == SN_OK);
    sn_release(nowhere);
    arena->numbers = SN_NEW(context, largest, int32_t);
    arena->corners = SN_NEW(context, 4 * vertices, int32_t);
    arena->weights = SN_NEW(context, 4 * vertices, double);
    for (size_t v = 0; v < largest; v++) {
        arena->numbers[v] = (int32_t)v;
    }
    for (size_t b = 0; b < count; b++) {
        Scene *body = arena->bodies + b;
        size_t own = body->mesh.vertex_count;
        memcpy(arena->state.positions + 3 * first, body->mesh.positions, 3 * own * sizeof(double));
        CHECK(sn_tet_mesh_boundary(context, &body->mesh, faces + b) == SN_OK);
        for (size_t v = first; v < first + own; v++) {
            for (size_t i = 0; i < 4; i++) {
                arena->corners[4 * v + i] = (int32_t)v;
                arena->weights[4 * v + i] = i == 0;
            }
        }
        parts[b] = (SnSurfacePart){.point_count = own, .triangle_count = faces[b].face_count, .rest = body->mesh.positions,
                                   .triangles = faces[b].faces, .corners = arena->corners + 4 * first,
                                   .weights = arena->weights + 4 * first, .kinematic = body->fixed};
        arena->plain[b] = (SnPlainSkin){own, arena->numbers};
        skins[b] = sn_plain_skin(arena->plain + b, first);
        skins[b] = arena->hang != NULL ? arena->hang(skins[b]) : skins[b];
        arena->curves[b] = (SnInputCurve){.vertex_count = own, .begin = body->mesh.positions, .end = body->mesh.positions};
        arena->inputs[b] = body->driver;
        arena->inputs[b].curve = arena->curves + b;
        memcpy(arena->inputs[b].gravity, arena->gravity, sizeof arena->gravity);
        arena->drivers[b] = sn_input_driver(arena->inputs + b);
        first += own;
    }
    for (size_t o = 0; o < arena->obstacle_count; o++) {
        const Shape *shape = arena->obstacles + o;
        parts[count + o] = (SnSurfacePart){.point_count = shape->vertex_count, .triangle_count = shape->triangle_count,
                                           .rest = shape->positions, .triangles = shape->triangles};
        arena->moving[o] = (SnObstacleSkin){.point_count = shape->vertex_count, .begin = shape->positions, .end = arena->obstacle_end[o]};
        skins[count + o] = sn_obstacle_skin(arena->moving + o);
    }
    for (size_t p = 0; p < all; p++) {
        friction[p] = SN_NEW(context, parts[p].point_count, double);
        for (size_t k = 0; k < parts[p].point_count; k++) {
            friction[p][k] = arena->friction;
        }
        parts[p].friction = friction[p];
    }
    CHECK(sn_surface_init(context, all, parts, vertices, &arena->surface) == SN_OK);
    SnContactSettings settings = {.gap = arena->gap, .separate = arena->separate,
                                  .keep_input = arena->keep_input, .strict = arena->strict, .soft_collider = arena->soft_collider};
    CHECK(sn_contact_create(context, &arena->world, &arena->surface, skins, &settings, &arena->contact) == SN_OK);
    SnStepSettings step = {.scheme = arena->scheme, .step_tolerance = arena->tolerance};
    CHECK(sn_stepper_create(context, &arena->world, &step, &arena->stepper) == SN_OK);
    if (!arena->contact_off) {
        sn_stepper_collide(arena->stepper, arena->contact);
    }
    for (size_t p = 0; p < all; p++) {
        sn_release(friction[p]);
    }
    for (size_t b = 0; b < count; b++) {
        sn_tet_boundary_clear(faces + b);
    }
}

static inline void arena_clear(Arena *arena)
{
    sn_stepper_destroy(arena->stepper);
    sn_contact_destroy(arena->contact);
    sn_surface_clear(&arena->surface);
    sn_world_clear(&arena->world);
    sn_state_clear(&arena->state);
    sn_release(arena->numbers);
    sn_release(arena->corners);
    sn_release(arena->weights);
    for (size_t b = 0; b < arena->body_count; b++) {
        scene_clear(arena->bodies + b);
    }
    for (size_t o = 0; o < arena->obstacle_count; o++) {
        shape_clear(arena->obstacles + o);
        sn_release(arena->obstacle_end[o]);
    }
}

/* A step of h seconds; obstacles are where they go to afterwards. */
static inline int arena_step(Arena *arena, double h)
{
    for (size_t b = 0; b < arena->body_count; b++) {
        arena->curves[b].interval = h;
    }
    int ok = sn_stepper_step(&arena->context, arena->stepper, arena->drivers, 0.0, 1.0, h, &arena->state, &arena->report) == SN_OK;
    if (!ok) {
        printf("%s\n", arena->context.message);
    }
    for (size_t o = 0; o < arena->obstacle_count; o++) {
        memcpy(arena->obstacles[o].positions, arena->obstacle_end[o], 3 * arena->obstacles[o].vertex_count * sizeof(double));
    }
    return CHECK(ok);
}

/* Mass-weighted mean of a field over a body. */
static inline void arena_mean(const Arena *arena, size_t body, const double *field, double mean[3])
{
    const SnBody *b = arena->world.bodies + body;
    double mass = 0.0;
    mean[0] = mean[1] = mean[2] = 0.0;
    for (size_t v = b->first_vertex; v < b->first_vertex + b->vertex_count; v++) {
        mass += arena->world.mass[v];
        for (size_t a = 0; a < 3; a++) {
            mean[a] += arena->world.mass[v] * field[3 * v + a];
        }
    }
    for (size_t a = 0; a < 3; a++) {
        mean[a] /= mass;
    }
}

static inline void arena_throw(Arena *arena, size_t body, const double velocity[3])
{
    const SnBody *b = arena->world.bodies + body;
    for (size_t k = 3 * b->first_vertex; k < 3 * (b->first_vertex + b->vertex_count); k++) {
        arena->state.velocities[k] += velocity[k % 3];
    }
}

/* The lowest coordinate of a body along an axis. */
static inline double arena_lowest(const Arena *arena, size_t body, int axis)
{
    const SnBody *b = arena->world.bodies + body;
    double lowest = INFINITY;
    for (size_t v = b->first_vertex; v < b->first_vertex + b->vertex_count; v++) {
        lowest = fmin(lowest, arena->state.positions[3 * v + (size_t)axis]);
    }
    return lowest;
}

/* Sum of the forces of all contacts along an axis on one surface body, as `touches` has them. */
static inline double arena_force(const Arena *arena, size_t surface_body, int axis)
{
    const double *forces;
    const SnTouches *touches = sn_contact_touches(arena->contact, &forces);
    double sum = 0.0;
    for (size_t k = 0; k < touches->count; k++) {
        for (int i = 0; i < 4; i++) {
            if (arena->surface.point_bodies[touches->touches[k].points[i]] == (int32_t)surface_body) {
                sum += touches->touches[k].c[i] * forces[k] * touches->touches[k].n[axis];
            }
        }
    }
    return sum;
}

#endif
