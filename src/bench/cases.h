// Worlds to measure, and what was measured.
#ifndef FLO_BENCH_CASES_H
#define FLO_BENCH_CASES_H

#include "base/timer.h"
#include "bench/times.h"
#include "flotsam/flotsam.h"

// A basin full of water: a box of about `particles` particles in a tank, shaken a little, so that they have
// as many neighbours as in a flow and not as in a crystal.
FloStatus flo_case_box(size_t particles, int threads, const char *method, const FloAllocator *allocator,
                       FloWorld **world, FloError *error);
// The dam break that other programs are compared with; scenes/bench/peer-dam.json is the same.
FloStatus flo_case_peer_dam(int threads, FloWorld **world, FloError *error);

// A number in [-1, 1) that looks random.
double flo_case_noise(uint64_t k);

// How long to measure.
typedef struct FloCasePlan {
  int warm_up;        // steps before the clock runs
  int repeats, steps; // measurements, and steps of each
} FloCasePlan;

typedef struct FloCaseResult {
  size_t particles, boundary; // fluid particles, boundary samples
  int threads;
  FloTimes step;                    // of a whole step
  FloTimes stages[FLO_STAGE_COUNT]; // within a step
  const char *stage_names[FLO_STAGE_COUNT];
  FloTimes full_build;     // of all pairs from scratch, lists included, once the particles are sorted
  double searches;         // how often lists were made in a step: 1, or less where they served several steps
  double steps, simulated; // measured steps, and the time they cover [s]
  double iterations;       // of the solver, in a step
  double support;          // of the kernel, in spacings
  size_t pairs, lanes;     // of fluid with fluid and solids: without and with padding
  size_t bytes;            // held by the world
} FloCaseResult;

FloStatus flo_case_measure(FloWorld *world, const FloCasePlan *plan, FloCaseResult *result, FloError *error);

// What a stage moves and computes, estimated from the fields it touches and the size of the pair operator.
typedef struct FloStageCost {
  double bytes, flops; // per particle; NAN where there is no estimate
} FloStageCost;

FloStageCost flo_case_cost(const FloCaseResult *result, FloStage stage);

#endif
