// The parts of the motion of a step that keep fluid out of solids.
#ifndef FLO_STATE_KEEP_OUT_H
#define FLO_STATE_KEEP_OUT_H

#include "state/state.h"

// Deflects fluid particles [begin, end) that would enter a wall within dt.
void flo_world_keep_out(FloWorld *world, size_t begin, size_t end, double dt);
// Keeps fluid out of bodies that forces move; they get the opposite impulse. After the drift, which took dt,
// and before these bodies move.
void flo_world_keep_out_of_bodies(FloWorld *world, double dt);
// Gives bodies that contacts press on their impulses of this kind. After these bodies have moved.
void flo_world_push_late(FloWorld *world);
// Keeps fluid on its side of soft bodies, after all bodies were advanced (keep_off.c).
void flo_world_keep_off(FloWorld *world, double dt);

#endif
