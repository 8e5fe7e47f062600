/* The body whose motion is edited: how it resists small edits about its rest shape, and how gradients become places. */
#ifndef SN_METHOD_EDIT_BODY_H
#define SN_METHOD_EDIT_BODY_H

#include "dynamics/warp.h"
#include "dynamics/world.h"
#include "energy/hinges.h"
#include "energy/tet_elements.h"
#include "energy/triangles.h"
#include "math/linear_solver.h"

/* What it is made of: a cage, or the surface of a shell. Arrays are copied, cage and surface must outlive the body. */
typedef struct SnEditBodyDef {
    const SnTetMesh *cage;      /* null: a shell */
    const SnDensity *energy;
    const double *young;        /* tets, Pa */
    const SnTriMesh *surface;   /* of a shell; no triangle is without area */
    double stretch, bend;       /* of a shell: Young's modulus times thickness, N/m, and bending stiffness of the plate, N m */
    double poisson;
    const double *mass;         /* vertices, kg */
    const double *drive;        /* vertices, N/m: what draws each to where it is shown; null: nothing */
    const unsigned char *fixed; /* vertices that no edit moves; those of no triangle too */
    double hold;                /* s: what nothing holds comes back in about this time */
} SnEditBodyDef;

/* Cells are the tets that can move, or the triangles. */
typedef struct SnEditBody {
    size_t vertex_count;
    const double *positions; /* vertices x 3, at rest; not owned */
    size_t cell_count, corners;
    const int32_t *cells;    /* cells x corners; not owned */
    const int32_t *sources;  /* cells: their numbers among all of the cage; null: the same */
    size_t source_count;     /* all of the cage, or cells */
    const double *volume;    /* cells: m³ or m²; not owned */
    double *slopes;          /* cells x corners x 3: gradients of shape functions at rest, 1/m */
    double *normals;         /* cells x 3: of triangles at rest; null: tets */
    SnWorld world;
    SnTetElements tets;      /* of a cage */
    SnTriangles membrane;    /* of a shell */
    SnHinges hinges;
    double *stiffness;       /* K at rest, on the world's pattern */
    double *masses;          /* 3 x unknowns */
    SnLinearSolver *solver;  /* of K */
    SnWarp *warp;
    int32_t *neighbours;     /* cells x corners: across the side opposite to each, -1: none */
    int32_t *loose;          /* cells: the part of a cell that nothing holds, or -1 */
    double *loose_volume;    /* parts */
    size_t part_count;
    double size;             /* longest side, m */
} SnEditBody;

SnStatus sn_edit_body_init(SnContext *context, const SnEditBodyDef *def, SnEditBody *body);
void sn_edit_body_clear(SnEditBody *body);

/* Length of a lever. */
size_t sn_edit_body_lever_size(const SnEditBody *body);

/* How a mean of places (`weights`, vertices) answers: lever: slopes of sn_warp_response (cells x 3), and then for each loose
   part the weight on it, by which the mean goes along with the part as a whole. */
SnStatus sn_edit_body_lever(SnContext *context, SnEditBody *body, const double *weights, double *lever);

#endif
