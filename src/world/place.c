// Placing bodies at run time: poses, velocities, targets, filters, pins.
#include "base/pose.h"
#include "bodies/drive.h"
#include "bodies/soft_body.h"
#include "flotsam/control.h"
#include "world/world.h"

// ---- Rigid bodies ----

// The angular momentum that belongs to an angular velocity in the present pose.
static void momentum_of(const FloNode *node, const double spin[3], double out[3]) {
  double free[3];
  for (int axis = 0; axis < 3; ++axis) free[axis] = node->locks[axis + 3] ? 0 : spin[axis];
  mat_apply(node->inertia, free, out);
}

static void fling_rigid(FloBody *body, const double velocity[3], const double spin[3]) {
  const FloNode *node = body->nodes;
  double momentum[3], free[3], position[3], rotation[4];
  for (int axis = 0; axis < 3; ++axis) free[axis] = node->locks[axis] ? 0 : velocity[axis];
  vec_copy(node->position, position);
  quat_copy(body->state.pose.rotation, rotation);
  momentum_of(node, spin, momentum);
  body->kind->put(body, position, rotation, free, momentum);
}

// Its velocities stay. The inertia turns with it, so that they are set once more in the new pose.
static void put_rigid(FloBody *body, const FloPose *pose) {
  double local[3], centre[3], velocity[3], spin[3], momentum[3];
  pose_to_local(&body->state.pose, body->nodes->position, local);
  pose_to_world(pose, local, centre);
  vec_copy(body->nodes->velocity, velocity);
  vec_copy(body->nodes->angular_velocity, spin);
  momentum_of(body->nodes, spin, momentum);
  body->kind->put(body, centre, pose->rotation, velocity, momentum);
  fling_rigid(body, velocity, spin);
}

void flo_world_keep_motion(FloBody *body, const FloBodyState *before) {
  double arm[3], velocity[3];
  if (!flo_body_is_pushed(body)) return;
  vec_sub(body->nodes->position, before->pose.position, arm);
  vec_cross(before->angular_velocity, arm, velocity);
  vec_add(before->velocity, velocity, velocity);
  fling_rigid(body, velocity, before->angular_velocity);
}

// ---- Poses ----

// Contacts of a body that is somewhere else now are not those that the last step knew.
void flo_world_forget_contacts_of(FloWorld *world, uint32_t body) {
  FloList *points = &world->body_contacts.points;
  size_t n = 0;
  for (size_t k = 0; k < points->count; ++k) {
    const FloContactPoint *point = &FLO_LIST(*points, FloContactPoint)[k];
    if (point->body != body && point->other != body) FLO_LIST(*points, FloContactPoint)[n++] = *point;
  }
  points->count = n;
}

static void drive(FloWorld *world, FloBody *body, const FloDrive *drive) {
  const double before = flo_world_scheduled_wall_speed(world);
  const bool was_moving = body->is_moving;
  flo_kinematic_drive(body, drive, world->time);
  if (body->is_moving != was_moving) flo_epoch_note(world, &world->epochs.fixed);
  // Methods that expect a highest speed look at the whole world again.
  if (flo_world_scheduled_wall_speed(world) > before) world->epochs.prepared = 0;
}

static void put_body(FloWorld *world, FloBody *body, const FloPose *pose) {
  if (flo_body_is_soft(body)) {
    flo_soft_body_put(body, pose);
  } else if (flo_body_is_pushed(body)) {
    put_rigid(body, pose);
  } else if (body->kind->follow) {
    drive(world, body, &(FloDrive){.kind = FLO_DRIVE_RATE, .start = fmax(world->time, 0), .from = *pose});
  } else {
    body->state.pose = body->start = *pose;
  }
}

FloStatus flo_world_set_body_pose(FloWorld *world, FloBodyId id, const FloPose *pose, FloError *error) {
  FloBody *body;
  FLO_TRY(flo_world_need_body(world, id, &body, error));
  FLO_NEED(pose, error);
  FLO_TRY(flo_pose_check(pose, world->def.dim, "pose", error));
  put_body(world, body, pose);
  flo_world_place_samples(world, body);
  flo_world_forget_contacts_of(world, id.index);
  if (!flo_body_is_pushed(body) && !body->is_moving) flo_epoch_note(world, &world->epochs.fixed);
  flo_world_note_added(world);
  return FLO_OK;
}

// ---- Velocities and targets ----

FloStatus flo_world_set_body_velocity(FloWorld *world, FloBodyId id, const double velocity[3],
                                      const double spin[3], FloError *error) {
  FloBody *body;
  FLO_TRY(flo_world_need_body(world, id, &body, error));
  FLO_TRY(flo_world_check_vector(world, velocity, "velocity", error));
  FLO_TRY(flo_world_check_turn(world, spin, "angular_velocity", error));
  if (flo_body_is_soft(body)) {
    flo_soft_body_fling(body, velocity, spin);
  } else if (flo_body_is_pushed(body)) {
    fling_rigid(body, velocity, spin);
  } else if (body->kind->follow) {
    FloDrive rate = {.kind = FLO_DRIVE_RATE, .start = fmax(world->time, 0), .from = body->state.pose};
    vec_copy(velocity, rate.velocity);
    vec_copy(spin, rate.spin);
    drive(world, body, &rate);
  } else {
    return flo_fail(error, FLO_BAD_INPUT, "velocity: '%s' is static; make it kinematic or dynamic first",
                    body->name);
  }
  flo_world_place_samples(world, body);
  return FLO_OK;
}

FloStatus flo_world_set_body_target(FloWorld *world, FloBodyId id, const FloPose *pose, double time,
                                    FloError *error) {
  FloBody *body;
  FLO_TRY(flo_world_need_body(world, id, &body, error));
  FLO_NEED(pose, error);
  FLO_TRY(flo_pose_check(pose, world->def.dim, "target", error));
  const double now = fmax(world->time, 0);
  if (!(time > now) || !isfinite(time))
    return flo_fail(error, FLO_BAD_INPUT, "target: its time must be after %g s, and finite, got %g", now,
                    time);
  if (!body->kind->follow)
    return flo_fail(error, FLO_BAD_INPUT, "target: '%s' is %s; only kinematic bodies follow targets",
                    body->name, body->kind->name);
  drive(world, body,
        &(FloDrive){
            .kind = FLO_DRIVE_TARGET, .start = now, .end = time, .from = body->state.pose, .to = *pose});
  flo_world_place_samples(world, body);
  return FLO_OK;
}

// ---- Filters, user data ----

FloStatus flo_world_set_body_filter(FloWorld *world, FloBodyId id, FloFilter filter, FloError *error) {
  FloBody *body;
  FLO_TRY(flo_world_need_body(world, id, &body, error));
  body->filter = filter;
  flo_world_look_at_filters(world);
  return FLO_OK;
}

void flo_world_look_at_filters(FloWorld *world) {
  const FloFilter usual = flo_default_body_def().filter;
  world->has_filters = false;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    if (flo_body_is_removed(&flo_bodies(world)[k])) continue;
    const FloFilter *filter = &flo_bodies(world)[k].filter;
    world->has_filters |= filter->category != usual.category || filter->mask != usual.mask;
  }
}

FloStatus flo_world_set_body_user_data(FloWorld *world, FloBodyId id, void *user_data, FloError *error) {
  FloBody *body;
  FLO_TRY(flo_world_need_body(world, id, &body, error));
  body->user_data = user_data;
  return FLO_OK;
}

// ---- Pins ----

static FloStatus need_soft(const FloWorld *world, FloBodyId id, FloBody **body, FloError *error) {
  FLO_TRY(flo_world_need_body(world, id, body, error));
  if (flo_body_is_soft(*body) && (*body)->kind->soft_state) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT, "pin: '%s' does not change its shape, so that it has no pins",
                  (*body)->name);
}

static FloStatus fail_pin(const FloBody *body, size_t pin, FloError *error) {
  return flo_fail(error, FLO_BAD_INPUT,
                  "pin: '%s' has no pin %zu in its definition, or the body that it led to was removed",
                  body->name, pin);
}

FloStatus flo_world_set_pin(FloWorld *world, FloBodyId id, size_t pin, bool holds, FloError *error) {
  FloBody *body;
  FLO_TRY(need_soft(world, id, &body, error));
  return flo_soft_body_switch_pins(body, pin, holds) ? FLO_OK : fail_pin(body, pin, error);
}

FloStatus flo_world_move_pin(FloWorld *world, FloBodyId id, size_t pin, const double way[3],
                             FloError *error) {
  FloBody *body;
  FLO_TRY(need_soft(world, id, &body, error));
  FLO_TRY(flo_world_check_vector(world, way, "way", error));
  return flo_soft_body_move_pins(body, pin, way) ? FLO_OK : fail_pin(body, pin, error);
}
