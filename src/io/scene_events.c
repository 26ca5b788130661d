// Events: changes at given times. Starts and stops are known before the run, so they become time intervals of
// emitters, sinks and motions. Fluid is added during the run.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core.h"
#include "io/scene_steps.h"

// ---- Reading ----

static FloStatus find_target(FloSceneContext *context, const json_t *object, const char *kind, json_t *names,
                             FloSceneEvent *event) {
  const char *name = flo_json_text(object, kind);
  const json_t *index = json_object_get(names, name);
  event->index = (size_t)json_integer_value(index);
  if (index) return FLO_OK;
  flo_scene_enter(context, kind);
  return flo_scene_unknown(context, kind, name, names);
}

static FloStatus read_target(FloSceneContext *context, const json_t *object, FloSceneEvent *event) {
  const struct {
    const char *key;
    json_t *names;
    int target;
  } targets[] = {
      {"boundary", context->body_names, FLO_TARGET_BOUNDARY},
      {"emitter", context->emitter_names, FLO_TARGET_EMITTER},
      {"sink", context->sink_names, FLO_TARGET_SINK},
  };
  size_t k = 0;
  while (!json_object_get(object, targets[k].key)) k++;
  event->target = targets[k].target;
  return find_target(context, object, targets[k].key, targets[k].names, event);
}

static FloStatus read_switch(FloSceneContext *context, const json_t *object, FloSceneEvent *event) {
  const char *word = json_object_get(object, "start") ? "start" : "stop";
  if (!json_object_get(object, word))
    return flo_scene_fail(context, "only a 'body' can be released, unpinned or set; name one with 'body'");
  event->kind = !strcmp(word, "start") ? FLO_EVENT_START : FLO_EVENT_STOP;
  if (json_is_true(json_object_get(object, word))) return read_target(context, object, event);
  return flo_scene_fail(context, "'%s' must be true, or left out", word);
}

static bool is_pattern(const FloSceneEvent *event) {
  size_t length = strlen(event->name);
  return length > 0 && event->name[length - 1] == '*';
}

static bool is_meant(const FloSceneEvent *event, const char *name) {
  if (is_pattern(event)) return !strncmp(event->name, name, strlen(event->name) - 1);
  return !strcmp(event->name, name);
}

// The other values are those of joints, whose friction is a load.
static FloStatus check_set(FloSceneContext *context, const json_t *set) {
  static const double most = 1e3;
  size_t mark = flo_scene_enter(context, "set"), n_read = 1 + (json_object_get(set, "within") != NULL);
  if (!json_object_get(set, "friction") || json_object_size(set) > n_read)
    return flo_scene_fail(context, "needs 'friction', the only value of a body that can be set");
  flo_scene_enter(context, "friction");
  if (flo_json_number(set, "friction") > most)
    return flo_scene_fail(context, "must be >= 0 and <= %g, got %.9g", most,
                          flo_json_number(set, "friction"));
  flo_scene_leave(context, mark);
  return FLO_OK;
}

static FloStatus read_unpin(FloSceneContext *context, const json_t *value, FloSceneEvent *event) {
  event->kind = FLO_EVENT_UNPIN;
  if (json_is_string(value)) snprintf(event->pins, sizeof event->pins, "%s", json_string_value(value));
  if (event->pins[0] || json_is_true(value)) return FLO_OK;
  flo_scene_enter(context, "unpin");
  return flo_scene_fail(context, "must be the name of pins, or true for all of them");
}

// Finds a body by name, or all bodies whose names begin with the text before '*'.
static FloStatus read_body_event(FloSceneContext *context, const json_t *object, FloSceneEvent *event,
                                 const FloScene *scene) {
  const json_t *set = json_object_get(object, "set");
  bool is_known = false;
  event->target = FLO_TARGET_BODIES;
  snprintf(event->name, sizeof event->name, "%s", flo_json_text(object, "body"));
  for (size_t k = 0; k < scene->n_bodies; k++) is_known |= is_meant(event, scene->bodies[k].name);
  if (!is_known) {
    flo_scene_enter(context, "body");
    return flo_scene_unknown(context, "body", event->name, context->body_names);
  }
  if (set) FLO_TRY(check_set(context, set));
  if (set) {
    event->kind = FLO_EVENT_SET;
    event->change =
        (FloFrictionChange){event->time, flo_json_number(set, "friction"), flo_json_number(set, "within")};
    return FLO_OK;
  }
  if (json_object_get(object, "unpin")) return read_unpin(context, json_object_get(object, "unpin"), event);
  event->kind = FLO_EVENT_RELEASE;
  if (json_is_true(json_object_get(object, "release"))) return FLO_OK;
  return flo_scene_fail(
      context, "a body can be released ('release': true), be unpinned ('unpin') or be 'set'; only motions of "
               "boundaries, emitters and sinks start and stop");
}

static FloStatus read_event(FloSceneContext *context, json_t *object, size_t entry, FloScene *scene) {
  FloSceneEvent *event = &scene->events[entry];
  *event = (FloSceneEvent){.time = flo_json_number(object, "at"), .entry = entry};
  json_t *fluid = json_object_get(object, "add");
  if (json_object_get(object, "body")) return read_body_event(context, object, event, scene);
  if (json_object_get(object, "joint")) {
    event->kind = FLO_EVENT_SET, event->target = FLO_TARGET_JOINTS;
    return flo_scene_read_joint_event(context, object, event, scene);
  }
  if (!fluid) return read_switch(context, object, event);
  event->kind = FLO_EVENT_ADD;
  event->target = FLO_TARGET_FLUID;
  event->index = scene->parts->n_added;
  size_t mark = flo_scene_enter(context, "add");
  FLO_TRY(flo_scene_read_added(context, fluid, entry, scene));
  flo_scene_leave(context, mark);
  return FLO_OK;
}

static int compare_events(const void *a, const void *b) {
  const FloSceneEvent *p = a, *q = b;
  if (p->time != q->time) return p->time < q->time ? -1 : 1;
  return (p->entry > q->entry) - (p->entry < q->entry);
}

// ---- Emitters and sinks: from starts and stops to time intervals ----

typedef struct Switches {
  FloSceneContext *context;
  const char *kind; // "emitter" or "sink"
  FloSceneSpans *spans;
  double start, end; // start and end of the definition
  bool is_on;
} Switches;

FloStatus flo_scene_fail_event(FloSceneContext *context, const FloSceneEvent *event, const char *what) {
  flo_scene_leave(context, 0);
  flo_scene_enter(context, "events");
  flo_scene_enter_index(context, event->entry);
  return flo_scene_fail(context, "at %g s: %s", event->time, what);
}

static FloStatus switch_on(Switches *s, double time) {
  size_t n = s->spans->n + 1;
  void *larger = realloc(s->spans->list, n * sizeof *s->spans->list);
  if (!larger) return flo_scene_no_memory(s->context);
  s->spans->list = larger;
  s->spans->n = n;
  s->spans->list[n - 1][0] = time;
  s->spans->list[n - 1][1] = INFINITY;
  s->is_on = true;
  return FLO_OK;
}

static void switch_off(Switches *s, double time) {
  s->spans->list[s->spans->n - 1][1] = time;
  s->is_on = false;
}

// Applies the definition's own start and end up to `time`. Infinity: there are no more.
static FloStatus pass_own_times(Switches *s, double time) {
  if (s->start <= time && isfinite(s->start)) {
    if (!s->is_on) FLO_TRY(switch_on(s, s->start));
    s->start = INFINITY;
  }
  if (s->end <= time && isfinite(s->end)) {
    if (s->is_on) switch_off(s, s->end);
    s->end = INFINITY;
  }
  return FLO_OK;
}

static FloStatus apply_switch(Switches *s, const FloSceneEvent *event) {
  char text[64];
  bool is_start = event->kind == FLO_EVENT_START;
  // An emitter or sink with a start event waits for it, unless it has a start of its own.
  if (is_start && s->spans->n == 0 && s->start == 0 && s->end > event->time) s->start = INFINITY;
  FLO_TRY(pass_own_times(s, event->time));
  if (is_start == s->is_on) {
    snprintf(text, sizeof text, "the %s is %s; remove this event", s->kind,
             is_start ? "running already" : "not running");
    return flo_scene_fail_event(s->context, event, text);
  }
  if (is_start) return switch_on(s, event->time);
  if (s->spans->list[s->spans->n - 1][0] == event->time)
    return flo_scene_fail_event(s->context, event,
                                "a start and a stop have the same time; change one of them");
  switch_off(s, event->time);
  return FLO_OK;
}

// Handles all events of one emitter or sink, by rising time.
static FloStatus apply_switches(FloSceneContext *context, FloScene *scene, const FloSceneEvent *events,
                                size_t n_events) {
  bool is_emitter = events->target == FLO_TARGET_EMITTER;
  FloSceneEmitter *emitter = is_emitter ? &scene->parts->emitters[events->index] : NULL;
  FloSceneSink *sink = is_emitter ? NULL : &scene->parts->sinks[events->index];
  Switches s = {.context = context,
                .kind = is_emitter ? "emitter" : "sink",
                .spans = is_emitter ? &emitter->spans : &sink->spans,
                .start = is_emitter ? emitter->def.start : sink->def.start,
                .end = is_emitter ? emitter->def.end : sink->def.end};
  for (size_t k = 0; k < n_events; k++) FLO_TRY(apply_switch(&s, &events[k]));
  return pass_own_times(&s, INFINITY);
}

static int compare_targets(const void *a, const void *b) {
  const FloSceneEvent *p = a, *q = b;
  if (p->target != q->target) return p->target < q->target ? -1 : 1;
  if (p->index != q->index) return p->index < q->index ? -1 : 1;
  return compare_events(a, b);
}

static FloStatus apply_to_openings(FloSceneContext *context, FloScene *scene) {
  size_t n = scene->n_events, n_same;
  FloSceneEvent *sorted = flo_scene_allocate(n, sizeof *sorted);
  if (!sorted) return flo_scene_no_memory(context);
  memcpy(sorted, scene->events, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, compare_targets);
  FloStatus status = FLO_OK;
  for (size_t k = 0; status == FLO_OK && k < n; k += n_same) {
    const FloSceneEvent *first = &sorted[k];
    n_same = 1;
    while (k + n_same < n && first[n_same].target == first->target && first[n_same].index == first->index)
      n_same++;
    if (first->target == FLO_TARGET_EMITTER || first->target == FLO_TARGET_SINK)
      status = apply_switches(context, scene, first, n_same);
  }
  free(sorted);
  return status;
}

// ---- Boundaries: from starts and stops to the times of motions ----

static FloStatus start_motions(FloSceneContext *context, const FloSceneEvent *event, FloMotionDef *motions,
                               size_t n_motions) {
  for (size_t k = 0; k < n_motions; k++) {
    FloMotionDef *motion = &motions[k];
    if (motion->kind == FLO_MOTION_KEYFRAMES)
      return flo_scene_fail_event(context, event, "keyframes have their own times and cannot be started");
    if (motion->start != 0)
      return flo_scene_fail_event(
          context, event,
          "one of the motions has a 'start' of its own, so the event has no effect; remove one of the two");
    if (motion->end <= event->time)
      return flo_scene_fail_event(context, event,
                                  "a motion that has ended cannot start again; add a second motion");
    motion->start = event->time;
  }
  return FLO_OK;
}

static FloStatus stop_motions(FloSceneContext *context, const FloSceneEvent *event, FloMotionDef *motions,
                              size_t n_motions) {
  bool has_stopped = false;
  for (size_t k = 0; k < n_motions; k++) {
    FloMotionDef *motion = &motions[k];
    if (motion->end <= event->time) continue;
    if (motion->start >= event->time)
      return flo_scene_fail_event(context, event, "one of the motions begins after this time; stop it later");
    motion->end = event->time;
    has_stopped = true;
  }
  return has_stopped ? FLO_OK
                     : flo_scene_fail_event(context, event, "the boundary is not moving; remove this event");
}

static FloStatus apply_to_boundaries(FloSceneContext *context, FloScene *scene) {
  for (size_t k = 0; k < scene->n_events; k++) {
    const FloSceneEvent *event = &scene->events[k];
    if (event->target != FLO_TARGET_BOUNDARY) continue;
    FloBodyDef *body = &scene->bodies[event->index].def;
    FloMotionDef *motions = (FloMotionDef *)body->motions;
    if (body->n_motions == 0)
      return flo_scene_fail_event(context, event,
                                  "the boundary has no motions, so nothing can start or stop; add 'motions'");
    FLO_TRY(event->kind == FLO_EVENT_START ? start_motions(context, event, motions, body->n_motions)
                                           : stop_motions(context, event, motions, body->n_motions));
  }
  return FLO_OK;
}

// ---- Bodies: events that are known before the run ----

static FloStatus release_body(FloSceneContext *context, const FloSceneEvent *event, FloSceneBody *body) {
  if (!flo_scene_is_body(body))
    return flo_scene_fail_event(context, event,
                                "a boundary cannot be released, only a body can; name a body");
  if (body->def.release != 0)
    return flo_scene_fail_event(context, event,
                                "the body is released already, so the event has no effect; remove it");
  body->def.release = event->time;
  return FLO_OK;
}

static FloStatus change_friction(FloSceneContext *context, const FloSceneEvent *event, FloBodyDef *body) {
  size_t n = body->n_friction_changes;
  const FloFrictionChange *last = n ? &body->friction_changes[n - 1] : NULL;
  if (last && last->time + last->within > event->time)
    return flo_scene_fail_event(context, event,
                                "the previous change of friction has not ended yet; set a later time");
  FloFrictionChange *larger = realloc((void *)body->friction_changes, (n + 1) * sizeof *larger);
  if (!larger) return flo_scene_no_memory(context);
  larger[n] = event->change;
  body->friction_changes = larger;
  body->n_friction_changes = n + 1;
  return FLO_OK;
}

static FloStatus change_body(FloSceneContext *context, const FloSceneEvent *event, FloSceneBody *body) {
  if (event->kind == FLO_EVENT_RELEASE) return release_body(context, event, body);
  if (event->kind == FLO_EVENT_UNPIN) return flo_scene_unpin(context, event, body);
  return change_friction(context, event, &body->def);
}

// Things that a pattern names too, but that cannot do what the event asks for, are skipped.
static bool is_skipped(const FloSceneEvent *event, const FloSceneBody *body) {
  if (!is_pattern(event)) return false;
  return event->kind == FLO_EVENT_RELEASE ? !flo_scene_is_body(body)
                                          : event->kind == FLO_EVENT_UNPIN && body->def.n_pins == 0;
}

static FloStatus apply_body_event(FloSceneContext *context, const FloSceneEvent *event, FloScene *scene) {
  bool has_found = false;
  for (size_t b = 0; b < scene->n_bodies; b++) {
    FloSceneBody *body = &scene->bodies[b];
    if (!is_meant(event, body->name) || is_skipped(event, body)) continue;
    has_found = true;
    FLO_TRY(change_body(context, event, body));
  }
  if (has_found) return FLO_OK;
  return flo_scene_fail_event(
      context, event,
      event->kind == FLO_EVENT_UNPIN
          ? "nothing with a name that begins so has pins; name a body that has"
          : "only boundaries have names that begin so, but only bodies can be released; name bodies");
}

static FloStatus apply_to_bodies(FloSceneContext *context, FloScene *scene) {
  for (size_t k = 0; k < scene->n_events; k++)
    if (scene->events[k].target == FLO_TARGET_BODIES)
      FLO_TRY(apply_body_event(context, &scene->events[k], scene));
  return FLO_OK;
}

// ---- All of them ----

FloStatus flo_scene_read_events(FloSceneContext *context, json_t *root, FloScene *scene) {
  json_t *list = json_object_get(root, "events");
  size_t n_events = json_array_size(list), outer = flo_scene_enter(context, "events");
  scene->events = flo_scene_allocate(n_events, sizeof *scene->events);
  scene->parts->added = flo_scene_allocate(n_events, sizeof *scene->parts->added);
  if (!scene->events || !scene->parts->added) return flo_scene_no_memory(context);
  scene->n_events = n_events;
  for (FloSceneEntries at = flo_scene_entries(context, list); flo_scene_next(context, &at);)
    FLO_TRY(read_event(context, at.entry, at.index, scene));
  flo_scene_leave(context, outer);
  qsort(scene->events, n_events, sizeof *scene->events, compare_events);
  FLO_TRY(apply_to_openings(context, scene));
  FLO_TRY(apply_to_boundaries(context, scene));
  return apply_to_bodies(context, scene);
}
