// The time of a step of the falling tower in the paper of the `monolithic` method.
#ifndef FLO_BENCH_TOWER_H
#define FLO_BENCH_TOWER_H

#include "bench/times.h"
#include "flotsam/world.h"

typedef struct FloTowerResult {
  const char *size; // of the scene: "paper", in a quick run "draft"
  bool is_whole;    // of the same size as in the paper
  size_t particles, rigid, boundary;
  int threads;
  FloTimes step;
  double iterations; // of a step
} FloTowerResult;

// `path` is that of the scene.
FloStatus flo_tower_measure(const char *path, int threads, bool is_quick, FloTowerResult *result,
                            FloError *error);

#endif
