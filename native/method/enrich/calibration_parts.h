/* What the files of the calibration share, and nobody else includes: how regions are told apart and a first modulus is found for each
   (calibration_regions.c), and how the moduli are refined together (calibration_moduli.c). calibration.c has the equations. */
#ifndef SN_METHOD_ENRICH_CALIBRATION_PARTS_H
#define SN_METHOD_ENRICH_CALIBRATION_PARTS_H

#include "energy/tet_elements.h"
#include "method/enrich/calibration.h"

#define SN_CALIBRATION_ROUNDS 3 /* of refining */
#define SN_CALIBRATION_UNHELD (-1)

typedef struct SnCalibrationWork {
    const SnTetMesh *mesh;
    const double *mass;
    double poisson, density;
    const double *firmness; /* tets, or null: factor of the modulus, within a region too */
    double *sag;            /* vertices x 3 directions x 3 components */
    double *sag_length;     /* vertices */
    int32_t *label;         /* vertices: component, or -1 */
    int32_t *queue;         /* vertices */
    unsigned char *fixed;   /* vertices */
    unsigned char *marked;  /* vertices */
    SnAssembly topology;    /* vertex -> tets of the whole mesh */
    int32_t *region;        /* tets: SN_CALIBRATION_UNHELD, then one number for each part that hangs together, then for each soft one on them */
    int32_t *vertex_region; /* vertices, the same */
    double *modulus;        /* tets: Young's modulus over (2πJ)²; 0 where nothing moves */
    double *strain;         /* tets: of its region, at unit modulus, under a unit acceleration */
    double *first_modulus;  /* tets: the same before refining */
} SnCalibrationWork;

/* The world of unit modulus in which only vertices with fixed[v] == 0 move, and its tets. */
SnStatus sn_calibration_world(SnContext *context, const SnCalibrationWork *c, SnTetElements *tets, SnWorld *world);

/* Fills sag and sag_length of the moving vertices. */
SnStatus sn_calibration_sag(SnContext *context, SnCalibrationWork *c);

/* Components that nothing holds: finds their first mode, and takes them out of what moves: from then on they are in `whole`. */
SnStatus sn_calibration_unheld(SnContext *context, SnCalibrationWork *c, const unsigned char *held, unsigned char *whole, double *largest_mass,
                               double *main_frequency, int *unheld);

/* The parts of what moves that hang together, each by its own sag: an ear is as lively as the tail, however much softer that would be
   of the same flesh. What is less than a part is of that beside it. `soft` receives what sags far more than the rest of its part. */
SnStatus sn_calibration_parts(SnContext *context, SnCalibrationWork *c, const unsigned char *out, unsigned char *soft, double *largest_mass,
                              double *main_frequency, int32_t *parts);

/* The soft parts: each sags far more than the median and is calibrated with the rest held. `soft[v]` marks them. */
SnStatus sn_calibration_soft(SnContext *context, SnCalibrationWork *c, const unsigned char *held, const unsigned char *soft, int32_t *regions);

/* New moduli for all regions together, with the drive in place. */
SnStatus sn_calibration_refine(SnContext *context, SnCalibrationWork *c, const double *drive, const unsigned char *followed, int32_t regions);

#endif
