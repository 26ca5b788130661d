// What is written over a finished picture: caption, legend, and in 2D a scale bar.
#ifndef FLO_RENDER_OVERLAY_H
#define FLO_RENDER_OVERLAY_H

#include "render/legend.h"

// Shares of the picture that the overlay needs at its sides.
FloMargins flo_overlay_margins(const FloPictureInput *, const FloCloud *, int width, int height);

// `bounds` holds what the picture is about; the legend avoids it where it can.
FloStatus flo_overlay_draw(const FloPictureInput *, const FloCloud *, const FloLens *, FloBounds bounds,
                           uint8_t *rgb, FloError *);

#endif
