#include "check.h"

#include "base/memory.h"
#include "mesh/tet_mesh.h"

#include <string.h>

/* Two tets that share the face 0, 1, 2, and a third one apart. */
static SnTetMesh three_tets(SnContext *context)
{
    static const double POSITIONS[27] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -1, 5, 0, 0, 6, 0, 0, 5, 1, 0, 5, 0, 1};
    static const int32_t TETS[12] = {0, 1, 2, 3, 0, 2, 1, 4, 5, 6, 7, 8};
    SnTetMesh mesh;
    CHECK(sn_tet_mesh_init(context, 9, 3, &mesh) == SN_OK);
    memcpy(mesh.positions, POSITIONS, sizeof POSITIONS);
    memcpy(mesh.tets, TETS, sizeof TETS);
    return mesh;
}

static void volumes_and_angles_are_those_of_the_corner_tet(void)
{
    SnContext context;
    sn_context_init(&context);
    SnTetMesh mesh = three_tets(&context);
    for (size_t tet = 0; tet < 3; tet++) {
        CHECK_NEAR(sn_tet_mesh_volume(&mesh, mesh.positions, tet), 1.0 / 6.0, 1e-15);
    }
    CHECK_NEAR(sn_tet_mesh_min_dihedral(&mesh), acos(1.0 / sqrt(3.0)) * 180.0 / 3.14159265358979323846, 1e-10);
    CHECK(sn_tet_mesh_check(&context, &mesh) == SN_OK);
    sn_tet_mesh_clear(&mesh);
    sn_tet_mesh_clear(&mesh); /* clearing twice is harmless */
}

static void check_finds_what_is_wrong(void)
{
    SnContext context;
    sn_context_init(&context);
    SnTetMesh mesh = three_tets(&context);
    mesh.tets[8] = 6;
    mesh.tets[9] = 5;
    CHECK(sn_tet_mesh_check(&context, &mesh) == SN_BAD_INPUT);
    CHECK(strstr(context.message, "Tet 2") != NULL);
    mesh.tets[9] = 9;
    CHECK(sn_tet_mesh_check(&context, &mesh) == SN_BAD_INPUT);
    mesh.positions[3] = NAN;
    CHECK(sn_tet_mesh_check(&context, &mesh) == SN_BAD_INPUT);
    CHECK(strstr(context.message, "vertex 1") != NULL);
    sn_tet_mesh_clear(&mesh);
    CHECK(sn_tet_mesh_check(&context, &mesh) == SN_BAD_INPUT);
}

static void boundary_leaves_out_the_shared_face_and_looks_outwards(void)
{
    SnContext context;
    SnTetBoundary boundary;
    sn_context_init(&context);
    SnTetMesh mesh = three_tets(&context);
    CHECK(sn_tet_mesh_boundary(&context, &mesh, &boundary) == SN_OK);
    CHECK(boundary.face_count == 10);
    /* The divergence theorem: a boundary that looks outwards encloses the volume of the tets. */
    double volume = 0.0;
    for (size_t i = 0; i < boundary.face_count; i++) {
        const double *a = mesh.positions + 3 * boundary.faces[3 * i];
        const double *b = mesh.positions + 3 * boundary.faces[3 * i + 1];
        const double *c = mesh.positions + 3 * boundary.faces[3 * i + 2];
        volume += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0])) / 6.0;
        CHECK(boundary.tets[i] == (i < 3 ? 0 : i < 6 ? 1 : 2));
    }
    CHECK_NEAR(volume, 0.5, 1e-14);
    sn_tet_boundary_clear(&boundary);
    sn_tet_mesh_clear(&mesh);
}

static void components_are_counted(void)
{
    SnContext context;
    int32_t labels[9];
    size_t count = 0;
    sn_context_init(&context);
    SnTetMesh mesh = three_tets(&context);
    CHECK(sn_tet_mesh_components(&context, &mesh, labels, &count) == SN_OK);
    CHECK(count == 2);
    CHECK(labels[0] == 0 && labels[4] == 0 && labels[5] == 1 && labels[8] == 1);
    sn_tet_mesh_clear(&mesh);
}

int main(void)
{
    volumes_and_angles_are_those_of_the_corner_tet();
    check_finds_what_is_wrong();
    boundary_leaves_out_the_shared_face_and_looks_outwards();
    components_are_counted();
    return CHECK_RESULT();
}
