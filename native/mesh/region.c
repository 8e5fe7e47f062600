#include "mesh/region.h"

#include "mesh/geometry.h"

#include <string.h>

void sn_region_tet_init(const SnVoxels *voxels, const double corners[4][3], SnRegionTet *tet)
{
    for (int i = 0; i < 4; i++) {
        for (int axis = 0; axis < 3; axis++) {
            tet->corners[i][axis] = (corners[i][axis] - voxels->low[axis]) * voxels->factor;
        }
    }
    for (int i = 0; i < 4; i++) {
        const double *a = tet->corners[(i + 1) % 4], *b = tet->corners[(i + 2) % 4], *c = tet->corners[(i + 3) % 4];
        double ab[3], ac[3], normal[3];
        sn_subtract(b, a, ab);
        sn_subtract(c, a, ac);
        sn_cross3(ab, ac, normal);
        double height = -sn_dot3(normal, a);
        double scale = (sn_dot3(normal, tet->corners[i]) + height < 0.0 ? -1.0 : 1.0) / sn_length(normal);
        for (int axis = 0; axis < 3; axis++) {
            tet->planes[i][axis] = scale * normal[axis];
        }
        if (fabs(tet->planes[i][0]) < 1e-9) {
            tet->planes[i][0] = 0.0;
        }
        tet->inverses[i] = tet->planes[i][0] != 0.0 ? 1.0 / tet->planes[i][0] : 0.0;
        tet->planes[i][3] = scale * height;
    }
}

/* Voxels first..last of the row j, k whose centres are within the margin, within the given ones; first > last: none. */
static void row_interval(const SnRegionTet *tet, double margin, int32_t j, int32_t k, int32_t *first, int32_t *last)
{
    double low = 0.0, high = *last - *first; /* from *first, so that rounding towards zero rounds down */
    for (int i = 0; i < 4; i++) {
        const double *plane = tet->planes[i];
        /* plane . center >= -margin, for the center of voxel x of the row */
        double rest = plane[0] * (*first + 0.5) + plane[1] * (j + 0.5) + plane[2] * (k + 0.5) + plane[3] + margin;
        if (plane[0] > 0.0) {
            low = sn_largest(low, -rest * tet->inverses[i]);
        } else if (plane[0] < 0.0) {
            high = sn_least(high, -rest * tet->inverses[i]);
        } else if (rest < 0.0) {
            high = -1.0;
        }
    }
    if (low > high) {
        *last = *first - 1;
        return;
    }
    *last = *first + (int32_t)high;
    int32_t down = (int32_t)low;
    *first += down + (down < low);
}

/* Bits first..last of a row whose lowest bit is voxel `low`. */
static uint64_t interval_bits(int32_t first, int32_t last, int32_t low)
{
    if (first > last) {
        return 0;
    }
    uint64_t up_to = last - low >= 63 ? ~(uint64_t)0 : ((uint64_t)1 << (last - low + 1)) - 1;
    return up_to & ~(uint64_t)0 << (first - low);
}

static void box_init(const SnRegionTet *tet, double margin, SnRegion *region)
{
    for (int axis = 0; axis < 3; axis++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < 4; i++) {
            low = sn_least(low, tet->corners[i][axis]);
            high = sn_largest(high, tet->corners[i][axis]);
        }
        region->low[axis] = (int32_t)ceil(low - margin - 0.5);
        int32_t count = (int32_t)floor(high + margin - 0.5) - region->low[axis] + 1;
        region->counts[axis] = count < 0 ? 0 : (count > SN_REGION_SIDE ? SN_REGION_SIDE : count);
    }
}

int sn_region_is_solid(const SnVoxels *voxels, const SnRegionTet *tet, double margin)
{
    SnRegion box;
    box_init(tet, margin, &box);
    uint64_t all = interval_bits(0, box.counts[0] - 1, 0);
    for (int32_t k = box.low[2]; k < box.low[2] + box.counts[2]; k++) {
        for (int32_t j = box.low[1]; j < box.low[1] + box.counts[1]; j++) {
            if (all & ~sn_voxels_row(voxels, box.low[0], j, k)) {
                return 0;
            }
        }
    }
    return 1;
}

void sn_region_init(const SnVoxels *voxels, const SnRegionTet *tet, double margin, SnRegion *region)
{
    box_init(tet, margin, region);
    uint64_t *row = region->rows;
    for (int32_t k = region->low[2]; k < region->low[2] + region->counts[2]; k++) {
        for (int32_t j = region->low[1]; j < region->low[1] + region->counts[1]; j++, row++) {
            *row = sn_voxels_row(voxels, region->low[0], j, k);
            if (*row != 0) {
                int32_t first = region->low[0], last = first + region->counts[0] - 1;
                row_interval(tet, margin, j, k, &first, &last);
                *row &= interval_bits(first, last, region->low[0]);
            }
        }
    }
}

/* Grows the piece's row by what its neighbour rows and its own bits touch; true when it grew. */
static int row_grow(const SnRegion *region, SnRegion *piece, int32_t j, int32_t k)
{
    int32_t width = region->counts[1];
    size_t at = (size_t)(k * width + j);
    uint64_t body = region->rows[at], before = piece->rows[at], bits = before;
    if (body == before) {
        return 0;
    }
    for (int32_t z = k > 0 ? k - 1 : k; z <= k + 1 && z < region->counts[2]; z++) {
        for (int32_t y = j > 0 ? j - 1 : j; y <= j + 1 && y < width; y++) {
            bits |= piece->rows[z * width + y];
        }
    }
    bits = (bits | bits << 1 | bits >> 1) & body;
    for (uint64_t last = 0; bits != last;) {
        last = bits;
        bits |= (bits << 1 | bits >> 1) & body;
    }
    piece->rows[at] = bits;
    return bits != before;
}

int sn_region_take(SnRegion *region, SnRegion *piece)
{
    int32_t row_count = region->counts[1] * region->counts[2], first = 0;
    while (first < row_count && region->rows[first] == 0) {
        first++;
    }
    if (first == row_count) {
        return 0;
    }
    memcpy(piece->low, region->low, sizeof piece->low);
    memcpy(piece->counts, region->counts, sizeof piece->counts);
    memset(piece->rows, 0, (size_t)row_count * sizeof *piece->rows);
    piece->rows[first] = region->rows[first] & (~region->rows[first] + 1);
    /* Sweeps up and down until nothing grows: few are needed unless the piece is a maze. */
    for (int grown = 1; grown;) {
        grown = 0;
        for (int32_t row = first; row < row_count; row++) {
            grown |= row_grow(region, piece, row % region->counts[1], row / region->counts[1]);
        }
        for (int32_t row = row_count; grown && row-- > first;) {
            (void)row_grow(region, piece, row % region->counts[1], row / region->counts[1]);
        }
    }
    for (int32_t row = first; row < row_count; row++) {
        region->rows[row] &= ~piece->rows[row];
    }
    return 1;
}

static int lowest_bit(uint64_t bits)
{
    int place = 0;
    for (int half = 32; half > 0; half /= 2) {
        if ((bits & (((uint64_t)1 << half) - 1)) == 0) {
            bits >>= half;
            place += half;
        }
    }
    return place;
}

int sn_region_touches(const SnRegion *piece, const SnRegionTet *tet, double margin, int32_t voxel[3])
{
    double middle[3], nearest = INFINITY;
    for (int axis = 0; axis < 3; axis++) {
        middle[axis] = 0.25 * (tet->corners[0][axis] + tet->corners[1][axis] + tet->corners[2][axis] + tet->corners[3][axis]);
    }
    const uint64_t *row = piece->rows;
    for (int32_t k = piece->low[2]; k < piece->low[2] + piece->counts[2]; k++) {
        for (int32_t j = piece->low[1]; j < piece->low[1] + piece->counts[1]; j++, row++) {
            if (*row == 0) {
                continue;
            }
            int32_t first = piece->low[0], last = first + piece->counts[0] - 1;
            row_interval(tet, margin, j, k, &first, &last);
            for (uint64_t bits = *row & interval_bits(first, last, piece->low[0]); bits != 0; bits &= bits - 1) {
                int32_t i = piece->low[0] + lowest_bit(bits);
                const double center[3] = {i + 0.5, j + 0.5, k + 0.5};
                double distance = sn_distance_squared(center, middle);
                if (distance < nearest) {
                    nearest = distance;
                    voxel[0] = i, voxel[1] = j, voxel[2] = k;
                }
            }
        }
    }
    return nearest < INFINITY;
}

int sn_region_holds(const SnRegionTet *tet, double margin, const int32_t voxel[3])
{
    for (int i = 0; i < 4; i++) {
        const double *plane = tet->planes[i];
        const double center[3] = {voxel[0] + 0.5, voxel[1] + 0.5, voxel[2] + 0.5};
        if (sn_dot3(plane, center) + plane[3] < -margin) {
            return 0;
        }
    }
    return 1;
}

int sn_region_meets(const SnRegion *a, const SnRegion *b)
{
    const SnRegion *left = a->low[0] <= b->low[0] ? a : b, *right = left == a ? b : a;
    int32_t shift = right->low[0] - left->low[0];
    if (shift >= 64) {
        return 0;
    }
    const uint64_t *row = left->rows;
    for (int32_t k = left->low[2] - right->low[2], kk = 0; kk < left->counts[2]; k++, kk++) {
        for (int32_t j = left->low[1] - right->low[1], jj = 0; jj < left->counts[1]; j++, jj++, row++) {
            if (j >= 0 && k >= 0 && j < right->counts[1] && k < right->counts[2] &&
                (*row >> shift & right->rows[k * right->counts[1] + j]) != 0) {
                return 1;
            }
        }
    }
    return 0;
}

double sn_region_distance_squared(const SnVoxels *voxels, const SnRegion *piece, const double point[3])
{
    double place[3], nearest = INFINITY;
    for (int axis = 0; axis < 3; axis++) {
        place[axis] = (point[axis] - voxels->low[axis]) * voxels->factor;
    }
    const uint64_t *row = piece->rows;
    for (int32_t k = piece->low[2]; k < piece->low[2] + piece->counts[2]; k++) {
        for (int32_t j = piece->low[1]; j < piece->low[1] + piece->counts[1]; j++, row++) {
            for (uint64_t bits = *row; bits != 0; bits &= bits - 1) {
                const double center[3] = {piece->low[0] + lowest_bit(bits) + 0.5, j + 0.5, k + 0.5};
                nearest = sn_least(nearest, sn_distance_squared(center, place));
            }
        }
    }
    return nearest;
}

void sn_region_join(SnRegion *piece, const SnRegion *other)
{
    for (int32_t row = 0; row < piece->counts[1] * piece->counts[2]; row++) {
        piece->rows[row] |= other->rows[row];
    }
}
