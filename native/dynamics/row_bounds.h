/* Exact rows that pull with no more than they may: a row r is the potential b |s - C x| of its values, whose slope is at most b. As long as it
   holds it is exact, as without a bound; where that would take more, it lets go and is the constant load b towards its target, until it
   gets there (methods-contact-shells, C5). b is an acceleration (the stage's) times the mass that the row holds, 1 / (C M⁻¹ Cᵀ).
   That alone swings about the target for long. So one that is off where a step starts is meant to come in as it can stop: its target in the
   step is as far from the real one as what brakes at a part of the bound would be, and it holds there as soon as it can. */
#ifndef SN_DYNAMICS_ROW_BOUNDS_H
#define SN_DYNAMICS_ROW_BOUNDS_H

#include "dynamics/newton.h"
#include "dynamics/stage.h"

typedef struct SnRowBounds SnRowBounds;

/* All rows of the world, which must outlive it, hold at first. */
SnStatus sn_row_bounds_create(SnContext *context, const SnWorld *world, SnRowBounds **bounds);
void sn_row_bounds_destroy(SnRowBounds *bounds);

/* The rows that hold: those that Newton was told last. */
const SnConstraints *sn_row_bounds_held(const SnRowBounds *bounds);
SnStatus sn_row_bounds_tell(SnContext *context, SnRowBounds *bounds, SnNewton *newton);

/* A step of h seconds starts at `positions` (vertices x 3), for which the stage was asked: rows that are off there have let go. It needs no
   memory of steps before. Returns whether Newton is to be told of other rows. */
int sn_row_bounds_begin(SnRowBounds *bounds, const SnStage *stage, double h, const double *positions);

/* So many seconds later: targets and rates of rows that were off become those on their way home. */
void sn_row_bounds_aim(const SnRowBounds *bounds, SnStage *stage, double seconds);

/* Before a minimisation: each row may change its mind anew. */
void sn_row_bounds_count_anew(SnRowBounds *bounds);

/* The stage's loads with those of rows that have let go (vertices x 3). */
const double *sn_row_bounds_load(SnRowBounds *bounds, const SnStage *stage, double share);

/* At a minimum, where rows pull with `pulls`: lets go and takes back. Returns whether other rows hold then, so that it is to be sought again. Loads keep
   their way for the rest of the step. */
int sn_row_bounds_review(SnRowBounds *bounds, const SnStage *stage, double share, const double *pulls, const double *positions);

/* The potential of a body's rows, J. */
double sn_row_bounds_energy(SnRowBounds *bounds, const SnStage *stage, const SnBody *body, const double *positions);

#endif
