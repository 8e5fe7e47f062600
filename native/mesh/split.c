#include "mesh/split.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "mesh/geometry.h"
#include "mesh/region.h"

#include <string.h>

#define MOST_COPIES 12      /* of one tet; further pieces share the last copy */
#define TOUCH 0.9           /* voxels: the body's voxel at a surface vertex is nearer than this to the vertex's tet */
#define TETS_PER_CHUNK 64
#define CHUNKS_PER_BATCH 64 /* between two looks at the cancel flag */

/* What the body does in one tet. */
typedef struct Content {
    uint8_t copies;  /* 0: the tet lies between several pieces and holds nothing, so nobody needs it */
    uint8_t pieces;  /* of the body around the tet; 0: the tet is bare */
    uint8_t touched; /* its copies hold pieces that reach into the tet; else they are only near it */
    uint8_t bound;   /* carries a vertex of the surface */
    int32_t voxel[3]; /* one voxel of the first copy's piece */
} Content;

/* The pieces of one tet's copies. */
typedef struct Pieces {
    size_t tet;
    SnRegionTet shape;
    int count;
    SnRegion regions[MOST_COPIES];
} Pieces;

typedef struct Split {
    SnContext *context;
    const SnVoxels *voxels;
    const SnLattice *lattice;
    const SnTetMesh *cage;
    double margin;       /* voxels */
    Content *contents;   /* per tet */
    int32_t *first;      /* tet_count + 1: first copy of each tet */
    int32_t *neighbours; /* tet_count x 4 */
    int32_t *corners;    /* copy_count x 4, union-find: corners that are one vertex */
    int32_t *groups;     /* copy_count, union-find: copies connected through faces */
    Pieces *here, *there;
    size_t batch_start;
} Split;

static int32_t find_root(int32_t *parents, int32_t item)
{
    while (parents[item] != item) {
        parents[item] = parents[parents[item]];
        item = parents[item];
    }
    return item;
}

/* The smaller one becomes the root. */
static void unite(int32_t *parents, int32_t a, int32_t b)
{
    a = find_root(parents, a);
    b = find_root(parents, b);
    parents[a > b ? a : b] = a > b ? b : a;
}

static void tet_shape(const Split *split, size_t tet, SnRegionTet *shape)
{
    double corners[4][3];
    for (size_t i = 0; i < 4; i++) {
        sn_lattice_from_world(split->lattice, split->cage->positions + 3 * (size_t)split->cage->tets[4 * tet + i], corners[i]);
    }
    sn_region_tet_init(split->voxels, corners, shape);
}

static void content_find(const Split *split, size_t tet, SnRegion *region, SnRegion *piece)
{
    Content *content = split->contents + tet;
    SnRegionTet shape;
    int pieces = 0, touching = 0;
    tet_shape(split, tet, &shape);
    if (sn_region_is_solid(split->voxels, &shape, split->margin)) {
        content->copies = content->pieces = content->touched = 1;
        for (int axis = 0; axis < 3; axis++) {
            content->voxel[axis] = (int32_t)shape.corners[0][axis];
        }
        return;
    }
    sn_region_init(split->voxels, &shape, split->margin, region);
    while (sn_region_take(region, piece)) {
        int32_t voxel[3];
        int touches = sn_region_touches(piece, &shape, TOUCH, voxel);
        if (touches && touching++ == 0) {
            memcpy(content->voxel, voxel, sizeof voxel);
        } else if (!touches && pieces == 0) {
            (void)sn_region_touches(piece, &shape, split->margin, content->voxel);
        }
        pieces++;
    }
    int copies = touching > 0 ? touching : pieces;
    content->pieces = (uint8_t)(pieces < MOST_COPIES ? pieces : MOST_COPIES);
    content->touched = touching > 0;
    content->copies = (uint8_t)(copies < 1 ? 1 : (copies < MOST_COPIES ? copies : MOST_COPIES));
}

static void find_contents(void *data, size_t chunk, size_t begin, size_t end)
{
    const Split *split = data;
    SnRegion region, piece;
    (void)chunk;
    for (size_t tet = split->batch_start + begin; tet < split->batch_start + end; tet++) {
        content_find(split, tet, &region, &piece);
    }
}

/* The pieces of a tet's copies, in the order of the copies. */
static void pieces_find(const Split *split, size_t tet, SnRegion *region, Pieces *pieces)
{
    const Content *content = split->contents + tet;
    SnRegion piece;
    tet_shape(split, tet, &pieces->shape);
    pieces->tet = tet;
    pieces->count = 0;
    sn_region_init(split->voxels, &pieces->shape, split->margin, region);
    while (sn_region_take(region, &piece)) {
        int32_t voxel[3];
        if (content->touched && !sn_region_touches(&piece, &pieces->shape, TOUCH, voxel)) {
            continue;
        }
        if (pieces->count < MOST_COPIES) {
            pieces->regions[pieces->count++] = piece;
        } else {
            sn_region_join(&pieces->regions[MOST_COPIES - 1], &piece);
        }
    }
}

static void copies_join(Split *split, size_t tet, int copy, size_t other, int other_copy)
{
    const int32_t *a = split->cage->tets + 4 * tet, *b = split->cage->tets + 4 * other;
    int32_t at = split->first[tet] + copy, other_at = split->first[other] + other_copy;
    unite(split->groups, at, other_at);
    for (int32_t i = 0; i < 4; i++) {
        for (int32_t j = 0; j < 4; j++) {
            if (a[i] == b[j]) {
                unite(split->corners, 4 * at + i, 4 * other_at + j);
            }
        }
    }
}

/* Most tets hold one piece: then a voxel of one that lies around the other too proves that they are the same. */
static int is_plainly_joined(const Split *split, size_t tet, size_t other)
{
    const Content *a = split->contents + tet, *b = split->contents + other;
    SnRegionTet shape;
    if (a->pieces != 1 || b->pieces != 1) {
        return 0;
    }
    tet_shape(split, tet, &shape);
    if (sn_region_holds(&shape, split->margin, b->voxel)) {
        return 1;
    }
    tet_shape(split, other, &shape);
    return sn_region_holds(&shape, split->margin, a->voxel);
}

static void tets_join(Split *split, size_t tet, size_t other, SnRegion *region)
{
    /* A bare tet has nothing to be told apart by: it goes with what is beside it. */
    if (split->contents[tet].pieces == 0 || split->contents[other].pieces == 0 || is_plainly_joined(split, tet, other)) {
        copies_join(split, tet, 0, other, 0);
        return;
    }
    if (split->here->tet != tet) {
        pieces_find(split, tet, region, split->here);
    }
    pieces_find(split, other, region, split->there);
    for (int i = 0; i < split->here->count; i++) {
        for (int j = 0; j < split->there->count; j++) {
            if (sn_region_meets(&split->here->regions[i], &split->there->regions[j])) {
                copies_join(split, tet, i, other, j);
            }
        }
    }
}

/* Gives every copy its corners and joins those that are one. */
static SnStatus split_connect(Split *split)
{
    SnStatus status = SN_OK;
    size_t tet_count = split->cage->tet_count;
    SnRegion region;
    for (size_t tet = 0; tet < tet_count; tet++) {
        split->first[tet + 1] = split->first[tet] + split->contents[tet].copies;
    }
    for (int32_t i = 0; i < 4 * split->first[tet_count]; i++) {
        split->corners[i] = i;
        split->groups[i / 4] = i / 4;
    }
    split->here->tet = tet_count;
    for (size_t tet = 0; tet < tet_count; tet++) {
        if (tet % 1024 == 0) {
            SN_TRY(sn_context_advance(split->context, (long)(tet_count + tet)));
        }
        for (size_t i = 0; i < 4; i++) {
            int32_t other = split->neighbours[4 * tet + i];
            if (other > (int32_t)tet && split->contents[tet].copies > 0 && split->contents[other].copies > 0) {
                tets_join(split, tet, (size_t)other, &region);
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
        same += find_root(split->corners, 4 * a + i) == find_root(split->corners, 4 * b + i);
    }
    return same == 4;
}

/* Between two parts an empty tet would only hang from one of them as a loose flap: it goes. Returns how many went.
   holding: a zeroed byte for each copy, to mark the groups that hold some of the body. */
static size_t flaps_drop(Split *split, uint8_t *holding)
{
    size_t dropped = 0;
    for (size_t tet = 0; tet < split->cage->tet_count; tet++) {
        for (int32_t copy = split->first[tet]; copy < split->first[tet + 1]; copy++) {
            holding[find_root(split->groups, copy)] |= split->contents[tet].touched;
        }
    }
    for (size_t tet = 0; tet < split->cage->tet_count; tet++) {
        Content *content = split->contents + tet;
        int32_t kept = -1;
        int parted = 0;
        for (int32_t copy = split->first[tet]; copy < split->first[tet + 1]; copy++) {
            if (holding[find_root(split->groups, copy)]) {
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

static SnStatus split_find(Split *split, const SnEmbedding *embedding)
{
    SnStatus status = SN_OK;
    SnContext *context = split->context;
    uint8_t *holding = NULL;
    size_t tet_count = split->cage->tet_count, batch = CHUNKS_PER_BATCH * TETS_PER_CHUNK;
    SN_TRY_NEW(context, split->contents, tet_count, Content);
    SN_TRY_NEW(context, split->first, tet_count + 1, int32_t);
    SN_TRY_NEW(context, split->neighbours, 4 * tet_count, int32_t);
    SN_TRY_NEW(context, split->here, 1, Pieces);
    SN_TRY_NEW(context, split->there, 1, Pieces);
    SN_TRY(sn_tet_mesh_neighbours(context, split->cage, split->neighbours));
    for (size_t i = 0; i < embedding->vertex_count; i++) {
        split->contents[embedding->tets[i]].bound = 1;
    }
    sn_context_stage(context, "Parting what only lies near", (long)(2 * tet_count));
    for (; split->batch_start < tet_count; split->batch_start += batch) {
        size_t left = tet_count - split->batch_start;
        SN_TRY(sn_context_advance(context, (long)split->batch_start));
        sn_parallel_for(left < batch ? left : batch, TETS_PER_CHUNK, find_contents, split);
    }
    size_t copy_count = 0;
    for (size_t tet = 0; tet < tet_count; tet++) {
        copy_count += split->contents[tet].copies;
    }
    SN_TRY_NEW(context, split->corners, 4 * copy_count, int32_t);
    SN_TRY_NEW(context, split->groups, copy_count, int32_t);
    SN_TRY_NEW(context, holding, copy_count, uint8_t);
    SN_TRY(split_connect(split));
    if (flaps_drop(split, holding) > 0) {
        SN_TRY(split_connect(split));
    }
cleanup:
    sn_release(holding);
    return status;
}

/* bound[i]: of the tet that holds vertex i, the copy whose piece is nearest to it. */
static SnStatus vertices_bind(Split *split, const double *positions, const SnEmbedding *embedding, int32_t *bound)
{
    SnStatus status = SN_OK;
    SnRegion region;
    for (size_t i = 0; i < embedding->vertex_count; i++) {
        size_t tet = (size_t)embedding->tets[i];
        double nearest = INFINITY, point[3];
        bound[i] = split->first[tet];
        if (i % 1024 == 0) {
            SN_TRY(sn_context_advance(split->context, (long)(2 * split->cage->tet_count)));
        }
        if (split->contents[tet].copies == 1) {
            continue;
        }
        sn_lattice_from_world(split->lattice, positions + 3 * i, point);
        if (split->here->tet != tet) {
            pieces_find(split, tet, &region, split->here);
        }
        for (int32_t copy = 0; copy < split->here->count; copy++) {
            double distance = sn_region_distance_squared(split->voxels, &split->here->regions[copy], point);
            if (distance < nearest) {
                nearest = distance;
                bound[i] = split->first[tet] + copy;
            }
        }
    }
cleanup:
    return status;
}

/* Marks the copies that stay: those of a group that carries a vertex, and of two copies with the same four vertices the
   first. bound: vertex_count copies. places[copy]: its tet in the new cage; -1: gone. */
static size_t copies_place(Split *split, size_t vertex_count, const int32_t *bound, uint8_t *carrying, int32_t *places)
{
    size_t tet_count = split->cage->tet_count, placed = 0;
    for (size_t i = 0; i < vertex_count; i++) {
        carrying[find_root(split->groups, bound[i])] = 1;
    }
    for (size_t tet = 0; tet < tet_count; tet++) {
        for (int32_t copy = split->first[tet]; copy < split->first[tet + 1]; copy++) {
            places[copy] = carrying[find_root(split->groups, copy)] ? -2 : -1;
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
static size_t vertices_place(Split *split, const int32_t *places, int32_t *vertices, int32_t *keepers)
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
                *keeper = find_root(split->corners, slot);
            }
        }
    }
    for (size_t vertex = 0; vertex < cage->vertex_count; vertex++) {
        if (keepers[vertex] >= 0) {
            vertices[keepers[vertex]] = (int32_t)count++;
        }
    }
    for (int32_t slot = 0; slot < 4 * split->first[cage->tet_count]; slot++) {
        int32_t root = find_root(split->corners, slot);
        if (places[slot / 4] >= 0 && vertices[root] < 0) {
            vertices[root] = (int32_t)count++;
        }
    }
    return count;
}

static void mesh_fill(Split *split, const int32_t *places, const int32_t *vertices, SnTetMesh *mesh)
{
    const SnTetMesh *cage = split->cage;
    for (size_t tet = 0; tet < cage->tet_count; tet++) {
        for (int32_t slot = 4 * split->first[tet]; slot < 4 * split->first[tet + 1]; slot++) {
            if (places[slot / 4] >= 0) {
                int32_t vertex = vertices[find_root(split->corners, slot)], old = cage->tets[4 * tet + (size_t)slot % 4];
                mesh->tets[4 * places[slot / 4] + slot % 4] = vertex;
                memcpy(mesh->positions + 3 * (size_t)vertex, cage->positions + 3 * (size_t)old, 3 * sizeof(double));
            }
        }
    }
}

SnStatus sn_split_apply(SnContext *context, const SnVoxels *voxels, const SnLattice *lattice, const double *positions,
                        double margin, SnTetMesh *cage, SnEmbedding *embedding)
{
    SnStatus status = SN_OK;
    Split split = {.context = context, .voxels = voxels, .lattice = lattice, .cage = cage,
                   .margin = margin * voxels->factor + 1.0};
    SnTetMesh mesh = {0};
    uint8_t *carrying = NULL;
    int32_t *places = NULL, *vertices = NULL, *keepers = NULL, *bound = NULL;
    if (voxels->factor == 0) {
        return SN_OK;
    }
    SN_TRY(split_find(&split, embedding));
    size_t copy_count = (size_t)split.first[cage->tet_count];
    SN_TRY_NEW(context, carrying, copy_count, uint8_t);
    SN_TRY_NEW(context, places, copy_count, int32_t);
    SN_TRY_NEW(context, vertices, 4 * copy_count, int32_t);
    SN_TRY_NEW(context, keepers, cage->vertex_count, int32_t);
    SN_TRY_NEW(context, bound, embedding->vertex_count, int32_t);
    SN_TRY(vertices_bind(&split, positions, embedding, bound));
    size_t tet_count = copies_place(&split, embedding->vertex_count, bound, carrying, places);
    size_t vertex_count = vertices_place(&split, places, vertices, keepers);
    SN_TRY(sn_tet_mesh_init(context, vertex_count, tet_count, &mesh));
    mesh_fill(&split, places, vertices, &mesh);
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
    sn_release(split.here);
    sn_release(split.there);
    sn_release(carrying);
    sn_release(places);
    sn_release(vertices);
    sn_release(keepers);
    sn_release(bound);
    return status;
}
