// Pins between a sheet and bodies that forces move: heavy bodies that turn and fly on a sheet gain no energy,
// however long the steps are, and a pin that bears too much breaks.
#include "support/soft_worlds.h"

#define S 0.02

static FloBodyId add_bar(FloWorld *world, int dim, const char *name, double x, double density,
                         const double velocity[3]) {
  FloBodyDef bar = flo_default_body_def();
  bar.kind = FLO_BODY_DYNAMIC, bar.name = name, bar.density = density;
  bar.shape = box_shape(4 * S, dim == 2 ? 4 * S : 12 * S, dim == 2 ? 0 : 4 * S);
  bar.pose = pose_at(x, 0, 0);
  vec_copy(velocity, bar.velocity);
  return add_body(world, &bar);
}

static FloWorld *make_world(int dim, double dt, double pull) {
  FloWorldDef def = small_world_def(dim);
  def.method = "monolithic", def.spacing = S, def.time_step = dt;
  vec_set(def.gravity, -pull, 0, 0);
  return create_world(&def);
}

static FloBodyDef sheet_def(double half) {
  FloBodyDef cloth = flo_default_body_def();
  cloth.kind = FLO_BODY_CLOTH, cloth.name = "cloth";
  cloth.shape.kind = FLO_SHAPE_SHEET, cloth.shape.size[0] = cloth.shape.size[1] = 2 * half;
  cloth.cloth =
      (FloClothDef){.areal_density = 0.5, .thickness = 0.002, .stretch = 5000, .bend = 1e-4, .damping = 0.05};
  return cloth;
}

static FloPinDef pin_at(double x) {
  return (FloPinDef){.place = FLO_PIN_BOX, .low = {x - 1e-3, -1, -1}, .high = {x + 1e-3, 1, 1}};
}

// How far glued vertices are from their places at most, in spacings.
static double loosest_pin(const FloWorld *world) {
  double most = 0;
  for (size_t k = 0; k < world->body_contacts.points.count; ++k) {
    const FloContactPoint *point = &flo_contact_points(&world->body_contacts)[k];
    if (point->is_glued) most = fmax(most, vec_length(point->away) / S);
  }
  return most;
}

// ---- Energy ----

// Two bars at the ends of a sheet fly and turn about each other.
static void gains_no_energy(int dim, double dt, double density, double time) {
  const double half = 6 * S, fast[3] = {0.2, 0.5, 0}, still[3] = {0};
  FloWorld *world = make_world(dim, dt, 0);
  FloBodyDef cloth = sheet_def(half);
  FloPinDef pins[2] = {pin_at(-half), pin_at(half)};
  double most = 0, loosest = 0, off[3];
  pins[0].to = add_bar(world, dim, "bar", -half - 2.1 * S, density, still);
  pins[1].to = add_bar(world, dim, "other", half + 2.1 * S, 2000, fast);
  cloth.pins = pins, cloth.n_pins = 2;
  add_body(world, &cloth);
  const FloMeasurements start = flo_world_measure(world);
  while (flo_world_time(world) < time) {
    step_world(world, 1);
    most = fmax(most, energy_of(world) / start.kinetic_energy);
    loosest = fmax(loosest, loosest_pin(world));
  }
  const FloMeasurements end = flo_world_measure(world);
  vec_sub(end.momentum, start.momentum, off);
  print_message(
      "%dD, bar of %g kg/m3, steps of %g ms: energy up to %.4f, %.4f at the end, pins %.3f spacings "
      "off, momentum by %.2g\n",
      dim, density, 1000 * dt, most, energy_of(world) / start.kinetic_energy, loosest,
      vec_length(off) / vec_length(start.momentum));
  assert_true(most < 1.0001);
  assert_true(loosest < (dt < 6e-3 ? 0.1 : 1.5)); // in spacings
  assert_true(vec_length(off) < 1e-12 * vec_length(start.momentum));
  flo_world_destroy(world);
}

static void test_turning_bodies_gain_no_energy(void **state) {
  (void)state;
  static const double steps[] = {0.001, 0.002, 0.005, 0.01};
  for (int dim = 2; dim <= 3; ++dim)
    for (size_t k = 0; k < FLO_COUNT_OF(steps); ++k) {
      const double time = dim == 2 ? 2 : fmin(100 * steps[k], 1);
      gains_no_energy(dim, steps[k], 500, time);
      gains_no_energy(dim, steps[k], 5000, time);
    }
}

// ---- Breaking ----

// A bar hangs on a sheet. Each of its pins may bear `share` of the part of the weight that it has at rest.
static void breaks(int dim, double share, bool is_broken) {
  const double half = 6 * S, still[3] = {0}, n_pins = dim == 2 ? 1 : 7;
  FloWorld *world = make_world(dim, 0, 9.81);
  FloBodyDef cloth = sheet_def(half);
  FloPinDef pins[2] = {pin_at(-half), pin_at(half)};
  pins[0].to = add_bar(world, dim, "bar", -half - 2.1 * S, 1000, still);
  pins[0].break_load = share * 9.81 * body_of(world, "bar")->nodes->mass / n_pins;
  cloth.pins = pins, cloth.n_pins = 2;
  add_body(world, &cloth);
  advance(world, 0.5);
  size_t n_on = 0;
  const FloSoftBody *own = flo_soft_body(body_of(world, "cloth"));
  for (size_t k = 0; k < own->n_pins; ++k) n_on += own->pins[k].is_glued && own->pins_on[k] != 0;
  const double speed = -body_of(world, "bar")->state.velocity[0];
  print_message("%dD, pins for %g of the weight: %zu of %g hold, the bar falls at %.3f m/s\n", dim, share,
                n_on, n_pins, speed);
  assert_int_equal(n_on, is_broken ? 0 : (size_t)n_pins);
  assert_true(is_broken ? speed > 0.9 * 9.81 * 0.5 : fabs(speed) < 0.05);
  flo_world_destroy(world);
}

static void test_pins_break(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    breaks(dim, 8, false);
    breaks(dim, 0.5, true);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_turning_bodies_gain_no_energy),
      cmocka_unit_test(test_pins_break),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
