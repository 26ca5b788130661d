// Pictures in the look `water`: path traced, smoothed, with the edges of tanks drawn over them.
#ifndef FLO_RENDER_SCENIC_H
#define FLO_RENDER_SCENIC_H

#include "render/stage.h"

// What was prepared before. The whole cloud gives the colours of values; `bounds` holds what the picture is
// about.
typedef struct FloScenicPlan {
  const FloPictureInput *input;
  const FloPictureOptions *options;
  const FloCloud *cloud;
  const FloSolids *solids;
  FloLens lens;
  FloBounds bounds;
  FloGround ground;
  int threads;
} FloScenicPlan;

// Paints into width * height * 3 bytes.
FloStatus flo_scenic_paint(const FloScenicPlan *, uint8_t *rgb, FloError *);

#endif
