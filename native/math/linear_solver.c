#include "math/linear_solver.h"

#include "base/loaded.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

#include <suitesparse/cholmod.h>

struct SnLinearSolver {
    const SnBlockPattern *pattern;
    size_t scalars; /* per point: 3, or 1 for a matrix that acts on x, y and z alike */
    cholmod_common common;
    cholmod_sparse matrix; /* a view on the pattern, and while it is factorized on its values */
    cholmod_factor *factor;
    cholmod_dense *solution, *work_y, *work_e;
    double *values; /* the matrix with its shift, once one was needed */
    double *right;  /* with one scalar per point: x, y and z of all points as columns */
    double shift;
};

/* OpenBLAS: its threads gain nothing on blocks of this size and spin while others work. */
void openblas_set_num_threads(int count);

static void silent(int status, const char *file, int line, const char *message)
{
    (void)status, (void)file, (void)line, (void)message;
}

/* A nested-dissection order of the points, expanded to scalars: a third of the cost of ordering the scalars. */
static SnStatus order_points(SnContext *context, SnLinearSolver *solver, int32_t *scalar_order)
{
    SnStatus status = SN_OK;
    const SnBlockPattern *pattern = solver->pattern;
    cholmod_common *common = &solver->common;
    int32_t *order = NULL;
    cholmod_sparse graph = {
        .nrow = pattern->size,
        .ncol = pattern->size,
        .nzmax = pattern->block_count,
        .p = pattern->column_start,
        .i = pattern->rows,
        .stype = -1,
        .itype = CHOLMOD_INT,
        .xtype = CHOLMOD_PATTERN,
        .dtype = CHOLMOD_DOUBLE,
        .sorted = 1,
        .packed = 1,
    };
    SN_TRY_NEW(context, order, pattern->size, int32_t);
    if (!cholmod_metis(&graph, NULL, 0, 1, order, common) && !cholmod_amd(&graph, NULL, 0, order, common)) {
        status = sn_context_fail(context, SN_OUT_OF_MEMORY,
                                 "Out of memory while ordering the system: lower the resolution.");
        goto cleanup;
    }
    for (size_t k = 0; k < solver->scalars * pattern->size; k++) {
        int32_t point = order[k / solver->scalars];
        scalar_order[k] = (int32_t)(solver->scalars * (size_t)point + k % solver->scalars);
    }
cleanup:
    sn_release(order);
    return status;
}

/* What solutions need, in advance: if one of these is missing inside cholmod_solve2, it does not notice. */
static SnStatus allocate_work(SnContext *context, SnLinearSolver *solver, size_t columns)
{
    cholmod_common *common = &solver->common;
    size_t n = solver->factor->n;
    size_t below = solver->factor->maxesize > 0 ? solver->factor->maxesize : 1;
    cholmod_free_dense(&solver->solution, common);
    cholmod_free_dense(&solver->work_y, common);
    cholmod_free_dense(&solver->work_e, common);
    solver->solution = cholmod_allocate_dense(n, columns, n, CHOLMOD_REAL, common);
    solver->work_y = cholmod_allocate_dense(n, columns, n, CHOLMOD_REAL, common);
    solver->work_e = cholmod_allocate_dense(below, columns, below, CHOLMOD_REAL, common);
    if (solver->solution == NULL || solver->work_y == NULL || solver->work_e == NULL) {
        cholmod_free_dense(&solver->solution, common);
        return sn_context_fail(context, SN_OUT_OF_MEMORY, "Out of memory while analysing the system: lower the resolution.");
    }
    return SN_OK;
}

static SnStatus create(SnContext *context, const SnBlockPattern *pattern, size_t scalars, SnLinearSolver **out)
{
    SnStatus status = SN_OK;
    SnLinearSolver *solver = NULL;
    int32_t *order = NULL;
    size_t count = scalars * pattern->size, value_count = scalars == 3 ? pattern->value_count : pattern->block_count;
    int serial = sn_parallel_enter_serial();
    *out = NULL;
    SN_TRY_NEW(context, solver, 1, SnLinearSolver);
    solver->pattern = pattern;
    solver->scalars = scalars;
    openblas_set_num_threads(1);
    cholmod_start(&solver->common);
    solver->common.error_handler = silent;
    solver->common.print = 0; /* it would print warnings past the handler */
    solver->common.supernodal = CHOLMOD_SUPERNODAL;
    solver->common.final_ll = 1;
    solver->common.nmethods = 1;
    solver->common.method[0].ordering = CHOLMOD_GIVEN;
    solver->common.postorder = 1;
    /* wider relaxed supernodes: a little more fill for larger dense blocks, 5-10 % faster */
    solver->common.nrelax[0] = 16;
    solver->common.nrelax[1] = 48;
    solver->common.nrelax[2] = 128;
    SN_TRY_NEW(context, solver->right, scalars == 3 ? 0 : 3 * count, double);
    solver->matrix = (cholmod_sparse){
        .nrow = count,
        .ncol = count,
        .nzmax = value_count,
        .p = scalars == 3 ? pattern->value_start : pattern->column_start,
        .i = scalars == 3 ? pattern->value_rows : pattern->rows,
        .stype = -1,
        .itype = CHOLMOD_INT,
        .xtype = CHOLMOD_PATTERN,
        .dtype = CHOLMOD_DOUBLE,
        .sorted = 1,
        .packed = 1,
    };
    SN_TRY_NEW(context, order, count, int32_t);
    SN_TRY(order_points(context, solver, order));
    solver->factor = cholmod_analyze_p(&solver->matrix, order, NULL, 0, &solver->common);
    if (solver->factor == NULL) {
        status = sn_context_fail(context, SN_OUT_OF_MEMORY,
                                 "Out of memory while analysing the system: lower the resolution.");
        goto cleanup;
    }
    SN_TRY(allocate_work(context, solver, 3 / scalars));
    *out = solver;
cleanup:
    sn_release(order);
    sn_parallel_leave_serial(serial);
    if (status != SN_OK) {
        sn_linear_solver_destroy(solver);
    }
    return status;
}

SnStatus sn_linear_solver_create(SnContext *context, const SnBlockPattern *pattern, SnLinearSolver **solver)
{
    return create(context, pattern, 3, solver);
}

SnStatus sn_linear_solver_create_scalar(SnContext *context, const SnBlockPattern *pattern, SnLinearSolver **solver)
{
    return create(context, pattern, 1, solver);
}

void sn_linear_solver_destroy(SnLinearSolver *solver)
{
    if (solver == NULL) {
        return;
    }
    cholmod_free_factor(&solver->factor, &solver->common);
    cholmod_free_dense(&solver->solution, &solver->common);
    cholmod_free_dense(&solver->work_y, &solver->common);
    cholmod_free_dense(&solver->work_e, &solver->common);
    cholmod_finish(&solver->common);
    sn_release(solver->values);
    sn_release(solver->right);
    sn_release(solver);
}

/* BLAS lets NaN pass as a pivot, and every solution after it would be NaN. */
static int all_finite(size_t count, const double *values)
{
    double sum = 0.0;
    for (size_t k = 0; k < count; k++) {
        sum += 0.0 * values[k];
    }
    return sum == 0.0;
}

static double largest_diagonal(const cholmod_sparse *matrix, const double *values)
{
    const int32_t *column_start = matrix->p;
    double largest = 0.0;
    for (size_t column = 0; column < matrix->ncol; column++) {
        largest = fmax(largest, values[column_start[column]]);
    }
    return largest;
}

SnStatus sn_linear_solver_factorize(SnContext *context, SnLinearSolver *solver, const double *values)
{
    const int32_t *column_start = solver->matrix.p;
    size_t value_count = solver->matrix.nzmax;
    cholmod_common *common = &solver->common;
    double largest = largest_diagonal(&solver->matrix, values);
    SnStatus status = SN_OK;
    if (solver->matrix.ncol == 0) {
        return SN_OK;
    }
    solver->matrix.xtype = CHOLMOD_REAL;
    solver->matrix.x = (void *)values; /* read only */
    solver->shift = 0.0;
    int attempts = all_finite(value_count, values) ? 12 : 0;
    for (int attempt = 0; attempt < attempts; attempt++) {
        /* Debian's CHOLMOD opens more threads than there are cores, whatever the settings: keep it on this one */
        int serial = sn_parallel_enter_serial();
        int ok = cholmod_factorize(&solver->matrix, solver->factor, common);
        sn_parallel_leave_serial(serial);
        if (ok && common->status == CHOLMOD_OK) {
            return SN_OK;
        }
        if (common->status == CHOLMOD_OUT_OF_MEMORY) {
            return sn_context_fail(context, SN_OUT_OF_MEMORY,
                                   "Out of memory while factorizing the system: lower the resolution.");
        }
        if (solver->values == NULL) {
            SN_TRY_NEW(context, solver->values, value_count, double);
        }
        memcpy(solver->values, values, value_count * sizeof *values);
        solver->matrix.x = solver->values;
        solver->shift = solver->shift == 0.0 ? 1e-12 : 10.0 * solver->shift;
        for (size_t column = 0; column < solver->matrix.ncol; column++) {
            int32_t at = column_start[column];
            solver->values[at] = values[at] + solver->shift * largest;
        }
    }
    status = sn_context_fail(context, SN_NUMERIC_FAILURE,
                             "The system has no finite solution: the input or the settings hold values that are not numbers.");
cleanup:
    return status;
}

/* to (columns x rows) = the transpose of from (rows x columns). */
static void transpose(size_t rows, size_t columns, const double *from, double *to)
{
    for (size_t k = 0; k < rows; k++) {
        for (size_t c = 0; c < columns; c++) {
            to[c * rows + k] = from[k * columns + c];
        }
    }
}

/* The solver's solution = A⁻¹ of right sides one after the other. */
static SnStatus solve_columns(SnContext *context, SnLinearSolver *solver, size_t columns, const double *b)
{
    size_t count = solver->matrix.ncol;
    cholmod_dense right = {
        .nrow = count,
        .ncol = columns,
        .nzmax = columns * count,
        .d = count,
        .x = (void *)b, /* read only */
        .xtype = CHOLMOD_REAL,
        .dtype = CHOLMOD_DOUBLE,
    };
    int serial = sn_parallel_enter_serial();
    int ok = cholmod_solve2(CHOLMOD_A, solver->factor, &right, NULL, &solver->solution, NULL, &solver->work_y,
                            &solver->work_e, &solver->common);
    sn_parallel_leave_serial(serial);
    if (!ok) {
        return sn_context_fail(context, SN_OUT_OF_MEMORY, "Out of memory while solving: lower the resolution.");
    }
    return SN_OK;
}

SnStatus sn_linear_solver_solve(SnContext *context, SnLinearSolver *solver, const double *b, double *x)
{
    SnStatus status = SN_OK;
    size_t count = solver->matrix.ncol;
    if (count == 0) {
        return SN_OK;
    }
    if (solver->scalars == 3) {
        return sn_linear_solver_solve_all(context, solver, 1, b, x);
    }
    transpose(count, 3, b, solver->right);
    SN_TRY(solve_columns(context, solver, 3, solver->right));
    transpose(3, count, solver->solution->x, x);
cleanup:
    return status;
}

SnStatus sn_linear_solver_solve_all(SnContext *context, SnLinearSolver *solver, size_t count, const double *b, double *x)
{
    SnStatus status = SN_OK;
    if (solver->matrix.ncol == 0 || count == 0) {
        return SN_OK;
    }
    if (solver->solution == NULL || solver->solution->ncol != count) {
        SN_TRY(allocate_work(context, solver, count));
    }
    SN_TRY(solve_columns(context, solver, count, b));
    memcpy(x, solver->solution->x, count * solver->matrix.ncol * sizeof *x);
cleanup:
    return status;
}

SnStatus sn_linear_solver_supernodes(SnContext *context, const SnLinearSolver *solver, SnSupernodes *out)
{
    SnStatus status = SN_OK;
    const cholmod_factor *factor = solver->factor;
    const int32_t *columns = factor->super, *starts = factor->pi;
    memset(out, 0, sizeof *out);
    out->size = factor->n;
    out->count = factor->nsuper;
    SN_TRY_NEW(context, out->order, out->size, int32_t);
    SN_TRY_NEW(context, out->column_start, out->count + 1, int32_t);
    SN_TRY_NEW(context, out->row_start, out->count + 1, size_t);
    SN_TRY_NEW(context, out->rows, factor->ssize, int32_t);
    memcpy(out->order, factor->Perm, out->size * sizeof *out->order);
    memcpy(out->rows, factor->s, factor->ssize * sizeof *out->rows);
    for (size_t k = 0; k <= out->count; k++) {
        out->column_start[k] = columns[k];
        out->row_start[k] = (size_t)starts[k];
    }
cleanup:
    if (status != SN_OK) {
        sn_supernodes_clear(out);
    }
    return status;
}

void sn_supernodes_clear(SnSupernodes *supernodes)
{
    sn_release(supernodes->order);
    sn_release(supernodes->column_start);
    sn_release(supernodes->row_start);
    sn_release(supernodes->rows);
    memset(supernodes, 0, sizeof *supernodes);
}

double sn_linear_solver_shift(const SnLinearSolver *solver)
{
    return solver->shift;
}

const char *sn_linear_solver_library(int version[3])
{
    cholmod_version(version);
    return "CHOLMOD";
}

const char *sn_linear_solver_file(void)
{
    return sn_loaded_file((void (*)(void))cholmod_factorize);
}
