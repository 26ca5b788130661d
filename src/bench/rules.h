// The rules by which samples come and go, on two triangles that are deformed (Akinci et al. 2013, figures 3
// and 4). Lengths are in supports H of the kernel, so samples are half a unit apart.
#ifndef FLO_BENCH_RULES_H
#define FLO_BENCH_RULES_H

#include "base/memory.h"

enum { FLO_RULE_COUNT = 4, FLO_RULE_VERTICES = 4 };

// The window of number densities of the paper, times H³: below it fluid leaks, above it work is wasted.
#define FLO_RULE_LEAST 3.6
#define FLO_RULE_MOST  10.0

typedef struct FloRuleState {
  double vertices[FLO_RULE_VERTICES][2]; // of the triangles 0 1 2 and 2 1 3
  double (*samples)[2];
  size_t n_samples;
  // The number density times H³ over the area of the triangles. The deviation is its standard deviation.
  double mean, deviation, least, most;
} FloRuleState;

typedef struct FloRuleResult {
  const char *name;
  FloRuleState states[2]; // at rest, and deformed
} FloRuleResult;

// Rule k: static samples, seven points, by density, by geometry.
FloStatus flo_rule_measure(size_t k, FloRuleResult *result, FloError *error);
void flo_rule_free(FloRuleResult *result); // a zeroed result is fine
// The number density times H³ at a point.
double flo_rule_density(const FloRuleState *state, double x, double y);
bool flo_rule_is_inside(const FloRuleState *state, double x, double y);

#endif
