// flotsam plot: draws the columns of a run's series.csv as plots.
#include "base/core.h"
#include "io/files.h"
#include "io/series_read.h"
#include "io/suggest.h"
#include "plots.h"
#include "run.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const AppUsage usage = {
    .command = "plot",
    .arguments = "DIR",
    .about =
        "Plots columns of series.csv in the run folder DIR over time. Without --columns: the probes,\n"
        "energies, the largest speed, density errors and the time step. Columns of the same quantity share\n"
        "a plot, unless their sizes differ by far. The plots are drawn one below the other. Writes\n"
        "DIR/plot.svg and DIR/plot.png, or only the file that --out names.\n"
        "With --residuals: plots residuals.csv over iterations, and writes DIR/residuals.svg and\n"
        "DIR/residuals.png. A run writes that file if the method's parameter 'history' is not 0.\n"
        "Exit codes: 0 drawn, 1 a file could not be written, 2 bad input.",
    .examples = "  flotsam plot runs/dam-break\n"
                "  flotsam plot runs/dam-break --columns 'density_error_*' --log --out errors.svg\n"
                "  flotsam plot runs/dam-break --columns 'push.*,impact' --width 1200 --out push.png\n"
                "  flotsam plot runs/dam-break --x front --columns max_speed\n"
                "  flotsam plot runs/pillar-convergence --residuals\n",
    .min_words = 1,
    .max_words = 1,
};

enum { PLOT_HEIGHT = 150, SINGLE_HEIGHT = 420 };

typedef struct Arguments {
  const char *folder, *x, *out;
  AppList columns;
  int width, height; // 0: chosen
  bool is_log, is_forced, has_residuals;
} Arguments;

static bool parse(int argc, char **argv, Arguments *a, int *exit_code) {
  AppList words = {0};
  *a = (Arguments){.x = "time", .width = 900};
  AppOption options[] = {
      {"--columns", "NAMES", APP_LIST, &a->columns, "columns, separated by commas; * and ? match letters", 0,
       0},
      {"--x", "NAME", APP_TEXT, &a->x, "the column on the x axis (default: time)", 0, 0},
      {"--out", "FILE", APP_TEXT, &a->out, "the file to write; its name ends with .svg or .png", 0, 0},
      {"--width", "PIXELS", APP_INTEGER, &a->width, "width of the page (default: 900)", 200, 16384},
      {"--height", "PIXELS", APP_INTEGER, &a->height, "height of the page (default: by the number of plots)",
       150, 16384},
      {"--log", NULL, APP_FLAG, &a->is_log, "logarithmic y axis", 0, 0},
      {"--residuals", NULL, APP_FLAG, &a->has_residuals, "plot the residuals of solvers over iterations", 0,
       0},
      {"--force", NULL, APP_FLAG, &a->is_forced, "replace the file that --out names", 0, 0},
      {0},
  };
  if (!app_parse(&usage, options, argc, argv, &words, exit_code)) return false;
  a->folder = words.items[0];
  return true;
}

// ---- Which columns ----

static bool choose_matches(AppColumns *choice, const char *pattern) {
  bool has_match = false;
  for (size_t c = 0; c < choice->table->n_columns; c++) {
    if (c == choice->x || fnmatch(pattern, choice->table->names[c], 0) != 0) continue;
    app_columns_add(choice, c);
    has_match = true;
  }
  return has_match;
}

static int complain_column(const AppColumns *choice, const char *name) {
  char buffer[128];
  FloSuggestion suggestion = flo_suggest_start(name);
  for (size_t c = 0; c < choice->table->n_columns; c++)
    flo_suggest_offer(&suggestion, choice->table->names[c]);
  return app_fail(APP_BAD_INPUT, "plot: there is no column '%s'%s (the first line of series.csv names them)",
                  name, flo_suggest_text(&suggestion, buffer));
}

static int choose_named(AppColumns *choice, const char *name) {
  size_t column = flo_series_table_find(choice->table, name);
  if (column < choice->table->n_columns) return app_columns_add(choice, column), APP_OK;
  if (strpbrk(name, "*?[") && choose_matches(choice, name)) return APP_OK;
  return complain_column(choice, name);
}

// Splits the names at commas. The whole item is tried first, because a name may hold a comma.
static int choose_item(AppColumns *choice, const char *item) {
  if (flo_series_table_find(choice->table, item) < choice->table->n_columns)
    return choose_named(choice, item);
  for (;;) {
    char name[128];
    size_t length = strcspn(item, ",");
    snprintf(name, sizeof name, "%.*s", (int)flo_min_size(length, sizeof name - 1), item);
    int exit_code = choose_named(choice, name);
    if (exit_code || !item[length]) return exit_code;
    item += length + 1;
  }
}

static int choose_columns(const Arguments *a, AppColumns *choice) {
  choice->x = flo_series_table_find(choice->table, a->x);
  if (choice->x == choice->table->n_columns) return complain_column(choice, a->x);
  for (size_t k = 0; k < a->columns.count; k++) {
    int exit_code = choose_item(choice, a->columns.items[k]);
    if (exit_code) return exit_code;
  }
  if (a->columns.count == 0) app_columns_add_overview(choice);
  return APP_OK;
}

// ---- Drawing ----

static bool ends_with(const char *text, const char *end) {
  size_t n = strlen(text), n_end = strlen(end);
  return n >= n_end && strcmp(text + n - n_end, end) == 0;
}

// The height that the plots need. Wider pages have larger letters and need more height.
static int choose_height(const Arguments *a, size_t n_plots) {
  double height = n_plots == 1 ? SINGLE_HEIGHT : 100 + PLOT_HEIGHT * (double)n_plots;
  return a->height ? a->height : (int)fmin(height * fmax(1, a->width / 900.0), FLO_MAX_PICTURE_SIDE);
}

static FloStatus draw_one(const Arguments *a, const FloPlotSheet *sheet, const char *path, FloError *error) {
  int height = choose_height(a, sheet->n_plots);
  FLO_TRY(ends_with(path, ".svg") ? flo_plot_sheet_svg(path, sheet, a->width, height, error)
                                  : flo_plot_sheet_png(path, sheet, a->width, height, error));
  printf("plot     %s\n", path);
  return FLO_OK;
}

static FloStatus draw(const Arguments *a, const FloPlotSheet *sheet, FloError *error) {
  static const char *const names[2][2] = {{"plot.svg", "plot.png"}, {"residuals.svg", "residuals.png"}};
  if (a->out) return draw_one(a, sheet, a->out, error);
  for (size_t k = 0; k < 2; k++) {
    char path[FLO_PATH_SIZE];
    FLO_TRY(flo_path_join(a->folder, names[a->has_residuals][k], path, error));
    FLO_TRY(draw_one(a, sheet, path, error));
  }
  return FLO_OK;
}

static int draw_choice(const Arguments *a, const AppColumns *choice) {
  AppPlots plots;
  FloError error;
  FloStatus status = FLO_OK;
  const char *title =
      choice->scene && choice->scene->title && choice->scene->title[0] ? choice->scene->title : a->folder;
  if (!app_plots_make(choice, a->is_log, &plots))
    status = flo_fail(&error, FLO_NO_MEMORY, "plot: no memory for the plots");
  FloPlotSheet sheet = {title, plots.inputs, plots.count, a->is_log};
  if (status == FLO_OK) status = draw(a, &sheet, &error);
  app_plots_free(&plots);
  return status == FLO_OK ? APP_OK : app_fail(app_exit_code(status), "%s", error.text);
}

static int plot_table(const Arguments *a, const FloSeriesTable *table) {
  char path[FLO_PATH_SIZE];
  FloScene *scene = NULL;
  if (table->n_rows == 0)
    return app_fail(APP_BAD_INPUT, "plot: %s/series.csv has no rows yet; there is nothing to draw",
                    a->folder);
  // If the scene cannot be read, units of probes and the title are missing, but the columns are drawn.
  if (flo_path_join(a->folder, "scene.json", path, NULL) == FLO_OK && flo_file_exists(path))
    if (flo_scene_load(path, &(FloSceneOptions){0}, &scene, NULL) != FLO_OK) scene = NULL;
  AppColumns choice = {.table = table, .scene = scene};
  choice.columns = calloc(table->n_columns + 1, sizeof *choice.columns);
  int exit_code = choice.columns ? choose_columns(a, &choice) : app_fail(APP_RUN_FAILED, "plot: no memory");
  if (exit_code == APP_OK) exit_code = draw_choice(a, &choice);
  free(choice.columns);
  if (scene) flo_scene_destroy(scene);
  return exit_code;
}

// ---- Residuals ----

// "one_level_cold" is shown as "one level cold".
static void show_spaces(char name[96]) {
  for (; *name; name++)
    if (*name == '_') *name = ' ';
}

static int plot_residuals(const Arguments *a, FloSeriesTable *table) {
  FloPlotSeries *series = calloc(table->n_columns + 1, sizeof *series);
  FloError error;
  if (!series) return app_fail(APP_RUN_FAILED, "plot: no memory");
  for (size_t k = 1; k < table->n_columns; k++) {
    show_spaces(table->names[k]);
    series[k - 1] = (FloPlotSeries){table->names[k], flo_series_table_column(table, k)};
  }
  const FloPlotInput input = {.title = "residual, relative to that without pressure",
                              .x_label = "iteration",
                              .n_points = table->n_rows,
                              .x = flo_series_table_column(table, 0),
                              .series = series,
                              .n_series = table->n_columns - 1};
  const FloPlotSheet sheet = {NULL, &input, 1, true};
  FloStatus status = draw(a, &sheet, &error);
  free(series);
  return status == FLO_OK ? APP_OK : app_fail(app_exit_code(status), "%s", error.text);
}

// The file to plot. Returns an exit code.
static int find_table(const Arguments *a, char path[FLO_PATH_SIZE]) {
  if (flo_path_join(a->folder, "series.csv", path, NULL) != FLO_OK || !flo_file_exists(path))
    return app_complain_no_run("plot", a->folder);
  if (!a->has_residuals) return APP_OK;
  if (flo_path_join(a->folder, "residuals.csv", path, NULL) == FLO_OK && flo_file_exists(path)) return APP_OK;
  return app_fail(APP_BAD_INPUT,
                  "plot: %s has no residuals.csv; run the scene with the method constraint and with its "
                  "parameter 'history', as in --set method.history=10",
                  a->folder);
}

int cmd_plot(int argc, char **argv) {
  Arguments a;
  int exit_code;
  char path[FLO_PATH_SIZE];
  FloSeriesTable table;
  FloError error;
  if (!parse(argc, argv, &a, &exit_code)) return exit_code;
  if (a.out && !ends_with(a.out, ".svg") && !ends_with(a.out, ".png"))
    return app_fail(APP_BAD_INPUT, "plot: --out needs a name that ends with .svg or .png, not '%s'", a.out);
  if (a.out && !a.is_forced && flo_file_exists(a.out))
    return app_fail(APP_BAD_INPUT,
                    "plot: %s: exists; replace it with --force, or name another file with --out", a.out);
  if ((exit_code = find_table(&a, path)) != APP_OK) return exit_code;
  if (a.out && app_check_file_place(a.out, &error) != FLO_OK)
    return app_fail(APP_BAD_INPUT, "plot: %s", error.text);
  FloStatus status = flo_series_table_read(path, &table, &error);
  if (status != FLO_OK)
    exit_code = app_fail(app_exit_code(status), "%s", error.text);
  else
    exit_code = a.has_residuals ? plot_residuals(&a, &table) : plot_table(&a, &table);
  flo_series_table_free(&table);
  return exit_code;
}
