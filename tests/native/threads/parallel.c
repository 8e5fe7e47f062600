/* The parallel loop on plain threads, for ThreadSanitizer: it cannot see how OpenMP's own library waits, but it sees these. Takes the
   place of native/base/parallel.c in that build alone; threads are made and joined in every loop, so the order of work varies widely. */
#include "base/parallel.h"

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>

#define MOST_THREADS 16

static atomic_int thread_count = 4;

size_t sn_parallel_chunk_count(size_t count, size_t chunk_size)
{
    return (count + chunk_size - 1) / chunk_size;
}

typedef struct Loop {
    size_t count, chunk_size, chunk_count;
    SnRangeFunction function;
    void *data;
    atomic_size_t next;
} Loop;

/* Relaxed, so that taking chunks orders nothing between threads: only what the loop itself promises does. */
static void *work(void *pointer)
{
    Loop *loop = pointer;
    for (;;) {
        size_t chunk = atomic_fetch_add_explicit(&loop->next, 1, memory_order_relaxed);
        if (chunk >= loop->chunk_count) {
            return NULL;
        }
        size_t begin = chunk * loop->chunk_size, end = begin + loop->chunk_size;
        loop->function(loop->data, chunk, begin, end < loop->count ? end : loop->count);
    }
}

void sn_parallel_for(size_t count, size_t chunk_size, SnRangeFunction function, void *data)
{
    Loop loop = {count, chunk_size, sn_parallel_chunk_count(count, chunk_size), function, data, 0};
    pthread_t threads[MOST_THREADS];
    int started = 0, wanted = sn_parallel_thread_count() - 1;
    while (started < wanted && (size_t)started + 1 < loop.chunk_count &&
           pthread_create(threads + started, NULL, work, &loop) == 0) {
        started++;
    }
    (void)work(&loop);
    while (started > 0) {
        (void)pthread_join(threads[--started], NULL);
    }
}

typedef struct Visit {
    const SnForest *forest;
    SnNodeFunction function;
    void *data;
    int upwards;
    size_t node;
} Visit;

/* The node and all below it: children in pairs, one of each on a thread of its own. */
static void *visit(void *pointer)
{
    const Visit *v = pointer;
    int real = v->node < v->forest->count;
    if (real && !v->upwards) {
        v->function(v->data, v->node);
    }
    int32_t child = v->forest->first_child[v->node];
    while (child >= 0) {
        Visit left = *v, right = *v;
        pthread_t thread;
        left.node = (size_t)child;
        child = v->forest->next_sibling[child];
        int shared = child >= 0 && sn_parallel_thread_count() > 1 && pthread_create(&thread, NULL, visit, &left) == 0;
        if (!shared) {
            (void)visit(&left);
        }
        if (child >= 0) {
            right.node = (size_t)child;
            child = v->forest->next_sibling[child];
            (void)visit(&right);
        }
        if (shared) {
            (void)pthread_join(thread, NULL);
        }
    }
    if (real && v->upwards) {
        v->function(v->data, v->node);
    }
    return NULL;
}

void sn_parallel_upwards(const SnForest *forest, SnNodeFunction function, void *data)
{
    (void)visit(&(Visit){forest, function, data, 1, forest->count});
}

void sn_parallel_downwards(const SnForest *forest, SnNodeFunction function, void *data)
{
    (void)visit(&(Visit){forest, function, data, 0, forest->count});
}

int sn_parallel_thread_count(void)
{
    return thread_count;
}

void sn_parallel_set_thread_count(int count)
{
    thread_count = count <= 0 ? 4 : count < MOST_THREADS ? count : MOST_THREADS;
}

/* CHOLMOD uses OpenMP itself, and is kept from it as in the real loop. */
int sn_parallel_enter_serial(void)
{
    int levels = omp_get_max_active_levels();
    omp_set_max_active_levels(0);
    return levels;
}

void sn_parallel_leave_serial(int state)
{
    omp_set_max_active_levels(state);
}
