#include "dynamics/curvature.h"

#include "base/memory.h"
#include "math/vector.h"

#include <math.h>
#include <string.h>

SnStatus sn_curvature_init(SnContext *context, size_t count, SnCurvature *curvature)
{
    SnStatus status = SN_OK;
    memset(curvature, 0, sizeof *curvature);
    curvature->count = count;
    for (int k = 0; k < SN_CURVATURE_PAIRS; k++) {
        SN_TRY_NEW(context, curvature->move[k], count, double);
        SN_TRY_NEW(context, curvature->change[k], count, double);
    }
cleanup:
    if (status != SN_OK) {
        sn_curvature_clear(curvature);
    }
    return status;
}

void sn_curvature_clear(SnCurvature *curvature)
{
    for (int k = 0; k < SN_CURVATURE_PAIRS; k++) {
        sn_release(curvature->move[k]);
        sn_release(curvature->change[k]);
    }
    memset(curvature, 0, sizeof *curvature);
}

void sn_curvature_forget(SnCurvature *curvature)
{
    curvature->used = 0;
    curvature->next = 0;
}

void sn_curvature_record(SnCurvature *curvature, double length, const double *step, const double *before, const double *after)
{
    size_t count = curvature->count;
    double *move = curvature->move[curvature->next], *change = curvature->change[curvature->next];
    for (size_t k = 0; k < count; k++) {
        move[k] = length * step[k];
        change[k] = before[k] - after[k];
    }
    double product = sn_vector_dot(count, move, change);
    double lengths = sqrt(sn_vector_dot(count, move, move) * sn_vector_dot(count, change, change));
    if (!(product > 1e-10 * lengths)) {
        return;
    }
    curvature->product[curvature->next] = product;
    curvature->next = (curvature->next + 1) % SN_CURVATURE_PAIRS;
    curvature->used += curvature->used < SN_CURVATURE_PAIRS;
}

/* Place of the pair that is `age` pairs old. */
static int place(const SnCurvature *curvature, int age)
{
    return (curvature->next + SN_CURVATURE_PAIRS - 1 - age) % SN_CURVATURE_PAIRS;
}

void sn_curvature_before(const SnCurvature *curvature, double *vector, SnCurvatureWeights *weights)
{
    for (int age = 0; age < curvature->used; age++) {
        int k = place(curvature, age);
        weights->weight[k] = sn_vector_dot(curvature->count, curvature->move[k], vector) / curvature->product[k];
        sn_vector_add(curvature->count, -weights->weight[k], curvature->change[k], vector);
    }
}

void sn_curvature_after(const SnCurvature *curvature, double *vector, const SnCurvatureWeights *weights)
{
    for (int age = curvature->used - 1; age >= 0; age--) {
        int k = place(curvature, age);
        double along = sn_vector_dot(curvature->count, curvature->change[k], vector) / curvature->product[k];
        sn_vector_add(curvature->count, weights->weight[k] - along, curvature->move[k], vector);
    }
}
