#include "contact/surface.h"

#include "base/memory.h"
#include "mesh/geometry.h"
#include "mesh/sides.h"

#include <math.h>
#include <string.h>

static int has_point_twice(const int32_t *triangle)
{
    return triangle[0] == triangle[1] || triangle[1] == triangle[2] || triangle[2] == triangle[0];
}

static SnStatus check_part(SnContext *context, size_t number, const SnSurfacePart *part, size_t world_count)
{
    for (size_t i = 0; i < 3 * part->point_count; i++) {
        if (!isfinite(part->rest[i])) {
            return sn_context_fail(context, SN_BAD_INPUT, "Vertex %zu of colliding mesh %zu has a coordinate that is not a number.",
                                   i / 3, number);
        }
    }
    for (size_t i = 0; i < 3 * part->triangle_count; i++) {
        if (part->triangles[i] < 0 || (size_t)part->triangles[i] >= part->point_count) {
            return sn_context_fail(context, SN_BAD_INPUT, "Triangle %zu of colliding mesh %zu names vertex %d, but there are %zu.",
                                   i / 3, number, (int)part->triangles[i], part->point_count);
        }
    }
    for (size_t i = 0; i < 4 * part->point_count && part->corners != NULL; i++) {
        if (part->corners[i] < 0 || (size_t)part->corners[i] >= world_count || !isfinite(part->weights[i])) {
            return sn_context_fail(context, SN_BAD_INPUT, "Vertex %zu of colliding mesh %zu is bound to vertex %d, but there are %zu.",
                                   i / 4, number, (int)part->corners[i], world_count);
        }
    }
    for (size_t i = 0; i < part->point_count; i++) {
        double thickness = part->thickness ? part->thickness[i] : 0.0, friction = part->friction ? part->friction[i] : 0.0;
        if (!isfinite(thickness) || !isfinite(friction) || thickness < 0.0 || friction < 0.0) {
            return sn_context_fail(context, SN_BAD_INPUT, "Vertex %zu of colliding mesh %zu has thickness %g and friction %g: give "
                                   "numbers that are not negative.", i, number, thickness, friction);
        }
    }
    return SN_OK;
}

/* Copies a part behind the others: points and triangles. */
static void add_part(const SnSurfacePart *part, size_t number, SnSurface *surface)
{
    SnSurfaceBody *body = surface->bodies + number;
    size_t first = surface->point_count, count = part->point_count;
    *body = (SnSurfaceBody){.first_point = first, .point_count = count, .first_triangle = surface->triangle_count};
    memcpy(surface->rest + 3 * first, part->rest, 3 * count * sizeof *part->rest);
    for (size_t i = 0; i < count; i++) {
        size_t p = first + i;
        surface->point_bodies[p] = (int32_t)number;
        surface->kinematic[p] = part->kinematic ? part->kinematic[i] != 0 : part->corners == NULL;
        surface->thickness[p] = part->thickness ? part->thickness[i] : 0.0;
        surface->friction[p] = part->friction ? part->friction[i] : 0.0;
        surface->groups[p] = part->groups ? part->groups[i] : 0;
        body->moves |= !surface->kinematic[p];
        for (size_t k = 0; k < 4; k++) {
            surface->corners[4 * p + k] = part->corners ? part->corners[4 * i + k] : -1;
            surface->weights[4 * p + k] = part->corners ? part->weights[4 * i + k] : 0.0;
            surface->fixed[4 * p + k] = part->fixed != NULL && part->fixed[4 * i + k];
        }
    }
    for (size_t t = 0; t < part->triangle_count; t++) {
        if (!has_point_twice(part->triangles + 3 * t)) {
            for (size_t k = 0; k < 3; k++) {
                surface->triangles[3 * surface->triangle_count + k] = part->triangles[3 * t + k] + (int32_t)first;
            }
            surface->numbers[surface->triangle_count++] = (int32_t)t;
        }
    }
    body->triangle_count = surface->triangle_count - body->first_triangle;
    surface->point_count += count;
}

/* Equal sides become one edge, owned by the first triangle that has it. */
static void join_sides(size_t count, const SnSide *sides, SnSurface *surface)
{
    for (size_t i = 0; i < count; i++) {
        int is_new = i == 0 || !sn_sides_are_one(sides + i - 1, sides + i);
        size_t slot = (size_t)sides[i].slot;
        if (is_new) {
            surface->edges[2 * surface->edge_count] = sides[i].low;
            surface->edges[2 * surface->edge_count + 1] = sides[i].high;
            surface->edge_triangle_starts[surface->edge_count++] = (int32_t)i;
            surface->owned[slot / 3] |= (unsigned char)(8 << slot % 3);
        }
        surface->triangle_edges[slot] = (int32_t)surface->edge_count - 1;
        surface->edge_triangles[i] = (int32_t)(slot / 3);
    }
    surface->edge_triangle_starts[surface->edge_count] = (int32_t)count;
}

static SnStatus find_edges(SnContext *context, SnSurface *surface)
{
    SnStatus status = SN_OK;
    size_t count = 3 * surface->triangle_count;
    SnSide *sides;
    SN_TRY_NEW(context, sides, count, SnSide);
    for (size_t i = 0; i < count; i++) {
        size_t next = i % 3 == 2 ? i - 2 : i + 1;
        sides[i] = sn_side(surface->triangles[i], surface->triangles[next], i);
    }
    sn_sides_sort(count, sides);
    join_sides(count, sides, surface);
cleanup:
    sn_release(sides);
    return status;
}

/* Edges are sorted by their first point, and so by body: those of a body follow one another. */
static void give_edges_to_bodies(SnSurface *surface)
{
    size_t edge = 0;
    for (size_t b = 0; b < surface->body_count; b++) {
        SnSurfaceBody *body = surface->bodies + b;
        body->first_edge = edge;
        while (edge < surface->edge_count && (size_t)surface->edges[2 * edge] < body->first_point + body->point_count) {
            edge++;
        }
        body->edge_count = edge - body->first_edge;
    }
}

/* A body is closed where every edge has two triangles; then its volume tells which way its normals point. */
static void find_outward(SnSurface *surface)
{
    for (size_t b = 0; b < surface->body_count; b++) {
        SnSurfaceBody *body = surface->bodies + b;
        int closed = body->triangle_count > 0;
        double volume = 0.0, origin[3] = {0.0, 0.0, 0.0};
        for (size_t e = body->first_edge; e < body->first_edge + body->edge_count; e++) {
            closed &= surface->edge_triangle_starts[e + 1] - surface->edge_triangle_starts[e] == 2;
        }
        for (size_t t = body->first_triangle; t < body->first_triangle + body->triangle_count; t++) {
            const int32_t *corners = surface->triangles + 3 * t;
            volume += sn_volume_six(origin, surface->rest + 3 * (size_t)corners[0], surface->rest + 3 * (size_t)corners[1],
                                    surface->rest + 3 * (size_t)corners[2]);
        }
        body->outward = !closed ? 0 : volume < 0.0 ? -1 : 1;
    }
}

/* Lists by point, of `count` items with `width` points each: starts[p + 1] counts first, and then moves to its place as they fill. */
static void count_by_point(size_t point_count, size_t count, size_t width, const int32_t *items, int32_t *starts)
{
    for (size_t i = 0; i < width * count; i++) {
        starts[items[i] + 1]++;
    }
    int32_t sum = 0;
    for (size_t p = 0; p < point_count; p++) {
        int32_t own = starts[p + 1];
        starts[p + 1] = sum;
        sum += own;
    }
}

static void find_neighbours(SnSurface *surface)
{
    count_by_point(surface->point_count, surface->edge_count, 2, surface->edges, surface->point_starts);
    for (size_t side = 0; side < 2; side++) { /* lower neighbours first: edges come by their lower point */
        for (size_t e = 0; e < surface->edge_count; e++) {
            const int32_t *edge = surface->edges + 2 * e;
            surface->point_points[surface->point_starts[edge[1 - side] + 1]++] = edge[side];
        }
    }
    count_by_point(surface->point_count, surface->triangle_count, 3, surface->triangles, surface->point_triangle_starts);
    for (size_t i = 0; i < 3 * surface->triangle_count; i++) {
        surface->point_triangles[surface->point_triangle_starts[surface->triangles[i] + 1]++] = (int32_t)(i / 3);
    }
    for (size_t i = 0; i < 3 * surface->triangle_count; i++) { /* the first triangle at a point owns it */
        int32_t first = surface->point_triangles[surface->point_triangle_starts[surface->triangles[i]]];
        surface->owned[i / 3] |= (unsigned char)((first == (int32_t)(i / 3)) << i % 3);
    }
}

static SnStatus allocate_surface(SnContext *context, size_t points, size_t triangles, size_t bodies, SnSurface *surface)
{
    SnStatus status = SN_OK;
    SN_TRY_NEW(context, surface->bodies, bodies, SnSurfaceBody);
    SN_TRY_NEW(context, surface->triangles, 3 * triangles, int32_t);
    SN_TRY_NEW(context, surface->numbers, triangles, int32_t);
    SN_TRY_NEW(context, surface->triangle_edges, 3 * triangles, int32_t);
    SN_TRY_NEW(context, surface->owned, triangles, unsigned char);
    SN_TRY_NEW(context, surface->edges, 6 * triangles, int32_t);
    SN_TRY_NEW(context, surface->edge_triangle_starts, 3 * triangles + 1, int32_t);
    SN_TRY_NEW(context, surface->edge_triangles, 3 * triangles, int32_t);
    SN_TRY_NEW(context, surface->point_starts, points + 1, int32_t);
    SN_TRY_NEW(context, surface->point_points, 6 * triangles, int32_t);
    SN_TRY_NEW(context, surface->point_triangle_starts, points + 1, int32_t);
    SN_TRY_NEW(context, surface->point_triangles, 3 * triangles, int32_t);
    SN_TRY_NEW(context, surface->point_bodies, points, int32_t);
    SN_TRY_NEW(context, surface->rest, 3 * points, double);
    SN_TRY_NEW(context, surface->corners, 4 * points, int32_t);
    SN_TRY_NEW(context, surface->weights, 4 * points, double);
    SN_TRY_NEW(context, surface->fixed, 4 * points, unsigned char);
    SN_TRY_NEW(context, surface->kinematic, points, unsigned char);
    SN_TRY_NEW(context, surface->thickness, points, double);
    SN_TRY_NEW(context, surface->friction, points, double);
    SN_TRY_NEW(context, surface->groups, points, uint32_t);
    SN_TRY_NEW(context, surface->active, bodies, unsigned char);
    SN_TRY_NEW(context, surface->meets, bodies * bodies, unsigned char);
    memset(surface->active, 1, bodies);
    memset(surface->meets, 1, bodies * bodies);
cleanup:
    return status;
}

SnStatus sn_surface_init(SnContext *context, size_t part_count, const SnSurfacePart *parts, size_t world_count, SnSurface *surface)
{
    SnStatus status = SN_OK;
    size_t points = 0, triangles = 0;
    *surface = (SnSurface){.body_count = part_count};
    for (size_t i = 0; i < part_count; i++) {
        SN_TRY(check_part(context, i, parts + i, world_count));
        points += parts[i].point_count;
        triangles += parts[i].triangle_count;
    }
    if (points > INT32_MAX / 6 || triangles > INT32_MAX / 6) {
        SN_TRY(sn_context_fail(context, SN_BAD_INPUT, "The colliding meshes have %zu triangles, which is too many.", triangles));
    }
    SN_TRY(allocate_surface(context, points, triangles, part_count, surface));
    for (size_t i = 0; i < part_count; i++) {
        add_part(parts + i, i, surface);
    }
    SN_TRY(find_edges(context, surface));
    give_edges_to_bodies(surface);
    find_outward(surface);
    find_neighbours(surface);
cleanup:
    if (status != SN_OK) {
        sn_surface_clear(surface);
    }
    return status;
}

void sn_surface_clear(SnSurface *surface)
{
    void *const blocks[] = {surface->bodies, surface->triangles, surface->numbers, surface->triangle_edges, surface->owned, surface->edges,
                            surface->edge_triangle_starts, surface->edge_triangles, surface->point_starts, surface->point_points,
                            surface->point_triangle_starts, surface->point_triangles, surface->point_bodies, surface->rest,
                            surface->corners, surface->weights, surface->fixed, surface->kinematic, surface->thickness, surface->friction,
                            surface->groups, surface->active, surface->meets};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        sn_release(blocks[i]);
    }
    *surface = (SnSurface){0};
}

void sn_surface_ignore(SnSurface *surface, int group, int other)
{
    surface->ignored[group] |= (uint32_t)1 << other;
    surface->ignored[other] |= (uint32_t)1 << group;
}

void sn_surface_set_meets(SnSurface *surface, size_t body, size_t other, int meets)
{
    surface->meets[body * surface->body_count + other] = meets != 0;
    surface->meets[other * surface->body_count + body] = meets != 0;
}
