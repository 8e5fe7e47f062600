/* Planes of touches: what can be driven apart has one, what one cell carries alike has none. */
#include "check.h"

#include "base/memory.h"
#include "dynamics/touch_planes.h"

#include <string.h>

#define VERTICES 8
#define POINTS 4

/* Two tets; a point and a triangle that hang on them. */
typedef struct Hung {
    int32_t corners[4 * POINTS];
    double weights[4 * POINTS];
} Hung;

static size_t find_row(void *self, size_t point, int32_t *vertices, double *weights)
{
    const Hung *hung = self;
    memcpy(vertices, hung->corners + 4 * point, 4 * sizeof *vertices);
    memcpy(weights, hung->weights + 4 * point, 4 * sizeof *weights);
    return 4;
}

/* The point hangs in the first tet or in the second, the triangle in the first, `apart` from the point in its weights. How many entries the
   row of its plane has; `fixed` vertices are left out. */
static int32_t count_entries(int own_tet, double apart, int fixed, int is_wish)
{
    Hung hung;
    SnContext context;
    SnSurface surface;
    SnTouchRows rows;
    SnPlanes planes = {0};
    int32_t triangles[3] = {1, 2, 3}, unknown[VERTICES], vertex[VERTICES];
    double rest[3 * POINTS] = {0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0}, hardness[VERTICES], positions[3 * VERTICES] = {0}, offset[3 * POINTS] = {0};
    SnAssembly assembly = {.vertex_count = VERTICES, .unknown = unknown, .vertex = vertex};
    sn_context_init(&context);
    for (int32_t v = 0; v < VERTICES; v++) {
        unknown[v] = v < fixed ? -1 : (int32_t)assembly.unknown_count;
        hardness[v] = 1.0;
        if (v >= fixed) {
            vertex[assembly.unknown_count++] = v;
        }
    }
    for (int p = 0; p < POINTS; p++) {
        for (int i = 0; i < 4; i++) {
            double off = p == 0 ? (i == 0 ? apart : i == 1 ? -apart : 0.0) : 0.0;
            hung.corners[4 * p + i] = i + (p == 0 && own_tet ? 4 : 0);
            hung.weights[4 * p + i] = 0.25 + off;
        }
    }
    SnSurfacePart part = {.point_count = POINTS, .triangle_count = 1, .rest = rest, .triangles = triangles, .corners = hung.corners,
                          .weights = hung.weights};
    SnSkin skin = {.self = &hung, .row = find_row};
    CHECK(sn_surface_init(&context, 1, &part, VERTICES, &surface) == SN_OK);
    CHECK(sn_touch_rows_init(&context, &surface, &skin, &assembly, &rows) == SN_OK);
    SnTouch touch = {.points = {0, 1, 2, 3}, .c = {1.0, -0.4, -0.3, -0.3}, .n = {0, 0, 1}, .distance = 1e-3, .gap = 1e-3, .weight = 1.0,
                     .is_wish = is_wish};
    SnTouches touches = {.count = 1, .touches = &touch};
    double force = 2.0, hold[3] = {0};
    SnTouchMoment moment = {positions, rest, offset, hardness, 1.0};
    CHECK(sn_touch_planes_build(&context, &rows, &touches, &force, hold, &moment, &planes) == SN_OK);
    CHECK(planes.count == 1);
    const SnPlane *plane = planes.planes;
    int32_t count = plane->row.end - plane->row.begin;
    CHECK(plane->rho > 0.0 && (count > 0 ? plane->lambda == 2.0 : plane->lambda == 0.0 && plane->gap < -1e300)); /* else it never presses */
    sn_planes_clear(&planes);
    sn_touch_rows_clear(&rows);
    sn_surface_clear(&surface);
    return count;
}

int main(void)
{
    CHECK(count_entries(1, 0.0, 0, 0) == 8);  /* of two cells */
    CHECK(count_entries(1, 0.0, 0, 1) == 8);
    CHECK(count_entries(0, 0.6, 0, 0) == 2);  /* of one, far from each other in it */
    CHECK(count_entries(0, 0.1, 0, 0) == 0);  /* near each other: the cell would be torn */
    CHECK(count_entries(0, 0.3, 0, 1) == 0);  /* a wish is not worth as much */
    CHECK(count_entries(1, 0.0, 3, 0) == 5);  /* what is held is left out, ... */
    CHECK(count_entries(1, 0.0, 8, 0) == 0);  /* ... and where all is nothing moves */
    return CHECK_RESULT();
}
