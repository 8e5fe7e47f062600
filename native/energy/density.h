/* The contract of an elastic energy: an isotropic energy density as a function of the signed principal stretches (the signed
   singular values of the deformation gradient), for a batch of elements at once. Everything that has to do with the mesh is in
   tet_energy.c, so a new material is one small file. */
#ifndef SN_ENERGY_DENSITY_H
#define SN_ENERGY_DENSITY_H

#include "math/batch3.h"

/* Derivatives of the density psi by the stretches s0, s1, s2. Pairs are (1,2), (0,2), (0,1): pair k leaves out stretch k. */
typedef struct SnStretchDerivatives {
    SnLanes stress[3];  /* d psi / d s_k */
    SnLanes stretch[6]; /* second derivatives: 00, 11, 22, 12, 02, 01 */
    SnLanes shear[3];   /* (stress_i - stress_j) / (s_i - s_j), and its limit */
    SnLanes twist[3];   /* (stress_i + stress_j) / (s_i + s_j) */
} SnStretchDerivatives;

/* What is written overlaps nothing that is read: a material says so (`restrict`), or its loops are not vectorised. */
typedef struct SnDensity {
    const char *name;
    /* Density (J/m³) for Lamé parameters mu, lambda (Pa). */
    void (*density)(const SnLanes stretches[3], const SnLanes mu, const SnLanes lambda, SnLanes density);
    void (*derivatives)(const SnLanes stretches[3], const SnLanes mu, const SnLanes lambda, SnStretchDerivatives *out);
    /* Density and stress (d psi / d F, row-major) straight from the deformation gradient F: a tenth of the cost of decomposing it
       first. Returns 0, with nothing of use written, where a lane needs its stretches after all. */
    int (*direct)(const SnLanes f[9], const SnLanes mu, const SnLanes lambda, SnLanes density, SnLanes stress[9]);
} SnDensity;

/* Stable neo-Hookean (Smith, de Goes, Kim 2018, without the logarithm): smooth through inversion. The default. */
extern const SnDensity sn_density_neo_hookean;

/* St. Venant-Kirchhoff, its strain extrapolated linearly below a stretch of 0.6, where its stress would give way. */
extern const SnDensity sn_density_stvk;

/* As rigid as possible: for shapes that are sought and not simulated, by a factor that never changes. */
extern const SnDensity sn_density_as_rigid;

#endif
