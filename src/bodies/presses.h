// The walls that press on a body, and whether they squeeze it.
#ifndef FLO_BODIES_PRESSES_H
#define FLO_BODIES_PRESSES_H

#include "bodies/body.h"

enum { FLO_MAX_PRESSES = 64 };

// A wall that overlaps the body, and the direction in which it pushes the body.
typedef struct FloPress {
  const FloBody *wall;
  double direction[3], depth;
} FloPress;

typedef struct FloPresses {
  size_t count;
  FloPress list[FLO_MAX_PRESSES];
} FloPresses;

// Keeps the deepest press of each wall for each approximate direction. If the list is full, keeps the deepest
// of all.
void flo_presses_note(FloPresses *presses, const FloBody *wall, const double direction[3], double depth);
// Finds two walls that push in opposite directions, at least one of which moves.
bool flo_presses_find_squeeze(const FloPresses *presses, const FloPress *pair[2]);

#endif
