#include "geometry/sides.h"

#include "base/vecmath.h"

#include <math.h>
#include <string.h>

static inline double square_length(const double a[3], const double b[3]) {
  double d[3];
  vec_sub(b, a, d);
  return vec_dot(d, d);
}

// The middle of a side c is crowded if the three corners add up to more than the rule allows. They are half
// of c away, twice, and the median, 4 m^2 = 2 (a^2 + b^2) - c^2. As q^3 is convex in x = q^2, the kernel's
// shape 1 - 6 x + 6 q^3 is at least 0.86 - 2.76 x, its tangent at q = 0.36; the sum of three exceeds 1.4 if
// c^2 + 2 (a^2 + b^2) < 6.83 spacings^2, which is true of sides of one step only, 2 (a^2 + b^2) being at
// least c^2. Such are the diagonals of a cloth whose threads are a spacing apart, half of all candidates.
static inline uint8_t describe_sides(const double squares[3], double unit) {
  const double limit = FLO_LONGEST_STEP * FLO_LONGEST_STEP * unit;
  unsigned bits = (unsigned)(squares[0] > limit) | (unsigned)(squares[1] > limit) << 1 |
                  (unsigned)(squares[2] > limit) << 2;
  if (!bits) return 0; // as in most triangles of fine meshes
  const double twice = 2 * (squares[0] + squares[1] + squares[2]);
  unsigned crowded = 0, is_large = 0;
  // Without branches, which could not be foreseen.
  for (int side = 0; side < 3; ++side) {
    const double square = squares[side];
    crowded |= (unsigned)(twice - square < 6.83 * unit) << side;
    is_large |= square > 1.7 * 1.7 * unit;
  }
  return (uint8_t)(bits | (is_large ? FLO_IS_LARGE : 0u) | (bits & crowded) << FLO_FIRST_CROWDED);
}

// The square of twice the area of a triangle, after Heron; a little noise if it is a needle.
static double heron(const double squares[3]) {
  double sum = squares[0] + squares[1] - squares[2], result = squares[0] * squares[1] - sum * sum / 4;
  return result > 0 ? result : 0;
}

// Goes over the triangles once. Sides of one step have nothing between their ends, and fine meshes consist of
// them.
FloSideSurvey flo_sides_survey(const FloMesh *mesh, double spacing, uint8_t *is_used, uint8_t *sides) {
  FloSideSurvey survey = {0};
  double area = 0, length = 0;
  // Bytes may be part of anything, so that a compiler would look all these up again after each that is
  // written.
  const double *vertices = mesh->vertices.data;
  const uint32_t *triangles = mesh->triangles.data;
  const size_t n_triangles = mesh->n_triangles;
  memset(is_used, 0, mesh->n_vertices);
  for (size_t k = 0; k < n_triangles; ++k) {
    const size_t t[3] = {triangles[3 * k], triangles[3 * k + 1], triangles[3 * k + 2]};
    const double *a = vertices + 3 * t[0], *b = vertices + 3 * t[1], *c = vertices + 3 * t[2];
    is_used[t[0]] = is_used[t[1]] = is_used[t[2]] = 1;
    const double squares[3] = {square_length(a, b), square_length(b, c), square_length(c, a)};
    area += sqrt(heron(squares)) / 2;
    const unsigned bits = sides[k] = describe_sides(squares, spacing * spacing);
    if (!bits) continue;
    survey.has_long = true;
    survey.has_roomy |= (bits & FLO_ALL_SIDES) == FLO_ALL_SIDES;
    unsigned spacious = bits & ~(bits >> FLO_FIRST_CROWDED) & FLO_ALL_SIDES;
    survey.has_spacious |= spacious != 0;
    // Half, because the neighbour counts it too.
    for (int side = 0; spacious; ++side, spacious >>= 1)
      if (spacious & 1) length += sqrt(squares[side]) / 2;
  }
  survey.n_expected = area / (spacing * spacing) + length / spacing + 64;
  return survey;
}
