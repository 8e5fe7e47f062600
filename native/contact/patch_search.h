/* Which triangles of some patches have boxes that meet: the search of contact/candidates.h, which looks only into patches that may touch. */
#ifndef SN_CONTACT_PATCH_SEARCH_H
#define SN_CONTACT_PATCH_SEARCH_H

#include "contact/surface_patches.h"

typedef struct SnTrianglePair {
    int32_t first, second; /* first < second */
} SnTrianglePair;

/* Kept from one search to the next: what it has grown to serves again. A zeroed one is empty. */
typedef struct SnPatchSearch {
    size_t count;
    size_t *starts;  /* triangles + 1; owned, as the rest */
    int32_t *others; /* count: those that triangle t < others[i] meets are at starts[t]..starts[t + 1] - 1, ascending */
    /* inside */
    size_t start_capacity, other_capacity, pair_capacity, sorted_capacity, column_capacity, task_capacity, box_capacity;
    SnTrianglePair *pairs;
    int32_t *sorted;
    size_t *columns;
    size_t *tasks;       /* patch pairs + 1: where each writes */
    double *block_boxes; /* of a few triangles each, x 6 */
} SnPatchSearch;

/* `boxes` (triangles x 6, low and high); `list`: which patches, x 2. The order of the answer does not depend on that of the list. */
SnStatus sn_patch_search(SnContext *context, const SnSurfacePatches *patches, const double *boxes, size_t list_count,
                         const int32_t (*list)[2], SnPatchSearch *search);
void sn_patch_search_clear(SnPatchSearch *search);

#endif
