#include "plots.h"

#include "base/core.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Which columns ----

void app_columns_add(AppColumns *choice, size_t column) {
  for (size_t k = 0; k < choice->count; k++)
    if (choice->columns[k] == column) return;
  choice->columns[choice->count++] = column;
}

static void add_name(AppColumns *choice, const char *name) {
  size_t column = flo_series_table_find(choice->table, name);
  if (column < choice->table->n_columns && column != choice->x) app_columns_add(choice, column);
}

void app_columns_add_names(AppColumns *choice, const char *const *names, size_t n_names) {
  for (size_t k = 0; k < n_names; k++) add_name(choice, names[k]);
}

void app_columns_add_probes(AppColumns *choice) {
  const FloScene *scene = choice->scene;
  for (size_t k = 0; scene && k < scene->n_probes; k++) {
    char name[80];
    add_name(choice, scene->probes[k].name);
    for (const char *axis = "xyz"; *axis; axis++) {
      snprintf(name, sizeof name, "%s.%c", scene->probes[k].name, *axis);
      add_name(choice, name);
    }
  }
}

void app_columns_add_overview(AppColumns *choice) {
  static const char *const names[] = {"kinetic_energy",     "potential_energy",  "max_speed",
                                      "density_error_mean", "density_error_max", "dt"};
  app_columns_add_probes(choice);
  app_columns_add_names(choice, names, FLO_COUNT_OF(names));
}

// ---- Which plots ----

// Columns whose sizes differ by more get separate plots; otherwise the smaller would be a flat line.
static const double most_ratio = 30;

static double size_of(const AppColumns *choice, size_t column) {
  const double *values = flo_series_table_column(choice->table, column);
  double size = 0;
  for (size_t k = 0; k < choice->table->n_rows; k++)
    if (isfinite(values[k])) size = fmax(size, fabs(values[k]));
  return size;
}

static bool is_alike(const FloSeriesMeaning *a, const FloSeriesMeaning *b) {
  return a->quantity && b->quantity && strcmp(a->quantity, b->quantity) == 0 && strcmp(a->unit, b->unit) == 0;
}

// A column of zeros fits into every plot. On a logarithmic axis all columns fit.
static bool has_room(const AppPlot *plot, double size, bool is_log) {
  if (plot->count == APP_PLOT_SERIES) return false;
  return is_log || size == 0 || plot->size == 0 ||
         (size <= most_ratio * plot->size && plot->size <= most_ratio * size);
}

// Components of a vector share a plot, whatever their sizes: "push.x" and "push.z".
static bool has_sibling(const AppPlot *plot, const char *name) {
  size_t length = strlen(name);
  if (length < 2 || !strchr("xyzw", name[length - 1]) || plot->count == APP_PLOT_SERIES) return false;
  for (size_t k = 0; k < plot->count; k++) {
    const char *other = plot->columns[k];
    if (strlen(other) == length && strncmp(other, name, length - 1) == 0) return true;
  }
  return false;
}

static AppPlot *find_plot(AppPlots *plots, const FloSeriesMeaning *meaning, const char *name, double size,
                          bool is_log) {
  for (size_t k = 0; k < plots->count; k++)
    if (is_alike(&plots->items[k].meaning, meaning) && has_sibling(&plots->items[k], name))
      return &plots->items[k];
  for (size_t k = 0; k < plots->count; k++) {
    AppPlot *plot = &plots->items[k];
    if (is_alike(&plot->meaning, meaning) && has_room(plot, size, is_log)) return plot;
  }
  AppPlot *plot = &plots->items[plots->count++];
  plot->meaning = *meaning;
  return plot;
}

// "kinetic_energy" is shown as "kinetic energy". Names from the scene stay unchanged.
static void write_name(const FloSeriesMeaning *meaning, const char *column, char name[100]) {
  snprintf(name, 100, "%s", column);
  if (!meaning->quantity || strchr(column, '.')) return;
  for (; *name; name++)
    if (*name == '_') *name = ' ';
}

static void write_label(const char *name, const char *unit, char *label, size_t size) {
  snprintf(label, size, unit[0] ? "%s [%s]" : "%s", name, unit);
}

void app_plot_label(const FloScene *scene, const char *column, char label[160]) {
  FloSeriesMeaning meaning = flo_series_meaning(scene, column);
  char name[100];
  write_name(&meaning, column, name);
  write_label(name, meaning.unit, label, 160);
}

static void add_column(const AppColumns *choice, size_t column, bool is_log, AppPlots *plots) {
  const char *name = choice->table->names[column];
  FloSeriesMeaning meaning = flo_series_meaning(choice->scene, name);
  double size = size_of(choice, column);
  AppPlot *plot = find_plot(plots, &meaning, name, size, is_log);
  plot->columns[plot->count] = name;
  write_name(&meaning, name, plot->names[plot->count]);
  plot->series[plot->count] =
      (FloPlotSeries){plot->names[plot->count], flo_series_table_column(choice->table, column)};
  plot->size = fmax(plot->size, size);
  plot->count++;
}

// A plot with one line needs no legend: its title is enough.
static void entitle(AppPlot *plot) {
  bool is_single = plot->count == 1;
  write_label(is_single ? plot->names[0] : plot->meaning.quantity, plot->meaning.unit, plot->title,
              sizeof plot->title);
  if (is_single) plot->series[0].name = NULL;
}

bool app_plots_make(const AppColumns *choice, bool is_log, AppPlots *plots) {
  *plots = (AppPlots){.items = calloc(choice->count + 1, sizeof *plots->items),
                      .inputs = calloc(choice->count + 1, sizeof *plots->inputs)};
  if (!plots->items || !plots->inputs) return false;
  for (size_t k = 0; k < choice->count; k++) add_column(choice, choice->columns[k], is_log, plots);
  app_plot_label(choice->scene, choice->table->names[choice->x], plots->x_label);
  for (size_t k = 0; k < plots->count; k++) {
    AppPlot *plot = &plots->items[k];
    entitle(plot);
    plots->inputs[k] = (FloPlotInput){.title = plot->title,
                                      .x_label = plots->x_label,
                                      .n_points = choice->table->n_rows,
                                      .x = flo_series_table_column(choice->table, choice->x),
                                      .series = plot->series,
                                      .n_series = plot->count};
  }
  return true;
}

void app_plots_free(AppPlots *plots) {
  free(plots->items);
  free(plots->inputs);
}
