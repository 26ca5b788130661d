// Notes about speeds and time steps: motion that is too fast for a time step, absurdly high speeds, and a
// fixed time step that is too long. Messages name the place in the scene's files.
#include "base/core.h"
#include "base/vecmath.h"
#include "io/advice_parts.h"
#include "io/scene_steps.h"
#include "state/state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- What is fast ----

// Anything that has a speed in the scene, and its place there.
typedef struct Mover {
  const char *list; // "boundaries", "bodies", "fluids" or "emitters"
  size_t index;
  const char *key; // the key that sets the speed
  const char *name;
  double speed;
} Mover;

typedef void MoverFn(void *context, const Mover *mover);

static void visit_bodies(const FloAdvice *advice, MoverFn *visit, void *context) {
  const FloScene *scene = advice->scene;
  for (size_t k = 0; k < scene->n_bodies; ++k) {
    const FloBody *body = &flo_bodies(advice->world)[k];
    bool is_dynamic = flo_body_is_pushed(body);
    Mover mover = {is_dynamic ? "bodies" : "boundaries", scene->bodies[k].entry,
                   is_dynamic ? "velocity" : "motions", scene->bodies[k].name, 0};
    if (is_dynamic) {
      double spin = vec_length(scene->bodies[k].def.angular_velocity) * body->reach;
      mover.speed = vec_length(scene->bodies[k].def.velocity);
      if (spin > mover.speed) mover.speed = spin, mover.key = "angular_velocity";
    } else if (flo_body_is_led(body)) {
      mover.speed = body->kind->top_speed(body, body->reach);
    }
    visit(context, &mover);
  }
}

static void visit_streams(const FloAdvice *advice, MoverFn *visit, void *context) {
  const struct FloSceneParts *parts = advice->scene->parts;
  for (size_t k = 0; k < parts->n_fluids; ++k) {
    const FloSceneFluid *fluid = &parts->fluids[k];
    visit(context, &(Mover){"fluids", k, "velocity", parts->materials[fluid->material].name,
                            vec_length(fluid->def.velocity)});
  }
  for (size_t k = 0; k < parts->n_emitters; ++k)
    visit(context, &(Mover){"emitters", k, "speed", flo_advice_name(advice, "emitters", k),
                            parts->emitters[k].def.speed});
}

// ---- Absurd ones ----

// A higher speed is hardly intended: sound in water has 1500 m/s.
#define FAST 1500

// Limit relative to the speed after a fall through the scene, or of crossing it in its duration.
#define OUT_OF_PROPORTION 50

// The typical speed of the scene: that of a fall from its top to its bottom.
static double natural_speed(const FloAdvice *advice) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, extent = 0;
  for (FloSet set = 0; set < FLO_SET_COUNT; ++set) {
    const FloParticles *p = &advice->world->sets[set];
    for (size_t i = 0; i < p->count; ++i) {
      const double x[3] = {p->x[i], p->y[i], p->z[i]};
      for (int axis = 0; axis < 3; ++axis)
        low[axis] = fmin(low[axis], x[axis]), high[axis] = fmax(high[axis], x[axis]);
    }
  }
  for (int axis = 0; axis < 3; ++axis) extent = fmax(extent, high[axis] - low[axis]);
  double fall = sqrt(2 * vec_length(advice->world->def.gravity) * extent);
  return fmax(fall, extent / advice->scene->duration);
}

typedef struct Judge {
  FloAdvice *advice;
  double natural, step; // [m/s], [s] the fixed time step or 0
} Judge;

static void enter_mover(FloSceneContext *context, const Mover *mover) {
  flo_scene_enter(context, mover->list);
  flo_scene_enter_index(context, mover->index);
  flo_scene_enter(context, mover->key);
}

// The note begins with the place in the scene's file, like error messages.
static void tell_of_mover(const Judge *judge, const Mover *mover, const char *what) {
  const FloScene *scene = judge->advice->scene;
  FloSceneContext context = {.file = scene->path, .origins = scene->parts->origins};
  enter_mover(&context, mover);
  json_t *origin = flo_scene_origin(&context, "");
  const char *place = json_string_value(json_array_get(origin, 1));
  flo_advice_tell(judge->advice, "%s: '%s' moves at up to %.3g m/s, %s", place ? place : context.path,
                  mover->name, mover->speed, what);
  json_decref(origin);
}

static void judge_mover(void *context, const Mover *mover) {
  const Judge *judge = context;
  const double spacings = mover->speed * judge->step / judge->advice->world->def.spacing;
  char text[256] = "";
  if (judge->step > 0 && spacings > 1)
    snprintf(text, sizeof text,
             "%.3g spacings in one time_step of %g s: fluid will pass through it; slow it down or set "
             "time_step to 0",
             spacings, judge->step);
  else if (mover->speed > FAST)
    snprintf(text, sizeof text, "faster than sound in water; check that it is in m, s and rad");
  else if (mover->speed > OUT_OF_PROPORTION * judge->natural)
    snprintf(text, sizeof text,
             "%.0f times the speed of a fall through the scene (%.3g m/s); check that it is in m, s and rad",
             mover->speed / judge->natural, judge->natural);
  if (text[0]) tell_of_mover(judge, mover, text);
}

void flo_advice_on_speeds(FloAdvice *advice) {
  Judge judge = {advice, natural_speed(advice), advice->scene->world.time_step};
  visit_bodies(advice, judge_mover, &judge);
  visit_streams(advice, judge_mover, &judge);
  flo_advice_end_kind(advice, "that are fast");
}

// ---- A fixed time step ----

// A fixed step longer than the method's own by this factor is hardly stable.
#define TOO_LONG 3

void flo_advice_on_steps(FloAdvice *advice) {
  FloWorld *world = advice->world;
  const double fixed = world->def.time_step;
  const char *limited_by = "";
  if (!(fixed > 0)) return;
  world->def.time_step = 0;
  double own = flo_world_max_dt(world, &limited_by);
  world->def.time_step = fixed;
  bool boils = !strcmp(limited_by, "pressure");
  if (own > 0 && boils && fixed > own)
    flo_advice_tell(advice,
                    "/time_step: %g s is longer than the limit of %.3g s at which fluid of this depth stays "
                    "still, so it will boil; set it to 0 to let the method choose",
                    fixed, own);
  else if (own > 0 && fixed > TOO_LONG * own)
    flo_advice_tell(
        advice,
        "/time_step: %g s is %.3g times as long as the step that the method would choose (%.3g s, limited by "
        "%s), so the run will probably diverge; set it to 0 to let the method choose",
        fixed, fixed / own, own, limited_by);
  flo_advice_end_kind(advice, "time steps");
}

void flo_advice_explain_divergence(const FloScene *scene, FloError *error) {
  FloError cause = *error;
  if (error->status != FLO_DIVERGED || !(scene->world.time_step > 0)) return;
  flo_fail(error, FLO_DIVERGED,
           "%.400s; %.300s: /time_step: %g s is fixed; set it to 0 to let the method choose", cause.text,
           scene->path, scene->world.time_step);
}

// ---- Impossible ones ----

static void keep_fastest(void *context, const Mover *mover) {
  Mover *fastest = context;
  if (mover->speed > fastest->speed) *fastest = *mover;
}

FloStatus flo_advice_check_speeds(const FloScene *scene, FloWorld *world, FloError *error) {
  const char *limited_by = "";
  double dt = flo_world_max_dt(world, &limited_by);
  if (world->def.time_step > 0 || !(dt < world->def.min_time_step)) return FLO_OK;
  FloAdvice advice = {.scene = scene, .world = world};
  Mover fastest = {0};
  visit_bodies(&advice, keep_fastest, &fastest);
  visit_streams(&advice, keep_fastest, &fastest);
  // Other limits, such as that of the speed of sound, are found by the first step.
  if (!fastest.list || fastest.speed < flo_world_measure_speed(world)) return FLO_OK;
  FloSceneContext context = {.file = scene->path, .error = error, .origins = scene->parts->origins};
  enter_mover(&context, &fastest);
  return flo_scene_fail(
      &context,
      "'%s' moves at up to %.3g m/s, which needs a time step of %.3g s, below min_time_step = %g s; make it "
      "slower",
      fastest.name, fastest.speed, dt, world->def.min_time_step);
}
