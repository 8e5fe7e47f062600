/* Discrete-shell hinges: the bending of a thin shell, at each edge between two of its triangles (methods-contact-shells, C2). The
   third kind of term (energy/term.h). Its state is the crease of each hinge: one that is bent beyond its yield gives way, by an angle that is added to
   its rest angle from then on, and may get stiffer by it.

             x2            theta: the angle between the two normals, 0 where the surface is flat, in (-pi, pi];
            /  \           energy of a hinge: k/2 (theta - rest angle)², with k = D edge² / (area + area),
          x0 -- x1         D = E t³ / 12 (1 - nu²) the bending stiffness of a plate
            \  /
             x3  */
#ifndef SN_ENERGY_HINGES_H
#define SN_ENERGY_HINGES_H

#include "base/context.h"
#include "energy/term.h"

typedef struct SnHinges {
    size_t count;
    int32_t *vertices;  /* count x 4: x0 .. x3; owned */
    int32_t *triangles; /* count x 2: those of x2 and x3; owned */
    double *rest_angle; /* count; owned */
    double *slenderness; /* count: edge² / (area + area) at rest; owned */
    double *stiffness;  /* count, N m; owned */
    double *bend;       /* count, 1/m: curvature of an angle of 1, edge / 2 (area + area) at rest; owned */
    double *yield;      /* count, 1/m: what is bent by more stays bent by the rest; infinite until set; owned */
    double hardening;   /* m: what has given way by a curvature k is exp(hardening k) times as stiff, at most a hundred times */
    double *least_area; /* count, m²: below it a triangle's slope counts as that of this area; owned */
} SnHinges;

/* A hinge at each edge of the triangles (count x 3) that two of them share; at one that more share, between each and the next. Rest
   angles from positions (vertices x 3); stiffness is zero until set. */
SnStatus sn_hinges_init(SnContext *context, size_t triangle_count, const int32_t *triangles, const double *rest, SnHinges *hinges);
void sn_hinges_clear(SnHinges *hinges);

/* Stiffness of one hinge from Young's modulus (Pa), Poisson's ratio and thickness (m), or from the bending stiffness of the plate (N m). */
void sn_hinges_set_plate(SnHinges *hinges, size_t hinge, double plate);
void sn_hinges_set_material(SnHinges *hinges, size_t hinge, double young, double poisson, double thickness);

/* What changes from stage to stage; null is as built. Not owned. */
typedef struct SnHingeInput {
    const double *rest_angle; /* count: without creases */
    const double *stiffness;  /* count, N m */
} SnHingeInput;
SnTerm sn_hinges_term(const SnHinges *hinges);

/* Angles of all hinges (count). */
void sn_hinges_angles(const SnHinges *hinges, const double *positions, double *angles);

#endif
