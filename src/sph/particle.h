// Formulas of a single particle: values in, values out. Written over the type Real; see kernel.h. Without C
// headers, so that a device compiler can read them too; what it lacks (real_power) is defined with Real.
#ifndef FLO_SPH_PARTICLE_H
#define FLO_SPH_PARTICLE_H

// r^gamma - 1 of Tait's equation of state. 7 is water, and costs four products.
REAL_INLINE Real particle_tait(Real ratio, float gamma) {
  Real cube = ratio * ratio * ratio;
  return gamma == 7 ? cube * cube * ratio - 1 : real_power(ratio, gamma) - 1;
}

// A velocity, and what its float cannot hold of it.
typedef struct ParticleVelocity {
  Real value, rest;
} ParticleVelocity;

// Adds a kick. A plain sum would lose small kicks of fast particles but not those of their slow neighbours,
// and so break the symmetry that conserves momentum.
REAL_INLINE ParticleVelocity particle_kick(ParticleVelocity v, Real kick) {
  Real wanted = kick + v.rest, sum = v.value + wanted;
  return (ParticleVelocity){sum, wanted - (sum - v.value)};
}

#endif
