/* Several bodies in one world, each with a driver of its own: they share a substep and nothing else. Obstacles are bodies that weigh
   nothing. */
#include "sheets.h"

#include "base/parallel.h"

enum { FLESH, OTHER, CLOTH, WALL, BODIES };

/* A bar of tets, another one, a sheet, and an obstacle of four vertices. */
typedef struct Group {
    SnTetMesh bar, other; /* the other's tets count from the first vertex of the world on */
    SnTetElements flesh, elements; /* of the bar, of the other */
    Sheet sheet;
    SnTerm terms[4];
    SnBody bodies[BODIES];
    double *rest;         /* vertices of the world x 3 */
    double *moved;        /* where the obstacle and the second bar are taken */
    SnWorld world;
    SnInputCurve curves[BODIES];
    SnInputDriver inputs[BODIES];
    SnDriver drivers[BODIES];
} Group;

static const SheetMaterial CLOTHES = {.young = 1e5, .poisson = 0.3, .density = 300.0, .thickness = 1e-3};

/* With `held` the left end of every body but the first is fixed, and the mean of the second follows. */
static void group_init(SnContext *context, int held, Group *group)
{
    memset(group, 0, sizeof *group);
    group->bar = scene_box(context, 4, 1, 1, 0.1);
    group->other = scene_box(context, 3, 1, 1, 0.1);
    group->sheet = sheet_strip(context, 6, 4, 0.05, 0.005, CLOTHES);
    size_t counts[BODIES] = {group->bar.vertex_count, group->other.vertex_count, group->sheet.vertex_count, 4}, count = 0;
    static const size_t FIRST_TERM[BODIES] = {0, 1, 2, 4}, TERMS[BODIES] = {1, 1, 2, 0};
    for (int b = 0; b < BODIES; b++) {
        group->bodies[b] = (SnBody){.first_vertex = count, .vertex_count = counts[b], .first_term = FIRST_TERM[b], .term_count = TERMS[b]};
        count += counts[b];
    }
    group->rest = SN_NEW(context, 3 * count, double);
    const double *parts[3] = {group->bar.positions, group->other.positions, group->sheet.positions};
    double *mass = SN_NEW(context, count, double);
    unsigned char *fixed = SN_NEW(context, count, unsigned char);
    for (int b = 0; b < 3; b++) {
        memcpy(group->rest + 3 * group->bodies[b].first_vertex, parts[b], 3 * counts[b] * sizeof(double));
    }
    for (size_t k = 0; k < 12; k++) {
        group->rest[3 * group->bodies[WALL].first_vertex + k] = (double)(k % 5) - 2.0;
    }
    sn_tet_mesh_lumped_mass(&group->bar, 1000.0, NULL, mass);
    sn_tet_mesh_lumped_mass(&group->other, 800.0, NULL, mass + group->bodies[OTHER].first_vertex);
    memcpy(mass + group->bodies[CLOTH].first_vertex, group->sheet.mass, counts[CLOTH] * sizeof *mass);

    /* the second and third body count their vertices as the world does */
    for (size_t k = 0; k < 4 * group->other.tet_count; k++) {
        group->other.tets[k] += (int32_t)group->bodies[OTHER].first_vertex;
    }
    SnTetMesh placed = {count, group->other.tet_count, group->rest, group->other.tets};
    CHECK(sn_tet_elements_init(context, &placed, &sn_density_stvk, &group->elements) == SN_OK);
    for (size_t e = 0; e < group->elements.count; e++) {
        sn_tet_elements_set_material(&group->elements, e, 5e4, 0.3);
    }
    CHECK(sn_tet_elements_init_moving(context, &group->bar, fixed, &sn_density_neo_hookean, &group->flesh) == SN_OK);
    for (size_t e = 0; e < group->flesh.count; e++) {
        sn_tet_elements_set_material(&group->flesh, e, 3e4, 0.4);
    }
    for (size_t k = 0; k < 3 * group->sheet.triangle_count; k++) {
        group->sheet.triangles[k] += (int32_t)group->bodies[CLOTH].first_vertex;
    }
    for (size_t k = 0; k < 4 * group->sheet.hinges.count; k++) {
        group->sheet.hinges.vertices[k] += (int32_t)group->bodies[CLOTH].first_vertex;
    }
    group->terms[0] = sn_tet_elements_term(&group->flesh);
    group->terms[1] = sn_tet_elements_term(&group->elements);
    group->terms[2] = sn_triangles_term(&group->sheet.membrane);
    group->terms[3] = sn_hinges_term(&group->sheet.hinges);
    for (size_t v = group->bodies[OTHER].first_vertex; v < count; v++) {
        fixed[v] = v >= group->bodies[WALL].first_vertex || (held && group->rest[3 * v] == 0.0);
    }
    SnWorldDef def = {.vertex_count = count, .mass = mass, .fixed = fixed, .term_count = 4, .terms = group->terms, .body_count = BODIES,
                      .bodies = group->bodies};
    CHECK(sn_world_init(context, &def, &group->world) == SN_OK);
    sn_release(mass);
    sn_release(fixed);

    group->moved = scene_copy(context, group->rest, 3 * count);
    for (size_t k = 3 * group->bodies[OTHER].first_vertex; k < 3 * count; k++) {
        group->moved[k] += 0.02 * (double)(1 + k % 3);
    }
    for (int b = 0; b < BODIES; b++) {
        size_t first = 3 * group->bodies[b].first_vertex;
        group->curves[b] = (SnInputCurve){
            .vertex_count = counts[b], .begin = group->rest + first, .end = group->moved + first, .interval = 1.0 / 24.0};
        group->inputs[b] = (SnInputDriver){.curve = group->curves + b, .gravity = {0.0, 0.0, -(double)b}};
        group->drivers[b] = sn_input_driver(group->inputs + b);
    }
}

static void group_clear(Group *group)
{
    sn_world_clear(&group->world);
    sn_tet_elements_clear(&group->flesh);
    sn_tet_elements_clear(&group->elements);
    sheet_clear(&group->sheet);
    sn_tet_mesh_clear(&group->bar);
    sn_tet_mesh_clear(&group->other);
    sn_release(group->rest);
    sn_release(group->moved);
}

/* Twelve steps through an interval. The caller clears the state. */
static SnState group_run(SnContext *context, Group *group, SnScheme scheme)
{
    SnState state;
    SnStepper *stepper = NULL;
    SnStepReport report = {0};
    SnStepSettings settings = {.scheme = scheme, .step_tolerance = 1e-9};
    CHECK(sn_world_begin(context, &group->world, group->rest, &state) == SN_OK);
    CHECK(sn_stepper_create(context, &group->world, &settings, &stepper) == SN_OK);
    for (size_t v = 0; v < group->world.vertex_count; v++) {
        state.velocities[3 * v + 1] = 2.0 * group->rest[3 * v];
    }
    for (int k = 0; k < 12; k++) {
        CHECK(sn_stepper_step(context, stepper, group->drivers, k / 12.0, k == 11 ? 1.0 : (k + 1.0) / 12.0, 1.0 / 24.0, &state, &report) ==
              SN_OK);
    }
    CHECK(report.unconverged == 0);
    sn_stepper_destroy(stepper);
    return state;
}

/* Each free body falls by its own gravity, to the last digits, whatever the others do; the obstacle is where it is taken. */
static void every_free_body_keeps_its_momentum_and_obstacles_go_their_way(void)
{
    for (int scheme = 0; scheme < 2; scheme++) {
        SnContext context;
        sn_context_init(&context);
        Group group;
        group_init(&context, 0, &group);
        SnState state = group_run(&context, &group, scheme ? SN_SCHEME_IMPLICIT_EULER : SN_SCHEME_TR_BDF2);
        for (int b = FLESH; b < WALL; b++) {
            const SnBody *body = group.world.bodies + b;
            double before = 0.0, after = 0.0, fallen = 0.0, mass = 0.0, scale = 0.0;
            for (size_t v = body->first_vertex; v < body->first_vertex + body->vertex_count; v++) {
                mass += group.world.mass[v];
                before += group.world.mass[v] * 2.0 * group.rest[3 * v];
                after += group.world.mass[v] * state.velocities[3 * v + 1];
                fallen += group.world.mass[v] * state.velocities[3 * v + 2];
                scale += group.world.mass[v] * fabs(state.velocities[3 * v + 1]);
            }
            CHECK_NEAR(after, before, 1e-11 * scale);
            CHECK_NEAR(fallen, -(double)b * mass / 24.0, 1e-11 * scale);
        }
        size_t first = 3 * group.bodies[WALL].first_vertex;
        CHECK(scene_same_bits(state.positions + first, group.moved + first, 12));
        for (size_t k = 0; k < 3 * group.world.vertex_count; k++) {
            CHECK(isfinite(state.positions[k]) && isfinite(state.velocities[k]));
        }
        sn_state_clear(&state);
        group_clear(&group);
    }
}

/* Together they do what the first does alone. */
static void a_body_does_not_feel_the_others(void)
{
    SnContext context;
    sn_context_init(&context);
    Group group;
    group_init(&context, 1, &group);
    Scene alone = scene_from(&context, scene_box(&context, 4, 1, 1, 0.1), 0, 3e4, &sn_density_neo_hookean);
    for (size_t e = 0; e < alone.elements->count; e++) {
        sn_tet_elements_set_material(alone.elements, e, 3e4, 0.4); /* as a world has it unless told */
    }
    SnState together = group_run(&context, &group, SN_SCHEME_TR_BDF2), state;
    SnStepper *stepper = NULL;
    SnStepReport report = {0};
    SnStepSettings settings = {.step_tolerance = 1e-9};
    SnInputCurve curve = group.curves[FLESH];
    CHECK(sn_world_begin(&context, &alone.world, alone.mesh.positions, &state) == SN_OK);
    CHECK(sn_stepper_create(&context, &alone.world, &settings, &stepper) == SN_OK);
    for (size_t v = 0; v < alone.mesh.vertex_count; v++) {
        state.velocities[3 * v + 1] = 2.0 * alone.mesh.positions[3 * v];
    }
    for (int k = 0; k < 12; k++) {
        CHECK(scene_step(&context, &alone, stepper, &curve, k / 12.0, (k + 1.0) / 12.0, &state, &report) == SN_OK);
    }
    CHECK(scene_distance(together.positions, state.positions, alone.n) < 1e-7);
    CHECK(scene_distance(state.positions, alone.mesh.positions, alone.n) > 1e-3);
    for (size_t k = 3 * group.bodies[OTHER].first_vertex; k < 3 * group.world.vertex_count; k++) {
        CHECK(!group.world.fixed[k / 3] || together.positions[k] == group.moved[k]);
    }
    sn_stepper_destroy(stepper);
    sn_state_clear(&state);
    sn_state_clear(&together);
    scene_clear(&alone);
    group_clear(&group);
}

/* Rows belong to the body whose vertices they hold, and take their targets from its driver. */
static void the_mean_of_one_body_follows_its_own_input(void)
{
    SnContext context;
    sn_context_init(&context);
    Group group;
    group_init(&context, 0, &group);
    const SnBody *other = group.world.bodies + OTHER;
    SnRows rows = {.is_alike = 1};
    int32_t *points = SN_NEW(&context, other->vertex_count, int32_t);
    double *weights = SN_NEW(&context, other->vertex_count, double), total = 0.0, off[3] = {0};
    for (size_t v = 0; v < other->vertex_count; v++) {
        points[v] = (int32_t)(other->first_vertex + v);
        total += weights[v] = group.world.mass[other->first_vertex + v];
    }
    for (size_t v = 0; v < other->vertex_count; v++) {
        weights[v] /= total;
    }
    CHECK(sn_rows_add(&context, &rows, other->vertex_count, points, weights, INFINITY) == SN_OK);
    CHECK(sn_world_constrain(&context, &rows, &group.world) == SN_OK);
    CHECK(group.world.bodies[FLESH].row_count == 0 && other->row_count == 1 && other->first_row == 0);
    CHECK(group.world.bodies[CLOTH].row_count == 0 && group.world.bodies[CLOTH].first_row == 1);
    SnState state = group_run(&context, &group, SN_SCHEME_TR_BDF2);
    for (size_t v = 0; v < other->vertex_count; v++) {
        for (size_t a = 0; a < 3; a++) {
            size_t k = 3 * (other->first_vertex + v) + a;
            off[a] += weights[v] * (state.positions[k] - group.moved[k]);
        }
    }
    CHECK(fabs(off[0]) < 1e-13 && fabs(off[1]) < 1e-13 && fabs(off[2]) < 1e-13);
    sn_state_clear(&state);
    sn_rows_clear(&rows);
    sn_release(points);
    sn_release(weights);
    group_clear(&group);
}

static void a_group_has_the_same_bits_on_any_number_of_threads(void)
{
    static const int THREADS[3] = {1, 2, 4};
    double *first = NULL;
    for (int k = 0; k < 3; k++) {
        SnContext context;
        sn_context_init(&context);
        Group group;
        sn_parallel_set_thread_count(THREADS[k]);
        group_init(&context, 1, &group);
        SnState state = group_run(&context, &group, SN_SCHEME_TR_BDF2);
        first = k == 0 ? scene_copy(&context, state.positions, 3 * group.world.vertex_count) : first;
        CHECK(scene_same_bits(first, state.positions, 3 * group.world.vertex_count));
        sn_state_clear(&state);
        group_clear(&group);
    }
    sn_parallel_set_thread_count(0);
    sn_release(first);
}

static void a_free_vertex_that_weighs_nothing_is_told(void)
{
    SnContext context;
    sn_context_init(&context);
    Scene scene = scene_bar(&context, 2, 1, 1e4, &sn_density_neo_hookean);
    SnStepper *stepper = NULL;
    SnStepSettings settings = {.step_tolerance = 1e-6};
    scene.world.mass[scene.mesh.vertex_count - 1] = 0.0;
    CHECK(sn_stepper_create(&context, &scene.world, &settings, &stepper) == SN_BAD_INPUT && stepper == NULL);
    CHECK(strstr(context.message, "weighs nothing") != NULL);
    scene_clear(&scene);
}

int main(void)
{
    every_free_body_keeps_its_momentum_and_obstacles_go_their_way();
    a_body_does_not_feel_the_others();
    the_mean_of_one_body_follows_its_own_input();
    a_group_has_the_same_bits_on_any_number_of_threads();
    a_free_vertex_that_weighs_nothing_is_told();
    return CHECK_RESULT();
}
