/* Flat tets and tets that are inside out come out sound, and what is well shaped or held stays where it is. */
#include "check.h"
#include "shapes.h"

#include "mesh/cage.h"
#include "mesh/mend.h"

#include <string.h>

/* The cage of a ball. */
typedef struct Spoilt {
    SnTetMesh cage;
    double *home;    /* after vertices were moved */
    double *leashes; /* all the same */
} Spoilt;

/* Moves every n-th vertex by `far` cells, in a direction of its own. */
static Spoilt spoil_cage(SnContext *context, int resolution, size_t n, double far, double leash)
{
    const double center[3] = {0.3, -0.2, 0.1};
    SnEmbedding embedding;
    SnCageSettings settings = {.resolution = resolution, .offset = 0.5};
    Shape shape = shape_sphere(context, 16, 1.0, center, 1.0);
    SnTriMesh mesh = shape_mesh(&shape);
    Spoilt spoilt = {0};
    uint64_t seed = 5;
    CHECK(sn_cage_build(context, &mesh, &settings, &spoilt.cage, &embedding) == SN_OK);
    sn_embedding_clear(&embedding);
    shape_clear(&shape);
    double cell = sn_tet_mesh_cell(&spoilt.cage, 0);
    spoilt.home = SN_NEW(context, 3 * spoilt.cage.vertex_count, double);
    spoilt.leashes = SN_NEW(context, spoilt.cage.vertex_count, double);
    for (size_t i = 0; i < spoilt.cage.vertex_count; i++) {
        spoilt.leashes[i] = leash * cell;
        for (size_t axis = 0; axis < 3; axis++) {
            spoilt.cage.positions[3 * i + axis] += i % n == 0 ? 2.0 * far * cell * (check_random(&seed) - 0.5) : 0.0;
        }
    }
    memcpy(spoilt.home, spoilt.cage.positions, 3 * spoilt.cage.vertex_count * sizeof *spoilt.home);
    return spoilt;
}

static void clear_spoilt(Spoilt *spoilt)
{
    sn_tet_mesh_clear(&spoilt->cage);
    sn_release(spoilt->home);
    sn_release(spoilt->leashes);
}

static SnStatus mend(SnContext *context, Spoilt *spoilt)
{
    SnMendDef def = sn_mend_def_default();
    def.vertex_count = spoilt->cage.vertex_count;
    def.tet_count = spoilt->cage.tet_count;
    def.tets = spoilt->cage.tets;
    def.leashes = spoilt->leashes;
    return sn_mend_tets(context, &def, spoilt->cage.positions);
}

/* Least angle, or -1 with a tet inside out. */
static double least_angle(const Spoilt *spoilt, const double *positions)
{
    double least = 180.0;
    for (size_t tet = 0; tet < spoilt->cage.tet_count; tet++) {
        double angle = sn_tet_min_dihedral(positions, spoilt->cage.tets + 4 * tet);
        least = fmin(least, sn_tet_mesh_volume(&spoilt->cage, positions, tet) > 0.0 ? angle : -1.0);
    }
    return least;
}

static double farthest_move(const Spoilt *spoilt)
{
    double farthest = 0.0;
    for (size_t i = 0; i < spoilt->cage.vertex_count; i++) {
        const double *a = spoilt->cage.positions + 3 * i, *b = spoilt->home + 3 * i;
        farthest = fmax(farthest, sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2)));
    }
    return farthest;
}

static void tets_that_are_inside_out_come_out_sound(SnContext *context)
{
    Spoilt spoilt = spoil_cage(context, 10, 9, 0.6, 1.0);
    CHECK(least_angle(&spoilt, spoilt.home) < 0.0);
    CHECK(mend(context, &spoilt) == SN_OK);
    CHECK(least_angle(&spoilt, spoilt.cage.positions) >= 12.0);
    CHECK(farthest_move(&spoilt) <= spoilt.leashes[0] * (1.0 + 1e-12));
    clear_spoilt(&spoilt);
}

static void leashes_hold_and_no_angle_gets_worse(SnContext *context)
{
    Spoilt spoilt = spoil_cage(context, 8, 5, 0.4, 0.05);
    double before = least_angle(&spoilt, spoilt.home), cell = spoilt.leashes[0] / 0.05;
    for (size_t i = 0; i < spoilt.cage.vertex_count; i++) {
        spoilt.leashes[i] = i % 2 ? 0.0 : 0.05 * cell;
    }
    CHECK(before < 12.0);
    CHECK(mend(context, &spoilt) == SN_OK);
    CHECK(least_angle(&spoilt, spoilt.cage.positions) >= before);
    double farthest = farthest_move(&spoilt);
    CHECK(farthest > 0.01 * cell && farthest <= 0.05 * cell * (1.0 + 1e-12));
    size_t moved = 0;
    for (size_t i = 0; i < spoilt.cage.vertex_count; i++) {
        moved += i % 2 && memcmp(spoilt.cage.positions + 3 * i, spoilt.home + 3 * i, 3 * sizeof(double)) != 0;
    }
    CHECK(moved == 0);
    clear_spoilt(&spoilt);
}

static void a_sound_mesh_keeps_its_bits(SnContext *context)
{
    Spoilt spoilt = spoil_cage(context, 8, 4, 0.0, 1.0);
    CHECK(mend(context, &spoilt) == SN_OK);
    CHECK(memcmp(spoilt.cage.positions, spoilt.home, 3 * spoilt.cage.vertex_count * sizeof(double)) == 0);
    clear_spoilt(&spoilt);
}

static void bad_meshes_are_refused(SnContext *context)
{
    Spoilt spoilt = spoil_cage(context, 4, 4, 0.0, 1.0);
    int32_t corner = spoilt.cage.tets[5];
    spoilt.cage.tets[5] = (int32_t)spoilt.cage.vertex_count;
    CHECK(mend(context, &spoilt) == SN_BAD_INPUT && strstr(context->message, "Tet 1") != NULL);
    spoilt.cage.tets[5] = corner;
    spoilt.cage.positions[7] = NAN;
    CHECK(mend(context, &spoilt) == SN_BAD_INPUT && strstr(context->message, "Vertex 2") != NULL);
    clear_spoilt(&spoilt);
}

static void failing_memory_and_cancelling_are_told(SnContext *context)
{
    Spoilt spoilt = spoil_cage(context, 6, 5, 0.4, 1.0);
    SnStatus status = SN_OUT_OF_MEMORY;
    long failing = 0;
    for (; status == SN_OUT_OF_MEMORY && failing < 20; failing++) {
        context->allocations_until_failure = failing;
        status = mend(context, &spoilt);
    }
    context->allocations_until_failure = -1;
    CHECK(status == SN_OK && failing > 3);
    CHECK(strcmp(atomic_load(&context->stage), "Mending the cage") == 0 && atomic_load(&context->done) > 0);
    sn_context_cancel(context);
    CHECK(mend(context, &spoilt) == SN_CANCELLED);
    clear_spoilt(&spoilt);
}

int main(void)
{
    SnContext context;
    sn_context_init(&context);
    tets_that_are_inside_out_come_out_sound(&context);
    leashes_hold_and_no_angle_gets_worse(&context);
    a_sound_mesh_keeps_its_bits(&context);
    bad_meshes_are_refused(&context);
    failing_memory_and_cancelling_are_told(&context);
    return CHECK_RESULT();
}
