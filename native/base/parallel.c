#include "base/parallel.h"

#ifdef _OPENMP
#include <omp.h>
#endif

size_t sn_parallel_chunk_count(size_t count, size_t chunk_size)
{
    return (count + chunk_size - 1) / chunk_size;
}

void sn_parallel_for(size_t count, size_t chunk_size, SnRangeFunction function, void *data)
{
    size_t chunk_count = sn_parallel_chunk_count(count, chunk_size);
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) if (chunk_count > 1)
#endif
    for (size_t chunk = 0; chunk < chunk_count; chunk++) {
        size_t begin = chunk * chunk_size;
        size_t end = begin + chunk_size < count ? begin + chunk_size : count;
        function(data, chunk, begin, end);
    }
}

typedef struct Visit {
    const SnForest *forest;
    SnNodeFunction function;
    void *data;
    int upwards;
} Visit;

/* The node and all below it: each child is a task of its own. */
static void visit(const Visit *v, size_t node)
{
    int real = node < v->forest->count;
    if (real && !v->upwards) {
        v->function(v->data, node);
    }
    for (int32_t child = v->forest->first_child[node]; child >= 0; child = v->forest->next_sibling[child]) {
#ifdef _OPENMP
#pragma omp task firstprivate(child)
#endif
        visit(v, (size_t)child);
    }
#ifdef _OPENMP
#pragma omp taskwait
#endif
    if (real && v->upwards) {
        v->function(v->data, node);
    }
}

static void visit_all(const Visit *v)
{
#ifdef _OPENMP
#pragma omp parallel if (v->forest->count > 1 && !v->forest->serial)
#pragma omp single
#endif
    visit(v, v->forest->count);
}

void sn_parallel_upwards(const SnForest *forest, SnNodeFunction function, void *data)
{
    visit_all(&(Visit){forest, function, data, 1});
}

void sn_parallel_downwards(const SnForest *forest, SnNodeFunction function, void *data)
{
    visit_all(&(Visit){forest, function, data, 0});
}

#ifdef _OPENMP

int sn_parallel_thread_count(void)
{
    return omp_get_max_threads();
}

void sn_parallel_set_thread_count(int count)
{
    omp_set_num_threads(count > 0 ? count : omp_get_num_procs());
}

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

#else

int sn_parallel_thread_count(void)
{
    return 1;
}

void sn_parallel_set_thread_count(int count)
{
    (void)count;
}

int sn_parallel_enter_serial(void)
{
    return 0;
}

void sn_parallel_leave_serial(int state)
{
    (void)state;
}

#endif
