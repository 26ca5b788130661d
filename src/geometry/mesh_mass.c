// Mass, centre and inertia of a mesh. Every triangle spans a tetrahedron with a point in the middle of the
// mesh. The signed integrals of 1, x and x x^T over the tetrahedra add up to those of the solid (Zhang and
// Chen 2001; the polynomials are those of Mirtich 1996). The middle is used as origin because it keeps the
// precision of meshes far from zero.
#include "base/vecmath.h"
#include "geometry/mesh.h"

// Integrals of 1, x_i and x_i x_j (xx, yy, zz, xy, yz, zx).
typedef struct Moments {
  double whole, first[3], second[6];
} Moments;

static const int row_of[6] = {0, 1, 2, 0, 1, 2}, column_of[6] = {0, 1, 2, 1, 2, 0};

// Adds an element of this size with its corners; a tetrahedron has the origin as one more. For a simplex of
// `n_corners` corners with the sum s, the mean of x is s / n and that of x x^T is (sum of p p^T + s s^T) / (n
// (n + 1)).
static void add_element(Moments *moments, double size, int n_corners, double corners[3][3]) {
  const double *a = corners[0], *b = corners[1], *c = corners[2];
  double sum[3], n = n_corners;
  vec_add(a, b, sum);
  vec_add(sum, c, sum);
  moments->whole += size;
  vec_add_scaled(moments->first, sum, size / n, moments->first);
  for (int k = 0; k < 6; ++k) {
    int i = row_of[k], j = column_of[k];
    double products = a[i] * a[j] + b[i] * b[j] + c[i] * c[j] + sum[i] * sum[j];
    moments->second[k] += size * products / (n * (n + 1));
  }
}

// Mass, centre and inertia from integrals about `origin`; `density` is per unit of `whole`.
static void finish(const Moments *moments, double density, const double origin[3], FloMassProperties *out) {
  double about[6], shift[3] = {0};
  if (moments->whole != 0) vec_scale(moments->first, 1 / moments->whole, shift);
  for (int k = 0; k < 6; ++k)
    about[k] = density * (moments->second[k] - moments->whole * shift[row_of[k]] * shift[column_of[k]]);
  out->mass = density * moments->whole;
  vec_add(origin, shift, out->centre);
  double trace = about[0] + about[1] + about[2];
  for (int k = 0; k < 3; ++k) out->inertia[k] = trace - about[k], out->inertia[k + 3] = -about[k + 3];
}

static void box_middle(const FloMesh *mesh, double middle[3]) {
  double low[3], high[3];
  flo_mesh_bounds(mesh, low, high);
  for (int axis = 0; axis < 3; ++axis) middle[axis] = low[axis] / 2 + high[axis] / 2;
}

static void relative_corners(const FloMesh *mesh, size_t triangle, const double origin[3],
                             double corners[3][3]) {
  for (int k = 0; k < 3; ++k) vec_sub(flo_mesh_corner(mesh, triangle, k), origin, corners[k]);
}

void flo_mesh_mass(const FloMesh *mesh, double density, FloMassProperties *out) {
  Moments moments = {0};
  double middle[3], corners[3][3], normal[3];
  box_middle(mesh, middle);
  for (size_t t = 0; t < mesh->n_triangles; ++t) {
    relative_corners(mesh, t, middle, corners);
    vec_cross(corners[1], corners[2], normal);
    add_element(&moments, vec_dot(corners[0], normal) / 6, 4, corners);
  }
  out->volume = moments.whole;
  finish(&moments, density, middle, out);
}

void flo_mesh_shell_mass(const FloMesh *mesh, double density, double thickness, FloMassProperties *out) {
  Moments moments = {0};
  double middle[3], corners[3][3], u[3], v[3], normal[3];
  box_middle(mesh, middle);
  for (size_t t = 0; t < mesh->n_triangles; ++t) {
    relative_corners(mesh, t, middle, corners);
    vec_sub(corners[1], corners[0], u);
    vec_sub(corners[2], corners[0], v);
    vec_cross(u, v, normal);
    add_element(&moments, vec_length(normal) / 2, 3, corners);
  }
  out->volume = thickness * moments.whole;
  finish(&moments, density * thickness, middle, out);
}

// ---- Outlines ----

static void outline_middle(const double *points, size_t n, double middle[3]) {
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  for (size_t k = 0; k < 2 * n; ++k) {
    low[k % 2] = fmin(low[k % 2], points[k]);
    high[k % 2] = fmax(high[k % 2], points[k]);
  }
  vec_set(middle, n ? (low[0] + high[0]) / 2 : 0, n ? (low[1] + high[1]) / 2 : 0, 0);
}

// The ends of one side of an outline; the third corner of the triangle is the middle.
static void side_corners(const double *points, size_t n, size_t side, const double middle[3],
                         double corners[3][3]) {
  const double *a = points + 2 * side, *b = points + 2 * ((side + 1) % n);
  vec_set(corners[0], a[0] - middle[0], a[1] - middle[1], 0);
  vec_set(corners[1], b[0] - middle[0], b[1] - middle[1], 0);
  vec_set(corners[2], 0, 0, 0);
}

// Every side spans a triangle with the middle.
void flo_outline_mass(const double *points, size_t n, double density, FloMassProperties *out) {
  Moments moments = {0};
  double middle[3], corners[3][3];
  outline_middle(points, n, middle);
  for (size_t k = 0; k < n; ++k) {
    side_corners(points, n, k, middle, corners);
    double area = (corners[0][0] * corners[1][1] - corners[0][1] * corners[1][0]) / 2;
    add_element(&moments, area, 3, corners);
  }
  // All integrals of a clockwise outline are negative.
  double sign = moments.whole < 0 ? -1 : 1;
  moments.whole *= sign;
  vec_scale(moments.first, sign, moments.first);
  for (int k = 0; k < 6; ++k) moments.second[k] *= sign;
  out->volume = moments.whole;
  finish(&moments, density, middle, out);
}

// The third corner is the middle, which adds nothing to the sums, so two corners are left.
void flo_outline_shell_mass(const double *points, size_t n, double density, double thickness,
                            FloMassProperties *out) {
  Moments moments = {0};
  double middle[3], corners[3][3];
  outline_middle(points, n, middle);
  for (size_t k = 0; k < n; ++k) {
    side_corners(points, n, k, middle, corners);
    add_element(&moments, hypot(corners[1][0] - corners[0][0], corners[1][1] - corners[0][1]), 2, corners);
  }
  out->volume = thickness * moments.whole;
  finish(&moments, density * thickness, middle, out);
}
