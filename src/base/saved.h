// The state of a world as named arrays: what flo_world_save stores and what checkpoints hold.
#ifndef FLO_BASE_SAVED_H
#define FLO_BASE_SAVED_H

#include "base/memory.h"

#include <stddef.h>

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

// ---- Tables (saved_tables.c): fields of structs, one array for each field over all structs ----

#define FLO_STATE_MUCH 1e18 // no number of a state is larger; exact as a double, and fits 64 bits

// State that a run must save to continue: a member of a struct. Tables of these end with a name of NULL.
typedef struct FloStateField {
  const char *name;
  size_t offset;        // of the member in its struct, in bytes
  size_t count;         // how many doubles it is, or each entry has; 0: it is a bool
  bool is_array;        // it points to entries, as many as a size_t member says:
  size_t length_offset; // of that member
  size_t stride;        // from an entry to the next, in bytes
  size_t inner;         // of the doubles in an entry, in bytes
} FloStateField;

#define FLO_STATE_FIELD(type, member)                                                                        \
  { .name = #member, .offset = offsetof(type, member), .count = sizeof(((type *)0)->member) / sizeof(double) }
#define FLO_STATE_FLAG(type, member)                                                                         \
  { .name = #member, .offset = offsetof(type, member) }
// A pointer to doubles.
#define FLO_STATE_ARRAY(type, member, length)                                                                \
  {                                                                                                          \
    .name = #member, .offset = offsetof(type, member), .count = 1, .is_array = true,                         \
    .length_offset = offsetof(type, length), .stride = sizeof(double)                                        \
  }
// A pointer to structs, of which one member is saved.
#define FLO_STATE_ENTRIES(type, member, entry, field, length)                                                \
  {                                                                                                          \
    .name = #member "." #field, .offset = offsetof(type, member),                                            \
    .count = sizeof(((entry *)0)->field) / sizeof(double), .is_array = true,                                 \
    .length_offset = offsetof(type, length), .stride = sizeof(entry), .inner = offsetof(entry, field)        \
  }

typedef struct FloStateTable {
  char prefix[24];             // the arrays are called prefix/field
  const FloStateField *fields; // NULL: none
  size_t n;                    // number of entries
  // The struct of entry k, or NULL if it has none.
  void *(*at)(const void *owner, const void *which, size_t k);
  const void *owner, *which;
} FloStateTable;

typedef FloStatus (*FloStateTableFn)(FloState *state, const FloStateTable *table, FloError *error);
FloStatus flo_state_add_table(FloState *state, const FloStateTable *table, FloError *error);
// Fails unless the state has all numbers of the table, and they are in range.
FloStatus flo_state_check_table(FloState *state, const FloStateTable *table, FloError *error);
// Fills in the structs. The table must have passed the check.
FloStatus flo_state_restore_table(FloState *state, const FloStateTable *table, FloError *error);

#endif
