// The rule of Mueller, Schirm, Teschner, Heidelberger, Gross 2004 ("Interaction of fluids with deformable
// solids"), for comparison: a triangle is cut into four until its sides are short, and each part gets the
// seven points of a quadrature. So a triangle has 7 * 4^k samples, and its vertices and edges have none.
#include "base/vecmath.h"
#include "geometry/mesh_sampler_parts.h"

// Parts are cut while a side is longer than this. Seven points in a triangle with equal sides of this length
// are as dense as samples one spacing apart [spacings].
#define LONGEST_SIDE 4.0

enum { MOST_CUTS = 14 };

// Weights of the three corners: the middle, and three points each near the sides and near the corners.
static const double points[7][3] = {
    {1.0 / 3, 1.0 / 3, 1.0 / 3},
    {0.059715871789770, 0.470142064105115, 0.470142064105115},
    {0.470142064105115, 0.059715871789770, 0.470142064105115},
    {0.470142064105115, 0.470142064105115, 0.059715871789770},
    {0.797426985353087, 0.101286507323456, 0.101286507323456},
    {0.101286507323456, 0.797426985353087, 0.101286507323456},
    {0.101286507323456, 0.101286507323456, 0.797426985353087},
};

FloRows flo_sampler_seven(const double squares[3]) {
  double longest = sqrt(fmax(fmax(squares[0], squares[1]), squares[2]));
  FloRows rows = {.count = 7, .n_rows = 1, .layout = FLO_CENTRE_LAYOUT};
  int n_cuts = 0;
  for (; longest > LONGEST_SIDE && n_cuts < MOST_CUTS; longest /= 2, ++n_cuts)
    rows.count *= 4, rows.n_rows *= 2;
  if (longest > LONGEST_SIDE) rows.count = FLO_TOO_MANY_STEPS;
  return rows;
}

// The part whose corner nearest to the first is (i, j) steps along the sides; every second part is upside
// down.
static FloStatus fill_part(FloMeshSampler *sampler, double number, const double corner[2], double step,
                           FloGainFn gain, FloError *error) {
  for (int k = 0; k < 7; ++k)
    FLO_TRY(gain(sampler, number, corner[0] + step * points[k][1], corner[1] + step * points[k][2], error));
  return FLO_OK;
}

FloStatus flo_sampler_fill_seven(FloMeshSampler *sampler, double number, uint32_t n, FloGainFn gain,
                                 FloError *error) {
  const double step = 1.0 / n;
  for (uint32_t j = 0; j < n; ++j)
    for (uint32_t i = 0; i + j < n; ++i) {
      const double low[2] = {i * step, j * step}, high[2] = {(i + 1) * step, (j + 1) * step};
      FLO_TRY(fill_part(sampler, number, low, step, gain, error));
      if (i + j + 1 < n) FLO_TRY(fill_part(sampler, number, high, -step, gain, error));
    }
  return FLO_OK;
}
