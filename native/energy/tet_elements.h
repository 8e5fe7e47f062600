/* Constant-strain tetrahedra: energy, forces and projected stiffness of a whole mesh, in batches of SN_LANES. */
#ifndef SN_ENERGY_TET_ELEMENTS_H
#define SN_ENERGY_TET_ELEMENTS_H

#include "base/context.h"
#include "energy/density.h"
#include "energy/term.h"
#include "mesh/tet_mesh.h"

/* Stiffness blocks of a tet: (0,0) (1,0) (1,1) (2,0) (2,1) (2,2) (3,0) (3,1) (3,2) (3,3), each 3x3 row-major. */
#define SN_TET_BLOCKS 10
#define SN_TET_STIFFNESS (9 * SN_TET_BLOCKS)

typedef struct SnTetElements {
    size_t count;
    const int32_t *tets;   /* count x 4; those of the mesh, or `moving` */
    int32_t *moving;       /* count x 4; owned, as `sources`; both null unless made by sn_tet_elements_init_moving */
    int32_t *sources;      /* count: numbers in the mesh */
    const SnDensity *energy;
    double *inverse_rest;  /* 9 x count (component major): inverse of the rest edge matrix, 1/m; owned */
    double *volume;        /* count, m³ at rest; owned */
    double *mu, *lambda;   /* count, Pa; owned */
} SnTetElements;

/* Rest shape from the mesh; mu and lambda are zero until set. `mesh` must outlive the elements. */
SnStatus sn_tet_elements_init(SnContext *context, const SnTetMesh *mesh, const SnDensity *energy, SnTetElements *elements);
/* The same of tets with a vertex that is not `fixed` (vertices; null: none is). The others cannot move by themselves, and are left out. */
SnStatus sn_tet_elements_init_moving(SnContext *context, const SnTetMesh *mesh, const unsigned char *fixed, const SnDensity *energy,
                                     SnTetElements *elements);
void sn_tet_elements_clear(SnTetElements *elements);

/* Lamé parameters of one tet from Young's modulus (Pa) and Poisson's ratio; of all of them, `young` over the tets of the mesh. */
void sn_tet_elements_set_material(SnTetElements *elements, size_t tet, double young, double poisson);
void sn_tet_elements_set_materials(SnTetElements *elements, const double *young, double poisson);

/* The first kind of term (energy/term.h), and what changes from stage to stage of it; null is as built. Not owned. */
typedef struct SnTetInput {
    const double *rest;        /* 9 x count: inverse rest matrices */
    const double *volume;      /* count, m³ */
    const double *mu, *lambda; /* count, Pa */
    int keeps_sides;           /* no step of a minimisation turns a tet inside out */
} SnTetInput;
SnTerm sn_tet_elements_term(const SnTetElements *elements);

/* `rest`: 9 x count, the inverse rest matrices of this step (elements->inverse_rest, or those of
   sn_tet_elements_pose_rest). Positions are vertex_count x 3. Sums run in fixed chunks: same bits on any number of threads. */

/* Total energy, J. `partial` is room for sn_tet_elements_partial_count doubles. */
double sn_tet_elements_energy(const SnTetElements *elements, const double *rest, const double *positions, double *partial);
/* The same, and per tet its gradient (count x 12, N). */
double sn_tet_elements_energy_gradient(const SnTetElements *elements, const double *rest, const double *positions, double *partial,
                                       double *gradients);
size_t sn_tet_elements_partial_count(const SnTetElements *elements);

/* Internal damping (SnDamping) of tets: the damping matrix is factor K at rest and turns with the body, so swings of any size decay
   alike. As a potential of positions x it is the elastic energy of the strain sym(Rᵀ (F(x) - C)). Not owned. */
typedef struct SnViscosity {
    double factor;
    const double *scale;     /* count: of the factor in each tet; null: 1 */
    const double *rotations; /* 9 x count (component major), row-major: R */
    const double *centre;    /* 9 x count: C, deformation gradients where there is no strain */
} SnViscosity;

/* Deformation gradients F of all tets, and the rotations of their polar decomposition; 9 x count each. */
void sn_tet_elements_gradients(const SnTetElements *elements, const double *rest, const double *positions, double *gradients);
void sn_tet_elements_rotations(const SnTetElements *elements, const double *rest, const double *positions, double *rotations);

/* How much a pose stretches and squeezes each tet (count): |S - I| of F = R S. */
void sn_tet_elements_strains(const SnTetElements *elements, const double *pose, double *strains);

/* As sn_tet_elements_energy_gradient (gradients may be null) and the stiffness of sn_tet_elements_derivatives, with the potential of
   the damping (null: none) included. */
double sn_tet_elements_damped_energy(const SnTetElements *elements, const double *rest, const SnViscosity *viscosity,
                                     const double *positions, double *partial, double *gradients);
void sn_tet_elements_damped_stiffness(const SnTetElements *elements, const double *rest, const SnViscosity *viscosity,
                                      const double *positions, double *stiffness);

/* Per tet: gradient of the energy (count x 12, N), and when `stiffness` is not null its projected Hessian
   (count x SN_TET_STIFFNESS, N/m). */
void sn_tet_elements_derivatives(const SnTetElements *elements, const double *rest, const double *positions,
                                 double *gradients, double *stiffness);

/* Keep Pose (methods, section 1): the rest stretch follows the pose. Per tet F(pose) = R S, S with a negative eigenvalue where the pose
   is inside out, rest <- inverse_rest ((1-keep) I + keep S)⁻¹, keep times `scale` (count) in each tet. Where that is very flat,
   `volume` (count, m³) is less than at rest. What is all but flat, or extremely long, is clamped. Returns how many tets were: they
   keep a force at the pose. `left_over` (count) is how much of the force of their whole volume, and 0 for the others. */
size_t sn_tet_elements_pose_rest(const SnTetElements *elements, const double *pose, double keep, const double *scale, double *rest,
                                 double *volume, double *left_over);

/* How many tets have a deformation gradient of negative determinant, and the smallest determinant. */
size_t sn_tet_elements_inverted(const SnTetElements *elements, const double *positions, double *smallest);

#endif
