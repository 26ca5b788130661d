// Parts of the `monolithic` method; see monolithic.c for what it solves.
#ifndef FLO_COUPLING_MONOLITHIC_MONOLITHIC_H
#define FLO_COUPLING_MONOLITHIC_MONOLITHIC_H

#include "base/vecmath.h"
#include "coupling/forces/carried.h"
#include "coupling/forces/film.h"
#include "coupling/forces/implicit_pressure.h"
#include "coupling/forces/soft_motion.h"
#include "coupling/forces/soft_yield.h"
#include "coupling/forces/wet_samples.h"
#include "sph/arrays.h"

// The unknowns stand in rows: first a pressure for each fluid particle, then one for each wet sample, a
// sample next to fluid (wet.c), then a pressure and a friction multiplier for each contact. A contact is a
// point of a body that forces move, near another body (contacts.c), or one of its samples
// (kernel_contacts.c).
//
// A touch is the effect of a row on one node. The samples of a node move together, so all of them that are
// near act as one force and one torque.
typedef struct FloTouch {
  uint32_t row, node;
  float j[6];           // force and torque on the node, about its position, per unit of the row's pressure
  float weight, arm[3]; // force on the node per friction multiplier, and the weighted arm of that force
  float response;       // J M^-1 J^T
  float slip;           // the same for friction, mean over the tangent plane
  float spin;           // the same for torques, mean over the axes
  bool is_main;         // the node that a fluid row or wet sample pushes most, of bodies that are not soft
} FloTouch;

// The part of a touch that is needed for sums over all touches of a node, once a sweep.
typedef struct FloLoad {
  uint32_t row;
  float j[6], weight, arm[3];
} FloLoad;

// The fields that every sweep reads come first, in one cache line.
typedef struct FloContact {
  _Alignas(64) float pressure;
  float friction[3];
  float torque[3]; // against rolling and spinning
  float error;     // volume error at the end of the step, with the present unknowns
  uint32_t sample, body;
  uint32_t first, count; // its touches; those of its own nodes first
  float volume;          // of the sample
  float cone;            // largest friction per pressure: mu |F_N| / p, (3.17)
  float roll_limit;      // largest torque per pressure; 0: none
  float gap;             // volume error if only walls moved, (3.10)
  float normal[3];       // away from the bodies that it presses on
  float wall[3];         // velocity of the walls near it, weighted
  float bias[3];         // velocity that would return it to where it stuck
  float velocity[3];     // tangential, with the present unknowns; includes the bias
  float diagonal, slip_diagonal, slip_share;
  // move: step that Jacobi proposes; way: conjugate direction.
  float pressure_move, pressure_way, friction_move[3], friction_way[3];
  float wall_spin[3], spin[3], torque_move[3], torque_way[3], spin_diagonal, spin_share;
  float anchor[3]; // displacement since it stuck
  float per_sum;   // one over the sum of V W over all neighbours
  bool is_deep;    // the sample is deep in another body
  bool is_glued;   // its friction has no limit and acts along all axes, and it has no pressure
  // For restitution; see bounce.c. 0: it does not bounce.
  float restitution;
  float steepness; // change of the volume error per distance [1/m]
  float wall_rate; // change of the volume error by the motion of walls [1/s]
  float approach;  // closing speed at the start of the step [m/s]
} FloContact;

// What the solver knows of a node.
typedef struct FloPartner {
  const FloNode *node;
  double velocity[3], angular_velocity[3]; // at the end of the step
  double start[3], turn_start[3];          // the same without pressure and friction
  double force[3], torque[3];              // of the present unknowns
  double drag[3], turn_drag[3];            // viscous force and torque
  double expected[3];   // part of `force` that the kick of a soft body contains already; see start_bodies
  double drag_sums[27]; // drag at the present velocities (w), and the upper half of K; see touches.c
  double drift[6];      // change of velocities by drag
  double fluid_load;    // sum of response/diagonal over the fluid rows next to it
  double n_active;      // number of active contacts
  double n_shared;      // n_active when its mass was last shared; negative: not yet
  bool has_fluid;       // fluid is next to it
  bool is_soft;         // it belongs to a soft body
  float yield[6];       // how it yields to the fluid rows in this iteration; see yield.c
  float motion[6];      // the velocities as floats
} FloPartner;

enum { FLO_CHUNK_SUMS = 34, FLO_CHUNKS_AT_ONCE = 16 };

// Touches of one node, enough for one task. The sums of chunks are added in order.
typedef struct FloTouchChunk {
  uint32_t begin, end, node;
} FloTouchChunk;

typedef struct FloResidual {
  double fluid, contact; // means over active rows
  double pressure;       // of fluid, times the diagonal: the volume change that it prevents
  double common;         // mean volume error of fluid, with its sign, weighted by pressure
  double square;         // of the fluid's move, in the norm of the matrix [J]
  double contact_square; // the same for contacts
  double cross;          // fluid's move times the errors at the start of the last trial [J]
  // Energy along the line to the trial: `slope` is its decrease per length at the start, and slope - bend at
  // the trial.
  double slope, bend;
} FloResidual;

typedef enum FloMonolithicBuffer {
  FLO_BUFFER_TOUCHES,
  FLO_BUFFER_ORDER,
  FLO_BUFFER_LOADS,
  FLO_BUFFER_CHUNKS,
  FLO_BUFFER_CHUNK_SUMS,
  FLO_BUFFER_PARTNERS,
  FLO_BUFFER_FLUID_BEGIN,
  FLO_BUFFER_COUPLED,
  FLO_BUFFER_CORRECTED,
  FLO_BUFFER_CONTACTS,
  FLO_BUFFER_WRENCHES,
  FLO_N_BUFFERS
} FloMonolithicBuffer;

// Of rows with pressures alone, those of fluid and wet samples: pressure: unknown; move: step that Jacobi
// proposes; way: conjugate direction; error: volume error at the end of the step; source: the same without
// the motion of fluid; own_source: the same without the motion of fluid and bodies; from_*: values at the
// start of the last trial. Of fluid: steep: sum of V_j grad W_ij over all neighbours. before, start,
// velocity: velocities before the step, without pressure, and with pressure.
#define FLO_MONO_ARRAYS(X)                                                                                   \
  X(pressure, FLO_NO_SET, 1)                                                                                 \
  X(move, FLO_NO_SET, 1)                                                                                     \
  X(way, FLO_NO_SET, 1)                                                                                      \
  X(error, FLO_NO_SET, 1)                                                                                    \
  X(diagonal, FLO_NO_SET, 1)                                                                                 \
  X(source, FLO_NO_SET, 1)                                                                                   \
  X(own_source, FLO_NO_SET, 1)                                                                               \
  X(from_pressure, FLO_NO_SET, 1)                                                                            \
  X(from_error, FLO_NO_SET, 1)                                                                               \
  X(steep, FLO_SET_FLUID, 4)                                                                                 \
  X(before, FLO_SET_FLUID, 4)                                                                                \
  X(start, FLO_SET_FLUID, 4)                                                                                 \
  X(velocity, FLO_SET_FLUID, 4)                                                                              \
  X(explicit_force, FLO_SET_FLUID, 4)                                                                        \
  X(force, FLO_SET_FLUID, 4)

typedef enum FloWetBuffer {
  FLO_WET_SAMPLES,
  FLO_WET_BLOCKS,
  FLO_WET_BLOCK_ROWS,
  FLO_WET_STEEP,
  FLO_WET_PRESSURE,
  FLO_WET_SUM,
  FLO_N_WET_BUFFERS
} FloWetBuffer;

// The wet samples of one set.
typedef struct FloWet {
  FloSet set;
  size_t first_row, n_rows;
  uint32_t *samples;             // of the rows
  size_t n_blocks;               // blocks of samples that have rows
  uint32_t *blocks, *block_rows; // their numbers, and the first row of each, counted from first_row
  float *steep;                  // quadruples per row: V0 sum_j grad W_bj
  float *pressure;               // per sample: unknown of its row, or 0
  float *sum;                    // per sample: result of a sweep
  FloBuffer buffers[FLO_N_WET_BUFFERS];
} FloWet;

// How far contacts have converged.
enum { FLO_NOT_SOLVED, FLO_NEARLY_SOLVED, FLO_SOLVED };

enum { FLO_N_WET = 2 }; // walls, and bodies that forces move

typedef struct FloMonolithic {
  // Saved:
  double was_fluid_solved,
      were_contacts_solved; // the last step converged: only then its pressures are a good start; FLO_SOLVED
  FloExpectations expected;
  double step_length;      // length of the last conjugate step, in Jacobi steps; 0: none yet
  double has_dry_contacts; // bodies that no fluid is next to touched in the last step
  // Valid for one step:
  double dt, rest_volume, contact_sum; // contact_sum: volume-weighted kernel sum at which bodies touch
  double rest_sum;                     // kernel sum of fluid at rest; see monolithic.c
  bool has_drops;                      // fluid has surface tension
  bool has_wet;                        // solids next to fluid have pressures
  double correction;                   // share of a compression that is corrected in the step
  size_t n_fluid, n_contacts, n_touches, n_chunks;
  size_t n_pressures;  // rows of fluid and wet samples
  size_t row_capacity; // rows that the arrays of rows can hold
  FloWet wet[FLO_N_WET];
  FloWetSamples wet_samples;
  FloForces forces;
  FloSoftMotion soft_motion;
  FloSoftYield soft_yield;
  FloContact *contacts;
  FloTouch *touches;     // by rows
  uint32_t *touch_order; // by nodes
  FloLoad *loads;        // in the order of `touch_order`
  FloTouchChunk *chunks;
  double *chunk_sums;          // FLO_CHUNK_SUMS each; see solve.c
  FloPartner *partners;        // of all nodes
  double *wrenches;            // explicit force and torque on each node
  FloFilms films;              // between bodies
  float *corrected;            // errors of coupled fluid rows minus the effect of their bodies' yielding
  uint32_t *fluid_touch_begin; // first touch of each coupled fluid row; see coupled
  uint32_t *coupled;           // fluid rows that have touches
  size_t n_coupled;
  FLO_ARRAYS(FLO_MONO_ARRAYS);
  FloBuffer wall_force; // four numbers per wall sample
  FloBuffer buffers[FLO_N_BUFFERS];
} FloMonolithic;

enum {
  FLO_MONO_TOLERANCE,
  FLO_MONO_PRESSURE_TOLERANCE,
  FLO_MONO_MOTION_TOLERANCE,
  FLO_MONO_CONTACT_TOLERANCE,
  FLO_MONO_MIN_ITERATIONS,
  FLO_MONO_MAX_ITERATIONS,
  FLO_MONO_SOLVER,
  FLO_MONO_RELAXATION,
  FLO_MONO_GAMMA,
  FLO_MONO_WARM_START,
  FLO_MONO_ANCHORS,
  FLO_MONO_SEPARATION,
  FLO_MONO_ALPHA,
  FLO_MONO_CORRECTION_TIME,
  FLO_MONO_WALL_PRESSURE,
  FLO_MONO_CONTACTS,
  FLO_MONO_FILM_GAP,
  FLO_MONO_FIRST_FORCE_PARAM,
};

enum { FLO_SOLVER_JACOBI, FLO_SOLVER_NNCG };
enum { FLO_CONTACTS_POINTS, FLO_CONTACTS_KERNEL };

// The largest friction of a contact under a pressure.
static inline float flo_contact_grip(const FloContact *c, float pressure) {
  return c->is_glued ? INFINITY : c->cone * pressure;
}
static inline bool flo_contact_is_active(const FloContact *c) {
  return c->pressure > 0 || c->error < 0 || c->is_glued;
}

// What is kept of a contact: its pressure, its friction, and the displacement since it stuck.
enum { FLO_KEPT_PRESSURE, FLO_KEPT_FRICTION, FLO_KEPT_ANCHOR = FLO_KEPT_FRICTION + 3 };

// Extra fields of the method, in their order.
enum {
  FLO_MONO_WARM,
  FLO_MONO_FRICTION_X,
  FLO_MONO_FRICTION_Y,
  FLO_MONO_FRICTION_Z,
  FLO_MONO_WET,
  FLO_MONO_FILM
};

// The effect of a node's motion on a row.
static inline float flo_touch_along(const FloTouch *t, const float motion[6]) {
  float sum = 0;
  for (int k = 0; k < 6; ++k) sum += t->j[k] * motion[k];
  return sum;
}

static inline float flo_dot3(const float a[3], const float b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline bool flo_monolithic_is_active(const FloMonolithic *mono, uint32_t row) {
  return mono->pressure[row] > 0 || mono->error[row] < 0;
}

// Adds a force that acts at the end of an arm.
static inline void flo_touch_add_wrench(float wrench[6], const double force[3], const double arm[3]) {
  double torque[3];
  vec_cross(arm, force, torque);
  for (int axis = 0; axis < 3; ++axis) {
    wrench[axis] += (float)force[axis];
    wrench[axis + 3] += (float)torque[axis];
  }
}

FloStatus flo_monolithic_reserve(FloWorld *world, FloMonolithic *mono, FloMonolithicBuffer which, size_t size,
                                 size_t keep, FloError *error);
// Parts of flo_monolithic_meet: touches of fluid rows, with viscous drag, and contacts.
FloStatus flo_monolithic_meet_fluid(FloWorld *world, FloMonolithic *mono, FloError *error);
void flo_monolithic_expect_contacts(const FloWorld *world, FloMonolithic *mono);
FloStatus flo_monolithic_meet_contacts(FloWorld *world, FloMonolithic *mono, FloError *error);
FloStatus flo_monolithic_meet_by_kernel(FloWorld *world, FloMonolithic *mono, FloError *error);
// Gives each contact the places of its touches, when their numbers are known.
FloStatus flo_monolithic_give_touches(FloWorld *world, FloMonolithic *mono, FloError *error);
// The volume error that a contact asks to end with: lets an overlap vanish slowly. `steepness` is the change
// of the error per distance.
double flo_monolithic_gap(const FloWorld *world, const FloMonolithic *mono, double error, double steepness);
// Wet samples (wet.c): lists them, finds their volumes and diagonals (with V0 in `move` and V0^2/m in `way`),
// copies their unknowns to where sweeps find them, and finds their errors.
FloStatus flo_monolithic_list_wet(FloWorld *world, FloMonolithic *mono, FloError *error);
void flo_monolithic_describe_wet(const FloWorld *world, FloMonolithic *mono);
void flo_monolithic_spread_wet(FloMonolithic *mono);
void flo_monolithic_evaluate_wet(const FloWorld *world, FloMonolithic *mono);
// Starts from this share of the last step's pressures, and keeps the pressures for the next step.
void flo_monolithic_start_wet(const FloWorld *world, FloMonolithic *mono, float share);
void flo_monolithic_keep_wet(FloWorld *world, const FloMonolithic *mono);
// Adds the forces of their pressures to quadruples per wall sample.
void flo_monolithic_add_wet_forces(const FloMonolithic *mono, float *wall_force);
void flo_monolithic_free_wet(FloWorld *world, FloMonolithic *mono);
// Finds touches and contacts of the present neighbourhood, and their parts of the diagonals.
FloStatus flo_monolithic_meet(FloWorld *world, FloMonolithic *mono, FloError *error);
// Restitution (bounce.c): notes how fast contacts close at the start of the step, and asks contacts for their
// rebound when the velocities without pressure are known.
void flo_monolithic_note_approach(FloMonolithic *mono);
void flo_monolithic_bounce(const FloWorld *world, FloMonolithic *mono);
// Share of a contact's friction that acts on a sample of a wall near it.
float flo_monolithic_weight(const FloWorld *world, const FloContact *contact, size_t wall_sample);
// Adds the forces of wetted films between bodies to their drag.
FloStatus flo_monolithic_press_films(FloWorld *world, FloMonolithic *mono, FloError *error);
// Finds the load of fluid on bodies and the main touches. The diagonals of fluid must be known.
void flo_monolithic_weigh_fluid(FloMonolithic *mono);
// Solves (M/scale + S) y = w for a node; along locked axes y is 0. `sums` holds w and the upper half of S.
void flo_monolithic_give_way(const FloNode *node, double scale, const double sums[27], double y[6]);
// Finds velocities and forces of bodies and fluid from the present unknowns.
void flo_monolithic_apply(FloWorld *world, FloMonolithic *mono);
// The torques of contacts are found in single precision, and the two bodies of a contact round them
// differently. Replaces them by the torques of the same forces in double precision, so that angular momentum
// is conserved; likewise forces that several nodes share. For the end of the step.
void flo_monolithic_refine_torques(const FloWorld *world, FloMonolithic *mono);
// Finds volume errors and tangential velocities from these.
void flo_monolithic_evaluate(FloWorld *world, FloMonolithic *mono);
// Parts of flo_monolithic_apply: fluid alone, and bodies alone, whose joints must have been weighed.
void flo_monolithic_apply_to_fluid(FloWorld *world, FloMonolithic *mono);
void flo_monolithic_apply_to_bodies(FloWorld *world, FloMonolithic *mono);
// Finds the errors of contacts alone.
void flo_monolithic_evaluate_contacts(FloWorld *world, FloMonolithic *mono);
// The longest step for contacts between bodies that no fluid is next to.
double flo_monolithic_contact_dt(const FloWorld *world, const FloMonolithic *mono);
// Iterates until the errors are small. The solution stands in pressure and friction.
void flo_monolithic_solve(FloWorld *world, FloMonolithic *mono);
// Starts the unknowns from those of the last step.
void flo_monolithic_start_unknowns(FloWorld *world, FloMonolithic *mono);
// Solves as often as soft bodies need it (again.c).
void flo_monolithic_solve_with_soft(FloWorld *world, FloMonolithic *mono);
// Finds how bodies yield to the steps that the fluid rows next to them propose; see yield.c.
void flo_monolithic_find_yields(FloWorld *world, FloMonolithic *mono, float relaxation);
// The same for soft bodies, whose rows are listed once a step, when diagonals are known.
FloStatus flo_monolithic_list_soft(FloWorld *world, FloMonolithic *mono, FloError *error);
void flo_monolithic_find_soft_yields(FloWorld *world, FloMonolithic *mono, float relaxation);

// The line leads from the pressures where the last trial started, at 0, to the trial, at 1. Moves to the
// point `length` of the line. The errors of fluid are interpolated linearly.
void flo_monolithic_go(FloWorld *world, FloMonolithic *mono, double length);

#endif
