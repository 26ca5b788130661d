// Archimedes' law with `direct-forcing`: spheres, cubes and flat boxes that float, are held under water, or
// hover there. Every case prints what it measured. With FLOTSAM_FULL=1 all sizes and densities are tried,
// which takes many minutes.
#include "baths.h"

static Buoy buoy_of(Form form, int across, double density) {
  return (Buoy){"direct-forcing", form, across, density};
}

// The share of a body under water is right within 2 %, or its draught within a tenth of a spacing.
static void check_floating(Form form, int across, double density) {
  const Buoy buoy = buoy_of(form, across, density);
  double share = density / DENSITY, found = floating_share(&buoy), size = across * SPACING;
  double deeper = draught_of(form, size, found) - draught_of(form, size, share);
  assert_true(fabs(found / share - 1) < 0.02 || fabs(deeper) < 0.1 * SPACING);
}

static void bodies_float_as_deep_as_they_weigh(void **unused) {
  (void)unused;
  check_floating(SPHERE, 6, 500);
  if (!is_full()) return;
  static const int sizes[] = {6, 8, 12, 16};
  static const double densities[] = {100, 300, 500, 700, 900};
  for (int k = 0; k < 60; ++k) check_floating((Form)(k % 3), sizes[k / 15], densities[k / 3 % 5]);
}

// As with `monolithic`, the lift is right but for a part of a spacing by which the surface seems to be
// shifted: spheres seem smaller and boxes larger.
static void check_held(Form form, int across) {
  const Buoy buoy = buoy_of(form, across, 500);
  assert_true(fabs(held_lift(&buoy) - 1) * across / 6 < 0.08);
}

static void held_bodies_feel_what_they_displace(void **unused) {
  (void)unused;
  static const int sizes[] = {6, 8, 12, 16};
  check_held(SPHERE, 6);
  for (int k = 0; is_full() && k < 12; ++k) check_held((Form)(k % 3), sizes[k / 3]);
}

static void bodies_as_heavy_as_water_hover(void **unused) {
  (void)unused;
  const Buoy cube = buoy_of(CUBE, 6, DENSITY), sphere = buoy_of(SPHERE, 8, DENSITY);
  assert_true(hovering_drift(&cube, is_full() ? 5 : 1) < 0.4);
  if (is_full()) assert_true(hovering_drift(&sphere, 5) < 0.4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bodies_float_as_deep_as_they_weigh),
      cmocka_unit_test(held_bodies_feel_what_they_displace),
      cmocka_unit_test(bodies_as_heavy_as_water_hover),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
