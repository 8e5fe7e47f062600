/* Bodies that fall, slide, rest and bounce, against what mechanics says (methods, D). */
#include "arena.h"

#include "base/parallel.h"
#include "math/mat3.h"

#include <stdlib.h>

static const int CUBE[3] = {3, 3, 3};
static const double NOWHERE[3] = {0.0, 0.0, 0.0};

static void show(const Arena *arena, int step)
{
    if (getenv("SHOW") == NULL) {
        return;
    }
    SnContactReport r = sn_contact_report(arena->contact);
    printf("%3d rounds %d fact %d unconv %d fall %d | stages %ld outer %ld ccds %ld planes %zu partial %ld |", step, arena->report.rounds,
           arena->report.factorizations, arena->report.unconverged, arena->report.fallbacks, r.stages, r.rounds, r.ccds, r.planes,
           r.partial_steps);
    for (size_t b = 0; b < arena->body_count && b < 5; b++) {
        double x[3], v[3];
        arena_mean(arena, b, arena->state.positions, x);
        arena_mean(arena, b, arena->state.velocities, v);
        printf(" %.4f %.4f %.5f, %.4f %.4f %.4f;", x[0], x[1], x[2], v[0], v[1], v[2]);
    }
    printf("\n");
}

static void run(Arena *arena, int steps, double h)
{
    for (int k = 0; k < steps; k++) {
        if (!arena_step(arena, h)) {
            break;
        }
        show(arena, k);
    }
}

/* A block that falls on a floor and lies there. */
static void a_block_comes_to_rest_on_the_floor(void)
{
    Arena arena;
    arena_init(&arena);
    const double at[3] = {0.0, 0.0, 0.02};
    arena_box(&arena, CUBE, 0.1, at, 1e5);
    arena_floor(&arena, 5, 2.0, 0.0);
    arena_open(&arena);
    sn_world_damp(&arena.world, 2.0, 0.02);
    run(&arena, 60, 1.0 / 60.0);
    double weight = 1000.0 * 0.027 * 9.81;
    CHECK_NEAR(arena_force(&arena, 0, 2), weight, 1e-3 * weight);
    CHECK_NEAR(arena_lowest(&arena, 0, 2), arena.gap, 0.03 * arena.gap);
    arena_clear(&arena);
}

/* Five soft boxes, each a little beside the one below: the lean excites the column's sway, a swing of 0.7 s, which drag has to end. What
   is asked of contact is that nothing else is left: no creep, no jitter. */
static void a_stack_of_boxes_comes_to_rest(void)
{
    Arena arena;
    arena_init(&arena);
    arena.friction = 0.4;
    for (int b = 0; b < 5; b++) {
        const double at[3] = {0.01 * b, -0.008 * b, 0.001 + 0.201 * b};
        arena_box(&arena, (const int[3]){2, 2, 2}, 0.1, at, 1e6);
    }
    arena_floor(&arena, 5, 2.0, 0.0);
    arena_open(&arena);
    sn_world_damp(&arena.world, 10.0, 0.005);
    run(&arena, 120, 1.0 / 60.0);
    double weight = 5.0 * 8.0 * 9.81, size = 0.2, fastest = 0.0, low = 0.0;
    for (size_t k = 0; k < 3 * arena.world.vertex_count; k++) {
        fastest = fmax(fastest, fabs(arena.state.velocities[k]));
    }
    CHECK(fastest <= 1e-4 * size);
    CHECK_NEAR(-arena_force(&arena, 5, 2), weight, 1e-3 * weight);
    CHECK_NEAR(arena_lowest(&arena, 0, 2), arena.gap, 0.03 * arena.gap);
    for (size_t b = 0; b < 5; b++) { /* it stands: each is higher than the one below by its own height, less what it is pressed together */
        CHECK(arena_lowest(&arena, b, 2) - low > (b == 0 ? 0.9 * arena.gap : 0.97 * size));
        low = arena_lowest(&arena, b, 2);
    }
    CHECK(arena.report.unconverged == 0);
    arena_clear(&arena);
}

/* On a floor of many triangles, whose inner edges must not be felt. */
static void what_slides_without_friction_keeps_its_speed(void)
{
    Arena arena;
    arena_init(&arena);
    const double at[3] = {-0.8, -0.13, 1e-3}, speed[3] = {2.0, 0.3, 0.0};
    double velocity[3], before[3], after[3];
    arena_box(&arena, CUBE, 0.1, at, 1e5);
    arena_floor(&arena, 23, 4.0, 0.0);
    arena_open(&arena);
    arena_throw(&arena, 0, speed);
    arena_mean(&arena, 0, arena.state.positions, before);
    run(&arena, 40, 1.0 / 60.0);
    arena_mean(&arena, 0, arena.state.velocities, velocity);
    arena_mean(&arena, 0, arena.state.positions, after);
    CHECK_NEAR(velocity[0], 2.0, 2e-3);
    CHECK_NEAR(velocity[1], 0.3, 2e-3);
    CHECK_NEAR(after[0] - before[0], 2.0 * 40.0 / 60.0, 2e-3);
    arena_clear(&arena);
}

/* Over a sphere: what it loses in height it gains in speed. From triangle to triangle a flat block tips over the edge, and loses what it falls by
   that, half of g times the bend: little, where triangles are small and weight is. */
static void what_slides_over_a_sphere_keeps_its_energy(void)
{
    Arena arena;
    arena_init(&arena);
    const double radius = 20.0, at[3] = {-0.15, -0.15, 1e-3}, speed[3] = {1.0, 0.0, 0.0}, origin[3] = {-2.0, -1.0, 0.0};
    const double u[3] = {1.0, 0.0, 0.0}, v[3] = {0.0, 1.0, 0.0}, g = 1.0;
    arena.gravity[2] = -g;
    arena_box(&arena, (const int[3]){3, 3, 1}, 0.1, at, 1e6);
    size_t hill = arena_obstacle(&arena, shape_plate(&arena.context, 90, 4.0, origin, u, v));
    for (size_t k = 0; k < arena.obstacles[hill].vertex_count; k++) {
        double *x = arena.obstacles[hill].positions + 3 * k;
        x[2] = sqrt(radius * radius - x[0] * x[0] - x[1] * x[1]) - radius;
        arena.obstacle_end[hill][3 * k + 2] = x[2];
    }
    arena_open(&arena);
    sn_world_damp(&arena.world, 0.0, 0.005);
    arena_throw(&arena, 0, speed);
    double before[3], after[3], velocity[3];
    run(&arena, 20, 1.0 / 60.0); /* until it lies on it */
    arena_mean(&arena, 0, arena.state.positions, before);
    arena_mean(&arena, 0, arena.state.velocities, velocity);
    double begin = 0.5 * sn_dot3(velocity, velocity) + g * before[2];
    run(&arena, 25, 1.0 / 60.0);
    arena_mean(&arena, 0, arena.state.positions, after);
    arena_mean(&arena, 0, arena.state.velocities, velocity);
    double end = 0.5 * sn_dot3(velocity, velocity) + g * after[2], expected = sqrt(2.0 * (begin - g * after[2]));
    if (getenv("SHOW")) {
        printf("hill: %g and %g, speed %g against %g\n", begin, end, sqrt(sn_dot3(velocity, velocity)), expected);
    }
    CHECK(after[0] - before[0] > 0.4);
    CHECK_NEAR(sqrt(sn_dot3(velocity, velocity)), expected, 1e-3 * expected);
    arena_clear(&arena);
}

/* Over another body, whose surface gives way: what they do together is kept. */
static void what_slides_over_another_body_keeps_its_speed(void)
{
    Arena arena;
    arena_init(&arena);
    const double low[3] = {-0.8, -0.2, 1e-3}, at[3] = {-0.6, -0.1, 0.203};
    double velocity[3], before[3], after[3];
    arena_box(&arena, (const int[3]){16, 4, 2}, 0.1, low, 1e7);
    arena_box(&arena, (const int[3]){2, 2, 1}, 0.1, at, 1e7);
    arena_floor(&arena, 5, 3.0, 0.0);
    arena_open(&arena);
    sn_world_damp(&arena.world, 0.0, 0.002);
    arena_throw(&arena, 1, (const double[3]){1.0, 0.0, 0.0});
    arena_mean(&arena, 1, arena.state.positions, before);
    run(&arena, 40, 1.0 / 60.0);
    arena_mean(&arena, 1, arena.state.velocities, velocity);
    arena_mean(&arena, 1, arena.state.positions, after);
    if (getenv("SHOW")) {
        printf("over a body: %g\n", velocity[0]);
    }
    CHECK_NEAR(velocity[0], 1.0, 1e-3);
    CHECK_NEAR(after[0] - before[0], 40.0 / 60.0, 2e-3);
    arena_clear(&arena);
}

/* A floor that is tilted, by gravity: acceleration along it, m/s², and how fast it goes at the end. */
static double slide_down(double degrees, double friction, double *speed)
{
    Arena arena;
    arena_init(&arena);
    const double at[3] = {0.0, 0.0, 1e-3}, angle = degrees * SCENE_PI / 180.0;
    double first[3], last[3];
    arena.gravity[0] = 9.81 * sin(angle);
    arena.gravity[2] = -9.81 * cos(angle);
    arena.friction = friction;
    arena_box(&arena, (const int[3]){3, 2, 2}, 0.1, at, 1e6);
    arena_floor(&arena, 11, 8.0, 0.0);
    arena_open(&arena);
    sn_world_damp(&arena.world, 0.0, 0.01);
    run(&arena, 30, 1.0 / 60.0); /* until it lies */
    arena_mean(&arena, 0, arena.state.velocities, first);
    run(&arena, 20, 1.0 / 60.0);
    arena_mean(&arena, 0, arena.state.velocities, last);
    *speed = last[0];
    arena_clear(&arena);
    return (last[0] - first[0]) * 3.0;
}

static void inclines_let_slide_and_hold_as_coulomb_says(void)
{
    const double degrees[3] = {20.0, 30.0, 45.0};
    double speed;
    for (int k = 0; k < 3; k++) {
        double angle = degrees[k] * SCENE_PI / 180.0, friction = 0.5 * tan(angle), g = 9.81;
        double expected = g * (sin(angle) - friction * cos(angle));
        double found = slide_down(degrees[k], friction, &speed);
        if (getenv("SHOW")) {
            printf("incline %g: %g against %g\n", degrees[k], found, expected);
        }
        CHECK_NEAR(found, expected, 0.01 * expected);
        found = slide_down(degrees[k], 1.2 * tan(angle), &speed);
        if (getenv("SHOW")) {
            printf("stick %g: %g m/s\n", degrees[k], speed);
        }
        CHECK(fabs(speed) < 1e-3);
    }
}

/* A soft block that friction holds on a slope: all of its flat side presses, evenly enough, and nothing of it moves. With `tangled` a plate
   cuts through a body elsewhere, for good. */
static void lie_on_a_slope(int tangled)
{
    Arena arena;
    arena_init(&arena);
    const double at[3] = {-0.2, -0.1, 2e-3}, angle = 20.0 * SCENE_PI / 180.0;
    double fastest = 0.0;
    arena.gravity[0] = 9.81 * sin(angle);
    arena.gravity[2] = -9.81 * cos(angle);
    arena.friction = 0.5;
    arena.gap = 4e-4;
    const int cells = CHECK_IS_SLOW ? 3 : 6;
    arena_box(&arena, (const int[3]){2 * cells, cells, cells}, 0.2 / cells, at, 1e5);
    arena_floor(&arena, 4, 6.0, 0.0);
    size_t own = 3 * arena.bodies[0].mesh.vertex_count;
    if (tangled) {
        const double aside[3] = {-0.11, 1.5, 0.5}, origin[3] = {-0.25, 1.55, 0.57}, x[3] = {1.0, 0.0, 0.0}, y[3] = {0.0, 1.0, 0.0};
        arena_box(&arena, (const int[3]){2, 2, 2}, 0.1, aside, 1e5);
        arena_hold(&arena, 0, -0.12, 0.0);
        arena_obstacle(&arena, shape_plate(&arena.context, 4, 0.2, origin, x, y));
    }
    arena_open(&arena);
    sn_world_damp(&arena.world, 0.0, 0.01);
    run(&arena, 50, 1.0 / 60.0);
    for (size_t k = 0; k < own; k++) {
        fastest = fmax(fastest, fabs(arena.state.velocities[k]));
    }
    int rounds = arena.report.rounds;
    run(&arena, 5, 1.0 / 60.0);
    if (getenv("SHOW")) {
        printf("flat side: %g m/s, %d rounds in 5 steps\n", fastest, arena.report.rounds - rounds);
    }
    CHECK((sn_contact_exempt_count(arena.contact) > 0) == tangled);
    CHECK(fastest < 1e-3);
    CHECK(arena.report.rounds - rounds <= 5 * 6);
    arena_clear(&arena);
}

static void a_flat_side_does_not_walk_down_a_slope(void)
{
    lie_on_a_slope(0);
    lie_on_a_slope(1);
}

/* Two balls of tets head-on: what one gives the other takes. */
static void an_impact_keeps_momentum_and_gains_no_energy(void)
{
    Arena arena;
    arena_init(&arena);
    memcpy(arena.gravity, NOWHERE, sizeof arena.gravity);
    const double left[3] = {-0.25, -0.1, -0.1}, right[3] = {0.05, -0.08, -0.13};
    arena_box(&arena, (const int[3]){2, 2, 2}, 0.1, left, 1e5);
    arena_box(&arena, (const int[3]){2, 2, 2}, 0.1, right, 1e5);
    arena_open(&arena);
    arena_throw(&arena, 0, (const double[3]){1.0, 0.0, 0.0});
    arena_throw(&arena, 1, (const double[3]){-1.0, 0.0, 0.0});
    double worst = 0.0, highest = 0.0, mass = 8.0, velocity[2][3];
    double stored = 0.0, *partial = SN_NEW(&arena.context, sn_terms_partial_count(arena.world.term_count, arena.world.terms), double);
    for (int k = 0; k < 40; k++) {
        arena_step(&arena, 1.0 / 60.0);
        show(&arena, k);
        double momentum[3] = {0}, kinetic = 0.0;
        for (size_t j = 0; j < 3 * arena.world.vertex_count; j++) {
            double v = arena.state.velocities[j];
            momentum[j % 3] += arena.world.mass[j / 3] * v;
            kinetic += 0.5 * arena.world.mass[j / 3] * v * v;
        }
        stored = sn_terms_value(arena.world.term_count, arena.world.terms, NULL, arena.state.positions, partial, NULL);
        highest = fmax(highest, kinetic + stored);
        for (int a = 0; a < 3; a++) {
            worst = fmax(worst, fabs(momentum[a]));
        }
    }
    arena_mean(&arena, 0, arena.state.velocities, velocity[0]);
    arena_mean(&arena, 1, arena.state.velocities, velocity[1]);
    CHECK(worst <= 1e-10 * mass);
    CHECK(highest <= 1.02 * mass);
    CHECK(velocity[0][0] < -0.3 && velocity[1][0] > 0.3); /* they part */
    if (getenv("SHOW")) {
        printf("momentum %g energy %g of %g\n", worst, highest, mass);
    }
    sn_release(partial);
    arena_clear(&arena);
}

/* A soft bar dropped flat: how fast it goes up again, of how fast it came. */
static double bounce(double rate, double height, double *gain)
{
    Arena arena;
    arena_init(&arena);
    const double at[3] = {0.0, 0.0, height};
    double velocity[3], up = 0.0, energy = 0.0;
    memcpy(arena.gravity, NOWHERE, sizeof arena.gravity);
    arena_box(&arena, (const int[3]){1, 1, 6}, 0.1, at, 1e5);
    arena_floor(&arena, 4, 2.0, 0.0);
    arena_open(&arena);
    arena_throw(&arena, 0, (const double[3]){0.0, 0.0, -1.0});
    double omega = SCENE_PI * sqrt(1e5 / 1000.0) / 0.6; /* its first swing */
    sn_world_damp(&arena.world, 0.0, 2.0 * 0.02 / omega);
    int steps = (int)(0.5 * rate);
    for (int k = 0; k < steps; k++) {
        arena_step(&arena, 1.0 / rate);
        show(&arena, k);
        arena_mean(&arena, 0, arena.state.velocities, velocity);
        up = fmax(up, velocity[2]);
        double kinetic = 0.0;
        for (size_t j = 0; j < 3 * arena.world.vertex_count; j++) {
            kinetic += 0.5 * arena.world.mass[j / 3] * arena.state.velocities[j] * arena.state.velocities[j];
        }
        energy = fmax(energy, kinetic / 3.0);
    }
    *gain = energy;
    arena_clear(&arena);
    return up;
}

/* Wanted is 0.70 to 0.86 of every impact (exact: 0.83). That holds of the mean over where in a step the impact begins, not of each: at 24 Hz,
   where it is a step or three, 0.68 to 0.75 are found, and at 120 Hz one that rounding decides on is 0.79 or 0.8601. */
static void soft_bodies_keep_their_bounce(void)
{
    const double rates[4] = {24.0, 60.0, 120.0, 240.0};
    for (int k = 0; k < 4; k++) {
        double gain, sum = 0.0;
        for (int phase = 0; phase < 4; phase++) {
            double found = bounce(rates[k], 0.005 + 0.25 * phase / rates[k], &gain);
            if (getenv("SHOW")) {
                printf("bounce at %g: %g, energy %g\n", rates[k], found, gain);
            }
            CHECK(found >= (k == 0 ? 0.67 : 0.70) && found <= 0.87 && gain <= 1.0 + 1e-9);
            sum += found;
        }
        CHECK(sum >= 4.0 * 0.70 && sum <= 4.0 * 0.86);
    }
}

/* A sphere, an obstacle, that goes through where a block stands: the block is pushed out of its way, at any speed. */
static void push_block(double speed)
{
    Arena arena;
    arena_init(&arena);
    memcpy(arena.gravity, NOWHERE, sizeof arena.gravity);
    const double centre[3] = {-0.8, 0.0, 0.0}, at[3] = {-0.1, -0.15, -0.15};
    arena_box(&arena, CUBE, 0.1, at, 1e5);
    size_t ball = arena_obstacle(&arena, shape_sphere(&arena.context, 2, 0.2, centre, 1.0));
    arena_open(&arena);
    for (int k = 0; k < 12; k++) {
        for (size_t v = 0; v < arena.obstacles[ball].vertex_count; v++) {
            arena.obstacle_end[ball][3 * v] = arena.obstacles[ball].positions[3 * v] + speed / 60.0;
        }
        arena_step(&arena, 1.0 / 60.0);
        show(&arena, k);
    }
    double mean[3];
    arena_mean(&arena, 0, arena.state.positions, mean);
    double front = centre[0] + 12.0 * speed / 60.0;
    CHECK(front < 0.0 || mean[0] > front);
    arena_clear(&arena);
}

static void nothing_passes_through_at_any_speed(void)
{
    push_block(60.0);
    for (int k = 0; k < (CHECK_IS_SLOW ? 0 : 2); k++) {
        push_block(k ? 20.0 : 5.0);
    }
}

/* A soft block between two plates that close until they have changed sides, and open again: nothing fails, what had to be let go is told, and
   in the end the block is free, whole and at rest, wherever it went. */
static void what_is_caught_is_let_go_and_told(void)
{
    Arena arena;
    arena_init(&arena);
    memcpy(arena.gravity, NOWHERE, sizeof arena.gravity);
    const double at[3] = {-0.1, -0.1, -0.1}, u[3] = {1.0, 0.0, 0.0}, v[3] = {0.0, 1.0, 0.0};
    arena_box(&arena, (const int[3]){2, 2, 2}, 0.1, at, 1e5);
    arena_obstacle(&arena, shape_plate(&arena.context, 3, 1.0, (const double[3]){-0.5, -0.5, -0.11}, u, v));
    arena_obstacle(&arena, shape_plate(&arena.context, 3, 1.0, (const double[3]){-0.5, -0.5, 0.11}, v, u));
    arena_open(&arena);
    sn_world_damp(&arena.world, 5.0, 0.02);
    long pinched = 0;
    for (int k = 0; k < 60; k++) {
        double height = 0.11 - 0.14 * sin(SCENE_PI * fmin((k + 1) / 24.0, 1.0));
        for (size_t o = 0; o < 2; o++) {
            for (size_t j = 0; j < arena.obstacles[o].vertex_count; j++) {
                arena.obstacle_end[o][3 * j + 2] = o == 0 ? -height : height;
            }
        }
        if (!arena_step(&arena, 1.0 / 24.0)) {
            break;
        }
        show(&arena, k);
        pinched = sn_contact_report(arena.contact).pinched;
    }
    const double *x = arena.state.positions;
    double widest = 0.0, fastest = 0.0; /* however it lies, it is as long as its diagonal */
    for (size_t i = 0; i < 3 * arena.world.vertex_count; i += 3) {
        for (size_t j = 0; j < i; j += 3) {
            double d[3] = {x[i] - x[j], x[i + 1] - x[j + 1], x[i + 2] - x[j + 2]};
            widest = fmax(widest, sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
        }
        for (size_t a = i; a < i + 3; a++) {
            fastest = fmax(fastest, fabs(arena.state.velocities[a]));
        }
    }
    CHECK(pinched > 0);
    CHECK_NEAR(widest, 0.2 * sqrt(3.0), 0.01);
    CHECK(fastest < 0.01);
    CHECK(sn_contact_exempt_count(arena.contact) == 0);
    arena_clear(&arena);
}

/* Where something is caught steps are taken in parts, and forces act for as long as each takes: what falls far off falls as it would alone. */
static void what_falls_far_off_feels_nothing_of_parts_of_steps(void)
{
    Arena arena;
    arena_init(&arena);
    const double far_off[3] = {5.0, 0.0, 5.0}, at[3] = {-0.1, -0.1, -0.1}, u[3] = {1.0, 0.0, 0.0}, v[3] = {0.0, 1.0, 0.0};
    arena_box(&arena, (const int[3]){1, 1, 1}, 0.1, far_off, 1e5);
    arena_box(&arena, (const int[3]){2, 2, 2}, 0.1, at, 1e5);
    arena_obstacle(&arena, shape_plate(&arena.context, 3, 1.0, (const double[3]){-0.5, -0.5, -0.11}, u, v));
    arena_obstacle(&arena, shape_plate(&arena.context, 3, 1.0, (const double[3]){-0.5, -0.5, 0.11}, v, u));
    arena_open(&arena);
    int steps = 16;
    for (int k = 0; k < steps; k++) {
        for (size_t o = 0; o < 2; o++) {
            for (size_t j = 0; j < arena.obstacles[o].vertex_count; j++) {
                arena.obstacle_end[o][3 * j + 2] += (o == 0 ? 0.015 : -0.015);
            }
        }
        arena_step(&arena, 1.0 / 24.0);
        show(&arena, k);
    }
    double velocity[3];
    arena_mean(&arena, 0, arena.state.velocities, velocity);
    CHECK(sn_contact_report(arena.contact).partial_steps > 0);
    CHECK_NEAR(velocity[2], -9.81 * steps / 24.0, 1e-4);
    arena_clear(&arena);
}

/* Points of a block's lowest side hang on the vertices above them by their rows, and go down by twice of what those are lifted by: the harder
   their planes press the deeper they are. */
static const double *contrary_rest;

static int32_t find_above(size_t count, size_t point)
{
    const double *at = contrary_rest + 3 * point;
    for (size_t v = 0; v < count && at[2] < 0.05; v++) {
        const double *x = contrary_rest + 3 * v;
        if (hypot(x[0] - at[0], x[1] - at[1]) < 1e-9 && fabs(x[2] - at[2] - 0.1) < 1e-9) {
            return (int32_t)v;
        }
    }
    return (int32_t)point;
}

static void place_contrary(void *self, const double *positions, double *points)
{
    size_t count = ((const SnPlainSkin *)self)->point_count;
    for (size_t p = 0; p < count; p++) {
        size_t above = (size_t)find_above(count, p);
        memcpy(points + 3 * p, positions + 3 * p, 3 * sizeof *points);
        points[3 * p + 2] -= above == p ? 0.0 : 2.0 * (positions[3 * above + 2] - positions[3 * p + 2] - 0.1);
    }
}

static size_t contrary_row(void *self, size_t point, int32_t *vertices, double *weights)
{
    vertices[0] = find_above(((const SnPlainSkin *)self)->point_count, point);
    weights[0] = 1.0;
    return 1;
}

static SnSkin hang_contrary(SnSkin plain)
{
    plain.place = place_contrary;
    plain.row = contrary_row;
    return plain;
}

/* A floor rises into a block that is held above: what its planes push ever farther is let go, and told, and nothing is thrown about. */
static void what_presses_the_wrong_way_is_let_go(void)
{
    Arena arena;
    arena_init(&arena);
    arena.hang = hang_contrary;
    memcpy(arena.gravity, NOWHERE, sizeof arena.gravity);
    const Scene *body = arena_box(&arena, (const int[3]){2, 2, 2}, 0.1, (const double[3]){0.0, 0.0, 0.02}, 1e5);
    double farthest = 0.0;
    contrary_rest = body->mesh.positions;
    arena_hold(&arena, 2, 0.2, 0.3);
    size_t ground = arena_floor(&arena, 5, 2.0, 0.0);
    arena_open(&arena);
    sn_world_damp(&arena.world, 2.0, 0.02);
    for (int k = 0; k < 8; k++) {
        for (size_t v = 0; v < arena.obstacles[ground].vertex_count; v++) {
            arena.obstacle_end[ground][3 * v + 2] = 0.006 * (k + 1);
        }
        arena_step(&arena, 1.0 / 60.0);
        show(&arena, k);
        for (size_t i = 0; i < 3 * arena.world.vertex_count; i++) {
            farthest = fmax(farthest, fabs(arena.state.positions[i]));
        }
    }
    CHECK(farthest < 0.3); /* it begins with 0.22 */
    CHECK(sn_contact_report(arena.contact).pinched > 0);
    arena_clear(&arena);
}

int main(int count, char **names)
{
    static const struct {
        const char *name;
        void (*test)(void);
    } TESTS[] = {
        {"rest", a_block_comes_to_rest_on_the_floor},
        {"stack", a_stack_of_boxes_comes_to_rest},
        {"slide", what_slides_without_friction_keeps_its_speed},
        {"hill", what_slides_over_a_sphere_keeps_its_energy},
        {"over", what_slides_over_another_body_keeps_its_speed},
        {"incline", inclines_let_slide_and_hold_as_coulomb_says},
        {"flat", a_flat_side_does_not_walk_down_a_slope},
        {"impact", an_impact_keeps_momentum_and_gains_no_energy},
        {"bounce", soft_bodies_keep_their_bounce},
        {"push", nothing_passes_through_at_any_speed},
        {"contrary", what_presses_the_wrong_way_is_let_go},
        {"caught", what_is_caught_is_let_go_and_told},
        {"parts", what_falls_far_off_feels_nothing_of_parts_of_steps},
    };
    sn_parallel_set_thread_count(1); /* scenes are tiny: on a busy machine threads would wait for each other at every step */
    for (size_t k = 0; k < sizeof TESTS / sizeof *TESTS; k++) {
        if (count < 2 || strcmp(names[1], TESTS[k].name) == 0) {
            TESTS[k].test();
        }
    }
    return CHECK_RESULT();
}
