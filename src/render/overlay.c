#include "render/overlay.h"

#include "base/core.h"
#include "render/font.h"
#include "render/ticks.h"

#include <stdio.h>

static const FloRgb8 ink = {34, 48, 64};

static bool has_room(int width, int height) { return width >= 240 && height >= 130; }

FloMargins flo_overlay_margins(const FloPictureInput *input, const FloCloud *cloud, int width, int height) {
  if (!has_room(width, height)) return (FloMargins){0.04f, 0.04f, 0.04f, 0.04f};
  const float unit = flo_overlay_unit(width, height), x = unit / (float)width, y = unit / (float)height;
  const float least = input->dim == 2 ? 96 : 30, top = input->caption ? 66 : 30; // 96: the scale bar
  const float legend = flo_legend_height(input, cloud, width, height) / (float)height;
  return (FloMargins){.left = 36 * x, .right = 36 * x, .top = top * y, .bottom = fmaxf(legend, least * y)};
}

static void draw_caption(FloCanvas *c, const char *caption) {
  float unit = flo_overlay_unit(c->width, c->height), size = 17 * unit, room = (float)c->width - 64 * unit;
  size = fminf(size, size * room / flo_text_width(caption, size));
  flo_canvas_add_text(c, 32 * unit, 46 * unit, (FloTextStyle){.size = size}, caption);
  flo_canvas_paint(c, ink, 1);
}

static void draw_scale_bar(FloCanvas *c, const FloLens *lens) {
  float unit = flo_overlay_unit(c->width, c->height), thick = fmaxf(1, roundf(2 * unit));
  double pixel = 2 * (double)lens->half_width / lens->width,
         length = flo_round_down(260 * (double)unit * pixel);
  float x = roundf(36 * unit), y = roundf((float)c->height - 45 * unit), width = (float)(length / pixel);
  char text[32];
  snprintf(text, sizeof text, "%g m", length);
  flo_canvas_add_rect(c, (FloRect){x, y - thick / 2, width, thick});
  flo_canvas_add_rect(c, (FloRect){x, y - 5 * unit, thick, 10 * unit});
  flo_canvas_add_rect(c, (FloRect){x + width - thick, y - 5 * unit, thick, 10 * unit});
  flo_canvas_add_text(c, x + 0.5f * width, y - 11 * unit,
                      (FloTextStyle){.size = 12 * unit, .anchor = FLO_ANCHOR_MIDDLE}, text);
  flo_canvas_paint(c, ink, 1);
}

// Pixels per metre across the view; with perspective, at the middle of the bounds.
static float pixels_per_metre(const FloLens *lens, FloBounds bounds) {
  const V3 middle = v3_scale(v3_add(bounds.low, bounds.high), 0.5f), aside = v3_add(middle, lens->right);
  float x, y, depth, aside_x, aside_y, aside_depth;
  flo_lens_project(lens, middle, &x, &y, &depth);
  flo_lens_project(lens, aside, &aside_x, &aside_y, &aside_depth);
  const float length = hypotf(aside_x - x, aside_y - y);
  return depth > 0 && isfinite(length) ? length : 0;
}

// Draws the arrow that shows a speed, in the upper right corner, below the caption if that is long.
static void draw_arrow_scale(FloCanvas *c, const FloPictureInput *input, const FloLens *lens,
                             FloBounds bounds) {
  const float unit = flo_overlay_unit(c->width, c->height), size = 12 * unit, head = 6 * unit;
  const float pixels = pixels_per_metre(lens, bounds) * input->arrow_seconds; // of 1 m/s
  if (!(pixels > 0 && isfinite(pixels))) return;
  const double speed = flo_round_down(90 * (double)unit / (double)pixels);
  const float length = (float)speed * pixels, right = (float)c->width - 32 * unit;
  char text[48];
  snprintf(text, sizeof text, lens->is_flat ? "%g m/s" : "%g m/s in the middle", speed);
  const float tip = right - flo_text_width(text, size) - 10 * unit;
  const float caption = input->caption ? 32 * unit + flo_text_width(input->caption, 17 * unit) : 0;
  const float y = roundf((tip - length < caption + 20 * unit ? 70 : 40) * unit) + 0.5f;
  flo_canvas_add_stroke(c, tip - length, y, tip, y, fmaxf(1, 1.6f * unit));
  for (int side = -1; side <= 1; side += 2)
    flo_canvas_add_stroke(c, tip, y, tip - head, y + 0.5f * (float)side * head, fmaxf(1, 1.6f * unit));
  flo_canvas_add_text(c, right, y + 0.35f * size, (FloTextStyle){.size = size, .anchor = FLO_ANCHOR_RIGHT},
                      text);
  flo_canvas_paint(c, ink, 1);
}

FloStatus flo_overlay_draw(const FloPictureInput *input, const FloCloud *cloud, const FloLens *lens,
                           FloBounds bounds, uint8_t *rgb, FloError *error) {
  if (!has_room(lens->width, lens->height)) return FLO_OK;
  FloCanvas canvas;
  FloLegend legend = flo_legend_place(input, cloud, lens, bounds);
  FLO_TRY(flo_canvas_create(&canvas, rgb, lens->width, lens->height, error));
  if (input->caption) draw_caption(&canvas, input->caption);
  flo_legend_draw(&legend, input, cloud, &canvas);
  if (lens->is_flat) draw_scale_bar(&canvas, lens);
  if (input->velocities && input->arrow_seconds > 0) draw_arrow_scale(&canvas, input, lens, bounds);
  flo_canvas_destroy(&canvas);
  return FLO_OK;
}
