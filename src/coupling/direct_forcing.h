// Parts of the `direct-forcing` method; see direct_forcing.c for what it does.
#ifndef FLO_COUPLING_DIRECT_FORCING_H
#define FLO_COUPLING_DIRECT_FORCING_H

#include "base/vecmath.h"
#include "coupling/viscosity.h"
#include "world.h"

// A surface that a fluid particle is nearer to than it may be.
typedef struct FloSurfaceHit {
  uint32_t sample;  // near it; those of dynamic bodies are counted on after those of walls
  double distance;  // to the surface, negative inside [m]
  double normal[3]; // out of the body
} FloSurfaceHit;

enum { FLO_MAX_HITS = 4 };

// A fluid particle that lists samples of solids.
typedef struct FloNearParticle {
  uint32_t particle;
  uint32_t first; // contact
  int n_hits;
  bool is_near_rigid;
  FloSurfaceHit hits[FLO_MAX_HITS];
} FloNearParticle;

// Fluid particle against body. Velocities are of the particle relative to the body.
typedef struct FloForcingContact {
  uint32_t particle, body, sample;
  bool has_company;  // the particle touches something else, too
  bool is_first;     // contact of its particle
  bool is_pressed;   // approaches by itself: (8) holds, otherwise (9)
  double normal[3];  // out of the body
  double arm[3];     // from the body's origin to the particle
  double missing[3]; // what the predicted one lacks: v^ of (12)
  double bounce;     // normal velocity afterwards
  double grip;       // share of the tangential velocity that it loses: 1 - slip
  double approach;   // predicted normal velocity
  double impulse[3]; // on the particle [N s]
  // Of company:
  double shift[3];      // of the first one: what the velocity of the particle changes by
  double press, weight; // normal impulse, and normal velocity per normal impulse
} FloForcingContact;

// Body against body: a sample of `body` touches `other`.
typedef struct FloBodyContact {
  uint32_t body, other, sample;
  uint32_t wall_sample;        // near it, of the other one
  double normal[3];            // out of the other one
  double arm[3], other_arm[3]; // from their origins to the point of contact
  double velocity[3];          // predicted, relative to the other
  double least;                // normal velocity that is needed
  double friction;             // coefficient
  double press, drag[3];       // impulses on the body
  double weight, drag_weight;  // velocity per impulse
} FloBodyContact;

// What the response knows of a body.
typedef struct FloForcingPartner {
  bool is_free;   // can be pushed by fluid
  bool is_loose;  // can be pushed by bodies
  bool is_moving; // dynamic or kinematic
  double slip, restitution;
  FloPose before;      // pose at the start of the step
  FloRigid kicked;     // of dynamic ones: at the start of the step, with the velocities of its end
  double origin[3];    // which arms reach from, and which moves with `velocity`
  double velocity[6];  // predicted: linear, angular
  double earlier[6];   // at the start of the step
  double matrix[36];   // A of (18): mass and inertia with the fluid that moves along
  double load[6];      // its right-hand side
  double mobility[36]; // inverse of the above, or of mass and inertia alone
  double change[6];    // of the velocities by the response
  double impulse[6];   // that the response gave it
  double pressure[6];  // impulse by the pressure of the fluid around it
  size_t n_contacts;
} FloForcingPartner;

typedef struct FloDirectForcing {
  double expected_speed; // [m/s]; saved
  // Of a step:
  double rest_volume;         // [m^dim]
  double dt, kick_dt, radius; // radius: that particles keep from surfaces [m]
  size_t n_near, n_contacts, n_body_contacts;
  bool has_free_bodies; // that fluid can push
  bool has_company;     // some particle touches several solids
  FloViscosity viscosity;
  FloNearParticle *near;
  FloForcingContact *contacts;
  FloBodyContact *body_contacts;
  FloForcingPartner *partners;
  float *state;                               // quadruples per fluid particle: velocity, p V^2
  float *force;                               // quadruples per fluid particle
  double detection_seconds, response_seconds; // since the start
  FloBuffer buffers[6];
} FloDirectForcing;

enum {
  FLO_FORCING_SOUND_SPEED,
  FLO_FORCING_ALPHA,
  FLO_FORCING_GAMMA,
  FLO_FORCING_DAMPING,
  FLO_FORCING_RESPONSE,
  FLO_FORCING_ONE_WAY,
  FLO_FORCING_SLIP_TIME,
  FLO_FORCING_TOLERANCE,
  FLO_FORCING_MAX_ITERATIONS,
};

enum { FLO_RESPONSE_GLOBAL, FLO_RESPONSE_LOCAL, FLO_RESPONSE_PENALTY };

enum { FLO_FORCING_NEAR, FLO_FORCING_CONTACTS, FLO_FORCING_BODY_CONTACTS, FLO_FORCING_PARTNERS };

static inline int flo_forcing_response(const FloWorld *world) {
  return (int)world->params[FLO_FORCING_RESPONSE];
}

// ---- Contacts: who touches whom ----

// Fluid particles that list samples of solids; needs the neighbours of this step.
FloStatus flo_forcing_find_near(FloWorld *world, FloDirectForcing *forcing, FloError *error);
// Contacts of fluid and bodies, and of bodies among each other, where the prediction brings them.
FloStatus flo_forcing_detect(FloWorld *world, FloDirectForcing *forcing, FloError *error);
// Moves fluid particles that are too near to a surface away from it, (19) and (20).
void flo_forcing_correct_positions(FloWorld *world, FloDirectForcing *forcing);

// Adds the opposite of what a force does to fluid particle i in the time of a kick to a body's impulses,
// linear and, about `origin`, angular.
void flo_forcing_answer(const FloWorld *world, const FloDirectForcing *forcing, size_t i,
                        const double origin[3], const double force[3], double impulses[6]);

// ---- Response ----

// Velocity of the body at the end of an arm.
static inline void flo_forcing_velocity_at(const double velocity[6], const double arm[3], double out[3]) {
  vec_cross(velocity + 3, arm, out);
  vec_add(out, velocity, out);
}
// S of the response: what a particle takes over of a velocity of its body.
static inline void flo_forcing_take(const FloForcingContact *c, const double velocity[3], double out[3]) {
  double along = vec_dot(velocity, c->normal), share = (c->is_pressed ? 1 : 0) - c->grip;
  vec_scale(velocity, c->grip, out);
  vec_add_scaled(out, c->normal, share * along, out);
}
// Gives fluid and bodies the velocities that contacts ask for.
void flo_forcing_respond(FloWorld *world, FloDirectForcing *forcing);
// Solves the symmetric, positive definite system a x = b of n <= 6 unknowns, rows of six, by Cholesky; false
// if it is not positive definite.
bool flo_forcing_solve(const double a[36], int n, const double b[6], double x[6]);

// ---- Baseline ----

// Adds the repulsion by solid samples (Monaghan 2005) to the forces on fluid, and the opposite to bodies.
void flo_forcing_add_penalty(FloWorld *world, FloDirectForcing *forcing);
// The opposite on the samples of walls.
void flo_forcing_penalty_on_walls(FloWorld *world, const FloDirectForcing *forcing);

#endif
