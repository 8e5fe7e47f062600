/* Open pieces of surface, oriented: what the winding number needs to tell the inside of a body whose mesh has large
   holes. Vertices at exactly one place count as one (seams, STL files); triangles that meet two at an edge form a
   patch and are turned to agree. Closed patches are left out (a flood fill knows their inside) and so are
   patches that cannot be oriented. */
#ifndef SN_MESH_PATCHES_H
#define SN_MESH_PATCHES_H

#include "mesh/tri_mesh.h"

typedef struct SnPatches {
    size_t patch_count;
    size_t triangle_count;
    int32_t *starts;    /* patch_count + 1: first triangle of each; owned */
    int32_t *triangles; /* triangle_count x 3 vertex indices of the mesh, patch by patch; owned */
} SnPatches;

SnStatus sn_patches_build(SnContext *context, const SnTriMesh *mesh, SnPatches *patches);
void sn_patches_clear(SnPatches *patches);

#endif
