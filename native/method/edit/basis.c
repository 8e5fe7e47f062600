#include "method/edit/basis.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "math/eigensolver.h"
#include "math/vector.h"

#include <math.h>
#include <string.h>

#define CHUNK ((size_t)1024)
#define DEPENDENT 1e-7 /* of its length: what is left of a vector that others span already */
#define GROWTH 96 /* vectors: pages that are not written to cost nothing */

void sn_edit_basis_init(const SnEditBody *body, SnEditBasis *basis)
{
    *basis = (SnEditBasis){.body = body, .width = 3 * body->world.assembly.unknown_count};
}

void sn_edit_basis_clear(SnEditBasis *basis)
{
    sn_release(basis->vectors);
    sn_release(basis->stiffness);
    sn_release(basis->squared);
    sn_release(basis->mix);
    *basis = (SnEditBasis){0};
}

void sn_edit_basis_cut(SnEditBasis *basis, size_t count)
{
    basis->count = count < basis->count ? count : basis->count;
}

void sn_edit_chain_clear(SnEditChain *chain)
{
    sn_release(chain->vectors);
    *chain = (SnEditChain){0};
}

static void weigh(size_t width, const double *masses, const double *vector, double *out)
{
    for (size_t k = 0; k < width; k++) {
        out[k] = masses[k] * vector[k];
    }
}

typedef struct ProjectJob {
    size_t width;
    const double *vectors, *weighed;
    double *parts;
} ProjectJob;

static void find_parts(void *data, size_t chunk, size_t begin, size_t end)
{
    const ProjectJob *job = data;
    (void)chunk;
    for (size_t k = begin; k < end; k++) {
        job->parts[k] = sn_vector_dot(job->width, job->vectors + k * job->width, job->weighed);
    }
}

/* Makes a vector M-orthonormal to `count` others, twice over. 0 where they span it already. `weighed` (width) and `parts` (count) are
   scratch. */
static int orthonormalise(const SnEditBody *body, size_t width, size_t count, const double *vectors, double *weighed, double *parts,
                          double *vector)
{
    weigh(width, body->masses, vector, weighed);
    double length = sqrt(sn_vector_dot(width, vector, weighed)), before = length;
    ProjectJob job = {width, vectors, weighed, parts};
    if (!(length > 0.0)) {
        return 0;
    }
    for (int round = 0; round < 2; round++) {
        sn_parallel_for(count, 4, find_parts, &job);
        for (size_t k = 0; k < count; k++) {
            sn_vector_add(width, -parts[k], vectors + k * width, vector);
        }
        weigh(width, body->masses, vector, weighed);
        length = sqrt(sn_vector_dot(width, vector, weighed));
        if (!(length > DEPENDENT * before)) {
            return 0;
        }
    }
    for (size_t k = 0; k < width; k++) {
        vector[k] /= length;
    }
    return 1;
}

SnStatus sn_edit_chain_init(SnContext *context, const SnEditBody *body, size_t row_count, const double *rows, int blocks,
                            SnEditChain *chain)
{
    SnStatus status = SN_OK;
    size_t width = 3 * body->world.assembly.unknown_count, sources = row_count;
    double *block = NULL, *weighed = NULL, *parts = NULL;
    *chain = (SnEditChain){0};
    SN_TRY_NEW(context, chain->vectors, row_count * (size_t)blocks * width, double);
    SN_TRY_NEW(context, block, row_count * width, double);
    SN_TRY_NEW(context, weighed, width, double);
    SN_TRY_NEW(context, parts, row_count * (size_t)blocks, double);
    memcpy(block, rows, row_count * width * sizeof *block);
    for (int b = 0; b < blocks; b++) {
        size_t before = chain->count;
        SN_TRY(sn_linear_solver_solve_all(context, body->solver, sources, block, block));
        for (size_t k = 0; k < sources; k++) {
            double *vector = chain->vectors + chain->count * width;
            memcpy(vector, block + k * width, width * sizeof *vector);
            chain->count += (size_t)orthonormalise(body, width, chain->count, chain->vectors, weighed, parts, vector);
        }
        sources = chain->count - before;
        for (size_t k = 0; k < sources; k++) {
            weigh(width, body->masses, chain->vectors + (before + k) * width, block + k * width);
        }
        SN_TRY(sn_context_look(context));
    }
cleanup:
    sn_release(block);
    sn_release(weighed);
    sn_release(parts);
    if (status != SN_OK) {
        sn_edit_chain_clear(chain);
    }
    return status;
}

/* Room for more vectors; rows of the small matrix are moved apart. */
static SnStatus grow(SnContext *context, SnEditBasis *basis, size_t count)
{
    size_t room = count + GROWTH;
    if (count <= basis->room) {
        return SN_OK;
    }
    double *stiffness = SN_NEW(context, room * room, double);
    if (stiffness == NULL) {
        return SN_OUT_OF_MEMORY;
    }
    for (size_t i = 0; i < basis->count; i++) {
        memcpy(stiffness + i * room, basis->stiffness + i * basis->room, basis->count * sizeof *stiffness);
    }
    sn_release(basis->stiffness);
    basis->stiffness = stiffness;
    double **arrays[] = {&basis->vectors, &basis->squared, &basis->mix};
    size_t lengths[] = {basis->width, 1, room};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        double *larger = sn_reallocate(context, *arrays[k], room * lengths[k], sizeof(double));
        if (larger == NULL) {
            basis->room = 0; /* what there is of the small matrix no longer fits the rest */
            basis->count = 0;
            return SN_OUT_OF_MEMORY;
        }
        *arrays[k] = larger;
    }
    basis->room = room;
    return SN_OK;
}

SnStatus sn_edit_basis_add(SnContext *context, SnEditBasis *basis, const SnEditChain *chain)
{
    SnStatus status = SN_OK;
    const SnEditBody *body = basis->body;
    size_t width = basis->width;
    double *weighed = NULL, *parts = NULL, *resisted = NULL;
    SN_TRY(grow(context, basis, basis->count + chain->count));
    SN_TRY_NEW(context, weighed, width, double);
    SN_TRY_NEW(context, resisted, width, double);
    SN_TRY_NEW(context, parts, basis->room, double);
    for (size_t k = 0; k < chain->count; k++) {
        double *vector = basis->vectors + basis->count * width;
        memcpy(vector, chain->vectors + k * width, width * sizeof *vector);
        if (!orthonormalise(body, width, basis->count, basis->vectors, weighed, parts, vector)) {
            continue;
        }
        sn_block_matrix_multiply(&body->world.assembly.pattern, body->stiffness, vector, resisted);
        ProjectJob job = {width, basis->vectors, resisted, parts};
        sn_parallel_for(basis->count + 1, 4, find_parts, &job);
        for (size_t i = 0; i <= basis->count; i++) {
            basis->stiffness[i * basis->room + basis->count] = basis->stiffness[basis->count * basis->room + i] = parts[i];
        }
        basis->count++;
    }
cleanup:
    sn_release(weighed);
    sn_release(parts);
    sn_release(resisted);
    return status;
}

SnStatus sn_edit_basis_find_modes(SnContext *context, SnEditBasis *basis)
{
    for (size_t i = 0; i < basis->count; i++) {
        memcpy(basis->mix + i * basis->count, basis->stiffness + i * basis->room, basis->count * sizeof *basis->mix);
    }
    return sn_eigensolver_dense(context, basis->count, basis->mix, basis->squared);
}

void sn_edit_basis_project(const SnEditBasis *basis, size_t row_count, const double *rows, double *scratch, double *amplitudes)
{
    size_t count = basis->count;
    for (size_t r = 0; r < row_count; r++) {
        ProjectJob job = {basis->width, basis->vectors, rows + r * basis->width, scratch};
        sn_parallel_for(count, 4, find_parts, &job);
        sn_edit_basis_to_modes(basis, scratch, amplitudes + r * count);
    }
}

void sn_edit_basis_to_modes(const SnEditBasis *basis, const double *parts, double *z)
{
    for (size_t j = 0; j < basis->count; j++) {
        z[j] = sn_vector_dot(basis->count, basis->mix + j * basis->count, parts);
    }
}

void sn_edit_basis_to_shapes(const SnEditBasis *basis, const double *z, double *parts)
{
    memset(parts, 0, basis->count * sizeof *parts);
    for (size_t j = 0; j < basis->count; j++) {
        sn_vector_add(basis->count, z[j], basis->mix + j * basis->count, parts);
    }
}

typedef struct ExpandJob {
    const SnEditBasis *basis;
    const double *parts;
    double *p;
} ExpandJob;

static void expand_range(void *data, size_t chunk, size_t begin, size_t end)
{
    const ExpandJob *job = data;
    const SnEditBasis *basis = job->basis;
    const int32_t *vertex = basis->body->world.assembly.vertex;
    double sums[3 * CHUNK] = {0};
    (void)chunk;
    for (size_t i = 0; i < basis->count; i++) {
        sn_vector_add(3 * (end - begin), job->parts[i], basis->vectors + i * basis->width + 3 * begin, sums);
    }
    for (size_t k = begin; k < end; k++) {
        memcpy(job->p + 3 * (size_t)vertex[k], sums + 3 * (k - begin), 3 * sizeof *sums);
    }
}

void sn_edit_basis_expand(const SnEditBasis *basis, const double *z, double *scratch, double *p)
{
    ExpandJob job = {basis, scratch, p};
    sn_edit_basis_to_shapes(basis, z, scratch);
    memset(p, 0, 3 * basis->body->vertex_count * sizeof *p);
    sn_parallel_for(basis->body->world.assembly.unknown_count, CHUNK, expand_range, &job);
}
