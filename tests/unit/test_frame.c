// Frames: of a world, from the files of a run, the same content both ways, and what is said of bad files.
#include "io/run_folder.h"
#include "io/series.h"
#include "support/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N_FRAMES = 3 };

// A run of a few frames with everything that frames hold.
typedef struct Run {
  char folder[64];
  FloScene *scene;
  FloFrame taken[N_FRAMES]; // of the world
} Run;

static const char text[] =
    "{\"schema_version\":1,\"title\":\"t\",\"dimension\":2,\"spacing\":0.05,\"duration\":1,\"frames_per_"
    "second\":50,"
    "\"method\":{\"name\":\"monolithic\"},\"materials\":{\"water\":{},\"wood\":{\"density\":500}},"
    "\"fluids\":[{\"material\":\"water\",\"shape\":{\"box\":[1,0.5]},\"corner\":[0,0]}],"
    "\"boundaries\":[{\"name\":\"tank\",\"shape\":{\"tank\":[1,1]}}],"
    "\"bodies\":[{\"name\":\"a \\u00ab block "
    "\\u00bb\",\"material\":\"wood\",\"shape\":{\"box\":0.2},\"at\":[0.5,0.65]}],"
    "\"probes\":[{\"name\":\"front\",\"front\":\"x\"},{\"name\":\"push\",\"force\":\"tank\"}]}";

static void write_frame(const FloFrame *frame, FloRunFolder *folder, FloSeries *series,
                        FloBodyFiles *bodies) {
  FloError error;
  assert_ok(flo_series_add(series, frame, &error), &error);
  assert_ok(
      flo_body_files_add_poses(bodies, frame->number, frame->time, frame->bodies, frame->n_bodies, &error),
      &error);
  assert_ok(flo_run_folder_add_frame(folder, frame, &error), &error);
}

static void write_run(Run *run, FloWorld *world) {
  char path[FLO_PATH_SIZE];
  FloRunFolder *folder;
  FloSeries *series;
  FloBodyFiles bodies;
  FloError error;
  assert_ok(flo_run_folder_open(run->folder, false, &folder, &error), &error);
  assert_ok(flo_series_create(run->scene, &series, &error), &error);
  assert_ok(flo_path_join(run->folder, "series.csv", path, &error), &error);
  assert_ok(flo_series_open(series, path, &error), &error);
  assert_ok(flo_body_files_open(&bodies, run->folder, 0, &error), &error);
  for (size_t k = 0; k < N_FRAMES; k++) {
    FloFrame *frame = &run->taken[k];
    assert_ok(flo_frame_take(run->scene, world, k, FLO_FRAME_ALL, frame, &error), &error);
    frame->wall_seconds = 0.1 * (double)k;
    write_frame(frame, folder, series, &bodies);
    flo_world_restart_averages(world);
    assert_ok(flo_world_advance(world, 0.02 * (double)(k + 1), NULL, &error), &error);
  }
  flo_body_files_close(&bodies);
  flo_series_destroy(series);
  flo_run_folder_close(folder);
}

static int set_up(void **state) {
  Run *run = calloc(1, sizeof *run);
  FloWorld *world;
  FloError error;
  strcpy(run->folder, "/tmp/flotsam-frame-XXXXXX");
  assert_non_null(mkdtemp(run->folder));
  assert_ok(flo_scene_load_text("t", text, strlen(text), &(FloSceneOptions){0}, &run->scene, &error), &error);
  assert_ok(flo_scene_build(run->scene, &world, &error), &error);
  write_run(run, world);
  flo_world_destroy(world);
  *state = run;
  return 0;
}

static FloStatus remove_one(const char *name, void *context, FloError *error) {
  char path[FLO_PATH_SIZE];
  FLO_TRY(flo_path_join(((Run *)context)->folder, name, path, error));
  return unlink(path) == 0 ? FLO_OK : FLO_IO_FAILED;
}

static int tear_down(void **state) {
  Run *run = *state;
  assert_int_equal(flo_folder_visit(run->folder, remove_one, run, NULL), FLO_OK);
  rmdir(run->folder);
  for (size_t k = 0; k < N_FRAMES; k++) flo_frame_free(&run->taken[k]);
  flo_scene_destroy(run->scene);
  free(run);
  return 0;
}

// ---- Of a world ----

static void a_frame_has_all_of_a_world(void **state) {
  const Run *run = *state;
  const FloFrame *frame = &run->taken[N_FRAMES - 1];
  assert_int_equal(frame->number, N_FRAMES - 1);
  assert_int_equal(frame->parts, FLO_FRAME_ALL);
  assert_close(frame->time, 0.04, 1e-12);
  assert_int_equal(frame->counts[FLO_SET_FLUID], 200);
  assert_int_equal(frame->count, frame->counts[FLO_SET_FLUID] + frame->counts[FLO_SET_BOUNDARY] +
                                     frame->counts[FLO_SET_RIGID]);
  assert_true(frame->counts[FLO_SET_BOUNDARY] > 0 && frame->counts[FLO_SET_RIGID] > 0);
  assert_int_equal(frame->type[frame->counts[FLO_SET_FLUID]], FLO_SET_BOUNDARY);
  assert_int_equal(frame->body[0], UINT16_MAX);
  assert_int_equal(frame->n_bodies, 2);
  assert_string_equal(frame->bodies[0].name, "tank");
  assert_true(frame->bodies[1].state.velocity[1] < 0); // it falls
  assert_null(frame->bodies[1].vertices);
  assert_int_equal(frame->n_probes, 4);
  assert_close(frame->probes[0], 0.975, 0.05);
  assert_true(frame->probes[2] < 0); // the water presses down on the tank
  assert_int_equal(frame->measurements.fluid_particles, 200);
  assert_true(frame->measurements.time == frame->time);
}

static void only_what_is_asked_for_is_taken(void **state) {
  Run *run = *state;
  FloWorld *world;
  FloFrame frame;
  FloError error;
  assert_ok(flo_scene_build(run->scene, &world, &error), &error);
  assert_ok(flo_frame_take(run->scene, world, 0, FLO_FRAME_BODIES, &frame, &error), &error);
  assert_true(frame.n_bodies == 2 && frame.count == 0 && !frame.positions && !frame.probes);
  flo_frame_free(&frame);
  assert_ok(flo_frame_take(NULL, world, 5, FLO_FRAME_ALL, &frame, &error), &error);
  assert_true(frame.number == 5 && frame.n_bodies == 0 && frame.n_probes == 0);
  assert_int_equal(frame.measurements.fluid_particles, frame.counts[FLO_SET_FLUID]);
  flo_frame_free(&frame);
  flo_frame_free(&frame);
  flo_world_destroy(world);
}

// ---- From a folder ----

static void assert_same_particles(const FloFrame *a, const FloFrame *b) {
  const size_t n = a->count;
  assert_int_equal(n, b->count);
  assert_memory_equal(a->counts, b->counts, sizeof a->counts);
  assert_memory_equal(a->positions, b->positions, 3 * n * sizeof(float));
  assert_memory_equal(a->velocity, b->velocity, 3 * n * sizeof(float));
  assert_memory_equal(a->density, b->density, n * sizeof(float));
  assert_memory_equal(a->pressure, b->pressure, n * sizeof(float));
  assert_memory_equal(a->id, b->id, n * sizeof *a->id);
  assert_memory_equal(a->type, b->type, n * sizeof *a->type);
  assert_memory_equal(a->material, b->material, n * sizeof *a->material);
  assert_memory_equal(a->body, b->body, n * sizeof *a->body);
  assert_int_equal(a->n_extras, b->n_extras);
  for (size_t k = 0; k < a->n_extras; k++) {
    assert_string_equal(a->extras[k].name, b->extras[k].name);
    assert_memory_equal(a->extras[k].values, b->extras[k].values, n * sizeof(float));
  }
}

static void assert_same_bodies(const FloFrame *a, const FloFrame *b) {
  assert_int_equal(a->n_bodies, b->n_bodies);
  for (size_t k = 0; k < a->n_bodies; k++) {
    const FloBodyState *s = &a->bodies[k].state, *t = &b->bodies[k].state;
    assert_string_equal(a->bodies[k].name, b->bodies[k].name);
    assert_memory_equal(&s->pose, &t->pose, sizeof s->pose);
    assert_memory_equal(s->velocity, t->velocity, sizeof s->velocity);
    assert_memory_equal(s->angular_velocity, t->angular_velocity, sizeof s->angular_velocity);
    assert_memory_equal(s->mean_force, t->mean_force, sizeof s->mean_force);
    assert_memory_equal(s->mean_torque, t->mean_torque, sizeof s->mean_torque);
  }
}

static void assert_same_measurements(const FloFrame *a, const FloFrame *b) {
#define X(name, member, type) assert_true(a->measurements.member == b->measurements.member);
  FLO_MEASUREMENTS(X)
#undef X
  assert_true(a->wall_seconds == b->wall_seconds);
  assert_int_equal(a->n_probes, b->n_probes);
  assert_memory_equal(a->probes, b->probes, a->n_probes * sizeof *a->probes);
}

static void a_folder_gives_the_frames_of_the_world(void **state) {
  const Run *run = *state;
  FloRunFrames frames;
  FloError error;
  flo_run_frames_open(run->folder, run->scene, &frames);
  for (size_t k = 0; k < N_FRAMES; k++) {
    FloFrame frame;
    assert_ok(flo_frame_read(&frames, k, FLO_FRAME_ALL, &frame, &error), &error);
    assert_true(frame.number == k && frame.time == run->taken[k].time && frame.parts == FLO_FRAME_ALL);
    assert_same_particles(&run->taken[k], &frame);
    assert_same_bodies(&run->taken[k], &frame);
    assert_same_measurements(&run->taken[k], &frame);
    assert_true(flo_run_frames_time(&frames, k) == frame.time);
    flo_frame_free(&frame);
  }
  flo_run_frames_close(&frames);
}

static void pictures_do_without_the_series(void **state) {
  Run *run = *state;
  FloRunFrames frames;
  FloFrame frame;
  FloError error;
  assert_int_equal(remove_one("series.csv", run, NULL), FLO_OK);
  flo_run_frames_open(run->folder, run->scene, &frames);
  assert_ok(flo_frame_read(&frames, 1, FLO_FRAME_PICTURE, &frame, &error), &error);
  assert_same_particles(&run->taken[1], &frame);
  assert_same_bodies(&run->taken[1], &frame);
  flo_frame_free(&frame);
  assert_true(flo_run_frames_time(&frames, 1) == run->taken[1].time);
  assert_close(flo_run_frames_time(&frames, 100), 2, 1e-12); // by its number: nothing else tells
  flo_run_frames_close(&frames);
}

// ---- Bad files ----

static void cut_file(const Run *run, const char *name, size_t size) {
  char path[FLO_PATH_SIZE];
  assert_int_equal(flo_path_join(run->folder, name, path, NULL), FLO_OK);
  assert_int_equal(truncate(path, (off_t)size), 0);
}

static void refuse(const Run *run, unsigned parts, FloStatus status, const char *name, const char *word) {
  FloRunFrames frames;
  FloFrame frame;
  FloError error;
  flo_run_frames_open(run->folder, run->scene, &frames);
  assert_fails(flo_frame_read(&frames, 2, parts, &frame, &error), status, &error, word);
  assert_non_null(strstr(error.text, name));
  assert_non_null(strstr(error.text, run->folder));
  assert_null(strchr(error.text, '\n'));
  assert_true(!frame.positions && !frame.bodies && !frame.probes); // nothing to release
  flo_run_frames_close(&frames);
}

static void bad_files_are_named_with_a_remedy(void **state) {
  Run *run = *state;
  static const struct {
    const char *name;
    unsigned part;
    const char *cut;
  } files[] = {
      {"particles_0002.vtp", FLO_FRAME_PARTICLES, "; restore the file, or run the scene again"},
      {"bodies.csv", FLO_FRAME_BODIES,
       "has no rows for frame 2; restore the original file, or choose one of"},
      {"series.csv", FLO_FRAME_MEASUREMENTS,
       "has no row for frame 2; restore the original file, or choose one"},
  };
  static const size_t sizes[] = {1500, 700, 1500};
  for (size_t k = 0; k < FLO_COUNT_OF(files); k++) {
    cut_file(run, files[k].name, sizes[k]);
    refuse(run, files[k].part, FLO_BAD_INPUT, files[k].name, files[k].cut);
    assert_int_equal(remove_one(files[k].name, run, NULL), FLO_OK);
    refuse(run, files[k].part, FLO_BAD_INPUT, files[k].name,
           "is missing; restore it, or run the scene again");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_frame_has_all_of_a_world, set_up, tear_down),
      cmocka_unit_test_setup_teardown(only_what_is_asked_for_is_taken, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_folder_gives_the_frames_of_the_world, set_up, tear_down),
      cmocka_unit_test_setup_teardown(pictures_do_without_the_series, set_up, tear_down),
      cmocka_unit_test_setup_teardown(bad_files_are_named_with_a_remedy, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
