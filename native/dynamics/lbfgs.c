#include "dynamics/lbfgs.h"

#include "base/memory.h"
#include "math/vector.h"

#include <math.h>
#include <string.h>

SnStatus sn_lbfgs_init(SnContext *context, size_t count, SnLbfgs *lbfgs)
{
    SnStatus status = SN_OK;
    memset(lbfgs, 0, sizeof *lbfgs);
    lbfgs->count = count;
    for (int k = 0; k < SN_LBFGS_PAIRS; k++) {
        SN_TRY_NEW(context, lbfgs->move[k], count, double);
        SN_TRY_NEW(context, lbfgs->change[k], count, double);
    }
cleanup:
    if (status != SN_OK) {
        sn_lbfgs_clear(lbfgs);
    }
    return status;
}

void sn_lbfgs_clear(SnLbfgs *lbfgs)
{
    for (int k = 0; k < SN_LBFGS_PAIRS; k++) {
        sn_release(lbfgs->move[k]);
        sn_release(lbfgs->change[k]);
    }
    memset(lbfgs, 0, sizeof *lbfgs);
}

void sn_lbfgs_forget(SnLbfgs *lbfgs)
{
    lbfgs->used = 0;
    lbfgs->next = 0;
}

void sn_lbfgs_record(SnLbfgs *lbfgs, double length, const double *step, const double *before, const double *after)
{
    size_t count = lbfgs->count;
    double *move = lbfgs->move[lbfgs->next], *change = lbfgs->change[lbfgs->next];
    for (size_t k = 0; k < count; k++) {
        move[k] = length * step[k];
        change[k] = before[k] - after[k];
    }
    double product = sn_vector_dot(count, move, change);
    double lengths = sqrt(sn_vector_dot(count, move, move) * sn_vector_dot(count, change, change));
    if (!(product > 1e-10 * lengths)) {
        return;
    }
    lbfgs->product[lbfgs->next] = product;
    lbfgs->next = (lbfgs->next + 1) % SN_LBFGS_PAIRS;
    lbfgs->used += lbfgs->used < SN_LBFGS_PAIRS;
}

/* Place of the pair that is `age` pairs old. */
static int place(const SnLbfgs *lbfgs, int age)
{
    return (lbfgs->next + SN_LBFGS_PAIRS - 1 - age) % SN_LBFGS_PAIRS;
}

void sn_lbfgs_before(const SnLbfgs *lbfgs, double *vector, SnLbfgsWeights *weights)
{
    for (int age = 0; age < lbfgs->used; age++) {
        int k = place(lbfgs, age);
        weights->weight[k] = sn_vector_dot(lbfgs->count, lbfgs->move[k], vector) / lbfgs->product[k];
        sn_vector_add(lbfgs->count, -weights->weight[k], lbfgs->change[k], vector);
    }
}

void sn_lbfgs_after(const SnLbfgs *lbfgs, double *vector, const SnLbfgsWeights *weights)
{
    for (int age = lbfgs->used - 1; age >= 0; age--) {
        int k = place(lbfgs, age);
        double along = sn_vector_dot(lbfgs->count, lbfgs->change[k], vector) / lbfgs->product[k];
        sn_vector_add(lbfgs->count, weights->weight[k] - along, lbfgs->move[k], vector);
    }
}
