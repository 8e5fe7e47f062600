/* Mends a tet mesh whose vertices were moved, or whose mesher left tets too flat: the vertices of the flattest tets move a little,
   one after the other, to where the worst tet that they belong to is best. A flat tet would make the simulation stiff and slow,
   and one that is inside out has no rest shape at all. */
#ifndef SN_MESH_MEND_H
#define SN_MESH_MEND_H

#include "base/context.h"

#include <stdint.h>

typedef struct SnMendDef {
    size_t vertex_count;
    size_t tet_count;
    const int32_t *tets;   /* tet_count x 4 */
    const double *leashes; /* vertex_count: how far each vertex may go, metres; 0: stays */
    double goal;           /* degrees: tets with a smaller dihedral angle are worked on */
    int rounds;            /* at most, over all of these tets */
} SnMendDef;

/* goal 12 degrees, 12 rounds; the mesh is the caller's. */
SnMendDef sn_mend_def_default(void);

/* Moves positions (vertex_count x 3, metres). The least angle around no vertex falls, so tets that were positive stay so, and
   those that were not may become so. When it fails or is cancelled, positions are somewhere on the way. */
SnStatus sn_mend_tets(SnContext *context, const SnMendDef *def, double *positions);

#endif
