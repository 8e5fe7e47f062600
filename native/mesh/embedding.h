/* The interpolation C from cage to surface: each surface vertex is carried by one tet with barycentric weights. */
#ifndef SN_MESH_EMBEDDING_H
#define SN_MESH_EMBEDDING_H

#include "mesh/tet_mesh.h"

typedef struct SnEmbedding {
    size_t vertex_count;
    int32_t *tets;   /* vertex_count; owned */
    double *weights; /* vertex_count x 4, each row sums to 1; owned */
} SnEmbedding;

/* Binds each point to the tet that contains it, or to the tet of the nearest boundary face (then the weights extrapolate). */
SnStatus sn_embedding_build(SnContext *context, const SnTetMesh *cage, size_t vertex_count, const double *positions,
                            SnEmbedding *embedding);
/* The same in a deformed cage: cage_positions (cage vertices x 3) take the place of the rest positions, and tets may be flat or
   inside out. Points outside hold on to the nearest face: no weight is negative. */
SnStatus sn_embedding_build_in_pose(SnContext *context, const SnTetMesh *cage, const double *cage_positions, size_t vertex_count,
                                    const double *positions, SnEmbedding *embedding);
void sn_embedding_clear(SnEmbedding *embedding);

/* surface = C cage_values; both n x 3 (positions or displacements). */
void sn_embedding_apply(const SnEmbedding *embedding, const SnTetMesh *cage, const double *cage_values, double *surface);

#endif
