/* Flesh whose stiffness changes (methods, section 4 "Materials"): what it is, that it keeps to its static curve, and that it is not fed. */
#include "scenes.h"

#include "dynamics/statics.h"

#define YOUNG 2e4
#define FIRM_YOUNG 3e5 /* it swings at about 3 Hz */
#define LENGTH 5
#define SIZE 0.5
#define INTERVAL (1.0 / 48.0)
#define SUBSTEPS 2

/* A bar that is held at x = 0 in a pose, with factors of its stiffness. */
typedef struct Flesh {
    Scene scene;
    SnFirmness firmness;
    SnStepper *stepper;
    SnState state;
    double *pose;             /* where the input stands still */
    int32_t *sources;         /* tets */
    double *begin, *end;      /* tets */
    SnInputDriver driver;
    int is_transported;       /* else the place is kept where stiffness changes */
    SnStepReport report;
} Flesh;

static SnStatus prepare_as_is(SnContext *context, void *self, const SnWorld *world, const SnBody *body, double fraction, SnStage *stage)
{
    Flesh *flesh = self;
    SnDriver driver = sn_input_driver(&flesh->driver);
    SnStatus status = driver.prepare(context, driver.self, world, body, fraction, stage);
    stage->varies = flesh->is_transported ? stage->varies : 0;
    return status;
}

static void flesh_open(SnContext *context, Flesh *flesh, double young, double keep, double tighten, SnScheme scheme)
{
    const SnStepSettings settings = {.scheme = scheme, .step_tolerance = 1e-9};
    *flesh = (Flesh){.scene = scene_bar(context, LENGTH, 1, young, &sn_density_neo_hookean), .is_transported = 1};
    Scene *scene = &flesh->scene;
    size_t tets = scene->elements->count;
    scene_keep(context, scene, keep);
    CHECK(sn_firmness_init(context, scene->elements, scene->mesh.vertex_count, tighten, &flesh->firmness) == SN_OK);
    flesh->pose = scene_copy(context, scene->mesh.positions, scene->n);
    flesh->sources = SN_NEW(context, tets, int32_t);
    flesh->begin = SN_NEW(context, tets, double);
    flesh->end = SN_NEW(context, tets, double);
    for (size_t e = 0; e < tets; e++) {
        flesh->sources[e] = (int32_t)e;
        flesh->begin[e] = flesh->end[e] = 1.0;
    }
    flesh->driver = scene->driver;
    flesh->driver.firmness = &flesh->firmness;
    CHECK(sn_stepper_create(context, &scene->world, &settings, &flesh->stepper) == SN_OK);
    CHECK(sn_state_init(context, scene->mesh.vertex_count, &flesh->state) == SN_OK);
    memcpy(flesh->state.positions, flesh->pose, scene->n * sizeof *flesh->pose);
}

static void flesh_close(Flesh *flesh)
{
    sn_stepper_destroy(flesh->stepper);
    sn_state_clear(&flesh->state);
    sn_firmness_clear(&flesh->firmness);
    sn_release(flesh->pose);
    sn_release(flesh->sources);
    sn_release(flesh->begin);
    sn_release(flesh->end);
    scene_clear(&flesh->scene);
}

/* One interval in which the stiffness goes from `begin` to `end` times what it was built with; 0: nothing is told. */
static void flesh_advance(SnContext *context, Flesh *flesh, double begin, double end)
{
    SnDriver driver = {flesh, prepare_as_is};
    SnInputCurve curve = {flesh->scene.mesh.vertex_count, flesh->pose, flesh->pose, flesh->pose, flesh->pose, INTERVAL, NULL};
    for (size_t e = 0; e < flesh->scene.elements->count; e++) {
        flesh->begin[e] = begin;
        flesh->end[e] = end;
    }
    flesh->driver.curve = &curve;
    sn_firmness_lead(&flesh->firmness, flesh->sources, begin > 0.0 ? flesh->begin : NULL, begin > 0.0 ? flesh->end : NULL);
    sn_stepper_forget(flesh->stepper);
    for (int k = 0; k < SUBSTEPS; k++) {
        CHECK(sn_stepper_step(context, flesh->stepper, &driver, (double)k / SUBSTEPS, (k + 1.0) / SUBSTEPS, INTERVAL, &flesh->state,
                              &flesh->report) == SN_OK);
    }
}

static void kick(Flesh *flesh, double speed)
{
    for (size_t v = 0; v < flesh->scene.mesh.vertex_count; v++) {
        double x = flesh->scene.mesh.positions[3 * v] / SIZE;
        flesh->state.velocities[3 * v + 2] += speed * x * x;
    }
}

static void a_factor_is_as_good_as_another_modulus(void)
{
    SnContext context;
    sn_context_init(&context);
    for (int scheme = 0; scheme < 2; scheme++) {
        Flesh built, told, plain;
        flesh_open(&context, &built, 3.0 * YOUNG, 1.0, 0.0, (SnScheme)scheme);
        flesh_open(&context, &told, YOUNG, 1.0, 0.0, (SnScheme)scheme);
        flesh_open(&context, &plain, YOUNG, 1.0, 0.0, (SnScheme)scheme);
        Flesh *all[] = {&built, &told, &plain};
        for (int k = 0; k < 3; k++) {
            sn_world_damp(&all[k]->scene.world, 1.0, 5e-3);
            kick(all[k], 1.0);
        }
        for (int f = 0; f < 24; f++) {
            flesh_advance(&context, &built, 0.0, 0.0);
            flesh_advance(&context, &told, 3.0, 3.0);
            flesh_advance(&context, &plain, 0.0, 0.0);
        }
        CHECK(scene_distance(told.state.positions, built.state.positions, built.scene.n) < 1e-7 * SIZE);
        CHECK(scene_distance(told.state.velocities, built.state.velocities, built.scene.n) < 1e-5);
        CHECK(scene_distance(plain.state.positions, built.state.positions, built.scene.n) > 1e-3 * SIZE);
        flesh_close(&built);
        flesh_close(&told);
        flesh_close(&plain);
    }
}

static void nothing_told_and_ones_leave_the_bits(void)
{
    SnContext context;
    sn_context_init(&context);
    Flesh without, untold, ones;
    Flesh *all[] = {&without, &untold, &ones};
    for (int k = 0; k < 3; k++) {
        flesh_open(&context, all[k], YOUNG, 0.7, 0.0, SN_SCHEME_TR_BDF2);
        all[k]->scene.driver.gravity[2] = all[k]->driver.gravity[2] = -9.81;
        kick(all[k], 1.0);
    }
    without.driver.firmness = NULL;
    for (int f = 0; f < 12; f++) {
        flesh_advance(&context, &without, 0.0, 0.0);
        flesh_advance(&context, &untold, 0.0, 0.0);
        flesh_advance(&context, &ones, 1.0, 1.0);
    }
    for (int k = 1; k < 3; k++) {
        CHECK(scene_same_bits(without.state.positions, all[k]->state.positions, without.scene.n));
        CHECK(scene_same_bits(without.state.velocities, all[k]->state.velocities, without.scene.n));
    }
    for (int k = 0; k < 3; k++) {
        flesh_close(all[k]);
    }
}

static void factors_are_linear_in_between_and_clamped(void)
{
    SnContext context;
    sn_context_init(&context);
    Flesh flesh;
    flesh_open(&context, &flesh, YOUNG, 1.0, 0.0, SN_SCHEME_TR_BDF2);
    const SnTetElements *elements = flesh.scene.elements;
    size_t last = elements->count - 1;
    flesh.sources[0] = (int32_t)last; /* tets take what stands at their place in the cage */
    flesh.sources[last] = 0;
    flesh.begin[last] = 2.0;
    flesh.end[last] = 6.0;
    flesh.begin[0] = 1e-3;
    flesh.end[0] = 1e3;
    sn_firmness_lead(&flesh.firmness, flesh.sources, flesh.begin, flesh.end);
    CHECK(sn_firmness_acts(&flesh.firmness) && sn_firmness_varies(&flesh.firmness));
    CHECK(sn_firmness_prepare(&flesh.firmness, NULL, 0.25) == 1 && sn_firmness_prepare(&flesh.firmness, NULL, 0.25) == 0);
    CHECK_NEAR(flesh.firmness.mu[0], 3.0 * elements->mu[0], 1e-12 * elements->mu[0]);
    CHECK_NEAR(flesh.firmness.lambda[0], 3.0 * elements->lambda[0], 1e-12 * elements->lambda[0]);
    CHECK_NEAR(flesh.firmness.mu[1], elements->mu[1], 0.0);
    CHECK(sn_firmness_prepare(&flesh.firmness, NULL, 0.0) == 1);
    CHECK_NEAR(flesh.firmness.mu[last], 0.1 * elements->mu[last], 1e-12 * elements->mu[last]);
    CHECK(sn_firmness_prepare(&flesh.firmness, NULL, 1.0) == 1);
    CHECK_NEAR(flesh.firmness.mu[last], 20.0 * elements->mu[last], 1e-12 * elements->mu[last]);
    flesh_close(&flesh);
}

/* A pose that is stretched along x, and turned. */
static void stretch(Flesh *flesh, double by, double angle)
{
    for (size_t v = 0; v < flesh->scene.mesh.vertex_count; v++) {
        const double *rest = flesh->scene.mesh.positions + 3 * v;
        double x = (1.0 + by) * rest[0], c = cos(angle), s = sin(angle);
        flesh->pose[3 * v] = c * x - s * rest[1];
        flesh->pose[3 * v + 1] = s * x + c * rest[1];
        flesh->pose[3 * v + 2] = rest[2];
    }
}

static void tighten_makes_what_is_strained_firmer(void)
{
    static const double BY[] = {0.0, 0.1, -0.15, 0.3, 0.6}, WANTED[] = {1.0, 1.0 + 2.0 / 3.0, 2.0, 3.0, 3.0};
    SnContext context;
    sn_context_init(&context);
    Flesh flesh;
    flesh_open(&context, &flesh, YOUNG, 0.0, 2.0, SN_SCHEME_TR_BDF2);
    const SnTetElements *elements = flesh.scene.elements;
    SnInputCurve curve = {flesh.scene.mesh.vertex_count, flesh.pose, flesh.pose, flesh.pose, flesh.pose, INTERVAL, NULL};
    for (int k = 0; k < 5; k++) {
        for (int firm = 1; firm < 3; firm++) {
            for (size_t e = 0; e < elements->count; e++) {
                flesh.begin[e] = flesh.end[e] = firm;
            }
            stretch(&flesh, BY[k], 0.7);
            sn_firmness_lead(&flesh.firmness, flesh.sources, flesh.begin, flesh.end);
            sn_firmness_prepare(&flesh.firmness, &curve, 0.5);
            for (size_t e = 0; e < elements->count; e++) {
                CHECK_NEAR(flesh.firmness.mu[e], firm * WANTED[k] * elements->mu[e], 1e-9 * elements->mu[e]);
            }
        }
    }
    flesh_close(&flesh);
}

/* Where flesh of a modulus comes to rest under its weight. */
static void find_sag(SnContext *context, double young, double gravity, double *positions)
{
    Scene scene = scene_bar(context, LENGTH, 1, young, &sn_density_neo_hookean);
    const double down[3] = {0.0, 0.0, gravity};
    double *loads = SN_NEW(context, scene.n, double);
    SnNewtonReport report = {0};
    SnStaticsSettings settings = {.max_rounds = 300, .step_tolerance = 1e-11};
    sn_statics_weight(&scene.world, down, loads);
    CHECK(sn_statics_solve(context, &scene.world, loads, &settings, positions, &report) == SN_OK && report.converged);
    sn_release(loads);
    scene_clear(&scene);
}

/* The farthest that flesh under its weight was from its static curve while its stiffness changed by `times` and back, over how far that goes. */
static double leave_static_curve(SnScheme scheme, double times, int is_transported, double *way)
{
    SnContext context;
    sn_context_init(&context);
    Flesh flesh;
    const int FRAMES = 20;
    double worst = 0.0;
    flesh_open(&context, &flesh, YOUNG, 0.0, 0.0, scheme);
    double *sag = scene_copy(&context, flesh.pose, flesh.scene.n), *first;
    flesh.driver.gravity[2] = -1.0;
    flesh.is_transported = is_transported;
    find_sag(&context, YOUNG, -1.0, sag);
    first = scene_copy(&context, sag, flesh.scene.n);
    memcpy(flesh.state.positions, sag, flesh.scene.n * sizeof *sag);
    *way = 0.0;
    for (int f = 0; f < FRAMES; f++) {
        double from = pow(times, 0.5 - 0.5 * cos(2.0 * SCENE_PI * f / FRAMES)), to = pow(times, 0.5 - 0.5 * cos(2.0 * SCENE_PI * (f + 1) / FRAMES));
        flesh_advance(&context, &flesh, from, to);
        find_sag(&context, to * YOUNG, -1.0, sag);
        worst = fmax(worst, scene_distance(flesh.state.positions, sag, flesh.scene.n));
        *way = fmax(*way, scene_distance(first, sag, flesh.scene.n));
    }
    CHECK(flesh.report.unconverged == 0);
    sn_release(sag);
    sn_release(first);
    flesh_close(&flesh);
    return worst;
}

static void sag_keeps_to_its_static_curve(void)
{
    for (int scheme = 0; scheme < 2; scheme++) {
        double way, off = leave_static_curve((SnScheme)scheme, 5.0, 1, &way);
        CHECK(way > 0.03 * SIZE);
        CHECK(off < 1e-6 * way);
        CHECK(leave_static_curve((SnScheme)scheme, 0.5, 1, &way) < 1e-6 * way);
        CHECK(leave_static_curve((SnScheme)scheme, 5.0, 0, &way) > 0.1 * way); /* without it, it swings */
    }
}

/* Energy over the input, J: kinetic, and stored in offsets with stiffness `firm` times what it was built with. */
static double energy_of(const Flesh *flesh, double firm, double *partial)
{
    const Scene *scene = &flesh->scene;
    double sum = firm * sn_tet_elements_energy(scene->elements, scene->elements->inverse_rest, flesh->state.positions, partial);
    for (size_t k = 0; k < scene->n; k++) {
        sum += scene->fixed[k / 3] ? 0.0 : 0.5 * scene->mass[k / 3] * flesh->state.velocities[k] * flesh->state.velocities[k];
    }
    return sum;
}

/* Kicks flesh whose stiffness swings between once and three times as firm, `ratio` times as fast as flesh swings by itself with the mean. Energy
   after 10 s, and the most in between, over that at the start. */
static void pump(double ratio, int is_transported, double *left, double *most)
{
    SnContext context;
    sn_context_init(&context);
    Flesh flesh;
    flesh_open(&context, &flesh, FIRM_YOUNG, 1.0, 0.0, SN_SCHEME_TR_BDF2);
    flesh.is_transported = is_transported;
    double *stiffness = scene_stiffness(&context, &flesh.scene, flesh.pose), *masses = scene_free_masses(&context, &flesh.scene);
    double *modes = dense_modes(&context, &flesh.scene.world.assembly.pattern, stiffness, masses);
    double *partial = SN_NEW(&context, sn_tet_elements_partial_count(flesh.scene.elements), double);
    double jiggle = sqrt(modes[0]) / (2.0 * SCENE_PI) * sqrt(2.0), damped = log(20.0) / 2.0;
    sn_world_damp(&flesh.scene.world, damped, damped / (2.0 * modes[0])); /* a Settle of 2 s at the mean */
    kick(&flesh, 0.3);
    double start = energy_of(&flesh, 1.0, partial);
    *most = 0.0;
    for (int f = 0; f * INTERVAL < 10.0; f++) {
        double from = 2.0 - cos(2.0 * SCENE_PI * ratio * jiggle * f * INTERVAL), to = 2.0 - cos(2.0 * SCENE_PI * ratio * jiggle * (f + 1) * INTERVAL);
        flesh_advance(&context, &flesh, from, to);
        *left = energy_of(&flesh, to, partial) / start;
        *most = fmax(*most, *left);
    }
    sn_release(stiffness);
    sn_release(masses);
    sn_release(modes);
    sn_release(partial);
    flesh_close(&flesh);
}

static void stiffness_that_swings_does_not_feed_motion(void)
{
    double fed = 0.0;
    for (double ratio = CHECK_IS_SLOW ? 2.0 : 1.5; ratio < (CHECK_IS_SLOW ? 2.1 : 3.6); ratio += 0.25) {
        double left, most;
        pump(ratio, 1, &left, &most);
        CHECK(most < 1.02 && left < 1e-3);
        pump(ratio, 0, &left, &most);
        fed = fmax(fed, most);
    }
    CHECK(fed > 5.0);
}

int main(void)
{
    a_factor_is_as_good_as_another_modulus();
    nothing_told_and_ones_leave_the_bits();
    factors_are_linear_in_between_and_clamped();
    tighten_makes_what_is_strained_firmer();
    sag_keeps_to_its_static_curve();
    stiffness_that_swings_does_not_feed_motion();
    return CHECK_RESULT();
}
