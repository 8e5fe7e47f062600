/* From deformation gradients to positions (methods, section 5, "Warping"): the positions whose gradients come closest to wished ones, tet
   by tet, weighted by volume; or triangle by triangle, weighted by area. One Poisson system that depends on the rest shape alone, so it is
   factorized once, and once more when what holds vertices in place changes.

   Below, cells are the tets or the triangles. The gradient of a triangle is that of the tet that it would be with a fourth vertex along its
   normal: that vertex belongs to it alone and takes whatever place is wished for, so it is not among the unknowns. */
#ifndef SN_DYNAMICS_WARP_H
#define SN_DYNAMICS_WARP_H

#include "energy/tet_elements.h"
#include "mesh/tri_mesh.h"

typedef struct SnWarp SnWarp;

/* `fixed` (cage vertices): those that stay where they are. The cage must outlive the warp. */
SnStatus sn_warp_create(SnContext *context, const SnTetMesh *cage, const unsigned char *fixed, SnWarp **warp);
/* `fixed` (vertices): likewise, and those of no triangle. The surface must outlive the warp; no triangle is without area. */
SnStatus sn_warp_create_surface(SnContext *context, const SnTriMesh *surface, const unsigned char *fixed, SnWarp **warp);
void sn_warp_destroy(SnWarp *warp);

/* The rest shape: inverse edge matrices and volumes of the tets. Of a cage only. */
const SnTetElements *sn_warp_elements(const SnWarp *warp);

/* Gradients of the shape functions of the corners of a cell, times its volume or area (corners x 3). */
const double *sn_warp_slopes(const SnWarp *warp, size_t cell);

/* How strongly vertices are held where they are (vertices, 1/m²; the gradients of a piece of length l are held back by about 1/l²).
   Nothing is held until it is set. */
SnStatus sn_warp_hold(SnContext *context, SnWarp *warp, const double *strength);

/* Moves `positions` (vertices x 3) so that the gradients change by `missing` (cells x 9, row-major, wished gradient minus that of
   `positions`) as nearly as they can. A part with no fixed or held vertex keeps its centroid. Where nothing is missing at all,
   positions keep their bits. Allocates nothing. */
SnStatus sn_warp_correct(SnContext *context, SnWarp *warp, const double *missing, double *positions);

/* How far sn_warp_correct moves a mean of positions (`weights`, vertices): by the sum over cells of `missing` times slopes (cells x 3). */
SnStatus sn_warp_response(SnContext *context, SnWarp *warp, const double *weights, double *slopes);

/* vertices: the connected part that each belongs to, -1 where that has a fixed vertex. */
const int32_t *sn_warp_loose_parts(const SnWarp *warp, size_t *part_count);

#endif
