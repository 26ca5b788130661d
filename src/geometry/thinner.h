// Thinning: which of many candidates become samples, so that these lie neither too densely nor too sparsely.
#ifndef FLO_GEOMETRY_THINNER_H
#define FLO_GEOMETRY_THINNER_H

#include "base/memory.h"

// The number density of samples,  sum_j W(x_i - x_j)  with the cubic spline and H = 2 spacings, is to lie
// between 3.6/H^3 and 10/H^3 (Akinci et al. 2013, section 2.3). Candidates are judged one by one, by what the
// samples accepted before them add up to. None may lift a sample above the upper bound, which therefore
// always holds; a sample that is left below the lower one is weak.
typedef struct FloThinner FloThinner;

typedef struct FloSurfacePoint {
  double point[3];
  uint32_t triangle; // on which it lies
} FloSurfacePoint;

typedef struct FloThinRule {
  double min_distance;   // from other samples, in spacings
  double retry_distance; // candidates this far away may be offered again
  double max_sum;        // of the kernel's shape, w(0) = 1, over the samples of the layer within 2 spacings
  bool must_help;        // accept only within a spacing of a weak sample
} FloThinRule;

typedef enum FloVerdict { FLO_REFUSED, FLO_TOO_NEAR, FLO_ACCEPTED } FloVerdict;

// Points should lie between `low` and `high`, but need not.
FloStatus flo_thinner_create(FloThinner **thinner, FloMemory *memory, const double low[3],
                             const double high[3], double spacing, double n_expected, FloError *error);
void flo_thinner_destroy(FloThinner *thinner);
void flo_thinner_clear(FloThinner *thinner);
// For the candidates that follow. Samples of other layers keep them away but do not count for `max_sum`.
void flo_thinner_set_rule(FloThinner *thinner, int layer, const FloThinRule *rule);
// Too near: nearer than the rule wants, but not than its retry distance, and otherwise acceptable.
FloStatus flo_thinner_offer(FloThinner *thinner, const double point[3], uint32_t triangle,
                            FloVerdict *verdict, FloError *error);
size_t flo_thinner_count(const FloThinner *thinner);
FloSurfacePoint flo_thinner_sample(const FloThinner *thinner, size_t k);

// ---- Where company is needed ----

// Rounds in which weak samples get company, from ever finer candidates.
typedef struct FloRepairRound {
  FloThinRule rule;
  double step; // between candidates, in spacings
} FloRepairRound;

enum { FLO_REPAIR_ROUNDS = 4 };
extern const FloRepairRound flo_repair_rounds[FLO_REPAIR_ROUNDS];

// Marks what is within `reach` spacings of the weak samples of the layer at work, and a little more; returns
// how many are weak. The marks around a sample go as soon as it has enough company.
size_t flo_thinner_mark_weak(FloThinner *thinner, double reach);
// Corners of a box around all that is marked; empty, its low corner above the high one, if nothing is.
void flo_thinner_bound_marks(const FloThinner *thinner, double low[3], double high[3]);
bool flo_thinner_is_marked(const FloThinner *thinner, const double point[3]);
// Whether the box touches what was marked.
bool flo_thinner_is_box_marked(const FloThinner *thinner, const double low[3], const double high[3]);

#endif
