/* The yardstick of the element kernels: forces and projected stiffness of neo-Hookean tets one at a time, as a textbook writes it
   (Irving et al. 2004; Sin, Schroeder, Barbič 2013): decompose F, push nine unit changes of F through the derivative of the stress. */
#ifndef SN_BENCHMARK_TEXTBOOK_H
#define SN_BENCHMARK_TEXTBOOK_H

#include "energy/tet_elements.h"
#include "math/mat3.h"

#include <math.h>
#include <string.h>

/* Classical Jacobi of a symmetric 3x3 matrix: eigenvalues on the diagonal of `m`, eigenvectors in the columns of `axes`. */
static void textbook_eigen(double m[9], double axes[9])
{
    for (int k = 0; k < 9; k++) {
        axes[k] = k % 4 == 0 ? 1.0 : 0.0;
    }
    for (int sweep = 0; sweep < 20; sweep++) {
        double off = m[1] * m[1] + m[2] * m[2] + m[5] * m[5];
        if (off < 1e-30 * (m[0] * m[0] + m[4] * m[4] + m[8] * m[8])) {
            break;
        }
        for (int p = 0; p < 2; p++) {
            for (int q = p + 1; q < 3; q++) {
                if (m[3 * p + q] == 0.0) {
                    continue;
                }
                double zeta = (m[4 * q] - m[4 * p]) / (2.0 * m[3 * p + q]);
                double t = copysign(1.0, zeta) / (fabs(zeta) + sqrt(1.0 + zeta * zeta)), c = 1.0 / sqrt(1.0 + t * t), s = c * t;
                for (int k = 0; k < 3; k++) {
                    double left = m[3 * k + p], right = m[3 * k + q];
                    m[3 * k + p] = c * left - s * right;
                    m[3 * k + q] = s * left + c * right;
                }
                for (int k = 0; k < 3; k++) {
                    double left = m[3 * p + k], right = m[3 * q + k];
                    m[3 * p + k] = c * left - s * right;
                    m[3 * q + k] = s * left + c * right;
                }
                for (int k = 0; k < 3; k++) {
                    double left = axes[3 * k + p], right = axes[3 * k + q];
                    axes[3 * k + p] = c * left - s * right;
                    axes[3 * k + q] = s * left + c * right;
                }
            }
        }
    }
}

static void textbook_transpose(const double m[9], double out[9])
{
    for (int k = 0; k < 9; k++) {
        out[k] = m[3 * (k % 3) + k / 3];
    }
}

/* Stress derivative in the frame of the stretches: dP = D : dF, projected. */
static void textbook_change(const double stretch[9], const double shear[3], const double twist[3], const double df[9], double dp[9])
{
    static const int PAIRS[3][2] = {{1, 2}, {0, 2}, {0, 1}};
    for (int a = 0; a < 3; a++) {
        dp[4 * a] = stretch[3 * a] * df[0] + stretch[3 * a + 1] * df[4] + stretch[3 * a + 2] * df[8];
    }
    for (int k = 0; k < 3; k++) {
        int i = PAIRS[k][0], j = PAIRS[k][1];
        double p = 0.5 * (shear[k] + twist[k]), q = 0.5 * (shear[k] - twist[k]);
        dp[3 * i + j] = p * df[3 * i + j] + q * df[3 * j + i];
        dp[3 * j + i] = p * df[3 * j + i] + q * df[3 * i + j];
    }
}

/* As sn_tet_elements_derivatives, for neo-Hookean tets. */
static void textbook_derivatives(const SnTetElements *elements, const double *positions, double *gradients, double *stiffness)
{
    size_t count = elements->count;
    for (size_t e = 0; e < count; e++) {
        double edges[9], b[9], f[9], transposed[9], c[9], v[9], u[9], s[3], ut[9], vt[9];
        for (size_t k = 0; k < 9; k++) {
            b[k] = elements->inverse_rest[k * count + e];
        }
        sn_mat3_edges(positions, elements->tets + 4 * e, edges);
        sn_mat3_multiply(edges, b, f);
        textbook_transpose(f, transposed);
        sn_mat3_multiply(transposed, f, c);
        textbook_eigen(c, v);
        if (sn_mat3_determinant(v) < 0.0) {
            v[0] = -v[0], v[3] = -v[3], v[6] = -v[6];
        }
        sn_mat3_multiply(f, v, u);
        for (int k = 0; k < 3; k++) {
            s[k] = sqrt(c[4 * k]);
            u[k] /= s[k], u[3 + k] /= s[k], u[6 + k] /= s[k];
        }
        textbook_transpose(u, ut);
        textbook_transpose(v, vt);
        double mu = elements->mu[e], bulk = elements->lambda[e] + mu, pressure = bulk * (s[0] * s[1] * s[2] - 1.0) - mu;
        double area[3] = {s[1] * s[2], s[0] * s[2], s[0] * s[1]}, stretch[9], shear[3], twist[3], axes[9], stress[9] = {0};
        for (int i = 0; i < 3; i++) {
            stress[4 * i] = mu * s[i] + pressure * area[i];
            shear[i] = fmax(mu - pressure * s[i], 0.0);
            twist[i] = fmax(mu + pressure * s[i], 0.0);
            for (int j = 0; j < 3; j++) {
                stretch[3 * i + j] = i == j ? mu + bulk * area[i] * area[i] : bulk * area[i] * area[j] + pressure * s[3 - i - j];
            }
        }
        double values[9], scaled[9];
        memcpy(values, stretch, sizeof values);
        textbook_eigen(values, axes);
        for (int k = 0; k < 9; k++) {
            scaled[k] = axes[k] * fmax(values[4 * (k % 3)], 0.0);
        }
        textbook_transpose(axes, transposed);
        sn_mat3_multiply(scaled, transposed, stretch);

        double half[9], piola[9], shapes[4][3];
        sn_mat3_multiply(u, stress, half);
        sn_mat3_multiply(half, vt, piola);
        for (int a = 0; a < 3; a++) {
            shapes[0][a] = -b[a] - b[3 + a] - b[6 + a];
            for (int i = 0; i < 3; i++) {
                shapes[i + 1][a] = b[3 * i + a];
            }
        }
        for (int i = 0; i < 4; i++) {
            for (int a = 0; a < 3; a++) {
                gradients[12 * e + (size_t)(3 * i + a)] = elements->volume[e] * sn_dot3(piola + 3 * a, shapes[i]);
            }
        }
        double change[9][9]; /* dP for each unit change of F */
        for (int k = 0; k < 9; k++) {
            double unit[9] = {0}, turned[9], df[9], dp[9] = {0};
            unit[k] = 1.0;
            sn_mat3_multiply(ut, unit, turned);
            sn_mat3_multiply(turned, v, df);
            textbook_change(stretch, shear, twist, df, dp);
            sn_mat3_multiply(u, dp, turned);
            sn_mat3_multiply(turned, vt, change[k]);
        }
        double *out = stiffness + SN_TET_STIFFNESS * e;
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j <= i; j++) {
                for (int a = 0; a < 3; a++) {
                    for (int d = 0; d < 3; d++) {
                        double sum = 0.0;
                        for (int m = 0; m < 3; m++) {
                            for (int n = 0; n < 3; n++) {
                                sum += shapes[i][m] * change[3 * d + n][3 * a + m] * shapes[j][n];
                            }
                        }
                        *out++ = elements->volume[e] * sum;
                    }
                }
            }
        }
    }
}

#endif
