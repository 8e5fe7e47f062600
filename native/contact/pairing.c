#include "contact/pairing.h"

#include "contact/distance.h"

#include <string.h>

#define LEAST_GAP 1e-3 /* of g0: nearer at rest, a pair is one place of a mesh that is cut there */
#define TOGETHER 0.25  /* of the weights that move a pair, which sum to 2 where its sides hang on different vertices */
#define ROUNDING 1e-9  /* of a distance that is to be kept: what is there already presses on nothing */

/* The box of some points, given theirs, larger by `more`. */
static void unite(int count, const double *const boxes[], double more, double out[6])
{
    for (int axis = 0; axis < 3; axis++) {
        double low = boxes[0][axis], high = boxes[0][3 + axis];
        for (int k = 1; k < count; k++) {
            low = sn_least(low, boxes[k][axis]);
            high = sn_largest(high, boxes[k][3 + axis]);
        }
        out[axis] = low - more;
        out[3 + axis] = high + more;
    }
}

/* What a side of that thickness brings to how near "near" is. */
static double reach_of(const SnPairing *pairing, double thickness)
{
    return SN_NEAR * (thickness + 0.5 * pairing->gap);
}

void sn_pairing_bound(const SnPairing *pairing, size_t triangle, double box[6])
{
    const int32_t *points = pairing->surface->triangles + 3 * triangle;
    const double *boxes[3], *thickness = pairing->surface->thickness;
    for (int k = 0; k < 3; k++) {
        boxes[k] = pairing->boxes + 6 * (size_t)points[k];
    }
    double most = sn_largest(thickness[points[0]], sn_largest(thickness[points[1]], thickness[points[2]]));
    unite(3, boxes, reach_of(pairing, most), box);
}

void sn_pairing_side(const SnPairing *pairing, size_t triangle, double margin, SnPairingSide *side)
{
    const SnSurface *surface = pairing->surface;
    const int32_t *points = surface->triangles + 3 * triangle;
    const double *boxes[4];
    double thickness[4], most = 0.0;
    side->triangle = triangle;
    side->points = points;
    side->kinematic = side->grouped = 0;
    for (int k = 0; k < 4; k++) {
        boxes[k] = pairing->boxes + 6 * (size_t)points[k % 3];
        thickness[k] = surface->thickness[points[k % 3]];
        most = sn_largest(most, thickness[k]);
    }
    for (int k = 0; k < 3; k++) {
        unite(1, boxes + k, reach_of(pairing, thickness[k]) + margin, side->corners[k]);
        unite(2, boxes + k, reach_of(pairing, sn_largest(thickness[k], thickness[k + 1])) + margin, side->edges[k]);
        side->kinematic |= surface->kinematic[points[k]] << k;
        side->grouped |= surface->groups[points[k]] != 0;
    }
    unite(3, boxes, reach_of(pairing, most) + margin, side->box);
}

static int boxes_meet(const double a[6], const double b[6])
{
    return (a[0] <= b[3]) & (a[1] <= b[4]) & (a[2] <= b[5]) & (b[0] <= a[3]) & (b[1] <= a[4]) & (b[2] <= a[5]);
}

/* Bits of the parts of a triangle that it owns and whose boxes meet another: 0 to 2 corners, 3 to 5 edges. */
static unsigned parts_within(const SnSurface *surface, const SnPairingSide *side, const double box[6])
{
    unsigned bits = 0;
    for (unsigned k = 0; k < 3; k++) {
        bits |= (unsigned)boxes_meet(side->corners[k], box) << k | (unsigned)boxes_meet(side->edges[k], box) << (3 + k);
    }
    return bits & surface->owned[side->triangle];
}

/* Whether the two sides of a pair share a point or are both kinematic: `own` and `other` are bits of corners. */
static int may_touch(const SnPairingSide *a, unsigned own, const SnPairingSide *b, unsigned other)
{
    if (((unsigned)a->kinematic & own) == own && ((unsigned)b->kinematic & other) == other) {
        return 0;
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            if (own >> i & other >> j & 1 && a->points[i] == b->points[j]) {
                return 0;
            }
        }
    }
    return 1;
}

static int is_ignored(const SnSurface *surface, const SnPairingSide *a, unsigned own, const SnPairingSide *b, unsigned other)
{
    int32_t points[2][3];
    int counts[2] = {0, 0};
    if (!a->grouped || !b->grouped) {
        return 0;
    }
    for (int k = 0; k < 3; k++) {
        if (own >> k & 1) {
            points[0][counts[0]++] = a->points[k];
        }
        if (other >> k & 1) {
            points[1][counts[1]++] = b->points[k];
        }
    }
    return sn_surface_ignores(surface, counts[0], points[0], counts[1], points[1]);
}

unsigned sn_pairing_meet(const SnPairing *pairing, const SnPairingSide *a, const SnPairingSide *b)
{
    static const unsigned edge_points[3] = {3, 6, 5}; /* bits of the corners of each edge */
    const SnSurface *surface = pairing->surface;
    const SnPairingSide *both[2] = {a, b};
    unsigned parts[2] = {parts_within(surface, a, b->box), parts_within(surface, b, a->box)}, mask = 0;
    for (unsigned side = 0; side < 2; side++) {
        for (unsigned k = 0; k < 3; k++) {
            if (parts[side] >> k & 1 && may_touch(both[side], 1u << k, both[1 - side], 7) &&
                !is_ignored(surface, both[side], 1u << k, both[1 - side], 7)) {
                mask |= 1u << (3 * side + k);
            }
        }
    }
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned j = 0; j < 3 && parts[0] >> (3 + i) & 1; j++) {
            if (parts[1] >> (3 + j) & 1 && boxes_meet(a->edges[i], b->edges[j]) && may_touch(a, edge_points[i], b, edge_points[j]) &&
                !is_ignored(surface, a, edge_points[i], b, edge_points[j])) {
                mask |= 1u << (6 + 3 * i + j);
            }
        }
    }
    return mask;
}

double sn_pair_distance(const SnPair *pair, int is_edges, const double *q)
{
    double x[4][3];
    sn_gather_points(pair->points, q, x);
    return sqrt(is_edges ? sn_nearest_edges((const double(*)[3])x).squared : sn_nearest_point_triangle((const double(*)[3])x).squared);
}

double sn_pair_distance_or(const SnPair *pair, int is_edges, const double *q, double enough)
{
    double x[4][3], n[3];
    int count = is_edges ? 2 : 1;
    sn_gather_points(pair->points, q, x);
    sn_middles(count, (const double(*)[3])x, n);
    double ahead = sn_ahead_along(count, n, (const double(*)[3])x);
    if (sn_is_ahead(ahead, n, enough)) {
        return ahead / sn_length(n);
    }
    return sn_pair_distance(pair, is_edges, q);
}

void sn_pairing_keep_input(const SnPairing *pairing, int is_edges, SnPair *pair)
{
    double distance = pairing->input ? sn_pair_distance_or(pair, is_edges, pairing->input, 2.0 * pair->limit) : INFINITY;
    pair->gap = distance < LEAST_GAP * pairing->gap ? 0.0 : sn_least(pair->limit, (1.0 - ROUNDING) * distance);
}

static double side_thickness(const SnSurface *surface, int count, const int32_t *points)
{
    double thickness = 0.0;
    for (int i = 0; i < count; i++) {
        thickness = sn_largest(thickness, surface->thickness[points[i]]);
    }
    return thickness;
}

/* Adds what a point brings to how far free vertices move a pair, `count` of them so far. */
static int add_corners(const SnSurface *surface, int32_t point, double c, int count, int32_t *vertices, double *sums)
{
    for (size_t k = 4 * (size_t)point; k < 4 * (size_t)point + 4; k++) {
        int at = 0;
        if (surface->fixed[k]) {
            continue;
        }
        while (at < count && vertices[at] != surface->corners[k]) {
            at++;
        }
        vertices[at] = surface->corners[k];
        sums[at] = (at < count ? sums[at] : 0.0) + c * surface->weights[k];
        count += at == count;
    }
    return count;
}

static int share_corners(const SnSurface *surface, int count, const int32_t *points, int other_count, const int32_t *other)
{
    for (size_t i = 0; i < 4 * (size_t)count; i++) {
        size_t at = 4 * (size_t)points[i / 4] + i % 4;
        int32_t corner = surface->fixed[at] ? -1 : surface->corners[at];
        for (size_t j = 0; j < 4 * (size_t)other_count && corner >= 0; j++) {
            if (surface->corners[4 * (size_t)other[j / 4] + j % 4] == corner) {
                return 1;
            }
        }
    }
    return 0;
}

/* Whether the sides of a pair, where they are nearest at rest, hang on the same free vertices by nearly the same weights: these move both
   alike, so that nothing could take them apart. It is so where triangles are much finer than the cells that carry them. */
static int hang_together(const SnSurface *surface, const SnPair *pair, int is_edges)
{
    double x[4][3], sums[16], sum = 0.0;
    int32_t vertices[16];
    int sides = is_edges ? 2 : 1, count = 0;
    if (!share_corners(surface, sides, pair->points, 4 - sides, pair->points + sides)) {
        return 0;
    }
    sn_gather_points(pair->points, surface->rest, x);
    SnNearest nearest = is_edges ? sn_nearest_edges((const double(*)[3])x) : sn_nearest_point_triangle((const double(*)[3])x);
    for (int i = 0; i < 4; i++) {
        count = add_corners(surface, pair->points[i], nearest.c[i], count, vertices, sums);
    }
    for (int i = 0; i < count; i++) {
        sum += fabs(sums[i]);
    }
    return sum < TOGETHER;
}

SnPair sn_pairing_make(const SnPairing *pairing, int is_edges, int32_t first, int32_t second)
{
    const SnSurface *surface = pairing->surface;
    SnPair pair = {.elements = {first, second}};
    if (is_edges) {
        memcpy(pair.points, surface->edges + 2 * (size_t)first, 2 * sizeof(int32_t));
        memcpy(pair.points + 2, surface->edges + 2 * (size_t)second, 2 * sizeof(int32_t));
    } else {
        pair.points[0] = first;
        memcpy(pair.points + 1, surface->triangles + 3 * (size_t)second, 3 * sizeof(int32_t));
    }
    int count = is_edges ? 2 : 1;
    pair.limit = side_thickness(surface, count, pair.points) + side_thickness(surface, 4 - count, pair.points + count) + pairing->gap;
    if (surface->point_bodies[pair.points[0]] == surface->point_bodies[pair.points[3]]) {
        double distance = sn_pair_distance_or(&pair, is_edges, surface->rest, 2.0 * pair.limit);
        pair.limit = distance < LEAST_GAP * pairing->gap ? 0.0 : sn_least(pair.limit, 0.5 * distance);
    }
    if (pair.limit > 0.0 && hang_together(surface, &pair, is_edges)) {
        pair.limit = 0.0;
    }
    sn_pairing_keep_input(pairing, is_edges, &pair);
    return pair;
}
