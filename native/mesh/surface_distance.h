/* How far points are from a surface, and from which of its triangles. */
#ifndef SN_MESH_SURFACE_DISTANCE_H
#define SN_MESH_SURFACE_DISTANCE_H

#include "mesh/tri_mesh.h"

/* distances, triangles: one for each point (point_count x 3). A surface without triangles is nowhere: INFINITY and -1. */
SnStatus sn_surface_distance(SnContext *context, const SnTriMesh *mesh, size_t point_count, const double *points,
                             double *distances, int32_t *triangles);

#endif
