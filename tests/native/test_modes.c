/* Stiffness at rest, vibration modes, and equilibrium: what the world does without a time step. */
#include "scenes.h"

#include "dynamics/modes.h"
#include "dynamics/statics.h"

static void modes_solve_their_equation(void)
{
    SnContext context;
    enum { COUNT = 5 };
    double squared[COUNT];
    sn_context_init(&context);
    Scene scene = scene_bar(&context, 6, 1, 1e5, &sn_density_neo_hookean);
    const SnAssembly *assembly = &scene.world.assembly;
    size_t n = 3 * assembly->unknown_count;
    double *vectors = SN_NEW(&context, COUNT * n, double), *product = SN_NEW(&context, n, double);
    double *values = scene_stiffness(&context, &scene, scene.mesh.positions), *masses = scene_free_masses(&context, &scene);
    double *exact = dense_modes(&context, &assembly->pattern, values, masses);
    CHECK(sn_modes_find(&context, &scene.world, scene.mesh.positions, COUNT, squared, vectors) == SN_OK);
    for (size_t i = 0; i < COUNT; i++) {
        const double *x = vectors + n * i;
        CHECK_NEAR(squared[i], exact[i], 1e-8 * exact[i]);
        sn_block_matrix_multiply(&assembly->pattern, values, x, product);
        double largest = 0.0, inertia = 0.0;
        for (size_t k = 0; k < n; k++) {
            largest = fmax(largest, fabs(product[k] - squared[i] * masses[k / 3] * x[k]));
            inertia += masses[k / 3] * x[k] * x[k];
        }
        CHECK(largest < 1e-6 * squared[i]);
        CHECK_NEAR(inertia, 1.0, 1e-9);
    }
    sn_release(vectors);
    sn_release(product);
    sn_release(values);
    sn_release(masses);
    sn_release(exact);
    scene_clear(&scene);
}

static void element_blocks_add_up_to_the_stiffness(void)
{
    SnContext context;
    sn_context_init(&context);
    Scene scene = scene_bar(&context, 4, 1, 1e5, &sn_density_stvk);
    const SnWorld *world = &scene.world;
    size_t count = world->assembly.pattern.value_count;
    double *blocks = SN_NEW(&context, SN_TET_STIFFNESS * scene.elements->count, double), *sums = SN_NEW(&context, count, double);
    double *values = scene_stiffness(&context, &scene, scene.mesh.positions), *again = SN_NEW(&context, count, double);
    CHECK(sn_modes_stiffness(&context, world, scene.mesh.positions, blocks, again) == SN_OK);
    sn_assembly_gather_stiffness(&world->assembly, blocks, sums);
    CHECK(scene_same_bits(values, again, count) && scene_same_bits(values, sums, count));
    sn_release(blocks);
    sn_release(sums);
    sn_release(values);
    sn_release(again);
    scene_clear(&scene);
}

/* A bar that hangs from its end by its weight: no force is left anywhere, and it is longer by about ρ g L² / 2E. */
static void hanging_bar_rests_in_equilibrium(void)
{
    SnContext context;
    SnNewtonReport report = {0};
    sn_context_init(&context);
    Scene scene = scene_from(&context, scene_box(&context, 20, 2, 2, 0.05), 1, 1e6, &sn_density_neo_hookean);
    SnWorld *world = &scene.world;
    double *x = scene_copy(&context, scene.mesh.positions, scene.n), *loads = SN_NEW(&context, scene.n, double);
    double *gradients = SN_NEW(&context, 12 * scene.elements->count, double), *gradient = SN_NEW(&context, scene.n, double);
    SnStaticsSettings settings = {.max_rounds = 50, .step_tolerance = 1e-12};
    sn_statics_weight(world, (const double[3]){9.81, 0.0, 0.0}, loads);
    CHECK(sn_statics_solve(&context, world, loads, &settings, x, &report) == SN_OK);
    CHECK(report.converged && report.rounds > 0);
    sn_tet_elements_derivatives(scene.elements, scene.elements->inverse_rest, x, gradients, NULL);
    sn_assembly_gather_gradient(&world->assembly, gradients, gradient);
    double left = 0.0, longer = 0.0;
    for (size_t k = 0; k < scene.n; k++) {
        left = fmax(left, scene.fixed[k / 3] ? 0.0 : fabs(gradient[k] - loads[k]));
        longer = fmax(longer, x[k] - scene.mesh.positions[k]);
        CHECK(!scene.fixed[k / 3] || x[k] == scene.mesh.positions[k]);
    }
    CHECK(left < 1e-8 * 1000.0 * 9.81 * 0.01);
    CHECK_NEAR(longer, 1000.0 * 9.81 / 2e6, 0.05 * 1000.0 * 9.81 / 2e6);
    sn_release(x);
    sn_release(loads);
    sn_release(gradients);
    sn_release(gradient);
    scene_clear(&scene);
}

/* A body that nothing holds does not fall: its centre stays, and its weight strains nothing. */
static void what_nothing_holds_does_not_fall(void)
{
    SnContext context;
    SnNewtonReport report = {0};
    sn_context_init(&context);
    Scene scene = scene_bar(&context, 6, 0, 1e5, &sn_density_neo_hookean);
    double *x = scene_copy(&context, scene.mesh.positions, scene.n), *loads = SN_NEW(&context, scene.n, double);
    SnStaticsSettings settings = {.max_rounds = 50, .step_tolerance = 1e-10};
    sn_statics_weight(&scene.world, (const double[3]){0.0, 0.0, -9.81}, loads);
    CHECK(sn_statics_solve(&context, &scene.world, loads, &settings, x, &report) == SN_OK);
    CHECK(scene_distance(x, scene.mesh.positions, scene.n) < 1e-9);
    loads[0] -= 20.0; /* a pull at one corner and what answers it everywhere: it is strained, and stays */
    double centre[3] = {0}, before[3] = {0};
    CHECK(sn_statics_solve(&context, &scene.world, loads, &settings, x, &report) == SN_OK);
    for (size_t k = 0; k < scene.n; k++) {
        centre[k % 3] += scene.mass[k / 3] * x[k];
        before[k % 3] += scene.mass[k / 3] * scene.mesh.positions[k];
    }
    CHECK(scene_distance(x, scene.mesh.positions, scene.n) > 1e-4);
    CHECK(scene_distance(centre, before, 3) < 1e-3);
    sn_release(x);
    sn_release(loads);
    scene_clear(&scene);
}

int main(void)
{
    modes_solve_their_equation();
    element_blocks_add_up_to_the_stiffness();
    hanging_bar_rests_in_equilibrium();
    what_nothing_holds_does_not_fall();
    return CHECK_RESULT();
}
