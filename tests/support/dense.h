// A dense system of equations, solved by elimination.
#ifndef TEST_SUPPORT_DENSE_H
#define TEST_SUPPORT_DENSE_H

#include <stddef.h>

// The matrix a has n rows of `stride` numbers. Without exchange of rows, so pivots must not vanish: the
// matrix is definite, or positive in a first block and negative in the rest. The solution is left in b.
static inline void solve_by_elimination(size_t n, size_t stride, double *a, double *b) {
  for (size_t i = 0; i < n; ++i)
    for (size_t row = i + 1; row < n; ++row) {
      const double factor = a[row * stride + i] / a[i * stride + i];
      if (factor == 0) continue;
      for (size_t k = i; k < n; ++k) a[row * stride + k] -= factor * a[i * stride + k];
      b[row] -= factor * b[i];
    }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) b[i] -= a[i * stride + k] * b[k];
    b[i] /= a[i * stride + i];
  }
}

#endif
