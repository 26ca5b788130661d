// What a host does to soft bodies between two steps: pushes, places, pins.
#include "base/pose.h"
#include "bodies/soft_body.h"

void flo_soft_body_impel(FloBody *body, const double *forces, double dt) {
  FloSoftBody *own = flo_soft_body(body);
  for (size_t k = 0; k < own->n; ++k)
    for (size_t axis = 0; axis < 3; ++axis)
      own->v[3 * k + axis] += own->nodes[k].inverse_mass[axis] * forces[3 * k + axis] * dt;
  flo_soft_body_correct(body);
}

static size_t nearest_node(const FloSoftBody *own, const FloDomain *domain, const double x[3]) {
  size_t nearest = 0;
  double least = INFINITY, way[3];
  for (size_t k = 0; k < own->n; ++k) {
    flo_domain_between(domain, own->x + 3 * k, x, way);
    if (vec_dot(way, way) < least) least = vec_dot(way, way), nearest = k;
  }
  return nearest;
}

void flo_soft_body_spread(const FloBody *body, const FloDomain *domain, const double force[3],
                          const double *point, double *forces) {
  const FloSoftBody *own = flo_soft_body(body);
  if (point) {
    double *at = forces + 3 * nearest_node(own, domain, point);
    vec_add(at, force, at);
    return;
  }
  for (size_t k = 0; k < own->n; ++k)
    vec_add_scaled(forces + 3 * k, force, own->nodes[k].mass / own->mass, forces + 3 * k);
}

void flo_soft_body_fling(FloBody *body, const double velocity[3], const double spin[3]) {
  FloSoftBody *own = flo_soft_body(body);
  for (size_t k = 0; k < own->n; ++k) {
    double arm[3], turn[3];
    vec_sub(own->x + 3 * k, body->state.pose.position, arm);
    vec_cross(spin, arm, turn);
    vec_add(velocity, turn, own->v + 3 * k);
  }
  flo_soft_body_correct(body);
}

void flo_soft_body_put(FloBody *body, const FloPose *pose) {
  FloSoftBody *own = flo_soft_body(body);
  const FloPose from = body->state.pose;
  for (size_t k = 0; k < own->n; ++k) {
    double *x = own->x + 3 * k, *v = own->v + 3 * k, local[3];
    pose_to_local(&from, x, local);
    pose_to_world(pose, local, x);
    quat_rotate_back(from.rotation, v, v);
    quat_rotate(pose->rotation, v, v);
  }
  quat_copy(pose->rotation, body->state.pose.rotation);
  own->has_moved = true;
  flo_soft_body_correct(body);
  flo_soft_distance_refit(body);
}

// ---- Pins ----

// A pin whose release is past for all times never holds again.
static bool can_hold(const FloSoftPin *pin) { return pin->release > -INFINITY; }

bool flo_soft_body_switch_pins(FloBody *body, size_t group, bool holds) {
  FloSoftBody *own = flo_soft_body(body);
  bool has_any = false;
  for (size_t k = 0; k < own->n_pins; ++k) {
    if (own->pins[k].group != group || !can_hold(&own->pins[k])) continue;
    own->pins_on[k] = holds, has_any = true;
  }
  return has_any;
}

bool flo_soft_body_move_pins(FloBody *body, size_t group, const double way[3]) {
  FloSoftBody *own = flo_soft_body(body);
  bool has_any = false;
  for (size_t k = 0; k < own->n_pins; ++k) {
    if (own->pins[k].group != group || !can_hold(&own->pins[k])) continue;
    vec_add(own->pins[k].anchor, way, own->pins[k].anchor);
    has_any = true;
  }
  return has_any;
}

void flo_soft_body_leave(FloBody *body, uint32_t other) {
  FloSoftBody *own = flo_soft_body(body);
  for (size_t k = 0; k < own->n_pins; ++k) {
    FloSoftPin *pin = &own->pins[k];
    if (pin->other != other) continue;
    own->pins_on[k] = 0;
    pin->release = -INFINITY, pin->other = FLO_TO_WORLD, pin->is_glued = false;
  }
}
