/* From handles and contacts to an edit that gives way where they contradict each other. Every row has a spring: the least of
   ½ ∫ forces² + ½ Σ residual² / (give S_aa), where rows that hold from one side count only what is passed. There is always one, no row can
   ask for more than its spring bears, and what is missed tells which rows are at odds. */
#ifndef SN_METHOD_EDIT_YIELDING_H
#define SN_METHOD_EDIT_YIELDING_H

#include "method/edit/anchors.h"

/* As sn_edit_land. */
SnStatus sn_edit_yield(SnContext *context, SnEditAnchors *anchors, const SnEditKernel *kernels, const SnEditSettings *settings, size_t count,
                       size_t kept, const SnEditHandle *handles, double *impulses, double *missed, SnEditReport *report);

#endif
