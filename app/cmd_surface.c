// flotsam surface: the surface of the fluid in the frames of a run, as triangles.
#include "app.h"
#include "base/core.h"
#include "base/timer.h"
#include "io/run_folder.h"
#include "io/scene_steps.h"
#include "io/suggest.h"
#include "io/vtk.h"
#include "surface/surface_file.h"
#include "surface/walls.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const AppUsage usage = {
    .command = "surface",
    .arguments = "DIR",
    .about =
        "Makes closed triangle meshes of the fluid, with normals and velocities, in all frames of the run\n"
        "in the folder DIR or in those that --frames names: DIR/surface/surface_000012.ply and so on. A\n"
        "mesh that exists is kept unless its particles or the settings have changed, so that an\n"
        "interrupted command can be repeated to continue. The surface does not reach into solids, except\n"
        "into rigid bodies.\n"
        "Exit codes: 0 done, 1 a file could not be written, 2 bad input.",
    .examples = "  flotsam surface runs/dam-break\n"
                "  flotsam surface runs/dam-break --frames 10:30 --format obj\n"
                "  flotsam surface runs/dam-break --kernel anisotropic --drop-spray --out meshes\n"
                "  flotsam surface runs/dam-break --format vtp\n",
    .min_words = 1,
    .max_words = 1,
};

typedef struct Arguments {
  const char *folder, *frames, *format, *kernel, *out;
  double cell, radius;          // in spacings; 0: not given
  int smoothing, min_particles; // -1: not given
  int threads;
  bool drops_spray, is_unclipped, is_forced, is_json, is_quiet;
} Arguments;

typedef struct Job {
  const Arguments *arguments;
  FloScene *scene;
  FloRunFrames frames;
  FloSurfaceDef def;
  FloSurfaceFormat format;
  FloWalls walls;
  FloSignedField region;
  char out[FLO_PATH_SIZE];
  struct timespec settings_time; // time of the last change of the settings
  size_t n_frames;               // in the folder
  size_t first, last, step;
  size_t n_made, n_there;
  AppProgress progress;
  FloMemory memory;
  FloError error;
} Job;

// ---- Arguments ----

static bool parse(int argc, char **argv, Arguments *a, int *exit_code) {
  AppList words = {0};
  *a = (Arguments){.format = "ply", .kernel = "isotropic", .smoothing = -1, .min_particles = -1};
  AppOption options[] = {
      {"--frames", "A:B[:STEP]", APP_TEXT, &a->frames,
       "frames A to B, every STEP-th; A or B may be left out (default: all)", 0, 0},
      {"--format", "ply|obj|vtp", APP_TEXT, &a->format,
       "format of the files; vtp also writes surface.pvd (default: ply)", 0, 0},
      {"--kernel", "isotropic|anisotropic", APP_TEXT, &a->kernel,
       "how particles are blended; anisotropic gives sharper edges and is slower", 0, 0},
      {"--cell", "SPACINGS", APP_NUMBER, &a->cell,
       "width of a grid cell in particle spacings; smaller is finer and slower (default: 0.5)", 0.125, 1},
      {"--radius", "SPACINGS", APP_NUMBER, &a->radius,
       "radius of a particle in particle spacings; larger thickens the surface (default: 0.545)", 0.25, 1},
      {"--smoothing", "N", APP_INTEGER, &a->smoothing,
       "rounds of smoothing; more is smoother, 0 is none (default: 8)", 0, 1000},
      {"--min-particles", "N", APP_INTEGER, &a->min_particles,
       "leave out clusters with fewer particles than this", 1, 1e9},
      {"--drop-spray", NULL, APP_FLAG, &a->drops_spray, "leave out single particles", 0, 0},
      {"--no-clip", NULL, APP_FLAG, &a->is_unclipped, "let the surface reach into walls and other solids", 0,
       0},
      {"--out", "DIR", APP_TEXT, &a->out, "folder for the files (default: DIR/surface)", 0, 0},
      {"--force", NULL, APP_FLAG, &a->is_forced, "make all frames again, also those that exist", 0, 0},
      {"--json", NULL, APP_FLAG, &a->is_json, "print one line of JSON for each frame", 0, 0},
      {"--threads", "N", APP_INTEGER, &a->threads, "worker threads (default: OMP_NUM_THREADS, or all cores)",
       1, 1024},
      {"--quiet", NULL, APP_FLAG, &a->is_quiet, "print nothing unless something fails", 0, 0},
      {0},
  };
  if (!app_parse(&usage, options, argc, argv, &words, exit_code)) return false;
  a->folder = words.items[0];
  return true;
}

static FloStatus choose_format(Job *job) {
  char buffer[128];
  const char *name = job->arguments->format;
  if (flo_surface_format_from_name(name, &job->format)) return FLO_OK;
  FloSuggestion suggestion = flo_suggest_start(name);
  for (int k = 0; k < FLO_SURFACE_FORMAT_COUNT; k++)
    flo_suggest_offer(&suggestion, flo_surface_format_name((FloSurfaceFormat)k));
  return flo_fail(&job->error, FLO_BAD_INPUT, "surface: --format must be ply, obj or vtp, not '%s'%s", name,
                  flo_suggest_text(&suggestion, buffer));
}

static FloStatus choose_kernel(Job *job) {
  char buffer[128];
  const char *name = job->arguments->kernel;
  if (flo_surface_kernel_from_name(name, &job->def.kernel)) return FLO_OK;
  FloSuggestion suggestion = flo_suggest_start(name);
  for (int k = 0; k < FLO_SURFACE_KERNEL_COUNT; k++)
    flo_suggest_offer(&suggestion, flo_surface_kernel_name((FloSurfaceKernel)k));
  return flo_fail(&job->error, FLO_BAD_INPUT,
                  "surface: --kernel must be isotropic or anisotropic, not '%s'%s", name,
                  flo_suggest_text(&suggestion, buffer));
}

// ---- Walls ----

// Whether a frame must be read with its bodies: moving solids are at other places than at the start.
static bool needs_bodies(const Job *job) {
  bool is_moving = false;
  for (size_t b = 0; b < job->scene->n_bodies; b++)
    is_moving = is_moving || job->scene->bodies[b].def.kind == FLO_BODY_KINEMATIC;
  return is_moving && !job->arguments->is_unclipped;
}

static FloStatus place_walls(Job *job, size_t number) {
  FloFrame frame;
  FloError reason;
  if (!needs_bodies(job)) return FLO_OK;
  if (flo_frame_read(&job->frames, number, FLO_FRAME_BODIES, &frame, &reason) != FLO_OK)
    return flo_fail(&job->error, FLO_BAD_INPUT, "%.800s; use --no-clip, which does not need it", reason.text);
  flo_walls_place(&job->walls, frame.bodies);
  flo_frame_free(&frame);
  return FLO_OK;
}

static FloStatus make_walls(Job *job) {
  const FloScene *scene = job->scene;
  if (job->arguments->is_unclipped) return FLO_OK;
  FLO_TRY(flo_walls_of_bodies(&job->walls, scene->bodies, NULL, scene->n_bodies, scene->world.spacing, 1,
                              job->arguments->threads, &job->memory, &job->error));
  job->region = flo_walls_region(&job->walls);
  if (!flo_walls_is_empty(&job->walls)) job->def.region = &job->region;
  return FLO_OK;
}

// ---- What to do ----

static void choose_def(Job *job) {
  const Arguments *a = job->arguments;
  const FloSurfaceKernel kernel = job->def.kernel;
  double spacing = job->scene->world.spacing;
  job->def = flo_surface_default_def(spacing);
  job->def.kernel = kernel;
  job->def.threads = a->threads;
  job->def.memory_limit = app_memory_limit();
  if (a->cell > 0) job->def.cell = a->cell * spacing;
  if (a->radius > 0) job->def.radius = a->radius * spacing;
  if (a->smoothing >= 0) job->def.smoothing = a->smoothing;
  if (a->drops_spray) job->def.min_particles = 2;
  if (a->min_particles >= 0 && (size_t)a->min_particles > job->def.min_particles)
    job->def.min_particles = (size_t)a->min_particles;
}

static FloStatus plan(Job *job) {
  size_t numbers[3] = {0, job->n_frames - 1, 1};
  const char *text = job->arguments->frames;
  bool is_single;
  if (text && (!app_read_frames(text, numbers, &is_single) || numbers[2] == 0))
    return flo_fail(&job->error, FLO_BAD_INPUT,
                    "surface: --frames needs A:B or A:B:STEP such as 0:20:2, not '%s'", text);
  job->first = numbers[0], job->last = numbers[1], job->step = numbers[2];
  size_t farthest = flo_max_size(job->first, job->last);
  if (farthest >= job->n_frames)
    return flo_fail(&job->error, FLO_BAD_INPUT, "surface: there is no frame %zu; the last one is %zu",
                    farthest, job->n_frames - 1);
  if (job->first > job->last)
    return flo_fail(&job->error, FLO_BAD_INPUT,
                    "surface: --frames %s: the first frame is after the last; exchange them", text);
  return FLO_OK;
}

static size_t count_planned(const Job *job) { return (job->last - job->first) / job->step + 1; }

// ---- The folder ----

static FloStatus frame_path(Job *job, size_t frame, char path[FLO_PATH_SIZE]) {
  char name[64];
  snprintf(name, sizeof name, "surface_%06zu.%s", frame, flo_surface_format_name(job->format));
  return flo_path_join(job->out, name, path, &job->error);
}

static char *settings_text(const Job *job) {
  const FloSurfaceDef *def = &job->def;
  json_t *object = json_pack("{s:s, s:f, s:f, s:f, s:i, s:I, s:b}", "kernel",
                             flo_surface_kernel_name(def->kernel), "spacing", def->spacing, "radius",
                             def->radius, "cell", def->cell, "smoothing", def->smoothing, "min_particles",
                             (json_int_t)def->min_particles, "clipped", def->region != NULL);
  char *text = object ? json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
  json_decref(object);
  return text;
}

// A folder that cannot be written is bad input.
static FloStatus prepare_folder(Job *job) {
  const Arguments *a = job->arguments;
  if (a->out && snprintf(job->out, sizeof job->out, "%s", a->out) >= (int)sizeof job->out)
    return flo_fail(&job->error, FLO_BAD_INPUT, "%.200s...: path too long", a->out);
  if (!a->out) FLO_TRY(flo_path_join(a->folder, "surface", job->out, &job->error));
  FloStatus status = flo_folder_make(job->out, &job->error);
  char *text = status == FLO_OK ? settings_text(job) : NULL;
  if (status == FLO_OK && !text) return flo_fail(&job->error, FLO_NO_MEMORY, "no memory for the settings");
  if (status == FLO_OK) status = app_note_settings(job->out, text, &job->settings_time, &job->error);
  free(text);
  return status == FLO_IO_FAILED ? FLO_BAD_INPUT : status;
}

// ---- Frames ----

// Fluid particles come first in a frame.
static FloStatus take_fluid(const FloFrame *frame, double **positions, FloError *error) {
  const size_t n = frame->counts[FLO_SET_FLUID];
  *positions = malloc((n + 1) * sizeof(double[3]));
  if (!*positions) return flo_fail(error, FLO_NO_MEMORY, "no memory for a frame of %zu particles", n);
  for (size_t k = 0; k < 3 * n; k++) (*positions)[k] = (double)frame->positions[k];
  return FLO_OK;
}

static void print_json(size_t frame, double time, const char *path, const FloSurfaceMesh *surface,
                       double seconds) {
  json_t *line =
      json_pack("{s:I, s:f, s:s, s:b, s:I, s:I, s:I, s:I, s:f, s:f, s:f}", "frame", (json_int_t)frame, "time",
                time, "path", path, "was_there", false, "particles", (json_int_t)surface->n_particles,
                "vertices", (json_int_t)surface->mesh.n_vertices, "triangles",
                (json_int_t)surface->mesh.n_triangles, "components", (json_int_t)surface->n_components,
                "volume", surface->volume, "area", surface->area, "seconds", seconds);
  char *text = line ? json_dumps(line, JSON_REAL_PRECISION(9)) : NULL;
  if (text) puts(text);
  free(text);
  json_decref(line);
}

static void tell(Job *job, size_t frame, double time, const char *path, const FloSurfaceMesh *surface,
                 double seconds) {
  app_progress_end(&job->progress);
  if (job->arguments->is_json)
    print_json(frame, time, path, surface, seconds);
  else if (!job->arguments->is_quiet)
    printf("surface  %s: %zu triangles, %.6g m3, %.2f s\n", path, surface->mesh.n_triangles, surface->volume,
           seconds);
  fflush(stdout);
}

static void tell_there(Job *job, size_t frame, const char *path) {
  job->n_there++;
  if (!job->arguments->is_json) return;
  json_t *line = json_pack("{s:I, s:s, s:b}", "frame", (json_int_t)frame, "path", path, "was_there", true);
  char *text = line ? json_dumps(line, 0) : NULL;
  if (text) puts(text);
  free(text);
  json_decref(line);
}

static FloStatus build_and_write(Job *job, const FloFrame *frame, const char *path) {
  FloSurfaceMesh surface;
  double *positions, began = flo_seconds();
  FLO_TRY(take_fluid(frame, &positions, &job->error));
  FloStatus status = flo_surface_build(&job->def, positions, frame->velocity, frame->counts[FLO_SET_FLUID],
                                       &surface, &job->memory, &job->error);
  free(positions);
  if (status == FLO_OK) status = flo_surface_write(path, job->format, &surface, frame->time, &job->error);
  if (status == FLO_OK) tell(job, frame->number, frame->time, path, &surface, flo_seconds() - began);
  flo_surface_free(&surface);
  return status;
}

// Messages of the library do not name the frame; it is added here.
static FloStatus name_frame(Job *job, FloStatus status, const char *particles) {
  if (status != FLO_BAD_INPUT || strstr(job->error.text, particles)) return status;
  FloError cause = job->error;
  return flo_fail(&job->error, status, "%s: %s", particles, cause.text);
}

static FloStatus make_frame(Job *job, size_t number, const char *particles, const char *path) {
  FloFrame frame;
  FLO_TRY(place_walls(job, number));
  FLO_TRY(flo_frame_read(&job->frames, number, FLO_FRAME_PARTICLES, &frame, &job->error));
  FloStatus status = build_and_write(job, &frame, path);
  flo_frame_free(&frame);
  job->n_made++;
  return name_frame(job, status, particles);
}

static void show_progress(Job *job, size_t frame) {
  char text[64];
  size_t n_done = job->n_made + job->n_there;
  if (!app_progress_is_due(&job->progress)) return;
  snprintf(text, sizeof text, "frame %zu, %zu of %zu", frame, n_done + 1, count_planned(job));
  app_progress_tell(&job->progress, (double)n_done, text);
}

static FloStatus make_frames(Job *job) {
  app_progress_begin(&job->progress, 0, (double)count_planned(job), job->arguments->is_quiet);
  FloStatus status = FLO_OK;
  for (size_t frame = job->first; status == FLO_OK && frame <= job->last; frame += job->step) {
    char particles[FLO_PATH_SIZE], path[FLO_PATH_SIZE];
    status = flo_run_folder_frame_path(job->arguments->folder, frame, particles, &job->error);
    if (status == FLO_OK) status = frame_path(job, frame, path);
    if (status != FLO_OK) break;
    show_progress(job, frame);
    if (!job->arguments->is_forced && app_is_current(path, particles, &job->settings_time))
      tell_there(job, frame, path);
    else
      status = make_frame(job, frame, particles, path);
  }
  app_progress_end(&job->progress);
  return status;
}

// ---- The list of all surfaces ----

static FloStatus write_collection(Job *job, char (*texts)[64], const char **names, double *times) {
  char path[FLO_PATH_SIZE], particles[FLO_PATH_SIZE];
  size_t n = 0;
  for (size_t frame = 0; frame < job->n_frames; frame++) {
    FLO_TRY(flo_run_folder_frame_path(job->arguments->folder, frame, particles, &job->error));
    FLO_TRY(frame_path(job, frame, path));
    if (!app_is_current(path, particles, &job->settings_time)) continue;
    snprintf(texts[n], sizeof texts[n], "surface_%06zu.vtp", frame);
    names[n] = texts[n];
    times[n++] = flo_run_frames_time(&job->frames, frame);
  }
  FLO_TRY(flo_path_join(job->out, "surface.pvd", path, &job->error));
  return flo_vtk_write_collection(path, n, 1, names, times, &job->error);
}

// Lists all surfaces that exist, also those of earlier calls with the same settings.
static FloStatus make_film(Job *job) {
  if (job->format != FLO_SURFACE_VTP) return FLO_OK;
  char(*texts)[64] = calloc(job->n_frames, sizeof *texts);
  const char **names = calloc(job->n_frames, sizeof *names);
  double *times = calloc(job->n_frames, sizeof *times);
  FloStatus status = texts && names && times ? write_collection(job, texts, names, times)
                                             : flo_fail(&job->error, FLO_NO_MEMORY, "no memory for names");
  free(texts);
  free(names);
  free(times);
  return status;
}

// ---- All of it ----

static FloStatus make_surfaces(Job *job) {
  if (job->scene->world.dim != 3)
    return flo_fail(&job->error, FLO_BAD_INPUT,
                    "surface: %s: is a run in two dimensions, which has no surface of triangles; draw it "
                    "with: flotsam render '%s'",
                    job->arguments->folder, job->arguments->folder);
  if (!flo_scene_has_fluid(job->scene))
    return flo_fail(&job->error, FLO_BAD_INPUT,
                    "surface: %s: is a run without fluid, so there is no surface; its solids are in "
                    "body_NAME.ply, and in one file with: flotsam convert '%s' --to glb",
                    job->arguments->folder, job->arguments->folder);
  choose_def(job);
  FLO_TRY(plan(job));
  FLO_TRY(make_walls(job));
  FLO_TRY(prepare_folder(job));
  flo_run_frames_open(job->arguments->folder, job->scene, &job->frames);
  FLO_TRY(make_frames(job));
  FLO_TRY(make_film(job));
  if (job->n_there > 0 && !job->arguments->is_quiet && !job->arguments->is_json)
    printf("frames   %zu made, %zu existed already (--force makes them again)\n", job->n_made, job->n_there);
  return FLO_OK;
}

int cmd_surface(int argc, char **argv) {
  Arguments arguments;
  int exit_code;
  char path[FLO_PATH_SIZE];
  if (!parse(argc, argv, &arguments, &exit_code)) return exit_code;
  Job job = {.arguments = &arguments, .n_frames = flo_run_folder_count_frames(arguments.folder)};
  flo_memory_init(&job.memory, NULL);
  FloStatus status = choose_format(&job);
  if (status == FLO_OK) status = choose_kernel(&job);
  if (status != FLO_OK) return app_fail(app_exit_code(status), "%s", job.error.text);
  if (job.n_frames == 0 && app_is_run_folder(arguments.folder))
    return app_fail(APP_BAD_INPUT,
                    "surface: %s: has no frames yet; wait for the first frame, or continue the run with: "
                    "flotsam resume '%s'",
                    arguments.folder, arguments.folder);
  if (job.n_frames == 0 || flo_path_join(arguments.folder, "scene.json", path, NULL) != FLO_OK)
    return app_complain_no_run("surface", arguments.folder);
  AppSceneArguments load = {.scene = path};
  if (!app_load_scene(&load, &job.scene, &exit_code)) return exit_code;
  status = make_surfaces(&job);
  flo_run_frames_close(&job.frames);
  flo_walls_free(&job.walls);
  flo_scene_destroy(job.scene);
  return status == FLO_OK ? APP_OK : app_fail(app_exit_code(status), "%s", job.error.text);
}
