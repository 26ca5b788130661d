// Bodies in the same iterations: contacts with friction as rows over their nodes (solve/rows.h), joints by
// their exact solution (state/joints.h).
#include "coupling/constraint/constraint.h"
#include "solve/gauss_seidel.h"

#include <string.h>

// Sweeps over contacts in each iteration. There are few contacts, and stacks need many sweeps.
enum { CONTACT_SWEEPS = 10 };

// What is kept of a contact: the force along the normal, that of friction [N], and the displacement since it
// stuck [m].
enum { KEPT_PUSH, KEPT_FRICTION, KEPT_ANCHOR = KEPT_FRICTION + 3 };

// Share of the displacement since sticking that a contact takes back in a step.
#define ANCHOR_RATE 0.2

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
               flo_world_carried_at(world, point->body_sample, point->x),
               {0},
               {0}};
  if (flo_body_is_pushed(m.other)) m.theirs = flo_world_carried_at(world, point->other_sample, point->x);
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
static double least_speed(const FloWorld *world, const FloConstraint *c, const Meeting *m,
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

static FloStatus add_normal(FloWorld *world, FloConstraint *c, const Meeting *m, FloTouchingPoint *touching,
                            FloError *error) {
  FloRowDef def = flo_default_row_def();
  def.wanted[0] = least_speed(world, c, m, touching) + vec_dot(m->wall, m->point->normal), def.low = 0;
  touching->row = (uint32_t)c->rows.n_rows;
  return add_row(&c->rows, m, &def, error);
}

// A contact that sticks also goes back to where it stuck.
static FloStatus add_friction(FloWorld *world, FloConstraint *c, const Meeting *m, FloTouchingPoint *touching,
                              FloError *error) {
  FloRowDef def = flo_default_row_def();
  const double friction = m->point->is_deep ? 0 : flo_body_friction(m->body, m->other, world->time);
  touching->drag_row = FLO_NO_ROW;
  if (!(friction > 0)) return FLO_OK;
  def.width = 3, def.normal = touching->row, def.friction = friction;
  vec_add_scaled(m->wall, m->point->kept + KEPT_ANCHOR, -ANCHOR_RATE / c->dt, def.wanted);
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
static FloStatus add_rolling(FloConstraint *c, const Meeting *m, FloTouchingPoint *touching,
                             FloError *error) {
  FloRowDef def = flo_default_row_def();
  const double length = m->point->is_deep ? 0 : flo_body_rolling_friction(m->body, m->other);
  touching->roll_row = FLO_NO_ROW;
  if (!(length > 0)) return FLO_OK;
  def.width = 3, def.normal = touching->row, def.friction = length;
  if (flo_body_is_led(m->other)) vec_copy(m->other->state.angular_velocity, def.wanted);
  touching->roll_row = (uint32_t)c->rows.n_rows;
  FLO_TRY(flo_rows_add(&c->rows, &def, error));
  FLO_TRY(add_spins(&c->rows, &m->own, 1, error));
  return add_spins(&c->rows, &m->theirs, -1, error);
}

static FloStatus add_point(FloWorld *world, FloConstraint *c, size_t k, FloError *error) {
  const Meeting m = meet(world, k);
  FloTouchingPoint *touching = &c->points[k];
  FLO_TRY(add_normal(world, c, &m, touching, error));
  FLO_TRY(add_friction(world, c, &m, touching, error));
  return add_rolling(c, &m, touching, error);
}

static void apply_mobility(const void *context, size_t node, const double wrench[6], double out[6]) {
  flo_node_apply(flo_node_at(context, node), wrench, out);
}

// Starts from all of the last step's forces: contacts are solved in each iteration, so they do not ring.
static void start_lambda(const FloWorld *world, FloConstraint *c) {
  const double share = world->params[FLO_CONSTRAINT_WARM_START] > 0 ? c->dt : 0;
  for (size_t k = 0; k < world->body_contacts.points.count; ++k) {
    const double *kept = flo_contact_points(&world->body_contacts)[k].kept;
    const FloTouchingPoint *touching = &c->points[k];
    c->lambda[c->rows.rows[touching->row].component] = share * kept[KEPT_PUSH];
    if (touching->drag_row != FLO_NO_ROW)
      vec_scale(kept + KEPT_FRICTION, share, c->lambda + c->rows.rows[touching->drag_row].component);
  }
  for (size_t k = 0; k < c->rows.n_rows; ++k)
    flo_row_push(&c->rows, &c->rows.rows[k], c->lambda + c->rows.rows[k].component, c->motion);
}

static FloStatus make_rows(FloWorld *world, FloConstraint *c, FloError *error) {
  const size_t n = world->body_contacts.points.count;
  if (!c->rows.memory) flo_rows_init(&c->rows, &world->memory);
  flo_rows_clear(&c->rows);
  for (size_t k = 0; k < n; ++k) FLO_TRY(add_point(world, c, k, error));
  if (n)
    FLO_TRY(flo_rows_finish_with(&c->rows, apply_mobility, world, world->nodes.count, world->threads, error));
  const size_t size = c->rows.n_components + 1;
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_LAMBDA, 3 * size * sizeof(double), 0, error));
  c->lambda = c->buffers[FLO_CONSTRAINT_LAMBDA].data;
  c->from_lambda = c->lambda + size, c->way_lambda = c->from_lambda + size;
  memset(c->lambda, 0, 3 * size * sizeof(double));
  start_lambda(world, c);
  return FLO_OK;
}

// ---- Before the iterations ----

static FloStatus reserve_nodes(FloWorld *world, FloConstraint *c, FloError *error) {
  double **arrays[] = {&c->motion_before, &c->motion,     &c->given,     &c->from_motion,
                       &c->way_motion,    &c->from_given, &c->way_given, &c->wrenches};
  const size_t n = 6 * world->nodes.count + 1, size = n * FLO_COUNT_OF(arrays) * sizeof(double);
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_NODES, size, 0, error));
  memset(c->buffers[FLO_CONSTRAINT_NODES].data, 0, size);
  for (size_t k = 0; k < FLO_COUNT_OF(arrays); ++k)
    *arrays[k] = (double *)c->buffers[FLO_CONSTRAINT_NODES].data + k * n;
  return FLO_OK;
}

FloStatus flo_constraint_meet_bodies(FloWorld *world, FloConstraint *c, FloError *error) {
  FLO_TRY(reserve_nodes(world, c, error));
  flo_world_read_motions(world, c->motion_before);
  FLO_TRY(flo_world_find_contacts(world, c->dt, error));
  const size_t n = world->body_contacts.points.count;
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_POINTS, (n + 1) * sizeof *c->points, 0, error));
  c->points = c->buffers[FLO_CONSTRAINT_POINTS].data;
  for (size_t k = 0; k < n; ++k) {
    const Meeting m = meet(world, k);
    double v[3];
    relative_velocity(&m, c->motion_before, v);
    c->points[k].approach = -vec_dot(v, m.point->normal);
  }
  return FLO_OK;
}

FloStatus flo_constraint_start_bodies(FloWorld *world, FloConstraint *c, FloError *error) {
  flo_world_read_motions(world, c->motion);
  FLO_TRY(make_rows(world, c, error));
  return flo_world_weigh_joints(world, c->dt, NULL, NULL, error);
}

// ---- In each iteration ----

// The part that joints gave is taken back and found anew. Returns the largest change of speed.
static double solve_joints(FloWorld *world, FloConstraint *c) {
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

// Nothing but contacts acts on bodies, so that they need no other iterations.
static bool has_only_contacts(const FloWorld *world, const FloConstraint *c) {
  return c->n_coloured == c->n_rows && !flo_world_has_joints(world);
}

static double solve_contacts(FloWorld *world, FloConstraint *c, double speed) {
  const int n_iterations = has_only_contacts(world, c) ? (int)world->params[FLO_CONSTRAINT_ITERATIONS] : 1;
  const FloNncgLimits limits = {speed, CONTACT_SWEEPS * n_iterations, true};
  // The solver starts from velocities without the rows' own effect.
  for (size_t k = 0; k < c->rows.n_components; ++k) c->lambda[k] = -c->lambda[k];
  flo_rows_gather(&c->rows, world->threads, c->motion, c->lambda, c->motion);
  for (size_t k = 0; k < c->rows.n_components; ++k) c->lambda[k] = -c->lambda[k];
  return flo_gauss_seidel(&c->rows, world->threads, &limits, c->lambda, c->motion).residual;
}

// A motor that presses a body onto a floor needs many turns of the two, which cost little beside the fluid's.
enum { TURNS_AT_ONCE = 10 };

double flo_constraint_sweep_bodies(FloWorld *world, FloConstraint *c, double speed) {
  const bool has_joints = flo_world_has_joints(world);
  double residual = 0;
  if (c->rows.n_rows == 0) {
    if (has_joints) solve_joints(world, c);
    return 0;
  }
  for (int k = 0; k < TURNS_AT_ONCE; ++k) {
    residual = solve_contacts(world, c, speed);
    if (has_joints) residual = fmax(residual, solve_joints(world, c));
    if (!has_joints || residual <= speed) break;
  }
  return residual;
}

// ---- After the iterations ----

static void add_impulse(const FloCarried *carried, const double impulse[3], double sign, double *wrenches) {
  for (int k = 0; k < carried->count; ++k) {
    double part[3], turn[3], *wrench = wrenches + 6 * carried->nodes[k];
    vec_scale(impulse, sign * carried->shares[k], part);
    vec_cross(carried->arms[k], part, turn);
    vec_add(wrench, part, wrench);
    vec_add(wrench + 3, turn, wrench + 3);
  }
}

static void add_torque(const FloCarried *carried, const double torque[3], double sign, double *wrenches) {
  for (int k = 0; k < carried->count; ++k) {
    double *wrench = wrenches + 6 * carried->nodes[k] + 3;
    vec_add_scaled(wrench, torque, sign * carried->shares[k], wrench);
  }
}

// A contact that sticks adds up the slip that remains. One that slides or has opened has no anchor.
static void keep_anchor(const FloConstraint *c, const Meeting *m, const FloRow *row, double push,
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

// Adds the friction to the impulse, and keeps it.
static void take_friction(const FloConstraint *c, const Meeting *m, const FloTouchingPoint *touching,
                          double impulse[3], double kept[FLO_N_KEPT]) {
  if (touching->drag_row == FLO_NO_ROW) {
    memset(kept + KEPT_FRICTION, 0, 6 * sizeof *kept);
    return;
  }
  const FloRow *row = &c->rows.rows[touching->drag_row];
  const double *drag = c->lambda + row->component;
  vec_scale(drag, 1 / c->dt, kept + KEPT_FRICTION);
  keep_anchor(c, m, row, c->dt * kept[KEPT_PUSH], kept + KEPT_ANCHOR);
  vec_add(impulse, drag, impulse);
}

static void take_rolling(const FloConstraint *c, const Meeting *m, const FloTouchingPoint *touching) {
  if (touching->roll_row == FLO_NO_ROW) return;
  const double *torque = c->lambda + c->rows.rows[touching->roll_row].component;
  add_torque(&m->own, torque, 1, c->wrenches);
  add_torque(&m->theirs, torque, -1, c->wrenches);
}

static void take_point(FloWorld *world, FloConstraint *c, size_t k) {
  const Meeting m = meet(world, k);
  const FloTouchingPoint *touching = &c->points[k];
  double *kept = flo_contact_points(&world->body_contacts)[k].kept, impulse[3];
  const double push = c->lambda[c->rows.rows[touching->row].component];
  kept[KEPT_PUSH] = push / c->dt;
  vec_scale(m.point->normal, push, impulse);
  take_friction(c, &m, touching, impulse, kept);
  take_rolling(c, &m, touching);
  add_impulse(&m.own, impulse, 1, c->wrenches);
  add_impulse(&m.theirs, impulse, -1, c->wrenches);
  world->contacts += push > 0;
}

static void find_wrenches(const FloWorld *world, FloConstraint *c) {
  memset(c->wrenches, 0, 6 * world->nodes.count * sizeof(double));
  for (size_t position = c->n_coloured; position < c->n_rows; ++position) {
    const uint32_t *begin = c->touch_begin + (position - c->n_coloured);
    const double p = (double)c->p[c->order[position]];
    for (uint32_t t = begin[0]; t < begin[1]; ++t)
      for (int k = 0; k < 6; ++k)
        c->wrenches[6 * (size_t)c->touches[t].node + (size_t)k] -= p * c->touches[t].j[k];
  }
}

static void add_drag(const FloWorld *world, const FloBodyRows *rows, size_t k, FloBody *body) {
  if (!rows->is_used) return;
  flo_body_add_force(body, rows->wrenches + 6 * k, rows->wrenches + 6 * k + 3,
                     flo_node_at(world, k)->position, body->state.pose.position);
}

static void add_film(void *context, size_t node, const double force[3], const double torque[3]) {
  const FloWorld *world = context;
  FloBody *body = flo_node_body(world, node);
  flo_body_add_force(body, force, torque, flo_node_at(world, node)->position, body->state.pose.position);
}

void flo_constraint_push_bodies(FloWorld *world, FloConstraint *c) {
  world->contacts = 0;
  find_wrenches(world, c);
  for (size_t k = 0; k < world->body_contacts.points.count; ++k) take_point(world, c, k);
  flo_world_clear_body_forces(world);
  for (size_t k = 0; k < world->nodes.count; ++k) {
    FloBody *body = flo_node_body(world, k);
    double force[3], torque[3];
    flo_node_push(world, k, c->wrenches + 6 * k, c->wrenches + 6 * k + 3);
    vec_scale(c->wrenches + 6 * k, 1 / c->dt, force);
    vec_scale(c->wrenches + 6 * k + 3, 1 / c->dt, torque);
    flo_body_add_force(body, force, torque, flo_node_at(world, k)->position, body->state.pose.position);
    add_drag(world, &c->drag, k, body);
    add_drag(world, &c->forces.tension.bodies, k, body);
    if (c->forces.is_implicit) add_drag(world, &c->forces.implicit.bodies, k, body);
  }
  flo_films_push_nodes(&c->films, world, add_film, world);
}
