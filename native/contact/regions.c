#include "contact/regions.h"

#include "base/memory.h"
#include "contact/orientation.h"
#include "mesh/union_find.h"

#include <stdlib.h>
#include <string.h>

#define RINGS 2 /* around a contour that cuts nothing off */

/* Regions */

void sn_regions_clear(SnRegions *regions)
{
    sn_release(regions->points);
    sn_release(regions->starts);
    *regions = (SnRegions){0};
}

SnStatus sn_regions_add(SnContext *context, SnRegions *regions, int32_t point, int32_t tangle, int32_t side, int32_t inside)
{
    SnStatus status = SN_OK;
    SN_TRY_ROOM(context, regions->points, regions->count + 1, regions->capacity);
    regions->points[regions->count++] = (SnRegionPoint){point, 4 * tangle + 2 * side + inside};
cleanup:
    return status;
}

static int compare_region_points(const void *a, const void *b)
{
    const SnRegionPoint *left = a, *right = b;
    if (left->point != right->point) {
        return left->point < right->point ? -1 : 1;
    }
    return left->mark < right->mark ? -1 : left->mark > right->mark;
}

void sn_regions_order(size_t point_count, SnRegions *regions)
{
    size_t kept = 0, at = 0;
    if (regions->count > 0) {
        qsort(regions->points, regions->count, sizeof *regions->points, compare_region_points);
    }
    for (size_t i = 0; i < regions->count; i++) {
        int again = i + 1 < regions->count && regions->points[i + 1].point == regions->points[i].point &&
                    regions->points[i + 1].mark >> 1 == regions->points[i].mark >> 1;
        if (!again) {
            regions->points[kept++] = regions->points[i];
        }
    }
    regions->count = kept;
    for (size_t p = 0; p <= point_count; p++) {
        while (at < kept && (size_t)regions->points[at].point < p) {
            at++;
        }
        regions->starts[p] = (int32_t)at;
    }
}

int sn_regions_has(const SnRegions *regions, int32_t point, int32_t side)
{
    for (int32_t i = regions->starts[point]; i < regions->starts[point + 1]; i++) {
        if (regions->points[i].mark >> 1 == side) {
            return 1;
        }
    }
    return 0;
}

int sn_regions_join(const SnRegions *regions, int count, const int32_t *points, int other_count, const int32_t *other)
{
    for (int i = 0; i < count; i++) {
        for (int32_t k = regions->starts[points[i]]; k < regions->starts[points[i] + 1]; k++) {
            for (int j = 0; j < other_count; j++) {
                if (sn_regions_has(regions, other[j], regions->points[k].mark >> 1 ^ 1)) {
                    return 1;
                }
            }
        }
    }
    return 0;
}

/* Takes out crossings of what ignores each other, and, at rest, of different bodies, which have nothing to do with each other there. */
static void drop_crossings(const SnSurface *surface, int at_rest, SnCrossings *crossings)
{
    size_t kept = 0;
    for (size_t i = 0; i < crossings->count; i++) {
        const SnCrossing *crossing = crossings->crossings + i;
        int ignored = sn_surface_ignores(surface, 2, surface->edges + 2 * (size_t)crossing->edge, 3,
                                         surface->triangles + 3 * (size_t)crossing->triangle);
        if (!ignored && !(at_rest && sn_surface_edge_body(surface, crossing->edge) != sn_surface_triangle_body(surface, crossing->triangle))) {
            crossings->crossings[kept++] = *crossing;
        }
    }
    crossings->count = kept;
}

SnStatus sn_contours_cross(SnContext *context, SnContours *contours, const double *q, int at_rest)
{
    SnStatus status = sn_crossings_find(context, &contours->crossings, q, 0);
    drop_crossings(contours->surface, at_rest, &contours->crossings);
    return status;
}

SnStatus sn_contours_init(SnContext *context, const SnSurface *surface, SnContours *contours)
{
    SnStatus status = SN_OK;
    *contours = (SnContours){.surface = surface};
    SN_TRY(sn_crossings_init(context, surface, &contours->crossings));
    SN_TRY_NEW(context, contours->cut, surface->edge_count, unsigned char);
    SN_TRY_NEW(context, contours->colour, surface->point_count, unsigned char);
    SN_TRY_NEW(context, contours->queues[0], surface->point_count, int32_t);
    SN_TRY_NEW(context, contours->queues[1], surface->point_count, int32_t);
cleanup:
    if (status != SN_OK) {
        sn_contours_clear(contours);
    }
    return status;
}

void sn_contours_clear(SnContours *contours)
{
    void *const blocks[] = {contours->meetings, contours->parents, contours->places, contours->cut, contours->colour, contours->queues[0],
                            contours->queues[1]};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        sn_release(blocks[i]);
    }
    sn_crossings_clear(&contours->crossings);
    *contours = (SnContours){0};
}

/* Contours */

static int compare_meetings(const void *a, const void *b)
{
    const SnContourMeeting *left = a, *right = b;
    if (left->low != right->low) {
        return left->low < right->low ? -1 : 1;
    }
    if (left->high != right->high) {
        return left->high < right->high ? -1 : 1;
    }
    return left->crossing < right->crossing ? -1 : left->crossing > right->crossing;
}

static int compare_places(const void *a, const void *b)
{
    const SnContourPlace *left = a, *right = b;
    if (left->tangle != right->tangle) {
        return left->tangle < right->tangle ? -1 : 1;
    }
    return left->crossing < right->crossing ? -1 : left->crossing > right->crossing;
}

/* Joins crossings that lie on the same two triangles to contours. Item 2 i stands for "the edge of crossing i is on side 0", 2 i + 1 for side 1. */
static SnStatus find_contours(SnContext *context, SnContours *contours, size_t *tangle_count)
{
    SnStatus status = SN_OK;
    const SnSurface *surface = contours->surface;
    const SnCrossings *crossings = &contours->crossings;
    size_t count = 0;
    *tangle_count = 0;
    for (size_t i = 0; i < crossings->count; i++) {
        const SnCrossing *crossing = crossings->crossings + i;
        for (int32_t k = surface->edge_triangle_starts[crossing->edge]; k < surface->edge_triangle_starts[crossing->edge + 1]; k++) {
            int32_t own = surface->edge_triangles[k], other = crossing->triangle;
            SN_TRY_ROOM(context, contours->meetings, count + 1, contours->meeting_capacity);
            contours->meetings[count++] = (SnContourMeeting){own < other ? own : other, own < other ? other : own, (int32_t)i, own < other};
        }
    }
    SN_TRY_ROOM(context, contours->parents, 2 * crossings->count, contours->parent_capacity);
    SN_TRY_ROOM(context, contours->places, crossings->count, contours->place_capacity);
    sn_union_find_init(2 * crossings->count, contours->parents);
    if (count > 0) {
        qsort(contours->meetings, count, sizeof *contours->meetings, compare_meetings);
    }
    for (size_t k = 1; k < count; k++) {
        const SnContourMeeting *one = contours->meetings + k - 1, *two = contours->meetings + k;
        if (one->low == two->low && one->high == two->high) {
            int32_t turned = one->edge_is_low != two->edge_is_low;
            sn_union_find_join(contours->parents, 2 * one->crossing, 2 * two->crossing + turned);
            sn_union_find_join(contours->parents, 2 * one->crossing + 1, 2 * two->crossing + 1 - turned);
        }
    }
    for (size_t i = 0; i < crossings->count; i++) { /* for now by the first crossing of each */
        int32_t zero = sn_union_find_root(contours->parents, (int32_t)(2 * i)), one = sn_union_find_root(contours->parents, (int32_t)(2 * i + 1));
        contours->places[i] = (SnContourPlace){(zero < one ? zero : one) / 2, zero == one ? 2 : zero > one, (int32_t)i};
    }
    if (crossings->count > 0) {
        qsort(contours->places, crossings->count, sizeof *contours->places, compare_places);
    }
    for (size_t i = 0, first = 0; i < crossings->count; i++) {
        if (i == 0 || contours->places[i].tangle != (int32_t)first) {
            first = (size_t)contours->places[i].tangle;
            ++*tangle_count;
        }
        contours->places[i].tangle = (int32_t)*tangle_count - 1;
    }
cleanup:
    return status;
}

/* One side of one tangle. */
typedef struct Side {
    int32_t tangle, side;
    size_t begin, end; /* places */
    int is_twisted;    /* both sides are one */
    size_t body, other;
} Side;

static int edge_is_on(const SnContours *contours, const Side *side, size_t place)
{
    return side->is_twisted || contours->places[place].side == side->side;
}

static int triangle_is_on(const SnContours *contours, const Side *side, size_t place)
{
    return side->is_twisted || contours->places[place].side != side->side;
}

/* Turns the marks of edges of the side's body that cross the other body: after two calls there are none. */
static void turn_cuts(SnContours *contours, const Side *side)
{
    const SnCrossings *crossings = &contours->crossings;
    for (size_t i = 0; i < crossings->count; i++) {
        const SnCrossing *crossing = crossings->crossings + i;
        if (sn_surface_edge_body(contours->surface, crossing->edge) == side->body &&
            sn_surface_triangle_body(contours->surface, crossing->triangle) == side->other) {
            contours->cut[crossing->edge] ^= 1;
        }
    }
}

#define BEHIND 1   /* colours: of points that lie behind the triangle that their edge crosses, ... */
#define IN_FRONT 2 /* ... and of those in front of it */

typedef struct Flood {
    size_t counts[2], next[2]; /* of both queues: points that have the colour, and how many of them have been looked around */
    int leaks;                 /* both colours have met */
} Flood;

static void give_colour(const SnContours *contours, Flood *flood, int32_t point, int colour)
{
    if (contours->colour[point] == 0) {
        contours->colour[point] = (unsigned char)colour;
        contours->queues[colour - 1][flood->counts[colour - 1]++] = point;
    } else if (contours->colour[point] != colour) {
        flood->leaks = 1;
    }
}

/* Looks around the next point of a colour. */
static void spread(const SnContours *contours, Flood *flood, int colour)
{
    const SnSurface *surface = contours->surface;
    int32_t point = contours->queues[colour - 1][flood->next[colour - 1]++];
    for (int32_t k = surface->point_triangle_starts[point]; k < surface->point_triangle_starts[point + 1]; k++) {
        size_t triangle = 3 * (size_t)surface->point_triangles[k];
        for (size_t i = triangle; i < triangle + 3; i++) {
            const int32_t *edge = surface->edges + 2 * (size_t)surface->triangle_edges[i];
            if (!contours->cut[surface->triangle_edges[i]] && (edge[0] == point || edge[1] == point)) {
                give_colour(contours, flood, edge[0] == point ? edge[1] : edge[0], colour);
            }
        }
    }
}

static int has_more(const Flood *flood, int colour)
{
    return flood->next[colour - 1] < flood->counts[colour - 1];
}

/* Floods a side from the ends of the edges that its contour cuts. Returns the colour that is cut off, 0: none, and leaves its points in the queue. */
static int flood_side(const SnContours *contours, const Side *side, const double *q, Flood *flood)
{
    const SnSurface *surface = contours->surface;
    int outward = surface->bodies[side->other].outward, colour;
    *flood = (Flood){0};
    for (size_t i = side->begin; i < side->end; i++) {
        const SnCrossing *crossing = sn_contours_at(contours, i);
        if (edge_is_on(contours, side, i) && contours->cut[crossing->edge]) {
            const int32_t *ends = surface->edges + 2 * (size_t)crossing->edge, *t = surface->triangles + 3 * (size_t)crossing->triangle;
            int behind = sn_orientation(q + 3 * (size_t)t[0], q + 3 * (size_t)t[1], q + 3 * (size_t)t[2], q + 3 * (size_t)ends[0]) < 0;
            give_colour(contours, flood, ends[0], behind ? BEHIND : IN_FRONT);
            give_colour(contours, flood, ends[1], behind ? IN_FRONT : BEHIND);
        }
    }
    if (outward != 0) {
        colour = outward > 0 ? BEHIND : IN_FRONT;
        while (has_more(flood, colour) && !flood->leaks) {
            spread(contours, flood, colour);
        }
    } else {
        while (has_more(flood, BEHIND) && has_more(flood, IN_FRONT) && !flood->leaks) {
            spread(contours, flood, BEHIND);
            spread(contours, flood, IN_FRONT);
        }
        colour = has_more(flood, BEHIND) ? IN_FRONT : BEHIND;
    }
    return flood->leaks || flood->counts[colour - 1] == 0 ? 0 : colour;
}

static void clear_colours(const SnContours *contours, Flood *flood)
{
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < flood->counts[k]; i++) {
            contours->colour[contours->queues[k][i]] = 0;
        }
        flood->counts[k] = flood->next[k] = 0;
    }
}

/* The corners of the triangles that the contour runs over, into the first queue. */
static void find_rim(const SnContours *contours, const Side *side, Flood *flood)
{
    const SnSurface *surface = contours->surface;
    for (size_t i = side->begin; i < side->end; i++) {
        const SnCrossing *crossing = sn_contours_at(contours, i);
        int32_t starts = surface->edge_triangle_starts[crossing->edge], ends = surface->edge_triangle_starts[crossing->edge + 1];
        for (int32_t k = starts; k < ends && edge_is_on(contours, side, i); k++) {
            for (size_t c = 0; c < 3; c++) {
                give_colour(contours, flood, surface->triangles[3 * (size_t)surface->edge_triangles[k] + c], 1);
            }
        }
        for (size_t c = 0; c < 3 && triangle_is_on(contours, side, i); c++) {
            give_colour(contours, flood, surface->triangles[3 * (size_t)crossing->triangle + c], 1);
        }
    }
}

/* Widens what is in the first queue by a ring. */
static void add_ring(const SnContours *contours, Flood *flood)
{
    size_t count = flood->counts[0];
    for (size_t i = 0; i < count; i++) {
        int32_t point = contours->queues[0][i];
        for (int32_t k = contours->surface->point_starts[point]; k < contours->surface->point_starts[point + 1]; k++) {
            give_colour(contours, flood, contours->surface->point_points[k], 1);
        }
    }
}

static SnStatus find_side(SnContext *context, SnContours *contours, const Side *side, const double *q, SnRegions *regions)
{
    SnStatus status = SN_OK;
    Flood flood = {0};
    int colour = 0, cuts = 0;
    if (!side->is_twisted) {
        turn_cuts(contours, side);
        for (size_t i = side->begin; i < side->end; i++) {
            cuts |= edge_is_on(contours, side, i) && contours->cut[sn_contours_at(contours, i)->edge];
        }
        colour = flood_side(contours, side, q, &flood);
        turn_cuts(contours, side);
    }
    for (size_t i = 0; colour != 0 && i < flood.counts[colour - 1]; i++) {
        SN_TRY(sn_regions_add(context, regions, contours->queues[colour - 1][i], side->tangle, side->side, 1));
    }
    clear_colours(contours, &flood);
    flood.leaks = 0;
    find_rim(contours, side, &flood);
    for (int ring = 0; ring < RINGS && colour == 0 && (cuts || side->is_twisted); ring++) {
        add_ring(contours, &flood);
    }
    for (size_t i = 0; i < flood.counts[0]; i++) {
        SN_TRY(sn_regions_add(context, regions, contours->queues[0][i], side->tangle, side->side, 0));
    }
cleanup:
    clear_colours(contours, &flood);
    return status;
}

SnStatus sn_regions_find(SnContext *context, SnContours *contours, const double *q, SnRegions *regions)
{
    SnStatus status = SN_OK;
    const SnSurface *surface = contours->surface;
    size_t tangle_count;
    regions->count = regions->tangle_count = regions->crossing_count = 0;
    SN_TRY(find_contours(context, contours, &tangle_count));
    for (size_t begin = 0, end; begin < contours->crossings.count; begin = end) {
        const SnContourPlace *place = contours->places + begin;
        for (end = begin; end < contours->crossings.count && contours->places[end].tangle == place->tangle; end++) {
        }
        const SnCrossing *first = sn_contours_at(contours, begin);
        size_t bodies[2] = {sn_surface_edge_body(surface, first->edge), sn_surface_triangle_body(surface, first->triangle)};
        for (int32_t s = 0; s < 2; s++) {
            int own = s == (place->side & 1); /* the first crossing's edge is on this side */
            Side side = {place->tangle, s, begin, end, place->side == 2, bodies[!own], bodies[own]};
            SN_TRY(find_side(context, contours, &side, q, regions));
        }
    }
    regions->tangle_count = tangle_count;
    regions->crossing_count = contours->crossings.count;
cleanup:
    if (status != SN_OK) {
        regions->count = 0;
    }
    sn_regions_order(surface->point_count, regions);
    return status;
}
