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

/* The same at one frame as a linear map: the surface of a cage x is q(x) = q̄ + L (x - fitted), with q̄ the input. What is not linear, which
   tets follow the input and where gradients are clamped, is frozen as `simulated` has it (but see _place). The map is the same for x, y and z. */
typedef struct SnDetailMap {
    const SnTetMesh *cage;
    const SnEmbedding *embedding;
    const double *fitted, *input; /* as given; not owned */
    SnInterpolation interpolation;
    double *volumes;        /* tets: 6 times that of a sound one, infinite where the tet follows, 0 where it is flat; owned */
    double *inverses;       /* tets x 9: of the fitted edges; owned */
    double *weights;        /* cage vertices: sums of the volumes around them; owned */
    double *limits;         /* cage vertices: what the clamp leaves of the gradient; owned */
    int32_t *sources;       /* cage vertices: the one whose gradient each takes, itself where a sound tet is near; owned */
    unsigned char *follows; /* cage vertices; owned */
    double *gradients;      /* cage vertices x 9: those of the last motion; owned */
} SnDetailMap;

/* Room for any frame; cage and embedding must outlive the map. */
SnStatus sn_detail_map_init(SnContext *context, const SnTetMesh *cage, const SnEmbedding *embedding, SnDetailMap *map);
void sn_detail_map_clear(SnDetailMap *map);

/* The map of a frame, frozen at `simulated`. `fitted` and `input` (or null) must outlive its use. `held` (cage vertices): which follow the
   input exactly; null: those that are where it has them, to the bit. */
void sn_detail_map_freeze(SnDetailMap *map, const double *fitted, const double *simulated, const double *input,
                          SnInterpolation interpolation, const unsigned char *held);

/* surface (surface vertices x 3) = q(positions) of cage vertices x 3, clamped as `positions` have it and not as it is frozen: where the same
   tets follow this is to the bit what sn_detail_apply exports. From here on that is what is frozen. */
void sn_detail_map_place(SnDetailMap *map, const double *positions, double *surface);

/* moved (surface vertices x 3) = L offset (cage vertices x 3) */
void sn_detail_map_apply(SnDetailMap *map, const double *offset, double *moved);

/* pulled (cage vertices x 3) = Lᵀ forces (surface vertices x 3) */
void sn_detail_map_transpose(SnDetailMap *map, const double *forces, double *pulled);

#endif
