/* Worlds that are more than tets, against closed forms: a hanging sheet, a clamped strip, a soft body in a skin. */
#include "sheets.h"

#include "dynamics/statics.h"
#include "dynamics/time_step.h"
#include "math/mat3.h"

#define GRAVITY 9.81

static unsigned char *fix_left(SnContext *context, const Sheet *sheet, double until)
{
    unsigned char *fixed = SN_NEW(context, sheet->vertex_count, unsigned char);
    for (size_t v = 0; v < sheet->vertex_count; v++) {
        fixed[v] = sheet->positions[3 * v] <= until;
    }
    return fixed;
}

/* Mean of x over the vertices whose rest position has the largest x. */
static double mean_end(const Sheet *sheet, const double *positions)
{
    double largest = 0.0, sum = 0.0;
    size_t count = 0;
    for (size_t v = 0; v < sheet->vertex_count; v++) {
        largest = fmax(largest, sheet->positions[3 * v]);
    }
    for (size_t v = 0; v < sheet->vertex_count; v++) {
        if (sheet->positions[3 * v] > largest - 1e-9) {
            sum += positions[3 * v];
            count++;
        }
    }
    return sum / (double)count;
}

/* The sheet hangs along x: its end sinks by density gravity length² / 2 young. */
static void a_hanging_sheet_stretches_by_its_own_weight(void)
{
    for (int trial = 0; trial < 2; trial++) {
        SnContext context;
        sn_context_init(&context);
        SheetMaterial silk = {.young = 1e5, .poisson = trial == 0 ? 0.0 : 0.3, .density = 1000.0, .thickness = 1e-3};
        Sheet sheet = sheet_strip(&context, 60, 6, 0.02, 0.0, silk);
        unsigned char *fixed = fix_left(&context, &sheet, 1e-9);
        SnWorldDef def = sheet_def(&sheet, fixed);
        SnWorld world;
        CHECK(sn_world_init(&context, &def, &world) == SN_OK);
        double *x = scene_copy(&context, sheet.positions, 3 * sheet.vertex_count), length = mean_end(&sheet, sheet.positions);
        double *loads = SN_NEW(&context, 3 * sheet.vertex_count, double), sink = silk.density * GRAVITY * length * length / (2.0 * silk.young);
        sn_statics_weight(&world, (const double[3]){GRAVITY, 0.0, 0.0}, loads);
        SnStaticsSettings settings = {.max_rounds = 100, .step_tolerance = 1e-9};
        SnNewtonReport report = {0};
        CHECK(sn_statics_solve(&context, &world, loads, &settings, x, &report) == SN_OK && report.converged);
        /* held at its upper end a sheet cannot grow narrower there: with Poisson's ratio it is a little stiffer */
        CHECK_NEAR(mean_end(&sheet, x) - length, sink, (trial == 0 ? 1e-3 : 1e-2) * sink);
        sn_world_clear(&world);
        sn_release(x);
        sn_release(loads);
        sn_release(fixed);
        sheet_clear(&sheet);
    }
}

/* 1.8751² / (2 pi length²) √(B / density thickness); hinges on equilateral triangles bend a narrow strip with B = 8 D / 9. */
static void a_clamped_strip_swings_at_its_frequency(void)
{
    SnContext context;
    sn_context_init(&context);
    SheetMaterial steel = {.young = 2e9, .poisson = 0.0, .density = 1000.0, .thickness = 2e-3};
    const int columns = 80;
    const double edge = 0.01, cell = edge * sqrt(0.75);
    Sheet sheet = sheet_strip(&context, columns, 10, edge, 0.0, steel);
    unsigned char *fixed = fix_left(&context, &sheet, cell + 1e-9);
    SnWorldDef def = sheet_def(&sheet, fixed);
    SnWorld world;
    double squared[2];
    CHECK(sn_world_init(&context, &def, &world) == SN_OK);
    CHECK(sn_modes_find(&context, &world, sheet.positions, 2, squared, NULL) == SN_OK);
    /* the hinge at the clamped line bends half of a cell on either side */
    double length = (columns - 0.5) * cell, plate = steel.young * pow(steel.thickness, 3.0) / 12.0;
    double expected = 1.8751 * 1.8751 / (length * length) * sqrt(8.0 / 9.0 * plate / (steel.density * steel.thickness));
    CHECK_NEAR(sqrt(squared[0]), expected, 0.02 * expected);
    CHECK(squared[1] > 4.0 * squared[0]);
    sn_world_clear(&world);
    sn_release(fixed);
    sheet_clear(&sheet);
}

/* An equilateral plate whose border is held and turns freely: 16 pi² / 9 side² (m² + m n + n²) √(D / density thickness). */
static void a_held_plate_rings_at_its_frequencies(void)
{
    enum { CUTS = 20, VERTICES = (CUTS + 1) * (CUTS + 2) / 2 };
    static const double WAVES[3] = {3.0, 7.0, 7.0};
    SnContext context;
    sn_context_init(&context);
    SheetMaterial steel = {.young = 2e9, .poisson = 0.3, .density = 1000.0, .thickness = 2e-3};
    const double edge = 0.01, side = CUTS * edge;
    double *positions = SN_NEW(&context, 3 * VERTICES, double);
    int32_t *triangles = SN_NEW(&context, 3 * CUTS * CUTS, int32_t);
    unsigned char *fixed = SN_NEW(&context, VERTICES, unsigned char);
    size_t vertex = 0, next = 0;
    for (int i = 0; i <= CUTS; i++) { /* row i has i + 1 points */
        for (int j = 0; j <= i; j++, vertex++) {
            positions[3 * vertex] = (j - 0.5 * i) * edge;
            positions[3 * vertex + 1] = -i * edge * sqrt(0.75);
            fixed[vertex] = j == 0 || j == i || i == CUTS;
            int32_t own = (int32_t)vertex, below = own + i + 1, pair[6] = {own, below, below + 1, own, below + 1, own + 1};
            size_t count = i == CUTS ? 0 : j == i ? 1 : 2;
            memcpy(triangles + 3 * next, pair, 3 * count * sizeof *pair);
            next += count;
        }
    }
    Sheet sheet = sheet_from(&context, VERTICES, positions, next, triangles, steel);
    SnWorldDef def = sheet_def(&sheet, fixed);
    SnWorld world;
    double squared[3], plate = steel.young * pow(steel.thickness, 3.0) / 12.0 / (1.0 - steel.poisson * steel.poisson);
    CHECK(next == CUTS * CUTS && sn_world_init(&context, &def, &world) == SN_OK);
    CHECK(sn_modes_find(&context, &world, sheet.positions, 3, squared, NULL) == SN_OK);
    for (int mode = 0; mode < 3; mode++) {
        double expected = 16.0 * SCENE_PI * SCENE_PI / (9.0 * side * side) * WAVES[mode] * sqrt(plate / (steel.density * steel.thickness));
        CHECK_NEAR(sqrt(squared[mode]), expected, 0.02 * expected);
    }
    sn_world_clear(&world);
    sn_release(fixed);
    sheet_clear(&sheet);
}

/* A box of tets in a skin that is stiffer than it. */
typedef struct Skinned {
    Scene scene; /* its own world is of tets alone */
    Sheet skin;
    SnWorld world; /* with the tets of the other */
} Skinned;

static void skinned_init(SnContext *context, int held, Skinned *body)
{
    SheetMaterial leather = {.young = 1e5, .poisson = 0.3, .density = 800.0, .thickness = 2e-3};
    body->scene = scene_from(context, scene_box(context, 6, 2, 2, 0.05), held, 5e3, &sn_density_neo_hookean);
    const SnTetMesh *mesh = &body->scene.mesh;
    SnTetBoundary boundary;
    CHECK(sn_tet_mesh_boundary(context, mesh, &boundary) == SN_OK);
    body->skin = sheet_from(context, mesh->vertex_count, scene_copy(context, mesh->positions, body->scene.n), boundary.face_count,
                            boundary.faces, leather);
    boundary.faces = NULL;
    sn_tet_boundary_clear(&boundary);
    double *mass = scene_copy(context, body->scene.mass, mesh->vertex_count);
    for (size_t e = 0; e < body->scene.elements->count; e++) {
        sn_tet_elements_set_material(body->scene.elements, e, 5e3, 0.4);
    }
    for (size_t v = 0; v < mesh->vertex_count; v++) {
        mass[v] += body->skin.mass[v];
    }
    SnWorldDef def = sheet_def(&body->skin, body->scene.fixed);
    SnTerm terms[3] = {sn_tet_elements_term(body->scene.elements), def.terms[0], def.terms[1]};
    def.term_count = 3;
    def.terms = terms;
    def.mass = mass;
    CHECK(sn_world_init(context, &def, &body->world) == SN_OK && body->world.term_count == 3);
    sn_release(mass);
}

static void skinned_clear(Skinned *body)
{
    sn_world_clear(&body->world);
    sheet_clear(&body->skin);
    scene_clear(&body->scene);
}

/* Kinetic and elastic energy, and minus the work of gravity. */
static double energy_of(SnContext *context, const SnWorld *world, const double gravity[3], const SnState *state)
{
    double *partial = SN_NEW(context, sn_terms_partial_count(world->term_count, world->terms), double);
    double sum = sn_terms_value(world->term_count, world->terms, NULL, state->positions, partial, NULL);
    for (size_t k = 0; k < 3 * world->vertex_count; k++) {
        double load = world->fixed[k / 3] ? 0.0 : gravity[k % 3];
        sum += world->mass[k / 3] * (0.5 * state->velocities[k] * state->velocities[k] - load * state->positions[k]);
    }
    sn_release(partial);
    return sum;
}

static void momentum_of(const SnWorld *world, const SnState *state, double linear[3], double angular[3])
{
    memset(linear, 0, 3 * sizeof *linear);
    memset(angular, 0, 3 * sizeof *angular);
    for (size_t v = 0; v < world->vertex_count; v++) {
        double moment[3];
        sn_cross3(state->positions + 3 * v, state->velocities + 3 * v, moment);
        for (size_t a = 0; a < 3; a++) {
            linear[a] += world->mass[v] * state->velocities[3 * v + a];
            angular[a] += world->mass[v] * moment[a];
        }
    }
}

/* Thrown, spinning and squeezed, with damping inside: momentum stays, energy only falls. */
static void a_thrown_body_in_a_skin_keeps_its_momentum(SnScheme scheme)
{
    SnContext context;
    sn_context_init(&context);
    Skinned body;
    skinned_init(&context, 0, &body);
    const SnWorld *world = &body.world;
    SnState state;
    SnStepper *stepper = NULL;
    SnStepSettings settings = {.scheme = scheme, .step_tolerance = 1e-10};
    SnStepReport report = {0};
    SnInputCurve curve = {.vertex_count = world->vertex_count, .begin = body.scene.mesh.positions, .end = body.scene.mesh.positions,
                          .interval = 1.0 / 120.0};
    SnInputDriver input = {.curve = &curve};
    SnDriver driver = sn_input_driver(&input);
    sn_world_damp(&body.world, 0.0, 1e-3);
    CHECK(sn_state_init(&context, world->vertex_count, &state) == SN_OK);
    CHECK(sn_stepper_create(&context, world, &settings, &stepper) == SN_OK);
    for (size_t k = 0; k < 3 * world->vertex_count; k++) {
        const double *rest = body.scene.mesh.positions + 3 * (k / 3);
        state.positions[k] = (k % 3 == 0 ? 1.1 : 1.0) * rest[k % 3];
        state.velocities[k] = (k % 3 == 1 ? 4.0 * rest[0] : 0.0) - (k % 3 == 0 ? 4.0 * rest[1] : 0.0) + 0.5;
    }
    double linear[2][3], angular[2][3], before = energy_of(&context, world, input.gravity, &state), start = before;
    momentum_of(world, &state, linear[0], angular[0]);
    double scale = sqrt(sn_dot3(linear[0], linear[0])), spin = sqrt(sn_dot3(angular[0], angular[0]));
    for (int step = 0; step < 60; step++) {
        CHECK(sn_stepper_step(&context, stepper, &driver, 0.0, 1.0, curve.interval, &state, &report) == SN_OK);
        double after = energy_of(&context, world, input.gravity, &state);
        CHECK(after <= before * (1.0 + 1e-3)); /* what TR-BDF2 is off by; implicit Euler loses more */
        before = after;
    }
    momentum_of(world, &state, linear[1], angular[1]);
    CHECK(report.unconverged == 0 && before > 0.3 * start && before < start);
    for (int a = 0; a < 3; a++) {
        CHECK_NEAR(linear[1][a], linear[0][a], 1e-10 * scale);
        CHECK_NEAR(angular[1][a], angular[0][a], (scheme == SN_SCHEME_TR_BDF2 ? 0.01 : 0.3) * spin);
    }
    sn_stepper_destroy(stepper);
    sn_state_clear(&state);
    skinned_clear(&body);
}

/* Let go from the horizontal a sheet falls, swings and folds: its energy never rises above the start, and something moves. */
static void a_falling_sheet_gains_no_energy(SnScheme scheme)
{
    SnContext context;
    sn_context_init(&context);
    SheetMaterial cloth = {.young = 1e5, .poisson = 0.3, .density = 300.0, .thickness = 1e-3};
    Sheet sheet = sheet_strip(&context, 12, 8, 0.04, 1e-4, cloth);
    unsigned char *fixed = fix_left(&context, &sheet, 1e-9);
    SnWorldDef def = sheet_def(&sheet, fixed);
    SnWorld world;
    SnState state;
    SnStepper *stepper = NULL;
    SnStepSettings settings = {.scheme = scheme, .step_tolerance = 1e-6};
    SnStepReport report = {0};
    SnInputCurve curve = {.vertex_count = sheet.vertex_count, .begin = sheet.positions, .end = sheet.positions, .interval = 1.0 / 240.0};
    SnInputDriver input = {.curve = &curve, .gravity = {0.0, 0.0, -GRAVITY}};
    SnDriver driver = sn_input_driver(&input);
    CHECK(sn_world_init(&context, &def, &world) == SN_OK);
    CHECK(sn_state_init(&context, sheet.vertex_count, &state) == SN_OK);
    CHECK(sn_stepper_create(&context, &world, &settings, &stepper) == SN_OK);
    memcpy(state.positions, sheet.positions, 3 * sheet.vertex_count * sizeof *state.positions);
    double start = energy_of(&context, &world, input.gravity, &state), weight = 0.0, lowest = 0.0;
    for (size_t v = 0; v < sheet.vertex_count; v++) {
        weight += sheet.mass[v] * GRAVITY;
    }
    for (int step = 0; step < 120; step++) {
        CHECK(sn_stepper_step(&context, stepper, &driver, 0.0, 1.0, curve.interval, &state, &report) == SN_OK);
        CHECK(energy_of(&context, &world, input.gravity, &state) <= start + 1e-3 * weight * 0.4);
        for (size_t k = 2; k < 3 * sheet.vertex_count; k += 3) {
            lowest = fmin(lowest, state.positions[k]);
        }
    }
    CHECK(lowest < -0.3 && lowest > -0.5 && report.unconverged == 0);
    sn_stepper_destroy(stepper);
    sn_state_clear(&state);
    sn_world_clear(&world);
    sn_release(fixed);
    sheet_clear(&sheet);
}

/* What is bent beyond its yield stays bent, by all but the yield; the state carries it, and a copy of the state goes on with the same
   bits. */
static void a_crease_stays_and_is_part_of_the_state(void)
{
    double bent[2];
    for (int plastic = 0; plastic < 2; plastic++) {
        SnContext context;
        sn_context_init(&context);
        SheetMaterial foil = {.young = 1e7, .poisson = 0.3, .density = 500.0, .thickness = 1e-3};
        Sheet sheet = sheet_strip(&context, 10, 3, 0.03, 0.0, foil);
        unsigned char *fixed = fix_left(&context, &sheet, 0.03);
        SnWorldDef def = sheet_def(&sheet, fixed);
        SnWorld world;
        SnState state, copy;
        SnStepper *stepper = NULL;
        SnStepSettings settings = {.scheme = SN_SCHEME_IMPLICIT_EULER, .step_tolerance = 1e-8};
        SnStepReport report = {0};
        SnInputCurve curve = {.vertex_count = sheet.vertex_count, .begin = sheet.positions, .end = sheet.positions, .interval = 1.0 / 60.0};
        SnInputDriver input = {.curve = &curve, .gravity = {0.0, 0.0, -GRAVITY}};
        SnDriver driver = sn_input_driver(&input);
        CHECK(sn_world_init(&context, &def, &world) == SN_OK);
        sn_world_damp(&world, 4.0, 0.001);
        for (size_t h = 0; h < sheet.hinges.count && plastic; h++) {
            sheet.hinges.yield[h] = 0.5;
        }
        CHECK(sn_world_inner_count(&world) == 2 * sheet.hinges.count);
        CHECK(sn_world_begin(&context, &world, sheet.positions, &state) == SN_OK);
        CHECK(sn_world_begin(&context, &world, sheet.positions, &copy) == SN_OK);
        CHECK(state.inner[0] == 0.0 && state.inner[sheet.hinges.count] == 1.0);
        CHECK(sn_stepper_create(&context, &world, &settings, &stepper) == SN_OK);
        for (int step = 0; step < 150; step++) { /* it hangs down, and after the weight is gone springs back as far as it can */
            input.gravity[2] = step < 30 ? -GRAVITY : 0.0;
            if (step == 20) {
                sn_state_copy(&world, &state, &copy);
                sn_stepper_forget(stepper);
            }
            CHECK(sn_stepper_step(&context, stepper, &driver, 0.0, 1.0, curve.interval, &state, &report) == SN_OK);
            double *angles = SN_NEW(&context, sheet.hinges.count, double), most = 0.0;
            sn_hinges_angles(&sheet.hinges, state.positions, angles);
            for (size_t h = 0; h < sheet.hinges.count; h++) {
                most = fmax(most, sheet.hinges.bend[h] * fabs(angles[h] - sheet.hinges.rest_angle[h] - state.inner[h]));
            }
            CHECK(plastic ? most <= 0.5 * (1.0 + 1e-9) : step > 25 || most > 0.0);
            sn_release(angles);
        }
        bent[plastic] = -state.positions[3 * sheet.vertex_count - 1];
        double creased = 0.0;
        for (size_t h = 0; h < sheet.hinges.count; h++) {
            creased = fmax(creased, fabs(state.inner[h]));
        }
        CHECK(plastic == (creased > 0.0));

        /* at rest it is as bent as it is after a long swing; as built it would be flat */
        SnStaticsSettings resting = {.max_rounds = 200, .step_tolerance = 1e-10};
        SnNewtonReport rounds = {0};
        double *still = scene_copy(&context, state.positions, 3 * sheet.vertex_count);
        CHECK(sn_statics_settle(&context, &world, &driver, 0.0, &resting, state.inner, still, &rounds) == SN_OK && rounds.converged);
        CHECK_NEAR(-still[3 * sheet.vertex_count - 1], plastic ? bent[plastic] : 0.0, plastic ? 0.1 * bent[plastic] : 1e-9); /* it still swings */
        sn_release(still);

        sn_stepper_forget(stepper); /* the same again from the copy */
        for (int step = 20; step < 150; step++) {
            input.gravity[2] = step < 30 ? -GRAVITY : 0.0;
            CHECK(sn_stepper_step(&context, stepper, &driver, 0.0, 1.0, curve.interval, &copy, &report) == SN_OK);
        }
        CHECK(scene_same_bits(state.positions, copy.positions, 3 * sheet.vertex_count));
        CHECK(scene_same_bits(state.inner, copy.inner, 2 * sheet.hinges.count));
        sn_stepper_destroy(stepper);
        sn_state_clear(&state);
        sn_state_clear(&copy);
        sn_world_clear(&world);
        sn_release(fixed);
        sheet_clear(&sheet);
    }
    CHECK_NEAR(bent[0], 0.0, 0.1 * bent[1]);
    CHECK(bent[1] > 0.02);
}

/* What gives way gets stiffer by as much as it has given way, at most a hundred times: what is left of a bend then costs as much more. */
static void what_is_creased_hardens(void)
{
    static const double HARDENING[3] = {0.0, 0.2, 50.0};
    double firmest[3] = {0.0, 0.0, 0.0};
    for (int hardens = 0; hardens < 3; hardens++) {
        SnContext context;
        sn_context_init(&context);
        SheetMaterial foil = {.young = 1e7, .poisson = 0.3, .density = 500.0, .thickness = 1e-3};
        Sheet sheet = sheet_strip(&context, 4, 2, 0.03, 0.0, foil);
        size_t hinges = sheet.hinges.count;
        double *inner = SN_NEW(&context, 2 * hinges, double), *bent = scene_copy(&context, sheet.positions, 3 * sheet.vertex_count);
        double *partial = SN_NEW(&context, 64, double), *angles = SN_NEW(&context, hinges, double), expected = 0.0;
        SnTermInput input = {.inner = inner};
        for (size_t h = 0; h < hinges; h++) {
            sheet.hinges.yield[h] = 2.0;
        }
        sheet.hinges.hardening = HARDENING[hardens];
        SnTerm term = sn_hinges_term(&sheet.hinges);
        term.kind->begin(&sheet.hinges, inner);
        for (size_t v = 0; v < sheet.vertex_count; v++) {
            double x = bent[3 * v];
            bent[3 * v] = sin(12.0 * x) / 12.0; /* around a cylinder of curvature 12 */
            bent[3 * v + 2] = (1.0 - cos(12.0 * x)) / 12.0;
        }
        term.kind->flow(&sheet.hinges, &input, bent, inner);
        sn_hinges_angles(&sheet.hinges, bent, angles);
        for (size_t h = 0; h < hinges; h++) {
            double left = angles[h] - sheet.hinges.rest_angle[h] - inner[h], given = fabs(inner[h]) * sheet.hinges.bend[h];
            double firmer = fmin(exp(HARDENING[hardens] * given), 100.0);
            CHECK(fabs(left) * sheet.hinges.bend[h] <= 2.0 * (1.0 + 1e-9));
            expected += 0.5 * sheet.hinges.stiffness[h] * firmer * left * left;
            firmest[hardens] = fmax(firmest[hardens], firmer);
        }
        CHECK(expected > 0.0);
        CHECK_NEAR(term.kind->value(&sheet.hinges, &input, bent, partial, NULL), expected, 1e-9 * expected);
        double *once = scene_copy(&context, inner, 2 * hinges);
        term.kind->flow(&sheet.hinges, &input, bent, inner); /* again: all that was beyond the yield is gone */
        for (size_t k = 0; k < 2 * hinges; k++) {
            CHECK_NEAR(inner[k], once[k], 1e-12 * fabs(once[k]));
        }
        sn_release(once);
        sn_release(inner);
        sn_release(bent);
        sn_release(partial);
        sn_release(angles);
        sheet_clear(&sheet);
    }
    CHECK(firmest[0] == 1.0 && firmest[1] > 1.5 && firmest[1] < 100.0 && firmest[2] == 100.0);
}

int main(void)
{
    a_hanging_sheet_stretches_by_its_own_weight();
    a_clamped_strip_swings_at_its_frequency();
    a_held_plate_rings_at_its_frequencies();
    a_thrown_body_in_a_skin_keeps_its_momentum(SN_SCHEME_TR_BDF2);
    a_thrown_body_in_a_skin_keeps_its_momentum(SN_SCHEME_IMPLICIT_EULER);
    a_falling_sheet_gains_no_energy(SN_SCHEME_TR_BDF2);
    a_falling_sheet_gains_no_energy(SN_SCHEME_IMPLICIT_EULER);
    a_crease_stays_and_is_part_of_the_state();
    what_is_creased_hardens();
    return CHECK_RESULT();
}
