#include "method/edit/anchors.h"

#include "base/memory.h"
#include "math/vector.h"

#include <string.h>

#define BLOCKS 4         /* of shapes a handle */
#define SHELL_BLOCKS 10  /* ... on a shell, whose modes lie closer together */
#define CONTACT_BLOCKS 1 /* ... that acts in one direction */

static void anchor_clear(SnEditAnchor *anchor)
{
    sn_release(anchor->rows);
    *anchor = (SnEditAnchor){0};
}

void sn_edit_anchors_clear(SnEditAnchors *anchors)
{
    for (size_t k = 0; k < anchors->count; k++) {
        anchor_clear(anchors->all + k);
    }
    for (size_t k = 0; k < anchors->lever_count; k++) {
        sn_release(anchors->levers[k].values);
    }
    sn_release(anchors->all);
    sn_release(anchors->levers);
    sn_release(anchors->order);
    sn_release(anchors->ends);
    sn_release(anchors->p);
    sn_release(anchors->rows);
    sn_edit_basis_clear(&anchors->basis);
    sn_edit_pose_clear(&anchors->pose);
    *anchors = (SnEditAnchors){0};
}

SnStatus sn_edit_anchors_init(SnContext *context, SnEditBody *body, SnEditAnchors *anchors)
{
    SnStatus status = SN_OK;
    *anchors = (SnEditAnchors){.body = body};
    SN_TRY(sn_edit_pose_init(context, body, &anchors->pose));
    sn_edit_basis_init(body, &anchors->basis);
    SN_TRY_NEW(context, anchors->p, 3 * body->vertex_count, double);
    SN_TRY_NEW(context, anchors->rows, 3 * anchors->basis.width, double);
cleanup:
    if (status != SN_OK) {
        sn_edit_anchors_clear(anchors);
    }
    return status;
}

/* FNV-1a over words. */
static uint64_t hash(uint64_t key, size_t count, const double *values)
{
    for (size_t k = 0; k < count; k++) {
        uint64_t word;
        memcpy(&word, values + k, sizeof word);
        key = (key ^ word) * 1099511628211u;
        key ^= key >> 29;
    }
    return key;
}

size_t sn_edit_handle_rows(const SnEditHandle *handle)
{
    return sn_vector_dot(3, handle->direction, handle->direction) > 0.0 ? 1 : 3;
}

/* Of three rows those along the direction of a handle. */
static void choose_rows(const SnEditHandle *handle, size_t width, double *rows)
{
    if (sn_edit_handle_rows(handle) == 1) {
        for (size_t k = 0; k < width; k++) {
            rows[k] = handle->direction[0] * rows[k] + handle->direction[1] * rows[width + k] + handle->direction[2] * rows[2 * width + k];
        }
    }
}

/* The rows of a handle, into the anchors' scratch. */
static void find_rows(SnEditAnchors *anchors, const SnEditHandle *handle, const SnEditAnchor *anchor, const double *p)
{
    sn_edit_pose_set(&anchors->pose, handle->shown);
    sn_edit_pose_rows(&anchors->pose, p, anchor->patch_lever, anchors->rows);
    choose_rows(handle, anchors->basis.width, anchors->rows);
}

void sn_edit_anchors_linearise(SnEditAnchors *anchors, const SnEditHandle *handle, SnEditAnchor *anchor, const double *p)
{
    size_t width = anchors->basis.width;
    find_rows(anchors, handle, anchor, p);
    memcpy(anchor->rows, anchors->rows, sn_edit_handle_rows(handle) * width * sizeof *anchor->rows);
}

void sn_edit_anchors_place(SnEditAnchors *anchors, const SnEditHandle *handle, const SnEditAnchor *anchor, const double *p, double place[3])
{
    sn_edit_pose_set(&anchors->pose, handle->shown);
    sn_edit_pose_measure(&anchors->pose, p, anchor->point_lever, place);
    for (size_t v = 0; v < anchors->body->vertex_count; v++) {
        for (size_t a = 0; a < 3 && handle->point[v] != 0.0; a++) {
            place[a] += handle->point[v] * handle->shown[3 * v + a];
        }
    }
}

/* An array of `count` with room for one more; null where there is no memory for it, and it stays what it was. */
static void *with_room(SnContext *context, void *all, size_t size, size_t count, size_t *room)
{
    if (count < *room) {
        return all;
    }
    void *larger = sn_reallocate(context, all, 2 * *room + 8, size);
    *room = larger != NULL ? 2 * *room + 8 : *room;
    return larger;
}

/* The lever of a mean of places: the one that is there, or a new one. */
static SnStatus find_lever(SnContext *context, SnEditAnchors *anchors, const double *weights, const double **out)
{
    SnStatus status = SN_OK;
    SnEditLever made = {.key = hash(14695981039346656037u, anchors->body->vertex_count, weights)};
    for (size_t k = 0; k < anchors->lever_count; k++) {
        if (anchors->levers[k].key == made.key) {
            *out = anchors->levers[k].values;
            return SN_OK;
        }
    }
    SnEditLever *levers = with_room(context, anchors->levers, sizeof *levers, anchors->lever_count, &anchors->lever_room);
    if (levers == NULL) {
        return SN_OUT_OF_MEMORY;
    }
    anchors->levers = levers;
    SN_TRY_NEW(context, made.values, sn_edit_body_lever_size(anchors->body), double);
    SN_TRY(sn_edit_body_lever(context, anchors->body, weights, made.values));
    *out = made.values;
    anchors->levers[anchors->lever_count++] = made;
    made.values = NULL;
cleanup:
    sn_release(made.values);
    return status;
}

static SnStatus make_anchor(SnContext *context, SnEditAnchors *anchors, const SnEditHandle *handle, SnEditAnchor *anchor)
{
    SnStatus status = SN_OK;
    SN_TRY(find_lever(context, anchors, handle->patch, &anchor->patch_lever));
    SN_TRY(find_lever(context, anchors, handle->point, &anchor->point_lever));
    SN_TRY_NEW(context, anchor->rows, sn_edit_handle_rows(handle) * anchors->basis.width, double);
cleanup:
    return status;
}

/* The shapes of a handle join the basis. They are found anew where handles before it went: to keep them would double the memory. */
static SnStatus add_shapes(SnContext *context, SnEditAnchors *anchors, const SnEditHandle *handle, const SnEditAnchor *anchor)
{
    SnStatus status = SN_OK;
    SnEditChain chain = {0};
    size_t directions = sn_edit_handle_rows(handle);
    memset(anchors->p, 0, 3 * anchors->body->vertex_count * sizeof *anchors->p);
    find_rows(anchors, handle, anchor, anchors->p);
    int blocks = directions == 1 ? CONTACT_BLOCKS : anchors->body->corners == 3 ? SHELL_BLOCKS : BLOCKS;
    SN_TRY(sn_edit_chain_init(context, anchors->body, directions, anchors->rows, blocks, &chain));
    if (chain.count == 0) {
        status = sn_context_fail(context, SN_BAD_INPUT, "A handle is on a part that follows the animation exactly: free it, or pull elsewhere.");
        goto cleanup;
    }
    SN_TRY(sn_edit_basis_add(context, &anchors->basis, &chain));
cleanup:
    sn_edit_chain_clear(&chain);
    return status;
}

/* The anchor of a handle: the one that is there, or a new one. */
static SnStatus find_anchor(SnContext *context, SnEditAnchors *anchors, const SnEditHandle *handle, SnEditAnchor **out)
{
    SnStatus status = SN_OK;
    size_t vertices = anchors->body->vertex_count;
    uint64_t key = hash(hash(hash(14695981039346656037u, 3 * vertices, handle->shown), vertices, handle->patch), vertices, handle->point);
    key = hash(key, 3, handle->direction);
    SnEditAnchor made = {.key = key, .is_used = 1};
    *out = NULL;
    for (size_t k = 0; k < anchors->count; k++) {
        if (anchors->all[k].key == key) {
            *out = anchors->all + k;
            (*out)->is_used = 1;
            return SN_OK;
        }
    }
    SnEditAnchor *all = with_room(context, anchors->all, sizeof *all, anchors->count, &anchors->room);
    if (all == NULL) {
        return SN_OUT_OF_MEMORY;
    }
    anchors->all = all;
    SN_TRY(make_anchor(context, anchors, handle, &made));
    anchors->all[anchors->count] = made;
    *out = anchors->all + anchors->count++;
    made.rows = NULL;
cleanup:
    anchor_clear(&made);
    return status;
}

static void use_lever(SnEditAnchors *anchors, const double *values)
{
    for (size_t k = 0; k < anchors->lever_count; k++) {
        anchors->levers[k].is_used |= anchors->levers[k].values == values;
    }
}

/* Anchors that no handle of now needs go, and levers that none of them has. */
static void drop_unused(SnEditAnchors *anchors)
{
    size_t kept = 0, kept_levers = 0;
    for (size_t k = 0; k < anchors->count; k++) {
        if (anchors->all[k].is_used) {
            anchors->all[k].is_used = 0;
            use_lever(anchors, anchors->all[k].patch_lever);
            use_lever(anchors, anchors->all[k].point_lever);
            anchors->all[kept++] = anchors->all[k];
        } else {
            anchor_clear(anchors->all + k);
        }
    }
    anchors->count = kept;
    for (size_t k = 0; k < anchors->lever_count; k++) {
        if (anchors->levers[k].is_used) {
            anchors->levers[k].is_used = 0;
            anchors->levers[kept_levers++] = anchors->levers[k];
        } else {
            sn_release(anchors->levers[k].values);
        }
    }
    anchors->lever_count = kept_levers;
}

static SnEditAnchor *anchor_of(const SnEditAnchors *anchors, uint64_t key)
{
    for (size_t k = 0; k < anchors->count; k++) {
        if (anchors->all[k].key == key) {
            return anchors->all + k;
        }
    }
    return NULL;
}

SnEditAnchor *sn_edit_anchors_find(const SnEditAnchors *anchors, size_t h)
{
    return anchor_of(anchors, anchors->order[h]);
}

/* What the basis has of the first handles in the same order stays: the bits are those of a new one. */
SnStatus sn_edit_anchors_take(SnContext *context, SnEditAnchors *anchors, size_t count, const SnEditHandle *handles, size_t *kept)
{
    SnStatus status = SN_OK;
    uint64_t *order = NULL;
    size_t *ends = NULL, same = 0;
    SN_TRY_NEW(context, order, count, uint64_t);
    SN_TRY_NEW(context, ends, count, size_t);
    sn_context_stage(context, "Finding shapes", (long)count);
    for (size_t h = 0; h < count; h++) {
        SnEditAnchor *anchor;
        SN_TRY(find_anchor(context, anchors, handles + h, &anchor));
        order[h] = anchor->key;
    }
    drop_unused(anchors);
    while (same < count && same < anchors->order_count && order[same] == anchors->order[same]) {
        ends[same] = anchors->ends[same];
        same++;
    }
    *kept = same;
    int is_same = same == count && same == anchors->order_count;
    sn_edit_basis_cut(&anchors->basis, same > 0 ? ends[same - 1] : 0);
    anchors->order_count = 0;
    for (size_t h = same; h < count; h++) {
        SN_TRY(sn_context_advance(context, (long)h));
        SN_TRY(add_shapes(context, anchors, handles + h, anchor_of(anchors, order[h])));
        ends[h] = anchors->basis.count;
    }
    if (!is_same) {
        SN_TRY(sn_edit_basis_find_modes(context, &anchors->basis));
    }
    sn_release(anchors->order);
    sn_release(anchors->ends);
    anchors->order = order;
    anchors->ends = ends;
    anchors->order_count = count;
    order = NULL;
    ends = NULL;
cleanup:
    sn_release(order);
    sn_release(ends);
    return status;
}
