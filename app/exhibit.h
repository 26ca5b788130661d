// Runs that a page shows, one after the other. Each has a folder PLACE:
//
//   PLACE/settings.json   the request; a run older than this file was made from another request
//   PLACE/run             the run's folder
//   PLACE/pictures        its pictures and movies, and settings.json: how they were drawn
//
// Results that exist and are still valid are kept, so that an interrupted tour continues where it stopped.
#ifndef FLO_APP_EXHIBIT_H
#define FLO_APP_EXHIBIT_H

#include "child.h"
#include "io/files.h"
#include "io/page.h"
#include "io/run_info.h"
#include "io/series_read.h"
#include "render/plot.h"

#include <jansson.h>

typedef enum AppExhibitState {
  APP_EXHIBIT_WAITING,
  APP_EXHIBIT_FINISHED, // came to its end, whether expectations were met or not
  APP_EXHIBIT_FAILED,   // could not be read, diverged, crashed, ...
} AppExhibitState;

typedef struct AppExhibit {
  const char *name;            // its name on the page
  AppSceneArguments arguments; // path of the scene
  char place[FLO_PATH_SIZE], run[FLO_PATH_SIZE], pictures[FLO_PATH_SIZE];
  FloScene *scene; // NULL: could not be read
  AppExhibitState state;
  bool was_there;             // nothing is left to simulate
  struct timespec asked_when; // time of the last change of the request
  json_t *summary;            // NULL: none yet
  FloSeriesTable series;      // empty: none yet
  size_t n_expects, n_met;    // number of expectations, without those that have no range
  double run_cost, draw_cost; // remaining seconds, roughly estimated
  char message[2048];         // why it failed
  AppTexts notes;             // further notes
} AppExhibit;

// The last options of commands that make exhibits.
#define APP_TOUR_OPTIONS(a)                                                                                  \
  {"--fresh", NULL, APP_FLAG, &(a)->is_fresh, "run and draw everything again, also what exists", 0, 0},      \
      {"--threads",                                                                                          \
       "N",                                                                                                  \
       APP_INTEGER,                                                                                          \
       &(a)->scene.threads,                                                                                  \
       "worker threads (default: OMP_NUM_THREADS, or all cores)",                                            \
       1,                                                                                                    \
       1024},                                                                                                \
  {                                                                                                          \
    "--quiet", NULL, APP_FLAG, &(a)->is_quiet, "print nothing unless something fails", 0, 0                  \
  }

// How pictures are to look; NULL: as `flotsam render` draws them.
typedef struct AppLook {
  const char *look, *quality;
  int width; // width of pictures [pixels]; movies are half as wide; 0: default
} AppLook;
// Rows of an option table.
#define APP_LOOK_OPTIONS(l)                                                                                  \
  {                                                                                                          \
      "--look", "water|particles", APP_TEXT, &(l)->look, "how 3D runs are drawn, as in 'flotsam render'", 0, \
      0},                                                                                                    \
      {"--quality",                                                                                          \
       "draft|good|best",                                                                                    \
       APP_TEXT,                                                                                             \
       &(l)->quality,                                                                                        \
       "quality of pictures; better is slower (default: draft)",                                             \
       0,                                                                                                    \
       0},                                                                                                   \
  {                                                                                                          \
    "--width", "PIXELS", APP_INTEGER, &(l)->width,                                                           \
        "width of pictures; movies are half as wide (default: 960)", 64, 4096                                \
  }
// Returns false, with a message, if there is no such look or quality.
bool app_check_look(const char *command, const AppLook *look);

typedef struct AppTour {
  AppExhibit *items;
  size_t count;
  AppLook look;
  bool is_quiet;
  bool has_movies;
  bool has_one_camera; // a camera that suits all runs
  // Called before the first run and after each; writes the page.
  FloStatus (*write)(struct AppTour *tour, void *context, FloError *error);
  // Draws an exhibit after its run; may be NULL.
  FloStatus (*draw)(struct AppTour *tour, AppExhibit *exhibit, FloError *error);
  // Draws after all runs; may be NULL.
  FloStatus (*finish)(struct AppTour *tour, FloError *error);
  void *context;
  AppProgress progress;
  double done;            // expected seconds of the work that is done
  const AppExhibit *item; // at hand
  const char *doing;      // with it
  double cost;            // of that
} AppTour;

// Stores the request, and finds out which results exist. A scene that cannot be read is noted in the exhibit;
// the function does not fail.
FloStatus app_exhibit_open(AppExhibit *exhibit, const char *place, FloError *error);
void app_exhibit_close(AppExhibit *exhibit);
// Deletes the stored request, so that everything is made again.
FloStatus app_exhibit_forget(const char *place, FloError *error);
// Whether it came to its end with all its expectations met.
bool app_exhibit_is_met(const AppExhibit *exhibit);

// Runs and draws all exhibits. Fails if the tour is interrupted or its page cannot be written.
FloStatus app_tour_go(AppTour *tour, FloError *error);
// Exit code 0: all runs finished and met their expectations; 1: a run failed; 3: expectations were missed.
int app_tour_exit_code(const AppTour *tour);
// Runs a command as a part of the tour; it is expected to take `cost` seconds.
FloStatus app_tour_do(AppTour *tour, const AppExhibit *exhibit, const char *doing, double cost,
                      const AppChildCommand *command, AppChildEnd *end, FloError *error);

// ---- Drawing (exhibit_draw.c) ----

// Both keep results that exist and are still valid. A failure is noted in the exhibit.
FloStatus app_exhibit_draw_picture(AppTour *tour, AppExhibit *exhibit, size_t frame, FloError *error);
FloStatus app_exhibit_draw_movie(AppTour *tour, AppExhibit *exhibit, FloError *error);
FloStatus app_exhibit_picture_path(const AppExhibit *exhibit, size_t frame, char path[FLO_PATH_SIZE],
                                   FloError *error);
FloStatus app_exhibit_movie_path(const AppExhibit *exhibit, char path[FLO_PATH_SIZE], FloError *error);
// Whether a picture or movie exists that was made from this run with the requested look.
bool app_exhibit_is_drawn(const AppTour *tour, const AppExhibit *exhibit, const char *path);
// The frame with the strongest motion, which is the most interesting to draw.
size_t app_exhibit_best_frame(const AppExhibit *exhibit);
// Remaining seconds.
double app_exhibit_guess_drawing(const AppTour *tour, const AppExhibit *exhibit);

// ---- Parts of pages (exhibit_page.c) ----

// A number of the summary, e.g. "wall_seconds", or "particles" and "total"; NaN if there is none.
double app_exhibit_number(const AppExhibit *exhibit, const char *key, const char *inner);
// Short texts for people: 4 digits, groups of thousands, seconds as "1 min 20 s"; "–" if there is no number.
const char *app_show_number(double value, char text[48]);
const char *app_show_count(double value, char text[48]);
const char *app_show_seconds(double value, char text[48]);

// "all 6 met", "diverged", ...; class_name is "good", "bad" or "".
const char *app_exhibit_verdict(const AppExhibit *exhibit, char text[64], const char **class_name);
void app_page_badge(FloPage *page, const AppExhibit *exhibit);
// Describes the machine.
void app_page_machine(FloPage *page, const AppExhibit *items, size_t count);
// Lists errors and notes.
void app_page_troubles(FloPage *page, const AppExhibit *exhibit);
// The number of rows that the table below has.
size_t app_exhibit_count_measurements(const AppExhibit *const *items, size_t count);
// A table of expectations: several runs of one scene side by side, and the paper's values if the scene names
// them.
void app_page_expectations(FloPage *page, const AppExhibit *const *items, size_t count);
// The command line for the same run, into the folder `out` unless that is NULL.
void app_page_command(FloPage *page, const AppExhibit *exhibit, const char *scene, const char *out);
// Draws one plot.
void app_page_plot(FloPage *page, const FloPlotInput *input);

#endif
