/* Averages as constraints: the mean of each region follows the input, the rest is a free minimum, and free modes ring as they do. */
#include "scenes.h"

#include "dynamics/response.h"
#include "dynamics/time_step.h"
#include "math/eigensolver.h"
#include "method/enrich/averages.h"

#define FRAMES 12

/* A bar of 8 x 2 x 2 cells of 0.1 m, in regions of two cells along x; the last two cells belong to none. */
static Scene bar(SnContext *context, int held, int region_count)
{
    Scene scene = scene_from(context, scene_box(context, 8, 2, 2, 0.1), held, 3e4, &sn_density_neo_hookean);
    int32_t *regions = SN_NEW(context, scene.mesh.vertex_count, int32_t);
    for (size_t v = 0; v < scene.mesh.vertex_count; v++) {
        int32_t region = (int32_t)(scene.mesh.positions[3 * v] / 0.2 + 1e-6);
        regions[v] = region_count == 1 ? 0 : (region < region_count ? region : -1);
    }
    CHECK(sn_averages_constrain(context, regions, &scene.world) == SN_OK);
    sn_release(regions);
    return scene;
}

/* Largest distance of a region's mean from that of the input. */
static double drift(const Scene *scene, const double *input, const double *positions)
{
    const SnRows *rows = &scene->world.constraints.rows;
    double largest = 0.0;
    for (size_t region = 0; region < rows->count; region++) {
        double mean[3] = {0}, mass = 0.0;
        for (int32_t k = rows->start[region]; k < rows->start[region + 1]; k++) {
            size_t v = (size_t)rows->points[k];
            for (size_t a = 0; a < 3; a++) {
                mean[a] += scene->mass[v] * (positions[3 * v + a] - input[3 * v + a]);
            }
            mass += scene->mass[v];
        }
        for (size_t a = 0; a < 3; a++) {
            largest = fmax(largest, fabs(mean[a]) / mass);
        }
    }
    return largest;
}

/* The input of one frame: shaken to and fro and up, and turning. */
static void place(const Scene *scene, int frame, double *positions)
{
    double angle = 0.15 * frame, shake = 0.1 * sin(2.0 * frame), rise = 0.05 * (frame % 3);
    for (size_t v = 0; v < scene->mesh.vertex_count; v++) {
        const double *x = scene->mesh.positions + 3 * v;
        positions[3 * v] = cos(angle) * x[0] - sin(angle) * x[1] + shake;
        positions[3 * v + 1] = sin(angle) * x[0] + cos(angle) * x[1];
        positions[3 * v + 2] = x[2] + rise;
    }
}

static void shaken_body_keeps_its_averages_and_moves_otherwise(void)
{
    for (int trial = 0; trial < 12; trial++) {
        SnContext context;
        SnStepper *stepper = NULL;
        SnStepReport report = {0};
        sn_context_init(&context);
        int held = trial % 2, region_count = trial < 4 ? 1 : (trial < 8 ? 3 : 4);
        SnStepSettings settings = {.scheme = trial / 2 % 2 ? SN_SCHEME_IMPLICIT_EULER : SN_SCHEME_TR_BDF2, .step_tolerance = 1e-6};
        Scene scene = bar(&context, held, region_count);
        CHECK(scene.world.constraints.rows.count == (size_t)region_count);
        sn_world_damp(&scene.world, 0.0, 0.005);
        scene.driver.gravity[2] = -9.81;
        scene_keep(&context, &scene, trial >= 6);
        double *frames[FRAMES + 1], offset = 0.0;
        for (int k = 0; k <= FRAMES; k++) {
            frames[k] = SN_NEW(&context, scene.n, double);
            place(&scene, k, frames[k]);
        }
        SnState state;
        CHECK(sn_state_init(&context, scene.mesh.vertex_count, &state) == SN_OK);
        memcpy(state.positions, frames[0], scene.n * sizeof(double));
        CHECK(sn_stepper_create(&context, &scene.world, &settings, &stepper) == SN_OK);
        context.allocations_until_failure = 0; /* a step allocates nothing */
        for (int k = 0; k < FRAMES; k++) {
            SnInputCurve curve = {scene.mesh.vertex_count, k ? frames[k - 1] : NULL, frames[k], frames[k + 1], NULL, 1.0 / 24.0, NULL};
            CHECK(scene_step(&context, &scene, stepper, &curve, 0.0, 0.5, &state, &report) == SN_OK);
            CHECK(scene_step(&context, &scene, stepper, &curve, 0.5, 1.0, &state, &report) == SN_OK);
            CHECK(drift(&scene, frames[k + 1], state.positions) < 1e-14);
            offset = fmax(offset, scene_distance(state.positions, frames[k + 1], scene.n));
        }
        context.allocations_until_failure = -1;
        CHECK(offset > 0.01 && offset < 0.8); /* it moves, and about one mean it may turn */
        CHECK(report.unconverged == 0);
        sn_stepper_destroy(stepper);
        sn_state_clear(&state);
        for (int k = 0; k <= FRAMES; k++) {
            sn_release(frames[k]);
        }
        scene_clear(&scene);
    }
}

/* In every direction that keeps the means, the minimum has no slope. */
static void minimum_is_free_of_slopes_that_keep_the_averages(void)
{
    for (int held = 0; held < 2; held++) {
        SnContext context;
        SnNewton *newton = NULL;
        SnNewtonReport report = {0};
        uint64_t random = 3;
        sn_context_init(&context);
        Scene scene = bar(&context, held, 4);
        const SnConstraints *constraints = &scene.world.constraints;
        size_t n = scene.n, unknowns = constraints->unknown_count;
        double *diagonal = SN_NEW(&context, scene.mesh.vertex_count, double), *loads = SN_NEW(&context, n, double);
        double *x = scene_copy(&context, scene.mesh.positions, n), *moved = SN_NEW(&context, n, double);
        double *work = SN_NEW(&context, constraints->size, double);
        double *direction = SN_NEW(&context, 3 * unknowns, double), start = 0.0, end = 0.0;
        for (size_t k = 0; k < n; k++) {
            diagonal[k / 3] = 0.1;
            loads[k] = scene.mass[k / 3] * 20.0 * scene_signed(&random);
        }
        SnObjective objective = {.scale = 1.0,
                                 .diagonal = diagonal,
                                 .targets = scene.mesh.positions,
                                 .loads = loads};
        const SnNewtonSettings settings = {.max_rounds = 100, .step_tolerance = 1e-10};
        CHECK(sn_newton_create(&context, scene.world.term_count, scene.world.terms, &scene.world.assembly, &newton) == SN_OK);
        CHECK(sn_newton_constrain(&context, newton, constraints, &(SnSprings){0}) == SN_OK);
        CHECK(sn_newton_minimise(&context, newton, &objective, &settings, x, &report) == SN_OK);
        CHECK(report.converged && report.rounds < 40);
        CHECK(drift(&scene, scene.mesh.positions, x) < 1e-14);
        for (int trial = 0; trial < 20; trial++) {
            for (size_t k = 0; k < 3 * unknowns; k++) {
                direction[k] = scene_signed(&random);
            }
            sn_constraints_project_step(constraints, work, direction);
            for (int side = 0; side < 2; side++) { /* at the start, and at the minimum */
                double values[2];
                for (int end_of_it = 0; end_of_it < 2; end_of_it++) {
                    memcpy(moved, side ? x : scene.mesh.positions, n * sizeof *moved);
                    for (size_t k = 0; k < 3 * unknowns; k++) {
                        moved[3 * (size_t)constraints->vertex[k / 3] + k % 3] += (end_of_it ? 1e-6 : -1e-6) * direction[k];
                    }
                    values[end_of_it] = sn_newton_value(newton, &objective, moved);
                }
                double slope = fabs(values[1] - values[0]) / 2e-6;
                start = fmax(start, side ? 0.0 : slope);
                end = fmax(end, side ? slope : 0.0);
            }
        }
        CHECK(end < 1e-6 * start);
        CHECK(scene_distance(x, scene.mesh.positions, n) > 0.001);
        sn_newton_destroy(newton);
        sn_release(diagonal);
        sn_release(loads);
        sn_release(x);
        sn_release(moved);
        sn_release(direction);
        sn_release(work);
        scene_clear(&scene);
    }
}

/* A free body with one region under gravity: its mean stays, and its first mode that is not rigid swings at its own frequency. */
static void free_body_rings_about_its_average(void)
{
    SnContext context;
    SnStepper *stepper = NULL;
    SnStepReport report = {0};
    double squared[7], before = 0.0, after = 0.0;
    const SnStepSettings settings = {.scheme = SN_SCHEME_TR_BDF2, .step_tolerance = 1e-10};
    enum { STEPS = 60 };
    sn_context_init(&context);
    Scene scene = bar(&context, 0, 1);
    scene.driver.gravity[2] = -9.81;
    double *values = scene_stiffness(&context, &scene, scene.mesh.positions), *vectors = SN_NEW(&context, 7 * scene.n, double);
    CHECK(sn_eigensolver_lowest(&context, &scene.world.assembly.pattern, values, scene.mass, 7, squared, vectors) == SN_OK);
    const double *mode = vectors + 6 * scene.n;
    SnState state;
    CHECK(sn_state_init(&context, scene.mesh.vertex_count, &state) == SN_OK);
    for (size_t k = 0; k < scene.n; k++) {
        state.positions[k] = scene.mesh.positions[k] + 1e-4 * mode[k];
        before += 1e-4 * scene.mass[k / 3] * mode[k] * mode[k];
    }
    double half = SCENE_PI / sqrt(squared[6]);
    SnInputCurve curve = {
        .vertex_count = scene.mesh.vertex_count, .begin = scene.mesh.positions, .end = scene.mesh.positions, .interval = half};
    CHECK(sn_stepper_create(&context, &scene.world, &settings, &stepper) == SN_OK);
    for (int k = 0; k < STEPS; k++) {
        CHECK(scene_step(&context, &scene, stepper, &curve, (double)k / STEPS, (k + 1.0) / STEPS, &state, &report) == SN_OK);
    }
    for (size_t k = 0; k < scene.n; k++) {
        after += scene.mass[k / 3] * mode[k] * (state.positions[k] - scene.mesh.positions[k]);
    }
    CHECK_NEAR(after, -before, 0.005 * before); /* half a period later: the other side, at full swing */
    CHECK(drift(&scene, scene.mesh.positions, state.positions) < 1e-14);
    CHECK(report.fallbacks == 0);
    sn_stepper_destroy(stepper);
    sn_state_clear(&state);
    sn_release(values);
    sn_release(vectors);
    scene_clear(&scene);
}

/* More regions than a response takes, each of one or two vertices: then projected steps alone have to find the way. */
static void hundreds_of_regions_are_kept_too(void)
{
    SnContext context;
    SnStepper *stepper = NULL;
    SnStepReport report = {0};
    SnState state;
    SnStepSettings settings = {.scheme = SN_SCHEME_TR_BDF2, .step_tolerance = 1e-6};
    sn_context_init(&context);
    Scene scene = scene_bar(&context, 300, 0, 3e4, &sn_density_neo_hookean);
    int32_t *regions = SN_NEW(&context, scene.mesh.vertex_count, int32_t);
    for (size_t v = 0; v < scene.mesh.vertex_count; v++) {
        regions[v] = (int32_t)v / 2;
    }
    CHECK(sn_averages_constrain(&context, regions, &scene.world) == SN_OK);
    CHECK(scene.world.constraints.size > SN_RESPONSE_MOST);
    scene.driver.gravity[2] = -9.81;
    CHECK(sn_state_init(&context, scene.mesh.vertex_count, &state) == SN_OK);
    memcpy(state.positions, scene.mesh.positions, scene.n * sizeof(double));
    CHECK(sn_stepper_create(&context, &scene.world, &settings, &stepper) == SN_OK);
    double *frames[3], moved = 0.0;
    for (int k = 0; k < 3; k++) {
        frames[k] = SN_NEW(&context, scene.n, double);
        place(&scene, k, frames[k]);
    }
    memcpy(state.positions, frames[0], scene.n * sizeof(double));
    for (int k = 0; k < 2; k++) {
        SnInputCurve curve = {scene.mesh.vertex_count, NULL, frames[k], frames[k + 1], NULL, 1.0 / 24.0, NULL};
        CHECK(scene_step(&context, &scene, stepper, &curve, 0.0, 1.0, &state, &report) == SN_OK);
        CHECK(drift(&scene, frames[k + 1], state.positions) < 1e-13);
        moved = fmax(moved, scene_distance(state.positions, frames[k + 1], scene.n));
    }
    CHECK(moved > 1e-3);
    CHECK(report.unconverged == 0);
    sn_stepper_destroy(stepper);
    sn_state_clear(&state);
    for (int k = 0; k < 3; k++) {
        sn_release(frames[k]);
    }
    sn_release(regions);
    scene_clear(&scene);
}

int main(void)
{
    shaken_body_keeps_its_averages_and_moves_otherwise();
    minimum_is_free_of_slopes_that_keep_the_averages();
    free_body_rings_about_its_average();
    hundreds_of_regions_are_kept_too();
    return CHECK_RESULT();
}
