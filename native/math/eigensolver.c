/* Shift and invert: the largest eigenvalues of D (K + s M)⁻¹ D with D = M^(1/2) belong to the smallest of K. The shift s > 0 keeps
   the matrix definite where the body can move freely. */
#include "math/eigensolver.h"

#include "base/memory.h"
#include "math/linear_solver.h"

#include <math.h>
#include <string.h>

/* ARPACK-NG's Fortran entry points: 32-bit integers and logicals; lengths of character arguments at the end. */
void dsaupd_(int *ido, const char *bmat, const int *n, const char *which, const int *nev, const double *tol, double *resid,
             const int *ncv, double *v, const int *ldv, int *iparam, int *ipntr, double *workd, double *workl,
             const int *lworkl, int *info, size_t bmat_length, size_t which_length);
void dseupd_(const int *rvec, const char *howmny, const int *select, double *d, double *z, const int *ldz, const double *sigma,
             const char *bmat, const int *n, const char *which, const int *nev, const double *tol, double *resid, const int *ncv,
             double *v, const int *ldv, int *iparam, int *ipntr, double *workd, double *workl, const int *lworkl, int *info,
             size_t howmny_length, size_t bmat_length, size_t which_length);

/* LAPACK: all eigenvalues and vectors of a symmetric matrix. */
void dsyev_(const char *job, const char *triangle, const int *n, double *a, const int *lda, double *w, double *work, const int *lwork,
            int *info, size_t job_length, size_t triangle_length);

/* A fixed, irregular start vector: the same modes in every run. */
static void fill_start(int n, double *vector)
{
    unsigned state = 12345u;
    for (int i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        vector[i] = (double)(state >> 8) / 16777216.0 - 0.5;
    }
}

/* Small against the stiffness, large against its rounding. */
static double choose_shift(const SnBlockPattern *pattern, const double *values, const double *masses)
{
    double stiffness = 0.0, mass = 0.0;
    for (size_t k = 0; k < pattern->size; k++) {
        stiffness += values[pattern->value_start[3 * k]];
        mass += masses[k];
    }
    return mass > 0.0 ? 1e-5 * stiffness / mass : 1.0;
}

SnStatus sn_eigensolver_lowest(SnContext *context, const SnBlockPattern *pattern, const double *values, const double *masses,
                               int count, double *eigenvalues, double *vectors)
{
    SnStatus status = SN_OK;
    SnLinearSolver *solver = NULL;
    double *shifted = NULL, *residual = NULL, *basis = NULL, *work = NULL, *lanczos = NULL, *root = NULL, *found = NULL;
    int *select = NULL;
    int n = (int)(3 * pattern->size);
    int columns = 2 * count + 10 < n ? 2 * count + 10 : n;
    int lanczos_size = columns * (columns + 8);
    if (count < 1 || count >= n) {
        return sn_context_fail(context, SN_BAD_INPUT, "%d modes were asked for; this body has at most %d.", count, n - 1);
    }
    double shift = choose_shift(pattern, values, masses);
    SN_TRY_NEW(context, shifted, pattern->value_count, double);
    SN_TRY_NEW(context, root, n, double);
    memcpy(shifted, values, pattern->value_count * sizeof *values);
    for (int i = 0; i < n; i++) {
        shifted[pattern->value_start[i]] += shift * masses[i / 3];
        root[i] = sqrt(masses[i / 3]);
    }
    SN_TRY(sn_linear_solver_create(context, pattern, &solver));
    SN_TRY(sn_linear_solver_factorize(context, solver, shifted));

    SN_TRY_NEW(context, residual, n, double);
    SN_TRY_NEW(context, basis, (size_t)n * (size_t)columns, double);
    SN_TRY_NEW(context, work, 3 * (size_t)n, double);
    SN_TRY_NEW(context, lanczos, lanczos_size, double);
    SN_TRY_NEW(context, found, columns, double);
    SN_TRY_NEW(context, select, columns, int);
    fill_start(n, residual);
    int ido = 0, info = 1, pointers[11] = {0};
    int parameters[11] = {1, 0, 300, 1, 0, 0, 1, 0, 0, 0, 0};
    double tolerance = 1e-10;
    for (;;) {
        dsaupd_(&ido, "I", &n, "LM", &count, &tolerance, residual, &columns, basis, &n, parameters, pointers, work, lanczos,
                &lanczos_size, &info, 1, 2);
        if (ido != -1 && ido != 1) {
            break;
        }
        SN_TRY(sn_context_look(context));
        double *in = work + pointers[0] - 1, *out = work + pointers[1] - 1;
        for (int i = 0; i < n; i++) {
            out[i] = root[i] * in[i];
        }
        SN_TRY(sn_linear_solver_solve(context, solver, out, out));
        for (int i = 0; i < n; i++) {
            out[i] *= root[i];
        }
    }
    int want_vectors = vectors != NULL;
    double sigma = 0.0;
    if (info == 0) {
        dseupd_(&want_vectors, "A", select, found, basis, &n, &sigma, "I", &n, "LM", &count, &tolerance, residual, &columns,
                basis, &n, parameters, pointers, work, lanczos, &lanczos_size, &info, 1, 1, 2);
    }
    if (info != 0) {
        status = sn_context_fail(context, SN_NUMERIC_FAILURE, "The vibration modes did not converge (ARPACK code %d).", info);
        goto cleanup;
    }
    /* found rises in 1/(lambda + s), so the modes come out falling: reverse them */
    for (int k = 0; k < count; k++) {
        eigenvalues[count - 1 - k] = fmax(1.0 / found[k] - shift, 0.0);
        if (vectors != NULL) {
            for (int i = 0; i < n; i++) {
                vectors[(size_t)(count - 1 - k) * (size_t)n + (size_t)i] = basis[(size_t)k * (size_t)n + (size_t)i] / root[i];
            }
        }
    }
cleanup:
    sn_linear_solver_destroy(solver);
    sn_release(shifted);
    sn_release(root);
    sn_release(residual);
    sn_release(basis);
    sn_release(work);
    sn_release(lanczos);
    sn_release(found);
    sn_release(select);
    return status;
}

SnStatus sn_eigensolver_dense(SnContext *context, size_t size, double *matrix, double *eigenvalues)
{
    SnStatus status = SN_OK;
    int n = (int)size, info = 0, room = 34 * n + 1;
    double *work = NULL;
    if (size == 0) {
        return SN_OK;
    }
    SN_TRY_NEW(context, work, room, double);
    dsyev_("V", "U", &n, matrix, &n, eigenvalues, work, &room, &info, 1, 1); /* its columns are our rows */
    if (info != 0) {
        status = sn_context_fail(context, SN_NUMERIC_FAILURE, "The eigenvalues of a matrix of %d rows were not found (LAPACK code %d).", n,
                                 info);
    }
cleanup:
    sn_release(work);
    return status;
}
