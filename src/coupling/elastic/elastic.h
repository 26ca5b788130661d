// Parts of the `elastic` method; see elastic.c for what it solves.
#ifndef FLO_COUPLING_ELASTIC_ELASTIC_H
#define FLO_COUPLING_ELASTIC_ELASTIC_H

#include "coupling/forces/body_solve.h"
#include "coupling/forces/film.h"
#include "coupling/forces/implicit_pressure.h"
#include "coupling/forces/soft_motion.h"
#include "coupling/forces/soft_yield.h"
#include "coupling/forces/wet_samples.h"
#include "sph/arrays.h"

// The unknowns stand in rows: a pressure for each fluid particle, then one for each wall sample, then one for
// each sample of a body that forces move. A row whose diagonal is zero has no unknown: a sample that no fluid
// wets, or fluid that an emitter guides.
//
// Per row: pressure: unknown; move: step that an iteration proposes; way: conjugate direction; error: free
// share of the kernel at the end of the step, negative if compressed; room: the same if nothing moved;
// source: room, corrected for the change of gradients in the step; bend: the change of the kernel sum with
// that; eased: the part of an error that soft bodies take by yielding; from_*: values where the last step of
// the iteration started. Per fluid particle: steep: sum of V_j grad W_ij over all neighbours; before, start,
// velocity: velocities before the step, without pressure, and with pressure. Per sample: near_*: V0 times the
// sum of grad W_bi over fluid; *_flow: volume times velocity; yields: see weigh.c. solid_rate is scratch.
#define FLO_ELASTIC_ARRAYS(X)                                                                                \
  X(pressure, FLO_NO_SET, 1)                                                                                 \
  X(move, FLO_NO_SET, 1)                                                                                     \
  X(way, FLO_NO_SET, 1)                                                                                      \
  X(error, FLO_NO_SET, 1)                                                                                    \
  X(source, FLO_NO_SET, 1)                                                                                   \
  X(diagonal, FLO_NO_SET, 1)                                                                                 \
  X(from_pressure, FLO_NO_SET, 1)                                                                            \
  X(from_error, FLO_NO_SET, 1)                                                                               \
  X(room, FLO_NO_SET, 1)                                                                                     \
  X(bend, FLO_NO_SET, 1)                                                                                     \
  X(eased, FLO_NO_SET, 1)                                                                                    \
  X(steep, FLO_SET_FLUID, 4)                                                                                 \
  X(before, FLO_SET_FLUID, 4)                                                                                \
  X(start, FLO_SET_FLUID, 4)                                                                                 \
  X(velocity, FLO_SET_FLUID, 4)                                                                              \
  X(explicit_force, FLO_SET_FLUID, 4)                                                                        \
  X(force, FLO_SET_FLUID, 4)                                                                                 \
  X(solid_rate, FLO_SET_FLUID, 1)                                                                            \
  X(wall_flow, FLO_SET_BOUNDARY, 4)                                                                          \
  X(body_flow, FLO_SET_RIGID, 4)                                                                             \
  X(near_walls, FLO_SET_BOUNDARY, 4)                                                                         \
  X(near_bodies, FLO_SET_RIGID, 4)                                                                           \
  X(yields, FLO_SET_RIGID, 1)

typedef struct FloElastic {
  // Saved:
  FloExpectations expected;
  double was_solved; // the last step converged: only then its pressures are a good start
  // Valid for one step:
  double dt, rest_volume;
  double rest_sum;                     // kernel sum of fluid at rest
  double prototype;                    // sum of |grad W|^2 over a filled lattice
  double contact_residual;             // what contacts and joints lack, in units of what they may lack
  double correction;                   // share of a compression that is corrected in the step
  bool has_drops;                      // fluid has surface tension
  bool has_wet;                        // solids next to fluid have pressures
  bool has_bodies;                     // fluid may push bodies
  bool has_led_walls;                  // some walls follow motions
  size_t first[FLO_SET_COUNT], n_rows; // first row of each set, and number of all rows
  FloForces forces;
  FloBodyRows drag;     // explicit forces on bodies
  FloBodyRows pressed;  // pressures on them; `motion` is that of the present unknowns
  FloBodyRows adhesion; // attraction of them
  FloWetSamples wet_samples;
  FloFilms films;
  FloBodySolve bodies;
  FloSoftMotion soft_motion;
  FloSoftYield soft_yield;
  double *wrenches, *start_motion, *impulses, *loads; // six for each node
  FLO_ARRAYS(FLO_ELASTIC_ARRAYS);
  FloBuffer node_buffer, wall_force, strength;
} FloElastic;

enum {
  FLO_ELASTIC_TOLERANCE,
  FLO_ELASTIC_LARGEST,
  FLO_ELASTIC_PRESSURE_TOLERANCE,
  FLO_ELASTIC_MOTION_TOLERANCE,
  FLO_ELASTIC_CONTACT_TOLERANCE,
  FLO_ELASTIC_MIN_ITERATIONS,
  FLO_ELASTIC_MAX_ITERATIONS,
  FLO_ELASTIC_SOLVER,
  FLO_ELASTIC_RELAXATION,
  FLO_ELASTIC_WARM_START,
  FLO_ELASTIC_BETA,
  FLO_ELASTIC_ALPHA,
  FLO_ELASTIC_CORRECTION_TIME,
  FLO_ELASTIC_WALL_PRESSURE,
  FLO_ELASTIC_FILM_GAP,
  FLO_ELASTIC_FIRST_FORCE_PARAM,
};

enum { FLO_ELASTIC_PLAIN, FLO_ELASTIC_NNCG };

// Extra fields of the method, in their order.
enum { FLO_ELASTIC_WARM, FLO_ELASTIC_WET, FLO_ELASTIC_FILM };

// Contacts cost little beside the fluid, so they may take many sweeps in each iteration, in tens.
enum { FLO_ELASTIC_CONTACT_ITERATIONS = 30 };

// Contacts have converged if they change velocities by less than this [m/s].
static inline double flo_elastic_contact_speed(const FloWorld *world, const FloElastic *e) {
  return world->params[FLO_ELASTIC_CONTACT_TOLERANCE] * world->def.spacing / e->dt;
}

static inline bool flo_elastic_is_active(const FloElastic *e, size_t row) {
  return e->diagonal[row] > 0 && (e->pressure[row] > 0 || e->error[row] < 0);
}

// ---- Rows (rows.c) ----

// Finds sources and diagonals. Needs the operators of samples and fluid.
void flo_elastic_describe(FloWorld *world, FloElastic *e);

// ---- What pressures do (answer.c) ----

// Finds the forces and velocities that follow from the present pressures, of fluid and of bodies, and the
// errors that follow from these, with the gradients at the start of the step.
void flo_elastic_answer(FloWorld *world, FloElastic *e);
// Replaces these errors, which are linear in the velocities, by those of the densities at the predicted
// positions. The difference is kept for the iterations that follow.
void flo_elastic_bend(FloWorld *world, FloElastic *e);
// Volume times velocity of samples, quadruples.
void flo_elastic_find_flow(const FloWorld *world, FloSet set, const float *motion, float *flow);
// Finds the forces of the present pressures on soft bodies, which their kick is to contain.
void flo_elastic_expect_pressures(FloWorld *world, FloElastic *e);
// Only the forces on fluid and its velocities.
void flo_elastic_push_fluid(FloWorld *world, FloElastic *e);
// Lists the rows next to soft bodies. Once a step, when diagonals are known.
FloStatus flo_elastic_list_soft(FloWorld *world, FloElastic *e, FloError *error);
// How easily the nodes next to a row yield, as part of its diagonal; see there. Once a step.
void flo_elastic_weigh_bodies(FloWorld *world, FloElastic *e);

// ---- Iterations (solve.c) ----

void flo_elastic_solve(FloWorld *world, FloElastic *e);

// ---- Adhesion (adhesion.c) ----

// Adds the attraction between fluid and solids to the explicit forces, and finds that on bodies.
FloStatus flo_elastic_attract(FloWorld *world, FloElastic *e, FloError *error);
// Adds the attraction of walls to quadruples per wall sample.
void flo_elastic_attract_walls(FloWorld *world, const FloElastic *e, float *force);

#endif
