// Coefficients of the explicit viscous forces that methods share; see pair_viscosity.
#ifndef FLO_COUPLING_FORCES_VISCOSITY_H
#define FLO_COUPLING_FORCES_VISCOSITY_H

#include "sph/passes.h"
#include "state/state.h"

typedef struct FloViscosity {
  // All fluids have the stiffness of this density, so sound is faster in lighter ones; 0: each has its own
  // stiffness [kg/m^3]. The method sets it.
  double reference;
  bool is_single; // one density and viscosity for all fluid, so those of neighbours need not be read
  FloFluidCoefficients all;
  FloBuffer each; // FloFluidCoefficients per fluid particle, if fluids differ
} FloViscosity;

// `artificial` acts while particles approach each other: alpha h c of Monaghan's viscosity [m^2/s]. Without
// `has_laminar` nothing else acts.
FloStatus flo_viscosity_prepare(FloViscosity *viscosity, FloWorld *world, double artificial, bool has_laminar,
                                FloError *error);
// The longest step for which explicit viscous forces are stable.
double flo_viscosity_max_dt(const FloWorld *world);

#endif
