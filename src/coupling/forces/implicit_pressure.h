// What methods with implicit pressure share: entries of their tables, what they expect of the fluid, and how
// their steps begin and end.
#ifndef FLO_COUPLING_FORCES_IMPLICIT_PRESSURE_H
#define FLO_COUPLING_FORCES_IMPLICIT_PRESSURE_H

#include "coupling/forces/forces.h"

#define FLO_ALPHA_PARAM(value)                                                                               \
  FLO_NUMBER("alpha", value, 0, 10, "",                                                                      \
             "artificial viscosity (Monaghan) between particles that approach each other, in units of the "  \
             "speed of free fall or of capillary waves; larger values calm the fluid and damp its waves")

#define FLO_CORRECTION_TIME_PARAM(value)                                                                     \
  FLO_NUMBER("correction_time", value, 0, 1e3, "",                                                           \
             "time in which fluid takes back a compression, in units of sqrt(spacing/gravity); shorter "     \
             "times keep the volume better and stir still water; 0, and with surface tension: at once")

// Contacts between bodies, and wet samples beside other solids, need these.
#define FLO_IMPLICIT_OPERATORS                                                                               \
  FLO_BODY_OPERATORS, {.rows = FLO_SET_BOUNDARY, .columns = FLO_SET_RIGID, .is_on_demand = true}, {          \
    .rows = FLO_SET_BOUNDARY, .columns = FLO_SET_BOUNDARY, .between_bodies = true, .is_on_demand = true      \
  }

// Fields that the next step starts from.
#define FLO_WARM_FIELD                                                                                       \
  { "warm", FLO_TYPE_F32, 1u << FLO_SET_FLUID, true, "Pa", "multiplier that the last step found", false }
#define FLO_WET_FIELD                                                                                        \
  {                                                                                                          \
    "wet_pressure", FLO_TYPE_F32, (1u << FLO_SET_RIGID) | (1u << FLO_SET_BOUNDARY), true, "Pa",              \
        "pressure of the fluid next to the sample", true                                                     \
  }

// What a method expects of the fluid. It is saved, since it depends on all steps before.
typedef struct FloExpectations {
  double speed; // the highest one [m/s]
  double peak;  // highest pressure over density, smoothed over time [m^2/s^2]; see step_limit.h
} FloExpectations;

#define FLO_SAVED_EXPECTATIONS(type, member)                                                                 \
  FLO_STATE_FIELD(type, member.speed), FLO_STATE_FIELD(type, member.peak)

// Before the first step, and after something was added.
void flo_expect_fluid(const FloWorld *world, FloExpectations *expected);
// The longest step that pressure and the forces of FLO_FORCE_PARAMS allow, and what limits it.
double flo_implicit_max_dt(const FloWorld *world, const FloExpectations *expected, int first_force_param,
                           const char **limited_by);
// Monaghan's alpha h c; c is the expected speed.
double flo_implicit_artificial_viscosity(const FloWorld *world, const FloExpectations *expected,
                                         double alpha);
// The share of a compression that a step corrects, by the parameter correction_time. To correct it at once
// needs pressures far from those that carry the weight: with a step of 2 ms and a spacing of 2 cm, an error
// of a ten-thousandth needs as much as a twentieth of a layer's weight. Then still water keeps simmering and
// needs nearly twice as many iterations. The divergence of velocities is still held at zero. The share
// depends on the step like a rate, so that shorter steps do not push harder. With surface tension it must be
// 1: drops would stay angular if the corners that surface tension pulls on could be compressed for a while.
double flo_implicit_correction(const FloWorld *world, double correction_time, double dt);
// Distance that fluid under pressure moves in a step relative to its mean velocity, in spacings. Weighted by
// the squares of the pressures: fluid in free flight, which has nearly none, has no influence on how exactly
// still water is solved. `velocity`: quadruples.
double flo_implicit_motion(const FloWorld *world, const float *pressure, const float *velocity, double dt);
// The mean volume error `common` of fluid, with its sign, weighted by pressure, as a share of what may remain
// when the iterations of a step stop. An error that all rows have in common adds up over the depth.
// `motion`: as above.
double flo_implicit_common_share(const FloWorld *world, const FloExpectations *expected, double common,
                                 double motion, double dt);
// Fails if fluid fills a domain that repeats along all axes. Such fluid has no room to expand, so its
// compression remains at any pressure. Pressures are then known only up to a constant and grow without limit.
// Every step checks this when densities are known, since emitters may fill a domain later.
FloStatus flo_implicit_check_room(const FloWorld *world, FloError *error);
// Velocities of fluid as quadruples; the fourth number is 0.
void flo_implicit_read_velocities(const FloWorld *world, float *quads);
// Pushes bodies for a time dt by what pressures, contacts and joints did to them in the last step, at most as
// hard as their weight; see flo_forces_make_viscous. A negative dt takes it back.
void flo_implicit_guess_bodies(FloWorld *world, double dt);
// After viscosity: from here to the end of flo_implicit_move, everything that changes bodies is their
// reaction.
void flo_implicit_begin_reactions(FloWorld *world);
// The motion at the end of a step: fluid by `force`, then bodies. `velocity`: quadruples that the solution
// found, by which the speed of approach is measured.
FloStatus flo_implicit_move(FloWorld *world, const float *force, const float *velocity, const float *walls,
                            double dt, FloError *error);

#endif
