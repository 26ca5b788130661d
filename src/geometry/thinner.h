// Thinning chooses samples from many candidates, so that they lie neither too densely nor too sparsely.
#ifndef FLO_GEOMETRY_THINNER_H
#define FLO_GEOMETRY_THINNER_H

#include "base/memory.h"

// The number density of samples,  sum_j W(x_i - x_j)  with the cubic spline and H = 2 spacings, must lie
// between 3.6/H^3 and 10/H^3 (Akinci et al. 2013, section 2.3). Candidates are judged one by one against the
// samples accepted before them. No candidate may lift a sample above the upper bound, so this bound always
// holds. A sample that remains below the lower bound is called weak.
typedef struct FloThinner FloThinner;

typedef struct FloSurfacePoint {
  double point[3];
  uint32_t triangle; // the one it lies on
} FloSurfacePoint;

typedef struct FloThinRule {
  double min_distance;   // least distance from other samples, in spacings
  double retry_distance; // candidates at least this far away may be offered again, in spacings
  double
      max_sum; // largest sum of the kernel's shape, w(0) = 1, over the samples of the layer within 2 spacings
  bool must_help; // accept only candidates within a spacing of a weak sample
} FloThinRule;

typedef enum FloVerdict { FLO_REFUSED, FLO_TOO_NEAR, FLO_ACCEPTED } FloVerdict;

// Points should lie between `low` and `high`, but need not.
FloStatus flo_thinner_create(FloThinner **thinner, FloMemory *memory, const double low[3],
                             const double high[3], double spacing, double n_expected, FloError *error);
void flo_thinner_destroy(FloThinner *thinner);
void flo_thinner_clear(FloThinner *thinner);
// Sets the layer and the rule for the candidates that follow. Samples of other layers count for distances but
// not for `max_sum`.
void flo_thinner_set_rule(FloThinner *thinner, int layer, const FloThinRule *rule);
// The verdict is "too near" if a candidate is nearer to samples than the rule allows, but not nearer than its
// retry distance, and is otherwise acceptable.
FloStatus flo_thinner_offer(FloThinner *thinner, const double point[3], uint32_t triangle,
                            FloVerdict *verdict, FloError *error);
size_t flo_thinner_count(const FloThinner *thinner);
FloSurfacePoint flo_thinner_sample(const FloThinner *thinner, size_t k);

// ---- Where company is needed ----

// Rounds that add samples near weak ones, from ever finer candidates.
typedef struct FloRepairRound {
  FloThinRule rule;
  double step; // between candidates, in spacings
} FloRepairRound;

enum { FLO_REPAIR_ROUNDS = 4 };
extern const FloRepairRound flo_repair_rounds[FLO_REPAIR_ROUNDS];

// Marks the surroundings of the weak samples of the present layer, up to `reach` spacings and a little more.
// Returns the number of weak samples. The marks around a sample are removed as soon as it is weak no longer.
size_t flo_thinner_mark_weak(FloThinner *thinner, double reach);
// Corners of a box around all marks. Without marks it is empty: its low corner is above the high one.
void flo_thinner_bound_marks(const FloThinner *thinner, double low[3], double high[3]);
bool flo_thinner_is_marked(const FloThinner *thinner, const double point[3]);
// Whether the box touches a mark.
bool flo_thinner_is_box_marked(const FloThinner *thinner, const double low[3], const double high[3]);

#endif
