// Parts of the `monolithic` method; see monolithic.c for what it solves.
#ifndef FLO_COUPLING_MONOLITHIC_MONOLITHIC_H
#define FLO_COUPLING_MONOLITHIC_MONOLITHIC_H

#include "base/vecmath.h"
#include "coupling/forces/forces.h"
#include "sph/arrays.h"

// Unknowns stand in rows: a pressure for each fluid particle, then a pressure and a friction multiplier for
// each contact, which is a sample of a dynamic body near other bodies.
//
// What a row has to do with one node. Since the samples that a node carries move together, the sum over all
// of them that are near becomes one force and one torque.
typedef struct FloTouch {
  uint32_t row, node;
  float j[6];           // force and torque on the node, about its position, per unit of the row's pressure
  float weight, arm[3]; // force on the node per friction multiplier, and the weighted arm it acts at
  float response;       // J M^-1 J^T
  float slip;           // mean over the tangent plane of the same for friction
  float spin;           // mean over the axes of the same for torques
  bool is_main;         // of the nodes next to a fluid row, the one it pushes most
} FloTouch;

// What a touch does to its node, for sums over all touches of a node: these are read once a sweep.
typedef struct FloLoad {
  uint32_t row;
  float j[6], weight, arm[3];
} FloLoad;

// What every sweep reads comes first, in a line of the cache of its own.
typedef struct FloContact {
  _Alignas(64) float pressure;
  float friction[3];
  float torque[3]; // against rolling and spinning
  float error;     // volume error at the end of the step, as the unknowns are now
  uint32_t sample, body;
  uint32_t first, count; // its touches: those of its own nodes first
  float volume;          // of the sample
  float cone;            // largest friction per pressure: mu |F_N| / p, (3.17)
  float roll_limit;      // largest torque per pressure; 0: none
  float gap;             // volume error if only walls moved, (3.10)
  float normal[3];       // away from what it presses on
  float wall[3];         // velocity of the walls near it, weighted
  float bias[3];         // velocity that would take it back to where it stuck
  float velocity[3];     // tangential, as the unknowns are now; with the bias
  float diagonal, slip_diagonal, slip_share;
  // A move is what Jacobi proposes, a way is the conjugate one.
  float pressure_move, pressure_way, friction_move[3], friction_way[3];
  float wall_spin[3], spin[3], torque_move[3], torque_way[3], spin_diagonal, spin_share;
  float anchor[3]; // displacement since it stuck
  float per_sum;   // one over the sum of V W over all neighbours
  bool is_deep;    // in another body
} FloContact;

// What the solver knows of a node.
typedef struct FloPartner {
  const FloNode *node;
  double velocity[3], angular_velocity[3]; // at the end of the step
  double start[3], turn_start[3];          // the same without pressure and friction
  double force[3], torque[3];              // of the present unknowns
  double drag[3], turn_drag[3];            // viscous force and torque
  double drag_sums[27];                    // these as the body moves now, and the upper half of their matrix
  double drift[6];                         // what they change its velocities by
  double fluid_load;                       // sum over the fluid rows next to it of response over diagonal
  double n_active;                         // contacts that press on it
  double n_shared;                         // for how many its mass has been shared out; negative: not yet
  bool has_fluid;                          // next to it
  float yield[6];                          // how the body gives way to what the fluid rows are about to do
  float motion[6];                         // velocities once more
} FloPartner;

enum { FLO_CHUNK_SUMS = 34, FLO_CHUNKS_AT_ONCE = 16 };

// Touches of one node, few enough for a thread; sums are formed by these and added in order.
typedef struct FloTouchChunk {
  uint32_t begin, end, node;
} FloTouchChunk;

// Two bodies that have passed into each other, and the way out for the first; the second goes the other way.
typedef struct FloDeepPair {
  uint32_t first, second;
  double out[3];
  double n_samples; // that are deep in the other body
} FloDeepPair;

typedef struct FloResidual {
  double fluid, contact; // means over active rows
  double pressure;       // of fluid, times its diagonal: the change of volume that it prevents
  double square;         // of the move of fluid, in joule
  double contact_square; // the same of contacts
  double cross;          // the same with the errors where the last trial started
  double slope, bend; // of the energy along the line to the trial: downwards at first, less by `bend` at it
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
  FLO_BUFFER_DEEP_PAIRS,
  FLO_BUFFER_WRENCHES,
  FLO_N_BUFFERS
} FloMonolithicBuffer;

// pressure: unknown; move, way: what Jacobi proposes, and the conjugate one; error: of volume at the end of
// the step; source: the same without fluid's motion, own_source: and without bodies; from_*: where the last
// trial started; steep: sum of V_j grad W_ij over all neighbours; velocities: before the step, start: without
// pressure, and with it.
#define FLO_MONO_ARRAYS(X)                                                                                   \
  X(pressure, FLO_SET_FLUID, 1)                                                                              \
  X(move, FLO_SET_FLUID, 1)                                                                                  \
  X(way, FLO_SET_FLUID, 1)                                                                                   \
  X(error, FLO_SET_FLUID, 1)                                                                                 \
  X(diagonal, FLO_SET_FLUID, 1)                                                                              \
  X(source, FLO_SET_FLUID, 1)                                                                                \
  X(own_source, FLO_SET_FLUID, 1)                                                                            \
  X(from_pressure, FLO_SET_FLUID, 1)                                                                         \
  X(from_error, FLO_SET_FLUID, 1)                                                                            \
  X(steep, FLO_SET_FLUID, 4)                                                                                 \
  X(before, FLO_SET_FLUID, 4)                                                                                \
  X(start, FLO_SET_FLUID, 4)                                                                                 \
  X(velocity, FLO_SET_FLUID, 4)                                                                              \
  X(explicit_force, FLO_SET_FLUID, 4)                                                                        \
  X(force, FLO_SET_FLUID, 4)

typedef struct FloMonolithic {
  // Saved:
  double was_fluid_solved,
      were_contacts_solved; // in the last step: only then its pressures are worth a start
  double expected_speed;    // [m/s]
  double step_length;       // of the last conjugate step, in steps of Jacobi; 0: none yet
  // Of a step:
  double dt, rest_volume, contact_sum; // contact_sum: volume-weighted kernel sum at which bodies touch
  double correction;                   // share of a compression that is taken back
  size_t n_fluid, n_contacts, n_touches, n_chunks;
  FloForces forces;
  FloContact *contacts;
  FloTouch *touches;     // by rows
  uint32_t *touch_order; // by nodes
  FloLoad *loads;        // in that order
  FloTouchChunk *chunks;
  double *chunk_sums;   // FLO_CHUNK_SUMS each; see solve.c
  FloPartner *partners; // of all nodes
  double *wrenches;     // explicit force and torque on each node
  FloDeepPair *deep_pairs;
  size_t n_deep_pairs;
  float *corrected;            // errors of coupled fluid rows, less what their bodies yield
  uint32_t *fluid_touch_begin; // per coupled fluid row, see coupled
  uint32_t *coupled;           // fluid rows that have touches
  size_t n_coupled;
  FLO_ARRAYS(FLO_MONO_ARRAYS);
  FloBuffer wall_force; // quadruples per wall sample
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
  FLO_MONO_FIRST_FORCE_PARAM,
};

enum { FLO_SOLVER_JACOBI, FLO_SOLVER_NNCG };

// Extra fields of the method, in their order.
enum {
  FLO_MONO_WARM,
  FLO_MONO_FRICTION_X,
  FLO_MONO_FRICTION_Y,
  FLO_MONO_FRICTION_Z,
  FLO_MONO_ANCHOR_X,
  FLO_MONO_ANCHOR_Y,
  FLO_MONO_ANCHOR_Z
};

// What the motion of a node does to a row.
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

// What carries a sample: nodes by their number among all, their shares, and the ways from them to the sample.
typedef struct FloCarried {
  int count;
  uint32_t nodes[FLO_MAX_CARRIERS];
  double shares[FLO_MAX_CARRIERS], arms[FLO_MAX_CARRIERS][3];
} FloCarried;

FloCarried flo_monolithic_carriers(const FloWorld *world, size_t sample);

// Adds a force at the end of an arm.
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
FloStatus flo_monolithic_meet_contacts(FloWorld *world, FloMonolithic *mono, FloError *error);
// Finds touches and contacts of the present neighbourhood, and their parts of the diagonals.
FloStatus flo_monolithic_meet(FloWorld *world, FloMonolithic *mono, FloError *error);
// Share of a contact's friction that acts on a sample of a wall near it.
float flo_monolithic_weight(const FloWorld *world, const FloContact *contact, size_t wall_sample);
// How strongly fluid hangs on bodies, once the diagonals of fluid are known.
void flo_monolithic_weigh_fluid(FloMonolithic *mono);
// y from (1 + scale M^-1 S) y = scale M^-1 w of a node; `sums` holds w and the upper half of S. It also holds
// for locked axes, whose M^-1 is zero.
void flo_monolithic_give_way(const FloNode *node, double scale, const double sums[27], double y[6]);
// Velocities and forces of bodies and fluid as the present unknowns make them.
void flo_monolithic_apply(FloWorld *world, FloMonolithic *mono);
// Volume errors and tangential velocities that follow from these.
void flo_monolithic_evaluate(FloWorld *world, FloMonolithic *mono);
// The same for bodies and contacts alone.
void flo_monolithic_apply_to_bodies(FloWorld *world, FloMonolithic *mono);
void flo_monolithic_evaluate_contacts(FloWorld *world, FloMonolithic *mono);
// Iterates until the errors are small; the unknowns then stand in pressure and friction.
void flo_monolithic_solve(FloWorld *world, FloMonolithic *mono);
// How bodies yield to what the fluid rows next to them are about to do.
void flo_monolithic_find_yields(FloWorld *world, FloMonolithic *mono, float relaxation);

// A line leads from the pressures where the last trial started to the trial, which is at 1. Goes to a point
// of it, with the errors of fluid as far as they are linear.
void flo_monolithic_go(FloWorld *world, FloMonolithic *mono, double length);

#endif
