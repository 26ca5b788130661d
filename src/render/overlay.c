#include "render/overlay.h"

#include "base/core.h"
#include "render/font.h"
#include "render/ticks.h"

#include <stdio.h>

static const FloRgb8 ink = {34, 48, 64}, faint_ink = {92, 106, 122}, veil = {244, 247, 250};

// Everything is laid out for a height of 720 and scaled with the picture, narrow ones by their width; but
// text never gets too small to read.
static float unit_of(int width, int height) {
  return fmaxf(0.6f, fminf((float)height, 0.75f * (float)width) / 720);
}

static bool has_room(int width, int height) { return width >= 240 && height >= 130; }

FloRect flo_legend_rect(int width, int height) {
  float unit = unit_of(width, height), long_side = roundf(300 * unit);
  return (FloRect){roundf((float)width - 36 * unit - long_side), roundf((float)height - 52 * unit), long_side,
                   roundf(14 * unit)};
}

FloMargins flo_overlay_margins(const FloPictureInput *input, int width, int height) {
  if (!has_room(width, height)) return (FloMargins){0.04f, 0.04f, 0.04f, 0.04f};
  const float x = unit_of(width, height) / (float)width, y = unit_of(width, height) / (float)height;
  const float bottom = input->values || input->dim == 2 ? 96 : 30, top = input->caption ? 66 : 30;
  return (FloMargins){.left = 36 * x, .right = 36 * x, .top = top * y, .bottom = bottom * y};
}

static void write_text(FloCanvas *c, float x, float y, float size, FloAnchor anchor, FloRgb8 colour,
                       const char *text) {
  flo_canvas_add_text(c, x, y, (FloTextStyle){.size = size, .anchor = anchor}, text);
  flo_canvas_paint(c, colour, 1);
}

static void draw_caption(FloCanvas *c, const char *caption) {
  float unit = unit_of(c->width, c->height), size = 17 * unit, room = (float)c->width - 64 * unit;
  size = fminf(size, size * room / flo_text_width(caption, size));
  write_text(c, 32 * unit, 46 * unit, size, FLO_ANCHOR_LEFT, ink, caption);
}

static void draw_legend_ticks(FloCanvas *c, const FloCloud *cloud, FloRect r, float unit) {
  FloTicks ticks = flo_ticks(cloud->low, cloud->high, 5);
  for (int k = 0; k < ticks.count; k++) {
    double share = (ticks.values[k] - (double)cloud->low) / ((double)cloud->high - (double)cloud->low);
    float x = r.x + (float)share * r.width, foot = r.y + r.height;
    flo_canvas_add_rect(c, (FloRect){roundf(x - 0.5f), foot, fmaxf(1, roundf(unit)), 5 * unit});
    flo_canvas_paint(c, faint_ink, 1);
    write_text(c, x, foot + 20 * unit, 11 * unit, FLO_ANCHOR_MIDDLE, ink, ticks.labels[k]);
  }
}

static void draw_legend(FloCanvas *c, const FloCloud *cloud, const char *label) {
  float unit = unit_of(c->width, c->height), border = fmaxf(1, roundf(unit));
  FloRect r = flo_legend_rect(c->width, c->height);
  flo_canvas_add_rect(c, (FloRect){r.x - border, r.y - border, r.width + 2 * border, r.height + 2 * border});
  flo_canvas_paint(c, faint_ink, 1);
  for (int k = 0; k < (int)r.width; k++) {
    flo_canvas_add_rect(c, (FloRect){r.x + (float)k, r.y, 1, r.height});
    flo_canvas_paint(c, flo_rgb8_from_linear(flo_colour_map(cloud->map, ((float)k + 0.5f) / r.width)), 1);
  }
  draw_legend_ticks(c, cloud, r, unit);
  if (label) write_text(c, r.x, r.y - 9 * unit, 12 * unit, FLO_ANCHOR_LEFT, ink, label);
}

// Under a given camera the scene may reach below the legend; a veil keeps the numbers readable.
static void draw_veil(FloCanvas *c) {
  float unit = unit_of(c->width, c->height);
  FloRect r = flo_legend_rect(c->width, c->height);
  flo_canvas_add_rect(c,
                      (FloRect){r.x - 16 * unit, r.y - 30 * unit, r.width + 32 * unit, r.height + 58 * unit});
  flo_canvas_paint(c, veil, 0.6f);
}

static void draw_scale_bar(FloCanvas *c, const FloLens *lens) {
  float unit = unit_of(c->width, c->height), thick = fmaxf(1, roundf(2 * unit));
  double pixel = 2 * (double)lens->half_width / lens->width,
         length = flo_round_down(260 * (double)unit * pixel);
  float x = roundf(36 * unit), y = roundf((float)c->height - 45 * unit), width = (float)(length / pixel);
  char text[32];
  snprintf(text, sizeof text, "%g m", length);
  flo_canvas_add_rect(c, (FloRect){x, y - thick / 2, width, thick});
  flo_canvas_add_rect(c, (FloRect){x, y - 5 * unit, thick, 10 * unit});
  flo_canvas_add_rect(c, (FloRect){x + width - thick, y - 5 * unit, thick, 10 * unit});
  flo_canvas_paint(c, ink, 1);
  write_text(c, x + 0.5f * width, y - 11 * unit, 12 * unit, FLO_ANCHOR_MIDDLE, ink, text);
}

FloStatus flo_overlay_draw(const FloPictureInput *input, const FloCloud *cloud, const FloLens *lens,
                           uint8_t *rgb, FloError *error) {
  if (!has_room(lens->width, lens->height)) return FLO_OK;
  FloCanvas canvas;
  FLO_TRY(flo_canvas_create(&canvas, rgb, lens->width, lens->height, error));
  if (input->caption) draw_caption(&canvas, input->caption);
  if (input->values && input->camera.is_set) draw_veil(&canvas);
  if (input->values) draw_legend(&canvas, cloud, input->value_label);
  if (lens->is_flat) draw_scale_bar(&canvas, lens);
  flo_canvas_destroy(&canvas);
  return FLO_OK;
}
