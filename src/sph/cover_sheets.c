// Half spaces filled with sheets of particles, and the kernel whose integral over a half space they are.
#include "sph/cover.h"

#include "base/vecmath.h"

// ---- Planes ----

// Over a plane at distance z from the centre of a kernel: the slope of the integral of W as z grows, and the
// integral of r W', which is -dim over all of space.
typedef struct PlaneIntegrals {
  double slope, stress;
} PlaneIntegrals;

static PlaneIntegrals integrate(const FloKernelForm *kernel, double z) {
  enum { N = 256 };
  const double far = sqrt(fmax(kernel->support * kernel->support - z * z, 0)), step = far / N;
  PlaneIntegrals sum = {0};
  for (int k = 0; k < N; ++k) {
    const double u = (k + 0.5) * step, r = hypot(z, u), area = (kernel->dim == 3 ? 2 * FLO_PI * u : 2) * step,
                 gradient = flo_kernel_gradient(kernel, r) * area;
    sum.slope += gradient * z, sum.stress -= gradient * r * r / kernel->dim;
  }
  return sum;
}

// ---- Tables ----

static PlaneIntegrals sum_sheets(const FloKernelForm *kernel, double spacing, double depth) {
  PlaneIntegrals sum = {0};
  for (double z = depth + spacing / 2; z < kernel->support; z += spacing) {
    const PlaneIntegrals at = integrate(kernel, z);
    sum.slope += spacing * at.slope, sum.stress += spacing * at.stress;
  }
  return sum;
}

// Integrates from the reach to the surface by the trapezium rule. There the share becomes a half: particles
// fill all of space once.
static void accumulate(FloCoverSheets *sheets, double step) {
  double sum[FLO_COVER_TABLE + 1] = {0};
  for (int k = FLO_COVER_TABLE - 1; k >= 0; --k)
    sum[k] = sum[k + 1] + step * ((double)sheets->steepness[k] + (double)sheets->steepness[k + 1]) / 2;
  for (int k = 0; k <= FLO_COVER_TABLE; ++k) {
    sheets->share[k] = (float)(0.5 * sum[k] / sum[0]);
    sheets->steepness[k] *= (float)(0.5 / sum[0]);
  }
}

FloCoverSheets flo_cover_sheets(const FloKernelForm *kernel, double spacing) {
  FloCoverSheets sheets = {.kernel = *kernel, .spacing = spacing, .reach = kernel->support - spacing / 2};
  const double step = sheets.reach / FLO_COVER_TABLE;
  for (int k = 0; k <= FLO_COVER_TABLE; ++k) {
    const PlaneIntegrals at = sum_sheets(kernel, spacing, k * step);
    sheets.steepness[k] = (float)-at.slope, sheets.stress[k] = (float)at.stress;
  }
  for (int k = FLO_COVER_TABLE; k >= 0; --k) sheets.stress[k] *= 0.5F / sheets.stress[0];
  accumulate(&sheets, step);
  return sheets;
}

static double look_up(const FloCoverSheets *sheets, const float *table, double distance) {
  const double at = distance / sheets->reach * FLO_COVER_TABLE;
  if (at >= FLO_COVER_TABLE) return 0;
  const int k = (int)at;
  return (double)table[k] + (at - k) * (double)(table[k + 1] - table[k]);
}

// Below the surface lies what is missing above the opposite one.
static double look_up_share(const FloCoverSheets *sheets, const float *table, double depth) {
  const double share = look_up(sheets, table, fabs(depth));
  return depth < 0 ? 1 - share : share;
}

double flo_cover_share(const FloCoverSheets *sheets, double depth) {
  return look_up_share(sheets, sheets->share, depth);
}

double flo_cover_stress(const FloCoverSheets *sheets, double depth) {
  return look_up_share(sheets, sheets->stress, depth);
}

double flo_cover_steepness(const FloCoverSheets *sheets, double depth) {
  return look_up(sheets, sheets->steepness, fabs(depth));
}

double flo_cover_depth_of(const FloCoverSheets *sheets, double share) {
  double low = -sheets->reach, high = sheets->reach;
  for (int k = 0; k < 40; ++k) {
    const double middle = (low + high) / 2;
    *(flo_cover_share(sheets, middle) > share ? &low : &high) = middle;
  }
  return low;
}

// ---- The kernel K ----

// F''.
static double curvature(const FloCoverSheets *sheets, double depth) {
  const double step = sheets->reach / FLO_COVER_TABLE;
  const int k = (int)(depth / step);
  return k < FLO_COVER_TABLE ? (double)(sheets->steepness[k] - sheets->steepness[k + 1]) / step : 0;
}

// -F' at d is the integral of K over the plane at distance d. This is the inverse: in 3D
// K(r) = F''(r)/(2 pi r); in 2D it is Abel's integral of F''(y)/sqrt(y^2 - r^2), with y^2 = r^2 + t^2.
double flo_cover_kernel(const FloCoverSheets *sheets, double r) {
  enum { N = 128 };
  if (r >= sheets->reach) return 0;
  if (sheets->kernel.dim == 3) return curvature(sheets, r) / (2 * FLO_PI * r);
  const double step = sqrt(sheets->reach * sheets->reach - r * r) / N;
  double sum = 0;
  for (int k = 0; k < N; ++k) {
    const double y = hypot(r, (k + 0.5) * step);
    sum += curvature(sheets, y) / y;
  }
  return sum * step / FLO_PI;
}
