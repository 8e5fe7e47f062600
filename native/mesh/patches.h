/* The surface as pieces that know their two sides. Triangles that meet two at an edge form a patch and are turned to agree.
   Vertices at exactly one place count as one along open borders (seams, STL files), and only there: lips that touch stay two. */
#ifndef SN_MESH_PATCHES_H
#define SN_MESH_PATCHES_H

#include "mesh/tri_mesh.h"

typedef enum SnPatchKind {
    SN_PATCH_CLOSED,   /* a flood fill knows its inside */
    SN_PATCH_OPEN,     /* the winding number tells the inside, if it has any */
    SN_PATCH_ONE_SIDED /* cannot be oriented */
} SnPatchKind;

typedef struct SnPatches {
    size_t patch_count;
    size_t triangle_count; /* collapsed triangles are in no patch */
    int32_t *starts;    /* patch_count + 1: first triangle of each; owned */
    uint8_t *kinds;     /* patch_count, an SnPatchKind; owned */
    int32_t *triangles; /* triangle_count x 3 vertex indices of the mesh, patch by patch, turned to agree; owned */
    int32_t *sources;   /* triangle_count: the triangle of the mesh; owned */
    int32_t *welded;    /* per vertex of the mesh: the first one that it is one with; owned */
} SnPatches;

SnStatus sn_patches_build(SnContext *context, const SnTriMesh *mesh, SnPatches *patches);
void sn_patches_clear(SnPatches *patches);

#endif
