// Targets for speed, and whether this run reaches them.
#ifndef FLO_BENCH_TARGETS_H
#define FLO_BENCH_TARGETS_H

#include "base/core.h"

typedef enum FloTargetId {
  FLO_TARGET_NEIGHBOURS,
  FLO_TARGET_STEP,
  FLO_TARGET_SPEEDUP,
  FLO_TARGET_PROBE_SHARE,
  FLO_TARGET_ITERATIONS,
  FLO_TARGET_TOWER,
  FLO_TARGET_FORCING,
  FLO_TARGET_RESPONSE,
  FLO_TARGET_CONSTRAINT,
  FLO_TARGET_REAL_TIME,
  FLO_TARGET_SAMPLE,
  FLO_TARGET_RESAMPLE,
  FLO_TARGET_SURFACE,
  FLO_TARGET_MEMORY,
  FLO_TARGET_JOINTS,
  FLO_TARGET_SHEET_FACTORS,
  FLO_TARGET_SHEET_SOLUTION,
  FLO_TARGET_SKIN,
  FLO_TARGET_COUNT
} FloTargetId;

typedef struct FloGoal {
  const char *name, *unit;
  double at_least, aim; // NAN: no further aim
  bool is_less_better;  // then `at_least` is the largest permitted value
} FloGoal;

typedef struct FloTarget {
  FloGoal goal;
  bool is_asked; // a part that measures it ran, even if it got no usable value
  // The worst measured value, so that one good line does not hide a bad one; 0 threads: nothing was measured.
  double measured;
  size_t particles;
  int threads;
} FloTarget;

typedef struct FloTargets {
  FloTarget items[FLO_TARGET_COUNT];
} FloTargets;

FloTargets flo_targets_start(void);
// A value that is not finite only notes that the part ran.
void flo_targets_note(FloTargets *targets, FloTargetId id, double value, size_t particles, int threads);
// "no", "yes" (the required value is reached) or "aim"; NULL if nothing was measured.
const char *flo_target_met(const FloTarget *target);

#endif
