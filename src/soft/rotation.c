// In space the rotation is a unit quaternion q that makes q^T N q largest, with a symmetric matrix N of four
// rows whose entries are sums of entries of F (Horn 1987). q is the eigenvector of the largest eigenvalue,
// which Newton's method finds from above, where the characteristic polynomial is convex.
#include "soft/rotation.h"

#include "base/vecmath.h"

#include <string.h>

// ---- The matrix ----

static void find_matrix(const double f[9], double n[4][4]) {
  const double xx = f[0], yx = f[1], zx = f[2], xy = f[3], yy = f[4], zy = f[5], xz = f[6], yz = f[7],
               zz = f[8];
  const double rows[4][4] = {{xx + yy + zz, yz - zy, zx - xz, xy - yx},
                             {yz - zy, xx - yy - zz, xy + yx, zx + xz},
                             {zx - xz, xy + yx, yy - xx - zz, yz + zy},
                             {xy - yx, zx + xz, yz + zy, zz - xx - yy}};
  memcpy(n, rows, sizeof rows);
}

static double minor3(double m[4][4], const int r[3], const int c[3]) {
  const double *a = m[r[0]], *b = m[r[1]], *d = m[r[2]];
  return a[c[0]] * (b[c[1]] * d[c[2]] - b[c[2]] * d[c[1]]) -
         a[c[1]] * (b[c[0]] * d[c[2]] - b[c[2]] * d[c[0]]) +
         a[c[2]] * (b[c[0]] * d[c[1]] - b[c[1]] * d[c[0]]);
}

// Rows or columns without one of them.
static const int without[4][3] = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};

static double cofactor(double m[4][4], int row, int column) {
  const double minor = minor3(m, without[row], without[column]);
  return (row + column) % 2 ? -minor : minor;
}

// ---- Its largest eigenvalue ----

// lambda^4 + c2 lambda^2 + c1 lambda + c0: the trace of N is zero.
static void find_polynomial(const double f[9], double n[4][4], double c[3]) {
  double square = 0, determinant = 0;
  for (int k = 0; k < 9; ++k) square += f[k] * f[k];
  for (int k = 0; k < 4; ++k) determinant += n[0][k] * cofactor(n, 0, k);
  const double cross[3] = {f[4] * f[8] - f[5] * f[7], f[5] * f[6] - f[3] * f[8], f[3] * f[7] - f[4] * f[6]};
  c[2] = -2 * square, c[1] = -8 * vec_dot(f, cross), c[0] = determinant;
}

static double largest_root(const double c[3], double above) {
  enum { MOST_NEWTON = 60 };
  double x = above;
  for (int k = 0; k < MOST_NEWTON; ++k) {
    const double value = ((x * x + c[2]) * x + c[1]) * x + c[0], slope = (4 * x * x + 2 * c[2]) * x + c[1];
    if (!(slope > 0)) break;
    const double next = x - value / slope;
    if (!(next < x)) break;
    x = next;
  }
  return x;
}

// ---- Its eigenvector ----

// The longest row of cofactors of N - lambda is the most exact.
static void find_vector(double n[4][4], double lambda, double q[4]) {
  double longest = 0;
  vec_set(q, 1, 0, 0), q[3] = 0;
  for (int k = 0; k < 4; ++k) n[k][k] -= lambda;
  for (int row = 0; row < 4; ++row) {
    double candidate[4], square = 0;
    for (int k = 0; k < 4; ++k) candidate[k] = cofactor(n, row, k), square += candidate[k] * candidate[k];
    if (!(square > longest)) continue;
    longest = square;
    for (int k = 0; k < 4; ++k) q[k] = candidate[k] / sqrt(square);
  }
}

static void matrix_of(const double q[4], double r[9]) {
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double rows[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                          2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                          2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  memcpy(r, rows, sizeof rows);
}

static void rotation_in_plane(const double f[9], double r[9]) {
  const double c = f[0] + f[4], s = f[3] - f[1], length = sqrt(c * c + s * s);
  const double cosine = length > 0 ? c / length : 1, sine = length > 0 ? s / length : 0;
  const double rows[9] = {cosine, -sine, 0, sine, cosine, 0, 0, 0, 1};
  memcpy(r, rows, sizeof rows);
}

void flo_rotation_in(int dim, const double f[9], double r[9]) {
  double n[4][4], c[3], q[4];
  if (dim == 2) {
    rotation_in_plane(f, r);
    return;
  }
  find_matrix(f, n);
  find_polynomial(f, n, c);
  // The eigenvalues have the sum 0 and the sum of squares -2 c2: none is above the root of 3/4 of it.
  find_vector(n, largest_root(c, sqrt(-1.5 * c[2])), q);
  matrix_of(q, r);
}
