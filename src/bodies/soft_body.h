// What cloth and elastic bodies share: vertices that are nodes, a step by soft/soft.h, a surface of triangles
// (in the plane: segments) that carries the samples, and pins.
//
// Between `kick` and `move` pushes are collected. Solvers see the body through `respond`: how all its nodes
// follow when some are pushed. `move` then finds the motion with all pushes together.
#ifndef FLO_BODIES_SOFT_BODY_H
#define FLO_BODIES_SOFT_BODY_H

#include "bodies/body.h"
#include "geometry/mesh_sampler.h"
#include "geometry/moving_tree.h"
#include "soft/soft.h"

#define FLO_TO_WORLD UINT32_MAX

// A vertex that is fixed to the world or to another body.
typedef struct FloSoftPin {
  uint32_t vertex;
  uint32_t other;    // index of a body, or FLO_TO_WORLD
  uint32_t group;    // number of the definition that it came from
  bool is_glued;     // forces move the other body, so the vertex and that body pull each other
  double anchor[3];  // in the frame of that body, or in the world [m]
  double release;    // [s]
  double break_load; // [N]; INFINITY: never
  double load[3];    // force on the vertex in the last step [N]
} FloSoftPin;

// The nodes that hold a vertex of the surface, and their shares, which add up to one. The vertices of a cloth
// are its nodes; the surface of a solid lies inside its elements.
enum { FLO_MAX_HOLDS = 4 };
typedef struct FloSoftHold {
  int count;
  uint32_t nodes[FLO_MAX_HOLDS];
  double shares[FLO_MAX_HOLDS];
} FloSoftHold;

enum {
  FLO_SOFT_PUSHES,
  FLO_SOFT_LOADS,
  FLO_SOFT_ROOM,
  FLO_SOFT_MARKED,
  FLO_SOFT_NODES,
  FLO_SOFT_PINS,
  FLO_SOFT_PINS_ON,
  FLO_SOFT_FLAGS,
  FLO_SOFT_BORDER,
  FLO_SOFT_HOLDS,
  FLO_SOFT_NORMALS,
  FLO_SOFT_SHOWN_HOLDS,
  FLO_SOFT_REST,
  FLO_SOFT_ON_SURFACE,
  FLO_SOFT_DENSITIES,
  FLO_SOFT_START,
  FLO_SOFT_FANS,
  FLO_SOFT_WANTED,
  FLO_N_SOFT_BUFFERS
};

typedef struct FloSoftBody {
  FloSoft *soft;
  size_t n, n_numbers; // vertices, and their coordinates
  double *x, *v;       // those of `soft`, for saving
  double *pushes;      // impulses since `kick`
  double *loads;       // forces by the host in the next step; saved
  double *room;        // three numbers a vertex
  double *marked;      // for each mark: positions, velocities, and reactions of nodes
  FloNode *nodes;
  double mass; // of all vertices [kg]
  double dt;   // of the last step [s]
  int threads;
  bool has_failed;    // a step could not be found
  bool is_unbalanced; // the last move ended before its forces balanced
  bool is_struck;     // nodes were struck since their samples were placed
  FloError trouble;
  FloSoftPin *pins;
  size_t n_pins;
  double *pins_on; // 1, or 0 when a pin has been released or has broken; saved
  // The surface that fluid sees, where it is now. In the plane its triangles are segments: their second and
  // third corners are the same.
  FloMesh surface;
  FloSoftHold *holds; // of each vertex of the surface; NULL: they are the nodes
  FloMesh shown;      // the surface of a solid for pictures, where it is now; of a cloth it is `surface`
  FloSoftHold *shown_holds;     // of its vertices
  int n_corners;                // of its triangles; 2: they are segments
  const uint32_t *first_of_fan; // of each vertex of the surface, and one more: where its triangles begin
  const uint32_t *fans;         // triangles of all vertices
  double *normals;              // of its vertices now; then those at the start of the step
  const bool *is_border;        // per vertex: on an edge of one element only
  const bool *is_on_surface;    // per node; NULL: all are
  FloMesh faces;         // of a solid: the faces of its elements that look outwards; their corners are nodes
  FloMovingTree tree;    // of flo_soft_body_faces, where they are now
  const double *start;   // positions of nodes when the body was made
  double half_thickness; // distance of the true surface from these nodes [m]
  bool is_stretched;     // at the start, so the body is never as its shape says
  bool has_moved;        // the body is not as its shape says any more
  double offset;         // the surface of the body lies this far outside its samples [m]
  FloMeshSampler *sampler;
  FloResampling rule;    // of the sampler
  bool has_dry_samples;  // also far from fluid
  double density_factor; // number density of samples times H^dim, per one over their volume [m^dim]
  FloBuffer buffers[FLO_N_SOFT_BUFFERS];
} FloSoftBody;

static inline FloSoftBody *flo_soft_body(const FloBody *body) { return body->own; }

// Fields of FloSoftBody that are saved.
#define FLO_SOFT_FIELDS                                                                                      \
  FLO_STATE_ARRAY(FloSoftBody, x, n_numbers), FLO_STATE_ARRAY(FloSoftBody, v, n_numbers),                    \
      FLO_STATE_ARRAY(FloSoftBody, pins_on, n_pins), FLO_STATE_ARRAY(FloSoftBody, loads, n_numbers),         \
      FLO_STATE_ENTRIES(FloSoftBody, pins, FloSoftPin, anchor, n_pins),                                      \
      FLO_STATE_ENTRIES(FloSoftBody, nodes, FloNode, reaction, n),                                           \
      FLO_STATE_ENTRIES(FloSoftBody, pins, FloSoftPin, load, n_pins)

// ---- Making ----

// Makes nodes and everything else after `soft` is finished. The vertices of the definition's shape have been
// placed by its pose already.
FloStatus flo_soft_body_make(FloBody *body, const FloBodyDef *def, const FloBodyMaking *making,
                             FloError *error);
void flo_soft_body_discard(FloBody *body, FloMemory *memory);
// Finds the vertices of the definition's pins (soft_pins.c).
FloStatus flo_soft_body_make_pins(FloBody *body, const FloBodyDef *def, const FloBodyMaking *making,
                                  FloError *error);

// ---- Skin (soft_skin.c) ----

// Copies the surface at rest. Its vertices are the nodes, or are held by them.
FloStatus flo_soft_skin_make(FloBody *body, const FloMesh *surface, const FloSoftHold *holds,
                             const FloBodyMaking *making, FloError *error);
// Which rule its samples follow; before flo_soft_skin_make.
FloStatus flo_soft_skin_choose(FloBody *body, const FloBodyDef *def, const FloBodyMaking *making,
                               FloError *error);
// Copies the surface of a solid that pictures show.
FloStatus flo_soft_skin_show(FloBody *body, const FloMesh *shown, const FloSoftHold *holds,
                             const FloBodyMaking *making, FloError *error);
const double *flo_soft_skin_vertices(const FloBody *body, size_t *count);
const uint32_t *flo_soft_skin_triangles(const FloBody *body, size_t *count);
const double *flo_soft_skin_rest(const FloBody *body);
void flo_soft_skin_place(const FloBody *body, FloParticles *samples);
void flo_soft_skin_where(const FloBody *body, const FloParticles *samples, size_t i, double x[3]);
FloCarriers flo_soft_skin_carry(const FloBody *body, const FloParticles *samples, size_t i);
FloStatus flo_soft_skin_resample(FloBody *body, const FloParticles *samples, FloSkinEdit *edit,
                                 FloError *error);
// Finds where the vertices of the surface are now.
void flo_soft_skin_follow(FloBody *body);
// Finds its normals now; the last ones become those of the start of the step.
void flo_soft_skin_turn(FloBody *body);
// The same, after the nodes were moved once more in the same step.
void flo_soft_skin_face(FloBody *body);
// The true surface, where it is now, as a mesh whose vertices are the nodes.
const FloMesh *flo_soft_body_faces(const FloBody *body);
// As long as twice the area of a triangle, or as long as a segment.
void flo_soft_face_normal(const FloMesh *mesh, size_t face, double normal[3]);

// The tangent plane at a sample: a point, its velocity, and a unit normal; zeros where the surface has none.
typedef struct FloSoftPlane {
  double x[3], v[3], normal[3];
} FloSoftPlane;
// Now, and at the start of the step, which took dt.
void flo_soft_skin_planes(const FloBody *body, const FloParticles *samples, size_t i, double dt,
                          FloSoftPlane *now, FloSoftPlane *before);
// The same at the points that are nearest to the way of a particle, if they are known; else they stay.
void flo_soft_skin_refine(const FloBody *body, const FloParticles *samples, size_t i, const FloPath *path,
                          FloSoftPlane *now, FloSoftPlane *before);

// Makes the lists of triangles around vertices (soft_fan.c).
FloStatus flo_soft_fan_make(FloSoftBody *own, FloMemory *memory, FloError *error);
// The plane at the point of the surface nearest to x, without its velocity: for the nodes at given positions,
// and of all triangles around the vertices of `centre`. False at borders and beyond these triangles.
bool flo_soft_fan_side(const FloBody *body, const FloMeshCarriers *centre, const double *nodes,
                       const double x[3], FloSoftPlane *plane);

// ---- Distances (soft_distance.c) ----

// Makes the tree of faces; after the body was placed.
FloStatus flo_soft_distance_make(FloBody *body, FloMemory *memory, FloError *error);
// After the surface was moved.
void flo_soft_distance_refit(FloBody *body);
double flo_soft_skin_distance(const FloBody *body, const FloDomain *domain, const double x[3]);
void flo_soft_skin_normal(const FloBody *body, const FloDomain *domain, const double x[3], double normal[3]);

// ---- Pins (soft_pins.c) ----

// Releases pins whose time has come, and fixes the vertices of the others.
void flo_soft_body_begin_pins(FloBody *body, double time);
// Gives the vertex of a pin the velocity that leads it to `target` within dt.
void flo_soft_body_lead_pin(FloBody *body, size_t pin, const double target[3], double dt);
// After a move: notes the loads of pins.
void flo_soft_body_end_pins(FloBody *body, double dt);
// Notes the load of a glued pin.
void flo_soft_body_load_pin(FloBody *body, size_t pin, const double load[3]);
// At the end of a step, when loads are final: pins that bear too much break.
void flo_soft_body_break_pins(FloBody *body);
// Whether a pin holds the vertex to this body, which forces move. Then it does not touch that body.
bool flo_soft_is_glued_to(const FloSoftBody *own, size_t vertex, uint32_t other);
// Releases the pins of a group of the definition; FLO_ALL_PINS: all.
#define FLO_ALL_PINS UINT32_MAX
void flo_soft_body_unpin(FloBody *body, uint32_t group);

// An impulse after the move: it changes the velocities of the nodes of a grip at once, each by its own mass.
// The state of the body and its samples keep the old velocities until flo_soft_body_correct, and until
// samples are placed.
void flo_soft_body_strike(const FloGrip *grip, const double impulse[3]);
// Moves a node after the move. flo_soft_body_correct must follow.
void flo_soft_body_shift(FloBody *body, size_t node, const double way[3]);

// After a move: moves once more with the pushes since then, from where the nodes were before that move.
void flo_soft_body_move_again(FloBody *body, const double *from, double dt);
// After nodes were moved or struck once more after a move: takes over the present `x` and `v`.
void flo_soft_body_correct(FloBody *body);

// ---- What a host does between steps (soft_host.c) ----

// Forces, three numbers for each node, act for dt: they change velocities at once. Fixed nodes do not move.
void flo_soft_body_impel(FloBody *body, const double *forces, double dt);
// Spreads a force over all nodes by their masses, or gives it to the one nearest to `point`, if that is not
// NULL. Adds to `forces`.
void flo_soft_body_spread(const FloBody *body, const FloDomain *domain, const double force[3],
                          const double *point, double *forces);
// Velocities as if the body were stiff.
void flo_soft_body_fling(FloBody *body, const double velocity[3], const double spin[3]);
// Moves and turns it as it is, so that its state has this pose.
void flo_soft_body_put(FloBody *body, const FloPose *pose);
// Switches the pins of a group of the definition off or on. False: there are no such pins that have not been
// released for ever.
bool flo_soft_body_switch_pins(FloBody *body, size_t group, bool holds);
bool flo_soft_body_move_pins(FloBody *body, size_t group, const double way[3]);
// Releases the pins to a body for ever.
void flo_soft_body_leave(FloBody *body, uint32_t other);

// ---- Functions of the kinds ----

void flo_soft_body_begin(FloBody *body, double time);
void flo_soft_body_kick(FloBody *body, const double gravity[3], const double *wrenches, double dt);
void flo_soft_body_push(FloBody *body, size_t node, const double impulse[3], const double turn[3]);
void flo_soft_body_respond(const FloBody *body, const double *impulses, double *changes);
void flo_soft_body_settle(FloBody *body, const double *impulses);
void flo_soft_body_move(FloBody *body, double dt);
void flo_soft_body_mark(FloBody *body, FloMark mark);
const double *flo_soft_body_marked(const FloBody *body, FloMark mark); // positions of nodes
void flo_soft_body_rewind(FloBody *body, FloMark mark);
void flo_soft_body_refresh(FloBody *body);
void flo_soft_body_state(const FloBody *body, FloSoftState *state);
void flo_soft_body_measure(const FloBody *body, const double gravity[3], FloBodyMeasure *out);

#define FLO_SOFT_FUNCTIONS                                                                                   \
  .set = FLO_SET_RIGID, .begin = flo_soft_body_begin, .kick = flo_soft_body_kick,                            \
  .push = flo_soft_body_push, .respond = flo_soft_body_respond, .settle = flo_soft_body_settle,              \
  .move = flo_soft_body_move, .mark = flo_soft_body_mark, .rewind = flo_soft_body_rewind,                    \
  .refresh = flo_soft_body_refresh, .measure = flo_soft_body_measure, .place = flo_soft_skin_place,          \
  .where = flo_soft_skin_where, .carry = flo_soft_skin_carry, .resample = flo_soft_skin_resample,            \
  .distance = flo_soft_skin_distance, .normal = flo_soft_skin_normal, .vertices = flo_soft_skin_vertices,    \
  .triangles = flo_soft_skin_triangles, .rest = flo_soft_skin_rest, .soft_state = flo_soft_body_state

#endif
