// Arguments of `flotsam render`, and checks for those that exclude each other.
#include "base/core.h"
#include "io/suggest.h"
#include "render_job.h"

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
        "Draws frames of the run in the folder DIR: the last frame by default, the frames that --frame or\n"
        "--frames name, or a movie. Camera and colours are the same for all frames of a run. The camera is\n"
        "the scene's; if the scene has none, it shows the scene and the motion of its fluid. A run that is\n"
        "still going on is drawn up to its last frame.\n"
        "Fluid of 3D runs is drawn as water, by path tracing. With --colour-by or --range it is drawn as\n"
        "particles, whose colours show a field. --slice shows a field on a plane. --vectors, --traces and\n"
        "--joints draw arrows, paths and joints over the picture. Pictures of a movie are kept in DIR/movie, "
        "so that an\n"
        "interrupted movie can be continued.\n"
        "Pictures in DIR are replaced. Other files that exist are replaced only with --force.\n"
        "Exit codes: 0 drawn, 1 drawing or ffmpeg failed, 2 bad input or no place to write to.",
    .examples =
        "  flotsam render runs/dam-break\n"
        "  flotsam render runs/dam-break --frame 12 --out splash.png --width 1920 --height 1080\n"
        "  flotsam render runs/dam-break --frames 10:30:5 --colour-by pressure\n"
        "  flotsam render runs/dam-break --colour-by speed --range 0:2\n"
        "  flotsam render runs/dam-break --look water --quality best --out poster.png\n"
        "  flotsam render runs/dam-break --slice y=0.25 --colour-by pressure --view -y --vectors 0.05\n"
        "  flotsam render runs/tower --traces\n"
        "  flotsam render runs/paddle-wheel --joints\n"
        "  flotsam render runs/default --frame 24 --spray\n"
        "  flotsam render runs/tower --from 3,0,0.5 --look-at 0,0,0.4\n"
        "  flotsam render runs/default --set materials.water.colour=#20b060 --set bodies.0.look=#d02040\n"
        "  flotsam render runs/dam-break --movie dam-break.mp4\n",
    .min_words = 1,
    .max_words = 1,
};

static const char axes[] = "xyz";

static bool check_together(const AppRenderArguments *a) {
  const char *text = NULL;
  if (a->frames && a->frame) text = "--frame and --frames exclude each other; give only one";
  if (a->movie && a->frame)
    text = "--frame draws one frame, but a movie needs several; give --frames FIRST:LAST";
  if (a->movie && a->out) text = "--movie FILE and --out exclude each other; give only one";
  if (a->slice && a->look && a->style.look == FLO_LOOK_WATER)
    text = "--slice shows the field on a plane instead of the water; leave out --look water";
  if (a->slice && a->picture.colour_by && strcmp(a->picture.colour_by, "material") == 0)
    text = "--slice needs a field with values; give --colour-by speed, pressure, density-error, ...";
  if (a->view && (a->from || a->look_at || a->camera.field_of_view > 0))
    text = "--view looks along an axis; leave out --from, --look-at and --field-of-view";
  if (a->has_spray && (a->slice || (a->look && a->style.look != FLO_LOOK_WATER)))
    text = "--spray works with pictures of water only; leave out --slice and --look particles";
  if (a->style.focus > 0 && !(a->style.aperture > 0))
    text = "--focus works only with --aperture; give it too";
  if (!a->movie && a->fps > 0) text = "--fps works with movies only; give --movie FILE too";
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

// One picture goes into a file that ends in .png. Several go into a folder of any name.
static bool check_ending(const AppRenderArguments *a) {
  if (!a->out) return true;
  bool is_picture = ends_with(a->out, ".png");
  if (a->frames && is_picture && !is_folder(a->out))
    app_fail(APP_BAD_INPUT,
             "render: %s is the name of one file, but --frames draws several; name a folder with --out",
             a->out);
  else if (!a->frames && !is_picture)
    app_fail(APP_BAD_INPUT,
             "render: %s: a picture's name must end in .png (--movie FILE makes .mp4, .mkv, .webm or .gif)",
             a->out);
  else
    return true;
  return false;
}

static bool check_range(AppRenderArguments *a) {
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
  app_fail(APP_BAD_INPUT, "render: %s must be %s, not '%s'%s", option, choices, given,
           flo_suggest_text(&suggestion, buffer));
  return false;
}

static bool check_look(AppRenderArguments *a) {
  if (!a->look || flo_look_from_name(a->look, &a->style.look)) return true;
  FloSuggestion suggestion = flo_suggest_start(a->look);
  for (int k = 0; k < FLO_LOOK_COUNT; k++) flo_suggest_offer(&suggestion, flo_look_name((FloLook)k));
  return refuse_name("--look", "water or particles", a->look, suggestion);
}

static bool check_quality(AppRenderArguments *a) {
  if (!a->quality || flo_quality_from_name(a->quality, &a->style.quality)) return true;
  FloSuggestion suggestion = flo_suggest_start(a->quality);
  for (int k = 0; k < FLO_QUALITY_COUNT; k++) flo_suggest_offer(&suggestion, flo_quality_name((FloQuality)k));
  return refuse_name("--quality", "draft, good or best", a->quality, suggestion);
}

static bool check_denoise(AppRenderArguments *a) {
  a->style.keeps_noise = a->denoise && strcmp(a->denoise, "off") == 0;
  if (!a->denoise || a->style.keeps_noise || strcmp(a->denoise, "on") == 0) return true;
  return refuse_name("--denoise", "on or off", a->denoise, flo_suggest_start(a->denoise));
}

// Reads "z=0.5": an axis and a position on it.
static bool check_slice(AppRenderArguments *a) {
  char *end = NULL;
  if (!a->slice) return true;
  const char *axis = a->slice[0] ? strchr(axes, a->slice[0]) : NULL;
  if (axis && a->slice[1] == '=') a->style.slice_at = strtod(a->slice + 2, &end);
  const bool is_number = end && end != a->slice + 2 && *end == 0 && isfinite((float)a->style.slice_at);
  if (is_number) a->style.has_slice = true, a->style.slice_axis = (int)(axis - axes);
  if (!is_number)
    app_fail(APP_BAD_INPUT, "render: --slice needs an axis and a position [m] such as z=0.5, not '%s'",
             a->slice);
  return is_number;
}

static bool check_view(AppRenderArguments *a) {
  if (!a->view) return true;
  const bool is_back = a->view[0] == '-';
  const char *name = a->view + is_back, *axis = name[0] ? strchr(axes, name[0]) : NULL;
  if (!axis || name[1]) {
    app_fail(APP_BAD_INPUT, "render: --view must be x, y, z, -x, -y or -z, not '%s'", a->view);
    return false;
  }
  a->style.flat = (int)(axis - axes + 1) * (is_back ? -1 : 1);
  return true;
}

// Reads "1,-2,0.5": a point in space.
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
    app_fail(APP_BAD_INPUT,
             "render: %s needs three numbers [m] such as 1,-2,0.5, none larger than %g, not '%s'", option,
             FLO_SCENE_MAX_LENGTH, text);
  return at;
}

static bool check_camera(AppRenderArguments *a) {
  return (!a->from || read_place("--from", a->from, a->camera.from)) &&
         (!a->look_at || read_place("--look-at", a->look_at, a->camera.look_at));
}

static bool check_movie(const AppRenderArguments *a) {
  FloError error;
  if (!a->movie || app_movie_check(a->movie, &error) == FLO_OK) return true;
  app_fail(APP_BAD_INPUT, "%s", error.text);
  return false;
}

// ---- Options ----

static AppOption *add_options(const AppOption *options, size_t n, AppOption *at) {
  memcpy(at, options, n * sizeof *at);
  return at + n;
}

// Which frames, and where the pictures go.
static AppOption *add_frame_options(AppRenderArguments *a, AppOption *at) {
  const AppOption options[] = {
      {"--frame", "N|last", APP_TEXT, &a->frame, "number of the frame, from 0 (default: the last)", 0, 0},
      {"--frames", "A:B[:STEP]", APP_TEXT, &a->frames, "frames A to B, every STEP-th; A or B may be left out",
       0, 0},
      {"--out", "PATH", APP_TEXT, &a->out,
       "the PNG file, or with --frames a folder (default: DIR/picture_NNNN.png)", 0, 0},
      {"--movie", "FILE", APP_TEXT, &a->movie, "a movie (.mp4, .mkv, .webm or .gif) made with ffmpeg", 0, 0},
      {"--fps", "N", APP_NUMBER, &a->fps,
       "frames per second of the movie (default: the scene's, 30 if that is above 60)", 0.01, 1000},
      {"--width", "PIXELS", APP_INTEGER, &a->picture.width, "width of the picture (default: 1280)", 16,
       16384},
      {"--height", "PIXELS", APP_INTEGER, &a->picture.height, "height of the picture (default: 720)", 16,
       16384},
  };
  return add_options(options, FLO_COUNT_OF(options), at);
}

// What is drawn, and in which colours.
static AppOption *add_look_options(AppRenderArguments *a, const char *fields, AppOption *at) {
  const AppOption options[] = {
      {"--look", "water|particles", APP_TEXT, &a->look,
       "3D runs only: water with --colour-by shows the field on its surface (default: water)", 0, 0},
      {"--quality", "draft|good|best", APP_TEXT, &a->quality,
       "how many rays are traced; better is slower (default: draft)", 0, 0},
      {"--denoise", "on|off", APP_TEXT, &a->denoise, "smooth the noise of few rays (default: on)", 0, 0},
      {"--colour-by", "FIELD", APP_TEXT, &a->picture.colour_by, fields, 0, 0},
      {"--range", "LOW:HIGH", APP_TEXT, &a->range,
       "field values at the ends of the colour scale (default: the range in the frames)", 0, 0},
      {"--spray", NULL, APP_FLAG, &a->has_spray,
       "water only: colour single drops by the field (default field: speed)", 0, 0},
      {"--with", "DIR", APP_LIST, &a->with,
       "choose camera and colours that suit this run too; may be repeated", 0, 0},
      {"--slice", "AXIS=PLACE", APP_TEXT, &a->slice,
       "3D runs only: show the field on a plane such as z=0.5 instead of the fluid", 0, 0},
  };
  return add_options(options, FLO_COUNT_OF(options), at);
}

// The camera, and what is drawn over the picture.
static AppOption *add_camera_options(AppRenderArguments *a, AppOption *at) {
  const AppOption options[] = {
      {"--view", "x|y|z|-x|-y|-z", APP_TEXT, &a->view,
       "parallel projection along an axis, instead of the camera", 0, 0},
      {"--from", "X,Y,Z", APP_TEXT, &a->from, "position of the camera [m] (default: as in the scene)", 0, 0},
      {"--look-at", "X,Y,Z", APP_TEXT, &a->look_at,
       "the point in the middle of the picture [m] (default: as in the scene)", 0, 0},
      {"--field-of-view", "DEGREES", APP_NUMBER, &a->camera.field_of_view,
       "vertical angle of view of the camera (default: as in the scene)", 1, 170},
      {"--vectors", "SECONDS", APP_NUMBER, &a->arrow_seconds,
       "draw arrows as long as the path of the fluid in this time", 1e-9, 1e9},
      {"--caption", NULL, APP_FLAG, &a->picture.has_caption, "write the scene's title and the time", 0, 0},
      {"--traces", NULL, APP_FLAG, &a->has_traces, "draw the paths of bodies", 0, 0},
      {"--joints", NULL, APP_FLAG, &a->has_joints,
       "draw symbols of the joints that act: points, axes, rods and ropes", 0, 0},
      {"--aperture", "METRES", APP_NUMBER, &a->style.aperture,
       "water only: diameter of the lens; larger blurs more what is out of focus", 0, 1e6},
      {"--focus", "METRES", APP_NUMBER, &a->style.focus,
       "distance from the camera that is in focus (default: the middle of the scene)", 0, 1e9},
  };
  return add_options(options, FLO_COUNT_OF(options), at);
}

static AppOption *add_other_options(AppRenderArguments *a, AppOption *at) {
  const AppOption options[] = {
      {"--set", "PATH=VALUE", APP_LIST, &a->sets,
       "set a value of the scene for the pictures, e.g. materials.water.colour=#3355ff; may be repeated", 0,
       0},
      {"--force", NULL, APP_FLAG, &a->is_forced, "replace files that exist", 0, 0},
      {"--threads", "N", APP_INTEGER, &a->picture.threads,
       "worker threads (default: OMP_NUM_THREADS, or all cores)", 1, 1024},
      {"--quiet", NULL, APP_FLAG, &a->is_quiet, "print nothing unless something fails", 0, 0},
  };
  return add_options(options, FLO_COUNT_OF(options), at);
}

bool app_render_parse(int argc, char **argv, AppRenderArguments *a, int *exit_code) {
  AppList words = {0};
  char fields[160];
  app_list_colours(fields);
  *a = (AppRenderArguments){0};
  AppOption options[32] = {0}, *end = add_frame_options(a, options);
  end = add_look_options(a, fields, end);
  end = add_camera_options(a, end);
  end = add_other_options(a, end);
  FLO_ASSERT(end < options + FLO_COUNT_OF(options)); // zeros end the table
  if (!app_parse(&usage, options, argc, argv, &words, exit_code)) return false;
  a->folder = words.items[0];
  *exit_code = APP_BAD_INPUT;
  if (a->picture.colour_by && !app_check_colour("render", a->picture.colour_by)) return false;
  return check_look(a) && check_quality(a) && check_denoise(a) && check_slice(a) && check_view(a) &&
         check_camera(a) && check_together(a) && check_ending(a) && check_range(a) && check_movie(a);
}
