/* What one tet sees of the body. Its region is the tet grown by a margin, but no farther than its box grown by the same: ten planes.
   Triangles that reach into the region are cut off at these planes, and what is left of them is joined to pieces. Two fingers:

      +-------------------------+     walls 1 2 3 4 of the surface, with flesh # behind them. Their tips, where 1 meets 2
      |   1#####2     3#####4   |     and 3 meets 4, are outside of the region, and so is the palm.
      |   1#####2     3#####4   |
      |   1#####2     3#####4   |
      +-------------------------+

   - Along the surface: triangles are one part where the edge or vertex that they share lies in the region. Here: 1, 2, 3, 4.
   - Through the flesh: two parts are one where a straight way between them leaves both on the flesh's side and meets no other
     wall. Such a way leads from 1 to 2 and from 3 to 4. From 2 to 3 it leads through air, from 1 to 3 through the wall 2.
   - By holds: where a shell holds on to a larger one (shells.c) a button goes with its coat.

   That leaves two pieces, 12 and 34, and a tet with two pieces is doubled (split.c). Nothing here asks how wide the gap is: with
   lips that touch, 2 and 3 lie in one place and are still two. Where parts press into each other a way through the flesh of both
   leads from one to the other; there sn_shells_depth is 2, and such ways do not count.

   The same triangles give the same pieces in the same order: items come in the order of the tree, a set is called by its first. */
#include "mesh/pieces.h"

#include "base/memory.h"
#include "mesh/geometry.h"
#include "mesh/union_find.h"

#include <string.h>

#define MOST_CORNERS (3 + SN_PIECES_PLANES) /* of a triangle that is cut by all planes */
#define MOST_PARTS 32     /* of the surface around one tet; further ones count as the last */
#define MOST_SAMPLES 12   /* places of each part from where flesh may lead to another part */
#define MOST_WAYS 24      /* between two parts that are looked along */
#define GRAZING 0.01      /* sine: ways that pass along a wall lead nowhere */
#define WAY_END 1e-6      /* of a way: walls at its ends may have others in the same place */
#define INWARDS 0.1       /* from the middle of the part in the region to that of the triangle: never at its edge */
#define SLACK 1e-7        /* cells: what two triangles share is in the region wherever both are, whatever the rounding */

void sn_pieces_tet_init(const double corners[4][3], SnPiecesTet *tet)
{
    memcpy(tet->corners, corners, sizeof tet->corners);
    for (int i = 0; i < 4; i++) {
        const double *a = corners[(i + 1) % 4], *b = corners[(i + 2) % 4], *c = corners[(i + 3) % 4];
        double ab[3], ac[3], normal[3];
        sn_subtract(b, a, ab);
        sn_subtract(c, a, ac);
        sn_cross3(ab, ac, normal);
        double height = -sn_dot3(normal, a);
        double scale = (sn_dot3(normal, corners[i]) + height < 0.0 ? -1.0 : 1.0) / sn_length(normal);
        for (int axis = 0; axis < 3; axis++) {
            tet->planes[i][axis] = scale * normal[axis];
        }
        tet->planes[i][3] = scale * height;
    }
    for (int axis = 0; axis < 3; axis++) {
        tet->low[axis] = sn_least(sn_least(corners[0][axis], corners[1][axis]), sn_least(corners[2][axis], corners[3][axis]));
        tet->high[axis] =
            sn_largest(sn_largest(corners[0][axis], corners[1][axis]), sn_largest(corners[2][axis], corners[3][axis]));
        for (int side = 0; side < 2; side++) {
            double *plane = tet->planes[4 + 2 * axis + side];
            memset(plane, 0, 4 * sizeof *plane);
            plane[axis] = side ? -1.0 : 1.0;
            plane[3] = side ? tet->high[axis] : -tet->low[axis];
        }
    }
}

static double height_over(const double plane[4], double margin, const double point[3])
{
    return sn_dot3(plane, point) + plane[3] + margin;
}

static int point_is_in(const SnPiecesTet *tet, double margin, const double point[3])
{
    for (int i = 0; i < SN_PIECES_PLANES; i++) {
        if (height_over(tet->planes[i], margin, point) < 0.0) {
            return 0;
        }
    }
    return 1;
}

static int segment_is_in(const SnPiecesTet *tet, double margin, const double a[3], const double b[3])
{
    double low = 0.0, high = 1.0;
    for (int i = 0; i < SN_PIECES_PLANES; i++) {
        double from = height_over(tet->planes[i], margin, a), to = height_over(tet->planes[i], margin, b);
        if (from < 0.0 && to < 0.0) {
            return 0;
        }
        if (from < 0.0) {
            low = sn_largest(low, from / (from - to));
        } else if (to < 0.0) {
            high = sn_least(high, from / (from - to));
        }
    }
    return low <= high;
}

/* Cuts a convex polygon by one plane; returns the number of corners that are left. */
static int cut_polygon(const double plane[4], double margin, int count, double polygon[][3])
{
    double heights[MOST_CORNERS], cut[MOST_CORNERS][3];
    int below = 0, kept = 0;
    for (int i = 0; i < count; i++) {
        heights[i] = height_over(plane, margin, polygon[i]);
        below += heights[i] < 0.0;
    }
    if (below == 0 || below == count) {
        return below == 0 ? count : 0;
    }
    for (int i = 0; i < count; i++) {
        int next = (i + 1) % count;
        if (heights[i] >= 0.0) {
            memcpy(cut[kept++], polygon[i], sizeof cut[0]);
        }
        if ((heights[i] < 0.0) != (heights[next] < 0.0) && kept < MOST_CORNERS) {
            double t = heights[i] / (heights[i] - heights[next]);
            for (int axis = 0; axis < 3; axis++) {
                cut[kept][axis] = polygon[i][axis] + t * (polygon[next][axis] - polygon[i][axis]);
            }
            kept++;
        }
    }
    memcpy(polygon, cut, (size_t)kept * sizeof cut[0]);
    return kept;
}

int sn_pieces_holds(const SnShells *shells, const SnPiecesTet *tet, double margin, size_t triangle, double middle[3])
{
    double polygon[MOST_CORNERS][3];
    int count = 3;
    const double *x = shells->corners + 9 * triangle;
    unsigned cutting = 0; /* planes that have a corner below */
    for (int i = 0; i < SN_PIECES_PLANES; i++) {
        double a = height_over(tet->planes[i], margin, x), b = height_over(tet->planes[i], margin, x + 3);
        double c = height_over(tet->planes[i], margin, x + 6);
        if (a < 0.0 && b < 0.0 && c < 0.0) {
            return 0;
        }
        cutting |= (unsigned)(a < 0.0 || b < 0.0 || c < 0.0) << i;
    }
    memcpy(polygon, x, sizeof(double[9]));
    for (int i = 0; i < SN_PIECES_PLANES && count > 0; i++) {
        count = cutting >> i & 1u ? cut_polygon(tet->planes[i], margin, count, polygon) : count;
    }
    for (int axis = 0; axis < 3 && count > 0; axis++) {
        middle[axis] = INWARDS * (x[axis] + x[3 + axis] + x[6 + axis]) / 3.0;
        for (int i = 0; i < count; i++) {
            middle[axis] += (1.0 - INWARDS) * polygon[i][axis] / count;
        }
    }
    return count > 0;
}

void sn_pieces_init(SnContext *context, SnPieces *pieces)
{
    *pieces = (SnPieces){.context = context};
}

void sn_pieces_clear(SnPieces *pieces)
{
    sn_release(pieces->triangles);
    sn_release(pieces->parents);
    sn_release(pieces->keys);
    *pieces = (SnPieces){0};
}

static SnStatus add_triangle(SnPieces *pieces, int32_t triangle, int32_t place, const double middle[3])
{
    if (pieces->triangle_count == pieces->triangle_capacity) {
        size_t capacity = 2 * pieces->triangle_capacity + 64;
        SnPiecesTriangle *larger = sn_reallocate(pieces->context, pieces->triangles, capacity, sizeof *larger);
        if (larger == NULL) {
            return SN_OUT_OF_MEMORY;
        }
        pieces->triangles = larger;
        int32_t *parents = sn_reallocate(pieces->context, pieces->parents, capacity, sizeof *parents);
        if (parents == NULL) {
            return SN_OUT_OF_MEMORY;
        }
        pieces->parents = parents;
        pieces->triangle_capacity = capacity;
    }
    SnPiecesTriangle *added = pieces->triangles + pieces->triangle_count;
    added->triangle = triangle;
    added->place = place;
    added->piece = -1;
    pieces->triangle_count++;
    memcpy(added->middle, middle, sizeof added->middle);
    return SN_OK;
}

static int boxes_overlap(const SnBoxTreeNode *node, const SnPiecesTet *tet, double margin)
{
    for (int axis = 0; axis < 3; axis++) {
        if (node->low[axis] > tet->high[axis] + margin || node->high[axis] < tet->low[axis] - margin) {
            return 0;
        }
    }
    return 1;
}

/* The triangles in the region of one tet. */
typedef struct Collection {
    const SnShells *shells;
    const SnPiecesTet *tet;
    double margin;
    SnPieces *pieces;
    SnStatus status;
} Collection;

static int is_near_the_tet(void *data, const SnBoxTree *tree, size_t node)
{
    const Collection *collection = data;
    return collection->status == SN_OK && boxes_overlap(tree->nodes + node, collection->tet, collection->margin);
}

static void collect_triangle(void *data, int32_t triangle, int32_t place)
{
    Collection *collection = data;
    double middle[3];
    if (collection->status == SN_OK && !collection->shells->hidden[triangle] &&
        sn_pieces_holds(collection->shells, collection->tet, collection->margin, (size_t)triangle, middle)) {
        collection->status = add_triangle(collection->pieces, triangle, place, middle);
    }
}

static SnStatus collect_triangles(const SnShells *shells, const SnPiecesTet *tet, double margin, SnPieces *pieces)
{
    Collection collection = {shells, tet, margin, pieces, SN_OK};
    pieces->triangle_count = 0;
    sn_box_tree_visit(&shells->tree, is_near_the_tet, collect_triangle, &collection);
    return collection.status;
}

/* The slot of a key, empty or holding it. */
static SnPiecesKey *find_slot(const SnPieces *pieces, int64_t key)
{
    size_t mask = pieces->key_count - 1;
    size_t slot = (size_t)((uint64_t)key * 0x9E3779B97F4A7C15u >> 32) & mask;
    while (pieces->keys[slot].key != 0 && pieces->keys[slot].key != key) {
        slot = (slot + 1) & mask;
    }
    return pieces->keys + slot;
}

static SnStatus make_room_for_keys(SnPieces *pieces)
{
    size_t wanted = 16 * pieces->triangle_count; /* up to six keys a triangle, in a table that is half empty */
    for (pieces->key_count = 64; pieces->key_count < wanted;) {
        pieces->key_count *= 2;
    }
    if (pieces->key_capacity < pieces->key_count) {
        SnPiecesKey *larger = sn_reallocate(pieces->context, pieces->keys, pieces->key_count, sizeof *larger);
        if (larger == NULL) {
            return SN_OUT_OF_MEMORY;
        }
        pieces->keys = larger;
        pieces->key_capacity = pieces->key_count;
    }
    memset(pieces->keys, 0, pieces->key_count * sizeof *pieces->keys);
    return SN_OK;
}

/* Joins what shares a key. */
static void join_key(SnPieces *pieces, int32_t item, int32_t a, int32_t b)
{
    int64_t low = a < b ? a : b, high = a < b ? b : a;
    SnPiecesKey *slot = find_slot(pieces, (low << 32 | high) + 1);
    if (slot->key == 0) {
        slot->key = (low << 32 | high) + 1;
        slot->item = item;
    } else {
        sn_union_find_join(pieces->parents, item, slot->item);
    }
}

/* Joins triangles whose common vertex or edge lies in the region. */
static void join_surface(const SnShells *shells, const SnPiecesTet *tet, double margin, SnPieces *pieces)
{
    sn_union_find_init(pieces->triangle_count, pieces->parents);
    for (int32_t item = 0; item < (int32_t)pieces->triangle_count; item++) {
        size_t triangle = (size_t)pieces->triangles[item].triangle;
        const double *x = shells->corners + 9 * triangle;
        const int32_t *vertices = shells->vertices + 3 * triangle;
        int in[3];
        for (int i = 0; i < 3; i++) {
            in[i] = point_is_in(tet, margin + SLACK, x + 3 * i);
            if (in[i]) {
                join_key(pieces, item, vertices[i], vertices[i]);
            }
        }
        for (int i = 0; i < 3; i++) {
            int next = (i + 1) % 3;
            if (!in[i] && !in[next] && segment_is_in(tet, margin + SLACK, x + 3 * i, x + 3 * next)) {
                join_key(pieces, item, vertices[i], vertices[next]);
            }
        }
    }
}

/* Gives every triangle the number of its part, in the order of the list; returns their number. */
static int number_parts(SnPieces *pieces)
{
    int count = 0;
    SnPiecesTriangle *all = pieces->triangles;
    for (int32_t item = 0; item < (int32_t)pieces->triangle_count; item++) {
        int32_t root = sn_union_find_root(pieces->parents, item); /* the first of its part */
        all[item].piece = root < item ? all[root].piece : (count < MOST_PARTS ? count++ : MOST_PARTS - 1);
    }
    return count;
}

/* Parts of the surface, while they are joined. */
typedef struct Parts {
    int count;
    int32_t parents[MOST_PARTS];
    int sizes[MOST_PARTS];   /* triangles */
    int sample_counts[MOST_PARTS];
    int32_t samples[MOST_PARTS][MOST_SAMPLES]; /* items all over the part */
} Parts;

static void init_parts(const SnPieces *pieces, int count, Parts *parts)
{
    int seen[MOST_PARTS] = {0};
    parts->count = count;
    sn_union_find_init((size_t)count, parts->parents);
    for (int part = 0; part < count; part++) {
        parts->sizes[part] = parts->sample_counts[part] = 0;
    }
    for (size_t item = 0; item < pieces->triangle_count; item++) {
        parts->sizes[pieces->triangles[item].piece]++;
    }
    for (size_t item = 0; item < pieces->triangle_count; item++) {
        int part = pieces->triangles[item].piece, taken = parts->sample_counts[part];
        if (taken < MOST_SAMPLES && seen[part]++ * MOST_SAMPLES >= taken * parts->sizes[part]) {
            parts->samples[part][parts->sample_counts[part]++] = (int32_t)item;
        }
    }
}

/* Whether a straight way between two places of the surface leads away from the flesh's side of the triangle there. */
static int leaves_through(const SnShells *shells, size_t triangle, const double way[3])
{
    return !shells->solid[triangle] || sn_dot3(way, shells->normals + 3 * triangle) > GRAZING * sn_length(way);
}

/* Whether a triangle is in the way from one place to another. */
static int is_in_the_way(const double *x, const double from[3], const double way[3])
{
    double ab[3], ac[3], p[3], q[3], away[3];
    sn_subtract(x + 3, x, ab);
    sn_subtract(x + 6, x, ac);
    sn_cross3(way, ac, p);
    double determinant = sn_dot3(ab, p);
    if (fabs(determinant) < 1e-14) {
        return 0;
    }
    sn_subtract(from, x, away);
    double u = sn_dot3(away, p) / determinant;
    sn_cross3(away, ab, q);
    double v = sn_dot3(way, q) / determinant, t = sn_dot3(ac, q) / determinant;
    return u >= -SLACK && v >= -SLACK && u + v <= 1.0 + SLACK && t > WAY_END && t < 1.0 - WAY_END;
}

/* Whether both triangles are seen from inside on the way from one to the other. */
static int face_each_other(const SnShells *shells, const SnPiecesTriangle *from, const SnPiecesTriangle *to)
{
    double way[3], back[3];
    sn_subtract(to->middle, from->middle, way);
    sn_subtract(from->middle, to->middle, back);
    return shells->labels[from->triangle] == shells->labels[to->triangle] &&
           leaves_through(shells, (size_t)to->triangle, way) && leaves_through(shells, (size_t)from->triangle, back);
}

/* Whether nothing of their shell is between two triangles, and the flesh there is not that of two parts that press into each
   other. */
static int way_is_free(const SnShells *shells, const SnPieces *pieces, const SnPiecesTriangle *from, const SnPiecesTriangle *to)
{
    double way[3];
    sn_subtract(to->middle, from->middle, way);
    for (size_t i = 0; i < pieces->triangle_count; i++) {
        const SnPiecesTriangle *wall = pieces->triangles + i;
        if (wall != from && wall != to && shells->labels[wall->triangle] == shells->labels[from->triangle] &&
            is_in_the_way(shells->corners + 9 * (size_t)wall->triangle, from->middle, way)) {
            return 0;
        }
    }
    double middle[3];
    for (int axis = 0; axis < 3; axis++) {
        middle[axis] = 0.5 * (from->middle[axis] + to->middle[axis]);
    }
    return sn_shells_depth(shells, (size_t)from->triangle, middle) < 2;
}

/* Whether flesh leads straight from one part of the surface to another. */
static int flesh_leads(const SnShells *shells, const SnPieces *pieces, const Parts *parts, int part, int other)
{
    int ways = 0, count = parts->sample_counts[part];
    for (int pair = 0; pair < count * parts->sample_counts[other] && ways < MOST_WAYS; pair++) {
        const SnPiecesTriangle *from = pieces->triangles + parts->samples[part][pair % count];
        const SnPiecesTriangle *to = pieces->triangles + parts->samples[other][pair / count];
        if (face_each_other(shells, from, to)) {
            ways++;
            if (way_is_free(shells, pieces, from, to)) {
                return 1;
            }
        }
    }
    return 0;
}

/* Joins parts that are walls of the same flesh. */
static void join_flesh(const SnShells *shells, const SnPieces *pieces, Parts *parts)
{
    for (int part = 0; part < parts->count; part++) {
        for (int other = part + 1; other < parts->count; other++) {
            int known = sn_union_find_root(parts->parents, part) == sn_union_find_root(parts->parents, other);
            if (!known && flesh_leads(shells, pieces, parts, part, other)) {
                sn_union_find_join(parts->parents, part, other);
            }
        }
    }
}

/* The item of the triangle at that place in the tree, or -1. */
static int32_t find_item(const SnPieces *pieces, int32_t place)
{
    int32_t low = 0, high = (int32_t)pieces->triangle_count - 1;
    while (low <= high) {
        int32_t middle = low + (high - low) / 2;
        if (pieces->triangles[middle].place == place) {
            return middle;
        }
        low = pieces->triangles[middle].place < place ? middle + 1 : low;
        high = pieces->triangles[middle].place > place ? middle - 1 : high;
    }
    return -1;
}

/* Joins shells where one holds on to the other. */
static void join_holds(const SnShells *shells, const SnPiecesTet *tet, double margin, const SnPieces *pieces, Parts *parts)
{
    for (size_t item = 0; item < pieces->triangle_count; item++) {
        const SnPiecesTriangle *at = pieces->triangles + item;
        for (int32_t i = shells->hold_starts[at->triangle]; i < shells->hold_starts[at->triangle + 1]; i++) {
            const SnHold *hold = shells->holds + i;
            int32_t other = point_is_in(tet, margin, hold->point) ? find_item(pieces, hold->place) : -1;
            if (other >= 0) {
                sn_union_find_join(parts->parents, at->piece, pieces->triangles[other].piece);
            }
        }
    }
}

/* Turns parts into pieces, in the same order. */
static void number_pieces(Parts *parts, int most, SnPieces *pieces)
{
    int numbers[MOST_PARTS] = {0};
    pieces->count = 0;
    for (int part = 0; part < parts->count; part++) {
        int root = sn_union_find_root(parts->parents, part);
        numbers[part] = root < part ? numbers[root] : (pieces->count < most ? pieces->count++ : most - 1);
    }
    for (size_t item = 0; item < pieces->triangle_count; item++) {
        pieces->triangles[item].piece = numbers[pieces->triangles[item].piece];
    }
}

SnStatus sn_pieces_find(const SnShells *shells, const SnPiecesTet *tet, double margin, int most, SnPieces *pieces)
{
    SnStatus status = SN_OK;
    Parts parts;
    pieces->count = 0;
    SN_TRY(collect_triangles(shells, tet, margin, pieces));
    SN_TRY(make_room_for_keys(pieces));
    join_surface(shells, tet, margin, pieces);
    pieces->count = number_parts(pieces);
    if (pieces->count > 1) {
        init_parts(pieces, pieces->count, &parts);
        join_flesh(shells, pieces, &parts);
        join_holds(shells, tet, margin, pieces, &parts);
        number_pieces(&parts, most, pieces);
    }
cleanup:
    return status;
}

double sn_pieces_side(const SnShells *shells, const SnPieces *pieces, int piece, const double point[3], int *inside)
{
    double nearest = INFINITY;
    *inside = 0;
    for (size_t item = 0; item < pieces->triangle_count; item++) {
        const SnPiecesTriangle *at = pieces->triangles + item;
        if (at->piece == piece) {
            const double *x = shells->corners + 9 * (size_t)at->triangle;
            double distance = sn_triangle_distance_squared(point, x, x + 3, x + 6);
            if (distance < nearest) {
                nearest = distance;
                (void)sn_shells_side(shells, (size_t)at->triangle, point, inside);
            }
        }
    }
    return nearest;
}
