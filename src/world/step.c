// The step of a world.
#include "base/vecmath.h"
#include "bodies/soft_body.h"
#include "world/world.h"

#include <stdio.h>
#include <string.h>

static FloStatus prepare(FloWorld *world, FloError *error) {
  if (flo_world_is_prepared(world)) return FLO_OK;
  flo_world_find_lost_depth(world);
  world->max_speed = world->max_approach = flo_world_measure_speed(world);
  FLO_TRY(world->method->init(world, world->method_state, error));
  flo_epoch_note(world, &world->epochs.prepared);
  return FLO_OK;
}

// The longest way that fluid may move in a step, in spacings, however slowly it approaches its neighbours. A
// drop in the air lists no neighbours. It sees fluid or a wall when it is nearer than the support, two
// spacings, and must not be past the surface then.
#define LONGEST_WAY 0.6

// The speed that counts for the step: of fluid, how fast it approaches its neighbours; of solids and
// emitters, how fast they move.
static double speed_to_follow(const FloWorld *world) {
  double by_way = world->def.cfl / fmax(LONGEST_WAY, world->def.cfl) * world->max_speed;
  return fmax(fmax(fmax(world->max_approach, by_way), flo_world_max_wall_speed(world)),
              flo_world_max_emitter_speed(world));
}

// Limits for every method: nothing approaches its neighbours by more than its share of a spacing, and no
// acceleration moves a particle across one.
static double speed_limit(const FloWorld *world, const char **limited_by) {
  double dt = world->def.max_time_step, s = world->def.spacing;
  *limited_by = "max_time_step";
  double speed = speed_to_follow(world);
  if (world->def.cfl * s < dt * speed) dt = world->def.cfl * s / speed, *limited_by = "speed";
  double kick = world->max_acceleration > 0 ? 0.5 * sqrt(s / world->max_acceleration) : INFINITY;
  if (kick < dt) dt = kick, *limited_by = "force";
  return dt;
}

// Contacts and fluid must know how bodies of particles yield, which they do in one short step of theirs.
static double soft_limit(const FloWorld *world) {
  double dt = INFINITY;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    if (flo_body_is_soft(body)) dt = fmin(dt, flo_soft_longest_step(flo_soft_body(body)->soft));
  }
  return dt;
}

double flo_world_max_dt(FloWorld *world, const char **limited_by) {
  if (!world) return 0;
  const char *reason, *method_reason;
  if (prepare(world, NULL) != FLO_OK) return 0;
  double dt = speed_limit(world, &reason);
  double method_dt = world->method->max_dt(world, world->method_state, &method_reason);
  if (method_dt < dt) dt = method_dt, reason = method_reason;
  double joint_dt = flo_world_joint_dt(world);
  if (joint_dt < dt) dt = joint_dt, reason = "joints";
  flo_world_fastest_motor(world, &joint_dt);
  if (joint_dt < dt) dt = joint_dt, reason = "motors";
  if (soft_limit(world) < dt) dt = soft_limit(world), reason = "elasticity";
  if (world->def.time_step > 0) dt = world->def.time_step, reason = "time_step";
  if (limited_by) *limited_by = reason;
  return dt;
}

static const char *remedy_for(const char *limited_by) {
  if (!strcmp(limited_by, "sound"))
    return "a lower speed of sound, slower walls and emitters, or a larger spacing";
  if (!strcmp(limited_by, "pressure")) return "fluid that is less deep, or a larger spacing";
  if (!strcmp(limited_by, "viscosity")) return "a lower viscosity, or a larger spacing";
  if (!strcmp(limited_by, "surface tension")) return "a lower surface tension, or a larger spacing";
  if (!strcmp(limited_by, "joints")) return "weaker loads on joints, or heavier bodies";
  if (!strcmp(limited_by, "elasticity")) return "softer bodies with less damping, or larger particles";
  if (!strcmp(limited_by, "speed")) return "lower velocities of fluid, walls and emitters";
  return "weaker gravity, more artificial viscosity, or look for fluid squeezed between solids";
}

// Warns once if the step that the host has fixed is longer than the method, the loads of joints or
// elastic bodies allow.
static void tell_long_step(FloWorld *world) {
  const char *limited_by;
  if (world->has_told_step || !(world->def.time_step > 0)) return;
  double limit = world->method->max_dt(world, world->method_state, &limited_by),
         joint_limit = flo_world_joint_dt(world);
  if (joint_limit < limit) limit = joint_limit, limited_by = "joints";
  if (soft_limit(world) < limit) limit = soft_limit(world), limited_by = "elasticity";
  if (world->def.time_step <= limit) return;
  world->has_told_step = true;
  flo_world_log(world, FLO_LOG_WARNING,
                "time_step = %g s is longer than the limit of %g s (by %s), so the run may become "
                "unstable; leave time_step out, or make it shorter",
                world->def.time_step, limit, limited_by);
}

// A world with a motor that is too fast names it.
static FloStatus fail_short_step(const FloWorld *world, double dt, const char *limited_by, FloError *error) {
  char remedy[128];
  double motor_dt;
  const FloJoint *motor = flo_world_fastest_motor(world, &motor_dt);
  snprintf(remedy, sizeof remedy, "%s", remedy_for(limited_by));
  if (motor && motor_dt <= dt)
    snprintf(remedy, sizeof remedy, "a slower or weaker motor of joint '%s'", motor->name);
  return flo_fail(error, FLO_DIVERGED,
                  "at %g s a time step of %g s is needed (limited by %s), below min_time_step = %g s; try %s",
                  world->time, dt, limited_by, world->def.min_time_step, remedy);
}

static FloStatus choose_dt(FloWorld *world, double longest, double *dt, FloError *error) {
  const char *limited_by;
  *dt = world->divergence.dt = flo_world_max_dt(world, &limited_by);
  tell_long_step(world);
  if (*dt < world->def.min_time_step && world->def.time_step == 0)
    return fail_short_step(world, *dt, limited_by, error);
  // If only rounding would remain for another step, this step takes it, too. If less than two steps remain,
  // they are two equal steps rather than a long and a very short one.
  const double whole = *dt * (1 + 1e-9);
  if (longest < whole)
    *dt = longest;
  else if (longest < 2 * *dt && world->def.time_step == 0)
    *dt = longest / 2;
  world->divergence.dt = *dt;
  return FLO_OK;
}

// Led bodies move along chords of their ways in this step. If it fails, they get back the velocities of their
// motions. If memory was missing, all bodies are as before, so that the step can be repeated. A step that
// diverged leaves them as they are, so that one can see what has happened.
static FloStatus couple(FloWorld *world, double dt, FloError *error) {
  world->force_dt = dt; // unless the method says otherwise
  flo_world_mark_bodies(world);
  flo_world_act_loads(world, dt);
  flo_world_lead_bodies(world, dt);
  FloStatus status = flo_world_begin_joints(world, dt, error);
  if (status == FLO_OK) status = world->method->step(world, world->method_state, dt, error);
  if (status != FLO_OK) flo_world_follow_motions(world);
  if (status == FLO_NO_MEMORY) flo_world_rewind_bodies(world);
  return status;
}

// The forces of a step need memory of their own, after everything has moved. If it is missing, the next call
// finishes the step.
static FloStatus finish_step(FloWorld *world, FloError *error) {
  FLO_TRY(flo_world_add_impulses(world, error));
  world->is_unfinished = false;
  return FLO_OK;
}

// One step, not beyond `until`. The last step ends exactly at `until`, so that frames have round times.
static FloStatus try_step(FloWorld *world, double until, FloError *error) {
  double dt, longest = until - world->time;
  FLO_TRY(prepare(world, error));
  flo_epoch_note(world, &world->epochs.begun);
  FLO_TRY(flo_world_begin_bodies(world, error));
  FLO_TRY(choose_dt(world, longest, &dt, error));
  FLO_TRY(flo_world_drain(world, error));
  FLO_TRY(flo_world_emit(world, error));
  FLO_TRY(couple(world, dt, error));
  flo_world_clear_loads(world);
  flo_epoch_note(world, &world->epochs.done);
  world->time = dt == longest ? until : world->time + dt;
  world->dt = dt, world->step++;
  FLO_TRY(flo_world_end_joints(world, error));
  FLO_TRY(flo_world_check_soft(world, error));
  flo_world_finish_bodies(world);
  world->is_unfinished = true;
  return finish_step(world, error);
}

static void tell_step(const FloWorld *world, FloStepInfo *info) {
  if (info)
    *info = (FloStepInfo){world->time,       world->dt,       world->step,
                          world->iterations, world->residual, world->meetings.pairs.count};
}

// The host's function may fill in the error only if it fails.
static FloStatus tell_host(FloWorld *world, FloError *error) {
  FloStepInfo info;
  FloError reason = {.text = "the function that is called after each step ended the call"};
  if (!world->after_step) return FLO_OK;
  tell_step(world, &info);
  world->is_in_step = true;
  reason.status = world->after_step(world->after_step_context, world, &info, &reason);
  world->is_in_step = false;
  if (reason.status != FLO_OK && error) *error = reason;
  return reason.status;
}

static FloStatus step_until(FloWorld *world, double until, FloStepInfo *info, FloError *error) {
  if (world->is_in_step)
    return flo_fail(error, FLO_BAD_INPUT,
                    "step: the function that is called after a step cannot begin another one");
  world->divergence.particle = SIZE_MAX;
  FloStatus status = world->is_unfinished ? finish_step(world, error) : try_step(world, until, error);
  if (status == FLO_OK) tell_step(world, info);
  world->divergence.has_happened = status == FLO_DIVERGED;
  if (status == FLO_DIVERGED && world->divergence.particle == SIZE_MAX)
    world->divergence.particle = flo_world_find_culprit(world);
  return status == FLO_OK ? tell_host(world, error) : status;
}

FloStatus flo_world_step(FloWorld *world, FloStepInfo *info, FloError *error) {
  FLO_NEED(world, error);
  return step_until(world, INFINITY, info, error);
}

static FloStatus check_goal(const FloWorld *world, double time, FloStepInfo *info, FloError *error) {
  FLO_NEED(world, error);
  if (!isfinite(time))
    return flo_fail(error, FLO_BAD_INPUT, "advance: the time must be finite, got %g", time);
  tell_step(world, info);
  return FLO_OK;
}

static bool needs_step(const FloWorld *world, double time) {
  return world->time < time || world->is_unfinished;
}

FloStatus flo_world_step_until(FloWorld *world, double time, FloStepInfo *info, FloError *error) {
  FLO_TRY(check_goal(world, time, info, error));
  return needs_step(world, time) ? step_until(world, time, info, error) : FLO_OK;
}

FloStatus flo_world_advance(FloWorld *world, double time, FloStepInfo *info, FloError *error) {
  FLO_TRY(check_goal(world, time, info, error));
  while (needs_step(world, time)) FLO_TRY(step_until(world, time, info, error));
  return FLO_OK;
}
