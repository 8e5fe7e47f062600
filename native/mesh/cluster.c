#include "mesh/cluster.h"

#include "base/memory.h"
#include "math/mat3.h"
#include "mesh/sides.h"

#include <math.h>
#include <string.h>

/* A triangle in a pose, or a region: place, normal, area. */
typedef struct Patch {
    double x[3], n[3], area;
} Patch;

/* A triangle that a region may take next. */
typedef struct Offer {
    double distance;
    int32_t triangle, region;
} Offer;

typedef struct Clusters {
    const SnClusterDef *def;
    Patch *patches;      /* triangles x poses; owned, as all of these */
    double *areas;       /* poses: of the whole surface */
    int32_t *neighbours; /* triangles x 3: across each side, -1 where there is none */
    size_t count, room;  /* regions */
    Patch *proxies;      /* regions x poses */
    int32_t *seeds;      /* regions */
    Offer *heap;
    size_t heap_count, heap_room;
} Clusters;

static void measure(const SnClusterDef *def, size_t triangle, const double *pose, Patch *patch)
{
    const int32_t *corner = def->triangles + 3 * triangle;
    const double *a = pose + 3 * (size_t)corner[0], *b = pose + 3 * (size_t)corner[1], *c = pose + 3 * (size_t)corner[2];
    double first[3], second[3];
    for (size_t i = 0; i < 3; i++) {
        first[i] = b[i] - a[i];
        second[i] = c[i] - a[i];
        patch->x[i] = (a[i] + b[i] + c[i]) / 3.0;
    }
    sn_cross3(first, second, patch->n);
    double doubled = sqrt(sn_dot3(patch->n, patch->n));
    for (size_t i = 0; i < 3; i++) {
        patch->n[i] = doubled > 0.0 ? patch->n[i] / doubled : 0.0;
    }
    patch->area = 0.5 * doubled;
}

/* Of the triangles at a side each is joined to the next, the last to the first. */
static SnStatus find_neighbours(SnContext *context, Clusters *clusters)
{
    SnStatus status = SN_OK;
    const SnClusterDef *def = clusters->def;
    SnSide *sides = NULL;
    size_t count = 3 * def->triangle_count;
    SN_TRY_NEW(context, sides, count, SnSide);
    for (size_t k = 0; k < count; k++) {
        sides[k] = sn_side(def->triangles[k], def->triangles[k - k % 3 + (k + 1) % 3], k);
    }
    sn_sides_sort(count, sides);
    memset(clusters->neighbours, 0xff, count * sizeof *clusters->neighbours);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && sn_sides_are_one(sides + first, sides + end); end++) {
        }
        for (size_t k = first; k < end && end - first > 1; k++) {
            clusters->neighbours[sides[k].slot] = sides[k + 1 < end ? k + 1 : first].slot / 3;
        }
    }
cleanup:
    sn_release(sides);
    return status;
}

static double distance(const Clusters *clusters, size_t triangle, size_t region)
{
    const SnClusterDef *def = clusters->def;
    const Patch *patch = clusters->patches + triangle * def->pose_count, *proxy = clusters->proxies + region * def->pose_count;
    double most = 0.0;
    for (size_t p = 0; p < def->pose_count; p++) {
        double x = 0.0, n = 0.0;
        for (size_t i = 0; i < 3; i++) {
            x += (patch[p].x[i] - proxy[p].x[i]) * (patch[p].x[i] - proxy[p].x[i]);
            n += (patch[p].n[i] - proxy[p].n[i]) * (patch[p].n[i] - proxy[p].n[i]);
        }
        double here = patch[p].area * (def->compact / clusters->areas[p] * x + (1.0 - def->compact) * n);
        most = here > most ? here : most;
    }
    return most;
}

/* A region of one triangle. */
static SnStatus add_region(SnContext *context, Clusters *clusters, size_t triangle)
{
    SnStatus status = SN_OK;
    size_t poses = clusters->def->pose_count;
    if (clusters->count == clusters->room) {
        size_t room = 2 * clusters->room + 16;
        Patch *proxies = sn_reallocate(context, clusters->proxies, room * poses, sizeof *proxies);
        clusters->proxies = proxies != NULL ? proxies : clusters->proxies;
        int32_t *seeds = proxies != NULL ? sn_reallocate(context, clusters->seeds, room, sizeof *seeds) : NULL;
        clusters->seeds = seeds != NULL ? seeds : clusters->seeds;
        if (seeds == NULL) {
            status = SN_OUT_OF_MEMORY;
            goto cleanup;
        }
        clusters->room = room;
    }
    memcpy(clusters->proxies + clusters->count * poses, clusters->patches + triangle * poses, poses * sizeof(Patch));
    clusters->seeds[clusters->count++] = (int32_t)triangle;
cleanup:
    return status;
}

static int is_before(const Offer *a, const Offer *b)
{
    return a->distance != b->distance   ? a->distance < b->distance
           : a->triangle != b->triangle ? a->triangle < b->triangle
                                        : a->region < b->region;
}

static SnStatus push(SnContext *context, Clusters *clusters, Offer offer)
{
    SnStatus status = SN_OK;
    SN_TRY_ROOM(context, clusters->heap, clusters->heap_count + 1, clusters->heap_room);
    size_t at = clusters->heap_count++;
    for (; at > 0 && is_before(&offer, clusters->heap + (at - 1) / 2); at = (at - 1) / 2) {
        clusters->heap[at] = clusters->heap[(at - 1) / 2];
    }
    clusters->heap[at] = offer;
cleanup:
    return status;
}

static Offer pop(Clusters *clusters)
{
    Offer *heap = clusters->heap, first = heap[0], last = heap[--clusters->heap_count];
    size_t at = 0, next;
    while ((next = 2 * at + 1) < clusters->heap_count) {
        next += next + 1 < clusters->heap_count && is_before(heap + next + 1, heap + next);
        if (!is_before(heap + next, &last)) {
            break;
        }
        heap[at] = heap[next];
        at = next;
    }
    heap[at] = last;
    return first;
}

/* Each region grows from its seed. Triangles that none reaches begin regions of their own. */
static SnStatus grow(SnContext *context, Clusters *clusters, int32_t *regions)
{
    SnStatus status = SN_OK;
    size_t triangles = clusters->def->triangle_count, looked = 0;
    memset(regions, 0xff, triangles * sizeof *regions);
    clusters->heap_count = 0;
    for (size_t r = 0; r < clusters->count; r++) {
        SN_TRY(push(context, clusters, (Offer){-1.0, clusters->seeds[r], (int32_t)r}));
    }
    for (;;) {
        while (clusters->heap_count > 0) {
            Offer offer = pop(clusters);
            if (regions[offer.triangle] >= 0) {
                continue;
            }
            regions[offer.triangle] = offer.region;
            for (size_t i = 0; i < 3; i++) {
                int32_t next = clusters->neighbours[3 * (size_t)offer.triangle + i];
                if (next >= 0 && regions[next] < 0) {
                    double far = distance(clusters, (size_t)next, (size_t)offer.region);
                    SN_TRY(push(context, clusters, (Offer){far, next, offer.region}));
                }
            }
        }
        for (; looked < triangles && regions[looked] >= 0; looked++) {
        }
        if (looked == triangles) {
            break;
        }
        SN_TRY(add_region(context, clusters, looked));
        SN_TRY(push(context, clusters, (Offer){-1.0, (int32_t)looked, (int32_t)clusters->count - 1}));
    }
cleanup:
    return status;
}

/* Means of the regions, and of each the triangle that fits it best. Returns whether a seed is another than before. */
static SnStatus centre(SnContext *context, Clusters *clusters, const int32_t *regions, int *changed)
{
    SnStatus status = SN_OK;
    const SnClusterDef *def = clusters->def;
    size_t poses = def->pose_count;
    double *best = NULL;
    SN_TRY_NEW(context, best, clusters->count, double);
    memset(clusters->proxies, 0, clusters->count * poses * sizeof(Patch));
    for (size_t t = 0; t < def->triangle_count; t++) {
        for (size_t p = 0; p < poses; p++) {
            const Patch *patch = clusters->patches + t * poses + p;
            Patch *proxy = clusters->proxies + (size_t)regions[t] * poses + p;
            proxy->area += patch->area;
            for (size_t i = 0; i < 3; i++) {
                proxy->x[i] += patch->area * patch->x[i];
                proxy->n[i] += patch->area * patch->n[i];
            }
        }
    }
    for (size_t k = 0; k < clusters->count * poses; k++) {
        Patch *proxy = clusters->proxies + k;
        double length = sqrt(sn_dot3(proxy->n, proxy->n));
        for (size_t i = 0; i < 3; i++) {
            proxy->x[i] = proxy->area > 0.0 ? proxy->x[i] / proxy->area : proxy->x[i];
            proxy->n[i] = length > 0.0 ? proxy->n[i] / length : 0.0;
        }
    }
    for (size_t r = 0; r < clusters->count; r++) {
        best[r] = INFINITY;
    }
    *changed = 0;
    for (size_t t = 0; t < def->triangle_count; t++) {
        size_t r = (size_t)regions[t];
        double far = distance(clusters, t, r);
        if (far < best[r]) {
            best[r] = far;
            *changed |= clusters->seeds[r] != (int32_t)t; /* what comes later may set it back: one round more, no harm */
            clusters->seeds[r] = (int32_t)t;
        }
    }
cleanup:
    sn_release(best);
    return status;
}

/* Seeds: the first triangle, then again and again the one that is farthest from all of them. */
static SnStatus plant(SnContext *context, Clusters *clusters)
{
    SnStatus status = SN_OK;
    const SnClusterDef *def = clusters->def;
    double *nearest = NULL;
    size_t next = 0;
    SN_TRY_NEW(context, nearest, def->triangle_count, double);
    for (size_t t = 0; t < def->triangle_count; t++) {
        nearest[t] = INFINITY;
    }
    while (clusters->count < def->region_count) {
        double farthest = -1.0;
        SN_TRY(add_region(context, clusters, next));
        size_t region = clusters->count - 1;
        for (size_t t = 0; t < def->triangle_count; t++) {
            nearest[t] = fmin(nearest[t], distance(clusters, t, region));
            nearest[t] = (int32_t)t == clusters->seeds[region] ? -1.0 : nearest[t];
            if (nearest[t] > farthest) {
                farthest = nearest[t];
                next = t;
            }
        }
        SN_TRY(sn_context_advance(context, (long)clusters->count));
        if (farthest < 0.0) {
            break;
        }
    }
cleanup:
    sn_release(nearest);
    return status;
}

SnStatus sn_cluster_find(SnContext *context, const SnClusterDef *def, int32_t *regions, size_t *found)
{
    SnStatus status = SN_OK;
    Clusters clusters = {.def = def};
    int changed = 1;
    sn_context_stage(context, "Finding regions", (long)def->region_count + def->rounds);
    SN_TRY_NEW(context, clusters.patches, def->triangle_count * def->pose_count, Patch);
    SN_TRY_NEW(context, clusters.areas, def->pose_count, double);
    SN_TRY_NEW(context, clusters.neighbours, 3 * def->triangle_count, int32_t);
    for (size_t t = 0; t < def->triangle_count; t++) {
        for (size_t p = 0; p < def->pose_count; p++) {
            Patch *patch = clusters.patches + t * def->pose_count + p;
            measure(def, t, def->poses + 3 * def->vertex_count * p, patch);
            clusters.areas[p] += patch->area;
        }
    }
    for (size_t p = 0; p < def->pose_count; p++) {
        clusters.areas[p] = clusters.areas[p] > 0.0 ? clusters.areas[p] : 1.0;
    }
    SN_TRY(find_neighbours(context, &clusters));
    SN_TRY(plant(context, &clusters));
    for (int round = 0; round < def->rounds && changed; round++) {
        SN_TRY(sn_context_advance(context, (long)def->region_count + round));
        SN_TRY(grow(context, &clusters, regions));
        SN_TRY(centre(context, &clusters, regions, &changed));
    }
    SN_TRY(grow(context, &clusters, regions));
    *found = clusters.count;
cleanup:
    sn_release(clusters.patches);
    sn_release(clusters.areas);
    sn_release(clusters.neighbours);
    sn_release(clusters.proxies);
    sn_release(clusters.seeds);
    sn_release(clusters.heap);
    return status;
}
