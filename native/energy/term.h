/* The contract of an energy over many stencils of one shape: tets (4 corners), triangles (3), hinges (4). Newton, assembly, line search
   and time steps know nothing else of it, so a new kind is one file and one row in tests/native/test_terms.c.

   What never changes is a term's `elements`; what a method may change from stage to stage (rest shape, material) is its input, a struct
   of the kind's own. A kind is called once for all stencils, never for one, and works in chunks of SN_TERM_CHUNK: same bits on any
   number of threads. Positions are vertices x 3. */
#ifndef SN_ENERGY_TERM_H
#define SN_ENERGY_TERM_H

#include "math/block_matrix.h"

#define SN_TERMS_MOST 64
#define SN_TERM_CHUNK ((size_t)512) /* stencils */

/* Internal damping of a stage: each stencil resists the rate of its strain with `factor` times the elasticity of small strains, in axes
   that turn with it, so that no rotation is resisted. As a potential of positions x it is the elastic energy of the strain that leads
   from the stage's centre to x. */
typedef struct SnDamping {
    double factor;       /* 0: none */
    const double *scale; /* stencils: of the factor in each; null: 1 */
    const double *shape; /* damping_size x stencils: axes and centre, as `damp` wrote them */
} SnDamping;

/* What a term is told at a stage. Zeros: as built, and not damped. */
typedef struct SnTermInput {
    const void *data; /* of the kind's own type, SnTetInput for tets; null: as built */
    const double *inner; /* inner_size x stencils: what the state carries of it; null: as built */
    SnDamping damping;
} SnTermInput;

typedef struct SnTermKind {
    const char *name;
    int corners;
    int damping_size;                /* doubles of SnDamping.shape for each stencil */
    int inner_size;                  /* doubles that a state carries on for each stencil (plastic angles); mostly 0 */
    double round_work, hessian_work; /* of value and stiffness for a stencil, in entries of a factor read in a solution */

    /* Energy, J, damping included. `gradients` (stencils x corners x 3, N) may be null. `partial`: room for a sum of each chunk. */
    double (*value)(const void *elements, const SnTermInput *input, const double *positions, double *partial, double *gradients);

    /* Positive semi-definite approximation of the Hessian, N/m: stencils x corners (corners + 1) / 2 blocks, 3x3 row-major, those of the
       corners (0,0) (1,0) (1,1) (2,0) ... of each stencil. */
    void (*stiffness)(const void *elements, const SnTermInput *input, const double *positions, double *blocks);

    /* shape = what damping needs to know: axes as in the shape `like`, and the strain of `centre` in them. */
    void (*damp)(const void *elements, const SnTermInput *input, const double *like, const double *centre, double *shape);

    /* The largest part, 0..1, of the way from one shape to another that the term allows. Null: all of it. */
    double (*reach)(const void *elements, const SnTermInput *input, const double *from, const double *to);

    /* Whether a stencil is inside out in one shape that was not in another. Null: none can be. */
    int (*turned)(const void *elements, const double *from, const double *to);

    /* What the state carries: at its beginning, and after a step that ended at `positions`. Null where there is nothing. */
    void (*begin)(const void *elements, double *inner);
    void (*flow)(const void *elements, const SnTermInput *input, const double *positions, double *inner);

    /* How far rounding may put the energy off, J. */
    double (*rounding)(const void *elements);
} SnTermKind;

/* One energy of a world; elements are not owned. Each kind has a function that makes its term: sn_tet_elements_term, ... Kinds see
   positions from `stencils.first` on. */
typedef struct SnTerm {
    const SnTermKind *kind;
    const void *elements;
    SnStencils stencils;
} SnTerm;

/* All terms of a list, their arrays one after the other. `inputs`: one a term; null: as built. */
size_t sn_terms_corner_count(size_t count, const SnTerm *terms);
size_t sn_terms_block_count(size_t count, const SnTerm *terms);
size_t sn_terms_partial_count(size_t count, const SnTerm *terms); /* of the largest */
double sn_terms_value(size_t count, const SnTerm *terms, const SnTermInput *inputs, const double *positions, double *partial,
                      double *gradients);
void sn_terms_stiffness(size_t count, const SnTerm *terms, const SnTermInput *inputs, const double *positions, double *blocks);
double sn_terms_reach(size_t count, const SnTerm *terms, const SnTermInput *inputs, const double *from, const double *to);

#endif
