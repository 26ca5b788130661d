// Shepard's interpolation with kernels (1 - q^2)^3 of two spacings, on a lattice of half a spacing. The value
// is the weighted mean of the particles around. There is fluid where the kernels sum up to at least half of
// their sum deep inside.
#include "render/slice.h"

#include "base/core.h"
#include "render/water.h"

#include <stdlib.h>

static const double most_nodes = 1 << 26; // half a gigabyte

static const float kernel_radius = 2; // in spacings

typedef struct Near {
  const FloPictureInput *input;
  float reach;            // [m]
  double low[3], high[3]; // [m] the visible part
} Near;

// Particles farther away than the size of the scene are not visible and may be too far for a lattice; the
// same holds for water. A picture without a view shows everything.
static Near near_of(const FloPictureInput *input) {
  const FloPictureView *view = &input->view;
  Near near = {.input = input, .reach = 2 * kernel_radius * input->radius};
  double square = 0;
  for (int k = 0; k < 3; k++) square += (view->high[k] - view->low[k]) * (view->high[k] - view->low[k]);
  const double margin = view->is_set ? sqrt(square) + (double)near.reach : INFINITY;
  for (int k = 0; k < 3; k++) {
    near.low[k] = (view->is_set ? view->low[k] : 0) - margin;
    near.high[k] = (view->is_set ? view->high[k] : 0) + margin;
  }
  return near;
}

static bool is_in_view(const Near *near, const float *p) {
  for (int k = 0; k < 3; k++)
    if (!(isfinite(p[k]) && (double)p[k] >= near->low[k] && (double)p[k] <= near->high[k])) return false;
  return true;
}

static bool is_near(const Near *near, const FloSlice *s, size_t i) {
  const float *p = near->input->positions + 3 * i;
  return flo_is_fluid(near->input, i) && fabsf(p[s->axis] - s->at) < near->reach && is_in_view(near, p) &&
         isfinite(near->input->values[i]);
}

static double count_nodes(const double extent[2], double cell) {
  return (floor(extent[0] / cell) + 2) * (floor(extent[1] / cell) + 2);
}

// A cell of half a spacing, or of one if there would be too many. One spacing, half the kernel's radius, is
// the coarsest that still shows what lies between nodes.
static FloStatus choose_cell(const Near *near, const double extent[2], FloSlice *s, FloError *error) {
  const float fine = near->input->radius, coarse = 0.5f * near->reach;
  s->cell = count_nodes(extent, (double)fine) <= most_nodes ? fine : coarse;
  if (count_nodes(extent, (double)s->cell) <= most_nodes) return FLO_OK;
  return flo_fail(
      error, FLO_BAD_INPUT,
      "a slice of %g m x %g m is too large for particles %g m apart; give the picture a smaller view",
      extent[0], extent[1], 2 * (double)near->input->radius);
}

// Lays a lattice around all particles near the plane.
static FloStatus lay_lattice(const Near *near, FloSlice *s, FloError *error) {
  float high[2] = {-INFINITY, -INFINITY};
  s->low[0] = s->low[1] = INFINITY;
  for (size_t i = 0; i < near->input->n_particles; i++) {
    if (!is_near(near, s, i)) continue;
    const float *p = near->input->positions + 3 * i, place[2] = {p[s->across], p[s->along]};
    for (int k = 0; k < 2; k++)
      s->low[k] = flo_minf(s->low[k], place[k]), high[k] = flo_maxf(high[k], place[k]);
  }
  if (!(s->low[0] <= high[0])) return FLO_OK;
  double extent[2];
  for (int k = 0; k < 2; k++) {
    extent[k] = (double)high[k] - (double)s->low[k] + 2 * (double)near->reach;
    s->low[k] -= near->reach;
  }
  FLO_TRY(choose_cell(near, extent, s, error));
  for (int k = 0; k < 2; k++) s->n[k] = (int)(extent[k] / (double)s->cell) + 2;
  return FLO_OK;
}

// Nodes within reach of a coordinate: first <= node < end.
static void node_range(const FloSlice *s, int k, float place, float reach, int *first, int *end) {
  *first = (int)ceilf((place - reach - s->low[k]) / s->cell);
  *end = (int)floorf((place + reach - s->low[k]) / s->cell) + 1;
  if (*first < 0) *first = 0;
  if (*end > s->n[k]) *end = s->n[k];
}

static void add_particle(const Near *near, FloSlice *s, size_t i) {
  const float *p = near->input->positions + 3 * i, off = p[s->axis] - s->at, shrink = 1 / near->reach;
  int first[2], end[2];
  node_range(s, 0, p[s->across], near->reach, &first[0], &end[0]);
  node_range(s, 1, p[s->along], near->reach, &first[1], &end[1]);
  for (int v = first[1]; v < end[1]; v++)
    for (int u = first[0]; u < end[0]; u++) {
      const float x = (s->low[0] + (float)u * s->cell - p[s->across]) * shrink,
                  y = (s->low[1] + (float)v * s->cell - p[s->along]) * shrink, z = off * shrink;
      const float inside = 1 - (x * x + y * y + z * z);
      if (inside <= 0) continue;
      const size_t node = (size_t)v * (size_t)s->n[0] + (size_t)u;
      const float weight = inside * inside * inside;
      s->fill[node] += weight, s->values[node] += weight * near->input->values[i];
    }
}

// The kernel's integral over space is 64 pi / 315 radii^3; kernels on a full lattice sum up to this over the
// volume of a particle.
static void finish(const FloPictureInput *input, float reach, FloSlice *s) {
  const float spacing = 2 * input->radius, ratio = reach / spacing;
  const float full = 64 * (float)FLO_PI / 315 * ratio * ratio * ratio;
  for (size_t k = 0; k < (size_t)s->n[0] * (size_t)s->n[1]; k++) {
    if (s->fill[k] > 0) s->values[k] /= s->fill[k];
    s->fill[k] /= full;
  }
}

FloStatus flo_slice_create(const FloPictureInput *input, FloSlice *s, FloError *error) {
  const FloStyle *style = &input->view.style;
  const Near near = near_of(input);
  *s = (FloSlice){.axis = style->slice_axis, .at = (float)style->slice_at};
  FLO_ASSERT(s->axis >= 0 && s->axis < 3);
  s->across = s->axis == 0 ? 1 : 0, s->along = 3 - s->axis - s->across;
  if (!input->values) return FLO_OK;
  FLO_TRY(lay_lattice(&near, s, error));
  const size_t n = (size_t)s->n[0] * (size_t)s->n[1];
  if (n == 0) return FLO_OK;
  s->fill = calloc(n, sizeof *s->fill);
  s->values = calloc(n, sizeof *s->values);
  if (!s->fill || !s->values)
    return flo_fail(error, FLO_NO_MEMORY, "no memory for a slice of %d x %d points", s->n[0], s->n[1]);
  for (size_t i = 0; i < input->n_particles; i++)
    if (is_near(&near, s, i)) add_particle(&near, s, i);
  finish(input, near.reach, s);
  return FLO_OK;
}

void flo_slice_destroy(FloSlice *s) {
  free(s->fill);
  free(s->values);
  *s = (FloSlice){0};
}

bool flo_slice_value(const FloSlice *s, V3 point, float *value) {
  const float x = (v3_get(point, s->across) - s->low[0]) / s->cell,
              y = (v3_get(point, s->along) - s->low[1]) / s->cell;
  if (s->n[0] == 0 || !(x >= 0 && y >= 0 && x < (float)(s->n[0] - 1) && y < (float)(s->n[1] - 1)))
    return false;
  const int u = (int)x, v = (int)y;
  const float a = x - (float)u, b = y - (float)v;
  const float shares[4] = {(1 - a) * (1 - b), a * (1 - b), (1 - a) * b, a * b};
  float fill = 0, sum = 0, weight = 0;
  for (int k = 0; k < 4; k++) {
    const size_t node = (size_t)(v + k / 2) * (size_t)s->n[0] + (size_t)(u + k % 2);
    fill += shares[k] * s->fill[node];
    sum += shares[k] * s->fill[node] * s->values[node], weight += shares[k] * s->fill[node];
  }
  if (fill < 0.5f) return false;
  *value = sum / weight;
  return true;
}
