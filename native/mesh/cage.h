/* The contract of every mesher: a tet mesh around any triangle mesh. The first one is the lattice mesher. */
#ifndef SN_MESH_CAGE_H
#define SN_MESH_CAGE_H

#include "mesh/embedding.h"
#include "mesh/tri_mesh.h"

typedef struct SnCageSettings {
    int resolution; /* cells along the longest side of the bounding box, 2..256; fewer around a point cloud whose
                       spacing asks for larger cells */
    double offset;  /* distance from surface to cage boundary, in cells, 0.5..4 */
    int separate_parts; /* parts of the body that are near each other but not connected there get tets of their own */
} SnCageSettings;

SnCageSettings sn_cage_settings_default(void);

/* Builds the cage, and the embedding that binds the mesh's vertices to it; the caller clears both. They come together
   because tets may lie in the same place: with separate_parts, where parts of the body are near each other or touch but are not
   connected there, each part has its own tets, and only the build knows which are whose. Loose shells (eyes, buttons) are joined
   with the larger one that they touch or are nearest to. Without it, what is nearer than a cell is joined;
   surfaces that are more than 1 + 2 offset cells apart share no part of the cage, whatever the resolution.
   Any mesh that passes sn_tri_mesh_check gets a cage, unless it would have more than 5 million tets. Closed bodies, and
   open ones whose mesh goes around them, come out filled. */
SnStatus sn_cage_build(SnContext *context, const SnTriMesh *mesh, const SnCageSettings *settings, SnTetMesh *cage,
                       SnEmbedding *embedding);

#endif
