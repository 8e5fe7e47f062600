/* From handles to the edit that lands on their targets (methods, section 5, "Landing"). Newton finds their impulses; its rows are those of
   the warp at the present edit, so that bent and turned bodies land where they are pulled to. */
#ifndef SN_METHOD_EDIT_LANDING_H
#define SN_METHOD_EDIT_LANDING_H

#include "method/edit/anchors.h"

/* Improves `impulses` (handles x modes of the anchors' basis); `kernels` (modes). `kept`: so many of the first handles were there before, and may be linear.
   `missed` (handles, m): how far each is from its target. */
SnStatus sn_edit_land(SnContext *context, SnEditAnchors *anchors, const SnEditKernel *kernels, const SnEditSettings *settings, size_t count,
                      size_t kept, const SnEditHandle *handles, double *impulses, double *missed, SnEditReport *report);

#endif
