// Line charts of series over time (or anything else), as PNG or SVG.
#ifndef FLO_RENDER_PLOT_H
#define FLO_RENDER_PLOT_H

#include "flotsam/flotsam.h"

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

enum { FLO_MIN_PLOT_WIDTH = 200, FLO_MIN_PLOT_HEIGHT = 150 };

// Both write atomically; sizes in pixels.
FloStatus flo_plot_png(const char *path, const FloPlotInput *, int width, int height, FloError *);
FloStatus flo_plot_svg(const char *path, const FloPlotInput *, int width, int height, FloError *);

#endif
