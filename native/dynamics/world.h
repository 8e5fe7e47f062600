/* Everything that stays constant while stepping: bodies with their terms, masses, damping, which vertices are fixed to the input. A state
   is what changes; what a method says from moment to moment comes with a stage (dynamics/stage.h). */
#ifndef SN_DYNAMICS_WORLD_H
#define SN_DYNAMICS_WORLD_H

#include "dynamics/constraints.h"
#include "dynamics/springs.h"
#include "energy/term.h"

/* A range of vertices that belong together, with its own terms, exact rows and springs. Obstacles are none: they are surfaces that
   are led (dynamics/colliders.h). */
typedef struct SnBody {
    size_t first_vertex, vertex_count;
    size_t first_term, term_count;
    size_t first_row, row_count;
    size_t first_spring, spring_count;
} SnBody;

typedef struct SnWorld {
    size_t vertex_count;
    size_t term_count;
    SnTerm terms[SN_TERMS_MOST];
    double damping[SN_TERMS_MOST];         /* Rayleigh beta of each term, s, ... */
    double *damping_scale[SN_TERMS_MOST];  /* ... times this for each stencil; owned */
    size_t body_count;
    SnBody *bodies;          /* owned */
    SnAssembly assembly;
    unsigned char *fixed;    /* vertex_count: it is where the input has it, no unknown; owned */
    double *mass;            /* vertex_count, kg; owned */
    double *drag;            /* vertex_count: Rayleigh alpha, 1/s; owned */
    SnConstraints constraints; /* rows that hold exactly; none unless set before a stepper is made; owned */
    SnSprings springs;         /* rows of finite stiffness, likewise */
} SnWorld;

/* What a world is made of; zeros are none. Arrays are copied, but elements of terms must outlive the world. */
typedef struct SnWorldDef {
    size_t vertex_count;
    const double *mass;         /* vertex_count, kg */
    const unsigned char *fixed; /* vertex_count; null: none */
    size_t term_count;
    const SnTerm *terms;
    /* Ranges that follow one another, vertices and terms alike. None: all of it is one body. */
    size_t body_count;
    const SnBody *bodies;
} SnWorldDef;

/* Drag and damping are zero until set, with scales of 1; constraints are none. Once a stepper is made it stays as it is. */
SnStatus sn_world_init(SnContext *context, const SnWorldDef *def, SnWorld *world);
void sn_world_clear(SnWorld *world);

/* Several worlds as one: bodies, terms, rows and springs of each, one after the other. Their elements must outlive it. */
SnStatus sn_world_join(SnContext *context, size_t count, const SnWorld *const *members, SnWorld *world);

/* The same drag (1/s) and damping (s) everywhere. */
void sn_world_damp(SnWorld *world, double drag, double damping);

/* Takes exact rows, or springs (both over vertices), emptying `rows`. Each holds vertices of one body, at least one; those of a body come
   before those of the next. Others are bad input, and stay with the caller. */
SnStatus sn_world_constrain(SnContext *context, SnRows *rows, SnWorld *world);
SnStatus sn_world_spring(SnContext *context, SnRows *rows, SnWorld *world);

/* All that changes: a copy of it is a checkpoint. */
typedef struct SnState {
    double *positions;  /* vertex_count x 3; owned */
    double *velocities; /* vertex_count x 3, m/s; owned */
    double *inner;      /* sn_world_inner_count: what terms carry on, one after the other; null: none, all terms as built; owned */
} SnState;

/* Room for positions and velocities. */
SnStatus sn_state_init(SnContext *context, size_t vertex_count, SnState *state);
void sn_state_clear(SnState *state);

/* A state of the world at rest in `positions` (vertex_count x 3), with what its terms carry. */
SnStatus sn_world_begin(SnContext *context, const SnWorld *world, const double *positions, SnState *state);
size_t sn_world_inner_count(const SnWorld *world);

/* Both states are of the world, with room for the same. */
void sn_state_copy(const SnWorld *world, const SnState *from, SnState *to);

#endif
