// Contacts between bodies as a part of a world's saved state: what the method keeps of each; see save.c.
#ifndef FLO_WORLD_SAVE_CONTACTS_H
#define FLO_WORLD_SAVE_CONTACTS_H

#include "base/saved.h"
#include "state/state.h"

FloStatus flo_save_contacts(const FloWorld *world, FloState *state, FloError *error);
FloStatus flo_check_contacts(const FloWorld *world, const FloState *state, FloError *error);
FloStatus flo_restore_contacts(FloWorld *world, const FloState *state, FloError *error);

#endif
