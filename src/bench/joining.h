// The time to solve the joints of many bodies.
#ifndef FLO_BENCH_JOINING_H
#define FLO_BENCH_JOINING_H

#include "bench/times.h"
#include "flotsam/world.h"

typedef enum FloJoiningKind {
  FLO_JOINING_CHAIN,  // one chain, each body on the one before it
  FLO_JOINING_CHAINS, // chains of a hundred bodies
  FLO_JOINING_TREE,   // two bodies on each body
  FLO_JOINING_COUNT
} FloJoiningKind;

typedef struct FloJoiningResult {
  const char *shape; // of the joined bodies
  size_t joints, rows;
  FloTimes factorise; // once a step
  FloTimes solve;     // once an iteration: the exact solution for given velocities
} FloJoiningResult;

// Bodies on so many hinges, on one core.
FloStatus flo_joining_measure(FloJoiningKind kind, size_t joints, int repeats, FloJoiningResult *result,
                              FloError *error);

#endif
