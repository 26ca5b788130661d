// Neighbour lists as a part of a world's saved state; see save.c.
#ifndef FLO_WORLD_SAVE_LISTS_H
#define FLO_WORLD_SAVE_LISTS_H

#include "base/saved.h"
#include "world/world.h"

FloStatus flo_save_lists(const FloWorld *world, FloState *state, FloError *error);
// `n` is the number of fluid particles in the state.
FloStatus flo_check_lists(const FloWorld *world, const FloState *state, size_t n, FloError *error);
// Makes the lists from the saved positions again, after everything else has been restored.
FloStatus flo_restore_lists(FloWorld *world, const FloState *state, FloError *error);
// How many samples a set has in a state.
size_t flo_save_samples_in(const FloWorld *world, const FloState *state, FloSet set);

#endif
