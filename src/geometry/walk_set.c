#include "geometry/walk_set.h"

#include "base/vecmath.h"

#include <string.h>

FloStatus flo_walk_set_begin(FloWalkSet *set, FloMemory *memory, const double low[3], double cell,
                             FloError *error) {
  const size_t n_slots = 1024;
  vec_copy(low, set->low);
  set->cell = cell;
  if (set->n_slots < n_slots) {
    FLO_TRY(flo_buffer_reserve(memory, &set->slots, n_slots * sizeof(uint64_t), 0, error));
    set->n_slots = n_slots;
  }
  set->n_used = 0;
  memset(set->slots.data, 0, set->n_slots * sizeof(uint64_t));
  return FLO_OK;
}

// The finaliser of splitmix64 (Steele et al. 2014) over the numbers of a cell; never 0.
static uint64_t key_of(const FloWalkSet *set, const double point[3]) {
  uint64_t hash = 0;
  for (int axis = 0; axis < 3; ++axis) {
    hash = (hash ^ (uint64_t)fmax((point[axis] - set->low[axis]) / set->cell, 0)) + 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ hash >> 27) * 0x94d049bb133111ebu;
    hash ^= hash >> 31;
  }
  return hash | 1;
}

static uint64_t *find_slot(const FloWalkSet *set, uint64_t key) {
  uint64_t *slots = set->slots.data;
  size_t mask = set->n_slots - 1, slot = (size_t)(key >> 7) & mask;
  while (slots[slot] && slots[slot] != key) slot = (slot + 1) & mask;
  return &slots[slot];
}

bool flo_walk_set_has(const FloWalkSet *set, const double point[3]) {
  return *find_slot(set, key_of(set, point)) != 0;
}

FloStatus flo_walk_set_add(FloWalkSet *set, FloMemory *memory, const double point[3], FloError *error) {
  uint64_t key = key_of(set, point);
  *find_slot(set, key) = key;
  if (2 * ++set->n_used < set->n_slots) return FLO_OK;
  FloBuffer old = set->slots;
  size_t n_old = set->n_slots;
  set->slots = (FloBuffer){0};
  FloStatus status = flo_buffer_reserve(memory, &set->slots, 4 * n_old * sizeof(uint64_t), 0, error);
  if (status == FLO_OK) {
    set->n_slots = 4 * n_old;
    memset(set->slots.data, 0, set->n_slots * sizeof(uint64_t));
    for (size_t k = 0; k < n_old; ++k) {
      uint64_t other = ((uint64_t *)old.data)[k];
      if (other) *find_slot(set, other) = other;
    }
  }
  flo_buffer_free(memory, &old);
  return status;
}
