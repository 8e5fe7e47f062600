/* Planes: what touches, as half-spaces  n·w >= gap  with  w = sum c_i q_i  over the points of a pair. The points hang on the world's vertices
   by linear rows, so a plane is one sparse row with a direction, w = constant + sum weight_a x_a, and its potential is convex,

     1/(2 rho) max(0, rho (gap - n·w) + lambda)²  +  1/(2 k) (z² where z < mu s̄, else 2 mu s̄ z - (mu s̄)²),    z = |k T (w - offset) - hold|,

   with n, c and the lagged force s̄ frozen while it is minimised; lambda and hold, the multipliers, become the forces across and along when
   that is done. Along, a plane gives way like a spring around what has held so far, until that is more than friction bears: what rests
   does not creep, however long. */
#ifndef SN_DYNAMICS_PLANES_H
#define SN_DYNAMICS_PLANES_H

#include "dynamics/assembly.h"

/* Entries of a row over the unknowns. */
typedef struct SnPlaneRow {
    int32_t begin, end; /* in unknowns and weights of the planes */
} SnPlaneRow;

typedef struct SnPlane {
    double normal[3];
    double gap;         /* wanted, metres */
    double rho;         /* N/m */
    double lambda;      /* N: the multiplier ... */
    double force;       /* ... and s of the last value */
    double slide[3];    /* friction of the last value, N: what pulls w back */
    double constant[3]; /* of w: what cannot move */
    double offset[3];   /* w where friction begins to count */
    double grip;        /* mu s̄, N; 0: slippery */
    double stick;       /* k, N/m */
    double hold[3];     /* N, along the plane */
    double place[3];    /* w, as linearised last */
    SnPlaneRow row;
    double block[9];    /* second derivative over w, as linearised last, ... */
    int pressed;        /* ... whether it pressed then, ... */
    int slid;           /* ... and whether it was more than friction bears */
    double at[3], way[3]; /* of a step that is being sought (dynamics/border_step.h): w, how it goes on, ... */
    int is_inside;      /* ... and whether it has a say in it */
    double off;         /* of its gap: what w was off where the points are, if it pressed */
} SnPlane;

/* Memory grows as needed and is kept. */
typedef struct SnPlanes {
    size_t count, room;
    SnPlane *planes;     /* owned */
    int32_t *unknowns;   /* entries of rows; owned */
    double *weights;     /* owned */
    size_t entry_count, entry_room;
    int changed;         /* since it was looked at last: whether another plane presses */
} SnPlanes;

void sn_planes_empty(SnPlanes *planes); /* memory stays */
void sn_planes_clear(SnPlanes *planes);

/* Adds a plane without rows, all zero; null with the sentence when memory is short. Valid until the next one is added. */
SnPlane *sn_planes_add(SnContext *context, SnPlanes *planes);

/* Adds an entry at the end of a row that is being written (row->end is the end of all entries). */
SnStatus sn_planes_add_entry(SnContext *context, SnPlanes *planes, SnPlaneRow *row, int32_t unknown, double weight);
void sn_planes_begin_row(const SnPlanes *planes, SnPlaneRow *row);

/* w of a plane at x (vertices x 3). */
void sn_plane_place(const SnPlanes *planes, const SnPlane *plane, const int32_t *vertex, const double *x, double w[3]);

/* The potential of all at x (vertices x 3), J; `residual` (unknowns x 3) receives their forces on top, or is null. */
double sn_planes_value(SnPlanes *planes, const SnAssembly *assembly, const double *x, double *residual);

/* What a plane pulls w with, N. */
void sn_plane_pull(SnPlane *plane, const double w[3], double pull[3]);

/* Sets block, pressed and slid of one at w, and tells its pull. */
void sn_plane_linearise(SnPlane *plane, const double w[3], double pull[3]);

/* Sets place, block and pressed of every plane at x; `changed` becomes 1 where another set of them presses. */
void sn_planes_linearise(SnPlanes *planes, const SnAssembly *assembly, const double *x);

/* Whether those pressed at the last value that did when they were linearised. */
int sn_planes_stand(const SnPlanes *planes);

/* Adds the second derivatives to a matrix over the unknowns: exactly where the pattern has the block of two corners; elsewhere what is at
   least as stiff, on the diagonal. */
void sn_planes_stiffen(const SnPlanes *planes, const SnBlockPattern *pattern, double *values);

#endif
