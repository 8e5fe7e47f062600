/* The sag y_d under a unit acceleration along d solves  (K + W) y_d = M 1_d,  with K the stiffness at rest and W the drive. An
   acceleration a holds a vertex off by at most |Y| a, with |Y| the norm of the 3x3 matrix of its three sags. */
#include "method/enrich/limit.h"

#include "base/memory.h"
#include "dynamics/modes.h"
#include "dynamics/weights.h"
#include "math/linear_solver.h"

#include <math.h>
#include <string.h>

/* An acceleration that lasts holds flesh off by so much of its depth at most, and less where it is deep: a tail bends by a smaller
   part of its length than a belly shears. */
#define GIVES_WAY 0.5
#define DEEP 0.25      /* of the body's size: what is as deep gives way half as much, for its depth */
#define SHIFT 1e-9     /* of the mean stiffness over mass: definite where nothing holds the body ... */
#define GOES_OFF 1e-6  /* ... which is told by a sag that a spring of so little of it would allow */

/* sags (vertices x 9) of the free vertices, y_0 y_1 y_2; `largest` is the sag of what nothing holds. */
static SnStatus find_sags(SnContext *context, const SnWorld *world, const double *rest, const double *drive, double *sags,
                          double *largest)
{
    SnStatus status = SN_OK;
    const SnAssembly *assembly = &world->assembly;
    const SnBlockPattern *pattern = &assembly->pattern;
    size_t n = 3 * assembly->unknown_count;
    SnLinearSolver *solver = NULL;
    double *values = NULL, *shape = NULL, trace = 0.0, mass = 0.0;
    SN_TRY_NEW(context, values, pattern->value_count, double);
    SN_TRY_NEW(context, shape, n, double);
    SN_TRY(sn_modes_stiffness(context, world, rest, NULL, values));
    for (size_t k = 0; k < n; k++) {
        trace += values[pattern->value_start[k]];
        mass += world->mass[assembly->vertex[k / 3]];
    }
    *largest = mass / (GOES_OFF * trace);
    for (size_t k = 0; k < n; k++) {
        size_t v = (size_t)assembly->vertex[k / 3];
        values[pattern->value_start[k]] += drive[v] + SHIFT * trace / mass * world->mass[v];
    }
    SN_TRY(sn_linear_solver_create(context, pattern, &solver));
    SN_TRY(sn_linear_solver_factorize(context, solver, values));
    for (size_t d = 0; d < 3; d++) {
        for (size_t k = 0; k < n; k++) {
            shape[k] = k % 3 == d ? world->mass[assembly->vertex[k / 3]] : 0.0;
        }
        SN_TRY(sn_linear_solver_solve(context, solver, shape, shape));
        for (size_t k = 0; k < assembly->unknown_count; k++) {
            memcpy(sags + 9 * (size_t)assembly->vertex[k] + 3 * d, shape + 3 * k, 3 * sizeof *shape);
        }
    }
cleanup:
    sn_linear_solver_destroy(solver);
    sn_release(values);
    sn_release(shape);
    return status;
}

/* depth (vertices, m): how much free flesh lies on the way along edges to the next vertex that follows, at most `farthest`. */
static void find_depths(const SnTetMesh *mesh, const double *weights, double farthest, double *depth)
{
    for (size_t v = 0; v < mesh->vertex_count; v++) {
        depth[v] = weights[v] >= SN_WEIGHT_EXACT ? 0.0 : farthest;
    }
    for (int changed = 1; changed;) {
        changed = 0;
        for (size_t k = 0; k < 16 * mesh->tet_count; k++) {
            size_t from = (size_t)mesh->tets[k / 4], to = (size_t)mesh->tets[4 * (k / 16) + k % 4];
            double squared = 0.0;
            for (size_t a = 0; a < 3; a++) {
                double step = mesh->positions[3 * to + a] - mesh->positions[3 * from + a];
                squared += step * step;
            }
            double through = depth[from] + (1.0 - 0.5 * (weights[from] + weights[to])) * sqrt(squared);
            if (through < depth[to]) {
                depth[to] = through;
                changed = 1;
            }
        }
    }
}

/* The largest |Y u| over directions u: a few rounds of YᵀY, which is as good as exact from whatever start is best. */
static double norm_of(const double sag[9])
{
    double largest = 0.0;
    for (size_t start = 0; start < 3; start++) {
        double u[3] = {start == 0, start == 1, start == 2}, length = 0.0;
        for (int round = 0; round < 8; round++) {
            double y[3] = {0}, squared = 0.0;
            for (size_t d = 0; d < 3; d++) {
                for (size_t a = 0; a < 3; a++) {
                    y[a] += sag[3 * d + a] * u[d];
                }
            }
            length = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
            for (size_t d = 0; d < 3; d++) {
                u[d] = sag[3 * d] * y[0] + sag[3 * d + 1] * y[1] + sag[3 * d + 2] * y[2];
                squared += u[d] * u[d];
            }
            for (size_t d = 0; d < 3; d++) {
                u[d] /= fmax(sqrt(squared), 1e-300);
            }
        }
        largest = fmax(largest, length);
    }
    return largest;
}

SnStatus sn_limit_find(SnContext *context, const SnWorld *world, const SnTetMesh *mesh, const double *drive, const double *weights,
                       double size, double *most)
{
    SnStatus status = SN_OK;
    double *sags = NULL, largest = 0.0;
    SN_TRY_NEW(context, sags, 9 * world->vertex_count, double);
    if (world->assembly.unknown_count > 0) {
        SN_TRY(find_sags(context, world, mesh->positions, drive, sags, &largest));
    }
    find_depths(mesh, weights, size, most);
    for (size_t v = 0; v < world->vertex_count; v++) {
        double sag = norm_of(sags + 9 * v), depth = most[v];
        int limited = depth > 0.0 && sag > 0.0 && sag < largest;
        most[v] = limited ? GIVES_WAY * depth / (1.0 + depth / (DEEP * size)) / sag : INFINITY;
    }
cleanup:
    sn_release(sags);
    return status;
}
