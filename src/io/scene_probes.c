// Probes and expectations.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/core.h"
#include "io/scene_steps.h"
#include "io/series.h"

static FloStatus find_body(FloSceneContext *context, const char *key, const char *name, int *body) {
  const json_t *index = json_object_get(context->body_names, name);
  *body = (int)json_integer_value(index);
  if (index) return FLO_OK;
  flo_scene_enter(context, key);
  return flo_scene_unknown(context, "boundary", name, context->body_names);
}

// Only soft bodies have a surface that is followed as it moves.
static FloStatus find_soft_body(FloSceneContext *context, const char *name, const FloScene *scene,
                                FloProbe *probe) {
  probe->kind = FLO_PROBE_OUTSIDE;
  FLO_TRY(find_body(context, "outside", name, &probe->body));
  if (flo_scene_is_soft(&scene->bodies[probe->body])) return FLO_OK;
  flo_scene_enter(context, "outside");
  return flo_scene_fail(context,
                        "works with cloth and elastic bodies only, and '%s' is neither; name one of "
                        "them",
                        name);
}

static FloStatus read_probe_kind(FloSceneContext *context, const json_t *object, const FloScene *scene,
                                 FloProbe *probe) {
  const char *front = flo_json_text(object, "front"), *force = flo_json_text(object, "force");
  if (front) {
    probe->kind = FLO_PROBE_FRONT;
    probe->axis = front[0] - 'x';
    return probe->axis < context->dim
               ? FLO_OK
               : flo_scene_fail(context, "'front' must be x or y in a two-dimensional scene");
  }
  if (force) {
    probe->kind = FLO_PROBE_FORCE;
    return find_body(context, "force", force, &probe->body);
  }
  if (json_object_get(object, "torque")) {
    probe->kind = FLO_PROBE_TORQUE;
    return find_body(context, "torque", flo_json_text(object, "torque"), &probe->body);
  }
  if (json_object_get(object, "outside"))
    return find_soft_body(context, flo_json_text(object, "outside"), scene, probe);
  bool is_pressure = json_object_get(object, "pressure") != NULL;
  probe->kind = is_pressure ? FLO_PROBE_PRESSURE : FLO_PROBE_WATER_HEIGHT;
  flo_json_vector(object, is_pressure ? "pressure" : "water_height", probe->point);
  return FLO_OK;
}

// ---- Names of columns of the series ----

// Stores a column's name, which must be unique, with its kind: true for a number, text for a thing with
// several columns.
static FloStatus keep_column(FloSceneContext *context, const char *name, json_t *what) {
  bool is_known = json_object_get(context->probe_names, name) != NULL;
  if (json_object_set_new(context->probe_names, name, what)) return flo_scene_no_memory(context);
  return is_known ? flo_scene_fail(context, "there are two probes with the name '%s'; rename one", name)
                  : FLO_OK;
}

// A force or a torque has three columns.
static FloStatus keep_columns(FloSceneContext *context, const FloProbe *probe) {
  bool is_force = probe->kind == FLO_PROBE_FORCE, is_torque = probe->kind == FLO_PROBE_TORQUE;
  if (!is_force && !is_torque) return keep_column(context, probe->name, json_true());
  FLO_TRY(keep_column(context, probe->name, json_string(is_force ? "force" : "torque")));
  for (int axis = 0; axis < 3; axis++) {
    char column[80];
    snprintf(column, sizeof column, "%s.%c", probe->name, "xyz"[axis]);
    FLO_TRY(keep_column(context, column, json_true()));
  }
  return FLO_OK;
}

// Endings of a measurement's name in an expectation. The name of a probe must not end so.
static const char *const measurement_parts[] = {".max", ".min", ".mean", ".last"};

// The length of a measurement's name without such an ending.
static size_t stem_length(const char *measurement) {
  size_t length = strlen(measurement);
  for (size_t k = 0; k < FLO_COUNT_OF(measurement_parts); k++) {
    size_t n = strlen(measurement_parts[k]);
    if (length >= n && !strcmp(measurement + length - n, measurement_parts[k])) return length - n;
  }
  return length;
}

static FloStatus check_ending(FloSceneContext *context, const char *name) {
  size_t stem = stem_length(name);
  if (!name[stem]) return FLO_OK;
  return flo_scene_fail(context,
                        "a probe cannot be called '%s': after a name, %s means the extreme or last value of "
                        "a run; call it '%.*s-%s'",
                        name, name + stem, (int)stem, name, name + stem + 1);
}

// Checks against the columns that every run has, and those of bodies: `fixed` is the series of a scene with
// one body and one joint without names, so that their columns begin with a dot.
static FloStatus check_column(FloSceneContext *context, const FloSeries *fixed, const char *name) {
  const char *point = strrchr(name, '.');
  char body[64];
  if (name[0] != '.' && flo_series_find(fixed, name) < fixed->n_columns)
    return flo_scene_fail(
        context, "a probe cannot be called '%s': every run has a column of that name; choose another name",
        name);
  if (!point || flo_series_find(fixed, point) == fixed->n_columns) return FLO_OK;
  snprintf(body, sizeof body, "%.*s", (int)(point - name), name);
  bool is_joint = json_object_get(context->joint_names, body) != NULL;
  if (!is_joint && !json_object_get(context->body_names, body)) return FLO_OK;
  return flo_scene_fail(
      context, "a probe cannot be called '%s': the %s '%s' has a column of that name; choose another name",
      name, is_joint ? "joint" : "boundary", body);
}

static FloStatus read_probe(FloSceneContext *context, const json_t *object, const FloSeries *fixed,
                            const FloScene *scene, FloProbe *probe) {
  snprintf(probe->name, sizeof probe->name, "%s", flo_json_text(object, "name"));
  FLO_TRY(check_ending(context, probe->name));
  FLO_TRY(check_column(context, fixed, probe->name));
  FLO_TRY(read_probe_kind(context, object, scene, probe));
  return keep_columns(context, probe);
}

// A force has three columns; none has the name alone.
static FloStatus check_component(FloSceneContext *context, const char *key, const char *measurement) {
  char stem[64];
  snprintf(stem, sizeof stem, "%.*s", (int)stem_length(measurement), measurement);
  const char *vector = json_string_value(json_object_get(context->probe_names, stem));
  if (!vector) return FLO_OK;
  flo_scene_enter(context, key);
  return flo_scene_fail(context, "'%s' is a %s, which has three components; name one, such as '%s.x%s'", stem,
                        vector, stem, measurement + strlen(stem));
}

static FloStatus read_paper(FloSceneContext *context, const json_t *object, FloExpect *expect) {
  const char *text = json_string_value(json_object_get(object, "paper"));
  if (!text) return FLO_OK;
  size_t length = strlen(text), mark = flo_scene_enter(context, "paper");
  if (length == 0) return flo_scene_fail(context, "is empty; leave it out if the paper has no value");
  if (length > FLO_EXPECT_MAX_PAPER)
    return flo_scene_fail(context, "has %zu bytes, at most %d are allowed; make it shorter", length,
                          FLO_EXPECT_MAX_PAPER);
  memcpy(expect->paper, text, length + 1);
  flo_scene_leave(context, mark);
  return FLO_OK;
}

// Scenes of earlier versions use `figure`.
static const char *measurement_key(const json_t *object) {
  return json_object_get(object, "figure") ? "figure" : "measurement";
}

static FloStatus read_expect(FloSceneContext *context, const json_t *object, FloExpect *expect) {
  const char *key = measurement_key(object);
  snprintf(expect->measurement, sizeof expect->measurement, "%s", flo_json_text(object, key));
  FLO_TRY(check_component(context, key, expect->measurement));
  FLO_TRY(read_paper(context, object, expect));
  expect->low = json_object_get(object, "min") ? flo_json_number(object, "min") : -INFINITY;
  expect->high = json_object_get(object, "max") ? flo_json_number(object, "max") : INFINITY;
  if (expect->low <= expect->high) return FLO_OK;
  return flo_scene_fail(context, "'min' must not be above 'max', got %.9g and %.9g", expect->low,
                        expect->high);
}

static FloStatus read_expects(FloSceneContext *context, json_t *list, FloScene *scene) {
  size_t outer = flo_scene_enter(context, "expect");
  scene->n_expects = json_array_size(list);
  scene->expects = flo_scene_allocate(scene->n_expects, sizeof *scene->expects);
  if (!scene->expects) return flo_scene_no_memory(context);
  for (FloSceneEntries at = flo_scene_entries(context, list); flo_scene_next(context, &at);) {
    FLO_TRY(read_expect(context, at.entry, &scene->expects[at.index]));
  }
  flo_scene_leave(context, outer);
  return FLO_OK;
}

static FloStatus read_probes(FloSceneContext *context, json_t *list, const FloSeries *fixed,
                             FloScene *scene) {
  size_t outer = flo_scene_enter(context, "probes");
  scene->n_probes = json_array_size(list);
  scene->probes = flo_scene_allocate(scene->n_probes, sizeof *scene->probes);
  if (!scene->probes) return flo_scene_no_memory(context);
  for (FloSceneEntries at = flo_scene_entries(context, list); flo_scene_next(context, &at);)
    FLO_TRY(read_probe(context, at.entry, fixed, scene, &scene->probes[at.index]));
  flo_scene_leave(context, outer);
  return FLO_OK;
}

FloStatus flo_scene_read_probes(FloSceneContext *context, json_t *root, FloScene *scene) {
  FloSceneBody body = {.name = ""};
  FloSceneJoint joint = {.name = ""};
  FloScene one_body = {.bodies = &body, .n_bodies = 1, .joints = &joint, .n_joints = 1};
  FloSeries *fixed;
  if (flo_series_create(&one_body, &fixed, NULL)) return flo_scene_no_memory(context);
  FloStatus status = read_probes(context, json_object_get(root, "probes"), fixed, scene);
  flo_series_destroy(fixed);
  return status == FLO_OK ? read_expects(context, json_object_get(root, "expect"), scene) : status;
}
