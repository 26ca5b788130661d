// flotsam check: reads and builds a scene, and estimates what a run of it needs.
#include "base/core.h"
#include "base/timer.h"
#include "io/advice.h"
#include "io/series.h"
#include "io/shown.h"
#include "io/summary.h"
#include "run.h"

#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const AppUsage usage = {
    .command = "check",
    .arguments = "SCENE",
    .about =
        "Reads SCENE in all its sizes, builds it and does a few steps. Reports errors; the number of\n"
        "particles of each part; estimates of memory, disk and run time (with the picture at its end);\n"
        "the time step and what limits it. Prints a note for everything doubtful: bodies that overlap,\n"
        "walls and gaps too thin for the spacing, fluid that would fall for ever, emitters, sinks and\n"
        "probes out of reach, motions that begin after the end, keys that the method does not read, absurd\n"
        "speeds, meshes with defects or in millimetres, runs that take too long. 'flotsam run' prints the\n"
        "notes too. Writes no files. With --set, only the chosen size is checked.\n"
        "Exit codes: 0 the scene is valid, 1 a step failed, 2 the scene is not valid.",
    .examples = "  flotsam check dam-break\n"
                "  flotsam check my/scene.json --size fine\n"
                "  flotsam check dam-break --set spacing=0.01 --json\n"
                "  flotsam check dam-break --frames 10\n",
    .min_words = 1,
    .max_words = 1,
};

typedef struct Arguments {
  AppSceneArguments scene;
  double until; // NaN: not given
  int frames;   // -1: not given
  bool is_json, has_no_pictures;
} Arguments;

typedef struct Findings {
  size_t fluid, boundary, rigid, bytes;
  double emitted; // by the end
  double until;   // [s] simulated
  double dt, steps, frames;
  double set_up;     // [s] time for reading and building
  double drawing;    // [s] that the picture at its end may take; 0: none
  double seconds;    // estimate for the run on this machine, with its set-up and picture
  double disk_bytes; // estimate for its output
  const char *limited_by;
  AppTexts advice;
} Findings;

// A run that takes or writes more than this gets a note.
#define LONG_SECONDS (7 * 86400.0)
#define LONG_SET_UP  30.0
#define MANY_STEPS   1e8
#define MANY_BYTES   1e11
#define MANY_FRAMES  1e5
#define MAX_FRAMES   1e6 // the largest number that a scene may have

// Particles in a frame's file, after compression: identity, position, velocity, density, pressure.
#define DISK_BYTES_PER_PARTICLE 40
#define BYTES_PER_EMITTED       1100 // with its neighbours; see docs/performance.md

// ---- Progress ----

// A second thread prints on stderr what is being done: after two seconds, then at growing intervals.
typedef struct Watch {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t wake;
  bool is_running, is_over;
  double began, ignored; // [s] `ignored`: time for work that a run does not do; only the main thread uses it
  char stage[128];       // what is being done
} Watch;

#define FIRST_REPORT 2.0 // [s]

static void *keep_watch(void *context) {
  Watch *watch = context;
  struct timespec due;
  clock_gettime(CLOCK_REALTIME, &due);
  double next = FIRST_REPORT, before = 0;
  pthread_mutex_lock(&watch->lock);
  while (!watch->is_over) {
    due.tv_sec += (time_t)(next - before);
    while (!watch->is_over && pthread_cond_timedwait(&watch->wake, &watch->lock, &due) == 0) continue;
    if (watch->is_over) break;
    fprintf(stderr, "flotsam: check: %s, %.0f s so far\n", watch->stage, flo_seconds() - watch->began);
    fflush(stderr);
    before = next, next *= 2;
  }
  pthread_mutex_unlock(&watch->lock);
  return NULL;
}

__attribute__((format(printf, 2, 3))) static void begin_stage(Watch *watch, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  pthread_mutex_lock(&watch->lock);
  vsnprintf(watch->stage, sizeof watch->stage, format, arguments);
  pthread_mutex_unlock(&watch->lock);
  va_end(arguments);
}

// If the thread cannot be started, only the progress is missing.
static void begin_watch(Watch *watch) {
  *watch = (Watch){.began = flo_seconds(), .stage = "reading the scene"};
  pthread_mutex_init(&watch->lock, NULL);
  pthread_cond_init(&watch->wake, NULL);
  watch->is_running = pthread_create(&watch->thread, NULL, keep_watch, watch) == 0;
}

static void end_watch(Watch *watch) {
  pthread_mutex_lock(&watch->lock);
  watch->is_over = true;
  pthread_cond_signal(&watch->wake);
  pthread_mutex_unlock(&watch->lock);
  if (watch->is_running) pthread_join(watch->thread, NULL);
  pthread_cond_destroy(&watch->wake);
  pthread_mutex_destroy(&watch->lock);
}

// ---- Finding out ----

// Times a few steps. The first step also allocates the memory that is counted.
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

static FloStatus time_picture(const FloScene *scene, const FloFrame *frame, const AppPicture *picture,
                              double *seconds, FloError *error) {
  uint8_t *rgb = NULL;
  double since = flo_seconds();
  FLO_TRY(app_paint(scene, frame, picture, &rgb, error));
  *seconds = flo_seconds() - since;
  free(rgb);
  return FLO_OK;
}

// The time for one picture is a constant for the scene plus a time for each pixel. Two small pictures give
// both.
static FloStatus measure_drawing(const Arguments *arguments, const FloScene *scene, FloWorld *world,
                                 double *seconds, FloError *error) {
  enum { COARSE = 8, FINE = 4 };
  AppView view;
  AppPicture picture = {.threads = arguments->scene.threads, .view = &view};
  FloFrame frame;
  int width, height;
  double coarse = 0, fine = 0;
  app_picture_size(&picture, &width, &height);
  FLO_TRY(app_view_of_scene(scene, &(AppPicture){0}, &view, error));
  FLO_TRY(flo_frame_take(scene, world, 0, FLO_FRAME_PICTURE, &frame, error));
  picture.width = width / COARSE, picture.height = height / COARSE;
  FloStatus status = time_picture(scene, &frame, &picture, &coarse, error);
  picture.width = width / FINE, picture.height = height / FINE;
  if (status == FLO_OK) status = time_picture(scene, &frame, &picture, &fine, error);
  flo_frame_free(&frame);
  const double c = 1.0 / (COARSE * COARSE), f = 1.0 / (FINE * FINE);
  double per_picture = fmax(fine - coarse, 0) / (f - c);
  *seconds = fmax(fine - per_picture * f, 0) + per_picture;
  return status;
}

static void add_picture(Findings *f, double seconds) {
  f->drawing = seconds;
  f->seconds += seconds;
}

static void keep_advice(void *context, const char *sentence) {
  char text[2048];
  app_texts_add(context, flo_shown_escape(sentence, text, sizeof text));
}

// Writes a duration in a suitable unit.
static const char *describe_duration(double seconds, char text[64]) {
  static const struct {
    double limit, unit;
    const char *format;
  } words[] = {{90, 1, "about %.0f s"},
               {5400, 60, "about %.0f minutes"},
               {172800, 3600, "about %.1f hours"},
               {63072000, 86400, "about %.0f days"},
               {INFINITY, 31536000, "about %.3g years"}};
  size_t k = 0;
  while (k + 1 < FLO_COUNT_OF(words) && seconds >= words[k].limit) ++k;
  snprintf(text, 64, words[k].format, fmax(seconds, 1) / words[k].unit);
  return text;
}

// Values that are valid but hardly intended.
static void advise_on_effort(const FloScene *scene, Findings *f) {
  char text[512], duration[64], size[32];
  double fixed = scene->world.time_step;
  if (f->steps > MANY_STEPS || f->seconds > LONG_SECONDS) {
    snprintf(text, sizeof text, "a time step of %.3g s needs %.3g steps, %s on this machine; %s", f->dt,
             f->steps, describe_duration(f->seconds, duration),
             fixed > 0 ? "set time_step to 0: the method then uses the longest stable step"
                       : "use a larger spacing or a shorter duration");
    app_texts_add(&f->advice, text);
  }
  if (f->set_up > LONG_SET_UP) {
    snprintf(text, sizeof text,
             "building the scene alone takes %s; use a larger spacing, which needs fewer particles",
             describe_duration(f->set_up, duration));
    app_texts_add(&f->advice, text);
  }
  if (f->disk_bytes > MANY_BYTES || f->frames > MANY_FRAMES) {
    snprintf(
        text, sizeof text,
        "%.3g frames would fill about %s of the disk, one file each; set frames_per_second lower than %g",
        f->frames, app_describe_size(f->disk_bytes, size), scene->frames_per_second);
    app_texts_add(&f->advice, text);
  }
}

// The same frames that `flotsam run` would write.
static void plan(const Arguments *a, const FloScene *scene, Findings *f) {
  double fps = scene->frames_per_second;
  f->until = a->frames >= 0 ? a->frames / fps : isnan(a->until) ? scene->duration : a->until;
  f->frames = a->frames >= 0 ? a->frames : ceil(f->until * fps - 1e-6);
}

// The loads of joints are known after the first step.
static void limit_by_joints(FloWorld *world, Findings *f) {
  const char *limited_by;
  const double dt = flo_world_max_dt(world, &limited_by);
  if (dt < f->dt && !strcmp(limited_by, "joints")) f->dt = dt, f->limited_by = limited_by;
}

static FloStatus find_out(const Arguments *arguments, const FloScene *scene, FloWorld *world, Watch *watch,
                          Findings *f, FloError *error) {
  double seconds_per_step, seconds_per_picture = 0;
  *f = (Findings){.fluid = flo_world_count(world, FLO_SET_FLUID),
                  .boundary = flo_world_count(world, FLO_SET_BOUNDARY),
                  .rigid = flo_world_count(world, FLO_SET_RIGID),
                  .set_up = flo_seconds() - watch->began - watch->ignored,
                  .limited_by = ""};
  f->emitted = flo_scene_emitted(scene);
  plan(arguments, scene, f);
  FLO_TRY(flo_advice_check_speeds(scene, world, error));
  begin_stage(watch, "checking %zu particles for doubtful values", f->fluid + f->boundary + f->rigid);
  flo_advice_give(scene, world, keep_advice, &f->advice);
  begin_stage(watch, "timing a picture of %zu particles", f->fluid + f->boundary + f->rigid);
  if (!arguments->has_no_pictures)
    FLO_TRY(measure_drawing(arguments, scene, world, &seconds_per_picture, error));
  begin_stage(watch, "timing a few steps of %zu particles", f->fluid + f->boundary + f->rigid);
  f->dt = flo_world_max_dt(world, &f->limited_by);
  FLO_TRY(time_steps(world, &seconds_per_step, error));
  limit_by_joints(world, f);
  // The last step before a frame is shortened to end at the frame's time, so there are at least as many steps
  // as frames.
  f->steps = f->dt > 0 ? fmax(ceil((scene->world.settle + f->until) / f->dt), f->frames) : 0;
  // Emitters add particles at a constant rate: on average, half of them exist.
  double now = (double)(f->fluid + f->boundary + f->rigid), average = now + f->emitted / 2;
  f->bytes = flo_world_memory(world) + (size_t)(f->emitted * BYTES_PER_EMITTED);
  f->seconds = f->set_up + f->steps * seconds_per_step * fmax(average / fmax(now, 1), 1);
  if (!arguments->has_no_pictures) add_picture(f, seconds_per_picture);
  f->disk_bytes = (f->frames + 1) * average * DISK_BYTES_PER_PARTICLE;
  advise_on_effort(scene, f);
  return FLO_OK;
}

// ---- Telling ----

static void print_parts(const FloScene *scene) {
  for (size_t k = 0; k < flo_scene_count_parts(scene); k++) {
    FloScenePart part = flo_scene_part(scene, k);
    printf("    %-20s %9zu  %s\n", part.name, part.n_particles, part.what);
  }
}

static size_t count_bodies(const FloScene *scene) {
  size_t n = 0;
  for (size_t k = 0; k < scene->n_bodies; k++) n += flo_scene_is_body(&scene->bodies[k]);
  return n;
}

// What a joint joins: a body and another one, or two joints.
static void name_ends(const FloScene *scene, const FloSceneJoint *joint, const char *ends[2]) {
  const bool is_gear = joint->def.kind == FLO_JOINT_GEAR;
  for (int k = 0; k < 2; k++)
    ends[k] = is_gear ? scene->joints[joint->of[k]].name : scene->bodies[joint->of[k]].name;
  if (!is_gear && !joint->has_to) ends[0] = "the world";
}

static void print_joints(const FloScene *scene) {
  const char *ends[2];
  if (scene->n_joints == 0) return;
  printf("  joints     %zu\n", scene->n_joints);
  for (size_t k = 0; k < scene->n_joints; k++) {
    const FloSceneJoint *joint = &scene->joints[k];
    name_ends(scene, joint, ends);
    printf("    %-20s %s of %s to %s%s\n", joint->name, flo_joint_kind_name(joint->def.kind), ends[1],
           ends[0], joint->def.motor.kind == FLO_MOTOR_FREE ? "" : ", with a motor");
  }
}

static json_t *joints_as_json(const FloScene *scene) {
  json_t *list = json_array();
  const char *ends[2];
  for (size_t k = 0; k < scene->n_joints; k++) {
    const FloSceneJoint *joint = &scene->joints[k];
    name_ends(scene, joint, ends);
    json_array_append_new(list,
                          json_pack("{s:s, s:s, s:s, s:s}", "name", joint->name, "kind",
                                    flo_joint_kind_name(joint->def.kind), "of", ends[1], "to", ends[0]));
  }
  return list;
}

// A title may come from a file's name, which may hold any bytes.
static const char *title_of(const FloScene *scene) { return scene->title ? scene->title : scene->name; }

static void print_head(const FloScene *scene) {
  char text[8192];
  printf("%s\n", flo_shown_escape(title_of(scene), text, sizeof text));
  if (scene->shows && scene->shows[0]) printf("%s\n", flo_shown_escape(scene->shows, text, sizeof text));
  printf("  file       %s\n", flo_shown_escape(scene->path, text, sizeof text));
}

static void print_text(const FloScene *scene, const Findings *f) {
  char duration[64], size[32];
  print_head(scene);
  printf("  method     %s\n", scene->world.method);
  printf("  space      %dD, spacing %g m\n", scene->world.dim, scene->world.spacing);
  printf("  particles  %zu fluid, %zu boundary", f->fluid, f->boundary);
  if (f->rigid > 0) printf(", %zu of bodies", f->rigid);
  if (f->emitted >= 1) printf("; emitters add up to %.0f", f->emitted);
  putchar('\n');
  print_parts(scene);
  printf("  bodies     %zu\n", count_bodies(scene));
  print_joints(scene);
  printf("  memory     %s\n", app_describe_size((double)f->bytes, size));
  // The files for tables, checkpoints and pictures have this size at least; smaller estimates are not
  // reliable.
  printf("  disk       about %s\n", app_describe_size(fmax(f->disk_bytes, 1e6), size));
  printf("  time step  %.3g s, limited by %s\n", f->dt, f->limited_by);
  printf("  steps      about %.0f for %g s in %.0f frames", f->steps, f->until, f->frames);
  if (scene->world.settle > 0) printf(", after %g s of settling", scene->world.settle);
  printf("\n  set-up     %s\n", describe_duration(f->set_up, duration));
  printf("  run time   %s on this machine, set-up included, if steps stay as fast as the first ones\n",
         describe_duration(f->seconds, duration));
  if (f->drawing > 0)
    printf(
        "  picture    %s of that; --no-picture leaves it out, 'flotsam render' draws more and makes movies\n",
        describe_duration(f->drawing, duration));
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
  char title[1024], path[2048];
  json_t *object = json_pack(
      "{s:s, s:s, s:s, s:i, s:f, s:I, s:f, s:I, s:I, s:o, s:I, s:I, s:f, s:s, s:I, s:f, s:I, s:f, "
      "s:f, s:f, s:f, s:o, s:o}",
      "title", flo_shown_escape(title_of(scene), title, sizeof title), "scene",
      flo_shown_escape(scene->path, path, sizeof path), "method", scene->world.method, "dim",
      scene->world.dim, "spacing", scene->world.spacing, "fluid_particles", (json_int_t)f->fluid, "emitted",
      f->emitted, "boundary_particles", (json_int_t)f->boundary, "rigid_particles", (json_int_t)f->rigid,
      "parts", parts_as_json(scene), "bodies", (json_int_t)count_bodies(scene), "memory_bytes",
      (json_int_t)f->bytes, "time_step", f->dt, "limited_by", f->limited_by, "steps",
      (json_int_t)fmin(f->steps, 9e18), "duration", f->until, "frames", (json_int_t)f->frames,
      "set_up_seconds", f->set_up, "picture_seconds", f->drawing, "estimated_seconds", f->seconds,
      "estimated_disk_bytes", f->disk_bytes, "notes", advice_as_json(f), "joints", joints_as_json(scene));
  char *text = object ? json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;
  json_decref(object);
  if (!text) return app_fail(APP_RUN_FAILED, "cannot write the result as JSON: no memory");
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

// A scene that needs more memory than the machine has is refused: building it would make the machine
// unusable.
static FloStatus check_memory(const FloScene *scene, const FloSetUp *set_up, FloError *error) {
  double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  char needed[32], there[32];
  if (!(memory > 0) || set_up->bytes <= memory) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "%s: about %.3g particles would need %s of memory, but this machine has %s; use a larger "
                  "spacing, which needs fewer",
                  scene->path, set_up->n_fluid + set_up->n_boundary, app_describe_size(set_up->bytes, needed),
                  app_describe_size(memory, there));
}

// Sizes that were not chosen are checked too. Not with --set, whose values are meant for the chosen size
// only.
static FloStatus check_other_sizes(const Arguments *arguments, const FloScene *scene, FloError *error) {
  FloSceneOptions options = {.method = arguments->scene.method, .size = arguments->scene.size};
  if (arguments->scene.sets.count > 0) return FLO_OK;
  return flo_advice_check_sizes(scene->path, &options, error);
}

static FloStatus build(const Arguments *arguments, FloScene *scene, Watch *watch, FloWorld **world,
                       FloError *error) {
  FloSetUp set_up = flo_advice_estimate_set_up(scene);
  char duration[64];
  FLO_TRY(check_expects(scene, error));
  begin_stage(watch, "reading the scene's other sizes");
  double since = flo_seconds();
  FLO_TRY(check_other_sizes(arguments, scene, error));
  // A run does not do this.
  watch->ignored = flo_seconds() - since;
  FLO_TRY(check_memory(scene, &set_up, error));
  begin_stage(watch, "setting up about %.3g particles, which may take %s", set_up.n_fluid + set_up.n_boundary,
              describe_duration(set_up.seconds, duration));
  return flo_scene_build(scene, world, error);
}

// The message of a failed step does not name the scene file, so it is added here; except for a fixed time
// step, whose message has it.
static int explain(const FloScene *scene, FloError *error) {
  FloStatus status = error->status;
  const char *file = status == FLO_DIVERGED && scene->world.time_step == 0 ? scene->path : "";
  flo_advice_explain_divergence(scene, error);
  char text[sizeof error->text + sizeof scene->path + 4];
  snprintf(text, sizeof text, "%s%s%s", file, file[0] ? ": " : "", error->text);
  flo_shown_mask(text);
  return app_fail(app_exit_code(status), "%s", text);
}

static int check(const Arguments *arguments, FloScene *scene, Watch *watch) {
  FloWorld *world = NULL;
  FloError error;
  Findings findings = {0};
  FloStatus status = build(arguments, scene, watch, &world, &error);
  if (status == FLO_OK) status = find_out(arguments, scene, world, watch, &findings, &error);
  flo_world_destroy(world);
  end_watch(watch);
  int exit_code = APP_OK;
  if (status != FLO_OK) {
    exit_code = explain(scene, &error);
  } else if (arguments->is_json) {
    exit_code = print_json(scene, &findings);
  } else {
    print_text(scene, &findings);
  }
  app_texts_free(&findings.advice);
  return exit_code;
}

int cmd_check(int argc, char **argv) {
  Arguments arguments = {.until = NAN, .frames = -1};
  AppList words = {0};
  int exit_code;
  AppOption options[] = {
      APP_SCENE_OPTIONS(&arguments.scene),
      {"--until", "T", APP_NUMBER, &arguments.until, "estimate a run that ends at this time in seconds", 0,
       1e9},
      {"--frames", "N", APP_INTEGER, &arguments.frames, "estimate a run of this many frames", 0, MAX_FRAMES},
      {"--no-picture", NULL, APP_FLAG, &arguments.has_no_pictures, "estimate a run without its picture", 0,
       0},
      {"--json", NULL, APP_FLAG, &arguments.is_json, "print the result as JSON", 0, 0},
      {0},
  };
  if (!app_parse(&usage, options, argc, argv, &words, &exit_code)) return exit_code;
  if (!isnan(arguments.until) && arguments.frames >= 0)
    return app_fail(APP_BAD_INPUT, "check: --until and --frames exclude each other; give only one");
  arguments.scene.scene = words.items[0];
  FloScene *scene;
  Watch watch;
  begin_watch(&watch);
  if (!app_load_scene(&arguments.scene, &scene, &exit_code)) {
    end_watch(&watch);
    return exit_code;
  }
  exit_code = check(&arguments, scene, &watch);
  flo_scene_destroy(scene);
  return exit_code;
}
