/* A power of R takes the rotation by quaternions; q and -q are the same rotation but not the same power, so each tet takes the one that
   continues its neighbour. */
#include "dynamics/turns.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "energy/tet_batch.h"

#include <math.h>
#include <string.h>

#define CHUNK ((size_t)512) /* a multiple of SN_LANES */
#define FLAT 0.02  /* a tet of this fraction of its rest volume is mixed linearly ... */
#define SOUND 0.1  /* ... and from here on turned */

struct SnTurns {
    const SnTetMesh *mesh;
    const SnTetElements *elements;
    int32_t *order;    /* tets, each after the one that it continues */
    int32_t *before;   /* tets: that one, -1 for the first of a part */
    double *shapes;    /* 2 x vertices x 3: `from` and `to` that the next two were found for ... */
    int is_found;      /* ... if they were */
    double *axes;      /* tets x 4: while they are found, quaternions w, x, y, z; zero where a tet is flat */
    double *stretches; /* 6 x tets: S as xx, yy, zz, yz, xz, xy */
};

void sn_turns_destroy(SnTurns *turns)
{
    if (turns == NULL) {
        return;
    }
    sn_release(turns->order);
    sn_release(turns->before);
    sn_release(turns->shapes);
    sn_release(turns->axes);
    sn_release(turns->stretches);
    sn_release(turns);
}

/* A breadth-first order over faces, from the tets that touch still vertices; where a part has none, from its first tet. */
static SnStatus order_tets(SnContext *context, SnTurns *turns, const unsigned char *still)
{
    SnStatus status = SN_OK;
    size_t count = turns->mesh->tet_count, found = 0, next = 0;
    int32_t *neighbours = NULL;
    unsigned char *seen = NULL;
    SN_TRY_NEW(context, neighbours, 4 * count, int32_t);
    SN_TRY_NEW(context, seen, count, unsigned char);
    SN_TRY(sn_tet_mesh_neighbours(context, turns->mesh, neighbours));
    for (size_t e = 0; e < count; e++) {
        const int32_t *tet = turns->mesh->tets + 4 * e;
        turns->before[e] = -1;
        if (still[tet[0]] || still[tet[1]] || still[tet[2]] || still[tet[3]]) {
            seen[e] = 1;
            turns->order[found++] = (int32_t)e;
        }
    }
    for (size_t first = 0; first < count; first++) {
        for (; next < found; next++) {
            int32_t e = turns->order[next];
            for (size_t i = 0; i < 4; i++) {
                int32_t beside = neighbours[4 * (size_t)e + i];
                if (beside >= 0 && !seen[beside]) {
                    seen[beside] = 1;
                    turns->before[beside] = e;
                    turns->order[found++] = beside;
                }
            }
        }
        if (!seen[first]) {
            seen[first] = 1;
            turns->order[found++] = (int32_t)first;
        }
    }
cleanup:
    sn_release(neighbours);
    sn_release(seen);
    return status;
}

SnStatus sn_turns_create(SnContext *context, const SnTetMesh *mesh, const SnTetElements *elements, const unsigned char *still,
                         SnTurns **out)
{
    SnStatus status = SN_OK;
    SnTurns *turns = NULL;
    *out = NULL;
    SN_TRY_NEW(context, turns, 1, SnTurns);
    turns->mesh = mesh;
    turns->elements = elements;
    SN_TRY_NEW(context, turns->order, mesh->tet_count, int32_t);
    SN_TRY_NEW(context, turns->before, mesh->tet_count, int32_t);
    SN_TRY_NEW(context, turns->shapes, 6 * mesh->vertex_count, double);
    SN_TRY_NEW(context, turns->axes, 4 * mesh->tet_count, double);
    SN_TRY_NEW(context, turns->stretches, 6 * mesh->tet_count, double);
    SN_TRY(order_tets(context, turns, still));
    *out = turns;
cleanup:
    if (status != SN_OK) {
        sn_turns_destroy(turns);
    }
    return status;
}

const double *sn_turns_axes(const SnTurns *turns)
{
    return turns->axes;
}

typedef struct BetweenJob {
    SnTurns *turns;
    const double *from, *to;
    const double *parts, *start;
    double strength, *missing;
} BetweenJob;

/* How far a gradient of `from` can be trusted: 0 flat or inside out, 1 sound. Its inverse where it can at all, else the identity. */
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

/* Rotation and stretch of every tet. */
static void decompose(void *data, size_t chunk, size_t begin, size_t end)
{
    const BetweenJob *job = data;
    SnTurns *turns = job->turns;
    size_t count = turns->elements->count;
    (void)chunk;
    for (size_t first = begin; first < end; first += SN_LANES) {
        SnTetBatch batch;
        SnLanes rest[9];
        SnLanes from[9], to[9], inverse[9], trust, relative[9], rotation[9], stretch[6], turn[4];
        sn_tet_batch_open(first, end, &batch);
        sn_tet_batch_load(turns->elements->inverse_rest, count, &batch, rest);
        sn_tet_batch_gradients(turns->mesh->tets, &batch, (const SnLanes *)rest, job->from, from);
        sn_tet_batch_gradients(turns->mesh->tets, &batch, (const SnLanes *)rest, job->to, to);
        invert_sound((const SnLanes *)from, inverse, trust);
        sn_tet_batch_multiply((const SnLanes *)to, (const SnLanes *)inverse, relative);
        sn_batch3_polar((const SnLanes *)relative, rotation, stretch);
        quaternions((const SnLanes *)rotation, turn);
        for (int lane = 0; lane < batch.used; lane++) {
            for (size_t k = 0; k < 4; k++) {
                turns->axes[4 * batch.tet[lane] + k] = trust[lane] > 0.0 ? turn[k][lane] : 0.0;
            }
            for (size_t k = 0; k < 6; k++) {
                turns->stretches[k * count + batch.tet[lane]] = stretch[k][lane];
            }
        }
    }
}

/* Of q and -q the one that continues the tet before; a flat tet hands on what it was given. */
static void continue_turns(SnTurns *turns)
{
    for (size_t k = 0; k < turns->elements->count; k++) {
        int32_t e = turns->order[k], before = turns->before[e];
        double *q = turns->axes + 4 * (size_t)e;
        const double *p = turns->axes + 4 * (size_t)(before < 0 ? e : before);
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

void sn_turns_find(SnTurns *turns, const double *from, const double *to)
{
    BetweenJob job = {.turns = turns, .from = from, .to = to};
    size_t count = 3 * turns->mesh->vertex_count, size = count * sizeof *from;
    if (turns->is_found && memcmp(turns->shapes, from, size) == 0 && memcmp(turns->shapes + count, to, size) == 0) {
        return; /* as while a slider moves */
    }
    sn_parallel_for(turns->elements->count, CHUNK, decompose, &job);
    continue_turns(turns);
    sn_parallel_for(turns->elements->count, CHUNK, find_angles, turns->axes);
    memcpy(turns->shapes, from, size);
    memcpy(turns->shapes + count, to, size);
    turns->is_found = 1;
}

void sn_turns_power(const double axis[4], double part, double m[9])
{
    double w = cos(part * axis[0]), s = sin(part * axis[0]), x = s * axis[1], y = s * axis[2], z = s * axis[3];
    m[0] = 1.0 - 2.0 * (y * y + z * z), m[1] = 2.0 * (x * y - w * z), m[2] = 2.0 * (x * z + w * y);
    m[3] = 2.0 * (x * y + w * z), m[4] = 1.0 - 2.0 * (x * x + z * z), m[5] = 2.0 * (y * z - w * x);
    m[6] = 2.0 * (x * z - w * y), m[7] = 2.0 * (y * z + w * x), m[8] = 1.0 - 2.0 * (x * x + y * y);
}

/* missing = wished gradient minus that of the start. */
static void find_missing(void *data, size_t chunk, size_t begin, size_t end)
{
    const BetweenJob *job = data;
    const SnTurns *turns = job->turns;
    size_t count = turns->elements->count;
    (void)chunk;
    for (size_t first = begin; first < end; first += SN_LANES) {
        static const int SYMMETRIC[9] = {0, 5, 4, 5, 1, 3, 4, 3, 2};
        SnTetBatch batch;
        SnLanes rest[9];
        SnLanes from[9], to[9], start[9], inverse[9], trust, weight, rotation[9], stretch[9], turned[9], wished[9];
        sn_tet_batch_open(first, end, &batch);
        sn_tet_batch_load(turns->elements->inverse_rest, count, &batch, rest);
        sn_tet_batch_gradients(turns->mesh->tets, &batch, (const SnLanes *)rest, job->from, from);
        sn_tet_batch_gradients(turns->mesh->tets, &batch, (const SnLanes *)rest, job->to, to);
        sn_tet_batch_gradients(turns->mesh->tets, &batch, (const SnLanes *)rest, job->start, start);
        invert_sound((const SnLanes *)from, inverse, trust);
        for (int lane = 0; lane < SN_LANES; lane++) {
            double one[9];
            weight[lane] = job->strength * job->parts[batch.tet[lane]];
            sn_turns_power(turns->axes + 4 * batch.tet[lane], 1.0 - weight[lane], one);
            for (size_t k = 0; k < 9; k++) {
                rotation[k][lane] = one[k];
                stretch[k][lane] = turns->stretches[(size_t)SYMMETRIC[k] * count + batch.tet[lane]];
            }
        }
        for (int k = 0; k < 9; k++) {
            for (int lane = 0; lane < SN_LANES; lane++) {
                stretch[k][lane] += weight[lane] * ((k % 4 == 0 ? 1.0 : 0.0) - stretch[k][lane]);
            }
        }
        sn_tet_batch_multiply((const SnLanes *)rotation, (const SnLanes *)stretch, turned);
        sn_tet_batch_multiply((const SnLanes *)turned, (const SnLanes *)from, wished);
        for (int k = 0; k < 9; k++) {
            for (int lane = 0; lane < SN_LANES; lane++) {
                double mixed = to[k][lane] + weight[lane] * (from[k][lane] - to[k][lane]);
                double value = mixed + trust[lane] * (wished[k][lane] - mixed);
                value = weight[lane] <= 0.0 ? to[k][lane] : value; /* the ends are exact */
                value = weight[lane] >= 1.0 ? from[k][lane] : value;
                wished[k][lane] = value - start[k][lane];
            }
        }
        for (int lane = 0; lane < batch.used; lane++) {
            double *out = job->missing + 9 * batch.tet[lane];
            for (int k = 0; k < 9; k++) {
                out[k] = wished[k][lane];
            }
        }
    }
}

void sn_turns_between(SnTurns *turns, const double *from, const double *to, const double *parts, double strength, const double *start,
                      double *missing)
{
    BetweenJob job = {turns, from, to, parts, start, strength, missing};
    sn_turns_find(turns, from, to);
    sn_parallel_for(turns->elements->count, CHUNK, find_missing, &job);
}
