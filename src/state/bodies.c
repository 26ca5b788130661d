// Bodies in a step: one stage begins, advances and watches all of them. It is the same for every kind of body
// and every method.
#include "bodies/soft_body.h"
#include "state/keep_out.h"
#include "state/state.h"

void flo_world_place_samples(FloWorld *world, const FloBody *body) {
  const double since = flo_seconds();
  body->kind->place(body, flo_samples_of(world, body));
  if (flo_body_is_soft(body)) world->skin_seconds += flo_seconds() - since;
  if (body->kind->set == FLO_SET_BOUNDARY) flo_epoch_note(world, &world->epochs.walls);
}

// ---- The stage ----

static size_t count_held(const FloBody *body) {
  size_t n = 0;
  for (size_t k = 0; k < body->n_nodes; ++k) n += body->nodes[k].is_held;
  return n;
}

FloStatus flo_world_begin_bodies(FloWorld *world, FloError *error) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    size_t n_held = count_held(body);
    if (body->kind->begin) body->kind->begin(body, world->time);
    if (count_held(body) != n_held) flo_world_place_samples(world, body);
  }
  return flo_world_resample(world, error);
}

// ---- Bodies that follow motions ----

static void find_lead(const FloPose *from, const FloPose *to, double dt, FloLead *lead) {
  vec_sub(to->position, from->position, lead->velocity);
  vec_scale(lead->velocity, 1 / dt, lead->velocity);
  quat_between(from->rotation, to->rotation, lead->turn);
  quat_to_vector(lead->turn, lead->spin);
  vec_scale(lead->spin, 1 / dt, lead->spin);
  lead->per_dt = vec_length(lead->spin) > 0 ? 1 / dt : 0;
}

// Velocities that lead the samples from where they are to where they will be.
static void lead_samples(const FloBody *body, double dt, FloParticles *samples) {
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    double to[3];
    body->kind->where(body, samples, i, to);
    samples->vx[i] = (float)((to[0] - samples->x[i]) / dt);
    samples->vy[i] = (float)((to[1] - samples->y[i]) / dt);
    samples->vz[i] = (float)((to[2] - samples->z[i]) / dt);
  }
}

static void lead_body(FloWorld *world, FloBody *body, double dt) {
  const FloBodyState now = body->state;
  body->kind->follow(body, world->time + dt);
  find_lead(&now.pose, &body->state.pose, dt, &body->lead);
  lead_samples(body, dt, flo_samples_of(world, body));
  body->state = now;
  vec_copy(body->lead.velocity, body->state.velocity);
  vec_copy(body->lead.spin, body->state.angular_velocity);
}

// Where a pin's anchor will be at the end of the step.
static void lead_anchor(const FloWorld *world, const FloSoftPin *pin, double dt, double target[3]) {
  vec_copy(pin->anchor, target);
  if (pin->other == FLO_TO_WORLD) return;
  const FloBody *other = &flo_bodies(world)[pin->other];
  double arm[3];
  quat_rotate(other->state.pose.rotation, pin->anchor, arm);
  if (flo_body_is_led(other)) quat_rotate(other->lead.turn, arm, arm);
  vec_add(other->state.pose.position, arm, target);
  if (flo_body_is_led(other)) vec_add_scaled(target, other->lead.velocity, dt, target);
}

static void lead_pins(FloWorld *world, FloBody *body, double dt) {
  const FloSoftBody *own = flo_soft_body(body);
  for (size_t k = 0; k < own->n_pins; ++k) {
    double target[3];
    if (own->pins_on[k] == 0 || own->pins[k].is_glued) continue;
    lead_anchor(world, &own->pins[k], dt, target);
    flo_soft_body_lead_pin(body, k, target, dt);
  }
}

void flo_world_lead_bodies(FloWorld *world, double dt) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    if (flo_body_is_led(body)) lead_body(world, body, dt);
  }
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (flo_body_is_soft(&flo_bodies(world)[k])) lead_pins(world, &flo_bodies(world)[k], dt);
}

FloStatus flo_world_check_soft(FloWorld *world, FloError *error) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    if (!flo_body_is_soft(body)) continue;
    if (flo_soft_body(body)->has_failed)
      return flo_fail(error, FLO_DIVERGED, "at %g s '%s': %s", world->time, body->name,
                      flo_soft_body(body)->trouble.text);
    if (flo_soft_body(body)->is_unbalanced) flo_world_note_unsettled(world, FLO_UNSETTLED_MOTION);
  }
  return FLO_OK;
}

// ---- Bodies that forces move ----

void flo_world_mark_bodies(FloWorld *world) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    if (flo_body_is_pushed(body)) body->kind->mark(body, FLO_MARK_STEP);
  }
}

void flo_world_rewind_bodies(FloWorld *world) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    if (!flo_body_is_pushed(body)) continue;
    body->kind->rewind(body, FLO_MARK_STEP);
    flo_world_place_samples(world, body);
  }
}

void flo_world_kick_bodies(FloWorld *world, const double *wrenches, double dt) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    if (flo_body_is_pushed(body))
      body->kind->kick(body, world->def.gravity, wrenches ? wrenches + 6 * body->first_node : NULL, dt);
  }
  flo_world_note_kick(world, wrenches, dt);
}

static void move_bodies(FloWorld *world, double dt) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    if (!flo_body_is_pushed(body) || flo_world_is_joined(world, k)) continue;
    body->kind->move(body, dt);
    flo_world_place_samples(world, body);
  }
  flo_world_move_joined(world);
}

// A point that is put back out of a body may make its soft body cross another one, and what stops that may
// move the point into the first body again. So one follows the other until nothing is left to do. Crossings
// could never be undone, so they are checked last in each round. A point that is still inside a body after
// all rounds is pushed out by its contact in the next steps.
static FloStatus part_soft_bodies(FloWorld *world, double dt, FloError *error) {
  enum { MOST_ROUNDS = 8 };
  world->put_back = 0;
  for (int round = 0; round < MOST_ROUNDS; ++round) {
    const size_t n_back = flo_world_keep_apart(world, dt), n_stopped = world->meetings.n_stopped;
    world->put_back += n_back;
    if (round > 0 && n_back == 0) break;
    FLO_TRY(flo_world_stop_crossings(world, dt, error));
    if (world->meetings.n_stopped == n_stopped) break;
    if (round + 1 == MOST_ROUNDS) flo_world_note_unsettled(world, FLO_UNSETTLED_PARTING);
  }
  return FLO_OK;
}

FloStatus flo_world_advance_bodies(FloWorld *world, double dt, FloError *error) {
  FLO_TRY(flo_world_note_ways(world, error));
  flo_world_keep_out_of_bodies(world, dt);
  move_bodies(world, dt);
  FLO_TRY(part_soft_bodies(world, dt, error));
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (flo_body_is_soft(&flo_bodies(world)[k])) flo_soft_body_break_pins(&flo_bodies(world)[k]);
  flo_world_push_late(world);
  flo_world_keep_off(world, dt);
  return FLO_OK;
}

void flo_world_follow_motions(FloWorld *world) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    if (!flo_body_is_led(body)) continue;
    body->lead.per_dt = 0;
    body->kind->follow(body, world->time);
    flo_world_place_samples(world, body);
  }
}

void flo_world_finish_bodies(FloWorld *world) {
  double since = flo_seconds();
  flo_world_follow_motions(world);
  flo_world_watch_bodies(world);
  flo_world_stage_done(world, FLO_STAGE_BODIES, since);
}

void flo_world_clear_body_forces(FloWorld *world) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    if (!flo_body_is_pushed(body)) continue;
    vec_set(body->state.force, 0, 0, 0);
    vec_set(body->state.torque, 0, 0, 0);
  }
}

// ---- Speeds ----

// An upper bound of the distance of samples from their body's position. The samples of a tank are a few
// spacings outside its inner space.
static double sample_reach(const FloWorld *world, const FloBody *body) {
  double low[3], high[3];
  flo_solid_bounds(body->solid, low, high);
  return fmax(vec_length(low), vec_length(high)) + 2 * world->layers * world->def.spacing;
}

bool flo_world_has_led_bodies(const FloWorld *world) {
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (flo_body_is_led(&flo_bodies(world)[k])) return true;
  return false;
}

static double fastest_point(const FloWorld *world, const FloBody *body) {
  return vec_length(body->state.velocity) +
         vec_length(body->state.angular_velocity) * sample_reach(world, body);
}

static double fastest_node(const FloBody *body) {
  double fastest = 0;
  for (size_t k = 0; k < body->n_nodes; ++k)
    if (!body->nodes[k].is_held) fastest = fmax(fastest, vec_length(body->nodes[k].velocity));
  return fastest;
}

static double fastest_body(const FloWorld *world, bool with_lost) {
  double fastest = 0;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    if (!body->is_moving) continue;
    if (!with_lost && flo_world_is_body_lost(world, body)) continue;
    fastest = fmax(fastest, body->n_nodes > 1 ? fastest_node(body) : fastest_point(world, body));
  }
  return fastest;
}

double flo_world_max_wall_speed(const FloWorld *world) { return fastest_body(world, false); }
double flo_world_any_wall_speed(const FloWorld *world) { return fastest_body(world, true); }

double flo_world_scheduled_wall_speed(const FloWorld *world) {
  double fastest = 0;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    if (body->kind->top_speed)
      fastest = fmax(fastest, body->kind->top_speed(body, sample_reach(world, body)));
  }
  return fastest;
}
