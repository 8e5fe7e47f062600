/* On which side of a plane a point lies, without doubt: a rounded determinant where its error is bounded, else sums of doubles that
   lose nothing (Shewchuk 1997). */
#ifndef SN_CONTACT_ORIENTATION_H
#define SN_CONTACT_ORIENTATION_H

#include "mesh/geometry.h"

/* The sign (-1, 0, 1) of sn_volume_six(a, b, c, d), exactly. */
int sn_orientation_exact(const double a[3], const double b[3], const double c[3], const double d[3]);

static inline int sn_orientation(const double a[3], const double b[3], const double c[3], const double d[3])
{
    double u[3], v[3], w[3];
    sn_subtract(b, a, u);
    sn_subtract(c, a, v);
    sn_subtract(d, a, w);
    double vw = v[1] * w[2], wv = v[2] * w[1], wu = w[1] * u[2], uw = w[2] * u[1], uv = u[1] * v[2], vu = u[2] * v[1];
    double volume = u[0] * (vw - wv) + v[0] * (wu - uw) + w[0] * (uv - vu);
    double most = fabs(u[0]) * (fabs(vw) + fabs(wv)) + fabs(v[0]) * (fabs(wu) + fabs(uw)) + fabs(w[0]) * (fabs(uv) + fabs(vu));
    double bound = 7.772e-16 * most + 1e-300; /* (7 + 56 eps) eps, and what underflows */
    return volume > bound ? 1 : volume < -bound ? -1 : sn_orientation_exact(a, b, c, d);
}

#endif
