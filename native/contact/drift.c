#include "contact/drift.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "mesh/geometry.h"

#include <string.h>

#define PATCHES_PER_CHUNK 8
#define LANES 8  /* edges that are looked at together */
#define THIN 1e-3 /* of a patch's moments: across a flat one, the turn decides */
#define FITS 2    /* rounds in which map and turn agree, ... */
#define MOST_STRAIN 0.6 /* of a map whose turn is found so */
#define TURNS 3   /* ... and in which the turn of a map is found */

SnStatus sn_drift_init(SnContext *context, const SnSurfacePatches *patches, int bends, SnDrift *drift)
{
    SnStatus status = SN_OK;
    *drift = (SnDrift){.patches = patches};
    SN_TRY_NEW(context, drift->references, patches->count, SnPatchReference);
    SN_TRY_NEW(context, drift->points, 3 * patches->point_count, double);
    if (bends) {
        SN_TRY_NEW(context, drift->edges, 4 * patches->edge_count, double);
    }
    for (int slot = 0; slot < 2; slot++) {
        SN_TRY_NEW(context, drift->places[slot], patches->count, SnPatchPlace);
    }
cleanup:
    if (status != SN_OK) {
        sn_drift_clear(drift);
    }
    return status;
}

void sn_drift_clear(SnDrift *drift)
{
    void *const blocks[] = {drift->references, drift->points, drift->edges, drift->places[0], drift->places[1]};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        sn_release(blocks[i]);
    }
    *drift = (SnDrift){0};
}

/* Reference */

typedef struct Task {
    SnDrift *drift;
    const double *q;
} Task;

static void find_mean(const SnDrift *drift, const SnPatch *patch, const double *q, double mean[3])
{
    double sum[3] = {0.0, 0.0, 0.0};
    for (size_t k = patch->first; k < patch->first + patch->count; k++) {
        const double *x = q + 3 * (size_t)drift->patches->points[k];
        for (int axis = 0; axis < 3; axis++) {
            sum[axis] += x[axis];
        }
    }
    for (int axis = 0; axis < 3; axis++) {
        mean[axis] = sum[axis] / (double)patch->count;
    }
}

static void refer_edges(const SnDrift *drift, const SnPatch *patch, const double *q)
{
    for (size_t k = patch->first_edge; k < patch->first_edge + patch->wide_count; k++) {
        const int32_t *ends = drift->patches->surface->edges + 2 * (size_t)drift->patches->edges[k];
        double *edge = drift->edges + 4 * k;
        sn_subtract(q + 3 * (size_t)ends[1], q + 3 * (size_t)ends[0], edge);
        double length = sn_length(edge);
        edge[3] = length > 0.0 ? 1.0 / length : INFINITY;
    }
}

static void refer_patches(void *data, size_t chunk, size_t begin, size_t end)
{
    const Task *task = data;
    SnDrift *drift = task->drift;
    const SnSurfacePatches *patches = drift->patches;
    (void)chunk;
    for (size_t p = begin; p < end; p++) {
        const SnPatch *patch = patches->patches + p;
        SnPatchReference *reference = drift->references + p;
        double moments[9] = {0.0}, triangle[6];
        find_mean(drift, patch, task->q, reference->centre);
        for (size_t k = patch->first; k < patch->first + patch->count; k++) {
            double *r = drift->points + 3 * k;
            sn_subtract(task->q + 3 * (size_t)patches->points[k], reference->centre, r);
            for (int i = 0; i < 9; i++) {
                moments[i] += r[i / 3] * r[i % 3];
            }
        }
        reference->thin = THIN * (moments[0] + moments[4] + moments[8]) / 3.0;
        for (int i = 0; i < 9; i += 4) {
            moments[i] += reference->thin;
        }
        memset(reference->inverse, 0, sizeof reference->inverse);
        (void)sn_mat3_inverse(moments, reference->inverse);
        reference->extent = 0.0;
        for (size_t k = patch->first_triangle; k < patch->first_triangle + patch->triangle_count; k++) {
            sn_surface_triangle_box(patches->surface, task->q, (size_t)patches->triangles[k], triangle);
            for (int axis = 0; axis < 3; axis++) {
                int is_first = k == patch->first_triangle;
                reference->extent = sn_largest(reference->extent, triangle[3 + axis] - triangle[axis]);
                reference->box[axis] = is_first ? triangle[axis] : sn_least(reference->box[axis], triangle[axis]);
                reference->box[3 + axis] = is_first ? triangle[3 + axis] : sn_largest(reference->box[3 + axis], triangle[3 + axis]);
            }
        }
        if (drift->edges != NULL) {
            refer_edges(drift, patch, task->q);
        }
        for (int slot = 0; slot < 2; slot++) {
            drift->places[slot][p] = (SnPatchPlace){.turn = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}};
        }
    }
}

void sn_drift_refer(SnDrift *drift, const double *q)
{
    Task task = {drift, q};
    drift->numbers[0] = drift->numbers[1] = 0;
    sn_parallel_for(drift->patches->count, PATCHES_PER_CHUNK, refer_patches, &task);
}

/* Places */

static double frobenius(const double a[9], const double b[9])
{
    double sum = 0.0;
    for (int i = 0; i < 9; i++) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sqrt(sum);
}

/* The turn of a map that is nearly one, by the mean of it and its inverse transpose. */
static void find_turn(const double map[9], double turn[9])
{
    memcpy(turn, map, 9 * sizeof *turn);
    for (int round = 0; round < TURNS; round++) {
        double inverse[9] = {0.0};
        if (!(sn_mat3_inverse(turn, inverse) > 0.0)) {
            memset(turn, 0, 9 * sizeof *turn); /* so the strain is large */
            turn[0] = turn[4] = turn[8] = 1.0;
            return;
        }
        for (int i = 0; i < 9; i++) {
            turn[i] = 0.5 * (turn[i] + inverse[3 * (i % 3) + i / 3]);
        }
    }
}

/* The affine map of least squares, which across a flat patch does as the turn of before. */
static void fit_map(const SnDrift *drift, size_t number, const double *q, SnPatchPlace *place)
{
    const SnPatch *patch = drift->patches->patches + number;
    const SnPatchReference *reference = drift->references + number;
    const int32_t *points = drift->patches->points + patch->first;
    const double *r = drift->points + 3 * patch->first;
    double product[9] = {0.0}, sum[9];
    for (size_t k = 0; k < patch->count; k++, r += 3) {
        const double *x = q + 3 * (size_t)points[k];
        for (int i = 0; i < 9; i++) {
            product[i] += (x[i / 3] - place->mean[i / 3]) * r[i % 3];
        }
    }
    for (int round = 0; round < FITS; round++) {
        for (int i = 0; i < 9; i++) {
            sum[i] = product[i] + reference->thin * place->turn[i];
        }
        sn_mat3_multiply(sum, reference->inverse, place->map);
        find_turn(place->map, place->turn);
    }
    place->strain = frobenius(place->map, place->turn);
}

static double find_stray(const SnDrift *drift, const SnPatch *patch, const double *q, const SnPatchPlace *place)
{
    const int32_t *points = drift->patches->points + patch->first;
    const double *r = drift->points + 3 * patch->first, *map = place->map;
    double largest = 0.0;
    for (size_t k = 0; k < patch->count; k++, r += 3) {
        const double *x = q + 3 * (size_t)points[k];
        double e[3];
        for (int axis = 0; axis < 3; axis++) {
            e[axis] = x[axis] - place->mean[axis] - sn_dot3(map + 3 * axis, r);
        }
        largest = sn_largest(largest, sn_dot3(e, e));
    }
    return sqrt(largest);
}

/* Over edges begin..end-1 of all patches. */
static double find_bend(const SnDrift *drift, size_t begin, size_t end, const double *q, const SnPatchPlace *place)
{
    const int32_t *edges = drift->patches->edges, *ends = drift->patches->surface->edges;
    double m[9];
    memcpy(m, place->map, sizeof m);
    double largest[LANES] = {0.0};
    for (size_t first = begin; first < end; first += LANES) {
        for (size_t lane = 0; lane < LANES; lane++) { /* the last ones once more where there are not enough */
            size_t k = first + lane < end ? first + lane : end - 1;
            const double *a = q + 3 * (size_t)ends[2 * (size_t)edges[k]], *b = q + 3 * (size_t)ends[2 * (size_t)edges[k] + 1];
            const double *r = drift->edges + 4 * k;
            double x = b[0] - a[0] - (m[0] * r[0] + m[1] * r[1] + m[2] * r[2]);
            double y = b[1] - a[1] - (m[3] * r[0] + m[4] * r[1] + m[5] * r[2]);
            double z = b[2] - a[2] - (m[6] * r[0] + m[7] * r[1] + m[8] * r[2]);
            largest[lane] = sn_largest(largest[lane], (x * x + y * y + z * z) * (r[3] * r[3]));
        }
    }
    for (size_t lane = 1; lane < LANES; lane++) {
        largest[0] = sn_largest(largest[0], largest[lane]);
    }
    return sqrt(largest[0]);
}

static const SnPatchPlace *find_place(SnDrift *drift, int end, size_t number)
{
    SnPatchPlace *place = drift->places[drift->slots[end]] + number;
    const SnPatch *patch = drift->patches->patches + number;
    const double *q = drift->way.q[end];
    if (place->number != drift->way.numbers[end]) {
        place->number = drift->way.numbers[end];
        find_mean(drift, patch, q, place->mean);
        fit_map(drift, number, q, place);
        place->stray = find_stray(drift, patch, q, place);
        place->bend = INFINITY;
        place->wide_bend = -1.0;
        if (drift->edges != NULL) {
            place->bend = find_bend(drift, patch->first_edge, patch->first_edge + patch->edge_count, q, place);
        }
    }
    return place;
}

static double find_wide_bend(SnDrift *drift, int end, size_t number)
{
    SnPatchPlace *place = drift->places[drift->slots[end]] + number;
    const SnPatch *patch = drift->patches->patches + number;
    if (place->wide_bend < 0.0) {
        size_t begin = patch->first_edge + patch->edge_count;
        place->wide_bend = sn_largest(place->bend, find_bend(drift, begin, patch->first_edge + patch->wide_count, drift->way.q[end], place));
    }
    return place->wide_bend;
}

void sn_drift_go(SnDrift *drift, const SnWay *way)
{
    int known = drift->numbers[0] == way->numbers[0] ? 0 : drift->numbers[1] == way->numbers[0] ? 1 : -1;
    int first = known >= 0 ? known : drift->numbers[0] == way->numbers[1];
    drift->way = *way;
    drift->slots[0] = first;
    drift->slots[1] = way->numbers[1] == way->numbers[0] ? first : 1 - first;
    for (int end = 0; end < 2; end++) {
        drift->numbers[drift->slots[end]] = way->numbers[end];
    }
}

static void place_patches(void *data, size_t chunk, size_t begin, size_t end)
{
    (void)chunk;
    for (size_t p = begin; p < end; p++) {
        (void)find_place(data, 0, p);
        (void)find_place(data, 1, p);
    }
}

void sn_drift_place_all(SnDrift *drift)
{
    sn_parallel_for(drift->patches->count, PATCHES_PER_CHUNK, place_patches, drift);
}

/* Bounds */

static double half_turn(const double a[9], const double b[9])
{
    double trace = 0.0;
    for (int i = 0; i < 9; i++) {
        trace += a[i] * b[i];
    }
    return trace > -1.0 ? sn_least(0.5 * sqrt(trace + 1.0), 1.0) : 0.0;
}

/* How far both maps take one reference point of a box apart, at most. */
static double differ(const double c[3], const SnPatchPlace *a, const double other_c[3], const SnPatchPlace *b, const double box[6])
{
    double r[3], s[3], d[3], sum = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        double middle = 0.5 * (box[axis] + box[3 + axis]), column[3];
        r[axis] = middle - c[axis];
        s[axis] = middle - other_c[axis];
        for (int row = 0; row < 3; row++) {
            column[row] = a->map[3 * row + axis] - b->map[3 * row + axis];
        }
        sum += 0.5 * (box[3 + axis] - box[axis]) * sn_length(column);
    }
    for (int row = 0; row < 3; row++) {
        d[row] = a->mean[row] + sn_dot3(a->map + 3 * row, r) - b->mean[row] - sn_dot3(b->map + 3 * row, s);
    }
    return sum + sn_length(d);
}

/* The bound by the map of the first patch. */
static SnDriftBound bound_by(SnDrift *drift, size_t one, size_t two, double reach)
{
    const SnPatchReference *a = drift->references + one, *b = drift->references + two;
    SnDriftBound bound = {half_turn(find_place(drift, 0, one)->turn, find_place(drift, 1, one)->turn), 0.0, 0.0, 0.0};
    double region[6], strain = 0.0;
    int empty = 0, is_quick = reach < 0.0;
    for (int axis = 0; axis < 3; axis++) {
        region[axis] = sn_largest(b->box[axis], a->box[axis] - reach);
        region[3 + axis] = sn_least(b->box[3 + axis], a->box[3 + axis] + reach);
        empty |= region[axis] > region[3 + axis];
    }
    for (int end = 0; end < 2; end++) {
        const SnPatchPlace *p = find_place(drift, end, one), *q = find_place(drift, end, two);
        double both = p->stray + q->stray, beyond = one == two ? 0.0 : differ(a->centre, p, b->centre, q, b->box);
        double near = one == two || empty || is_quick ? beyond : differ(a->centre, p, b->centre, q, region);
        double bend = one == two ? p->bend : sn_largest(p->bend, q->bend + frobenius(p->map, q->map));
        if (one != two && !is_quick && drift->edges != NULL) {
            bend = sn_least(bend, find_wide_bend(drift, end, one));
        }
        bound.stray = sn_largest(bound.stray, both + near);
        bound.stray_beyond = sn_largest(bound.stray_beyond, both + beyond);
        bound.bend = sn_largest(bound.bend, bend);
        strain = sn_largest(strain, p->strain);
    }
    bound.shrink -= strain;
    int is_finite = isfinite(bound.shrink) && isfinite(bound.stray) && isfinite(bound.stray_beyond);
    return is_finite && strain < MOST_STRAIN && bound.shrink > 0.0 ? bound : (SnDriftBound){0.0, INFINITY, INFINITY, INFINITY};
}

SnDriftBound sn_drift_bound(SnDrift *drift, size_t patch, size_t other, double reach)
{
    SnDriftBound one = bound_by(drift, patch, other, reach);
    if (patch == other || reach < 0.0) {
        return one;
    }
    SnDriftBound two = bound_by(drift, other, patch, reach);
    return drift->edges != NULL ? (two.bend < one.bend ? two : one) : two.stray < one.stray ? two : one;
}
