// Smoothing kernels as shapes over q = r/H in [0, 1], without their normalisation.
//
// With W(r) = sigma w(q) the gradient is  grad W = sigma/H f(q) x/H,  f(q) = w'(q)/q.  The functions are
// written over the type Real; include real_scalar.h or real_wide.h first. They take and return values, so
// that the same text serves scalar, SIMD and GPU code.
//
// The truncated powers (1-q)+ make every kernel branch-free, because they are zero outside of the support.
#ifndef FLO_SPH_KERNEL_H
#define FLO_SPH_KERNEL_H

typedef struct KernelShape {
  Real w, f;
} KernelShape;

// q below which w'/q is not divided any further; x/H itself is as small there, so the gradient stays right.
#define KERNEL_TINY_Q 1e-6f

REAL_INLINE Real kernel_plus(Real a) { return real_max(a, real_set(0)); }

// w = 2 [(1-q)^3 - 4 (1/2-q)^3]: Monaghan's cubic spline as a sum of two truncated powers.
REAL_INLINE KernelShape kernel_cubic_spline(Real q) {
  Real a = kernel_plus(1 - q), b = kernel_plus(0.5f - q);
  Real a2 = a * a, b2 = b * b;
  return (KernelShape){2 * (a2 * a - 4 * (b2 * b)),
                       -6 * (a2 - 4 * b2) / real_max(q, real_set(KERNEL_TINY_Q))};
}

// w = (1-q)^4 (1+4q)
REAL_INLINE KernelShape kernel_wendland_c2(Real q) {
  Real a = kernel_plus(1 - q), a3 = a * a * a;
  return (KernelShape){a3 * a * (1 + 4 * q), -20 * a3};
}

// w = (1-q)^6 (1 + 6q + 35/3 q^2)
REAL_INLINE KernelShape kernel_wendland_c4(Real q) {
  Real a = kernel_plus(1 - q), a2 = a * a, a5 = a2 * a2 * a;
  return (KernelShape){a5 * a * (1 + q * (6 + (35.0f / 3) * q)), (-56.0f / 3) * a5 * (1 + 5 * q)};
}

// Morris 1997 with t = 3q: w = (3-t)^5 - 6 (2-t)^5 + 15 (1-t)^5
REAL_INLINE KernelShape kernel_quintic(Real q) {
  Real a = kernel_plus(3 - 3 * q), b = kernel_plus(2 - 3 * q), c = kernel_plus(1 - 3 * q);
  Real a2 = a * a, b2 = b * b, c2 = c * c;
  Real a4 = a2 * a2, b4 = b2 * b2, c4 = c2 * c2;
  return (KernelShape){a4 * a - 6 * (b4 * b) + 15 * (c4 * c),
                       -15 * (a4 - 6 * b4 + 15 * c4) / real_max(q, real_set(KERNEL_TINY_Q))};
}

// w = (1-q^2)^3
REAL_INLINE KernelShape kernel_poly6(Real q) {
  Real a = kernel_plus(1 - q * q), a2 = a * a;
  return (KernelShape){a2 * a, -6 * a2};
}

// w = (1-q)^3
REAL_INLINE KernelShape kernel_spiky(Real q) {
  Real a = kernel_plus(1 - q), a2 = a * a;
  return (KernelShape){a2 * a, -3 * a2 / real_max(q, real_set(KERNEL_TINY_Q))};
}

// w = -q^3/2 + q^2 + 1/(2q) - 1 = (1-q)^2 (1 - q^2)/(2q) for q < 1; infinite at the centre.
REAL_INLINE KernelShape kernel_viscosity(Real q) {
  Real a = kernel_plus(1 - q), a2 = a * a, s = real_max(q, real_set(1e-3f));
  // w' = -3/2 q^2 + 2q - 1/(2q^2) = -(1-q)^2 (3q^2 + 2q + 1) / (2 q^2)
  return (KernelShape){a2 * (1 - s * s) / (2 * s), -a2 * (1 + s * (2 + 3 * s)) / (2 * s * s * s)};
}

// `which` is a FloKernel, whose names must be known; it should be a constant where this is inlined into a
// loop.
REAL_INLINE KernelShape kernel_shape(int which, Real q) {
  switch (which) {
  case FLO_KERNEL_WENDLAND_C2:
    return kernel_wendland_c2(q);
  case FLO_KERNEL_WENDLAND_C4:
    return kernel_wendland_c4(q);
  case FLO_KERNEL_QUINTIC:
    return kernel_quintic(q);
  case FLO_KERNEL_POLY6:
    return kernel_poly6(q);
  case FLO_KERNEL_SPIKY:
    return kernel_spiky(q);
  case FLO_KERNEL_VISCOSITY:
    return kernel_viscosity(q);
  default:
    return kernel_cubic_spline(q);
  }
}

#endif
