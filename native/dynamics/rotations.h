/* How the surroundings of each free vertex have turned between two shapes. A stiffness matrix turns with the body: H(x) ≈ R H(x₀) Rᵀ,
   so a factor made at x₀ still serves a body that has swung since, between R and Rᵀ. */
#ifndef SN_DYNAMICS_ROTATIONS_H
#define SN_DYNAMICS_ROTATIONS_H

#include "dynamics/assembly.h"

/* `rotations`: unknowns x 9, row-major; the best rotation of each vertex's edges to its free neighbours, identity where those do not
   determine one. Shapes are vertices x 3. */
void sn_rotations_between(const SnAssembly *assembly, const double *from, const double *to, double *rotations);

/* vector (unknowns x 3): each point is turned by its rotation, or back. */
void sn_rotations_apply(size_t count, const double *rotations, int back, double *vector);

#endif
