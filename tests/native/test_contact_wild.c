/* Random scenes of bodies that touch, from a seed: whatever their speeds, stiffness and steps, all stays finite and nothing runs through anything
   but what is exempt; nothing is exempt where a scene starts apart and nothing is pressed between sides that give no way. With a number as
   argument so many scenes are run, and with a second one from that seed on. */
#include "arena.h"

#include "base/parallel.h"
#include "contact/intersections.h"
#include "math/mat3.h"

#include <stdlib.h>

#define RUNS (CHECK_IS_SLOW ? 15 : 50)

typedef enum Kind {
    FREE,      /* bodies apart, over a floor */
    SWEPT,     /* an obstacle flies through them, nothing behind them */
    PRESSED,   /* between a floor and an obstacle that comes down on it */
    OVERLAPPED, /* bodies that begin within each other */
    TELEPORTED, /* an obstacle that is elsewhere from one step to the next */
    KINDS
} Kind;

typedef struct Outcome {
    Kind kind;
    int finite, ok;
    size_t exempt;    /* numbers of state that tell of something exempt, at most */
    size_t crossings; /* of what is not, summed over steps */
    int steps, unconverged, fallbacks;
    SnContactReport report;
} Outcome;

static double between(uint64_t *random, double low, double high)
{
    return low + (high - low) * check_random(random);
}

static double power(uint64_t *random, double low, double high)
{
    return low * pow(high / low, check_random(random));
}

static void random_rotation(uint64_t *random, double r[9])
{
    double q[4], length = 0.0;
    for (int k = 0; k < 4; k++) {
        q[k] = between(random, -1.0, 1.0);
        length += q[k] * q[k];
    }
    length = sqrt(length);
    for (int k = 0; k < 4; k++) {
        q[k] /= length;
    }
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    const double turned[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                              2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                              2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    memcpy(r, turned, sizeof turned);
}

/* Bodies turned and put somewhere, apart by their spheres or (with `apart` 0) anyhow, and thrown with a spin. */
static void scatter(Arena *arena, uint64_t *random, int apart, double speed)
{
    double centres[ARENA_MOST][3], radii[ARENA_MOST];
    for (size_t b = 0; b < arena->body_count; b++) {
        const SnBody *body = arena->world.bodies + b;
        double mean[3], r[9], at[3], spin[3], velocity[3], reach = 0.0, room = 0.4;
        arena_mean(arena, b, arena->state.positions, mean);
        random_rotation(random, r);
        for (size_t v = body->first_vertex; v < body->first_vertex + body->vertex_count; v++) {
            double *x = arena->state.positions + 3 * v, d[3] = {x[0] - mean[0], x[1] - mean[1], x[2] - mean[2]};
            for (size_t a = 0; a < 3; a++) {
                x[a] = r[3 * a] * d[0] + r[3 * a + 1] * d[1] + r[3 * a + 2] * d[2];
            }
            reach = fmax(reach, sqrt(sn_dot3(d, d)));
        }
        radii[b] = reach;
        for (int clear = 0; !clear; room += 0.02) {
            clear = 1;
            for (int a = 0; a < 3; a++) {
                at[a] = between(random, -room, room) + (a == 2 ? room + reach + 0.01 : 0.0);
            }
            for (size_t other = 0; other < b && apart; other++) {
                double d[3] = {at[0] - centres[other][0], at[1] - centres[other][1], at[2] - centres[other][2]};
                clear &= sqrt(sn_dot3(d, d)) > 1.01 * (reach + radii[other]) + arena->gap;
            }
        }
        memcpy(centres[b], at, sizeof at);
        for (int a = 0; a < 3; a++) {
            spin[a] = between(random, -1.0, 1.0) * speed / reach;
            velocity[a] = between(random, -1.0, 1.0) * speed - (a < 2 ? at[a] : at[a] - 0.4) * speed; /* towards each other */
        }
        for (size_t v = body->first_vertex; v < body->first_vertex + body->vertex_count; v++) {
            double *x = arena->state.positions + 3 * v, turn[3];
            sn_cross3(spin, x, turn);
            for (size_t a = 0; a < 3; a++) {
                arena->state.velocities[3 * v + a] = velocity[a] + 0.3 * turn[a];
                x[a] += at[a];
            }
        }
    }
}

static void move_obstacle(Arena *arena, size_t obstacle, const double by[3])
{
    for (size_t k = 0; k < 3 * arena->obstacles[obstacle].vertex_count; k++) {
        arena->obstacle_end[obstacle][k] = arena->obstacles[obstacle].positions[k] + by[k % 3];
    }
}

/* Crossings that no tangle, and nothing that is let go, accounts for. */
static size_t count_crossings(Arena *arena, SnCrossings *crossings, unsigned char *flags)
{
    size_t count = 0;
    CHECK(sn_crossings_find(&arena->context, crossings, sn_contact_points(arena->contact), 0) == SN_OK);
    memset(flags, 0, arena->surface.point_count);
    sn_tangles_show(sn_contact_tangles(arena->contact), flags);
    for (size_t k = 0; k < crossings->count; k++) {
        const int32_t *ends = arena->surface.edges + 2 * (size_t)crossings->crossings[k].edge;
        const int32_t *corners = arena->surface.triangles + 3 * (size_t)crossings->crossings[k].triangle;
        int known = (flags[ends[0]] | flags[ends[1]]) && (flags[corners[0]] | flags[corners[1]] | flags[corners[2]]);
        count += !known && !crossings->crossings[k].kinematic;
    }
    return count;
}

static Outcome run_scene(uint64_t seed)
{
    uint64_t random = 77 + 1000003 * seed;
    Arena arena;
    SnCrossings crossings = {0};
    Outcome outcome = {.kind = (Kind)(seed % KINDS), .finite = 1, .ok = 1};
    Kind kind = outcome.kind;
    arena_init(&arena);
    arena.gap = power(&random, 5e-4, 3e-3);
    arena.friction = between(&random, -0.3, 1.0);
    arena.friction = arena.friction < 0.0 ? 0.0 : arena.friction;
    arena.scheme = check_random(&random) < 0.7 ? SN_SCHEME_TR_BDF2 : SN_SCHEME_IMPLICIT_EULER;
    arena.tolerance = 1e-6;
    int bodies = 2 + (int)(1.9 * check_random(&random));
    for (int b = 0; b < bodies; b++) {
        const int cells[3] = {1 + (int)(2.9 * check_random(&random)), 1 + (int)(2.9 * check_random(&random)), 1 + (int)(1.9 * check_random(&random))};
        arena_box(&arena, cells, between(&random, 0.06, 0.14), (const double[3]){0.0, 0.0, 0.0}, power(&random, 3e3, 1e7));
    }
    double h = 1.0 / power(&random, 24.0, 240.0), speed = power(&random, 0.1, kind == FREE ? 15.0 : 5.0);
    if (kind != SWEPT) {
        arena_floor(&arena, 3 + (int)(5.0 * check_random(&random)), 8.0, 0.0);
    }
    if (kind == SWEPT || kind == PRESSED || kind == TELEPORTED) {
        const double centre[3] = {kind == PRESSED ? 0.0 : -2.0, 0.0, kind == PRESSED ? 2.0 : 0.4};
        arena_obstacle(&arena, shape_sphere(&arena.context, 4, 0.35, centre, 1.0));
    }
    arena_open(&arena);
    CHECK(sn_crossings_init(&arena.context, &arena.surface, &crossings) == SN_OK);
    unsigned char *flags = SN_NEW(&arena.context, arena.surface.point_count, unsigned char);
    sn_world_damp(&arena.world, check_random(&random), 0.01 * check_random(&random));
    scatter(&arena, &random, kind != OVERLAPPED, speed);
    size_t mover = arena.obstacle_count - 1;
    outcome.steps = 10;
    for (int k = 0; k < outcome.steps && outcome.ok; k++) {
        if (kind == SWEPT) {
            move_obstacle(&arena, mover, (const double[3]){0.35, 0.0, 0.0});
        } else if (kind == PRESSED) { /* down into the floor, and up again */
            move_obstacle(&arena, mover, (const double[3]){0.0, 0.0, k < 5 ? -0.36 : 0.3});
        } else if (kind == TELEPORTED && k % 4 == 3) { /* elsewhere: what is there then is found as it is */
            move_obstacle(&arena, mover, (const double[3]){between(&random, 0.0, 1.5), between(&random, -0.3, 0.3), between(&random, -0.2, 0.2)});
            memcpy(arena.obstacles[mover].positions, arena.obstacle_end[mover], 3 * arena.obstacles[mover].vertex_count * sizeof(double));
            sn_stepper_forget(arena.stepper);
        }
        outcome.ok = arena_step(&arena, h);
        for (size_t j = 0; j < 3 * arena.world.vertex_count; j++) {
            outcome.finite &= isfinite(arena.state.positions[j]) && isfinite(arena.state.velocities[j]) && fabs(arena.state.positions[j]) < 100.0;
        }
        size_t exempt = sn_contact_exempt_count(arena.contact);
        outcome.exempt = exempt > outcome.exempt ? exempt : outcome.exempt;
        outcome.crossings += outcome.ok ? count_crossings(&arena, &crossings, flags) : 0;
    }
    outcome.unconverged = arena.report.unconverged;
    outcome.fallbacks = arena.report.fallbacks;
    outcome.report = sn_contact_report(arena.contact);
    sn_crossings_clear(&crossings);
    sn_release(flags);
    arena_clear(&arena);
    return outcome;
}

int main(int count, char **arguments)
{
    int runs = count > 1 ? atoi(arguments[1]) : RUNS, first = count > 2 ? atoi(arguments[2]) : 0;
    static const char *const NAMES[KINDS] = {"free", "swept", "pressed", "overlapped", "teleported"};
    long stages[KINDS] = {0}, rounds[KINDS] = {0}, ccds[KINDS] = {0}, partial[KINDS] = {0}, pinched[KINDS] = {0}, exempt[KINDS] = {0};
    long scenes[KINDS] = {0}, steps = 0, unconverged = 0, fallbacks = 0;
    sn_parallel_set_thread_count(1); /* the bodies are too small to share */
    for (int seed = first; seed < first + runs; seed++) {
        Outcome outcome = run_scene((uint64_t)seed);
        Kind kind = outcome.kind;
        int apart = kind == FREE || kind == SWEPT;
        if (!CHECK(outcome.ok && outcome.finite && outcome.crossings == 0 && !(apart && outcome.exempt > 0))) {
            printf("  seed %d, %s: ok %d, finite %d, %zu crossings, %zu exempt\n", seed, NAMES[kind], outcome.ok, outcome.finite,
                   outcome.crossings, outcome.exempt);
        }
        scenes[kind]++;
        stages[kind] += outcome.report.stages;
        rounds[kind] += outcome.report.rounds;
        ccds[kind] += outcome.report.ccds;
        partial[kind] += outcome.report.partial_steps;
        pinched[kind] += outcome.report.pinched;
        exempt[kind] += outcome.exempt > 0;
        steps += outcome.steps;
        unconverged += outcome.unconverged;
        fallbacks += outcome.fallbacks;
    }
    for (int k = 0; k < KINDS; k++) {
        printf("%s: %ld scenes, %ld stages that touch, %ld minimisations and %ld detections in them, %ld partial steps, %ld pairs let go, %ld "
               "scenes with something exempt\n",
               NAMES[k], scenes[k], stages[k], rounds[k], ccds[k], partial[k], pinched[k], exempt[k]);
    }
    printf("%ld steps: %ld minimisations used up their rounds, %ld steps fell back\n", steps, unconverged, fallbacks);
    return CHECK_RESULT();
}
