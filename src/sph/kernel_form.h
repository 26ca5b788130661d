// A kernel with its constants: its kind, the number of dimensions, and its width.
#ifndef FLO_SPH_KERNEL_FORM_H
#define FLO_SPH_KERNEL_FORM_H

#include "base/core.h"

typedef struct FloKernelForm {
  FloKernel kernel;
  int dim;
  double support;        // H [m]
  double sigma;          // W(r) = sigma w(r/H) [1/m^dim]
  double viscous_length; // l of pair.h [m]
} FloKernelForm;

FloKernelForm flo_kernel_form(FloKernel kernel, int dim, double support);
double flo_kernel_default_support(FloKernel kernel); // in spacings

double flo_kernel_w(const FloKernelForm *form, double r);        // W(r)
double flo_kernel_gradient(const FloKernelForm *form, double r); // F(r) = W'(r)/r, so that grad W = F x

// Sum of W over a flat sheet of lattice points of the given spacing, as seen from a lattice point k spacings
// above it.
double flo_kernel_sheet_sum(const FloKernelForm *form, double spacing, int k);
// Kernel sum of a sample in layer l of a plane wall over all samples of its wall.
double flo_kernel_layer_sum(const FloKernelForm *form, double spacing, int layers, int l);
// Boundary volumes are gamma / (sum of W over the own body); see kernel_form.c.
double flo_kernel_boundary_gamma(const FloKernelForm *form, double spacing, int layers);
// The same for samples whose spacing is not that of fluid.
double flo_kernel_sampled_gamma(const FloKernelForm *form, double fluid_spacing, double spacing, int layers);

// The factor by which samples must drag fluid so that a plane wall exerts mu du/dn; see kernel_form.c.
double flo_kernel_wall_drag(const FloKernelForm *form, double spacing, int layers);

// Sum of the slopes of W towards a plane lattice of points one spacing away.
double flo_kernel_sheet_slope(const FloKernelForm *form, double spacing);
// Kernel sum of fluid that has settled, times its rest volume.
double flo_kernel_settled_sum(const FloKernelForm *form, double spacing);

// How much of a lattice point near a curved surface fluid fills; see flo_kernel_curving.
typedef struct FloCurving {
  double slope, power;
} FloCurving;
FloCurving flo_kernel_curving(const FloKernelForm *form, double spacing);
// The share, for a point that is so much farther out of the solid than the sample, in spacings.
double flo_curving_share(const FloCurving *curving, double height);

#endif
