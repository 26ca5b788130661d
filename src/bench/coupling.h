// Times of scenes with fluid and bodies, which were also run with other programs.
#ifndef FLO_BENCH_COUPLING_H
#define FLO_BENCH_COUPLING_H

#include "flotsam/world.h"

typedef struct FloCouplingCase {
  const char *scene, *method; // scenes/bench holds the same scene
  bool has_solver;        // the method has iterations, and its rate counts them; otherwise it counts steps
  double from, simulated; // start and duration of the measurement [s]
  // Another program that was run with the same work, or NULL.
  const char *peer;
  double peer_seconds[2]; // [s] for the simulated time, in two runs
  int iterations;         // in each step; 0: as many as the method takes
} FloCouplingCase;

typedef struct FloCouplingResult {
  const FloCouplingCase *about;
  size_t particles, rigid, boundary;
  int threads;
  double from, simulated;               // [s]; shorter in a quick run
  double seconds;                       // time of all measured steps
  double solve_seconds, search_seconds; // part of it in the solver, and in making neighbour lists
  double response_seconds; // part of it for velocities at contacts; NAN: the method has no such stage
  double steps, iterations;
  double density_error_mean; // the largest of many times
} FloCouplingResult;

const FloCouplingCase *flo_coupling_case(size_t k); // NULL past the last
FloStatus flo_coupling_measure(const FloCouplingCase *about, int threads, bool is_quick,
                               FloCouplingResult *result, FloError *error);

#endif
