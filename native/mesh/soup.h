/* The surface as a soup of small pieces in lattice coordinates: triangles, cut until each spans few cells, and loose
   vertices as points. Degenerate triangles are kept: they count as segments or points. */
#ifndef SN_MESH_SOUP_H
#define SN_MESH_SOUP_H

#include "mesh/box_tree.h"
#include "mesh/lattice.h"
#include "mesh/tri_mesh.h"

typedef struct SnSoup {
    size_t count;
    size_t capacity;
    double *corners; /* count x 9, lattice coordinates; owned */
    double *boxes;   /* count x 6 (low, high); owned */
    SnBoxTree tree;  /* over the pieces; owned */
} SnSoup;

SnStatus sn_soup_build(SnContext *context, const SnTriMesh *mesh, const SnLattice *lattice, SnSoup *soup);
void sn_soup_clear(SnSoup *soup);

/* Distance from a point to the surface, cells; `limit` when it is farther than that. */
double sn_soup_distance(const SnSoup *soup, const double point[3], double limit);

#endif
