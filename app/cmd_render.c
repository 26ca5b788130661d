// flotsam render: draws frames of a run from its folder, as pictures or as a movie.
#include "app.h"
#include "base/core.h"
#include "base/hash.h"
#include "io/run_folder.h"
#include "io/suggest.h"
#include "picture.h"
#include "poses.h"
#include "render/water.h"
#include "slices.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static const AppUsage usage = {
    .command = "render",
    .arguments = "DIR",
    .about =
        "Draws frames of the run in the folder DIR: the last one unless told, or all of them as a movie. "
        "The\n"
        "camera is the scene's, or holds what the scene has and what its fluid does; camera and colours are\n"
        "the same for all frames of a run. A run that still goes on is drawn as far as it has got.\n"
        "Fluid in space is drawn as water, path traced; with --colour-by or --range as particles, whose\n"
        "colours show a field. --slice shows a field on a plane, --vectors and --traces draw arrows and "
        "ways\n"
        "over either. Pictures of a movie are kept in DIR/movie: a movie that was interrupted goes\n"
        "on where it stopped.\n"
        "Pictures in DIR are replaced, other files that exist only with --force.\n"
        "Exit codes: 0 drawn, 1 drawing or ffmpeg failed, 2 bad input or no place to write to.",
    .examples =
        "  flotsam render runs/dam-break\n"
        "  flotsam render runs/dam-break --frame 12 --out splash.png --width 1920 --height 1080\n"
        "  flotsam render runs/dam-break --frames 10:30:5 --colour-by pressure\n"
        "  flotsam render runs/dam-break --colour-by speed --range 0:2\n"
        "  flotsam render runs/dam-break --look water --quality best --out poster.png\n"
        "  flotsam render runs/dam-break --slice y=0.25 --colour-by pressure --view -y --vectors 0.05\n"
        "  flotsam render runs/tower --traces\n"
        "  flotsam render runs/default --frame 24 --spray\n"
        "  flotsam render runs/tower --from 3,0,0.5 --look-at 0,0,0.4\n"
        "  flotsam render runs/dam-break --movie dam-break.mp4\n",
    .min_words = 1,
    .max_words = 1,
};

// Faster than screens show, and over before anybody has seen it: such a run is shown in slow motion.
static const double fastest_rate = 60, slow_motion_rate = 30;

static const char axes[] = "xyz";

typedef struct Arguments {
  const char *folder, *out, *movie, *frame, *frames, *range, *look, *quality, *denoise, *slice, *view;
  const char *from, *look_at; // of the camera, as it was given
  FloCamera camera;           // what of it was given; its field of view is 0 where it was not
  double fps;                 // 0: not given
  double ends[2];             // of the range of colours, where it is given in numbers
  FloStyle style;             // what of it was given
  double arrow_seconds;       // 0: no arrows
  bool has_traces;            // of bodies
  bool is_forced;             // files that exist are replaced
  bool has_spray;             // in colours, of water
  bool is_quiet;
  AppList with; // other runs that camera and colours are to suit
  AppPicture picture;
} Arguments;

// Everything at hand while frames are drawn.
typedef struct Job {
  const Arguments *arguments;
  FloScene *scene;
  AppPoses poses;           // of the bodies
  size_t n_frames;          // in the folder
  size_t first, last, step; // to draw
  AppPicture picture;
  AppExtras extras;
  AppView view;
  FloMemory memory;
  FloWalls walls;   // of pictures of water
  FloTrace *traces; // of bodies that move
  float *trace_points;
  AppMovie *movie;
  double fps;
  char kept[FLO_PATH_SIZE];      // folder of the movie's pictures; empty: they are not kept
  struct timespec settings_time; // when what they look like was last changed
  size_t n_kept;                 // pictures of the movie that were there
  AppProgress progress;
  size_t n_done;
  AppSlice slice;      // its text is NULL where there is none
  bool has_told_slice; // that it met no fluid
  FloError error;
} Job;

// ---- Arguments ----

static bool check_together(const Arguments *a) {
  const char *text = NULL;
  if (a->frames && a->frame) text = "give --frame or --frames, not both";
  if (a->movie && a->frame) text = "a movie has more than one frame; give --frames FIRST:LAST";
  if (a->movie && a->out) text = "give --movie FILE or --out, not both";
  if (a->slice && a->look && a->style.look == FLO_LOOK_WATER)
    text = "--slice shows the field on a plane instead of the water; leave out --look water";
  if (a->slice && a->picture.colour_by && strcmp(a->picture.colour_by, "material") == 0)
    text = "--slice needs a field with values; --colour-by speed, pressure, density-error, ...";
  if (a->view && (a->from || a->look_at || a->camera.field_of_view > 0))
    text = "--view looks along an axis; leave out --from, --look-at and --field-of-view";
  if (a->has_spray && (a->slice || (a->look && a->style.look != FLO_LOOK_WATER)))
    text = "--spray is for pictures of water; leave out --slice and --look particles";
  if (a->style.focus > 0 && !(a->style.aperture > 0)) text = "--focus is for lenses with an --aperture";
  if (!a->movie && a->fps > 0) text = "--fps is for movies; give --movie FILE, too";
  if (text) app_fail(APP_BAD_INPUT, "render: %s", text);
  return !text;
}

static bool ends_with(const char *text, const char *end) {
  size_t n = strlen(text), n_end = strlen(end);
  return n > n_end && strcasecmp(text + n - n_end, end) == 0;
}

static bool is_folder(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

// One picture has a name that says what it is; several stand in a folder, whatever it is called.
static bool check_ending(const Arguments *a) {
  if (!a->out) return true;
  bool is_picture = ends_with(a->out, ".png");
  if (a->frames && is_picture && !is_folder(a->out))
    app_fail(APP_BAD_INPUT,
             "render: %s is one file; with --frames, --out names a folder for picture_NNNN.png", a->out);
  else if (!a->frames && !is_picture)
    app_fail(APP_BAD_INPUT,
             "render: %s: a picture's name must end in .png (--movie FILE makes .mp4, .mkv, .webm or .gif)",
             a->out);
  else
    return true;
  return false;
}

static bool check_range(Arguments *a) {
  char *end = NULL, *last = NULL;
  if (!a->range) return true;
  a->ends[0] = strtod(a->range, &end);
  if (end != a->range && *end == ':') a->ends[1] = strtod(end + 1, &last);
  if (last && last != end + 1 && *last == 0 && a->ends[0] < a->ends[1] && isfinite((float)a->ends[0]) &&
      isfinite((float)a->ends[1]) && (float)a->ends[0] < (float)a->ends[1])
    return true;
  app_fail(APP_BAD_INPUT, "render: --range needs LOW:HIGH such as 0:2.5, not '%s'", a->range);
  return false;
}

static bool refuse_name(const char *option, const char *choices, const char *given,
                        FloSuggestion suggestion) {
  char buffer[128];
  app_fail(APP_BAD_INPUT, "render: %s %s, not '%s'%s", option, choices, given,
           flo_suggest_text(&suggestion, buffer));
  return false;
}

static bool check_look(Arguments *a) {
  if (!a->look || flo_look_from_name(a->look, &a->style.look)) return true;
  FloSuggestion suggestion = flo_suggest_start(a->look);
  for (int k = 0; k < FLO_LOOK_COUNT; k++) flo_suggest_offer(&suggestion, flo_look_name((FloLook)k));
  return refuse_name("--look", "water or particles", a->look, suggestion);
}

static bool check_quality(Arguments *a) {
  if (!a->quality || flo_quality_from_name(a->quality, &a->style.quality)) return true;
  FloSuggestion suggestion = flo_suggest_start(a->quality);
  for (int k = 0; k < FLO_QUALITY_COUNT; k++) flo_suggest_offer(&suggestion, flo_quality_name((FloQuality)k));
  return refuse_name("--quality", "draft, good or best", a->quality, suggestion);
}

static bool check_denoise(Arguments *a) {
  a->style.keeps_noise = a->denoise && strcmp(a->denoise, "off") == 0;
  if (!a->denoise || a->style.keeps_noise || strcmp(a->denoise, "on") == 0) return true;
  return refuse_name("--denoise", "on or off", a->denoise, flo_suggest_start(a->denoise));
}

// "z=0.5": an axis and a place on it.
static bool check_slice(Arguments *a) {
  char *end = NULL;
  if (!a->slice) return true;
  const char *axis = a->slice[0] ? strchr(axes, a->slice[0]) : NULL;
  if (axis && a->slice[1] == '=') a->style.slice_at = strtod(a->slice + 2, &end);
  const bool is_number = end && end != a->slice + 2 && *end == 0 && isfinite((float)a->style.slice_at);
  if (is_number) a->style.has_slice = true, a->style.slice_axis = (int)(axis - axes);
  if (!is_number)
    app_fail(APP_BAD_INPUT, "render: --slice needs an axis and a place [m] such as z=0.5, not '%s'",
             a->slice);
  return is_number;
}

static bool check_view(Arguments *a) {
  if (!a->view) return true;
  const bool is_back = a->view[0] == '-';
  const char *name = a->view + is_back, *axis = name[0] ? strchr(axes, name[0]) : NULL;
  if (!axis || name[1]) {
    app_fail(APP_BAD_INPUT, "render: --view x, y, z, -x, -y or -z, not '%s'", a->view);
    return false;
  }
  a->style.flat = (int)(axis - axes + 1) * (is_back ? -1 : 1);
  return true;
}

// "1,-2,0.5": a place in space.
static bool read_place(const char *option, const char *text, double place[3]) {
  const char *at = text;
  for (int axis = 0; axis < 3 && at; axis++) {
    char *end;
    place[axis] = strtod(at, &end);
    const bool is_number =
        end != at && fabs(place[axis]) <= FLO_SCENE_MAX_LENGTH && *end == (axis < 2 ? ',' : 0);
    at = is_number ? end + (axis < 2) : NULL;
  }
  if (!at)
    app_fail(APP_BAD_INPUT, "render: %s needs three numbers [m], none beyond %g, such as 1,-2,0.5, not '%s'",
             option, FLO_SCENE_MAX_LENGTH, text);
  return at;
}

static bool check_camera(Arguments *a) {
  return (!a->from || read_place("--from", a->from, a->camera.from)) &&
         (!a->look_at || read_place("--look-at", a->look_at, a->camera.look_at));
}

static bool check_movie(const Arguments *a) {
  FloError error;
  if (!a->movie || app_movie_check(a->movie, &error) == FLO_OK) return true;
  app_fail(APP_BAD_INPUT, "%s", error.text);
  return false;
}

static bool parse(int argc, char **argv, Arguments *a, int *exit_code) {
  AppList words = {0};
  char fields[160];
  app_list_colours(fields);
  *a = (Arguments){0};
  AppOption options[] = {
      {"--frame", "N|last", APP_TEXT, &a->frame, "the frame's number, from 0; the last unless given", 0, 0},
      {"--frames", "A:B[:STEP]", APP_TEXT, &a->frames, "frames A to B; all where A or B is left out", 0, 0},
      {"--out", "PATH", APP_TEXT, &a->out,
       "the PNG file, or with --frames a folder; DIR/picture_NNNN.png unless given", 0, 0},
      {"--movie", "FILE", APP_TEXT, &a->movie, "a movie (.mp4, .mkv, .webm or .gif) made with ffmpeg", 0, 0},
      {"--fps", "N", APP_NUMBER, &a->fps,
       "frames per second of the movie; the scene's, or 30 where it has more than 60", 0.01, 1000},
      {"--width", "PIXELS", APP_INTEGER, &a->picture.width, "width; 1280 unless given", 16, 16384},
      {"--height", "PIXELS", APP_INTEGER, &a->picture.height, "height; 720 unless given", 16, 16384},
      {"--look", "water|particles", APP_TEXT, &a->look,
       "water is for runs in space; with --colour-by its surface has the field's colours", 0, 0},
      {"--quality", "draft|good|best", APP_TEXT, &a->quality, "how many rays are traced; draft unless given",
       0, 0},
      {"--denoise", "on|off", APP_TEXT, &a->denoise, "smooth the noise of few rays; on unless given", 0, 0},
      {"--colour-by", "FIELD", APP_TEXT, &a->picture.colour_by, fields, 0, 0},
      {"--range", "LOW:HIGH", APP_TEXT, &a->range,
       "values at the ends of the colours; what the frames show unless given", 0, 0},
      {"--spray", NULL, APP_FLAG, &a->has_spray,
       "of water: drops that fly alone in the colours of the field, speed unless given", 0, 0},
      {"--with", "DIR", APP_LIST, &a->with, "camera and colours that suit this run, too; may be repeated", 0,
       0},
      {"--slice", "AXIS=PLACE", APP_TEXT, &a->slice,
       "the field on a plane, such as z=0.5, instead of the fluid; of runs in space", 0, 0},
      {"--view", "x|y|z|-x|-y|-z", APP_TEXT, &a->view,
       "parallel rays: seen from far out on an axis, instead of by the camera", 0, 0},
      {"--from", "X,Y,Z", APP_TEXT, &a->from, "where the camera stands [m]; as in the scene unless given", 0,
       0},
      {"--look-at", "X,Y,Z", APP_TEXT, &a->look_at,
       "the middle of the picture [m]; as in the scene unless given", 0, 0},
      {"--field-of-view", "DEGREES", APP_NUMBER, &a->camera.field_of_view,
       "of the camera, upright; as in the scene unless given", 1, 170},
      {"--vectors", "SECONDS", APP_NUMBER, &a->arrow_seconds,
       "arrows along the way that the fluid goes in so much time", 1e-9, 1e9},
      {"--traces", NULL, APP_FLAG, &a->has_traces, "draw the ways that bodies have come", 0, 0},
      {"--aperture", "METRES", APP_NUMBER, &a->style.aperture,
       "of water: width of the lens; blurs what is not in focus", 0, 1e6},
      {"--focus", "METRES", APP_NUMBER, &a->style.focus,
       "distance from the eye that is sharp; the middle of the scene unless given", 0, 1e9},
      {"--force", NULL, APP_FLAG, &a->is_forced, "replace files that are there", 0, 0},
      {"--threads", "N", APP_INTEGER, &a->picture.threads, "worker threads; all cores unless given", 1, 1024},
      {"--quiet", NULL, APP_FLAG, &a->is_quiet, "say nothing unless something fails", 0, 0},
      {0},
  };
  if (!app_parse(&usage, options, argc, argv, &words, exit_code)) return false;
  a->folder = words.items[0];
  *exit_code = APP_BAD_INPUT;
  if (a->picture.colour_by && !app_check_colour("render", a->picture.colour_by)) return false;
  return check_look(a) && check_quality(a) && check_denoise(a) && check_slice(a) && check_view(a) &&
         check_camera(a) && check_together(a) && check_ending(a) && check_range(a) && check_movie(a);
}

// ---- Which frames ----

static FloStatus plan_range(Job *job, const char *text) {
  size_t numbers[3] = {0, job->n_frames - 1, 1};
  bool is_single;
  if (!app_read_frames(text, numbers, &is_single) || is_single || numbers[2] == 0)
    return flo_fail(&job->error, FLO_BAD_INPUT,
                    "render: --frames needs A:B or A:B:STEP such as 0:20:2, not '%s' (--frame N draws one)",
                    text);
  job->first = numbers[0], job->last = numbers[1], job->step = numbers[2];
  if (job->first < job->n_frames && job->first > job->last)
    return flo_fail(&job->error, FLO_BAD_INPUT, "render: --frames %s runs backwards", text);
  return FLO_OK;
}

static FloStatus plan_single(Job *job, const char *text) {
  size_t numbers[3] = {0};
  bool is_single;
  job->first = job->n_frames - 1;
  if (!text || strcmp(text, "last") == 0) return FLO_OK;
  if (!app_read_frames(text, numbers, &is_single) || !is_single)
    return flo_fail(&job->error, FLO_BAD_INPUT, "render: --frame needs a number or last, not '%s'%s", text,
                    strchr(text, ':') ? " (--frames A:B draws several)" : "");
  job->first = numbers[0];
  return FLO_OK;
}

static FloStatus plan(Job *job) {
  const Arguments *a = job->arguments;
  FLO_TRY(plan_single(job, a->frame));
  if (a->movie) job->first = 0;
  job->last = a->movie ? job->n_frames - 1 : job->first;
  job->step = 1;
  if (a->frames) FLO_TRY(plan_range(job, a->frames));
  size_t farthest = flo_max_size(job->first, job->last);
  if (farthest < job->n_frames) return FLO_OK;
  return flo_fail(&job->error, FLO_BAD_INPUT, "render: there is no frame %zu; the last one is %zu", farthest,
                  job->n_frames - 1);
}

static size_t count_planned(const Job *job) { return (job->last - job->first) / job->step + 1; }

// ---- Frames from disk ----

// The ways of all bodies that move, up to a frame.
static FloStatus take_traces(Job *job, size_t frame) {
  const FloScene *scene = job->scene;
  size_t n = 0;
  if (!job->arguments->has_traces || scene->n_bodies == 0) return FLO_OK;
  free(job->trace_points);
  job->trace_points = malloc(scene->n_bodies * (frame + 1) * sizeof(float[3]));
  if (!job->traces) job->traces = malloc(scene->n_bodies * sizeof *job->traces);
  if (!job->trace_points || !job->traces)
    return flo_fail(&job->error, FLO_NO_MEMORY, "no memory for the traces of %zu bodies", scene->n_bodies);
  for (size_t b = 0; b < scene->n_bodies; b++) {
    if (scene->bodies[b].def.kind == FLO_BODY_STATIC) continue;
    float *points = job->trace_points + 3 * (frame + 1) * n;
    for (size_t k = 0; k <= frame; k++) {
      const FloPose pose = app_poses_at(&job->poses, k, b);
      for (size_t axis = 0; axis < 3; axis++) points[3 * k + axis] = (float)pose.position[axis];
    }
    job->traces[n++] = (FloTrace){b, points, frame + 1};
  }
  job->extras.traces = job->traces, job->extras.n_traces = n;
  return FLO_OK;
}

static FloStatus place_bodies(Job *job, size_t frame) {
  FLO_TRY(app_poses_place(&job->poses, frame, job->scene, &job->error));
  flo_walls_place(&job->walls, job->scene->bodies);
  return take_traces(job, frame);
}

static FloStatus read_frame(Job *job, const char *folder, size_t frame, FloSnapshot *snapshot) {
  char path[FLO_PATH_SIZE];
  FLO_TRY(flo_run_folder_frame_path(folder, frame, path, &job->error));
  return flo_snapshot_read(path, snapshot, &job->error);
}

// ---- The view ----

// Frames spread over all there are, whichever are to be drawn: so each is drawn the same every time.
// Several runs share them evenly.
static FloStatus survey_run(Job *job, const char *folder, FloSurvey *survey) {
  size_t n_frames = flo_run_folder_count_frames(folder), n_runs = job->arguments->with.count + 1;
  size_t n = flo_min_size(n_frames, flo_max_size(FLO_SURVEY_FRAMES / n_runs, 1));
  if (n == 0) return flo_fail(&job->error, FLO_BAD_INPUT, "%s: is not the folder of a run", folder);
  app_progress_begin(&job->progress, 0, (double)n, job->arguments->is_quiet);
  for (size_t k = 0; k < n; k++) {
    FloSnapshot snapshot;
    if (app_progress_is_due(&job->progress))
      app_progress_tell(&job->progress, (double)k, "looking for camera and colours");
    // A damaged frame is no reason not to draw another one.
    if (read_frame(job, folder, n > 1 ? k * (n_frames - 1) / (n - 1) : 0, &snapshot) != FLO_OK) continue;
    FloStatus status = app_survey_frame(job->scene, &snapshot, &job->picture, survey, &job->error);
    flo_snapshot_free(&snapshot);
    FLO_TRY(status);
  }
  app_progress_end(&job->progress);
  return FLO_OK;
}

static FloStatus survey_runs(Job *job, FloSurvey *survey) {
  const Arguments *a = job->arguments;
  for (size_t k = 0; k < a->with.count; k++) FLO_TRY(survey_run(job, a->with.items[k], survey));
  return survey_run(job, a->folder, survey);
}

// A field to be read off is shown by particles, unless water is asked for: then its surface shows it.
static FloStatus choose_style(Job *job) {
  const Arguments *a = job->arguments;
  FloStyle *style = &job->view.outlook.view.style;
  const bool has_field = a->picture.colour_by || a->range || a->slice;
  if (a->look || a->has_spray)
    style->look = a->has_spray ? FLO_LOOK_WATER : a->style.look;
  else if (has_field)
    style->look = FLO_LOOK_PARTICLES;
  style->quality = a->style.quality, style->flat = a->style.flat;
  style->has_slice = a->style.has_slice, style->slice_axis = a->style.slice_axis;
  style->slice_at = a->style.slice_at;
  style->aperture = a->style.aperture, style->focus = a->style.focus;
  style->keeps_noise = a->style.keeps_noise;
  style->shows_values = (has_field || a->has_spray) && style->look == FLO_LOOK_WATER;
  style->only_spray = a->has_spray;
  const bool is_water = job->scene->world.dim == 3 && style->look == FLO_LOOK_WATER && !a->slice;
  if (a->style.aperture > 0 && !is_water)
    return flo_fail(&job->error, FLO_BAD_INPUT,
                    "render: --aperture is for pictures of water, and these show %s; leave it out%s",
                    a->slice ? "a slice" : "particles",
                    job->scene->world.dim == 3 && !a->slice ? ", or give --look water" : "");
  if (job->scene->world.dim == 3) return FLO_OK;
  if (a->slice || a->view)
    return flo_fail(&job->error, FLO_BAD_INPUT,
                    "render: --slice and --view are for runs in three dimensions, and %s has two; leave them "
                    "out",
                    a->folder);
  if (style->look != FLO_LOOK_WATER) return FLO_OK;
  return flo_fail(&job->error, FLO_BAD_INPUT,
                  "render: %s is for runs in three dimensions, and %s has two; leave it out",
                  a->has_spray ? "--spray" : "--look water", a->folder);
}

static FloStatus choose_view(Job *job) {
  FloSurvey survey = {0};
  FLO_TRY(app_view_of_scene(job->scene, &job->picture, &job->view, &job->error));
  FLO_TRY(survey_runs(job, &survey));
  app_view_settle(job->scene, &job->picture, &survey, &job->view);
  const Arguments *a = job->arguments;
  if (a->range) job->view.value_low = (float)a->ends[0], job->view.value_high = (float)a->ends[1];
  job->picture.view = &job->view;
  return choose_style(job);
}

// ---- Where to ----

static FloStatus picture_path(Job *job, size_t frame, char path[FLO_PATH_SIZE]) {
  const Arguments *a = job->arguments;
  char name[48];
  snprintf(name, sizeof name, "picture_%04zu.png", frame);
  if (!a->out || a->frames) return flo_path_join(a->out ? a->out : a->folder, name, path, &job->error);
  if (snprintf(path, FLO_PATH_SIZE, "%s", a->out) < FLO_PATH_SIZE) return FLO_OK;
  return flo_fail(&job->error, FLO_BAD_INPUT, "%.200s...: path too long", a->out);
}

// What stands in the folder under the names that pictures have there is flotsam's own to replace.
static FloStatus check_free(Job *job, const char *path) {
  if (job->arguments->is_forced || !flo_file_exists(path)) return FLO_OK;
  return flo_fail(&job->error, FLO_BAD_INPUT, "%s: exists; --force replaces it, %s names another %s", path,
                  job->arguments->movie ? "--movie" : "--out", job->arguments->frames ? "place" : "file");
}

static FloStatus check_targets(Job *job) {
  char path[FLO_PATH_SIZE];
  if (job->arguments->movie) return check_free(job, job->arguments->movie);
  for (size_t frame = job->first; job->arguments->out && frame <= job->last; frame += job->step) {
    FLO_TRY(picture_path(job, frame, path));
    FLO_TRY(check_free(job, path));
  }
  return FLO_OK;
}

// Finds out before any work is done that there is no place for the result. A bad place is bad input.
static FloStatus check_place(Job *job) {
  const Arguments *a = job->arguments;
  char path[FLO_PATH_SIZE];
  FloNewFile file;
  FloStatus status = FLO_OK;
  if (a->frames && a->out) status = flo_folder_make(a->out, &job->error);
  if (status == FLO_OK && !a->movie) status = picture_path(job, job->first, path);
  if (status == FLO_OK) status = check_targets(job);
  if (status == FLO_OK) status = flo_new_file_begin(&file, a->movie ? a->movie : path, &job->error);
  if (status == FLO_OK) flo_new_file_abandon(&file);
  return status == FLO_IO_FAILED ? FLO_BAD_INPUT : status;
}

// ---- Drawing ----

static void report(void *context, double share) {
  Job *job = context;
  char text[64];
  if (!app_progress_is_due(&job->progress)) return;
  snprintf(text, sizeof text, "frame %zu, %zu of %zu", job->first + job->n_done * job->step, job->n_done + 1,
           count_planned(job));
  app_progress_tell(&job->progress, (double)job->n_done + share, text);
}

// Told once: fluid that is still to come may well be missed by the first of many frames.
static void tell_empty_slice(Job *job, const FloSnapshot *snapshot, size_t frame) {
  if (!job->slice.text || job->has_told_slice || !app_slice_is_empty(&job->slice, snapshot)) return;
  job->has_told_slice = true;
  app_progress_end(&job->progress);
  app_slice_tell_empty(&job->slice, snapshot, frame);
}

// A picture of nothing is hard to tell from a mistake.
static FloStatus check_slice_place(Job *job) {
  const Arguments *a = job->arguments;
  if (!a->slice) return FLO_OK;
  job->slice = (AppSlice){a->slice, a->style.slice_axis, a->style.slice_at, job->scene->world.spacing};
  return app_slice_check(&job->slice, a->folder, (size_t[3]){job->first, job->last, job->step}, &job->error);
}

static FloStatus draw_frame(Job *job, size_t frame) {
  char path[FLO_PATH_SIZE];
  FloSnapshot snapshot;
  FLO_TRY(place_bodies(job, frame));
  FLO_TRY(picture_path(job, frame, path));
  FLO_TRY(read_frame(job, job->arguments->folder, frame, &snapshot));
  tell_empty_slice(job, &snapshot, frame);
  FloStatus status = app_draw_with(job->scene, &snapshot, &job->picture, &job->extras, path, &job->error);
  flo_snapshot_free(&snapshot);
  if (status != FLO_OK || job->arguments->is_quiet) return status;
  app_progress_end(&job->progress);
  printf("picture  %s\n", path);
  return FLO_OK;
}

// ---- Pictures of a movie, which are kept ----

static uint64_t hash_text(const char *text) {
  return flo_hash_bytes(FLO_HASH_START, text, text ? strlen(text) : 0);
}

// All that pictures depend on besides their frame.
static char *settings_text(const Job *job) {
  const FloPictureView *view = &job->view.outlook.view;
  const AppPicture *picture = &job->picture;
  const FloCamera *camera = &job->scene->camera;
  char scene[32];
  snprintf(scene, sizeof scene, "%016llx", (unsigned long long)hash_text(job->scene->resolved));
  json_t *object = json_pack(
      "{s:s, s:s, s:s, s:s, s:b, s:b, s:i, s:i, s:s, s:[f,f], s:[f,f,f], s:[f,f,f], s:f, s:s, s:s, "
      "s:f, s:b, s:[f,f], s:[f,f,f,f,f,f,f], s:b}",
      "version", FLOTSAM_VERSION, "scene", scene, "look", flo_look_name(view->style.look), "quality",
      flo_quality_name(view->style.quality), "denoise", !view->style.keeps_noise, "shows_values",
      view->style.shows_values, "width", picture->width, "height", picture->height, "colour_by",
      picture->colour_by ? picture->colour_by : job->scene->colour_by, "range", (double)job->view.value_low,
      (double)job->view.value_high, "low", view->low[0], view->low[1], view->low[2], "high", view->high[0],
      view->high[1], view->high[2], "ground", view->ground, "slice",
      job->arguments->slice ? job->arguments->slice : "", "view",
      job->arguments->view ? job->arguments->view : "", "vectors", job->extras.arrow_seconds, "traces",
      job->arguments->has_traces, "lens", view->style.aperture, view->style.focus, "camera", camera->from[0],
      camera->from[1], camera->from[2], camera->look_at[0], camera->look_at[1], camera->look_at[2],
      camera->field_of_view, "spray", view->style.only_spray);
  char *text = object ? json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
  json_decref(object);
  return text;
}

// Where nothing can be kept, in a folder that may only be read, the movie is made all the same.
static void prepare_keeping(Job *job) {
  bool is_fine = flo_path_join(job->arguments->folder, "movie", job->kept, NULL) == FLO_OK &&
                 flo_folder_make(job->kept, NULL) == FLO_OK;
  char *text = is_fine ? settings_text(job) : NULL;
  if (!text || app_note_settings(job->kept, text, &job->settings_time, NULL) != FLO_OK) job->kept[0] = 0;
  free(text);
}

// A picture that was made from the frame as it is, with the present settings; NULL if there is none.
static uint8_t *find_kept(const Job *job, size_t frame, const char *path) {
  char particles[FLO_PATH_SIZE];
  uint8_t *rgb = NULL;
  if (flo_run_folder_frame_path(job->arguments->folder, frame, particles, NULL) != FLO_OK ||
      !app_is_current(path, particles, &job->settings_time))
    return NULL;
  if (flo_read_png(path, job->picture.width, job->picture.height, &rgb, NULL) != FLO_OK) return NULL;
  return rgb;
}

static FloStatus kept_path(Job *job, size_t frame, char path[FLO_PATH_SIZE]) {
  char name[48];
  snprintf(name, sizeof name, "picture_%04zu.png", frame);
  return flo_path_join(job->kept, name, path, &job->error);
}

static FloStatus paint_frame(Job *job, size_t frame, uint8_t **rgb) {
  FloSnapshot snapshot;
  FLO_TRY(place_bodies(job, frame));
  FLO_TRY(read_frame(job, job->arguments->folder, frame, &snapshot));
  tell_empty_slice(job, &snapshot, frame);
  FloStatus status = app_paint_with(job->scene, &snapshot, &job->picture, &job->extras, rgb, &job->error);
  flo_snapshot_free(&snapshot);
  return status;
}

static FloStatus movie_picture(Job *job, size_t frame, uint8_t **rgb) {
  char path[FLO_PATH_SIZE];
  if (!job->kept[0]) return paint_frame(job, frame, rgb);
  FLO_TRY(kept_path(job, frame, path));
  *rgb = find_kept(job, frame, path);
  if (*rgb) return job->n_kept++, FLO_OK;
  FLO_TRY(paint_frame(job, frame, rgb));
  FloStatus status = flo_write_png(path, *rgb, job->picture.width, job->picture.height, &job->error);
  if (status != FLO_OK) free(*rgb);
  return status;
}

static FloStatus add_to_movie(Job *job, size_t frame) {
  uint8_t *rgb = NULL;
  FLO_TRY(movie_picture(job, frame, &rgb));
  FloStatus status = app_movie_add(job->movie, rgb, &job->error);
  free(rgb);
  return status;
}

// ---- One after the other ----

static FloStatus draw_frames(Job *job) {
  FloStatus status = FLO_OK;
  app_progress_begin(&job->progress, 0, (double)count_planned(job), job->arguments->is_quiet);
  for (size_t frame = job->first; status == FLO_OK && frame <= job->last; frame += job->step) {
    status = job->movie ? add_to_movie(job, frame) : draw_frame(job, frame);
    job->n_done++;
  }
  app_progress_end(&job->progress);
  return status;
}

// ---- Movies ----

static void choose_rate(Job *job) {
  double real = job->scene->frames_per_second / (double)job->step;
  job->fps = job->arguments->fps > 0 ? job->arguments->fps : real > fastest_rate ? slow_motion_rate : real;
}

static void print_movie(const Job *job) {
  double slower = job->scene->frames_per_second / (double)job->step / job->fps;
  if (job->arguments->is_quiet) return;
  printf("movie    %s: %zu frames, %.4g per second", job->arguments->movie, job->n_done, job->fps);
  if (slower > 1.01) printf(", %.3g times slower than life", slower);
  if (slower < 0.99) printf(", %.3g times faster than life", 1 / slower);
  printf("\n");
  if (job->n_kept > 0)
    printf("frames   %zu drawn, %zu were there already in %s\n", job->n_done - job->n_kept, job->n_kept,
           job->kept);
}

static FloStatus make_movie(Job *job) {
  int width, height;
  app_picture_size(&job->picture, &width, &height);
  if (app_movie_needs_even_size(job->arguments->movie)) width += width % 2, height += height % 2;
  job->picture.width = width, job->picture.height = height;
  choose_rate(job);
  prepare_keeping(job);
  FLO_TRY(app_movie_open(job->arguments->movie, width, height, job->fps, &job->movie, &job->error));
  FloStatus status = draw_frames(job);
  if (status != FLO_OK) {
    app_movie_abandon(job->movie);
    return status;
  }
  FLO_TRY(app_movie_close(job->movie, &job->error));
  print_movie(job);
  return FLO_OK;
}

// ---- All of it ----

// Distances to solids are found once for all frames.
static FloStatus make_walls(Job *job) {
  const FloScene *scene = job->scene;
  if (job->view.outlook.view.style.look != FLO_LOOK_WATER) return FLO_OK;
  FLO_TRY(flo_walls_of_bodies(&job->walls, scene->bodies, scene->n_bodies, scene->world.spacing,
                              FLO_WATER_FINENESS, job->arguments->picture.threads, &job->memory,
                              &job->error));
  job->extras.walls = &job->walls;
  return FLO_OK;
}

// What was given takes the place of what the scene says. A camera that frames the scene by itself has no
// place that half of another one could go with.
static FloStatus place_camera(Job *job) {
  const Arguments *a = job->arguments;
  FloCamera *camera = &job->scene->camera;
  if (!a->from && !a->look_at && !(a->camera.field_of_view > 0)) return FLO_OK;
  if (job->scene->world.dim != 3)
    return flo_fail(&job->error, FLO_BAD_INPUT,
                    "render: --from, --look-at and --field-of-view are for runs in three dimensions");
  if (!camera->is_set && !(a->from && a->look_at))
    return flo_fail(&job->error, FLO_BAD_INPUT,
                    "render: the scene has no camera of its own; give both --from and --look-at");
  if (a->from) memcpy(camera->from, a->camera.from, sizeof camera->from);
  if (a->look_at) memcpy(camera->look_at, a->camera.look_at, sizeof camera->look_at);
  if (a->camera.field_of_view > 0) camera->field_of_view = a->camera.field_of_view;
  camera->is_set = true;
  if (flo_camera_has_sight(camera)) return FLO_OK;
  return flo_fail(&job->error, FLO_BAD_INPUT, "render: --from and --look-at must be different points");
}

static FloStatus render(Job *job) {
  job->picture = job->arguments->picture;
  job->picture.report = report, job->picture.context = job;
  job->extras.arrow_seconds = job->arguments->arrow_seconds;
  FLO_TRY(place_camera(job));
  FLO_TRY(plan(job));
  FLO_TRY(check_place(job));
  FLO_TRY(choose_view(job));
  FLO_TRY(check_slice_place(job));
  FLO_TRY(make_walls(job));
  FLO_TRY(app_poses_read(job->arguments->folder, job->scene, &job->poses, &job->error));
  return job->arguments->movie ? make_movie(job) : draw_frames(job);
}

int cmd_render(int argc, char **argv) {
  Arguments arguments;
  int exit_code;
  if (!parse(argc, argv, &arguments, &exit_code)) return exit_code;
  char path[FLO_PATH_SIZE];
  Job job = {.arguments = &arguments, .n_frames = flo_run_folder_count_frames(arguments.folder)};
  if (job.n_frames == 0 || flo_path_join(arguments.folder, "scene.json", path, NULL) != FLO_OK)
    return app_fail(APP_BAD_INPUT, "%s: is not the folder of a run", arguments.folder);
  AppSceneArguments load = {.scene = path};
  if (!app_load_scene(&load, &job.scene, &exit_code)) return exit_code;
  flo_memory_init(&job.memory, NULL);
  FloStatus status = render(&job);
  app_poses_free(&job.poses);
  flo_walls_free(&job.walls);
  free(job.traces);
  free(job.trace_points);
  flo_scene_destroy(job.scene);
  return status == FLO_OK ? APP_OK : app_fail(app_exit_code(status), "%s", job.error.text);
}
