#include "render/survey.h"

#include "base/core.h"
#include "render/cloud.h"

#include <stdlib.h>
#include <string.h>

enum { max_sample = 8192 };

static const float position_share = 0.005f, value_share = 0.02f;

static int compare_floats(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

// Finds the values below and above which only `share` of them lie, from an even sample of the finite ones;
// false if there are none. `stride` is in floats.
static bool find_bulk(const float *values, size_t n, size_t stride, float share, float *low, float *high) {
  float sample[max_sample];
  size_t count = 0, every = n / max_sample + 1;
  for (size_t i = 0; i < n; i += every)
    if (isfinite(values[i * stride])) sample[count++] = values[i * stride];
  if (count == 0) return false;
  qsort(sample, count, sizeof *sample, compare_floats);
  size_t cut = (size_t)(share * (float)(count - 1) + 0.5f);
  *low = sample[cut], *high = sample[count - 1 - cut];
  return true;
}

void flo_survey_add(FloSurvey *s, const float *positions, const float *values, size_t n) {
  if (s->n_frames == FLO_SURVEY_FRAMES || n == 0) return;
  size_t k = s->n_frames;
  for (size_t axis = 0; axis < 3; axis++)
    if (!find_bulk(positions + axis, n, 3, position_share, &s->low[k][axis], &s->high[k][axis])) return;
  if (!values || !find_bulk(values, n, 1, value_share, &s->value_low[k], &s->value_high[k]))
    s->value_low[k] = s->value_high[k] = NAN;
  s->n_frames++;
}

void flo_survey_widen(const FloSurvey *s, float radius, FloPictureView *view) {
  double size = 0;
  const FloPictureView before = *view;
  for (int axis = 0; axis < 3; axis++) {
    double side = view->high[axis] - view->low[axis];
    size += side * side;
  }
  // Particles of a run that blew up may be anywhere, so the box is limited.
  const double most = 0.5 * sqrt(size), r = (double)radius;
  for (size_t k = 0; k < s->n_frames; k++)
    for (int axis = 0; axis < 3; axis++) {
      double low = fmax((double)s->low[k][axis] - r, before.low[axis] - most);
      double high = fmin((double)s->high[k][axis] + r, before.high[axis] + most);
      view->low[axis] = fmin(view->low[axis], low);
      view->high[axis] = fmax(view->high[axis], high);
    }
}

// Of several frames the second most extreme counts: the most extreme may be the one at which a run failed.
static float robust_end(const float *ends, size_t n, float sign) {
  float sorted[FLO_SURVEY_FRAMES];
  size_t count = 0;
  for (size_t k = 0; k < n; k++)
    if (isfinite(ends[k])) sorted[count++] = sign * ends[k];
  if (count == 0) return NAN;
  qsort(sorted, count, sizeof *sorted, compare_floats);
  return sign * sorted[(size_t)(0.9f * (float)(count - 1) + 0.5f)];
}

void flo_survey_range(const FloSurvey *s, FloColourMap map, float *low, float *high) {
  const float least = 0.02f; // share of the expected range
  const float ends[2] = {robust_end(s->value_low, s->n_frames, -1),
                         robust_end(s->value_high, s->n_frames, 1)};
  float a, b;
  if (!(ends[0] < ends[1] || (ends[0] == ends[1] && ends[0] != 0))) return;
  flo_value_range(ends, 2, map, &a, &b); // the range that suits the map
  // Quantities such as pressures that begin close to zero are easier to read from zero.
  if (map == FLO_MAP_FIELD && a > 0 && a < 0.15f * b) a = 0;
  if (b - a < least * (*high - *low)) return;
  *low = a, *high = b;
}
