/* Soft Collider: vertices that follow the input give way where something is caught between them (methods, A10). */
#ifndef SN_DYNAMICS_SOFT_COLLIDER_H
#define SN_DYNAMICS_SOFT_COLLIDER_H

#include "contact/near.h"
#include "dynamics/planes.h"
#include "dynamics/world.h"

typedef struct SnSoftCollider {
    const SnWorld *world;
    unsigned char *soft; /* vertices that give way; owned, as the rest */
    double *give;        /* vertices x 3: how far they do, ... */
    double most;         /* ... at most */
    double *pull;        /* vertices x 4: what presses on them, N, and how stiffly, N/m */
} SnSoftCollider;

/* The world must outlive it. */
SnStatus sn_soft_collider_init(SnContext *context, const SnWorld *world, double edge_length, SnSoftCollider *soft);
void sn_soft_collider_clear(SnSoftCollider *soft);

/* What has given way is told by the state (vertices x 3, as the pose): there is nothing else to keep of it. */
void sn_soft_collider_find(SnSoftCollider *soft, const double *pose, const double *positions);

int sn_soft_collider_any(const SnSoftCollider *soft);

/* Where soft vertices are: off the input by what presses on them, as stiff as the flesh is on the whole (`hardness`, N/m of each
   unknown). Each round takes a step towards that, the shorter the stiffer the planes are that answer to it. */
void sn_soft_collider_give(SnSoftCollider *soft, const SnSurface *surface, const SnTouches *touches, const SnPlanes *planes,
                           const double *hardness);

/* Moves them there. */
void sn_soft_collider_place(const SnSoftCollider *soft, const double *pose, double *positions);

#endif
