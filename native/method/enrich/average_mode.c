/* Inverse iteration within the constraints: z <- A⁻¹ M z by the factor of A = K + W + εM and the response of the averages. */
#include "method/enrich/average_mode.h"

#include "base/memory.h"
#include "dynamics/modes.h"
#include "dynamics/response.h"
#include "math/linear_solver.h"
#include "math/vector.h"

#include <math.h>

#define ROUNDS 25
#define SHIFT 1e-6 /* of the mean stiffness over mass: definite where a rigid motion is free */

/* A = K + W + εM, factorized, and the response of the averages to it. */
static SnStatus prepare(SnContext *context, const SnWorld *world, const double *drive, const double *stiffness, double *values,
                        SnLinearSolver *solver, SnResponse *response)
{
    SnStatus status = SN_OK;
    const SnAssembly *assembly = &world->assembly;
    double trace = 0.0, mass = 0.0;
    for (size_t k = 0; k < 3 * assembly->unknown_count; k++) {
        trace += stiffness[assembly->pattern.value_start[k]];
        mass += world->mass[assembly->vertex[k / 3]];
    }
    for (size_t k = 0; k < assembly->pattern.value_count; k++) {
        values[k] = stiffness[k];
    }
    for (size_t k = 0; k < 3 * assembly->unknown_count; k++) {
        size_t v = (size_t)assembly->vertex[k / 3];
        values[assembly->pattern.value_start[k]] += drive[v] + SHIFT * trace / mass * world->mass[v];
    }
    SN_TRY(sn_linear_solver_factorize(context, solver, values));
    for (size_t k = 0; k < response->size; k++) {
        double *column = sn_response_load(response, k);
        SN_TRY(sn_linear_solver_solve(context, solver, column, column));
    }
    sn_response_finish(response);
cleanup:
    return status;
}

SnStatus sn_average_mode_find(SnContext *context, const SnWorld *world, const double *drive, const double *rest, double *elastic,
                              double *driven, double *energy)
{
    SnStatus status = SN_OK;
    const SnAssembly *assembly = &world->assembly;
    size_t n = 3 * assembly->unknown_count;
    SnLinearSolver *solver = NULL;
    SnResponse response = {0};
    double *stiffness = NULL, *values = NULL, *shape = NULL, *product = NULL, *work = NULL;
    *elastic = *driven = 0.0;
    SN_TRY_NEW(context, stiffness, assembly->pattern.value_count, double);
    SN_TRY_NEW(context, values, assembly->pattern.value_count, double);
    SN_TRY_NEW(context, shape, n, double);
    SN_TRY_NEW(context, product, n, double);
    SN_TRY_NEW(context, work, world->constraints.size, double);
    SN_TRY(sn_modes_stiffness(context, world, rest, NULL, stiffness));
    SN_TRY(sn_linear_solver_create(context, &assembly->pattern, &solver));
    SN_TRY(sn_response_init(context, &world->constraints.free_rows, assembly->unknown_count, &response));
    SN_TRY(prepare(context, world, drive, stiffness, values, solver, &response));
    for (size_t k = 0; k < n; k++) { /* a start that is no shape in particular */
        shape[k] = cos(1.7 * (double)k * (double)(k % 7 + 1));
    }
    for (int round = 0; round < ROUNDS; round++) {
        double inertia = 0.0;
        for (size_t k = 0; k < n; k++) {
            shape[k] *= world->mass[assembly->vertex[k / 3]];
        }
        SN_TRY(sn_linear_solver_solve(context, solver, shape, shape));
        sn_response_correct(&response, shape);
        sn_constraints_project_step(&world->constraints, work, shape);
        for (size_t k = 0; k < n; k++) {
            inertia += world->mass[assembly->vertex[k / 3]] * shape[k] * shape[k];
        }
        for (size_t k = 0; k < n; k++) {
            shape[k] /= sqrt(inertia);
        }
    }
    sn_block_matrix_multiply(&assembly->pattern, stiffness, shape, product);
    *elastic = sn_vector_dot(n, shape, product);
    for (size_t v = 0; v < world->vertex_count; v++) {
        energy[v] = 0.0;
    }
    for (size_t k = 0; k < n; k++) {
        energy[assembly->vertex[k / 3]] += shape[k] * product[k];
        *driven += drive[assembly->vertex[k / 3]] * shape[k] * shape[k];
    }
cleanup:
    sn_linear_solver_destroy(solver);
    sn_response_clear(&response);
    sn_release(stiffness);
    sn_release(values);
    sn_release(shape);
    sn_release(product);
    sn_release(work);
    return status;
}
