// Kernels as the papers print them, in double precision: what the library's single-precision, branch-free
// text is compared with.
#ifndef TEST_SUPPORT_REFERENCE_H
#define TEST_SUPPORT_REFERENCE_H

#include "base/core.h"

#include <math.h>

typedef struct ReferenceKernel {
  FloKernel kernel;
  int dim;
  double support;
} ReferenceKernel;

// A function of r and its derivative.
typedef struct Slope {
  double value, slope;
} Slope;

static inline Slope reference_cubic_spline(double q) { // Monaghan 1992
  if (q < 0.5) return (Slope){6 * (q * q * q - q * q) + 1, 18 * q * q - 12 * q};
  return (Slope){2 * pow(1 - q, 3), -6 * pow(1 - q, 2)};
}

static inline Slope reference_quintic(double q) { // Morris 1997, pieces over t = r/h
  double t = 3 * q, w = pow(3 - t, 5), d = -5 * pow(3 - t, 4);
  if (t < 2) w -= 6 * pow(2 - t, 5), d += 30 * pow(2 - t, 4);
  if (t < 1) w += 15 * pow(1 - t, 5), d -= 75 * pow(1 - t, 4);
  return (Slope){w, 3 * d};
}

static inline Slope reference_wendland_c4(double q) {
  double c = 1 + 6 * q + 35.0 / 3 * q * q, a = 1 - q;
  return (Slope){pow(a, 6) * c, pow(a, 6) * (6 + 70.0 / 3 * q) - 6 * pow(a, 5) * c};
}

// Shape over q in [0, 1), without its constant.
static inline Slope reference_shape(FloKernel kernel, double q) {
  switch (kernel) {
  case FLO_KERNEL_WENDLAND_C2:
    return (Slope){pow(1 - q, 4) * (1 + 4 * q), 4 * pow(1 - q, 4) - 4 * pow(1 - q, 3) * (1 + 4 * q)};
  case FLO_KERNEL_WENDLAND_C4:
    return reference_wendland_c4(q);
  case FLO_KERNEL_QUINTIC:
    return reference_quintic(q);
  case FLO_KERNEL_POLY6:
    return (Slope){pow(1 - q * q, 3), -6 * q * pow(1 - q * q, 2)};
  case FLO_KERNEL_SPIKY:
    return (Slope){pow(1 - q, 3), -3 * pow(1 - q, 2)};
  case FLO_KERNEL_VISCOSITY:
    return (Slope){-q * q * q / 2 + q * q + 0.5 / q - 1, -1.5 * q * q + 2 * q - 0.5 / (q * q)};
  default:
    return reference_cubic_spline(q);
  }
}

// Constants as printed, times H^dim. The quintic's are 7/(478 pi h^2) and 1/(120 pi h^3) with h = H/3.
static inline double reference_constant(FloKernel kernel, int dim) {
  static const double constants[FLO_KERNEL_COUNT][2] = {
      [FLO_KERNEL_CUBIC_SPLINE] = {40.0 / 7, 8},     [FLO_KERNEL_WENDLAND_C2] = {7, 21.0 / 2},
      [FLO_KERNEL_WENDLAND_C4] = {9, 495.0 / 32},    [FLO_KERNEL_QUINTIC] = {7.0 / 478 * 9, 27.0 / 120},
      [FLO_KERNEL_POLY6] = {4, 315.0 / 64},          [FLO_KERNEL_SPIKY] = {10, 15},
      [FLO_KERNEL_VISCOSITY] = {10.0 / 3, 15.0 / 2},
  };
  return constants[kernel][dim - 2] / FLO_PI;
}

// W(r) and W'(r).
static inline Slope reference_w(const ReferenceKernel *k, double r) {
  if (r >= k->support) return (Slope){0, 0};
  double sigma = reference_constant(k->kernel, k->dim) / pow(k->support, k->dim);
  Slope shape = reference_shape(k->kernel, r / k->support);
  return (Slope){sigma * shape.value, sigma / k->support * shape.slope};
}

// The largest |W'| beyond a tenth of the support: the yardstick for errors of gradients.
static inline double reference_steepest(const ReferenceKernel *k) {
  double steepest = 0;
  for (int i = 10; i < 100; ++i) steepest = fmax(steepest, -reference_w(k, k->support * i / 100).slope);
  return steepest;
}

// The length l of pair.h, from the condition that the integral of -W' r^3 / (dim l^2) over space is 1.
static inline double reference_viscous_length(const ReferenceKernel *k) {
  enum { N = 2000 };
  double width = k->support / N, sum = 0, pi = 3.14159265358979323846;
  for (int i = 0; i < N; ++i) {
    double r = (i + 0.5) * width;
    sum -= reference_w(k, r).slope * pow(r, 3) * (k->dim == 3 ? 4 * pi * r * r : 2 * pi * r);
  }
  return sqrt(sum * width / k->dim);
}

// x_i - x_j by the shortest way around a period; 0: not periodic.
static inline void reference_difference(const double a[3], const double b[3], const double period[3],
                                        double out[3]) {
  for (int axis = 0; axis < 3; ++axis) {
    double d = a[axis] - b[axis];
    out[axis] = period[axis] > 0 ? d - period[axis] * round(d / period[axis]) : d;
  }
}

#endif
