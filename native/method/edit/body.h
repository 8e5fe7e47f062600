/* The body whose motion is edited: how it resists small edits about its rest shape, and how gradients become places. */
#ifndef SN_METHOD_EDIT_BODY_H
#define SN_METHOD_EDIT_BODY_H

#include "dynamics/warp.h"
#include "dynamics/world.h"
#include "math/linear_solver.h"

/* What it is made of. Arrays are copied, the cage must outlive the body. */
typedef struct SnEditBodyDef {
    const SnTetMesh *cage;
    const SnDensity *energy;
    const double *young;        /* tets, Pa */
    double poisson;
    const double *mass;         /* cage vertices, kg */
    const double *drive;        /* cage vertices, N/m: what draws each to where it is shown; null: nothing */
    const unsigned char *fixed; /* cage vertices that no edit moves */
    double hold;                /* s: what nothing holds comes back in about this time */
} SnEditBodyDef;

typedef struct SnEditBody {
    const SnTetMesh *cage;
    SnWorld world;          /* its tets are those that can move */
    double *stiffness;      /* K at rest, on the world's pattern */
    double *masses;         /* 3 x unknowns */
    SnLinearSolver *solver; /* of K */
    SnWarp *warp;
    int32_t *neighbours;    /* the world's tets x 4, -1: none */
    int32_t *loose;         /* the world's tets: the part of a tet that nothing holds, or -1 */
    double *loose_volume;   /* parts */
    size_t part_count;
    double size;            /* longest side, m */
} SnEditBody;

SnStatus sn_edit_body_init(SnContext *context, const SnEditBodyDef *def, SnEditBody *body);
void sn_edit_body_clear(SnEditBody *body);

/* Length of a lever. */
size_t sn_edit_body_lever_size(const SnEditBody *body);

/* How a mean of places (`weights`, cage vertices) answers: lever: slopes of sn_warp_response (the world's tets x 3), and then for each loose
   part the weight on it, by which the mean goes along with the part as a whole. */
SnStatus sn_edit_body_lever(SnContext *context, SnEditBody *body, const double *weights, double *lever);

#endif
