#include "mesh/lattice.h"

#include <math.h>

/* A lattice point in doubled coordinates: all even for corners, all odd for centres. */
typedef struct Doubled {
    int x[3];
} Doubled;

static ptrdiff_t grid_step(const SnLattice *lattice, int i, int j, int k)
{
    ptrdiff_t row = lattice->counts[0];
    return i + row * (j + (ptrdiff_t)lattice->counts[1] * k);
}

/* Index step from the corner at the origin to a doubled place. */
static ptrdiff_t doubled_step(const SnLattice *lattice, Doubled place)
{
    int kind = place.x[0] & 1;
    ptrdiff_t step = grid_step(lattice, (place.x[0] - kind) / 2, (place.x[1] - kind) / 2, (place.x[2] - kind) / 2);
    return step + (kind ? (ptrdiff_t)lattice->cube_count : 0);
}

static Doubled direction_doubled(int direction)
{
    Doubled step = {{0, 0, 0}};
    if (direction < SN_LATTICE_LONG) {
        step.x[direction / 2] = direction % 2 ? 2 : -2;
    } else {
        for (int axis = 0; axis < 3; axis++) {
            step.x[axis] = ((direction - SN_LATTICE_LONG) >> axis) & 1 ? 1 : -1;
        }
    }
    return step;
}

/* Tet `local` of the cube whose low corner is at the origin. Its number is 4 * axis + edge: the axis leads from the
   cube's centre to the next one, the edge is one of the four around the face between, counter-clockwise. */
static void tet_doubled(int local, Doubled vertices[4])
{
    static const int AROUND[5][2] = {{0, 0}, {2, 0}, {2, 2}, {0, 2}, {0, 0}};
    int a = local / 4, edge = local % 4, b = (a + 1) % 3, c = (a + 2) % 3;
    for (int axis = 0; axis < 3; axis++) {
        vertices[0].x[axis] = 1;
        vertices[1].x[axis] = axis == a ? 3 : 1;
    }
    for (int end = 0; end < 2; end++) {
        vertices[2 + end].x[a] = 2;
        vertices[2 + end].x[b] = AROUND[edge + end][0];
        vertices[2 + end].x[c] = AROUND[edge + end][1];
    }
}

static int direction_between(Doubled from, Doubled to)
{
    for (int direction = 0; direction < SN_LATTICE_DIRECTIONS; direction++) {
        Doubled step = direction_doubled(direction);
        if (from.x[0] + step.x[0] == to.x[0] && from.x[1] + step.x[1] == to.x[1] && from.x[2] + step.x[2] == to.x[2]) {
            return direction;
        }
    }
    return -1;
}

/* Appends the tet to the star of its vertex `at`, as seen from there. */
static void add_star(SnLattice *lattice, const Doubled vertices[4], int at, int local, int counts[2])
{
    int kind = vertices[at].x[0] & 1;
    SnStarTet *tet = &lattice->stars[kind][counts[kind]++];
    const int *x = vertices[at].x;
    tet->cube = -grid_step(lattice, (x[0] - kind) / 2, (x[1] - kind) / 2, (x[2] - kind) / 2);
    tet->local = (int8_t)local;
    for (int i = 0, other = 0; other < 4; other++) {
        if (other != at) {
            tet->directions[i++] = (int8_t)direction_between(vertices[at], vertices[other]);
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            if (i != j) {
                uint16_t *link = &lattice->links[kind][tet->directions[i]];
                *link = (uint16_t)(*link | 1u << tet->directions[j]);
            }
        }
    }
}

static void init_tables(SnLattice *lattice)
{
    int counts[2] = {0, 0};
    for (int direction = 0; direction < SN_LATTICE_DIRECTIONS; direction++) {
        Doubled step = direction_doubled(direction);
        Doubled from_center = {{step.x[0] + 1, step.x[1] + 1, step.x[2] + 1}};
        lattice->neighbours[0][direction] = doubled_step(lattice, step);
        lattice->neighbours[1][direction] = doubled_step(lattice, from_center) - (ptrdiff_t)lattice->cube_count;
        lattice->links[0][direction] = lattice->links[1][direction] = 0;
    }
    for (int local = 0; local < SN_LATTICE_CUBE_TETS; local++) {
        Doubled vertices[4];
        tet_doubled(local, vertices);
        for (int i = 0; i < 4; i++) {
            lattice->tets[local][i] = doubled_step(lattice, vertices[i]);
            add_star(lattice, vertices, i, local, counts);
        }
    }
}

void sn_lattice_init(const double low[3], const double high[3], double cell, double margin, SnLattice *lattice)
{
    lattice->cell = cell;
    lattice->cube_count = 1;
    for (int axis = 0; axis < 3; axis++) {
        double half = ceil(0.5 * (high[axis] - low[axis]) / cell + margin + 2.5);
        lattice->origin[axis] = 0.5 * (low[axis] + high[axis]) - half * cell;
        lattice->counts[axis] = 2 * (int32_t)half + 1;
        lattice->cube_count *= (size_t)lattice->counts[axis];
    }
    init_tables(lattice);
}

size_t sn_lattice_point_count(const SnLattice *lattice)
{
    return 2 * lattice->cube_count;
}

int sn_lattice_kind(const SnLattice *lattice, size_t point)
{
    return point >= lattice->cube_count;
}

void sn_lattice_place(const SnLattice *lattice, size_t point, int32_t place[3])
{
    size_t cube = point >= lattice->cube_count ? point - lattice->cube_count : point;
    size_t row = cube / (size_t)lattice->counts[0];
    place[0] = (int32_t)(cube % (size_t)lattice->counts[0]);
    place[1] = (int32_t)(row % (size_t)lattice->counts[1]);
    place[2] = (int32_t)(row / (size_t)lattice->counts[1]);
}

void sn_lattice_position(const SnLattice *lattice, size_t point, double position[3])
{
    int32_t place[3];
    double shift = sn_lattice_kind(lattice, point) ? 0.5 : 0.0;
    sn_lattice_place(lattice, point, place);
    for (int axis = 0; axis < 3; axis++) {
        position[axis] = place[axis] + shift;
    }
}

void sn_lattice_step(int direction, double step[3])
{
    Doubled doubled = direction_doubled(direction);
    for (int axis = 0; axis < 3; axis++) {
        step[axis] = 0.5 * doubled.x[axis];
    }
}

int sn_lattice_opposite(int direction)
{
    return direction < SN_LATTICE_LONG ? direction ^ 1 : SN_LATTICE_LONG + SN_LATTICE_DIRECTIONS - 1 - direction;
}

int sn_lattice_is_border(const SnLattice *lattice, const int32_t place[3])
{
    for (int axis = 0; axis < 3; axis++) {
        if (place[axis] < 1 || place[axis] > lattice->counts[axis] - 2) {
            return 1;
        }
    }
    return 0;
}

size_t sn_lattice_locate(const SnLattice *lattice, const double position[3], int *local)
{
    int32_t place[3];
    double away[3]; /* from the centre of the cube */
    int a = 0;
    for (int axis = 0; axis < 3; axis++) {
        double low = floor(position[axis]);
        place[axis] = (int32_t)low;
        away[axis] = position[axis] - low - 0.5;
        if (fabs(away[axis]) > fabs(away[a])) {
            a = axis;
        }
    }
    /* The nearest face of the cube, then the nearest edge of that face. */
    int b = (a + 1) % 3, c = (a + 2) % 3, edge;
    if (fabs(away[b]) >= fabs(away[c])) {
        edge = away[b] >= 0.0 ? 1 : 3;
    } else {
        edge = away[c] >= 0.0 ? 2 : 0;
    }
    if (away[a] < 0.0) {
        place[a]--;
    }
    *local = 4 * a + edge;
    return (size_t)grid_step(lattice, place[0], place[1], place[2]);
}

void sn_lattice_from_world(const SnLattice *lattice, const double world[3], double position[3])
{
    for (int axis = 0; axis < 3; axis++) {
        position[axis] = (world[axis] - lattice->origin[axis]) / lattice->cell;
    }
}

void sn_lattice_to_world(const SnLattice *lattice, const double position[3], double world[3])
{
    for (int axis = 0; axis < 3; axis++) {
        world[axis] = lattice->origin[axis] + lattice->cell * position[axis];
    }
}
