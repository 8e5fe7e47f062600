/* Artist's units (methods, section 1): from Jiggle (Hz) to Young's modulus, region by region. */
#ifndef SN_DYNAMICS_CALIBRATION_H
#define SN_DYNAMICS_CALIBRATION_H

#include "dynamics/world.h"

/* For every tet of the mesh the squared angular frequency (rad²/s²) at which its region swings with a Young's modulus of 1 Pa, while
   the vertices with held[v] != 0 stand still. Young's modulus for Jiggle J is then (2πJ)² / unit_frequency[e].
   Parts that give way much more than the rest (an ear on a belly) and parts that nothing holds are regions of their own.
   `main_frequency` is that of the region with most mass. `region_count` counts them. */
SnStatus sn_calibration_run(SnContext *context, const SnTetMesh *mesh, double poisson, const double *mass,
                            const unsigned char *held, double *unit_frequency, double *main_frequency, int *region_count);

#endif
