/* The contract of every mesher: a tet mesh around any triangle mesh. The first one is the lattice mesher. */
#ifndef SN_MESH_CAGE_H
#define SN_MESH_CAGE_H

#include "mesh/tet_mesh.h"
#include "mesh/tri_mesh.h"

typedef struct SnCageSettings {
    int resolution; /* cells along the longest side of the bounding box, 2..256 */
    double offset;  /* distance from surface to cage boundary, in cells */
} SnCageSettings;

SnCageSettings sn_cage_settings_default(void);

/* Builds the cage into `cage`, which the caller clears. Any mesh that passes sn_tri_mesh_check gets one. */
SnStatus sn_cage_build(SnContext *context, const SnTriMesh *mesh, const SnCageSettings *settings, SnTetMesh *cage);

#endif
