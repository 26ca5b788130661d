// Defines the type Real and its functions, over which kernel.h and pair.h are written, for FLO_LANES
// particles at a time.
#ifndef FLO_SPH_REAL_WIDE_H
#define FLO_SPH_REAL_WIDE_H

#include FLO_SIMD_HEADER

typedef WideF Real;
#define REAL_INLINE WIDE_INLINE

REAL_INLINE Real real_set(float a) { return wide_set(a); }
REAL_INLINE Real real_max(Real a, Real b) { return wide_max(a, b); }
REAL_INLINE Real real_fma(Real a, Real b, Real c) { return wide_fma(a, b, c); }
REAL_INLINE Real real_sqrt(Real a) { return wide_sqrt(a); }
REAL_INLINE Real real_if_positive(Real x, Real a, Real b) {
  return wide_select((WideI)(x > wide_set(0)), a, b);
}

#endif
