// How long fluid and bodies take together: scenes that other programs have been given too.
#ifndef FLO_BENCH_COUPLING_H
#define FLO_BENCH_COUPLING_H

#include "flotsam/flotsam.h"

typedef struct FloCouplingCase {
  const char *scene, *method; // scenes/bench has the same scene
  bool has_solver;            // whose iterations are what its rate is about; otherwise it is about steps
  double from, simulated;     // when measuring starts, and how long it goes on [s]
  // What is published for the same work, or NULL.
  const char *peer;
  double peer_seconds; // [s] for the simulated time
} FloCouplingCase;

typedef struct FloCouplingResult {
  const FloCouplingCase *about;
  size_t particles, rigid, boundary;
  int threads;
  double from, simulated;               // [s]; less than the case asks for in a quick run
  double seconds;                       // of all steps that are measured
  double solve_seconds, search_seconds; // of these: in the solver, and in making neighbour lists
  double response_seconds;              // of these: in what gives contacts their velocities; NAN: has none
  double steps, iterations;
  double density_error_mean; // the worst of many moments
} FloCouplingResult;

const FloCouplingCase *flo_coupling_case(size_t k); // NULL past the last
FloStatus flo_coupling_measure(const FloCouplingCase *about, int threads, bool is_quick,
                               FloCouplingResult *result, FloError *error);

#endif
