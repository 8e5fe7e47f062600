/* The one parallel loop. Work is cut in fixed chunks, whatever the number of threads, so that a sum over
   chunks in order has the same bits on one thread and on many. Only parallel.c names OpenMP. */
#ifndef SN_BASE_PARALLEL_H
#define SN_BASE_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

/* Works on items begin..end-1, which are chunk number `chunk`. */
typedef void (*SnRangeFunction)(void *data, size_t chunk, size_t begin, size_t end);

/* Calls `function` once for each chunk of `chunk_size` items, in any order, on several threads. */
void sn_parallel_for(size_t count, size_t chunk_size, SnRangeFunction function, void *data);

/* A forest: node `count` stands above all roots and is never visited. */
typedef struct SnForest {
    size_t count;
    const int32_t *first_child;  /* count + 1; -1: none */
    const int32_t *next_sibling; /* count; -1: none */
    int serial;                  /* too little work to wake other threads for */
} SnForest;

/* Calls `function` once for each node, on several threads: upwards after all of the node's children, downwards after its parent. */
typedef void (*SnNodeFunction)(void *data, size_t node);
void sn_parallel_upwards(const SnForest *forest, SnNodeFunction function, void *data);
void sn_parallel_downwards(const SnForest *forest, SnNodeFunction function, void *data);

size_t sn_parallel_chunk_count(size_t count, size_t chunk_size);

/* Threads that sn_parallel_for uses: those of this process unless set; 0 sets it back to automatic. */
int sn_parallel_thread_count(void);
void sn_parallel_set_thread_count(int count);

/* Keeps a library that opens OpenMP regions of its own on the calling thread until the matching leave.
   Returns the state that leave needs. */
int sn_parallel_enter_serial(void);
void sn_parallel_leave_serial(int state);

#endif
