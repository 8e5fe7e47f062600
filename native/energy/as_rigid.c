/* psi = mu sum of (s - 1)² + 8 min(0, s - 1/2)²: as rigid as possible, and firmer where a tet is squeezed to less than half, so that few are
   turned inside out. It has no use for lambda: for small strains it is Hooke's law with Poisson's ratio 0. For shapes that are sought and
   not simulated: but for squeezed tets its stiffness is never more than that of rest, 2 mu times a Laplacian, so a factor of that one
   matrix serves in every shape. */
#include "energy/density.h"

#include <math.h>

#define FIRM_BELOW 0.5
#define FIRMNESS 8.0

static inline double squeeze(double s)
{
    return s < FIRM_BELOW ? s - FIRM_BELOW : 0.0;
}

static void density(const SnLanes s[3], const SnLanes mu, const SnLanes lambda, double *restrict out)
{
    (void)lambda;
    for (int i = 0; i < SN_LANES; i++) {
        double sum = 0.0;
        for (int k = 0; k < 3; k++) {
            sum += (s[k][i] - 1.0) * (s[k][i] - 1.0) + FIRMNESS * squeeze(s[k][i]) * squeeze(s[k][i]);
        }
        out[i] = mu[i] * sum;
    }
}

static void derivatives(const SnLanes s[3], const SnLanes mu, const SnLanes lambda, SnStretchDerivatives *restrict out)
{
    static const int pairs[3][2] = {{1, 2}, {0, 2}, {0, 1}};
    (void)lambda;
    for (int i = 0; i < SN_LANES; i++) {
        for (int k = 0; k < 3; k++) {
            out->stress[k][i] = 2.0 * mu[i] * (s[k][i] - 1.0 + FIRMNESS * squeeze(s[k][i]));
            out->stretch[k][i] = 2.0 * mu[i] * (s[k][i] < FIRM_BELOW ? 1.0 + FIRMNESS : 1.0);
            out->stretch[3 + k][i] = 0.0;
        }
        for (int k = 0; k < 3; k++) {
            int p = pairs[k][0], q = pairs[k][1];
            double difference = s[p][i] - s[q][i], sum = s[p][i] + s[q][i];
            int apart = fabs(difference) > 1e-7;
            double quotient = (out->stress[p][i] - out->stress[q][i]) / (apart ? difference : 1.0);
            out->shear[k][i] = apart ? quotient : 0.5 * (out->stretch[p][i] + out->stretch[q][i]);
            /* an inverted element has a kink where the stretches are opposite: a bounded slope stands for it */
            out->twist[k][i] = (out->stress[p][i] + out->stress[q][i]) / (sum > 1e-3 ? sum : 1e-3);
        }
    }
}

/* P = 2 mu (F - R) with the polar decomposition F = R S, right while nothing is squeezed: S - 1/2 is positive definite. */
static int direct(const SnLanes f[9], const SnLanes mu, const SnLanes lambda, double *restrict out, SnLanes stress[restrict 9])
{
    SnLanes r[9], s[6], plain;
    (void)lambda;
    sn_batch3_polar(f, r, s);
    for (int i = 0; i < SN_LANES; i++) {
        double a = s[0][i] - FIRM_BELOW, b = s[1][i] - FIRM_BELOW, c = s[2][i] - FIRM_BELOW, squares = 0.0;
        double minor = a * b - s[5][i] * s[5][i];
        double whole = c * minor - a * s[3][i] * s[3][i] - b * s[4][i] * s[4][i] + 2.0 * s[3][i] * s[4][i] * s[5][i];
        plain[i] = (a > 0.0) & (minor > 0.0) & (whole > 0.0) ? 1.0 : 0.0;
        for (int k = 0; k < 9; k++) {
            double away = f[k][i] - r[k][i];
            squares += away * away;
            stress[k][i] = 2.0 * mu[i] * away;
        }
        out[i] = mu[i] * squares;
    }
    double count = 0.0;
    for (int i = 0; i < SN_LANES; i++) {
        count += plain[i];
    }
    return count == (double)SN_LANES;
}

const SnDensity sn_density_as_rigid = {"as_rigid", density, derivatives, direct};
