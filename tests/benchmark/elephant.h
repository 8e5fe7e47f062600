/* A walking elephant, for the rows of fitting and simulating a whole shot: a surface of several shells, its cage, and its frames. */
#ifndef SN_BENCHMARK_ELEPHANT_H
#define SN_BENCHMARK_ELEPHANT_H

#include "scenes.h"
#include "shapes.h"

#include "mesh/cage.h"

#define ELEPHANT_RESOLUTION 25
#define ELEPHANT_BACK 1.35 /* metres: what is higher follows, apart from trunk, ears and tail */
#define ELEPHANT_RATE 24.0 /* frames a second */
#define ELEPHANT_AROUND 32
#define ELEPHANT_RINGS 32 /* along a part, its caps included */

/* A capsule from a to b. From a third of its length on it is turned about its end a, once a second: axis 0 forwards and backwards,
   1 sideways. Metres, Z up, looking along x. */
typedef struct ElephantPart {
    double a[3], b[3], radius;
    int axis;
    double swing, phase; /* radians */
    double follow;       /* weight: 1 follows exactly */
} ElephantPart;

static const ElephantPart ELEPHANT[] = {
    {{0.55, 0.0, 1.05}, {1.25, 0.0, 1.10}, 0.36, 1, 0.10, 0.0, 0.0},   /* belly */
    {{1.35, 0.0, 1.30}, {1.75, 0.0, 1.50}, 0.24, 1, 0.15, 1.0, 1.0},   /* head */
    {{1.85, 0.0, 1.40}, {2.10, 0.0, 0.55}, 0.11, 0, 0.50, 2.0, 0.0},   /* trunk */
    {{1.60, 0.18, 1.55}, {1.50, 0.70, 1.40}, 0.09, 1, 0.40, 0.5, 0.0}, /* ears */
    {{1.60, -0.18, 1.55}, {1.50, -0.70, 1.40}, 0.09, 1, 0.40, 3.6, 0.0},
    {{0.45, 0.22, 0.85}, {0.42, 0.36, 0.16}, 0.15, 0, 0.45, 0.0, 1.0}, /* legs */
    {{0.45, -0.22, 0.85}, {0.42, -0.36, 0.16}, 0.15, 0, 0.45, 3.14, 1.0},
    {{1.30, 0.22, 0.85}, {1.32, 0.36, 0.16}, 0.15, 0, 0.45, 3.14, 1.0},
    {{1.30, -0.22, 0.85}, {1.32, -0.36, 0.16}, 0.15, 0, 0.45, 0.0, 1.0},
    {{0.25, 0.0, 1.20}, {-0.05, 0.0, 0.70}, 0.06, 1, 0.60, 1.5, 0.0},  /* tail */
};
#define ELEPHANT_PARTS (sizeof ELEPHANT / sizeof *ELEPHANT)

typedef struct Elephant {
    Shape shape;
    double *areas, *follow;
    double size;
    SnTetMesh cage;
    SnEmbedding embedding;
    size_t n, t; /* 3 x cage vertices, 3 x surface vertices */
} Elephant;

/* Unit vectors across the part. */
static inline void elephant_frame(const ElephantPart *part, double along[3], double side[3], double up[3])
{
    double length = 0.0;
    for (int k = 0; k < 3; k++) {
        along[k] = part->b[k] - part->a[k];
        length += along[k] * along[k];
    }
    for (int k = 0; k < 3; k++) {
        along[k] /= sqrt(length);
    }
    const double other[3] = {fabs(along[1]) < 0.5 ? 0.0 : 1.0, fabs(along[1]) < 0.5 ? 1.0 : 0.0, 0.0};
    length = 0.0;
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        side[k] = along[i] * other[j] - along[j] * other[i];
        length += side[k] * side[k];
    }
    for (int k = 0; k < 3; k++) {
        side[k] /= sqrt(length);
    }
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        up[k] = along[i] * side[j] - along[j] * side[i];
    }
}

/* Vertex v of a part: rings from cap to cap, the first and last one a point. */
static inline void elephant_point(const ElephantPart *part, int ring, int around, double point[3])
{
    double along[3], side[3], up[3];
    elephant_frame(part, along, side, up);
    double tilt = SCENE_PI * ((double)ring / (ELEPHANT_RINGS - 1) - 0.5), turn = 2.0 * SCENE_PI * around / ELEPHANT_AROUND;
    double share = fmin(fmax((double)(ring - ELEPHANT_RINGS / 4) / (ELEPHANT_RINGS / 2), 0.0), 1.0);
    for (int k = 0; k < 3; k++) {
        point[k] = part->a[k] + share * (part->b[k] - part->a[k]) +
                   part->radius * (sin(tilt) * along[k] + cos(tilt) * (cos(turn) * side[k] + sin(turn) * up[k]));
    }
}

static inline Shape elephant_shape(SnContext *context)
{
    const size_t points = ELEPHANT_RINGS * ELEPHANT_AROUND, faces = 2 * (ELEPHANT_RINGS - 1) * ELEPHANT_AROUND;
    Shape shape = shape_new(context, ELEPHANT_PARTS * points, ELEPHANT_PARTS * faces);
    int32_t *triangle = shape.triangles;
    for (size_t p = 0; p < ELEPHANT_PARTS; p++) {
        for (int k = 0; k < (int)points; k++) {
            int ring = k / ELEPHANT_AROUND, around = k % ELEPHANT_AROUND;
            elephant_point(ELEPHANT + p, ring, around, shape.positions + 3 * (p * points + (size_t)k));
            if (ring + 1 < ELEPHANT_RINGS) {
                int32_t base = (int32_t)(p * points), next = (around + 1) % ELEPHANT_AROUND;
                int32_t a = base + k, b = base + ring * ELEPHANT_AROUND + next, c = a + ELEPHANT_AROUND, d = b + ELEPHANT_AROUND;
                *triangle++ = a, *triangle++ = b, *triangle++ = d;
                *triangle++ = a, *triangle++ = d, *triangle++ = c;
            }
        }
    }
    return shape;
}

/* Distance of x from the axis of a part, in its radii, and how far along it: 0 at a, 1 at b. */
static inline double elephant_distance(const ElephantPart *part, const double x[3], double *along)
{
    double product = 0.0, length = 0.0, squared = 0.0;
    for (int k = 0; k < 3; k++) {
        product += (x[k] - part->a[k]) * (part->b[k] - part->a[k]);
        length += (part->b[k] - part->a[k]) * (part->b[k] - part->a[k]);
    }
    *along = fmin(fmax(product / length, 0.0), 1.0);
    for (int k = 0; k < 3; k++) {
        double offset = x[k] - part->a[k] - *along * (part->b[k] - part->a[k]);
        squared += offset * offset;
    }
    return sqrt(squared) / part->radius;
}

/* Where the swing of a part takes the point. */
static inline void elephant_swing(const ElephantPart *part, double step, double along, const double x[3], double y[3])
{
    double angle = part->swing * sin(step + part->phase) * along * along * (3.0 - 2.0 * along);
    int i = part->axis == 0 ? 2 : 0, j = part->axis == 0 ? 0 : 1, fixed = part->axis == 0 ? 1 : 2;
    double p = x[i] - part->a[i], q = x[j] - part->a[j];
    y[i] = part->a[i] + cos(angle) * p - sin(angle) * q;
    y[j] = part->a[j] + sin(angle) * p + cos(angle) * q;
    y[fixed] = x[fixed];
}

/* The surface at a frame: parts swing, and carry what is near them along as skin does; the whole walks, sways and bounces.
   `surface`: vertices x 3. */
static inline void elephant_pose(const Elephant *elephant, double frame, double *surface)
{
    double time = frame / ELEPHANT_RATE, step = 2.0 * SCENE_PI * time;
    const double sway = 0.06 * sin(step), bounce = 0.05 * sin(2.0 * step);
    for (size_t v = 0; v < elephant->t / 3; v++) {
        const double *x = elephant->shape.positions + 3 * v;
        double sum[3] = {0}, total = 0.0;
        for (size_t p = 0; p < ELEPHANT_PARTS; p++) {
            double along, swung[3], distance = elephant_distance(ELEPHANT + p, x, &along);
            double weight = 1.0 / (0.01 + pow(distance, 6.0));
            elephant_swing(ELEPHANT + p, step, along, x, swung);
            total += weight;
            for (int k = 0; k < 3; k++) {
                sum[k] += weight * swung[k];
            }
        }
        double *out = surface + 3 * v, y[3] = {sum[0] / total, sum[1] / total, sum[2] / total};
        out[0] = y[0] + 0.8 * time;
        out[1] = cos(sway) * y[1] - sin(sway) * y[2];
        out[2] = sin(sway) * y[1] + cos(sway) * y[2] + bounce;
    }
}

static inline Elephant elephant_new(SnContext *context)
{
    Elephant elephant = {.shape = elephant_shape(context)};
    SnTriMesh mesh = shape_mesh(&elephant.shape);
    SnCageSettings settings = sn_cage_settings_default();
    settings.resolution = ELEPHANT_RESOLUTION;
    CHECK(sn_cage_build(context, &mesh, &settings, &elephant.cage, &elephant.embedding) == SN_OK);
    elephant.areas = SN_NEW(context, mesh.vertex_count, double);
    elephant.follow = SN_NEW(context, mesh.vertex_count, double);
    CHECK(sn_tri_mesh_vertex_areas(context, &mesh, elephant.areas) == SN_OK);
    elephant.size = sn_tri_mesh_size(&mesh);
    elephant.n = 3 * elephant.cage.vertex_count;
    elephant.t = 3 * mesh.vertex_count;
    for (size_t v = 0; v < mesh.vertex_count; v++) {
        int back = mesh.positions[3 * v + 2] > ELEPHANT_BACK && mesh.positions[3 * v + 2] < 1.6;
        elephant.follow[v] = back ? 1.0 : ELEPHANT[v / (mesh.vertex_count / ELEPHANT_PARTS)].follow;
    }
    return elephant;
}

static inline void elephant_clear(Elephant *elephant)
{
    shape_clear(&elephant->shape);
    sn_tet_mesh_clear(&elephant->cage);
    sn_embedding_clear(&elephant->embedding);
    sn_release(elephant->areas);
    sn_release(elephant->follow);
}

#endif
