// Boundaries with their prescribed motions, and bodies.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/core.h"
#include "base/vecmath.h"
#include "io/scene_steps.h"

enum { LAYERS = 3 };

// ---- Motions ----

static FloStatus read_turning(FloSceneContext *context, json_t *object, const FloPose *pose,
                              FloMotionDef *motion) {
  motion->kind = FLO_MOTION_ROTATE;
  motion->rate = flo_json_number(object, "rate");
  flo_json_vector(object, "axis", motion->vector);
  if (vec_length(motion->vector) == 0) return flo_scene_fail(context, "'axis' must not be zero");
  if (context->dim == 2 && (motion->vector[0] != 0 || motion->vector[1] != 0))
    return flo_scene_fail(context, "'axis' must be along z in a two-dimensional scene");
  vec_copy(pose->position, motion->centre);
  if (json_object_get(object, "centre")) {
    flo_json_vector(object, "centre", motion->centre);
    return FLO_OK;
  }
  json_t *centre = json_array();
  for (int k = 0; centre && k < context->dim; k++)
    json_array_append_new(centre, json_real(motion->centre[k]));
  return json_object_set_new(object, "centre", centre) ? flo_scene_no_memory(context) : FLO_OK;
}

static void read_oscillation(const json_t *object, FloMotionDef *motion) {
  motion->kind = FLO_MOTION_OSCILLATE;
  flo_json_vector(object, "amplitude", motion->vector);
  motion->frequency = flo_json_number(object, "frequency");
  motion->phase = flo_json_number(object, "phase");
}

static FloStatus read_keyframe(FloSceneContext *context, json_t *object, FloKeyframe *frame) {
  frame->time = flo_json_number(object, "time");
  frame->pose = flo_pose_identity();
  flo_json_vector(object, "at", frame->pose.position);
  json_t *rotation = json_object_get(object, "rotate");
  if (!rotation) return FLO_OK;
  size_t mark = flo_scene_enter(context, "rotate");
  FLO_TRY(flo_scene_read_rotation(context, rotation, frame->pose.rotation));
  flo_scene_leave(context, mark);
  return FLO_OK;
}

// Rotations follow the shortest arc. From 180 degrees on, that is not the rotation that was intended.
static FloStatus check_turn(FloSceneContext *context, const json_t *before, const json_t *after) {
  const json_t *from = json_object_get(before, "rotate"), *to = json_object_get(after, "rotate");
  const json_t *axis = json_object_get(from ? from : to, "axis"),
               *other = json_object_get(to ? to : from, "axis");
  double turn = fabs(flo_json_number(to, "angle") - flo_json_number(from, "angle"));
  if (turn <= 180 || !json_equal(axis, other)) return FLO_OK;
  return flo_scene_fail(context,
                        "turns by %g degrees since the keyframe before, but from half a turn on the "
                        "direction is not clear; add keyframes in between, or use a motion 'rotate'",
                        turn);
}

static FloStatus read_keyframes(FloSceneContext *context, json_t *list, FloMotionDef *motion) {
  size_t n_frames = json_array_size(list);
  if (n_frames < 2) return flo_scene_fail(context, "must hold at least two keyframes, got %zu", n_frames);
  FloKeyframe *frames = flo_scene_allocate(n_frames, sizeof *frames);
  if (!frames) return flo_scene_no_memory(context);
  // The motion owns the keyframes from now on, so that they are released after an error too.
  motion->kind = FLO_MOTION_KEYFRAMES;
  motion->keyframes = frames;
  motion->n_keyframes = n_frames;
  for (FloSceneEntries at = flo_scene_entries(context, list); flo_scene_next(context, &at);) {
    FloKeyframe *frame = &frames[at.index];
    FLO_TRY(read_keyframe(context, at.entry, frame));
    if (at.index == 0) continue;
    if (frame->time <= frame[-1].time)
      return flo_scene_fail(context, "times must rise from one keyframe to the next, got %.9g after %.9g",
                            frame->time, frame[-1].time);
    FLO_TRY(check_turn(context, json_array_get(list, at.index - 1), at.entry));
  }
  return FLO_OK;
}

static FloStatus read_motion_kind(FloSceneContext *context, json_t *object, const FloPose *pose,
                                  FloMotionDef *motion) {
  json_t *rotate = json_object_get(object, "rotate"), *keyframes = json_object_get(object, "keyframes");
  json_t *oscillate = json_object_get(object, "oscillate");
  size_t mark = context->path_length;
  if (rotate) {
    flo_scene_enter(context, "rotate");
    FLO_TRY(read_turning(context, rotate, pose, motion));
  } else if (keyframes) {
    flo_scene_enter(context, "keyframes");
    FLO_TRY(read_keyframes(context, keyframes, motion));
  } else if (oscillate) {
    read_oscillation(oscillate, motion);
  } else {
    motion->kind = FLO_MOTION_TRANSLATE;
    flo_json_vector(object, "translate", motion->vector);
  }
  flo_scene_leave(context, mark);
  return FLO_OK;
}

FloStatus flo_scene_read_span(FloSceneContext *context, json_t *object, double *start, double *end) {
  *start = flo_json_number(object, "start");
  if (json_object_get(object, "end")) *end = flo_json_number(object, "end");
  if (*start < *end) return FLO_OK;
  return flo_scene_fail(context, "'end' must come after 'start', got %.9g and %.9g", *end, *start);
}

// ---- Motions that exclude each other ----

// The time interval of a motion; keyframes have times of their own.
static void find_span(const FloMotionDef *motion, double *start, double *end) {
  *start = motion->start;
  *end = motion->end;
  if (motion->kind != FLO_MOTION_KEYFRAMES) return;
  *start = fmax(*start, motion->keyframes[0].time);
  *end = fmin(*end, motion->keyframes[motion->n_keyframes - 1].time);
}

// Keyframes set the pose of the body directly: other motions at the same time, or earlier in the list, have
// no effect.
static FloStatus check_pair(FloSceneContext *context, const FloMotionDef *motions, size_t first,
                            size_t second) {
  const FloMotionDef *a = &motions[first], *b = &motions[second];
  if (a->kind != FLO_MOTION_KEYFRAMES && b->kind != FLO_MOTION_KEYFRAMES) return FLO_OK;
  double a_start, a_end, b_start, b_end;
  find_span(a, &a_start, &a_end);
  find_span(b, &b_start, &b_end);
  double start = fmax(a_start, b_start), end = fmin(a_end, b_end);
  if (start < end)
    return flo_scene_fail(context,
                          "entries %zu and %zu contradict each other: keyframes set the pose of the body, so "
                          "no other motion may be active from %g s to %g s",
                          first, second, start, end);
  if (b->kind != FLO_MOTION_KEYFRAMES) return FLO_OK;
  return flo_scene_fail(context,
                        "entry %zu has no effect, because the keyframes of entry %zu set the pose of the "
                        "body; put keyframes first, and only once",
                        first, second);
}

static FloStatus check_motions(FloSceneContext *context, const FloMotionDef *motions, size_t n_motions) {
  for (size_t b = 1; b < n_motions; b++)
    for (size_t a = 0; a < b; a++) FLO_TRY(check_pair(context, motions, a, b));
  return FLO_OK;
}

static FloStatus read_motions(FloSceneContext *context, json_t *list, FloBodyDef *body) {
  size_t n_motions = json_array_size(list);
  if (n_motions == 0) return FLO_OK;
  size_t outer = flo_scene_enter(context, "motions");
  FloMotionDef *motions = flo_scene_allocate(n_motions, sizeof *motions);
  if (!motions) return flo_scene_no_memory(context);
  body->kind = FLO_BODY_KINEMATIC;
  body->motions = motions;
  body->n_motions = n_motions;
  for (FloSceneEntries at = flo_scene_entries(context, list); flo_scene_next(context, &at);) {
    FloMotionDef *motion = &motions[at.index];
    *motion = flo_default_motion_def();
    FLO_TRY(read_motion_kind(context, at.entry, &body->pose, motion));
    FLO_TRY(flo_scene_read_span(context, at.entry, &motion->start, &motion->end));
  }
  FLO_TRY(check_motions(context, motions, n_motions));
  flo_scene_leave(context, outer);
  return FLO_OK;
}

// ---- Boundaries ----

FloStatus flo_scene_read_name(FloSceneContext *context, json_t *entry, size_t index, const char *kind,
                              const char *plural, json_t *names, char name[64]) {
  const char *given = flo_json_text(entry, "name");
  if (given)
    snprintf(name, 64, "%s", given);
  else
    snprintf(name, 64, "%s%zu", kind, index);
  if (json_object_get(names, name))
    return flo_scene_fail(context, "there are two %s with the name '%s'; rename one", plural, name);
  if (json_object_set_new(names, name, json_integer((json_int_t)index)) ||
      json_object_set_new(entry, "name", json_string(name)))
    return flo_scene_no_memory(context);
  return FLO_OK;
}

// How the solid is sampled and drawn.
static FloStatus read_samples(FloSceneContext *context, const json_t *object, FloSceneBody *body) {
  const char *look = flo_json_text(object, "look");
  body->def.relax = json_is_true(json_object_get(object, "relax"));
  body->def.inset = flo_json_number(object, "inset");
  body->def.sampling = flo_json_number(object, "sampling");
  if (look) snprintf(body->look, sizeof body->look, "%s", look);
  if (body->def.inset <= context->spacing) return FLO_OK;
  flo_scene_enter(context, "inset");
  return flo_scene_fail(context, "must be at most one spacing, %g m, got %.9g", context->spacing,
                        body->def.inset);
}

// Keys that boundaries and bodies share.
static FloStatus read_solid(FloSceneContext *context, json_t *object, size_t entry, FloSceneBody *body,
                            FloScene *scene) {
  bool is_dynamic = flo_scene_is_body(body);
  body->entry = entry;
  FLO_TRY(flo_scene_read_name(context, object, entry, is_dynamic ? "body" : "boundary",
                              is_dynamic ? "bodies or boundaries" : "boundaries", context->body_names,
                              body->name));
  body->def.name = body->name;
  if (json_object_get(object, "friction")) body->def.friction = flo_json_number(object, "friction");
  body->def.rolling_friction = flo_json_number(object, "rolling_friction");
  body->def.sealed = json_is_true(json_object_get(object, "sealed"));
  if (json_object_get(object, "slip")) body->def.slip = flo_json_number(object, "slip");
  if (json_object_get(object, "contact_angle"))
    body->def.contact_angle = flo_json_number(object, "contact_angle");
  if (json_object_get(object, "restitution")) body->def.restitution = flo_json_number(object, "restitution");
  FLO_TRY(read_samples(context, object, body));
  FLO_TRY(flo_scene_read_shape(context, object, scene->up, &body->def.shape, &body->def.pose));
  // Solids are sampled in a few layers below their surface.
  double area = flo_scene_surface(context, &body->def.shape);
  return flo_scene_count(context, LAYERS * area / pow(scene->world.spacing, context->dim - 1));
}

static FloStatus read_boundary(FloSceneContext *context, json_t *object, size_t entry, FloSceneBody *body,
                               FloScene *scene) {
  body->def = flo_default_body_def();
  body->def.kind = FLO_BODY_STATIC;
  FLO_TRY(read_solid(context, object, entry, body, scene));
  return read_motions(context, json_object_get(object, "motions"), &body->def);
}

// ---- Bodies ----

static FloStatus read_locks(FloSceneContext *context, const json_t *object, const char *key, bool locks[3]) {
  const char *letters = flo_json_text(object, key);
  if (!letters) return FLO_OK;
  size_t mark = flo_scene_enter(context, key);
  for (; *letters; letters++) {
    if (*letters < 'x' || *letters > 'z')
      return flo_scene_fail(context, "must be made of x, y and z, got '%c'", *letters);
    locks[*letters - 'x'] = true;
  }
  flo_scene_leave(context, mark);
  return FLO_OK;
}

static FloStatus read_mass(FloSceneContext *context, const json_t *object, FloBodyDef *def) {
  static const char *const parts[] = {"centre_of_mass", "inertia", "inertia_products"};
  for (size_t k = 0; k < FLO_COUNT_OF(parts); k++) {
    const char *needed = k == 1 ? "mass" : "inertia";
    if (json_object_get(object, parts[k]) && !json_object_get(object, needed))
      return flo_scene_fail(context, "'%s' has no effect without '%s'; add it, or leave both out", parts[k],
                            needed);
  }
  def->mass = flo_json_number(object, "mass");
  flo_json_vector(object, "centre_of_mass", def->centre);
  flo_json_vector(object, "inertia", def->inertia);
  flo_json_vector(object, "inertia_products", def->inertia + 3);
  return FLO_OK;
}

// Cloth and elastic bodies can do without a material.
static FloStatus read_material(FloSceneContext *context, json_t *object, FloSceneBody *body,
                               FloScene *scene) {
  body->material = FLO_NO_MATERIAL;
  if (json_object_get(object, "material"))
    return flo_scene_find_material(context, object, body->name, 0, scene->parts, &body->material);
  if (flo_scene_asks_for_soft(object)) return FLO_OK;
  return flo_scene_fail(context,
                        "needs 'material': name of a material, or an object with the keys of a material");
}

static FloStatus read_body(FloSceneContext *context, json_t *object, size_t entry, FloSceneBody *body,
                           FloScene *scene) {
  FloBodyDef *def = &body->def;
  *def = flo_default_body_def();
  def->kind = FLO_BODY_DYNAMIC;
  FLO_TRY(read_solid(context, object, entry, body, scene));
  FLO_TRY(read_material(context, object, body, scene));
  FLO_TRY(flo_scene_read_soft(context, object, body, scene));
  FLO_TRY(read_mass(context, object, def));
  def->thickness = flo_json_number(object, "thickness");
  def->release = flo_json_number(object, "release");
  flo_json_vector(object, "velocity", def->velocity);
  flo_json_vector(object, "angular_velocity", def->angular_velocity);
  FLO_TRY(read_locks(context, object, "lock", def->locks));
  return read_locks(context, object, "lock_rotation", def->turn_locks);
}

// ---- All of them ----

typedef FloStatus (*ReadFn)(FloSceneContext *, json_t *object, size_t entry, FloSceneBody *, FloScene *);

static FloStatus read_list(FloSceneContext *context, json_t *root, const char *key, ReadFn read, size_t first,
                           FloScene *scene) {
  json_t *list = json_object_get(root, key);
  size_t outer = flo_scene_enter(context, key);
  for (FloSceneEntries at = flo_scene_entries(context, list); flo_scene_next(context, &at);) {
    FloSceneBody *body = &scene->bodies[first + at.index];
    FLO_TRY(read(context, at.entry, at.index, body, scene));
    json_t *place = json_integer((json_int_t)(first + at.index));
    if (json_object_set_new(context->body_names, body->name, place)) return flo_scene_no_memory(context);
  }
  flo_scene_leave(context, outer);
  return FLO_OK;
}

FloStatus flo_scene_read_bodies(FloSceneContext *context, json_t *root, FloScene *scene) {
  size_t n_boundaries = json_array_size(json_object_get(root, "boundaries"));
  scene->n_bodies = n_boundaries + json_array_size(json_object_get(root, "bodies"));
  scene->bodies = flo_scene_allocate(scene->n_bodies, sizeof *scene->bodies);
  if (!scene->bodies) return flo_scene_no_memory(context);
  FLO_TRY(read_list(context, root, "boundaries", read_boundary, 0, scene));
  return read_list(context, root, "bodies", read_body, n_boundaries, scene);
}
