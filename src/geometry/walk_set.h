// The places from which walks inwards have begun. A walk costs as much as some hundred candidates. On
// triangles much finer than the spacing most walks would lead to the same places, so one from each cell of
// the surface is enough.
#ifndef FLO_GEOMETRY_WALK_SET_H
#define FLO_GEOMETRY_WALK_SET_H

#include "base/memory.h"

typedef struct FloWalkSet {
  FloBuffer slots; // hash set of cells, uint64_t; 0 is a free slot
  size_t n_used, n_slots;
  double low[3], cell; // low corner of cell 0, and width of a cell [m]
} FloWalkSet;

// Empties the set, which may have been used before.
FloStatus flo_walk_set_begin(FloWalkSet *set, FloMemory *memory, const double low[3], double cell,
                             FloError *error);
bool flo_walk_set_has(const FloWalkSet *set, const double point[3]);
FloStatus flo_walk_set_add(FloWalkSet *set, FloMemory *memory, const double point[3], FloError *error);

#endif
