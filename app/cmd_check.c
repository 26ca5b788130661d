// flotsam check: reads and builds a scene, and tells what running it would mean.
#include "app.h"
#include "base/core.h"
#include "base/timer.h"
#include "io/advice.h"
#include "io/series.h"
#include "io/summary.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const AppUsage usage = {
    .command = "check",
    .arguments = "SCENE",
    .about =
        "Reads and builds SCENE and makes a few steps: finds mistakes, counts particles by part, estimates\n"
        "memory, disk and time, tells the time step and what limits it, and notes what is doubtful: bodies\n"
        "that stand in one another, walls and gaps too thin for the spacing, fluid outside of its tank.\n"
        "Writes nothing.\n"
        "Exit codes: 0 the scene is fine, 1 the step failed, 2 the scene is not fine.",
    .examples = "  flotsam check dam-break\n"
                "  flotsam check my/scene.json --size fine\n"
                "  flotsam check dam-break --set spacing=0.01 --json\n",
    .min_words = 1,
    .max_words = 1,
};

typedef struct Findings {
  size_t fluid, boundary, bytes;
  double dt, steps, frames;
  double seconds;    // that the run may take on this machine
  double disk_bytes; // that its output may take
  const char *limited_by;
  AppTexts advice;
} Findings;

// Particles in a frame's file, after compression: identity, position, velocity, density, pressure.
#define DISK_BYTES_PER_PARTICLE 40

// ---- Finding out ----

// A few steps tell how long one takes; the first also makes the memory that is to be counted.
static FloStatus time_steps(FloWorld *world, double *seconds_per_step, FloError *error) {
  enum { MAX_STEPS = 6 };
  FLO_TRY(flo_world_step(world, NULL, error));
  double since = flo_seconds();
  int n = 0;
  while (n < MAX_STEPS && flo_seconds() - since < 1) {
    FLO_TRY(flo_world_step(world, NULL, error));
    ++n;
  }
  *seconds_per_step = (flo_seconds() - since) / n;
  return FLO_OK;
}

static void keep_advice(void *context, const char *sentence) { app_texts_add(context, sentence); }

static FloStatus find_out(const FloScene *scene, FloWorld *world, Findings *f, FloError *error) {
  double seconds_per_step;
  *f = (Findings){.fluid = flo_world_count(world, FLO_SET_FLUID),
                  .boundary = flo_world_count(world, FLO_SET_BOUNDARY),
                  .frames = ceil(scene->duration * scene->frames_per_second - 1e-6),
                  .limited_by = ""};
  flo_advice_give(scene, world, keep_advice, &f->advice);
  f->dt = flo_world_max_dt(world, &f->limited_by);
  // Every frame's last step is shortened to land on it, so there are never fewer steps than frames.
  f->steps = f->dt > 0 ? fmax(ceil((scene->world.settle + scene->duration) / f->dt), f->frames) : 0;
  FLO_TRY(time_steps(world, &seconds_per_step, error));
  f->bytes = flo_world_memory(world);
  f->seconds = f->steps * seconds_per_step;
  f->disk_bytes = f->frames * (double)(f->fluid + f->boundary) * DISK_BYTES_PER_PARTICLE;
  return FLO_OK;
}

// ---- Telling ----

static void print_duration(double seconds) {
  if (seconds < 90)
    printf("about %.0f s", fmax(seconds, 1));
  else if (seconds < 5400)
    printf("about %.0f minutes", seconds / 60);
  else
    printf("about %.1f hours", seconds / 3600);
}

static void print_parts(const FloScene *scene) {
  for (size_t k = 0; k < flo_scene_count_parts(scene); k++) {
    FloScenePart part = flo_scene_part(scene, k);
    printf("    %-20s %9zu  %s\n", part.name, part.n_particles, part.what);
  }
}

static void print_text(const FloScene *scene, const Findings *f) {
  printf("%s\n", scene->title ? scene->title : scene->name);
  if (scene->shows && scene->shows[0]) printf("%s\n", scene->shows);
  printf("  file       %s\n", scene->path);
  printf("  method     %s\n", scene->world.method);
  printf("  space      %dD, spacing %g m\n", scene->world.dim, scene->world.spacing);
  printf("  particles  %zu fluid, %zu boundary\n", f->fluid, f->boundary);
  print_parts(scene);
  printf("  bodies     %zu\n", scene->n_bodies);
  printf("  memory     %.1f MB\n", (double)f->bytes / 1e6);
  printf("  disk       about %.0f MB\n", ceil(f->disk_bytes / 1e6));
  printf("  time step  %.3g s, limited by %s\n", f->dt, f->limited_by);
  printf("  steps      about %.0f for %g s in %.0f frames", f->steps, scene->duration, f->frames);
  if (scene->world.settle > 0) printf(", after %g s of settling", scene->world.settle);
  putchar('\n');
  printf("  run time   ");
  print_duration(f->seconds);
  printf(" on this machine, if it goes on as it begins\n");
  for (size_t k = 0; k < f->advice.count; k++) printf("  note       %s\n", f->advice.items[k]);
}

static json_t *parts_as_json(const FloScene *scene) {
  json_t *list = json_array();
  for (size_t k = 0; k < flo_scene_count_parts(scene); k++) {
    FloScenePart part = flo_scene_part(scene, k);
    json_array_append_new(list, json_pack("{s:s, s:s, s:I}", "name", part.name, "what", part.what,
                                          "particles", (json_int_t)part.n_particles));
  }
  return list;
}

static json_t *advice_as_json(const Findings *f) {
  json_t *list = json_array();
  for (size_t k = 0; k < f->advice.count; k++) json_array_append_new(list, json_string(f->advice.items[k]));
  return list;
}

static int print_json(const FloScene *scene, const Findings *f) {
  json_t *object = json_pack(
      "{s:s, s:s, s:s, s:i, s:f, s:I, s:I, s:o, s:I, s:I, s:f, s:s, s:I, s:f, s:I, s:f, s:f, s:o}", "title",
      scene->title ? scene->title : scene->name, "scene", scene->path, "method", scene->world.method, "dim",
      scene->world.dim, "spacing", scene->world.spacing, "fluid_particles", (json_int_t)f->fluid,
      "boundary_particles", (json_int_t)f->boundary, "parts", parts_as_json(scene), "bodies",
      (json_int_t)scene->n_bodies, "memory_bytes", (json_int_t)f->bytes, "time_step", f->dt, "limited_by",
      f->limited_by, "steps", (json_int_t)f->steps, "duration", scene->duration, "frames",
      (json_int_t)f->frames, "estimated_seconds", f->seconds, "estimated_disk_bytes", f->disk_bytes, "notes",
      advice_as_json(f));
  char *text = object ? json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;
  json_decref(object);
  if (!text) return app_fail(APP_RUN_FAILED, "cannot put the answer into JSON");
  puts(text);
  free(text);
  return APP_OK;
}

static FloStatus check_expects(const FloScene *scene, FloError *error) {
  FloSeries *series;
  FLO_TRY(flo_series_create(scene, &series, error));
  FloStatus status = flo_summary_check_expects(scene, series, error);
  flo_series_destroy(series);
  return status;
}

static int check(FloScene *scene, bool is_json) {
  FloWorld *world = NULL;
  FloError error;
  Findings findings = {0};
  FloStatus status = check_expects(scene, &error);
  if (status == FLO_OK) status = flo_scene_build(scene, &world, &error);
  if (status == FLO_OK) status = find_out(scene, world, &findings, &error);
  flo_world_destroy(world);
  int exit_code = APP_OK;
  if (status != FLO_OK)
    exit_code = app_fail(app_exit_code(status), "%s", error.text);
  else if (is_json)
    exit_code = print_json(scene, &findings);
  else
    print_text(scene, &findings);
  app_texts_free(&findings.advice);
  return exit_code;
}

int cmd_check(int argc, char **argv) {
  AppSceneArguments arguments = {0};
  AppList words = {0};
  bool is_json = false;
  int exit_code;
  AppOption options[] = {
      APP_SCENE_OPTIONS(&arguments),
      {"--json", NULL, APP_FLAG, &is_json, "print the answer as JSON", 0, 0},
      {0},
  };
  if (!app_parse(&usage, options, argc, argv, &words, &exit_code)) return exit_code;
  arguments.scene = words.items[0];
  FloScene *scene;
  if (!app_load_scene(&arguments, &scene, &exit_code)) return exit_code;
  exit_code = check(scene, is_json);
  flo_scene_destroy(scene);
  return exit_code;
}
