/* The factorization in single precision against the direct solver. */
#include "scenes.h"

#include "base/parallel.h"
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

int main(void)
{
    solutions_match_the_direct_solver_to_single_precision();
    rough_solutions_refine_to_exact_ones();
    bits_do_not_depend_on_threads();
    a_border_takes_what_is_added_to_it();
    lost_pivots_are_told_and_leave_a_definite_factor();
    return CHECK_RESULT();
}
