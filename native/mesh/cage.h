/* The contract of every mesher: a tet mesh around any triangle mesh. The first one is the lattice mesher. */
#ifndef SN_MESH_CAGE_H
#define SN_MESH_CAGE_H

#include "mesh/tet_mesh.h"
#include "mesh/tri_mesh.h"

typedef struct SnCageSettings {
    int resolution; /* cells along the longest side of the bounding box, 2..256; fewer around a point cloud whose
                       spacing asks for larger cells */
    double offset;  /* distance from surface to cage boundary, in cells, 0.5..4; surfaces that are more than 1 + 2 offset
                       cells apart share no part of the cage */
} SnCageSettings;

SnCageSettings sn_cage_settings_default(void);

/* Builds the cage into `cage`, which the caller clears. Any mesh that passes sn_tri_mesh_check gets one,
   unless it would have more than 5 million tets. Closed bodies, and open ones whose mesh goes around them, come out filled. */
SnStatus sn_cage_build(SnContext *context, const SnTriMesh *mesh, const SnCageSettings *settings, SnTetMesh *cage);

#endif
