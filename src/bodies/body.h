// A body of any kind, and the table of functions that makes a kind.
//
// Methods use a body only through this table and through its nodes (solve/node.h). A new kind of body is a
// new table; no method needs to know it. `bodies/wall.c` (static and kinematic bodies) and
// `bodies/rigid_body.c` are examples.
#ifndef FLO_BODIES_BODY_H
#define FLO_BODIES_BODY_H

#include "base/domain.h"
#include "base/saved.h"
#include "geometry/solid.h"
#include "solve/node.h"
#include "sph/particles.h"

typedef struct FloBody FloBody;
typedef struct FloSkinEdit FloSkinEdit; // see bodies/skin.h

// The nodes that carry a sample, and their shares of its motion and forces. The shares add up to one.
enum { FLO_MAX_CARRIERS = 12 };
typedef struct FloCarriers {
  int count;
  uint32_t nodes[FLO_MAX_CARRIERS]; // index of the node in its body
  double shares[FLO_MAX_CARRIERS];
} FloCarriers;

// Input for making a body, besides its definition.
typedef struct FloBodyMaking {
  int dim;
  double time;
  double density;        // of the definition or of its material [kg/m³]
  double spacing;        // of the fluid [m]
  double sheet_volume;   // that a sample in the middle of an even sheet stands for [m^dim]
  const FloBody *bodies; // that exist already
  size_t n_bodies;
  int threads;
  FloMemory *memory;
} FloBodyMaking;

// A surface near a point.
typedef struct FloSurfaceHit {
  uint32_t body;
  double distance;  // to the surface, negative inside [m]
  double normal[3]; // out of the body
} FloSurfaceHit;

// The path of a particle within a step.
typedef struct FloPath {
  double start[3], end[3];
} FloPath;

// The part of a body in the measurements of a world.
typedef struct FloBodyMeasure {
  double kinetic_energy, potential_energy; // [J]
  double momentum[3], angular_momentum[3]; // about the origin
} FloBodyMeasure;

// How a body that follows motions moves in the present step, from its pose at the start to that at the end.
typedef struct FloLead {
  double velocity[3]; // of its position: way over time [m/s]
  double spin[3];     // angle over time [rad/s]
  double turn[4];     // the rotation from the start to the end
  double per_dt;      // one over the length of the step; 0: it does not turn [1/s]
} FloLead;

// Moments to which a body can return.
typedef enum FloMark {
  FLO_MARK_STEP, // the start of the step
  FLO_MARK_MOVE, // just before a move that a method tries
  FLO_N_MARKS
} FloMark;

typedef struct FloKind {
  const char *name;
  FloSet set;                  // the set of its samples
  bool has_contacts;           // touches other bodies: only a method that solves contacts can move it
  size_t size;                 // bytes of `own`, the data of the kind; set to zero before `make`
  const FloStateField *fields; // saved fields of `own`; or NULL
  // Makes `own`, nodes and state from a definition that has passed the checks common to all kinds.
  FloStatus (*make)(FloBody *, const FloBodyDef *, const FloBodyMaking *, FloError *);
  void (*discard)(FloBody *, FloMemory *); // frees what `make` allocated; also after `make` failed half way

  // ---- Motion. A kind that never moves leaves these NULL; one that forces do not move has no nodes ----
  void (*begin)(FloBody *, double time);  // before a step: finds whether it is held then
  void (*follow)(FloBody *, double time); // moves to its prescribed pose at that time
  // Changes velocities for dt by gravity, by its internal forces, and by `wrenches` (force and torque for
  // each node, or NULL).
  void (*kick)(FloBody *, const double gravity[3], const double *wrenches, double dt);
  // Gives a node an impulse [N s] and an angular impulse about its position [N m s].
  void (*push)(FloBody *, size_t node, const double impulse[3], const double turn[3]);
  // How impulses on its nodes (three numbers each) change their velocities in the present step, with what its
  // internal forces do about it. Linear and symmetric, and valid from `kick` to `move`. NULL: each node moves
  // alone, by its inverse mass.
  void (*respond)(const FloBody *, const double *impulses, double *changes);
  // Gives its nodes impulses (three numbers each) that change velocities so much that `respond` does not hold
  // any more. Goes a way on which energy falls, and finds the response there. Its nodes get the velocities to
  // which this response leads without further impulses. Not NULL if there is `respond`.
  void (*settle)(FloBody *, const double *impulses);
  void (*move)(FloBody *, double dt); // by the present velocities
  // Sets the motion of a body of one node: joints move it. NULL: joints cannot hold it.
  void (*put)(FloBody *, const double position[3], const double rotation[4], const double velocity[3],
              const double angular_momentum[3]);
  // Stores the whole state of motion under a mark, so that `rewind` can restore it.
  void (*mark)(FloBody *, FloMark mark);
  void (*rewind)(FloBody *, FloMark mark);
  void (*refresh)(FloBody *); // after a state was restored: computes everything that follows from it
  // Upper bound of the speed of any point within reach, at any time, by its motions.
  double (*top_speed)(const FloBody *, double reach);

  // ---- Skin ----
  void (*place)(const FloBody *, FloParticles *samples); // positions and velocities of all its samples
  // The present place of sample i, even if it has not been placed there yet.
  void (*where)(const FloBody *, const FloParticles *samples, size_t i, double x[3]);
  // The nodes that carry a sample; NULL: only the first node.
  FloCarriers (*carry)(const FloBody *, const FloParticles *samples, size_t i);
  // Decides which samples it loses and gains before a step; NULL: it keeps its first samples.
  FloStatus (*resample)(FloBody *, const FloParticles *samples, FloSkinEdit *edit, FloError *);

  // ---- Surface ----
  double (*distance)(const FloBody *, const FloDomain *, const double x[3]); // negative inside
  void (*normal)(const FloBody *, const FloDomain *, const double x[3],
                 double out[3]); // unit length, or zero
  // Distance at the end of a path. If it is less than `reach`, also the hit, as seen from the start of the
  // path: a particle that passed through a thin shell counts as inside. True if there is a hit.
  bool (*probe)(const FloBody *, const FloDomain *, const FloPath *, double reach, double *distance,
                FloSurfaceHit *hit);
  // The velocity that keeps a particle at x with velocity v from entering the body within dt. False if none
  // is needed, or if the particle is already deeper inside than `deepest`.
  bool (*deflect)(const FloBody *, const FloDomain *, const double x[3], const double v[3], double dt,
                  double deepest, double push[3]);
  // Present vertices of its surface, three coordinates each; NULL: its shape in its pose.
  const double *(*vertices)(const FloBody *, size_t *count);
  // Its triangles, three vertices each; they never change. In the plane the second and third corners are the
  // same. Not NULL if there are vertices.
  const uint32_t *(*triangles)(const FloBody *, size_t *count);
  // The vertices at rest, in the frame of its shape. Not NULL if there are vertices.
  const double *(*rest)(const FloBody *);
  void (*soft_state)(const FloBody *, FloSoftState *); // NULL: it does not change its shape

  void (*measure)(const FloBody *, const double gravity[3], FloBodyMeasure *out); // NULL: it adds nothing
} FloKind;

struct FloBody {
  char name[64];
  const FloKind *kind;
  void *own;      // data of its kind; kind->size bytes
  FloNode *nodes; // the parts that forces move; in `own`, or allocated by its kind
  size_t n_nodes;
  size_t first_node;     // index of its first node among the nodes of all bodies
  bool is_pressed;       // contacts press on it in this step
  bool is_moving;        // it follows motions, or forces move it
  const FloSolid *solid; // shared by all bodies of the same shape
  FloPose start;         // pose at time zero, before motions
  FloBodyState state;    // present state; means are computed on request
  FloPose before;        // pose at the start of the step, if a method uses probes
  double way;            // upper bound of how far any point has moved since then [m]
  FloLead lead;          // if it follows motions; valid for one step
  double touched[6];     // force and torque on a wall by contacts that no sample of it takes
  double impulse[6];     // force and torque times time since averages were restarted
  bool averages_force;   // average forces, although forces do not move it
  double reach;          // upper bound of the distance of its points from its position [m]
  double sampling;       // distance of its samples in spacings
  size_t first, count;   // its samples in the set of its kind
  bool has_tips;         // some of its samples stand for a sharp edge or corner
  double friction;       // before any change; < 0: not given
  FloFrictionChange *friction_changes;
  size_t n_friction_changes;
  double slip;               // of fluid along it, 0 to 1
  double contact_angle;      // of fluids at it [degrees]; < 0: the fluid's
  double restitution;        // of bodies and fluid that meet it, 0 to 1
  double rolling_friction;   // [m]
  bool is_weighed_first;     // its samples are also weighed before they come and go, which depends on it
  bool is_sealed;            // no fluid gets between it and what it rests on
  bool is_thin;              // a sheet without volume: fluid may be on both its sides
  double release;            // it is held until then [s]
  bool is_squeezed, is_lost; // this was logged
  uint16_t generation;       // of its id
  uint32_t n_conversions;    // how often it became another kind
  FloBodyDef given;          // its definition, without what pointers show
  FloFilter filter;
  double load[6];     // force and torque by the host in the next step, about the centre of mass
  size_t n_displaced; // fluid particles that were where it was added
  void *user_data;
};

// The kinds that definitions can name.
extern const FloKind flo_removed_kind, flo_static_kind, flo_kinematic_kind, flo_rigid_kind, flo_cloth_kind,
    flo_elastic_kind;
const FloKind *flo_kind_of(FloBodyKind kind); // NULL: no such kind

// Its place among the bodies stays empty, so that other bodies keep their numbers.
static inline bool flo_body_is_removed(const FloBody *body) { return body->kind == &flo_removed_kind; }
// Its nodes move apart and answer together: it changes its shape.
static inline bool flo_body_is_soft(const FloBody *body) { return body->kind->respond != NULL; }
static inline bool flo_body_is_pushed(const FloBody *body) { return body->n_nodes > 0; }
static inline bool flo_body_filters_meet(const FloBody *a, const FloBody *b) {
  return (a->filter.category & b->filter.mask) && (b->filter.category & a->filter.mask);
}
// It moves, but forces do not move it.
static inline bool flo_body_is_led(const FloBody *body) { return body->is_moving && body->n_nodes == 0; }
// It is moving now.
static inline bool flo_body_has_speed(const FloBody *body) {
  return vec_length(body->state.velocity) > 0 || vec_length(body->state.angular_velocity) > 0;
}

// ---- The three operations of strong coupling, at a point that a sample's carriers move ----

// A node, its share, and the vector from the node to the point.
typedef struct FloGripPart {
  FloNode *node;
  size_t number; // index of the node in its body
  double share, arm[3];
} FloGripPart;

// A point of a body, with a part for each node that carries the sample there.
typedef struct FloGrip {
  FloBody *body;
  int count;
  FloGripPart parts[FLO_MAX_CARRIERS];
} FloGrip;

static inline FloCarriers flo_body_carriers(const FloBody *body, const FloParticles *samples, size_t i) {
  if (body->kind->carry) return body->kind->carry(body, samples, i);
  return (FloCarriers){.count = 1, .shares = {1}};
}

// The grip at x, near sample i of the body. Forces must be able to move the body.
FloGrip flo_body_grip(FloBody *body, const FloDomain *domain, const FloParticles *samples, size_t i,
                      const double x[3]);
void flo_grip_velocity(const FloGrip *grip, double out[3]);
// Velocity along a unit vector per impulse along it: the effective inverse mass.
double flo_grip_response(const FloGrip *grip, const double direction[3]);
void flo_grip_push(const FloGrip *grip, const double impulse[3]);

// Adds a force, and its torque about `centre`, to the force on a body in this step. The torque of a body is
// about its position, `origin`.
void flo_body_add_force(FloBody *body, const double force[3], const double torque[3], const double centre[3],
                        const double origin[3]);

// ---- Bodies that keep their shape: a solid in a pose ----

// A point in the frame of the body in a given pose, using the periodic image nearest to it. Along an axis on
// which the body has no ends, the coordinate is 0.
void flo_posed_local(const FloBody *body, const FloDomain *domain, const FloPose *pose, const double x[3],
                     double local[3]);
void flo_posed_place(const FloBody *body, FloParticles *samples);
void flo_posed_where(const FloBody *body, const FloParticles *samples, size_t i, double x[3]);
double flo_posed_distance(const FloBody *body, const FloDomain *domain, const double x[3]);
void flo_posed_normal(const FloBody *body, const FloDomain *domain, const double x[3], double normal[3]);
// Both, also with sharp edges of meshes.
double flo_posed_sharp_surface(const FloBody *body, const FloDomain *domain, const double x[3],
                               double normal[3]);
bool flo_posed_probe(const FloBody *body, const FloDomain *domain, const FloPath *path, double reach,
                     double *distance, FloSurfaceHit *hit);
bool flo_posed_deflect(const FloBody *body, const FloDomain *domain, const double x[3], const double v[3],
                       double dt, double deepest, double push[3]);
// The entries of a kind whose bodies keep their shape.
#define FLO_POSED_FUNCTIONS                                                                                  \
  .place = flo_posed_place, .where = flo_posed_where, .distance = flo_posed_distance,                        \
  .normal = flo_posed_normal, .probe = flo_posed_probe, .deflect = flo_posed_deflect

// Whether a point is in the inner space of a tank, or above it if the tank is open; false for other bodies.
bool flo_posed_is_in_tank(const FloBody *body, const double x[3]);
// In a step each point of a led body moves along a chord of its circle. The chord begins inwards of the
// tangent, by this much [m/s] for a point at the end of `arm`: spin x arm - chord. Zero if the body does not
// turn.
void flo_lead_chord(const FloLead *lead, const double arm[3], double out[3]);
// Upper bound of how far any point of the body moves between two poses [m].
double flo_posed_way(const FloBody *body, const FloPose *a, const FloPose *b);

#endif
