// Rigid bodies: forces move them without changing their shape. One node carries all samples of a body.
#include "base/pose.h"
#include "bodies/body.h"
#include "bodies/motion.h"
#include "bodies/rigid.h"

typedef struct RigidBody {
  FloRigid rigid; // first, so that `fields` may name its members
  struct {
    FloRigid rigid;
    FloPose pose;
  } marked[FLO_N_MARKS];
} RigidBody;

static const FloStateField fields[] = {
    FLO_STATE_FIELD(FloRigid, node.position), FLO_STATE_FIELD(FloRigid, node.velocity),
    FLO_STATE_FIELD(FloRigid, node.reaction), FLO_STATE_FIELD(FloRigid, angular_momentum),
    FLO_STATE_FLAG(FloRigid, node.is_held),   {0}};

static FloRigid *rigid_of(const FloBody *body) { return &((RigidBody *)body->own)->rigid; }

static bool is_held_at(const FloBody *body, double time) { return time < fmax(body->release, 0); }

// Computes everything that follows from momenta and rotation.
static void rigid_refresh(FloBody *body) { flo_rigid_refresh(rigid_of(body), body->state.pose.rotation); }

static void update_state(FloBody *body) {
  rigid_refresh(body);
  flo_rigid_state(rigid_of(body), body->state.pose.rotation, &body->state);
}

// ---- Creation ----

static void lock_axes(FloRigid *rigid, const FloBodyDef *def) {
  FloNode *node = &rigid->node;
  for (int axis = 0; axis < 3; ++axis) {
    node->locks[axis] |= def->locks[axis], node->locks[axis + 3] |= def->turn_locks[axis];
    node->velocity[axis] = node->locks[axis] ? 0 : def->velocity[axis];
  }
}

static bool has_own_inertia(const FloBodyDef *def) {
  bool has_any = false;
  for (int k = 0; k < 6; ++k) has_any |= def->inertia[k] != 0;
  return has_any;
}

// Whether there is a body with this inertia: the second moments of its mass, half of the trace minus the
// inertia, are those of some mass (no negative main minor). So no moment is larger than the sum of the two
// others.
static bool is_inertia(const double i[6]) {
  const double half = (i[0] + i[1] + i[2]) / 2, room = 1e-6 * half;
  const double x = half - i[0] + room, y = half - i[1] + room, z = half - i[2] + room;
  bool has_parts = x * y >= i[3] * i[3] && y * z >= i[4] * i[4] && z * x >= i[5] * i[5];
  double whole = x * y * z - x * i[4] * i[4] - y * i[5] * i[5] - z * i[3] * i[3] - 2 * i[3] * i[4] * i[5];
  return i[0] > 0 && i[1] > 0 && i[2] > 0 && x >= 0 && y >= 0 && z >= 0 && has_parts &&
         whole >= -room * half * half;
}

static FloStatus check_mass(const FloBodyDef *def, int dim, FloError *error) {
  const double *i = def->inertia;
  bool has_centre = def->centre[0] != 0 || def->centre[1] != 0 || def->centre[2] != 0;
  if (!has_own_inertia(def) && has_centre)
    return flo_fail(
        error, FLO_BAD_INPUT,
        "centre: a centre of mass needs a mass and an inertia about it; give both, or leave it out");
  if (!has_own_inertia(def)) return FLO_OK;
  if (!(def->mass > 0) || !vec_is_finite(def->centre))
    return flo_fail(error, FLO_BAD_INPUT,
                    "inertia: needs a mass > 0 and a finite centre of mass, got %g kg; give both", def->mass);
  if (dim == 2 ? i[2] > 0 && isfinite(i[2]) : is_inertia(i)) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "inertia: no body has (%g, %g, %g) with products (%g, %g, %g): each moment must be above 0 "
                  "and at most the sum of the two others, about all axes",
                  i[0], i[1], i[2], i[3], i[4], i[5]);
}

// The mass of the definition in place of that of the shape.
static void set_mass(const FloBodyDef *def, FloMassProperties *mass) {
  if (!(def->mass > 0)) return;
  for (int k = 0; k < 6; ++k)
    mass->inertia[k] = has_own_inertia(def) ? def->inertia[k] : mass->inertia[k] * def->mass / mass->mass;
  if (has_own_inertia(def)) vec_copy(def->centre, mass->centre);
  mass->mass = def->mass;
}

static FloStatus rigid_make(FloBody *body, const FloBodyDef *def, const FloBodyMaking *making,
                            FloError *error) {
  FloMassProperties mass;
  FloRigid *rigid = rigid_of(body);
  double density = making->density > 0 || !(def->mass > 0) ? making->density : 1;
  if (!(density > 0) || !isfinite(density) || !(def->mass >= 0) || !isfinite(def->mass))
    return flo_fail(error, FLO_BAD_INPUT,
                    "density: a dynamic body needs one > 0, or a mass > 0, got %g kg/m³ and %g kg",
                    making->density, def->mass);
  FLO_TRY(flo_motion_check_start(def, making->dim, error));
  FLO_TRY(check_mass(def, making->dim, error));
  FLO_TRY(flo_solid_mass(body->solid, density, def->thickness, &mass, error));
  set_mass(def, &mass);
  FLO_TRY(flo_rigid_init(rigid, &mass, &def->pose, making->dim, error));
  body->state.pose = def->pose;
  body->nodes = &rigid->node, body->n_nodes = 1, body->is_moving = true;
  lock_axes(rigid, def);
  rigid->node.is_held = is_held_at(body, making->time);
  rigid_refresh(body);
  flo_rigid_spin(rigid, def->pose.rotation, def->angular_velocity);
  update_state(body);
  return FLO_OK;
}

// ---- Motion ----

static void rigid_begin(FloBody *body, double time) {
  FloRigid *rigid = rigid_of(body);
  if (rigid->node.is_held == is_held_at(body, time)) return;
  rigid->node.is_held = !rigid->node.is_held;
  update_state(body);
}

// The gyroscopic term needs no force: it is contained in the angular momentum.
static void rigid_kick(FloBody *body, const double gravity[3], const double *wrench, double dt) {
  FloRigid *rigid = rigid_of(body);
  double impulse[3], turn[3] = {0};
  vec_scale(gravity, rigid->node.mass, impulse);
  if (wrench) {
    vec_add(impulse, wrench, impulse);
    vec_scale(wrench + 3, dt, turn);
  }
  vec_scale(impulse, dt, impulse);
  flo_rigid_push(rigid, impulse, turn);
}

static void rigid_push(FloBody *body, size_t node, const double impulse[3], const double turn[3]) {
  (void)node; // there is only one
  flo_rigid_push(rigid_of(body), impulse, turn);
  flo_rigid_state(rigid_of(body), body->state.pose.rotation, &body->state);
}

static void rigid_move(FloBody *body, double dt) {
  flo_rigid_move(rigid_of(body), body->state.pose.rotation, dt);
  update_state(body);
}

static void rigid_put(FloBody *body, const double position[3], const double rotation[4],
                      const double velocity[3], const double angular_momentum[3]) {
  FloRigid *rigid = rigid_of(body);
  vec_copy(position, rigid->node.position);
  vec_copy(velocity, rigid->node.velocity);
  vec_copy(angular_momentum, rigid->angular_momentum);
  quat_copy(rotation, body->state.pose.rotation);
  update_state(body);
}

static void rigid_mark(FloBody *body, FloMark mark) {
  RigidBody *own = body->own;
  own->marked[mark].rigid = own->rigid, own->marked[mark].pose = body->state.pose;
}

static void rigid_rewind(FloBody *body, FloMark mark) {
  RigidBody *own = body->own;
  own->rigid = own->marked[mark].rigid, body->state.pose = own->marked[mark].pose;
  flo_rigid_state(&own->rigid, body->state.pose.rotation, &body->state);
}

// ---- Measurements ----

static void rigid_measure(const FloBody *body, const double gravity[3], FloBodyMeasure *out) {
  const FloRigid *rigid = rigid_of(body);
  const FloNode *node = &rigid->node;
  double orbit[3];
  if (node->is_held) return;
  vec_scale(node->velocity, node->mass, out->momentum);
  vec_cross(node->position, out->momentum, orbit);
  vec_add(orbit, rigid->angular_momentum, out->angular_momentum);
  out->kinetic_energy =
      (vec_dot(out->momentum, node->velocity) + vec_dot(rigid->angular_momentum, node->angular_velocity)) / 2;
  out->potential_energy = -node->mass * vec_dot(gravity, node->position);
}

const FloKind flo_rigid_kind = {.name = "rigid",
                                .set = FLO_SET_RIGID,
                                .has_contacts = true,
                                .size = sizeof(RigidBody),
                                .fields = fields,
                                .make = rigid_make,
                                .begin = rigid_begin,
                                .kick = rigid_kick,
                                .push = rigid_push,
                                .move = rigid_move,
                                .put = rigid_put,
                                .mark = rigid_mark,
                                .rewind = rigid_rewind,
                                .refresh = rigid_refresh,
                                FLO_POSED_FUNCTIONS,
                                .measure = rigid_measure};
