#include "mesh/tet_mesh.h"

#include "base/memory.h"
#include "mesh/geometry.h"
#include "mesh/union_find.h"

#include <string.h>

#define CELL_OF_EDGE 1.1 /* the edge of a lattice cube over the mean edge of its tets */

/* Face i lies opposite vertex i and looks outwards. */
static const int FACES[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

SnStatus sn_tet_mesh_init(SnContext *context, size_t vertex_count, size_t tet_count, SnTetMesh *mesh)
{
    SnStatus status = SN_OK;
    *mesh = (SnTetMesh){0};
    SN_TRY_NEW(context, mesh->positions, 3 * vertex_count, double);
    SN_TRY_NEW(context, mesh->tets, 4 * tet_count, int32_t);
    mesh->vertex_count = vertex_count;
    mesh->tet_count = tet_count;
cleanup:
    if (status != SN_OK) {
        sn_tet_mesh_clear(mesh);
    }
    return status;
}

void sn_tet_mesh_clear(SnTetMesh *mesh)
{
    sn_release(mesh->positions);
    sn_release(mesh->tets);
    *mesh = (SnTetMesh){0};
}

SnStatus sn_tet_mesh_check(SnContext *context, const SnTetMesh *mesh)
{
    if (mesh->vertex_count == 0 || mesh->tet_count == 0) {
        return sn_context_fail(context, SN_BAD_INPUT, "The cage has no tets: build it again.");
    }
    for (size_t i = 0; i < 3 * mesh->vertex_count; i++) {
        if (!isfinite(mesh->positions[i])) {
            return sn_context_fail(context, SN_BAD_INPUT, "Cage vertex %zu is not at a finite place: build the cage again.",
                                   i / 3);
        }
    }
    for (size_t i = 0; i < 4 * mesh->tet_count; i++) {
        if (mesh->tets[i] < 0 || (size_t)mesh->tets[i] >= mesh->vertex_count) {
            return sn_context_fail(context, SN_BAD_INPUT, "Tet %zu names vertex %ld, which the cage does not have.", i / 4,
                                   (long)mesh->tets[i]);
        }
    }
    for (size_t tet = 0; tet < mesh->tet_count; tet++) {
        if (!(sn_tet_mesh_volume(mesh, mesh->positions, tet) > 0.0)) {
            return sn_context_fail(context, SN_BAD_INPUT, "Tet %zu of the cage is flat or inverted: build the cage again.", tet);
        }
    }
    return SN_OK;
}

static void find_corners(const SnTetMesh *mesh, const double *positions, size_t tet, const double *corners[4])
{
    for (size_t i = 0; i < 4; i++) {
        corners[i] = positions + 3 * (size_t)mesh->tets[4 * tet + i];
    }
}

double sn_tet_mesh_volume(const SnTetMesh *mesh, const double *positions, size_t tet)
{
    const double *x[4];
    find_corners(mesh, positions, tet, x);
    return sn_volume_six(x[0], x[1], x[2], x[3]) / 6.0;
}

void sn_tet_mesh_lumped_mass(const SnTetMesh *mesh, double density, const double *scale, double *mass)
{
    memset(mass, 0, mesh->vertex_count * sizeof *mass);
    for (size_t e = 0; e < mesh->tet_count; e++) {
        double quarter = 0.25 * density * (scale ? scale[e] : 1.0) * fabs(sn_tet_mesh_volume(mesh, mesh->positions, e));
        for (size_t i = 0; i < 4; i++) {
            mass[mesh->tets[4 * e + i]] += quarter;
        }
    }
}

double sn_tet_mesh_longest_side(const SnTetMesh *mesh)
{
    double side = 0.0;
    for (size_t a = 0; a < 3; a++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t v = 0; v < mesh->vertex_count; v++) {
            low = fmin(low, mesh->positions[3 * v + a]);
            high = fmax(high, mesh->positions[3 * v + a]);
        }
        side = fmax(side, high - low);
    }
    return side;
}

double sn_tet_mesh_cell(const SnTetMesh *mesh, size_t tet)
{
    double sum = 0.0;
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < i; j++) {
            sum += sqrt(sn_distance_squared(mesh->positions + 3 * (size_t)mesh->tets[4 * tet + i],
                                            mesh->positions + 3 * (size_t)mesh->tets[4 * tet + j]));
        }
    }
    return CELL_OF_EDGE * sum / 6.0;
}

double sn_tet_min_dihedral(const double *positions, const int32_t corners[4])
{
    double normals[4][3], largest_cosine = -1.0;
    for (int i = 0; i < 4; i++) {
        const double *origin = positions + 3 * (size_t)corners[FACES[i][0]];
        double u[3], v[3];
        sn_subtract(positions + 3 * (size_t)corners[FACES[i][1]], origin, u);
        sn_subtract(positions + 3 * (size_t)corners[FACES[i][2]], origin, v);
        sn_cross3(u, v, normals[i]);
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < i; j++) {
            double lengths = sn_length(normals[i]) * sn_length(normals[j]);
            double cosine = lengths > 0.0 ? -sn_dot3(normals[i], normals[j]) / lengths : 1.0;
            largest_cosine = fmax(largest_cosine, cosine);
        }
    }
    return acos(fmin(1.0, largest_cosine)) * 180.0 / SN_PI;
}

double sn_tet_mesh_min_dihedral(const SnTetMesh *mesh)
{
    double smallest = 180.0;
    for (size_t tet = 0; tet < mesh->tet_count; tet++) {
        smallest = fmin(smallest, sn_tet_min_dihedral(mesh->positions, mesh->tets + 4 * tet));
    }
    return smallest;
}

/* A face with sorted corners, so that the two sides of an inner face are equal. */
typedef struct FaceKey {
    int32_t corners[3];
    int32_t slot; /* 4 * tet + face */
} FaceKey;

static FaceKey make_face_key(const SnTetMesh *mesh, size_t slot)
{
    FaceKey key;
    for (int i = 0; i < 3; i++) {
        key.corners[i] = mesh->tets[4 * (slot / 4) + (size_t)FACES[slot % 4][i]];
    }
    for (int i = 1; i < 3; i++) {
        for (int j = i; j > 0 && key.corners[j] < key.corners[j - 1]; j--) {
            int32_t swap = key.corners[j];
            key.corners[j] = key.corners[j - 1];
            key.corners[j - 1] = swap;
        }
    }
    key.slot = (int32_t)slot;
    return key;
}

/* Collects the faces by their lowest corner: starts[v]..starts[v+1]-1 are those of vertex v. */
static void bucket_faces(const SnTetMesh *mesh, int32_t *starts, FaceKey *keys)
{
    size_t slot_count = 4 * mesh->tet_count;
    for (size_t slot = 0; slot < slot_count; slot++) {
        starts[make_face_key(mesh, slot).corners[0] + 1]++;
    }
    for (size_t vertex = 0; vertex < mesh->vertex_count; vertex++) {
        starts[vertex + 1] += starts[vertex];
    }
    /* Filling from the back moves each start to its place. */
    for (size_t slot = slot_count; slot-- > 0;) {
        FaceKey key = make_face_key(mesh, slot);
        keys[--starts[key.corners[0] + 1]] = key;
    }
    for (size_t vertex = 0; vertex < mesh->vertex_count; vertex++) {
        starts[vertex] = starts[vertex + 1];
    }
    starts[mesh->vertex_count] = (int32_t)slot_count;
}

SnStatus sn_tet_mesh_neighbours(SnContext *context, const SnTetMesh *mesh, int32_t *neighbours)
{
    SnStatus status = SN_OK;
    FaceKey *keys = NULL;
    int32_t *starts = NULL;
    SN_TRY_NEW(context, keys, 4 * mesh->tet_count, FaceKey);
    SN_TRY_NEW(context, starts, mesh->vertex_count + 1, int32_t);
    bucket_faces(mesh, starts, keys);
    for (size_t vertex = 0; vertex < mesh->vertex_count; vertex++) {
        for (int32_t i = starts[vertex]; i < starts[vertex + 1]; i++) {
            int32_t across = -1;
            for (int32_t j = starts[vertex]; j < starts[vertex + 1] && across < 0; j++) {
                if (i != j && keys[i].corners[1] == keys[j].corners[1] && keys[i].corners[2] == keys[j].corners[2]) {
                    across = keys[j].slot / 4;
                }
            }
            neighbours[keys[i].slot] = across;
        }
    }
cleanup:
    sn_release(keys);
    sn_release(starts);
    return status;
}

SnStatus sn_tet_mesh_boundary(SnContext *context, const SnTetMesh *mesh, SnTetBoundary *boundary)
{
    SnStatus status = SN_OK;
    int32_t *neighbours = NULL;
    size_t slot_count = 4 * mesh->tet_count, face_count = 0;
    *boundary = (SnTetBoundary){0};
    SN_TRY_NEW(context, neighbours, slot_count, int32_t);
    SN_TRY(sn_tet_mesh_neighbours(context, mesh, neighbours));
    for (size_t slot = 0; slot < slot_count; slot++) {
        face_count += neighbours[slot] < 0;
    }
    SN_TRY_NEW(context, boundary->faces, 3 * face_count, int32_t);
    SN_TRY_NEW(context, boundary->tets, face_count, int32_t);
    for (size_t slot = 0; slot < slot_count; slot++) {
        if (neighbours[slot] < 0) {
            for (size_t i = 0; i < 3; i++) {
                boundary->faces[3 * boundary->face_count + i] =
                    mesh->tets[4 * (slot / 4) + (size_t)FACES[slot % 4][i]];
            }
            boundary->tets[boundary->face_count++] = (int32_t)(slot / 4);
        }
    }
cleanup:
    sn_release(neighbours);
    if (status != SN_OK) {
        sn_tet_boundary_clear(boundary);
    }
    return status;
}

void sn_tet_boundary_clear(SnTetBoundary *boundary)
{
    sn_release(boundary->faces);
    sn_release(boundary->tets);
    *boundary = (SnTetBoundary){0};
}

SnStatus sn_tet_mesh_components(SnContext *context, const SnTetMesh *mesh, int32_t *labels, size_t *component_count)
{
    SnStatus status = SN_OK;
    int32_t *parents = NULL;
    SN_TRY_NEW(context, parents, mesh->vertex_count, int32_t);
    sn_union_find_init(mesh->vertex_count, parents);
    for (size_t i = 0; i < 4 * mesh->tet_count; i++) {
        sn_union_find_join(parents, mesh->tets[i], mesh->tets[i - i % 4]);
    }
    *component_count = 0;
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        int32_t root = sn_union_find_root(parents, (int32_t)i);
        labels[i] = root == (int32_t)i ? (int32_t)(*component_count)++ : labels[root];
    }
cleanup:
    sn_release(parents);
    return status;
}
