// What weakly compressible methods share: Tait's equation of state (Monaghan 1994; Becker & Teschner 2007,
// eq. 7) and the speed of sound in it.
//
//   p = max(B (r^gamma - 1) + damping s c drho/dt, 0),  r = rho/rho0,  B = rho0 c^2 / gamma
//
// The damping term is a bulk viscosity. It takes energy from sound waves, which are an effect of weak
// compressibility, and none from flow without compression. drho/dt is the difference to the last step, so it
// costs nothing.
//
// Negative pressures are set to zero: they would tear a free surface into threads (tensile instability).
#ifndef FLO_COUPLING_FORCES_WEAKLY_COMPRESSIBLE_H
#define FLO_COUPLING_FORCES_WEAKLY_COMPRESSIBLE_H

#include "coupling/forces/forces.h"

// clang-format off
#include "sph/real_scalar.h" // first: it defines the type that the next one uses
#include "sph/particle.h"
// clang-format on

#include <math.h>

typedef struct FloTait {
  float c, gamma;
  float damping; // [m^2/s]
  float per_dt;  // one over the time since the last density [1/s]
} FloTait;

// The speed of sound of the scene, or ten times the highest speed expected so far. Without gravity and motion
// any speed is valid; one metre per second gives a reasonable time step.
static inline double flo_sound_speed(const FloWorld *world, double expected) {
  double asked = world->params[FLO_TAIT_SOUND_SPEED];
  if (asked > 0) return asked;
  return expected > 0 ? 10 * expected : 1;
}

// alpha h c of Monaghan's viscosity [m^2/s].
static inline double flo_tait_viscosity(const FloWorld *world, double c) {
  return world->params[FLO_TAIT_ALPHA] * world->kernel.support / 2 * c;
}

static inline FloTait flo_tait(const FloWorld *world, double c) {
  // If something was just added, the last density cannot be compared. After a very short step the difference
  // is mostly rounding, so it is divided by at least a tenth of the usual step.
  double shortest = 0.1 * world->def.cfl * world->def.spacing / c;
  return (FloTait){.c = (float)c,
                   .gamma = (float)world->params[FLO_TAIT_GAMMA],
                   .damping = (float)(world->params[FLO_TAIT_DAMPING] * c * world->def.spacing),
                   .per_dt = flo_world_was_changed(world) ? 0 : (float)(1 / fmax(world->dt, shortest))};
}

// `change` is the change of density since the last step.
static inline float flo_tait_pressure(const FloTait *tait, float rest, float density, float change) {
  float stiffness = rest * tait->c * tait->c / tait->gamma;
  float pressure = stiffness * particle_tait(density / rest, tait->gamma);
  return fmaxf(pressure + tait->damping * (tait->per_dt * change), 0);
}

#endif
