#include "mesh/stuffing.h"

#include "base/memory.h"
#include "mesh/geometry.h"

#include <string.h>

typedef struct Stuffing {
    SnContext *context;
    const SnSurfaceNodes *nodes;
    int32_t *point_vertices; /* per lattice point: its vertex of the cage, or -1 */
    int32_t *cut_vertices;   /* per node and direction, seen from the inside end: the same */
    size_t vertex_count, vertex_capacity;
    double *positions;       /* vertex_count x 3, lattice coordinates */
    size_t tet_count, tet_capacity;
    int32_t *tets;
} Stuffing;

/* One lattice tet while it is cut. Vertices 0, 1 are centres and 2, 3 corners: those pairs are its long edges. */
typedef struct Cell {
    size_t points[4];
    SnSide sides[4];
    int32_t vertices[4]; /* of points that belong to the cage */
} Cell;

static SnStatus add_vertex(Stuffing *stuffing, const double position[3], int32_t *vertex)
{
    if (stuffing->vertex_count == stuffing->vertex_capacity) {
        size_t capacity = 2 * stuffing->vertex_capacity;
        double *larger = sn_reallocate(stuffing->context, stuffing->positions, 3 * capacity, sizeof(double));
        if (larger == NULL) {
            return SN_OUT_OF_MEMORY;
        }
        stuffing->positions = larger;
        stuffing->vertex_capacity = capacity;
    }
    memcpy(stuffing->positions + 3 * stuffing->vertex_count, position, 3 * sizeof(double));
    *vertex = (int32_t)stuffing->vertex_count++;
    return SN_OK;
}

static SnStatus add_tet(Stuffing *stuffing, const int32_t vertices[4])
{
    if (stuffing->tet_count == stuffing->tet_capacity) {
        size_t capacity = 2 * stuffing->tet_capacity;
        int32_t *larger = sn_reallocate(stuffing->context, stuffing->tets, 4 * capacity, sizeof(int32_t));
        if (larger == NULL) {
            return SN_OUT_OF_MEMORY;
        }
        stuffing->tets = larger;
        stuffing->tet_capacity = capacity;
    }
    memcpy(stuffing->tets + 4 * stuffing->tet_count++, vertices, 4 * sizeof(int32_t));
    return SN_OK;
}

static SnStatus find_point_vertex(Stuffing *stuffing, size_t point, int32_t *vertex)
{
    SnStatus status = SN_OK;
    if (stuffing->point_vertices[point] < 0) {
        const SnSurfaceNodes *nodes = stuffing->nodes;
        double position[3];
        sn_lattice_position(nodes->lattice, point, position);
        const double *moved = nodes->slots[point] < 0 ? position : nodes->positions + 3 * nodes->slots[point];
        status = add_vertex(stuffing, moved, &stuffing->point_vertices[point]);
    }
    *vertex = stuffing->point_vertices[point];
    return status;
}

/* The direction between two vertices of a cell. */
static int cell_direction(const SnLattice *lattice, size_t from, size_t to)
{
    const ptrdiff_t *steps = lattice->neighbours[sn_lattice_kind(lattice, from)];
    int direction = 0;
    while (steps[direction] != (ptrdiff_t)to - (ptrdiff_t)from) {
        direction++;
    }
    return direction;
}

/* The vertex where the boundary cuts the edge from an inside to an outside point. */
static SnStatus find_cut_vertex(Stuffing *stuffing, size_t inside, size_t outside, int32_t *vertex)
{
    SnStatus status = SN_OK;
    const SnSurfaceNodes *nodes = stuffing->nodes;
    size_t node = (size_t)nodes->slots[inside];
    int direction = cell_direction(nodes->lattice, inside, outside);
    size_t place = SN_LATTICE_DIRECTIONS * node + (size_t)direction;
    if (stuffing->cut_vertices[place] < 0) {
        double step[3], position[3];
        sn_lattice_step(direction, step);
        for (size_t axis = 0; axis < 3; axis++) {
            position[axis] = nodes->positions[3 * node + axis] + nodes->cuts[place] * step[axis];
        }
        status = add_vertex(stuffing, position, &stuffing->cut_vertices[place]);
    }
    *vertex = stuffing->cut_vertices[place];
    return status;
}

/* Where two inside vertices a, b and an outside vertex c share a face, the face leaves a quad, cut by a diagonal.
   True: it runs from a to the cut of b-c; else from b to the cut of a-c. Both tets at the face must agree, and the
   angles need the diagonal at the cut of the long edge; of two short cuts parity decides. */
static int diagonal_starts_at(const SnLattice *lattice, const Cell *cell, int a, int b, int c)
{
    if (a / 2 == b / 2) {
        int32_t place[3];
        sn_lattice_place(lattice, cell->points[a], place);
        return (place[0] + place[1] + place[2]) % 2 == 0;
    }
    return b / 2 == c / 2;
}

/* The cell's tet with some vertices replaced: the stencils are built so that this keeps the volume positive. */
static SnStatus emit(Stuffing *stuffing, const Cell *cell, int a, int32_t at_a, int b, int32_t at_b, int c, int32_t at_c)
{
    int32_t vertices[4];
    memcpy(vertices, cell->vertices, sizeof vertices);
    vertices[a] = at_a;
    vertices[b] = at_b;
    vertices[c] = at_c;
    return add_tet(stuffing, vertices);
}

/* One inside vertex p: a corner is left. */
static SnStatus stuff_corner(Stuffing *stuffing, const Cell *cell, int p)
{
    SnStatus status = SN_OK;
    int32_t vertices[4];
    memcpy(vertices, cell->vertices, sizeof vertices);
    for (int i = 0; i < 4; i++) {
        if (cell->sides[i] == SN_SIDE_OUTSIDE) {
            SN_TRY(find_cut_vertex(stuffing, cell->points[p], cell->points[i], &vertices[i]));
        }
    }
    SN_TRY(add_tet(stuffing, vertices));
cleanup:
    return status;
}

/* Inside p, q, one vertex on the boundary, outside m: a pyramid. */
static SnStatus stuff_pyramid(Stuffing *stuffing, const Cell *cell, int p, int q, int m)
{
    SnStatus status = SN_OK;
    int32_t cut_p, cut_q;
    if (!diagonal_starts_at(stuffing->nodes->lattice, cell, p, q, m)) {
        int swap = p;
        p = q;
        q = swap;
    }
    SN_TRY(find_cut_vertex(stuffing, cell->points[p], cell->points[m], &cut_p));
    SN_TRY(find_cut_vertex(stuffing, cell->points[q], cell->points[m], &cut_q));
    SN_TRY(emit(stuffing, cell, m, cut_q, m, cut_q, m, cut_q));
    SN_TRY(emit(stuffing, cell, q, cut_q, m, cut_p, m, cut_p));
cleanup:
    return status;
}

/* Three vertices inside, m outside: a prism. Its diagonals run from earlier to later vertices of an order. */
static SnStatus stuff_prism(Stuffing *stuffing, const Cell *cell, const int inside[3], int m)
{
    SnStatus status = SN_OK;
    int order[3] = {inside[0], inside[1], inside[2]};
    int32_t cuts[3];
    for (int i = 1; i < 3; i++) {
        for (int j = i; j > 0 && diagonal_starts_at(stuffing->nodes->lattice, cell, order[j], order[j - 1], m); j--) {
            int swap = order[j];
            order[j] = order[j - 1];
            order[j - 1] = swap;
        }
    }
    for (int i = 0; i < 3; i++) {
        SN_TRY(find_cut_vertex(stuffing, cell->points[order[i]], cell->points[m], &cuts[i]));
    }
    SN_TRY(emit(stuffing, cell, m, cuts[2], m, cuts[2], m, cuts[2]));
    SN_TRY(emit(stuffing, cell, order[2], cuts[2], m, cuts[1], m, cuts[1]));
    SN_TRY(emit(stuffing, cell, order[1], cuts[1], order[2], cuts[2], m, cuts[0]));
cleanup:
    return status;
}

static int is_odd(int a, int b, int c, int d)
{
    return ((a > b) + (a > c) + (a > d) + (b > c) + (b > d) + (c > d)) % 2;
}

static double worst_angle(const Stuffing *stuffing, const int32_t first[4], const int32_t second[4])
{
    return fmin(sn_tet_min_dihedral(stuffing->positions, first), sn_tet_min_dihedral(stuffing->positions, second));
}

/* What a wedge leaves between p and the outer quad of its four cuts. The quad belongs to this cell alone, so the diagonal
   with the better angles is free to take. */
static SnStatus stuff_outer_quad(Stuffing *stuffing, int32_t p, const int32_t quad[4])
{
    SnStatus status = SN_OK;
    const int32_t *c = quad;
    const int32_t tets[2][2][4] = {{{p, c[0], c[1], c[2]}, {p, c[0], c[2], c[3]}},
                                   {{p, c[0], c[1], c[3]}, {p, c[1], c[2], c[3]}}};
    int second = worst_angle(stuffing, tets[1][0], tets[1][1]) > worst_angle(stuffing, tets[0][0], tets[0][1]);
    SN_TRY(add_tet(stuffing, tets[second][0]));
    SN_TRY(add_tet(stuffing, tets[second][1]));
cleanup:
    return status;
}

/* Inside p, q of one kind, outside m, n of the other: a wedge with both diagonals from the same end. */
static SnStatus stuff_wedge(Stuffing *stuffing, const Cell *cell, int p, int q, int m, int n)
{
    SnStatus status = SN_OK;
    int32_t pm, pn, qm, qn;
    if (!diagonal_starts_at(stuffing->nodes->lattice, cell, p, q, m)) {
        int swap = p;
        p = q;
        q = swap;
    }
    SN_TRY(find_cut_vertex(stuffing, cell->points[p], cell->points[m], &pm));
    SN_TRY(find_cut_vertex(stuffing, cell->points[p], cell->points[n], &pn));
    SN_TRY(find_cut_vertex(stuffing, cell->points[q], cell->points[m], &qm));
    SN_TRY(find_cut_vertex(stuffing, cell->points[q], cell->points[n], &qn));
    SN_TRY(emit(stuffing, cell, m, qm, n, qn, n, qn));
    /* Around the quad so that the tets on it come out positive: the cell is positive as p, q, m, n or as p, q, n, m. */
    const int32_t ways[2][4] = {{pm, pn, qn, qm}, {pm, qm, qn, pn}};
    SN_TRY(stuff_outer_quad(stuffing, cell->vertices[p], ways[is_odd(p, q, m, n)]));
cleanup:
    return status;
}

/* Inside p, q of different kinds, outside m of the kind of p and n of the kind of q: a wedge with crossed diagonals,
   at the cuts of the long edges p-m and q-n. */
static SnStatus stuff_crossed_wedge(Stuffing *stuffing, const Cell *cell, int p, int q, int m, int n)
{
    SnStatus status = SN_OK;
    int32_t pm, pn, qm, qn;
    SN_TRY(find_cut_vertex(stuffing, cell->points[p], cell->points[m], &pm));
    SN_TRY(find_cut_vertex(stuffing, cell->points[p], cell->points[n], &pn));
    SN_TRY(find_cut_vertex(stuffing, cell->points[q], cell->points[m], &qm));
    SN_TRY(find_cut_vertex(stuffing, cell->points[q], cell->points[n], &qn));
    SN_TRY(emit(stuffing, cell, m, pm, n, qn, n, qn));
    SN_TRY(emit(stuffing, cell, q, qn, m, pm, n, pn));
    SN_TRY(emit(stuffing, cell, p, pm, m, qm, n, qn));
cleanup:
    return status;
}

static SnStatus stuff_cell(Stuffing *stuffing, Cell *cell)
{
    SnStatus status = SN_OK;
    int inside[4], outside[4], inside_count = 0, outside_count = 0;
    for (int i = 0; i < 4; i++) {
        cell->sides[i] = (SnSide)stuffing->nodes->sides[cell->points[i]];
        if (cell->sides[i] == SN_SIDE_INSIDE) {
            inside[inside_count++] = i;
        } else if (cell->sides[i] == SN_SIDE_OUTSIDE) {
            outside[outside_count++] = i;
        }
    }
    if (inside_count == 0) {
        return SN_OK;
    }
    for (int i = 0; i < 4; i++) {
        if (cell->sides[i] != SN_SIDE_OUTSIDE) {
            SN_TRY(find_point_vertex(stuffing, cell->points[i], &cell->vertices[i]));
        }
    }
    if (outside_count == 0) {
        SN_TRY(add_tet(stuffing, cell->vertices));
    } else if (inside_count == 1) {
        SN_TRY(stuff_corner(stuffing, cell, inside[0]));
    } else if (inside_count == 3) {
        SN_TRY(stuff_prism(stuffing, cell, inside, outside[0]));
    } else if (outside_count == 1) {
        SN_TRY(stuff_pyramid(stuffing, cell, inside[0], inside[1], outside[0]));
    } else if (inside[0] / 2 == inside[1] / 2) {
        SN_TRY(stuff_wedge(stuffing, cell, inside[0], inside[1], outside[0], outside[1]));
    } else {
        SN_TRY(stuff_crossed_wedge(stuffing, cell, inside[0], inside[1], outside[0], outside[1]));
    }
cleanup:
    return status;
}

static SnStatus too_many_tets(SnContext *context)
{
    return sn_context_fail(context, SN_BAD_INPUT, "The cage would have more than %.0f million tets: lower the resolution.",
                           SN_STUFFING_LARGEST / 1e6);
}

static SnStatus stuff_cells(Stuffing *stuffing)
{
    SnStatus status = SN_OK;
    const SnLattice *lattice = stuffing->nodes->lattice;
    size_t layer = (size_t)lattice->counts[0] * (size_t)lattice->counts[1];
    sn_context_stage(stuffing->context, "Filling the cage", lattice->counts[2]);
    for (size_t cube = 0; cube < lattice->cube_count; cube++) {
        int32_t place[3];
        if (cube % layer == 0) {
            SN_TRY(sn_context_advance(stuffing->context, (long)(cube / layer)));
            if (stuffing->tet_count > SN_STUFFING_LARGEST) {
                SN_TRY(too_many_tets(stuffing->context));
            }
        }
        sn_lattice_place(lattice, cube, place);
        if (sn_lattice_is_border(lattice, place)) {
            continue;
        }
        for (int local = 0; local < SN_LATTICE_CUBE_TETS; local++) {
            Cell cell;
            for (int i = 0; i < 4; i++) {
                cell.points[i] = (size_t)((ptrdiff_t)cube + lattice->tets[local][i]);
            }
            SN_TRY(stuff_cell(stuffing, &cell));
        }
    }
cleanup:
    return status;
}

static void fill_with_none(int32_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = -1;
    }
}

SnStatus sn_stuffing_fill(SnContext *context, const SnSurfaceNodes *nodes, SnTetMesh *cage)
{
    SnStatus status = SN_OK;
    size_t point_count = sn_lattice_point_count(nodes->lattice), cut_count = SN_LATTICE_DIRECTIONS * nodes->node_count;
    Stuffing stuffing = {.context = context, .nodes = nodes, .vertex_capacity = 1024, .tet_capacity = 4096};
    *cage = (SnTetMesh){0};
    SN_TRY_NEW(context, stuffing.point_vertices, point_count, int32_t);
    SN_TRY_NEW(context, stuffing.cut_vertices, cut_count, int32_t);
    SN_TRY_NEW(context, stuffing.positions, 3 * stuffing.vertex_capacity, double);
    SN_TRY_NEW(context, stuffing.tets, 4 * stuffing.tet_capacity, int32_t);
    fill_with_none(stuffing.point_vertices, point_count);
    fill_with_none(stuffing.cut_vertices, cut_count);
    SN_TRY(stuff_cells(&stuffing));
    SN_TRY(sn_context_advance(context, nodes->lattice->counts[2]));
    SN_TRY(sn_tet_mesh_init(context, stuffing.vertex_count, stuffing.tet_count, cage));
    for (size_t i = 0; i < stuffing.vertex_count; i++) {
        sn_lattice_to_world(nodes->lattice, stuffing.positions + 3 * i, cage->positions + 3 * i);
    }
    memcpy(cage->tets, stuffing.tets, 4 * stuffing.tet_count * sizeof(int32_t));
cleanup:
    sn_release(stuffing.point_vertices);
    sn_release(stuffing.cut_vertices);
    sn_release(stuffing.positions);
    sn_release(stuffing.tets);
    return status;
}

SnStatus sn_stuffing_build(SnContext *context, const SnEnvelope *envelope, const SnDistanceField *field, SnTetMesh *cage)
{
    SnStatus status = SN_OK;
    SnSurfaceNodes nodes = {0};
    *cage = (SnTetMesh){0};
    /* Six lattice tets to a point: refuse before the long work, not after. */
    if (envelope->inside_count > SN_STUFFING_LARGEST / 6) {
        return too_many_tets(context);
    }
    SN_TRY(sn_surface_nodes_build(context, envelope, field, &nodes));
    SN_TRY(sn_stuffing_fill(context, &nodes, cage));
cleanup:
    sn_surface_nodes_clear(&nodes);
    return status;
}
