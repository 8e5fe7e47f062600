/* How the tets of a body turn and stretch from one shape to another (methods, sections 1 and 5), and shapes between the two: turned and
   stretched rather than mixed, so that half of a bend is a bend of half the angle. With F the gradients of both shapes,
   F_to F_from⁻¹ = R S, and what lies at part w from `to` back to `from` has the gradient R^(1-w) ((1-w) S + w I) F_from. */
#ifndef SN_DYNAMICS_TURNS_H
#define SN_DYNAMICS_TURNS_H

#include "energy/tet_elements.h"

typedef struct SnTurns SnTurns;

/* `elements` are the rest shape of the mesh's tets; both must outlive the turns. A rotation is known up to whole turns: each tet
   continues its neighbour on the way from vertices that stand still (`still`, vertices), so rotations may pass half a turn. */
SnStatus sn_turns_create(SnContext *context, const SnTetMesh *mesh, const SnTetElements *elements, const unsigned char *still,
                         SnTurns **turns);
void sn_turns_destroy(SnTurns *turns);

/* Finds rotation and stretch of every tet; where both shapes (vertices x 3) are those of the last call they are at hand. */
void sn_turns_find(SnTurns *turns, const double *from, const double *to);

/* tets x 4: half the angle, radians, and the axis of each R; of a tet that is flat in `from` those of its neighbour. */
const double *sn_turns_axes(const SnTurns *turns);

/* The rotation (row-major) about axis[1..3] by `part` of twice the angle axis[0]. */
void sn_turns_power(const double axis[4], double part, double rotation[9]);

/* missing (tets x 9, row-major) = the gradients that lie strength * parts[e] (tets, 0..1) from `to` back to `from`, minus those of
   `start`. Exact at both ends; mixed linearly where `from` is flat or inside out. Finds the turns first. Allocates nothing; same bits on any
   number of threads. */
void sn_turns_between(SnTurns *turns, const double *from, const double *to, const double *parts, double strength, const double *start,
                      double *missing);

#endif
