/* Edges that cross triangles: sides of planes against whole numbers, and every crossing against looking at all. */
#include "contact.h"

#include "base/parallel.h"
#include "contact/intersections.h"
#include "contact/orientation.h"

#include <stdlib.h>

__extension__ typedef __int128 Whole;

static int whole_sign(const double p[4][3])
{
    Whole u[3], v[3], w[3];
    for (int axis = 0; axis < 3; axis++) {
        u[axis] = (int64_t)p[1][axis] - (int64_t)p[0][axis];
        v[axis] = (int64_t)p[2][axis] - (int64_t)p[0][axis];
        w[axis] = (int64_t)p[3][axis] - (int64_t)p[0][axis];
    }
    Whole volume = u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0]);
    return (volume > 0) - (volume < 0);
}

static void sides_of_planes_are_exact(void)
{
    uint64_t seed = 2;
    size_t wrong = 0, doubtful = 0, zero = 0;
    for (int i = 0; i < 20000; i++) {
        double p[4][3], scale = i % 4 == 0 ? 4.0 : ldexp(1.0, 10 + i % 28);
        for (int k = 0; k < 12; k++) {
            p[k / 3][k % 3] = floor(scale * contact_signed(&seed));
        }
        if (i % 2) { /* next to the plane: a whole combination of the others, perhaps one beside it */
            double s = floor(4.0 * contact_signed(&seed)), t = floor(4.0 * contact_signed(&seed));
            for (int axis = 0; axis < 3; axis++) {
                p[3][axis] = p[0][axis] + s * (p[1][axis] - p[0][axis]) + t * (p[2][axis] - p[0][axis]);
            }
            p[3][i / 2 % 3] += i % 3 == 0 ? 0.0 : contact_signed(&seed) > 0.0 ? 1.0 : -1.0;
        }
        int truth = whole_sign(p), sign = sn_orientation(p[0], p[1], p[2], p[3]);
        double rounded = sn_volume_six(p[0], p[1], p[2], p[3]);
        wrong += sign != truth || sn_orientation_exact(p[0], p[1], p[2], p[3]) != truth;
        doubtful += ((rounded > 0.0) - (rounded < 0.0)) != truth;
        zero += truth == 0;
    }
    CHECK(wrong == 0 && zero > 1000);
    /* fractions that no double has: three tenths and their sums */
    double a[3] = {0.1, 0.1, 0.1}, b[3] = {0.3, 0.3, 0.3}, c[3] = {0.7, 0.2, 0.9}, d[3] = {0.2, 0.2, 0.2};
    CHECK(sn_orientation(a, b, c, d) == -sn_orientation(b, a, c, d) && sn_orientation(a, a, c, d) == 0);
    printf("  a rounded determinant would be wrong %zu times in 20000\n", doubtful);
    CHECK(doubtful > 0);
}

typedef struct Pile {
    Shape shapes[2];
    unsigned char *free_points;
    SnSurface surface;
} Pile;

static void pile_make(SnContext *context, Shape first, Shape second, Pile *pile)
{
    *pile = (Pile){.shapes = {first, second}};
    size_t most = first.vertex_count + second.vertex_count;
    pile->free_points = SN_NEW(context, most, unsigned char);
    SnSurfacePart parts[2] = {contact_part(pile->shapes, pile->free_points, NULL), contact_part(pile->shapes + 1, pile->free_points, NULL)};
    CHECK(sn_surface_init(context, second.vertex_count > 0 ? 2 : 1, parts, 0, &pile->surface) == SN_OK);
}

static void pile_clear(Pile *pile)
{
    sn_surface_clear(&pile->surface);
    shape_clear(pile->shapes);
    shape_clear(pile->shapes + 1);
    sn_release(pile->free_points);
}

/* All edges against all triangles. */
static size_t check_crossings(const SnSurface *surface, const double *q, const SnCrossings *crossings)
{
    size_t at = 0, wrong = 0;
    for (size_t e = 0; e < surface->edge_count; e++) {
        for (size_t t = 0; t < surface->triangle_count; t++) {
            if (sn_edge_crosses_triangle(surface, (int32_t)e, (int32_t)t, q)) {
                const SnCrossing *found = crossings->crossings + at++;
                wrong += at > crossings->count || found->edge != (int32_t)e || found->triangle != (int32_t)t;
                if (wrong == 0) { /* both places are one */
                    double off = 0.0;
                    for (int axis = 0; axis < 3; axis++) {
                        double a = q[3 * surface->edges[2 * e] + axis], b = q[3 * surface->edges[2 * e + 1] + axis], c = 0.0;
                        for (int k = 0; k < 3; k++) {
                            c += found->weights[k] * q[3 * surface->triangles[3 * t + (size_t)k] + axis];
                        }
                        off = fmax(off, fabs(a + found->along * (b - a) - c));
                    }
                    wrong += off > 1e-6;
                }
            }
        }
    }
    CHECK(wrong == 0 && at == crossings->count);
    return at;
}

static void every_crossing_is_found_once(SnContext *context)
{
    Pile pile;
    SnCrossings crossings;
    uint64_t seed = 4;
    size_t most = 0;
    pile_make(context, contact_ball(context, 5, 1.0, 0, 0, 0), contact_ball(context, 4, 0.7, 0.3, 0.2, 1.2), &pile);
    double *q = SN_NEW(context, 3 * pile.surface.point_count, double);
    CHECK(sn_crossings_init(context, &pile.surface, &crossings) == SN_OK);
    for (int round = 0; round < 8; round++) {
        for (size_t i = 0; i < 3 * pile.surface.point_count; i++) { /* ever more crumpled */
            q[i] = pile.surface.rest[i] + 0.05 * round * contact_signed(&seed);
        }
        CHECK(sn_crossings_find(context, &crossings, q, 0) == SN_OK);
        size_t count = check_crossings(&pile.surface, q, &crossings);
        CHECK(round > 0 || (count > 10 && count % 2 == 0)); /* a closed curve enters and leaves */
        most = count > most ? count : most;
        SnCrossing *copy = malloc((count + 1) * sizeof *copy);
        memcpy(copy, crossings.crossings, count * sizeof *copy);
        for (int threads = 1; threads <= 4; threads *= 2) {
            sn_parallel_set_thread_count(threads);
            CHECK(sn_crossings_find(context, &crossings, q, 0) == SN_OK);
            size_t different = crossings.count != count;
            for (size_t i = 0; i < count && !different; i++) {
                const SnCrossing *a = copy + i, *b = crossings.crossings + i;
                different += a->edge != b->edge || a->triangle != b->triangle || a->kinematic != b->kinematic ||
                             memcmp(&a->along, &b->along, sizeof a->along) != 0 || memcmp(a->weights, b->weights, sizeof a->weights) != 0;
            }
            CHECK(different == 0);
        }
        sn_parallel_set_thread_count(0);
        free(copy);
    }
    CHECK(most > 200);
    sn_surface_set_meets(&pile.surface, 0, 1, 0);
    memset(pile.surface.meets + 0, 0, 1);
    memset(pile.surface.meets + 3, 0, 1);
    CHECK(sn_crossings_find(context, &crossings, q, 0) == SN_OK && crossings.count == 0); /* what does not meet is not looked at */
    sn_crossings_clear(&crossings);
    sn_release(q);
    pile_clear(&pile);
}

/* A cube of two triangles a side. */
static Shape cube(SnContext *context, double x, double y, double z, double side)
{
    Shape shape = shape_new(context, 8, 12);
    static const int32_t quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    for (int i = 0; i < 8; i++) {
        shape.positions[3 * i] = x + side * (i & 1);
        shape.positions[3 * i + 1] = y + side * (i >> 1 & 1);
        shape.positions[3 * i + 2] = z + side * (i >> 2);
    }
    for (int f = 0; f < 6; f++) {
        const int32_t two[6] = {quads[f][0], quads[f][1], quads[f][2], quads[f][0], quads[f][2], quads[f][3]};
        memcpy(shape.triangles + 6 * f, two, sizeof two);
    }
    return shape;
}

static size_t count_crossings(SnContext *context, Shape first, Shape second, int still)
{
    Pile pile;
    SnCrossings crossings;
    pile_make(context, first, second, &pile);
    memset(pile.surface.kinematic, still, pile.surface.point_count);
    for (size_t b = 0; b < pile.surface.body_count; b++) {
        pile.surface.bodies[b].moves = !still;
    }
    CHECK(sn_crossings_init(context, &pile.surface, &crossings) == SN_OK);
    CHECK(sn_crossings_find(context, &crossings, pile.surface.rest, still) == SN_OK);
    size_t count = crossings.count;
    CHECK(!still || count == 0 || crossings.crossings[0].kinematic);
    sn_crossings_clear(&crossings);
    pile_clear(&pile);
    return count;
}

static void what_touches_exactly_does_not_cross(SnContext *context)
{
    static const double origin[3] = {-2, -2, 0}, u[3] = {1, 0, 0}, v[3] = {0, 1, 0};
    for (int still = 0; still < 2; still++) {
        CHECK(count_crossings(context, cube(context, 0, 0, 0, 1), shape_plate(context, 8, 4.0, origin, u, v), still) == 0);
        CHECK(count_crossings(context, cube(context, 0, 0, 0, 1), cube(context, 0, 0, 1, 1), still) == 0);
        CHECK(count_crossings(context, cube(context, 0, 0, 0, 1), cube(context, 0.5, 0.25, 1, 1), still) == 0);
        CHECK(count_crossings(context, cube(context, 0, 0, 0, 1), cube(context, 1, 1, 0.5, 1), still) == 0);
        CHECK(count_crossings(context, cube(context, 0, 0, 0, 1), cube(context, 0, 0, 1 - 1e-6, 1), still) > 0);
        CHECK(count_crossings(context, cube(context, 0, 0, -1e-6, 1), shape_plate(context, 8, 4.0, origin, u, v), still) > 0);
        CHECK(count_crossings(context, cube(context, 0, 0, 0, 1), cube(context, 0.25, 0.25, 0.25, 0.5), still) == 0); /* inside */
        CHECK(count_crossings(context, cube(context, 0, 0, 0, 1), cube(context, 0.5, 0.6, 0.7, 1), still) >= 6);
        Shape turned = cube(context, 0, 0, 1, 1); /* inside out */
        for (size_t t = 0; t < turned.triangle_count; t++) {
            int32_t *corners = turned.triangles + 3 * t, first = corners[0];
            corners[0] = corners[1];
            corners[1] = first;
        }
        CHECK(count_crossings(context, cube(context, 0, 0, 0, 1), turned, still) == 0);
        CHECK(count_crossings(context, cube(context, 0, 0, -1, 1), shape_plate(context, 8, 4.0, origin, u, v), still) == 0); /* from below */
    }
    Shape none = {0};
    CHECK(count_crossings(context, contact_ball(context, 6, 1, 0, 0, 0), none, 0) == 0);
}

static void failing_allocations_and_cancelling_are_answered(void)
{
    SnContext context;
    Pile pile;
    int finished = 0;
    long n = 0;
    sn_context_init(&context);
    pile_make(&context, contact_ball(&context, 5, 1.0, 0, 0, 0), contact_ball(&context, 4, 0.7, 0.3, 0.2, 1.2), &pile);
    for (; !finished && n < 100; n++) {
        SnCrossings crossings;
        context.allocations_until_failure = n;
        SnStatus status = sn_crossings_init(&context, &pile.surface, &crossings);
        status = status == SN_OK ? sn_crossings_find(&context, &crossings, pile.surface.rest, 0) : status;
        finished = status == SN_OK;
        CHECK(finished ? crossings.count > 0 : status == SN_OUT_OF_MEMORY && crossings.count == 0);
        if (finished) {
            context.allocations_until_failure = 0; /* a second time it has all it needs */
            CHECK(sn_crossings_find(&context, &crossings, pile.surface.rest, 0) == SN_OK);
            sn_context_cancel(&context);
            CHECK(sn_crossings_find(&context, &crossings, pile.surface.rest, 0) == SN_CANCELLED && crossings.count == 0);
        }
        sn_crossings_clear(&crossings);
    }
    CHECK(finished && n > 5);
    pile_clear(&pile);
}

int main(void)
{
    SnContext context;
    sn_context_init(&context);
    sides_of_planes_are_exact();
    every_crossing_is_found_once(&context);
    what_touches_exactly_does_not_cross(&context);
    failing_allocations_and_cancelling_are_answered();
    return CHECK_RESULT();
}
