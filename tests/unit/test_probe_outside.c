// The probe that counts fluid outside of a soft body: cubes and squares that hold a known part of a lattice.
#include "io/probes.h"
#include "support/check.h"

enum { SIDE = 10 }; // particles along an edge of the fluid, which fills 0 to 1

static FloWorld *make_world(int dim) {
  FloWorldDef def = flo_default_world_def();
  FloMaterialDef water = flo_default_material_def();
  FloFluidDef block = flo_default_fluid_def();
  FloWorld *world;
  FloError error;
  size_t n;
  def.dim = dim, def.spacing = 1.0 / SIDE, def.threads = 1, def.gravity[2] = 0;
  block.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {1, 1, dim == 3 ? 1 : 0}};
  for (int axis = 0; axis < dim; axis++) block.pose.position[axis] = 0.5;
  assert_ok(flo_world_create(&def, &world, &error), &error);
  assert_ok(flo_world_add_material(world, &water, &block.material, &error), &error);
  assert_ok(flo_world_add_fluid(world, &block, &n, &error), &error);
  assert_int_equal(n, dim == 3 ? SIDE * SIDE * SIDE : SIDE * SIDE);
  return world;
}

// A box from (low, -1, -1) to (2, 2, 2) holds the layers above `low`. Faces look inwards if it is turned.
static double count_outside(int dim, double low, bool is_turned, bool is_open) {
  static const uint32_t faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                        {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  static const uint32_t sides[4][3] = {{0, 1, 1}, {1, 3, 3}, {3, 2, 2}, {2, 0, 0}};
  float vertices[8][3];
  uint32_t elements[12][3];
  const size_t n = dim == 3 ? 12 : 4;
  for (int v = 0; v < 8; v++) {
    vertices[v][0] = v & 1 ? 2 : (float)low, vertices[v][1] = v & 2 ? 2 : -1;
    vertices[v][2] = dim == 2 ? 0 : v & 4 ? 2 : -1;
  }
  for (size_t k = 0; k < n; k++)
    for (int c = 0; c < 3; c++)
      elements[k][c] = (dim == 3 ? faces[k] : sides[k])[!is_turned ? c : dim == 3 ? 2 - c : c == 0];
  const FloFrameBody body = {.vertices = vertices[0],
                             .triangles = elements[0],
                             .n_vertices = dim == 3 ? 8 : 4,
                             .n_triangles = is_open ? n - (dim == 3 ? 2 : 1) : n};
  FloWorld *world = make_world(dim);
  const double count = flo_probe_outside(world, &body, dim);
  flo_world_destroy(world);
  return count;
}

static void test_closed(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int turned = 0; turned < 2; turned++)
      for (int layers = 0; layers <= SIDE; layers += 5) {
        const double in_layer = dim == 3 ? SIDE * SIDE : SIDE;
        assert_float_equal(count_outside(dim, (double)layers / SIDE, turned, false), layers * in_layer, 0);
      }
}

// Far below the opening, an open vessel holds what a closed one holds.
static void test_open(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    assert_float_equal(count_outside(dim, 0.5, false, true), dim == 3 ? 5 * SIDE * SIDE : 5 * SIDE, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_closed), cmocka_unit_test(test_open)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
