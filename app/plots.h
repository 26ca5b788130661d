// Plots of a series: which columns are shown, which share a plot, and the titles.
#ifndef FLO_APP_PLOTS_H
#define FLO_APP_PLOTS_H

#include "app.h"
#include "io/series_read.h"
#include "render/plot.h"

enum { APP_PLOT_SERIES = 8 };

typedef struct AppColumns {
  const FloSeriesTable *table;
  const FloScene *scene; // NULL: could not be read
  size_t x;              // column
  size_t *columns;       // room for all
  size_t count;
} AppColumns;

// Each column is chosen once.
void app_columns_add(AppColumns *choice, size_t column);
// The columns of the scene's probes.
void app_columns_add_probes(AppColumns *choice);
// Chooses the given names that the series has, except the column on the x axis.
void app_columns_add_names(AppColumns *choice, const char *const *names, size_t n_names);
// Chooses the columns that show at a glance how a run went.
void app_columns_add_overview(AppColumns *choice);

typedef struct AppPlot {
  FloSeriesMeaning meaning;
  FloPlotSeries series[APP_PLOT_SERIES];
  const char *columns[APP_PLOT_SERIES]; // as series.csv names them
  char names[APP_PLOT_SERIES][100];     // as they are shown
  size_t count;
  double size; // of the largest value
  char title[160];
} AppPlot;

typedef struct AppPlots {
  AppPlot *items;
  FloPlotInput *inputs; // the input for one page of plots
  size_t count;
  char x_label[160];
} AppPlots;

// Columns of the same quantity share a plot, unless their sizes differ by far. The table must stay valid
// longer than the plots. Returns false if memory runs out. Call app_plots_free in either case.
bool app_plots_make(const AppColumns *choice, bool is_log, AppPlots *plots);
void app_plots_free(AppPlots *plots);

// How a column's name is shown, with its unit: "kinetic energy [J]".
void app_plot_label(const FloScene *scene, const char *column, char label[160]);

#endif
