/* Sparse rows, their projection in the mass metric, and the response of a factor to them, against dense linear algebra. */
#include "scenes.h"

#include "dynamics/constraints.h"
#include "dynamics/response.h"
#include "math/linear_solver.h"

/* x = A⁻¹ b by Gauss with pivoting; both are destroyed, b becomes x. n x n, n x columns. */
static void dense_solve(size_t n, size_t columns, double *a, double *b)
{
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k + 1; i < n; i++) {
            best = fabs(a[n * i + k]) > fabs(a[n * best + k]) ? i : best;
        }
        for (size_t j = 0; j < n; j++) {
            double swap = a[n * k + j];
            a[n * k + j] = a[n * best + j];
            a[n * best + j] = swap;
        }
        for (size_t j = 0; j < columns; j++) {
            double swap = b[columns * k + j];
            b[columns * k + j] = b[columns * best + j];
            b[columns * best + j] = swap;
        }
        for (size_t i = 0; i < n; i++) {
            double factor = i == k ? 0.0 : a[n * i + k] / a[n * k + k];
            for (size_t j = k; j < n; j++) {
                a[n * i + j] -= factor * a[n * k + j];
            }
            for (size_t j = 0; j < columns; j++) {
                b[columns * i + j] -= factor * b[columns * k + j];
            }
        }
    }
    for (size_t k = 0; k < n * columns; k++) {
        b[k] /= a[n * (k / columns) + k / columns];
    }
}

/* A held bar with rows of `entries` random vertices, fixed ones among them: they overlap. */
typedef struct Body {
    SnContext context;
    Scene scene;
    SnRows rows;
    SnConstraints constraints;
    size_t unknowns; /* 3 x free vertices */
    double *work, *targets;
} Body;

static void add_random_row(Body *b, uint64_t *random, size_t entries, double stiffness)
{
    int32_t points[64];
    double weights[3 * 64];
    for (size_t k = 0; k < entries; k++) {
        int is_new = 0;
        while (!is_new) {
            points[k] = (int32_t)(check_random(random) * (double)b->scene.mesh.vertex_count);
            is_new = 1;
            for (size_t j = 0; j < k; j++) {
                is_new &= points[j] != points[k];
            }
        }
        for (size_t a = 0; a < 3; a++) {
            weights[3 * k + a] = scene_signed(random);
        }
    }
    CHECK(sn_rows_add(&b->context, &b->rows, entries, points, weights, stiffness) == SN_OK);
}

static void body_init(Body *b, int is_alike, int length)
{
    memset(b, 0, sizeof *b);
    sn_context_init(&b->context);
    b->scene = scene_bar(&b->context, length, 1, 1e5, &sn_density_neo_hookean);
    b->rows.is_alike = is_alike;
    b->unknowns = 3 * b->scene.world.assembly.unknown_count;
}

static void body_constrain(Body *b)
{
    CHECK(sn_constraints_init(&b->context, &b->scene.world.assembly, b->scene.mass, &b->rows, &b->constraints) == SN_OK);
    CHECK(b->rows.count == 0);
    b->work = SN_NEW(&b->context, b->constraints.size, double);
    b->targets = SN_NEW(&b->context, b->constraints.size, double);
}

static void body_clear(Body *b)
{
    sn_constraints_clear(&b->constraints);
    sn_rows_clear(&b->rows);
    scene_clear(&b->scene);
    sn_release(b->work);
    sn_release(b->targets);
}

/* The rows as a dense matrix, size x 3 points. */
static double *dense_rows(SnContext *context, const SnRows *rows, size_t columns)
{
    size_t size = sn_rows_size(rows);
    double *dense = SN_NEW(context, size * columns, double), *unit = SN_NEW(context, columns, double);
    double *values = SN_NEW(context, size, double);
    for (size_t j = 0; j < columns; j++) {
        unit[j] = 1.0;
        sn_rows_apply(rows, unit, values);
        unit[j] = 0.0;
        for (size_t i = 0; i < size; i++) {
            dense[columns * i + j] = values[i];
        }
    }
    sn_release(unit);
    sn_release(values);
    return dense;
}

static void spreading_is_the_transpose_of_applying(int is_alike)
{
    Body b;
    uint64_t random = 1;
    body_init(&b, is_alike, 5);
    for (int r = 0; r < 7; r++) {
        add_random_row(&b, &random, (size_t)r, INFINITY); /* an empty one too */
    }
    size_t size = sn_rows_size(&b.rows), n = b.scene.n;
    double *dense = dense_rows(&b.context, &b.rows, n), *x = SN_NEW(&b.context, n, double);
    double *values = SN_NEW(&b.context, size, double);
    CHECK(size == (is_alike ? 21 : 7));
    for (size_t i = 0; i < size; i++) {
        memset(values, 0, size * sizeof *values);
        memset(x, 0, n * sizeof *x);
        values[i] = 2.0;
        sn_rows_spread(&b.rows, values, x);
        for (size_t j = 0; j < n; j++) {
            CHECK(x[j] == 2.0 * dense[n * i + j]);
        }
    }
    sn_rows_empty(&b.rows);
    CHECK(b.rows.count == 0);
    add_random_row(&b, &random, 3, 5.0);
    CHECK(b.rows.count == 1 && b.rows.start[1] == 3 && b.rows.stiffness[0] == 5.0);
    sn_release(dense);
    sn_release(x);
    sn_release(values);
    body_clear(&b);
}

/* P v and Pᵀ v by dense matrices. */
static void projections_are_those_of_the_mass_metric(int is_alike)
{
    Body b;
    uint64_t random = 2;
    body_init(&b, is_alike, 6);
    for (int r = 0; r < 9; r++) {
        add_random_row(&b, &random, 6, INFINITY);
    }
    body_constrain(&b);
    size_t m = b.constraints.size, n = b.unknowns;
    CHECK(b.constraints.factor.dependent_count == 0);
    double *c = dense_rows(&b.context, &b.constraints.free_rows, n), *gram = SN_NEW(&b.context, m * m, double);
    double *solved = SN_NEW(&b.context, m, double), *step = SN_NEW(&b.context, n, double), *slope = SN_NEW(&b.context, n, double);
    double *expected = SN_NEW(&b.context, n, double);
    for (size_t k = 0; k < n; k++) {
        step[k] = scene_signed(&random);
        slope[k] = step[k];
    }
    for (int is_slope = 0; is_slope < 2; is_slope++) {
        double *vector = is_slope ? slope : step;
        memset(gram, 0, m * m * sizeof *gram);
        memset(solved, 0, m * sizeof *solved);
        for (size_t i = 0; i < m; i++) {
            for (size_t k = 0; k < n; k++) {
                double inverse = b.constraints.inverse_mass[k / 3];
                solved[i] += c[n * i + k] * (is_slope ? inverse : 1.0) * vector[k];
                for (size_t j = 0; j < m; j++) {
                    gram[m * i + j] += c[n * i + k] * inverse * c[n * j + k];
                }
            }
        }
        dense_solve(m, 1, gram, solved);
        for (size_t k = 0; k < n; k++) {
            expected[k] = vector[k];
            for (size_t i = 0; i < m; i++) {
                expected[k] -= (is_slope ? 1.0 : b.constraints.inverse_mass[k / 3]) * c[n * i + k] * solved[i];
            }
        }
        (is_slope ? sn_constraints_project_slope : sn_constraints_project_step)(&b.constraints, b.work, vector);
        CHECK(scene_distance(vector, expected, n) < 1e-11);
    }
    sn_rows_apply(&b.constraints.free_rows, step, b.work);
    for (size_t k = 0; k < m; k++) {
        CHECK(fabs(b.work[k]) < 1e-12);
    }
    sn_release(c);
    sn_release(gram);
    sn_release(solved);
    sn_release(step);
    sn_release(slope);
    sn_release(expected);
    body_clear(&b);
}

/* Rows that repeat others are found by number, and do no harm where their targets agree. */
static void dependent_rows_are_found_and_named(void)
{
    Body b;
    uint64_t random = 3;
    body_init(&b, 1, 6);
    for (int r = 0; r < 4; r++) {
        add_random_row(&b, &random, 5, INFINITY);
    }
    int32_t points[10];
    double weights[10];
    size_t found = 0;
    for (int32_t r = 1; r < 3; r++) { /* row 4 = 2 row 1 - 3 row 2 */
        for (int32_t k = b.rows.start[r]; k < b.rows.start[r + 1]; k++) {
            double weight = (r == 1 ? 2.0 : -3.0) * b.rows.weights[k];
            size_t at = 0;
            while (at < found && points[at] != b.rows.points[k]) {
                at++;
            }
            weights[at] = at < found ? weights[at] + weight : weight;
            points[at] = b.rows.points[k];
            found += at == found;
        }
    }
    CHECK(sn_rows_add(&b.context, &b.rows, found, points, weights, INFINITY) == SN_OK);
    add_random_row(&b, &random, 5, INFINITY);
    const int32_t fixed[1] = {0};
    const double one[1] = {1.0};
    CHECK(b.scene.fixed[0]);
    CHECK(sn_rows_add(&b.context, &b.rows, 1, fixed, one, INFINITY) == SN_OK); /* row 6 holds what is fixed anyway */
    body_constrain(&b);
    const SnRowFactor *factor = &b.constraints.factor;
    CHECK(factor->dependent_count == 2 && factor->dependent[0] == 4 && factor->dependent[1] == 6);
    double *x = SN_NEW(&b.context, b.scene.n, double), *there = SN_NEW(&b.context, b.scene.n, double);
    for (size_t k = 0; k < b.scene.n; k++) {
        x[k] = scene_signed(&random);
        there[k] = b.scene.fixed[k / 3] ? x[k] : scene_signed(&random);
    }
    sn_rows_apply(&b.constraints.rows, there, b.targets);
    sn_constraints_impose(&b.constraints, b.targets, b.work, x);
    sn_rows_apply(&b.constraints.rows, x, b.work);
    CHECK(scene_distance(b.work, b.targets, b.constraints.size) < 1e-13);
    for (size_t k = 0; k < b.scene.n; k++) {
        CHECK(!b.scene.fixed[k / 3] || x[k] == there[k]);
    }
    sn_release(x);
    sn_release(there);
    body_clear(&b);
}

/* (H + CᵀKC)⁻¹ r by dense matrices, K of both kinds: exact rows as saddle point. */
static void response_solves_with_stiff_and_exact_rows(int is_alike)
{
    Body b;
    uint64_t random = 4;
    body_init(&b, is_alike, 5);
    const SnAssembly *assembly = &b.scene.world.assembly;
    for (int r = 0; r < 6; r++) {
        add_random_row(&b, &random, 4, r % 2 == 0 ? INFINITY : 200.0 * (r + 1));
    }
    SnRows rows = {0};
    CHECK(sn_rows_renumber(&b.context, &b.rows, assembly->unknown, &rows) == SN_OK);
    size_t m = sn_rows_size(&rows), n = b.unknowns, all = n + m;
    double *values = scene_stiffness(&b.context, &b.scene, b.scene.mesh.positions);
    double *h = dense_matrix(&b.context, &assembly->pattern, values), *c = dense_rows(&b.context, &rows, n);
    double *saddle = SN_NEW(&b.context, all * all, double), *expected = SN_NEW(&b.context, all, double);
    double *step = SN_NEW(&b.context, n, double);
    for (size_t k = 0; k < n; k++) {
        step[k] = expected[k] = scene_signed(&random);
        memcpy(saddle + all * k, h + n * k, n * sizeof *h);
    }
    for (size_t i = 0; i < m; i++) { /* [H Cᵀ; C -K⁻¹] */
        for (size_t k = 0; k < n; k++) {
            saddle[all * (n + i) + k] = saddle[all * k + n + i] = c[n * i + k];
        }
        saddle[all * (n + i) + n + i] = -1.0 / rows.stiffness[is_alike ? i / 3 : i];
    }
    dense_solve(all, 1, saddle, expected);
    SnLinearSolver *solver = NULL;
    SnResponse response;
    CHECK(sn_linear_solver_create(&b.context, &assembly->pattern, &solver) == SN_OK);
    CHECK(sn_linear_solver_factorize(&b.context, solver, values) == SN_OK);
    CHECK(sn_response_init(&b.context, &rows, n / 3, &response) == SN_OK);
    CHECK(response.size == m);
    for (size_t k = 0; k < m; k++) {
        double *column = sn_response_load(&response, k);
        CHECK(sn_linear_solver_solve(&b.context, solver, column, column) == SN_OK);
    }
    sn_response_finish(&response);
    CHECK(sn_linear_solver_solve(&b.context, solver, step, step) == SN_OK);
    sn_response_correct(&response, step);
    double size = 0.0;
    for (size_t k = 0; k < n; k++) {
        size = fmax(size, fabs(expected[k]));
    }
    CHECK(scene_distance(step, expected, n) < 1e-9 * size);
    sn_response_clear(&response);
    sn_linear_solver_destroy(solver);
    sn_rows_clear(&rows);
    sn_release(values);
    sn_release(h);
    sn_release(c);
    sn_release(saddle);
    sn_release(expected);
    sn_release(step);
    body_clear(&b);
}

/* Overlapping hats along a bar, as many as it has vertices across: imposed to the last digits. */
static void thousands_of_overlapping_rows_are_met(void)
{
    enum { ROWS = 1500, REACH = 24 };
    Body b;
    uint64_t random = 5;
    body_init(&b, 1, 500);
    double length = 50.0;
    int32_t points[4 * REACH];
    double weights[4 * REACH];
    for (int r = 0; r < ROWS; r++) {
        double middle = length * (r + 0.5) / ROWS, total = 0.0;
        size_t found = 0;
        for (size_t v = 0; v < b.scene.mesh.vertex_count && found < 4 * REACH; v++) {
            double hat = 0.3 - fabs(b.scene.mesh.positions[3 * v] - middle);
            if (hat > 0.0) {
                points[found] = (int32_t)v;
                weights[found] = hat * (1.0 + 0.5 * scene_signed(&random));
                total += weights[found++];
            }
        }
        for (size_t k = 0; k < found; k++) {
            weights[k] /= total;
        }
        CHECK(sn_rows_add(&b.context, &b.rows, found, points, weights, INFINITY) == SN_OK);
    }
    body_constrain(&b);
    CHECK(b.constraints.factor.dependent_count < 10);
    CHECK(b.constraints.factor.start[ROWS] < 40 * ROWS); /* neighbours beside each other: little fill */
    double *x = scene_copy(&b.context, b.scene.mesh.positions, b.scene.n), *there = scene_copy(&b.context, x, b.scene.n);
    for (size_t k = 0; k < b.scene.n; k++) {
        there[k] += b.scene.fixed[k / 3] ? 0.0 : 0.1 * scene_signed(&random);
    }
    sn_rows_apply(&b.constraints.rows, there, b.targets);
    sn_constraints_impose(&b.constraints, b.targets, b.work, x);
    sn_rows_apply(&b.constraints.rows, x, b.work);
    CHECK(scene_distance(b.work, b.targets, b.constraints.size) < 1e-10 * length);
    sn_release(x);
    sn_release(there);
    body_clear(&b);
}

int main(void)
{
    for (int is_alike = 0; is_alike < 2; is_alike++) {
        spreading_is_the_transpose_of_applying(is_alike);
        projections_are_those_of_the_mass_metric(is_alike);
        response_solves_with_stiff_and_exact_rows(is_alike);
    }
    dependent_rows_are_found_and_named();
    thousands_of_overlapping_rows_are_met();
    return CHECK_RESULT();
}
