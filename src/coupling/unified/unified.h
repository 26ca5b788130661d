// Parts of the `unified` method; see unified.c for what it solves.
#ifndef FLO_COUPLING_UNIFIED_UNIFIED_H
#define FLO_COUPLING_UNIFIED_UNIFIED_H

#include "coupling/forces/body_solve.h"
#include "coupling/forces/weakly_compressible.h"
#include "sph/arrays.h"

// state: velocity and p V^2; predicted: velocity without, later with implicit viscosity; lightness: one over
// the rest density; yielding: sum of |grad W|^2 over the neighbours' densities; bulk: factor of bulk
// viscosity; is_near: 1 if a sample is near; near_wall, near_body: forces on samples by collisions.c;
// is_meeting: 1 if another fluid is near.
#define FLO_UNIFIED_ARRAYS(X)                                                                                \
  X(state, FLO_SET_FLUID, 4)                                                                                 \
  X(force, FLO_SET_FLUID, 4)                                                                                 \
  X(predicted, FLO_SET_FLUID, 4)                                                                             \
  X(lightness, FLO_SET_FLUID, 1)                                                                             \
  X(yielding, FLO_SET_FLUID, 1)                                                                              \
  X(bulk, FLO_SET_FLUID, 1)                                                                                  \
  X(is_near, FLO_SET_FLUID, 1)                                                                               \
  X(near_wall, FLO_SET_BOUNDARY, 4)                                                                          \
  X(near_body, FLO_SET_RIGID, 4)                                                                             \
  X(is_meeting, FLO_SET_FLUID, 1)                                                                            \
  X(wall_force, FLO_SET_BOUNDARY, 4)

// Densities of the fluids of a world.
typedef struct FloPhases {
  size_t heaviest, lightest; // materials
  double most, least;        // their densities [kg/m^3]; 0: there is no fluid
  size_t n;                  // materials of fluid
} FloPhases;

typedef struct FloUnified {
  FloCompressible fluid; // a part of it is saved
  FloForces forces;
  FloBodyRows bodies;    // forces on bodies that forces move
  FloBodySolve contacts; // between bodies
  FloPhases phases;
  FLO_ARRAYS(FLO_UNIFIED_ARRAYS);
  double *impulses; // of contacts, six numbers for each node
  FloBuffer node_buffer;
  double *tensions; // per pair of materials: surface tension [N/m]
  FloBuffer tension_buffer;
} FloUnified;

enum {
  FLO_UNIFIED_COLLISIONS = FLO_N_TAIT_PARAMS,
  FLO_UNIFIED_REPULSION,
  FLO_UNIFIED_TOLERANCE,
  FLO_UNIFIED_ITERATIONS,
  FLO_UNIFIED_FIRST_FORCE_PARAM,
};

// ---- Phases (phases.c) ----

FloPhases flo_unified_phases(const FloWorld *world);
// The highest speed that pressures must withstand: of fluid, of bodies, and of sound in a fluid that bears
// the heaviest body [m/s].
double flo_unified_expected_speed(const FloWorld *world, double density);
// Sound in the lightest fluid, in which it is fastest [m/s].
double flo_unified_top_sound(const FloWorld *world, const FloUnified *unified);
// Refuses fluids so different that steps would be shorter than the shortest one allowed.
FloStatus flo_unified_check_ratio(const FloWorld *world, const FloUnified *unified, FloError *error);
// Finds the factors of bulk viscosity, if fluids differ.
void flo_unified_find_bulks(FloWorld *world, FloUnified *unified);
// What a user should know about the densities of the scene. False: nothing.
bool flo_unified_advise(const FloWorld *world, char *text, size_t size);

// ---- Where two fluids meet (interfaces.c, tension.c) ----

// Adds the forces between particles of different fluids that pressure and viscosity do not have, and finds
// which particles have such neighbours. Needs pressures.
void flo_unified_meet(FloWorld *world, FloUnified *unified);

// The highest surface tension between two fluids [N/m].
double flo_unified_most_tension(const FloWorld *world);
// The longest step in which surface tension between fluids is stable; INFINITY without any.
double flo_unified_capillary_dt(const FloWorld *world);
FloStatus flo_unified_prepare_tensions(FloWorld *world, FloUnified *unified, FloError *error);
// Adds the forces of surface tension between fluids, after flo_unified_meet.
FloStatus flo_unified_pull(FloWorld *world, FloUnified *unified, FloError *error);

// ---- Fluid that is too near to a sample (collisions.c) ----

// Before the two below: no sample feels any of them yet.
void flo_unified_clear_near(FloWorld *world, FloUnified *unified);
// Adds the impulses that keep fluid and samples apart to the forces on fluid, and pushes bodies by the
// opposite. Fluid and bodies must have felt all other forces of the step except contacts of bodies.
void flo_unified_collide(FloWorld *world, FloUnified *unified, double dt);
// Adds the boundary force to the forces on fluid, and pushes bodies by the opposite for dt.
void flo_unified_repel(FloWorld *world, FloUnified *unified, double dt);

#endif
