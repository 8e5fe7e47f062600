#include "contact/intersections.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "contact/orientation.h"

#include <stdlib.h>
#include <string.h>

#define TRIANGLES_PER_CHUNK 2048
#define ROWS_PER_CHUNK 256
#define LITTLE 1e-9 /* of a triangle's size */

static const double *at(const double *q, int32_t point)
{
    return q + 3 * (size_t)point;
}

/* A point of a body that is a little smaller: moved against its normal; where it is, in an open one. */
static void move_inwards(const SnSurface *surface, const double *q, int32_t point, double moved[3])
{
    int outward = surface->bodies[surface->point_bodies[point]].outward;
    double normal[3] = {0.0, 0.0, 0.0};
    for (int32_t i = surface->point_triangle_starts[point]; i < surface->point_triangle_starts[point + 1]; i++) {
        const int32_t *corners = surface->triangles + 3 * (size_t)surface->point_triangles[i];
        double u[3], v[3], n[3];
        sn_subtract(at(q, corners[1]), at(q, corners[0]), u);
        sn_subtract(at(q, corners[2]), at(q, corners[0]), v);
        sn_cross3(u, v, n);
        for (int axis = 0; axis < 3; axis++) {
            normal[axis] += n[axis];
        }
    }
    double area = sn_length(normal), scale = area > 0.0 ? LITTLE * (double)outward / sqrt(area) : 0.0;
    for (int axis = 0; axis < 3; axis++) {
        moved[axis] = at(q, point)[axis] - scale * normal[axis];
    }
}

/* The five signs that tell whether the edge, x[0] and x[1], crosses the triangle x[2] to x[4]: on which side of it both ends lie, and how the
   edge's line runs past the three sides, which are told by ascending numbers of their points. Returns whether none is 0. */
static int find_signs(const double *const x[5], const int32_t triangle[3], int signs[5])
{
    int clear = 1;
    for (int i = 0; i < 2; i++) {
        signs[i] = sn_orientation(x[2], x[3], x[4], x[i]);
        clear &= signs[i] != 0;
    }
    for (int k = 0; k < 3; k++) {
        int next = (k + 1) % 3, turned = triangle[k] > triangle[next];
        int sign = sn_orientation(x[0], x[1], x[2 + (turned ? next : k)], x[2 + (turned ? k : next)]);
        signs[2 + k] = turned ? -sign : sign;
        clear &= sign != 0;
        if (sign == 0) {
            signs[2 + k] = turned ? -1 : 1;
        }
    }
    return clear;
}

static int crosses(const SnSurface *surface, const int32_t edge[2], const int32_t triangle[3], const double *q)
{
    const int32_t points[5] = {edge[0], edge[1], triangle[0], triangle[1], triangle[2]};
    const double *x[5];
    double moved[5][3];
    int signs[5];
    for (int i = 0; i < 5; i++) {
        x[i] = at(q, points[i]);
    }
    if (!find_signs(x, triangle, signs)) {
        for (int i = 0; i < 5; i++) {
            move_inwards(surface, q, points[i], moved[i]);
            x[i] = moved[i];
        }
        (void)find_signs(x, triangle, signs);
    }
    return (signs[0] >= 0) != (signs[1] >= 0) && signs[2] == signs[3] && signs[3] == signs[4];
}

static int share_a_point(const int32_t edge[2], const int32_t triangle[3])
{
    return edge[0] == triangle[0] || edge[0] == triangle[1] || edge[0] == triangle[2] || edge[1] == triangle[0] ||
           edge[1] == triangle[1] || edge[1] == triangle[2];
}

int sn_edge_crosses_triangle(const SnSurface *surface, int32_t edge, int32_t triangle, const double *q)
{
    const int32_t *ends = surface->edges + 2 * (size_t)edge, *corners = surface->triangles + 3 * (size_t)triangle;
    return !share_a_point(ends, corners) && crosses(surface, ends, corners, q);
}

/* Which of the edges that triangle a owns cross triangle b: bits 0 to 2. */
static unsigned edges_across(const SnSurface *surface, const double *q, size_t a, size_t b)
{
    const int32_t *own = surface->triangles + 3 * a, *other = surface->triangles + 3 * b;
    int sides[3], shared = 0;
    unsigned mask = 0;
    for (int k = 0; k < 3; k++) { /* a shared corner lies in the plane: exact arithmetic need not find that out */
        int is_shared = own[k] == other[0] || own[k] == other[1] || own[k] == other[2];
        sides[k] = is_shared ? 0 : sn_orientation(at(q, other[0]), at(q, other[1]), at(q, other[2]), at(q, own[k]));
        shared += is_shared;
    }
    if (shared > 1) { /* so every edge shares one */
        return 0;
    }
    if (sides[0] != 0 && sides[0] == sides[1] && sides[1] == sides[2]) {
        return 0;
    }
    for (unsigned k = 0; k < 3; k++) {
        const int32_t *edge = surface->edges + 2 * (size_t)surface->triangle_edges[3 * a + k];
        int apart = sides[k] * sides[(k + 1) % 3] <= 0;
        if (surface->owned[a] >> (3 + k) & 1 && apart && !share_a_point(edge, other) && crosses(surface, edge, other, q)) {
            mask |= 1u << k;
        }
    }
    return mask;
}

typedef struct Task {
    SnCrossings *crossings;
    const SnBoxPairs *found;
    size_t first[2];
} Task;

static void mask_rows(void *data, size_t chunk, size_t begin, size_t end)
{
    const Task *task = data;
    const SnSurface *surface = task->crossings->trees.surface;
    (void)chunk;
    for (size_t row = begin; row < end; row++) {
        for (size_t i = task->found->starts[row]; i < task->found->starts[row + 1]; i++) {
            size_t a = task->first[0] + row, b = task->first[1] + (size_t)task->found->others[i];
            unsigned mask = 0;
            if (surface->owned[a] >> 3) {
                mask |= edges_across(surface, task->crossings->q, a, b);
            }
            if (surface->owned[b] >> 3) {
                mask |= edges_across(surface, task->crossings->q, b, a) << 3;
            }
            task->crossings->masks[i] = (unsigned char)mask;
        }
    }
}

/* Where on the edge, and where in the triangle; for looking at, not for deciding. */
static SnCrossing look_at_crossing(const SnSurface *surface, const double *q, int32_t edge, int32_t triangle)
{
    const int32_t *ends = surface->edges + 2 * (size_t)edge, *corners = surface->triangles + 3 * (size_t)triangle;
    const double *a = at(q, ends[0]), *b = at(q, ends[1]);
    double below = fabs(sn_volume_six(at(q, corners[0]), at(q, corners[1]), at(q, corners[2]), a));
    double above = fabs(sn_volume_six(at(q, corners[0]), at(q, corners[1]), at(q, corners[2]), b)), sum = 0.0;
    SnCrossing crossing = {.edge = edge, .triangle = triangle, .along = below + above > 0.0 ? below / (below + above) : 0.5};
    crossing.kinematic = surface->kinematic[ends[0]] && surface->kinematic[ends[1]];
    for (int k = 0; k < 3; k++) {
        crossing.weights[k] = fabs(sn_volume_six(a, b, at(q, corners[(k + 1) % 3]), at(q, corners[(k + 2) % 3])));
        crossing.kinematic &= surface->kinematic[corners[k]];
        sum += crossing.weights[k];
    }
    for (int k = 0; k < 3; k++) {
        crossing.weights[k] = sum > 0.0 ? crossing.weights[k] / sum : 1.0 / 3.0;
    }
    return crossing;
}

static SnStatus add_bodies(SnContext *context, void *data, size_t body, size_t other, const SnBoxPairs *found)
{
    SnStatus status = SN_OK;
    SnCrossings *crossings = data;
    const SnSurface *surface = crossings->trees.surface;
    Task task = {crossings, found, {surface->bodies[body].first_triangle, surface->bodies[other].first_triangle}};
    size_t rows = surface->bodies[body].triangle_count;
    SN_TRY_ROOM(context, crossings->masks, found->count, crossings->mask_capacity);
    sn_parallel_for(rows, ROWS_PER_CHUNK, mask_rows, &task);
    for (size_t row = 0; row < rows; row++) {
        for (size_t i = found->starts[row]; i < found->starts[row + 1]; i++) {
            for (unsigned k = 0; crossings->masks[i] >> k != 0; k++) {
                size_t a = task.first[0] + row, b = task.first[1] + (size_t)found->others[i];
                if (crossings->masks[i] >> k & 1) {
                    size_t own = k < 3 ? a : b, crossed = k < 3 ? b : a;
                    SN_TRY_ROOM(context, crossings->crossings, crossings->count + 1, crossings->capacity);
                    crossings->crossings[crossings->count++] =
                        look_at_crossing(surface, crossings->q, surface->triangle_edges[3 * own + k % 3], (int32_t)crossed);
                }
            }
        }
    }
cleanup:
    return status;
}

static int compare_crossings(const void *a, const void *b)
{
    const SnCrossing *left = a, *right = b;
    if (left->edge != right->edge) {
        return left->edge < right->edge ? -1 : 1;
    }
    return left->triangle < right->triangle ? -1 : left->triangle > right->triangle;
}

static void bound_triangles(void *data, size_t chunk, size_t begin, size_t end)
{
    const SnCrossings *crossings = data;
    (void)chunk;
    for (size_t t = begin; t < end; t++) {
        const int32_t *corners = crossings->trees.surface->triangles + 3 * t;
        const double *a = at(crossings->q, corners[0]), *b = at(crossings->q, corners[1]), *c = at(crossings->q, corners[2]);
        double *box = crossings->trees.boxes + 6 * t;
        for (int axis = 0; axis < 3; axis++) {
            box[axis] = sn_least(a[axis], sn_least(b[axis], c[axis]));
            box[3 + axis] = sn_largest(a[axis], sn_largest(b[axis], c[axis]));
        }
    }
}

SnStatus sn_crossings_find(SnContext *context, SnCrossings *crossings, const double *q, int still)
{
    SnStatus status = SN_OK;
    crossings->count = 0;
    crossings->q = q;
    sn_parallel_for(crossings->trees.surface->triangle_count, TRIANGLES_PER_CHUNK, bound_triangles, crossings);
    SN_TRY(sn_trees_fit(context, &crossings->trees));
    SN_TRY(sn_trees_meet(context, &crossings->trees, 0.0, still, add_bodies, crossings));
    if (crossings->count > 0) {
        qsort(crossings->crossings, crossings->count, sizeof *crossings->crossings, compare_crossings);
    }
cleanup:
    crossings->q = NULL;
    crossings->count = status == SN_OK ? crossings->count : 0;
    return status;
}

SnStatus sn_crossings_init(SnContext *context, const SnSurface *surface, SnCrossings *crossings)
{
    *crossings = (SnCrossings){0};
    return sn_trees_init(context, surface, &crossings->trees);
}

void sn_crossings_clear(SnCrossings *crossings)
{
    sn_trees_clear(&crossings->trees);
    sn_release(crossings->crossings);
    sn_release(crossings->masks);
    *crossings = (SnCrossings){0};
}
