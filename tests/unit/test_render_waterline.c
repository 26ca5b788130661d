// Water at walls, as pictures have it: sharp edges, a smooth waterline, no triangle that is turned over.
#include "render/water.h"
#include "render/waterline.h"
#include "support/check.h"

static FloError failure;

// A block of particles that fills one end of a tank.
static FloWater make_pool(int threads) {
  enum { SIDE = 10, COUNT = SIDE * SIDE * SIDE };
  static float positions[3 * COUNT];
  const float spacing = 0.05f;
  for (int k = 0; k < COUNT; k++) {
    float *p = positions + 3 * k;
    p[0] = ((float)(k % SIDE) + 0.5f) * spacing, p[1] = ((float)(k / SIDE % SIDE) + 0.5f) * spacing;
    p[2] = ((float)(k / SIDE / SIDE) + 0.5f) * spacing;
  }
  FloSceneBody tank = {.def.shape = {.kind = FLO_SHAPE_TANK, .size = {1, 0.5, 1}, .up = 2},
                       .def.pose = {{0.5, 0.25, 0.5}, {0, 0, 0, 1}}};
  const FloPictureInput input = {.dim = 3,
                                 .up = 2,
                                 .n_particles = COUNT,
                                 .positions = positions,
                                 .radius = 0.5f * spacing,
                                 .bodies = &tank,
                                 .n_bodies = 1};
  const FloCloud cloud = {0};
  const FloBounds bounds = {{0, 0, 0}, {1, 0.5f, 1}};
  FloWater water;
  assert_ok(flo_water_create(&input, &cloud, bounds, 0, threads, &water, &failure), &failure);
  return water;
}

// Whether all corners of a triangle lie in a box.
static bool is_triangle_in(const FloSolids *s, size_t triangle, V3 low, V3 high) {
  for (int k = 0; k < 3; k++) {
    V3 v = s->vertices[s->triangles[triangle][k]];
    if (v.x < low.x || v.y < low.y || v.z < low.z || v.x > high.x || v.y > high.y || v.z > high.z)
      return false;
  }
  return true;
}

static V3 face_of(const FloSolids *s, size_t triangle) {
  const uint32_t *t = s->triangles[triangle];
  V3 a = s->vertices[t[0]], b = s->vertices[t[1]], c = s->vertices[t[2]];
  return v3_cross(v3_sub(b, a), v3_sub(c, a));
}

// Area of the triangles in a box that face neither of two ways.
static double cut_area(const FloSolids *s, V3 low, V3 high, V3 one, V3 other, float least) {
  double sum = 0;
  for (size_t k = 0; k < s->n_triangles; k++) {
    V3 face = face_of(s, k), n = v3_normalize(face);
    if (!is_triangle_in(s, k, low, high) || v3_length(face) == 0) continue;
    if (v3_dot(n, one) < least && v3_dot(n, other) < least) sum += 0.5 * (double)v3_length(face);
  }
  return sum;
}

// A cut corner is a prism: a dark post in the picture of a tank. A cut waterline is a row of dashes.
static void water_has_sharp_edges_at_walls(void **state) {
  (void)state;
  FloWater water = make_pool(2);
  const FloSolids *s = &water.surface;
  const V3 left = v3(-1, 0, 0), front = v3(0, -1, 0), top = v3(0, 0, 1), foot = v3(0, 0, -1);
  // Along the corner, at the foot, and along the waterline.
  assert_close(cut_area(s, v3(-1, -1, 0.1f), v3(0.1f, 0.1f, 0.4f), left, front, 0.999f), 0, 1e-6);
  assert_close(cut_area(s, v3(0.1f, -1, -1), v3(0.35f, 0.1f, 0.1f), foot, front, 0.999f), 0, 1e-6);
  assert_close(cut_area(s, v3(0.1f, -1, 0.4f), v3(0.35f, 0.1f, 1), top, front, 0.8f), 0, 1e-6);
  double lowest = 1, highest = 0;
  for (size_t k = 0; k < s->n_vertices; k++) {
    V3 v = s->vertices[k], n = s->normals[k];
    if (!(v.y < 1e-5f && n.z > 0.5f && v.x > 0.1f && v.x < 0.35f)) continue;
    lowest = fmin(lowest, (double)v.z), highest = fmax(highest, (double)v.z);
  }
  assert_true(highest - lowest < 0.04 * 0.05); // of a spacing; a cut is up to half of one
  assert_close(lowest, 0.5, 0.3 * 0.05);
  flo_water_destroy(&water);
}

// Rays tell the inside of water by the sides of its triangles: volumes and the faces at walls show them.
static void no_triangle_is_turned_over(void **state) {
  (void)state;
  FloWater water = make_pool(1);
  const FloSolids *s = &water.surface;
  double volume = 0, front = 0;
  for (size_t k = 0; k < s->n_triangles; k++) {
    const V3 face = face_of(s, k), a = s->vertices[s->triangles[k][0]];
    volume += (double)v3_dot(face, a) / 6;
    for (int j = 0; j < 3; j++) assert_true(v3_dot(face, s->normals[s->triangles[k][j]]) >= 0);
    if (is_triangle_in(s, k, v3(-1, -1, -1), v3(2, 1e-5f, 2))) front += 0.5 * (double)v3_length(face);
  }
  assert_close(volume, 0.125, 0.006);
  assert_close(front, 0.25, 0.02); // of the pane, once: what overlaps would count twice
  flo_water_destroy(&water);
}

static void waterlines_do_not_depend_on_threads(void **state) {
  (void)state;
  FloWater one = make_pool(1), three = make_pool(3);
  assert_int_equal(one.surface.n_vertices, three.surface.n_vertices);
  assert_int_equal(one.surface.n_triangles, three.surface.n_triangles);
  assert_memory_equal(one.surface.vertices, three.surface.vertices, one.surface.n_vertices * sizeof(V3));
  assert_memory_equal(one.surface.normals, three.surface.normals, one.surface.n_vertices * sizeof(V3));
  flo_water_destroy(&one);
  flo_water_destroy(&three);
}

// ---- One triangle ----

// A triangle beside a solid, in spacings of 1.
typedef struct Single {
  FloMemory memory;
  FloWalls walls;
  FloSurfaceMesh surface;
} Single;

static void make_single(Single *s, const FloShape *shape, const double *points, const float *normals) {
  const FloPose pose = flo_pose_identity();
  uint32_t index;
  flo_memory_init(&s->memory, NULL);
  assert_ok(flo_walls_init(&s->walls, 1, 1, &s->memory, &failure), &failure);
  assert_ok(flo_walls_set_shape(&s->walls, 0, shape, 1, &failure), &failure);
  flo_walls_set_pose(&s->walls, 0, &pose);
  s->surface = (FloSurfaceMesh){0};
  flo_mesh_init(&s->surface.mesh, &s->memory);
  assert_ok(flo_buffer_reserve(&s->memory, &s->surface.normals, sizeof(float[3][3]), 0, &failure), &failure);
  for (size_t k = 0; k < 3; k++) {
    assert_ok(flo_mesh_add_vertex(&s->surface.mesh, points + 3 * k, &index, &failure), &failure);
    memcpy(flo_surface_normal(&s->surface, k), normals + 3 * k, sizeof(float[3]));
  }
  assert_ok(flo_mesh_add_triangle(&s->surface.mesh, 0, 1, 2, &failure), &failure);
}

static void free_single(Single *s) {
  flo_surface_free(&s->surface);
  flo_walls_free(&s->walls);
  assert_int_equal(s->memory.bytes, 0);
}

// Around a ball the first corner lies at the same wall as the second, the second as the third, but the first
// and the third are too far apart for that: still the whole triangle lies at the ball.
static void triangles_at_round_walls_have_its_normals(void **state) {
  (void)state;
  enum { radius = 10 };
  const FloShape ball = {.kind = FLO_SHAPE_SPHERE, .radius = radius};
  const double turn = FLO_PI / 6, rise = FLO_PI / 18;
  const double ways[3][3] = {
      {cos(turn), -sin(turn), 0}, {cos(rise), 0, sin(rise)}, {cos(turn), sin(turn), 0}};
  for (size_t first = 0; first < 3; first++) {
    double points[3][3];
    float normals[3][3];
    Single single;
    FloWaterline laid;
    for (size_t k = 0; k < 3; k++) {
      const double *way = ways[(first + k) % 3];
      for (int axis = 0; axis < 3; axis++) points[k][axis] = radius * way[axis];
      // Turned away from the wall's by a third of a radian: nobody could take the one for the other.
      const double tilt = atan2(way[1], way[0]) + 0.33, flat = hypot(way[0], way[1]);
      normals[k][0] = (float)(-flat * cos(tilt)), normals[k][1] = (float)(-flat * sin(tilt));
      normals[k][2] = (float)-way[2];
    }
    make_single(&single, &ball, points[0], normals[0]);
    assert_ok(flo_waterline_create(&single.surface, &single.walls, 0, 1, &laid, &failure), &failure);
    assert_int_equal(laid.n_vertices, 3);
    for (size_t k = 0; k < 3; k++) {
      const double *way = ways[(first + laid.origins[k]) % 3];
      assert_close(laid.normals[k].x, -way[0], 1e-5);
      assert_close(laid.normals[k].y, -way[1], 1e-5);
      assert_close(laid.normals[k].z, -way[2], 1e-5);
    }
    flo_waterline_destroy(&laid);
    free_single(&single);
  }
}

// Two corners lie at the top of a box, the third does not: where they are moved on to it, the triangle gets
// normals of its own, but not where they were there already, but for some rounding.
static void only_what_moves_has_new_normals(void **state) {
  (void)state;
  const FloShape box = {.kind = FLO_SHAPE_BOX, .size = {20, 20, 20}};
  const float normals[3][3] = {{0, 0, -1}, {0, 0, -1}, {0.6f, 0, 0.8f}};
  const struct {
    double height;
    bool is_moved;
  } cases[] = {{0, false}, {1e-5, false}, {-1e-5, false}, {0.2, true}};
  for (size_t c = 0; c < FLO_COUNT_OF(cases); c++) {
    const double h = 10 + cases[c].height, points[3][3] = {{0, 0, h}, {1, 0, h}, {0, 2, 13}};
    Single single;
    FloWaterline laid;
    make_single(&single, &box, points[0], normals[0]);
    assert_ok(flo_waterline_create(&single.surface, &single.walls, 0, 1, &laid, &failure), &failure);
    assert_int_equal(laid.n_vertices, 3);
    for (size_t k = 0; k < 3; k++) {
      // The triangle's own: (1, 0, 0) x (0, 2, 3).
      const double own[3] = {0, -3 / sqrt(13), 2 / sqrt(13)};
      const float *given = normals[laid.origins[k]];
      assert_close(laid.normals[k].x, cases[c].is_moved ? own[0] : (double)given[0], 1e-5);
      assert_close(laid.normals[k].y, cases[c].is_moved ? own[1] : (double)given[1], 1e-5);
      assert_close(laid.normals[k].z, cases[c].is_moved ? own[2] : (double)given[2], 1e-5);
      assert_close(laid.vertices[k].z, laid.origins[k] == 2 ? 13 : 10, 1e-5);
    }
    flo_waterline_destroy(&laid);
    free_single(&single);
  }
}

static void waterlines_keep_to_their_memory(void **state) {
  (void)state;
  const FloShape box = {.kind = FLO_SHAPE_BOX, .size = {20, 20, 20}};
  const double points[3][3] = {{0, 0, 10}, {1, 0, 10}, {0, 2, 13}};
  const float normals[3][3] = {{0, 0, -1}, {0, 0, -1}, {0, 0, 1}};
  Single single;
  FloWaterline laid;
  make_single(&single, &box, points[0], normals[0]);
  // The mesh itself fits, but nothing is made of it.
  const size_t held = single.memory.bytes;
  assert_fails(flo_waterline_create(&single.surface, &single.walls, held, 1, &laid, &failure), FLO_NO_MEMORY,
               &failure, "a surface of 1 triangles needs at least ");
  assert_null(laid.vertices);
  flo_waterline_destroy(&laid);
  assert_ok(flo_waterline_create(&single.surface, &single.walls, held + 1000, 1, &laid, &failure), &failure);
  flo_waterline_destroy(&laid);
  free_single(&single);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(water_has_sharp_edges_at_walls),
      cmocka_unit_test(no_triangle_is_turned_over),
      cmocka_unit_test(waterlines_do_not_depend_on_threads),
      cmocka_unit_test(triangles_at_round_walls_have_its_normals),
      cmocka_unit_test(only_what_moves_has_new_normals),
      cmocka_unit_test(waterlines_keep_to_their_memory),
  };
  return cmocka_run_group_tests_name("render_waterline", tests, NULL, NULL);
}
