/* A run that goes on from a checkpoint has the bits of one that was never interrupted, on any number of threads. */
#include "arena.h"

#include "base/parallel.h"

enum { FRAMES = 6, CUT = 4 };

/* Two soft boxes on a floor, the upper one thrown over the lower: they press, slide and tilt. */
static void open_scene(Arena *arena)
{
    arena_init(arena);
    arena->friction = 0.3;
    arena_box(arena, (const int[3]){3, 3, 2}, 0.1, (const double[3]){0.0, 0.0, 2e-3}, 1e5);
    arena_box(arena, (const int[3]){2, 2, 2}, 0.1, (const double[3]){0.03, 0.02, 0.204}, 1e5);
    arena_floor(arena, 5, 2.0, 0.0);
    arena_open(arena);
    arena_throw(arena, 1, (const double[3]){0.6, 0.1, -0.3});
}

static void advance(Arena *arena, int frames)
{
    for (int k = 0; k < frames; k++) {
        sn_stepper_forget(arena->stepper);
        arena_step(arena, 1.0 / 60.0);
    }
}

/* All frames without a break; positions and velocities as they end. The caller releases them. */
static double *run_through(int threads, size_t *count, size_t *pressing)
{
    Arena arena;
    sn_parallel_set_thread_count(threads);
    open_scene(&arena);
    advance(&arena, FRAMES);
    *count = 3 * arena.world.vertex_count;
    *pressing = sn_contact_pressing(arena.contact);
    double *end = SN_NEW(&arena.context, 2 * *count, double);
    memcpy(end, arena.state.positions, *count * sizeof *end);
    memcpy(end + *count, arena.state.velocities, *count * sizeof *end);
    arena_clear(&arena);
    return end;
}

/* The same in two halves with nothing in common but the state and, with `saved`, what presses. */
static int ends_alike(int threads, int saved, const double *end)
{
    Arena first, second;
    sn_parallel_set_thread_count(threads);
    open_scene(&first);
    open_scene(&second);
    advance(&first, CUT);
    size_t count = sn_contact_pressing(first.contact), n = 3 * first.world.vertex_count;
    int32_t *keys = SN_NEW(&first.context, 5 * count, int32_t);
    double *forces = SN_NEW(&first.context, count, double), *holds = SN_NEW(&first.context, 3 * count, double);
    sn_contact_save(first.contact, keys, forces, holds);
    memcpy(second.state.positions, first.state.positions, n * sizeof *end);
    memcpy(second.state.velocities, first.state.velocities, n * sizeof *end);
    if (saved) {
        CHECK(count > 0 && sn_contact_restore(&second.context, second.contact, count, keys, forces, holds) == SN_OK);
    }
    advance(&second, FRAMES - CUT);
    int alike = memcmp(second.state.positions, end, n * sizeof *end) == 0 &&
                memcmp(second.state.velocities, end + n, n * sizeof *end) == 0;
    sn_release(keys);
    sn_release(forces);
    sn_release(holds);
    arena_clear(&first);
    arena_clear(&second);
    return alike;
}

static void a_resumed_run_has_the_same_bits_on_any_number_of_threads(void)
{
    const int threads[3] = {1, 2, 4};
    size_t n, pressing;
    double *end = run_through(1, &n, &pressing);
    CHECK(pressing > 4);
    for (int k = 0; k < 3; k++) {
        double *other = run_through(threads[k], &n, &pressing);
        CHECK(memcmp(end, other, 2 * n * sizeof *end) == 0);
        CHECK(ends_alike(threads[k], 1, end));
        sn_release(other);
    }
    CHECK(!ends_alike(1, 0, end)); /* what presses is needed */
    sn_release(end);
}

static void damaged_checkpoints_are_told(void)
{
    Arena arena;
    open_scene(&arena);
    const int32_t keys[15] = {7, 1, 2, 3, 4, 7, 1, 2, 3, 5, 7, 1, 2, 3, 4};
    const double forces[3] = {1.0, 2.0, NAN}, holds[7] = {0.5, 0.0, 0.0, 0.0, 0.1, 0.0, INFINITY};
    CHECK(sn_contact_restore(&arena.context, arena.contact, 2, keys, forces, holds) == SN_OK);
    CHECK(sn_contact_pressing(arena.contact) == 2);
    CHECK(sn_contact_restore(&arena.context, arena.contact, 2, keys + 5, forces, holds) == SN_BAD_INPUT);
    CHECK(sn_contact_restore(&arena.context, arena.contact, 1, keys, forces + 2, holds) == SN_BAD_INPUT);
    CHECK(sn_contact_restore(&arena.context, arena.contact, 1, keys, forces, holds + 4) == SN_BAD_INPUT);
    CHECK(sn_contact_restore(&arena.context, arena.contact, 0, NULL, NULL, NULL) == SN_OK);
    CHECK(sn_contact_pressing(arena.contact) == 0);
    arena_clear(&arena);
}

int main(void)
{
    a_resumed_run_has_the_same_bits_on_any_number_of_threads();
    damaged_checkpoints_are_told();
    return CHECK_RESULT();
}
