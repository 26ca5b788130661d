// flotsam convert: the particles of a run's frames in formats that other programs read.
#include "base/core.h"
#include "glb.h"
#include "io/export.h"
#include "io/run_folder.h"
#include "io/scene_steps.h"
#include "io/suggest.h"
#include "run.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const AppUsage usage = {
    .command = "convert",
    .arguments = "DIR",
    .about =
        "Writes the particles of a frame of the run in the folder DIR as CSV, legacy VTK or PLY, or its\n"
        "solids and their motion as glTF (--to glb). Particles are written to standard output, or to the\n"
        "file that --out names; the file appears when it is complete. With --frame all, --out is a folder,\n"
        "or a pattern with %d or %04d in place of the frame's number. --to or the ending of the file's name "
        "chooses the format.\n"
        "Columns of CSV and properties of PLY: id, type, body, x, y, z, vx, vy, vz, density, pressure,\n"
        "then material and the other fields of the frame. In CSV, type is fluid or boundary, body and\n"
        "material are names, and every number has enough digits to restore the same float.\n"
        "With --soft, the surfaces of cloth and elastic bodies are written instead: vertices with normals,\n"
        "stretch and their place at rest, and in PLY and VTK the triangles between them.\n"
        "A .glb file holds meshes, materials and camera. It moves the solids through all frames, unless\n"
        "--frame names one. --surface adds the fluid's surface at one frame. The file is DIR/run.glb\n"
        "unless --out names another.\n"
        "Exit codes: 0 done, 1 a file could not be written, 2 bad input.",
    .examples = "  flotsam convert runs/dam-break | head\n"
                "  flotsam convert runs/dam-break --frame 12 --out splash.ply\n"
                "  flotsam convert runs/dam-break --frame all --out frames/dam_%03d.vtk\n"
                "  flotsam convert runs/dam-break --frame all --to ply --out frames\n"
                "  flotsam convert runs/sail --soft --frame all --to ply --out frames\n"
                "  flotsam convert runs/tower --to glb\n"
                "  flotsam convert runs/tower --to glb --frame 40 --surface 40 --out tower.glb\n",
    .min_words = 1,
    .max_words = 1,
};

typedef struct Arguments {
  const char *folder, *frame, *to, *out, *surface; // frame, surface: NULL: not given
  bool is_forced;
  bool is_soft;   // surfaces of cloth and elastic bodies instead of particles
  bool is_glb;    // else particles, in `format`
  bool is_beside; // glb: written as DIR/run.glb
  FloExportFormat format;
  size_t first, end; // frames: first <= frame < end
} Arguments;

// ---- Arguments ----

static bool complain(int *exit_code, int status) {
  *exit_code = status;
  return false;
}

static bool is_folder(const char *path) {
  struct stat about;
  size_t length = strlen(path);
  if (stat(path, &about) == 0) return S_ISDIR(about.st_mode);
  return length > 0 && path[length - 1] == '/';
}

// The ending of a file's name, after its last dot; NULL if there is none. A dot at the beginning does not
// count.
static const char *ending_of(const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
  return dot && dot > name ? dot + 1 : NULL;
}

static bool format_of_ending(const char *ending, FloExportFormat *format) {
  for (int k = 0; ending && k < FLO_EXPORT_FORMAT_COUNT; k++)
    if (strcasecmp(ending, flo_export_name((FloExportFormat)k)) == 0)
      return *format = (FloExportFormat)k, true;
  return false;
}

static bool choose_named_format(Arguments *a, int *exit_code) {
  a->is_glb = strcmp(a->to, "glb") == 0;
  if (a->is_glb || flo_export_from_name(a->to, &a->format)) return true;
  char buffer[128];
  FloSuggestion suggestion = flo_suggest_start(a->to);
  for (int k = 0; k < FLO_EXPORT_FORMAT_COUNT; k++)
    flo_suggest_offer(&suggestion, flo_export_name((FloExportFormat)k));
  flo_suggest_offer(&suggestion, "glb");
  return complain(exit_code, app_fail(APP_BAD_INPUT, "convert: --to csv, vtk, ply or glb, not '%s'%s", a->to,
                                      flo_suggest_text(&suggestion, buffer)));
}

// --to or the ending of the file's name chooses the format; they must agree. Standard output and folders have
// no ending: without --to the format is CSV.
static bool choose_format(Arguments *a, int *exit_code) {
  a->format = FLO_EXPORT_CSV;
  if (a->to && !choose_named_format(a, exit_code)) return false;
  bool is_many = a->frame && strcmp(a->frame, "all") == 0;
  const char *ending = a->out && !is_folder(a->out) ? ending_of(a->out) : NULL;
  if (!a->out || is_folder(a->out) || (!ending && (a->to || is_many))) return true;
  FloExportFormat format = FLO_EXPORT_CSV;
  const bool is_glb = ending && strcasecmp(ending, "glb") == 0;
  if (!is_glb && !format_of_ending(ending, &format))
    return complain(exit_code, app_fail(APP_BAD_INPUT,
                                        "convert: %s: the format is not known; end the name in .csv, .vtk, "
                                        ".ply or .glb, or name a folder",
                                        a->out));
  if (a->to && (is_glb != a->is_glb || format != a->format))
    return complain(exit_code,
                    app_fail(APP_BAD_INPUT,
                             "convert: %s means the format %s, but --to says %s; leave out --to, or name a "
                             "file that ends in .%s (formats: .csv, .vtk, .ply and .glb)",
                             a->out, is_glb ? "glb" : flo_export_name(format), a->to, a->to));
  a->format = format, a->is_glb = is_glb;
  return true;
}

static bool has_frame(const Arguments *a, size_t frame) {
  char path[FLO_PATH_SIZE];
  return flo_run_folder_frame_path(a->folder, frame, path, NULL) == FLO_OK && flo_file_exists(path);
}

static bool choose_frames(Arguments *a, int *exit_code) {
  size_t n_frames = flo_run_folder_count_frames(a->folder);
  char *end;
  if (n_frames == 0 && app_is_run_folder(a->folder))
    return complain(exit_code, app_fail(APP_BAD_INPUT,
                                        "convert: %s: has no frames yet; wait for the first frame, or "
                                        "continue the run with: flotsam resume '%s'",
                                        a->folder, a->folder));
  if (n_frames == 0) return complain(exit_code, app_complain_no_run("convert", a->folder));
  // Default: particles of the last frame only, because all frames are large; solids of all frames, for their
  // motion.
  const char *frame = a->frame ? a->frame : a->is_glb ? "all" : "last";
  a->first = n_frames - 1, a->end = n_frames;
  if (strcmp(frame, "last") == 0) return true;
  if (strcmp(frame, "all") == 0) return a->first = 0, true;
  unsigned long number = strtoul(frame, &end, 10);
  if (!isdigit((unsigned char)frame[0]) || *end || number > 1000000000)
    return complain(exit_code,
                    app_fail(APP_BAD_INPUT, "convert: --frame needs a number, last or all, not '%s'", frame));
  a->first = number, a->end = a->first + 1;
  if (has_frame(a, a->first)) return true;
  return complain(exit_code, app_fail(APP_BAD_INPUT, "convert: there is no frame %zu; the last one is %zu",
                                      a->first, n_frames - 1));
}

static bool parse(int argc, char **argv, Arguments *a, int *exit_code) {
  AppList words = {0};
  *a = (Arguments){0};
  AppOption options[] = {
      {"--frame", "N|last|all", APP_TEXT, &a->frame,
       "number of the frame, from 0 (default: the last; for glb, all)", 0, 0},
      {"--to", "csv|vtk|ply|glb", APP_TEXT, &a->to, "the format (default: by the ending of --out, else csv)",
       0, 0},
      {"--out", "FILE", APP_TEXT, &a->out, "file, pattern or folder to write; - is standard output", 0, 0},
      {"--soft", NULL, APP_FLAG, &a->is_soft, "the surfaces of cloth and elastic bodies instead of particles",
       0, 0},
      {"--surface", "N|last|all", APP_TEXT, &a->surface,
       "for glb: add the fluid's surface at this frame, or at each of its own (default: none)", 0, 0},
      {"--force", NULL, APP_FLAG, &a->is_forced, "replace files that exist", 0, 0},
      {0},
  };
  if (!app_parse(&usage, options, argc, argv, &words, exit_code)) return false;
  a->folder = words.items[0];
  const bool is_stream = a->out && strcmp(a->out, "-") == 0;
  if (is_stream) a->out = NULL;
  if (!choose_format(a, exit_code) || !choose_frames(a, exit_code)) return false;
  if (a->surface && !a->is_glb)
    return complain(
        exit_code,
        app_fail(APP_BAD_INPUT,
                 "convert: --surface works with glb only; to write surfaces alone use: flotsam surface '%s'",
                 a->folder));
  if (a->is_soft && a->is_glb)
    return complain(exit_code,
                    app_fail(APP_BAD_INPUT, "convert: --soft works with csv, vtk and ply only; glb "
                                            "holds all solids; leave out --soft"));
  a->is_beside = a->is_glb && !a->out && !is_stream;
  return true;
}

// ---- Where to ----

// The place of the number in a pattern: "%d" or "%04d". Patterns are never passed to printf.
typedef struct Place {
  size_t start, length; // position in the text; length 0: there is none
  int width;
} Place;

static Place find_place(const char *text) {
  for (size_t i = 0; text[i]; i++) {
    if (text[i] != '%') continue;
    size_t at = i + 1;
    int width = 0;
    while (isdigit((unsigned char)text[at]) && width < 100) width = 10 * width + (text[at++] - '0');
    if (text[at] == 'd' && width < 20) return (Place){i, at + 1 - i, width};
  }
  return (Place){0};
}

static FloStatus name_file(const Arguments *a, size_t frame, char path[FLO_PATH_SIZE], FloError *error) {
  Place place = find_place(a->out);
  char name[64];
  bool is_one = a->end - a->first == 1;
  if (place.length) {
    int length = snprintf(path, FLO_PATH_SIZE, "%.*s%0*zu%s", (int)place.start, a->out, place.width, frame,
                          a->out + place.start + place.length);
    if (length < FLO_PATH_SIZE) return FLO_OK;
    return flo_fail(error, FLO_BAD_INPUT, "%.200s...: path too long", a->out);
  }
  if (is_folder(a->out) || !is_one) {
    snprintf(name, sizeof name, "%s_%04zu.%s", a->is_soft ? "soft" : "particles", frame,
             flo_export_name(a->format));
    return flo_path_join(a->out, name, path, error);
  }
  if (snprintf(path, FLO_PATH_SIZE, "%s", a->out) < FLO_PATH_SIZE) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT, "%.200s...: path too long", a->out);
}

// A pattern must have exactly one place for the frame's number, in the name of the file.
static FloStatus check_pattern(const Arguments *a, FloError *error) {
  Place place = find_place(a->out);
  if (!place.length) return FLO_OK;
  if (find_place(a->out + place.start + place.length).length)
    return flo_fail(error, FLO_BAD_INPUT,
                    "%s: the pattern has more than one place for the frame's number; keep one, such as "
                    "frame_%%04d.%s",
                    a->out, flo_export_name(a->format));
  if (strchr(a->out + place.start, '/'))
    return flo_fail(error, FLO_BAD_INPUT,
                    "%s: the place for the frame's number is in the name of the folder; move it into the "
                    "name of the file",
                    a->out);
  return FLO_OK;
}

// Checks all files before any is written.
static FloStatus check_targets(const Arguments *a, FloError *error) {
  bool is_one = a->end - a->first == 1;
  FLO_TRY(check_pattern(a, error));
  if (!is_one && !find_place(a->out).length && !is_folder(a->out) && ending_of(a->out))
    return flo_fail(error, FLO_BAD_INPUT,
                    "%s: is a single file, but there are %zu frames; name a folder, or a pattern such as "
                    "frame_%%04d.%s",
                    a->out, a->end - a->first, flo_export_name(a->format));
  for (size_t frame = a->first; frame < a->end && !a->is_forced; frame++) {
    char path[FLO_PATH_SIZE];
    FLO_TRY(name_file(a, frame, path, error));
    if (flo_file_exists(path))
      return flo_fail(error, FLO_BAD_INPUT,
                      "%s: exists; replace it with --force, or name another file with --out", path);
  }
  return FLO_OK;
}

// The folder for the files, also if a pattern names it.
static FloStatus make_folder(const Arguments *a, FloError *error) {
  bool is_one = a->end - a->first == 1;
  const char *slash = strrchr(a->out, '/');
  if (find_place(a->out).length && slash && slash > a->out) {
    char folder[FLO_PATH_SIZE];
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - a->out), a->out);
    return app_make_place(folder, error);
  }
  if (find_place(a->out).length || (is_one && !is_folder(a->out))) return app_check_file_place(a->out, error);
  return app_make_place(a->out, error);
}

// ---- Names ----

typedef struct Names {
  FloScene *scene;
  const char **bodies, **materials;
  FloExportNames all;
} Names;

// If the scene cannot be read any more, for example because a mesh is missing, only the names are lost.
static void find_names(const char *folder, Names *names) {
  char path[FLO_PATH_SIZE];
  FloError error;
  *names = (Names){0};
  if (flo_path_join(folder, "scene.json", path, NULL) != FLO_OK) return;
  if (flo_scene_load(path, &(FloSceneOptions){0}, &names->scene, &error) != FLO_OK) {
    app_fail(0, "convert: bodies and materials are written as numbers, because the scene cannot be read: %s",
             error.text);
    return;
  }
  const FloScene *scene = names->scene;
  size_t n_bodies = scene->n_bodies, n_materials = scene->parts->n_materials;
  names->bodies = calloc(n_bodies + 1, sizeof *names->bodies);
  names->materials = calloc(n_materials + 1, sizeof *names->materials);
  if (!names->bodies || !names->materials) return;
  for (size_t k = 0; k < n_bodies; k++) names->bodies[k] = scene->bodies[k].name;
  for (size_t k = 0; k < n_materials; k++) names->materials[k] = scene->parts->materials[k].name;
  names->all = (FloExportNames){names->bodies, n_bodies, names->materials, n_materials};
}

static void free_names(Names *names) {
  free(names->bodies);
  free(names->materials);
  if (names->scene) flo_scene_destroy(names->scene);
}

// ---- Writing ----

static FloStatus write_frame(const Arguments *a, const Names *names, size_t frame, const FloVtkPoints *points,
                             FloError *error) {
  char path[FLO_PATH_SIZE], title[256];
  snprintf(title, sizeof title, "%.180s, frame %zu, written by flotsam %s",
           names->scene && names->scene->title ? names->scene->title : a->folder, frame, flo_version());
  if (!a->out)
    return flo_export_write(stdout, "standard output", a->format, points, &names->all, title, error);
  FLO_TRY(name_file(a, frame, path, error));
  FLO_TRY(flo_export_file(path, a->format, points, &names->all, title, error));
  printf("%-8s %s\n", flo_export_name(a->format), path);
  return FLO_OK;
}

static FloStatus source_path(const Arguments *a, size_t frame, char path[FLO_PATH_SIZE], FloError *error) {
  if (!a->is_soft) return flo_run_folder_frame_path(a->folder, frame, path, error);
  FLO_TRY(flo_run_folder_soft_path(a->folder, frame, path, error));
  if (flo_file_exists(path)) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "convert: %s: has no cloth and no elastic bodies at frame %zu; leave out --soft", a->folder,
                  frame);
}

static FloStatus convert_frame(const Arguments *a, const Names *names, size_t frame, FloError *error) {
  char path[FLO_PATH_SIZE];
  FloVtkPoints points;
  FLO_TRY(source_path(a, frame, path, error));
  FLO_TRY(flo_vtk_read(path, &points, error));
  FloStatus status = write_frame(a, names, frame, &points, error);
  flo_vtk_free(&points);
  return status;
}

static FloStatus convert(const Arguments *a, FloError *error) {
  FloStatus status = FLO_OK;
  Names names;
  if (a->out) {
    FLO_TRY(check_targets(a, error));
    FLO_TRY(make_folder(a, error));
  }
  find_names(a->folder, &names);
  for (size_t frame = a->first; status == FLO_OK && frame < a->end; frame++)
    status = convert_frame(a, &names, frame, error);
  free_names(&names);
  return status;
}

// ---- glTF ----

// A file in the run's own folder is replaced, like pictures. Others are replaced only with --force.
static FloStatus glb_path(const Arguments *a, char path[FLO_PATH_SIZE], FloError *error) {
  if (a->is_beside || is_folder(a->out)) {
    if (!a->is_beside) FLO_TRY(app_make_place(a->out, error));
    FLO_TRY(flo_path_join(a->is_beside ? a->folder : a->out, "run.glb", path, error));
  } else if (snprintf(path, FLO_PATH_SIZE, "%s", a->out) >= FLO_PATH_SIZE) {
    return flo_fail(error, FLO_BAD_INPUT, "%.200s...: path too long", a->out);
  } else if (find_place(a->out).length) {
    return flo_fail(error, FLO_BAD_INPUT,
                    "%s: is a pattern for several files, but one .glb holds all frames; leave out the %%d",
                    a->out);
  }
  FLO_TRY(app_check_file_place(path, error));
  if (a->is_beside || a->is_forced || !flo_file_exists(path)) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "%s: exists; replace it with --force, or name another file with --out", path);
}

static FloStatus choose_surface(const Arguments *a, AppGlb *glb, FloError *error) {
  char *end = NULL;
  const size_t n_frames = flo_run_folder_count_frames(a->folder);
  if (!a->surface) return FLO_OK;
  glb->has_surface = true, glb->surface = n_frames - 1;
  glb->has_all_surfaces = strcmp(a->surface, "all") == 0;
  if (glb->has_all_surfaces || strcmp(a->surface, "last") == 0) return FLO_OK;
  unsigned long number = strtoul(a->surface, &end, 10);
  if (!isdigit((unsigned char)a->surface[0]) || *end)
    return flo_fail(error, FLO_BAD_INPUT, "convert: --surface needs a frame's number, last or all, not '%s'",
                    a->surface);
  glb->surface = number;
  if (number < n_frames) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT, "convert: there is no frame %lu; the last one is %zu", number,
                  n_frames - 1);
}

static int convert_to_glb(const Arguments *a) {
  AppGlb glb = {.folder = a->folder, .first = a->first, .end = a->end};
  char path[FLO_PATH_SIZE] = "standard output";
  FloError error;
  const bool is_stream = !a->out && !a->is_beside;
  if (is_stream && isatty(STDOUT_FILENO))
    return app_fail(APP_BAD_INPUT,
                    "convert: glb is binary and cannot go to a terminal; name a file with --out");
  FloStatus status = choose_surface(a, &glb, &error);
  if (status == FLO_OK && !is_stream) status = glb_path(a, path, &error);
  if (status != FLO_OK) return app_fail(app_exit_code(status), "%s", error.text);
  status = app_write_glb(&glb, is_stream ? NULL : path, &error);
  if (status == FLO_IO_FAILED && ferror(stdout)) return APP_OK;
  if (status != FLO_OK) return app_fail(app_exit_code(status), "%s", error.text);
  if (!is_stream) printf("%-8s %s\n", "glb", path);
  return APP_OK;
}

int cmd_convert(int argc, char **argv) {
  Arguments a;
  int exit_code;
  FloError error;
  if (!parse(argc, argv, &a, &exit_code)) return exit_code;
  if (a.is_glb) return convert_to_glb(&a);
  if (!a.out && a.end - a.first > 1)
    return app_fail(
        APP_BAD_INPUT,
        "convert: --frame all needs several files; give --out with a folder, or a pattern such as "
        "frame_%%04d.%s",
        flo_export_name(a.format));
  if (!a.out && a.format != FLO_EXPORT_CSV && isatty(STDOUT_FILENO))
    return app_fail(APP_BAD_INPUT,
                    "convert: %s is binary and cannot go to a terminal; name a file with --out",
                    flo_export_name(a.format));
  FloStatus status = convert(&a, &error);
  // main checks whether standard output failed: a reader that stops early, like `head`, is no failure.
  if (status == FLO_IO_FAILED && ferror(stdout)) return APP_OK;
  return status == FLO_OK ? APP_OK : app_fail(app_exit_code(status), "%s", error.text);
}
