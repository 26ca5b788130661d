// Notes about emitters, sinks and probes that fluid cannot reach: they are outside the region that fluid can
// reach, or inside a solid.
#include "base/pose.h"
#include "base/vecmath.h"
#include "io/advice_parts.h"
#include "io/scene_steps.h"
#include "state/state.h"

#include <math.h>

// ---- Where fluid can come ----

// A box that is unlimited along gravity and periodic axes. Fluid in tanks reaches all tanks and other bodies.
// Fluid that nothing holds reaches as far as it can fly.
typedef struct Reach {
  double low[3], high[3];
  bool has_free; // some fluid is in no tank
} Reach;

static void include_point(Reach *reach, const double x[3], double margin) {
  for (int axis = 0; axis < 3; ++axis) {
    reach->low[axis] = fmin(reach->low[axis], x[axis] - margin);
    reach->high[axis] = fmax(reach->high[axis], x[axis] + margin);
  }
}

static void include_box(Reach *reach, const FloSolid *solid, const FloPose *pose, double margin) {
  double bounds[2][3], local[3], x[3];
  flo_solid_bounds(solid, bounds[0], bounds[1]);
  for (int corner = 0; corner < 8; ++corner) {
    for (int axis = 0; axis < 3; ++axis) local[axis] = bounds[corner >> axis & 1][axis];
    pose_to_world(pose, local, x);
    include_point(reach, x, margin);
  }
}

// Only this many tanks are checked. Fluid in further tanks counts as free, which gives fewer notes.
enum { MAX_TANKS = 16 };

typedef struct Tanks {
  const FloBody *list[MAX_TANKS];
  size_t count;
} Tanks;

static Tanks find_tanks(const FloWorld *world) {
  Tanks tanks = {0};
  for (size_t k = 0; k < world->bodies.count && tanks.count < MAX_TANKS; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    if (body->solid->shape.kind == FLO_SHAPE_TANK) tanks.list[tanks.count++] = body;
  }
  return tanks;
}

static void include_source(const Tanks *tanks, Reach *reach, const double x[3]) {
  include_point(reach, x, 0);
  bool is_held = reach->has_free;
  for (size_t k = 0; k < tanks->count && !is_held; ++k) is_held = flo_posed_is_in_tank(tanks->list[k], x);
  reach->has_free |= !is_held;
}

static void include_sources(const FloAdvice *advice, Reach *reach) {
  const FloParticles *p = &advice->world->sets[FLO_SET_FLUID];
  const struct FloSceneParts *parts = advice->scene->parts;
  Tanks tanks = find_tanks(advice->world);
  for (size_t i = 0; i < p->count; ++i)
    include_source(&tanks, reach, (const double[3]){p->x[i], p->y[i], p->z[i]});
  for (size_t k = 0; k < parts->n_emitters; ++k)
    include_source(&tanks, reach, parts->emitters[k].def.pose.position);
  for (size_t k = 0; k < parts->n_added; ++k)
    include_source(&tanks, reach, parts->added[k].def.pose.position);
}

// The highest speed of anything: at the start, or after a fall through the scene.
static double find_speed(const FloAdvice *advice) {
  const FloWorld *world = advice->world;
  double speed = fmax(flo_world_measure_speed(world), flo_world_scheduled_wall_speed(world));
  for (size_t k = 0; k < world->emitters.count; ++k) speed = fmax(speed, flo_emitters(world)[k].def.speed);
  return sqrt(speed * speed + 2 * vec_length(world->def.gravity) * flo_world_fall_height(world));
}

// The normal of a 2D scene, the direction of gravity and periodic axes do not count.
static void open_axes(const FloWorld *world, Reach *reach, bool is_open_below) {
  const double g = vec_length(world->def.gravity);
  for (int axis = 0; axis < 3; ++axis) {
    bool is_along = fabs(world->def.gravity[axis]) > 1e-6 * g;
    bool is_open = axis >= world->def.dim || world->def.periodic[axis];
    if (is_open || (is_along && (is_open_below || world->def.gravity[axis] > 0)))
      reach->low[axis] = -INFINITY;
    if (is_open || (is_along && (is_open_below || world->def.gravity[axis] < 0)))
      reach->high[axis] = INFINITY;
  }
}

static bool has_moving_bodies(const FloWorld *world) {
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (flo_bodies(world)[k].is_moving) return true;
  return false;
}

// `is_generous`: adds room beside tanks for fluid that splashes out.
static Reach find_reach(const FloAdvice *advice, bool is_generous) {
  const FloWorld *world = advice->world;
  Reach reach = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, false};
  include_sources(advice, &reach);
  for (size_t k = 0; k < world->bodies.count; ++k)
    include_box(&reach, flo_bodies(world)[k].solid, &flo_bodies(world)[k].state.pose, 0);
  double margin = world->kernel.support;
  if (is_generous)
    for (int axis = 0; axis < world->def.dim; ++axis)
      margin = fmax(margin, reach.high[axis] - reach.low[axis]);
  bool flies = reach.has_free || has_moving_bodies(world);
  if (flies) margin += find_speed(advice) * advice->scene->duration;
  for (int axis = 0; axis < 3; ++axis) reach.low[axis] -= margin, reach.high[axis] += margin;
  open_axes(world, &reach, is_generous || flies);
  return reach;
}

// ---- In solids ----

// A static body that holds the point at least at this depth; NULL if there is none.
static const FloBody *find_solid_at(const FloWorld *world, const double x[3], double depth) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    double between[3];
    if (body->is_moving) continue;
    flo_domain_between(&world->domain, body->state.pose.position, x, between);
    if (vec_length(between) <= body->reach && flo_world_distance(world, body, x) < -depth) return body;
  }
  return NULL;
}

// Points that represent an extent: this many steps along each axis, from -1/2 to 1/2 of it.
enum { N_STEPS = 5, N_POINTS = N_STEPS * N_STEPS * N_STEPS };

static double step_at(int k) { return (double)k / (N_STEPS - 1) - 0.5; }

static void spread(int k, double at[3]) {
  vec_set(at, step_at(k % N_STEPS), step_at(k / N_STEPS % N_STEPS), step_at(k / N_STEPS / N_STEPS));
}

// ---- Emitters ----

// A point at a given distance in front of the emitter's opening.
static void window_point(const FloWorld *world, const FloEmitterDef *def, int k, double ahead, double x[3]) {
  double at[3], height = def->round ? def->size[0] : def->size[1];
  spread(k, at);
  // Nine tenths of the size, so that the edge does not touch the solid below it.
  double local[3] = {ahead, 0.9 * def->size[0] * at[0], world->def.dim == 3 ? 0.9 * height * at[1] : 0};
  pose_to_world(&def->pose, local, x);
}

// An opening inside a wall may be intended. So the stream is checked one support radius in front of it: if
// that is inside the solid too, it is an error.
static const FloBody *find_wall_before(const FloWorld *world, const FloEmitterDef *def) {
  const FloBody *found = NULL;
  for (int k = 0; k < N_STEPS * N_STEPS; ++k) {
    double x[3], ahead[3];
    window_point(world, def, k, 0, x);
    window_point(world, def, k, world->kernel.support, ahead);
    found = find_solid_at(world, x, 0) ? find_solid_at(world, ahead, 0) : NULL;
    if (!found) return NULL;
  }
  return found;
}

static bool is_stream_lost(const FloWorld *world, const FloEmitterDef *def) {
  FloFall fall;
  double x[3], velocity[3] = {def->speed, 0, 0};
  if (!flo_advice_can_fall(world, &fall)) return false;
  quat_rotate(def->pose.rotation, velocity, velocity);
  for (int k = 0; k < N_STEPS * N_STEPS; ++k) {
    window_point(world, def, k, 0, x);
    if (!flo_advice_falls_for_ever(&fall, x, velocity)) return false;
  }
  return true;
}

static void advise_on_emitters(FloAdvice *advice) {
  const struct FloSceneParts *parts = advice->scene->parts;
  for (size_t k = 0; k < parts->n_emitters; ++k) {
    const FloEmitterDef *def = &parts->emitters[k].def;
    const char *name = flo_advice_name(advice, "emitters", k);
    const double *x = def->pose.position;
    const FloBody *body = find_wall_before(advice->world, def);
    if (body)
      flo_advice_tell(advice, "emitter '%s' at (%g, %g, %g) is inside '%s'; move it out of the solid", name,
                      x[0], x[1], x[2], body->name);
    else if (is_stream_lost(advice->world, def))
      flo_advice_tell(advice,
                      "the fluid of emitter '%s' at (%g, %g, %g) will fall for ever, because nothing is "
                      "below it; move the emitter, or put a boundary or a sink there",
                      name, x[0], x[1], x[2]);
  }
  flo_advice_end_kind(advice, "emitters");
}

// ---- Fluid that events add ----

static void advise_on_added(FloAdvice *advice) {
  FloFall fall;
  if (!flo_advice_can_fall(advice->world, &fall)) return;
  for (size_t k = 0; k < advice->scene->n_events; ++k) {
    const FloSceneEvent *event = &advice->scene->events[k];
    if (event->kind != FLO_EVENT_ADD) continue;
    const FloFluidDef *def = &advice->scene->parts->added[event->index].def;
    if (flo_advice_falls_for_ever(&fall, def->pose.position, def->velocity))
      flo_advice_tell(advice,
                      "the fluid that event %zu adds at %g s will fall for ever, because nothing is below "
                      "it; put a boundary or a sink there",
                      event->entry, event->time);
  }
  flo_advice_end_kind(advice, "events");
}

// ---- Sinks ----

static bool do_boxes_meet(const Reach *a, const Reach *b) {
  for (int axis = 0; axis < 3; ++axis)
    if (a->low[axis] > b->high[axis] || b->low[axis] > a->high[axis]) return false;
  return true;
}

// A body that contains all of a sink; NULL if a part of the sink is free.
static const FloBody *find_body_around(const FloWorld *world, const FloSink *sink) {
  const FloBody *found = NULL;
  double low[3], high[3];
  flo_solid_bounds(sink->solid, low, high);
  for (int k = 0; k < N_POINTS; ++k) {
    double at[3], local[3], x[3];
    spread(k, at);
    for (int axis = 0; axis < 3; ++axis)
      local[axis] =
          axis < world->def.dim ? (low[axis] + high[axis]) / 2 + at[axis] * (high[axis] - low[axis]) : 0;
    if (flo_solid_distance(sink->solid, local) > 0) continue;
    pose_to_world(&sink->def.pose, local, x);
    found = find_solid_at(world, x, 0);
    if (!found) return NULL;
  }
  return found;
}

static void advise_on_sink(FloAdvice *advice, const Reach *reach, const FloSink *sink, const char *name) {
  Reach box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, false};
  const double *x = sink->def.pose.position;
  include_box(&box, sink->solid, &sink->def.pose, 0);
  const FloBody *body = find_body_around(advice->world, sink);
  if (!do_boxes_meet(reach, &box))
    flo_advice_tell(advice, "sink '%s' at (%g, %g, %g) is out of reach of all fluid; move it", name, x[0],
                    x[1], x[2]);
  else if (body)
    flo_advice_tell(advice, "sink '%s' at (%g, %g, %g) is inside '%s', where no fluid comes; move it", name,
                    x[0], x[1], x[2], body->name);
}

// The world has one sink for every time interval in which a sink of the scene is active.
static void advise_on_sinks(FloAdvice *advice) {
  const struct FloSceneParts *parts = advice->scene->parts;
  if (parts->n_sinks == 0) return;
  Reach reach = find_reach(advice, true);
  for (size_t k = 0, first = 0; k < parts->n_sinks; ++k) {
    const FloSceneSpans *spans = &parts->sinks[k].spans;
    size_t n_spans = spans->list ? spans->n : 1;
    if (n_spans > 0 && first < advice->world->sinks.count)
      advise_on_sink(advice, &reach, &flo_sinks(advice->world)[first], flo_advice_name(advice, "sinks", k));
    first += n_spans;
  }
  flo_advice_end_kind(advice, "sinks");
}

void flo_advice_on_streams(FloAdvice *advice) {
  advise_on_emitters(advice);
  advise_on_added(advice);
  advise_on_sinks(advice);
}

// ---- Probes ----

static bool is_within(const Reach *reach, const double x[3], int skipped_axis) {
  for (int axis = 0; axis < 3; ++axis)
    if (axis != skipped_axis && (x[axis] < reach->low[axis] || x[axis] > reach->high[axis])) return false;
  return true;
}

static void advise_on_probe(FloAdvice *advice, const FloProbe *probe, const Reach *reach) {
  const FloWorld *world = advice->world;
  const double *x = probe->point, s = world->def.spacing;
  bool is_line = probe->kind == FLO_PROBE_WATER_HEIGHT;
  if (!is_line && probe->kind != FLO_PROBE_PRESSURE) return;
  // A probe in a wall measures fluid within a support radius in front of it. A vertical line always reaches
  // free space above its foot.
  const FloBody *body = is_line ? NULL : find_solid_at(world, x, world->kernel.support - s / 2);
  if (!is_within(reach, x, is_line ? advice->scene->up : -1))
    flo_advice_tell(
        advice,
        "probe '%s' at (%g, %g, %g) will measure nothing, because it is out of reach of all fluid; move it",
        probe->name, x[0], x[1], x[2]);
  else if (body)
    flo_advice_tell(advice,
                    "probe '%s' at (%g, %g, %g) will measure nothing, because it is inside '%s'; move it",
                    probe->name, x[0], x[1], x[2], body->name);
}

void flo_advice_on_probes(FloAdvice *advice) {
  if (advice->scene->n_probes == 0) return;
  Reach reach = find_reach(advice, false);
  for (size_t k = 0; k < advice->scene->n_probes; ++k)
    advise_on_probe(advice, &advice->scene->probes[k], &reach);
  flo_advice_end_kind(advice, "probes");
}
