// The longest step at which implicit pressure is stable. Pressures are implicit, but the kernel gradients
// along which they push are those of the start of the step. Their change under pressure acts like a spring
// that is integrated explicitly. So a step must be shorter than about 0.45 H/sqrt(p/rho0) for the highest
// pressure p, whatever the iterations; above that, still water boils for ever. The limit depends on the depth
// of the fluid, not on its speed.
//
// A peak is the highest pressure over rest density [m^2/s^2].
#ifndef FLO_COUPLING_FORCES_STEP_LIMIT_H
#define FLO_COUPLING_FORCES_STEP_LIMIT_H

#include "state/state.h"

// Before the first step: the weight of a column from the lowest to the highest fluid particle.
double flo_peak_expect(const FloWorld *world);
// The peak after a step of length dt that found these pressures of fluid [Pa]. Impacts are short and need no
// shorter steps, so the peak follows slowly.
double flo_peak_follow(const FloWorld *world, double peak, const float *pressure, double dt);
double flo_peak_stable_dt(const FloWorld *world, double peak);

#endif
