/* How the surroundings of vertices turn, and what a turned factor is worth. */
#include "scenes.h"

#include "dynamics/newton.h"
#include "dynamics/rotations.h"

/* `to` = `from` turned around z by `turn` and stretched along x. The caller releases it. */
static double *turned(SnContext *context, const Scene *scene, double turn, double stretch)
{
    double *to = SN_NEW(context, scene->n, double);
    for (size_t k = 0; k < scene->n; k += 3) {
        const double *x = scene->mesh.positions + k;
        to[k] = cos(turn) * stretch * x[0] - sin(turn) * x[1] + 3.0;
        to[k + 1] = sin(turn) * stretch * x[0] + cos(turn) * x[1];
        to[k + 2] = x[2];
    }
    return to;
}

static void turned_body_has_its_rotation_everywhere(void)
{
    SnContext context;
    uint64_t random = 1;
    sn_context_init(&context);
    Scene scene = scene_from(&context, scene_box(&context, 5, 3, 2, 0.1), 0, 1e5, &sn_density_neo_hookean);
    size_t count = scene.world.assembly.unknown_count;
    double *rotations = SN_NEW(&context, 9 * count, double), *vector = SN_NEW(&context, 3 * count, double), *copy;
    const double turns[3] = {0.0, 0.3, 3.0};
    for (int k = 0; k < 3; k++) {
        double *to = turned(&context, &scene, turns[k], 1.0);
        const double expected[9] = {cos(turns[k]), -sin(turns[k]), 0, sin(turns[k]), cos(turns[k]), 0, 0, 0, 1};
        sn_rotations_between(&scene.world.assembly, scene.mesh.positions, to, rotations);
        for (size_t i = 0; i < count; i++) {
            CHECK(scene_distance(rotations + 9 * i, expected, 9) < 1e-12);
        }
        sn_release(to);
    }
    for (size_t k = 0; k < 3 * count; k++) {
        vector[k] = scene_signed(&random);
    }
    copy = scene_copy(&context, vector, 3 * count);
    sn_rotations_apply(count, rotations, 0, vector);
    CHECK_NEAR(vector[0], cos(3.0) * copy[0] - sin(3.0) * copy[1], 1e-12);
    sn_rotations_apply(count, rotations, 1, vector);
    CHECK(scene_distance(vector, copy, 3 * count) < 1e-12);
    sn_release(rotations);
    sn_release(vector);
    sn_release(copy);
    scene_clear(&scene);
}

/* One free vertex has no free neighbours, and two have one: what turned around the edge between them is not known. */
static void vertices_on_a_line_keep_the_identity(void)
{
    SnContext context;
    sn_context_init(&context);
    Scene scene = scene_from(&context, scene_box(&context, 1, 1, 1, 0.1), 0, 1e5, &sn_density_neo_hookean);
    const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double rotations[18], *to = turned(&context, &scene, 1.0, 1.0);
    for (size_t free = 1; free <= 2; free++) {
        unsigned char fixed[8] = {0, free == 1, 1, 1, 1, 1, 1, 1};
        SnAssembly assembly;
        CHECK(sn_assembly_init(&context, 8, 1, &(SnStencils){scene.mesh.tet_count, 4, scene.mesh.tets, 0}, fixed, &assembly) == SN_OK);
        CHECK(assembly.unknown_count == free && assembly.pattern.block_count == 2 * free - 1);
        sn_rotations_between(&assembly, scene.mesh.positions, to, rotations);
        for (size_t i = 0; i < free; i++) {
            CHECK(scene_distance(rotations + 9 * i, identity, 9) == 0.0);
        }
        sn_assembly_clear(&assembly);
    }
    sn_release(to);
    scene_clear(&scene);
}

/* A factor made upright must serve a body that lies on its side as well as one that still stands. */
static void kept_factor_turns_with_the_body(void)
{
    SnContext context;
    int rounds[2];
    sn_context_init(&context);
    Scene scene = scene_from(&context, scene_box(&context, 8, 3, 3, 0.1), 0, 1e5, &sn_density_neo_hookean);
    double *diagonal = SN_NEW(&context, scene.mesh.vertex_count, double);
    for (size_t v = 0; v < scene.mesh.vertex_count; v++) {
        diagonal[v] = 3600.0 * scene.mass[v];
    }
    for (int k = 0; k < 2; k++) {
        SnNewton *newton;
        SnNewtonReport first = {0}, second = {0};
        double *target = turned(&context, &scene, k ? 1.5 : 0.0, 1.05), *x = scene_copy(&context, scene.mesh.positions, scene.n);
        SnNewtonSettings settings = {.max_rounds = 60, .step_tolerance = 1e-7};
        SnObjective objective = {.scale = 1.0,
                                 .diagonal = diagonal,
                                 .targets = scene.mesh.positions};
        CHECK(sn_newton_create(&context, scene.world.term_count, scene.world.terms, &scene.world.assembly, &newton) == SN_OK);
        CHECK(sn_newton_minimise(&context, newton, &objective, &settings, x, &first) == SN_OK);
        memcpy(x, target, scene.n * sizeof *x);
        objective.targets = target;
        CHECK(sn_newton_minimise(&context, newton, &objective, &settings, x, &second) == SN_OK);
        CHECK(second.converged && second.factorizations == 0);
        rounds[k] = second.rounds;
        sn_newton_destroy(newton);
        sn_release(target);
        sn_release(x);
    }
    CHECK(rounds[1] <= rounds[0] + 1);
    sn_release(diagonal);
    scene_clear(&scene);
}

int main(void)
{
    turned_body_has_its_rotation_everywhere();
    vertices_on_a_line_keep_the_identity();
    kept_factor_turns_with_the_body();
    return CHECK_RESULT();
}
