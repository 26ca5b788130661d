// What a plot is drawn with: a table of three strokes, made for pixels or for SVG. The plot is laid out
// once.
#ifndef FLO_RENDER_PEN_H
#define FLO_RENDER_PEN_H

#include "render/canvas.h"
#include "render/font.h"

typedef struct FloPoint {
  float x, y;
} FloPoint;

typedef struct FloPen {
  void *context;
  void (*rect)(void *context, FloRect, FloRgb8);
  // A line through n points, round ends and joints; a single point is a dot.
  void (*line)(void *context, const FloPoint *points, size_t n, float width, FloRgb8);
  void (*text)(void *context, float x, float y, FloTextStyle, FloRgb8, const char *text);
} FloPen;

FloPen flo_canvas_pen(FloCanvas *);

// An SVG that is being written. A lack of memory is noted and reported at the end.
typedef struct FloSvg {
  char *text;
  size_t size, capacity;
  bool has_failed;
} FloSvg;

FloPen flo_svg_pen(FloSvg *);
void flo_svg_begin(FloSvg *, int width, int height, const char *title);
void flo_svg_end(FloSvg *);
void flo_svg_destroy(FloSvg *);

#endif
