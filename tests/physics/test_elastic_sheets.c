// Sheets far lighter than the water on them, with `elastic`: they hold it, come to rest, and their supports
// bear its weight, at any step. Every case prints what it measured.
#include "support/worlds.h"
#include "world/world.h"

#define GRAVITY 9.81

typedef struct Case {
  int dim;
  double spacing; // [m]
  int deep;       // of the water on the sheet, in spacings
  double mass;    // of the sheet, in layers of fluid
  double step;    // [s]; 0: as the world chooses
  int below;      // depth of water below the sheet, in spacings; 0: air
} Case;

enum { WIDE = 24, ACROSS = 8, UNDER = 12 };

typedef struct Trough {
  FloWorld *world;
  double weight; // of the water on the sheet, and of the sheet [N]
  double own;    // of the sheet alone [N]
  int up;
} Trough;

// A box between two heights, all over the trough. Returns its mass.
static double add_water_between(FloWorld *world, const Case *c, double low, double high) {
  const double s = c->spacing, a[3] = {0, c->dim == 2 ? low : 0, low},
               b[3] = {WIDE * s, c->dim == 2 ? high : ACROSS * s, high};
  FloMaterialId water = add_water(world);
  return 1000 * pow(s, c->dim) *
         (double)add_block(world, water, (const double[3]){a[0], a[1], c->dim == 2 ? 0 : a[2]},
                           (const double[3]){b[0], b[1], c->dim == 2 ? 0 : b[2]});
}

// A sheet along x that is pinned at its two ends and sags by about a twentieth of its width.
static double add_sheet(FloWorld *world, const Case *c) {
  const double s = c->spacing, width = WIDE * s, across = ACROSS * s, under = UNDER * s;
  const int up = c->dim - 1;
  FloBodyDef body = flo_default_body_def();
  FloPinDef pins[2] = {{.place = FLO_PIN_BOX}, {.place = FLO_PIN_BOX}};
  body.kind = FLO_BODY_CLOTH;
  // The sheet ends at its pins when it is stretched.
  body.shape = (FloShape){
      .kind = FLO_SHAPE_SHEET, .size = {width / 1.05, c->dim == 3 ? across : 0, 0}, .cell = s / 1.049};
  body.pose = pose_at(width / 2, c->dim == 2 ? under : across / 2, c->dim == 2 ? 0 : under);
  body.cloth.areal_density = c->mass * 1000 * s, body.cloth.damping = 1e-3, body.cloth.prestretch[0] = 1.05;
  body.cloth.stretch = 50 * GRAVITY * (c->deep + c->mass) * 1000 * s * width;
  for (int k = 0; k < 2; ++k)
    for (int axis = 0; axis < 3; ++axis) {
      const double at = axis == 0    ? k * width
                        : axis == up ? under
                                     : 0,
                   reach = axis == 0 ? 0.3 * s : 10 * width;
      pins[k].low[axis] = at - reach, pins[k].high[axis] = at + reach;
    }
  body.pins = pins, body.n_pins = 2;
  add_body(world, &body);
  return c->mass * 1000 * s * width / 1.05 * (c->dim == 3 ? across : 1);
}

static Trough make_trough(const Case *c) {
  FloWorldDef def = small_world_def(c->dim);
  const double s = c->spacing, high = (UNDER + c->deep + 8) * s, above = (UNDER + 0.5) * s;
  def.method = "elastic", def.spacing = s, def.time_step = c->step;
  Trough trough = {create_world(&def), 0, 0, c->dim - 1};
  FloBodyDef tank = flo_default_body_def();
  tank.shape = (FloShape){.kind = FLO_SHAPE_TANK, .up = c->dim - 1, .size = {WIDE * s, high, 0}};
  if (c->dim == 3) tank.shape.size[1] = ACROSS * s, tank.shape.size[2] = high;
  vec_scale(tank.shape.size, 0.5, tank.pose.position);
  tank.averages_force = true;
  add_body(trough.world, &tank);
  trough.own = GRAVITY * add_sheet(trough.world, c);
  double mass = trough.own / GRAVITY + add_water_between(trough.world, c, above, above + c->deep * s);
  if (c->below) add_water_between(trough.world, c, 0, c->below * s);
  trough.weight = GRAVITY * mass;
  return trough;
}

static const FloBody *sheet_of(const Trough *trough) { return &flo_bodies(trough->world)[1]; }

// How far x is above the nearest node of the sheet.
static double height_over(const FloBody *sheet, int up, const double x[3]) {
  double least = INFINITY, height = 0;
  for (size_t k = 0; k < sheet->n_nodes; ++k) {
    const double *node = sheet->nodes[k].position;
    const double apart = hypot(x[0] - node[0], up == 2 ? x[1] - node[1] : 0);
    if (apart < least) least = apart, height = x[up] - node[up];
  }
  return height;
}

static size_t count_below(const Trough *trough) {
  const FloParticles *p = &trough->world->sets[FLO_SET_FLUID];
  size_t n = 0;
  for (size_t i = 0; i < p->count; ++i) {
    const double x[3] = {p->x[i], p->y[i], p->z[i]};
    n += height_over(sheet_of(trough), trough->up, x) < 0;
  }
  return n;
}

static double speed_of(const FloBody *sheet) {
  double square = 0;
  for (size_t k = 0; k < sheet->n_nodes; ++k)
    square += vec_dot(sheet->nodes[k].velocity, sheet->nodes[k].velocity);
  return sqrt(square / (double)sheet->n_nodes);
}

// Means over a while.
typedef struct Rest {
  double load;  // that the supports bear, of the weight
  double walls; // that the tank bears of it
  double speed; // of the sheet [m/s]
  double iterations, steps;
} Rest;

static Rest rest_until(const Trough *trough, double end) {
  Rest rest = {0};
  FloStepInfo info;
  FloError error;
  const double start = flo_world_time(trough->world);
  flo_world_restart_averages(trough->world);
  while (flo_world_time(trough->world) < end) {
    assert_ok(flo_world_step(trough->world, &info, &error), &error);
    rest.speed += info.dt * speed_of(sheet_of(trough));
    rest.iterations += info.iterations, rest.steps += 1;
  }
  const double time = flo_world_time(trough->world) - start;
  rest.speed /= time;
  rest.iterations /= rest.steps;
  FloBodyState tank, sheet;
  assert_ok(flo_world_body_state(trough->world, (FloBodyId){1, 1}, &sheet, &error), &error);
  rest.load = (trough->own - sheet.mean_force[trough->up]) / trough->weight;
  assert_ok(flo_world_body_state(trough->world, (FloBodyId){0, 1}, &tank, &error), &error);
  rest.walls = -tank.mean_force[trough->up] / trough->weight;
  return rest;
}

static void check_trough(const Case *c) {
  Trough trough = make_trough(c);
  const size_t below = count_below(&trough);
  const double unit = fmax(1, sqrt(c->spacing / 0.01)); // larger troughs swing for longer [s]
  const Rest early = rest_until(&trough, 0.5 * unit);
  rest_until(&trough, 1.5 * unit);
  const Rest late = rest_until(&trough, 2 * unit);
  const size_t leaked = count_below(&trough) - below;
  print_message(
      "%dD, %2g mm, %2d deep, sheet of %g layers, %s below, step %.2f ms: %zu leaked, sheet %.2f -> "
      "%.2f mm/s, supports bear %.4f of the weight, walls %.4f, %.1f iterations\n",
      c->dim, 1e3 * c->spacing, c->deep, c->mass, c->below ? "water" : "air", 500 * unit / late.steps, leaked,
      1e3 * early.speed, 1e3 * late.speed, late.load, late.walls, late.iterations);
  flo_world_destroy(trough.world);
  assert_int_equal(leaked, 0);
  // With short steps the water swings on the sheet for longer: implicit steps damp less.
  assert_true(late.speed < 0.6 * early.speed);
  if (c->below) return;
  // Water in the corners also presses on the walls; in the narrow trough in space these have a larger share.
  assert_true(fabs(late.load - 1) < (c->dim == 2 ? 0.01 : 0.02));
  assert_true(fabs(late.load + late.walls - 1) < 0.01);
}

// The supports bear the weight of the water, whatever the mass of the sheet and the step.
static void sheets_hold_water_at_any_step(void **state) {
  (void)state;
  static const double masses[] = {0.2, 1, 5}, steps[] = {0, 1e-3, 2e-3, 4e-3};
  for (int k = 0; k < 12; ++k) check_trough(&(Case){2, 0.01, 10, masses[k % 3], steps[k / 3], 0});
}

static void sheets_hold_water_of_any_depth_and_size(void **state) {
  (void)state;
  check_trough(&(Case){2, 0.02, 20, 0.2, 0, 0});
  check_trough(&(Case){2, 0.005, 5, 0.2, 0, 0});
  check_trough(&(Case){2, 0.05, 10, 0.05, 0, 0});
}

static void sheets_hold_water_in_space(void **state) {
  (void)state;
  check_trough(&(Case){3, 0.02, 8, 0.2, 0, 0});
  check_trough(&(Case){3, 0.02, 8, 1, 4e-3, 0});
}

// Water below as well: nothing passes either way.
static void sheets_part_water_from_water(void **state) {
  (void)state;
  check_trough(&(Case){2, 0.01, 10, 0.2, 0, 10});
  check_trough(&(Case){2, 0.02, 10, 1, 2e-3, 10});
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sheets_hold_water_at_any_step),
                                     cmocka_unit_test(sheets_hold_water_of_any_depth_and_size),
                                     cmocka_unit_test(sheets_hold_water_in_space),
                                     cmocka_unit_test(sheets_part_water_from_water)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
