/* Artist's units (methods, section 1): from Jiggle (Hz) to Young's modulus, region by region. */
#ifndef SN_METHOD_ENRICH_CALIBRATION_H
#define SN_METHOD_ENRICH_CALIBRATION_H

#include "dynamics/world.h"
#include "mesh/tet_mesh.h"

/* What is calibrated. Arrays are not owned. */
typedef struct SnCalibrationDef {
    const SnTetMesh *mesh;
    double poisson, density;       /* kg/m³ */
    const double *mass;            /* vertices, kg */
    const double *firmness;        /* tets: factor of Young's modulus, within a region too; null: 1 */
    const double *weights;         /* vertices, 0..1: from 1/2 on a vertex counts as held while regions are told apart */
    const double *drive;           /* vertices: driving stiffness over mass and (2πJ)². What drives the flesh also speeds up its swing, so */
    const unsigned char *followed; /* the modulus is chosen with it in place: the swing that is seen has the frequency J. Vertices: infinite drive */
} SnCalibrationDef;

/* Parts that hang together by themselves (each ear of a held head), those that give way much more than the rest of theirs (an ear on a
   belly) and those that nothing holds are regions of their own. */
typedef struct SnCalibration {
    double *squared_frequency; /* tets, (rad/s)²: at which its region swings with a Young's modulus of 1 Pa times `firmness`, so that the modulus
                                  for Jiggle J is (2πJ)² / squared_frequency times firmness; owned */
    double *strain;            /* tets: of its region, root of its mean square, under an acceleration of 1 m/s², with that modulus; owned */
    double main_frequency;     /* the square for the region with most mass, without its drive */
    int region_count;
} SnCalibration;

/* The caller clears it. */
SnStatus sn_calibration_run(SnContext *context, const SnCalibrationDef *def, SnCalibration *calibration);
void sn_calibration_clear(SnCalibration *calibration);

#endif
