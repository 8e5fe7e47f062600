/* Shells do not share vertices, but a button must not fall off when its tets are doubled:

            body ######|                 A shell looks from places all over itself (.) for the nearest larger one, and holds on to
            ###########|   .----.        it where it is near enough. One that touches nothing holds on where it is nearest.
            ###########|<--.    |        What lies inside the flesh of a larger one (o, a bone) is hidden: it makes no piece of
            ##o########|<--.    |        its own, and goes with the flesh around it.
            ###########|   .----.
            ###########|    button */
#ifndef SN_MESH_SHELL_HOLDS_H
#define SN_MESH_SHELL_HOLDS_H

#include "mesh/shells.h"

/* Fills `hidden`, `holds` and `hold_starts` of shells that have all the rest. `reach`, cells: as sn_shells_build says. */
SnStatus sn_shells_find_holds(SnContext *context, double reach, SnShells *shells);

#endif
