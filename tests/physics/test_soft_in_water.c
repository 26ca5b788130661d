// Cloth and elastic bodies in water: no particle passes a sheet, supports carry the weight, the shape is that
// of theory, momentum is conserved, and threads and saving change nothing.
#include "bodies/soft_body.h"
#include "support/worlds.h"
#include "world/world.h"

#include <string.h>

static void advance(FloWorld *world, double time) {
  FloError error;
  assert_ok(flo_world_advance(world, time, NULL, &error), &error);
}

// ---- A cloth that holds water between two edges: the lintearia ----

// Exact values for two edges half a length apart, part filled: the analytic solution by elliptic integrals.
#define WATER_AREA   0.094159 // over the square of the cloth's length
#define LOWEST_POINT 0.383699 // below the edges, over the length
#define TENSION      0.048182 // over rho g times the square of the length

typedef struct Bag {
  FloWorld *world;
  FloBody *cloth;
  double length, spacing, areal; // areal: mass of the sheet over that of a layer of fluid
  size_t n_particles;
} Bag;

// Lays the line on an arc whose ends are half its length apart, and pins the ends there.
static double bend_to_arc(Bag *bag) {
  FloSoftBody *own = flo_soft_body(bag->cloth);
  double low = 0.01, high = 3.1;
  for (int k = 0; k < 100; ++k) {
    double angle = (low + high) / 2;
    if (sin(angle) / angle > 0.5)
      low = angle;
    else
      high = angle;
  }
  const double radius = bag->length / (2 * low);
  for (size_t k = 0; k < own->n; ++k) {
    const double angle = 2 * low * own->x[3 * k] / bag->length;
    own->x[3 * k] = radius * sin(angle), own->x[3 * k + 1] = radius * (cos(low) - cos(angle));
  }
  for (size_t k = 0; k < own->n_pins; ++k) vec_copy(own->x + 3 * own->pins[k].vertex, own->pins[k].anchor);
  flo_soft_body_refresh(bag->cloth);
  flo_world_place_samples(bag->world, bag->cloth);
  return radius;
}

// Fills the arc from its bottom with particles at least one spacing from the line.
static void fill_bag(Bag *bag, double radius) {
  const double s = bag->spacing;
  const size_t n = (size_t)lround(WATER_AREA * bag->length * bag->length / (s * s));
  double *x = calloc(3 * n, sizeof *x), lowest = 0;
  FloError error;
  for (size_t k = 0; k < bag->cloth->n_nodes; ++k) lowest = fmin(lowest, bag->cloth->nodes[k].position[1]);
  for (double y = lowest + s; bag->n_particles < n; y += s)
    for (double at = -bag->length; at < bag->length && bag->n_particles < n; at += s) {
      if (hypot(at, y - lowest - radius) > radius - s) continue;
      double *p = x + 3 * bag->n_particles++;
      p[0] = at, p[1] = y;
    }
  assert_ok(flo_world_add_particles(bag->world, add_water(bag->world), n, x, NULL, &error), &error);
  free(x);
}

static Bag make_bag(const char *method, double s, double areal, double stretch) {
  FloWorldDef def = small_world_def(2);
  Bag bag = {.length = 0.8, .spacing = s, .areal = areal};
  FloBodyDef cloth = flo_default_body_def();
  const FloPinDef ends = {.place = FLO_PIN_CORNERS};
  FloError error;
  def.method = method, def.spacing = s, def.threads = 2;
  bag.world = create_world(&def);
  cloth.kind = FLO_BODY_CLOTH, cloth.name = "cloth", cloth.pins = &ends, cloth.n_pins = 1;
  cloth.shape.kind = FLO_SHAPE_SHEET, cloth.shape.size[0] = bag.length, cloth.shape.cell = s;
  cloth.cloth.areal_density = areal * 1000 * s, cloth.cloth.stretch = stretch;
  assert_ok(flo_world_add_body(bag.world, &cloth, NULL, &error), &error);
  bag.cloth = &flo_bodies(bag.world)[0];
  fill_bag(&bag, bend_to_arc(&bag));
  return bag;
}

static double weight_of(const Bag *bag) {
  const double s = bag->spacing;
  return 9.81 * 1000 * ((double)bag->n_particles * s * s + bag->areal * s * bag->length);
}

static double lowest_node(const Bag *bag) {
  double lowest = INFINITY;
  for (size_t k = 0; k < bag->cloth->n_nodes; ++k) lowest = fmin(lowest, bag->cloth->nodes[k].position[1]);
  return lowest;
}

static size_t count_leaks(const Bag *bag) {
  const FloParticles *p = &bag->world->sets[FLO_SET_FLUID];
  size_t n = 0;
  for (size_t i = 0; i < p->count; ++i) n += p->y[i] < lowest_node(bag) || fabs(p->x[i]) > bag->length / 2;
  return n;
}

typedef struct Carried {
  double lift, tension, lowest; // means over a second
} Carried;

static Carried measure_bag(Bag *bag, double until) {
  const FloSoftBody *own = flo_soft_body(bag->cloth);
  Carried mean = {0};
  double time = 0;
  FloStepInfo info;
  FloError error;
  while (flo_world_time(bag->world) < until) {
    assert_ok(flo_world_step_until(bag->world, until, &info, &error), &error);
    for (size_t k = 0; k < own->n_pins; ++k) {
      mean.lift += info.dt * own->pins[k].load[1];
      mean.tension += info.dt * vec_length(own->pins[k].load) / (double)own->n_pins;
    }
    mean.lowest += info.dt * lowest_node(bag), time += info.dt;
  }
  mean.lift /= time, mean.tension /= time, mean.lowest /= time;
  return mean;
}

static void holds_water(const char *method, double s, double areal, double stretch) {
  Bag bag = make_bag(method, s, areal, stretch);
  advance(bag.world, 3);
  const Carried mean = measure_bag(&bag, 4);
  const double unit = 1000 * 9.81 * bag.length * bag.length,
               // The weight of the sheet itself adds to the tension about as it adds to the load.
      own_weight = areal * s * bag.length / (WATER_AREA * bag.length * bag.length);
  print_message("%s, spacing %g, sheet %g: lift %.4f of the weight, lowest %.4f (%.4f), tension %.4f (%.4f), "
                "%zu leaks\n",
                method, s, areal, mean.lift / weight_of(&bag), -mean.lowest / bag.length, LOWEST_POINT,
                mean.tension / unit, TENSION * (1 + own_weight), count_leaks(&bag));
  assert_int_equal(count_leaks(&bag), 0);
  assert_close(mean.lift / weight_of(&bag), 1, 0.01);
  assert_close(-mean.lowest / bag.length / LOWEST_POINT, 1, 0.03);
  assert_close(mean.tension / unit / (TENSION * (1 + own_weight)), 1, 0.04);
  flo_world_destroy(bag.world);
}

static void test_cloth_holds_water(void **state) {
  (void)state;
  holds_water("monolithic", 0.02, 0.2, 1e5);
  holds_water("monolithic", 0.02, 1, 1e5);
  holds_water("monolithic", 0.0125, 0.2, 1e5);
  holds_water("monolithic", 0.0125, 1, 1e6);
}

// A soft cloth is stretched by the water to more than its length and gets more samples; nothing leaks.
static void test_stretched_cloth_keeps_water(void **state) {
  (void)state;
  static const double stretches[] = {1600, 800};
  for (size_t k = 0; k < FLO_COUNT_OF(stretches); ++k) {
    Bag bag = make_bag("monolithic", 0.02, 1, stretches[k]);
    const size_t n_before = bag.cloth->count;
    advance(bag.world, 1);
    const FloSoftBody *own = flo_soft_body(bag.cloth);
    double length = 0, way[3];
    for (size_t n = 1; n < own->n; ++n) {
      vec_sub(own->x + 3 * n, own->x + 3 * n - 3, way);
      length += vec_length(way);
    }
    print_message("stretch %g N/m: %.2f times as long, samples %zu -> %zu, %zu leaks\n", stretches[k],
                  length / bag.length, n_before, bag.cloth->count, count_leaks(&bag));
    assert_true(length > 1.2 * bag.length);
    assert_true(bag.cloth->count > n_before);
    assert_int_equal(count_leaks(&bag), 0);
    flo_world_destroy(bag.world);
  }
}

// ---- A drop meets a free sheet: momentum ----

static void throw_drop(FloWorld *world, int dim, double s) {
  FloFluidDef drop = flo_default_fluid_def();
  FloError error;
  drop.material = add_water(world);
  drop.shape = box_shape(6 * s, 6 * s, dim == 3 ? 6 * s : 0);
  drop.pose = dim == 3 ? pose_at(s, 0, 6 * s) : pose_at(s, 6 * s, 0);
  drop.velocity[dim - 1] = -1;
  assert_ok(flo_world_add_fluid(world, &drop, NULL, &error), &error);
}

static FloWorld *make_meeting(const char *method, int dim, FloBodyKind kind, int threads) {
  FloWorldDef def = small_world_def(dim);
  FloBodyDef body = flo_default_body_def();
  FloError error;
  const double s = 0.02;
  def.method = method, def.spacing = s, def.threads = threads;
  vec_set(def.gravity, 0, 0, 0);
  FloWorld *world = create_world(&def);
  body.kind = kind, body.name = "soft", body.density = 800;
  body.shape.kind = kind == FLO_BODY_CLOTH ? FLO_SHAPE_SHEET : FLO_SHAPE_BOX;
  body.shape.size[0] = body.shape.size[1] = body.shape.size[2] = 16 * s;
  if (kind == FLO_BODY_ELASTIC) body.shape.size[dim - 1] = 4 * s;
  if (dim == 2 && kind == FLO_BODY_ELASTIC) body.shape.size[2] = 0;
  body.cloth = (FloClothDef){.areal_density = 5, .stretch = 500, .bend = 0.01, .damping = 0.001};
  body.elastic = (FloElasticDef){.young = 2e4, .poisson = 0.3};
  assert_ok(flo_world_add_body(world, &body, NULL, &error), &error);
  throw_drop(world, dim, s);
  return world;
}

static void keeps_momentum(const char *method, int dim, FloBodyKind kind) {
  FloWorld *world = make_meeting(method, dim, kind, 2);
  const FloMeasurements start = flo_world_measure(world);
  const double size = vec_length(start.momentum);
  double worst = 0, worst_turn = 0;
  for (int k = 1; k <= 10; ++k) {
    double off[3];
    advance(world, 0.02 * k);
    const FloMeasurements now = flo_world_measure(world);
    vec_sub(now.momentum, start.momentum, off);
    worst = fmax(worst, vec_length(off) / size);
    vec_sub(now.angular_momentum, start.angular_momentum, off);
    worst_turn = fmax(worst_turn, vec_length(off) / (size * 0.3));
  }
  print_message("%s, %dD, %s: momentum off by %.2g, angular momentum by %.2g\n", method, dim,
                kind == FLO_BODY_CLOTH ? "cloth" : "solid", worst, worst_turn);
  assert_true(worst < 1e-6);
  // Water pushes a body where it is at the start of a step, and its elastic forces are those of the end.
  assert_true(worst_turn < 1e-3);
  flo_world_destroy(world);
}

static void test_momentum_is_kept(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    keeps_momentum("monolithic", dim, FLO_BODY_CLOTH);
    keeps_momentum("monolithic", dim, FLO_BODY_ELASTIC);
  }
}

// ---- The same bits ----

static uint64_t hash_after(const char *method, int dim, FloBodyKind kind, int threads) {
  FloWorld *world = make_meeting(method, dim, kind, threads);
  advance(world, 0.1);
  const uint64_t hash = flo_world_hash(world);
  flo_world_destroy(world);
  return hash;
}

static uint64_t hash_after_saving(const char *method, int dim, FloBodyKind kind) {
  FloWorld *world = make_meeting(method, dim, kind, 2);
  FloState *saved = NULL;
  FloError error;
  advance(world, 0.05);
  assert_ok(flo_world_save(world, &saved, &error), &error);
  flo_world_destroy(world);
  world = make_meeting(method, dim, kind, 1);
  assert_ok(flo_world_restore(world, saved, &error), &error);
  flo_state_destroy(saved);
  advance(world, 0.1);
  const uint64_t hash = flo_world_hash(world);
  flo_world_destroy(world);
  return hash;
}

static uint64_t hash_in_two_parts(const char *method, int dim, FloBodyKind kind) {
  FloWorld *world = make_meeting(method, dim, kind, 1);
  advance(world, 0.05);
  advance(world, 0.1);
  const uint64_t hash = flo_world_hash(world);
  flo_world_destroy(world);
  return hash;
}

static void test_same_bits(void **state) {
  (void)state;
  static const FloBodyKind kinds[] = {FLO_BODY_CLOTH, FLO_BODY_ELASTIC};
  for (int dim = 2; dim <= 3; ++dim)
    for (size_t k = 0; k < FLO_COUNT_OF(kinds); ++k) {
      const uint64_t one = hash_after("monolithic", dim, kinds[k], 1);
      assert_true(hash_after("monolithic", dim, kinds[k], 2) == one);
      assert_true(hash_after("monolithic", dim, kinds[k], 3) == one);
      assert_true(hash_after_saving("monolithic", dim, kinds[k]) ==
                  hash_in_two_parts("monolithic", dim, kinds[k]));
    }
}

// ---- Elastic bodies float ----

// A homogeneous body of half the density of water floats with its centre at the level, however it turns.
static void floats(int dim, double s, double young) {
  FloWorldDef def = small_world_def(dim);
  FloBodyDef body = flo_default_body_def();
  FloError error;
  const double wide = 30 * s, deep = 20 * s, a = 10 * s;
  def.method = "monolithic", def.spacing = s, def.threads = 2;
  FloWorld *world = create_world(&def);
  add_tank(world, dim, wide, dim == 2 ? 2 * deep : wide, 2 * deep);
  body.kind = FLO_BODY_ELASTIC, body.name = "float", body.density = 500;
  body.elastic = (FloElasticDef){.young = young, .poisson = 0.3, .damping = 0.002};
  body.shape = dim == 2 ? box_shape(a, a, 0) : box_shape(a, a, a);
  body.pose = pose_at(wide / 2, dim == 2 ? deep : wide / 2, dim == 2 ? 0 : deep);
  assert_ok(flo_world_add_body(world, &body, NULL, &error), &error);
  add_block(world, add_water(world), (const double[3]){0},
            (const double[3]){wide, dim == 2 ? deep : wide, dim == 2 ? 0 : deep});
  const double area = dim == 2 ? wide : wide * wide,
               level = ((double)world->sets[FLO_SET_FLUID].count * pow(s, dim) + pow(a, dim) / 2) / area;
  double mean = 0;
  advance(world, 3);
  for (int k = 1; k <= 20; ++k) {
    advance(world, 3 + 0.05 * k);
    mean += flo_bodies(world)[1].state.pose.position[dim - 1] / 20;
  }
  print_message("%dD, spacing %g, %g Pa: centre %.3f spacings from the level\n", dim, s, young,
                (mean - level) / s);
  assert_close(mean, level, 0.04 * a);
  flo_world_destroy(world);
}

static void test_elastic_body_floats(void **state) {
  (void)state;
  floats(2, 0.02, 1e5);
  floats(2, 0.02, 1e7);
  floats(2, 0.0125, 1e6);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cloth_holds_water),   cmocka_unit_test(test_stretched_cloth_keeps_water),
      cmocka_unit_test(test_momentum_is_kept),    cmocka_unit_test(test_same_bits),
      cmocka_unit_test(test_elastic_body_floats),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
