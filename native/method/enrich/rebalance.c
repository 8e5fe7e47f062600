/* Per tet, with F the gradients of the fitted and the simulated cage: F_sim F_fit⁻¹ = R S, and the wished gradient is
   R^(1-w) ((1-w) S + w I) F_fit. A power of R takes the rotation by quaternions; q and -q are the same rotation but not the same power,
   so each tet continues its neighbour on the way to what is followed: rotations may pass half a turn.
   Gradients alone leave a region where it swung to: weights near 1 hold it at its place too. */
#include "method/enrich/rebalance.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "dynamics/warp.h"
#include "dynamics/weights.h"
#include "math/batch3.h"
#include "math/mat3.h"

#include <math.h>
#include <string.h>

#define CHUNK ((size_t)512) /* a multiple of SN_LANES */
#define FLAT 0.02  /* a fitted tet of this fraction of its rest volume is mixed linearly ... */
#define SOUND 0.1  /* ... and from here on turned */
#define HOLDS 0.6  /* weights above this hold places, those of 1 exactly */
#define REACH 0.1  /* of size: a region of that length is held half by a weight in the middle of these */
#define STRONGEST 1e9
#define PI 3.14159265358979323846

struct SnRebalance {
    const SnTetMesh *cage;
    const SnEmbedding *embedding;
    SnWarp *warp;
    double *vertex_weights; /* cage vertices */
    double *tet_weights;    /* tets */
    double *hold;           /* cage vertices: how strongly each is held at its place, 1/m² */
    double size;            /* m */
    double held_strength;   /* that `hold` was made for; negative: none */
    int32_t *order;         /* tets, each after the one that it continues */
    int32_t *before;        /* tets: that one, -1 for the first of a part */
    double *decomposed;     /* 2 x cage vertices x 3: the fitted and the simulated cage that the next two were made for */
    int is_decomposed;
    double *turns;          /* tets x 4: half the angle and the axis of R, from a quaternion w, x, y, z; zero where the fitted tet is flat */
    double *stretches;      /* 6 x tets: S as xx, yy, zz, yz, xz, xy */
    double *missing;        /* tets x 9 */
};

void sn_rebalance_destroy(SnRebalance *r)
{
    if (r == NULL) {
        return;
    }
    sn_warp_destroy(r->warp);
    sn_release(r->vertex_weights);
    sn_release(r->tet_weights);
    sn_release(r->hold);
    sn_release(r->order);
    sn_release(r->before);
    sn_release(r->decomposed);
    sn_release(r->turns);
    sn_release(r->stretches);
    sn_release(r->missing);
    sn_release(r);
}

/* A breadth-first order over faces, from the tets that touch followed vertices; where a part has none, from its first tet. */
static SnStatus order_tets(SnContext *context, SnRebalance *r, const unsigned char *followed)
{
    SnStatus status = SN_OK;
    size_t count = r->cage->tet_count, found = 0, next = 0;
    int32_t *neighbours = NULL;
    unsigned char *seen = NULL;
    SN_TRY_NEW(context, neighbours, 4 * count, int32_t);
    SN_TRY_NEW(context, seen, count, unsigned char);
    SN_TRY(sn_tet_mesh_neighbours(context, r->cage, neighbours));
    for (size_t e = 0; e < count; e++) {
        const int32_t *tet = r->cage->tets + 4 * e;
        r->before[e] = -1;
        if (followed[tet[0]] || followed[tet[1]] || followed[tet[2]] || followed[tet[3]]) {
            seen[e] = 1;
            r->order[found++] = (int32_t)e;
        }
    }
    for (size_t first = 0; first < count; first++) {
        for (; next < found; next++) {
            int32_t e = r->order[next];
            for (size_t i = 0; i < 4; i++) {
                int32_t beside = neighbours[4 * (size_t)e + i];
                if (beside >= 0 && !seen[beside]) {
                    seen[beside] = 1;
                    r->before[beside] = e;
                    r->order[found++] = beside;
                }
            }
        }
        if (!seen[first]) {
            seen[first] = 1;
            r->order[found++] = (int32_t)first;
        }
    }
cleanup:
    sn_release(neighbours);
    sn_release(seen);
    return status;
}

/* What follows from new weights. */
static void average_weights(SnRebalance *r)
{
    r->held_strength = -1.0;
    for (size_t e = 0; e < r->cage->tet_count; e++) {
        const int32_t *tet = r->cage->tets + 4 * e;
        const double *w = r->vertex_weights;
        r->tet_weights[e] = 0.25 * (w[tet[0]] + w[tet[1]] + w[tet[2]] + w[tet[3]]);
    }
}

static double longest_side(const SnTetMesh *cage)
{
    double side = 0.0;
    for (size_t a = 0; a < 3; a++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t v = 0; v < cage->vertex_count; v++) {
            low = fmin(low, cage->positions[3 * v + a]);
            high = fmax(high, cage->positions[3 * v + a]);
        }
        side = fmax(side, high - low);
    }
    return side;
}

SnStatus sn_rebalance_create(SnContext *context, const SnTetMesh *cage, const SnEmbedding *embedding, const double *areas,
                             const double *follow, SnRebalance **out)
{
    SnStatus status = SN_OK;
    SnRebalance *r = NULL;
    double *weights = NULL, *known = NULL;
    unsigned char *followed = NULL;
    *out = NULL;
    SN_TRY_NEW(context, r, 1, SnRebalance);
    r->cage = cage;
    r->embedding = embedding;
    SN_TRY_NEW(context, weights, cage->vertex_count, double);
    SN_TRY_NEW(context, known, cage->vertex_count, double);
    SN_TRY_NEW(context, followed, cage->vertex_count, unsigned char);
    SN_TRY(sn_weights_from_surface(context, cage, embedding, areas, follow, weights, known, followed));
    SN_TRY(sn_warp_create(context, cage, followed, &r->warp));
    SN_TRY_NEW(context, r->vertex_weights, cage->vertex_count, double);
    SN_TRY_NEW(context, r->tet_weights, cage->tet_count, double);
    SN_TRY_NEW(context, r->hold, cage->vertex_count, double);
    SN_TRY_NEW(context, r->order, cage->tet_count, int32_t);
    SN_TRY_NEW(context, r->before, cage->tet_count, int32_t);
    SN_TRY_NEW(context, r->decomposed, 6 * cage->vertex_count, double);
    SN_TRY_NEW(context, r->turns, 4 * cage->tet_count, double);
    SN_TRY_NEW(context, r->stretches, 6 * cage->tet_count, double);
    SN_TRY_NEW(context, r->missing, 9 * cage->tet_count, double);
    SN_TRY(order_tets(context, r, followed));
    for (size_t v = 0; v < cage->vertex_count; v++) {
        r->vertex_weights[v] = 1.0;
    }
    average_weights(r);
    r->size = longest_side(cage);
    *out = r;
cleanup:
    sn_release(weights);
    sn_release(known);
    sn_release(followed);
    if (status != SN_OK) {
        sn_rebalance_destroy(r);
    }
    return status;
}

SnStatus sn_rebalance_set_weights(SnContext *context, SnRebalance *r, const double *areas, const double *weights)
{
    SnStatus status = SN_OK;
    size_t count = r->cage->vertex_count;
    double *found = NULL, *known = NULL;
    unsigned char *followed = NULL;
    SN_TRY_NEW(context, found, count, double);
    SN_TRY_NEW(context, known, count, double);
    SN_TRY_NEW(context, followed, count, unsigned char);
    SN_TRY(sn_weights_from_surface(context, r->cage, r->embedding, areas, weights, found, known, followed));
    SN_TRY(sn_weights_spread(context, r->cage, known, found));
    memcpy(r->vertex_weights, found, count * sizeof *found);
    average_weights(r);
cleanup:
    sn_release(found);
    sn_release(known);
    sn_release(followed);
    return status;
}

typedef struct FrameJob {
    SnRebalance *r;
    const double *fitted, *simulated, *start;
    double strength;
} FrameJob;

/* The tets of one batch; lanes that are left over repeat the last tet. */
typedef struct Batch {
    size_t tet[SN_LANES];
    int used;
    SnLanes rest[9]; /* inverse rest matrix */
} Batch;

static inline void load_batch(const SnTetElements *elements, size_t begin, size_t end, Batch *batch)
{
    batch->used = end - begin < SN_LANES ? (int)(end - begin) : SN_LANES;
    for (int lane = 0; lane < SN_LANES; lane++) {
        batch->tet[lane] = begin + (size_t)(lane < batch->used ? lane : batch->used - 1);
        for (size_t k = 0; k < 9; k++) {
            batch->rest[k][lane] = elements->inverse_rest[k * elements->count + batch->tet[lane]];
        }
    }
}

/* out = a b, row-major. */
static inline void multiply(const SnLanes a[9], const SnLanes b[9], SnLanes out[9])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            for (int lane = 0; lane < SN_LANES; lane++) {
                out[3 * i + j][lane] = a[3 * i][lane] * b[j][lane] + a[3 * i + 1][lane] * b[3 + j][lane] +
                                       a[3 * i + 2][lane] * b[6 + j][lane];
            }
        }
    }
}

static inline void gradients(const SnTetMesh *cage, const Batch *batch, const double *positions, SnLanes f[9])
{
    SnLanes edges[9];
    for (int lane = 0; lane < SN_LANES; lane++) {
        double one[9];
        sn_mat3_edges(positions, cage->tets + 4 * batch->tet[lane], one);
        for (int k = 0; k < 9; k++) {
            edges[k][lane] = one[k];
        }
    }
    multiply((const SnLanes *)edges, (const SnLanes *)batch->rest, f);
}

/* How far a fitted gradient can be trusted: 0 flat or inside out, 1 sound. Its inverse where it can at all, else the identity. */
static inline void invert_sound(const SnLanes f[9], SnLanes inverse[9], SnLanes trust)
{
    for (int lane = 0; lane < SN_LANES; lane++) {
        double cofactor[9];
        SN_COFACTOR(f, lane, cofactor)
        double determinant = f[0][lane] * cofactor[0] + f[1][lane] * cofactor[1] + f[2][lane] * cofactor[2];
        double part = (determinant - FLAT) / (SOUND - FLAT);
        int usable = determinant > FLAT;
        trust[lane] = usable ? (part < 1.0 ? part : 1.0) : 0.0;
        double scale = usable ? 1.0 / determinant : 0.0;
        for (int k = 0; k < 9; k++) {
            inverse[k][lane] = usable ? cofactor[3 * (k % 3) + k / 3] * scale : (k % 4 == 0 ? 1.0 : 0.0);
        }
    }
}

/* The unit quaternions (w >= 0) of rotations: of four expressions the one that divides by the largest component. */
static inline void quaternions(const SnLanes m[9], SnLanes q[4])
{
    for (int lane = 0; lane < SN_LANES; lane++) {
        double xx = m[0][lane], yy = m[4][lane], zz = m[8][lane];
        double w2 = 1.0 + xx + yy + zz, x2 = 1.0 + xx - yy - zz, y2 = 1.0 - xx + yy - zz, z2 = 1.0 - xx - yy + zz;
        double wx = m[7][lane] - m[5][lane], wy = m[2][lane] - m[6][lane], wz = m[3][lane] - m[1][lane];
        double xy = m[1][lane] + m[3][lane], xz = m[2][lane] + m[6][lane], yz = m[5][lane] + m[7][lane];
        int by_x = x2 > w2, by_y = y2 > (by_x ? x2 : w2);
        int by_z = z2 > (by_y ? y2 : (by_x ? x2 : w2));
        double w = by_z ? wz : (by_y ? wy : (by_x ? wx : w2)), x = by_z ? xz : (by_y ? xy : (by_x ? x2 : wx));
        double y = by_z ? yz : (by_y ? y2 : (by_x ? xy : wy)), z = by_z ? z2 : (by_y ? yz : (by_x ? xz : wz));
        double scale = (w < 0.0 ? -1.0 : 1.0) / sqrt(w * w + x * x + y * y + z * z);
        q[0][lane] = scale * w;
        q[1][lane] = scale * x;
        q[2][lane] = scale * y;
        q[3][lane] = scale * z;
    }
}

/* Rotation and stretch of every tet from fitted to simulated. */
SN_HOT static void decompose(void *data, size_t chunk, size_t begin, size_t end)
{
    const FrameJob *job = data;
    SnRebalance *r = job->r;
    size_t count = r->cage->tet_count;
    (void)chunk;
    for (size_t first = begin; first < end; first += SN_LANES) {
        Batch batch;
        SnLanes fitted[9], simulated[9], inverse[9], trust, relative[9], rotation[9], stretch[6], turn[4];
        load_batch(sn_warp_elements(r->warp), first, end, &batch);
        gradients(r->cage, &batch, job->fitted, fitted);
        gradients(r->cage, &batch, job->simulated, simulated);
        invert_sound((const SnLanes *)fitted, inverse, trust);
        multiply((const SnLanes *)simulated, (const SnLanes *)inverse, relative);
        sn_batch3_polar((const SnLanes *)relative, rotation, stretch);
        quaternions((const SnLanes *)rotation, turn);
        for (int lane = 0; lane < batch.used; lane++) {
            for (size_t k = 0; k < 4; k++) {
                r->turns[4 * batch.tet[lane] + k] = trust[lane] > 0.0 ? turn[k][lane] : 0.0;
            }
            for (size_t k = 0; k < 6; k++) {
                r->stretches[k * count + batch.tet[lane]] = stretch[k][lane];
            }
        }
    }
}

/* Of q and -q the one that continues the tet before; a flat tet hands on what it was given. */
static void continue_turns(SnRebalance *r)
{
    for (size_t k = 0; k < r->cage->tet_count; k++) {
        int32_t e = r->order[k], before = r->before[e];
        double *q = r->turns + 4 * (size_t)e;
        const double *p = r->turns + 4 * (size_t)(before < 0 ? e : before);
        double length = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
        double along = q[0] * p[0] + q[1] * p[1] + q[2] * p[2] + q[3] * p[3];
        for (int i = 0; i < 4; i++) {
            q[i] = length == 0.0 ? p[i] : (along < 0.0 ? -q[i] : q[i]);
        }
    }
}

/* Quaternions to axes and halves of angles; a whole turn has no axis and counts as none. */
static void find_angles(void *data, size_t chunk, size_t begin, size_t end)
{
    (void)chunk;
    for (double *q = (double *)data + 4 * begin; q < (double *)data + 4 * end; q += 4) {
        double length = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        double scale = length > 1e-12 ? 1.0 / length : 0.0;
        q[0] = length > 1e-12 ? atan2(length, q[0]) : 0.0;
        q[1] *= scale, q[2] *= scale, q[3] *= scale;
    }
}

/* The rotation about turn[1..3] by `part` of twice the angle turn[0]. */
static inline void rotation_power(const double turn[4], double part, double m[9])
{
    double w = cos(part * turn[0]), s = sin(part * turn[0]), x = s * turn[1], y = s * turn[2], z = s * turn[3];
    m[0] = 1.0 - 2.0 * (y * y + z * z), m[1] = 2.0 * (x * y - w * z), m[2] = 2.0 * (x * z + w * y);
    m[3] = 2.0 * (x * y + w * z), m[4] = 1.0 - 2.0 * (x * x + z * z), m[5] = 2.0 * (y * z - w * x);
    m[6] = 2.0 * (x * z - w * y), m[7] = 2.0 * (y * z + w * x), m[8] = 1.0 - 2.0 * (x * x + y * y);
}

/* missing = wished gradient minus that of the start. */
SN_HOT static void find_missing(void *data, size_t chunk, size_t begin, size_t end)
{
    const FrameJob *job = data;
    SnRebalance *r = job->r;
    size_t count = r->cage->tet_count;
    (void)chunk;
    for (size_t first = begin; first < end; first += SN_LANES) {
        static const int SYMMETRIC[9] = {0, 5, 4, 5, 1, 3, 4, 3, 2};
        Batch batch;
        SnLanes fitted[9], simulated[9], start[9], inverse[9], trust, weight, rotation[9], stretch[9], turned[9], wished[9];
        load_batch(sn_warp_elements(r->warp), first, end, &batch);
        gradients(r->cage, &batch, job->fitted, fitted);
        gradients(r->cage, &batch, job->simulated, simulated);
        gradients(r->cage, &batch, job->start, start);
        invert_sound((const SnLanes *)fitted, inverse, trust);
        for (int lane = 0; lane < SN_LANES; lane++) {
            double one[9];
            weight[lane] = job->strength * r->tet_weights[batch.tet[lane]];
            rotation_power(r->turns + 4 * batch.tet[lane], 1.0 - weight[lane], one);
            for (size_t k = 0; k < 9; k++) {
                rotation[k][lane] = one[k];
                stretch[k][lane] = r->stretches[(size_t)SYMMETRIC[k] * count + batch.tet[lane]];
            }
        }
        for (int k = 0; k < 9; k++) {
            for (int lane = 0; lane < SN_LANES; lane++) {
                stretch[k][lane] += weight[lane] * ((k % 4 == 0 ? 1.0 : 0.0) - stretch[k][lane]);
            }
        }
        multiply((const SnLanes *)rotation, (const SnLanes *)stretch, turned);
        multiply((const SnLanes *)turned, (const SnLanes *)fitted, wished);
        for (int k = 0; k < 9; k++) {
            for (int lane = 0; lane < SN_LANES; lane++) {
                double mixed = simulated[k][lane] + weight[lane] * (fitted[k][lane] - simulated[k][lane]);
                double value = mixed + trust[lane] * (wished[k][lane] - mixed);
                value = weight[lane] <= 0.0 ? simulated[k][lane] : value; /* the ends are exact */
                value = weight[lane] >= 1.0 ? fitted[k][lane] : value;
                wished[k][lane] = value - start[k][lane];
            }
        }
        for (int lane = 0; lane < batch.used; lane++) {
            double *out = r->missing + 9 * batch.tet[lane];
            for (int k = 0; k < 9; k++) {
                out[k] = wished[k][lane];
            }
        }
    }
}

/* Turns and stretches; those of the last frame where it is the same, as while a slider moves. */
static void find_turns(FrameJob *job)
{
    SnRebalance *r = job->r;
    size_t count = 3 * r->cage->vertex_count, size = count * sizeof *job->fitted;
    if (r->is_decomposed && memcmp(r->decomposed, job->fitted, size) == 0 &&
        memcmp(r->decomposed + count, job->simulated, size) == 0) {
        return;
    }
    sn_parallel_for(r->cage->tet_count, CHUNK, decompose, job);
    continue_turns(r);
    sn_parallel_for(r->cage->tet_count, CHUNK, find_angles, r->turns);
    memcpy(r->decomposed, job->fitted, size);
    memcpy(r->decomposed + count, job->simulated, size);
    r->is_decomposed = 1;
}

static SnStatus hold_places(SnContext *context, SnRebalance *r, double strength)
{
    int any = 0, before = 0;
    if (strength == r->held_strength) {
        return SN_OK;
    }
    for (size_t v = 0; v < r->cage->vertex_count; v++) {
        double part = (strength * r->vertex_weights[v] - HOLDS) / (1.0 - HOLDS);
        before |= r->hold[v] > 0.0;
        r->hold[v] = part <= 0.0 ? 0.0 : fmin(tan(0.5 * PI * fmin(part, 1.0)), STRONGEST) / (REACH * REACH * r->size * r->size);
        r->hold[v] = part >= 1.0 ? STRONGEST / (REACH * REACH * r->size * r->size) : r->hold[v];
        any |= r->hold[v] > 0.0;
    }
    SnStatus status = any || before ? sn_warp_hold(context, r->warp, r->hold) : SN_OK;
    r->held_strength = status == SN_OK ? strength : -1.0;
    return status;
}

SnStatus sn_rebalance_frame(SnContext *context, SnRebalance *r, const double *fitted, const double *simulated, double strength,
                            double *result)
{
    SnStatus status = SN_OK;
    FrameJob job = {r, fitted, simulated, result, strength};
    SN_TRY(hold_places(context, r, strength));
    for (size_t k = 0; k < 3 * r->cage->vertex_count; k++) {
        double weight = strength * r->vertex_weights[k / 3];
        double between = simulated[k] + weight * (fitted[k] - simulated[k]);
        result[k] = weight <= 0.0 ? simulated[k] : (weight >= 1.0 ? fitted[k] : between);
    }
    find_turns(&job);
    sn_parallel_for(r->cage->tet_count, CHUNK, find_missing, &job);
    SN_TRY(sn_warp_correct(context, r->warp, r->missing, result));
    for (size_t k = 0; k < 3 * r->cage->vertex_count; k++) {
        result[k] = strength * r->vertex_weights[k / 3] >= 1.0 ? fitted[k] : result[k]; /* to the bit */
    }
cleanup:
    return status;
}
