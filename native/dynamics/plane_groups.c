#include "dynamics/plane_groups.h"

#include <math.h>

#define WEIGHTLESS 1e-9 /* of a pair's weights: rounding */

/* The body of the world that an unknown belongs to. */
static int32_t find_body(const SnWorld *world, int32_t unknown)
{
    size_t vertex = (size_t)world->assembly.vertex[unknown], low = 0, high = world->body_count - 1;
    while (low < high) {
        size_t middle = (low + high + 1) / 2;
        if (world->bodies[middle].first_vertex <= vertex) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return (int32_t)low;
}

static int32_t find_group(const int32_t *groups, int32_t body)
{
    while (body >= 0 && groups[body] != body) {
        body = groups[body];
    }
    return body;
}

/* The group of the higher number becomes part of the other; -1 swallows all. */
static void join_groups(int32_t *groups, int32_t one, int32_t two)
{
    one = find_group(groups, one);
    two = find_group(groups, two);
    if (one > two) {
        groups[one] = two;
    } else if (two >= 0) {
        groups[two] = one;
    }
}

void sn_plane_groups(const SnWorld *world, const SnPlanes *planes, int32_t *groups)
{
    size_t count = world->body_count;
    for (size_t b = 0; b < count; b++) {
        groups[b] = (int32_t)b;
    }
    for (const SnPlane *plane = planes->planes; plane < planes->planes + planes->count; plane++) {
        double left = 0.0; /* weights of a pair add up to 0: what is missing is kinematic */
        for (int32_t k = plane->row.begin; k < plane->row.end && (plane->force > 0.0 || plane->grip > 0.0); k++) {
            left += planes->weights[k];
            join_groups(groups, find_body(world, planes->unknowns[plane->row.begin]), find_body(world, planes->unknowns[k]));
        }
        if (fabs(left) > WEIGHTLESS) {
            join_groups(groups, -1, find_body(world, planes->unknowns[plane->row.begin]));
        }
    }
    for (size_t b = 0; b < count; b++) {
        groups[b] = find_group(groups, (int32_t)b);
    }
}
