/* Projected Newton with line search, on a factor that is kept while it serves (dynamics/factor.h). Every problem that Sinew solves is the
   minimum of

     E(x) = sum_i d_i/2 |x_i - y_i|² - f·(x - y) + 1/2 (x - c)ᵀ B (x - c) + Psi(x) + 1/2 sum_r k_r |C_r x - s_r|²

   over the free vertices: inertia and driving force are the diagonal d with its targets y, surface data the fixed matrix B around
   c, loads f, Psi the energies of all terms with the potential of their internal damping, and the last sum springs on rows C_r. What
   touches adds the potential of its planes (dynamics/planes.h). */
#ifndef SN_DYNAMICS_NEWTON_H
#define SN_DYNAMICS_NEWTON_H

#include "dynamics/assembly.h"
#include "dynamics/constraints.h"
#include "dynamics/planes.h"
#include "dynamics/springs.h"
#include "energy/term.h"
#include "math/linear_solver.h"

/* Arrays are not owned. Vertex arrays have a row for every vertex, fixed ones included (their rows do not matter). */
typedef struct SnObjective {
    const SnTermInput *inputs; /* one a term; null: all as built, and no damping */
    double scale;           /* factor of Psi */
    const double *diagonal; /* vertex_count */
    const double *targets;  /* vertex_count x 3 */
    const double *loads;    /* vertex_count x 3, or null */
    const double *matrix;   /* values of B on the assembly's pattern, or null */
    const double *centre;   /* vertex_count x 3: c; needed with a matrix */
    const double *spring_targets; /* values of the springs' rows: s; needed with springs */
    SnPlanes *planes;       /* what touches; null: nothing does */
} SnObjective;

typedef struct SnNewtonSettings {
    int max_rounds;
    int single_full_step; /* one undamped round, as printed in the paper */
    double energy_tolerance; /* done too when a step promises a smaller decrease of E than this */
    double gain_tolerance;   /* or than this fraction of what was gained so far */
    double step_tolerance;   /* metres: done when the moves still to come add up to less */
} SnNewtonSettings;

typedef struct SnNewtonReport {
    int rounds;
    int factorizations;
    int converged;
    double last_step; /* metres */
    double value;     /* E at the end; not with single_full_step */
} SnNewtonReport;

/* Scratch memory and the factorization, made once for the terms of an assembly, which must outlive it. */
typedef struct SnNewton SnNewton;

SnStatus sn_newton_create(SnContext *context, size_t term_count, const SnTerm *terms, const SnAssembly *assembly, SnNewton **newton);
void sn_newton_destroy(SnNewton *newton);

/* From now on minimisations keep the rows of `constraints` as they are at their start, E is minimised over the rest, and `springs` are
   part of it. Both must outlive Newton; called once, right after it was created. */
SnStatus sn_newton_constrain(SnContext *context, SnNewton *newton, const SnConstraints *constraints, const SnSprings *springs);

/* Other constraints, of as many rows, in place of those; to be called again where they hold other rows than before. */
SnStatus sn_newton_reconstrain(SnContext *context, SnNewton *newton, const SnConstraints *constraints);

/* Values of the rows: what they pull with, N, at the end of the last minimisation. */
const double *sn_newton_pulls(const SnNewton *newton);

/* Makes the next minimisation start with a fresh factor. Without it the last one is tried first: right while the objective changes
   little. Call it wherever a result must not depend on what was solved before. */
void sn_newton_forget(SnNewton *newton);

/* Moves the free vertices of `positions` from their start to the minimum. The result never has a higher E than the start,
   except with single_full_step. Adds to `report`. */
SnStatus sn_newton_minimise(SnContext *context, SnNewton *newton, const SnObjective *objective,
                            const SnNewtonSettings *settings, double *positions, SnNewtonReport *report);

/* E(x), for tests and for the energy check of a step. */
double sn_newton_value(SnNewton *newton, const SnObjective *objective, const double *positions);

/* The mean stiffness of each unknown, N/m, without what touches: of the factor at hand, or else at `positions`. */
const double *sn_newton_hardness(SnNewton *newton, const SnObjective *objective, const double *positions);

/* How far rounding may put a value of Psi off, J. */
double sn_newton_rounding(const SnNewton *newton);

#endif
