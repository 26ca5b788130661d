// Pushing bodies at run time: forces that act for the next step, and impulses.
//
// A force acts as one impulse, force times dt, at the start of its step. Gravity acts in the same way, and
// every method then solves for the velocities at the end of the step.
#include "base/vecmath.h"
#include "bodies/soft_body.h"
#include "flotsam/control.h"
#include "world/world.h"

#include <string.h>

// ---- Which bodies ----

static FloStatus need_pushed(const FloWorld *world, FloBodyId id, const char *what, FloBody **body,
                             FloError *error) {
  FLO_TRY(flo_world_need_body(world, id, body, error));
  if (flo_body_is_pushed(*body)) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "%s: '%s' is %s, so that forces do not move it; make it dynamic, or set its velocity", what,
                  (*body)->name, (*body)->kind->name);
}

static FloStatus need_rigid(const FloWorld *world, FloBodyId id, const char *what, FloBody **body,
                            FloError *error) {
  FLO_TRY(need_pushed(world, id, what, body, error));
  if (!flo_body_is_soft(*body)) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT, "%s: '%s' changes its shape; push it by forces at several points",
                  what, (*body)->name);
}

// The angular part of a push at a point; none without a point.
static void find_turn(const FloWorld *world, const FloBody *body, const double push[3], const double *point,
                      double turn[3]) {
  double arm[3];
  vec_set(turn, 0, 0, 0);
  if (!point) return;
  flo_domain_between(&world->domain, body->nodes->position, point, arm);
  vec_cross(arm, push, turn);
}

// ---- Forces ----

FloStatus flo_world_apply_force(FloWorld *world, FloBodyId id, const double force[3], const double *point,
                                FloError *error) {
  FloBody *body;
  double turn[3];
  FLO_TRY(need_pushed(world, id, "force", &body, error));
  FLO_TRY(flo_world_check_vector(world, force, "force", error));
  if (point) FLO_TRY(flo_world_check_vector(world, point, "point", error));
  if (flo_body_is_soft(body)) {
    flo_soft_body_spread(body, &world->domain, force, point, flo_soft_body(body)->loads);
    return FLO_OK;
  }
  find_turn(world, body, force, point, turn);
  vec_add(body->load, force, body->load);
  vec_add(body->load + 3, turn, body->load + 3);
  return FLO_OK;
}

FloStatus flo_world_apply_torque(FloWorld *world, FloBodyId id, const double torque[3], FloError *error) {
  FloBody *body;
  FLO_TRY(need_rigid(world, id, "torque", &body, error));
  FLO_TRY(flo_world_check_turn(world, torque, "torque", error));
  vec_add(body->load + 3, torque, body->load + 3);
  return FLO_OK;
}

static bool has_load(const double *load, size_t n) {
  for (size_t k = 0; k < n; ++k)
    if (load[k] != 0) return true;
  return false;
}

static void act_load(FloWorld *world, FloBody *body, double dt) {
  double impulse[3], turn[3];
  if (flo_body_is_soft(body)) {
    const FloSoftBody *own = flo_soft_body(body);
    if (!has_load(own->loads, own->n_numbers)) return;
    flo_soft_body_impel(body, own->loads, dt);
  } else {
    if (!has_load(body->load, 6)) return;
    vec_scale(body->load, dt, impulse);
    vec_scale(body->load + 3, dt, turn);
    body->kind->push(body, 0, impulse, turn);
  }
  flo_world_place_samples(world, body);
}

void flo_world_act_loads(FloWorld *world, double dt) {
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (flo_body_is_pushed(&flo_bodies(world)[k])) act_load(world, &flo_bodies(world)[k], dt);
}

void flo_world_clear_loads(FloWorld *world) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    memset(body->load, 0, sizeof body->load);
    if (!flo_body_is_soft(body)) continue;
    FloSoftBody *own = flo_soft_body(body);
    memset(own->loads, 0, own->n_numbers * sizeof *own->loads);
  }
}

// ---- Impulses ----

static FloStatus impel_soft(FloWorld *world, FloBody *body, const double impulse[3], const double *point,
                            FloError *error) {
  const size_t size = flo_soft_body(body)->n_numbers * sizeof(double);
  FLO_TRY(flo_buffer_reserve(&world->memory, &world->scratch, size, 0, error));
  double *impulses = memset(world->scratch.data, 0, size);
  flo_soft_body_spread(body, &world->domain, impulse, point, impulses);
  flo_soft_body_impel(body, impulses, 1);
  return FLO_OK;
}

FloStatus flo_world_apply_impulse(FloWorld *world, FloBodyId id, const double impulse[3], const double *point,
                                  FloError *error) {
  FloBody *body;
  double turn[3];
  FLO_TRY(need_pushed(world, id, "impulse", &body, error));
  FLO_TRY(flo_world_check_vector(world, impulse, "impulse", error));
  if (point) FLO_TRY(flo_world_check_vector(world, point, "point", error));
  if (flo_body_is_soft(body)) {
    FLO_TRY(impel_soft(world, body, impulse, point, error));
  } else {
    find_turn(world, body, impulse, point, turn);
    body->kind->push(body, 0, impulse, turn);
  }
  flo_world_place_samples(world, body);
  return FLO_OK;
}

FloStatus flo_world_apply_angular_impulse(FloWorld *world, FloBodyId id, const double impulse[3],
                                          FloError *error) {
  FloBody *body;
  const double none[3] = {0};
  FLO_TRY(need_rigid(world, id, "angular impulse", &body, error));
  FLO_TRY(flo_world_check_turn(world, impulse, "angular impulse", error));
  body->kind->push(body, 0, none, impulse);
  flo_world_place_samples(world, body);
  return FLO_OK;
}
