#include "geometry/sides.h"

#include "base/vecmath.h"

#include <math.h>
#include <string.h>

static inline double square_length(const double a[3], const double b[3]) {
  double d[3];
  vec_sub(b, a, d);
  return vec_dot(d, d);
}

// The middle of a side is crowded if the kernel's shape, summed over the three corners, exceeds 1.4, which
// the rule does not allow. Let the sides be a, b and c. From the middle of c, two corners are c/2 away and
// the third is m away, with 4 m^2 = 2 (a^2 + b^2) - c^2. Because q^3 is convex in x = q^2, the shape 1 - 6 x
// + 6 q^3 is at least its tangent at q = 0.36, which is 0.86 - 2.76 x. The sum of the three exceeds 1.4 if
// c^2 + 2 (a^2 + b^2) < 6.83 spacings^2. As 2 (a^2 + b^2) is at least c^2, this happens only to sides of one
// step, such as the diagonals of a cloth whose threads are one spacing apart. These are half of all
// candidates.
static inline uint8_t describe_sides(const double squares[3], double unit) {
  const double limit = FLO_LONGEST_STEP * FLO_LONGEST_STEP * unit;
  unsigned bits = (unsigned)(squares[0] > limit) | (unsigned)(squares[1] > limit) << 1 |
                  (unsigned)(squares[2] > limit) << 2;
  if (!bits) return 0; // the usual case in fine meshes
  const double twice = 2 * (squares[0] + squares[1] + squares[2]);
  unsigned crowded = 0, is_large = 0;
  // Written without branches, because they could not be predicted.
  for (int side = 0; side < 3; ++side) {
    const double square = squares[side];
    crowded |= (unsigned)(twice - square < 6.83 * unit) << side;
    is_large |= square > 1.7 * 1.7 * unit;
  }
  return (uint8_t)(bits | (is_large ? FLO_IS_LARGE : 0u) | (bits & crowded) << FLO_FIRST_CROWDED);
}

// The square of twice the area of a triangle (Heron); for a thin triangle it is rounding noise.
static double heron(const double squares[3]) {
  double sum = squares[0] + squares[1] - squares[2], result = squares[0] * squares[1] - sum * sum / 4;
  return result > 0 ? result : 0;
}

// Visits the triangles once. Fine meshes consist of sides of one step, which have no samples between their
// ends.
FloSideSurvey flo_sides_survey(const FloMesh *mesh, double spacing, uint8_t *is_used, uint8_t *sides) {
  FloSideSurvey survey = {0};
  double area = 0, length = 0;
  // These are copied to local variables, because a pointer to bytes may alias anything, and the compiler
  // would load them again after every byte written.
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
    // Each side adds half, because the neighbour counts it as well.
    for (int side = 0; spacious; ++side, spacious >>= 1)
      if (spacious & 1) length += sqrt(squares[side]) / 2;
  }
  survey.n_expected = area / (spacing * spacing) + length / spacing + 64;
  return survey;
}
