// flotsam check: reads and builds a scene, and tells what running it would mean.
#include "app.h"
#include "base/core.h"
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
        "Reads and builds SCENE and makes one step: finds mistakes, counts particles and memory, and tells "
        "the\n"
        "time step, what limits it and how many steps a run would take if it stayed so. Writes nothing.\n"
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
  const char *limited_by;
} Findings;

// Makes one step as well: only then is the memory for pairs of particles there to be counted.
static FloStatus find_out(const FloScene *scene, FloWorld *world, Findings *f, FloError *error) {
  *f = (Findings){.fluid = flo_world_count(world, FLO_SET_FLUID),
                  .boundary = flo_world_count(world, FLO_SET_BOUNDARY),
                  .frames = ceil(scene->duration * scene->frames_per_second - 1e-6),
                  .limited_by = ""};
  f->dt = flo_world_max_dt(world, &f->limited_by);
  // Every frame's last step is shortened to land on it, so there are never fewer steps than frames.
  f->steps = f->dt > 0 ? fmax(ceil(scene->duration / f->dt), f->frames) : 0;
  FLO_TRY(flo_world_step(world, NULL, error));
  f->bytes = flo_world_memory(world);
  return FLO_OK;
}

static void print_text(const FloScene *scene, const Findings *f) {
  printf("%s\n", scene->title ? scene->title : scene->name);
  if (scene->shows && scene->shows[0]) printf("%s\n", scene->shows);
  printf("  file       %s\n", scene->path);
  printf("  method     %s\n", scene->world.method);
  printf("  space      %dD, spacing %g m\n", scene->world.dim, scene->world.spacing);
  printf("  particles  %zu fluid, %zu boundary\n", f->fluid, f->boundary);
  printf("  bodies     %zu\n", scene->n_bodies);
  printf("  memory     %.1f MB\n", (double)f->bytes / 1e6);
  printf("  time step  %.3g s, limited by %s\n", f->dt, f->limited_by);
  printf("  steps      about %.0f for %g s in %.0f frames\n", f->steps, scene->duration, f->frames);
}

static int print_json(const FloScene *scene, const Findings *f) {
  json_t *object = json_pack(
      "{s:s, s:s, s:s, s:i, s:f, s:I, s:I, s:I, s:I, s:f, s:s, s:I, s:f, s:I}", "title",
      scene->title ? scene->title : scene->name, "scene", scene->path, "method", scene->world.method, "dim",
      scene->world.dim, "spacing", scene->world.spacing, "fluid_particles", (json_int_t)f->fluid,
      "boundary_particles", (json_int_t)f->boundary, "bodies", (json_int_t)scene->n_bodies, "memory_bytes",
      (json_int_t)f->bytes, "time_step", f->dt, "limited_by", f->limited_by, "steps", (json_int_t)f->steps,
      "duration", scene->duration, "frames", (json_int_t)f->frames);
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
  Findings findings;
  FloStatus status = check_expects(scene, &error);
  if (status == FLO_OK) status = flo_scene_build(scene, &world, &error);
  if (status == FLO_OK) status = find_out(scene, world, &findings, &error);
  flo_world_destroy(world);
  if (status != FLO_OK) return app_fail(app_exit_code(status), "%s", error.text);
  if (is_json) return print_json(scene, &findings);
  print_text(scene, &findings);
  return APP_OK;
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
