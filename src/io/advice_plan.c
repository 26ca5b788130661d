// Notes about times and limits: what begins after the end, keys that the method does not read, limits that
// are reached too soon, errors in sizes that were not chosen, and the time to build a scene.
#include "base/core.h"
#include "coupling/coupling.h"
#include "geometry/shapes.h"
#include "io/advice_parts.h"
#include "io/scene_steps.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

// ---- Times ----

// The time at which a motion begins; keyframes have times of their own.
static double motion_start(const FloMotionDef *motion) {
  return motion->kind == FLO_MOTION_KEYFRAMES ? fmax(motion->start, motion->keyframes[0].time)
                                              : motion->start;
}

static void advise_on_motions(FloAdvice *advice, const FloSceneBody *body) {
  for (size_t k = 0; k < body->def.n_motions; ++k) {
    double start = motion_start(&body->def.motions[k]), end = advice->scene->duration;
    if (start >= end)
      flo_advice_tell(advice,
                      "motion %zu of '%s' begins at %g s, but the scene ends at %g s; begin it earlier or "
                      "make the duration longer",
                      k, body->name, start, end);
  }
}

// The time at which an emitter or a sink first begins.
static double first_start(double start, const FloSceneSpans *spans) {
  return !spans->list ? start : spans->n ? spans->list[0][0] : INFINITY;
}

static void advise_on_start(FloAdvice *advice, const char *what, const char *name, double start) {
  if (start >= advice->scene->duration && isfinite(start))
    flo_advice_tell(
        advice,
        "%s '%s' begins at %g s, but the scene ends at %g s; begin it earlier or make the duration longer",
        what, name, start, advice->scene->duration);
}

void flo_advice_on_times(FloAdvice *advice) {
  const struct FloSceneParts *parts = advice->scene->parts;
  for (size_t k = 0; k < advice->scene->n_bodies; ++k) advise_on_motions(advice, &advice->scene->bodies[k]);
  for (size_t k = 0; k < parts->n_emitters; ++k)
    advise_on_start(advice, "emitter", flo_advice_name(advice, "emitters", k),
                    first_start(parts->emitters[k].def.start, &parts->emitters[k].spans));
  for (size_t k = 0; k < parts->n_sinks; ++k)
    advise_on_start(advice, "sink", flo_advice_name(advice, "sinks", k),
                    first_start(parts->sinks[k].def.start, &parts->sinks[k].spans));
  for (size_t k = 0; k < advice->scene->n_events; ++k)
    if (advice->scene->events[k].time > advice->scene->duration)
      flo_advice_tell(advice,
                      "/events/%zu is planned for %g s, but the scene ends at %g s; set an earlier time or "
                      "make the duration longer",
                      advice->scene->events[k].entry, advice->scene->events[k].time, advice->scene->duration);
  flo_advice_end_kind(advice, "that begin after the end");
}

// ---- What the method does not know ----

// The name of a method that reads slip and restitution; not all methods read both.
static const char *slip_reader(void) {
  for (size_t k = 0; k < flo_method_count(); ++k)
    if (flo_coupling_find(flo_method_name(k))->reads_slip &&
        flo_coupling_find(flo_method_name(k))->reads_restitution)
      return flo_method_name(k);
  return "another method";
}

static void advise_on_contact_keys(FloAdvice *advice, const char *what, const char *name, double slip,
                                   double restitution) {
  const FloMethod *method = advice->world->method;
  bool has_slip = slip >= 0 && !method->reads_slip, bounces = restitution >= 0 && !method->reads_restitution;
  if (!has_slip && !bounces) return;
  flo_advice_tell(advice, "%s '%.60s' has %s%s%s, which the method %s does not read; leave it out, or use %s",
                  what, name, has_slip ? "slip" : "", has_slip && bounces ? " and " : "",
                  bounces ? "restitution" : "", method->name, slip_reader());
}

static void advise_by_method(FloAdvice *advice) {
  char text[512];
  const FloMethod *method = advice->world->method;
  if (method->advise && method->advise(advice->world, text, sizeof text)) flo_advice_tell(advice, "%s", text);
  flo_advice_end_kind(advice, "of the method");
}

void flo_advice_on_method(FloAdvice *advice) {
  advise_by_method(advice);
  const struct FloSceneParts *parts = advice->scene->parts;
  for (size_t k = 0; k < advice->scene->n_bodies; ++k) {
    const FloSceneBody *body = &advice->scene->bodies[k];
    advise_on_contact_keys(advice, flo_scene_is_body(body) ? "body" : "boundary", body->name, body->def.slip,
                           body->def.restitution);
  }
  for (size_t k = 0; k < parts->n_materials; ++k)
    advise_on_contact_keys(advice, "material", parts->materials[k].name, parts->materials[k].def.slip,
                           parts->materials[k].def.restitution);
  for (size_t k = 0; k < parts->n_interfaces && !advice->world->method->reads_interfaces; ++k)
    flo_advice_tell(
        advice,
        "/interfaces/%zu sets a surface tension between fluids, which the method %s does not read; "
        "leave it out, or use unified",
        k, advice->world->method->name);
  flo_advice_end_kind(advice, "with keys that the method does not read");
}

// ---- Limits ----

void flo_advice_on_limits(FloAdvice *advice) {
  double most = (double)advice->scene->world.max_particles, emitted = flo_scene_emitted(advice->scene);
  double now = (double)flo_world_count(advice->world, FLO_SET_FLUID);
  if (most == 0) return;
  if (most < now)
    flo_advice_tell(advice,
                    "max_particles is %.0f, but the scene starts with %.0f fluid particles, so emitters can "
                    "add none; raise it or leave it out",
                    most, now);
  else if (now + emitted > most)
    flo_advice_tell(advice,
                    "emitters would add %.0f particles, %.0f in total, but max_particles is %.0f: they will "
                    "pause after about %.3g s of flow; raise max_particles, or add sinks that remove fluid",
                    emitted, now + emitted, most, (most - now) / emitted * advice->scene->duration);
  flo_advice_end_kind(advice, "limits");
}

// ---- Sizes ----

static FloStatus try_size(const char *path, const FloSceneOptions *options, const char *name,
                          FloError *error) {
  FloSceneOptions changed = *options;
  FloScene *scene;
  FloError cause;
  changed.size = name;
  FloStatus status = flo_scene_load(path, &changed, &scene, &cause);
  flo_scene_destroy(scene);
  if (status == FLO_OK) return FLO_OK;
  return flo_fail(error, status, "%s (with --size %.60s)", cause.text, name);
}

static FloStatus try_sizes(const char *path, const FloSceneOptions *options, json_t *sizes, FloError *error) {
  const char *name;
  json_t *size;
  json_object_foreach(sizes, name, size) {
    if (!options->size || strcmp(name, options->size) != 0) FLO_TRY(try_size(path, options, name, error));
  }
  return FLO_OK;
}

FloStatus flo_advice_check_sizes(const char *path, const FloSceneOptions *options, FloError *error) {
  FloSceneContext context = {
      .file = path, .error = error, .dim = 3, .files = json_array(), .origins = json_object()};
  json_t *root = NULL;
  FloStatus status =
      context.files && context.origins ? flo_scene_read_file(&context, &root) : flo_scene_no_memory(&context);
  if (status == FLO_OK) status = flo_scene_include(&context, root);
  if (status == FLO_OK) status = try_sizes(path, options, json_object_get(root, "sizes"), error);
  json_decref(root);
  json_decref(context.files);
  json_decref(context.origins);
  return status;
}

// ---- Set-up ----

// Measured with the scenes that come with the program, on two cores of 2 GHz. Fluid is created at about a
// million particles a second, surfaces are sampled at a third of that. Meshes are slower: for each sample
// about fifty distances to triangles are computed near the surface.
#define FLUID_SECONDS    1e-6
#define BOUNDARY_SECONDS 3e-6
#define MESH_SECONDS     4e-5
#define PARTICLE_BYTES   800

static bool is_same_figure(const FloShape *a, const FloShape *b) {
  for (int axis = 0; axis < 3; ++axis)
    if (a->size[axis] != b->size[axis]) return false;
  return a->kind == b->kind && a->radius == b->radius && a->radius2 == b->radius2 && a->mesh == b->mesh &&
         a->text == b->text && a->heights == b->heights && a->points == b->points;
}

// Samples form layers below a surface, three for most kernels. Instances share their distances, which are
// computed once.
static void add_bodies(const FloScene *scene, FloSetUp *made) {
  double s = scene->world.spacing, n = 0;
  for (size_t k = 0; k < scene->n_bodies; ++k) {
    const FloShape *shape = &scene->bodies[k].def.shape;
    bool is_new = k == 0 || !is_same_figure(shape, &scene->bodies[k - 1].def.shape);
    if (is_new) n = 3 * flo_scene_shape_surface(shape, scene->world.dim) / pow(s, scene->world.dim - 1);
    made->n_boundary += n;
    made->seconds += n * (is_new && !flo_shape_has_formula(shape) ? MESH_SECONDS : BOUNDARY_SECONDS);
  }
}

FloSetUp flo_advice_estimate_set_up(const FloScene *scene) {
  const struct FloSceneParts *parts = scene->parts;
  int dim = scene->world.dim;
  double s = scene->world.spacing;
  FloSetUp made = {0};
  for (size_t k = 0; k < parts->n_fluids; ++k)
    made.n_fluid += flo_scene_shape_volume(&parts->fluids[k].def.shape, dim) / pow(s, dim);
  for (size_t k = 0; k < parts->n_particle_files; ++k) made.n_fluid += (double)parts->particles[k].file.count;
  add_bodies(scene, &made);
  made.seconds += FLUID_SECONDS * made.n_fluid;
  made.bytes = PARTICLE_BYTES * (made.n_fluid + made.n_boundary);
  return made;
}
