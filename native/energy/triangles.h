/* Constant-strain triangles: the membrane of a thin shell, plane stress at small strain (methods-contact-shells, C1). It resists being
   stretched and sheared; bending is for the hinges. Threads along warp and weft may make it stiffer along them, and beyond a limit of stretch it
   is a hundred times as stiff. The second kind of term (energy/term.h). */
#ifndef SN_ENERGY_TRIANGLES_H
#define SN_ENERGY_TRIANGLES_H

#include "base/context.h"
#include "energy/term.h"

typedef struct SnTriangles {
    size_t count;
    const int32_t *vertices; /* count x 3; not owned */
    double *inverse_rest;    /* count x 4, row-major: inverse of the rest edges in the plane of the triangle, 1/m; owned */
    double *area;            /* count, m² at rest; owned */
    double *mu, *lambda;     /* count, N/m: moduli times thickness; owned */
    double *threads;         /* count x 4: direction of the warp in the plane of the triangle, a unit vector; stiffness of warp and of weft
                                beside the moduli, N/m; null until sn_triangles_weave; owned */
    double limit;            /* of a stretch, less 1; 0: none */
} SnTriangles;

/* Rest shape from positions (vertices x 3); moduli are zero until set. `vertices` must outlive the triangles. */
SnStatus sn_triangles_init(SnContext *context, size_t count, const int32_t *vertices, const double *rest, SnTriangles *triangles);
void sn_triangles_clear(SnTriangles *triangles);

/* Moduli of one triangle from Young's modulus (Pa), Poisson's ratio and thickness (m). */
void sn_triangles_set_material(SnTriangles *triangles, size_t triangle, double young, double poisson, double thickness);

/* Threads in all triangles, the warp along `directions` (count x 3, in the space of the rest shape; what sticks out of a triangle is left out, and one
   without direction has its warp along its first edge). Their stiffness is zero until it is written to `threads`. */
SnStatus sn_triangles_weave(SnContext *context, SnTriangles *triangles, const double *rest, const double *directions);

/* The warp of a triangle at rest, a unit vector. */
void sn_triangles_warp(const SnTriangles *triangles, size_t triangle, const double *rest, double warp[3]);

/* What changes from stage to stage; null is as built. Not owned. */
typedef struct SnTriangleInput {
    const double *rest;        /* count x 4 */
    const double *area;        /* count, m² */
    const double *mu, *lambda; /* count, N/m */
} SnTriangleInput;
SnTerm sn_triangles_term(const SnTriangles *triangles);

#endif
