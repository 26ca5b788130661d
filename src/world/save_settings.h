// What a host may change at run time, as parts of a saved state. States of versions without it are taken as
// they are: nothing had been changed.
#ifndef FLO_WORLD_SAVE_SETTINGS_H
#define FLO_WORLD_SAVE_SETTINGS_H

#include "world/world.h"

FloStatus flo_save_settings(const FloWorld *world, FloState *state, FloError *error);
// Refuses states of a world in which other things were removed, or had another kind.
FloStatus flo_check_settings(const FloWorld *world, const FloState *state, FloError *error);
// The state must have passed the check.
void flo_restore_settings(FloWorld *world, const FloState *state);

#endif
