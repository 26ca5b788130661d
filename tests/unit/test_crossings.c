// Meetings of soft bodies against brute force, and ways that are changed until nothing crosses: momentum and
// angular momentum are kept, and the thickness of a fine mesh does not repel it.
#include "state/crossings.h"
#include "support/random.h"
#include "support/soft_crossings.h"
#include "support/worlds.h"
#include "world/world.h"

#include <string.h>

static FloBodyDef cloth_def(double wide, double thickness) {
  FloBodyDef def = flo_default_body_def();
  def.kind = FLO_BODY_CLOTH, def.name = "cloth";
  def.shape.kind = FLO_SHAPE_SHEET, def.shape.size[0] = def.shape.size[1] = wide;
  def.cloth = (FloClothDef){.areal_density = 0.5, .thickness = thickness, .stretch = 1000, .bend = 1e-4};
  return def;
}

// Some sheets above each other, and in the end a block; spacing 1 cm.
static FloWorld *make_layers(int dim, int n, int threads) {
  FloWorldDef def = small_world_def(dim);
  FloError error;
  def.method = "monolithic", def.spacing = 0.01, def.threads = threads;
  FloWorld *world = create_world(&def);
  for (int k = 0; k < n; ++k) {
    FloBodyDef cloth = cloth_def(0.12, 0.002);
    char name[8] = "sheet A";
    name[6] = (char)('A' + k);
    cloth.name = name;
    cloth.pose = pose_at(0.003 * k, dim == 2 ? 0.02 * k : 0.002 * k, dim == 3 ? 0.02 * k : 0);
    add_body(world, &cloth);
  }
  FloBodyDef block = flo_default_body_def();
  block.kind = FLO_BODY_ELASTIC, block.name = "block", block.density = 100;
  block.elastic = (FloElasticDef){.young = 1e4, .poisson = 0.3};
  block.shape = dim == 2 ? box_shape(0.08, 0.08, 0) : box_shape(0.08, 0.08, 0.08);
  block.pose = pose_at(0, dim == 2 ? 0.02 * n + 0.04 : 0, dim == 3 ? 0.02 * n + 0.04 : 0);
  add_body(world, &block);
  assert_ok(flo_world_prepare_meetings(world, &error), &error);
  return world;
}

// Random ways, as long as `far` at most along each axis; also a common way of each body towards the middle.
static void choose_ways(FloWorld *world, Random *random, double far, double rough) {
  double *from = world->meetings.from.data, *to = world->meetings.to.data;
  const int dim = world->def.dim;
  for (size_t k = 0; k < world->nodes.count; ++k) {
    const FloNode *node = flo_node_at(world, k);
    vec_copy(node->position, from + 3 * k);
    vec_copy(node->position, to + 3 * k);
    for (int axis = 0; axis < dim; ++axis) {
      from[3 * k + (size_t)axis] += random_between(random, -rough, rough);
      to[3 * k + (size_t)axis] = from[3 * k + (size_t)axis] + random_between(random, -far, far);
    }
    to[3 * k + (size_t)(dim - 1)] -= node->position[dim - 1] * far / 0.02;
  }
}

// ---- Finding ----

typedef struct Feature {
  FloMovingBox box;
  uint32_t body, nodes[3];
  int n;
} Feature;

static Feature make_feature(const FloWorld *world, uint32_t body, const uint32_t *nodes, int n) {
  Feature f = {.box = flo_empty_box, .body = body, .n = n};
  for (int k = 0; k < n; ++k) {
    const size_t at = 3 * (flo_bodies(world)[body].first_node + nodes[k]);
    f.nodes[k] = nodes[k];
    flo_box_add(&f.box, (const double *)world->meetings.from.data + at);
    flo_box_add(&f.box, (const double *)world->meetings.to.data + at);
  }
  return f;
}

static bool do_meet(const Feature *a, const Feature *b, double reach) {
  FloMovingBox box = a->box;
  flo_box_grow(&box, reach);
  for (int i = 0; a->body == b->body && i < a->n; ++i)
    for (int k = 0; k < b->n; ++k)
      if (a->nodes[i] == b->nodes[k]) return false;
  return flo_boxes_meet(&box, &b->box);
}

static bool is_listed(const FloWorld *world, const Feature *a, const Feature *b) {
  const FloList *found = &world->meetings.found;
  size_t n = 0;
  for (size_t k = 0; k < found->count; ++k) {
    const FloMeeting *m = &FLO_LIST(*found, FloMeeting)[k];
    n += m->body == a->body && m->other == b->body && m->n_own == a->n && m->n_other == b->n &&
         memcmp(m->nodes, a->nodes, sizeof(uint32_t) * (size_t)a->n) == 0 &&
         memcmp(m->nodes + a->n, b->nodes, sizeof(uint32_t) * (size_t)b->n) == 0;
  }
  assert_true(n <= 1);
  return n == 1;
}

static const FloSoftFeatures *features(const FloWorld *world, size_t k) {
  return &FLO_LIST(world->meetings.features, FloSoftFeatures)[k];
}

static size_t check_vertices(const FloWorld *world, size_t a, size_t b, double reach) {
  const FloSoftFeatures *own = features(world, a), *other = features(world, b);
  const int n = world->def.dim;
  const size_t n_faces = n == 2 ? other->topology.n_edges : other->topology.n_triangles;
  size_t count = 0;
  for (uint32_t v = 0; v < own->topology.n_vertices; ++v)
    for (size_t f = 0; f < n_faces && ((const bool *)own->is_used.data)[v]; ++f) {
      const uint32_t *nodes =
          n == 2 ? flo_topology_ends(&other->topology, f) : flo_topology_corners(&other->topology, f);
      const Feature vertex = make_feature(world, own->body, &v, 1),
                    face = make_feature(world, other->body, nodes, n);
      const bool is_expected = do_meet(&vertex, &face, reach);
      count += is_expected;
      if (is_expected) assert_true(is_listed(world, &vertex, &face));
    }
  return count;
}

static size_t check_edges(const FloWorld *world, size_t a, size_t b, double reach) {
  const FloSoftFeatures *own = features(world, a), *other = features(world, b);
  size_t count = 0;
  for (size_t i = 0; i < own->topology.n_edges; ++i)
    for (size_t k = a == b ? i + 1 : 0; k < other->topology.n_edges; ++k) {
      const Feature one = make_feature(world, own->body, flo_topology_ends(&own->topology, i), 2),
                    two = make_feature(world, other->body, flo_topology_ends(&other->topology, k), 2);
      const bool is_expected = do_meet(&one, &two, reach);
      count += is_expected;
      if (is_expected) assert_true(is_listed(world, &one, &two));
    }
  return count;
}

static void test_meetings_are_all_found(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    FloWorld *world = make_layers(dim, 2, 1);
    Random random = {(uint64_t)dim};
    FloError error;
    size_t count = 0;
    choose_ways(world, &random, 0.01, 0.002);
    assert_ok(flo_world_find_meetings(world, 0.003, &error), &error);
    for (size_t a = 0; a < 3; ++a)
      for (size_t b = 0; b < 3; ++b) {
        count += check_vertices(world, a, b, 0.003);
        if (dim == 3 && a <= b) count += check_edges(world, a, b, 0.003);
      }
    print_message("%dD: %zu meetings\n", dim, count);
    assert_true(count > 20);
    assert_int_equal(count, world->meetings.found.count);
    flo_world_destroy(world);
  }
}

static void test_order_does_not_depend_on_threads(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    FloMeeting *first = NULL;
    size_t count = 0;
    for (int threads = 1; threads <= 3; ++threads) {
      FloWorld *world = make_layers(dim, 3, threads);
      Random random = {1};
      FloError error;
      choose_ways(world, &random, 0.01, 0.003);
      assert_ok(flo_world_find_meetings(world, 0.003, &error), &error);
      const FloList *found = &world->meetings.found;
      if (threads == 1) {
        count = found->count, first = malloc(count * sizeof *first);
        memcpy(first, found->buffer.data, count * sizeof *first);
      }
      assert_int_equal(found->count, count);
      assert_memory_equal(found->buffer.data, first, count * sizeof *first);
      flo_world_destroy(world);
    }
    free(first);
  }
}

// ---- Stopping ----

typedef struct Momentum {
  double linear[3], angular[3];
} Momentum;

// Of the present ways, per step.
static Momentum momentum_of(const FloWorld *world) {
  const double *from = world->meetings.from.data, *to = world->meetings.to.data;
  Momentum sum = {0};
  for (size_t k = 0; k < world->nodes.count; ++k) {
    double way[3], turn[3];
    vec_sub(to + 3 * k, from + 3 * k, way);
    vec_cross(from + 3 * k, way, turn);
    vec_add_scaled(sum.linear, way, flo_node_at(world, k)->mass, sum.linear);
    vec_add_scaled(sum.angular, turn, flo_node_at(world, k)->mass, sum.angular);
  }
  return sum;
}

static size_t count_listed(FloWorld *world) {
  FloError error;
  assert_ok(flo_world_find_crossings(world, NULL, &error), &error);
  return world->meetings.hits.count;
}

// Crossings at some moments of the present ways.
static size_t count_on_ways(const FloWorld *world) {
  enum { MOMENTS = 5 };
  const size_t n = 3 * world->nodes.count;
  const double *from = world->meetings.from.data, *to = world->meetings.to.data;
  double *x = malloc(n * sizeof *x);
  size_t count = 0;
  for (int m = 0; m <= MOMENTS; ++m) {
    for (size_t i = 0; i < n; ++i) x[i] = from[i] + (to[i] - from[i]) * m / MOMENTS;
    count += count_crossings_at(world, x);
  }
  free(x);
  return count;
}

// Zones alone, without pushes before: one joined zone after the other, until nothing crosses.
static void test_zones_end_without_crossings(void **state) {
  (void)state;
  static const double fars[] = {0.02, 0.05, 0.2};
  for (int dim = 2; dim <= 3; ++dim)
    for (size_t n = 0; n < 3; ++n) {
      FloWorld *world = make_layers(dim, 4, 1);
      Random random = {n};
      FloError error;
      choose_ways(world, &random, fars[n], 0.001);
      const size_t before = count_listed(world), n_true = count_on_ways(world);
      const Momentum start = momentum_of(world);
      assert_ok(flo_world_move_zones(world, &error), &error);
      const Momentum end = momentum_of(world);
      double off[3], twist[3];
      vec_sub(end.linear, start.linear, off), vec_sub(end.angular, start.angular, twist);
      print_message("%dD, ways of %g m: %zu crossings, %zu zones; momentum off by %.1e and %.1e\n", dim,
                    fars[n], before, world->meetings.n_zones, vec_length(off), vec_length(twist));
      assert_true(before > 0 && n_true > 0 && world->meetings.n_zones > 0);
      assert_int_equal(count_on_ways(world), 0);
      assert_true(vec_length(off) < 1e-15 && vec_length(twist) < 1e-15);
      flo_world_destroy(world);
    }
}

// Gives nodes the places and speeds of the chosen ways.
static void start_ways(FloWorld *world, double dt) {
  const double *from = world->meetings.from.data, *to = world->meetings.to.data;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    FloSoftBody *own = flo_soft_body(body);
    for (size_t i = 0; i < own->n_numbers; ++i) {
      own->x[i] = from[3 * body->first_node + i];
      own->v[i] = (to[3 * body->first_node + i] - own->x[i]) / dt;
    }
    flo_soft_body_refresh(body);
  }
}

static void total_momentum(const FloWorld *world, double sum[3]) {
  vec_set(sum, 0, 0, 0);
  for (size_t k = 0; k < world->nodes.count; ++k)
    vec_add_scaled(sum, flo_node_at(world, k)->velocity, flo_node_at(world, k)->mass, sum);
}

// Pushes on whole bodies and on nodes alone and, if need be, zones.
static void stops_all(int dim, double far, double rough, double dt) {
  FloWorld *world = make_layers(dim, 4, 1);
  Random random = {1};
  FloError error;
  double start[3], end[3];
  vec_set(world->def.gravity, 0, 0, 0);
  choose_ways(world, &random, far, rough);
  const size_t n_true = count_on_ways(world);
  start_ways(world, dt);
  total_momentum(world, start);
  flo_world_kick_bodies(world, NULL, dt);
  assert_ok(flo_world_advance_bodies(world, dt, &error), &error);
  total_momentum(world, end);
  vec_sub(end, start, end);
  print_message("%dD, ways of %g m: %zu crossings of %zu, %zu stopped, %zu zones; momentum off by %.1e\n",
                dim, far, count_on_ways(world), n_true, world->meetings.n_stopped, world->meetings.n_zones,
                vec_length(end));
  assert_true(n_true > 0 && world->meetings.n_stopped > 0);
  assert_int_equal(count_on_ways(world), 0);
  assert_true(vec_length(end) < 1e-13);
  flo_world_destroy(world);
}

static void test_steps_end_without_crossings(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    stops_all(dim, 0.02, 0, 0.005);
    stops_all(dim, 0.02, 0.001, 0.001);
    stops_all(dim, 0.05, 0.001, 0.01);
    stops_all(dim, 0.2, 0.001, 0.02);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_meetings_are_all_found),
      cmocka_unit_test(test_order_does_not_depend_on_threads),
      cmocka_unit_test(test_zones_end_without_crossings),
      cmocka_unit_test(test_steps_end_without_crossings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
