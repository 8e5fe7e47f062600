#include "dynamics/assembly.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <string.h>

#define CHUNK ((size_t)1024)

static void number_unknowns(SnAssembly *assembly, const unsigned char *fixed)
{
    for (size_t v = 0; v < assembly->vertex_count; v++) {
        assembly->unknown[v] = -1;
        if (!fixed[v]) {
            assembly->vertex[assembly->unknown_count] = (int32_t)v;
            assembly->unknown[v] = (int32_t)assembly->unknown_count++;
        }
    }
}

/* Calls for each element block between free vertices: counts it (fill == 0) or writes its source. */
static void visit_blocks(SnAssembly *assembly, size_t list_count, const SnStencils *lists, int32_t *next, int fill)
{
    int32_t source = 0;
    for (const SnStencils *list = lists; list < lists + list_count; list++) {
        const int32_t *unknown = assembly->unknown + list->first;
        for (size_t e = 0; e < list->count; e++) {
            const int32_t *corners = list->vertices + e * (size_t)list->corners;
            for (int i = 0; i < list->corners; i++) {
                for (int j = 0; j <= i; j++, source++) {
                    int32_t row = unknown[corners[i]], column = unknown[corners[j]];
                    if (row < 0 || column < 0) {
                        continue;
                    }
                    int transposed = row < column;
                    int32_t block = transposed ? sn_block_pattern_find(&assembly->pattern, column, row)
                                               : sn_block_pattern_find(&assembly->pattern, row, column);
                    if (fill) {
                        assembly->block_source[next[block]] = source * 2 + transposed;
                    }
                    next[block]++;
                }
            }
        }
    }
}

/* The same for each corner of an element. */
static void visit_corners(SnAssembly *assembly, size_t list_count, const SnStencils *lists, int32_t *next, int fill)
{
    int32_t source = 0;
    for (const SnStencils *list = lists; list < lists + list_count; list++) {
        int32_t *own = next + list->first;
        for (size_t k = 0; k < list->count * (size_t)list->corners; k++, source++) {
            if (fill) {
                assembly->vertex_source[own[list->vertices[k]]] = source;
            }
            own[list->vertices[k]]++;
        }
    }
}

/* Turns counts into starts: start[0] = 0, start[k + 1] = sum of counts up to k. */
static void accumulate(size_t count, int32_t *start, const int32_t *counts)
{
    start[0] = 0;
    for (size_t k = 0; k < count; k++) {
        start[k + 1] = start[k] + counts[k];
    }
}

SnStatus sn_assembly_init(SnContext *context, size_t vertex_count, size_t list_count, const SnStencils *lists,
                          const unsigned char *fixed, SnAssembly *assembly)
{
    SnStatus status = SN_OK;
    int32_t *next = NULL;
    memset(assembly, 0, sizeof *assembly);
    assembly->vertex_count = vertex_count;
    size_t corners = 0, sources = 0;
    for (size_t t = 0; t < list_count; t++) {
        size_t own = lists[t].count * (size_t)lists[t].corners;
        corners += own;
        sources += own * (size_t)(lists[t].corners + 1) / 2;
    }
    if (sources > INT32_MAX / 2) {
        status = sn_context_fail(context, SN_BAD_INPUT, "The cage is too large to solve: lower the resolution.");
        goto cleanup;
    }
    SN_TRY_NEW(context, assembly->unknown, vertex_count, int32_t);
    SN_TRY_NEW(context, assembly->vertex, vertex_count, int32_t);
    number_unknowns(assembly, fixed);
    SN_TRY(sn_block_pattern_init(context, list_count, lists, assembly->unknown, assembly->unknown_count, &assembly->pattern));

    size_t blocks = assembly->pattern.block_count;
    SN_TRY_NEW(context, next, blocks > vertex_count ? blocks : vertex_count, int32_t);
    SN_TRY_NEW(context, assembly->block_start, blocks + 1, int32_t);
    visit_blocks(assembly, list_count, lists, next, 0);
    accumulate(blocks, assembly->block_start, next);
    SN_TRY_NEW(context, assembly->block_source, assembly->block_start[blocks], int32_t);
    memcpy(next, assembly->block_start, blocks * sizeof *next);
    visit_blocks(assembly, list_count, lists, next, 1);

    SN_TRY_NEW(context, assembly->vertex_start, vertex_count + 1, int32_t);
    SN_TRY_NEW(context, assembly->vertex_source, corners, int32_t);
    memset(next, 0, vertex_count * sizeof *next);
    visit_corners(assembly, list_count, lists, next, 0);
    accumulate(vertex_count, assembly->vertex_start, next);
    memcpy(next, assembly->vertex_start, vertex_count * sizeof *next);
    visit_corners(assembly, list_count, lists, next, 1);
cleanup:
    sn_release(next);
    if (status != SN_OK) {
        sn_assembly_clear(assembly);
    }
    return status;
}

void sn_assembly_clear(SnAssembly *assembly)
{
    sn_release(assembly->unknown);
    sn_release(assembly->vertex);
    sn_block_pattern_clear(&assembly->pattern);
    sn_release(assembly->block_start);
    sn_release(assembly->block_source);
    sn_release(assembly->vertex_start);
    sn_release(assembly->vertex_source);
    memset(assembly, 0, sizeof *assembly);
}

typedef struct GatherJob {
    const SnAssembly *assembly;
    const double *source;
    double *target;
} GatherJob;

static void gather_blocks(void *data, size_t chunk, size_t begin, size_t end)
{
    GatherJob *job = data;
    const SnAssembly *assembly = job->assembly;
    (void)chunk;
    for (size_t block = begin; block < end; block++) {
        double sum[9] = {0};
        for (int32_t k = assembly->block_start[block]; k < assembly->block_start[block + 1]; k++) {
            int32_t code = assembly->block_source[k];
            const double *from = job->source + 9 * (size_t)(code / 2);
            if (code & 1) {
                for (int i = 0; i < 9; i++) {
                    sum[i] += from[3 * (i % 3) + i / 3];
                }
            } else {
                for (int i = 0; i < 9; i++) {
                    sum[i] += from[i];
                }
            }
        }
        int diagonal = assembly->pattern.rows[block] == assembly->pattern.columns[block];
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < (diagonal ? i + 1 : 3); j++) {
                job->target[sn_block_pattern_value(&assembly->pattern, (int32_t)block, i, j)] = sum[3 * i + j];
            }
        }
    }
}

void sn_assembly_gather_stiffness(const SnAssembly *assembly, const double *stiffness, double *values)
{
    GatherJob job = {assembly, stiffness, values};
    sn_parallel_for(assembly->pattern.block_count, CHUNK, gather_blocks, &job);
}

static void gather_vertices(void *data, size_t chunk, size_t begin, size_t end)
{
    GatherJob *job = data;
    const SnAssembly *assembly = job->assembly;
    (void)chunk;
    for (size_t v = begin; v < end; v++) {
        double sum[3] = {0};
        for (int32_t k = assembly->vertex_start[v]; k < assembly->vertex_start[v + 1]; k++) {
            const double *from = job->source + 3 * (size_t)assembly->vertex_source[k];
            sum[0] += from[0];
            sum[1] += from[1];
            sum[2] += from[2];
        }
        memcpy(job->target + 3 * v, sum, sizeof sum);
    }
}

void sn_assembly_gather_gradient(const SnAssembly *assembly, const double *gradients, double *gradient)
{
    GatherJob job = {assembly, gradients, gradient};
    sn_parallel_for(assembly->vertex_count, CHUNK, gather_vertices, &job);
}
