// Samples of solids that fluid wets. Methods with implicit pressure give each of them a pressure of its own,
// from the condition that fluid and solids fill its kernel and no more.
#ifndef FLO_COUPLING_FORCES_WET_SAMPLES_H
#define FLO_COUPLING_FORCES_WET_SAMPLES_H

#include "state/state.h"

typedef struct FloWetSamples {
  float least_sum;              // kernel sum over fluid from which on a sample is wet
  bool has_held;                // there may be fluid that emitters guide
  float *walls_near_walls;      // share of each wall sample's kernel that other walls cover
  uint64_t walls_near_walls_at; // epoch when it was computed
  FloBuffer buffer;
} FloWetSamples;

// The kernel sum over fluid from which on a sample is wet.
float flo_wet_least_sum(const FloWorld *world);
// Finds the operators of a set of samples over fluid and other solids, in each step.
FloStatus flo_wet_samples_prepare(FloWetSamples *wet, FloWorld *world, FloSet set, FloError *error);
void flo_wet_samples_free(FloWetSamples *wet, FloMemory *memory);
// The share of a sample's kernel that no solid covers.
float flo_wet_sample_room(const FloWetSamples *wet, const FloWorld *world, FloSet set, size_t i);
bool flo_wet_sample_is_wet(const FloWetSamples *wet, const FloWorld *world, FloSet set, size_t i);

#endif
