/* Rows of finite stiffness as part of what Newton minimises: beside the drive that they are where a row holds one vertex, beside exact rows
   that they become where they are stiff, by the slope of the energy, and by the weight that they carry. */
#include "scenes.h"

#include "base/parallel.h"
#include "dynamics/response.h"
#include "dynamics/statics.h"

#define MANY (SN_RESPONSE_MOST / 3 + 60) /* more rows than a response takes */

/* A row over `count` vertices from `first` on, every `stride`-th, with equal weights. */
static void add_mean(SnContext *context, SnRows *rows, size_t first, size_t stride, size_t count, double stiffness)
{
    int32_t points[64];
    double weights[64];
    for (size_t k = 0; k < count; k++) {
        points[k] = (int32_t)(first + k * stride);
        weights[k] = 1.0 / (double)count;
    }
    CHECK(sn_rows_add(context, rows, count, points, weights, stiffness) == SN_OK);
}

/* Runs a scene through one interval in eight steps while its input moves and turns. The caller clears the state. */
static SnState run(SnContext *context, const Scene *scene, SnScheme scheme, SnStepReport *report)
{
    SnState state;
    SnStepper *stepper = NULL;
    SnStepSettings settings = {.scheme = scheme, .step_tolerance = 1e-11};
    double *moved = scene_copy(context, scene->mesh.positions, scene->n);
    for (size_t k = 0; k < scene->n; k += 3) {
        moved[k + 1] += 0.3 * moved[k] + 0.02;
        moved[k + 2] -= 0.01;
    }
    SnInputCurve curve = {.vertex_count = scene->mesh.vertex_count, .begin = scene->mesh.positions, .end = moved, .interval = 1.0 / 24.0};
    CHECK(sn_world_begin(context, &scene->world, scene->mesh.positions, &state) == SN_OK);
    CHECK(sn_stepper_create(context, &scene->world, &settings, &stepper) == SN_OK);
    for (int k = 0; k < 8; k++) {
        CHECK(scene_step(context, scene, stepper, &curve, k / 8.0, (k + 1) / 8.0, &state, report) == SN_OK);
    }
    CHECK(report->unconverged == 0);
    sn_stepper_destroy(stepper);
    sn_release(moved);
    return state;
}

/* A spring on one vertex is a drive: another part of the engine, and the same motion. */
static void springs_on_single_vertices_do_what_the_drive_does(SnScheme scheme, int is_alike)
{
    SnContext context;
    sn_context_init(&context);
    Scene sprung = scene_bar(&context, 6, 1, 2e4, &sn_density_neo_hookean), driven = scene_bar(&context, 6, 1, 2e4, &sn_density_neo_hookean);
    Scene loose = scene_bar(&context, 6, 1, 2e4, &sn_density_neo_hookean);
    SnRows rows = {.is_alike = is_alike};
    sprung.driver.gravity[2] = driven.driver.gravity[2] = loose.driver.gravity[2] = -9.81;
    for (size_t v = 0; v < sprung.mesh.vertex_count; v += 5) {
        double stiffness = v % 2 ? 3e3 : 40.0;
        const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        int32_t point = (int32_t)v;
        driven.drive[v] = stiffness;
        for (int a = 0; a < (is_alike ? 1 : 3); a++) {
            CHECK(sn_rows_add(&context, &rows, 1, &point, axes[a], stiffness) == SN_OK);
        }
    }
    CHECK(sn_world_spring(&context, &rows, &sprung.world) == SN_OK && rows.count == 0);
    SnStepReport report = {0}, other = {0};
    SnState state = run(&context, &sprung, scheme, &report), reference = run(&context, &driven, scheme, &other);
    SnState without = run(&context, &loose, scheme, &other);
    CHECK(scene_distance(state.positions, reference.positions, sprung.n) < 1e-9);
    CHECK(scene_distance(state.velocities, reference.velocities, sprung.n) < 1e-7);
    CHECK(scene_distance(without.positions, reference.positions, sprung.n) > 1e-3);
    sn_state_clear(&state);
    sn_state_clear(&reference);
    sn_state_clear(&without);
    scene_clear(&sprung);
    scene_clear(&driven);
    scene_clear(&loose);
}

/* Overlapping means, so stiff that they hardly give, come to where exact rows hold. */
static void stiff_springs_hold_as_exact_rows_do(void)
{
    SnContext context;
    sn_context_init(&context);
    Scene scenes[2];
    SnState states[2];
    for (int exact = 0; exact < 2; exact++) {
        SnStepReport report = {0};
        SnRows rows = {.is_alike = 1};
        scenes[exact] = scene_bar(&context, 8, 0, 2e4, &sn_density_neo_hookean);
        scenes[exact].driver.gravity[2] = -9.81;
        for (size_t r = 0; r < 4; r++) {
            add_mean(&context, &rows, 4 * r, 2, 9, exact ? INFINITY : 1e9);
        }
        CHECK((exact ? sn_world_constrain : sn_world_spring)(&context, &rows, &scenes[exact].world) == SN_OK);
        states[exact] = run(&context, scenes + exact, SN_SCHEME_IMPLICIT_EULER, &report);
        CHECK(report.rounds < 8 * 30);
    }
    CHECK(scene_distance(states[0].positions, states[1].positions, scenes[0].n) < 1e-5);
    for (int k = 0; k < 2; k++) {
        sn_state_clear(states + k);
        scene_clear(scenes + k);
    }
}

/* At the minimum that Newton found, E rises in every direction, and its slope by finite differences is that of the springs too. */
static void the_minimum_is_one_also_with_more_springs_than_a_response_takes(size_t row_count, int with_exact)
{
    SnContext context;
    sn_context_init(&context);
    Scene scene = scene_from(&context, scene_box(&context, 12, 3, 3, 0.1), 1, 5e4, &sn_density_neo_hookean);
    SnRows rows = {.is_alike = 1}, exact = {.is_alike = 0};
    uint64_t random = 7;
    for (size_t r = 0; r < row_count; r++) {
        add_mean(&context, &rows, (size_t)(check_random(&random) * 120.0), 1 + r % 5, 12, 1e3 * (double)(1 + r % 7));
    }
    CHECK(sn_world_spring(&context, &rows, &scene.world) == SN_OK);
    if (with_exact) { /* of the other kind: the response takes both as one */
        int32_t point = (int32_t)scene.mesh.vertex_count - 1;
        CHECK(sn_rows_add(&context, &exact, 1, &point, (const double[]){0.0, 0.6, 0.8}, INFINITY) == SN_OK);
        CHECK(sn_world_constrain(&context, &exact, &scene.world) == SN_OK);
    }
    SnNewton *newton = NULL;
    SnNewtonReport report = {0};
    SnNewtonSettings settings = {.max_rounds = 400, .step_tolerance = 1e-11};
    double *x = scene_copy(&context, scene.mesh.positions, scene.n), *start = scene_copy(&context, x, scene.n);
    double *targets = SN_NEW(&context, scene.world.springs.size, double), *loads = SN_NEW(&context, scene.n, double);
    sn_rows_apply(&scene.world.springs.rows, x, targets);
    for (size_t k = 0; k < scene.world.springs.size; k++) {
        targets[k] += 0.05 * scene_signed(&random);
    }
    sn_statics_weight(&scene.world, (const double[]){0.0, 0.0, -9.81}, loads);
    SnObjective objective = {
        .scale = 1.0, .diagonal = scene.drive, .targets = start, .loads = loads, .spring_targets = targets};
    CHECK(sn_newton_create(&context, 1, scene.world.terms, &scene.world.assembly, &newton) == SN_OK);
    CHECK(sn_newton_constrain(&context, newton, &scene.world.constraints, &scene.world.springs) == SN_OK);
    double before = sn_newton_value(newton, &objective, x);
    CHECK(sn_newton_minimise(&context, newton, &objective, &settings, x, &report) == SN_OK && report.converged);
    double least = sn_newton_value(newton, &objective, x), h = 1e-6;
    CHECK(least < before && scene_distance(x, start, scene.n) > 1e-3);
    double largest = 0.0, scale = 0.0;
    for (size_t k = 0; k < scene.world.assembly.unknown_count - 1; k++) { /* the last one is held across a plane */
        size_t at = 3 * (size_t)scene.world.assembly.vertex[k] + k % 3;
        double here = x[at];
        x[at] = here + h;
        double up = sn_newton_value(newton, &objective, x);
        x[at] = here - h;
        double down = sn_newton_value(newton, &objective, x);
        x[at] = here;
        largest = fmax(largest, fabs(up - down) / (2.0 * h));
        scale = fmax(scale, (up + down - 2.0 * least) / (h * h) * 1e-3); /* N for a millimetre */
    }
    CHECK(largest < 1e-4 * scale);
    sn_newton_destroy(newton);
    sn_release(x);
    sn_release(start);
    sn_release(targets);
    sn_release(loads);
    scene_clear(&scene);
}

/* Where it comes to rest, springs carry its weight. */
static void springs_that_hold_a_body_carry_its_weight(void)
{
    SnContext context;
    sn_context_init(&context);
    Scene scene = scene_bar(&context, 5, 0, 5e4, &sn_density_neo_hookean);
    SnRows rows = {.is_alike = 1};
    double mass = 0.0, carried[3] = {0};
    for (size_t r = 0; r < 3; r++) {
        add_mean(&context, &rows, 7 * r, 1, 6, 2e3);
    }
    CHECK(sn_world_spring(&context, &rows, &scene.world) == SN_OK);
    CHECK(scene.world.bodies[0].spring_count == 3 && scene.world.bodies[0].first_spring == 0);
    SnInputCurve still = {.vertex_count = scene.mesh.vertex_count, .begin = scene.mesh.positions, .end = scene.mesh.positions, .interval = 1.0};
    SnInputDriver input = {.curve = &still, .gravity = {0.0, 0.0, -9.81}};
    SnDriver driver = sn_input_driver(&input);
    SnStaticsSettings settings = {.max_rounds = 100, .step_tolerance = 1e-12};
    SnNewtonReport report = {0};
    double *x = scene_copy(&context, scene.mesh.positions, scene.n), pull[9];
    double *targets = SN_NEW(&context, 9, double);
    sn_rows_apply(&scene.world.springs.rows, x, targets);
    CHECK(sn_statics_settle(&context, &scene.world, &driver, 0.0, &settings, NULL, x, &report) == SN_OK && report.converged);
    (void)sn_springs_pull(&scene.world.springs, targets, x, pull);
    for (size_t k = 0; k < 9; k++) {
        carried[k % 3] += pull[k];
    }
    for (size_t v = 0; v < scene.mesh.vertex_count; v++) {
        mass += scene.mass[v];
    }
    CHECK_NEAR(carried[2], 9.81 * mass, 1e-8 * mass);
    CHECK(fabs(carried[0]) + fabs(carried[1]) < 1e-8 * mass);
    sn_release(x);
    sn_release(targets);
    scene_clear(&scene);
}

static void springs_have_the_same_bits_on_any_number_of_threads(void)
{
    static const int THREADS[3] = {1, 2, 4};
    double *first = NULL;
    for (int k = 0; k < 3; k++) {
        SnContext context;
        sn_context_init(&context);
        sn_parallel_set_thread_count(THREADS[k]);
        Scene scene = scene_from(&context, scene_box(&context, 12, 3, 3, 0.1), 1, 5e4, &sn_density_neo_hookean);
        SnRows rows = {.is_alike = 1};
        SnStepReport report = {0};
        for (size_t r = 0; r < 20; r++) {
            add_mean(&context, &rows, 5 * r, 2, 10, 500.0);
        }
        CHECK(sn_world_spring(&context, &rows, &scene.world) == SN_OK);
        SnState state = run(&context, &scene, SN_SCHEME_TR_BDF2, &report);
        first = k == 0 ? scene_copy(&context, state.positions, scene.n) : first;
        CHECK(scene_same_bits(first, state.positions, scene.n));
        sn_state_clear(&state);
        scene_clear(&scene);
    }
    sn_parallel_set_thread_count(0);
    sn_release(first);
}

/* What springs feel in one direction only, or not at all, does not fall in the others. */
static void what_springs_hold_in_one_direction_stays_in_the_others(double stiffness)
{
    SnContext context;
    sn_context_init(&context);
    Scene scene = scene_bar(&context, 5, 0, 5e4, &sn_density_neo_hookean);
    SnRows rows = {.is_alike = 0};
    int32_t point = 3;
    CHECK(sn_rows_add(&context, &rows, 1, &point, (const double[]){0.0, 1.0, 0.0}, stiffness) == SN_OK);
    CHECK(sn_world_spring(&context, &rows, &scene.world) == SN_OK);
    SnStaticsSettings settings = {.max_rounds = 100, .step_tolerance = 1e-10};
    SnNewtonReport report = {0};
    double *x = scene_copy(&context, scene.mesh.positions, scene.n), *loads = SN_NEW(&context, scene.n, double);
    sn_statics_weight(&scene.world, (const double[]){0.0, 0.0, -9.81}, loads);
    CHECK(sn_statics_solve(&context, &scene.world, loads, &settings, x, &report) == SN_OK && report.converged);
    CHECK(scene_distance(x, scene.mesh.positions, scene.n) < 1e-6);
    sn_release(x);
    sn_release(loads);
    scene_clear(&scene);
}

/* Rows that hold nothing, or several bodies, are told before anything is taken. */
static void rows_that_belong_to_no_body_are_told(void)
{
    SnContext context;
    sn_context_init(&context);
    Scene left = scene_bar(&context, 3, 1, 2e4, &sn_density_neo_hookean), right = scene_bar(&context, 3, 1, 2e4, &sn_density_neo_hookean);
    const SnWorld *both[2] = {&left.world, &right.world};
    SnWorld joined;
    CHECK(sn_world_join(&context, 2, both, &joined) == SN_OK && joined.body_count == 2);
    int32_t last = (int32_t)left.mesh.vertex_count, across[2] = {last - 1, last};
    const double weights[2] = {1.0, -1.0};
    for (int wrong = 0; wrong < 3; wrong++) {
        SnRows rows = {.is_alike = 1};
        if (wrong == 2) { /* of the second body, then of the first */
            CHECK(sn_rows_add(&context, &rows, 1, across + 1, weights, 10.0) == SN_OK);
        }
        CHECK(sn_rows_add(&context, &rows, wrong == 0 ? 0 : wrong == 1 ? 2 : 1, across, weights, wrong == 0 ? INFINITY : 10.0) == SN_OK);
        SnStatus status = (wrong == 0 ? sn_world_constrain : sn_world_spring)(&context, &rows, &joined);
        CHECK(status == SN_BAD_INPUT && rows.count == (wrong == 2 ? 2 : 1) && strstr(context.message, "holds no vertex") != NULL);
        sn_rows_clear(&rows);
    }
    sn_world_clear(&joined);
    scene_clear(&left);
    scene_clear(&right);
}

static void an_exact_row_is_no_spring(void)
{
    SnContext context;
    sn_context_init(&context);
    Scene scene = scene_bar(&context, 3, 1, 2e4, &sn_density_neo_hookean);
    SnRows rows = {.is_alike = 1};
    add_mean(&context, &rows, 4, 1, 3, INFINITY);
    CHECK(sn_world_spring(&context, &rows, &scene.world) == SN_BAD_INPUT && rows.count == 1);
    CHECK(strstr(context.message, "hold it exactly") != NULL && scene.world.springs.size == 0);
    sn_rows_clear(&rows);
    scene_clear(&scene);
}

int main(void)
{
    for (int is_alike = 0; is_alike < 2; is_alike++) {
        springs_on_single_vertices_do_what_the_drive_does(SN_SCHEME_TR_BDF2, is_alike);
        springs_on_single_vertices_do_what_the_drive_does(SN_SCHEME_IMPLICIT_EULER, is_alike);
    }
    stiff_springs_hold_as_exact_rows_do();
    the_minimum_is_one_also_with_more_springs_than_a_response_takes(20, 0);
    the_minimum_is_one_also_with_more_springs_than_a_response_takes(20, 1);
    the_minimum_is_one_also_with_more_springs_than_a_response_takes(MANY, 0);
    the_minimum_is_one_also_with_more_springs_than_a_response_takes(MANY, 1);
    springs_that_hold_a_body_carry_its_weight();
    springs_have_the_same_bits_on_any_number_of_threads();
    what_springs_hold_in_one_direction_stays_in_the_others(1000.0);
    what_springs_hold_in_one_direction_stays_in_the_others(0.0);
    rows_that_belong_to_no_body_are_told();
    an_exact_row_is_no_spring();
    return CHECK_RESULT();
}
