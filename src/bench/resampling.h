// The time to sample a mesh whose vertices move, and to sample it again while it is stretched.
#ifndef FLO_BENCH_RESAMPLING_H
#define FLO_BENCH_RESAMPLING_H

#include "bench/sampling.h"

// For each of two spacings: making the sampler, the first sampling, and sampling again in a step.
enum { FLO_RESAMPLING_COUNT = 6 };

// Case k: a cloth with 90,000 triangles, with about one sample for each vertex, and with three edges to a
// spacing. When sampled again, it has been stretched a little more than the step before, most in its middle:
// by 30 % after all repeats.
FloStatus flo_resampling_measure(size_t k, int repeats, FloSamplingResult *result, FloError *error);

#endif
