#include "mesh/patches.h"

#include "base/memory.h"
#include "mesh/sides.h"

#include <stdlib.h>

typedef struct Place {
    double x[3];
    int32_t vertex;
} Place;

static int compare_places(const void *left, const void *right)
{
    const Place *a = left, *b = right;
    for (int axis = 0; axis < 3; axis++) {
        if (a->x[axis] < b->x[axis] || a->x[axis] > b->x[axis]) {
            return a->x[axis] < b->x[axis] ? -1 : 1;
        }
    }
    return (a->vertex > b->vertex) - (a->vertex < b->vertex);
}

/* welded[i]: the lowest vertex at the place of vertex i, where both are at an open border; else i itself. */
static SnStatus weld_vertices(SnContext *context, const SnTriMesh *mesh, const uint8_t *border, int32_t *welded)
{
    SnStatus status = SN_OK;
    Place *places = NULL;
    size_t count = 0;
    SN_TRY_NEW(context, places, mesh->vertex_count, Place);
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        welded[i] = (int32_t)i;
        if (!border[i]) {
            continue;
        }
        for (size_t axis = 0; axis < 3; axis++) {
            places[count].x[axis] = mesh->positions[3 * i + axis];
        }
        places[count++].vertex = (int32_t)i;
    }
    qsort(places, count, sizeof *places, compare_places);
    for (size_t i = 0, first = 0; i < count; i++) {
        for (int axis = 0; axis < 3; axis++) {
            if (places[i].x[axis] > places[first].x[axis] || places[i].x[axis] < places[first].x[axis]) {
                first = i;
            }
        }
        welded[places[i].vertex] = places[first].vertex;
    }
cleanup:
    sn_release(places);
    return status;
}

typedef struct Topology {
    const SnTriMesh *mesh;
    int32_t *welded;  /* per vertex */
    int32_t *twins;   /* per triangle and edge: the slot across; -1: none or several; -2: of a collapsed triangle */
    int32_t *patches; /* per triangle: its patch, -1 before it is known */
    uint8_t *flipped; /* per triangle */
    uint8_t *border;  /* per vertex: at an edge with one triangle, or several */
    int32_t *queue;   /* triangles in order of discovery, patch by patch */
} Topology;

static void slot_ends(const Topology *topology, size_t slot, int32_t *from, int32_t *to)
{
    const int32_t *corners = topology->mesh->triangles + 3 * (slot / 3);
    *from = topology->welded[corners[slot % 3]];
    *to = topology->welded[corners[(slot + 1) % 3]];
}

/* Edges are those of welded vertices, their slots 3 * triangle + edge of the triangle. */
static SnStatus find_twins(SnContext *context, Topology *topology)
{
    SnStatus status = SN_OK;
    SnSide *edges = NULL;
    size_t slot_count = 3 * topology->mesh->triangle_count, edge_count = 0;
    SN_TRY_NEW(context, edges, slot_count, SnSide);
    for (size_t triangle = 0; triangle < topology->mesh->triangle_count; triangle++) {
        int32_t from[3], to[3];
        for (size_t i = 0; i < 3; i++) {
            slot_ends(topology, 3 * triangle + i, from + i, to + i);
        }
        int collapsed = from[0] == to[0] || from[1] == to[1] || from[2] == to[2];
        for (size_t i = 0; i < 3; i++) {
            size_t slot = 3 * triangle + i;
            topology->twins[slot] = collapsed ? -2 : -1;
            if (!collapsed) {
                edges[edge_count++] = sn_side(from[i], to[i], slot);
            }
        }
    }
    sn_sides_sort(edge_count, edges);
    for (size_t begin = 0, end; begin < edge_count; begin = end) {
        for (end = begin + 1; end < edge_count && sn_sides_are_one(edges + begin, edges + end);) {
            end++;
        }
        if (end - begin == 2) {
            topology->twins[edges[begin].slot] = edges[begin + 1].slot;
            topology->twins[edges[begin + 1].slot] = edges[begin].slot;
        } else {
            topology->border[edges[begin].low] = topology->border[edges[begin].high] = 1;
        }
    }
cleanup:
    sn_release(edges);
    return status;
}

/* Collects the patch of the triangle at queue[begin], turning neighbours to agree; returns the end of its part of the
   queue and whether it can be oriented and has an open border. */
static size_t grow_patch(Topology *topology, size_t begin, int32_t patch, int *oriented, int *open)
{
    size_t end = begin + 1;
    *oriented = 1;
    *open = 0;
    topology->patches[topology->queue[begin]] = patch;
    for (size_t next = begin; next < end; next++) {
        size_t triangle = (size_t)topology->queue[next];
        for (size_t slot = 3 * triangle; slot < 3 * triangle + 3; slot++) {
            if (topology->twins[slot] < 0) {
                *open = 1;
                continue;
            }
            size_t twin = (size_t)topology->twins[slot], neighbour = twin / 3;
            int32_t from, to, twin_from, twin_to;
            slot_ends(topology, slot, &from, &to);
            slot_ends(topology, twin, &twin_from, &twin_to);
            uint8_t flip = (uint8_t)(topology->flipped[triangle] ^ (from == twin_from));
            if (topology->patches[neighbour] < 0) {
                topology->patches[neighbour] = patch;
                topology->flipped[neighbour] = flip;
                topology->queue[end++] = (int32_t)neighbour;
            } else if (topology->flipped[neighbour] != flip) {
                *oriented = 0;
            }
        }
    }
    return end;
}

static void keep_patch(const Topology *topology, size_t begin, size_t end, SnPatchKind kind, SnPatches *patches)
{
    patches->kinds[patches->patch_count] = (uint8_t)kind;
    for (size_t i = begin; i < end; i++) {
        size_t triangle = (size_t)topology->queue[i];
        const int32_t *corners = topology->mesh->triangles + 3 * triangle;
        int32_t *out = patches->triangles + 3 * patches->triangle_count;
        patches->sources[patches->triangle_count++] = (int32_t)triangle;
        out[0] = corners[0];
        out[1] = corners[topology->flipped[triangle] ? 2 : 1];
        out[2] = corners[topology->flipped[triangle] ? 1 : 2];
    }
    patches->starts[++patches->patch_count] = (int32_t)patches->triangle_count;
}

SnStatus sn_patches_build(SnContext *context, const SnTriMesh *mesh, SnPatches *patches)
{
    SnStatus status = SN_OK;
    Topology topology = {.mesh = mesh};
    size_t triangle_count = mesh->triangle_count, end = 0;
    *patches = (SnPatches){0};
    SN_TRY_NEW(context, patches->welded, mesh->vertex_count, int32_t);
    SN_TRY_NEW(context, topology.border, mesh->vertex_count, uint8_t);
    SN_TRY_NEW(context, topology.twins, 3 * triangle_count, int32_t);
    SN_TRY_NEW(context, topology.patches, triangle_count, int32_t);
    SN_TRY_NEW(context, topology.flipped, triangle_count, uint8_t);
    SN_TRY_NEW(context, topology.queue, triangle_count, int32_t);
    SN_TRY_NEW(context, patches->starts, triangle_count + 1, int32_t);
    SN_TRY_NEW(context, patches->kinds, triangle_count, uint8_t);
    SN_TRY_NEW(context, patches->triangles, 3 * triangle_count, int32_t);
    SN_TRY_NEW(context, patches->sources, triangle_count, int32_t);
    topology.welded = patches->welded;
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        topology.welded[i] = (int32_t)i;
    }
    SN_TRY(sn_context_look(context));
    SN_TRY(find_twins(context, &topology)); /* for the borders */
    SN_TRY(sn_context_look(context));
    SN_TRY(weld_vertices(context, mesh, topology.border, topology.welded));
    SN_TRY(find_twins(context, &topology));
    SN_TRY(sn_context_look(context));
    for (size_t i = 0; i < triangle_count; i++) {
        topology.patches[i] = -1;
    }
    for (size_t i = 0; i < triangle_count; i++) {
        if (topology.patches[i] < 0 && topology.twins[3 * i] != -2) {
            size_t begin = end;
            int oriented, open;
            topology.queue[begin] = (int32_t)i;
            end = grow_patch(&topology, begin, (int32_t)patches->patch_count, &oriented, &open);
            SnPatchKind kind = !oriented ? SN_PATCH_ONE_SIDED : (open ? SN_PATCH_OPEN : SN_PATCH_CLOSED);
            keep_patch(&topology, begin, end, kind, patches);
        }
    }
cleanup:
    sn_release(topology.border);
    sn_release(topology.twins);
    sn_release(topology.patches);
    sn_release(topology.flipped);
    sn_release(topology.queue);
    if (status != SN_OK) {
        sn_patches_clear(patches);
    }
    return status;
}

void sn_patches_clear(SnPatches *patches)
{
    sn_release(patches->starts);
    sn_release(patches->kinds);
    sn_release(patches->triangles);
    sn_release(patches->sources);
    sn_release(patches->welded);
    *patches = (SnPatches){0};
}
