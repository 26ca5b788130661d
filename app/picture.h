// What only some pictures need: solids that are kept from one frame to the next, arrows and traces.
#ifndef FLO_APP_PICTURE_H
#define FLO_APP_PICTURE_H

#include "app.h"
#include "surface/walls.h"

typedef struct AppExtras {
  const FloWalls *walls;  // solids that the fluid's surface stays out of; NULL: made for the picture
  double arrow_seconds;   // the way that the fluid's arrows show; 0: no arrows
  const FloTrace *traces; // the ways that bodies have come
  size_t n_traces;
} AppExtras;

// As app_paint and app_draw.
FloStatus app_paint_with(const FloScene *scene, const FloFrame *frame, const AppPicture *picture,
                         const AppExtras *extras, uint8_t **rgb, FloError *error);
FloStatus app_draw_with(const FloScene *scene, const FloFrame *frame, const AppPicture *picture,
                        const AppExtras *extras, const char *path, FloError *error);

#endif
