#include "dynamics/laplacian.h"

void sn_laplacian_slopes(const SnTetElements *elements, size_t tet, double slopes[12])
{
    double volume = elements->volume[tet];
    for (size_t a = 0; a < 3; a++) {
        for (size_t i = 0; i < 3; i++) {
            slopes[3 * (i + 1) + a] = volume * elements->inverse_rest[(3 * i + a) * elements->count + tet];
        }
        slopes[a] = -slopes[3 + a] - slopes[6 + a] - slopes[9 + a];
    }
}

void sn_laplacian_add(const SnTetElements *elements, const SnAssembly *assembly, double scale, double *values)
{
    for (size_t e = 0; e < elements->count; e++) {
        double slopes[12];
        sn_laplacian_slopes(elements, e, slopes);
        for (size_t i = 0; i < 4; i++) {
            for (size_t j = 0; j < 4; j++) {
                int32_t row = assembly->unknown[elements->tets[4 * e + i]], column = assembly->unknown[elements->tets[4 * e + j]];
                if (column >= 0 && row >= column) {
                    double product = slopes[3 * i] * slopes[3 * j] + slopes[3 * i + 1] * slopes[3 * j + 1] +
                                     slopes[3 * i + 2] * slopes[3 * j + 2];
                    values[sn_block_pattern_find(&assembly->pattern, row, column)] += scale * product / elements->volume[e];
                }
            }
        }
    }
}
