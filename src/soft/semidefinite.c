// The nearest positive semidefinite matrix: eigenvalues below zero become zero. Jacobi's method finds them.
// Most matrices are semidefinite already, so a Cholesky factorisation looks first.
#include "soft/body.h"

#include <math.h>
#include <string.h>

enum { MOST = 9, SWEEPS = 30 };

#define ROUNDING 1e-10 // share of the trace

static double trace_of(int n, const double *matrix) {
  double trace = 0;
  for (int i = 0; i < n; ++i) trace += fabs(matrix[n * i + i]);
  return trace;
}

// Whether matrix + shift is positive definite.
static bool is_definite(int n, const double *matrix, double shift) {
  double l[MOST * MOST];
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= i; ++j) {
      double sum = matrix[n * i + j] + (i == j ? shift : 0);
      for (int k = 0; k < j; ++k) sum -= l[n * i + k] * l[n * j + k];
      if (i == j && !(sum > 0)) return false;
      l[n * i + j] = i == j ? sqrt(sum) : sum / l[n * j + j];
    }
  }
  return true;
}

static void rotate_columns(int n, double *m, int p, int q, double c, double s) {
  for (int k = 0; k < n; ++k) {
    double a = m[n * k + p], b = m[n * k + q];
    m[n * k + p] = c * a - s * b, m[n * k + q] = s * a + c * b;
  }
}

static void rotate_rows(int n, double *m, int p, int q, double c, double s) {
  for (int k = 0; k < n; ++k) {
    double a = m[n * p + k], b = m[n * q + k];
    m[n * p + k] = c * a - s * b, m[n * q + k] = s * a + c * b;
  }
}

// Makes entry (p, q) zero; `vectors` holds eigenvectors as columns.
static void annihilate(int n, double *m, double *vectors, int p, int q) {
  if (m[n * p + q] == 0) return;
  double theta = (m[n * q + q] - m[n * p + p]) / (2 * m[n * p + q]);
  double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
  double c = 1 / sqrt(t * t + 1), s = t * c;
  rotate_columns(n, m, p, q, c, s);
  rotate_rows(n, m, p, q, c, s);
  rotate_columns(n, vectors, p, q, c, s);
}

static double beside_diagonal(int n, const double *m) {
  double sum = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) sum += fabs(m[n * i + j]);
  return sum;
}

static void diagonalise(int n, double *m, double *vectors) {
  for (int i = 0; i < n * n; ++i) vectors[i] = i % (n + 1) == 0;
  double least = 1e-13 * trace_of(n, m);
  for (int sweep = 0; sweep < SWEEPS && beside_diagonal(n, m) > least; ++sweep)
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) annihilate(n, m, vectors, p, q);
}

void flo_make_semidefinite(int n, double *matrix) {
  if (is_definite(n, matrix, ROUNDING * trace_of(n, matrix))) return;
  double vectors[MOST * MOST], m[MOST * MOST];
  memcpy(m, matrix, (size_t)(n * n) * sizeof *m);
  diagonalise(n, m, vectors);
  memset(matrix, 0, (size_t)(n * n) * sizeof *matrix);
  for (int k = 0; k < n; ++k) {
    if (m[n * k + k] <= 0) continue;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) matrix[n * i + j] += m[n * k + k] * vectors[n * i + k] * vectors[n * j + k];
  }
}
