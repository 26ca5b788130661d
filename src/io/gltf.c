// The JSON part is kept as a tree, the binary part as one growing block; both are put together at the end
// (glTF 2.0 specification, section 4: the GLB container).
#include "io/gltf.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/vecmath.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAY_BUFFER = 34962, ELEMENT_ARRAY_BUFFER = 34963 };
enum { UNSIGNED_SHORT = 5123, UNSIGNED_INT = 5125, FLOAT = 5126 };

// Triangles that are stored, and where.
typedef struct Geometry {
  uint64_t hash;
  size_t positions, normals, indices;          // accessors
  size_t positions_at, normals_at, indices_at; // in the bytes
  size_t n_vertices, n_triangles;
  bool has_normals;
} Geometry;

struct FloGltf {
  FloMemory memory;
  FloBuffer bytes, geometries;
  size_t n_bytes, n_geometries;
  json_t *root, *materials, *meshes, *nodes, *children, *cameras, *accessors, *views, *samplers, *channels;
  size_t times; // the accessor of keyframes
  uint32_t *kept;
  size_t n_kept, n_times; // of the times given, which are keyframes
  bool has_failed;        // no memory for a part of the tree
};

static FloStatus complain_memory(FloError *error) {
  return flo_fail(error, FLO_NO_MEMORY, "no memory for a glTF scene");
}

// JSON cannot hold infinite numbers and NaN, and programs that read glTF refuse them in binary data too.
static FloStatus complain_number(const char *name, const char *what, FloError *error) {
  return flo_fail(error, FLO_BAD_INPUT,
                  "glTF: '%s' has %s that is not a finite number; correct it, or leave it out", name, what);
}

static bool are_finite(const float *values, size_t n) {
  for (size_t k = 0; k < n; k++)
    if (!isfinite(values[k])) return false;
  return true;
}

// ---- The tree ----

// Takes ownership of the value; returns its index in the array.
static size_t append(FloGltf *gltf, json_t *array, json_t *value) {
  if (json_array_append_new(array, value) != 0) gltf->has_failed = true;
  return json_array_size(array) - 1;
}

static void put(FloGltf *gltf, json_t *object, const char *key, json_t *value) {
  if (json_object_set_new(object, key, value) != 0) gltf->has_failed = true;
}

// A name that was cut inside a character is not valid UTF-8; such bytes become '_'.
static json_t *text_of(const char *name) {
  json_t *text = json_string(name);
  if (text) return text;
  char safe[256];
  size_t n = 0;
  for (; name[n] && n + 1 < sizeof safe; n++) safe[n] = (unsigned char)name[n] < 128 ? name[n] : '_';
  safe[n] = 0;
  return json_string(safe);
}

static json_t *numbers_of(const double *values, size_t n) {
  json_t *array = json_array();
  for (size_t k = 0; array && k < n; k++)
    if (json_array_append_new(array, json_real(values[k])) != 0) return json_decref(array), NULL;
  return array;
}

static json_t *list_in(FloGltf *gltf, json_t *object, const char *key) {
  json_t *array = json_array();
  put(gltf, object, key, array);
  return array;
}

// ---- Making and releasing ----

// Rotates the axis `up` to y.
static void turn_of(int up, double rotation[4]) {
  const double half = sqrt(0.5);
  static const double axes[3][3] = {{0, 0, 1}, {0, 0, 0}, {-1, 0, 0}};
  for (int axis = 0; axis < 3; axis++) rotation[axis] = half * axes[up][axis];
  rotation[3] = up == 1 ? 1 : half;
}

static void plant_tree(FloGltf *gltf, const char *title, int up) {
  double turn[4];
  turn_of(up, turn);
  gltf->root = json_pack("{s:{s:s, s:s}, s:i, s:[{s:o, s:[i]}], s:[{s:s}]}", "asset", "version", "2.0",
                         "generator", "flotsam " FLOTSAM_VERSION, "scene", 0, "scenes", "name",
                         text_of(title), "nodes", 0, "nodes", "name", "flotsam");
  gltf->nodes = json_object_get(gltf->root, "nodes");
  json_t *first = json_array_get(gltf->nodes, 0);
  gltf->children = list_in(gltf, first, "children");
  if (up != 1) put(gltf, first, "rotation", numbers_of(turn, 4));
  gltf->materials = list_in(gltf, gltf->root, "materials");
  gltf->meshes = list_in(gltf, gltf->root, "meshes");
  gltf->cameras = list_in(gltf, gltf->root, "cameras");
  gltf->accessors = list_in(gltf, gltf->root, "accessors");
  gltf->views = list_in(gltf, gltf->root, "bufferViews");
  gltf->samplers = json_array();
  gltf->channels = json_array();
  if (!gltf->samplers || !gltf->channels) gltf->has_failed = true;
}

FloStatus flo_gltf_create(const char *title, int up, FloGltf **out, FloError *error) {
  FLO_ASSERT(up >= 0 && up < 3);
  FloGltf *gltf = calloc(1, sizeof *gltf);
  *out = gltf;
  if (!gltf) return complain_memory(error);
  flo_memory_init(&gltf->memory, NULL);
  plant_tree(gltf, title, up);
  if (!gltf->has_failed) return FLO_OK;
  flo_gltf_destroy(gltf);
  *out = NULL;
  return complain_memory(error);
}

void flo_gltf_destroy(FloGltf *gltf) {
  if (!gltf) return;
  json_decref(gltf->root);
  json_decref(gltf->samplers);
  json_decref(gltf->channels);
  flo_buffer_free(&gltf->memory, &gltf->bytes);
  flo_buffer_free(&gltf->memory, &gltf->geometries);
  free(gltf->kept);
  free(gltf);
}

static FloStatus check_tree(const FloGltf *gltf, FloError *error) {
  return gltf->has_failed ? complain_memory(error) : FLO_OK;
}

// ---- Binary data ----

// Room at the end; it begins at a multiple of four, as every accessor must. NULL: no memory.
static void *extend(FloGltf *gltf, size_t size, FloError *error) {
  size_t at = (gltf->n_bytes + 3) / 4 * 4;
  if (flo_buffer_reserve(&gltf->memory, &gltf->bytes, at + size, gltf->n_bytes, error) != FLO_OK) return NULL;
  char *bytes = gltf->bytes.data;
  memset(bytes + gltf->n_bytes, 0, at - gltf->n_bytes);
  gltf->n_bytes = at + size;
  return bytes + at;
}

typedef struct Values {
  int component;
  const char *type;
  size_t count, size; // elements, bytes
  int target;         // 0: none
} Values;

// An accessor for the bytes that were added last.
static size_t add_accessor(FloGltf *gltf, const Values *values) {
  json_t *view =
      json_pack("{s:i, s:I, s:I}", "buffer", 0, "byteOffset", (json_int_t)(gltf->n_bytes - values->size),
                "byteLength", (json_int_t)values->size);
  if (values->target) put(gltf, view, "target", json_integer(values->target));
  size_t number = append(gltf, gltf->views, view);
  return append(gltf, gltf->accessors,
                json_pack("{s:I, s:i, s:I, s:s}", "bufferView", (json_int_t)number, "componentType",
                          values->component, "count", (json_int_t)values->count, "type", values->type));
}

// The smallest and the largest value of each component of float tuples.
static void put_limits(FloGltf *gltf, size_t accessor, const float *values, size_t n, size_t width) {
  double low[4], high[4];
  json_t *object = json_array_get(gltf->accessors, accessor);
  for (size_t part = 0; part < width; part++) {
    low[part] = INFINITY, high[part] = -INFINITY;
    for (size_t k = 0; k < n; k++) {
      low[part] = fmin(low[part], (double)values[width * k + part]);
      high[part] = fmax(high[part], (double)values[width * k + part]);
    }
  }
  put(gltf, object, "min", numbers_of(low, width));
  put(gltf, object, "max", numbers_of(high, width));
}

static FloStatus add_floats(FloGltf *gltf, const float *values, size_t n, size_t width, int target,
                            size_t *accessor, FloError *error) {
  static const char *const types[] = {NULL, "SCALAR", NULL, "VEC3", "VEC4"};
  const Values about = {FLOAT, types[width], n, n * width * sizeof(float), target};
  void *to = extend(gltf, about.size, error);
  if (!to) return FLO_NO_MEMORY;
  memcpy(to, values, about.size);
  *accessor = add_accessor(gltf, &about);
  return FLO_OK;
}

// ---- Materials ----

FloStatus flo_gltf_add_material(FloGltf *gltf, const FloGltfMaterial *m, size_t *index, FloError *error) {
  if (!are_finite(m->colour, 4) || !isfinite(m->metallic) || !isfinite(m->roughness))
    return complain_number(m->name, "a colour or roughness", error);
  const double colour[4] = {(double)m->colour[0], (double)m->colour[1], (double)m->colour[2],
                            (double)m->colour[3]};
  json_t *object = json_pack("{s:o, s:{s:o, s:f, s:f}}", "name", text_of(m->name), "pbrMetallicRoughness",
                             "baseColorFactor", numbers_of(colour, 4), "metallicFactor", (double)m->metallic,
                             "roughnessFactor", (double)m->roughness);
  if (!object) return complain_memory(error);
  if (m->colour[3] < 1) put(gltf, object, "alphaMode", json_string("BLEND"));
  if (m->has_two_sides) put(gltf, object, "doubleSided", json_true());
  size_t n = json_array_size(gltf->materials);
  for (*index = 0; *index < n; ++*index)
    if (json_equal(json_array_get(gltf->materials, *index), object)) return json_decref(object), FLO_OK;
  append(gltf, gltf->materials, object);
  return check_tree(gltf, error);
}

// ---- Meshes ----

// The largest number of an index type marks the end of strips, so it cannot be a vertex.
static bool is_short(const FloGltfMesh *mesh) { return mesh->n_vertices < 65536; }

static FloStatus add_indices(FloGltf *gltf, const FloGltfMesh *mesh, size_t *accessor, FloError *error) {
  const size_t n = 3 * mesh->n_triangles;
  const bool has_shorts = is_short(mesh);
  const Values about = {has_shorts ? UNSIGNED_SHORT : UNSIGNED_INT, "SCALAR", n, n * (has_shorts ? 2 : 4),
                        ELEMENT_ARRAY_BUFFER};
  void *to = extend(gltf, about.size, error);
  if (!to) return FLO_NO_MEMORY;
  for (size_t k = 0; has_shorts && k < n; k++) ((uint16_t *)to)[k] = (uint16_t)mesh->triangles[k];
  if (!has_shorts) memcpy(to, mesh->triangles, about.size);
  *accessor = add_accessor(gltf, &about);
  return FLO_OK;
}

static uint64_t hash_mesh(const FloGltfMesh *mesh) {
  uint64_t h = flo_hash_bytes(FLO_HASH_START, mesh->positions, mesh->n_vertices * sizeof(float[3]));
  if (mesh->normals) h = flo_hash_bytes(h, mesh->normals, mesh->n_vertices * sizeof(float[3]));
  return flo_hash_bytes(h, mesh->triangles, mesh->n_triangles * sizeof(uint32_t[3]));
}

static bool has_triangles(const FloGltf *gltf, const Geometry *g, const FloGltfMesh *mesh) {
  const void *stored = (const char *)gltf->bytes.data + g->indices_at;
  const size_t n = 3 * mesh->n_triangles;
  if (!is_short(mesh)) return memcmp(stored, mesh->triangles, n * sizeof(uint32_t)) == 0;
  for (size_t k = 0; k < n; k++)
    if (((const uint16_t *)stored)[k] != mesh->triangles[k]) return false;
  return true;
}

// The hash only avoids most comparisons.
static bool is_same(const FloGltf *gltf, const Geometry *g, const FloGltfMesh *mesh, uint64_t hash) {
  const char *bytes = gltf->bytes.data;
  const size_t size = mesh->n_vertices * sizeof(float[3]);
  return g->hash == hash && g->n_vertices == mesh->n_vertices && g->n_triangles == mesh->n_triangles &&
         g->has_normals == (mesh->normals != NULL) &&
         !memcmp(bytes + g->positions_at, mesh->positions, size) &&
         !(mesh->normals && memcmp(bytes + g->normals_at, mesh->normals, size)) &&
         has_triangles(gltf, g, mesh);
}

static const Geometry *find_geometry(const FloGltf *gltf, const FloGltfMesh *mesh, uint64_t hash) {
  const Geometry *all = gltf->geometries.data;
  for (size_t k = 0; k < gltf->n_geometries; k++)
    if (is_same(gltf, &all[k], mesh, hash)) return &all[k];
  return NULL;
}

static FloStatus store_geometry(FloGltf *gltf, const FloGltfMesh *mesh, uint64_t hash,
                                const Geometry **stored, FloError *error) {
  const size_t size = gltf->n_geometries * sizeof(Geometry);
  Geometry g = {.hash = hash,
                .n_vertices = mesh->n_vertices,
                .n_triangles = mesh->n_triangles,
                .has_normals = mesh->normals != NULL};
  FLO_TRY(flo_buffer_reserve(&gltf->memory, &gltf->geometries, size + sizeof g, size, error));
  FLO_TRY(add_floats(gltf, mesh->positions, mesh->n_vertices, 3, ARRAY_BUFFER, &g.positions, error));
  g.positions_at = gltf->n_bytes - mesh->n_vertices * sizeof(float[3]);
  put_limits(gltf, g.positions, mesh->positions, mesh->n_vertices, 3);
  if (g.has_normals)
    FLO_TRY(add_floats(gltf, mesh->normals, mesh->n_vertices, 3, ARRAY_BUFFER, &g.normals, error));
  g.normals_at = gltf->n_bytes - mesh->n_vertices * sizeof(float[3]);
  FLO_TRY(add_indices(gltf, mesh, &g.indices, error));
  g.indices_at = gltf->n_bytes - 3 * mesh->n_triangles * (is_short(mesh) ? 2 : 4);
  Geometry *last = (Geometry *)gltf->geometries.data + gltf->n_geometries++;
  *last = g;
  *stored = last;
  return FLO_OK;
}

FloStatus flo_gltf_add_mesh(FloGltf *gltf, const FloGltfMesh *mesh, size_t *index, FloError *error) {
  FLO_ASSERT(mesh->n_vertices > 0 && mesh->n_triangles > 0);
  FLO_ASSERT(mesh->material < json_array_size(gltf->materials));
  if (!are_finite(mesh->positions, 3 * mesh->n_vertices) ||
      (mesh->normals && !are_finite(mesh->normals, 3 * mesh->n_vertices)))
    return complain_number(mesh->name, "a vertex or normal", error);
  const uint64_t hash = hash_mesh(mesh);
  const Geometry *g = find_geometry(gltf, mesh, hash);
  if (!g) FLO_TRY(store_geometry(gltf, mesh, hash, &g, error));
  json_t *attributes = json_pack("{s:I}", "POSITION", (json_int_t)g->positions);
  if (g->has_normals) put(gltf, attributes, "NORMAL", json_integer((json_int_t)g->normals));
  *index = append(gltf, gltf->meshes,
                  json_pack("{s:o, s:[{s:o, s:I, s:I}]}", "name", text_of(mesh->name), "primitives",
                            "attributes", attributes, "indices", (json_int_t)g->indices, "material",
                            (json_int_t)mesh->material));
  return check_tree(gltf, error);
}

// ---- Nodes and cameras ----

static bool is_usable(const FloPose *pose) {
  const double *q = pose->rotation;
  double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  for (int k = 0; k < 3; k++) // keyframes are floats
    if (!isfinite((float)pose->position[k])) return false;
  return isfinite(square) && square > 0;
}

static void normalize(double q[4]) {
  double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (int k = 0; k < 4; k++) q[k] /= length;
}

static size_t place_node(FloGltf *gltf, const char *name, const FloPose *pose) {
  FloPose placed = is_usable(pose) ? *pose : flo_pose_identity();
  normalize(placed.rotation);
  size_t index =
      append(gltf, gltf->nodes,
             json_pack("{s:o, s:o, s:o}", "name", text_of(name), "translation",
                       numbers_of(placed.position, 3), "rotation", numbers_of(placed.rotation, 4)));
  append(gltf, gltf->children, json_integer((json_int_t)index));
  return index;
}

FloStatus flo_gltf_add_node(FloGltf *gltf, const char *name, size_t mesh, const FloPose *pose, size_t *index,
                            FloError *error) {
  FLO_ASSERT(mesh < json_array_size(gltf->meshes));
  *index = place_node(gltf, name, pose);
  put(gltf, json_array_get(gltf->nodes, *index), "mesh", json_integer((json_int_t)mesh));
  return check_tree(gltf, error);
}

static json_t *camera_of(const FloGltfCamera *c) {
  if (c->is_flat)
    return json_pack("{s:o, s:s, s:{s:f, s:f, s:f, s:f}}", "name", text_of(c->name), "type", "orthographic",
                     "orthographic", "xmag", c->half_width, "ymag", c->half_height, "znear", c->near, "zfar",
                     c->far);
  return json_pack("{s:o, s:s, s:{s:f, s:f, s:f, s:f}}", "name", text_of(c->name), "type", "perspective",
                   "perspective", "yfov", 2 * atan(c->half_height), "aspectRatio",
                   c->half_width / c->half_height, "znear", c->near, "zfar", c->far);
}

FloStatus flo_gltf_add_camera(FloGltf *gltf, const FloGltfCamera *camera, FloError *error) {
  const double sum = camera->half_width + camera->half_height + camera->near + camera->far;
  if (!isfinite(sum) || !is_usable(&camera->pose))
    return complain_number(camera->name, "a size, distance or pose", error);
  size_t number = append(gltf, gltf->cameras, camera_of(camera));
  size_t node = place_node(gltf, camera->name, &camera->pose);
  put(gltf, json_array_get(gltf->nodes, node), "camera", json_integer((json_int_t)number));
  return check_tree(gltf, error);
}

// ---- Keyframes ----

FloStatus flo_gltf_set_times(FloGltf *gltf, const double *times, size_t n, FloError *error) {
  float *moments = malloc((n + 1) * sizeof *moments);
  FLO_ASSERT(!gltf->kept);
  gltf->kept = malloc((n + 1) * sizeof *gltf->kept);
  FloStatus status = moments && gltf->kept ? FLO_OK : complain_memory(error);
  for (size_t k = 0; status == FLO_OK && k < n; k++) {
    float moment = (float)times[k];
    if (!isfinite(moment) || moment < 0 || (gltf->n_kept > 0 && moment <= moments[gltf->n_kept - 1]))
      continue;
    moments[gltf->n_kept] = moment;
    gltf->kept[gltf->n_kept++] = (uint32_t)k;
  }
  gltf->n_times = n;
  if (status == FLO_OK && gltf->n_kept > 1) {
    status = add_floats(gltf, moments, gltf->n_kept, 1, 0, &gltf->times, error);
    if (status == FLO_OK) put_limits(gltf, gltf->times, moments, gltf->n_kept, 1);
  }
  free(moments);
  return status == FLO_OK ? check_tree(gltf, error) : status;
}

// q and -q are the same rotation. The one nearer to the last keyframe is used, so that the arc between them
// is the shorter one.
static void turn_along(const double last[4], double q[4]) {
  double along = last[0] * q[0] + last[1] * q[1] + last[2] * q[2] + last[3] * q[3];
  for (int k = 0; along < 0 && k < 4; k++) q[k] = -q[k];
}

// The poses at keyframes as floats: three for the position, four for the rotation.
static void take_poses(const FloGltf *gltf, const FloPose *poses, size_t stride, float *places,
                       float *turns) {
  FloPose last = is_usable(&poses[0]) ? poses[0] : flo_pose_identity();
  normalize(last.rotation);
  for (size_t k = 0; k < gltf->n_kept; k++) {
    FloPose pose = poses[stride * gltf->kept[k]];
    if (!is_usable(&pose)) pose = last;
    normalize(pose.rotation);
    turn_along(last.rotation, pose.rotation);
    for (size_t part = 0; part < 3; part++) places[3 * k + part] = (float)pose.position[part];
    for (size_t part = 0; part < 4; part++) turns[4 * k + part] = (float)pose.rotation[part];
    last = pose;
  }
}

static bool is_changing(const float *values, size_t n, size_t width) {
  for (size_t k = width; k < n * width; k++)
    if (values[k] != values[k % width]) return true;
  return false;
}

static void link_channel(FloGltf *gltf, size_t node, const char *what, const char *between, size_t accessor) {
  size_t sampler = append(gltf, gltf->samplers,
                          json_pack("{s:I, s:I, s:s}", "input", (json_int_t)gltf->times, "output",
                                    (json_int_t)accessor, "interpolation", between));
  append(gltf, gltf->channels,
         json_pack("{s:I, s:{s:I, s:s}}", "sampler", (json_int_t)sampler, "target", "node", (json_int_t)node,
                   "path", what));
}

static FloStatus add_channel(FloGltf *gltf, size_t node, const char *what, const float *values, size_t width,
                             FloError *error) {
  size_t accessor;
  if (!is_changing(values, gltf->n_kept, width)) return FLO_OK;
  FLO_TRY(add_floats(gltf, values, gltf->n_kept, width, 0, &accessor, error));
  link_channel(gltf, node, what, "LINEAR", accessor);
  return check_tree(gltf, error);
}

FloStatus flo_gltf_animate(FloGltf *gltf, size_t node, const FloPose *poses, size_t stride, size_t n,
                           FloError *error) {
  FLO_ASSERT(n == gltf->n_times && node < json_array_size(gltf->nodes));
  if (gltf->n_kept < 2) return FLO_OK;
  float *places = malloc(7 * gltf->n_kept * sizeof *places);
  if (!places) return complain_memory(error);
  float *turns = places + 3 * gltf->n_kept;
  take_poses(gltf, poses, stride, places, turns);
  FloStatus status = add_channel(gltf, node, "translation", places, 3, error);
  if (status == FLO_OK) status = add_channel(gltf, node, "rotation", turns, 4, error);
  free(places);
  return status;
}

// ---- Shapes that change ----

// An accessor for the way from the first of several lists of triples to another one.
static FloStatus add_difference(FloGltf *gltf, const float *lists, size_t n, size_t number, float *room,
                                size_t *accessor, FloError *error) {
  for (size_t k = 0; k < 3 * n; k++) room[k] = lists[3 * n * number + k] - lists[k];
  FLO_TRY(add_floats(gltf, room, n, 3, ARRAY_BUFFER, accessor, error));
  put_limits(gltf, *accessor, room, n, 3);
  return FLO_OK;
}

static FloStatus add_target(FloGltf *gltf, json_t *targets, const FloGltfShapes *shapes, size_t number,
                            float *room, FloError *error) {
  size_t accessor;
  FLO_TRY(add_difference(gltf, shapes->positions, shapes->n_vertices, number, room, &accessor, error));
  json_t *target = json_pack("{s:I}", "POSITION", (json_int_t)accessor);
  if (shapes->normals) {
    FLO_TRY(add_difference(gltf, shapes->normals, shapes->n_vertices, number, room, &accessor, error));
    put(gltf, target, "NORMAL", json_integer((json_int_t)accessor));
  }
  append(gltf, targets, target);
  return FLO_OK;
}

FloStatus flo_gltf_show(FloGltf *gltf, size_t node, size_t number, FloError *error) {
  size_t accessor;
  if (gltf->n_kept < 2) return FLO_OK;
  float *scales = calloc(3 * gltf->n_kept, sizeof *scales);
  if (!scales) return complain_memory(error);
  for (size_t k = 0; k < gltf->n_kept; k++)
    for (size_t axis = 0; axis < 3; axis++) scales[3 * k + axis] = gltf->kept[k] == number ? 1 : 0;
  FloStatus status = add_floats(gltf, scales, gltf->n_kept, 3, 0, &accessor, error);
  free(scales);
  if (status == FLO_OK) link_channel(gltf, node, "scale", "STEP", accessor);
  return status == FLO_OK ? check_tree(gltf, error) : status;
}

// At the time of a target its weight is one, and all others are zero.
static FloStatus animate_weights(FloGltf *gltf, size_t node, size_t n_targets, FloError *error) {
  const size_t n = gltf->n_kept * n_targets;
  size_t accessor;
  float *weights = calloc(n, sizeof *weights);
  if (!weights) return complain_memory(error);
  for (size_t k = 1; k < gltf->n_kept; k++) weights[k * n_targets + k - 1] = 1;
  FloStatus status = add_floats(gltf, weights, n, 1, 0, &accessor, error);
  free(weights);
  if (status == FLO_OK) link_channel(gltf, node, "weights", "LINEAR", accessor);
  return status;
}

FloStatus flo_gltf_morph(FloGltf *gltf, size_t node, size_t mesh, const FloGltfShapes *shapes,
                         FloError *error) {
  FLO_ASSERT(shapes->n == gltf->n_times && mesh < json_array_size(gltf->meshes));
  if (gltf->n_kept < 2) return FLO_OK;
  json_t *object = json_array_get(gltf->meshes, mesh);
  json_t *targets = list_in(gltf, json_array_get(json_object_get(object, "primitives"), 0), "targets");
  json_t *weights = list_in(gltf, object, "weights");
  float *room = malloc((shapes->n_vertices + 1) * sizeof(float[3]));
  FloStatus status = room ? FLO_OK : complain_memory(error);
  for (size_t k = 1; status == FLO_OK && k < gltf->n_kept; k++) {
    append(gltf, weights, json_integer(0));
    status = add_target(gltf, targets, shapes, gltf->kept[k], room, error);
  }
  free(room);
  if (status == FLO_OK) status = animate_weights(gltf, node, gltf->n_kept - 1, error);
  return status == FLO_OK ? check_tree(gltf, error) : status;
}

// ---- The file ----

// The format forbids empty lists.
static FloStatus dump_tree(const FloGltf *gltf, char **text, FloError *error) {
  static const char *const lists[] = {"materials", "meshes", "cameras", "accessors", "bufferViews"};
  json_t *root = json_copy(gltf->root), *nodes = json_deep_copy(gltf->nodes);
  // Takes ownership of the nodes, also if it fails.
  bool is_fine = json_object_set_new(root, "nodes", nodes) == 0;
  for (size_t k = 0; is_fine && k < FLO_COUNT_OF(lists); k++)
    if (json_array_size(json_object_get(root, lists[k])) == 0) json_object_del(root, lists[k]);
  if (is_fine && json_array_size(gltf->children) == 0) json_object_del(json_array_get(nodes, 0), "children");
  if (is_fine && gltf->n_bytes > 0)
    is_fine = json_object_set_new(root, "buffers",
                                  json_pack("[{s:I}]", "byteLength", (json_int_t)gltf->n_bytes)) == 0;
  if (is_fine && json_array_size(gltf->channels) > 0)
    is_fine = json_object_set_new(root, "animations",
                                  json_pack("[{s:s, s:O, s:O}]", "name", "run", "samplers", gltf->samplers,
                                            "channels", gltf->channels)) == 0;
  *text = is_fine ? json_dumps(root, JSON_COMPACT) : NULL;
  json_decref(root);
  return *text ? FLO_OK : complain_memory(error);
}

static void put_word(FILE *stream, uint64_t value) {
  const unsigned char bytes[4] = {(unsigned char)value, (unsigned char)(value >> 8),
                                  (unsigned char)(value >> 16), (unsigned char)(value >> 24)};
  fwrite(bytes, 1, 4, stream);
}

// A chunk must end at a multiple of four: text is filled with spaces, bytes with zeros.
static void put_chunk(FILE *stream, uint32_t type, const void *data, size_t size, char filler) {
  put_word(stream, (size + 3) / 4 * 4);
  put_word(stream, type);
  fwrite(data, 1, size, stream);
  for (size_t k = size; k % 4; k++) fputc(filler, stream);
}

static FloStatus write_chunks(const FloGltf *gltf, FILE *stream, const char *path, const char *text,
                              FloError *error) {
  const size_t n_text = strlen(text), n_bytes = gltf->n_bytes;
  const uint64_t total = 12 + 8 + (n_text + 3) / 4 * 4 + (n_bytes ? 8 + (n_bytes + 3) / 4 * 4 : 0);
  if (total > UINT32_MAX)
    return flo_fail(error, FLO_BAD_INPUT,
                    "%s: would need %.1f GiB, but a glb file holds at most 4 GiB; leave out the surface, or "
                    "convert a single frame",
                    path, (double)total / (1024.0 * 1024 * 1024));
  put_word(stream, 0x46546C67); // "glTF"
  put_word(stream, 2);
  put_word(stream, total);
  put_chunk(stream, 0x4E4F534A, text, n_text, ' '); // "JSON"
  if (n_bytes > 0) put_chunk(stream, 0x004E4942, gltf->bytes.data, n_bytes, 0);
  if (fflush(stream) == 0 && !ferror(stream)) return FLO_OK;
  return flo_fail(error, FLO_IO_FAILED, "%s: cannot write: %s", path, strerror(errno));
}

FloStatus flo_gltf_write(const FloGltf *gltf, FILE *stream, const char *path, FloError *error) {
  char *text;
  FLO_TRY(check_tree(gltf, error));
  FLO_TRY(dump_tree(gltf, &text, error));
  FloStatus status = write_chunks(gltf, stream, path, text, error);
  free(text);
  return status;
}
