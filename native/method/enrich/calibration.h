/* Artist's units (methods, section 1): from Jiggle (Hz) to Young's modulus, region by region. */
#ifndef SN_METHOD_ENRICH_CALIBRATION_H
#define SN_METHOD_ENRICH_CALIBRATION_H

#include "dynamics/world.h"

/* For every tet of the mesh the squared angular frequency (rad²/s²) at which its region swings with a Young's modulus of 1 Pa, times
   `firmness` (tets; null: 1): Young's modulus for Jiggle J is (2πJ)² / unit_frequency[e] times firmness[e].
   `weights` (vertices, 0..1): from 1/2 on a vertex counts as held while regions are told apart. `drive` (vertices): driving stiffness
   over mass and (2πJ)²; infinite drive is `followed`. What drives the flesh also speeds up its swing, so the modulus is chosen
   with it in place: the swing that is seen has the frequency J.
   Parts that hang together by themselves (each ear of a held head), those that give way much more than the rest of theirs (an ear on a
   belly) and those that nothing holds are regions of their own.
   `main_frequency` is that of the region with most mass, without its drive. `region_count` counts them.
   `unit_strain` (tets): the strain of its region, root of its mean square, under an acceleration of 1 m/s², with that modulus. */
SnStatus sn_calibration_run(SnContext *context, const SnTetMesh *mesh, double poisson, double density, const double *firmness,
                            const double *mass, const double *weights, const double *drive, const unsigned char *followed,
                            double *unit_frequency, double *unit_strain, double *main_frequency, int *region_count);

#endif
