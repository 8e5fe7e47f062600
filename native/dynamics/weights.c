#include "dynamics/weights.h"

#include "base/memory.h"
#include "dynamics/assembly.h"
#include "math/linear_solver.h"

#include <math.h>
#include <string.h>

#define LEAST_SHARE 1e-6 /* of a corner in a surface vertex: less does not move it */

/* Whether a tet holds the surface vertex that is bound to `own` with these shares: all its corners that move the vertex. A vertex on
   a face, an edge or a corner lies in all the tets around that, whichever of them it is bound to. */
static int holds(const int32_t *tet, const int32_t *own, const double shares[4])
{
    for (int i = 0; i < 4; i++) {
        if (fabs(shares[i]) > LEAST_SHARE && own[i] != tet[0] && own[i] != tet[1] && own[i] != tet[2] && own[i] != tet[3]) {
            return 0;
        }
    }
    return 1;
}

/* The corner by which a surface vertex is found. */
static int32_t first_corner(const int32_t *own, const double shares[4])
{
    int i = 0;
    while (i < 3 && !(fabs(shares[i]) > LEAST_SHARE)) {
        i++;
    }
    return own[i];
}

/* Marks the corners of all tets that hold a surface vertex of weight 1. */
static SnStatus find_followed(SnContext *context, const SnTetMesh *cage, const SnEmbedding *embedding, const double *surface,
                              unsigned char *followed)
{
    SnStatus status = SN_OK;
    int32_t *first = NULL, *next = NULL; /* the surface vertices that are found by each corner */
    SN_TRY_NEW(context, first, cage->vertex_count, int32_t);
    SN_TRY_NEW(context, next, embedding->vertex_count, int32_t);
    for (size_t v = 0; v < cage->vertex_count; v++) {
        first[v] = -1;
    }
    for (size_t s = 0; s < embedding->vertex_count; s++) {
        if (surface[s] >= SN_WEIGHT_EXACT) {
            int32_t *head = first + first_corner(cage->tets + 4 * (size_t)embedding->tets[s], embedding->weights + 4 * s);
            next[s] = *head;
            *head = (int32_t)s;
        }
    }
    for (size_t e = 0; e < cage->tet_count; e++) {
        const int32_t *tet = cage->tets + 4 * e;
        int held = 0;
        for (int corner = 0; corner < 4; corner++) {
            for (int32_t s = first[tet[corner]]; s >= 0 && !held; s = next[s]) {
                held = holds(tet, cage->tets + 4 * (size_t)embedding->tets[s], embedding->weights + 4 * (size_t)s);
            }
        }
        for (int corner = 0; corner < 4 && held; corner++) {
            followed[tet[corner]] = 1;
        }
    }
cleanup:
    sn_release(first);
    sn_release(next);
    return status;
}

SnStatus sn_weights_from_surface(SnContext *context, const SnTetMesh *cage, const SnEmbedding *embedding, const double *areas,
                                 const double *surface, double *weights, double *known, unsigned char *followed)
{
    for (size_t s = 0; s < embedding->vertex_count; s++) {
        const int32_t *tet = cage->tets + 4 * (size_t)embedding->tets[s];
        for (size_t i = 0; i < 4 && !isnan(surface[s]); i++) {
            double share = embedding->weights[4 * s + i];
            if (share > LEAST_SHARE) {
                weights[tet[i]] += areas[s] * share * surface[s];
                known[tet[i]] += areas[s] * share;
            }
        }
    }
    for (size_t v = 0; v < cage->vertex_count; v++) {
        weights[v] = known[v] > 0.0 ? fmin(fmax(weights[v] / known[v], 0.0), 1.0) : 0.0;
    }
    return find_followed(context, cage, embedding, surface, followed);
}

/* The graph Laplacian on the pattern of the unknowns, and what the known neighbours add to the right side (x of size x 3). */
static void assemble_laplacian(const SnTetMesh *cage, const SnAssembly *assembly, const double *weights, double *values,
                               double *right)
{
    const SnBlockPattern *pattern = &assembly->pattern;
    for (size_t k = 0; k < assembly->unknown_count; k++) {
        values[pattern->column_start[k]] = 1e-9; /* definite where nothing is known; pulls towards 0 */
    }
    for (size_t e = 0; e < cage->tet_count; e++) {
        const int32_t *tet = cage->tets + 4 * e;
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++) {
                int32_t row = assembly->unknown[tet[i]], column = assembly->unknown[tet[j]];
                if (i == j || row < 0) {
                    continue;
                }
                values[pattern->column_start[row]] += 1.0;
                if (column < 0) {
                    right[3 * row] += weights[tet[j]];
                } else if (row > column) {
                    values[sn_block_pattern_find(pattern, row, column)] -= 1.0;
                }
            }
        }
    }
}

void sn_weights_add_own(const SnTetMesh *cage, const double *own, double *weights, double *known, unsigned char *followed)
{
    for (size_t v = 0; v < cage->vertex_count && own != NULL; v++) {
        if (!isnan(own[v]) && !followed[v]) {
            weights[v] = own[v];
            known[v] = 1.0;
            followed[v] = own[v] >= SN_WEIGHT_EXACT;
        }
    }
}

SnStatus sn_weights_over_cage(SnContext *context, const SnTetMesh *cage, const SnEmbedding *embedding, const double *areas,
                              const double *surface, const double *own, double *weights)
{
    SnStatus status = SN_OK;
    double *found = NULL, *known = NULL;
    unsigned char *followed = NULL;
    SN_TRY_NEW(context, found, cage->vertex_count, double);
    SN_TRY_NEW(context, known, cage->vertex_count, double);
    SN_TRY_NEW(context, followed, cage->vertex_count, unsigned char);
    SN_TRY(sn_weights_from_surface(context, cage, embedding, areas, surface, found, known, followed));
    sn_weights_add_own(cage, own, found, known, followed);
    SN_TRY(sn_weights_spread(context, cage, known, found));
    memcpy(weights, found, cage->vertex_count * sizeof *found);
cleanup:
    sn_release(found);
    sn_release(known);
    sn_release(followed);
    return status;
}

SnStatus sn_weights_of_region(SnContext *context, const SnTetMesh *cage, const SnEmbedding *embedding, const double *areas,
                              const double *surface, double *vertices, double *tets)
{
    SnStatus status = SN_OK;
    SN_TRY(sn_weights_over_cage(context, cage, embedding, areas, surface, NULL, vertices));
    for (size_t e = 0; e < cage->tet_count; e++) {
        const int32_t *tet = cage->tets + 4 * e;
        tets[e] = 0.25 * (vertices[tet[0]] + vertices[tet[1]] + vertices[tet[2]] + vertices[tet[3]]);
    }
cleanup:
    return status;
}

SnStatus sn_weights_spread(SnContext *context, const SnTetMesh *cage, const double *known, double *weights)
{
    SnStatus status = SN_OK;
    SnAssembly assembly = {0};
    SnLinearSolver *solver = NULL;
    unsigned char *fixed = NULL;
    double *values = NULL, *right = NULL, smallest = INFINITY, largest = 0.0;
    SN_TRY(sn_context_look(context));
    SN_TRY_NEW(context, fixed, cage->vertex_count, unsigned char);
    for (size_t v = 0; v < cage->vertex_count; v++) {
        fixed[v] = known[v] > 0.0;
        smallest = fixed[v] ? fmin(smallest, weights[v]) : smallest;
        largest = fixed[v] ? fmax(largest, weights[v]) : largest;
    }
    SN_TRY(sn_assembly_init(context, cage->vertex_count, 1, &(SnStencils){cage->tet_count, 4, cage->tets, 0}, fixed, &assembly));
    if (assembly.unknown_count == 0) {
        goto cleanup;
    }
    SN_TRY_NEW(context, values, assembly.pattern.block_count, double);
    SN_TRY_NEW(context, right, 3 * assembly.unknown_count, double);
    SN_TRY(sn_context_look(context)); /* before each of what takes long */
    assemble_laplacian(cage, &assembly, weights, values, right);
    SN_TRY(sn_linear_solver_create_scalar(context, &assembly.pattern, &solver));
    SN_TRY(sn_context_look(context));
    SN_TRY(sn_linear_solver_factorize(context, solver, values));
    SN_TRY(sn_linear_solver_solve(context, solver, right, right));
    for (size_t k = 0; k < assembly.unknown_count; k++) {
        double weight = right[3 * k]; /* exactly 0 in a part that knows nothing */
        weights[assembly.vertex[k]] = weight == 0.0 ? 0.0 : fmin(fmax(weight, smallest), largest);
    }
cleanup:
    sn_linear_solver_destroy(solver);
    sn_assembly_clear(&assembly);
    sn_release(fixed);
    sn_release(values);
    sn_release(right);
    return status;
}
