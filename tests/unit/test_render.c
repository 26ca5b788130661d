// Pictures and plots: what they show, that they never depend on the number of threads, and how they fail.
#include "render/render.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <png.h>

#include "base/core.h"
#include "render/font.h"
#include "render/overlay.h"
#include "render/plot.h"
#include "render/stage.h"
#include "render/ticks.h"

// ---- Scenes to draw ----

typedef struct Cloud {
  size_t n;
  float *positions, *values;
} Cloud;

// A square lattice of n^dim particles in the unit cube: seen from anywhere, many lie equally near.
static Cloud lattice(int n, int dim) {
  const int layers = dim == 2 ? 1 : n;
  Cloud cloud = {.n = (size_t)(n * n * layers)};
  cloud.positions = malloc(cloud.n * 3 * sizeof(float));
  cloud.values = malloc(cloud.n * sizeof(float));
  for (size_t i = 0; i < cloud.n; i++) {
    int index[3] = {(int)i % n, (int)i / n % n, (int)i / (n * n)};
    for (int axis = 0; axis < 3; axis++)
      cloud.positions[3 * i + (size_t)axis] = axis < dim ? ((float)index[axis] + 0.5f) / (float)n : 0;
    cloud.values[i] = cloud.positions[3 * i];
  }
  return cloud;
}

static void release(Cloud *cloud) {
  free(cloud->positions);
  free(cloud->values);
}

static FloSceneBody make_body(FloShapeKind kind, double size, double x, double y, double z) {
  FloSceneBody body = {.def.kind = FLO_BODY_STATIC};
  body.def.shape = (FloShape){
      .kind = kind, .size = {size, size, size}, .radius = kind == FLO_SHAPE_BOX ? 0 : 0.5 * size, .up = 2};
  body.def.pose = (FloPose){{x, y, z}, {0, 0, 0, 1}};
  return body;
}

static FloPictureInput input_of(const Cloud *cloud, int dim, float radius) {
  return (FloPictureInput){.dim = dim,
                           .up = dim == 2 ? 1 : 2,
                           .n_particles = cloud->n,
                           .positions = cloud->positions,
                           .values = cloud->values,
                           .radius = radius,
                           .value_label = "speed [m/s]",
                           .caption = "A test  t = 0.1 s"};
}

static FloPictureOptions options_of(int width, int height, int samples, int threads) {
  return (FloPictureOptions){.width = width, .height = height, .samples = samples, .threads = threads};
}

static uint8_t *draw(const FloPictureInput *input, FloPictureOptions options) {
  FloError error = {.text = ""};
  uint8_t *rgb = NULL;
  FloStatus status = flo_render_picture(input, &options, &rgb, &error);
  if (status != FLO_OK) print_error("%s\n", error.text);
  assert_int_equal(status, FLO_OK);
  return rgb;
}

static bool is_near(const uint8_t *pixel, FloRgb8 colour, int tolerance) {
  return abs(pixel[0] - colour.r) <= tolerance && abs(pixel[1] - colour.g) <= tolerance &&
         abs(pixel[2] - colour.b) <= tolerance;
}

static size_t count_near(const uint8_t *rgb, size_t n_pixels, FloRgb8 colour, int tolerance) {
  size_t count = 0;
  for (size_t i = 0; i < n_pixels; i++) count += is_near(rgb + 3 * i, colour, tolerance);
  return count;
}

// ---- Pictures ----

static void pixels_do_not_depend_on_threads(void **state) {
  (void)state;
  Cloud cloud = lattice(24, 3);
  FloSceneBody bodies[] = {
      make_body(FLO_SHAPE_TANK, 1.5, 0.75, 0.75, 0.75), make_body(FLO_SHAPE_CYLINDER, 0.3, 1.2, 0.3, 0.2),
      make_body(FLO_SHAPE_SPHERE, 0.3, 1.2, 0.7, 0.2), make_body(FLO_SHAPE_BOX, 0.3, 1.2, 1.2, 0.2)};
  FloPictureInput input = input_of(&cloud, 3, 0.5f / 24);
  input.bodies = bodies, input.n_bodies = FLO_COUNT_OF(bodies);
  uint8_t *one = draw(&input, options_of(320, 180, 2, 1));
  for (int threads = 2; threads <= 5; threads++) {
    uint8_t *many = draw(&input, options_of(320, 180, 2, threads));
    assert_memory_equal(one, many, 320 * 180 * 3);
    free(many);
  }
  free(one);
  release(&cloud);
}

static void nothing_to_draw_is_a_picture(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; dim++) {
    FloPictureInput input = {.dim = dim, .up = 1};
    free(draw(&input, options_of(64, 48, 2, 0)));
    free(draw(&input, options_of(1, 1, 1, 0)));
    Cloud cloud = {0};
    input = input_of(&cloud, dim, 0);
    free(draw(&input, options_of(640, 360, 1, 0)));
  }
}

static void unusable_positions_are_left_out(void **state) {
  (void)state;
  Cloud cloud = lattice(8, 3);
  FloPictureInput input = input_of(&cloud, 3, 0.5f / 8);
  uint8_t *clean = draw(&input, options_of(160, 120, 1, 0));

  Cloud dirty = {.n = cloud.n + 3};
  dirty.positions = malloc(dirty.n * 3 * sizeof(float));
  dirty.values = malloc(dirty.n * sizeof(float));
  memcpy(dirty.positions, cloud.positions, cloud.n * 3 * sizeof(float));
  memcpy(dirty.values, cloud.values, cloud.n * sizeof(float));
  const float bad[3] = {NAN, INFINITY, -3e38f};
  for (size_t k = 0; k < 3; k++) {
    for (size_t axis = 0; axis < 3; axis++)
      dirty.positions[3 * (cloud.n + k) + axis] = axis == k ? bad[k] : 0.5f;
    dirty.values[cloud.n + k] = 0.5f;
  }
  FloPictureInput dirty_input = input_of(&dirty, 3, 0.5f / 8);
  uint8_t *same = draw(&dirty_input, options_of(160, 120, 1, 0));
  assert_memory_equal(clean, same, 160 * 120 * 3);
  free(clean), free(same);
  release(&cloud), release(&dirty);
}

static void particle_without_value_shows_the_warning_colour(void **state) {
  (void)state;
  float position[3] = {0, 0, 0}, value = NAN;
  Cloud cloud = {1, position, &value};
  FloPictureInput input = input_of(&cloud, 2, 1);
  input.caption = NULL;
  uint8_t *rgb = draw(&input, options_of(200, 100, 2, 0));
  assert_true(is_near(rgb + 3 * (50 * 200 + 100), flo_rgb8_from_linear(flo_colour_warning()), 12));
  free(rgb);
}

static void strays_do_not_push_the_scene_out_of_frame(void **state) {
  (void)state;
  Cloud cloud = lattice(12, 3);
  FloCloud drawn;
  cloud.positions[0] = 1e6f;
  FloPictureInput input = input_of(&cloud, 3, 0.01f);
  assert_int_equal(flo_cloud_create(&input, &drawn, NULL), FLO_OK);
  assert_true(drawn.bounds.high.x < 2);
  assert_true(drawn.bounds.low.x > -0.5f);
  assert_int_equal(drawn.count, cloud.n);
  flo_cloud_destroy(&drawn);
  release(&cloud);
}

static void plane_shows_the_colours_of_the_legend(void **state) {
  (void)state;
  float positions[6] = {0, 0, 0, 1, 0, 0}, values[2] = {0, 1};
  Cloud cloud = {2, positions, values};
  FloPictureInput input = input_of(&cloud, 2, 0.25f);
  input.value_low = 0, input.value_high = 1;
  uint8_t *rgb = draw(&input, options_of(640, 360, 2, 0));
  size_t n = 640 * 360;
  assert_true(count_near(rgb, n, flo_rgb8_from_linear(flo_colour_map(FLO_MAP_WATER, 0)), 6) > 1000);
  assert_true(count_near(rgb, n, flo_rgb8_from_linear(flo_colour_map(FLO_MAP_WATER, 1)), 6) > 1000);

  FloCloud drawn;
  assert_int_equal(flo_cloud_create(&input, &drawn, NULL), FLO_OK);
  FloMargins margins = flo_overlay_margins(&input, &drawn, 640, 360);
  FloLens lens = flo_lens_create(&input.camera, 2, 1, drawn.bounds, margins, 640, 360);
  FloRect r = flo_legend_place(&input, &drawn, &lens, drawn.bounds).row;
  flo_cloud_destroy(&drawn);
  int row = (int)(r.y + 0.5f * r.height), first = (int)r.x, last = (int)(r.x + r.width) - 1;
  assert_true(
      is_near(rgb + 3 * (row * 640 + first), flo_rgb8_from_linear(flo_colour_map(FLO_MAP_WATER, 0)), 4));
  assert_true(
      is_near(rgb + 3 * (row * 640 + last), flo_rgb8_from_linear(flo_colour_map(FLO_MAP_WATER, 1)), 4));
  free(rgb);
}

static void bodies_alone_have_no_legend(void **state) {
  (void)state;
  float position[3] = {0, 0, 0}, value = 1;
  Cloud one = {1, &position[0], &value}, none = {0, &position[0], &value};
  FloPictureInput some = input_of(&one, 3, 0.25f), empty = input_of(&none, 3, 0.25f);
  FloCloud drawn, nothing;
  assert_int_equal(flo_cloud_create(&some, &drawn, NULL), FLO_OK);
  assert_int_equal(flo_cloud_create(&empty, &nothing, NULL), FLO_OK);
  assert_true(flo_legend_height(&some, &drawn, 640, 360) > 0);
  assert_true(flo_legend_height(&empty, &nothing, 640, 360) == 0);
  assert_true(flo_legend_height(&some, &nothing, 640, 360) > 0); // as with a slice
  flo_cloud_destroy(&drawn), flo_cloud_destroy(&nothing);
}

static void tank_in_the_plane_is_open_at_its_top(void **state) {
  (void)state;
  FloSceneBody tank = make_body(FLO_SHAPE_TANK, 1, 0.5, 0.5, 0);
  FloSolids open, closed;
  tank.def.shape.up = 1;
  assert_int_equal(flo_solids_create(&tank, NULL, 1, 2, 0.01f, NULL, &open, NULL), FLO_OK);
  tank.def.shape.closed = true;
  assert_int_equal(flo_solids_create(&tank, NULL, 1, 2, 0.01f, NULL, &closed, NULL), FLO_OK);
  assert_int_equal(open.n_edges, 3);
  assert_int_equal(closed.n_edges, 4);
  assert_true(open.bounds.high.y == 1 && closed.bounds.high.y > 1);
  flo_solids_destroy(&open), flo_solids_destroy(&closed);
}

static void looks_decide_how_a_body_is_drawn(void **state) {
  (void)state;
  const char *looks[] = {"", "glass", "hidden"};
  const size_t triangles[] = {12, 0, 0}, edges[] = {0, 12, 0};
  for (size_t k = 0; k < FLO_COUNT_OF(looks); k++) {
    FloSceneBody box = make_body(FLO_SHAPE_BOX, 1, 0, 0, 0);
    FloSolids solids;
    snprintf(box.look, sizeof box.look, "%s", looks[k]);
    assert_int_equal(flo_solids_create(&box, NULL, 1, 3, 0.01f, NULL, &solids, NULL), FLO_OK);
    assert_int_equal(solids.n_triangles, triangles[k]);
    assert_int_equal(solids.n_edges, edges[k]);
    flo_solids_destroy(&solids);
  }
}

static void body_with_unusable_numbers_is_left_out(void **state) {
  (void)state;
  FloSceneBody box = make_body(FLO_SHAPE_BOX, 1, NAN, 0, 0);
  FloPictureInput input = {.dim = 3, .up = 2, .bodies = &box, .n_bodies = 1};
  free(draw(&input, options_of(64, 48, 1, 0)));
}

// ---- Camera ----

static void assert_in_frame(const FloLens *lens, FloBounds b) {
  for (int k = 0; k < 8; k++) {
    V3 corner = {k & 1 ? b.high.x : b.low.x, k & 2 ? b.high.y : b.low.y, k & 4 ? b.high.z : b.low.z};
    float x, y, depth;
    flo_lens_project(lens, corner, &x, &y, &depth);
    assert_true(depth > 0);
    assert_true(x >= -0.5f && x <= (float)lens->width + 0.5f && y >= -0.5f &&
                y <= (float)lens->height + 0.5f);
  }
}

static void camera_frames_everything(void **state) {
  (void)state;
  const FloBounds boxes[] = {
      {{0, 0, 0}, {3, 1, 1}}, {{-5, 2, 7}, {-4, 9, 8}}, {{0, 0, 0}, {0.01f, 0.01f, 4}}};
  const int sizes[][2] = {{1280, 720}, {400, 900}, {2000, 100}};
  const FloCamera none = {0};
  for (size_t b = 0; b < FLO_COUNT_OF(boxes); b++)
    for (int up = 0; up < 3; up++)
      for (size_t s = 0; s < FLO_COUNT_OF(sizes); s++)
        for (int dim = 2; dim <= 3; dim++) {
          FloMargins margins = {0.05f, 0.05f, 0.1f, 0.1f};
          FloLens lens = flo_lens_create(&none, dim, up, boxes[b], margins, sizes[s][0], sizes[s][1]);
          assert_in_frame(&lens, boxes[b]);
          // Up is up.
          if (dim == 3) assert_true(v3_get(lens.up, up) > 0.5f);
        }
}

static void rays_and_projection_agree(void **state) {
  (void)state;
  const FloCamera cameras[] = {{true, {4, -3, 2}, {1, 0, 0}, 40}, {true, {1, 0, 5}, {1, 0, 0}, 40}};
  for (size_t c = 0; c < FLO_COUNT_OF(cameras); c++)
    for (int dim = 2; dim <= 3; dim++) {
      FloLens lens =
          flo_lens_create(&cameras[c], dim, 2, (FloBounds){{0, 0, 0}, {1, 1, 1}}, (FloMargins){0}, 640, 480);
      V3 origin, direction;
      float x, y, depth;
      flo_lens_ray(&lens, 123, 321, &origin, &direction);
      flo_lens_project(&lens, v3_mad(origin, direction, 3), &x, &y, &depth);
      assert_true(fabsf(x - 123) < 0.05f && fabsf(y - 321) < 0.05f && depth > 0);
    }
}

// ---- Ranges, ticks, colours ----

static void range_of_values(void **state) {
  (void)state;
  float low, high, equal[3] = {5, 5, 5}, zero[2] = {0, 0}, mixed[3] = {-1, NAN, 3}, none[1] = {NAN};
  flo_value_range(equal, 3, FLO_MAP_FIELD, &low, &high);
  assert_true(low < 5 && high > 5);
  flo_value_range(zero, 2, FLO_MAP_WATER, &low, &high);
  assert_true(low == 0 && high == 1);
  flo_value_range(mixed, 3, FLO_MAP_FIELD, &low, &high);
  assert_true(low == -1 && high == 3);
  flo_value_range(mixed, 3, FLO_MAP_SIGNED, &low, &high);
  assert_true(low == -3 && high == 3);
  flo_value_range(none, 1, FLO_MAP_FIELD, &low, &high);
  assert_true(low < high);
  flo_value_range(NULL, 0, FLO_MAP_FIELD, &low, &high);
  assert_true(low < high);

  // One wild value among many does not stretch the range.
  float many[5000];
  for (int i = 0; i < 5000; i++) many[i] = (float)i;
  many[77] = 1e9f;
  flo_value_range(many, 5000, FLO_MAP_FIELD, &low, &high);
  assert_true(high < 5000 && low < 20);
}

static void ticks_are_round_and_inside(void **state) {
  (void)state;
  FloTicks t = flo_ticks(0, 1, 5);
  assert_int_equal(t.count, 6);
  assert_string_equal(t.labels[0], "0.0");
  assert_string_equal(t.labels[5], "1.0");
  t = flo_ticks(-0.3, 17, 4);
  assert_string_equal(t.labels[0], "0");
  assert_string_equal(t.labels[t.count - 1], "15");
  t = flo_ticks(0, 4.2e6, 5);
  assert_string_equal(t.labels[t.count - 1], "4e6");
  t = flo_ticks(0, 2e-5, 4);
  assert_string_equal(t.labels[t.count - 1], "2.0e-5");
  for (double size = 1e-30; size < 1e30; size *= 3.7)
    for (int wanted = 1; wanted < 20; wanted++) {
      t = flo_ticks(-0.3 * size, size, wanted);
      assert_true(t.count >= 1 && t.count <= FLO_MAX_TICKS);
      for (int k = 0; k < t.count; k++)
        assert_true(t.values[k] >= -0.301 * size && t.values[k] <= 1.001 * size);
    }
  assert_int_equal(flo_ticks(1, 1, 5).count, 0);
  assert_int_equal(flo_ticks(0, NAN, 5).count, 0);
  assert_int_equal(flo_ticks(0, INFINITY, 5).count, 0);
  assert_true(flo_round_down(0.26) == 0.2 && flo_round_down(5) == 5 &&
              fabs(flo_round_down(0.1) - 0.1) < 1e-12);
}

static float lightness(V3 c) { return cbrtf(0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z); }

static void colour_maps_rise_in_lightness(void **state) {
  (void)state;
  for (int map = FLO_MAP_WATER; map <= FLO_MAP_FIELD; map++)
    for (int k = 1; k <= 100; k++) {
      V3 before = flo_colour_map((FloColourMap)map, (float)(k - 1) / 100),
         now = flo_colour_map((FloColourMap)map, (float)k / 100);
      assert_true(lightness(now) > lightness(before) - 1e-3f);
    }
  assert_int_equal(flo_colour_map_for("Speed [m/s]"), FLO_MAP_WATER);
  assert_int_equal(flo_colour_map_for("vorticity [1/s]"), FLO_MAP_SIGNED);
  assert_int_equal(flo_colour_map_for("velocity x [m/s]"), FLO_MAP_SIGNED);
  assert_int_equal(flo_colour_map_for("pressure [Pa]"), FLO_MAP_FIELD);
  assert_int_equal(flo_colour_map_for(NULL), FLO_MAP_WATER);
  for (int k = 0; k < 256; k++) {
    FloRgb8 c = {(uint8_t)k, (uint8_t)(255 - k), 77}, back = flo_rgb8_from_linear(flo_linear_from_rgb8(c));
    assert_memory_equal(&c, &back, sizeof c);
  }
}

static void any_text_can_be_drawn(void **state) {
  (void)state;
  uint8_t rgb[60 * 30 * 3];
  FloCanvas canvas;
  memset(rgb, 255, sizeof rgb);
  assert_int_equal(flo_canvas_create(&canvas, rgb, 60, 30, NULL), FLO_OK);
  const char *texts[] = {
      "", "m/s²", "\xc3", "\xff\xfe", "\xf0\x9f\x90\x9f", "\t\n", "a very long text that leaves the canvas"};
  for (size_t k = 0; k < FLO_COUNT_OF(texts); k++) {
    flo_canvas_add_text(&canvas, 2, 20, (FloTextStyle){.size = 12, .is_upright = k & 1}, texts[k]);
    flo_canvas_paint(&canvas, (FloRgb8){0, 0, 0}, 1);
  }
  assert_true(count_near(rgb, 60 * 30, (FloRgb8){0, 0, 0}, 40) > 50);
  assert_true(flo_text_width("mm", 10) > flo_text_width("m", 10));
  flo_canvas_destroy(&canvas);
}

// ---- Failing ----

static void assert_refused(FloPictureInput input, FloPictureOptions options, const char *word) {
  FloError error = {.text = ""};
  uint8_t *rgb = NULL;
  assert_int_equal(flo_render_picture(&input, &options, &rgb, &error), FLO_BAD_INPUT);
  assert_non_null(strstr(error.text, word));
  assert_null(rgb);
  assert_int_equal(flo_render_picture(&input, &options, &rgb, NULL), FLO_BAD_INPUT);
}

static void bad_input_is_refused(void **state) {
  (void)state;
  Cloud cloud = lattice(2, 3);
  FloPictureInput good = input_of(&cloud, 3, 0.1f), bad = good;
  assert_refused(good, options_of(0, 10, 1, 0), "0 x 10");
  assert_refused(good, options_of(10, -3, 1, 0), "10 x -3");
  assert_refused(good, options_of(100000, 10, 1, 0), "100000");
  assert_refused(good, options_of(10, 10, 0, 0), "samples");
  assert_refused(good, options_of(10, 10, 99, 0), "samples");
  assert_refused(good, options_of(10, 10, 1, -1), "threads");
  bad.dim = 4, assert_refused(bad, options_of(10, 10, 1, 0), "dim"), bad = good;
  bad.up = 3, assert_refused(bad, options_of(10, 10, 1, 0), "up"), bad = good;
  bad.radius = 0, assert_refused(bad, options_of(10, 10, 1, 0), "radius"), bad = good;
  bad.radius = NAN, assert_refused(bad, options_of(10, 10, 1, 0), "radius"), bad = good;
  bad.camera = (FloCamera){true, {NAN, 0, 0}, {0, 0, 0}, 30};
  assert_refused(bad, options_of(10, 10, 1, 0), "camera"), bad = good;
  bad.view = (FloPictureView){.is_set = true, .low = {0, 1, 0}, .high = {1, 0, 1}};
  assert_refused(bad, options_of(10, 10, 1, 0), "view");
  bad.view = (FloPictureView){.is_set = true, .high = {1, INFINITY, 1}};
  assert_refused(bad, options_of(10, 10, 1, 0), "view"), bad = good;
  bad.repeat = (FloRepeat){.is_on = {true}, .low = {1, 0, 0}, .high = {1, 0, 0}};
  assert_refused(bad, options_of(10, 10, 1, 0), "repeats");
  release(&cloud);
}

static void lack_of_memory_is_reported(void **state) {
  (void)state;
  Cloud cloud = lattice(40, 3);
  FloPictureInput input = input_of(&cloud, 3, 0.01f);
  FloPictureOptions options = options_of(32, 32, 1, 1);
  FloError error = {.text = ""};
  uint8_t *rgb = NULL;
  options.memory_limit = 1000;
  assert_int_equal(flo_render_picture(&input, &options, &rgb, &error), FLO_NO_MEMORY);
  assert_non_null(strstr(error.text, "64000 particles"));
  options.memory_limit = (size_t)1 << 30;
  assert_int_equal(flo_render_picture(&input, &options, &rgb, &error), FLO_OK);
  free(rgb);
  release(&cloud);
}

// ---- Files ----

static char folder[64];

static int make_folder(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/flotsam-render-XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static const char *in_folder(const char *name) {
  static char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static int count_files(bool is_removing) {
  int count = 0;
  DIR *dir = opendir(folder);
  for (struct dirent *entry; (entry = readdir(dir));) {
    if (entry->d_name[0] == '.') continue;
    count++;
    if (is_removing && remove(in_folder(entry->d_name))) print_error("cannot remove %s\n", entry->d_name);
  }
  closedir(dir);
  return count;
}

static int remove_folder(void **state) {
  (void)state;
  count_files(true);
  return rmdir(folder);
}

static uint8_t *read_png(const char *path, int *width, int *height) {
  png_image image = {.version = PNG_IMAGE_VERSION};
  assert_int_equal(png_image_begin_read_from_file(&image, path), 1);
  image.format = PNG_FORMAT_RGB;
  uint8_t *rgb = malloc(PNG_IMAGE_SIZE(image));
  assert_int_equal(png_image_finish_read(&image, NULL, rgb, 0, NULL), 1);
  *width = (int)image.width, *height = (int)image.height;
  return rgb;
}

static void png_comes_back_as_written(void **state) {
  (void)state;
  enum { w = 37, h = 21 };
  uint8_t rgb[w * h * 3];
  int width, height;
  for (size_t i = 0; i < sizeof rgb; i++) rgb[i] = (uint8_t)(i * 31 + i / 7);
  for (int again = 0; again < 2; again++) {
    assert_int_equal(flo_write_png(in_folder("a.png"), rgb, w, h, NULL), FLO_OK);
    uint8_t *back = read_png(in_folder("a.png"), &width, &height);
    assert_true(width == w && height == h);
    assert_memory_equal(rgb, back, sizeof rgb);
    free(back);
  }
  assert_int_equal(count_files(true), 1);
}

static void assert_cannot_write(const char *path, int reason) {
  uint8_t rgb[64 * 64 * 3];
  for (size_t i = 0; i < sizeof rgb; i++) rgb[i] = (uint8_t)(i * i * 7 + i / 3);
  FloError error = {.text = ""};
  assert_int_equal(flo_write_png(path, rgb, 64, 64, &error), FLO_IO_FAILED);
  assert_non_null(strstr(error.text, path));
  assert_non_null(strstr(error.text, strerror(reason)));
}

static void failed_writing_leaves_nothing_behind(void **state) {
  (void)state;
  assert_cannot_write(in_folder("missing/a.png"), ENOENT);
  assert_cannot_write("/dev/null/a.png", ENOTDIR);
  // A folder stands where the file should: only the rename fails.
  mkdir(in_folder("taken.png"), 0777);
  assert_cannot_write(in_folder("taken.png"), EISDIR);
  assert_int_equal(count_files(false), 1);
  // A full disk, imitated by the limit on a file's size.
  struct rlimit old, tiny;
  getrlimit(RLIMIT_FSIZE, &old);
  tiny = (struct rlimit){100, old.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &tiny);
  assert_cannot_write(in_folder("big.png"), EFBIG);
  setrlimit(RLIMIT_FSIZE, &old);
  assert_int_equal(count_files(true), 1);
  FloError error;
  assert_int_equal(flo_write_png(in_folder("a.png"), NULL, 0, 5, &error), FLO_BAD_INPUT);
}

// ---- Plots ----

enum { n_points = 3000 };
static double xs[n_points], ys[n_points], gaps[n_points];

static FloPlotInput make_plot(void) {
  static const FloPlotSeries series[] = {{"waves & \"more\" <1>", ys}, {"with gaps", gaps}};
  for (int i = 0; i < n_points; i++) {
    xs[i] = 0.01 * i;
    ys[i] = sin(xs[i]);
    gaps[i] = i % 1000 == 999 ? NAN : i == 500 ? INFINITY : 0.5 * cos(xs[i]);
  }
  return (FloPlotInput){"Title <&>", "time [s]", "height [m]", n_points, xs, series, 2};
}

static void plot_png_shows_the_series(void **state) {
  (void)state;
  FloPlotInput input = make_plot();
  int width, height;
  assert_int_equal(flo_plot_png(in_folder("p.png"), &input, 600, 400, NULL), FLO_OK);
  uint8_t *rgb = read_png(in_folder("p.png"), &width, &height);
  assert_true(width == 600 && height == 400);
  assert_true(count_near(rgb, 600 * 400, (FloRgb8){31, 111, 180}, 3) > 500);
  assert_true(count_near(rgb, 600 * 400, (FloRgb8){232, 121, 43}, 3) > 500);
  assert_true(is_near(rgb, (FloRgb8){255, 255, 255}, 0));
  free(rgb);
  count_files(true);
}

static char *read_text(const char *path) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  char *text = calloc(1, 1 << 20);
  size_t size = fread(text, 1, (1 << 20) - 1, file);
  assert_true(size > 0);
  fclose(file);
  return text;
}

// Enough of XML to be sure a browser accepts it: every tag is closed in order, and text holds no stray signs.
static int count_elements(const char *text, const char *wanted) {
  const char *open[16];
  int depth = 0, count = 0;
  for (const char *s = text; *s; s++) {
    if (*s == '&')
      assert_true(!strncmp(s, "&lt;", 4) || !strncmp(s, "&gt;", 4) || !strncmp(s, "&amp;", 5) ||
                  !strncmp(s, "&quot;", 6));
    assert_true(*s != '>');
    if (*s != '<') continue;
    const char *name = s + 1, *end = strchr(s, '>');
    assert_non_null(end);
    if (*name == '/') {
      assert_true(depth > 0 && !strncmp(open[--depth], name + 1, (size_t)(end - name - 1)));
    } else {
      count += !strncmp(name, wanted, strlen(wanted)) && strchr(" >/", name[strlen(wanted)]);
      if (end[-1] != '/') open[depth++] = name;
    }
    s = end;
  }
  assert_int_equal(depth, 0);
  return count;
}

static void plot_svg_is_well_formed(void **state) {
  (void)state;
  FloPlotInput input = make_plot();
  assert_int_equal(flo_plot_svg(in_folder("p.svg"), &input, 600, 400, NULL), FLO_OK);
  char *text = read_text(in_folder("p.svg"));
  // Two dashes of the legend, one unbroken line, and four pieces between three gaps and the end.
  assert_int_equal(count_elements(text, "path"), 2 + 1 + 4);
  assert_int_equal(count_elements(text, "svg"), 1);
  assert_non_null(strstr(text, "Title &lt;&amp;&gt;"));
  assert_null(strstr(text, "nan"));
  assert_null(strstr(text, "inf"));
  free(text);
  count_files(true);
}

static void plots_of_little_or_nothing(void **state) {
  (void)state;
  FloPlotInput input = make_plot();
  input.n_points = 1;
  assert_int_equal(flo_plot_png(in_folder("p.png"), &input, 300, 200, NULL), FLO_OK);
  input.n_points = 0;
  assert_int_equal(flo_plot_svg(in_folder("p.svg"), &input, 300, 200, NULL), FLO_OK);
  double constant[2] = {7, 7}, huge[2] = {-1.7e308, 1.7e308};
  FloPlotSeries series[] = {{NULL, constant}, {"huge", huge}};
  input = (FloPlotInput){.n_points = 2, .x = constant, .series = series, .n_series = 2};
  assert_int_equal(flo_plot_png(in_folder("p.png"), &input, 300, 200, NULL), FLO_OK);
  input.n_series = 0;
  assert_int_equal(flo_plot_png(in_folder("p.png"), &input, 300, 200, NULL), FLO_OK);
  FloError error;
  assert_int_equal(flo_plot_png(in_folder("p.png"), &input, 0, 200, &error), FLO_BAD_INPUT);
  assert_int_equal(flo_plot_svg(in_folder("p.png"), &input, 300, 20, &error), FLO_BAD_INPUT);
  assert_int_equal(flo_plot_svg(in_folder("missing/p.svg"), &input, 300, 200, &error), FLO_IO_FAILED);
  count_files(true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pixels_do_not_depend_on_threads),
      cmocka_unit_test(nothing_to_draw_is_a_picture),
      cmocka_unit_test(unusable_positions_are_left_out),
      cmocka_unit_test(particle_without_value_shows_the_warning_colour),
      cmocka_unit_test(strays_do_not_push_the_scene_out_of_frame),
      cmocka_unit_test(plane_shows_the_colours_of_the_legend),
      cmocka_unit_test(bodies_alone_have_no_legend),
      cmocka_unit_test(tank_in_the_plane_is_open_at_its_top),
      cmocka_unit_test(looks_decide_how_a_body_is_drawn),
      cmocka_unit_test(body_with_unusable_numbers_is_left_out),
      cmocka_unit_test(camera_frames_everything),
      cmocka_unit_test(rays_and_projection_agree),
      cmocka_unit_test(range_of_values),
      cmocka_unit_test(ticks_are_round_and_inside),
      cmocka_unit_test(colour_maps_rise_in_lightness),
      cmocka_unit_test(any_text_can_be_drawn),
      cmocka_unit_test(bad_input_is_refused),
      cmocka_unit_test(lack_of_memory_is_reported),
      cmocka_unit_test(png_comes_back_as_written),
      cmocka_unit_test(failed_writing_leaves_nothing_behind),
      cmocka_unit_test(plot_png_shows_the_series),
      cmocka_unit_test(plot_svg_is_well_formed),
      cmocka_unit_test(plots_of_little_or_nothing),
  };
  return cmocka_run_group_tests_name("render", tests, make_folder, remove_folder);
}
