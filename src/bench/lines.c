#include "bench/lines.h"

#include "bench/probe_kernels.h"

#include <math.h>

// A step of the tower in Table 1 of Probst and Teschner 2023: 3.73 s on 24 cores.
#define PAPER_CORE_SECONDS (3.73 * 24)

// ---- Measurements ----

static double per_core(double per_second, int threads) { return per_second / threads; }

double flo_measured_build_rate(const FloCaseResult *r) {
  return per_core((double)r->particles / r->full_build.median, r->threads);
}

double flo_measured_step_rate(const FloCaseResult *r) {
  return per_core((double)r->particles / r->step.median, r->threads);
}

double flo_measured_iteration_rate(const FloCaseResult *r) {
  double n = (double)r->particles * r->iterations;
  return n > 0 ? per_core(n / r->stages[FLO_STAGE_FORCE].median, r->threads) : NAN;
}

// Samples of bodies are unknowns of the solver too.
double flo_measured_coupled_iterations(const FloCouplingResult *r) {
  double n = (double)(r->particles + r->rigid) * r->iterations;
  return r->about->has_solver && n > 0 ? per_core(n / r->solve_seconds, r->threads) : NAN;
}

double flo_measured_coupled_steps(const FloCouplingResult *r) {
  return per_core((double)(r->particles + r->rigid) * r->steps / r->seconds, r->threads);
}

double flo_measured_real_time(const FloCouplingResult *r) {
  return r->about->iterations > 0 ? (double)(r->particles + r->rigid) * r->steps / r->seconds / 10 : NAN;
}

double flo_measured_response_share(const FloCouplingResult *r) { return r->response_seconds / r->seconds; }

double flo_measured_surface_seconds(const FloSurfacingResult *r) {
  return r->times.median * 1e6 / (double)r->particles;
}

static double core_seconds(const FloTowerResult *r) { return r->step.median * r->threads; }

double flo_measured_times_better(const FloTowerResult *r) {
  return r->is_whole ? PAPER_CORE_SECONDS / core_seconds(r) : NAN;
}

double flo_measured_speedup(const FloCaseResult *r, FloBenchPart part, const FloRates *rates) {
  const FloRate *single = flo_rates_find(rates, part, 1, r->particles);
  // Uses exactly the same case on one thread.
  if (!single || single->particles != r->particles) return NAN;
  return 1 / (single->median * r->step.median);
}

// An iteration of the probe visits each pair twice, a force sweep once, so visits per second are compared.
// The median of the sweep is compared with the best of the probe, so the share is never too high.
double flo_measured_probe_share(const FloCaseResult *r, const FloRates *rates) {
  const FloRate *probe = flo_rates_find(rates, FLO_BENCH_PROBE, r->threads, r->particles);
  return probe ? (double)r->pairs / r->stages[FLO_STAGE_FORCE].median / probe->best : NAN;
}

static double best_probe_share(const FloCaseResult *r, const FloRates *rates) {
  const FloRate *probe = flo_rates_find(rates, FLO_BENCH_PROBE, r->threads, r->particles);
  return probe ? (double)r->pairs / r->stages[FLO_STAGE_FORCE].best / probe->best : NAN;
}

// ---- Parts of a line ----

// Values that are unknown or not finite become null.
static void add(json_t *line, const char *key, double value) {
  json_object_set_new(line, key, isfinite(value) ? json_real(value) : json_null());
}

static void add_count(json_t *line, const char *key, size_t value) {
  json_object_set_new(line, key, json_integer((json_int_t)value));
}

static void add_text(json_t *line, const char *key, const char *text) {
  json_object_set_new(line, key, text ? json_string(text) : json_null());
}

// The keys that every line has, in this order. 0: does not apply.
static json_t *start(const char *name, size_t particles, int threads, double seconds_per_step) {
  json_t *line = json_object();
  add_text(line, "case", name);
  json_object_set_new(line, "particles", particles ? json_integer((json_int_t)particles) : json_null());
  json_object_set_new(line, "threads", threads ? json_integer(threads) : json_null());
  add(line, "seconds_per_step", seconds_per_step > 0 ? seconds_per_step : NAN);
  return line;
}

// ---- The machine ----

json_t *flo_line_machine(const FloMachine *machine, bool is_quick) {
  json_t *line = start("machine", 0, 0, 0);
  add_text(line, "cpu", machine->cpu);
  add_count(line, "cores", (size_t)machine->cores);
  add_text(line, "simd", flo_simd_name());
  add_text(line, "probe_simd", flo_probe_kernels()->name);
  add_text(line, "version", flo_version());
  add_text(line, "compiler", __VERSION__);
  add_count(line, "l3_bytes", machine->l3_bytes);
  add_count(line, "memory_bytes", machine->memory_bytes);
  json_object_set_new(line, "quick", json_boolean(is_quick));
  return line;
}

json_t *flo_line_stream(int threads, size_t array_bytes, const FloRate *rate) {
  json_t *line = start(flo_bench_part_name(FLO_BENCH_STREAM), 0, threads, 0);
  add(line, "bytes_per_second", rate->best);
  add(line, "bytes_per_second_median", rate->median);
  add_count(line, "array_bytes", array_bytes);
  return line;
}

json_t *flo_line_fma(int threads, const FloRate *rate) {
  json_t *line = start(flo_bench_part_name(FLO_BENCH_FMA), 0, threads, 0);
  add(line, "flops_per_second", rate->best);
  add(line, "flops_per_second_median", rate->median);
  return line;
}

json_t *flo_line_probe(const FloPairProbe *probe, int threads, const FloTimes *iteration,
                       const FloRate *rate) {
  double n = (double)flo_pair_probe_particles(probe);
  json_t *line = start(flo_bench_part_name(FLO_BENCH_PROBE), flo_pair_probe_particles(probe), threads,
                       iteration->median);
  add(line, "seconds_per_step_best", iteration->best);
  add(line, "neighbours", (double)flo_pair_probe_pairs(probe) / n);
  add(line, "particle_iterations_per_second", n / iteration->best);
  add(line, "particle_iterations_per_second_core", per_core(n / iteration->best, threads));
  add(line, "pairs_per_second", rate->best);
  add_count(line, "operator_bytes", flo_pair_probe_bytes(probe));
  return line;
}

// ---- Cases ----

static double share_of(const FloRates *rates, FloBenchPart part, const FloCaseResult *r, double per_particle,
                       double seconds) {
  const FloRate *rate = flo_rates_find(rates, part, r->threads, 0);
  return rate ? per_particle * (double)r->particles / seconds / rate->best : NAN;
}

static json_t *stage_object(const FloCaseResult *r, FloStage stage, const FloRates *rates) {
  json_t *object = json_object();
  double seconds = r->stages[stage].median;
  FloStageCost cost = flo_case_cost(r, stage);
  add(object, "seconds", seconds);
  add(object, "seconds_best", r->stages[stage].best);
  add(object, "share_of_step", seconds / r->step.median);
  add(object, "bytes_per_particle", cost.bytes);
  add(object, "flops_per_particle", cost.flops);
  add(object, "share_of_stream", share_of(rates, FLO_BENCH_STREAM, r, cost.bytes, seconds));
  add(object, "share_of_fma", share_of(rates, FLO_BENCH_FMA, r, cost.flops, seconds));
  return object;
}

json_t *flo_line_case(FloBenchPart part, const FloCaseResult *r, const FloRates *rates) {
  json_t *line = start(flo_bench_part_name(part), r->particles, r->threads, r->step.median);
  json_t *stages = json_object();
  add(line, "seconds_per_step_best", r->step.best);
  add_count(line, "boundary_particles", r->boundary);
  add(line, "neighbours", (double)r->pairs / (double)r->particles);
  add(line, "padding", (double)r->lanes / (double)r->pairs - 1);
  add(line, "particle_steps_per_second", (double)r->particles / r->step.median);
  add(line, "particle_steps_per_second_core", flo_measured_step_rate(r));
  add(line, "neighbour_build_per_second_core", flo_measured_build_rate(r));
  add(line, "searches_per_step", r->searches);
  add(line, "iterations_per_step", r->iterations > 0 ? r->iterations : NAN);
  add(line, "particle_iterations_per_second_core", flo_measured_iteration_rate(r));
  add(line, "speedup", flo_measured_speedup(r, part, rates));
  add(line, "bytes_per_particle", (double)r->bytes / (double)r->particles);
  add(line, "force_pairs_per_second", (double)r->pairs / r->stages[FLO_STAGE_FORCE].median);
  add(line, "force_share_of_probe", flo_measured_probe_share(r, rates));
  add(line, "force_share_of_probe_best", best_probe_share(r, rates));
  add(line, "steps_per_simulated_second", r->steps / r->simulated);
  for (FloStage stage = 0; stage < FLO_STAGE_COUNT; ++stage)
    json_object_set_new(stages, r->stage_names[stage], stage_object(r, stage, rates));
  json_object_set_new(line, "stages", stages);
  return line;
}

// These are published numbers. They are not combined with measurements of this machine into a ratio.
void flo_line_add_peer(json_t *line) {
  json_t *peer = json_object();
  add_text(peer, "program", "SPlisHSPlasH 2.16, WCSPH, AVX, two threads");
  json_object_set_new(peer, "seconds_per_step", json_pack("[f, f]", 0.115, 0.135));
  add_text(peer, "note", "reference, another run of the same machine type");
  json_object_set_new(line, "reference", peer);
}

// ---- Fluid and bodies ----

// Numbers of another run, to which no measurement of this one is compared.
static void add_coupling_peer(json_t *line, const FloCouplingCase *about) {
  json_t *peer = about->peer ? json_object() : json_null();
  if (about->peer) {
    add_text(peer, "program", about->peer);
    json_object_set_new(peer, "seconds_per_simulated_second",
                        json_pack("[f, f]", about->peer_seconds[0] / about->simulated,
                                  about->peer_seconds[1] / about->simulated));
    add_text(peer, "note", "reference, two threads, density error 0.05 %, another run");
  }
  json_object_set_new(line, "reference", peer);
}

json_t *flo_line_coupling(const FloCouplingResult *r) {
  json_t *line =
      start(flo_bench_part_name(FLO_BENCH_COUPLING), r->particles, r->threads, r->seconds / r->steps);
  add_text(line, "scene", r->about->scene);
  add_text(line, "method", r->about->method);
  add_count(line, "rigid_particles", r->rigid);
  add_count(line, "boundary_particles", r->boundary);
  add(line, "simulated_from", r->from);
  add(line, "simulated_seconds", r->simulated);
  add(line, "seconds_per_simulated_second", r->seconds / r->simulated);
  add(line, "steps", r->steps);
  add(line, "iterations_per_step", r->about->has_solver ? r->iterations / r->steps : NAN);
  add(line, "particle_iterations_per_second_core", flo_measured_coupled_iterations(r));
  add(line, "particle_steps_per_second_core", flo_measured_coupled_steps(r));
  add(line, "particles_at_ten_steps_per_second", flo_measured_real_time(r));
  add(line, "solve_share", r->solve_seconds / r->seconds);
  add(line, "search_share", r->search_seconds / r->seconds);
  add(line, "response_share", flo_measured_response_share(r));
  add(line, "density_error_mean", r->density_error_mean);
  add_coupling_peer(line, r->about);
  return line;
}

// ---- Memory and targets ----

json_t *flo_line_memory(size_t particles, int threads, size_t bytes, size_t peak_bytes) {
  json_t *line = start(flo_bench_part_name(FLO_BENCH_MEMORY), particles, threads, 0);
  add_count(line, "bytes", bytes);
  add_count(line, "peak_bytes", peak_bytes);
  add(line, "bytes_per_particle", (double)bytes / (double)particles);
  add(line, "peak_bytes_per_particle", (double)peak_bytes / (double)particles);
  return line;
}

json_t *flo_line_sampling(const FloSamplingResult *result) {
  json_t *line = start(flo_bench_part_name(FLO_BENCH_SAMPLING), result->samples, 1, 0);
  add_text(line, "mesh", result->name);
  add_text(line, "task", result->task);
  add(line, "triangles", (double)result->triangles);
  add(line, "spacing_in_mean_edges", result->spacing);
  add(line, "seconds", result->times.median);
  add(line, "seconds_best", result->times.best);
  return line;
}

json_t *flo_line_surface(const FloSurfacingResult *r) {
  json_t *line = start(flo_bench_part_name(FLO_BENCH_SURFACE), r->particles, r->threads, 0);
  json_t *stages = json_object();
  add_count(line, "triangles", r->triangles);
  add(line, "seconds", r->times.median);
  add(line, "seconds_best", r->times.best);
  for (FloSurfaceStage k = 0; k < FLO_SURFACE_STAGE_COUNT; ++k) {
    json_t *stage = json_object();
    add(stage, "seconds", r->stages[k].median);
    add(stage, "seconds_best", r->stages[k].best);
    json_object_set_new(stages, flo_surface_stage_name(k), stage);
  }
  json_object_set_new(line, "stages", stages);
  return line;
}

json_t *flo_line_joints(const FloJoiningResult *r) {
  json_t *line = start(flo_bench_part_name(FLO_BENCH_JOINTS), 0, 1, 0);
  json_object_set_new(line, "shape", json_string(r->shape));
  add_count(line, "joints", r->joints);
  add_count(line, "rows", r->rows);
  add(line, "factorise_seconds", r->factorise.median);
  add(line, "factorise_seconds_best", r->factorise.best);
  add(line, "seconds", r->solve.median);
  add(line, "seconds_best", r->solve.best);
  return line;
}

json_t *flo_line_sheet(const FloSheetResult *r) {
  json_t *line = start(flo_bench_part_name(FLO_BENCH_SHEETS), 0, 1, 0);
  add_count(line, "vertices", r->vertices);
  add_count(line, "blocks", r->blocks);
  add(line, "structure_seconds", r->structure.median);
  add(line, "factorise_seconds", r->factorise.median);
  add(line, "factorise_seconds_best", r->factorise.best);
  add(line, "seconds", r->solve.median);
  add(line, "seconds_best", r->solve.best);
  add(line, "single_seconds", r->solve_single.median);
  add(line, "single_seconds_best", r->solve_single.best);
  return line;
}

json_t *flo_line_cloth(const FloClothResult *r) {
  json_t *line = start(flo_bench_part_name(FLO_BENCH_CLOTH), r->particles, r->threads, r->seconds / r->steps);
  add_text(line, "scene", r->scene);
  add_text(line, "method", r->method);
  add_count(line, "triangles", r->triangles);
  add_count(line, "samples", r->samples);
  add(line, "frames_per_second", 60 * r->simulated / r->seconds);
  add(line, "steps", r->steps);
  add(line, "iterations_per_step", r->iterations / r->steps);
  add(line, "contacts", r->contacts);
  add(line, "skin_share", r->particles > 0 ? r->skin_seconds / r->seconds : NAN);
  return line;
}

json_t *flo_line_tower(const FloTowerResult *r) {
  json_t *line = start(flo_bench_part_name(FLO_BENCH_TOWER), r->particles, r->threads, r->step.median);
  add(line, "seconds_per_step_best", r->step.best);
  add_text(line, "size", r->size);
  add_count(line, "rigid_particles", r->rigid);
  add_count(line, "boundary_particles", r->boundary);
  add(line, "iterations_per_step", r->iterations);
  add(line, "core_seconds_per_step", core_seconds(r));
  add(line, "times_better", flo_measured_times_better(r));
  return line;
}

json_t *flo_line_target(const FloTarget *target) {
  json_t *line = start("target", target->particles, target->threads, 0);
  add_text(line, "target", target->goal.name);
  add_text(line, "unit", target->goal.unit);
  add(line, "measured", target->threads ? target->measured : NAN);
  add(line, "at_least", target->goal.at_least);
  add(line, "aim", target->goal.aim);
  json_object_set_new(line, "less_is_better", json_boolean(target->goal.is_less_better));
  add_text(line, "met", flo_target_met(target));
  return line;
}
