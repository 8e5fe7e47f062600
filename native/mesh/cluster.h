/* Regions of an animated surface: connected patches of triangles that are compact or flat in all of some poses (Lloyd's rounds with
   proxies; methods, 2, "animation-aware clustering"). A region has a mean place and a mean normal in each pose; the distance of a
   triangle j to it is

     max over poses of  A_j ( compact / A |x_j - x|² + (1 - compact) |n_j - n|² ),      A the area of all in that pose,

   and regions grow from the triangle that fits each best, nearest first, so that they stay connected. */
#ifndef SN_MESH_CLUSTER_H
#define SN_MESH_CLUSTER_H

#include "base/context.h"

#include <stdint.h>

typedef struct SnClusterDef {
    size_t vertex_count, triangle_count, pose_count;
    const int32_t *triangles; /* triangle_count x 3 */
    const double *poses;      /* pose_count x vertex_count x 3; at least one */
    size_t region_count;      /* wanted: 1 .. triangle_count; pieces that hang on no other have one each at least */
    double compact;           /* 0 flat .. 1 compact */
    int rounds;               /* of Lloyd, at most */
} SnClusterDef;

/* regions (triangle_count): the region of each triangle, 0 .. found - 1, all of them used. The same for the same input, however many
   threads there are: ties go to the triangle with the smaller number. */
SnStatus sn_cluster_find(SnContext *context, const SnClusterDef *def, int32_t *regions, size_t *found);

#endif
