/* A whole run on one, two and four threads, and a run that another thread watches and cancels. `make test-threads` runs this program
   under ThreadSanitizer. */
#include "run.h"

#include "base/parallel.h"

#include <pthread.h>

/* Large enough for several chunks in every loop, and several tasks in the factorization. */
static void run_large(SnContext *context, Run *run)
{
    run_init(context, 1, run);
    run->resolution = 9;
    run->fit_rounds = 4;
    run->settings.substeps = 2;
}

static void results_do_not_depend_on_the_number_of_threads(void)
{
    static const int THREADS[3] = {1, 2, 4};
    SnContext context;
    double *first = NULL;
    size_t count = 0, vertex_count = 0;
    sn_context_init(&context);
    for (int k = 0; k < 3; k++) {
        Run run;
        sn_parallel_set_thread_count(THREADS[k]);
        run_large(&context, &run);
        CHECK(run_build(&context, &run) == SN_OK);
        CHECK(run_simulate(&context, &run) == SN_OK);
        if (k == 0) {
            count = 3 * run.ball.vertex_count;
            vertex_count = run.cage.vertex_count;
            first = scene_copy(&context, run.result, count);
            CHECK(run.cage.tet_count > 4000);
            CHECK(scene_distance(run.result, run.frames[1], count) > 1e-3); /* something moved */
        }
        CHECK(run.cage.vertex_count == vertex_count);
        CHECK(scene_distance(run.result, first, count) <= 1e-6); /* the promise */
        CHECK(scene_same_bits(run.result, first, count));        /* and what is kept */
        run_clear(&run);
    }
    sn_parallel_set_thread_count(0);
    sn_release(first);
}

typedef struct Watched {
    SnContext context;
    Run run;
    SnStatus status;
    atomic_int ended;
} Watched;

static void *build_watched(void *pointer)
{
    Watched *watched = pointer;
    watched->status = run_build(&watched->context, &watched->run);
    atomic_store(&watched->ended, 1);
    return NULL;
}

/* As the window's thread does while a job runs. */
static void a_watching_thread_reads_progress_and_cancels(void)
{
    SnContext context;
    Watched watched = {0};
    pthread_t worker;
    sn_context_init(&context);
    sn_context_init(&watched.context);
    run_large(&context, &watched.run);
    watched.run.resolution = 32;
    if (CHECK(pthread_create(&worker, NULL, build_watched, &watched) == 0)) {
        while (!atomic_load(&watched.ended)) {
            if (atomic_load(&watched.context.stage) != NULL && atomic_load(&watched.context.done) > 0) {
                sn_context_cancel(&watched.context);
            }
        }
        (void)pthread_join(worker, NULL);
        CHECK(watched.status == SN_CANCELLED && strcmp(watched.context.message, "Cancelled.") == 0);
    }
    run_clear(&watched.run);
}

int main(void)
{
    results_do_not_depend_on_the_number_of_threads();
    a_watching_thread_reads_progress_and_cancels();
    return CHECK_RESULT();
}
