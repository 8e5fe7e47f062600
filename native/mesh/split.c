/* From a cage in which near parts share tets to one in which each has tets of its own. Two fingers, 1 and 2, that grow out of a
   palm, in a slice (tets drawn as squares); right: the new cage, with the copies of a tet drawn side by side, but they lie in one
   place and have the same shape:

        +-----+-----+-----+               +-----+-----+   +-----+-----+
        |  1##|## ##|##2  |               |  1##|##   |   |   ##|##2  |
        +-----+-----+-----+               +-----+-----+   +-----+-----+
        |  1##|## ##|##2  |      ->       |  1##|##   |   |   ##|##2  |
        +-----+-----+-----+               +-----+-----\   /-----+-----+
        |#####|#####|#####|               |#####|     #####     |#####|
        +-----+-----+-----+               +-----+---------------+-----+

   One doubled tet. The surface cuts it into a piece of each finger, so it becomes two tets, each with four corners of its own:

            d                  d'                 d"
           /|\                /|\                /|\         First every copy of every tet has corners of its own.
          / | \              / | \              / | \        Then corners are joined (union_find.h), face by face: copies in
         /1 | 2\     ->     /1 |  \     and    /  | 2\       two tets with a common face share its three corners when their
        a---|---b          a'--|---b'         a"--|---b"     pieces are connected there: have a triangle in common, or the
         \  |  /            \  |  /            \  |  /       flesh of both holds the middle of the face.
          \ | /              \ | /              \ | /        At last a' and a" are one vertex if any such way leads from one
            c                  c'                 c"         to the other (through the palm), else two in the same place.

   In order:  find_copies     what is in each tet (pieces.c), how many copies it needs, which of their corners are one;
                              tets that only bridge a gap between two parts are dropped
              bind_vertices   each vertex of the surface goes with the copy that holds its own piece
              join_loose      copies with too few of their kind to be a part of a body join what is beside them
              place_*         what carries a vertex, or hangs together with what does, is the new cage

   A copy has the place and the shape of the tet that it comes from, so angles, volumes and weights stay. */
#include "mesh/split.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "mesh/geometry.h"
#include "mesh/pieces.h"
#include "mesh/union_find.h"

#include <string.h>

#define MOST_COPIES 12       /* of one tet; further pieces share the last copy */
#define TOUCH SN_SHELLS_FINEST /* cells: the surface is in a tet when it is nearer than this, which is as well as it is known */
#define DEEP 0.02            /* cells: nearer to the surface nobody can tell inside from outside where parts touch */
#define LOOSE_COPIES 16      /* a group of copies this small is no part of a body: it goes with its neighbours */
#define TETS_PER_CHUNK 64
#define CHUNKS_PER_BATCH 16  /* between two looks at the cancel flag */
#define TETS_PER_LOOK 256    /* or vertices, where one thread works */

/* What the body does in one tet. */
typedef struct Content {
    uint8_t copies;  /* 0: the tet lies between several pieces and holds nothing, so nobody needs it */
    uint8_t pieces;  /* of the body around the tet; 0: the tet is bare */
    uint8_t touched; /* its copies hold pieces that reach into the tet; else they are only near it */
    uint8_t bound;   /* carries a vertex of the surface */
    int32_t triangle; /* one of the only piece */
} Content;

/* The pieces of one tet's copies. */
typedef struct Around {
    size_t tet;
    SnPiecesTet shape;
    SnPieces pieces;
    int count;                  /* copies */
    int touched;                /* the copies' pieces reach into the tet */
    int8_t copies[MOST_COPIES]; /* of each piece: its copy, or -1 */
} Around;

/* One for each chunk of a batch, so that no two threads share one. */
typedef struct Worker {
    SnContext context;
    SnStatus status;
    Around around;
} Worker;

typedef struct Split {
    SnContext *context;
    const SnShells *shells;
    const SnLattice *lattice;
    const SnTetMesh *cage;
    double margin;       /* cells */
    Content *contents;   /* per tet */
    int32_t *first;      /* tet_count + 1: first copy of each tet */
    int32_t *neighbours; /* tet_count x 4 */
    int32_t *corners;    /* copy_count x 4, union-find: corners that are one vertex */
    int32_t *groups;     /* copy_count, union-find: copies connected through faces */
    Worker *workers;     /* CHUNKS_PER_BATCH */
    Around *here, *there;
    size_t batch_start;
} Split;

static void make_shape(const Split *split, size_t tet, SnPiecesTet *shape)
{
    double corners[4][3];
    for (size_t i = 0; i < 4; i++) {
        sn_lattice_from_world(split->lattice, split->cage->positions + 3 * (size_t)split->cage->tets[4 * tet + i], corners[i]);
    }
    sn_pieces_tet_init(corners, shape);
}

/* The middle of a tet, or of the face opposite corner 0..3. */
static void middle_of(const SnPiecesTet *shape, int without, double middle[3])
{
    for (int axis = 0; axis < 3; axis++) {
        middle[axis] = 0.0;
        for (int i = 0; i < 4; i++) {
            middle[axis] += i == without ? 0.0 : shape->corners[i][axis] / (without < 4 ? 3.0 : 4.0);
        }
    }
}

/* Which pieces reach into the tet: by their surface, or by their flesh at its middle or at the middle of a face. */
static int find_touching(const Split *split, const Around *around, uint8_t touch[MOST_COPIES])
{
    int touching = 0;
    memset(touch, 0, MOST_COPIES);
    for (size_t i = 0; i < around->pieces.triangle_count; i++) {
        const SnPiecesTriangle *at = around->pieces.triangles + i;
        double middle[3];
        touch[at->piece] |= !touch[at->piece] &&
                            sn_pieces_holds(split->shells, &around->shape, TOUCH, (size_t)at->triangle, middle);
    }
    for (int piece = 0; piece < around->pieces.count; piece++) {
        for (int without = 0; without < 5 && !touch[piece]; without++) {
            double middle[3];
            int inside;
            middle_of(&around->shape, without, middle);
            (void)sn_pieces_side(split->shells, &around->pieces, piece, middle, &inside);
            touch[piece] = (uint8_t)inside; /* a copy too many does no harm */
        }
        touching += touch[piece];
    }
    return touching;
}

/* Finds the pieces around a tet, and which of them have a copy of it. */
static SnStatus find_around(const Split *split, size_t tet, Around *around)
{
    uint8_t touch[MOST_COPIES];
    around->tet = tet;
    make_shape(split, tet, &around->shape);
    SnStatus status = sn_pieces_find(split->shells, &around->shape, split->margin, MOST_COPIES, &around->pieces);
    if (status != SN_OK) {
        around->tet = SIZE_MAX;
        return status;
    }
    int pieces = around->pieces.count, touching = pieces > 1 ? find_touching(split, around, touch) : 0;
    around->count = 0;
    for (int piece = 0; piece < pieces && piece < MOST_COPIES; piece++) {
        around->copies[piece] = (int8_t)(touching == 0 || touch[piece] ? around->count++ : -1);
    }
    around->touched = pieces == 1 || touching > 0;
    return SN_OK;
}

/* The triangle nearest to the middle of the tet; -1: there is none. */
static int32_t find_middle_triangle(const Around *around)
{
    int32_t found = -1;
    double middle[3], nearest = INFINITY;
    middle_of(&around->shape, 4, middle);
    for (size_t i = 0; i < around->pieces.triangle_count; i++) {
        double distance = sn_distance_squared(middle, around->pieces.triangles[i].middle);
        if (distance < nearest) {
            nearest = distance;
            found = around->pieces.triangles[i].triangle;
        }
    }
    return found;
}

static void find_contents(void *data, size_t chunk, size_t begin, size_t end)
{
    const Split *split = data;
    Worker *worker = split->workers + chunk;
    for (size_t tet = split->batch_start + begin; tet < split->batch_start + end && worker->status == SN_OK; tet++) {
        const Around *around = &worker->around;
        Content *content = split->contents + tet;
        worker->status = find_around(split, tet, &worker->around);
        content->copies = (uint8_t)(around->count > 0 ? around->count : 1);
        content->pieces = (uint8_t)around->pieces.count;
        content->touched = (uint8_t)around->touched;
        content->triangle = find_middle_triangle(around);
    }
}

/* Whether copies of two tets have a triangle in common: shared[i][j]. */
static void find_shared(const Around *a, const Around *b, uint8_t shared[MOST_COPIES][MOST_COPIES])
{
    memset(shared, 0, MOST_COPIES * MOST_COPIES);
    for (size_t i = 0, j = 0; i < a->pieces.triangle_count && j < b->pieces.triangle_count;) {
        const SnPiecesTriangle *at = a->pieces.triangles + i, *other = b->pieces.triangles + j;
        int copy = a->copies[at->piece], other_copy = b->copies[other->piece];
        if (at->place == other->place && copy >= 0 && other_copy >= 0) {
            shared[copy][other_copy] = 1;
        }
        i += at->place <= other->place;
        j += other->place <= at->place;
    }
}

/* The copy in whose flesh a point clearly lies: -1 when there is none, or several. */
static int find_copy_inside(const Split *split, const Around *around, const double point[3])
{
    int found = -1, count = 0;
    for (int piece = 0; piece < around->pieces.count; piece++) {
        int inside;
        double distance = sn_pieces_side(split->shells, &around->pieces, piece, point, &inside);
        if (inside && distance > DEEP * DEEP && around->copies[piece] >= 0) {
            found = around->copies[piece];
            count++;
        }
    }
    return count == 1 ? found : -1;
}

/* The copy whose piece is nearest to a point. */
static int find_nearest_copy(const Split *split, const Around *around, const double point[3])
{
    int found = 0;
    double nearest = INFINITY;
    for (int piece = 0; piece < around->pieces.count; piece++) {
        int inside;
        double distance = sn_pieces_side(split->shells, &around->pieces, piece, point, &inside);
        if (distance < nearest && around->copies[piece] >= 0) {
            nearest = distance;
            found = around->copies[piece];
        }
    }
    return found;
}

static void join_copies(Split *split, size_t tet, int copy, size_t other, int other_copy)
{
    const int32_t *a = split->cage->tets + 4 * tet, *b = split->cage->tets + 4 * other;
    int32_t at = split->first[tet] + copy, other_at = split->first[other] + other_copy;
    sn_union_find_join(split->groups, at, other_at);
    for (int32_t i = 0; i < 4; i++) {
        for (int32_t j = 0; j < 4; j++) {
            if (a[i] == b[j]) {
                sn_union_find_join(split->corners, 4 * at + i, 4 * other_at + j);
            }
        }
    }
}

/* Most tets hold one piece: then a triangle of one that lies around the other too proves that they are the same. */
static int is_plainly_joined(const Split *split, size_t tet, size_t other)
{
    const Content *a = split->contents + tet, *b = split->contents + other;
    SnPiecesTet shape;
    double middle[3];
    if (a->pieces != 1 || b->pieces != 1) {
        return 0;
    }
    make_shape(split, tet, &shape);
    if (sn_pieces_holds(split->shells, &shape, split->margin, (size_t)b->triangle, middle)) {
        return 1;
    }
    make_shape(split, other, &shape);
    return sn_pieces_holds(split->shells, &shape, split->margin, (size_t)a->triangle, middle);
}

/* Joins the copies of two neighbours; `face`: of the first tet, by the corner opposite. */
static SnStatus join_tets(Split *split, size_t tet, int face, size_t other)
{
    SnStatus status = SN_OK;
    const Content *content = split->contents + tet, *beyond = split->contents + other;
    uint8_t shared[MOST_COPIES][MOST_COPIES];
    double middle[3];
    int joined = 0;
    int bare = content->pieces <= 1 && beyond->pieces <= 1 && content->pieces + beyond->pieces < 2;
    if (bare || is_plainly_joined(split, tet, other)) {
        join_copies(split, tet, 0, other, 0);
        return SN_OK;
    }
    if (split->here->tet != tet) {
        SN_TRY(find_around(split, tet, split->here));
    }
    SN_TRY(find_around(split, other, split->there));
    middle_of(&split->here->shape, face, middle);
    if (content->pieces == 0 || beyond->pieces == 0) {
        /* Deep in the flesh there is nothing to be told apart by: it goes with the piece whose flesh it is. */
        const Around *known = content->pieces == 0 ? split->there : split->here;
        int copy = find_copy_inside(split, known, middle);
        copy = copy < 0 ? find_nearest_copy(split, known, middle) : copy;
        join_copies(split, tet, content->pieces == 0 ? 0 : copy, other, content->pieces == 0 ? copy : 0);
        return SN_OK;
    }
    find_shared(split->here, split->there, shared);
    for (int i = 0; i < split->here->count; i++) {
        for (int j = 0; j < split->there->count; j++) {
            if (shared[i][j]) {
                join_copies(split, tet, i, other, j);
                joined |= 1 << i;
            }
        }
    }
    int from = find_copy_inside(split, split->here, middle), to = find_copy_inside(split, split->there, middle);
    if (from >= 0 && to >= 0 && !(joined >> from & 1) && sn_shells_depth(split->shells, (size_t)content->triangle, middle) < 2) {
        join_copies(split, tet, from, other, to);
    }
cleanup:
    return status;
}

/* Gives every copy its corners and joins those that are one. */
static SnStatus connect_copies(Split *split)
{
    SnStatus status = SN_OK;
    size_t tet_count = split->cage->tet_count;
    for (size_t tet = 0; tet < tet_count; tet++) {
        split->first[tet + 1] = split->first[tet] + split->contents[tet].copies;
    }
    sn_union_find_init(4 * (size_t)split->first[tet_count], split->corners);
    sn_union_find_init((size_t)split->first[tet_count], split->groups);
    for (size_t tet = 0; tet < tet_count; tet++) {
        if (tet % TETS_PER_LOOK == 0) {
            SN_TRY(sn_context_advance(split->context, (long)(tet_count + tet)));
        }
        for (int i = 0; i < 4; i++) {
            int32_t other = split->neighbours[4 * tet + (size_t)i];
            if (other > (int32_t)tet && split->contents[tet].copies > 0 && split->contents[other].copies > 0) {
                SN_TRY(join_tets(split, tet, i, (size_t)other));
            }
        }
    }
cleanup:
    return status;
}

/* Whether two copies have the same four vertices. */
static int copies_coincide(Split *split, int32_t a, int32_t b)
{
    int same = 0;
    for (int32_t i = 0; i < 4; i++) {
        same += sn_union_find_root(split->corners, 4 * a + i) == sn_union_find_root(split->corners, 4 * b + i);
    }
    return same == 4;
}

/* Between two parts an empty tet would only hang from one of them as a loose flap: it goes. Returns how many went.
   holding: a zeroed byte for each copy, to mark the groups that hold some of the body. */
static size_t drop_flaps(Split *split, uint8_t *holding)
{
    size_t dropped = 0;
    for (size_t tet = 0; tet < split->cage->tet_count; tet++) {
        for (int32_t copy = split->first[tet]; copy < split->first[tet + 1]; copy++) {
            holding[sn_union_find_root(split->groups, copy)] |= split->contents[tet].touched;
        }
    }
    for (size_t tet = 0; tet < split->cage->tet_count; tet++) {
        Content *content = split->contents + tet;
        int32_t kept = -1;
        int parted = 0;
        for (int32_t copy = split->first[tet]; copy < split->first[tet + 1]; copy++) {
            if (holding[sn_union_find_root(split->groups, copy)]) {
                parted = parted || (kept >= 0 && !copies_coincide(split, kept, copy));
                kept = copy;
            }
        }
        if (parted && !content->touched && !content->bound) {
            content->copies = 0;
            dropped++;
        }
    }
    return dropped;
}

static SnStatus find_copies(Split *split, const SnEmbedding *embedding)
{
    SnStatus status = SN_OK;
    SnContext *context = split->context;
    uint8_t *holding = NULL;
    size_t tet_count = split->cage->tet_count, batch = CHUNKS_PER_BATCH * TETS_PER_CHUNK;
    SN_TRY_NEW(context, split->contents, tet_count, Content);
    SN_TRY_NEW(context, split->first, tet_count + 1, int32_t);
    SN_TRY_NEW(context, split->neighbours, 4 * tet_count, int32_t);
    SN_TRY_NEW(context, split->workers, CHUNKS_PER_BATCH, Worker);
    SN_TRY_NEW(context, split->here, 1, Around);
    SN_TRY_NEW(context, split->there, 1, Around);
    split->here->tet = split->there->tet = SIZE_MAX;
    sn_pieces_init(context, &split->here->pieces);
    sn_pieces_init(context, &split->there->pieces);
    for (int i = 0; i < CHUNKS_PER_BATCH; i++) {
        Worker *worker = split->workers + i;
        sn_context_init(&worker->context);
        sn_pieces_init(&worker->context, &worker->around.pieces);
    }
    SN_TRY(sn_context_look(context));
    SN_TRY(sn_tet_mesh_neighbours(context, split->cage, split->neighbours));
    for (size_t i = 0; i < embedding->vertex_count; i++) {
        split->contents[embedding->tets[i]].bound = 1;
    }
    sn_context_stage(context, "Parting what only lies near", (long)(2 * tet_count));
    for (; split->batch_start < tet_count; split->batch_start += batch) {
        size_t left = tet_count - split->batch_start;
        SN_TRY(sn_context_advance(context, (long)split->batch_start));
        sn_parallel_for(left < batch ? left : batch, TETS_PER_CHUNK, find_contents, split);
        for (int i = 0; i < CHUNKS_PER_BATCH; i++) {
            if (split->workers[i].status != SN_OK) {
                status = sn_context_fail(context, split->workers[i].status, "%s", split->workers[i].context.message);
                goto cleanup;
            }
        }
    }
    size_t copy_count = 0;
    for (size_t tet = 0; tet < tet_count; tet++) {
        copy_count += split->contents[tet].copies;
    }
    SN_TRY_NEW(context, split->corners, 4 * copy_count, int32_t);
    SN_TRY_NEW(context, split->groups, copy_count, int32_t);
    SN_TRY_NEW(context, holding, copy_count, uint8_t);
    SN_TRY(connect_copies(split));
    if (drop_flaps(split, holding) > 0) {
        SN_TRY(connect_copies(split));
    }
cleanup:
    sn_release(holding);
    return status;
}

/* The copy that holds a vertex of the surface: that of its own triangles, or of the flesh that a loose one lies in. */
static int find_copy_of_vertex(const Split *split, int32_t vertex, const double point[3])
{
    const Around *around = split->here;
    for (size_t i = 0; i < around->pieces.triangle_count; i++) {
        const SnPiecesTriangle *at = around->pieces.triangles + i;
        const int32_t *vertices = split->shells->vertices + 3 * (size_t)at->triangle;
        if ((vertices[0] == vertex || vertices[1] == vertex || vertices[2] == vertex) && around->copies[at->piece] >= 0) {
            return around->copies[at->piece];
        }
    }
    int copy = find_copy_inside(split, around, point);
    return copy < 0 ? find_nearest_copy(split, around, point) : copy;
}

/* bound[i]: of the tet that holds vertex i, the copy whose piece it belongs to. */
static SnStatus bind_vertices(Split *split, const double *positions, const SnEmbedding *embedding, int32_t *bound)
{
    SnStatus status = SN_OK;
    for (size_t i = 0; i < embedding->vertex_count; i++) {
        size_t tet = (size_t)embedding->tets[i];
        double point[3];
        bound[i] = split->first[tet];
        if (i % TETS_PER_LOOK == 0) {
            SN_TRY(sn_context_advance(split->context, (long)(2 * split->cage->tet_count)));
        }
        if (split->contents[tet].copies == 1) {
            continue;
        }
        sn_lattice_from_world(split->lattice, positions + 3 * i, point);
        if (split->here->tet != tet) {
            SN_TRY(find_around(split, tet, split->here));
        }
        bound[i] = split->first[tet] + find_copy_of_vertex(split, split->shells->welded[i], point);
    }
cleanup:
    return status;
}

/* Where the surface is finer than the pieces can tell, a few copies may be left with nobody: where they carry vertices,
   they join the nearest piece across one of their faces. bound: vertex_count copies. */
static SnStatus join_loose(Split *split, size_t vertex_count, const int32_t *bound)
{
    SnStatus status = SN_OK;
    int32_t *sizes = NULL; /* of each group, by its root; large where it carries no vertex */
    SN_TRY_NEW(split->context, sizes, split->first[split->cage->tet_count], int32_t);
    for (int32_t copy = 0; copy < split->first[split->cage->tet_count]; copy++) {
        sizes[copy] = LOOSE_COPIES;
    }
    for (size_t i = 0; i < vertex_count; i++) {
        sizes[sn_union_find_root(split->groups, bound[i])] = 0;
    }
    for (int32_t copy = 0; copy < split->first[split->cage->tet_count]; copy++) {
        sizes[sn_union_find_root(split->groups, copy)]++;
    }
    for (size_t tet = 0; tet < split->cage->tet_count; tet++) {
        if (tet % TETS_PER_LOOK == 0) {
            SN_TRY(sn_context_look(split->context));
        }
        for (int32_t copy = split->first[tet]; copy < split->first[tet + 1]; copy++) {
            for (int i = 0; i < 4 && sizes[sn_union_find_root(split->groups, copy)] < LOOSE_COPIES; i++) {
                int32_t other = split->neighbours[4 * tet + (size_t)i], own = sn_union_find_root(split->groups, copy);
                if (other < 0 || split->contents[other].copies == 0) {
                    continue;
                }
                double middle[3];
                SN_TRY(find_around(split, (size_t)other, split->there));
                make_shape(split, tet, &split->here->shape);
                split->here->tet = SIZE_MAX;
                middle_of(&split->here->shape, i, middle);
                int nearest = split->there->count > 1 ? find_nearest_copy(split, split->there, middle) : 0;
                int32_t root = sn_union_find_root(split->groups, split->first[other] + nearest);
                if (root != own) {
                    int32_t together = sizes[root] + sizes[own];
                    join_copies(split, tet, copy - split->first[tet], (size_t)other, nearest);
                    sizes[sn_union_find_root(split->groups, copy)] = together;
                }
            }
        }
    }
cleanup:
    sn_release(sizes);
    return status;
}

/* Marks the copies that stay: those of a group that carries a vertex, and of two copies with the same four vertices the
   first. bound: vertex_count copies. places[copy]: its tet in the new cage; -1: gone. */
static size_t place_copies(Split *split, size_t vertex_count, const int32_t *bound, uint8_t *carrying, int32_t *places)
{
    size_t tet_count = split->cage->tet_count, placed = 0;
    for (size_t i = 0; i < vertex_count; i++) {
        carrying[sn_union_find_root(split->groups, bound[i])] = 1;
    }
    for (size_t tet = 0; tet < tet_count; tet++) {
        for (int32_t copy = split->first[tet]; copy < split->first[tet + 1]; copy++) {
            places[copy] = carrying[sn_union_find_root(split->groups, copy)] ? -2 : -1;
            for (int32_t earlier = split->first[tet]; earlier < copy && places[copy] == -2; earlier++) {
                if (copies_coincide(split, copy, earlier)) {
                    places[copy] = places[earlier];
                }
            }
            if (places[copy] == -2) {
                places[copy] = (int32_t)placed++;
            }
        }
    }
    return placed;
}

/* vertices[root corner]: its vertex in the new cage. The first copy of a vertex keeps the order of the old cage, the others
   follow; vertices that no tet uses any more are gone. Returns the number of vertices. */
static size_t place_vertices(Split *split, const int32_t *places, int32_t *vertices, int32_t *keepers)
{
    const SnTetMesh *cage = split->cage;
    size_t count = 0;
    for (size_t vertex = 0; vertex < cage->vertex_count; vertex++) {
        keepers[vertex] = -1;
    }
    for (size_t tet = 0; tet < cage->tet_count; tet++) {
        for (int32_t slot = 4 * split->first[tet]; slot < 4 * split->first[tet + 1]; slot++) {
            vertices[slot] = -1;
            int32_t *keeper = keepers + cage->tets[4 * tet + (size_t)slot % 4];
            if (places[slot / 4] >= 0 && *keeper < 0) {
                *keeper = sn_union_find_root(split->corners, slot);
            }
        }
    }
    for (size_t vertex = 0; vertex < cage->vertex_count; vertex++) {
        if (keepers[vertex] >= 0) {
            vertices[keepers[vertex]] = (int32_t)count++;
        }
    }
    for (int32_t slot = 0; slot < 4 * split->first[cage->tet_count]; slot++) {
        int32_t root = sn_union_find_root(split->corners, slot);
        if (places[slot / 4] >= 0 && vertices[root] < 0) {
            vertices[root] = (int32_t)count++;
        }
    }
    return count;
}

static void fill_mesh(Split *split, const int32_t *places, const int32_t *vertices, SnTetMesh *mesh)
{
    const SnTetMesh *cage = split->cage;
    for (size_t tet = 0; tet < cage->tet_count; tet++) {
        for (int32_t slot = 4 * split->first[tet]; slot < 4 * split->first[tet + 1]; slot++) {
            if (places[slot / 4] >= 0) {
                int32_t vertex = vertices[sn_union_find_root(split->corners, slot)], old = cage->tets[4 * tet + (size_t)slot % 4];
                mesh->tets[4 * places[slot / 4] + slot % 4] = vertex;
                memcpy(mesh->positions + 3 * (size_t)vertex, cage->positions + 3 * (size_t)old, 3 * sizeof(double));
            }
        }
    }
}

static void release_around(Around *around)
{
    if (around != NULL) {
        sn_pieces_clear(&around->pieces);
        sn_release(around);
    }
}

SnStatus sn_split_apply(SnContext *context, const SnShells *shells, const SnLattice *lattice, const double *positions,
                        double margin, SnTetMesh *cage, SnEmbedding *embedding)
{
    SnStatus status = SN_OK;
    Split split = {.context = context, .shells = shells, .lattice = lattice, .cage = cage,
                   .margin = margin};
    SnTetMesh mesh = {0};
    uint8_t *carrying = NULL;
    int32_t *places = NULL, *vertices = NULL, *keepers = NULL, *bound = NULL;
    if (shells->triangle_count == 0) {
        return SN_OK;
    }
    SN_TRY(find_copies(&split, embedding));
    size_t copy_count = (size_t)split.first[cage->tet_count];
    SN_TRY_NEW(context, carrying, copy_count, uint8_t);
    SN_TRY_NEW(context, places, copy_count, int32_t);
    SN_TRY_NEW(context, vertices, 4 * copy_count, int32_t);
    SN_TRY_NEW(context, keepers, cage->vertex_count, int32_t);
    SN_TRY_NEW(context, bound, embedding->vertex_count, int32_t);
    SN_TRY(bind_vertices(&split, positions, embedding, bound));
    SN_TRY(join_loose(&split, embedding->vertex_count, bound));
    size_t tet_count = place_copies(&split, embedding->vertex_count, bound, carrying, places);
    size_t vertex_count = place_vertices(&split, places, vertices, keepers);
    SN_TRY(sn_tet_mesh_init(context, vertex_count, tet_count, &mesh));
    fill_mesh(&split, places, vertices, &mesh);
    sn_tet_mesh_clear(cage);
    *cage = mesh;
    mesh = (SnTetMesh){0};
    for (size_t i = 0; i < embedding->vertex_count; i++) {
        embedding->tets[i] = places[bound[i]];
    }
cleanup:
    sn_tet_mesh_clear(&mesh);
    sn_release(split.contents);
    sn_release(split.first);
    sn_release(split.neighbours);
    sn_release(split.corners);
    sn_release(split.groups);
    for (int i = 0; i < CHUNKS_PER_BATCH && split.workers != NULL; i++) {
        sn_pieces_clear(&split.workers[i].around.pieces);
    }
    release_around(split.here);
    release_around(split.there);
    sn_release(split.workers);
    sn_release(carrying);
    sn_release(places);
    sn_release(vertices);
    sn_release(keepers);
    sn_release(bound);
    return status;
}
