/* From gradients and stiffness of elements to the global system of the free vertices. Which element entry goes where is found once;
   each value of the matrix then gathers its own contributions, in parallel and always in the same order. */
#ifndef SN_DYNAMICS_ASSEMBLY_H
#define SN_DYNAMICS_ASSEMBLY_H

#include "math/block_matrix.h"

typedef struct SnAssembly {
    size_t vertex_count;
    size_t unknown_count;
    int32_t *unknown; /* vertex_count: index among the free vertices, -1 for a fixed one; owned */
    int32_t *vertex;  /* unknown_count: the inverse map; owned */
    SnBlockPattern pattern;
    int32_t *block_start;   /* pattern.block_count + 1: contributions of each block; owned */
    int32_t *block_source;  /* block of an element * 2 + transposed; owned */
    int32_t *vertex_start;  /* vertex_count + 1: contributions of each vertex; owned */
    int32_t *vertex_source; /* corner of an element; owned */
} SnAssembly;

/* `lists`: list_count lists of elements, whose gradients and blocks lie one after the other (see energy/term.h). `fixed[v]` != 0
   eliminates vertex v. */
SnStatus sn_assembly_init(SnContext *context, size_t vertex_count, size_t list_count, const SnStencils *lists,
                          const unsigned char *fixed, SnAssembly *assembly);
void sn_assembly_clear(SnAssembly *assembly);

/* values (pattern.value_count) = sum of the element blocks. */
void sn_assembly_gather_stiffness(const SnAssembly *assembly, const double *stiffness, double *values);

/* gradient (vertex_count x 3, all vertices, fixed ones too) = sum of the element gradients. */
void sn_assembly_gather_gradient(const SnAssembly *assembly, const double *gradients, double *gradient);

#endif
