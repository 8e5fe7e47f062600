#include "check.h"
#include "shapes.h"

#include "base/parallel.h"
#include "mesh/cage.h"
#include "mesh/embedding.h"

#include <string.h>

/* What every cage must be; returns its volume in cells, and the number of components. */
static double cage_judge(SnContext *context, const SnTriMesh *mesh, int resolution, size_t *component_count, double *worst_weight)
{
    SnCageSettings settings = sn_cage_settings_default();
    SnTetMesh cage;
    SnEmbedding embedding;
    double volume = 0.0, cell = sn_tri_mesh_size(mesh) / resolution;
    settings.resolution = resolution;
    *component_count = 0;
    *worst_weight = 0.0;
    if (!CHECK(sn_cage_build(context, mesh, &settings, &cage, &embedding) == SN_OK)) {
        return 0.0;
    }
    CHECK(sn_tet_mesh_check(context, &cage) == SN_OK);
    CHECK(sn_tet_mesh_min_dihedral(&cage) > 10.0);
    int32_t *labels = SN_NEW(context, cage.vertex_count, int32_t);
    uint8_t *used = SN_NEW(context, cage.vertex_count, uint8_t);
    CHECK(sn_tet_mesh_components(context, &cage, labels, component_count) == SN_OK);
    for (size_t i = 0; i < 4 * cage.tet_count; i++) {
        used[cage.tets[i]] = 1;
    }
    size_t unused = 0;
    for (size_t i = 0; i < cage.vertex_count; i++) {
        unused += !used[i];
    }
    CHECK(unused == 0);
    for (size_t i = 0; i < 4 * mesh->vertex_count; i++) {
        *worst_weight = fmin(*worst_weight, embedding.weights[i]);
    }
    CHECK(*worst_weight > -2.0);
    for (size_t tet = 0; tet < cage.tet_count; tet++) {
        volume += sn_tet_mesh_volume(&cage, cage.positions, tet) / (cell * cell * cell);
    }
    sn_release(labels);
    sn_release(used);
    sn_embedding_clear(&embedding);
    sn_tet_mesh_clear(&cage);
    return volume;
}

static double shape_judge(SnContext *context, const Shape *shape, int resolution, size_t *component_count, double *worst_weight)
{
    SnTriMesh mesh = shape_mesh(shape);
    return cage_judge(context, &mesh, resolution, component_count, worst_weight);
}

/* Volume of the ball with half a cell around it. */
static void a_ball_is_filled_and_its_envelope_is_smooth(void)
{
    SnContext context;
    size_t components;
    double worst;
    const double center[3] = {10.0, 20.0, 30.0};
    sn_context_init(&context);
    for (int resolution = 4; resolution <= 24; resolution += 5) {
        Shape shape = shape_sphere(&context, 30, 2.0, center, 1.0);
        double volume = shape_judge(&context, &shape, resolution, &components, &worst), r = 0.5 * resolution + 0.5;
        CHECK_NEAR(volume / (4.0 / 3.0 * SHAPE_PI * r * r * r), 1.0, 0.12);
        CHECK(components == 1);
        CHECK(worst > -1e-9);
        shape_clear(&shape);
    }
}

/* A box whose walls lie exactly half way between lattice planes must not leak. */
static void an_axis_aligned_box_is_filled_at_every_resolution(void)
{
    SnContext context;
    static const int32_t TRIANGLES[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                          2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    double positions[24];
    size_t components;
    double worst;
    sn_context_init(&context);
    for (int i = 0; i < 24; i++) {
        positions[i] = (i / 3) >> (i % 3) & 1 ? 1.0 : 0.0;
    }
    SnTriMesh mesh = {8, 12, positions, TRIANGLES};
    for (int resolution = 2; resolution <= 17; resolution++) {
        double volume = cage_judge(&context, &mesh, resolution, &components, &worst);
        CHECK(volume > pow(resolution, 3) && volume < pow(resolution + 1.2, 3));
        CHECK(components == 1);
    }
}

/* Body with an open neck, and turned triangles: filled like the closed one. */
static void open_bodies_come_out_filled(void)
{
    SnContext context;
    const double center[3] = {0.0, 0.0, 0.0};
    const double cuts[3] = {0.8, 0.4, 0.0};
    size_t components;
    double worst;
    sn_context_init(&context);
    for (int i = 0; i < 6; i++) {
        double h = 1.0 + cuts[i % 3], cell = 2.0 / 20;
        Shape shape = shape_sphere(&context, 30, 1.0, center, cuts[i % 3]);
        for (size_t j = 0; i >= 3 && j < shape.triangle_count; j += 2) {
            int32_t swap = shape.triangles[3 * j];
            shape.triangles[3 * j] = shape.triangles[3 * j + 1];
            shape.triangles[3 * j + 1] = swap;
        }
        double volume = shape_judge(&context, &shape, 20, &components, &worst);
        CHECK(volume * cell * cell * cell > SHAPE_PI * h * h * (3.0 - h) / 3.0);
        CHECK(volume * cell * cell * cell < 1.35 * SHAPE_PI * h * h * (3.0 - h) / 3.0);
        CHECK(components == 1);
        shape_clear(&shape);
    }
}

static void random_frame(uint64_t *seed, double u[3], double v[3], double n[3])
{
    double a[3], b[3], length = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        a[axis] = check_random(seed) - 0.5;
        b[axis] = check_random(seed) - 0.5;
        length += a[axis] * a[axis];
    }
    double along = 0.0, rest = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        u[axis] = a[axis] / sqrt(length);
        along += b[axis] * u[axis];
    }
    for (int axis = 0; axis < 3; axis++) {
        v[axis] = b[axis] - along * u[axis];
        rest += v[axis] * v[axis];
    }
    for (int axis = 0; axis < 3; axis++) {
        v[axis] /= sqrt(rest);
    }
    for (int axis = 0; axis < 3; axis++) {
        n[axis] = u[(axis + 1) % 3] * v[(axis + 2) % 3] - u[(axis + 2) % 3] * v[(axis + 1) % 3];
    }
}

/* However a thin sheet lies in the lattice, its cage is one layer without gaps. */
static void thin_sheets_are_never_pinched(void)
{
    SnContext context;
    uint64_t seed = 11;
    sn_context_init(&context);
    for (int round = 0; round < 24; round++) {
        double u[3] = {1.0, 0.0, 0.0}, v[3] = {0.0, 1.0, 0.0}, n[3];
        if (round % 4) {
            random_frame(&seed, u, v, n);
        }
        if (round % 4 == 1) { /* a plane between two layers of the lattice's densest planes */
            v[0] = 0.0, u[1] = u[2] = 0.0, u[0] = 1.0, v[1] = v[2] = sqrt(0.5);
        }
        const double origin[3] = {check_random(&seed), check_random(&seed), check_random(&seed)};
        size_t components;
        double worst;
        Shape shape = shape_plate(&context, 20, 3.0, origin, u, v);
        double side = 3.0 / (sn_tri_mesh_size(&(SnTriMesh){shape.vertex_count, 0, shape.positions, NULL}) / 15);
        double volume = shape_judge(&context, &shape, 15, &components, &worst);
        CHECK(components == 1);
        CHECK(volume > 0.7 * side * side && volume < 2.0 * (side + 1.0) * (side + 1.0));
        shape_clear(&shape);
    }
}

/* Components that the points first..first+count-1 are bound to, as a set of up to 64. */
static uint64_t bound_components(const SnTetMesh *cage, const SnEmbedding *embedding, const int32_t *labels, size_t first,
                                 size_t count)
{
    uint64_t set = 0;
    for (size_t i = first; i < first + count; i++) {
        set |= (uint64_t)1 << labels[cage->tets[4 * embedding->tets[i]]] % 64;
    }
    return set;
}

/* Whether two shapes, `cell` metres a cell, are held by one connected piece of cage. */
static int shapes_are_joined(SnContext *context, Shape first, Shape second, double cell, uint64_t *seed)
{
    size_t count = first.vertex_count;
    Shape shape = shape_join(context, first, second);
    SnTriMesh mesh = shape_mesh(&shape);
    double low[3], high[3];
    sn_tri_mesh_bounds(&mesh, low, high);
    /* Two loose points far along x fix the size of a cell and shift the lattice against the shapes. */
    Shape ends = shape_new(context, 2, 0);
    int resolution = (int)((high[0] - low[0]) / cell) + 14;
    ends.positions[0] = low[0] - (4.0 + 4.0 * check_random(seed)) * cell;
    ends.positions[3] = ends.positions[0] + resolution * cell;
    ends.positions[1] = ends.positions[4] = low[1] + check_random(seed) * cell;
    ends.positions[2] = ends.positions[5] = high[2] + check_random(seed) * cell;
    shape = shape_join(context, shape, ends);
    mesh = shape_mesh(&shape);
    CHECK_NEAR(sn_tri_mesh_size(&mesh) / cell, resolution, 1e-9);

    SnCageSettings settings = sn_cage_settings_default();
    SnTetMesh cage;
    SnEmbedding embedding;
    size_t components = 0;
    settings.resolution = resolution;
    CHECK(sn_cage_build(context, &mesh, &settings, &cage, &embedding) == SN_OK);
    int32_t *labels = SN_NEW(context, cage.vertex_count, int32_t);
    CHECK(sn_tet_mesh_components(context, &cage, labels, &components) == SN_OK);
    uint64_t a = bound_components(&cage, &embedding, labels, 0, count);
    uint64_t b = bound_components(&cage, &embedding, labels, count, shape.vertex_count - 2 - count);
    sn_release(labels);
    sn_embedding_clear(&embedding);
    sn_tet_mesh_clear(&cage);
    shape_clear(&shape);
    return (a & b) != 0;
}

static int plates_are_joined(SnContext *context, double gap, int aligned, uint64_t *seed)
{
    double u[3] = {1.0, 0.0, 0.0}, v[3] = {0.0, 1.0, 0.0}, n[3] = {0.0, 0.0, 1.0}, away[3];
    const double origin[3] = {check_random(seed), check_random(seed), check_random(seed)};
    if (!aligned) {
        random_frame(seed, u, v, n);
    }
    for (int axis = 0; axis < 3; axis++) {
        away[axis] = origin[axis] + gap * n[axis];
    }
    return shapes_are_joined(context, shape_plate(context, 8, 8.0, origin, u, v), shape_plate(context, 8, 8.0, away, u, v), 1.0, seed);
}

static void patches_more_than_two_cells_apart_share_nothing(void)
{
    SnContext context;
    uint64_t seed = 23;
    sn_context_init(&context);
    for (int round = 0; round < 20; round++) {
        CHECK(!plates_are_joined(&context, 2.01, round % 2, &seed));
    }
    for (int round = 0; round < 10; round++) {
        double u[3], v[3], n[3];
        random_frame(&seed, u, v, n);
        const double center[3] = {0.0, 0.0, 0.0}, other[3] = {6.01 * n[0], 6.01 * n[1], 6.01 * n[2]};
        CHECK(!shapes_are_joined(&context, shape_sphere(&context, 12, 2.0, center, 1.0),
                                 shape_sphere(&context, 12, 2.0, other, 1.0), 1.0, &seed));
    }
    /* The counter-test: what almost touches is joined. */
    for (int round = 0; round < 5; round++) {
        CHECK(plates_are_joined(&context, 0.9, round % 2, &seed));
    }
}

static void any_mesh_gets_a_cage(void)
{
    SnContext context;
    const double point[3] = {3.0, -4.0, 5.0};
    const double same[12] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    const double origin[3] = {0.0, 0.0, 0.0};
    const double needle[9] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 0.0};
    const int32_t triangle[3] = {0, 1, 2}, collapsed[6] = {0, 0, 1, 1, 2, 2};
    const SnTriMesh meshes[] = {{1, 0, point, NULL},     {4, 1, same, triangle},     {1, 0, origin, NULL},
                                {3, 1, needle, triangle}, {3, 2, needle, collapsed}, {3, 0, needle, NULL}};
    size_t components;
    double worst;
    sn_context_init(&context);
    for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++) {
        for (int resolution = 2; resolution <= 30; resolution += 14) {
            (void)cage_judge(&context, meshes + i, resolution, &components, &worst);
            CHECK(components == 1);
        }
    }
    const double scales[7] = {1e-6, 1.0, 1e6, 1e-25, 1e25, 1.0, 1e-3};
    const double shifts[7] = {0.0, 0.0, 0.0, 0.0, 0.0, 1e6, 1e4};
    for (int i = 0; i < 7; i++) {
        double triangle_positions[9] = {0.0, 0.0, 0.0, 1.0, 0.2, 0.0, 0.3, 1.0, 0.4};
        for (int j = 0; j < 9; j++) {
            triangle_positions[j] = scales[i] * triangle_positions[j] + shifts[i];
        }
        SnTriMesh mesh = {3, 1, triangle_positions, triangle};
        (void)cage_judge(&context, &mesh, 10, &components, &worst);
        CHECK(components == 1);
    }
}

static void refusals_say_what_to_do(void)
{
    SnContext context;
    SnTetMesh cage;
    SnEmbedding embedding;
    const double center[3] = {0.0, 0.0, 0.0};
    sn_context_init(&context);
    Shape shape = shape_sphere(&context, 10, 1.0, center, 1.0);
    SnTriMesh mesh = shape_mesh(&shape);
    SnCageSettings settings = {.resolution = 100, .offset = 0.5};
    CHECK(sn_cage_build(&context, &mesh, &settings, &cage, &embedding) == SN_BAD_INPUT);
    CHECK(strstr(context.message, "lower the resolution") != NULL);
    settings.resolution = 1;
    CHECK(sn_cage_build(&context, &mesh, &settings, &cage, &embedding) == SN_BAD_INPUT);
    settings = (SnCageSettings){.resolution = 8, .offset = 0.1};
    CHECK(sn_cage_build(&context, &mesh, &settings, &cage, &embedding) == SN_BAD_INPUT);
    settings = sn_cage_settings_default();
    shape.positions[4] = NAN;
    CHECK(sn_cage_build(&context, &mesh, &settings, &cage, &embedding) == SN_BAD_INPUT);
    CHECK(cage.positions == NULL && cage.tets == NULL && embedding.tets == NULL);
    shape_clear(&shape);
}

/* An open sphere passes through every stage that allocates. */
static void failing_memory_and_cancelling_leave_nothing_behind(void)
{
    SnContext context;
    SnTetMesh cage;
    SnEmbedding embedding;
    const double center[3] = {0.0, 0.0, 0.0};
    SnCageSettings settings = {.resolution = 8, .offset = 0.5};
    SnStatus status = SN_OUT_OF_MEMORY;
    long failing = 0;
    sn_context_init(&context);
    Shape shape = shape_sphere(&context, 8, 1.0, center, 0.5);
    SnTriMesh mesh = shape_mesh(&shape);
    for (; status != SN_OK && failing < 200; failing++) {
        context.allocations_until_failure = failing;
        status = sn_cage_build(&context, &mesh, &settings, &cage, &embedding);
        CHECK(status == SN_OK || (status == SN_OUT_OF_MEMORY && cage.positions == NULL && cage.tets == NULL && embedding.tets == NULL));
    }
    CHECK(status == SN_OK && failing > 20);
    sn_tet_mesh_clear(&cage);
    sn_embedding_clear(&embedding);
    context.allocations_until_failure = -1;
    sn_context_cancel(&context);
    CHECK(sn_cage_build(&context, &mesh, &settings, &cage, &embedding) == SN_CANCELLED);
    CHECK(cage.positions == NULL && cage.tets == NULL && embedding.tets == NULL);
    shape_clear(&shape);
}

static void same_bits_twice_and_on_any_number_of_threads(void)
{
    SnContext context;
    SnTetMesh first, second;
    SnEmbedding first_bound, second_bound;
    const double center[3] = {0.1, 0.2, 0.3};
    SnCageSettings settings = {.resolution = 20, .offset = 0.5};
    sn_context_init(&context);
    Shape shape = shape_sphere(&context, 20, 1.0, center, 0.3);
    SnTriMesh mesh = shape_mesh(&shape);
    sn_parallel_set_thread_count(1);
    CHECK(sn_cage_build(&context, &mesh, &settings, &first, &first_bound) == SN_OK);
    sn_parallel_set_thread_count(4);
    CHECK(sn_cage_build(&context, &mesh, &settings, &second, &second_bound) == SN_OK);
    sn_parallel_set_thread_count(0);
    CHECK(first.vertex_count == second.vertex_count && first.tet_count == second.tet_count);
    CHECK(memcmp(first.positions, second.positions, 3 * first.vertex_count * sizeof(double)) == 0);
    CHECK(memcmp(first.tets, second.tets, 4 * first.tet_count * sizeof(int32_t)) == 0);
    CHECK(memcmp(first_bound.tets, second_bound.tets, first_bound.vertex_count * sizeof(int32_t)) == 0);
    CHECK(memcmp(first_bound.weights, second_bound.weights, 4 * first_bound.vertex_count * sizeof(double)) == 0);
    sn_embedding_clear(&first_bound);
    sn_embedding_clear(&second_bound);
    sn_tet_mesh_clear(&first);
    sn_tet_mesh_clear(&second);
    shape_clear(&shape);
}

int main(void)
{
    a_ball_is_filled_and_its_envelope_is_smooth();
    an_axis_aligned_box_is_filled_at_every_resolution();
    open_bodies_come_out_filled();
    thin_sheets_are_never_pinched();
    patches_more_than_two_cells_apart_share_nothing();
    any_mesh_gets_a_cage();
    refusals_say_what_to_do();
    failing_memory_and_cancelling_leave_nothing_behind();
    same_bits_twice_and_on_any_number_of_threads();
    return CHECK_RESULT();
}
