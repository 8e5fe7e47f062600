/* Simulations that advance together do what each does alone, and each keeps its own state: a bar that is held, one whose mean follows and
   that a spring draws, and a sheet that creases. */
#include "cancel.h"
#include "sheets.h"

#include "base/parallel.h"
#include "dynamics/ensemble.h"

enum { HELD, FOLLOWING, SHEET, MEMBERS };

static const SheetMaterial TIN = {.young = 2e5, .poisson = 0.3, .density = 500.0, .thickness = 2e-3};

typedef struct Troupe {
    Scene bars[2];
    Sheet sheet;
    SnWorld sheet_world;
    unsigned char *sheet_fixed;
    const double *rest[MEMBERS];
    double *moved[MEMBERS];
    SnInputCurve curves[MEMBERS];
    SnInputDriver inputs[MEMBERS];
    SnDriver drivers[MEMBERS];
    SnMember members[MEMBERS];
    SnState states[MEMBERS];
    int begun, ended; /* substeps that the held bar was told of */
} Troupe;

static void count_begin(void *self, double end)
{
    ((Troupe *)self)->begun += end > 0.0;
}

/* Also pins a vertex of its own state: what a member writes there is its own. */
static void count_end(void *self, double end, SnState *state)
{
    Troupe *troupe = self;
    size_t last = 3 * troupe->bars[HELD].mesh.vertex_count - 1;
    troupe->ended += end > 0.0;
    state->positions[last] = troupe->rest[HELD][last];
    state->velocities[last] = 0.0;
}

/* Means and springs of the second bar. */
static void add_rows(SnContext *context, SnWorld *world)
{
    SnRows rows = {.is_alike = 1}, springs = {.is_alike = 0};
    int32_t points[8];
    double weights[8];
    for (int k = 0; k < 8; k++) {
        points[k] = k;
        weights[k] = 0.125;
    }
    CHECK(sn_rows_add(context, &rows, 8, points, weights, INFINITY) == SN_OK);
    CHECK(sn_world_constrain(context, &rows, world) == SN_OK);
    points[0] = (int32_t)world->vertex_count - 1;
    CHECK(sn_rows_add(context, &springs, 1, points, (const double[]){0.0, 0.6, 0.8}, 500.0) == SN_OK);
    CHECK(sn_world_spring(context, &springs, world) == SN_OK);
}

static void troupe_init(SnContext *context, Troupe *troupe)
{
    memset(troupe, 0, sizeof *troupe);
    troupe->bars[HELD] = scene_bar(context, 5, 1, 2e4, &sn_density_neo_hookean);
    troupe->bars[FOLLOWING] = scene_bar(context, 4, 0, 3e4, &sn_density_stvk);
    add_rows(context, &troupe->bars[FOLLOWING].world);
    troupe->sheet = sheet_strip(context, 6, 3, 0.05, 0.0, TIN);
    troupe->sheet_fixed = SN_NEW(context, troupe->sheet.vertex_count, unsigned char);
    for (size_t v = 0; v < troupe->sheet.vertex_count; v++) {
        troupe->sheet_fixed[v] = troupe->sheet.positions[3 * v] == 0.0;
    }
    for (size_t h = 0; h < troupe->sheet.hinges.count; h++) {
        troupe->sheet.hinges.yield[h] = 0.05;
    }
    SnWorldDef def = sheet_def(&troupe->sheet, troupe->sheet_fixed);
    CHECK(sn_world_init(context, &def, &troupe->sheet_world) == SN_OK);
    sn_world_damp(&troupe->bars[HELD].world, 0.5, 0.002);
    sn_world_damp(&troupe->sheet_world, 1.0, 0.001);
    const SnWorld *worlds[MEMBERS] = {&troupe->bars[HELD].world, &troupe->bars[FOLLOWING].world, &troupe->sheet_world};
    const double *rests[MEMBERS] = {troupe->bars[HELD].mesh.positions, troupe->bars[FOLLOWING].mesh.positions, troupe->sheet.positions};
    for (int m = 0; m < MEMBERS; m++) {
        size_t n = 3 * worlds[m]->vertex_count;
        troupe->rest[m] = rests[m];
        troupe->moved[m] = scene_copy(context, rests[m], n);
        for (size_t k = 0; k < n; k++) {
            troupe->moved[m][k] += 0.01 * (double)(m + 1) * (double)(k % 3);
        }
        troupe->curves[m] = (SnInputCurve){
            .vertex_count = n / 3, .begin = rests[m], .end = troupe->moved[m], .interval = 1.0 / 24.0};
        troupe->inputs[m] = (SnInputDriver){.curve = troupe->curves + m, .gravity = {0.0, 0.0, -9.81}};
        troupe->drivers[m] = sn_input_driver(troupe->inputs + m);
        troupe->members[m] = (SnMember){.world = worlds[m],
                                        .drivers = troupe->drivers + m,
                                        .step = {.step_tolerance = 1e-10},
                                        .substeps = 6,
                                        .interval = 1.0 / 24.0,
                                        .self = troupe};
        CHECK(sn_world_begin(context, worlds[m], rests[m], troupe->states + m) == SN_OK);
    }
    scene_keep(context, &troupe->bars[HELD], 0.7);
    troupe->inputs[HELD].keep_pose = &troupe->bars[HELD].keep_pose;
    troupe->members[HELD].begin_substep = count_begin;
    troupe->members[HELD].end_substep = count_end;
}

static void troupe_clear(Troupe *troupe)
{
    for (int m = 0; m < MEMBERS; m++) {
        sn_state_clear(troupe->states + m);
        sn_release(troupe->moved[m]);
    }
    scene_clear(&troupe->bars[HELD]);
    scene_clear(&troupe->bars[FOLLOWING]);
    sn_world_clear(&troupe->sheet_world);
    sheet_clear(&troupe->sheet);
    sn_release(troupe->sheet_fixed);
}

/* Three intervals of one or of all members. */
static void advance(SnContext *context, Troupe *troupe, size_t first, size_t count)
{
    SnEnsemble *ensemble = NULL;
    SnStepReport report = {0};
    CHECK(sn_ensemble_create(context, count, troupe->members + first, &ensemble) == SN_OK && sn_ensemble_substeps(ensemble) == 6);
    for (int k = 0; k < 3; k++) {
        CHECK(sn_ensemble_advance(context, ensemble, troupe->states + first, &report) == SN_OK);
    }
    CHECK(report.unconverged == 0);
    sn_ensemble_destroy(ensemble);
}

static void together_each_does_what_it_does_alone(void)
{
    SnContext context;
    sn_context_init(&context);
    Troupe together, alone;
    troupe_init(&context, &together);
    troupe_init(&context, &alone);
    advance(&context, &together, 0, MEMBERS);
    for (size_t m = 0; m < MEMBERS; m++) {
        advance(&context, &alone, m, 1);
        size_t n = 3 * alone.members[m].world->vertex_count;
        CHECK(scene_distance(together.states[m].positions, alone.states[m].positions, n) < 1e-7);
        CHECK(scene_distance(together.states[m].velocities, alone.states[m].velocities, n) < 1e-4);
        CHECK(scene_distance(alone.states[m].positions, alone.rest[m], n) > 5e-3);
    }
    size_t hinges = together.sheet.hinges.count;
    CHECK(scene_distance(together.states[SHEET].inner, alone.states[SHEET].inner, hinges) < 1e-5);
    CHECK(scene_distance(alone.states[SHEET].inner, alone.sheet.hinges.rest_angle, hinges) > 1e-3); /* it creased */
    CHECK(together.begun == 18 && together.ended == 18 && alone.begun == 18);
    size_t last = 3 * together.bars[HELD].mesh.vertex_count - 1;
    CHECK(together.states[HELD].positions[last] == together.rest[HELD][last]);
    troupe_clear(&together);
    troupe_clear(&alone);
}

static void an_ensemble_has_the_same_bits_on_any_number_of_threads_and_after_a_checkpoint(void)
{
    static const int THREADS[3] = {1, 2, 4};
    double *first[MEMBERS] = {NULL};
    for (int k = 0; k < 3; k++) {
        SnContext context;
        sn_context_init(&context);
        Troupe troupe;
        sn_parallel_set_thread_count(THREADS[k]);
        troupe_init(&context, &troupe);
        if (k < 2) {
            advance(&context, &troupe, 0, MEMBERS);
        } else { /* made anew after each interval: its state is all that it goes on from */
            for (int interval = 0; interval < 3; interval++) {
                SnEnsemble *ensemble = NULL;
                SnStepReport report = {0};
                CHECK(sn_ensemble_create(&context, MEMBERS, troupe.members, &ensemble) == SN_OK);
                CHECK(sn_ensemble_advance(&context, ensemble, troupe.states, &report) == SN_OK);
                sn_ensemble_destroy(ensemble);
            }
        }
        for (size_t m = 0; m < MEMBERS; m++) {
            size_t n = 3 * troupe.members[m].world->vertex_count;
            first[m] = k == 0 ? scene_copy(&context, troupe.states[m].positions, n) : first[m];
            CHECK(scene_same_bits(first[m], troupe.states[m].positions, n));
        }
        troupe_clear(&troupe);
    }
    sn_parallel_set_thread_count(0);
    for (int m = 0; m < MEMBERS; m++) {
        sn_release(first[m]);
    }
}

static void members_that_do_not_fit_together_are_told(void)
{
    SnContext context;
    sn_context_init(&context);
    Troupe troupe;
    SnEnsemble *ensemble = NULL;
    troupe_init(&context, &troupe);
    troupe.members[1].interval = 1.0 / 30.0;
    CHECK(sn_ensemble_create(&context, MEMBERS, troupe.members, &ensemble) == SN_BAD_INPUT && ensemble == NULL);
    CHECK(strstr(context.message, "same frame rate") != NULL);
    troupe.members[1].interval = 1.0 / 24.0;
    troupe.members[2].step.scheme = SN_SCHEME_IMPLICIT_EULER;
    CHECK(sn_ensemble_create(&context, MEMBERS, troupe.members, &ensemble) == SN_BAD_INPUT);
    CHECK(strstr(context.message, "same integrator") != NULL);
    troupe.members[2].step.scheme = SN_SCHEME_TR_BDF2;
    troupe.members[2].substeps = 9;
    troupe.members[0].step.step_tolerance = 1e-3;
    CHECK(sn_ensemble_create(&context, MEMBERS, troupe.members, &ensemble) == SN_OK && sn_ensemble_substeps(ensemble) == 9);
    sn_ensemble_destroy(ensemble);
    troupe_clear(&troupe);
}

/* Ten intervals of the held bar, thrown to and fro. Returns how many steps there were. */
static int shake(SnContext *context, int substeps, double rough, double **positions)
{
    Troupe troupe;
    SnEnsemble *ensemble = NULL;
    SnStepReport report = {0};
    troupe_init(context, &troupe);
    size_t n = 3 * troupe.members[HELD].world->vertex_count;
    double *places[2] = {scene_copy(context, troupe.rest[HELD], n), scene_copy(context, troupe.rest[HELD], n)};
    troupe.members[HELD].substeps = substeps;
    troupe.members[HELD].step.rough = rough;
    troupe.members[HELD].end_substep = NULL;
    CHECK(sn_ensemble_create(context, 1, troupe.members + HELD, &ensemble) == SN_OK);
    for (int k = 0; k < 10; k++) {
        for (size_t i = 0; i < n; i++) {
            places[(k + 1) % 2][i] = troupe.rest[HELD][i] + (i % 3 == 2 && k < 5 ? 0.1 * (k % 2 ? -1.0 : 1.0) : 0.0);
        }
        troupe.curves[HELD].begin = places[k % 2];
        troupe.curves[HELD].end = places[(k + 1) % 2];
        CHECK(sn_ensemble_advance(context, ensemble, troupe.states + HELD, &report) == SN_OK);
    }
    *positions = scene_copy(context, troupe.states[HELD].positions, n);
    CHECK(troupe.begun >= report.steps && (rough > 0.0 || troupe.begun == report.steps));
    sn_ensemble_destroy(ensemble);
    sn_release(places[0]);
    sn_release(places[1]);
    troupe_clear(&troupe);
    return report.steps;
}

static void steps_that_are_too_rough_are_cut(void)
{
    SnContext context;
    sn_context_init(&context);
    Scene bar = scene_bar(&context, 5, 1, 2e4, &sn_density_neo_hookean);
    size_t n = 3 * bar.mesh.vertex_count;
    scene_clear(&bar);
    double *fine, *coarse, *cut, *smooth, *wild;
    CHECK(shake(&context, 32, 0.0, &fine) == 320);
    CHECK(shake(&context, 1, 0.0, &coarse) == 10);
    int steps = shake(&context, 1, 5e-4, &cut); /* a thousandth of the bar, as flesh has it */
    CHECK(steps > 10 && steps <= 40);
    CHECK(shake(&context, 1, 10.0, &smooth) == 10);
    CHECK(shake(&context, 1, 1e-6, &wild) == 10);
    double off = scene_distance(coarse, fine, n), better = scene_distance(cut, fine, n);
    printf("thrown to and fro: %.2g off with whole steps, %.2g with %d\n", off, better, steps);
    CHECK(better < 0.5 * off);
    CHECK(scene_same_bits(coarse, smooth, n)); /* what is calm keeps its steps */
    CHECK(scene_same_bits(coarse, wild, n));   /* and so does what is torn out of all shape */
    double *all[5] = {fine, coarse, cut, smooth, wild};
    for (int k = 0; k < 5; k++) {
        sn_release(all[k]);
    }
}

/* Every allocation of joining, making and advancing fails once: that is told, and nothing leaks (under the sanitizer). */
static void every_failing_allocation_is_answered(void)
{
    SnContext context;
    sn_context_init(&context);
    Troupe troupe;
    troupe_init(&context, &troupe);
    troupe.members[HELD].step.rough = 1e-3;
    long needed = 1;
    for (long n = 0; n < needed; n++) {
        SnEnsemble *ensemble = NULL;
        SnStepReport report = {0};
        SnContext failing;
        sn_context_init(&failing);
        failing.allocations_until_failure = n == 0 ? 1000000 : n - 1;
        SnStatus status = sn_ensemble_create(&failing, MEMBERS, troupe.members, &ensemble);
        status = status == SN_OK ? sn_ensemble_advance(&failing, ensemble, troupe.states, &report) : status;
        needed = n == 0 ? 1000000 - failing.allocations_until_failure : needed;
        CHECK(n == 0 ? status == SN_OK : status == SN_OUT_OF_MEMORY);
        sn_ensemble_destroy(ensemble);
    }
    CHECK(needed > 50);
    troupe_clear(&troupe);
}

/* What was cancelled goes on from a checkpoint: here from the beginning. */
static SnStatus advance_once(SnContext *context, void *data)
{
    Troupe *troupe = data;
    SnContext own;
    SnEnsemble *ensemble = NULL;
    SnStepReport report = {0};
    sn_context_init(&own);
    troupe_init(&own, troupe);
    CHECK(sn_ensemble_create(&own, MEMBERS, troupe->members, &ensemble) == SN_OK);
    SnStatus status = sn_ensemble_advance(context, ensemble, troupe->states, &report);
    sn_ensemble_destroy(ensemble);
    troupe_clear(troupe);
    return status;
}

static void several_can_be_cancelled_together(void)
{
    Troupe troupe;
    cancel_at_every_look("several", advance_once, &troupe, 12, "Simulating");
}

int main(void)
{
    several_can_be_cancelled_together();
    together_each_does_what_it_does_alone();
    an_ensemble_has_the_same_bits_on_any_number_of_threads_and_after_a_checkpoint();
    members_that_do_not_fit_together_are_told();
    steps_that_are_too_rough_are_cut();
    every_failing_allocation_is_answered();
    return CHECK_RESULT();
}
