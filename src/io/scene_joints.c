// Joints with their motors, and events that change them.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core.h"
#include "base/vecmath.h"
#include "bodies/joint.h"
#include "io/scene_steps.h"

// ---- Motors ----

static FloStatus read_law(FloSceneContext *context, const json_t *list, FloMotorDef *motor) {
  size_t n = json_array_size(list);
  if (n == 0) return FLO_OK;
  FloMotorKey *keys = flo_scene_allocate(n, sizeof *keys);
  if (!keys) return flo_scene_no_memory(context);
  motor->keys = keys, motor->n_keys = n;
  for (size_t k = 0; k < n; k++) {
    const json_t *point = json_array_get(list, k);
    keys[k].time = json_number_value(json_array_get(point, 0));
    keys[k].value = json_number_value(json_array_get(point, 1));
    if (k > 0 && keys[k].time <= keys[k - 1].time)
      return flo_scene_fail(context,
                            "times must rise from one point of 'law' to the next, got %.9g after %.9g",
                            keys[k].time, keys[k - 1].time);
  }
  return FLO_OK;
}

static bool turns(FloJointKind kind) { return flo_joint_form(kind)->is_angle; }

static FloStatus read_motor(FloSceneContext *context, json_t *object, FloJointDef *def) {
  FloMotorDef *motor = &def->motor;
  if (!object) return FLO_OK;
  size_t mark = flo_scene_enter(context, "motor");
  const char *load = turns(def->kind) ? "max_torque" : "max_force";
  if (!json_object_get(object, load))
    return flo_scene_fail(context,
                          "the motor of a joint of the kind '%s' has a '%s'; name its largest load so",
                          flo_joint_kind_name(def->kind), load);
  bool has_speed = json_object_get(object, "speed") != NULL;
  motor->kind = has_speed ? FLO_MOTOR_SPEED : FLO_MOTOR_POSITION;
  motor->value = flo_json_number(object, has_speed ? "speed" : "position");
  motor->amplitude = flo_json_number(object, "amplitude");
  motor->frequency = flo_json_number(object, "frequency");
  motor->phase = flo_json_number(object, "phase");
  motor->max_load = flo_json_number(object, load);
  if (json_object_get(object, "time")) {
    if (has_speed) return flo_scene_fail(context, "'time' belongs to 'position'; leave it out");
    motor->time = flo_json_number(object, "time");
  }
  FLO_TRY(read_law(context, json_object_get(object, "law"), motor));
  flo_scene_leave(context, mark);
  return FLO_OK;
}

// ---- Keys that a kind reads ----

static bool is_solid(const FloJointForm *form) { return !form->is_gear; }
static bool is_gear(const FloJointForm *form) { return form->is_gear; }
static bool is_spring(const FloJointForm *form) { return form->is_spring; }
static bool has_axis(const FloJointForm *form) { return form->has_axis; }
static bool has_second_axis(const FloJointForm *form) { return form->has_second_axis; }
static bool has_length(const FloJointForm *form) { return form->has_length; }
static bool has_force(const FloJointForm *form) { return form->has_force; }
static bool has_torque(const FloJointForm *form) { return form->has_torque; }
static bool has_rows(const FloJointForm *form) { return form->rows != NULL; }

static const struct {
  const char *key;
  bool (*is_read)(const FloJointForm *);
} readers[] = {
    {"to", is_solid},
    {"at", is_solid},
    {"to_at", is_solid},
    {"collide", is_solid},
    {"with", is_gear},
    {"ratio", is_gear},
    {"axis", has_axis},
    {"axis2", has_second_axis},
    {"length", has_length},
    {"stiffness", is_spring},
    {"damping", is_spring},
    {"motor", flo_joint_has_drive},
    {"limits", flo_joint_has_drive},
    {"limit_stiffness", flo_joint_has_drive},
    {"limit_damping", flo_joint_has_drive},
    {"friction", flo_joint_has_drive},
    {"break_force", has_force},
    {"break_torque", has_torque},
    {"close", has_rows},
};

static void list_readers(bool (*is_read)(const FloJointForm *), char *text, size_t size) {
  text[0] = 0;
  for (int k = 0; k < FLO_JOINT_COUNT; k++) {
    size_t length = strlen(text);
    if (is_read(flo_joint_form((FloJointKind)k)))
      snprintf(text + length, size - length, "%s%s", length ? ", " : "",
               flo_joint_kind_name((FloJointKind)k));
  }
}

// A key that the kind does not read is a mistake.
static FloStatus check_keys(FloSceneContext *context, const json_t *object, FloJointKind kind) {
  for (size_t k = 0; k < FLO_COUNT_OF(readers); k++) {
    char kinds[256];
    if (!json_object_get(object, readers[k].key) || readers[k].is_read(flo_joint_form(kind))) continue;
    list_readers(readers[k].is_read, kinds, sizeof kinds);
    flo_scene_enter(context, readers[k].key);
    return flo_scene_fail(context, "does nothing on a joint of the kind '%s'; these have it: %s",
                          flo_joint_kind_name(kind), kinds);
  }
  return FLO_OK;
}

// ---- Joints ----

static const char *kind_of(const json_t *object, FloJointKind *kind) {
  for (int k = 0; k < FLO_JOINT_COUNT; k++) {
    *kind = (FloJointKind)k;
    if (json_object_get(object, flo_joint_kind_name(*kind))) return flo_joint_kind_name(*kind);
  }
  return "";
}

bool flo_scene_joint_has_axis(const json_t *object) {
  FloJointKind kind;
  return kind_of(object, &kind)[0] && flo_joint_form(kind)->has_axis;
}

static FloStatus find_name(FloSceneContext *context, const json_t *object, const char *key, json_t *names,
                           const char *what, size_t *found) {
  const char *name = flo_json_text(object, key);
  const json_t *index = name ? json_object_get(names, name) : NULL;
  *found = (size_t)json_integer_value(index);
  if (index) return FLO_OK;
  if (!name) return flo_scene_fail(context, "'%s' is missing: the name of a %s", key, what);
  flo_scene_enter(context, key);
  return flo_scene_unknown(context, what, name, names);
}

static FloStatus read_gear(FloSceneContext *context, const json_t *object, FloSceneJoint *joint) {
  FLO_TRY(find_name(context, object, "gear", context->joint_names, "joint", &joint->of[0]));
  FLO_TRY(find_name(context, object, "with", context->joint_names, "joint", &joint->of[1]));
  if (json_object_get(object, "ratio")) joint->def.ratio = flo_json_number(object, "ratio");
  return FLO_OK;
}

static FloStatus read_ends(FloSceneContext *context, json_t *object, const char *kind, FloSceneJoint *joint,
                           const FloScene *scene) {
  FloJointDef *def = &joint->def;
  FLO_TRY(find_name(context, object, kind, context->body_names, "body", &joint->of[1]));
  joint->has_to = json_object_get(object, "to") != NULL;
  if (joint->has_to) FLO_TRY(find_name(context, object, "to", context->body_names, "body", &joint->of[0]));
  vec_copy(scene->bodies[joint->of[1]].def.pose.position, def->at);
  if (json_object_get(object, "at")) flo_json_vector(object, "at", def->at);
  def->has_to_at = json_object_get(object, "to_at") != NULL;
  flo_json_vector(object, "to_at", def->to_at);
  if (json_object_get(object, "axis")) flo_json_vector(object, "axis", def->axis);
  flo_json_vector(object, "axis2", def->axis2);
  return FLO_OK;
}

static void read_numbers(const json_t *object, FloJointDef *def) {
  const json_t *limits = json_object_get(object, "limits");
  if (limits) {
    def->low = json_number_value(json_array_get(limits, 0));
    def->high = json_number_value(json_array_get(limits, 1));
  }
  if (json_object_get(object, "length")) def->length = flo_json_number(object, "length");
  if (json_object_get(object, "break_force")) def->break_force = flo_json_number(object, "break_force");
  if (json_object_get(object, "break_torque")) def->break_torque = flo_json_number(object, "break_torque");
  def->limit_stiffness = flo_json_number(object, "limit_stiffness");
  def->limit_damping = flo_json_number(object, "limit_damping");
  def->friction = flo_json_number(object, "friction");
  def->stiffness = flo_json_number(object, "stiffness");
  def->damping = flo_json_number(object, "damping");
  const json_t *collide = json_object_get(object, "collide");
  if (collide) def->touch = json_is_true(collide) ? FLO_TOUCH_YES : FLO_TOUCH_NO;
  def->closes = json_is_true(json_object_get(object, "close"));
}

// Joints and bodies have columns of the same names, so that their own names must differ.
static FloStatus read_joint_name(FloSceneContext *context, json_t *object, size_t index,
                                 FloSceneJoint *joint) {
  FLO_TRY(flo_scene_read_name(context, object, index, "joint", "joints", context->joint_names, joint->name));
  joint->def.name = joint->name;
  if (!json_object_get(context->body_names, joint->name)) return FLO_OK;
  return flo_scene_fail(context, "a body or boundary has the name '%s', too; rename one", joint->name);
}

static FloStatus read_joint(FloSceneContext *context, json_t *object, size_t index, FloScene *scene) {
  FloSceneJoint *joint = &scene->joints[index];
  joint->def = flo_default_joint_def();
  const char *kind = kind_of(object, &joint->def.kind);
  FLO_TRY(check_keys(context, object, joint->def.kind));
  if (joint->def.kind == FLO_JOINT_GEAR)
    FLO_TRY(read_gear(context, object, joint));
  else
    FLO_TRY(read_ends(context, object, kind, joint, scene));
  FLO_TRY(read_joint_name(context, object, index, joint));
  read_numbers(object, &joint->def);
  return read_motor(context, json_object_get(object, "motor"), &joint->def);
}

static FloStatus read_some(FloSceneContext *context, json_t *list, bool are_gears, FloScene *scene) {
  for (FloSceneEntries at = flo_scene_entries(context, list); flo_scene_next(context, &at);)
    if ((json_object_get(at.entry, "gear") != NULL) == are_gears)
      FLO_TRY(read_joint(context, at.entry, at.index, scene));
  return FLO_OK;
}

// Gears after the joints that they drive, wherever they stand in the scene.
FloStatus flo_scene_read_joints(FloSceneContext *context, json_t *root, FloScene *scene) {
  json_t *list = json_object_get(root, "joints");
  size_t outer = flo_scene_enter(context, "joints");
  scene->n_joints = json_array_size(list);
  scene->joints = flo_scene_allocate(scene->n_joints, sizeof *scene->joints);
  if (!scene->joints) return flo_scene_no_memory(context);
  FLO_TRY(read_some(context, list, false, scene));
  FLO_TRY(read_some(context, list, true, scene));
  flo_scene_leave(context, outer);
  return FLO_OK;
}

void flo_scene_free_joints(FloScene *scene) {
  for (size_t k = 0; scene->joints && k < scene->n_joints; k++) {
    free((void *)scene->joints[k].def.motor.keys);
    free((void *)scene->joints[k].def.changes);
    free(scene->joints[k].events);
  }
  free(scene->joints);
}

// ---- Events ----

static const struct {
  const char *key;
  FloJointPart part;
} changes[] = {
    {"friction", FLO_JOINT_FRICTION},         {"motor.max_load", FLO_JOINT_MAX_LOAD},
    {"motor.max_torque", FLO_JOINT_MAX_LOAD}, {"motor.max_force", FLO_JOINT_MAX_LOAD},
    {"motor.speed", FLO_JOINT_MOTOR_SPEED},   {"motor.position", FLO_JOINT_MOTOR_POSITION},
    {"motor.free", FLO_JOINT_MOTOR_FREE},     {"limits.low", FLO_JOINT_LIMIT_LOW},
    {"limits.high", FLO_JOINT_LIMIT_HIGH},    {"stiffness", FLO_JOINT_STIFFNESS},
    {"damping", FLO_JOINT_DAMPING},           {"length", FLO_JOINT_LENGTH},
    {"break_force", FLO_JOINT_BREAK_FORCE},   {"break_torque", FLO_JOINT_BREAK_TORQUE},
};

static FloStatus make_room(FloSceneContext *context, FloSceneJoint *joint) {
  const size_t n = joint->def.n_changes + 1;
  FloJointChange *larger = realloc((void *)joint->def.changes, n * sizeof *larger);
  if (!larger) return flo_scene_no_memory(context);
  joint->def.changes = larger;
  size_t *events = realloc(joint->events, n * sizeof *events);
  if (!events) return flo_scene_no_memory(context);
  joint->events = events;
  return FLO_OK;
}

// By rising time; of the same time, in the order of the scene.
static FloStatus add_change(FloSceneContext *context, FloSceneJoint *joint, FloJointChange change,
                            size_t event) {
  FLO_TRY(make_room(context, joint));
  FloJointChange *list = (FloJointChange *)joint->def.changes;
  size_t n = joint->def.n_changes++;
  for (; n > 0 && list[n - 1].time > change.time; --n)
    list[n] = list[n - 1], joint->events[n] = joint->events[n - 1];
  list[n] = change, joint->events[n] = event;
  return FLO_OK;
}

// The lower limit gives way first, so that the new limits may lie anywhere.
static FloStatus add_limits(FloSceneContext *context, const json_t *pair, const FloSceneEvent *event,
                            FloSceneJoint *joint) {
  const double low = json_number_value(json_array_get(pair, 0)),
               high = json_number_value(json_array_get(pair, 1));
  const FloJointChange steps[] = {{event->time, FLO_JOINT_LIMIT_LOW, -INFINITY},
                                  {event->time, FLO_JOINT_LIMIT_HIGH, high},
                                  {event->time, FLO_JOINT_LIMIT_LOW, low}};
  for (size_t k = 0; pair && k < FLO_COUNT_OF(steps); k++)
    FLO_TRY(add_change(context, joint, steps[k], event->entry));
  return FLO_OK;
}

// An event says max_torque and max_force as the joint does.
static FloStatus check_load(FloSceneContext *context, const json_t *set, const FloSceneJoint *joint) {
  const bool is_turned = turns(joint->def.kind);
  const char *wrong = is_turned ? "motor.max_force" : "motor.max_torque";
  if (!json_object_get(set, wrong)) return FLO_OK;
  flo_scene_enter(context, "set");
  flo_scene_enter(context, wrong);
  return flo_scene_fail(
      context, "the motor of joint '%s', of the kind '%s', has a '%s'; name its largest load so", joint->name,
      flo_joint_kind_name(joint->def.kind), is_turned ? "motor.max_torque" : "motor.max_force");
}

static FloStatus add_changes(FloSceneContext *context, const json_t *set, const FloSceneEvent *event,
                             FloSceneJoint *joint) {
  FLO_TRY(check_load(context, set, joint));
  FLO_TRY(add_limits(context, json_object_get(set, "limits"), event, joint));
  for (size_t k = 0; k < FLO_COUNT_OF(changes); k++) {
    const json_t *value = json_object_get(set, changes[k].key);
    if (!value || json_is_false(value)) continue;
    const FloJointChange change = {event->time, changes[k].part, json_number_value(value)};
    FLO_TRY(add_change(context, joint, change, event->entry));
  }
  return FLO_OK;
}

// Words for the same thing must not contradict each other.
static FloStatus check_words(FloSceneContext *context, const json_t *set) {
  static const char *const same[][2] = {{"limits", "limits.low"},
                                        {"limits", "limits.high"},
                                        {"motor.max_load", "motor.max_torque"},
                                        {"motor.max_load", "motor.max_force"}};
  for (size_t k = 0; k < FLO_COUNT_OF(same); k++)
    if (json_object_get(set, same[k][0]) && json_object_get(set, same[k][1])) {
      flo_scene_enter(context, "set");
      return flo_scene_fail(context, "'%s' and '%s' say the same; leave one out", same[k][0], same[k][1]);
    }
  return FLO_OK;
}

static FloStatus check_set(FloSceneContext *context, const json_t *set) {
  FLO_TRY(check_words(context, set));
  if (!json_object_get(set, "within")) return FLO_OK;
  flo_scene_enter(context, "set");
  flo_scene_enter(context, "within");
  return flo_scene_fail(context,
                        "joints change at once, so leave it out; the 'law' of a motor changes slowly");
}

static bool is_meant(const char *pattern, const char *name) {
  size_t length = strlen(pattern);
  if (length > 0 && pattern[length - 1] == '*') return !strncmp(pattern, name, length - 1);
  return !strcmp(pattern, name);
}

FloStatus flo_scene_read_joint_event(FloSceneContext *context, const json_t *object,
                                     const FloSceneEvent *event, FloScene *scene) {
  const char *name = flo_json_text(object, "joint");
  const json_t *set = json_object_get(object, "set");
  bool is_known = false, is_release = json_is_true(json_object_get(object, "release"));
  if (!set && !is_release)
    return flo_scene_fail(context, "a joint can be released ('release': true) or be 'set'");
  FLO_TRY(check_set(context, set));
  for (size_t k = 0; k < scene->n_joints; k++) {
    FloSceneJoint *joint = &scene->joints[k];
    const FloJointChange release = {event->time, FLO_JOINT_RELEASE, 1};
    if (!is_meant(name, joint->name)) continue;
    is_known = true;
    if (is_release) FLO_TRY(add_change(context, joint, release, event->entry));
    if (set) FLO_TRY(add_changes(context, set, event, joint));
  }
  if (is_known) return FLO_OK;
  flo_scene_enter(context, "joint");
  return flo_scene_unknown(context, "joint", name, context->joint_names);
}
