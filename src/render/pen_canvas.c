#include "render/pen.h"

static void draw_rect(void *context, FloRect rect, FloRgb8 colour) {
  flo_canvas_add_rect(context, rect);
  flo_canvas_paint(context, colour, 1);
}

static void draw_line(void *context, const FloPoint *points, size_t n, float width, FloRgb8 colour) {
  if (n == 1) flo_canvas_add_stroke(context, points[0].x, points[0].y, points[0].x, points[0].y, 2 * width);
  for (size_t i = 1; i < n; i++)
    flo_canvas_add_stroke(context, points[i - 1].x, points[i - 1].y, points[i].x, points[i].y, width);
  flo_canvas_paint(context, colour, 1);
}

static void draw_text(void *context, float x, float y, FloTextStyle style, FloRgb8 colour, const char *text) {
  flo_canvas_add_text(context, x, y, style, text);
  flo_canvas_paint(context, colour, 1);
}

FloPen flo_canvas_pen(FloCanvas *canvas) { return (FloPen){canvas, draw_rect, draw_line, draw_text}; }
