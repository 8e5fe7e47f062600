/* Block matrices, the linear solver and the eigensolver against dense references. */
#include "scenes.h"

#include "math/eigensolver.h"
#include "math/linear_solver.h"

#define VERTICES 24
#define ELEMENTS 30

/* A random pattern: elements over points, every seventh of which is eliminated. */
static SnBlockPattern random_pattern(SnContext *context, uint64_t *random, int32_t *elements, int32_t *unknown)
{
    SnBlockPattern pattern;
    int32_t size = 0;
    for (int v = 0; v < VERTICES; v++) {
        unknown[v] = v % 7 == 3 ? -1 : size++;
    }
    for (int e = 0; e < ELEMENTS; e++) {
        int first = (int)(check_random(random) * VERTICES);
        for (int i = 0; i < 4; i++) {
            elements[4 * e + i] = (first + i * (1 + e % 5)) % VERTICES; /* four different points */
        }
    }
    CHECK(sn_block_pattern_init(context, 1, &(SnStencils){ELEMENTS, 4, elements, 0}, unknown, (size_t)size, &pattern) == SN_OK);
    return pattern;
}

/* Random values, made definite by a heavy diagonal. The caller releases them. */
static double *random_values(SnContext *context, uint64_t *random, const SnBlockPattern *pattern)
{
    double *values = SN_NEW(context, pattern->value_count, double);
    double *sums = SN_NEW(context, 3 * pattern->size, double);
    for (size_t column = 0; column < 3 * pattern->size; column++) {
        for (int32_t k = pattern->value_start[column] + 1; k < pattern->value_start[column + 1]; k++) {
            values[k] = scene_signed(random);
            sums[column] += fabs(values[k]);
            sums[pattern->value_rows[k]] += fabs(values[k]);
        }
    }
    for (size_t column = 0; column < 3 * pattern->size; column++) {
        values[pattern->value_start[column]] = sums[column] + 0.01 + check_random(random);
    }
    sn_release(sums);
    return values;
}

/* Largest entry of A x - b over the largest of b. */
static double residual(SnContext *context, const SnBlockPattern *pattern, const double *values, const double *x, const double *b)
{
    size_t n = 3 * pattern->size;
    double *dense = dense_matrix(context, pattern, values), worst = 0.0, scale = 0.0;
    for (size_t i = 0; i < n; i++) {
        double sum = -b[i];
        for (size_t j = 0; j < n; j++) {
            sum += dense[n * i + j] * x[j];
        }
        worst = fabs(sum) <= worst ? worst : fabs(sum);
        scale = fmax(scale, fabs(b[i]));
    }
    sn_release(dense);
    return worst / scale;
}

static void pattern_has_a_place_for_every_pair_of_an_element_and_no_other(void)
{
    SnContext context;
    uint64_t random = 1;
    int32_t elements[4 * ELEMENTS], unknown[VERTICES];
    int wanted[VERTICES][VERTICES] = {{0}}, wrong = 0;
    sn_context_init(&context);
    SnBlockPattern pattern = random_pattern(&context, &random, elements, unknown);
    for (int k = 0; k < 16 * ELEMENTS; k++) {
        int32_t row = unknown[elements[k / 4]], column = unknown[elements[4 * (k / 16) + k % 4]];
        if (row >= 0 && column >= 0) {
            wanted[row][column] = 1;
        }
    }
    unsigned char *seen = SN_NEW(&context, pattern.value_count, unsigned char);
    for (int32_t column = 0; column < (int32_t)pattern.size; column++) {
        for (int32_t row = column; row < (int32_t)pattern.size; row++) {
            int32_t block = sn_block_pattern_find(&pattern, row, column);
            wrong += (block >= 0) != (wanted[row][column] || row == column);
            for (int k = 0; block >= 0 && k < 9; k++) {
                int i = k / 3, j = k % 3;
                if (row == column && i < j) {
                    continue;
                }
                int32_t at = sn_block_pattern_value(&pattern, block, i, j);
                wrong += at < pattern.value_start[3 * column + j] || at >= pattern.value_start[3 * column + j + 1];
                wrong += pattern.value_rows[at] != 3 * row + i;
                wrong += seen[at]++;
            }
        }
    }
    for (size_t k = 0; k < pattern.value_count; k++) {
        wrong += !seen[k];
    }
    CHECK(wrong == 0);
    sn_release(seen);
    sn_block_pattern_clear(&pattern);
    sn_block_pattern_clear(&pattern); /* clearing twice is harmless */
}

static void product_is_that_of_the_dense_matrix(void)
{
    SnContext context;
    uint64_t random = 2;
    int32_t elements[4 * ELEMENTS], unknown[VERTICES];
    double x[3 * VERTICES], y[3 * VERTICES];
    sn_context_init(&context);
    SnBlockPattern pattern = random_pattern(&context, &random, elements, unknown);
    double *values = random_values(&context, &random, &pattern);
    for (size_t k = 0; k < 3 * pattern.size; k++) {
        x[k] = scene_signed(&random);
        y[k] = NAN; /* is overwritten, not added to */
    }
    sn_block_matrix_multiply(&pattern, values, x, y);
    CHECK(residual(&context, &pattern, values, x, y) < 1e-14);
    sn_release(values);
    sn_block_pattern_clear(&pattern);
}

static void one_analysis_serves_many_factorizations(void)
{
    SnContext context;
    uint64_t random = 3;
    int32_t elements[4 * ELEMENTS], unknown[VERTICES];
    double b[3 * VERTICES], x[3 * VERTICES], again[3 * VERTICES], several[6 * VERTICES];
    SnLinearSolver *solver, *other;
    sn_context_init(&context);
    SnBlockPattern pattern = random_pattern(&context, &random, elements, unknown);
    CHECK(sn_linear_solver_create(&context, &pattern, &solver) == SN_OK);
    for (int round = 0; round < 8; round++) {
        double *values = random_values(&context, &random, &pattern);
        for (size_t k = 0; k < 3 * pattern.size; k++) {
            b[k] = scene_signed(&random);
        }
        CHECK(sn_linear_solver_factorize(&context, solver, values) == SN_OK);
        CHECK(sn_linear_solver_shift(solver) == 0.0);
        CHECK(sn_linear_solver_solve(&context, solver, b, x) == SN_OK);
        CHECK(residual(&context, &pattern, values, x, b) < 1e-12);
        /* nothing of the rounds before is left in the answer, and it may overwrite the right side */
        CHECK(sn_linear_solver_create(&context, &pattern, &other) == SN_OK);
        CHECK(sn_linear_solver_factorize(&context, other, values) == SN_OK);
        memcpy(again, b, sizeof b);
        CHECK(sn_linear_solver_solve(&context, other, again, again) == SN_OK);
        CHECK(scene_same_bits(x, again, 3 * pattern.size));
        /* several at once are the same one by one, and one alone is after that as it was before */
        memcpy(several, b, 3 * pattern.size * sizeof *b);
        for (size_t k = 0; k < 3 * pattern.size; k++) {
            several[3 * pattern.size + k] = -2.0 * b[k];
        }
        CHECK(sn_linear_solver_solve_all(&context, other, 2, several, several) == SN_OK);
        for (size_t k = 0; k < 3 * pattern.size; k++) {
            CHECK_NEAR(several[k], x[k], 1e-9);
            CHECK_NEAR(several[3 * pattern.size + k], -2.0 * x[k], 1e-9);
        }
        memcpy(again, b, sizeof b);
        CHECK(sn_linear_solver_solve(&context, other, again, again) == SN_OK);
        CHECK(scene_same_bits(x, again, 3 * pattern.size));
        sn_linear_solver_destroy(other);
        sn_release(values);
    }
    sn_linear_solver_destroy(solver);
    sn_linear_solver_destroy(NULL);
    sn_block_pattern_clear(&pattern);
}

static void singular_matrix_is_solved_with_a_reported_shift(void)
{
    SnContext context;
    uint64_t random = 4;
    int32_t elements[4 * ELEMENTS], unknown[VERTICES];
    double b[3 * VERTICES] = {0}, x[3 * VERTICES];
    SnLinearSolver *solver;
    sn_context_init(&context);
    SnBlockPattern pattern = random_pattern(&context, &random, elements, unknown);
    double *values = random_values(&context, &random, &pattern), *broken = scene_copy(&context, values, pattern.value_count);
    double largest = 0.0;
    /* point 5 has no stiffness at all, and point 8 a slightly negative one */
    for (size_t column = 0; column < 3 * pattern.size; column++) {
        for (int32_t k = pattern.value_start[column]; k < pattern.value_start[column + 1]; k++) {
            int32_t row = pattern.value_rows[k];
            if (column / 3 == 5 || row / 3 == 5 || column / 3 == 8 || row / 3 == 8) {
                broken[k] = row == (int32_t)column && column / 3 == 8 ? -1e-10 : 0.0;
            }
        }
        largest = fmax(largest, broken[pattern.value_start[column]]);
        b[column] = scene_signed(&random);
    }
    CHECK(sn_linear_solver_create(&context, &pattern, &solver) == SN_OK);
    CHECK(sn_linear_solver_factorize(&context, solver, broken) == SN_OK);
    double shift = sn_linear_solver_shift(solver);
    CHECK(shift > 0.0 && shift <= 1e-9);
    CHECK(sn_linear_solver_solve(&context, solver, b, x) == SN_OK);
    for (size_t column = 0; column < 3 * pattern.size; column++) {
        broken[pattern.value_start[column]] += shift * largest;
    }
    CHECK(residual(&context, &pattern, broken, x, b) < 1e-6);
    /* the shift is not carried over to the next matrix */
    CHECK(sn_linear_solver_factorize(&context, solver, values) == SN_OK);
    CHECK(sn_linear_solver_shift(solver) == 0.0);
    CHECK(sn_linear_solver_solve(&context, solver, b, x) == SN_OK);
    CHECK(residual(&context, &pattern, values, x, b) < 1e-12);
    sn_linear_solver_destroy(solver);
    sn_release(values);
    sn_release(broken);
    sn_block_pattern_clear(&pattern);
}

static void hopeless_matrices_are_refused_with_a_sentence(void)
{
    SnContext context;
    uint64_t random = 5;
    int32_t elements[4 * ELEMENTS], unknown[VERTICES];
    SnLinearSolver *solver;
    sn_context_init(&context);
    SnBlockPattern pattern = random_pattern(&context, &random, elements, unknown);
    double *values = random_values(&context, &random, &pattern);
    CHECK(sn_linear_solver_create(&context, &pattern, &solver) == SN_OK);
    for (int round = 0; round < 4; round++) {
        double *bad = scene_copy(&context, values, pattern.value_count);
        int32_t at = pattern.value_start[round % 2 ? 0 : 3 * pattern.size - 4];
        bad[at] = round < 2 ? -1e6 : NAN;
        context.message[0] = '\0';
        CHECK(sn_linear_solver_factorize(&context, solver, bad) == SN_NUMERIC_FAILURE);
        CHECK(context.message[0] != '\0');
        sn_release(bad);
    }
    CHECK(sn_linear_solver_factorize(&context, solver, values) == SN_OK); /* and the solver lives on */
    sn_linear_solver_destroy(solver);
    sn_release(values);
    sn_block_pattern_clear(&pattern);
}

static void empty_system_is_solved(void)
{
    SnContext context;
    SnBlockPattern pattern;
    SnLinearSolver *solver;
    const int32_t element[4] = {0, 1, 2, 3}, unknown[4] = {-1, -1, -1, -1};
    double nothing[1] = {7.0};
    sn_context_init(&context);
    CHECK(sn_block_pattern_init(&context, 1, &(SnStencils){1, 4, element, 0}, unknown, 0, &pattern) == SN_OK);
    CHECK(pattern.block_count == 0 && pattern.value_count == 0);
    sn_block_matrix_multiply(&pattern, nothing, nothing, nothing);
    CHECK(sn_linear_solver_create(&context, &pattern, &solver) == SN_OK);
    CHECK(sn_linear_solver_factorize(&context, solver, nothing) == SN_OK);
    CHECK(sn_linear_solver_solve(&context, solver, nothing, nothing) == SN_OK);
    CHECK(nothing[0] == 7.0);
    sn_linear_solver_destroy(solver);
    sn_block_pattern_clear(&pattern);
}

static void library_has_a_version(void)
{
    int version[3] = {0};
    CHECK(strcmp(sn_linear_solver_library(version), "CHOLMOD") == 0);
    CHECK(version[0] >= 3);
}

/* Modes of a box, held or not, all that can be asked for. */
static void check_modes(int held)
{
    SnContext context;
    sn_context_init(&context);
    Scene scene = scene_bar(&context, 2, held, 1e5, &sn_density_neo_hookean);
    const SnBlockPattern *pattern = &scene.world.assembly.pattern;
    size_t n = 3 * pattern->size;
    double *values = scene_stiffness(&context, &scene, scene.mesh.positions);
    double *masses = scene_free_masses(&context, &scene);
    double *expected = dense_modes(&context, pattern, values, masses);
    double *found = SN_NEW(&context, n, double), *vectors = SN_NEW(&context, n * n, double), *product = SN_NEW(&context, n, double);
    for (int count = 1; count < (int)n; count += count < 6 ? 5 : (int)n - 7) { /* 1, 6, all but one */
        CHECK(sn_eigensolver_lowest(&context, pattern, values, masses, count, found, vectors) == SN_OK);
        double worst = 0.0, orthogonal = 0.0, wrong = 0.0;
        for (size_t i = 0; i < (size_t)count; i++) {
            worst = fmax(worst, fabs(found[i] - expected[i]) / (expected[i] + 1e-6 * expected[n - 1]));
            sn_block_matrix_multiply(pattern, values, vectors + n * i, product);
            for (size_t k = 0; k < n; k++) {
                wrong = fmax(wrong, fabs(product[k] - found[i] * masses[k / 3] * vectors[n * i + k]));
            }
            for (size_t j = 0; j <= i; j++) {
                double sum = i == j ? -1.0 : 0.0;
                for (size_t k = 0; k < n; k++) {
                    sum += masses[k / 3] * vectors[n * i + k] * vectors[n * j + k];
                }
                orthogonal = fmax(orthogonal, fabs(sum));
            }
        }
        CHECK(worst < 1e-6);
        CHECK(orthogonal < 1e-8);
        CHECK(wrong < 1e-6 * expected[n - 1] * sqrt(masses[0]));
    }
    CHECK(sn_eigensolver_lowest(&context, pattern, values, masses, 7, found, NULL) == SN_OK);
    if (held) {
        CHECK(found[0] > 1e-3 * found[6]);
    } else {
        CHECK(found[5] < 1e-6 * found[6]); /* six rigid modes and no more */
        CHECK(found[6] > 1e-4 * expected[n - 1]);
    }
    CHECK(sn_eigensolver_lowest(&context, pattern, values, masses, (int)n, found, NULL) == SN_BAD_INPUT);
    CHECK(sn_eigensolver_lowest(&context, pattern, values, masses, 0, found, NULL) == SN_BAD_INPUT);
    sn_release(values);
    sn_release(masses);
    sn_release(expected);
    sn_release(found);
    sn_release(vectors);
    sn_release(product);
    scene_clear(&scene);
}

static void modes_are_those_of_the_dense_problem_with_six_rigid_ones(void)
{
    check_modes(0);
}

static void held_body_has_no_rigid_modes(void)
{
    check_modes(1);
}

int main(void)
{
    pattern_has_a_place_for_every_pair_of_an_element_and_no_other();
    product_is_that_of_the_dense_matrix();
    one_analysis_serves_many_factorizations();
    singular_matrix_is_solved_with_a_reported_shift();
    hopeless_matrices_are_refused_with_a_sentence();
    empty_system_is_solved();
    library_has_a_version();
    modes_are_those_of_the_dense_problem_with_six_rigid_ones();
    held_body_has_no_rigid_modes();
    return CHECK_RESULT();
}
