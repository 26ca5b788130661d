// Bodies in the same iterations: rows of pressures act on their nodes, and contacts and joints are solved in
// between (forces/body_solve.h).
#include "coupling/constraint/constraint.h"

#include <string.h>

// ---- Before the iterations ----

static FloStatus reserve_nodes(FloWorld *world, FloConstraint *c, FloError *error) {
  double **arrays[] = {&c->from_motion, &c->way_motion, &c->from_given, &c->way_given, &c->wrenches};
  const size_t n = 6 * world->nodes.count + 1, size = n * FLO_COUNT_OF(arrays) * sizeof(double);
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_NODES, size, 0, error));
  memset(c->buffers[FLO_CONSTRAINT_NODES].data, 0, size);
  for (size_t k = 0; k < FLO_COUNT_OF(arrays); ++k)
    *arrays[k] = (double *)c->buffers[FLO_CONSTRAINT_NODES].data + k * n;
  return FLO_OK;
}

FloStatus flo_constraint_meet_bodies(FloWorld *world, FloConstraint *c, FloError *error) {
  FLO_TRY(reserve_nodes(world, c, error));
  return flo_body_solve_meet(&c->bodies, world, c->dt, error);
}

FloStatus flo_constraint_start_bodies(FloWorld *world, FloConstraint *c, FloError *error) {
  FLO_TRY(flo_body_solve_start(&c->bodies, world, world->params[FLO_CONSTRAINT_WARM_START] > 0, error));
  const size_t n = c->bodies.rows.n_components + 1, size = 2 * n * sizeof(double);
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_LAMBDA, size, 0, error));
  c->from_lambda = c->buffers[FLO_CONSTRAINT_LAMBDA].data, c->way_lambda = c->from_lambda + n;
  memset(c->from_lambda, 0, size);
  return FLO_OK;
}

// ---- In each iteration ----

// Nothing but contacts acts on bodies, so that they need no other iterations.
static bool has_only_contacts(const FloWorld *world, const FloConstraint *c) {
  return c->n_coloured == c->n_rows && !flo_world_has_joints(world);
}

double flo_constraint_sweep_bodies(FloWorld *world, FloConstraint *c, double speed) {
  const int n_iterations = has_only_contacts(world, c) ? (int)world->params[FLO_CONSTRAINT_ITERATIONS] : 1;
  return flo_body_solve_sweep(&c->bodies, world, speed, n_iterations);
}

// ---- After the iterations ----

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
  const double speed = world->params[FLO_CONSTRAINT_TOLERANCE] * world->def.spacing / c->dt;
  find_wrenches(world, c);
  flo_body_solve_settle(&c->bodies, world, c->wrenches, speed, (int)world->params[FLO_CONSTRAINT_ITERATIONS]);
  flo_body_solve_take(&c->bodies, world, c->wrenches);
  flo_world_clear_body_forces(world);
  for (size_t k = 0; k < world->nodes.count; ++k) {
    FloBody *body = flo_node_body(world, k);
    double force[3], torque[3];
    flo_body_solve_push(&c->bodies, world, k, c->wrenches + 6 * k);
    vec_scale(c->wrenches + 6 * k, 1 / c->dt, force);
    vec_scale(c->wrenches + 6 * k + 3, 1 / c->dt, torque);
    flo_body_add_force(body, force, torque, flo_node_at(world, k)->position, body->state.pose.position);
    add_drag(world, &c->drag, k, body);
    add_drag(world, &c->forces.tension.bodies, k, body);
    if (c->forces.is_implicit) add_drag(world, &c->forces.implicit.bodies, k, body);
  }
  flo_films_push_nodes(&c->films, world, add_film, world);
}
