/* Tets that a step has left inside out although the pose has them sound are drawn back, a little in each frame. */
#ifndef SN_METHOD_ENRICH_UNTANGLE_H
#define SN_METHOD_ENRICH_UNTANGLE_H

#include "dynamics/world.h"
#include "energy/tet_elements.h"

typedef struct SnUntangle {
    const SnTetElements *tets;
    size_t vertex_count;
    unsigned char *tangled; /* vertices */
    double *around;         /* vertices x 4: sums over their neighbours */
} SnUntangle;

SnStatus sn_untangle_init(SnContext *context, const SnTetElements *tets, size_t vertex_count, SnUntangle *untangle);
void sn_untangle_clear(SnUntangle *untangle);

/* Mends the state against a pose and its velocity (vertices x 3); vertices that are held in one of two ways (null: none) stay. Returns
   how many tets were inside out. */
size_t sn_untangle(SnUntangle *untangle, const unsigned char *const held[2], const double *pose, const double *pose_velocity,
                   SnState *state);

#endif
