// The share of a sample's kernel that its body covers: exact for boxes on the lattice of fluid, and right for
// layers of fluid that bend with the surface of a sphere.
#include "state/state.h"
#include "support/worlds.h"

// ---- The share of a point near the surface ----

static void test_points_a_spacing_above_a_sample_count(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    FloKernelForm form = flo_kernel_form(FLO_KERNEL_CUBIC_SPLINE, dim, 0.04);
    FloCurving curving = flo_kernel_curving(&form, 0.02);
    double before = 0;
    assert_true(curving.slope > 0 && curving.slope < 1 && curving.power >= 1);
    assert_close(flo_curving_share(&curving, 1), 1, 1e-12);
    assert_close(flo_curving_share(&curving, 0), 0, 1e-12);
    assert_close(flo_curving_share(&curving, 3), 1, 1e-12);
    assert_close(flo_curving_share(&curving, -3), 0, 1e-12);
    for (double height = 0.01; height < 1; height += 0.01) {
      double share = flo_curving_share(&curving, height);
      assert_true(share > before && share < 1);
      before = share;
    }
  }
}

// A kernel that does not reach the next layer has no curvature to mind.
static void test_short_kernels_count_in_proportion(void **state) {
  (void)state;
  FloKernelForm form = flo_kernel_form(FLO_KERNEL_CUBIC_SPLINE, 3, 0.9);
  FloCurving curving = flo_kernel_curving(&form, 1);
  for (double height = 0; height <= 1; height += 0.125)
    assert_close(flo_curving_share(&curving, height), height, 1e-12);
}

// ---- Boxes ----

enum { EDGE = 8 };

// The kernel sum of the lattice points outside the box, whose samples lie on the same lattice.
static double lattice_outside(const FloWorld *world, const double x[3]) {
  double s = world->def.spacing, half = EDGE / 2 * s, sum = 0;
  int reach = (int)ceil(world->def.support), reach_z = world->def.dim == 3 ? reach : 0;
  for (int k = -reach_z; k <= reach_z; ++k)
    for (int j = -reach; j <= reach; ++j)
      for (int i = -reach; i <= reach; ++i) {
        const double at[3] = {x[0] + i * s, x[1] + j * s, x[2] + k * s};
        bool is_inside = fabs(at[0]) < half && fabs(at[1]) < half && (reach_z == 0 || fabs(at[2]) < half);
        if (!is_inside) sum += flo_kernel_w(&world->kernel, s * sqrt(i * i + j * j + k * k));
      }
  return sum * flo_world_rest_volume(world);
}

// All samples, those of edges and corners included. The box is turned, too: the lattice turns with it.
static void check_box(int dim, double angle) {
  static const double z[3] = {0, 0, 1};
  FloWorld *world = empty_world(dim);
  FloBodyDef box = flo_default_body_def();
  double s = world->def.spacing;
  box.shape = box_shape(EDGE * s, EDGE * s, dim == 3 ? EDGE * s : 0);
  quat_from_axis_angle(z, angle, box.pose.rotation);
  add_body(world, &box);
  const FloParticles *p = &world->sets[FLO_SET_BOUNDARY];
  for (size_t i = 0; i < p->count; ++i) {
    const double x[3] = {p->local_x[i], p->local_y[i], p->local_z[i]};
    assert_close(1 - (double)p->covered[i], lattice_outside(world, x), 1e-5);
  }
  assert_true(p->count > 0);
  flo_world_destroy(world);
}

static void test_boxes_cover_what_the_lattice_says(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    check_box(dim, 0);
    check_box(dim, 0.4);
  }
}

// ---- Spheres ----

// The kernel sum of a layer of fluid that bends with a sphere (in 2D with a circle): one particle per spacing
// and area, spread evenly. `radius` is that of the layer, `from` that of the sample.
static double shell_sum(const FloWorld *world, double radius, double from) {
  enum { N_RINGS = 20000 };
  double s = world->def.spacing, widest = fmin(2 * world->kernel.support / radius, FLO_PI), sum = 0;
  for (int k = 0; k < N_RINGS; ++k) {
    double angle = (k + 0.5) * widest / N_RINGS;
    double r2 = radius * radius + from * from - 2 * radius * from * cos(angle);
    double size = world->def.dim == 3 ? 2 * FLO_PI * radius * sin(angle) : 2;
    sum += flo_kernel_w(&world->kernel, sqrt(r2)) * size * radius * widest / N_RINGS;
  }
  return s * sum;
}

// Of all layers outside a sphere, half a spacing, one and a half, ... away from it.
static double shells_outside(const FloWorld *world, double radius) {
  double s = world->def.spacing, sum = 0;
  for (int k = 0; k < (int)ceil(world->def.support); ++k)
    sum += shell_sum(world, radius + (k + 0.5) * s, radius - s / 2);
  return sum;
}

// Even layers and lattices differ by a constant factor, which is that of a plane.
static void check_sphere(int dim, double spacings, double limit) {
  FloWorld *world = empty_world(dim);
  FloBodyDef sphere = flo_default_body_def();
  double s = world->def.spacing, plane = 0, worst = 0;
  sphere.shape = (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = spacings * s};
  add_body(world, &sphere);
  for (int k = 1; k <= 3; ++k) plane += flo_kernel_sheet_sum(&world->kernel, s, k);
  plane *= flo_world_rest_volume(world);
  double expected = shells_outside(world, spacings * s) * plane / shells_outside(world, 1e4 * s);
  const FloParticles *p = &world->sets[FLO_SET_BOUNDARY];
  for (size_t i = 0; i < p->count; ++i) {
    double off = (1 - (double)p->covered[i]) / expected - 1;
    worst = fmax(worst, fabs(off));
  }
  print_message("%dD, radius %g spacings: uncovered share %.4f (plane: %.4f), samples are off by %.2f %%\n",
                dim, spacings, expected, plane, 100 * worst);
  flo_world_destroy(world);
  assert_true(worst < limit);
}

static void test_spheres_leave_room_for_bent_layers(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim)
    for (double radius = 4; radius <= 16; radius *= 2) check_sphere(dim, radius, 0.06 / radius);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_points_a_spacing_above_a_sample_count),
      cmocka_unit_test(test_short_kernels_count_in_proportion),
      cmocka_unit_test(test_boxes_cover_what_the_lattice_says),
      cmocka_unit_test(test_spheres_leave_room_for_bent_layers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
