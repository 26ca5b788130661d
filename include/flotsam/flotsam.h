// The public interface of Flotsam: create a world, add things, step, drive it, ask.
//
//   FloError error;
//   FloWorldDef def = flo_default_world_def();
//   FloWorld *world;
//   if (flo_world_create(&def, &world, &error)) { fputs(error.text, stderr); exit(1); }
//   ... add materials, bodies, fluids ...
//   while (flo_world_time(world) < 1.0) if (flo_world_step(world, NULL, &error)) break;
//   flo_world_destroy(world);
//
// Several worlds may exist at once. Different threads may use different worlds, but only one thread at a time
// may use the same world. Only the assert handler is global. The library never prints and never exits.
//
// Functions that can fail return a FloStatus (FLO_OK is zero) and fill the FloError; its pointer may be NULL.
// In every build they refuse with FLO_BAD_INPUT: NULL where a thing is needed, ids of removed or unknown
// things, and numbers that are not finite where they must be. A function that refuses changes nothing.
// Functions that return a value return zero, false or NULL if they get NULL.
//
// docs/library.md shows ten short programs.
#ifndef FLOTSAM_H
#define FLOTSAM_H

#include "control.h"
#include "joints.h"
#include "query.h"
#include "types.h"
#include "world.h"

#endif
