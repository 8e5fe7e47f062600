/* Memory while time passes. Nothing of ours is allocated inside a frame's fit or a time step. CHOLMOD allocates when it is called, as the
   last resort of Newton or in single rounds: its allocations are counted, and each of them failing in turn is answered. */
#include "run.h"

#include <stdlib.h>
#include <suitesparse/SuiteSparse_config.h>

/* CHOLMOD's allocator, replaced for the whole program. CHOLMOD works on one thread. */
static long library_calls, library_blocks, library_until_failure = -1;
static int library_recovers; /* after one failure */

static int library_must_fail(void)
{
    library_calls++;
    if (library_until_failure == 0) {
        library_until_failure = library_recovers ? -1 : 0;
        return 1;
    }
    library_until_failure -= library_until_failure > 0;
    return 0;
}

static void *library_malloc(size_t size)
{
    void *block = library_must_fail() ? NULL : malloc(size);
    library_blocks += block != NULL;
    return block;
}

static void *library_calloc(size_t count, size_t size)
{
    void *block = library_must_fail() ? NULL : calloc(count, size);
    library_blocks += block != NULL;
    return block;
}

static void *library_realloc(void *old, size_t size)
{
    void *block = library_must_fail() ? NULL : realloc(old, size);
    library_blocks += old == NULL && block != NULL;
    return block;
}

static void library_free(void *block)
{
    library_blocks -= block != NULL;
    free(block);
}

static void watch_the_library(void)
{
    SuiteSparse_config.malloc_func = library_malloc;
    SuiteSparse_config.calloc_func = library_calloc;
    SuiteSparse_config.realloc_func = library_realloc;
    SuiteSparse_config.free_func = library_free;
}

/* From here on no allocation succeeds, ours or the library's. */
static void empty_memory(SnContext *context)
{
    context->allocations_until_failure = 0;
    library_until_failure = 0;
    library_calls = 0;
}

static void refill_memory(SnContext *context)
{
    context->allocations_until_failure = -1;
    library_until_failure = -1;
}

static void frames_pass_without_a_single_allocation(void)
{
    static const SnScheme SCHEMES[2] = {SN_SCHEME_TR_BDF2, SN_SCHEME_IMPLICIT_EULER};
    const SnDensity *const ENERGIES[2] = {&sn_density_neo_hookean, &sn_density_stvk};
    for (int k = 0; k < 4; k++) {
        SnContext context;
        Run run;
        sn_context_init(&context);
        run_init(&context, 1, &run);
        run.resolution = 5;
        run.fit_rounds = 10;
        run.settings.substeps = 2;
        run.settings.scheme = SCHEMES[k % 2];
        run.settings.energy = ENERGIES[k / 2];
        CHECK(run_build(&context, &run) == SN_OK);
        CHECK(run_open(&context, &run) == SN_OK);
        empty_memory(&context);
        for (int frame = 0; frame < 3; frame++) {
            CHECK(run_frame(&context, &run) == SN_OK);
        }
        CHECK(library_calls == 0);
        CHECK(scene_distance(run.state.positions, run.fitted[0], 3 * run.cage.vertex_count) > 1e-3); /* it moved */
        CHECK(run_draw(&context, &run) == SN_OUT_OF_MEMORY); /* which allocates: the test can see */
        refill_memory(&context);
        run_close(&run);
        run_clear(&run);
    }
}

/* A single round is solved exactly, by the library. */
static void the_library_allocates_as_much_in_each_step_and_keeps_nothing(void)
{
    SnContext context;
    Run run;
    long calls[4], blocks[4];
    sn_context_init(&context);
    run_init(&context, 1, &run);
    run.settings.newton_rounds = 1;
    CHECK(run_build(&context, &run) == SN_OK);
    long before = library_blocks;
    CHECK(run_open(&context, &run) == SN_OK);
    context.allocations_until_failure = 0; /* ours */
    for (int frame = 0; frame < 4; frame++) {
        library_calls = 0;
        CHECK(run_frame(&context, &run) == SN_OK);
        calls[frame] = library_calls;
        blocks[frame] = library_blocks;
    }
    printf("  CHOLMOD allocates %ld times in the first frame, %ld times in each later one\n", calls[0], calls[3]);
    CHECK(calls[3] > 0 && calls[3] == calls[2] && calls[2] == calls[1] && calls[1] <= calls[0]);
    CHECK(blocks[3] == blocks[0]);
    refill_memory(&context);
    run_close(&run);
    CHECK(library_blocks == before);
    run_clear(&run);
}

/* With `single` one allocation fails and all later ones succeed: then the library may find another way, and the run may end well. */
static void fail_the_library_in_turn(int held, int newton_rounds, int single)
{
    SnContext context;
    Run run;
    int wrong = 0, refused = 0, finished = 0;
    sn_context_init(&context);
    run_init(&context, held, &run);
    run.settings.newton_rounds = newton_rounds;
    CHECK(run_build(&context, &run) == SN_OK);
    library_recovers = single;
    for (long n = 0; !finished && n < 5000; n++) {
        SnContext failing;
        long before = library_blocks;
        sn_context_init(&failing);
        library_until_failure = n;
        library_calls = 0;
        SnStatus status = run_simulate(&failing, &run);
        finished = library_calls <= n; /* nothing failed */
        int refusal = status == SN_OUT_OF_MEMORY && strstr(failing.message, "Out of memory") != NULL;
        int right = finished ? status == SN_OK : refusal || (single && status == SN_OK);
        if (!right || library_blocks != before) {
            printf("  allocation %ld of CHOLMOD failing: status %d, %ld blocks left: %s\n", n, (int)status,
                   library_blocks - before, failing.message);
            wrong++;
        }
        refused += refusal;
    }
    library_until_failure = -1;
    CHECK(wrong == 0 && finished && refused > 50);
    run_clear(&run);
}

static void every_failing_allocation_of_the_library_is_answered(void)
{
    fail_the_library_in_turn(0, 0, 0);
    fail_the_library_in_turn(1, 1, 1);
}

int main(void)
{
    watch_the_library();
    frames_pass_without_a_single_allocation();
    the_library_allocates_as_much_in_each_step_and_keeps_nothing();
    every_failing_allocation_of_the_library_is_answered();
    return CHECK_RESULT();
}
