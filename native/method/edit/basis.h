/* The shapes that edits are made of (methods, section 5, "Basis: no modes"). For rows C: V1 = K⁻¹Cᵀ, V(m+1) = K⁻¹ M Vm, a few blocks, of
   all rows together; Rayleigh-Ritz in what they span gives frequencies. As exact as the full set of modes where edits pull, at the price of
   a few solves. */
#ifndef SN_METHOD_EDIT_BASIS_H
#define SN_METHOD_EDIT_BASIS_H

#include "method/edit/body.h"

typedef struct SnEditBasis {
    const SnEditBody *body;
    size_t width;     /* 3 x unknowns */
    size_t count;     /* vectors */
    size_t room;
    double *vectors;  /* count x width: Q, M-orthonormal */
    double *stiffness; /* count x count: QᵀKQ, with a row length of `room` */
    double *squared;  /* count: eigenvalues of that, rad²/s² */
    double *mix;      /* count x count: row j is mode j in terms of Q */
} SnEditBasis;

/* A chain of shapes: its own, whatever others there are. */
typedef struct SnEditChain {
    size_t count;
    double *vectors; /* count x width; owned */
} SnEditChain;

void sn_edit_basis_init(const SnEditBody *body, SnEditBasis *basis);
void sn_edit_basis_clear(SnEditBasis *basis);

/* `rows`: row_count x width. */
SnStatus sn_edit_chain_init(SnContext *context, const SnEditBody *body, size_t row_count, const double *rows, int blocks,
                            SnEditChain *chain);
void sn_edit_chain_clear(SnEditChain *chain);

/* Takes in what a chain has that is new; modes are to be found anew after that. */
SnStatus sn_edit_basis_add(SnContext *context, SnEditBasis *basis, const SnEditChain *chain);
SnStatus sn_edit_basis_find_modes(SnContext *context, SnEditBasis *basis);

/* Forgets all but the first vectors. */
void sn_edit_basis_cut(SnEditBasis *basis, size_t count);

/* amplitudes (row_count x count): rows (row_count x width) times the modes. */
void sn_edit_basis_project(const SnEditBasis *basis, size_t row_count, const double *rows, double *scratch, double *amplitudes);

/* From amplitudes of modes to those of shapes, which stay what they are as the basis grows, and back. */
void sn_edit_basis_to_shapes(const SnEditBasis *basis, const double *z, double *parts);
void sn_edit_basis_to_modes(const SnEditBasis *basis, const double *parts, double *z);

/* p (vertices x 3) of the modes' amplitudes z (count); `scratch`: count. */
void sn_edit_basis_expand(const SnEditBasis *basis, const double *z, double *scratch, double *p);

#endif
