// Forces that methods share: viscosity, explicit and implicit, surface tension and adhesion. A method keeps
// one FloForces and calls it at four places of its step:
//
//   flo_forces_prepare        once, when neighbours are known
//   flo_forces_sweep          pressure and explicit viscosity, in one sweep over pairs
//   flo_forces_add_tension    surface tension and adhesion
//   flo_forces_make_viscous   implicit viscosity, after all other forces except implicit pressure
//
// and flo_forces_on_walls when the host asks for the forces on walls. The parameters of viscosity are the
// same for all methods: FLO_FORCE_PARAMS in the table of a method. The method gives the index of the first of
// them.
#ifndef FLO_COUPLING_FORCES_FORCES_H
#define FLO_COUPLING_FORCES_FORCES_H

#include "coupling/forces/implicit_viscosity.h"
#include "coupling/forces/surface_tension.h"

extern const char *const flo_viscosity_words[];

#define FLO_FORCE_PARAMS(tolerance)                                                                          \
  FLO_WORDS("viscosity", FLO_VISCOSITY_AUTOMATIC, flo_viscosity_words, 3,                                    \
            "how viscous forces are computed: explicit (needs short steps for thick fluids), implicit "      \
            "(any step), or automatic: implicit only in steps that are too long for explicit forces"),       \
      FLO_NUMBER(                                                                                            \
          "viscosity_tolerance", tolerance, 0, 1, "",                                                        \
          "implicit viscosity stops iterating when its residual is below this share of the first one; "      \
          "smaller values are more accurate and cost more iterations"),                                      \
      FLO_WHOLE(                                                                                             \
          "viscosity_iterations", 100, 1, 1e5,                                                               \
          "largest number of iterations of implicit viscosity in a step; raise it if thick fluids flow "     \
          "too fast")

enum { FLO_FORCE_VISCOSITY, FLO_FORCE_TOLERANCE, FLO_FORCE_ITERATIONS };

// The parameters of a weakly compressible fluid, the first of a method's table.
enum { FLO_TAIT_SOUND_SPEED, FLO_TAIT_ALPHA, FLO_TAIT_GAMMA, FLO_TAIT_DAMPING, FLO_N_TAIT_PARAMS };

#define FLO_TAIT_PARAMS(alpha)                                                                               \
  FLO_NUMBER("sound_speed", 0, 0, 1e5, "m/s",                                                                \
             "speed of sound; a higher one compresses the fluid less and needs shorter steps; 0: ten times " \
             "the highest speed to expect, so that density varies by about 1 %"),                            \
      FLO_NUMBER(                                                                                            \
          "alpha", alpha, 0, 10, "",                                                                         \
          "artificial viscosity (Monaghan) between particles that approach each other; larger values "       \
          "calm the fluid and damp its waves"),                                                              \
      FLO_NUMBER("gamma", 7, 1, 20, "", "exponent of Tait's equation of state; 7 is water"),                 \
      FLO_NUMBER("damping", 0.3, 0, 1, "",                                                                   \
                 "bulk viscosity in units of spacing times speed of sound; larger values quiet sound waves " \
                 "faster and do not slow the flow")

// The operators of a method that moves bodies and solves their contacts. Those over the rows of samples and
// the columns of fluid are made on demand.
#define FLO_BODY_OPERATORS                                                                                   \
  {.rows = FLO_SET_FLUID, .columns = FLO_SET_FLUID, .with_viscous = true},                                   \
      {.rows = FLO_SET_FLUID, .columns = FLO_SET_BOUNDARY, .with_viscous = true},                            \
      {.rows = FLO_SET_FLUID, .columns = FLO_SET_RIGID, .with_viscous = true},                               \
      {.rows = FLO_SET_RIGID, .columns = FLO_SET_BOUNDARY},                                                  \
      {.rows = FLO_SET_RIGID, .columns = FLO_SET_RIGID, .between_bodies = true},                             \
      {.rows = FLO_SET_BOUNDARY, .columns = FLO_SET_FLUID, .with_viscous = true, .is_on_demand = true}, {    \
    .rows = FLO_SET_RIGID, .columns = FLO_SET_FLUID, .with_viscous = true, .is_on_demand = true              \
  }

typedef struct FloForces {
  int first_param;        // of the method's FLO_FORCE_PARAMS
  FloViscosity viscosity; // explicit
  bool is_implicit;       // viscosity is implicit in this step
  bool has_pressures;     // the method has pressures of samples of its own
  bool has_led_bodies;    // forces do not move bodies
  FloImplicitViscosity implicit;
  FloSurfaceTension tension;
  const float *viscous_velocity; // quadruples: velocities of fluid that implicit viscosity found
  float *walls;      // quadruples per wall sample: velocity, and volume over the fluid's rest volume
  uint64_t walls_at; // epoch when `walls` were read
  float *zeros;      // pressures of samples that have no pressure
  FloBuffer buffers[3];
} FloForces;

// The longest step that these forces allow, and what limits it.
double flo_forces_max_dt(const FloWorld *world, int first_param, const char **limited_by);
// `artificial` viscosity acts while particles approach each other: alpha h c of Monaghan's viscosity [m^2/s].
FloStatus flo_forces_prepare(FloForces *forces, FloWorld *world, int first_param, double dt,
                             double artificial, FloError *error);
void flo_forces_free(FloForces *forces, FloMemory *memory);

// Input and output of a sweep over pairs.
typedef struct FloForceSweep {
  const float *fluid;         // quadruples: velocity and p V^2
  const float *at_solids;     // the same for pairs of fluid and solid; NULL: as `fluid`
  const float *wall_pressure; // per wall sample, see FloSolidForces; NULL: none
  const float *body_pressure; // per sample of the rigid set
  // Gets the forces on samples of the rigid set, which move with its `motion`; NULL: no such pairs.
  FloBodyRows *bodies;
  float *force; // quadruples: force on fluid
} FloForceSweep;

// Sets the forces of pressure and explicit viscosity on fluid, and on bodies that forces move.
void flo_forces_sweep(FloForces *forces, FloWorld *world, const FloForceSweep *sweep);
// Adds surface tension and adhesion to `force`. Their forces on bodies are in tension.bodies.
FloStatus flo_forces_add_tension(FloForces *forces, FloWorld *world, float *force, FloError *error);
// Applies implicit viscosity, if it is used, to the velocities that follow from all other forces (quadruples,
// in `predicted`). Adds its forces to `force` and pushes bodies. Its forces on bodies are in implicit.bodies.
//
// Pressures that are found after it need a `guess` of their forces on fluid (quadruples), or NULL. If
// viscosity acted on velocities that only gravity has changed, it would hold up fluid beside walls, as if
// fluid fell past them. Then honey at rest would turn over for ever and weigh too little on its floor. So the
// guess acts first and is taken back afterwards. At rest viscosity then has nothing to do. The caller does
// the same for bodies.
FloStatus flo_forces_make_viscous(FloForces *forces, FloWorld *world, double dt, const float *guess,
                                  float *predicted, float *force, FloError *error);
// The same for a method that solves viscosity and pressures in turn: `other` are the impulses of a guess, and
// `velocity` must last until the step has ended; see flo_implicit_viscosity_step.
FloStatus flo_forces_solve_viscous(FloForces *forces, FloWorld *world, double dt, const float *other,
                                   float *velocity, float *force, FloError *error);
// What implicit viscosity did to each sample of the bodies that forces move, into implicit.bodies.force.
// Bodies must still be where they were.
void flo_forces_find_drag(FloForces *forces, FloWorld *world);
// Velocities after dt of a force and gravity, as quadruples.
void flo_forces_predict(FloWorld *world, const float *force, double dt, float *predicted);
// Adds the forces of the last step's fluid on walls to `force`, quadruples per wall sample. Needs the
// operator of walls and fluid.
void flo_forces_on_walls(FloForces *forces, FloWorld *world, const FloForceSweep *sweep, float *force);
// Adds forces on samples, quadruples, to the fields of their set.
void flo_samples_add_forces(FloParticles *samples, const float *force);
void flo_samples_clear_forces(FloParticles *samples);

#endif
