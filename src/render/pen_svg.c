#include "render/pen.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Growing text ----

static bool reserve(FloSvg *svg, size_t more) {
  if (svg->has_failed) return false;
  if (svg->size + more < svg->capacity) return true;
  size_t capacity = 2 * (svg->size + more) + 4096;
  char *text = realloc(svg->text, capacity);
  if (!text) {
    svg->has_failed = true;
    return false;
  }
  svg->text = text, svg->capacity = capacity;
  return true;
}

__attribute__((format(printf, 2, 3))) static void add(FloSvg *svg, const char *format, ...) {
  enum { longest = 512 };
  if (!reserve(svg, longest)) return;
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(svg->text + svg->size, longest, format, arguments);
  va_end(arguments);
  svg->size += (size_t)(length < longest ? length : longest - 1);
}

// Two decimals and always a point; %f would use the locale of the calling program.
static void add_number(FloSvg *svg, float value) {
  long hundredths = lroundf(100 * value);
  long size = labs(hundredths);
  add(svg, "%s%ld", hundredths < 0 ? "-" : "", size / 100);
  if (size % 100) add(svg, ".%02ld", size % 100);
}

static void add_attribute(FloSvg *svg, const char *name, float value) {
  add(svg, " %s=\"", name);
  add_number(svg, value);
  add(svg, "\"");
}

static void add_escaped(FloSvg *svg, const char *text) {
  for (; *text; text++) {
    if (*text == '<')
      add(svg, "&lt;");
    else if (*text == '>')
      add(svg, "&gt;");
    else if (*text == '&')
      add(svg, "&amp;");
    else if (*text == '"')
      add(svg, "&quot;");
    else if ((unsigned char)*text >= 32)
      add(svg, "%c", *text); // XML allows no other control characters
  }
}

// ---- Strokes ----

static void draw_rect(void *context, FloRect r, FloRgb8 c) {
  FloSvg *svg = context;
  add(svg, "<rect");
  add_attribute(svg, "x", r.x);
  add_attribute(svg, "y", r.y);
  add_attribute(svg, "width", r.width);
  add_attribute(svg, "height", r.height);
  add(svg, " fill=\"#%02x%02x%02x\"/>\n", c.r, c.g, c.b);
}

static void add_point(FloSvg *svg, char command, FloPoint point) {
  add(svg, "%c", command);
  add_number(svg, point.x);
  add(svg, " ");
  add_number(svg, point.y);
}

static void draw_line(void *context, const FloPoint *points, size_t n, float width, FloRgb8 c) {
  FloSvg *svg = context;
  if (n == 0) return;
  add(svg, "<path d=\"");
  add_point(svg, 'M', points[0]);
  for (size_t i = 1; i < n; i++) add_point(svg, 'L', points[i]);
  // A line to its own start is only its round ends: a dot.
  if (n == 1) add_point(svg, 'L', points[0]);
  add(svg, "\" fill=\"none\" stroke=\"#%02x%02x%02x\"", c.r, c.g, c.b);
  add_attribute(svg, "stroke-width", n == 1 ? 2 * width : width);
  add(svg, " stroke-linecap=\"round\" stroke-linejoin=\"round\"/>\n");
}

static void draw_text(void *context, float x, float y, FloTextStyle style, FloRgb8 c, const char *text) {
  static const char *const anchors[] = {"start", "middle", "end"};
  FloSvg *svg = context;
  add(svg, "<text");
  add_attribute(svg, "x", x);
  add_attribute(svg, "y", y);
  // Capitals of common sans-serif fonts are about 0.72 of the font's size.
  add_attribute(svg, "font-size", style.size / 0.72f);
  add(svg, " text-anchor=\"%s\" fill=\"#%02x%02x%02x\"", anchors[style.anchor], c.r, c.g, c.b);
  if (style.is_upright) {
    add(svg, " transform=\"rotate(-90 ");
    add_number(svg, x);
    add(svg, " ");
    add_number(svg, y);
    add(svg, ")\"");
  }
  add(svg, ">");
  add_escaped(svg, text);
  add(svg, "</text>\n");
}

FloPen flo_svg_pen(FloSvg *svg) { return (FloPen){svg, draw_rect, draw_line, draw_text}; }

void flo_svg_begin(FloSvg *svg, int width, int height, const char *title) {
  add(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\"",
      width, height, width, height);
  add(svg, " font-family=\"Helvetica, Arial, sans-serif\">\n<title>");
  add_escaped(svg, title ? title : "");
  add(svg, "</title>\n");
}

void flo_svg_end(FloSvg *svg) { add(svg, "</svg>\n"); }

void flo_svg_destroy(FloSvg *svg) {
  free(svg->text);
  *svg = (FloSvg){0};
}
