/* The voxels of the body around one tet, taken apart into connected pieces. */
#ifndef SN_MESH_REGION_H
#define SN_MESH_REGION_H

#include "mesh/voxels.h"

#define SN_REGION_SIDE 40 /* voxels: a region is a box of at most this many along each axis */

typedef struct SnRegion {
    int32_t low[3];    /* first voxel of the box in the grid */
    int32_t counts[3]; /* voxels of the box along each axis */
    uint64_t rows[SN_REGION_SIDE * SN_REGION_SIDE]; /* counts[1] x counts[2] rows along the first axis, one bit a voxel */
} SnRegion;

/* The tet in voxel coordinates, with the four planes of its faces. */
typedef struct SnRegionTet {
    double corners[4][3];
    double planes[4][4]; /* unit normal inwards, and height: normal . x + height >= 0 inside */
    double inverses[4];  /* of the first component of the normals; 0 where that is 0 */
} SnRegionTet;

/* corners: lattice coordinates. */
void sn_region_tet_init(const SnVoxels *voxels, const double corners[4][3], SnRegionTet *tet);

/* Whether the whole box around the tet and its margin is body. */
int sn_region_is_solid(const SnVoxels *voxels, const SnRegionTet *tet, double margin);

/* The body within `margin` voxels of the tet. */
void sn_region_init(const SnVoxels *voxels, const SnRegionTet *tet, double margin, SnRegion *region);

/* Moves one connected piece (voxels that touch at a corner are connected) into `piece`; 0 when nothing is left. */
int sn_region_take(SnRegion *region, SnRegion *piece);

/* Whether any voxel of the piece lies within `margin` voxels of the tet; `voxel` receives the one nearest to its middle. */
int sn_region_touches(const SnRegion *piece, const SnRegionTet *tet, double margin, int32_t voxel[3]);

/* Whether one voxel lies within `margin` of the tet. */
int sn_region_holds(const SnRegionTet *tet, double margin, const int32_t voxel[3]);

/* Whether two pieces have a voxel in common. */
int sn_region_meets(const SnRegion *a, const SnRegion *b);

/* Squared distance from a point (lattice coordinates) to the nearest voxel's centre, in voxels; INFINITY of nothing. */
double sn_region_distance_squared(const SnVoxels *voxels, const SnRegion *piece, const double point[3]);

/* Adds the voxels of `other`, which has the same box. */
void sn_region_join(SnRegion *piece, const SnRegion *other);

#endif
