// Pictures and movies for pages, drawn by `flotsam render`.
#include "base/core.h"
#include "exhibit.h"
#include "io/run_folder.h"
#include "io/suggest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Pictures and movies are small: they are embedded in the page, which is sent around and read on phones.
enum { PICTURE_WIDTH = 960, MOVIE_FRAMES = 72 };

typedef struct Size {
  int width, height;
} Size;

static Size picture_size(const AppLook *look) {
  const int width = look->width > 0 ? look->width : PICTURE_WIDTH;
  return (Size){width, (9 * width + 8) / 16};
}

static Size movie_size(const AppLook *look) {
  const Size picture = picture_size(look);
  return (Size){picture.width / 2, picture.height / 2};
}

// A rough estimate, used only to divide the progress bar.
static const double seconds_per_picture = 0.7;

bool app_check_look(const char *command, const AppLook *look) {
  char buffer[128];
  FloLook kind;
  FloQuality quality;
  if (look->look && !flo_look_from_name(look->look, &kind)) {
    FloSuggestion suggestion = flo_suggest_start(look->look);
    for (int k = 0; k < FLO_LOOK_COUNT; k++) flo_suggest_offer(&suggestion, flo_look_name((FloLook)k));
    app_fail(APP_BAD_INPUT, "%s: --look must be water or particles, not '%s'%s", command, look->look,
             flo_suggest_text(&suggestion, buffer));
    return false;
  }
  if (look->quality && !flo_quality_from_name(look->quality, &quality)) {
    FloSuggestion suggestion = flo_suggest_start(look->quality);
    for (int k = 0; k < FLO_QUALITY_COUNT; k++)
      flo_suggest_offer(&suggestion, flo_quality_name((FloQuality)k));
    app_fail(APP_BAD_INPUT, "%s: --quality must be draft, good or best, not '%s'%s", command, look->quality,
             flo_suggest_text(&suggestion, buffer));
    return false;
  }
  return true;
}

// ---- Which frames ----

static size_t count_frames(const AppExhibit *e) { return flo_run_folder_count_frames(e->run); }

// The frame with the largest motion: the splash, not the calm after it. The first fifth of the run does not
// count.
size_t app_exhibit_best_frame(const AppExhibit *e) {
  size_t column = flo_series_table_find(&e->series, "kinetic_energy");
  size_t n = flo_min_size(count_frames(e), e->series.n_rows), best = n ? n - 1 : 0;
  if (column == e->series.n_columns) return best;
  const double *energy = flo_series_table_column(&e->series, column);
  double most = -INFINITY;
  for (size_t k = n / 5; k < n; k++)
    if (energy[k] > most) most = energy[k], best = k;
  return best;
}

static size_t movie_step(size_t n_frames) { return (n_frames + MOVIE_FRAMES - 1) / MOVIE_FRAMES; }

FloStatus app_exhibit_picture_path(const AppExhibit *e, size_t frame, char path[FLO_PATH_SIZE],
                                   FloError *error) {
  char name[48];
  snprintf(name, sizeof name, "picture_%04zu.png", frame);
  return flo_path_join(e->pictures, name, path, error);
}

FloStatus app_exhibit_movie_path(const AppExhibit *e, char path[FLO_PATH_SIZE], FloError *error) {
  return flo_path_join(e->pictures, "movie.mp4", path, error);
}

// ---- What is there ----

// Whether the run has anything to draw.
static bool is_shown(const AppExhibit *e) { return e->series.n_rows > 0 && e->scene; }

// Stores the settings of drawing, so that pictures drawn with others are drawn again.
static bool note_look(const AppTour *tour, const AppExhibit *e, struct timespec *when) {
  const AppLook *look = &tour->look;
  const Size picture = picture_size(look), movie = movie_size(look);
  char text[2048];
  int used =
      snprintf(text, sizeof text, "%s %s %dx%d %dx%d", look->look ? look->look : "",
               look->quality ? look->quality : "", picture.width, picture.height, movie.width, movie.height);
  for (size_t k = 0; tour->has_one_camera && k < tour->count && used < (int)sizeof text; k++)
    if (is_shown(&tour->items[k]))
      used += snprintf(text + used, sizeof text - (size_t)used, " %s", tour->items[k].name);
  return flo_folder_make(e->pictures, NULL) == FLO_OK &&
         app_note_settings(e->pictures, text, when, NULL) == FLO_OK;
}

// A picture must be younger than its run; if all runs share a camera, younger than all runs.
static bool is_drawn(const AppTour *tour, const AppExhibit *e, const char *picture) {
  char series[FLO_PATH_SIZE];
  struct timespec when;
  if (!note_look(tour, e, &when)) return false;
  for (size_t k = 0; k < tour->count; k++) {
    const AppExhibit *other = &tour->items[k];
    if (other != e && !(tour->has_one_camera && is_shown(other))) continue;
    if (flo_path_join(other->run, "series.csv", series, NULL) != FLO_OK ||
        !app_is_current(picture, series, &when))
      return false;
  }
  return true;
}

// No folder is made for pictures that were never drawn.
bool app_exhibit_is_drawn(const AppTour *tour, const AppExhibit *e, const char *path) {
  return flo_file_exists(path) && is_drawn(tour, e, path);
}

static bool has_all(const AppTour *tour, const AppExhibit *e) {
  char path[FLO_PATH_SIZE];
  if (!e->was_there) return false;
  if (app_exhibit_picture_path(e, app_exhibit_best_frame(e), path, NULL) != FLO_OK) return false;
  if (!tour->has_one_camera && !is_drawn(tour, e, path)) return false;
  return !tour->has_movies || (app_exhibit_movie_path(e, path, NULL) == FLO_OK && is_drawn(tour, e, path));
}

double app_exhibit_guess_drawing(const AppTour *tour, const AppExhibit *e) {
  if (!e->scene || has_all(tour, e)) return 0;
  size_t n = (size_t)(e->scene->duration * e->scene->frames_per_second) + 1, step = movie_step(n);
  double n_small = tour->has_movies ? (double)(n / step) : 0, n_large = tour->has_movies ? 1 : 3;
  return (n_small + 2 * n_large) * seconds_per_picture;
}

// ---- Drawing ----

// The numbers of a command as texts, which must stay valid while it runs.
typedef struct Numbers {
  char threads[16], width[16], height[16];
} Numbers;

static AppChildCommand begin_render(const AppTour *tour, const AppExhibit *e, Size size, Numbers *n) {
  const AppLook *look = &tour->look;
  AppChildCommand command = {0};
  snprintf(n->threads, sizeof n->threads, "%d", e->arguments.threads);
  snprintf(n->width, sizeof n->width, "%d", size.width);
  snprintf(n->height, sizeof n->height, "%d", size.height);
  app_child_add(&command, "render", "--force", "--width", n->width, "--height", n->height, NULL);
  // 2D runs have only one look.
  if (look->look && e->scene->world.dim == 3) app_child_add(&command, "--look", look->look, NULL);
  if (look->quality) app_child_add(&command, "--quality", look->quality, NULL);
  if (e->arguments.threads > 0) app_child_add(&command, "--threads", n->threads, NULL);
  for (size_t k = 0; tour->has_one_camera && k < tour->count; k++)
    if (&tour->items[k] != e && is_shown(&tour->items[k]))
      app_child_add(&command, "--with", tour->items[k].run, NULL);
  return command;
}

// A failure to draw is noted, and the tour continues. Only a signal stops it.
static FloStatus draw(AppTour *tour, AppExhibit *e, const char *what, double cost,
                      const AppChildCommand *command, FloError *error) {
  AppChildEnd end;
  char text[2304];
  FLO_TRY(app_tour_do(tour, e, what, cost, command, &end, error));
  if (app_child_is_stop_wanted()) return flo_fail(error, FLO_IO_FAILED, "interrupted");
  if (end.exit_code == APP_OK) return FLO_OK;
  snprintf(text, sizeof text, "%s failed: %s", what, end.message[0] ? end.message : "no reason was given");
  app_texts_add(&e->notes, text);
  return FLO_OK;
}

FloStatus app_exhibit_draw_picture(AppTour *tour, AppExhibit *e, size_t frame, FloError *error) {
  char path[FLO_PATH_SIZE], number[32];
  Numbers numbers;
  FLO_TRY(app_exhibit_picture_path(e, frame, path, error));
  if (!is_shown(e) || is_drawn(tour, e, path)) return FLO_OK;
  snprintf(number, sizeof number, "%zu", frame);
  AppChildCommand command = begin_render(tour, e, picture_size(&tour->look), &numbers);
  app_child_add(&command, "--frame", number, "--out", path, "--", e->run, NULL);
  return draw(tour, e, "drawing the picture", 2 * seconds_per_picture, &command, error);
}

FloStatus app_exhibit_draw_movie(AppTour *tour, AppExhibit *e, FloError *error) {
  char path[FLO_PATH_SIZE], frames[64];
  Numbers numbers;
  size_t n = count_frames(e);
  FLO_TRY(app_exhibit_movie_path(e, path, error));
  if (n < 2 || !is_shown(e) || is_drawn(tour, e, path)) return FLO_OK;
  snprintf(frames, sizeof frames, "0:%zu:%zu", n - 1, movie_step(n));
  AppChildCommand command = begin_render(tour, e, movie_size(&tour->look), &numbers);
  app_child_add(&command, "--frames", frames, "--movie", path, "--", e->run, NULL);
  double cost = fmax(0, e->draw_cost - 2 * seconds_per_picture);
  return draw(tour, e, "drawing the movie", cost, &command, error);
}
