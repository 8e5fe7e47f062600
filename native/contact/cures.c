#include "contact/cures.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

#define NEIGHBOURS 4.0 /* mean edges at rest: nearer points of one body are not led out of each other */

/* Triangles that a point may be led through. */
typedef struct Way {
    const SnTangles *tangles;
    const double *q;
    int32_t point, side; /* the side, 2 tangle + side, that the triangle has to be on */
    size_t first;
} Way;

static double way_distance(const void *data, int32_t item, const double point[3])
{
    const Way *way = data;
    const SnSurface *surface = way->tangles->surface;
    const int32_t *t = surface->triangles + 3 * (way->first + (size_t)item);
    int kinematic = surface->kinematic[way->point];
    for (int k = 0; k < 3; k++) {
        kinematic &= surface->kinematic[t[k]];
        if (t[k] == way->point || !sn_regions_has(&way->tangles->now, t[k], way->side)) {
            return INFINITY;
        }
    }
    if (kinematic || sn_surface_ignores(surface, 1, &way->point, 3, t)) {
        return INFINITY;
    }
    return sn_triangle_distance_squared(point, way->q + 3 * (size_t)t[0], way->q + 3 * (size_t)t[1], way->q + 3 * (size_t)t[2]);
}

/* The vertex of a pair, and a triangle, as points. */
static void pair_points(const SnSurface *surface, int32_t point, int32_t triangle, int32_t points[4])
{
    points[0] = point;
    memcpy(points + 1, surface->triangles + 3 * (size_t)triangle, 3 * sizeof *points);
}

/* How far a point is in front of a triangle, along its normal times `side`; fills in where. 0 for one without a normal. */
static double find_height(const int32_t points[4], double side, const double *q, SnNearest *nearest, double n[3])
{
    double x[4][3], u[3], v[3];
    sn_gather_points(points, q, x);
    *nearest = sn_nearest_point_triangle(x);
    sn_subtract(x[2], x[1], u);
    sn_subtract(x[3], x[1], v);
    sn_cross3(u, v, n);
    double length = sn_length(n);
    for (int a = 0; a < 3; a++) {
        n[a] = length > 0.0 ? side * n[a] / length : 0.0;
    }
    return sn_dot3(n, nearest->w);
}

/* Whether a body was made so that the point goes through the triangle, or both are neighbours there. */
static int is_made_so(const SnTangles *tangles, const int32_t points[4])
{
    double x[4][3], least = NEIGHBOURS * tangles->edge_length;
    if (tangles->surface->point_bodies[points[0]] != tangles->surface->point_bodies[points[1]]) {
        return 0;
    }
    sn_gather_points(points, tangles->surface->rest, x);
    return sn_nearest_point_triangle(x).squared < least * least || sn_regions_join(&tangles->rest, 1, points, 3, points + 1);
}

SnStatus sn_tangles_find_cures(SnContext *context, SnTangles *tangles, const double *q)
{
    SnStatus status = SN_OK;
    const SnSurface *surface = tangles->surface;
    int32_t *first = tangles->contours.parents; /* places: there are more than tangles */
    tangles->cure_count = 0;
    for (size_t i = tangles->contours.crossings.count; i-- > 0;) {
        first[tangles->contours.places[i].tangle] = (int32_t)i;
    }
    for (size_t i = 0; i < tangles->now.count; i++) {
        SnRegionPoint at = tangles->now.points[i];
        if (!(at.mark & 1)) {
            continue;
        }
        const SnCrossing *crossing = sn_contours_at(&tangles->contours, (size_t)first[at.mark >> 2]);
        size_t bodies[2] = {sn_surface_edge_body(surface, crossing->edge), sn_surface_triangle_body(surface, crossing->triangle)};
        size_t other = bodies[bodies[0] == (size_t)surface->point_bodies[at.point]];
        Way way = {tangles, q, at.point, at.mark >> 1 ^ 1, surface->bodies[other].first_triangle};
        double squared = INFINITY, n[3];
        int32_t found = sn_trees_nearest(&tangles->contours.crossings.trees, other, q + 3 * (size_t)at.point, way_distance, &way, &squared);
        if (found < 0) {
            continue;
        }
        int32_t points[4], triangle = (int32_t)way.first + found;
        SnNearest nearest;
        pair_points(surface, at.point, triangle, points);
        double side = (double)surface->bodies[other].outward, height = find_height(points, 1.0, q, &nearest, n);
        side = side != 0.0 ? side : height > 0.0 ? -1.0 : 1.0;
        if (side * height < 0.0 && !is_made_so(tangles, points)) {
            SN_TRY_ROOM(context, tangles->cures, tangles->cure_count + 1, tangles->cure_capacity);
            tangles->cures[tangles->cure_count++] = (SnCure){at.point, triangle, side};
        }
    }
cleanup:
    return status;
}

SnStatus sn_tangles_add_cures(SnContext *context, const SnTangles *tangles, const SnCandidates *candidates, const double *q,
                              const double *input, SnTouches *touches)
{
    SnStatus status = SN_OK;
    const SnSurface *surface = tangles->surface;
    for (const SnCure *cure = tangles->cures; cure < tangles->cures + tangles->cure_count; cure++) {
        SnTouch touch = {.weight = 1.0, .pair = -1, .is_wish = 1};
        SnNearest nearest;
        double n[3], thickness = 0.0;
        pair_points(surface, cure->point, cure->triangle, touch.points);
        for (int k = 1; k < 4; k++) {
            thickness = sn_largest(thickness, surface->thickness[touch.points[k]]);
        }
        touch.gap = candidates->def.gap + surface->thickness[cure->point] + thickness;
        if (input != NULL) {
            touch.gap = sn_least(touch.gap, find_height(touch.points, cure->side, input, &nearest, n));
        }
        touch.distance = find_height(touch.points, cure->side, q, &nearest, touch.n);
        memcpy(touch.c, nearest.c, sizeof touch.c);
        SN_TRY(sn_near_add(context, &touch, touches));
    }
    if (tangles->cure_count > 0) {
        sn_near_sort(touches);
    }
cleanup:
    return status;
}
