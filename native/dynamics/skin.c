#include "dynamics/skin.h"

#include <string.h>

static void freeze_plain(void *self, double fraction, const double *pose, const double *positions)
{
    (void)self, (void)fraction, (void)pose, (void)positions;
}

static void place_plain(void *self, const double *positions, double *points)
{
    const SnPlainSkin *skin = self;
    for (size_t p = 0; p < skin->point_count; p++) {
        memcpy(points + 3 * p, positions + 3 * (size_t)skin->vertices[p], 3 * sizeof *points);
    }
}

static size_t plain_row(void *self, size_t point, int32_t *vertices, double *weights)
{
    vertices[0] = ((const SnPlainSkin *)self)->vertices[point];
    weights[0] = 1.0;
    return 1;
}

SnSkin sn_plain_skin(SnPlainSkin *skin, size_t first_vertex)
{
    return (SnSkin){skin, first_vertex, freeze_plain, place_plain, plain_row};
}

static void freeze_obstacle(void *self, double fraction, const double *pose, const double *positions)
{
    (void)pose, (void)positions;
    ((SnObstacleSkin *)self)->fraction = fraction;
}

static void place_obstacle(void *self, const double *positions, double *points)
{
    const SnObstacleSkin *skin = self;
    (void)positions;
    for (size_t k = 0; k < 3 * skin->point_count; k++) { /* both ends to the bit */
        double s = skin->fraction;
        points[k] = s == 1.0 ? skin->end[k] : skin->begin[k] + s * (skin->end[k] - skin->begin[k]);
    }
}

SnSkin sn_obstacle_skin(SnObstacleSkin *skin)
{
    return (SnSkin){skin, 0, freeze_obstacle, place_obstacle, NULL};
}
