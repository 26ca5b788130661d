// Viscosity as an implicit step, for fluids so viscous that explicit forces would need tiny time steps. The
// equations and the solver stand in implicit_viscosity.c.
#ifndef FLO_COUPLING_FORCES_IMPLICIT_VISCOSITY_H
#define FLO_COUPLING_FORCES_IMPLICIT_VISCOSITY_H

#include "coupling/forces/body_rows.h"
#include "coupling/forces/viscosity.h"
#include "sph/arrays.h"

// Values of the parameter that a method offers.
enum { FLO_VISCOSITY_AUTOMATIC, FLO_VISCOSITY_EXPLICIT, FLO_VISCOSITY_IMPLICIT };
// change: of velocity; residue: of the momentum balance [N s]; way: search direction; image: the operator
// applied to `way`; still_walls: like `walls`, but at rest.
#define FLO_VISCOUS_ARRAYS(X)                                                                                \
  X(change, FLO_SET_FLUID, 4)                                                                                \
  X(residue, FLO_SET_FLUID, 4)                                                                               \
  X(way, FLO_SET_FLUID, 4)                                                                                   \
  X(image, FLO_SET_FLUID, 4)                                                                                 \
  X(still_walls, FLO_SET_BOUNDARY, 4)

typedef struct FloImplicitViscosity {
  FloViscosity coefficients; // laminar and wall
  FloBodyRows bodies;        // wrenches: mean force and torque on each node over the step
  double dt;
  double tolerance;
  int max_iterations;
  bool has_led_bodies; // fluid does not move bodies; they act like walls
  int iterations;      // of the last step
  double residual;     // after the last step, as a share of the first residual
  size_t n_unsolved;   // solutions that ended above the tolerance
  size_t n_fluid, n_nodes;
  FLO_ARRAYS(FLO_VISCOUS_ARRAYS);
  float *start;       // quadruples per fluid particle: velocity without, later with viscosity
  const float *walls; // quadruples: velocity and relative volume of wall samples
  const float *zeros; // pressures of samples that have no pressure
  // Six numbers per node; node_change and node_impulse are impulses, node_momentum is M times node_way, and
  // node_other are the impulses of others since the last solution.
  double *node_start, *node_change, *node_impulse, *node_residue, *node_way, *node_momentum, *node_image;
  double *node_other;
  FloBuffer nodes;
} FloImplicitViscosity;

// Whether a step of this length needs implicit viscosity.
bool flo_implicit_viscosity_is_needed(const FloWorld *world, double choice, double dt);
// The longest step that viscosity allows for this choice.
double flo_implicit_viscosity_max_dt(const FloWorld *world, double choice);

// On entry `velocity` (quadruples per fluid particle, the fourth number is 0) is the velocity without
// viscosity; on return it is that with viscosity. The force that makes the difference is added to `force`
// [N]. `walls` are quadruples of velocity and relative volume. `zeros` has as many numbers as the larger set
// has samples. Dynamic bodies are pushed. Needs the neighbours of the step; tolerance and max_iterations must
// be set. `other` are impulses that act at the same time (quadruples [N s], the fourth number is 0), or NULL;
// the velocity on return contains them, the force does not.
FloStatus flo_implicit_viscosity_step(FloImplicitViscosity *viscosity, FloWorld *world, double dt,
                                      const float *other, float *velocity, float *force, const float *walls,
                                      const float *zeros, FloError *error);
// The same again, after others gave impulses since the last solution: `other` to fluid, and those to nodes
// whose velocities are now `motions`. `start` becomes the velocity of fluid with viscosity, and `motions`
// those of nodes.
void flo_implicit_viscosity_again(FloImplicitViscosity *viscosity, FloWorld *world, const float *other,
                                  double *motions, float *force);
void flo_implicit_viscosity_free(FloImplicitViscosity *viscosity, FloMemory *memory);

// ---- Parts, for tests ----

// Everything except the solution: memory, coefficients, the neighbours of bodies.
FloStatus flo_implicit_viscosity_prepare(FloImplicitViscosity *viscosity, FloWorld *world, double dt,
                                         float *velocity, const float *walls, const float *zeros,
                                         FloError *error);
// image = (M + dt K) way, for fluid and bodies; node_momentum must be M times node_way.
void flo_implicit_viscosity_apply(FloImplicitViscosity *viscosity, FloWorld *world);

#endif
