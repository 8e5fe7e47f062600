/* The skin of a surface that lies in a cage of tets, with its detail (mesh/detail.h): what is exported, so what touches. Between two frames the
   surface of the input goes along the same curve as the fitted cage; at a moment the surface is linear in the cage (methods, A1).

   Points are placed by all of the map, smoothed gradients included, and detection sees just that. A row is narrower: the four corners of the
   point's tet, as if it moved with one gradient. What presses through the wide rows, some weights of which are negative, finds no place in
   the Hessian and folds the thin outer tets of a cage; narrow ones are off by what two tets beside each other differ, and since planes are
   made anew where the points are, they end in the same place. */
#ifndef SN_DYNAMICS_EMBEDDED_SKIN_H
#define SN_DYNAMICS_EMBEDDED_SKIN_H

#include "dynamics/input_curve.h"
#include "dynamics/skin.h"
#include "mesh/detail.h"

typedef struct SnEmbeddedSkin {
    SnInputCurve surface;      /* the input's, in the interval in hand; to be set before it, arrays not owned */
    const unsigned char *held; /* cage vertices that follow the input exactly in the substep in hand; not owned */
    SnInterpolation interpolation;
    /* inside */
    SnDetailMap map;
    double *pose;              /* cage vertices x 3: of the moment; owned, as the rest */
    double *input;             /* points x 3: there */
} SnEmbeddedSkin;

/* Cage and embedding must outlive it, and so must what it is told afterwards. */
SnStatus sn_embedded_skin_init(SnContext *context, const SnTetMesh *cage, const SnEmbedding *embedding, SnEmbeddedSkin *skin);
void sn_embedded_skin_clear(SnEmbeddedSkin *skin);
SnSkin sn_embedded_skin(SnEmbeddedSkin *skin, size_t first_vertex);

#endif
