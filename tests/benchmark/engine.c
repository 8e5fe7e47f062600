/* Times of the engine beside yardsticks of the same run: a textbook loop for the elements, CHOLMOD for the factorization. Prints
   lines `row,ours,yardstick,unit`, which bench.py collects. */
#include "creature.h"
#include "elephant.h"
#include "textbook.h"

#include "base/parallel.h"
#include "dynamics/fit.h"
#include "dynamics/time_step.h"
#include "math/multifrontal.h"
#include "method/enrich/enrich.h"
#include "method/enrich/rebalance.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define CREATURE_20K 67 /* cells along the body */
#define STEP_TOLERANCE 1e-6 /* metres: a hundred steps then stay within 1e-4 */

/* Wall time on all threads; or processor time on one, whose ratios hold on a busy machine too. */
static clockid_t clock_in_use = CLOCK_MONOTONIC;

static double now(void)
{
    struct timespec time;
    clock_gettime(clock_in_use, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int thread_count; /* 0: all */

static void row(const char *name, double ours, double yardstick, const char *unit)
{
    printf("%s,%.6g,%.6g,%s\n", name, ours, yardstick, unit);
    fflush(stdout);
}

static Scene body(SnContext *context, BodyShape shape, int cells, double young, const SnDensity *energy)
{
    return scene_from(context, body_mesh(context, shape, cells), 0, young, energy);
}

/* Best of several runs: what the machine can do when nobody else uses it. */
#define BEST(seconds, runs, statement)                  \
    do {                                                \
        (seconds) = INFINITY;                           \
        for (int run_ = 0; run_ < (runs); run_++) {     \
            double start_ = now();                      \
            statement;                                  \
            (seconds) = fmin((seconds), now() - start_); \
        }                                               \
    } while (0)

#include "kernels.h"
#include "touch.h"

/* Slightly deformed positions, so that nothing is special. */
static double *deformed(SnContext *context, const Scene *scene)
{
    uint64_t random = 1;
    double *x = scene_copy(context, scene->mesh.positions, scene->n);
    for (size_t k = 0; k < scene->n; k++) {
        x[k] += 0.003 * scene_signed(&random);
    }
    return x;
}

/* The yardstick computes what we do. */
static void check_textbook(SnContext *context, const SnTetElements *elements, const double *x, const double *gradients,
                           const double *stiffness)
{
    size_t forces = 12 * elements->count, entries = SN_TET_STIFFNESS * elements->count;
    double *zeros = SN_NEW(context, entries, double), *ours = SN_NEW(context, entries, double);
    double *our_gradients = SN_NEW(context, forces, double);
    sn_tet_elements_derivatives(elements, elements->inverse_rest, x, our_gradients, ours);
    CHECK(scene_distance(our_gradients, gradients, forces) < 1e-9 * scene_distance(gradients, zeros, forces));
    CHECK(scene_distance(ours, stiffness, entries) < 1e-9 * scene_distance(stiffness, zeros, entries));
    sn_release(zeros);
    sn_release(ours);
    sn_release(our_gradients);
}

static void bench_elements(SnContext *context)
{
    static const SnDensity *const ENERGIES[2] = {&sn_density_neo_hookean, &sn_density_stvk};
    double textbook = 0.0, ours, one, gather;
    for (int k = 0; k < 2; k++) {
        Scene scene = body(context, creature_has, CREATURE_20K, 1e6, ENERGIES[k]);
        const SnTetElements *elements = scene.elements;
        double *x = deformed(context, &scene), *gradients = SN_NEW(context, 12 * elements->count, double);
        double *stiffness = SN_NEW(context, SN_TET_STIFFNESS * elements->count, double);
        double *values = SN_NEW(context, scene.world.assembly.pattern.value_count, double);
        double *partial = SN_NEW(context, sn_tet_elements_partial_count(elements), double);
        if (k == 0) {
            row("tets_20k", (double)elements->count, (double)scene.mesh.vertex_count, "tets, vertices");
            BEST(textbook, 5, textbook_derivatives(elements, x, gradients, stiffness));
            check_textbook(context, elements, x, gradients, stiffness);
        }
        BEST(ours, 15, sn_tet_elements_derivatives(elements, elements->inverse_rest, x, gradients, stiffness));
        BEST(gather, 15, sn_assembly_gather_stiffness(&scene.world.assembly, stiffness, values));
        row(k ? "element_20k_stvk" : "element_20k", 1e3 * ours, 1e3 * textbook, "ms");
        sn_parallel_set_thread_count(1);
        BEST(one, 15, sn_tet_elements_derivatives(elements, elements->inverse_rest, x, gradients, stiffness));
        sn_parallel_set_thread_count(thread_count);
        row(k ? "element_20k_stvk_one_thread" : "element_20k_one_thread", 1e3 * one, 1e3 * textbook, "ms");
        BEST(ours, 15, sn_tet_elements_energy_gradient(elements, elements->inverse_rest, x, partial, gradients));
        row(k ? "energy_gradient_20k_stvk" : "energy_gradient_20k", 1e3 * ours, 0.0, "ms");
        if (k == 0) {
            row("gather_20k", 1e3 * gather, 0.0, "ms");
        }
        sn_release(x);
        sn_release(gradients);
        sn_release(stiffness);
        sn_release(values);
        sn_release(partial);
        scene_clear(&scene);
    }
}

/* Stiffness at the deformed positions plus inertia of a step h. The caller releases it. */
static double *system_matrix(SnContext *context, const Scene *scene, double h)
{
    double *x = deformed(context, scene), *values = scene_stiffness(context, scene, x);
    const SnAssembly *assembly = &scene->world.assembly;
    for (size_t k = 0; k < 3 * assembly->unknown_count; k++) {
        values[assembly->pattern.value_start[k]] += scene->mass[assembly->vertex[k / 3]] / (h * h);
    }
    sn_release(x);
    return values;
}

/* Milliseconds of one factorization by CHOLMOD: the mean of several, as the steps beside it are. */
static double cholmod_factorization(SnContext *context, const Scene *scene, int runs)
{
    double *values = system_matrix(context, scene, 1.0 / 60.0);
    SnLinearSolver *solver;
    CHECK(sn_linear_solver_create(context, &scene->world.assembly.pattern, &solver) == SN_OK);
    CHECK(sn_linear_solver_factorize(context, solver, values) == SN_OK); /* the first one allocates */
    double start = now();
    for (int run = 0; run < runs; run++) {
        CHECK(sn_linear_solver_factorize(context, solver, values) == SN_OK);
    }
    double mean = (now() - start) / runs;
    sn_linear_solver_destroy(solver);
    sn_release(values);
    return 1e3 * mean;
}

typedef struct Run {
    double milliseconds; /* a step */
    double *positions;   /* at the end */
    SnStepReport report;
} Run;

/* `steps` steps of a free body in motion. */
static Run run_body(SnContext *context, const Scene *scene, SnScheme scheme, double h, int steps, double tolerance, int forget)
{
    Run run = {0};
    SnStepper *stepper;
    SnState state;
    SnStepSettings settings = {.scheme = scheme, .step_tolerance = tolerance};
    SnInputCurve curve = {.vertex_count = scene->mesh.vertex_count,
                          .begin = scene->mesh.positions,
                          .end = scene->mesh.positions,
                          .interval = h};
    CHECK(sn_state_init(context, scene->mesh.vertex_count, &state) == SN_OK);
    CHECK(sn_stepper_create(context, &scene->world, &settings, &stepper) == SN_OK);
    body_motion(scene, 1.0, &state);
    double start = now();
    for (int k = 0; k < steps; k++) {
        if (forget) {
            sn_stepper_forget(stepper);
        }
        CHECK(scene_step(context, scene, stepper, &curve, 0.0, 1.0, &state, &run.report) == SN_OK);
    }
    run.milliseconds = 1e3 * (now() - start) / steps;
    run.positions = scene_copy(context, state.positions, scene->n);
    sn_stepper_destroy(stepper);
    sn_state_clear(&state);
    return run;
}

/* One row a scheme: time beside a CHOLMOD factorization, and the distance from full Newton (tight, each step from a fresh factor). */
static void bench_step(SnContext *context, const char *name, double young, SnScheme scheme, const SnDensity *energy)
{
    const double h = 1.0 / 60.0;
    const int steps = 100;
    char label[64];
    Scene scene = body(context, creature_has, CREATURE_20K, young, energy);
    double before = cholmod_factorization(context, &scene, 20);
    Run run = run_body(context, &scene, scheme, h, steps, STEP_TOLERANCE, 0);
    double after = cholmod_factorization(context, &scene, 20);
    row(name, run.milliseconds, 0.5 * (before + after), "ms");
    Run exact = run_body(context, &scene, scheme, h, steps, 1e-8, 1);
    snprintf(label, sizeof label, "%s_error", name);
    row(label, scene_distance(run.positions, exact.positions, scene.n), 1e-4, "of size");
    snprintf(label, sizeof label, "%s_rounds", name);
    row(label, (double)run.report.rounds / steps, 0.0, "a step");
    snprintf(label, sizeof label, "%s_factorizations", name);
    row(label, (double)run.report.factorizations / steps, 0.0, "a step");
    sn_release(run.positions);
    sn_release(exact.positions);
    scene_clear(&scene);
}

static void bench_steps(SnContext *context)
{
    bench_step(context, "step_20k", 1e6, SN_SCHEME_IMPLICIT_EULER, &sn_density_neo_hookean);
    bench_step(context, "step_20k_soft", 1e5, SN_SCHEME_IMPLICIT_EULER, &sn_density_neo_hookean);
    bench_step(context, "step_20k_stvk", 1e6, SN_SCHEME_IMPLICIT_EULER, &sn_density_stvk);
    bench_step(context, "step_20k_tr_bdf2", 1e6, SN_SCHEME_TR_BDF2, &sn_density_neo_hookean);
    bench_step(context, "step_20k_tr_bdf2_soft", 1e5, SN_SCHEME_TR_BDF2, &sn_density_neo_hookean);
}

static void bench_factorization(SnContext *context)
{
    Scene scene = body(context, creature_has, CREATURE_20K, 1e6, &sn_density_neo_hookean);
    double *values = system_matrix(context, &scene, 1.0 / 60.0), *x = SN_NEW(context, scene.n, double), ours, solve, direct_solve;
    double yardstick;
    SnLinearSolver *solver;
    SnMultifrontal *quick;
    CHECK(sn_linear_solver_create(context, &scene.world.assembly.pattern, &solver) == SN_OK);
    BEST(yardstick, 15, sn_linear_solver_factorize(context, solver, values));
    CHECK(sn_multifrontal_create(context, &scene.world.assembly.pattern, solver, &quick) == SN_OK);
    BEST(ours, 15, sn_multifrontal_factorize(quick, values));
    BEST(solve, 15, sn_multifrontal_solve(quick, scene.mesh.positions, x));
    BEST(direct_solve, 15, sn_linear_solver_solve(context, solver, scene.mesh.positions, x));
    row("factorization_20k", 1e3 * ours, 1e3 * yardstick, "ms");
    row("solve_20k", 1e3 * solve, 1e3 * direct_solve, "ms");
    sn_multifrontal_destroy(quick);
    sn_linear_solver_destroy(solver);
    sn_release(values);
    sn_release(x);
    scene_clear(&scene);
}

/* Milliseconds a step over growing families; the exponent is the slope between the smallest and the largest of the creatures. */
static void bench_growth(SnContext *context, int largest)
{
    static const struct { const char *name; BodyShape shape; int cells; } FAMILY[] = {
        {"growth_creature_5k", creature_has, 42},   {"growth_creature_20k", creature_has, 67},
        {"growth_creature_80k", creature_has, 107}, {"growth_creature_300k", creature_has, 165},
        {"growth_ball_5k", ball_has, 30},           {"growth_ball_20k", ball_has, 47},
        {"growth_ball_80k", ball_has, 75},
    };
    double first_size = 0.0, first_time = 0.0, exponent = 0.0;
    for (size_t k = 0; k < sizeof FAMILY / sizeof *FAMILY; k++) {
        if (FAMILY[k].cells > largest) {
            continue;
        }
        Scene scene = body(context, FAMILY[k].shape, FAMILY[k].cells, 1e6, &sn_density_neo_hookean);
        double tets = (double)scene.mesh.tet_count;
        Run run = run_body(context, &scene, SN_SCHEME_IMPLICIT_EULER, 1.0 / 60.0, 100, STEP_TOLERANCE, 0);
        row(FAMILY[k].name, run.milliseconds, 0.0, "ms a step");
        if (FAMILY[k].shape == creature_has && first_size > 0.0) {
            exponent = log(run.milliseconds / first_time) / log(tets / first_size);
        } else if (first_size == 0.0) {
            first_size = tets;
            first_time = run.milliseconds;
        }
        sn_release(run.positions);
        scene_clear(&scene);
    }
    row("growth_exponent", exponent, 1.2, "");
    struct rusage usage;
    CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
    row("growth_memory", 1e-6 * (double)usage.ru_maxrss, 24.0, "GB");
}

/* Balance after the bake: one frame of a body that is bent and shaken, half way back. */
static void bench_rebalance(SnContext *context)
{
    SnTetMesh mesh = body_mesh(context, creature_has, CREATURE_20K);
    size_t count = mesh.vertex_count;
    SnEmbedding embedding;
    SnRebalance *rebalance;
    double *areas = SN_NEW(context, count, double), *follow = SN_NEW(context, count, double);
    double *simulated = SN_NEW(context, 3 * count, double), *result = SN_NEW(context, 3 * count, double), create, frame, slide;
    uint64_t random = 1;
    CHECK(sn_embedding_build(context, &mesh, count, mesh.positions, &embedding) == SN_OK);
    for (size_t v = 0; v < count; v++) {
        const double *x = mesh.positions + 3 * v;
        areas[v] = 1.0;
        follow[v] = v % 100 == 0;
        simulated[3 * v] = cos(x[2]) * x[0] - sin(x[2]) * x[1] + 0.003 * scene_signed(&random);
        simulated[3 * v + 1] = sin(x[2]) * x[0] + cos(x[2]) * x[1] + 0.003 * scene_signed(&random);
        simulated[3 * v + 2] = x[2];
    }
    SnCagedBody body = {.cage = &mesh, .embedding = &embedding, .areas = areas};
    SnEnrichPaint paint = {.follow = follow};
    BEST(create, 1, CHECK(sn_rebalance_create(context, &body, &paint, &rebalance) == SN_OK));
#define FRAME CHECK(sn_rebalance_frame(context, rebalance, mesh.positions, simulated, 0.5, result) == SN_OK)
    BEST(frame, 30, simulated[0] += 1e-6; FRAME); /* never the same one again: what it keeps of it is of no use */
    BEST(slide, 30, FRAME);
#undef FRAME
    row("rebalance_create_20k", 1e3 * create, 0.0, "ms");
    row("rebalance_frame_20k", 1e3 * frame, 5.0, "ms");
    row("rebalance_slide_20k", 1e3 * slide, 5.0, "ms");
    sn_rebalance_destroy(rebalance);
    sn_embedding_clear(&embedding);
    sn_tet_mesh_clear(&mesh);
    sn_release(areas);
    sn_release(follow);
    sn_release(simulated);
    sn_release(result);
}

#define ELEPHANT_FRAMES 24

/* Fits all frames, one after the other (frames x n). Returns seconds a frame, without the first, which starts from the rest shape. */
static double fit_elephant(SnContext *context, const Elephant *elephant, const SnFitSettings *settings, double *fitted, int *rounds)
{
    SnFit *fit;
    SnFitReport report;
    double *surface = SN_NEW(context, elephant->t, double), seconds = 0.0;
    CHECK(sn_fit_create(context, &elephant->cage, &elephant->embedding, elephant->areas, settings, &fit) == SN_OK);
    for (int k = 0; k < ELEPHANT_FRAMES; k++) {
        double *here = fitted + (size_t)k * elephant->n;
        elephant_pose(elephant, k, surface);
        if (k > 0) {
            memcpy(here, here - elephant->n, elephant->n * sizeof *here);
        }
        double start = now();
        CHECK(sn_fit_frame(context, fit, surface, k > 0, k > 1 ? here - 2 * elephant->n : NULL, here, &report) == SN_OK);
        seconds += k > 0 ? now() - start : 0.0;
        *rounds += k > 0 ? report.rounds : 0;
    }
    sn_fit_destroy(fit);
    sn_release(surface);
    return seconds / (ELEPHANT_FRAMES - 1);
}

/* Simulates the fitted frames, keeping the cage of each (frames x n). Returns seconds a frame. */
static double simulate_elephant(SnContext *context, const Elephant *elephant, const SnEnrichSettings *settings, const double *fitted,
                                double *simulated, SnStepReport *report)
{
    SnEnrich *enrich;
    SnState state;
    SnEnrichPaint paint = {.follow = elephant->follow};
    size_t n = elephant->n, bytes = n * sizeof *simulated, repaired;
    double seconds = 0.0;
    SnCagedBody elephant_body = {.cage = &elephant->cage, .embedding = &elephant->embedding, .areas = elephant->areas};
    CHECK(sn_enrich_create(context, &elephant_body, &paint, settings, &enrich) == SN_OK);
    CHECK(sn_state_init(context, elephant->cage.vertex_count, &state) == SN_OK);
    memcpy(state.positions, fitted, bytes);
    for (size_t k = 0; k < n; k++) {
        state.velocities[k] = (fitted[n + k] - fitted[k]) / settings->interval;
    }
    memcpy(simulated, fitted, bytes);
    for (size_t k = 1; k < ELEPHANT_FRAMES; k++) {
        SnInputCurve curve = {.vertex_count = n / 3,
                              .before = k > 1 ? fitted + (k - 2) * n : NULL,
                              .begin = fitted + (k - 1) * n,
                              .end = fitted + k * n,
                              .after = k + 1 < ELEPHANT_FRAMES ? fitted + (k + 1) * n : NULL,
                              .interval = settings->interval};
        double start = now();
        CHECK(sn_enrich_advance(context, enrich, &curve, &state, report, &repaired) == SN_OK);
        seconds += now() - start;
        memcpy(simulated + k * n, state.positions, bytes);
    }
    CHECK(sn_enrich_summary(enrich).free_tets > 9000 && sn_enrich_summary(enrich).free_tets < 13000);
    sn_state_clear(&state);
    sn_enrich_destroy(enrich);
    return seconds / (ELEPHANT_FRAMES - 1);
}

/* A whole shot at the size of the paper's elephant, fitted and simulated, each beside the same with a tight tolerance. */
static void bench_elephant(SnContext *context)
{
    Elephant elephant = elephant_new(context);
    size_t all = ELEPHANT_FRAMES * elephant.n;
    double *fitted = SN_NEW(context, all, double), *exact = SN_NEW(context, all, double);
    double *simulated = SN_NEW(context, all, double);
    SnFitSettings fit = sn_fit_settings_default();
    SnEnrichSettings enrich = sn_enrich_settings_default();
    SnStepReport report = {0}, exact_report = {0};
    int rounds = 0, exact_rounds = 0;
    const double frames = ELEPHANT_FRAMES - 1;
    fit.size = enrich.size = elephant.size;
    enrich.interval = 1.0 / ELEPHANT_RATE;
    enrich.substeps = 3;
    row("elephant_tets", (double)elephant.cage.tet_count, (double)elephant.cage.vertex_count, "tets, vertices");
    row("elephant_fit", fit_elephant(context, &elephant, &fit, fitted, &rounds), 0.04, "s/frame");
    row("elephant_fit_rounds", rounds / frames, 0.0, "a frame");
    fit.tolerance = 1e-9;
    fit.max_rounds = 300;
    row("elephant_fit_tight", fit_elephant(context, &elephant, &fit, exact, &exact_rounds), 0.0, "s/frame");
    row("elephant_fit_tight_rounds", exact_rounds / frames, 0.0, "a frame");
    row("elephant_fit_error", scene_distance(fitted, exact, all) / elephant.size, 1e-4, "of size");
    row("elephant_simulate", simulate_elephant(context, &elephant, &enrich, fitted, simulated, &report), 0.02, "s/frame");
    row("elephant_simulate_rounds", report.rounds / frames, 0.0, "a frame");
    row("elephant_simulate_factorizations", report.factorizations / frames, 0.0, "a frame");
    row("elephant_simulate_fallbacks", report.fallbacks, 0.0, "");
    enrich.tolerance = 1e-9;
    row("elephant_simulate_tight", simulate_elephant(context, &elephant, &enrich, fitted, exact, &exact_report), 0.0, "s/frame");
    row("elephant_simulate_tight_rounds", exact_report.rounds / frames, 0.0, "a frame");
    row("elephant_simulate_error", scene_distance(simulated, exact, all) / elephant.size, 1e-4, "of size");
    double moved = scene_distance(simulated, fitted, all) / elephant.size;
    row("elephant_added_motion", moved, 0.0, "of size");
    sn_release(fitted);
    sn_release(exact);
    sn_release(simulated);
    elephant_clear(&elephant);
}

/* What tells instruction sets apart, in little time: kernels, a factorization, steps and the fit. */
static void bench_instructions(SnContext *context)
{
    bench_factorization(context);
    static const struct { const char *name; SnScheme scheme; } STEPS[] = {
        {"step_20k", SN_SCHEME_IMPLICIT_EULER}, {"step_20k_tr_bdf2", SN_SCHEME_TR_BDF2}};
    for (size_t k = 0; k < sizeof STEPS / sizeof *STEPS; k++) {
        Scene scene = body(context, creature_has, CREATURE_20K, 1e6, &sn_density_neo_hookean);
        Run run = run_body(context, &scene, STEPS[k].scheme, 1.0 / 60.0, 60, STEP_TOLERANCE, 0);
        row(STEPS[k].name, run.milliseconds, 0.0, "ms");
        sn_release(run.positions);
        scene_clear(&scene);
    }
    Elephant elephant = elephant_new(context);
    SnFitSettings settings = sn_fit_settings_default();
    double *fitted = SN_NEW(context, ELEPHANT_FRAMES * elephant.n, double);
    int rounds = 0;
    settings.size = elephant.size;
    row("fit", fit_elephant(context, &elephant, &settings, fitted, &rounds), 0.0, "s/frame");
    sn_release(fitted);
    elephant_clear(&elephant);
    bench_kernels(context); /* last: they are short, and by now the processor is awake */
}

/* Threads that wait sleep, as in the module: spinning ones would starve each other on a busy machine. OpenMP reads that when it is
   loaded, so the program starts itself anew. */
static void wait_passively(char **arguments)
{
    if (getenv("OMP_WAIT_POLICY") == NULL) {
        setenv("OMP_WAIT_POLICY", "passive", 1);
        execv("/proc/self/exe", arguments);
    }
}

/* engine [one|all [CELLS [PART]]]: threads, the finest body of the growth families, and a part to run alone. */
int main(int count, char **arguments)
{
    SnContext context;
    wait_passively(arguments);
    const char *part = count > 3 ? arguments[3] : "";
    sn_context_init(&context);
    if (count > 1 && strcmp(arguments[1], "one") == 0) {
        clock_in_use = CLOCK_PROCESS_CPUTIME_ID;
        thread_count = 1;
    }
    sn_parallel_set_thread_count(thread_count);
#define PART(name, call)                                \
    if (part[0] == '\0' || strcmp(part, (name)) == 0) { \
        call;                                           \
    }
    if (strcmp(part, "instructions") == 0) { /* what the other parts have too: never with them */
        bench_instructions(&context);
        return check_failed;
    }
    PART("kernels", bench_kernels(&context))
    PART("elements", bench_elements(&context))
    PART("rebalance", bench_rebalance(&context))
    PART("factorization", bench_factorization(&context))
    PART("steps", bench_steps(&context))
    PART("contact", bench_contact(&context))
    PART("elephant", bench_elephant(&context))
    PART("growth", bench_growth(&context, count > 2 ? atoi(arguments[2]) : 1000))
    return check_failed;
}
