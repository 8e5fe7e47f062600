/* From every triangle of every shell but the largest: the nearest larger shells, and which of these places are holds. */
#include "mesh/shell_holds.h"

#include "base/memory.h"
#include "mesh/geometry.h"

#include <stdlib.h>
#include <string.h>

#define SPACING 0.5      /* cells between places where a shell looks for others */
#define MOST_STEPS 8     /* such places along the edge of one triangle */
#define TOUCH 0.15       /* cells: nearer shells touch */
#define HOLD 0.4         /* cells: a shell holds on to one that it touches where it is nearer than this */
#define HOLD_BEYOND 0.25 /* cells: one that touches nothing holds on where it is nearest, and this much farther */
#define PER_LOOK 1024    /* triangles between two looks at the cancel flag */

/* What one place of a shell finds: the nearest triangle of a larger one. */
typedef struct Find {
    int32_t triangle, other;
    double distance;
    int inside;
    double point[3];
} Find;

typedef struct Search {
    SnContext *context;
    const SnShells *shells;
    const int32_t *ranks; /* per shell: 0 is the largest */
    int32_t rank;
    double reach;
    Find *finds;
    size_t count, capacity;
} Search;

static double larger_distance(const void *data, int32_t item, const double point[3])
{
    const Search *search = data;
    const SnShells *shells = search->shells;
    if (search->ranks[shells->labels[item]] >= search->rank) {
        return INFINITY;
    }
    const double *x = shells->corners + 9 * (size_t)item;
    return sn_triangle_distance_squared(point, x, x + 3, x + 6);
}

static SnStatus search_place(Search *search, size_t triangle, const double point[3])
{
    double squared = search->reach * search->reach;
    int32_t other = sn_box_tree_nearest(&search->shells->tree, point, larger_distance, search, &squared);
    if (other < 0) {
        return SN_OK;
    }
    if (search->count == search->capacity) {
        size_t capacity = 2 * search->capacity + 256;
        Find *larger = sn_reallocate(search->context, search->finds, capacity, sizeof *larger);
        if (larger == NULL) {
            return SN_OUT_OF_MEMORY;
        }
        search->finds = larger;
        search->capacity = capacity;
    }
    Find *find = search->finds + search->count++;
    *find = (Find){.triangle = (int32_t)triangle, .other = other};
    find->distance = sqrt(sn_shells_side(search->shells, (size_t)other, point, &find->inside));
    double weights[3] = {1.0, 0.0, 0.0};
    const double *x = search->shells->corners + 9 * (size_t)other;
    sn_triangle_nearest_weights(x, point, weights);
    for (int axis = 0; axis < 3; axis++) {
        double there = weights[0] * x[axis] + weights[1] * x[3 + axis] + weights[2] * x[6 + axis];
        find->point[axis] = 0.5 * (point[axis] + there);
    }
    return SN_OK;
}

/* Looks from places all over a triangle; from each of them the nearest larger shell is found. */
static SnStatus search_triangle(Search *search, size_t triangle)
{
    SnStatus status = SN_OK;
    const double *x = search->shells->corners + 9 * triangle;
    double longest = sqrt(sn_largest(sn_distance_squared(x, x + 3),
                                     sn_largest(sn_distance_squared(x + 3, x + 6), sn_distance_squared(x + 6, x))));
    int steps = longest / SPACING < MOST_STEPS ? (int)(longest / SPACING) + 1 : MOST_STEPS;
    search->rank = search->ranks[search->shells->labels[triangle]];
    for (int i = 0; i < steps; i++) {
        for (int j = 0; i + j < steps; j++) {
            double a = (i + 1.0 / 3.0) / steps, b = (j + 1.0 / 3.0) / steps, point[3];
            for (int axis = 0; axis < 3; axis++) {
                point[axis] = x[axis] + a * (x[3 + axis] - x[axis]) + b * (x[6 + axis] - x[axis]);
            }
            SN_TRY(search_place(search, triangle, point));
        }
    }
cleanup:
    return status;
}

typedef struct Size {
    double area;
    int32_t shell;
} Size;

static int compare_sizes(const void *left, const void *right)
{
    const Size *a = left, *b = right;
    if (a->area < b->area || a->area > b->area) {
        return a->area > b->area ? -1 : 1;
    }
    return (a->shell > b->shell) - (a->shell < b->shell);
}

static SnStatus find_ranks(SnContext *context, const SnShells *shells, int32_t *ranks)
{
    SnStatus status = SN_OK;
    Size *sizes = NULL;
    SN_TRY_NEW(context, sizes, shells->shell_count, Size);
    for (size_t i = 0; i < shells->shell_count; i++) {
        sizes[i].shell = (int32_t)i;
    }
    for (size_t i = 0; i < shells->triangle_count; i++) {
        double normal[3];
        sizes[shells->labels[i]].area += sn_triangle_area(shells->corners + 9 * i, normal);
    }
    qsort(sizes, shells->shell_count, sizeof *sizes, compare_sizes);
    for (size_t i = 0; i < shells->shell_count; i++) {
        ranks[sizes[i].shell] = (int32_t)i;
    }
cleanup:
    sn_release(sizes);
    return status;
}

/* The larger shell that one is nearest to; it lies in it where the distance is 0. */
typedef struct Nearest {
    double distance;
    int32_t shell;
} Nearest;

/* A shell holds on to every larger one that it touches; where it touches none, to the nearest one, at its nearest places. */
static int is_hold(const SnShells *shells, const Find *find, const Nearest *nearest)
{
    const Nearest *own = nearest + shells->labels[find->triangle];
    if (own->distance <= TOUCH) {
        return find->inside ? find->distance <= 2.0 * HOLD : find->distance <= HOLD;
    }
    return shells->labels[find->other] == own->shell && find->distance <= own->distance + HOLD_BEYOND;
}

/* Looks around from every triangle of every shell but the largest; finds are in the order of triangles. Hidden is what finds
   itself inside wherever it looks. */
static SnStatus search_shells(Search *search, SnShells *shells, Nearest *nearest)
{
    SnStatus status = SN_OK;
    for (size_t i = 0; i < shells->triangle_count; i++) {
        int32_t shell = shells->labels[i];
        size_t first = search->count;
        if (i % PER_LOOK == 0) {
            SN_TRY(sn_context_advance(search->context, (long)i));
        }
        if (search->ranks[shell] == 0) {
            continue;
        }
        SN_TRY(search_triangle(search, i));
        shells->hidden[i] = search->count > first;
        for (size_t j = first; j < search->count; j++) {
            const Find *find = search->finds + j;
            double distance = find->inside ? 0.0 : find->distance;
            shells->hidden[i] &= find->inside != 0;
            if (distance < nearest[shell].distance) {
                nearest[shell] = (Nearest){distance, shells->labels[find->other]};
            }
        }
    }
cleanup:
    return status;
}

/* Keeps the finds that are holds. */
static SnStatus keep_holds(SnContext *context, const Search *search, const Nearest *nearest, SnShells *shells)
{
    SnStatus status = SN_OK;
    int32_t *places = NULL; /* of triangles in the tree's items */
    SN_TRY_NEW(context, shells->holds, search->count, SnHold);
    SN_TRY_NEW(context, shells->hold_starts, shells->triangle_count + 1, int32_t);
    SN_TRY_NEW(context, places, shells->triangle_count, int32_t);
    for (size_t i = 0; i < shells->triangle_count; i++) {
        places[shells->tree.items[i]] = (int32_t)i;
    }
    for (size_t i = 0; i < search->count; i++) {
        const Find *find = search->finds + i;
        if (!shells->hidden[find->triangle] && is_hold(shells, find, nearest)) {
            SnHold *hold = shells->holds + shells->hold_count++;
            hold->place = places[find->other];
            memcpy(hold->point, find->point, sizeof hold->point);
            shells->hold_starts[find->triangle + 1]++;
        }
    }
    for (size_t i = 0; i < shells->triangle_count; i++) {
        shells->hold_starts[i + 1] += shells->hold_starts[i];
    }
cleanup:
    sn_release(places);
    return status;
}

SnStatus sn_shells_find_holds(SnContext *context, double reach, SnShells *shells)
{
    SnStatus status = SN_OK;
    Search search = {.context = context, .shells = shells, .reach = reach};
    int32_t *ranks = NULL;
    Nearest *nearest = NULL;
    SN_TRY_NEW(context, ranks, shells->shell_count, int32_t);
    SN_TRY_NEW(context, nearest, shells->shell_count, Nearest);
    SN_TRY(find_ranks(context, shells, ranks));
    search.ranks = ranks;
    for (size_t i = 0; i < shells->shell_count; i++) {
        nearest[i].distance = INFINITY;
    }
    SN_TRY(search_shells(&search, shells, nearest));
    SN_TRY(keep_holds(context, &search, nearest, shells));
cleanup:
    sn_release(search.finds);
    sn_release(ranks);
    sn_release(nearest);
    return status;
}
