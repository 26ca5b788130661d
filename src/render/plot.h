// Line plots of series over time (or anything else), as PNG or SVG.
#ifndef FLO_RENDER_PLOT_H
#define FLO_RENDER_PLOT_H

#include "flotsam/world.h"

typedef struct FloPlotSeries {
  const char *name; // shown in the legend; NULL: none
  const double *y;  // one value per x; NaN and infinity leave a gap
} FloPlotSeries;

typedef struct FloPlotInput {
  const char *title, *x_label, *y_label; // NULL: none
  size_t n_points;
  const double *x;
  const FloPlotSeries *series;
  size_t n_series;
} FloPlotInput;

// Several plots, one below the other, over the same x: that of the first. Of a plot's texts only the title
// counts, which stands above it, and the last one's x_label.
typedef struct FloPlotSheet {
  const char *title; // NULL: none
  const FloPlotInput *plots;
  size_t n_plots;
  bool is_log; // powers of ten along y; values that are not positive leave a gap
} FloPlotSheet;

enum { FLO_MIN_PLOT_WIDTH = 200, FLO_MIN_PLOT_HEIGHT = 150, FLO_MIN_ROW_HEIGHT = 70 };

// Both write atomically; sizes in pixels.
FloStatus flo_plot_png(const char *path, const FloPlotInput *, int width, int height, FloError *);
FloStatus flo_plot_svg(const char *path, const FloPlotInput *, int width, int height, FloError *);
// A sheet needs FLO_MIN_ROW_HEIGHT for each of its plots.
FloStatus flo_plot_sheet_png(const char *path, const FloPlotSheet *, int width, int height, FloError *);
FloStatus flo_plot_sheet_svg(const char *path, const FloPlotSheet *, int width, int height, FloError *);
// The SVG as allocated text, to be put into a page; the caller frees it.
FloStatus flo_plot_sheet_svg_text(const FloPlotSheet *, int width, int height, char **text, FloError *);

#endif
