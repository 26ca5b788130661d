// Charts of a series: which columns, which of them share a chart, what stands above it.
#ifndef FLO_APP_CHARTS_H
#define FLO_APP_CHARTS_H

#include "app.h"
#include "io/series_read.h"
#include "render/plot.h"

enum { APP_CHART_SERIES = 8 };

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
// Those of the names that the series has, but for the one along x.
void app_columns_add_names(AppColumns *choice, const char *const *names, size_t n_names);
// What tells at a glance how a run went.
void app_columns_add_overview(AppColumns *choice);

typedef struct AppChart {
  FloSeriesMeaning meaning;
  FloPlotSeries series[APP_CHART_SERIES];
  const char *columns[APP_CHART_SERIES]; // as series.csv names them
  char names[APP_CHART_SERIES][100];     // as they are shown
  size_t count;
  double size; // of the largest value
  char title[160];
} AppChart;

typedef struct AppCharts {
  AppChart *items;
  FloPlotInput *inputs; // what a sheet needs
  size_t count;
  char x_label[160];
} AppCharts;

// Columns of the same quantity share a chart, unless their sizes differ by far. The table must outlive it;
// false without memory. Release with app_charts_free in either case.
bool app_charts_make(const AppColumns *choice, bool is_log, AppCharts *charts);
void app_charts_free(AppCharts *charts);

// How a column's name is shown, with its unit: "kinetic energy [J]".
void app_chart_label(const FloScene *scene, const char *column, char label[160]);

#endif
