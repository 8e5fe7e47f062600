/* The Laplacian of a mesh of tets: xᵀ L x is the integral of |grad x|². One value a pair of neighbours, that acts on x, y and z alike. */
#ifndef SN_DYNAMICS_LAPLACIAN_H
#define SN_DYNAMICS_LAPLACIAN_H

#include "dynamics/assembly.h"
#include "energy/tet_elements.h"

/* values (blocks of the assembly's pattern) += scale L over the free vertices, from the rest shape of the elements, m. */
void sn_laplacian_add(const SnTetElements *elements, const SnAssembly *assembly, double scale, double *values);

/* slopes (corners x 3): gradient of each corner's shape function, times the volume of the tet. */
void sn_laplacian_slopes(const SnTetElements *elements, size_t tet, double slopes[12]);

#endif
