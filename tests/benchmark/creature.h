/* Bodies for the benchmark of the engine, at any resolution: a creature of thin limbs, a ball, and a state in lively motion. */
#ifndef SN_BENCHMARK_CREATURE_H
#define SN_BENCHMARK_CREATURE_H

#include "scenes.h"

/* Distance of p from the segment a-b. */
static inline double capsule_distance(const double p[3], const double a[3], const double b[3])
{
    double along = 0.0, length = 0.0, squared = 0.0;
    for (int k = 0; k < 3; k++) {
        along += (p[k] - a[k]) * (b[k] - a[k]);
        length += (b[k] - a[k]) * (b[k] - a[k]);
    }
    double s = fmin(fmax(along / length, 0.0), 1.0);
    for (int k = 0; k < 3; k++) {
        double offset = p[k] - a[k] - s * (b[k] - a[k]);
        squared += offset * offset;
    }
    return sqrt(squared);
}

/* A quadruped with tail, trunk and ears, in a box of 1 x 0.4 x 0.7. */
static inline int creature_has(const double p[3])
{
    static const struct { double a[3], b[3], radius; } PARTS[] = {
        {{0.30, 0.20, 0.40}, {0.62, 0.20, 0.42}, 0.055}, /* trunk of the body */
        {{0.62, 0.20, 0.45}, {0.80, 0.20, 0.56}, 0.042}, /* neck and head */
        {{0.81, 0.20, 0.56}, {0.96, 0.20, 0.22}, 0.025}, /* proboscis */
        {{0.78, 0.24, 0.58}, {0.76, 0.37, 0.55}, 0.02}, {{0.78, 0.16, 0.58}, {0.76, 0.03, 0.55}, 0.02}, /* ears */
        {{0.28, 0.24, 0.36}, {0.26, 0.31, 0.05}, 0.032},  {{0.28, 0.16, 0.36}, {0.26, 0.09, 0.05}, 0.032},
        {{0.62, 0.24, 0.38}, {0.64, 0.31, 0.05}, 0.032},  {{0.62, 0.16, 0.38}, {0.64, 0.09, 0.05}, 0.032},
        {{0.25, 0.20, 0.42}, {0.04, 0.20, 0.30}, 0.02}, /* tail */
    };
    for (size_t k = 0; k < sizeof PARTS / sizeof *PARTS; k++) {
        if (capsule_distance(p, PARTS[k].a, PARTS[k].b) <= PARTS[k].radius) {
            return 1;
        }
    }
    return 0;
}

static inline int ball_has(const double p[3])
{
    static const double CENTRE[3] = {0.5, 0.2, 0.35};
    return capsule_distance(p, CENTRE, (const double[3]){0.5, 0.2, 0.3501}) <= 0.2;
}

typedef int (*BodyShape)(const double p[3]);

/* Cells of 1/`cells` metres whose centre lies in the shape, each cut into six tets. */
static inline SnTetMesh body_mesh(SnContext *context, BodyShape shape, int cells)
{
    const int counts[3] = {cells, (int)ceil(0.4 * cells), (int)ceil(0.7 * cells)};
    const double size[3] = {1.0, (double)counts[1] / cells, (double)counts[2] / cells};
    size_t all = (size_t)counts[0] * (size_t)counts[1] * (size_t)counts[2];
    unsigned char *present = SN_NEW(context, all, unsigned char);
    size_t k = 0;
    for (int x = 0; x < counts[0]; x++) {
        for (int y = 0; y < counts[1]; y++) {
            for (int z = 0; z < counts[2]; z++, k++) {
                const double centre[3] = {(x + 0.5) / cells, (y + 0.5) / cells, (z + 0.5) / cells};
                present[k] = (unsigned char)shape(centre);
            }
        }
    }
    SnTetMesh mesh = scene_mask(context, counts, size, present);
    sn_release(present);
    return mesh;
}

/* Turning as a whole, and bent and twisted ever further from the middle: all parts are in motion. */
static inline void body_motion(const Scene *scene, double speed, SnState *state)
{
    memcpy(state->positions, scene->mesh.positions, scene->n * sizeof(double));
    for (size_t v = 0; v < scene->mesh.vertex_count; v++) {
        const double *x = scene->mesh.positions + 3 * v;
        double along = x[0] - 0.5, across = x[1] - 0.2, up = x[2] - 0.35;
        double twist = 4.0 * along;
        state->velocities[3 * v] = -speed * across;
        state->velocities[3 * v + 1] = speed * (along - twist * up);
        state->velocities[3 * v + 2] = speed * (twist * across + 4.0 * along * along);
    }
}

#endif
