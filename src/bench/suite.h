// All of `flotsam bench`: its parts, their order, and the lines they report.
#ifndef FLO_BENCH_SUITE_H
#define FLO_BENCH_SUITE_H

#include "base/core.h"

#include <jansson.h>

typedef enum FloBenchPart {
  FLO_BENCH_STREAM,
  FLO_BENCH_FMA,
  FLO_BENCH_PROBE,
  FLO_BENCH_BOX,
  FLO_BENCH_PEER_DAM,
  FLO_BENCH_POOL,
  FLO_BENCH_COUPLING,
  FLO_BENCH_MEMORY,
  FLO_BENCH_SAMPLING,
  FLO_BENCH_SURFACE,
  FLO_BENCH_JOINTS,
  FLO_BENCH_SHEETS,
  FLO_BENCH_CLOTH,
  FLO_BENCH_FIVE_MILLION, // only when asked for
  FLO_BENCH_TOWER,        // only when asked for
  FLO_BENCH_PART_COUNT
} FloBenchPart;

const char *flo_bench_part_name(size_t part); // NULL past the last
unsigned flo_bench_default_parts(void);       // a bit per part

enum { FLO_BENCH_MAX_VALUES = 16 };

typedef struct FloBenchSpec {
  unsigned parts; // a bit per part
  bool is_quick;  // small and short: tests that everything works; times are not meaningful
  size_t particles[FLO_BENCH_MAX_VALUES];
  size_t n_particles;
  int threads[FLO_BENCH_MAX_VALUES];
  size_t n_threads;
  const char *tower;                                 // path of the scene for the part of this name
  void (*announce)(void *context, const char *text); // what is measured next
  void (*emit)(void *context, const json_t *line);   // what was measured
  void *context;
} FloBenchSpec;

// Fails with FLO_BAD_INPUT, before anything is measured, if the machine has too little memory.
FloStatus flo_bench_check(const FloBenchSpec *spec, FloError *error);
FloStatus flo_bench_run(const FloBenchSpec *spec, FloError *error);

#endif
