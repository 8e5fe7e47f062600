#include "scenes.h"

#include "dynamics/newton.h"

#define SIZE 0.4 /* metres: a bar of four cells */

static const SnDensity *const ENERGIES[2] = {&sn_density_neo_hookean, &sn_density_stvk};

/* A static problem: the bar under a load, its vertices weakly tied to rest. */
typedef struct Problem {
    Scene scene;
    SnObjective objective;
    double *diagonal, *loads;
    SnNewton *newton;
} Problem;

/* The objective points into the problem: it stays where it is. */
static void problem_init(SnContext *context, const SnDensity *energy, double gravity, Problem *p)
{
    *p = (Problem){.scene = scene_bar(context, 4, 1, 2e4, energy)};
    p->diagonal = SN_NEW(context, p->scene.mesh.vertex_count, double);
    p->loads = SN_NEW(context, p->scene.n, double);
    for (size_t v = 0; v < p->scene.mesh.vertex_count; v++) {
        p->diagonal[v] = 0.1;
        p->loads[3 * v + 2] = -gravity * p->scene.mass[v];
    }
    p->objective = (SnObjective){
        .scale = 1.0,
        .diagonal = p->diagonal,
        .targets = p->scene.mesh.positions,
        .loads = p->loads,
    };
    CHECK(sn_newton_create(context, p->scene.world.term_count, p->scene.world.terms, &p->scene.world.assembly, &p->newton) == SN_OK);
}

static void problem_clear(Problem *p)
{
    sn_newton_destroy(p->newton);
    sn_release(p->diagonal);
    sn_release(p->loads);
    scene_clear(&p->scene);
}

static const SnNewtonSettings TIGHT = {.max_rounds = 100, .step_tolerance = 1e-10 * SIZE};

/* Largest slope of E over the free vertices, by central differences. */
static double slope(const Problem *p, double *x)
{
    double largest = 0.0;
    for (size_t k = 0; k < p->scene.n; k++) {
        double at = x[k], h = 1e-6;
        if (p->scene.fixed[k / 3]) {
            continue;
        }
        x[k] = at + h;
        double up = sn_newton_value(p->newton, &p->objective, x);
        x[k] = at - h;
        double down = sn_newton_value(p->newton, &p->objective, x);
        x[k] = at;
        largest = fmax(largest, fabs(up - down) / (2.0 * h));
    }
    return largest;
}

static void small_problem_converges_to_its_minimum(void)
{
    for (int trial = 0; trial < 4; trial++) {
        SnContext context;
        SnNewtonReport report = {0};
        sn_context_init(&context);
        Problem p;
        problem_init(&context, ENERGIES[trial % 2], 3.0, &p);
        double *x = scene_copy(&context, p.scene.mesh.positions, p.scene.n), *matrix = NULL;
        if (trial >= 2) { /* a matrix around a centre of its own */
            matrix = scene_stiffness(&context, &p.scene, p.scene.mesh.positions);
            p.objective.matrix = matrix;
            double *centre = scene_copy(&context, p.scene.mesh.positions, p.scene.n);
            for (size_t k = 0; k < p.scene.n; k++) {
                centre[k] *= 1.05;
            }
            p.objective.centre = centre;
        }
        double start = slope(&p, x);
        CHECK(sn_newton_minimise(&context, p.newton, &p.objective, &TIGHT, x, &report) == SN_OK);
        CHECK(report.converged == 1 && report.rounds > 1 && report.rounds < 30);
        CHECK(slope(&p, x) < 1e-7 * start);
        for (size_t k = 0; k < p.scene.n; k++) {
            CHECK(!p.scene.fixed[k / 3] || x[k] == p.scene.mesh.positions[k]);
        }
        CHECK(scene_distance(x, p.scene.mesh.positions, p.scene.n) > 0.01 * SIZE); /* and it did move */
        sn_release(x);
        sn_release(matrix);
        sn_release((void *)(uintptr_t)p.objective.centre);
        problem_clear(&p);
    }
}

static void scrambled_states_never_end_higher(void)
{
    static const double AMPLITUDES[] = {0.01, 0.1, 1.0, 30.0};
    uint64_t random = 1;
    for (int trial = 0; trial < 24; trial++) {
        SnContext context;
        sn_context_init(&context);
        Problem p;
        problem_init(&context, ENERGIES[trial % 2], trial % 3 ? 3.0 : 300.0, &p);
        SnNewtonSettings settings = {.max_rounds = 1 + trial, .step_tolerance = 1e-4 * SIZE};
        double *x = scene_copy(&context, p.scene.mesh.positions, p.scene.n);
        double before = INFINITY, amplitude = AMPLITUDES[trial / 2 % 4] * SIZE;
        for (size_t k = 0; k < p.scene.n; k++) {
            x[k] += p.scene.fixed[k / 3] ? 0.0 : amplitude * scene_signed(&random);
        }
        /* several calls in a row, so that kept factors are met too, the last ones with half of the load */
        for (int call = 0; call < 4; call++) {
            SnNewtonReport report = {0};
            for (size_t k = 0; k < p.scene.n && call == 2; k++) {
                p.loads[k] *= 0.5;
            }
            before = sn_newton_value(p.newton, &p.objective, x);
            CHECK(sn_newton_minimise(&context, p.newton, &p.objective, &settings, x, &report) == SN_OK);
            double after = sn_newton_value(p.newton, &p.objective, x);
            CHECK(after <= before + 1e-12 * fabs(before));
            CHECK(call > 0 || after < before);
            CHECK(report.rounds <= settings.max_rounds);
        }
        sn_release(x);
        problem_clear(&p);
    }
}

static void kept_factor_finds_the_same_minimum(void)
{
    SnContext context;
    sn_context_init(&context);
    Problem p;
    problem_init(&context, &sn_density_neo_hookean, 1.0, &p);
    double *kept = scene_copy(&context, p.scene.mesh.positions, p.scene.n), *fresh;
    SnNewtonReport report = {0};
    int spared = 0;
    CHECK(sn_newton_minimise(&context, p.newton, &p.objective, &TIGHT, kept, &report) == SN_OK);
    for (int step = 0; step < 5; step++) {
        SnNewtonReport with_kept = {0}, with_fresh = {0};
        SnNewton *other;
        fresh = scene_copy(&context, kept, p.scene.n);
        for (size_t k = 0; k < p.scene.n; k++) {
            p.loads[k] *= 1.02;
        }
        CHECK(sn_newton_create(&context, p.scene.world.term_count, p.scene.world.terms, &p.scene.world.assembly, &other) == SN_OK);
        CHECK(sn_newton_minimise(&context, p.newton, &p.objective, &TIGHT, kept, &with_kept) == SN_OK);
        CHECK(sn_newton_minimise(&context, other, &p.objective, &TIGHT, fresh, &with_fresh) == SN_OK);
        CHECK(with_kept.converged && with_fresh.converged);
        spared += with_fresh.factorizations - with_kept.factorizations;
        CHECK(scene_distance(kept, fresh, p.scene.n) < 1e-8 * SIZE);
        sn_newton_destroy(other);
        sn_release(fresh);
    }
    CHECK(spared > 0); /* it was kept */
    sn_release(kept);
    problem_clear(&p);
}

static void forgetting_gives_the_bits_of_a_new_solver(void)
{
    SnContext context;
    SnNewtonReport report = {0};
    SnNewton *other;
    const SnNewtonSettings loose = {.max_rounds = 20, .step_tolerance = 1e-4 * SIZE};
    sn_context_init(&context);
    Problem p;
    problem_init(&context, &sn_density_neo_hookean, 2.0, &p);
    double *first = scene_copy(&context, p.scene.mesh.positions, p.scene.n), *second;
    CHECK(sn_newton_minimise(&context, p.newton, &p.objective, &loose, first, &report) == SN_OK);
    second = scene_copy(&context, first, p.scene.n);
    for (size_t k = 0; k < p.scene.n; k++) {
        p.loads[k] *= -1.0;
    }
    sn_newton_forget(p.newton);
    CHECK(sn_newton_minimise(&context, p.newton, &p.objective, &loose, first, &report) == SN_OK);
    CHECK(sn_newton_create(&context, p.scene.world.term_count, p.scene.world.terms, &p.scene.world.assembly, &other) == SN_OK);
    CHECK(sn_newton_minimise(&context, other, &p.objective, &loose, second, &report) == SN_OK);
    CHECK(scene_same_bits(first, second, p.scene.n));
    sn_newton_destroy(other);
    sn_release(first);
    sn_release(second);
    problem_clear(&p);
}

static void one_full_step_solves_a_quadratic_problem(void)
{
    SnContext context;
    SnNewtonReport report = {0};
    const SnNewtonSettings single = {.max_rounds = 1, .single_full_step = 1};
    sn_context_init(&context);
    Problem p;
    problem_init(&context, &sn_density_neo_hookean, 3.0, &p);
    double *matrix = scene_stiffness(&context, &p.scene, p.scene.mesh.positions);
    double *x = scene_copy(&context, p.scene.mesh.positions, p.scene.n);
    p.objective.scale = 0.0;
    p.objective.matrix = matrix;
    p.objective.centre = p.scene.mesh.positions;
    double start = slope(&p, x);
    CHECK(sn_newton_minimise(&context, p.newton, &p.objective, &single, x, &report) == SN_OK);
    CHECK(report.rounds == 1 && report.factorizations == 1);
    CHECK(slope(&p, x) < 1e-7 * start);
    sn_release(matrix);
    sn_release(x);
    problem_clear(&p);
}

static void values_that_are_not_numbers_are_answered_with_a_sentence(void)
{
    SnContext context;
    SnNewtonReport report = {0};
    sn_context_init(&context);
    Problem p;
    problem_init(&context, &sn_density_neo_hookean, 3.0, &p);
    double *x = scene_copy(&context, p.scene.mesh.positions, p.scene.n);
    p.loads[p.scene.n - 1] = NAN;
    CHECK(sn_newton_minimise(&context, p.newton, &p.objective, &TIGHT, x, &report) == SN_NUMERIC_FAILURE);
    CHECK(context.message[0] != '\0');
    CHECK(scene_same_bits(x, p.scene.mesh.positions, p.scene.n));
    p.loads[p.scene.n - 1] = 0.0;
    CHECK(sn_newton_minimise(&context, p.newton, &p.objective, &TIGHT, x, &report) == SN_OK); /* and it lives on */
    sn_release(x);
    problem_clear(&p);
}

static void nothing_free_is_solved_at_once(void)
{
    SnContext context;
    SnNewtonReport report = {0};
    SnAssembly assembly;
    SnTetElements elements;
    SnNewton *newton;
    sn_context_init(&context);
    SnTetMesh mesh = scene_box(&context, 1, 1, 1, 1.0);
    double *x = scene_copy(&context, mesh.positions, 3 * mesh.vertex_count), zeros[8] = {0};
    const unsigned char fixed[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    CHECK(sn_tet_elements_init(&context, &mesh, &sn_density_stvk, &elements) == SN_OK);
    SnTerm term = sn_tet_elements_term(&elements);
    CHECK(sn_assembly_init(&context, 8, 1, &term.stencils, fixed, &assembly) == SN_OK);
    CHECK(sn_newton_create(&context, 1, &term, &assembly, &newton) == SN_OK);
    SnObjective objective = {
        .scale = 1.0, .diagonal = zeros, .targets = mesh.positions};
    CHECK(sn_newton_minimise(&context, newton, &objective, &TIGHT, x, &report) == SN_OK);
    CHECK(report.converged == 1 && report.rounds == 0);
    CHECK(scene_same_bits(x, mesh.positions, 3 * mesh.vertex_count));
    sn_newton_destroy(newton);
    sn_newton_destroy(NULL);
    sn_assembly_clear(&assembly);
    sn_tet_elements_clear(&elements);
    sn_tet_mesh_clear(&mesh);
    sn_release(x);
}

/* Of a step the tets may reach so far that none turns inside out: the minimum is the same, and no tet was ever inverted. */
static void a_step_that_would_invert_a_tet_is_capped(void)
{
    int capped = 0;
    for (int trial = 0; trial < 20; trial++) {
        SnContext context;
        SnNewtonReport report = {0};
        sn_context_init(&context);
        Problem p;
        problem_init(&context, &sn_density_neo_hookean, 0.0, &p);
        const SnTerm *term = p.scene.world.terms;
        SnTetInput sound = {.keeps_sides = 1};
        SnTermInput input = {.data = &sound}, free = {0};
        uint64_t random = (uint64_t)trial + 1;
        double *x = scene_copy(&context, p.scene.mesh.positions, p.scene.n), *to = scene_copy(&context, x, p.scene.n);
        double *between = SN_NEW(&context, p.scene.n, double), smallest = 0.0;
        for (size_t k = 0; k < p.scene.n; k++) {
            x[k] += p.scene.fixed[k / 3] ? 0.0 : 0.02 * scene_signed(&random);
            to[k] += 0.01 * (double)trial * scene_signed(&random);
        }
        CHECK(sn_tet_elements_inverted(p.scene.elements, x, &smallest) == 0 && smallest > 0.0);
        double reach = sn_terms_reach(1, term, &input, x, to);
        CHECK(reach > 0.0 && reach <= 1.0 && sn_terms_reach(1, term, &free, x, to) == 1.0 && sn_terms_reach(1, term, NULL, x, to) == 1.0);
        for (int part = 1; part <= 50; part++) {
            for (size_t k = 0; k < p.scene.n; k++) {
                between[k] = x[k] + 0.02 * part * reach * (to[k] - x[k]);
            }
            CHECK(sn_tet_elements_inverted(p.scene.elements, between, &smallest) == 0);
        }
        CHECK(reach < 1.0 || sn_tet_elements_inverted(p.scene.elements, to, &smallest) == 0);
        capped += reach < 1.0;
        CHECK(trial > 0 || reach == 1.0); /* the way to the rest shape is free */
        p.objective.inputs = &input;
        CHECK(sn_newton_minimise(&context, p.newton, &p.objective, &TIGHT, x, &report) == SN_OK && report.converged);
        CHECK(scene_distance(x, p.scene.mesh.positions, p.scene.n) < 1e-8 * SIZE);
        sn_release(x);
        sn_release(to);
        sn_release(between);
        problem_clear(&p);
    }
    CHECK(capped > 5 && capped < 20);
}

/* Lets no vertex move by more than a hundredth of the bar at once. */
static double reach_a_little(const void *elements, const SnTermInput *input, const double *from, const double *to)
{
    double longest = 0.0;
    (void)elements, (void)input;
    for (size_t k = 0; k < 60; k++) {
        longest = fmax(longest, fabs(to[k] - from[k]));
    }
    return longest > 0.01 * SIZE ? 0.01 * SIZE / longest : 1.0;
}

/* Steps that are capped say nothing about the factor, and are not where it ends. */
static void a_capped_step_is_no_sign_of_a_bad_factor(void)
{
    SnContext context;
    SnNewtonReport free = {0}, slow = {0};
    sn_context_init(&context);
    Problem p;
    problem_init(&context, &sn_density_neo_hookean, 3.0, &p);
    CHECK(p.scene.n == 60);
    SnTermKind kind = *p.scene.world.terms[0].kind;
    SnTerm term = p.scene.world.terms[0];
    SnNewton *other = NULL;
    kind.reach = reach_a_little;
    term.kind = &kind;
    CHECK(sn_newton_create(&context, 1, &term, &p.scene.world.assembly, &other) == SN_OK);
    double *x = scene_copy(&context, p.scene.mesh.positions, p.scene.n), *y = scene_copy(&context, x, p.scene.n);
    CHECK(sn_newton_minimise(&context, p.newton, &p.objective, &TIGHT, x, &free) == SN_OK && free.converged);
    CHECK(sn_newton_minimise(&context, other, &p.objective, &TIGHT, y, &slow) == SN_OK && slow.converged);
    CHECK(scene_distance(x, y, p.scene.n) < 1e-8 * SIZE);
    CHECK(slow.rounds > free.rounds + 3 && slow.factorizations <= free.factorizations);
    sn_newton_destroy(other);
    sn_release(x);
    sn_release(y);
    problem_clear(&p);
}

int main(void)
{
    small_problem_converges_to_its_minimum();
    scrambled_states_never_end_higher();
    kept_factor_finds_the_same_minimum();
    forgetting_gives_the_bits_of_a_new_solver();
    one_full_step_solves_a_quadratic_problem();
    values_that_are_not_numbers_are_answered_with_a_sentence();
    nothing_free_is_solved_at_once();
    a_step_that_would_invert_a_tet_is_capped();
    a_capped_step_is_no_sign_of_a_bad_factor();
    return CHECK_RESULT();
}
