#include "compare_page.h"

#include "base/core.h"
#include "base/vecmath.h"
#include "io/frame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BODIES = 12, PLOTTED_BODIES = 3 };

// ---- Moments ----

// The moments of the run that simulated the longest time; the others are compared with it.
static const AppExhibit *find_longest(const AppTour *tour) {
  const AppExhibit *longest = &tour->items[0];
  for (size_t k = 1; k < tour->count; k++)
    if (tour->items[k].series.n_rows > longest->series.n_rows) longest = &tour->items[k];
  return longest;
}

static const double *column_of(const AppExhibit *e, const char *name) {
  size_t column = flo_series_table_find(&e->series, name);
  return column < e->series.n_columns ? flo_series_table_column(&e->series, column) : NULL;
}

// Whether frame k of two runs has the same time. The last frame of a run that diverged has the time of the
// divergence.
static bool has_moment(const AppExhibit *e, const AppExhibit *longest, size_t frame) {
  const double *own = column_of(e, "time"), *other = column_of(longest, "time");
  if (!own || !other || frame >= e->series.n_rows || frame >= longest->series.n_rows) return false;
  return fabs(own[frame] - other[frame]) <= 1e-9 * fmax(1, fabs(other[frame]));
}

static size_t moment(const AppExhibit *longest, size_t k) {
  size_t n = longest->series.n_rows;
  return n ? (n - 1) * (k + 1) / COMPARE_MOMENTS : 0;
}

FloStatus app_compare_draw(AppTour *tour, FloError *error) {
  const AppExhibit *longest = find_longest(tour);
  for (size_t k = 0; k < tour->count; k++)
    for (size_t m = 0; m < COMPARE_MOMENTS; m++) {
      size_t frame = moment(longest, m);
      if (has_moment(&tour->items[k], longest, frame))
        FLO_TRY(app_exhibit_draw_picture(tour, &tour->items[k], frame, error));
    }
  return FLO_OK;
}

static void add_side(FloPage *page, const AppTour *tour, const AppExhibit *e, const AppExhibit *longest,
                     size_t frame) {
  char path[FLO_PATH_SIZE], text[160];
  double time = column_of(longest, "time") ? column_of(longest, "time")[frame] : NAN;
  snprintf(text, sizeof text, "%s, at %.4g s", e->name, time);
  bool is_there = has_moment(e, longest, frame) && app_exhibit_picture_path(e, frame, path, NULL) == FLO_OK &&
                  app_exhibit_is_drawn(tour, e, path);
  if (is_there) {
    flo_page_picture(page, path, text);
    return;
  }
  flo_page_markup(page, "<figure><p class=\"none\">");
  flo_page_text(page, e->state == APP_EXHIBIT_WAITING ? "still to come"
                      : has_moment(e, longest, frame) ? "not drawn"
                                                      : "the run ended before");
  flo_page_markup(page, "</p>");
  flo_page_element(page, "figcaption", NULL, text);
  flo_page_markup(page, "</figure>\n");
}

static void add_pictures(FloPage *page, const AppTour *tour) {
  const AppExhibit *longest = find_longest(tour);
  if (longest->series.n_rows == 0) return;
  flo_page_markup(page, "<div class=\"card\">");
  flo_page_element(page, "h2", NULL, "The same moments");
  for (size_t m = 0; m < COMPARE_MOMENTS; m++) {
    if (m > 0 && moment(longest, m) == moment(longest, m - 1)) continue;
    flo_page_markup(page, "<div class=\"sides %s\">\n", tour->count == 2 ? "two" : "many");
    for (size_t k = 0; k < tour->count; k++)
      add_side(page, tour, &tour->items[k], longest, moment(longest, m));
    flo_page_markup(page, "</div>\n");
  }
  flo_page_markup(page, "</div>\n");
}

// ---- What it cost ----

static double mean_of(const AppExhibit *e, const char *name, double *most) {
  const double *values = column_of(e, name);
  double sum = 0;
  size_t n = 0;
  *most = NAN;
  for (size_t k = 1; values && k < e->series.n_rows; k++) {
    if (!isfinite(values[k])) continue;
    sum += values[k], n++;
    *most = fmax(*most, values[k]);
  }
  return n ? sum / (double)n : NAN;
}

static void add_cost_row(FloPage *page, const AppExhibit *e) {
  char text[48], most_text[48], both[128];
  double steps = app_exhibit_number(e, "steps", NULL), wall = app_exhibit_number(e, "wall_seconds", NULL);
  double most, mean = mean_of(e, "iterations", &most);
  flo_page_markup(page, "<tr>");
  flo_page_cell(page, "name", e->name);
  flo_page_markup(page, "<td>");
  app_page_badge(page, e);
  flo_page_markup(page, "</td>");
  flo_page_cell(page, "n", app_show_seconds(wall, text));
  flo_page_cell(page, "n", app_show_count(steps, text));
  flo_page_cell(page, "n", app_show_number(1e3 * app_exhibit_number(e, "time", NULL) / steps, text));
  flo_page_cell(page, "n", app_show_number(1e3 * wall / steps, text));
  snprintf(both, sizeof both, "%s, at most %s", app_show_number(mean, text),
           app_show_number(most, most_text));
  flo_page_cell(page, "n", most > 0 ? both : "–");
  mean = mean_of(e, "density_error_mean", &most);
  flo_page_cell(page, "n", app_show_number(100 * most, text));
  flo_page_cell(page, "n", app_show_count(app_exhibit_number(e, "particles", "total"), text));
  flo_page_markup(page, "</tr>\n");
}

static void add_costs(FloPage *page, const AppTour *tour) {
  static const char *const titles[] = {"Method",      "Expectations",       "#Wall time",
                                       "#Steps",      "#Step [ms]",         "#Time per step [ms]",
                                       "#Iterations", "#Density error [%]", "#Particles"};
  flo_page_markup(page, "<div class=\"card\">");
  flo_page_table_begin(page, titles, FLO_COUNT_OF(titles));
  for (size_t k = 0; k < tour->count; k++) add_cost_row(page, &tour->items[k]);
  flo_page_table_end(page);
  for (size_t k = 0; k < tour->count; k++) {
    if (tour->items[k].state == APP_EXHIBIT_FAILED) flo_page_element(page, "h3", NULL, tour->items[k].name);
    app_page_troubles(page, &tour->items[k]);
  }
  flo_page_element(
      page, "p", "note",
      "Iterations are those of the frames' last steps, without the first frame; the density error is the "
      "largest mean of a frame.");
  flo_page_markup(page, "</div>\n");
}

// ---- Bodies ----

// The bodies of each run at its end; a zeroed frame if they cannot be read.
static void read_ends(const AppTour *tour, FloFrame ends[COMPARE_MOST]) {
  for (size_t k = 0; k < tour->count; k++) {
    const AppExhibit *e = &tour->items[k];
    FloRunFrames run;
    ends[k] = (FloFrame){0};
    if (!e->scene || e->series.n_rows == 0) continue;
    flo_run_frames_open(e->run, e->scene, &run);
    flo_frame_read(&run, e->series.n_rows - 1, FLO_FRAME_BODIES, &ends[k], NULL);
    flo_run_frames_close(&run);
  }
}

static void add_body_row(FloPage *page, const AppExhibit *e, const FloFrame *end, size_t b,
                         const char *name) {
  static const FloBodyState unknown = {.pose.position = {NAN, NAN, NAN}, .velocity = {NAN, NAN, NAN}};
  const FloBodyState *state = b < end->n_bodies ? &end->bodies[b].state : &unknown;
  char text[48];
  flo_page_markup(page, "<tr>");
  flo_page_cell(page, "name", name);
  flo_page_cell(page, NULL, e->name);
  for (int axis = 0; axis < 3; axis++)
    flo_page_cell(page, "n", app_show_number(state->pose.position[axis], text));
  flo_page_cell(page, "n", app_show_number(vec_length(state->velocity), text));
  flo_page_markup(page, "</tr>\n");
}

static bool is_free(const FloSceneBody *body) { return flo_scene_is_body(body); }

// Returns how many bodies have rows in the table.
static size_t add_body_rows(FloPage *page, const Comparison *c) {
  FloFrame ends[COMPARE_MOST];
  size_t n_shown = 0;
  read_ends(&c->tour, ends);
  for (size_t b = 0; b < c->scene->n_bodies && n_shown < MOST_BODIES; b++) {
    if (!is_free(&c->scene->bodies[b])) continue;
    for (size_t k = 0; k < c->tour.count; k++)
      add_body_row(page, &c->tour.items[k], &ends[k], b, k == 0 ? c->scene->bodies[b].name : "");
    n_shown++;
  }
  for (size_t k = 0; k < c->tour.count; k++) flo_frame_free(&ends[k]);
  return n_shown;
}

static void add_bodies(FloPage *page, const Comparison *c) {
  const FloScene *scene = c->scene;
  char names[3][32], text[96];
  size_t n_free = 0;
  for (size_t b = 0; b < scene->n_bodies; b++) n_free += is_free(&scene->bodies[b]);
  if (n_free == 0) return;
  for (int k = 0; k < 3; k++)
    snprintf(names[k], sizeof names[k], "#%c [m]%s", "xyz"[k], k == scene->up ? ", height" : "");
  const char *const titles[] = {"Body", "Method", names[0], names[1], names[2], "#Speed [m/s]"};
  flo_page_markup(page, "<div class=\"card\">");
  flo_page_element(page, "h2", NULL, "Final positions of bodies");
  flo_page_table_begin(page, titles, FLO_COUNT_OF(titles));
  const size_t n_shown = add_body_rows(page, c);
  flo_page_table_end(page);
  snprintf(text, sizeof text, "%zu more bodies are in bodies.csv of each run.", n_free - n_shown);
  if (n_shown < n_free) flo_page_element(page, "p", "note", text);
  flo_page_markup(page, "</div>\n");
}

// ---- Series of all methods in one plot ----

// A column of one method, with a gap where it has no frame of the same time.
static void lay_over(const AppExhibit *e, const AppExhibit *longest, const char *column, double *values) {
  const double *own = column_of(e, column);
  for (size_t k = 0; k < longest->series.n_rows; k++)
    values[k] = own && has_moment(e, longest, k) ? own[k] : NAN;
}

static void add_plot(FloPage *page, const Comparison *c, const char *column, double *values) {
  const AppExhibit *longest = find_longest(&c->tour);
  size_t n_rows = longest->series.n_rows;
  FloPlotSeries series[COMPARE_MOST];
  char title[160];
  double size = 0;
  for (size_t k = 0; k < c->tour.count; k++) {
    double *own = values + k * n_rows;
    lay_over(&c->tour.items[k], longest, column, own);
    series[k] = (FloPlotSeries){c->tour.items[k].name, own};
    for (size_t r = 0; r < n_rows; r++)
      if (isfinite(own[r])) size = fmax(size, fabs(own[r]));
  }
  if (size == 0) return; // no method has values
  app_plot_label(c->scene, column, title);
  FloPlotInput input = {.title = title,
                        .x_label = "time [s]",
                        .n_points = n_rows,
                        .x = column_of(longest, "time"),
                        .series = series,
                        .n_series = c->tour.count};
  app_page_plot(page, &input);
}

static void add_probe_plots(FloPage *page, const Comparison *c, double *values) {
  AppColumns choice = {.table = &find_longest(&c->tour)->series, .scene = c->scene};
  choice.x = flo_series_table_find(choice.table, "time");
  choice.columns = calloc(choice.table->n_columns + 1, sizeof *choice.columns);
  if (!choice.columns) return;
  app_columns_add_probes(&choice);
  for (size_t k = 0; k < choice.count; k++) add_plot(page, c, choice.table->names[choice.columns[k]], values);
  free(choice.columns);
}

static void add_body_plots(FloPage *page, const Comparison *c, double *values) {
  size_t n = 0;
  for (size_t b = 0; b < c->scene->n_bodies && n < PLOTTED_BODIES; b++) {
    char column[96];
    if (!is_free(&c->scene->bodies[b])) continue;
    snprintf(column, sizeof column, "%s.%c", c->scene->bodies[b].name, "xyz"[c->scene->up]);
    add_plot(page, c, column, values);
    n++;
  }
}

static void add_plots(FloPage *page, const Comparison *c) {
  static const char *const names[] = {"iterations",
                                      "density_error_mean",
                                      "density_error_max",
                                      "kinetic_energy",
                                      "potential_energy",
                                      "max_speed",
                                      "dt",
                                      "wall_seconds"};
  size_t n_rows = find_longest(&c->tour)->series.n_rows;
  double *values = calloc(n_rows * c->tour.count + 1, sizeof *values);
  if (n_rows > 1 && values) {
    flo_page_markup(page, "<div class=\"card\">");
    flo_page_element(page, "h2", NULL, "Over time");
    flo_page_markup(page, "<div class=\"plots\">\n");
    for (size_t k = 0; k < FLO_COUNT_OF(names); k++) add_plot(page, c, names[k], values);
    add_probe_plots(page, c, values);
    add_body_plots(page, c, values);
    flo_page_markup(page, "</div></div>\n");
  }
  free(values);
}

// ---- The page ----

static void add_expectations(FloPage *page, const AppTour *tour) {
  const AppExhibit *items[COMPARE_MOST];
  for (size_t k = 0; k < tour->count; k++) items[k] = &tour->items[k];
  if (app_exhibit_count_measurements(items, tour->count) == 0) return;
  flo_page_markup(page, "<div class=\"card\">");
  app_page_expectations(page, items, tour->count);
  flo_page_markup(page, "</div>\n");
}

static int compare_texts(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// The names of all parameters of all methods, each once.
static size_t list_parameters(const AppTour *tour, const char **names, size_t room) {
  size_t n = 0, n_kept = 0, count;
  for (size_t k = 0; k < tour->count; k++) {
    const FloParam *params = flo_method_params(tour->items[k].name, &count);
    for (size_t p = 0; p < count && n < room; p++) names[n++] = params[p].name;
  }
  qsort(names, n, sizeof *names, compare_texts);
  for (size_t k = 0; k < n; k++)
    if (n_kept == 0 || strcmp(names[n_kept - 1], names[k]) != 0) names[n_kept++] = names[k];
  return n_kept;
}

// A number or a word; "–" if the method has none.
static const char *show_parameter(const AppExhibit *e, const char *name, char text[48]) {
  const json_t *all = json_object_get(e->summary, "parameters");
  const char *word = json_string_value(json_object_get(all, name));
  return word ? word : app_show_number(app_exhibit_number(e, "parameters", name), text);
}

// The table of parameters: their values in each method, "–" where a method does not have one.
static void add_parameters(FloPage *page, const AppTour *tour) {
  enum { MOST = 256 };
  const char *names[MOST], *titles[COMPARE_MOST + 1] = {"Parameter"};
  char columns[COMPARE_MOST][80], text[48];
  size_t n = list_parameters(tour, names, MOST);
  for (size_t k = 0; k < tour->count; k++) {
    snprintf(columns[k], sizeof columns[k], "#%s", tour->items[k].name);
    titles[k + 1] = columns[k];
  }
  flo_page_markup(page, "<details><summary>Parameters of the methods</summary><div class=\"tight\">");
  flo_page_table_begin(page, titles, tour->count + 1);
  for (size_t p = 0; p < n; p++) {
    flo_page_markup(page, "<tr>");
    flo_page_cell(page, NULL, names[p]);
    for (size_t k = 0; k < tour->count; k++)
      flo_page_cell(page, "n", show_parameter(&tour->items[k], names[p], text));
    flo_page_markup(page, "</tr>\n");
  }
  flo_page_table_end(page);
  flo_page_markup(page, "</div></details>\n");
}

static void add_head(FloPage *page, const Comparison *c) {
  const FloScene *scene = c->scene;
  flo_page_element(page, "h1", NULL, scene->title && scene->title[0] ? scene->title : scene->name);
  if (scene->shows) flo_page_element(page, "p", "lead", scene->shows);
  app_page_machine(page, c->tour.items, c->tour.count);
  for (size_t k = 0; k < c->left_out.count; k++) flo_page_element(page, "p", "note", c->left_out.items[k]);
}

static void add_methods(FloPage *page, const Comparison *c) {
  flo_page_markup(page, "<div class=\"card\">");
  flo_page_element(page, "h2", NULL, "Methods");
  flo_page_markup(page, "<dl class=\"long\">");
  for (size_t k = 0; k < c->tour.count; k++) {
    flo_page_markup(page, "<div>");
    flo_page_element(page, "dt", NULL, c->tour.items[k].name);
    flo_page_element(page, "dd", NULL, flo_method_paper(c->tour.items[k].name));
    flo_page_markup(page, "</div>");
  }
  flo_page_markup(page, "</dl>\n");
  add_parameters(page, &c->tour);
  flo_page_element(page, "h3", NULL, "Run them");
  for (size_t k = 0; k < c->tour.count; k++) {
    // Each run gets a folder of its own; in the same folder the second would find the first.
    char out[FLO_PATH_SIZE];
    snprintf(out, sizeof out, "runs/%.255s-%.63s", c->scene->name, c->tour.items[k].name);
    app_page_command(page, &c->tour.items[k], c->given, out);
  }
  flo_page_markup(page, "</div>\n");
}

FloStatus app_compare_write(AppTour *tour, void *context, FloError *error) {
  const Comparison *c = context;
  char title[256];
  FloPage page;
  snprintf(title, sizeof title, "%.200s with %zu methods", c->scene->name, tour->count);
  FLO_TRY(flo_page_begin(&page, c->page, "compare", title, error));
  add_head(&page, c);
  add_costs(&page, tour);
  add_pictures(&page, tour);
  add_expectations(&page, tour);
  add_bodies(&page, c);
  add_plots(&page, c);
  add_methods(&page, c);
  return flo_page_end(&page, error);
}
