/* psi = mu sum e² + lambda/2 (sum e)² with e = (s² - 1)/2 above the stretch s = 0.6 and its tangent below (methods, section 1):
   the stress of plain StVK gives way under compression beyond 0.577, this one vanishes at s = 1 alone. */
#include "energy/energy.h"

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

static void density(const SnLanes s[3], const SnLanes mu, const SnLanes lambda, SnLanes out)
{
    for (int i = 0; i < SN_LANES; i++) {
        double a = strain(s[0][i]), b = strain(s[1][i]), c = strain(s[2][i]);
        double trace = a + b + c;
        out[i] = mu[i] * (a * a + b * b + c * c) + 0.5 * lambda[i] * trace * trace;
    }
}

static void derivatives(const SnLanes s[3], const SnLanes mu, const SnLanes lambda, SnStretchDerivatives *out)
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

const SnEnergy sn_energy_stvk = {"stvk", density, derivatives};
