/* A tetrahedral mesh: the cage that is fitted and simulated. Every tet has positive volume at rest. */
#ifndef SN_MESH_TET_MESH_H
#define SN_MESH_TET_MESH_H

#include "base/context.h"

#include <stdint.h>

typedef struct SnTetMesh {
    size_t vertex_count;
    size_t tet_count;
    double *positions; /* vertex_count x 3, metres; owned */
    int32_t *tets;     /* tet_count x 4; owned */
} SnTetMesh;

/* An allocated mesh of that size, zeroed. */
SnStatus sn_tet_mesh_init(SnContext *context, size_t vertex_count, size_t tet_count, SnTetMesh *mesh);
void sn_tet_mesh_clear(SnTetMesh *mesh);

/* Indices in range, coordinates finite, every volume positive. */
SnStatus sn_tet_mesh_check(SnContext *context, const SnTetMesh *mesh);

/* Signed volume of one tet with the given vertex positions (vertex_count x 3). */
double sn_tet_mesh_volume(const SnTetMesh *mesh, const double *positions, size_t tet);

/* mass (vertices, kg): a quarter of each tet's at each of its corners. `scale` (tets) multiplies the density; null is 1 everywhere. */
void sn_tet_mesh_lumped_mass(const SnTetMesh *mesh, double density, const double *scale, double *mass);

/* Of the box around it, metres. */
double sn_tet_mesh_longest_side(const SnTetMesh *mesh);

/* Edge of the cube of a lattice whose tets have the size of this one, metres. */
double sn_tet_mesh_cell(const SnTetMesh *mesh, size_t tet);

/* Smallest dihedral angle of one tet, degrees; positions: n x 3. */
double sn_tet_min_dihedral(const double *positions, const int32_t corners[4]);

/* Smallest dihedral angle of all tets at rest, degrees. */
double sn_tet_mesh_min_dihedral(const SnTetMesh *mesh);

/* The faces that belong to one tet only. */
typedef struct SnTetBoundary {
    size_t face_count;
    int32_t *faces; /* face_count x 3, counter-clockwise seen from outside; owned */
    int32_t *tets;  /* face_count: the tet behind each face; owned */
} SnTetBoundary;

/* Faces come in the order of their tets. The caller clears `boundary`. */
SnStatus sn_tet_mesh_boundary(SnContext *context, const SnTetMesh *mesh, SnTetBoundary *boundary);
void sn_tet_boundary_clear(SnTetBoundary *boundary);

/* neighbours: tet_count x 4, the tet across the face opposite each corner, or -1. Where more than two tets share a face,
   the first other one. */
SnStatus sn_tet_mesh_neighbours(SnContext *context, const SnTetMesh *mesh, int32_t *neighbours);

/* Labels each vertex with its connected component, 0, 1, ... in order of first vertex; labels: vertex_count.
   Components are joined by any shared vertex; a vertex of no tet is its own. */
SnStatus sn_tet_mesh_components(SnContext *context, const SnTetMesh *mesh, int32_t *labels, size_t *component_count);

#endif
