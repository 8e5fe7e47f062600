/* What the lattice knows of the surface: distances at its points in a narrow band, and which of its tets the surface
   passes through. */
#ifndef SN_MESH_DISTANCE_FIELD_H
#define SN_MESH_DISTANCE_FIELD_H

#include "mesh/soup.h"

typedef struct SnDistanceField {
    double band;        /* cells; points farther than this hold exactly this */
    float *distances;   /* per lattice point, cells, never negative; owned */
    uint16_t *touched;  /* per cube, one bit for each of its tets; owned */
} SnDistanceField;

SnStatus sn_distance_field_build(SnContext *context, const SnLattice *lattice, const SnSoup *soup, double band,
                                 SnDistanceField *field);
void sn_distance_field_clear(SnDistanceField *field);

#endif
