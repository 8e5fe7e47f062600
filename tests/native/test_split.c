/* Parts that are near each other but not connected have tets of their own; connected ones are not cut. */
#include "check.h"
#include "shapes.h"

#include "base/parallel.h"
#include "mesh/cage.h"
#include "mesh/geometry.h"
#include "mesh/stuffing.h"

#include <string.h>

/* A block with a slit from the top, in tenths of a cell: two fingers on a palm. */
typedef struct Fork {
    int width;  /* of each finger, and depth of all */
    int gap;
    int length; /* of the fingers */
    int palm;   /* height of the palm */
} Fork;

#define TENTHS 10.0 /* of a cell, in units of the fork */

static int fork_holds(const Fork *fork, int i, int j, int k)
{
    return i >= 0 && j >= 0 && k >= 0 && i < 2 * fork->width + fork->gap && j < fork->width && k < fork->palm + fork->length &&
           (k < fork->palm || i < fork->width || i >= fork->width + fork->gap);
}

/* The fork's surface as quads of two tenths' side at most; vertices in one place are one. */
static Shape fork_shape(SnContext *context, const Fork *fork)
{
    int n[3] = {2 * fork->width + fork->gap + 1, fork->width + 1, fork->palm + fork->length + 1};
    size_t total = (size_t)n[0] * (size_t)n[1] * (size_t)n[2], faces = 0, vertices = 0;
    int32_t *index = SN_NEW(context, total, int32_t);
    Shape all = shape_new(context, total, 6 * total);
    for (int cell = 0; cell < (int)total; cell++) {
        int at[3] = {cell % n[0], cell / n[0] % n[1], cell / n[0] / n[1]};
        for (int side = 0; side < 6 && fork_holds(fork, at[0], at[1], at[2]); side++) {
            int a = side / 2, b = (a + 1) % 3, c = (a + 2) % 3, beyond[3] = {at[0], at[1], at[2]};
            beyond[a] += side % 2 ? 1 : -1;
            if (fork_holds(fork, beyond[0], beyond[1], beyond[2])) {
                continue;
            }
            int32_t quad[4];
            for (int corner = 0; corner < 4; corner++) {
                int x[3] = {at[0], at[1], at[2]};
                x[a] += side % 2;
                x[b] += corner == 1 || corner == 2;
                x[c] += corner >= 2;
                int32_t *vertex = index + (x[2] * n[1] + x[1]) * n[0] + x[0];
                if (*vertex == 0) {
                    for (int axis = 0; axis < 3; axis++) {
                        all.positions[3 * vertices + (size_t)axis] = x[axis];
                    }
                    *vertex = (int32_t)++vertices;
                }
                quad[corner] = *vertex - 1;
            }
            const int32_t split[6] = {quad[0], quad[1], quad[2], quad[0], quad[2], quad[3]};
            memcpy(all.triangles + 6 * faces++, split, sizeof split);
        }
    }
    sn_release(index);
    all.vertex_count = vertices;
    all.triangle_count = 2 * faces;
    return all;
}

/* Turns about two axes. */
static void shape_turn(Shape *shape, double angle)
{
    for (size_t i = 0; i < shape->vertex_count; i++) {
        double *x = shape->positions + 3 * i, c = cos(angle), s = sin(angle);
        double y[3] = {c * x[0] - s * x[1], s * x[0] + c * x[1], x[2]};
        x[0] = y[0], x[1] = c * y[1] - s * y[2], x[2] = s * y[1] + c * y[2];
    }
}

/* Height of each cage vertex over the fork's floor, in the fork's own axes: what the weights of the surface cannot tell. */
static double fork_height(const double x[3], double angle)
{
    return cos(angle) * x[2] - sin(angle) * x[1];
}

/* Whether the fingers of a turned fork are held apart and in one piece each, and the whole in one piece. */
static void fork_check(SnContext *context, const Fork *fork, double angle)
{
    SnCageSettings settings = sn_cage_settings_default();
    settings.separate_parts = 1;
    SnTetMesh cage;
    SnEmbedding embedding;
    Shape shape = fork_shape(context, fork);
    uint8_t *fingers = SN_NEW(context, shape.vertex_count, uint8_t);
    size_t components = 0, kept = 0;
    double bar = fork->palm + 2.0 * TENTHS; /* what the palm holds together ends below */
    for (size_t i = 0; i < shape.vertex_count; i++) {
        const double *x = shape.positions + 3 * i;
        fingers[i] = (uint8_t)(x[2] < bar + 2.0 * TENTHS ? 0 : (x[0] <= fork->width ? 1 : 2));
    }
    shape_turn(&shape, angle);
    SnTriMesh mesh = shape_mesh(&shape);
    settings.resolution = (int)ceil(sn_tri_mesh_size(&mesh) / TENTHS - 1e-9);
    if (!CHECK(sn_cage_build(context, &mesh, &settings, &cage, &embedding) == SN_OK)) {
        return;
    }
    int32_t *labels = SN_NEW(context, cage.vertex_count, int32_t);
    CHECK(sn_tet_mesh_check(context, &cage) == SN_OK);
    CHECK(sn_tet_mesh_min_dihedral(&cage) > 10.0);
    CHECK(sn_tet_mesh_components(context, &cage, labels, &components) == SN_OK && components == 1);

    /* Without the palm the fingers fall apart. */
    for (size_t tet = 0; tet < cage.tet_count; tet++) {
        int above = 1;
        for (size_t i = 0; i < 4; i++) {
            above = above && fork_height(cage.positions + 3 * (size_t)cage.tets[4 * tet + i], angle) > bar;
        }
        if (above) {
            kept++;
        }
    }
    SnTetMesh top = {0};
    CHECK(sn_tet_mesh_init(context, cage.vertex_count, kept, &top) == SN_OK);
    memcpy(top.positions, cage.positions, 3 * cage.vertex_count * sizeof(double));
    kept = 0;
    for (size_t tet = 0; tet < cage.tet_count; tet++) {
        int above = 1;
        for (size_t i = 0; i < 4; i++) {
            above = above && fork_height(cage.positions + 3 * (size_t)cage.tets[4 * tet + i], angle) > bar;
        }
        if (above) {
            memcpy(top.tets + 4 * kept++, cage.tets + 4 * tet, 4 * sizeof(int32_t));
        }
    }
    CHECK(sn_tet_mesh_components(context, &top, labels, &components) == SN_OK);
    int32_t label[3] = {-1, -1, -1};
    int astray = 0;
    for (size_t i = 0; i < mesh.vertex_count; i++) {
        if (fingers[i]) {
            int32_t found = labels[cage.tets[4 * embedding.tets[i]]];
            label[fingers[i]] = label[fingers[i]] < 0 ? found : label[fingers[i]];
            astray += found != label[fingers[i]];
        }
    }
    CHECK(astray == 0);
    CHECK(label[1] != label[2]);

    /* The binding reproduces the surface. */
    double *surface = SN_NEW(context, 3 * mesh.vertex_count, double), worst = 0.0;
    sn_embedding_apply(&embedding, &cage, cage.positions, surface);
    for (size_t i = 0; i < 3 * mesh.vertex_count; i++) {
        worst = fmax(worst, fabs(surface[i] - mesh.positions[i]));
    }
    CHECK(worst < 1e-9);
    sn_release(surface);
    sn_release(labels);
    sn_release(fingers);
    sn_tet_mesh_clear(&top);
    sn_tet_mesh_clear(&cage);
    sn_embedding_clear(&embedding);
    shape_clear(&shape);
}

static void two_fingers_half_a_cell_apart_meet_only_in_the_palm(void)
{
    SnContext context;
    const Fork fork = {.width = 10, .gap = 5, .length = 70, .palm = 20}, thin = {.width = 6, .gap = 5, .length = 70, .palm = 10};
    sn_context_init(&context);
    for (int i = 0; i < (CHECK_IS_SLOW ? 1 : 3); i++) {
        fork_check(&context, &fork, 0.74 * i);
        fork_check(&context, &thin, 0.82 * i);
    }
}

static void a_slit_in_a_block_stays_open(void)
{
    SnContext context;
    const Fork fork = {.width = 30, .gap = 4, .length = 70, .palm = 20};
    sn_context_init(&context);
    for (int i = 0; i < (CHECK_IS_SLOW ? 1 : 2); i++) {
        fork_check(&context, &fork, 0.6 * i);
    }
}

/* What the stuffing makes of the mesh before anything is parted. */
static SnStatus whole_cage(SnContext *context, const SnTriMesh *mesh, int resolution, SnTetMesh *cage)
{
    SnStatus status = SN_OK;
    SnLattice lattice;
    SnSoup soup = {0};
    SnDistanceField field = {0};
    SnEnvelope envelope = {0};
    double low[3], high[3];
    sn_tri_mesh_bounds(mesh, low, high);
    sn_lattice_init(low, high, sn_tri_mesh_size(mesh) / resolution, 0.5, &lattice);
    SN_TRY(sn_soup_build(context, mesh, &lattice, &soup));
    SN_TRY(sn_distance_field_build(context, &lattice, &soup, 0.6, &field));
    SN_TRY(sn_envelope_build(context, mesh, &lattice, &soup, &field, 0.5, &envelope));
    SN_TRY(sn_stuffing_build(context, &envelope, &field, cage));
cleanup:
    sn_envelope_clear(&envelope);
    sn_distance_field_clear(&field);
    sn_soup_clear(&soup);
    return status;
}

static void shape_stays_whole(SnContext *context, Shape shape, int resolution)
{
    SnTetMesh cage = {0}, whole = {0};
    SnEmbedding embedding = {0};
    SnTriMesh mesh = shape_mesh(&shape);
    SnCageSettings settings = {.resolution = resolution, .offset = 0.5, .separate_parts = 1};
    CHECK(whole_cage(context, &mesh, resolution, &whole) == SN_OK);
    CHECK(sn_cage_build(context, &mesh, &settings, &cage, &embedding) == SN_OK);
    CHECK(cage.tet_count == whole.tet_count);
    if (CHECK(cage.vertex_count == whole.vertex_count) && cage.tet_count == whole.tet_count) {
        CHECK(memcmp(cage.positions, whole.positions, 3 * whole.vertex_count * sizeof(double)) == 0);
        CHECK(memcmp(cage.tets, whole.tets, 4 * whole.tet_count * sizeof(int32_t)) == 0);
    }
    sn_tet_mesh_clear(&cage);
    sn_tet_mesh_clear(&whole);
    sn_embedding_clear(&embedding);
    shape_clear(&shape);
}

/* A closed ring; radii in metres. */
static Shape torus(SnContext *context, double radius, double tube)
{
    int n = 96, m = 12;
    Shape shape = shape_new(context, (size_t)((n + 1) * (m + 1)), (size_t)(2 * n * m));
    for (int j = 0; j <= m; j++) {
        for (int i = 0; i <= n; i++) {
            double a = 2.0 * SHAPE_PI * (i % n) / n, b = 2.0 * SHAPE_PI * (j % m) / m, *x = shape.positions + 3 * (j * (n + 1) + i);
            x[0] = (radius + tube * cos(b)) * cos(a);
            x[1] = (radius + tube * cos(b)) * sin(a);
            x[2] = tube * sin(b);
        }
    }
    shape_grid_triangles(&shape, n, m);
    return shape;
}

static void connected_bodies_are_not_cut(void)
{
    SnContext context;
    const double center[3] = {0.3, 0.2, 0.1}, u[3] = {0.8, 0.6, 0.0}, v[3] = {0.0, 0.0, 1.0};
    sn_context_init(&context);
    for (int resolution = 4; resolution <= 16; resolution += 6) {
        shape_stays_whole(&context, shape_sphere(&context, 30, 1.0, center, 1.0), resolution);
        shape_stays_whole(&context, shape_sphere(&context, 30, 1.0, center, 0.4), resolution); /* open, filled */
        shape_stays_whole(&context, shape_plate(&context, 10, 2.0, center, u, v), resolution);
    }
    Shape ring = torus(&context, 5.0, 0.3), flat = torus(&context, 5.0, 0.3);
    shape_turn(&ring, 0.7);
    shape_stays_whole(&context, ring, 10);
    shape_stays_whole(&context, flat, 10);
    for (int i = 0; i < (CHECK_IS_SLOW ? 2 : 8); i++) { /* an arm narrower than a cell is one piece through its inside */
        Shape arm = shape_sphere(&context, 24, 1.0, center, 1.0);
        for (size_t j = 0; j < arm.vertex_count; j++) {
            arm.positions[3 * j] *= 0.06;
            arm.positions[3 * j + 1] *= 0.06;
        }
        shape_turn(&arm, 0.3 * i);
        shape_stays_whole(&context, arm, 10);
    }
}

/* Loose vertices hold no body: they go with the tets around them. */
static void clouds_are_not_shattered(void)
{
    SnContext context;
    const double center[3] = {0.0, 0.0, 0.0};
    sn_context_init(&context);
    Shape cloud = shape_sphere(&context, 20, 1.0, center, 1.0);
    SnTriMesh mesh = {cloud.vertex_count, 0, cloud.positions, NULL};
    SnCageSettings settings = {.resolution = 10, .offset = 0.5, .separate_parts = 1};
    SnTetMesh cage;
    SnEmbedding embedding;
    size_t components = 0;
    CHECK(sn_cage_build(&context, &mesh, &settings, &cage, &embedding) == SN_OK);
    int32_t *labels = SN_NEW(&context, cage.vertex_count, int32_t);
    CHECK(sn_tet_mesh_components(&context, &cage, labels, &components) == SN_OK && components == 1);
    sn_release(labels);
    sn_tet_mesh_clear(&cage);
    sn_embedding_clear(&embedding);
    shape_clear(&cloud);
}

static void same_bits_on_any_number_of_threads(void)
{
    SnContext context;
    const Fork fork = {.width = 10, .gap = 5, .length = 60, .palm = 20};
    SnTetMesh cages[2];
    SnEmbedding embeddings[2];
    SnCageSettings settings = {.resolution = 10, .offset = 0.5, .separate_parts = 1};
    sn_context_init(&context);
    Shape shape = fork_shape(&context, &fork);
    shape_turn(&shape, 1.0);
    SnTriMesh mesh = shape_mesh(&shape);
    for (int i = 0; i < 2; i++) {
        sn_parallel_set_thread_count(1 + 3 * i);
        CHECK(sn_cage_build(&context, &mesh, &settings, &cages[i], &embeddings[i]) == SN_OK);
    }
    sn_parallel_set_thread_count(0);
    if (CHECK(cages[0].vertex_count == cages[1].vertex_count && cages[0].tet_count == cages[1].tet_count)) {
        CHECK(memcmp(cages[0].positions, cages[1].positions, 3 * cages[0].vertex_count * sizeof(double)) == 0);
        CHECK(memcmp(cages[0].tets, cages[1].tets, 4 * cages[0].tet_count * sizeof(int32_t)) == 0);
        CHECK(memcmp(embeddings[0].tets, embeddings[1].tets, mesh.vertex_count * sizeof(int32_t)) == 0);
    }
    for (int i = 0; i < 2; i++) {
        sn_tet_mesh_clear(&cages[i]);
        sn_embedding_clear(&embeddings[i]);
    }
    shape_clear(&shape);
}

static void failing_memory_and_cancelling_leave_nothing_behind(void)
{
    SnContext context;
    const Fork fork = {.width = 10, .gap = 5, .length = 20, .palm = 10};
    SnTetMesh cage;
    SnEmbedding embedding;
    SnCageSettings settings = {.resolution = 4, .offset = 0.5, .separate_parts = 1};
    SnStatus status = SN_OUT_OF_MEMORY;
    long failing = 0;
    sn_context_init(&context);
    Shape shape = fork_shape(&context, &fork);
    SnTriMesh mesh = shape_mesh(&shape);
    for (; status != SN_OK && failing < 200; failing++) {
        context.allocations_until_failure = failing;
        status = sn_cage_build(&context, &mesh, &settings, &cage, &embedding);
        CHECK(status == SN_OK || (status == SN_OUT_OF_MEMORY && cage.positions == NULL && cage.tets == NULL &&
                                  embedding.tets == NULL && embedding.weights == NULL));
    }
    CHECK(status == SN_OK && failing > 40);
    sn_tet_mesh_clear(&cage);
    sn_embedding_clear(&embedding);
    context.allocations_until_failure = -1;
    sn_context_cancel(&context);
    CHECK(sn_cage_build(&context, &mesh, &settings, &cage, &embedding) == SN_CANCELLED);
    CHECK(cage.positions == NULL && embedding.tets == NULL);
    shape_clear(&shape);
}

int main(void)
{
    two_fingers_half_a_cell_apart_meet_only_in_the_palm();
    a_slit_in_a_block_stays_open();
    connected_bodies_are_not_cut();
    clouds_are_not_shattered();
    same_bits_on_any_number_of_threads();
    failing_memory_and_cancelling_leave_nothing_behind();
    return CHECK_RESULT();
}
