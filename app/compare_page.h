// A scene run by several methods, and the page about it.
#ifndef FLO_APP_COMPARE_PAGE_H
#define FLO_APP_COMPARE_PAGE_H

#include "exhibit.h"
#include "plots.h"

enum { COMPARE_MOST = APP_PLOT_SERIES, COMPARE_MOMENTS = 3 };

typedef struct Comparison {
  FloScene *scene;   // in its current state
  const char *given; // the scene as the command line names it
  AppExhibit items[COMPARE_MOST + 1];
  AppTour tour;
  AppTexts left_out; // methods that cannot run it, and why
  char out[FLO_PATH_SIZE], page[FLO_PATH_SIZE];
} Comparison;

// Pictures of the same moments of all runs.
FloStatus app_compare_draw(AppTour *tour, FloError *error);
FloStatus app_compare_write(AppTour *tour, void *context, FloError *error);

#endif
