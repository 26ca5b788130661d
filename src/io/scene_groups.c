// Expands a scene: an entry with instances becomes many entries, a placed group becomes its parts. The result
// is a scene too, with every name and position written out.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core.h"
#include "base/pose.h"
#include "io/scene_steps.h"
#include "io/shown.h"

enum { MAX_DEPTH = 16, MAX_NAME = 63, PREFIX_SIZE = 256, MAX_GROUPS = 10000 };

// Shared by the parts of a placed group; the scene itself is a frame without a group.
typedef struct Frame {
  bool is_group;
  const json_t *group; // its definition
  FloPose pose;
  char prefix[PREFIX_SIZE]; // of names
  char note[128];           // for messages: the entry that placed it
} Frame;

typedef struct Expansion {
  FloSceneContext *context;
  json_t *groups;         // as in the scene; NULL: none
  json_t *made, *origins; // for each list: the new entries and their origins
  json_t *used;           // names of the groups that were placed
  const char *chain[MAX_DEPTH];
  size_t n_chain; // groups that are being placed
} Expansion;

static bool is_joint_list(const FloSceneKey *key) { return key->table == &flo_scene_joint_table; }

static bool is_thing_list(const FloSceneKey *key) {
  if (is_joint_list(key)) return true;
  return key->types == FLO_SCENE_LIST && flo_scene_find_key(key->table, "grid") && strcmp(key->name, "place");
}

static FloPose pose_compose(const FloPose *outer, const FloPose *inner) {
  FloPose pose;
  pose_to_world(outer, inner->position, pose.position);
  quat_multiply(outer->rotation, inner->rotation, pose.rotation);
  return pose;
}

static FloStatus expect_object(FloSceneContext *context, const json_t *value) {
  char found[96];
  if (json_is_object(value)) return FLO_OK;
  return flo_scene_fail(context, "must be an object, got %s", flo_shown_value(value, found));
}

// ---- One entry ----

static FloStatus append(Expansion *x, const char *list, json_t *entry, const char *note) {
  json_t *entries = json_object_get(x->made, list), *origins = json_object_get(x->origins, list);
  if (json_array_append(entries, entry) || json_array_append_new(origins, flo_scene_origin(x->context, note)))
    return flo_scene_no_memory(x->context);
  return FLO_OK;
}

// "crate" becomes "cart 2: crate 7". An entry without a name gets one later.
static FloStatus rename_entry(Expansion *x, const Frame *frame, json_t *entry, bool is_numbered) {
  FloSceneContext *context = x->context;
  const char *name = flo_json_text(entry, "name");
  if (!name || (!frame->is_group && !is_numbered)) return FLO_OK;
  char number[24] = "", full[PREFIX_SIZE + 2 * MAX_NAME];
  if (is_numbered) snprintf(number, sizeof number, " %zu", context->instance + 1);
  snprintf(full, sizeof full, "%s%s%s", frame->prefix, name, number);
  size_t mark = flo_scene_enter(context, "name");
  if (strlen(full) > MAX_NAME)
    return flo_scene_fail(context, "'%s' would have more than %d characters; choose shorter names", full,
                          MAX_NAME);
  flo_scene_leave(context, mark);
  return json_object_set_new(entry, "name", json_string(full)) ? flo_scene_no_memory(context) : FLO_OK;
}

// ---- Joints in groups ----

// Whether a list of a group has an entry of this name, or one whose instances or parts have names that begin
// so: "wheel", "wheel 2", "cart: wheel".
static bool has_name(const json_t *list, const char *text) {
  for (size_t k = 0; k < json_array_size(list); k++) {
    const json_t *entry = json_array_get(list, k);
    const char *name = flo_json_text(entry, "name");
    if (!name) name = flo_json_text(entry, "group");
    size_t length = name ? strlen(name) : 0;
    if (length && !strncmp(text, name, length) && strchr(" :", text[length])) return true;
  }
  return false;
}

static bool is_own_part(const Frame *frame, const char *text) {
  static const char *const lists[] = {"bodies", "boundaries", "joints", "place"};
  for (size_t k = 0; k < FLO_COUNT_OF(lists); k++)
    if (has_name(json_object_get(frame->group, lists[k]), text)) return true;
  return false;
}

static FloStatus rename_part(Expansion *x, const Frame *frame, json_t *object, const char *key) {
  const char *text = flo_json_text(object, key);
  char full[PREFIX_SIZE + 2 * MAX_NAME];
  if (!text || !is_own_part(frame, text)) return FLO_OK;
  snprintf(full, sizeof full, "%s%.*s", frame->prefix, MAX_NAME, text);
  return json_object_set_new(object, key, json_string(full)) ? flo_scene_no_memory(x->context) : FLO_OK;
}

// What a joint of a group joins are parts of the same group, or others of the scene.
static FloStatus rename_ends(Expansion *x, const Frame *frame, json_t *entry) {
  for (size_t k = 0; k < flo_scene_joint_table.n_keys; k++) {
    const FloSceneKey *key = &flo_scene_joint_table.keys[k];
    if (key->types == FLO_SCENE_TEXT) FLO_TRY(rename_part(x, frame, entry, key->name));
  }
  return FLO_OK;
}

// So are the bodies that its cloth is pinned to.
static FloStatus rename_pins(Expansion *x, const Frame *frame, const json_t *entry) {
  size_t index;
  json_t *pin;
  json_array_foreach(json_object_get(entry, "pin"), index, pin) FLO_TRY(rename_part(x, frame, pin, "to"));
  return FLO_OK;
}

// The axis turns with the group, also the one that is not written.
static FloStatus make_joint(Expansion *x, const Frame *frame, json_t *entry) {
  const bool has_axis = json_object_get(entry, "axis") || !flo_scene_joint_has_axis(entry);
  FLO_TRY(rename_ends(x, frame, entry));
  if (has_axis || !json_object_set_new(entry, "axis", json_pack("[i, i, i]", 0, 0, 1))) return FLO_OK;
  return flo_scene_no_memory(x->context);
}

// ---- Entries and their instances ----

// Rotates about the entry's own position and moves: p -> c + R (p - c) + d.
static FloStatus move_instance(FloSceneContext *context, json_t *entry, const FloSceneTable *table,
                               const FloSceneInstance *instance) {
  FloShape shape;
  FloPose own, move;
  double turned[3];
  FLO_TRY(flo_scene_read_pose(context, entry, table, &shape, &own));
  quat_copy(instance->rotation, move.rotation);
  quat_rotate(move.rotation, own.position, turned);
  vec_sub(own.position, turned, move.position);
  vec_add(move.position, instance->offset, move.position);
  return flo_scene_move(context, entry, table, &move, false);
}

static void write_note(const FloSceneContext *context, const Frame *frame, char *note, size_t size) {
  note[0] = 0;
  if (context->n_instances > 1)
    snprintf(note, size, "instance %zu of %zu%s", context->instance + 1, context->n_instances,
             frame->is_group ? ", " : "");
  size_t length = strlen(note);
  if (frame->is_group) snprintf(note + length, size - length, "%s", frame->note);
}

// `instance` is NULL if the entry has no instances.
static FloStatus make_entry(Expansion *x, const Frame *frame, const FloSceneKey *list, json_t *entry,
                            const FloSceneInstance *instance) {
  FloSceneContext *context = x->context;
  char note[192];
  write_note(context, frame, note, sizeof note);
  FLO_TRY(flo_scene_resolve_object(context, entry, list->table));
  FLO_TRY(rename_entry(x, frame, entry, instance != NULL));
  if (instance) FLO_TRY(move_instance(context, entry, list->table, instance));
  if (is_joint_list(list)) FLO_TRY(make_joint(x, frame, entry));
  if (frame->is_group) FLO_TRY(rename_pins(x, frame, entry));
  context->n_instances = 0;
  if (frame->is_group) FLO_TRY(flo_scene_move(context, entry, list->table, &frame->pose, true));
  return append(x, list->name, entry, note);
}

static FloStatus make_instances(Expansion *x, const Frame *frame, const FloSceneKey *list,
                                const json_t *entry, const char *pattern, const FloSceneInstance *instances,
                                size_t n_instances) {
  for (size_t k = 0; k < n_instances; k++) {
    json_t *copy = json_deep_copy(entry);
    if (!copy) return flo_scene_no_memory(x->context);
    if (pattern) json_object_del(copy, pattern);
    x->context->instance = k;
    x->context->n_instances = pattern ? n_instances : 0;
    FloStatus status = make_entry(x, frame, list, copy, pattern ? &instances[k] : NULL);
    json_decref(copy);
    FLO_TRY(status);
  }
  return FLO_OK;
}

// The world uses 16-bit indices.
static FloStatus check_room(Expansion *x, const FloSceneKey *list, size_t n_more) {
  size_t n_before = json_array_size(json_object_get(x->made, list->name));
  char before[48] = "";
  if (n_before + n_more <= FLO_SCENE_MAX_LIST) return FLO_OK;
  if (n_before) snprintf(before, sizeof before, " (%zu with those before)", n_before + n_more);
  return flo_scene_fail(x->context,
                        "makes %zu %s%s, at most %d are allowed in a scene; use fewer, larger pieces", n_more,
                        list->name, before, FLO_SCENE_MAX_LIST);
}

static FloStatus expand_joint(Expansion *x, const Frame *frame, const FloSceneKey *list, json_t *entry) {
  FLO_TRY(flo_scene_count_instances(x->context, 1));
  FLO_TRY(check_room(x, list, 1));
  json_t *copy = json_deep_copy(entry);
  x->context->n_instances = 0;
  FloStatus status = copy ? make_entry(x, frame, list, copy, NULL) : flo_scene_no_memory(x->context);
  json_decref(copy);
  return status;
}

static FloStatus expand_entry(Expansion *x, const Frame *frame, const FloSceneKey *list, json_t *entry) {
  FLO_TRY(expect_object(x->context, entry));
  const char *pattern = flo_scene_instancing(entry);
  if (pattern && is_joint_list(list))
    return flo_scene_fail(x->context,
                          "a joint has no instances of its own; put it and its bodies into a group, "
                          "and place that often");
  if (frame->is_group && is_joint_list(list)) return expand_joint(x, frame, list, entry);
  if (!pattern && !frame->is_group) return append(x, list->name, entry, "");
  if (!pattern) FLO_TRY(flo_scene_count_instances(x->context, 1));
  FloSceneInstance *instances;
  size_t n_instances;
  FLO_TRY(flo_scene_place_instances(x->context, entry, list->table, &instances, &n_instances));
  FloStatus status = check_room(x, list, n_instances);
  if (status == FLO_OK) status = make_instances(x, frame, list, entry, pattern, instances, n_instances);
  free(instances);
  return status;
}

// ---- Placed groups ----

static FloStatus expand_things(Expansion *x, const Frame *frame, json_t *holder, const FloSceneTable *table);

static FloStatus check_circle(Expansion *x, const char *name) {
  char circle[1200];
  size_t first = 0, length = 0;
  while (first < x->n_chain && strcmp(x->chain[first], name)) first++;
  if (first == x->n_chain && x->n_chain < MAX_DEPTH) return FLO_OK;
  if (first == x->n_chain)
    return flo_scene_fail(x->context, "groups are nested more than %d deep; use fewer levels", MAX_DEPTH);
  for (size_t k = first; k < x->n_chain; k++)
    length += (size_t)snprintf(circle + length, sizeof circle - length, "%.60s -> ", x->chain[k]);
  return flo_scene_fail(x->context, "groups place each other in a circle: %s%.60s", circle, name);
}

static FloStatus expand_group(Expansion *x, const Frame *frame, const char *name) {
  FloSceneContext *context = x->context;
  json_t *group = json_object_get(x->groups, name);
  FLO_TRY(check_circle(x, name));
  if (json_object_set_new_nocheck(x->used, name, json_true())) return flo_scene_no_memory(context);

  // Messages about the parts name the place of the group's definition.
  FloScenePlace user = flo_scene_go_to(context, "groups", name);
  const FloSceneTable *table = flo_scene_find_key(&flo_scene_table, "groups")->table;
  FLO_TRY(expect_object(context, group));
  FLO_TRY(flo_scene_check_known(context, group, table));
  x->chain[x->n_chain++] = name;
  FLO_TRY(expand_things(x, frame, group, table));
  x->n_chain--;
  flo_scene_go_back(context, &user);
  return FLO_OK;
}

// The name of a placed group, and whether others in the list have the same name.
static const char *placed_name(const json_t *entry) {
  const char *name = flo_json_text(entry, "name");
  return name ? name : flo_json_text(entry, "group");
}

// A map from every name in the list to whether it occurs more than once.
static json_t *find_shared_names(const json_t *list) {
  json_t *shared = json_object();
  for (size_t k = 0; shared && k < json_array_size(list); k++) {
    const char *name = placed_name(json_array_get(list, k));
    json_t *is_shared = name ? json_boolean(json_object_get(shared, name) != NULL) : NULL;
    if (!name || !json_object_set_new_nocheck(shared, name, is_shared)) continue;
    json_decref(shared);
    shared = NULL;
  }
  return shared;
}

// The prefix for the next group with this name; `numbers` counts them.
static FloStatus write_prefix(Expansion *x, const Frame *outer, const char *name, json_t *numbers,
                              bool is_numbered, char prefix[PREFIX_SIZE]) {
  json_int_t number = json_integer_value(json_object_get(numbers, name)) + 1;
  if (json_object_set_new_nocheck(numbers, name, json_integer(number)))
    return flo_scene_no_memory(x->context);
  char digits[24] = "";
  if (is_numbered) snprintf(digits, sizeof digits, " %lld", (long long)number);
  int length = snprintf(prefix, PREFIX_SIZE, "%s%s%s: ", outer->prefix, name, digits);
  if (length <= MAX_NAME) return FLO_OK;
  return flo_scene_fail(x->context, "'%.60s' makes names of more than %d characters; choose a shorter name",
                        name, MAX_NAME);
}

static FloStatus place_one(Expansion *x, const Frame *outer, json_t *entry, const FloSceneInstance *instance,
                           json_t *numbers, bool is_numbered) {
  FloSceneContext *context = x->context;
  const FloSceneTable *table = flo_scene_find_key(&flo_scene_table, "place")->table;
  Frame frame = {.is_group = true};
  FloShape shape;
  FloPose own;
  FLO_TRY(flo_scene_resolve_object(context, entry, table));
  FLO_TRY(flo_scene_read_pose(context, entry, table, &shape, &own));
  vec_add(own.position, instance->offset, own.position);
  quat_multiply(instance->rotation, own.rotation, own.rotation);
  frame.pose = outer->is_group ? pose_compose(&outer->pose, &own) : own;
  FLO_TRY(write_prefix(x, outer, placed_name(entry), numbers, is_numbered, frame.prefix));
  snprintf(frame.note, sizeof frame.note, "placed by %.100s", context->path);
  context->n_instances = 0;
  const char *group = flo_json_text(entry, "group");
  frame.group = json_object_get(x->groups, group);
  if (frame.group) return expand_group(x, &frame, group);
  flo_scene_enter(context, "group");
  json_t *none = json_object();
  FloStatus status = flo_scene_unknown(context, "group", group, x->groups ? x->groups : none);
  json_decref(none);
  return status;
}

static FloStatus place_entry(Expansion *x, const Frame *frame, json_t *entry, json_t *numbers,
                             bool is_shared) {
  const FloSceneTable *table = flo_scene_find_key(&flo_scene_table, "place")->table;
  const char *pattern = flo_scene_instancing(entry);
  if (!pattern) FLO_TRY(flo_scene_count_instances(x->context, 1));
  FloSceneInstance *instances;
  size_t n_instances;
  FLO_TRY(flo_scene_place_instances(x->context, entry, table, &instances, &n_instances));
  FloStatus status = FLO_OK;
  for (size_t k = 0; status == FLO_OK && k < n_instances; k++) {
    json_t *copy = json_deep_copy(entry);
    if (pattern) json_object_del(copy, pattern);
    x->context->instance = k;
    x->context->n_instances = pattern ? n_instances : 0;
    status = copy ? place_one(x, frame, copy, &instances[k], numbers, pattern || is_shared)
                  : flo_scene_no_memory(x->context);
    json_decref(copy);
  }
  free(instances);
  return status;
}

static FloStatus expand_placed(Expansion *x, const Frame *frame, json_t *entry, const json_t *shared,
                               json_t *numbers) {
  FLO_TRY(expect_object(x->context, entry));
  const char *name = placed_name(entry);
  return place_entry(x, frame, entry, numbers, name && json_is_true(json_object_get(shared, name)));
}

// ---- Lists ----

static FloStatus expand_entries(Expansion *x, const Frame *frame, const FloSceneKey *key, const json_t *list,
                                const json_t *shared, json_t *numbers) {
  for (FloSceneEntries at = flo_scene_entries(x->context, list); flo_scene_next(x->context, &at);)
    FLO_TRY(is_thing_list(key) ? expand_entry(x, frame, key, at.entry)
                               : expand_placed(x, frame, at.entry, shared, numbers));
  return FLO_OK;
}

static FloStatus expand_list(Expansion *x, const Frame *frame, const FloSceneKey *key, json_t *list) {
  FloSceneContext *context = x->context;
  size_t outer = flo_scene_enter(context, key->name);
  char found[96];
  if (!json_is_array(list))
    return flo_scene_fail(context, "must be a list of objects, got %s", flo_shown_value(list, found));
  if (json_array_size(list) > FLO_SCENE_MAX_LIST)
    return flo_scene_fail(context, "has %zu entries, at most %d are allowed", json_array_size(list),
                          FLO_SCENE_MAX_LIST);
  json_t *numbers = json_object(), *shared = find_shared_names(list);
  FloStatus status =
      numbers && shared ? expand_entries(x, frame, key, list, shared, numbers) : flo_scene_no_memory(context);
  json_decref(numbers);
  json_decref(shared);
  if (status == FLO_OK) flo_scene_leave(context, outer);
  return status;
}

static FloStatus expand_things(Expansion *x, const Frame *frame, json_t *holder, const FloSceneTable *table) {
  for (size_t k = 0; k < table->n_keys; k++) {
    const FloSceneKey *key = &table->keys[k];
    json_t *list = json_object_get(holder, key->name);
    if (list && (is_thing_list(key) || !strcmp(key->name, "place")))
      FLO_TRY(expand_list(x, frame, key, list));
  }
  return FLO_OK;
}

static FloStatus start_lists(Expansion *x) {
  for (size_t k = 0; k < flo_scene_table.n_keys; k++) {
    const FloSceneKey *key = &flo_scene_table.keys[k];
    if (is_thing_list(key) && (json_object_set_new(x->made, key->name, json_array()) ||
                               json_object_set_new(x->origins, key->name, json_array())))
      return flo_scene_no_memory(x->context);
  }
  return FLO_OK;
}

// ---- The scene ----

static FloStatus check_groups(Expansion *x) {
  size_t mark = flo_scene_enter(x->context, "groups");
  char found[96];
  if (x->groups && !json_is_object(x->groups))
    return flo_scene_fail(x->context, "must be an object of named groups, got %s",
                          flo_shown_value(x->groups, found));
  if (json_object_size(x->groups) > MAX_GROUPS)
    return flo_scene_fail(x->context, "has %zu groups, at most %d are allowed", json_object_size(x->groups),
                          MAX_GROUPS);
  const char *name;
  json_t *group;
  json_object_foreach(x->groups, name, group) {
    if (*name && strlen(name) <= MAX_NAME && !strpbrk(name, ",;\"'/\\")) continue;
    return flo_scene_fail(x->context,
                          "the name of a group must have 1 to %d characters, none of them a comma, "
                          "semicolon, quote or slash, got '%.60s'",
                          MAX_NAME, name);
  }
  flo_scene_leave(x->context, mark);
  return FLO_OK;
}

// A group that is not placed is checked too, so that its errors are found early.
static FloStatus try_unused_groups(Expansion *x) {
  double n_made = x->context->n_instances_made;
  const char *name;
  json_t *group;
  json_object_foreach(x->groups, name, group) {
    if (json_object_get(x->used, name)) continue;
    Frame frame = {.is_group = true, .pose = flo_pose_identity()};
    FLO_TRY(start_lists(x));
    FLO_TRY(expand_group(x, &frame, name));
    x->context->n_instances_made = n_made;
  }
  return FLO_OK;
}

static FloStatus hand_over(Expansion *x, json_t *root) {
  const char *name;
  json_t *entries;
  json_object_foreach(x->made, name, entries) {
    char place[128];
    if (!json_object_get(root, name) && json_array_size(entries) == 0) continue;
    json_t *origins = json_object_get(x->origins, name);
    snprintf(place, sizeof place, "/%s", name);
    flo_scene_forget_origins(x->context, place);
    if (json_object_set(root, name, entries)) return flo_scene_no_memory(x->context);
    for (size_t k = 0; k < json_array_size(entries); k++) {
      snprintf(place, sizeof place, "/%s/%zu", name, k);
      FLO_TRY(flo_scene_set_origin(x->context, place, json_incref(json_array_get(origins, k))));
    }
  }
  return FLO_OK;
}

static FloStatus expand_all(Expansion *x, json_t *root) {
  Frame scene = {.pose = flo_pose_identity()};
  FLO_TRY(check_groups(x));
  FLO_TRY(start_lists(x));
  FLO_TRY(expand_things(x, &scene, root, &flo_scene_table));
  FLO_TRY(hand_over(x, root));
  return try_unused_groups(x);
}

static bool has_short_form(const json_t *root) {
  if (json_object_get(root, "groups") || json_object_get(root, "place")) return true;
  for (size_t k = 0; k < flo_scene_table.n_keys; k++) {
    const json_t *list = json_object_get(root, flo_scene_table.keys[k].name);
    if (!is_thing_list(&flo_scene_table.keys[k])) continue;
    for (size_t e = 0; e < json_array_size(list); e++)
      if (flo_scene_instancing(json_array_get(list, e))) return true;
  }
  return false;
}

FloStatus flo_scene_expand(FloSceneContext *context, json_t *root) {
  if (!has_short_form(root)) return FLO_OK;
  Expansion x = {context, json_object_get(root, "groups"), .made = json_object(), .origins = json_object(),
                 .used = json_object()};
  FloStatus status = x.made && x.origins && x.used ? expand_all(&x, root) : flo_scene_no_memory(context);
  json_decref(x.made);
  json_decref(x.origins);
  json_decref(x.used);
  json_object_del(root, "groups");
  json_object_del(root, "place");
  return status;
}
