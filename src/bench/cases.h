// Worlds for measurements, and the results.
#ifndef FLO_BENCH_CASES_H
#define FLO_BENCH_CASES_H

#include "base/timer.h"
#include "bench/times.h"
#include "flotsam/world.h"

// A basin full of water: a box of about `particles` particles in a tank. Positions have some noise, so that
// particles have as many neighbours as in a flow.
FloStatus flo_case_box(size_t particles, int threads, const char *method, const FloAllocator *allocator,
                       FloWorld **world, FloError *error);
// The dam break that other programs are compared with; scenes/bench/peer-dam.json is the same.
FloStatus flo_case_peer_dam(int threads, FloWorld **world, FloError *error);

// A pseudo-random number in [-1, 1).
double flo_case_noise(uint64_t k);

// Length of the measurement.
typedef struct FloCasePlan {
  int warm_up;        // steps before the measurement
  int repeats, steps; // number of measurements, and steps in each
} FloCasePlan;

typedef struct FloCaseResult {
  size_t particles, boundary; // fluid particles, boundary samples
  int threads;
  FloTimes step;                    // time of a whole step
  FloTimes stages[FLO_STAGE_COUNT]; // within a step
  const char *stage_names[FLO_STAGE_COUNT];
  FloTimes full_build;     // time to find all pairs from scratch, including lists, after sorting
  double searches;         // neighbour lists made per step: 1, or less if lists are used for several steps
  double steps, simulated; // measured steps, and the time they cover [s]
  double iterations;       // of the solver, in a step
  double support;          // of the kernel, in spacings
  size_t pairs, lanes;     // pairs of fluid with fluid and solids, without and with padding
  size_t bytes;            // memory of the world
} FloCaseResult;

FloStatus flo_case_measure(FloWorld *world, const FloCasePlan *plan, FloCaseResult *result, FloError *error);

// Memory traffic and flops of a stage, estimated from its fields and the size of the pair operator.
typedef struct FloStageCost {
  double bytes, flops; // per particle; NAN if there is no estimate
} FloStageCost;

FloStageCost flo_case_cost(const FloCaseResult *result, FloStage stage);

#endif
