#include "mesh/voxels.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "mesh/geometry.h"

#include <string.h>

#define LARGEST_COUNT 16e6
#define LEAST_FACTOR 2
#define BORDER 3        /* voxels around the surface's box: the flood starts there */
#define NEAR 0.5001     /* voxels: of any two neighbours with the surface between them, one is this close to it */
#define NARROW 0.5      /* voxels: a piece thinner than this may slip between the centres */
#define FLAT 1e-6       /* voxels: a piece thinner than this is a line or a point */
#define BLOCK 4         /* voxels: no hole that matters is smaller */
#define ROWS_PER_CHUNK 4

enum { UNKNOWN = 0, OUTSIDE = 1, FILLED = 2, SURFACE = 3 };

typedef struct Grid {
    const SnEnvelope *envelope;
    const SnVoxels *voxels;
    uint8_t *marks; /* per voxel */
} Grid;

static size_t voxel_at(const SnVoxels *voxels, int32_t i, int32_t j, int32_t k)
{
    return ((size_t)k * (size_t)voxels->counts[1] + (size_t)j) * (size_t)voxels->counts[0] + (size_t)i;
}

static void bounds_of_pieces(const SnSoup *soup, double low[3], double high[3])
{
    for (size_t axis = 0; axis < 3; axis++) {
        low[axis] = INFINITY;
        high[axis] = -INFINITY;
        for (size_t piece = 0; piece < soup->count; piece++) {
            low[axis] = sn_least(low[axis], soup->boxes[6 * piece + axis]);
            high[axis] = sn_largest(high[axis], soup->boxes[6 * piece + 3 + axis]);
        }
    }
}

/* The finest grid that has few enough voxels; false when there is none. */
static int grid_choose(const SnEnvelope *envelope, SnVoxels *voxels)
{
    double low[3], high[3];
    bounds_of_pieces(envelope->soup, low, high);
    for (int factor = SN_VOXELS_FINEST; factor >= LEAST_FACTOR; factor--) {
        double total = 1.0;
        for (int axis = 0; axis < 3; axis++) {
            double count = ceil((high[axis] - low[axis]) * factor) + 2 * BORDER;
            total *= count;
            voxels->low[axis] = 0.5 * (low[axis] + high[axis]) - 0.5 * count / factor;
            voxels->counts[axis] = count < 1e9 ? (int32_t)count : 0;
        }
        if (total <= LARGEST_COUNT) {
            voxels->factor = factor;
            voxels->row_words = ((size_t)voxels->counts[0] + 63) / 64;
            return 1;
        }
    }
    return 0;
}

/* Marks the voxel at every sample of a narrow piece, so that a strip or thin tube stays in one piece. */
static void narrow_piece_mark(const Grid *grid, const double x[9])
{
    double longest = sqrt(sn_largest(sn_distance_squared(x, x + 3),
                                     sn_largest(sn_distance_squared(x + 3, x + 6), sn_distance_squared(x + 6, x))));
    int steps = (int)ceil(2.0 * longest) + 1;
    for (int side = 0; side < 3; side++) {
        const double *a = x + 3 * side, *b = x + 3 * ((side + 1) % 3);
        for (int i = 0; i <= steps; i++) {
            double t = (double)i / steps;
            int32_t place[3];
            for (int axis = 0; axis < 3; axis++) {
                place[axis] = (int32_t)floor(a[axis] + t * (b[axis] - a[axis]));
            }
            grid->marks[voxel_at(grid->voxels, place[0], place[1], place[2])] = SURFACE;
        }
    }
}

/* Marks the voxels whose centres are near a piece. */
static void piece_mark(const Grid *grid, size_t piece)
{
    const SnVoxels *voxels = grid->voxels;
    double x[9], ab[3], ac[3], normal[3];
    int32_t low[3], high[3];
    for (int i = 0; i < 9; i++) {
        x[i] = (grid->envelope->soup->corners[9 * piece + (size_t)i] - voxels->low[i % 3]) * voxels->factor;
    }
    sn_subtract(x + 3, x, ab);
    sn_subtract(x + 6, x, ac);
    sn_cross3(ab, ac, normal);
    double area = sn_length(normal);
    double longest = sqrt(sn_largest(sn_dot3(ab, ab), sn_largest(sn_dot3(ac, ac), sn_distance_squared(x + 3, x + 6))));
    if (area <= FLAT * longest) {
        return;
    }
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = (int32_t)ceil(sn_least(x[axis], sn_least(x[3 + axis], x[6 + axis])) - NEAR - 0.5);
        high[axis] = (int32_t)floor(sn_largest(x[axis], sn_largest(x[3 + axis], x[6 + axis])) + NEAR - 0.5);
    }
    for (int32_t k = low[2]; k <= high[2]; k++) {
        for (int32_t j = low[1]; j <= high[1]; j++) {
            for (int32_t i = low[0]; i <= high[0]; i++) {
                const double center[3] = {i + 0.5, j + 0.5, k + 0.5};
                double away[3];
                sn_subtract(center, x, away);
                if (fabs(sn_dot3(away, normal)) <= NEAR * area &&
                    sn_triangle_distance_squared(center, x, x + 3, x + 6) <= NEAR * NEAR) {
                    grid->marks[voxel_at(voxels, i, j, k)] = SURFACE;
                }
            }
        }
    }
    if (area < NARROW * longest) {
        narrow_piece_mark(grid, x);
    }
}

/* Marks everything OUTSIDE that a walk from the border reaches without meeting SURFACE or FILLED. */
static SnStatus flood(SnContext *context, const Grid *grid)
{
    SnStatus status = SN_OK;
    const int32_t *counts = grid->voxels->counts;
    size_t plane = (size_t)counts[0] * (size_t)counts[1], total = plane * (size_t)counts[2], depth = 0;
    const ptrdiff_t steps[6] = {-1, 1, -(ptrdiff_t)counts[0], counts[0], -(ptrdiff_t)plane, (ptrdiff_t)plane};
    uint8_t *marks = grid->marks;
    int32_t *stack = NULL;
    SN_TRY_NEW(context, stack, total, int32_t);
    for (size_t voxel = 0; voxel < total; voxel++) {
        if (marks[voxel] == OUTSIDE) {
            marks[voxel] = UNKNOWN;
        }
    }
    for (int32_t k = 0; k < counts[2]; k++) {
        for (int32_t j = 0; j < counts[1]; j++) {
            int edge = j == 0 || k == 0 || j == counts[1] - 1 || k == counts[2] - 1;
            for (int32_t i = 0; i < counts[0]; i += edge || i == counts[0] - 1 ? 1 : counts[0] - 1) {
                /* The outermost layer is left out of the walk: it has no neighbours beyond. */
                marks[voxel_at(grid->voxels, i, j, k)] = OUTSIDE;
            }
        }
    }
    /* The surface is BORDER voxels away: one voxel of the second layer reaches all of that layer. */
    size_t start = voxel_at(grid->voxels, 1, 1, 1);
    marks[start] = OUTSIDE;
    stack[depth++] = (int32_t)start;
    while (depth > 0) {
        size_t voxel = (size_t)stack[--depth];
        for (int i = 0; i < 6; i++) {
            size_t next = (size_t)((ptrdiff_t)voxel + steps[i]);
            if (marks[next] == UNKNOWN) {
                marks[next] = OUTSIDE;
                stack[depth++] = (int32_t)next;
            }
        }
    }
cleanup:
    sn_release(stack);
    return status;
}

/* Asks the winding numbers about a block of voxels: once where it is all OUTSIDE, else about its parts. */
static void block_fill(const Grid *grid, const int32_t low[3], int32_t side)
{
    const SnVoxels *voxels = grid->voxels;
    int32_t high[3];
    size_t outside = 0;
    for (int axis = 0; axis < 3; axis++) {
        high[axis] = low[axis] + side < voxels->counts[axis] ? low[axis] + side : voxels->counts[axis];
    }
    for (int32_t k = low[2]; k < high[2]; k++) {
        for (int32_t j = low[1]; j < high[1]; j++) {
            for (int32_t i = low[0]; i < high[0]; i++) {
                outside += grid->marks[voxel_at(voxels, i, j, k)] == OUTSIDE;
            }
        }
    }
    if (outside == 0) {
        return;
    }
    if (outside < (size_t)side * (size_t)side * (size_t)side) {
        for (int part = 0; part < 8; part++) {
            int32_t half = side / 2;
            const int32_t at[3] = {low[0] + (part & 1) * half, low[1] + (part >> 1 & 1) * half, low[2] + (part >> 2) * half};
            block_fill(grid, at, half);
        }
        return;
    }
    double center[3];
    for (int axis = 0; axis < 3; axis++) {
        center[axis] = voxels->low[axis] + (low[axis] + 0.5 * side) / voxels->factor;
    }
    if (!sn_envelope_is_filled(grid->envelope, center)) {
        return;
    }
    for (int32_t k = low[2]; k < high[2]; k++) {
        for (int32_t j = low[1]; j < high[1]; j++) {
            memset(grid->marks + voxel_at(voxels, low[0], j, k), FILLED, (size_t)side);
        }
    }
}

static size_t blocks_along(const SnVoxels *voxels, int axis)
{
    return ((size_t)voxels->counts[axis] + BLOCK - 1) / BLOCK;
}

/* Rows of blocks: each has one writer. */
static void fill_rows(void *data, size_t chunk, size_t begin, size_t end)
{
    const Grid *grid = data;
    size_t rows = blocks_along(grid->voxels, 1);
    (void)chunk;
    for (size_t row = begin; row < end; row++) {
        for (int32_t i = 0; i < grid->voxels->counts[0]; i += BLOCK) {
            const int32_t low[3] = {i, BLOCK * (int32_t)(row % rows), BLOCK * (int32_t)(row / rows)};
            block_fill(grid, low, BLOCK);
        }
    }
}

static void bits_set(const Grid *grid, SnVoxels *voxels)
{
    size_t rows = (size_t)voxels->counts[1] * (size_t)voxels->counts[2], width = (size_t)voxels->counts[0];
    for (size_t row = 0; row < rows; row++) {
        for (size_t i = 0; i < width; i++) {
            if (grid->marks[row * width + i] != OUTSIDE) {
                voxels->bits[row * voxels->row_words + i / 64] |= (uint64_t)1 << i % 64;
            }
        }
    }
}

SnStatus sn_voxels_build(SnContext *context, const SnEnvelope *envelope, SnVoxels *voxels)
{
    SnStatus status = SN_OK;
    Grid grid = {envelope, voxels, NULL};
    *voxels = (SnVoxels){0};
    if (!grid_choose(envelope, voxels)) {
        return SN_OK;
    }
    size_t rows = (size_t)voxels->counts[1] * (size_t)voxels->counts[2];
    SN_TRY_NEW(context, grid.marks, rows * (size_t)voxels->counts[0], uint8_t);
    SN_TRY_NEW(context, voxels->bits, rows * voxels->row_words, uint64_t);
    sn_context_stage(context, "Finding the parts", (long)envelope->soup->count);
    for (size_t piece = 0; piece < envelope->soup->count; piece++) {
        if (piece % 1024 == 0) {
            SN_TRY(sn_context_advance(context, (long)piece));
        }
        piece_mark(&grid, piece);
    }
    SN_TRY(flood(context, &grid));
    if (envelope->winding_count > 0) {
        sn_parallel_for(blocks_along(voxels, 1) * blocks_along(voxels, 2), ROWS_PER_CHUNK, fill_rows, &grid);
        /* What is now enclosed between filled holes and surface is inside too. */
        SN_TRY(flood(context, &grid));
    }
    bits_set(&grid, voxels);
cleanup:
    sn_release(grid.marks);
    if (status != SN_OK) {
        sn_voxels_clear(voxels);
    }
    return status;
}

void sn_voxels_clear(SnVoxels *voxels)
{
    sn_release(voxels->bits);
    *voxels = (SnVoxels){0};
}

uint64_t sn_voxels_row(const SnVoxels *voxels, int32_t first, int32_t j, int32_t k)
{
    if (j < 0 || k < 0 || j >= voxels->counts[1] || k >= voxels->counts[2] || first <= -64 || first >= voxels->counts[0]) {
        return 0;
    }
    const uint64_t *row = voxels->bits + ((size_t)k * (size_t)voxels->counts[1] + (size_t)j) * voxels->row_words;
    if (first < 0) {
        return row[0] << -first;
    }
    size_t word = (size_t)first / 64, shift = (size_t)first % 64;
    uint64_t bits = row[word] >> shift;
    if (shift > 0 && word + 1 < voxels->row_words) {
        bits |= row[word + 1] << (64 - shift);
    }
    return bits;
}
