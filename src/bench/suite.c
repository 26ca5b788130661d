#include "bench/suite.h"

#include "bench/lines.h"
#include "bench/resampling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const part_names[FLO_BENCH_PART_COUNT] = {
    [FLO_BENCH_STREAM] = "stream",     [FLO_BENCH_FMA] = "fma",
    [FLO_BENCH_PROBE] = "probe",       [FLO_BENCH_BOX] = "box",
    [FLO_BENCH_PEER_DAM] = "peer-dam", [FLO_BENCH_POOL] = "pool",
    [FLO_BENCH_COUPLING] = "coupling", [FLO_BENCH_MEMORY] = "memory",
    [FLO_BENCH_SAMPLING] = "sampling", [FLO_BENCH_SURFACE] = "surface",
    [FLO_BENCH_JOINTS] = "joints",     [FLO_BENCH_FIVE_MILLION] = "five-million",
    [FLO_BENCH_TOWER] = "tower",       [FLO_BENCH_SHEETS] = "sheets",
    [FLO_BENCH_CLOTH] = "cloth",
};

const char *flo_bench_part_name(size_t part) { return part < FLO_BENCH_PART_COUNT ? part_names[part] : NULL; }

unsigned flo_bench_default_parts(void) {
  return ((1u << FLO_BENCH_PART_COUNT) - 1) & ~(1u << FLO_BENCH_FIVE_MILLION | 1u << FLO_BENCH_TOWER);
}

enum { FIVE_MILLION = 5000000 };

static const double tower_bytes = 6e9; // in the size of the paper

// ---- What a run holds ----

typedef struct Suite {
  const FloBenchSpec *spec;
  FloMachine machine;
  FloRates rates;
  FloTargets targets;
} Suite;

static bool has_part(const FloBenchSpec *spec, FloBenchPart part) { return spec->parts >> part & 1; }

static int most_threads(const FloBenchSpec *spec) {
  int most = 1;
  for (size_t k = 0; k < spec->n_threads; ++k) most = spec->threads[k] > most ? spec->threads[k] : most;
  return most;
}

static size_t most_particles(const FloBenchSpec *spec) {
  size_t most = 0;
  for (size_t k = 0; k < spec->n_particles; ++k) most = flo_max_size(most, spec->particles[k]);
  return most;
}

static void announce(const Suite *suite, FloBenchPart part, size_t particles, int threads) {
  char text[128];
  int length = snprintf(text, sizeof text, "%s", part_names[part]);
  if (particles)
    length += snprintf(text + length, sizeof text - (size_t)length, ", %zu particles", particles);
  snprintf(text + length, sizeof text - (size_t)length, ", %d thread%s", threads, threads == 1 ? "" : "s");
  if (suite->spec->announce) suite->spec->announce(suite->spec->context, text);
}

static FloStatus emit(const Suite *suite, json_t *line, FloError *error) {
  if (!line) return flo_fail(error, FLO_NO_MEMORY, "out of memory for a line of the report");
  suite->spec->emit(suite->spec->context, line);
  json_decref(line);
  return FLO_OK;
}

// ---- The machine ----

static FloRate rate_of(FloBenchPart part, int threads, size_t particles, double amount,
                       const FloTimes *times) {
  return (FloRate){part, threads, particles, amount / times->best, amount / times->median};
}

// Four times the last-level cache, as STREAM requires, unless that is too much of the machine's memory.
static size_t stream_array_bytes(const Suite *suite) {
  if (suite->spec->is_quick) return (size_t)16 << 20;
  return flo_min_size(4 * suite->machine.l3_bytes, suite->machine.memory_bytes / 12);
}

static FloStatus run_stream(Suite *suite, int threads, FloError *error) {
  FloTimes times;
  size_t bytes = stream_array_bytes(suite);
  announce(suite, FLO_BENCH_STREAM, 0, threads);
  FLO_TRY(flo_probe_stream(threads, bytes, suite->spec->is_quick ? 2 : 12, &times, error));
  FloRate rate = rate_of(FLO_BENCH_STREAM, threads, 0, 3 * (double)bytes, &times);
  flo_rates_add(&suite->rates, &rate);
  return emit(suite, flo_line_stream(threads, bytes, &rate), error);
}

static FloStatus run_fma(Suite *suite, int threads, FloError *error) {
  FloTimes times;
  bool is_quick = suite->spec->is_quick;
  announce(suite, FLO_BENCH_FMA, 0, threads);
  double flops = flo_probe_fma(threads, is_quick ? 50000 : 4000000, is_quick ? 2 : 8, &times);
  FloRate rate = rate_of(FLO_BENCH_FMA, threads, 0, flops, &times);
  flo_rates_add(&suite->rates, &rate);
  return emit(suite, flo_line_fma(threads, &rate), error);
}

// The number of rounds for a measurement of `amount` particle rounds, within limits.
static int rounds_for(double amount, size_t particles, int low, int high) {
  return (int)fmin(fmax(amount / (double)particles, low), high);
}

static FloStatus run_probe_threads(Suite *suite, FloPairProbe *probe, int threads, FloError *error) {
  size_t n = flo_pair_probe_particles(probe);
  bool is_quick = suite->spec->is_quick;
  int iterations = is_quick ? 2 : rounds_for(4e6, n, 2, 100);
  announce(suite, FLO_BENCH_PROBE, n, threads);
  FloTimes times = flo_pair_probe_run(probe, threads, iterations, is_quick ? 2 : 7);
  // An iteration is two sweeps: each pair is visited twice.
  FloRate rate = rate_of(FLO_BENCH_PROBE, threads, n, 2 * (double)flo_pair_probe_pairs(probe), &times);
  flo_rates_add(&suite->rates, &rate);
  return emit(suite, flo_line_probe(probe, threads, &times, &rate), error);
}

static FloStatus run_probe(Suite *suite, size_t particles, FloError *error) {
  const FloBenchSpec *spec = suite->spec;
  FloPairProbe *probe;
  FLO_TRY(flo_pair_probe_create(particles, most_threads(spec), &probe, error));
  FloStatus status = FLO_OK;
  for (size_t k = 0; k < spec->n_threads && status == FLO_OK; ++k)
    status = run_probe_threads(suite, probe, spec->threads[k], error);
  flo_pair_probe_destroy(probe);
  return status;
}

// ---- Cases ----

static FloCasePlan plan_for(const Suite *suite, FloBenchPart part, size_t particles) {
  if (suite->spec->is_quick) return part == FLO_BENCH_BOX ? (FloCasePlan){2, 2, 2} : (FloCasePlan){1, 1, 1};
  switch (part) {
  case FLO_BENCH_PEER_DAM:
    return (FloCasePlan){20, 5, 20};
  case FLO_BENCH_POOL:
    return (FloCasePlan){3, 5, rounds_for(4e5, particles, 2, 10)};
  case FLO_BENCH_FIVE_MILLION:
    return (FloCasePlan){0, 4, 5};
  default:
    return (FloCasePlan){10, 5, rounds_for(4e6, particles, 12, 40)};
  }
}

static void note_box(Suite *suite, const FloCaseResult *r) {
  FloTargets *targets = &suite->targets;
  size_t n = r->particles;
  flo_targets_note(targets, FLO_TARGET_NEIGHBOURS, flo_measured_build_rate(r), n, r->threads);
  flo_targets_note(targets, FLO_TARGET_STEP, flo_measured_step_rate(r), n, r->threads);
  flo_targets_note(targets, FLO_TARGET_PROBE_SHARE, flo_measured_probe_share(r, &suite->rates), n,
                   r->threads);
  // The target is for the largest case; small cases have less work for several threads.
  const FloRate *largest = flo_rates_find(&suite->rates, FLO_BENCH_BOX, 1, most_particles(suite->spec));
  if (r->threads == 2 && largest && largest->particles == n)
    flo_targets_note(targets, FLO_TARGET_SPEEDUP, flo_measured_speedup(r, FLO_BENCH_BOX, &suite->rates), n,
                     2);
}

static FloStatus measure_and_emit(Suite *suite, FloBenchPart part, size_t particles, FloWorld *world,
                                  FloError *error) {
  FloCaseResult result;
  FloCasePlan plan = plan_for(suite, part, particles);
  FLO_TRY(flo_case_measure(world, &plan, &result, error));
  FloRate rate = rate_of(part, result.threads, result.particles, 1, &result.step);
  flo_rates_add(&suite->rates, &rate);
  if (part == FLO_BENCH_BOX) note_box(suite, &result);
  if (part == FLO_BENCH_POOL)
    flo_targets_note(&suite->targets, FLO_TARGET_ITERATIONS, flo_measured_iteration_rate(&result),
                     result.particles, result.threads);
  json_t *line = flo_line_case(part, &result, &suite->rates);
  if (part == FLO_BENCH_PEER_DAM) flo_line_add_peer(line);
  return emit(suite, line, error);
}

static FloStatus run_case(Suite *suite, FloBenchPart part, size_t particles, int threads, FloError *error) {
  FloWorld *world = NULL;
  announce(suite, part, particles, threads);
  const char *method = part == FLO_BENCH_POOL ? "monolithic" : "wcsph";
  FloStatus status = part == FLO_BENCH_PEER_DAM
                         ? flo_case_peer_dam(threads, &world, error)
                         : flo_case_box(particles, threads, method, NULL, &world, error);
  if (status == FLO_OK) status = measure_and_emit(suite, part, particles, world, error);
  flo_world_destroy(world);
  return status;
}

static FloStatus run_case_threads(Suite *suite, FloBenchPart part, size_t particles, FloError *error) {
  for (size_t k = 0; k < suite->spec->n_threads; ++k)
    FLO_TRY(run_case(suite, part, particles, suite->spec->threads[k], error));
  return FLO_OK;
}

// ---- Fluid and bodies ----

static FloTargetId target_of(const FloCouplingCase *about) {
  if (about->iterations > 0) return FLO_TARGET_CONSTRAINT;
  return about->has_solver ? FLO_TARGET_ITERATIONS : FLO_TARGET_FORCING;
}

static void note_coupling(Suite *suite, const FloCouplingResult *r) {
  bool has_solver = r->about->has_solver;
  double rate = has_solver ? flo_measured_coupled_iterations(r) : flo_measured_coupled_steps(r);
  flo_targets_note(&suite->targets, target_of(r->about), rate, r->particles, r->threads);
  if (r->about->iterations > 0)
    flo_targets_note(&suite->targets, FLO_TARGET_REAL_TIME, flo_measured_real_time(r), r->particles,
                     r->threads);
  if (!has_solver)
    flo_targets_note(&suite->targets, FLO_TARGET_RESPONSE, flo_measured_response_share(r), r->particles,
                     r->threads);
}

static FloStatus run_coupling(Suite *suite, FloError *error) {
  const FloCouplingCase *about;
  for (size_t k = 0; (about = flo_coupling_case(k)); ++k) {
    FloCouplingResult result;
    announce(suite, FLO_BENCH_COUPLING, 0, most_threads(suite->spec));
    FLO_TRY(flo_coupling_measure(about, most_threads(suite->spec), suite->spec->is_quick, &result, error));
    note_coupling(suite, &result);
    FLO_TRY(emit(suite, flo_line_coupling(&result), error));
  }
  return FLO_OK;
}

static FloStatus run_tower(Suite *suite, FloError *error) {
  const FloBenchSpec *spec = suite->spec;
  FloTowerResult result;
  announce(suite, FLO_BENCH_TOWER, 0, most_threads(spec));
  FLO_TRY(flo_tower_measure(spec->tower, most_threads(spec), spec->is_quick, &result, error));
  flo_targets_note(&suite->targets, FLO_TARGET_TOWER, flo_measured_times_better(&result), result.particles,
                   result.threads);
  return emit(suite, flo_line_tower(&result), error);
}

// ---- Memory ----

typedef struct Tally {
  size_t bytes, peak;
} Tally;

static void *allocate_counted(void *context, size_t size) {
  Tally *tally = context;
  void *memory = size > SIZE_MAX - 64 ? NULL : aligned_alloc(64, (size + 63) / 64 * 64);
  if (memory) tally->bytes += size;
  tally->peak = flo_max_size(tally->peak, tally->bytes);
  return memory;
}

static void release_counted(void *context, void *memory, size_t size) {
  Tally *tally = context;
  tally->bytes -= size;
  free(memory);
}

// Does a few steps, so that the world has allocated all its memory.
static FloStatus run_memory(Suite *suite, FloError *error) {
  size_t particles = most_particles(suite->spec);
  int threads = most_threads(suite->spec);
  FloWorld *world = NULL;
  Tally tally = {0};
  FloAllocator allocator = {allocate_counted, release_counted, &tally};
  announce(suite, FLO_BENCH_MEMORY, particles, threads);
  FloStatus status = flo_case_box(particles, threads, "wcsph", &allocator, &world, error);
  for (int k = 0; k < 3 && status == FLO_OK; ++k) status = flo_world_step(world, NULL, error);
  if (status == FLO_OK) {
    size_t n = flo_world_count(world, FLO_SET_FLUID), bytes = flo_world_memory(world);
    flo_targets_note(&suite->targets, FLO_TARGET_MEMORY, (double)bytes / (double)n, n, threads);
    status = emit(suite, flo_line_memory(n, threads, bytes, tally.peak), error);
  }
  flo_world_destroy(world);
  return status;
}

// ---- Surfaces ----

// The targets are for about one sample at each vertex, as in the paper.
static FloStatus run_resampling(Suite *suite, FloError *error) {
  static const FloTargetId ids[] = {FLO_TARGET_COUNT, FLO_TARGET_SAMPLE, FLO_TARGET_RESAMPLE};
  for (size_t k = 0; k < FLO_RESAMPLING_COUNT; ++k) {
    FloSamplingResult result;
    int repeats = suite->spec->is_quick ? 1 : FLO_BENCH_MAX_REPEATS;
    FLO_TRY(flo_resampling_measure(k, repeats, &result, error));
    if (k == 1 || k == 2)
      flo_targets_note(&suite->targets, ids[k], 1e3 * result.times.median, result.samples, 1);
    FLO_TRY(emit(suite, flo_line_sampling(&result), error));
  }
  return FLO_OK;
}

static FloStatus run_sampling(Suite *suite, FloError *error) {
  announce(suite, FLO_BENCH_SAMPLING, 0, 1);
  for (size_t k = 0; k < FLO_SAMPLING_COUNT; ++k) {
    FloSamplingResult result;
    int repeats = suite->spec->is_quick ? 1 : FLO_BENCH_MAX_REPEATS;
    FLO_TRY(flo_sampling_measure(k, repeats, &result, error));
    FLO_TRY(emit(suite, flo_line_sampling(&result), error));
  }
  return run_resampling(suite, error);
}

// Uses all threads, as `flotsam surface` does.
static FloStatus run_surface(Suite *suite, FloError *error) {
  FloSurfacingResult result;
  size_t particles = most_particles(suite->spec);
  int threads = most_threads(suite->spec);
  announce(suite, FLO_BENCH_SURFACE, particles, threads);
  FLO_TRY(flo_surfacing_measure(particles, threads, suite->spec->is_quick ? 1 : 5, &result, error));
  flo_targets_note(&suite->targets, FLO_TARGET_SURFACE, flo_measured_surface_seconds(&result),
                   result.particles, threads);
  return emit(suite, flo_line_surface(&result), error);
}

// ---- Joints ----

enum { N_JOINTS = 10000, N_JOINTS_QUICK = 300 };

static FloStatus run_joints(Suite *suite, FloError *error) {
  const bool is_quick = suite->spec->is_quick;
  announce(suite, FLO_BENCH_JOINTS, 0, 1);
  for (FloJoiningKind kind = 0; kind < FLO_JOINING_COUNT; ++kind) {
    FloJoiningResult result;
    FLO_TRY(flo_joining_measure(kind, is_quick ? N_JOINTS_QUICK : N_JOINTS,
                                is_quick ? 1 : FLO_BENCH_MAX_REPEATS, &result, error));
    if (!is_quick)
      flo_targets_note(&suite->targets, FLO_TARGET_JOINTS, 1e3 * result.solve.median, result.joints, 1);
    FLO_TRY(emit(suite, flo_line_joints(&result), error));
  }
  return FLO_OK;
}

// ---- Sheets ----

enum { LARGE_SHEET = 46000 };

static FloStatus run_sheet(Suite *suite, uint32_t width, uint32_t height, FloError *error) {
  FloSheetResult result;
  const int repeats = suite->spec->is_quick ? 1 : 7;
  FLO_TRY(flo_sheet_measure(width, height, repeats, &result, error));
  if (result.vertices >= LARGE_SHEET) {
    flo_targets_note(&suite->targets, FLO_TARGET_SHEET_FACTORS, result.factorise.median, result.vertices, 1);
    flo_targets_note(&suite->targets, FLO_TARGET_SHEET_SOLUTION, 1e3 * result.solve.median, result.vertices,
                     1);
  }
  return emit(suite, flo_line_sheet(&result), error);
}

static FloStatus run_sheets(Suite *suite, FloError *error) {
  announce(suite, FLO_BENCH_SHEETS, 0, 1);
  if (suite->spec->is_quick) return run_sheet(suite, 20, 20, error);
  FLO_TRY(run_sheet(suite, 71, 71, error));
  return run_sheet(suite, 215, 214, error);
}

// ---- Cloth ----

static FloStatus run_cloth(Suite *suite, FloClothScene scene, size_t triangles, int n_frames, int threads,
                           FloError *error) {
  FloClothResult result;
  announce(suite, FLO_BENCH_CLOTH, 0, threads);
  FLO_TRY(flo_cloth_measure(scene, triangles, n_frames, threads, &result, error));
  if (scene == FLO_CLOTH_FILLED)
    flo_targets_note(&suite->targets, FLO_TARGET_SKIN, result.skin_seconds / result.seconds, result.particles,
                     threads);
  return emit(suite, flo_line_cloth(&result), error);
}

static FloStatus run_cloths(Suite *suite, FloError *error) {
  const int threads = most_threads(suite->spec);
  if (suite->spec->is_quick) {
    FLO_TRY(run_cloth(suite, FLO_CLOTH_FOLDED, 2 * 20 * 20, 1, threads, error));
    return run_cloth(suite, FLO_CLOTH_FILLED, 2 * 16 * 16, 1, threads, error);
  }
  FLO_TRY(run_cloth(suite, FLO_CLOTH_FOLDED, 50000, 3, threads, error));
  FLO_TRY(run_cloth(suite, FLO_CLOTH_FILLED, 5000, 12, threads, error));
  return run_cloth(suite, FLO_CLOTH_FILLED, 20000, 6, threads, error);
}

// ---- All of it ----

static FloStatus run_machine(Suite *suite, FloError *error) {
  const FloBenchSpec *spec = suite->spec;
  FLO_TRY(emit(suite, flo_line_machine(&suite->machine, spec->is_quick), error));
  for (size_t k = 0; k < spec->n_threads; ++k) {
    if (has_part(spec, FLO_BENCH_STREAM)) FLO_TRY(run_stream(suite, spec->threads[k], error));
    if (has_part(spec, FLO_BENCH_FMA)) FLO_TRY(run_fma(suite, spec->threads[k], error));
  }
  return FLO_OK;
}

// The probe runs right before the case of the same size, so that the machine is in the same state for both.
static FloStatus run_sizes(Suite *suite, FloError *error) {
  const FloBenchSpec *spec = suite->spec;
  for (size_t k = 0; k < spec->n_particles; ++k) {
    if (has_part(spec, FLO_BENCH_PROBE)) FLO_TRY(run_probe(suite, spec->particles[k], error));
    if (has_part(spec, FLO_BENCH_BOX))
      FLO_TRY(run_case_threads(suite, FLO_BENCH_BOX, spec->particles[k], error));
    if (has_part(spec, FLO_BENCH_POOL))
      FLO_TRY(run_case_threads(suite, FLO_BENCH_POOL, spec->particles[k], error));
  }
  return FLO_OK;
}

static FloStatus run_targets(Suite *suite, FloError *error) {
  for (size_t k = 0; k < FLO_TARGET_COUNT; ++k)
    if (suite->targets.items[k].is_asked)
      FLO_TRY(emit(suite, flo_line_target(&suite->targets.items[k]), error));
  return FLO_OK;
}

FloStatus flo_bench_run(const FloBenchSpec *spec, FloError *error) {
  Suite suite = {.spec = spec, .machine = flo_machine_describe(), .targets = flo_targets_start()};
  FLO_TRY(run_machine(&suite, error));
  FLO_TRY(run_sizes(&suite, error));
  if (has_part(spec, FLO_BENCH_PEER_DAM)) FLO_TRY(run_case_threads(&suite, FLO_BENCH_PEER_DAM, 0, error));
  if (has_part(spec, FLO_BENCH_COUPLING)) FLO_TRY(run_coupling(&suite, error));
  if (has_part(spec, FLO_BENCH_MEMORY)) FLO_TRY(run_memory(&suite, error));
  if (has_part(spec, FLO_BENCH_SAMPLING)) FLO_TRY(run_sampling(&suite, error));
  if (has_part(spec, FLO_BENCH_SURFACE)) FLO_TRY(run_surface(&suite, error));
  if (has_part(spec, FLO_BENCH_JOINTS)) FLO_TRY(run_joints(&suite, error));
  if (has_part(spec, FLO_BENCH_SHEETS)) FLO_TRY(run_sheets(&suite, error));
  if (has_part(spec, FLO_BENCH_CLOTH)) FLO_TRY(run_cloths(&suite, error));
  if (has_part(spec, FLO_BENCH_FIVE_MILLION))
    FLO_TRY(run_case(&suite, FLO_BENCH_FIVE_MILLION, FIVE_MILLION, most_threads(spec), error));
  if (has_part(spec, FLO_BENCH_TOWER)) FLO_TRY(run_tower(&suite, error));
  return run_targets(&suite, error);
}

// If memory ran out, the system would kill this program or others without a message. So it is checked before.
static FloStatus check_memory(const char *what, double needed, FloError *error) {
  double available = (double)flo_machine_describe().memory_bytes;
  if (needed <= available) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "%s need about %.1f GB of memory, but this machine has %.1f GB; give --particles smaller "
                  "numbers, or leave the part out",
                  what, needed / 1e9, available / 1e9);
}

FloStatus flo_bench_check(const FloBenchSpec *spec, FloError *error) {
  const double bytes_per_particle = 1500;
  char what[64];
  unsigned sized = 1u << FLO_BENCH_PROBE | 1u << FLO_BENCH_BOX | 1u << FLO_BENCH_POOL |
                   1u << FLO_BENCH_MEMORY | 1u << FLO_BENCH_SURFACE;
  size_t particles = spec->parts & sized ? most_particles(spec) : 0;
  if (has_part(spec, FLO_BENCH_FIVE_MILLION)) particles = flo_max_size(particles, FIVE_MILLION);
  snprintf(what, sizeof what, "%zu particles", particles);
  FLO_TRY(check_memory(what, (double)particles * bytes_per_particle, error));
  if (!has_part(spec, FLO_BENCH_TOWER) || spec->is_quick) return FLO_OK;
  return check_memory("the particles of the tower", tower_bytes, error);
}
