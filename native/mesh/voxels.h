/* The body in fine voxels: what is inside the surface or closer to it than half a voxel, without the offset of the cage.
   They tell which parts of a body are connected and which are only near each other: parts whose gap is wider than about
   three voxels are apart. Loose vertices and triangles without area are not in it. */
#ifndef SN_MESH_VOXELS_H
#define SN_MESH_VOXELS_H

#include "mesh/envelope.h"

#define SN_VOXELS_FINEST 8 /* voxels along the edge of a lattice cube */

typedef struct SnVoxels {
    int factor;        /* voxels along the edge of a lattice cube; 0: too many cubes, there are no voxels */
    double low[3];     /* lattice coordinates of the grid's low corner */
    int32_t counts[3]; /* voxels along each axis */
    size_t row_words;  /* 64-bit words of a row */
    uint64_t *bits;    /* rows along the first axis, row_words words each; set: body; owned */
} SnVoxels;

/* As fine as fits: at most 16 million voxels. */
SnStatus sn_voxels_build(SnContext *context, const SnEnvelope *envelope, SnVoxels *voxels);
void sn_voxels_clear(SnVoxels *voxels);

/* Voxels first..first+63 of row j, k, the first in the lowest bit; none outside the grid. */
uint64_t sn_voxels_row(const SnVoxels *voxels, int32_t first, int32_t j, int32_t k);

#endif
