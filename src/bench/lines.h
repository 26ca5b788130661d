// The lines of the report as JSON objects. docs/performance.md explains each key.
#ifndef FLO_BENCH_LINES_H
#define FLO_BENCH_LINES_H

#include "bench/cases.h"
#include "bench/cloth.h"
#include "bench/coupling.h"
#include "bench/joining.h"
#include "bench/machine.h"
#include "bench/probes.h"
#include "bench/rates.h"
#include "bench/sampling.h"
#include "bench/sheets.h"
#include "bench/surfacing.h"
#include "bench/targets.h"
#include "bench/tower.h"

json_t *flo_line_machine(const FloMachine *machine, bool is_quick);
json_t *flo_line_stream(int threads, size_t array_bytes, const FloRate *rate);
json_t *flo_line_fma(int threads, const FloRate *rate);
json_t *flo_line_probe(const FloPairProbe *probe, int threads, const FloTimes *iteration,
                       const FloRate *rate);
// A case with steps. Shares are null if the run has not measured the value they refer to.
json_t *flo_line_case(FloBenchPart part, const FloCaseResult *result, const FloRates *rates);
// Adds published results of the same case.
void flo_line_add_peer(json_t *line);
json_t *flo_line_coupling(const FloCouplingResult *result);
json_t *flo_line_memory(size_t particles, int threads, size_t bytes, size_t peak_bytes);
json_t *flo_line_sampling(const FloSamplingResult *result);
json_t *flo_line_surface(const FloSurfacingResult *result);
json_t *flo_line_joints(const FloJoiningResult *result);
json_t *flo_line_cloth(const FloClothResult *result);
json_t *flo_line_sheet(const FloSheetResult *result);
json_t *flo_line_tower(const FloTowerResult *result);
json_t *flo_line_target(const FloTarget *target);

// Measurements that lines and targets share; NAN if the run has not measured what they need.
double flo_measured_build_rate(const FloCaseResult *result);     // all pairs from scratch [particles/s/core]
double flo_measured_step_rate(const FloCaseResult *result);      // [particle steps/s/core]
double flo_measured_iteration_rate(const FloCaseResult *result); // [particle iterations/s/core]
double flo_measured_coupled_iterations(const FloCouplingResult *result);
double flo_measured_coupled_steps(const FloCouplingResult *result);
// With all threads and a fixed number of iterations: how many particles do ten steps in a second.
double flo_measured_real_time(const FloCouplingResult *result);
double flo_measured_response_share(const FloCouplingResult *result);   // of the time
double flo_measured_surface_seconds(const FloSurfacingResult *result); // [s/million particles]
double flo_measured_times_better(
    const FloTowerResult *result); // core seconds in the paper divided by those measured here
double flo_measured_speedup(const FloCaseResult *result, FloBenchPart part, const FloRates *rates);
double flo_measured_probe_share(const FloCaseResult *result, const FloRates *rates);

#endif
