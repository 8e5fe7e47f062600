/* Rows of finite stiffness: springs between the values of sparse rows and their targets, 1/2 Σ k |C x - c|². Where they are few their
   stiffness enters each solution by the response to them (dynamics/response.h), so that they may be as stiff as one likes. */
#ifndef SN_DYNAMICS_SPRINGS_H
#define SN_DYNAMICS_SPRINGS_H

#include "dynamics/assembly.h"
#include "math/rows.h"

typedef struct SnSprings {
    size_t size;      /* values of all rows; 0: there are none */
    SnRows rows;      /* over the vertices; owned */
    SnRows free_rows; /* over the unknowns: a fixed vertex cannot be pulled; owned */
} SnSprings;

/* Takes the rows (over vertices), emptying `rows`. An exact one among them is bad input. */
SnStatus sn_springs_init(SnContext *context, const SnAssembly *assembly, SnRows *rows, SnSprings *springs);
void sn_springs_clear(SnSprings *springs);

/* Their energy at x (vertices x 3), J. `pull` (size) becomes their forces -k (C x - c), to be spread by `rows` or `free_rows`. */
double sn_springs_pull(const SnSprings *springs, const double *targets, const double *x, double *pull);

/* Adds to the diagonal of a matrix over the unknowns what is at least as stiff as CᵀKC, whichever way the vertices turn. */
void sn_springs_majorise(const SnSprings *springs, const SnBlockPattern *pattern, double *values);

#endif
