#include "mesh/surface_nodes.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "mesh/geometry.h"

/* A cut nearer than this fraction of its edge pulls the point onto it. With the best diagonal in every wedge this pair
   holds the smallest dihedral angle at 10.7 degrees (found by search; test_stuffing checks it). */
#define ALPHA_LONG 0.285
#define ALPHA_SHORT 0.398

#define NODES_PER_CHUNK 64
#define ALL_DIRECTIONS ((1u << SN_LATTICE_DIRECTIONS) - 1u)

static double alpha(int direction)
{
    return direction < SN_LATTICE_LONG ? ALPHA_LONG : ALPHA_SHORT;
}

static size_t neighbour(const SnSurfaceNodes *nodes, size_t point, int direction)
{
    return (size_t)((ptrdiff_t)point + nodes->lattice->neighbours[sn_lattice_kind(nodes->lattice, point)][direction]);
}

/* Bit set of the directions that lead to points of one side. */
static unsigned directions_to(const SnSurfaceNodes *nodes, size_t point, SnSide side)
{
    unsigned set = 0;
    for (int direction = 0; direction < SN_LATTICE_DIRECTIONS; direction++) {
        if (nodes->sides[neighbour(nodes, point, direction)] == side) {
            set |= 1u << direction;
        }
    }
    return set;
}

/* Whether a set of neighbours hangs together; the empty set does not. */
static int set_is_connected(const uint16_t links[SN_LATTICE_DIRECTIONS], unsigned set)
{
    unsigned reached = set & (0u - set), before = 0;
    while (reached != before) {
        before = reached;
        for (int direction = 0; direction < SN_LATTICE_DIRECTIONS; direction++) {
            if (reached >> direction & 1u) {
                reached |= links[direction] & set;
            }
        }
    }
    return set != 0 && reached == set;
}

/* Among the neighbours of a point, a triangulated sphere, those inside and the rest must both hang together: then the
   body around the point is one simple piece. */
static int is_simple(const SnSurfaceNodes *nodes, size_t point, unsigned inside)
{
    const uint16_t *links = nodes->lattice->links[sn_lattice_kind(nodes->lattice, point)];
    return set_is_connected(links, inside) && set_is_connected(links, ALL_DIRECTIONS & ~inside);
}

/* Whether the surface would lose the last inside vertex of a tet it passes through. */
static int is_needed(const SnDistanceField *field, const SnSurfaceNodes *nodes, size_t point, unsigned inside)
{
    const SnLattice *lattice = nodes->lattice;
    int kind = sn_lattice_kind(lattice, point);
    ptrdiff_t cube = (ptrdiff_t)(kind ? point - lattice->cube_count : point);
    for (int i = 0; i < SN_LATTICE_STAR_TETS; i++) {
        const SnStarTet *tet = &lattice->stars[kind][i];
        unsigned others = 1u << tet->directions[0] | 1u << tet->directions[1] | 1u << tet->directions[2];
        if (!(inside & others) && field->touched[cube + tet->cube] >> tet->local & 1) {
            return 1;
        }
    }
    return 0;
}

/* Moves a point onto the boundary unless that would join, part or pierce something. */
static int try_side_change(const SnDistanceField *field, SnSurfaceNodes *nodes, size_t point)
{
    unsigned inside = directions_to(nodes, point, SN_SIDE_INSIDE);
    uint8_t side = nodes->sides[point];
    if (!is_simple(nodes, point, inside) || (side == SN_SIDE_INSIDE && is_needed(field, nodes, point, inside))) {
        return 0;
    }
    nodes->sides[point] = SN_SIDE_BOUNDARY;
    if (side == SN_SIDE_INSIDE) {
        /* Neighbours on the boundary have one inside neighbour less: the rest must still be in one piece. */
        unsigned boundary = directions_to(nodes, point, SN_SIDE_BOUNDARY);
        for (int direction = 0; direction < SN_LATTICE_DIRECTIONS; direction++) {
            size_t other = neighbour(nodes, point, direction);
            if (boundary >> direction & 1u) {
                unsigned left = directions_to(nodes, other, SN_SIDE_INSIDE);
                if (left != 0 && !is_simple(nodes, other, left)) {
                    nodes->sides[point] = side;
                    return 0;
                }
            }
        }
    }
    return 1;
}

/* Direction of the nearest cut that pulls the node, or -1. Cuts on edges that no longer change sides do not count. */
static int pulling_cut(const SnSurfaceNodes *nodes, size_t node)
{
    size_t point = (size_t)nodes->points[node];
    SnSide across = nodes->sides[point] == SN_SIDE_INSIDE ? SN_SIDE_OUTSIDE : SN_SIDE_INSIDE;
    double nearest = 2.0;
    int pulling = -1;
    for (int direction = 0; direction < SN_LATTICE_DIRECTIONS; direction++) {
        double t = nodes->cuts[SN_LATTICE_DIRECTIONS * node + (size_t)direction];
        double length = t * (direction < SN_LATTICE_LONG ? 1.0 : sqrt(0.75));
        if (t >= 0.0 && t < alpha(direction) && length < nearest &&
            nodes->sides[neighbour(nodes, point, direction)] == across) {
            nearest = length;
            pulling = direction;
        }
    }
    return pulling;
}

void sn_surface_nodes_settle(const SnDistanceField *field, SnSurfaceNodes *nodes)
{
    for (size_t node = 0; node < nodes->node_count; node++) {
        size_t point = (size_t)nodes->points[node];
        int direction = pulling_cut(nodes, node);
        if (direction >= 0 && try_side_change(field, nodes, point)) {
            double step[3], t = nodes->cuts[SN_LATTICE_DIRECTIONS * node + (size_t)direction];
            sn_lattice_step(direction, step);
            for (size_t axis = 0; axis < 3; axis++) {
                nodes->positions[3 * node + axis] += t * step[axis];
            }
        }
    }
    for (size_t i = 0; i < SN_LATTICE_DIRECTIONS * nodes->node_count; i++) {
        double least = alpha((int)(i % SN_LATTICE_DIRECTIONS));
        if (nodes->cuts[i] >= 0.0) {
            nodes->cuts[i] = fmin(fmax(nodes->cuts[i], least), 1.0 - least);
        }
    }
}

static void add_node(SnSurfaceNodes *nodes, size_t point)
{
    if (nodes->slots[point] < 0) {
        nodes->slots[point] = (int32_t)nodes->node_count++;
    }
}

/* Numbers the points that have a neighbour on the other side, in the order of points. */
static void number_nodes(SnSurfaceNodes *nodes, size_t point_count)
{
    for (size_t point = 0; point < point_count; point++) {
        nodes->slots[point] = -1;
    }
    for (size_t point = 0; point < point_count; point++) {
        /* Points inside are never at the border, so they have all their neighbours. */
        if (nodes->sides[point] == SN_SIDE_INSIDE) {
            for (int direction = 0; direction < SN_LATTICE_DIRECTIONS; direction++) {
                size_t other = neighbour(nodes, point, direction);
                if (nodes->sides[other] == SN_SIDE_OUTSIDE) {
                    add_node(nodes, point);
                    add_node(nodes, other);
                }
            }
        }
    }
}

typedef struct CutWork {
    const SnEnvelope *envelope;
    SnSurfaceNodes *nodes;
    size_t first;
} CutWork;

static void cut_nodes(void *data, size_t chunk, size_t begin, size_t end)
{
    const CutWork *work = data;
    SnSurfaceNodes *nodes = work->nodes;
    (void)chunk;
    for (size_t node = work->first + begin; node < work->first + end; node++) {
        size_t point = (size_t)nodes->points[node];
        for (int direction = 0; direction < SN_LATTICE_DIRECTIONS; direction++) {
            double cut = -1.0;
            if (nodes->sides[point] == SN_SIDE_INSIDE &&
                nodes->sides[neighbour(nodes, point, direction)] == SN_SIDE_OUTSIDE) {
                double from[3], to[3];
                sn_lattice_position(nodes->lattice, point, from);
                sn_lattice_position(nodes->lattice, neighbour(nodes, point, direction), to);
                cut = sn_envelope_cut(work->envelope, from, to);
            }
            nodes->cuts[SN_LATTICE_DIRECTIONS * node + (size_t)direction] = cut;
        }
    }
}

/* Gives the outside ends of the edges their view of the cuts. */
static void mirror_cuts(SnSurfaceNodes *nodes)
{
    for (size_t node = 0; node < nodes->node_count; node++) {
        size_t point = (size_t)nodes->points[node];
        if (nodes->sides[point] != SN_SIDE_INSIDE) {
            continue;
        }
        for (int direction = 0; direction < SN_LATTICE_DIRECTIONS; direction++) {
            double cut = nodes->cuts[SN_LATTICE_DIRECTIONS * node + (size_t)direction];
            if (cut >= 0.0) {
                size_t other = (size_t)nodes->slots[neighbour(nodes, point, direction)];
                nodes->cuts[SN_LATTICE_DIRECTIONS * other + (size_t)sn_lattice_opposite(direction)] = 1.0 - cut;
            }
        }
    }
}

SnStatus sn_surface_nodes_build(SnContext *context, const SnEnvelope *envelope, const SnDistanceField *field,
                                SnSurfaceNodes *nodes)
{
    SnStatus status = SN_OK;
    size_t point_count = sn_lattice_point_count(envelope->lattice), batch = 64 * NODES_PER_CHUNK;
    CutWork work = {envelope, nodes, 0};
    *nodes = (SnSurfaceNodes){.lattice = envelope->lattice};
    sn_context_stage(context, "Shaping the cage", (long)point_count);
    SN_TRY(sn_context_look(context));
    SN_TRY_NEW(context, nodes->sides, point_count, uint8_t);
    SN_TRY_NEW(context, nodes->slots, point_count, int32_t);
    for (size_t point = 0; point < point_count; point++) {
        nodes->sides[point] = envelope->inside[point] ? SN_SIDE_INSIDE : SN_SIDE_OUTSIDE;
    }
    number_nodes(nodes, point_count);
    SN_TRY_NEW(context, nodes->points, nodes->node_count, int32_t);
    SN_TRY_NEW(context, nodes->positions, 3 * nodes->node_count, double);
    SN_TRY_NEW(context, nodes->cuts, SN_LATTICE_DIRECTIONS * nodes->node_count, double);
    for (size_t point = 0; point < point_count; point++) {
        if (nodes->slots[point] >= 0) {
            nodes->points[nodes->slots[point]] = (int32_t)point;
            sn_lattice_position(nodes->lattice, point, nodes->positions + 3 * nodes->slots[point]);
        }
    }
    sn_context_stage(context, "Shaping the cage", (long)nodes->node_count);
    for (; work.first < nodes->node_count; work.first += batch) {
        size_t left = nodes->node_count - work.first;
        SN_TRY(sn_context_advance(context, (long)work.first));
        sn_parallel_for(left < batch ? left : batch, NODES_PER_CHUNK, cut_nodes, &work);
    }
    SN_TRY(sn_context_advance(context, (long)nodes->node_count));
    mirror_cuts(nodes);
    sn_surface_nodes_settle(field, nodes);
cleanup:
    if (status != SN_OK) {
        sn_surface_nodes_clear(nodes);
    }
    return status;
}

void sn_surface_nodes_clear(SnSurfaceNodes *nodes)
{
    sn_release(nodes->sides);
    sn_release(nodes->slots);
    sn_release(nodes->points);
    sn_release(nodes->cuts);
    sn_release(nodes->positions);
    *nodes = (SnSurfaceNodes){0};
}
