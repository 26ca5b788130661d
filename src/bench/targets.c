#include "bench/targets.h"

#include <math.h>

FloTargets flo_targets_start(void) {
  return (FloTargets){{
      [FLO_TARGET_NEIGHBOURS] =
          {.name = "neighbour build", .unit = "particles/s/core", .at_least = 3e6, .aim = 6e6},
      [FLO_TARGET_STEP] =
          {.name = "wcsph whole step", .unit = "particle steps/s/core", .at_least = 2e6, .aim = 4e6},
      [FLO_TARGET_SPEEDUP] =
          {.name = "speed-up from 1 to 2 threads", .unit = "", .at_least = 1.7, .aim = 1.9},
      [FLO_TARGET_PROBE_SHARE] =
          {.name = "force sweep, share of the probe", .unit = "", .at_least = 0.6, .aim = 0.9},
      [FLO_TARGET_ITERATIONS] =
          {.name = "monolithic solver", .unit = "particle iterations/s/core", .at_least = 5e6, .aim = 1e7},
      [FLO_TARGET_FORCING] = {.name = "direct-forcing whole step",
                              .unit = "particle steps/s/core",
                              .at_least = 1.5e6,
                              .aim = 3e6},
      [FLO_TARGET_MEMORY] = {.name = "memory", .unit = "bytes/particle", .at_least = 1200, .aim = 800},
  }};
}

static bool is_less_better(const FloTarget *target) { return target->aim < target->at_least; }

void flo_targets_note(FloTargets *targets, FloTargetId id, double value, size_t particles, int threads) {
  FloTarget *target = &targets->items[id];
  if (!isfinite(value)) return;
  bool is_worse = is_less_better(target) ? value > target->measured : value < target->measured;
  if (target->threads && !is_worse) return;
  target->measured = value, target->particles = particles, target->threads = threads;
}

const char *flo_target_met(const FloTarget *target) {
  double sign = is_less_better(target) ? -1 : 1;
  if (sign * target->measured >= sign * target->aim) return "aim";
  return sign * target->measured >= sign * target->at_least ? "yes" : "no";
}
