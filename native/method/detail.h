/* Detail (methods, eq. 9): what the cage cannot carry of the input surface comes back, turned and stretched with the cage. */
#ifndef SN_METHOD_DETAIL_H
#define SN_METHOD_DETAIL_H

#include "mesh/embedding.h"

/* result = input + C (simulated - fitted) + G (input - C fitted), G the gradient of the added motion; exactly the input where
   simulated equals fitted. `input` may be null: then the result is C simulated, without detail.
   G is averaged at the cage vertices over tets that the fit has not flattened, and interpolated, so that detail does not break at
   tet faces as it would with a constant G per tet. Cages are cage vertices x 3, surfaces surface vertices x 3. */
SnStatus sn_detail_apply(SnContext *context, const SnTetMesh *cage, const SnEmbedding *embedding, const double *fitted,
                         const double *simulated, const double *input, double *result);

#endif
