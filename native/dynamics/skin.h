/* How the points of a surface hang on the vertices of a world: at one moment linearly, q = q̄ + L (x - ū), with what is not linear frozen.
   A method brings a skin for each of its bodies; an obstacle has one on which nothing pulls. */
#ifndef SN_DYNAMICS_SKIN_H
#define SN_DYNAMICS_SKIN_H

#include <stddef.h>
#include <stdint.h>

#define SN_SKIN_ROW_MOST 2048 /* vertices that one point may hang on */

typedef struct SnSkin {
    void *self;
    size_t first_vertex; /* of the world: where its body's vertices begin, which all arrays here count from */
    /* A moment, at a fraction of the interval: the body's pose, and the positions that it is frozen at (body's vertices x 3). */
    void (*freeze)(void *self, double fraction, const double *pose, const double *positions);
    /* points (the part's x 3) = q(positions), as frozen. */
    void (*place)(void *self, const double *positions, double *points);
    /* The row of L of one point: vertices, each once, and weights; returns how many. Null: nothing moves them but the moment. */
    size_t (*row)(void *self, size_t point, int32_t *vertices, double *weights);
} SnSkin;

/* Points that are vertices themselves. */
typedef struct SnPlainSkin {
    size_t point_count;
    const int32_t *vertices; /* points; not owned */
} SnPlainSkin;
SnSkin sn_plain_skin(SnPlainSkin *skin, size_t first_vertex);

/* Points that go straight from one place to another in an interval. */
typedef struct SnObstacleSkin {
    size_t point_count;
    const double *begin, *end; /* points x 3; not owned */
    double fraction;
} SnObstacleSkin;
SnSkin sn_obstacle_skin(SnObstacleSkin *skin);

#endif
