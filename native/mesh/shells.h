/* The body by its surface: which triangles hang together, which side of each is flesh, and which shells (connected pieces of
   the mesh: eyes, teeth, buttons, clothes) hold on to which larger one. Two places of one shell are connected only where its
   surface, or the flesh behind it, leads from one to the other: what merely touches is not. Finer than a fraction of a cell
   the surface is not looked at: vertices that near along the surface are one, so a dense mesh costs no more than a coarse one. */
#ifndef SN_MESH_SHELLS_H
#define SN_MESH_SHELLS_H

#include "mesh/box_tree.h"
#include "mesh/lattice.h"
#include "mesh/tri_mesh.h"

#define SN_SHELLS_FINEST 0.12 /* cells: vertices nearer than this along the surface are one */

/* A place where a shell holds on to a larger one. */
typedef struct SnHold {
    int32_t place;    /* of a triangle of the larger shell in the tree's items */
    double point[3];  /* half way between them, lattice coordinates */
} SnHold;

typedef struct SnShells {
    size_t triangle_count; /* not those of the mesh: what is left of them */
    size_t vertex_count;   /* of the mesh */
    double *corners;   /* triangle_count x 9, lattice coordinates; owned */
    int32_t *vertices; /* triangle_count x 3: vertices of the mesh, one for those that are one; two may be the same; owned */
    int32_t *welded;   /* vertex_count: the one for every vertex of the mesh; owned */
    double *normals;   /* triangle_count x 3: unit normal away from the flesh; 0 where nobody can tell; owned */
    double *vertex_normals; /* vertex_count x 3: the same at the vertices, weighted by angles, any length; owned */
    uint8_t *solid;    /* triangle_count: part of a closed surface, or of one that goes around something; owned */
    uint8_t *hidden;   /* triangle_count: inside the flesh of a larger shell, so it makes no piece of its own; owned */
    int32_t *labels;   /* triangle_count: its shell; owned */
    size_t shell_count;
    SnBoxTree tree;    /* over the triangles; owned */
    size_t hold_count;
    SnHold *holds;     /* owned */
    int32_t *hold_starts; /* triangle_count + 1: the holds of each triangle of a smaller shell; owned */
} SnShells;

/* `reach`, cells: shells that are farther than this from every larger one stay by themselves. */
SnStatus sn_shells_build(SnContext *context, const SnTriMesh *mesh, const SnLattice *lattice, double reach, SnShells *shells);
void sn_shells_clear(SnShells *shells);

/* Squared distance (cells) from a point to a triangle; `inside` receives whether the point lies on the flesh's side of it. */
double sn_shells_side(const SnShells *shells, size_t triangle, const double point[3], int *inside);

/* How many times over a point lies in the flesh of the shell of `triangle`: 2 where parts of it press into each other. Holes in
   the surface make it less. */
int sn_shells_depth(const SnShells *shells, size_t triangle, const double point[3]);

#endif
