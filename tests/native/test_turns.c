/* Rotations of tets, their powers, and shapes between two. */
#include "scenes.h"

#include "base/parallel.h"
#include "dynamics/turns.h"
#include "math/mat3.h"

/* A bar of twelve cells along x, still at x = 0. */
typedef struct Bar {
    SnContext context;
    Scene scene;
    SnTurns *turns;
    double *to, *parts, *missing;
} Bar;

static void bar_init(Bar *bar)
{
    memset(bar, 0, sizeof *bar);
    sn_context_init(&bar->context);
    bar->scene = scene_from(&bar->context, scene_box(&bar->context, 12, 2, 2, 0.1), 0, 1e5, &sn_density_neo_hookean);
    const SnTetMesh *mesh = &bar->scene.mesh;
    unsigned char *still = SN_NEW(&bar->context, mesh->vertex_count, unsigned char);
    for (size_t v = 0; v < mesh->vertex_count; v++) {
        still[v] = mesh->positions[3 * v] == 0.0;
    }
    CHECK(sn_turns_create(&bar->context, mesh, bar->scene.elements, still, &bar->turns) == SN_OK);
    bar->to = SN_NEW(&bar->context, bar->scene.n, double);
    bar->parts = SN_NEW(&bar->context, mesh->tet_count, double);
    bar->missing = SN_NEW(&bar->context, 9 * mesh->tet_count, double);
    sn_release(still);
}

static void bar_clear(Bar *bar)
{
    sn_turns_destroy(bar->turns);
    scene_clear(&bar->scene);
    sn_release(bar->to);
    sn_release(bar->parts);
    sn_release(bar->missing);
}

/* Twists the bar around x, `rate` radians a metre. */
static void twist(Bar *bar, double rate)
{
    const double *from = bar->scene.mesh.positions;
    for (size_t k = 0; k < bar->scene.n; k += 3) {
        double turn = rate * from[k], y = from[k + 1] - 0.1, z = from[k + 2] - 0.1;
        bar->to[k] = from[k];
        bar->to[k + 1] = cos(turn) * y - sin(turn) * z;
        bar->to[k + 2] = sin(turn) * y + cos(turn) * z;
    }
}

static void turn_goes_on_beyond_half_a_turn(void)
{
    Bar bar;
    double furthest = 0.0;
    bar_init(&bar);
    twist(&bar, 4.0); /* 4.8 radians at the end */
    sn_turns_find(bar.turns, bar.scene.mesh.positions, bar.to);
    for (size_t e = 0; e < bar.scene.mesh.tet_count; e++) {
        const double *axis = sn_turns_axes(bar.turns) + 4 * e;
        double middle = 0.0, length = sqrt(sn_dot3(axis + 1, axis + 1));
        for (int i = 0; i < 4; i++) {
            middle += 0.25 * bar.scene.mesh.positions[3 * bar.scene.mesh.tets[4 * e + (size_t)i]];
        }
        CHECK_NEAR(length, axis[0] == 0.0 ? 0.0 : 1.0, 1e-12);
        CHECK_NEAR(2.0 * axis[0] * axis[1], 4.0 * middle, 0.5);
        furthest = fmax(furthest, 2.0 * axis[0]);
    }
    CHECK(furthest > 4.4);
    bar_clear(&bar);
}

static void powers_of_a_rotation_add_up(void)
{
    const double axis[4] = {1.3, 2.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0}, none[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double part[9], rest[9], whole[9], product[9];
    sn_turns_power(axis, 0.3, part);
    sn_turns_power(axis, 0.7, rest);
    sn_turns_power(axis, 1.0, whole);
    sn_mat3_multiply(part, rest, product);
    CHECK(scene_distance(product, whole, 9) < 1e-15);
    CHECK_NEAR(whole[0] + whole[4] + whole[8], 1.0 + 2.0 * cos(2.6), 1e-14); /* the angle is twice axis[0] */
    sn_turns_power(axis, 0.0, part);
    CHECK(scene_distance(part, none, 9) == 0.0);
}

/* A stretched and turned body: between, it is stretched and turned by that part. */
static void shape_between_is_turned_and_stretched_by_its_part(void)
{
    Bar bar;
    bar_init(&bar);
    const double *from = bar.scene.mesh.positions;
    double angle = 2.0, stretch = 1.4, part = 0.25;
    for (size_t k = 0; k < bar.scene.n; k += 3) {
        bar.to[k] = cos(angle) * stretch * from[k] - sin(angle) * from[k + 1];
        bar.to[k + 1] = sin(angle) * stretch * from[k] + cos(angle) * from[k + 1];
        bar.to[k + 2] = from[k + 2];
    }
    for (size_t e = 0; e < bar.scene.mesh.tet_count; e++) {
        bar.parts[e] = 0.5;
    }
    sn_turns_between(bar.turns, from, bar.to, bar.parts, 0.5, from, bar.missing); /* a quarter of the way back */
    double c = cos((1.0 - part) * angle), s = sin((1.0 - part) * angle), along = 1.0 + (1.0 - part) * (stretch - 1.0);
    const double expected[9] = {c * along - 1.0, -s, 0.0, s * along, c - 1.0, 0.0, 0.0, 0.0, 0.0};
    for (size_t e = 0; e < bar.scene.mesh.tet_count; e++) {
        CHECK(scene_distance(bar.missing + 9 * e, expected, 9) < 1e-12);
    }
    bar_clear(&bar);
}

static void ends_are_exact_and_bits_do_not_depend_on_threads(void)
{
    Bar bar;
    bar_init(&bar);
    size_t count = bar.scene.mesh.tet_count;
    twist(&bar, 2.0);
    for (size_t e = 0; e < count; e++) {
        bar.parts[e] = e % 2 == 0;
    }
    sn_turns_between(bar.turns, bar.scene.mesh.positions, bar.to, bar.parts, 1.0, bar.scene.mesh.positions, bar.missing);
    for (size_t k = 0; k < 9 * count; k++) {
        CHECK(bar.parts[k / 9] == 0.0 || bar.missing[k] == 0.0);
    }
    double *other = SN_NEW(&bar.context, 9 * count, double);
    for (int threads = 1; threads <= 4; threads *= 2) {
        sn_parallel_set_thread_count(threads);
        for (size_t e = 0; e < count; e++) {
            bar.parts[e] = (double)e / (double)count;
        }
        twist(&bar, 0.5); /* so that they are found anew */
        sn_turns_find(bar.turns, bar.scene.mesh.positions, bar.to);
        twist(&bar, 2.0);
        sn_turns_between(bar.turns, bar.scene.mesh.positions, bar.to, bar.parts, 0.8, bar.to, threads == 1 ? other : bar.missing);
        CHECK(threads == 1 || scene_same_bits(other, bar.missing, 9 * count));
    }
    sn_parallel_set_thread_count(0);
    sn_release(other);
    bar_clear(&bar);
}

int main(void)
{
    turn_goes_on_beyond_half_a_turn();
    powers_of_a_rotation_add_up();
    shape_between_is_turned_and_stretched_by_its_part();
    ends_are_exact_and_bits_do_not_depend_on_threads();
    return CHECK_RESULT();
}
