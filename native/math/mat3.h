/* Small 3-vectors and row-major 3x3 matrices, one at a time; batch3.h has the vectorised ones. */
#ifndef SN_MATH_MAT3_H
#define SN_MATH_MAT3_H

#include <math.h>

#define SN_PI 3.14159265358979323846

static inline double sn_dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void sn_cross3(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static inline double sn_mat3_determinant(const double m[9])
{
    return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
           m[2] * (m[3] * m[7] - m[4] * m[6]);
}

/* Returns the determinant; `out` is untouched when it is zero. */
static inline double sn_mat3_inverse(const double m[9], double out[9])
{
    double determinant = sn_mat3_determinant(m);
    if (determinant != 0.0) {
        double scale = 1.0 / determinant;
        out[0] = (m[4] * m[8] - m[5] * m[7]) * scale;
        out[1] = (m[2] * m[7] - m[1] * m[8]) * scale;
        out[2] = (m[1] * m[5] - m[2] * m[4]) * scale;
        out[3] = (m[5] * m[6] - m[3] * m[8]) * scale;
        out[4] = (m[0] * m[8] - m[2] * m[6]) * scale;
        out[5] = (m[2] * m[3] - m[0] * m[5]) * scale;
        out[6] = (m[3] * m[7] - m[4] * m[6]) * scale;
        out[7] = (m[1] * m[6] - m[0] * m[7]) * scale;
        out[8] = (m[0] * m[4] - m[1] * m[3]) * scale;
    }
    return determinant;
}

static inline void sn_mat3_multiply(const double a[9], const double b[9], double out[9])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
        }
    }
}

/* Columns x1 - x0, x2 - x0, x3 - x0 of a tet. */
static inline void sn_mat3_edges(const double *positions, const int tet[4], double out[9])
{
    for (int row = 0; row < 3; row++) {
        double origin = positions[3 * tet[0] + row];
        for (int column = 0; column < 3; column++) {
            out[3 * row + column] = positions[3 * tet[column + 1] + row] - origin;
        }
    }
}

#endif
