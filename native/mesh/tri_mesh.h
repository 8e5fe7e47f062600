/* A triangle mesh as artists make them: non-manifold, open, many shells, loose vertices. A view: it owns nothing. */
#ifndef SN_MESH_TRI_MESH_H
#define SN_MESH_TRI_MESH_H

#include "base/context.h"

#include <stdint.h>

typedef struct SnTriMesh {
    size_t vertex_count;
    size_t triangle_count;
    const double *positions;  /* vertex_count x 3, metres */
    const int32_t *triangles; /* triangle_count x 3 */
} SnTriMesh;

/* Refuses an empty mesh, coordinates that are not finite and indices out of range, each with its sentence. */
SnStatus sn_tri_mesh_check(SnContext *context, const SnTriMesh *mesh);

/* Longest side of the bounding box: what "size" means in every setting that is a fraction of size. */
double sn_tri_mesh_size(const SnTriMesh *mesh);

/* Corners of the bounding box. */
void sn_tri_mesh_bounds(const SnTriMesh *mesh, double low[3], double high[3]);

/* areas[i]: a third of the area of the triangles at vertex i. A vertex without (non-degenerate) triangles gets
   its local spacing squared, but not more than the mean of the others, so that loose vertices and
   point clouds count too. Never zero unless all coincide. */
SnStatus sn_tri_mesh_vertex_areas(SnContext *context, const SnTriMesh *mesh, double *areas);

#endif
