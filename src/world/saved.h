// The state of a world as named arrays: what flo_world_save stores and what checkpoints hold.
#ifndef FLO_WORLD_SAVED_H
#define FLO_WORLD_SAVED_H

#include "base/memory.h"

enum { FLO_MAX_STATE_ARRAYS = 128 };

typedef struct FloStateArray {
  char name[48];
  FloType type;
  size_t count;
  FloBuffer buffer;
} FloStateArray;

struct FloState {
  FloMemory memory;
  size_t n_arrays;
  FloStateArray arrays[FLO_MAX_STATE_ARRAYS]; // arrays from n_arrays on keep their memory for later use
};

FloStatus flo_state_create(FloState **state, FloError *error);
// Adds a new array at the end; its values are undefined.
FloStatus flo_state_add(FloState *state, const char *name, FloType type, size_t count, void **data,
                        FloError *error);
// NULL if there is no array of that name.
const FloStateArray *flo_state_find(const FloState *state, const char *name);
FloStatus flo_state_add_copy(FloState *state, const char *name, FloType type, size_t count, const void *from,
                             FloError *error);

// Fails unless the state has this array with this type and count.
FloStatus flo_state_need(const FloState *state, const char *name, FloType type, size_t count,
                         FloError *error);
// Fails unless the array has n doubles between the bounds.
FloStatus flo_state_check_numbers(const FloState *state, const char *name, size_t n, double low, double high,
                                  FloError *error);

#endif
