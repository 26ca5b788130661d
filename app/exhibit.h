// Runs that a page shows, one after the other, each in a place of its own:
//
//   PLACE/settings.json   what was asked for; a run that is older than it is not the one that is wanted
//   PLACE/run             the run's folder
//   PLACE/pictures        what was drawn of it, and settings.json: how
//
// Whatever is there already and still right is kept, so that a tour that was broken off goes on where it was.
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
  APP_EXHIBIT_FINISHED, // whether its expectations were met is another matter
  APP_EXHIBIT_FAILED,   // could not be read, diverged, crashed, ...
} AppExhibitState;

typedef struct AppExhibit {
  const char *name;            // by which it is known on the page
  AppSceneArguments arguments; // the scene by its path
  char place[FLO_PATH_SIZE], run[FLO_PATH_SIZE], pictures[FLO_PATH_SIZE];
  FloScene *scene; // NULL: could not be read
  AppExhibitState state;
  bool was_there;             // nothing was left to be simulated
  struct timespec asked_when; // what was asked for was last changed
  json_t *summary;            // NULL: none yet
  FloSeriesTable series;      // empty: none yet
  size_t n_expects, n_met;    // without those that ask for nothing
  double run_cost, draw_cost; // seconds that are left, by a crude guess
  char message[2048];         // why it failed
  AppTexts notes;             // what else there is to say
} AppExhibit;

// The last options of commands that make exhibits.
#define APP_TOUR_OPTIONS(a)                                                                                    \
  {"--fresh", NULL, APP_FLAG, &(a)->is_fresh, "run and draw all anew, whatever is there", 0, 0},               \
      {"--threads", "N", APP_INTEGER, &(a)->scene.threads, "worker threads (default: all cores)", 1, 1024}, \
  {                                                                                                            \
    "--quiet", NULL, APP_FLAG, &(a)->is_quiet, "say nothing unless something fails", 0, 0                      \
  }

// How pictures are to look; NULL: as `flotsam render` draws them.
typedef struct AppLook {
  const char *look, *quality;
  int width; // of pictures [pixels], movies have half of it; 0: as it suits a page
} AppLook;
// Rows of an option table.
#define APP_LOOK_OPTIONS(l)                                                                                  \
  {"--look", "water|particles", APP_TEXT, &(l)->look, "how runs in space are drawn, as in render", 0, 0},    \
      {"--quality", "draft|good|best", APP_TEXT, &(l)->quality, "of pictures (default: draft)", 0, 0}, {  \
    "--width", "PIXELS", APP_INTEGER, &(l)->width, "of pictures, movies have half of it (default: 960)",  \
        64, 4096                                                                                             \
  }
// Explains, and returns false, where there is no such look or quality.
bool app_check_look(const char *command, const AppLook *look);

typedef struct AppTour {
  AppExhibit *items;
  size_t count;
  AppLook look;
  bool is_quiet;
  bool has_movies;
  bool has_one_camera; // that suits all runs
  // Called before the first and after each; writes the page.
  FloStatus (*write)(struct AppTour *tour, void *context, FloError *error);
  // What is drawn of each after it was run; may be NULL.
  FloStatus (*draw)(struct AppTour *tour, AppExhibit *exhibit, FloError *error);
  // What is drawn when all were run; may be NULL.
  FloStatus (*finish)(struct AppTour *tour, FloError *error);
  void *context;
  AppProgress progress;
  double done;            // seconds of work that were expected and are over
  const AppExhibit *item; // at hand
  const char *doing;      // with it
  double cost;            // of that
} AppTour;

// Takes down what is asked for, and looks at what is there. A scene that cannot be read is not a failure of
// this function.
FloStatus app_exhibit_open(AppExhibit *exhibit, const char *place, FloError *error);
void app_exhibit_close(AppExhibit *exhibit);
// Forgets what was asked for, so that all is made anew.
FloStatus app_exhibit_forget(const char *place, FloError *error);
// Whether it came to its end with all its expectations met.
bool app_exhibit_is_met(const AppExhibit *exhibit);

// Runs and draws all of them; fails where the tour was interrupted or its page cannot be written.
FloStatus app_tour_go(AppTour *tour, FloError *error);
// 0: all are finished and have met what is expected of them, 1: one failed, 3: expectations were missed.
int app_tour_exit_code(const AppTour *tour);
// Does a command as a part of the tour that is expected to take `cost` seconds.
FloStatus app_tour_do(AppTour *tour, const AppExhibit *exhibit, const char *doing, double cost,
                      const AppChildCommand *command, AppChildEnd *end, FloError *error);

// ---- Drawing (exhibit_draw.c) ----

// Both keep what is there and still right. What fails is noted in the exhibit.
FloStatus app_exhibit_draw_picture(AppTour *tour, AppExhibit *exhibit, size_t frame, FloError *error);
FloStatus app_exhibit_draw_movie(AppTour *tour, AppExhibit *exhibit, FloError *error);
FloStatus app_exhibit_picture_path(const AppExhibit *exhibit, size_t frame, char path[FLO_PATH_SIZE],
                                   FloError *error);
FloStatus app_exhibit_movie_path(const AppExhibit *exhibit, char path[FLO_PATH_SIZE], FloError *error);
// Whether a picture or movie is there, and of this very run in the look that is asked for.
bool app_exhibit_is_drawn(const AppTour *tour, const AppExhibit *exhibit, const char *path);
// The frame that has most to show, as far as a number can tell.
size_t app_exhibit_best_frame(const AppExhibit *exhibit);
// Seconds that are left.
double app_exhibit_guess_drawing(const AppTour *tour, const AppExhibit *exhibit);

// ---- Parts of pages (exhibit_page.c) ----

// A number of the summary, NaN if there is none: "wall_seconds", or "particles" and "total".
double app_exhibit_number(const AppExhibit *exhibit, const char *key, const char *inner);
// Short texts for people: 4 digits, thousands apart, seconds as "1 min 20 s"; "–" for no number.
const char *app_show_number(double value, char text[48]);
const char *app_show_count(double value, char text[48]);
const char *app_show_seconds(double value, char text[48]);

// "all 6 met", "diverged", ...; class_name is "good", "bad" or "".
const char *app_exhibit_verdict(const AppExhibit *exhibit, char text[64], const char **class_name);
void app_page_badge(FloPage *page, const AppExhibit *exhibit);
// What the machine was.
void app_page_machine(FloPage *page, const AppExhibit *items, size_t count);
// What went wrong, and notes.
void app_page_troubles(FloPage *page, const AppExhibit *exhibit);
// How many lines the table below has.
size_t app_exhibit_count_measurements(const AppExhibit *const *items, size_t count);
// Expectations of several runs of one scene beside each other, and beside the paper where the scene tells it.
void app_page_expectations(FloPage *page, const AppExhibit *const *items, size_t count);
// The command line that does the same run; into the folder `out`, unless that is NULL.
void app_page_command(FloPage *page, const AppExhibit *exhibit, const char *scene, const char *out);
// A plot of its own for an input.
void app_page_plot(FloPage *page, const FloPlotInput *input);

#endif
