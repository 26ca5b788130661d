#include "io/advice.h"

#include "base/pose.h"
#include "base/vecmath.h"
#include "io/scene_steps.h"
#include "world.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// More of one kind are counted, not listed.
enum { MAX_OF_A_KIND = 5 };

// Fewer samples than this have no shape to speak of.
enum { FEW_SAMPLES = 8 };

typedef struct Advice {
  const FloScene *scene;
  FloWorld *world;
  FloAdviceFn say;
  void *context;
  size_t n_said, n_of_kind;
} Advice;

__attribute__((format(printf, 2, 3))) static void tell(Advice *advice, const char *format, ...) {
  char text[512];
  advice->n_said++;
  if (++advice->n_of_kind > MAX_OF_A_KIND) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  advice->say(advice->context, text);
}

static void end_kind(Advice *advice, const char *what) {
  if (advice->n_of_kind > MAX_OF_A_KIND) {
    char text[128];
    snprintf(text, sizeof text, "... and %zu more %s", advice->n_of_kind - MAX_OF_A_KIND, what);
    advice->say(advice->context, text);
  }
  advice->n_of_kind = 0;
}

// ---- Single bodies ----

static void advise_on_size(Advice *advice, const FloBody *body) {
  double s = advice->world->def.spacing, low[3], high[3], thinnest = INFINITY;
  flo_solid_bounds(body->solid, low, high);
  for (int axis = 0; axis < advice->world->def.dim; ++axis) thinnest = fmin(thinnest, high[axis] - low[axis]);
  if (thinnest < s)
    tell(advice,
         "'%s' is %.3g m thin, less than one spacing (%.3g m): fluid may pass through it; make it thicker "
         "or the spacing finer",
         body->name, thinnest, s);
  else if (body->count < FEW_SAMPLES)
    tell(advice,
         "'%s' has only %zu particles, too few to have its shape; make it larger or the spacing finer",
         body->name, body->count);
}

// ---- Pairs of bodies ----

typedef struct Box {
  double low[3], high[3];
} Box;

// Around the samples of a body, and a little more.
static Box box_of(const Advice *advice, const FloBody *body) {
  const FloParticles *b = &advice->world->sets[FLO_SET_BOUNDARY];
  Box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    const double x[3] = {b->x[i], b->y[i], b->z[i]};
    for (int axis = 0; axis < 3; ++axis) {
      box.low[axis] = fmin(box.low[axis], x[axis] - 2 * advice->world->def.spacing);
      box.high[axis] = fmax(box.high[axis], x[axis] + 2 * advice->world->def.spacing);
    }
  }
  return box;
}

static bool is_in_box(const Box *box, const double x[3]) {
  for (int axis = 0; axis < 3; ++axis)
    if (x[axis] < box->low[axis] || x[axis] > box->high[axis]) return false;
  return true;
}

static bool do_boxes_meet(const Box *a, const Box *b) {
  for (int axis = 0; axis < 3; ++axis)
    if (a->low[axis] > b->high[axis] || b->low[axis] > a->high[axis]) return false;
  return true;
}

// Samples lie half a spacing below the surface; so far, at least, one body's sample is from another's surface
// where the bodies just touch.
static void advise_on_pair(Advice *advice, const FloBody *body, const FloBody *other,
                           const Box *around_other) {
  const FloParticles *b = &advice->world->sets[FLO_SET_BOUNDARY];
  double s = advice->world->def.spacing, deepest = 0, narrowest = INFINITY;
  size_t n_inside = 0;
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    const double x[3] = {b->x[i], b->y[i], b->z[i]};
    if (!is_in_box(around_other, x)) continue;
    double distance = flo_world_distance(advice->world, other, x), gap = distance - s / 2;
    n_inside += distance < 0;
    deepest = fmax(deepest, -distance);
    narrowest = fmin(narrowest, gap);
  }
  if (deepest > 0.1 * s)
    tell(advice,
         "'%s' stands in '%s': %zu of its %zu particles are inside, the deepest by %.3g m; move one of them",
         body->name, other->name, n_inside, body->count, deepest + s / 2);
  else if (n_inside == 0 && narrowest > 0.3 * s && narrowest < 0.9 * s)
    tell(advice,
         "the gap between '%s' and '%s' is %.3g m, narrower than one spacing (%.3g m): no fluid fits in it",
         body->name, other->name, narrowest, s);
}

static void advise_on_pairs(Advice *advice) {
  size_t n = advice->world->bodies.count;
  const FloBody *bodies = flo_bodies(advice->world);
  Box *boxes = malloc((n + 1) * sizeof *boxes);
  for (size_t k = 0; boxes && k < n; ++k) boxes[k] = box_of(advice, &bodies[k]);
  for (size_t a = 0; boxes && a < n; ++a)
    for (size_t k = a + 1; k < n; ++k)
      if (do_boxes_meet(&boxes[a], &boxes[k])) advise_on_pair(advice, &bodies[k], &bodies[a], &boxes[a]);
  free(boxes);
  end_kind(advice, "pairs of bodies");
}

// ---- Fluid ----

static bool is_in_any_tank(const FloWorld *world, const double x[3], bool *has_tank) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    if (body->solid->shape.kind != FLO_SHAPE_TANK) continue;
    *has_tank = true;
    if (flo_world_is_in_tank(world, body, x)) return true;
  }
  return false;
}

static void advise_on_fluid(Advice *advice) {
  const FloParticles *p = &advice->world->sets[FLO_SET_FLUID];
  size_t n_outside = 0, first = 0;
  bool has_tank = false;
  for (size_t i = 0; i < p->count; ++i) {
    const double x[3] = {p->x[i], p->y[i], p->z[i]};
    if (is_in_any_tank(advice->world, x, &has_tank)) continue;
    if (n_outside++ == 0) first = i;
  }
  if (has_tank && n_outside)
    tell(advice,
         "%zu of %zu fluid particles start outside of every tank, the first at (%g, %g, %g); they will fall "
         "for ever",
         n_outside, p->count, p->x[first], p->y[first], p->z[first]);
  end_kind(advice, "");
}

static void advise_on_meshes(Advice *advice) {
  for (const FloSceneAttachment *a = advice->scene->parts->attachments; a; a = a->next)
    if (a->problems[0]) tell(advice, "%s: %s", a->text, a->problems);
  end_kind(advice, "meshes");
}

size_t flo_advice_give(const FloScene *scene, FloWorld *world, FloAdviceFn say, void *context) {
  Advice advice = {.scene = scene, .world = world, .say = say, .context = context};
  advise_on_meshes(&advice);
  for (size_t k = 0; k < world->bodies.count; ++k) advise_on_size(&advice, &flo_bodies(world)[k]);
  end_kind(&advice, "bodies");
  advise_on_pairs(&advice);
  advise_on_fluid(&advice);
  return advice.n_said;
}
