/* One-sided Jacobi (Hestenes) for the SVD: it works on F itself, so small singular values keep their relative accuracy,
   which squaring into FᵀF would lose. */
#include "math/batch3.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define SVD_SWEEPS 6
#define EIGEN_SWEEPS 5
#define POLAR_ROUNDS 10
#define POLAR_FLAT 1e-10 /* squared volume over that of a cube of the same size: below it stretches differ too much for Newton */
#define TINY 1e-290
#define ORTHOGONAL 1e-26 /* squared cosine */

static inline int all_zero(const SnLanes flags)
{
    double sum = 0.0;
    for (int lane = 0; lane < SN_LANES; lane++) {
        sum += flags[lane];
    }
    return sum == 0.0;
}

/* Rotates columns p and q of the row-major 3x3 batch by (c, s). */
#define ROTATE_COLUMNS(m, p, q, c, s, lane)                              \
    for (int row = 0; row < 3; row++) {                                  \
        double left = (m)[3 * row + (p)][lane];                          \
        double right = (m)[3 * row + (q)][lane];                         \
        (m)[3 * row + (p)][lane] = (c) * left - (s) * right;             \
        (m)[3 * row + (q)][lane] = (s) * left + (c) * right;             \
    }

/* Tangent of the Jacobi angle that removes `off` between diagonal entries a and b; 0 when there is nothing to remove. */
static inline double jacobi_tangent(double a, double b, double off)
{
    double safe = off == 0.0 ? 1.0 : off;
    double zeta = (b - a) / (2.0 * safe);
    double tangent = copysign(1.0, zeta) / (fabs(zeta) + sqrt(1.0 + zeta * zeta));
    return fabs(off) <= TINY ? 0.0 : tangent;
}

/* Sets `skew` where the columns were not orthogonal yet. */
static inline void orthogonalise_columns(SnLanes b[9], SnLanes v[9], int p, int q, SnLanes skew)
{
    for (int lane = 0; lane < SN_LANES; lane++) {
        double pp = b[p][lane] * b[p][lane] + b[3 + p][lane] * b[3 + p][lane] + b[6 + p][lane] * b[6 + p][lane];
        double qq = b[q][lane] * b[q][lane] + b[3 + q][lane] * b[3 + q][lane] + b[6 + q][lane] * b[6 + q][lane];
        double pq = b[p][lane] * b[q][lane] + b[3 + p][lane] * b[3 + q][lane] + b[6 + p][lane] * b[6 + q][lane];
        skew[lane] = pq * pq > ORTHOGONAL * pp * qq ? 1.0 : skew[lane];
        double tangent = jacobi_tangent(pp, qq, pq);
        double cosine = 1.0 / sqrt(1.0 + tangent * tangent);
        double sine = cosine * tangent;
        ROTATE_COLUMNS(b, p, q, cosine, sine, lane)
        ROTATE_COLUMNS(v, p, q, cosine, sine, lane)
    }
}

/* Swaps columns p and q where q is longer, with one sign flipped so that V stays a rotation. */
static inline void sort_columns(SnLanes b[9], SnLanes v[9], int p, int q)
{
    for (int lane = 0; lane < SN_LANES; lane++) {
        double pp = b[p][lane] * b[p][lane] + b[3 + p][lane] * b[3 + p][lane] + b[6 + p][lane] * b[6 + p][lane];
        double qq = b[q][lane] * b[q][lane] + b[3 + q][lane] * b[3 + q][lane] + b[6 + q][lane] * b[6 + q][lane];
        double swap = qq > pp ? 1.0 : 0.0;
        double keep = 1.0 - swap;
        ROTATE_COLUMNS(b, p, q, keep, -swap, lane)
        ROTATE_COLUMNS(v, p, q, keep, -swap, lane)
    }
}

/* U and sigma from B = F V, whose columns are orthogonal and sorted. Columns that vanish are completed to a rotation. */
static inline void normalise_columns(const SnLanes b[9], SnLanes u[9], SnLanes sigma[3])
{
    for (int lane = 0; lane < SN_LANES; lane++) {
        double b0 = b[0][lane], b1 = b[3][lane], b2 = b[6][lane];
        double c0 = b[1][lane], c1 = b[4][lane], c2 = b[7][lane];
        double first = sqrt(b0 * b0 + b1 * b1 + b2 * b2);
        int has_first = first > TINY;
        double scale = has_first ? 1.0 / first : 0.0;
        double x0 = has_first ? b0 * scale : 1.0, x1 = b1 * scale, x2 = b2 * scale;

        /* second axis: orthogonal to the first by construction; projected again against rounding */
        double along = c0 * x0 + c1 * x1 + c2 * x2;
        c0 -= along * x0;
        c1 -= along * x1;
        c2 -= along * x2;
        double second = sqrt(c0 * c0 + c1 * c1 + c2 * c2);
        int has_second = second > 1e-15 * first && second > TINY;
        /* any axis across the first: the coordinate axis furthest from it, projected */
        double a0 = fabs(x0), a1 = fabs(x1), a2 = fabs(x2);
        double e0 = (a0 <= a1 && a0 <= a2) ? 1.0 : 0.0;
        double e1 = (e0 == 0.0 && a1 <= a2) ? 1.0 : 0.0;
        double e2 = 1.0 - e0 - e1;
        double on = e0 * x0 + e1 * x1 + e2 * x2;
        double n0 = has_second ? c0 : e0 - on * x0;
        double n1 = has_second ? c1 : e1 - on * x1;
        double n2 = has_second ? c2 : e2 - on * x2;
        double inverse = 1.0 / sqrt(n0 * n0 + n1 * n1 + n2 * n2);
        double y0 = n0 * inverse, y1 = n1 * inverse, y2 = n2 * inverse;
        /* once more: a short second column carries the first one's rounding */
        double again = y0 * x0 + y1 * x1 + y2 * x2;
        y0 -= again * x0;
        y1 -= again * x1;
        y2 -= again * x2;
        inverse = 1.0 / sqrt(y0 * y0 + y1 * y1 + y2 * y2);
        y0 *= inverse;
        y1 *= inverse;
        y2 *= inverse;

        double z0 = x1 * y2 - x2 * y1, z1 = x2 * y0 - x0 * y2, z2 = x0 * y1 - x1 * y0;
        u[0][lane] = x0, u[1][lane] = y0, u[2][lane] = z0;
        u[3][lane] = x1, u[4][lane] = y1, u[5][lane] = z1;
        u[6][lane] = x2, u[7][lane] = y2, u[8][lane] = z2;
        /* equal ones differ by rounding: the order holds all the same */
        double middle = has_second ? (second < first ? second : first) : 0.0;
        double last = b[2][lane] * z0 + b[5][lane] * z1 + b[8][lane] * z2;
        sigma[0][lane] = first;
        sigma[1][lane] = middle;
        sigma[2][lane] = last > middle ? middle : (last < -middle ? -middle : last);
    }
}

/* b = f / scale, the scale a power of two near the largest entry: squares neither overflow nor vanish, and no bit is lost. */
static inline void divide_by_scale(const SnLanes f[9], SnLanes b[9], SnLanes scale)
{
    for (int lane = 0; lane < SN_LANES; lane++) {
        double largest = 0.0;
        for (int k = 0; k < 9; k++) {
            largest = fabs(f[k][lane]) > largest ? fabs(f[k][lane]) : largest;
        }
        uint64_t bits;
        memcpy(&bits, &largest, sizeof bits);
        bits &= UINT64_C(0x7ff0000000000000);
        memcpy(&scale[lane], &bits, sizeof bits);
        scale[lane] = bits == 0 ? 1.0 : scale[lane];
        double inverse = 1.0 / scale[lane];
        for (int k = 0; k < 9; k++) {
            b[k][lane] = f[k][lane] * inverse;
        }
    }
}

void sn_batch3_svd(const SnLanes f[9], SnLanes u[9], SnLanes sigma[3], SnLanes v[9])
{
    SnLanes b[9], scale;
    divide_by_scale(f, b, scale);
    for (int k = 0; k < 9; k++) {
        for (int lane = 0; lane < SN_LANES; lane++) {
            v[k][lane] = k % 4 == 0 ? 1.0 : 0.0;
        }
    }
    for (int sweep = 0; sweep < SVD_SWEEPS; sweep++) {
        SnLanes skew = {0.0};
        orthogonalise_columns(b, v, 0, 1, skew);
        orthogonalise_columns(b, v, 0, 2, skew);
        orthogonalise_columns(b, v, 1, 2, skew);
        if (all_zero(skew)) {
            break; /* near rest three sweeps do */
        }
    }
    sort_columns(b, v, 0, 1);
    sort_columns(b, v, 0, 2);
    sort_columns(b, v, 1, 2);
    normalise_columns((const SnLanes *)b, u, sigma);
    for (int k = 0; k < 3; k++) {
        for (int lane = 0; lane < SN_LANES; lane++) {
            sigma[k][lane] *= scale[lane];
        }
    }
}

/* Newton's iteration X <- (g X + X⁻ᵀ / g) / 2, scaled by g so that large and small stretches meet half way; it ends in R. Returns
   whether it did in all lanes; it gives up where F is flat or inside out. There a step looks as good afterwards as any, but has left F. */
static inline int polar_by_newton(const SnLanes f[9], SnLanes x[9])
{
    SnLanes far = {0.0}, bad = {0.0};
    for (int k = 0; k < 9; k++) {
        for (int lane = 0; lane < SN_LANES; lane++) {
            x[k][lane] = f[k][lane];
        }
    }
    for (int round = 0; round < POLAR_ROUNDS; round++) {
        for (int lane = 0; lane < SN_LANES; lane++) {
            double cofactor[9], size = 0.0, other = 0.0, moved = 0.0;
            SN_COFACTOR(x, lane, cofactor)
            double determinant = x[0][lane] * cofactor[0] + x[1][lane] * cofactor[1] + x[2][lane] * cofactor[2];
            for (int k = 0; k < 9; k++) {
                size += x[k][lane] * x[k][lane];
                other += cofactor[k] * cofactor[k];
            }
            int good = determinant * determinant > POLAR_FLAT * size * size * size && determinant > 0.0;
            double scale = sqrt(sqrt(other / size) / (good ? determinant : 1.0));
            double keep = 0.5 * scale, add = 0.5 / (scale * (good ? determinant : 1.0));
            for (int k = 0; k < 9; k++) {
                double next = keep * x[k][lane] + add * cofactor[k];
                moved += (next - x[k][lane]) * (next - x[k][lane]);
                x[k][lane] = next;
            }
            /* it converges quadratically: after so small a step nothing is left to do */
            far[lane] = moved < 1e-17 ? 0.0 : 1.0;
            bad[lane] = good ? 0.0 : 1.0;
        }
        if (!all_zero(bad)) {
            return 0;
        }
        if (all_zero(far)) {
            return 1;
        }
    }
    return 0;
}

void sn_batch3_polar(const SnLanes f[9], SnLanes r[9], SnLanes s[6])
{
    static const int ROW[6] = {0, 1, 2, 1, 0, 0}, COLUMN[6] = {0, 1, 2, 2, 2, 1};
    SnLanes u[9], sigma[3], v[9];
    if (polar_by_newton(f, r)) {
        for (int k = 0; k < 6; k++) {
            int i = ROW[k], j = COLUMN[k];
            for (int lane = 0; lane < SN_LANES; lane++) {
                double one = r[i][lane] * f[j][lane] + r[3 + i][lane] * f[3 + j][lane] + r[6 + i][lane] * f[6 + j][lane];
                double two = r[j][lane] * f[i][lane] + r[3 + j][lane] * f[3 + i][lane] + r[6 + j][lane] * f[6 + i][lane];
                s[k][lane] = 0.5 * (one + two);
            }
        }
        return;
    }
    sn_batch3_svd(f, u, sigma, v);
    for (int k = 0; k < 9; k++) {
        int i = 3 * (k / 3), j = 3 * (k % 3);
        for (int lane = 0; lane < SN_LANES; lane++) {
            r[k][lane] = u[i][lane] * v[j][lane] + u[i + 1][lane] * v[j + 1][lane] + u[i + 2][lane] * v[j + 2][lane];
        }
    }
    for (int k = 0; k < 6; k++) {
        int i = 3 * ROW[k], j = 3 * COLUMN[k];
        for (int lane = 0; lane < SN_LANES; lane++) {
            s[k][lane] = v[i][lane] * sigma[0][lane] * v[j][lane] + v[i + 1][lane] * sigma[1][lane] * v[j + 1][lane] +
                         v[i + 2][lane] * sigma[2][lane] * v[j + 2][lane];
        }
    }
}

/* One two-sided Jacobi rotation of the symmetric matrix: removes `off` between pp and qq; rp, rq couple to the third axis. */
static inline void eigen_rotate(SnLanes pp, SnLanes qq, SnLanes off, SnLanes rp, SnLanes rq, SnLanes axes[9], int p, int q)
{
    for (int lane = 0; lane < SN_LANES; lane++) {
        double tangent = jacobi_tangent(pp[lane], qq[lane], off[lane]);
        double cosine = 1.0 / sqrt(1.0 + tangent * tangent);
        double sine = cosine * tangent;
        pp[lane] -= tangent * off[lane];
        qq[lane] += tangent * off[lane];
        off[lane] = 0.0;
        double third_p = rp[lane], third_q = rq[lane];
        rp[lane] = cosine * third_p - sine * third_q;
        rq[lane] = sine * third_p + cosine * third_q;
        ROTATE_COLUMNS(axes, p, q, cosine, sine, lane)
    }
}

/* Whether all matrices are positive definite beyond rounding, by their leading minors: then nothing is to be projected. */
static inline int all_positive(const SnLanes m[6])
{
    SnLanes negative = {0.0};
    for (int lane = 0; lane < SN_LANES; lane++) {
        double xx = m[0][lane], yy = m[1][lane], zz = m[2][lane], yz = m[3][lane], xz = m[4][lane], xy = m[5][lane];
        double minor = xx * yy - xy * xy;
        double whole = zz * minor - xx * yz * yz - yy * xz * xz + 2.0 * yz * xz * xy;
        int positive = xx > 0.0 && minor > 1e-12 * xx * yy && whole > 1e-12 * xx * yy * zz;
        negative[lane] = positive ? 0.0 : 1.0;
    }
    return all_zero(negative);
}

void sn_batch3_project_psd(SnLanes m[6])
{
    SnLanes d[6], axes[9];
    if (all_positive((const SnLanes *)m)) {
        return;
    }
    for (int lane = 0; lane < SN_LANES; lane++) {
        for (int k = 0; k < 6; k++) {
            d[k][lane] = m[k][lane];
        }
        for (int k = 0; k < 9; k++) {
            axes[k][lane] = k % 4 == 0 ? 1.0 : 0.0;
        }
    }
    for (int sweep = 0; sweep < EIGEN_SWEEPS; sweep++) {
        eigen_rotate(d[0], d[1], d[5], d[4], d[3], axes, 0, 1);
        eigen_rotate(d[0], d[2], d[4], d[5], d[3], axes, 0, 2);
        eigen_rotate(d[1], d[2], d[3], d[5], d[4], axes, 1, 2);
    }
    for (int lane = 0; lane < SN_LANES; lane++) {
        double a = d[0][lane] > 0.0 ? d[0][lane] : 0.0;
        double b = d[1][lane] > 0.0 ? d[1][lane] : 0.0;
        double c = d[2][lane] > 0.0 ? d[2][lane] : 0.0;
#define ENTRY(i, j)                                                                   \
    (a * axes[3 * (i)][lane] * axes[3 * (j)][lane] + b * axes[3 * (i) + 1][lane] * axes[3 * (j) + 1][lane] + \
     c * axes[3 * (i) + 2][lane] * axes[3 * (j) + 2][lane])
        m[0][lane] = ENTRY(0, 0);
        m[1][lane] = ENTRY(1, 1);
        m[2][lane] = ENTRY(2, 2);
        m[3][lane] = ENTRY(1, 2);
        m[4][lane] = ENTRY(0, 2);
        m[5][lane] = ENTRY(0, 1);
#undef ENTRY
    }
}
