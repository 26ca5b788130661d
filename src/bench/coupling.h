// How long fluid and bodies take together: scenes that other programs have been given too, from their start.
#ifndef FLO_BENCH_COUPLING_H
#define FLO_BENCH_COUPLING_H

#include "flotsam/flotsam.h"

typedef struct FloCouplingCase {
  const char *scene, *method; // scenes/bench has the same scene
  double simulated;           // [s]
  // What is published for the same work, or NULL.
  const char *peer;
  double peer_seconds; // [s] for the simulated time
} FloCouplingCase;

typedef struct FloCouplingResult {
  const FloCouplingCase *about;
  size_t particles, rigid, boundary;
  int threads;
  double simulated;                     // [s]; less than the case asks for in a quick run
  double seconds;                       // of all steps
  double solve_seconds, search_seconds; // of these: in the solver, and in making neighbour lists
  double steps, iterations;
  double density_error_mean; // the worst of many moments
} FloCouplingResult;

const FloCouplingCase *flo_coupling_case(size_t k); // NULL past the last
FloStatus flo_coupling_measure(const FloCouplingCase *about, int threads, bool is_quick,
                               FloCouplingResult *result, FloError *error);

#endif
