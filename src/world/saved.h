// The state of a world as named arrays: what flo_world_save keeps and what checkpoints hold.
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
  FloStateArray arrays[FLO_MAX_STATE_ARRAYS]; // those behind n_arrays keep their room for the next time
};

FloStatus flo_state_create(FloState **state, FloError *error);
// A new array of that name at the end, its values undefined.
FloStatus flo_state_add(FloState *state, const char *name, FloType type, size_t count, void **data,
                        FloError *error);
// NULL if there is none.
const FloStateArray *flo_state_find(const FloState *state, const char *name);
FloStatus flo_state_add_copy(FloState *state, const char *name, FloType type, size_t count, const void *from,
                             FloError *error);

// What a state must be for a world to take it.
FloStatus flo_state_need(const FloState *state, const char *name, FloType type, size_t count,
                         FloError *error);
// Doubles between bounds.
FloStatus flo_state_check_numbers(const FloState *state, const char *name, size_t n, double low, double high,
                                  FloError *error);

#endif
