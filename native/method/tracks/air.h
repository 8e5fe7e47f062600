/* What air does to a shell: on each triangle rho A / 2 (|v·n| (v·n) n + c |v| (v - (v·n) n)), v the velocity of the air against it. */
#ifndef SN_METHOD_TRACKS_AIR_H
#define SN_METHOD_TRACKS_AIR_H

#include <stddef.h>
#include <stdint.h>

typedef struct SnAir {
    double density;     /* kg/m³; 0: none */
    const double *wind; /* vertices x 3, m/s; null: it stands still; not owned */
} SnAir;

/* A shell, for the air. Not owned. */
typedef struct SnSail {
    size_t count;
    const int32_t *triangles; /* count x 3 */
    const double *weight;     /* count, kg */
    const double *mass;       /* vertices, kg: a third of each of their triangles */
} SnSail;

/* Adds to `acceleration` (vertices x 3, m/s²) what the air does to a shell at positions and velocities (vertices x 3). Of a drag that would stop a triangle
   against the air within `step` seconds so much acts as it does on average over them: light cloth in a gale goes with it, and not back. */
void sn_air_push(const SnAir *air, const SnSail *sail, const double *positions, const double *velocities, double step, double *acceleration);

#endif
