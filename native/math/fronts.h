/* The plan of a multifrontal factorization (math/multifrontal.c has the drawing): the fronts, the tree that they form, where each panel and
   each matrix value lies, and how the work is cut into tasks. It knows the pattern alone, no values. */
#ifndef SN_MATH_FRONTS_H
#define SN_MATH_FRONTS_H

#include "base/parallel.h"
#include "math/linear_solver.h"

typedef struct SnFront {
    size_t width, height;
    size_t panel;      /* place of its panel (height x width) in `factor` */
    size_t update;     /* place of its update matrix in `updates` */
    size_t rows;       /* place of its rows in shape.rows */
    size_t rounded;    /* place of its rounded panel in `rounded` ... */
    size_t inverse;    /* ... and of the inverse triangles that belong to it in `inverse` */
    size_t vector;     /* place of its vector in `vectors` */
    size_t relative;   /* place of its map into the parent in `relative` and `run`: height - width numbers */
    size_t shared;     /* how many of its lower rows are columns of the parent */
    int32_t parent;    /* front; -1: root */
    int32_t first_child, next_sibling;
    size_t entry_begin, entry_end; /* matrix values in its columns */
} SnFront;

/* Fronts first..last in postorder; `last` is the top of the subtree. */
typedef struct SnFrontTask {
    size_t first, last;
} SnFrontTask;

typedef struct SnFrontPlan {
    SnSupernodes shape;
    SnFront *fronts;
    int32_t *relative;    /* row in the parent's front of each lower row ... */
    int32_t *run;         /* ... and how many from there on are neighbours in both */
    int32_t *entry_value; /* which value of the matrix ... */
    int32_t *entry_place; /* ... goes to which place of the panel */
    SnFrontTask *tasks;
    int32_t *first_child, *next_sibling; /* of tasks */
    SnForest forest;
    /* Room that a factorization needs: floats of all panels, words of the rounded ones, floats of their inverse triangles and of the update
       matrices; and the rows of the highest front. */
    size_t panels, rounded, inverses, updates, highest;
} SnFrontPlan;

/* Takes the shape, whatever comes of it. */
SnStatus sn_front_plan_init(SnContext *context, const SnBlockPattern *pattern, SnSupernodes shape, SnFrontPlan *plan);
void sn_front_plan_clear(SnFrontPlan *plan);

#endif
