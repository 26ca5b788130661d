// Defines the type Real and its functions, over which kernel.h, pair.h and particle.h are written, for one
// particle at a time.
#ifndef FLO_SPH_REAL_SCALAR_H
#define FLO_SPH_REAL_SCALAR_H

#include "flotsam/types.h" // names of kernels

#include <math.h>

typedef float Real;
#define REAL_INLINE static inline __attribute__((unused))

REAL_INLINE Real real_set(float a) { return a; }
REAL_INLINE Real real_max(Real a, Real b) { return a > b ? a : b; }
REAL_INLINE Real real_fma(Real a, Real b, Real c) { return a * b + c; }
REAL_INLINE Real real_sqrt(Real a) { return sqrtf(a); }
REAL_INLINE Real real_power(Real a, float exponent) { return powf(a, exponent); }
// a where x > 0, else b.
REAL_INLINE Real real_if_positive(Real x, Real a, Real b) { return x > 0 ? a : b; }

#endif
