// Measures the limits of the machine: memory bandwidth, arithmetic, and sweeps over pairs of particles.
#ifndef FLO_BENCH_PROBES_H
#define FLO_BENCH_PROBES_H

#include "base/core.h"
#include "bench/times.h"

// STREAM triad (McCalpin 1995), a = b + s c over three arrays of doubles of `array_bytes` each. `times` holds
// the times of one triad, which moves 3 array_bytes as STREAM counts (reading a before it is overwritten is
// not counted).
FloStatus flo_probe_stream(int threads, size_t array_bytes, int repeats, FloTimes *times, FloError *error);

// Returns the number of FP32 multiplications and additions of one run; `times` holds the times of runs.
double flo_probe_fma(int threads, size_t rounds, int repeats, FloTimes *times);

// The pair-operator probe: see pair_probe.c.
typedef struct FloPairProbe FloPairProbe;

// About n particles; up to `threads` threads build it.
FloStatus flo_pair_probe_create(size_t n, int threads, FloPairProbe **probe, FloError *error);
void flo_pair_probe_destroy(FloPairProbe *probe); // NULL is fine

size_t flo_pair_probe_particles(const FloPairProbe *probe);
size_t flo_pair_probe_pairs(const FloPairProbe *probe); // without padding
size_t flo_pair_probe_bytes(const FloPairProbe *probe); // of the operator, with padding

// Time of one iteration (two sweeps), measured over `iterations` at a time.
FloTimes flo_pair_probe_run(FloPairProbe *probe, int threads, int iterations, int repeats);

#endif
