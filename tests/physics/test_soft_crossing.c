// Soft bodies touch each other and themselves and never cross: sheets thrown at each other, folded strands
// and sheets, sheets that stick on sheets, blocks on blocks; momentum is kept and threads change nothing.
#include "bodies/soft_body.h"
#include "support/worlds.h"
#include "world/world.h"

#include <string.h>

static void advance(FloWorld *world, double time) {
  FloError error;
  assert_ok(flo_world_advance(world, time, NULL, &error), &error);
}

static FloWorld *make_world(int dim, const char *method, double s, double step, double pull, int threads) {
  FloWorldDef def = small_world_def(dim);
  def.method = method, def.spacing = s, def.threads = threads;
  if (step > 0) def.time_step = step;
  vec_set(def.gravity, 0, 0, 0);
  def.gravity[dim - 1] = -pull;
  return create_world(&def);
}

static FloPose pose_above(int dim, double x, double height) {
  return pose_at(x, dim == 2 ? height : 0, dim == 3 ? height : 0);
}

static FloBodyDef cloth_def(const char *name, double wide, double thickness, double friction) {
  FloBodyDef def = flo_default_body_def();
  def.kind = FLO_BODY_CLOTH, def.name = name, def.friction = friction;
  def.shape.kind = FLO_SHAPE_SHEET, def.shape.size[0] = def.shape.size[1] = wide;
  def.cloth = (FloClothDef){
      .areal_density = 0.5, .thickness = thickness, .stretch = 1000, .bend = 1e-4, .damping = 0.01};
  return def;
}

static void add_floor(FloWorld *world, int dim, double wide, double friction) {
  FloBodyDef def = flo_default_body_def();
  def.name = "floor", def.friction = friction, def.averages_force = true;
  def.shape = dim == 2 ? box_shape(wide, 0.1, 0) : box_shape(wide, wide, 0.1);
  def.pose = pose_above(dim, 0, -0.05);
  add_body(world, &def);
}

// ---- Crossings, found by signs of volumes: nothing of this is used by the search for contacts ----

static double volume(const double *a, const double *b, const double *c, const double *d) {
  double ab[3], ac[3], ad[3], cross[3];
  vec_sub(b, a, ab), vec_sub(c, a, ac), vec_sub(d, a, ad);
  vec_cross(ab, ac, cross);
  return vec_dot(cross, ad);
}

static bool edge_crosses_triangle(const double *p, const double *q, const double *a, const double *b,
                                  const double *c) {
  const double above = volume(a, b, c, p), below = volume(a, b, c, q);
  if (!(above * below < 0)) return false;
  const double u = volume(p, q, a, b), v = volume(p, q, b, c), w = volume(p, q, c, a);
  return (u > 0 && v > 0 && w > 0) || (u < 0 && v < 0 && w < 0);
}

static double area(const double *a, const double *b, const double *c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static bool segments_cross(const double *p, const double *q, const double *a, const double *b) {
  return area(p, q, a) * area(p, q, b) < 0 && area(a, b, p) * area(a, b, q) < 0;
}

static bool share(const uint32_t *a, int n_a, const uint32_t *b, int n_b) {
  for (int i = 0; i < n_a; ++i)
    for (int k = 0; k < n_b; ++k)
      if (a[i] == b[k]) return true;
  return false;
}

static size_t count_crossings_of(const FloBody *one, const FloBody *two, int dim) {
  const double *x = flo_soft_body(one)->x, *y = flo_soft_body(two)->x;
  const FloMesh *first = flo_soft_body_faces(one), *second = flo_soft_body_faces(two);
  size_t n = 0;
  for (size_t i = 0; i < first->n_triangles; ++i)
    for (size_t k = 0; k < second->n_triangles; ++k)
      for (int side = 0; side < (dim == 2 ? 1 : 3); ++side) {
        const uint32_t *own = flo_mesh_triangle(first, i), *t = flo_mesh_triangle(second, k),
                       edge[2] = {own[side], own[(side + 1) % 3]};
        if (one == two && share(edge, 2, t, dim)) continue;
        n += dim == 2 ? segments_cross(x + 3 * edge[0], x + 3 * edge[1], y + 3 * t[0], y + 3 * t[1])
                      : edge_crosses_triangle(x + 3 * edge[0], x + 3 * edge[1], y + 3 * t[0], y + 3 * t[1],
                                              y + 3 * t[2]);
      }
  return n;
}

static size_t count_crossings(const FloWorld *world) {
  size_t n = 0;
  for (size_t i = 0; i < world->bodies.count; ++i)
    for (size_t k = 0; k < world->bodies.count; ++k) {
      const FloBody *one = &flo_bodies(world)[i], *two = &flo_bodies(world)[k];
      if (flo_body_is_soft(one) && flo_body_is_soft(two)) n += count_crossings_of(one, two, world->def.dim);
    }
  return n;
}

// The largest mean speed of a node of any soft body over the next tenth of a second.
static double fastest_node(FloWorld *world) {
  const size_t n = world->nodes.count;
  double *before = malloc(3 * n * sizeof *before), fastest = 0, way[3];
  for (size_t k = 0; k < n; ++k) vec_copy(flo_node_at(world, k)->position, before + 3 * k);
  advance(world, flo_world_time(world) + 0.1);
  for (size_t k = 0; k < n; ++k) {
    vec_sub(flo_node_at(world, k)->position, before + 3 * k, way);
    fastest = fmax(fastest, vec_length(way) / 0.1);
  }
  free(before);
  return fastest;
}

// ---- Thrown at each other ----

typedef struct Throw {
  int dim;
  const char *method;
  double s, thickness, step, angle; // angle between the two [rad]
  int threads;
} Throw;

// Two sheets that fly at each other with 5 m/s, turned by an angle: about their normal in 3D, so that they
// are crossed, and tilted in 2D.
static FloWorld *make_throw(const Throw *t) {
  FloWorld *world = make_world(t->dim, t->method, t->s, t->step, 0, t->threads);
  for (int k = 0; k < 2; ++k) {
    FloBodyDef def = cloth_def(k == 0 ? "lower" : "upper", 16 * t->s, t->thickness, 0.3);
    const double away = t->dim == 2 ? 2 * t->s + 8 * t->s * sin(t->angle) : 2 * t->s;
    def.pose = pose_above(t->dim, k * 0.3 * t->s, (k == 0 ? -1 : 1) * away);
    if (t->dim == 3) def.shape.size[1] = 6 * t->s;
    def.pose.rotation[3] = cos(k * t->angle / 2), def.pose.rotation[2] = sin(k * t->angle / 2);
    def.velocity[t->dim - 1] = k == 0 ? 2.5 : -2.5;
    add_body(world, &def);
  }
  return world;
}

static void stays_apart(const Throw *t) {
  FloWorld *world = make_throw(t);
  const FloMeasurements start = flo_world_measure(world);
  const double size = 2.5 * flo_soft_body(flo_bodies(world))->mass;
  double worst = 0, most_contacts = 0, off[3];
  size_t n_crossings = 0, n_stopped = 0, n_zones = 0, n_steps = 0;
  FloError error;
  while (flo_world_time(world) < 0.08) {
    assert_ok(flo_world_step(world, NULL, &error), &error);
    n_crossings += count_crossings(world);
    n_stopped += world->meetings.n_stopped, n_zones += world->meetings.n_zones, ++n_steps;
    most_contacts = fmax(most_contacts, (double)world->contacts);
    const FloMeasurements now = flo_world_measure(world);
    vec_sub(now.momentum, start.momentum, off);
    worst = fmax(worst, vec_length(off) / size);
  }
  const FloMeasurements end = flo_world_measure(world);
  print_message(
      "%dD %s, spacing %g, %g mm, steps of %g ms, angle %.2f: %zu crossings, %zu stopped, %zu zones in "
      "%zu steps, up to %g contacts, momentum off by %.1e, energy %.4f of %.4f J\n",
      t->dim, t->method, t->s, 1000 * t->thickness, 1000 * t->step, t->angle, n_crossings, n_stopped, n_zones,
      n_steps, most_contacts, worst, end.kinetic_energy, start.kinetic_energy);
  assert_int_equal(n_crossings, 0);
  assert_true(most_contacts > 0 || n_stopped > 0);
  assert_true(worst < 1e-6);
  assert_true(end.kinetic_energy < start.kinetic_energy);
  flo_world_destroy(world);
}

static void test_thrown_sheets(void **state) {
  (void)state;
  static const double steps[] = {0.001, 0.002, 0.005};
  static const double angles[] = {0, 0.4, 1.2};
  for (size_t k = 0; k < 3; ++k)
    for (size_t n = 0; n < 3; ++n) {
      stays_apart(&(Throw){2, "monolithic", 0.02, 0.002, steps[k], angles[n], 1});
      stays_apart(&(Throw){2, "monolithic", 0.01, 0.004, steps[k], angles[n], 1});
    }
  for (size_t k = 0; k < 3; ++k) {
    stays_apart(&(Throw){3, "monolithic", 0.02, 0.002, steps[k], 1.5708, 1});
    stays_apart(&(Throw){3, "elastic", 0.02, 0.002, steps[k], 1.5708, 1});
  }
  stays_apart(&(Throw){3, "monolithic", 0.01, 0.001, 0.002, 0.7, 1});
}

// ---- Folded on itself ----

// A strand or a strip stands on its end and falls between two walls, so that it folds on itself again and
// again.
static FloWorld *make_fold(int dim, double s, double thickness, double high, double wide) {
  FloWorld *world = make_world(dim, "monolithic", s, 0, 9.81, 1);
  FloBodyDef cloth = cloth_def("cloth", high, thickness, 0.3), wall = flo_default_body_def();
  add_floor(world, dim, 3 * wide, 0.3);
  wall.shape = dim == 2 ? box_shape(4 * s, 4 * wide, 0) : box_shape(4 * s, 2 * wide, 4 * wide);
  for (int k = 0; k < 2; ++k) {
    wall.name = k == 0 ? "left" : "right", wall.friction = 0.3;
    wall.pose = pose_above(dim, (k == 0 ? -1 : 1) * (wide / 2 + 2 * s), 2 * wide);
    add_body(world, &wall);
  }
  cloth.shape.size[1] = 6 * s, cloth.cloth.areal_density = 1, cloth.cloth.bend = 1e-5;
  cloth.pose = pose_above(dim, 0.1 * s, high / 2 + s);
  const int axis = dim == 2 ? 2 : 1;
  const double angle = dim == 2 ? 1.55 : -1.55;
  cloth.pose.rotation[3] = cos(angle / 2), cloth.pose.rotation[axis] = sin(angle / 2);
  add_body(world, &cloth);
  return world;
}

static void fold_settles(int dim, double s, double thickness, double high, double wide, double time) {
  FloWorld *world = make_fold(dim, s, thickness, high, wide);
  size_t n_crossings = 0, n_stopped = 0, n_zones = 0, n_steps = 0;
  double iterations = 0, most_contacts = 0;
  FloError error;
  while (flo_world_time(world) < time) {
    FloStepInfo info;
    assert_ok(flo_world_step(world, &info, &error), &error);
    if (n_steps % 8 == 0) n_crossings += count_crossings(world);
    n_stopped += world->meetings.n_stopped, n_zones += world->meetings.n_zones, ++n_steps;
    iterations += info.iterations, most_contacts = fmax(most_contacts, (double)world->contacts);
  }
  const double fastest = fastest_node(world);
  n_crossings += count_crossings(world);
  const double weight = 9.81 * flo_soft_body(&flo_bodies(world)[3])->mass;
  print_message("%dD, spacing %g, %g mm, %g spacings long, %g wide: %zu crossings, %zu stopped, %zu zones in "
                "%zu steps of "
                "%.0f iterations, up to %g contacts, %.2g m/s in the end, weight %g\n",
                dim, s, 1000 * thickness, high / s, wide / s, n_crossings, n_stopped, n_zones, n_steps,
                iterations / (double)n_steps, most_contacts, fastest, weight);
  assert_int_equal(n_crossings, 0);
  assert_true(fastest < 5e-3);
  flo_world_destroy(world);
}

static void test_folds_settle(void **state) {
  (void)state;
  fold_settles(2, 0.02, 0.002, 40 * 0.02, 12 * 0.02, 2);
  fold_settles(2, 0.01, 0.002, 160 * 0.01, 12 * 0.01, 2);
  fold_settles(3, 0.02, 0.004, 30 * 0.02, 12 * 0.02, 1);
}

// ---- Friction between sheets ----

static void sticks_on_sheet(int dim, double s, double slope, double mu, double time) {
  FloWorldDef world_def = small_world_def(dim);
  const double angle = atan(slope);
  world_def.method = "monolithic", world_def.spacing = s, world_def.threads = 1;
  vec_set(world_def.gravity, 9.81 * sin(angle), 0, 0);
  world_def.gravity[dim - 1] = -9.81 * cos(angle);
  FloWorld *world = create_world(&world_def);
  FloBodyDef lower = cloth_def("lower", 16 * s, 0.002, mu), upper = cloth_def("upper", 10.6 * s, 0.002, mu);
  add_floor(world, dim, 3, mu);
  lower.pose = pose_above(dim, 0, 0.001), upper.pose = pose_above(dim, 0.3 * s, 0.003);
  add_body(world, &lower), add_body(world, &upper);
  advance(world, time);
  const double fastest = fastest_node(world);
  print_message("%dD, spacing %g, tan %g, mu %g: creeps at %.2g m/s, %zu contacts\n", dim, s, slope, mu,
                fastest, world->contacts);
  assert_int_equal(count_crossings(world), 0);
  assert_true(fastest < 1e-4);
  flo_world_destroy(world);
}

static void test_sheet_sticks_on_sheet(void **state) {
  (void)state;
  sticks_on_sheet(2, 0.02, 0.4, 0.5, 0.5);
  sticks_on_sheet(2, 0.01, 0.25, 0.3, 0.5);
  sticks_on_sheet(3, 0.02, 0.4, 0.5, 0.5);
}

// ---- Blocks ----

static void blocks_are_carried(int dim, double s, double young, double density) {
  FloWorld *world = make_world(dim, "monolithic", s, 0, 9.81, 1);
  const double a = 8 * s;
  double weight = 0;
  add_floor(world, dim, 4 * a, 0.5);
  for (int k = 0; k < 2; ++k) {
    FloBodyDef def = flo_default_body_def();
    def.kind = FLO_BODY_ELASTIC, def.name = k == 0 ? "lower" : "upper", def.density = density;
    def.friction = 0.5;
    def.elastic = (FloElasticDef){.young = young, .poisson = 0.3, .damping = 0.01};
    const double wide = k == 0 ? a : 0.7 * a;
    def.shape = dim == 2 ? box_shape(wide, a, 0) : box_shape(wide, wide, a);
    def.pose = pose_above(dim, k * 0.4 * s, k == 0 ? a / 2 + 0.2 * s : 1.5 * a + 0.5 * s);
    add_body(world, &def);
    weight += 9.81 * density * pow(wide, dim - 1) * a;
  }
  advance(world, 1);
  flo_world_restart_averages(world);
  const double fastest = fastest_node(world);
  FloBodyState floor;
  FloError error;
  assert_ok(flo_world_body_state(world, (FloBodyId){0, 1}, &floor, &error), &error);
  print_message(
      "%dD, spacing %g, blocks of %g Pa, %g kg/m3: floor carries %.5f of them, %.2g m/s, %zu contacts\n", dim,
      s, young, density, -floor.mean_force[dim - 1] / weight, fastest, world->contacts);
  assert_close(-floor.mean_force[dim - 1] / weight, 1, 0.01);
  assert_true(fastest < 1e-3);
  assert_int_equal(count_crossings(world), 0);
  flo_world_destroy(world);
}

static void test_stacked_blocks(void **state) {
  (void)state;
  blocks_are_carried(2, 0.02, 1e5, 500);
  blocks_are_carried(2, 0.01, 1e6, 2000);
  blocks_are_carried(3, 0.02, 1e5, 500);
}

// ---- The same bits ----

static uint64_t hash_of(int dim, int threads) {
  FloWorld *world = make_throw(&(Throw){dim, "monolithic", 0.02, 0.002, 0.002, 0.4, threads});
  advance(world, 0.06);
  const uint64_t hash = flo_world_hash(world);
  flo_world_destroy(world);
  return hash;
}

static void test_same_bits(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    const uint64_t one = hash_of(dim, 1);
    assert_true(hash_of(dim, 2) == one);
    assert_true(hash_of(dim, 3) == one);
  }
}

int main(int argc, char **argv) {
  if (argc > 1) cmocka_set_test_filter(argv[1]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_thrown_sheets),
      cmocka_unit_test(test_folds_settle),
      cmocka_unit_test(test_sheet_sticks_on_sheet),
      cmocka_unit_test(test_stacked_blocks),
      cmocka_unit_test(test_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
