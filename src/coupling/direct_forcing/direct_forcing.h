// Parts of the `direct-forcing` method; see direct_forcing.c for what it does.
#ifndef FLO_COUPLING_DIRECT_FORCING_DIRECT_FORCING_H
#define FLO_COUPLING_DIRECT_FORCING_DIRECT_FORCING_H

#include "base/vecmath.h"
#include "coupling/forces/film.h"
#include "coupling/forces/weakly_compressible.h"
#include "solve/gauss_seidel.h"
#include "sph/arrays.h"

// At most this many surfaces that are nearer than a fluid particle's radius count: the nearest ones.
enum { FLO_MAX_HITS = 4 };

// At `at` the distance of a fluid particle to all solids was known to be more than `clearance`. At its
// present position that distance is smaller by at most the distances that the particle and the solids have
// moved since. Four floats, since every particle has one.
typedef struct FloForcingRoom {
  float at[3];
  float clearance; // plus `travel` at that time [m]
} FloForcingRoom;

// A fluid particle that may touch solids in this step.
typedef struct FloNearParticle {
  uint32_t particle;
  uint32_t first;    // index of its first contact
  uint32_t follower; // index among the followers of its body, if it is a follower
  int n_hits;
  bool is_near_rigid, is_crowded; // is_crowded: there were more hits than FLO_MAX_HITS
  FloSurfaceHit hits[FLO_MAX_HITS];
} FloNearParticle;

// Fluid particle against body. Velocities are of the particle relative to the body.
typedef struct FloForcingContact {
  uint32_t particle, body;
  bool is_first;     // the first contact of its particle
  bool is_pressed;   // the predicted velocity approaches: (8) holds, otherwise (9)
  double normal[3];  // out of the body; turned where solids pinch the particle
  double arm[3];     // from the body's origin to the particle
  double missing[3]; // change that the predicted velocity needs: v^ of (12)
  double bounce;     // normal velocity after the contact
  double grip;       // share of the tangential velocity that it loses: 1 - slip
  double approach;   // predicted normal velocity
  double impulse[3]; // on the particle [N s]
  // Only for company, the contacts of a particle that touches several solids:
  bool is_jammed;  // in the first contact: the particle is between solids that close in and cannot be moved
  double shift[3]; // in the first contact: change of the particle's velocity
  double press, weight; // normal impulse, and normal velocity per normal impulse
} FloForcingContact;

// Body against body, at a point where they touch; see state/contacts.h.
typedef struct FloBodyContact {
  uint32_t body, other;
  uint32_t body_sample, other_sample; // samples of both near it; see flo_world_body_of
  double normal[3];                   // out of `other`
  double arm[3], other_arm[3];        // from the origins of the bodies to the point of contact
  double velocity[3];                 // predicted, relative to `other`
  double gap;                         // at the start of the step [m]
  double least;                       // required normal velocity
  double restitution;                 // 0: it does not bounce
  double approach;                    // speed at which it closes at the start of the step, if it may bounce
  double friction;                    // coefficient
  uint32_t row, drag_row;             // in `rows`; FLO_NO_ROW: no friction
  double impulse[3];                  // on `body`
  bool is_pressed;
} FloBodyContact;

// What the response knows of a body.
typedef struct FloForcingPartner {
  bool is_free;   // can be pushed by fluid
  bool is_loose;  // can be pushed by bodies
  bool is_moving; // forces or a motion move it
  double slip, restitution;
  // If forces move the body: its position at the start of the step with its predicted velocities.
  FloNode node;
  double origin[3];     // start of the arms; it moves with `velocity`
  double velocity[6];   // predicted: linear, angular
  double earlier[6];    // velocities at the start of the step
  double followers[36]; // part of A in (18) that comes from followers
  double matrix[36];    // A, or mass and inertia alone
  double load[6];       // right-hand side of (18)
  double mobility[36];  // inverse of `matrix`
  double *change;       // of the six velocities, by the response
  double push[6];       // impulse by the forces of the fluid, before contacts
  double impulse[6];    // given by the response
  double exchange[6];   // everything that fluid and other solids gave, even if the body cannot be moved
  size_t n_followers, first_follower, first_group; // first_follower: in `linked`
} FloForcingPartner;

// Columns begin at multiples of two numbers. A FloAllocator must align blocks to 64 bytes, and the size of a
// group is a multiple of the alignment. So consecutive groups in a block are aligned, too.
enum { FLO_MAX_FOLLOWERS = 32, FLO_COLUMN_ALIGNMENT = 16 };

// Fluid particles that touch one body that forces move, and nothing else; see followers.c.
typedef struct FloFollowers {
  _Alignas(FLO_COLUMN_ALIGNMENT) double mass[FLO_MAX_FOLLOWERS];
  double bounce[FLO_MAX_FOLLOWERS];
  double take[FLO_MAX_FOLLOWERS]; // S = grip + take n n^T
  double normal[3][FLO_MAX_FOLLOWERS], arm[3][FLO_MAX_FOLLOWERS], missing[3][FLO_MAX_FOLLOWERS];
  double change[3][FLO_MAX_FOLLOWERS]; // of velocities, by the response
  double load[6], matrix[36];          // part of (18) of this group, the lower half
  double error;                        // square of the largest error of a velocity
  size_t first;                        // index in `linked`
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

// state: velocity and p V^2; force; earlier: what velocities could not hold, and density, at the start of the
// step; predicted: velocity without, later with implicit viscosity.
#define FLO_FORCING_ARRAYS(X)                                                                                \
  X(state, FLO_SET_FLUID, 4)                                                                                 \
  X(force, FLO_SET_FLUID, 4)                                                                                 \
  X(earlier, FLO_SET_FLUID, 4)                                                                               \
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
  FloCompressible fluid;
  const FloFollowerPasses *follower_passes; // set by tests; NULL: the best
  // Valid for one step:
  int response;               // one of FLO_RESPONSE_...
  bool has_wall_pressure;     // samples have pressures of their own
  double rest_volume;         // [m^dim]
  double dt, kick_dt, radius; // radius: distance that particles keep from surfaces [m]
  size_t n_near, n_contacts, n_body_contacts, n_linked, n_followers, n_groups;
  bool has_free_bodies; // bodies that fluid can push
  bool has_told_crowds; // the warning about crowded particles was logged
  bool has_impacts;     // bodies bounce off each other in this step
  bool has_kicked;      // forces have changed the velocities of fluid in this step
  FloForces forces;
  FloBodyRows bodies; // forces of pressure and explicit viscosity on bodies
  FloFilms films;     // between bodies
  FloForcingRoom *rooms;
  double travel;      // upper bound of how far any solid has moved since `rooms` were last forgotten [m]
  size_t n_rooms;     // number of known rooms
  uint32_t only_wall; // the body that all samples of walls belong to; UINT32_MAX: several
  size_t n_seen;      // number of known poses
  FloPose *seen;      // poses of bodies when rooms were last measured
  FloNearParticle *near;
  FloForcingContact *contacts;
  // Contacts that depend on other contacts: first those of followers, body by body, then those of company.
  uint32_t *linked;
  FloFollowers *followers;
  FloBodyContact *body_contacts;
  FloRows rows;    // contacts between bodies; each body is a node
  double *lambda;  // multipliers of `rows`
  double *changes; // of the velocities of bodies, six each
  FloForcingPartner *partners;
  FLO_ARRAYS(FLO_FORCING_ARRAYS);
  // Penalty force on each sample, four numbers each; index = number of wall samples + index in the rigid set.
  float *repulsion;
  double detection_seconds; // time spent on contact detection since the start
  FloBuffer buffers[FLO_N_FORCING_BUFFERS];
} FloDirectForcing;

enum {
  FLO_FORCING_RESPONSE = FLO_N_TAIT_PARAMS,
  FLO_FORCING_WALL_PRESSURE,
  FLO_FORCING_ONE_WAY,
  FLO_FORCING_SLIP_TIME,
  FLO_FORCING_TOLERANCE,
  FLO_FORCING_MAX_ITERATIONS,
  FLO_FORCING_FIRST_FORCE_PARAM,
};

// Extra fields:
enum { FLO_FORCING_FILM, FLO_FORCING_CONTACT_X, FLO_FORCING_CONTACT_Y, FLO_FORCING_CONTACT_Z };

enum { FLO_RESPONSE_GLOBAL, FLO_RESPONSE_LOCAL, FLO_RESPONSE_PENALTY };

double flo_forcing_sound_speed(const FloWorld *world, const FloDirectForcing *forcing);

// ---- Forces before contacts ----

// Adds all forces except implicit viscosity: those on fluid to `force`, those on bodies to `push`.
FloStatus flo_forcing_add_forces(FloWorld *world, FloDirectForcing *forcing, FloError *error);
// Adds the forces of wetted films between bodies to `push`. Forces on samples must be known.
FloStatus flo_forcing_press_films(FloWorld *world, FloDirectForcing *forcing, FloError *error);
// Keeps the forces of this step's contacts with fluid for the films of the next step.
void flo_forcing_keep_contacts(FloWorld *world, FloDirectForcing *forcing);
// Applies implicit viscosity where it is needed. Bodies must have got all other pushes before.
FloStatus flo_forcing_make_viscous(FloWorld *world, FloDirectForcing *forcing, FloError *error);
// Fills the force fields of all solid samples with the total force of the last step.
FloStatus flo_forcing_solid_forces(FloWorld *world, FloDirectForcing *forcing, FloError *error);

// ---- Contacts: what touches what ----

// Finds contacts between fluid and bodies, and between bodies, at predicted positions. A particle that
// touches only one solid, which cannot be pushed, gets its velocity at once (Algorithm 2). That is the most
// common case.
FloStatus flo_forcing_detect(FloWorld *world, FloDirectForcing *forcing, FloError *error);
// Moves fluid particles that are too near to a surface away from it, (19) and (20).
void flo_forcing_correct_positions(FloWorld *world, FloDirectForcing *forcing);

// ---- Response ----

// A matrix of six rows times a vector.
static inline void flo_forcing_apply(const double m[36], const double v[6], double out[6]) {
  for (int i = 0; i < 6; ++i) {
    out[i] = 0;
    for (int k = 0; k < 6; ++k) out[i] += m[6 * i + k] * v[k];
  }
}
// Velocity of the body at the end of an arm.
static inline void flo_forcing_velocity_at(const double velocity[6], const double arm[3], double out[3]) {
  vec_cross(velocity + 3, arm, out);
  vec_add(out, velocity, out);
}
// Velocity of fluid particle i, with the bits that a float cannot hold.
static inline void flo_forcing_velocity_of(const FloParticles *p, size_t i, double out[3]) {
  vec_set(out, (double)p->vx[i] + (double)p->vx_low[i], (double)p->vy[i] + (double)p->vy_low[i],
          (double)p->vz[i] + (double)p->vz_low[i]);
}
// Present velocity of the particle relative to the predicted velocity of the body.
static inline void flo_forcing_relative_velocity(const FloWorld *world, const FloDirectForcing *forcing,
                                                 const FloForcingContact *c, double out[3]) {
  double surface[3];
  flo_forcing_velocity_of(&world->sets[FLO_SET_FLUID], c->particle, out);
  flo_forcing_velocity_at(forcing->partners[c->body].velocity, c->arm, surface);
  vec_sub(out, surface, out);
}
// Whether two surfaces, both nearer to a particle than its radius, leave no room for it between them.
static inline bool flo_forcing_face_each_other(const double normal[3], const double other[3]) {
  return vec_dot(normal, other) < -0.5;
}
// S of the response: the part of a velocity of the body that the particle takes over.
static inline void flo_forcing_take(const FloForcingContact *c, const double velocity[3], double out[3]) {
  double along = vec_dot(velocity, c->normal), share = (c->is_pressed ? 1 : 0) - c->grip;
  vec_scale(velocity, c->grip, out);
  vec_add_scaled(out, c->normal, share * along, out);
}
// Changes the velocity of fluid particle i by the response. The bits that the velocity cannot hold are kept
// beside it, so that bodies get the opposite impulse except for the last few bits.
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
// Makes contact c number k of a group.
void flo_forcing_add_follower(FloFollowers *group, int k, const FloForcingContact *c, double mass);
// Sums up the parts of followers in (18). With the local response it also finds their velocities, for which
// mobilities must be known.
void flo_forcing_meet_followers(FloWorld *world, FloDirectForcing *forcing);
// Gives followers their velocities and their bodies the opposite impulses. The changes of the bodies'
// velocities must be known. Returns the largest error of a velocity.
double flo_forcing_lead_followers(FloWorld *world, FloDirectForcing *forcing);
// Gives fluid and bodies the velocities that contacts require. Particles that touch only one solid, which
// cannot be pushed, have got theirs already.
FloStatus flo_forcing_respond(FloWorld *world, FloDirectForcing *forcing, FloError *error);
// Asks contacts between bodies that close in this step for their rebound.
void flo_forcing_bounce(const FloWorld *world, FloDirectForcing *forcing);
// Makes rows of the contacts between bodies, with the present mobilities and the forces of the last step.
FloStatus flo_forcing_make_rows(FloWorld *world, FloDirectForcing *forcing, FloError *error);
// Copies the impulses that solve the rows to the contacts, and keeps them for the next step.
void flo_forcing_take_rows(FloWorld *world, FloDirectForcing *forcing);

// ---- Baseline ----

// Adds the repulsion by solid samples (Monaghan 2005) to the forces on fluid, and the opposite to `push` of
// the bodies.
void flo_forcing_add_penalty(FloWorld *world, FloDirectForcing *forcing);

#endif
