#include "mesh/distance_field.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "mesh/geometry.h"

#define LAYERS_PER_CHUNK 4
#define CHUNKS_PER_BATCH 8     /* between two looks at the cancel flag */
#define PIECES_PER_LOOK 4096 /* at the cancel flag */
#define SAMPLE_ASIDE 0.01      /* cells */
#define SAMPLE_SPACING 0.25    /* cells, of the samples that find the touched tets */

typedef struct Scatter {
    const SnLattice *lattice;
    const SnSoup *soup;
    SnDistanceField *field;
    size_t first_layer;
} Scatter;

/* Lowers the distances of one kind of points around a piece, in layers below..above of the third axis. */
static void scatter_piece(const Scatter *scatter, size_t piece, int kind, int32_t below, int32_t above)
{
    const SnLattice *lattice = scatter->lattice;
    const double *x = scatter->soup->corners + 9 * piece;
    const double *box = scatter->soup->boxes + 6 * piece;
    double band = scatter->field->band, shift = kind ? 0.5 : 0.0;
    double center[3], point[3], radius = 0.0;
    int32_t low[3], high[3];
    for (int axis = 0; axis < 3; axis++) {
        center[axis] = 0.5 * (box[axis] + box[3 + axis]);
        low[axis] = (int32_t)ceil(box[axis] - band - shift);
        high[axis] = (int32_t)floor(box[3 + axis] + band - shift);
    }
    for (int i = 0; i < 3; i++) {
        radius = sn_largest(radius, sqrt(sn_distance_squared(center, x + 3 * i)));
    }
    low[2] = low[2] > below ? low[2] : below;
    high[2] = high[2] < above ? high[2] : above;
    for (int32_t k = low[2]; k <= high[2]; k++) {
        for (int32_t j = low[1]; j <= high[1]; j++) {
            size_t row = ((size_t)k * (size_t)lattice->counts[1] + (size_t)j) * (size_t)lattice->counts[0];
            float *distances = scatter->field->distances + (kind ? lattice->cube_count : 0) + row;
            point[1] = j + shift;
            point[2] = k + shift;
            for (int32_t i = low[0]; i <= high[0]; i++) {
                point[0] = i + shift;
                /* Most points already know something nearer than the sphere around the piece. */
                double reach = (double)distances[i] + radius;
                if (sn_distance_squared(point, center) >= reach * reach) {
                    continue;
                }
                float distance = (float)sqrt(sn_triangle_distance_squared(point, x, x + 3, x + 6));
                if (distance < distances[i]) {
                    distances[i] = distance;
                }
            }
        }
    }
}

/* Every chunk of layers has one writer, so the order of threads does not matter. */
static void scatter_layers(void *data, size_t chunk, size_t begin, size_t end)
{
    const Scatter *scatter = data;
    int32_t below = (int32_t)(scatter->first_layer + begin);
    int32_t above = (int32_t)(scatter->first_layer + end) - 1;
    double band = scatter->field->band;
    (void)chunk;
    for (size_t piece = 0; piece < scatter->soup->count; piece++) {
        const double *box = scatter->soup->boxes + 6 * piece;
        if (box[2] - band <= above + 0.5 && box[5] + band >= below) {
            scatter_piece(scatter, piece, 0, below, above);
            scatter_piece(scatter, piece, 1, below, above);
        }
    }
}

/* Marks the tets at a sample. Surfaces often lie exactly in lattice planes: the tets of all sides count then. */
static void touch_sample(const SnLattice *lattice, const double sample[3], uint16_t *touched)
{
    static const double ASIDE[4][3] = {{1.0, 0.5, 0.25}, {-1.0, -0.25, 0.5}, {0.25, -1.0, -0.5}, {-0.5, 0.75, -1.0}};
    for (int i = 0; i < 4; i++) {
        double point[3];
        int local;
        for (int axis = 0; axis < 3; axis++) {
            point[axis] = sample[axis] + SAMPLE_ASIDE * ASIDE[i][axis];
        }
        size_t cube = sn_lattice_locate(lattice, point, &local);
        touched[cube] = (uint16_t)(touched[cube] | 1u << local);
    }
}

/* Marks the tets that a piece passes through, by samples. */
static void touch_piece(const SnLattice *lattice, const double *x, uint16_t *touched)
{
    double longest = sqrt(sn_largest(sn_distance_squared(x, x + 3),
                               sn_largest(sn_distance_squared(x + 3, x + 6), sn_distance_squared(x + 6, x))));
    int steps = (int)ceil(longest / SAMPLE_SPACING);
    steps = steps < 1 ? 1 : steps;
    for (int i = 0; i <= steps; i++) {
        for (int j = 0; j <= steps - i; j++) {
            double u = (double)i / steps, v = (double)j / steps, point[3];
            for (int axis = 0; axis < 3; axis++) {
                point[axis] = x[axis] + u * (x[3 + axis] - x[axis]) + v * (x[6 + axis] - x[axis]);
            }
            touch_sample(lattice, point, touched);
        }
    }
}

SnStatus sn_distance_field_build(SnContext *context, const SnLattice *lattice, const SnSoup *soup, double band,
                                 SnDistanceField *field)
{
    SnStatus status = SN_OK;
    size_t layers = (size_t)lattice->counts[2], batch = CHUNKS_PER_BATCH * LAYERS_PER_CHUNK;
    Scatter scatter = {lattice, soup, field, 0};
    *field = (SnDistanceField){0};
    field->band = band;
    SN_TRY_NEW(context, field->distances, sn_lattice_point_count(lattice), float);
    SN_TRY_NEW(context, field->touched, lattice->cube_count, uint16_t);
    for (size_t i = 0; i < sn_lattice_point_count(lattice); i++) {
        field->distances[i] = (float)band;
    }
    sn_context_stage(context, "Measuring the surface", (long)layers);
    for (; scatter.first_layer < layers; scatter.first_layer += batch) {
        size_t left = layers - scatter.first_layer;
        SN_TRY(sn_context_advance(context, (long)scatter.first_layer));
        sn_parallel_for(left < batch ? left : batch, LAYERS_PER_CHUNK, scatter_layers, &scatter);
    }
    for (size_t piece = 0; piece < soup->count; piece++) {
        if (piece % PIECES_PER_LOOK == 0) {
            SN_TRY(sn_context_advance(context, (long)layers));
        }
        touch_piece(lattice, soup->corners + 9 * piece, field->touched);
    }
cleanup:
    if (status != SN_OK) {
        sn_distance_field_clear(field);
    }
    return status;
}

void sn_distance_field_clear(SnDistanceField *field)
{
    sn_release(field->distances);
    sn_release(field->touched);
    *field = (SnDistanceField){0};
}
