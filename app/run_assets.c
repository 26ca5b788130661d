// Copies of the files that a scene names, meshes and particles, in the folder of its run:
// assets/NAME-HASH.EXT. With the copies, the folder alone is enough to resume, draw or repeat the run, also
// after it was moved.
#include "base/core.h"
#include "io/scene_steps.h"
#include "run.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HASH_DIGITS = 16, MAX_STEM = 100, MAX_EXTENSION = 16 };

static FloStatus no_memory(AppRun *run) {
  return flo_fail(&run->error, FLO_NO_MEMORY, "no memory for the names of the scene's files");
}

// ---- Which files ----

static bool is_mesh_of(const FloScene *scene, const char *path) {
  for (const FloSceneAttachment *a = scene->parts->attachments; a; a = a->next)
    if (a->mesh.n_triangles && a->text && !strcmp(a->text, path)) return true;
  return false;
}

// Calls `visit` with every object in the scene that names a mesh.
static FloStatus visit_meshes(AppRun *run, json_t *value,
                              FloStatus (*visit)(AppRun *run, json_t *object, const char *key)) {
  const char *key;
  json_t *member;
  size_t k;
  json_array_foreach(value, k, member) FLO_TRY(visit_meshes(run, member, visit));
  json_object_foreach(value, key, member) FLO_TRY(visit_meshes(run, member, visit));
  const char *path = json_string_value(json_object_get(value, "mesh"));
  return path && is_mesh_of(run->scene, path) ? visit(run, value, "mesh") : FLO_OK;
}

static FloStatus visit_files(AppRun *run, json_t *root,
                             FloStatus (*visit)(AppRun *run, json_t *object, const char *key)) {
  json_t *entry;
  size_t k;
  json_array_foreach(json_object_get(root, "particles"), k, entry) {
    if (json_is_string(json_object_get(entry, "file"))) FLO_TRY(visit(run, entry, "file"));
  }
  return visit_meshes(run, root, visit);
}

// ---- Names ----

// Characters that some file systems do not allow become '_'.
static void copy_safely(const char *from, size_t length, char *to) {
  for (size_t k = 0; k < length; k++) {
    unsigned char c = (unsigned char)from[k];
    to[k] = c < 128 && (isalnum(c) || strchr("-_.", c)) ? (char)c : '_';
  }
  to[length] = 0;
}

// Endings hold no '-', so that the last '-' in a name is the one before the hash.
static void copy_extension(const char *dot, char extension[MAX_EXTENSION + 1]) {
  copy_safely(dot, flo_min_size(strlen(dot), MAX_EXTENSION), extension);
  for (char *dash = strchr(extension, '-'); dash; dash = strchr(dash, '-')) *dash = '_';
}

// The copy of a copy has the same name: the old hash is removed before a long name is shortened.
static void name_asset(const char *path, uint64_t hash, char name[FLO_PATH_SIZE]) {
  enum { MARK = HASH_DIGITS + 1 };
  char stem[MAX_STEM + 1], extension[MAX_EXTENSION + 1] = "", mark[MARK + 1];
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
  size_t length = dot && dot > base ? (size_t)(dot - base) : strlen(base);
  snprintf(mark, sizeof mark, "-%016" PRIx64, hash);
  if (length > MARK && !strncmp(base + length - MARK, mark, MARK)) length -= MARK;
  if (dot && dot > base) copy_extension(dot, extension);
  copy_safely(base, flo_min_size(length, MAX_STEM), stem);
  snprintf(name, FLO_PATH_SIZE, "assets/%s%s%s", stem, mark, extension);
}

// Whether a name in assets/ is one that name_asset makes, finished or not.
static bool is_asset_name(const char *name) {
  const char *mark = NULL;
  for (const char *dash = strchr(name, '-'); dash; dash = strchr(dash + 1, '-'))
    if (strspn(dash + 1, "0123456789abcdef") == HASH_DIGITS) mark = dash;
  return mark && mark > name && (mark[HASH_DIGITS + 1] == 0 || mark[HASH_DIGITS + 1] == '.');
}

// ---- Copying ----

static FloStatus copy_asset(const char *folder, const char *path, const char *name, FloError *error) {
  char target[FLO_PATH_SIZE], assets[FLO_PATH_SIZE];
  const uint64_t hash = strtoull(strrchr(name, '-') + 1, NULL, 16);
  uint64_t found;
  FLO_TRY(flo_path_join(folder, name, target, error));
  if (flo_file_exists(target) && flo_file_hash(target, &found, NULL) == FLO_OK && found == hash)
    return FLO_OK;
  FLO_TRY(flo_path_join(folder, "assets", assets, error));
  FLO_TRY(flo_folder_make(assets, error));
  FLO_TRY(flo_file_copy_durably(path, target, hash, error));
  return flo_folder_sync(folder, error);
}

static FloStatus name_file(AppRun *run, json_t *object, const char *key) {
  const char *path = flo_json_text(object, key);
  char name[FLO_PATH_SIZE];
  uint64_t hash;
  if (json_object_get(run->assets, path)) return FLO_OK;
  FLO_TRY(flo_file_hash(path, &hash, &run->error));
  name_asset(path, hash, name);
  return json_object_set_new(run->assets, path, json_string(name)) ? no_memory(run) : FLO_OK;
}

static bool is_in_folder(const char *path, const char *folder) {
  char parent[FLO_PATH_SIZE];
  struct stat of_parent, of_folder;
  const char *slash = strrchr(path, '/');
  snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash + 1 - path) : 1, slash ? path : ".");
  return stat(parent, &of_parent) == 0 && stat(folder, &of_folder) == 0 &&
         of_parent.st_dev == of_folder.st_dev && of_parent.st_ino == of_folder.st_ino;
}

FloStatus app_run_name_assets(AppRun *run, const char *out) {
  json_t *root = json_loads(run->scene->resolved, 0, NULL), *name;
  const char *path;
  run->assets = json_object();
  FloStatus status = root && run->assets ? visit_files(run, root, name_file) : no_memory(run);
  json_decref(root);
  FLO_TRY(status);
  json_object_foreach(run->assets, path, name) {
    if (is_in_folder(path, out)) FLO_TRY(copy_asset(out, path, json_string_value(name), &run->error));
  }
  return FLO_OK;
}

// ---- The scene as it is stored ----

static FloStatus refer_to_copy(AppRun *run, json_t *object, const char *key) {
  json_t *name = json_object_get(run->assets, flo_json_text(object, key));
  return json_object_set(object, key, name) ? no_memory(run) : FLO_OK;
}

static FloStatus refer_to_copies(AppRun *run) {
  json_t *root = json_loads(run->scene->resolved, 0, NULL);
  FloStatus status = root ? visit_files(run, root, refer_to_copy) : no_memory(run);
  char *text = status == FLO_OK ? flo_scene_write(root) : NULL;
  json_decref(root);
  if (status == FLO_OK && !text) status = no_memory(run);
  if (status != FLO_OK) return status;
  free(run->scene->resolved);
  run->scene->resolved = text;
  return FLO_OK;
}

FloStatus app_run_keep_assets(AppRun *run) {
  const char *path;
  json_t *name;
  json_object_foreach(run->assets, path, name)
      FLO_TRY(copy_asset(run->folder->path, path, json_string_value(name), &run->error));
  return json_object_size(run->assets) > 0 ? refer_to_copies(run) : FLO_OK;
}

// ---- Copies of an older scene ----

static bool is_used(const AppRun *run, const char *file) {
  const char *path;
  json_t *name;
  json_object_foreach(run->assets, path, name) {
    if (!strcmp(json_string_value(name) + strlen("assets/"), file)) return true;
  }
  return false;
}

static FloStatus remove_unused(const char *file, void *context, FloError *error) {
  const AppRun *run = context;
  char assets[FLO_PATH_SIZE], path[FLO_PATH_SIZE];
  if (!is_asset_name(file) || is_used(run, file)) return FLO_OK;
  FLO_TRY(flo_path_join(run->folder->path, "assets", assets, error));
  FLO_TRY(flo_path_join(assets, file, path, error));
  if (unlink(path) == 0) return FLO_OK;
  return flo_fail(error, FLO_IO_FAILED, "%s: cannot be removed: %s; move it to another folder", path,
                  strerror(errno));
}

FloStatus app_run_clear_assets(AppRun *run, FloError *error) {
  char assets[FLO_PATH_SIZE];
  struct stat about;
  FLO_TRY(flo_path_join(run->folder->path, "assets", assets, error));
  if (stat(assets, &about) != 0 || !S_ISDIR(about.st_mode)) return FLO_OK;
  FLO_TRY(flo_folder_visit(assets, remove_unused, run, error));
  rmdir(assets); // fails if it is not empty, which is fine
  return FLO_OK;
}
