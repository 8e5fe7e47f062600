#include "dynamics/warp.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "dynamics/laplacian.h"
#include "math/linear_solver.h"
#include "math/mat3.h"
#include "mesh/union_find.h"

#include <math.h>
#include <string.h>

#define CHUNK ((size_t)512)
#define UNFELT 1e-12 /* over the squared size */

struct SnWarp {
    size_t vertex_count;
    size_t count, corners;  /* of the cells, and of each */
    const int32_t *cells;   /* count x corners; not owned */
    SnTetElements elements; /* of a cage: their rest shape; they have no material */
    SnAssembly assembly;
    SnLinearSolver *solver;
    double *volume;     /* cells: m³, or m² of triangles; owned */
    double *slopes;     /* cells x corners x 3: gradient of each corner's shape function times volume */
    double *poisson;    /* the system without what is held, on the pattern */
    double *values;     /* the same with it */
    double *right;      /* unknowns x 3: right side, then correction */
    size_t part_count;
    int32_t *parts;     /* vertices: the connected part that each belongs to; -1 where that has a fixed vertex */
    unsigned char *is_held; /* parts: whether a vertex of it is held */
    double *masses;     /* vertices: volume around each */
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
    sn_release(warp->volume);
    sn_release(warp->slopes);
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

const double *sn_warp_slopes(const SnWarp *warp, size_t cell)
{
    return warp->slopes + 3 * warp->corners * cell;
}

/* Of tets. */
static void fill_tets(SnWarp *warp)
{
    for (size_t e = 0; e < warp->count; e++) {
        sn_laplacian_slopes(&warp->elements, e, warp->slopes + 12 * e);
        warp->volume[e] = warp->elements.volume[e];
    }
}

/* Of triangles: the slope of a corner is across the edge opposite to it. */
static void fill_triangles(SnWarp *warp, const double *positions)
{
    for (size_t e = 0; e < warp->count; e++) {
        const double *x[3];
        double edges[9], normal[3];
        for (size_t i = 0; i < 3; i++) {
            x[i] = positions + 3 * (size_t)warp->cells[3 * e + i];
        }
        for (size_t i = 0; i < 3; i++) {
            for (size_t a = 0; a < 3; a++) {
                edges[3 * i + a] = x[(i + 2) % 3][a] - x[(i + 1) % 3][a];
            }
        }
        sn_cross3(edges, edges + 3, normal);
        double doubled = sqrt(sn_dot3(normal, normal));
        for (size_t i = 0; i < 3; i++) {
            double *slope = warp->slopes + 9 * e + 3 * i;
            sn_cross3(normal, edges + 3 * i, slope);
            for (size_t a = 0; a < 3; a++) {
                slope[a] *= 0.5 / doubled;
            }
        }
        warp->volume[e] = 0.5 * doubled;
    }
}

/* Which vertices hang together, by any shared vertex. */
static SnStatus find_parts(SnContext *context, SnWarp *warp)
{
    SnStatus status = SN_OK;
    int32_t *parents = NULL;
    SN_TRY_NEW(context, parents, warp->vertex_count, int32_t);
    SN_TRY_NEW(context, warp->parts, warp->vertex_count, int32_t);
    sn_union_find_init(warp->vertex_count, parents);
    for (size_t k = 0; k < warp->corners * warp->count; k++) {
        sn_union_find_join(parents, warp->cells[k - k % warp->corners], warp->cells[k]);
    }
    for (size_t v = 0; v < warp->vertex_count; v++) {
        int32_t root = sn_union_find_root(parents, (int32_t)v);
        warp->parts[v] = root == (int32_t)v ? (int32_t)warp->part_count++ : warp->parts[root];
    }
cleanup:
    sn_release(parents);
    return status;
}

static SnStatus find_loose_parts(SnContext *context, SnWarp *warp, const unsigned char *fixed)
{
    SnStatus status = SN_OK;
    size_t count = warp->vertex_count;
    unsigned char *has_fixed = NULL;
    SN_TRY(find_parts(context, warp));
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

/* The Laplacian of the cells, on the pattern. */
static void add_laplacian(SnWarp *warp)
{
    const SnAssembly *assembly = &warp->assembly;
    size_t corners = warp->corners;
    for (size_t e = 0; e < warp->count; e++) {
        const double *slopes = sn_warp_slopes(warp, e);
        for (size_t i = 0; i < corners; i++) {
            for (size_t j = 0; j < corners; j++) {
                int32_t row = assembly->unknown[warp->cells[corners * e + i]], column = assembly->unknown[warp->cells[corners * e + j]];
                if (column >= 0 && row >= column) {
                    warp->poisson[sn_block_pattern_find(&assembly->pattern, row, column)] +=
                        sn_dot3(slopes + 3 * i, slopes + 3 * j) / warp->volume[e];
                }
            }
        }
    }
}

/* A loose part could be anywhere: a hold too weak to be felt makes the system definite. */
static void hold_loose(SnWarp *warp)
{
    double volume = 0.0, dimension = (double)warp->corners - 1.0;
    for (size_t v = 0; v < warp->vertex_count; v++) {
        volume += warp->masses[v];
    }
    for (size_t k = 0; k < warp->assembly.unknown_count; k++) {
        size_t v = (size_t)warp->assembly.vertex[k];
        if (warp->parts[v] >= 0) {
            warp->poisson[warp->assembly.pattern.column_start[k]] += UNFELT * warp->masses[v] / pow(volume, 2.0 / dimension);
        }
    }
}

static SnStatus make_system(SnContext *context, SnWarp *warp, const unsigned char *fixed)
{
    SnStatus status = SN_OK;
    SN_TRY_NEW(context, warp->masses, warp->vertex_count, double);
    for (size_t k = 0; k < warp->corners * warp->count; k++) {
        warp->masses[warp->cells[k]] += warp->volume[k / warp->corners] / (double)warp->corners;
    }
    SN_TRY(find_loose_parts(context, warp, fixed));
    SnStencils stencils = {warp->count, (int)warp->corners, warp->cells, 0};
    SN_TRY(sn_assembly_init(context, warp->vertex_count, 1, &stencils, fixed, &warp->assembly));
    SN_TRY_NEW(context, warp->right, 3 * warp->assembly.unknown_count, double);
    SN_TRY_NEW(context, warp->poisson, warp->assembly.pattern.block_count, double);
    SN_TRY_NEW(context, warp->values, warp->assembly.pattern.block_count, double);
    add_laplacian(warp);
    hold_loose(warp);
    memcpy(warp->values, warp->poisson, warp->assembly.pattern.block_count * sizeof *warp->values);
    SN_TRY(sn_linear_solver_create_scalar(context, &warp->assembly.pattern, &warp->solver));
    SN_TRY(sn_linear_solver_factorize(context, warp->solver, warp->values));
    SN_TRY(sn_linear_solver_solve(context, warp->solver, warp->right, warp->right)); /* it makes its room now */
cleanup:
    return status;
}

static SnStatus make_room(SnContext *context, size_t vertex_count, size_t count, size_t corners, const int32_t *cells, SnWarp **out)
{
    SnStatus status = SN_OK;
    SnWarp *warp = NULL;
    SN_TRY_NEW(context, warp, 1, SnWarp);
    *out = warp;
    warp->vertex_count = vertex_count;
    warp->count = count;
    warp->corners = corners;
    warp->cells = cells;
    SN_TRY_NEW(context, warp->volume, count, double);
    SN_TRY_NEW(context, warp->slopes, 3 * corners * count, double);
cleanup:
    return status;
}

SnStatus sn_warp_create(SnContext *context, const SnTetMesh *cage, const unsigned char *fixed, SnWarp **out)
{
    SnStatus status = SN_OK;
    SnWarp *warp = NULL;
    *out = NULL;
    SN_TRY(make_room(context, cage->vertex_count, cage->tet_count, 4, cage->tets, &warp));
    SN_TRY(sn_tet_elements_init(context, cage, NULL, &warp->elements));
    fill_tets(warp);
    SN_TRY(make_system(context, warp, fixed));
    *out = warp;
cleanup:
    if (status != SN_OK) {
        sn_warp_destroy(warp);
    }
    return status;
}

SnStatus sn_warp_create_surface(SnContext *context, const SnTriMesh *surface, const unsigned char *fixed, SnWarp **out)
{
    SnStatus status = SN_OK;
    SnWarp *warp = NULL;
    *out = NULL;
    SN_TRY(make_room(context, surface->vertex_count, surface->triangle_count, 3, surface->triangles, &warp));
    fill_triangles(warp, surface->positions);
    SN_TRY(make_system(context, warp, fixed));
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

/* Right side of each unknown: missing gradients times slopes of the cells around it, always in the same order. */
static void gather_right(void *data, size_t chunk, size_t begin, size_t end)
{
    const GatherJob *job = data;
    const SnAssembly *assembly = &job->warp->assembly;
    (void)chunk;
    for (size_t k = begin; k < end; k++) {
        size_t v = (size_t)assembly->vertex[k];
        double sum[3] = {0};
        for (int32_t at = assembly->vertex_start[v]; at < assembly->vertex_start[v + 1]; at++) {
            size_t source = (size_t)assembly->vertex_source[at];
            const double *m = job->missing + 9 * (source / job->warp->corners), *slope = job->warp->slopes + 3 * source;
            for (size_t a = 0; a < 3; a++) {
                sum[a] += m[3 * a] * slope[0] + m[3 * a + 1] * slope[1] + m[3 * a + 2] * slope[2];
            }
        }
        memcpy(job->warp->right + 3 * k, sum, sizeof sum);
    }
}

/* Shifts each part without a fixed or held vertex so that its centroid stays. */
static void keep_centroids(SnWarp *warp, double *positions)
{
    memset(warp->centroids, 0, 4 * warp->part_count * sizeof *warp->centroids);
    for (size_t v = 0; v < warp->vertex_count; v++) {
        if (warp->parts[v] >= 0) {
            double *mean = warp->centroids + 4 * warp->parts[v];
            int32_t k = warp->assembly.unknown[v];
            mean[3] += warp->masses[v];
            for (size_t a = 0; a < 3 && k >= 0; a++) {
                mean[a] += warp->masses[v] * warp->right[3 * (size_t)k + a];
            }
        }
    }
    for (size_t v = 0; v < warp->vertex_count; v++) {
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
    for (size_t v = 0; v < warp->vertex_count; v++) {
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
    for (size_t e = 0; e < warp->count; e++) {
        memset(slopes + 3 * e, 0, 3 * sizeof *slopes);
        for (size_t i = 0; i < warp->corners; i++) {
            int32_t k = warp->assembly.unknown[warp->cells[warp->corners * e + i]];
            for (size_t a = 0; a < 3 && k >= 0; a++) {
                slopes[3 * e + a] += sn_warp_slopes(warp, e)[3 * i + a] * warp->right[3 * (size_t)k];
            }
        }
    }
cleanup:
    return status;
}
