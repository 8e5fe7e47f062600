/* psi = mu sum e² + lambda/2 (sum e)² with e = (s² - 1)/2 above the stretch s = 0.6 and its tangent below (methods, section 1):
   the stress of plain StVK gives way under compression beyond 0.577, this one vanishes at s = 1 alone. */
#include "energy/density.h"

#include <math.h>

#define EXTRAPOLATE_BELOW 0.6

static inline double strain(double s)
{
    double tangent = 0.5 * (EXTRAPOLATE_BELOW * EXTRAPOLATE_BELOW - 1.0) + EXTRAPOLATE_BELOW * (s - EXTRAPOLATE_BELOW);
    return s >= EXTRAPOLATE_BELOW ? 0.5 * (s - 1.0) * (s + 1.0) : tangent;
}

static inline double strain_slope(double s)
{
    return s >= EXTRAPOLATE_BELOW ? s : EXTRAPOLATE_BELOW;
}

static inline double strain_curvature(double s)
{
    return s >= EXTRAPOLATE_BELOW ? 1.0 : 0.0;
}

static void density(const SnLanes s[3], const SnLanes mu, const SnLanes lambda, double *restrict out)
{
    for (int i = 0; i < SN_LANES; i++) {
        double a = strain(s[0][i]), b = strain(s[1][i]), c = strain(s[2][i]);
        double trace = a + b + c;
        out[i] = mu[i] * (a * a + b * b + c * c) + 0.5 * lambda[i] * trace * trace;
    }
}

static void derivatives(const SnLanes s[3], const SnLanes mu, const SnLanes lambda, SnStretchDerivatives *restrict out)
{
    static const int pairs[3][2] = {{1, 2}, {0, 2}, {0, 1}};
    for (int i = 0; i < SN_LANES; i++) {
        double slope[3], by_strain[3];
        double trace = strain(s[0][i]) + strain(s[1][i]) + strain(s[2][i]);
        for (int k = 0; k < 3; k++) {
            slope[k] = strain_slope(s[k][i]);
            by_strain[k] = 2.0 * mu[i] * strain(s[k][i]) + lambda[i] * trace;
            out->stress[k][i] = by_strain[k] * slope[k];
            out->stretch[k][i] = (2.0 * mu[i] + lambda[i]) * slope[k] * slope[k] + by_strain[k] * strain_curvature(s[k][i]);
        }
        for (int k = 0; k < 3; k++) {
            int p = pairs[k][0], q = pairs[k][1];
            double cross = lambda[i] * slope[p] * slope[q];
            double difference = s[p][i] - s[q][i], sum = s[p][i] + s[q][i];
            int apart = fabs(difference) > 1e-7;
            double quotient = (out->stress[p][i] - out->stress[q][i]) / (apart ? difference : 1.0);
            double limit = 0.5 * (out->stretch[p][i] + out->stretch[q][i]) - cross;
            out->stretch[3 + k][i] = cross;
            out->shear[k][i] = apart ? quotient : limit;
            /* an inverted element has a kink where the stretches are opposite: a bounded slope stands for it */
            out->twist[k][i] = (out->stress[p][i] + out->stress[q][i]) / (sum > 1e-3 ? sum : 1e-3);
        }
    }
}

/* P = F (2 mu E + lambda tr E I) with Green's strain E, right while no stretch is below the extrapolation: C = FᵀF minus the
   square of that stretch is positive definite (its leading minors are), and F is not reflected. */
static int direct(const SnLanes f[9], const SnLanes mu, const SnLanes lambda, double *restrict out, SnLanes stress[restrict 9])
{
    const double margin = EXTRAPOLATE_BELOW * EXTRAPOLATE_BELOW * (1.0 + 1e-9);
    SnLanes plain;
    for (int i = 0; i < SN_LANES; i++) {
        double cofactor[9], e[6];
        SN_COFACTOR(f, i, cofactor)
        double determinant = f[0][i] * cofactor[0] + f[1][i] * cofactor[1] + f[2][i] * cofactor[2];
        e[0] = f[0][i] * f[0][i] + f[3][i] * f[3][i] + f[6][i] * f[6][i];
        e[1] = f[1][i] * f[1][i] + f[4][i] * f[4][i] + f[7][i] * f[7][i];
        e[2] = f[2][i] * f[2][i] + f[5][i] * f[5][i] + f[8][i] * f[8][i];
        e[3] = f[1][i] * f[2][i] + f[4][i] * f[5][i] + f[7][i] * f[8][i];
        e[4] = f[0][i] * f[2][i] + f[3][i] * f[5][i] + f[6][i] * f[8][i];
        e[5] = f[0][i] * f[1][i] + f[3][i] * f[4][i] + f[6][i] * f[7][i];
        double a = e[0] - margin, b = e[1] - margin, c = e[2] - margin;
        double minor = a * b - e[5] * e[5];
        double whole = c * minor - a * e[3] * e[3] - b * e[4] * e[4] + 2.0 * e[3] * e[4] * e[5];
        plain[i] = (a > 0.0) & (minor > 0.0) & (whole > 0.0) & (determinant > 0.0) ? 1.0 : 0.0;
        for (int k = 0; k < 6; k++) {
            e[k] = 0.5 * (e[k] - (k < 3 ? 1.0 : 0.0));
        }
        double trace = e[0] + e[1] + e[2];
        double squares = e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + 2.0 * (e[3] * e[3] + e[4] * e[4] + e[5] * e[5]);
        out[i] = mu[i] * squares + 0.5 * lambda[i] * trace * trace;
        double pressure = lambda[i] * trace, twice = 2.0 * mu[i];
        for (int row = 0; row < 3; row++) {
            double x = f[3 * row][i], y = f[3 * row + 1][i], z = f[3 * row + 2][i];
            stress[3 * row][i] = pressure * x + twice * (x * e[0] + y * e[5] + z * e[4]);
            stress[3 * row + 1][i] = pressure * y + twice * (x * e[5] + y * e[1] + z * e[3]);
            stress[3 * row + 2][i] = pressure * z + twice * (x * e[4] + y * e[3] + z * e[2]);
        }
    }
    double count = 0.0;
    for (int i = 0; i < SN_LANES; i++) {
        count += plain[i];
    }
    return count == (double)SN_LANES;
}

const SnDensity sn_density_stvk = {"stvk", density, derivatives, direct};
