/* The one set of points: what is beside what, who owns what, and what is refused. */
#include "contact.h"

#include <stdlib.h>

static void every_corner_and_edge_is_owned_once(const SnSurface *surface)
{
    int32_t *points = calloc(surface->point_count, sizeof *points), *edges = calloc(surface->edge_count, sizeof *edges);
    size_t wrong = 0;
    for (size_t t = 0; t < surface->triangle_count; t++) {
        for (size_t k = 0; k < 3; k++) {
            const int32_t *corner = surface->triangles + 3 * t, *edge = surface->edges + 2 * surface->triangle_edges[3 * t + k];
            int32_t a = corner[k], b = corner[(k + 1) % 3];
            points[a] += surface->owned[t] >> k & 1;
            edges[surface->triangle_edges[3 * t + k]] += surface->owned[t] >> (3 + k) & 1;
            wrong += edge[0] != (a < b ? a : b) || edge[1] != (a < b ? b : a);
        }
    }
    for (size_t p = 0; p < surface->point_count; p++) {
        int has = surface->point_triangle_starts[p] < surface->point_triangle_starts[p + 1];
        wrong += points[p] != has;
    }
    for (size_t e = 0; e < surface->edge_count; e++) {
        wrong += edges[e] != 1;
    }
    CHECK(wrong == 0);
    free(points);
    free(edges);
}

static int lists(const int32_t *starts, const int32_t *items, int32_t of, int32_t item)
{
    for (int32_t i = starts[of]; i < starts[of + 1]; i++) {
        if (items[i] == item) {
            return 1;
        }
    }
    return 0;
}

static void neighbours_are_those_of_the_triangles(const SnSurface *surface)
{
    size_t wrong = 0, joined = 0;
    for (size_t t = 0; t < surface->triangle_count; t++) {
        for (size_t k = 0; k < 3; k++) {
            int32_t a = surface->triangles[3 * t + k], b = surface->triangles[3 * t + (k + 1) % 3];
            wrong += !lists(surface->point_starts, surface->point_points, a, b) ||
                     !lists(surface->point_starts, surface->point_points, b, a) ||
                     !lists(surface->point_triangle_starts, surface->point_triangles, a, (int32_t)t) ||
                     !lists(surface->edge_triangle_starts, surface->edge_triangles, surface->triangle_edges[3 * t + k], (int32_t)t);
        }
    }
    for (size_t p = 0; p < surface->point_count; p++) {
        for (int32_t i = surface->point_starts[p]; i < surface->point_starts[p + 1]; i++) {
            wrong += i > surface->point_starts[p] && surface->point_points[i] <= surface->point_points[i - 1];
            joined++;
        }
    }
    CHECK(wrong == 0 && joined == 2 * surface->edge_count);
    CHECK((size_t)surface->point_triangle_starts[surface->point_count] == 3 * surface->triangle_count);
    CHECK((size_t)surface->edge_triangle_starts[surface->edge_count] == 3 * surface->triangle_count);
}

static void bodies_lie_one_after_the_other(SnContext *context)
{
    SnSurface surface;
    Shape ball = contact_ball(context, 4, 1.0, 0, 0, 0);
    /* two triangles on one edge, a third one on it, one twice over, one with a point twice, one loose point */
    static const double positions[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 9, 9, 9};
    static const int32_t triangles[] = {0, 1, 2, 1, 0, 3, 0, 1, 4, 0, 1, 4, 2, 2, 3};
    double thickness[6] = {0, 0, 0, 0, 0.5, 0};
    SnSurfacePart parts[3] = {contact_part(&ball, NULL, NULL),
                              {.point_count = 6, .triangle_count = 5, .rest = positions, .triangles = triangles, .thickness = thickness},
                              contact_part(&ball, NULL, NULL)};
    int32_t corners[4 * 200];
    double weights[4 * 200];
    for (int i = 0; i < 4 * 200; i++) {
        corners[i] = i / 4;
        weights[i] = 0.25;
    }
    parts[2].corners = corners;
    parts[2].weights = weights;
    CHECK(sn_surface_init(context, 3, parts, 200, &surface) == SN_OK);
    CHECK(surface.point_count == 2 * ball.vertex_count + 6 && surface.triangle_count == 2 * ball.triangle_count + 4);
    CHECK(surface.edge_count == 2 * (3 * ball.triangle_count / 2) + 7);
    CHECK(surface.bodies[1].edge_count == 7 && surface.bodies[2].first_edge == surface.bodies[0].edge_count + 7);
    CHECK(surface.bodies[1].triangle_count == 4 && surface.bodies[1].first_point == ball.vertex_count);
    CHECK(!surface.bodies[0].moves && surface.bodies[2].moves); /* what nothing carries is an obstacle */
    CHECK(surface.kinematic[0] && !surface.kinematic[surface.bodies[2].first_point]);
    CHECK(surface.corners[0] == -1 && surface.corners[4 * surface.bodies[2].first_point + 4] == 1);
    CHECK_NEAR(surface.thickness[surface.bodies[1].first_point + 4], 0.5, 0.0);
    every_corner_and_edge_is_owned_once(&surface);
    neighbours_are_those_of_the_triangles(&surface);
    sn_surface_ignore(&surface, 3, 5);
    CHECK(surface.ignored[3] == 32 && surface.ignored[5] == 8);
    sn_surface_set_meets(&surface, 0, 2, 0);
    CHECK(!surface.meets[2] && !surface.meets[6] && surface.meets[1]);
    sn_surface_clear(&surface);

    CHECK(sn_surface_init(context, 0, parts, 0, &surface) == SN_OK && surface.point_count == 0);
    sn_surface_clear(&surface);
    shape_clear(&ball);
}

static void bad_parts_are_refused_with_a_sentence(SnContext *context)
{
    double positions[] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, negative[3] = {0, -1, 0};
    int32_t triangles[] = {0, 1, 2}, corners[12] = {0};
    double weights[12] = {0};
    SnSurface surface;
    SnSurfacePart part = {.point_count = 3, .triangle_count = 1, .rest = positions, .triangles = triangles};
    positions[4] = NAN;
    CHECK(sn_surface_init(context, 1, &part, 0, &surface) == SN_BAD_INPUT && strstr(context->message, "not a number") != NULL);
    positions[4] = 0.0;
    triangles[1] = 3;
    CHECK(sn_surface_init(context, 1, &part, 0, &surface) == SN_BAD_INPUT && strstr(context->message, "names vertex 3") != NULL);
    triangles[1] = 1;
    corners[5] = 8;
    part.corners = corners;
    part.weights = weights;
    CHECK(sn_surface_init(context, 1, &part, 8, &surface) == SN_BAD_INPUT && strstr(context->message, "bound to vertex 8") != NULL);
    part.corners = NULL;
    part.thickness = negative;
    CHECK(sn_surface_init(context, 1, &part, 8, &surface) == SN_BAD_INPUT && strstr(context->message, "thickness -1") != NULL);
    part.thickness = NULL;
    CHECK(sn_surface_init(context, 1, &part, 8, &surface) == SN_OK);
    sn_surface_clear(&surface);
}

static void every_failing_allocation_is_answered(void)
{
    SnContext context;
    SnSurface surface;
    int finished = 0;
    long n = 0;
    sn_context_init(&context);
    Shape ball = contact_ball(&context, 3, 1.0, 0, 0, 0);
    SnSurfacePart part = contact_part(&ball, NULL, NULL);
    for (; !finished && n < 100; n++) {
        context.allocations_until_failure = n;
        SnStatus status = sn_surface_init(&context, 1, &part, 0, &surface);
        finished = status == SN_OK;
        CHECK(finished || status == SN_OUT_OF_MEMORY);
        sn_surface_clear(&surface);
    }
    CHECK(finished && n > 20);
    shape_clear(&ball);
}

int main(void)
{
    SnContext context;
    sn_context_init(&context);
    bodies_lie_one_after_the_other(&context);
    bad_parts_are_refused_with_a_sentence(&context);
    every_failing_allocation_is_answered();
    return CHECK_RESULT();
}
