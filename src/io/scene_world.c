// Values of the whole scene: text, time, gravity, kernel, periodic box, method, camera.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core.h"
#include "base/vecmath.h"
#include "coupling/coupling.h"
#include "io/scene_steps.h"
#include "io/shown.h"
#include "io/suggest.h"

#define MAX_FRAMES 1e6

static const char axis_letters[] = "xyz";

// ---- Text ----

static FloStatus copy_text(FloSceneContext *context, const char *from, char **to) {
  *to = strdup(from);
  return *to ? FLO_OK : flo_scene_no_memory(context);
}

static FloStatus read_texts(FloSceneContext *context, json_t *root, FloScene *scene) {
  if (!json_object_get(root, "title") && json_object_set_new(root, "title", json_string(scene->name)))
    return flo_scene_fail(context, "needs a 'title', because the file's name is not valid UTF-8");
  FLO_TRY(copy_text(context, flo_json_text(root, "title"), &scene->title));
  FLO_TRY(copy_text(context, flo_json_text(root, "shows"), &scene->shows));
  snprintf(scene->colour_by, sizeof scene->colour_by, "%s", flo_json_text(root, "colour_by"));
  return FLO_OK;
}

// ---- Space ----

static FloStatus read_gravity(FloSceneContext *context, json_t *root, FloScene *scene) {
  const json_t *gravity = json_object_get(root, "gravity");
  flo_json_vector(root, "gravity", scene->world.gravity);
  if (json_is_array(gravity)) return FLO_OK;
  scene->world.gravity[scene->up] = -json_number_value(gravity);
  if (json_number_value(gravity) >= 0) return FLO_OK;
  flo_scene_enter(context, "gravity");
  return flo_scene_fail(context, "as a single number must be >= 0, because it already points down, got %.9g",
                        json_number_value(gravity));
}

static FloStatus read_periodic_axis(FloSceneContext *context, char letter, FloWorldDef *def) {
  const char *place = letter ? strchr(axis_letters, letter) : NULL;
  int axis = place ? (int)(place - axis_letters) : 3;
  if (axis >= context->dim)
    return flo_scene_fail(context, "must be made of %s, got '%c'",
                          context->dim == 2 ? "x and y" : "x, y and z", letter);
  if (def->periodic[axis]) return flo_scene_fail(context, "names %c twice", letter);
  def->periodic[axis] = true;
  if (def->domain_low[axis] < def->domain_high[axis]) return FLO_OK;
  return flo_scene_fail(context, "along %c, low must be below high, got %.9g and %.9g", letter,
                        def->domain_low[axis], def->domain_high[axis]);
}

static FloStatus read_periodic(FloSceneContext *context, json_t *root, FloWorldDef *def) {
  const json_t *periodic = json_object_get(root, "periodic");
  if (!periodic) return FLO_OK;
  size_t mark = flo_scene_enter(context, "periodic");
  flo_json_vector(periodic, "low", def->domain_low);
  flo_json_vector(periodic, "high", def->domain_high);
  flo_scene_enter(context, "axes");
  const char *letters = flo_json_text(periodic, "axes");
  if (!*letters) return flo_scene_fail(context, "must name at least one axis");
  for (; *letters; letters++) FLO_TRY(read_periodic_axis(context, *letters, def));
  flo_scene_leave(context, mark);
  return FLO_OK;
}

static FloStatus read_kernel(FloSceneContext *context, json_t *root, FloWorldDef *def) {
  const char *name = flo_json_text(root, "kernel");
  if (flo_kernel_from_name(name, &def->kernel)) return FLO_OK;
  FloSuggestion suggestion = flo_suggest_start(name);
  char hint[128], list[256] = "";
  for (int k = 0; k < FLO_KERNEL_COUNT; k++) {
    flo_text_append(list, sizeof list, ", ", flo_kernel_name((FloKernel)k));
    flo_suggest_offer(&suggestion, flo_kernel_name((FloKernel)k));
  }
  flo_scene_enter(context, "kernel");
  return flo_scene_fail(context, "unknown kernel '%.60s'%s (there are %s)", name,
                        flo_suggest_text(&suggestion, hint), list);
}

// ---- Time ----

static FloStatus read_times(FloSceneContext *context, json_t *root, FloScene *scene) {
  FloWorldDef *def = &scene->world;
  scene->duration = flo_json_number(root, "duration");
  scene->frames_per_second = flo_json_number(root, "frames_per_second");
  def->time_step = flo_json_number(root, "time_step");
  def->cfl = flo_json_number(root, "cfl");
  def->min_time_step = flo_json_number(root, "min_time_step");
  def->max_time_step = flo_json_number(root, "max_time_step");
  def->settle = flo_json_number(root, "settle");
  if (scene->duration * scene->frames_per_second > MAX_FRAMES)
    return flo_scene_fail(context,
                          "%g s with %g frames per second make %.3g frames, at most %.0f are allowed; use a "
                          "shorter duration or fewer frames_per_second",
                          scene->duration, scene->frames_per_second,
                          scene->duration * scene->frames_per_second, MAX_FRAMES);
  // A smaller time step would not change a time near the end, because of rounding.
  double least = scene->duration * DBL_EPSILON;
  if (def->time_step > 0 && def->time_step < least) {
    flo_scene_enter(context, "time_step");
    return flo_scene_fail(
        context,
        "must be 0 or at least %.3g s for a duration of %g s, got %.9g: smaller steps are lost by rounding",
        least, scene->duration, def->time_step);
  }
  if (def->min_time_step < def->max_time_step) return FLO_OK;
  flo_scene_enter(context, "min_time_step");
  return flo_scene_fail(context, "must be below max_time_step, got %.9g and %.9g", def->min_time_step,
                        def->max_time_step);
}

static FloStatus check_settle(FloSceneContext *context, const FloWorldDef *def) {
  if (def->settle == 0 || vec_length(def->gravity) > 0) return FLO_OK;
  flo_scene_enter(context, "settle");
  return flo_scene_fail(context,
                        "works only with gravity, because fluid does not settle without it; leave it out");
}

// ---- Camera ----

bool flo_camera_has_sight(const FloCamera *camera) {
  for (int axis = 0; axis < 3; axis++)
    if ((float)camera->from[axis] != (float)camera->look_at[axis]) return true;
  return false;
}

static FloStatus read_camera(FloSceneContext *context, json_t *root, FloCamera *camera) {
  const json_t *object = json_object_get(root, "camera");
  if (!object) return FLO_OK;
  camera->is_set = true;
  camera->field_of_view = flo_json_number(object, "field_of_view");
  flo_json_vector(object, "from", camera->from);
  flo_json_vector(object, "look_at", camera->look_at);
  if (flo_camera_has_sight(camera)) return FLO_OK;
  flo_scene_enter(context, "camera");
  return flo_scene_fail(context, "'from' and 'look_at' must be different points");
}

FloStatus flo_scene_read_world(FloSceneContext *context, json_t *root, const FloSceneOptions *options,
                               FloScene *scene) {
  FloWorldDef *def = &scene->world;
  *def = flo_default_world_def();
  scene->up = context->up;
  def->dim = context->dim;
  def->threads = options->threads;
  def->allocator = options->allocator;
  def->spacing = flo_json_number(root, "spacing");
  def->support = flo_json_number(root, "support");
  def->max_particles = (size_t)flo_json_number(root, "max_particles");
  scene->refuses_overlaps = !strcmp(flo_json_text(root, "overlaps"), "refuse");
  FLO_TRY(read_texts(context, root, scene));
  FLO_TRY(read_gravity(context, root, scene));
  FLO_TRY(read_periodic(context, root, def));
  FLO_TRY(read_kernel(context, root, def));
  FLO_TRY(read_times(context, root, scene));
  FLO_TRY(check_settle(context, def));
  return read_camera(context, root, &scene->camera);
}

// ---- Method ----

static FloStatus find_method(FloSceneContext *context, const char *name, const char **found) {
  FloSuggestion suggestion = flo_suggest_start(name);
  char hint[128], list[256] = "";
  for (size_t k = 0; k < flo_method_count(); k++) {
    *found = flo_method_name(k);
    if (!strcmp(*found, name)) return FLO_OK;
    flo_suggest_offer(&suggestion, *found);
    flo_text_append(list, sizeof list, ", ", *found);
  }
  if (flo_method_is_announced(name))
    return flo_scene_fail(context, "method '%s' is planned but not available yet; there is %s", name, list);
  return flo_scene_fail(context, "unknown method '%.60s'%s (there is %s)", name,
                        flo_suggest_text(&suggestion, hint), list);
}

static const FloParam *find_param(const char *method, const char *name) {
  size_t n_params;
  const FloParam *params = flo_method_params(method, &n_params);
  for (size_t k = 0; k < n_params; k++)
    if (!strcmp(params[k].name, name)) return &params[k];
  return NULL;
}

static FloStatus unknown_param(FloSceneContext *context, const char *method, const char *name) {
  size_t n_params;
  const FloParam *params = flo_method_params(method, &n_params);
  FloSuggestion suggestion = flo_suggest_start(name);
  char hint[128], list[512] = "";
  // There are few parameters, so even a less similar word ("alfa") is a good suggestion.
  suggestion.distance = flo_max_size(suggestion.distance, strlen(name) / 2 + 1);
  for (size_t k = 0; k < n_params; k++) {
    flo_suggest_offer(&suggestion, params[k].name);
    flo_text_append(list, sizeof list, ", ", params[k].name);
  }
  return flo_scene_fail(context, "unknown parameter '%.60s' of method '%s'%s (there is %s)", name, method,
                        flo_suggest_text(&suggestion, hint), list);
}

// The scene was written for the method `own`. If another method is chosen, parameters that it does not have
// are left out, but a word that neither has is an error.
static FloStatus check_params(FloSceneContext *context, json_t *object, const char *own, const char *chosen) {
  const char *name;
  json_t *value;
  void *next;
  json_object_foreach_safe(object, next, name, value) {
    if (!strcmp(name, "name") || find_param(chosen, name)) continue;
    if (!find_param(own, name)) return unknown_param(context, own, name);
    json_object_del(object, name);
  }
  return FLO_OK;
}

// The number for a word; the scene keeps the word.
static FloStatus read_word(FloSceneContext *context, const json_t *given, const FloParam *param,
                           const char *const *words, double *value) {
  const char *word = json_string_value(given);
  FloSuggestion suggestion = flo_suggest_start(word ? word : "");
  char hint[128], found[96], list[256] = "";
  for (size_t k = 0; words[k]; k++) {
    *value = (double)k;
    if (word && !strcmp(words[k], word)) return FLO_OK;
    flo_suggest_offer(&suggestion, words[k]);
    flo_text_append(list, sizeof list, ", ", words[k]);
  }
  flo_scene_enter(context, param->name);
  if (!word)
    return flo_scene_fail(context, "must be one of the words %s, got %s", list,
                          flo_shown_value(given, found));
  return flo_scene_fail(context, "unknown word '%.60s'%s (known words: %s)", word,
                        flo_suggest_text(&suggestion, hint), list);
}

static FloStatus read_param(FloSceneContext *context, json_t *object, const char *method,
                            const FloParam *param, double *value) {
  const char *const *words = flo_method_words(method, param->name);
  json_t *fallback = words ? json_string(words[(int)param->value]) : json_real(param->value);
  bool is_given = json_object_get(object, param->name) != NULL;
  if (is_given) json_decref(fallback);
  if (!is_given && json_object_set_new(object, param->name, fallback)) return flo_scene_no_memory(context);
  if (words) return read_word(context, json_object_get(object, param->name), param, words, value);
  FloSceneRange range = {param->low, param->high, false, false};
  size_t mark = flo_scene_enter(context, param->name);
  json_t *replacement;
  FLO_TRY(flo_scene_resolve_number(context, json_object_get(object, param->name), range, &replacement));
  if (replacement && json_object_set_new(object, param->name, replacement))
    return flo_scene_no_memory(context);
  *value = flo_json_number(object, param->name);
  if (param->type != FLO_PARAM_NUMBER && *value != floor(*value))
    return flo_scene_fail(context,
                          param->type == FLO_PARAM_SWITCH ? "must be 0 or 1, got %g"
                                                          : "must be a whole number, got %g",
                          *value);
  flo_scene_leave(context, mark);
  return FLO_OK;
}

// If min_iterations is only a default, it is lowered to max_iterations.
static FloStatus check_iterations(FloSceneContext *context, const json_t *object, const char *method) {
  const FloParam *least = find_param(method, "min_iterations"), *most = find_param(method, "max_iterations");
  if (!least || !most) return FLO_OK;
  double low = flo_json_number(object, least->name), high = flo_json_number(object, most->name);
  if (low <= high || low == least->value) return FLO_OK;
  flo_scene_enter(context, least->name);
  return flo_scene_fail(context,
                        "must be at most max_iterations, got %.9g and %.9g; lower it, or raise "
                        "max_iterations",
                        low, high);
}

FloStatus flo_scene_read_method(FloSceneContext *context, json_t *root, const FloSceneOptions *options,
                                FloScene *scene) {
  json_t *object = json_object_get(root, "method");
  const char *own = NULL, *chosen = NULL;
  size_t n_params, mark = flo_scene_enter(context, "method");
  FLO_TRY(find_method(context, flo_json_text(object, "name"), &own));
  FLO_TRY(find_method(context, options->method ? options->method : own, &chosen));
  FLO_TRY(check_params(context, object, own, chosen));
  if (json_object_set_new(object, "name", json_string(chosen))) return flo_scene_no_memory(context);
  scene->world.method = chosen;

  const FloParam *params = flo_method_params(chosen, &n_params);
  struct FloSceneParts *parts = scene->parts;
  parts->parameters = flo_scene_allocate(n_params, sizeof *parts->parameters);
  if (!parts->parameters) return flo_scene_no_memory(context);
  parts->n_parameters = n_params;
  for (size_t k = 0; k < n_params; k++) {
    parts->parameters[k].name = params[k].name;
    FLO_TRY(read_param(context, object, chosen, &params[k], &parts->parameters[k].value));
  }
  FLO_TRY(check_iterations(context, object, chosen));
  flo_scene_leave(context, mark);
  return FLO_OK;
}
