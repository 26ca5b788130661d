// Parts of the `direct-forcing` method; see direct_forcing.c for what it does.
#ifndef FLO_COUPLING_DIRECT_FORCING_DIRECT_FORCING_H
#define FLO_COUPLING_DIRECT_FORCING_DIRECT_FORCING_H

#include "base/vecmath.h"
#include "coupling/forces/forces.h"
#include "solve/gauss_seidel.h"
#include "sph/arrays.h"

// Of the surfaces that a fluid particle is nearer to than it may be, so many count: the nearest.
enum { FLO_MAX_HITS = 4 };

// Where a fluid particle was when the distance to all solids was known to be more than `clearance`. That
// holds for wherever it is now, less its own way and the solids'. Four floats, since every particle has one.
typedef struct FloForcingRoom {
  float at[3];
  float clearance; // beyond the way that solids had come by then [m]
} FloForcingRoom;

// A fluid particle that may touch solids in this step.
typedef struct FloNearParticle {
  uint32_t particle;
  uint32_t first;    // contact
  uint32_t follower; // number among those of its body, if it is one
  int n_hits;
  bool is_near_rigid, is_crowded; // is_crowded: there were more hits
  FloSurfaceHit hits[FLO_MAX_HITS];
} FloNearParticle;

// Fluid particle against body. Velocities are of the particle relative to the body.
typedef struct FloForcingContact {
  uint32_t particle, body;
  bool is_first;     // contact of its particle
  bool is_pressed;   // approaches by itself: (8) holds, otherwise (9)
  double normal[3];  // out of the body; in a wedge that closes, turned
  double arm[3];     // from the body's origin to the particle
  double missing[3]; // what the predicted one lacks: v^ of (12)
  double bounce;     // normal velocity afterwards
  double grip;       // share of the tangential velocity that it loses: 1 - slip
  double approach;   // predicted normal velocity
  double impulse[3]; // on the particle [N s]
  // Of company:
  bool is_jammed;       // of the first one: between solids that close in on it and cannot be moved
  double shift[3];      // of the first one: what the velocity of the particle changes by
  double press, weight; // normal impulse, and normal velocity per normal impulse
} FloForcingContact;

// Body against body: a sample of `body` touches `other`.
typedef struct FloBodyContact {
  uint32_t body, other, sample;
  uint32_t other_sample;       // near it, of the other one; see flo_world_body_of
  double normal[3];            // out of the other one
  double arm[3], other_arm[3]; // from their origins to the point of contact
  double velocity[3];          // predicted, relative to the other
  double least;                // normal velocity that is needed
  double friction;             // coefficient
  uint32_t row, drag_row;      // in `rows`; FLO_NO_ROW: no friction
  double impulse[3];           // on the body
  bool is_pressed;
} FloBodyContact;

// What the response knows of a body.
typedef struct FloForcingPartner {
  bool is_free;   // can be pushed by fluid
  bool is_loose;  // can be pushed by bodies
  bool is_moving; // by forces or by motions
  double slip, restitution;
  FloNode
      node; // of those that forces move: where it was at the start of the step, with velocities of its end
  double origin[3];     // which arms reach from, and which moves with `velocity`
  double velocity[6];   // predicted: linear, angular
  double earlier[6];    // at the start of the step
  double followers[36]; // the part of A of (18) that is fluid which moves along
  double matrix[36];    // A, or mass and inertia alone
  double load[6];       // right-hand side of (18)
  double mobility[36];  // inverse of the above, or of mass and inertia alone
  double *change;       // of the six velocities by the response
  double push[6];       // impulse by the forces of the fluid around it, before contacts
  double impulse[6];    // that the response gave it
  double exchange[6];   // all that fluid and other solids gave it, also where it cannot be moved
  size_t n_followers, first_follower, first_group; // followers in `linked`
} FloForcingPartner;

// Columns begin at multiples of two numbers. A FloAllocator has to align blocks to 64 bytes, and the size of
// a group is a multiple of the alignment, so groups one behind the other in a block keep to it.
enum { FLO_MAX_FOLLOWERS = 32, FLO_COLUMN_ALIGNMENT = 16 };

// Fluid particles that touch a dynamic body and nothing else; see followers.c.
typedef struct FloFollowers {
  _Alignas(FLO_COLUMN_ALIGNMENT) double mass[FLO_MAX_FOLLOWERS];
  double bounce[FLO_MAX_FOLLOWERS];
  double take[FLO_MAX_FOLLOWERS]; // S = grip + take n n^T
  double normal[3][FLO_MAX_FOLLOWERS], arm[3][FLO_MAX_FOLLOWERS], missing[3][FLO_MAX_FOLLOWERS];
  double change[3][FLO_MAX_FOLLOWERS]; // of velocities, by the response
  double load[6], matrix[36];          // their part of (18), the lower half
  double error;                        // squared: of velocities, the largest
  size_t first;                        // contact in `linked`
  uint32_t particle[FLO_MAX_FOLLOWERS];
  uint32_t body;
  int n;
} FloFollowers;

// The loops over groups of followers for one instruction set.
typedef struct FloFollowerPasses {
  const char *name;
  void (*meet)(void *context, size_t begin, size_t end, int thread);
  void (*lead)(void *context, size_t begin, size_t end, int thread);
} FloFollowerPasses;

// state: velocity and p V^2; force; predicted: velocity before implicit viscosity, then with it.
#define FLO_FORCING_ARRAYS(X)                                                                                \
  X(state, FLO_SET_FLUID, 4)                                                                                 \
  X(force, FLO_SET_FLUID, 4)                                                                                 \
  X(predicted, FLO_SET_FLUID, 4)

// Buffers:
enum {
  FLO_FORCING_NEAR,
  FLO_FORCING_CONTACTS,
  FLO_FORCING_LINKED,
  FLO_FORCING_FOLLOWERS,
  FLO_FORCING_BODY_CONTACTS,
  FLO_FORCING_WALL_FORCE,
  FLO_FORCING_ROOMS,
  FLO_FORCING_SEEN,
  FLO_FORCING_PARTNERS,
  FLO_FORCING_CHANGES,
  FLO_FORCING_LAMBDA,
  FLO_FORCING_REPULSION,
  FLO_N_FORCING_BUFFERS
};

typedef struct FloDirectForcing {
  double expected_speed;                    // [m/s]; saved
  const FloFollowerPasses *follower_passes; // that tests choose; NULL: the best
  // Of a step:
  double rest_volume;         // [m^dim]
  double dt, kick_dt, radius; // radius: that particles keep from surfaces [m]
  size_t n_near, n_contacts, n_body_contacts, n_linked, n_followers, n_groups;
  bool has_free_bodies; // that fluid can push
  bool has_told_crowds; // the host knows that particles touch more solids than count
  FloForces forces;
  FloBodyRows bodies; // what pressure and explicit viscosity do to them
  FloForcingRoom *rooms;
  double travel;      // at most so far has any solid moved since `rooms` were last forgotten [m]
  size_t n_rooms;     // that are known
  uint32_t only_wall; // the body that all samples of walls belong to; UINT32_MAX: several
  size_t n_seen;      // bodies whose poses are known:
  FloPose *seen;      // when rooms were last measured
  FloNearParticle *near;
  FloForcingContact *contacts;
  uint32_t *linked; // contacts that others depend on, or that do: of followers, body by body; then in company
  FloFollowers *followers;
  FloBodyContact *body_contacts;
  FloRows rows;    // of contacts of bodies among each other; their nodes are all bodies
  double *lambda;  // their multipliers
  double *changes; // of the velocities of bodies, six each
  FloForcingPartner *partners;
  FLO_ARRAYS(FLO_FORCING_ARRAYS);
  float *repulsion; // quadruples per sample, those of bodies after those of walls: the penalty's opposite
  double detection_seconds; // since the start
  FloBuffer buffers[FLO_N_FORCING_BUFFERS];
} FloDirectForcing;

enum {
  FLO_FORCING_RESPONSE = FLO_N_TAIT_PARAMS,
  FLO_FORCING_ONE_WAY,
  FLO_FORCING_SLIP_TIME,
  FLO_FORCING_TOLERANCE,
  FLO_FORCING_MAX_ITERATIONS,
  FLO_FORCING_FIRST_FORCE_PARAM,
};

enum { FLO_RESPONSE_GLOBAL, FLO_RESPONSE_LOCAL, FLO_RESPONSE_PENALTY };

static inline int flo_forcing_response(const FloWorld *world) {
  return (int)world->params[FLO_FORCING_RESPONSE];
}

double flo_forcing_sound_speed(const FloWorld *world, const FloDirectForcing *forcing);

// ---- Forces before contacts ----

// On fluid into `force`, on bodies into what pushes them; all but implicit viscosity.
FloStatus flo_forcing_add_forces(FloWorld *world, FloDirectForcing *forcing, FloError *error);
// Implicit viscosity, where it is needed; bodies must have been pushed by everything else.
FloStatus flo_forcing_make_viscous(FloWorld *world, FloDirectForcing *forcing, FloError *error);
// Fills the force fields of all solid samples: the whole of what the last step did to them.
FloStatus flo_forcing_solid_forces(FloWorld *world, FloDirectForcing *forcing, FloError *error);

// ---- Contacts: what touches what ----

// Contacts of fluid and bodies, and of bodies among each other, where the prediction brings them. What
// touches a single solid that cannot be pushed, as most do, gets its velocity at once (Algorithm 2).
FloStatus flo_forcing_detect(FloWorld *world, FloDirectForcing *forcing, FloError *error);
// Moves fluid particles that are too near to a surface away from it, (19) and (20).
void flo_forcing_correct_positions(FloWorld *world, FloDirectForcing *forcing);

// ---- Response ----

// Velocity of the body at the end of an arm.
static inline void flo_forcing_velocity_at(const double velocity[6], const double arm[3], double out[3]) {
  vec_cross(velocity + 3, arm, out);
  vec_add(out, velocity, out);
}
// Of fluid particle i, with what floats cannot hold.
static inline void flo_forcing_velocity_of(const FloParticles *p, size_t i, double out[3]) {
  vec_set(out, (double)p->vx[i] + (double)p->vx_low[i], (double)p->vy[i] + (double)p->vy_low[i],
          (double)p->vz[i] + (double)p->vz_low[i]);
}
// Of the particle, as it is now, relative to the body, as predicted.
static inline void flo_forcing_relative_velocity(const FloWorld *world, const FloDirectForcing *forcing,
                                                 const FloForcingContact *c, double out[3]) {
  double surface[3];
  flo_forcing_velocity_of(&world->sets[FLO_SET_FLUID], c->particle, out);
  flo_forcing_velocity_at(forcing->partners[c->body].velocity, c->arm, surface);
  vec_sub(out, surface, out);
}
// Of two surfaces that are both nearer to a particle than its radius: there is no room for it between them.
static inline bool flo_forcing_face_each_other(const double normal[3], const double other[3]) {
  return vec_dot(normal, other) < -0.5;
}
// S of the response: what a particle takes over of a velocity of its body.
static inline void flo_forcing_take(const FloForcingContact *c, const double velocity[3], double out[3]) {
  double along = vec_dot(velocity, c->normal), share = (c->is_pressed ? 1 : 0) - c->grip;
  vec_scale(velocity, c->grip, out);
  vec_add_scaled(out, c->normal, share * along, out);
}
// Of fluid particle i, by the response. What the velocity cannot hold is kept beside it, so that bodies get
// the opposite to the last bit but few.
static inline void flo_forcing_change_velocity(FloParticles *p, size_t i, const double change[3],
                                               double per_dt) {
  float *velocity[3] = {&p->vx[i], &p->vy[i], &p->vz[i]},
        *low[3] = {&p->vx_low[i], &p->vy_low[i], &p->vz_low[i]},
        *acceleration[3] = {&p->ax[i], &p->ay[i], &p->az[i]};
  for (int axis = 0; axis < 3; ++axis) {
    double v = (double)*velocity[axis] + (double)*low[axis] + change[axis];
    *velocity[axis] = (float)v;
    *low[axis] = (float)(v - (double)*velocity[axis]);
    *acceleration[axis] += (float)(change[axis] * per_dt);
  }
}
const FloFollowerPasses *flo_forcing_passes(void);         // the best this machine can run
const FloFollowerPasses *flo_forcing_passes_generic(void); // the one every machine can run
// Makes a contact number k of a group.
void flo_forcing_add_follower(FloFollowers *group, int k, const FloForcingContact *c, double mass);
// Sums up what followers ask of their bodies; with the local response it also finds their velocities, for
// which mobilities must be known.
void flo_forcing_meet_followers(FloWorld *world, FloDirectForcing *forcing);
// Gives followers their velocities, and their bodies the opposite, when changes of those are known; how far
// velocities are from what they should be at worst.
double flo_forcing_lead_followers(FloWorld *world, FloDirectForcing *forcing);
// Gives fluid and bodies the velocities that contacts ask for; what touches a single solid that cannot be
// pushed has got it already.
FloStatus flo_forcing_respond(FloWorld *world, FloDirectForcing *forcing, FloError *error);
// Contacts of bodies among each other as rows, for the mobilities that bodies have; without impulses.
FloStatus flo_forcing_make_rows(FloWorld *world, FloDirectForcing *forcing, FloError *error);
// The impulses that solving the rows has found, into the contacts.
void flo_forcing_take_rows(FloDirectForcing *forcing);

// ---- Baseline ----

// Adds the repulsion by solid samples (Monaghan 2005) to the forces on fluid, and the opposite to what pushes
// bodies.
void flo_forcing_add_penalty(FloWorld *world, FloDirectForcing *forcing);

#endif
