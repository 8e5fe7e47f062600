/* Context, memory and the parallel loop; and every allocation of a small full run failing in turn. */
#include "run.h"

#include "base/parallel.h"

static void context_tells_of_failure_progress_and_cancelling(void)
{
    SnContext context;
    char long_text[2 * SN_MESSAGE_SIZE];
    sn_context_init(&context);
    CHECK(context.message[0] == '\0' && context.allocations_until_failure < 0);
    CHECK(sn_context_fail(&context, SN_BAD_INPUT, "Vertex %d is lost.", 7) == SN_BAD_INPUT);
    CHECK(strcmp(context.message, "Vertex 7 is lost.") == 0);
    memset(long_text, 'a', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    CHECK(sn_context_fail(&context, SN_NUMERIC_FAILURE, "%s", long_text) == SN_NUMERIC_FAILURE);
    CHECK(strlen(context.message) == SN_MESSAGE_SIZE - 1); /* cut, not overflowing */
    sn_context_stage(&context, "fit", 10);
    CHECK(strcmp(atomic_load(&context.stage), "fit") == 0 && atomic_load(&context.total) == 10 && atomic_load(&context.done) == 0);
    CHECK(sn_context_advance(&context, 3) == SN_OK && atomic_load(&context.done) == 3);
    sn_context_cancel(&context);
    CHECK(sn_context_advance(&context, 4) == SN_CANCELLED);
    CHECK(strcmp(context.message, "Cancelled.") == 0);
}

static void memory_is_zeroed_counted_and_refused_with_a_sentence(void)
{
    SnContext context;
    sn_context_init(&context);
    double *block = SN_NEW(&context, 100, double);
    int zero = 1;
    for (int k = 0; k < 100; k++) {
        zero &= block[k] == 0.0;
        block[k] = k;
    }
    CHECK(zero);
    double *larger = sn_reallocate(&context, block, 1000, sizeof *larger);
    CHECK(larger != NULL && larger[99] == 99.0);
    void *nothing = sn_allocate(&context, 0, 8);
    CHECK(nothing != NULL);
    sn_release(nothing);
    sn_release(NULL);
    CHECK(sn_allocate(&context, SIZE_MAX / 4, 8) == NULL); /* the product overflows */
    CHECK(strstr(context.message, "Out of memory") != NULL);
    CHECK(sn_reallocate(&context, larger, SIZE_MAX / 4, 8) == NULL);
    CHECK(larger[99] == 99.0); /* the old block stays */
    context.allocations_until_failure = 1;
    nothing = sn_allocate(&context, 1, 1);
    CHECK(nothing != NULL);
    CHECK(sn_allocate(&context, 1, 1) == NULL);
    CHECK(sn_reallocate(&context, larger, 10, sizeof *larger) == NULL);
    sn_release(nothing);
    sn_release(larger);
}

#define ITEMS 1003

typedef struct Visits {
    int count[ITEMS];
    size_t chunk[ITEMS];
} Visits;

static void visit(void *data, size_t chunk, size_t begin, size_t end)
{
    Visits *visits = data;
    for (size_t k = begin; k < end; k++) {
        visits->count[k]++;
        visits->chunk[k] = chunk;
    }
}

static void parallel_loop_visits_every_item_once_in_fixed_chunks(void)
{
    for (int threads = 1; threads <= 4; threads *= 2) {
        Visits visits = {{0}, {0}};
        int right = 1;
        sn_parallel_set_thread_count(threads);
        sn_parallel_for(ITEMS, 64, visit, &visits);
        for (size_t k = 0; k < ITEMS; k++) {
            right &= visits.count[k] == 1 && visits.chunk[k] == k / 64;
        }
        CHECK(right);
        sn_parallel_for(0, 64, visit, &visits);
        CHECK(visits.count[0] == 1);
    }
    CHECK(sn_parallel_chunk_count(0, 64) == 0 && sn_parallel_chunk_count(64, 64) == 1 && sn_parallel_chunk_count(65, 64) == 2);
    int state = sn_parallel_enter_serial();
    sn_parallel_leave_serial(state);
    sn_parallel_set_thread_count(0);
    CHECK(sn_parallel_thread_count() >= 1);
}

typedef SnStatus (*Part)(SnContext *context, Run *run);

/* Fails each allocation of the part in turn; the last time there are as many as it needs. Returns how many that are. */
static long fail_in_turn(Part part, Run *run)
{
    const long many = 1000000;
    int wrong = 0;
    long needed = many;
    for (long n = -1; n <= needed; n++) {
        SnContext failing;
        sn_context_init(&failing);
        failing.allocations_until_failure = n < 0 ? many : n;
        SnStatus status = part(&failing, run);
        if (n < 0) { /* counts them: where one is not missed in the end, the others must be tried all the same */
            needed -= failing.allocations_until_failure;
        }
        int refused = status == SN_OUT_OF_MEMORY && strstr(failing.message, "Out of memory") != NULL;
        if (!(n < 0 || n == needed ? status == SN_OK : refused)) {
            printf("  allocation %ld of %ld failing gives status %d: %s\n", n, needed, (int)status, failing.message);
            wrong++;
        }
    }
    CHECK(wrong == 0);
    return needed;
}

static void every_failing_allocation_is_answered(void)
{
    for (int held = 0; held < 2; held++) {
        SnContext context;
        Run run;
        sn_context_init(&context);
        run_init(&context, held, &run);
        if (held) {
            CHECK(run_build(&context, &run) == SN_OK);
        } else {
            CHECK(fail_in_turn(run_build, &run) > 30);
        }
        CHECK(run_simulate(&context, &run) == SN_OK);
        double *expected = scene_copy(&context, run.result, 3 * run.ball.vertex_count);
        CHECK(fail_in_turn(run_simulate, &run) > 100);
        CHECK(scene_same_bits(run.result, expected, 3 * run.ball.vertex_count)); /* the run with memory enough is whole */
        CHECK(scene_distance(expected, run.frames[1], 3 * run.ball.vertex_count) > 1e-3); /* and something moved */
        sn_release(expected);
        run_clear(&run);
    }
}

typedef struct ForestVisits {
    const int32_t *parent;
    atomic_int seen[16];
    atomic_int wrong; /* visits that came before one they depend on */
    int upwards;
} ForestVisits;

static void visit_node(void *data, size_t node)
{
    ForestVisits *visits = data;
    for (size_t other = 0; other < 16; other++) {
        int child = visits->parent[other] == (int32_t)node;
        int parent = visits->parent[node] == (int32_t)other;
        atomic_fetch_add(&visits->wrong, (visits->upwards ? child : parent) && atomic_load(&visits->seen[other]) != 1);
    }
    atomic_fetch_add(&visits->seen[node], 1);
}

static void forest_is_visited_once_and_in_order(void)
{
    const int32_t parent[16] = {4, 4, 4, 5, 6, 6, 15, 9, 9, 14, 13, 13, 13, 14, 15, -1};
    int32_t first[17], next[16];
    memset(first, -1, sizeof first);
    for (int k = 15; k >= 0; k--) {
        int32_t above = parent[k] < 0 ? 16 : parent[k];
        next[k] = first[above];
        first[above] = k;
    }
    for (int trial = 0; trial < 100; trial++) {
        SnForest forest = {.count = 16, .first_child = first, .next_sibling = next, .serial = trial % 4 == 3};
        ForestVisits visits = {.parent = parent, .upwards = trial % 2};
        if (visits.upwards) {
            sn_parallel_upwards(&forest, visit_node, &visits);
        } else {
            sn_parallel_downwards(&forest, visit_node, &visits);
        }
        CHECK(atomic_load(&visits.wrong) == 0);
        for (int k = 0; k < 16; k++) {
            CHECK(atomic_load(&visits.seen[k]) == 1);
        }
    }
}

int main(void)
{
    context_tells_of_failure_progress_and_cancelling();
    memory_is_zeroed_counted_and_refused_with_a_sentence();
    parallel_loop_visits_every_item_once_in_fixed_chunks();
    every_failing_allocation_is_answered();
    forest_is_visited_once_and_in_order();
    return CHECK_RESULT();
}
