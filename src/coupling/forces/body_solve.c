#include "coupling/forces/body_solve.h"

#include "coupling/forces/carried.h"
#include "coupling/forces/pins.h"
#include "coupling/forces/soft_again.h"
#include "solve/gauss_seidel.h"
#include "solve/jacobi.h"

#include <string.h>

// Sweeps over contacts in each iteration. There are few contacts, and stacks need many sweeps.
enum { CONTACT_SWEEPS = 10 };

// What is kept of a contact: the force along the normal, that of friction [N], and the displacement since it
// stuck [m].
enum { KEPT_PUSH, KEPT_FRICTION, KEPT_ANCHOR = KEPT_FRICTION + 3 };

enum { NODES, POINTS, LAMBDA };

// A buffer that grows gets half as much again, so that memory is seldom allocated.
static FloStatus reserve(FloWorld *world, FloBodySolve *c, int which, size_t size, FloError *error) {
  FloBuffer *buffer = &c->buffers[which];
  return flo_buffer_reserve(&world->memory, buffer, size > buffer->capacity ? size + size / 2 : size, 0,
                            error);
}

typedef struct Meeting {
  const FloContactPoint *point;
  FloBody *body, *other;
  FloCarried own, theirs; // theirs: of a body that forces move
  double wall[3];         // velocity of a wall
} Meeting;

static Meeting meet(const FloWorld *world, size_t k) {
  const FloContactPoint *point = &flo_contact_points(&world->body_contacts)[k];
  Meeting m = {point,
               &flo_bodies(world)[point->body],
               &flo_bodies(world)[point->other],
               flo_contact_own_carried(world, point),
               {0},
               {0}};
  if (flo_body_is_pushed(m.other)) m.theirs = flo_contact_other_carried(world, point);
  if (flo_body_is_led(m.other)) flo_wall_velocity(world, m.other, point->x, &m.own, m.wall);
  return m;
}

static void add_velocity(const FloCarried *carried, const double *motion, double sign, double v[3]) {
  for (int k = 0; k < carried->count; ++k) {
    const double *node = motion + 6 * carried->nodes[k];
    double turn[3];
    vec_cross(node + 3, carried->arms[k], turn);
    vec_add_scaled(v, node, sign * carried->shares[k], v);
    vec_add_scaled(v, turn, sign * carried->shares[k], v);
  }
}

// Velocity of the body relative to the other one.
static void relative_velocity(const Meeting *m, const double *motion, double v[3]) {
  vec_scale(m->wall, -1, v);
  add_velocity(&m->own, motion, 1, v);
  add_velocity(&m->theirs, motion, -1, v);
}

// ---- Rows of contacts ----

static FloStatus add_blocks(FloRows *rows, const FloCarried *carried, const double normal[3], double sign,
                            bool is_slide, FloError *error) {
  for (int k = 0; k < carried->count; ++k) {
    double j[18];
    if (is_slide)
      flo_rows_slide(normal, carried->arms[k], sign * carried->shares[k], j);
    else
      flo_rows_point(normal, carried->arms[k], sign * carried->shares[k], j);
    FLO_TRY(flo_rows_add_block(rows, carried->nodes[k], j, error));
  }
  return FLO_OK;
}

static FloStatus add_row(FloRows *rows, const Meeting *m, const FloRowDef *def, FloError *error) {
  FLO_TRY(flo_rows_add(rows, def, error));
  FLO_TRY(add_blocks(rows, &m->own, m->point->normal, 1, def->width == 3, error));
  return add_blocks(rows, &m->theirs, m->point->normal, -1, def->width == 3, error);
}

// The least speed at which the bodies part.
static double least_speed(const FloWorld *world, const FloBodySolve *c, const Meeting *m,
                          const FloTouchingPoint *touching) {
  const double gap = m->point->gap + m->point->bend, s = world->def.spacing, *gravity = world->def.gravity;
  double least = gap >= 0 ? -gap / c->dt
                          : fmin(-FLO_OVERLAP_RATE * gap / c->dt, flo_body_parting_speed(gravity, s, -gap));
  double v[3], restitution = flo_body_restitution(m->body, m->other);
  relative_velocity(m, c->motion, v);
  const double closing = -vec_dot(v, m->point->normal);
  if (!(restitution > 0) || touching->approach <= flo_body_least_impact(gravity, s, c->dt)) return least;
  if (m->point->gap >= c->dt * closing) return least;
  const FloImpact impact = {.restitution = restitution,
                            .approach = touching->approach,
                            .pull = fmax((closing - touching->approach) / c->dt, 0),
                            .gap = m->point->gap};
  return fmax(least, flo_body_rebound(&impact, c->dt));
}

static FloStatus add_normal(FloWorld *world, FloBodySolve *c, const Meeting *m, FloTouchingPoint *touching,
                            FloError *error) {
  FloRowDef def = flo_default_row_def();
  def.wanted[0] = least_speed(world, c, m, touching) + vec_dot(m->wall, m->point->normal), def.low = 0;
  touching->row = (uint32_t)c->rows.n_rows;
  return add_row(&c->rows, m, &def, error);
}

// A contact that sticks also goes back to where it stuck.
static FloStatus add_friction(FloWorld *world, FloBodySolve *c, const Meeting *m, FloTouchingPoint *touching,
                              FloError *error) {
  FloRowDef def = flo_default_row_def();
  const double friction = m->point->is_deep ? 0 : flo_body_friction(m->body, m->other, world->time);
  touching->drag_row = FLO_NO_ROW;
  if (!(friction > 0)) return FLO_OK;
  def.width = 3, def.normal = touching->row, def.friction = friction;
  vec_add_scaled(m->wall, m->point->kept + KEPT_ANCHOR, -FLO_ANCHOR_RATE / c->dt, def.wanted);
  vec_add_scaled(def.wanted, m->point->normal, -vec_dot(def.wanted, m->point->normal), def.wanted);
  touching->drag_row = (uint32_t)c->rows.n_rows;
  return add_row(&c->rows, m, &def, error);
}

static FloStatus add_spins(FloRows *rows, const FloCarried *carried, double sign, FloError *error) {
  for (int k = 0; k < carried->count; ++k) {
    double j[18] = {0};
    for (int axis = 0; axis < 3; ++axis) j[6 * axis + 3 + axis] = sign * carried->shares[k];
    FLO_TRY(flo_rows_add_block(rows, carried->nodes[k], j, error));
  }
  return FLO_OK;
}

// Friction against rolling and spinning: a torque, at most the push times a length.
static FloStatus add_rolling(FloBodySolve *c, const Meeting *m, FloTouchingPoint *touching, FloError *error) {
  FloRowDef def = flo_default_row_def();
  const bool is_soft = m->point->hold.count > 0; // a node of a soft body does not roll
  const double length = m->point->is_deep || is_soft ? 0 : flo_body_rolling_friction(m->body, m->other);
  touching->roll_row = FLO_NO_ROW;
  if (!(length > 0)) return FLO_OK;
  def.width = 3, def.normal = touching->row, def.friction = length;
  if (flo_body_is_led(m->other)) vec_copy(m->other->state.angular_velocity, def.wanted);
  touching->roll_row = (uint32_t)c->rows.n_rows;
  FLO_TRY(flo_rows_add(&c->rows, &def, error));
  FLO_TRY(add_spins(&c->rows, &m->own, 1, error));
  return add_spins(&c->rows, &m->theirs, -1, error);
}

// A pin holds along all axes.
static FloStatus add_pin(const FloWorld *world, FloBodySolve *c, const Meeting *m, FloTouchingPoint *touching,
                         FloError *error) {
  FloRowDef def = flo_default_row_def();
  touching->row = touching->roll_row = FLO_NO_ROW;
  def.width = 3;
  flo_pin_drift(world, m->point, c->dt, def.wanted);
  vec_scale(def.wanted, -1, def.wanted);
  touching->drag_row = (uint32_t)c->rows.n_rows;
  return add_row(&c->rows, m, &def, error);
}

static FloStatus add_point(FloWorld *world, FloBodySolve *c, size_t k, FloError *error) {
  const Meeting m = meet(world, k);
  FloTouchingPoint *touching = &c->points[k];
  if (m.point->is_glued) return add_pin(world, c, &m, touching, error);
  FLO_TRY(add_normal(world, c, &m, touching, error));
  FLO_TRY(add_friction(world, c, &m, touching, error));
  return add_rolling(c, &m, touching, error);
}

static void apply_mobility(const void *context, size_t node, const double wrench[6], double out[6]) {
  flo_node_apply(flo_node_at(context, node), wrench, out);
}

// ---- Soft bodies ----

static bool is_soft_and_pushed(const FloBody *body) {
  return flo_body_is_soft(body) && flo_body_is_pushed(body) && body->n_nodes > 0;
}

// All nodes of a soft body follow when some of them are pushed.
static void follow_body(const FloBodySolve *c, const FloBody *body, double *changes) {
  double *impulses = c->room, *answer = c->room + 3 * body->n_nodes;
  for (size_t k = 0; k < body->n_nodes; ++k)
    vec_scale(changes + 6 * k, body->nodes[k].mass, impulses + 3 * k);
  body->kind->respond(body, impulses, answer);
  for (size_t k = 0; k < body->n_nodes; ++k) vec_copy(answer + 3 * k, changes + 6 * k);
}

static void follow(const void *follower, double *changes) {
  const FloBodySolve *c = follower;
  for (size_t k = 0; k < c->world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(c->world)[k];
    if (is_soft_and_pushed(body)) follow_body(c, body, changes + 6 * body->first_node);
  }
}

// The kick has given soft bodies the velocities with the impulses that the solution starts from.
static void take_start(const FloWorld *world, FloBodySolve *c) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    if (is_soft_and_pushed(body))
      memcpy(c->motion + 6 * body->first_node, c->start + 6 * body->first_node,
             6 * body->n_nodes * sizeof *c->motion);
  }
}

// ---- The start ----

// Starts from all of the last step's forces: contacts are solved in each iteration, so they do not ring.
static void start_lambda(const FloWorld *world, FloBodySolve *c) {
  const double share = c->is_warm ? c->dt : 0;
  for (size_t k = 0; k < world->body_contacts.points.count; ++k) {
    const double *kept = flo_contact_points(&world->body_contacts)[k].kept;
    const FloTouchingPoint *touching = &c->points[k];
    if (touching->row != FLO_NO_ROW)
      c->lambda[c->rows.rows[touching->row].component] = share * kept[KEPT_PUSH];
    if (touching->drag_row != FLO_NO_ROW)
      vec_scale(kept + KEPT_FRICTION, share, c->lambda + c->rows.rows[touching->drag_row].component);
  }
  if (c->rows.n_rows) flo_rows_gather(&c->rows, world->threads, c->motion, c->lambda, c->motion);
  if (c->is_expected) take_start(world, c);
}

static FloStatus make_rows(FloWorld *world, FloBodySolve *c, FloError *error) {
  const size_t n = world->body_contacts.points.count;
  if (!c->rows.memory) flo_rows_init(&c->rows, &world->memory);
  flo_rows_clear(&c->rows);
  c->rows.follow = c->has_soft ? follow : NULL, c->rows.follower = c;
  for (size_t k = 0; k < n; ++k) FLO_TRY(add_point(world, c, k, error));
  if (n)
    FLO_TRY(flo_rows_finish_with(&c->rows, apply_mobility, world, world->nodes.count, world->threads, error));
  const size_t size = c->rows.n_components + 1;
  FLO_TRY(reserve(world, c, LAMBDA, size * sizeof(double), error));
  c->lambda = c->buffers[LAMBDA].data;
  memset(c->lambda, 0, size * sizeof(double));
  start_lambda(world, c);
  return FLO_OK;
}

// ---- Before the iterations ----

static FloStatus reserve_nodes(FloWorld *world, FloBodySolve *c, FloError *error) {
  double **arrays[] = {&c->motion_before, &c->motion, &c->given, &c->expected,
                       &c->start,         &c->found,  &c->room};
  const size_t n = 6 * world->nodes.count + 1, size = n * FLO_COUNT_OF(arrays) * sizeof(double);
  FLO_TRY(reserve(world, c, NODES, size, error));
  memset(c->buffers[NODES].data, 0, size);
  for (size_t k = 0; k < FLO_COUNT_OF(arrays); ++k) *arrays[k] = (double *)c->buffers[NODES].data + k * n;
  return FLO_OK;
}

FloStatus flo_body_solve_meet(FloBodySolve *c, FloWorld *world, double dt, FloError *error) {
  c->dt = dt, c->world = world, c->is_expected = false;
  FLO_TRY(reserve_nodes(world, c, error));
  flo_world_read_motions(world, c->motion_before);
  FLO_TRY(flo_world_find_contacts(world, c->dt, error));
  const size_t n = world->body_contacts.points.count;
  c->has_soft = flo_world_has_soft_contacts(world);
  FLO_TRY(reserve(world, c, POINTS, (n + 1) * sizeof *c->points, error));
  c->points = c->buffers[POINTS].data;
  for (size_t k = 0; k < n; ++k) {
    const Meeting m = meet(world, k);
    double v[3];
    relative_velocity(&m, c->motion_before, v);
    c->points[k].approach = -vec_dot(v, m.point->normal);
  }
  return FLO_OK;
}

FloStatus flo_body_solve_start(FloBodySolve *c, FloWorld *world, bool is_warm, FloError *error) {
  c->is_warm = is_warm;
  flo_world_read_motions(world, c->motion);
  memcpy(c->start, c->motion, 6 * world->nodes.count * sizeof *c->start);
  FLO_TRY(make_rows(world, c, error));
  return flo_world_weigh_joints(world, c->dt, NULL, NULL, error);
}

void flo_body_solve_free(FloBodySolve *c, FloMemory *memory) {
  for (size_t k = 0; k < FLO_COUNT_OF(c->buffers); ++k) flo_buffer_free(memory, &c->buffers[k]);
  if (c->rows.memory) flo_rows_free(&c->rows);
}

// ---- In each iteration ----

// The part that joints gave is taken back and found anew. Returns the largest change of speed.
static double solve_joints(FloWorld *world, FloBodySolve *c) {
  FloJoints *joints = &world->joints;
  double largest = 0;
  for (size_t i = 0; i < 6 * joints->members.count; ++i) {
    const FloJointMember *member = &flo_joint_members(joints)[i / 6];
    const size_t at = 6 * flo_bodies(world)[member->body].first_node + i % 6;
    joints->trial[i] = member->is_free ? c->motion[at] - c->given[at] : 0;
  }
  flo_world_solve_joints(world, joints->trial);
  for (size_t k = 0; k < joints->members.count; ++k) {
    const FloJointMember *member = &flo_joint_members(joints)[k];
    const FloBody *body = &flo_bodies(world)[member->body];
    double *motion = c->motion + 6 * body->first_node, *given = c->given + 6 * body->first_node;
    double *trial = joints->trial + 6 * k;
    if (!member->is_free) continue;
    double change[6];
    for (int row = 0; row < 6; ++row) change[row] = trial[row] - motion[row], given[row] += change[row];
    largest = fmax(largest, flo_node_speed(body->nodes, change));
    memcpy(motion, trial, 6 * sizeof *motion);
  }
  return largest;
}

static double solve_contacts(FloWorld *world, FloBodySolve *c, double speed, int n_iterations) {
  const FloNncgLimits limits = {speed, CONTACT_SWEEPS * n_iterations, true};
  // The solver starts from velocities without the rows' own effect.
  for (size_t k = 0; k < c->rows.n_components; ++k) c->lambda[k] = -c->lambda[k];
  flo_rows_gather(&c->rows, world->threads, c->motion, c->lambda, c->motion);
  for (size_t k = 0; k < c->rows.n_components; ++k) c->lambda[k] = -c->lambda[k];
  return (c->has_soft ? flo_jacobi : flo_gauss_seidel)(&c->rows, world->threads, &limits, c->lambda,
                                                       c->motion)
      .residual;
}

// A motor that presses a body onto a floor needs many turns of the two, which cost little beside the fluid's.
enum { TURNS_AT_ONCE = 10 };

double flo_body_solve_sweep(FloBodySolve *c, FloWorld *world, double speed, int n_iterations) {
  const bool has_joints = flo_world_has_joints(world);
  double residual = 0;
  if (c->rows.n_rows == 0) {
    if (has_joints) solve_joints(world, c);
    return 0;
  }
  for (int k = 0; k < TURNS_AT_ONCE; ++k) {
    residual = solve_contacts(world, c, speed, n_iterations);
    if (has_joints) residual = fmax(residual, solve_joints(world, c));
    if (!has_joints || residual <= speed) break;
  }
  return residual;
}

// ---- After the iterations ----

static void add_impulse(const FloCarried *carried, const double impulse[3], double sign, double *impulses) {
  for (int k = 0; k < carried->count; ++k) {
    double part[3], turn[3], *wrench = impulses + 6 * carried->nodes[k];
    vec_scale(impulse, sign * carried->shares[k], part);
    vec_cross(carried->arms[k], part, turn);
    vec_add(wrench, part, wrench);
    vec_add(wrench + 3, turn, wrench + 3);
  }
}

static void add_torque(const FloCarried *carried, const double torque[3], double sign, double *impulses) {
  for (int k = 0; k < carried->count; ++k) {
    double *wrench = impulses + 6 * carried->nodes[k] + 3;
    vec_add_scaled(wrench, torque, sign * carried->shares[k], wrench);
  }
}

// A contact that sticks adds up the slip that remains. One that slides or has opened has no anchor.
static void keep_anchor(const FloBodySolve *c, const Meeting *m, const FloRow *row, double push,
                        double anchor[3]) {
  const double *drag = c->lambda + row->component, limit = row->def.friction * push;
  double v[3], slip[3];
  relative_velocity(m, c->motion, v);
  vec_add_scaled(v, m->point->normal, -vec_dot(v, m->point->normal), slip);
  if (push > 0 && vec_dot(drag, drag) < 0.999 * limit * limit)
    vec_add_scaled(anchor, slip, c->dt, anchor);
  else
    vec_set(anchor, 0, 0, 0);
}

static double push_of(const FloBodySolve *c, const FloTouchingPoint *touching) {
  return touching->row == FLO_NO_ROW ? 0 : c->lambda[c->rows.rows[touching->row].component];
}

static void keep_point(FloWorld *world, const FloBodySolve *c, const Meeting *m,
                       const FloTouchingPoint *touching, double kept[FLO_N_KEPT]) {
  memset(kept, 0, KEPT_ANCHOR * sizeof *kept);
  kept[KEPT_PUSH] = push_of(c, touching) / c->dt;
  world->contacts += kept[KEPT_PUSH] > 0;
  if (touching->drag_row == FLO_NO_ROW) {
    vec_set(kept + KEPT_ANCHOR, 0, 0, 0);
    return;
  }
  const FloRow *row = &c->rows.rows[touching->drag_row];
  vec_scale(c->lambda + row->component, 1 / c->dt, kept + KEPT_FRICTION);
  if (m->point->is_glued)
    flo_soft_body_load_pin(m->body, m->point->pin, kept + KEPT_FRICTION);
  else
    keep_anchor(c, m, row, c->dt * kept[KEPT_PUSH], kept + KEPT_ANCHOR);
}

static void add_rolling_torque(const FloBodySolve *c, const Meeting *m, const FloTouchingPoint *touching,
                               double *impulses) {
  if (touching->roll_row == FLO_NO_ROW) return;
  const double *torque = c->lambda + c->rows.rows[touching->roll_row].component;
  add_torque(&m->own, torque, 1, impulses);
  add_torque(&m->theirs, torque, -1, impulses);
}

static void add_point_impulse(const FloBodySolve *c, const Meeting *m, const FloTouchingPoint *touching,
                              double impulse[3], double *impulses) {
  vec_scale(m->point->normal, push_of(c, touching), impulse);
  if (touching->drag_row != FLO_NO_ROW)
    vec_add(impulse, c->lambda + c->rows.rows[touching->drag_row].component, impulse);
  add_rolling_torque(c, m, touching, impulses);
  add_impulse(&m->own, impulse, 1, impulses);
  add_impulse(&m->theirs, impulse, -1, impulses);
}

void flo_body_solve_take(const FloBodySolve *c, FloWorld *world, double *impulses) {
  world->contacts = 0;
  for (size_t k = 0; k < world->body_contacts.points.count; ++k) {
    const Meeting m = meet(world, k);
    FloContactPoint *point = &flo_contact_points(&world->body_contacts)[k];
    keep_point(world, c, &m, &c->points[k], point->kept);
    add_point_impulse(c, &m, &c->points[k], point->push, impulses);
  }
}

void flo_body_solve_push(const FloBodySolve *c, FloWorld *world, size_t node, const double impulse[6]) {
  double push[3];
  vec_add_scaled(impulse, c->expected + 6 * node, -c->dt, push);
  flo_node_push(world, node, push, impulse + 3);
}

// ---- Soft bodies, before and after ----

// The force of the last step's contact on the nodes of soft bodies.
static void expect_point(FloBodySolve *c, const Meeting *m) {
  double force[3];
  vec_scale(m->point->normal, m->point->is_glued ? 0 : m->point->kept[KEPT_PUSH], force);
  vec_add(force, m->point->kept + KEPT_FRICTION, force);
  if (is_soft_and_pushed(m->body)) add_impulse(&m->own, force, 1, c->expected);
  if (is_soft_and_pushed(m->other)) add_impulse(&m->theirs, force, -1, c->expected);
}

void flo_body_solve_expect(FloBodySolve *c, FloWorld *world, bool is_warm, double *wrenches) {
  c->is_expected = true;
  for (size_t k = 0; is_warm && k < world->body_contacts.points.count; ++k) {
    const Meeting m = meet(world, k);
    expect_point(c, &m);
  }
  for (size_t k = 0; k < 6 * world->nodes.count; ++k) wrenches[k] += c->expected[k];
}

// All forces on nodes [N].
static void find_forces(FloBodySolve *c, const FloWorld *world, const double *others) {
  const size_t n = 6 * world->nodes.count;
  memcpy(c->found, others, n * sizeof *c->found);
  for (size_t k = 0; k < world->body_contacts.points.count; ++k) {
    const Meeting m = meet(world, k);
    double impulse[3];
    add_point_impulse(c, &m, &c->points[k], impulse, c->found);
  }
  for (size_t k = 0; k < n; ++k) c->found[k] /= c->dt;
}

// Soft bodies as they respond to these forces now.
static void move_soft(FloBodySolve *c, const FloWorld *world) {
  for (size_t n = 0; n < world->bodies.count; ++n) {
    const FloBody *body = &flo_bodies(world)[n];
    if (!is_soft_and_pushed(body)) continue;
    double *impulses = c->room, *answer = c->room + 3 * body->n_nodes;
    for (size_t k = 0; k < body->n_nodes; ++k) {
      const size_t at = 6 * (body->first_node + k);
      vec_sub(c->found + at, c->expected + at, impulses + 3 * k);
      vec_scale(impulses + 3 * k, c->dt, impulses + 3 * k);
    }
    body->kind->respond(body, impulses, answer);
    for (size_t k = 0; k < body->n_nodes; ++k) {
      const size_t at = 6 * (body->first_node + k);
      vec_add(c->start + at, answer + 3 * k, c->motion + at);
    }
  }
}

void flo_body_solve_settle(FloBodySolve *c, FloWorld *world, const double *others, double speed,
                           int n_iterations) {
  const FloSoftAgain again = {.dt = c->dt,
                              .stride = 6,
                              .found = c->found,
                              .velocity = c->motion,
                              .taken = c->expected,
                              .start = c->start,
                              .impulses = c->room};
  bool is_open = c->has_soft;
  for (int round = 1; is_open; ++round) {
    find_forces(c, world, others);
    move_soft(c, world);
    flo_body_solve_sweep(c, world, speed, n_iterations);
    find_forces(c, world, others);
    is_open = flo_soft_again(world, &again, round);
  }
}

// ---- Walls ----

void flo_body_solve_add_to_walls(const FloBodySolve *c, const FloWorld *world, float *force) {
  for (size_t k = 0; k < world->body_contacts.points.count; ++k) {
    const FloContactPoint *point = &flo_contact_points(&world->body_contacts)[k];
    if (flo_body_is_pushed(&flo_bodies(world)[point->other])) continue;
    const double push = push_of(c, &c->points[k]);
    double sums[3];
    for (size_t axis = 0; axis < 3; ++axis) {
      sums[axis] = push * point->normal[axis];
      if (c->points[k].drag_row != FLO_NO_ROW)
        sums[axis] += c->lambda[c->rows.rows[c->points[k].drag_row].component + axis];
      sums[axis] /= -c->dt;
    }
    flo_contact_push_wall(world, point, sums, force);
  }
}
