/* 3x3 decompositions of a batch of matrices at once: structure of arrays, so that the compiler vectorises over the lanes. */
#ifndef SN_MATH_BATCH3_H
#define SN_MATH_BATCH3_H

#include "math/registers.h"

/* Lanes of a batch: two registers or more, so that one's roots and quotients are computed while the other's are waited for. */
#define SN_LANES (SN_DOUBLES > 4 ? 2 * SN_DOUBLES : 8)

typedef double SnLanes[SN_LANES];

/* Signed singular value decomposition F = U diag(sigma) Vᵀ of row-major matrices F[9]: U and V are rotations (det +1),
   sigma[0] >= sigma[1] >= |sigma[2]|, and sigma[2] has the sign of det F. */
void sn_batch3_svd(const SnLanes f[9], SnLanes u[9], SnLanes sigma[3], SnLanes v[9]);

/* Polar decomposition F = R S of row-major matrices: R a rotation (det +1), S symmetric (xx, yy, zz, yz, xz, xy), with a negative
   eigenvalue where det F is negative. Several times as fast as the singular values where F is far from flat. */
void sn_batch3_polar(const SnLanes f[9], SnLanes r[9], SnLanes s[6]);

/* Replaces symmetric matrices (xx, yy, zz, yz, xz, xy) by their positive semi-definite part. */
void sn_batch3_project_psd(SnLanes m[6]);

/* Cofactors of the row-major batch `m` in one lane. */
#define SN_COFACTOR(m, lane, out)                                         \
    (out)[0] = (m)[4][lane] * (m)[8][lane] - (m)[5][lane] * (m)[7][lane]; \
    (out)[1] = (m)[5][lane] * (m)[6][lane] - (m)[3][lane] * (m)[8][lane]; \
    (out)[2] = (m)[3][lane] * (m)[7][lane] - (m)[4][lane] * (m)[6][lane]; \
    (out)[3] = (m)[2][lane] * (m)[7][lane] - (m)[1][lane] * (m)[8][lane]; \
    (out)[4] = (m)[0][lane] * (m)[8][lane] - (m)[2][lane] * (m)[6][lane]; \
    (out)[5] = (m)[1][lane] * (m)[6][lane] - (m)[0][lane] * (m)[7][lane]; \
    (out)[6] = (m)[1][lane] * (m)[5][lane] - (m)[2][lane] * (m)[4][lane]; \
    (out)[7] = (m)[2][lane] * (m)[3][lane] - (m)[0][lane] * (m)[5][lane]; \
    (out)[8] = (m)[0][lane] * (m)[4][lane] - (m)[1][lane] * (m)[3][lane];

#endif
