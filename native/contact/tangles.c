#include "contact/tangles.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "contact/orientation.h"
#include "mesh/union_find.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RINGS 2            /* around a contour that cuts nothing off */
#define APART 0.5          /* of its gap: what lingers is held again */
#define NEIGHBOURS 4.0     /* mean edges at rest: nearer points of one body are not led out of each other */
#define PAIRS_PER_CHUNK 1024

/* A triangle pair that a crossing lies on. */
typedef struct Meeting {
    int32_t low, high; /* triangles */
    int32_t crossing;
    int32_t edge_is_low;
} Meeting;

/* Where a crossing belongs. */
typedef struct Place {
    int32_t tangle;
    int32_t side; /* of its edge; the triangle is on the other; 2: the contour runs into its own other side, and both are both */
    int32_t crossing;
} Place;

struct SnTanglesWork {
    double edge_length; /* mean at rest */
    size_t meeting_capacity, parent_capacity, place_capacity;
    Meeting *meetings;
    int32_t *parents;
    Place *places;        /* by tangle, then crossing */
    unsigned char *cut;   /* edges: an odd number of crossings with the other body; zero between uses */
    unsigned char *colour; /* points: see flood; zero between uses */
    int32_t *queues[2];   /* points each */
    size_t lingering_capacity;
    SnLingering *lingering; /* those to come */
};

/* Regions */

static void regions_clear(SnRegions *regions)
{
    sn_release(regions->points);
    sn_release(regions->starts);
    *regions = (SnRegions){0};
}

static SnStatus add_point(SnContext *context, SnRegions *regions, int32_t point, int32_t tangle, int32_t side, int32_t inside)
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

/* Sorts, keeps each point once a side (cut off if any says so), and finds where those of each point begin. */
static void order_regions(size_t point_count, SnRegions *regions)
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

/* Whether a point is on a side, 2 tangle + side. */
static int has_side(const SnRegions *regions, int32_t point, int32_t side)
{
    for (int32_t i = regions->starts[point]; i < regions->starts[point + 1]; i++) {
        if (regions->points[i].mark >> 1 == side) {
            return 1;
        }
    }
    return 0;
}

/* Whether some tangle has a point of one side in one of its regions, and one of the other in its other. */
static int regions_join(const SnRegions *regions, int count, const int32_t *points, int other_count, const int32_t *other)
{
    for (int i = 0; i < count; i++) {
        for (int32_t k = regions->starts[points[i]]; k < regions->starts[points[i] + 1]; k++) {
            for (int j = 0; j < other_count; j++) {
                if (has_side(regions, other[j], regions->points[k].mark >> 1 ^ 1)) {
                    return 1;
                }
            }
        }
    }
    return 0;
}

/* Contours */

static int compare_meetings(const void *a, const void *b)
{
    const Meeting *left = a, *right = b;
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
    const Place *left = a, *right = b;
    if (left->tangle != right->tangle) {
        return left->tangle < right->tangle ? -1 : 1;
    }
    return left->crossing < right->crossing ? -1 : left->crossing > right->crossing;
}

static size_t triangle_body(const SnSurface *surface, int32_t triangle)
{
    return (size_t)surface->point_bodies[surface->triangles[3 * (size_t)triangle]];
}

static size_t edge_body(const SnSurface *surface, int32_t edge)
{
    return (size_t)surface->point_bodies[surface->edges[2 * (size_t)edge]];
}

/* Takes out crossings of what ignores each other, and, at rest, of different bodies, which have nothing to do with each other there. */
static void drop_crossings(const SnSurface *surface, int at_rest, SnCrossings *crossings)
{
    size_t kept = 0;
    for (size_t i = 0; i < crossings->count; i++) {
        const SnCrossing *crossing = crossings->crossings + i;
        int ignored = sn_surface_ignores(surface, 2, surface->edges + 2 * (size_t)crossing->edge, 3,
                                         surface->triangles + 3 * (size_t)crossing->triangle);
        if (!ignored && !(at_rest && edge_body(surface, crossing->edge) != triangle_body(surface, crossing->triangle))) {
            crossings->crossings[kept++] = *crossing;
        }
    }
    crossings->count = kept;
}

/* Joins crossings that lie on the same two triangles to contours. Item 2 i stands for "the edge of crossing i is on side 0", 2 i + 1 for side 1. */
static SnStatus find_contours(SnContext *context, SnTangles *tangles, size_t *tangle_count)
{
    SnStatus status = SN_OK;
    const SnSurface *surface = tangles->surface;
    struct SnTanglesWork *work = tangles->work;
    const SnCrossings *crossings = &tangles->crossings;
    size_t count = 0;
    *tangle_count = 0;
    for (size_t i = 0; i < crossings->count; i++) {
        const SnCrossing *crossing = crossings->crossings + i;
        for (int32_t k = surface->edge_triangle_starts[crossing->edge]; k < surface->edge_triangle_starts[crossing->edge + 1]; k++) {
            int32_t own = surface->edge_triangles[k], other = crossing->triangle;
            SN_TRY_ROOM(context, work->meetings, count + 1, work->meeting_capacity);
            work->meetings[count++] = (Meeting){own < other ? own : other, own < other ? other : own, (int32_t)i, own < other};
        }
    }
    SN_TRY_ROOM(context, work->parents, 2 * crossings->count, work->parent_capacity);
    SN_TRY_ROOM(context, work->places, crossings->count, work->place_capacity);
    sn_union_find_init(2 * crossings->count, work->parents);
    if (count > 0) {
        qsort(work->meetings, count, sizeof *work->meetings, compare_meetings);
    }
    for (size_t k = 1; k < count; k++) {
        const Meeting *one = work->meetings + k - 1, *two = work->meetings + k;
        if (one->low == two->low && one->high == two->high) {
            int32_t turned = one->edge_is_low != two->edge_is_low;
            sn_union_find_join(work->parents, 2 * one->crossing, 2 * two->crossing + turned);
            sn_union_find_join(work->parents, 2 * one->crossing + 1, 2 * two->crossing + 1 - turned);
        }
    }
    for (size_t i = 0; i < crossings->count; i++) { /* for now by the first crossing of each */
        int32_t zero = sn_union_find_root(work->parents, (int32_t)(2 * i)), one = sn_union_find_root(work->parents, (int32_t)(2 * i + 1));
        work->places[i] = (Place){(zero < one ? zero : one) / 2, zero == one ? 2 : zero > one, (int32_t)i};
    }
    if (crossings->count > 0) {
        qsort(work->places, crossings->count, sizeof *work->places, compare_places);
    }
    for (size_t i = 0, first = 0; i < crossings->count; i++) {
        if (i == 0 || work->places[i].tangle != (int32_t)first) {
            first = (size_t)work->places[i].tangle;
            ++*tangle_count;
        }
        work->places[i].tangle = (int32_t)*tangle_count - 1;
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

static const SnCrossing *crossing_at(const SnTangles *tangles, size_t place)
{
    return tangles->crossings.crossings + tangles->work->places[place].crossing;
}

static int edge_is_on(const SnTangles *tangles, const Side *side, size_t place)
{
    return side->is_twisted || tangles->work->places[place].side == side->side;
}

static int triangle_is_on(const SnTangles *tangles, const Side *side, size_t place)
{
    return side->is_twisted || tangles->work->places[place].side != side->side;
}

/* Turns the marks of edges of the side's body that cross the other body: after two calls there are none. */
static void turn_cuts(SnTangles *tangles, const Side *side)
{
    const SnCrossings *crossings = &tangles->crossings;
    for (size_t i = 0; i < crossings->count; i++) {
        const SnCrossing *crossing = crossings->crossings + i;
        if (edge_body(tangles->surface, crossing->edge) == side->body &&
            triangle_body(tangles->surface, crossing->triangle) == side->other) {
            tangles->work->cut[crossing->edge] ^= 1;
        }
    }
}

#define BEHIND 1   /* colours: of points that lie behind the triangle that their edge crosses, ... */
#define IN_FRONT 2 /* ... and of those in front of it */

typedef struct Flood {
    size_t counts[2], next[2]; /* of both queues: points that have the colour, and how many of them have been looked around */
    int leaks;                 /* both colours have met */
} Flood;

static void give_colour(struct SnTanglesWork *work, Flood *flood, int32_t point, int colour)
{
    if (work->colour[point] == 0) {
        work->colour[point] = (unsigned char)colour;
        work->queues[colour - 1][flood->counts[colour - 1]++] = point;
    } else if (work->colour[point] != colour) {
        flood->leaks = 1;
    }
}

/* Looks around the next point of a colour. */
static void spread(const SnTangles *tangles, Flood *flood, int colour)
{
    const SnSurface *surface = tangles->surface;
    int32_t point = tangles->work->queues[colour - 1][flood->next[colour - 1]++];
    for (int32_t k = surface->point_triangle_starts[point]; k < surface->point_triangle_starts[point + 1]; k++) {
        size_t triangle = 3 * (size_t)surface->point_triangles[k];
        for (size_t i = triangle; i < triangle + 3; i++) {
            const int32_t *edge = surface->edges + 2 * (size_t)surface->triangle_edges[i];
            if (!tangles->work->cut[surface->triangle_edges[i]] && (edge[0] == point || edge[1] == point)) {
                give_colour(tangles->work, flood, edge[0] == point ? edge[1] : edge[0], colour);
            }
        }
    }
}

static int has_more(const Flood *flood, int colour)
{
    return flood->next[colour - 1] < flood->counts[colour - 1];
}

/* Floods a side from the ends of the edges that its contour cuts. Returns the colour that is cut off, 0: none, and leaves its points in the queue. */
static int flood_side(const SnTangles *tangles, const Side *side, const double *q, Flood *flood)
{
    const SnSurface *surface = tangles->surface;
    int outward = surface->bodies[side->other].outward, colour;
    *flood = (Flood){0};
    for (size_t i = side->begin; i < side->end; i++) {
        const SnCrossing *crossing = crossing_at(tangles, i);
        if (edge_is_on(tangles, side, i) && tangles->work->cut[crossing->edge]) {
            const int32_t *ends = surface->edges + 2 * (size_t)crossing->edge, *t = surface->triangles + 3 * (size_t)crossing->triangle;
            int behind = sn_orientation(q + 3 * (size_t)t[0], q + 3 * (size_t)t[1], q + 3 * (size_t)t[2], q + 3 * (size_t)ends[0]) < 0;
            give_colour(tangles->work, flood, ends[0], behind ? BEHIND : IN_FRONT);
            give_colour(tangles->work, flood, ends[1], behind ? IN_FRONT : BEHIND);
        }
    }
    if (outward != 0) {
        colour = outward > 0 ? BEHIND : IN_FRONT;
        while (has_more(flood, colour) && !flood->leaks) {
            spread(tangles, flood, colour);
        }
    } else {
        while (has_more(flood, BEHIND) && has_more(flood, IN_FRONT) && !flood->leaks) {
            spread(tangles, flood, BEHIND);
            spread(tangles, flood, IN_FRONT);
        }
        colour = has_more(flood, BEHIND) ? IN_FRONT : BEHIND;
    }
    return flood->leaks || flood->counts[colour - 1] == 0 ? 0 : colour;
}

static void clear_colours(const SnTangles *tangles, Flood *flood)
{
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < flood->counts[k]; i++) {
            tangles->work->colour[tangles->work->queues[k][i]] = 0;
        }
        flood->counts[k] = flood->next[k] = 0;
    }
}

/* The corners of the triangles that the contour runs over, into the first queue. */
static void find_rim(const SnTangles *tangles, const Side *side, Flood *flood)
{
    const SnSurface *surface = tangles->surface;
    for (size_t i = side->begin; i < side->end; i++) {
        const SnCrossing *crossing = crossing_at(tangles, i);
        int32_t starts = surface->edge_triangle_starts[crossing->edge], ends = surface->edge_triangle_starts[crossing->edge + 1];
        for (int32_t k = starts; k < ends && edge_is_on(tangles, side, i); k++) {
            for (size_t c = 0; c < 3; c++) {
                give_colour(tangles->work, flood, surface->triangles[3 * (size_t)surface->edge_triangles[k] + c], 1);
            }
        }
        for (size_t c = 0; c < 3 && triangle_is_on(tangles, side, i); c++) {
            give_colour(tangles->work, flood, surface->triangles[3 * (size_t)crossing->triangle + c], 1);
        }
    }
}

/* Widens what is in the first queue by a ring. */
static void add_ring(const SnTangles *tangles, Flood *flood)
{
    size_t count = flood->counts[0];
    for (size_t i = 0; i < count; i++) {
        int32_t point = tangles->work->queues[0][i];
        for (int32_t k = tangles->surface->point_starts[point]; k < tangles->surface->point_starts[point + 1]; k++) {
            give_colour(tangles->work, flood, tangles->surface->point_points[k], 1);
        }
    }
}

static SnStatus find_side(SnContext *context, SnTangles *tangles, const Side *side, const double *q, SnRegions *regions)
{
    SnStatus status = SN_OK;
    Flood flood = {0};
    int colour = 0, cuts = 0;
    if (!side->is_twisted) {
        turn_cuts(tangles, side);
        for (size_t i = side->begin; i < side->end; i++) {
            cuts |= edge_is_on(tangles, side, i) && tangles->work->cut[crossing_at(tangles, i)->edge];
        }
        colour = flood_side(tangles, side, q, &flood);
        turn_cuts(tangles, side);
    }
    for (size_t i = 0; colour != 0 && i < flood.counts[colour - 1]; i++) {
        SN_TRY(add_point(context, regions, tangles->work->queues[colour - 1][i], side->tangle, side->side, 1));
    }
    clear_colours(tangles, &flood);
    flood.leaks = 0;
    find_rim(tangles, side, &flood);
    for (int ring = 0; ring < RINGS && colour == 0 && (cuts || side->is_twisted); ring++) {
        add_ring(tangles, &flood);
    }
    for (size_t i = 0; i < flood.counts[0]; i++) {
        SN_TRY(add_point(context, regions, tangles->work->queues[0][i], side->tangle, side->side, 0));
    }
cleanup:
    clear_colours(tangles, &flood);
    return status;
}

/* The regions of all crossings at q. */
static SnStatus find_regions(SnContext *context, SnTangles *tangles, const double *q, SnRegions *regions)
{
    SnStatus status = SN_OK;
    const SnSurface *surface = tangles->surface;
    size_t tangle_count;
    regions->count = regions->tangle_count = regions->crossing_count = 0;
    SN_TRY(find_contours(context, tangles, &tangle_count));
    for (size_t begin = 0, end; begin < tangles->crossings.count; begin = end) {
        const Place *place = tangles->work->places + begin;
        for (end = begin; end < tangles->crossings.count && tangles->work->places[end].tangle == place->tangle; end++) {
        }
        const SnCrossing *first = crossing_at(tangles, begin);
        size_t bodies[2] = {edge_body(surface, first->edge), triangle_body(surface, first->triangle)};
        for (int32_t s = 0; s < 2; s++) {
            int own = s == (place->side & 1); /* the first crossing's edge is on this side */
            Side side = {place->tangle, s, begin, end, place->side == 2, bodies[!own], bodies[own]};
            SN_TRY(find_side(context, tangles, &side, q, regions));
        }
    }
    regions->tangle_count = tangle_count;
    regions->crossing_count = tangles->crossings.count;
cleanup:
    if (status != SN_OK) {
        regions->count = 0;
    }
    order_regions(surface->point_count, regions);
    return status;
}

/* Exempt pairs */

static int compare_lingering(const void *a, const void *b)
{
    const SnLingering *left = a, *right = b;
    for (int k = 0; k < 4; k++) {
        if (left->points[k] != right->points[k]) {
            return left->points[k] < right->points[k] ? -1 : 1;
        }
    }
    return (left->kind & 1) - (right->kind & 1);
}

static SnLingering lingering_pair(const SnPair *pair, int edges, int caught)
{
    SnLingering key = {.kind = edges | caught << 1};
    memcpy(key.points, pair->points, sizeof key.points);
    return key;
}

static const SnLingering *find_lingering(const SnTangles *tangles, const SnPair *pair, int edges)
{
    SnLingering key = lingering_pair(pair, edges, 0);
    return tangles->lingering_count == 0
               ? NULL
               : bsearch(&key, tangles->lingering, tangles->lingering_count, sizeof key, compare_lingering);
}

static int find_exempt(const SnTangles *tangles, const SnPair *pair, int edges)
{
    int first = edges ? 2 : 1;
    if (regions_join(&tangles->now, first, pair->points, 4 - first, pair->points + first) ||
        regions_join(&tangles->input, first, pair->points, 4 - first, pair->points + first)) {
        return SN_EXEMPT;
    }
    const SnLingering *lingering = find_lingering(tangles, pair, edges);
    return lingering == NULL ? 0 : lingering->kind >> 1 ? SN_CAUGHT : SN_LINGERING;
}

typedef struct Marking {
    const SnTangles *tangles;
    SnPair *pairs;
    int edges;
} Marking;

static void mark_pairs(void *data, size_t chunk, size_t begin, size_t end)
{
    const Marking *marking = data;
    (void)chunk;
    for (size_t i = begin; i < end; i++) {
        marking->pairs[i].exempt = find_exempt(marking->tangles, marking->pairs + i, marking->edges);
    }
}

int sn_tangles_any(const SnTangles *tangles)
{
    return tangles->now.count > 0 || tangles->input.count > 0 || tangles->lingering_count > 0;
}

static void mark(const SnTangles *tangles, SnCandidates *candidates)
{
    SnPairList *lists[2] = {&candidates->point_triangles, &candidates->edges};
    for (int edges = 0; edges < 2; edges++) {
        Marking marking = {tangles, lists[edges]->pairs, edges};
        sn_parallel_for(lists[edges]->count, PAIRS_PER_CHUNK, mark_pairs, &marking);
    }
}

void sn_tangles_mark(const SnTangles *tangles, SnCandidates *candidates)
{
    if (sn_tangles_any(tangles)) {
        mark(tangles, candidates);
    }
}

/* What was exempt, and is in no region now, lingers until it is apart. The candidates are marked as it was. */
static SnStatus keep_lingering(SnContext *context, SnTangles *tangles, const SnCandidates *candidates, const double *q)
{
    SnStatus status = SN_OK;
    struct SnTanglesWork *work = tangles->work;
    const SnPairList *lists[2] = {&candidates->point_triangles, &candidates->edges};
    size_t count = 0;
    for (int edges = 0; edges < 2; edges++) {
        int first = edges ? 2 : 1;
        for (size_t i = 0; i < lists[edges]->count; i++) {
            const SnPair *pair = lists[edges]->pairs + i;
            double x[4][3], apart = APART * pair->gap;
            if (!pair->exempt || regions_join(&tangles->now, first, pair->points, 4 - first, pair->points + first)) {
                continue;
            }
            sn_gather_points(pair->points, q, x);
            if ((edges ? sn_nearest_edges(x) : sn_nearest_point_triangle(x)).squared < apart * apart) {
                const SnLingering *before = find_lingering(tangles, pair, edges);
                SN_TRY_ROOM(context, work->lingering, count + 1, work->lingering_capacity);
                work->lingering[count++] = lingering_pair(pair, edges, before != NULL && before->kind >> 1);
            }
        }
    }
    if (count > 0) {
        qsort(work->lingering, count, sizeof *work->lingering, compare_lingering);
    }
    SnLingering *lingering = tangles->lingering;
    size_t capacity = tangles->lingering_capacity;
    tangles->lingering = work->lingering;
    tangles->lingering_capacity = work->lingering_capacity;
    tangles->lingering_count = count;
    work->lingering = lingering;
    work->lingering_capacity = capacity;
cleanup:
    return status;
}

SnStatus sn_tangles_let_go(SnContext *context, SnTangles *tangles, SnCandidates *candidates, int edges, int32_t place)
{
    SnStatus status = SN_OK;
    SnPair *pair = (edges ? candidates->edges.pairs : candidates->point_triangles.pairs) + place;
    SN_TRY_ROOM(context, tangles->lingering, tangles->lingering_count + 1, tangles->lingering_capacity);
    tangles->lingering[tangles->lingering_count++] = lingering_pair(pair, edges, 1);
    qsort(tangles->lingering, tangles->lingering_count, sizeof *tangles->lingering, compare_lingering);
    pair->exempt = SN_CAUGHT;
cleanup:
    return status;
}

/* Cures */

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
        if (t[k] == way->point || !has_side(&way->tangles->now, t[k], way->side)) {
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
    double x[4][3], least = NEIGHBOURS * tangles->work->edge_length;
    if (tangles->surface->point_bodies[points[0]] != tangles->surface->point_bodies[points[1]]) {
        return 0;
    }
    sn_gather_points(points, tangles->surface->rest, x);
    return sn_nearest_point_triangle(x).squared < least * least || regions_join(&tangles->rest, 1, points, 3, points + 1);
}

static SnStatus find_cures(SnContext *context, SnTangles *tangles, const double *q)
{
    SnStatus status = SN_OK;
    const SnSurface *surface = tangles->surface;
    struct SnTanglesWork *work = tangles->work;
    int32_t *first = work->parents; /* places: there are more than tangles */
    tangles->cure_count = 0;
    for (size_t i = tangles->crossings.count; i-- > 0;) {
        first[work->places[i].tangle] = (int32_t)i;
    }
    for (size_t i = 0; i < tangles->now.count; i++) {
        SnRegionPoint at = tangles->now.points[i];
        if (!(at.mark & 1)) {
            continue;
        }
        const SnCrossing *crossing = crossing_at(tangles, (size_t)first[at.mark >> 2]);
        size_t bodies[2] = {edge_body(surface, crossing->edge), triangle_body(surface, crossing->triangle)};
        size_t other = bodies[bodies[0] == (size_t)surface->point_bodies[at.point]];
        Way way = {tangles, q, at.point, at.mark >> 1 ^ 1, surface->bodies[other].first_triangle};
        double squared = INFINITY, n[3];
        int32_t found = sn_trees_nearest(&tangles->crossings.trees, other, q + 3 * (size_t)at.point, way_distance, &way, &squared);
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

/* The regions of the input, which are the same whatever was before. */
static SnStatus find_input(SnContext *context, SnTangles *tangles, const double *input)
{
    SnStatus status = SN_OK;
    tangles->crossings.count = 0;
    if (input != NULL) {
        SN_TRY(sn_crossings_find(context, &tangles->crossings, input, 0));
        drop_crossings(tangles->surface, 0, &tangles->crossings);
    }
    if (tangles->crossings.count > 0 || tangles->input.count > 0) {
        SN_TRY(find_regions(context, tangles, input, &tangles->input));
    }
cleanup:
    return status;
}

SnStatus sn_tangles_find(SnContext *context, SnTangles *tangles, SnCandidates *candidates, const double *q, const double *input)
{
    SnStatus status = SN_OK;
    SN_TRY(find_input(context, tangles, NULL));
    SN_TRY(sn_crossings_find(context, &tangles->crossings, q, 0));
    drop_crossings(tangles->surface, 0, &tangles->crossings);
    if (tangles->crossings.count == 0 && !sn_tangles_any(tangles)) {
        SN_TRY(find_input(context, tangles, input));
        if (tangles->input.count > 0) {
            SN_TRY(sn_candidates_find(context, candidates, q, q, NULL));
            mark(tangles, candidates);
        }
        return SN_OK;
    }
    SN_TRY(sn_candidates_find(context, candidates, q, q, NULL));
    mark(tangles, candidates);
    SN_TRY(find_regions(context, tangles, q, &tangles->now));
    SN_TRY(keep_lingering(context, tangles, candidates, q));
    SN_TRY(find_cures(context, tangles, q)); /* while crossings and trees are those of q */
    SN_TRY(find_input(context, tangles, input));
    mark(tangles, candidates);
cleanup:
    return status;
}

void sn_tangles_show(const SnTangles *tangles, unsigned char *flags)
{
    memset(flags, 0, tangles->surface->point_count);
    for (size_t i = 0; i < tangles->now.count; i++) {
        flags[tangles->now.points[i].point] |= SN_POINT_TANGLED;
    }
    for (size_t i = 0; i < tangles->lingering_count; i++) {
        for (int k = 0; k < 4; k++) {
            flags[tangles->lingering[i].points[k]] |= tangles->lingering[i].kind >> 1 ? SN_POINT_CAUGHT : SN_POINT_TANGLED;
        }
    }
}

/* State: counts of regions' points and of lingering pairs, then both. */

size_t sn_tangles_state_count(const SnTangles *tangles)
{
    return 2 + 2 * tangles->now.count + 5 * tangles->lingering_count;
}

void sn_tangles_save(const SnTangles *tangles, int32_t *state)
{
    *state++ = (int32_t)tangles->now.count;
    *state++ = (int32_t)tangles->lingering_count;
    for (size_t i = 0; i < tangles->now.count; i++) {
        *state++ = tangles->now.points[i].point;
        *state++ = tangles->now.points[i].mark;
    }
    for (size_t i = 0; i < tangles->lingering_count; i++) {
        memcpy(state, tangles->lingering[i].points, 4 * sizeof *state);
        state[4] = tangles->lingering[i].kind;
        state += 5;
    }
}

SnStatus sn_tangles_restore(SnContext *context, SnTangles *tangles, size_t count, const int32_t *state)
{
    SnStatus status = SN_OK;
    const int32_t points = (int32_t)tangles->surface->point_count;
    size_t marks = count >= 2 && state[0] >= 0 ? (size_t)state[0] : 0, pairs = count >= 2 && state[1] >= 0 ? (size_t)state[1] : 0;
    int fits = count >= 2 && count == 2 + 2 * marks + 5 * pairs;
    const int32_t *at = state + 2;
    for (size_t i = 0; fits && i < marks; i++) {
        fits &= at[2 * i] >= 0 && at[2 * i] < points && at[2 * i + 1] >= 0;
    }
    for (size_t i = 0; fits && i < 5 * pairs; i++) {
        fits &= at[2 * marks + i] >= 0 && at[2 * marks + i] < (i % 5 < 4 ? points : 4);
    }
    if (!fits) {
        SN_TRY(sn_context_fail(context, SN_BAD_INPUT, "What was let go in a collision does not fit this mesh: bake again."));
    }
    tangles->now.count = tangles->now.tangle_count = tangles->lingering_count = tangles->cure_count = 0;
    for (size_t i = 0; i < marks; i++, at += 2) {
        SN_TRY(add_point(context, &tangles->now, at[0], at[1] >> 2, at[1] >> 1 & 1, at[1] & 1));
    }
    order_regions(tangles->surface->point_count, &tangles->now);
    SN_TRY_ROOM(context, tangles->lingering, pairs, tangles->lingering_capacity);
    for (; tangles->lingering_count < pairs; at += 5) {
        SnLingering *pair = tangles->lingering + tangles->lingering_count++;
        memcpy(pair->points, at, sizeof pair->points);
        pair->kind = at[4];
    }
cleanup:
    return status;
}

SnStatus sn_tangles_init(SnContext *context, const SnSurface *surface, SnTangles *tangles)
{
    SnStatus status = SN_OK;
    *tangles = (SnTangles){.surface = surface};
    SN_TRY_NEW(context, tangles->work, 1, struct SnTanglesWork);
    SN_TRY(sn_crossings_init(context, surface, &tangles->crossings));
    SN_TRY_NEW(context, tangles->now.starts, surface->point_count + 1, int32_t);
    SN_TRY_NEW(context, tangles->input.starts, surface->point_count + 1, int32_t);
    SN_TRY_NEW(context, tangles->rest.starts, surface->point_count + 1, int32_t);
    SN_TRY_NEW(context, tangles->work->cut, surface->edge_count, unsigned char);
    SN_TRY_NEW(context, tangles->work->colour, surface->point_count, unsigned char);
    SN_TRY_NEW(context, tangles->work->queues[0], surface->point_count, int32_t);
    SN_TRY_NEW(context, tangles->work->queues[1], surface->point_count, int32_t);
    for (size_t e = 0; e < surface->edge_count; e++) {
        const int32_t *edge = surface->edges + 2 * e;
        double squared = sn_distance_squared(surface->rest + 3 * (size_t)edge[0], surface->rest + 3 * (size_t)edge[1]);
        tangles->work->edge_length += sqrt(squared) / (double)surface->edge_count;
    }
    SN_TRY(sn_crossings_find(context, &tangles->crossings, surface->rest, 0));
    drop_crossings(surface, 1, &tangles->crossings);
    SN_TRY(find_regions(context, tangles, surface->rest, &tangles->rest));
    tangles->crossings.count = 0;
cleanup:
    if (status != SN_OK) {
        sn_tangles_clear(tangles);
    }
    return status;
}

void sn_tangles_clear(SnTangles *tangles)
{
    struct SnTanglesWork *work = tangles->work;
    if (work != NULL) {
        void *const blocks[] = {work->meetings, work->parents, work->places, work->cut, work->colour, work->queues[0], work->queues[1],
                                work->lingering, work};
        for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
            sn_release(blocks[i]);
        }
    }
    regions_clear(&tangles->now);
    regions_clear(&tangles->input);
    regions_clear(&tangles->rest);
    sn_crossings_clear(&tangles->crossings);
    sn_release(tangles->lingering);
    sn_release(tangles->cures);
    *tangles = (SnTangles){0};
}
