/* One short wild run: a body with random material, step, scheme and a violent start, and what must hold of it at every step. */
#ifndef SN_TESTS_WILD_H
#define SN_TESTS_WILD_H

#include "scenes.h"

#include "dynamics/time_step.h"

typedef enum WildStart { WILD_SQUASHED, WILD_INVERTED, WILD_COLLAPSED, WILD_SCRAMBLED, WILD_TELEPORT, WILD_STARTS } WildStart;

typedef struct WildRun {
    uint64_t seed;
    WildStart start;
    SnScheme scheme;
    double young, poisson, h;
    int finite;      /* positions and velocities are numbers */
    int bounded;     /* the energy inequality holds at every step */
    double excess;   /* the most that a step's energy went over its bound, as a fraction of it */
    int fallbacks, unconverged;
} WildRun;

static inline double wild_power(uint64_t *random, double low, double high)
{
    return low * pow(high / low, check_random(random));
}

/* Some corners are moved next to the face across, so that their tets have next to no volume at rest. */
static inline void wild_flatten(SnTetMesh *mesh, uint64_t *random)
{
    for (size_t e = 0; e < mesh->tet_count; e++) {
        if (check_random(random) > 0.1) {
            continue;
        }
        double keep[3], *corner = mesh->positions + 3 * (size_t)mesh->tets[4 * e];
        double small = pow(10.0, -2.0 - 4.0 * check_random(random)), worst = INFINITY;
        memcpy(keep, corner, sizeof keep);
        for (int a = 0; a < 3; a++) {
            double middle = 0.0;
            for (size_t i = 1; i < 4; i++) {
                middle += mesh->positions[3 * (size_t)mesh->tets[4 * e + i] + (size_t)a] / 3.0;
            }
            corner[a] = middle + small * (corner[a] - middle);
        }
        for (size_t other = 0; other < mesh->tet_count; other++) {
            worst = fmin(worst, sn_tet_mesh_volume(mesh, mesh->positions, other));
        }
        if (!(worst > 1e-12)) { /* it would turn a neighbour inside out */
            memcpy(corner, keep, sizeof keep);
        }
    }
}

/* Energy of height. */
static inline double wild_height(const Scene *scene, const SnState *state)
{
    double sum = 0.0;
    for (size_t k = 0; k < scene->n; k++) {
        sum -= scene->fixed[k / 3] ? 0.0 : scene->mass[k / 3] * scene->driver.gravity[k % 3] * state->positions[k];
    }
    return sum;
}

/* Kinetic, elastic and height energy of a state, the first of the velocities relative to `old_velocities`. */
static inline double wild_energy(const Scene *scene, const SnState *state, const double *old_velocities, double *partial)
{
    const SnTetElements *elements = scene->elements;
    double sum = sn_tet_elements_energy(elements, elements->inverse_rest, state->positions, partial) + wild_height(scene, state);
    for (size_t k = 0; k < scene->n; k++) {
        if (!scene->fixed[k / 3]) {
            double v = state->velocities[k] - (old_velocities ? old_velocities[k] : 0.0);
            sum += 0.5 * scene->mass[k / 3] * v * v;
        }
    }
    return sum;
}

static inline void wild_distort(WildStart start, const Scene *scene, uint64_t *random, double *x)
{
    for (size_t v = 0; v < scene->mesh.vertex_count; v++) {
        double *p = x + 3 * v;
        if (scene->fixed[v]) {
            continue;
        }
        for (int a = 0; a < 3; a++) {
            p[a] = start == WILD_SCRAMBLED    ? scene_signed(random)
                   : start == WILD_COLLAPSED  ? 0.05
                   : start == WILD_INVERTED   ? (a == 1 ? -p[a] : p[a])
                   : start == WILD_SQUASHED   ? (a == 2 ? 0.02 * p[a] : p[a])
                                              : p[a];
        }
    }
}

/* An implicit Euler step's bound: E(new) <= E(old) with the fixed vertices moved, that is
   1/2 |dv|² + Psi_new <= KE_old + Psi_old + work. */
static inline WildRun wild_run(uint64_t seed, int steps)
{
    SnContext context;
    uint64_t random = seed * 7919 + 1;
    WildRun run = {.seed = seed, .start = (WildStart)(seed % WILD_STARTS), .scheme = (SnScheme)(seed / WILD_STARTS % 2),
                   .finite = 1, .bounded = 1};
    run.young = wild_power(&random, 1e2, 1e10);
    run.poisson = 0.49 * check_random(&random);
    run.h = wild_power(&random, 1e-4, 1.0);
    const SnDensity *energy = check_random(&random) < 0.5 ? &sn_density_neo_hookean : &sn_density_stvk;
    sn_context_init(&context);
    SnTetMesh mesh = scene_box(&context, 3, 2, 1, 0.1);
    if (check_random(&random) < 0.3) {
        wild_flatten(&mesh, &random);
    }
    Scene scene = scene_from(&context, mesh, check_random(&random) < 0.7 || run.start == WILD_TELEPORT, run.young, energy);
    for (size_t e = 0; e < scene.elements->count; e++) {
        sn_tet_elements_set_material(scene.elements, e, run.young, run.poisson);
    }
    scene.driver.gravity[2] = check_random(&random) < 0.5 ? -9.81 : 0.0;
    double drag = check_random(&random) < 0.3 ? 2.0 : 0.0, damping = check_random(&random) < 0.3 ? 0.02 : 0.0;
    sn_world_damp(&scene.world, drag, damping);

    double *partial = SN_NEW(&context, sn_tet_elements_partial_count(scene.elements), double);
    double *moved = scene_copy(&context, scene.mesh.positions, scene.n), *velocities = SN_NEW(&context, scene.n, double);
    SnState state, before;
    SnStepper *stepper;
    SnStepSettings settings = {.scheme = run.scheme, .step_tolerance = 1e-5};
    CHECK(sn_state_init(&context, scene.mesh.vertex_count, &state) == SN_OK);
    CHECK(sn_state_init(&context, scene.mesh.vertex_count, &before) == SN_OK);
    CHECK(sn_stepper_create(&context, &scene.world, &settings, &stepper) == SN_OK);
    memcpy(state.positions, scene.mesh.positions, scene.n * sizeof(double));
    wild_distort(run.start, &scene, &random, state.positions);
    for (int step = 0; step < steps; step++) {
        SnStepReport report = {0};
        if (run.start == WILD_TELEPORT && step == 1) { /* the fixed vertices jump by several lengths of the body, at once */
            for (size_t k = 0; k < scene.n; k++) {
                moved[k] += k % 3 == 0 ? 2.0 : -1.0;
            }
        }
        SnInputCurve curve = {.vertex_count = scene.mesh.vertex_count, .begin = moved, .end = moved, .interval = run.h};
        memcpy(before.positions, state.positions, scene.n * sizeof(double));
        memcpy(before.velocities, state.velocities, scene.n * sizeof(double));
        for (size_t k = 0; k < scene.n; k++) { /* the work of the fixed vertices is done on free ones that stay where they are */
            before.positions[k] = scene.fixed[k / 3] ? moved[k] : before.positions[k];
        }
        double bound = wild_energy(&scene, &before, NULL, partial), start = bound - wild_height(&scene, &before);
        SnStatus status = scene_step(&context, &scene, stepper, &curve, 0.0, 1.0, &state, &report);
        if (status != SN_OK) {
            printf("seed %llu: %s\n", (unsigned long long)seed, context.message);
        }
        int euler = run.scheme == SN_SCHEME_IMPLICIT_EULER || report.fallbacks > 0;
        double reached = wild_energy(&scene, &state, euler ? before.velocities : NULL, partial), rounding = 0.0;
        for (size_t e = 0; e < scene.elements->count; e++) {
            rounding += 1e-15 * scene.elements->lambda[e] * scene.elements->volume[e];
        }
        double over = (reached - bound) / start; /* as a fraction of what was in motion and stored */
        run.finite &= status == SN_OK && isfinite(reached);
        if (reached > bound + 1e-9 * fabs(bound) + 10.0 * rounding) {
            run.excess = fmax(run.excess, over);
            run.bounded &= !euler && over < 0.0201; /* what TR-BDF2 may gain, by its own rule */
        }
        run.fallbacks += report.fallbacks;
        run.unconverged += report.unconverged;
        if (!run.finite) {
            break;
        }
    }
    sn_stepper_destroy(stepper);
    sn_state_clear(&state);
    sn_state_clear(&before);
    sn_release(partial);
    sn_release(moved);
    sn_release(velocities);
    scene_clear(&scene);
    return run;
}

/* Whether a held body, started as `start` says and left to its elastic energy alone, comes back to its rest shape to 1e-3 of size. */
static inline int wild_recovers(uint64_t seed, WildStart start, double poisson, const SnDensity *energy)
{
    SnContext context;
    SnNewton *newton;
    SnNewtonReport report = {0};
    uint64_t random = seed * 104729 + 1;
    sn_context_init(&context);
    Scene scene = scene_from(&context, scene_box(&context, 4, 2, 2, 0.1), 1, 1e5, energy);
    for (size_t e = 0; e < scene.elements->count; e++) {
        sn_tet_elements_set_material(scene.elements, e, 1e5, poisson);
    }
    double *x = scene_copy(&context, scene.mesh.positions, scene.n), *zeros = SN_NEW(&context, scene.n, double);
    wild_distort(start, &scene, &random, x);
    SnObjective objective = {.scale = 1.0,
                             .diagonal = zeros,
                             .targets = scene.mesh.positions};
    SnNewtonSettings settings = {.max_rounds = 1000, .step_tolerance = 1e-6};
    CHECK(sn_newton_create(&context, scene.world.term_count, scene.world.terms, &scene.world.assembly, &newton) == SN_OK);
    CHECK(sn_newton_minimise(&context, newton, &objective, &settings, x, &report) == SN_OK);
    int recovered = scene_distance(x, scene.mesh.positions, scene.n) <= 1e-3 * 0.4;
    sn_newton_destroy(newton);
    sn_release(x);
    sn_release(zeros);
    scene_clear(&scene);
    return recovered;
}

#endif
