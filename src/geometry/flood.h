// Fluid that spreads through the free points of a lattice, from one point to its neighbours.
#ifndef FLO_GEOMETRY_FLOOD_H
#define FLO_GEOMETRY_FLOOD_H

#include "geometry/shapes.h"

typedef struct FloFlood {
  FloFluidLattice lattice;
  int dim;
  FloFluidPacking packing; // of the lattice
  long n[3];               // points along the axes
  bool wraps[3];           // axes whose ends are neighbours
  bool (*is_free)(void *context, const double x[3]);
  FloStatus (*fill)(void *context, const double x[3], FloError *error); // once for each point that is reached
  void *context;
} FloFlood;

// Fails where fluid would leave the lattice. None is reached if the start is not free.
FloStatus flo_flood_spread(const FloFlood *flood, const long start[3], FloMemory *memory, size_t *n_reached,
                           FloError *error);

#endif
