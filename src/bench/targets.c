#include "bench/targets.h"

#include <math.h>

// Name, unit, required value, aim, and whether less is better.
static const FloGoal goals[FLO_TARGET_COUNT] = {
    [FLO_TARGET_NEIGHBOURS] = {"neighbour build", "particles/s/core", 3e6, 6e6, false},
    [FLO_TARGET_STEP] = {"wcsph whole step", "particle steps/s/core", 2e6, 4e6, false},
    [FLO_TARGET_SPEEDUP] = {"speed-up from 1 to 2 threads", "", 1.7, 1.9, false},
    [FLO_TARGET_PROBE_SHARE] = {"force sweep, share of the probe", "", 0.6, 0.9, false},
    [FLO_TARGET_ITERATIONS] = {"monolithic solver", "particle iterations/s/core", 5e6, 1e7, false},
    [FLO_TARGET_TOWER] = {"monolithic, tower of the paper", "times fewer core seconds", 8, 15, false},
    [FLO_TARGET_FORCING] = {"direct-forcing whole step", "particle steps/s/core", 1.5e6, 3e6, false},
    [FLO_TARGET_RESPONSE] = {"direct-forcing response", "share of the step", 0.01, NAN, true},
    [FLO_TARGET_CONSTRAINT] = {"constraint solver", "particle iterations/s/core", 4e6, 8e6, false},
    [FLO_TARGET_REAL_TIME] = {"constraint, 15 iterations", "particles at 10 steps/s", 6e4, 1.2e5, false},
    [FLO_TARGET_SAMPLE] = {"cloth of 90,000 triangles, sampled", "ms", 5, 3, true},
    [FLO_TARGET_RESAMPLE] = {"the same, sampled again in a step", "ms", 2, 1, true},
    [FLO_TARGET_SURFACE] = {"surface", "s/million particles", 6, 3, true},
    [FLO_TARGET_JOINTS] = {"10,000 hinges, one solution", "ms", 5, NAN, true},
    [FLO_TARGET_SHEET_FACTORS] = {"sheet of 46,000 vertices, factors", "s", 1.5, NAN, true},
    [FLO_TARGET_SHEET_SOLUTION] = {"sheet of 46,000 vertices, one solution", "ms", 40, NAN, true},
    [FLO_TARGET_SKIN] = {"samples of cloth, with the transfer of forces", "share of the step", 0.05, NAN,
                         true},
    [FLO_TARGET_MEMORY] = {"memory", "bytes/particle", 1200, 800, true},
};

FloTargets flo_targets_start(void) {
  FloTargets targets = {0};
  for (size_t k = 0; k < FLO_TARGET_COUNT; ++k) targets.items[k].goal = goals[k];
  return targets;
}

void flo_targets_note(FloTargets *targets, FloTargetId id, double value, size_t particles, int threads) {
  FloTarget *target = &targets->items[id];
  target->is_asked = true;
  if (!isfinite(value)) return;
  bool is_worse = target->goal.is_less_better ? value > target->measured : value < target->measured;
  if (target->threads && !is_worse) return;
  target->measured = value, target->particles = particles, target->threads = threads;
}

const char *flo_target_met(const FloTarget *target) {
  if (!target->threads) return NULL;
  double sign = target->goal.is_less_better ? -1 : 1;
  if (sign * target->measured >= sign * target->goal.aim) return "aim";
  return sign * target->measured >= sign * target->goal.at_least ? "yes" : "no";
}
