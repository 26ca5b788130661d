// A = L D L^T, with ones on the diagonal of L and the pivots in the diagonal matrix D. No square roots are
// needed. With S = L D, row i follows from the rows above it:
//
//   s_ik = a_ik - sum over m < k of s_im l_km,   l_ik = s_ik / d_k,   d_i = a_ii - sum over k < i of s_ik
//   l_ik
//
// Factors are stored like the matrix: L below the diagonal, and 1 / d_i on it, or 0 for an unknown that is
// left out.
//
// In a positive semidefinite matrix d_i is between zero and a_ii. A pivot that is a tiny share of a_ii is a
// zero with rounding errors. This test does not depend on the units of the unknowns.
#include "solve/dense.h"

#include "base/vecmath.h"

// Sums of a dozen terms have rounding errors of 1e-15 of their largest term. Ill-conditioned matrices have
// more.
#define ROUNDING 1e-12

// An unknown that was left out must not act on others. The numbers of a positive semidefinite matrix are at
// most sqrt(d_i d_k), so the rounding of the pivots allows this much.
static bool is_beyond_rounding(double number, double diagonal_i, double diagonal_k) {
  return number * number > 4 * ROUNDING * diagonal_i * diagonal_k;
}

// Row i of L. Returns its pivot, or NaN if the row shows that the matrix is indefinite.
static double factorise_row(int n, int i, const double *matrix, double *factors) {
  double s[FLO_DENSE_MAX], pivot = matrix[n * i + i];
  for (int k = 0; k < i; ++k) {
    s[k] = matrix[n * i + k];
    for (int m = 0; m < k; ++m) s[k] -= s[m] * factors[n * k + m];
    bool is_left_out = factors[n * k + k] == 0;
    if (is_left_out && is_beyond_rounding(s[k], matrix[n * i + i], matrix[n * k + k])) return NAN;
    factors[n * i + k] = s[k] * factors[n * k + k];
    pivot -= s[k] * factors[n * i + k];
  }
  return pivot;
}

bool flo_dense_factorise(int n, const double *matrix, double *factors) {
  FLO_ASSERT(n <= FLO_DENSE_MAX);
  for (int i = 0; i < n; ++i) {
    double diagonal = matrix[n * i + i], pivot = factorise_row(n, i, matrix, factors);
    if (!(pivot > ROUNDING * diagonal)) return false;
    factors[n * i + i] = 1 / pivot;
  }
  return true;
}

bool flo_dense_factorise_semidefinite(int n, const double *matrix, double *factors) {
  FLO_ASSERT(n <= FLO_DENSE_MAX);
  for (int i = 0; i < n; ++i) {
    double diagonal = matrix[n * i + i], pivot = factorise_row(n, i, matrix, factors);
    if (!(pivot >= -ROUNDING * diagonal)) return false;
    factors[n * i + i] = pivot > ROUNDING * diagonal ? 1 / pivot : 0;
  }
  return true;
}

static void substitute_forward(int n, const double *factors, const double *b, double *x) {
  for (int i = 0; i < n; ++i) {
    double sum = b[i];
    for (int k = 0; k < i; ++k) sum -= factors[n * i + k] * x[k];
    x[i] = sum;
  }
}

static void substitute_back(int n, const double *factors, double *x) {
  for (int i = n - 1; i >= 0; --i)
    for (int k = i + 1; k < n; ++k) x[i] -= factors[n * k + i] * x[k];
}

void flo_dense_solve(int n, const double *factors, const double *b, double *x) {
  substitute_forward(n, factors, b, x);
  for (int i = 0; i < n; ++i) x[i] *= factors[n * i + i];
  substitute_back(n, factors, x);
}

void flo_dense_inverse_column(int n, const double *factors, int column, double *x) {
  double unit[FLO_DENSE_MAX] = {0};
  unit[column] = 1;
  flo_dense_solve(n, factors, unit, x);
}

static double determinant(const double m[9]) {
  return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
         m[2] * (m[3] * m[7] - m[4] * m[6]);
}

// The trigonometric solution of the cubic equation (Smith 1961: Eigenvalues of a Symmetric 3 x 3 Matrix): A =
// mean + spread B, where B has no trace and eigenvalues between -2 and 2, of which the largest is 2
// cos(acos(det B / 2) / 3).
double flo_dense_largest_eigenvalue(const double matrix[9]) {
  double mean = (matrix[0] + matrix[4] + matrix[8]) / 3, b[9], square = 0;
  for (int k = 0; k < 9; ++k) {
    b[k] = matrix[k] - (k % 4 == 0 ? mean : 0);
    square += b[k] * b[k];
  }
  double spread = sqrt(square / 6);
  if (!(spread > 0)) return mean;
  for (int k = 0; k < 9; ++k) b[k] /= spread;
  double cosine = fmin(fmax(determinant(b) / 2, -1), 1);
  return mean + 2 * spread * cos(acos(cosine) / 3);
}
