// What the commands of the program share: exit codes, options, finding and loading scenes, pictures,
// progress.
#ifndef FLO_APP_APP_H
#define FLO_APP_APP_H

#include "io/files.h"
#include "io/frame.h"
#include "io/scene.h"
#include "render/outlook.h"
#include "render/render.h"
#include "render/survey.h"

#include <time.h>

// Exit codes, the same for every command.
enum { APP_OK = 0, APP_RUN_FAILED = 1, APP_BAD_INPUT = 2, APP_EXPECTATION_FAILED = 3 };

// ---- Commands: each gets its own name as argv[0] and returns an exit code ----

int cmd_run(int argc, char **argv);
int cmd_resume(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_render(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_surface(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_gallery(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_resampling(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_completion(int argc, char **argv);

typedef struct AppCommand {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *about; // one line
} AppCommand;

// All commands, as the overview lists them (main.c).
const AppCommand *app_commands(size_t *count);

// ---- Options (options.c) ----

typedef enum AppOptionKind {
  APP_FLAG,    // target: bool
  APP_TEXT,    // target: const char *
  APP_NUMBER,  // target: double
  APP_INTEGER, // target: int
  APP_LIST,    // target: AppList; the option may be repeated
} AppOptionKind;

typedef struct AppOption {
  const char *name;  // "--threads"; NULL ends a table
  const char *value; // the value's name in the help; NULL for a flag. Completion reads it: see AppUsage
  AppOptionKind kind;
  void *target;     // stays unchanged unless the option is given
  const char *help; // one line
  double low, high; // permitted range of a number
} AppOption;

typedef struct AppList {
  const char *items[64];
  size_t count;
} AppList;

// A growing list of texts, which it copies.
typedef struct AppTexts {
  char **items;
  size_t count;
} AppTexts;

void app_texts_add(AppTexts *texts, const char *text); // adds nothing if memory runs out
void app_texts_split(AppTexts *texts,
                     const char *list); // adds every item of a list separated by commas, also empty ones
void app_texts_free(AppTexts *texts);

// What `--help` of a command prints besides its options. Shell completion reads `arguments` and the options'
// `value` too. Words in lower case are offered as they are. Words in upper case name a kind of thing: SCENE,
// METHOD, SHAPE, COMMAND, DIR, FILE; nothing is offered for other kinds. `|` separates alternatives.
typedef struct AppUsage {
  const char *command;   // "run"
  const char *arguments; // "SCENE", "[methods | method METHOD]"; "" where it takes none
  const char *about;
  const char *examples;
  size_t min_words, max_words; // how many arguments besides options
} AppUsage;

// Fills the targets of `options` and collects the other arguments in `words`. Returns true if the command
// should continue. Returns false if help or an error was printed; the command then returns *exit_code.
bool app_parse(const AppUsage *usage, const AppOption *options, int argc, char **argv, AppList *words,
               int *exit_code);

// Passes the tables of a command to `visit`. Does and prints nothing else.
typedef void (*AppVisitFn)(const AppUsage *usage, const AppOption *options, void *context);
void app_describe(const AppCommand *command, AppVisitFn visit, void *context);

// Prints "flotsam: " and a message to stderr; returns `exit_code`, so that a caller can fail in one line.
__attribute__((format(printf, 2, 3))) int app_fail(int exit_code, const char *format, ...);

// The exit code for a status of the library.
int app_exit_code(FloStatus status);

// ---- Scenes by name or path (scenes.c) ----

typedef struct AppSceneArguments {
  const char *scene, *method, *size;
  AppList sets;
  int threads;
} AppSceneArguments;

// Rows of an option table that every command with a scene has.
#define APP_SCENE_OPTIONS(a)                                                                                 \
  {"--method", "METHOD", APP_TEXT, &(a)->method, "use this method instead of the scene's", 0, 0},            \
      {"--size", "SIZE", APP_TEXT, &(a)->size, "use one of the scene's sizes, e.g. fine", 0, 0},             \
      {"--set",                                                                                              \
       "PATH=VALUE",                                                                                         \
       APP_LIST,                                                                                             \
       &(a)->sets,                                                                                           \
       "set a value of the scene, e.g. spacing=0.01; may be repeated",                                       \
       0,                                                                                                    \
       0},                                                                                                   \
  {                                                                                                          \
    "--threads", "N", APP_INTEGER, &(a)->threads, "worker threads (default: OMP_NUM_THREADS, or all cores)", \
        1, 1024                                                                                              \
  }

// Finds, reads and checks a scene. If it fails, prints why, sets *exit_code and returns false.
bool app_load_scene(const AppSceneArguments *arguments, FloScene **scene, int *exit_code);
// Calls `visit` with the name of every scene that can be given by name, sorted.
void app_list_scenes(void (*visit)(const char *name, void *context), void *context);
// The path of the file of a scene that was given by name.
bool app_find_scene(const char *name, char path[FLO_PATH_SIZE]);

// ---- Names of the library's things, for lists and completion (names.c) ----

// Calls `visit` with every name of a kind: SCENE, METHOD, SHAPE or COMMAND; false for other kinds.
bool app_list_names(const char *kind, void (*visit)(const char *name, void *context), void *context);

// ---- The manual (manual.c) ----

// Prints the manual page, in the language of man(7), from the tables of all commands.
void app_print_manual(void);

// ---- Folders of runs (folders.c) ----

// Whether a path is the folder of a run, finished or not.
bool app_is_run_folder(const char *path);
// Prints that a path is not the folder of a run; returns the exit code.
int app_complain_no_run(const char *command, const char *path);

// ---- Pictures (picture.c) ----

// What all pictures of a run have in common: camera, ground, materials and the range of colours.
typedef struct AppView {
  FloOutlook outlook;
  float value_low, value_high;
} AppView;

typedef struct AppPicture {
  int width, height; // 0: the renderer's default
  int threads;       // 0: all cores
  bool has_caption;  // the scene's title and the time
  const char *colour_by;
  const AppView *view;                         // NULL: as app_view_of_scene makes it
  void (*report)(void *context, double share); // called while drawing; may be NULL
  void *context;
} AppPicture;

// Fields that particles may be coloured by, as a list with commas.
void app_list_colours(char text[160]);
// Returns false if there is no such field, and prints a message that begins with the command's name.
bool app_check_colour(const char *command, const char *colour_by);

// The view of the scene before its first step.
FloStatus app_view_of_scene(const FloScene *scene, const AppPicture *picture, AppView *view, FloError *error);
// Extends the view so that it suits a frame. Called for all frames, it gives a view that suits the whole run.
FloStatus app_survey_frame(const FloScene *scene, const FloFrame *frame, const AppPicture *picture,
                           FloSurvey *survey, FloError *error);
void app_view_settle(const FloScene *scene, const AppPicture *picture, const FloSurvey *survey,
                     AppView *view);

// Draws one frame, which must hold its particles. Bodies are drawn at the frame's poses; if the frame has
// none, at those of the scene. `rgb` is malloc'ed; app_picture_size returns its size.
void app_picture_size(const AppPicture *picture, int *width, int *height);
FloStatus app_paint(const FloScene *scene, const FloFrame *frame, const AppPicture *picture, uint8_t **rgb,
                    FloError *error);
// The same into a PNG file.
FloStatus app_draw(const FloScene *scene, const FloFrame *frame, const AppPicture *picture, const char *path,
                   FloError *error);

// ---- Movies (movie.c) ----

typedef struct AppMovie AppMovie;

// Whether a movie's file name has a permitted ending; prints a message if not.
FloStatus app_movie_check(const char *path, FloError *error);
// Whether its pictures must have even sizes.
bool app_movie_needs_even_size(const char *path);
// Starts ffmpeg. The file gets its final name when the movie is closed. While a movie is open, SIGINT and
// SIGTERM make the next addition fail, so that no incomplete file is left.
FloStatus app_movie_open(const char *path, int width, int height, double fps, AppMovie **movie,
                         FloError *error);
FloStatus app_movie_add(AppMovie *movie, const uint8_t *rgb, FloError *error);
FloStatus app_movie_close(AppMovie *movie, FloError *error); // frees it, also on failure
void app_movie_abandon(AppMovie *movie);                     // removes the incomplete file; NULL is fine

// ---- Frames, and what is made of them (frames.c) ----

// Reads "A:B:STEP", where each number may be missing; returns false for any other text. `is_single` is set if
// the text is one number, which is then both A and B.
bool app_read_frames(const char *text, size_t numbers[3], bool *is_single);
// Writes the settings into folder/settings.json if the file holds others. `when` receives the time of its
// last change: files older than that were made with other settings.
FloStatus app_note_settings(const char *folder, const char *text, struct timespec *when, FloError *error);
// Whether a file was made from the current particles of a frame, with the current settings.
bool app_is_current(const char *path, const char *particles, const struct timespec *settings);

// The memory that surfaces may use [bytes]; 0: unknown (frames.c).
size_t app_memory_limit(void);

// Writes a size in a suitable unit: "812 bytes", "3.4 MB", "1.2 GB" (frames.c).
const char *app_describe_size(double bytes, char text[32]);

// ---- Progress on stderr (progress.c) ----

typedef struct AppProgress {
  bool is_quiet, is_terminal;
  double start, until;     // what is counted: simulated seconds, frames, ...
  double after;            // [s] that the work behind the end will take
  double began, last_line; // wall clock
  double part_began;       // of what is counted now
  double shown;            // the share on the last line
} AppProgress;

void app_progress_begin(AppProgress *progress, double start, double until, bool is_quiet);
// The same work goes on with something else that is counted.
void app_progress_go_on(AppProgress *progress, double start, double until);
// True when the line should be shown again; until then no measurements need to be computed.
bool app_progress_is_due(const AppProgress *progress);
// Shows the share done at `now`, between start and end, the remaining time, and a text.
void app_progress_tell(AppProgress *progress, double now, const char *text);
// The same for a simulation.
void app_progress_show(AppProgress *progress, const FloMeasurements *measurements);
// Clears or ends the line, so that other output starts on a new line.
void app_progress_end(AppProgress *progress);

#endif
