/* Steps of a world along its input, and the input's curve. */
#include "scenes.h"

#include "base/parallel.h"
#include "dynamics/time_step.h"
#include "math/eigensolver.h"

#define YOUNG 5e4

/* The curve of a body that stays at rest for `duration` seconds. */
static SnInputCurve still(const Scene *scene, double duration)
{
    return (SnInputCurve){
        .vertex_count = scene->mesh.vertex_count,
        .begin = scene->mesh.positions,
        .end = scene->mesh.positions,
        .interval = duration,
    };
}

static SnState state_at_rest(SnContext *context, const Scene *scene)
{
    SnState state;
    CHECK(sn_state_init(context, scene->mesh.vertex_count, &state) == SN_OK);
    memcpy(state.positions, scene->mesh.positions, scene->n * sizeof(double));
    return state;
}

static SnStepper *stepper_new(SnContext *context, const Scene *scene, SnScheme scheme)
{
    SnStepper *stepper;
    const SnStepSettings settings = {.scheme = scheme, .step_tolerance = 1e-9};
    CHECK(sn_stepper_create(context, &scene->world, &settings, &stepper) == SN_OK);
    return stepper;
}

static void advance(SnContext *context, const Scene *scene, SnScheme scheme, double duration, int steps, SnState *state)
{
    SnStepper *stepper = stepper_new(context, scene, scheme);
    SnInputCurve curve = still(scene, duration);
    SnStepReport report = {0};
    int failures = 0;
    for (int k = 0; k < steps; k++) {
        failures += scene_step(context, scene, stepper, &curve, (double)k / steps, (k + 1.0) / steps, state, &report) != SN_OK;
    }
    CHECK(failures == 0 && report.fallbacks == 0 && report.unconverged == 0);
    sn_stepper_destroy(stepper);
}

/* Lowest mode of the bar: squared angular frequency, and its shape over all vertices with xᵀ M x = 1. The caller releases it. */
static double *lowest_mode(SnContext *context, const Scene *scene, double *squared)
{
    const SnAssembly *assembly = &scene->world.assembly;
    double *values = scene_stiffness(context, scene, scene->mesh.positions), *masses = scene_free_masses(context, scene);
    double *vector = SN_NEW(context, 3 * assembly->unknown_count, double), *shape = SN_NEW(context, scene->n, double);
    CHECK(sn_eigensolver_lowest(context, &assembly->pattern, values, masses, 1, squared, vector) == SN_OK);
    for (size_t k = 0; k < assembly->unknown_count; k++) {
        memcpy(shape + 3 * (size_t)assembly->vertex[k], vector + 3 * k, 3 * sizeof *vector);
    }
    sn_release(values);
    sn_release(masses);
    sn_release(vector);
    return shape;
}

/* Coordinate of the mode in a field over the vertices. */
static double along_mode(const Scene *scene, const double *shape, const double *field, const double *from)
{
    double sum = 0.0;
    for (size_t k = 0; k < scene->n; k++) {
        sum += scene->mass[k / 3] * shape[k] * (field[k] - (from ? from[k] : 0.0));
    }
    return sum;
}

static void input_curve_is_exact_and_smooth_at_the_frames(void)
{
    double frames[5][6];
    uint64_t random = 1;
    for (int f = 0; f < 5; f++) {
        for (int k = 0; k < 6; k++) {
            frames[f][k] = 10.0 * scene_signed(&random);
        }
    }
    SnInputCurve first = {2, frames[0], frames[1], frames[2], frames[3], 0.04, NULL};
    SnInputCurve second = {2, frames[1], frames[2], frames[3], frames[4], 0.04, NULL};
    double pose[6], velocity[6], next[6], next_velocity[6], ahead[6], behind[6];
    sn_input_curve_evaluate(&first, 0.0, pose, NULL);
    CHECK(scene_same_bits(pose, frames[1], 6));
    sn_input_curve_evaluate(&first, 1.0, pose, velocity);
    sn_input_curve_evaluate(&second, 0.0, next, next_velocity);
    CHECK(scene_same_bits(pose, frames[2], 6) && scene_same_bits(next, frames[2], 6));
    CHECK(scene_same_bits(velocity, next_velocity, 6)); /* C¹ to the bit */
    for (int k = 0; k < 6; k++) { /* the velocity at a frame is that of its neighbours */
        CHECK_NEAR(velocity[k], (frames[3][k] - frames[1][k]) / 0.08, 1e-9);
    }
    for (int i = 1; i < 10; i++) { /* and between frames it is the derivative of the pose */
        double s = 0.1 * i, h = 1e-5;
        sn_input_curve_evaluate(&first, s + h, ahead, NULL);
        sn_input_curve_evaluate(&first, s - h, behind, NULL);
        sn_input_curve_evaluate(&first, s, NULL, velocity);
        for (int k = 0; k < 6; k++) {
            CHECK_NEAR(velocity[k], (ahead[k] - behind[k]) / (2.0 * h * 0.04), 1e-5);
        }
    }
    SnInputCurve alone = {2, NULL, frames[1], frames[2], NULL, 0.04, NULL}; /* between two cuts: straight */
    sn_input_curve_evaluate(&alone, 0.25, pose, velocity);
    for (int k = 0; k < 6; k++) {
        CHECK_NEAR(pose[k], 0.75 * frames[1][k] + 0.25 * frames[2][k], 1e-13);
        CHECK_NEAR(velocity[k], (frames[2][k] - frames[1][k]) / 0.04, 1e-9);
    }
}

static void the_press_of_frames_is_even_and_gives_the_speed_that_the_curve_gains(void)
{
    double frames[5][3], press[3], next[3], velocity[2][3], acceleration[3];
    uint64_t random = 2;
    for (int f = 0; f < 5; f++) {
        for (int k = 0; k < 3; k++) {
            frames[f][k] = 10.0 * scene_signed(&random);
        }
    }
    const double h = 0.04;
    for (int missing = 0; missing < 4; missing++) { /* at the begin, at the end, at both */
        SnInputCurve curve = {1, missing & 1 ? NULL : frames[0], frames[1], frames[2], missing & 2 ? NULL : frames[3], h, NULL};
        sn_input_curve_evaluate(&curve, 0.0, NULL, velocity[0]);
        sn_input_curve_evaluate(&curve, 1.0, NULL, velocity[1]);
        sn_input_curve_press(&curve, 0.5, 0, press);
        for (int k = 0; k < 3; k++) { /* it changes evenly, so its mean is that of the middle */
            CHECK_NEAR(h * press[k], velocity[1][k] - velocity[0][k], 1e-9);
        }
    }
    SnInputCurve first = {1, frames[0], frames[1], frames[2], frames[3], h, NULL};
    SnInputCurve second = {1, frames[1], frames[2], frames[3], frames[4], h, NULL};
    sn_input_curve_press(&first, 1.0, 0, press);
    sn_input_curve_press(&second, 0.0, 0, next);
    for (int k = 0; k < 3; k++) { /* no jump at a frame, where it is the bend of the frames */
        CHECK_NEAR(press[k], next[k], 1e-9);
        CHECK_NEAR(press[k], (frames[1][k] - 2.0 * frames[2][k] + frames[3][k]) / (h * h), 1e-9);
    }
    SnInputCurve light = first;
    first.light = &light; /* all of it moves without inertia */
    sn_input_curve_press(&first, 0.3, 0, press);
    sn_input_curve_accelerate(&first, 0.3, 0, acceleration);
    for (int k = 0; k < 3; k++) {
        CHECK(press[k] == 0.0 && acceleration[k] == 0.0);
    }
}

/* Where a bar that was struck is after `duration`: it swings by an eighth of its length. The caller releases it. */
static double *struck(SnContext *context, const Scene *scene, SnScheme scheme, double duration, int steps)
{
    double squared, *shape = lowest_mode(context, scene, &squared);
    SnState state = state_at_rest(context, scene);
    for (size_t k = 0; k < scene->n; k++) {
        state.velocities[k] = 0.05 * sqrt(squared) * shape[k];
    }
    advance(context, scene, scheme, duration, steps, &state);
    double *positions = scene_copy(context, state.positions, scene->n);
    sn_state_clear(&state);
    sn_release(shape);
    return positions;
}

/* log2 of the ratio of the errors with `steps` and twice as many. */
static double observed_order(SnContext *context, const Scene *scene, SnScheme scheme, double duration, int steps,
                             const double *reference)
{
    double *coarse = struck(context, scene, scheme, duration, steps);
    double *fine = struck(context, scene, scheme, duration, 2 * steps);
    double order = log2(scene_distance(coarse, reference, scene->n) / scene_distance(fine, reference, scene->n));
    sn_release(coarse);
    sn_release(fine);
    return order;
}

static void schemes_have_their_order_in_time(void)
{
    SnContext context;
    double squared;
    sn_context_init(&context);
    Scene scene = scene_bar(&context, 4, 1, YOUNG, &sn_density_neo_hookean);
    sn_release(lowest_mode(&context, &scene, &squared));
    double duration = 0.8 * 2.0 * SCENE_PI / sqrt(squared);
    double *reference = struck(&context, &scene, SN_SCHEME_TR_BDF2, duration, 800);
    CHECK(scene_distance(reference, scene.mesh.positions, scene.n) > 0.02); /* large motion, not a linear problem */
    double euler = observed_order(&context, &scene, SN_SCHEME_IMPLICIT_EULER, duration, 200, reference);
    double tr_bdf2 = observed_order(&context, &scene, SN_SCHEME_TR_BDF2, duration, 24, reference);
    CHECK(euler > 0.8 && euler < 1.3);
    CHECK(tr_bdf2 > 1.7 && tr_bdf2 < 2.4);
    sn_release(reference);
    scene_clear(&scene);
}

/* Elastic and kinetic energy at rest input. */
static double total_energy(SnContext *context, const Scene *scene, const SnState *state)
{
    const SnTetElements *elements = scene->elements;
    double *partial = SN_NEW(context, sn_tet_elements_partial_count(elements), double);
    double sum = sn_tet_elements_energy(elements, elements->inverse_rest, state->positions, partial);
    for (size_t k = 0; k < scene->n; k++) {
        sum += 0.5 * scene->mass[k / 3] * state->velocities[k] * state->velocities[k];
    }
    sn_release(partial);
    return sum;
}

/* Energy after three periods at 24 steps a period, over that of the start. */
static double kept_energy(SnContext *context, const Scene *scene, SnScheme scheme)
{
    double squared, *shape = lowest_mode(context, scene, &squared);
    SnState state = state_at_rest(context, scene);
    for (size_t k = 0; k < scene->n; k++) {
        state.velocities[k] = 0.05 * shape[k];
    }
    double start = total_energy(context, scene, &state);
    advance(context, scene, scheme, 3.0 * 2.0 * SCENE_PI / sqrt(squared), 72, &state);
    double end = total_energy(context, scene, &state);
    sn_release(shape);
    sn_state_clear(&state);
    return end / start;
}

static void free_swing_keeps_its_energy_with_tr_bdf2_alone(void)
{
    SnContext context;
    sn_context_init(&context);
    Scene scene = scene_bar(&context, 4, 1, YOUNG, &sn_density_neo_hookean);
    double tr_bdf2 = kept_energy(&context, &scene, SN_SCHEME_TR_BDF2);
    CHECK(tr_bdf2 > 0.95 && tr_bdf2 < 1.001);
    CHECK(kept_energy(&context, &scene, SN_SCHEME_IMPLICIT_EULER) < 0.1); /* what the default is not */
    scene_clear(&scene);
}

/* A small swing of the lowest mode with Rayleigh damping. With TR-BDF2 it is exp(-ξωt) cos(ω_d t) at the end of two periods;
   implicit Euler adds damping of its own, so its closed form is that of the scalar recurrence. */
static void check_decay(double ratio_mass, double ratio_stiffness, SnScheme scheme)
{
    const int steps = 100;
    SnContext context;
    double squared;
    sn_context_init(&context);
    Scene scene = scene_bar(&context, 4, 1, 1e7, &sn_density_neo_hookean);
    double *shape = lowest_mode(&context, &scene, &squared), omega = sqrt(squared), speed = 0.004 * omega;
    sn_world_damp(&scene.world, 2.0 * ratio_mass * omega, 2.0 * ratio_stiffness / omega);
    double ratio = ratio_mass + ratio_stiffness, damped = omega * sqrt(1.0 - ratio * ratio);
    double duration = 2.0 * 2.0 * SCENE_PI / damped, h = duration / steps;
    SnState state = state_at_rest(&context, &scene);
    for (size_t k = 0; k < scene.n; k++) {
        state.velocities[k] = speed * shape[k];
    }
    advance(&context, &scene, scheme, duration, steps, &state);
    double position = 0.0, velocity = 1.0;
    for (int k = 0; k < steps; k++) {
        velocity = (velocity - h * squared * position) / (1.0 + h * 2.0 * ratio * omega + h * h * squared);
        position += h * velocity;
    }
    if (scheme == SN_SCHEME_TR_BDF2) {
        position = 0.0;
        velocity = exp(-ratio * omega * duration);
    }
    double found = along_mode(&scene, shape, state.velocities, NULL) / speed;
    double found_position = along_mode(&scene, shape, state.positions, scene.mesh.positions) / speed;
    CHECK_NEAR(found, velocity, 0.02 * fabs(velocity));
    CHECK_NEAR(found_position * omega, position * omega, 0.03 * (fabs(velocity) + fabs(position) * omega));
    sn_release(shape);
    sn_state_clear(&state);
    scene_clear(&scene);
}

static void damping_decays_as_its_closed_form(void)
{
    for (int scheme = 0; scheme < 2; scheme++) {
        check_decay(0.05, 0.0, scheme ? SN_SCHEME_IMPLICIT_EULER : SN_SCHEME_TR_BDF2);
        check_decay(0.0, 0.05, scheme ? SN_SCHEME_IMPLICIT_EULER : SN_SCHEME_TR_BDF2);
        check_decay(0.1, 0.1, scheme ? SN_SCHEME_IMPLICIT_EULER : SN_SCHEME_TR_BDF2);
    }
}

/* Three frames of the bar: at rest, moved and turned, moved further. The caller releases it. */
static double *moving_frames(SnContext *context, const Scene *scene)
{
    double *frames = SN_NEW(context, 3 * scene->n, double);
    for (size_t f = 0; f < 3; f++) {
        double turn = 0.2 * (double)f;
        for (size_t v = 0; v < scene->mesh.vertex_count; v++) {
            const double *x = scene->mesh.positions + 3 * v;
            double *out = frames + f * scene->n + 3 * v;
            out[0] = cos(turn) * x[0] - sin(turn) * x[2] + 0.05 * (double)(f * f);
            out[1] = x[1];
            out[2] = sin(turn) * x[0] + cos(turn) * x[2];
        }
    }
    return frames;
}

/* Everything switched on: gravity, drive, damping, Keep Pose, a moving input. Five steps. */
static SnState five_steps(SnContext *context, Scene *scene, const double *frames, SnStepper *stepper)
{
    SnWorld *world = &scene->world;
    SnInputCurve curve = {scene->mesh.vertex_count, NULL, frames, frames + scene->n, frames + 2 * scene->n, 1.0 / 24.0, NULL};
    SnState state = state_at_rest(context, scene);
    SnStepReport report = {0};
    scene->driver.gravity[2] = -9.81;
    sn_world_damp(world, 1.0, 1e-3);
    scene_keep(context, scene, 0.7);
    for (size_t v = 0; v < world->vertex_count; v++) {
        scene->drive[v] = 10.0 * world->mass[v];
    }
    sn_stepper_forget(stepper);
    for (int k = 0; k < 5; k++) {
        CHECK(scene_step(context, scene, stepper, &curve, 0.2 * k, k == 4 ? 1.0 : 0.2 * (k + 1), &state, &report) == SN_OK);
    }
    return state;
}

static void steps_have_the_same_bits_on_any_number_of_threads(void)
{
    SnContext context;
    SnState states[3];
    static const int THREADS[3] = {1, 2, 4};
    sn_context_init(&context);
    Scene scene = scene_from(&context, scene_box(&context, 9, 5, 5, 0.1), 1, YOUNG, &sn_density_neo_hookean);
    double *frames = moving_frames(&context, &scene);
    for (int i = 0; i < 3; i++) {
        SnStepper *stepper = stepper_new(&context, &scene, SN_SCHEME_TR_BDF2);
        sn_parallel_set_thread_count(THREADS[i]);
        states[i] = five_steps(&context, &scene, frames, stepper);
        CHECK(scene_same_bits(states[i].positions, states[0].positions, scene.n));
        CHECK(scene_same_bits(states[i].velocities, states[0].velocities, scene.n));
        sn_stepper_destroy(stepper);
    }
    sn_parallel_set_thread_count(0);
    CHECK(scene_distance(states[0].positions, frames + scene.n, scene.n) > 1e-3);
    for (int i = 0; i < 3; i++) {
        sn_state_clear(&states[i]);
    }
    sn_release(frames);
    scene_clear(&scene);
}

static void forgetting_makes_a_checkpoint_to_the_bit(void)
{
    SnContext context;
    sn_context_init(&context);
    Scene scene = scene_bar(&context, 4, 1, YOUNG, &sn_density_stvk);
    double *frames = moving_frames(&context, &scene);
    SnStepper *used = stepper_new(&context, &scene, SN_SCHEME_TR_BDF2), *new = stepper_new(&context, &scene, SN_SCHEME_TR_BDF2);
    SnState other = five_steps(&context, &scene, frames, used);
    SnState first = five_steps(&context, &scene, frames, used), second = five_steps(&context, &scene, frames, new);
    CHECK(scene_same_bits(first.positions, second.positions, scene.n));
    CHECK(scene_same_bits(first.velocities, second.velocities, scene.n));
    sn_state_clear(&other);
    sn_state_clear(&first);
    sn_state_clear(&second);
    sn_stepper_destroy(used);
    sn_stepper_destroy(new);
    sn_stepper_destroy(NULL);
    sn_release(frames);
    scene_clear(&scene);
}

/* Where a free, turning, twisted bar of a metre is after a hundred steps of 1/60 s; with `full`, by full Newton from fresh factors. */
static double *hundred_steps(SnContext *context, const Scene *scene, SnScheme scheme, int full)
{
    SnStepper *stepper;
    SnState state = state_at_rest(context, scene);
    SnInputCurve curve = still(scene, 1.0 / 60.0);
    SnStepReport report = {0};
    const SnStepSettings settings = {.scheme = scheme, .step_tolerance = full ? 1e-9 : 1e-6};
    CHECK(sn_stepper_create(context, &scene->world, &settings, &stepper) == SN_OK);
    for (size_t v = 0; v < scene->mesh.vertex_count; v++) {
        const double *x = scene->mesh.positions + 3 * v;
        state.velocities[3 * v] = -x[1];
        state.velocities[3 * v + 1] = x[0] - 4.0 * (x[0] - 0.5) * x[2];
        state.velocities[3 * v + 2] = 4.0 * (x[0] - 0.5) * x[1];
    }
    for (int k = 0; k < 100; k++) {
        if (full) {
            sn_stepper_forget(stepper);
        }
        CHECK(scene_step(context, scene, stepper, &curve, 0.0, 1.0, &state, &report) == SN_OK);
    }
    CHECK(full ? report.factorizations >= 100 : report.factorizations < 50); /* else the two would be the same */
    double *positions = scene_copy(context, state.positions, scene->n);
    sn_stepper_destroy(stepper);
    sn_state_clear(&state);
    return positions;
}

static void a_kept_factor_leads_where_full_newton_does(void)
{
    static const SnScheme SCHEMES[2] = {SN_SCHEME_IMPLICIT_EULER, SN_SCHEME_TR_BDF2};
    SnContext context;
    sn_context_init(&context);
    for (int k = 0; k < 2; k++) {
        Scene scene = scene_from(&context, scene_box(&context, 10, 3, 3, 0.1), 0, YOUNG, &sn_density_neo_hookean);
        double *kept = hundred_steps(&context, &scene, SCHEMES[k], 0), *full = hundred_steps(&context, &scene, SCHEMES[k], 1);
        CHECK(scene_distance(kept, full, scene.n) < 1e-4);
        CHECK(scene_distance(full, scene.mesh.positions, scene.n) > 0.1);
        sn_release(kept);
        sn_release(full);
        scene_clear(&scene);
    }
}

static void step_allocates_nothing(void)
{
    SnContext context;
    sn_context_init(&context);
    Scene scene = scene_from(&context, scene_box(&context, 6, 3, 3, 0.1), 1, YOUNG, &sn_density_neo_hookean);
    double *frames = moving_frames(&context, &scene);
    SnStepper *stepper = stepper_new(&context, &scene, SN_SCHEME_TR_BDF2);
    SnInputCurve curve = {scene.mesh.vertex_count, NULL, frames, frames + scene.n, frames + 2 * scene.n, 1.0 / 24.0, NULL};
    SnState state = state_at_rest(&context, &scene);
    SnStepReport report = {0};
    sn_world_damp(&scene.world, 0.0, 1e-3);
    scene_keep(&context, &scene, 0.7);
    context.allocations_until_failure = 0; /* the next one would fail */
    CHECK(scene_step(&context, &scene, stepper, &curve, 0.0, 0.5, &state, &report) == SN_OK);
    CHECK(scene_step(&context, &scene, stepper, &curve, 0.5, 1.0, &state, &report) == SN_OK);
    CHECK(report.factorizations > 0);
    sn_state_clear(&state);
    sn_stepper_destroy(stepper);
    sn_release(frames);
    scene_clear(&scene);
}

static void followed_vertices_lie_on_the_curve(void)
{
    for (int scheme = 0; scheme < 2; scheme++) {
        SnContext context;
        sn_context_init(&context);
        Scene scene = scene_bar(&context, 3, 1, YOUNG, &sn_density_neo_hookean);
        double *frames = moving_frames(&context, &scene), *velocity = SN_NEW(&context, scene.n, double);
        SnStepper *stepper = stepper_new(&context, &scene, scheme ? SN_SCHEME_IMPLICIT_EULER : SN_SCHEME_TR_BDF2);
        SnState state = five_steps(&context, &scene, frames, stepper);
        SnInputCurve curve = {scene.mesh.vertex_count, NULL, frames, frames + scene.n, frames + 2 * scene.n, 1.0 / 24.0, NULL};
        sn_input_curve_evaluate(&curve, 1.0, NULL, velocity);
        int exact = 1, moved = 0;
        for (size_t k = 0; k < scene.n; k++) {
            if (scene.fixed[k / 3]) {
                exact &= state.positions[k] == frames[scene.n + k] && state.velocities[k] == velocity[k];
            } else {
                moved |= fabs(state.positions[k] - frames[scene.n + k]) > 1e-4;
            }
        }
        CHECK(exact && moved);
        sn_release(frames);
        sn_release(velocity);
        sn_state_clear(&state);
        sn_stepper_destroy(stepper);
        scene_clear(&scene);
    }
}

static void failed_step_leaves_the_state_as_it_was(void)
{
    SnContext context;
    SnStepReport report = {0};
    sn_context_init(&context);
    Scene scene = scene_bar(&context, 3, 1, YOUNG, &sn_density_neo_hookean);
    double *frames = moving_frames(&context, &scene);
    SnStepper *stepper = stepper_new(&context, &scene, SN_SCHEME_TR_BDF2);
    SnState state = five_steps(&context, &scene, frames, stepper);
    double *positions = scene_copy(&context, state.positions, scene.n);
    double *velocities = scene_copy(&context, state.velocities, scene.n);
    SnInputCurve curve = {scene.mesh.vertex_count, NULL, frames, frames + scene.n, NULL, 1.0 / 24.0, NULL};
    frames[scene.n] = NAN;
    CHECK(scene_step(&context, &scene, stepper, &curve, 0.0, 1.0, &state, &report) == SN_NUMERIC_FAILURE);
    CHECK(context.message[0] != '\0');
    CHECK(scene_same_bits(state.positions, positions, scene.n) && scene_same_bits(state.velocities, velocities, scene.n));
    sn_release(positions);
    sn_release(velocities);
    sn_release(frames);
    sn_state_clear(&state);
    sn_stepper_destroy(stepper);
    scene_clear(&scene);
}

static void kept_pose_stays_under_gravity_and_a_loose_one_sags(void)
{
    for (int keep = 0; keep < 2; keep++) {
        SnContext context;
        sn_context_init(&context);
        Scene scene = scene_bar(&context, 4, 1, YOUNG, &sn_density_neo_hookean);
        SnState state = state_at_rest(&context, &scene);
        scene.driver.gravity[2] = -9.81;
        scene_keep(&context, &scene, keep);
        sn_world_damp(&scene.world, 5.0, 0.0);
        advance(&context, &scene, SN_SCHEME_TR_BDF2, 0.5, 24, &state);
        double moved = scene_distance(state.positions, scene.mesh.positions, scene.n);
        CHECK(keep ? moved < 1e-9 : moved > 0.01);
        sn_state_clear(&state);
        scene_clear(&scene);
    }
}

static void wild_states_calm_down_at_any_step(void)
{
    static const double INTERVALS[] = {1e-4, 1.0 / 24.0, 10.0};
    for (int trial = 0; trial < 24; trial++) {
        SnContext context;
        uint64_t random = (uint64_t)(trial % 12);
        SnStepReport report = {0};
        sn_context_init(&context);
        Scene scene = scene_bar(&context, 3, 1, trial % 4 < 2 ? 1e2 : 1e9, trial % 2 ? &sn_density_stvk : &sn_density_neo_hookean);
        SnStepSettings settings = {.scheme = trial < 12 ? SN_SCHEME_TR_BDF2 : SN_SCHEME_IMPLICIT_EULER, .step_tolerance = 1e-5};
        SnStepper *stepper;
        SnState state = state_at_rest(&context, &scene);
        SnInputCurve curve = still(&scene, INTERVALS[trial / 4 % 3]);
        CHECK(sn_stepper_create(&context, &scene.world, &settings, &stepper) == SN_OK);
        for (size_t k = 0; k < scene.n; k++) { /* inside out here and there */
            state.positions[k] += scene.fixed[k / 3] ? 0.0 : 0.2 * scene_signed(&random);
        }
        double start = total_energy(&context, &scene, &state), before = start;
        for (int step = 0; step < 10; step++) {
            CHECK(scene_step(&context, &scene, stepper, &curve, 0.0, 1.0, &state, &report) == SN_OK);
            double after = total_energy(&context, &scene, &state);
            CHECK(after <= (trial < 12 ? 1.6 : 1.001) * before + 1e-10 * start);
            before = after;
        }
        CHECK(before <= 1.05 * start);
        sn_stepper_destroy(stepper);
        sn_state_clear(&state);
        scene_clear(&scene);
    }
}

int main(void)
{
    input_curve_is_exact_and_smooth_at_the_frames();
    the_press_of_frames_is_even_and_gives_the_speed_that_the_curve_gains();
    schemes_have_their_order_in_time();
    free_swing_keeps_its_energy_with_tr_bdf2_alone();
    damping_decays_as_its_closed_form();
    steps_have_the_same_bits_on_any_number_of_threads();
    forgetting_makes_a_checkpoint_to_the_bit();
    a_kept_factor_leads_where_full_newton_does();
    step_allocates_nothing();
    followed_vertices_lie_on_the_curve();
    failed_step_leaves_the_state_as_it_was();
    kept_pose_stays_under_gravity_and_a_loose_one_sags();
    wild_states_calm_down_at_any_step();
    return CHECK_RESULT();
}
