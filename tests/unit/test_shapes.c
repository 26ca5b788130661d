// Shapes: volumes, distances, surface samples, and what is refused.
#include "base/vecmath.h"
#include "geometry/shapes.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/random.h"

#define S 0.02 // spacing

static FloShape box(double x, double y, double z) { return (FloShape){FLO_SHAPE_BOX, .size = {x, y, z}}; }
static FloShape sphere(double radius) { return (FloShape){FLO_SHAPE_SPHERE, .radius = radius}; }
static FloShape cylinder(double radius, double length) {
  return (FloShape){FLO_SHAPE_CYLINDER, .size = {length}, .radius = radius};
}
static FloShape tank(int up, bool closed) {
  return (FloShape){FLO_SHAPE_TANK, .size = {0.4, 0.3, 0.24}, .closed = closed, .up = up};
}

// ---- Points ----

typedef struct Samples {
  CountingAllocator counter;
  FloMemory memory;
  FloPoints points;
} Samples;

static void samples_init(Samples *samples) {
  *samples = (Samples){.counter = {.byte_limit = 256 << 20}};
  FloAllocator allocator = counting_allocator(&samples->counter);
  flo_memory_init(&samples->memory, &allocator);
  samples->points.memory = &samples->memory;
}

static void samples_free(Samples *samples) {
  flo_points_free(&samples->points);
  assert_int_equal(samples->counter.bytes, 0);
}

static void sample_volume(Samples *samples, FloShape shape, int dim, double spacing) {
  FloError error;
  samples_init(samples);
  assert_ok(flo_shape_sample_volume(&shape, dim, spacing, FLO_FLUID_CUBIC, &samples->points, &error), &error);
}

static void sample_surface(Samples *samples, FloShape shape, int dim, int layers) {
  FloError error;
  samples_init(samples);
  assert_ok(flo_shape_sample_surface(&shape, dim, S, S / 2, layers, &samples->points, &error), &error);
}

static double nearest(const FloPoints *points, const double p[3], size_t except) {
  double best = INFINITY;
  for (size_t k = 0; k < points->count; ++k) {
    double d[3];
    vec_sub(flo_points_at(points, k), p, d);
    if (k != except) best = fmin(best, vec_length(d));
  }
  return best;
}

static void test_points_are_kept_in_order(void **state) {
  (void)state;
  Samples samples;
  FloError error;
  samples_init(&samples);
  for (int k = 0; k < 1000; ++k) assert_ok(flo_points_add(&samples.points, k, -k, 0.5 * k, &error), &error);
  assert_int_equal(samples.points.count, 1000);
  for (int k = 0; k < 1000; ++k)
    assert_close_3(flo_points_at(&samples.points, (size_t)k), ((double[3]){k, -k, 0.5 * k}), 0);
  samples_free(&samples);
}

// ---- Volumes ----

static double sampled_volume(FloShape shape, int dim, double spacing) {
  Samples samples;
  sample_volume(&samples, shape, dim, spacing);
  double volume = (double)samples.points.count * pow(spacing, dim);
  for (size_t k = 0; k < samples.points.count; ++k) {
    const double *p = flo_points_at(&samples.points, k);
    assert_true(flo_shape_distance(&shape, dim, p, 0) < 0);
    if (dim == 2) assert_true(p[2] == 0);
  }
  samples_free(&samples);
  return volume;
}

static void check_convergence(FloShape shape, int dim, double exact) {
  assert_close(sampled_volume(shape, dim, 0.02), exact, 0.03 * exact);
  assert_close(sampled_volume(shape, dim, 0.01), exact, 0.015 * exact);
  assert_close(sampled_volume(shape, dim, 0.005), exact, 0.006 * exact);
}

static void test_volumes_of_round_shapes_converge(void **state) {
  (void)state;
  check_convergence(sphere(0.21), 3, 4 * FLO_PI / 3 * pow(0.21, 3));
  check_convergence(sphere(0.2), 2, FLO_PI * pow(0.2, 2));
  check_convergence(cylinder(0.2, 0.3), 3, FLO_PI * pow(0.2, 2) * 0.3);
}

static void test_boxes_are_filled_exactly(void **state) {
  (void)state;
  assert_close(sampled_volume(box(0.8, 0.3, 0.02), 3, S), 0.8 * 0.3 * 0.02, 1e-12);
  assert_close(sampled_volume(box(0.8, 0.3, 5), 2, S), 0.8 * 0.3, 1e-12);
  assert_close(sampled_volume(box(0.7, 0.7, 0.7), 3, 0.1), 0.7 * 0.7 * 0.7, 1e-12);
}

// Fluid stands half a spacing from the floor, one spacing apart.
static void test_boxes_fill_from_their_low_corner(void **state) {
  (void)state;
  Samples samples;
  double low[3] = {INFINITY, INFINITY, INFINITY};
  sample_volume(&samples, box(0.115, 0.09, 0.13), 3, S);
  assert_int_equal(samples.points.count, 5 * 4 * 6);
  for (size_t k = 0; k < samples.points.count; ++k) {
    const double *p = flo_points_at(&samples.points, k);
    for (int axis = 0; axis < 3; ++axis) low[axis] = fmin(low[axis], p[axis]);
    assert_close(nearest(&samples.points, p, k), S, 1e-12);
  }
  assert_close_3(low, ((double[3]){-0.0575 + S / 2, -0.045 + S / 2, -0.065 + S / 2}), 1e-12);
  samples_free(&samples);
}

static void test_round_shapes_fill_symmetrically(void **state) {
  (void)state;
  Samples samples;
  sample_volume(&samples, sphere(0.09), 3, S);
  double sum[3] = {0};
  for (size_t k = 0; k < samples.points.count; ++k) vec_add(sum, flo_points_at(&samples.points, k), sum);
  assert_close_3(sum, ((double[3]){0}), 1e-12);
  samples_free(&samples);
}

// Every particle that is well inside has 6 neighbours in the plane and 12 in space, all at the distance that
// leaves one particle to each spacing^dim.
static void check_neighbours(const FloPoints *points, FloShape shape, int dim) {
  double apart = S * (dim == 2 ? sqrt(2 / sqrt(3)) : pow(2, 1.0 / 6));
  for (size_t k = 0; k < points->count; ++k) {
    const double *p = flo_points_at(points, k);
    int n_near = 0;
    assert_close(nearest(points, p, k), apart, 1e-9);
    for (size_t i = 0; i < points->count; ++i) {
      double d[3];
      vec_sub(flo_points_at(points, i), p, d);
      n_near += i != k && vec_length(d) < 1.01 * apart;
    }
    if (flo_shape_distance(&shape, dim, p, 0) < -2 * S) assert_int_equal(n_near, dim == 2 ? 6 : 12);
  }
}

static void test_hexagonal_packing(void **state) {
  (void)state;
  const struct {
    FloShape shape;
    int dim;
    double volume, tolerance;
  } cases[] = {{sphere(0.16), 3, 4 * FLO_PI / 3 * pow(0.16, 3), 0.02},
               {cylinder(0.15, 0.3), 3, FLO_PI * 0.15 * 0.15 * 0.3, 0.03},
               {sphere(0.4), 2, FLO_PI * 0.16, 0.01},
               // Up to a row is missing before each of the far sides.
               {box(0.3, 0.3, 0.3), 3, 0.027, 0.2},
               {box(0.8, 0.6, 0), 2, 0.48, 0.06}};
  for (size_t k = 0; k < FLO_COUNT_OF(cases); ++k) {
    Samples samples;
    FloError error;
    FloShape shape = cases[k].shape;
    int dim = cases[k].dim;
    samples_init(&samples);
    assert_ok(flo_shape_sample_volume(&shape, dim, S, FLO_FLUID_HEXAGONAL, &samples.points, &error), &error);
    assert_close((double)samples.points.count * pow(S, dim), cases[k].volume,
                 cases[k].tolerance * cases[k].volume);
    check_neighbours(&samples.points, shape, dim);
    for (size_t i = 0; i < samples.points.count; ++i)
      assert_true(flo_shape_distance(&shape, dim, flo_points_at(&samples.points, i), 0) <
                  (shape.kind == FLO_SHAPE_BOX ? -0.499 * S : 0));
    samples_free(&samples);
  }
}

// Half a spacing from the floor and from the wall, as in the cubic packing.
static void test_hexagonal_packing_stands_on_the_floor(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    Samples samples;
    FloError error;
    FloShape shape = box(0.3, 0.24, dim == 3 ? 0.26 : 0);
    double low[3] = {INFINITY, INFINITY, INFINITY};
    samples_init(&samples);
    assert_ok(flo_shape_sample_volume(&shape, dim, S, FLO_FLUID_HEXAGONAL, &samples.points, &error), &error);
    for (size_t k = 0; k < samples.points.count; ++k)
      for (int axis = 0; axis < dim; ++axis)
        low[axis] = fmin(low[axis], flo_points_at(&samples.points, k)[axis]);
    for (int axis = 0; axis < dim; ++axis) assert_close(low[axis], S / 2 - shape.size[axis] / 2, 1e-12);
    samples_free(&samples);
  }
}

static void test_a_shape_thinner_than_a_spacing_is_empty(void **state) {
  (void)state;
  assert_true(sampled_volume(box(1, 1, 0.5 * S), 3, S) == 0);
}

static void test_a_tank_has_no_volume(void **state) {
  (void)state;
  Samples samples;
  FloError error;
  FloShape shape = tank(2, false);
  samples_init(&samples);
  assert_refused(flo_shape_sample_volume(&shape, 3, S, FLO_FLUID_CUBIC, &samples.points, &error), &error,
                 "tank");
  samples_free(&samples);
}

// ---- Distances ----

static bool is_in_box(const double half[3], int dim, const double p[3], double grow) {
  for (int axis = 0; axis < dim; ++axis)
    if (fabs(p[axis]) >= half[axis] + grow) return false;
  return true;
}

static bool is_inside(const FloShape *shape, int dim, const double p[3], double wall) {
  double half[3];
  flo_shape_half_extent(shape, dim, half);
  switch (shape->kind) {
  case FLO_SHAPE_SPHERE:
    return vec_length(p) < shape->radius;
  case FLO_SHAPE_CYLINDER:
    return hypot(p[0], p[1]) < shape->radius && fabs(p[2]) < shape->size[0] / 2;
  case FLO_SHAPE_TANK:
    if (!shape->closed && p[shape->up] >= half[shape->up]) return false;
    return is_in_box(half, dim, p, wall) && !is_in_box(half, dim, p, 0);
  default:
    return is_in_box(half, dim, p, 0);
  }
}

static void check_distance_at(const FloShape *shape, int dim, const double p[3], double wall) {
  const double h = 1e-7;
  double gradient[3] = {0}, distance = flo_shape_distance(shape, dim, p, wall);
  for (int axis = 0; axis < dim; ++axis) {
    double a[3], b[3];
    vec_copy(p, a), vec_copy(p, b);
    a[axis] -= h, b[axis] += h;
    gradient[axis] =
        (flo_shape_distance(shape, dim, b, wall) - flo_shape_distance(shape, dim, a, wall)) / (2 * h);
  }
  if ((distance < 0) != is_inside(shape, dim, p, wall))
    fail_msg("kind %d: distance %g at (%g, %g, %g)", (int)shape->kind, distance, p[0], p[1], p[2]);
  if (fabs(vec_length(gradient) - 1) > 1e-5)
    fail_msg("kind %d: slope %g at (%g, %g, %g), distance %g", (int)shape->kind, vec_length(gradient), p[0],
             p[1], p[2], distance);
}

static void check_distances(FloShape shape, int dim) {
  Random random = {(uint64_t)shape.kind + 1};
  for (int k = 0; k < 3000; ++k) {
    double p[3] = {random_between(&random, -0.5, 0.5), random_between(&random, -0.5, 0.5), 0};
    if (dim == 3) p[2] = random_between(&random, -0.5, 0.5);
    check_distance_at(&shape, dim, p, 0.06);
  }
}

static void test_distances_have_the_right_sign_and_slope(void **state) {
  (void)state;
  check_distances(box(0.4, 0.3, 0.5), 3);
  check_distances(box(0.4, 0.3, 0), 2);
  check_distances(sphere(0.3), 3);
  check_distances(sphere(0.3), 2);
  check_distances(cylinder(0.2, 0.5), 3);
}

static void test_distances_of_a_closed_tank(void **state) {
  (void)state;
  check_distances(tank(2, true), 3);
  check_distances(tank(1, true), 2);
}

static void test_distances_of_an_open_tank(void **state) {
  (void)state;
  for (int up = 0; up < 3; ++up) check_distances(tank(up, false), 3);
  check_distances(tank(1, false), 2);
}

static void test_distances_at_chosen_points(void **state) {
  (void)state;
  FloShape b = box(2, 4, 6), c = cylinder(1, 4), t = {FLO_SHAPE_TANK, .size = {2, 2, 2}, .up = 2};
  assert_close(flo_shape_distance(&b, 3, (double[3]){0, 0, 0}, 0), -1, 0);
  assert_close(flo_shape_distance(&b, 3, (double[3]){4, 6, 0}, 0), 5, 1e-15);
  assert_close(flo_shape_distance(&b, 2, (double[3]){0.25, 0, 0}, 0), -0.75, 0);
  assert_close(flo_shape_distance(&c, 3, (double[3]){4, 0, 6}, 0), 5, 1e-15);
  assert_close(flo_shape_distance(&c, 3, (double[3]){0.5, 0, 0}, 0), -0.5, 0);
  assert_close(flo_shape_distance(&t, 3, (double[3]){0, 0, -0.75}, 0.5), 0.25, 1e-15);
  assert_close(flo_shape_distance(&t, 3, (double[3]){0, 0, -1.25}, 0.5), -0.25, 1e-15);
  assert_close(flo_shape_distance(&t, 3, (double[3]){0.9, 0, 5}, 0.5), 4, 1e-15);
}

static void test_a_point_above_an_open_tank_is_outside_and_under_a_lid_inside(void **state) {
  (void)state;
  for (int up = 0; up < 3; ++up) {
    FloShape open = tank(up, false), closed = tank(up, true);
    double p[3] = {0}, half[3];
    flo_shape_half_extent(&open, 3, half);
    p[up] = half[up] + 0.03;
    assert_true(flo_shape_distance(&open, 3, p, 0.06) > 0);
    assert_true(flo_shape_distance(&closed, 3, p, 0.06) < 0);
    p[up] = -half[up] - 0.03;
    assert_true(flo_shape_distance(&open, 3, p, 0.06) < 0);
  }
}

static void test_normals_point_where_the_distance_grows(void **state) {
  (void)state;
  const FloShape shapes[] = {box(0.4, 0.3, 0.5), sphere(0.3), cylinder(0.2, 0.5), tank(2, true)};
  Random random = {31};
  for (size_t k = 0; k < FLO_COUNT_OF(shapes); ++k)
    for (int sample = 0; sample < 500; ++sample) {
      double p[3], normal[3], out[3];
      for (int axis = 0; axis < 3; ++axis) p[axis] = random_between(&random, -0.4, 0.4);
      flo_shape_normal(&shapes[k], 3, p, 0.06, normal);
      assert_close(vec_length(normal), 1, 1e-9);
      vec_add_scaled(p, normal, 1e-4, out);
      double gain = flo_shape_distance(&shapes[k], 3, out, 0.06) - flo_shape_distance(&shapes[k], 3, p, 0.06);
      assert_true(gain > 0.5e-4); // a kink between the two points may take some of it
    }
  double normal[3];
  flo_shape_normal(&shapes[1], 3, (double[3]){0}, 0, normal);
  assert_true(vec_is_finite(normal));
}

static void test_half_extents(void **state) {
  (void)state;
  double half[3];
  FloShape shape = box(2, 4, 6);
  flo_shape_half_extent(&shape, 3, half);
  assert_close_3(half, ((double[3]){1, 2, 3}), 0);
  flo_shape_half_extent(&shape, 2, half);
  assert_close_3(half, ((double[3]){1, 2, 0}), 0);
  shape = cylinder(1, 5);
  flo_shape_half_extent(&shape, 3, half);
  assert_close_3(half, ((double[3]){1, 1, 2.5}), 0);
  shape = sphere(3);
  flo_shape_half_extent(&shape, 2, half);
  assert_close_3(half, ((double[3]){3, 3, 0}), 0);
}

// ---- Surfaces ----

// Samples stand half a spacing inside, at most `layers` deep, none on top of another.
static void check_surface(FloShape shape, int dim, int layers) {
  Samples samples;
  sample_surface(&samples, shape, dim, layers);
  double deepest = 0, highest = -INFINITY, closest = INFINITY;
  for (size_t k = 0; k < samples.points.count; ++k) {
    const double *p = flo_points_at(&samples.points, k);
    double distance = flo_shape_distance(&shape, dim, p, 10 * S);
    highest = fmax(highest, distance);
    deepest = fmin(deepest, distance);
    closest = fmin(closest, nearest(&samples.points, p, k));
    if (dim == 2) assert_true(p[2] == 0);
  }
  double corner = shape.kind == FLO_SHAPE_TANK ? sqrt(dim) : 1; // outside a corner the distance is a diagonal
  assert_close(highest, -S / 2, 1e-9);
  assert_true(deepest >= -(layers - 0.5) * S * corner - 1e-9);
  if (closest < 0.45 * S)
    fail_msg("kind %d, radius %g, %d layers: samples %g spacings apart", (int)shape.kind, shape.radius,
             layers, closest / S);
  samples_free(&samples);
}

static void test_samples_stand_half_a_spacing_inside_and_apart(void **state) {
  (void)state;
  for (int layers = 1; layers <= 3; ++layers) {
    check_surface(box(0.2, 0.24, 0.3), 3, layers);
    check_surface(box(0.2, 0.24, 0), 2, layers);
    check_surface(sphere(0.13), 3, layers);
    check_surface(sphere(0.13), 2, layers);
    check_surface(cylinder(0.13, 0.2), 3, layers);
    check_surface(cylinder(0.1, 0.2), 3, layers);
    check_surface(tank(2, false), 3, layers);
    check_surface(tank(2, true), 3, layers);
    check_surface(tank(1, false), 2, layers);
  }
}

// The outermost samples stand where they should; of what is too thin for that, in the middle.
static void test_samples_stand_as_deep_as_asked(void **state) {
  (void)state;
  const FloShape shapes[] = {box(0.4, 0.3, 0.24), sphere(0.2), cylinder(0.2, 0.3), tank(2, true)};
  const double insets[] = {0.1 * S, 0.25 * S, 0.5 * S, S};
  for (size_t k = 0; k < FLO_COUNT_OF(shapes); ++k)
    for (int dim = shapes[k].kind == FLO_SHAPE_CYLINDER ? 3 : 2; dim <= 3; ++dim)
      for (size_t i = 0; i < FLO_COUNT_OF(insets); ++i) {
        Samples samples;
        FloError error;
        FloShape shape = shapes[k];
        shape.up = dim - 1;
        double deepest = -INFINITY, outermost = INFINITY;
        samples_init(&samples);
        assert_ok(flo_shape_sample_surface(&shape, dim, S, insets[i], 1, &samples.points, &error), &error);
        assert_true(samples.points.count > 30);
        for (size_t j = 0; j < samples.points.count; ++j) {
          double depth = -flo_shape_distance(&shape, dim, flo_points_at(&samples.points, j), 1);
          deepest = fmax(deepest, depth), outermost = fmin(outermost, depth);
        }
        assert_close(outermost, insets[i], 0.03 * S);
        // In the outer corners of a tank's wall the samples are deeper.
        if (shape.kind != FLO_SHAPE_CYLINDER) assert_true(deepest < insets[i] * 1.75 + 0.03 * S);
        samples_free(&samples);
      }
  Samples samples;
  FloError error;
  FloShape thin = box(0.4, 0.4, 0.3 * S);
  samples_init(&samples);
  assert_ok(flo_shape_sample_surface(&thin, 3, S, S, 3, &samples.points, &error), &error);
  assert_int_equal(samples.points.count, 19 * 19);
  for (size_t j = 0; j < samples.points.count; ++j)
    assert_close(flo_points_at(&samples.points, j)[2], 0, 1e-12);
  samples_free(&samples);
}

// In space, bodies of a few samples get more of them, for their number density.
static void test_samples_of_small_bodies_do_not_coincide(void **state) {
  (void)state;
  for (int layers = 1; layers <= 3; ++layers)
    for (double radius = 0.5 * S; radius < 4 * S; radius += 0.25 * S)
      for (int dim = 2; dim <= 3; ++dim) {
        Samples samples;
        sample_surface(&samples, sphere(radius), dim, layers);
        assert_true(samples.points.count > 0);
        for (size_t k = 0; k < samples.points.count; ++k) {
          double apart = nearest(&samples.points, flo_points_at(&samples.points, k), k);
          if (apart < 0.3 * S)
            fail_msg("%dD, radius %g spacings, %d layers: samples %g spacings apart", dim, radius / S, layers,
                     apart / S);
        }
        samples_free(&samples);
      }
}

// A random point of the surface half a spacing inside, by walking down the distance.
static bool point_on_inset(const FloShape *shape, int dim, Random *random, double p[3]) {
  const double wall = 10 * S, h = 1e-6;
  for (int axis = 0; axis < 3; ++axis) p[axis] = axis < dim ? random_between(random, -0.2, 0.2) : 0;
  for (int step = 0; step < 20; ++step) {
    double gradient[3] = {0}, distance = flo_shape_distance(shape, dim, p, wall) + S / 2;
    for (int axis = 0; axis < dim; ++axis) {
      double there[3];
      vec_copy(p, there);
      there[axis] += h;
      gradient[axis] = (flo_shape_distance(shape, dim, there, wall) + S / 2 - distance) / h;
    }
    vec_add_scaled(p, gradient, -distance, p);
  }
  return fabs(flo_shape_distance(shape, dim, p, wall) + S / 2) < 1e-4 * S;
}

static void check_cover(FloShape shape, int dim) {
  Samples samples;
  Random random = {5};
  sample_surface(&samples, shape, dim, 1);
  int n_checked = 0;
  for (int k = 0; k < 2000; ++k) {
    double p[3];
    if (!point_on_inset(&shape, dim, &random, p)) continue;
    double gap = nearest(&samples.points, p, SIZE_MAX);
    if (gap > 0.95 * S) fail_msg("kind %d: a hole of %g spacings", (int)shape.kind, gap / S);
    ++n_checked;
  }
  assert_true(n_checked > 500);
  samples_free(&samples);
}

static void test_samples_leave_no_holes(void **state) {
  (void)state;
  check_cover(box(0.2, 0.24, 0.3), 3);
  check_cover(box(0.21, 0.25, 0), 2);
  check_cover(sphere(0.13), 3);
  check_cover(sphere(0.137), 2);
  check_cover(cylinder(0.13, 0.2), 3);
}

static void test_the_number_of_samples_is_the_area(void **state) {
  (void)state;
  Samples samples;
  sample_surface(&samples, sphere(0.2), 3, 1);
  assert_close(samples.points.count, 4 * FLO_PI * 0.19 * 0.19 / (S * S), 2);
  samples_free(&samples);
  sample_surface(&samples, sphere(0.2), 2, 1);
  assert_close(samples.points.count, 2 * FLO_PI * 0.19 / S, 1);
  samples_free(&samples);
  sample_surface(&samples, box(0.2, 0.2, 0.2), 3, 1);
  assert_int_equal(samples.points.count, 10 * 10 * 10 - 8 * 8 * 8);
  samples_free(&samples);
  sample_surface(&samples, box(0.2, 0.2, 0.2), 3, 2);
  assert_int_equal(samples.points.count, 10 * 10 * 10 - 6 * 6 * 6);
  samples_free(&samples);
}

// 20 x 15 x 12 spacings inside.
static void test_an_open_tank_has_no_lid_on_its_side(void **state) {
  (void)state;
  const size_t inner[3] = {20, 15, 12}, inside = inner[0] * inner[1] * inner[2];
  for (int layers = 1; layers <= 2; ++layers)
    for (int up = 0; up < 3; ++up) {
      size_t open = 1, closed = 1, grow = (size_t)layers;
      for (int axis = 0; axis < 3; ++axis) {
        open *= inner[axis] + grow * (axis == up ? 1 : 2);
        closed *= inner[axis] + grow * 2;
      }
      Samples samples;
      sample_surface(&samples, tank(up, true), 3, layers);
      assert_int_equal(samples.points.count, closed - inside);
      samples_free(&samples);
      sample_surface(&samples, tank(up, false), 3, layers);
      assert_int_equal(samples.points.count, open - inside);
      for (size_t k = 0; k < samples.points.count; ++k)
        assert_true(flo_points_at(&samples.points, k)[up] < tank(up, false).size[up] / 2);
      samples_free(&samples);
    }
}

// ---- What is refused ----

static void check_refused(FloShape shape, int dim, const char *word) {
  FloError error;
  assert_refused(flo_shape_check(&shape, dim, &error), &error, word);
}

static void test_bad_sizes_are_refused(void **state) {
  (void)state;
  const double bad[] = {0, -1, NAN, INFINITY};
  for (size_t k = 0; k < FLO_COUNT_OF(bad); ++k) {
    for (int axis = 0; axis < 3; ++axis) {
      FloShape b = box(1, 1, 1), t = tank(0, false);
      b.size[axis] = t.size[axis] = bad[k];
      check_refused(b, 3, "size");
      check_refused(t, 3, "size");
    }
    check_refused(sphere(bad[k]), 3, "radius");
    check_refused(sphere(bad[k]), 2, "radius");
    check_refused(cylinder(bad[k], 1), 3, "radius");
    check_refused(cylinder(1, bad[k]), 3, "size");
  }
}

static void test_bad_kinds_are_refused(void **state) {
  (void)state;
  FloShape shape = box(1, 1, 1);
  shape.kind = FLO_SHAPE_COUNT;
  check_refused(shape, 3, "kind");
  shape.kind = (FloShapeKind)-1;
  check_refused(shape, 3, "kind");
  check_refused(cylinder(1, 1), 2, "cylinder");
  check_refused(tank(-1, false), 3, "axis");
  check_refused(tank(3, false), 3, "axis");
  check_refused(tank(2, false), 2, "axis");
}

static void test_sizes_that_do_not_matter_are_not_looked_at(void **state) {
  (void)state;
  FloError error;
  FloShape flat = box(1, 1, 0), ball = sphere(1);
  ball.size[0] = -1;
  assert_ok(flo_shape_check(&flat, 2, &error), &error);
  assert_ok(flo_shape_check(&ball, 3, &error), &error);
}

// More samples than anyone can hold must end in an error, not in an empty shape.
static void test_absurd_sizes_do_not_pass_as_empty(void **state) {
  (void)state;
  const FloShape shapes[] = {box(1e300, 1, 1), box(1e300, 1e300, 1e300), sphere(1e300), cylinder(1e300, 1),
                             cylinder(0.1, 1e300)};
  for (size_t k = 0; k < FLO_COUNT_OF(shapes); ++k)
    for (int is_surface = 0; is_surface <= 1; ++is_surface) {
      Samples samples;
      FloError error;
      samples_init(&samples);
      samples.counter.byte_limit = 1 << 20;
      FloStatus status = flo_shape_check(&shapes[k], 3, &error);
      if (status == FLO_OK)
        status = is_surface
                     ? flo_shape_sample_surface(&shapes[k], 3, S, S / 2, 1, &samples.points, &error)
                     : flo_shape_sample_volume(&shapes[k], 3, S, FLO_FLUID_CUBIC, &samples.points, &error);
      assert_true(status == FLO_BAD_INPUT || status == FLO_NO_MEMORY);
      samples_free(&samples);
    }
}

static void test_sampling_without_memory_says_so(void **state) {
  (void)state;
  const FloShape shapes[] = {box(0.2, 0.2, 0.2), sphere(0.2), cylinder(0.2, 0.2), tank(2, false)};
  for (size_t k = 0; k < FLO_COUNT_OF(shapes); ++k)
    for (size_t fail_at = 1; fail_at <= 2; ++fail_at) {
      Samples samples;
      FloError error;
      samples_init(&samples);
      samples.counter.fail_at = fail_at;
      assert_fails(flo_shape_sample_surface(&shapes[k], 3, S, S / 2, 1, &samples.points, &error),
                   FLO_NO_MEMORY, &error, "memory");
      samples_free(&samples);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_points_are_kept_in_order),
      cmocka_unit_test(test_volumes_of_round_shapes_converge),
      cmocka_unit_test(test_boxes_are_filled_exactly),
      cmocka_unit_test(test_boxes_fill_from_their_low_corner),
      cmocka_unit_test(test_round_shapes_fill_symmetrically),
      cmocka_unit_test(test_hexagonal_packing),
      cmocka_unit_test(test_hexagonal_packing_stands_on_the_floor),
      cmocka_unit_test(test_a_shape_thinner_than_a_spacing_is_empty),
      cmocka_unit_test(test_a_tank_has_no_volume),
      cmocka_unit_test(test_distances_have_the_right_sign_and_slope),
      cmocka_unit_test(test_distances_of_a_closed_tank),
      cmocka_unit_test(test_distances_of_an_open_tank),
      cmocka_unit_test(test_distances_at_chosen_points),
      cmocka_unit_test(test_a_point_above_an_open_tank_is_outside_and_under_a_lid_inside),
      cmocka_unit_test(test_normals_point_where_the_distance_grows),
      cmocka_unit_test(test_half_extents),
      cmocka_unit_test(test_samples_stand_half_a_spacing_inside_and_apart),
      cmocka_unit_test(test_samples_stand_as_deep_as_asked),
      cmocka_unit_test(test_samples_of_small_bodies_do_not_coincide),
      cmocka_unit_test(test_samples_leave_no_holes),
      cmocka_unit_test(test_the_number_of_samples_is_the_area),
      cmocka_unit_test(test_an_open_tank_has_no_lid_on_its_side),
      cmocka_unit_test(test_bad_sizes_are_refused),
      cmocka_unit_test(test_bad_kinds_are_refused),
      cmocka_unit_test(test_sizes_that_do_not_matter_are_not_looked_at),
      cmocka_unit_test(test_absurd_sizes_do_not_pass_as_empty),
      cmocka_unit_test(test_sampling_without_memory_says_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
