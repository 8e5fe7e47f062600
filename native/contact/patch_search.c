#include "contact/patch_search.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "math/counting.h"
#include "mesh/geometry.h"

#include <string.h>

#define BLOCK 8 /* triangles, which lie side by side in a patch */
#define PATCHES_PER_CHUNK 8
#define PAIRS_PER_CHUNK 8

typedef struct Question {
    const SnSurfacePatches *patches;
    const double *boxes;
    const int32_t (*list)[2];
    SnPatchSearch *search;
    int fills; /* pairs are written, not only counted */
} Question;

static size_t first_block(const SnPatch *patch, size_t number)
{
    return patch->first_triangle / BLOCK + number; /* no patch has more than one that is not full */
}

static void unite(const double box[6], int is_first, double out[6])
{
    for (int axis = 0; axis < 3; axis++) {
        out[axis] = is_first ? box[axis] : sn_least(out[axis], box[axis]);
        out[3 + axis] = is_first ? box[3 + axis] : sn_largest(out[3 + axis], box[3 + axis]);
    }
}

static void bound_blocks(void *data, size_t chunk, size_t begin, size_t end)
{
    const Question *question = data;
    (void)chunk;
    for (size_t p = begin; p < end; p++) {
        const SnPatch *patch = question->patches->patches + p;
        for (size_t i = 0; i < patch->triangle_count; i++) {
            const double *box = question->boxes + 6 * (size_t)question->patches->triangles[patch->first_triangle + i];
            unite(box, i % BLOCK == 0, question->search->block_boxes + 6 * (first_block(patch, p) + i / BLOCK));
        }
    }
}

static int boxes_meet(const double a[6], const double b[6])
{
    return (a[0] <= b[3]) & (a[1] <= b[4]) & (a[2] <= b[5]) & (b[0] <= a[3]) & (b[1] <= a[4]) & (b[2] <= a[5]);
}

/* The pairs of two patches: returns how many. */
static size_t meet_patches(const Question *question, size_t one, size_t two, SnTrianglePair *out)
{
    const SnSurfacePatches *patches = question->patches;
    const SnPatch *a = patches->patches + one, *b = patches->patches + two;
    const int32_t *own = patches->triangles + a->first_triangle, *other = patches->triangles + b->first_triangle;
    const double *blocks = question->search->block_boxes + 6 * first_block(b, two);
    size_t block_count = (b->triangle_count + BLOCK - 1) / BLOCK, count = 0;
    double all[6];
    for (size_t k = 0; k < block_count; k++) {
        unite(blocks + 6 * k, k == 0, all);
    }
    for (size_t i = 0; i < a->triangle_count; i++) {
        const double *box = question->boxes + 6 * (size_t)own[i];
        for (size_t k = one == two ? i / BLOCK : 0; k < block_count && boxes_meet(box, all); k++) {
            if (!boxes_meet(box, blocks + 6 * k)) {
                continue;
            }
            size_t end = k * BLOCK + BLOCK < b->triangle_count ? k * BLOCK + BLOCK : b->triangle_count;
            for (size_t j = one == two && k * BLOCK <= i ? i + 1 : k * BLOCK; j < end; j++) {
                if (boxes_meet(box, question->boxes + 6 * (size_t)other[j])) {
                    if (question->fills) {
                        int turned = own[i] > other[j];
                        out[count] = (SnTrianglePair){turned ? other[j] : own[i], turned ? own[i] : other[j]};
                    }
                    count++;
                }
            }
        }
    }
    return count;
}

static void run_tasks(void *data, size_t chunk, size_t begin, size_t end)
{
    const Question *question = data;
    SnPatchSearch *search = question->search;
    (void)chunk;
    for (size_t k = begin; k < end; k++) {
        SnTrianglePair *out = question->fills ? search->pairs + search->tasks[k] : NULL;
        size_t count = meet_patches(question, (size_t)question->list[k][0], (size_t)question->list[k][1], out);
        if (!question->fills) {
            search->tasks[k + 1] = count;
        }
    }
}

/* Sorts by the second triangle, and then by the first, which keeps the second ones in order. */
static void sort_pairs(size_t triangles, SnPatchSearch *search)
{
    memset(search->starts, 0, (triangles + 1) * sizeof *search->starts);
    memset(search->columns, 0, (triangles + 1) * sizeof *search->columns);
    for (size_t i = 0; i < search->count; i++) {
        search->starts[search->pairs[i].first + 1]++;
        search->columns[search->pairs[i].second + 1]++;
    }
    sn_starts_of_counts(triangles, search->starts);
    sn_starts_of_counts(triangles, search->columns);
    for (size_t i = 0; i < search->count; i++) {
        search->sorted[search->columns[search->pairs[i].second + 1]++] = search->pairs[i].first;
    }
    for (size_t other = 0; other < triangles; other++) {
        for (size_t i = search->columns[other]; i < search->columns[other + 1]; i++) {
            search->others[search->starts[search->sorted[i] + 1]++] = (int32_t)other;
        }
    }
}

SnStatus sn_patch_search(SnContext *context, const SnSurfacePatches *patches, const double *boxes, size_t list_count,
                         const int32_t (*list)[2], SnPatchSearch *search)
{
    SnStatus status = SN_OK;
    size_t triangles = patches->surface->triangle_count;
    Question question = {patches, boxes, list, search, 0};
    SN_TRY_ROOM(context, search->starts, triangles + 1, search->start_capacity);
    SN_TRY_ROOM(context, search->columns, triangles + 1, search->column_capacity);
    SN_TRY_ROOM(context, search->tasks, list_count + 1, search->task_capacity);
    SN_TRY_ROOM(context, search->block_boxes, 6 * (triangles / BLOCK + patches->count + 1), search->box_capacity);
    sn_parallel_for(patches->count, PATCHES_PER_CHUNK, bound_blocks, &question);
    sn_parallel_for(list_count, PAIRS_PER_CHUNK, run_tasks, &question);
    search->tasks[0] = 0;
    for (size_t k = 0; k < list_count; k++) {
        search->tasks[k + 1] += search->tasks[k];
    }
    search->count = search->tasks[list_count];
    SN_TRY_ROOM(context, search->pairs, search->count, search->pair_capacity);
    SN_TRY_ROOM(context, search->sorted, search->count, search->sorted_capacity);
    SN_TRY_ROOM(context, search->others, search->count, search->other_capacity);
    question.fills = 1;
    sn_parallel_for(list_count, PAIRS_PER_CHUNK, run_tasks, &question);
    sort_pairs(triangles, search);
cleanup:
    search->count = status == SN_OK ? search->count : 0;
    return status;
}

void sn_patch_search_clear(SnPatchSearch *search)
{
    void *const blocks[] = {search->starts, search->others, search->pairs, search->sorted, search->columns, search->tasks, search->block_boxes};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        sn_release(blocks[i]);
    }
    *search = (SnPatchSearch){0};
}
