// "include": other files that hold a part of the scene. Values of the including file replace those of
// included files. Lists are joined, with the including file's entries first. Maps are merged.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/core.h"
#include "io/files.h"
#include "io/scene_steps.h"
#include "io/shown.h"

enum { MAX_DEPTH = 16, MAX_FILES = 256 };

// A file that is being read, and the file that includes it. Files are compared by device and inode, because a
// path can be written in many ways.
typedef struct File {
  const char *name;
  dev_t device;
  ino_t number;
  const struct File *includer;
} File;

// ---- Merging ----

// The origin of the value at `place` in the included file.
static json_t *origin_at(FloSceneContext *part, const char *place) {
  snprintf(part->path, sizeof part->path, "%s", place);
  part->path_length = strlen(part->path);
  json_t *origin = flo_scene_origin(part, "");
  flo_scene_leave(part, 0);
  return origin;
}

static FloStatus append_entries(FloSceneContext *context, FloSceneContext *part, const char *key,
                                json_t *into, json_t *from) {
  for (size_t k = 0; k < json_array_size(from); k++) {
    char here[128], there[128];
    snprintf(there, sizeof there, "/%.60s/%zu", key, k);
    snprintf(here, sizeof here, "/%.60s/%zu", key, json_array_size(into));
    if (json_array_append(into, json_array_get(from, k))) return flo_scene_no_memory(context);
    FLO_TRY(flo_scene_set_origin(context, here, origin_at(part, there)));
  }
  return FLO_OK;
}

static FloStatus add_names(FloSceneContext *context, FloSceneContext *part, const char *key, json_t *into,
                           json_t *from) {
  const char *name;
  json_t *value;
  json_object_foreach(from, name, value) {
    char place[sizeof context->path];
    if (json_object_get(into, name)) continue;
    snprintf(place, sizeof place, "/%.60s/%s", key, name);
    if (json_object_set(into, name, value)) return flo_scene_no_memory(context);
    FLO_TRY(flo_scene_set_origin(context, place, origin_at(part, place)));
  }
  return FLO_OK;
}

static FloStatus take_value(FloSceneContext *context, FloSceneContext *part, json_t *root, const char *key,
                            json_t *value) {
  char place[128];
  if (json_object_get(root, key)) return FLO_OK;
  snprintf(place, sizeof place, "/%.100s", key);
  if (json_object_set(root, key, value)) return flo_scene_no_memory(context);
  return flo_scene_set_origin(context, place, origin_at(part, place));
}

static FloStatus merge_key(FloSceneContext *context, FloSceneContext *part, json_t *root,
                           const FloSceneKey *key, json_t *value) {
  bool is_list = key->types & FLO_SCENE_LIST, is_map = key->types & FLO_SCENE_MAP;
  if (!is_list && !is_map) return take_value(context, part, root, key->name, value);
  flo_scene_enter(part, key->name);
  char found[96];
  if (is_list && !json_is_array(value))
    return flo_scene_fail(part, "must be a list of objects, got %s", flo_shown_value(value, found));
  if (is_map && !json_is_object(value))
    return flo_scene_fail(part, "must be an object of names, got %s", flo_shown_value(value, found));
  flo_scene_leave(part, 0);
  json_t *own = json_object_get(root, key->name);
  if (!own) {
    if (json_object_set_new(root, key->name, is_list ? json_array() : json_object()))
      return flo_scene_no_memory(context);
    own = json_object_get(root, key->name);
  }
  // If the including file's own value is neither, the tables report it.
  if (is_list && json_is_array(own)) return append_entries(context, part, key->name, own, value);
  return json_is_object(own) ? add_names(context, part, key->name, own, value) : FLO_OK;
}

static FloStatus merge(FloSceneContext *context, FloSceneContext *part, json_t *root, json_t *from) {
  const char *name;
  json_t *value;
  FLO_TRY(flo_scene_check_known(part, from, &flo_scene_table));
  json_object_foreach(from, name, value) {
    if (!strcmp(name, "$schema")) continue;
    if (!strcmp(name, "schema_version") && json_is_integer(value) && json_integer_value(value) == 1) continue;
    if (!strcmp(name, "schema_version")) {
      char found[96];
      flo_scene_enter(part, name);
      return flo_scene_fail(part, "must be 1, got %s", flo_shown_value(value, found));
    }
    FLO_TRY(merge_key(context, part, root, flo_scene_find_key(&flo_scene_table, name), value));
  }
  return FLO_OK;
}

// ---- Files ----

// Resolves a path written in the file `includer`: it is relative to that file's folder.
static bool resolve_path(const char *includer, const char *path, char out[FLO_PATH_SIZE]) {
  const char *slash = strrchr(includer, '/');
  int folder = slash && path[0] != '/' ? (int)(slash - includer) + 1 : 0;
  return snprintf(out, FLO_PATH_SIZE, "%.*s%s", folder, includer, path) < FLO_PATH_SIZE;
}

static FloStatus fail_circle(FloSceneContext *context, const File *file, const char *name) {
  const File *chain[MAX_DEPTH + 1];
  size_t n = 0, length = 0;
  char text[900];
  for (; file && n < FLO_COUNT_OF(chain); file = file->includer) chain[n++] = file;
  for (; n > 0 && length < sizeof text; n--)
    length += (size_t)snprintf(text + length, sizeof text - length, "%.200s -> ", chain[n - 1]->name);
  return flo_scene_fail(context, "files include each other in a circle: %s%.200s", text, name);
}

static FloStatus check_file(FloSceneContext *context, const File *includer, const char *path,
                            const char *name, File *file) {
  struct stat about;
  size_t depth = 0;
  if (stat(name, &about)) return flo_scene_fail(context, "cannot read '%.300s': %s", name, strerror(errno));
  if (S_ISDIR(about.st_mode))
    return flo_scene_fail(context, "'%.300s' is a folder, not a file; name a .json file in it", path);
  if (!S_ISREG(about.st_mode))
    return flo_scene_fail(context, "'%.300s' is not an ordinary file; name a .json file", path);
  *file = (File){name, about.st_dev, about.st_ino, includer};
  for (const File *other = includer; other; other = other->includer, depth++)
    if (other->device == file->device && other->number == file->number)
      return fail_circle(context, includer, name);
  if (depth > MAX_DEPTH)
    return flo_scene_fail(context, "included files are nested more than %d deep; use fewer levels",
                          MAX_DEPTH);
  return FLO_OK;
}

static FloStatus include_all(FloSceneContext *context, const File *file, json_t *root);

static FloStatus include_part(FloSceneContext *context, const File *file, json_t *root) {
  FloSceneContext part = {.file = file->name, .error = context->error, .files = context->files};
  part.refuses_includes = context->refuses_includes;
  part.origins = json_object();
  json_t *from = NULL;
  FloStatus status = part.origins ? flo_scene_read_file(&part, &from) : flo_scene_no_memory(context);
  if (status == FLO_OK) status = include_all(&part, file, from);
  if (status == FLO_OK) status = merge(context, &part, root, from);
  json_decref(from);
  json_decref(part.origins);
  return status;
}

// The context is at the text that names the file.
static FloStatus include_file(FloSceneContext *context, const File *includer, json_t *root,
                              const json_t *text) {
  char name[FLO_PATH_SIZE];
  File file;
  char found[96];
  if (!json_is_string(text))
    return flo_scene_fail(context, "must be the path of a file, got %s", flo_shown_value(text, found));
  const char *path = json_string_value(text);
  if (!*path || !resolve_path(includer->name, path, name))
    return flo_scene_fail(context, "must be the path of a file, got '%.60s'", path);
  if (json_array_size(context->files) >= MAX_FILES)
    return flo_scene_fail(context, "more than %d files are included; join some of them", MAX_FILES);
  json_t *kept = json_stringn_nocheck(name, strlen(name));
  if (json_array_append_new(context->files, kept)) return flo_scene_no_memory(context);
  FLO_TRY(check_file(context, includer, path, json_string_value(kept), &file));
  return include_part(context, &file, root);
}

static FloStatus include_all(FloSceneContext *context, const File *file, json_t *root) {
  json_t *include = json_object_get(root, "include"), *path;
  if (!include) return FLO_OK;
  // The list must stay valid while the scene is changed.
  json_incref(include);
  json_object_del(root, "include");
  size_t outer = flo_scene_enter(context, "include"), index;
  FloStatus status = FLO_OK;
  if (context->refuses_includes) {
    status = flo_scene_fail(context, "this scene is not allowed to include files; remove 'include'");
  } else if (!json_is_array(include)) {
    status = include_file(context, file, root, include);
  } else {
    json_array_foreach(include, index, path) {
      size_t mark = flo_scene_enter_index(context, index);
      status = include_file(context, file, root, path);
      if (status != FLO_OK) break;
      flo_scene_leave(context, mark);
    }
  }
  json_decref(include);
  if (status == FLO_OK) flo_scene_leave(context, outer);
  return status;
}

FloStatus flo_scene_include(FloSceneContext *context, json_t *root) {
  struct stat about;
  File file = {.name = context->file};
  if (!stat(context->file, &about)) file.device = about.st_dev, file.number = about.st_ino;
  return include_all(context, &file, root);
}
