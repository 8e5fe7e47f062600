/* Scenes by chance beside those of test_contact_wild, of bodies that partly follow the input: in each other or apart, between obstacles that
   rush and jump. No step fails, nothing leaves the range, nothing crosses that is not exempt, and nothing is exempt that neither started
   crossed nor was caught or jumped into. `test_contact_exempt FIRST COUNT` takes other scenes. */
#include "arena.h"

#include "base/parallel.h"

#include <stdlib.h>

static double between(uint64_t *seed, double low, double high)
{
    return low + (high - low) * check_random(seed);
}

typedef struct Wild {
    Arena arena;
    double velocity[ARENA_MOST][3]; /* of obstacles */
    int jumps[ARENA_MOST];          /* step at which each jumps; 0: none */
    double jump[ARENA_MOST][3];
} Wild;

static void make_scene(uint64_t *seed, Wild *wild)
{
    Arena *arena = &wild->arena;
    memset(wild, 0, sizeof *wild);
    arena_init(arena);
    int apart = check_random(seed) < 0.5, bodies = 1 + (int)between(seed, 0.0, 2.99), obstacles = (int)between(seed, 0.0, 2.99);
    arena->friction = check_random(seed) < 0.5 ? 0.0 : between(seed, 0.0, 1.0);
    arena->separate = 0.3;
    arena->scheme = check_random(seed) < 0.7 ? SN_SCHEME_TR_BDF2 : SN_SCHEME_IMPLICIT_EULER;
    for (int b = 0; b < bodies; b++) {
        const int cells[3] = {1 + (int)between(seed, 0.0, 2.99), 1 + (int)between(seed, 0.0, 2.99), 1 + (int)between(seed, 0.0, 2.99)};
        double at[3] = {between(seed, -0.15, 0.15), between(seed, -0.15, 0.15), apart ? 0.4 * b : between(seed, 0.0, 0.3)};
        arena_box(arena, cells, 0.1, at, pow(10.0, between(seed, 3.0, 6.5)));
        if (check_random(seed) < 0.2) {
            arena_hold(arena, (int)between(seed, 0.0, 2.99), -10.0, at[0] + 0.05);
        }
    }
    if (check_random(seed) < 0.7) {
        (void)arena_floor(arena, 4, 3.0, apart ? -0.01 : between(seed, -0.2, 0.1));
    }
    for (int o = 0; o < obstacles; o++) {
        double centre[3] = {between(seed, -1.0, 1.0), between(seed, -0.3, 0.3), apart ? 1.6 + 0.6 * o : between(seed, -0.5, 1.0)};
        size_t place = arena_obstacle(arena, shape_sphere(&arena->context, 3, between(seed, 0.1, 0.25), centre, 1.0));
        for (int a = 0; a < 3; a++) {
            wild->velocity[place][a] = between(seed, -1.0, 1.0) * pow(10.0, between(seed, -1.0, 1.3));
            wild->jump[place][a] = between(seed, -0.5, 0.5);
        }
        wild->jumps[place] = check_random(seed) < 0.3 ? 3 + (int)between(seed, 0.0, 5.0) : 0;
    }
    arena_open(arena);
    sn_world_damp(&arena->world, 0.5, 0.01);
    for (int b = 0; b < bodies; b++) {
        double speed = pow(10.0, between(seed, -1.0, 1.3));
        const double velocity[3] = {speed * between(seed, -1.0, 1.0), speed * between(seed, -1.0, 1.0), speed * between(seed, -1.0, 1.0)};
        arena_throw(arena, (size_t)b, velocity);
    }
    for (size_t v = 0; v < arena->world.vertex_count; v++) {
        for (size_t k = 3 * v; k < 3 * v + 3 && arena->world.fixed[v]; k++) {
            arena->state.velocities[k] = 0.0;
        }
    }
}

static int is_told_around(const SnSurface *surface, const unsigned char *flags, int32_t point)
{
    int told = flags[point];
    for (int32_t k = surface->point_starts[point]; k < surface->point_starts[point + 1]; k++) {
        told |= flags[surface->point_points[k]];
    }
    return told;
}

/* Crossings of points none of which is told, nor next to one that is: a contour may have gone on by a triangle in the step. `all`: those that
   the input has not made alone. */
static size_t count_untold(Arena *arena, SnCrossings *crossings, unsigned char *flags, size_t *all)
{
    const SnSurface *surface = &arena->surface;
    size_t untold = 0;
    CHECK(sn_crossings_find(&arena->context, crossings, sn_contact_points(arena->contact), 0) == SN_OK);
    sn_tangles_show(sn_contact_tangles(arena->contact), flags);
    *all = 0;
    for (size_t i = 0; i < crossings->count; i++) {
        const SnCrossing *crossing = crossings->crossings + i;
        const int32_t *edge = surface->edges + 2 * (size_t)crossing->edge, *t = surface->triangles + 3 * (size_t)crossing->triangle;
        int told = 0;
        for (int k = 0; k < 5; k++) {
            told |= is_told_around(surface, flags, k < 2 ? edge[k] : t[k - 2]);
        }
        const unsigned char *follows = surface->kinematic; /* the input alone can take one of its points through another side of its */
        int whole_edge = follows[edge[0]] && follows[edge[1]], whole_triangle = follows[t[0]] && follows[t[1]] && follows[t[2]];
        int made_so = (whole_triangle && (follows[edge[0]] || follows[edge[1]])) ||
                      (whole_edge && (follows[t[0]] || follows[t[1]] || follows[t[2]]));
        untold += !told && !made_so;
        *all += !made_so;
    }
    return untold;
}

/* Returns whether anything touched. */
static int run_scene(uint64_t number)
{
    enum { STEPS = 12 };
    static Wild wild;
    Arena *arena = &wild.arena;
    uint64_t seed = 1000 * number + 17;
    size_t crossed = 0, untold = 0, own;
    long pinched = 0, parts = 0, touched = 0;
    int ok = 1, given = 0, step;
    make_scene(&seed, &wild);
    SnCrossings crossings;
    unsigned char *flags = SN_NEW(&arena->context, arena->surface.point_count, unsigned char);
    CHECK(sn_crossings_init(&arena->context, &arena->surface, &crossings) == SN_OK);
    double largest = 0.0;
    for (step = 0; step < STEPS && ok; step++) {
        double h = 1.0 / 48.0;
        for (size_t o = 0; o < arena->obstacle_count; o++) {
            for (size_t k = 0; k < 3 * arena->obstacles[o].vertex_count; k++) {
                if (step > 0 && wild.jumps[o] == step) {
                    arena->obstacles[o].positions[k] += wild.jump[o][k % 3];
                }
                arena->obstacle_end[o][k] = arena->obstacles[o].positions[k] + h * wild.velocity[o][k % 3];
            }
        }
        sn_stepper_forget(arena->stepper);
        ok = arena_step(arena, h);
        untold += count_untold(arena, &crossings, flags, &own);
        given |= sn_contact_report(arena->contact).crossings > 0 && crossed == 0; /* by the start, a jump, or the input alone */
        crossed += own;
        pinched += sn_contact_report(arena->contact).pinched;
        touched += sn_contact_report(arena->contact).stages;
        parts += sn_contact_report(arena->contact).partial_steps;
        for (size_t k = 0; k < 3 * arena->world.vertex_count; k++) {
            largest = fmax(largest, fabs(arena->state.positions[k]));
        }
    }
    int holds = CHECK(ok && untold == 0 && largest < 20.0) & CHECK(crossed == 0 || given || pinched > 0);
    if (!holds || getenv("SHOW") != NULL) {
        printf("scene %d: %d steps, bodies %zu obstacles %zu crossed %zu untold %zu pinched %ld parts %ld largest %g given %d\n", (int)number,
               step, arena->body_count, arena->obstacle_count, crossed, untold, pinched, parts, largest, given);
    }
    sn_release(flags);
    sn_crossings_clear(&crossings);
    arena_clear(arena);
    return touched > 0;
}

int main(int count, char **words)
{
    const int usual = CHECK_IS_SLOW ? 8 : 25;
    int first = count > 1 ? atoi(words[1]) : 0, scenes = count > 2 ? atoi(words[2]) : usual;
    int touched = 0;
    sn_parallel_set_thread_count(1);
    for (int k = first; k < first + scenes; k++) {
        touched += run_scene((uint64_t)k);
    }
    CHECK(2 * touched >= scenes); /* it is contact that is tried */
    return CHECK_RESULT();
}
