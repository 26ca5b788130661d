// What is written over a finished picture: caption, colour legend, and in 2D a scale bar.
#ifndef FLO_RENDER_OVERLAY_H
#define FLO_RENDER_OVERLAY_H

#include "render/camera.h"
#include "render/canvas.h"
#include "render/cloud.h"

// Where the colours of the legend stand.
FloRect flo_legend_rect(int width, int height);

// Shares of the picture that the overlay needs at its sides.
FloMargins flo_overlay_margins(const FloPictureInput *, int width, int height);

FloStatus flo_overlay_draw(const FloPictureInput *, const FloCloud *, const FloLens *, uint8_t *rgb,
                           FloError *);

#endif
