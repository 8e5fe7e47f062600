/* The factorization in single precision against the direct solver. */
#include "scenes.h"

#include "base/parallel.h"
#include "dynamics/response.h"
#include "dynamics/saddle.h"
#include "math/multifrontal.h"

typedef struct System {
    Scene scene;
    const SnBlockPattern *pattern;
    double *values, *right, *solution, *exact;
    SnLinearSolver *solver;
    SnMultifrontal *quick;
} System;

/* Stiffness of a box plus `inertia` of its masses; takes the mesh. The system points into itself: it stays where it is. */
static void system_init(SnContext *context, SnTetMesh mesh, int held, double inertia, System *s)
{
    uint64_t random = 1;
    s->scene = scene_from(context, mesh, held, 1e5, &sn_density_neo_hookean);
    s->pattern = &s->scene.world.assembly.pattern;
    size_t n = 3 * s->pattern->size;
    s->values = scene_stiffness(context, &s->scene, s->scene.mesh.positions);
    s->right = SN_NEW(context, n, double);
    s->solution = SN_NEW(context, n, double);
    s->exact = SN_NEW(context, n, double);
    for (size_t k = 0; k < n; k++) {
        s->values[s->pattern->value_start[k]] += inertia * s->scene.mass[s->scene.world.assembly.vertex[k / 3]];
        s->right[k] = scene_signed(&random);
    }
    CHECK(sn_linear_solver_create(context, s->pattern, &s->solver) == SN_OK);
    CHECK(sn_multifrontal_create(context, s->pattern, s->solver, &s->quick) == SN_OK);
}

static void system_clear(System *s)
{
    sn_multifrontal_destroy(s->quick);
    sn_linear_solver_destroy(s->solver);
    sn_release(s->values);
    sn_release(s->right);
    sn_release(s->solution);
    sn_release(s->exact);
    scene_clear(&s->scene);
}

static double largest(const double *values, size_t count)
{
    double most = 0.0;
    for (size_t k = 0; k < count; k++) {
        most = fmax(most, fabs(values[k]));
    }
    return most;
}

static void solutions_match_the_direct_solver_to_single_precision(void)
{
    static const int SIZES[][3] = {{1, 1, 1}, {2, 1, 1}, {20, 1, 1}, {5, 4, 3}, {13, 9, 8}, {30, 6, 5}};
    for (size_t k = 0; k < sizeof SIZES / sizeof *SIZES; k++) {
        SnContext context;
        sn_context_init(&context);
        System s;
        system_init(&context, scene_box(&context, SIZES[k][0], SIZES[k][1], SIZES[k][2], 0.1), k % 2 == 0, 3600.0, &s);
        size_t n = 3 * s.pattern->size;
        CHECK(sn_linear_solver_factorize(&context, s.solver, s.values) == SN_OK);
        CHECK(sn_linear_solver_solve(&context, s.solver, s.right, s.exact) == SN_OK);
        CHECK(sn_multifrontal_factorize(s.quick, s.values) == 0);
        sn_multifrontal_solve(s.quick, s.right, s.solution);
        CHECK(scene_distance(s.solution, s.exact, n) < 1e-4 * largest(s.exact, n));
        for (size_t i = 0; i < n; i++) { /* far outside the range of single precision, and in place */
            s.right[i] *= 1e-60;
        }
        sn_multifrontal_solve(s.quick, s.right, s.right);
        for (size_t i = 0; i < n; i++) {
            s.right[i] *= 1e60;
        }
        CHECK(scene_distance(s.right, s.solution, n) < 1e-5 * largest(s.exact, n));
        system_clear(&s);
    }
}

static void bits_do_not_depend_on_threads(void)
{
    static const int THREADS[3] = {1, 2, 4};
    SnContext context;
    sn_context_init(&context);
    System s;
    system_init(&context, scene_box(&context, 24, 8, 6, 0.1), 0, 100.0, &s);
    size_t n = 3 * s.pattern->size;
    for (int k = 0; k < 3; k++) {
        sn_parallel_set_thread_count(THREADS[k]);
        CHECK(sn_multifrontal_factorize(s.quick, s.values) == 0);
        sn_multifrontal_solve(s.quick, s.right, k ? s.solution : s.exact);
        CHECK(k == 0 || scene_same_bits(s.solution, s.exact, n));
    }
    for (int k = 0; k < 3; k++) {
        sn_parallel_set_thread_count(THREADS[k]);
        sn_multifrontal_solve_roughly(s.quick, s.right, k ? s.solution : s.exact);
        CHECK(k == 0 || scene_same_bits(s.solution, s.exact, n));
    }
    sn_parallel_set_thread_count(0);
    system_clear(&s);
}

/* Solved roughly, refined by what is left: every round must gain two digits. The rough inverse must be symmetric and definite too. */
static void rough_solutions_refine_to_exact_ones(void)
{
    static const int SIZES[][3] = {{1, 1, 1}, {20, 1, 1}, {13, 9, 8}, {30, 6, 5}};
    for (size_t k = 0; k < sizeof SIZES / sizeof *SIZES; k++) {
        SnContext context;
        sn_context_init(&context);
        System s;
        system_init(&context, scene_box(&context, SIZES[k][0], SIZES[k][1], SIZES[k][2], 0.1), k % 2 == 0, 3600.0, &s);
        size_t n = 3 * s.pattern->size;
        double *left = scene_copy(&context, s.right, n), *step = SN_NEW(&context, n, double), *other = SN_NEW(&context, n, double);
        CHECK(sn_linear_solver_factorize(&context, s.solver, s.values) == SN_OK);
        CHECK(sn_linear_solver_solve(&context, s.solver, s.right, s.exact) == SN_OK);
        CHECK(sn_multifrontal_factorize(s.quick, s.values) == 0);
        double error = largest(s.exact, n), allowed = 1e-2 * error;
        for (int round = 0; round < 4; round++, allowed *= 1e-2) {
            sn_multifrontal_solve_roughly(s.quick, left, step);
            for (size_t i = 0; i < n; i++) {
                s.solution[i] += step[i];
            }
            CHECK(scene_distance(s.solution, s.exact, n) < allowed);
            sn_block_matrix_multiply(s.pattern, s.values, s.solution, left);
            for (size_t i = 0; i < n; i++) {
                left[i] = s.right[i] - left[i];
            }
        }
        double across = 0.0, back = 0.0, along = 0.0, size = 0.0;
        for (size_t i = 0; i < n; i++) {
            left[i] = i % 3 == 1;
        }
        sn_multifrontal_solve_roughly(s.quick, s.right, step);
        sn_multifrontal_solve_roughly(s.quick, left, other);
        for (size_t i = 0; i < n; i++) {
            across += left[i] * step[i];
            back += s.right[i] * other[i];
            along += s.right[i] * step[i];
            size += fabs(left[i] * step[i]) + fabs(s.right[i] * other[i]);
        }
        CHECK(fabs(across - back) < 1e-5 * size && along > 0.0);
        sn_release(left);
        sn_release(step);
        sn_release(other);
        system_clear(&s);
    }
}

static void lost_pivots_are_told_and_leave_a_definite_factor(void)
{
    SnContext context;
    sn_context_init(&context);
    System s;
    system_init(&context, scene_box(&context, 6, 3, 3, 0.1), 0, 0.0, &s); /* nothing holds it: singular */
    size_t n = 3 * s.pattern->size;
    double product = 0.0;
    CHECK(sn_multifrontal_factorize(s.quick, s.values) > 0);
    sn_multifrontal_solve(s.quick, s.right, s.solution);
    for (size_t k = 0; k < n; k++) {
        product += s.right[k] * s.solution[k];
    }
    CHECK(isfinite(product) && product > 0.0);
    s.values[s.pattern->value_start[n / 2]] = NAN;
    CHECK(sn_multifrontal_factorize(s.quick, s.values) > 0); /* and so are values that are not numbers */
    system_clear(&s);
}

/* b - (A + K) x, K a spring between the first coordinates of pairs of points of the border. */
static double find_left(const System *s, size_t count, const int32_t *border, double k, const double *x, double *left)
{
    double most = 0.0;
    sn_block_matrix_multiply(s->pattern, s->values, x, left);
    for (size_t i = 0; i + 1 < count; i += 2) {
        double pull = k * (x[3 * border[i]] - x[3 * border[i + 1]]);
        left[3 * border[i]] += pull;
        left[3 * border[i + 1]] -= pull;
    }
    for (size_t i = 0; i < 3 * s->pattern->size; i++) {
        left[i] = s->right[i] - left[i];
        most = fmax(most, fabs(left[i]));
    }
    return most;
}

/* Springs between points that no element joins: solved with them, and refined, every round gains digits, and so it does without them again.
   Borders of no point in common with others, of one, of all. */
static void a_border_takes_what_is_added_to_it(void)
{
    static const int SIZES[][3] = {{1, 1, 1}, {20, 1, 1}, {5, 4, 4}, {13, 9, 8}};
    for (size_t k = 0; k < sizeof SIZES / sizeof *SIZES - CHECK_IS_SLOW; k++) {
        SnContext context;
        sn_context_init(&context);
        System s;
        system_init(&context, scene_box(&context, SIZES[k][0], SIZES[k][1], SIZES[k][2], 0.1), 0, 3600.0, &s);
        size_t n = s.pattern->size;
        const size_t counts[4] = {1, 2, n / 5, n};
        int32_t *border = SN_NEW(&context, n, int32_t);
        double *left = SN_NEW(&context, 3 * n, double), *step = SN_NEW(&context, 3 * n, double);
        for (int c = 0; c < 4; c++) {
            SnMultifrontal *bordered = NULL;
            size_t count = counts[c] > 0 ? counts[c] : 1;
            for (size_t i = 0; i < count; i++) { /* all over the body */
                border[i] = (int32_t)((i * n / count + (i % 2) * (n / 2)) % n);
                for (size_t j = 0; j < i; j++) {
                    border[i] = border[j] == border[i] ? (int32_t)((size_t)(border[i] + 1) % n) : border[i];
                    j = border[j] == border[i] ? (size_t)-1 : j;
                }
            }
            CHECK(sn_multifrontal_create_bordered(&context, s.pattern, s.solver, count, border, &bordered) == SN_OK);
            CHECK(sn_multifrontal_factorize(bordered, s.values) == 0);
            for (int springs = 1; springs >= 0; springs--) {
                double spring = springs ? 3e4 : 0.0;
                float *open = sn_multifrontal_open_border(bordered);
                for (size_t i = 0; i + 1 < count; i += 2) {
                    open[3 * i * 3 * count + 3 * i] += (float)spring;
                    open[3 * (i + 1) * 3 * count + 3 * (i + 1)] += (float)spring;
                    open[3 * i * 3 * count + 3 * (i + 1)] -= (float)spring;
                }
                CHECK(sn_multifrontal_close_border(bordered) == 0);
                for (int roughly = 0; roughly < 2; roughly++) {
                    memset(s.solution, 0, 3 * n * sizeof(double));
                    double before = find_left(&s, count, border, spring, s.solution, left), first = before;
                    for (int round = 0; round < 4; round++) {
                        (roughly ? sn_multifrontal_solve_roughly : sn_multifrontal_solve)(bordered, left, step);
                        for (size_t i = 0; i < 3 * n; i++) {
                            s.solution[i] += step[i];
                        }
                        before = find_left(&s, count, border, spring, s.solution, left);
                    }
                    CHECK(before < (roughly ? 1e-6 : 1e-11) * first);
                }
            }
            sn_multifrontal_destroy(bordered);
        }
        sn_release(border);
        sn_release(left);
        sn_release(step);
        system_clear(&s);
    }
}

/* A row that is the mean of every so manyth point from `first` on, `count` of them. */
static void add_mean(SnContext *context, SnRows *rows, int32_t first, int32_t stride, size_t count)
{
    int32_t *points = SN_NEW(context, count, int32_t);
    double *weights = SN_NEW(context, count, double);
    for (size_t k = 0; k < count; k++) {
        points[k] = first + stride * (int32_t)k;
        weights[k] = 1.0 / (double)count;
    }
    CHECK(sn_rows_add(context, rows, count, points, weights, INFINITY) == SN_OK);
    sn_release(points);
    sn_release(weights);
}

/* Means of all, of a patch, of one that overlaps it, of few points, and a repetition: against the direct solver and the response to the rows, also with a border
   that has all points of a row and half of another's. */
static void rows_that_hold_are_nodes_of_the_factor(void)
{
    SnContext context;
    sn_context_init(&context);
    System s;
    system_init(&context, scene_box(&context, 7, 5, 5, 0.1), 0, 3600.0, &s);
    size_t n = s.pattern->size;
    SnRows rows = {.is_alike = 1};
    SnConstraints constraints;
    SnResponse response;
    SnSaddle saddle;
    add_mean(&context, &rows, 0, 1, n);
    add_mean(&context, &rows, 20, 1, 40);
    add_mean(&context, &rows, 45, 2, 30);
    add_mean(&context, &rows, 20, 1, 40);
    add_mean(&context, &rows, 150, 1, 3);
    CHECK(sn_constraints_init(&context, &s.scene.world.assembly, s.scene.mass, &rows, &constraints) == SN_OK);
    CHECK(constraints.factor.dependent_count == 1);
    CHECK(sn_linear_solver_factorize(&context, s.solver, s.values) == SN_OK);
    CHECK(sn_linear_solver_solve(&context, s.solver, s.right, s.exact) == SN_OK);
    CHECK(sn_response_init(&context, &constraints.free_rows, n, &response) == SN_OK);
    for (size_t k = 0; k < response.size; k++) {
        double *load = sn_response_load(&response, k);
        CHECK(sn_linear_solver_solve(&context, s.solver, load, load) == SN_OK);
    }
    sn_response_finish(&response);
    double *free_step = SN_NEW(&context, 3 * n, double), *hardness = SN_NEW(&context, n, double), *means = SN_NEW(&context, response.size, double);
    memcpy(free_step, s.exact, 3 * n * sizeof *free_step);
    sn_response_correct(&response, s.exact);
    for (size_t k = 0; k < n; k++) {
        hardness[k] = s.values[s.pattern->value_start[3 * k]];
    }
    CHECK(sn_saddle_init(&context, s.pattern, &constraints, &saddle) == SN_OK);
    sn_saddle_fill(&saddle, s.pattern, &constraints, s.values, hardness);
    const int32_t border[] = {150, 151, 152, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39};
    for (size_t count = 0; count <= sizeof border / sizeof *border; count += sizeof border / sizeof *border) {
        SnMultifrontal *factor = NULL;
        CHECK(sn_multifrontal_create_bordered(&context, &saddle.pattern, s.solver, count, border, &factor) == SN_OK);
        CHECK(sn_multifrontal_factorize(factor, saddle.values) == 0);
        if (count > 0) {
            (void)sn_multifrontal_open_border(factor);
            CHECK(sn_multifrontal_close_border(factor) == 0);
        }
        for (int roughly = 0; roughly < 2; roughly++) {
            (roughly ? sn_multifrontal_solve_roughly : sn_multifrontal_solve)(factor, s.right, s.solution);
            double far = largest(s.exact, 3 * n), off = roughly ? 1e-3 : 1e-4;
            CHECK(scene_distance(free_step, s.exact, 3 * n) > 100.0 * off * far);
            CHECK(scene_distance(s.solution, s.exact, 3 * n) < off * far);
            sn_rows_apply(&constraints.free_rows, s.solution, means);
            CHECK(largest(means, response.size) < off * far);
        }
        sn_multifrontal_destroy(factor);
    }
    sn_saddle_clear(&saddle);
    sn_response_clear(&response);
    sn_constraints_clear(&constraints);
    sn_rows_clear(&rows);
    sn_release(free_step);
    sn_release(hardness);
    sn_release(means);
    system_clear(&s);
}

int main(void)
{
    solutions_match_the_direct_solver_to_single_precision();
    rough_solutions_refine_to_exact_ones();
    bits_do_not_depend_on_threads();
    a_border_takes_what_is_added_to_it();
    rows_that_hold_are_nodes_of_the_factor();
    lost_pivots_are_told_and_leave_a_definite_factor();
    return CHECK_RESULT();
}
