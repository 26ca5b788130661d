// glTF files: chunks, alignment, limits and sharing are as the format demands, and keyframes are the poses
// that were given.
#include "base/vecmath.h"
#include "io/files.h"
#include "io/gltf.h"
#include "render/run_gltf.h"
#include "support/check.h"

#include <jansson.h>
#include <unistd.h>

// ---- A reader that knows only the format's description ----

typedef struct Glb {
  char *file;
  size_t size;
  json_t *root;
  const char *bytes;
  size_t n_bytes;
} Glb;

static uint32_t word_at(const char *p) {
  const unsigned char *b = (const unsigned char *)p;
  return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static Glb parse_glb(char *file, size_t size) {
  Glb glb = {.file = file, .size = size};
  assert_true(size >= 20);
  assert_memory_equal(file, "glTF", 4);
  assert_int_equal(word_at(file + 4), 2);
  assert_int_equal(word_at(file + 8), size);
  const size_t n_text = word_at(file + 12);
  assert_int_equal(n_text % 4, 0);
  assert_memory_equal(file + 16, "JSON", 4);
  glb.root = json_loadb(file + 20, n_text, 0, NULL);
  assert_non_null(glb.root);
  if (20 + n_text == size) return glb;
  glb.n_bytes = word_at(file + 20 + n_text);
  assert_int_equal(glb.n_bytes % 4, 0);
  assert_memory_equal(file + 24 + n_text, "BIN", 4);
  glb.bytes = file + 28 + n_text;
  assert_int_equal(28 + n_text + glb.n_bytes, size);
  const json_int_t told = json_integer_value(
      json_object_get(json_array_get(json_object_get(glb.root, "buffers"), 0), "byteLength"));
  assert_true(told <= (json_int_t)glb.n_bytes && told > (json_int_t)glb.n_bytes - 4);
  return glb;
}

static void free_glb(Glb *glb) {
  json_decref(glb->root);
  free(glb->file);
}

static json_t *item(const Glb *glb, const char *list, size_t k) {
  json_t *found = json_array_get(json_object_get(glb->root, list), k);
  assert_non_null(found);
  return found;
}

static size_t whole(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  assert_true(json_is_integer(value));
  return (size_t)json_integer_value(value);
}

typedef struct Accessor {
  const void *data;
  size_t count, width, component;
} Accessor;

// Checks what the format says of every accessor: it lies in its view, the view in the buffer, both aligned,
// and limits that are told are the true ones.
static Accessor accessor_at(const Glb *glb, size_t k) {
  const json_t *a = item(glb, "accessors", k), *view = item(glb, "bufferViews", whole(a, "bufferView"));
  const char *type = json_string_value(json_object_get(a, "type"));
  Accessor out = {.count = whole(a, "count"), .component = whole(a, "componentType")};
  out.width = strcmp(type, "SCALAR") == 0 ? 1 : (size_t)(type[3] - '0');
  const size_t each = out.component == 5123 ? 2 : 4;
  assert_int_equal(whole(view, "byteOffset") % 4, 0);
  assert_true(whole(view, "byteOffset") + whole(view, "byteLength") <= glb->n_bytes);
  assert_int_equal(whole(view, "byteLength"), out.count * out.width * each);
  out.data = glb->bytes + whole(view, "byteOffset");
  for (size_t part = 0; json_object_get(a, "min") && part < out.width; part++) {
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < out.count; i++) {
      float value;
      memcpy(&value, (const char *)out.data + 4 * (out.width * i + part), 4);
      low = fmin(low, (double)value), high = fmax(high, (double)value);
    }
    assert_true(low == json_number_value(json_array_get(json_object_get(a, "min"), part)));
    assert_true(high == json_number_value(json_array_get(json_object_get(a, "max"), part)));
  }
  return out;
}

static float float_at(const Accessor *a, size_t i, size_t part) {
  float value;
  assert_int_equal(a->component, 5126);
  memcpy(&value, (const char *)a->data + 4 * (a->width * i + part), 4);
  return value;
}

static uint32_t index_at(const Accessor *a, size_t i) {
  if (a->component == 5125) return word_at((const char *)a->data + 4 * i);
  uint16_t value;
  memcpy(&value, (const char *)a->data + 2 * i, 2);
  return value;
}

static Glb written(const FloGltf *gltf) {
  FloError error;
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  assert_ok(flo_gltf_write(gltf, stream, "out", &error), &error);
  fclose(stream);
  return parse_glb(text, size);
}

// The channel of a node's "translation" or "rotation"; false if there is none.
static bool find_channel(const Glb *glb, size_t node, const char *what, Accessor *times, Accessor *values) {
  const json_t *animation = json_array_get(json_object_get(glb->root, "animations"), 0);
  const json_t *channels = json_object_get(animation, "channels"),
               *samplers = json_object_get(animation, "samplers");
  for (size_t k = 0; k < json_array_size(channels); k++) {
    const json_t *channel = json_array_get(channels, k), *target = json_object_get(channel, "target");
    if (whole(target, "node") != node) continue;
    if (strcmp(json_string_value(json_object_get(target, "path")), what) != 0) continue;
    const json_t *sampler = json_array_get(samplers, whole(channel, "sampler"));
    assert_string_equal(json_string_value(json_object_get(sampler, "interpolation")), "LINEAR");
    *times = accessor_at(glb, whole(sampler, "input"));
    *values = accessor_at(glb, whole(sampler, "output"));
    assert_int_equal(times->count, values->count);
    assert_non_null(json_object_get(item(glb, "accessors", whole(sampler, "input")), "min"));
    return true;
  }
  return false;
}

// ---- Small scenes ----

static const float corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, -3}};
static const uint32_t faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};

static FloGltf *new_scene(int up) {
  FloGltf *gltf;
  FloError error;
  assert_ok(flo_gltf_create("a \"title\"", up, &gltf, &error), &error);
  return gltf;
}

static size_t add_tetrahedron(FloGltf *gltf, size_t material) {
  FloError error;
  size_t mesh;
  const FloGltfMesh triangles = {"four", corners[0], NULL, 4, faces[0], 4, material};
  assert_ok(flo_gltf_add_mesh(gltf, &triangles, &mesh, &error), &error);
  return mesh;
}

static size_t add_paint(FloGltf *gltf, float red, float opacity) {
  FloError error;
  size_t index;
  const FloGltfMaterial paint = {"paint", {red, 0.5f, 0.25f, opacity}, 0, 0.5f, false};
  assert_ok(flo_gltf_add_material(gltf, &paint, &index, &error), &error);
  return index;
}

static size_t add_node(FloGltf *gltf, size_t mesh, const FloPose *pose) {
  FloError error;
  size_t node;
  assert_ok(flo_gltf_add_node(gltf, "node", mesh, pose, &node, &error), &error);
  return node;
}

static void test_empty(void **state) {
  (void)state;
  FloGltf *gltf = new_scene(1);
  Glb glb = written(gltf);
  assert_int_equal(glb.n_bytes, 0);
  // Lists that are there must not be empty.
  static const char *const absent[] = {"meshes",    "materials", "cameras",
                                       "accessors", "buffers",   "animations"};
  for (size_t k = 0; k < FLO_COUNT_OF(absent); k++) assert_null(json_object_get(glb.root, absent[k]));
  assert_string_equal(json_string_value(json_object_get(json_object_get(glb.root, "asset"), "version")),
                      "2.0");
  assert_null(json_object_get(item(&glb, "nodes", 0), "rotation"));
  free_glb(&glb);
  flo_gltf_destroy(gltf);
  flo_gltf_destroy(NULL);
}

static void test_triangles(void **state) {
  (void)state;
  FloGltf *gltf = new_scene(2);
  add_tetrahedron(gltf, add_paint(gltf, 1, 1));
  Glb glb = written(gltf);
  const json_t *primitive = json_array_get(json_object_get(item(&glb, "meshes", 0), "primitives"), 0);
  const Accessor points = accessor_at(&glb, whole(json_object_get(primitive, "attributes"), "POSITION"));
  const Accessor indices = accessor_at(&glb, whole(primitive, "indices"));
  assert_int_equal(points.count, 4);
  assert_int_equal(indices.count, 12);
  assert_int_equal(indices.component, 5123);
  for (size_t i = 0; i < 12; i++) {
    assert_int_equal(index_at(&indices, i), faces[i / 3][i % 3]);
    assert_true(float_at(&points, i / 3, i % 3) == corners[i / 3][i % 3]);
  }
  assert_non_null(json_object_get(item(&glb, "accessors", 0), "max"));
  free_glb(&glb);
  flo_gltf_destroy(gltf);
}

// With 65535 vertices the largest short is no vertex; one more needs long numbers.
static void test_index_width(void **state) {
  (void)state;
  for (size_t n = 65535; n <= 65536; n++) {
    FloGltf *gltf = new_scene(2);
    FloError error;
    size_t mesh;
    float *points = calloc(n, sizeof(float[3]));
    const uint32_t triangle[3] = {0, 1, (uint32_t)n - 1};
    const FloGltfMesh many = {"many", points, points, n, triangle, 1, add_paint(gltf, 1, 1)};
    assert_ok(flo_gltf_add_mesh(gltf, &many, &mesh, &error), &error);
    Glb glb = written(gltf);
    const Accessor indices = accessor_at(
        &glb, whole(json_array_get(json_object_get(item(&glb, "meshes", 0), "primitives"), 0), "indices"));
    assert_int_equal(indices.component, n == 65535 ? 5123 : 5125);
    assert_int_equal(index_at(&indices, 2), n - 1);
    free_glb(&glb);
    free(points);
    flo_gltf_destroy(gltf);
  }
}

static void test_sharing(void **state) {
  (void)state;
  FloGltf *gltf = new_scene(2);
  const size_t red = add_paint(gltf, 1, 1), again = add_paint(gltf, 1, 1), clear = add_paint(gltf, 1, 0.5f);
  assert_int_equal(red, again);
  assert_int_not_equal(red, clear);
  add_tetrahedron(gltf, red);
  add_tetrahedron(gltf, clear);
  Glb glb = written(gltf);
  assert_int_equal(json_array_size(json_object_get(glb.root, "materials")), 2);
  assert_int_equal(json_array_size(json_object_get(glb.root, "meshes")), 2);
  assert_int_equal(json_array_size(json_object_get(glb.root, "accessors")), 2); // one set of triangles
  assert_null(json_object_get(item(&glb, "materials", 0), "alphaMode"));
  assert_string_equal(json_string_value(json_object_get(item(&glb, "materials", 1), "alphaMode")), "BLEND");
  free_glb(&glb);
  flo_gltf_destroy(gltf);
}

// The axis that is up in the scene is y in the file.
static void test_up(void **state) {
  (void)state;
  for (int up = 0; up < 3; up++) {
    FloGltf *gltf = new_scene(up);
    Glb glb = written(gltf);
    const json_t *turn = json_object_get(item(&glb, "nodes", 0), "rotation");
    double q[4] = {0, 0, 0, 1}, axis[3] = {up == 0, up == 1, up == 2}, turned[3];
    for (size_t k = 0; turn && k < 4; k++) q[k] = json_number_value(json_array_get(turn, k));
    quat_rotate(q, axis, turned);
    assert_close_3(turned, ((double[3]){0, 1, 0}), 1e-15);
    free_glb(&glb);
    flo_gltf_destroy(gltf);
  }
}

static FloPose turned_about_z(double x, double angle, double sign) {
  FloPose pose = flo_pose_identity();
  pose.position[0] = x;
  pose.rotation[2] = sign * sin(0.5 * angle), pose.rotation[3] = sign * cos(0.5 * angle);
  return pose;
}

// Keyframes are the poses; the sign of a quaternion follows the one before; what stands still has none.
static void test_keyframes(void **state) {
  (void)state;
  enum { N = 12, BODIES = 3 };
  FloGltf *gltf = new_scene(2);
  FloError error;
  double times[N];
  FloPose poses[N * BODIES];
  for (size_t k = 0; k < N; k++) {
    const double sign = k % 3 == 2 ? -1 : 1;
    times[k] = 0.04 * (double)k;
    poses[BODIES * k] = turned_about_z(0.1 * (double)k, 0.7 * (double)k, sign);
    poses[BODIES * k + 1] = turned_about_z(5, 1, sign); // the same place all the time
    poses[BODIES * k + 2] = turned_about_z(k == 4 ? (double)NAN : 1 + (double)k, 0, 1);
  }
  const size_t mesh = add_tetrahedron(gltf, add_paint(gltf, 1, 1));
  assert_ok(flo_gltf_set_times(gltf, times, N, &error), &error);
  size_t nodes[BODIES];
  for (size_t b = 0; b < BODIES; b++) {
    nodes[b] = add_node(gltf, mesh, &poses[b]);
    assert_ok(flo_gltf_animate(gltf, nodes[b], &poses[b], BODIES, N, &error), &error);
  }
  Glb glb = written(gltf);
  Accessor when, where, turn;
  assert_true(find_channel(&glb, nodes[0], "translation", &when, &where));
  assert_true(find_channel(&glb, nodes[0], "rotation", &when, &turn));
  assert_int_equal(when.count, N);
  for (size_t k = 0; k < N; k++) {
    double along = 0;
    assert_true(float_at(&when, k, 0) == (float)times[k]);
    assert_true(float_at(&where, k, 0) == (float)poses[BODIES * k].position[0]);
    // The same turn as was given, up to the sign: x, y, z, then w.
    for (size_t part = 0; part < 4; part++)
      along += (double)float_at(&turn, k, part) * poses[BODIES * k].rotation[part];
    assert_close(fabs(along), 1, 1e-6);
    assert_close(float_at(&turn, k, 3), cos(0.35 * (double)k), 1e-6); // it goes on and on, without a jump
  }
  assert_false(find_channel(&glb, nodes[1], "translation", &when, &where));
  assert_false(find_channel(&glb, nodes[1], "rotation", &when, &turn));
  // What is no number is the place before.
  assert_true(find_channel(&glb, nodes[2], "translation", &when, &where));
  assert_true(float_at(&where, 4, 0) == float_at(&where, 3, 0) && float_at(&where, 5, 0) == 6);
  free_glb(&glb);
  flo_gltf_destroy(gltf);
}

// Moments that are the same as floats are one, as keyframes must rise; a single one moves nothing.
static void test_odd_times(void **state) {
  (void)state;
  static const double near[4] = {0, 1, 1 + 1e-12, 2}, one[1] = {3};
  FloPose poses[4];
  FloError error;
  for (size_t k = 0; k < 4; k++) poses[k] = turned_about_z((double)k, 0, 1);
  for (size_t n = 1; n <= 4; n += 3) {
    FloGltf *gltf = new_scene(2);
    const size_t mesh = add_tetrahedron(gltf, add_paint(gltf, 1, 1)), node = add_node(gltf, mesh, &poses[0]);
    Accessor when, where;
    assert_ok(flo_gltf_set_times(gltf, n == 1 ? one : near, n, &error), &error);
    assert_ok(flo_gltf_animate(gltf, node, poses, 1, n, &error), &error);
    Glb glb = written(gltf);
    assert_int_equal(find_channel(&glb, node, "translation", &when, &where), n == 4);
    if (n == 4) {
      assert_int_equal(when.count, 3);
      assert_true(float_at(&where, 2, 0) == 3);
    } else {
      assert_null(json_object_get(glb.root, "animations"));
    }
    free_glb(&glb);
    flo_gltf_destroy(gltf);
  }
}

// A pose of nothing but zeros and NaN does not get into the file: JSON has no such numbers.
static void test_bad_pose(void **state) {
  (void)state;
  FloGltf *gltf = new_scene(2);
  FloPose zero = {0}, bad = flo_pose_identity();
  bad.position[1] = (double)NAN;
  const size_t mesh = add_tetrahedron(gltf, add_paint(gltf, 1, 1));
  add_node(gltf, mesh, &zero);
  add_node(gltf, mesh, &bad);
  Glb glb = written(gltf);
  for (size_t k = 1; k < 3; k++)
    assert_true(json_number_value(json_array_get(json_object_get(item(&glb, "nodes", k), "rotation"), 3)) ==
                1);
  free_glb(&glb);
  flo_gltf_destroy(gltf);
}

// Numbers that are not finite are refused by the name of what has them, and leave nothing behind.
static void test_bad_numbers(void **state) {
  (void)state;
  static const float odd[] = {NAN, INFINITY, -INFINITY};
  FloGltf *gltf = new_scene(2);
  FloError error;
  size_t index, paint = add_paint(gltf, 1, 1);
  for (size_t k = 0; k < 3; k++) {
    float points[4][3], normals[4][3] = {{0}};
    memcpy(points, corners, sizeof points);
    FloGltfMesh mesh = {"wreck", points[0], normals[0], 4, faces[0], 4, paint};
    points[3][2] = odd[k];
    assert_refused(flo_gltf_add_mesh(gltf, &mesh, &index, &error), &error, "'wreck'");
    points[3][2] = -3, normals[2][1] = odd[k];
    assert_refused(flo_gltf_add_mesh(gltf, &mesh, &index, &error), &error, "'wreck'");
    const FloGltfMaterial mud = {"mud", {1, odd[k], 0, 1}, 0, 0.5f, false};
    assert_refused(flo_gltf_add_material(gltf, &mud, &index, &error), &error, "'mud'");
    FloGltfCamera camera = {.name = "eye", .half_width = 1, .half_height = 1, .near = 0.1, .far = 9};
    camera.pose = flo_pose_identity();
    camera.far = (double)odd[k];
    assert_refused(flo_gltf_add_camera(gltf, &camera, &error), &error, "'eye'");
  }
  add_node(gltf, add_tetrahedron(gltf, paint),
           &(FloPose){.position = {1e300, 0, 0}, .rotation = {0, 0, 0, 1}});
  Glb glb = written(gltf);
  assert_int_equal(json_array_size(json_object_get(glb.root, "meshes")), 1);
  assert_int_equal(json_array_size(json_object_get(glb.root, "materials")), 1);
  assert_null(json_object_get(glb.root, "cameras"));
  free_glb(&glb);
  flo_gltf_destroy(gltf);
}

// Meshes that differ in one index or normal only are two.
static void test_alike(void **state) {
  (void)state;
  FloGltf *gltf = new_scene(2);
  FloError error;
  size_t index, paint = add_paint(gltf, 1, 1);
  uint32_t turned[4][3];
  memcpy(turned, faces, sizeof turned);
  turned[3][1] = 2, turned[3][2] = 3;
  const FloGltfMesh other = {"other", corners[0], NULL, 4, turned[0], 4, paint};
  add_tetrahedron(gltf, paint);
  assert_ok(flo_gltf_add_mesh(gltf, &other, &index, &error), &error);
  add_tetrahedron(gltf, paint);
  assert_ok(flo_gltf_add_mesh(gltf, &other, &index, &error), &error);
  Glb glb = written(gltf);
  assert_int_equal(json_array_size(json_object_get(glb.root, "meshes")), 4);
  assert_int_equal(json_array_size(json_object_get(glb.root, "accessors")), 4);
  free_glb(&glb);
  flo_gltf_destroy(gltf);
}

static void test_camera(void **state) {
  (void)state;
  FloGltf *gltf = new_scene(2);
  FloError error;
  FloGltfCamera camera = {.name = "eye", .half_width = 1, .half_height = 0.5, .near = 0.1, .far = 9};
  camera.pose = flo_pose_identity();
  assert_ok(flo_gltf_add_camera(gltf, &camera, &error), &error);
  camera.is_flat = true;
  assert_ok(flo_gltf_add_camera(gltf, &camera, &error), &error);
  Glb glb = written(gltf);
  const json_t *lens = json_object_get(item(&glb, "cameras", 0), "perspective");
  assert_close(json_number_value(json_object_get(lens, "yfov")), 2 * atan(0.5), 1e-15);
  assert_close(json_number_value(json_object_get(lens, "aspectRatio")), 2, 1e-15);
  lens = json_object_get(item(&glb, "cameras", 1), "orthographic");
  assert_close(json_number_value(json_object_get(lens, "ymag")), 0.5, 1e-15);
  assert_int_equal(whole(item(&glb, "nodes", 2), "camera"), 1);
  free_glb(&glb);
  flo_gltf_destroy(gltf);
}

// A stream that takes nothing is noticed.
static void test_full_disk(void **state) {
  (void)state;
  FloGltf *gltf = new_scene(2);
  FloError error;
  FILE *stream = fopen("/dev/full", "wb");
  if (!stream) skip();
  assert_fails(flo_gltf_write(gltf, stream, "full.glb", &error), FLO_IO_FAILED, &error, "full.glb");
  fclose(stream);
  flo_gltf_destroy(gltf);
}

// ---- Runs ----

static const char run_text[] =
    "{ \"schema_version\": 1, \"up\": \"z\", \"spacing\": 0.05, \"duration\": 1, \"frames_per_second\": 10,"
    "  \"title\": \"Things\", \"materials\": { \"water\": {} },"
    "  \"camera\": { \"from\": [0.5, -3, 1], \"look_at\": [0.5, 0.5, 1], \"field_of_view\": 40 },"
    "  \"boundaries\": ["
    "    { \"name\": \"tank\", \"shape\": { \"tank\": [1, 1, 1] } },"
    "    { \"name\": \"ball\", \"shape\": { \"sphere\": 0.2 }, \"at\": [0.5, 0.5, 0.6], \"look\": \"metal\" "
    "},"
    "    { \"name\": \"block\", \"shape\": { \"box\": [0.2, 0.2, 0.2] }, \"at\": [0.2, 0.2, 0.5], \"look\": "
    "\"red\" },"
    "    { \"name\": \"twin\", \"shape\": { \"box\": [0.2, 0.2, 0.2] }, \"at\": [0.8, 0.2, 0.5], \"look\": "
    "\"red\" },"
    "    { \"name\": \"ghost\", \"shape\": { \"box\": [0.2, 0.2, 0.2] }, \"at\": [0.8, 0.8, 0.5],"
    "      \"look\": \"hidden\" } ],"
    "  \"fluids\": [ { \"material\": \"water\", \"shape\": { \"box\": [1, 1, 0.2] }, \"corner\": [0, 0, 0] } "
    "] }";

static Glb run_seen(const FloScene *scene, const FloRunMotion *motion, const FloSurfaceMesh *surface,
                    double high) {
  FloError error;
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  FloPictureView view = {.is_set = true, .high = {high, high, high}};
  assert_ok(flo_run_gltf_write(stream, "out", scene, motion, surface, surface ? 1 : 0, &view, &error),
            &error);
  fclose(stream);
  return parse_glb(text, size);
}

static Glb run_written(const FloScene *scene, const FloRunMotion *motion, const FloSurfaceMesh *surface) {
  return run_seen(scene, motion, surface, 1);
}

// The format wants 0 < near < far, also where the view is a point.
static void check_planes(const FloScene *scene) {
  Glb glb = run_seen(scene, &(FloRunMotion){0}, NULL, 0);
  const json_t *lens = json_object_get(item(&glb, "cameras", 0), "perspective");
  const double near = json_number_value(json_object_get(lens, "znear"));
  assert_true(near > 0 && json_number_value(json_object_get(lens, "zfar")) > near);
  free_glb(&glb);
}

static size_t find_node(const Glb *glb, const char *name) {
  const json_t *nodes = json_object_get(glb->root, "nodes");
  for (size_t k = 0; k < json_array_size(nodes); k++)
    if (strcmp(json_string_value(json_object_get(json_array_get(nodes, k), "name")), name) == 0) return k;
  return SIZE_MAX;
}

static const json_t *material_of(const Glb *glb, const char *name) {
  const json_t *mesh = item(glb, "meshes", whole(item(glb, "nodes", find_node(glb, name)), "mesh"));
  return item(glb, "materials", whole(json_array_get(json_object_get(mesh, "primitives"), 0), "material"));
}

// Normals have length one and look outwards, and faces agree with them.
static void check_outward(const Glb *glb, const char *name) {
  const json_t *mesh = item(glb, "meshes", whole(item(glb, "nodes", find_node(glb, name)), "mesh"));
  const json_t *primitive = json_array_get(json_object_get(mesh, "primitives"), 0);
  const json_t *attributes = json_object_get(primitive, "attributes");
  const Accessor p = accessor_at(glb, whole(attributes, "POSITION")),
                 n = accessor_at(glb, whole(attributes, "NORMAL")),
                 t = accessor_at(glb, whole(primitive, "indices"));
  for (size_t k = 0; k < t.count; k += 3) {
    double corner[3][3], normal[3][3], u[3], v[3], face[3];
    for (size_t j = 0; j < 3; j++)
      for (size_t axis = 0; axis < 3; axis++) {
        corner[j][axis] = (double)float_at(&p, index_at(&t, k + j), axis);
        normal[j][axis] = (double)float_at(&n, index_at(&t, k + j), axis);
      }
    vec_sub(corner[1], corner[0], u);
    vec_sub(corner[2], corner[0], v);
    vec_cross(u, v, face);
    for (size_t j = 0; j < 3; j++) {
      assert_close(vec_length(normal[j]), 1, 1e-5);
      assert_true(vec_dot(face, normal[j]) > 0);
      assert_true(vec_dot(corner[j], normal[j]) > 0); // of shapes around their own middle
    }
  }
}

static void test_run(void **state) {
  (void)state;
  FloScene *scene;
  FloError error;
  assert_ok(flo_scene_load_text("things.json", run_text, sizeof run_text - 1, &(FloSceneOptions){0}, &scene,
                                &error),
            &error);
  enum { N = 3 };
  const double times[N] = {0, 0.1, 0.2};
  FloPose poses[N * 5];
  assert_int_equal(scene->n_bodies, 5);
  for (size_t k = 0; k < N; k++)
    for (size_t b = 0; b < 5; b++) poses[5 * k + b] = scene->bodies[b].def.pose;
  poses[5 + 2].position[2] += 0.125, poses[10 + 2].position[2] += 0.25;
  Glb glb = run_written(scene, &(FloRunMotion){.n_frames = N, .times = times, .poses = poses}, NULL);

  Accessor when, where;
  assert_true(find_channel(&glb, find_node(&glb, "block"), "translation", &when, &where));
  for (size_t k = 0; k < N; k++)
    for (size_t axis = 0; axis < 3; axis++)
      assert_true(float_at(&where, k, axis) == (float)poses[5 * k + 2].position[axis]);
  assert_false(find_channel(&glb, find_node(&glb, "block"), "rotation", &when, &where));
  assert_false(find_channel(&glb, find_node(&glb, "ball"), "translation", &when, &where));
  assert_int_equal(find_node(&glb, "ghost"), SIZE_MAX);
  assert_int_equal(find_node(&glb, "fluid"), SIZE_MAX);
  check_outward(&glb, "ball");
  check_outward(&glb, "block");

  // Two blocks of one shape and look share triangles and material; metal is metal, tanks are glass.
  assert_ptr_equal(material_of(&glb, "block"), material_of(&glb, "twin"));
  assert_int_equal(json_array_size(json_object_get(glb.root, "materials")), 3);
  const json_t *metal = json_object_get(material_of(&glb, "ball"), "pbrMetallicRoughness");
  assert_close(json_number_value(json_object_get(metal, "metallicFactor")), 1, 0);
  assert_string_equal(json_string_value(json_object_get(material_of(&glb, "tank"), "alphaMode")), "BLEND");

  // The camera is the scene's: it looks along y, and z is up in its picture.
  const json_t *eye = item(&glb, "nodes", find_node(&glb, "camera")),
               *turn = json_object_get(eye, "rotation");
  double q[4], ahead[3], up[3];
  for (size_t k = 0; k < 4; k++) q[k] = json_number_value(json_array_get(turn, k));
  quat_rotate(q, (double[3]){0, 0, -1}, ahead);
  quat_rotate(q, (double[3]){0, 1, 0}, up);
  assert_close_3(ahead, ((double[3]){0, 1, 0}), 1e-6);
  assert_close_3(up, ((double[3]){0, 0, 1}), 1e-6);
  const json_t *lens = json_object_get(item(&glb, "cameras", 0), "perspective");
  assert_close(json_number_value(json_object_get(lens, "yfov")), 40 * FLO_PI / 180, 1e-6);
  free_glb(&glb);
  check_planes(scene);
  flo_scene_destroy(scene);
}

// The fluid's surface, and a run of one frame.
static void test_run_surface(void **state) {
  (void)state;
  static const char empty[] =
      "{ \"schema_version\": 1, \"up\": \"z\", \"spacing\": 0.1, \"duration\": 1, \"frames_per_second\": 10,"
      "  \"materials\": { \"water\": {} },"
      "  \"fluids\": [ { \"material\": \"water\", \"shape\": { \"sphere\": 0.3 }, \"at\": [0, 0, 0] } ] }";
  static const double drop[2][3] = {{0, 0, 0}, {0.1, 0, 0}}, times[1] = {0};
  FloScene *scene;
  FloSurfaceMesh surface;
  FloMemory memory;
  FloError error;
  flo_memory_init(&memory, NULL);
  FloSurfaceDef def = flo_surface_default_def(0.1);
  assert_ok(flo_surface_build(&def, drop[0], NULL, 2, &surface, &memory, &error), &error);
  assert_ok(flo_scene_load_text("empty.json", empty, sizeof empty - 1, &(FloSceneOptions){0}, &scene, &error),
            &error);
  Glb glb = run_written(scene, &(FloRunMotion){.n_frames = 1, .times = times}, &surface);
  const json_t *mesh = item(&glb, "meshes", whole(item(&glb, "nodes", find_node(&glb, "fluid")), "mesh"));
  const json_t *primitive = json_array_get(json_object_get(mesh, "primitives"), 0);
  assert_int_equal(accessor_at(&glb, whole(primitive, "indices")).count, 3 * surface.mesh.n_triangles);
  assert_null(json_object_get(glb.root, "animations"));
  free_glb(&glb);
  // Without fluid and bodies there is a file with a camera.
  surface.mesh.n_triangles = 0;
  glb = run_written(scene, &(FloRunMotion){.n_frames = 1, .times = times}, &surface);
  assert_int_equal(find_node(&glb, "fluid"), SIZE_MAX);
  assert_null(json_object_get(glb.root, "meshes"));
  free_glb(&glb);
  flo_surface_free(&surface);
  flo_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bad_numbers), cmocka_unit_test(test_alike),
      cmocka_unit_test(test_empty),       cmocka_unit_test(test_triangles),
      cmocka_unit_test(test_index_width), cmocka_unit_test(test_sharing),
      cmocka_unit_test(test_up),          cmocka_unit_test(test_keyframes),
      cmocka_unit_test(test_odd_times),   cmocka_unit_test(test_bad_pose),
      cmocka_unit_test(test_camera),      cmocka_unit_test(test_full_disk),
      cmocka_unit_test(test_run),         cmocka_unit_test(test_run_surface),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
