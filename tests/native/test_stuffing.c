/* The stencils keep their angles whatever the boundary: sides and cuts at random. */
#include "check.h"

#include "base/memory.h"
#include "mesh/stuffing.h"

#include <stdlib.h>

/* Nodes with random sides (inside with probability `share`) and random cuts, in a small lattice. */
static SnStatus random_nodes(SnContext *context, const SnLattice *lattice, uint64_t *seed, double share, SnSurfaceNodes *nodes)
{
    SnStatus status = SN_OK;
    size_t point_count = sn_lattice_point_count(lattice);
    *nodes = (SnSurfaceNodes){.lattice = lattice, .node_count = point_count};
    SN_TRY_NEW(context, nodes->sides, point_count, uint8_t);
    SN_TRY_NEW(context, nodes->slots, point_count, int32_t);
    SN_TRY_NEW(context, nodes->points, point_count, int32_t);
    SN_TRY_NEW(context, nodes->positions, 3 * point_count, double);
    SN_TRY_NEW(context, nodes->cuts, SN_LATTICE_DIRECTIONS * point_count, double);
    nodes->node_count = 0;
    for (size_t point = 0; point < point_count; point++) {
        int32_t place[3];
        sn_lattice_place(lattice, point, place);
        nodes->slots[point] = -1;
        if (!sn_lattice_is_border(lattice, place)) {
            size_t node = nodes->node_count++;
            nodes->slots[point] = (int32_t)node;
            nodes->points[node] = (int32_t)point;
            sn_lattice_position(lattice, point, nodes->positions + 3 * node);
            int deep = 1;
            for (int axis = 0; axis < 3; axis++) {
                deep = deep && place[axis] >= 2 && place[axis] <= lattice->counts[axis] - 3;
            }
            nodes->sides[point] = deep && check_random(seed) < share ? SN_SIDE_INSIDE : SN_SIDE_OUTSIDE;
        }
    }
    for (size_t i = 0; i < SN_LATTICE_DIRECTIONS * nodes->node_count; i++) {
        nodes->cuts[i] = -1.0;
    }
    for (size_t node = 0; node < nodes->node_count; node++) {
        size_t point = (size_t)nodes->points[node];
        for (int direction = 0; direction < SN_LATTICE_DIRECTIONS; direction++) {
            if (nodes->sides[point] != SN_SIDE_INSIDE) {
                continue;
            }
            size_t other = (size_t)((ptrdiff_t)point + lattice->neighbours[sn_lattice_kind(lattice, point)][direction]);
            if (nodes->sides[other] == SN_SIDE_OUTSIDE) {
                double t = check_random(seed);
                /* Often at the thresholds, where the angles are worst. */
                double edge = check_random(seed) < 0.5 ? 0.2849999 : 0.3979999;
                t = check_random(seed) < 0.5 ? t : (t < 0.5 ? edge : 1.0 - edge);
                nodes->cuts[SN_LATTICE_DIRECTIONS * node + (size_t)direction] = t;
                size_t back = (size_t)nodes->slots[other];
                nodes->cuts[SN_LATTICE_DIRECTIONS * back + (size_t)sn_lattice_opposite(direction)] = 1.0 - t;
            }
        }
    }
cleanup:
    return status;
}

static double worst_random_angle(int rounds, size_t *worst_case)
{
    SnContext context;
    SnLattice lattice;
    const double low[3] = {0.0, 0.0, 0.0}, high[3] = {3.0, 3.0, 3.0};
    double worst = 180.0;
    uint64_t seed = 1;
    sn_context_init(&context);
    sn_lattice_init(low, high, 1.0, 0.5, &lattice);
    SnDistanceField field = {.touched = SN_NEW(&context, lattice.cube_count, uint16_t)};
    for (int round = 0; round < rounds; round++) {
        SnSurfaceNodes nodes;
        SnTetMesh cage = {0};
        double share = 0.1 + 0.8 * check_random(&seed);
        CHECK(random_nodes(&context, &lattice, &seed, share, &nodes) == SN_OK);
        sn_surface_nodes_settle(&field, &nodes);
        CHECK(sn_stuffing_fill(&context, &nodes, &cage) == SN_OK);
        CHECK(cage.tet_count == 0 || sn_tet_mesh_check(&context, &cage) == SN_OK);
        double angle = sn_tet_mesh_min_dihedral(&cage);
        if (cage.tet_count > 0 && angle < worst) {
            worst = angle;
            *worst_case = (size_t)round;
        }
        sn_tet_mesh_clear(&cage);
        sn_surface_nodes_clear(&nodes);
    }
    sn_release(field.touched);
    return worst;
}

int main(int count, char **arguments)
{
    size_t worst_case = 0;
    double angle = worst_random_angle(count > 1 ? atoi(arguments[1]) : 300, &worst_case);
    printf("worst dihedral angle %.2f degrees\n", angle);
    CHECK(angle > 10.7);
    return CHECK_RESULT();
}
