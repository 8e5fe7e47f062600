#include "scenes.h"

#include "method/enrich/calibration.h"

#define JIGGLE 3.0
#define POISSON 0.3

typedef struct Result {
    SnContext context;
    SnTetMesh mesh;
    double *mass, *weights, *drive;
    SnCalibration found;
    unsigned char *followed;
} Result;

typedef int (*Held)(const double *x);

static void calibrate_again(Result *r)
{
    SnCalibrationDef def = {.mesh = &r->mesh, .poisson = POISSON, .density = 1000.0, .mass = r->mass, .weights = r->weights, .drive = r->drive,
                            .followed = r->followed};
    sn_calibration_clear(&r->found);
    CHECK(sn_calibration_run(&r->context, &def, &r->found) == SN_OK);
}

/* Calibrates a body; vertices that `held` picks (null: none) are followed. Takes the mesh. */
static void calibrate(SnTetMesh mesh, Held held, Result *r)
{
    sn_context_init(&r->context);
    r->found = (SnCalibration){0};
    r->mesh = mesh;
    r->mass = SN_NEW(&r->context, mesh.vertex_count, double);
    r->weights = SN_NEW(&r->context, mesh.vertex_count, double);
    r->drive = SN_NEW(&r->context, mesh.vertex_count, double);
    r->followed = SN_NEW(&r->context, mesh.vertex_count, unsigned char);
    for (size_t v = 0; v < mesh.vertex_count; v++) {
        r->followed[v] = held != NULL && held(mesh.positions + 3 * v);
        r->weights[v] = r->followed[v] ? 1.0 : 0.0;
    }
    sn_tet_mesh_lumped_mass(&mesh, 1000.0, NULL, r->mass);
    calibrate_again(r);
}

static void result_clear(Result *r)
{
    sn_tet_mesh_clear(&r->mesh);
    sn_release(r->mass);
    sn_release(r->weights);
    sn_release(r->drive);
    sn_calibration_clear(&r->found);
    sn_release(r->followed);
}

static int usable(const Result *r)
{
    int good = isfinite(r->found.main_frequency) && r->found.main_frequency > 0.0;
    for (size_t e = 0; e < r->mesh.tet_count; e++) {
        good &= isfinite(r->found.squared_frequency[e]) && r->found.squared_frequency[e] > 0.0;
    }
    return good;
}

/* The lowest frequencies (Hz) of the body with the moduli that Jiggle gives it. */
static void frequencies(Result *r, int count, double *found)
{
    SnTetElements tets;
    SnWorld world;
    double omega = 2.0 * SCENE_PI * JIGGLE, *young = SN_NEW(&r->context, r->mesh.tet_count, double);
    for (size_t e = 0; e < r->mesh.tet_count; e++) {
        young[e] = omega * omega / r->found.squared_frequency[e];
    }
    CHECK(sn_tet_elements_init_moving(&r->context, &r->mesh, r->followed, &sn_density_neo_hookean, &tets) == SN_OK);
    sn_tet_elements_set_materials(&tets, young, POISSON);
    SnTerm term = sn_tet_elements_term(&tets);
    SnWorldDef def = {.vertex_count = r->mesh.vertex_count, .mass = r->mass, .fixed = r->followed, .term_count = 1, .terms = &term};
    CHECK(sn_world_init(&r->context, &def, &world) == SN_OK);
    CHECK(sn_modes_find(&r->context, &world, r->mesh.positions, count, found, NULL) == SN_OK);
    for (int k = 0; k < count; k++) {
        found[k] = sqrt(found[k]) / (2.0 * SCENE_PI);
    }
    sn_release(young);
    sn_world_clear(&world);
    sn_tet_elements_clear(&tets);
}

static int at_zero(const double *x)
{
    return x[0] == 0.0;
}

static int at_bottom(const double *x)
{
    return x[2] == 0.0;
}

static int everywhere(const double *x)
{
    (void)x;
    return 1;
}

static void held_bar_swings_at_jiggle(void)
{
    SnContext context;
    Result r;
    double found[1];
    sn_context_init(&context);
    calibrate(scene_box(&context, 8, 2, 2, 0.1), at_zero, &r);
    CHECK(r.found.region_count == 1 && usable(&r));
    frequencies(&r, 1, found);
    CHECK_NEAR(found[0], JIGGLE, 0.06 * JIGGLE);
    result_clear(&r);
}

static void frequency_does_not_depend_on_scale(void)
{
    SnContext context;
    Result small, large;
    sn_context_init(&context);
    calibrate(scene_box(&context, 5, 2, 2, 0.001), at_zero, &small);
    calibrate(scene_box(&context, 5, 2, 2, 10.0), at_zero, &large);
    /* the squared frequency at unit modulus falls with the square of length */
    CHECK_NEAR(small.found.main_frequency / large.found.main_frequency, 1e8, 1e2);
    CHECK_NEAR(small.found.squared_frequency[0] / large.found.squared_frequency[0], 1e8, 1e2);
    result_clear(&small);
    result_clear(&large);
}

static void unheld_body_takes_its_first_elastic_mode(void)
{
    SnContext context;
    Result r;
    double found[7];
    sn_context_init(&context);
    calibrate(scene_box(&context, 3, 1, 1, 0.1), NULL, &r);
    CHECK(r.found.region_count == 1 && usable(&r));
    frequencies(&r, 7, found);
    CHECK(found[5] < 0.01 * JIGGLE); /* it may drift and turn */
    CHECK_NEAR(found[6], JIGGLE, 1e-4 * JIGGLE);
    CHECK_NEAR(r.found.squared_frequency[0], r.found.main_frequency, 1e-12 * r.found.main_frequency);
    result_clear(&r);
}

static int block_with_ear(int x, int y, int z)
{
    return z < 4 || (x == 3 && y == 3 && z < 10);
}

static void ear_is_a_region_of_its_own_and_both_swing_near_jiggle(void)
{
    SnContext context;
    Result r;
    double found[3];
    const int cells[3] = {6, 6, 10};
    const double size[3] = {0.6, 0.6, 1.0};
    sn_context_init(&context);
    calibrate(scene_cells(&context, cells, size, block_with_ear), at_bottom, &r);
    CHECK(r.found.region_count == 2 && usable(&r));
    double ear = 0.0, block = 0.0;
    for (size_t e = 0; e < r.mesh.tet_count; e++) {
        const double *x = r.mesh.positions + 3 * (size_t)r.mesh.tets[4 * e];
        if (x[2] > 0.75) {
            ear = r.found.squared_frequency[e];
        } else if (x[2] < 0.1) {
            block = r.found.squared_frequency[e];
        }
    }
    CHECK(ear > 0.0 && ear < 0.2 * block); /* a thin part needs a stiffer material */
    frequencies(&r, 3, found);
    CHECK_NEAR(found[0], JIGGLE, 0.1 * JIGGLE); /* two of the ear */
    CHECK_NEAR(found[1], JIGGLE, 0.1 * JIGGLE);
    CHECK(found[2] < 1.4 * JIGGLE); /* the block */
    result_clear(&r);
}

static int middle(const double *x)
{
    return x[0] > 0.25 && x[0] < 0.45;
}

/* A stub and an arm on one held body: of the arm's flesh the stub would swing many times as fast, and be as good as dead. */
static void each_part_that_hangs_together_swings_near_jiggle(void)
{
    SnContext context;
    Result r;
    double found[4];
    sn_context_init(&context);
    calibrate(scene_box(&context, 12, 2, 2, 0.1), middle, &r);
    CHECK(r.found.region_count == 2 && usable(&r));
    frequencies(&r, 4, found); /* two of each */
    CHECK(found[0] > 0.9 * JIGGLE && found[3] < 1.15 * JIGGLE);
    result_clear(&r);
}

static int two_blocks(int x, int y, int z)
{
    (void)y, (void)z;
    return x < 2 || x > 3;
}

static void part_that_nothing_holds_is_a_region_of_its_own(void)
{
    SnContext context;
    Result r;
    double found[7];
    const int cells[3] = {7, 2, 2};
    const double size[3] = {0.7, 0.2, 0.2};
    sn_context_init(&context);
    calibrate(scene_cells(&context, cells, size, two_blocks), at_zero, &r);
    CHECK(r.found.region_count == 2 && usable(&r));
    frequencies(&r, 7, found);
    CHECK(found[5] < 0.01 * JIGGLE);
    CHECK(found[6] > 0.7 * JIGGLE && found[6] < 1.1 * JIGGLE);
    result_clear(&r);
}

static void body_that_cannot_move_gets_usable_numbers(void)
{
    SnContext context;
    Result r;
    sn_context_init(&context);
    calibrate(scene_box(&context, 2, 2, 2, 0.1), everywhere, &r);
    CHECK(r.found.region_count == 0 && usable(&r));
    result_clear(&r);
}

static void drive_makes_the_material_softer(void)
{
    SnContext context;
    Result r;
    double unit, frequency;
    sn_context_init(&context);
    calibrate(scene_box(&context, 5, 2, 2, 0.1), at_zero, &r);
    for (size_t v = 0; v < r.mesh.vertex_count; v++) {
        r.drive[v] = 0.3;
    }
    unit = r.found.squared_frequency[0];
    frequency = r.found.main_frequency;
    calibrate_again(&r);
    /* of the squared frequency the drive makes 0.3, the material the rest */
    CHECK_NEAR(unit / r.found.squared_frequency[0], 0.7, 0.02);
    CHECK_NEAR(frequency, r.found.main_frequency, 1e-9 * frequency);
    result_clear(&r);
}

/* A wide slab on a floor: sheared along it in two directions, and stretched across it in one. */
static void strain_of_a_slab_is_that_of_its_closed_form(void)
{
    SnContext context;
    Result r;
    sn_context_init(&context);
    calibrate(scene_box(&context, 4, 24, 24, 0.05), at_zero, &r);
    double shear = 2.0 * (1.0 + POISSON), across = (1.0 + POISSON) * (1.0 - 2.0 * POISSON) / (1.0 - POISSON);
    double expected = 1000.0 * 0.2 * sqrt((2.0 * shear + across) / 9.0);
    CHECK_NEAR(r.found.strain[0], expected, 0.12 * expected);
    result_clear(&r);
}

/* Three plates, one across each axis, that meet nowhere: each gives way in a direction of its own. */
static int three_plates(int x, int y, int z)
{
    return (z == 0 && x < 8 && y < 8) || (y == 12 && x < 8 && z < 8) || (x == 12 && y < 8 && z < 8);
}

static int plate_edges(const double *x)
{
    return (x[2] <= 0.11 && x[0] == 0.0) || (x[1] > 1.15 && x[2] == 0.0) || (x[0] > 1.15 && x[1] == 0.0);
}

static void plates_that_all_give_way_get_usable_numbers(void)
{
    SnContext context;
    Result r;
    const int cells[3] = {13, 13, 8};
    const double size[3] = {1.3, 1.3, 0.8};
    sn_context_init(&context);
    calibrate(scene_cells(&context, cells, size, three_plates), plate_edges, &r);
    CHECK(usable(&r));
    double found[1];
    frequencies(&r, 1, found);
    CHECK(found[0] > 0.6 * JIGGLE && found[0] < 1.3 * JIGGLE);
    result_clear(&r);
}

/* Two cubes that share an edge: a hinge, whose first elastic mode costs nothing. */
static int hinge(int x, int y, int z)
{
    (void)z;
    return x == y;
}

static void hinge_that_nothing_holds_gets_usable_numbers(void)
{
    SnContext context;
    Result r;
    const int cells[3] = {2, 2, 2};
    const double size[3] = {0.2, 0.2, 0.2};
    sn_context_init(&context);
    calibrate(scene_cells(&context, cells, size, hinge), NULL, &r);
    CHECK(usable(&r));
    double found[8];
    frequencies(&r, 8, found);
    CHECK_NEAR(found[7], JIGGLE, 1e-3 * JIGGLE); /* the first mode that costs something */
    result_clear(&r);
}

int main(void)
{
    held_bar_swings_at_jiggle();
    frequency_does_not_depend_on_scale();
    unheld_body_takes_its_first_elastic_mode();
    ear_is_a_region_of_its_own_and_both_swing_near_jiggle();
    each_part_that_hangs_together_swings_near_jiggle();
    part_that_nothing_holds_is_a_region_of_its_own();
    body_that_cannot_move_gets_usable_numbers();
    drive_makes_the_material_softer();
    strain_of_a_slab_is_that_of_its_closed_form();
    plates_that_all_give_way_get_usable_numbers();
    hinge_that_nothing_holds_gets_usable_numbers();
    return CHECK_RESULT();
}
