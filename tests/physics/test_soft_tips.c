// Edges and corners of rigid bodies rest on cloth whose triangles are larger than these bodies: they do not
// poke through it between its nodes, its pins carry them, and they come to rest.
#include "geometry/bvh.h"
#include "support/soft_worlds.h"

static FloWorld *make_world(int dim, double s) {
  FloWorldDef def = small_world_def(dim);
  def.method = "monolithic", def.spacing = s;
  return create_world(&def);
}

// ---- Bodies with corners ----

typedef enum Form { CUBE, ON_EDGE, ROD, TETRAHEDRON, N_FORMS } Form;
static const char *const form_names[] = {"cube", "cube on its edge", "rod", "tetrahedron"};

static const double corners[] = {1, 1, -1, -1, -1, -1, 1, -1, 1, -1, 1, 1};
static const uint32_t sides[] = {0, 2, 1, 0, 3, 2, 0, 1, 3, 1, 2, 3};

// Its largest extent is about a.
static void give_shape(int dim, Form form, double a, double s, FloBodyDef *def) {
  static FloTriangles mesh;
  static double scaled[12];
  for (int k = 0; k < 12; ++k) scaled[k] = a / 2.5 * corners[k];
  mesh = (FloTriangles){.vertices = scaled, .n_vertices = 4, .triangles = sides, .n_triangles = 4};
  def->shape = box_shape(a, a, dim == 3 ? a : 0);
  if (form == ROD) def->shape = dim == 2 ? box_shape(a, 2 * s, 0) : box_shape(a, 2 * s, 2 * s);
  if (form == TETRAHEDRON) def->shape = (FloShape){.kind = FLO_SHAPE_MESH, .mesh = &mesh};
  if (form == ON_EDGE && dim == 2) quat_from_axis_angle((const double[3]){0, 0, 1}, 0.7, def->pose.rotation);
  if (form == ON_EDGE && dim == 3) quat_from_axis_angle((const double[3]){1, 0, 0}, 0.7, def->pose.rotation);
}

// How far any tip of the body has passed the sheet at most [m]. The sheet is a graph over the ground.
static double deepest_tip(const FloWorld *world, const FloBody *body, const FloBody *cloth) {
  const FloParticles *samples = &world->sets[FLO_SET_RIGID];
  const FloMesh *mesh = flo_soft_body_faces(cloth);
  const int up = world->def.dim - 1;
  double deepest = 0;
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    double tip[3], x[3] = {samples->x[i], samples->y[i], samples->z[i]}, square = INFINITY, way[3] = {0};
    if (!flo_sample_tip(samples, i, tip)) continue;
    quat_rotate(body->state.pose.rotation, tip, tip);
    vec_add(x, tip, x);
    for (size_t k = 0; k < mesh->n_triangles; ++k) {
      double weights[3];
      const double here = flo_triangle_nearest(mesh, (uint32_t)k, x, square, weights);
      if (!(here < square)) continue;
      square = here;
      vec_copy(x, way);
      for (int c = 0; c < 3; ++c) vec_add_scaled(way, flo_mesh_corner(mesh, k, c), -weights[c], way);
    }
    const double height = way[up] > 0 ? vec_length(way) : -vec_length(way);
    deepest = fmax(deepest, flo_soft_body(cloth)->half_thickness - height);
  }
  return deepest;
}

// ---- On a coarse sheet ----

// A sheet held at its border, of triangles `coarse` times as long as the body, which falls on it.
static FloWorld *make_drop(int dim, double s, Form form, double coarse, double density) {
  FloWorld *world = make_world(dim, s);
  FloBodyDef cloth = flo_default_body_def(), def = flo_default_body_def();
  const FloPinDef pins = {.place = FLO_PIN_BORDER};
  const double a = 5 * s, cell = coarse * a, n_cells = coarse > 2 ? 3 : 5;
  cloth.kind = FLO_BODY_CLOTH, cloth.name = "cloth", cloth.friction = 0.5, cloth.pins = &pins,
  cloth.n_pins = 1;
  cloth.shape =
      (FloShape){.kind = FLO_SHAPE_SHEET, .size = {n_cells * cell, n_cells * cell, 0}, .cell = cell};
  cloth.cloth = (FloClothDef){
      .areal_density = 0.5, .thickness = 0.1 * s, .stretch = 5000, .bend = 1e-4, .damping = 0.05};
  add_body(world, &cloth);
  def.kind = FLO_BODY_DYNAMIC, def.name = "body", def.density = density, def.friction = 0.5;
  give_shape(dim, form, a, s, &def);
  def.pose.position[0] = 0.3 * a, def.pose.position[dim - 1] = 1.2 * a;
  if (dim == 3) def.pose.position[1] = 0.2 * a;
  add_body(world, &def);
  return world;
}

static double lift_of_pins(const FloBody *cloth, int axis) {
  const FloSoftBody *own = flo_soft_body(cloth);
  double lift = 0;
  for (size_t k = 0; k < own->n_pins; ++k) lift += own->pins[k].load[axis];
  return lift;
}

// Pins carry the free nodes and the body.
static double weight_of(const FloBody *cloth, const FloBody *body) {
  const FloSoftBody *own = flo_soft_body(cloth);
  double mass = body->nodes->mass;
  for (size_t k = 0; k < own->n; ++k) mass += own->nodes[k].mass;
  return 9.81 * mass;
}

static void sheet_carries(int dim, double s, Form form, double coarse, double density) {
  FloWorld *world = make_drop(dim, s, form, coarse, density);
  const FloBody *cloth = body_of(world, "cloth"), *body = body_of(world, "body");
  double deepest = 0, lift = 0, fastest = 0;
  while (flo_world_time(world) < (dim == 2 ? 5 : 1.5)) {
    advance(world, flo_world_time(world) + 0.02);
    deepest = fmax(deepest, deepest_tip(world, body, cloth));
  }
  for (int k = 1; k <= 20; ++k) {
    advance(world, flo_world_time(world) + 0.01);
    lift += lift_of_pins(cloth, dim - 1) / 20;
    fastest = fmax(fastest, vec_length(body->state.velocity));
  }
  lift /= weight_of(cloth, body);
  print_message("%dD, spacing %g, %s of %g kg/m3, triangles %g times as long: tips %.4f spacings deep, pins "
                "carry %.5f of the weight, %.2g m/s\n",
                dim, s, form_names[form], density, coarse, deepest / s, lift, fastest);
  assert_true(deepest < 0.1 * s);
  assert_close(lift, 1, 0.01);
  assert_true(fastest < 1e-3);
  flo_world_destroy(world);
}

static void test_coarse_sheet_carries(void **state) {
  (void)state;
  for (int coarse = 1; coarse <= 4; coarse *= 2) {
    for (int form = 0; form < TETRAHEDRON; ++form) sheet_carries(2, 0.02, (Form)form, coarse, 800);
    for (int form = 0; form < N_FORMS; ++form) sheet_carries(3, 0.02, (Form)form, coarse, 800);
  }
  sheet_carries(2, 0.01, CUBE, 4, 3000);
  sheet_carries(3, 0.01, CUBE, 4, 3000);
}

// ---- Momentum ----

// A cube meets a free sheet of large triangles with a corner, without gravity.
static void keeps_momentum(int dim, double coarse) {
  FloWorldDef def = small_world_def(dim);
  FloBodyDef cloth = flo_default_body_def(), cube = flo_default_body_def();
  const double s = 0.02, a = 5 * s;
  def.method = "monolithic", def.spacing = s;
  vec_set(def.gravity, 0, 0, 0);
  FloWorld *world = create_world(&def);
  cloth.kind = FLO_BODY_CLOTH, cloth.name = "cloth", cloth.friction = 0.5;
  cloth.shape = (FloShape){.kind = FLO_SHAPE_SHEET, .size = {3 * coarse * a, 3 * coarse * a, 0}};
  cloth.shape.cell = coarse * a;
  cloth.cloth = (FloClothDef){.areal_density = 2, .thickness = 0.1 * s, .stretch = 1000, .bend = 1e-3};
  add_body(world, &cloth);
  cube.kind = FLO_BODY_DYNAMIC, cube.name = "body", cube.density = 500, cube.friction = 0.5;
  give_shape(dim, ON_EDGE, a, s, &cube);
  cube.pose.position[dim - 1] = 0.85 * a, cube.velocity[dim - 1] = -1, cube.velocity[0] = 0.3;
  add_body(world, &cube);
  const FloMeasurements start = flo_world_measure(world);
  double most_contacts = 0, off[3], turned[3];
  for (int k = 1; k <= 20; ++k) {
    advance(world, 0.01 * k);
    most_contacts = fmax(most_contacts, (double)world->contacts);
  }
  const FloMeasurements now = flo_world_measure(world);
  vec_sub(now.momentum, start.momentum, off);
  vec_sub(now.angular_momentum, start.angular_momentum, turned);
  print_message(
      "%dD, triangles %g times as long: momentum off by %.2g, angular momentum by %.2g of m v a, up "
      "to %g contacts\n",
      dim, coarse, vec_length(off) / vec_length(start.momentum),
      vec_length(turned) / (a * vec_length(start.momentum)), most_contacts);
  assert_true(most_contacts > 0);
  assert_true(vec_length(off) < 1e-12 * vec_length(start.momentum));
  assert_true(vec_length(turned) < 0.02 * a * vec_length(start.momentum));
  flo_world_destroy(world);
}

static void test_momentum_is_kept(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim)
    for (int coarse = 1; coarse <= 4; coarse *= 4) keeps_momentum(dim, coarse);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_coarse_sheet_carries),
      cmocka_unit_test(test_momentum_is_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
