/* psi = mu/2 (|s|² - 3) - mu (J - 1) + l/2 (J - 1)² with l = lambda + mu, which makes the small-strain limit Hooke's law
   with Lamé parameters mu and lambda. J = s0 s1 s2. */
#include "energy/density.h"

static void density(const SnLanes s[3], const SnLanes mu, const SnLanes lambda, double *restrict out)
{
    for (int i = 0; i < SN_LANES; i++) {
        double volume = s[0][i] * s[1][i] * s[2][i] - 1.0;
        /* (s² - 1) summed as (s - 1)(s + 1): no cancellation near rest */
        double squares = (s[0][i] - 1.0) * (s[0][i] + 1.0) + (s[1][i] - 1.0) * (s[1][i] + 1.0) +
                         (s[2][i] - 1.0) * (s[2][i] + 1.0);
        out[i] = 0.5 * mu[i] * squares - mu[i] * volume + 0.5 * (lambda[i] + mu[i]) * volume * volume;
    }
}

static void derivatives(const SnLanes s[3], const SnLanes mu, const SnLanes lambda, SnStretchDerivatives *restrict out)
{
    for (int i = 0; i < SN_LANES; i++) {
        double a = s[0][i], b = s[1][i], c = s[2][i];
        double bulk = lambda[i] + mu[i];
        double pressure = bulk * (a * b * c - 1.0) - mu[i];
        double area[3] = {b * c, a * c, a * b};
        out->stress[0][i] = mu[i] * a + pressure * area[0];
        out->stress[1][i] = mu[i] * b + pressure * area[1];
        out->stress[2][i] = mu[i] * c + pressure * area[2];
        out->stretch[0][i] = mu[i] + bulk * area[0] * area[0];
        out->stretch[1][i] = mu[i] + bulk * area[1] * area[1];
        out->stretch[2][i] = mu[i] + bulk * area[2] * area[2];
        out->stretch[3][i] = bulk * area[1] * area[2] + pressure * a;
        out->stretch[4][i] = bulk * area[0] * area[2] + pressure * b;
        out->stretch[5][i] = bulk * area[0] * area[1] + pressure * c;
        for (int k = 0; k < 3; k++) {
            out->shear[k][i] = mu[i] - pressure * s[k][i];
            out->twist[k][i] = mu[i] + pressure * s[k][i];
        }
    }
}

/* P = mu F + (l (J - 1) - mu) cof F */
static int direct(const SnLanes f[9], const SnLanes mu, const SnLanes lambda, double *restrict out, SnLanes stress[restrict 9])
{
    for (int i = 0; i < SN_LANES; i++) {
        double cofactor[9];
        SN_COFACTOR(f, i, cofactor)
        double volume = f[0][i] * cofactor[0] + f[1][i] * cofactor[1] + f[2][i] * cofactor[2] - 1.0;
        double squares = -3.0, bulk = lambda[i] + mu[i], pressure = bulk * volume - mu[i];
        for (int k = 0; k < 9; k++) {
            squares += f[k][i] * f[k][i];
            stress[k][i] = mu[i] * f[k][i] + pressure * cofactor[k];
        }
        out[i] = 0.5 * mu[i] * squares - mu[i] * volume + 0.5 * bulk * volume * volume;
    }
    return 1;
}

const SnDensity sn_density_neo_hookean = {"neo_hookean", density, derivatives, direct};
