/* Detail (methods, eq. 9): what the cage cannot carry of the input surface comes back, turned and stretched with the cage. */
#ifndef SN_MESH_DETAIL_H
#define SN_MESH_DETAIL_H

#include "mesh/embedding.h"

/* How the added motion is interpolated between cage vertices. */
typedef enum SnInterpolation {
    SN_INTERPOLATION_LINEAR, /* C (simulated - fitted): bends only at cage faces */
    SN_INTERPOLATION_PHONG,  /* halfway to what the vertices extrapolate by their gradients (James 2020, Phong Deformation): right for
                                motions that are quadratic in space, as bending is */
} SnInterpolation;

/* With d = simulated - fitted at the cage vertices and G its gradient there, averaged over tets that the fit has not flattened, a point
   that the cage holds at y with weights b moves by  sum b (d + G (input - y))  linearly, and by  sum b G (y - fitted) / 2  more with
   Phong. Exactly the input where simulated equals fitted. `input` may be null: then it is y, and the surface has no detail.
   Interpolated gradients keep detail from breaking at tet faces, as it would with a constant one per tet.
   Cages are cage vertices x 3, surfaces surface vertices x 3. */
SnStatus sn_detail_apply(SnContext *context, const SnTetMesh *cage, const SnEmbedding *embedding, const double *fitted,
                         const double *simulated, const double *input, SnInterpolation interpolation, double *result);

#endif
