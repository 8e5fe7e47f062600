/* Which bodies press on each other. */
#ifndef SN_DYNAMICS_PLANE_GROUPS_H
#define SN_DYNAMICS_PLANE_GROUPS_H

#include "dynamics/planes.h"
#include "dynamics/world.h"

/* groups (the world's bodies): the first of the bodies that press on each other at the last value of the planes, itself where none does; -1
   where something of them presses on what is kinematic. */
void sn_plane_groups(const SnWorld *world, const SnPlanes *planes, int32_t *groups);

#endif
