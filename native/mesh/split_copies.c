/* The copies of each tet: how many parts of the body reach into it, and which copies of neighbours are of one part. See split.c. */
#include "mesh/split_copies.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "mesh/geometry.h"
#include "mesh/union_find.h"

#include <math.h>
#include <string.h>

#define TOUCH SN_SHELLS_FINEST /* cells: the surface is in a tet when it is nearer than this, which is as well as it is known */
#define DEEP 0.02              /* cells: nearer to the surface nobody can tell inside from outside where parts touch */
#define TETS_PER_CHUNK 64

SnStatus sn_split_init(SnSplit *split)
{
    SnStatus status = SN_OK;
    SnContext *context = split->context;
    size_t tet_count = split->cage->tet_count;
    SN_TRY_NEW(context, split->contents, tet_count, SnContent);
    SN_TRY_NEW(context, split->first, tet_count + 1, int32_t);
    SN_TRY_NEW(context, split->neighbours, 4 * tet_count, int32_t);
    SN_TRY_NEW(context, split->workers, SN_SPLIT_CHUNKS, SnSplitWorker);
    SN_TRY_NEW(context, split->here, 1, SnAround);
    SN_TRY_NEW(context, split->there, 1, SnAround);
    split->here->tet = split->there->tet = SIZE_MAX;
    sn_pieces_init(context, &split->here->pieces);
    sn_pieces_init(context, &split->there->pieces);
    for (int i = 0; i < SN_SPLIT_CHUNKS; i++) {
        SnSplitWorker *worker = split->workers + i;
        sn_context_init(&worker->context);
        sn_pieces_init(&worker->context, &worker->around.pieces);
    }
cleanup:
    return status;
}

static void release_around(SnAround *around)
{
    if (around != NULL) {
        sn_pieces_clear(&around->pieces);
        sn_release(around);
    }
}

void sn_split_clear(SnSplit *split)
{
    sn_release(split->contents);
    sn_release(split->first);
    sn_release(split->neighbours);
    sn_release(split->corners);
    sn_release(split->groups);
    for (int i = 0; i < SN_SPLIT_CHUNKS && split->workers != NULL; i++) {
        sn_pieces_clear(&split->workers[i].around.pieces);
    }
    release_around(split->here);
    release_around(split->there);
    sn_release(split->workers);
}

void sn_split_shape(const SnSplit *split, size_t tet, SnPiecesTet *shape)
{
    double corners[4][3];
    for (size_t i = 0; i < 4; i++) {
        sn_lattice_from_world(split->lattice, split->cage->positions + 3 * (size_t)split->cage->tets[4 * tet + i], corners[i]);
    }
    sn_pieces_tet_init(corners, shape);
}

void sn_split_middle(const SnPiecesTet *shape, int without, double middle[3])
{
    for (int axis = 0; axis < 3; axis++) {
        middle[axis] = 0.0;
        for (int i = 0; i < 4; i++) {
            middle[axis] += i == without ? 0.0 : shape->corners[i][axis] / (without < 4 ? 3.0 : 4.0);
        }
    }
}

/* Which pieces reach into the tet: by their surface, or by their flesh at its middle or at the middle of a face. */
static int find_touching(const SnSplit *split, const SnAround *around, uint8_t touch[SN_SPLIT_MOST_COPIES])
{
    int touching = 0;
    memset(touch, 0, SN_SPLIT_MOST_COPIES);
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
            sn_split_middle(&around->shape, without, middle);
            (void)sn_pieces_side(split->shells, &around->pieces, piece, middle, &inside);
            touch[piece] = (uint8_t)inside; /* a copy too many does no harm */
        }
        touching += touch[piece];
    }
    return touching;
}

SnStatus sn_split_around(const SnSplit *split, size_t tet, SnAround *around)
{
    uint8_t touch[SN_SPLIT_MOST_COPIES];
    around->tet = tet;
    sn_split_shape(split, tet, &around->shape);
    SnStatus status = sn_pieces_find(split->shells, &around->shape, split->margin, SN_SPLIT_MOST_COPIES, &around->pieces);
    if (status != SN_OK) {
        around->tet = SIZE_MAX;
        return status;
    }
    int pieces = around->pieces.count, touching = pieces > 1 ? find_touching(split, around, touch) : 0;
    around->count = 0;
    for (int piece = 0; piece < pieces && piece < SN_SPLIT_MOST_COPIES; piece++) {
        around->copies[piece] = (int8_t)(touching == 0 || touch[piece] ? around->count++ : -1);
    }
    around->touched = pieces == 1 || touching > 0;
    return SN_OK;
}

/* The triangle nearest to the middle of the tet; -1: there is none. */
static int32_t find_middle_triangle(const SnAround *around)
{
    int32_t found = -1;
    double middle[3], nearest = INFINITY;
    sn_split_middle(&around->shape, 4, middle);
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
    const SnSplit *split = data;
    SnSplitWorker *worker = split->workers + chunk;
    for (size_t tet = split->batch_start + begin; tet < split->batch_start + end && worker->status == SN_OK; tet++) {
        const SnAround *around = &worker->around;
        SnContent *content = split->contents + tet;
        worker->status = sn_split_around(split, tet, &worker->around);
        content->copies = (uint8_t)(around->count > 0 ? around->count : 1);
        content->pieces = (uint8_t)around->pieces.count;
        content->touched = (uint8_t)around->touched;
        content->triangle = find_middle_triangle(around);
    }
}

/* Whether copies of two tets have a triangle in common: shared[i][j]. */
static void find_shared(const SnAround *a, const SnAround *b, uint8_t shared[SN_SPLIT_MOST_COPIES][SN_SPLIT_MOST_COPIES])
{
    memset(shared, 0, SN_SPLIT_MOST_COPIES * SN_SPLIT_MOST_COPIES);
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

int sn_split_copy_inside(const SnSplit *split, const SnAround *around, const double point[3])
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

int sn_split_nearest_copy(const SnSplit *split, const SnAround *around, const double point[3])
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

void sn_split_join(SnSplit *split, size_t tet, int copy, size_t other, int other_copy)
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
static int is_plainly_joined(const SnSplit *split, size_t tet, size_t other)
{
    const SnContent *a = split->contents + tet, *b = split->contents + other;
    SnPiecesTet shape;
    double middle[3];
    if (a->pieces != 1 || b->pieces != 1) {
        return 0;
    }
    sn_split_shape(split, tet, &shape);
    if (sn_pieces_holds(split->shells, &shape, split->margin, (size_t)b->triangle, middle)) {
        return 1;
    }
    sn_split_shape(split, other, &shape);
    return sn_pieces_holds(split->shells, &shape, split->margin, (size_t)a->triangle, middle);
}

/* Joins the copies of two neighbours; `face`: of the first tet, by the corner opposite. */
static SnStatus join_tets(SnSplit *split, size_t tet, int face, size_t other)
{
    SnStatus status = SN_OK;
    const SnContent *content = split->contents + tet, *beyond = split->contents + other;
    uint8_t shared[SN_SPLIT_MOST_COPIES][SN_SPLIT_MOST_COPIES];
    double middle[3];
    int joined = 0;
    int bare = content->pieces <= 1 && beyond->pieces <= 1 && content->pieces + beyond->pieces < 2;
    if (bare || is_plainly_joined(split, tet, other)) {
        sn_split_join(split, tet, 0, other, 0);
        return SN_OK;
    }
    if (split->here->tet != tet) {
        SN_TRY(sn_split_around(split, tet, split->here));
    }
    SN_TRY(sn_split_around(split, other, split->there));
    sn_split_middle(&split->here->shape, face, middle);
    if (content->pieces == 0 || beyond->pieces == 0) {
        /* Deep in the flesh there is nothing to be told apart by: it goes with the piece whose flesh it is. */
        const SnAround *known = content->pieces == 0 ? split->there : split->here;
        int copy = sn_split_copy_inside(split, known, middle);
        copy = copy < 0 ? sn_split_nearest_copy(split, known, middle) : copy;
        sn_split_join(split, tet, content->pieces == 0 ? 0 : copy, other, content->pieces == 0 ? copy : 0);
        return SN_OK;
    }
    find_shared(split->here, split->there, shared);
    for (int i = 0; i < split->here->count; i++) {
        for (int j = 0; j < split->there->count; j++) {
            if (shared[i][j]) {
                sn_split_join(split, tet, i, other, j);
                joined |= 1 << i;
            }
        }
    }
    int from = sn_split_copy_inside(split, split->here, middle), to = sn_split_copy_inside(split, split->there, middle);
    if (from >= 0 && to >= 0 && !(joined >> from & 1) && sn_shells_depth(split->shells, (size_t)content->triangle, middle) < 2) {
        sn_split_join(split, tet, from, other, to);
    }
cleanup:
    return status;
}

/* Gives every copy its corners and joins those that are one. */
static SnStatus connect_copies(SnSplit *split)
{
    SnStatus status = SN_OK;
    size_t tet_count = split->cage->tet_count;
    for (size_t tet = 0; tet < tet_count; tet++) {
        split->first[tet + 1] = split->first[tet] + split->contents[tet].copies;
    }
    sn_union_find_init(4 * (size_t)split->first[tet_count], split->corners);
    sn_union_find_init((size_t)split->first[tet_count], split->groups);
    for (size_t tet = 0; tet < tet_count; tet++) {
        if (tet % SN_SPLIT_PER_LOOK == 0) {
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

int sn_split_coincide(SnSplit *split, int32_t a, int32_t b)
{
    int same = 0;
    for (int32_t i = 0; i < 4; i++) {
        same += sn_union_find_root(split->corners, 4 * a + i) == sn_union_find_root(split->corners, 4 * b + i);
    }
    return same == 4;
}

/* Between two parts an empty tet would only hang from one of them as a loose flap: it goes. Returns how many went.
   holding: a zeroed byte for each copy, to mark the groups that hold some of the body. */
static size_t drop_flaps(SnSplit *split, uint8_t *holding)
{
    size_t dropped = 0;
    for (size_t tet = 0; tet < split->cage->tet_count; tet++) {
        for (int32_t copy = split->first[tet]; copy < split->first[tet + 1]; copy++) {
            holding[sn_union_find_root(split->groups, copy)] |= split->contents[tet].touched;
        }
    }
    for (size_t tet = 0; tet < split->cage->tet_count; tet++) {
        SnContent *content = split->contents + tet;
        int32_t kept = -1;
        int parted = 0;
        for (int32_t copy = split->first[tet]; copy < split->first[tet + 1]; copy++) {
            if (holding[sn_union_find_root(split->groups, copy)]) {
                parted = parted || (kept >= 0 && !sn_split_coincide(split, kept, copy));
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

SnStatus sn_split_find_copies(SnSplit *split, const SnEmbedding *embedding)
{
    SnStatus status = SN_OK;
    SnContext *context = split->context;
    uint8_t *holding = NULL;
    size_t tet_count = split->cage->tet_count, batch = SN_SPLIT_CHUNKS * TETS_PER_CHUNK;
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
        for (int i = 0; i < SN_SPLIT_CHUNKS; i++) {
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
