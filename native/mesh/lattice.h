/* The body-centred cubic lattice: the corners of a grid of cubes and the centres of those cubes. Every point has 14
   neighbours, 6 of its own kind at distance 1 (long edges) and 8 of the other kind at sqrt(3)/2 (short edges).
   The tets of the lattice join a long edge between two centres with a long edge of the face between their cubes,
   12 tets a cube, all congruent. Lattice coordinates count cells: corner (i, j, k) is at i, j, k, its cube's centre
   at i + 1/2, j + 1/2, k + 1/2. */
#ifndef SN_MESH_LATTICE_H
#define SN_MESH_LATTICE_H

#include "base/context.h"

#include <stdint.h>

#define SN_LATTICE_DIRECTIONS 14 /* 0..5: -x +x -y +y -z +z; 6..13: bits x, y, z set where the step is positive */
#define SN_LATTICE_LONG 6        /* directions below this are long edges */
#define SN_LATTICE_CUBE_TETS 12
#define SN_LATTICE_STAR_TETS 24

/* One tet at a point, as seen from the point. */
typedef struct SnStarTet {
    ptrdiff_t cube;         /* steps from the point's cube to the one that owns the tet */
    int8_t local;           /* its number in that cube */
    int8_t directions[3];   /* towards the other three vertices */
} SnStarTet;

typedef struct SnLattice {
    double origin[3];  /* of corner 0, 0, 0, metres */
    double cell;       /* edge of a cube, metres */
    int32_t counts[3]; /* corners along each axis, and as many centres */
    size_t cube_count; /* product of counts; points 0.. are corners, cube_count.. are centres */
    ptrdiff_t neighbours[2][SN_LATTICE_DIRECTIONS]; /* index steps, for corners and for centres */
    SnStarTet stars[2][SN_LATTICE_STAR_TETS];
    uint16_t links[2][SN_LATTICE_DIRECTIONS]; /* neighbours of a point that are neighbours of each other */
    ptrdiff_t tets[SN_LATTICE_CUBE_TETS][4];  /* index steps from a cube's corner point to the vertices of its tets:
                                                 two centres, two corners, positive volume */
} SnLattice;

/* A lattice around the box with at least `margin` + 2 cells on every side, symmetric about the box. */
void sn_lattice_init(const double low[3], const double high[3], double cell, double margin, SnLattice *lattice);

/* Corners and centres together. */
size_t sn_lattice_point_count(const SnLattice *lattice);

/* 0 for a corner, 1 for a centre. */
int sn_lattice_kind(const SnLattice *lattice, size_t point);

/* Grid place i, j, k of a point or cube. */
void sn_lattice_place(const SnLattice *lattice, size_t point, int32_t place[3]);

/* Lattice coordinates of a point. */
void sn_lattice_position(const SnLattice *lattice, size_t point, double position[3]);

/* Step of a direction in lattice coordinates. */
void sn_lattice_step(int direction, double step[3]);

/* The direction that leads back. */
int sn_lattice_opposite(int direction);

/* Points of the outermost layer miss some neighbours. */
int sn_lattice_is_border(const SnLattice *lattice, const int32_t place[3]);

/* The tet that holds a point in lattice coordinates: its cube and its number there. */
size_t sn_lattice_locate(const SnLattice *lattice, const double position[3], int *local);

void sn_lattice_from_world(const SnLattice *lattice, const double world[3], double position[3]);
void sn_lattice_to_world(const SnLattice *lattice, const double position[3], double world[3]);

#endif
