// clang-format off
#include "sph/real_scalar.h" // before kernel.h, which uses its type
#include "sph/kernel.h"
// clang-format on
#include "sph/kernel_form.h"

#include <stdlib.h>
#include <string.h>

// Name, default support in spacings, and sigma * H^dim in 2D and 3D.
static const struct {
  const char *name;
  double support, sigma_2d, sigma_3d;
} kernels[FLO_KERNEL_COUNT] = {
    [FLO_KERNEL_CUBIC_SPLINE] = {"cubic-spline", 2, 40 / (7 * FLO_PI), 8 / FLO_PI},
    [FLO_KERNEL_WENDLAND_C2] = {"wendland-c2", 3, 7 / FLO_PI, 21 / (2 * FLO_PI)},
    [FLO_KERNEL_WENDLAND_C4] = {"wendland-c4", 3.5, 9 / FLO_PI, 495 / (32 * FLO_PI)},
    [FLO_KERNEL_QUINTIC] = {"quintic", 3, 63 / (478 * FLO_PI), 27 / (120 * FLO_PI)},
    [FLO_KERNEL_POLY6] = {"poly6", 2, 4 / FLO_PI, 315 / (64 * FLO_PI)},
    [FLO_KERNEL_SPIKY] = {"spiky", 2, 10 / FLO_PI, 15 / FLO_PI},
    [FLO_KERNEL_VISCOSITY] = {"viscosity", 2, 10 / (3 * FLO_PI), 15 / (2 * FLO_PI)},
};

const char *flo_kernel_name(FloKernel kernel) {
  return (unsigned)kernel < FLO_KERNEL_COUNT ? kernels[kernel].name : NULL;
}

bool flo_kernel_from_name(const char *name, FloKernel *kernel) {
  for (int k = 0; name && kernel && k < FLO_KERNEL_COUNT; ++k)
    if (!strcmp(name, kernels[k].name)) return *kernel = (FloKernel)k, true;
  return false;
}

double flo_kernel_default_support(FloKernel kernel) { return kernels[kernel].support; }

// The mean of r^2 over the kernel [m^2].
static double mean_square(const FloKernelForm *form) {
  enum { N_SHELLS = 1024 };
  double width = form->support / N_SHELLS, sum = 0;
  for (int k = 0; k < N_SHELLS; ++k) {
    double r = (k + 0.5) * width;
    sum += flo_kernel_w(form, r) * r * r * (form->dim == 3 ? 4 * FLO_PI * r * r : 2 * FLO_PI * r);
  }
  return sum * width;
}

FloKernelForm flo_kernel_form(FloKernel kernel, int dim, double support) {
  double sigma = dim == 2 ? kernels[kernel].sigma_2d : kernels[kernel].sigma_3d;
  FloKernelForm form = {kernel, dim, support, sigma / pow(support, dim), 0};
  form.viscous_length = sqrt((dim + 2.0) / dim * mean_square(&form));
  return form;
}

double flo_kernel_w(const FloKernelForm *form, double r) {
  if (r >= form->support) return 0;
  return form->sigma * (double)kernel_shape(form->kernel, (float)(r / form->support)).w;
}

double flo_kernel_gradient(const FloKernelForm *form, double r) {
  if (r >= form->support) return 0;
  return form->sigma / (form->support * form->support) *
         (double)kernel_shape(form->kernel, (float)(r / form->support)).f;
}

double flo_kernel_sheet_sum(const FloKernelForm *form, double spacing, int k) {
  int reach = (int)ceil(form->support / spacing), reach_y = form->dim == 3 ? reach : 0;
  double sum = 0;
  for (int y = -reach_y; y <= reach_y; ++y)
    for (int x = -reach; x <= reach; ++x) sum += flo_kernel_w(form, spacing * sqrt(x * x + y * y + k * k));
  return sum;
}

double flo_kernel_sheet_slope(const FloKernelForm *form, double spacing) {
  int reach = (int)ceil(form->support / spacing), reach_y = form->dim == 3 ? reach : 0;
  double sum = 0;
  for (int y = -reach_y; y <= reach_y; ++y)
    for (int x = -reach; x <= reach; ++x)
      sum -= flo_kernel_gradient(form, spacing * sqrt(x * x + y * y + 1)) * spacing;
  return sum;
}

double flo_kernel_layer_sum(const FloKernelForm *form, double spacing, int layers, int l) {
  double sum = 0;
  for (int m = 0; m < layers; ++m) sum += flo_kernel_sheet_sum(form, spacing, abs(l - m));
  return sum;
}

// Kernel sum of a half-space of lattice points, as seen from a lattice point one spacing above it.
static double half_space_sum(const FloKernelForm *form, double spacing) {
  double sum = 0;
  for (int k = 1; k * spacing < form->support; ++k) sum += flo_kernel_sheet_sum(form, spacing, k);
  return sum;
}

// A wall of L layers replaces a half-space of lattice layers. Let S_k be the sheet sum k spacings away. A
// sample of layer l has own_l = sum over the layers m of S_|l-m| and gets the volume gamma / own_l. The first
// fluid layer then gets the sum over l of gamma S_(l+1) / own_l from the wall. It should get the sum over all
// k >= 1 of S_k s^dim. The gamma below gives exactly that, so fluid on a lattice has rest density next to the
// wall. For the cubic spline with H = 2 s and one layer it is S_0 s^dim = 0.70 in 3D.
double flo_kernel_boundary_gamma(const FloKernelForm *form, double spacing, int layers) {
  double seen = 0, wanted = half_space_sum(form, spacing);
  for (int l = 0; l < layers; ++l)
    seen += flo_kernel_sheet_sum(form, spacing, l + 1) / flo_kernel_layer_sum(form, spacing, layers, l);
  // A support below one spacing does not reach the wall; any volume is valid.
  return pow(spacing, form->dim) *
         (seen > 0 ? wanted / seen : flo_kernel_layer_sum(form, spacing, layers, 0));
}

// Integral of W over a plane at this height: the mean kernel sum of a sheet of samples with density one, over
// all positions above it.
static double plane_integral(const FloKernelForm *form, double height) {
  enum { N_RINGS = 256 };
  double width = form->support / N_RINGS, sum = 0;
  for (int k = 0; k < N_RINGS; ++k) {
    double r = (k + 0.5) * width;
    sum += flo_kernel_w(form, hypot(r, height)) * (form->dim == 3 ? 2 * FLO_PI * r : 2);
  }
  return sum * width;
}

// Fluid is at any position above such samples, not on their lattice. On average it must get the kernel sum of
// a lattice of fluid.
double flo_kernel_sampled_gamma(const FloKernelForm *form, double fluid_spacing, double spacing, int layers) {
  double s = fluid_spacing, volume = form->dim == 2 ? s * s : s * s * s, seen = 0;
  for (int l = 0; l < layers; ++l)
    seen += plane_integral(form, s + l * spacing) / flo_kernel_layer_sum(form, spacing, layers, l);
  return volume * half_space_sum(form, s) / seen * pow(spacing, form->dim - 1);
}

// The viscous drag of a sheet of samples with density one on a particle that passes it at this height: the
// integral over the sheet of -F x^2/l^2, where x is the distance along the motion.
static double plane_drag(const FloKernelForm *form, double height) {
  enum { N_RINGS = 256 };
  double width = form->support / N_RINGS, sum = 0;
  for (int k = 0; k < N_RINGS; ++k) {
    double r = (k + 0.5) * width, ring = form->dim == 3 ? FLO_PI * r : 2; // in 3D half of r^2 is x^2
    sum -= flo_kernel_gradient(form, hypot(r, height)) * r * r * ring;
  }
  return sum * width / pow(form->viscous_length, 2);
}

// A sum over samples finds about half of the friction. The reason is that samples stand half a spacing below
// the surface, and move as the surface does. If the solid were fluid, it would there move the other way than
// the fluid half a spacing above the surface. Fluid layers at (m + 1/2) s with velocities du/dn times their
// height should together get mu du/dn per area. So the factor is one over
//   2 (dim+2) s^3 sum over m, l of r_l (m + 1/2) plane_drag((m + l + 1) s),
// where r_l is the volume of samples of layer l over that of fluid. Positions along the wall are averaged, as
// fluid that moves along the wall does.
double flo_kernel_wall_drag(const FloKernelForm *form, double spacing, int layers) {
  double gamma = flo_kernel_boundary_gamma(form, spacing, layers), sum = 0;
  for (int l = 0; l < layers; ++l)
    for (int m = 0; (m + l + 1) * spacing < form->support; ++m)
      sum += (m + 0.5) * plane_drag(form, (m + l + 1) * spacing) /
             flo_kernel_layer_sum(form, spacing, layers, l);
  // A support below one spacing does not reach the wall; any factor is valid.
  return sum > 0 ? pow(spacing, form->dim - 3) / (2 * (form->dim + 2) * gamma * sum) : 1;
}

// Fluid next to a plane lies in layers half a spacing, one and a half, ... away from it. Next to a curved
// surface the layers bend with it: at a distance l along the surface they are shifted by an amount that grows
// with l^2. The kernel sum of a sample is found on a lattice that does not bend. There the shift e (in
// spacings) shows in another way: a point of the layer below a convex surface is e above its place in the
// solid, and a point of the first layer above a concave surface e below its place. So a point that is t
// spacings farther out than the sample counts with the share f(t), where f(0) = 0 and f(1) = 1, and the
// slopes of f at 0 and 1 make the sum right to first order in the curvature:
//   slope at 0: sum l^2 (-dW/dh at the layers) / sum l^2 W in the layer of the sample
//   slope at 1: the same / sum l^2 W in the first layer of fluid
typedef struct BentSums {
  double bent, own, first;
} BentSums;

static void add_bent(const FloKernelForm *form, double spacing, double l2, BentSums *sums) {
  for (int k = 1; k * spacing < form->support; ++k)
    sums->bent -= l2 * flo_kernel_gradient(form, spacing * sqrt(l2 + k * k)) * k * spacing * spacing;
  sums->own += l2 * flo_kernel_w(form, spacing * sqrt(l2));
  sums->first += l2 * flo_kernel_w(form, spacing * sqrt(l2 + 1));
}

FloCurving flo_kernel_curving(const FloKernelForm *form, double spacing) {
  int reach = (int)ceil(form->support / spacing), reach_2 = form->dim == 3 ? reach : 0;
  BentSums sums = {0};
  for (int j = -reach_2; j <= reach_2; ++j)
    for (int i = -reach; i <= reach; ++i) add_bent(form, spacing, i * i + j * j, &sums);
  if (!(sums.first > 0 && sums.own > sums.bent)) return (FloCurving){.slope = 1, .power = 1};
  double low = sums.bent / sums.own, high = sums.bent / sums.first;
  return (FloCurving){.slope = low, .power = fmax((high - low) / (1 - low), 1)};
}

double flo_curving_share(const FloCurving *curving, double height) {
  double t = fmin(fmax(height, 0), 1);
  return curving->slope * t + (1 - curving->slope) * pow(t, curving->power);
}

// It is lower than the sum of the lattice on which fluid starts, since particles without an order keep more
// even distances. If the lattice's sum were the measure of rest, fluid would lose as much of its volume in
// its first second. Measured in still water, 8 to 64 particles deep, for the default kernel; with a larger
// support the difference is smaller.
double flo_kernel_settled_sum(const FloKernelForm *form, double spacing) {
  bool is_default = form->kernel == FLO_KERNEL_CUBIC_SPLINE && form->support < 2.2 * spacing;
  if (!is_default) return 1;
  return form->dim == 2 ? 0.9976 : 0.996;
}
