/* Every long call of the mesh layer looks at the wish to cancel, again and again, tells how far it is, leaves nothing behind when it is
   cancelled, and can be called anew. */
#include "cancel.h"
#include "shapes.h"

#include "mesh/cage.h"
#include "mesh/distance_field.h"
#include "mesh/fill.h"
#include "mesh/mend.h"
#include "mesh/patches.h"
#include "mesh/shells.h"
#include "mesh/split.h"
#include "mesh/stuffing.h"

#include <string.h>

/* A sausage, bent until its ends are so near that they share tets, and a small open ball that holds on to it; what each call is given. */
typedef struct Body {
    Shape shape;
    SnTriMesh mesh;
    SnLattice lattice;
    SnSoup soup;
    SnDistanceField field;
    SnEnvelope envelope;
    SnTetMesh cage;
    SnEmbedding embedding;
    SnShells shells;
} Body;

static Shape bent_sausage(SnContext *context)
{
    enum { AROUND = 12, ALONG = 32 };
    Shape shape = shape_new(context, (AROUND + 1) * (ALONG + 1), 2 * AROUND * ALONG);
    for (int j = 0; j <= ALONG; j++) {
        for (int i = 0; i <= AROUND; i++) {
            double turn = 2.0 * SHAPE_PI * (i % AROUND) / AROUND, along = 0.1 + (2.0 * SHAPE_PI - 0.2) * j / ALONG;
            double radius = j == 0 || j == ALONG ? 0.0 : 0.4;
            double *x = shape.positions + 3 * (j * (AROUND + 1) + i);
            x[0] = (1.0 + radius * cos(turn)) * cos(along);
            x[1] = (1.0 + radius * cos(turn)) * sin(along);
            x[2] = radius * sin(turn);
        }
    }
    shape_grid_triangles(&shape, AROUND, ALONG);
    return shape;
}

static void make_body(SnContext *context, Body *body)
{
    static const double CENTER[3] = {0.0, 1.6, 0.0};
    double low[3], high[3];
    *body = (Body){0};
    body->shape = shape_join(context, bent_sausage(context), shape_sphere(context, 8, 0.2, CENTER, 0.8));
    body->mesh = shape_mesh(&body->shape);
    sn_tri_mesh_bounds(&body->mesh, low, high);
    sn_lattice_init(low, high, 0.3, 0.5, &body->lattice);
    CHECK(sn_soup_build(context, &body->mesh, &body->lattice, &body->soup) == SN_OK);
    CHECK(sn_distance_field_build(context, &body->lattice, &body->soup, 1.5, &body->field) == SN_OK);
    CHECK(sn_envelope_build(context, &body->mesh, &body->lattice, &body->soup, &body->field, 0.5, &body->envelope) == SN_OK);
    CHECK(sn_stuffing_build(context, &body->envelope, &body->field, &body->cage) == SN_OK);
    CHECK(sn_embedding_build(context, &body->cage, body->mesh.vertex_count, body->mesh.positions, &body->embedding) == SN_OK);
    CHECK(sn_shells_build(context, &body->mesh, &body->lattice, 2.0, &body->shells) == SN_OK);
}

static void clear_body(Body *body)
{
    sn_shells_clear(&body->shells);
    sn_embedding_clear(&body->embedding);
    sn_tet_mesh_clear(&body->cage);
    sn_envelope_clear(&body->envelope);
    sn_distance_field_clear(&body->field);
    sn_soup_clear(&body->soup);
    shape_clear(&body->shape);
}

static SnStatus make_soup(SnContext *context, void *data)
{
    const Body *body = data;
    SnSoup soup;
    SnStatus status = sn_soup_build(context, &body->mesh, &body->lattice, &soup);
    CHECK(status == SN_OK || soup.corners == NULL);
    sn_soup_clear(&soup);
    return status;
}

static SnStatus make_field(SnContext *context, void *data)
{
    const Body *body = data;
    SnDistanceField field;
    SnStatus status = sn_distance_field_build(context, &body->lattice, &body->soup, 1.5, &field);
    CHECK(status == SN_OK || field.distances == NULL);
    sn_distance_field_clear(&field);
    return status;
}

static SnStatus make_patches(SnContext *context, void *data)
{
    const Body *body = data;
    SnPatches patches;
    sn_context_stage(context, "Finding inside and outside", 1); /* it is a part of other work */
    SnStatus status = sn_patches_build(context, &body->mesh, &patches);
    CHECK(status == SN_OK || patches.starts == NULL);
    sn_patches_clear(&patches);
    return status;
}

static SnStatus make_envelope(SnContext *context, void *data)
{
    const Body *body = data;
    SnEnvelope envelope;
    SnStatus status = sn_envelope_build(context, &body->mesh, &body->lattice, &body->soup, &body->field, 0.5, &envelope);
    CHECK(status == SN_OK ? envelope.winding_count == 1 : envelope.inside == NULL);
    sn_envelope_clear(&envelope);
    return status;
}

static SnStatus make_stuffing(SnContext *context, void *data)
{
    const Body *body = data;
    SnTetMesh cage;
    SnStatus status = sn_stuffing_build(context, &body->envelope, &body->field, &cage);
    CHECK(status == SN_OK || cage.tets == NULL);
    sn_tet_mesh_clear(&cage);
    return status;
}

static SnStatus make_embedding(SnContext *context, void *data)
{
    const Body *body = data;
    SnEmbedding embedding;
    SnStatus status = sn_embedding_build(context, &body->cage, body->mesh.vertex_count, body->mesh.positions, &embedding);
    CHECK(status == SN_OK || embedding.tets == NULL);
    sn_embedding_clear(&embedding);
    return status;
}

static SnStatus make_shells(SnContext *context, void *data)
{
    const Body *body = data;
    SnShells shells;
    SnStatus status = sn_shells_build(context, &body->mesh, &body->lattice, 2.0, &shells);
    CHECK(status == SN_OK ? shells.hold_count > 0 : shells.corners == NULL);
    sn_shells_clear(&shells);
    return status;
}

/* Works in place: what is cancelled stays as it was. */
static SnStatus split_cage(SnContext *context, void *data)
{
    const Body *body = data;
    SnContext own;
    SnTetMesh cage;
    SnEmbedding embedding;
    sn_context_init(&own);
    CHECK(sn_tet_mesh_init(&own, body->cage.vertex_count, body->cage.tet_count, &cage) == SN_OK);
    memcpy(cage.positions, body->cage.positions, 3 * cage.vertex_count * sizeof *cage.positions);
    memcpy(cage.tets, body->cage.tets, 4 * cage.tet_count * sizeof *cage.tets);
    CHECK(sn_embedding_build(&own, &cage, body->mesh.vertex_count, body->mesh.positions, &embedding) == SN_OK);
    SnStatus status = sn_split_apply(context, &body->shells, &body->lattice, body->mesh.positions, 0.8, &cage, &embedding);
    int same = cage.vertex_count == body->cage.vertex_count && cage.tet_count == body->cage.tet_count &&
               memcmp(cage.tets, body->cage.tets, 4 * cage.tet_count * sizeof *cage.tets) == 0 &&
               memcmp(embedding.tets, body->embedding.tets, embedding.vertex_count * sizeof *embedding.tets) == 0;
    CHECK(same == (status != SN_OK));
    sn_embedding_clear(&embedding);
    sn_tet_mesh_clear(&cage);
    return status;
}

static SnStatus measure_fill(SnContext *context, void *data)
{
    const Body *body = data;
    SnContext own;
    sn_context_init(&own);
    double *share = SN_NEW(&own, body->cage.tet_count, double), *thickness = SN_NEW(&own, body->cage.tet_count, double);
    SnStatus status = sn_fill_measure(context, &body->mesh, &body->cage, &body->embedding, share, thickness);
    sn_release(share);
    sn_release(thickness);
    return status;
}

static SnStatus measure_cloud(SnContext *context, void *data)
{
    const Body *body = data;
    SnContext own;
    SnTriMesh cloud = body->mesh;
    sn_context_init(&own);
    sn_context_stage(context, "Reading the surface", 1); /* it is a part of other work */
    double *areas = SN_NEW(&own, cloud.vertex_count, double);
    cloud.triangle_count = 0;
    SnStatus status = sn_tri_mesh_vertex_areas(context, &cloud, areas);
    sn_release(areas);
    return status;
}

/* With a goal that keeps it busy. */
static SnStatus mend_cage(SnContext *context, void *data)
{
    const Body *body = data;
    SnContext own;
    sn_context_init(&own);
    SnMendDef def = sn_mend_def_default();
    double *positions = SN_NEW(&own, 3 * body->cage.vertex_count, double), *leashes = SN_NEW(&own, body->cage.vertex_count, double);
    memcpy(positions, body->cage.positions, 3 * body->cage.vertex_count * sizeof *positions);
    for (size_t i = 0; i < body->cage.vertex_count; i++) {
        leashes[i] = 0.05;
    }
    def.vertex_count = body->cage.vertex_count;
    def.tet_count = body->cage.tet_count;
    def.tets = body->cage.tets;
    def.leashes = leashes;
    def.goal = 21.0;
    def.rounds = 2;
    SnStatus status = sn_mend_tets(context, &def, positions);
    sn_release(positions);
    sn_release(leashes);
    return status;
}

static SnStatus make_cage(SnContext *context, void *data)
{
    const Body *body = data;
    SnTetMesh cage;
    SnEmbedding embedding;
    SnCageSettings settings = {.resolution = 9, .offset = 0.5, .separate_parts = 1};
    SnStatus status = sn_cage_build(context, &body->mesh, &settings, &cage, &embedding);
    CHECK(status == SN_OK || (cage.tets == NULL && embedding.tets == NULL));
    sn_embedding_clear(&embedding);
    sn_tet_mesh_clear(&cage);
    return status;
}

typedef struct Call {
    const char *name, *stage; /* that it ends in */
    SnStatus (*function)(SnContext *context, void *body);
    long least_looks;
} Call;

int main(void)
{
    static const Call CALLS[] = {
        {"soup", "Reading the surface", make_soup, 2},
        {"areas of a cloud", "Reading the surface", measure_cloud, 1},
        {"distance field", "Measuring the surface", make_field, 2},
        {"patches", "Finding inside and outside", make_patches, 3},
        {"envelope", "Finding inside and outside", make_envelope, 8},
        {"stuffing", "Filling the cage", make_stuffing, 10},
        {"embedding", "Binding the surface", make_embedding, 3},
        {"shells", "Finding the parts", make_shells, 6},
        {"split", "Parting what only lies near", split_cage, 5},
        {"fill", "Weighing the flesh", measure_fill, 12},
        {"mending", "Mending the cage", mend_cage, 10},
        {"cage", "Parting what only lies near", make_cage, 35},
    };
    SnContext context;
    Body body;
    sn_context_init(&context);
    make_body(&context, &body);
    for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++) {
        cancel_at_every_look(CALLS[i].name, CALLS[i].function, &body, CALLS[i].least_looks, CALLS[i].stage);
    }
    clear_body(&body);
    return CHECK_RESULT();
}
