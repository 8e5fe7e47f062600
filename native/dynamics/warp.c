#include "dynamics/warp.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "dynamics/laplacian.h"
#include "math/linear_solver.h"

#include <math.h>
#include <string.h>

#define CHUNK ((size_t)512)
#define UNFELT 1e-12 /* over the squared size */

struct SnWarp {
    const SnTetMesh *cage;
    SnTetElements elements; /* their rest shape; they have no material */
    SnAssembly assembly;
    SnLinearSolver *solver;
    double *slopes;     /* tets x 4 x 3: gradient of each corner's shape function times volume */
    double *poisson;    /* the system without what is held, on the pattern */
    double *values;     /* the same with it */
    double *pulls;      /* tets x 4 x 3: what the missing gradient of a tet adds to the right side at its corners */
    double *right;      /* unknowns x 3: right side, then correction */
    size_t part_count;
    int32_t *parts;     /* cage vertices: the connected part that each belongs to; -1 where that has a fixed vertex */
    unsigned char *is_held; /* parts: whether a vertex of it is held */
    double *masses;     /* cage vertices: volume around each */
    double *centroids;  /* parts x 4: mean correction and volume, while a correction is made */
};

void sn_warp_destroy(SnWarp *warp)
{
    if (warp == NULL) {
        return;
    }
    sn_linear_solver_destroy(warp->solver);
    sn_assembly_clear(&warp->assembly);
    sn_tet_elements_clear(&warp->elements);
    sn_release(warp->slopes);
    sn_release(warp->pulls);
    sn_release(warp->poisson);
    sn_release(warp->values);
    sn_release(warp->is_held);
    sn_release(warp->right);
    sn_release(warp->parts);
    sn_release(warp->masses);
    sn_release(warp->centroids);
    sn_release(warp);
}

const SnTetElements *sn_warp_elements(const SnWarp *warp)
{
    return &warp->elements;
}

static void fill_slopes(SnWarp *warp)
{
    for (size_t e = 0; e < warp->elements.count; e++) {
        sn_laplacian_slopes(&warp->elements, e, warp->slopes + 12 * e);
        for (size_t i = 0; i < 4; i++) {
            warp->masses[warp->cage->tets[4 * e + i]] += 0.25 * warp->elements.volume[e];
        }
    }
}

static SnStatus find_loose_parts(SnContext *context, SnWarp *warp, const unsigned char *fixed)
{
    SnStatus status = SN_OK;
    size_t count = warp->cage->vertex_count;
    unsigned char *has_fixed = NULL;
    SN_TRY_NEW(context, warp->parts, count, int32_t);
    SN_TRY(sn_tet_mesh_components(context, warp->cage, warp->parts, &warp->part_count));
    SN_TRY_NEW(context, warp->centroids, 4 * warp->part_count, double);
    SN_TRY_NEW(context, warp->is_held, warp->part_count, unsigned char);
    SN_TRY_NEW(context, has_fixed, warp->part_count, unsigned char);
    for (size_t v = 0; v < count; v++) {
        has_fixed[warp->parts[v]] |= fixed[v] != 0;
    }
    for (size_t v = 0; v < count; v++) {
        warp->parts[v] = has_fixed[warp->parts[v]] ? -1 : warp->parts[v];
    }
cleanup:
    sn_release(has_fixed);
    return status;
}

SnStatus sn_warp_create(SnContext *context, const SnTetMesh *cage, const unsigned char *fixed, SnWarp **out)
{
    SnStatus status = SN_OK;
    SnWarp *warp = NULL;
    double volume = 0.0;
    *out = NULL;
    SN_TRY_NEW(context, warp, 1, SnWarp);
    warp->cage = cage;
    SN_TRY(sn_tet_elements_init(context, cage, NULL, &warp->elements));
    SN_TRY_NEW(context, warp->slopes, 12 * cage->tet_count, double);
    SN_TRY_NEW(context, warp->pulls, 12 * cage->tet_count, double);
    SN_TRY_NEW(context, warp->masses, cage->vertex_count, double);
    fill_slopes(warp);
    SN_TRY(find_loose_parts(context, warp, fixed));
    SN_TRY(sn_assembly_init(context, cage->vertex_count, 1, &(SnStencils){cage->tet_count, 4, cage->tets, 0}, fixed, &warp->assembly));
    SN_TRY_NEW(context, warp->right, 3 * warp->assembly.unknown_count, double);
    SN_TRY_NEW(context, warp->poisson, warp->assembly.pattern.block_count, double);
    SN_TRY_NEW(context, warp->values, warp->assembly.pattern.block_count, double);
    sn_laplacian_add(&warp->elements, &warp->assembly, 1.0, warp->poisson);
    /* a loose part could be anywhere: a hold too weak to be felt makes the system definite */
    for (size_t v = 0; v < cage->vertex_count; v++) {
        volume += warp->masses[v];
    }
    for (size_t k = 0; k < warp->assembly.unknown_count; k++) {
        size_t v = (size_t)warp->assembly.vertex[k];
        if (warp->parts[v] >= 0) {
            warp->poisson[warp->assembly.pattern.column_start[k]] += UNFELT * warp->masses[v] / pow(volume, 2.0 / 3.0);
        }
    }
    memcpy(warp->values, warp->poisson, warp->assembly.pattern.block_count * sizeof *warp->values);
    SN_TRY(sn_linear_solver_create_scalar(context, &warp->assembly.pattern, &warp->solver));
    SN_TRY(sn_linear_solver_factorize(context, warp->solver, warp->values));
    SN_TRY(sn_linear_solver_solve(context, warp->solver, warp->right, warp->right)); /* it makes its room now */
    *out = warp;
cleanup:
    if (status != SN_OK) {
        sn_warp_destroy(warp);
    }
    return status;
}

SnStatus sn_warp_hold(SnContext *context, SnWarp *warp, const double *strength)
{
    const SnAssembly *assembly = &warp->assembly;
    memcpy(warp->values, warp->poisson, assembly->pattern.block_count * sizeof *warp->values);
    memset(warp->is_held, 0, warp->part_count);
    for (size_t k = 0; k < assembly->unknown_count; k++) {
        size_t v = (size_t)assembly->vertex[k];
        warp->values[assembly->pattern.column_start[k]] += strength[v] * warp->masses[v];
        if (warp->parts[v] >= 0) {
            warp->is_held[warp->parts[v]] |= strength[v] > 0.0;
        }
    }
    return sn_linear_solver_factorize(context, warp->solver, warp->values);
}

typedef struct GatherJob {
    const SnWarp *warp;
    const double *missing;
} GatherJob;

/* Missing gradients times slopes. */
static void find_pulls(void *data, size_t chunk, size_t begin, size_t end)
{
    const GatherJob *job = data;
    (void)chunk;
    for (size_t e = begin; e < end; e++) {
        const double *m = job->missing + 9 * e, *slopes = job->warp->slopes + 12 * e;
        double *pulls = job->warp->pulls + 12 * e;
        for (size_t i = 0; i < 4; i++) {
            for (size_t a = 0; a < 3; a++) {
                pulls[3 * i + a] = m[3 * a] * slopes[3 * i] + m[3 * a + 1] * slopes[3 * i + 1] + m[3 * a + 2] * slopes[3 * i + 2];
            }
        }
    }
}

/* Right side of each unknown: the pulls of the tets around it, always in the same order. */
static void gather_right(void *data, size_t chunk, size_t begin, size_t end)
{
    const GatherJob *job = data;
    const SnAssembly *assembly = &job->warp->assembly;
    (void)chunk;
    for (size_t k = begin; k < end; k++) {
        size_t v = (size_t)assembly->vertex[k];
        double sum[3] = {0};
        for (int32_t at = assembly->vertex_start[v]; at < assembly->vertex_start[v + 1]; at++) {
            const double *pull = job->warp->pulls + 3 * (size_t)assembly->vertex_source[at];
            sum[0] += pull[0];
            sum[1] += pull[1];
            sum[2] += pull[2];
        }
        memcpy(job->warp->right + 3 * k, sum, sizeof sum);
    }
}

/* Shifts each part without a fixed or held vertex so that its centroid stays. */
static void keep_centroids(SnWarp *warp, double *positions)
{
    memset(warp->centroids, 0, 4 * warp->part_count * sizeof *warp->centroids);
    for (size_t v = 0; v < warp->cage->vertex_count; v++) {
        if (warp->parts[v] >= 0) {
            double *mean = warp->centroids + 4 * warp->parts[v];
            int32_t k = warp->assembly.unknown[v];
            mean[3] += warp->masses[v];
            for (size_t a = 0; a < 3 && k >= 0; a++) {
                mean[a] += warp->masses[v] * warp->right[3 * (size_t)k + a];
            }
        }
    }
    for (size_t v = 0; v < warp->cage->vertex_count; v++) {
        int loose = warp->parts[v] >= 0 && !warp->is_held[warp->parts[v]];
        const double *mean = loose ? warp->centroids + 4 * warp->parts[v] : NULL;
        for (size_t a = 0; a < 3 && mean != NULL && mean[3] > 0.0; a++) {
            positions[3 * v + a] -= mean[a] / mean[3];
        }
    }
}

SnStatus sn_warp_correct(SnContext *context, SnWarp *warp, const double *missing, double *positions)
{
    GatherJob job = {warp, missing};
    size_t count = warp->assembly.unknown_count;
    int any = 0;
    sn_parallel_for(warp->elements.count, CHUNK, find_pulls, &job);
    sn_parallel_for(count, CHUNK, gather_right, &job);
    for (size_t k = 0; k < 3 * count; k++) {
        any |= warp->right[k] != 0.0;
    }
    if (!any) {
        return SN_OK;
    }
    SnStatus status = sn_linear_solver_solve(context, warp->solver, warp->right, warp->right);
    if (status != SN_OK) {
        return status;
    }
    for (size_t k = 0; k < count; k++) {
        size_t v = (size_t)warp->assembly.vertex[k];
        for (size_t a = 0; a < 3; a++) {
            positions[3 * v + a] += warp->right[3 * k + a];
        }
    }
    keep_centroids(warp, positions);
    return SN_OK;
}

const int32_t *sn_warp_loose_parts(const SnWarp *warp, size_t *part_count)
{
    *part_count = warp->part_count;
    return warp->parts;
}

/* Weights of the unknowns, in the first of three columns, that add up to nothing in each part which keeps its centroid. */
static void weigh_unknowns(SnWarp *warp, const double *weights)
{
    memset(warp->centroids, 0, 4 * warp->part_count * sizeof *warp->centroids);
    for (size_t v = 0; v < warp->cage->vertex_count; v++) {
        if (warp->parts[v] >= 0 && !warp->is_held[warp->parts[v]]) {
            warp->centroids[4 * warp->parts[v]] += weights[v];
            warp->centroids[4 * warp->parts[v] + 3] += warp->masses[v];
        }
    }
    memset(warp->right, 0, 3 * warp->assembly.unknown_count * sizeof *warp->right);
    for (size_t k = 0; k < warp->assembly.unknown_count; k++) {
        size_t v = (size_t)warp->assembly.vertex[k];
        const double *sum = warp->parts[v] >= 0 ? warp->centroids + 4 * warp->parts[v] : NULL;
        double mean = sum != NULL && sum[3] > 0.0 ? sum[0] / sum[3] : 0.0;
        warp->right[3 * k] = weights[v] - mean * warp->masses[v];
    }
}

SnStatus sn_warp_response(SnContext *context, SnWarp *warp, const double *weights, double *slopes)
{
    SnStatus status = SN_OK;
    weigh_unknowns(warp, weights);
    SN_TRY(sn_linear_solver_solve(context, warp->solver, warp->right, warp->right));
    for (size_t e = 0; e < warp->elements.count; e++) {
        memset(slopes + 3 * e, 0, 3 * sizeof *slopes);
        for (size_t i = 0; i < 4; i++) {
            int32_t k = warp->assembly.unknown[warp->cage->tets[4 * e + i]];
            for (size_t a = 0; a < 3 && k >= 0; a++) {
                slopes[3 * e + a] += warp->slopes[12 * e + 3 * i + a] * warp->right[3 * (size_t)k];
            }
        }
    }
cleanup:
    return status;
}
