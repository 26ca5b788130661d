// Flat drawing into an RGB8 picture: anti-aliased strokes and rectangles.
//
// A drawing is first collected in a coverage mask and then painted once. Its parts may therefore overlap,
// such as the joints of a polyline or thousands of points in one pixel, without darkening the edges.
#ifndef FLO_RENDER_CANVAS_H
#define FLO_RENDER_CANVAS_H

#include "flotsam/world.h"
#include "render/colour.h"

typedef struct FloRect {
  float x, y, width, height; // pixels
} FloRect;

typedef struct FloCanvas {
  int width, height;
  uint8_t *rgb;        // owned by the caller
  float *mask;         // coverage 0..1 of the drawing at hand
  int low[2], high[2]; // pixels of the mask in use: low <= pixel < high
} FloCanvas;

FloStatus flo_canvas_create(FloCanvas *, uint8_t *rgb, int width, int height, FloError *);
void flo_canvas_destroy(FloCanvas *);

// Pixel (0, 0) covers 0..1, y points down.
void flo_canvas_add_stroke(FloCanvas *, float x0, float y0, float x1, float y1, float width); // round ends
void flo_canvas_add_rect(FloCanvas *, FloRect);
void flo_canvas_paint(FloCanvas *, FloRgb8 colour, float opacity); // also clears the mask

#endif
