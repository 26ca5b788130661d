// Surfaces of cloth and elastic bodies: how much they are stretched, in frames, in files and in pictures.
#include "geometry/mesh_stretch.h"
#include "io/frame.h"
#include "io/series.h"
#include "render/soft_solids.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- Stretch and normals ----

// A square of two triangles with a map of its corners.
static void stretch_square(const double map[2][2], float stretch[4], float normals[12]) {
  const uint32_t triangles[6] = {0, 1, 2, 0, 2, 3};
  float rest[12] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0}, now[12] = {0}, room[4];
  for (int v = 0; v < 4; ++v)
    for (int k = 0; k < 2; ++k)
      now[3 * v + k] = (float)(map[k][0] * (double)rest[3 * v] + map[k][1] * (double)rest[3 * v + 1]);
  const FloStretched surface = {rest, now, 4, triangles, 2};
  flo_mesh_stretch(&surface, room, stretch);
  flo_mesh_smooth_normals(&surface, normals);
}

// Largest singular values of the maps; simple shear by s: s/2 + sqrt(1 + s²/4).
static void test_stretch_of_linear_maps(void **state) {
  (void)state;
  const struct {
    double map[2][2], stretch;
  } cases[] = {{{{1, 0}, {0, 1}}, 1},
               {{{1.5, 0}, {0, 1}}, 1.5},
               {{{0.5, 0}, {0, 0.8}}, 0.8},
               {{{0, -2}, {2, 0}}, 2},
               {{{1, 1}, {0, 1}}, 0.5 + sqrt(1.25)},
               {{{1, 0}, {0, 0}}, 1}};
  for (size_t k = 0; k < FLO_COUNT_OF(cases); ++k) {
    float stretch[4], normals[12];
    stretch_square(cases[k].map, stretch, normals);
    for (int v = 0; v < 4; ++v) assert_close((double)stretch[v], cases[k].stretch, 1e-6);
    const bool is_flat = k == FLO_COUNT_OF(cases) - 1; // no area is left, so there is no normal
    for (int v = 0; v < 4; ++v) assert_close((double)normals[3 * v + 2], is_flat ? 0 : 1, 1e-6);
  }
}

static void test_stretch_of_lines(void **state) {
  (void)state;
  const uint32_t segments[6] = {0, 1, 1, 1, 2, 2};
  const float rest[12] = {0, 0, 0, 1, 0, 0, 3, 0, 0, 9, 9, 9}, now[12] = {0, 0, 0, 0, 2, 0, 0, 4, 0, 9, 9, 9};
  float room[4], stretch[4], normals[12];
  const FloStretched line = {rest, now, 4, segments, 2};
  flo_mesh_stretch(&line, room, stretch);
  assert_close((double)stretch[0], 2, 1e-6);
  assert_close((double)stretch[1], (1 * 2 + 2 * 1) / 3.0, 1e-6);
  assert_close((double)stretch[2], 1, 1e-6);
  assert_close((double)stretch[3], 1, 0); // in no segment
  flo_mesh_smooth_normals(&line, normals);
  assert_close((double)normals[0], -1, 1e-6);
}

// ---- Frames and files ----

typedef struct Run {
  FloScene *scene;
  FloWorld *world;
  FloFrame frame;
  char folder[40], path[64];
} Run;

#define HEAD  "{'schema_version':1,'spacing':0.05,'duration':1,'method':{'name':'monolithic'},"
#define CLOTH "'cloth':{'areal_density':1,'stretch':500,'prestretch':[1.25,1]}"

static const char space[] =
    HEAD "'bodies':[{'name':'ball','material':{},'shape':{'sphere':0.1},'at':[0,0,-2]},"
         "{'name':'sail'," CLOTH ",'shape':{'sheet':[0.4,0.4]},'pin':['border']},"
         "{'name':'jelly','elastic':{'density':900,'young':1e4},'shape':{'box':0.2},'at':[0,0,2]}]}";
static const char plane[] =
    HEAD "'dimension':2,'bodies':[{'name':'ball','material':{},'shape':{'sphere':0.1},'at':[0,-2]},"
         "{'name':'sail','cloth':{'areal_density':1,'stretch':500,'prestretch':1.25},'shape':{'sheet':0.4},"
         "'pin':['border']},{'name':'jelly','elastic':{'density':900,'young':1e4},'shape':{'box':0.2},"
         "'at':[0,2]}]}";

static void load(const char *text, Run *run) {
  char json[2000];
  size_t n = 0;
  FloError error;
  for (; text[n]; ++n) json[n] = text[n] == '\'' ? '"' : text[n];
  assert_ok(flo_scene_load_text("t", json, n, &(FloSceneOptions){.threads = 1}, &run->scene, &error), &error);
  assert_ok(flo_scene_build(run->scene, &run->world, &error), &error);
}

static void start(const char *text, Run *run) {
  FloError error;
  *run = (Run){.folder = "/tmp/flotsam-soft-XXXXXX"};
  load(text, run);
  assert_non_null(mkdtemp(run->folder));
  snprintf(run->path, sizeof run->path, "%s/soft.vtp", run->folder);
  assert_ok(flo_frame_take(run->scene, run->world, 0, FLO_FRAME_ALL, &run->frame, &error), &error);
}

static void end(Run *run) {
  unlink(run->path);
  rmdir(run->folder);
  flo_frame_free(&run->frame);
  flo_world_destroy(run->world);
  flo_scene_destroy(run->scene);
}

static void test_frames_hold_surfaces(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    Run run;
    start(dim == 2 ? plane : space, &run);
    const FloFrameBody *sail = &run.frame.bodies[1], *jelly = &run.frame.bodies[2];
    assert_null(run.frame.bodies[0].vertices);
    assert_int_equal(sail->n_vertices, dim == 2 ? 5 : 25);
    assert_int_equal(sail->n_triangles, dim == 2 ? 4 : 32);
    for (size_t k = 0; k < sail->n_vertices; ++k) {
      assert_close((double)sail->stretch[k], 1.25, 1e-5);
      assert_close((double)sail->vertices[3 * k], 1.25 * (double)sail->rest[3 * k], 1e-6);
    }
    assert_true(jelly->n_vertices > 3 && jelly->n_triangles > 3);
    for (size_t k = 0; k < jelly->n_vertices; ++k) assert_close((double)jelly->stretch[k], 1, 1e-5);
    assert_int_equal(sail->soft.n_pins, dim == 2 ? 2 : 16);
    assert_true(sail->soft.elastic_energy > 0);
    assert_close(jelly->soft.elastic_energy, 0, 1e-12);
    end(&run);
  }
}

static void expect_same(const FloFrameBody *a, const FloFrameBody *b) {
  assert_int_equal(a->n_vertices, b->n_vertices);
  assert_int_equal(a->n_triangles, b->n_triangles);
  if (!a->vertices) return;
  assert_memory_equal(a->vertices, b->vertices, a->n_vertices * sizeof(float[3]));
  assert_memory_equal(a->rest, b->rest, a->n_vertices * sizeof(float[3]));
  assert_memory_equal(a->stretch, b->stretch, a->n_vertices * sizeof(float));
  assert_memory_equal(a->triangles, b->triangles, a->n_triangles * sizeof(uint32_t[3]));
}

static void test_files_hold_the_same(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    Run run;
    FloError error;
    start(dim == 2 ? plane : space, &run);
    FloFrame back = {.bodies = calloc(3, sizeof(FloFrameBody)), .n_bodies = 3};
    assert_true(flo_frame_has_soft(&run.frame));
    assert_ok(flo_frame_write_soft(&run.frame, run.path, &error), &error);
    assert_ok(flo_frame_read_soft(run.path, &back, &error), &error);
    for (size_t k = 0; k < 3; ++k) expect_same(&run.frame.bodies[k], &back.bodies[k]);
    assert_int_equal(truncate(run.path, 1500), 0);
    assert_int_equal(flo_frame_read_soft(run.path, &back, &error), FLO_BAD_INPUT);
    assert_non_null(strstr(error.text, "soft.vtp: damaged"));
    flo_frame_free(&back);
    end(&run);
  }
}

// The number of a body in a file may be large.
static void test_files_hold_many_bodies(void **state) {
  (void)state;
  enum { MANY = 70000, A = 4463, B = 69999 }; // B - A is 65536
  Run run;
  FloError error;
  start(space, &run);
  FloFrame many = {.bodies = calloc(MANY, sizeof(FloFrameBody)), .n_bodies = MANY},
           back = {.bodies = calloc(MANY, sizeof(FloFrameBody)), .n_bodies = MANY};
  many.bodies[A] = run.frame.bodies[1], many.bodies[B] = run.frame.bodies[2];
  assert_ok(flo_frame_write_soft(&many, run.path, &error), &error);
  assert_ok(flo_frame_read_soft(run.path, &back, &error), &error);
  for (size_t k = 0; k < MANY; ++k) expect_same(&many.bodies[k], &back.bodies[k]);
  back.n_bodies = B; // as if the file belonged to another scene
  assert_int_equal(flo_frame_read_soft(run.path, &back, &error), FLO_BAD_INPUT);
  back.n_bodies = MANY;
  free(many.bodies);
  flo_frame_free(&back);
  end(&run);
}

static void test_series_tell_of_soft_bodies(void **state) {
  (void)state;
  Run run;
  FloSeries *series;
  FloError error;
  double value;
  start(space, &run);
  assert_ok(flo_series_create(run.scene, &series, &error), &error);
  assert_ok(flo_series_add(series, &run.frame, &error), &error);
  assert_true(flo_series_value(series, "sail.max_stretch", &value));
  assert_close(value, 1.25, 1e-5);
  assert_true(flo_series_value(series, "sail.high_x", &value));
  assert_close(value, 0.25, 1e-6);
  assert_true(flo_series_value(series, "jelly.low_z", &value));
  assert_close(value, 1.9, 1e-6);
  assert_true(flo_series_value(series, "sail.pins", &value));
  assert_close(value, 16, 0);
  assert_false(flo_series_value(series, "ball.max_stretch", &value));
  flo_series_destroy(series);
  end(&run);
}

// ---- Pictures ----

static size_t count_dark(const FloSolids *solids, uint32_t owner, size_t *n) {
  size_t n_dark = 0;
  *n = 0;
  for (uint32_t t = 0; t < solids->n_triangles; ++t) {
    if (solids->owners[t] != owner) continue;
    for (int k = 0; k < 100; ++k, ++*n)
      n_dark += flo_solids_shade(solids, t, 0.095f * (float)(k % 10), 0.095f * (float)(k / 10)) < 1;
  }
  return n_dark;
}

static void draw(Run *run, const char *look, FloSolids *solids) {
  FloError error;
  snprintf(run->scene->bodies[1].look, sizeof run->scene->bodies[1].look, "%s", look);
  assert_ok(flo_solids_create(run->scene->bodies, run->frame.bodies, 3, run->scene->world.dim, 0.025f, NULL,
                              solids, &error),
            &error);
}

// Checks are fixed to the material: about half of it is dark, however it is stretched.
static void test_cloth_is_checked(void **state) {
  (void)state;
  Run run;
  FloSolids solids;
  size_t n, n_dark;
  start(space, &run);
  draw(&run, "", &solids);
  assert_close((double)solids.checks[1], 0.4 / 16, 1e-6);
  n_dark = count_dark(&solids, 1, &n);
  assert_true(n > 0 && fabs((double)n_dark / (double)n - 0.5) < 0.05);
  assert_int_equal(count_dark(&solids, 2, &n), 0);
  assert_close((double)solids.bounds.high.x, 0.25, 1e-5);
  flo_solids_destroy(&solids);
  draw(&run, "red", &solids);
  assert_int_equal(count_dark(&solids, 1, &n), 0);
  flo_solids_destroy(&solids);
  draw(&run, "outline", &solids);
  assert_true(solids.n_edges == 3 * 32);
  flo_solids_destroy(&solids);
  end(&run);
}

static void test_lines_are_drawn_as_edges(void **state) {
  (void)state;
  Run run;
  FloSolids solids;
  start(plane, &run);
  draw(&run, "", &solids);
  assert_true(solids.n_edges >= 4 + run.frame.bodies[2].n_triangles);
  flo_solids_destroy(&solids);
  end(&run);
}

// ---- Clamps ----

static double tip_height(const char *clamp, double time, size_t *n_pins) {
  char text[800];
  Run run;
  FloError error;
  snprintf(text, sizeof text,
           HEAD
           "'bodies':[{'name':'strip','cloth':{'areal_density':1,'stretch':5000,'bend':0.5,'damping':0.05},"
           "'shape':{'sheet':[0.4,0.1],'cell':0.05},'pin':[{'box':[[-0.201,-1,-1],[-0.199,1,1]],"
           "'clamp':%s}]}]}",
           clamp);
  start(text, &run);
  *n_pins = run.frame.bodies[0].soft.n_pins;
  assert_ok(flo_world_advance(run.world, time, NULL, &error), &error);
  flo_frame_free(&run.frame);
  assert_ok(flo_frame_take(run.scene, run.world, 1, FLO_FRAME_ALL, &run.frame, &error), &error);
  double lowest = 0;
  for (size_t k = 0; k < run.frame.bodies[0].n_vertices; ++k)
    lowest = fmin(lowest, (double)run.frame.bodies[0].vertices[3 * k + 2]);
  end(&run);
  return lowest;
}

// A strip that is only pinned at its end swings down. If it is clamped, it stands out from the second row of
// vertices on: a bar of length L and weight q bends by q L⁴ / (8 B), with B between bend (1 - poisson²) and
// bend.
static void test_clamps_hold_the_direction(void **state) {
  (void)state;
  size_t n_pinned, n_clamped;
  const double pinned = tip_height("false", 0.3, &n_pinned), clamped = tip_height("true", 1, &n_clamped);
  assert_int_equal(n_pinned, 3);
  assert_int_equal(n_clamped, 6);
  assert_true(pinned < -0.35);
  const double stiff = -9.81 * pow(0.35, 4) / (8 * 0.5);
  assert_true(clamped < 0.95 * stiff && clamped > 1.05 * stiff / (1 - 0.3 * 0.3));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stretch_of_linear_maps),    cmocka_unit_test(test_stretch_of_lines),
      cmocka_unit_test(test_frames_hold_surfaces),      cmocka_unit_test(test_files_hold_the_same),
      cmocka_unit_test(test_files_hold_many_bodies),    cmocka_unit_test(test_series_tell_of_soft_bodies),
      cmocka_unit_test(test_cloth_is_checked),          cmocka_unit_test(test_lines_are_drawn_as_edges),
      cmocka_unit_test(test_clamps_hold_the_direction),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
