/* Distances, the lattice under them, and the vote that knows the inside of open meshes. */
#include "check.h"
#include "shapes.h"

#include "mesh/distance_field.h"
#include "mesh/geometry.h"
#include "mesh/patches.h"
#include "mesh/winding.h"

static void triangle_distance_matches_a_dense_search(void)
{
    uint64_t seed = 3;
    for (int round = 0; round < 200; round++) {
        double x[4][3], nearest = INFINITY;
        for (int i = 0; i < 12; i++) {
            x[i / 3][i % 3] = check_random(&seed);
        }
        if (round % 4 == 0) { /* a segment */
            x[2][0] = x[1][0], x[2][1] = x[1][1], x[2][2] = x[1][2];
        }
        for (int i = 0; i <= 200; i++) {
            for (int j = 0; j <= 200 - i; j++) {
                double u = i / 200.0, v = j / 200.0, p[3];
                for (int axis = 0; axis < 3; axis++) {
                    p[axis] = x[0][axis] + u * (x[1][axis] - x[0][axis]) + v * (x[2][axis] - x[0][axis]);
                }
                nearest = fmin(nearest, sn_distance_squared(p, x[3]));
            }
        }
        double distance = sqrt(sn_triangle_distance_squared(x[3], x[0], x[1], x[2]));
        CHECK(distance <= sqrt(nearest) + 1e-12 && distance >= sqrt(nearest) - 0.01);
    }
}

/* Every lattice point of the band knows its exact distance to a sphere of many triangles and a loose vertex. */
static void field_holds_the_distance_to_the_soup(void)
{
    SnContext context;
    SnLattice lattice;
    SnSoup soup;
    SnDistanceField field;
    const double center[3] = {0.3, -0.2, 0.1};
    sn_context_init(&context);
    Shape shape = shape_sphere(&context, 60, 1.0, center, 1.0);
    SnTriMesh mesh = shape_mesh(&shape);
    double low[3], high[3], worst = 0.0, worst_soup = 0.0;
    size_t in_band = 0;
    sn_tri_mesh_bounds(&mesh, low, high);
    sn_lattice_init(low, high, 0.2, 0.5, &lattice);
    CHECK(sn_soup_build(&context, &mesh, &lattice, &soup) == SN_OK);
    CHECK(sn_distance_field_build(&context, &lattice, &soup, 0.9, &field) == SN_OK);
    for (size_t point = 0; point < sn_lattice_point_count(&lattice); point++) {
        double position[3], world[3];
        sn_lattice_position(&lattice, point, position);
        sn_lattice_to_world(&lattice, position, world);
        double expected = fmin(fabs(sqrt(sn_distance_squared(world, center)) - 1.0) / 0.2, 0.9);
        worst = fmax(worst, fabs((double)field.distances[point] - expected));
        worst_soup = fmax(worst_soup, fabs((double)field.distances[point] - sn_soup_distance(&soup, position, 0.9)));
        in_band += field.distances[point] < 0.9f;
    }
    CHECK(worst < 0.01); /* what the facets of the sphere leave */
    CHECK(worst_soup < 1e-6);
    CHECK(in_band > 500);
    sn_distance_field_clear(&field);
    sn_soup_clear(&soup);
    shape_clear(&shape);
}

/* The lattice's tables describe one lattice: tets of equal positive volume that fill space, found by locate. */
static void lattice_tets_fill_space(void)
{
    SnLattice lattice;
    const double low[3] = {0.0, 0.0, 0.0}, high[3] = {4.0, 3.0, 2.0};
    uint64_t seed = 5;
    sn_lattice_init(low, high, 1.0, 0.5, &lattice);
    for (int round = 0; round < 1000; round++) {
        double point[3], world[3], corners[4][3];
        int local;
        for (int axis = 0; axis < 3; axis++) {
            world[axis] = high[axis] * check_random(&seed);
        }
        sn_lattice_from_world(&lattice, world, point);
        size_t cube = sn_lattice_locate(&lattice, point, &local);
        for (int i = 0; i < 4; i++) {
            sn_lattice_position(&lattice, (size_t)((ptrdiff_t)cube + lattice.tets[local][i]), corners[i]);
        }
        CHECK_NEAR(sn_volume_six(corners[0], corners[1], corners[2], corners[3]), 0.5, 1e-12);
        for (int i = 0; i < 4; i++) {
            double moved[4][3];
            for (int j = 0; j < 12; j++) {
                moved[j / 3][j % 3] = j / 3 == i ? point[j % 3] : corners[j / 3][j % 3];
            }
            CHECK(sn_volume_six(moved[0], moved[1], moved[2], moved[3]) >= -1e-12);
        }
    }
    for (int kind = 0; kind < 2; kind++) {
        for (int direction = 0; direction < SN_LATTICE_DIRECTIONS; direction++) {
            int links = 0;
            for (unsigned set = lattice.links[kind][direction]; set != 0; set &= set - 1) {
                links++;
            }
            CHECK(links == (direction < SN_LATTICE_LONG ? 4 : 6));
            CHECK(lattice.neighbours[kind][direction] ==
                  -lattice.neighbours[direction < SN_LATTICE_LONG ? kind : 1 - kind][sn_lattice_opposite(direction)]);
        }
    }
}

static SnWinding open_sphere_winding(SnContext *context, double open, int flip)
{
    const double center[3] = {0.0, 0.0, 0.0};
    Shape shape = shape_sphere(context, 30, 1.0, center, open);
    for (size_t i = 0; flip && i < shape.triangle_count; i += 3) { /* every third triangle is turned */
        int32_t swap = shape.triangles[3 * i];
        shape.triangles[3 * i] = shape.triangles[3 * i + 1];
        shape.triangles[3 * i + 1] = swap;
    }
    SnTriMesh mesh = shape_mesh(&shape);
    SnPatches patches;
    SnWinding winding = {0};
    CHECK(sn_patches_build(context, &mesh, &patches) == SN_OK);
    if (CHECK(patches.patch_count == 1 && patches.kinds[0] == SN_PATCH_OPEN)) {
        double *corners = SN_NEW(context, 9 * patches.triangle_count, double);
        for (size_t i = 0; i < 9 * patches.triangle_count; i++) {
            corners[i] = shape.positions[3 * patches.triangles[i / 3] + (int32_t)(i % 3)];
        }
        CHECK(sn_winding_build(context, patches.triangle_count, corners, &winding) == SN_OK);
        sn_release(corners);
    }
    sn_patches_clear(&patches);
    shape_clear(&shape);
    return winding;
}

/* Seen from its center, a sphere cut at height h covers (1 + h) / 2 of all directions. */
static void winding_number_is_the_covered_share_of_the_view(void)
{
    SnContext context;
    const double center[3] = {0.0, 0.0, 0.0}, outside[3] = {0.0, 0.0, 1.5}, near_wall[3] = {0.0, 0.0, -0.97};
    sn_context_init(&context);
    for (int flip = 0; flip < 2; flip++) {
        SnWinding winding = open_sphere_winding(&context, 0.6, flip);
        CHECK_NEAR(fabs(sn_winding_number(&winding, center)), 0.8, 0.02);
        CHECK(fabs(sn_winding_number(&winding, outside)) < 0.2);
        CHECK(fabs(sn_winding_number(&winding, near_wall)) > 0.9);
        sn_winding_clear(&winding);
    }
}

static void patches_know_whether_they_are_closed_and_have_two_sides(void)
{
    SnContext context;
    SnPatches patches;
    const double center[3] = {0.0, 0.0, 0.0};
    sn_context_init(&context);
    Shape shape = shape_sphere(&context, 8, 1.0, center, 1.0);
    SnTriMesh mesh = shape_mesh(&shape);
    CHECK(sn_patches_build(&context, &mesh, &patches) == SN_OK);
    CHECK(patches.patch_count == 1 && patches.kinds[0] == SN_PATCH_CLOSED);
    sn_patches_clear(&patches);
    shape_clear(&shape);

    /* A Moebius band of five quads. */
    double positions[30];
    int32_t triangles[30];
    for (int i = 0; i < 5; i++) {
        double turn = 2.0 * SHAPE_PI * i / 5, half = 0.5 * turn;
        for (int side = 0; side < 2; side++) {
            double *x = positions + 6 * i + 3 * side, r = 3.0 + (side ? 0.5 : -0.5) * cos(half);
            x[0] = r * cos(turn), x[1] = r * sin(turn), x[2] = (side ? 0.5 : -0.5) * sin(half);
        }
        int32_t a = 2 * i, b = 2 * i + 1, c = i < 4 ? 2 * i + 2 : 1, d = i < 4 ? 2 * i + 3 : 0;
        int32_t quad[6] = {a, b, d, a, d, c};
        for (int j = 0; j < 6; j++) {
            triangles[6 * i + j] = quad[j];
        }
    }
    SnTriMesh band = {10, 10, positions, triangles};
    CHECK(sn_patches_build(&context, &band, &patches) == SN_OK);
    CHECK(patches.patch_count == 1 && patches.kinds[0] == SN_PATCH_ONE_SIDED);
    sn_patches_clear(&patches);
}

int main(void)
{
    triangle_distance_matches_a_dense_search();
    field_holds_the_distance_to_the_soup();
    lattice_tets_fill_space();
    winding_number_is_the_covered_share_of_the_view();
    patches_know_whether_they_are_closed_and_have_two_sides();
    return CHECK_RESULT();
}
