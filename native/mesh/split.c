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

   In order:  split_copies.c  what is in each tet (pieces.c), how many copies it needs, which of their corners are one;
                              tets that only bridge a gap between two parts are dropped
              bind_vertices   each vertex of the surface goes with the copy that holds its own piece
              join_loose      copies with too few of their kind to be a part of a body join what is beside them
              place_*         what carries a vertex, or hangs together with what does, is the new cage

   A copy has the place and the shape of the tet that it comes from, so angles, volumes and weights stay. */
#include "mesh/split_copies.h"

#include "base/memory.h"
#include "mesh/union_find.h"

#include <string.h>

#define LOOSE_COPIES 16 /* a group of copies this small is no part of a body: it goes with its neighbours */

/* The copy that holds a vertex of the surface: that of its own triangles, or of the flesh that a loose one lies in. */
static int find_copy_of_vertex(const SnSplit *split, int32_t vertex, const double point[3])
{
    const SnAround *around = split->here;
    for (size_t i = 0; i < around->pieces.triangle_count; i++) {
        const SnPiecesTriangle *at = around->pieces.triangles + i;
        const int32_t *vertices = split->shells->vertices + 3 * (size_t)at->triangle;
        if ((vertices[0] == vertex || vertices[1] == vertex || vertices[2] == vertex) && around->copies[at->piece] >= 0) {
            return around->copies[at->piece];
        }
    }
    int copy = sn_split_copy_inside(split, around, point);
    return copy < 0 ? sn_split_nearest_copy(split, around, point) : copy;
}

/* bound[i]: of the tet that holds vertex i, the copy whose piece it belongs to. */
static SnStatus bind_vertices(SnSplit *split, const double *positions, const SnEmbedding *embedding, int32_t *bound)
{
    SnStatus status = SN_OK;
    for (size_t i = 0; i < embedding->vertex_count; i++) {
        size_t tet = (size_t)embedding->tets[i];
        double point[3];
        bound[i] = split->first[tet];
        if (i % SN_SPLIT_PER_LOOK == 0) {
            SN_TRY(sn_context_advance(split->context, (long)(2 * split->cage->tet_count)));
        }
        if (split->contents[tet].copies == 1) {
            continue;
        }
        sn_lattice_from_world(split->lattice, positions + 3 * i, point);
        if (split->here->tet != tet) {
            SN_TRY(sn_split_around(split, tet, split->here));
        }
        bound[i] = split->first[tet] + find_copy_of_vertex(split, split->shells->welded[i], point);
    }
cleanup:
    return status;
}

/* Where the surface is finer than the pieces can tell, a few copies may be left with nobody: where they carry vertices,
   they join the nearest piece across one of their faces. bound: vertex_count copies. */
static SnStatus join_loose(SnSplit *split, size_t vertex_count, const int32_t *bound)
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
        if (tet % SN_SPLIT_PER_LOOK == 0) {
            SN_TRY(sn_context_look(split->context));
        }
        for (int32_t copy = split->first[tet]; copy < split->first[tet + 1]; copy++) {
            for (int i = 0; i < 4 && sizes[sn_union_find_root(split->groups, copy)] < LOOSE_COPIES; i++) {
                int32_t other = split->neighbours[4 * tet + (size_t)i], own = sn_union_find_root(split->groups, copy);
                if (other < 0 || split->contents[other].copies == 0) {
                    continue;
                }
                double middle[3];
                SN_TRY(sn_split_around(split, (size_t)other, split->there));
                sn_split_shape(split, tet, &split->here->shape);
                split->here->tet = SIZE_MAX;
                sn_split_middle(&split->here->shape, i, middle);
                int nearest = split->there->count > 1 ? sn_split_nearest_copy(split, split->there, middle) : 0;
                int32_t root = sn_union_find_root(split->groups, split->first[other] + nearest);
                if (root != own) {
                    int32_t together = sizes[root] + sizes[own];
                    sn_split_join(split, tet, copy - split->first[tet], (size_t)other, nearest);
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
static size_t place_copies(SnSplit *split, size_t vertex_count, const int32_t *bound, uint8_t *carrying, int32_t *places)
{
    size_t tet_count = split->cage->tet_count, placed = 0;
    for (size_t i = 0; i < vertex_count; i++) {
        carrying[sn_union_find_root(split->groups, bound[i])] = 1;
    }
    for (size_t tet = 0; tet < tet_count; tet++) {
        for (int32_t copy = split->first[tet]; copy < split->first[tet + 1]; copy++) {
            places[copy] = carrying[sn_union_find_root(split->groups, copy)] ? -2 : -1;
            for (int32_t earlier = split->first[tet]; earlier < copy && places[copy] == -2; earlier++) {
                if (sn_split_coincide(split, copy, earlier)) {
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
static size_t place_vertices(SnSplit *split, const int32_t *places, int32_t *vertices, int32_t *keepers)
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

static void fill_mesh(SnSplit *split, const int32_t *places, const int32_t *vertices, SnTetMesh *mesh)
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

SnStatus sn_split_apply(SnContext *context, const SnShells *shells, const SnLattice *lattice, const double *positions,
                        double margin, SnTetMesh *cage, SnEmbedding *embedding)
{
    SnStatus status = SN_OK;
    SnSplit split = {.context = context, .shells = shells, .lattice = lattice, .cage = cage,
                   .margin = margin};
    SnTetMesh mesh = {0};
    uint8_t *carrying = NULL;
    int32_t *places = NULL, *vertices = NULL, *keepers = NULL, *bound = NULL;
    if (shells->triangle_count == 0) {
        return SN_OK;
    }
    SN_TRY(sn_split_init(&split));
    SN_TRY(sn_split_find_copies(&split, embedding));
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
    sn_split_clear(&split);
    sn_release(carrying);
    sn_release(places);
    sn_release(vertices);
    sn_release(keepers);
    sn_release(bound);
    return status;
}
