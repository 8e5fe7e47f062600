/* Keep Pose: rest shapes that follow the stretch of a pose. */
#include "base/parallel.h"
#include "energy/tet_strain.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* Stretches of a pose between these are followed by the rest shape as they are. Flatter tets, and those inside out, are followed too,
   but weigh less, the flatter they are: else they would be as stiff as they are thin. Beyond the last two a force is left over. */
#define STRETCH_MIN 0.3
#define STRETCH_MAX 3.0
#define STRETCH_FLAT 0.05
#define STRETCH_LONG 20.0

#define INLINE SN_BATCH_INLINE

typedef struct PoseJob {
    const SnTetElements *elements;
    const double *pose;
    double keep;
    const double *keep_scale;
    double *rest, *volume;
    double *left_over;
    atomic_size_t clamped;
} PoseJob;

/* Whether all symmetric matrices (xx, yy, zz, yz, xz, xy) are positive definite after `sign` times them minus `least`. */
INLINE int all_above(double sign, double least, const SnLanes s[6])
{
    double worst = 1.0;
    for (int i = 0; i < SN_LANES; i++) {
        double a = sign * s[0][i] - least, b = sign * s[1][i] - least, c = sign * s[2][i] - least;
        double x = sign * s[3][i], y = sign * s[4][i], z = sign * s[5][i], minor = a * b - z * z;
        double whole = c * minor - a * x * x - b * y * y + 2.0 * x * y * z;
        double lane = a > 0.0 && minor > 0.0 && whole > 0.0 ? 1.0 : 0.0;
        worst = lane < worst ? lane : worst;
    }
    return worst > 0.0;
}

/* inverse = ((1 - keep) I + keep S)⁻¹ from the polar decomposition, where no stretch is to be clamped: much faster than the singular
   values. Returns whether that is so. */
INLINE int unclamped_inverse(const SnTetStrain *batch, const SnLanes keep, SnLanes inverse[9])
{
    SnLanes rotation[9], s[6];
    sn_batch3_polar((const SnLanes *)batch->f, rotation, s);
    if (!all_above(1.0, STRETCH_MIN, (const SnLanes *)s) || !all_above(-1.0, -STRETCH_MAX, (const SnLanes *)s)) {
        return 0;
    }
    for (int i = 0; i < SN_LANES; i++) {
        double a = 1.0 + keep[i] * (s[0][i] - 1.0), b = 1.0 + keep[i] * (s[1][i] - 1.0), c = 1.0 + keep[i] * (s[2][i] - 1.0);
        double x = keep[i] * s[3][i], y = keep[i] * s[4][i], z = keep[i] * s[5][i];
        double xx = b * c - x * x, xy = x * y - z * c, xz = z * x - b * y;
        double scale = 1.0 / (a * xx + z * xy + y * xz);
        inverse[0][i] = scale * xx;
        inverse[1][i] = inverse[3][i] = scale * xy;
        inverse[2][i] = inverse[6][i] = scale * xz;
        inverse[4][i] = scale * (a * c - y * y);
        inverse[5][i] = inverse[7][i] = scale * (y * z - a * x);
        inverse[8][i] = scale * (a * b - z * z);
    }
    return 1;
}

/* The same from the signed singular values, clamped; `outside` is 1 where one had to be, and `weight` is what of its volume a tet has. */
INLINE void clamped_inverse(const SnTetStrain *batch, const SnLanes keep, SnLanes inverse[9], SnLanes weight, SnLanes outside)
{
    SnLanes u[9], sigma[3], v[9], scale[3];
    sn_batch3_svd((const SnLanes *)batch->f, u, sigma, v);
    for (int lane = 0; lane < SN_LANES; lane++) {
        outside[lane] = 0.0;
        weight[lane] = 1.0;
        for (int k = 0; k < 3; k++) {
            double stretch = 1.0 + keep[lane] * (sigma[k][lane] - 1.0), length = fabs(stretch);
            double clamped = fmin(fmax(length, STRETCH_FLAT), STRETCH_LONG), flat = fmin(clamped / STRETCH_MIN, 1.0);
            outside[lane] = clamped != length ? 1.0 : outside[lane];
            weight[lane] *= flat * flat;
            scale[k][lane] = 1.0 / copysign(clamped, stretch);
        }
    }
    for (int k = 0; k < 9; k++) {
        int i = 3 * (k / 3), j = 3 * (k % 3);
        for (int lane = 0; lane < SN_LANES; lane++) {
            inverse[k][lane] = v[i][lane] * scale[0][lane] * v[j][lane] + v[i + 1][lane] * scale[1][lane] * v[j + 1][lane] +
                               v[i + 2][lane] * scale[2][lane] * v[j + 2][lane];
        }
    }
}

static void follow_pose(void *data, size_t chunk, size_t begin, size_t end)
{
    PoseJob *job = data;
    size_t count = job->elements->count, clamped = 0;
    (void)chunk;
    for (size_t start = begin; start < end; start += SN_LANES) {
        SnTetStrain batch;
        SnLanes keep, inverse[9], weight, outside = {0.0};
        sn_tet_strain_load(job->elements, job->elements->inverse_rest, job->pose, start, end, &batch);
        for (int lane = 0; lane < SN_LANES; lane++) {
            keep[lane] = job->keep * job->keep_scale[batch.lanes.tet[lane]];
            weight[lane] = 1.0;
        }
        if (!unclamped_inverse(&batch, keep, inverse)) {
            clamped_inverse(&batch, keep, inverse, weight, outside);
        }
        for (int lane = 0; lane < batch.lanes.used; lane++) {
            size_t tet = batch.lanes.tet[lane];
            clamped += outside[lane] > 0.0;
            job->volume[tet] = weight[lane] * job->elements->volume[tet];
            job->left_over[tet] = weight[lane] * outside[lane] * keep[lane];
        }
        for (int k = 0; k < 9; k++) {
            int i = 3 * (k / 3), j = k % 3;
            for (int lane = 0; lane < batch.lanes.used; lane++) {
                job->rest[(size_t)k * count + batch.lanes.tet[lane]] = batch.b[i][lane] * inverse[j][lane] +
                                                                 batch.b[i + 1][lane] * inverse[3 + j][lane] +
                                                                 batch.b[i + 2][lane] * inverse[6 + j][lane];
            }
        }
    }
    atomic_fetch_add(&job->clamped, clamped);
}

size_t sn_tet_elements_pose_rest(const SnTetElements *elements, const double *pose, double keep, const double *scale, double *rest,
                                 double *volume, double *left_over)
{
    PoseJob job = {.elements = elements, .pose = pose,     .keep = keep,          .keep_scale = scale,
                   .rest = rest,         .volume = volume, .left_over = left_over};
    sn_parallel_for(elements->count, SN_TET_CHUNK, follow_pose, &job);
    return atomic_load(&job.clamped);
}
