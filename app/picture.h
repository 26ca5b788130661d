// Extras that only some pictures need: solids kept between frames, arrows, traces and joints.
#ifndef FLO_APP_PICTURE_H
#define FLO_APP_PICTURE_H

#include "app.h"
#include "surface/walls.h"

typedef struct AppExtras {
  const FloWalls *walls;  // solids that cut the fluid's surface; NULL: made for each picture
  double arrow_seconds;   // time of motion that an arrow shows; 0: no arrows
  const FloTrace *traces; // the paths of bodies
  size_t n_traces;
  const FloDrawnJoint *joints;
  size_t n_joints;
  const bool *acts; // whether each joint of the scene acts; NULL: as the frame says
} AppExtras;

// As app_paint and app_draw.
FloStatus app_paint_with(const FloScene *scene, const FloFrame *frame, const AppPicture *picture,
                         const AppExtras *extras, uint8_t **rgb, FloError *error);
FloStatus app_draw_with(const FloScene *scene, const FloFrame *frame, const AppPicture *picture,
                        const AppExtras *extras, const char *path, FloError *error);

#endif
