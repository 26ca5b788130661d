// What weakly compressible methods share: Tait's equation of state (Monaghan 1994; Becker & Teschner 2007,
// eq. 7), the speed of sound in it, and pressures of samples next to fluid.
//
//   p = max(B ((r/r0)^gamma - 1) + damping s c drho/dt, 0),  r = rho/(rho0 packing),  B = rho0 c^2 / gamma
//
// The damping term is a bulk viscosity. It takes energy from sound waves, which are an effect of weak
// compressibility, and none from flow without compression. drho/dt is the difference to the last step, so it
// costs nothing.
//
// Negative pressures are set to zero: they would tear a free surface into threads (tensile instability).
//
// Fluid keeps its volume. Two things would take a part of it, which shows in a deep tank as a level that is
// too low. First, its weight compresses the fluid. So pressure begins at a density ratio r0 that is lower
// than one by the mean compression of the fluid, p/(rho0 c^2). Second, the kernel sum of settled fluid is
// lower than that of the lattice on which it starts (flo_kernel_settled_sum). So `packing` goes from the
// latter, one, to the former. Both follow slowly, in the time of a fall through the fluid, so that no sound
// is made. Without gravity nothing settles, and both stay at one.
//
// With several fluids a method chooses between two rules. By default each fluid has its own stiffness, and
// sound has the same speed in all of them. Or all fluids share the stiffness of one density, `reference`.
// Then a pressure compresses all of them by the same share, and sound is faster in the lighter ones, by the
// root of the density ratio.
//
// The mean compression follows in two stages. With one stage a sound wave would be answered a quarter of its
// period late, and would grow.
#ifndef FLO_COUPLING_FORCES_WEAKLY_COMPRESSIBLE_H
#define FLO_COUPLING_FORCES_WEAKLY_COMPRESSIBLE_H

#include "coupling/forces/forces.h"

// The state of a weakly compressible fluid.
typedef struct FloCompressible {
  double expected_speed; // the highest speed to expect [m/s]; saved
  double packing;        // kernel sum of fluid at its rest density; saved
  double measured;       // mean of p/(rho0 c^2), which follows the fluid; saved
  double compression;    // the same that the fluid is given room for, which follows `measured`; saved
  // Solids count for at most this share of a particle's density ratio; 0: no limit. It is for methods that
  // keep particles out of solids otherwise: one that is squeezed into a gap too narrow for it is not shot
  // out.
  double most_covered;
  double reference;   // all fluids have the stiffness of this density [kg/m^3]; 0: each has its own
  const float *bulks; // per fluid particle: a factor of its bulk viscosity; NULL: 1
  FloBuffer wall_pressure, body_pressure; // per sample: p V0^2/r^2 for a fluid of density 1
} FloCompressible;

// The entries of a method's table of saved values.
#define FLO_COMPRESSIBLE_FIELDS(type, member)                                                                \
  FLO_STATE_FIELD(type, member.expected_speed), FLO_STATE_FIELD(type, member.packing),                       \
      FLO_STATE_FIELD(type, member.measured), FLO_STATE_FIELD(type, member.compression)

typedef struct FloTait {
  float c, gamma;
  float reference; // of the stiffness of all fluids [kg/m^3]; 0: each has its own
  float damping;   // [m^2/s]
  float per_dt;    // one over the time since the last density [1/s]
  float packing;
  float ratio; // r0
  float start; // density over rest density at which pressure begins: packing r0
} FloTait;

// The speed of sound of the scene, or ten times the highest speed expected so far. Without gravity and motion
// any speed is valid; one metre per second gives a reasonable time step.
double flo_sound_speed(const FloWorld *world, const FloCompressible *fluid);
// The longest step. Sound, with speed c, limits it only where there may be fluid. Without fluid the contacts
// of bodies limit it.
double flo_compressible_max_dt(const FloWorld *world, double c, int first_force_param,
                               const char **limited_by);
// alpha h c of Monaghan's viscosity [m^2/s].
double flo_tait_viscosity(const FloWorld *world, double c);
FloTait flo_tait(const FloWorld *world, const FloCompressible *fluid);
// `change` is the change of density since the last step.
float flo_tait_pressure(const FloTait *tait, float rest, float density, float change);

// Before the first step, and after something was added: `expected` is the highest speed to expect.
void flo_compressible_init(FloCompressible *fluid, double expected);
// Lets packing and compression follow for a step of dt, for the next step. Pressures must be known.
void flo_compressible_follow(FloCompressible *fluid, const FloWorld *world, double dt);
void flo_compressible_free(FloCompressible *fluid, FloMemory *memory);

// The smallest share of the kernel that solids leave free where a particle has room; see `most_covered`. A
// narrower gap holds no whole particle. A particle squeezed into it would get a density without limit and be
// shot out.
double flo_least_uncovered(const FloWorld *world);
// Finds densities and pressures of fluid, and pressures of samples next to it. `state` gets quadruples per
// fluid particle: velocity and p V^2. Needs the operators of walls and fluid, and of bodies and fluid.
FloStatus flo_compressible_find_pressures(FloCompressible *fluid, FloWorld *world, float *state,
                                          FloError *error);
// At the end of a step: fluid reports the mean normal stress of the pair forces (see felt_pressure.h), from
// their virials in the fourth numbers of `force`. A part of a thousandth of the density makes as much of the
// equation of state's pressure as a layer of water. So that one scatters with the places of particles; the
// stress is the weight of the water above.
void flo_compressible_report(FloWorld *world, const float *force);

#endif
