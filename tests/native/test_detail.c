/* Detail as a linear map from cage to surface. (What the surface looks like is tested with enrich.) */
#include "scenes.h"

#include "mesh/detail.h"

/* A bar whose surface lies in it, beside it and a little outside; fitted and simulated cages that are bent, some of it following. */
typedef struct Body {
    SnContext context;
    SnTetMesh cage;
    SnEmbedding embedding;
    SnDetailMap map;
    size_t n, m; /* 3 x cage vertices, 3 x surface vertices */
    double *points, *fitted, *simulated, *input, *result, *moved, *offset;
} Body;

static void body_init(Body *b, int has_flat_tets, double turn)
{
    uint64_t random = 7;
    memset(b, 0, sizeof *b);
    sn_context_init(&b->context);
    b->cage = scene_box(&b->context, 6, 2, 2, 0.1);
    b->n = 3 * b->cage.vertex_count;
    b->m = 3 * 60;
    b->points = SN_NEW(&b->context, b->m, double);
    b->input = SN_NEW(&b->context, b->m, double);
    b->result = SN_NEW(&b->context, b->m, double);
    b->moved = SN_NEW(&b->context, b->m, double);
    b->fitted = SN_NEW(&b->context, b->n, double);
    b->simulated = SN_NEW(&b->context, b->n, double);
    b->offset = SN_NEW(&b->context, b->n, double);
    for (size_t k = 0; k < b->m; k++) {
        b->points[k] = (k % 3 == 0 ? 0.6 : 0.2) * (1.1 * check_random(&random) - 0.05);
        b->input[k] = b->points[k] + 0.01 * scene_signed(&random);
    }
    for (size_t k = 0; k < b->n; k++) {
        const double *x = b->cage.positions + k - k % 3;
        double flat = has_flat_tets && x[0] > 0.45 && k % 3 == 1 ? -x[1] : 0.0;
        b->fitted[k] = b->cage.positions[k] + 0.005 * scene_signed(&random) + flat;
        b->simulated[k] = b->fitted[k] + (x[0] > 0.15 ? turn * (k % 3 == 2 ? x[0] * x[0] : 0.1 * scene_signed(&random)) : 0.0);
    }
    CHECK(sn_embedding_build(&b->context, &b->cage, b->m / 3, b->points, &b->embedding) == SN_OK);
    CHECK(sn_detail_map_init(&b->context, &b->cage, &b->embedding, &b->map) == SN_OK);
}

static void body_clear(Body *b)
{
    double *arrays[] = {b->points, b->fitted, b->simulated, b->input, b->result, b->moved, b->offset};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        sn_release(arrays[k]);
    }
    sn_detail_map_clear(&b->map);
    sn_embedding_clear(&b->embedding);
    sn_tet_mesh_clear(&b->cage);
}

static void show(Body *b, const double *input, SnInterpolation how)
{
    CHECK(sn_detail_apply(&b->context, &b->cage, &b->embedding, b->fitted, b->simulated, input, how, b->result) == SN_OK);
}

/* The surface of a cage is the input and the map of its offset, where the map was frozen: with flat tets and clamped gradients too. */
static void map_gives_the_surface(int has_flat_tets, double turn, SnInterpolation how, int has_input)
{
    Body b;
    body_init(&b, has_flat_tets, turn);
    const double *input = has_input ? b.input : NULL;
    double *held = SN_NEW(&b.context, b.m, double);
    sn_embedding_apply(&b.embedding, &b.cage, b.fitted, held);
    sn_detail_map_freeze(&b.map, b.fitted, b.simulated, input, how, NULL);
    for (size_t k = 0; k < b.n; k++) {
        b.offset[k] = b.simulated[k] - b.fitted[k];
    }
    sn_detail_map_apply(&b.map, b.offset, b.moved);
    show(&b, input, how);
    for (size_t k = 0; k < b.m; k++) {
        b.moved[k] += has_input ? input[k] : held[k];
    }
    CHECK(scene_distance(b.moved, b.result, b.m) < 1e-14);
    sn_release(held);
    body_clear(&b);
}

/* Differences of the detail itself, vertex by vertex of those that do not follow. */
static void map_is_the_derivative_of_the_detail(SnInterpolation how)
{
    const double h = 1e-4;
    Body b;
    body_init(&b, 1, 0.02); /* too little to be clamped */
    double *before = SN_NEW(&b.context, b.m, double), largest = 0.0, effect = 0.0;
    sn_detail_map_freeze(&b.map, b.fitted, b.simulated, b.input, how, NULL);
    for (size_t k = 0; k < b.n; k++) {
        double there = b.simulated[k];
        if (there == b.fitted[k]) {
            continue;
        }
        b.simulated[k] = there - h;
        show(&b, b.input, how);
        memcpy(before, b.result, b.m * sizeof *before);
        b.simulated[k] = there + h;
        show(&b, b.input, how);
        b.simulated[k] = there;
        memset(b.offset, 0, b.n * sizeof *b.offset);
        b.offset[k] = 1.0;
        sn_detail_map_apply(&b.map, b.offset, b.moved);
        for (size_t i = 0; i < b.m; i++) {
            largest = fmax(largest, fabs((b.result[i] - before[i]) / (2.0 * h) - b.moved[i]));
            effect = fmax(effect, fabs(b.moved[i]));
        }
    }
    CHECK_NEAR(largest, 0.0, 1e-11);
    CHECK(effect > 0.5);
    sn_release(before);
    body_clear(&b);
}

static void transpose_is_the_adjoint(SnInterpolation how, double turn)
{
    Body b;
    uint64_t random = 3;
    body_init(&b, 1, turn);
    double *forces = SN_NEW(&b.context, b.m, double), *pulled = SN_NEW(&b.context, b.n, double);
    double there = 0.0, here = 0.0, push[3] = {0}, pull[3] = {0};
    sn_detail_map_freeze(&b.map, b.fitted, b.simulated, b.input, how, NULL);
    for (size_t k = 0; k < b.n; k++) {
        b.offset[k] = scene_signed(&random);
    }
    for (size_t k = 0; k < b.m; k++) {
        forces[k] = scene_signed(&random);
    }
    sn_detail_map_apply(&b.map, b.offset, b.moved);
    sn_detail_map_transpose(&b.map, forces, pulled);
    for (size_t k = 0; k < b.m; k++) {
        there += forces[k] * b.moved[k];
        push[k % 3] += forces[k];
    }
    for (size_t k = 0; k < b.n; k++) {
        here += pulled[k] * b.offset[k];
        pull[k % 3] += pulled[k];
    }
    CHECK_NEAR(here, there, 1e-12 * fmax(1.0, fabs(there)));
    for (int a = 0; a < 3; a++) {
        CHECK_NEAR(pull[a], push[a], 1e-11); /* a shift is a shift, so momentum is kept */
    }
    sn_release(forces);
    sn_release(pulled);
    body_clear(&b);
}

int main(void)
{
    const SnInterpolation ways[2] = {SN_INTERPOLATION_LINEAR, SN_INTERPOLATION_PHONG};
    for (int k = 0; k < 2; k++) {
        map_gives_the_surface(0, 0.3, ways[k], 1);
        map_gives_the_surface(1, 0.3, ways[k], 1);
        map_gives_the_surface(1, 0.3, ways[k], 0);
        map_gives_the_surface(1, 60.0, ways[k], 1); /* clamped */
        map_is_the_derivative_of_the_detail(ways[k]);
        transpose_is_the_adjoint(ways[k], 0.02);
        transpose_is_the_adjoint(ways[k], 60.0);
    }
    return CHECK_RESULT();
}
