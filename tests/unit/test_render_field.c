// Pictures to measure by: slices have the colours of their values, arrows and traces end where they should,
// parallel rays keep sizes, a lens blurs what is out of focus and nothing else; glass of any shape is edges.
#include "render/camera.h"
#include "render/colour.h"
#include "render/overlay.h"
#include "render/render.h"
#include "render/slice.h"
#include "render/solids.h"
#include "support/check.h"

enum { WIDTH = 200, HEIGHT = 120 }; // too small for a legend: nothing but the scene is drawn

static FloError failure;

static FloPictureInput input_of(int dim, size_t n, const float *positions, float radius) {
  FloPictureInput input = {
      .dim = dim, .up = dim == 2 ? 1 : 2, .n_particles = n, .positions = positions, .radius = radius};
  input.view = (FloPictureView){.is_set = true, .low = {-1, -0.6, -0.6}, .high = {1, 0.6, 0.6}};
  return input;
}

static uint8_t *draw(const FloPictureInput *input, int threads) {
  FloPictureOptions options = {.width = WIDTH, .height = HEIGHT, .samples = 2, .threads = threads};
  uint8_t *rgb;
  assert_ok(flo_render_picture(input, &options, &rgb, &failure), &failure);
  return rgb;
}

static const uint8_t *pixel(const uint8_t *rgb, float x, float y) {
  assert_true(x >= 0 && x < WIDTH && y >= 0 && y < HEIGHT);
  return rgb + 3 * ((size_t)y * WIDTH + (size_t)x);
}

static int difference(const uint8_t *a, const uint8_t *b) {
  return abs(a[0] - b[0]) + abs(a[1] - b[1]) + abs(a[2] - b[2]);
}

static int brightness(const uint8_t *p) { return p[0] + p[1] + p[2]; }

// The lens that pictures of this size have: margins are those of pictures without room for a legend.
static FloLens flat_lens(int flat, int up) {
  const FloMargins margins = {0.04f, 0.04f, 0.04f, 0.04f};
  const FloBounds bounds = {{-1, -0.6f, -0.6f}, {1, 0.6f, 0.6f}};
  return flo_lens_create_flat(flat, up, bounds, margins, WIDTH, HEIGHT);
}

// ---- Slices ----

enum { SIDE = 20, BLOCK = SIDE * SIDE * SIDE };
static float block[BLOCK][3], values[BLOCK];

// A block of 1 m with its middle at the origin; the value of a particle is its x.
static FloPictureInput make_block(void) {
  for (size_t k = 0; k < BLOCK; k++) {
    const size_t index[3] = {k % SIDE, k / SIDE % SIDE, k / SIDE / SIDE};
    for (size_t axis = 0; axis < 3; axis++) block[k][axis] = ((float)index[axis] + 0.5f) / SIDE - 0.5f;
    values[k] = block[k][0];
  }
  FloPictureInput input = input_of(3, BLOCK, block[0], 0.5f / SIDE);
  input.values = values, input.value_label = "pressure [Pa]", input.value_low = -0.5f,
  input.value_high = 0.5f;
  input.view.style.has_slice = true, input.view.style.slice_axis = 2, input.view.style.slice_at = 0.1;
  return input;
}

static void slices_interpolate(void **state) {
  (void)state;
  FloPictureInput input = make_block();
  FloSlice slice;
  float value;
  assert_ok(flo_slice_create(&input, &slice, &failure), &failure);
  for (int k = -7; k <= 7; k++) {
    const float x = 0.05f * (float)k;
    assert_true(flo_slice_value(&slice, v3(x, 0.013f * (float)k, 0.1f), &value));
    assert_close(value, x, 0.002);
  }
  // The fluid ends half a spacing outside its outermost particles.
  assert_true(flo_slice_value(&slice, v3(0.48f, 0, 0.1f), &value));
  assert_false(flo_slice_value(&slice, v3(0.52f, 0, 0.1f), &value));
  assert_false(flo_slice_value(&slice, v3(0, -0.52f, 0.1f), &value));
  assert_false(flo_slice_value(&slice, v3(9, 0, 0.1f), &value));
  flo_slice_destroy(&slice);
  input.view.style.slice_at = 7; // no fluid there
  assert_ok(flo_slice_create(&input, &slice, &failure), &failure);
  assert_false(flo_slice_value(&slice, v3(0, 0, 7), &value));
  flo_slice_destroy(&slice);
  values[3] = NAN, block[5][1] = INFINITY; // as after a divergence
  input.view.style.slice_at = -0.47;
  assert_ok(flo_slice_create(&input, &slice, &failure), &failure);
  assert_true(flo_slice_value(&slice, v3(-0.3f, -0.4f, -0.47f), &value) && isfinite(value));
  flo_slice_destroy(&slice);
}

// From any side a point of the plane has the colour that the legend gives its value.
// A particle that was thrown far away, within the plane, changes nothing where the picture looks.
static void slices_ignore_what_is_far(void **state) {
  (void)state;
  FloPictureInput input = make_block();
  FloSlice whole, slice;
  float expected, value;
  assert_ok(flo_slice_create(&input, &whole, &failure), &failure);
  static const float far[] = {400, -400, 1e30f, -3e38f, INFINITY};
  static const size_t thrown = BLOCK - 1; // not near the plane before
  for (size_t k = 0; k < sizeof far / sizeof *far; k++) {
    block[thrown][0] = far[k], block[thrown][1] = 0, block[thrown][2] = 0.1f;
    assert_ok(flo_slice_create(&input, &slice, &failure), &failure);
    assert_true(slice.cell == whole.cell && slice.n[0] == whole.n[0] && slice.n[1] == whole.n[1]);
    for (float x = -0.49f; x < 0.5f; x += 0.07f) {
      assert_true(flo_slice_value(&whole, v3(x, 0.2f, 0.1f), &expected));
      assert_true(flo_slice_value(&slice, v3(x, 0.2f, 0.1f), &value) && value == expected);
    }
    flo_slice_destroy(&slice);
  }
  flo_slice_destroy(&whole);
}

// Cells are at most half as wide as kernels reach; what would need more of them than fit is refused.
static void slices_are_never_coarse(void **state) {
  (void)state;
  FloPictureInput input = make_block();
  FloSlice slice;
  input.view.is_set = false;
  block[BLOCK - 1][0] = 400, block[BLOCK - 1][1] = 0, block[BLOCK - 1][2] = 0.1f;
  assert_ok(flo_slice_create(&input, &slice, &failure), &failure);
  assert_true(slice.cell <= 2 * input.radius);
  float value;
  assert_true(flo_slice_value(&slice, v3(0.2f, 0, 0.1f), &value));
  assert_close((double)value, 0.2, 0.01);
  flo_slice_destroy(&slice);
  block[BLOCK - 1][0] = 1e30f;
  assert_refused(flo_slice_create(&input, &slice, &failure), &failure, "smaller view");
  flo_slice_destroy(&slice);
}

static void slices_have_the_legend_colours(void **state) {
  (void)state;
  FloPictureInput input = make_block();
  for (int flat = -3; flat <= 3; flat += 6) {
    input.view.style.flat = flat;
    const FloLens lens = flat_lens(flat, 2);
    uint8_t *rgb = draw(&input, 0);
    for (int k = -4; k <= 4; k++) {
      const float at = 0.1f * (float)k;
      float x, y, depth;
      flo_lens_project(&lens, v3(at, -0.5f * at, 0.1f), &x, &y, &depth);
      const FloRgb8 expected = flo_rgb8_from_linear(flo_colour_map(FLO_MAP_FIELD, at + 0.5f));
      const uint8_t *got = pixel(rgb, x, y);
      assert_in_range(abs(got[0] - expected.r) + abs(got[1] - expected.g) + abs(got[2] - expected.b), 0, 14);
    }
    // Beside the fluid there is the page.
    assert_true(difference(pixel(rgb, 12, 60), pixel(rgb, 188, 60)) < 6);
    assert_true(brightness(pixel(rgb, 12, 60)) > 600);
    free(rgb);
  }
}

// ---- Parallel rays ----

static void flat_views_keep_sizes(void **state) {
  (void)state;
  // Two balls, one far behind the other: as large as each other, side by side.
  static const float balls[2][3] = {{-0.5f, -0.5f, 0}, {0.5f, 0.5f, 0}};
  FloPictureInput input = input_of(3, 2, balls[0], 0.2f);
  input.view.style.flat = -2; // along y
  const FloLens lens = flat_lens(-2, 2);
  uint8_t *with = draw(&input, 0);
  input.n_particles = 0;
  uint8_t *without = draw(&input, 0);
  size_t n_left = 0, n_right = 0;
  for (size_t y = 0; y < HEIGHT; y++)
    for (size_t x = 0; x < WIDTH; x++)
      if (difference(with + 3 * (y * WIDTH + x), without + 3 * (y * WIDTH + x)) > 20)
        *(x < WIDTH / 2 ? &n_left : &n_right) += 1;
  const double per_pixel = 2 * (double)lens.half_width / WIDTH,
               disc = FLO_PI * 0.04 / (per_pixel * per_pixel);
  assert_close(n_left, disc, 0.06 * disc);
  assert_close(n_right, disc, 0.06 * disc);
  float x, y, depth;
  flo_lens_project(&lens, v3(-0.5f, -0.5f, 0), &x, &y, &depth);
  assert_true(x < WIDTH / 2 && difference(pixel(with, x, y), pixel(without, x, y)) > 60);
  free(with);
  free(without);
  // What is up stays up, and x runs to the right seen along y; from above y is up.
  assert_true(lens.up.z > 0.99f && lens.right.x > 0.99f);
  assert_true(flat_lens(3, 2).up.y > 0.99f && flat_lens(3, 2).right.x > 0.99f);
  assert_true(flat_lens(2, 2).right.x < -0.99f && flat_lens(1, 1).up.y > 0.99f);
}

// ---- Arrows ----

static void arrows_end_where_the_fluid_goes(void **state) {
  (void)state;
  static const float place[3] = {-0.4f, 0.1f, 0}, motion[3] = {2, 0, 0};
  FloPictureInput input = input_of(3, 1, place, 0.02f);
  input.view.style.flat = 3;
  input.velocities = motion;
  const FloLens lens = flat_lens(3, 2);
  uint8_t *plain = draw(&input, 0);
  input.arrow_seconds = 0.25f;
  uint8_t *marked = draw(&input, 0);
  for (int k = 1; k <= 9; k++) {
    float x, y, depth;
    flo_lens_project(&lens, v3(-0.4f + 0.05f * (float)k, 0.1f, 0), &x, &y, &depth);
    assert_true(brightness(pixel(marked, x, y)) < 300);
    assert_int_equal(difference(pixel(marked, x, y + 14), pixel(plain, x, y + 14)), 0);
  }
  float x, y, depth;
  flo_lens_project(&lens, v3(0.1f, 0.1f, 0), &x, &y, &depth);
  assert_true(brightness(pixel(marked, x - 0.5f, y)) < 400); // the tip
  assert_int_equal(difference(pixel(marked, x + 4, y), pixel(plain, x + 4, y)), 0);
  free(plain);
  free(marked);
}

// The longest row of dark pixels in the upper right corner.
static int longest_stroke(const uint8_t *rgb, int width, int height) {
  int longest = 0;
  for (int y = 0; y < height / 8; y++)
    for (int x = width / 2, run = 0; x < width; x++) {
      run = brightness(rgb + 3 * ((size_t)y * (size_t)width + (size_t)x)) < 300 ? run + 1 : 0;
      longest = run > longest ? run : longest;
    }
  return longest;
}

// Twice the time makes arrows twice as long: the scale shows a speed of 1, 2 or 5 times a power of ten by an
// arrow that is as long as one of the fluid's of that speed.
static void arrows_have_a_scale(void **state) {
  (void)state;
  enum { wide = 640, high = 360 };
  static const float place[3] = {-0.4f, 0.1f, 0}, motion[3] = {1, 0, 0};
  const FloPictureOptions options = {.width = wide, .height = high, .samples = 1};
  const FloBounds bounds = {{-1, -0.6f, -0.6f}, {1, 0.6f, 0.6f}};
  FloPictureInput input = input_of(3, 1, place, 0.02f);
  FloCloud cloud;
  assert_ok(flo_cloud_create(&input, &cloud, &failure), &failure);
  input.view.style.flat = 3, input.velocities = motion;
  const FloLens lens =
      flo_lens_create_flat(3, 2, bounds, flo_overlay_margins(&input, &cloud, wide, high), wide, high);
  const double metre = wide / (2 * (double)lens.half_width); // in pixels
  const struct {
    float seconds;
    double speed;
  } cases[] = {{0, 0}, {0.09f, 2}, {0.18f, 1}, {0.9f, 0.2}};
  for (size_t k = 0; k < FLO_COUNT_OF(cases); k++) {
    uint8_t *rgb;
    input.arrow_seconds = cases[k].seconds;
    assert_ok(flo_render_picture(&input, &options, &rgb, &failure), &failure);
    assert_close(longest_stroke(rgb, wide, high), cases[k].speed * (double)cases[k].seconds * metre, 2.5);
    free(rgb);
  }
  flo_cloud_destroy(&cloud);
}

// Fluid behind a body has none.
static void bodies_hide_arrows(void **state) {
  (void)state;
  static const float place[3] = {0, 0, -0.3f}, motion[3] = {0.2f, 0, 0};
  FloSceneBody box = {.def = {.shape = {.kind = FLO_SHAPE_BOX, .size = {0.5, 0.5, 0.2}}}};
  box.def.pose = flo_pose_identity();
  for (int flat = -3; flat <= 3; flat += 6) {
    FloPictureInput input = input_of(3, 1, place, 0.02f);
    input.bodies = &box, input.n_bodies = 1;
    input.view.style.flat = flat;
    uint8_t *plain = draw(&input, 0);
    input.velocities = motion, input.arrow_seconds = 1;
    uint8_t *marked = draw(&input, 0);
    assert_int_equal(memcmp(plain, marked, 3 * WIDTH * HEIGHT) == 0, flat == 3); // from above it is hidden
    free(plain);
    free(marked);
  }
}

// ---- Traces ----

static void traces_pass_through_their_points(void **state) {
  (void)state;
  static const float points[4][3] = {{-0.8f, -0.4f, 0}, {-0.8f, 0.4f, 0}, {0.6f, 0.4f, 0}, {NAN, 0, 0}};
  FloSceneBody ball = {.look = "red", .def = {.shape = {.kind = FLO_SHAPE_SPHERE, .radius = 0.05}}};
  ball.def.pose = flo_pose_identity();
  FloPictureInput input = input_of(3, 0, NULL, 0.02f);
  input.bodies = &ball, input.n_bodies = 1, input.view.style.flat = 3;
  const FloLens lens = flat_lens(3, 2);
  uint8_t *plain = draw(&input, 0);
  const FloTrace trace = {0, points[0], 4};
  input.traces = &trace, input.n_traces = 1;
  uint8_t *marked = draw(&input, 0);
  static const float on[3][2] = {{-0.8f, 0}, {-0.1f, 0.4f}, {0.5f, 0.4f}},
                     off[2][2] = {{0.3f, -0.3f}, {0.8f, 0.4f}};
  for (size_t k = 0; k < 3; k++) {
    float x, y, depth;
    flo_lens_project(&lens, v3(on[k][0], on[k][1], 0), &x, &y, &depth);
    const uint8_t *p = pixel(marked, x, y);
    assert_true(p[0] > p[1] + 40 && p[0] > p[2] + 40); // dark red
  }
  for (size_t k = 0; k < 2; k++) {
    float x, y, depth;
    flo_lens_project(&lens, v3(off[k][0], off[k][1], 0), &x, &y, &depth);
    assert_int_equal(difference(pixel(marked, x, y), pixel(plain, x, y)), 0);
  }
  free(plain);
  free(marked);
}

// ---- Depth of field ----

// A dark plate that fills the left half of the picture, at a distance of 2 m from the eye.
static FloPictureInput make_edge(FloSceneBody *plate) {
  *plate = (FloSceneBody){.look = "rubber", .def = {.shape = {.kind = FLO_SHAPE_BOX, .size = {4, 0.01, 8}}}};
  plate->def.pose = flo_pose_identity();
  plate->def.pose.position[0] = -2;
  FloPictureInput input = input_of(3, 0, NULL, 0.02f);
  input.bodies = plate, input.n_bodies = 1;
  input.camera = (FloCamera){.is_set = true, .from = {0, -2, 0}, .field_of_view = 40};
  input.view.style.look = FLO_LOOK_WATER, input.view.style.quality = FLO_QUALITY_GOOD;
  input.view.style.keeps_noise = true;
  return input;
}

// How many pixels of a row, on the average of many rows, lie between dark and light.
static double edge_pixels(const uint8_t *rgb) {
  size_t n = 0;
  const int dark = brightness(pixel(rgb, 20, 60)), light = brightness(pixel(rgb, 180, 60));
  assert_true(light > dark + 150);
  for (size_t y = 30; y < 90; y++)
    for (size_t x = 30; x < 170; x++) {
      const int b = brightness(rgb + 3 * (y * WIDTH + x));
      if (b > dark + (light - dark) / 5 && b < light - (light - dark) / 5) n++;
    }
  return (double)n / 60;
}

// The edge of the plate is spread over aperture * |1 - distance / focus| at the plate; of a round lens three
// fifths of the light change within a little less than half of that.
static void lenses_blur_by_distance(void **state) {
  (void)state;
  FloSceneBody plate;
  FloPictureInput input = make_edge(&plate);
  const double per_pixel = 2 * 2 * tan(20 * FLO_PI / 180) * (16.0 / 9) / WIDTH;
  uint8_t *sharp = draw(&input, 0);
  assert_true(edge_pixels(sharp) < 2.5);
  input.view.style.aperture = 0.4, input.view.style.focus = 2;
  uint8_t *focused = draw(&input, 0);
  assert_true(edge_pixels(focused) < 2.5);
  input.view.style.focus = 1;
  uint8_t *blurred = draw(&input, 0);
  const double spread = 0.4 * fabs(1 - 2.0 / 1) / per_pixel;
  assert_true(spread > 15);
  assert_close(edge_pixels(blurred), 0.5 * spread, 0.15 * spread);
  // The same for any number of threads, and every time.
  uint8_t *again = draw(&input, 3);
  assert_memory_equal(blurred, again, 3 * WIDTH * HEIGHT);
  free(sharp);
  free(focused);
  free(blurred);
  free(again);
}

static void bad_styles_are_refused(void **state) {
  (void)state;
  FloPictureOptions options = {.width = 32, .height = 32, .samples = 1};
  FloPictureInput input = input_of(3, 0, NULL, 0.1f);
  uint8_t *rgb;
  input.view.style.flat = 4;
  assert_refused(flo_render_picture(&input, &options, &rgb, &failure), &failure, "flat view");
  input.view.style.flat = 0, input.view.style.has_slice = true, input.view.style.slice_at = (double)NAN;
  assert_refused(flo_render_picture(&input, &options, &rgb, &failure), &failure, "slice");
  input.view.style.has_slice = false, input.view.style.aperture = -1;
  assert_refused(flo_render_picture(&input, &options, &rgb, &failure), &failure, "aperture");
}

// ---- Glass ----

static FloSolids solids_of(FloShape shape, const char *look) {
  FloSceneBody body = {.def = {.shape = shape}};
  FloSolids solids;
  snprintf(body.look, sizeof body.look, "%s", look);
  body.def.pose = flo_pose_identity();
  assert_ok(flo_solids_create(&body, NULL, 1, 3, 0.05f, NULL, &solids, &failure), &failure);
  return solids;
}

// A channel given by its outline, 1 m deep: twelve sides, each with three edges, and none of them filled in.
static void outlines_of_glass_are_edges(void **state) {
  (void)state;
  static const double trough[16] = {0, 0, 2, 0, 2, 1, 1.9, 1, 1.9, 0.1, 0.1, 0.1, 0.1, 1, 0, 1};
  const FloShape shape = {.kind = FLO_SHAPE_OUTLINE, .points = trough, .n_points = 8, .size = {1}};
  FloSolids full = solids_of(shape, ""), glass = solids_of(shape, "glass");
  assert_true(full.n_triangles > 20 && full.n_edges == 0);
  assert_int_equal(glass.n_triangles, 0);
  assert_int_equal(glass.n_edges, 3 * 8);
  double length = 0;
  for (size_t k = 0; k < glass.n_edges; k++)
    length += (double)v3_length(v3_sub(glass.edges[k].a, glass.edges[k].b));
  assert_close(length, 2 * (2 + 1 + 0.1 + 0.9 + 1.8 + 0.9 + 0.1 + 1) + 8 * 1, 1e-5);
  flo_solids_destroy(&full);
  flo_solids_destroy(&glass);
}

// A ring has no edges: sections across it are drawn, of which the one in its plane has two circles.
static void round_glass_is_drawn_by_sections(void **state) {
  (void)state;
  const double r = 0.5, tube = 0.1;
  FloSolids ring = solids_of((FloShape){.kind = FLO_SHAPE_TORUS, .radius = r, .radius2 = tube}, "glass");
  double length = 0;
  for (size_t k = 0; k < ring.n_edges; k++)
    length += (double)v3_length(v3_sub(ring.edges[k].a, ring.edges[k].b));
  assert_int_equal(ring.n_triangles, 0);
  // Two circles around, and two pairs of circles across the tube.
  assert_close(length, 2 * FLO_PI * (2 * r + 4 * tube), 0.03 * length);
  flo_solids_destroy(&ring);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slices_interpolate),
      cmocka_unit_test(slices_ignore_what_is_far),
      cmocka_unit_test(slices_are_never_coarse),
      cmocka_unit_test(slices_have_the_legend_colours),
      cmocka_unit_test(flat_views_keep_sizes),
      cmocka_unit_test(arrows_end_where_the_fluid_goes),
      cmocka_unit_test(arrows_have_a_scale),
      cmocka_unit_test(bodies_hide_arrows),
      cmocka_unit_test(traces_pass_through_their_points),
      cmocka_unit_test(lenses_blur_by_distance),
      cmocka_unit_test(bad_styles_are_refused),
      cmocka_unit_test(outlines_of_glass_are_edges),
      cmocka_unit_test(round_glass_is_drawn_by_sections),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
