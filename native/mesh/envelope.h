/* The body that the cage fills: everything within `offset` of the surface and everything inside it. Inside is what
   cannot be reached from outside along the lattice, and, for meshes with large holes, where the winding number of an
   open patch says so. */
#ifndef SN_MESH_ENVELOPE_H
#define SN_MESH_ENVELOPE_H

#include "mesh/distance_field.h"
#include "mesh/winding.h"

#define SN_ENVELOPE_LEAST_OFFSET 0.5 /* cells: a smaller one would let the flood fill leak through the surface */

typedef struct SnEnvelope {
    const SnLattice *lattice;
    const SnSoup *soup;
    double offset;       /* cells */
    size_t inside_count; /* lattice points in the body */
    uint8_t *inside;     /* per lattice point; owned */
    size_t winding_count;
    SnWinding *windings; /* of the open patches that can hold something; owned */
} SnEnvelope;

/* `soup` and `lattice` must outlive the envelope. Every lattice tet that the surface passes through has a vertex inside. */
SnStatus sn_envelope_build(SnContext *context, const SnTriMesh *mesh, const SnLattice *lattice, const SnSoup *soup,
                           const SnDistanceField *field, double offset, SnEnvelope *envelope);
void sn_envelope_clear(SnEnvelope *envelope);

/* Where the body's boundary cuts the edge from an inside to an outside point (lattice coordinates): fraction of the
   edge, 0..1. Safe to call from several threads. */
double sn_envelope_cut(const SnEnvelope *envelope, const double inside[3], const double outside[3]);

/* Whether an open patch goes around the point (lattice coordinates). Safe to call from several threads. */
int sn_envelope_is_filled(const SnEnvelope *envelope, const double point[3]);

#endif
