/* Everything that stays constant while stepping: elements, masses, which vertices follow the input exactly, how strongly the others
   are driven towards it. A state is what changes. */
#ifndef SN_DYNAMICS_WORLD_H
#define SN_DYNAMICS_WORLD_H

#include "dynamics/constraints.h"
#include "energy/tet_elements.h"

typedef struct SnWorld {
    size_t vertex_count;
    size_t tet_count;        /* tets with a free vertex; the others cannot move by themselves and are left out */
    int32_t *tets;           /* tet_count x 4; owned */
    int32_t *source_tets;    /* tet_count: index in the mesh; owned */
    SnTetElements *elements; /* owned */
    size_t term_count;
    SnTerm terms[SN_TERMS_MOST]; /* the tets first, where there are any */
    SnAssembly assembly;
    unsigned char *fixed; /* vertex_count: it is where the input has it, no unknown; owned */
    double *mass;            /* vertex_count, kg; owned */
    double *drive;           /* vertex_count: W of methods section 1, N/m; owned */
    SnConstraints constraints; /* rows that have the values of the input exactly; none unless set before a stepper is made; owned */
    double *acceleration;    /* vertex_count x 3: of outer forces beside gravity, m/s²; owned */
    double gravity[3];       /* m/s² */
    double damping_mass;     /* Rayleigh alpha, 1/s */
    double damping_stiffness; /* Rayleigh beta, s */
    double keep_pose;        /* 0..1 */
    /* What multiplies damping and Keep Pose from place to place, 1 until it is set; owned. */
    double *damping_scale, *keep_scale;         /* vertex_count */
    double *tet_damping_scale, *tet_keep_scale; /* tet_count */
} SnWorld;

/* What a world is made of, to start from sn_world_def_default. Arrays are copied. */
typedef struct SnWorldDef {
    size_t vertex_count;
    const double *mass;         /* vertex_count, kg */
    const unsigned char *fixed; /* vertex_count; null: none */
    /* Tets over the first vertices; no mesh: none. */
    const SnTetMesh *mesh;
    const SnEnergy *energy;
    const double *young;        /* tets of the mesh, Pa */
    double poisson;
    /* Further energies, whose elements must outlive the world. */
    size_t term_count;
    const SnTerm *terms;
} SnWorldDef;
SnWorldDef sn_world_def_default(void); /* stable neo-Hookean, Poisson's ratio 0.4 */

/* Drive, gravity, outer forces, damping and Keep Pose start at zero and may be set between steps. */
SnStatus sn_world_init(SnContext *context, const SnWorldDef *def, SnWorld *world);
void sn_world_clear(SnWorld *world);

/* A quarter of each tet's mass at each of its corners. `scale` (tets) multiplies the density; null is 1 everywhere. */
void sn_world_lumped_mass(const SnTetMesh *mesh, double density, const double *scale, double *mass);

typedef struct SnState {
    double *positions;  /* vertex_count x 3; owned */
    double *velocities; /* vertex_count x 3, m/s; owned */
} SnState;

SnStatus sn_state_init(SnContext *context, size_t vertex_count, SnState *state);
void sn_state_clear(SnState *state);

#endif
